"""Fields of CSV files: the bytes of a file to numbers of its different fields, and back to bytes.

A field is what stands between two separators outside of quotes, its quotes among it. Different fields
are kept once, whichever column they are in; so a field is found again by a hash of its bytes and the
number of its column, and then compared byte by byte. Where a column has the same field in many rows on
end, as in a release, a field is first compared with the one above it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints, Words
from shoal.kernels.jit import in_place, inlined, inner

Bytes = npt.NDArray[np.uint8]

ALL, MORE_ROWS, MORE_FIELDS, IRREGULAR = 0, 1, 2, 3
"""How parsing ended: with the bytes, for want of room for rows or for different fields, or at a record
with too few or too many fields, a quote inside of a field or a strange byte."""
ORDINARY, SEPARATOR, LINE_END, QUOTE, STRANGE = 0, 1, 2, 3, 4
"""What a byte is; strange is one on which readers do not agree."""
MARKS = 4
WORD = 8
SIZE, START = 0, 1
"""Columns of spans: the bytes of a field, and the word at which it begins."""
LIKELY, ALWAYS, UNLIKE = 4, 8, 3
"""From how many fields on that were like the one above them the next one is first compared with it, the
most that are counted, and so many less for each that was not."""
LOW, HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
"""The lowest and the highest bit of every byte of a word."""


def words_at(data: Bytes) -> Words:
    """The word that begins at each byte of some bytes, but for the last seven; the same memory."""
    return np.ndarray((len(data) - WORD + 1,), np.uint64, data, strides=(1,))


class Fields(NamedTuple):
    """The different fields so far."""

    slots: Codes
    """(a power of two,) the number of the field with some hash, -1 for none."""
    known: Words
    """(room, 4) of each field its hash, its column and size (`KEY`), its first eight bytes, and the word
    at which all its bytes begin: side by side, since memory is slow."""
    codes: Codes
    """(room,) its number among the fields of its column."""
    words: Words
    """The bytes of all fields, each begins at a word."""
    counts: Ints
    """(wanted,) fields of each column."""
    used: Ints
    """(2,) fields of all columns, and their words."""


HASH, KEY, FIRST, BEGIN = 0, 1, 2, 3
COLUMN = 32
"""The bit of a key at which the number of the column begins; below is the size."""


@inner
def _word(words: Words, at: int, size: int) -> np.uint64:
    """Up to eight bytes that begin at a byte; what is beyond is zero."""
    found = words[at]
    if size < 8:
        found &= (np.uint64(1) << np.uint64(8 * size)) - np.uint64(1)
    return found


@inner
def _stirred(state: np.uint64, word: np.uint64) -> np.uint64:
    """A hash with one word more, whose lowest bits depend on all of it."""
    state = (state ^ word) * np.uint64(0x9E3779B97F4A7C15)
    return state ^ (state >> np.uint64(29))


@inlined
def _marked(word: np.uint64, marks: Words) -> np.uint64:
    """The highest bit of the first byte of a word that equals one of those that fill the marks; maybe
    also of bytes behind it; 0 where there is none."""
    found = np.uint64(0)
    for i in range(MARKS):
        other = word ^ marks[i]
        found |= (other - LOW) & ~other & HIGH
    return found


@in_place
def parse_records(
    data: Bytes,
    words: Words,
    place: Ints,
    kinds: Bytes,
    marks: Words,
    wanted: Codes,
    slots: Codes,
    known: Words,
    numbers: Codes,
    texts: Words,
    counts: Ints,
    filled: Ints,
    codes: Codes,
    sizes: Codes,
    above: Ints,
) -> int:
    """Number the fields of records; returns how it ended.

    Parameters
    ----------
    data, words
        The bytes, and the word that begins at each of them (`words_at`); two words are beyond them.
    place
        (3,) in and out: the byte at which a record begins, the end of the bytes, and the next row.
    kinds, marks
        (256,) what each byte is; (MARKS,) words filled with each that is not ordinary, some maybe twice.
    wanted
        (columns of the file,) the number of each wanted column, -1 for the others. The first of them,
        as many as `counts`, are numbered; of the others is said where their fields are.
    slots, known, numbers, texts, counts, filled
        The `Fields` so far, to which new ones are added; numba takes longer to recognise a tuple.
    codes
        (wanted, rows) out: the number of each field in its column, -1 for an empty one; or the byte at
        which it begins.
    sizes
        (columns that are not numbered, rows) out: the bytes of each field.
    above
        (3, columns of the file) in and out: of the field above, where it begins, and its bytes with what
        ends it; and how many were like the one above them lately.
    """
    at, end, row = place[0], place[1], place[2]
    first_row = row
    columns, coded = len(wanted), len(counts)
    last, used, end_of_texts = len(slots) - 1, filled[0], filled[1]
    while at < end and row < codes.shape[1]:
        for column in range(columns):
            begin, inside, kind = at, False, ORDINARY
            if row > first_row and above[2, column] >= LIKELY and at + above[1, column] <= end:
                # the bytes of the field above, and what ends it: what follows is parsed alike
                i, to, size = at, above[0, column], above[1, column]
                while size > 0 and _word(words, i, size) == _word(words, to, size):
                    i += WORD
                    to += WORD
                    size -= WORD
                if size <= 0:
                    mine = wanted[column]
                    codes[mine, row] = codes[mine, row - 1]
                    above[2, column] = min(above[2, column] + 1, ALWAYS)
                    at += above[1, column]
                    continue
            while at < end:
                if not inside:
                    marked = _marked(_word(words, at, WORD), marks)
                    if marked == np.uint64(0):
                        at += WORD
                        continue
                    # bytes below the first one that is marked: those of its lowest bit less one
                    below = ((marked & (~marked + np.uint64(1))) - np.uint64(1)) & LOW
                    at += np.int64((below * LOW) >> np.uint64(56)) - 1
                    if at >= end:
                        break
                kind = kinds[data[at]]
                if kind != ORDINARY:
                    if kind == QUOTE:
                        # also in columns that nobody wants: it decides where their records end
                        if not inside and at > begin and kinds[data[at - 1]] != QUOTE:
                            return IRREGULAR
                        inside = not inside
                    elif not inside or kind == STRANGE:
                        break
                at += 1
            if at >= end:
                return ALL
            if kind == STRANGE or (kind == LINE_END) != (column == columns - 1):
                return IRREGULAR
            if at > begin and kinds[data[begin]] == QUOTE and kinds[data[at - 1]] != QUOTE:
                return IRREGULAR
            mine = wanted[column]
            if mine >= coded:
                codes[mine, row], sizes[mine - coded, row] = begin, at - begin
            elif mine >= 0 and at == begin:
                codes[mine, row] = -1
            elif mine >= 0:
                key = np.uint64(mine) << np.uint64(COLUMN) | np.uint64(at - begin)
                first = _word(words, begin, at - begin)
                state = _stirred(key, first)
                for i in range(begin + WORD, at, WORD):
                    state = _stirred(state, _word(words, i, at - i))
                slot = np.int64(state & np.uint64(last))
                found = -1
                while slots[slot] >= 0:
                    field = slots[slot]
                    if (
                        known[field, HASH] == state
                        and known[field, KEY] == key
                        and known[field, FIRST] == first
                    ):
                        i, to = begin + WORD, np.int64(known[field, BEGIN]) + 1
                        while i < at and texts[to] == _word(words, i, at - i):
                            i += WORD
                            to += 1
                        if i >= at:
                            found = field
                            break
                    slot = (slot + 1) & last
                if found < 0:
                    needed = (at - begin + WORD - 1) // WORD
                    if used >= len(known) or end_of_texts + needed > len(texts):
                        return MORE_FIELDS
                    slots[slot] = used
                    known[used, HASH], known[used, KEY] = state, key
                    known[used, FIRST], known[used, BEGIN] = first, np.uint64(end_of_texts)
                    numbers[used] = counts[mine]
                    counts[mine] += 1
                    for i in range(begin, at, WORD):
                        texts[end_of_texts] = _word(words, i, at - i)
                        end_of_texts += 1
                    found = used
                    used += 1
                    filled[0], filled[1] = used, end_of_texts
                codes[mine, row] = numbers[found]
            at += 1
            if 0 <= mine < coded:
                above[0, column], above[1, column] = begin, at - begin
                if row > first_row and codes[mine, row] == codes[mine, row - 1]:
                    above[2, column] = min(above[2, column] + 1, ALWAYS)
                else:
                    above[2, column] = max(above[2, column] - UNLIKE, 0)
        row += 1
        place[0], place[2] = at, row
    return ALL if at >= end else MORE_ROWS


@in_place
def fill_slots(slots: Codes, known: Words) -> None:
    """Find a slot for every field again, in a larger table."""
    last = len(slots) - 1
    for field in range(len(known)):
        slot = np.int64(known[field, HASH] & np.uint64(last))
        while slots[slot] >= 0:
            slot = (slot + 1) & last
        slots[slot] = field


@in_place
def copy_fields(data: Bytes, begins: Ints, offsets: Codes, out: Bytes) -> None:
    """The bytes of some fields one after the other."""
    for i in range(len(begins)):
        at = begins[i]
        for to in range(offsets[i], offsets[i + 1]):
            out[to] = data[at]
            at += 1


@in_place
def count_quoting(data: Bytes, offsets: Ints, kinds: Bytes, doubled: bool, sizes: Ints) -> None:
    """Add to the bytes of each text those of the quotes around it, if one of its bytes has a meaning,
    and those of the quotes that are written twice.

    kinds: (256,) QUOTE of the quote itself, ORDINARY of all bytes without a meaning. doubled: whether
    some text has a quote.
    """
    for i in range(len(sizes)):
        quotes, marked = 0, False
        for at in range(offsets[i], offsets[i + 1]):
            kind = kinds[data[at]]
            if kind != ORDINARY:
                marked = True
                if kind == QUOTE:
                    quotes += 1
                if not doubled:
                    break
        if marked:
            sizes[i] += quotes + 2


@in_place
def fill_words(data: Bytes, offsets: Ints, spans: Ints, quote: int, end: int, out: Bytes) -> None:
    """Write texts and a byte after each so that it begins at the word that its span says; in quotes,
    where it is longer than the text and that byte. The rest of its last word is left zero."""
    for i in range(len(spans)):
        to, quoted = spans[i, START] * WORD, spans[i, SIZE] > offsets[i + 1] - offsets[i] + 1
        if quoted:
            out[to] = quote
            to += 1
        for at in range(offsets[i], offsets[i + 1]):
            if quoted and data[at] == quote:
                out[to] = quote
                to += 1
            out[to] = data[at]
            to += 1
        if quoted:
            out[to] = quote
            to += 1
        out[to] = end


@in_place
def size_of_rows(fields: Codes, spans: Ints, own_spans: Ints) -> int:
    """Bytes of some rows; see `write_rows`."""
    size = 0
    for j in range(fields.shape[0]):
        for i in range(fields.shape[1]):
            field = fields[j, i]
            size += spans[field, SIZE] if field >= 0 else own_spans[~field, SIZE]
    return size


@in_place
def write_rows(
    fields: Codes, spans: Ints, words: Words, own_spans: Ints, own_words: Words, out: Words
) -> int:
    """Rows as bytes, eight at a time; returns how many bytes they are.

    Parameters
    ----------
    fields
        (columns, rows) the field of each row, with what separates it from the next one: one of those
        that many rows may have, or where it is negative, ~field of its own.
    spans, words
        (fields, 2) the bytes of each field and the word at which it begins; all words.
    own_spans, own_words
        The same of the others.
    out
        The word that begins at each byte (`words_at`) of room for all bytes, and one word more.
    """
    end = 0
    for i in range(fields.shape[1]):
        for j in range(fields.shape[0]):
            field = fields[j, i]
            to = end
            # the last word of a field may be longer than it is: the next field is written over the rest
            if field >= 0:
                at, end = spans[field, START], end + spans[field, SIZE]
                while to < end:
                    out[to] = words[at]
                    at += 1
                    to += WORD
            else:
                at, end = own_spans[~field, START], end + own_spans[~field, SIZE]
                while to < end:
                    out[to] = own_words[at]
                    at += 1
                    to += WORD
    return end
