from pathlib import Path

import pytest

from shoal.errors import PolicyError
from shoal.policy import yaml_source
from shoal.policy.yaml_source import parse, read


def data(text: str) -> dict[str, object]:
    return parse(text, "p.yaml", Path()).data


def refused(text: str) -> str:
    with pytest.raises(PolicyError) as caught:
        data(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("5", 5),
        ("-5", -5),
        ("+5", 5),
        ("0", 0),
        ("007", "007"),
        ("02138", "02138"),
        ("-01", "-01"),
        ("01.5", "01.5"),
        ("1_000", "1_000"),
        ("0x1F", 31),
        ("0o17", 15),
        ("0b1", "0b1"),
        ("0.05", 0.05),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("-.INF", float("-inf")),
        ("12:30", "12:30"),
        ("190:20:30", "190:20:30"),
        ("2020-01-01", "2020-01-01"),
        ("2020-01-01 10:00:00", "2020-01-01 10:00:00"),
        ("~", None),
        ("null", None),
        ("", None),
        ("''", ""),
        ("'5'", "5"),
        ('"true"', "true"),
        ("=", "="),
        ("<<", "<<"),
        ("!!str 5", "5"),
        ("müller", "müller"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(scalar: str, value: object) -> None:
    read_value = data(f"a: {scalar}\n")["a"]
    assert read_value == value
    assert type(read_value) is type(value)


def test_keys_are_text_as_written() -> None:
    assert data("{on: 1, yes: 2, 2020: 3, 007: 4, null: 5, true: 6, 1.0: 7, 2020-01-01: 8}") == {
        "on": 1,
        "yes": 2,
        "2020": 3,
        "007": 4,
        "null": 5,
        "true": 6,
        "1.0": 7,
        "2020-01-01": 8,
    }


def test_json_is_yaml() -> None:
    assert data('{"columns": {"age": {"role": "quasi"}}, "n": [1, 2.5, null, true]}') == {
        "columns": {"age": {"role": "quasi"}},
        "n": [1, 2.5, None, True],
    }


def test_every_field_has_its_line() -> None:
    source = parse(
        "# first\ncolumns:\n  age:\n    role: quasi\n\n  zip: {role: plain}\n"
        "list:\n- 1\n- {k: 2}\n",
        "p.yaml",
        Path(),
    )
    assert source.lines == {
        ("columns",): 2,
        ("columns", "age"): 3,
        ("columns", "age", "role"): 4,
        ("columns", "zip"): 6,
        ("columns", "zip", "role"): 6,
        ("list",): 7,
        ("list", 0): 8,
        ("list", 1): 9,
        ("list", 1, "k"): 9,
    }
    assert source.where(("columns", "zip", "role")) == "p.yaml:6: "
    assert source.where(("list", 1, "k", "deeper")) == "p.yaml:9: "
    assert source.where(("other",)) == "p.yaml: "


def test_an_alias_is_the_value_it_names() -> None:
    assert data("a: &x [1, 2]\nb: *x\n") == {"a": [1, 2], "b": [1, 2]}


def test_a_column_with_two_roles() -> None:
    assert refused(
        "columns:\n  age: quasi\n  zip: quasi\n  age: identifier\nseed: 1\nseed: 2\n"
    ) == (
        "p.yaml:2: columns.age: listed twice, in lines 2 and 4; a column has one role, so keep one "
        "of them\n"
        "p.yaml:5: seed: listed twice, in lines 5 and 6; keep one of them"
    )
    assert "columns.2020: listed twice, in lines 2 and 3" in refused(
        "columns:\n  2020: quasi\n  '2020': plain\n"
    )


EMPTY = (
    "p.yaml: is empty; a policy has at least `columns` and `constraints`. `shoal init` writes a "
    "draft for a table."
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", EMPTY),
        ("# only a comment\n", EMPTY),
        ("---\n", EMPTY),
        ("~", EMPTY),
        (
            "- k\n- l\n",
            "p.yaml: found a list; a policy is a mapping with at least the keys `columns` and "
            "`constraints`.",
        ),
        (
            "name,age\nAnna,39\n",
            "p.yaml: found text; a policy is a mapping with at least the keys `columns` and "
            "`constraints`.",
        ),
        ("a:\n\tb: 1", "p.yaml:2:1: found a tab; indent with spaces."),
        (
            "a: b: c",
            "p.yaml:1:5: found a ':' where none is allowed; check the indentation, and put text "
            "that holds a ':' in quotes.",
        ),
        ("a: {b: 1", "p.yaml:1:4: the { opened here is not closed, or a comma is missing in it."),
        (
            "a: [1, 2\nb: 3",
            "p.yaml:1:4: the [ opened here is not closed, or a comma is missing in it.",
        ),
        ("a: 1\nb: 'x\nc: 1", "p.yaml:2:4: the quote opened here is not closed."),
        ("a: *", "p.yaml:1:5: text that starts with * or & must be in quotes."),
        ("a: *b", "p.yaml:1:4: text that starts with * must be in quotes."),
        ("a: @x", "p.yaml:1:4: text cannot start with this character; put it in quotes."),
        ("a: 1\nb\nc: 1", "p.yaml:3:1: found a key without its ':'; write `key: value`."),
        (" a: 1\nb: 2", "p.yaml:2:1: the indentation does not fit the lines above."),
        ("- a\nb: 1", "p.yaml:2:1: the indentation does not fit the lines above."),
        (
            "a: 1\n---\nb: 2",
            "p.yaml:2:1: a second document starts here; a policy is one document, remove `---`.",
        ),
        (
            'a: "C:\\data"',
            "p.yaml:1:8: found a \\ in double quotes; use single quotes for text with a \\.",
        ),
        ("a: - b", "p.yaml:1:4: a list starts on a line of its own, or is written as [a, b]."),
        ("a: &x 1\nb: &x 2", "p.yaml:2:4: found the same & name twice; give each its own."),
        (
            "a: }",
            "p.yaml:1:4: cannot be read as YAML; check indentation, quotes and brackets.",
        ),
        ("a: 1\nb: \x00", "p.yaml:2: contains a control character (code 0); remove it."),
        ("a: !!python/object:x 1", "p.yaml:1: a: found a tag (a word with !); tags are not read"),
        ("a: !!set {x}", "p.yaml:1: a: found a tag (a word with !); tags are not read"),
        ("a: !!int x", "p.yaml:1: a: found a number that cannot be read"),
        (f"a: {'9' * 5000}", "p.yaml:1: a: found a number that cannot be read"),
        ("{{x}}: 2", "p.yaml: found a list or mapping as a key; keys are text"),
        (
            "x:\n  <<: {a: 1}",
            "p.yaml:2: x.'<<': merged keys (<<) are not read; write them out",
        ),
    ],
)
def test_what_cannot_be_read(text: str, expected: str) -> None:
    assert refused(text) == expected


@pytest.mark.parametrize("text", ["a: &x [*x]", "a: &x {b: {c: *x}}"])
def test_a_value_that_holds_itself(text: str) -> None:
    assert "refers to itself" in refused(text)


def test_aliases_that_multiply() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 10)}]" for i in range(9)]
    assert "grows beyond 200,000 values" in refused("\n".join(lines))


