"""Random groups for the models and their twins."""

from hypothesis import strategies as st

Values = list[int | None]
groups_of_values = st.lists(
    st.lists(st.none() | st.integers(0, 6), min_size=1, max_size=12), min_size=1, max_size=8
)
"""Groups of the values of `shoal.testing.histograms`; None is a missing value."""
