"""The Adult table: read from any of its usual files, or a similar table that is made up.

Becker and Kohavi, 1996, UCI Machine Learning Repository; CC BY 4.0. It is not ours to ship.

The made-up table has the same columns and values, about as common and about as correlated. Its figures
are ours, rounded to what is widely known of the table (most people white, born in the United States and
in private work; the married older, better paid and more often men), so that groups form much as they do
on it. Only sums, products and quotients are used, so every machine draws the same rows.

The hierarchies are ours too. Their heights, counted in levels of nodes with the leaves and `*`, are
those of the paper on personalised protection: age 6, sex 2, race 3, marital status 3, education 4,
country 3, work class 3.
"""

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import Floats, Ints
from shoal.errors import InputError
from shoal.sample.people import pick, pick_given, seeded, texts

TRAINING_ROWS = 30_162
"""Complete rows of the first of the two parts it is published in, which come first here too."""
ALL_ROWS = 45_222
"""Complete rows of both."""
KNOWN_ROWS = 30_169
"""Rows of the first part that are complete but for the occupation."""

COLUMNS = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
UCI_PLACES = dict(zip(COLUMNS, (9, 0, 8, 5, 3, 13, 1, 6, 14), strict=True))
"""Where UCI's files, which have no header, hold each column."""
UCI_FIELDS = 15
SOURCES = (
    "the folder with UCI's adult.data and adult.test, one of those files, or adult.csv with a header "
    f"({', '.join(COLUMNS)})"
)

EDUCATION = {
    "school": {
        "primary school": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
        "high school begun": ["9th", "10th", "11th", "12th"],
        "high school done": ["HS-grad"],
    },
    "college": {
        "no degree of four years": ["Some-college", "Assoc-voc", "Assoc-acdm"],
        "first degree": ["Bachelors"],
        "higher degree": ["Masters", "Prof-school", "Doctorate"],
    },
}
REGIONS = {
    "North America": "United-States Canada Outlying-US(Guam-USVI-etc)",
    "Central America": "Mexico El-Salvador Guatemala Nicaragua Honduras",
    "Caribbean": "Puerto-Rico Cuba Jamaica Dominican-Republic Haiti Trinadad&Tobago",
    "South America": "Columbia Peru Ecuador",
    "western Europe": "Germany England Italy Portugal Greece France Ireland Scotland "
    "Holand-Netherlands",
    "eastern Europe": "Poland Yugoslavia Hungary",
    "eastern Asia": "China Japan Taiwan Hong South",
    "southern Asia": "Philippines India Vietnam Iran Thailand Cambodia Laos",
}
HIERARCHIES: dict[str, dict[str, Any]] = {
    "age": {"intervals": [5, 10, 20, 40]},
    "sex": {"tree": ["Male", "Female"]},
    "race": {
        "tree": {
            "white": ["White"],
            "other race": ["Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"],
        }
    },
    "marital-status": {
        "tree": {
            "married": ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"],
            "was married": ["Divorced", "Separated", "Widowed"],
            "never married": ["Never-married"],
        }
    },
    "education": {"tree": EDUCATION},
    "native-country": {"tree": {name: countries.split() for name, countries in REGIONS.items()}},
    "workclass": {
        "tree": {
            "employed": ["Private"],
            "self-employed": ["Self-emp-inc", "Self-emp-not-inc"],
            "government": ["Federal-gov", "State-gov", "Local-gov"],
            "unpaid": ["Without-pay", "Never-worked"],
        }
    },
    "salary-class": {"tree": ["<=50K", ">50K"]},
}
"""By column, as a policy takes them."""

MARITAL_SHARES = {
    "Married-civ-spouse": 466.0,
    "Never-married": 323.0,
    "Divorced": 139.0,
    "Separated": 31.0,
    "Widowed": 28.0,
    "Married-spouse-absent": 12.0,
    "Married-AF-spouse": 0.8,
}
SEX = ("Male", "Female")
WOMEN = (0.105, 0.446, 0.6, 0.604, 0.812, 0.496, 0.6)
"""Their share, by marital status."""

