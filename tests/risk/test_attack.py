"""The attack: against every person tried on every row, by hand, and on the sample."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
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
    known = pa.table({"age": ["1"], "zip": ["11"], "ill": ["Flu"]})
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
