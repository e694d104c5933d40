"""What is asked of too few people is refused with the figure that they allow, and why."""

import pandas as pd
import pytest

import shoal


def visits(ill: list[str]) -> pd.DataFrame:
    """Two visits of each of three people."""
    return pd.DataFrame({"id": [1, 1, 2, 2, 3, 3], "age": range(20, 26), "ill": ill})


@pytest.mark.parametrize(
    ("ill", "words"),
    [
        # everybody has two of the three values: one person is without the commonest
        (
            ["a", "b", "b", "c", "c", "a"],
            "largest l that the table's people allow is 2: all but 1 of",
        ),
        (["a", "a", "b", "b", "c", "c"], "has 3 distinct values of ill, but l = 9 was required"),
    ],
)
def test_too_many_values(ill: list[str], words: str) -> None:
    with pytest.raises(shoal.Infeasible, match=words) as caught:
        shoal.anonymize(visits(ill), person="id", quasi="age", sensitive="ill", l=9)
    assert "add people" in str(caught.value)
