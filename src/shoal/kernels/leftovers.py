"""Rows that are left when no cluster can grow any more: each joins its nearest cluster.

Source: L-clustering's last step. A row t that joins cluster G makes the label t*, and is as far as
L(t, t*) + |G| L(tg, t*). The first part is at least what the row would lose inside G's own label, and
the second at least |G| times the weight of each column in which G does not cover the row. So each key
keeps, as bits, the clusters that cover it, and a few words of bits tell how many columns of a row each
cluster leaves open: none, one or more.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.herd import SLACK, Herd
from shoal.kernels.jit import inlined, kernel
from shoal.kernels.labels import RANGE, SET, Columns, has, inside, ones, widen
from shoal.kernels.pool import OPEN, Pool
from shoal.kernels.trie import NONE


class Covers(NamedTuple):
    """What the clusters cover; clusters are bits of words."""

    by_key: npt.NDArray[np.uint64]
    """(keys, words) the clusters that cover some code of the key."""
    key_base: npt.NDArray[np.int64]
    """(d,) where the column's keys begin."""
    loss: npt.NDArray[np.float64]
    """(c,) what a row loses inside the cluster's label."""
    floor: npt.NDArray[np.float64]
    """(3, words) how far the clusters of a word are at least with 0, 1, 2 or more columns open."""
    open: npt.NDArray[np.uint64]
    """(3, words) for one row: the clusters with 0, 1, 2 or more columns open."""


def no_covers(n: int, keys: int, key_base: npt.NDArray[np.int64]) -> Covers:
    """Room for n clusters."""
    words = (n + 63) // 64
    return Covers(
        np.zeros((keys, words), np.uint64),
        key_base,
        np.zeros(n),
        np.zeros((3, words)),
        np.zeros((3, words), np.uint64),
    )


@inlined
def loss_inside(columns: Columns, herd: Herd, c: int) -> float:
    """What a row loses by the cluster's label as it is."""
    loss = 0.0
    for j in range(len(columns.kind)):
        if herd.label.low[c, j] < 0 or herd.label.low[c, j] != herd.label.high[c, j]:
            loss += columns.weight[j] * herd.label.width[c, j]
    return loss


@kernel
def cover(columns: Columns, herd: Herd, covers: Covers, c: int, j: int) -> None:
    """Note all that a cluster covers in a column."""
    by_key, base, by = covers.by_key, covers.key_base[j], herd.shift[j]
    word, bit = c >> 6, np.uint64(1) << np.uint64(c & 63)
    if columns.kind[j] == SET:
        for code in range(columns.size[j]):
            if has(herd.label, c, columns.word[j], code):
                by_key[base + (code >> by), word] |= bit
        return
    for key in range(herd.label.low[c, j] >> by, (herd.label.high[c, j] >> by) + 1):
        by_key[base + key, word] |= bit


@kernel
def cover_all(columns: Columns, herd: Herd, covers: Covers) -> None:
    """Note all that the clusters cover."""
    for c in range(len(covers.loss)):
        covers.loss[c] = loss_inside(columns, herd, c)
        for j in range(len(columns.kind)):
            cover(columns, herd, covers, c, j)


@kernel
def raise_floors(columns: Columns, herd: Herd, covers: Covers) -> None:
    """Work out the floors; clusters only ever lose more and have more rows later on."""
    lightest = columns.weight.min()
    covers.floor[:] = np.inf
    for c in range(len(covers.loss)):
        for gaps in range(3):
            least = covers.loss[c] + gaps * lightest * herd.size[c]
            covers.floor[gaps, c >> 6] = min(covers.floor[gaps, c >> 6], least)


