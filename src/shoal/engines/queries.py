"""SQL for tables larger than memory, in the dialect that DuckDB and Spark share.

Every function returns the text of one query. Tables are those of a session: the raw one with the columns
p0, p1, ...; the encoded one (`engines.encode.EncodedTable`); the published one with labels q0, q1, ...
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

ENCODED = "encoded"
"""The name of the encoded table in a session."""
KEY_NUMBER = "person_number"
"""The column of a person's number in a key."""
PERSON = "u"
"""The column of the hash of a person's id."""
WEIGHT = "wt"
"""The column of a row's sampling weight, in millionths."""
WORD = "word"
"""The column of all codes of a row, packed."""
HASH = "r"
"""The column of the hash of a published row."""


class Selection(str):
    """SQL of some columns of a table, of which a session may read the files without SQL."""

    table: str
    columns: tuple[str, ...]


Asked = Literal[
    "rows",
    "first",
    "present",
    "count",
    "values",
    "combinations",
    "class sizes",
    "forms",
    "repeated",
    "alone",
    "squares",
    "known",
]
"""What a query asks for: rows that are kept, any rows, values that are not missing, the number of rows,
the values of columns and how often each occurs, their combinations, the sizes of classes, labels by
form, values that repeat, combinations of hashes that occur once or how often hashes do, or the rows
that have a value."""


class Described(str):
    """SQL and what it asks for, where a session may find that without SQL."""

    asked: Asked
    table: str
    columns: tuple[str, ...]
    kept: str | None
    """The column that is negative or missing in rows that are left out."""
    limit: int | None
    """The most rows of an answer."""
    sets: tuple[tuple[str, ...], ...] = ()
    """The sets of columns that are counted, where there may be several."""
    missing: int | None = None
    """The hash of a missing value, where these are left out."""


class NumberedRows(str):
    """SQL of the rows of a table whose key repeats, numbered among their equals, where a session may do
    that without SQL."""

    table: str
    columns: tuple[str, ...]
    key: str
    values: str
    """The table of the keys that repeat."""
    alike: tuple[str, ...]
    """Rows that are equal in these columns have one key."""
    by: tuple[str, ...]


def _described(
    sql: str,
    asked: Asked,
    table: str,
    columns: Sequence[str],
    kept: str | None = None,
    limit: int | None = None,
) -> Described:
    found = Described(sql)
    found.asked, found.table, found.columns = asked, table, tuple(columns)
    found.kept, found.limit = kept, limit
    return found


def select(table: str, columns: Sequence[str]) -> Selection:
    """Some columns of a table."""
    found = Selection(f"SELECT {', '.join(columns)} FROM {table}")
    found.table, found.columns = table, tuple(columns)
    return found


def some_rows(table: str, columns: Sequence[str], one_in: int, most: int) -> str:
    """About one row in so many, chosen by a hash of their values and so not by their order."""
    chosen = f"hash({', '.join(columns)}) % {one_in} = 0"
    return f"{select(table, columns)} WHERE {chosen} LIMIT {most}"


def count_negative_zeros(table: str, column: str) -> str:
    """Rows in which a column of floats is -0."""
    return f"{count_rows(table)} WHERE {column} = 0 AND CAST({column} AS STRING) LIKE '-%'"


def count_nan(table: str, column: str) -> str:
    """Rows in which a column of floats has what is no number.

    Not by a filter: by statistics of files, which leave it out, the database would read nothing.
    """
    return f"SELECT count(CASE WHEN isnan({column}) THEN 1 END) AS n FROM {table}"


def count_rows(table: str) -> str:
    """n: the rows of a table."""
    return _described(f"SELECT count(*) AS n FROM {table}", "count", table, ())


def count_missing(table: str, column: str) -> str:
    """n: the rows without a value."""
    return f"SELECT count(*) AS n FROM {table} WHERE {column} IS NULL"


def count_values(table: str, column: str) -> str:
    """n: the distinct values of a column, a missing one among them."""
    return f"SELECT count(*) AS n FROM (SELECT {column} FROM {table} GROUP BY {column}) AS found"


def value_counts(table: str, columns: Sequence[str], limit: int) -> str:
    """i: the position of a column among these, which share a type; v: a value of it; n: its rows.

    At most `limit` values per column are returned on average: where some are left out, at least one
    column has more than that.
    """
    parts = [
        f"SELECT {i} AS i, {column} AS v, count(*) AS n FROM {table} GROUP BY {column}"
        for i, column in enumerate(columns)
    ]
    most = len(parts) * limit
    sql = f"SELECT i, v, n FROM ({' UNION ALL '.join(parts)}) AS found LIMIT {most}"
    return _described(sql, "values", table, columns, limit=most)


def people_of_values(table: str, person: str, column: str, limit: int) -> str:
    """v: a value of a column, n: the people who have it in at least one row; the most frequent ones."""
    people = f"SELECT {column} AS v, count(DISTINCT {person}) AS n FROM {table} GROUP BY {column}"
    return f"SELECT v, n FROM ({people}) AS found ORDER BY n DESC LIMIT {limit}"


def count_combinations(
    table: str, columns: Sequence[str], limit: int | None = None, weights: bool = False
) -> str:
    """The distinct combinations of some columns, at most `limit`, and n: the rows of each; with
    `weights` also w: the sum of their sampling weights."""
    names = ", ".join(columns)
    most = "" if limit is None else f" LIMIT {limit}"
    total = f", CAST(sum({WEIGHT}) AS BIGINT) AS w" if weights else ""
    sql = f"SELECT {names}, count(*) AS n{total} FROM {table} GROUP BY {names}{most}"
    plain = limit is None and not weights
    return _described(sql, "combinations", table, columns) if plain else sql


