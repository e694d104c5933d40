"""One table of Adult, whichever file it comes from, and one like it where there is none."""

import csv
import hashlib
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from shoal.errors import InputError
from shoal.reproduction.adult import (
    ALL_ROWS,
    COLUMNS,
    KNOWN_ROWS,
    TRAINING_ROWS,
    adult_like,
    adult_table,
)


def write_uci(path: Path, rows: list[dict[str, object]], dot: str = "", remark: str = "") -> Path:
    """As UCI's files are: no header, 15 columns, `, ` between them."""
    lines = [remark] if remark else []
    for row in rows:
        cells = [row["age"], row["workclass"], 1, row["education"], 9, row["marital-status"]]
        cells += [row["occupation"], "Wife", row["race"], row["sex"], 0, 0, 40]
        cells += [row["native-country"], f"{row['salary-class']}{dot}"]
        lines.append(", ".join(str(cell) for cell in cells))
    path.write_text("\n".join(lines) + "\n\n")
    return path


def write_arx(path: Path, rows: list[dict[str, object]], names: tuple[str, ...] = COLUMNS) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture(scope="module")
def people() -> list[dict[str, object]]:
    return [dict(row) for row in adult_like(60, 3).to_pylist()]


def test_all_forms_give_the_same_table(tmp_path: Path, people: list[dict[str, object]]) -> None:
    unknown = people[0] | {"occupation": "?"}
    first, second = [*people[:40], unknown], people[40:]
    folder = tmp_path / "uci"
    folder.mkdir()
    write_uci(folder / "adult.data", first)
    write_uci(folder / "adult.test", second, ".", "|1x3 Cross validator")
    arx = tmp_path / "arx"
    arx.mkdir()
    write_arx(arx / "adult.csv", [*first, *second], tuple(reversed(COLUMNS)))
    table, said = adult_table(folder)
    assert table.to_pylist() == people
    assert said == "Adult, 60 complete rows, UCI files"
    for path in (arx, arx / "adult.csv"):
        other, said = adult_table(path)
        assert other.equals(table)
        assert said == "Adult, 60 complete rows, ARX-style file"
    alone, said = adult_table(folder / "adult.data")
    assert alone.equals(table.slice(0, 40))
    assert said == "Adult, 40 complete rows, one UCI file"
    assert table.schema.field("age").type == pa.int64()


def test_what_is_not_adult_is_refused(tmp_path: Path, people: list[dict[str, object]]) -> None:
    def refused(path: Path, *words: str) -> None:
        with pytest.raises(InputError) as error:
            adult_table(path)
        for word in (*words, "adult.data and adult.test"):
            assert word in str(error.value)

    refused(tmp_path / "nowhere", "is not there")
    refused(tmp_path, "a folder without any of these")
    file = tmp_path / "some.csv"
    file.write_text("name,age\nAnn,3\n")
    refused(file, "has no column sex, race")
    file.write_text("1,2,3\n")
    refused(file, "line 1", "has 3 cells, not 15")
    file.write_text("\n")
    refused(file, "no complete row")
    file.write_bytes(b"\xff\xfe\x00")
    refused(file, "cannot be read as text")
    refused(write_uci(file, [*people, people[0] | {"age": "old"}]), "line 61", "no age")
    refused(write_arx(file, [people[0] | {"race": "Zed"}]), "line 2", "a value of race")
    with pytest.raises(InputError) as error:
        adult_table(file)
    assert "Zed" not in str(error.value)


def test_made_up_rows_are_the_same_everywhere() -> None:
    table, said = adult_table(None, rows=2_000)
    assert said == "A made-up table like Adult, 2,000 rows, seed 0"
    text = "\n".join(",".join(str(cell) for cell in row.values()) for row in table.to_pylist())
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "06209be2279f5f68"
    assert table.equals(adult_table(None, rows=2_000)[0])
    assert not table.equals(adult_table(None, seed=1, rows=2_000)[0])
    assert adult_table(None)[0].num_rows == ALL_ROWS


