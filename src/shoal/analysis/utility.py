"""What a release is still good for: the same figures from the raw table and from the release."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.analysis.counts import CountUtility, count_utility
from shoal.analysis.marginals import ColumnUtility, column_utilities
from shoal.analysis.pairs import PairUtility, pair_utilities
from shoal.analysis.plain_values import plain_tables
from shoal.analysis.prediction import PredictionTask, PredictionUtility, check_target
from shoal.errors import Infeasible, InputError, PolicyError, counted, percent
from shoal.io.address import as_place
from shoal.pipeline.run import anonymize_table
from shoal.pipeline.verify import policy_of
from shoal.policy import Policy
from shoal.policy.reading import Reading
from shoal.progress import Clock, ProgressCallback, ignore_event
from shoal.release import Release
from shoal.results import Record, Result
from shoal.risk.table import read_table

FORMAT = 1
"""Version of the JSON document."""


@dataclass(frozen=True, repr=False)
class Utility(Result):
    """How well analyses of a release agree with those of the raw table."""

    raw_rows: int
    release_rows: int
    columns: tuple[ColumnUtility, ...]
    """The distribution of every column."""
    pairs: tuple[PairUtility, ...]
    """The association of every pair of columns."""
    counts: tuple[CountUtility, ...]
    """The user's own counts."""
    prediction: PredictionUtility | None
    """Models of the target; None where no target was given."""
    seed: int
    draws: int
    """How often a plausible value was drawn for every label."""
    notes: tuple[str, ...] = ()
    """What could not be compared, and why."""
    warnings: tuple[str, ...] = ()
    name: str = ""
    """Of the release's file."""
    outputs: tuple[Path, ...] = ()
    """The files that were written."""

    @property
    def mean_total_variation(self) -> float:
        """Over all columns; 0 where every distribution is kept."""
        return (
            float(np.mean([one.total_variation for one in self.columns])) if self.columns else 0.0
        )

    @property
    def mean_pair_change(self) -> float:
        """The mean change of an association, whichever way."""
        return float(np.mean([abs(one.change) for one in self.pairs])) if self.pairs else 0.0

    def write(self, path: str | Path, force: bool = False) -> list[Path]:
        """Write a page (`.html`) and the JSON beside it, or the JSON alone (`.json`)."""
        from shoal.analysis.page import write_utility

        return write_utility(self, Path(path), force)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole result as plain values that JSON can hold."""
        return {
            "utility": FORMAT,
            "name": self.name,
            "raw_rows": self.raw_rows,
            "release_rows": self.release_rows,
            "mean_total_variation": self.mean_total_variation,
            "mean_pair_change": self.mean_pair_change,
            "columns": [asdict(one) for one in self.columns],
            "pairs": [asdict(one) for one in self.pairs],
            "counts": [asdict(one) for one in self.counts],
            "prediction": None if self.prediction is None else asdict(self.prediction),
            "seed": self.seed,
            "draws": self.draws,
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def _records(self) -> Sequence[Record]:
        return [asdict(one) for one in self.columns]

    def _headline(self) -> str:
        words = f"distributions differ by {percent(self.mean_total_variation)} on average"
        if self.prediction is None or not self.prediction.models:
            return words
        best = max(self.prediction.models, key=lambda one: one.raw)
        return f"{words}; {best.score} of {best.learner} {best.raw:.3f} raw, {best.release:.3f} release"


def measure_utility(
    raw: Any,
    release: Any,
    policy: Any = None,
    *,
    target: str | None = None,
    queries: Sequence[Sequence[str]] = (),
    held_out: Any = None,
    seed: int = 0,
    read: Reading,
    progress: ProgressCallback = ignore_event,
) -> Utility:
    """Compare a release with the table that it was made from; see `shoal.utility`."""
    rules: Policy = policy_of(release, policy).reading(**read.values)
    if rules.publish == "anatomy":
        raise PolicyError(
            "A release with `publish: anatomy` has exact values in several tables; utility compares "
            "releases with labels. The metric query-error measures what counts of it are worth."
        )
    if held_out is not None and target is None:
        raise InputError("Held-out rows are for testing models: name the target as well.")
    clock = Clock(progress)
    source = release.table if isinstance(release, Release) else as_place(release)
    with clock.step("read"):
        published, names, _ = read_table(source, options=rules.release_options(read.file))
        if target is not None:
            check_target(rules, target, names)
        options = rules.reading(**read.given()).read.file
        before, _, guessed = read_table(raw, rules.columns, options, missing_ok=True)
        extra = [name for name in names if name not in rules.columns]
        if extra:
            raise PolicyError(
                f"The release has the column '{extra[0]}', which the policy does not list. Is this the "
                "policy it was made with?"
            )
    with clock.step("measure"):
        tables = plain_tables(before, published, rules, seed)
        counts = tuple(count_utility(tables, query) for query in queries)
        columns, pairs = column_utilities(tables), pair_utilities(tables, seed)
    prediction, notes = None, list(tables.notes)
    if target is not None:
        task = PredictionTask(rules, target, seed)
        if held_out is not None:
            test = read_table(held_out, rules.columns, options, missing_ok=True)[0]
            with clock.step("models"):
                prediction = task.measure(before, _with(test, names), published, True)
        else:
            prediction, why = _split_prediction(task, before, rules, clock)
            notes += [why] if why else []
    lost, limit = tables.raw_rows - tables.release_rows, rules.suppression
    warnings = list(guessed)
    if limit is not None and lost > limit * tables.raw_rows:
        warnings.append(
            f"The raw table has {counted(lost, 'row')} ({percent(lost / tables.raw_rows)}) more than "
            f"the release, but the policy lets at most {percent(limit)} be suppressed. Is it the table "
            "that the release was made from?"
        )
    return Utility(
        tables.raw_rows,
        tables.release_rows,
        columns,
        pairs,
        counts,
        prediction,
        seed,
        tables.draws,
        tuple(notes),
        tuple(warnings),
        getattr(source, "name", ""),
    )


def _split_prediction(
    task: PredictionTask, raw: pa.Table, policy: Policy, clock: Clock
) -> tuple[PredictionUtility | None, str]:
    """Models of a release of some of the rows, tested on the others; or why there are none."""
    train, test = task.split(raw.num_rows)
    rows = raw.take(pa.array(train))
    try:
        release = anonymize_table(rows, policy, clock)
    except Infeasible:
        return None, (
            "No models: the rows to train with, three quarters of the table, have no release that meets "
            "the policy. Give held-out rows, which the release has not seen."
        )
    with clock.step("models"):
        return task.measure(rows, raw.take(pa.array(test)), release.table, False), ""


def _with(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The held-out rows; `InputError` unless they have the columns of the release."""
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise InputError(f"The held-out table has no column '{missing[0]}', which the release has.")
    return table


def written(found: Utility, paths: Sequence[Path]) -> Utility:
    """The same result with the files that hold it."""
    return replace(found, outputs=tuple(paths))
