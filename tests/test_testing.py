"""The conformance checks catch what they are there for: each wrong plug-in is wrong in one way."""
# ruff: noqa: ARG001, ARG002, ARG005 - wrong plug-ins ignore much of what they are given

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest
from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Floats, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.counts import Counts
from shoal.encoding.grouping import Grouping
from shoal.errors import PolicyError
from shoal.methods.base import Method, Progress, QuasiColumns, check_feasible
from shoal.metrics.base import AdditiveMetric, Metric, Node, ReleaseView, Sums, Totals
from shoal.models.base import Model, SensitiveModel
from shoal.models.requirement import Requirement
from shoal.testing import check_method, check_metric, check_model

calls = count()


@dataclass(frozen=True)
class AllTogether(Method):
    """All together: one group of all rows.

    Source: none, a method for tests.
    """

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        check_feasible(cells, requirement)
        progress(1.0)
        group = self.grouped(cells, seed)
        columns = tuple(range(len(cells.domains)))
        return (Grouping(group, int(group.max()) + 1, columns),)

    def grouped(self, cells: Cells, seed: int) -> Any:
        return np.zeros(cells.n_rows, np.int32)


def sorted_by(keys: Any) -> Any:
    """Runs of twenty rows in the order of some keys."""
    group = np.empty(len(keys), np.int32)
    group[np.argsort(keys, kind="stable")] = np.arange(len(keys)) // 20
    return group


class Unfrozen(Method):
    """No dataclass at all.

    Source: none.
    """

    group = AllTogether.group
    grouped = AllTogether.grouped


class BadName(AllTogether):
    """Named badly.

    Source: none.
    """

    name = "Bad_Name"


class NoDocstring(AllTogether): ...


class NoSentence(AllTogether):
    """No full stop"""


class NoSource(AllTogether):
    """Does not name where it comes from."""


@dataclass(frozen=True)
class SilentOption(AllTogether):
    """Has an option that nobody describes.

    Source: none.
    """

    size: int = 3


@dataclass(frozen=True)
class Unequal(AllTogether):
    """Differs from its pickled copy.

    Source: none.
    """

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return 1


@dataclass(frozen=True)
class NotReadable(AllTogether):
    """Has an option that a policy cannot write.

    Source: none.
    """

    size: Annotated[int, Field(le=3)] = 9
    """The size."""


class RefusesEverything(AllTogether):
    """Refuses every policy.

    Source: none.
    """

    def check(self, requirement: Requirement, columns: QuasiColumns) -> None:
        raise PolicyError("never")


class ChangesCells(AllTogether):
    """Writes into its input.

    Source: none.
    """

    def grouped(self, cells: Cells, seed: int) -> Any:
        cells.hashes[:] = 0
        return super().grouped(cells, seed)


class Backwards(AllTogether):
    """Reports progress backwards.

    Source: none.
    """

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        progress(1.0)
        progress(0.5)
        return super().group(cells, requirement, seed, lambda _: None)


class Overdone(Backwards):
    """Reports more than all of the work.

    Source: none.
    """

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        progress(2.0)
        return AllTogether.group(self, cells, requirement, seed, lambda _: None)


class Moody(AllTogether):
    """Takes randomness from elsewhere than the seed.

    Source: none.
    """

    def grouped(self, cells: Cells, seed: int) -> Any:
        return sorted_by(np.random.default_rng(next(calls)).random(cells.n_rows))


class HalfTheColumns(AllTogether):
    """Leaves columns out.

    Source: none.
    """

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        return (replace(super().group(cells, requirement, seed, progress)[0], columns=(0, 1)),)


class TooShort(AllTogether):
    """Forgets a row.

    Source: none.
    """

    def grouped(self, cells: Cells, seed: int) -> Any:
        return np.zeros(cells.n_rows - 1, np.int32)


