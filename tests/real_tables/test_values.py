"""What counts as a value: real tables with codes for missing values and several spellings.

Values are read here by a few lines of plain Python that share nothing with the package.
"""

import csv
import random
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.errors import InputError
from tests.examples import examples

CODES = {"", "na", "?", "-9"}
ENGINES = [{}, {"memory": "1GB"}]


def real(text: str | None) -> str | None:
    """The value of a text: its Unicode form, case and spaces aside; None for a missing one."""
    folded = unicodedata.normalize("NFKC", text or "").strip().lower()
    return None if folded in CODES else folded


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)
    return path


def classes(path: Path, quasi: list[str], of: str) -> list[list[str]]:
    """The sensitive texts of each class of a written release."""
    found = defaultdict(list)
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[tuple(row[name] for name in quasi)].append(row[of])
    return list(found.values())


def lines(path: Path) -> list[str]:
    """The rows of a file, in any order."""
    return sorted(path.read_text(encoding="utf-8").splitlines())


def known(texts: list[str]) -> list[str]:
    return [value for text in texts if (value := real(text)) is not None]


def workers(n: int = 240) -> list[dict[str, Any]]:
    chance = random.Random(7)
    return [
        {
            "age": chance.randint(18, 65),
            "sex": chance.choice("fm"),
            "wage": chance.choice(["NA", "NA", *(str(100 * i) for i in range(8, 20))]),
        }
        for _ in range(n)
    ]


