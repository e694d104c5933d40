"""Every method keeps its promise when people are counted by other code."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal import plugins
from shoal.methods.base import FullDomainMethod
from tests.people import counting
from tests.people.counting import Row

TREES = {
    "age": {"intervals": [2, 4]},
    "town": {"tree": [{"north": ["a", "b"]}, {"south": ["c", "d"]}]},
}
CONSTRAINTS: list[list[dict[str, Any]]] = [
    [{"k": 3}],
    [{"k": 2}, {"l": 2, "of": "ill"}],
    [{"k": 2}, {"alpha": 0.7, "of": "ill"}],
    [{"k": 2}, {"entropy-l": 1.5, "of": "ill"}],
    [{"recursive-l": 2, "c": 3, "of": "ill"}],
    [{"k": 2}, {"t": 0.45, "of": "ill"}],
    [{"k": 2}, {"beta": 1.5, "of": "ill"}],
    [{"k": 2}, {"delta": 1.5, "of": "ill"}],
    [{"k": 2}, {"average-risk": 0.34}],
]
K_ONLY = ("datafly", "classfly", "classfly-plus")


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """People with one to five rows each, values that repeat, and a few that are missing."""
    rows = []
    for person in range(draw(st.integers(6, 16))):
        age, town = draw(st.integers(0, 7)), draw(st.sampled_from("abcd"))
        for _ in range(draw(st.integers(1, 4))):
            moved = draw(st.booleans())
            rows.append(
                {
                    "id": f"p{person}",
                    "age": age + draw(st.integers(0, 1)),
                    "town": draw(st.sampled_from("abcd")) if moved else town,
                    "ill": draw(st.sampled_from(["flu", "flu", "hiv", "cold", "none", None])),
                }
            )
    table = pd.DataFrame(rows)
    table["row"] = [f"r{i}" for i in range(len(table))]
    return table


def published(release: shoal.Release[Any], table: pd.DataFrame) -> list[Row]:
    """The published rows with their people, found by the number of the row."""
    person = dict(zip(table["row"], table["id"], strict=True))
    frame = release.table.astype(object).where(release.table.notna(), None)
    return [
        ((age, town), person[row], ill)
        for age, town, ill, row in zip(
            frame["age"], frame["town"], frame["ill"], frame["row"], strict=True
        )
    ]


def policy_of(method: str, constraints: list[dict[str, Any]], **person: Any) -> dict[str, Any]:
    full = issubclass(plugins.method(method), FullDomainMethod)
    quasi = {n: {"role": "quasi", **({"hierarchy": TREES[n]} if full else {})} for n in TREES}
    return {
        "columns": {
            "id": {"role": "person", **person},
            **quasi,
            "ill": "sensitive",
            "row": "plain",
        },
        "constraints": constraints,
        "method": method,
        "suppression": 0.5,
    }


def cases() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for method in plugins.names("methods"):
        for constraints in CONSTRAINTS:
            models = {next(iter(one)) for one in constraints}
            if method in K_ONLY and models != {"k"}:
                continue
            if method == "l-clustering" and models != {"k", "l"}:
                continue
            yield method, constraints


def assert_holds(rows: list[Row], constraints: list[dict[str, Any]]) -> None:
    for one in constraints:
        (name, figure), *options = ((k, v) for k, v in one.items() if k != "of")
        assert counting.HOLDS[name](rows, figure, **dict(options)), one


@pytest.mark.parametrize(("method", "constraints"), list(cases()))
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(table=tables())
def test_people_counted_by_plain_code_meet_the_promise(
    method: str, constraints: list[dict[str, Any]], table: pd.DataFrame
) -> None:
    try:
        release = shoal.anonymize(table, policy_of(method, constraints))
    except shoal.Infeasible:
        return
    assert {finding.counted for finding in release.findings} == {"people"}
    assert "id" not in release.table.columns
    assert_holds(published(release, table), constraints)


@pytest.mark.parametrize(
    ("method", "constraints"),
    [(m, c) for m, c in cases() if not issubclass(plugins.method(m), FullDomainMethod)],
)
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(table=tables())
def test_the_rows_of_a_person_are_protected_together(
    method: str, constraints: list[dict[str, Any]], table: pd.DataFrame
) -> None:
    try:
        release = shoal.anonymize(table, policy_of(method, constraints, together=True))
    except shoal.Infeasible:
        return
    rows = published(release, table)
    assert_holds(rows, constraints)
    k = next((one["k"] for one in constraints if "k" in one), 1)
    assert counting.sharing_all(rows) >= k
    left = {person for _, person, _ in rows}
    assert len(rows) == table["id"].isin(left).sum(), "all rows of a person or none"


@pytest.mark.parametrize("method", plugins.names("methods"))
def test_a_table_of_visits_can_be_published(method: str) -> None:
    """The properties above leave out what is infeasible; this table is not."""
    rows = [
        {
            "id": f"p{i % 40}",
            "age": i % 40 // 10 + i // 40 % 2,
            "town": "abcd"[i % 4],
            "row": f"r{i}",
        }
        for i in range(160)
    ]
    table = pd.DataFrame(rows)
    table["ill"] = [["flu", "hiv", "cold"][i % 40 % 3] for i in range(160)]
    wanted = [{"k": 3}] if method != "l-clustering" else [{"k": 2}, {"l": 2, "of": "ill"}]
    release = shoal.anonymize(table, policy_of(method, wanted))
    assert_holds(published(release, table), wanted)
    again = shoal.anonymize(table.sample(frac=1, random_state=1), policy_of(method, wanted))
    assert sorted(published(release, table)) == sorted(published(again, table))
