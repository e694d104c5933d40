"""Direct identifiers, recognised by what the cells of a column hold.

A column is recognised where nearly all of its cells have the shape of an identifier and, where the
identifier has check digits, these are right. By chance one number in ten has the right check digit, so
most must. Check digits are computed by python-stdnum, which knows the rules of each country.

All texts are searched for identifiers inside of them: the forms that the presets search releases for,
so that a draft is never weaker than they are (`presets/identifiers.py`), phone numbers as they are
written within a country, and names of people (a title or a common given name, followed by another name).

Only kinds and shares are reported, never a value.
"""

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Ints
from shoal.encoding.vocabulary import folded
from shoal.errors import percent
from shoal.presets.identifiers import FORMS, shows
from shoal.presets.identifiers import IBAN as IBAN_FORM
from shoal.presets.identifiers import PHONE as PHONE_FORM
from shoal.risk.given_names import GIVEN_NAMES

LOOKED_AT = 1_000
"""Different values of a column that are looked at."""
FIRST = 40
"""Values on which most kinds are ruled out."""
NEARLY_ALL = 0.8
"""The share of cells that must be of a kind."""
MOSTLY = 0.5
"""The same for kinds whose shape nothing else has."""
FEWEST = 5
"""Different values of a kind that make a column one of it."""
SOME_NAMES = 0.3
"""From this share of common given names on, a column of words is one of names: the list is short."""
NAMES = "names of people"
CALLED = {PHONE_FORM: "phone numbers", IBAN_FORM: "bank account numbers (IBAN)"}
"""Forms that are recognised here in more spellings, with what they are called."""
LONG_TEXT = 25
"""Mean length from which on text with spaces is searched for what it contains."""

EMAIL = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
URL = r"(https?://|www\.)[^\s]+\.[^\s]+"
PHONE = (
    r"(\+|00)[1-9][0-9 ()./-]{6,18}[0-9]"
    r"|\(?0[0-9 ()./-]{7,17}[0-9]"
    r"|\(?[2-9][0-9]{2}\)?[ .-] ?[0-9]{3}[ .-][0-9]{4}"
)
PHONE_INSIDE = re.compile(
    r"(?<![\w.,/+-])(?:"
    r"(?:\+|00)[1-9]\d{0,2}[ ()./-]{0,2}\d[\d ()./-]{5,15}\d"  # +49 351 1234567, 0049 ...
    r"|\(0[1-9]\d{0,4}\)[ /-]?\d[\d -]{3,10}\d"  # (0351) 1234567
    r"|0[1-9]\d{1,4}[ /-]\d[\d -]{4,10}\d"  # 0351 1234567, 020 7946 0958
    r"|0[1-9] \d{7,9}"  # 06 12345678
    r"|0[1-9](?:[ .-]\d{2}){4}"  # 01 23 45 67 89
    r"|0[1-9]\d{8,10}"  # 03511234567
    r")(?![\w-])"
    r"|\(?\b[2-9]\d{2}\)?[ .-] ?\d{3}[.-]\d{4}\b"  # 617-555-1234
    r"|\b(?:tel|telefono?|telefone?|telephone|téléphone|phone|fax|mobil|mobile|cell|handy|m[oó]vil|call"
    r"|callback|ruf|anruf|ruft an|appeler|llamar|whatsapp|sms)\b[^\w+(]{0,4}(?:no|nr)?[^\w+(]{0,3}"
    r"[+(]?\d[\d ()./-]{5,18}\d",  # after such a word any long number is one
    re.IGNORECASE | re.ASCII,
)
TELLING = r"@|:|[wW]{3}\.|[0-9](?:.*[0-9]){6}|(?:\.[0-9]+){3}|-[0-9A-Fa-f]{2}-[0-9A-Fa-f]{2}-"
"""What a text has that contains an identifier other than a name; much else has it too."""
MOST_SEARCHED = 20_000
"""Different texts with such marks that are searched."""
IBAN = r"[A-Za-z]{2}[0-9]{2}( ?[A-Za-z0-9]){11,30}"
CARD = r"[2-6]([0-9][ -]?){12,18}"
NUMBER = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ./+-]{7,22}")
WORDS = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
NAME_SHAPE = re.compile(r"[^\W\d_][^\d_@/:;!?()]{1,39}")
TITLES = (
    "Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Mme|Monsieur|Madame|Sr|Sra|Señor|Señora|Sig|Signora|Pan|Pani"
    "|Mevrouw|Meneer"
)
NAMED = re.compile(
    rf"\b(?:(?:{TITLES})\.? (?=[^\W\d_a-zß-ÿ])|([^\W\d_]+),? +(?=[^\W\d_a-zß-ÿ][^\W\d_]))"
)

