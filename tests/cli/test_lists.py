"""`shoal methods`, `models` and `metrics`."""

import pytest

from shoal import plugins

ROOMS = {"methods": plugins.methods, "models": plugins.models, "metrics": plugins.metrics}


@pytest.mark.parametrize("room", ROOMS)
def test_all_are_listed_with_their_summary(shoal, room, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    seen = shoal(room)
    assert seen.code == 0
    for name, plugin in ROOMS[room]().items():
        assert name in seen.out
        assert plugins.describe(plugin).summary in seen.out


@pytest.mark.parametrize("room", ROOMS)
def test_lists_as_json(shoal, room):
    listed = shoal(room, "--json").data()[room]
    assert [each["name"] for each in listed] == list(ROOMS[room]())
    assert all(each["summary"] and "options" in each for each in listed)


@pytest.mark.parametrize(("room", "name"), [(r, n) for r, find in ROOMS.items() for n in find()])
def test_each_can_be_explained(shoal, room, name):
    seen = shoal(room, name)
    assert seen.code == 0
    described = plugins.describe(ROOMS[room]()[name])
    for option in described.options:
        assert option.name in seen.out
    assert shoal(room, name, "--json").data()["name"] == name


def test_an_explanation_holds_the_whole_docstring_and_the_options(shoal):
    seen = shoal("models", "l").out
    for words in ("Does not bound how common", "Source:", "{l: .., of: ..}", "of: text; required"):
        assert words in seen


def test_metrics_say_when_they_are_measured(shoal, monkeypatch):
    assert "shoal run --metric query-error" in " ".join(shoal("metrics", "query-error").out.split())
    assert "It is measured for every release." in shoal("metrics", "loss").out
    assert shoal("metrics", "loss", "--json").data()["on_request"] is False
    listed = shoal("metrics", "--json").data()["metrics"]
    requested = [
        "mean-ncp-by-importance",
        "query-error",
        "weighted-mean-ncp",
        "weighted-suppression",
    ]
    assert [each["name"] for each in listed if each["on_request"]] == requested
    monkeypatch.setenv("COLUMNS", "300")
    lines = [line for line in shoal("metrics").out.splitlines() if "Only on request." in line]
    assert [line.split()[0] for line in lines] == requested


def test_an_unknown_name_gets_the_nearest(shoal):
    seen = shoal("methods", "mondrain")
    assert seen.code == 2
    assert "Did you mean 'mondrian'?" in seen.err
