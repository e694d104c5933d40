"""`shoal compare`, with real runs on the sample."""

import csv
import io
import json
import re
from collections import Counter

import pytest

from shoal import progress
from shoal.comparison import comparison as module
from shoal.comparison.child import Child
from shoal.comparison.outcome import Outcome
from shoal.drawing import page as needs
from tests.cli.test_progress import Terminal
from tests.comparison.comparisons import done


@pytest.fixture(scope="module")
def compared(sample, tmp_path_factory):
    """A real comparison: its files and what it printed."""
    from typer.testing import CliRunner

    from shoal.cli.app import app

    out = tmp_path_factory.mktemp("compared") / "c.html"
    words = ["compare", sample.table, sample.policy, "--methods", "mondrian,optimal"]
    words += ["--k", "3,5", "--seed", "9", "--budget", "300", "-o", out, "--json"]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.stderr
    return out, json.loads(result.stdout)


def test_the_json_of_the_command(compared, sample):
    out, data = compared
    assert data["outputs"] == [str(out), str(out.with_suffix(".json"))]
    assert (data["rows"], data["ks"], data["replaced"], "seed" in data) == (
        400,
        [3, 5],
        True,
        False,
    )
    assert data["name"] == sample.table.name
    statuses = [(one["method"], one["k"], one["status"]) for one in data["outcomes"]]
    assert statuses == [
        ("mondrian", 3, "done"),
        ("optimal", 3, "cannot"),
        ("mondrian", 5, "done"),
        ("optimal", 5, "cannot"),
    ]
    assert data["recommended"]["method"] == "mondrian"
    assert data["recommended"]["k"] == 5
    written = json.loads(out.with_suffix(".json").read_text())
    assert written["outcomes"] == data["outcomes"]


def test_nobody_is_in_the_files(compared, sample):
    """No name, no birth date and no value that few share stands in page or JSON."""
    with sample.table.open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file))
    told = "".join(path.read_text() for path in (compared[0], compared[0].with_suffix(".json")))
    hidden = {person[column] for person in people for column in ("name", "birth_date")}
    for column in ("zip", "nationality", "education", "race", "disease"):
        counts = Counter(person[column] for person in people)
        hidden |= {value for value, times in counts.items() if times < 10}
    assert len(hidden) > 500
    found = [v for v in hidden - {""} if re.search(rf"(?<![\w.]){re.escape(v)}(?![\w.])", told)]
    assert found == []


BAD = {
    "an unknown method": (["--methods", "mondrain"], "Did you mean 'mondrian'?"),
    "a bad k": (["--k", "2;5"], "k: found '2;5'"),
    "an unknown criterion": (["--by", "acuracy"], "Did you mean 'accuracy'?"),
    "models of nothing": (["--by", "accuracy"], "need a target"),
    "models of a sensitive column": (
        ["--by", "accuracy", "--target", "disease"],
        "'disease' is sensitive",
    ),
    "no budget": (["--budget", "0"], "budget: found 0"),
    "an output that is there": (["-o", "there.html"], "exists already"),
    "JSON that is there": (["-o", "other.html"], "exists already"),
    "another form": (["-o", "c.txt"], ".html for a page"),
    "a folder that is not there": (["-o", "none/c.html"], "does not exist"),
    "the input": (["-o", "t.json", "--force"], "is the input itself"),
}


@pytest.mark.parametrize("case", BAD)
def test_mistakes_are_told_before_any_work(shoal, sample, tmp_path, monkeypatch, case):
    monkeypatch.setattr(module, "run_job", lambda *_: pytest.fail("it was started"))
    for name in ("there.html", "other.json", "t.json"):
        (tmp_path / name).write_text("mine")
    options, words = BAD[case]
    table = "t.json" if case == "the input" else sample.table
    result = shoal("compare", table, sample.policy, *options)
    assert result.code == 2
    assert words in result.err
    assert "Traceback" not in result.err
    assert (tmp_path / "there.html").read_text() == "mine"


def test_a_page_needs_the_packages_that_draw(shoal, sample, monkeypatch):
    monkeypatch.setattr(needs, "PACKAGES", ("a_package_that_is_not_there",))
    monkeypatch.setattr(module, "run_job", lambda *_: pytest.fail("it was started"))
    result = shoal("compare", sample.table, sample.policy, "-o", "c.html")
    assert result.code == 2
    assert "shoal[report]" in result.err


def instead(job, *_):
    return done(job.method, job.k, 0.25 if job.method == "mondrian" else 0.3)


def test_the_table_needs_nothing_that_draws(shoal, sample, monkeypatch):
    monkeypatch.setattr(needs, "PACKAGES", ("a_package_that_is_not_there",))
    monkeypatch.setattr(module, "run_job", instead)
    result = shoal("compare", sample.table, sample.policy, "-o", "c.json")
    assert result.code == 0
    assert "Take mondrian" in result.out
    assert "classfly, classfly-plus, datafly: cannot" in result.out
    assert result.out.rstrip().endswith("c.json")


def test_none_can(shoal, sample, monkeypatch):
    monkeypatch.setattr(
        module, "run_job", lambda job, *_: Outcome(job.method, job.k, "infeasible", "Too much.")
    )
    result = shoal("compare", sample.table, sample.policy)
    assert result.code == 3
    assert "No method finished" in result.out
    refused = shoal("compare", sample.table, sample.policy, "--methods", "optimal")
    assert refused.code == 2
    assert "None of the methods supports" in refused.err


def test_progress_has_a_line_per_method(sample, monkeypatch):
    def slowly(job, _table, _budget, report):
        for step, share in (("start", 0.0), ("group", 0.42)):
            report(progress.ProgressEvent(step, share, method=job.method, k=job.k))
        return instead(job)

    file = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(module, "run_job", slowly)
    monkeypatch.setattr("sys.stderr", file)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    with progress.displayed(True) as show, Child() as child:
        module.compare(sample.table, sample.policy, child, "mondrian,bottom-up", 5, None, show)
    assert "k = 5: done" in file.getvalue()
    assert "bottom-up" in file.getvalue()


def test_progress_goes_to_no_file(monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    with progress.displayed(True) as show:
        show(progress.ProgressEvent("group", 0.5, method="mondrian", k=5))
    assert file.getvalue() == ""
