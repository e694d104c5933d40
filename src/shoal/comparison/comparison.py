"""Compare methods on one table: they run one after another in a process of their own."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal import seeds
from shoal.comparison.child import Child
from shoal.comparison.criterion import RISK, Criterion, check_rows
from shoal.comparison.outcome import Outcome, frontier
from shoal.comparison.plan import Ks, Methods, make_plan, own_k, read_budget
from shoal.comparison.ranking import Recommendation, Unfinished, ranked, recommend, unfinished
from shoal.comparison.runner import Worker, run_job
from shoal.engines.capabilities import refuse_task
from shoal.engines.files import LocalFiles, wrap
from shoal.engines.sessions import is_spark
from shoal.errors import InputError
from shoal.io.address import Place, as_place
from shoal.io.arrow import without_category_order
from shoal.io.csv_dialect import CsvOptions
from shoal.plugins import name_of
from shoal.policy import Policy
from shoal.progress import ProgressCallback, ProgressEvent, ignore_event
from shoal.results import Record, Result
from shoal.version import __version__

FORMAT = 1
"""Version of the JSON document."""


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """The outcome of every method at every k."""

    policy: Policy
    """As it was given."""
    rows: int
    """Rows of the table."""
    ks: tuple[int | None, ...]
    """The k that were compared; None for a policy whose own constraints do not share one."""
    replaced: bool
    """Whether these k replaced those of the policy."""
    budget: float | None
    """Seconds that each run had."""
    outcomes: tuple[Outcome, ...]
    """In the order of k, then of the methods' names."""
    name: str = ""
    """Of the table's file."""
    warnings: tuple[str, ...] = ()
    """What was guessed about the file."""
    outputs: tuple[Path, ...] = ()
    """The files that were written."""
    by: Criterion = Criterion()  # noqa: RUF009, it never changes
    """What was asked to decide."""

    @property
    def method(self) -> str:
        """The policy's own method."""
        return name_of(type(self.policy.method))

    @property
    def done(self) -> list[Outcome]:
        """The outcomes that finished and were verified."""
        return [one for one in self.outcomes if one.status == "done"]

    @property
    def criterion(self) -> Criterion:
        """What decides: risk in place of loss with Anatomy, which loses none, whatever the method."""
        is_anatomy = self.policy.publish == "anatomy"
        return Criterion(RISK) if is_anatomy and self.by.is_loss else self.by

    @property
    def has_own_figure(self) -> bool:
        """Whether what decides is shown beside loss and risk: a metric, or models."""
        return not (self.criterion.is_loss or self.criterion.is_risk)

    @property
    def by_risk(self) -> bool:
        """Whether methods are judged by risk."""
        return self.criterion.is_risk

    @cached_property
    def recommended(self) -> Recommendation | None:
        """The method to use, with the reason; None where none finished."""
        return recommend(self.outcomes, self.method, own_k(self.policy), self.criterion)

    @property
    def chosen(self) -> Outcome | None:
        """The outcome of the recommended method."""
        wanted = self.recommended
        if wanted is None:
            return None
        return next(o for o in self.done if (o.method, o.k) == (wanted.method, wanted.k))

    @cached_property
    def frontier(self) -> list[Outcome]:
        """The outcomes that no other beats in both the criterion and average risk."""
        optimal = frontier([self.criterion.point(one) for one in self.done])
        return [one for one, best in zip(self.done, optimal, strict=True) if best]

    @cached_property
    def unfinished(self) -> list[Unfinished]:
        """What has no result: an entry per reason."""
        return unfinished(self.outcomes, len(self.ks))

    @property
    def none_can(self) -> bool:
        """Whether no method can make a release; more time would not help."""
        return all(one.status in ("cannot", "infeasible") for one in self.outcomes)

    def ranked(self, k: int | None) -> list[Outcome]:
        """The finished runs of one k, the best first."""
        return ranked(self.outcomes, k, self.criterion)

    def write(self, path: str | Path, force: bool = False) -> list[Path]:
        """Write a page (`.html`) and the JSON beside it, or the JSON alone (`.json`)."""
        from shoal.comparison.page import write_comparison

        return write_comparison(self, Path(path), force)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole result as plain values that JSON can hold."""
        recommended = self.recommended
        return {
            "comparison": FORMAT,
            "shoal": __version__,
            "name": self.name,
            "rows": self.rows,
            "policy": self.policy.fingerprint(),
            "method": self.method,
            "publish": self.policy.publish,
            "ks": list(self.ks),
            "replaced": self.replaced,
            "budget": self.budget,
            "by": self.criterion.to_dict(),
            "recommended": None if recommended is None else asdict(recommended),
            "outcomes": self._outcomes(),
            "warnings": list(self.warnings),
        }

    def _outcomes(self) -> list[dict[str, Any]]:
        best = {id(one) for one in self.frontier}
        return [
            one.to_dict() | {"figure": self._figure(one), "frontier": id(one) in best}
            for one in self.outcomes
        ]

    def _figure(self, outcome: Outcome) -> float | None:
        """The figure of the criterion; None where a run has no result."""
        return None if outcome.figures is None else self.criterion.figure(outcome)

    def _records(self) -> Sequence[Record]:
        """A row per run with the criterion and its figure; the two of risk are columns of their own."""
        records = []
        for outcome in self._outcomes():
            risk = outcome.pop("risk") or {"highest": None, "average": None}
            del outcome["models"]
            risks = {"highest_risk": risk["highest"], "average_risk": risk["average"]}
            records.append(outcome | risks | {"by": self.criterion.name})
        return records

    def _headline(self) -> str:
        finished = f"{len(self.done)} of {len(self.outcomes)} runs finished"
        if self.chosen is None:
            return finished
        shown = f"{self.criterion.noun} {self.criterion.shown(self.chosen)}"
        return f"{finished}; take {self.chosen.method}: {shown}"

    def _repr_html_(self) -> str | None:
        """Return the notebook display; a plain table where charts cannot be drawn."""
        from shoal.drawing.page import can_draw

        if not can_draw():
            return super()._repr_html_()
        from shoal.comparison.page import notebook

        return notebook(self)


def compare(
    data: Any,
    policy: Any,
    child: Child,
    methods: Methods = None,
    k: Ks = None,
    budget: float | None = None,
    progress: ProgressCallback | None = None,
    options: CsvOptions | None = None,
    by: str | None = None,
    target: str | None = None,
) -> Comparison:
    """Run methods side by side: what each loses, how risky its release is, and which one to use.

    Parameters
    ----------
    data, policy
        As `anonymize` takes them.
    child
        The process in which the methods run; it has ended afterwards.
    methods
        Their names; all methods when left out. The policy's own method keeps its options, others
        have their defaults.
    k
        Replaces the k of every k constraint; several are tried one after another.
    budget
        Seconds after which a run is stopped.
    progress
        Called with a `ProgressEvent` that names the method and its k. Steps are those of a run,
        `wait` and `start` before them, and at the end the status: `done`, `infeasible` and so on.
    options
        How a CSV file is written; detected when left out.
    by, target
        The criterion by which methods are ranked, and for `accuracy` the column that models predict.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError, PolicyError
        If the table, the policy or an option is wrong, before any run starts.
    """
    rules, seconds = Policy.load(policy), read_budget(budget)
    # all methods with one seed
    seeded = rules if rules.seed is not None else rules.replace_keys(seed=seeds.draw())
    name, guessed = "", tuple[str, ...]()
    data = as_place(data)
    if isinstance(data, Place):
        local, path = LocalFiles(), data
        name = path.name
        options, guessed = local.settle(path, rules.read.file if options is None else options)
        names = local.names(path, options)
        plan = make_plan(seeded, names, methods, k, by, target)
        table = local.read(path, options, rules.needed(names))
        table = without_category_order(table, rules.quasi)
    else:
        if is_spark(data):
            refuse_task("large", "compare")
        frame = wrap(data)
        plan = make_plan(seeded, frame.names, methods, k, by, target)
        table = pa.table({column: frame.column(column) for column in rules.needed(frame.names)})
    if table.num_rows == 0:
        raise InputError("The table has column names but no rows: there is nothing to compare.")
    check_rows(plan.criterion, table, seeded)
    report = progress or ignore_event
    for refused in plan.refused:
        report(ProgressEvent(refused.status, 1.0, method=refused.method, k=refused.k))
    for job in plan.jobs:
        report(ProgressEvent("wait", 0.0, method=job.method, k=job.k))
    outcomes = list(plan.refused)
    with Worker(table, child) as worker:
        for job in plan.jobs:
            outcome = run_job(job, worker, seconds, report)
            report(ProgressEvent(outcome.status, 1.0, method=job.method, k=job.k))
            outcomes.append(outcome)
    outcomes.sort(key=lambda one: (plan.ks.index(one.k), plan.methods.index(one.method)))
    return Comparison(
        rules,
        table.num_rows,
        plan.ks,
        k is not None,
        seconds,
        tuple(outcomes),
        name,
        guessed,
        by=plan.criterion,
    )
