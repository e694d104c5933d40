"""Singling out, linkability and inference, beside a plain count of the published rows."""

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.risk.criteria import Criteria

POLICY: dict[str, Any] = {
    "columns": {"age": "quasi", "sex": "quasi", "town": "plain", "ill": "sensitive"},
    "constraints": [{"k": 2}],
}
ROW = st.tuples(
    st.sampled_from(["[1~2]", "[3~4]", "9"]),
    st.sampled_from("fm"),
    st.sampled_from(["Ath", "Huy", None]),
    st.sampled_from(["flu", "Flu ", "hiv", "hiv", "hiv", None, "*"]),
)


def table_of(rows: list[Any]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table(
        {
            name: pa.array(one, pa.string())
            for name, one in zip(POLICY["columns"], columns, strict=True)
        }
    )


def classes(rows: list[Any], places: tuple[int, ...]) -> Counter[Any]:
    return Counter(tuple(row[place] for place in places) for row in rows)


def inferred(rows: list[Any], places: tuple[int, ...]) -> dict[str, Any]:
    """Rows of classes by how sure one value is; spellings of one value are one."""
    groups: dict[Any, list[str]] = {}
    for row in rows:
        value = row[3]
        if value not in (None, "*"):
            key = tuple(row[place] for place in places)
            groups.setdefault(key, []).append(value.strip().casefold())
    best = {key: Counter(values).most_common(1)[0][1] for key, values in groups.items()}
    every = Counter(value for values in groups.values() for value in values)
    known = sum(map(len, groups.values()))
    return {
        "known": known,
        "likely": sum(len(v) for key, v in groups.items() if best[key] >= 0.9 * len(v)),
        "certain": sum(len(v) for key, v in groups.items() if best[key] == len(v)),
        "best": sum(best.values()) / known if known else 0,
        "base": max(every.values(), default=0) / known if known else 0,
    }


@settings(max_examples=40, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=40))
def test_the_figures_are_those_of_a_plain_count(rows: list[Any]) -> None:
    found = shoal.criteria(table_of(rows), POLICY)
    quasi, plain, every = (classes(rows, places) for places in ((0, 1), (0, 1, 2), (0, 1, 2, 3)))
    out, link = found.singling_out, found.linkability
    assert (found.unit, found.published) == ("row", len(rows))
    assert out.alone_on_quasi == sum(n == 1 for n in quasi.values())
    assert out.alone_with_plain == sum(n == 1 for n in plain.values())
    assert out.alone_with_all == sum(n == 1 for n in every.values())
    assert (out.smallest_class, out.guaranteed) == (min(quasi.values()), 2)
    assert link.linked_on_quasi == pytest.approx(len(quasi) / len(rows))
    assert link.linked_with_plain == pytest.approx(len(plain) / len(rows))
    halves = [classes(rows, places) for places in ((0, 2), (1,))]
    across = sum(
        n * n / halves[0][key[0], key[2]] / halves[1][key[1],] for key, n in plain.items()
    ) / len(rows)
    assert link.linked_across == pytest.approx(across)
    one, twin = found.inference.columns["ill"], inferred(rows, (0, 1))
    assert (one.known, one.likely, one.certain) == (twin["known"], twin["likely"], twin["certain"])
    assert (one.best_guess, one.base_rate) == pytest.approx((twin["best"], twin["base"]))
    assert one.likely_with_plain == inferred(rows, (0, 1, 2))["likely"]


PEOPLE = pa.table(
    {
        "id": [1, 1, 2, 2, 3, 4, 5, 6],
        "age": [30, 31, 30, 31, 60, 61, 62, 63],
        "ill": ["flu", "flu", "flu", "flu", "hiv", "flu", "hiv", "flu"],
    }
)


def test_people_are_counted_where_their_key_is_known(tmp_path: Path) -> None:
    policy = {
        "columns": {"id": "person", "age": "quasi", "ill": "sensitive"},
        "constraints": [{"k": 2}],
    }
    release = shoal.anonymize(PEOPLE, policy, seed=1)
    found = shoal.criteria(release)
    assert (found.unit, found.published, found.notes) == ("person", 6, ())
    assert found.singling_out.smallest_class == 2
    rows = shoal.criteria(release.table, policy)
    assert rows.unit == "row"
    assert "Rows were counted, not people" in rows.notes[0]
    release.report(tmp_path / "r.json")
    stated = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["criteria"]
    assert stated == json.loads(json.dumps(found.to_dict()))


