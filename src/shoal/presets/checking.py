"""Check the presets of a policy on what was published."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from shoal.hierarchy.text import text_of
from shoal.presets.base import DeclaredPolicy, Preset, Rule, ValueCheck
from shoal.verification.check import Finding
from shoal.verification.presets import CheckedRule, PresetOutcome, Violation

STAR = "*"
"""A suppressed cell."""


def value_checks(presets: Sequence[Preset], policy: DeclaredPolicy) -> tuple[ValueCheck, ...]:
    """The checks of published columns that presets ask for, each once."""
    rules = (rule for preset in presets for rule in preset.rules(policy))
    return tuple(dict.fromkeys(check for rule in rules for check in rule.checks))


def outcomes(
    presets: Sequence[Preset],
    policy: DeclaredPolicy,
    findings: Sequence[Finding],
    broken: Mapping[ValueCheck, int],
) -> tuple[PresetOutcome, ...]:
    """What became of some presets.

    findings: the models of the policy as found in the release. broken: for every check of a published
    column the rows that break it.
    """
    return tuple(_outcome(preset, policy, findings, broken) for preset in presets)


def _outcome(
    preset: Preset,
    policy: DeclaredPolicy,
    findings: Sequence[Finding],
    broken: Mapping[ValueCheck, int],
) -> PresetOutcome:
    checks = tuple(
        _by_model(rule, policy, findings) if rule.model else _by_values(rule, broken)
        for rule in preset.rules(policy)
    )
    unchecked = tuple(
        f"{one.unchecked} Whether this holds is for a person to judge: {one.text}"
        for one in checks
        if one.holds is None
    )
    return PresetOutcome(
        name=preset.name,
        title=preset.title,
        sources=tuple(map(str, preset.sources)),
        checks=checks,
        to_judge=(*unchecked, *preset.to_judge(policy)),
        options=preset.stated,
    )


def text_counts(column: pa.Array | pa.ChunkedArray) -> tuple[list[str], list[int]]:
    """The different texts of a published column, and the rows of each; missing values are left out."""
    counted = pc.value_counts(text_of(column).drop_null())
    return counted.field("values").to_pylist(), counted.field("counts").to_pylist()


def rows_that_break(check: ValueCheck, texts: Sequence[str], rows: Sequence[int]) -> int:
    """How many rows have a text that breaks a check; a suppressed cell, `*`, breaks none."""
    broken = check.broken(texts)
    return sum(
        n
        for text, n, is_broken in zip(texts, rows, broken, strict=True)
        if is_broken and text != STAR
    )


def _by_model(rule: Rule, policy: DeclaredPolicy, findings: Sequence[Finding]) -> CheckedRule:
    """A rule that is a model, by what was found of it; one that was not checked does not hold."""
    assert rule.model is not None
    model, columns = rule.model, rule.model.quasi_of(policy.quasi)
    reached = [
        one.reached
        for one in findings
        if (one.model, one.of or "", set(one.columns)) == (model.name, model.column, set(columns))
    ]
    best = max if model.high_is_strong else min
    found = best(reached) if reached else None
    holds = found is not None and (
        found >= model.figure if model.high_is_strong else found <= model.figure
    )
    return CheckedRule(rule.name, rule.text, columns, model.figure, found, holds)


def _by_values(rule: Rule, broken: Mapping[ValueCheck, int]) -> CheckedRule:
    if not rule.checks:
        why = f"No {rule.looks_for or 'column for it'} was recognised, so nothing was checked."
        return CheckedRule(rule.name, rule.text, holds=None, unchecked=why)
    violations = tuple(
        Violation(check.column, f"Column '{check.column}' has {check.words}.", broken[check])
        for check in rule.checks
        if broken[check]
    )
    columns = tuple(dict.fromkeys(check.column for check in rule.checks))
    return CheckedRule(rule.name, rule.text, columns, holds=not violations, violations=violations)
