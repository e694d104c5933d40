"""What is asked of a coded table, in SQL that every session understands.

`node` tells which rows belong together. Small lists of what is looked for come along as VALUES and are
joined: that costs a row one look, where a long CASE would compare it with every item.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from shoal.engines.large.tree import Cut, Tree, below_or_at

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


def tally(table: str, pieces: Iterable[Piece], column: str) -> str:
    """Rows of each code of a column in each piece: part, v, n."""
    inner = _pieces(table, pieces, [column])
    return (
        f"SELECT part, {column} AS v, count(*) AS n FROM ({inner}) AS parts GROUP BY part, {column}"
    )


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
    """The rows of nodes that are cut, with their new node; None is for sides that are left out."""
    texts = {
        node: f"CASE WHEN {below_or_at(made, columns)} THEN {_or_null(below)} "
        f"ELSE {_or_null(above)} END"
        for node, (made, below, above) in cuts.items()
    }
    names = ", ".join(kept)
    return (
        f"SELECT CAST(node AS BIGINT) AS node, {names} FROM (SELECT {_found(sorted(texts), texts)} "
        f"AS node, {names} FROM {table}) AS moved WHERE node IS NOT NULL"
    )


def numbered(tree: Tree, numbers: Mapping[int, int], columns: Sequence[str]) -> str:
    """All rows of the coded table, the node being the number of their leaf."""
    node = tree.case({leaf: str(number) for leaf, number in numbers.items()})
    return f"SELECT {node} AS node, {', '.join(columns)} FROM {CODED}"


def _found(nodes: list[int], texts: Mapping[int, str]) -> str:
    """The text for a row's node, searched for by halving."""
    if len(nodes) == 1:
        return f"CASE WHEN node = {nodes[0]} THEN {texts[nodes[0]]} END"
    half = len(nodes) // 2
    below, above = _found(nodes[:half], texts), _found(nodes[half:], texts)
    return f"CASE WHEN node < {nodes[half]} THEN {below} ELSE {above} END"


def _or_null(node: int | None) -> str:
    return "NULL" if node is None else str(node)


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
        order = _canonical(len(last) - 2)
        side = f"{order[-1]} <= x{len(last) - 1}"
        for j in reversed(range(len(last) - 1)):
            side = f"({order[j]} < x{j} OR ({order[j]} = x{j} AND {side}))"
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
