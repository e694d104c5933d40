"""Whether a node of the lattice may be published, and which of its classes are suppressed then."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.methods._classes import Classes, Counting, Flags
from shoal.models.requirement import Model, Requirement, asked_under


@dataclass(frozen=True)
class Judge:
    """Asks the models of a requirement about nodes.

    Classes that do not hold are suppressed whole. A node is valid when at most `limit` rows are, and
    something is left. What is left is judged again, compared with itself, as anyone who reads the
    release will judge it; that goes on until nothing more falls.
    """

    counting: Counting
    requirement: Requirement

    @property
    def limit(self) -> int:
        """The most rows that may be suppressed; none where the policy sets no limit."""
        return self.requirement.may_suppress or 0

    @property
    def monotone(self) -> bool:
        """Whether every node above a valid one is surely valid too.

        Without suppression it is enough that classes that hold, merged, hold. With it, a class that
        holds must not be spoilt by one that does not. What is judged over the whole release promises
        neither.
        """
        if any(hasattr(model, "holds_over") for model in self.requirement.models):
            return False
        merged = self.requirement.holds_when_merged
        return merged and (self.limit == 0 or self.requirement.holds_when_joined)

    def kept(self, classes: Classes) -> Flags | None:
        """(classes,) those that may be published, or None where the node is not valid."""
        every = self.requirement.models
        over = [model for model in every if hasattr(model, "holds_over")]
        kept = self._settled(classes, [model for model in every if model not in over])
        if not over:
            return kept
        # at best the release as a whole holds; else each class must, which is enough for that
        if kept is not None and self._hold_over(classes, kept, over):
            return kept
        return self._settled(classes, every)

    def _hold_over(self, classes: Classes, kept: Flags, models: Sequence[Model]) -> bool:
        counts = self.counting.counts(classes, kept)
        return all(model.holds_over(counts[asked_under(model)]) for model in models)  # type: ignore[attr-defined]

    def _settled(self, classes: Classes, models: Sequence[Model]) -> Flags | None:
        """The classes that are left when nothing falls any more."""
        kept = np.ones(len(classes), np.bool_)
        counts = self.counting.counts(classes)
        fallen = 0
        while True:
            held = np.ones(int(kept.sum()), np.bool_)
            for model in models:
                held &= model.holds(counts[asked_under(model)])
            if held.all():
                return kept
            at = np.flatnonzero(kept)[~held]
            fallen += int(classes.sizes[at].sum())
            kept[at] = False
            if fallen > self.limit or not held.any():
                return None
            if self.requirement.only_size:
                return kept
            counts = self.counting.counts(classes, kept)