AGES = np.arange(17, 91)
AGES_GIVEN_MARITAL = (
    {17: 0.02, 22: 1, 28: 4, 36: 5.5, 44: 4.6, 52: 3, 62: 1.2, 70: 0.35, 80: 0.06, 85: 3e-3, 90: 0},
    {17: 3.5, 20: 7, 23: 7.5, 30: 4, 38: 1.6, 50: 0.4, 65: 0.1, 82: 0.01, 86: 0.001, 90: 0.01},
    {17: 0.01, 24: 0.8, 32: 3, 44: 4.4, 52: 2.4, 62: 0.8, 75: 0.1, 83: 0, 90: 0},
    {17: 0.05, 22: 1.4, 30: 3.4, 38: 4.4, 46: 2.4, 58: 0.7, 75: 0.05, 83: 0, 90: 0},
    {17: 0.01, 30: 0.3, 45: 1.5, 58: 3.6, 66: 3.2, 76: 1.2, 84: 0.1, 88: 0.01, 90: 0.15},
    {17: 0.3, 22: 1.5, 30: 2.8, 40: 3.2, 50: 2, 62: 0.9, 80: 0.1, 84: 0, 90: 0},
    {17: 0.5, 20: 1, 25: 4, 31: 5, 36: 2, 48: 0.7, 60: 0.1, 80: 0, 90: 0},
)
"""How common ages are, by marital status, in straight lines between those named."""

RACES = {
    "White": 860.0,
    "Black": 93.5,
    "Asian-Pac-Islander": 28.8,
    "Amer-Indian-Eskimo": 9.6,
    "Other": 7.8,
}
HOME = "United-States"
ABROAD = {
    "Mexico": (80, 1, 0, 11, 55),
    "Philippines": (1, 0, 266, 0, 0),
    "Germany": (19, 1, 0, 1, 1),
    "Puerto-Rico": (14, 3, 0, 1, 28),
    "Canada": (16, 0, 1, 0, 1),
    "India": (2, 1, 121, 1, 8),
    "El-Salvador": (14, 1, 0, 0, 5),
    "Cuba": (12, 1, 0, 0, 1),
    "England": (10, 4, 1, 0, 0),
    "China": (0.2, 0, 109, 0, 0),
    "Jamaica": (0.4, 92, 0, 0, 1),
    "South": (0.3, 0, 97, 2, 0),
    "Italy": (10, 0, 0, 0, 0),
    "Dominican-Republic": (5, 19, 0, 0, 20),
    "Japan": (1, 0.5, 80, 0, 0),
    "Guatemala": (8, 0, 0, 0.5, 4),
    "Vietnam": (0, 0, 80, 0, 0),
    "Columbia": (7, 1, 0, 0, 8),
    "Poland": (8, 0, 0, 0, 0),
    "Haiti": (0, 67, 0, 0, 1),
    "Portugal": (6, 0, 0, 0, 1),
    "Iran": (5, 0, 4, 0, 2),
    "Taiwan": (0.2, 0, 50, 0, 0),
    "Greece": (5, 0, 0, 0, 0),
    "Nicaragua": (4, 2, 0, 0, 3),
    "Peru": (4, 0, 0, 0.5, 5),
    "Ecuador": (3, 0, 0, 0, 12),
    "France": (3, 1, 1, 0, 0),
    "Ireland": (3.5, 0, 0, 0, 0),
    "Thailand": (0.2, 0, 26, 0, 0),
    "Hong": (0.1, 0, 26, 0, 0),
    "Cambodia": (0.1, 0, 25, 0, 0),
    "Trinadad&Tobago": (0.1, 21, 1, 0, 2),
    "Yugoslavia": (2.2, 0, 0, 0, 0),
    "Outlying-US(Guam-USVI-etc)": (0.3, 8, 6, 0, 0),
    "Laos": (0, 0, 20, 0, 0),
    "Scotland": (2, 0, 0, 0, 0),
    "Honduras": (1, 3, 0, 0, 1),
    "Hungary": (1.8, 0, 0, 0, 0),
    "Holand-Netherlands": (0.1, 0, 0, 0, 0),
}
"""Among ten thousand of each race, or so: those born there."""
BORN_ABROAD = (0.066, 0.063, 0.695, 0.041, 0.524)
"""The share, by race."""

