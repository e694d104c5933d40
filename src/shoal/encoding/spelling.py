"""Spellings of one value: what is left of a text without case, spaces and the form of its characters.

A folded text depends on the text alone, not on the other values of its column. So what a method reads in
the table and what a verifier reads in the release fold alike, whatever was suppressed and on any engine.
"""

import datetime
import html
import re
import unicodedata
from dataclasses import dataclass
from decimal import Context, Decimal, Overflow

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Codes, Ints
from shoal.errors import counted

SETTLED_NUMBER = r"^(0|-?[1-9]\d*|-?(0|[1-9]\d*)\.\d*[1-9])$"
"""A number in its shortest form, which folds to itself."""
SIMPLE = r"^[A-Za-z][!-%'-~]*( [!-%'-~]+)*$"
"""A plain text that is neither number nor date, nor has a reference: only its case is to be folded."""
MISREAD = re.compile("[\u00c2-\u00f4][^\u0000-\u007f]")
"""What text in UTF-8 begins with where it was read as Windows-1252 or Latin-1."""
REFERENCE = re.compile(r"&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});")
"""A character as HTML writes it."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?", re.ASCII)
DATES = (
    re.compile(r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})", re.ASCII),
    re.compile(r"(?P<y>\d{4})/(?P<m>\d{1,2})/(?P<d>\d{1,2})", re.ASCII),
    re.compile(r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})", re.ASCII),
)
"""Dates that can be read in one way only."""
TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[t ](\d\d:\d\d)(:(\d\d)(\.\d+)?)?(z|([+-])(\d\d):?(\d\d)?)?", re.ASCII
)
MINUS = "\N{MINUS SIGN}"
IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
"""Characters beside those of category Cf that are not drawn: Unicode's Default_Ignorable_Code_Point."""
BLANK_SIGNS = str.maketrans(
    {"\N{BRAILLE PATTERN BLANK}": " ", "\N{MUSICAL SYMBOL NULL NOTEHEAD}": " "}
)
"""Signs that are drawn as nothing but a space."""
LONG_NUMBER = 399
"""Numbers of more characters may have a shorter form, with an exponent; see `_number`."""
EXACT = Context(prec=20_000, Emax=999_999, Emin=-999_999)


def fold_texts(texts: pa.Array, numbers: bool = True) -> pa.Array:
    """(n,) string: the folded form of each text, the same for all spellings of one value.

    numbers: whether equal numbers and dates fold alike.
    """
    texts = texts.cast(pa.string())
    settled = pc.match_substring_regex(texts, SETTLED_NUMBER)
    settled = pc.and_(settled, pc.less_equal(pc.binary_length(texts), LONG_NUMBER))
    simple = pc.match_substring_regex(texts, SIMPLE)
    folded = pc.if_else(simple, pc.ascii_lower(texts), texts)
    others = np.flatnonzero(
        pc.fill_null(pc.invert(pc.or_(settled, simple)), False).to_numpy(zero_copy_only=False)
    )
    if not len(others):
        return folded
    found = [fold(text, numbers) for text in texts.take(pa.array(others)).to_pylist()]
    place = np.arange(len(texts))
    place[others] = len(texts) + np.arange(len(others))
    return pa.concat_arrays([folded, pa.array(found, pa.string())]).take(pa.array(place))


def fold(text: str, numbers: bool = True) -> str:
    """The folded form of one text: Unicode NFKC, without case, invisible characters and spaces at its
    ends; runs of spaces are one, and digits and minus signs are those of ASCII. Numbers, also with a
    percent sign, are in their shortest form, dates and times in ISO form, unless `numbers` is false."""
    folded = fold_characters(text)
    if not numbers:
        return folded
    sign = "%" if folded.endswith("%") else ""
    if NUMBER.fullmatch(number := folded.removesuffix("%").rstrip()):
        return _number(number) + sign
    return _date(folded) or _moment(folded) or folded


def fold_characters(text: str) -> str:
    """A text as a reader sees it, without its case: numbers and dates stay as they are written."""
    folded = unicodedata.normalize("NFKC", well_read(text)).casefold()
    if not (folded.isascii() and folded.isprintable()):
        # before the last normalisation: letters and accents may have been parted by one
        folded = "".join(c for c in folded if not is_invisible(c))
    folded = unicodedata.normalize("NFKC", folded)
    if not folded.isascii():
        folded = "".join(map(in_ascii, folded)).translate(BLANK_SIGNS)
    return " ".join(folded.split())


def well_read(text: str) -> str:
    """A text as it was meant: letters in UTF-8 that a program read in another encoding, as `MÃ¼ller`,
    and characters as HTML writes them, as `M&uuml;ller`. Others as they are."""
    if REFERENCE.search(text):
        text = html.unescape(text)
    while MISREAD.search(text):
        for encoding in ("cp1252", "latin-1"):
            try:
                better = text.encode(encoding).decode("utf-8")
            except UnicodeError:
                continue
            text = better
            break
        else:
            break
    return text