def count_forms(table: str) -> str:
    """Labels by form and size: their rows, how many they are, and the places between which they lie."""
    sql = (
        "SELECT form, size, sum(n) AS n_rows, count(*) AS n_labels, min(low) AS low, "
        "max(high) AS high "
        f"FROM {table} GROUP BY form, size"
    )
    return _described(sql, "forms", table, ("form", "size", "n", "low", "high"))


def class_sizes(table: str, columns: Sequence[str], kept: str | None = None) -> str:
    """size: a number of rows that some class has, times: how many classes have it.

    Rows that are equal in the columns are one class; without columns all rows are. kept: the column
    that is negative in rows that are left out.
    """
    where = "" if kept is None else f" WHERE {kept} >= 0"
    alike = f" GROUP BY {', '.join(columns)}" if columns else ""
    sizes = f"SELECT count(*) AS n FROM {table}{where}{alike}"
    sql = f"SELECT n AS size, count(*) AS times FROM ({sizes}) AS found WHERE n > 0 GROUP BY n"
    return _described(sql, "class sizes", table, columns, kept) if columns else sql


def class_guesses(table: str, columns: Sequence[str], value: str) -> str:
    """size: rows of a class with a value, best: those with its commonest one, times: such classes."""
    names = ", ".join(columns)
    each = (
        f"SELECT {names}, count(*) AS n FROM {table} WHERE {value} >= 0 GROUP BY {names}, {value}"
    )
    sums = "CAST(sum(n) AS BIGINT) AS size, max(n) AS best"
    classes = f"SELECT {sums} FROM ({each}) AS found GROUP BY {names}"
    return f"SELECT size, best, count(*) AS times FROM ({classes}) AS guessed GROUP BY size, best"


def linked_through(table: str, first: Sequence[str], second: Sequence[str]) -> str:
    """linked: the sum over all rows of the rows equal in all columns, over those equal in the first
    times those equal in the second."""
    one, other = ", ".join(first), ", ".join(second)
    each = f"SELECT {one}, {other}, count(*) AS n FROM {table} GROUP BY {one}, {other}"
    sides = f"sum(n) OVER (PARTITION BY {one}) AS a, sum(n) OVER (PARTITION BY {other}) AS b"
    share = "CAST(n AS DOUBLE) / CAST(a AS DOUBLE) * CAST(n AS DOUBLE) / CAST(b AS DOUBLE)"
    return f"SELECT sum({share}) AS linked FROM (SELECT n, {sides} FROM ({each}) AS c) AS d"


def number_duplicates(
    table: str,
    columns: Sequence[str],
    key: str,
    values: str,
    alike: Sequence[str],
    by: Sequence[str],
) -> NumberedRows:
    """The columns of the rows whose key is in the table `values`, and nth: the number of each among
    those equal in `alike`, from 1 on. Rows that are equal in `alike` have one key.

    Which of the rows that are equal in `by` too gets which number is undefined.
    """
    over = f"PARTITION BY {', '.join(alike)} ORDER BY {', '.join(by)}"
    rows = rows_with(table, columns, key, values)
    sql = f"SELECT {', '.join(columns)}, row_number() OVER ({over}) AS nth FROM {rows}"
    found = NumberedRows(sql)
    found.table, found.columns, found.key, found.values = table, tuple(columns), key, values
    found.alike, found.by = tuple(alike), tuple(by)
    return found


def repeated_values(table: str, column: str) -> str:
    """The values of a column that several rows have."""
    sql = f"SELECT {column} FROM {table} GROUP BY {column} HAVING count(*) > 1"
    return _described(sql, "repeated", table, [column])


def count_repeated(table: str, column: str) -> str:
    """The values of a column that several rows have, and n: how many."""
    return f"SELECT {column}, count(*) AS n FROM {table} GROUP BY {column} HAVING count(*) > 1"


def count_as_frequent(counted: str, least: int) -> str:
    """n: the values that at least so many rows have, of counted ones."""
    return f"SELECT count(*) AS n FROM {counted} WHERE n >= {least}"


def frequent_values(counted: str, column: str, least: int) -> str:
    """The values that at least so many rows have, of counted ones."""
    return f"SELECT {column} FROM {counted} WHERE n >= {least}"


def rare_values(counted: str, column: str, least: int) -> str:
    """The values that fewer rows have, of counted ones."""
    return f"SELECT {column} FROM {counted} WHERE n < {least}"


def count_different(rows: str, columns: Sequence[str]) -> str:
    """n: the different combinations of some columns of rows, which are a table in SQL."""
    names = ", ".join(columns)
    return f"SELECT count(*) AS n FROM (SELECT {names} FROM {rows} GROUP BY {names}) AS found"


def rows_with(table: str, columns: Sequence[str], key: str, values: str) -> str:
    """The rows of a table whose key is among the values in another table, as a table in SQL."""
    shown = ", ".join(f"{table}.{column} AS {column}" for column in columns)
    found = f"SELECT {key} AS found FROM {values}"
    return f"(SELECT {shown} FROM {table} JOIN ({found}) AS keys ON {table}.{key} = keys.found) AS alike"


