"""L-clustering against a plain double loop on a table of 5,000 rows."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.encoding.domain import UNIT, Domain, Kind
from shoal.methods.l_clustering import LClustering
from shoal.models.l import L
from shoal.models.requirement import Requirement
from tests import naive_clusters as naive
from tests.methods.clustered import clustered

Floats = npt.NDArray[np.float64]
SIZES = (40, 2, 5, 12)
"""The first column is ordered, the others are sets."""
ASKED, VALUES = 4, 6


class Labels:
    """Labels of rows or clusters, as arrays: ends of the ordered column, bits of the sets."""

    def __init__(self, n: int) -> None:
        self.low, self.high = np.zeros(n), np.zeros(n)
        self.bits = np.zeros((n, len(SIZES) - 1), np.uint64)
        self.size = np.zeros(n, np.int64)

    def far(self, other: "Labels", at: int, some: npt.NDArray[np.int64]) -> Floats:
        """DS between one label and some of another array."""
        low = np.minimum(self.low[at], other.low[some])
        high = np.maximum(self.high[at], other.high[some])
        width = high - low + 1
        changed = (low != self.low[at]) | (high != self.high[at])
        mine = np.where(changed, width / (self.high[at] - self.low[at] + 1), 0.0)
        changed = (low != other.low[some]) | (high != other.high[some])
        theirs = np.where(changed, width / (other.high[some] - other.low[some] + 1), 0.0)
        for j in range(self.bits.shape[1]):
            a, b = self.bits[at, j], other.bits[some, j]
            width = np.bitwise_count(a | b).astype(float)
            mine = mine + np.where((a | b) != a, width / np.bitwise_count(a), 0.0)
            theirs = theirs + np.where((a | b) != b, width / np.bitwise_count(b), 0.0)
        return np.asarray(self.size[at] * mine + other.size[some] * theirs)

    def cover(self, at: int, other: "Labels", i: int) -> None:
        self.low[at] = min(self.low[at], other.low[i])
        self.high[at] = max(self.high[at], other.high[i])
        self.bits[at] |= other.bits[i]
        self.size[at] += other.size[i]

    def copy(self, at: int, other: "Labels", i: int) -> None:
        self.low[at], self.high[at] = other.low[i], other.high[i]
        self.bits[at], self.size[at] = other.bits[i], other.size[i]


def plain(codes: npt.NDArray[np.int64], ill: npt.NDArray[np.int64], order: list[int]) -> list[int]:
    """The cluster of each row, by looking at every row and every cluster in every step."""
    n = len(codes)
    rows, done, one = Labels(n), Labels(n), Labels(1)
    rows.low[:] = rows.high[:] = codes[:, 0]
    rows.bits[:] = np.uint64(1) << codes[:, 1:].astype(np.uint64)
    rows.size[:] = 1
    group, left, finished = np.full(n, -1), np.ones(n, bool), 0
    alive = np.zeros(n, bool)  # by the time of finishing, so the first of equals is the oldest
    while len(set(ill[left])) >= ASKED:
        start = next(i for i in order if left[i])
        mine, into = [start], -1
        left[start] = False
        one.copy(0, rows, start)
        while len(mine) < ASKED:
            may = np.flatnonzero(left & ~np.isin(ill, ill[mine]))
            far = one.far(rows, 0, may)
            near, best = may[np.argmin(far)], far.min()
            others = np.flatnonzero(alive)
            if len(others):
                far = one.far(done, 0, others)
                if far.min() < best:
                    into = int(others[np.argmin(far)])
                    break
            mine.append(int(near))
            left[near] = False
            one.cover(0, rows, int(near))
        if into >= 0:
            one.cover(0, done, into)
            alive[into] = False
            group[group == into] = finished
        done.copy(finished, one, 0)
        group[mine] = finished
        alive[finished] = True
        finished += 1
    others = np.flatnonzero(alive)
    for i in order:
        if left[i]:
            home = int(others[np.argmin(rows.far(done, i, others))])
            done.cover(home, rows, i)
            group[i] = home
    return [int(g) for g in group]


def test_5_000_rows_like_the_plain_double_loop() -> None:
    rng = np.random.default_rng(3)
    n = 5_000
    drawn = [np.minimum(rng.geometric(2 / size, n) - 1, size - 1) for size in SIZES]
    codes = np.stack(drawn, axis=1)
    codes = codes[np.lexsort(codes.T[::-1])]
    ill = np.minimum(rng.geometric(0.4, n) - 1, VALUES - 1)
    pairs = []
    for j, size in enumerate(SIZES):
        texts = pa.array([f"v{i}" for i in range(size)])
        places = np.arange(size)
        ends = (places * UNIT // (size - 1), places.astype(float)) if j == 0 else ()
        kind = Kind.SET if j else Kind.RANGE
        pairs.append((Domain(f"c{j}", kind, texts, -1, *ends), naive.unordered()))
    rows = [tuple(row) for row in codes.tolist()]
    table = clustered(rows, pairs, [ill.tolist()], values=VALUES)
    order = np.random.default_rng(0).permutation(n).tolist()
    asked = Requirement((L(ASKED, "s0"),))
    (grouping,) = LClustering().group(table.cells, asked, 0, lambda _: None)
    expected: dict[int, list[int]] = {}
    for row, group in enumerate(plain(codes, ill, order)):
        expected.setdefault(group, []).append(row)
    assert table.groups(grouping) == sorted(expected.values())
