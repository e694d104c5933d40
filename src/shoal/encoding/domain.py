"""The domain of a column: what its codes mean, and what its labels cost.

Ordered values are numbered in ascending order and hierarchy leaves depth first, so an interval or a
hierarchy node is one unbroken range of codes. A missing value is a value of its own: the last code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from shoal.arrays import Codes, Floats, Ints
from shoal.encoding.look_alikes import LookAlikes
from shoal.encoding.reading import ValueReading
from shoal.encoding.spelling import Spellings
from shoal.errors import listed
from shoal.hierarchy.tree import HierarchyTree

if TYPE_CHECKING:  # importing them would load the compiler
    from shoal.kernels.cluster_index import Columns, Label
    from shoal.kernels.labels import Costs

UNIT = 1 << 28
"""Loss is counted in whole numbers, UNIT being the loss of one fully generalised cell. Whole numbers
add up to the same sum in any order, so a choice between two cuts is the same on every machine."""
SHARES = 1 << 10
"""The importance of a column is rounded to one of so many steps; see `Domain.share`."""
DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
MOST_UNITS = float(1 << 53)
"""A float counts whole units up to here."""


class Kind(IntEnum):
    """How a column generalises, and so what its label costs."""

    RANGE = 0
    """To an interval; the loss is its width over the column's width."""
    SET = 1
    """To a set of values; the loss is its size over the number of values."""
    TREE = 2
    """To a node of a hierarchy; the loss is its share of the leaves."""


@dataclass(frozen=True)
class Domain:
    """What the codes of one column mean."""

    name: str
    kind: Kind
    texts: pa.Array
    """(size,) string: the raw text of each code; null for the missing value."""
    missing: int
    """The code of the missing value (always the last one), or -1 when none is missing."""
    positions: Ints | None = None
    """RANGE only. (size,) each value's place in 0..UNIT between the smallest and the largest value.
    The missing value is at 2 * UNIT, so a range with it and another one costs UNIT or more."""
    units: Floats | None = None
    """RANGE only. (size,) each value's place in the column's own unit: 1 for whole numbers, a day for
    dates; its rank for all others, and where None. The missing value is at the largest one."""
    interval_ends: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    """RANGE only, where the values are intervals such as `(0, 3]`. The lower and the upper end of
    each: a label is written from the first lower end to the last upper end."""
    read_as: str = ""
    """How texts were read, where that is not as plain numbers or ISO dates."""
    reading: ValueReading | None = None
    """The same, for programs; None where nothing was read but the text."""
    hierarchy: HierarchyTree | None = None
    """TREE only. One leaf per code, the missing value being a leaf right under the root."""
    levels: Codes | None = None
    """Sensitive columns only, where the policy gives levels. (size,) the sensitivity level of each
    code, 1 being the least; 0 for the missing value."""
    spellings: Spellings | None = None
    """Sensitive columns only: what was merged, where spellings of one value share a code."""
    look_alikes: LookAlikes | None = None
    """Sensitive columns only: values that a reader does not tell apart, where there are any."""
    spelled_of: str | None = None
    """The sensitive column of which this one has every spelling as a value of its own."""
    undeclared: tuple[str, ...] = ()
    """Sensitive columns only: texts that are likely codes for missing values, but count as values."""
    share: float = 1.0
    """Quasi-identifiers only: how much a loss in this column counts beside one in the most important
    column; a multiple of 1/SHARES, so that weighed losses can be summed exactly."""
    bits: float | None = None
    """Quasi-identifiers only, where the policy has `predict`: what the column tells about the target."""

    def warnings(self) -> list[str]:
        """What the publisher should know of the values of a sensitive column."""
        found = [] if self.spellings is None else self.spellings.warnings(self.name)
        if self.look_alikes is not None:
            found += self.look_alikes.warnings(self.name)
        if self.undeclared:
            codes = listed([repr(code) for code in self.undeclared])
            found.append(
                f"{self.name}: {codes} count as values, as its `missing` does not list them; they are "
                "likely to stand for missing ones."
            )
        return found

    @property
    def size(self) -> int:
        """Number of codes, the missing value's included."""
        return len(self.texts)

    @property
    def places(self) -> Floats:
        """(size,) RANGE, TREE: the place of each code in whole units, leaves being 1 apart.

        In a RANGE the missing value has the place of the largest one: a label with it and others
        spans the column, and the column is as wide as its known values.
        """
        if self.units is not None:
            return self.units
        place = np.arange(self.size, dtype=np.float64)
        if self.kind == Kind.RANGE and self.missing > 0:
            place[self.missing] -= 1
        return place

    @property
    def width(self) -> float:
        """The width of the whole column: the units of a RANGE, else the number of values."""
        return float(self.places[-1]) + 1.0

    @property
    def most(self) -> int:
        """The loss of a fully generalised cell, weighed by the importance of the column."""
        return round(UNIT * self.share)

    def weighed(self, losses: Ints) -> Ints:
        """Losses of the column's labels, weighed by its importance."""
        return losses if self.share == 1 else np.rint(losses * self.share).astype(np.int64)