def test_more_values_than_a_policy_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_source, "MOST_VALUES", 100)
    assert refused(f"a: [{'x, ' * 300}]") == (
        "p.yaml:1:598: too many values for a policy; keep large hierarchies in CSV files of their own."
    )
    assert data(f"a: [{'x, ' * 90}]") == {"a": ["x"] * 90}


@pytest.mark.parametrize("text", ["[" * 5000, "a: " + "[" * 500 + "]" * 500, "{a: " * 5000])
def test_nesting_without_end(text: str) -> None:
    assert "nested too deep for a policy" in refused(text)


def test_a_file_knows_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("a: 1\n")
    assert read(file).folder == tmp_path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_that_are_read(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("größe: 1\r\nb: 2\r\n", encoding=encoding)
    assert read(file).data == {"größe": 1, "b": 2}


def unreadable(path: Path) -> str:
    with pytest.raises(PolicyError) as caught:
        read(path)
    return str(caught.value).replace(str(path.parent), "<folder>")


def test_files_that_are_not_a_policy(tmp_path: Path) -> None:
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("a: 1\ngröße: 1\n".encode("latin-1"))
    assert unreadable(latin) == (
        "<folder>/latin.yaml:2: is not UTF-8 text; save the file as UTF-8."
    )
    utf16 = tmp_path / "half.yaml"
    utf16.write_bytes(b"\xff\xfea")
    assert unreadable(utf16) == "<folder>/half.yaml: is not UTF-8 text; save the file as UTF-8."
    large = tmp_path / "large.yaml"
    large.write_text("#" * 4_000_001)
    assert unreadable(large) == (
        "<folder>/large.yaml: is larger than 4,000,000 bytes; is it a policy? Keep large hierarchies "
        "in CSV files of their own."
    )
    assert unreadable(tmp_path / "people.csv") == (
        "<folder>/people.csv: is a table by its name; a policy is a YAML file."
    )
    (tmp_path / "folder").mkdir()
    assert unreadable(tmp_path / "folder") == (
        "<folder>/folder: is a directory; name the policy file in it."
    )


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert unreadable(tmp_path / "policy.yaml") == "<folder>/policy.yaml: does not exist."
    (tmp_path / "other.yaml").touch()
    assert unreadable(tmp_path / "hospital.yaml") == (
        "<folder>/hospital.yaml: does not exist. Policy files there: other.yaml."
    )
    (tmp_path / "policy.yml").touch()
    assert unreadable(tmp_path / "policy.yaml") == (
        "<folder>/policy.yaml: does not exist. Policy files there: other.yaml, policy.yml."
    )
    assert unreadable(tmp_path / "no" / "policy.yaml").endswith(
        "does not exist. Its folder <folder> does not exist either."
    )


def test_names_that_the_system_refuses(tmp_path: Path) -> None:
    assert unreadable(tmp_path / ("x" * 300)).endswith("cannot be read: file name too long.")
    assert unreadable(tmp_path / "a\0b").endswith("cannot be read: the name cannot be used.")


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_args: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", closed)
    assert unreadable(tmp_path / "policy.yaml") == (
        "<folder>/policy.yaml: cannot be read: permission denied."
    )


def test_a_table_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    """Its content would be quoted in the message."""
    table = tmp_path / "people.CSV"
    table.write_text("Anna: 39\nAnna: 40\n")
    assert "Anna" not in unreadable(table)


def test_limits_leave_room_for_large_policies() -> None:
    columns = "".join(f"  column_{i}: {{role: quasi, kind: ordered}}\n" for i in range(500))
    text = f"columns:\n{columns}"
    assert len(text) < yaml_source.MOST_BYTES / 10
    assert len(data(text)["columns"]) == 500  # type: ignore[arg-type]
