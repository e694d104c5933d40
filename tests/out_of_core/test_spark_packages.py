"""Rows that Spark moves as bytes: what goes into a package, counts of them and their order, beside plain
Python. No Java is needed."""

import gc
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.engines.spark.folders import ByContent, in_order
from shoal.engines.spark.key_counts import keying, uniqueness, uniqueness_of
from shoal.engines.spark.packages import (
    IN_PLACE,
    Package,
    Without,
    decoded,
    joined,
    opened,
    package_of,
    rows_of,
    spare_modules,
)
from shoal.engines.spark.row_work import first_of, numbering, placing, sent
from shoal.engines.spark.value_counts import (
    adding_up,
    at_most,
    combined,
    combining,
    forms_together,
    sizes_of,
    summing_forms,
    valuing,
)

WORDS = st.one_of(st.none(), st.sampled_from(["", "a", "b", "ä", "aa", "Z", "x" * 40]))
NUMBERS = st.one_of(st.none(), st.integers(-2, 2))
FLOATS = st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.5, -1.5, math.nan, math.inf]))
Row = tuple[str | None, int | None, float | None]
ROWS = st.lists(st.tuples(WORDS, NUMBERS, FLOATS), min_size=1, max_size=40)
PIECES = st.lists(ROWS, min_size=1, max_size=4)


def table_of(rows: list[Row], coded: bool) -> pa.Table:
    words, numbers, floats = zip(*rows, strict=True)
    text = pa.array(words, pa.string())
    if coded:
        # a dictionary with many values that no row has
        more = pa.concat_arrays([pa.array([f"other {i}" for i in range(40)]), text.drop_null()])
        text = pa.concat_arrays([more.dictionary_encode(), text.dictionary_encode()])[len(more) :]
    columns = [text, pa.array(numbers, pa.int64()), pa.array(floats, pa.float64())]
    return pa.table(columns, names=["w", "i", "f"])


def batches_of(pieces: list[list[Row]], coded: list[bool]) -> Iterator[pa.RecordBatch]:
    for rows, code in zip(pieces, coded, strict=False):
        yield table_of(rows, code).to_batches()[0]


def plain(row: Any) -> tuple[Any, ...]:
    """A row as a grouping sees it: one zero, and one thing that is not a number."""
    return tuple("nan" if v != v else v + 0.0 if isinstance(v, float) else v for v in row)


def listed(table: pa.Table) -> list[tuple[Any, ...]]:
    return [plain(r) for r in zip(*(c.to_pylist() for c in table.columns), strict=True)]


def together(packages: list[Package]) -> dict[int, list[Package]]:
    """What the exchange of packages does."""
    found: dict[int, list[Package]] = {}
    for package in packages:
        found.setdefault(package[0], []).append(package)
    return found


@given(ROWS, st.booleans())
def test_a_package_has_the_rows_that_were_put_into_it(rows: list[Row], coded: bool) -> None:
    package = package_of(table_of(rows, coded), 3)
    assert package[:2] == (3, len(rows))
    assert package[3] is None
    stored = rows_of(package)
    stored.validate(full=True)
    assert listed(decoded(stored)) == [plain(row) for row in rows]
    assert b"other 1" not in package[2]


@given(PIECES, st.lists(st.booleans(), min_size=4, max_size=4))
def test_tables_are_joined_whether_texts_are_codes_or_not(
    pieces: list[list[Row]], coded: list[bool]
) -> None:
    tables = [rows_of(package_of(batch)) for batch in batches_of(pieces, coded)]
    assert listed(decoded(joined(tables))) == [plain(row) for rows in pieces for row in rows]


