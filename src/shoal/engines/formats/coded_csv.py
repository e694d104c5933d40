"""Large CSV files, read and written by the numbers of their different fields.

Most columns have far fewer different values than rows. A file is split into fields at separators
outside of quotes, and every field is looked up by its bytes: no text is made of it, checked or copied
but the first time. Columns with many different values stay texts. What quotes mean, and whether they
are regular (see `io/regular_csv.py`), is then decided for the different fields alone. Any other file is
left to the other readers.

Written are the bytes that the database would write.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Ints, Words
from shoal.io.arrow import SMALL_OFFSETS, one_chunk
from shoal.io.csv_dialect import CsvOptions
from shoal.io.paths import is_gzipped
from shoal.kernels.csv_fields import (
    BEGIN,
    COLUMN,
    IRREGULAR,
    KEY,
    LINE_END,
    LOW,
    MARKS,
    MORE_FIELDS,
    MORE_ROWS,
    QUOTE,
    SEPARATOR,
    STRANGE,
    WORD,
    Fields,
    copy_fields,
    count_quoting,
    fill_slots,
    fill_words,
    parse_records,
    size_of_rows,
    words_at,
    write_rows,
)
from shoal.threads import each, in_turn, workers

LARGE = 1 << 23
"""Bytes from which on it is worth while to load what this needs."""
BLOCK = 1 << 22
"""Bytes that are read at a time, and the longest record."""
SHORT = 4
"""Bytes of a field and its separator, of which there is room for the numbers at a time."""
FIRST_ROOM = 1 << 14
"""Fields for which there is room at first."""
MOST_FIELDS = 1 << 23
"""Different fields of all columns that are numbered."""
MOST_WORDS = 1 << 26
"""Words that they may take."""
SAMPLE = 1 << 20
"""Bytes by which is decided which columns are numbered."""
MANY = 0.25
"""The share of different fields in these above which a column is not."""
FEW = 1_000
"""So many different fields are not too many."""
WIDE = 100
"""Columns from which on the numbers are kept in two bytes, where these are enough."""
NARROW = 1 << 15
"""Numbers that two bytes can hold."""
ROWS_AT_ONCE = 1 << 14
"""Rows that are written at a time."""
CELLS_AT_ONCE = 1 << 21
"""Cells that are, of a wide table."""
MOST_ROOM = 1 << 26
"""Bytes up to which room for them is not measured before."""
MARK = b"\xef\xbb\xbf"
LARGE_ROWS = 50_000
"""Rows from which on a table is written here, and of wide ones cells for each of `WIDE` columns."""
QUOTED = ("\n", "\r", "#")
"""What is quoted beside the separator and the quote."""


# Reading.


def read_coded(
    plain: Path, options: CsvOptions, n_columns: int, wanted: Sequence[int]
) -> pa.Table | None:
    """Read some columns of a UTF-8 file, named c0, c1, ... by their places, as texts with codes; None
    where another reader must.

    Parameters
    ----------
    plain
        The file.
    options
        How it is written, settled.
    n_columns
        How many columns it has.
    wanted
        The places of the columns to read.
    """
    separator, quote = options.separator or ",", options.quote or ""
    if n_columns < 2 or not wanted or options.escape or is_gzipped(plain):
        return None
    if len(separator) != 1 or len(quote) > 1 or not (separator + quote).isascii():
        return None
    size = plain.stat().st_size
    if size < LARGE or separator in "\r\n" or quote in ("\r", "\n"):
        return None
    begin = _first_record(plain, options.has_header, quote)
    if begin is None or begin >= size:
        return None
    kinds = np.zeros(256, np.uint8)
    # what ends with a return may be a line, or part of its last field
    kinds[ord("\r")], kinds[ord("\n")], kinds[ord(separator)] = STRANGE, LINE_END, SEPARATOR
    if quote:
        kinds[ord(quote)] = QUOTE
    everything = np.full(n_columns, -1, np.int32)
    everything[list(wanted)] = np.arange(len(wanted))
    end = _line_begin(plain, begin + SAMPLE) or size
    sample = _Piece(plain, begin, end, kinds, everything, len(wanted))
    if not sample.parse(part=True):
        return None
    many = sample.fields.counts > max(FEW, MANY * sample.rows)
    order = np.argsort(many, kind="stable")  # those to be numbered come first
    places = np.full(n_columns, -1, np.int32)
    places[np.asarray(wanted)[order]] = np.arange(len(wanted))
    coded = int((~many).sum())
    n = workers()
    cuts = [_line_begin(plain, begin + (size - begin) * i // n) for i in range(1, n)]
    edges = sorted({begin, size, *(cut for cut in cuts if begin < cut < size)})
    pieces = [_Piece(plain, a, b, kinds, places, coded) for a, b in pairwise(edges)]
    if not all(each(_Piece.parse, pieces)):
        if len(pieces) == 1:
            return None
        # a line that ends inside of quotes may have been taken for the end of a record
        pieces = [_Piece(plain, begin, size, kinds, places, coded)]
        if not pieces[0].parse():
            return None
    columns = each(lambda j: _column(pieces, j, separator, quote), range(len(wanted)))
    if any(one is None for one in columns):
        return None
    by_place = dict(zip(np.asarray(wanted)[order].tolist(), columns, strict=True))
    return pa.Table.from_arrays([by_place[i] for i in wanted], [f"c{i}" for i in wanted])


def _first_record(plain: Path, has_header: bool, quote: str) -> int | None:
    """The byte at which the first record begins; None where the names take several lines."""
    with plain.open("rb") as stream:
        begin = len(MARK) if stream.read(len(MARK)) == MARK else 0
        if not has_header:
            return begin
        stream.seek(begin)
        line = stream.readline(BLOCK)
    regular = line.endswith(b"\n") and not (quote and line.count(quote.encode()) % 2)
    return begin + len(line) if regular else None


def _line_begin(plain: Path, after: int) -> int:
    """Where the first line begins after a byte; 0 where none does soon."""
    with plain.open("rb") as stream:
        stream.seek(after)
        line = stream.readline(BLOCK)
        return stream.tell() if line.endswith(b"\n") else 0


@dataclass
class _Piece:
    """A part of a file, from the beginning of a record to the end of one."""

    plain: Path
    begin: int
    end: int
    kinds: npt.NDArray[np.uint8]
    places: Codes
    """(columns of the file,) see `parse_records`."""
    coded: int
    """So many columns are numbered, the first ones."""

    def parse(self, part: bool = False) -> bool:
        """Number the fields; False where the file must be read otherwise.

        part: it may end inside of a record, which is then left out.
        """
        n = int(self.places.max()) + 1
        self.fields, self.rows = _new_fields(self.coded), 0
        self.blocks: list[dict[int, npt.NDArray[np.int16 | np.int32]]] = []
        self.chunks: list[list[pa.Array]] = [[] for _ in range(self.coded, n)]
        # fields have some bytes as a rule; where they are shorter there are several turns
        most = BLOCK // (SHORT * len(self.places)) + 1
        room, sizes = np.empty((n, most), np.int32), np.empty((n - self.coded, most), np.int32)
        buffer = np.zeros(2 * BLOCK + 4 * WORD, np.uint8)
        left, todo = 0, self.end - self.begin
        above = np.zeros((3, len(self.places)), np.int64)
        marks = np.resize(np.flatnonzero(self.kinds).astype(np.uint64) * LOW, MARKS)
        with self.plain.open("rb", buffering=0) as stream:
            stream.seek(self.begin)
            while todo or left:
                size = stream.readinto(buffer.data[left : left + min(BLOCK, todo)])
                if todo and not size:
                    return False  # shorter than it was
                todo -= size
                end = left + size
                if not todo and buffer[end - 1] != ord("\n"):
                    if self.kinds[buffer[end - 1]] == SEPARATOR:
                        return False
                    buffer[end] = ord("\n")
                    end += 1
                place = np.array([0, end, 0], np.int64)
                status = MORE_ROWS
                while status in (MORE_ROWS, MORE_FIELDS):
                    status = parse_records(
                        buffer,
                        words_at(buffer),
                        place,
                        self.kinds,
                        marks,
                        self.places,
                        *self.fields,
                        room,
                        sizes,
                        above,
                    )
                    self._keep(buffer, room[:, : place[2]], sizes[:, : place[2]])
                    place[2] = 0
                    if status == MORE_FIELDS and not self._make_room():
                        return False
                left = int(end - place[0])
                if part and not todo:
                    return True
                if status == IRREGULAR or left >= BLOCK or (left and not todo):
                    return False
                buffer[:left] = buffer[end - left : end].copy()
        self._sort_fields()
        return True

    def _keep(self, buffer: npt.NDArray[np.uint8], codes: Codes, sizes: Codes) -> None:
        """Keep the numbers and texts of some rows."""
        self.rows += codes.shape[1]
        # numbers that are few are kept in two bytes until all are known
        kinds = (np.int16 if n < NARROW else np.int32 for n in self.fields.counts.tolist())
        narrow = (one.astype(kind) for one, kind in zip(codes, kinds, strict=False))
        self.blocks.append(dict(enumerate(narrow)))
        for chunks, begins, mine in zip(self.chunks, codes[self.coded :], sizes, strict=True):
            chunks.append(_texts(buffer, begins.astype(np.int64), mine, mine == 0))

    def _make_room(self) -> bool:
        """Let there be room for more fields; False where there are too many."""
        old = self.fields
        if old.used[0] < len(old.known):
            if 2 * len(old.words) > MOST_WORDS:
                return False
            self.fields = old._replace(words=_twice(old.words))
            return True
        if 2 * len(old.known) > MOST_FIELDS:
            return False
        slots = np.full(2 * len(old.slots), -1, np.int32)
        self.fields = old._replace(slots=slots, known=_twice(old.known), codes=_twice(old.codes))
        fill_slots(slots, old.known)
        return True

    def _sort_fields(self) -> None:
        """Find the different fields of each column, in the order of their codes."""
        known = self.fields.known[: int(self.fields.used[0])]
        # numbers of two bytes are sorted by their digits
        kind = np.uint16 if self.coded <= 1 << 16 else np.uint64
        order = np.argsort((known[:, KEY] >> np.uint64(COLUMN)).astype(kind), kind="stable")
        self.sorted = np.split(order, np.cumsum(self.fields.counts)[:-1])

    def texts(self, j: int, separator: str, quote: str) -> tuple[pa.Array, bool] | None:
        """The texts of the different fields of one column, and whether these are different too; None
        where a quote is not regular or bytes are no text."""
        fields = self.fields
        mine = fields.known[self.sorted[j]]
        sizes = (mine[:, KEY] & np.uint64((1 << COLUMN) - 1)).astype(np.int32)
        begins, data = mine[:, BEGIN].astype(np.int64) * WORD, fields.words.view(np.uint8)
        mark = ord(quote) if quote else -1
        quoted = (data[begins] == mark) & (data[begins + sizes - 1] == mark) & (sizes > 1)
        inside = _texts(data, begins + quoted, sizes - 2 * quoted)
        if quote and _has(inside, quote):  # one that is doubled, or not regular
            texts = _unquoted(_texts(data, begins, sizes), quote)
            return None if texts is None else (texts, False)
        try:
            texts = inside.cast(pa.string())
        except pa.ArrowInvalid:
            return None
        # only a field in quotes contains a separator: no other field has this text
        apart = not quoted.any() or pc.all(
            pc.match_substring(texts.filter(pa.array(quoted)), separator)
        )
        return texts, bool(apart)


def _texts(
    data: npt.NDArray[np.uint8], begins: Ints, sizes: Codes, missing: Bools | None = None
) -> pa.Array:
    """Parts of some bytes as an array of bytes."""
    offsets = np.append(0, np.cumsum(sizes)).astype(np.int32)
    out = np.empty(int(offsets[-1]), np.uint8)
    copy_fields(data, begins, offsets, out)
    found = pa.Array.from_buffers(
        pa.binary(), len(begins), [None, pa.py_buffer(offsets), pa.py_buffer(out)]
    )
    return (
        pc.if_else(pa.array(missing), None, found)
        if missing is not None and missing.any()
        else found
    )


def _has(texts: pa.Array, mark: str) -> bool:
    """Whether a character occurs in the bytes of some texts."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return False
    ends = np.frombuffer(offsets, np.int32)
    content = memoryview(data)[ends[texts.offset] : ends[texts.offset + len(texts)]]
    return mark.encode() in bytes(content)


