"""The Adult table, from any of the forms it is passed around in, or one like it that we make up.

Becker and Kohavi, 1996, UCI Machine Learning Repository; CC BY 4.0. It is not ours to ship.
"""

import csv
from io import StringIO
from pathlib import Path

import pyarrow as pa

from shoal.errors import InputError
from shoal.reproduction import _adult_like as like

TRAINING_ROWS = 30_162
"""Complete rows of the first of the two parts it is published in, which come first in our table too."""
ALL_ROWS = 45_222
"""Complete rows of both."""

_PLACES = dict(zip(like.COLUMNS, (9, 0, 8, 5, 3, 13, 1, 6, 14), strict=True))
"""Where UCI's files, which have no header, hold each column."""
_FIELDS = 15
_VALUES = {
    "sex": like.SEX,
    "race": tuple(like.RACES),
    "marital-status": tuple(like.MARITAL),
    "education": tuple(like.EDUCATION),
    "native-country": (like.HOME, *like.ABROAD),
    "workclass": (*like.WORKCLASSES, "Never-worked"),
    "occupation": tuple(like.OCCUPATIONS),
    "salary-class": like.SALARY,
}
_WANTED = (
    "the folder with UCI's adult.data and adult.test, one of those files, or adult.csv with a header "
    f"({', '.join(like.COLUMNS)})"
)


def adult_table(path: Path | None, seed: int = 0, rows: int = ALL_ROWS) -> tuple[pa.Table, str]:
    """The complete rows, nine columns, and a sentence on what they are.

    Without a path so many made-up ones; the seed and the rows are for these alone.
    """
    if path is None:
        made = like.adult_like(rows, seed)
        return made, f"A made-up table like Adult, {rows:,} rows, seed {seed}"
    parts = _parts(Path(path))
    rows_of, header = [], False
    for part in parts:
        header, lines = _read(part)
        rows_of += lines
    if not rows_of:
        raise InputError(f"{path} holds no complete row of Adult. Give {_WANTED}.")
    cells = dict(zip(like.COLUMNS, zip(*rows_of, strict=True), strict=True))
    columns = {name: pa.array(values, pa.string()) for name, values in cells.items()}
    table = pa.table(columns | {"age": columns["age"].cast(pa.int64())})
    kind = "ARX-style file" if header else "UCI files" if len(parts) > 1 else "one UCI file"
    return table, f"Adult, {table.num_rows:,} complete rows, {kind}"


def _parts(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    for names in (("adult.data", "adult.test"), ("adult.data",), ("adult.csv",)):
        if all((path / name).is_file() for name in names):
            return [path / name for name in names]
    found = "is a folder without any of these" if path.is_dir() else "is not there"
    raise InputError(f"{path} {found}. Give {_WANTED}.")


def _read(path: Path) -> tuple[bool, list[list[str]]]:
    """Whether the file has a header, and the nine cells of each complete row."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as text. Give {_WANTED}.") from error
    reader = csv.reader(StringIO(text), delimiter=";" if ";" in text else ",")
    places: list[int] | None = None
    header, width, found = False, _FIELDS, []
    for line in reader:
        cells = [cell.strip() for cell in line]
        if not any(cells) or cells[0].startswith("|"):  # UCI's second part opens with a remark
            continue
        if places is None:
            names = [cell.lower() for cell in cells]
            header = "age" in names
            places = _places(path, names) if header else list(_PLACES.values())
            if header:
                width = len(cells)
                continue
        if len(cells) != width:
            raise _not_adult(path, reader.line_num, f"has {len(cells)} cells, not {width}")
        row = [cells[at] for at in places]
        row[-1] = row[-1].removesuffix(".")
        if "?" in row or "" in row:
            continue
        _check(path, reader.line_num, row)
        found.append(row)
    return header, found


def _places(path: Path, names: list[str]) -> list[int]:
    lacking = [name for name in like.COLUMNS if name not in names]
    if lacking:
        raise InputError(f"{path} has no column {', '.join(lacking)}. Give {_WANTED}.")
    return [names.index(name) for name in like.COLUMNS]


def _check(path: Path, line: int, row: list[str]) -> None:
    for name, value in zip(like.COLUMNS, row, strict=True):
        if name == "age":
            if not (value.isascii() and value.isdigit() and int(value) <= 120):
                raise _not_adult(path, line, "has no age in whole years up to 120")
        elif value not in _VALUES[name]:
            raise _not_adult(path, line, f"has a value of {name} that Adult does not know")


def _not_adult(path: Path, line: int, found: str) -> InputError:
    return InputError(f"{path}, line {line}, {found}: this is not Adult. Give {_WANTED}.")
