"""Columns that a draft cannot judge: plain by their name and values, but telling in numbers.

A column of few values whose name says nothing is drafted `plain`. One such column singles out nobody,
thirty of them everybody. The least informative columns stay plain as long as hardly a row is unique on
all of them together; the others are `undecided`, which stops a run until somebody decides who may know
them.
"""

from collections.abc import Sequence

from shoal.risk.columns import Contents, Suggestion
from shoal.risk.table import CountedTable

NEXT_TO_NOTHING = 0.01
"""The share of rows or people that plain columns may make unique together."""
WHY = "{} different values; with the plain columns it singles people out, so decide who may know it"


def with_undecided(
    table: CountedTable, contents: Sequence[Contents], suggested: Sequence[Suggestion]
) -> list[Suggestion]:
    """The suggested roles, `undecided` where plain columns would single people out together."""
    found = list(suggested)
    plain = [i for i, one in enumerate(found) if one.role == "plain" and contents[i].distinct > 1]
    limit = NEXT_TO_NOTHING * table.units

    def is_too_much(places: Sequence[int]) -> bool:
        unique = table.unique_rows([contents[i].name for i in places])
        return unique > 0 and unique >= limit

    if not plain or not is_too_much(plain):
        return found
    # by information, which does not depend on the order of columns; equal ones by name
    plain.sort(key=lambda i: (round(contents[i].entropy, 9), contents[i].name))
    kept: list[int] = []
    for i in plain:
        if is_too_much([*kept, i]):
            break
        kept.append(i)
    for i in plain[len(kept) :]:
        found[i] = Suggestion("undecided", "kept", WHY.format(f"{contents[i].distinct:,}"))
    return found
