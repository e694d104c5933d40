"""What a column holds, and which role it should have by its name and its values.

Cells that hold direct identifiers decide first, then the name (`vocabulary.py`), then the values. In
doubt the careful role is suggested; only people know what other people know.

Texts are parsed as a policy does: files give every column as text, and numbers or dates among them are
still numbers or dates.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Floats, Ints
from shoal.encoding.look_alikes import look_alikes
from shoal.encoding.missing import is_missing, likely_codes
from shoal.encoding.reading import (
    AS_FOUND,
    AmbiguousError,
    Ordered,
    StrayError,
    ValueReading,
    is_text,
    read_ordered,
    standard_texts,
)
from shoal.encoding.values import PADDED_NUMBER, is_padded
from shoal.encoding.vocabulary import (
    hint_of,
    is_number_name,
    is_postal,
    may_be_weight,
    names_a_nominal,
    words_of,
)
from shoal.hierarchy.text import text_of
from shoal.risk.identifiers import NAMES, Recognised, listed_kinds, recognise
from shoal.risk.spread import Spread, spread_of

Role = Literal[
    "identifier", "person", "quasi", "sensitive", "plain", "preference", "undecided", "weight"
]
Treatment = Literal["dropped", "kept", "read", "ordered", "unordered", "mask", "date"]

BY_TYPE = "the column has this type"
A_WEIGHT = "it is a survey weight, which tells the stratum of a person"
LONGEST_CODE = 12
"""The most digits of a postal code or the like."""
DIGITS = rf"^[0-9]{{2,{LONGEST_CODE}}}$"
NEARLY_ALL = 0.9
"""From this share of distinct values on, a column of texts or whole numbers identifies rows."""
MOSTLY = 0.5
"""The same for a column whose name ends in `id` or `number`."""
FEWEST_ROWS = 20
"""In a smaller table distinct values prove nothing."""
MANY_VALUES = 10
"""From this many distinct texts, codes or dates on, a column of unknown meaning counts as quasi."""
MOST_LISTED = 200
"""Different values of a column up to which they are kept, to propose how they are grouped."""
SERIAL = 20
"""Whole numbers are serial numbers if the range they cover is at most so many times their number."""
DIGITS_OF_A_KEY = 6
"""Whole numbers of so many digits each, all of one length, look like keys."""
LIGHTEST, HEAVIEST = 2.0, 500.0
"""Between these lie weights of bodies, in kilograms or pounds; medians outside are survey weights."""
LONG_TEXT = 40
"""Average length from which text counts as free text."""
SENTENCE = 4
"""Average number of words from which text counts as free text."""


class Type(StrEnum):
    """The type of a column's values, for people."""

    EMPTY = "no values"
    BOOLEAN = "true or false"
    WHOLE = "whole numbers"
    DECIMAL = "decimal numbers"
    DATE = "dates"
    TIME = "times"
    CODE = "digit codes"
    TEXT = "text"
    OTHER = "other data"


NOUNS = {
    Type.WHOLE: "a whole number",
    Type.DECIMAL: "a number with a decimal point",
    Type.DATE: "an ISO date",
    Type.TIME: "a time of day",
}


