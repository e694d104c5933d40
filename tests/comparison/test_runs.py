"""Real processes, well-behaved and not."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.comparison import child, runner
from shoal.errors import HierarchyError, InputError
from shoal.hierarchy.mask import Mask
from shoal.progress import ProgressEvent
from tests.comparison.fakes.mondrian import SECRET, Mondrian
from tests.comparison.processes import alive, noted, require_gone

ROWS = 400
NUMBERS = np.random.default_rng(1)
TABLE = pa.table(
    {
        "name": [f"Person{i}" for i in range(ROWS)],
        "age": NUMBERS.integers(18, 90, ROWS),
        "zip": [f"{n:05d}" for n in NUMBERS.integers(0, 99, ROWS)],
        "ill": NUMBERS.choice(["flu", "gout", "mumps"], ROWS),
    }
)
POLICY = shoal.Policy.load(
    {
        "columns": {
            "name": "identifier",
            "age": "quasi",
            "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
            "ill": "sensitive",
        },
        "constraints": [{"k": 3}, {"l": 2, "of": "ill"}],
        "method": {"name": "flexible-partition", "dimension": "widest"},
        "suppressed": "starred",
        "seed": 3,
    }
)


def misbehaving(how, note=""):
    return POLICY.replace_keys(method=Mondrian(how, str(note)))


def children():
    """Processes of ours that run a method."""
    found = subprocess.run(["ps", "-eo", "ppid=,args="], capture_output=True, text=True).stdout
    lines = (line.split(None, 1) for line in found.splitlines())
    return [
        args for ppid, args in lines if int(ppid) == os.getpid() and "comparison.worker" in args
    ]


@pytest.fixture
def started(monkeypatch):
    """The processes that were started."""
    found, start = [], subprocess.Popen

    def counted(words, **options):
        process = start(words, **options)
        found.extend([process] if "shoal.comparison.worker" in words else [])
        return process

    monkeypatch.setattr(child.subprocess, "Popen", counted)
    return found


def test_the_figures_are_those_of_the_release(started):
    seen = []
    found = shoal.compare(
        TABLE,
        POLICY,
        methods="flexible-partition,mondrian,datafly",
        k=[4],
        budget=300,
        progress=seen.append,
    )
    assert [one.status for one in found.outcomes] == ["done", "done", "cannot"]
    for outcome in found.done:
        method = POLICY.method if outcome.method == "flexible-partition" else outcome.method
        constraints = [{"k": 4}, {"l": 2, "of": "ill"}]
        release = shoal.anonymize(TABLE, POLICY, method=method, constraints=constraints)
        figures, risk = outcome.figures, shoal.assess(release).reidentification.prosecutor
        assert figures.loss == release.metrics["relative-non-uniform-entropy"]
        assert figures.ncp == release.metrics["mean-ncp"]
        assert figures.exact == release.detail.exact
        assert (figures.groups, figures.classes) == (release.groups, release.published_classes)
        assert (figures.risk.highest, figures.risk.average) == (risk.highest, risk.average)
        assert figures.seconds > 0
        assert 0 <= figures.memory < 2**31  # none where it found room in what the process held
    steps = [event.step for event in seen if (event.method, event.k) == ("mondrian", 4)]
    assert steps[:2] == ["wait", "start"]
    assert steps[-1] == "done"
    assert {"encode", "group", "verify"} <= set(steps)
    assert ProgressEvent("cannot", 1.0, method="datafly", k=4) in seen
    assert len(started) == 1, "one process serves all runs"
    assert children() == []


def test_starred_rows_are_no_class():
    few = TABLE.slice(0, 60)
    policy = POLICY.replace_keys(constraints=[{"k": 3}], suppression=0.5)
    ages = pa.table({"age": [1, 1, 1, 2, 2, 2, 50], "ill": list("abcabcd")})
    plain = shoal.Policy.load(
        {
            "columns": {
                "age": {"role": "quasi", "hierarchy": {"tree": ["1", "2", "50"]}},
                "ill": "sensitive",
            },
            "constraints": [{"k": 3}],
            "method": "datafly",
            "suppression": 0.5,
            "suppressed": "starred",
        }
    )
    from shoal.comparison.worker import measure

    found = measure(ages, plain)
    assert found.suppressed_rows == 1
    assert found.suppressed_share == 1 / 7
    assert found.risk.highest == pytest.approx(1 / 3)
    assert measure(few, policy.replace_keys(columns=dict(policy.columns))).risk.highest <= 1 / 3


def test_anatomy_is_judged_by_the_best_guess():
    from shoal.comparison.worker import measure

    policy = shoal.Policy.load(
        {
            "columns": {"name": "identifier", "age": "quasi", "zip": "quasi", "ill": "sensitive"},
            "constraints": [{"l": 2, "of": "ill"}],
            "publish": "anatomy",
            "seed": 12345,
        }
    )
    found, release = measure(TABLE, policy), shoal.anonymize(TABLE, policy)
    table = release.sensitive_tables["ill"].to_pylist()
    groups = {row["group"] for row in table}
    most = [max(row["count"] for row in table if row["group"] == g) for g in groups]
    assert found.loss == 0
    assert found.risk.average == pytest.approx(sum(most) / ROWS)
    assert found.risk.highest == release.largest_share["ill"]


def test_a_slow_method_is_stopped_and_leaves_no_process():
    numbers = np.random.default_rng(2)
    large = pa.table({f"c{i}": numbers.integers(0, 10_000, 20_000) for i in range(4)})
    found = shoal.compare(
        large,
        {"columns": dict.fromkeys(large.column_names, "quasi"), "constraints": [{"k": 5}]},
        methods="bottom-up",
        budget=0.3,
    )
    assert [(o.status, o.reason) for o in found.outcomes] == [
        ("over budget", "stopped after 0.3 seconds")
    ]
    assert found.recommended is None
    assert not found.none_can
    assert children() == []


def test_what_a_method_started_ends_with_it(tmp_path):
    note = tmp_path / "note"
    found = shoal.compare(TABLE, misbehaving("hang", note), methods="mondrian", budget=2)
    assert found.outcomes[0].status == "over budget"
    pids = noted(note)
    assert len(pids) == 2
    require_gone(pids)


@pytest.mark.parametrize(
    ("how", "status", "reason"),
    [
        ("lie", "failed", "its release did not hold: k = 3 was promised"),
        ("die", "failed", "its process was ended by SIGKILL; perhaps the memory ran out"),
        ("raise", "failed", "an unexpected error in Shoal (ValueError)"),
        ("cannot", "cannot", "mondrian finds this too large."),
    ],
)
def test_one_that_goes_wrong_is_reported(how, status, reason):
    found = shoal.compare(TABLE, misbehaving(how), methods="mondrian")
    assert found.outcomes[0].status == status
    assert found.outcomes[0].reason.startswith(reason)
    assert found.none_can == (status == "cannot")
    assert SECRET not in str(found.to_dict())


def test_a_method_that_dies_does_not_stop_the_others(started):
    found = shoal.compare(TABLE, misbehaving("die"), methods="mondrian,least-loss-partition")
    assert [one.status for one in found.outcomes] == ["failed", "done"]
    assert len(started) == 2


def test_an_error_here_ends_the_process_there(tmp_path):
    note = tmp_path / "note"

    def progress(event):
        if event.step == "group":
            noted(note)
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        shoal.compare(TABLE, misbehaving("hang", note), methods="mondrian", progress=progress)
    require_gone(noted(note))


PARENT = """
import sys
from tests.comparison.test_runs import TABLE, misbehaving
import shoal
try:
    shoal.compare(TABLE, misbehaving("hang", sys.argv[1]), methods="mondrian")
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_processes_end_with_their_parent(tmp_path, number):
    note, path = tmp_path / "note", os.pathsep.join(each or str(Path.cwd()) for each in sys.path)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(note)],
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.DEVNULL,
    )
    try:
        pids = noted(note)
        assert all(map(alive, pids))
        parent.send_signal(number)
        parent.wait(60)
    finally:
        parent.kill()
        parent.wait()
    assert parent.returncode == (130 if number == signal.SIGINT else -number)
    require_gone(pids)


