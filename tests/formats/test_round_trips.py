"""The same release from every format, and what is published comes back equal through other libraries."""

import datetime as dt
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.engines.files import LocalFiles
from shoal.engines.formats.base import file_formats, format_of
from shoal.errors import InputError, VerificationFailed
from shoal.verification.digest import digest_of

ENDINGS = ["csv", "parquet", "arrow", "orc", "xlsx", "dta", "sav", "zsav", "jsonl", "jsonl.gz"]
AT_ONCE = ("dta", "sav", "zsav")
POLICY = {
    "columns": {
        "age": "quasi",
        "town": "quasi",
        "disease": "sensitive",
        "cost": "plain",
        "visits": "plain",
        "seen": "plain",
        "note": "plain",
    },
    "constraints": [{"k": 3}, {"l": 2, "of": "disease"}],
    "method": {"name": "k-clustering", "block_rows": 10_000},
    "seed": 7,
}


def people(n: int = 48) -> pa.Table:
    draw = random.Random(1)
    return pa.table(
        {
            "age": [draw.randint(18, 90) for _ in range(n)],
            "town": [draw.choice(["Ath", "Huy", "Mons", None]) for _ in range(n)],
            "disease": [draw.choice(["flu", "asthma", "cancer", "gout"]) for _ in range(n)],
            "cost": [round(draw.random() * 1000, 2) for _ in range(n)],
            "visits": [draw.choice([0, 1, 2, None]) for _ in range(n)],
            "seen": [dt.date(2020, 1, 1) + dt.timedelta(draw.randint(0, 300)) for _ in range(n)],
            "note": [
                draw.choice(["=1+1", "@x", "-", "http://a.b", 'é, "q"', "TRUE", "NA"])
                for _ in range(n)
            ],
        }
    )


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digest of the release from a CSV file."""
    folder = tmp_path_factory.mktemp("csv")
    LocalFiles().write(people(), folder / "t.csv")
    shoal.run(folder / "t.csv", POLICY, folder / "o.csv")
    return digest_of(LocalFiles().read(folder / "o.csv"))


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_release_from_every_format(tmp_path: Path, ending: str, wanted: str) -> None:
    source, target = tmp_path / f"t.{ending}", tmp_path / f"o.{ending}"
    LocalFiles().write(people(), source)
    certificate = tmp_path / "o.json"
    shoal.run(source, POLICY, target, report=certificate)
    assert digest_of(LocalFiles().read(target)) == wanted
    verified = shoal.verify(target, POLICY, certificate=certificate)
    assert verified.holds
    assert verified.certificate is not None
    assert verified.certificate.differences == ()


@pytest.mark.parametrize("ending", ["xlsx", "sav", "jsonl", "orc"])
def test_the_same_release_out_of_core(tmp_path: Path, ending: str, wanted: str) -> None:
    source = tmp_path / f"t.{ending}"
    target = tmp_path / ("o.csv" if ending in AT_ONCE else f"o.{ending}")
    LocalFiles().write(people(), source)
    shoal.run(source, POLICY, target, memory="300MB")
    assert digest_of(LocalFiles().read(target)) == wanted
    assert shoal.verify(target, POLICY, memory="300MB").holds


@pytest.mark.parametrize("ending", AT_ONCE)
def test_formats_that_are_written_at_once(tmp_path: Path, ending: str) -> None:
    LocalFiles().write(people(), tmp_path / "t.csv")
    with pytest.raises(InputError, match="is written from memory, at once"):
        shoal.run(tmp_path / "t.csv", POLICY, tmp_path / f"o.{ending}", memory="300MB")
    assert not list(tmp_path.glob("o*"))


def test_every_function_takes_every_format(tmp_path: Path) -> None:
    for ending in ("xlsx", "dta", "jsonl"):
        source, target = tmp_path / f"t.{ending}", tmp_path / f"o.{ending}"
        LocalFiles().write(people(), source)
        assert len(shoal.inspect(source).columns) == 7
        assert "age: {role: quasi" in shoal.draft_policy(source).text
        shoal.anonymize(source, POLICY).write(target)
        found = shoal.attack(target, POLICY, known=source, raw=source)
        assert found.release.rows == 48
        assert shoal.assess(target, "age", policy=POLICY).reidentification.rows == 48
    assert shoal.compare(tmp_path / "t.xlsx", POLICY, methods=["mondrian"]).recommended is not None


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """A release in three formats, and its rows."""
    folder = tmp_path_factory.mktemp("published")
    LocalFiles().write(people(), folder / "t.parquet")
    for ending in ("xlsx", "dta", "sav"):
        release = shoal.run(folder / "t.parquet", POLICY, folder / f"o.{ending}")
    return folder, release.table.to_pylist()


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a pandas frame in plain Python."""

    def plain(value: Any) -> Any:
        if value == "" or pd.isna(value):
            return None
        if isinstance(value, pd.Timestamp):
            return value.date()
        return value

    return [{str(k): plain(v) for k, v in row.items()} for row in frame.to_dict("records")]


