"""A hierarchy for every quasi-identifier, proposed from its values.

- Numbers: intervals of round widths, each twice as wide as the one before. The narrowest follows from
  the range of most values, so that a few extreme ones do not decide it; all begin at a multiple of
  their width, so no label shows the smallest or the largest number.
- Dates: month, year, decade. Codes of digits and postal codes: characters are masked from the right.
- Categories: ordered words (`low`, `high`; `18-24`, `25-34`) are joined with their neighbours; values
  with the same first or last word (`Married-civ-spouse`, `Married-AF-spouse`) have a group; what is rare
  stands together. Above that is `*`.
- Two values, also numbers: themselves, then `*`. Numbers of regions, occupations and the like are
  categories without an order.
- Other texts, and more values than a person would look through: masked from the right.

Searches over all combinations of levels need few of them, so with many columns there are fewer levels.
"""

import re
from collections import Counter
from collections.abc import Sequence
from math import floor, isfinite, log10, prod
from typing import Any

from shoal.encoding.vocabulary import folded
from shoal.errors import HierarchyError, PolicyError
from shoal.hierarchy import parse_hierarchy
from shoal.risk.columns import Contents, Treatment, Type, quasi_treatment
from shoal.risk.spread import Spread

MOST_LEVELS, FEW_LEVELS, FEWEST_LEVELS = 4, 2, 1
"""Widths of intervals: with few columns, beside others, and with many."""
MOST_COMBINATIONS = 1_000_000
"""Combinations of levels over all columns, if fewer levels can reach that."""
STRETCHED = 4
"""A range is stretched by extreme values if it is so many times the range of most."""
LARGEST = 1e15
"""Numbers beyond it are masked: intervals of such widths say nothing."""
RARE = 0.05
"""Categories with a smaller share of the rows stand together."""
FEWEST_GROUPED = 4
"""Categories from which on some are put together."""
JOINED = 6
"""From so many ordered words on, two neighbours are joined, below that none."""
OTHERS = "other values"

NEGATIONS = frozenset(
    ("no", "not", "never", "non", "without", "nicht", "nie", "kein", "pas", "sin")
)
TOKENS = re.compile(r"[\s_/:,.;()-]+")
NUMBERED = re.compile(r"\D{0,3}(\d+(?:\.\d+)?)")
SCALES = (
    "never rarely seldom sometimes often usually mostly always",
    "none low medium moderate high",
    "verylow low medium moderate high veryhigh",
    "verypoor poor fair good verygood excellent",
    "verybad bad fair good verygood",
    "stronglydisagree disagree neutral agree stronglyagree",
    "child teenager adult senior elderly",
    "xs s m l xl xxl",
    "nie selten manchmal oft meistens immer",
    "niedrig mittel hoch",
    "jamais rarement parfois souvent toujours",
    "faible moyen eleve",
    "nunca raramente aveces amenudo siempre",
    "bajo medio alto",
    "mai raramente talvolta spesso sempre",
    "basso medio alto",
    "nooit zelden soms vaak altijd",
    "laag midden hoog",
    "preschool primary elementary middle secondary high college bachelors masters doctorate",
)
"""Words in their order, lowest first."""
RANKS = [{word: i for i, word in enumerate(scale.split())} for scale in SCALES]


def hierarchies(columns: Sequence[Contents]) -> dict[str, dict[str, Any]]:
    """A hierarchy for each column, as a policy writes it."""
    for levels in range(MOST_LEVELS, FEWEST_LEVELS - 1, -1):
        found = {column.name: hierarchy_of(column, levels) for column in columns}
        heights = [height_of(found[column.name], column) for column in columns]
        if prod(height + 1 for height in heights) <= MOST_COMBINATIONS:
            break
    return found if columns else {}


def hierarchy_of(column: Contents, levels: int = MOST_LEVELS) -> dict[str, Any]:
    """The hierarchy of a column, as a policy writes it; levels: the most widths of intervals."""
    treatment = quasi_treatment(column)
    if treatment == "mask":
        return {"mask": "right"}
    if treatment == "date":
        return {"date": ["month", "year", "decade"]}
    if column.question:
        return {"mask": "right"}
    texts = [text for text, _ in column.listed]
    nominal = column.spread is not None and treatment == "unordered"
    if 0 < len(texts) <= 2 or (texts and nominal):  # numbers of things have no neighbours
        found: dict[str, Any] = {"tree": sorted(texts)}
        if _fits(found, texts):
            return found
    if column.spread is not None and not nominal:
        if widths := interval_widths(column.spread, levels):
            return {"intervals": widths}
    elif texts and column.type != Type.DECIMAL:
        found = {"tree": tree_of(column.listed)}
        if _fits(found, texts):
            return found
    return {"mask": "right"}


def _fits(hierarchy: dict[str, Any], texts: Sequence[str]) -> bool:
    """Whether a tree can be built: a value may read like a label."""
    try:
        paths = parse_hierarchy(hierarchy).paths(texts)
    except (HierarchyError, PolicyError):
        return False
    return all(path is not None for path in paths)


def kind_of(treatment: Treatment) -> str | None:
    """The kind that stands beside a hierarchy; None where the hierarchy alone is best."""
    return treatment if treatment in ("ordered", "unordered") else None