@given(PIECES, st.lists(st.booleans(), min_size=4, max_size=4), st.integers(1, 3))
def test_combinations_are_counted(pieces: list[list[Row]], coded: list[bool], slots: int) -> None:
    expected = Counter(plain(row) for rows in pieces for row in rows)
    packages = [
        p for b in batches_of(pieces, coded) for p in combining(("w", "i", "f"), slots)(iter([b]))
    ]
    found: Counter[tuple[Any, ...]] = Counter()
    for slot in together(packages).values():
        (package,) = adding_up(("w", "i", "f"), decoded)(opened(None, coded=True)(iter(slot)))
        rows = listed(rows_of(package))
        assert not found.keys() & {row[:-1] for row in rows}
        found.update({row[:-1]: row[-1] for row in rows})
    assert found == expected
    whole = combined(joined([decoded(rows_of(p)) for p in packages]), ["w", "i", "f"], "n")
    sizes = sizes_of(whole)
    assert dict(listed(sizes)) == Counter(expected.values())


@given(PIECES, st.lists(st.booleans(), min_size=4, max_size=4), st.integers(1, 3))
def test_values_of_columns_are_counted(
    pieces: list[list[Row]], coded: list[bool], slots: int
) -> None:
    packages = [p for b in batches_of(pieces, coded) for p in valuing(("w",), slots)(iter([b]))]
    found: dict[tuple[Any, ...], int] = {}
    for slot in together(packages).values():
        work = adding_up(("i", "v"), at_most(1000))
        (package,) = work(opened(None, coded=False)(iter(slot)))
        found |= {row[:2]: row[2] for row in listed(rows_of(package))}
    assert found == Counter((0, row[0]) for rows in pieces for row in rows)


def order_of(row: Row) -> tuple[tuple[bool, Any], ...]:
    """Missing values first, what is not a number last, texts by their bytes."""
    word, number, value = row
    nan = value is not None and value != value
    return (
        (number is not None, number or 0),
        (word is not None, (word or "").encode()),
        (value is not None, (nan, 0.0 if nan or value is None else value)),
        # zeros by their sign, where nothing else differs
        (value is None or value != 0 or math.copysign(1, value) > 0, 0),
    )


@given(PIECES, st.lists(st.booleans(), min_size=4, max_size=4), st.randoms())
def test_the_order_of_rows_follows_from_their_content(
    pieces: list[list[Row]], coded: list[bool], random: Any
) -> None:
    table = joined([table_of(rows, code) for rows, code in zip(pieces, coded, strict=False)])
    rows = [row for each in pieces for row in each]
    found = decoded(in_order(table, ["i", "w", "f"]))
    assert repr(list(zip(*(c.to_pylist() for c in found.columns), strict=True))) == repr(
        sorted(rows, key=order_of)
    )
    mixed = list(range(len(rows)))
    random.shuffle(mixed)
    assert package_of(decoded(in_order(table.take(mixed), ["i", "w", "f"]))) == package_of(found)


@given(PIECES, st.lists(st.booleans(), min_size=4, max_size=4), st.integers(1, 5))
def test_rows_go_where_their_content_says(
    pieces: list[list[Row]], coded: list[bool], slots: int
) -> None:
    places: dict[tuple[Any, ...], int] = {}
    seen = []
    by = ByContent(("w", "i", "f"), slots, "i")
    for package in placing(by, slots)(batches_of(pieces, coded)):
        for *row, slot in listed(decoded(rows_of(package))):
            assert slot == package[0]
            assert 0 <= slot < slots
            assert places.setdefault(tuple(row), slot) == slot
            seen.append(tuple(row))
    kept = [plain(row) for rows in pieces for row in rows if row[1] is not None and row[1] >= 0]
    assert Counter(seen) == Counter(kept)


@pytest.mark.parametrize("n", [0, 1, 7])
def test_slots_may_be_empty(n: int) -> None:
    rows = pa.table({"x": np.arange(n)})
    packages = list(sent([(rows, np.full(n, 2, np.int64))]))
    assert [(slot, size) for slot, size, _, _ in packages] == ([(2, n)] if n else [])


def test_the_first_rows_of_a_part_are_few() -> None:
    batches = [pa.record_batch({"x": np.arange(i, i + 4)}) for i in (0, 4, 8)]
    found = [rows_of(package).column("x").to_pylist() for package in first_of(6)(iter(batches))]
    assert found == [[0, 1, 2, 3], [4, 5]]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 2), st.integers(1, 9)), min_size=1))
