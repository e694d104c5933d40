"""Values that look or mean alike, but are different texts: Cyrillic а and Latin a, 1000 and 1,000.

They stay values of their own, because no program knows which are meant to be. But whoever reads them
takes them for one, and a class of both is less diverse than it is counted: so there is a warning. A
column that is written in one script and one way has none.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Codes
from shoal.encoding.spelling import SETTLED_NUMBER, fold, fold_texts, is_invisible
from shoal.errors import counted

CYRILLIC = ("АВЕКМНОРСТУХІЈЅаеорсухіјѕԁһԛԝ", "ABEKMHOPCTYXIJSaeopcyxijsdhqw")
GREEK = ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧον", "ABEZHIKMNOPTYXov")
SIGNS = ("‘’‚‛ʼ′“”„‟‐‒–—―⁄∕", "''''''\"\"\"\"-----//")
"""Letters and signs, and those of ASCII that are drawn like them."""
DRAWN = str.maketrans(
    "".join(some for some, _ in (CYRILLIC, GREEK, SIGNS)),
    "".join(alike for _, alike in (CYRILLIC, GREEK, SIGNS)),
)
SOME_DRAWN = f"[{''.join(some for some, _ in (CYRILLIC, GREEK, SIGNS))}]"
MARKED = r"^\s*[+-]?\d+([,'_ ]\d+)+(\.\d+)?\s*%?\s*$"
"""Numbers with marks inside: between thousands, or a decimal comma."""
UNUSUAL = r"^\s*[+-]?[\d.]+([eE][+-]?\d+)?\s*%?\s*$"
"""Numbers without marks, but perhaps not in their shortest form."""
THOUSANDS = re.compile(r"([+-]?\d{1,3})((?:[,'_ ]\d{3})+)(\.\d+)?( ?%)?", re.ASCII)
DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+)( ?%)?", re.ASCII)


@dataclass(frozen=True)
class LookAlikes:
    """How many values of a column are not told apart by a reader."""

    drawn: int = 0
    """Values that are drawn like another one."""
    numbers: int = 0
    """Values that are the same number as another one."""

    def warnings(self, name: str) -> list[str]:
        """What the publisher should know."""
        found = []
        if self.drawn:
            found.append(
                f"{name}: {counted(self.drawn, 'value')} {_look(self.drawn)} like another one of the "
                "column, with letters of another script or other quotes and dashes, and "
                f"{_count(self.drawn)} as different: a class with both is less diverse than it is "
                "counted. Spell them alike before publishing."
            )
        if self.numbers:
            found.append(
                f"{name}: {counted(self.numbers, 'number')} {_are(self.numbers)} also written in "
                "another way, such as 1000 beside 1,000, and "
                f"{_count(self.numbers)} as different: a class with both is less diverse than it is "
                "counted. Write them alike, or say under `read` which `decimal` and `thousands` mark "
                "the table has."
            )
        return found


def _look(n: int) -> str:
    return "looks" if n == 1 else "look"


def _count(n: int) -> str:
    return "counts" if n == 1 else "count"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def look_alikes(
    texts: pa.Array, codes: Codes | None = None, numbers: bool = True
) -> LookAlikes | None:
    """What is alike among different texts; None where nothing is.

    codes: (m,) the value that each text is, as it is folded where left out; texts of one value are
    spellings of it. numbers: whether the texts may be numbers.
    """
    texts = texts.cast(pa.string())
    if codes is None:
        codes = fold_texts(texts, numbers).dictionary_encode().indices.to_numpy()
    drawn = _drawn_alike(texts, codes)
    written = _same_numbers(texts, codes) if numbers else 0
    return LookAlikes(drawn, written) if drawn or written else None


def _drawn_alike(texts: pa.Array, codes: Codes) -> int:
    """Values with a letter or sign beyond ASCII that look like another value."""
    other = pc.fill_null(pc.match_substring_regex(texts, SOME_DRAWN), False)
    at = np.flatnonzero(other.to_numpy(zero_copy_only=False))
    # what has no such letter looks like itself alone
    shapes = [(i, shape(texts[i].as_py())) for i in at.tolist()]
    looks = {i: look for i, look in shapes if look is not None}
    if not looks:
        return 0
    wanted = pa.array(sorted(set(looks.values())), pa.string())
    plain = pc.utf8_lower(texts)
    known = np.flatnonzero(
        pc.fill_null(pc.is_in(plain, wanted), False).to_numpy(zero_copy_only=False)
    )
    pairs = [(look, int(codes[i])) for i, look in looks.items()]
    pairs += [(plain[int(i)].as_py(), int(codes[i])) for i in known.tolist() if int(i) not in looks]
    return _beyond_first(pairs)


def shape(text: str) -> str | None:
    """How a text looks, without its case, written in ASCII as far as that is possible; None where
    nothing in it looks like something else."""
    plain = "".join(c for c in unicodedata.normalize("NFKC", text) if not is_invisible(c))
    look = plain.translate(DRAWN)
    return None if look == plain else " ".join(look.casefold().split())


def _same_numbers(texts: pa.Array, codes: Codes) -> int:
    """Values with marks between their digits that are the number of another value."""
    flags = pc.fill_null(pc.match_substring_regex(texts, MARKED), False)
    at = np.flatnonzero(flags.to_numpy(zero_copy_only=False)).tolist()
    if not at:
        return 0
    marked = [" ".join(texts[i].as_py().split()) for i in at]
    # 1,000 is a thousand, unless the column has numbers such as 1,5
    thousands = all(THOUSANDS.fullmatch(text) for text in marked if "," in text)
    read = [_without_marks(text, thousands) for text in marked]
    pairs = [
        (number, int(codes[i])) for i, number in zip(at, read, strict=True) if number is not None
    ]
    wanted = pa.array(sorted({number for number, _ in pairs}), pa.string())
    plain = _folded_numbers(texts, {*at}, wanted)
    return _beyond_first([*pairs, *((number, int(codes[i])) for i, number in plain)])


def _without_marks(text: str, thousands: bool) -> str | None:
    """A number in its shortest form; None where its marks mean nothing."""
    if (found := THOUSANDS.fullmatch(text)) and (thousands or "," not in found[2]):
        whole = found[1] + re.sub(r"\D", "", found[2])
        return fold(whole + (found[3] or "") + (found[4] or "").strip())
    if found := DECIMAL_COMMA.fullmatch(text):
        return fold(f"{found[1]}.{found[2]}{(found[3] or '').strip()}")
    return None


def _folded_numbers(texts: pa.Array, but: set[int], wanted: pa.Array) -> Sequence[tuple[int, str]]:
    """The numbers without marks that are among the wanted ones."""
    quick = pc.fill_null(pc.is_in(texts, wanted), False).to_numpy(zero_copy_only=False)
    found = [(i, texts[i].as_py()) for i in np.flatnonzero(quick).tolist()]
    settled = pc.match_substring_regex(texts, SETTLED_NUMBER)  # these are found as they are
    odd = pc.and_not(pc.match_substring_regex(texts, UNUSUAL), settled)
    rest = np.flatnonzero(pc.fill_null(odd, False).to_numpy(zero_copy_only=False)).tolist()
    known = set(wanted.to_pylist())
    for i in rest:
        if i not in but and (number := fold(texts[i].as_py())) in known:
            found.append((i, number))
    return found


def _beyond_first(pairs: Iterable[tuple[str, int]]) -> int:
    """The values that are alike, but for one of each kind."""
    values: dict[str, set[int]] = {}
    for look, code in pairs:
        values.setdefault(look, set()).add(code)
    return sum(len(codes) - 1 for codes in values.values())