@kernel
def nearest_to_row(
    columns: Columns, herd: Herd, covers: Covers, codes: npt.NDArray[np.int32]
) -> int:
    """The cluster nearest to a row; the one finished first of equals."""
    # arrays by their own names: reaching into tuples inside the loops costs more than the work
    kind, weight, word, base = columns.kind, columns.weight, columns.word, columns.base
    missing, place, counted, tree = columns.missing, columns.place, columns.counted, columns.tree
    first_leaf, last_leaf, size_of = columns.first, columns.last, columns.size
    low_of, high_of, bits_of = herd.label.low, herd.label.high, herd.label.bits
    width_of, rows_of, finished, shift = herd.label.width, herd.size, herd.finished, herd.shift
    by_key, key_base, loss = covers.by_key, covers.key_base, covers.loss
    floor, gapped = covers.floor, covers.open
    d, n = len(kind), len(loss)
    gapped[:2] = 0
    some, more = gapped[1], gapped[2]
    more[:] = 0
    for j in range(d):
        covering = by_key[key_base[j] + (codes[j] >> shift[j])]
        for at in range(len(some)):
            without = ~covering[at]
            more[at] |= some[at] & without
            some[at] |= without
    for at in range(len(some)):
        gapped[0, at] = ~some[at]
        some[at] &= ~more[at]
    if n & 63:
        for gaps in range(3):
            gapped[gaps, -1] &= (np.uint64(1) << np.uint64(n & 63)) - np.uint64(1)
    lightest = weight.min()
    best, found = np.inf, NONE
    for gaps in range(3):
        for at in range(len(some)):
            if floor[gaps, at] * SLACK > best:
                continue
            left = gapped[gaps, at]
            while left:
                c = 64 * at + ones((left & (~left + np.uint64(1))) - np.uint64(1))
                left &= left - np.uint64(1)
                many = rows_of[c]
                if (loss[c] + gaps * lightest * many) * SLACK > best:
                    continue
                mine = theirs = 0.0
                for j in range(d):
                    code, low, high, width = codes[j], low_of[c, j], high_of[c, j], width_of[c, j]
                    if low == code and high == code:
                        continue
                    if kind[j] == SET:
                        bit = bits_of[c, word[j] + (code >> 6)] >> np.uint64(code & 63)
                        if bit & np.uint64(1):
                            mine += weight[j] * width
                            continue
                        wider = width + 1.0  # as wide as it has values
                    elif low <= code <= high:
                        mine += weight[j] * width
                        continue
                    else:
                        low, high = min(low, code), max(high, code)
                        if kind[j] == RANGE:
                            if high == missing[j]:
                                low = 0
                            wider = place[base[j] + high] - place[base[j] + low] + 1.0
                        else:
                            leaf = tree[j] + low
                            while last_leaf[leaf] < high:
                                leaf += size_of[j]
                            wider = counted[base[j] + j + last_leaf[leaf] - first_leaf[leaf] + 1]
                    mine += weight[j] * wider
                    theirs += weight[j] * (wider / width)
                    if (mine + many * theirs) * SLACK > best:
                        break
                far = mine + many * theirs
                if far < best or (far == best and finished[c] < finished[found]):
                    best, found = far, c
    return found


@kernel
def hand_out(
    columns: Columns,
    pool: Pool,
    herd: Herd,
    covers: Covers,
    rows: npt.NDArray[np.int32],
    cell_of: npt.NDArray[np.int32],
    group: npt.NDArray[np.int32],
) -> None:
    """Each open row among these, in their order, joins its nearest cluster."""
    raise_floors(columns, herd, covers)
    for row in rows:
        if pool.taken[row] != OPEN:
            continue
        codes = pool.codes[cell_of[row]]
        c = nearest_to_row(columns, herd, covers, codes)
        group[row] = c
        herd.size[c] += 1
        wider = False
        for j in range(len(codes)):
            if not inside(columns, herd.label, c, j, codes[j]):
                wider = True
        if wider:
            widen(columns, herd.label, c, codes)
            covers.loss[c] = loss_inside(columns, herd, c)
            for j in range(len(codes)):
                cover(columns, herd, covers, c, j)
