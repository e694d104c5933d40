"""The releases that are run on the cluster: their policies, and the layouts of their tables."""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.files import LocalFiles
from shoal.io.csv_dialect import CsvOptions
from shoal.policy import Policy
from tests.out_of_core.patients import COLUMNS, TREES, patients

ILL: dict[str, Any] = {"of": "illness"}
AGE_ZIP, JOB_SEX = ["age", "zip"], ["job", "sex"]
RELAXED = {"name": "mondrian", "strict": False}
WIDEST = {"name": "flexible-partition", "dimension": "widest"}
COMMA = CsvOptions(",", '"', "utf-8")
ROWS = 900


def _blocks(name: str, rows: int) -> dict[str, Any]:
    return {"name": name, "block_rows": rows}


ReleaseCase = tuple[Any, list[dict[str, Any]], dict[str, Any]]
"""Method, constraints and what else the policy says."""
FIRST: tuple[ReleaseCase, ...] = (
    ("least-loss-partition", [{"k": 5}], {}),
    ("least-loss-partition", [{"k": 4}, {"l": 3, **ILL}], {}),
    (WIDEST, [{"k": 3}, {"alpha": 0.6, **ILL}], {}),
    ("mondrian", [{"k": 4}, {"l": 3, **ILL}], {}),
    (RELAXED, [{"l": 2, **ILL}], {}),
    ("datafly", [{"k": 25}], TREES | {"suppression": 0.05}),
    (_blocks("l-clustering", 400), [{"l": 2, **ILL}], {}),
    (_blocks("top-down", 150), [{"k": 4}, {"l": 2, **ILL}], {}),
    (_blocks("k-clustering", 150), [{"k": 4}, {"l": 3, **ILL}], {}),
    ("local-recoding", [{"k": 4}, {"l": 3, **ILL}], TREES),
    ("classfly", [{"k": 15}], TREES),
    (
        "classfly-plus",
        [{"k": 40, "on": AGE_ZIP}, {"k": 90, "on": JOB_SEX}],
        TREES | {"suppressed": "starred"},
    ),
    ("incognito", [{"k": 12}], TREES),
    ("optimal", [{"k": 4}, {"l": 3, **ILL}], TREES | {"suppression": 0.02}),
)
"""One of every method; as many as there are layouts come first, among them each way of a table."""
MORE: tuple[ReleaseCase, ...] = (
    ("least-loss-partition", [{"k": 3}, {"t": 0.4, **ILL}], {}),
    ("flexible-partition", [{"k": 20}], {}),
    ("mondrian", [{"k": 7}], {}),
    (RELAXED, [{"k": 5}], {}),
    (_blocks("k-clustering", 400), [{"k": 10}], {}),
    (_blocks("l-clustering", 150), [{"l": 3, **ILL}], {}),
    (_blocks("top-down", 400), [{"k": 8}], {}),
    ("local-recoding", [{"k": 5}], {}),
    ("datafly", [{"k": 5}], TREES),
    ("classfly", [{"k": 5}], TREES),
    ("classfly-plus", [{"k": 5, "on": AGE_ZIP}, {"k": 3, "on": JOB_SEX}], TREES),
    ("incognito", [{"k": 4}, {"l": 3, **ILL}], TREES | {"suppression": 0.02}),
    ("optimal", [{"k": 10}], TREES | {"suppression": 0.01}),
)
RELEASES = FIRST + MORE


class Layout(NamedTuple):
    """How a table is stored in Spark."""

    files: int
    kind: str
    """How the files' names end; "frame" for a frame of the user's, in so many parts."""
    parts: int
    """Tasks that Spark runs at once."""
    shuffled: int
    """Parts after rows were exchanged (spark.sql.shuffle.partitions)."""
    usual: bool = False
    """Whether Spark puts parts together as it sees fit, and compiles code for each question: as it
    does by itself, but for a table as small as this it costs more than the questions."""
    split: bool = False
    """Whether Spark reads each file in pieces, of which it has many."""

    @property
    def settings(self) -> dict[str, str]:
        """Spark's configuration."""
        return {
            "spark.sql.shuffle.partitions": str(self.shuffled),
            "spark.sql.adaptive.enabled": str(self.usual).lower(),
            "spark.sql.codegen.wholeStage": str(self.usual).lower(),
            "spark.sql.codegen.factoryMode": "FALLBACK" if self.usual else "NO_CODEGEN",
            "spark.sql.files.maxPartitionBytes": "8192" if self.split else "128MB",
            "spark.sql.files.openCostInBytes": "0" if self.split else "4MB",
        }


LAYOUTS = (
    Layout(1, ".parquet", 2, 1),
    Layout(2, ".csv.gz", 3, 2),
    Layout(3, ".parquet", 5, 4, split=True),
    Layout(4, "frame", 2, 3),
    Layout(5, ".csv", 2, 2),
    Layout(6, ".parquet", 2, 6, usual=True),
    Layout(7, ".parquet", 1, 2),
)


def policy_of(case: ReleaseCase) -> Policy:
    """The policy of a case."""
    method, constraints, more = case
    keys = {key: value for key, value in more.items() if key != "columns"}
    columns = COLUMNS | more.get("columns", {})
    return Policy.load(
        {"columns": columns, "constraints": constraints, "method": method, "target": "ward", **keys}
    )


def name_of(number: int, layout: Layout) -> str:
    """The name of a case."""
    method, constraints, _ = RELEASES[number]
    called = method if isinstance(method, str) else method["name"]
    models = " ".join(f"{key}{value}" for one in constraints for key, value in [*one.items()][:1])
    return f"{number}-{called} {models}-{layout.files} {layout.kind.lstrip('.')}"


def put(folder: Path, layout: Layout) -> tuple[Path, Path]:
    """The patients in one file and in several, in the given layout."""
    table = patients(ROWS)
    ending = ".parquet" if layout.kind == "frame" else layout.kind
    parts = folder / f"parts{ending}"
    parts.mkdir()
    size = -(-ROWS // layout.files)
    for i in range(layout.files):
        _write(table.slice(i * size, size), parts / f"part-{i}{ending}", layout.split)
    _write(table, folder / f"one{ending}", split=False)
    return folder / f"one{ending}", parts


def _write(table: pa.Table, path: Path, split: bool) -> None:
    if path.name.endswith(".parquet"):
        pq.write_table(table, path, row_group_size=100 if split else None)
    else:
        LocalFiles().write(table, path, options=COMMA)


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    """The rows of a table in any order."""
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


def read_all(path: Path) -> pa.Table:
    """A table in a file, or in the files of a folder."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return pa.concat_tables([LocalFiles().read(file, COMMA) for file in files])
