"""What every method is, and the questions that methods put to a requirement."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal import plugins
from shoal.arrays import Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.counts import Counts, Reference, size_counts
from shoal.encoding.grouping import Grouping
from shoal.errors import Infeasible, PolicyError, listed
from shoal.kernels.equivalence_classes import count_people, count_runs, count_values_of_people
from shoal.models.base import POPULATION, SIZES_ONLY, WEIGHTS
from shoal.models.requirement import Requirement

if TYPE_CHECKING:
    from shoal.methods.partition import PartitionRule

STEP = 4
"""Larger groups are tried in steps of one in so many rows."""
FEW = 16
"""People are numbered anew for counting where they are fewer than this fraction of all."""

Progress = Callable[[float], None]
"""Called now and then with the share of the work that is done, 0 to 1."""

QuasiColumns = Mapping[str, bool]
"""The quasi-identifiers, in the policy's order, and whether each has a hierarchy."""


class Method(plugins.Plugin, ABC):
    """A way to put rows into groups.

    A method is one file in `methods/` with a frozen pydantic dataclass that derives from this class;
    its fields are the method's options.
    """

    kind: ClassVar[plugins.Kind] = "methods"

    along_hierarchies: ClassVar[bool] = False
    """Whether the method generalises along hierarchies alone. Where a column has a hierarchy and a kind
    too, such a method takes the hierarchy, and every other one the kind."""

    refinable: ClassVar[bool] = True
    """Whether the rows of its groups may be rearranged afterwards (`refine` in a policy)."""

    @property
    def only_counts(self) -> bool:
        """Whether equal rows are always treated alike, so that the distinct rows and their counts are
        all that the method needs."""
        return False

    @property
    def honours_importance(self) -> bool:
        """Whether the `importance` of columns counts in what the method minimises: so it is where
        losses are read from `costs_of` and the like."""
        return True

    @property
    def weights(self) -> Mapping[str, float] | None:
        """How much each quasi-identifier counts in the loss; None where all count alike."""
        return None

    @property
    def block_rows(self) -> int | None:
        """About how many rows a block has, where the method is to run block by block.

        `group` itself knows nothing of blocks: see `methods/blocks.py`.
        """
        return None

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        """Raise `PolicyError`, before any work, where the method cannot honour a policy.

        The message should name methods that can. By default every policy is accepted.
        """

    def starts(
        self,
        cells: Cells,
        requirement: Requirement,
    ) -> Iterator[tuple[Requirement, Grouping]]:
        """Groups that refinement may start from beside those of `group`, and what they hold, which is at
        least the requirement."""
        return iter(())

    def partition_rule(self) -> "PartitionRule | None":
        """The rule by which the table is cut top-down, for methods that only do that.

        Such a method also runs on tables larger than memory, where the rule sees histograms.
        """
        return None

    @abstractmethod
    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        """Put the rows into groups that satisfy the requirement.

        Parameters
        ----------
        cells
            The table as codes, in canonical order.
        requirement
            The models of the policy. A method asks it about many groups at once.
        seed
            The only source of randomness.
        progress
            Called now and then with the share of the work that is done.

        Returns
        -------
        tuple of Grouping
            Mostly one grouping over all columns. A method that treats sets of columns independently
            returns one for each set; no column belongs to two of them.

        Raises
        ------
        Infeasible
            No grouping satisfies the requirement.
        """


@dataclass(frozen=True)
class BlockMethod(Method):
    """A method that can run inside blocks of neighbouring rows, each as if it were the table."""

    block_rows: Annotated[int, Field(ge=2)] | None = None
    """About how many rows a block has: the method then runs inside blocks of neighbouring rows, which
    is faster and loses more. Without it all rows are one block."""

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        """Refuse models that cannot be judged inside a block, not knowing what others suppress."""
        found = [model.name for model in requirement.models if model.compares_with_table]
        if self.block_rows is not None and found:
            raise PolicyError(
                f"method: {self.name} with `block_rows` cannot honour "
                f"{listed(found)}: rows suppressed in one block would change what every other is "
                "compared with. Leave `block_rows` out, or use least-loss-partition."
            )


class FullDomainMethod(Method):
    """A method that generalises along hierarchies, the same value in the same way everywhere."""

    along_hierarchies: ClassVar[bool] = True
    refinable: ClassVar[bool] = False
    uses_hierarchies: ClassVar[str]
    """What the method does with hierarchies, for the message where a column has none."""

    @property
    def only_counts(self) -> bool:
        """Rows with equal values have the same levels."""
        return True

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        """Raise `PolicyError` unless every column has a hierarchy."""
        bare = [name for name, has_tree in columns.items() if not has_tree]
        if bare:
            raise PolicyError(
                f"method: {self.name} {self.uses_hierarchies} hierarchies, but "
                f"{listed(bare)} {'has' if len(bare) == 1 else 'have'} none. Give each a "
                "`hierarchy`, or use least-loss-partition."
            )


