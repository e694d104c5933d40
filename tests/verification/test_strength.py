"""What a release holds, asked or not: any release, ours or another tool's."""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.errors import VerificationFailed
from shoal.verification.check import require
from tests.models import twins

ILLS = ["flu", "asthma", "ulcer", "gout"]
TREE = ((0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 0, 0))
PAYS = [100, 200, 300, 400, 500]
# another tool's labels: places in ILLS and PAYS, a missing value being None
CLASSES: dict[tuple[str, str], tuple[list[int | None], list[int | None]]] = {
    ("20-29", "A"): ([0, 1, 2, 3, 0], [0, 1, 2, 3, 4]),
    ("20-29", "B"): ([0, 0, 1, None, 2, 3], [0, 0, 1, 2, None, 4]),
    (">=30", "*"): ([2, 3, 3, 1, 0, 0, 0], [4, 4, 3, 2, 1, 0, 4]),
}
POLICY: dict[str, Any] = {
    "columns": {
        "age": "quasi",
        "town": "quasi",
        "ill": {"role": "sensitive", "hierarchy": {"tree": {"lung": ILLS[:2], "x": ILLS[2:]}}},
        "pay": {"role": "sensitive", "kind": "ordered"},
    },
    "constraints": [{"k": 5}],
}


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    lines = ["age;town;ill;pay"]
    for (age, town), (ills, pays) in CLASSES.items():
        for ill, pay in zip(ills, pays, strict=True):
            shown = ["" if ill is None else ILLS[ill], "" if pay is None else str(PAYS[pay])]
            lines.append(";".join([age, town, *shown]))
    path = tmp_path / "foreign.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def groups(place: int) -> tuple[list[list[int | None]], list[int | None]]:
    found = [both[place] for both in CLASSES.values()]
    return found, [value for group in found for value in group]


def test_every_figure_is_that_of_the_textbook(foreign: Path) -> None:
    found = {
        (s.model, s.of, *s.options.values()): s.reached
        for s in shoal.verify(foreign, POLICY).strengths
    }
    assert found.pop(("k", None)) == 5
    assert found.pop(("average-risk", None)) == pytest.approx(3 / 18, abs=1e-4)
    for place, of, distance in ((0, "ill", "hierarchical"), (1, "pay", "ordered")):
        each, everybody = groups(place)
        own = {
            ("l", of): min(len(set(twins.present(g))) for g in each),
            ("alpha", of): max(map(twins.alpha, each)),
            ("entropy-l", of): math.exp(min(map(twins.entropy, each))),
            ("t", of): max(twins.total_variation(g, everybody) for g in each),
            ("t", of, distance): max(twins.distance(distance, TREE)(g, everybody) for g in each),
            ("beta", of): max(v for g in each for v in twins.growths(g, everybody).values()),
        }
        for key, value in own.items():
            assert found.pop(key) == pytest.approx(float(value), abs=1.1e-4), key
        delta = found.pop(("delta", of))
        if math.isinf(delta):
            assert any(len(set(twins.present(g))) < len(set(everybody) - {None}) for g in each)
        else:
            assert all(twins.delta(g, everybody, delta) for g in each)
    assert not found, "nothing else is told"


def test_what_is_stated_holds_when_it_is_asked(foreign: Path) -> None:
    for one in shoal.verify(foreign, POLICY).strengths:
        if math.isinf(one.reached):
            continue
        asked = {one.model: float(f"{one.reached:g}"), **one.options}
        if one.of:
            asked["of"] = one.of
        if one.model in ("k", "l"):
            asked[one.model] = int(one.reached)
        require(shoal.verify(foreign, {**POLICY, "constraints": [asked]}))


def test_a_figure_of_which_less_is_more_is_worded_right(foreign: Path) -> None:
    each, everybody = groups(1)
    really = max(twins.ordered_distance(g, everybody) for g in each)
    asked = {"t": 0.01, "of": "pay", "distance": "ordered"}
    with pytest.raises(VerificationFailed) as failed:
        require(shoal.verify(foreign, {**POLICY, "constraints": [asked]}))
    shown = math.ceil(really * 10**4) / 10**4
    assert str(failed.value) == (
        "t = 0.01 of pay, distance ordered was promised on age, town, but 3 of 3 published classes "
        "fall short; the smallest of them has 5 rows. The table really holds "
        f"t = {shown:g} of pay, distance ordered."
    )


def test_a_model_of_which_no_figure_holds_is_worded_right(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("age,town,ill,pay\n1,x,flu,100\n1,x,flu,100\n2,x,gout,100\n")
    asked = [{"delta": 1, "of": "ill"}]
    with pytest.raises(VerificationFailed, match=r"No figure of delta of ill holds for the table"):
        require(shoal.verify(path, {**POLICY, "constraints": asked}))


def test_average_risk_is_judged_as_a_whole(foreign: Path) -> None:
    """3 / 18: classes of 5 rows alone would have 1 / 5."""
    (found,) = shoal.verify(foreign, {**POLICY, "constraints": [{"average-risk": 0.17}]})
    assert found.holds
    (found,) = shoal.verify(foreign, {**POLICY, "constraints": [{"average-risk": 0.16}]})
    assert (found.holds, found.smallest_failing, found.reached) == (False, 5, 0.1667)
    assert Fraction(3, 18) <= Fraction(1667, 10000)


def test_the_command_tells_it_to_eyes_and_machines(foreign: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(shoal.Policy.load({**POLICY, "constraints": [{"k": 6}]}).to_yaml())
    shown = CliRunner().invoke(app, ["verify", str(foreign), str(policy)])
    assert shown.exit_code == 4
    assert "What it holds, required or not" in shown.output
    assert "k 5, average-risk 0.1667 on 2 quasi columns" in shown.output
    assert "tree" in shown.output
    told = CliRunner().invoke(app, ["verify", str(foreign), str(policy), "--json"])
    assert told.exit_code == 4
    data = json.loads(told.output, parse_constant=pytest.fail)
    assert data["found"][0] == {"model": "k", "of": None, "reached": 5, "options": {}}
    assert {one["model"] for one in data["found"]} > {
        "l",
        "entropy-l",
        "t",
        "alpha",
        "beta",
        "delta",
    }
    assert data["guarantees"][0]["smallest_failing"] == 5


def test_values_that_the_policy_does_not_know_are_told(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("age,town,ill,pay\n1,x,flu,100\n1,x,SECRET,200\n")
    with pytest.raises(
        shoal.PolicyError, match="column 'ill' holds values that have no place"
    ) as e:
        shoal.verify(path, {**POLICY, "constraints": [{"t": 0.5, "of": "ill"}]})
    assert "SECRET" not in str(e.value)


def test_a_release_without_rows_has_nothing_to_tell(tmp_path: Path) -> None:
    path = tmp_path / "none.csv"
    path.write_text("age,town,ill,pay\n")
    assert shoal.verify(path, POLICY).strengths == ()
