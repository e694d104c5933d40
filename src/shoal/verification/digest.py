"""The digest of a published table, the same for a frame and for any file that holds its rows.

A CSV file knows only texts, and writes some numbers and times in a way of its own. So a number with a
point or an exponent counts by its exact value, a moment by its ISO text, and an empty text as a missing
value.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Ints, Words
from shoal.encoding.cells import hash_rows
from shoal.hierarchy.text import text_of
from shoal.io.arrow import one_chunk
from shoal.threads import each

NUMBER = r"^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,3})?$"
FLOAT = r"[.eE]"
MOMENT = r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?$"
EXACT = Context(prec=10_000)
PIECE = 250_000
"""Rows of an average piece, which is hashed by itself."""
SEEDS = (1, 2)
"""Of the hashes of rows that are summed: two words of 64 bits."""
FEW = 10
"""So many rows are shown."""


def read_text(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """As a CSV file has it, in which an empty text is a missing one."""
    texts = text_of(column).cast(pa.string())
    return pc.if_else(pc.equal(texts, ""), None, texts)


def canonical(column: pa.ChunkedArray | pa.Array) -> pa.DictionaryArray:
    """The texts of a column, one for each way to write a number or a moment; no two codes share one."""
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        column = _spelled(column)
    whole = one_chunk(column)
    kind = whole.type
    if pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type):
        once = canonical(whole.dictionary)
        return pa.DictionaryArray.from_arrays(once.indices.take(whole.indices), once.dictionary)
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        whole = pc.add(whole, pa.scalar(0, kind))  # 0 and -0 are one
    elif not _are_different(kind):
        whole = text_of(whole)
    # the texts of the different values, and not of all rows
    coded = whole.dictionary_encode()
    values = read_text(coded.dictionary)
    if pa.types.is_floating(whole.type) and _are_plain(coded.dictionary, values):
        return pa.DictionaryArray.from_arrays(coded.indices, values)
    numbers, moments = None, None
    if not pa.types.is_integer(kind):
        numbers, moments = _are_numbers(values), _are_moments(values)
    if moments is not None:
        values = pc.if_else(moments, _moments(values), values)
    if numbers is not None:
        values = _numbers(values, numbers)
    if numbers is None and moments is None and not values.null_count and _are_different(kind):
        return pa.DictionaryArray.from_arrays(coded.indices, values)
    once = values.dictionary_encode()
    return pa.DictionaryArray.from_arrays(once.indices.take(coded.indices), once.dictionary)


def _are_different(kind: pa.DataType) -> bool:
    """Whether different values of a type, which Arrow can number, have different texts."""
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_integer(kind))


def _are_plain(floats: pa.Array, texts: pa.Array) -> bool:
    """Whether no text has an exponent, so that each is the shortest of its number, and all are
    numbers."""
    return not pc.any(pc.or_(pc.is_nan(floats), pc.match_substring(texts, "e"))).as_py()


def _are_numbers(values: pa.Array) -> pa.Array | None:
    """Which texts are numbers with a point or an exponent; None where none is."""
    floats = pc.match_substring_regex(values, FLOAT)
    if not pc.any(floats).as_py():
        return None
    numbers = pc.and_(pc.match_substring_regex(values, NUMBER), floats)
    return numbers if pc.any(numbers).as_py() else None


def _are_moments(values: pa.Array) -> pa.Array | None:
    """Which texts are moments; None where none is."""
    if not pc.any(pc.match_substring(values, ":")).as_py():
        return None
    moments = pc.match_substring_regex(values, MOMENT)
    return moments if pc.any(moments).as_py() else None


def _spelled(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Bytes as a CSV file has them: plain letters as they are, others by their numbers."""
    coded = one_chunk(column).dictionary_encode()
    texts = [
        "".join(chr(b) if 32 <= b <= 126 and b not in b"\\'\"" else f"\\x{b:02X}" for b in value)
        for value in coded.dictionary.to_pylist()
    ]
    return pa.array(texts, pa.string()).take(coded.indices)


