"""Questions about the cells of a coded table."""

from collections.abc import Sequence


def cells(table: str, codes: Sequence[str], most: int) -> str:
    """The different combinations of codes, at most so many, and n: rows with each."""
    names = ", ".join(codes)
    return f"SELECT {names}, count(*) AS n FROM {table} GROUP BY {names} LIMIT {most}"