@pytest.fixture(scope="module")
def release() -> shoal.Release[pa.Table]:
    table = pa.table(
        {
            "age": [20, 21, 22, 40, 41, 42, 60, 61],
            "sex": list("ffmmffmm"),
            "town": ["a", "a", "b", "b", "c", "c", "d", "e"],
            "ill": ["flu", "flu", "hiv", "flu", "hiv", "hiv", "flu", "hiv"],
        }
    )
    return shoal.anonymize(table, POLICY, seed=3)


RAW = pa.table({"age": [20, 21, 61], "sex": list("ffm"), "town": ["a", "a", "e"]})


def test_the_raw_table_is_linked(release: shoal.Release[pa.Table]) -> None:
    found = shoal.criteria(release, raw=RAW)
    attack = shoal.attack(release, known=RAW)
    assert found.linkability.known == 3
    assert found.linkability.pinned == attack.release.pinned
    assert found.linkability.highest == attack.highest_risk


def test_a_raw_table_is_refused_on_large_engines(
    release: shoal.Release[pa.Table], tmp_path: Path
) -> None:
    release.write(tmp_path / "r.csv")
    with pytest.raises(shoal.InputError, match="raw: a raw table is linked to a release in memory"):
        shoal.criteria(tmp_path / "r.csv", POLICY, raw=RAW, memory="1GB")


def test_the_engines_agree(release: shoal.Release[pa.Table], tmp_path: Path) -> None:
    release.write(tmp_path / "r.csv")
    small: Criteria = shoal.criteria(tmp_path / "r.csv", POLICY)
    large = shoal.criteria(tmp_path / "r.csv", POLICY, memory="1GB")
    assert large.singling_out == small.singling_out
    assert large.linkability == small.linkability
    assert large.inference == small.inference


def test_the_engines_agree_on_spellings_and_missing_values(tmp_path: Path) -> None:
    chance = Random(5)
    drawn = {
        "age": chance.choices(["[1~2]", "[3~4]", None], k=90),
        "sex": chance.choices("fm", k=90),
        "town": chance.choices(["Ath", "Huy", None], k=90),
        "ill": chance.choices(["flu", "Flu ", "hiv", "*", "NA", None], [3, 3, 9, 1, 1, 1], k=90),
    }
    pq.write_table(pa.table(drawn), tmp_path / "r.parquet")
    policy = {**POLICY, "read": {"missing": ["NA"]}}
    small, large = (
        shoal.criteria(tmp_path / "r.parquet", policy, memory=memory) for memory in (None, "1GB")
    )
    assert large.inference == small.inference
    assert large.linkability.linked_across == pytest.approx(small.linkability.linked_across)
    assert 0 < small.inference.columns["ill"].known < 90


def test_every_question_says_what_it_does_not_show(release: shoal.Release[pa.Table]) -> None:
    found = shoal.criteria(release)
    for one in (found.singling_out, found.linkability, found.inference):
        assert one.limits
    assert len(found.to_frame()) == 8
    assert "8 rows" in repr(found)


def test_a_changed_figure_is_noticed(release: shoal.Release[pa.Table], tmp_path: Path) -> None:
    from shoal.report.certificate import SEAL, seal_of

    release.write(tmp_path / "r.csv", report=tmp_path / "r.json")
    stated = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert shoal.verify(tmp_path / "r.csv", POLICY, certificate=tmp_path / "r.json").holds
    stated["criteria"]["singling_out"]["alone_with_plain"] += 1
    stated[SEAL] = seal_of(stated)
    (tmp_path / "r.json").write_text(json.dumps(stated), encoding="utf-8")
    found = shoal.verify(tmp_path / "r.csv", POLICY, certificate=tmp_path / "r.json")
    assert any("singling out" in text for text in found.failures)


def test_pseudonyms_link_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKAGE_KEY", "0123456789abcdef0123456789abcdef")
    policy = {
        "columns": {"id": "pseudonym", "age": "quasi", "ill": "sensitive"},
        "constraints": [{"k": 2}],
        "pseudonym": {"key_env": "LINKAGE_KEY"},
    }
    release = shoal.anonymize(PEOPLE, policy, seed=1)
    assert shoal.criteria(release).linkability.pseudonyms == ("id",)


def test_anatomy_has_no_classes_to_infer_from() -> None:
    policy = {
        "columns": {"id": "identifier", "age": "quasi", "ill": "sensitive"},
        "constraints": [{"l": 2, "of": "ill"}],
        "publish": "anatomy",
        "method": "l-clustering",
    }
    found = shoal.criteria(shoal.anonymize(PEOPLE, policy))
    assert "best guess" in found.inference.not_measured
    assert found.singling_out.guaranteed is None
