"""Identifiers that a published text shows by its form, whatever its column is called.

A form is listed here only where next to nothing else has it: one cell that has it is a violation.
Numbers with check digits must have the right ones.
"""

import re
from collections.abc import Callable
from unicodedata import normalize

DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
"""Dashes of other widths, and the sign of subtraction."""

PHONE = re.compile(
    r"(?<![\w.+-])(?:\+[1-9]\d{0,2}[ .()-]{0,2}(?:\d[ .()-]{0,2}){6,12}\d"
    r"|00[1-9]\d{0,2}[ .()/-]{1,2}(?:\d[ .()/-]{0,2}){5,12}\d"
    r"|\(?0[1-9]\d{1,4}\)?[ /-]{1,3}\d(?:[ -]?\d){4,10}|0[1-9](?:[ .-]\d{2}){4}"
    r"|(?:1[ .-])?\([2-9]\d{2}\) ?\d{3}[ .-]\d{4}|(?:1[ .-])?[2-9]\d{2}[ ./-]\d{3}[ .-]\d{4})(?![\w-])",
    re.ASCII,
)
EMAIL = re.compile(r"[\w.%+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")
URL = re.compile(r"\b(?:https?|ftp)://\S+|\bwww\.\S+\.\S+", re.IGNORECASE)
SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])", re.ASCII)
BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
IP = re.compile(
    rf"(?<![\w.])(?:{BYTE}\.){{3}}{BYTE}(?![\w.]|-\d)"
    r"|(?<![\w:])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])"
    r"|(?<![\w:])(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}(?![\w:])",
    re.ASCII | re.IGNORECASE,
)
MAC = re.compile(r"(?<![\w:-])[0-9A-F]{2}([:-])(?:[0-9A-F]{2}\1){4}[0-9A-F]{2}(?![\w:-])", re.I)
UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)
ZIP9 = re.compile(r"(?<![\d-])\d{5}-\d{4}(?![\d-])", re.ASCII)
COORDINATES = re.compile(
    r"(?<![\d.])[+-]?\d{1,2}\.\d{3,}\s*[,;]\s*[+-]?\d{1,3}\.\d{3,}(?![\d.])", re.ASCII
)
CARD = re.compile(r"(?<![\d.-])[2-6](?:\d[ -]?){11,17}\d(?![\d.-])", re.ASCII)
IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", re.ASCII)
VIN = re.compile(r"\b[A-HJ-NPR-Z0-9]{17}\b", re.ASCII)
VIN_LETTERS = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789", strict=True))
VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def is_card(text: str) -> bool:
    """Whether the digits of a card number have the right check digit (Luhn)."""
    digits = [int(c) for c in text if c.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = (2 * d - 9 * (d > 4) if i % 2 else d for i, d in enumerate(reversed(digits)))
    return sum(doubled) % 10 == 0


def is_iban(text: str) -> bool:
    """Whether the check digits of a bank account number are right (ISO 13616)."""
    bare = text.replace(" ", "")
    if not 15 <= len(bare) <= 34:
        return False
    return int("".join(str(int(c, 36)) for c in bare[4:] + bare[:4])) % 97 == 1


def is_vin(text: str) -> bool:
    """Whether the check digit of a vehicle's number is right (49 CFR 565)."""
    if text.isdigit() or text.isalpha():
        return False
    figures = (int(VIN_LETTERS.get(c, c)) for c in text)
    rest = sum(f * w for f, w in zip(figures, VIN_WEIGHTS, strict=True)) % 11
    return text[8] == ("X" if rest == 10 else str(rest))


def _always(text: str) -> bool:  # noqa: ARG001
    return True


FORMS: dict[str, tuple[re.Pattern[str], Callable[[str], bool]]] = {
    "e-mail addresses": (EMAIL, _always),
    "web addresses": (URL, _always),
    "phone or fax numbers": (
        PHONE,
        _always,
    ),
    "social security numbers": (SSN, _always),
    "network addresses": (IP, _always),
    "addresses of network devices": (MAC, _always),
    "unique codes (UUID)": (UUID, _always),
    "payment card numbers": (CARD, is_card),
    "bank account numbers": (IBAN, is_iban),
    "vehicle identification numbers": (VIN, is_vin),
    "nine-digit zip codes": (ZIP9, _always),
    "coordinates": (COORDINATES, _always),
}
"""What a text may show, each with its form and the check of its digits."""


def may_show(text: str) -> bool:
    """Whether a text is long enough, or has the marks, to contain an identifier at all."""
    if len(text) >= 13 or "@" in text or ":" in text or text.count(".") >= 3:
        return True
    return len(text) >= 8 and sum(map(str.isdigit, text)) >= 8


def plain(text: str) -> str:
    """A text with plain letters, digits, signs and dashes in place of those of other widths."""
    return text if text.isascii() else normalize("NFKC", text).translate(DASHES)


def shows(kind: str, text: str) -> bool:
    """Whether a text contains an identifier of a kind."""
    text = plain(text)
    if not may_show(text):
        return False
    form, check = FORMS[kind]
    return any(check(match.group()) for match in form.finditer(text))
