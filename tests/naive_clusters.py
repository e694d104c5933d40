"""Slow, plain twins of the clustering methods, written after the page: no indexes, no numpy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Row = tuple[int, ...]
Label = frozenset[int]


@dataclass(frozen=True)
class Column:
    """One column: the label over some codes, and how wide a label is."""

    cover: Callable[[Label], Label]
    width: Callable[[Label], float]
    weight: float = 1.0


def ordered(places: Sequence[float], missing: int | None, weight: float = 1.0) -> Column:
    """Intervals; `places` in units; one with the missing value and another covers everything."""
    everything = frozenset(range(len(places)))
    known = [p for code, p in enumerate(places) if code != missing]

    def cover(codes: Label) -> Label:
        if len(codes) == 1:
            return codes
        if missing in codes:
            return everything
        return frozenset(range(min(codes), max(codes) + 1))

    def width(label: Label) -> float:
        if len(label) == 1:
            return 1.0
        if missing in label:
            return known[-1] - known[0] + 1.0
        return places[max(label)] - places[min(label)] + 1.0

    return Column(cover, width, weight)


def unordered(weight: float = 1.0) -> Column:
    """Sets of values."""
    return Column(lambda codes: codes, lambda label: float(len(label)), weight)


def tree(levels: Sequence[Sequence[int]], weight: float = 1.0) -> Column:
    """Nodes: levels[i][leaf] is the node over a leaf, level 0 being the leaves."""

    def cover(codes: Label) -> Label:
        for level in levels:
            nodes = {level[code] for code in codes}
            if len(nodes) == 1:
                return frozenset(leaf for leaf, node in enumerate(level) if node in nodes)
        raise AssertionError("no root")

    return Column(cover, lambda label: float(len(label)), weight)


@dataclass
class Cluster:
    rows: list[int]
    label: tuple[Label, ...]


def single(row: Row) -> tuple[Label, ...]:
    return tuple(frozenset([code]) for code in row)


def merged(
    columns: Sequence[Column], a: tuple[Label, ...], b: tuple[Label, ...]
) -> tuple[Label, ...]:
    return tuple(c.cover(x | y) for c, x, y in zip(columns, a, b, strict=True))


def loss(columns: Sequence[Column], old: tuple[Label, ...], new: tuple[Label, ...]) -> float:
    """L of one row that goes from one label to another."""
    total = 0.0
    for column, x, y in zip(columns, old, new, strict=True):
        if x != y:
            total += column.weight * (column.width(y) / column.width(x))
    return total


def distance(
    columns: Sequence[Column], a: tuple[Label, ...], rows_a: int, b: tuple[Label, ...], rows_b: int
) -> float:
    """DS of two clusters, or of a row and a cluster."""
    both = merged(columns, a, b)
    return rows_a * loss(columns, a, both) + rows_b * loss(columns, b, both)


def l_clusters(
    columns: Sequence[Column],
    rows: Sequence[Row],
    sensitive: Sequence[Sequence[int | None]],
    asked: Sequence[int],
    order: Sequence[int],
) -> list[list[int]] | None:
    """The clusters, or None where there can be none. `sensitive` has one sequence per column."""
    left = set(range(len(rows)))
    every = range(len(asked))

    def values(group: Sequence[int] | set[int], a: int) -> set[int]:
        return {v for i in group if (v := sensitive[a][i]) is not None}

    def new(group: Sequence[int], i: int) -> bool:
        lacking = [a for a in every if len(values(group, a)) < asked[a]]
        return any(
            sensitive[a][i] is not None and sensitive[a][i] not in values(group, a) for a in lacking
        )

    done: list[Cluster] = []
    while all(len(values(left, a)) >= asked[a] for a in every):
        start = next(
            i for i in order if i in left and any(sensitive[a][i] is not None for a in every)
        )
        left.remove(start)
        grown = Cluster([start], single(rows[start]))
        while any(len(values(grown.rows, a)) < asked[a] for a in every):
            near, far = -1, float("inf")
            for i in sorted(left):
                if new(grown.rows, i):
                    ds = distance(columns, single(rows[i]), 1, grown.label, len(grown.rows))
                    if ds < far:
                        near, far = i, ds
            other = None
            for cluster in done:
                ds = distance(
                    columns, grown.label, len(grown.rows), cluster.label, len(cluster.rows)
                )
                if ds < far:
                    other, far = cluster, ds
            if other is None:
                left.remove(near)
                label = merged(columns, grown.label, single(rows[near]))
                grown = Cluster([*grown.rows, near], label)
            else:
                done.remove(other)
                label = merged(columns, grown.label, other.label)
                grown = Cluster(grown.rows + other.rows, label)
        done.append(grown)
    if not done:
        return None
    for i in order:
        if i in left:
            far, home = float("inf"), done[0]
            for cluster in done:
                ds = distance(columns, single(rows[i]), 1, cluster.label, len(cluster.rows))
                if ds < far:
                    far, home = ds, cluster
            home.rows.append(i)
            home.label = merged(columns, home.label, single(rows[i]))
    return [sorted(cluster.rows) for cluster in done]


UNIT = 1 << 28


def ncp(column: Column, label: Label) -> int:
    """Loss of a label in whole numbers of 1/UNIT; `width` must give NCP here."""
    return 0 if len(label) == 1 else int(column.width(label))


def k_clusters(
    columns: Sequence[Column],
    rows: Sequence[Row],
    sensitive: Sequence[Sequence[int | None]],
    least: int,
    holds: Callable[[Sequence[int]], bool],
    order: Sequence[int],
    required: int = 0,
) -> list[list[int]]:
    """Clusters by least NCP: `least` rows, then more of them until it holds; then what is left. Rows
    that equal the first row of a cluster without loss start none if they are too few for another.

    required: values of the first sensitive column that the last of `least` rows bring if it lacks them.
    """
    left, done = set(range(len(rows))), []

    def added(cluster: Cluster, i: int) -> int:
        label = merged(columns, cluster.label, single(rows[i]))
        size = len(cluster.rows)
        before = sum(ncp(c, x) for c, x in zip(columns, cluster.label, strict=True))
        after = sum(ncp(c, x) for c, x in zip(columns, label, strict=True))
        return (size + 1) * after - size * before

    def new(group: Sequence[int], i: int) -> bool:
        return any(s[i] is not None and s[i] not in {s[g] for g in group} for s in sensitive)

    free: dict[Row, Cluster] = {}
    for start in order:
        if start not in left or len(left) < least:
            continue
        if rows[start] in free and sum(rows[i] == rows[start] for i in left) < least:
            continue
        left.remove(start)
        grown = Cluster([start], single(rows[start]))
        while len(grown.rows) < least or not holds(grown.rows):
            may = sorted(left)
            lacks = (
                required - len({sensitive[0][g] for g in grown.rows} - {None}) if required else 0
            )
            if len(grown.rows) >= least or (lacks > 0 and lacks >= least - len(grown.rows)):
                may = [i for i in may if new(grown.rows, i)] or may
            if not may:
                break
            near = min(may, key=lambda i: (added(grown, i), i))
            left.remove(near)
            grown = Cluster([*grown.rows, near], merged(columns, grown.label, single(rows[near])))
        else:
            done.append(grown)
            if sum(ncp(c, x) for c, x in zip(columns, grown.label, strict=True)) == 0:
                free.setdefault(rows[start], grown)
            continue
        left.update(grown.rows)
        break
    for i in [i for i in order if i in left and rows[i] in free]:
        free[rows[i]].rows.append(i)
        left.remove(i)
    for i in order:
        if i in left:
            home = min(done, key=lambda cluster: added(cluster, i))
            home.label = merged(columns, home.label, single(rows[i]))
            home.rows.append(i)
    return [sorted(cluster.rows) for cluster in done]
