"""What a run reports, against twins that read the published text beside the raw table."""

import datetime
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from tests import naive
from tests import naive_metrics as plain
from tests.releases import raw_text

TREE = {"any": {"lung": ["flu", "cough", "asthma"], "other": {"gut": ["ulcer"], "bone": ["gout"]}}}
UNDER = {
    "lung": {"flu", "cough", "asthma"},
    "gut": {"ulcer"},
    "bone": {"gout"},
    "other": {"ulcer", "gout"},
    "any": {"flu", "cough", "asthma", "ulcer", "gout"},
}
LEAVES = ["flu", "cough", "asthma", "ulcer", "gout"]
"""Nobody has gout: a hierarchy may know more than the table."""


def random_table(seed: int, n: int = 60) -> pa.Table:
    random = np.random.default_rng(seed)

    def some(values: list[Any], gaps: float) -> list[Any]:
        chosen = [values[i] for i in random.integers(0, len(values), n)]
        return [None if gap else v for v, gap in zip(chosen, random.random(n) < gaps, strict=True)]

    days = [datetime.date(2020, 1, 1) + datetime.timedelta(int(d)) for d in (0, 3, 31, 60, 61)]
    return pa.table(
        {
            "age": some([18, 19, 23, 40, 41, 70], 0.1),
            "pay": some([Decimal("1.5"), Decimal("2.0"), Decimal("99.5")], 0.0),
            "day": some(days, 0.05),
            "town": some(["a", "b", "c", "d"], 0.1),
            "zip": some(["0211", "0212", "0231", "1231"], 0.05),
            "ill": some(LEAVES[:4], 0.1),
        }
    )


MIXED: dict[str, Any] = {
    "age": "quasi",
    "pay": "quasi",
    "day": "quasi",
    "town": "quasi",
    "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "ill": {"role": "quasi", "hierarchy": {"tree": TREE}},
}
CLIMBING: dict[str, Any] = {
    **dict.fromkeys(("age", "pay"), "identifier"),
    "day": {"role": "quasi", "hierarchy": {"date": ["month", "year"]}},
    "town": {"role": "quasi", "hierarchy": {"tree": {"all": {"ab": ["a", "b"], "cd": ["c", "d"]}}}},
    "zip": MIXED["zip"],
    "ill": MIXED["ill"],
}
TOWNS = {"ab": {"a", "b"}, "cd": {"c", "d"}, "all": {"a", "b", "c", "d"}}
APART = [{"k": 3, "on": ["day", "town"]}, {"k": 6, "on": ["zip", "ill"]}]

RUNS: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "least-loss": (MIXED, [{"k": 3}], "least-loss-partition"),
    "rounded": (MIXED, [{"k": 3}], {"name": "flexible-partition", "dimension": "widest"}),
    "mondrian": (MIXED, [{"k": 4}], "mondrian"),
    "bottom-up": (MIXED, [{"k": 2}], "bottom-up"),
    "together": (CLIMBING, [{"k": 4}], "classfly"),
    "apart": (CLIMBING, APART, "classfly-plus"),
    "full-domain": (CLIMBING, [{"k": 4}], "datafly"),
    "optimal": (CLIMBING, [{"k": 3}], {"name": "optimal", "metric": "non-uniform-entropy"}),
}
SUPPRESSING = {("together", 1), ("full-domain", 1), ("full-domain", 2)}
"""Runs in which some rows are suppressed in every column; those `apart` are in some columns."""


def column_of(name: str, values: list[Any], climbs: bool) -> tuple[list[str | None], plain.Column]:
    """The texts of a column's codes, and what the twins know of it."""
    known: list[Any] = sorted({value for value in values if value is not None})
    if name == "ill":
        known = LEAVES
    kind = "range" if name in ("age", "pay", "day") and not climbs else "set"
    units = list(range(len(known)))
    if name == "age":
        units = [value - known[0] for value in known]
    if name == "day":
        units = [(value - known[0]).days for value in known]
    texts = [raw_text(value) for value in known]
    gaps = None in values
    found = {"kind": kind, "size": len(texts) + gaps, "missing": len(texts) if gaps else -1}
    return [*texts, None] if gaps else list(texts), found | {"units": units}


def covers(name: str, label: str | None, text: str | None) -> bool:
    if name == "day" and label is not None and label.count("-") < 2 and "~" not in label:
        return label == "*" or (text is not None and text.startswith(label))
    if label in ("any", "all"):
        return True  # the missing value lies right under a root
    tree = {"ill": UNDER, "town": TOWNS}.get(name)
    return naive.inside(label, text, tree)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("run", RUNS)
def test_a_run_reports_what_its_text_shows(run: str, seed: int) -> None:
    columns, constraints, method = RUNS[run]
    table = random_table(seed)
    policy = {
        "columns": columns,
        "constraints": constraints,
        "method": method,
        "order": "kept",
        "suppressed": "starred",
        "metrics": {"name": "general-loss", "aggregate": "mean"},
    }
    release = shoal.anonymize(table, policy)
    names = [name for name in columns if columns[name] != "identifier"]
    made = {name: column_of(name, table[name].to_pylist(), columns is CLIMBING) for name in names}
    published = release.table.select(names).to_pylist()
    cells: list[plain.Row] = []
    for i, row in enumerate(published):
        cells.append([])
        for name in names:
            texts, label = made[name][0], row[name]
            raw = raw_text(table[name][i].as_py())
            under = tuple(code for code, text in enumerate(texts) if covers(name, label, text))
            assert texts.index(raw) in under
            cells[-1].append((texts.index(raw), None if label == raw else under))
    known = [made[name][1] for name in names]
    ones, n = [1.0] * len(names), len(cells)
    gone = [all(text == "*" for text in row.values()) for row in published]
    assert sum(gone) == release.suppressed_rows
    assert any(gone) or (run, seed) not in SUPPRESSING
    loss = plain.loss(known, cells, ones)
    assert release.metrics["loss"] == pytest.approx(loss)
    losses = plain.general_losses(known, cells)
    assert release.metrics["general-loss"] == pytest.approx(sum(losses) / len(losses))
    lost, most = plain.entropy(cells)
    assert release.metrics["non-uniform-entropy"] == pytest.approx(lost)
    assert release.metrics["relative-non-uniform-entropy"] == pytest.approx(lost / most)
    classes = Counter(
        tuple(row.values()) for row, lost in zip(published, gone, strict=True) if not lost
    )
    expected = n / (len(classes) + any(gone))
    assert release.metrics["average-class-size"] == pytest.approx(expected)


def test_loss_counts_columns_as_the_method_weighs_them() -> None:
    table = pa.table(
        {"age": [20, 20, 31, 31], "town": ["a", "b", "a", "b"], "ill": ["x", "y", "x", "y"]}
    )
    policy = {
        "columns": {"age": "quasi", "town": "quasi", "ill": "sensitive"},
        "constraints": [{"l": 2, "of": "ill"}],
        "method": {"name": "l-clustering", "weights": {"town": 0.5}},
    }
    release = shoal.anonymize(table, policy)
    # both groups keep the age and hold two towns, at half the price: 4 rows * 2 * 0.5
    assert release.metrics["loss"] == 4
    # one group: 12 years and two towns at half the price
    assert release.metrics["relative-loss"] == 4 / (4 * (12 + 1))
