"""What is asked of a coded table, in SQL that every session understands."""

from collections.abc import Collection, Mapping, Sequence

from shoal.engines.large.tree import Tree

CODED = "coded"


def histograms(
    tree: Tree,
    nodes: Collection[int],
    spans: Mapping[int, Sequence[int]],
) -> str:
    """Rows of each code of some columns in some leaves, and of the columns `spans[j]` the smallest
    and largest code among them: j, node, v, n, l0, h0, l1, h1, ...; where not asked these are 0."""
    node = tree.case({n: str(n) for n in nodes})
    d = tree.columns
    parts = []
    for j, others in spans.items():
        ends = ", ".join(
            f"min(c{i}) AS l{i}, max(c{i}) AS h{i}" if i in others else f"0 AS l{i}, 0 AS h{i}"
            for i in range(d)
        )
        inner = _rows(node, "node", [f"c{i}" for i in sorted({j, *others})])
        parts.append(
            f"SELECT {j} AS j, node, c{j} AS v, count(*) AS n, {ends} FROM {inner} "
            f"WHERE node IS NOT NULL GROUP BY node, c{j}"
        )
    return " UNION ALL ".join(parts)


def joint(tree: Tree, nodes: Mapping[int, Collection[int]], sensitive: Collection[int]) -> str:
    """Rows of each code of a column and each sensitive code, in the leaves nodes[j]:
    j, i, node, v, s, n."""
    parts = []
    for j, asked in nodes.items():
        node = tree.case({n: str(n) for n in asked})
        for i in sensitive:
            inner = _rows(node, "node", [f"c{j}", f"s{i}"])
            parts.append(
                f"SELECT {j} AS j, {i} AS i, node, c{j} AS v, s{i} AS s, count(*) AS n FROM {inner} "
                f"WHERE node IS NOT NULL GROUP BY node, c{j}, s{i}"
            )
    return " UNION ALL ".join(parts)


def tally(tree: Tree, parts: Sequence[Mapping[int, str]], column: str) -> str:
    """Rows of each code of a column in parts of the table: part, v, n.

    parts: maps of leaves to SQL that gives the number of the part, or NULL; a row may lie in one
    part of each map.
    """
    inner = _parts(tree, parts, [column])
    return (
        f"SELECT part, {column} AS v, count(*) AS n FROM ({inner}) AS parts GROUP BY part, {column}"
    )


def nth(tree: Tree, parts: Sequence[Mapping[int, str]], places: Mapping[int, int]) -> str:
    """One row of each part, by its place (from 1) in canonical order: part, c0, ..., key, h."""
    names = [*(f"c{j}" for j in range(tree.columns)), "key", "h"]
    order = ", ".join(names)
    wanted = " OR ".join(f"(part = {part} AND nth = {at})" for part, at in places.items())
    return (
        f"SELECT part, {order} FROM (SELECT part, {order}, "
        f"row_number() OVER (PARTITION BY part ORDER BY {order}) AS nth "
        f"FROM ({_parts(tree, parts, names)}) AS parts) AS numbered WHERE {wanted}"
    )


def spans(tree: Tree, parts: Sequence[Mapping[int, str]], sets: Collection[int]) -> str:
    """Of each part and column the smallest and largest code; of the columns `sets` all codes:
    part, l0, h0, ..., m1, ..."""
    names = [f"c{j}" for j in range(tree.columns)]
    found = [f"min({name}) AS l{j}, max({name}) AS h{j}" for j, name in enumerate(names)]
    found += [f"array_agg(DISTINCT c{j}) AS m{j}" for j in sets]
    inner = _parts(tree, parts, names)
    return f"SELECT part, {', '.join(found)} FROM ({inner}) AS parts GROUP BY part"


def numbered(tree: Tree, numbers: Mapping[int, int], columns: Sequence[str]) -> str:
    """All rows, the node being the number of their leaf."""
    node = tree.case({leaf: str(number) for leaf, number in numbers.items()})
    return f"SELECT {node} AS node, {', '.join(columns)} FROM {CODED}"


def _parts(tree: Tree, parts: Sequence[Mapping[int, str]], names: Sequence[str]) -> str:
    return " UNION ALL ".join(
        f"SELECT part, {', '.join(names)} FROM {_rows(tree.case(values), 'part', names)} "
        "WHERE part IS NOT NULL"
        for values in parts
    )


def _rows(value: str, name: str, names: Sequence[str]) -> str:
    return f"(SELECT {value} AS {name}, {', '.join(names)} FROM {CODED}) AS seen"