@dataclass(frozen=True)
class Contents:
    """The counted values of one column."""

    name: str
    type: Type
    codes: npt.NDArray[np.integer]
    """(n,) equal values have equal codes, 0 .. size - 1; missing is a value of its own. Empty where
    the rows are not in memory."""
    counts: Ints
    """(size,) rows of each code; those of missing values, if there are any, come last. With `times`:
    (m,) the distinct counts."""
    missing: int
    """Rows without a value."""
    text_length: float
    """Mean length of the distinct texts; 0 for columns that hold no text."""
    longest_text: int
    """Length of the longest text; 0 for columns that hold no text."""
    words: float
    """Mean number of words of the distinct texts; 0 for columns that hold no text."""
    can_be_ordered: bool
    """Whether every value is a finite number, a date or a time."""
    read_as: str = ""
    """What the values were taken for, and why."""
    written: ValueReading = AS_FOUND
    """How texts are written, where that is not as plain numbers or ISO dates."""
    question: str = ""
    """What is not certain about its values; empty where nothing is."""
    answers: tuple[str, ...] = ()
    """The lines of a policy of which one answers the question."""
    likely_missing: tuple[str, ...] = ()
    """Texts that are likely codes for missing values, such as `NA`, which count as values here."""
    blank: bool = False
    """Whether some texts are empty or only spaces."""
    identifiers: tuple[Recognised, ...] = ()
    """Direct identifiers that cells are or contain."""
    spread: Spread | None = None
    """How numbers are spread; None for columns that hold none."""
    listed: tuple[tuple[str, int], ...] = ()
    """The texts of up to `MOST_LISTED` values that are not missing, with their rows, by frequency."""
    values: pa.Array | None = None
    """(size,) the distinct values, that of code i at place i, where the rows are in memory."""
    times: Ints | None = None
    """(m,) how many codes have each of the counts, where codes were counted by an engine."""

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return int((self.counts * self._times).sum())

    @property
    def size(self) -> int:
        """Number of codes."""
        return int(self._times.sum())

    @property
    def distinct(self) -> int:
        """Distinct values, not counting missing."""
        return self.size - bool(self.missing)

    @property
    def unique_rows(self) -> int:
        """Rows with a value that no other row has; missing values are equal to each other."""
        return int(self._times[self.counts == 1].sum())

    @property
    def entropy(self) -> float:
        """The information of the column about a row, in bits."""
        shares = self.counts / max(1, self.rows)
        return float(-(shares * np.log2(shares) * self._times).sum())

    @property
    def _times(self) -> Ints:
        return np.ones(len(self.counts), np.int64) if self.times is None else self.times


@dataclass(frozen=True)
class Suggestion:
    """A role, the treatment of the column in a release, and the reason."""

    role: Role
    treatment: Treatment
    reason: str


def suggest(column: Contents) -> Suggestion:
    """The role that fits a column best: by what its cells are, by its name, or by its values."""
    role, reason = _role_by_contents(column) or _role_by_name(column) or _role_by_values(column)
    if column.identifiers and listed_kinds(column.identifiers) not in reason:
        reason = f"{reason}; {listed_kinds(column.identifiers)}"
    treatments: dict[Role, Treatment] = {
        "identifier": "dropped",
        "preference": "read",
        "weight": "read",
    }
    treatment = quasi_treatment(column) if role == "quasi" else treatments.get(role, "kept")
    return Suggestion(role, treatment, reason)


def _role_by_contents(column: Contents) -> tuple[Role, str] | None:
    """Identifiers in nearly all cells or inside of some, and free text, which may say anything."""
    hint = hint_of(column.name)
    if hint is not None and hint[0] == "person":
        return None
    # names of people are recognised by a short list, and places are called like people
    certain = [one for one in column.identifiers if one.kind != NAMES]
    if certain or (column.identifiers and hint is None):
        return "identifier", listed_kinds(column.identifiers)
    if column.identifiers and column.text_length >= LONG_TEXT:
        return "identifier", f"free text: {listed_kinds(column.identifiers)}"
    if _is_free_text(column, known=hint is not None):
        return "identifier", "it holds free text, which can say anything and may name people"
    return None


def _is_free_text(column: Contents, known: bool) -> bool:
    """Whether cells hold sentences of their own, and no categories; known: whether its name says what
    they are, so that long ones may be the names of occupations."""
    rows = column.rows - column.missing
    if column.type != Type.TEXT or rows < FEWEST_ROWS or column.distinct < MANY_VALUES:
        return False
    own = column.distinct >= MOSTLY * rows or column.unique_rows >= MOSTLY * column.distinct
    if known:
        return own and column.words >= SENTENCE and column.text_length >= LONG_TEXT
    return own and (column.words >= SENTENCE or column.text_length >= LONG_TEXT)


def quasi_treatment(column: Contents) -> Treatment:
    """How a quasi-identifier is best generalised."""
    is_short = column.type == Type.WHOLE or (
        column.type == Type.TEXT and 0 < column.longest_text <= LONGEST_CODE
    )
    if column.type == Type.CODE or (is_postal(column.name) and is_short):
        return "mask"
    if column.type == Type.DATE:
        return "date"
    return "ordered" if column.can_be_ordered and not is_nominal(column) else "unordered"


def is_nominal(column: Contents) -> bool:
    """Whether whole numbers stand for things that have no order, by the name: regions, occupations."""
    found = column.spread
    return found is not None and found.whole and names_a_nominal(column.name)


