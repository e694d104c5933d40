"""The functions of `shoal`: keywords, results, warnings, and the examples in their docstrings."""

import doctest
import inspect
import json
import logging
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal import api, results
from shoal.errors import ShoalWarning

PEOPLE = pd.DataFrame(
    {
        "name": list("abcdefgh"),
        "age": [31, 36, 35, 61, 64, 62, 40, 41],
        "zip": ["02138", "02139", "02141", "02142", "02138", "02139", "02141", "02142"],
        "disease": ["flu", "asthma", "flu", "cancer", "flu", "cancer", "flu", "asthma"],
    }
)
POLICY = {
    "columns": {"name": "identifier", "age": "quasi", "zip": "quasi", "disease": "sensitive"},
    "constraints": [{"k": 2}, {"l": 2, "of": "disease"}],
}
FUNCTIONS = [
    function
    for name, function in inspect.getmembers(api, inspect.isfunction)
    if name in shoal.__all__
]


def figures(release):
    return {(finding.model, finding.of): finding.asked for finding in release.findings}


def test_a_sweep_over_k_is_one_line():
    releases = [shoal.anonymize(PEOPLE, POLICY, k=k) for k in (2, 4, 8)]
    assert [release.findings[0].asked for release in releases] == [2, 4, 8]
    assert all(release.verified for release in releases)
    table = pd.concat([release.to_frame() for release in releases])
    assert table["k"].tolist() == [release.findings[0].reached for release in releases]
    assert table["mean-ncp"].is_monotonic_increasing


def test_keywords_change_a_policy():
    changed = shoal.anonymize(
        PEOPLE, POLICY, l=1, t=0.9, method="mondrian", seed=4, suppression=0.5, plain="zip"
    )
    expected = {("k", None): 2, ("l", "disease"): 1, ("t", "disease"): 0.9}
    assert figures(changed) == expected
    assert (changed.method, changed.seed) == ("mondrian", 4)
    assert changed.policy.suppression == 0.5
    assert (changed.policy.quasi, changed.policy.plain) == (("age",), ("zip",))
    assert POLICY["columns"]["zip"] == "quasi"


def test_an_ambiguous_keyword_is_refused():
    policy = {**POLICY, "constraints": [{"k": 2, "on": ["age"]}, {"k": 3, "on": ["zip"]}]}
    with pytest.raises(shoal.PolicyError, match=r"2 k constraints.*give all `constraints`"):
        shoal.anonymize(PEOPLE, policy, k=4)


def test_objects_and_plain_data_are_the_same():
    by_objects = shoal.anonymize(
        PEOPLE,
        identifiers="name",
        quasi=["age", "zip"],
        sensitive="disease",
        constraints=[shoal.K(2), shoal.L(2, of="disease")],
        hierarchies={"zip": shoal.Hierarchy.mask("right")},
        kinds={"age": "ordered"},
        method=shoal.TopDown(),
    )
    columns = POLICY["columns"] | {
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "age": {"role": "quasi", "kind": "ordered"},
    }
    by_policy = shoal.anonymize(PEOPLE, {**POLICY, "columns": columns}, method="top-down")
    pd.testing.assert_frame_equal(by_objects.table, by_policy.table)


@pytest.mark.parametrize("keyword", ["quasy", "sensitiv", "columns"])
def test_an_unknown_keyword_is_an_error(keyword):
    with pytest.raises(TypeError, match=keyword):
        shoal.anonymize(PEOPLE, POLICY, **{keyword: "age"})


def test_a_policy_or_quasi_is_needed():
    with pytest.raises(shoal.PolicyError, match="Give a policy, or name the quasi-identifiers"):
        shoal.anonymize(PEOPLE, k=2)


def test_warnings_reach_the_user_the_log_and_the_release(caplog):
    with (
        caplog.at_level(logging.WARNING, "shoal"),
        pytest.warns(ShoalWarning, match="Nearly all detail") as caught,
    ):
        release = shoal.anonymize(PEOPLE, POLICY, k=8)
    assert [str(one.message) for one in caught] == list(release.warnings)
    assert [record.getMessage() for record in caplog.records] == list(release.warnings)
    assert caught[0].filename == __file__


