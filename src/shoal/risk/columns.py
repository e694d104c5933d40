"""What a column's name says about people.

A name is split into plain words (`birthDate`, `birth-date`, `birth_date`: birth, date), and runs of
up to three of them are looked up, written together. Where several speak, the last one wins: it is
what the name is about (a `health region` is a region).
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.encoding.values import PADDED, ordered_values
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.text import text_of

Hint = Literal["person", "quasi", "sensitive", "preference"]

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
"""Names one person, whatever the values look like."""

PEOPLE = _set(
    """
    first last full given family middle maiden legal birth display person people patient
    customer client user employee worker staff member student pupil teacher citizen resident
    applicant respondent subject participant donor passenger contact mother father parent child
    spouse partner doctor physician nurse
    """
)
"""Beside `name` or `id` these make a name or number of one person."""
NAME_WORDS = _set("name names")
ID_WORDS = _set("id ids identifier key number no nr num code")

QUASI = _set(
    """
    age ages agegroup sex gender birth birthdate birthday birthyear birthplace dateofbirth
    placeofbirth dob yob born deathdate zip zipcode postcode postalcode postal plz race ethnicity
    ethnic ethnicgroup nationality citizenship country nativecountry origin immigrant city town
    village county state province region district municipality borough neighbourhood neighborhood
    area location residence latitude longitude lat lon lng geo education educationlevel degree
    school schooling qualification university marital maritalstatus married civilstatus
    occupation job jobtitle profession position employment employer workclass industry hours
    workhours workinghours hoursperweek language mothertongue household householdsize children
    kids dependents relationship familysize height admission admitted discharge discharged
    visit visitdate tenure rank department housing vehicle car veteran eyecolour eyecolor haircolour
    haircolor
    """
)
"""What neighbours, colleagues or another table may know about somebody."""

SENSITIVE = _set(
    """
    disease diseases diagnosis diagnoses illness condition symptom symptoms complaint treatment
    therapy medication medicine drug drugs prescription procedure surgery icd hiv disability
    disorder allergy allergies pregnancy pregnant health medical vaccination bloodtype
    mentalhealth smoker smoking alcohol salary income wage wages pay payment earnings revenue
    bonus credit creditscore debt loan balance wealth assets mortgage capitalgain capitalloss
    religion religious faith belief denomination politics political party vote union
    sexualorientation orientation sexuality criminal crime offence offense conviction arrest
    sentence genetic genotype dna gene biometric testresult labresult outcome
    """
)
"""What somebody may want to keep to themselves."""

PREFERENCE = _set(
    """
    protectionlevel protectionlevels privacylevel privacypreference privacypreferences
    protectionpreference ppl guardingnode protection privacy
    """
)
"""What people asked for."""

POSTAL = _set("zip zipcode postcode postalcode postal plz")
"""Codes that grow coarser when characters are hidden from the right."""

LOOKED_UP: dict[str, Hint] = {
    **dict.fromkeys(SENSITIVE, "sensitive"),
    **dict.fromkeys(QUASI, "quasi"),
    **dict.fromkeys(PERSON, "person"),
    **dict.fromkeys(PREFERENCE, "preference"),
}


def words_of(name: str) -> list[str]:
    """The words of a column's name, in lower case."""
    return [word.lower() for word in WORD.findall(name)]


def hint_of(name: str) -> tuple[Hint, str] | None:
    """What the name says, and the words that say it; None where it says nothing."""
    words = words_of(name)
    if _names_a_person(words):
        return "person", " ".join(words)
    best: tuple[int, int, Hint, str] | None = None
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST_RUN, len(words)) + 1):
            hint = LOOKED_UP.get("".join(words[start:end]))
            # the last word wins; of two runs that end there, the longer one says more
            if hint and (best is None or (end, end - start) > best[:2]):
                best = (end, end - start, hint, " ".join(words[start:end]))
    return best and (best[2], best[3])


def is_number_name(name: str) -> bool:
    """Whether the name ends as those of running numbers and keys do: `ward_id`, `case no`."""
    words = words_of(name)
    return bool(words) and words[-1] in ID_WORDS


def is_postal(name: str) -> bool:
    """Whether the name is that of a postal code."""
    words = words_of(name)
    pairs = ["".join(pair) for pair in pairwise(words)]
    return not POSTAL.isdisjoint([*words, *pairs])