def _role_by_name(column: Contents) -> tuple[Role, str] | None:
    hint = hint_of(column.name)
    if may_be_weight(column.name) and (hint is None or hint[0] not in ("person", "weight")):
        return _weight_by_values(column)
    if hint is None:
        return None
    meaning, words = hint
    whole = words == " ".join(words_of(column.name))
    by_name = "by its name" if whole else f"by '{words}' in its name"
    if meaning == "person":
        return "identifier", f"{by_name} it points at one person"
    if meaning == "household":
        return "identifier", f"{by_name} it is the number of a household"
    if meaning == "weight":
        return _weight(column, by_name)
    if meaning == "preference":
        return "preference", f"{by_name} it says what people asked for"
    if column.type == Type.OTHER or (meaning == "quasi" and column.distinct == 0):
        return None  # there is nothing to count or to generalise
    if meaning == "sensitive":
        return "sensitive", f"{by_name} people may want to hide it"
    return "quasi", f"{by_name} others may know it"


def _weight_by_values(column: Contents) -> tuple[Role, str] | None:
    """A survey weight, or the weight of a body."""
    found = column.spread
    if found is None or found.low < 0 or column.distinct < MANY_VALUES:
        return None
    if LIGHTEST < found.middle < HEAVIEST:
        return (
            "quasi",
            "by its name and its numbers it is the weight of a body, which others may guess",
        )
    return _weight(column, "by its name and its numbers")


def _weight(column: Contents, why: str) -> tuple[Role, str]:
    """A survey weight; one that some rows lack cannot be used, and is left out."""
    found = column.spread
    if found is None or found.low <= 0 or column.missing or column.likely_missing:
        return "identifier", f"{why} {A_WEIGHT}, but some rows have none"
    return "weight", f"{why} {A_WEIGHT}: the population is estimated by it, and it is not published"


def _role_by_values(column: Contents) -> tuple[Role, str]:
    rows = column.rows - column.missing
    if column.distinct == 0:
        return "plain", "every value is missing, so it tells nothing"
    if column.type == Type.OTHER:
        return "identifier", "it holds neither text, numbers nor dates and cannot be made coarser"
    if rows >= FEWEST_ROWS:
        share = column.distinct / rows
        fraction = column.spread is not None and not column.spread.whole
        if is_number_name(column.name) and share >= MOSTLY and not fraction:
            return "identifier", "it is called a number or code, and most rows have their own"
        if share >= NEARLY_ALL and (column.type in (Type.TEXT, Type.CODE) or _is_serial(column)):
            return "identifier", "nearly every row has a value of its own"
    if column.distinct == 1:
        return "plain", "all rows have the same value"
    different = f"{column.distinct:,} different values"
    if rows < FEWEST_ROWS:
        return "quasi", f"{different} can help to recognise people"
    amount = column.type in (Type.WHOLE, Type.DECIMAL) and not is_number_name(column.name)
    if column.distinct >= MANY_VALUES and not amount:
        return "quasi", f"{different} can help to recognise people"
    return "plain", f"{different}, and the name says nothing"


def _is_serial(column: Contents) -> bool:
    """Whether whole numbers look like keys and not like amounts: dense, or all of one length."""
    found = column.spread
    if found is None or not found.whole:  # also whole numbers that are written as 233.0
        return False
    dense = found.high - found.low <= SERIAL * column.distinct
    digits = len(f"{abs(found.low):.0f}"), len(f"{abs(found.high):.0f}")
    return dense or (found.low > 0 and digits[0] == digits[1] >= DIGITS_OF_A_KEY)


@dataclass(frozen=True)
class ColumnCodes:
    """The values of a column by their numbers, and nothing else about them."""

    codes: Ints
    """(n,) 0 .. size - 1; a missing value has the last one."""
    size: int
    """Number of codes."""


def codes_of(column: pa.ChunkedArray | pa.Array) -> ColumnCodes:
    """Number the values of one column as `contents_of` does, for those who only compare rows."""
    values, index, _ = _encoded(column)
    return _coded(values, index)


def _coded(values: pa.Array, index: Ints) -> ColumnCodes:
    known = index >= 0
    if known.all():
        return ColumnCodes(index, len(values))
    return ColumnCodes(np.where(known, index, len(values)), len(values) + 1)


