"""Questions about the cells of a coded table."""

from collections.abc import Sequence


def cells(table: str, codes: Sequence[str], most: int) -> str:
    """The different combinations of codes, at most so many, and n: rows with each."""
    names = ", ".join(codes)
    return f"SELECT {names}, count(*) AS n FROM {table} GROUP BY {names} LIMIT {most}"


def told_rows(table: str, labels: Sequence[str]) -> str:
    """told: what is told of fragments, one text each; and with no text, size: rows that some
    combination of labels has among people, times: how many combinations have it."""
    alike = f"WHERE told IS NULL GROUP BY {', '.join(labels)}"
    return (
        f"SELECT told, 0 AS size, 0 AS times FROM {table} WHERE told IS NOT NULL "
        f"UNION ALL SELECT NULL AS told, n AS size, count(*) AS times "
        f"FROM (SELECT count(*) AS n FROM {table} {alike}) AS found GROUP BY n"
    )


def people(table: str, columns: Sequence[str]) -> str:
    """The rows that are people."""
    return f"SELECT {', '.join(columns)} FROM {table} WHERE told IS NULL"


def squares(table: str, code: str, missing: int) -> str:
    """Per group g: squares, the sum over its known values of their rows, squared."""
    counts = (
        f"SELECT g, count(*) AS n FROM {table} WHERE g >= 0 AND {code} >= 0 AND {code} <> {missing} "
        f"GROUP BY g, {code}"
    )
    return f"SELECT g, CAST(sum(n * n) AS BIGINT) AS squares FROM ({counts}) AS found GROUP BY g"
