"""The attack: against every person tried on every row, by hand, and on the sample."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import shoal
from shoal.cli.render.attack import show_attack
from shoal.encoding.people import People
from shoal.risk.attack import link_by_labels, linkage_of
from shoal.sample.hospital import hospital
from tests.examples import examples
from tests.risk import naive_attack

POLICY = {
    "columns": {
        "age": {"role": "quasi", "kind": "ordered"},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "job": {"role": "quasi", "kind": "unordered"},
        "ill": "sensitive",
    },
    "constraints": [{"k": 2}],
    "order": "kept",
}
NAMES = ["age", "zip", "job"]


def people(n):
    row = st.fixed_dictionaries(
        {
            "age": st.none() | st.integers(20, 26).map(str),
            "zip": st.sampled_from(["011", "012", "02", "12"]),
            "job": st.none() | st.sampled_from(["a, b", "c", "*"]),
            "ill": st.none() | st.sampled_from(["flu", "a*", "hiv"]),
        }
    )
    return st.lists(row, min_size=n, max_size=14).filter(
        lambda rows: all(any(row[name] is not None for row in rows) for name in NAMES)
    )


def table(rows):
    return pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in rows[0]})


def same(found, plain):
    guess = found.sensitive["ill"]
    assert found.linked == plain["linked"]
    assert found.pinned == plain["pinned"]
    assert (found.smallest, found.median) == (plain["smallest"], plain["median"])
    assert guess.pinned == plain["pinned_value"]
    assert guess.base_rate == pytest.approx(plain["base_rate"])
    assert guess.best_guess == pytest.approx(plain["best_guess"])
    assert guess.gain == pytest.approx(plain["best_guess"] - plain["base_rate"])


@examples(25)
@given(people(2), people(1), st.sets(st.sampled_from(NAMES), min_size=1))
def test_as_done_plainly(raw, known, names):
    release = shoal.anonymize(table(raw), POLICY).table
    knows = table(known).select([name for name in NAMES if name in names])
    found = shoal.attack(release, POLICY, known=knows, raw=table(raw))
    args = (known, [name for name in NAMES if name in names], "ill")
    assert found.columns == tuple(args[1])
    same(found.raw, naive_attack.linked(raw, *args, naive_attack.equal))
    same(found.release, naive_attack.linked(release.to_pylist(), *args, naive_attack.inside))
    assert found.release.unread == {}


def test_by_hand():
    release = pa.table(
        {
            "age": ["[20~25]", "[20~25]", "[30~35]", "[30~35]", "*"],
            "ill": ["flu", "hiv", "flu", "flu", "*"],
        }
    )
    asked = {"columns": {"age": {"role": "quasi", "kind": "ordered"}, "ill": "sensitive"}}
    asked["constraints"] = [{"k": 2}]
    known = pa.table({"age": [22, 33, 50], "ill": ["hiv", "flu", "hiv"]})
    # candidates: 22 has flu, hiv and a star; 33 has flu, flu and a star; 50 the star alone
    found = shoal.attack(release, asked, known=known).release
    assert (found.linked, found.pinned, found.smallest, found.median) == (3, 1, 1, 3.0)
    guess = found.sensitive["ill"]
    assert guess.pinned == 0, "whoever may be behind a star is pinned to no value"
    assert guess.base_rate == pytest.approx(3 / 5)
    # 1/3 and 2/3, and for the last one nothing better than the base rate
    assert guess.best_guess == pytest.approx((1 / 3 + 2 / 3 + 3 / 5) / 3)
    # flu is guessed for all three: of flu and hiv, as frequent, the one that more rows have
    assert guess.measured_best_guess == pytest.approx(1 / 3)
    assert guess.measured_gain == 0


def test_numbers_and_dates_are_equal_as_such_and_codes_are_not():
    asked = {
        "columns": {
            "age": {"role": "quasi", "kind": "ordered"},
            "born": {"role": "quasi", "kind": "ordered"},
            "zip": {"role": "quasi", "kind": "unordered"},
        },
        "constraints": [{"k": 1}],
    }
    raw = pa.table({"age": ["39"], "born": ["07.03.1964"], "zip": ["0213"]})
    same = pa.table({"age": [39.0], "born": ["1964-03-07"], "zip": ["0213"]})
    assert shoal.attack(raw, asked, known=same, raw=raw).raw.pinned == 1
    other = pa.table({"age": [39.0], "born": ["1964-03-07"], "zip": ["213"]})
    assert shoal.attack(raw, asked, known=other, raw=raw).raw.linked == 0


def test_on_the_sample_it_pins_most_people_before_and_nobody_after(tmp_path):
    from shoal.sample import write_sample

    paths = write_sample(tmp_path, rows=2000)
    made = shoal.run(paths.table, paths.policy, tmp_path / "release.csv")
    found = shoal.attack(made, known=hospital(2000).drop_columns(["name"]), raw=paths.table)
    assert found.raw.pinned > 0.9 * found.people
    assert found.release.linked == found.people, "labels cover those they are made of"
    assert found.release.pinned == 0
    assert found.release.smallest >= 5
    assert found.release.sensitive["disease"].pinned == 0
    assert found.raw.sensitive["disease"].gain > 5 * found.release.sensitive["disease"].gain
    assert found.release.unread == {}
    json.dumps(found.to_dict(), allow_nan=False)


def test_labels_nobody_can_read_are_counted():
    asked = {"columns": {"age": {"role": "quasi", "kind": "ordered"}}, "constraints": [{"k": 1}]}
    found = shoal.attack(pa.table({"age": ["old", "4"]}), asked, known=pa.table({"age": [4]}))
    assert found.release.unread == {"age": 1}
    assert found.release.pinned == 1


SIMPLE = {"columns": {"age": "quasi", "ill": "sensitive"}, "constraints": [{"k": 1}]}
RELEASE = pa.table({"age": ["1"], "ill": ["flu"]})


@pytest.mark.parametrize(
    ("release", "policy", "words", "error", "match"),
    [
        (RELEASE, None, {"known": RELEASE}, shoal.PolicyError, "Give the policy"),
        (pa.table({"x": [1]}), SIMPLE, {"known": RELEASE}, shoal.PolicyError, "policy it was made"),
        (RELEASE, SIMPLE, {"known": pa.table({"x": [1]})}, shoal.InputError, "the same names"),
        (RELEASE, SIMPLE, {"known": RELEASE.slice(1)}, shoal.InputError, "nobody is known"),
        (RELEASE.slice(1), SIMPLE, {"known": RELEASE}, shoal.InputError, "nothing to attack"),
        (
            RELEASE,
            SIMPLE,
            {"known": RELEASE, "raw": pa.table({"x": [1]})},
            shoal.InputError,
            "raw table has no column 'age'",
        ),
    ],
)
def test_what_cannot_be_attacked(release, policy, words, error, match):
    with pytest.raises(error, match=match):
        shoal.attack(release, policy, **words)


def test_what_may_be_misread_is_told():
    asked = {
        "columns": {
            "age": "quasi",
            "zip": {"role": "quasi", "kind": "unordered"},
            "ill": "sensitive",
            "name": "identifier",
        },
        "constraints": [{"k": 1}],
    }
    release = pa.table({"age": ["1"], "zip": ["011"], "ill": ["flu"], "name": ["SECRET"]})
    known = pa.table({"age": ["1"], "zip": ["11"], "ill": ["cold"]})
    held, nobody, never = shoal.attack(release, asked, known=known).warnings
    assert "holds 'name', which the policy does not let be published" in held
    assert nobody == "Nobody links to the release: are the values of zip written the same way?"
    assert "None of the values of ill in the known table occurs in the release" in never
    same = known.set_column(1, "zip", pa.array(["011"])).set_column(2, "ill", pa.array(["flu"]))
    found = shoal.attack(release.drop_columns(["name"]), asked, known=same, raw=known)
    assert found.warnings == (
        "Nobody links to the raw table: are the values of age, zip written the same way?",
    )
    assert found.to_dict()["warnings"] == found.warnings


PLAIN = {
    "columns": POLICY["columns"] | {"ward": "plain", "paid": "plain"},
    "constraints": [{"k": 2}],
    "order": "kept",
}
FOLDED = {"a": "a", "A ": "a", "b": "b", "1": 1, "1.0": 1, "": None, None: None}
"""What spellings mean, written out by hand."""


def with_plain(rows):
    plain = st.fixed_dictionaries(
        {
            "ward": st.sampled_from(["a", "A ", "b", "*"]),
            "paid": st.sampled_from([None, "", "1", "1.0"]),
        }
    )
    return rows.flatmap(
        lambda found: st.lists(plain, min_size=len(found), max_size=len(found)).map(
            lambda more: [row | other for row, other in zip(found, more, strict=True)]
        )
    )


def means(name, value):
    return FOLDED.get(value, value) if name in ("ward", "paid") else value


def equal_meaning(name, ours, theirs):
    return means(name, ours) == means(name, theirs)


def inside_or_equal(name, label, value):
    if name in ("ward", "paid"):
        return equal_meaning(name, label, value)
    return naive_attack.inside(name, label, value)


@examples(40)
@given(with_plain(people(2)), with_plain(people(1)), st.booleans())
def test_plain_columns_are_linked_on_as_done_plainly(raw, known, narrowed):
    release = shoal.anonymize(table(raw), PLAIN).table
    names = ["age", "ward"] if narrowed else [*NAMES, "ward", "paid"]
    on = ["ward", "age"] if narrowed else None
    found = shoal.attack(release, PLAIN, known=table(known), raw=table(raw), on=on)
    assert found.columns == tuple(names)
    assert found.unguarded == (("ward",) if narrowed else ("ward", "paid"))
    # a star in every plain column that is known would be a suppressed row, which may be anybody's
    stars = [row for row in release.to_pylist() if row["ward"] == "*" and narrowed]
    args = (known, names, "ill")
    same(found.raw, naive_attack.linked(raw, *args, equal_meaning))
    if not stars:
        same(found.release, naive_attack.linked(release.to_pylist(), *args, inside_or_equal))


def test_suppressed_rows_may_be_anybodys():
    release = pa.table(
        {"age": ["[1~2]", "[1~2]", "*"], "ward": ["a", "b", "*"], "ill": ["x", "y", "*"]}
    )
    asked = {
        "columns": {"age": "quasi", "ward": "plain", "ill": "sensitive"},
        "constraints": [{"k": 2}],
        "suppressed": "starred",
    }
    known = pa.table({"age": [1, 2, 9], "ward": ["a", "c", "b"]})
    found = shoal.attack(release, asked, known=known)
    # a: her row and the starred one; c and the third: only the starred one
    assert (found.release.linked, found.release.pinned, found.release.smallest) == (3, 2, 1)


def test_sensitive_columns_are_linked_on_only_where_named():
    rows = pa.table({"age": [1, 1, 2, 2], "ill": ["flu", "hiv", "flu", "hiv"], "pay": list("abcd")})
    asked = {
        "columns": {"age": "quasi", "ill": "sensitive", "pay": "sensitive"},
        "constraints": [{"k": 2}],
    }
    release = shoal.anonymize(rows, asked)
    known = pa.table({"age": [1, 2], "ill": ["HIV", " flu"]})
    assert shoal.attack(release, known=known).release.pinned == 0
    found = shoal.attack(release, known=known, on=["ill", "age"])
    assert found.columns == ("age", "ill")
    assert (found.release.pinned, found.release.below, found.highest_risk) == (2, 2, 1.0)
    assert found.guaranteed_risk == 0.5
    assert list(found.release.sensitive) == ["pay"]
    assert "2 of 2 people have fewer than 2 candidates" in found.warnings[0]


@pytest.mark.parametrize(
    ("on", "words"),
    [
        ([], "No column to link on"),
        (["agee"], "publishes no column 'agee' to link on. Did you mean 'age'?"),
        (["ill"], "The known table has no column 'ill' to link on."),
        (["name"], "The policy publishes no column 'name' to link on."),
    ],
)
def test_columns_that_cannot_be_linked_on_are_refused(on, words):
    asked = {"columns": {"age": "quasi", "ill": "sensitive", "name": "identifier"}}
    asked["constraints"] = [{"k": 1}]
    release = pa.table({"age": ["1"], "ill": ["flu"]})
    with pytest.raises(shoal.InputError, match=re.escape(words)):
        shoal.attack(release, asked, known=pa.table({"age": ["1"], "name": ["x"]}), on=on)


def test_people_are_counted_where_they_can_be_told_apart():
    visits = pa.table(
        {
            "who": ["a", "A", "b", "c", "c", "d", "d"],
            "age": [1, 1, 1, 2, 2, 2, 2],
            "ward": ["x", "x", "y", "z", "z", "z", "z"],
            "ill": ["flu", "hiv", "flu", "flu", "hiv", "hiv", "flu"],
        }
    )
    asked = {
        "columns": {"who": "person", "age": "quasi", "ward": "plain", "ill": "sensitive"},
        "constraints": [{"k": 2}],
    }
    release = shoal.anonymize(visits, asked)
    found = shoal.attack(release, known=visits, raw=visits)
    assert found.people == 4
    # x: two rows, both a's; y: one row, b's; z: four rows of c and d
    assert (found.raw.linked, found.raw.pinned, found.raw.pinned_person) == (4, 1, 2)
    assert (found.release.pinned, found.release.pinned_person) == (1, 2)
    alone = shoal.attack(release.table, asked, known=visits)
    assert alone.release.pinned_person is None
    narrow = shoal.attack(release, known=visits, on="age")
    assert narrow.release.pinned_person == 0
    # by age alone three rows of a and b, and four of c and d
    assert (narrow.release.smallest, narrow.release.smallest_people) == (3, 2)
    assert (narrow.unit, narrow.highest_risk) == ("person", 1 / 2)
    assert (alone.unit, alone.highest_risk, alone.release.smallest_people) == ("row", 1, None)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=25
    )
)
def test_the_fewest_people_among_candidates_as_counted_plainly(rows):
    """Ranges that overlap: a known row may have candidates in several classes, which share people."""
    ranges = [(low, low + width) for low, width, _ in rows]
    people = [who for _, _, who in rows]
    released = pa.table({"age": [f"[{low}~{high}]" for low, high in ranges]})
    known = pa.table({"age": list(range(9))})
    asked = {"columns": {"age": "quasi"}, "constraints": [{"k": 1}]}
    policy = shoal.Policy.load(asked)
    links = link_by_labels(released, known, ["age"], policy)
    owners = People(np.array(people, np.int32), 10)
    found = linkage_of(released, known, [], links, policy, owners=owners)
    candidates = [
        {who for who, (low, high) in zip(people, ranges, strict=True) if low <= age <= high}
        for age in range(9)
    ]
    assert found.smallest_people == min((len(one) for one in candidates if one), default=None)


def test_the_highest_risk_is_readable():
    asked = {"columns": {"age": "quasi"}, "constraints": [{"k": 2}]}
    released = pa.table({"age": ["1", "1"]})
    console = Console(width=120, record=True)
    for age in ("1", "7"):
        found = shoal.attack(released, asked, known=pa.table({"age": [age]}))
        show_attack(console, found, Path("k.csv"))
    text = console.export_text()
    assert "highest risk found: 1 in 2 rows; the policy guarantees at most 1 in 2" in text
    assert "nobody is found: no row of the release fits a known person; the policy" in text