def _names_a_person(words: list[str]) -> bool:
    """`name`, `patient name`, `id`, `patient id`; not `country name`, `ward id` or `code`."""
    if not words or not set(words[:-1]) <= PEOPLE:
        return False
    if words[-1] in NAME_WORDS or words in (["id"], ["ids"], ["identifier"]):
        return True
    return len(words) > 1 and words[-1] in ID_WORDS


# What a column holds: codes for counting, and its type in words.


SAMPLE = 1000
"""So many values are looked at before all of them are."""
LONGEST_CODE = 12
"""Digits beyond this are no postal code or the like."""
DIGITS = rf"^[0-9]{{2,{LONGEST_CODE}}}$"


class Type(StrEnum):
    """What the values of a column are, in words."""

    EMPTY = "no values"
    BOOLEAN = "true or false"
    WHOLE = "whole numbers"
    DECIMAL = "decimal numbers"
    DATE = "dates"
    OTHER_DATE = "dates, not ISO"
    TIME = "times"
    CODE = "digit codes"
    TEXT = "text"
    OTHER = "other data"


@dataclass(frozen=True)
class Contents:
    """One column, counted."""

    name: str
    type: Type
    codes: npt.NDArray[np.integer]
    """(n,) equal values have equal codes, 0 .. size - 1; missing is a value of its own. Nothing where
    the rows are not at hand."""
    counts: Ints
    """(size,) rows of each code; those of missing values, if there are any, come last. With `times`:
    (m,) the different counts there are."""
    missing: int
    """Rows without a value."""
    text_length: float
    """Characters of the average different text; 0 for columns that hold no text."""
    longest_text: int
    """Characters of the longest; 0 for columns that hold no text."""
    can_be_ordered: bool
    """Whether every value is a finite number, a date or a time."""
    times: Ints | None = None
    """(m,) how many codes have each of the counts, where codes were counted elsewhere."""

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return int((self.counts * self._times).sum())

    @property
    def size(self) -> int:
        """How many codes there are."""
        return int(self._times.sum())

    @property
    def distinct(self) -> int:
        """Different values; missing is none."""
        return self.size - bool(self.missing)

    @property
    def unique_rows(self) -> int:
        """Rows with a value that no other row has; missing values are alike."""
        return int(self._times[self.counts == 1].sum())

    @property
    def entropy(self) -> float:
        """How much the column tells about a row, in bits."""
        shares = self.counts / max(1, self.rows)
        return float(-(shares * np.log2(shares) * self._times).sum())

    @property
    def _times(self) -> Ints:
        return np.ones(len(self.counts), np.int64) if self.times is None else self.times


def contents_of(name: str, column: pa.ChunkedArray | pa.Array) -> Contents:
    """Count one column of a table."""
    values, index, nested = _encoded(column)
    known = index >= 0
    missing = len(index) - int(known.sum())
    codes = index if not missing else np.where(known, index, len(values))
    counts = np.bincount(codes, minlength=len(values) + bool(missing)).astype(np.int64)
    kind, ordered = (Type.OTHER, False) if nested else _type(values)
    length, longest = _lengths(values) if kind in (Type.TEXT, Type.CODE) else (0.0, 0)
    return Contents(name, kind, codes, counts, missing, length, longest, ordered)


def _encoded(
    column: pa.ChunkedArray | pa.Array,
) -> tuple[pa.Array, Ints, bool]:
    """The distinct values, (n,) each row's place among them or -1, and whether only their Python
    text could be compared."""
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
        # not a number is not known, and zero has no sign
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


def _lengths(texts: pa.Array) -> tuple[float, int]:
    lengths = pc.utf8_length(text_of(texts))
    return pc.mean(lengths).as_py(), pc.max(lengths).as_py()


def _type(values: pa.Array) -> tuple[Type, bool]:
    """The type in words, and whether the values can be ordered."""
    kind = values.type
    if not len(values):
        return Type.EMPTY, False
    if pa.types.is_boolean(kind):
        return Type.BOOLEAN, False
    if _is_text(kind):
        return _type_of_texts(values)
    if _is_other(kind):
        return Type.OTHER, False
    return _ordered_type(values, values)


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_other(kind: pa.DataType) -> bool:
    types = pa.types
    numbers = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    moments = types.is_date(kind) or types.is_time(kind) or types.is_timestamp(kind)
    return not (numbers or moments)


