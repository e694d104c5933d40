"""What implies what, what hangs together and what covers all, against plain definitions."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from shoal.methods.constraints import Constraint, components, implies, union, without_implied
from tests import naive_constraints as naive

COLUMNS = st.lists(st.integers(0, 5), min_size=1, max_size=4, unique=True)
CONSTRAINTS = st.builds(
    Constraint, COLUMNS.map(lambda columns: tuple(sorted(columns))), st.integers(1, 5)
)
SETS = st.lists(CONSTRAINTS, min_size=1, max_size=6)
VALUES = st.lists(st.tuples(*(st.integers(0, 1) for _ in range(6))), min_size=1, max_size=20)


def plain(constraints: list[Constraint] | tuple[Constraint, ...]) -> list[naive.Constraint]:
    return [(one.columns, one.k) for one in constraints]


def meets(values: list[naive.Row], constraints: list[Constraint]) -> bool:
    return len(naive.anonymous_subset(values, plain(constraints))) == len(values)


def test_the_five_constraints_of_the_paper_fall_into_three_parts() -> None:
    names = ["Race", "Birth", "ZIP", "Sex", "Work_Hrs", "Salary", "Height", "Edu"]
    asked = [
        (["Race", "Birth"], 3),
        (["Birth", "ZIP"], 2),
        (["Salary", "Height"], 4),
        (["Height", "Edu"], 3),
        (["Sex", "Work_Hrs"], 2),
    ]
    c1, c2, c3, c4, c5 = (
        Constraint(tuple(sorted(names.index(name) for name in columns)), k) for columns, k in asked
    )
    found = components([c1, c2, c3, c4, c5])
    assert {frozenset(part) for part in found} == {
        frozenset({c1, c2}),
        frozenset({c3, c4}),
        frozenset({c5}),
    }
    # each part by rising K, parts by their first column
    assert found == ((c2, c1), (c5,), (c4, c3))


def test_containment_needs_both_fewer_columns_and_no_larger_k() -> None:
    strong = Constraint((0, 1), 3)
    assert implies(strong, Constraint((0,), 3))
    assert implies(strong, Constraint((1,), 2))
    assert implies(strong, strong)
    assert not implies(strong, Constraint((0,), 4))
    assert not implies(strong, Constraint((0, 2), 2))
    assert not implies(Constraint((0,), 5), strong)


def test_of_equal_constraints_the_first_is_kept() -> None:
    one = Constraint((0, 1), 3)
    assert without_implied([one, one]) == ((one,), {one: one})


def test_the_union_covers_all_columns_with_the_largest_k() -> None:
    assert union([Constraint((1, 3), 2), Constraint((0, 3), 5)]) == Constraint((0, 1, 3), 5)


@given(SETS)
def test_what_is_left_implies_what_was_left_out(constraints: list[Constraint]) -> None:
    kept, implied = without_implied(constraints)
    assert set(kept) | set(implied) == set(constraints)
    for i, one in enumerate(kept):
        assert not any(implies(other, one) for j, other in enumerate(kept) if i != j)
    for weak, strong in implied.items():
        assert implies(strong, weak)
        assert any(implies(other, weak) for other in kept)


@given(SETS, VALUES)
def test_implied_constraints_are_met_by_themselves(
    constraints: list[Constraint], values: list[naive.Row]
) -> None:
    kept, _ = without_implied(constraints)
    assert naive.anonymous_subset(values, plain(kept)) == naive.anonymous_subset(
        values, plain(constraints)
    )


@given(SETS)
def test_parts_are_those_of_a_walk_through_the_graph(constraints: list[Constraint]) -> None:
    found = components(constraints)
    expected = naive.components(plain(constraints))
    assert sorted(sorted(plain(part)) for part in found) == sorted(map(sorted, expected))
    owned = [column for part in found for column in union(part).columns]
    assert len(owned) == len(set(owned))
    assert [min(union(part).columns) for part in found] == sorted(
        min(union(part).columns) for part in found
    )


@given(st.lists(CONSTRAINTS, min_size=1, max_size=4, unique=True))
def test_the_partition_is_the_same_for_every_order(constraints: list[Constraint]) -> None:
    assert len({components(order) for order in permutations(constraints)}) == 1


@given(SETS)
def test_leaving_out_implied_ones_parts_the_same_columns(constraints: list[Constraint]) -> None:
    kept, _ = without_implied(constraints)
    columns = [union(part).columns for part in components(kept)]
    assert columns == [union(part).columns for part in components(constraints)]


@given(SETS, VALUES)
def test_meeting_the_union_meets_every_constraint(
    constraints: list[Constraint], values: list[naive.Row]
) -> None:
    inside = sorted(naive.anonymous_subset(values, plain([union(constraints)])))
    assert meets([values[i] for i in inside], constraints)


def test_meeting_every_constraint_need_not_meet_the_union() -> None:
    values: list[naive.Row] = [(0, 0), (0, 1), (1, 0), (1, 1)]
    constraints = [Constraint((0,), 2), Constraint((1,), 2)]
    assert meets(values, constraints)
    assert not meets(values, [union(constraints)])
