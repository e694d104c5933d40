"""The encoding of a text file is found by looking at all of it."""

import gzip
from pathlib import Path

import pytest

import shoal
from shoal.engines.files import LocalFiles
from shoal.engines.spark.files import check_files
from shoal.errors import InputError
from shoal.io.csv_dialect import (
    CsvOptions,
    as_utf8,
    check_encoding,
    detect_encoding,
    first_bad_line,
)

TEXT = "name,city\nJonathan,Zürich\n"


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
        ("cp1252", "cp1252"),
    ],
)
def test_detected(tmp_path: Path, written: str, found: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.encode(written))
    encoding, warning = detect_encoding(path)
    assert encoding == found
    assert (warning is not None) == (found == "cp1252")
    with as_utf8(path, encoding) as plain:
        assert plain.read_bytes().decode("utf-8-sig") == TEXT
    assert list(tmp_path.iterdir()) == [path]


def test_a_guess_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.encode("cp1252"))
    _, warning = detect_encoding(path)
    assert warning
    assert "t.csv is not UTF-8" in warning
    assert "guess" in warning
    assert "--encoding" in warning
    assert "Jonathan" not in warning


def test_a_bad_byte_far_down_is_found(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    lines = b"Jonathan,1\n" * 300_000
    path.write_bytes(lines + b"Z\xfcrich,2\n" + lines)
    assert first_bad_line(path, "utf-8") == 300_001
    assert detect_encoding(path)[0] == "cp1252"


def test_a_character_across_two_blocks_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a" * ((1 << 20) - 1) + "ü".encode())
    assert detect_encoding(path) == ("utf-8", None)
    path.write_bytes(b"a\nb\xc3")
    assert first_bad_line(path, "utf-8") == 2


def test_bytes_that_fit_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"name\nJonathan\n\x81\xff\n")
    with pytest.raises(InputError, match=r"line 3 fits none.*Pass its encoding") as caught:
        detect_encoding(path)
    assert "Jonathan" not in str(caught.value)


def test_the_wrong_encoding_named_by_the_user(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"name\nJonathan\xff\n")
    with (
        pytest.raises(InputError, match=r"line 2: the bytes are not shift-jis text") as caught,
        as_utf8(path, "shift-jis"),
    ):
        pass
    assert "Jonathan" not in str(caught.value)


def test_gzip(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(TEXT.encode("utf-16")))
    assert detect_encoding(path)[0] == "utf-16"
    with as_utf8(path, "utf-16") as plain:
        assert plain.read_text("utf-8") == TEXT


def test_a_sample_ends_with_a_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("ab\ncd\nef\n".encode("utf-16"))
    with as_utf8(path, "utf-16", characters=4) as plain:
        assert plain.read_text() == "ab\ncd\n"


@pytest.mark.parametrize("name", ["utf8", "latin-1", "CP1251", "Shift_JIS", "big5", "koi8-r"])
def test_any_text_codec_is_allowed(name: str) -> None:
    check_encoding(name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("utf-9", "Did you mean 'utf-"),
        ("hex", "is not a known encoding"),
        ("", "is not a known encoding"),
    ],
)
def test_what_is_no_encoding(name: str, hint: str) -> None:
    with pytest.raises(InputError, match=hint):
        check_encoding(name)


MIXED = b"name,city\nJonathan,Mons\n" + "A,Zürich\n".encode() + "B,Zürich\n".encode("cp1252")


@pytest.mark.parametrize("other", ["cp1252", "mac-roman", "koi8-r"])
@pytest.mark.parametrize("packed", [False, True])
def test_two_encodings_in_one_file(tmp_path: Path, other: str, packed: bool) -> None:
    """Which other one it is does not matter: also one that has bytes that Windows-1252 has not."""
    letters = "Ж" if other == "koi8-r" else "éü"
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    text = "name,city\nJonathan,Mons\nA,Árpád\n".encode() + f"B,{letters}\n".encode(other)
    path.write_bytes(gzip.compress(text) if packed else text)
    with pytest.raises(
        InputError, match=r"line 3 has letters in UTF-8, line 4 in another"
    ) as caught:
        detect_encoding(path)
    assert "Jonathan" not in str(caught.value)
    assert "--encoding cp1252" in str(caught.value)


def test_two_encodings_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\nZ\xfcrich," + "Zürich".encode() + b"\n")
    with pytest.raises(InputError, match=r"line 2 has letters in UTF-8, line 2 in another"):
        detect_encoding(path)


def test_part_files_in_two_encodings(tmp_path: Path) -> None:
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    first.write_bytes(TEXT.encode("cp1252"))
    second.write_bytes(TEXT.encode())
    with pytest.raises(
        InputError, match=r"2\.csv, line 2, has letters in UTF-8, and .*1\.csv, line 2"
    ):
        detect_encoding(first, [second])
    second.write_bytes(b"name,city\nJonathan,Mons\n")
    assert detect_encoding(first, [second])[0] == "cp1252"


def test_an_encoding_that_was_named_is_doubted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(MIXED)
    options, warnings = LocalFiles().settle(path, CsvOptions(encoding="latin-1"))
    assert len(warnings) == 1
    assert "line 3 holds letters in UTF-8" in warnings[0]
    assert "Jonathan" not in warnings[0]
    assert LocalFiles().settle(path, options)[1] == ()  # nothing is said twice
    assert LocalFiles().read(path, options)["city"].to_pylist() == ["Mons", "ZÃ¼rich", "Zürich"]
    path.write_bytes(TEXT.encode("latin-1"))
    assert LocalFiles().settle(path, CsvOptions(encoding="latin-1"))[1] == ()
    path.write_bytes("name,city\nÀ,É\n".encode("shift_jisx0213"))
    assert LocalFiles().settle(path, CsvOptions(encoding="shift_jisx0213"))[1] == ()


def test_the_wrong_lines_of_utf_8_are_not_advised_to_be_read_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(MIXED)
    with pytest.raises(
        InputError, match=r"line 4: the bytes are not utf-8 text, as those of"
    ) as caught:
        LocalFiles().read(path, CsvOptions(encoding="utf-8"))
    assert "cp1252" not in str(caught.value)


@pytest.mark.parametrize("memory", [None, "500MB"])
def test_no_release_of_two_encodings(tmp_path: Path, memory: str | None) -> None:
    path, target = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_bytes(b"city,ill\n" + 3 * "Zürich,a\n".encode() + 3 * "Zürich,b\n".encode("cp1252"))
    policy = {"columns": {"city": "quasi", "ill": "plain"}, "constraints": [{"k": 3}]}
    with pytest.raises(InputError, match="line 2 has letters in UTF-8, line 5 in another one"):
        shoal.run(path, policy, target, memory=memory)
    assert not target.exists()
    with pytest.raises(InputError, match="line 2 has letters in UTF-8, line 5 in another one"):
        check_files([path], ["city"], CsvOptions())  # by Spark
    release = shoal.run(path, {**policy, "read": {"encoding": "cp1252"}}, target, memory=memory)
    assert any("line 2 holds letters in UTF-8" in one for one in release.warnings)
