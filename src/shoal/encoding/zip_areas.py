"""US zip codes by their first three digits, where these cover enough people.

The first three digits of a zip code may be published where all zip codes that begin with them cover more
than 20,000 people; all others are published as `000`. How many people an area has stands in a table that
the user gives: a CSV file with a line of column names, then per line the three digits and the people.

Source: 45 CFR 164.514(b)(2)(i)(B).
"""

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from shoal.encoding.missing import is_missing
from shoal.encoding.reading import AS_FOUND, ValueReading
from shoal.encoding.rules import Recoding
from shoal.errors import InputError
from shoal.hierarchy.text import text_of

FEWEST_PEOPLE = 20_000
"""An area must have more people than this."""
OTHERS = "000"
"""What is published for all other areas."""
ZIP = re.compile(r"(\d{3})(?:\d{2}(?:-?\d{4})?|\*\*)?", re.ASCII)
"""Three digits, five, or nine."""


@dataclass(frozen=True)
class ZipAreas(Recoding):
    """Publishes the first three digits of zip codes where they cover enough people."""

    name: str
    """The column."""
    large: frozenset[str]
    """The three digits of areas with enough people."""
    missing: tuple[str, ...] = ()
    """Codes for a missing value, which stay as they are."""
    reading: ValueReading = AS_FOUND
    """How texts are written."""
    gives_numbers: ClassVar[bool] = False

    @property
    def words(self) -> str:
        """What the rule does, for a report."""
        return (
            "zip codes are published by their first three digits where these cover more than "
            f"{FEWEST_PEOPLE:,} people, all others as {OTHERS}"
        )

    def type_of(self, kind: pa.DataType) -> pa.DataType:  # noqa: ARG002 - codes are texts
        """The type of the column once the rule was applied."""
        return pa.string()

    def __call__(self, column: pa.Array) -> pa.Array:
        """The column as it is published."""
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            raise InputError(
                f"Column '{self.name}' holds numbers, and zip codes that begin with 0 have lost it. "
                "Give them as texts of five digits."
            )
        coded = text_of(column).cast(pa.string()).dictionary_encode()
        texts = coded.dictionary
        unknown = is_missing(texts, self.missing, reading=self.reading)
        new = [
            text if gone else self._area(text)
            for gone, text in zip(unknown, texts.to_pylist(), strict=True)
        ]
        return pa.array(new, pa.string()).take(coded.indices)

    def _area(self, text: str) -> str:
        match = ZIP.fullmatch(text.strip())
        if match is None:
            raise InputError(
                f"Column '{self.name}' has values that are no zip codes of three, five or nine digits, "
                "but its rule is `zip3`. Correct them, or list codes under `missing`."
            )
        return match.group(1) if match.group(1) in self.large else OTHERS

    def holds(self, text: str) -> bool:
        """Whether a text may be a published value of the column."""
        return text == OTHERS or text in self.large


def read_large_areas(path: Path) -> frozenset[str]:
    """The three digits of the areas with enough people, from a table of all areas.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is not three digits and a number.
    """
    found: dict[str, int] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.reader(file))
    except FileNotFoundError:
        raise InputError(
            f"{path}: there is no such file; it should hold people by zip code."
        ) from None
    except (OSError, UnicodeDecodeError, csv.Error):
        raise InputError(f"{path} cannot be read as a CSV file in UTF-8.") from None
    for number, line in enumerate(lines[1:], 2):
        if not line:
            continue
        fits = len(line) >= 2 and re.fullmatch(r"\d{3}", line[0].strip(), re.ASCII)
        people = line[1].strip().replace(",", "") if fits else ""
        if not re.fullmatch(r"\d+", people, re.ASCII):
            raise InputError(
                f"{path}, line {number}: must have the first three digits of a zip code, such as 021, "
                "and the number of people there."
            )
        area = line[0].strip()
        if area in found:
            raise InputError(f"{path}, line {number}: the area {area} is listed twice.")
        found[area] = int(people)
    if not found:
        raise InputError(
            f"{path} has no areas. It should have a line of column names, then per line the first three "
            "digits of a zip code and the number of people there."
        )
    return frozenset(area for area, people in found.items() if people > FEWEST_PEOPLE) - {OTHERS}
