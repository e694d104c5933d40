"""Drafts load, fit their table and run."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import anonymize
from shoal.errors import InputError, PolicyError
from shoal.policy import Policy
from shoal.risk.draft import draft_policy, quoted
from shoal.risk.inspection import inspect
from shoal.sample.hospital import hospital
from tests.examples import examples
from tests.risk.tables import tables


def drafted(table, name="table.csv"):
    draft = draft_policy(table, name=name)
    if draft.undecided:
        with pytest.raises(PolicyError, match="undecided"):
            _ = draft.policy
    policy = draft.decided("plain").policy
    policy.check(table.column_names)
    return policy


def test_the_draft_of_the_sample_runs_and_says_why():
    table = hospital(700)
    text = draft_policy(table, name="hospital.csv").text
    policy = Policy.load(text)
    policy.check(table.column_names)
    lines = text.splitlines()
    for name in table.column_names:
        line = next(line for line in lines if line.startswith(f"  {name}: "))
        assert " # by its name" in line
    release = anonymize(table, policy)
    assert {(f.model, f.of, f.asked) for f in release.findings} == {
        ("k", None, 5),
        ("t", "salary", 0.3),
        ("l", "disease", 3),
    }


def draftable(table):
    """Whether some column of the table can be made coarser."""
    return any(column.distinct and column.type != "other data" for column in inspect(table).columns)


@given(tables(min_rows=1))
def test_drafts_of_random_tables_load_and_fit(table):
    if draftable(table):
        drafted(table)
    else:
        with pytest.raises(InputError, match="nothing to publish"):
            drafted(table)


@examples(30)
@given(tables(min_rows=5))
def test_drafts_of_random_tables_run(table):
    stars = any("*" in map(str, column.to_pylist()) for column in table.columns)
    if draftable(table) and not stars:  # a sensitive value may not read like a suppressed one
        assert anonymize(table, drafted(table)).verified


def test_a_table_without_a_suspect_still_gets_a_quasi_column():
    table = pa.table({"email": [f"a{i}" for i in range(40)], "flag": ["x", "y"] * 20})
    assert drafted(table).quasi == ("flag",)
    assert drafted(table.select(["email"])).quasi == ("email",)


def test_two_balanced_values_are_asked_to_differ():
    table = pa.table({"age": range(40), "diagnosis": ["flu", "cold"] * 20})
    text = draft_policy(table, name="t.csv").text
    assert "- {l: 2, of: diagnosis}  # at least so many different values in every group" in text
    assert len(Policy.load(text).constraints) == 2


def test_a_column_that_singles_out_people_alone_is_pointed_at():
    text = draft_policy(pa.table({"age": range(40), "sex": ["f", "m"] * 20})).text
    assert "others may know it; alone it makes 100.0 % of the rows unique" in text
    assert text.count("alone it makes") == 1


def test_k_is_no_more_than_there_are_rows():
    table = pa.table({"age": [1, 2, 3]})
    assert drafted(table).constraints[0].k == 3


def test_a_table_without_rows_is_refused():
    with pytest.raises(InputError, match="no rows"):
        drafted(pa.table({"age": pa.array([], pa.int64())}))


def test_a_draft_that_would_be_no_policy_is_refused(monkeypatch):
    monkeypatch.setattr("shoal.risk.draft.MOST_BYTES", 1_500)
    table = pa.table({"age": range(30), "town": ["a", "b"] * 15})
    with pytest.raises(
        InputError, match=r"^t\.csv has 2 columns: its draft would have [\d,]+ bytes"
    ):
        draft_policy(table, name="t.csv")


@pytest.mark.long
def test_the_draft_of_a_wide_table_runs():
    wide = {f"c{i}": [(i * 7 + j * j) % 50 for j in range(12)] for i in range(4_000)}
    policy = draft_policy(pa.table(wide), name="wide.csv").policy
    assert len(policy.quasi) > 3_000
    release = anonymize(pa.table(wide), policy.with_changes(k=3))
    assert [f.reached >= 3 for f in release.findings] == [True]


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_any_name_of_a_column_or_file_can_be_written(name):
    table = pa.table({"age": range(30), f"salary {name}": range(30), name or "x": ["a", "b"] * 15})
    policy = drafted(table, name)
    assert list(policy.columns) == table.column_names


@pytest.mark.parametrize("name", ["age", "birth_date", "marital-status", "Work Hours"])
def test_usual_names_need_no_quotes(name):
    assert quoted(name) == name


@pytest.mark.parametrize("name", ["no", "2020", "a: b", "", " a", "a #b", "x,y", "[a]"])
def test_other_names_are_quoted(name):
    assert quoted(name) == f'"{name}"'


def test_a_draft_says_that_it_is_confidential():
    assert "as confidential as the table" in draft_policy(pa.table({"age": range(40)})).text


@pytest.mark.parametrize(
    "name",
    [
        *("finalwgt", "wtmec2yr", "WTINT2YR", "wtssall", "hrf", "fexp", "facteur_pond"),
    ],
)
def test_weights_of_well_known_surveys(name):
    table = pa.table({"age": range(40), name: [2000 + 37 * (i % 17) for i in range(40)]})
    assert draft_policy(table).roles[name] == "weight"


def test_every_sensitive_column_has_a_line_with_its_reason():
    values = {"age": [*range(40)], "hiv": ["yes", *["no"] * 39], "illness": ["flu"] * 40}
    table = pa.table(values)
    text = draft_policy(table).text
    assert "  - {t: 0.2, of: hiv}  # 97.5 % have one value, so l would take large groups" in text
    assert "  # illness            # it has one value: nothing to hide" in text
    assert all(finding.holds for finding in anonymize(table, Policy.load(text)).findings)


EXHAUSTIVE = ("incognito", "optimal")
"""They visit a lattice: that of two columns, since masks of long texts have many levels."""


@examples(8)
@given(tables(min_rows=5))
def test_every_quasi_column_has_a_hierarchy_and_full_domain_methods_run(table):
    stars = any("*" in map(str, column.to_pylist()) for column in table.columns)
    if not draftable(table) or stars:
        return
    assert anonymize(table, full_domain(table, "datafly")).verified
    two = table.select(table.column_names[:2])
    if draftable(two):
        for method in EXHAUSTIVE:
            assert anonymize(two, full_domain(two, method)).verified


def full_domain(table, method):
    """The draft for a table with k alone, whose quasi columns all have hierarchies."""
    policy = draft_policy(table).decided("quasi").policy
    assert policy.quasi
    assert all(policy.columns[name].hierarchy is not None for name in policy.quasi)
    return policy.with_changes(constraints=[{"k": 2}], suppression=0.0, method=method)


def alone_in_groups(values, k=5):
    """The share of rows alone with their value in a group of k, by the definition."""
    shares = [values.count(value) / len(values) for value in values]
    return sum((1 - share) ** (k - 1) for share in shares) / len(values)


@examples(30)
@given(tables(min_rows=20))
def test_no_plain_column_singles_out(table):
    if not draftable(table):
        return
    plain = [name for name, role in draft_policy(table).roles.items() if role == "plain"]
    rows = [
        tuple(map(repr, row)) for row in zip(*(table[n].to_pylist() for n in plain), strict=True)
    ]
    if rows:
        assert alone_in_groups(rows) < 0.002  # not-a-numbers and signs of zero are equal values


def test_a_column_can_be_decided_by_itself():
    table = pa.table({"age": range(60), "a": ["x", "y", "z"] * 20, "b": [1, 2, 3, 4] * 15})
    draft = draft_policy(table)
    assert draft.undecided == ("a", "b")
    assert draft.left.startswith("2 columns are left to decide: a, b. A run stops until each has")
    assert f"# {draft.left}" in draft.text
    one = draft.decided({"a": "sensitive", "b": "quasi"})
    assert one.left.startswith("Nothing is left to decide")
    policy = one.policy
    assert policy.columns["b"].kind == "ordered"
    assert policy.columns["b"].hierarchy is not None
    assert policy.sensitive == ("a",)
    with pytest.raises(InputError, match="no column 'c'"):
        draft.decided({"c": "plain"})


def test_what_undecided_columns_would_read_as_quasi_is_in_the_draft():
    table = pa.table({"age": range(60), "b": [1, 2, 3, 4] * 15})
    text = draft_policy(table).text
    line = "#   b: {role: quasi, kind: ordered, hierarchy: {intervals: [2]}}"
    assert line in text
    assert "left to decide" in text
    chosen = text.replace("  b: undecided", line.replace("#   b", "  b"))
    assert Policy.load(chosen).quasi == ("age", "b")


def test_no_exact_extreme_is_in_the_draft_or_its_labels():
    ages = [17, *range(20, 60), 97]
    table = pa.table({"age": ages * 3})
    draft = draft_policy(table)
    assert "17" not in draft.text
    assert "97" not in draft.text
    table = anonymize(table, draft.policy, method="datafly", k=6).table
    assert not any("17" in label or "97" in label for label in table["age"].to_pylist())


def test_a_tab_is_written_as_people_write_it(tmp_path: Path) -> None:
    rows = "\n".join(f"{20 + i % 30}\t{'fm'[i % 2]}" for i in range(60))
    (tmp_path / "t.tsv").write_text(f"age\tsex\n{rows}\n", encoding="utf-8")
    draft = draft_policy(tmp_path / "t.tsv")
    assert 'read: {separator: "\\t"}' in draft.text
    assert anonymize(tmp_path / "t.tsv", draft.policy, seed=1).rows == 60
