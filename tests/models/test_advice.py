"""The words that tell why not even one group of all rows holds, and what would."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.encoding.counts import Counts
from shoal.encoding.spelling import Spellings
from shoal.models.alpha import Alpha
from shoal.models.l import L
from shoal.models.population import DeltaPresence, KMap
from shoal.testing import histograms

ILL = histograms([[0] * 12 + [1] * 6 + [2] * 2 + [None]])
"""20 known values: 12, 6 and 2 of them."""


def of_people(counts: Counts, known: int) -> Counts:
    return replace(counts, known=np.array([known]), rows=counts.sizes)


def test_of_l() -> None:
    assert L(4, "ill").advice(ILL) == (
        "The table has 3 distinct values of ill, but l = 4 was required. The largest l it allows is "
        "3: lower l or add rows."
    )
    assert L(2, "ill").advice(histograms([[3, 3]])).startswith("The table has 1 distinct values")
    assert "Every value of ill is missing" in L(2, "ill").advice(histograms([[None]]))


def test_of_l_where_people_are_counted() -> None:
    """Thirteen people, of whom one does not have the commonest value: two values at most."""
    assert L(3, "ill").advice(of_people(ILL, 13)) == (
        "l = 3 of ill was required, but the largest l that the table's people allow is 2: all but 1 "
        "of them have the commonest value. Lower l or add people."
    )
    assert L(4, "ill").advice(of_people(ILL, 20)) == (
        "The table has 3 distinct values of ill, but l = 4 was required. The largest l it allows is "
        "3: lower l or add people."
    )


def test_of_alpha() -> None:
    """Of 12, 6 and 2 rows with a half at most, 8, 6 and 2 can be kept: 4 less."""
    assert Alpha(0.5, "ill").advice(ILL) == (
        "'0' makes up 60.0% of the rows with a known value, but alpha = 0.5 was required of ill. "
        "Without suppressing rows the least alpha it allows is 0.6; with 0.5 at least 4 of 20 rows "
        "would have to be suppressed: raise alpha, or allow that with `suppression` and a method that "
        "can suppress rows, such as top-down."
    )
    assert Alpha(0.5, "ill").advice(of_people(ILL, 20)) == (
        "'0' makes up 60.0% of the people with a known value, but alpha = 0.5 was required of ill. "
        "Without suppressing rows the least alpha it allows is 0.6: raise alpha."
    )
    assert (
        Alpha(0.1, "ill")
        .advice(ILL)
        .endswith(
            "the least alpha it allows is 0.6; with 0.1 not one row could be published: raise alpha."
        )
    )
    # 2/3 as a figure that holds: rounded up to three decimals
    assert "allows is 0.667;" in Alpha(0.5, "ill").advice(histograms([[0] * 20 + [1] * 10]))


def test_alpha_names_values_of_ten_rows_at_least() -> None:
    words = "makes up 60.0%"
    assert (
        Alpha(0.5, "ill").advice(histograms([[0] * 4 + [5] * 6])).startswith(f"One value {words}")
    )
    nine, ten = histograms([[0] * 6 + [5] * 9]), histograms([[0] * 5 + [5] * 10])
    assert Alpha(0.5, "ill").advice(nine).startswith("One value makes up 60.0%")
    assert Alpha(0.5, "ill").advice(ten).startswith("'5' makes up 66.7%")
    assert ten.domain is not None
    merged = Spellings(spellings=2, values=1, alone=1)
    spelled = replace(ten, domain=replace(ten.domain, spellings=merged))
    assert Alpha(0.5, "ill").advice(spelled).startswith("One value makes up 66.7%")


def test_alpha_names_the_level() -> None:
    """Code 0 and 1 are of level 2, the others of level 1: three of four rows."""
    counts = histograms([[0, 0, 1, 2]])
    assert counts.domain is not None
    levels = np.array([2, 2, 1, 1, 1, 1, 1], np.int32)
    leveled = replace(counts, domain=replace(counts.domain, levels=levels))
    assert Alpha(0.5, "ill").advice(leveled).startswith("Sid 2 makes up 75.0% of the rows")
    assert Alpha(0.5, "ill").least_suppressed(leveled) == 2


@pytest.mark.parametrize(
    ("model", "people", "words"),
    [
        (KMap(9), 0, "no row of the population table equals any row of the table"),
        (KMap(9), 4, "has 4 rows that equal rows of the table, but k-map = 9 was required. The "
                     "largest it allows is 4:"),
        (DeltaPresence(0.5), 4, "The table has 3 rows and the population table 4 that equal some of "
                                "them, but delta-presence = 0.5 was required. The smallest it allows "
                                "is 0.75."),
        (DeltaPresence(0.5), 3, "The smallest it allows is 1."),
        (DeltaPresence(0.5), 2, "That allows none."),
        (DeltaPresence(0.5), 0, "That allows none."),
    ],
)  # fmt: skip
def test_of_populations(model: KMap | DeltaPresence, people: int, words: str) -> None:
    counts = replace(histograms([[0, 0, 0]]), population=np.array([people]))
    assert words in model.advice(counts)
