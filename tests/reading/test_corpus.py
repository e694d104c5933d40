"""Every awkward file is read cell by cell as a person would write it down, or the question is right."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.engines.files import LocalFiles
from shoal.engines.sessions import Session, open_session
from shoal.engines.sources import source_at
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions
from shoal.policy.reading import reading_of
from tests.reading.corpus import CORPUS, Awkward


def written(folder: Path, file: Awkward) -> Path:
    path = folder / f"t{file.ending}"
    path.write_bytes(file.data)
    return path


def expected(file: Awkward) -> list[tuple[str | None, ...]]:
    return list(zip(*file.table.values(), strict=True))


@pytest.mark.parametrize("case", CORPUS)
def test_the_table_is_what_a_person_would_write_down(tmp_path: Path, case: str) -> None:
    file = CORPUS[case]
    path, options = written(tmp_path, file), reading_of(file.read).file
    table = LocalFiles().read(path, options)
    assert table.column_names == list(file.table)
    assert list(zip(*(column.to_pylist() for column in table.columns), strict=True)) == expected(
        file
    )


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with open_session("local", "500MB") as opened:
        yield opened


@pytest.mark.parametrize("case", [case for case in CORPUS if case != "five thousand columns"])
def test_the_database_reads_the_same(session: Session, tmp_path: Path, case: str) -> None:
    file = CORPUS[case]
    source = source_at(written(tmp_path, file), reading_of(file.read).file)
    names = list(file.table)
    assert list(source.names) == names
    session.read("raw", source.files, names, source.options)
    rows = session.query(f"SELECT {', '.join(f'p{i}' for i in range(len(names)))} FROM raw")
    found = list(zip(*(column.to_pylist() for column in rows.columns), strict=True))
    assert sorted(found, key=repr) == sorted(expected(file), key=repr)


@pytest.mark.parametrize("case", [case for case, file in CORPUS.items() if file.asks])
def test_what_is_ambiguous_is_asked(tmp_path: Path, case: str) -> None:
    file = CORPUS[case]
    path = written(tmp_path, file)
    with pytest.raises(InputError) as asked:
        LocalFiles().read(path)
    assert file.asks in str(asked.value)
    assert "read: {" in str(asked.value)
    for value in ("Ann", "Mons", "31", "Total"):
        assert value not in str(asked.value).removeprefix(str(path))


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b"a,b\n1,2\n3\n4,5\n", "line 3: 1 field, but the first line names 2 columns"),
        (b"a,b\n1,2\n\n3,4,5\n", "line 4: 3 fields, but the first line names 2 columns"),
        (b'a,b\n"x\ny",2\n3\n', "line 4: 1 field, but the first line names 2 columns"),
    ],
)
def test_ragged_lines_are_named(tmp_path: Path, data: bytes, where: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    with pytest.raises(InputError, match=where):
        LocalFiles().read(path, CsvOptions(separator=",", quote='"', header=True))


def test_names_must_fit_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"1,2\n3,4\n")
    with pytest.raises(InputError, match="2 fields, but `names` has 3"):
        LocalFiles().read(path, CsvOptions(names=("a", "b", "c")))


def test_names_that_the_file_has_too_are_its_header(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n3,4\n")
    assert LocalFiles().read(path, CsvOptions(names=("a", "b"))).to_pylist() == [
        {"a": "3", "b": "4"}
    ]


@pytest.mark.parametrize("second", ["name,age\n", "\ufeffname,age\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_two_exports_put_together(tmp_path: Path, second: str, encoding: str) -> None:
    path = tmp_path / "t.csv"
    if encoding == "cp1252" and second.startswith("\ufeff"):
        return
    rows = "Zoë,31\n" * 3
    path.write_bytes(("name,age\n" + rows + second + rows).encode(encoding))
    options = CsvOptions(header=True, encoding="cp1252" if encoding == "cp1252" else None)
    with pytest.raises(InputError, match="line 5: the names of the columns are repeated"):
        LocalFiles().read(path, options)
    with pytest.raises(InputError, match="line 5: the names of the columns are repeated"):
        source_at(path, options)


def test_names_inside_of_values_are_no_repetition(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,age\nxname,age\nname,agex\nage,name\n")
    assert LocalFiles().read(path, CsvOptions(header=True)).num_rows == 3
    path.write_text("name\nname\nx\n")
    assert LocalFiles().read(path, CsvOptions(header=True)).num_rows == 2


@pytest.mark.parametrize("last", ["(3 rows)", "3 rows affected", "2 records selected."])
def test_a_count_of_rows_is_asked_about(tmp_path: Path, last: str) -> None:
    parts = [tmp_path / "1.csv", tmp_path / "2.csv"]
    for path in parts:
        path.write_text("name,age\nAnn,31\nBen,36\nCas,41\n")
    with parts[1].open("a") as stream:
        stream.write(f"{last},\n")
    with pytest.raises(InputError, match=r"2\.csv: the last line looks like a count") as caught:
        LocalFiles().settle(parts)
    assert "read: {footer: 1}" in str(caught.value)
