"""Drafts load, fit their table and run."""

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
        with pytest.raises(PolicyError, match="is undecided"):
            _ = draft.policy
    policy = draft.decided("plain").policy
    policy.check(table.column_names)
    return policy


def test_the_draft_of_the_sample_runs_and_says_why():
    table = hospital(2000)
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
        ("l", "salary", 3),
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


def test_few_sensitive_values_are_not_asked_to_be_diverse():
    table = pa.table({"age": range(40), "diagnosis": ["flu", "cold"] * 20})
    text = draft_policy(table, name="t.csv").text
    assert "# - {l: 2, of: diagnosis}" in text
    assert len(Policy.load(text).constraints) == 1


def test_a_column_that_singles_out_people_alone_is_pointed_at():
    text = draft_policy(pa.table({"age": range(40), "sex": ["f", "m"] * 20})).text
    assert "others may know it; alone it makes 100% of the rows unique" in text
    assert text.count("alone it makes") == 1


def test_k_is_no_more_than_there_are_rows():
    table = pa.table({"age": [1, 2, 3]})
    assert drafted(table).constraints[0].k == 3


def test_a_table_without_rows_is_refused():
    with pytest.raises(InputError, match="no rows"):
        drafted(pa.table({"age": pa.array([], pa.int64())}))


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


def test_a_sensitive_column_of_two_values_has_its_line_in_a_comment(tmp_path):
    values = {"age": [*range(40)], "hiv": ["yes", "no"] * 20, "illness": ["flu"] * 40}
    table = pa.table(values)
    text = draft_policy(table).text
    assert "  # - {l: 2, of: hiv}      # hiv has only 2 different values and is not" in text
    assert "  # - {l: 3, of: illness}  # illness has too few different values (1)" in text
    (tmp_path / "policy.yaml").write_text(text.replace("# - {l: 2,", "- {l: 2,"))
    assert anonymize(table, tmp_path / "policy.yaml").findings[1].holds
