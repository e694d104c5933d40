"""Every kind of failure: its exit code, one message, no traceback, nothing written, no values."""

import pytest

import shoal.pipeline.run as pipeline
from shoal.errors import VerificationFailed


@pytest.fixture
def small(tmp_path):
    """A table, and a policy for it that can be asked too much of."""
    table, policy = tmp_path / "t.csv", tmp_path / "p.yaml"
    table.write_text("age,disease\n" + "".join(f"{i % 7},{'ab'[i % 2]}\n" for i in range(20)))
    policy.write_text("columns: {age: quasi, disease: sensitive}\nconstraints: [{k: 2}]\n")
    return table, policy


def check(result, code, words):
    assert result.code == code
    assert words in result.err
    assert result.err.startswith("Error: ")
    assert "Traceback" not in result.err
    assert result.out == ""


def check_json(result, code, words, kind):
    assert result.code == code
    assert result.err == ""
    assert result.data()["exit_code"] == code
    assert result.data()["kind"] == kind
    assert words in result.data()["error"]


CASES = {
    "no such table": (["run", "none.csv", "p.yaml"], 2, "does not exist", "InputError"),
    "a folder": (["run", ".", "p.yaml"], 2, "folder", "InputError"),
    "an empty table": (["run", "empty.csv", "p.yaml"], 2, "empty", "InputError"),
    "no such policy": (["run", "t.csv", "none.yaml"], 2, "does not exist", "PolicyError"),
    "a bad policy": (["run", "t.csv", "bad.yaml"], 2, "quasy", "PolicyError"),
    "another's policy": (["run", "t.csv", "other.yaml"], 2, "none of them", "PolicyError"),
    "no such method": (["run", "t.csv", "p.yaml", "--method", "x"], 2, "allowed", "PolicyError"),
    "a bad separator": (["run", "t.csv", "p.yaml", "--separator", "::"], 2, "one", "PolicyError"),
    "too much asked": (
        ["run", "t.csv", "greedy.yaml"],
        3,
        "largest l it allows is 2",
        "Infeasible",
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("as_json", [False, True])
def test_failures(shoal, small, tmp_path, case, as_json):
    arguments, code, words, kind = CASES[case]
    good = small[1].read_text()
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "bad.yaml").write_text(good.replace("quasi", "quasy"))
    (tmp_path / "other.yaml").write_text("columns: {zip: quasi}\nconstraints: [{k: 2}]\n")
    (tmp_path / "greedy.yaml").write_text(good.replace("{k: 2}", "{l: 3, of: disease}"))
    before = sorted(tmp_path.iterdir())
    result = shoal(*arguments, "-o", "out.csv", *(["--json"] if as_json else []))
    if as_json:
        check_json(result, code, words, kind)
    else:
        check(result, code, words)
    assert sorted(tmp_path.iterdir()) == before


def test_a_release_that_fails_verification(shoal, small, monkeypatch):
    def fail(_):
        raise VerificationFailed("k = 2 was promised")

    monkeypatch.setattr(pipeline, "require", fail)
    check(shoal("run", *small, "-o", "out.csv"), 4, "k = 2 was promised")
    failed = shoal("run", *small, "-o", "out.csv", "--json")
    check_json(failed, 4, "k = 2 was promised", "VerificationFailed")


def test_what_nobody_foresaw_shows_its_type_and_never_its_text(shoal, small, monkeypatch):
    def fail(*_, **__):
        raise ValueError("cannot parse 'Jane Roe'")

    monkeypatch.setattr(pipeline, "run_files", fail)
    result = shoal("run", *small, "-o", "out.csv")
    check(result, 1, "ValueError")
    assert "Jane" not in result.err
    assert "SHOAL_DEBUG=1" in result.err
    check_json(shoal("run", *small, "-o", "out.csv", "--json"), 1, "ValueError", "ValueError")


def test_the_system_saying_no_is_the_users_to_act_on(shoal, small, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device", "out.csv")

    monkeypatch.setattr(pipeline, "run_files", fail)
    check(shoal("run", *small, "-o", "out.csv"), 2, "out.csv: No space left on device")


def test_stopping_takes_one_line(shoal, small, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "run_files", stop)
    result = shoal("run", *small, "-o", "out.csv")
    assert result.code == 130
    assert result.err.splitlines() == ["Interrupted: no incomplete file is left behind."]


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["run", "a", "b"], ["rum"], ["demo", "--rows", "0"], ["inspect", "a", "--bad"]],
)
def test_usage_errors_are_2(shoal, arguments):
    assert shoal(*arguments).code == 2
