"""The estimated marginals against plain twins that go through people, or members, one by one."""

from itertools import product
from math import exp, prod

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.decoding.marginals import LEANING, ROUNDS, STEPS
from tests.decoding.plain import parse
from tests.examples import examples

Classes = list[tuple[str, int]]
"""The label and the size of each class."""
POLICY = {"columns": {"x": "quasi", "of": "quasi"}, "constraints": [{"k": 1}]}


def released(classes: Classes) -> pa.Table:
    """Rows of these classes; a second column keeps classes with one label apart."""
    rows = [(label, f"v{i}") for i, (label, size) in enumerate(classes) for _ in range(size)]
    return pa.table({"x": [row[0] for row in rows], "of": [row[1] for row in rows]})


def leaning(shares: dict[str, float]) -> dict[str, float]:
    return {value: share**LEANING for value, share in shares.items()}


def estimate(classes: Classes, values: list[str], counts_in: "CountsIn") -> dict[str, float]:
    shares = dict.fromkeys(values, 1 / len(values))
    for _ in range(STEPS):
        new = dict.fromkeys(values, 0.0)
        for label, size in classes:
            for value, many in counts_in(label, size, leaning(shares)).items():
                new[value] += many
        shares = {value: many / sum(new.values()) for value, many in new.items()}
    return shares


class CountsIn:
    """How many rows of a class have each value."""

    def __call__(self, label: str, size: int, shares: dict[str, float]) -> dict[str, float]:
        raise NotImplementedError


class CountsInRanges(CountsIn):
    """Every way to fill a class with people, weighted by its chance, that has somebody at both ends."""

    def __call__(self, label: str, size: int, shares: dict[str, float]) -> dict[str, float]:
        kind, said = parse(label)
        ends = [int(str(end)) for end in said]
        inside = [str(number) for number in range(ends[0], ends[-1] + 1)]
        found, total = dict.fromkeys(inside, 0.0), 0.0
        for people in product(inside, repeat=size):
            if kind == "range" and not {str(ends[0]), str(ends[1])} <= set(people):
                continue
            chance = prod(shares[person] for person in people)
            total += chance
            for person in people:
                found[person] += chance
        return {value: many / total for value, many in found.items()}


class CountsInSets(CountsIn):
    """Counts of Poisson variables of which none is 0, whose means add up to the size of the class."""

    def __call__(self, label: str, size: int, shares: dict[str, float]) -> dict[str, float]:
        kind, said = parse(label)
        members = [str(member) for member in said]
        total = sum(shares[member] for member in members)
        means = {member: size * shares[member] / total for member in members}
        for _ in range(ROUNDS):
            counts = {m: x / (1 - exp(-x)) if kind == "set" else x for m, x in means.items()}
            means = {m: x * size / sum(counts.values()) for m, x in means.items()}
        return {m: many * size / sum(counts.values()) for m, many in counts.items()}


sets = st.sets(st.sampled_from("abcd"), min_size=1).map(
    lambda some: "{" + ", ".join(sorted(some)) + "}" if len(some) > 1 else min(some)
)
ranges = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(
    lambda ends: f"[{min(ends)}~{max(ends)}]" if ends[0] != ends[1] else str(ends[0])
)


@examples(15)
@given(st.lists(st.tuples(sets, st.integers(4, 9)), min_size=1, max_size=6))
def test_shares_of_sets(classes: Classes) -> None:
    found = shoal.decode(released(classes), POLICY, forms={"x": "shares"})
    values = sorted({str(m) for label, _ in classes for m in parse(label)[1]})
    shares = leaning(estimate(classes, values, CountsInSets()))
    for i, label in enumerate(released(classes)["x"].to_pylist()):
        own = [
            (size, CountsInSets()(label, size, shares)) for each, size in classes if each == label
        ]
        rows = sum(size for size, _ in own)
        for value in values:
            share = sum(counts.get(value, 0) for _, counts in own) / rows
            assert found[f"x={value}"][i].as_py() == pytest.approx(share, abs=1e-6)


@examples(8)
@given(st.lists(st.tuples(ranges, st.integers(2, 4)), min_size=1, max_size=4))
def test_means_of_ranges(classes: Classes) -> None:
    classes = [("0", 3), ("4", 3), *classes]  # so that all numbers between are possible
    table = released(classes)
    found = shoal.decode(table, POLICY, numbers="expected", forms={"of": "label"})
    shares = estimate(classes, [str(number) for number in range(5)], CountsInRanges())
    for i, label in enumerate(table["x"].to_pylist()):
        own = [
            CountsInRanges()(label, size, leaning(shares))
            for each, size in classes
            if each == label
        ]
        total = sum(many for counts in own for many in counts.values())
        mean = sum(int(value) * many for counts in own for value, many in counts.items()) / total
        assert found["x"][i].as_py() == pytest.approx(mean, abs=1e-6)
