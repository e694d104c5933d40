"""The paper on personalised protection, run tiny; and its claims, judged on figures made by hand."""

from collections import Counter

import pyarrow as pa
import pytest

from shoal.reproduction.adult import adult_like
from shoal.reproduction.base import Findings
from shoal.reproduction.personalised import (
    DISEASES,
    DIVERSITY,
    MODELS,
    PERSONAL,
    PLAIN,
    Measurements,
    Personalised,
    Point,
    Sizes,
    both_forms,
    judge,
    sample,
)
from tests.reproduction.tiny import PERSONALISED


def tiny() -> Findings:
    return Personalised(PERSONALISED).run(adult_like(600), True, lambda *_: None)


@pytest.fixture(scope="module")
def result() -> Findings:
    return tiny()


def test_a_tiny_run_draws_every_figure(result: Findings) -> None:
    assert [(figure.shows[:6], figure.name) for figure in result.figures] == [
        ("Fig. 2", "loss-by-k"),
        ("Fig. 3", "loss-by-rows"),
        ("Fig. 4", "recognition-rate-by-k"),
        ("Fig. 5", "recognition-rate-by-rows"),
        ("Fig. 6", "time-by-k"),
        ("Fig. 7", "time-by-rows"),
        ("Fig. 2", "loss-by-k-ranges"),
        ("Fig. 4", "recognition-rate-by-k-ranges"),
    ]
    for figure in result.figures:
        assert [line.label for line in figure.lines] == list(MODELS.values())
        assert all(y is not None and y > 0 for line in figure.lines for y in line.y)
    assert result.figures[1].lines[0].x == (150, 300), "no more rows than there are"


def test_a_tiny_run_judges_every_claim(result: Findings) -> None:
    assert len(result.claims) == 9
    assert all(claim.found and claim.verdict != "cannot tell" for claim in result.claims)
    assert result.claims[4].verdict == "holds", "some people hide more, nobody less"


def test_only_times_differ_from_run_to_run(result: Findings) -> None:
    for one, other in zip(result.figures, tiny().figures, strict=True):
        if one.y_label != "seconds":
            assert one == other


def test_people_get_diseases_and_a_quarter_of_them_wishes() -> None:
    table: pa.Table = sample(adult_like(5_000), 4_000, 1)
    rows = table.to_pylist()
    assert Counter(row["wish"] is None for row in rows) == {True: 3_000, False: 1_000}
    assert {row["wish"] for row in rows} == {None, 1, 2, 3, 4}
    diseases = Counter(row["disease"] for row in rows)
    assert set(diseases) == set(DISEASES)
    assert all(400 < count < 600 for count in diseases.values())
    assert not table.equals(sample(adult_like(5_000), 4_000, 2))


def _found(loss: dict[str, float], up: int, apart: float) -> Measurements:
    """Loss, rate and time that go up, or down with -1; models that stay apart, or meet."""
    sizes = Sizes()

    def at(model: str, k: float, rows: float) -> Point:
        met = 1 + (loss[model] - 1) * (apart if model == DIVERSITY else 1)
        size = k**up * (rows / 1e4) ** up
        rate = (2 if model == PERSONAL else 3) if up > 0 else (3 if model == PERSONAL else 2)
        seconds = rows**up * (1 if up > 0 else loss[model])
        return Point(met * size, rate / k**up * (1 if up > 0 else rows), seconds, 0)

    return Measurements(
        sizes,
        {(m, k): at(m, k, sizes.rows) for m in MODELS for k in sizes.k},
        {(m, n): at(m, sizes.growing_k, n) for m in MODELS for n in sizes.growing},
    )


def test_claims_that_hold_are_found_to() -> None:
    judged = judge(_found({PLAIN: 1, DIVERSITY: 1.1, PERSONAL: 1.5}, 1, 0.1))
    assert {claim.verdict for claim in judged} == {"holds"}, judged


def test_claims_that_do_not_hold_are_found_not_to() -> None:
    judged = judge(_found({PLAIN: 1, DIVERSITY: 1.5, PERSONAL: 1.2}, -1, 1.0))
    assert {claim.verdict for claim in judged} == {"does not hold"}, judged
    assert "not for k-anonymity (4 to 5, 5 to 10 and 4 more)" in judged[1].reason


def test_what_hangs_on_the_form_of_ages_depends() -> None:
    good = judge(_found({PLAIN: 1, DIVERSITY: 1.1, PERSONAL: 1.5}, 1, 0.1))
    bad = judge(_found({PLAIN: 1, DIVERSITY: 1.5, PERSONAL: 1.2}, -1, 1.0))
    both = both_forms(good, bad)
    assert {claim.verdict for claim in both} == {"depends"}
    assert both[0].reason.startswith(
        "Holds with ages in a tree of height 6, does not hold with ages"
    )
    assert {claim.verdict for claim in both_forms(bad, bad)} == {"does not hold"}
