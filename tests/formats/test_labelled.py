"""Stata, SPSS and SAS files: labels, missing codes and types as a user of these programs sees them."""

import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

import shoal
from shoal.engines.files import LocalFiles
from shoal.engines.formats import labelled
from shoal.engines.formats.base import format_of
from shoal.engines.sources import source_at
from shoal.errors import InputError
from shoal.io.csv_dialect import DETECT, CsvOptions

FRAME = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 9.0, 2.0],
        "age": [31.0, 36.0, 98.0, 50.0],
        "score": [0.5, 1.0, float("nan"), 2.0],
        "rank": [1.0, 2.0, 3.0, 0.0],
        "name": ["Ann", "", "Zoë ", "d"],
        "born": [dt.date(1999, 12, 31), None, dt.date(1850, 2, 3), dt.date(2001, 1, 1)],
        "seen": [dt.datetime(2020, 1, 1, 3, 4, 5)] * 4,
        "at": [dt.time(8, 30)] * 4,
    }
)
LABELS = {"sex": {1: "male", 2: "female", 9: "refused"}, "rank": {0: "none"}}
WANTED: dict[str, list[Any]] = {
    "sex": ["male", "female", None, "female"],
    "age": [31, 36, None, 50],
    "score": [0.5, 1.0, None, 2.0],
    "rank": [1, 2, 3, 0],
    "name": ["Ann", None, "Zoë", "d"],
    "born": [dt.date(1999, 12, 31), None, dt.date(1850, 2, 3), dt.date(2001, 1, 1)],
    "seen": [dt.datetime(2020, 1, 1, 3, 4, 5)] * 4,
    "at": [dt.time(8, 30)] * 4,
}
"""What a person would write down from the screen of SPSS."""
PARTLY = (
    "Column 'rank' has labels for 1 value and others without, so it was read by its codes."
)  # fmt: skip


def read(path: Path, options: CsvOptions = DETECT) -> pa.Table:
    return LocalFiles().read(path, options)


def spss(path: Path) -> Path:
    pyreadstat.write_sav(
        FRAME,
        str(path),
        column_labels={"sex": "Sex of the patient"},
        variable_value_labels=LABELS,
        missing_ranges={"sex": [9], "age": [{"lo": 97, "hi": 99}]},
        compress=path.suffix == ".zsav",
    )
    return path


@pytest.mark.parametrize("ending", [".sav", ".zsav"])
def test_spss_labels_and_missing_codes(tmp_path: Path, ending: str) -> None:
    path = spss(tmp_path / f"t{ending}")
    assert read(path).to_pydict() == WANTED
    source = source_at(path)
    assert source.warnings == (PARTLY,)
    assert source.rows == 4
    sex = source.options.variables[0]
    assert (sex.label, sex.codes) == ("Sex of the patient", ((1, "male"), (2, "female")))
    kinds = {field.name: str(field.type) for field in read(path).schema}
    assert (kinds["age"], kinds["score"], kinds["born"]) == ("int64", "double", "date32[day]")


def test_codes_where_they_are_asked_for(tmp_path: Path) -> None:
    codes = CsvOptions(labels=False)
    path = spss(tmp_path / "t.sav")
    assert read(path, codes).to_pydict() == WANTED | {"sex": [1, 2, None, 2]}
    assert source_at(path, codes).warnings == ()


def test_values_that_share_a_label_are_read_by_code(tmp_path: Path) -> None:
    frame = pd.DataFrame({"town": [1, 2, 3]})
    names = {"town": {1: "Ath", 2: "other", 3: "other"}}
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_value_labels=names)
    assert read(tmp_path / "t.sav").to_pydict() == {"town": [1, 2, 3]}
    assert "values that share a label" in source_at(tmp_path / "t.sav").warnings[0]


