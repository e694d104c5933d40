"""The encoding of a text file is found by looking at all of it."""

import gzip
from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.io.csv_dialect import as_utf8, check_encoding, detect_encoding, first_bad_line

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
