"""Columns that a draft cannot judge: plain by name and values, but telling beside what is published.

A release hides each person in a group of k who read alike in the quasi-identifiers. A plain column is
published beside that, and whoever knows its value looks for the one of the group who has it. So a
column is judged by the share of people who would be alone with their value in a group of k drawn from
the table: the sum over all values of p (1 - p)^(k - 1), p being the share of a value. Two balanced
values leave 6 % of the people alone in groups of 5, five leave 41 %.

Columns stay plain as long as all of them together leave next to nobody alone, the least telling first.
The others are `undecided`, which stops a run until somebody decides who may know them.
"""

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Ints
from shoal.errors import percent
from shoal.risk.columns import Contents, Suggestion
from shoal.risk.table import CountedTable

K = 5
"""The k of a draft, and so the size of groups here."""
NEXT_TO_NOTHING = 0.001
"""The share of people that plain columns may leave alone in their groups. A rare value leaves everybody
alone who has it, so it must be very few: an illness of one person in a hundred is not plain."""


def with_undecided(
    table: CountedTable, contents: Sequence[Contents], suggested: Sequence[Suggestion]
) -> tuple[list[Suggestion], dict[str, float]]:
    """The suggested roles, `undecided` where plain columns would single people out; and the share of
    people whom each undecided or plain column would leave alone in a group."""
    found = list(suggested)
    plain = [i for i, one in enumerate(found) if one.role == "plain" and contents[i].distinct]
    alone = {contents[i].name: alone_in_a_group(contents[i]) for i in plain}
    # the least telling first, which does not depend on the order of columns; equal ones by name
    plain.sort(key=lambda i: (round(alone[contents[i].name], 9), contents[i].name))
    kept: list[str] = []
    for i in plain:
        name, share = contents[i].name, alone[contents[i].name]
        if share < NEXT_TO_NOTHING and _together(table, [*kept, name]) < NEXT_TO_NOTHING:
            kept.append(name)
            continue
        why = f"{found[i].reason}; it would leave {percent(share)} alone in groups of {K}"
        found[i] = Suggestion("undecided", "kept", why)
    return found, alone


def alone_in_a_group(column: Contents) -> float:
    """The share of rows that would be alone with their value in a group of K rows."""
    times = np.ones(len(column.counts), np.int64) if column.times is None else column.times
    return _alone(column.counts, times)


def _together(table: CountedTable, names: Sequence[str]) -> float:
    return _alone(*table.class_sizes(names))


def _alone(sizes: Ints, times: Ints) -> float:
    shares = sizes / max(1, int((sizes * times).sum()))
    return float((times * shares * (1 - shares) ** (K - 1)).sum())
