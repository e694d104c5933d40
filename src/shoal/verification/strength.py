"""How strong a release is by the models that nobody asked for."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any

from shoal.cells.counts import Counts
from shoal.cells.domain import Domain, Kind
from shoal.models.alpha import Alpha
from shoal.models.average_risk import AverageRisk
from shoal.models.beta import Beta
from shoal.models.delta import Delta
from shoal.models.entropy_l import EntropyL
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import SIZES_ONLY, Model, column_of, name_of, options_of
from shoal.models.t import T
from shoal.verification.check import ClassCounter


@dataclass(frozen=True)
class Strength:
    """The strongest figure of one model that every published class holds."""

    model: str
    """Its name in a policy."""
    of: str | None
    """The sensitive column, if it speaks of one."""
    reached: float
    """The figure; infinite where none holds."""
    options: dict[str, Any] = field(default_factory=dict)
    """What else was said of the model, such as its distance."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {**asdict(self), "reached": self.reached if isfinite(self.reached) else None}


def strengths(
    count: ClassCounter, quasi: Sequence[str], sensitive: Sequence[str]
) -> tuple[Strength, ...]:
    """Ask every model that needs nothing but its figure; none where there are no classes."""
    counts = count(quasi, sensitive)
    if not counts[SIZES_ONLY].n_groups:
        return ()
    domains = {column: one.domain for column, one in counts.items() if column != SIZES_ONLY}
    raised = [column for column in domains if counts[column].raised is not None]
    return tuple(_ask(model, counts) for model in models_of(domains, raised))


def models_of(columns: Mapping[str, Domain | None], raised: Container[str] = ()) -> Iterator[Model]:
    """The models to ask of sensitive columns and what their values mean.

    raised: columns in which wishes were heard, so that they are judged at the worst.
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


def _ask(model: Model, counts: Mapping[str, Counts]) -> Strength:
    reached = model.reached(counts[column_of(model)])
    return Strength(name_of(model), column_of(model) or None, reached, options_of(model))