def test_labels_are_added_up_by_form(labels: list[tuple[str, int, int]]) -> None:
    form, size, n = zip(*labels, strict=True)
    low = pa.array(n, pa.int64())
    rows = pa.table([form, size, n, low, low], names=["form", "size", "n", "low", "high"])
    halves = [rows.slice(0, len(rows) // 2), rows.slice(len(rows) // 2)]
    parts = [rows_of(p) for half in halves for p in summing_forms(iter(half.to_batches()))]
    found = listed(forms_together(pa.concat_tables(parts), more=True))
    expected = []
    for key in {(f, s) for f, s, _ in labels}:
        mine = [m for f, s, m in labels if (f, s) == key]
        expected.append((*key, sum(mine), len(mine), min(mine), max(mine)))
    assert sorted(found) == sorted(expected)


SETS = [("a",), ("a", "b"), ("b", "c")]
HASHES = st.lists(st.tuples(*[st.integers(-2, 3)] * 3), max_size=30)


@given(st.lists(HASHES, min_size=1, max_size=4), st.one_of(st.none(), st.integers(-2, 3)))
def test_how_many_keys_occur_once(
    pieces: list[list[tuple[int, int, int]]], missing: int | None
) -> None:
    spread = 0x9E3779B97F4A7C15  # as far apart as hashes are
    pieces = [[tuple((v * spread) % 2**63 for v in row) for row in piece] for piece in pieces]
    missing = None if missing is None else (missing * spread) % 2**63
    sent: list[Package] = []
    for piece in pieces:
        columns = [pa.array(one, pa.int64()) for one in zip(*piece, strict=True)] or [[]] * 3
        batch = pa.RecordBatch.from_arrays(
            [pa.array(one, pa.int64()) for one in columns], names=["a", "b", "c"]
        )
        sent += keying(tuple(SETS), missing, 3)(iter([batch]))
    found = [one for slot in together(sent).values() for one in uniqueness(read(slot))]
    answer = uniqueness_of(found, len(SETS)).to_pylist()
    rows = [dict(zip("abc", row, strict=True)) for piece in pieces for row in piece]
    for i, names in enumerate(SETS):
        times = Counter(
            tuple(row[name] for name in names) for row in rows if row[names[0]] != missing
        ).values()
        alone = sum(n == 1 for n in times)
        squares = sum(n * n for n in times)
        assert answer[i] == {"i": i, "d": len(times), "n": alone, "squares": squares}


def read(packages: list[Package]) -> Iterator[pa.RecordBatch]:
    return opened(None, coded=False)(iter(packages))


@given(HASHES.filter(len))
def test_equal_rows_are_numbered(rows: list[tuple[int, int, int]]) -> None:
    batch = pa.RecordBatch.from_pylist([dict(zip("abc", row, strict=True)) for row in rows])
    (package,) = numbering(("a", "b"), ("c",))(iter([batch]))
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for one in rows_of(package).to_pylist():
        found.setdefault((one["a"], one["b"]), []).append((one["nth"], one["c"]))
    assert sum(map(len, found.values())) == len(rows)
    for alike, numbered in found.items():
        expected = sorted(c for *of, c in rows if tuple(of) == alike)
        assert sorted(numbered) == list(enumerate(expected, 1))


def test_rows_in_the_place_of_others_are_read_with_the_rest() -> None:
    old = package_of(pa.table({"k": [1, 2, 3, 2], "v": ["a", "b", "c", "d"]}))
    new = (IN_PLACE, *package_of(pa.table({"k": [2], "v": ["e"]}))[1:])
    without = Without("k", pa.array([2]))
    batches = opened(("v",), coded=False, without=without)(iter([old, new]))
    assert [batch.column("v").to_pylist() for batch in batches] == [["a", "c"], ["e"]]


def test_modules_are_spared_the_search_for_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    froze: list[int] = []
    monkeypatch.setattr(gc, "freeze", lambda: froze.append(1))
    monkeypatch.setattr("shoal.engines.spark.packages._seen", 0)
    spare_modules()
    spare_modules()
    assert froze == [1]
