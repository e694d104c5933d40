"""Run methods side by side, each in a process of its own, one after another."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.comparison.comparison import Comparison
from shoal.comparison.plan import KAsked, MethodsAsked, Plan, planned, read_budget
from shoal.comparison.runner import run_job
from shoal.engines.files import LocalFiles, wrap
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions
from shoal.policy import Policy

Watch = Callable[[str, int | None, str, float], None]
"""Told the method, the k, the step and how much of the step is done. Steps are those of a run, `wait`
and `start` before them, and at the end what became of it: `done`, `infeasible` and so on."""
DETECT = CsvOptions()


def compare(
    data: Any,
    policy: Any,
    methods: MethodsAsked = None,
    k: KAsked = None,
    budget: float | None = None,
    progress: Watch | None = None,
) -> Comparison:
    """Run methods side by side: what each loses, how risky it leaves the table, which to take.

    `data` and `policy` are what `anonymize` takes. `methods` are names, all of them when left out;
    the policy's own method keeps its options, others have their defaults. `k` replaces the k of
    every k constraint; several are tried one after another. A run that takes longer than `budget`
    seconds is stopped. `progress` is called with a method, its k, a step and the share of it done.
    """
    if isinstance(data, str | Path):
        return compare_file(Path(data), policy, methods, k, budget, progress)
    table, asked = wrap(data), Policy.load(policy)
    plan, seconds = planned(asked, table.names, methods, k), read_budget(budget)
    rows = pa.table({name: table.column(name) for name in asked.needed(table.names)})
    return _compared(rows, asked, plan, k is not None, seconds, progress)


def compare_file(
    path: Path,
    policy: Any,
    methods: MethodsAsked = None,
    k: KAsked = None,
    budget: float | None = None,
    progress: Watch | None = None,
    options: CsvOptions = DETECT,
) -> Comparison:
    """The same for the table in a file."""
    engine, asked, seconds = LocalFiles(), Policy.load(policy), read_budget(budget)
    options, guessed = engine.settle(path, options)
    names = engine.names(path, options)
    plan = planned(asked, names, methods, k)
    rows = engine.read(path, options, asked.needed(names))
    return _compared(rows, asked, plan, k is not None, seconds, progress, path.name, guessed)


def _compared(
    table: pa.Table,
    policy: Policy,
    plan: Plan,
    replaced: bool,
    budget: float | None,
    progress: Watch | None,
    name: str = "",
    warnings: tuple[str, ...] = (),
) -> Comparison:
    if table.num_rows == 0:
        raise InputError("The table has column names but no rows: there is nothing to compare.")
    watch = progress or _nobody
    found = list(plan.refused)
    for one in plan.refused:
        watch(one.method, one.k, one.status, 1.0)
    for job in plan.jobs:
        watch(job.method, job.k, "wait", 0.0)
    for job in plan.jobs:

        def tell(step: str, share: float, method: str = job.method, k: int | None = job.k) -> None:
            watch(method, k, step, share)

        outcome = run_job(job, table, budget, tell)
        watch(job.method, job.k, outcome.status, 1.0)
        found.append(outcome)
    found.sort(key=lambda one: (plan.ks.index(one.k), plan.methods.index(one.method)))
    return Comparison(
        policy, table.num_rows, plan.ks, replaced, budget, tuple(found), name, warnings
    )


def _nobody(method: str, k: int | None, step: str, share: float) -> None:
    """Watches nothing."""
