"""Questions about the cells of a coded table."""

from collections.abc import Sequence


def cells(table: str, codes: Sequence[str], most: int) -> str:
    """The different combinations of codes, at most so many, and n: rows with each."""
    names = ", ".join(codes)
    return f"SELECT {names}, count(*) AS n FROM {table} GROUP BY {names} LIMIT {most}"


def told_rows(table: str) -> str:
    """What is told of fragments, one text each."""
    return f"SELECT told FROM {table} WHERE told IS NOT NULL"


def people(table: str, columns: Sequence[str]) -> str:
    """The rows that are people."""
    return f"SELECT {', '.join(columns)} FROM {table} WHERE told IS NULL"


def classes(table: str, columns: Sequence[str]) -> str:
    """n: the different combinations of some columns."""
    names = ", ".join(columns)
    return f"SELECT count(*) AS n FROM (SELECT {names} FROM {table} GROUP BY {names}) AS found"
