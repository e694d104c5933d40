"""How a table is written, as a policy says it: the format of its file, its numbers and its dates."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from shoal.encoding.date_format import DateFormat
from shoal.errors import InputError
from shoal.io.csv_dialect import CsvOptions
from shoal.policy.messages import Guide, Problem, as_error, found, problems_of, refusal
from shoal.policy.missing import MissingCodes, read_codes
from shoal.policy.parts import column_name

Thousands = Literal[",", ".", " ", "'", "_", "\u00a0", "\u202f", "\u2019"]
"""What may stand between groups of three digits: also the no-break spaces and the apostrophe that
programs write."""
FILE_KEYS = (
    "header",
    "names",
    "footer",
    "sheet",
    "skip",
    "labels",
    "separator",
    "quote",
    "encoding",
)
"""What concerns the file and not the values: it has no part in what a policy means."""


def date_format_of(value: Any) -> Any:
    """A format of dates, checked."""
    if value is None:
        return None
    if not isinstance(value, str):
        words = f"found {found(value)}; must be a format such as '%d/%m/%Y'"
        raise as_error(Problem((), words))
    if problem := DateFormat(value).problem:
        raise as_error(Problem((), f"found {found(value)}: {problem}"))
    return value


Dates = Annotated[str | None, BeforeValidator(date_format_of)]


class Reading(BaseModel):
    """How the table is written; what is left out is detected, or asked where it is ambiguous."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    header: bool | None = None
    """Whether the first line of a text file has the names of the columns."""
    names: Annotated[
        tuple[Annotated[str, BeforeValidator(column_name)], ...] | None, Field(min_length=1)
    ] = None
    """The names of the columns, where the file has none or others."""
    footer: Annotated[int, Field(ge=0, strict=True)] | None = None
    """Lines at the end of a text file that are no rows, such as totals."""
    sheet: Annotated[str, BeforeValidator(column_name)] | None = None
    """The name or the number (from 1) of a sheet of a workbook."""
    skip: Annotated[int, Field(ge=0, strict=True)] | None = None
    """Rows of a workbook above the names of the columns that are not part of the table."""
    labels: bool | None = None
    """Whether the values of files of statistics packages are read as their labels, or as codes."""
    separator: str | None = None
    """The character between two fields of a text file; `tab` is allowed too."""
    quote: str | None = None
    """The character around fields of a text file; empty where quotes have no meaning."""
    encoding: str | None = None
    """The encoding of a text file, such as cp1252."""
    decimal: Literal[".", ","] | None = None
    """The decimal mark of numbers that are written as text."""
    thousands: Thousands | None = None
    """The mark between groups of three digits of numbers that are written as text."""
    dates: Dates = None
    """The format of dates that are written as text, such as `%d/%m/%Y`."""
    missing: Annotated[MissingCodes, BeforeValidator(read_codes)] = None
    """The codes that stand for a missing value in every column without a `missing` of its own."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = []
        for key in ("separator", "quote", "encoding"):
            try:
                CsvOptions(**{key: getattr(self, key)})
            except InputError as error:
                problems.append(Problem((key,), str(error)))
        if self.decimal is not None and self.decimal == self.thousands:
            problems.append(Problem(("thousands",), "is the decimal mark too; change one"))
        if self.names is not None and len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            problems.append(Problem(("names",), f"'{twice}' is listed twice"))
        if problems:
            raise as_error(*problems)
        return self

    @property
    def file(self) -> CsvOptions:
        """How a text file is written."""
        return CsvOptions(**{key: getattr(self, key) for key in FILE_KEYS})

    def given(self) -> dict[str, Any]:
        """The keys that are not left out, as plain data."""
        data = self.model_dump(exclude_none=True)
        return {
            key: list(value) if isinstance(value, tuple) else value for key, value in data.items()
        }

    @property
    def values(self) -> dict[str, Any]:
        """What concerns values and not the file, where it is not left out."""
        return {key: value for key, value in self.given().items() if key not in FILE_KEYS}


AS_WRITTEN = Reading()
"""Everything is detected."""


def reading_of(keys: Mapping[str, Any]) -> Reading:
    """How a table is written, without a policy; mistakes are reported as those of a policy are."""
    try:
        return Reading.model_validate(dict(keys))
    except ValidationError as error:
        guide = Guide({(): list(Reading.model_fields)}, {})
        problems = [Problem(("read", *path), text) for path, text in problems_of(error, guide)]
        raise refusal(problems, lambda _: "") from None
