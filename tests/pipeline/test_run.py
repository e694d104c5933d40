"""Files in, files out: verified before they are in their place."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import verify
from shoal.engines.files import LocalFiles
from shoal.errors import Infeasible, InputError, PolicyError
from tests.pipeline.test_anonymize import POLICY, TABLE
from tests.releases import shuffled, text_rows


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.parquet"
    pq.write_table(TABLE, path)
    return path


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "arrow"])
def test_every_format_holds_the_release(source: Path, ending: str) -> None:
    target = source.parent / f"out.{ending}"
    release = shoal.run(source, POLICY, target)
    assert text_rows(LocalFiles().read(target)) == text_rows(shoal.anonymize(TABLE, POLICY).table)
    assert release.verified
    assert all(finding.holds for finding in verify(target, POLICY))
    assert names_in(source.parent) == {"in.parquet", f"out.{ending}"}
    assert set(release.seconds) >= {"read", "write", "verify"}


def test_a_file_and_a_frame_agree(source: Path, tmp_path: Path) -> None:
    csv = tmp_path / "in.csv"
    LocalFiles().write(TABLE, csv)
    from_csv = shoal.run(csv, POLICY, tmp_path / "a.csv")
    from_parquet = shoal.run(source, POLICY, tmp_path / "b.csv")
    first, second = (sorted(text_rows(LocalFiles().read(tmp_path / n))) for n in ("a.csv", "b.csv"))
    assert first == second
    assert from_csv.metrics == from_parquet.metrics


def test_the_same_rows_in_any_order_give_the_same_bytes(source: Path, tmp_path: Path) -> None:
    for ending in ("csv", "parquet", "arrow"):
        first, second = tmp_path / f"1.{ending}", tmp_path / f"2.{ending}"
        shoal.run(source, POLICY, first)
        moved = tmp_path / "moved.parquet"
        pq.write_table(shuffled(TABLE, 5), moved)
        shoal.run(moved, POLICY, second)
        assert first.read_bytes() == second.read_bytes()


def test_missing_and_empty_come_back_as_they_were(tmp_path: Path) -> None:
    table = pa.table(
        {"age": ["1", "1", None, None], "ill": ["", None, 'a"b', "x,y\nz"], "ward": list("abcd")}
    )
    policy = {
        "columns": {"age": "quasi", "ill": "sensitive", "ward": "plain"},
        "constraints": [{"k": 2}],
        "order": "kept",
    }
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    LocalFiles().write(table, source)
    shoal.run(source, policy, target)
    assert LocalFiles().read(target).equals(table)


def test_an_existing_file_is_kept_unless_forced(source: Path) -> None:
    target = source.parent / "out.csv"
    target.write_text("older")
    with pytest.raises(InputError, match="exists already"):
        shoal.run(source, POLICY, target)
    assert target.read_text() == "older"
    shoal.run(source, POLICY, target, force=True)
    assert target.read_text() != "older"


def test_the_input_is_never_overwritten(source: Path) -> None:
    before = source.read_bytes()
    with pytest.raises(InputError, match="the input itself"):
        shoal.run(source, POLICY, source, force=True)
    assert source.read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"constraints": [{"k": 41}]}, Infeasible),
        ({"constraints": [{"l": 5, "of": "ill"}]}, Infeasible),
        ({"columns": {"age": "quasi"}}, PolicyError),
    ],
)
def test_whatever_goes_wrong_leaves_nothing(
    source: Path, changes: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        shoal.run(source, {**POLICY, **changes}, source.parent / "out.csv")
    assert names_in(source.parent) == {"in.parquet"}


def test_a_crash_in_the_middle_leaves_nothing(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.engines.release_table.MemoryRelease.verify", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shoal.run(source, POLICY, source.parent / "out.csv")
    assert names_in(source.parent) == {"in.parquet"}


def test_no_rows_and_no_file(tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("name,age,town,ill,ward\n")
    with pytest.raises(InputError, match="no rows"):
        shoal.run(empty, POLICY, tmp_path / "out.csv")
    with pytest.raises(InputError, match="does not exist"):
        shoal.run(tmp_path / "none.csv", POLICY, tmp_path / "out.csv")
    assert names_in(tmp_path) == {"empty.csv"}


def test_a_release_is_written_and_verified(tmp_path: Path) -> None:
    release = shoal.anonymize(TABLE, POLICY)
    for ending in ("csv", "parquet", "arrow"):
        path = release.write(tmp_path / f"out.{ending}")
        assert text_rows(LocalFiles().read(path)) == text_rows(release.table)
    with pytest.raises(InputError, match="exists already"):
        release.write(tmp_path / "out.csv")
    release.write(tmp_path / "out.csv", force=True)
    assert names_in(tmp_path) == {"out.csv", "out.parquet", "out.arrow"}


def test_hierarchy_files_are_found_beside_the_policy(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "town.csv").write_text("t0;north\nt1;north\nt2;south\n")
    (folder / "policy.yaml").write_text(
        "columns:\n  name: identifier\n  age: quasi\n  town: {role: quasi, hierarchy: town.csv}\n"
        "  ill: sensitive\n  ward: plain\nconstraints: [{k: 15}]\n"
    )
    shoal.run(source, folder / "policy.yaml", tmp_path / "out.csv")
    towns = set(LocalFiles().read(tmp_path / "out.csv")["town"].to_pylist())
    assert towns <= {"t0", "t1", "t2", "north", "south", "*"}