def shares_of(importances: Mapping[str, float]) -> dict[str, float]:
    """How much each column counts, the most important one 1; all alike where all importances are 0.

    Whatever has any importance counts at least 1/SHARES.
    """
    most = max(importances.values(), default=0.0)
    if most <= 0:
        return dict.fromkeys(importances, 1.0)
    return {
        name: max(1, round(SHARES * (value / most))) / SHARES if value > 0 else 0.0
        for name, value in importances.items()
    }


def with_missing_text(texts: pa.Array, missing: int) -> pa.Array:
    """The texts of the known values, and a null where a value can be missing."""
    if missing < 0:
        return texts
    return pa.concat_arrays([texts.slice(0, missing), pa.nulls(1, pa.string())])


def units_of(values: pa.Array) -> Floats:
    """(m,) the place of each of these ascending values in whole units, the first being 0.

    The loss of L-clustering gives a range the width b - a + 1, so that one value is 1 wide. That makes
    sense only where neighbours are 1 apart: whole numbers are measured as they are, dates in days.
    Decimals and times of day are measured by their rank among the column's values, and so are whole
    numbers further apart than a float can count.
    """
    place = _in_units(values)
    if place is not None and place[-1] <= MOST_UNITS and (np.diff(place) > 0).all():
        return place
    return np.arange(len(values), dtype=np.float64)


def _in_units(values: pa.Array) -> Floats | None:
    kind = values.type
    if pa.types.is_date32(kind):
        return _from_first(values.view(pa.int32()), 1)
    if pa.types.is_date64(kind):
        return _from_first(values.view(pa.int64()), DAY["ms"])
    if pa.types.is_timestamp(kind):
        return _from_first(values.view(pa.int64()), DAY[kind.unit])
    if pa.types.is_integer(kind):
        return _from_first(values, 1)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
        if np.abs(numbers).max() <= MOST_UNITS and (numbers == np.rint(numbers)).all():
            return numbers - numbers[0]
    return None


