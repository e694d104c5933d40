"""What is left of the detail, against a plain reading of the published cells."""

import re
from collections import Counter
from datetime import date, timedelta
from statistics import median_low
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.evidence.detail import MANY_VALUES
from tests.examples import examples

TOWNS = ["Ath", "Huy, old", "{x}", "a\\b", "*", "Mons", "[1~2]"]


def pieces(text: str) -> list[str]:
    """The members of a set: text between commas that no backslash precedes."""
    inner = re.split(r"(?<!\\)(?:\\\\)*,", text[1:-1])
    return [one for one in inner if one is not None]


def form(label: str | None) -> tuple[str, float]:
    """A label as a person would read it, one by one."""
    if label == "*":
        return "hidden", 0
    if label is not None and label.startswith("{"):
        return "one of", len(pieces(label))
    if label is not None and label.startswith("["):
        low, high = label[1:-1].split("~")
        if "-" in low[1:]:
            return "range", (date.fromisoformat(high) - date.fromisoformat(low)).days
        return "range", float(high) - float(low)
    return "exact", 0


def expected(labels: list[str | None], withheld: int) -> dict[str, float]:
    """The shares of a column, by its cells."""
    found = Counter(form(label)[0] for label in labels)
    whole = len(labels) + withheld
    return {name: found[name] / whole for name in ("exact", "one of", "range", "hidden")}


@examples(25)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 60) | st.none(),
            st.sampled_from(TOWNS) | st.none(),
            st.integers(0, 2000),
        ),
        min_size=4,
        max_size=40,
    ),
    st.integers(2, 4),
)
def test_shares_medians_and_labels_are_those_of_the_cells(
    people: list[tuple[Any, ...]], k: int
) -> None:
    people = [(7, "Ath", 0), *people]  # a column without any value is refused
    born = [date(1990, 1, 1) + timedelta(days=days) for _, _, days in people]
    table = pa.table(
        {
            "age": pa.array([one[0] for one in people], pa.int64()),
            "town": pa.array([one[1] for one in people], pa.string()),
            "born": pa.array(born),
        }
    )
    made = shoal.anonymize(table, quasi=["age", "town", "born"], k=k, seed=1)
    for name, found in made.detail.columns.items():
        texts = made.table[name].cast(pa.string()).to_pylist()
        whole = expected(texts, len(people) - len(texts))
        ranges = [one.key for one in found.bins if one.key.startswith("range")]
        sets = [one.key for one in found.bins if one.key.startswith("one-of")]
        assert found.exact == pytest.approx(whole["exact"])
        assert found.share(*ranges) == pytest.approx(whole["range"])
        assert found.share(*sets) == pytest.approx(whole["one of"])
        assert found.share("hidden") == pytest.approx(whole["hidden"])
        assert found.labels == len(set(texts))
        for kind, median in (("range", found.median_width), ("one of", found.median_members)):
            sizes = [size for label in texts for was, size in [form(label)] if was == kind]
            assert median == (pytest.approx(median_low(sizes), rel=0.006) if sizes else None)


def test_forty_birthdays_are_not_flattered() -> None:
    random = np.random.default_rng(5)
    days = [date(1950, 1, 1) + timedelta(days=int(one)) for one in random.integers(0, 9999, 800)]
    table = pa.table({"birth": [f"{one:%d/%m/%Y}" for one in days]})
    made = shoal.anonymize(table, quasi="birth", kinds={"birth": "unordered"}, k=40, seed=1)
    assert made.metrics["mean-ncp"] < 0.07  # what used to be the headline
    assert made.detail.exact == 0
    assert made.detail.words == "0.0 % exact, 100.0 % one of 10 or more values"
    assert made.metrics["relative-non-uniform-entropy"] > 0.5
    assert "0.0 % of cells exact" in repr(made)
    assert any("birth is unordered and has 7" in text for text in made.warnings)