def test_times_of_more_than_a_day_are_durations(tmp_path: Path) -> None:
    path = tmp_path / "t.sav"
    frame = pd.DataFrame(
        {"stay": [3600.0, 90_000.5, None], "at": [60.0, 86_399.0, 0.0], "n": [1, 2, 3]}
    )
    pyreadstat.write_sav(frame, str(path), variable_format={"stay": "TIME11.2", "at": "TIME8"})
    wanted = {
        "stay": [dt.timedelta(hours=1), dt.timedelta(seconds=90_000.5), None],
        "at": [dt.time(0, 1), dt.time(23, 59, 59), dt.time(0, 0)],
    }
    assert read(path).to_pydict() == wanted | {"n": [1, 2, 3]}
    for name, values in wanted.items():
        assert LocalFiles().read(path, columns=[name]).to_pydict() == {name: values}


def test_a_date_beyond_all_calendars(tmp_path: Path) -> None:
    frame = pd.DataFrame({"day": [1e12]})
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_format={"day": "DATE11"})
    with pytest.raises(InputError, match="has a date before the year 1 or after 9999"):
        read(tmp_path / "t.sav")


def test_stata(tmp_path: Path) -> None:
    path = tmp_path / "t.dta"
    frame = pd.DataFrame(
        {
            "n": pd.array([1, 2, None], dtype="Int16"),
            "sex": pd.Categorical(["f", "m", "f"], categories=["f", "m", "x"]),
            "day": pd.to_datetime(["2020-01-01", "2021-05-06", None]),
            "text": ["x", "", "é"],
        }
    )
    frame.to_stata(path, write_index=False, version=118, convert_dates={"day": "td"})
    assert read(path).to_pydict() == {
        "n": [1, 2, None],
        "sex": ["f", "m", "f"],
        "day": [dt.date(2020, 1, 1), dt.date(2021, 5, 6), None],
        "text": ["x", None, "é"],
    }
    # the category that nobody has is no value label of the release either
    assert source_at(path).options.variables[1].codes == ((0, "f"), (1, "m"))


def test_stata_missing_codes(tmp_path: Path) -> None:
    path = tmp_path / "t.dta"
    pyreadstat.write_dta(
        pd.DataFrame({"age": [31, "a", 36, "b"]}),
        str(path),
        missing_user_values={"age": ["a", "b"]},
        variable_value_labels={"age": {"a": "refused"}},
    )
    assert read(path).to_pydict() == {"age": [31, None, 36, None]}


