"""What is asked is checked before any work."""

import subprocess

import pyarrow as pa
import pytest

import shoal
from shoal import plugins
from shoal.comparison import child
from shoal.comparison import comparison as module
from shoal.comparison.plan import make_plan, own_k, read_budget, read_ks, read_methods
from shoal.errors import InputError, PolicyError
from shoal.policy import Policy

POLICY = {
    "columns": {"name": "identifier", "age": "quasi", "zip": "quasi", "ill": "sensitive"},
    "constraints": [{"k": 5, "on": ["age"]}, {"k": 3, "on": ["zip"]}, {"l": 2, "of": "ill"}],
    "method": {"name": "mondrian", "strict": False},
    "metrics": ["query-error"],
}
NAMES = ["name", "age", "zip", "ill"]


def test_lists_of_k():
    assert read_ks(None) == ()
    assert read_ks("10, 2,5,2") == (2, 5, 10)
    assert read_ks(5) == (5,)
    assert read_ks([7, 3]) == (3, 7)


@pytest.mark.parametrize(
    "value", ["", "2,,5", "two", "2.5", "0", "-3", [1.5], [True], 0, "٣", ["x"]]
)
def test_a_k_that_is_none(value):
    with pytest.raises(InputError, match=r"k: found .*whole numbers from 1 on, as in 2,5,10"):
        read_ks(value)


def test_an_empty_list_of_k():
    with pytest.raises(InputError, match="k: found an empty list"):
        read_ks([])


def test_methods_are_all_or_those_named():
    every = [name for name in plugins.names("methods") if name != "auto"]  # it is one of the others
    assert read_methods(None) == tuple(every)
    assert read_methods("mondrian, datafly,mondrian") == ("mondrian", "datafly")
    assert read_methods(["bottom-up"]) == ("bottom-up",)


@pytest.mark.parametrize("value", ["mondrain", ["mondrian", "mondrain"]])
def test_an_unknown_method_is_named_with_the_nearest(value):
    with pytest.raises(InputError, match=r"no method 'mondrain'; .* Did you mean 'mondrian'\?"):
        read_methods(value)


@pytest.mark.parametrize("value", ["", " , ", []])
def test_no_method(value):
    with pytest.raises(InputError, match="methods: found none; allowed: auto, bottom-up"):
        read_methods(value)


@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan"), True, "5"])
def test_a_budget_that_is_none(value):
    with pytest.raises(InputError, match=r"budget: found .*seconds, a number above 0"):
        read_budget(value)


def test_a_k_replaces_that_of_every_k_constraint_and_nothing_else():
    policy = Policy.load(POLICY)
    plan = make_plan(policy, NAMES, "mondrian,bottom-up", "4,9")
    assert plan.ks == (4, 9)
    assert [(job.method, job.k) for job in plan.jobs] == [
        ("mondrian", 4),
        ("bottom-up", 4),
        ("mondrian", 9),
        ("bottom-up", 9),
    ]
    for job in plan.jobs:
        k_age, k_zip, l_ill = job.policy.constraints
        assert (k_age.k, k_age.on) == (job.k, ("age",))
        assert (k_zip.k, k_zip.on) == (job.k, ("zip",))
        assert l_ill == policy.constraints[2]


def test_the_policy_is_asked_as_it_is_without_a_k():
    policy = Policy.load(POLICY)
    assert own_k(policy) is None
    plan = make_plan(policy, NAMES, "mondrian", None)
    assert plan.ks == (None,)
    assert plan.jobs[0].policy.constraints == policy.constraints


def test_the_own_method_keeps_its_options_and_others_have_defaults():
    by_name = {
        j.method: j.policy.method for j in make_plan(Policy.load(POLICY), NAMES, None, 2).jobs
    }
    assert by_name["mondrian"].strict is False
    assert by_name["flexible-partition"].dimension == "least-loss"


def test_what_no_release_depends_on_is_not_handed_over():
    job = make_plan(Policy.load(POLICY), NAMES, "mondrian", None).jobs[0]
    assert list(job.policy.columns) == ["age", "zip", "ill"]
    assert job.policy.metrics == ()


def test_methods_that_cannot_are_listed_with_why():
    plan = make_plan(Policy.load(POLICY), NAMES, "mondrian,datafly,optimal", [5])
    assert [(one.method, one.status) for one in plan.refused] == [
        ("datafly", "cannot"),
        ("optimal", "cannot"),
    ]
    assert plan.refused[0].reason.startswith("datafly honours k alone, but the policy also asks")
    assert "hierarchy" in plan.refused[1].reason


def test_where_none_can_nothing_is_run():
    with pytest.raises(PolicyError, match="None of the methods supports") as caught:
        make_plan(Policy.load(POLICY), NAMES, "datafly,optimal", "2,5")
    assert str(caught.value).count("\n") == 2


def test_a_k_where_the_policy_has_none():
    policy = Policy.load(POLICY | {"constraints": [{"l": 2, "of": "ill"}]})
    with pytest.raises(PolicyError, match="no constraint of the model k"):
        make_plan(policy, NAMES, None, 5)
    assert make_plan(policy, NAMES, "mondrian", None).ks == (None,)


def test_a_policy_for_another_table():
    with pytest.raises(PolicyError, match="zip"):
        make_plan(Policy.load(POLICY), ["name", "age", "ill"], None, None)


TABLE = pa.table({"name": ["x"], "age": [1], "zip": ["a"], "ill": ["b"]})


@pytest.mark.parametrize(
    ("data", "asked", "words"),
    [
        (TABLE, {"methods": "x"}, "no method 'x'"),
        (TABLE, {"k": "x"}, "k: found 'x'"),
        (TABLE, {"budget": 0}, "budget: found 0"),
        (TABLE.slice(0, 0), {}, "no rows"),
    ],
)
def test_nothing_is_started_before_all_is_known_to_be_right(monkeypatch, data, asked, words):
    """But for the process in which it would have run: it has ended, too."""
    started = []

    class Noted(subprocess.Popen):
        def __init__(self, *words, **options):
            super().__init__(*words, **options)
            started.append(self)

    monkeypatch.setattr(child.subprocess, "Popen", Noted)
    monkeypatch.setattr(module, "run_job", lambda *_: pytest.fail("it was started"))
    with pytest.raises(InputError, match=words):
        shoal.compare(data, POLICY, **asked)
    assert all(process.returncode is not None for process in started)