def rows_without(table: str, columns: Sequence[str], key: str, other: str) -> str:
    """The rows of a table whose key no row of another table has."""
    shown = ", ".join(f"{table}.{column} AS {column}" for column in columns)
    found = f"SELECT {key} AS found FROM {other} GROUP BY {key}"
    return (
        f"SELECT {shown} FROM {table} LEFT JOIN ({found}) AS keys ON {table}.{key} = keys.found "
        "WHERE keys.found IS NULL"
    )


# People: the rows of one person share the hash of the id; -1 stands for no id.


def count_ids(table: str) -> str:
    """n: all rows; missing: those without an id; people: the different ids."""
    people = f"SELECT {PERSON}, count(*) AS n FROM {table} GROUP BY {PERSON}"
    return (
        f"SELECT CAST(sum(n) AS BIGINT) AS n, count(CASE WHEN {PERSON} >= 0 THEN 1 END) AS people, "
        f"CAST(sum(CASE WHEN {PERSON} < 0 THEN n ELSE 0 END) AS BIGINT) AS missing "
        f"FROM ({people}) AS found"
    )


def people_with_values(table: str, columns: Mapping[str, int]) -> str:
    """i: the position of a column; v: a value other than its missing one, or NULL for any of them; n:
    the people who have it in some row."""
    parts = []
    for i, (column, missing) in enumerate(columns.items()):
        for value in (column, "NULL"):
            alike = PERSON if value == "NULL" else f"{PERSON}, {column}"
            pairs = f"SELECT {alike} FROM {table} WHERE {column} <> {missing} GROUP BY {alike}"
            by = "" if value == "NULL" else f" GROUP BY {column}"
            of = f"CAST({value} AS INTEGER) AS v"
            parts.append(f"SELECT {i} AS i, {of}, count(*) AS n FROM ({pairs}) AS pairs{by}")
    return " UNION ALL ".join(parts)


# Sampling weights: whole numbers, negative where a row has none.


def count_weights(table: str, faults: Sequence[int]) -> str:
    """n: all rows; fault1, fault2, …: those without a weight, by reason; total: the sum of all weights,
    as a floating-point number that cannot overflow."""
    each = (f"count(CASE WHEN {WEIGHT} = {one} THEN 1 END) AS fault{-one}" for one in faults)
    total = f"sum(CAST(CASE WHEN {WEIGHT} > 0 THEN {WEIGHT} ELSE 0 END AS DOUBLE)) AS total"
    return f"SELECT count(*) AS n, {', '.join(each)}, {total} FROM {table}"


def count_below(table: str, weight: int) -> str:
    """n: the rows with a smaller weight."""
    return f"SELECT count(*) AS n FROM {table} WHERE {WEIGHT} < {weight}"


def weighted_classes(table: str, columns: Sequence[str], where: str = "") -> str:
    """size: a number of rows that some class has, total: the sum of their weights, times: how many
    classes have both."""
    alike = f" GROUP BY {', '.join(columns)}" if columns else ""
    each = f"SELECT count(*) AS n, CAST(sum({WEIGHT}) AS BIGINT) AS w FROM {table}{where}{alike}"
    return (
        f"SELECT n AS size, w AS total, count(*) AS times FROM ({each}) AS found WHERE n > 0 "
        "GROUP BY n, w"
    )


def agreement_counts(table: str, ids: str, columns: Sequence[str], where: str) -> str:
    """How often rows of one id are equal in each of some columns: j, the column; size, a number of rows
    from 2 on that ids have; ids, how many have it; equal, the pairs of rows of one of them, both ways,
    that are equal in the column."""
    parts = []
    for j, column in enumerate(columns):
        pairs = f"SELECT {ids} AS who, count(*) AS n FROM {table} WHERE {where} GROUP BY {ids}, {column}"
        sums = "CAST(sum(n) AS BIGINT) AS size, CAST(sum(n * (n - 1)) AS BIGINT) AS same"
        sized = f"SELECT {sums} FROM ({pairs}) AS pairs GROUP BY who"
        parts.append(
            f"SELECT {j} AS j, size, count(*) AS ids, CAST(sum(same) AS BIGINT) AS equal "
            f"FROM ({sized}) AS sized WHERE size > 1 GROUP BY size"
        )
    return " UNION ALL ".join(parts)


def classes_of_ids(table: str, labels: Sequence[str], ids: str, where: str, least: int) -> str:
    """classes: the classes of some rows by their labels; below: those with fewer different ids than
    `least`. A row without an id (-1) counts as one of its own; rows with -2 are left out."""
    names = ", ".join(labels)
    pairs = (
        f"SELECT {names}, {ids} AS who, count(*) AS n FROM {table} WHERE {where} AND {ids} > -2 "
        f"GROUP BY {names}, {ids}"
    )
    different = "CAST(sum(CASE WHEN who < 0 THEN n ELSE 1 END) AS BIGINT) AS different"
    sizes = f"SELECT {different} FROM ({pairs}) AS pairs GROUP BY {names}"
    return (
        f"SELECT count(*) AS classes, count(CASE WHEN different < {least} THEN 1 END) AS below "
        f"FROM ({sizes}) AS sizes"
    )


# Published rows: the sums of each fragment stand in rows of their own, in the column `sums`.


def published_rows(table: str, columns: Sequence[str]) -> str:
    """The rows of the release, without the rows of sums and those that are withheld."""
    return _described(f"{select(table, columns)} WHERE g >= 0", "rows", table, columns, "g")


