"""A run out of core publishes the same rows as a run in memory, for every method."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines.duckdb.session import DuckSession
from shoal.errors import Infeasible, InputError, PolicyError, ShoalError
from shoal.policy import Policy
from shoal.progress import Clock
from shoal.release import Release
from tests.out_of_core.certificates import certificate_in, require_same
from tests.out_of_core.patients import COLUMNS, TREES, patients
from tests.out_of_core.session_runs import run_in

BLOCKS = {"block_rows": 150}
K5: list[dict[str, Any]] = [{"k": 5}]
SECRET: list[dict[str, Any]] = [{"k": 4}, {"l": 3, "of": "illness"}]
CASES: dict[str, tuple[Any, list[dict[str, Any]], dict[str, Any]]] = {
    "least-loss": ("least-loss-partition", K5, {}),
    "least-loss, l": ("least-loss-partition", SECRET, {}),
    "least-loss, t": ("least-loss-partition", [{"k": 3}, {"t": 0.4, "of": "illness"}], {}),
    "flexible": ("flexible-partition", K5, {}),
    "widest, alpha": (
        {"name": "flexible-partition", "dimension": "widest"},
        [{"k": 3}, {"alpha": 0.6, "of": "illness"}],
        {},
    ),
    "mondrian": ("mondrian", SECRET, {}),
    "relaxed": ({"name": "mondrian", "strict": False}, K5, {}),
    "k-clustering": ({"name": "k-clustering", **BLOCKS}, SECRET, {}),
    "l-clustering": ({"name": "l-clustering", **BLOCKS}, [{"l": 3, "of": "illness"}], {}),
    "top-down": ({"name": "top-down", **BLOCKS}, SECRET, {}),
    "local-recoding": ("local-recoding", SECRET, {}),
    "local-recoding, trees": ("local-recoding", K5, TREES),
    "local-recoding, t": (
        "local-recoding",
        [{"k": 3}, {"t": 0.25, "of": "illness"}],
        TREES | {"suppressed": "starred"},
    ),
    "datafly": ("datafly", K5, TREES),
    "classfly": ("classfly", [{"k": 5}], TREES),
    "classfly-plus": (
        "classfly-plus",
        [{"k": 5, "on": ["age", "zip"]}, {"k": 3, "on": ["job", "sex"]}],
        TREES,
    ),
    "classfly-plus, starred": (
        "classfly-plus",
        [{"k": 40, "on": ["age", "zip"]}, {"k": 90, "on": ["job", "sex"]}],
        TREES | {"suppressed": "starred"},
    ),
    "incognito": ("incognito", SECRET, TREES | {"suppression": 0.02}),
    "optimal": ("optimal", SECRET, TREES | {"suppression": 0.02}),
}


def policy_of(name: str) -> Policy:
    method, constraints, more = CASES[name]
    columns = COLUMNS | more.get("columns", {})
    keys = {key: value for key, value in more.items() if key != "columns"}
    return Policy.load(
        {"columns": columns, "constraints": constraints, "method": method, "target": "ward", **keys}
    )


def rows_of(path: Path) -> Counter[tuple[Any, ...]]:
    table = pq.read_table(path)
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


def large(
    source: Path,
    policy: Policy,
    target: Path,
    fragment_rows: int = 60,
    report: Path | None = None,
) -> Release:
    session = DuckSession("1GB")
    try:
        return run_in(
            session,
            source,
            policy,
            target,
            Clock(),
            folders=False,
            fragment_rows=fragment_rows,
            report=report,
        )
    finally:
        session.close()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "people.parquet"
    pq.write_table(patients(700), path)
    return path


@pytest.mark.parametrize("name", CASES)
def test_the_same_rows_figures_and_report(name: str, source: Path, tmp_path: Path) -> None:
    policy = policy_of(name)
    folders = [tmp_path / "one", tmp_path / "other"]  # a certificate names the file of its release
    releases = [folder / "release.parquet" for folder in folders]
    reports = [folder / "release.json" for folder in folders]
    for folder in folders:
        folder.mkdir()
    one = shoal.run(source, policy, releases[0], report=reports[0])
    other = large(source, policy, releases[1], report=reports[1])
    assert rows_of(releases[1]) == rows_of(releases[0])
    names = ("rows", "published_rows", "suppressed_rows", "groups", "published_classes", "method")
    assert [getattr(other, key) for key in names] == [getattr(one, key) for key in names]
    assert other.findings == one.findings
    assert other.column_loss == pytest.approx(one.column_loss)
    assert set(other.metrics) == set(one.metrics)
    for metric, figure in other.metrics.items():
        assert figure == pytest.approx(one.metrics[metric]), metric
    assert other.constraints == one.constraints
    assert [c.columns for c in other.components] == [c.columns for c in one.components]
    require_same(*map(certificate_in, reports))


def test_recognition_rate_is_measured_where_the_policy_names_it(
    source: Path, tmp_path: Path
) -> None:
    policy = policy_of("datafly").replace_keys(metrics=["recognition-rate"])
    one = shoal.run(source, policy, tmp_path / "one.parquet")
    other = large(source, policy, tmp_path / "other.parquet")
    assert rows_of(tmp_path / "other.parquet") == rows_of(tmp_path / "one.parquet")
    rate = other.metrics["recognition-rate"]
    assert rate is not None
    assert rate == pytest.approx(one.metrics["recognition-rate"])


def test_bytes_are_published_alike_from_every_batch(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.engines.duckdb.session.BATCH", 50)
    table = pq.read_table(source)
    held = [[b"\xff", b"61", b"a"][(i % 97 > 0) + i % 2] for i in range(len(table))]
    table = table.set_column(table.column_names.index("paid"), "paid", pa.array(held))
    pq.write_table(table, tmp_path / "bytes.parquet")
    policy = policy_of("classfly-plus, starred")
    shoal.run(tmp_path / "bytes.parquet", policy, tmp_path / "one.parquet")
    large(tmp_path / "bytes.parquet", policy, tmp_path / "other.parquet")
    rows = rows_of(tmp_path / "one.parquet")
    assert rows_of(tmp_path / "other.parquet") == rows
    assert {"a", "61", "*"} < {row[-1] for row in rows}


def test_many_files_are_one_table(tmp_path: Path, source: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    table = pq.read_table(source)
    for i in range(7):
        pq.write_table(table.slice(i * 100, 100), folder / f"part-{i}.parquet")
    policy = policy_of("least-loss, l")
    large(source, policy, tmp_path / "one.parquet")
    large(folder, policy, tmp_path / "seven.parquet", fragment_rows=10_000)
    assert rows_of(tmp_path / "seven.parquet") == rows_of(tmp_path / "one.parquet")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"method": "bottom-up"}, "bottom-up needs all rows in one place"),
        ({"method": "k-clustering"}, "Give it `block_rows`"),
        ({"order": "kept"}, "have no order"),
        (
            {"method": {"name": "top-down", "block_rows": 100}, "suppressed": "starred"},
            "`suppressed: starred` is not supported",
        ),
    ],
)
def test_unsupported_policies_are_refused_before_any_work(
    keys: dict[str, Any], words: str, source: Path, tmp_path: Path
) -> None:
    policy = Policy.load({"columns": COLUMNS, "constraints": K5, **keys})
    with pytest.raises(PolicyError, match=words):
        large(source, policy, tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("constraints", "kind"),
    [([{"k": 900}], Infeasible), ([{"l": 50, "of": "illness"}], Infeasible)],
)
def test_an_infeasible_run_writes_nothing(
    constraints: list[dict[str, Any]], kind: type[ShoalError], source: Path, tmp_path: Path
) -> None:
    policy = Policy.load({"columns": COLUMNS, "constraints": constraints})
    with pytest.raises(kind):
        large(source, policy, tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())


def test_a_table_without_rows(tmp_path: Path) -> None:
    pq.write_table(patients(1).slice(0, 0), tmp_path / "none.parquet")
    with pytest.raises(InputError, match="no rows"):
        large(tmp_path / "none.parquet", policy_of("flexible"), tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize(
    ("cells", "rows", "message"),
    [
        (10, 10**9, "more than 10 distinct combinations"),
        (10**6, 699, r"has 700 rows, but .* takes at most 699\. Or use least-loss-partition"),
    ],
)
def test_tables_beyond_the_limits_are_refused(
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    cells: int,
    rows: int,
    message: str,
) -> None:
    monkeypatch.setattr("shoal.engines.full_domain.collect_cells.__defaults__", (cells, rows))
    with pytest.raises(InputError, match=message):
        large(source, policy_of("datafly"), tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_the_patients_have_every_kind_of_column() -> None:
    table = patients(700)
    assert isinstance(table, pa.Table)
    assert table["age"].null_count
    assert table["illness"].null_count


def test_a_table_that_changes_during_a_run_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.engines import encode

    moving = tmp_path / "moving.parquet"
    moving.write_bytes(source.read_bytes())
    real = encode._encode_rows

    def later(*arguments: Any) -> Any:
        table = pq.read_table(moving)
        pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), moving)
        return real(*arguments)

    monkeypatch.setattr(encode, "_encode_rows", later)
    with pytest.raises(InputError, match="701 rows, but 700 when its values were counted"):
        large(moving, policy_of("flexible"), tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()