def _from_first(values: pa.Array, unit: int) -> Floats | None:
    """How many units each value is above the first; None where one is between two units."""
    whole = values.to_numpy(zero_copy_only=False)
    if whole.itemsize < 8:
        whole = whole.astype(np.int64)
    if unit > 1 and (whole % unit).any():
        return None
    # exact differences first: large numbers may be closer together than a float's precision
    above = (whole - whole[0]).view(np.uint64)
    return (above // np.uint64(unit)).astype(np.float64)


def costs_of(domains: Sequence[Domain]) -> "Costs":
    """The tables from which kernels read the loss of any label over these columns."""
    tables = [_tables(domain) for domain in domains]
    lengths = [len(cost) for cost, _ in tables]
    marks = [d.size if d.kind == Kind.SET else 0 for d in domains]
    from shoal.kernels.labels import Costs

    return Costs(
        kind=np.array([int(d.kind) for d in domains], np.int64),
        size=np.array([d.size for d in domains], np.int64),
        levels=np.array([d.hierarchy.height + 1 if d.hierarchy else 1 for d in domains], np.int64),
        base=np.cumsum([0, *lengths[:-1]]).astype(np.int64),
        cost=np.concatenate([cost for cost, _ in tables]),
        node=np.concatenate([node for _, node in tables]),
        seen=np.cumsum([0, *marks]).astype(np.int64),
        most=np.array([d.most for d in domains], np.int64),
    )


def _tables(domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    if domain.kind == Kind.RANGE:
        assert domain.positions is not None
        return domain.weighed(domain.positions), np.zeros(domain.size, np.int32)
    if domain.kind == Kind.SET:
        cost = domain.weighed(_set_costs(domain))
        return cost, np.zeros(len(cost), np.int32)
    assert domain.hierarchy is not None
    nodes = domain.hierarchy.nodes
    costs = np.stack([np.bincount(row)[row] for row in nodes]) * UNIT // domain.size
    costs[0] = 0
    return domain.weighed(costs.ravel()), nodes.ravel()


def _set_costs(domain: Domain) -> Ints:
    """(size + 1,) the NCP of a set with so many members."""
    cost = np.arange(domain.size + 1, dtype=np.int64) * UNIT // max(1, domain.size)
    cost[:2] = 0
    return cost


def loss_columns(domains: Sequence[Domain], weights: Sequence[float]) -> "Columns":
    """Widths as the loss L counts them: units of a range, values of a set, leaves of a node.

    Whole numbers and dates are measured in their own units (1, a day), other ordered values by rank.
    """
    placed = [domain.places for domain in domains]
    counted = [np.arange(domain.size + 1, dtype=np.float64) for domain in domains]
    most = [np.inf] * len(domains)
    return _columns(domains, weights, placed, counted, one=1.0, plus=1.0, most=most)


def ncp_columns(domains: Sequence[Domain]) -> "Columns":
    """Widths as NCP counts them, in whole numbers of 1/UNIT, each weighed by its column's importance."""
    placed, counted = [], []
    for domain in domains:
        positions = (
            np.zeros(domain.size, np.int64) if domain.positions is None else domain.positions
        )
        placed.append(domain.weighed(positions).astype(np.float64))
        counted.append(domain.weighed(_set_costs(domain)).astype(np.float64))
    weights = [1.0] * len(domains)
    most = [float(domain.most) for domain in domains]
    return _columns(domains, weights, placed, counted, one=0.0, plus=0.0, most=most)


def empty_labels(columns: "Columns", n: int) -> "Label":
    """Uninitialised labels of n groups."""
    d, words = len(columns.kind), int(columns.word[-1])
    from shoal.kernels.cluster_index import Label

    return Label(
        np.zeros((n, d), np.int32),
        np.zeros((n, d), np.int32),
        np.zeros((n, max(1, words)), np.uint64),
        np.zeros((n, d)),
    )


def _columns(
    domains: Sequence[Domain],
    weights: Sequence[float],
    placed: Sequence[Floats],
    counted: Sequence[Floats],
    one: float,
    plus: float,
    most: Sequence[float],
) -> "Columns":
    firsts, lasts = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for domain in domains:
        if domain.hierarchy is not None:
            for row in domain.hierarchy.nodes:
                firsts.append(np.searchsorted(row, row).astype(np.int32))
                lasts.append((np.searchsorted(row, row, side="right") - 1).astype(np.int32))
    levels = [0 if d.hierarchy is None else d.hierarchy.height + 1 for d in domains]
    in_tree = [levels[j] * d.size for j, d in enumerate(domains)]
    words = [(d.size + 63) // 64 if d.kind == Kind.SET else 0 for d in domains]
    from shoal.kernels.cluster_index import Columns

    return Columns(
        kind=np.array([int(d.kind) for d in domains], np.int64),
        size=np.array([d.size for d in domains], np.int64),
        missing=np.array([d.missing if d.kind == Kind.RANGE else -1 for d in domains], np.int64),
        weight=np.array(weights, np.float64),
        one=one,
        plus=plus,
        most=np.array(most, np.float64),
        base=np.cumsum([0, *(d.size for d in domains)]).astype(np.int64),
        place=np.concatenate(placed),
        counted=np.concatenate(counted),
        tree=np.cumsum([0, *in_tree[:-1]]).astype(np.int64),
        levels=np.array(levels, np.int64),
        first=np.concatenate(firsts),
        last=np.concatenate(lasts),
        word=np.cumsum([0, *words]).astype(np.int64),
    )
