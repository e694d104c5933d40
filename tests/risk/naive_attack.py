"""A linkage attack, done plainly: every known person against every row."""

from collections import Counter
from statistics import median

from tests import naive


def linked(table, known, names, of, covers):
    """People linked, pinned to a row and to a value, fewest and median candidates, best guess."""
    values = Counter(row[of] for row in table if row[of] not in (None, "*"))
    base = max(values.values(), default=0) / len(table)
    sizes, pinned, expected = [], 0, []
    for person in known:
        found = [row for row in table if all(covers(n, row[n], person[n]) for n in names)]
        sizes.append(len(found))
        told = Counter(row[of] for row in found if row[of] not in (None, "*"))
        most = max(told.values(), default=0)
        pinned += bool(found) and most == len(found)
        expected.append(most / len(found) if most else base)
    some = [size for size in sizes if size]
    return {
        "linked": len(some),
        "pinned": sizes.count(1),
        "pinned_value": pinned,
        "smallest": min(some, default=None),
        "median": median(some) if some else None,
        "base_rate": base,
        "best_guess": sum(expected) / len(expected),
    }


def equal(_, ours, theirs):
    return ours == theirs


def inside(_, label, value):
    return naive.inside(label, value)
