"""Slow, plain twins of the methods that climb hierarchies for several constraints at once.

Lists, dicts and whole numbers only, and nothing of the package itself. Words used throughout:
- a tree is `nodes[level][code]`: the node over a code on each level, codes at level 0, one root on top;
- a constraint is `(columns, k)`; a row is a tuple of codes;
- an answer has one line per row and one entry per column: `(level, node)`, or None for a starred cell.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

Tree = Sequence[Sequence[int]]
Row = tuple[int, ...]
Constraint = tuple[tuple[int, ...], int]
Cell = tuple[int, int] | None
Answer = list[list[Cell]]
STAR = "*"


# --- sets of constraints ---------------------------------------------------------------------


def components(constraints: Sequence[Constraint]) -> list[list[Constraint]]:
    """The connected parts of the graph whose edges are shared columns, by walking it."""
    left, parts = list(constraints), []
    while left:
        part, waiting = [], [left.pop(0)]
        while waiting:
            one = waiting.pop()
            part.append(one)
            near = [other for other in left if set(other[0]) & set(one[0])]
            left = [other for other in left if other not in near]
            waiting += near
        parts.append(part)
    return parts


def all_columns(constraints: Iterable[Constraint]) -> list[int]:
    return sorted({column for columns, _ in constraints for column in columns})


def largest_k(constraints: Iterable[Constraint]) -> int:
    return max(k for _, k in constraints)


# --- which rows are anonymous ----------------------------------------------------------------


def anonymous_subset(values: Sequence[Row], constraints: Sequence[Constraint]) -> set[int]:
    """Drop the rows that fail some constraint, count again, and again until none fails."""
    kept = set(range(len(values)))
    while True:
        failing = set()
        for columns, k in constraints:
            counts = Counter(tuple(values[i][c] for c in columns) for i in kept)
            failing |= {i for i in kept if counts[tuple(values[i][c] for c in columns)] < k}
        if not failing:
            return kept
        kept -= failing


def adding_constraints(values: Sequence[Row], constraints: Sequence[Constraint]) -> set[int]:
    """The same, by fixpoints of the first constraint, the first two, and so on by rising K."""
    ordered = sorted(constraints, key=lambda one: one[1])
    kept = list(range(len(values)))
    for n in range(1, len(ordered) + 1):
        inside = anonymous_subset([values[i] for i in kept], ordered[:n])
        kept = [kept[i] for i in sorted(inside)]
    return set(kept)


def by_union(values: Sequence[Row], constraints: Sequence[Constraint]) -> set[int]:
    """Rows whose combination over all columns occurs as often as the largest K asks."""
    columns = all_columns(constraints)
    keys = [tuple(value[c] for c in columns) for value in values]
    counts = Counter(keys)
    return {i for i, key in enumerate(keys) if counts[key] >= largest_k(constraints)}


FILTERS: dict[str, Callable[[Sequence[Row], Sequence[Constraint]], set[int]]] = {
    "complete": anonymous_subset,
    "partial": adding_constraints,
    "naive": by_union,
}


# --- the climbing loops ----------------------------------------------------------------------


def climbed(trees: Sequence[Tree], rows: Sequence[Row], levels: Sequence[int]) -> list[Row]:
    return [
        tuple(tree[level][code] for tree, level, code in zip(trees, levels, row, strict=True))
        for row in rows
    ]


def column_to_climb(
    trees: Sequence[Tree], values: Sequence[Row], levels: Sequence[int], columns: Sequence[int]
) -> int:
    """Most different values; then fewest levels climbed; then the first. Never one at its top."""
    able = [c for c in columns if levels[c] < len(trees[c]) - 1]
    return min(able, key=lambda c: (-len({value[c] for value in values}), levels[c], c))


def classfly_plus(
    trees: Sequence[Tree], rows: Sequence[Row], constraints: Sequence[Constraint], variant: str
) -> Answer:
    """Each component on its own: settle what the filter accepts, climb one column of the rest."""
    answer: Answer = [[None] * len(trees) for _ in rows]
    for part in components(constraints):
        columns, most = all_columns(part), largest_k(part)
        levels = [0] * len(trees)
        still_open = list(range(len(rows)))
        while len(still_open) >= most:
            values = climbed(trees, [rows[i] for i in still_open], levels)
            settled = FILTERS[variant](values, part)
            for at in settled:
                for c in columns:
                    answer[still_open[at]][c] = (levels[c], values[at][c])
            values = [value for at, value in enumerate(values) if at not in settled]
            still_open = [i for at, i in enumerate(still_open) if at not in settled]
            if still_open:
                able = any(levels[c] < len(trees[c]) - 1 for c in columns)
                if not able:
                    break  # all open rows are equal, and too few
                levels[column_to_climb(trees, values, levels, columns)] += 1
    return answer


def classfly(
    trees: Sequence[Tree], rows: Sequence[Row], constraints: Sequence[Constraint]
) -> Answer:
    """One constraint to a component: its rows settle when their own combination is common enough."""
    assert all(len(part) == 1 for part in components(constraints))
    return classfly_plus(trees, rows, constraints, "naive")


def datafly(
    trees: Sequence[Tree],
    rows: Sequence[Row],
    constraints: Sequence[Constraint],
    may_fail: int | None = None,
) -> Answer:
    """All rows climb alike until few enough lie outside the largest anonymous subset."""
    limit = largest_k(constraints) - 1 if may_fail is None else may_fail
    levels = [0] * len(trees)
    columns = list(range(len(trees)))
    while True:
        values = climbed(trees, rows, levels)
        kept = anonymous_subset(values, constraints)
        if len(rows) - len(kept) <= limit:
            break
        levels[column_to_climb(trees, values, levels, columns)] += 1
    return [
        [(levels[c], values[i][c]) if i in kept else None for c in columns]
        for i in range(len(rows))
    ]


# --- what is published of it -----------------------------------------------------------------


def precision(trees: Sequence[Tree], answer: Answer, columns: Sequence[int]) -> Fraction:
    """1 less the mean share of its hierarchy that a cell has climbed; a starred cell: all of it."""
    shares = []
    for line in answer:
        for c in columns:
            cell, height = line[c], len(trees[c]) - 1
            shares.append(Fraction(height if cell is None else cell[0], height))
    return 1 - sum(shares, Fraction(0)) / len(shares)


Text = str | None


def broken(
    published: Sequence[dict[str, Text]],
    constraints: Sequence[tuple[Sequence[str], int]],
    others: Sequence[str],
) -> list[tuple[Sequence[str], int]]:
    """The constraints that a published table breaks, by counting its texts.

    Nothing counts but rows starred in all columns of the constraint's component and in all `others`
    (the sensitive and plain columns): such rows need no company.
    """
    names = sorted({name for columns, _ in constraints for name in columns})
    coded = [(tuple(names.index(name) for name in columns), k) for columns, k in constraints]
    found = []
    for (columns, k), (places, _) in zip(constraints, coded, strict=True):
        part = next(p for p in components(coded) if any(one[0] == places for one in p))
        hidden = [*(names[c] for c in all_columns(part)), *others]
        classes: dict[tuple[Text, ...], list[bool]] = {}
        for row in published:
            exempt = all(row[name] == STAR for name in hidden)
            classes.setdefault(tuple(row[name] for name in columns), []).append(exempt)
        if any(len(exempt) < k and not all(exempt) for exempt in classes.values()):
            found.append((columns, k))
    return found
