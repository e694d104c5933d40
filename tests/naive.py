"""Slow, plain twins of what the package does fast: the tests' oracle.

Lists, dicts and whole numbers only, and nothing of the package itself: a twin that shared a line
with what it checks would share its mistakes. Speed does not matter here, being obvious does.

Words used throughout:
- a column is a dict: `range_column`, `set_column` and `tree_column` below make the three kinds;
- `rows` is a list of tuples of codes, one code per column, sorted; equal rows stand side by side;
- a group is an ascending list of row numbers; the methods return lists of groups, in any order;
- `holds(group)` says whether a group meets the requirement; none below `min_rows` rows does.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any

UNIT = 1 << 28

Column = dict[str, Any]
Row = tuple[int, ...]
Group = list[int]
Holds = Callable[[Group], bool]
Cut = tuple[Group, Group]


# --- columns and what their labels cost -----------------------------------------------------


def range_column(positions: Sequence[int]) -> Column:
    """Generalises to intervals; positions[code] is the code's place in 0..UNIT, rising."""
    return {"kind": "range", "positions": list(positions)}


def set_column(size: int) -> Column:
    """Generalises to sets of its `size` codes."""
    return {"kind": "set", "size": size}


def tree_column(nodes: Sequence[Sequence[int]]) -> Column:
    """Generalises to the nodes of a tree; nodes[level][code], codes at level 0, one root on top."""
    return {"kind": "tree", "nodes": [list(level) for level in nodes]}


def weighed(column: Column, share: float) -> Column:
    """The same column, whose losses count by this share."""
    return {**column, "share": share}


def covered(column: Column, codes: Sequence[int]) -> int:
    """How many codes lie under the lowest node over the smallest and the largest of `codes`."""
    low, high = min(codes), max(codes)
    for level in column["nodes"]:
        if level[low] == level[high]:
            return sum(node == level[low] for node in level)
    raise AssertionError("a tree has one root")