def published_cells(table: str, columns: Sequence[str]) -> str:
    """The same for a full-domain method, where `x` says what a row is."""
    return f"{select(table, columns)} WHERE x <= 1"


def present(table: str, column: str) -> str:
    """The values of a column that are not missing."""
    sql = f"{select(table, [column])} WHERE {column} IS NOT NULL"
    return _described(sql, "present", table, [column])


def count_unpaired(texts: str, people: str) -> str:
    """n: the rows by which two tables differ, by the hashes of their rows."""
    one, other = (f"SELECT {HASH}, {n} AS n FROM {of}" for n, of in ((1, texts), (-1, people)))
    sums = f"SELECT sum(n) AS more FROM ({one} UNION ALL {other}) AS both_tables GROUP BY {HASH}"
    return f"SELECT CAST(coalesce(sum(abs(more)), 0) AS BIGINT) AS n FROM ({sums}) AS found"


def pair_rows(texts: str, people: str, columns: Sequence[str]) -> str:
    """The columns of published rows with each person who has such rows, and n: how many.

    Rows with one hash are alike, so it does not matter which of them belongs to whom.
    """
    names = ", ".join(columns)
    rows = f"SELECT {HASH}, {names} FROM {texts} GROUP BY {HASH}, {names}"
    whose = (
        f"SELECT {HASH} AS of_row, {PERSON}, count(*) AS n FROM {people} GROUP BY {HASH}, {PERSON}"
    )
    return (
        f"SELECT {names}, {PERSON}, CAST(sum(n) AS BIGINT) AS n FROM ({rows}) AS alike "
        f"JOIN ({whose}) AS whose ON {HASH} = of_row GROUP BY {names}, {PERSON}"
    )


def classes_of_people(table: str, keys: Sequence[str], codes: Mapping[str, int]) -> str:
    """The different rows of the published table with people, b: the piece, and n: how many there are.

    codes: the sensitive columns, each with the code of a missing value, which becomes -1.
    """
    known = [
        f"CASE WHEN {column} = {missing} THEN -1 ELSE {column} END AS {column}"
        for column, missing in codes.items()
    ]
    alike, shown = (", ".join(["b", *keys, *of, PERSON]) for of in (codes, known))
    return f"SELECT {shown}, count(*) AS n FROM {table} WHERE g >= 0 GROUP BY {alike}"


def people_of_groups(table: str) -> str:
    """groups: how many there are in the release; smallest, largest, total: their people."""
    pairs = f"SELECT g, {PERSON} FROM {table} WHERE g >= 0 GROUP BY g, {PERSON}"
    sizes = f"SELECT g, count(*) AS n FROM ({pairs}) AS pairs GROUP BY g"
    return (
        "SELECT count(*) AS groups, min(n) AS smallest, max(n) AS largest, "
        f"CAST(sum(n) AS BIGINT) AS total FROM ({sizes}) AS sizes"
    )


def sum_rows(table: str) -> str:
    """n: the rows that those of a table stand for."""
    return f"SELECT CAST(coalesce(sum(n), 0) AS BIGINT) AS n FROM {table}"


def without_exempt(table: str, piece: str, exempt: str, keys: Sequence[str]) -> str:
    """The rows of classes of which some row is not exempt."""
    alike = ", ".join([piece, *keys])
    marked = f"SELECT *, min({exempt}) OVER (PARTITION BY {alike}) AS left_out FROM {table}"
    return f"SELECT * FROM ({marked}) AS marked WHERE left_out = 0"


def people_of_classes(table: str, keys: Sequence[str], sensitive: Sequence[str]) -> str:
    """The people of each class, those with a known value of a sensitive column, and those with each
    value: the keys, what (`ANYONE`, `KNOWN` + i, `HAS` + i), s, people; and n, the rows of a class,
    where what is `ANYONE`. A negative code is no value. Without keys all rows are one class."""
    wanted = [(ANYONE, "", "")]
    for i, column in enumerate(sensitive):
        wanted += [(KNOWN + i, "", column), (HAS + i, column, column)]
    parts = []
    for what, of, known in wanted:
        alike = [*keys, of] if of else [*keys]
        condition = f" WHERE {known} >= 0" if known else ""
        each = ", ".join([*alike, PERSON])
        people = f"SELECT {each}, sum(n) AS n FROM {table}{condition} GROUP BY {each}"
        counts = f"{of or 0} AS s, count(*) AS people, CAST(coalesce(sum(n), 0) AS BIGINT) AS n"
        shown = ", ".join([*keys, f"{what} AS what", counts])
        by = f" GROUP BY {', '.join(alike)}" if alike else ""
        parts.append(f"SELECT {shown} FROM ({people}) AS people{by}")
    return " UNION ALL ".join(parts)


def sizes_in_people(table: str, keys: Sequence[str], where: str = "") -> str:
    """The classes by the people in them, and the people by the smallest class that each is in:
    of_person (0 or 1), size, times, and of classes n, their rows."""
    alike = ", ".join([*keys, PERSON])
    pairs = f"SELECT {alike}, count(*) AS n FROM {table}{where} GROUP BY {alike}"
    over = f"PARTITION BY {', '.join(keys)}" if keys else ""
    sized = f"SELECT {PERSON}, n, count(*) OVER ({over}) AS size FROM ({pairs}) AS pairs"
    smallest = f"SELECT {PERSON}, min(size) AS size FROM ({sized}) AS sized GROUP BY {PERSON}"
    return (
        "SELECT 0 AS of_person, size, CAST(count(*) / size AS BIGINT) AS times, "
        f"CAST(sum(n) AS BIGINT) AS n FROM ({sized}) AS classes GROUP BY size "
        "UNION ALL SELECT 1 AS of_person, size, count(*) AS times, CAST(0 AS BIGINT) AS n "
        f"FROM ({smallest}) AS people GROUP BY size"
    )


