"""What a stranger who knows some columns learns: of everyone, or of one person."""

from dataclasses import dataclass
from typing import Any

from shoal import api
from shoal.progress import ProgressCallback
from shoal.studio.tasks import PolicyText
from shoal.studio.worker import Tables


@dataclass(frozen=True)
class Learnt:
    """What an attacker who knows some columns learns from one table."""

    linked: int
    """People with at least one row that fits."""
    pinned: int
    """People with exactly one."""
    candidates: int | None
    """The fewest rows that fit anybody; None where nobody is linked."""
    guesses: dict[str, tuple[float, float, int]]
    """Per sensitive column: how often the most common value is right, how often the best guess is, and
    how many people are pinned to one value."""


@dataclass(frozen=True)
class Attacked:
    """The same attack on the table and on the release."""

    people: int
    columns: tuple[str, ...]
    raw: Learnt
    release: Learnt
    row: dict[str, Any] | None
    """The person that was looked for, where it is one."""
    warnings: tuple[str, ...]


def attack_release(
    tables: Tables,
    report: ProgressCallback,
    policy: PolicyText,
    columns: tuple[str, ...],
    row: int | None,
    known: str | None,
) -> Attacked:
    """Look for everyone of the table, for one row of it, or for the people of another file."""
    if tables.kept.get("attacked policy") != policy:
        tables.kept["attacked release"] = tables.opened().release(policy.read(), report)
        tables.kept["attacked policy"] = policy
    release = tables.kept["attacked release"]
    table = tables.opened().table()
    people: Any = table if row is None else table.slice(row, 1)
    if known is not None:
        people = api.prepare(known).table()
    found = api.attack(release, known=people, raw=table, on=list(columns) or None, progress=report)
    assert found.raw is not None
    return Attacked(
        found.people,
        found.columns,
        _learnt(found.raw),
        _learnt(found.release),
        None if row is None else tables.opened().rows(row, 1)[0],
        found.warnings,
    )


def _learnt(linkage: "api.Linkage") -> Learnt:
    return Learnt(
        linkage.linked,
        linkage.pinned,
        linkage.smallest,
        {
            name: (guess.base_rate, guess.best_guess, guess.pinned)
            for name, guess in linkage.sensitive.items()
        },
    )
