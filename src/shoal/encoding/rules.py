"""Column rules: the year of a date, top and bottom coding, and rounding to a base.

A rule is applied to a column before anything else, so methods, models and metrics see what is
published. Numbers are exact: `round` is half away from zero, in decimals. Rounding comes first: with
`round: 5` and `top: 90`, 88 becomes 90 and is published as `90+`. With `part: year` the numbers are the
years of dates, each read from its own text, so that every batch of a table is read alike.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.date_format import PIVOT, date_format
from shoal.encoding.missing import is_missing
from shoal.encoding.reading import AS_FOUND, ValueReading, is_text
from shoal.errors import InputError
from shoal.hierarchy.text import text_of

PRECISION = 80
"""Digits of the arithmetic, more than any number of a table has."""
MARKED = "{}+"
BOTTOM = "≤{}"
YEAR = re.compile(
    r"(?:(?P<year>\d{4})(?:[-/.]\d{1,2}(?:[-/.]\d{1,2}(?:[T ].*)?)?)?"
    r"|\d{1,2}[-/.]\d{1,2}[-/.](?P<last>\d{4})(?:[T ].*)?)$",
    re.ASCII,
)
"""Dates with a year of four digits, first or last, and years alone."""


def plain_number(number: Decimal) -> str:
    """A number as it is published: no exponent, no zeros at the end."""
    text = f"{number.normalize():f}" if number else "0"
    return "0" if text == "-0" else text


class Recoding(ABC):
    """What is done to every value of a column before anything else."""

    name: str
    """The column."""
    reading: ValueReading
    """How texts are written."""
    missing: tuple[str, ...]
    """Codes for a missing value, which stay as they are."""
    gives_numbers: ClassVar[bool]
    """Whether what is published are numbers, the labels of open ends aside."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What it does, for a report."""

    @abstractmethod
    def type_of(self, kind: pa.DataType) -> pa.DataType:
        """The type of the column once it was applied."""

    @abstractmethod
    def __call__(self, column: pa.Array) -> pa.Array:
        """The column as it is published."""

    @abstractmethod
    def holds(self, text: str) -> bool:
        """Whether a text may be a published value of the column."""

    def without_marks(self, texts: pa.Array) -> pa.Array:
        """Labels with the numbers of open ends in place of their marks."""
        return texts

    def with_marks(self, texts: pa.Array) -> pa.Array:
        """The texts of single values, with the marks of open ends."""
        return texts