def number_people(drawn: str) -> str:
    """The people of a table (`PERSON`, and r: a random word) with `KEY_NUMBER`: 1, 2, 3, … by r."""
    return f"SELECT {PERSON}, row_number() OVER (ORDER BY r, {PERSON}) AS {KEY_NUMBER} FROM {drawn}"


def people_in(table: str) -> str:
    """Every person of a table once."""
    return f"SELECT {PERSON} FROM {table} GROUP BY {PERSON}"


def with_numbers(rows: str, columns: Sequence[str], numbers: str) -> str:
    """The columns of published rows (SQL, with their `PERSON`), and the number of each person."""
    named = ", ".join([*columns, KEY_NUMBER])
    return (
        f"SELECT {named} FROM ({rows}) AS published JOIN (SELECT {PERSON} AS of_person, {KEY_NUMBER} "
        f"FROM {numbers}) AS numbers ON {PERSON} = of_person"
    )


def people_by_code(table: str, column: str) -> str:
    """code, and people: how many have it in some row."""
    pairs = f"SELECT {column} AS code, {PERSON} FROM {table} GROUP BY {column}, {PERSON}"
    return f"SELECT code, count(*) AS people FROM ({pairs}) AS pairs GROUP BY code"


def count_people(table: str) -> str:
    """n: the people of a table of rows' people."""
    return f"SELECT count(*) AS n FROM ({people_in(table)}) AS found"


def count_without_person(table: str) -> str:
    """n: the rows of a key that have no person."""
    return f"SELECT count(*) AS n FROM {table} WHERE {PERSON} < 0"


def count_published_people(table: str) -> str:
    """n: the people with a row in the release."""
    people = f"SELECT {PERSON} FROM {table} WHERE g >= 0 GROUP BY {PERSON}"
    return f"SELECT count(*) AS n FROM ({people}) AS found"


def squared_counts(table: str, code: str, missing: int) -> str:
    """Per group g: squares, the sum over its known values of their rows, squared."""
    counts = (
        f"SELECT g, count(*) AS n FROM {table} WHERE g >= 0 AND {code} >= 0 AND {code} <> {missing} "
        f"GROUP BY g, {code}"
    )
    return f"SELECT g, CAST(sum(n * n) AS BIGINT) AS squares FROM ({counts}) AS found GROUP BY g"


# Cuts of the encoded table, and the node of each row.


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
        """Cut a node; returns the numbers of the nodes below and above."""
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
        """SQL of a value that depends on the leaf of a row; NULL in leaves without one."""
        texts_of = {node: text for node, text in values.items() if node not in self.cuts}
        for node in reversed(self.cuts):  # children are younger than their parents
            cut, below, above = self.cuts[node]
            sides = texts_of.pop(below, "NULL"), texts_of.pop(above, "NULL")
            if sides != ("NULL", "NULL"):
                goes_below = below_or_at(cut, self.columns)
                texts_of[node] = f"CASE WHEN {goes_below} THEN {sides[0]} ELSE {sides[1]} END"
        return texts_of.get(0, "NULL")


def below_or_at(cut: Cut, columns: int) -> str:
    """SQL that is true for rows below a cut."""
    value = f"c{cut.column}"
    if cut.last is None:
        return f"{value} < {cut.code}"
    # the rows compared are equal in the column of the cut, so the order is decided by the others
    order = [(name, str(at)) for name, at in zip(_canonical(columns), cut.last, strict=True)]
    del order[cut.column]
    return f"({value} < {cut.code} OR ({value} = {cut.code} AND {_up_to(order)}))"


def with_leaves(tree: Tree, numbers: Mapping[int, int], columns: Sequence[str]) -> str:
    """All rows of the encoded table, `node` being the number of their leaf."""
    node = tree.case({leaf: str(number) for leaf, number in numbers.items()})
    return f"SELECT {node} AS node, {', '.join(columns)} FROM {ENCODED}"


def large_group_sizes(table: str, columns: Sequence[str]) -> str:
    """node, and kinds: the different rows of each, of counted rows."""
    names = ", ".join(["node", *columns])
    kinds = f"SELECT {names} FROM {table} GROUP BY {names}"
    return f"SELECT node, count(*) AS kinds FROM ({kinds}) AS found GROUP BY node"


def large_groups(table: str, columns: Sequence[str], nodes: Collection[int]) -> str:
    """The different rows of some nodes, and n: how many there are of each, of counted rows."""
    names = ", ".join(["node", *columns])
    wanted = ", ".join(map(str, nodes))
    return (
        f"SELECT {names}, CAST(sum(n) AS BIGINT) AS n FROM {table} WHERE node IN ({wanted}) "
        f"GROUP BY {names}"
    )


