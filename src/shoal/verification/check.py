"""Group by the text a reader sees, and check the models on these classes.

Nothing of the method is known here: the file or frame is read as anyone would read it.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import inf, isfinite
from typing import Any, Literal, Protocol

from shoal.arrays import Bools
from shoal.encoding.counts import Counts
from shoal.encoding.domain import Domain, Kind
from shoal.errors import VerificationFailed
from shoal.models.alpha import Alpha
from shoal.models.average_risk import AverageRisk
from shoal.models.base import SIZES_ONLY, Model
from shoal.models.beta import Beta
from shoal.models.delta import Delta
from shoal.models.k import K
from shoal.models.l import EntropyL, L
from shoal.models.requirement import reads_spellings
from shoal.models.t import T

AT_WORST = (
    "A value that was published wider because of a personal preference is counted at its worst, since "
    "the release alone does not say what it was. The run that makes a release checks the values."
)


class ClassCounter(Protocol):
    """Counts the classes of one published table over some columns, as an engine does."""

    def __call__(self, columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:
        """Counts by sensitive column in `of`, and under "" the sizes alone. `of` may hold POPULATION:
        the sizes beside the population under each class."""


@dataclass(frozen=True)
class Finding:
    """One model, checked on the published table."""

    model: str
    """Its name in a policy."""
    asked: float
    """The figure that the policy requires."""
    reached: float
    """The strongest figure that every class holds; infinite where none does."""
    columns: tuple[str, ...]
    """The quasi-identifiers that make the classes."""
    of: str | None
    """The sensitive column, if it concerns one."""
    classes: int
    """Different combinations found."""
    failing: int
    """Classes that fall short."""
    smallest_failing: int | None
    """Rows, or people, of the smallest class that falls short."""
    rows: int
    """Rows in all classes."""
    counted: Literal["rows", "people"] = "rows"
    """What was counted. Where the policy names a person column, people can be counted only with the
    private key of the release."""
    options: dict[str, Any] = field(default_factory=dict)
    """Other options of the model, such as its distance."""

    @property
    def holds(self) -> bool:
        """Whether every class holds."""
        return self.failing == 0

    @property
    def details(self) -> str:
        """Its options in words, to follow its name: `, distance ordered`, ` (enhanced)`."""
        each = self.options.items()
        words = "".join(f", {name} {value}" for name, value in each if not isinstance(value, bool))
        flags = [
            name if value else f"not {name}" for name, value in each if isinstance(value, bool)
        ]
        return words + (f" ({', '.join(flags)})" if flags else "")

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        reached = self.reached if isfinite(self.reached) else None
        return {**asdict(self), "reached": reached, "holds": self.holds}


def check(
    count: ClassCounter, quasi: Sequence[str], models: Sequence[Model]
) -> tuple[Finding, ...]:
    """Check each model on the classes of its own columns."""
    by_columns: dict[tuple[str, ...], list[Model]] = {}
    for model in models:
        by_columns.setdefault(model.quasi_of(quasi), []).append(model)
    found: dict[int, Finding] = {}
    for columns, same in by_columns.items():
        of = list(dict.fromkeys(name for m in same if (name := m.counts_key)))
        counts = count(columns, of)
        for model in same:
            found[id(model)] = _finding(model, counts[model.counts_key], columns)
    return tuple(found[id(model)] for model in models)


def judge(model: Model, counts: Counts) -> tuple[Bools, float]:
    """(g,) whether each class holds, and the strongest figure that all of them hold.

    Where spellings of one value were merged, a model that this could weaken must hold with every
    spelling as a value too.
    """
    held, reached = model.holds(counts), model.reached(counts)
    spelled = counts.spelled
    if spelled is None or spelled.domain is None or not reads_spellings(model, spelled.domain):
        return held, reached
    weaker = min if model.high_is_strong else max
    return held & model.holds(spelled), weaker(reached, model.reached(spelled))


def _finding(model: Model, counts: Counts, columns: tuple[str, ...]) -> Finding:
    held, reached = judge(model, counts)
    failing = counts.sizes[~held]
    if model.release_wide and model.holds_over(counts):  # single classes may fall short
        failing = failing[:0]
    return finding_of(
        model,
        columns,
        reached=reached if counts.n_groups else inf,
        rows=counts.n_rows,
        counted="people" if counts.counts_people else "rows",
        classes=counts.n_groups,
        failing=len(failing),
        smallest_failing=int(failing.min()) if len(failing) else None,
    )


def finding_of(model: Model, columns: tuple[str, ...], **found: Any) -> Finding:
    """The finding of a model; `found` are the fields that depend on the published table."""
    return Finding(
        model=model.name,
        asked=model.figure,
        columns=columns,
        of=model.column or None,
        options=model.options,
        **found,
    )


def require(findings: Sequence[Finding], raised: Container[str] = ()) -> None:
    """Raise `VerificationFailed` unless all findings hold.

    raised: columns with personal preferences, checked without their original values.
    """
    if not any(finding.classes for finding in findings):
        raise VerificationFailed(
            "The release has no rows in which a guarantee could be found: there is nothing to verify."
        )
    broken = [finding for finding in findings if not finding.holds]
    if broken:
        words = [_wording(finding) for finding in broken]
        if any(finding.of in raised for finding in broken):
            words.append(AT_WORST)
        raise VerificationFailed("\n".join(words))


def _wording(finding: Finding) -> str:
    of = (f" of {finding.of}" if finding.of else "") + finding.details
    really = f"The table really holds {finding.model} = {finding.reached:g}{of}."
    if not isfinite(finding.reached):
        really = f"No figure of {finding.model}{of} holds for the table."
    return (
        f"{finding.model} = {finding.asked:g}{of} was promised on {', '.join(finding.columns)}, but "
        f"{finding.failing:,} of {finding.classes:,} published classes fall short; the smallest of "
        f"them has {_amount(finding.smallest_failing, finding.counted)}. "
        f"{really}"
    )


def _amount(n: int | None, counted: str) -> str:
    one = {"rows": "row", "people": "person"}[counted]
    return f"{n} {one if n == 1 else counted}"


@dataclass(frozen=True)
class StarredRows:
    """Rows of a release that read `*` throughout, beside what its policy allows."""

    starred: int
    rows: int
    """Rows of the release, starred ones too."""
    allowed: float
    """The policy's `suppression`: the share of rows that may be suppressed."""

    @property
    def holds(self) -> bool:
        """Whether no more rows are starred than the policy allows."""
        return self.starred <= self.allowed * self.rows

    def require(self) -> None:
        """Raise `VerificationFailed` where more rows are starred than the policy allows."""
        if not self.holds:
            raise VerificationFailed(
                f"{self.starred:,} of {self.rows:,} published rows ({self.starred / self.rows:.1%}) are "
                f"suppressed (`*` in every cell), but the policy allows {self.allowed:.1%} "
                "(`suppression`)."
            )

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {**asdict(self), "holds": self.holds}