def contents_of(
    name: str,
    column: pa.ChunkedArray | pa.Array,
    reading: ValueReading = AS_FOUND,
    rows: Ints | None = None,
) -> Contents:
    """Count the values of one column of a table; `reading`: how texts are written.

    rows: (n,) how many rows each element of the column stands for; one when left out.
    """
    values, index, nested = _encoded(column)
    known = index >= 0
    missing = len(index) - int(known.sum())
    coded = _coded(values, index)
    codes, counts = coded.codes, np.bincount(coded.codes, minlength=coded.size).astype(np.int64)
    likely: list[str] = [] if nested else likely_codes(text_of(values))
    several = Taken(Type.OTHER, False, "its values consist of several")
    taken = several if nested else _type(_without_codes(values, likely), reading)
    kind, shared = taken.type, counts[: len(values)]
    if rows is not None:
        shared = np.bincount(index[known], rows[known], len(values)).astype(np.int64)
    texts = text_of(values)
    gone = is_missing(texts, likely)
    length, longest, words = 0.0, 0, 0.0
    if kind in (Type.TEXT, Type.CODE):
        lengths = pc.utf8_length(texts)
        length, longest = pc.mean(lengths).as_py(), pc.max(lengths).as_py()
        words = (
            1 + pc.mean(pc.count_substring_regex(pc.utf8_trim_whitespace(texts), r"\s+")).as_py()
        )
    return Contents(
        name,
        kind,
        codes,
        counts,
        missing,
        length,
        longest,
        words,
        taken.can_be_ordered,
        taken.reason,
        taken.written,
        taken.question,
        taken.answers,
        likely_missing=tuple(likely),
        blank=bool(is_missing(texts).any()),
        identifiers=_recognised(taken, texts, shared, gone),
        spread=_spread(taken, values, shared, gone),
        listed=_listed(kind, texts, shared, gone),
        values=values,
    )


def _recognised(taken: "Taken", texts: pa.Array, rows: Ints, gone: Bools) -> tuple[Recognised, ...]:
    """The identifiers that texts and whole numbers are or contain."""
    if taken.type not in (Type.TEXT, Type.CODE, Type.WHOLE):
        return ()
    return recognise(texts.filter(pa.array(~gone)), rows[~gone], search=taken.type != Type.WHOLE)


def _spread(taken: "Taken", values: pa.Array, rows: Ints, gone: Bools) -> Spread | None:
    if taken.type not in (Type.WHOLE, Type.DECIMAL) or not taken.can_be_ordered or taken.question:
        return None
    numbers = _numbers(_kept(values, ~gone), taken)
    return None if numbers is None else spread_of(numbers, rows[~gone])


def _numbers(values: pa.Array, taken: "Taken") -> pa.Array | None:
    if not is_text(values.type):
        return values
    found = read_ordered(values.cast(pa.string()), False, taken.written)
    return None if found is None else found.values


def look_alike_warnings(column: Contents) -> list[str]:
    """What is to be said of values that a reader does not tell apart."""
    if column.values is None or not is_text(column.values.type):
        return []
    texts = text_of(column.values).cast(pa.string())
    found = look_alikes(texts.filter(pa.array(~is_missing(texts, column.likely_missing))))
    return [] if found is None else found.warnings(column.name)


def numbers_of(column: Contents) -> Floats | None:
    """(size,) the number of each code, not a number where it is missing; None for other columns."""
    if column.values is None or column.spread is None:
        return None
    gone = is_missing(text_of(column.values), column.likely_missing)
    as_taken = Taken(column.type, True, "", column.written)
    numbers = _numbers(_kept(column.values, ~gone), as_taken)
    if numbers is None:
        return None
    found = np.full(column.size, np.nan)
    found[np.flatnonzero(~gone)] = numbers.cast(pa.float64(), safe=False).to_numpy(
        zero_copy_only=False
    )
    return found


def _listed(kind: Type, texts: pa.Array, rows: Ints, gone: Bools) -> tuple[tuple[str, int], ...]:
    """The texts that are not missing with their rows, the most frequent first; none where too many."""
    if kind in (Type.OTHER, Type.EMPTY) or int((~gone).sum()) > MOST_LISTED:
        return ()
    pairs = zip(texts.filter(pa.array(~gone)).to_pylist(), rows[~gone].tolist(), strict=True)
    return tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


def _without_codes(values: pa.Array, likely: list[str]) -> pa.Array:
    """The values that are neither blank nor likely codes for missing ones, all if there are no others:
    with an `NA` or a blank among them, numbers are still numbers."""
    gone = is_missing(text_of(values), likely)
    if not gone.any() or gone.all():
        return values
    return _kept(values, ~gone)


def _kept(values: pa.Array, which: Bools) -> pa.Array:
    """Some of the values; Arrow cannot filter every type of text."""
    known = values.cast(pa.string()) if pa.types.is_string_view(values.type) else values
    return known.filter(pa.array(which))