EDUCATION_SHARES = {
    "HS-grad": (30, 32, 33),
    "Some-college": (30, 36, 18.5),
    "Bachelors": (0.2, 14, 19),
    "Masters": (0, 0.5, 7.2),
    "Assoc-voc": (0.8, 3.6, 4.8),
    "11th": (15, 2.6, 2.5),
    "Assoc-acdm": (0.8, 3.4, 3.6),
    "10th": (9.5, 1.7, 2.2),
    "7th-8th": (1.2, 0.7, 2.1),
    "Prof-school": (0, 0.1, 2.2),
    "9th": (3, 1.4, 1.4),
    "12th": (6.5, 2, 0.8),
    "Doctorate": (0, 0, 1.5),
    "5th-6th": (0.6, 0.8, 1.05),
    "1st-4th": (0.3, 0.4, 0.5),
    "Preschool": (0.15, 0.1, 0.17),
}
"""How common, at 17 to 20, at 21 to 24 and later."""
SCHOOLING = (1, 2, 3, 4, 2, 0, 2, 0, 0, 4, 0, 0, 4, 0, 0, 0)
"""Of each: less than high school, high school, some college, a degree, more."""

OCCUPATIONS = {
    "Craft-repair": (17.5, 19.5, 13.2, 4.3, 1.2),
    "Prof-specialty": (1.4, 2.3, 8, 28.8, 61),
    "Exec-managerial": (3, 8, 13, 26.1, 24.5),
    "Adm-clerical": (5, 13.7, 17.9, 9.9, 3.1),
    "Sales": (9.6, 10.5, 13.9, 16.4, 6.2),
    "Other-service": (21.5, 12.8, 10.7, 3.2, 1.2),
    "Machine-op-inspct": (12.3, 10.2, 4.7, 1.1, 0.4),
    "Transport-moving": (9, 8.2, 3.7, 1.1, 0.5),
    "Handlers-cleaners": (9.7, 6.3, 3.6, 1, 0.15),
    "Farming-fishing": (7, 3.8, 2.6, 1.5, 0.6),
    "Tech-support": (0.5, 1.8, 5.4, 4.4, 1.9),
    "Protective-serv": (1.2, 2.2, 3.2, 1.9, 0.5),
    "Priv-house-serv": (1.5, 0.6, 0.3, 0.1, 0.02),
    "Armed-Forces": (0.02, 0.04, 0.03, 0.02, 0.04),
}
"""How common, by schooling."""
AMONG_WOMEN = (0.12, 1.15, 0.85, 4.4, 1.1, 2.6, 0.75, 0.13, 0.3, 0.14, 1.35, 0.3, 30, 0.05)
"""How many times as common among women as among men."""

WORKCLASSES = {
    "Private": (78, 55, 66, 75, 81, 82, 95.5, 80, 93, 45, 80, 30, 100, 0),
    "Self-emp-not-inc": (13, 9.4, 9.6, 1.2, 10.6, 5.7, 2, 7.7, 1, 44, 3, 0.7, 0, 0),
    "Local-gov": (3.5, 17.4, 5.5, 7.5, 0.3, 6.1, 0.7, 6.7, 3.1, 2.9, 4.1, 46, 0, 0),
    "State-gov": (1.5, 10.2, 4.7, 6.7, 0.4, 4, 0.6, 2.5, 0.9, 1.6, 6, 18, 0, 0),
    "Self-emp-inc": (2.6, 4, 10, 0.8, 7.5, 0.9, 0.5, 1.6, 0.3, 5.5, 0.6, 0.5, 0, 0),
    "Federal-gov": (1.5, 4, 4.4, 8.8, 0.3, 1.1, 0.6, 1.6, 1.7, 0.6, 6.6, 4.7, 0, 100),
    "Without-pay": (0.02, 0, 0.01, 0.08, 0.02, 0.04, 0.07, 0.03, 0.1, 0.5, 0, 0, 0, 0),
}
"""How common, by occupation."""

