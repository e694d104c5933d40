"""Missing values: blank texts, and codes such as `NA` or -9, declared or likely."""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools
from shoal.encoding.reading import AS_FOUND, ValueReading, declared_texts
from shoal.encoding.spelling import MINUS, fold, fold_texts, is_blank

TEXT_CODES = frozenset(
    (
        *(
            "na",
            "n/a",
            "n.a.",
            "n.a",
            "n / a",
            "#n/a",
            "<na>",
            "(na)",
            "nan",
            "-nan",
            "nat",
            "null",
            "(null)",
        ),
        *("#null!", "#value!", "#ref!", "#div/0!", "#num!", "#name?", "\\n"),
        *("?", "??", "???", ".", "..", "...", "_", "__", "/", "//"),
        *(dash * n for dash in "-\u2010\u2012\u2013\u2014\u2015" for n in (1, 2, 3)),
        *(
            "missing",
            "(missing)",
            "unknown",
            "(unknown)",
            "not known",
            "not available",
            "not stated",
        ),
        *("not recorded", "no answer", "no data", "(blank)", "unbekannt", "keine angabe", "k.a."),
        *("inconnu", "inconnue", "non renseigné", "onbekend", "desconocido", "sconosciuto"),
    )
)
NINES = re.compile(r"9{1,9}")
NEGATIVE = re.compile(r"-(1|[789]|77|88|9[789]|7{3,9}|8{3,9}|9{3,9}|9+[78])")
"""Numbers that are likely codes where all others are 0 or more."""
BESIDE_NINES = {9: (7, 8), 99: (77, 88, 97, 98), 999: (777, 888, 997, 998)}
"""Codes for `refused` and `does not know` where nines are one for `no answer`."""
LONGEST = 20
"""Characters that a word for a missing value has at most, spaces included."""
NUMBER = rf"^\s*[+{MINUS}-]?(\p{{Nd}}+\.?\p{{Nd}}*|\.\p{{Nd}}+)\s*$"
MOST_GAPS = 2
"""A number stands apart from others if its distance is more than so many times their largest gap."""


def is_missing(
    texts: pa.Array,
    codes: Sequence[str] = (),
    exact: bool = False,
    reading: ValueReading = AS_FOUND,
) -> Bools:
    """(n,) whether each text is blank or one of the codes; see `is_declared`."""
    blank = np.asarray(is_blank(texts).to_numpy(zero_copy_only=False), np.bool_)
    return blank | is_declared(texts, codes, exact, reading) if codes else blank


def is_declared(
    texts: pa.Array, codes: Sequence[str], exact: bool = False, reading: ValueReading = AS_FOUND
) -> Bools:
    """(n,) whether each text is one of the codes for a missing value.

    A code is also found in another spelling, such as `na` or `-9.0`, unless spellings are `exact`;
    where numbers are written as `reading` says, -9 also as `-9,0`.
    """
    texts = texts.cast(pa.string())
    if exact:
        return _are_in(texts, codes)
    wanted = [fold(code) for code in codes]
    found, standard = _are_in(fold_texts(texts), wanted), declared_texts(texts, reading)
    return found if standard is texts else found | _are_in(fold_texts(standard), wanted)


def _are_in(texts: pa.Array, codes: Sequence[str]) -> Bools:
    found = pc.is_in(texts, pa.array(codes, pa.string()))
    return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)


def likely_codes(texts: pa.Array) -> list[str]:
    """The texts among some distinct ones that are likely to stand for a missing value.

    Words such as `NA` always are. Numbers are only where every other text is a number too and they
    stand apart from them: negative ones where no other number is (also -1 beside 0 and 1, which may be
    a scale or an answer that is not known), nines where their distance to the others is more than
    twice as large as the others' largest gap. A scale from 1 to 9 has no such number, one from 1 to 5
    with a 9 has.
    """
    texts = texts.cast(pa.string())
    long = pc.and_(pc.greater(pc.utf8_length(texts), LONGEST), pc.string_is_ascii(texts))
    short = texts.filter(pc.invert(long))  # others may have characters that are not drawn
    is_word = pc.is_in(fold_texts(short), pa.array([*sorted(TEXT_CODES), ""]))
    words = short.filter(is_word)
    others = texts.filter(pc.invert(pc.is_in(texts, words)))
    codes = _number_codes(others)
    return sorted([*words.filter(pc.invert(is_blank(words))).to_pylist(), *codes])


def _number_codes(texts: pa.Array) -> list[str]:
    """The likely codes among texts that are all numbers."""
    if not pc.all(pc.match_substring_regex(texts, NUMBER)).as_py():
        return []
    folded = fold_texts(texts)
    numbers = _numbers(folded)
    if numbers is None:
        return []
    codes = {f"{number:f}" for number in (*_negative(numbers), *_nines(numbers))}
    return texts.filter(pc.is_in(folded, pa.array(sorted(codes), pa.string()))).to_pylist()


def code_list(codes: Sequence[str]) -> str:
    """Codes as a policy lists them: `[NA, "?", -9]`."""
    plain = re.compile(r"[A-Za-z][A-Za-z0-9/.]*|-?(0|[1-9][0-9]*)")
    words = [code if plain.fullmatch(code) else f'"{code}"' for code in codes]
    return f"[{', '.join(words)}]"


def _numbers(folded: pa.Array) -> list[Decimal] | None:
    """The different numbers, ascending; None unless all texts are numbers and one looks like a code."""
    is_code = pc.match_substring_regex(folded, r"^(9{1,9}|-[1789]\d{0,8})$")
    if not pc.any(is_code).as_py():
        return None
    if not pc.all(pc.match_substring_regex(folded, r"^-?\d+(\.\d+)?$")).as_py():
        return None
    return sorted({Decimal(text) for text in folded.to_pylist()})


def _negative(numbers: Sequence[Decimal]) -> list[Decimal]:
    codes = [number for number in numbers if NEGATIVE.fullmatch(f"{number:f}")]
    others = [number for number in numbers if number not in codes]
    return [] if len(others) < 2 or others[0] < 0 else codes


def _nines(numbers: Sequence[Decimal]) -> list[Decimal]:
    """Whole numbers at the upper end, a gap away from all below them."""
    numbers = [number for number in numbers if number >= 0]
    top = next((number for number in reversed(numbers) if NINES.fullmatch(f"{number:f}")), None)
    if top is None or top != numbers[-1] or any(number % 1 for number in numbers):
        return []
    beside = {Decimal(code) for code in BESIDE_NINES.get(int(top), ())}
    # the widest run of codes at the end that stands apart; with it the gap below is the smallest
    for n in range(len(beside) + 1, 0, -1):
        codes, others = numbers[-n:], numbers[:-n]
        if len(others) < 2 or not {*codes} <= {*beside, top}:
            continue
        largest = max(after - before for before, after in pairwise(others))
        if codes[0] - others[-1] > MOST_GAPS * largest:
            return list(codes)
    return []