def move_rows(
    table: str,
    columns: int,
    cuts: Mapping[int, tuple[Cut, int | None, int | None]],
    kept: Mapping[str, str],
) -> str:
    """The rows of nodes that are cut, with their new node; sides that are None are left out. kept: the
    columns that go on, and their types.

    The cuts are joined as a table: nested CASE expressions of all of them would become a program too
    long for Java to compile.
    """
    order = _canonical(columns)
    none = (0,) * len(order)
    values = _values(
        (
            *(node, made.column, made.code, int(made.last is not None), *(made.last or none)),
            *(-1 if side is None else side for side in (below, above)),
        )
        for node, (made, below, above) in sorted(cuts.items())
    )
    heads = ["kn", "kj", "kc", "kp", *(f"x{j}" for j in range(len(order))), "kb", "ka"]
    goes_below, names = _goes_below(columns), ", ".join(kept)
    typed = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in kept.items())
    return (
        f"SELECT CAST(node AS INTEGER) AS node, {typed} FROM (SELECT CASE WHEN {goes_below} THEN kb "
        f"ELSE ka END AS node, {names} FROM {table} JOIN (VALUES {values}) "
        f"AS wanted({', '.join(heads)}) ON node = kn) AS moved WHERE node >= 0"
    )


def _goes_below(columns: int) -> str:
    """SQL that is true for rows below the cut that they are joined with: along column kj at code kc, and
    where kp = 1 through the rows of that code, the last below being x0, x1, ..."""
    value = " ".join(f"WHEN {j} THEN c{j}" for j in range(columns))
    value = f"CASE kj {value} END"
    return f"{value} < kc OR ({value} = kc AND kp = 1 AND {_up_to(_limits(_canonical(columns)))})"


# Histograms of the nodes, and of pieces of them.


def histograms(
    table: str, columns: int, spans: Mapping[int, Collection[int]], nodes: tuple[int, int]
) -> str:
    """Rows of each code of each column in each node from the first to the last of `nodes`, and the
    smallest and largest code of the columns `spans[j]` among them: j, node, v, n, l0, h0, l1, h1, ...;
    0 for other columns."""
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


def joint_histograms(
    table: str, nodes: Mapping[int, Collection[int]], sensitive: Collection[int]
) -> str:
    """Rows of each code of a column and each sensitive code, in the nodes nodes[j]:
    j, i, node, v, s, n."""
    return " UNION ALL ".join(
        f"SELECT {j} AS j, {i} AS i, node, c{j} AS v, s{i} AS s, count(*) AS n FROM {table} "
        f"WHERE node IN ({', '.join(map(str, wanted))}) GROUP BY node, c{j}, s{i}"
        for j, wanted in nodes.items()
        for i in sensitive
    )


def people_histograms(
    table: str,
    nodes: Mapping[int, Collection[int]],
    sensitive: Mapping[int, int],
) -> str:
    """People by the smallest and by the largest code that they have in a column, in the nodes nodes[j]:
    j, what, node, s, lo, hi, n; one of `lo` and `hi` is NULL.

    What is `ANYONE`: all people; `KNOWN` + i: those with a value of the sensitive column i, whose
    missing code is sensitive[i]; `HAS` + i: those with the value s of it.
    """
    parts = []
    for j, wanted in nodes.items():
        inside = f"node IN ({', '.join(map(str, wanted))})"
        for what, of, condition in _counted_people(sensitive):
            alike = f"node, {PERSON}{of and f', {of}'}"
            people = (
                f"SELECT node, {of or 0} AS s, min(c{j}) AS lo, max(c{j}) AS hi FROM {table} "
                f"WHERE {inside}{condition} GROUP BY {alike}"
            )
            parts.append(
                f"SELECT {j} AS j, {what} AS what, node, s, lo, hi, count(*) AS n "
                f"FROM ({people}) AS people GROUP BY GROUPING SETS ((node, s, lo), (node, s, hi))"
            )
    return " UNION ALL ".join(parts)


ANYONE, KNOWN, HAS = -1, 0, 1 << 20
"""What people are counted: all; from KNOWN on those with a known value, from HAS on those with one."""


def _counted_people(sensitive: Mapping[int, int]) -> list[tuple[int, str, str]]:
    """What is counted, the column whose values are counted apart, and a condition."""
    found = [(ANYONE, "", "")]
    for i, missing in sensitive.items():
        known = f" AND s{i} <> {missing}"
        found += [(KNOWN + i, "", known), (HAS + i, f"s{i}", known)]
    return found


def people_on_sides(
    table: str, columns: int, cuts: Mapping[int, tuple[int, Cut]], sensitive: Mapping[int, int]
) -> str:
    """The people below and above each cut of a node, by the number of the cut: part, what, s, below,
    above; see `people_histograms`."""
    order = _canonical(columns)
    none = (0,) * len(order)
    values = _values(
        (number, node, cut.column, cut.code, int(cut.last is not None), *(cut.last or none))
        for number, (node, cut) in sorted(cuts.items())
    )
    heads = ["part", "kn", "kj", "kc", "kp", *(f"x{j}" for j in range(len(order)))]
    names = [PERSON, *(f"s{i}" for i in sensitive)]
    rows = (
        f"SELECT part, CASE WHEN {_goes_below(columns)} THEN 0 ELSE 1 END AS side, "
        f"{', '.join(names)} FROM {table} JOIN (VALUES {values}) AS wanted({', '.join(heads)}) "
        "ON node = kn"
    )
    parts = []
    for what, of, condition in _counted_people(sensitive):
        people = (
            f"SELECT part, {of or 0} AS s, min(side) AS lo, max(side) AS hi FROM ({rows}) AS sides "
            f"WHERE side >= 0{condition} GROUP BY part, {PERSON}{of and f', {of}'}"
        )
        parts.append(
            f"SELECT part, {what} AS what, s, CAST(sum(1 - lo) AS BIGINT) AS below, "
            f"CAST(sum(hi) AS BIGINT) AS above FROM ({people}) AS people GROUP BY part, s"
        )
    return " UNION ALL ".join(parts)