def test_a_table_that_does_not_fit_is_told_once_and_at_once():
    tree = {"role": "quasi", "hierarchy": {"tree": ["1", "2"]}}
    policy = POLICY.replace_keys(columns={**POLICY.columns, "age": tree})
    with pytest.raises(HierarchyError, match="age"):
        shoal.compare(TABLE, policy, methods="mondrian,bottom-up")
    assert children() == []


def test_what_was_made_in_this_session_cannot_be_handed_over(monkeypatch):
    made = type("Here", (Mask,), {"__module__": "__main__"})
    zips = {"role": "quasi", "hierarchy": made("right")}
    policy = POLICY.replace_keys(columns={**POLICY.columns, "zip": zips})
    with pytest.raises(InputError, match="module that can be imported"):
        shoal.compare(TABLE, policy, methods="mondrian")
    # it can be packed here, but the other process has another main module
    monkeypatch.setattr(sys.modules["__main__"], "Here", made, raising=False)
    with pytest.raises(InputError, match="module that can be imported"):
        shoal.compare(TABLE, policy, methods="mondrian")


def test_a_warm_up_that_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr(runner, "WARM_UP", 0.01)
    found = shoal.compare(TABLE, POLICY, methods="mondrian", budget=0.01)
    assert found.outcomes[0].status == "over budget"
    assert "warm-up" in found.outcomes[0].reason


def test_a_population_in_memory_goes_along():
    import duckdb

    policy = shoal.Policy.load(
        {
            "columns": {"name": "identifier", "age": "quasi", "zip": "quasi", "ill": "plain"},
            "constraints": [{"k-map": 2}],
            "population": duckdb.from_arrow(TABLE),
        }
    )
    found = shoal.compare(TABLE, policy, methods="mondrian")
    assert found.outcomes[0].status == "done"


def test_too_much_asked():
    found = shoal.compare(TABLE.slice(0, 50), POLICY, methods="mondrian", k=60)
    assert found.outcomes[0].status == "infeasible"
    assert "The largest k it allows is 50" in found.outcomes[0].reason
    assert found.none_can