def is_invisible(character: str) -> bool:
    """Whether a character shows nothing and takes no space: of format or control, or ignorable."""
    kind = unicodedata.category(character)
    if kind == "Cc":
        return not character.isspace()
    return kind == "Cf" or IGNORABLE.match(character) is not None


def in_ascii(character: str) -> str:
    """A digit of any script, or the minus sign of mathematics, in ASCII; others as they are."""
    if character == MINUS:
        return "-"
    return str(unicodedata.decimal(character, character))


def is_blank(texts: pa.Array) -> pa.Array:
    """(n,) bool: whether each text is empty, or only spaces and invisible characters."""
    visible = pc.match_substring_regex(texts, r"^\s*[!-%'-~]")
    unclear = np.flatnonzero(pc.fill_null(pc.invert(visible), False).to_numpy(zero_copy_only=False))
    blank = np.zeros(len(texts), np.bool_)
    blank[unclear] = [not fold(text) for text in texts.take(pa.array(unclear)).to_pylist()]
    return pa.array(blank)


def _number(text: str) -> str:
    try:
        number = Decimal(text).normalize(EXACT)
    except Overflow:  # longer than any number that is computed with
        return text
    if not number:
        return "0"
    return f"{number:f}" if abs(number.adjusted()) < 400 else str(number)


def _date(text: str) -> str | None:
    for form in DATES:
        if found := form.fullmatch(text):
            try:
                return datetime.date(int(found["y"]), int(found["m"]), int(found["d"])).isoformat()
            except ValueError:
                return None
    return None


def _moment(text: str) -> str | None:
    """A time in ISO form; midnight is its date alone, as in the text of a table's value. One with an
    offset is the same moment in UTC."""
    if not (found := TIME.fullmatch(text)):
        return None
    day, clock, _, seconds, fraction, zone, sign, hours, minutes = found.groups()
    offset = datetime.timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    if offset >= datetime.timedelta(days=1):
        return None
    if offset:
        try:
            there = datetime.datetime.fromisoformat(f"{day}T{clock}")
            moment = there - offset if sign == "+" else there + offset
        except (ValueError, OverflowError):
            return None
        day, clock = moment.date().isoformat(), f"{moment:%H:%M}"
    rest = f"{clock}:{seconds or '00'}{(fraction or '').rstrip('0').rstrip('.')}"
    if zone is None and rest == "00:00:00":
        return day
    return f"{day}T{rest}{'Z' if zone else ''}"


@dataclass(frozen=True)
class Spellings:
    """The spellings of a column of which several are one value."""

    spellings: int
    """Different texts of the column."""
    values: int
    """Different values that they are."""
    alone: int
    """Spellings that one row has, of values that others have in another spelling."""

    def warnings(self, name: str) -> list[str]:
        """What the publisher should know."""
        found = [
            f"{name}: {counted(self.spellings, 'spelling')} read as {counted(self.values, 'value')}. "
            "Case, spaces, Unicode form and the form of numbers and dates make no difference; where "
            f"they do, write `spelling: exact` under {name}."
        ]
        if self.alone:
            found.append(
                f"{name}: {counted(self.alone, 'spelling')} of a value "
                f"{'occurs in one row only' if self.alone == 1 else 'occur in one row each'}, while "
                "others spell the value in another way. Who knows the spelling finds the row: spell "
                "the values alike before publishing."
            )
        return found


def merge_spellings(
    texts: pa.Array, codes: Codes, rows: Ints, numbers: bool = True
) -> tuple[Codes, Spellings | None]:
    """Give all spellings of a value one code: that of the one with the smallest code.

    Parameters
    ----------
    texts : (m,)
        The distinct texts.
    codes : (m,)
        The code of each; texts may share one already.
    rows : (m,)
        Rows with each text.
    numbers : bool
        Whether equal numbers and dates are one value.

    Returns
    -------
    codes : (m,)
        The code of each text.
    found : Spellings or None
        What was merged, None where nothing was.
    """
    if not len(texts):
        return codes, None
    folded = fold_texts(texts, numbers).dictionary_encode()
    value = folded.indices.to_numpy(zero_copy_only=False)
    merged = codes
    while True:  # texts that fold alike, or have one code, are one value
        before, merged = merged, _smallest(_smallest(merged, value), codes)
        if (before == merged).all():
            break
    _, number, times = np.unique(merged, return_inverse=True, return_counts=True)
    if len(times) == len(texts):
        return codes, None
    alone = int(((times[number.reshape(-1)] > 1) & (rows == 1)).sum())
    return merged, Spellings(len(texts), len(times), alone)


def _smallest(codes: Codes, group: npt.NDArray[np.integer]) -> Codes:
    """(m,) the smallest of the codes in the group of each."""
    first = np.full(int(group.max()) + 1, np.iinfo(np.int32).max, np.int32)
    np.minimum.at(first, group, codes)
    return first[group]
