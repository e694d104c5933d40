"""What it would lose to cut through equal values, column by column."""

from collections.abc import Callable

import numpy as np

from shoal.kernels.costs import SET
from shoal.large.histograms import Histograms
from shoal.large.labels import Ints, label_costs
from shoal.large.slices import Part, Slice, Slices

NEVER = np.iinfo(np.int64).max


def sized_losses(
    seen: Histograms,
    slices: Slices,
    groups: Ints,
    below: Ints,
    place: Callable[[int, int], tuple[int, int]],
    every: bool,
) -> Ints:
    """(n, d) loss of cutting each node along each column with below[g] rows below.

    Unless `every` loss is wanted, those surely above the least are NEVER. What a cut through equal
    values loses lies between what it would lose without them and with all of them on both sides: only
    columns that may be the best are looked at closely.
    """
    d = len(seen.along)
    least = np.empty((len(groups), d), np.int64)
    most = np.empty((len(groups), d), np.int64)
    at: dict[tuple[int, int], tuple[int, int]] = {}
    for j, along in enumerate(seen.along):
        upto, after = seen.label_up_to(j), seen.label_from(j)
        for i, g in enumerate(groups):
            entry, extra = at[i, j] = place(int(g), j)
            n, above = int(below[g]), int(seen.rows[g] - below[g])
            before = upto[entry - 1] if entry > along.starts[g] else 0
            if extra == 0:
                least[i, j] = most[i, j] = n * before + above * after[entry]
                continue
            behind = after[entry + 1] if entry + 1 < along.starts[g + 1] else 0
            least[i, j] = n * before + above * behind
            most[i, j] = n * upto[entry] + above * after[entry]
    open_ones = least < most
    if not every:
        possible = least <= most.min(axis=1, keepdims=True)
        most[~possible] = NEVER
        # where one column is left, what it loses does not matter
        open_ones &= possible & (possible.sum(axis=1, keepdims=True) > 1)
    asked = list(zip(*np.nonzero(open_ones), strict=True))
    wanted = [slice_at(seen, int(groups[i]), int(j), *at[i, j]) for i, j in asked]
    for (i, j), parts in zip(asked, slices.parts(wanted), strict=True):
        g, (entry, _) = int(groups[i]), at[i, j]
        n, above = int(below[g]), int(seen.rows[g] - below[g])
        under = _cost(seen, g, int(j), entry, parts[0], forward=True)
        most[i, j] = n * under + above * _cost(seen, g, int(j), entry, parts[1], forward=False)
    return most


def slice_at(seen: Histograms, group: int, column: int, entry: int, extra: int) -> Slice:
    """The slice that a cut goes through."""
    along = seen.along[column]
    rows = int(along.count[entry])
    return Slice(int(seen.nodes[group]), column, int(along.code[entry]), rows, extra)


def _cost(seen: Histograms, g: int, j: int, entry: int, part: Part, forward: bool) -> int:
    """What the label costs of the rows before (or after) an entry and a part of its slice."""
    along = seen.along[j]
    code = along.code[entry]
    others = slice(along.starts[g], entry) if forward else slice(entry + 1, along.starts[g + 1])
    total = 0
    for i, other in enumerate(seen.along):
        if seen.costs.kind[i] == SET:
            mine = slice(other.starts[g], other.starts[g + 1])
            there = other.low[mine, j] < code if forward else other.high[mine, j] > code
            if i == j:
                there = other.code[mine] < code if forward else other.code[mine] > code
            members = int((there | np.isin(other.code[mine], part.members[i])).sum())
            low = high = members
        else:
            low = int(min(along.low[others, i].min(initial=part.low[i]), part.low[i]))
            high = int(max(along.high[others, i].max(initial=part.high[i]), part.high[i]))
            members = 0
        ends = np.array([low]), np.array([high])
        total += int(label_costs(seen.costs, i, *ends, np.array([members]))[0])
    return total
