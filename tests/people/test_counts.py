"""Counting people: the kernels and the verifier against plain sets, and what merging does."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding.cells import Cells, encode
from shoal.encoding.columns import ColumnSpec
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.folding import fold, folded
from shoal.encoding.people import read_people
from shoal.methods.base import counts_of_runs
from shoal.models.alpha import Alpha
from shoal.models.average_risk import AverageRisk
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement
from shoal.verification.people import (
    number_classes,
    people_of_classes,
    sharing_all,
    values_of_people,
    without_exempt,
)
from tests.people import counting

MODELS = (K(2), L(2, "ill"))
ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),  # the group
        st.sampled_from("pqrstuv"),
        st.sampled_from(["flu", "hiv", "cold", None]),
    ),
    min_size=2,
    max_size=30,
).filter(lambda rows: len({person for _, person, _ in rows}) > 1)
Observed = list[tuple[int, str, str | None]]


def cells_of(rows: Observed) -> tuple[Cells, np.ndarray]:
    """Cells of such rows, and (n,) the group of each canonical row."""
    columns = {
        "group": pa.array([group for group, _, _ in rows]),
        "id": pa.array([person for _, person, _ in rows]),
        "ill": pa.array([ill for _, _, ill in rows], pa.string()),
    }
    how = {"group": ColumnSpec(), "ill": ColumnSpec()}
    cells = encode(
        columns.__getitem__, {"group": how["group"]}, {"ill": how["ill"]}, [], 0, person="id"
    )
    return cells, np.array([group for group, _, _ in rows])[cells.rows]


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_methods_count_people_as_plain_sets_do(rows: Observed) -> None:
    cells, group = cells_of(rows)
    starts = np.append(np.flatnonzero(np.diff(group, prepend=-1)), len(group)).astype(np.int64)
    order = np.arange(cells.n_rows, dtype=np.int32)
    counts = counts_of_runs(cells, Requirement(MODELS, counts_people=True), order, starts)
    by_class = counting.by_class([((g,), p, v) for g, p, v in rows])
    for i, (_, members) in enumerate(sorted(by_class.items())):
        who = counting.having(members)
        assert counts[""].sizes[i] == len(counting.people(members))
        one = counts["ill"]
        assert one.known is not None
        assert one.known[i] == len(counting.known(members))
        assert one.domain is not None
        entries = range(one.starts[i], one.starts[i + 1])
        found = {one.domain.texts[int(one.values[e])].as_py(): int(one.counts[e]) for e in entries}
        assert found == {value: len(some) for value, some in who.items()}
    everyone = [(p, v) for _, p, v in rows]
    assert counts["ill"].everyone == len(counting.known(everyone))
    assert counts["ill"].totals is not None
    totals = dict(enumerate(counts["ill"].totals.tolist()))
    texts = counts["ill"].domain.texts.to_pylist()
    have = {value: len(some) for value, some in counting.having(everyone).items()}
    assert {texts[i]: n for i, n in totals.items() if n} == have


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_the_verifier_counts_people_as_plain_sets_do(rows: Observed) -> None:
    cells, group = cells_of(rows)
    assert cells.people is not None
    person = cells.people.number.astype(np.int64)
    dense = np.unique(group, return_inverse=True)[1].reshape(-1).astype(np.int64)
    codes = cells.sensitive["ill"].astype(np.int64)
    domain = cells.sensitive_domains["ill"]
    codes[codes == domain.missing] = -1
    table = [((g,), p, v) for g, p, v in rows]
    by_class = counting.by_class(table)
    sizes = people_of_classes(dense, person)
    found = values_of_people(dense, person, codes, domain)
    members = [by_class[key] for key in sorted(by_class)]
    assert sizes.sizes.tolist() == [len(counting.people(m)) for m in members]
    assert found.known is not None
    assert found.known.tolist() == [len(counting.known(m)) for m in members]
    assert L(1, "ill").strengths(found).tolist() == [
        counting.diversity([(("a",), p, v) for p, v in m]) for m in members
    ]
    assert int(sharing_all(dense, person).min()) == counting.sharing_all(table)


@pytest.mark.parametrize(
    ("classes", "fewest"),
    [
        ([[0], [0]], [2]),
        ([[0], [1]], [1, 1]),
        # the first is alone with her two classes, though each of them has two people
        ([[0, 1], [0, 2], [1]], [1, 1, 1]),
        ([[0, 1], [0], [0], [1], [1]], [1, 1]),
        ([[0, 1], [0, 1], [0, 1], [2], [2]], [3, 3, 2]),
        # who has class 0 alone shares it with three, who has class 1 too with two
        ([[0, 1], [0, 1], [0]], [2, 2]),
        # once somebody is alone nobody else is looked at: the third shares class 1 with three
        ([[0], [1, 2], [1], [1, 2]], [1, 1, 2]),
        ([], []),
    ],
)
def test_sharing_all_classes_by_hand(classes: list[list[int]], fewest: list[int]) -> None:
    pairs = [(c, person) for person, own in enumerate(classes) for c in own]
    group, people = np.array(pairs, np.int64).reshape(-1, 2).T
    assert sharing_all(group, people).tolist() == fewest
    assert sharing_all(group[::-1], people[::-1]).tolist() == fewest
    doubled = np.concatenate([group, group]), np.concatenate([people, people])
    assert sharing_all(*doubled).tolist() == fewest


def test_classes_are_numbered_by_all_their_columns() -> None:
    columns = [np.array([0, 0, 1, 1, 2, 0]), np.array([2, 0, 1, 0, -1, 2])]
    assert number_classes(columns, 6).tolist() == [1, 0, 3, 2, 4, 1]
    assert number_classes([], 3).tolist() == [0, 0, 0]
    assert number_classes([np.zeros(0, np.int64)], 0).tolist() == []


def test_classes_of_exempt_rows_alone_are_none() -> None:
    group = np.array([0, 1, 1, 2, 0, 3])
    exempt = np.array([True, True, False, False, True, True])
    numbered, kept = without_exempt(group, exempt)
    assert kept.tolist() == [False, True, True, True, False, False]
    assert numbered.tolist() == [0, 0, 1]
    numbered, kept = without_exempt(group[:0], exempt[:0])
    assert (numbered.tolist(), kept.tolist()) == ([], [])


def test_values_of_people_by_hand() -> None:
    """Class 0: p has a and b, q has a, r has no value. Class 1: p has b. No class 2 but of nobody."""
    group, people = np.array([0, 0, 0, 0, 0, 1]), np.array([0, 0, 1, 1, 2, 0])
    codes = np.array([0, 1, 0, 0, -1, 1], np.int32)
    domain = Domain("ill", Kind.SET, pa.array(["a", "b", "c"]), -1)
    found = values_of_people(group, people, codes, domain)
    assert (found.sizes.tolist(), found.rows.tolist()) == ([3, 1], [5, 1])
    assert found.starts.tolist() == [0, 2, 3]
    assert (found.values.tolist(), found.counts.tolist()) == ([0, 1, 1], [2, 1, 1])
    assert (found.known.tolist(), found.everyone) == ([2, 1], 2)
    assert found.totals.tolist() == [2, 1, 0]
    nobody = values_of_people(group, people, np.full(6, -1, np.int32), domain)
    assert (nobody.known.tolist(), nobody.everyone) == ([0, 0], 0)
    assert nobody.totals.tolist() == [0, 0, 0]


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_people_alone_may_be_merged(rows: Observed) -> None:
    """What holds in two groups holds in both together, for models that count nothing but people."""
    cells, group = cells_of(rows)
    starts = np.append(np.flatnonzero(np.diff(group, prepend=-1)), len(group)).astype(np.int64)
    order = np.arange(cells.n_rows, dtype=np.int32)
    every = np.array([0, len(group)], np.int64)
    for model in (K(2), K(3), AverageRisk(0.5)):
        required = Requirement((model,), counts_people=True)
        assert required.holds_when_merged
        if required.holds(counts_of_runs(cells, required, order, starts)).any():
            assert required.holds(counts_of_runs(cells, required, order, every)).all()


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (L(2, "ill"), [(0, "p", "hiv"), (0, "q", "flu"), (1, "p", "flu"), (1, "q", "hiv")]),
        (Alpha(0.5, "ill"), [(0, "p", "hiv"), (0, "q", "flu"), (1, "p", "flu"), (1, "q", "hiv")]),
    ],
)
def test_values_of_people_may_not_be_merged(model: L | Alpha, rows: Observed) -> None:
    cells, _ = cells_of(rows)
    required = Requirement((model,), counts_people=True)
    assert not required.holds_when_merged
    assert not required.holds_when_joined
    order = np.arange(4, dtype=np.int32)
    apart = counts_of_runs(cells, required, order, np.array([0, 2, 4], np.int64))
    merged = counts_of_runs(cells, required, order, np.array([0, 4], np.int64))
    assert required.holds(apart).all()
    assert not required.holds(merged).any()


def test_three_people_with_both_values_are_not_diverse() -> None:
    rows = [(0, p, v) for p in "pqr" for v in ("hiv", "flu")]
    cells, _ = cells_of(rows)
    required = Requirement((L(2, "ill"),), counts_people=True)
    one = counts_of_runs(cells, required, np.arange(6, dtype=np.int32), np.array([0, 6], np.int64))
    assert L(2, "ill").strengths(one["ill"]).tolist() == [1]


@given(st.lists(st.text(max_size=6) | st.text("01.e+-7 ", max_size=7), max_size=12), st.booleans())
@settings(max_examples=80, deadline=None)
def test_texts_are_folded_alike_one_by_one_and_all_at_once(texts: list[str], numbers: bool) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    found = folded(pa.array(texts, pa.string()), numbers).to_pylist()
    assert found == [fold(text, numbers) for text in texts]


def test_spellings_of_an_id_are_one_person() -> None:
    ids = pa.array(["A1", " a1", "Ａ1", "b2", "B2 ", "ß", "SS", "c"])
    people = read_people("id", ids)
    assert people.count == 4
    assert people.merged == 4
    assert len(set(people.number[:3])) == 1
    assert people.number[5] == people.number[6]


def test_nothing_invisible_makes_two_people_of_one() -> None:
    ids = [
        "A 7",
        "A\u200b 7",
        "\ufeffa 7",
        "a  7",
        "A\u00a07",
        "a\t7",
        "17",
        "17.0",
        "１７.00",
        "1.7",
        "170",
    ]
    people = read_people("id", pa.array(ids))
    assert people.number.tolist().count(people.number[0]) == 6
    assert people.number.tolist().count(people.number[6]) == 3
    assert people.count == 4


def test_forms_of_a_whole_number_are_one_person() -> None:
    """R writes 100000 as 1e+05, and other programs do not."""
    same = ["100000", "1e+05", "1e5", "1E+05", "+100000", "100000.", "100000.00", "10.0e4", "１e５"]
    others = ["0100000", "1e-05", "1.5", "1.50", "e5", "1e", "1e555", "12e", "0x1e5"]
    people = read_people("id", pa.array([*same, *others]))
    assert set(people.number[: len(same)].tolist()) == {people.number[0]}
    assert people.count == 1 + len(others)


@pytest.mark.parametrize("memory", [None, "200MB"])
@pytest.mark.parametrize(
    ("ids", "how", "missing"),
    [
        (["x1", "x1", "b", "c"], {"missing": ["X1"]}, 2),
        ([-9, "-9.0", 1, 2], {"missing": [-9]}, 2),
        (["NA", "n/a", "b", "c"], {}, 2),
        (["NA", "NA", "b", "c"], {"missing": []}, 0),
    ],
)
def test_a_code_for_a_missing_id_is_no_person(
    tmp_path: Path, ids: list[Any], how: dict[str, Any], missing: int, memory: str | None
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("id,age\n" + "".join(f"{one},30\n" for one in ids))
    policy = {
        "columns": {"id": {"role": "person", **how}, "age": "quasi"},
        "constraints": [{"k": 2}],
    }
    if not missing:
        release = shoal.run(table, policy, tmp_path / "r.csv", memory=memory)
        assert release.findings[0].reached == 3
        return
    with pytest.raises(shoal.InputError, match=f"{missing} of 4 rows have no id"):
        shoal.run(table, policy, tmp_path / "r.csv", memory=memory)
    assert not (tmp_path / "r.csv").exists()


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([None, None, None], "all of its values are missing"),
        (["a", None, "b", " "], r"2 of 4 rows have no id \(data rows 2, 4\)"),
        (["a", "A ", "a"], "all 3 rows have the same id"),
    ],
)
def test_people_that_cannot_be_told_apart(ids: list[str | None], words: str) -> None:
    with pytest.raises(shoal.InputError, match=words):
        read_people("id", pa.array(ids, pa.string()))
