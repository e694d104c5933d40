"""Verify the published table of a session: by its text, class by class where the rows are.

Classes are put into pieces by a hash of their labels. Each piece is judged by itself; here only the
verdicts of the pieces are put together.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.engines.large.profiling import class_sizes as sizes_question
from shoal.engines.large.profiling import counted, how_many_rows, rows_of
from shoal.engines.large.session import Session
from shoal.evidence.evidence import Histogram
from shoal.large.asked import PIECE, Asked, TooManyValuesError, Values, values_of
from shoal.large.can import check_verifiable
from shoal.large.classes import JUDGED, Judge, See, Seen, SpellAll
from shoal.large.kinds import check_kinds
from shoal.large.watching import passing
from shoal.models.requirement import Model, column_of, figure_of, name_of, options_of
from shoal.policy import Policy
from shoal.policy.exempt import check_columns, exempt, needed
from shoal.progress import Progress, not_told
from shoal.verification.check import Finding
from shoal.verification.strength import Strength, models_of

READ_BACK, SEEN = 0.2, 0.5
"""Shares of the work: what reading back is of the whole, and telling classes apart of the rest."""


def verify(
    session: Session,
    table: str,
    columns: Mapping[str, str],
    schema: pa.Schema,
    policy: Policy,
    piece_rows: int = PIECE,
    progress: Progress = not_told,
) -> tuple[Finding, ...]:
    """Ask the policy's models of a published table, as `examine` does."""
    asked = Asked(session, table, columns, schema, policy, piece_rows)
    return examine(asked, progress).findings


@dataclass(frozen=True)
class Examined:
    """What is known of a published table after a look at all its rows."""

    findings: tuple[Finding, ...]
    rows: int


def examine(asked: Asked, progress: Progress = not_told) -> Examined:
    """Ask the policy's models of a published table, and count its rows.

    The findings are those of `verification.check` on the same rows.
    """
    check(asked)
    models = asked.policy.constraints
    wanted = dict.fromkeys(name for model in models if (name := column_of(model)))
    values = {name: values_of(asked, name) for name in wanted}
    return _judged(asked, models, values, progress)


def verify_and_survey(
    asked: Asked, progress: Progress = not_told
) -> tuple[tuple[Finding, ...], tuple[Strength, ...]]:
    """Ask the policy's models, and beside them every model that needs nothing but its figure.

    The strengths are those of `verification.strength`, without columns of too many values.
    """
    check(asked)
    policy = asked.policy
    wanted = {name for model in policy.constraints if (name := column_of(model))}
    values: dict[str, Values] = {}
    for name in policy.sensitive:
        try:
            values[name] = values_of(asked, name)
        except TooManyValuesError:
            if name in wanted:
                raise
    more = tuple(models_of({name: one.meaning.domain for name, one in values.items()}))
    found = _judged(asked, (*policy.constraints, *more), values, progress).findings
    surveyed = found[len(policy.constraints) :]
    return found[: len(policy.constraints)], tuple(
        Strength(one.model, one.of, one.reached, one.options) for one in surveyed if one.classes
    )


def check(asked: Asked) -> None:
    """Raise whatever is wrong with the policy or the columns; to be asked before any work."""
    names, policy = list(asked.columns), asked.policy
    check_verifiable(policy)
    check_columns(names, policy)
    read = needed(names, policy)
    kinds = [asked.schema.types[names.index(name)] for name in read]
    check_kinds(read, pa.schema(list(zip(read, kinds, strict=True))))