@pytest.mark.parametrize(("many", "warned"), [(MANY_VALUES - 1, False), (MANY_VALUES, True)])
def test_an_unordered_column_of_many_values_is_warned_of(many: int, warned: bool) -> None:
    table = pa.table({"code": [f"c{i}" for i in range(many)] * 2})
    made = shoal.anonymize(table, quasi="code", k=2, seed=1)
    assert any("Give it a `hierarchy`" in text for text in made.warnings) is warned


def test_hierarchies_by_their_labels() -> None:
    n = 120
    table = pa.table(
        {
            "zip": [f"0{2000 + i % 40}" for i in range(n)],
            "born": [f"19{60 + i % 30}-0{1 + i % 9}-11" for i in range(n)],
            "age": [i % 60 for i in range(n)],
            "work": [["nurse", "doctor", "smith", "baker"][i % 4] for i in range(n)],
        }
    )
    how = {
        "zip": {"mask": "right"},
        "born": {"date": ["month", "year"]},
        "age": {"intervals": [10, 20]},
        "work": {"tree": {"any": {"care": ["nurse", "doctor"], "craft": ["smith", "baker"]}}},
    }
    columns = {name: {"role": "quasi", "hierarchy": one} for name, one in how.items()}
    policy = {"columns": columns, "constraints": [{"k": 3}], "method": "datafly", "seed": 1}
    made = shoal.anonymize(table, policy)
    words = {"masked": r"\d+\*+", "hidden": r"\*|any", "one-of-2-3": "care|craft"}
    words |= {"range": r"\[\d+-\d+\)|\d{4}(-\d\d)?"}
    for name, found in made.detail.columns.items():
        texts = made.table[name].to_pylist()
        for key, pattern in words.items():
            keys = [one.key for one in found.bins if one.key.startswith(key)]
            share = sum(bool(re.fullmatch(pattern, text)) for text in texts) / n
            assert found.share(*keys) == pytest.approx(share), (name, key)
    levels = made.levels
    assert list(levels) == list(how)
    for name, one in levels.items():
        assert made.columns[name].levels == {one.level: made.published_rows}
        if one.value is not None:
            at = table[name].to_pylist().count(type(table[name][0].as_py())(one.value))
            assert at >= 10  # no rare value is an example
        if one.label is not None and one.level:
            assert made.table[name].to_pylist().count(one.label) >= 10


def test_rounded_and_coded_numbers_are_no_exact_ones() -> None:
    columns = {"age": {"role": "quasi", "top": 50, "round": 5}}
    table = pa.table({"age": [10, 10, 11, 12, 60, 70, 55, 80]})
    made = shoal.anonymize(table, {"columns": columns, "constraints": [{"k": 2}], "seed": 1})
    assert made.table["age"].unique().to_pylist() == ["10", "50+"]
    found = made.detail.columns["age"]
    assert found.exact == 0
    assert found.median_width == 5


def test_withheld_rows_are_lost_cells() -> None:
    table = pa.table({"sex": ["f"] * 9 + ["x"]})
    columns = {"sex": {"role": "quasi", "hierarchy": {"tree": {"any": ["f", "x"]}}}}
    policy = {
        "columns": columns,
        "constraints": [{"k": 2}],
        "method": "datafly",
        "suppression": 0.2,
    }
    made = shoal.anonymize(table, policy | {"seed": 1})
    assert made.published_rows == 9
    assert made.detail.exact == 0.9
    assert made.detail.summary == {"exact": 0.9, "withheld": 0.1}
    assert made.levels["sex"].level == 0


def test_a_range_wider_than_any_number() -> None:
    table = pa.table({"part": [1.6e308, -1.6e308], "age": [1, 1]})
    columns = {"part": "quasi", "age": "quasi"}
    release = shoal.anonymize(table, {"columns": columns, "constraints": [{"k": 2}]})
    width = release.detail.columns["part"].median_width
    assert width is not None
    assert width == pytest.approx(1e308)
