"""The external report says nothing of the table behind the release."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

import shoal
from shoal.policy import Policy
from shoal.report.certificate import seal_of
from shoal.report.external import external_page
from shoal.report.files import external_of
from tests.browser import opened
from tests.examples import examples

COLUMNS = {
    "name": {"role": "identifier", "why": "SECRET names people"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 50]}, "why": "SECRET known"},
    "sex": {"role": "quasi", "hierarchy": {"tree": {"any": ["f", "m", "x"]}}},
    "ward": "plain",
    "ill": "sensitive",
}
POLICY: dict[str, Any] = {
    "about": {"title": "Discharges", "contact": "privacy@example.org"},
    "columns": COLUMNS,
    "constraints": [{"k": 15}],
    "method": "datafly",
    "suppression": 0.1,
    "seed": 7,
}
VARYING = ("made", "seal", "seed_commitment", "policy")


def table(ages: list[int], rare: list[tuple[int, str, str]]) -> pa.Table:
    """Thirty people whose ages lie in two decades, and some who will be withheld."""
    rows = [
        ("n", age, "fm"[i % 2], "AB"[i % 2], ["flu", "cold"][i // 2 % 2])
        for i, age in enumerate(ages)
    ]
    rows += [(f"{name}{i}", age, "x", "B", "HIV") for i, (age, _, name) in enumerate(rare)]
    return pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))


def certified(made: Any) -> dict[str, Any]:
    return {key: value for key, value in external_of(made).items() if key not in VARYING}


@examples(6)
@given(
    st.lists(st.integers(20, 29), min_size=40, max_size=40),
    st.lists(st.integers(20, 29), min_size=40, max_size=40),
    st.tuples(st.integers(20, 29), st.just("x"), st.sampled_from(["ann", "bob"])),
    st.tuples(st.integers(20, 29), st.just("x"), st.sampled_from(["cid", "dee"])),
)
def test_tables_with_the_same_release_have_the_same_report(
    ages: list[int], others: list[int], rare: Any, other: Any
) -> None:
    one = shoal.anonymize(table(ages, [rare]), POLICY)
    two = shoal.anonymize(table(others, [other, other]), POLICY)
    # what was withheld differs, and where in its label a value lies
    assert (one.rows, two.rows) == (41, 42)
    assert one.published_rows == two.published_rows == 40
    assert certified(one) == certified(two)


def test_the_page_follows_from_the_certificate() -> None:
    ages = [20 + i % 10 for i in range(40)]
    one = shoal.anonymize(table(ages, [(25, "x", "ann")]), POLICY)
    two = shoal.anonymize(table(ages[::-1], [(21, "x", "bob")] * 2), POLICY)
    pages = [re.sub(r"[0-9a-f]{64}", "", external_page(external_of(made))) for made in (one, two)]
    assert pages[0] == pages[1]


def test_nothing_of_the_table_is_in_it(tmp_path: Path) -> None:
    ages = [20 + i % 10 for i in range(40)]
    made = shoal.anonymize(table(ages, [(27, "x", "zoe")]), POLICY)
    made.report(tmp_path / "out.html", external=True)
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert found["version"] == "external"
    for absent in ("input", "warnings", "notes", "cost", "suppression", "class_sizes", "reproduce"):
        assert absent not in found
    for words in ("SECRET", "zoe", "HIV", "41", "withheld", "before"):
        assert words not in re.sub(r"[0-9a-f]{12,}|<style>.*?</style>", "", text, flags=re.S), words
    assert [one["column"] for one in found["decisions"]] == ["age", "sex", "ward", "ill"]
    assert found["levels"]["age"]["value"] is None
    for words in ("Discharges", "privacy@example.org", "40 rows are published.", "[20-30)"):
        assert words in text
    with opened(tmp_path / "out.html", 390) as seen:
        seen.require_no_overflow()
        seen.require_quiet()


@pytest.mark.parametrize("memory", [None, "2GB"])
def test_a_run_writes_it_and_verify_takes_it(tmp_path: Path, memory: str | None) -> None:
    random = np.random.default_rng(1)
    rows = {
        "age": random.integers(20, 60, 200),
        "sex": random.choice(["f", "m"], 200),
        "ill": random.choice(["flu", "cold", "asthma"], 200),
    }
    csv.write_csv(pa.table(rows), tmp_path / "t.csv")
    policy = {
        "columns": {"age": "quasi", "sex": "quasi", "ill": "sensitive"},
        "constraints": [{"k": 4}],
        "seed": 1,
    }
    made = shoal.run(
        tmp_path / "t.csv",
        policy,
        tmp_path / "r.csv",
        external_report=tmp_path / "x.json",
        memory=memory,
    )
    assert made.reports == (tmp_path / "x.json",)
    found = shoal.verify(tmp_path / "r.csv", policy, certificate=tmp_path / "x.json")
    assert found.certificate is not None
    assert found.certificate.fits
    other = policy | {"constraints": [{"k": 3}]}
    wrong = shoal.verify(tmp_path / "r.csv", other, certificate=tmp_path / "x.json")
    assert wrong.certificate is not None
    assert not wrong.certificate.fits


PEOPLE: dict[str, Any] = {
    "columns": {
        "id": "person",
        "age": "quasi",
        "sex": "quasi",
        "w": "identifier",
        "d": "sensitive",
    },
    "constraints": [{"k": 3}],
    "seed": 1,
}


def weighing(**options: Any) -> dict[str, Any]:
    weight = {"w": {"role": "weight", **options}, "id": "identifier"}
    return {**PEOPLE, "columns": PEOPLE["columns"] | weight}


@pytest.mark.parametrize(
    ("policy", "key"),
    [
        (PEOPLE, False),
        (PEOPLE, True),
        (weighing(), False),
        (weighing(round=10), False),
        (weighing(publish="exact"), False),
        (PEOPLE | {"preset": ["cell-size-3"]}, True),
        (PEOPLE | {"preset": ["cell-size-3"]}, False),
    ],
    ids=["people", "key", "withheld", "rounded", "exact", "preset", "preset without key"],
)
def test_verify_takes_it_for_people_and_weights(
    tmp_path: Path, policy: dict[str, Any], key: bool
) -> None:
    rows = {
        "id": [i // 2 for i in range(60)],
        "age": [20 + i // 2 % 7 for i in range(60)],
        "sex": [i // 2 % 2 for i in range(60)],
        "w": [100 + i // 2 for i in range(60)],
        "d": [i % 3 for i in range(60)],
    }
    csv.write_csv(pa.table(rows), tmp_path / "t.csv")
    certificate, keys = tmp_path / "x.json", {"key": tmp_path / "key.csv"} if key else {}
    shoal.run(tmp_path / "t.csv", policy, tmp_path / "r.csv", external_report=certificate, **keys)
    found = shoal.verify(tmp_path / "r.csv", policy, certificate=certificate, **keys).certificate
    assert found is not None
    assert found.differences == ()
    stated = json.loads(certificate.read_text(encoding="utf-8"))
    assert "weighted" not in stated
    if stated["people"] is None:
        return
    assert stated["people"] == {"counted": True, "published": 30, "together": False}
    stated["people"]["counted"] = False
    del stated["seal"]
    certificate.write_text(json.dumps({**stated, "seal": seal_of(stated)}), encoding="utf-8")
    found = shoal.verify(tmp_path / "r.csv", policy, certificate=certificate, **keys).certificate
    assert found is not None
    assert not found.fits


def test_labels_of_the_sample_name_no_value_that_few_rows_share() -> None:
    n = 72
    rows = {
        "age": [20 if i < 48 else 21 + i for i in range(n)],
        "town": ["Paris" if i < 48 else f"Hamlet{i}" for i in range(n)],
        "ill": [["flu", "cold"][i % 2] for i in range(n)],
    }
    policy = {
        "columns": {"age": "quasi", "town": "quasi", "ill": "sensitive"},
        "constraints": [{"k": 12}],
        "seed": 1,
    }
    made = shoal.anonymize(pa.table(rows), policy)
    found = external_of(made)
    assert made.table is not None
    assert any("Hamlet" in text for text in made.table["town"].to_pylist())
    assert any("~" in str(text) for text in made.table["age"].to_pylist())
    for row in found["sample"]["rows"]:
        assert row[0] in ("20", None)
        assert row[1] in ("Paris", None)
    assert ["20", "Paris"] in [row[:2] for row in found["sample"]["rows"]]
    assert found["sample"]["hidden"] == sum(c is None for r in found["sample"]["rows"] for c in r)
    text = external_page(found)
    assert "Hamlet" not in text
    assert "Hamlet" not in json.dumps(found)
    assert "names a value that fewer than 10 published rows have as it is" in text


def test_trees_of_the_policy_are_not_in_it() -> None:
    tree = {"any": {"low": ["flu", "cold"], "SECRET": ["HIV-rare"]}}
    policy = POLICY | {
        "columns": COLUMNS | {"ill": {"role": "sensitive", "hierarchy": {"tree": tree}}}
    }
    made = shoal.anonymize(table([20 + i % 10 for i in range(40)], []), policy)
    found = json.dumps(external_of(made))
    assert "SECRET" not in found
    assert "HIV" not in found


def test_both_reports_need_names_of_their_own(tmp_path: Path) -> None:
    csv.write_csv(pa.table({"age": [1, 1, 1]}), tmp_path / "t.csv")
    policy = {"columns": {"age": "quasi"}, "constraints": [{"k": 2}]}
    with pytest.raises(shoal.InputError, match="Give the external report another name"):
        shoal.run(
            tmp_path / "t.csv",
            policy,
            tmp_path / "r.csv",
            report=tmp_path / "x.html",
            external_report=tmp_path / "x.json",
        )
    assert not (tmp_path / "r.csv").exists()


def test_withheld_weights_leave_no_sum() -> None:
    """The sum of a class of one row would be the weight of a person."""
    columns = {"sex": "quasi", "w": "weight"}
    policy = {"columns": columns, "constraints": [{"estimated-k-map": 10}], "seed": 1}
    sexes = ["m"] * 20 + ["f"]
    made = [
        shoal.anonymize(pa.table({"sex": sexes, "w": [50.0] * 20 + [weight]}), policy)
        for weight in (37.25, 91.5)
    ]
    assert [each.findings[0].reached for each in made] == [20, 50]
    assert certified(made[0]) == certified(made[1])
    assert certified(made[0])["guarantees"][0]["reached"] == 10


def test_names_of_files_without_their_folders(tmp_path: Path) -> None:
    """The internal report names both tables; others learn what the release is called, and no folder."""
    folder = tmp_path / "Secret folder"
    folder.mkdir()
    csv.write_csv(table([20 + i % 10 for i in range(40)], []), folder / "Raw <i>patients.csv")
    inside, outside = tmp_path / "in.html", tmp_path / "out.html"
    release = shoal.run(
        folder / "Raw <i>patients.csv",
        POLICY,
        folder / "public.csv",
        report=inside,
        external_report=outside,
    )
    assert (release.input_name, release.output_name) == ("Raw <i>patients.csv", "public.csv")
    page = inside.read_text(encoding="utf-8")
    assert "Raw &lt;i&gt;patients.csv" in page
    assert "public.csv" in page
    stated = json.loads(inside.with_suffix(".json").read_text(encoding="utf-8"))
    assert stated["input"]["name"] == "Raw <i>patients.csv"
    for text in (outside.read_text("utf-8"), outside.with_suffix(".json").read_text("utf-8")):
        assert "patients" not in text
        assert "public.csv" in text
    for path in tmp_path.glob("*.*"):
        assert "Secret folder" not in path.read_text(encoding="utf-8")


def test_a_frame_has_no_name_until_it_is_written(tmp_path: Path) -> None:
    made = shoal.anonymize(table([20 + i % 10 for i in range(40)], []), POLICY)
    assert (made.input_name, made.output_name) == (None, None)
    assert external_of(made)["release"]["name"] is None
    assert 'class="tables"' not in external_page(external_of(made))
    made.write(tmp_path / "rows.csv", external_report=tmp_path / "out.json")
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert found["release"]["name"] == "rows.csv"


def test_no_guess_at_the_policy_can_be_checked_without_the_seed_file(tmp_path: Path) -> None:
    """Of the policy there is a commitment, which differs from run to run and fits with the salt."""
    csv.write_csv(table([20 + i % 10 for i in range(40)], []), tmp_path / "t.csv")
    found = []
    for name in ("a", "b"):
        kept, out = tmp_path / f"{name}.seed", tmp_path / f"{name}.json"
        shoal.run(
            tmp_path / "t.csv",
            POLICY,
            tmp_path / f"{name}.csv",
            external_report=out,
            seed_file=kept,
        )
        found.append(json.loads(out.read_text(encoding="utf-8")))
        checked = shoal.verify(tmp_path / f"{name}.csv", POLICY, certificate=out, seed_file=kept)
        assert checked.certificate is not None
        assert checked.certificate.fits
    assert found[0]["policy"].keys() == {"commitment"}
    assert found[0]["policy"] != found[1]["policy"]
    assert Policy.load(POLICY).fingerprint() not in json.dumps(found)
    checked = shoal.verify(
        tmp_path / "a.csv",
        POLICY | {"columns": COLUMNS | {"ward": {"role": "plain", "missing": ["-9"]}}},
        certificate=tmp_path / "a.json",
        seed_file=tmp_path / "a.seed",
    )
    assert checked.certificate is not None
    assert "another policy" in " ".join(checked.certificate.differences)
    plain = shoal.verify(
        tmp_path / "a.csv", POLICY | {"about": {"title": "Other"}}, certificate=tmp_path / "a.json"
    )
    assert plain.certificate is not None
    assert "does not follow from it: about" in " ".join(plain.certificate.differences)
