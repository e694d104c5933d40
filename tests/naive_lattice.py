"""The whole lattice by brute force, in plain Python: every node is counted from the rows.

A column is a list of levels, a level the node of each leaf; a table is a list of rows of leaves.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product

Column = Sequence[Sequence[int]]
Row = tuple[int, ...]
Node = tuple[int, ...]
Group = list[int]
"""Rows, by their places."""
Judge = Callable[[list[Group]], list[Group] | None]
"""From the classes of a node to those that are published; None where the node is not valid."""


def nodes(columns: Sequence[Column]) -> Iterator[Node]:
    """Every combination of levels."""
    return product(*(range(len(column)) for column in columns))


def classes(columns: Sequence[Column], rows: Sequence[Row], node: Node) -> list[Group]:
    """The rows that look alike at these levels."""
    found: dict[Row, Group] = {}
    for i, row in enumerate(rows):
        key = tuple(c[level][v] for c, level, v in zip(columns, node, row, strict=True))
        found.setdefault(key, []).append(i)
    return list(found.values())


def k_and_l(sensitive: Sequence[int | None], k: int, l: int, limit: int) -> Judge:  # noqa: E741
    """Classes of k rows with l different values; at most `limit` rows lie in others."""

    def judge(groups: list[Group]) -> list[Group] | None:
        kept = [g for g in groups if len(g) >= k and len({sensitive[i] for i in g} - {None}) >= l]
        gone = sum(map(len, groups)) - sum(map(len, kept))
        return kept if kept and gone <= limit else None

    return judge


def generalises(columns: Sequence[Column], high: Node, low: Node) -> bool:
    """Whether every value at the low levels lies in one at the high levels."""
    for column, above, below in zip(columns, high, low, strict=True):
        if above < below:
            return False
        parents: dict[int, set[int]] = {}
        for leaf in range(len(column[0])):
            parents.setdefault(column[below][leaf], set()).add(column[above][leaf])
        if any(len(several) > 1 for several in parents.values()):
            return False
    return True


def minimal(columns: Sequence[Column], valid: Sequence[Node]) -> list[Node]:
    """The valid nodes that generalise no other."""
    return [
        node
        for node in valid
        if not any(other != node and generalises(columns, node, other) for other in valid)
    ]
