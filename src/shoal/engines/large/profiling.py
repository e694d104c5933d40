"""Questions about the columns of a raw table, and about rows that look alike."""

from collections.abc import Sequence


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