@dataclass(frozen=True)
class ColumnRule(Recoding):
    """What is done to every number of a column, or to the year of every date."""

    name: str
    """The column."""
    top: Decimal | None = None
    bottom: Decimal | None = None
    base: Decimal | None = None
    reading: ValueReading = AS_FOUND
    """How texts are written; a decimal point if it does not say."""
    missing: tuple[str, ...] = ()
    """Codes for a missing value, which stay as they are."""
    year: bool = False
    """Whether the values are dates, of which the year is published."""
    gives_numbers: ClassVar[bool] = True

    @property
    def top_label(self) -> str:
        """`90+`; empty without a top."""
        return "" if self.top is None else MARKED.format(plain_number(self.top))

    @property
    def bottom_label(self) -> str:
        """`≤18`; empty without a bottom."""
        return "" if self.bottom is None else BOTTOM.format(plain_number(self.bottom))

    @property
    def words(self) -> str:
        """What the rule does, for a report."""
        return "; ".join(self._words())

    def _words(self) -> Iterator[str]:
        if self.year:
            yield "dates are published by their year"
        if self.base is not None:
            yield f"rounded to multiples of {plain_number(self.base)}"
        if self.top is not None:
            yield f"{plain_number(self.top)} or more is published as {self.top_label}"
        if self.bottom is not None:
            yield f"{plain_number(self.bottom)} or less is published as {self.bottom_label}"

    def publish(self, number: Decimal) -> Decimal | str:
        """What is published of a number: another one, or the label of an end."""
        if self.base is not None:
            if not self._can_round(number):
                raise InputError(
                    f"Column '{self.name}' has a number too large to be rounded. Correct it, or list "
                    "it under `missing` if it is a code for a missing value."
                )
            with localcontext() as context:
                context.prec = PRECISION
                number = (number / self.base).quantize(Decimal(1), ROUND_HALF_UP) * self.base
        if self.top is not None and number >= self.top:
            return self.top_label
        if self.bottom is not None and number <= self.bottom:
            return self.bottom_label
        return number

    def type_of(self, kind: pa.DataType) -> pa.DataType:
        """The type of the column once the rule was applied."""
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if is_text(kind) or self.top is not None or self.bottom is not None:
            return pa.string()
        if self.year:
            return pa.int64()
        assert self.base is not None, "a rule has one of them"
        places = max(0, -int(self.base.normalize().as_tuple().exponent))
        if pa.types.is_integer(kind):
            return pa.int64() if not places else pa.float64()
        if pa.types.is_decimal(kind):
            return pa.decimal128(38, max(kind.scale, places))
        return pa.float64()

    def __call__(self, column: pa.Array) -> pa.Array:
        """The column as it is published."""
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), None, column)
        kind = self.type_of(column.type)
        coded = column.dictionary_encode()
        new = [self._published(value, kind) for value in self._values(coded.dictionary)]
        return pa.array(new, kind).take(coded.indices)

    def _values(self, values: pa.Array) -> list[tuple[Decimal | None, str]]:
        """The number of each distinct value, None where it is a missing one, and its text."""
        kind, types = values.type, pa.types
        texts = text_of(values).to_pylist()
        if self.year and (types.is_date(kind) or types.is_timestamp(kind)):
            years = pc.year(values).to_pylist()
            return [(Decimal(year), text) for year, text in zip(years, texts, strict=True)]
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            exact = (
                Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
                for value in values.to_pylist()
            )
            return list(zip(exact, texts, strict=True))
        if not is_text(kind):
            raise InputError(
                f"Column '{self.name}' has the type {kind}, but its rule is for numbers. Remove "
                "`top`, `bottom` and `round` from it."
            )
        unknown = is_missing(values.cast(pa.string()), self.missing, reading=self.reading)
        return [
            (None if gone else self._number(text), text)
            for gone, text in zip(unknown, texts, strict=True)
        ]

    def _number(self, text: str) -> Decimal:
        if self.year:
            return Decimal(self._year(text))
        decimal, thousands = self.reading.decimal or ".", self.reading.thousands
        number = re.sub(r"\s?%$", "", text.strip())
        if thousands is not None:
            grouped = rf"[+-]?\d{{1,3}}({re.escape(thousands)}\d{{3}})+(\D.*)?"
            number = number.replace(thousands, "") if re.fullmatch(grouped, number) else number
        if decimal != ".":
            number = number.replace(".", "?").replace(decimal, ".")
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", number, re.ASCII):
            raise InputError(
                f"Column '{self.name}' has values that are not numbers, but its rule is for numbers. "
                "Correct them, list codes under `missing`, or say how numbers are written, as in "
                '`read: {decimal: ","}`.'
            )
        return Decimal(number)

    def _year(self, text: str) -> int:
        """The year of a date; years have four digits unless the policy has the format of dates."""
        known = re.compile(date_format(self.reading.dates).pattern) if self.reading.dates else YEAR
        match = known.match(text.strip())
        if match is None:
            raise InputError(
                f"Column '{self.name}' has values from which no year can be read, but its rule is "
                "`part: year`. Correct them, list codes under `missing`, or say how dates are written, "
                "as in `dates: %d/%m/%y`."
            )
        parts = match.groupdict()
        if short := parts.get("short"):
            return int(short) + (1900 if int(short) >= PIVOT else 2000)
        return int(parts.get("year") or parts["last"])

    def _published(self, value: tuple[Decimal | None, str], kind: pa.DataType) -> object:
        number, text = value
        if number is None:
            return text
        new = self.publish(number)
        if isinstance(new, str):
            return new
        if pa.types.is_string(kind):
            usual = self.reading.decimal in (None, ".") and self.reading.thousands is None
            usual = usual and not self.year
            return text if usual and new == number and "%" not in text else plain_number(new)
        if pa.types.is_floating(kind):
            return float(new)
        return int(new) if pa.types.is_integer(kind) else new

    def without_marks(self, texts: pa.Array) -> pa.Array:
        """Labels with the numbers of the ends in place of `90+` and `≤18`."""
        if not is_text(texts.type):
            return texts
        if self.top is not None:
            mark = rf"(^|[^0-9.]){re.escape(plain_number(self.top))}\+"
            texts = pc.replace_substring_regex(texts, mark, rf"\1{plain_number(self.top)}")
        return pc.replace_substring(texts, "≤", "") if self.bottom is not None else texts

    def with_marks(self, texts: pa.Array) -> pa.Array:
        """The texts of single values, `90+` and `≤18` in place of the ends."""
        for end, label in ((self.top, self.top_label), (self.bottom, self.bottom_label)):
            if end is not None:
                texts = pc.if_else(pc.equal(texts, plain_number(end)), label, texts)
        return texts

    def holds(self, text: str) -> bool:
        """Whether a text may be a published value of the column."""
        if text in (self.top_label, self.bottom_label):
            return bool(text)
        try:
            number = Decimal(text.strip())
        except ArithmeticError:
            return False
        return number.is_finite() and self._can_round(number) and self.publish(number) == number

    def _can_round(self, number: Decimal) -> bool:
        """Whether a multiple of the base has few enough digits."""
        return self.base is None or number.adjusted() - self.base.adjusted() < PRECISION - 1


def rule_of(
    name: str,
    top: float | None,
    bottom: float | None,
    base: float | None,
    reading: ValueReading = AS_FOUND,
    missing: tuple[str, ...] = (),
    year: bool = False,
) -> ColumnRule | None:
    """The rule of a column; None where it has none."""
    if top is None and bottom is None and base is None and not year:
        return None
    ends = (None if one is None else Decimal(str(one)) for one in (top, bottom, base))
    exact = dict(zip(("top", "bottom", "base"), ends, strict=True))
    return ColumnRule(name=name, reading=reading, missing=missing, year=year, **exact)
