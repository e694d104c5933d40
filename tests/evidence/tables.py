"""Tables with every kind of column, and releases of them with any groups."""

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

import shoal
from shoal.policy import Policy
from shoal.release import Release
from tests.releases import Fixed, Texts, text_rows

JOBS = {"office": ["clerk", "boss", "aide"], "field": ["farmer", "fisher"], "at home": ["parent"]}
ILLS = {"lungs": ["flu", "asthma"], "blood": ["anaemia", "leukaemia"]}
LEVEL = {"flu": 1, "asthma": 2, "anaemia": 1, "leukaemia": 3}
MARKS = ["low", "fair", "good", "high"]
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "ordered"},
    "part": {"role": "quasi", "kind": "ordered"},
    "day": {"role": "quasi", "kind": "ordered"},
    "town": {"role": "quasi", "kind": "unordered"},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "hours": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
    "job": {"role": "quasi", "hierarchy": {"tree": {"any job": JOBS}}},
    "mark": {"role": "quasi", "order": MARKS},
    "ill": {
        "role": "sensitive",
        "hierarchy": {"tree": {"any illness": ILLS}},
        "levels": LEVEL,
        "preference": "wish",
    },
    "pay": "sensitive",
    "wish": "preference",
    "ward": "plain",
}
QUASI = tuple(name for name, how in COLUMNS.items() if isinstance(how, dict))[:8]


@dataclass(frozen=True)
class Made:
    """A release whose rows stand as they came, so that each can be laid beside its raw row."""

    release: Release
    raw: dict[str, list[str | None]]
    """By column, as text."""
    published: dict[str, list[str | None]]
    groups: list[list[int]]
    """One list per grouping; -1 for a suppressed row."""
    columns: list[tuple[int, ...]]
    least: int

    @property
    def hidden(self) -> list[bool]:
        """Rows without any sensitive or plain value."""
        found = [all(group[i] < 0 for group in self.groups) for i in range(len(self.groups[0]))]
        for group in self.groups:
            if group.count(-1) < self.least:
                found = [gone or g < 0 for gone, g in zip(found, group, strict=True)]
        return found

    def group_of(self, name: str) -> list[int]:
        """The groups in which a quasi column was generalised."""
        place = QUASI.index(name)
        return next(g for g, of in zip(self.groups, self.columns, strict=True) if place in of)


def table_of(n: int, seed: int) -> pa.Table:
    """Some values of each column are common, most are rare, some are missing."""
    random = np.random.default_rng(seed)

    def skewed(values: list[Any], gaps: float = 0.1) -> list[Any]:
        share = 1 / np.arange(1, len(values) + 1) ** 1.2
        drawn = random.choice(len(values), n, p=share / share.sum())
        return [None if random.random() < gaps else values[i] for i in drawn]

    first = datetime.date(1950, 1, 1)
    days = [first + datetime.timedelta(int(d)) for d in random.integers(0, 20_000, 60)]
    return pa.table(
        {
            "age": pa.array(skewed(random.integers(0, 99, 40).tolist()), pa.int64()),
            "part": skewed(np.round(random.random(30) * 3, 2).tolist(), 0.0),
            "day": pa.array(skewed(days), pa.date32()),
            "town": skewed([f"t{i}" for i in range(16)]),
            "zip": skewed([f"{i * 37 % 900:03}" for i in range(30)]),
            "hours": pa.array(skewed(list(range(0, 60, 3))), pa.int64()),
            "job": skewed([job for jobs in JOBS.values() for job in jobs]),
            "mark": skewed(MARKS[:3], 0.05),
            "ill": skewed(list(LEVEL)),
            "pay": pa.array(skewed([1000 + 130 * i for i in range(40)]), pa.int64()),
            "wish": pa.array(skewed([1, 2, 3], 0.5), pa.int64()),
            "ward": skewed(["a", "b"]),
        }
    )


@st.composite
def releases(draw: st.DrawFn) -> Made:
    """Any table in any groups, over all columns or over some and the others."""
    n, seed = draw(st.integers(15, 90)), draw(st.integers(0, 2**32))
    table = table_of(n, seed)
    cut = draw(st.integers(1, len(QUASI)))
    columns = [tuple(range(cut)), tuple(range(cut, len(QUASI)))]
    columns = columns if cut < len(QUASI) else columns[:1]
    random = np.random.default_rng(seed + 1)
    groups = []
    for _ in columns:
        many, gone = draw(st.integers(1, 30)), draw(st.sampled_from([0.0, 0.1, 0.4]))
        drawn = random.integers(0, many, n)
        drawn[random.random(n) < gone] = -1
        drawn[0] = 0  # something is published
        numbers = {g: i for i, g in enumerate(sorted(set(drawn.tolist()) - {-1}))} | {-1: -1}
        groups.append([numbers[g] for g in drawn.tolist()])
    least = draw(st.sampled_from([0, 5]))
    method = Fixed(tuple(map(tuple, groups)), tuple(columns), least=least)
    policy = Policy.load(
        {
            "columns": COLUMNS,
            # rows may be suppressed in the columns of a constraint
            "constraints": [{"k": 1, "on": [QUASI[j] for j in some]} for some in columns],
            "method": method,
            "order": "kept",
            "suppressed": "starred",
        }
    )
    release = shoal.anonymize(table, policy)
    return Made(release, by_name(table), by_name(release.table), groups, columns, least)


def by_name(table: pa.Table) -> dict[str, list[str | None]]:
    """The columns as text."""
    rows: list[Texts] = text_rows(table)
    return {name: [row[i] for row in rows] for i, name in enumerate(table.column_names)}
