"""What a release says about the population behind it."""

import json
from collections import Counter
from math import isclose
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.evidence.estimated_risk import at_least, at_most_one
from shoal.metrics.weighted import WeightedMeanNcp, WeightedSuppression
from shoal.testing import check_metric
from tests.examples import examples
from tests.weights.naive import classes, risks

ROWS = 60


def table(seed: int = 3, people: bool = False) -> pa.Table:
    draw = np.random.default_rng(seed)
    person = np.arange(ROWS) // 2 if people else np.arange(ROWS)
    weights = draw.choice([1.5, 20, 33.25, 400], ROWS)[person]
    return pa.table(
        {
            "age": draw.integers(20, 60, ROWS),
            "sex": draw.choice(["f", "m"], ROWS),
            "w": weights,
            "id": person,
        }
    )


def policy(**more: Any) -> dict[str, Any]:
    columns = {"age": "quasi", "sex": "quasi", "w": "weight", "id": "identifier"}
    return {"columns": columns, "constraints": [{"k": 3}], "seed": 5, **more}


def test_conformance() -> None:
    check_metric(WeightedMeanNcp)
    check_metric(WeightedSuppression)


@pytest.mark.parametrize("people", [False, True])
def test_risks_before_and_after_are_those_of_a_plain_count(people: bool) -> None:
    rows = table(people=people)
    chosen = policy()
    chosen["columns"] |= {"id": "person"} if people else {}
    chosen["columns"]["w"] = {"role": "weight", "publish": "exact"}
    release = shoal.anonymize(rows, chosen, order="kept")
    found = release.weighted
    assert found is not None
    assert found.after is not None
    weights, ids = [str(w) for w in rows["w"].to_pylist()], rows["id"].to_pylist()
    for one, risk in ((rows, found.before), (release.table, found.after)):
        keys = list(zip(one["age"].to_pylist(), one["sex"].to_pylist(), strict=True))
        each, alone = classes(keys, weights, ids), risks(keys, weights, ids)
        assert isclose(risk.expected, sum(alone.values()), rel_tol=1e-12)
        assert isclose(risk.highest, max(alone.values()), rel_tol=1e-12)
        assert risk.smallest_class == float(min(total for _, total in each.values()))
        assert (risk.classes, risk.sample) == (len(each), len(alone))
    assert found.before.population == found.after.population
    assert found.after.expected <= found.before.expected
    assert shoal.assess(release).estimated == found.after


def test_weighted_losses_count_rows_as_often_as_they_weigh() -> None:
    """A release of a table in which rows are repeated by their weights loses as much on average."""
    rows = pa.table({"age": [1, 2, 3, 9, 9, 9], "w": [1, 2, 1, 3, 3, 3]})
    columns = {"age": "quasi", "w": {"role": "weight", "publish": "exact"}}
    release = shoal.anonymize(rows, {"columns": columns, "constraints": [{"k": 3}]}, seed=1)
    assert release.table["age"].to_pylist()[:3] == ["[1~3]"] * 3
    assert release.metrics["mean-ncp"] == pytest.approx(3 * 0.25 / 6)
    assert release.metrics["weighted-mean-ncp"] == pytest.approx(4 * 0.25 / 13)
    assert release.metrics["weighted-suppression"] == 0


def test_weighted_suppression_is_a_share_of_the_population() -> None:
    rows = pa.table({"age": [1, 1, 1, 2, 3, 3, 3], "w": [1, 1, 1, 94, 1, 1, 1]})
    columns = {
        "age": {"role": "quasi", "hierarchy": {"tree": {"any": ["1", "2", "3"]}}},
        "w": {"role": "weight", "publish": "exact"},
    }
    release = shoal.anonymize(
        rows,
        {"columns": columns, "constraints": [{"k": 3}]},
        method="datafly",
        suppression=0.2,
        seed=1,
    )
    assert release.suppressed_rows == 1
    assert release.metrics["weighted-suppression"] == 0.94
    assert release.metrics["weighted-mean-ncp"] == 0.94
    assert release.weighted is not None
    assert release.weighted.after is not None
    assert release.weighted.after.population == 6


def test_no_withheld_weight_follows_from_what_is_stated(tmp_path) -> None:
    """A class of one row in the input, and one suppressed row: their weights are nowhere."""
    rows = pa.table({"age": [1, 1, 1, 2, 3, 3, 3], "w": [20, 20, 20, 9437, 31, 20, 20]})
    columns = {
        "age": {"role": "quasi", "hierarchy": {"tree": {"any": ["1", "2", "3"]}}},
        "w": "weight",
    }
    chosen = {
        "columns": columns,
        "constraints": [{"k": 3}],
        "method": "datafly",
        "suppression": 0.2,
        "seed": 1,
    }
    release = shoal.anonymize(rows, chosen)
    assert release.suppressed_rows == 1
    found = release.weighted
    assert found is not None
    assert found.after is not None
    assert found.before.rounded
    assert found.after.rounded
    assert (found.before.smallest_class, found.after.smallest_class) == (50, 50)  # 60, and 60
    assert (found.before.population, found.after.population) == (9600, 100)  # 9568 and 131
    exact = shoal.assess(rows, "age", weight="w").estimated
    assert exact is not None
    assert exact.highest <= found.before.highest <= 2.5 * exact.highest
    assert release.metrics["weighted-suppression"] == 1.0  # 0.986
    release.report(tmp_path / "report.html")
    release.report(tmp_path / "external.html", external=True)
    texts = [path.read_text() for path in tmp_path.iterdir()]
    for text in (*texts, json.dumps(release.to_dict()), repr(release)):
        for secret in ("9437", "9,437", "9568", "9,568", "131.0", "0.986", "98.6"):
            assert secret not in text
    assert "so that the weight of no row follows" in "".join(texts)


