"""All the models of a policy, applied together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Bools
from shoal.encoding.counts import Counts
from shoal.encoding.domain import Domain, Kind
from shoal.models.base import SIZES_ONLY, Model, SensitiveModel


def in_both_spellings(models: Sequence[Model], domains: Mapping[str, Domain]) -> tuple[Model, ...]:
    """The models, and again those that must also hold where every spelling is a value.

    domains: those of the sensitive columns, among them columns with the spellings of others.
    """
    spelled = {domain.spelled_of: domain for domain in domains.values() if domain.spelled_of}
    more = [
        replace(model, of=spelled[model.column].name)
        for model in models
        if isinstance(model, SensitiveModel)
        and model.column in spelled
        and reads_spellings(model, spelled[model.column])
    ]
    return (*models, *more)


def reads_spellings(model: Model, domain: Domain) -> bool:
    """Whether a model must also hold with every spelling as a value of its own.

    domain: that of the spellings. Where these have no order, equal numbers have one place in it.
    """
    needed = {"ordered": Kind.RANGE, "hierarchical": Kind.TREE}.get(model.column_kind or "")
    return not model.stricter_when_folded and needed in (None, domain.kind)


@dataclass(frozen=True)
class Requirement:
    """What every group must hold. Methods apply this and know nothing of single models."""

    models: tuple[Model, ...]
    may_suppress: int | None = None
    """The most rows that may be suppressed; None where the policy sets no limit."""
    counts_people: bool = False
    """Whether people are counted in place of rows: a person may have several."""
    together: bool = False
    """Whether all rows of a person are protected together."""

    @property
    def min_rows(self) -> int:
        """No group with fewer rows can hold."""
        return max((model.min_rows for model in self.models), default=1)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns whose counts are needed; none when only sizes matter."""
        return tuple(dict.fromkeys(model.column for model in self.models if model.column))

    @property
    def min_values(self) -> dict[str, int]:
        """By sensitive column, the different values below which no group can hold."""
        return {
            name: max(model.min_values for model in self.models if model.column == name)
            for name in self.columns
        }

    @property
    def max_shares(self) -> dict[str, float]:
        """By sensitive column, the share of its rows above which no value may be in a group."""
        return {
            name: min(model.max_share for model in self.models if model.column == name)
            for name in self.columns
        }

    @property
    def only_values(self) -> bool:
        """Whether a group of `min_rows` rows and `min_values` different values always holds."""
        return not self.counts_people and all(model.holds_with_values for model in self.models)

    @property
    def only_counts_values(self) -> bool:
        """Whether the groups of `min_rows` rows and `min_values` values hold, and no others do."""
        missing = any(model.holds_without_values for model in self.models)
        return self.only_values and bool(self.columns) and not missing

    @property
    def only_size(self) -> bool:
        """Whether a group of `min_rows` rows always holds."""
        more = self.needs_population or self.needs_weights or self.counts_people
        return not self.columns and not more

    @property
    def needs_population(self) -> bool:
        """Whether some model compares groups with the policy's population."""
        return any(model.needs_population for model in self.models)

    @property
    def needs_weights(self) -> bool:
        """Whether some model adds up the policy's sampling weights."""
        return any(model.needs_weights for model in self.models)

    @property
    def holds_when_merged(self) -> bool:
        """Whether two groups that hold, merged, always give one that holds."""
        return self._merges and all(model.holds_when_merged for model in self.models)

    @property
    def holds_when_joined(self) -> bool:
        """Whether a group that holds still does when merged with any other."""
        return self._merges and all(model.holds_when_joined for model in self.models)

    @property
    def _merges(self) -> bool:
        return not self.counts_people or all(model.merges_with_people for model in self.models)

    def holds(self, counts: Mapping[str, Counts]) -> Bools:
        """(g,) whether each group holds every model, given the counts by `Model.counts_key`.

        The counts under SIZES_ONLY are always there.
        """
        held = np.ones(counts[SIZES_ONLY].n_groups, dtype=np.bool_)
        for model in self.models:
            held &= model.holds(counts[model.counts_key])
        return held
