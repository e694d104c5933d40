"""Sums of sampling weights of published classes, with the rows written out."""

import numpy as np

from shoal.verification.weights import weights_of_classes


def test_the_weights_of_rows_are_added_up() -> None:
    group = np.array([1, 0, 1, 2, 0], np.int64)
    weights = np.array([10, 1, 20, 5, 2], np.int64)
    found = weights_of_classes(group, weights)
    assert found.sizes.tolist() == [2, 2, 1]
    assert found.weights is not None
    assert found.weights.tolist() == [3, 30, 5]


def test_a_person_counts_once_in_a_class_by_the_largest_weight() -> None:
    """Person 7 has two rows in class 0 and one in class 1; person 8 one in each."""
    group = np.array([0, 0, 0, 1, 1], np.int64)
    people = np.array([7, 8, 7, 8, 7], np.int64)
    weights = np.array([4, 1, 6, 3, 4], np.int64)
    found = weights_of_classes(group, weights, people)
    assert found.sizes.tolist() == [2, 2]
    assert found.rows is not None
    assert found.rows.tolist() == [3, 2]
    assert found.weights is not None
    assert found.weights.tolist() == [6 + 1, 3 + 4]


def test_one_person_in_two_classes_counts_in_both() -> None:
    found = weights_of_classes(
        np.array([0, 1], np.int64), np.array([2, 2], np.int64), np.array([7, 7], np.int64)
    )
    assert found.weights is not None
    assert found.weights.tolist() == [2, 2]


def test_no_rows() -> None:
    none = np.zeros(0, np.int64)
    for people in (None, none):
        found = weights_of_classes(none, none, people)
        assert found.n_groups == 0
        assert found.weights is not None
        assert found.weights.tolist() == []
