"""Tables that would not fit into memory are found before they are read."""

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.engines import table_size
from shoal.engines.files import LocalFiles
from shoal.engines.formats.parquet import Parquet
from shoal.errors import InputError
from tests.examples import examples

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


@pytest.mark.usefixtures("ceiling")
def test_what_others_made_is_not_counted_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The classes of a CSV file need no table, but the values of a class are kept."""

    def counted(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("shoal.engines.files.count_csv", counted)
    path = bomb(tmp_path)
    (tmp_path / "few.csv").write_text("a,b\n1,x\n1,x\n")
    for ask in (
        lambda: shoal.verify(path, POLICY),
        lambda: shoal.criteria(path, POLICY),
        lambda: shoal.assess(path, quasi=["a"]),
        lambda: shoal.attack(tmp_path / "few.csv", POLICY, known=path),
    ):
        with pytest.raises(InputError, match=r"Work on disk with --memory"):
            ask()


def test_a_line_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.io.csv_dialect.LONGEST_LINE", 10_000)
    (tmp_path / "t.csv").write_text("a" * 20_000)
    with pytest.raises(InputError, match=r"line 1: the line is longer than 10,000 characters"):
        LocalFiles().read(tmp_path / "t.csv")


@pytest.mark.usefixtures("ceiling")
@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.parquet"])
def test_rows_and_texts_that_a_file_stores_once_are_counted(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "t.parquet":
        pq.write_table(pa.table({"a": ["1"] * 3_000, "b": ["x" * 3_000] * 3_000}), path)
    else:
        with gzip.open(path, "wt") as file:
            file.write('{"a": "1", "b": "x"}\n' * 100_000)
    assert path.stat().st_size < 20_000
    with pytest.raises(InputError, match=r"Work on disk with --memory"):
        LocalFiles().read(path)
    moved = shoal.run(path, POLICY, tmp_path / "r.csv")
    assert moved.engine.startswith("local --memory")


@examples(30)
@given(
    texts=st.lists(st.none() | st.sampled_from(["", "é", "xy", "z" * 50]), max_size=40),
    rows=st.integers(1, 20),
    coded=st.booleans(),
)
def test_texts_of_parquet_are_counted_as_one_by_one(
    texts: list[str | None], rows: int, coded: bool
) -> None:
    own = sum(len((text or "").encode()) for text in texts)
    column = pa.array(texts, pa.string())
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        shown = column.dictionary_encode() if coded else column
        pq.write_table(pa.table({"a": shown, "n": [1] * len(texts)}), path, row_group_size=rows)
        stored = Parquet().text_size(path, 1 << 40)  # no text can be so long
        longest = max((len((text or "").encode()) for text in texts), default=0)
        for most in (stored + own, stored + own + 1, stored + longest * len(texts)):
            assert stored <= Parquet().text_size(path, most) <= most
        if own:
            assert Parquet().text_size(path, stored + own - 1) == stored + own