def _judged(
    asked: Asked, models: Sequence[Model], values: Mapping[str, Values], progress: Progress
) -> Examined:
    session, table, columns, policy = asked.session, asked.table, asked.columns, asked.policy
    names = list(columns)
    read = needed(names, policy)
    kinds = [asked.schema.types[names.index(name)] for name in read]
    place = {name: i for i, name in enumerate(read)}
    sets = list(dict.fromkeys(_columns(model, policy) for model in models))
    n_rows = (
        next(iter(values.values())).rows
        if values
        else int(session.ask(how_many_rows(table)).column("n")[0].as_py())
    )
    see = See(
        columns=tuple((columns[name], kind) for name, kind in zip(read, kinds, strict=True)),
        classes=tuple(place[name] for name in policy.quasi),
        sensitive=tuple((place[name], one.texts) for name, one in values.items()),
        sets=tuple(
            Seen(
                tuple(place[name] for name in chosen),
                tuple(place[name] for name in exempt(policy, chosen, names)),
            )
            for chosen in sets
        ),
        pieces=1 + n_rows // asked.piece_rows,
    )
    seen, judged = f"{table}_seen", f"{table}_judged"
    shown = rows_of(table, [column for column, _ in see.columns])
    with passing(session, progress, 0, SEEN, n_rows):
        session.map(seen, shown, see, see.schema, once=len(sets) == 1)
    sizes = [asked.piece_rows] * see.pieces
    pieces: list[dict[str, Any]] = []
    for i, chosen in enumerate(sets):
        judge = _judge(policy, models, chosen, i, values)
        needs = [*(column for column, _ in judge.sensitive), *judge.keys]
        sql = counted(seen, [f"b{i}", judge.exempt, *needs])
        part = [SEEN + (1 - SEEN) * (i + n) / len(sets) for n in (0, 1)]
        with passing(session, progress, part[0], part[1], None):
            session.map_groups(judged, sql, f"b{i}", judge, JUDGED, sizes, once=True)
        pieces += session.ask(rows_of(judged, JUDGED.names)).to_pylist()
    for name in (seen, judged, f"{table}_spelled"):
        session.drop(name)
    findings = tuple(
        _finding(model, _columns(model, policy), [one for one in pieces if one["model"] == i])
        for i, model in enumerate(models)
    )
    return Examined(findings, n_rows)


def class_sizes(
    session: Session,
    table: str,
    columns: Mapping[str, str],
    schema: pa.Schema,
    chosen: Sequence[str],
) -> Histogram:
    """How many classes have each size, by what a reader sees in the chosen columns."""
    kinds = dict(zip(columns, schema.types, strict=True))
    spell = SpellAll(tuple((columns[name], kinds[name]) for name in chosen))
    spelled = f"{table}_spelled"
    shown = rows_of(table, [columns[name] for name in chosen])
    session.map(spelled, shown, spell, spell.schema, once=True)
    found = session.ask(sizes_question(spelled, spell.schema.names))
    session.drop(spelled)
    size, times = (found.column(name).cast(pa.int64()).to_pylist() for name in ("size", "times"))
    return tuple(sorted(zip(size, times, strict=True)))


def _columns(model: Model, policy: Policy) -> tuple[str, ...]:
    return tuple(getattr(model, "on", None) or policy.quasi)


def _judge(
    policy: Policy,
    every: Sequence[Model],
    columns: tuple[str, ...],
    number: int,
    values: Mapping[str, Values],
) -> Judge:
    models = [(i, model) for i, model in enumerate(every) if _columns(model, policy) == columns]
    of = {name for _, model in models if (name := column_of(model))}
    return Judge(
        keys=tuple(f"k{policy.quasi.index(name)}" for name in columns),
        exempt=f"e{number}",
        sensitive=tuple((f"s{i}", name) for i, name in enumerate(values) if name in of),
        meanings={name: values[name].meaning for name in values if name in of},
        totals={
            name: one.meaning.totals(np.arange(len(one.texts)), one.counts)
            for name, one in values.items()
            if name in of
        },
        models=tuple(models),
    )


def _finding(model: Model, columns: tuple[str, ...], pieces: list[dict[str, Any]]) -> Finding:
    classes, rows = (sum(one[name] for one in pieces) for name in ("classes", "rows"))
    failing = sum(one["failing"] for one in pieces)
    smallest = min((s for one in pieces if (s := one["smallest"]) is not None), default=None)
    figures = [json.loads(one["reached"]) for one in pieces]
    weaker = min if getattr(model, "high_is_strong", False) else max
    reached = weaker(figures) if figures else inf
    over = getattr(model, "over", None)
    if over is not None and pieces:  # judged as a whole: single classes may fall short
        holds, reached = over(classes, rows)
        failing, smallest = (0, None) if holds else (failing, smallest)
    return Finding(
        model=name_of(model),
        asked=figure_of(model),
        reached=reached,
        columns=columns,
        of=column_of(model) or None,
        rows=rows,
        classes=classes,
        failing=failing,
        smallest_failing=smallest,
        options=options_of(model),
    )
