"""The column rules `part` and `zip3`: what they may stand beside."""

from typing import Any

import pytest

import shoal
from shoal.policy import Column, Policy


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"role": "quasi", "part": "month"}, "found 'month'; allowed: year"),
        (
            {"role": "identifier", "part": "year"},
            "only a quasi or sensitive or plain column has one",
        ),
        ({"role": "quasi", "part": "year", "type": "number"}, "is for dates"),
        ({"role": "quasi", "part": "year", "order": ["a", "b"]}, "is for dates"),
        (
            {"role": "quasi", "part": "year", "hierarchy": {"date": ["year"]}},
            "a hierarchy of dates is too fine",
        ),
        ({"role": "quasi", "zip3": 3}, "must be text"),
        ({"role": "person", "zip3": "z.csv"}, "only a quasi or sensitive or plain column has one"),
        ({"role": "quasi", "zip3": "z.csv", "top": 3}, "cannot be combined with `zip3`"),
        ({"role": "quasi", "zip3": "z.csv", "part": "year"}, "cannot be combined with `zip3`"),
        ({"role": "quasi", "zip3": "z.csv", "kind": "ordered"}, "texts without an order"),
        ({"role": "quasi", "type": "date", "top": 3}, "is for numbers"),
    ],
)
def test_contradictions_are_explained(column: dict[str, Any], words: str) -> None:
    with pytest.raises(shoal.PolicyError, match=words):
        Policy.load({"columns": {"x": column, "age": "quasi"}, "constraints": [{"k": 2}]})


@pytest.mark.parametrize(
    "column",
    [
        {"role": "quasi", "part": "year", "bottom": 1930, "round": 5},
        {"role": "plain", "part": "year", "dates": "%d/%m/%y"},
        {"role": "sensitive", "part": "year", "kind": "ordered"},
        {"role": "quasi", "part": "year", "hierarchy": {"intervals": [5, 10]}},
        {"role": "quasi", "zip3": "zip3.csv", "hierarchy": {"mask": "right"}},
        {"role": "plain", "zip3": "zip3.csv", "missing": ["?"]},
    ],
)
def test_what_may_stand_together_is_written_and_read_again(column: dict[str, Any]) -> None:
    policy = Policy.load({"columns": {"x": column, "age": "quasi"}, "constraints": [{"k": 2}]})
    assert Policy.load(policy.to_yaml()) == policy
    plain = {"columns": {"x": Column(role=column["role"]), "age": "quasi"}}
    assert policy.fingerprint() != Policy.load({**plain, "constraints": [{"k": 2}]}).fingerprint()


def test_years_with_a_hierarchy_of_intervals() -> None:
    import pyarrow as pa

    table = pa.table({"born": ["1964-03-07", "1965-01-01", "1967-09-09", "1969-12-31"]})
    column = {"role": "quasi", "part": "year", "hierarchy": {"intervals": [5, 10]}}
    policy = {"columns": {"born": column}, "constraints": [{"k": 4}], "method": "datafly"}
    assert shoal.anonymize(table, policy).table["born"].unique().to_pylist() == ["[1960-1970)"]