SALARY = ("<=50K", ">50K")
RICH = ((0.13, 0.34, 0.44, 0.68, 0.8), (0.015, 0.045, 0.065, 0.17, 0.32))
"""The share with more than 50,000 a year, by schooling: of the married, of the others."""

VALUES = {
    "sex": SEX,
    "race": tuple(RACES),
    "marital-status": tuple(MARITAL_SHARES),
    "education": tuple(EDUCATION_SHARES),
    "native-country": (HOME, *ABROAD),
    "workclass": (*WORKCLASSES, "Never-worked"),
    "occupation": tuple(OCCUPATIONS),
    "salary-class": SALARY,
}


def adult_table(
    path: Path | None,
    seed: int = 0,
    rows: int = ALL_ROWS,
    columns: tuple[str, ...] | None = None,
) -> tuple[pa.Table, str]:
    """The complete rows, nine columns, and a sentence on what they are.

    columns: in which the rows must be complete, of the first of Adult's two parts; None for all columns
    and both parts. Without a path, made-up rows; `seed` and `rows` are for these alone.
    """
    if path is None:
        rows = rows if columns is None else min(rows, KNOWN_ROWS)
        return adult_like(rows, seed), f"A made-up table like Adult, {rows:,} rows, seed {seed}"
    parts = _parts(Path(path))
    if columns is not None:
        parts = parts[:1]
    complete, header = [], False
    for part in parts:
        header, lines = _read(part, columns or COLUMNS)
        complete += lines
    if not complete:
        raise InputError(f"{path} holds no complete row of Adult. Give {SOURCES}.")
    cells = dict(zip(COLUMNS, zip(*complete, strict=True), strict=True))
    arrays = {name: pa.array(values, pa.string()) for name, values in cells.items()}
    table = pa.table(arrays | {"age": arrays["age"].cast(pa.int64())})
    kind = "ARX-style file" if header else "UCI files" if len(parts) > 1 else "one UCI file"
    what = "complete rows" if columns is None else f"rows complete in {len(columns)} columns"
    return table, f"Adult, {table.num_rows:,} {what}, {kind}"


