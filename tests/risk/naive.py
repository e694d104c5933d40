"""The counting of the risk room, done plainly: a Counter over whole rows."""

from collections import Counter
from itertools import combinations


def unique(rows):
    """Rows that no other row equals."""
    times = Counter(rows)
    return sum(times[row] == 1 for row in rows)


def on(table, columns):
    """The rows of a table of lists, cut down to some columns."""
    n = len(next(iter(table.values()))) if table else 0
    return [tuple(table[name][i] for name in columns) for i in range(n)]


def smallest_sets(table, names, share, largest):
    """(size, {columns: unique rows}) at the first size with a set that reaches the share."""
    n = len(on(table, names))
    for size in range(1, largest + 1):
        counted = {chosen: unique(on(table, chosen)) for chosen in combinations(names, size)}
        reaching = {c: u for c, u in counted.items() if u and u >= share * n}
        if reaching:
            return size, reaching
    return None, {}
