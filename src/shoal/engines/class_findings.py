"""What models find in the classes of one piece of a release, and in all pieces together."""

import json
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.encoding.counts import Counts
from shoal.models.base import SIZES_ONLY, Model
from shoal.verification.check import Finding, finding_of, judge

CHECKED = pa.schema(
    [
        ("model", pa.int32()),
        ("classes", pa.int64()),
        ("rows", pa.int64()),
        ("counted", pa.int64()),
        ("failing", pa.int64()),
        ("smallest", pa.int64()),
        ("reached", pa.string()),
    ]
)
"""What a model found in the classes of one piece; `model` is its position among those checked, and
`counted` are rows, or people where these are counted."""


def judge_classes(models: Sequence[tuple[int, Model]], counts: Mapping[str, Counts]) -> pa.Table:
    """What models, each with its position among all, find in the classes of a piece."""
    n = counts[SIZES_ONLY].n_groups
    found = []
    for position, model in models if n else ():
        mine = counts[model.counts_key]
        held, reached = judge(model, mine)
        failing = mine.sizes[~held]
        found.append(
            {
                "model": position,
                "classes": n,
                "rows": mine.n_rows,
                "counted": int(mine.sizes.sum()),
                "failing": len(failing),
                "smallest": int(failing.min()) if len(failing) else None,
                "reached": json.dumps(_python_number(reached)),
            }
        )
    return pa.Table.from_pylist(found, CHECKED)


def finding_of_pieces(
    model: Model, columns: tuple[str, ...], pieces: Sequence[Mapping[str, Any]], people: bool
) -> Finding:
    """What a model found in all pieces together; `people`: whether people were counted."""
    classes, rows, counted, failing = (
        sum(one[name] for one in pieces) for name in ("classes", "rows", "counted", "failing")
    )
    smallest = min((s for one in pieces if (s := one["smallest"]) is not None), default=None)
    figures = [json.loads(one["reached"]) for one in pieces]
    weaker = min if model.high_is_strong else max
    reached = weaker(figures) if figures else inf
    judged = model.over(classes, counted) if pieces else None
    if judged is not None:  # as a whole: single classes may fall short
        holds, reached = judged
        failing, smallest = (0, None) if holds else (failing, smallest)
    return finding_of(
        model,
        columns,
        reached=reached,
        rows=rows,
        counted="people" if people else "rows",
        classes=classes,
        failing=failing,
        smallest_failing=smallest,
    )


def _python_number(figure: float) -> float:
    """A figure as Python's own number: a whole one stays whole."""
    return int(figure) if isinstance(figure, int | np.integer) else float(figure)
