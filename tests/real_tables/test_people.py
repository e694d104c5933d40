"""Tables with several rows per person: what a run promises holds when people are counted.

People are counted by plain code from the written file and its key.
"""

import csv
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

import shoal

QUASI = ["age", "sex", "site"]
COLUMNS: dict[str, Any] = {
    "patient": "person",
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20, 40]}},
    "sex": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "site": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "outcome": "sensitive",
    "visit": "plain",
}
PARTS = {**COLUMNS, "age": "quasi", "sex": "quasi", "site": "quasi"}
"""The same for methods that need no hierarchies."""
METHODS: list[Any] = [
    "least-loss-partition",
    "flexible-partition",
    "mondrian",
    "k-clustering",
    "top-down",
    "bottom-up",
    "datafly",
    "optimal",
]
WITH_HIERARCHIES = ("datafly", "optimal", "incognito", "classfly", "classfly-plus")


def clinical_trial(path: Path) -> Path:
    """A trial with one to eight visits a patient; some patients are children, which is rare."""
    draw, rows = Random(5), []
    for patient in range(120):
        age = draw.choice([7, 11]) if patient in (3, 77) else draw.randint(35, 80)
        sex, site = draw.choice("fm"), draw.choice(["N1", "N2", "S1"])
        for visit in range(draw.randint(1, 8)):
            outcome = draw.choice(["better", "better", "same", "worse"])
            # ids are written by hand, each site in its own way
            name = draw.choice([f"PT-{patient:03d}", f"pt-{patient:03d}", f" PT-{patient:03d} "])
            rows.append([name, age, sex, site, outcome, visit])
    draw.shuffle(rows)
    return written(path, rows)


def five_rows_each(path: Path) -> Path:
    """80 people with five equal rows each: every class of five rows may be one person."""
    draw, rows = Random(6), []
    for person in range(80):
        shared = [person, draw.randint(18, 90), draw.choice("fm"), draw.choice(["N1", "N2", "S1"])]
        rows += [[*shared, draw.choice(["better", "same", "worse"]), visit] for visit in range(5)]
    draw.shuffle(rows)
    return written(path, rows)


