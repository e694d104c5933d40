"""Making a golden release, and what is kept of it.

Only what every user sees is asked: the `shoal` command, `shoal.anonymize` and a release's `table`,
`sensitive_tables` and `to_dict`. A refactoring that keeps those needs no change here.
"""

import csv
import hashlib
import io
import json
import signal
import sys
import warnings
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import shoal
from shoal.cli.app import main
from shoal.interruption import SIGNALS
from tests.golden.cases import FOLDER, FRAME, FRAMES, HIERARCHY_FILES, OUT_OF_CORE, SPARK, Case
from tests.golden.tables import TABLES, population

Record = dict[str, Any]
FIGURES = ("rows", "published_rows", "suppressed_rows", "groups", "published_classes")
RECORDED = Path(__file__).with_name("releases.json")
INFEASIBLE = 3


def recorded() -> dict[str, Record]:
    """What every release was when it was recorded, by the case's id."""
    return json.loads(RECORDED.read_text("utf-8"))


def make(case: Case, folder: Path, spark: Any = None, engine: str = SPARK) -> Record:
    """Make the release of a case; `folder` is empty, `spark` a session where the case needs one.

    `engine` is where a command finds its Spark.
    """
    table = TABLES[case.table](case.rows, case.seed)
    for name, text in HIERARCHY_FILES.items():
        (folder / name).write_text(text, "utf-8")
    if case.more_people:
        others = population(case.table, case.rows, case.seed, case.more_people)
        _write_csv(others, folder / "population.csv")
    policy = folder / "policy.yaml"
    text = case.policy
    # recorded when a policy without a seed had the seed 0
    if isinstance(text, dict):
        text = json.dumps({"seed": 0, **text}, ensure_ascii=False, indent=1)  # JSON is YAML too
    elif "\nseed:" not in text:
        text += "\nseed: 0\n"
    policy.write_text(text, "utf-8")
    if case.source == FRAME:
        pq.write_table(table, folder / "table.parquet")
        return _in_frame(spark.read.parquet(str(folder / "table.parquet")), policy)
    if case.source in FRAMES:
        return _in_frame(_frame(table, case.source), policy)
    return _by_command(case, table, folder, policy, engine)


def _by_command(case: Case, table: pa.Table, folder: Path, policy: Path, engine: str) -> Record:
    kind = "parquet" if case.source == FOLDER else case.source
    source, target = folder / f"table.{kind}", folder / "release.csv"
    if case.engine == SPARK:
        source.mkdir()
        half = table.num_rows // 2
        pq.write_table(table.slice(0, half), source / "0.parquet")
        pq.write_table(table.slice(half), source / "1.parquet")
    elif kind == "csv":
        _write_csv(table, source)
    else:
        pq.write_table(table, source)
    where = {OUT_OF_CORE: ["--memory", "2GB"], SPARK: ["--engine", engine]}.get(case.engine, [])
    asked = ["run", str(source), str(policy), "-o", str(target), "--json", *where, *case.arguments]
    code, out = command(asked)
    if code:
        assert not target.exists()
        assert code == INFEASIBLE, f"{case.id}: exit code {code}: {out}"
        return {"exit_code": code}
    told = json.loads(out)
    parts = sorted(target.iterdir()) if target.is_dir() else [target]
    found: Record = {}
    if case.engine not in (OUT_OF_CORE, SPARK):
        written = [target, *(Path(path) for path in told["sensitive_outputs"].values())]
        found["bytes"] = _digest(path.read_bytes() for path in written)
    # no value has a line break, so a line is a row
    texts = [part.read_bytes().decode("utf-8").split("\n") for part in parts]
    found["lines"] = _sorted_digest(texts[0][0], [row for text in texts for row in text[1:] if row])
    return found | _figures(told)


def _in_frame(frame: Any, policy: Path) -> Record:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = shoal.anonymize(frame, str(policy))
    tables = [release.table, *release.sensitive_tables.values()]
    if hasattr(frame, "sparkSession"):
        (only,) = tables
        lines = _lines(only.toArrow())
        return {"lines": _sorted_digest(lines[0], lines[1:])} | _figures(release.to_dict())
    texts = [_lines(one) for one in tables]
    kept = ["\n".join([*text, ""]).encode() for text in texts]
    kept += [" ".join(_types(one)).encode() for one in tables]
    found = {"bytes": _digest(kept), "lines": _sorted_digest(texts[0][0], texts[0][1:])}
    return found | _figures(release.to_dict())


def command(arguments: list[str]) -> tuple[int, str]:
    """The exit code of a command, and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", ["shoal", *arguments]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        before = {number: signal.getsignal(number) for number in SIGNALS}
        try:
            main()
        except SystemExit as end:
            code = end.code
        finally:  # a command whose work is done ignores them until its process ends
            for number, handler in before.items():
                signal.signal(number, handler)
    assert isinstance(code, int)
    return code, out.getvalue() or err.getvalue()


def _figures(told: Record) -> Record:
    guarantees = [
        [one["model"], one["reached"], one["classes"], one["failing"]] for one in told["guarantees"]
    ]
    return {name: told[name] for name in FIGURES} | {
        "guarantees": guarantees,
        "metrics": told["metrics"],
        "column_loss": told["column_loss"],
    }


def _digest(parts: Iterable[bytes]) -> str:
    """One digest of several files; where one ends and the next begins counts too."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()


def _sorted_digest(header: str, rows: list[str]) -> str:
    return hashlib.sha256("\n".join([header, *sorted(rows)]).encode()).hexdigest()


def _frame(table: pa.Table, kind: str) -> Any:
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        import polars as pl

        return pl.from_arrow(table)
    return table


def _columns(table: Any) -> dict[str, list[Any]]:
    if isinstance(table, pa.Table):
        return table.to_pydict()
    if hasattr(table, "to_pandas"):  # polars
        return table.to_dict(as_series=False)
    return {name: table[name].tolist() for name in table.columns}


def _lines(table: Any) -> list[str]:
    """The header and the rows of a frame as text, each on a line."""
    columns = _columns(table)
    texts = ([_text(value) for value in values] for values in columns.values())
    rows = zip(*texts, strict=True)
    return [json.dumps(row, ensure_ascii=False) for row in ([*columns], *rows)]


def _text(value: Any) -> str | None:
    return None if value is None or value != value else str(value)


def _types(table: Any) -> list[str]:
    if isinstance(table, pa.Table):
        return [str(kind) for kind in table.schema.types]
    # before version 3 pandas has no type of texts
    texts = "str" if hasattr(table, "iloc") and pd.__version__ < "3" else "object"
    return [texts if str(kind) == "object" else str(kind) for kind in table.dtypes]


def _write_csv(table: pa.Table, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows(zip(*table.to_pydict().values(), strict=True))