def _twice(values: Any) -> Any:
    """An array with as much room again."""
    found = np.zeros((2 * len(values), *values.shape[1:]), values.dtype)
    found[: len(values)] = values
    return found


def _new_fields(n: int) -> Fields:
    """Room for the fields of n columns."""
    return Fields(
        np.full(2 * FIRST_ROOM, -1, np.int32),
        np.zeros((FIRST_ROOM, 4), np.uint64),
        np.zeros(FIRST_ROOM, np.int32),
        np.zeros(2 * FIRST_ROOM, np.uint64),
        np.zeros(n, np.int64),
        np.zeros(2, np.int64),
    )


def _column(pieces: Sequence[_Piece], j: int, separator: str, quote: str) -> pa.Array | None:
    """One column of all pieces; None where its fields are not regular or no text."""
    coded = pieces[0].coded
    if j >= coded:
        chunks = [chunk for piece in pieces for chunk in piece.chunks[j - coded]]
        for piece in pieces:
            piece.chunks[j - coded].clear()
        if sum(chunk.nbytes for chunk in chunks) >= SMALL_OFFSETS:
            return None  # a column in one piece needs wider offsets
        return _unquoted(pa.chunked_array(chunks).combine_chunks(), quote)
    kind = _kind(len(pieces[0].places), sum(int(piece.fields.counts[j]) for piece in pieces))
    codes, at = np.empty(sum(piece.rows for piece in pieces), kind), 0
    every: pa.Array | None = None
    for piece in pieces:
        found = piece.texts(j, separator, quote)
        if found is None:
            return None
        texts, numbers = _merged(every, *found)
        for block in piece.blocks:
            some = block.pop(j)  # its memory is needed again
            codes[at : at + len(some)] = some if numbers is None else numbers[some]
            at += len(some)
        every = texts
    indices = pa.array(codes)
    if codes.min(initial=0) < 0:
        indices = pc.if_else(pc.less(indices, 0), None, indices)
    return pa.DictionaryArray.from_arrays(indices, every)


