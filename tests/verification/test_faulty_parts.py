"""A faulty method or writer, and values that are no values, do not pass as a verified release."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.encoding.grouping import Grouping
from shoal.errors import VerificationFailed
from shoal.methods.base import FullDomainMethod, Method

NAN = float("nan")


@dataclass(frozen=True)
class OneGroup(Method):
    """All rows in one group, or in whatever else a test asks for."""

    answer: Any = None

    def group(self, cells: Any, requirement: Any, seed: int, progress: Any) -> Any:  # noqa: ARG002
        n = cells.n_rows
        if self.answer is not None:
            return self.answer(n)
        return (Grouping(np.zeros(n, np.int32), 1, tuple(range(len(cells.domains)))),)


@pytest.mark.parametrize(
    "answer",
    [
        lambda n: () * n,
        lambda n: (Grouping(np.zeros(n, np.int32), 1, (0, 0)),),
        lambda n: (Grouping(np.zeros(n, np.int32), 1, (0, 2)),),
        lambda n: (Grouping(np.zeros(n - 1, np.int32), 1, (0, 1)),),
        lambda n: (Grouping(np.zeros(n, object), 1, (0, 1)),),
        lambda n: (Grouping(np.full(n, 7, np.int32), 1, (0, 1)),),
        lambda n: (Grouping(np.full(n, -2, np.int32), 1, (0, 1)),),
    ],
)
def test_groupings_that_describe_no_release_are_refused(answer: Any) -> None:
    table = pa.table({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]})
    with pytest.raises(VerificationFailed, match="The method one-group returned"):
        shoal.anonymize(table, quasi=["a", "b"], k=2, method=OneGroup(answer))


def test_labels_follow_the_order_of_a_groupings_columns() -> None:
    table = pa.table({"a": [0, 1, 2, 3], "b": [103, 102, 101, 100]})

    def answer(n: int) -> tuple[Grouping, ...]:
        return (Grouping((np.arange(n) // 2).astype(np.int32), 2, (1, 0)),)

    release = shoal.anonymize(table, quasi=["a", "b"], k=2, method=OneGroup(answer))
    labels = {(row["a"], row["b"]) for row in release.table.to_pylist()}
    assert labels == {("[0~1]", "[102~103]"), ("[2~3]", "[100~101]")}


@pytest.mark.parametrize("target", ["out.csv", "out.parquet", "out.arrow"])
@pytest.mark.parametrize("memory", [None, "1GB"])
def test_what_is_not_a_number_is_no_sensitive_value(
    tmp_path: Path, target: str, memory: str | None
) -> None:
    table = pa.table({"a": [1] * 6, "ill": [NAN, 1.0] * 3})
    pq.write_table(table, tmp_path / "in.parquet")
    policy = {
        "columns": {"a": "quasi", "ill": "sensitive"},
        "constraints": [{"k": 2}],
        "method": "mondrian",
    }
    release = shoal.run(tmp_path / "in.parquet", policy, tmp_path / target, memory=memory)
    assert release.verified
    stricter = {**policy, "constraints": [{"l": 2, "of": "ill"}]}
    found = shoal.verify(tmp_path / target, stricter)
    assert (found.holds, found[0].reached) == (False, 1)
    if target == "out.csv":
        assert pc.read_csv(tmp_path / target)["ill"].null_count == 3


def test_not_a_number_in_a_dictionary_is_no_value_either() -> None:
    ill = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 3), pa.array([NAN, 1.0]))
    with pytest.raises((VerificationFailed, shoal.Infeasible)):
        shoal.anonymize(
            pa.table({"a": [1] * 6, "ill": ill}), quasi="a", sensitive="ill", l=2, method=OneGroup()
        )


def test_a_writer_that_adds_a_column_is_noticed_out_of_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.engines.duckdb import session

    real = session.write_from

    def faulty(con: Any, sql: str, target: Path, *others: Any) -> None:
        real(con, sql, target, *others)
        lines = target.read_text().splitlines()
        target.write_text("\n".join(f"{line},{i}" for i, line in enumerate(lines)) + "\n")

    monkeypatch.setattr(session, "write_from", faulty)
    (tmp_path / "in.csv").write_text("a,b\n" + "1,2\n" * 6)
    policy = {"columns": {"a": "quasi", "b": "plain"}, "constraints": [{"k": 2}]}
    with pytest.raises(VerificationFailed, match="has the columns"):
        shoal.run(tmp_path / "in.csv", policy, tmp_path / "out.csv", memory="1GB")
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_a_release_with_other_rows_than_were_verified_is_not_written(tmp_path: Path) -> None:
    release = shoal.anonymize(pa.table({"a": [1, 1, 2, 2]}), quasi="a", k=2)
    doubled = replace(release, table=pa.concat_tables([release.table] * 2))
    with pytest.raises(VerificationFailed, match="has 8 rows, but 4 were verified"):
        doubled.write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


@dataclass(frozen=True)
class Lopsided(FullDomainMethod):
    """A full-domain method that numbers groups wrongly."""

    uses_hierarchies: ClassVar[str] = "climbs"

    def group(self, cells: Any, requirement: Any, seed: int, progress: Any) -> Any:  # noqa: ARG002
        return (Grouping(np.full(cells.n_rows, 3, np.int32), 1, (0,)),)


def test_groupings_are_checked_out_of_core_too(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("zip\n" + "123\n" * 6)
    columns = {"zip": {"role": "quasi", "hierarchy": {"mask": "right"}}}
    policy = {"columns": columns, "constraints": [{"k": 2}], "method": Lopsided()}
    with pytest.raises(VerificationFailed, match="group numbers out of range"):
        shoal.run(tmp_path / "in.csv", policy, tmp_path / "out.csv", memory="1GB")
