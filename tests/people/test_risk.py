"""Risks counted in people, against plain counting."""

import json
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from tests.examples import examples
from tests.people.tables import POLICY, people_by_class, visits


def smallest_classes(rows: list[dict[str, Any]], quasi: list[str], person: str) -> dict[str, int]:
    """Per person, how many people share the class of hers that has the fewest."""
    classes: dict[Any, set[str]] = defaultdict(set)
    for row in rows:
        classes[tuple(row[name] for name in quasi)].add(row[person])
    found: dict[str, int] = {}
    for members in classes.values():
        for one in members:
            found[one] = min(found.get(one, len(members)), len(members))
    return found


@examples(30)
@given(seed=st.integers(0, 10**6), rows=st.integers(2, 40), people=st.integers(2, 15))
def test_risks_of_people(seed: int, rows: int, people: int) -> None:
    draw = Random(seed)
    names = [f"p{draw.randrange(people)}" for _ in range(rows)] + ["x", "y"]
    table = pa.table(
        {
            "who": names,
            "age": [draw.randrange(4) for _ in names],
            "town": [draw.choice(["a", "b", None]) for _ in names],
        }
    )
    found = shoal.assess(table, ["age", "town"], person="who").reidentification
    plain = smallest_classes(table.to_pylist(), ["age", "town"], "who")
    assert found.people == len(plain)
    assert found.rows == len(names)
    assert found.unique_people == sum(n == 1 for n in plain.values())
    assert found.unique_share == pytest.approx(found.unique_people / len(plain))
    assert found.prosecutor.highest == 1 / min(plain.values())
    assert found.prosecutor.average == pytest.approx(
        sum(1 / n for n in plain.values()) / len(plain)
    )
    above = sum(1 / n > 0.2 for n in plain.values()) / len(plain)
    assert found.prosecutor.above == pytest.approx(above)
    assert found.marketer == pytest.approx(found.prosecutor.average)


def test_a_population_is_one_row_each() -> None:
    table = pa.table({"who": ["a", "a", "b", "c"], "age": [1, 2, 1, 3]})
    population = pa.table({"age": [1, 1, 1, 2, 2, 3]})
    risk = shoal.assess(table, "age", person="who", population=population).reidentification
    assert risk.basis == "population"
    # a is in the classes of 3 and 2 people, b in that of 3, c in that of 1
    assert risk.journalist.highest == 1.0
    assert risk.journalist.average == pytest.approx((1 / 2 + 1 / 3 + 1) / 3)


def test_spellings_of_an_id_are_one_person() -> None:
    table = pa.table({"who": ["Ann", " ann", "ANN ", "ben"], "age": [1, 1, 1, 2]})
    risk = shoal.assess(table, "age", person="who").reidentification
    assert (risk.people, risk.unique_people, risk.unique_rows) == (2, 2, 4)


def test_a_release_and_its_file_with_the_key(tmp_path: Path) -> None:
    release = shoal.anonymize(visits(), POLICY)
    release.write(tmp_path / "out.csv", key=tmp_path / "key.csv")
    plain = min(map(len, people_by_class(tmp_path / "key.csv", ["age", "sex"]).values()))
    for found in (
        shoal.assess(release),
        shoal.assess(tmp_path / "out.csv", policy=POLICY, key=tmp_path / "key.csv"),
    ):
        assert found.reidentification.people == 60
        assert found.reidentification.prosecutor.highest == 1 / plain
    assert "of 60 people" in repr(shoal.assess(release))
    alone = shoal.assess(tmp_path / "out.csv", policy=POLICY).reidentification
    assert alone.people is None


def test_a_policy_names_the_people_of_a_raw_table() -> None:
    found = shoal.assess(visits(), policy=POLICY).reidentification
    assert found.people == 60


def test_inspecting_counts_people(tmp_path: Path) -> None:
    table = visits(people=40)
    found = shoal.inspect(table, person="patient")
    assert found.people == 40
    roles = {column.name: column.role for column in found.columns}
    assert roles["patient"] == "person"
    assert "age" in found.quasi
    plain = smallest_classes(table.to_pylist(), list(found.quasi), "patient")
    assert found.unique_rows == sum(n == 1 for n in plain.values())
    assert found.unique_share == found.unique_rows / 40
    for one in found.search.found:
        mine = smallest_classes(table.to_pylist(), list(one.columns), "patient")
        assert one.unique_rows == sum(n == 1 for n in mine.values())
        assert one.share == one.unique_rows / 40
    assert found.risk.people == 40
    assert "of 40 people" in repr(found)
    shoal.anonymize(table, POLICY)  # the table is one that can be published

    pc.write_csv(table, tmp_path / "in.csv")
    arguments = ["inspect", str(tmp_path / "in.csv"), "--person", "patient"]
    shown = CliRunner().invoke(app, arguments).stdout
    assert "rows of 40 people" in " ".join(shown.split())
    assert f"{found.unique_rows} of 40 people" in " ".join(shown.split())
    printed = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert printed["people"] == 40


def refused(work: Any) -> str:
    with pytest.raises(shoal.InputError) as caught:
        work()
    return str(caught.value)


def test_what_is_refused(tmp_path: Path) -> None:
    table = visits(people=10)
    assert "has no column 'patiens'" in refused(lambda: shoal.inspect(table, person="patiens"))
    assert "has no column 'patiens'" in refused(
        lambda: shoal.assess(table, "age", person="patiens")
    )
    assert "not counted in people" in refused(lambda: shoal.inspect(table, person="patient", msu=2))
    holes = pa.table({"who": ["a", None, "b"], "age": [1, 2, 3]})
    assert "1 of 3 rows have no id" in refused(lambda: shoal.assess(holes, "age", person="who"))
    pq.write_table(table, tmp_path / "in.parquet")
    assert refused(
        lambda: shoal.inspect(tmp_path / "in.parquet", person="patient", memory="1GB")
    ).startswith("person: people are not counted in tables larger than memory")
    assert refused(
        lambda: shoal.assess(tmp_path / "in.parquet", policy=POLICY, memory="1GB")
    ).startswith("person: people are not counted in tables larger than memory")