def _merged(every: pa.Array | None, texts: pa.Array, apart: bool) -> tuple[pa.Array, Codes | None]:
    """The texts so far, each once, with those of one more piece; and the numbers of these among them,
    the last one that of a missing value; None where they keep theirs.

    apart: whether these texts are different.
    """
    codes = np.arange(len(texts), dtype=np.int32)
    changed = False
    if not apart:
        once = texts.dictionary_encode()
        if len(once.dictionary) < len(texts):  # one with quotes, one without
            codes, texts, changed = once.indices.to_numpy(), once.dictionary, True
    if every is not None and not every.equals(texts):
        at = pc.fill_null(pc.index_in(texts, every), -1).to_numpy(zero_copy_only=False)
        new = at < 0
        place = np.where(new, len(every) - 1 + np.cumsum(new), at).astype(np.int32)
        codes, changed = place[codes], True
        texts = pa.concat_arrays([every, texts.filter(pa.array(new))])
    return texts, np.append(codes, np.int32(-1)) if changed else None


def _kind(columns: int, numbers: int) -> type[np.int16 | np.int32]:
    """How the numbers of so many fields are kept, in a table of so many columns."""
    return np.int16 if columns >= WIDE and numbers < NARROW else np.int32


def _unquoted(fields: pa.Array, quote: str) -> pa.Array | None:
    """The texts of different fields; None where a quote is not regular or bytes are no text."""
    try:
        texts = fields.cast(pa.string())
    except pa.ArrowInvalid:
        return None
    if not quote or not pc.any(has := pc.match_substring(texts, quote)).as_py():
        return texts
    has = pc.fill_null(has, False)
    quoted = texts.filter(has)
    inner = pc.utf8_slice_codeunits(quoted, 1, -1)
    regular = pc.and_(
        pc.and_(pc.starts_with(quoted, quote), pc.ends_with(quoted, quote)),
        pc.and_(
            pc.greater(pc.binary_length(quoted), 1),
            pc.equal(
                pc.count_substring(inner, quote),
                pc.multiply(pc.count_substring(inner, quote * 2), 2),
            ),
        ),
    )
    if not pc.all(regular).as_py():
        return None
    return pc.replace_with_mask(texts, has, pc.replace_substring(inner, quote * 2, quote))