def cost(column: Column, codes: Sequence[int]) -> int:
    """What the label over these codes costs one row: 0 for a single code, UNIT at most."""
    share = column.get("share", 1)
    if len(set(codes)) == 1:
        return 0
    if column["kind"] == "range":
        low, high = (round(column["positions"][end] * share) for end in (min(codes), max(codes)))
        return min(round(UNIT * share), high - low)
    if column["kind"] == "set":
        return round(len(set(codes)) * UNIT // int(column["size"]) * share)
    return round(covered(column, codes) * UNIT // len(column["nodes"][0]) * share)


def exact_cost(column: Column, codes: Sequence[int]) -> Fraction:
    """The same as a share of 1, without the rounding of `cost`."""
    if len(set(codes)) == 1:
        return Fraction(0)
    if column["kind"] == "range":
        places = column["positions"]
        return min(Fraction(1), Fraction(places[max(codes)] - places[min(codes)], UNIT))
    if column["kind"] == "set":
        return Fraction(len(set(codes)), column["size"])
    return Fraction(covered(column, codes), len(column["nodes"][0]))


def codes_in(rows: Sequence[Row], group: Group, dimension: int) -> list[int]:
    """The group's codes in one column."""
    return [rows[i][dimension] for i in group]


def label_cost(columns: Sequence[Column], rows: Sequence[Row], group: Group) -> int:
    """What the group's label costs one row, over all columns."""
    return sum(cost(column, codes_in(rows, group, d)) for d, column in enumerate(columns))


def loss(columns: Sequence[Column], rows: Sequence[Row], group: Group) -> int:
    """What the group's label costs all its rows."""
    return len(group) * label_cost(columns, rows, group)


# --- cuts -----------------------------------------------------------------------------------


def rounded_sizes(n: int, k: int) -> tuple[int, int]:
    """Rows below and above the rounded cut of n = a*k + b rows."""
    a, b = divmod(n, k)
    lower = (a + 1) // 2 * k + (b + 1) // 2
    return lower, n - lower


def cut_after(rows: Sequence[Row], group: Group, dimension: int, lower: int) -> Cut:
    """The group sorted by its code in the dimension, equal codes by row, cut after `lower` rows."""
    ordered = sorted(group, key=lambda i: (rows[i][dimension], i))
    return sorted(ordered[:lower]), sorted(ordered[lower:])


def rounded_cut(rows: Sequence[Row], group: Group, dimension: int, k: int) -> Cut:
    """The rounded cut of the group along one dimension."""
    return cut_after(rows, group, dimension, rounded_sizes(len(group), k)[0])


def value_cuts(rows: Sequence[Row], group: Group, dimension: int) -> list[Cut]:
    """Every cut between two neighbouring codes that the group holds in the dimension, ascending."""
    present = sorted({rows[i][dimension] for i in group})
    return [
        (
            [i for i in group if rows[i][dimension] < boundary],
            [i for i in group if rows[i][dimension] >= boundary],
        )
        for boundary in present[1:]
    ]


def by_width(columns: Sequence[Column], rows: Sequence[Row], group: Group) -> list[int]:
    """The dimensions, the one in which the group's own label costs most first."""
    width = [cost(column, codes_in(rows, group, d)) for d, column in enumerate(columns)]
    return sorted(range(len(columns)), key=lambda d: (-width[d], d))


def by_loss(columns: Sequence[Column], rows: Sequence[Row], cuts: list[Cut]) -> list[Cut]:
    """The cuts by the loss of both sides; the sort is stable, so ties keep the order given."""
    return sorted(cuts, key=lambda cut: sum(loss(columns, rows, side) for side in cut))


def first_held(cuts: list[Cut], holds: Holds) -> Cut | None:
    """The first cut whose two sides both hold."""
    for lower, upper in cuts:
        if holds(lower) and holds(upper):
            return lower, upper
    return None


def divide(group: Group, min_rows: int, choose: Callable[[Group, int], Cut | None]) -> list[Group]:
    """Cut a group, then its sides, until `choose(group, depth)` finds no cut or it is too small."""
    done: list[Group] = []
    waiting = [(sorted(group), 0)] if group else []
    while waiting:
        part, depth = waiting.pop()
        cut = choose(part, depth) if len(part) >= 2 * min_rows else None
        if cut is None:
            done.append(part)
        else:
            waiting += [(side, depth + 1) for side in cut]
    return done


# --- the methods ----------------------------------------------------------------------------


def flexible_parts(
    columns: Sequence[Column],
    rows: Sequence[Row],
    group: Group,
    min_rows: int,
    holds: Holds,
    dimension: str = "least-loss",
) -> list[Group]:
    """The rounded partition of one group of the table."""

    def choose(part: Group, _depth: int) -> Cut | None:
        if dimension == "widest":
            order = by_width(columns, rows, part)
            return first_held([rounded_cut(rows, part, d, min_rows) for d in order], holds)
        cuts = [rounded_cut(rows, part, d, min_rows) for d in range(len(columns))]
        return first_held(by_loss(columns, rows, cuts), holds)

    return divide(group, min_rows, choose)


def flexible(
    columns: Sequence[Column],
    rows: Sequence[Row],
    min_rows: int,
    holds: Holds,
    dimension: str = "least-loss",
) -> list[Group]:
    """Rounded partition: sides of whole multiples of k, so that no group grows past need."""
    return flexible_parts(columns, rows, list(range(len(rows))), min_rows, holds, dimension)


def least_loss(
    columns: Sequence[Column], rows: Sequence[Row], min_rows: int, holds: Holds, n_total: int
) -> list[Group]:
    """Any value boundary of any dimension, the least loss first; else the best rounded cut."""
    at_most = -(-n_total // min_rows)
    deep = 4 * (max(2, at_most) - 1).bit_length() + 16

    def allowed(cut: Cut, depth: int) -> bool:
        smaller, n = min(len(side) for side in cut), sum(len(side) for side in cut)
        return smaller >= min_rows and (depth < deep or 4 * smaller >= n)

    def choose(part: Group, depth: int) -> Cut | None:
        dimensions = range(len(columns))
        cuts = [c for d in dimensions for c in value_cuts(rows, part, d) if allowed(c, depth)]
        found = first_held(by_loss(columns, rows, cuts), holds)
        if found is None:
            rounded = [rounded_cut(rows, part, d, min_rows) for d in dimensions]
            found = first_held(by_loss(columns, rows, rounded), holds)
        return found

    return divide(list(range(len(rows))), min_rows, choose)


def mondrian(
    columns: Sequence[Column],
    rows: Sequence[Row],
    min_rows: int,
    holds: Holds,
    strict: bool,
    published: bool = False,
) -> list[Group]:
    """The widest dimension cut at its median; strict cuts keep equal values together.

    published: rows at the median, of two medians the lower, lie below.
    """

    def median_cuts(part: Group, d: int) -> list[Cut]:
        if not strict:
            return [cut_after(rows, part, d, len(part) - len(part) // 2)]
        if published:
            median = sorted(rows[i][d] for i in part)[(len(part) - 1) // 2]
            below = [i for i in part if rows[i][d] <= median]
            above = [i for i in part if rows[i][d] > median]
            return [(below, above)] if min(len(below), len(above)) >= min_rows else []
        cuts = value_cuts(rows, part, d)
        cuts.sort(key=lambda cut: (abs(2 * len(cut[0]) - len(part)), len(cut[0])))
        return [cut for cut in cuts[:1] if min(len(side) for side in cut) >= min_rows]

    def choose(part: Group, _depth: int) -> Cut | None:
        order = by_width(columns, rows, part)
        return first_held([cut for d in order for cut in median_cuts(part, d)], holds)

    return divide(list(range(len(rows))), min_rows, choose)


def bottom_up(
    columns: Sequence[Column],
    rows: Sequence[Row],
    min_rows: int,
    holds: Holds,
    split: Callable[[Group], list[Group]] | None = None,
    by_union: bool = False,
) -> list[Group] | None:
    """Xu et al. 2006: grow every group that does not hold by the neighbour that costs least.

    split: the parts of a group of 2k rows or more, all of which hold; by default its rounded partition.
    by_union: whether the neighbour is the one whose union loses least, not the one that adds least. None
    when even the whole table does not hold. `live` maps a group's creation number to its rows and is
    always walked in the order of these numbers.
    """
    live: dict[int, Group] = {}
    next_number = 0

    def create(group: Group) -> None:
        nonlocal next_number
        live[next_number] = sorted(group)
        next_number += 1

    def split_one(group: Group) -> list[Group]:
        if split is not None:
            return split(group)
        return flexible_parts(columns, rows, group, min_rows, holds)

    def split_large() -> None:
        for number in sorted(live):
            if len(live[number]) >= 2 * min_rows:
                parts = split_one(live[number])
                if len(parts) > 1:
                    del live[number]
                    for part in sorted(parts, key=min):
                        create(part)

    def growth(a: Group, b: Group) -> int:
        before = 0 if by_union else loss(columns, rows, a) + loss(columns, rows, b)
        return loss(columns, rows, a + b) - before

    for distinct in sorted(set(rows)):
        create([i for i, row in enumerate(rows) if row == distinct])
    split_large()
    while len(live) > 1 and not all(holds(group) for group in live.values()):
        for number in sorted(live):
            if number not in live or holds(live[number]) or len(live) == 1:
                continue
            group = live.pop(number)
            partner = min(live, key=lambda other: (growth(group, live[other]), other))
            create(group + live.pop(partner))
        split_large()
    groups = list(live.values())
    return groups if all(holds(group) for group in groups) else None


# --- metrics --------------------------------------------------------------------------------


def ncp_sum(columns: Sequence[Column], rows: Sequence[Row], groups: Sequence[Group]) -> float:
    """The loss of every cell, 0 to 1 each, added up."""
    total = Fraction(0)
    for group in groups:
        for d, column in enumerate(columns):
            total += len(group) * exact_cost(column, codes_in(rows, group, d))
    return float(total)


def ncp_mean(columns: Sequence[Column], rows: Sequence[Row], groups: Sequence[Group]) -> float:
    """The mean loss of a cell, over the rows in groups."""
    n_cells = len(columns) * sum(len(group) for group in groups)
    return ncp_sum(columns, rows, groups) / n_cells if n_cells else 0.0


def dm(groups: Sequence[Group], suppressed: int = 0) -> int:
    """Every row costs the size of its group; a suppressed one the size of the table."""
    n = sum(len(group) for group in groups) + suppressed
    return sum(len(group) ** 2 for group in groups) + suppressed * n


def cm(groups: Sequence[Group], labels: Sequence[Any]) -> int:
    """Rows whose class is not the commonest of their group."""
    return sum(
        len(group) - max(Counter(labels[i] for i in group).values()) for group in groups if group
    )


# --- published text -------------------------------------------------------------------------

MISSING = "<missing>"
Piece = tuple[str, bool]
"""One character of a label, and whether it stands for itself (was escaped)."""


def pieces(text: str) -> list[Piece]:
    """The characters of a label without the backslashes that escape them."""
    found: list[Piece] = []
    characters = iter(text)
    for character in characters:
        found.append((next(characters), True) if character == "\\" else (character, False))
    return found


def plain(found: Sequence[Piece]) -> str:
    """The characters alone."""
    return "".join(character for character, _ in found)


def split_at(found: Sequence[Piece], separator: str) -> list[list[Piece]]:
    """The pieces between the separators that were not escaped."""
    parts: list[list[Piece]] = [[]]
    for piece in found:
        if piece == (separator, False):
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts


def members(inner: Sequence[Piece]) -> set[str | None]:
    """The values of a set label between its braces; None for the missing value."""
    found: set[str | None] = set()
    for position, part in enumerate(split_at(inner, ",")):
        member = list(part)
        if position:
            assert member[0] == (" ", False), "members are set apart by a comma and a space"
            member = member[1:]
        found.add(None if member == pieces(MISSING) else plain(member))
    return found


def place(text: str, order: Sequence[str] | None) -> Any:
    """Where a value of an ordered column stands: its rank, its number or its moment."""
    if order is not None:
        return order.index(text)
    try:
        return Fraction(text)
    except ValueError:
        return datetime.fromisoformat(text)


def inside(
    label: str | None,
    raw: str | None,
    tree: Mapping[str, set[str]] | None = None,
    order: Sequence[str] | None = None,
) -> bool:
    """Whether a raw value lies within a published label.

    `tree` gives the leaves under each node of a hierarchy by the node's text, `order` the values of
    a column of ordered words, lowest first. Without them the label must speak for itself.
    """
    if label is None:
        return raw is None
    if label == "*":
        return True
    found = pieces(label)
    if found[:1] == [("{", False)] and found[-1] == ("}", False):
        return raw in members(found[1:-1])
    if raw is None:
        return False
    if tree is not None and label in tree:
        return raw in tree[label]
    if found[:1] == [("[", False)] and found[-1] == ("]", False):
        low, high = (place(plain(end), order) for end in split_at(found[1:-1], "~"))
        return bool(low <= place(raw, order) <= high)
    half_open = re.fullmatch(r"\[(-?[\d.]+)-(-?[\d.]+)\)", label)
    if half_open:
        return Fraction(half_open[1]) <= Fraction(raw) < Fraction(half_open[2])
    return under_mask(found, raw)


def under_mask(found: Sequence[Piece], raw: str) -> bool:
    """Whether a label with stars on one side covers a text; without stars, whether it is the text.

    A star hides one character at most: texts may be shorter than the longest one of their column.
    """
    stars = found.count(("*", False))
    kept = plain([piece for piece in found if piece != ("*", False)])
    fits = raw.endswith(kept) if found[:1] == [("*", False)] else raw.startswith(kept)
    return fits and len(kept) <= len(raw) <= len(kept) + stars


def counts_by_class(
    published: Sequence[Sequence[str | None]], qi: Sequence[int]
) -> Counter[tuple[str | None, ...]]:
    """How many published rows share each combination of quasi-identifier texts."""
    return Counter(tuple(row[i] for i in qi) for row in published)


def distinct_by_class(
    published: Sequence[Sequence[str | None]], qi: Sequence[int], of: int
) -> dict[tuple[str | None, ...], int]:
    """How many different values of column `of` each class shows; neither missing nor `*` is one."""
    seen: dict[tuple[str | None, ...], set[str]] = {}
    for row in published:
        values = seen.setdefault(tuple(row[i] for i in qi), set())
        value = row[of]
        if value is not None and value != "*":
            values.add(value)
    return {key: len(values) for key, values in seen.items()}