PERSONAL_NUMBERS = {
    "at.vnr": "Austrian social security numbers",
    "be.nn": "Belgian national numbers",
    "bg.egn": "Bulgarian personal numbers",
    "ch.ssn": "Swiss social security numbers",
    "cz.rc": "Czech or Slovak birth numbers",
    "de.idnr": "German tax ids",
    "dk.cpr": "Danish personal numbers",
    "ee.ik": "Estonian or Lithuanian personal codes",
    "es.dni": "Spanish identity numbers (DNI)",
    "es.nie": "Spanish identity numbers (NIE)",
    "fi.hetu": "Finnish personal identity codes",
    "fr.nir": "French social security numbers",
    "gb.nhs": "NHS numbers",
    "gr.amka": "Greek social security numbers",
    "hr.oib": "Croatian personal numbers",
    "ie.pps": "Irish personal public service numbers",
    "is_.kennitala": "Icelandic personal numbers",
    "it.codicefiscale": "Italian fiscal codes",
    "nl.bsn": "Dutch citizen service numbers",
    "no.fodselsnummer": "Norwegian birth numbers",
    "pl.pesel": "Polish PESEL numbers",
    "pt.cc": "Portuguese identity numbers",
    "ro.cnp": "Romanian personal codes",
    "se.personnummer": "Swedish personal numbers",
    "si.emso": "Slovenian citizen numbers",
    "us.ssn": "US social security numbers",
}
"""The modules of python-stdnum, with what they check."""
SHAPES = {
    "us.ssn": re.compile(r"[0-9]{3}-[0-9]{2}-[0-9]{4}"),
    "dk.cpr": re.compile(r"[0-9]{6}-?[0-9]{4}"),
    "ch.ssn": re.compile(r"756.*"),
    "pt.cc": re.compile(r"[0-9]{8} ?[0-9] ?[A-Z0-9]{2}[0-9]"),
}
"""Numbers whose module accepts more than is meant here; without dashes an SSN is any nine digits."""
NINO = re.compile(
    r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]( ?[0-9]{2}){3} ?[A-D]?", re.I
)
MAC = re.compile(r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}")


@dataclass(frozen=True)
class Recognised:
    """Identifiers of a kind that a column holds."""

    kind: str
    """What they are, in the plural."""
    share: float
    """Of the cells with a value."""
    inside: bool
    """Whether cells contain them among other text."""

    @property
    def words(self) -> str:
        """`98 % of its values are e-mail addresses`."""
        how = "contain" if self.inside else "are"
        return f"{percent(self.share)} of its values {how} {self.kind}"


def recognise(texts: pa.Array, rows: Ints, search: bool = True) -> tuple[Recognised, ...]:
    """The identifiers among distinct texts of a column, the most frequent kind first.

    texts: without missing ones. rows: (n,) the rows of each. search: whether to look inside of them, as
    numbers hold nothing else.
    """
    if not rows.sum():
        return ()
    cells = _cells(*_sample(texts, rows))
    found = _whole(cells) if len(texts) >= FEWEST else None
    if found is not None:
        return (found,)
    return _inside(cells, texts, rows) if search else ()


@dataclass(frozen=True)
class _Cells:
    array: pa.Array
    texts: list[str]
    rows: Ints

    def share(self, which: Bools) -> float:
        """The share of rows whose text is marked."""
        return float(self.rows[which].sum() / self.rows.sum())

    def matching(self, pattern: str) -> Bools:
        """(n,) whether each text contains a match, by Arrow's regular expressions."""
        found = pc.match_substring_regex(self.array, pattern)
        return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)


def _cells(texts: pa.Array, rows: Ints) -> _Cells:
    trimmed = pc.utf8_trim_whitespace(texts)
    return _Cells(trimmed, trimmed.to_pylist(), rows)


def _sample(texts: pa.Array, rows: Ints, most: int = LOOKED_AT) -> tuple[pa.Array, Ints]:
    """Some of the texts, evenly over their order, which does not depend on that of the rows."""
    if len(texts) <= most:
        return texts, rows
    order = pc.sort_indices(texts).to_numpy()
    chosen = order[np.linspace(0, len(order) - 1, most).astype(np.int64)]
    return texts.take(pa.array(chosen)), rows[chosen]


def _whole(cells: _Cells) -> Recognised | None:
    """The kind that nearly all cells are of."""
    shapes = (("e-mail addresses", EMAIL, MOSTLY), ("web addresses", URL, MOSTLY))
    for kind, pattern, least in shapes:
        if (share := cells.share(cells.matching(f"^(?:{pattern})$"))) >= least:
            return Recognised(kind, share, False)
    checked: list[tuple[str, Callable[[str], bool]]] = [
        ("network addresses", _is_ip),
        ("network addresses", lambda text: MAC.fullmatch(text) is not None),
    ]
    if _numbers(cells):
        checked += [
            ("bank account numbers (IBAN)", _iban),
            ("payment card numbers", _card),
            *((kind, _personal(module)) for module, kind in PERSONAL_NUMBERS.items()),
            ("UK national insurance numbers", lambda text: NINO.fullmatch(text) is not None),
        ]
    best: Recognised | None = None
    for kind, check in checked:
        share = _share_of(cells, check)
        if share >= NEARLY_ALL and (best is None or share > best.share):
            best = Recognised(kind, share, False)
    if best is not None:
        return best
    if (share := cells.share(cells.matching(rf"^(?:{PHONE})$"))) >= NEARLY_ALL:
        return Recognised("phone numbers", share, False)
    return _names(cells)