def _numbers(texts: pa.Array, where: pa.Array) -> pa.Array:
    """Exactly: a float would take numbers that differ in a far digit for one."""
    scaled = pc.and_(where, pc.match_substring_regex(texts, "[eE]"))
    if pc.any(scaled).as_py():
        chosen = zip(texts.to_pylist(), scaled.to_pylist(), strict=True)
        exact = pa.array([_number(t) if yes else None for t, yes in chosen], texts.type)
        texts = pc.if_else(scaled, exact, texts)
        where = pc.and_not(where, scaled)
    # without an exponent only zeros after the point are left to be removed
    padded = pc.and_(where, pc.ends_with(texts, "0"))
    if not pc.any(padded).as_py():
        return texts
    short = pc.replace_substring_regex(texts, r"\.?0+$", "")
    short = pc.if_else(pc.equal(short, "-0"), "0", short)
    return pc.if_else(padded, short, texts)


def _number(text: str) -> str:
    exact = f"{Decimal(text).normalize(EXACT):f}"
    return "0" if exact == "-0" else exact  # as in `text_of`


def _moments(texts: pa.Array) -> pa.Array:
    texts = pc.replace_substring_regex(texts, "^(.{10}) ", r"\1T")
    texts = pc.replace_substring_regex(texts, r"(\.\d*?)0+(Z|[+-]|$)", r"\1\2")
    texts = pc.replace_substring_regex(texts, r"\.(Z|[+-]|$)", r"\1")
    texts = pc.replace_substring_regex(texts, r"[+-]00(:?00)?$", "Z")
    texts = pc.replace_substring_regex(texts, r"([+-]\d\d)$", r"\1:00")
    return pc.replace_substring_regex(texts, "T00:00:00$", "")


def digest_of(rows: pa.Table) -> str:
    """A hash of column names and rows as they read in a file, in whatever order the rows are."""
    return fingerprint(rows).digest


def content_of(rows: pa.Table) -> str:
    """Sums of the hashes of the rows: they show that a frame was changed, in a third of the time of a
    digest. Whoever wants to can find other rows with the same sums."""
    n, texts = rows.num_rows, each(canonical, rows.columns, rows.num_rows)
    sums = [int(hash_rows(n, (), texts, seed).sum(dtype=np.uint64)) for seed in SEEDS]
    return json.dumps([rows.column_names, n, sums])


@dataclass(frozen=True)
class Fingerprint:
    """Published rows in short."""

    digest: str
    some: pa.Table
    """A few different rows: whichever have the smallest hashes. Texts, in columns x0, x1, ..."""
    times: tuple[Ints, ...] = ()
    """Per column (few,) how many rows have the same text there."""


def fingerprint(rows: pa.Table) -> Fingerprint:
    """The same for a table in memory as `large.fingerprint` gives for one elsewhere."""
    n, texts = rows.num_rows, each(canonical, rows.columns, rows.num_rows)
    words = hash_rows(n, (), texts, 0)
    pieces = n_pieces(n)
    at = [np.flatnonzero(words % np.uint64(pieces) == p) for p in range(pieces)]

    def piece(chosen: Ints) -> Piece:
        inside = [text.take(pa.array(chosen)) for text in texts]
        return piece_of(inside, words[chosen], np.ones(len(chosen), np.int64))

    made = put_together(rows.column_names, n, dict(enumerate(each(piece, at))))
    shown = zip(texts, made.some.columns, strict=True)
    return replace(made, times=tuple(times_of(text, one_chunk(some)) for text, some in shown))


def times_of(texts: pa.DictionaryArray, some: pa.Array) -> Ints:
    """(few,) how often each of some texts occurs."""
    codes = pc.fill_null(texts.indices, -1).to_numpy(zero_copy_only=False)
    counts = np.bincount(codes + 1, minlength=len(texts.dictionary) + 2)
    known = texts.dictionary.cast(some.type)
    place = pc.fill_null(pc.index_in(some, known), len(known)).to_numpy(zero_copy_only=False) + 1
    place[some.is_null().to_numpy(zero_copy_only=False)] = 0
    return counts[place]


def n_pieces(rows: int) -> int:
    """Into how many pieces so many rows are parted, by their hashes."""
    return 1 + rows // PIECE


