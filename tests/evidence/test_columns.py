"""Distributions and coarseness of columns, as counted plainly."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from shoal.evidence.evidence import ColumnEvidence
from tests import naive
from tests.evidence import plain
from tests.evidence.tables import ILLS, JOBS, MARKS, QUASI, Made, releases
from tests.examples import examples

COMMON = 10
JOB_NODES = {name: set(jobs) for name, jobs in JOBS.items()} | {
    "any job": {job for jobs in JOBS.values() for job in jobs}
}
ILL_NODES = {name: set(ills) for name, ills in ILLS.items()} | {
    "any illness": {ill for ills in ILLS.values() for ill in ills}
}


def covers(name: str) -> plain.Covers:
    """How labels of a column are read."""
    tree = {"job": JOB_NODES, "ill": ILL_NODES}.get(name)
    order = MARKS if name == "mark" else None

    def inside(label: str | None, raw: str | None) -> bool:
        if name == "job" and label == "any job":
            return True  # the root is over the missing value too
        return naive.inside(label, raw, tree, order)

    return inside


def in_bar(name: str) -> Callable[[str, str], bool]:
    """How the bars of a column are read."""
    if name in ("age", "part", "pay"):
        return plain.in_bin
    if name == "day":
        return plain.in_dates
    return lambda bar, raw: bar == raw or covers(name)(bar, raw)


def domain_of(made: Made, name: str) -> list[str | None]:
    """All values that a label of the column may cover."""
    values: list[str | None] = sorted({raw for raw in made.raw[name] if raw is not None})
    written = {"job": JOB_NODES["any job"], "ill": ILL_NODES["any illness"], "mark": MARKS}
    values = sorted(written[name]) if name in written else values
    return [*values, None] if None in made.raw[name] else values


def require_bars(made: Made, name: str, shown: list[int], values: list[str | None]) -> None:
    """Shares before and after, bar by bar; `shown` are the rows published in the column."""
    found = made.release.evidence.columns[name]
    labels = [made.published[name][i] for i in shown]
    guessed = plain.guessed(values, labels, covers(name))
    raw = Counter(made.raw[name])
    of_bar: dict[str, list[str | None]] = {bar.label: [] for bar in found.distribution}
    assert len(of_bar) == len(found.distribution)
    for value in values:
        own = [label for label in of_bar if _belongs(name, label, value)]
        assert len(own) <= 1
        if not own and "others" not in of_bar:  # a value that nobody has, before or after
            assert not raw[value]
            assert not guessed[value]
            continue
        of_bar[own[0] if own else "others"].append(value)
    for bar in found.distribution:
        inside = of_bar[bar.label]
        rows = sum(raw[value] for value in inside)
        assert bar.before == pytest.approx(rows / len(made.raw[name]), abs=1e-8)
        after = sum((guessed[value] for value in inside), Fraction(0))
        assert bar.after == pytest.approx(float(after / max(1, len(shown))), abs=1e-8)
        if bar.label != "others":
            assert rows >= COMMON or bar.label == "any value"
    lumped = [value for value in of_bar.get("others", []) if raw[value]]
    assert found.lumped == len(lumped)
    require_ends_unnamed(name, found, raw)


def require_ends_unnamed(name: str, found: ColumnEvidence, raw: Counter[str | None]) -> None:
    """The smallest and the largest of the table are named only where many share them."""
    if name in ("age", "part", "pay"):
        known = sorted((value for value in raw if value is not None), key=float)
        rare = {value for value in (known[0], known[-1]) if raw[value] < COMMON}
        first, last = found.distribution[0].label, found.distribution[-1].label
        assert not rare & {first, last}


def _belongs(name: str, label: str, value: str | None) -> bool:
    if value is None or label in ("missing", "others"):
        return label == "missing" and value is None
    return in_bar(name)(label, value)


@examples(20)
@given(made=releases())
def test_quasi_columns(made: Made) -> None:
    evidence = made.release.evidence
    assert list(evidence.columns) == [*QUASI, "ill", "pay"]
    for name in QUASI:
        group = made.group_of(name)
        shown = [i for i, g in enumerate(group) if g >= 0]
        require_bars(made, name, shown, domain_of(made, name))
        told = {one.label: one.share for one in evidence.columns[name].generality}
        n = len(group)
        words = Counter(
            coarseness(made, name, made.published[name][i]) if group[i] >= 0 else "suppressed"
            for i in range(n)
        )
        assert told == pytest.approx({label: rows / n for label, rows in words.items()}), name
        assert sum(told.values()) == pytest.approx(1)
        assert evidence.columns[name].loss == made.release.column_loss[name]


def coarseness(made: Made, name: str, label: str | None) -> str:
    """How coarse one cell is, in words."""
    known = [raw for raw in made.raw[name] if raw is not None]
    if name in ("age", "part"):
        numbers = [Fraction(raw) for raw in known]
        return plain.width_words(label, min(numbers), max(numbers))
    if name == "day":
        return _by_days(label, known)
    if name == "mark":
        ranks: dict[str | None, Any] = {mark: Fraction(i) for i, mark in enumerate(MARKS)}
        if label is not None and label.startswith("["):
            first, last = label[1:-1].split("~")
            label = f"[{ranks[first]}~{ranks[last]}]"
        return plain.width_words(label, Fraction(0), Fraction(len(MARKS) - 1))
    if name == "town":
        return plain.set_words(label)
    if label is None:
        return "as it was"
    if label == "*":
        return "anything (*)"
    if name == "zip":
        hidden = label.count("*")
        return f"{hidden} character{'' if hidden == 1 else 's'} hidden" if hidden else "as it was"
    if name == "hours":
        ends = [int(end) for end in label.strip("[)").split("-")]
        return f"in intervals of {ends[1] - ends[0]}" if len(ends) == 2 else "as it was"
    return {"any job": "any job"}.get(label, "at level 1" if label in JOB_NODES else "as it was")


def _by_days(label: str | None, known: list[str]) -> str:
    from datetime import date

    def days(text: str) -> int:
        return date.fromisoformat(text).toordinal()

    if label is not None and label.startswith("["):
        first, last = label[1:-1].split("~")
        label = f"[{days(first)}~{days(last)}]"
    low, high = (Fraction(days(end)) for end in (min(known), max(known)))
    return plain.width_words(label, low, high)


@examples(20)
@given(made=releases())
def test_sensitive_columns(made: Made) -> None:
    shown = [i for i, gone in enumerate(made.hidden) if not gone]
    n = len(made.hidden)
    for name in ("ill", "pay"):
        require_bars(made, name, shown, domain_of(made, name))
        label = {"lungs": 2, "blood": 2, "any illness": 3} if name == "ill" else {}
        words = Counter("as it was" for i in shown if made.published[name][i] not in label)
        words.update(
            f"raised to level {label[text]}"
            for i in shown
            if (text := made.published[name][i]) in label
        )
        words["suppressed"] = n - len(shown)
        told = {one.label: one.share for one in made.release.evidence.columns[name].generality}
        assert told == pytest.approx({one: rows / n for one, rows in words.items() if rows})
        counts = Counter(raw for raw in made.raw[name] if raw is not None)
        most = max(counts.values())
        found = made.release.evidence.dominant[name]
        assert found.share == pytest.approx(most / n)
        if most < COMMON:
            assert found.label is None
        else:
            assert counts[found.label] == most


@examples(20)
@given(made=releases())
def test_sizes_of_classes(made: Made) -> None:
    evidence = made.release.evidence
    raw = list(zip(*(made.raw[name] for name in QUASI), strict=True))
    assert list(evidence.before) == plain.sizes(raw)
    labels = list(zip(*(made.published[name] for name in QUASI), strict=True))
    every = zip(*made.groups, strict=True)
    kept = [label for label, own in zip(labels, every, strict=True) if max(own) >= 0]
    assert list(evidence.after) == plain.sizes(kept)
    assert sum(classes for _, classes in evidence.after) == made.release.published_classes


@examples(20)
@given(made=releases())
def test_only_values_that_many_share_may_be_named(made: Made) -> None:
    common = made.release.evidence.common
    assert set(common) == {"age", "part", "day", "town", "mark"}
    for name, values in common.items():
        raw = Counter(made.raw[name])
        expected = {value for value, rows in raw.items() if rows >= COMMON and value is not None}
        assert set(values.to_pylist()) == expected
