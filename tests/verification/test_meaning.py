"""What published texts mean to a policy: codes, spellings, missing values and likely codes for them."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from shoal.encoding.columns import ColumnSpec
from shoal.encoding.counts import Counts
from shoal.encoding.domain import Domain, Kind
from shoal.errors import HierarchyError, InputError
from shoal.verification.meaning import meaning_of, require_declared, with_meaning


def published(texts: list[str], *classes: dict[int, int]) -> Counts:
    """Classes with so many rows of each text, by its number."""
    entries = [entry for one in classes for entry in sorted(one.items())]
    return Counts(
        np.array([sum(one.values()) for one in classes], np.int64),
        np.cumsum([0, *(len(one) for one in classes)]).astype(np.int64),
        np.array([code for code, _ in entries], np.int32),
        np.array([n for _, n in entries], np.int64),
        Domain("ill", Kind.SET, pa.array(texts, pa.string()), -1),
    )


def plain(counts: Counts) -> list[dict[str | None, int]]:
    """The histograms by text."""
    assert counts.domain is not None
    texts = counts.domain.texts.to_pylist()
    return [
        {texts[counts.values[e]]: int(counts.counts[e]) for e in range(start, end)}
        for start, end in zip(counts.starts[:-1], counts.starts[1:], strict=True)
    ]


def totals(counts: Counts) -> dict[str | None, int]:
    assert counts.domain is not None
    assert counts.totals is not None
    return dict(zip(counts.domain.texts.to_pylist(), counts.totals.tolist(), strict=True))


def test_texts_that_are_missing_are_no_values() -> None:
    counts = published(["?", "cold", "flu"], {0: 2, 1: 1}, {0: 1, 1: 3, 2: 1})
    found = with_meaning(counts, ColumnSpec(missing=("?",)), Path())
    assert found.sizes.tolist() == [3, 5]
    assert plain(found) == [{"cold": 1}, {"cold": 3, "flu": 1}]
    assert totals(found) == {"cold": 4, "flu": 1, None: 0}
    assert found.spelled is None


def test_where_all_are_missing_there_is_no_value() -> None:
    found = with_meaning(published(["?"], {0: 2}, {0: 1}), ColumnSpec(missing=("?",)), Path())
    assert plain(found) == [{}, {}]
    assert totals(found) == {None: 0}


def test_spellings_are_counted_as_one_and_by_themselves() -> None:
    counts = published(["FLU", "cold", "flu"], {0: 1, 2: 2}, {1: 1, 2: 1})
    found = with_meaning(counts, ColumnSpec(), Path())
    assert [sorted(one.values()) for one in plain(found)] == [[3], [1, 1]]
    assert sorted(filter(None, totals(found).values())) == [1, 4]
    assert found.spelled is not None
    assert plain(found.spelled) == [{"FLU": 1, "flu": 2}, {"cold": 1, "flu": 1}]
    assert totals(found.spelled) == {"FLU": 1, "cold": 1, "flu": 3}
    exact = with_meaning(counts, ColumnSpec(exact_spelling=True), Path())
    assert exact.spelled is None
    assert plain(exact) == plain(found.spelled)


def test_some_classes_are_compared_with_all() -> None:
    """Of three classes one is looked at; the totals are those of all."""
    meaning = meaning_of("ill", pa.array(["FLU", "cold", "flu"]), ColumnSpec(), Path())
    some = meaning.with_totals(np.array([1, 5, 7])).of(
        published(["FLU", "cold", "flu"], {0: 1, 1: 1})
    )
    assert sorted(filter(None, totals(some).values())) == [5, 8]
    assert some.spelled is not None
    assert totals(some.spelled) == {"FLU": 1, "cold": 5, "flu": 7}


def test_values_without_a_place_in_the_order() -> None:
    how = ColumnSpec(kind="ordered", order=("low", "high"))
    good = with_meaning(published(["high", "low"], {0: 1, 1: 2}), how, Path())
    assert plain(good) == [{"low": 2, "high": 1}]
    with pytest.raises(HierarchyError, match="Is this the policy it was made by"):
        with_meaning(published(["high", "middle"], {0: 1, 1: 1}), how, Path())


def test_likely_codes_for_missing_values_are_asked_about() -> None:
    how = ColumnSpec()
    once = with_meaning(published(["cold", "unknown"], {0: 2, 1: 1}), how, Path())
    with pytest.raises(InputError, match="reads 'unknown'"):
        require_declared(once, how)
    require_declared(once, ColumnSpec(states_missing=True))
    require_declared(with_meaning(published(["cold", "flu"], {0: 2, 1: 1}), how, Path()), how)
    # a text that no row of the release has is not asked about
    require_declared(with_meaning(published(["cold", "unknown"], {0: 2}), how, Path()), how)
    known = ColumnSpec(missing=("unknown",))
    require_declared(once, known)