@dataclass(frozen=True)
class Piece:
    """Some rows in short."""

    digest: str
    """Empty where there are none."""
    words: Words
    """(few,) the smallest hashes, each of another row."""
    some: list[pa.Array]
    """(few,) each, the texts of their rows."""


def piece_of(texts: Sequence[pa.DictionaryArray], words: Words, counts: Ints) -> Piece:
    """Rows that came in any order, each with its hash and with how often it occurs."""
    codes = [pc.fill_null(text.indices, -1).to_numpy(zero_copy_only=False) for text in texts]
    order = np.argsort(words, kind="stable")
    new = _new(codes, order, words)
    if (same := new[1:] & (np.diff(words[order]) == 0)).any():  # different rows with one hash
        order = _ordered(texts, words, order, same)
        new = _new(codes, order, words)
    heads = order[new]
    times = np.add.reduceat(counts[order], np.flatnonzero(new)) if len(order) else counts
    # their number first: it says where the counts end and the texts begin
    found = hashlib.sha256(np.array([len(heads)], "<i8").tobytes())
    found.update(times.astype("<i8").tobytes())
    shown = [text.take(pa.array(heads)).dictionary_decode() for text in texts]
    for column in shown:
        _update(found, column)
    few = heads[:FEW]
    return Piece(
        found.hexdigest() if len(order) else "",
        words[few],
        [column.slice(0, FEW) for column in shown],
    )


def put_together(names: Sequence[str], rows: int, pieces: Mapping[int, Piece]) -> Fingerprint:
    """The rows of all pieces, by their numbers, in short."""
    found = hashlib.sha256(json.dumps([list(names), rows]).encode())
    for number, piece in sorted(pieces.items()):
        if piece.digest:
            found.update(f"{number}:{piece.digest};".encode())
    held = [piece for _, piece in sorted(pieces.items()) if piece.digest]
    columns = [
        pa.concat_arrays([piece.some[j].cast(pa.large_string()) for piece in held])
        if held
        else pa.array([], pa.large_string())
        for j in range(len(names))
    ]
    words = np.concatenate([np.zeros(0, np.uint64), *(piece.words for piece in held)])
    first = pa.array(np.argsort(words, kind="stable")[:FEW])
    some = pa.table(
        [column.take(first) for column in columns], [f"x{j}" for j in range(len(names))]
    )
    return Fingerprint(found.hexdigest(), some)


def _new(codes: Sequence[Any], order: Ints, words: Words) -> Bools:
    """(n,) whether a row differs from the one before it, in this order."""
    new = np.ones(len(order), np.bool_)
    new[1:] = words[order[1:]] != words[order[:-1]]
    same = np.flatnonzero(~new)
    for column in codes:
        new[same] |= column[order[same]] != column[order[same - 1]]
    return new


def _ordered(texts: Sequence[pa.Array], words: Words, order: Ints, same: Bools) -> Ints:
    """The order, rows with one hash by their texts: then it never depends on how they came."""
    order = order.copy()
    shared = np.isin(words[order], words[order[1:][same]])
    at = order[shared]
    held = zip(*(text.take(pa.array(at)).to_pylist() for text in texts), strict=True)
    keys = [
        (int(word), tuple((text is None, text or "") for text in row))
        for word, row in zip(words[at], held, strict=True)
    ]
    order[shared] = at[sorted(range(len(at)), key=keys.__getitem__)]
    return order


def _update(found: Any, texts: pa.Array) -> None:
    """One column more: the lengths of its texts, and these."""
    texts = texts.cast(pa.large_string())
    missing = texts.is_null().to_numpy(zero_copy_only=False)
    filled = pc.fill_null(texts, "")
    offsets = np.frombuffer(filled.buffers()[1], np.int64)
    offsets = offsets[filled.offset : filled.offset + len(filled) + 1]
    found.update(np.where(missing, -1, np.diff(offsets)).astype("<i8").tobytes())
    data = filled.buffers()[2]
    if data is not None and len(offsets):
        found.update(memoryview(data)[offsets[0] : offsets[-1]])