def test_transport_and_portable_files(tmp_path: Path) -> None:
    frame = pd.DataFrame({"AGE": [31.0, None, 36.5], "TOWN": ["Ath", "", "Huy"]})
    wanted = {"AGE": [31.0, None, 36.5], "TOWN": ["Ath", None, "Huy"]}
    pyreadstat.write_xport(frame, str(tmp_path / "t.xpt"), file_format_version=5)
    assert read(tmp_path / "t.xpt").to_pydict() == wanted
    pyreadstat.write_por(frame, str(tmp_path / "t.por"))
    assert read(tmp_path / "t.por").to_pydict() == wanted


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt"])
def test_parts_are_the_whole(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Types are those of all rows, also of those that come last."""
    frame = pd.DataFrame({"A": [*map(float, range(9)), 0.5], "B": [*(["x"] * 9), "y"]})
    path = tmp_path / f"t{ending}"
    writer = {".sav": "write_sav", ".dta": "write_dta", ".xpt": "write_xport"}[ending]
    vars(pyreadstat)[writer](frame, str(path))
    whole = read(path)
    monkeypatch.setattr(labelled, "CHUNK", 4)
    assert read(path).equals(whole)
    assert whole["A"].to_pylist() == frame["A"].tolist()
    source = source_at(path)
    parts = list(format_of(path).batches(path, source.options, ["A", "B"], 4))
    assert [part.num_rows for part in parts] == [4, 4, 2]
    assert pa.Table.from_batches(parts).equals(whole)


POLICY = {
    "columns": {"age": "quasi", "sex": "sensitive", "score": "plain", "name": "identifier"},
    "constraints": [{"k": 2}],
    "default": "drop",
    "seed": 1,
}


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_labels_of_what_is_published(tmp_path: Path, ending: str) -> None:
    """A release keeps variable labels and the labels of published values, with their codes."""
    source = spss(tmp_path / "t.sav")
    target = tmp_path / f"out.{ending}"
    shoal.run(source, POLICY, target)
    frame, about = vars(pyreadstat)[f"read_{ending}"](str(target))
    assert about.column_names_to_labels["sex"] == "Sex of the patient"
    assert about.variable_value_labels == {"sex": {1: "male", 2: "female"}}
    assert sorted(frame["sex"].dropna()) == [1, 2, 2]
    assert set(frame["age"]) <= {"[31~36]", "*", "[31~50]", "[36~50]"}
    assert "name" not in frame
    verification = shoal.verify(target, POLICY)
    assert verification.holds


def test_generalised_values_have_labels_of_their_own(tmp_path: Path) -> None:
    frame = pd.DataFrame({"edu": [1, 2, 3, 4], "x": [1, 2, 3, 4]})
    names = {"edu": {1: "none", 2: "school", 3: "college", 4: "master"}}
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_value_labels=names)
    policy = {"columns": {"edu": "quasi", "x": "plain"}, "constraints": [{"k": 2}], "seed": 1}
    release = shoal.run(tmp_path / "t.sav", policy, tmp_path / "o.sav")
    _, about = pyreadstat.read_sav(str(tmp_path / "o.sav"))
    labels = about.variable_value_labels["edu"]
    assert set(labels.values()) == set(release.table["edu"].to_pylist())
    assert min(labels) == 5  # new texts have new codes
    assert all(text.startswith("{") for text in labels.values())


@pytest.mark.parametrize(
    ("ending", "name"),
    [
        (".dta", "blood pressure"),
        (".dta", "1st"),
        (".dta", "int"),
        (".dta", "x" * 33),
        (".sav", "blood pressure"),
        (".sav", "_x"),
        (".sav", "with"),
        (".sav", "x" * 65),
    ],
)
def test_names_that_a_program_does_not_allow(tmp_path: Path, ending: str, name: str) -> None:
    source = tmp_path / "t.csv"
    source.write_text(f"{name}\n1\n2\n")
    policy = {"columns": {name: "quasi"}, "constraints": [{"k": 2}]}
    with pytest.raises(InputError, match="does not allow the column name") as error:
        shoal.run(source, policy, tmp_path / f"o{ending}")
    assert repr(name) in str(error.value)
    assert not list(tmp_path.glob("o*"))


def test_the_same_table_is_the_same_file(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2], "b": ["x", None], "c": [True, False]})
    for ending in (".sav", ".zsav", ".dta"):
        path = tmp_path / f"t{ending}"
        LocalFiles().write(table, path)
        about = vars(pyreadstat)["read_dta" if ending == ".dta" else "read_sav"](str(path))[1]
        assert about.creation_time == dt.datetime(2000, 1, 1)


def test_a_value_label_that_is_too_long_for_spss(tmp_path: Path) -> None:
    towns = [f"town {'x' * 40} {i}" for i in range(4)]
    frame = pd.DataFrame({"town": [0, 1, 2, 3]})
    names = {"town": dict(enumerate(towns))}
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_value_labels=names)
    policy = {"columns": {"town": "quasi"}, "constraints": [{"k": 4}]}
    shoal.run(tmp_path / "t.sav", policy, tmp_path / "o.sav")
    texts, about = pyreadstat.read_sav(str(tmp_path / "o.sav"))
    assert about.variable_value_labels == {}  # as texts: a label of SPSS has 120 bytes
    assert texts["town"].tolist() == ["{" + ", ".join(towns) + "}"] * 4