def wages(**column: Any) -> dict[str, Any]:
    return {
        "columns": {"age": "quasi", "sex": "quasi", "wage": {"role": "sensitive", **column}},
        "constraints": [{"k": 3}, {"l": 3, "of": "wage"}],
        "seed": 5,
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_wages_with_na_are_asked_about_and_then_no_value(
    tmp_path: Path, engine: dict[str, Any]
) -> None:
    table, target = write(tmp_path / "in.csv", workers()), tmp_path / "out.csv"
    asked = r"reads 'NA' in \d+ rows.*Add `missing: \[NA\]` to the column.*write `missing: \[\]`"
    with pytest.raises(InputError, match=asked):
        shoal.run(table, wages(), target, **engine)
    assert not target.exists()
    shoal.run(table, wages(missing=["NA"]), target, **engine)
    found = classes(target, ["age", "sex"], "wage")
    assert min(len(set(known(texts))) for texts in found) >= 3
    assert "NA" in {text for texts in found for text in texts}, "untouched cells keep their text"
    # stated to be real values, they count as one more
    shoal.run(table, wages(missing=[]), target, force=True, **engine)
    assert min(len(set(texts)) for texts in classes(target, ["age", "sex"], "wage")) >= 3


def test_the_question_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    table, policy = write(tmp_path / "in.csv", workers()), tmp_path / "policy.yaml"
    policy.write_text(
        "columns:\n  age: quasi\n  sex: quasi\n  wage: sensitive\nconstraints: [{k: 3}]\n"
    )
    arguments = ["run", str(table), str(policy), "-o", str(tmp_path / "out.csv")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert "missing: [NA]" in " ".join(done.output.split())


def test_a_general_list_declares_codes_for_every_column(tmp_path: Path) -> None:
    rows = [row | {"age": "NA" if i == 0 else row["age"]} for i, row in enumerate(workers())]
    table, target = write(tmp_path / "in.csv", rows), tmp_path / "out.csv"
    shoal.run(table, wages() | {"read": {"missing": ["NA"]}}, target)
    found = classes(target, ["age", "sex"], "wage")
    assert min(len(set(known(texts))) for texts in found) >= 3
    table = write(tmp_path / "more.csv", [*rows, rows[1] | {"wage": "?"}])
    with pytest.raises(InputError, match=r"'\?' in 1 row.*missing: \[NA, \"\?\"\]"):
        shoal.run(table, wages() | {"read": {"missing": ["NA"]}}, tmp_path / "more_out.csv")


@pytest.mark.parametrize("engine", ENGINES)
def test_blank_beside_hiv_is_one_value(tmp_path: Path, engine: dict[str, Any]) -> None:
    rows = ["town,ill", 'A,""', 'A,"  "', "A,HIV", "A,HIV", "B,flu", "B,HIV", 'B,""']
    path = tmp_path / "release.csv"
    path.write_text("\n".join(rows) + "\n")
    policy = {
        "columns": {"town": "quasi", "ill": "sensitive"},
        "constraints": [{"l": 2, "of": "ill"}, {"alpha": 0.5, "of": "ill"}],
    }
    found = shoal.verify(path, policy, **engine)
    expected = classes(path, ["town"], "ill")
    assert found[0].reached == min(len(set(known(texts))) for texts in expected) == 1
    shares = [max(Counter(known(t)).values()) / len(known(t)) for t in expected]
    assert found[1].reached == max(shares) == 1
    assert not found.holds


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["ordered", "unordered"])
def test_the_same_wage_in_two_spellings_is_one_value(
    tmp_path: Path, engine: dict[str, Any], kind: str
) -> None:
    rows = ["town,wage", "A,50000", "A,50000.0", "A,5e4", "B,60000", "B,50000.00"]
    path = tmp_path / "release.csv"
    path.write_text("\n".join(rows) + "\n")
    policy = {
        "columns": {"town": "quasi", "wage": {"role": "sensitive", "kind": kind}},
        "constraints": [{"l": 2, "of": "wage"}],
    }
    found = shoal.verify(path, policy, **engine)
    expected = classes(path, ["town"], "wage")
    assert found[0].reached == min(len({float(text) for text in texts}) for texts in expected) == 1
    policy["columns"]["wage"] = {"role": "sensitive", "spelling": "exact"}  # type: ignore[index]
    assert shoal.verify(path, policy, **engine)[0].reached == 2


def ages(n: int = 60) -> list[dict[str, Any]]:
    chance = random.Random(3)
    found = [{"age": str(chance.randint(18, 70)), "ill": chance.choice("abcd")} for _ in range(n)]
    found[17]["age"] = "NA"
    return found


def test_one_na_in_a_number_column_leaves_it_a_number_column(tmp_path: Path) -> None:
    rows = ages()
    table = write(tmp_path / "in.csv", rows)
    policy = {
        "columns": {"age": {"role": "quasi", "missing": ["NA"]}, "ill": "plain"},
        "constraints": [{"k": 5}],
        "seed": 1,
    }
    targets = [tmp_path / "memory.csv", tmp_path / "duckdb.csv"]
    for target, engine in zip(targets, ENGINES, strict=True):
        shoal.run(table, policy, target, **engine)
    assert lines(targets[0]) == lines(targets[1])
    frame = pd.DataFrame(rows)
    released = {
        "file": pd.read_csv(targets[0], dtype=str),
        "pandas": shoal.anonymize(frame, policy).table,
        "polars": shoal.anonymize(pl.DataFrame(rows), policy).table.to_pandas(),
        "null": shoal.anonymize(frame.replace({"age": {"NA": None}}), policy).table,
    }
    for name, one in released.items():
        labels = set(one["age"].dropna())
        assert any(label.startswith("[") and "~" in label for label in labels), name
        assert not any("{" in label or "NA" in label for label in labels), name
        assert sorted(one["age"].fillna("")) == sorted(released["file"]["age"].fillna("")), name
    assert Counter(released["file"]["age"].fillna("")).most_common()[-1][1] >= 5


@pytest.mark.parametrize("engine", ENGINES)
def test_spellings_of_one_value_protect_nobody(tmp_path: Path, engine: dict[str, Any]) -> None:
    chance = random.Random(1)
    forms = ["HIV", "hiv", " HIV", "ＨＩＶ", "Flu", "flu ", "gout", "asthma", "asthma", "NA"]
    rows = [
        {"age": chance.randint(20, 60), "ill": chance.choice(forms), "id": i} for i in range(150)
    ]
    rows.append({"age": 33, "ill": "FLU", "id": 150})
    table, target = write(tmp_path / "in.csv", rows), tmp_path / "out.csv"
    policy: dict[str, Any] = {
        "columns": {"age": "quasi", "ill": {"role": "sensitive", "missing": ["NA"]}, "id": "plain"},
        "constraints": [
            {"l": 3, "of": "ill"},
            {"alpha": 0.6, "of": "ill"},
            {"t": 0.5, "of": "ill"},
            {"beta": 4, "of": "ill"},
        ],
        "method": "least-loss-partition",
    }
    release = shoal.run(table, policy, target, **engine)
    found = classes(target, ["age"], "ill")
    everybody = [text for texts in found for text in texts]
    assert len(found) > 2
    for texts in found:
        values = Counter(known(texts))
        assert len(values) >= 3
        assert max(values.values()) <= 0.6 * sum(values.values())
        # beside the values, the spellings themselves must be spread as in the whole table
        for read in (real, lambda text: text if real(text) else None):
            q, p = (Counter(v for t in some if (v := read(t))) for some in (texts, everybody))
            share = {v: (q[v] / q.total(), p[v] / p.total()) for v in p}
            assert sum(max(0, a - b) for a, b in share.values()) <= 0.5 + 1e-9
            assert max((a - b) / b for a, b in share.values()) <= 4 + 1e-9
    with target.open(encoding="utf-8") as file:
        own = {row["id"]: row["ill"] for row in csv.DictReader(file)}
    assert all(own[str(row["id"])] == row["ill"] for row in rows), "cells keep their own text"
    merged = next(text for text in release.warnings if "spellings read as" in text)
    assert merged.startswith("ill: 9 spellings read as 4 values.")
    alone = next(text for text in release.warnings if "occurs in one row only" in text)
    assert alone.startswith("ill: 1 spelling")
    assert not any("FLU" in text for text in release.warnings), "no spelling is printed"


def test_every_engine_publishes_the_same_rows(tmp_path: Path) -> None:
    chance = random.Random(2)
    forms = ["low", "LOW", "mid", "mid ", "high", "N/A", "", "1", "1.0"]
    rows = [
        {"age": chance.choice([*map(str, range(20, 40)), "?"]), "pay": chance.choice(forms)}
        for _ in range(200)
    ]
    table = write(tmp_path / "in.csv", rows)
    policy = {
        "columns": {"age": "quasi", "pay": "sensitive"},
        "constraints": [{"k": 4}, {"t": 0.6, "of": "pay"}, {"l": 3, "of": "pay"}],
        "read": {"missing": ["N/A", "?"]},
        "seed": 11,
    }
    for i, engine in enumerate(ENGINES):
        shoal.run(table, policy, tmp_path / f"{i}.csv", **engine)
    assert lines(tmp_path / "0.csv") == lines(tmp_path / "1.csv")


RESPELLED = (
    str.upper,
    lambda text: f" {text} ",
    lambda text: text.replace("a", "ａ"),
    lambda text: f"{text}.0" if text.isdigit() else text,
)
POLICY: dict[str, Any] = {
    "columns": {
        "town": "quasi",
        "ill": {"role": "sensitive"},
        "pay": {"role": "sensitive", "kind": "ordered"},
    },
    "constraints": [
        {"l": 1, "of": "ill"},
        {"recursive-l": 2, "of": "ill", "c": 2},
        {"beta": 1, "of": "ill", "enhanced": True},
        {"recursive-l": 2, "of": "pay", "c": 2},
    ],
}


@examples(25)
@given(st.data())
def test_respelling_values_never_strengthens_a_finding(data: st.DataObject) -> None:
    row = st.tuples(
        st.sampled_from("AB"), st.sampled_from(["a", "b", "ab", None]), st.sampled_from("012")
    )
    rows = data.draw(st.lists(row, min_size=4, max_size=24))
    spell = st.sampled_from([str, str, *RESPELLED])
    respelled = [
        (town, ill and data.draw(spell)(ill), data.draw(spell)(pay)) for town, ill, pay in rows
    ]

    def found(rows: list[Any]) -> dict[Any, float]:
        columns = zip(*rows, strict=True)
        table = pa.table(dict(zip(("town", "ill", "pay"), map(list, columns), strict=True)))
        verification = shoal.verify(table, POLICY)
        return {
            (one.model, one.of, *one.options.items()): one.reached
            for one in (*verification.strengths, *verification.findings)
        }

    before, after = found(rows), found(respelled)
    assert before.keys() == after.keys()
    assert {model for model, *_ in before} >= {"l", "alpha", "entropy-l", "t", "beta", "delta"}
    for key in before:
        high_is_strong = key[0] in ("k", "l", "entropy-l", "recursive-l")
        stronger, weaker = (after, before) if high_is_strong else (before, after)
        assert stronger[key] <= weaker[key] + 1e-9, key


def test_nine_missing_beside_one_hiv_are_no_share_of_a_tenth() -> None:
    table = pa.table({"town": ["A"] * 10, "ill": [None] * 9 + ["HIV"]})
    policy = {
        "columns": {"town": "quasi", "ill": "sensitive"},
        "constraints": [{"alpha": 0.5, "of": "ill"}],
    }
    assert shoal.verify(table, policy)[0].reached == 1


def test_codes_in_a_population_and_in_known_people_are_missing_too() -> None:
    rows = ages()
    policy: dict[str, Any] = {
        "columns": {"age": {"role": "quasi", "missing": ["NA"]}, "ill": "sensitive"},
        "constraints": [{"k": 3}, {"k-map": 3}],
        "population": pa.Table.from_pylist([*rows, *rows]),
        "seed": 2,
    }
    release = shoal.anonymize(pa.Table.from_pylist(rows), policy)
    assert all(finding.holds for finding in release.findings)
    nulls = [row | {"age": None if row["age"] == "NA" else row["age"]} for row in rows]
    same = policy | {"population": pa.Table.from_pylist([*nulls, *nulls])}
    other = shoal.anonymize(pa.Table.from_pylist(rows), same)
    assert [one.reached for one in release.findings] == [one.reached for one in other.findings]


@pytest.mark.parametrize("code", [-9, "-9", "-9.0"])
def test_a_number_as_code_is_found_in_columns_of_numbers(code: Any) -> None:
    wages = [100, 200, 300, -9, 100, 200, 300, -9]
    frame = pd.DataFrame({"age": [20, 21, 22, 23, 24, 25, -9, 27], "wage": wages})
    policy = {
        "columns": {
            "age": {"role": "quasi", "missing": [code]},
            "wage": {"role": "sensitive", "missing": [code]},
        },
        "constraints": [{"l": 3, "of": "wage"}],
    }
    for table in (frame, frame.astype(float), frame.astype(str)):
        release = shoal.anonymize(table, policy)
        found = release.table.groupby("age", dropna=False)["wage"].agg(list)
        kept = [{float(w) for w in each} - {-9.0} for each in found]
        assert min(map(len, kept)) == 3
        assert not any("-9" in str(label) for label in release.table["age"])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_draft_lists_likely_codes_and_runs(tmp_path: Path, engine: dict[str, Any]) -> None:
    chance = random.Random(9)
    rows = [
        {
            "age": chance.choice([*map(str, range(20, 60)), "NA"]),
            "satisfaction": chance.choice("123456789"),
            "salary": chance.choice(["1100", "1200", "1300", "1400", "-9", "?"]),
        }
        for _ in range(300)
    ]
    table = write(tmp_path / "in.csv", rows)
    columns = {column.name: column for column in shoal.inspect(table, **engine).columns}
    assert columns["age"].likely_missing == ("NA",)
    assert columns["age"].type == "whole numbers", "a code among numbers leaves them numbers"
    assert columns["satisfaction"].likely_missing == (), "a scale from 1 to 9 has no code"
    assert columns["salary"].likely_missing == ("-9", "?")
    draft = shoal.draft_policy(table, **engine)
    assert "age: {role: quasi, kind: ordered, hierarchy: {intervals: [" in draft.text
    assert draft.decided("quasi").policy.columns["age"].missing == ("NA",)
    assert draft.undecided == ("satisfaction",)
    draft = draft.decided("quasi")
    assert 'salary: {role: sensitive, missing: [-9, "?"]}' in draft.text
    shown = CliRunner().invoke(app, ["inspect", str(table)]).output
    assert "Likely codes for missing values" in shown
    target = tmp_path / "out.csv"
    shoal.run(table, draft.policy, target, **engine)
    found = classes(target, list(draft.policy.quasi), "salary")
    assert min(len(set(known(texts))) for texts in found) >= 3


def test_a_person_with_two_spellings_of_a_value_has_one(tmp_path: Path) -> None:
    chance = random.Random(6)
    forms = ["HIV", "hiv", "flu", "Flu ", "gout", "NA"]
    rows = [
        {"id": i // 2, "age": chance.randint(20, 50), "ill": chance.choice(forms)}
        for i in range(160)
    ]
    table = write(tmp_path / "in.csv", rows)
    policy = {
        "columns": {
            "id": "person",
            "age": "quasi",
            "ill": {"role": "sensitive", "missing": ["NA"]},
        },
        "constraints": [{"k": 3}, {"l": 2, "of": "ill"}, {"t": 0.7, "of": "ill"}],
        "seed": 4,
    }
    found = []
    for i, engine in enumerate(ENGINES):
        release = shoal.run(table, policy, tmp_path / f"{i}.csv", **engine)
        found.append(release.findings)
    assert lines(tmp_path / "0.csv") == lines(tmp_path / "1.csv")
    assert found[0] == found[1]
    assert {finding.counted for finding in found[0]} == {"people"}
    assert all(finding.holds for finding in found[0])
