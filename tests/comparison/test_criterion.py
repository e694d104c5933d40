"""What decides: the ranking by any criterion against a plain one, its words, and real figures of it."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.analysis.prediction import ModelScore
from shoal.comparison.criterion import Criterion, number, read_criterion
from shoal.comparison.page import notebook, page
from shoal.comparison.ranking import ranked, recommend
from shoal.comparison.worker import measure
from shoal.errors import InputError, PolicyError
from shoal.policy import Policy
from tests.comparison.comparisons import comparison, done
from tests.comparison.test_show import shown

LOW, HIGH = Criterion("query-error"), Criterion("precision", high_is_good=True)
MODELS = Criterion("accuracy", True, "town")


def judged(method, k, figure, average=0.1, seconds=0.5, loss=0.2, models=False, baseline=0.4):
    one = done(method, k, loss, average, seconds)
    score = ModelScore("accuracy", figure, baseline, 30_000, 10_000) if models else None
    return replace(one, figures=replace(one.figures, figure=figure, models=score))


@st.composite
def runs(draw):
    names, ks = st.sampled_from("abcd"), st.sampled_from([2, 5, 10])
    pairs = draw(st.sets(st.tuples(names, ks), min_size=1))
    figures = st.sampled_from([-0.3, 0.0, 0.5, 0.505, 0.52, 0.9])
    risks, times = st.sampled_from([0.05, 0.1]), st.sampled_from([0.1, 1.0])
    return [
        judged(name, k, draw(figures), draw(risks), draw(times), loss=draw(risks))
        for name, k in sorted(pairs)
    ]


@settings(max_examples=60)
@given(runs(), st.sampled_from([LOW, HIGH]), st.sampled_from([2, 5, 10]))
def test_the_ranking_and_the_recommendation_by_hand(outcomes, criterion, k):
    best = max if criterion.high_is_good else min
    here = [one for one in outcomes if one.k == k]
    left, order = list(here), []
    while left:
        top = best(one.figures.figure for one in left)
        tied = [one for one in left if one.figures.figure == top]
        tied.sort(key=lambda one: (one.figures.risk.average, one.method))
        order.append(tied[0])
        left.remove(tied[0])
    assert ranked(outcomes, k, criterion) == order
    if not here:
        return
    found = recommend(outcomes, "a", k, criterion)
    (chosen,) = [one for one in outcomes if (one.method, one.k) == (found.method, found.k)]

    def as_good(one, other):
        a, b = one.figures.figure, other.figures.figure
        return a >= b if criterion.high_is_good else a <= b

    for other in outcomes:
        if other.k >= k and as_good(other, chosen):
            assert other.figures.risk.average >= chosen.figures.risk.average
            if other.figures.risk.average == chosen.figures.risk.average:
                assert as_good(chosen, other)
    top = order[0].figures.figure
    assert chosen.k > k or abs(chosen.figures.figure - top) <= 0.02 * abs(top) + 1e-12


def test_loss_decides_nothing_where_something_else_does():
    good = judged("a", 5, 0.9, loss=0.9, models=True)
    found = recommend([good, judged("b", 5, 0.8, loss=0.1, models=True)], "b", 5, MODELS)
    assert found.reason == (
        "a keeps 'town' the most predictable at k = 5: it gives models with an accuracy of 0.900, in "
        "0.50 s; the runner-up and the policy's own method, b, would give 0.800, in 0.50 s."
    )
    found = recommend([judged("a", 5, 0.5), judged("b", 5, 0.51, 0.05, 0.1)], "c", 5, LOW)
    assert found.reason == (
        "b has a query-error of 0.51 at k = 5, hardly worse than a (0.5), and takes 0.10 s instead of "
        "0.50 s."
    )


def test_of_models_that_differ_by_noise_the_release_that_loses_least_is_recommended():
    """Two standard errors of 0.95 on 10,000 rows are 0.0044."""
    top = judged("a", 5, 0.95, seconds=0.1, average=0.05, loss=0.6, models=True)
    near = judged("b", 5, 0.946, seconds=9, loss=0.3, models=True)
    far = judged("c", 5, 0.945, seconds=0.01, average=0.01, loss=0.1, models=True)
    found = recommend([top, near, far], "c", 5, MODELS)
    assert found.method == "b"
    assert found.reason == (
        "b gives models with an accuracy of 0.946 at k = 5. But for noise, 0.004 on so many rows, that "
        "is as good as a, and of these it loses the least information (30.0 %), in 9.0 s."
    )
    assert "c, gives models with an accuracy of 0.945" in found.own
    quick = judged("d", 5, 0.946, seconds=1, loss=0.3, models=True)
    assert recommend([top, near, quick], "c", 5, MODELS).method == "d"
    later = judged("a", 10, 0.9501, average=0.01, models=True)
    found = recommend([top, later], "a", 5, MODELS)
    assert (found.k, found.further) == (5, "")


def test_where_no_model_beats_guessing_it_is_said():
    outcomes = [
        judged("datafly", 5, 0.772, loss=0.5, models=True, baseline=0.778),
        judged("mondrian", 5, 0.778, seconds=0.33, loss=0.385, models=True, baseline=0.778),
        judged("optimal", 5, 0.779, 0.01, 0.18, loss=0.628, models=True, baseline=0.778),
    ]
    found = replace(comparison(outcomes), by=MODELS)
    assert found.recommended.method == "mondrian"
    words = " ".join(shown(found).split())
    assert (
        "No release predicts 'town' better than always guessing the most frequent value (0.778), but "
        "for noise (at most 0.779), so accuracy does not tell the methods apart at k = 5. Of "
        "these, mondrian loses the least information (38.5 %), in 0.33 s." in words
    )
    assert "baseline: always guessing the most frequent value (0.778); loss:" in words
    assert "baseline: always guessing the most frequent value (0.778)." in page(found)


BY_MODELS = replace(
    comparison(
        [
            judged("k-clustering", 5, 0.8312, 0.147, 1.9, models=True),
            judged("mondrian", 5, 0.8149, 0.119, 0.04, models=True),
        ]
    ),
    by=MODELS,
)


def test_the_criterion_is_stated_everywhere():
    words = " ".join(shown(BY_MODELS).split())
    assert "people.csv: 10,000 rows, k = 5; by accuracy of town method accuracy loss risk" in words
    assert "➜ k-clustering 0.831 20.0 % 14.7 %" in words
    assert "accuracy: what models predict of 'town'" in words
    assert "● no other run is better in accuracy and in risk" in words
    for width in (32, 51, 60, 78):
        assert max(map(len, shown(BY_MODELS, width).splitlines())) <= width
        assert "0.831" in shown(BY_MODELS, width)
    data = json.loads(json.dumps(BY_MODELS.to_dict()))
    assert data["by"] == {"name": "accuracy", "high_is_good": True, "target": "town"}
    assert [one["figure"] for one in data["outcomes"]] == [0.8312, 0.8149]
    assert data["outcomes"][0]["models"]["trained"] == 30_000
    frame = BY_MODELS.to_frame()
    assert frame[["by", "figure"]].values.tolist() == [["accuracy", 0.8312], ["accuracy", 0.8149]]
    assert "take k-clustering: accuracy 0.831" in repr(BY_MODELS)
    html = page(BY_MODELS)
    for part in (
        "Accuracy against risk",
        "best accuracy first",
        "Methods are ranked by what models",
    ):
        assert part in html
    assert "always guessing the most frequent value (0.400)" in html
    assert "best accuracy first" in notebook(BY_MODELS)
    plain = comparison([done("mondrian", 5, 0.2)])
    assert plain.to_dict()["by"]["name"] == "relative-non-uniform-entropy"
    assert plain.to_frame()["figure"].tolist() == [0.2]
    assert "(relative-non-uniform-entropy; low is good)" in page(plain)


def test_metrics_that_are_called_as_other_columns():
    for name in ("loss", "groups", "mean-ncp-by-importance"):
        one = replace(comparison([judged("mondrian", 5, 12345.0)]), by=Criterion(name))
        assert f"figure: the metric {name} (low is good)" in " ".join(shown(one, 100).split())
    assert [number(x) for x in (0.12345, 1234.4, 4.5e8)] == ["0.1235", "1,234", "4.5e+08"]


POLICY = {
    "columns": {
        "name": "identifier",
        "age": "quasi",
        "town": "quasi",
        "rent": "plain",
        "ill": "sensitive",
    },
    "constraints": [{"k": 3}],
    "method": "mondrian",
    "seed": 4,
}
NAMES = list(POLICY["columns"])
MISTAKES = {
    "an unknown one": (
        "acuracy",
        None,
        r"allowed: relative-.*, precision, .*Did you mean 'accuracy'",
    ),
    "no target": ("accuracy", None, "need a target, .*Allowed: age, town, rent"),
    "sensitive": ("accuracy", "ill", "'ill' is sensitive, .* allowed: age, town, rent"),
    "not published": ("accuracy", "name", "not a column that the release publishes"),
    "not there": ("accuracy", "twon", r"not a column .* Did you mean 'town'\?"),
    "a target of nothing": ("mean-ncp", "town", "only accuracy has a target"),
    "no target of cm": ("cm", None, "cm needs a `target`"),
    "no weights": ("weighted-mean-ncp", None, "needs a column with the role weight"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case):
    by, target, words = MISTAKES[case]
    with pytest.raises((InputError, PolicyError), match=words):
        read_criterion(by, target, Policy.load(POLICY), NAMES)


def test_anatomy_has_no_labels_to_learn_from():
    policy = {**POLICY, "publish": "anatomy", "constraints": [{"l": 2, "of": "ill"}]}
    with pytest.raises(PolicyError, match="needs releases with labels"):
        read_criterion("accuracy", "town", Policy.load(policy), NAMES)


def test_every_metric_is_a_criterion_with_its_direction():
    policy = Policy.load(POLICY)
    for entry in shoal.list_metrics().entries:
        if entry.name not in ("cm", "weighted-mean-ncp", "weighted-suppression"):
            assert read_criterion(entry.name, None, policy, NAMES).name == entry.name
    assert read_criterion("precision", None, policy, NAMES).high_is_good
    assert not read_criterion("query-error", None, policy, NAMES).high_is_good


RANDOM = np.random.default_rng(3)
AGES = RANDOM.integers(18, 80, 400)
TABLE = pa.table(
    {
        "name": [f"P{i}" for i in range(400)],
        "age": AGES,
        "town": RANDOM.choice(["Bonn", "Kiel"], 400),
        "rent": AGES * 10.0,
        "ill": RANDOM.choice(["flu", "gout"], 400),
    }
)


def test_models_are_trained_on_a_release_of_three_quarters(monkeypatch):
    """Rent follows from age, so R² is nearly 1; the town follows from nothing."""
    from shoal.comparison import worker

    made, anonymize = [], worker.anonymize_table

    def watched(table, policy, clock):
        made.append(table.num_rows)
        return anonymize(table, policy, clock)

    monkeypatch.setattr(worker, "anonymize_table", watched)
    policy = Policy.load(POLICY)
    rent = measure(TABLE, policy, Criterion("accuracy", True, "rent"))
    assert made == [400, 300]
    assert (rent.models.score, rent.models.trained, rent.models.tested) == ("r2", 300, 100)
    assert 0.9 < rent.figure <= 1
    assert rent.figure == rent.models.value
    town = measure(TABLE, policy, Criterion("accuracy", True, "town"))
    assert town.models.score == "accuracy"
    assert abs(town.figure - 0.5) < 0.2


def test_what_models_need_of_the_raw_table_is_kept_from_run_to_run():
    """A run after others has the score that it has alone, on as many threads as there are."""
    from shoal.comparison.worker import Models

    kept, found = Models(TABLE), []
    for method in ("mondrian", "least-loss-partition", "mondrian"):
        policy = Policy.load({**POLICY, "method": method})
        for target in ("rent", "ill"):
            found.append(kept.score(policy, target))
            alone = Models(TABLE).score(policy, target)
            assert alone.seconds > 0
            assert replace(found[-1], seconds=0) == replace(alone, seconds=0)
    assert found[0].value == found[4].value != found[2].value


def test_a_whole_comparison_by_a_metric_on_request():
    policy = {**POLICY, "metrics": [{"name": "query-error", "queries": 50}]}
    found = shoal.compare(TABLE, policy, methods="mondrian,flexible-partition", by="query-error")
    for one in found.done:
        release = shoal.anonymize(TABLE, {**policy, "method": one.method})
        assert one.figures.figure == release.metrics["query-error"]
    assert found.chosen.figures.figure == min(one.figures.figure for one in found.done)
    with pytest.raises(InputError, match="precision does not apply to its release"):
        measure(TABLE, Policy.load(POLICY), HIGH)


def test_too_little_to_learn_from():
    with pytest.raises(InputError, match="Models need 40 rows"):
        shoal.compare(TABLE.slice(0, 30), POLICY, by="accuracy", target="town")
    alone = TABLE.set_column(2, "town", pa.array(["Bonn"] * 400))
    with pytest.raises(InputError, match="fewer than two values"):
        shoal.compare(alone, POLICY, by="accuracy", target="town")
