"""What a column holds, what its name says about people, and which role it should have.

The name is split into words (`birthDate`, `birth-date`, `birth_date`: birth, date), and runs of up to
three of them are looked up, written together. Where several match, the last one wins: it is what the
name is about (a `health region` is a region). A name that matches nothing leaves the decision to the
values. In doubt the careful role is suggested; only people know what other people know.

Texts are parsed as a policy does: files give every column as text, and numbers or dates among them are
still numbers or dates.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
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
from shoal.hierarchy.text import text_of

Hint = Literal["person", "quasi", "sensitive", "preference"]
Role = Literal[
    "identifier", "person", "quasi", "sensitive", "plain", "preference", "undecided", "weight"
]
Treatment = Literal["dropped", "kept", "read", "ordered", "unordered", "mask", "date"]

BY_TYPE = "the column has this type"
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
"""From this many distinct values on, a column of unknown meaning counts as a quasi-identifier."""
LONG_TEXT = 40
"""Average length from which text counts as free text."""

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
LONGEST_RUN = 3


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


PERSON = _set(
    """
    surname forename firstname lastname fullname givenname familyname middlename maidenname
    nickname username login email mail emailaddress phone telephone tel mobile cellphone fax ssn
    socialsecurity passport licence license licenceplate licenseplate plate vin iban bic
    accountnumber accountno creditcard cardnumber ip ipaddress macaddress deviceid imei uuid guid
    mrn medicalrecord recordnumber nhsnumber insurancenumber policynumber taxid taxnumber
    nationalid nationalinsurance personnummer address addressline homeaddress street url website
    homepage photo picture signature fingerprint twitter facebook
    """
)
"""Identifies one person, whatever the values look like."""

PEOPLE = _set(
    """
    first last full given family middle maiden legal birth display person people patient
    customer client user employee worker staff member student pupil teacher citizen resident
    applicant respondent subject participant donor passenger contact mother father parent child
    spouse partner doctor physician nurse
    """
)
"""Together with `name` or `id`, the name or number of one person."""
NAME_WORDS = _set("name names")
ID_WORDS = _set("id ids identifier key number no nr num code")

QUASI = _set(
    """
    age ages agegroup sex gender birth birthdate birthday birthyear birthplace dateofbirth
    placeofbirth dob yob born deathdate zip zipcode postcode postalcode postal plz race ethnicity
    ethnic ethn ethnicgroup black hispanic hisp asian female male
    nationality citizenship country nativecountry origin immigrant city town
    village county state province region district municipality borough neighbourhood neighborhood
    area location residence latitude longitude lat lon lng geo education educationlevel educ degree
    school schooling qualification university marital maritalstatus married civilstatus
    occupation job jobtitle profession position employment employer workclass industry hours
    workhours workinghours hoursperweek language mothertongue household householdsize children
    kids dependents relationship familysize height admission admitted discharge discharged
    visit visitdate tenure rank department housing vehicle car veteran eyecolour eyecolor haircolour
    haircolor
    """
)
"""What neighbours, colleagues or another table may know about a person."""

SENSITIVE = _set(
    """
    disease diseases diagnosis diagnoses illness condition symptom symptoms complaint treatment
    therapy medication medicine drug drugs prescription procedure surgery icd hiv disability
    disorder hepatitis tuberculosis tb tumor tumour cancer diabetes asthma epilepsy depression
    allergy allergies pregnancy pregnant health medical vaccination bloodtype
    mentalhealth smoker smoking alcohol salary income wage wages pay payment earnings revenue
    bonus credit creditscore debt loan balance wealth assets mortgage capitalgain capitalloss
    religion religious faith belief denomination politics political party vote union
    sexualorientation orientation sexuality criminal crime offence offense conviction arrest
    sentence genetic genotype dna gene biometric testresult labresult outcome
    """
)
"""What people may want to keep to themselves."""

PREFERENCE = _set(
    """
    protectionlevel protectionlevels privacylevel privacypreference privacypreferences
    protectionpreference ppl guardingnode protection privacy
    """
)
"""The protection that people prefer."""

POSTAL = _set("zip zipcode postcode postalcode postal plz")
"""Codes that are generalised by masking characters from the right."""

HINTS: dict[str, Hint] = {
    **dict.fromkeys(SENSITIVE, "sensitive"),
    **dict.fromkeys(QUASI, "quasi"),
    **dict.fromkeys(PERSON, "person"),
    **dict.fromkeys(PREFERENCE, "preference"),
}


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
    """The role that fits a column best: by its name, or else by its values."""
    role, reason = _role_by_name(column) or _role_by_values(column)
    treatments: dict[Role, Treatment] = {"identifier": "dropped", "preference": "read"}
    treatment = quasi_treatment(column) if role == "quasi" else treatments.get(role, "kept")
    return Suggestion(role, treatment, reason)


def quasi_treatment(column: Contents) -> Treatment:
    """How a quasi-identifier is best generalised."""
    is_short = column.type == Type.WHOLE or (
        column.type == Type.TEXT and 0 < column.longest_text <= LONGEST_CODE
    )
    if column.type == Type.CODE or (is_postal(column.name) and is_short):
        return "mask"
    if column.type == Type.DATE:
        return "date"
    return "ordered" if column.can_be_ordered else "unordered"


def _role_by_name(column: Contents) -> tuple[Role, str] | None:
    hint = hint_of(column.name)
    if hint is None:
        return None
    meaning, words = hint
    whole = words == " ".join(words_of(column.name))
    by_name = "by its name" if whole else f"by '{words}' in its name"
    if meaning == "person":
        return "identifier", f"{by_name} it points at one person"
    if meaning == "preference":
        return "preference", f"{by_name} it says what people asked for"
    if column.type == Type.OTHER or (meaning == "quasi" and column.distinct == 0):
        return None  # there is nothing to count or to generalise
    if meaning == "sensitive":
        return "sensitive", f"{by_name} people may want to hide it"
    return "quasi", f"{by_name} others may know it"


def _role_by_values(column: Contents) -> tuple[Role, str]:
    rows = column.rows - column.missing
    if column.distinct == 0:
        return "plain", "every value is missing, so it tells nothing"
    if column.type == Type.OTHER:
        return "identifier", "it holds neither text, numbers nor dates and cannot be made coarser"
    if rows >= FEWEST_ROWS:
        share = column.distinct / rows
        if column.type == Type.TEXT and column.text_length >= LONG_TEXT and share >= MOSTLY:
            return "identifier", "it holds long free text, which may name people"
        if is_number_name(column.name) and share >= MOSTLY:
            return "identifier", "it is called a number or code, and most rows have their own"
        if share >= NEARLY_ALL and column.type in (Type.TEXT, Type.CODE, Type.WHOLE):
            return "identifier", "nearly every row has a value of its own"
    if column.distinct == 1:
        return "plain", "all rows have the same value"
    if column.distinct >= MANY_VALUES or rows < FEWEST_ROWS:
        return "quasi", f"{column.distinct:,} different values can help to recognise people"
    return "plain", f"only {column.distinct} different values, and the name says nothing special"


def words_of(name: str) -> list[str]:
    """The words of a column's name, in lower case."""
    return [word.lower() for word in WORD.findall(name)]