def _parts(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    for names in (("adult.data", "adult.test"), ("adult.data",), ("adult.csv",)):
        if all((path / name).is_file() for name in names):
            return [path / name for name in names]
    found = "is a folder without any of these" if path.is_dir() else "is not there"
    raise InputError(f"{path} {found}. Give {SOURCES}.")


def _read(path: Path, columns: tuple[str, ...]) -> tuple[bool, list[list[str | None]]]:
    """Whether the file has a header, and the nine cells of each row that is complete in some columns."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as text. Give {SOURCES}.") from error
    reader = csv.reader(StringIO(text), delimiter=";" if ";" in text else ",")
    places: list[int] | None = None
    header, width = False, UCI_FIELDS
    found: list[list[str | None]] = []
    for line in reader:
        cells = [cell.strip() for cell in line]
        if not any(cells) or cells[0].startswith("|"):  # UCI's second part opens with a remark
            continue
        if places is None:
            names = [cell.lower() for cell in cells]
            header = "age" in names
            places = _header_places(path, names) if header else list(UCI_PLACES.values())
            if header:
                width = len(cells)
                continue
        if len(cells) != width:
            raise _not_adult(path, reader.line_num, f"has {len(cells)} cells, not {width}")
        row = [cells[at] for at in places]
        row[-1] = row[-1].removesuffix(".")
        known = {n: cell for n, cell in zip(COLUMNS, row, strict=True) if cell not in ("?", "")}
        if not known.keys() >= set(columns):
            continue
        _check(path, reader.line_num, known)
        found.append([known.get(name) for name in COLUMNS])
    return header, found


def _header_places(path: Path, names: list[str]) -> list[int]:
    lacking = [name for name in COLUMNS if name not in names]
    if lacking:
        raise InputError(f"{path} has no column {', '.join(lacking)}. Give {SOURCES}.")
    return [names.index(name) for name in COLUMNS]


def _check(path: Path, line: int, row: dict[str, str]) -> None:
    for name, value in row.items():
        if name == "age":
            if not (value.isascii() and value.isdigit() and int(value) <= 120):
                raise _not_adult(path, line, "has no age in whole years up to 120")
        elif value not in VALUES[name]:
            raise _not_adult(path, line, f"has a value of {name} that Adult does not know")


def _not_adult(path: Path, line: int, found: str) -> InputError:
    return InputError(f"{path}, line {line}, {found}: this is not Adult. Give {SOURCES}.")


def adult_like(rows: int, seed: int = 0) -> pa.Table:
    """A table of made-up people."""
    rng = seeded(rows, seed)
    marital = pick(rng, rows, list(MARITAL_SHARES.values()))
    woman = pick_given(rng, marital, np.array([(1 - share, share) for share in WOMEN]))
    age = AGES[pick_given(rng, marital, _ages())]
    race = pick(rng, rows, list(RACES.values()))
    country = pick_given(rng, race, _countries())
    youth = np.where(age > 24, 2, np.where(age > 20, 1, 0))
    education = pick_given(rng, youth, np.array(list(EDUCATION_SHARES.values())).T)
    schooling = np.array(SCHOOLING)[education]
    occupation = pick_given(rng, schooling * 2 + woman, _occupations())
    workclass = pick_given(rng, occupation, np.array(list(WORKCLASSES.values())).T)
    rich = _rich(rng, marital, schooling, age)
    drawn = (
        texts(SEX, woman),
        pa.array(age, pa.int64()),
        texts(list(RACES), race),
        texts(list(MARITAL_SHARES), marital),
        texts(list(EDUCATION_SHARES), education),
        texts([HOME, *ABROAD], country),
        texts(list(WORKCLASSES), workclass),
        texts(list(OCCUPATIONS), occupation),
        texts(SALARY, rich),
    )
    return pa.table(dict(zip(COLUMNS, drawn, strict=True)))


def _ages() -> Floats:
    return np.array(
        [np.interp(AGES, list(knots), list(knots.values())) for knots in AGES_GIVEN_MARITAL]
    )


def _countries() -> Floats:
    abroad = np.array(list(ABROAD.values())).T
    share = np.array(BORN_ABROAD)[:, None]
    weights: Floats = np.hstack((1 - share, share * abroad / abroad.sum(axis=1, keepdims=True)))
    return weights


def _occupations() -> Floats:
    """(2 x schooling, occupations) weights: men and women of each schooling in turn."""
    times = np.array(AMONG_WOMEN)
    men = np.array(list(OCCUPATIONS.values())).T / (0.68 + 0.32 * times)
    weights: Floats = np.stack((men, men * times), axis=1)
    return weights.reshape(-1, men.shape[1])


def _rich(rng: np.random.Generator, marital: Ints, schooling: Ints, age: Ints) -> Ints:
    names = list(MARITAL_SHARES)
    married = (marital == names.index("Married-civ-spouse")) | (
        marital == names.index("Married-AF-spouse")
    )
    share = np.array(RICH)[np.where(married, 0, 1), schooling]
    late = np.clip((age - 18) / 20, 0, 1.15)
    rich: Ints = (rng.random(len(age)) < share * late).astype(np.int64)
    return rich
