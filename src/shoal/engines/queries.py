"""Cuts of cuts of a coded table, and the SQL that tells in which part a row lies."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Cut(NamedTuple):
    """Below go the rows with a smaller code in a column, and some with the same code."""

    column: int
    code: int
    last: tuple[int, ...] | None
    """The last of those with the same code that go below, in canonical order (c0, c1, ..., key, h);
    None if all of them go above."""


@dataclass
class Tree:
    """Node 0 holds all rows; a node that is cut has two nodes of its own."""

    columns: int
    """Quasi-identifiers of the table."""
    cuts: dict[int, tuple[Cut, int, int]] = field(default_factory=dict)
    """Per node that is cut: the cut, the node below and the node above."""

    def cut(self, node: int, cut: Cut) -> tuple[int, int]:
        """Cut a node; gives the numbers of the nodes below and above."""
        below = 2 * len(self.cuts) + 1
        self.cuts[node] = cut, below, below + 1
        return below, below + 1

    def leaves(self) -> list[int]:
        """The nodes that are not cut, depth first, below before above."""
        found, left = [], [0]
        while left:
            node = left.pop()
            if node in self.cuts:
                _, below, above = self.cuts[node]
                left += [above, below]
            else:
                found.append(node)
        return found

    def case(self, values: Mapping[int, str]) -> str:
        """SQL of a value that depends on the leaf a row lies in; NULL in leaves without any."""
        made = {node: text for node, text in values.items() if node not in self.cuts}
        for node in reversed(self.cuts):  # children are younger than their parents
            cut, below, above = self.cuts[node]
            texts = made.pop(below, "NULL"), made.pop(above, "NULL")
            if texts != ("NULL", "NULL"):
                goes_below = below_or_at(cut, self.columns)
                made[node] = f"CASE WHEN {goes_below} THEN {texts[0]} ELSE {texts[1]} END"
        return made.get(0, "NULL")


def below_or_at(cut: Cut, columns: int) -> str:
    """SQL that is true for rows below a cut."""
    at = f"c{cut.column}"
    if cut.last is None:
        return f"{at} < {cut.code}"
    return (
        f"({at} < {cut.code} OR ({at} = {cut.code} AND {not_after(cut.last, columns, cut.column)}))"
    )


def not_after(last: tuple[int, ...], columns: int, same: int) -> str:
    """SQL that is true for rows up to one in canonical order, all being equal in the column `same`."""
    names = [*(f"c{j}" for j in range(columns)), "key", "h"]
    text = f"h <= {last[-1]}"
    for j in reversed(range(len(names) - 1)):
        if j != same:
            text = f"({names[j]} < {last[j]} OR ({names[j]} = {last[j]} AND {text}))"
    return text


# Questions about the columns of a raw table, and about rows that look alike.


def tally(table: str, column: str, most: int) -> str:
    """v: a value of a column, n: rows that hold it; of at most so many values."""
    return f"SELECT {column} AS v, count(*) AS n FROM {table} GROUP BY {column} LIMIT {most}"


def tallies(table: str, columns: Sequence[str], most: int) -> str:
    """i: the place of a column among some of one type, v: a value of it, n: rows that hold it.

    At most so many values are told per column on average: if some are left out, then one column has
    more than that.
    """
    parts = [
        f"SELECT {i} AS i, {column} AS v, count(*) AS n FROM {table} GROUP BY {column}"
        for i, column in enumerate(columns)
    ]
    return f"SELECT i, v, n FROM ({' UNION ALL '.join(parts)}) AS found LIMIT {len(parts) * most}"


def how_many(table: str, column: str) -> str:
    """n: the different values of a column, a missing one among them."""
    return f"SELECT count(*) AS n FROM (SELECT {column} FROM {table} GROUP BY {column}) AS found"


def rows_of(table: str, columns: Sequence[str]) -> str:
    """Some columns of a table."""
    return f"SELECT {', '.join(columns)} FROM {table}"


def numbered(table: str, columns: Sequence[str], alike: Sequence[str]) -> str:
    """The columns, and nth: the number of each row among those that are alike, from 1 on.

    Which of them gets which number is left open.
    """
    over = f"PARTITION BY {', '.join(alike)} ORDER BY {alike[-1]}"
    return f"SELECT {', '.join(columns)}, row_number() OVER ({over}) AS nth FROM {table}"


def how_many_rows(table: str) -> str:
    """n: the rows of a table."""
    return f"SELECT count(*) AS n FROM {table}"


def counted(table: str, columns: Sequence[str]) -> str:
    """The different combinations of some columns, and n: how often each occurs."""
    named = ", ".join(columns)
    return f"SELECT {named}, count(*) AS n FROM {table} GROUP BY {named}"


def class_sizes(table: str, columns: Sequence[str]) -> str:
    """size: a number of rows that some class has, times: how many classes have it.

    Rows that are equal in the columns are one class; without columns all rows are.
    """
    alike = f" GROUP BY {', '.join(columns)}" if columns else ""
    sizes = f"SELECT count(*) AS n FROM {table}{alike}"
    return f"SELECT n AS size, count(*) AS times FROM ({sizes}) AS found WHERE n > 0 GROUP BY n"


def how_many_missing(table: str, column: str) -> str:
    """n: the rows without a value."""
    return f"SELECT count(*) AS n FROM {table} WHERE {column} IS NULL"


# Questions about the cells of a coded table.


def cells(table: str, codes: Sequence[str], most: int) -> str:
    """The different combinations of codes, at most so many, and n: rows with each."""
    names = ", ".join(codes)
    return f"SELECT {names}, count(*) AS n FROM {table} GROUP BY {names} LIMIT {most}"


def measures_of_fragments(table: str, labels: Sequence[str]) -> str:
    """measures: those of the fragments, one text each; and with no text, size: rows that some
    combination of labels has among people, times: how many combinations have it."""
    alike = f"WHERE measures IS NULL GROUP BY {', '.join(labels)}"
    return (
        f"SELECT measures, 0 AS size, 0 AS times FROM {table} WHERE measures IS NOT NULL "
        f"UNION ALL SELECT NULL AS measures, n AS size, count(*) AS times "
        f"FROM (SELECT count(*) AS n FROM {table} {alike}) AS found GROUP BY n"
    )


def people(table: str, columns: Sequence[str]) -> str:
    """The rows that are people."""
    return f"SELECT {', '.join(columns)} FROM {table} WHERE measures IS NULL"


def squares(table: str, code: str, missing: int) -> str:
    """Per group g: squares, the sum over its known values of their rows, squared."""
    counts = (
        f"SELECT g, count(*) AS n FROM {table} WHERE g >= 0 AND {code} >= 0 AND {code} <> {missing} "
        f"GROUP BY g, {code}"
    )
    return f"SELECT g, CAST(sum(n * n) AS BIGINT) AS squares FROM ({counts}) AS found GROUP BY g"


# What is asked of a coded table, in SQL that every session understands.


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


def piece_tally(table: str, pieces: Iterable[Piece], columns: Sequence[str]) -> str:
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


def with_leaves(tree: Tree, numbers: Mapping[int, int], columns: Sequence[str]) -> str:
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
