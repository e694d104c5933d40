"""`shoal reproduce`."""

import json

import pytest

from tests.reproduction.tiny import made_tiny


@pytest.fixture(autouse=True)
def _tiny(monkeypatch):
    made_tiny(monkeypatch)


def test_it_tells_the_claims_and_writes_the_files(shoal, tmp_path):
    done = shoal("reproduce", "flexible-partition", "--quick")
    assert done.code == 0
    assert done.err == "This takes about a minute on two cores.\n"
    assert "Of 8 claims: " in done.out
    assert "True for 3 of 3 values of k, in all four settings." in done.out
    assert "shoal-flexible-partition/index.html" in done.out
    assert (tmp_path / "shoal-flexible-partition" / "dm.svg").exists()
    again = shoal("reproduce", "flexible-partition", "--quick")
    assert again.code == 2
    assert "shoal-flexible-partition has files in it already" in again.err


def test_json_is_what_the_file_holds(shoal, tmp_path):
    done = shoal("reproduce", "flexible-partition", "--quick", "--json", "-o", "out")
    assert done.code == 0
    data = done.data()
    assert data.pop("folder") == "out"
    assert data == json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert data["data"].startswith("A made-up table like Adult")


def test_the_expected_time_of_a_full_run_is_told_first(shoal, monkeypatch):
    from shoal.reproduction import run

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "reproduce", stop)
    done = shoal("reproduce", "flexible-partition")
    assert done.code == 130
    assert done.err.startswith("This takes about 5 minutes on two cores.\n")


def test_mistakes_are_told(shoal, tmp_path):
    unknown = shoal("reproduce", "flexible")
    assert unknown.code == 2
    assert "Did you mean 'flexible-partition'?" in unknown.err
    assert shoal("reproduce", "flexible", "--json").data()["exit_code"] == 2
    lacking = shoal("reproduce", "flexible-partition", "--quick", "--adult", "nowhere")
    assert lacking.code == 2
    assert "nowhere is not there" in lacking.err
    assert not list(tmp_path.iterdir())