def test_a_workbook_through_pandas(published: tuple[Path, list[dict[str, Any]]]) -> None:
    folder, rows = published
    frame = pd.read_excel(
        folder / "o.xlsx", engine="openpyxl", keep_default_na=False, na_values=[""]
    )
    assert rows_of(frame) == rows


def test_a_workbook_has_no_formula(published: tuple[Path, list[dict[str, Any]]]) -> None:
    import zipfile

    folder, rows = published
    assert any(row["note"] == "=1+1" for row in rows)
    with zipfile.ZipFile(folder / "o.xlsx") as parts:
        sheet = parts.read("xl/worksheets/sheet1.xml")
        assert b"<f>" not in sheet
        assert b"hyperlink" not in sheet
        assert b"=1+1" in sheet


def test_stata_through_pandas(published: tuple[Path, list[dict[str, Any]]]) -> None:
    folder, rows = published
    assert rows_of(pd.read_stata(folder / "o.dta")) == rows


@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_through_pyreadstat(published: tuple[Path, list[dict[str, Any]]], ending: str) -> None:
    folder, rows = published
    frame, _ = vars(pyreadstat)[f"read_{ending}"](str(folder / f"o.{ending}"))
    assert rows_of(frame) == rows


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cn"], exclude_characters="\0"), max_size=6)
COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXTS,
    "whole": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(allow_infinity=False),
    "flag": st.booleans(),
    "day": st.dates(dt.date(1600, 1, 1), dt.date(2500, 1, 1)),
    "moment": st.datetimes(dt.datetime(1900, 3, 1), dt.datetime(2200, 1, 1)),
    "clock": st.times(),
    "money": st.decimals(-999, 999, places=2),
}
KINDS = {
    "text": pa.string(),
    "whole": pa.int64(),
    "float": pa.float64(),
    "flag": pa.bool_(),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
    "clock": pa.time64("us"),
    "money": pa.decimal128(5, 2),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    n = draw(st.integers(1, 4))
    return pa.table(
        {
            name: pa.array(draw(st.lists(st.none() | each, min_size=n, max_size=n)), KINDS[name])
            for name, each in COLUMNS.items()
        }
    )


@settings(max_examples=8, deadline=None)
@given(tables())
def test_any_table_comes_back_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, table: pa.Table
) -> None:
    """The plain comparison, value by value; what a format cannot hold is never published."""
    folder = tmp_path_factory.mktemp("any")
    for ending in ("xlsx", "dta", "sav", "jsonl", "orc"):
        path = folder / f"t.{ending}"
        try:
            LocalFiles().write(table, path)
        except (InputError, VerificationFailed):
            continue
        back = LocalFiles().read(path)
        assert back.column_names == table.column_names
        for name in table.column_names:
            trim = ending == "sav"
            given = [same(value, trim) for value in table[name].to_pylist()]
            assert [same(value, trim) for value in back[name].to_pylist()] == given, (ending, name)


def same(value: Any, trim: bool) -> Any:
    """A value as text, however a format stores it: numbers by value, moments in ISO form."""
    if value is None or value != value or value == "":
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.datetime):
        value = value.isoformat().removesuffix("T00:00:00")
    elif isinstance(value, dt.date | dt.time):
        value = value.isoformat()
    if isinstance(value, int | float | Decimal):
        return Decimal(repr(value) if isinstance(value, float) else value).normalize()
    text = value.rstrip(" ") if trim else value
    try:
        number = (
            Decimal(text) if text.strip() == text and text.isascii() and "_" not in text else None
        )
    except ArithmeticError:
        number = None
    if number is not None and number.is_finite():
        return number.normalize()
    return text.replace(" ", "T").removesuffix("T00:00:00").rstrip("0") or None


def test_a_file_that_loses_values_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = format_of(Path("t.xlsx"))
    write = type(kind).write

    def careless(self: Any, table: pa.Table, path: Path, options: Any) -> None:
        at = table.column_names.index("cost")
        write(self, table.set_column(at, "cost", pa.nulls(len(table), pa.float64())), path, options)

    monkeypatch.setattr(type(kind), "write", careless)
    LocalFiles().write(people(), tmp_path / "t.csv")
    with pytest.raises(
        VerificationFailed, match="in column 'cost', so nothing was published"
    ) as error:
        shoal.run(tmp_path / "t.csv", POLICY, tmp_path / "o.xlsx")
    assert str(error.value).startswith(str(tmp_path / "o.xlsx"))
    assert not list(tmp_path.glob("*o.xlsx*"))


def test_a_format_is_one_file() -> None:
    found = file_formats()
    assert list(found) == [
        "csv",
        "arrow",
        "excel",
        "json-lines",
        "orc",
        "parquet",
        "sas",
        "spss",
        "stata",
    ]
    folder = Path(shoal.__file__).parent / "engines" / "formats"
    for name, kind in found.items():
        assert (folder / f"{name.replace('-', '_')}.py").exists()
        assert type(kind).__doc__
        assert kind.title.startswith(("a ", "an "))
