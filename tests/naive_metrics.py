"""Slow, plain twins of the metrics, cell by cell as the textbooks define them.

A release is a list of rows, and a row a list of cells, one per quasi-identifier. A cell is the code of
the raw value and the codes that its label covers; a cell that was published as it was covers None.
A column is a dict: its `kind`, its number of codes `size`, the code `missing` of the missing value (or
-1), and the place of each code in `units`. Nothing of the package is used.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

Column = dict[str, Any]
Cell = tuple[int, tuple[int, ...] | None]
Row = list[Cell]


def covered(cell: Cell) -> tuple[int, ...]:
    """The codes that a reader must reckon with."""
    raw, codes = cell
    return (raw,) if codes is None else codes


def width(column: Column, codes: Sequence[int]) -> float:
    """How many units or values a label stands for."""
    if column["kind"] != "range":
        return len(codes)
    known = [code for code in codes if code != column["missing"]]
    if len(known) < len(codes):
        known = [code for code in range(column["size"]) if code != column["missing"]]
    return column["units"][max(known)] - column["units"][min(known)] + 1


def loss(columns: Sequence[Column], release: Sequence[Row], weights: Sequence[float]) -> float:
    """L: the width of every label that is not the raw value, weighted."""
    total = 0.0
    for row in release:
        for column, weight, (_, codes) in zip(columns, weights, row, strict=True):
            if codes is not None:
                total += weight * width(column, codes)
    return total


def general_losses(columns: Sequence[Column], release: Sequence[Row]) -> list[float]:
    """Per column (sum of shares - N/H) / (N - N/H)."""
    found = []
    for j, column in enumerate(columns):
        size, n = column["size"], len(release)
        shares = sum(len(covered(row[j])) / size for row in release)
        found.append(0.0 if size == 1 else (shares - n / size) / (n - n / size))
    return found


def geometric(losses: Sequence[float]) -> float:
    """The d-th root of the product of v + 1, minus 1."""
    product = 1.0
    for value in losses:
        product *= value + 1
    return product ** (1 / len(losses)) - 1


def entropy(release: Sequence[Row]) -> tuple[float, float]:
    """Bits lost, and bits lost if every cell were suppressed."""
    lost = most = 0.0
    for j in range(len(release[0])):
        rows = Counter(row[j][0] for row in release)
        for row in release:
            raw = row[j][0]
            lost += math.log2(sum(rows[code] for code in covered(row[j])) / rows[raw])
            most += math.log2(len(release) / rows[raw])
    return lost, most


Ask = tuple[int, set[int], tuple[float, float] | None]
"""A column, the codes asked for and, in an ordered column, the first and last place asked for."""


def answer(columns: Sequence[Column], row: Row, query: Sequence[Ask]) -> float:
    """The chance that a published row is asked for, were every value under its labels as likely."""
    chance = 1.0
    for j, codes, ends in query:
        column, cell = columns[j], row[j]
        known = [code for code in covered(cell) if code != column["missing"]]
        if column["kind"] != "range":
            chance *= sum(code in codes for code in covered(cell)) / len(covered(cell))
        elif not known:
            return 0.0
        else:
            assert ends is not None
            if len(known) < len(covered(cell)):
                known = [code for code in range(column["size"]) if code != column["missing"]]
            low, high = column["units"][min(known)], column["units"][max(known)]
            common = min(high, ends[1]) - max(low, ends[0]) + 1
            chance *= max(0, common) / (high - low + 1)
    return chance


def query_error(
    columns: Sequence[Column],
    release: Sequence[Row],
    withheld: Sequence[bool],
    queries: Sequence[Sequence[Ask]],
) -> float:
    """The mean of |answer - truth| / max(truth, 0.1 % of the rows, 1)."""
    errors = []
    for query in queries:
        truth = sum(all(row[j][0] in codes for j, codes, _ in query) for row in release)
        told = sum(
            answer(columns, row, query)
            for row, gone in zip(release, withheld, strict=True)
            if not gone
        )
        errors.append(abs(told - truth) / max(truth, len(release) / 1000, 1))
    return sum(errors) / len(errors)