class EmptyGroup(AllTogether):
    """Leaves a number out.

    Source: none.
    """

    def grouped(self, cells: Cells, seed: int) -> Any:
        return 2 * (np.arange(cells.n_rows, dtype=np.int32) // 30)


class Pairs(AllTogether):
    """Makes groups of two.

    Source: none.
    """

    def grouped(self, cells: Cells, seed: int) -> Any:
        return np.arange(cells.n_rows, dtype=np.int32) // 2


class OnlyCounts(AllTogether):
    """Declares that equal rows stay together, and separates them.

    Source: none.
    """

    only_counts: ClassVar[bool] = True

    def grouped(self, cells: Cells, seed: int) -> Any:
        return np.arange(cells.n_rows, dtype=np.int32) // 20


class TooLow(AllTogether):
    """Publishes a group of all rows as raw values.

    Source: none.
    """

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        grouping = super().group(cells, requirement, seed, progress)[0]
        return (replace(grouping, levels=np.zeros((1, 3), np.int32)),)


class InputOrder(AllTogether):
    """Cuts the rows in the order of the input.

    Source: none.
    """

    def grouped(self, cells: Cells, seed: int) -> Any:
        return sorted_by(cells.rows)


class NeverInfeasible(AllTogether):
    """Goes on where nothing can be done.

    Source: none.
    """

    def group(
        self, cells: Cells, requirement: Requirement, seed: int, progress: Progress
    ) -> tuple[Grouping, ...]:
        return (Grouping(self.grouped(cells, seed), 1, (0, 1, 2)),)


class NoMethod:
    """No method."""


@pytest.mark.parametrize(
    ("method", "fault"),
    [
        (NoMethod, "TypeError: the class does not derive from Method"),
        (Unfrozen, "TypeError: the class is not a frozen dataclass, so its options can be changed"),
        (BadName, "the name 'Bad_Name' is not in kebab case"),
        (NoDocstring, "the class has no docstring of its own"),
        (NoSentence, "the first line of the docstring is not a whole sentence"),
        (NoSource, "the docstring names no `Source:`"),
        (SilentOption, "the option 'size' has no docstring"),
        (Unequal, "Unequal() differs from its pickled copy"),
        (NotReadable, "NotReadable(size=9) cannot be read back from the JSON of its options"),
        (RefusesEverything, "check() refuses k and l, even if every column has a hierarchy"),
        (ChangesCells, "group() changes the cells"),
        (Backwards, "progress is not reported in ascending shares from 0 to 1"),
        (Overdone, "progress is not reported in ascending shares from 0 to 1"),
        (Moody, "two calls with the same seed give different groups"),
        (HalfTheColumns, "the groupings do not cover every column exactly once"),
        (TooShort, "a grouping has 59 rows, the table 60"),
        (EmptyGroup, "groups are not numbered from 0 to n_groups - 1, each with some row"),
        (Pairs, "some groups do not satisfy k = 3"),
        (OnlyCounts, "only_counts is declared, but equal rows are in different groups"),
        (TooLow, "the levels of some group are too low to cover its rows"),
        (InputOrder, "the release depends on the order of the input rows"),
        (NeverInfeasible, "k = 61 is impossible, but Infeasible is not raised"),
    ],
)
def test_wrong_methods(method: Any, fault: str) -> None:
    caught(check_method, method, fault)


@dataclass(frozen=True)
class Size(Model):
    """Size: every group has so many rows.

    Source: none, a model for tests.
    """

    size: Annotated[int, Field(ge=1)]
    """The fewest rows."""

    high_is_strong: ClassVar[bool] = True
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = True

    def strengths(self, counts: Counts) -> Ints | Floats:
        return counts.sizes


@dataclass(frozen=True)
class Share(SensitiveModel):
    """Share: the commonest value makes up at most this share.

    Source: none, a model for tests.
    """

    share: Annotated[float, Field(gt=0, le=1)]
    """The largest share."""
    of: str
    """The sensitive column."""

    high_is_strong: ClassVar[bool] = False
    holds_when_merged: ClassVar[bool] = True

    def strengths(self, counts: Counts) -> Ints | Floats:
        return counts.largest() / counts.sizes


def no_examples(cls: type[Model], column: str = "ill") -> Iterator[Any]:
    return iter(())


def writes(self: Model, counts: Counts) -> Bools:
    counts.sizes[:] += 1
    return np.ones(counts.n_groups, np.bool_)


def sometimes(self: Model, counts: Counts) -> Bools:
    return np.full(counts.n_groups, next(calls) % 2 == 0)


def first_of_all(self: Model, counts: Counts) -> Bools:
    return counts.sizes <= counts.sizes[:1]


def of_no_groups(self: Size, counts: Counts) -> Bools:
    return counts.sizes >= self.size if counts.n_groups else np.ones(1, np.bool_)


def of_table(self: Model, counts: Counts) -> Ints:
    assert counts.totals is not None
    return counts.sizes * int(counts.totals.max())


def of_people(self: Model, counts: Counts) -> Ints:
    assert counts.population is not None
    return counts.population


@pytest.mark.parametrize(
    ("base", "members", "fault"),
    [
        (Size, {"name": "rows"}, "the first field is 'size', but the model is 'rows'"),
        (Size, {"examples": classmethod(no_examples)}, "examples() yields no instance"),
        (
            Size,
            {"holds": lambda self, counts: True},
            "Size(size=1): holds() does not give one truth value per group",
        ),
        (Size, {"holds": writes}, "Size(size=1): holds() changes the counts"),
        (Size, {"holds": sometimes}, "Size(size=1): holds() gives two different results"),
        (Size, {"min_rows": 3}, "Size(size=1): a group with fewer rows than min_rows holds"),
        (Size, {"holds": of_no_groups}, "Size(size=1): holds() of no groups is not empty"),
        (
            Size,
            {"holds": first_of_all},
            "Size(size=1): the result of a group depends on the other groups",
        ),
        (
            Size,
            {"strengths": of_table},
            "Size(size=1): groups are compared with the table, but compares_with_table is not "
            "declared",
        ),
        (
            Size,
            {"strengths": of_people},
            "Size(size=1): the population is used, but needs_population is not declared",
        ),
        (
            Size,
            {"strengths": lambda self, counts: counts.distinct()},
            "Size(size=2): sensitive values are used, but the model names no column: use "
            "SensitiveModel",
        ),
        (
            Share,
            {"strengths": lambda self, counts: 1 - counts.largest() / counts.sizes},
            "Share(share=0.5, of='ill'): holds_when_merged is declared, but two groups that hold do "
            "not when merged",
        ),
        (
            Share,
            {"holds_when_joined": True},
            "Share(share=0.5, of='ill'): holds_when_joined is declared, but a group that holds does "
            "not when joined",
        ),
        (
            Share,
            {
                "stricter_when_folded": True,
                "strengths": lambda self, counts: counts.distinct() / counts.sizes,
            },
            "Share(share=0.1, of='ill'): stricter_when_folded is declared, but a group holds with two "
            "values as one, and not without",
        ),
        (
            Size,
            {"reached": lambda self, counts: 99},
            "Size(size=2): reached() is as strong as required, but some group does not hold",
        ),
        (
            Size,
            {"reached": lambda self, counts: 99},
            "Size(size=2): what reached() states does not hold",
        ),
        (
            Size,
            {"reached": lambda self, counts: 1},
            "Size(size=1): a stronger figure than what reached() states holds as well",
        ),
        (
            Size,
            {"holds_over": lambda self, counts: counts.sizes.mean() >= self.size},
            "Size(size=2): holds_over() differs from every group, but release_wide is not declared",
        ),
        (
            Size,
            {"release_wide": True, "holds_over": lambda self, counts: counts.n_groups > 3},
            "Size(size=1): every group holds, but holds_over() does not: holds() must be sufficient",
        ),
        (
            Size,
            {"over": lambda self, classes, rows: (True, rows)},
            "Size(size=1): over() differs from holds_over() and reached()",
        ),
        (
            Share,
            {"advice": lambda self, everyone: " "},
            "Share(share=0.1, of='ill'): advice() is empty",
        ),
        (
            Share,
            {"least_suppressed": lambda self, everyone: 0},
            "Share(share=0.1, of='ill'): least_suppressed() is not a number of rows",
        ),
    ],
)
def test_wrong_models(
    base: type[Model], members: dict[str, Any], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, member in members.items():
        monkeypatch.setattr(base, name, member)
    caught(check_model, base, fault)


@dataclass(frozen=True)
class Undirected(Model):
    """Does not say which figure is the stronger one.

    Source: none.
    """

    undirected: int
    """The figure."""

    def strengths(self, counts: Counts) -> Ints:
        return counts.sizes


def test_a_model_states_which_figure_is_stronger() -> None:
    caught(check_model, Undirected, "high_is_strong is not declared")


@dataclass(frozen=True)
class Rows(AdditiveMetric):
    """Rows in groups; high is good."""

    high_is_good: ClassVar[bool] = True

    def sums(self, view: ReleaseView) -> Sums:
        return {"rows": float(view.sizes.sum())}

    def figure(self, sums: Sums, totals: Totals) -> float | None:
        return sums["rows"]


@dataclass(frozen=True)
class Unfinished(AdditiveMetric):
    """Lacks sums and figure; high is good."""

    high_is_good: ClassVar[bool] = True


class NotFinite(Rows):
    """Not a number; high is good."""

    def figure(self, sums: Sums, totals: Totals) -> float:
        return math.inf


class WritesGroups(Rows):
    """Writes into the release; high is good."""

    def measure(self, view: ReleaseView) -> float | None:
        view.groupings[0].group[:] = 0
        return super().measure(view)


class TwoFigures(Rows):
    """Counts its calls; high is good."""

    def measure(self, view: ReleaseView) -> float:
        return float(next(calls))


class FirstRow(Rows):
    """The place of a row in the input; high is good."""

    def measure(self, view: ReleaseView) -> float:
        return float(view.cells.rows[0])


class NotAdditive(Rows):
    """The number of parts; high is good."""

    def sums(self, view: ReleaseView) -> Sums:
        return {"rows": 1.0}


class OtherNode(Rows):
    """Counts suppressed rows for a node; high is good."""

    def of_node(self, node: Node) -> float:
        return float(node.suppressed_rows) + 1


@dataclass(frozen=True)
class LargestGroup(Metric):
    """The largest group; wrongly declared to only worsen: high is good."""

    high_is_good: ClassVar[bool] = True
    only_worsens: ClassVar[bool] = True

    def measure(self, view: ReleaseView) -> float:
        return float(view.sizes.max(initial=0))


@dataclass(frozen=True)
class Neither(Metric):
    """Does not say whether high is good."""

    def measure(self, view: ReleaseView) -> float:
        return 1.0


@pytest.mark.parametrize(
    ("metric", "fault"),
    [
        (AllTogether, "TypeError: the class does not derive from Metric"),
        (Unfinished, "TypeError: Can't instantiate abstract class Unfinished"),
        (Neither, "high_is_good is not declared"),
        (NotFinite, "measure() gives inf, not a finite number or None"),
        (WritesGroups, "measure() changes the release"),
        (TwoFigures, "measure() gives two different figures"),
        (FirstRow, "the figure depends on the order of the input rows"),
        (NotAdditive, "sums() over the parts do not give the figure of the whole"),
        (OtherNode, "of_node() differs from measure() of the same release"),
        (
            LargestGroup,
            "only_worsens is declared, but merging or suppressing improves the figure",
        ),
    ],
)
def test_wrong_metrics(metric: Any, fault: str) -> None:
    caught(check_metric, metric, fault)


def test_right_plug_ins_pass() -> None:
    check_method(AllTogether)
    check_method(AllTogether())
    check_model(Size)
    check_model(Share(0.5, "ill"))
    check_metric(Rows)


def caught(check: Any, plugin: type, fault: str) -> None:
    with pytest.raises(AssertionError) as raised:
        check(plugin)
    first, *lines = str(raised.value).splitlines()
    assert first == f"{plugin.__name__} does not conform:"
    assert any(line.startswith(f"- {fault}") for line in lines), raised.value
    assert len(lines) == len(set(lines))
