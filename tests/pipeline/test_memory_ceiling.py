"""Tables that would not fit into memory are found before they are read."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines import table_size
from shoal.engines.files import LocalFiles
from shoal.errors import InputError

POLICY = {"columns": {"a": "quasi", "b": "plain"}, "constraints": [{"k": 2}], "seed": 1}


@pytest.fixture
def ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_size, "machine_memory", lambda: 20_000_000)


def bomb(folder: Path, rows: int = 200_000) -> Path:
    path = folder / "bomb.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("a,b\n" + "1,x\n" * rows)
    return path


@pytest.mark.usefixtures("ceiling")
def test_a_small_gzip_of_many_rows_is_worked_on_on_disk(tmp_path: Path) -> None:
    path = bomb(tmp_path)
    assert path.stat().st_size < 10_000
    moved = shoal.run(path, POLICY, tmp_path / "r.csv", report=tmp_path / "r.json")
    assert moved.engine.startswith("local --memory")
    assert any("rows were kept on disk" in note for note in moved.notes)
    assert moved.published_rows == 200_000


def test_the_rows_are_those_of_a_run_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"{i % 37},{'xyz'[i % 3]}" for i in range(3_000)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *lines]) + "\n")
    plain = shoal.run(tmp_path / "t.csv", POLICY, tmp_path / "one.csv", report=tmp_path / "1.json")
    with monkeypatch.context() as less:
        less.setattr(table_size, "machine_memory", lambda: 200_000)
        moved = shoal.run(
            tmp_path / "t.csv", POLICY, tmp_path / "two.csv", report=tmp_path / "2.json"
        )
    assert plain.engine == "local" != moved.engine
    one, two = ((tmp_path / name).read_text().splitlines() for name in ("one.csv", "two.csv"))
    assert sorted(one) == sorted(two)
    for certificate, file in (("1.json", "two.csv"), ("2.json", "one.csv")):
        checked = shoal.verify(tmp_path / file, POLICY, certificate=tmp_path / certificate)
        assert checked.certificate is not None
        assert not [text for text in checked.certificate.differences if "digest" in text]


@pytest.mark.usefixtures("ceiling")
def test_what_needs_memory_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = bomb(tmp_path)
    with pytest.raises(
        InputError, match=r"(?s)would take more than .*half of this machine.*order: kept"
    ):
        shoal.run(path, {**POLICY, "order": "kept"}, tmp_path / "r.csv")
    assert not (tmp_path / "r.csv").exists()


@pytest.mark.usefixtures("ceiling")
def test_every_reader_stops_before_it_reads(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([1] * 400_000)}), tmp_path / "t.parquet")
    for path in (bomb(tmp_path), tmp_path / "t.parquet"):
        with pytest.raises(InputError, match=r"Work on disk with --memory"):
            LocalFiles().read(path)
    with pytest.raises(InputError, match=r"Work on disk with --memory"):
        shoal.inspect(bomb(tmp_path))


def test_a_line_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.io.csv_dialect.LONGEST_LINE", 10_000)
    (tmp_path / "t.csv").write_text("a" * 20_000)
    with pytest.raises(InputError, match=r"line 1: the line is longer than 10,000 characters"):
        LocalFiles().read(tmp_path / "t.csv")
