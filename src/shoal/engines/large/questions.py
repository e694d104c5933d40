"""What is asked of a coded table, in SQL that every session understands.

`node` tells which rows belong together. Small lists of what is looked for come along as VALUES and are
joined: that costs a row one look, where a long CASE would compare it with every item.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from shoal.engines.large.tree import Cut, Tree

CODED = "coded"


class Piece(NamedTuple):
    """Rows of a node that have one code in a column, and the same first codes c0, c1, ..."""

    number: int
    node: int
    column: int
    code: int
    first: tuple[int, ...] = ()
    last: tuple[int, ...] | None = None
    """Where given, the piece is two: up to this row (c0, ..., key, h) it is 2 * number, then + 1."""


def histograms(
    table: str, columns: int, spans: Mapping[int, Collection[int]], nodes: tuple[int, int]
) -> str:
    """Rows of each code of each column in each node from the first to the last of `nodes`, and of the
    columns `spans[j]` the smallest and largest code among them: j, node, v, n, l0, h0, l1, h1, ...;
    where not asked these are 0."""
    parts = []
    for j, others in spans.items():
        ends = ", ".join(
            f"min(c{i}) AS l{i}, max(c{i}) AS h{i}" if i in others else f"0 AS l{i}, 0 AS h{i}"
            for i in range(columns)
        )
        parts.append(
            f"SELECT {j} AS j, node, c{j} AS v, count(*) AS n, {ends} FROM {table} "
            f"WHERE node BETWEEN {nodes[0]} AND {nodes[1]} GROUP BY node, c{j}"
        )
    return " UNION ALL ".join(parts)


def joint(table: str, nodes: Mapping[int, Collection[int]], sensitive: Collection[int]) -> str:
    """Rows of each code of a column and each sensitive code, in the nodes nodes[j]:
    j, i, node, v, s, n."""
    return " UNION ALL ".join(
        f"SELECT {j} AS j, {i} AS i, node, c{j} AS v, s{i} AS s, count(*) AS n FROM {table} "
        f"WHERE node IN ({', '.join(map(str, asked))}) GROUP BY node, c{j}, s{i}"
        for j, asked in nodes.items()
        for i in sensitive
    )


def tally(table: str, pieces: Iterable[Piece], columns: Sequence[str]) -> str:
    """Rows of each combination of codes of some columns in each piece: part, v0, v1, ..., n."""
    names = ", ".join(columns)
    found = ", ".join(f"{name} AS v{i}" for i, name in enumerate(columns))
    inner = _pieces(table, pieces, columns)
    return f"SELECT part, {found}, count(*) AS n FROM ({inner}) AS parts GROUP BY part, {names}"


def nth(table: str, columns: int, pieces: Iterable[Piece], places: Mapping[int, int]) -> str:
    """One row of each piece, by its place (from 1) in canonical order: part, c0, ..., key, h."""
    names = _canonical(columns)
    order = ", ".join(names)
    wanted = ", ".join(f"({number}, {place})" for number, place in places.items())
    return (
        f"SELECT part, {order} FROM (SELECT part, {order}, "
        f"row_number() OVER (PARTITION BY part ORDER BY {order}) AS nth "
        f"FROM ({_pieces(table, pieces, names)}) AS parts) AS ranked "
        f"JOIN (VALUES {wanted}) AS wanted(kn, place) ON part = kn AND nth = place"
    )


def spans(table: str, columns: int, pieces: Iterable[Piece], sets: Collection[int]) -> str:
    """Of each piece and column the smallest and largest code; of the columns `sets` all codes:
    part, l0, h0, ..., m1, ..."""
    names = [f"c{j}" for j in range(columns)]
    found = [f"min({name}) AS l{j}, max({name}) AS h{j}" for j, name in enumerate(names)]
    found += [f"array_agg(DISTINCT c{j}) AS m{j}" for j in sets]
    inner = _pieces(table, pieces, names)
    return f"SELECT part, {', '.join(found)} FROM ({inner}) AS parts GROUP BY part"


def cut(
    table: str,
    columns: int,
    cuts: Mapping[int, tuple[Cut, int | None, int | None]],
    kept: Sequence[str],
) -> str:
    """The rows of nodes that are cut, with their new node; None is for sides that are left out.

    The cuts are joined: as a CASE of cases they would make a program so long that Java does not
    compile it.
    """
    order = _canonical(columns)
    none = (0,) * len(order)
    values = ", ".join(
        f"({', '.join(map(str, (node, *made[:2], int(made.last is not None), *(made.last or none))))},"
        f" {_number(below)}, {_number(above)})"
        for node, (made, below, above) in sorted(cuts.items())
    )
    heads = ["kn", "kj", "kc", "kp", *(f"x{j}" for j in range(len(order))), "kb", "ka"]
    value = " ".join(f"WHEN {j} THEN c{j}" for j in range(columns))
    value = f"CASE kj {value} END"
    goes_below = f"{value} < kc OR ({value} = kc AND kp = 1 AND {_up_to(order)})"
    names = ", ".join(kept)
    return (
        f"SELECT CAST(node AS BIGINT) AS node, {names} FROM (SELECT CASE WHEN {goes_below} THEN kb "
        f"ELSE ka END AS node, {names} FROM {table} JOIN (VALUES {values}) "
        f"AS wanted({', '.join(heads)}) ON node = kn) AS moved WHERE node >= 0"
    )


def numbered(tree: Tree, numbers: Mapping[int, int], columns: Sequence[str]) -> str:
    """All rows of the coded table, the node being the number of their leaf."""
    node = tree.case({leaf: str(number) for leaf, number in numbers.items()})
    return f"SELECT {node} AS node, {', '.join(columns)} FROM {CODED}"


def _number(node: int | None) -> int:
    return -1 if node is None else node


def _up_to(order: Sequence[str]) -> str:
    """SQL that is true for rows up to x0, x1, ... in an order."""
    last = len(order) - 1
    side = f"{order[last]} <= x{last}"
    for j in reversed(range(last)):
        side = f"({order[j]} < x{j} OR ({order[j]} = x{j} AND {side}))"
    return side


def _canonical(columns: int) -> list[str]:
    return [*(f"c{j}" for j in range(columns)), "key", "h"]


def _pieces(table: str, pieces: Iterable[Piece], names: Sequence[str]) -> str:
    """The rows of all pieces; a row lies in one piece of a column."""
    alike: dict[tuple[int, int, bool], list[Piece]] = {}
    for piece in pieces:
        kind = piece.column, len(piece.first), piece.last is not None
        alike.setdefault(kind, []).append(piece)
    return " UNION ALL ".join(_branch(table, *kind, found, names) for kind, found in alike.items())


def _branch(
    table: str, column: int, known: int, parted: bool, pieces: list[Piece], names: Sequence[str]
) -> str:
    heads = ["part", "kn", "kc", *(f"k{j}" for j in range(known))]
    part = "part"
    if parted:
        last = pieces[0].last
        assert last is not None
        heads += [f"x{j}" for j in range(len(last))]
        side = _up_to(_canonical(len(last) - 2))
        part = f"CASE WHEN {side} THEN 2 * part ELSE 2 * part + 1 END AS part"
    values = ", ".join(
        f"({', '.join(map(str, (p.number, p.node, p.code, *p.first, *(p.last or ()))))})"
        for p in pieces
    )
    same = "".join(f" AND c{j} = k{j}" for j in range(known))
    return (
        f"SELECT {part}, {', '.join(names)} FROM {table} JOIN (VALUES {values}) "
        f"AS wanted({', '.join(heads)}) ON node = kn AND c{column} = kc{same}"
    )
