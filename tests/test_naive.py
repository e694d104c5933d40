"""The twins themselves, on cases small enough to work out by hand."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.naive import UNIT, Column, Group, Holds, Row

# Table 1 of the rounded partition's paper: six patients by age and zip code.
AGES = [20, 20, 30, 40, 50, 50]
ZIPS = [101, 103, 102, 102, 101, 103]
TABLE_1 = [(0, 0), (0, 2), (1, 1), (2, 1), (3, 0), (3, 2)]
TABLE_1_COLUMNS = [
    naive.range_column([0, UNIT // 3, 2 * UNIT // 3, UNIT]),
    naive.range_column([0, UNIT // 2, UNIT]),
]
# Leaves 0 1 | 2 3 | 4, pairs under one node, all under the root.
TREE = naive.tree_column([[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 0, 0]])


def at_least(k: int) -> Holds:
    return lambda group: len(group) >= k


def diverse(values: Sequence[str], k: int, least: int) -> Holds:
    return lambda group: len(group) >= k and len({values[i] for i in group}) >= least


def shape(groups: list[Group] | None) -> list[Group]:
    assert groups is not None
    return sorted(groups)


def evenly(size: int) -> Column:
    return naive.range_column([i * UNIT // max(1, size - 1) for i in range(size)])


# --- cost of a label ------------------------------------------------------------------------


def test_table_1_codes_are_its_values_in_order() -> None:
    ages, zips = sorted(set(AGES)), sorted(set(ZIPS))
    assert [(ages[a], zips[z]) for a, z in TABLE_1] == list(zip(AGES, ZIPS, strict=True))


@pytest.mark.parametrize(
    ("column", "codes", "expected"),
    [
        (evenly(5), [3, 3], 0),
        (evenly(5), [1, 3, 2], UNIT // 2),
        (naive.range_column([0, UNIT, 2 * UNIT]), [0, 2], UNIT),  # 2 is the missing value
        (naive.range_column([0, UNIT, 2 * UNIT]), [1, 2], UNIT),
        (naive.set_column(3), [2, 2], 0),
        (naive.set_column(3), [0, 2, 2], 2 * UNIT // 3),
        (TREE, [4], 0),
        (TREE, [0, 1], 2 * UNIT // 5),
        (TREE, [1, 2], UNIT),
    ],
)
def test_cost(column: Column, codes: list[int], expected: int) -> None:
    assert naive.cost(column, codes) == expected
    assert abs(naive.exact_cost(column, codes) * UNIT - expected) < 1


def test_loss_is_rows_times_label() -> None:
    assert naive.loss(TABLE_1_COLUMNS, TABLE_1, [0, 1, 4]) == 3 * 2 * UNIT


# --- rounded partition ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "k", "sides"), [(7, 2, (5, 2)), (6, 2, (4, 2)), (5, 2, (3, 2)), (9, 4, (5, 4))]
)
def test_rounded_sizes(n: int, k: int, sides: tuple[int, int]) -> None:
    assert naive.rounded_sizes(n, k) == sides


def test_table_1_falls_into_three_pairs() -> None:
    # by zip the two sides lose 4 * 3/2 + 2 * 1 = 8, by age 4 * 5/3 + 2 * 1: zip is cut first
    groups = naive.flexible(TABLE_1_COLUMNS, TABLE_1, 2, at_least(2))
    assert shape(groups) == [[0, 4], [1, 5], [2, 3]]


def test_table_1_by_widest() -> None:
    # both columns are full width: the first, age, is cut; then zip is the wider one below
    groups = naive.flexible(TABLE_1_COLUMNS, TABLE_1, 2, at_least(2), "widest")
    assert shape(groups) == [[0, 2], [1, 3], [4, 5]]


def test_halving_table_1_gives_only_two_groups() -> None:
    groups = naive.mondrian(TABLE_1_COLUMNS, TABLE_1, 2, at_least(2), strict=False)
    assert sorted(map(len, groups)) == [3, 3]


def test_seven_rows_are_cut_into_five_and_two() -> None:
    # the paper's figure 4: counters 0 3 1 0 1 2
    rows = [(1,), (1,), (1,), (2,), (4,), (5,), (5,)]
    assert naive.rounded_cut(rows, list(range(7)), 0, 2) == ([0, 1, 2, 3, 4], [5, 6])
    groups = naive.flexible([evenly(6)], rows, 2, at_least(2))
    assert shape(groups) == [[0, 1, 2], [3, 4], [5, 6]]


def test_a_cut_that_breaks_another_model_is_not_taken() -> None:
    values = ["flu", "flu", "flu", "hiv", "hiv", "hiv"]
    rows = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    columns = [evenly(2), evenly(3)]
    # halves by the first column lose least, but each would hold one disease only
    assert shape(naive.flexible(columns, rows, 3, at_least(3))) == [[0, 1, 2], [3, 4, 5]]
    held = naive.flexible(columns, rows, 3, diverse(values, 3, 2))
    assert shape(held) == [[0, 1, 3], [2, 4, 5]]
    assert shape(naive.flexible(columns, rows, 3, diverse(["flu"] * 6, 3, 2))) == [list(range(6))]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Column], list[Row], int]:
    kinds = draw(st.lists(st.sampled_from(["range", "set", "tree"]), min_size=1, max_size=3))
    columns: list[Column] = []
    for kind in kinds:
        columns.append({"range": evenly(5), "set": naive.set_column(5), "tree": TREE}[kind])
    row = st.tuples(*[st.integers(0, 4) for _ in columns])
    rows = sorted(draw(st.lists(row, min_size=0, max_size=40)))
    return columns, rows, draw(st.integers(1, 6))


@given(tables(), st.sampled_from(["least-loss", "widest"]))
def test_theorems_1_and_2(table: tuple[list[Column], list[Row], int], dimension: str) -> None:
    columns, rows, k = table
    groups = naive.flexible(columns, rows, k, at_least(k), dimension)
    assert sorted(i for group in groups for i in group) == list(range(len(rows)))
    a, b = divmod(len(rows), k)
    if a == 0:
        return
    assert len(groups) == a
    halvings = 2 ** (a.bit_length() - 1)
    assert max(map(len, groups)) <= k + -(-b // halvings)
    assert min(map(len, groups)) >= k
    if len(rows) >= 2 * k * k:
        assert max(map(len, groups)) <= (k if b == 0 else k + 1)
    if a >= 2 and k > 3:
        assert max(map(len, groups)) < 2 * k - 1


# --- least-loss partition -------------------------------------------------------------------


def test_least_loss_cuts_at_the_gap() -> None:
    rows = [(0,), (1,), (8,), (9,), (9,), (9,)]
    groups = naive.least_loss([evenly(10)], rows, 2, at_least(2), 6)
    # 0 1 | 8 9 9 9: then no boundary leaves two on each side, so the rounded cut tears the nines
    assert shape(groups) == [[0, 1], [2, 3], [4, 5]]


def test_least_loss_keeps_equal_values_together() -> None:
    rows = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    groups = naive.least_loss([evenly(2), evenly(3)], rows, 2, at_least(2), 5)
    assert shape(groups) == [[0, 1, 2], [3, 4]]


def test_least_loss_ties_go_to_the_first_dimension_then_the_lowest_boundary() -> None:
    square = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert shape(naive.least_loss([evenly(2)] * 2, square, 2, at_least(2), 4)) == [[0, 1], [2, 3]]
    line = [(0,), (1,), (2,)]
    assert shape(naive.least_loss([naive.set_column(3)], line, 1, at_least(1), 3)) == [
        [0],
        [1],
        [2],
    ]
    stays = naive.least_loss([naive.set_column(3)], line, 1, lambda g: g != [1] and len(g) > 0, 3)
    assert shape(stays) == [[0], [1, 2]]


def test_deep_groups_take_only_balanced_boundaries() -> None:
    rows = [(i,) for i in range(30)]

    # only cuts that take the top row off hold, so each cut goes one level deeper
    def lopsided(group: Group) -> bool:
        return 0 in group or len(group) == 1

    free = naive.least_loss([evenly(30)], rows, 1, lopsided, 30)
    assert sorted(map(len, free)) == [1] * 30
    # a table of 2 rows may go 4 * 1 + 16 = 20 levels deep: ten rows are left there, and a boundary
    # must then leave three on each side
    bounded = naive.least_loss([evenly(30)], rows, 1, lopsided, 2)
    assert sorted(map(len, bounded)) == [1] * 20 + [10]
    # one row of four is a quarter, one of five is not
    for n, left in ((24, [1] * 4), (25, [5])):
        near = naive.least_loss([evenly(30)], rows[:n], 1, lopsided, 2)
        assert sorted(map(len, near)) == [1] * 20 + left


def test_least_loss_leaves_min_rows_on_both_sides_whatever_holds() -> None:
    rows = [(0,), (7,), (8,), (9,)]
    assert shape(naive.least_loss([evenly(10)], rows, 2, lambda _: True, 4)) == [[0, 1], [2, 3]]


# --- mondrian -------------------------------------------------------------------------------


def test_strict_mondrian_cuts_between_values() -> None:
    rows = [(0,), (0,), (0,), (1,), (2,)]
    assert shape(naive.mondrian([evenly(3)], rows, 2, at_least(2), strict=True)) == [
        [0, 1, 2],
        [3, 4],
    ]
    equal = [(0,)] * 6
    assert shape(naive.mondrian([evenly(3)], equal, 2, at_least(2), strict=True)) == [[*range(6)]]
    relaxed = naive.mondrian([evenly(3)], equal, 2, at_least(2), strict=False)
    assert shape(relaxed) == [[0, 1, 2], [3, 4, 5]]
    odd = naive.mondrian([evenly(3)], equal[:5], 2, at_least(2), strict=False)
    assert shape(odd) == [[0, 1, 2], [3, 4]]


def test_strict_mondrian_looks_at_one_boundary_per_dimension() -> None:
    rows = [(0,), (1,), (1,), (2,)]
    tie = naive.mondrian([evenly(3)], rows, 1, at_least(1), strict=True)
    assert shape(tie) == [[0], [1, 2], [3]]
    # of 1 | 3 and 3 | 1 rows the first is taken, and when it does not hold the other is not tried
    stuck = naive.mondrian([evenly(3)], rows, 1, lambda group: group != [0], strict=True)
    assert shape(stuck) == [[0, 1, 2, 3]]


def test_strict_mondrian_goes_on_to_the_next_dimension() -> None:
    rows = [(0, 0), (1, 0), (1, 1), (1, 1)]
    columns = [evenly(2), naive.range_column([0, UNIT // 2])]
    groups = naive.mondrian(columns, rows, 2, at_least(2), strict=True)
    assert shape(groups) == [[0, 1], [2, 3]]


# --- bottom-up ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("codes", "k", "groups"),
    [
        ([0, 1, 8, 9], 2, [[0, 1], [2, 3]]),
        ([0, 1, 9], 2, [[0, 1, 2]]),
        ([0, 0, 0, 0, 0], 2, [[0, 1, 2], [3, 4]]),  # five equal rows are split before any merge
        ([0, 5, 5, 5], 2, [[0, 1], [2, 3]]),  # joined to four, then split
        ([0, 3, 4, 9], 3, [[0, 1, 2, 3]]),
        # 4 joins 0 and 3, where the loss grows by 3*4 - 2*3, not the sevens, where it does by 3*3
        ([0, 3, 4, 7, 7], 2, [[0, 1, 2], [3, 4]]),
        ([0, 1, 2, 3], 1, [[0], [1], [2], [3]]),
        ([], 2, []),
    ],
)
def test_bottom_up(codes: list[int], k: int, groups: list[Group]) -> None:
    rows = [(code,) for code in codes]
    assert shape(naive.bottom_up([evenly(10)], rows, k, at_least(k))) == groups


def test_bottom_up_ties_go_to_the_group_made_first() -> None:
    rows = [(0,), (1,), (2,), (3,)]
    groups = naive.bottom_up([naive.set_column(4)], rows, 2, at_least(2))
    assert shape(groups) == [[0, 1], [2, 3]]


def test_bottom_up_gives_up_when_the_whole_table_does_not_hold() -> None:
    assert naive.bottom_up([evenly(3)], [(0,), (1,), (2,)], 4, at_least(4)) is None


@given(tables(), st.data())
def test_every_method_hands_out_each_row_once_and_holds(
    table: tuple[list[Column], list[Row], int], data: st.DataObject
) -> None:
    columns, rows, k = table
    n = len(rows)
    values = data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    holds = diverse(values, k, data.draw(st.integers(1, 2)))
    answers = [
        naive.flexible(columns, rows, k, holds),
        naive.least_loss(columns, rows, k, holds, n),
        naive.mondrian(columns, rows, k, holds, strict=True),
        naive.mondrian(columns, rows, k, holds, strict=False),
        naive.bottom_up(columns, rows, k, holds),
    ]
    feasible = n == 0 or holds(list(range(n)))
    assert (answers[-1] is not None) == feasible
    for groups in answers[: 5 if feasible else 0]:
        assert groups is not None
        assert sorted(i for group in groups for i in group) == list(range(n))
        assert all(holds(group) for group in groups)


# --- metrics --------------------------------------------------------------------------------


def test_ncp() -> None:
    pairs = [[0, 4], [1, 5], [2, 3]]
    # (1 + 0) * 2 + (1 + 0) * 2 + (1/3 + 0) * 2 over 12 cells
    assert naive.ncp_sum(TABLE_1_COLUMNS, TABLE_1, pairs) == pytest.approx(14 / 3)
    assert naive.ncp_mean(TABLE_1_COLUMNS, TABLE_1, pairs) == pytest.approx(14 / 36)
    assert naive.ncp_mean(TABLE_1_COLUMNS, [], []) == 0


def test_ncp_of_the_golden_labels() -> None:
    ages = naive.range_column([age * UNIT // 90 for age in range(91)])
    assert float(naive.exact_cost(ages, [35, 30, 45])) == pytest.approx(1 / 6)
    diseases = naive.tree_column([[0, 1, 2, 3, 4, 5, 6, 7], [0, 0, 1, 1, 2, 2, 3, 3], [0] * 8])
    assert naive.exact_cost(diseases, [0, 1]) == pytest.approx(1 / 4)


def test_dm_and_cm() -> None:
    assert naive.dm([[0, 1], [2, 3, 4]]) == 4 + 9
    assert naive.dm([[0, 1], [2, 3, 4]], suppressed=1) == 4 + 9 + 6
    assert naive.cm([[0, 1], [2, 3, 4]], ["a", "b", "a", "a", "b"]) == 2
    assert naive.cm([], []) == 0


# --- published text -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "inner", "outer"),
    [
        ("*", ["anything", "", None, "*"], []),
        (None, [None], ["", "*", "<missing>"]),
        ("", [""], [None, " "]),
        ("39", ["39"], ["3", "390", None]),
        ("[50~52]", ["50", "51.5", "52"], ["49", "52.01", None]),
        ("[-5~1e3]", ["-5", "0", "1000"], ["-6", "1001"]),
        ("[1964-03-07~1970-01-01]", ["1964-03-07", "1969-12-31"], ["1964-03-06", "1970-01-02"]),
        ("{China, India}", ["China", "India"], ["China, India", "Chin", None]),
        ("{a, <missing>}", ["a", None], ["<missing>", "b"]),
        (r"{a\, b, c}", ["a, b", "c"], ["a", "b"]),
        (r"{a\\, b}", ["a\\", "b"], ["a", "a\\, b"]),
        ("{, a}", ["", "a"], [None]),
        ("0213*", ["02139", "0213"], ["02149", "021", "021399", None]),
        ("02***", ["02139"], ["12139", "0"]),
        ("***39", ["02139", "39"], ["02138", "002139"]),
        (r"a\**", ["a*", "a*b"], ["ab", "a"]),
        ("[30-35)", ["30", "34.9"], ["29", "35", None]),
        ("[-5-0)", ["-5", "-1"], ["0", "-6"]),
        (r"\*", ["*"], ["a", None]),
        (r"\[1\~2\]", ["[1~2]"], ["1", "1.5"]),
        (r"\{a\}", ["{a}"], ["a"]),
    ],
)
def test_inside(label: str | None, inner: list[str | None], outer: list[str | None]) -> None:
    assert [raw for raw in inner if not naive.inside(label, raw)] == []
    assert [raw for raw in outer if naive.inside(label, raw)] == []


def test_inside_a_node_of_a_tree() -> None:
    tree = {"lung": {"flu", "asthma"}, "[30-35)": {"30", "34"}}
    assert naive.inside("lung", "flu", tree)
    assert naive.inside("[30-35)", "34", tree)
    assert naive.inside("flu", "flu", tree)
    assert not naive.inside("lung", "lung", tree)
    assert not naive.inside("lung", None, tree)
    assert not naive.inside("flu", "asthma", tree)


def test_inside_a_range_of_words() -> None:
    order = ["low", "middle~upper", "high"]
    assert naive.inside(r"[low~middle\~upper]", "low", order=order)
    assert not naive.inside(r"[low~middle\~upper]", "high", order=order)
    assert naive.inside("high", "high", order=order)


def test_counting_by_class() -> None:
    published: list[list[str | None]] = [
        ["[1~2]", "flu", "x"],
        ["[1~2]", "hiv", "x"],
        ["[1~2]", None, "y"],
        [None, "*", "x"],
        [None, "flu", "x"],
    ]
    assert naive.counts_by_class(published, [0]) == {("[1~2]",): 3, (None,): 2}
    assert naive.counts_by_class(published, [0, 2])[("[1~2]", "y")] == 1
    assert naive.distinct_by_class(published, [0], 1) == {("[1~2]",): 2, (None,): 1}
