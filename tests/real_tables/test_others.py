"""What others may know, on tables like those that offices have: counted again by plain code."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import shoal

Row = dict[str, Any]


def read(path: Path) -> list[Row]:
    return pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")


def alone(rows: list[Row], columns: list[str]) -> int:
    times = Counter(tuple(row[name] for name in columns) for row in rows)
    return sum(times[tuple(row[name] for name in columns)] == 1 for row in rows)


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], list[str]]:
    """A survey of 40 columns, in which 30 answers of few values each are drafted `plain`."""
    folder, rng, n = tmp_path_factory.mktemp("survey"), np.random.default_rng(5), 600
    quasi = {
        "age": rng.integers(18, 90, n),
        "sex": rng.choice(["f", "m"], n),
        "region": rng.choice(list("abcdefgh"), n),
    }
    answers = {f"answer{i}": rng.integers(1, 4 + i % 3, n) for i in range(30)}
    others = {f"item{i}": rng.integers(1, 3, n) for i in range(6)} | {
        "income": rng.integers(1, 9, n)
    }
    pd.DataFrame(quasi | answers | others).to_csv(folder / "survey.csv", index=False)
    return folder, list(quasi), list(answers)


def test_a_survey_whose_plain_columns_name_everybody(survey: Any) -> None:
    folder, quasi, plain = survey
    policy = {
        "columns": dict.fromkeys(quasi, "quasi")
        | dict.fromkeys(plain, "plain")
        | {"income": "sensitive"}
        | {f"item{i}": "identifier" for i in range(6)},
        "constraints": [{"k": 5}],
    }
    release = shoal.run(folder / "survey.csv", policy, folder / "release.csv", force=True)
    rows = read(folder / "release.csv")
    published = alone(rows, [*quasi, *plain])
    assert published > 0.99 * len(rows)
    found = release.disclosure
    assert (found.alone, found.plain_alone) == (published, alone(rows, plain))
    assert found.sets[-1].share > 0.5
    assert all(one.alone == alone(rows, list(one.columns)) for one in found.sets)
    assert any(
        f"{published:,} of {len(rows):,} published rows" in text for text in release.warnings
    )
    # an attacker with the raw answers finds the same people, one who knows quasi columns finds none
    attack = shoal.attack(folder / "release.csv", policy, known=folder / "survey.csv")
    assert set(attack.columns) == {*quasi, *plain}
    assert attack.release.pinned > 0.99 * len(rows)
    assert attack.release.below == attack.release.linked == len(rows)
    assert (attack.guaranteed_risk, attack.highest_risk) == (0.2, 1.0)
    narrow = shoal.attack(folder / "release.csv", policy, known=folder / "survey.csv", on=quasi)
    assert (narrow.release.pinned, narrow.release.below) == (0, 0)
    assert narrow.release.smallest is not None
    assert narrow.release.smallest >= 5


def test_a_logarithm_gives_the_wage_away() -> None:
    rng = np.random.default_rng(7)
    wage = rng.integers(300, 2_500, 400)
    table = pd.DataFrame(
        {"age": rng.integers(20, 60, 400), "lwage": [math.log(w) for w in wage], "wage": wage}
    )
    release = shoal.anonymize(table, quasi=["age", "lwage"], plain="wage", k=5)
    assert [(one.plain, one.column) for one in release.disclosure.determined] == [("wage", "lwage")]
    assert any("wage gives lwage away" in text for text in release.warnings)
    pairs = set(zip(table["wage"], table["lwage"], strict=True))
    ordered = sorted(pairs)
    assert len(pairs) == table["wage"].nunique()
    assert [log for _, log in ordered] == sorted(log for _, log in ordered)


def test_years_of_schooling_give_the_degree_away() -> None:
    degrees = {"primary": 5, "secondary": 10, "bachelor": 13, "master": 15}
    rng = np.random.default_rng(2)
    degree = rng.choice(list(degrees), 200)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 60, 200),
            "education": degree,
            "years": [degrees[d] for d in degree],
        }
    )
    release = shoal.anonymize(table, quasi=["age", "education"], plain="years", k=120)
    (found,) = release.disclosure.determined
    assert (found.plain, found.column, found.how) == ("years", "education", "one-to-one")


def test_a_unique_mail_address_warns_in_the_run(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"age": rng.integers(20, 60, 100)})
    table["mail"] = [f"someone{i}@example.org" for i in range(100)]
    table.to_csv(tmp_path / "t.csv", index=False)
    policy = {"columns": {"age": "quasi", "mail": "plain"}, "constraints": [{"k": 5}]}
    for memory in (None, "1GB"):
        release = shoal.run(
            tmp_path / "t.csv", policy, tmp_path / "r.csv", force=True, memory=memory
        )
        (found,) = release.disclosure.nearly_unique
        assert (found.column, found.alone, found.share) == ("mail", 100, 1.0)
        words = "mail is plain and published as it is, but 100.0 % of its values belong to one row"
        assert any(words in text for text in release.warnings)
        assert "example.org" not in " ".join(release.warnings)


def test_an_identifier_with_five_rows_each_warns_with_the_figure(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    who = np.repeat(np.arange(80), 5)
    table = pd.DataFrame(
        {
            "patient_id": [f"p{w}" if i % 2 else f" P{w}" for i, w in enumerate(who)],
            "age": rng.integers(20, 90, 80)[who],
            "sex": rng.choice(["f", "m"], 80)[who],
            "zip": rng.integers(100, 130, 80)[who],
            "chart": (who * 7) % 83,
        }
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    quasi = ["age", "sex", "zip"]
    roles = {"patient_id": "identifier", "chart": "plain"} | dict.fromkeys(quasi, "quasi")
    policy = {"columns": roles, "constraints": [{"k": 5}], "order": "kept"}
    release = shoal.run(tmp_path / "t.csv", policy, tmp_path / "r.csv")
    people: dict[tuple[str, ...], set[int]] = {}
    for row, w in zip(read(tmp_path / "r.csv"), who.tolist(), strict=True):
        people.setdefault(tuple(row[name] for name in quasi), set()).add(w)
    below = sum(len(one) < 5 for one in people.values())
    (found,) = release.disclosure.repeated
    assert (found.ids, found.rows, found.classes, found.below) == (80, 400, len(people), below)
    assert below > 0.9 * len(people)
    assert any(f"{below} of {len(people)} published classes" in text for text in release.warnings)
    # and the number of the chart stands for the identifier that is dropped
    dropped = [one for one in release.disclosure.determined if one.fate == "dropped"]
    assert [(one.plain, one.column) for one in dropped] == []  # two spellings of each id
    table["patient_id"] = [f"p{w}" for w in who]
    again = shoal.anonymize(table, policy)
    dropped = [one for one in again.disclosure.determined if one.fate == "dropped"]
    assert [(one.plain, one.column, one.how) for one in dropped] == [
        ("chart", "patient_id", "one-to-one")
    ]
    assert any("chart gives patient_id away" in text for text in again.warnings)
    # a pseudonym is published, and counts rows as well
    (tmp_path / "key").write_text("0123456789abcdef")
    secret = {"pseudonym": {"key_file": str(tmp_path / "key")}}
    pseudonyms = policy | secret | {"columns": roles | {"patient_id": "pseudonym"}}
    linked = shoal.anonymize(table, pseudonyms)
    (found,) = linked.disclosure.repeated
    assert (found.ids, found.below) == (80, below)
    assert any("patient_id has the role pseudonym, but 400" in text for text in linked.warnings)


def test_what_links_a_persons_rows_is_reported() -> None:
    rng = np.random.default_rng(6)
    who = np.repeat(np.arange(60), 3)
    table = pd.DataFrame(
        {
            "who": who,
            "age": rng.integers(20, 60, 60)[who],
            "chart": (who * 7) % 61,
            "pain": rng.integers(0, 4, 180),
        }
    )
    roles = {"who": "person", "age": "quasi", "chart": "plain", "pain": "plain"}
    release = shoal.anonymize(table, {"columns": roles, "constraints": [{"k": 5}]})
    assert all(len(set(charts)) == 1 for _, charts in table.groupby("who")["chart"])
    (found,) = release.disclosure.nearly_unique
    assert (found.column, found.alone, found.share, found.links) == ("chart", 60, 1.0, True)
    assert (release.disclosure.unit, release.disclosure.published) == ("person", 60)