def test_made_up_rows_are_skewed_and_tied_as_adult() -> None:
    table = adult_like(TRAINING_ROWS)
    assert tuple(table.column_names) == COLUMNS
    rows = table.to_pylist()

    def share(column: str, value: str, among: str = "", of: str = "") -> float:
        some = [row for row in rows if not among or row[among] == of]
        return Counter(row[column] for row in some)[value] / len(some)

    assert share("sex", "Male") == pytest.approx(0.675, abs=0.02)
    assert share("race", "White") == pytest.approx(0.86, abs=0.02)
    assert share("native-country", "United-States") == pytest.approx(0.91, abs=0.02)
    assert share("workclass", "Private") == pytest.approx(0.74, abs=0.03)
    assert share("education", "HS-grad") == pytest.approx(0.327, abs=0.02)
    assert share("occupation", "Craft-repair") == pytest.approx(0.133, abs=0.02)
    assert share("salary-class", ">50K") == pytest.approx(0.248, abs=0.03)
    assert share("sex", "Male", "marital-status", "Married-civ-spouse") > 0.85
    assert share("salary-class", ">50K", "education", "Doctorate") > 0.5
    assert share("salary-class", ">50K", "education", "11th") < 0.15
    assert share("sex", "Female", "occupation", "Adm-clerical") > 0.6
    assert len({row["occupation"] for row in rows}) == 14
    ages = {
        status: np.median([row["age"] for row in rows if row["marital-status"] == status])
        for status in ("Never-married", "Married-civ-spouse", "Widowed")
    }
    assert ages["Never-married"] < 30 < 38 < ages["Married-civ-spouse"] < 50 < ages["Widowed"]


@pytest.mark.parametrize(
    ("variable", "rows"), [("SHOAL_ADULT", TRAINING_ROWS), ("SHOAL_ADULT_UCI", ALL_ROWS)]
)
def test_the_real_one(variable: str, rows: int) -> None:
    table = _real(variable)
    assert table.num_rows == rows
    other = adult_like(rows)
    for name in (name for name in COLUMNS if name != "age"):
        assert set(table[name].to_pylist()) >= set(other[name].to_pylist()) - {"Holand-Netherlands"}
    distinct = table.group_by(list(COLUMNS[:7])).aggregate([]).num_rows
    assert other.group_by(list(COLUMNS[:7])).aggregate([]).num_rows == pytest.approx(
        distinct, rel=0.15
    )


def test_the_rows_of_the_paper_on_personal_protection() -> None:
    columns = ("age", "workclass", "education", "native-country", "marital-status", "race", "sex")
    table = _real("SHOAL_ADULT_UCI", columns)
    assert table.num_rows == KNOWN_ROWS
    distinct = {name: len(table[name].unique()) for name in columns}
    assert (distinct["workclass"], distinct["education"], distinct["native-country"]) == (8, 16, 41)
    ages = table["age"].to_pylist()
    assert max(ages) - min(ages) + 1 == 74
    assert table["occupation"].null_count == 7


def test_rows_need_be_complete_only_where_asked(
    tmp_path: Path, people: list[dict[str, object]]
) -> None:
    lacking = people[0] | {"occupation": "?"}
    write_uci(tmp_path / "adult.data", [*people[:5], lacking, people[1] | {"age": "?"}])
    write_uci(tmp_path / "adult.test", people[5:], ".")
    table, said = adult_table(tmp_path, columns=("age", "sex"))
    assert said == "Adult, 6 rows complete in 2 columns, one UCI file"
    assert table["occupation"].to_pylist() == [*(row["occupation"] for row in people[:5]), None]
    assert adult_table(tmp_path)[0].num_rows == len(people)
    made_up, said = adult_table(None, columns=("age", "sex"))
    assert made_up.num_rows == KNOWN_ROWS
    assert said.startswith("A made-up table like Adult, 30,169 rows")


def test_the_first_part_comes_first() -> None:
    assert _real("SHOAL_ADULT").equals(_real("SHOAL_ADULT_UCI").slice(0, TRAINING_ROWS))


def _real(variable: str, columns: tuple[str, ...] | None = None) -> pa.Table:
    if variable not in os.environ:
        reason = f"set {variable} to the folder of Adult to run this"
        print(reason)
        pytest.skip(reason)
    return adult_table(Path(os.environ[variable]), columns=columns)[0]