# Writing.


def can_write(table: pa.Table, path: Path, options: CsvOptions) -> bool:
    """Whether a table is written here: it is large and has texts alone, some of them with codes."""
    separator, quote = options.separator or ",", options.quote or '"'
    kinds = [getattr(kind, "value_type", kind) for kind in table.schema.types]
    return (
        table.num_rows * max(1, table.num_columns // WIDE) >= LARGE_ROWS
        and table.num_columns > 1
        and all(map(pa.types.is_string, kinds))
        and any(map(pa.types.is_dictionary, table.schema.types))
        and not options.formulas
        and not is_gzipped(path)
        and len(separator) == len(quote) == 1
        and (separator + quote).isascii()
    )


def append_rows(table: pa.Table, path: Path, separator: str, quote: str) -> None:
    """Write the rows of a table after the names of its columns; see `can_write`."""
    columns = [one_chunk(column) for column in table.columns]
    ends = [separator] * (len(columns) - 1) + ["\n"]
    shared = {j: one for j, one in enumerate(columns) if pa.types.is_dictionary(one.type)}
    texts = [(column.dictionary, ends[j]) for j, column in shared.items()]
    many, longest = _fields(texts, separator, quote)
    places = np.cumsum([0, *(len(one) + 1 for one, _ in texts)])
    first = dict(zip(shared, places[:-1].tolist(), strict=True))

    at_once = max(1, min(ROWS_AT_ONCE, CELLS_AT_ONCE // len(columns)))
    spare = deque[Words]()  # room that was written from: new memory must be cleared first

    def block(begin: int) -> tuple[Words, int]:
        rows = min(at_once, table.num_rows - begin)
        numbers = np.empty((len(columns), rows), np.int32)
        alone: list[tuple[pa.Array, str]] = []
        for j, column in enumerate(columns):
            some = column.slice(begin, rows)
            if j in first:
                codes = pc.fill_null(some.indices, len(column.dictionary))
                numbers[j] = codes.to_numpy(zero_copy_only=False)
                numbers[j] += first[j]
            else:
                before = len(alone) * (rows + 1)
                numbers[j] = ~np.arange(before, before + rows, dtype=np.int32)
                alone.append((some, ends[j]))
        own, longest_own = _fields(alone, separator, quote)
        # room that suffices is known without looking at every field, unless some are very long
        most = rows * (longest + longest_own)
        size = most if most <= MOST_ROOM else size_of_rows(numbers, many[0], own[0])
        words = size // WORD + 2
        try:
            out = spare.popleft()
        except IndexError:
            out = np.empty(words, np.uint64)
        if len(out) < words:
            out = np.empty(words, np.uint64)
        return out, write_rows(numbers, *many, *own, words_at(out.view(np.uint8)))

    with path.open("ab", buffering=0) as stream:
        for out, size in in_turn(block, range(0, table.num_rows, at_once)):
            view = out.view(np.uint8)[:size].data
            while len(view):
                view = view[stream.write(view) :]
            spare.append(out)


def _fields(
    columns: Sequence[tuple[pa.Array, str]], separator: str, quote: str
) -> tuple[tuple[Ints, Words], int]:
    """How the texts of columns are written, each with what follows it there; the last one of a column is
    the missing value. Their spans and their bytes, see `write_rows`; and the sum of the most bytes that
    a text of each column takes.

    A text is quoted where it is empty or contains what has a meaning in some CSV files.
    """
    found = [_written(texts, separator, quote) for texts, _ in columns]
    longest = sum(int(sizes.max()) for _, _, sizes in found)
    sizes = np.concatenate([np.zeros(0, np.int64), *(sizes for _, _, sizes in found)])
    lasts = np.cumsum((sizes + WORD - 1) // WORD)
    spans = np.column_stack([sizes, np.append(0, lasts)[:-1]])
    words, at = np.zeros(int(lasts[-1]) if len(lasts) else 0, np.uint64), 0
    for (data, offsets, mine), (_, end) in zip(found, columns, strict=True):
        some = spans[at : at + len(mine)]
        fill_words(data, offsets, some, ord(quote), ord(end), words.view(np.uint8))
        at += len(mine)
    return (spans, words), longest


def _written(
    texts: pa.Array, separator: str, quote: str
) -> tuple[npt.NDArray[np.uint8], Ints, Ints]:
    """The bytes of the texts of a column and of the missing value, where each begins, and how many
    bytes are written for it, with the one that follows it."""
    known = np.append(texts.is_valid().to_numpy(zero_copy_only=False), False)
    texts = pc.fill_null(texts, "") if texts.null_count else texts
    _, buffer, content = texts.buffers()
    offsets = np.zeros(2, np.int64)
    if len(texts):
        found = np.frombuffer(buffer, np.int32)[texts.offset : texts.offset + len(texts) + 1]
        offsets = np.append(found, found[-1:]).astype(np.int64)
    sizes = np.diff(offsets) + 1
    sizes[known & (sizes == 1)] = len(quote) * 2 + 1
    # read-only whatever it holds, so that there is one type to compile for
    data = np.frombuffer(content or b"", np.uint8)
    kinds = np.zeros(256, np.uint8)
    for mark in (separator, *QUOTED):
        kinds[ord(mark)] = STRANGE
    kinds[ord(quote)] = QUOTE
    if any(_has(texts, mark) for mark in (separator, quote, *QUOTED)):
        count_quoting(data, offsets, kinds, _has(texts, quote), sizes)
    return data, offsets, sizes