def written(path: Path, rows: list[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(COLUMNS), *rows])
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def people_of_classes(key: Path) -> list[dict[str, set[str]]]:
    """Per class of the release, its people with the outcomes that each has."""
    found: dict[Any, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows_of(key):
        found[tuple(row[name] for name in QUASI)][row["person"]].add(row["outcome"])
    return [dict(people) for people in found.values()]


def run(source: Path, method: Any, constraints: list[dict[str, Any]], role: Any = "person") -> Any:
    columns = COLUMNS if method in WITH_HIERARCHIES else PARTS
    policy = {
        "columns": {**columns, "patient": role},
        "constraints": constraints,
        "method": method,
        "seed": 9,
    }
    folder = source.parent
    return shoal.run(
        source, policy, folder / "out.csv", key=folder / "key.csv", force=True
    ), shoal.Policy.load(policy)


@pytest.mark.parametrize("table", [clinical_trial, five_rows_each])
@pytest.mark.parametrize("method", METHODS)
def test_k_holds_in_people(table: Any, method: Any, tmp_path: Path) -> None:
    release, policy = run(table(tmp_path / "in.csv"), method, [{"k": 5}])
    classes = people_of_classes(tmp_path / "key.csv")
    assert min(map(len, classes)) >= 5
    assert release.findings[0].reached == min(map(len, classes))
    assert release.published_people == len({p for people in classes for p in people})
    # the key is the release: the same rows, each with one more cell
    published = sorted(tuple(row.values()) for row in rows_of(tmp_path / "out.csv"))
    keyed = sorted(
        tuple(value for name, value in row.items() if name != "person")
        for row in rows_of(tmp_path / "key.csv")
    )
    assert keyed == published
    found = shoal.verify(tmp_path / "out.csv", policy, key=tmp_path / "key.csv")
    assert found.holds
    assert found.people == release.published_people


def test_the_trial_with_rows_counted_would_mislead(tmp_path: Path) -> None:
    """The same table without the role person: classes of five rows hold fewer people."""
    source = clinical_trial(tmp_path / "in.csv")
    columns = {**PARTS, "patient": "plain"}
    policy = {"columns": columns, "constraints": [{"k": 5}], "seed": 9}
    with pytest.warns(shoal.ShoalWarning):
        shoal.run(source, policy, tmp_path / "out.csv")
    people: dict[Any, set[str]] = defaultdict(set)
    for row in rows_of(tmp_path / "out.csv"):
        people[tuple(row[name] for name in QUASI)].add(row["patient"].strip().lower())
    assert min(map(len, people.values())) < 5


@pytest.mark.parametrize("method", ["least-loss-partition", "mondrian", "k-clustering"])
def test_l_holds_in_people(method: Any, tmp_path: Path) -> None:
    source = clinical_trial(tmp_path / "in.csv")
    run(source, method, [{"k": 4}, {"l": 2, "of": "outcome"}])
    for people in people_of_classes(tmp_path / "key.csv"):
        assert len(people) >= 4
        values = set().union(*people.values())
        assert len(values) >= 2
        for value in values:
            assert sum(value not in has for has in people.values()) >= 1


def test_alpha_is_a_share_of_people(tmp_path: Path) -> None:
    source = clinical_trial(tmp_path / "in.csv")
    run(source, "least-loss-partition", [{"k": 3}, {"alpha": 0.9, "of": "outcome"}])
    for people in people_of_classes(tmp_path / "key.csv"):
        for value in set().union(*people.values()):
            assert sum(value in has for has in people.values()) <= 0.9 * len(people)


def test_ids_that_are_one_person_are_reported(tmp_path: Path) -> None:
    release, _ = run(clinical_trial(tmp_path / "in.csv"), "least-loss-partition", [{"k": 5}])
    spellings = {row["patient"] for row in rows_of(tmp_path / "in.csv")}
    assert release.people == 120
    merged = len(spellings) - 120
    assert release.measured.merged_ids == merged
    (warning,) = [text for text in release.warnings if "read as the same person" in text]
    assert warning.startswith(f"{merged:,} ids of patient differ from another only in case, blanks")
    assert not any(name in warning for name in spellings)


def test_rows_of_a_person_together(tmp_path: Path) -> None:
    """For every person the classes of her rows are shared, all of them, by at least k people."""
    source = clinical_trial(tmp_path / "in.csv")
    role = {"role": "person", "together": True}
    release, _ = run(source, "least-loss-partition", [{"k": 3}], role)
    classes: dict[str, set[Any]] = defaultdict(set)
    for row in rows_of(tmp_path / "key.csv"):
        classes[row["person"]].add(tuple(row[name] for name in QUASI))
    for mine in classes.values():
        assert sum(mine <= others for others in classes.values()) >= 3
    assert release.published_people == len(classes)


def test_suppression_is_bounded_for_people_too(tmp_path: Path) -> None:
    # one patient of 20 has a single row that fits no other: 1 row of 191, but 1 person of 20
    rows = [[p, 40, "f", "N1", "same", visit] for p in range(19) for visit in range(10)]
    rows.append([99, 7, "m", "S9", "worse", 0])
    source = written(tmp_path / "in.csv", rows)
    policy = {
        "columns": COLUMNS,
        "constraints": [{"k": 5}],
        "method": "optimal",
        "seed": 9,
        "suppression": 0.02,
    }
    loose = shoal.run(source, {**policy, "suppression": 0.06}, tmp_path / "out.csv")
    assert (loose.suppressed_rows, loose.suppressed_people) == (1, 1)
    with pytest.raises(shoal.Infeasible) as caught:
        shoal.run(source, policy, tmp_path / "other.csv")
    assert str(caught.value) == (
        "1 of 20 people (5.0%, with 1 of 191 rows) would have to be suppressed, but the policy "
        "allows 2.0% of the rows and of the people. Raise `suppression` to at least 0.05, or "
        "loosen the constraints."
    )


def refused(source: Path, **changes: Any) -> str:
    policy: dict[str, Any] = {"columns": PARTS, "constraints": [{"k": 5}], "seed": 9, **changes}
    before = sorted(source.parent.iterdir())
    with pytest.raises(shoal.ShoalError) as caught:
        shoal.run(source, policy, source.parent / "out.csv")
    assert sorted(source.parent.iterdir()) == before
    assert "\n" not in str(caught.value)
    return f"{caught.value.exit_code}: {caught.value}"


def rows_with(ids: list[Any]) -> list[list[Any]]:
    return [[name, 30 + i, "f", "N1", "same", 0] for i, name in enumerate(ids)]


def test_bad_ids_stop_the_run(tmp_path: Path) -> None:
    table = tmp_path / "in.csv"
    assert refused(written(table, rows_with(["", " ", "\t"]))).startswith(
        "2: Column 'patient' has the role person, but all of its values are missing."
    )
    message = refused(written(table, rows_with(["zoe", "", "ben", "  "])))
    assert message.startswith(
        "2: Column 'patient' has the role person, but 2 of 4 rows have no id (data rows 2, 4)"
    )
    assert "zoe" not in message
    assert refused(written(table, rows_with(["x", "X ", "x"]))).startswith(
        "2: Column 'patient' has the role person, but all 3 rows have the same id"
    )
    table.write_text("age,sex,site,outcome,visit\n30,f,N1,same,0\n")
    assert "columns.patient: the table has no such column" in refused(table)


def test_fewer_people_than_k_names_the_largest(tmp_path: Path) -> None:
    source = written(tmp_path / "in.csv", rows_with(["a", "a", "a", "b", "b", "c", "c", "c"]))
    assert refused(source) == (
        "3: The table has 3 people, but k = 5 was required. The largest k it allows is 3: lower k or "
        "add people."
    )


def test_one_column_tells_people_apart(tmp_path: Path) -> None:
    source = written(tmp_path / "in.csv", rows_with(list("abcdef")))
    message = refused(source, columns={**PARTS, "visit": "person"})
    assert message.startswith("2: columns: patient, visit all have the role person")


def test_together_is_for_people_alone(tmp_path: Path) -> None:
    source = written(tmp_path / "in.csv", rows_with(list("abcdef")))
    message = refused(source, columns={**PARTS, "age": {"role": "quasi", "together": True}})
    assert "together" in message
    assert "person" in message
    assert message.startswith("2: ")


def test_kept_order_is_warned_of(tmp_path: Path) -> None:
    source = five_rows_each(tmp_path / "in.csv")
    policy = {"columns": PARTS, "constraints": [{"k": 5}], "seed": 9, "order": "kept"}
    release = shoal.run(source, policy, tmp_path / "out.csv")
    assert any("rows beside each other may be one person's" in text for text in release.warnings)