class Piece(NamedTuple):
    """Rows of a node that have one code in a column, and the same first codes c0, c1, ..."""

    number: int
    node: int
    column: int
    code: int
    first: tuple[int, ...] = ()
    last: tuple[int, ...] | None = None
    """Where given, the piece is split: up to this row (c0, ..., key, h) it is 2 * number, then + 1."""
    keys: tuple[int, int] | None = None
    """Where given, how wide parts of the keys are, and the part in which the rows' keys lie."""


def piece_counts(table: str, pieces: Iterable[Piece], columns: Sequence[str]) -> str:
    """Rows of each combination of codes of some columns in each piece: part, v0, v1, ..., n."""
    names = ", ".join(columns)
    named = ", ".join(f"{name} AS v{i}" for i, name in enumerate(columns))
    inner = _pieces(table, pieces, columns)
    return f"SELECT part, {named}, count(*) AS n FROM ({inner}) AS parts GROUP BY part, {names}"


def key_counts(table: str, pieces: Iterable[Piece], width: int) -> str:
    """Rows of each piece in each part of the keys, parts in order: part, v0, n."""
    inner, of = _pieces(table, pieces, ["key"]), _part_of_keys(width)
    return f"SELECT part, {of} AS v0, count(*) AS n FROM ({inner}) AS parts GROUP BY part, {of}"


def _part_of_keys(width: int) -> str:
    """SQL of the part of a key; keys in order have parts in order."""
    return f"CAST(floor(CAST(key AS DOUBLE) / CAST({width} AS DOUBLE)) AS BIGINT)"


def nth_rows(table: str, columns: int, pieces: Iterable[Piece], places: Mapping[int, int]) -> str:
    """One row of each piece, by its position (from 1) in canonical order: part, c0, ..., key, h."""
    names = _canonical(columns)
    order = ", ".join(names)
    return (
        f"SELECT part, {order} FROM (SELECT part, {order}, "
        f"row_number() OVER (PARTITION BY part ORDER BY {order}) AS nth "
        f"FROM ({_pieces(table, pieces, names)}) AS parts) AS ranked "
        f"JOIN (VALUES {_values(places.items())}) AS wanted(kn, place) ON part = kn AND nth = place"
    )


def piece_spans(table: str, columns: int, pieces: Iterable[Piece], sets: Collection[int]) -> str:
    """The smallest and largest code of each piece and column, and all codes of the columns `sets`:
    part, l0, h0, ..., m1, ..."""
    names = [f"c{j}" for j in range(columns)]
    found = [f"min({name}) AS l{j}, max({name}) AS h{j}" for j, name in enumerate(names)]
    found += [f"array_agg(DISTINCT c{j}) AS m{j}" for j in sets]
    inner = _pieces(table, pieces, names)
    return f"SELECT part, {', '.join(found)} FROM ({inner}) AS parts GROUP BY part"


def _pieces(table: str, pieces: Iterable[Piece], names: Sequence[str]) -> str:
    """The rows of all pieces, `part` being their number; a row is in one piece of a column."""
    alike: dict[tuple[int, int, bool, int], list[Piece]] = {}
    for piece in pieces:
        width = 0 if piece.keys is None else piece.keys[0]
        kind = piece.column, len(piece.first), piece.last is not None, width
        alike.setdefault(kind, []).append(piece)
    return " UNION ALL ".join(_pieces_alike(table, *kind, of, names) for kind, of in alike.items())


def _pieces_alike(
    table: str,
    column: int,
    known: int,
    split: bool,
    width: int,
    pieces: list[Piece],
    names: Sequence[str],
) -> str:
    """The rows of pieces along one column that are described by equally many codes."""
    heads = ["part", "kn", "kc", *(f"k{j}" for j in range(known)), *(["kp"] if width else [])]
    part = "part"
    if split:
        last = pieces[0].last
        assert last is not None
        heads += [f"x{j}" for j in range(len(last))]
        side = _up_to(_limits(_canonical(len(last) - 2)))
        part = f"CASE WHEN {side} THEN 2 * part ELSE 2 * part + 1 END AS part"
    values = _values(
        (p.number, p.node, p.code, *p.first, *(p.keys or ())[1:], *(p.last or ())) for p in pieces
    )
    same = "".join(f" AND c{j} = k{j}" for j in range(known))
    same += f" AND {_part_of_keys(width)} = kp" if width else ""
    return (
        f"SELECT {part}, {', '.join(names)} FROM {table} JOIN (VALUES {values}) "
        f"AS wanted({', '.join(heads)}) ON node = kn AND c{column} = kc{same}"
    )


def _values(rows: Iterable[Iterable[int]]) -> str:
    return ", ".join(f"({', '.join(map(str, row))})" for row in rows)


def _canonical(columns: int) -> list[str]:
    """The columns of the canonical order."""
    return [*(f"c{j}" for j in range(columns)), "key", "h"]


def _limits(order: Sequence[str]) -> list[tuple[str, str]]:
    """Columns of an order, each with the column x0, x1, ... that it is compared with."""
    return [(name, f"x{j}") for j, name in enumerate(order)]