def _numbers(cells: _Cells) -> bool:
    """Whether most cells look like a number that may have check digits."""
    some = cells.texts[:: max(1, len(cells.texts) // FIRST)][:FIRST]
    fits = [
        NUMBER.fullmatch(text) is not None and sum(map(str.isdigit, text)) >= 6 for text in some
    ]
    return sum(fits) >= MOSTLY * len(fits)


def _share_of(cells: _Cells, check: Callable[[str], bool]) -> float:
    """The share of cells for which a check holds; 0 where it does not for most of a few."""
    step = max(1, len(cells.texts) // FIRST)
    first = [check(text) for text in cells.texts[::step]]
    if sum(first) < MOSTLY * len(first):
        return 0.0
    return cells.share(np.fromiter(map(check, cells.texts), np.bool_, len(cells.texts)))


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("/")[0])
    except ValueError:
        return False
    return "." in text or ":" in text


def _iban(text: str) -> bool:
    from stdnum import iban

    return re.fullmatch(IBAN, text) is not None and iban.is_valid(text, check_country=False)


def _card(text: str) -> bool:
    from stdnum import luhn

    digits = re.sub(r"[ -]", "", text)
    shape = re.fullmatch(CARD, text) is not None and 13 <= len(digits) <= 19
    return shape and luhn.is_valid(digits)


def _personal(module: str) -> Callable[[str], bool]:
    shape = SHAPES.get(module)

    def check(text: str) -> bool:
        if NUMBER.fullmatch(text) is None or (shape and shape.fullmatch(text) is None):
            return False
        return bool(import_module(f"stdnum.{module}").is_valid(text))

    return check


def _names(cells: _Cells) -> Recognised | None:
    """Names of people: short texts of a few capitalised words, many of them common given names."""
    shaped = np.fromiter((_looks_like_a_name(text) for text in cells.texts), np.bool_)
    if cells.share(shaped) < NEARLY_ALL:
        return None
    known = np.fromiter((_has_given_name(text) for text in cells.texts), np.bool_)
    if known.sum() < FEWEST or known.mean() < SOME_NAMES or cells.share(known) < SOME_NAMES:
        return None
    return Recognised(NAMES, cells.share(known), False)


def _looks_like_a_name(text: str) -> bool:
    if NAME_SHAPE.fullmatch(text) is None:
        return False
    words = WORDS.findall(text)
    return 1 <= len(words) <= 5 and (words[0][0].isupper() or text.isupper())


def _has_given_name(text: str) -> bool:
    return any(_is_given_name(word) for word in WORDS.findall(text))


def _is_given_name(word: str) -> bool:
    return any(part in GIVEN_NAMES for part in folded(word).lower().split("-"))


def _inside(cells: _Cells, texts: pa.Array, rows: Ints) -> tuple[Recognised, ...]:
    """What the cells contain among other text; names are looked for in a sample of them."""
    if all(map(str.isdigit, cells.texts)):
        return ()  # long codes of digits are not taken for phone numbers of another country
    telling = pc.match_substring_regex(texts, TELLING).to_numpy(zero_copy_only=False)
    searched = _cells(*_sample(texts.filter(pa.array(telling)), rows[telling], MOST_SEARCHED))
    weight = float(rows[telling].sum() / rows.sum())
    found = []
    for kind, (form, _) in FORMS.items():
        which = [shows(kind, text) or _spelt(form, text) for text in searched.texts]
        if any(which):
            share = weight * searched.share(np.array(which, np.bool_))
            found.append(Recognised(CALLED.get(form, kind), share, True))
    named = np.fromiter(map(_names_a_person, cells.texts), np.bool_, len(cells.texts))
    # a single category may be called like a person
    if named.sum() >= (1 if _is_free_text(cells) else FEWEST):
        found.append(Recognised(NAMES, cells.share(named), True))
    return tuple(sorted(found, key=lambda one: -one.share))


def _is_free_text(cells: _Cells) -> bool:
    lengths = [len(text) for text in cells.texts]
    spaces = sum(" " in text for text in cells.texts)
    return sum(lengths) >= LONG_TEXT * len(lengths) and spaces >= MOSTLY * len(lengths)


def _spelt(form: re.Pattern[str], text: str) -> bool:
    """Phone numbers as within a country; account numbers in small letters, or followed by words."""
    if form is PHONE_FORM:
        return PHONE_INSIDE.search(text) is not None
    if form is not IBAN_FORM:
        return False
    return any(_iban_inside(match.group()) for match in re.finditer(rf"\b{IBAN}\b", text))


def _iban_inside(text: str) -> bool:
    """An IBAN may be followed by words that look like a part of it."""
    words = text.split(" ")
    return any(_iban(" ".join(words[:n])) for n in range(1, len(words) + 1))


def _names_a_person(text: str) -> bool:
    for match in NAMED.finditer(text):
        if match.group(1) is None or (
            match.group(1)[0].isupper() and _is_given_name(match.group(1))
        ):
            return True
    return False


def listed_kinds(found: Sequence[Recognised]) -> str:
    """All that was recognised, in one sentence."""
    return "; ".join(one.words for one in found)
