import os
import re
from pathlib import Path

import pyarrow as pa
import pytest

from shoal.errors import HierarchyError
from shoal.hierarchy.csv_file import CsvFile
from shoal.hierarchy.tree import HierarchyTree

from .checks import assert_sound, path

NONE = pa.array([], pa.string())


def built(folder: Path, content: str | bytes, separator: str | None = None) -> HierarchyTree:
    raw = content.encode() if isinstance(content, str) else content
    (folder / "h.csv").write_bytes(raw)
    hierarchy, _ = CsvFile("h.csv", separator).build(NONE, "food", folder)
    assert_sound(hierarchy)
    return hierarchy


FOOD = (("apple", "pear", "oat"), ("fruit", "grain"), ("*",))


@pytest.mark.parametrize("separator", [";", ",", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_separators_line_ends_and_mark(tmp_path: Path, separator: str, end: str, mark: str) -> None:
    lines = ["apple;fruit;*", "pear;fruit;*", "oat;grain;*"]
    content = mark + end.join(line.replace(";", separator) for line in lines)
    assert built(tmp_path, content).labels == FOOD
    assert built(tmp_path, content + end + end).labels == FOOD


def test_quoted_fields(tmp_path: Path) -> None:
    content = 'a;"x; ""y""";*\n"b\nc";z;*\n'
    labels = built(tmp_path, content).labels
    assert labels == (("a", "b\nc"), ('x; "y"', "z"), ("*",))


def test_semicolons_win_over_commas_in_labels(tmp_path: Path) -> None:
    labels = built(tmp_path, "a, b;x, y;*\nc, d;x, y;*\n").labels
    assert labels == (("a, b", "c, d"), ("x, y",), ("*",))


def test_a_given_separator_is_taken(tmp_path: Path) -> None:
    labels = built(tmp_path, "a;b,x,*\nc;d,x,*\n", ",").labels
    assert labels == (("a;b", "c;d"), ("x",), ("*",))
    assert built(tmp_path, "a|x\nb|x", "|").labels == (("a", "b"), ("x",))


def test_blanks_around_labels_go_and_leaves_stay(tmp_path: Path) -> None:
    assert built(tmp_path, " a, x, *\nb, x, *\n").labels == ((" a", "b"), ("x",), ("*",))


def test_repeated_rows_and_repeated_texts(tmp_path: Path) -> None:
    labels = built(tmp_path, "A;A;*\nB;C;*\nA;A;*\n").labels
    assert labels == (("A", "B"), ("A", "C"), ("*",))


def test_a_single_column_is_a_flat_tree(tmp_path: Path) -> None:
    assert built(tmp_path, "a\nb\n").labels == (("a", "b"), ("*",))


def test_values_find_their_leaf(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("1;0-4;*\n2;0-4;*\n9;5-9;*\n")
    spec = CsvFile("h.csv")
    for values in (pa.array([9, 3, 1]), pa.array([9.0, 3.5, 1.0]), pa.array(["9", "x", "1"])):
        _, codes = spec.build(values, "age", tmp_path)
        assert codes.tolist() == [2, -1, 0]
        assert codes.dtype == "int32"


def test_an_absolute_path_is_taken(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("a;*\n")
    hierarchy, _ = CsvFile(str(tmp_path / "h.csv")).build(NONE, "x", Path("elsewhere"))
    assert hierarchy.labels == (("a",), ("*",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a;x;*\n\nb;*\n", "h.csv line 3 has 2 fields, 3 expected as in line 1 (separator ';')"),
        ("a;x;*\nb;x;*;*\n", "h.csv line 2 has 4 fields, 3 expected"),
        ("", "h.csv, the hierarchy of column 'food', is empty."),
        ("\n \n", "h.csv, the hierarchy of column 'food', is empty."),
        ("a;*\n;*\n", "h.csv line 2: the leaf is empty."),
        ("a;;*\n", "h.csv line 1: field 2 is empty."),
        (
            "a;x;*\nb;y;*\na;y;*\n",
            "h.csv line 3: 'a' has two parents, 'x' (line 1) and 'y' (line 3)",
        ),
        (
            "a;b;*\nb;a;*\n",
            "h.csv line 1: the hierarchy has a cycle: 'a' under 'b' under 'a'.",
        ),
        ('a;x;*\n"b;x;*\n', "h.csv line 2: unexpected end of data."),
        ('a;x;*\n"b"c;x;*\n', "h.csv line 2: "),
        (b"a;x;*\n\xe9;x;*\n", "h.csv line 2 is not UTF-8"),
        ("a;x;*\n".encode("utf-16"), "h.csv line 1 is not UTF-8"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(HierarchyError, match=re.escape(message)):
        built(tmp_path, content)


def test_lines_count_those_inside_quotes(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match="line 3 has 1 field, 2 expected"):
        built(tmp_path, '"a\nb";x\nc\n')


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "race.csv").write_text("a;*\n")
    with pytest.raises(HierarchyError) as caught:
        CsvFile("rase.csv").build(NONE, "race", tmp_path)
    assert str(caught.value) == (
        f"rase.csv, the hierarchy of column 'race', is not in {tmp_path.resolve()}. Did you mean "
        "'race.csv'? Give its path from the policy's folder, or a full path."
    )
    with pytest.raises(HierarchyError, match="is not in"):
        CsvFile("no/such/folder.csv").build(NONE, "race", tmp_path)


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "race.csv").mkdir()
    with pytest.raises(HierarchyError, match=r"race\.csv, .* 'race', is a directory"):
        CsvFile("race.csv").build(NONE, "race", tmp_path)


def test_an_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a file without read permission is still readable to some users, so the refusal is played
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "race.csv").write_text("a;*\n")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(HierarchyError, match="cannot be read: Permission denied"):
        CsvFile("race.csv").build(NONE, "race", tmp_path)


def test_bad_options() -> None:
    with pytest.raises(HierarchyError, match="empty path"):
        CsvFile(" ")
    with pytest.raises(HierarchyError, match="separator ';;'; allowed is one character"):
        CsvFile("h.csv", ";;")


@pytest.mark.skipif("SHOAL_ADULT" not in os.environ, reason="SHOAL_ADULT names no folder")
def test_files_of_the_field_load_unchanged() -> None:
    folder = Path(os.environ["SHOAL_ADULT"])
    files = sorted(folder.glob("*_hierarchy_*.csv"))
    assert files
    for file in files:
        hierarchy, _ = CsvFile(file.name).build(NONE, "x", folder)
        assert_sound(hierarchy)
        rows = [tuple(line.split(";")) for line in file.read_text().split("\n") if line]
        found = {path(hierarchy, leaf) for leaf in range(hierarchy.n_leaves)}
        assert found == set(rows)
