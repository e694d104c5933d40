"""The recognition rate of rows and groups, against a count with a pencil."""

from fractions import Fraction

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given

import shoal
from shoal.errors import PolicyError
from tests.examples import examples
from tests.personal.table6 import TREE, policy, table6

DISEASES = (
    "HIV",
    "Cancer",
    "Phthisis",
    "Hepatitis",
    "Heart Disease",
    "Asthma",
    "Flu",
    "Indigestion",
)
PER_ROW = [{"name": "recognition-rate", "per": "row"}]


def leaves_of(label: str, tree: object = TREE) -> list[str]:
    """Values under a node of a nested tree; the label itself where it is a value."""

    def values(node: object) -> list[str]:
        if isinstance(node, dict):
            return [leaf for below in node.values() for leaf in values(below)]
        return list(node) if isinstance(node, list) else [str(node)]

    def find(node: object) -> list[str] | None:
        if not isinstance(node, dict):
            return None
        for name, below in node.items():
            if name == label:
                return values(below)
            if (found := find(below)) is not None:
                return found
        return None

    return find(tree) or [label]


def test_a_group_of_cancer_and_a_raised_flu() -> None:
    release = shoal.anonymize(table6().slice(0, 2), policy(metrics=PER_ROW, order="kept"))
    report = release.recognition["disease"]
    assert report.rows == (1 / 2, 1 / 4)
    assert report.groups == (3 / 8,)
    assert report.group_of_row == (0, 0)
    assert release.metrics["recognition-rate"] == 3 / 8
    assert release.to_dict()["group_recognition"] == {"disease": [3 / 8]}


def test_table_7_group_by_group() -> None:
    release = shoal.anonymize(table6(), policy(metrics=PER_ROW))
    report = release.recognition["disease"]
    assert sorted(report.groups) == pytest.approx([1 / 3, 3 / 8, 1 / 2])
    labels = release.table["disease"].to_pylist()
    raised = labels.index("respiratory infection")
    assert report.rows is not None
    assert report.rows[raised] == 1 / 4


def test_only_where_asked() -> None:
    assert shoal.anonymize(table6(), policy()).recognition == {}
    per_group = [{"name": "recognition-rate", "per": "group"}]
    report = shoal.anonymize(table6(), policy(metrics=per_group)).recognition["disease"]
    assert len(report.groups) == 3
    assert report.rows is None
    assert report.group_of_row is None
    with pytest.raises(PolicyError, match=r"per.*table.*group.*row"):
        shoal.anonymize(table6(), policy(metrics=[{"name": "recognition-rate", "per": "person"}]))


@examples(25)
@given(
    rows=st.lists(
        st.tuples(
            st.integers(20, 60),
            st.sampled_from(("Female", "Male")),
            st.sampled_from(DISEASES),
            st.sampled_from([None, 1, 2, 3, 4]),
        ),
        min_size=4,
        max_size=30,
    ),
    kept=st.booleans(),
)
def test_any_table_by_pencil(rows: list[tuple[int, str, str, int | None]], kept: bool) -> None:
    """Rates from the published labels beside the values behind them, told by a plain column."""
    table = pa.table(
        {
            "gender": [row[1] for row in rows],
            "age": [row[0] for row in rows],
            "zip": ["178601"] * len(rows),
            "disease": [row[2] for row in rows],
            "ppl": [row[3] for row in rows],
            "number": list(range(len(rows))),
        }
    )
    asked = policy(constraints=[{"k": 3}], metrics=PER_ROW, order="kept" if kept else "sorted")
    asked["columns"] = {**asked["columns"], "number": "plain"}
    release = shoal.anonymize(table, asked)
    report = release.recognition["disease"]
    published = release.table.to_pylist()
    assert report.rows is not None
    assert report.group_of_row is not None
    assert len(report.rows) == len(report.group_of_row) == len(published)
    members: dict[int, list[int]] = {}
    for i, group in enumerate(report.group_of_row):
        members.setdefault(group, []).append(i)
    assert list(members) == list(range(len(report.groups)))
    for group, inside in members.items():
        assert len({tuple(published[i][c] for c in ("gender", "age", "zip")) for i in inside}) == 1
        originals = [rows[published[i]["number"]][2] for i in inside]
        rates = [
            Fraction(originals.count(own), len(inside) * len(leaves_of(published[i]["disease"])))
            for i, own in zip(inside, originals, strict=True)
        ]
        assert [report.rows[i] for i in inside] == pytest.approx([float(r) for r in rates])
        assert report.groups[group] == pytest.approx(float(sum(rates) / len(rates)))
    assert release.metrics["recognition-rate"] == pytest.approx(
        sum(report.groups) / len(report.groups)
    )
