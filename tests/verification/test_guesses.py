"""Guesses at the sensitive value, with the classes written out."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from shoal.testing import histograms
from shoal.verification.guesses import guesses_of

# five rows of which four are 0 and one is unknown; ten of which nine are 1; two that nobody knows
CLASSES = [[0, 0, 0, 0, None], [1] * 9 + [2], [None, None]]


def test_the_commonest_value_of_a_class_is_guessed() -> None:
    found = guesses_of(histograms(CLASSES))
    assert found.sizes.tolist() == [4, 10, 0]
    assert found.right.tolist() == [4, 9, 0]
    assert found.commonest == 9, "the value 1, which nine of all rows have"
    assert found.known == 14
    assert found.base_rate == 9 / 14
    assert found.best_guess == 13 / 14


def test_rows_of_classes_that_give_a_value_away() -> None:
    found = guesses_of(histograms(CLASSES))
    assert found.rows_from(1.0) == 4
    assert found.rows_from(0.9) == 14, "nine of ten are 0.9"
    assert found.rows_from(0.91) == 4
    assert found.rows_from(0.0) == 14, "a class without a known value gives nothing away"


def test_a_class_of_one_row_counts() -> None:
    assert guesses_of(histograms([[3]])).rows_from(1.0) == 1


def test_where_no_value_is_known_nothing_is_guessed() -> None:
    found = guesses_of(histograms([[None, None], [None]]))
    assert (found.known, found.commonest, found.base_rate, found.best_guess) == (0, 0, 0.0, 0.0)
    assert found.rows_from(0.5) == 0


def test_no_classes() -> None:
    found = guesses_of(histograms([]))
    assert (found.known, found.commonest, found.rows_from(0.5)) == (0, 0, 0)


def test_what_was_counted_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        guesses_of(histograms([[1]])).sizes = np.zeros(1)  # type: ignore[misc]