def _up_to(order: Sequence[tuple[str, str]]) -> str:
    """SQL that is true for rows up to a limit; `order` holds each column and its limit."""
    *before, (last, limit) = order
    side = f"{last} <= {limit}"
    for name, limit in reversed(before):
        side = f"({name} < {limit} OR ({name} = {limit} AND {side}))"
    return side


# What a release discloses: rows that are alone on some columns, and columns that give others away.


def compared(place: str, is_float: bool) -> str:
    """SQL of a column's value as it is compared: NaN is missing, -0 is 0."""
    return f"CASE WHEN isnan({place}) THEN NULL ELSE {place} + 0.0 END" if is_float else place


def owned_rows(words: str, people: str, columns: Sequence[str]) -> str:
    """The columns of hashed rows, and the person of each.

    Rows with one hash are alike, so it does not matter which of them is whose.
    """
    names = ", ".join(columns)
    once = f"SELECT {HASH} AS kr, {names} FROM {words} GROUP BY {HASH}, {names}"
    return f"SELECT {PERSON}, {names} FROM ({once}) AS once JOIN {people} ON {HASH} = kr"


def count_alone(table: str, sets: Sequence[Sequence[str]], person: str, missing: int | None) -> str:
    """i: the position of a set of columns; n: the rows that no other equals in all of them, or the
    people who have such a row that nobody else has.

    missing: rows with this value in the first column of the set are left out.
    """
    parts = []
    for i, columns in enumerate(sets):
        where = "" if missing is None else f" WHERE {columns[0]} <> {missing}"
        alike = f"FROM {table}{where} GROUP BY {', '.join(columns)}"
        if person:
            single = f"SELECT min({person}) AS who {alike} HAVING min({person}) = max({person})"
            parts.append(f"SELECT {i} AS i, count(DISTINCT who) AS n FROM ({single}) AS single")
        else:
            single = f"SELECT 1 AS one {alike} HAVING count(*) = 1"
            parts.append(f"SELECT {i} AS i, count(*) AS n FROM ({single}) AS single")
    sql = " UNION ALL ".join(parts)
    if person:
        return sql
    found = _described(sql, "alone", table, list(dict.fromkeys(c for one in sets for c in one)))
    found.sets, found.missing = tuple(map(tuple, sets)), missing
    return found


def count_known(table: str, columns: Sequence[str], person: str, missing: int) -> str:
    """n0, n1, ...: the rows, or people, with a value in each of some columns."""
    counted = f"DISTINCT CASE WHEN {{}} <> {missing} THEN {person or 1} END"
    counted = counted if person else counted.removeprefix("DISTINCT ")
    known = (f"count({counted.format(column)}) AS n{i}" for i, column in enumerate(columns))
    sql = f"SELECT {', '.join(known)} FROM {table}"
    if person:
        return sql
    found = _described(sql, "known", table, columns)
    found.missing = missing
    return found


def count_linked(table: str, column: str, person: str, missing: int) -> str:
    """several: the people with several rows that have a value; differ: those with several values."""
    found = (
        f"SELECT count(*) AS n, CASE WHEN min({column}) <> max({column}) THEN 1 ELSE 0 END AS d "
        f"FROM {table} WHERE {column} <> {missing} GROUP BY {person}"
    )
    return (
        "SELECT count(CASE WHEN n > 1 THEN 1 END) AS several, count(CASE WHEN d = 1 THEN 1 END) AS "
        f"differ FROM ({found}) AS found"
    )


def count_squares(table: str, column: str) -> str:
    """d: the distinct values of a column of hashes; squares: the sum of their rows, squared."""
    counts = f"SELECT count(*) AS n FROM {table} GROUP BY {column}"
    sql = f"SELECT count(*) AS d, CAST(sum(n * n) AS BIGINT) AS squares FROM ({counts}) AS found"
    found = _described(sql, "squares", table, [column])
    found.sets = ((column,),)
    return found


def first_rows(table: str, columns: Sequence[str], limit: int) -> str:
    """Any rows of a table, at most `limit`."""
    return _described(
        f"{select(table, columns)} LIMIT {limit}", "first", table, columns, limit=limit
    )


def codes_of_values(table: str, value: str, code: str, missing: int) -> str:
    """v: a value; low and high: the lowest and the highest code that goes with it; n: its rows."""
    return (
        f"SELECT {value} AS v, min({code}) AS low, max({code}) AS high, count(*) AS n FROM {table} "
        f"WHERE {value} IS NOT NULL AND {code} <> {missing} GROUP BY {value}"
    )


def mapping_counts(table: str, value: str, code: str, missing: int) -> str:
    """d: values; several: those that go with several codes; c: the lowest codes that go with any; n:
    rows."""
    found = codes_of_values(table, value, code, missing)
    return (
        f"SELECT count(*) AS d, sum(CASE WHEN low <> high THEN 1 ELSE 0 END) AS several, "
        f"count(DISTINCT low) AS c, sum(n) AS n FROM ({found}) AS found"
    )


def squares_of_codes(table: str, value: str, code: str, missing: int) -> str:
    """n: the sum over all codes that go with any value of their rows, squared."""
    counts = (
        f"SELECT count(*) AS times FROM {table} WHERE {value} IS NOT NULL AND {code} <> {missing} "
        f"GROUP BY {code}"
    )
    return f"SELECT CAST(sum(times * times) AS BIGINT) AS n FROM ({counts}) AS counts"


def count_repeats(table: str, value: str) -> str:
    """d: the different values of a column; n: rows that have one."""
    return f"SELECT count(DISTINCT {value}) AS d, count({value}) AS n FROM {table}"