def hint_of(name: str) -> tuple[Hint, str] | None:
    """The meaning of a column's name and the words that give it; None for a name without one."""
    words = words_of(name)
    if _identifies_a_person(words):
        return "person", " ".join(words)
    best: tuple[int, int, Hint, str] | None = None
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST_RUN, len(words)) + 1):
            hint = HINTS.get("".join(words[start:end]))
            # the last word wins; of two runs that end there, the longer one is more specific
            if hint and (best is None or (end, end - start) > best[:2]):
                best = (end, end - start, hint, " ".join(words[start:end]))
    return best and (best[2], best[3])


def is_number_name(name: str) -> bool:
    """Whether a name ends like those of keys and serial numbers: `ward_id`, `case no`."""
    words = words_of(name)
    return bool(words) and words[-1] in ID_WORDS


def is_postal(name: str) -> bool:
    """Whether a name is that of a postal code."""
    words = words_of(name)
    pairs = ["".join(pair) for pair in pairwise(words)]
    return not POSTAL.isdisjoint([*words, *pairs])


def _identifies_a_person(words: list[str]) -> bool:
    """`name`, `patient name`, `id`, `patient id`; not `country name`, `ward id` or `code`."""
    if not words or not set(words[:-1]) <= PEOPLE:
        return False
    if words[-1] in NAME_WORDS or words in (["id"], ["ids"], ["identifier"]):
        return True
    return len(words) > 1 and words[-1] in ID_WORDS


def contents_of(
    name: str, column: pa.ChunkedArray | pa.Array, reading: ValueReading = AS_FOUND
) -> Contents:
    """Count the values of one column of a table; `reading`: how texts are written."""
    values, index, nested = _encoded(column)
    known = index >= 0
    missing = len(index) - int(known.sum())
    codes = index if not missing else np.where(known, index, len(values))
    counts = np.bincount(codes, minlength=len(values) + bool(missing)).astype(np.int64)
    likely: list[str] = [] if nested else likely_codes(text_of(values))
    several = Taken(Type.OTHER, False, "its values consist of several")
    taken = several if nested else _type(_without_codes(values, likely), reading)
    kind = taken.type
    length, longest = 0.0, 0
    if kind in (Type.TEXT, Type.CODE):
        lengths = pc.utf8_length(text_of(values))
        length, longest = pc.mean(lengths).as_py(), pc.max(lengths).as_py()
    return Contents(
        name,
        kind,
        codes,
        counts,
        missing,
        length,
        longest,
        taken.can_be_ordered,
        taken.reason,
        taken.written,
        taken.question,
        taken.answers,
        likely_missing=tuple(likely),
    )


def _without_codes(values: pa.Array, likely: list[str]) -> pa.Array:
    """The values that are neither blank nor likely codes for missing ones, all if there are no others:
    with an `NA` or a blank among them, numbers are still numbers."""
    gone = is_missing(text_of(values), likely)
    if not gone.any() or gone.all():
        return values
    known = values.cast(pa.string()) if pa.types.is_string_view(values.type) else values
    return known.filter(pa.array(~gone))


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
