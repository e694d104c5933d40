"""What became of the presets of a policy in a release."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any

from shoal.errors import VerificationFailed


@dataclass(frozen=True)
class Violation:
    """Published values of a column that break a rule of a preset; none of them is repeated."""

    column: str
    text: str
    """What is wrong, as a sentence."""
    rows: int
    """Published rows with such values."""


@dataclass(frozen=True)
class CheckedRule:
    """One rule of a preset, checked on the published text."""

    name: str
    text: str
    """What it requires, as a sentence."""
    columns: tuple[str, ...] = ()
    """The columns whose values were looked at; the quasi-identifiers of a privacy model."""
    required: float | None = None
    """The figure of a privacy model."""
    found: float | None = None
    """The figure that was found in the release."""
    holds: bool | None = True
    """None where nothing was checked, because no column was recognised that the rule is about."""
    unchecked: str = ""
    """Why nothing was checked, as a sentence; empty where something was."""
    violations: tuple[Violation, ...] = ()


@dataclass(frozen=True)
class PresetOutcome:
    """A preset of the policy: what was checked on the release, and what a person must judge."""

    name: str
    title: str
    sources: tuple[str, ...]
    checks: tuple[CheckedRule, ...]
    to_judge: tuple[str, ...]
    """What no program can check, a sentence each."""
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether everything that was checked holds."""
        return all(check.holds is not False for check in self.checks)

    @property
    def violations(self) -> tuple[Violation, ...]:
        """All violations of its rules."""
        return tuple(one for check in self.checks for one in check.violations)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        found = asdict(self) | {"holds": self.holds}
        found["sources"], found["to_judge"] = list(self.sources), list(self.to_judge)
        found["checks"] = [
            {
                **asdict(check),
                "found": check.found if check.found is None or isfinite(check.found) else None,
                "columns": list(check.columns),
                "violations": [asdict(one) for one in check.violations],
            }
            for check in self.checks
        ]
        return found


def require_presets(found: Sequence[PresetOutcome]) -> None:
    """Raise `VerificationFailed` for everything that breaks a preset."""
    broken = [
        f"{outcome.name}: {text}"
        for outcome in found
        for check in outcome.checks
        if check.holds is False
        for text in ([one.text for one in check.violations] or [f"{check.text} It does not hold."])
    ]
    if broken:
        raise VerificationFailed("\n".join(broken))