@dataclass(frozen=True)
class Strength:
    """The strongest figure of one model that every published class holds."""

    model: str
    """Its name in a policy."""
    of: str | None
    """The sensitive column, if it concerns one."""
    reached: float
    """The figure; infinite where none holds."""
    options: dict[str, Any] = field(default_factory=dict)
    """Other options of the model, such as its distance."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {**asdict(self), "reached": self.reached if isfinite(self.reached) else None}


def strengths(
    count: ClassCounter, quasi: Sequence[str], sensitive: Sequence[str]
) -> tuple[Strength, ...]:
    """Compute every model that needs only its figure; none where there are no classes."""
    counts = count(quasi, sensitive)
    if not counts[SIZES_ONLY].n_groups:
        return ()
    domains = {column: one.domain for column, one in counts.items() if column != SIZES_ONLY}
    raised = [column for column in domains if counts[column].raised is not None]
    return tuple(_strength(model, counts) for model in models_of(domains, raised))


def models_of(columns: Mapping[str, Domain | None], raised: Container[str] = ()) -> Iterator[Model]:
    """The models that apply to sensitive columns with these domains.

    raised: columns with personal preferences, whose wider values count at their worst.
    """
    yield K(1)
    yield AverageRisk(1)
    for column, domain in columns.items():
        yield L(1, column)
        yield Alpha(1, column)
        if column in raised:  # the others cannot be judged at the worst
            continue
        yield EntropyL(1, column)
        yield T(1, column)
        if domain is not None and domain.kind == Kind.RANGE:
            yield T(1, column, "ordered")
        if domain is not None and domain.kind == Kind.TREE:
            yield T(1, column, "hierarchical")
        yield Beta(0, column)
        yield Delta(1, column)


def _strength(model: Model, counts: Mapping[str, Counts]) -> Strength:
    _, reached = judge(model, counts[model.column])
    return Strength(model.name, model.column or None, reached, model.options)
