"""Packing, sorting and reducing rows to cells."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.cells import (
    MANY,
    Cells,
    build_cells,
    codes_in_order,
    encode,
    in_order,
    pack,
    unpack,
)
from shoal.encoding.columns import ColumnSpec
from shoal.encoding.domain import Domain, Kind
from shoal.kernels.sorting import (
    counting_order,
    radix_argsort,
    radix_sort,
    run_starts,
    sort_runs,
)
from tests.examples import examples

sizes = st.lists(st.sampled_from([1, 2, 3, 17, 300, 70_000, 2**31 - 1]), min_size=1, max_size=6)


@st.composite
def coded_columns(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    domain_sizes = draw(sizes)
    n = draw(st.integers(1, 40))
    columns = [
        draw(
            st.lists(
                st.integers(0, min(size - 1, 4)) | st.integers(0, size - 1), min_size=n, max_size=n
            )
        )
        for size in domain_sizes
    ]
    return columns, domain_sizes


@examples(100)
@given(coded_columns())
def test_packed_words_sort_as_rows_do(drawn: tuple[list[list[int]], list[int]]) -> None:
    columns, domain_sizes = drawn
    words = pack([np.array(c, np.int32) for c in columns], domain_sizes)
    assert all(0 < bits <= 64 for _, bits in words)
    rows = list(zip(*columns, strict=True))
    order = np.arange(len(rows), dtype=np.int64)
    for word, bits in reversed(words):
        order, first = radix_sort(word, bits, order)
        assert first.tolist() == word[order].tolist()
    assert order.tolist() == sorted(range(len(rows)), key=rows.__getitem__), "stable, too"
    begins = run_starts([word[order] for word, _ in words])
    ordered = [rows[i] for i in order]
    new = [i == 0 or ordered[i] != ordered[i - 1] for i in range(len(rows))]
    assert begins.tolist() == new
    assert [
        tuple(row) for row in unpack([word for word, _ in words], domain_sizes).tolist()
    ] == rows


@given(st.lists(st.integers(0, 2**64 - 1), max_size=50))
def test_radix_sort_of_whole_words(keys: list[int]) -> None:
    found = radix_argsort(np.array(keys, np.uint64), 64, np.arange(len(keys), dtype=np.int64))
    assert found.tolist() == sorted(range(len(keys)), key=keys.__getitem__)


@pytest.mark.parametrize("kind", [np.int32, np.uint64, np.int64])
def test_many_values_are_gathered_like_few(kind: type) -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(0, 1 << 30, 700).astype(kind)
    rows = rng.integers(0, 700, MANY)
    found = in_order(values, rows)
    assert found.dtype == kind
    assert found.flags.writeable, "kernels are compiled for arrays that can be written"
    assert found.tolist() == [int(values[row]) for row in rows]
    assert in_order(values, rows[:50]).tolist() == found[:50].tolist()


def test_radix_sort_keeps_the_order_given_among_equals() -> None:
    keys = np.array([1, 1, 0, 1], np.uint64)
    assert radix_argsort(keys, 1, np.array([3, 0, 2, 1])).tolist() == [2, 3, 0, 1]


@given(st.lists(st.lists(st.integers(0, 9), max_size=80), max_size=5))
def test_runs_are_sorted_each_for_itself(runs: list[list[int]]) -> None:
    keys = np.array([key for run in runs for key in run], np.uint64)
    starts = np.concatenate([[0], np.cumsum([len(run) for run in runs])]).astype(np.int64)
    order = np.arange(len(keys), dtype=np.int64)
    sort_runs(order, starts, keys)
    expected = []
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        expected += sorted(range(begin, end), key=lambda i: int(keys[i]))
    assert order.tolist() == expected


@given(st.lists(st.integers(0, 9), max_size=60))
def test_counting_order(codes: list[int]) -> None:
    order = np.empty(len(codes), np.int32)
    counting_order(np.array(codes, np.int32), 10, order)
    assert order.tolist() == sorted(range(len(codes)), key=codes.__getitem__)


def table(n: int) -> pa.Table:
    rng = np.random.default_rng(n)
    return pa.table(
        {
            "age": rng.integers(0, 5, n),
            "town": [f"t{i}" for i in rng.integers(0, 3, n)],
            "ill": [f"i{i}" for i in rng.integers(0, 4, n)],
            "ward": rng.integers(0, 50, n),
        }
    )


def cells_of(rows: pa.Table, seed: int = 0) -> Cells:
    def column(name: str) -> pa.Array:
        return rows[name].combine_chunks()

    return encode(
        column,
        {"age": ColumnSpec(), "town": ColumnSpec("unordered")},
        {"ill": ColumnSpec()},
        ["ward"],
        seed,
    )


def test_cells_are_the_distinct_rows_in_canonical_order() -> None:
    rows = table(200)
    cells = cells_of(rows)
    pairs = list(zip(rows["age"].to_pylist(), rows["town"].to_pylist(), strict=True))
    assert cells.n_rows == 200
    assert cells.n_cells == len(set(pairs))
    assert sorted(map(tuple, cells.codes.tolist())) == list(map(tuple, cells.codes.tolist()))
    assert sorted(cells.rows.tolist()) == list(range(200))
    for cell in range(cells.n_cells):
        inside = cells.rows[cells.starts[cell] : cells.starts[cell + 1]]
        assert len(inside) == cells.counts[cell]
        (raw,) = {pairs[i] for i in inside}
        ages, towns = (domain.texts.to_pylist() for domain in cells.domains)
        assert (str(raw[0]), raw[1]) == (ages[cells.codes[cell, 0]], towns[cells.codes[cell, 1]])
    ills = cells.sensitive_domains["ill"].texts.to_pylist()
    assert [ills[code] for code in cells.sensitive["ill"]] == rows["ill"].take(
        cells.rows
    ).to_pylist()


def test_cells_do_not_depend_on_the_order_of_rows() -> None:
    rows = table(300)
    moved = np.random.default_rng(1).permutation(300)
    first, second = cells_of(rows), cells_of(rows.take(pa.array(moved)))
    assert first.codes.tolist() == second.codes.tolist()
    assert first.starts.tolist() == second.starts.tolist()
    assert first.hashes.tolist() == second.hashes.tolist()
    assert rows.take(first.rows).equals(rows.take(moved[second.rows]))


def test_another_seed_orders_the_rows_of_a_cell_anew() -> None:
    rows = table(300)
    first, second = cells_of(rows, 1), cells_of(rows, 2)
    assert first.codes.tolist() == second.codes.tolist()
    assert first.rows.tolist() != second.rows.tolist()
    for cell in range(first.n_cells):
        begin, end = first.starts[cell : cell + 2]
        assert sorted(first.rows[begin:end]) == sorted(second.rows[begin:end])


def test_codes_of_another_column_in_canonical_order() -> None:
    rows = table(50)
    cells = cells_of(rows)
    wards = rows["ward"].combine_chunks()
    codes = codes_in_order(cells, wards)
    texts = sorted({str(w) for w in wards.to_pylist()})
    assert [texts[code] for code in codes] == [str(wards[i]) for i in cells.rows.tolist()]


def test_many_columns_need_several_words() -> None:
    rng = np.random.default_rng(4)
    n, d = 500, 9
    columns = [rng.integers(0, 2, n).astype(np.int32) * 65_000 for _ in range(d)]
    assert len(pack(columns, [70_000] * d)) == 3
    texts = pa.array([str(i) for i in range(70_000)])
    domains = [Domain(f"c{j}", Kind.SET, texts, -1) for j in range(d)]
    cells = build_cells(list(zip(domains, columns, strict=True)), {}, [], 0)
    distinct = sorted(set(zip(*(c.tolist() for c in columns), strict=True)))
    assert [tuple(row) for row in cells.codes.tolist()] == distinct
