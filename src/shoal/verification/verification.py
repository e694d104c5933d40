"""What a release was found to hold: the result of `shoal.verify`."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from shoal.errors import VerificationFailed
from shoal.io.address import Place
from shoal.results import Result
from shoal.verification.check import Finding, StarredRows, Strength, require
from shoal.verification.presets import PresetOutcome, require_presets

ROWS_ONLY = (
    "Rows were counted, not people: a release does not tell whose rows are whose. People are counted "
    "with the key that the run wrote (--key, in Python key=)."
)


@dataclass(frozen=True)
class CertificateCheck:
    """Whether a certificate belongs to a release and its policy."""

    file: Path
    made: str
    """When it was made."""
    shoal: str
    """The version of Shoal that made it."""
    differences: tuple[str, ...]
    """What it states otherwise than the release and the policy, a sentence each."""
    without_people: bool = False
    """Whether its figures of people were not checked, since there was no key."""

    @property
    def fits(self) -> bool:
        """Whether there is no difference."""
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "file": str(self.file),
            "fits": self.fits,
            "differences": list(self.differences),
            "without_people": self.without_people,
        }


@dataclass(frozen=True)
class UnreadLabels:
    """Labels of a column that the policy cannot read; a label may be a value, so none is repeated."""

    column: str
    form: str
    """What they are, in words."""
    labels: int
    """Different labels of this form."""
    rows: int
    """Rows with one of them."""
    first_row: int | None = None
    """The first of these rows, from 1 on; None where the rows have no order."""

    def __str__(self) -> str:
        where = "" if self.first_row is None else f", the first of them row {self.first_row:,}"
        rows = "1 row" if self.rows == 1 else f"{self.rows:,} rows"
        return f"Column '{self.column}' has {self.form} in {rows}{where}."

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """Every guarantee of a policy, checked on a release, and what else the release holds.

    Iterating over it gives the findings, and `verification[0]` is the first of them. It has no truth
    value: use `holds`, or `check()` to raise an error where it does not hold.
    """

    findings: tuple[Finding, ...]
    """Every guarantee of the policy, in its order."""
    strengths: tuple[Strength, ...]
    """The strongest figure of each model that the release holds, whether the policy has it or not."""
    quasi: tuple[str, ...]
    """The quasi-identifiers."""
    preferences: tuple[str, ...] = ()
    """The sensitive columns with personal preferences: generalised values count at their worst."""
    largest_share: dict[str, float] = field(default_factory=dict)
    """With `publish: anatomy`, per sensitive column the chance that the best guess is right."""
    certificate: CertificateCheck | None = None
    """The check of the certificate, if one was given."""
    path: Place | None = None
    """The file, the folder or the database's table that was read."""
    sensitive_files: dict[str, Place] = field(default_factory=dict)
    """With `publish: anatomy`, the other files that were read, by sensitive column."""
    person: str | None = None
    """The column that tells people apart, where the policy has one."""
    people: int | None = None
    """How many people the release has rows of; None where rows were counted."""
    warnings: tuple[str, ...] = ()
    """What the publisher should think about: a key that others can read."""
    unread: tuple[UnreadLabels, ...] = ()
    """Labels that the policy cannot read, by column and form."""
    presets: tuple[PresetOutcome, ...] = ()
    """The policy's presets, with what a person must still judge."""
    starred: StarredRows | None = None
    """Suppressed rows, where these are published as `*` and the policy limits them."""

    @property
    def counted(self) -> Literal["rows", "people"]:
        """What was counted."""
        return "rows" if self.people is None else "people"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the findings do not say: that rows were counted where the policy means people."""
        return (ROWS_ONLY,) if self.person is not None and self.people is None else ()

    @property
    def holds(self) -> bool:
        """Whether every guarantee holds, every label can be read, no more rows are suppressed than the
        policy allows, and the certificate fits if there is one."""
        return not self.failures

    @property
    def failures(self) -> tuple[str, ...]:
        """What does not hold, in words."""
        try:
            self.check()
        except VerificationFailed as error:
            return tuple(str(error).splitlines())
        return ()

    def check(self) -> None:
        """Raise `VerificationFailed` unless everything holds."""
        try:
            require(self.findings, self.preferences)
        except VerificationFailed as error:
            raise VerificationFailed("\n".join([str(error), *self.notes])) from None
        require_presets(self.presets)
        if self.starred is not None:
            self.starred.require()
        if self.unread:
            words = ["The release has labels that the policy cannot read:", *map(str, self.unread)]
            raise VerificationFailed("\n".join(words))
        if self.certificate is not None and not self.certificate.fits:
            words = ["The certificate does not fit:", *self.certificate.differences]
            raise VerificationFailed("\n".join(words))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {
            "release": None if self.path is None else str(self.path),
            "sensitive_files": {name: str(path) for name, path in self.sensitive_files.items()},
            "verified": self.holds,
            "guarantees": [finding.to_dict() for finding in self.findings],
            "presets": [outcome.to_dict() for outcome in self.presets],
            "found": [strength.to_dict() for strength in self.strengths],
            "largest_share": self.largest_share,
            "starred": None if self.starred is None else self.starred.to_dict(),
            "unread": [one.to_dict() for one in self.unread],
            "counted": self.counted,
            "people": self.people,
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
        }

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "model": finding.model,
                "of": finding.of,
                "columns": ", ".join(finding.columns),
                "required": finding.asked,
                "found": finding.reached,
                "classes": finding.classes,
                "failing": finding.failing,
                "holds": finding.holds,
            }
            for finding in self.findings
        ]

    def _headline(self) -> str:
        held = sum(finding.holds for finding in self.findings)
        words = f"{held} of {len(self.findings)} guarantees hold"
        if self.person is not None:
            words += f", {self.counted} counted"
        if self.certificate is None:
            return words
        return f"{words}; the certificate {'fits' if self.certificate.fits else 'does not fit'}"

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, place: int) -> Finding:
        return self.findings[place]

    def __bool__(self) -> bool:
        raise TypeError("A Verification has no truth value; use `.holds`.")