def test_progress_is_called_with_plain_events():
    events = []
    shoal.anonymize(PEOPLE, POLICY, progress=events.append)
    assert {"encode", "group", "verify"} <= {event.step for event in events}
    assert events[-1].share == 1
    assert events[-1].total == len(PEOPLE)


def a_result(name):
    release = shoal.anonymize(PEOPLE, POLICY)
    return {
        "release": lambda: release,
        "verification": lambda: shoal.verify(release),
        "inspection": lambda: shoal.inspect(PEOPLE),
        "draft": lambda: shoal.draft_policy(PEOPLE),
        "assessment": lambda: shoal.assess(release),
        "attack": lambda: shoal.attack(release, known=PEOPLE, raw=PEOPLE),
        "comparison": lambda: shoal.compare(PEOPLE, POLICY, methods="mondrian"),
        "listing": shoal.list_models,
    }[name]()


@pytest.mark.parametrize(
    "name",
    [
        "release",
        "verification",
        "inspection",
        "draft",
        "assessment",
        "attack",
        "comparison",
        "listing",
    ],
)
def test_every_result_has_the_same_four_forms(name):
    found = a_result(name)
    assert isinstance(found, results.Result)
    assert json.loads(json.dumps(found.to_dict()))
    assert isinstance(found.to_frame(), pd.DataFrame)
    assert len(found.to_frame())
    assert repr(found).startswith(f"<{type(found).__name__}: ")
    assert len(repr(found)) < 200
    assert "<div" in found._repr_html_()


@pytest.mark.parametrize(
    ("missing", "kind"),
    [((), pd.DataFrame), (("pandas",), pl.DataFrame), (("pandas", "polars"), pa.Table)],
)
def test_frames_are_of_what_is_installed(monkeypatch, missing, kind):
    monkeypatch.setattr(
        results, "find_spec", lambda name: None if name in missing else sys.modules[name]
    )
    assert isinstance(results.frame_of([{"a": 1, "b": None}, {"a": 2, "b": "x"}]), kind)


def test_the_display_escapes_what_it_shows():
    shown = results.html_of("T", "<b>", [{"<i>": "<u>"}] * 30, ["<script>"])
    assert not {"<b>", "<i>", "<u>", "<script>"} & set(shown.replace("><", ">\n<").split("\n"))
    assert "10 more" in shown


def test_a_verification_is_its_findings_and_more():
    release = shoal.anonymize(PEOPLE, POLICY)
    found = shoal.verify(release)
    assert list(found) == list(release.findings)
    assert found[1] is found.findings[1]
    assert {strength.model for strength in found.strengths} >= {"k", "l", "t"}
    assert found.holds
    with pytest.raises(TypeError, match="holds"):
        bool(found)
    broken = shoal.verify(release, {**POLICY, "constraints": [{"k": 5}]})
    assert not broken.holds
    with pytest.raises(shoal.VerificationFailed, match="k = 5"):
        broken.check()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_parameter_is_described(function):
    text = inspect.getdoc(function) or ""
    assert "Examples\n" in text or function.__name__.startswith("list_")
    if function.__name__.startswith("list_"):
        return
    for section in ("Parameters\n", "Returns\n", "Raises\n"):
        assert section in text
    described = text.partition("Parameters\n")[2].partition("Returns\n")[0]
    heads = {
        name.strip()
        for line in described.splitlines()
        if line and not line.startswith((" ", "-"))
        for name in line.split(",")
    }
    assert heads == set(inspect.signature(function).parameters)


@pytest.mark.parametrize("module", ["shoal", "shoal.api", "shoal.policy.keywords"])
@pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")
def test_the_examples_run(module, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    __import__(module)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    done = doctest.testmod(sys.modules[module], optionflags=flags)
    assert done.attempted
    assert not done.failed