@given(figure=st.floats(1e-6, 9e12))
@examples(50)
def test_bounds_are_on_the_safe_side_and_near(figure: float) -> None:
    assert figure / 2.6 <= at_least(figure) <= figure
    share = figure / 9e12
    assert share <= at_most_one(share) <= min(1.0, 2.6 * share)
    for found in (at_least(figure), at_most_one(share)):
        assert f"{found:.0e}"[0] in "125"
        assert found == float(f"{found:.0e}")


def test_without_a_weight_nothing_is_estimated() -> None:
    chosen = policy()
    chosen["columns"]["w"] = "identifier"
    release = shoal.anonymize(table(), chosen)
    assert release.weighted is None
    assert "weighted-mean-ncp" not in release.metrics
    assert release.to_dict()["weighted"] is None


def test_the_estimates_are_in_the_json() -> None:
    release = shoal.anonymize(table(), policy())
    found = json.loads(json.dumps(release.to_dict()))["weighted"]
    assert found["column"] == "w"
    assert found["after"]["expected"] == release.weighted.after.expected  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0] * ROWS, "look like relative weights"),
        ([0.5] * 30 + [1.5] * 30, "look like relative weights"),
        ([0.5] * 10 + [100.0] * 50, "10 of 60 rows have a weight of w below 1"),
    ],
)
def test_weights_that_do_not_gross_up_are_warned_of(weights: list[float], words: str) -> None:
    with pytest.warns(shoal.ShoalWarning, match=words):
        shoal.anonymize(table().set_column(2, "w", pa.array(weights)), policy())


def test_rounded_weights_are_estimated_with_as_they_are_published() -> None:
    chosen = policy()
    chosen["columns"]["w"] = {"role": "weight", "round": 0.5}
    release = shoal.anonymize(table(), chosen)
    assert Counter(release.table["w"].to_pylist()).keys() <= {1.5, 20, 33.5, 400}
    assert release.weighted is not None
    assert release.weighted.before.population == sum(release.table["w"].to_pylist())


def test_the_report_calls_an_estimate_an_estimate(tmp_path) -> None:
    chosen = policy(constraints=[{"k": 3}, {"estimated-k-map": 60}])
    release = shoal.anonymize(table(), chosen)
    release.report(tmp_path / "report.html")
    certificate = json.loads((tmp_path / "report.json").read_text())
    assert certificate["weighted"] == json.loads(json.dumps(release.to_dict()["weighted"]))
    (promise,) = (one for one in certificate["guarantees"] if one["model"] == "estimated-k-map")
    assert "ESTIMATE" in promise["words"]
    assert any("That is an estimate" in words for words in certificate["checked"])
    assert any("they are not published" in words for words in certificate["policy"]["words"])
    page = " ".join((tmp_path / "report.html").read_text().split())
    assert "In the population, estimated" in page
    assert f"{release.weighted.after.expected:,.2f}" in page  # type: ignore[union-attr]
    assert "Weights that are wrong" in page


def test_the_report_has_no_such_section_without_weights(tmp_path) -> None:
    chosen = policy()
    chosen["columns"]["w"] = "identifier"
    shoal.anonymize(table(), chosen).report(tmp_path / "report.html")
    assert 'id="population"' not in (tmp_path / "report.html").read_text()


def test_the_terminal_shows_the_population(tmp_path, capsys) -> None:
    from pyarrow import csv

    from shoal.cli.app import app

    csv.write_csv(table().select(["age", "sex", "w"]), tmp_path / "survey.csv")
    (tmp_path / "policy.yaml").write_text(
        "columns: {age: quasi, sex: quasi, w: weight}\nconstraints: [{k: 3}]\nseed: 1\n"
    )
    files = [str(tmp_path / name) for name in ("survey.csv", "policy.yaml")]
    for arguments in (
        ["run", *files, "-o", str(tmp_path / "out.csv")],
        ["inspect", files[0], "--weight", "w"],
    ):
        with pytest.raises(SystemExit) as ended:
            app(arguments)
        assert ended.value.code in (0, None)
        assert "re-identifications to expect" in capsys.readouterr().out


def test_a_published_weight_that_singles_out_is_warned_of() -> None:
    chosen = policy()
    chosen["columns"]["w"] = {"role": "weight", "round": 0.5}
    with pytest.warns(shoal.ShoalWarning, match="sampling weight w is published and is one of"):
        shoal.anonymize(table(), chosen)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_certificate_with_another_estimate_does_not_fit(tmp_path) -> None:
    from shoal.report.certificate import SEAL, seal_of

    chosen = policy()
    chosen["columns"]["w"] = {"role": "weight", "round": 0.5}
    release = shoal.anonymize(table(), chosen)
    release.write(tmp_path / "out.csv", report=tmp_path / "report.json")

    def differences() -> tuple[str, ...]:
        found = shoal.verify(
            tmp_path / "out.csv", release.policy, certificate=tmp_path / "report.json"
        )
        assert found.certificate is not None
        return found.certificate.differences

    assert not differences()
    stated = json.loads((tmp_path / "report.json").read_text())
    for change in ({"expected": 0.001}, {"smallest_class": 10_000.0}, {"population": 1.0}):
        forged = {**stated, "weighted": {**stated["weighted"]}}
        forged["weighted"]["after"] = {**stated["weighted"]["after"], **change}
        forged[SEAL] = seal_of(forged)
        (tmp_path / "report.json").write_text(json.dumps(forged))
        assert differences() == (
            "It states another estimate of the population than the weights of the release give.",
        )
    forged = {**stated, "weighted": None}
    forged[SEAL] = seal_of(forged)
    (tmp_path / "report.json").write_text(json.dumps(forged))
    assert "does not state the population" in differences()[0]