def _encoded(column: pa.ChunkedArray | pa.Array) -> tuple[pa.Array, Ints, bool]:
    """The distinct values, (n,) the place of each row's value among them or -1, and whether values
    could only be compared by their Python text."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # too long for one array of its type
        column = pa.concat_arrays([c.cast(pa.large_string()) for c in column.chunks])
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        wide = column.cast(pa.float64())
        # NaN is missing, and zero has no sign
        column = pc.if_else(pc.is_nan(wide), None, pc.add(wide, 0.0))
    nested = False
    try:
        encoded = column.dictionary_encode()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        nested = True
        texts = [None if value is None else repr(value) for value in column.to_pylist()]
        encoded = pa.array(texts, pa.large_string()).dictionary_encode()
    index = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return encoded.dictionary, index.astype(np.int64), nested


@dataclass(frozen=True)
class Taken:
    """What the values of a column were taken for."""

    type: Type
    can_be_ordered: bool
    reason: str
    written: ValueReading = AS_FOUND
    question: str = ""
    answers: tuple[str, ...] = ()


def _type(values: pa.Array, reading: ValueReading) -> Taken:
    """The type of some distinct values, and whether they can be ordered."""
    kind, types = values.type, pa.types
    if not len(values):
        return Taken(Type.EMPTY, False, "there is no value")
    if types.is_boolean(kind):
        return Taken(Type.BOOLEAN, False, BY_TYPE)
    if is_text(kind):
        return _type_of_texts(values.cast(pa.string()), reading)
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    if not (is_number or types.is_date(kind) or types.is_time(kind) or types.is_timestamp(kind)):
        return Taken(Type.OTHER, False, BY_TYPE)
    return Taken(*_ordered_type(values, values), BY_TYPE)


def _type_of_texts(texts: pa.Array, reading: ValueReading) -> Taken:
    try:
        found = read_ordered(texts, True, reading)
    except AmbiguousError as asked:
        dates = asked.answers[0].dates is not None
        kind = Type.DATE if dates else Type.DECIMAL
        reason = f"{'dates' if dates else 'numbers'} that can be read in several ways"
        return Taken(kind, True, reason, AS_FOUND, asked.why, tuple(asked.lines))
    except StrayError as stray:
        return _type_with_strays(texts, stray.nearly)
    if found is None and reading.type is None:
        plain = read_ordered(texts, False, reading)
        if (
            plain is not None
            and not plain.values.null_count
            and not is_padded(texts, plain.values.type)
        ):
            found = plain  # numbers that a policy can order, but that are not all exact
    if found is not None:
        kind, can_be_ordered = _ordered_type(standard_texts(texts, found), found.values)
        plural, single = found.words, NOUNS[kind]
        reason = f"all values are {plural}" if plural else f"every value is {single}"
        return Taken(kind, can_be_ordered, reason, found.reading)
    if pc.any(_matches(texts, PADDED_NUMBER)).as_py():
        digits = pc.all(_matches(texts, DIGITS)).as_py()
        reason = "numbers would lose leading zeros"
        return Taken(Type.CODE if digits else Type.TEXT, False, reason)
    return Taken(Type.TEXT, False, "some values are neither numbers nor dates")


def _type_with_strays(texts: pa.Array, nearly: Ordered) -> Taken:
    count = nearly.values.null_count
    what = nearly.words or ("dates" if pa.types.is_temporal(nearly.values.type) else "numbers")
    why = f"{count:,} of {len(texts):,} different values are not {what}, as the others are"
    return Taken(Type.TEXT, True, why, AS_FOUND, why, ("missing: [...]", "type: text"))


def _matches(texts: pa.Array, pattern: str) -> pa.Array:
    return pc.match_substring_regex(texts, pattern)


def _ordered_type(values: pa.Array, parsed: pa.Array) -> tuple[Type, bool]:
    kind = parsed.type
    if pa.types.is_time(kind):
        return Type.TIME, True
    if pa.types.is_temporal(kind):
        return Type.DATE, True
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
        return Type.WHOLE, True
    finite = bool(pc.all(pc.is_finite(parsed.cast(pa.float64()))).as_py())
    # libraries without a missing integer store whole numbers as floats
    is_float = finite and pa.types.is_floating(values.type)
    whole = is_float and pc.all(pc.equal(pc.floor(parsed), parsed)).as_py()
    return (Type.WHOLE if whole else Type.DECIMAL), finite
