"""A method that lies is found out, and nothing is written."""

import logging
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.errors import VerificationFailed
from tests.releases import Fixed

# Groups of two and one where three were promised.
LIAR = Fixed(((0, 0, 1, 1, 2, 2, 3),))
TABLE = pa.table(
    {
        "age": [f"SECRET{i}" for i in range(7)],
        "ill": [f"SECRET-ill-{i}" for i in range(7)],
        "ward": [f"SECRET-ward-{i}" for i in range(7)],
    }
)


def policy(**keys: Any) -> shoal.Policy:
    columns = {"age": "quasi", "ill": "sensitive", "ward": "plain"}
    asked = {"columns": columns, "constraints": [{"k": 3}], "method": LIAR, **keys}
    return shoal.Policy.load(asked)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    rows = (",".join(row.values()) for row in TABLE.to_pylist())
    path.write_text("\n".join(["age,ill,ward", *rows, ""]))
    return path


@pytest.mark.parametrize("order", ["sorted", "kept"])
def test_a_frame_is_not_handed_out(order: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(VerificationFailed) as failed:
        shoal.anonymize(TABLE, policy(order=order))
    assert failed.value.exit_code == 4
    assert "4 of 4 published classes fall short; the smallest of them has 1 row" in str(
        failed.value
    )
    assert "SECRET" not in str(failed.value) + caplog.text


@pytest.mark.parametrize("target", ["out.csv", "out.csv.gz", "out.parquet", "out.arrow"])
def test_nothing_is_written(source: Path, target: str) -> None:
    with pytest.raises(VerificationFailed):
        shoal.run(source, policy(), source.parent / target)
    assert [path.name for path in source.parent.iterdir()] == ["in.csv"]


def test_an_older_file_stays_as_it_was(source: Path) -> None:
    older = source.parent / "out.csv"
    older.write_text("older")
    with pytest.raises(VerificationFailed):
        shoal.run(source, policy(), older, force=True)
    assert older.read_text() == "older"
    assert sorted(path.name for path in source.parent.iterdir()) == ["in.csv", "out.csv"]


def test_a_starred_lie_is_found_too(source: Path) -> None:
    half = Fixed(((0, 0, 0, 1, 1, -1, -1),))
    with pytest.raises(VerificationFailed, match="the smallest of them has 2 rows"):
        shoal.run(source, policy(method=half, suppressed="starred"), source.parent / "out.csv")
    assert [path.name for path in source.parent.iterdir()] == ["in.csv"]


def test_a_lie_about_diversity_is_found(source: Path) -> None:
    same = TABLE.set_column(1, "ill", pa.array(["SECRET flu"] * 4 + ["SECRET gout"] * 3))
    asked = policy(
        method=Fixed(((0, 0, 0, 0, 1, 1, 1),)), constraints=[{"k": 3}, {"l": 2, "of": "ill"}]
    )
    with pytest.raises(VerificationFailed, match="2 of 2 published classes") as failed:
        shoal.anonymize(same, asked)
    assert "SECRET" not in str(failed.value)
    assert source.exists()


def test_a_file_that_lost_its_rows_on_the_way_is_found(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is verified is the written file, not the table in memory."""
    from shoal.engines.files import LocalFiles

    write = LocalFiles.write

    def careless(self: LocalFiles, table: pa.Table, path: Path, **keys: Any) -> None:
        write(self, table.slice(0, 5), path, **keys)

    monkeypatch.setattr(LocalFiles, "write", careless)
    asked = policy(method=Fixed(((0, 0, 0, 1, 1, 1, 1),)))
    with pytest.raises(VerificationFailed, match="the smallest of them has 2 rows"):
        shoal.run(source, asked, source.parent / "out.csv")
    assert [path.name for path in source.parent.iterdir()] == ["in.csv"]


def test_a_column_that_slipped_in_is_found(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.engines.files import LocalFiles

    write = LocalFiles.write

    def careless(self: LocalFiles, table: pa.Table, path: Path, **keys: Any) -> None:
        write(self, table.append_column("extra", table["ward"]), path, **keys)

    monkeypatch.setattr(LocalFiles, "write", careless)
    asked = policy(method=Fixed(((0,) * 7,)))
    with pytest.raises(VerificationFailed, match="extra"):
        shoal.run(source, asked, source.parent / "out.csv")
    assert [path.name for path in source.parent.iterdir()] == ["in.csv"]
