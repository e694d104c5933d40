"""Cuts of cuts of a coded table, and the SQL that tells in which part a row lies."""

from collections.abc import Mapping
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
