"""Columns that follow from others: copies in other words, functions, and totals.

- A pair is a copy if each value of one goes with one value of the other and vice versa (`education` and
  `education-num`), or if both ascend together or in opposite directions (`wage` and its logarithm).
  Publishing both, one gives the other away, however coarse that is: the draft leaves one out.
- A column is a function of another if each value of the other goes with one of its own (`node4`, more
  than four `nodes`). Where its name says nothing, the draft leaves it out.
- A total is the sum, or the difference, of others. It is left out too: whoever knows the parts knows it,
  and with the total and all parts but one that one is known.

That such a thing is no coincidence follows from the rows that repeat it: if values were drawn
independently, all repetitions would agree with a probability of at most one in a million.

A few rows rule most pairs out. Of tables larger than memory about 20,000 rows are looked at, chosen by a
hash of their values; that values go together one to one, or by a function, is then counted in all rows.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, permutations
from math import log

import numpy as np

from shoal.arrays import Bools, Floats, Ints
from shoal.encoding.missing import is_missing
from shoal.encoding.vocabulary import hint_of, words_of
from shoal.errors import listed
from shoal.hierarchy.text import text_of
from shoal.risk.columns import FEWEST_ROWS, Contents, Suggestion, Type, numbers_of
from shoal.risk.table import CountedTable

SAMPLED = 500
"""Rows that rule most pairs out."""
MOST_COLUMNS = 200
"""Columns of which all pairs are looked at; of wider tables the first ones."""
UNLIKELY = log(1e-6)
"""The logarithm of the probability below which agreement is no coincidence."""
FEWEST_STEPS = 5
"""Two columns that ascend together are related from so many different values on."""
ROUNDED = 1.1
"""Pairs of values that go together, per value, up to which one column is the other one rounded."""
FITTED = 2_000
"""Rows to which sums are fitted before they are checked on all."""
MOST_PARTS = 12
MOST_NUMBERS = 80
"""Columns of numbers among which totals are looked for."""
ONE_TO_ONE = "each value stands for one of"
EXACT = 1e-6
"""The largest departure from a sum, relative to the numbers."""

TOTAL = re.compile(r"total|sum|somme|suma|summe|gesamt|totaal|soma|razem|yhteensa", re.I)
MADE = frozenset(
    """
    l ln log lg sq squared square num code cat category group class grp level rank z
    """.split()  # noqa: SIM905 - as in `vocabulary.py`
)
"""Parts of the names of columns that were made from others."""


@dataclass(frozen=True)
class _Column:
    place: int
    contents: Contents

    @cached_property
    def gone(self) -> Bools:
        """(size,) whether a code stands for a missing value."""
        assert self.contents.values is not None
        likely = is_missing(text_of(self.contents.values), self.contents.likely_missing)
        extra = self.contents.size - len(likely)
        return np.append(likely, np.ones(extra, np.bool_))

    @cached_property
    def numbers(self) -> Floats | None:
        """(size,) the number of each code."""
        return numbers_of(self.contents)

    @property
    def codes(self) -> Ints:
        """(rows,) the code of each row."""
        return np.asarray(self.contents.codes, np.int64)


def with_derived_of(
    table: CountedTable, contents: Sequence[Contents], suggested: Sequence[Suggestion]
) -> list[Suggestion]:
    """The suggested roles, with columns that follow from others left out, on any engine."""
    some = table.sampled()
    if some is None:
        return with_derived(contents, suggested)

    def is_function(source: int, target: int) -> bool:
        """Whether each value of a column goes with one of another in all rows, as far as counts tell."""
        pair = [contents[source], contents[target]]
        if any(one.missing for one in pair):
            return True
        return table.classes_on([one.name for one in pair]) == table.classes_on([pair[0].name])

    found = with_derived(some, suggested, is_function)
    looked = f" (looked for in {some[0].rows:,} of {table.rows:,} rows)" if some else ""
    return [
        was if now is was else replace(now, reason=now.reason + looked)
        for was, now in zip(suggested, found, strict=True)
    ]


def _found(_source: int, _target: int) -> bool:
    """Nothing is left to be checked where all rows were looked at."""
    return True


def with_derived(
    contents: Sequence[Contents],
    suggested: Sequence[Suggestion],
    is_function: Callable[[int, int], bool] = _found,
) -> list[Suggestion]:
    """The suggested roles, with columns that follow from others left out.

    is_function: whether each value of a column goes with one of another, by their places, in rows that
    are not looked at here.
    """
    found = list(suggested)
    columns = [
        _Column(i, one)
        for i, one in enumerate(contents)
        if one.values is not None
        and len(one.codes) == one.rows >= FEWEST_ROWS
        and one.distinct > 1
        and one.type != Type.OTHER
        and found[i].role in ("quasi", "sensitive", "plain")
    ][:MOST_COLUMNS]
    if not columns:
        return found
    some = np.linspace(0, contents[0].rows - 1, min(SAMPLED, contents[0].rows)).astype(np.int64)
    for one, other in combinations(columns, 2):
        pair = [found[one.place].role, found[other.place].role]
        if "identifier" in pair or not _is_possible(one, other, some):
            continue
        how = _copies(one, other)
        if how == ONE_TO_ONE and not all(
            is_function(*pair) for pair in permutations((one.place, other.place))
        ):
            continue
        if how:
            kept, copy = _which(one, other, found)
            words = (
                f"{how} {contents[kept].name}, which it would give away; one of the two is enough"
            )
            found[copy] = Suggestion("identifier", "dropped", words)
    for one, other in combinations(columns, 2):
        for source, target in ((one, other), (other, one)):
            unknown = found[target.place].role == "plain" and not hint_of(target.contents.name)
            if (
                unknown
                and found[source.place].role != "identifier"
                and target.contents.distinct < source.contents.distinct
                and _is_function(source, target, some)
                and _is_function(source, target)
                and is_function(source.place, target.place)
            ):
                words = f"it follows from {source.contents.name}, which is enough"
                found[target.place] = Suggestion("identifier", "dropped", words)
    _leave_out_totals([c for c in columns if found[c.place].role != "identifier"], found)
    return found


def _known(one: _Column, other: _Column, rows: Ints | slice) -> tuple[Ints, Ints]:
    """(n,) the codes of both in the rows where both are known."""
    a, b = one.codes[rows], other.codes[rows]
    known = ~(one.gone[a] | other.gone[b])
    return a[known], b[known]


def _is_possible(one: _Column, other: _Column, some: Ints) -> bool:
    a, b = _known(one, other, some)
    if _each_has_one(a, b) and _each_has_one(b, a):
        return True
    return _direction(one, other, a, b) is not None


def _each_has_one(a: Ints, b: Ints) -> bool:
    """Whether each value of a goes with one of b."""
    pairs = len(np.unique(a * (int(b.max(initial=0)) + 1) + b))
    return pairs == len(np.unique(a))


def _copies(one: _Column, other: _Column) -> str | None:
    """How one column copies the other, for a sentence that ends with its name."""
    a, b = _known(one, other, slice(None))
    if _each_has_one(a, b) and _each_has_one(b, a) and _confirmed(a, b):
        return ONE_TO_ONE
    direction = _direction(one, other, a, b)
    fewer, more = sorted((len(np.unique(a)), len(np.unique(b))))
    if direction is None or fewer < FEWEST_STEPS or len(a) < FEWEST_ROWS:
        return None
    # a copy may be rounded, so that some values share one of the other
    pairs = len(np.unique(a * (int(b.max()) + 1) + b))
    return f"it {direction} with" if fewer >= more / 2 and pairs <= ROUNDED * more else None


def _confirmed(a: Ints, b: Ints) -> bool:
    """Whether enough rows repeat a value of a to make it no coincidence that b agrees."""
    shares = np.unique(b, return_counts=True)[1] / max(1, len(b))
    agree = float((shares**2).sum())
    repeated = len(a) - len(np.unique(a))
    return repeated > 0 and agree < 1 and repeated * log(agree) < UNLIKELY


def _direction(one: _Column, other: _Column, a: Ints, b: Ints) -> str | None:
    if one.numbers is None or other.numbers is None or not len(a):
        return None
    x, y = one.numbers[a], other.numbers[b]
    order = np.lexsort((y, x))
    steps = np.diff(y[order])
    if (steps >= 0).all():
        return "ascends"
    order = np.lexsort((-y, x))
    return "descends" if (np.diff(y[order]) <= 0).all() else None


def _is_function(source: _Column, target: _Column, rows: Ints | slice = slice(None)) -> bool:
    a, b = _known(source, target, rows)
    if not _each_has_one(a, b):
        return False
    return not isinstance(rows, slice) or _confirmed(a, b)


def _which(one: _Column, other: _Column, found: Sequence[Suggestion]) -> tuple[int, int]:
    """The column to keep and the copy: by their names, or else the first is kept."""
    first, second = one.contents.name, other.contents.name
    if _made_from(first, second) and not _made_from(second, first):
        return other.place, one.place
    unknown = [found[c.place].role == "plain" for c in (one, other)]
    if unknown[0] and not unknown[1]:
        return other.place, one.place
    return one.place, other.place


def _made_from(name: str, source: str) -> bool:
    """Whether a name is that of a column made from another: `lwage`, `age2`, `education-num`."""
    words, of = words_of(name), words_of(source)
    if len(words) == len(of) == 1:
        added = words[0].removesuffix(of[0]) if words[0].endswith(of[0]) else words[0]
        added = added.removeprefix(of[0]) if added.startswith(of[0]) else added
        return added != words[0] and (added in MADE or added.isdigit())
    rest = [word for word in words if word not in of]
    return set(of) < set(words) and all(word in MADE or word.isdigit() for word in rest)


def _leave_out_totals(columns: Sequence[_Column], found: list[Suggestion]) -> None:
    numeric = [c for c in columns if c.numbers is not None and c.contents.distinct > 2]
    numeric = [c for c in numeric if c.contents.missing <= 0.05 * c.contents.rows][:MOST_NUMBERS]
    if len(numeric) < 3:
        return
    table = np.column_stack([c.numbers[c.codes] for c in numeric if c.numbers is not None])
    table = table[np.isfinite(table).all(axis=1)]
    if len(table) <= 3 * len(numeric):
        return
    scale = np.abs(table).max(axis=0)
    some = table[np.linspace(0, len(table) - 1, min(FITTED, len(table))).astype(np.int64)] / scale
    some = some - some.mean(axis=0)
    free: list[int] = []
    for j in range(len(numeric)):
        parts = _parts(some, scale, free, j)
        if parts and _adds_up(table, j, parts):
            total, others = _total(numeric, j, parts)
            names = [numeric[i].contents.name for i in others]
            words = f"it is a sum or difference of {listed(names)}, which are enough"
            found[numeric[total].place] = Suggestion("identifier", "dropped", words)
            if total == j:
                continue
            free.remove(total)
        free.append(j)


def _parts(some: Floats, scale: Floats, free: Sequence[int], j: int) -> dict[int, int] | None:
    """The columns of which a column is a sum, with 1 or -1 for each; None where it is no sum."""
    if len(free) < 2:
        return None
    solved, *_ = np.linalg.lstsq(some[:, free], some[:, j], rcond=1e-9)
    left = some[:, j] - some[:, free] @ solved
    if np.abs(left).max() > EXACT:
        return None
    factors = solved * scale[j] / scale[free]
    signs = np.rint(factors)
    if np.abs(factors - signs).max() > 1e-4 or np.abs(signs).max() > 1:
        return None
    parts = {i: int(sign) for i, sign in zip(free, signs, strict=True) if sign}
    return parts if 2 <= len(parts) <= MOST_PARTS else None


def _adds_up(table: Floats, j: int, parts: dict[int, int]) -> bool:
    left = table[:, j] - sum(sign * table[:, i] for i, sign in parts.items())
    return float(np.ptp(left)) <= EXACT * float(np.abs(table[:, [j, *parts]]).max())


def _total(numeric: Sequence[_Column], j: int, parts: dict[int, int]) -> tuple[int, list[int]]:
    """The column to leave out, and those that it follows from."""
    every = [j, *parts]
    named = [i for i in every if TOTAL.search(numeric[i].contents.name)]
    positive = [i for i, sign in parts.items() if sign > 0]
    total = j
    if named:
        total = named[0]
    elif len(positive) == 1 and len(parts) > 2:
        total = positive[0]
    return total, [i for i in every if i != total]