def height_of(hierarchy: dict[str, Any], column: Contents) -> int:
    """About how many levels a hierarchy has above the values."""
    if "intervals" in hierarchy:
        return len(hierarchy["intervals"]) + 1
    if "date" in hierarchy:
        return len(hierarchy["date"]) + 1
    if "tree" in hierarchy:
        return 2 if isinstance(hierarchy["tree"], dict) else 1
    return max(1, column.longest_text or 8)


def interval_widths(spread: Spread, levels: int) -> list[int | float]:
    """Round widths, each twice the one before; none where the range cannot be cut."""
    whole = spread.high - spread.low
    inner = spread.inner_high - spread.inner_low
    most = inner if inner > 0 else whole
    if not isfinite(whole) or not whole > 0 or max(abs(spread.low), abs(spread.high)) > LARGEST:
        return []
    base = round_width(most / 2**levels)
    if base < 1e-12:
        return []
    if spread.whole:
        base = max(2, base)
    widths = [base * 2**i for i in range(levels)]
    widths = [width for i, width in enumerate(widths) if i == 0 or width < whole]
    if whole > STRETCHED * most:
        widths.append(widths[-1] * 10)
    return [int(width) if float(width).is_integer() else float(f"{width:.12g}") for width in widths]


def round_width(about: float) -> float:
    """The smallest of 1, 2, 5, 10, … times a power of ten that is not below."""
    power = 10.0 ** floor(log10(about))
    for digit in (1, 2, 5, 10):
        if digit * power >= about * (1 - 1e-9):
            return digit * power if power >= 1 else digit / round(1 / power)
    return 10 * power


def tree_of(listed: Sequence[tuple[str, int]]) -> Any:
    """Categories under names for groups of them, or a list where none are put together."""
    texts = [text for text, _ in listed]
    if len(texts) < FEWEST_GROUPED:
        return sorted(texts)
    ordered = _in_order(texts)
    groups = _neighbours(ordered) if ordered else _by_numbers(texts)
    if not ordered:
        rest = [text for text in texts if all(text not in group for group in groups.values())]
        groups |= _by_words(rest)
    left = [text for text in texts if all(text not in group for group in groups.values())]
    if not ordered:
        rows = dict(listed)
        rare = [text for text in left if rows[text] < RARE * sum(rows.values())]
        if len(rare) > 1:
            groups[_free(OTHERS, texts)] = sorted(rare)
            left = [text for text in left if text not in rare]
    if not groups or (len(groups) == 1 and not left):
        return ordered or sorted(texts)
    alone: dict[str, list[str] | None] = dict.fromkeys(sorted(left))
    return {**groups, **alone}


def _by_numbers(texts: Sequence[str]) -> dict[str, list[str]]:
    """Texts that begin with a number (`9th`, `10th`), beside others that do not, as one group."""
    numbered = [text for text in texts if text[:1].isdigit()]
    ordered = _in_order(numbered) if len(numbered) > 2 else None
    return {} if ordered is None else {_free(f"{ordered[0]} to {ordered[-1]}", texts): ordered}


def _in_order(texts: Sequence[str]) -> list[str] | None:
    """The texts in the order that their words or numbers have; None where they have none."""
    plain = {text: TOKENS.sub("", folded(text)).lower() for text in texts}
    for ranks in RANKS:
        if all(word in ranks for word in plain.values()):
            return sorted(texts, key=lambda text: ranks[plain[text]])
    numbers = {text: NUMBERED.match(text) for text in texts}
    if any(match is None for match in numbers.values()):
        return None
    values = {text: float(match[1]) for text, match in numbers.items() if match is not None}

    def place(text: str) -> tuple[float, bool, str]:
        return values[text], not text.lstrip().startswith(("<", "≤", "under", "up to")), text

    return sorted(texts, key=place) if len(set(values.values())) > len(texts) / 2 else None


def _neighbours(ordered: Sequence[str]) -> dict[str, list[str]]:
    """Two neighbours each, the last three where one would be left."""
    if len(ordered) < JOINED:
        half = len(ordered) // 2
        parts = [list(ordered[:half]), list(ordered[half:])]
    else:
        parts = [list(ordered[i : i + 2]) for i in range(0, len(ordered) - 1, 2)]
        if len(ordered) % 2:
            parts[-1].append(ordered[-1])
    return {_free(f"{part[0]} to {part[-1]}", ordered): part for part in parts}


def _by_words(texts: Sequence[str]) -> dict[str, list[str]]:
    """Texts that share their first word, and of the others those that share their last."""
    groups: dict[str, list[str]] = {}
    left = list(texts)
    for place in (0, -1):
        words = {text: [w for w in TOKENS.split(text) if w] for text in left}
        ends = {text: each[place] for text, each in words.items() if each and len(each[place]) > 2}
        times = Counter(ends.values())
        for word in sorted(times):
            members = sorted(text for text in left if ends.get(text) == word)
            # one group of all says nothing; `married` and `never married` are no group
            several = [len(words[text]) > 1 for text in members]
            denied = any(not NEGATIONS.isdisjoint(map(str.lower, words[text])) for text in members)
            named = all(several) if place else any(several)
            if 1 < len(members) < len(texts) and named and not (place and denied):
                groups[_free(f"{word} (all)", texts)] = members
        grouped = {text for members in groups.values() for text in members}
        left = [text for text in left if text not in grouped]
    return groups


def _free(name: str, texts: Sequence[str]) -> str:
    """A name for a group that no value has."""
    while name in texts:
        name += " (group)"
    return name
