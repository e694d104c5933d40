"""What a preset is: the rules of an authority, as constraints, column rules and checks of a release.

A preset adds constraints and column settings to a policy. A policy may be stricter than its presets,
never weaker. What can be checked is checked on the published text; what only a person can judge is
listed, in every output of the release.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from shoal import plugins
from shoal.models.base import Model

if TYPE_CHECKING:
    import pyarrow as pa

FieldPath = tuple[str | int, ...]


class DeclaredColumn(Protocol):
    """What a preset sees of a policy's column."""

    @property
    def role(self) -> str:
        """Its role."""

    @property
    def hierarchy(self) -> Any:
        """Its hierarchy, or None."""

    @property
    def top(self) -> float | None:
        """Numbers from here on are published together."""

    @property
    def bottom(self) -> float | None:
        """Numbers up to here are published together."""

    @property
    def zip3(self) -> str | None:
        """The path of a table of people by area, where zip codes are published by their area."""

    @property
    def type(self) -> str | None:
        """How texts are read: `number`, `date` or `text`."""

    @property
    def dates(self) -> str | None:
        """The format of its dates."""

    @property
    def is_published(self) -> bool:
        """Whether the release has the column."""


class DeclaredPolicy(Protocol):
    """What a preset sees of a policy."""

    @property
    def columns(self) -> Mapping[str, DeclaredColumn]:
        """The columns by name."""

    @property
    def constraints(self) -> Sequence[Model]:
        """The privacy models."""

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""

    @property
    def unchanged(self) -> tuple[str, ...]:
        """The columns with the role plain."""

    @property
    def person(self) -> str | None:
        """The column that tells people apart, or None."""

    @property
    def publish(self) -> str:
        """`generalised` or `anatomy`."""

    @property
    def folder(self) -> Path:
        """Where relative paths start."""


@dataclass(frozen=True)
class Source:
    """Where the figures of a preset come from."""

    title: str
    section: str
    year: int

    def __str__(self) -> str:
        section = f", {self.section}" if self.section else ""
        return f"{self.title}{section} ({self.year})"


@dataclass(frozen=True)
class Refusal:
    """A part of a policy that a preset does not allow."""

    path: FieldPath
    text: str


@dataclass(frozen=True)
class ValueCheck(ABC):
    """A check of every published text of one column; it can be sent to another process."""

    rule: str
    """The name of the preset's rule that it belongs to."""
    column: str

    @abstractmethod
    def broken(self, texts: Sequence[str]) -> list[bool]:
        """Whether each of some different texts breaks the rule."""

    def may_break(self, texts: "pa.Array") -> bool:  # noqa: ARG002 - any text may
        """Whether some of these texts might break the rule, where that can be seen much faster.

        texts: strings with offsets of 32 bits, the same ones several times or some of them missing.
        """
        return True

    @property
    @abstractmethod
    def words(self) -> str:
        """What is wrong with such texts, to follow `has`; no text is repeated."""


@dataclass(frozen=True)
class Rule:
    """One requirement of a preset that is checked on the release."""

    name: str
    text: str
    """What it requires, as a sentence."""
    model: Model | None = None
    """The privacy model that the release must hold."""
    checks: tuple[ValueCheck, ...] = ()
    """The checks of published columns."""
    looks_for: str = ""
    """What a column must be for a check, such as `column of zip codes`: where none was recognised,
    nothing was checked."""


class Preset(plugins.Plugin, ABC):
    """The base class of presets.

    A preset is a frozen pydantic dataclass: its fields are what a policy may state beside its name,
    such as a table that the preset needs.
    """

    kind: ClassVar[plugins.Kind] = "presets"

    title: ClassVar[str]
    """What it is, in a few words."""
    sources: ClassVar[tuple[Source, ...]]
    """Where its figures come from."""
    asks: ClassVar[tuple[str, ...]]
    """What it requires and checks, a sentence each."""
    judged_by_people: ClassVar[tuple[str, ...]]
    """What no program can check, a sentence each."""
    dates_by_year: ClassVar[bool] = False
    """Whether it publishes dates by their year, so that a draft has no hierarchy of dates."""

    @abstractmethod
    def constraints(self) -> tuple[Model, ...]:
        """The models that it puts into a policy."""

    def column_settings(self, policy: DeclaredPolicy) -> Mapping[str, Mapping[str, Any]]:  # noqa: ARG002
        """The settings that it puts into columns which do not state them."""
        return {}

    def refusals(self, policy: DeclaredPolicy) -> Iterator[Refusal]:  # noqa: ARG002
        """What a policy says that the preset does not allow, its constraints aside."""
        return iter(())

    def unpublished(self, name: str) -> str:  # noqa: ARG002
        """Why a draft leaves a column of this name out; empty where it does not."""
        return ""

    def rules(self, policy: DeclaredPolicy) -> tuple[Rule, ...]:
        """What is checked on a release of a policy."""
        return tuple(
            Rule(model.name, _sentence(model, policy.person is not None), model)
            for model in self.constraints()
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of files that it reads, as the policy writes them."""
        return ()

    @property
    def stated(self) -> dict[str, Any]:
        """What a policy states beside its name, as plain values."""
        given = {each.name: (getattr(self, each.name), each.default) for each in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, (value, default) in given.items()
            if value != default
        }

    def to_judge(self, policy: DeclaredPolicy) -> tuple[str, ...]:
        """What a person must still judge about a release of a policy, a sentence each."""
        plain = policy.unchanged
        if not plain or not self.constraints():
            return self.judged_by_people
        which = f"{', '.join(plain[:8])}{' and others' if len(plain) > 8 else ''}"
        return (
            f"Nobody can know the values of the plain columns {which}: no class size covers them.",
            *self.judged_by_people,
        )


def is_stronger(model: Model, other: Model) -> bool:
    """Whether the figure of a model is stronger than that of another of its kind."""
    if model.high_is_strong:
        return model.figure > other.figure
    return model.figure < other.figure


def _sentence(model: Model, people: bool) -> str:
    whom = "people" if people else "rows"
    if model.name == "k":
        return f"Every published combination of quasi-identifiers has at least {model.figure:g} {whom}."
    return f"Every published class holds {model.name} = {model.figure:g}."
