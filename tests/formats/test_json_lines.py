"""JSON lines: types are those of the values, and what is no table is refused."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.engines.files import LocalFiles
from shoal.errors import InputError


def read(path: Path) -> pa.Table:
    return LocalFiles().read(path)


def test_types_and_missing_keys(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    lines = [
        '{"age": 31, "town": "Ath", "ok": true, "a/b~c": 1.5}',
        "",
        '{"age": null, "town": "", "cost": 2, "ok": false, "a/b~c": 2}',
        '{"town": "é\\n\\u0041", "day": "1999-12-31", "mix": 1, "age": 36}',
        '{"mix": "x", "big": 18446744073709551615}',
    ]
    path.write_text("\n".join(lines))
    table = read(path)
    assert table.to_pydict() == {
        "age": [31, None, 36, None],
        "town": ["Ath", "", "é\nA", None],
        "ok": [True, False, None, None],
        "a/b~c": [1.5, 2.0, None, None],
        "big": [None, None, None, "18446744073709551615"],
        "cost": [None, 2, None, None],
        "day": [None, None, "1999-12-31", None],
        "mix": [None, None, "1", "x"],
    }
    with gzip.open(tmp_path / "t.ndjson.gz", "wt") as stream:
        stream.write("\n".join(lines))
    assert read(tmp_path / "t.ndjson.gz").equals(table)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n\n{bad Jonathan}\n', "line 3: this is not JSON"),
        ('[1, 2]\n{"a": 1}\n', "1 of its lines are not JSON objects"),
        ('{"a": {"b": "Jonathan"}}\n', "'a' has objects or lists as values"),
        ('{"a": ["Jonathan"]}\n', "'a' has objects or lists as values"),
        ('{"a": 1, "a": "Jonathan"}\n', "1 of its lines have a key twice"),
        ("Jonathan\n", "line 1: this is not JSON"),
    ],
    ids=range(6),
)
def test_what_is_no_table(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read(path)
    assert "Jonathan" not in str(error.value)


VALUES = st.one_of(
    st.none(),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
)


def twin(lines: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The slow reader: Python's own JSON, a column at a time."""
    names = list(dict.fromkeys([*lines[0], *sorted({key for line in lines for key in line})]))
    found = {}
    for name in names:
        values = [line.get(name) for line in lines]
        kinds = {type(value) for value in values if value is not None}
        if len(kinds) > 1 and kinds != {int, float}:
            values = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
        elif kinds == {int, float}:
            values = [None if value is None else float(value) for value in values]
        found[name] = values
    return found


def numbers_alike(found: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Texts of numbers in one spelling: 1e16 may be written out."""

    def alike(value: Any) -> Any:
        try:
            return float(value) if isinstance(value, str) and value.strip() == value else value
        except ValueError:
            return value

    return {name: [alike(value) for value in values] for name, values in found.items()}


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(["a", "b c", 'q"', "~/"]), VALUES, min_size=1),
        min_size=1,
        max_size=6,
    )
)
def test_like_a_plain_reader(tmp_path_factory: pytest.TempPathFactory, lines: Any) -> None:
    path = tmp_path_factory.mktemp("json") / "t.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert numbers_alike(read(path).to_pydict()) == numbers_alike(twin(lines))
    LocalFiles().write(read(path), path)
    assert [list(json.loads(line)) for line in path.read_bytes().strip().split(b"\n")] == [
        list(twin(lines))
    ] * len(lines)


LONG = 9_007_199_254_740_993
"""As a float it would be the number below it."""


@pytest.mark.parametrize("other", ["1.5", "1e3", "-0.25"])
@pytest.mark.parametrize("ids", [[LONG, LONG - 1], [-LONG, 1 - LONG], [10**20, 10**20 + 1]])
def test_long_numbers_keep_their_digits(tmp_path: Path, ids: list[int], other: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"id": {one}}}\n' for one in ids))
    assert [int(one) for one in read(path)["id"].to_pylist()] == ids
    path.write_text("".join(f'{{"id": {one}}}\n' for one in [*ids, other]))
    assert read(path)["id"].to_pylist()[:2] == [str(one) for one in ids]


def test_other_numbers_stay_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"a": 9007199254740992}\n{"a": 0.1}\n{"a": 1e300}\n{"a": -1234567890123456.5}\n'
    )
    assert read(path)["a"].to_pylist() == [9007199254740992.0, 0.1, 1e300, -1234567890123456.5]


@pytest.mark.parametrize("memory", [None, "400MB"])
def test_two_people_with_long_ids_stay_two(tmp_path: Path, memory: str | None) -> None:
    source = tmp_path / "t.jsonl"
    rows = [f'{{"id": {10**20 + i}, "age": 31}}\n' for i in (1, 2, 3, 3)]
    source.write_text("".join(rows))
    policy = {"columns": {"id": "person", "age": "quasi"}, "constraints": [{"k": 3}]}
    release = shoal.run(source, policy, tmp_path / "out.csv", memory=memory)
    assert release.findings[0].reached == 3