def _type_of_texts(texts: pa.Array) -> tuple[Type, bool]:
    texts = texts.cast(pa.string()) if pa.types.is_string_view(texts.type) else texts
    parsed = _parsed(texts.slice(0, SAMPLE))
    if len(texts) > SAMPLE and not parsed.null_count:
        # most texts are no numbers, and the first few tell; only if they do not, all are read
        parsed = _parsed(texts)
    if parsed.null_count:
        return Type.TEXT, False
    if not pa.types.is_temporal(parsed.type) and _any_match(texts, PADDED):
        return (Type.CODE if _all_match(texts, DIGITS) else Type.TEXT), False
    return _ordered_type(texts, parsed)


def _parsed(texts: pa.Array) -> pa.Array:
    """The texts as numbers, dates or times, null where one is none."""
    parsed = ordered_values(texts, guess=False)
    assert parsed is not None  # only a guess may have no answer
    return parsed


def _ordered_type(values: pa.Array, parsed: pa.Array) -> tuple[Type, bool]:
    kind = parsed.type
    if pa.types.is_time(kind):
        return Type.TIME, True
    if pa.types.is_temporal(kind):
        return (Type.DATE if _all_iso(values) else Type.OTHER_DATE), True
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
        return Type.WHOLE, True
    finite = pc.all(pc.is_finite(parsed.cast(pa.float64()))).as_py()
    whole = pa.types.is_floating(values.type) and finite and _all_whole(parsed)
    return (Type.WHOLE if whole else Type.DECIMAL), bool(finite)


def _all_whole(numbers: pa.Array) -> bool:
    """Frames without a type for gaps hold whole numbers as floats."""
    return bool(pc.all(pc.equal(pc.floor(numbers), numbers)).as_py())


def _all_iso(values: pa.Array) -> bool:
    """Whether date parts can be made of every value."""
    _, leaves = DateParts(("year",)).build(values, "", Path())
    return bool((leaves >= 0).all())


def _any_match(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())


def _all_match(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


# Which role a column should have, and why, in one sentence.


Role = Literal["identifier", "quasi", "sensitive", "plain", "preference"]
Treatment = Literal["dropped", "kept", "read", "ordered", "unordered", "mask", "date"]

NEARLY_ALL = 0.9
"""From this share of different values on, a column of texts or whole numbers names rows."""
MOSTLY = 0.5
"""The same for a column whose name ends in `id` or `number`."""
FEWEST_ROWS = 20
"""In a smaller table different values prove nothing."""
MANY_VALUES = 10
"""From so many different values on, a column nobody explains is taken to help recognise people."""
LONG_TEXT = 40
"""Average length from which text is taken to be written freely."""


@dataclass(frozen=True)
class Suggestion:
    """A role, how the column is to be published, and why."""

    role: Role
    treatment: Treatment
    reason: str


def suggest(column: Contents) -> Suggestion:
    """The role that fits the column best."""
    role, reason = _role(column)
    return Suggestion(role, _treatment(role, column), reason)


def _role(column: Contents) -> tuple[Role, str]:
    return _by_name(column) or _by_values(column)


def _by_name(column: Contents) -> tuple[Role, str] | None:
    hint = hint_of(column.name)
    if hint is None:
        return None
    meaning, words = hint
    by_name = (
        "by its name" if words == " ".join(words_of(column.name)) else f"by '{words}' in its name"
    )
    if meaning == "person":
        return "identifier", f"{by_name} it points at one person"
    if meaning == "preference":
        return "preference", f"{by_name} it says what people asked for"
    if column.type == Type.OTHER or (meaning == "quasi" and column.distinct == 0):
        return None  # nothing there to be counted or generalised
    if meaning == "sensitive":
        return "sensitive", f"{by_name} people may want to hide it"
    return "quasi", f"{by_name} others may know it"


def _by_values(column: Contents) -> tuple[Role, str]:
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


def _treatment(role: Role, column: Contents) -> Treatment:
    if role == "quasi":
        return quasi_treatment(column)
    return {"identifier": "dropped", "preference": "read"}.get(role, "kept")  # type: ignore[return-value]


def quasi_treatment(column: Contents) -> Treatment:
    """How the column is best made coarser."""
    if column.type == Type.CODE or (is_postal(column.name) and _is_short_code(column)):
        return "mask"
    if column.type == Type.DATE:
        return "date"
    return "ordered" if column.can_be_ordered else "unordered"


def _is_short_code(column: Contents) -> bool:
    if column.type == Type.WHOLE:
        return True
    return column.type == Type.TEXT and 0 < column.longest_text <= LONGEST_CODE
