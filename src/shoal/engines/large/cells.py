"""Questions about the cells of a coded table."""

from collections.abc import Sequence


def cells(table: str, codes: Sequence[str], most: int) -> str:
    """The different combinations of codes, at most so many, and n: rows with each."""
    names = ", ".join(codes)
    return f"SELECT {names}, count(*) AS n FROM {table} GROUP BY {names} LIMIT {most}"


def told_rows(table: str, labels: Sequence[str]) -> str:
    """told: what is told of fragments, one text each; and once, with no text, n: the different
    combinations of labels among people."""
    names = ", ".join(labels)
    alike = f"SELECT {names} FROM {table} WHERE told IS NULL GROUP BY {names}"
    return (
        f"SELECT told, 0 AS n FROM {table} WHERE told IS NOT NULL "
        f"UNION ALL SELECT NULL AS told, count(*) AS n FROM ({alike}) AS found"
    )


def people(table: str, columns: Sequence[str]) -> str:
    """The rows that are people."""
    return f"SELECT {', '.join(columns)} FROM {table} WHERE told IS NULL"