def counts_of_runs(
    cells: Cells,
    requirement: Requirement,
    rows: Codes,
    starts: Ints,
    totals: Mapping[str, Reference] | None = None,
) -> Mapping[str, Counts]:
    """Counts of the groups rows[starts[i]:starts[i+1]] of canonical rows, for `Requirement.holds`.

    totals: what groups are compared with; the whole table's where it is not given.
    """
    reference = cells.totals if totals is None else totals
    sizes = np.diff(starts)
    counts = {SIZES_ONLY: size_counts(sizes)}
    if cells.people is not None:
        person, n_people = _compact(cells.people.number[rows], cells.people.count)
        people = count_people(person, starts, n_people)
        counts[SIZES_ONLY] = size_counts(people, rows=sizes)
    if requirement.needs_population:
        assert cells.population is not None, "the policy names a population"
        summed = np.append(0, np.cumsum(cells.population[rows]))
        counts[POPULATION] = replace(counts[SIZES_ONLY], population=np.diff(summed[starts]))
    if requirement.needs_weights:
        weights = _weights_of_runs(cells, rows, starts)
        counts[WEIGHTS] = replace(counts[SIZES_ONLY], weights=weights)
    for column in requirement.columns:
        domain = cells.sensitive_domains[column]
        codes, whole = cells.sensitive[column][rows], reference[column]
        if cells.people is None:
            histograms = count_runs(codes, starts, domain.size, domain.missing)
            counts[column] = Counts(sizes, *histograms, domain, whole.counts)
            continue
        pair, n_pairs = _compact(cells.pairs[column][rows], cells.n_rows)
        begins, values, amounts, known = count_values_of_people(
            codes, person, pair, starts, domain.size, domain.missing, n_people, n_pairs
        )
        counts[column] = Counts(
            people,
            begins,
            values,
            amounts,
            domain,
            whole.counts,
            whole.people,
            known=known,
            rows=sizes,
        )
    return counts


def _weights_of_runs(cells: Cells, rows: Codes, starts: Ints) -> Ints:
    """(g,) the sum of the weights of each run, those of a person's rows once."""
    assert cells.weights is not None, "the policy has a column of weights"
    weights = cells.weights[rows]
    if cells.people is not None:
        group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        pairs = group * np.int64(cells.people.count) + cells.people.number[rows]
        first = np.zeros(len(rows), np.bool_)
        first[np.unique(pairs, return_index=True)[1]] = True
        weights = np.where(first, weights, 0)
    summed = np.append(0, np.cumsum(weights))
    return np.diff(summed[starts])


def _compact(numbers: Codes, size: int) -> tuple[Codes, int]:
    """Numbers below `size`, numbered anew where they are few: counting takes room for all of them."""
    if FEW * len(numbers) >= size:
        return numbers, size
    found, number = np.unique(numbers, return_inverse=True)
    return number.reshape(-1).astype(np.int32), len(found)


def check_feasible(cells: Cells, requirement: Requirement, *, can_suppress: bool = False) -> None:
    """Raise `Infeasible`, with the nearest feasible figure, if not even one group of all rows holds.

    Models hold for a merger of groups that hold, so then no grouping of all rows can hold. (Where a
    model says otherwise of itself, a search that starts from all rows finds none.)
    can_suppress: for methods that may leave rows out; they go on where the policy allows as many as
    the model says are needed.
    """
    everyone = np.arange(cells.n_rows, dtype=np.int32)
    counts = counts_of_runs(cells, requirement, everyone, np.array([0, cells.n_rows], np.int64))
    check_holds(counts, requirement, can_suppress=can_suppress)


def check_holds(
    counts: Mapping[str, Counts], requirement: Requirement, *, can_suppress: bool = False
) -> None:
    """The same as `check_feasible`, from the counts of all rows as one group."""
    for model in requirement.models:
        everyone = counts[model.counts_key]
        if model.holds(everyone).all():
            continue
        if requirement.counts_people and not model.merges_with_people:
            continue  # smaller groups may hold where all people together do not
        may, needed = requirement.may_suppress, model.least_suppressed(everyone)
        if can_suppress and needed is not None and may is not None and needed <= may:
            continue
        raise Infeasible(model.advice(everyone))


def generalisation_summary(grouping: Grouping, names: Sequence[str]) -> list[str]:
    """Per column, how many rows were generalised by how many levels; then the suppressed rows.

    For groupings that fix the levels.
    """
    levels = grouping.levels
    assert levels is not None
    sizes = np.bincount(grouping.group[grouping.group >= 0], minlength=len(levels))
    wide = max(len(names[column]) for column in grouping.columns)
    lines = []
    for j, column in enumerate(grouping.columns):
        rows = np.bincount(levels[:, j], sizes).astype(int).tolist()
        raised = [
            f"{_counted(level, 'level')} in {_counted(n, 'row')}"
            for level, n in enumerate(rows)
            if level and n
        ]
        lines.append(f"  {names[column]:<{wide}}  {', '.join(raised) or 'stays as it is'}")
    if suppressed := int((grouping.group < 0).sum()):
        lines.append(f"  {_counted(suppressed, 'row')} suppressed in these columns")
    return lines


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def sizes_from(least: int) -> Iterator[int]:
    """So many rows, and then those of a fixed list that are more: all constraints look at the same."""
    yield least
    size = 2
    while True:
        if size > least:
            yield size
        size += max(1, size // STEP)
