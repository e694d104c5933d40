"""The table as a method sees it: distinct coded rows with their counts, in a canonical order."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Codes, Ints, Words
from shoal.encoding.columns import (
    AS_SPELLED,
    ColumnSpec,
    encode_sensitive,
    quasi_domain,
    sensitive_readings,
)
from shoal.encoding.counts import Reference
from shoal.encoding.domain import Domain
from shoal.encoding.people import NO_IDS, People, read_people
from shoal.encoding.prediction import (
    bits_of_columns,
    counts_of,
    counts_of_both,
    steered,
    target_classes,
)
from shoal.encoding.values import tally_of
from shoal.hierarchy.text import text_of
from shoal.seeds import LARGE, key_words
from shoal.threads import each

MANY = 100_000
"""So many values are gathered by Arrow."""
AT_ONCE = 1 << 17
"""Rows that are hashed at a time."""
MISSING_WORD = np.uint64(0x5A17_0F_F15E5)


@dataclass(frozen=True)
class Cells:
    """Rows that are equal in every quasi-identifier form one cell.

    Cells are sorted by their codes and rows inside a cell by a seeded hash of what will be published
    of them, so nothing depends on the order of the input, and a cell that is split between groups
    hands out its rows without regard to their sensitive values.
    """

    domains: tuple[Domain, ...]
    """One per quasi-identifier, in the policy's order."""
    codes: Codes
    """(n_cells, d) the code of each cell in each column, sorted, no two rows equal."""
    starts: Ints
    """(n_cells + 1,) cell i consists of the canonical rows starts[i]..starts[i+1]."""
    rows: Ints
    """(n_rows,) the input row behind each canonical row."""
    hashes: Words
    """(n_rows,) the hash that orders canonical rows inside their cell."""
    sensitive: Mapping[str, Codes]
    """Per sensitive column, (n_rows,) the code of each canonical row."""
    sensitive_domains: dict[str, Domain]
    """What those codes mean."""
    target: Codes | None = None
    """(n_rows,) the class of each canonical row, where the policy names a target column."""
    population: Ints | None = None
    """(n_rows,) population rows that equal each canonical row, divided among equal ones; where the
    policy names a population."""
    weights: Ints | None = None
    """(n_rows,) the sampling weight of each canonical row, in millionths; where the policy has one."""
    whole: dict[str, Reference] | None = None
    """Where these are some of a table's cells: the `totals` of the whole table."""
    people: People | None = None
    """The person of each canonical row, where the policy names a person column."""

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.rows)

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The sensitive columns of the table, without those that have the spellings of others."""
        domains = self.sensitive_domains.items()
        return tuple(name for name, domain in domains if domain.spelled_of is None)

    @property
    def n_cells(self) -> int:
        """Distinct rows of the table."""
        return len(self.codes)

    @property
    def counts(self) -> Ints:
        """(n_cells,) rows in each cell."""
        return np.diff(self.starts)

    @cached_property
    def rows_of_values(self) -> tuple[Ints, ...]:
        """Per quasi-identifier, (size,) rows of the table with each value."""
        counts = self.counts.astype(np.float64)

        def rows_of(j: int) -> Ints:
            return np.bincount(self.codes[:, j], counts, self.domains[j].size).astype(np.int64)

        return tuple(each(rows_of, range(len(self.domains)), self.n_cells))

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What methods work out of these rows and keep for the next run on them, each by a name."""
        return {}

    @cached_property
    def totals(self) -> dict[str, Reference]:
        """Per sensitive column, how often each value occurs in the table."""
        return self.whole if self.whole is not None else self.totals_of_rows(slice(None))

    def totals_of_rows(self, rows: npt.NDArray[np.integer] | slice) -> dict[str, Reference]:
        """The same of some canonical rows."""
        return {
            name: self._reference(name, domain, rows)
            for name, domain in self.sensitive_domains.items()
        }

    def _reference(
        self, name: str, domain: Domain, rows: npt.NDArray[np.integer] | slice
    ) -> Reference:
        codes = self.sensitive[name][rows]
        if self.people is None:
            return Reference(totals_of(codes, domain))
        _, first = np.unique(self.pairs[name][rows], return_index=True)
        known = codes != domain.missing
        people = len(np.unique(self.people.number[rows][known]))
        return Reference(totals_of(codes[first], domain), people)

    @cached_property
    def pairs(self) -> dict[str, Codes]:
        """Per sensitive column, (n_rows,) the number of the person and value of each canonical row:
        equal numbers are one person with one value."""
        assert self.people is not None
        person = self.people.number.astype(np.int64)
        return {
            name: np.unique(person * domain.size + self.sensitive[name], return_inverse=True)[1]
            .reshape(-1)
            .astype(np.int32)
            for name, domain in self.sensitive_domains.items()
        }


def subset(cells: Cells, rows: npt.NDArray[np.integer]) -> Cells:
    """The cells of some canonical rows, ascending, with the totals of the whole table."""
    cell = np.repeat(np.arange(cells.n_cells), cells.counts)[rows]
    first = np.flatnonzero(np.diff(cell, prepend=-1))

    def some(values: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
        return None if values is None else values[rows]

    return Cells(
        domains=cells.domains,
        codes=cells.codes[cell[first]],
        starts=np.append(first, len(rows)).astype(np.int64),
        rows=cells.rows[rows],
        hashes=cells.hashes[rows],
        sensitive={name: codes[rows] for name, codes in cells.sensitive.items()},
        sensitive_domains=cells.sensitive_domains,
        target=some(cells.target),
        population=some(cells.population),
        weights=some(cells.weights),
        whole=cells.totals,
        people=None if cells.people is None else cells.people.of_rows(rows),
    )


def totals_of(codes: Codes, domain: Domain) -> Ints:
    """(domain.size,) how many rows have each value; the missing value counts 0."""
    totals = np.bincount(codes, minlength=domain.size).astype(np.int64)
    if domain.missing >= 0:
        totals[domain.missing] = 0
    return totals


def encode(
    column: Callable[[str], pa.Array],
    quasi: Mapping[str, ColumnSpec],
    sensitive: Mapping[str, ColumnSpec],
    plain: list[str],
    seed: int,
    folder: Path = Path(),
    person: str | None = None,
    both_spellings: Collection[str] = (),
    no_ids: Sequence[str] = NO_IDS,
    weights: Ints | None = None,
    predict: str | None = None,
) -> Cells:
    """Encode the columns, several at a time, and reduce the rows to cells.

    person: the column that tells people apart, where people are counted.
    both_spellings: sensitive columns that are also encoded with every spelling as a value, where that
    makes a difference.
    no_ids: texts of the person column that stand for a missing id.
    weights: (n_rows,) the sampling weights of the input rows, where there are any.
    predict: the column that is to stay predictable.
    """
    people = None if person is None else read_people(person, column(person), no_ids)

    def codes_of(name: str) -> dict[str, tuple[Domain, Codes]]:
        values = column(name)
        tally = tally_of(name, values)
        if name in quasi:
            found = {name: quasi_domain(tally, quasi[name].with_order_of(values), folder)}
        else:
            found = sensitive_readings(tally, sensitive[name], folder, name in both_spellings)
        return {
            each_name: (domain, tally.rows(codes, domain.missing))
            for each_name, (domain, codes) in found.items()
        }

    encoded = each(codes_of, [*quasi, *sensitive])
    # one code may stand for values that look different (nan and null, 0 and -0): values are hashed too
    others = [column(name) for name in (*plain, *sensitive)]
    by_name = {name: codes for found in encoded for name, codes in found.items()}
    quasi_codes = [by_name.pop(name) for name in quasi]
    if predict is not None:
        quasi_codes = _steered(quasi_codes, predict, target_classes(predict, column(predict)))
    sensitive_codes = {name: by_name.pop(name) for name in sensitive} | by_name
    domains, keys = _packed(quasi_codes)
    del encoded, quasi_codes  # their memory is needed again
    return _cells_of_keys(domains, keys, sensitive_codes, others, seed, people, weights)


def _steered(
    quasi: Sequence[tuple[Domain, Codes]], target: str, classes: Codes
) -> list[tuple[Domain, Codes]]:
    """The columns, counting by what they tell about the classes of the rows."""
    domains, codes = [domain for domain, _ in quasi], [codes for _, codes in quasi]
    rows = [np.bincount(mine, minlength=domain.size).astype(np.int64) for domain, mine in quasi]
    bits = bits_of_columns(
        domains,
        rows,
        int(classes.max(initial=0)) + 1,
        target,
        lambda j: counts_of(codes[j], domains[j].size, classes),
        lambda i, j, of_i, of_j: counts_of_both(of_i[codes[i]], of_j[codes[j]], classes),
    )
    return list(zip(steered(domains, bits), codes, strict=True))


def codes_in_order(cells: Cells, column: pa.Array) -> Codes:
    """(n_rows,) codes of any other column, in canonical order."""
    _, codes = encode_sensitive("", column, AS_SPELLED)
    return codes[cells.rows]


def build_cells(
    quasi: Sequence[tuple[Domain, Codes]],
    sensitive: Mapping[str, tuple[Domain, Codes]],
    plain: Sequence[pa.Array],
    seed: int,
    people: People | None = None,
    weights: Ints | None = None,
) -> Cells:
    """The cells of a table whose columns are encoded; `plain` are the other published columns."""
    return _cells_of_keys(*_packed(quasi), sensitive, plain, seed, people, weights)


def _packed(
    quasi: Sequence[tuple[Domain, Codes]],
) -> tuple[tuple[Domain, ...], list[tuple[Words, int]]]:
    """The domains of some columns, and their codes packed into words."""
    domains = tuple(domain for domain, _ in quasi)
    return domains, pack([codes for _, codes in quasi], [domain.size for domain in domains])


def _cells_of_keys(
    domains: tuple[Domain, ...],
    keys: Sequence[tuple[Words, int]],
    sensitive: Mapping[str, tuple[Domain, Codes]],
    plain: Sequence[pa.Array],
    seed: int,
    people: People | None,
    weights: Ints | None,
) -> Cells:
    """`build_cells` of columns that are packed."""
    from shoal.kernels.sorting import radix_sort, run_starts, sort_runs

    n = len(keys[0][0])
    texts = each(spelled, plain, n)
    hashes = hash_rows(n, [codes for _, codes in sensitive.values()], texts, seed)
    order = np.arange(n, dtype=np.int64)
    if people is not None:  # rows that are published alike may be of different people
        order = np.argsort(people.number, kind="stable")
    elif weights is not None:  # and stand for different numbers of people
        order = np.argsort(weights, kind="stable")
    for word, bits in reversed(keys):
        order, first = radix_sort(word, bits, order)
    begins = run_starts([first, *(word[order] for word, _ in keys[1:])])
    starts = np.append(np.flatnonzero(begins), n).astype(np.int64)
    # the first row of each cell has its codes, whichever of its rows that is
    some, heads = first[starts[:-1]], order[starts[:-1]]
    words = [some, *(word[heads] for word, _ in keys[1:])]
    codes = unpack(words, [domain.size for domain in domains])
    sort_runs(order, starts, hashes)
    sort_runs(order, starts, spread(order, starts, hashes))
    return Cells(
        domains=domains,
        codes=codes,
        starts=starts,
        rows=order,
        hashes=in_order(hashes, order),
        sensitive={name: in_order(column, order) for name, (_, column) in sensitive.items()},
        sensitive_domains={name: domain for name, (domain, _) in sensitive.items()},
        people=None if people is None else people.in_order(order),
        weights=None if weights is None else weights[order],
    )


def spread(order: Ints, starts: Ints, hashes: Words) -> Words:
    """(n,) keys that scatter equal rows of a cell among its others.

    Rows with one hash are neighbours in `order`. A cell that is split in this order would separate
    people by their sensitive values, so each is hashed again with its number among its equals.
    """
    from shoal.kernels.hashing import stir

    ordered = in_order(hashes, order)
    begins = np.ones(len(ordered), np.bool_)
    begins[1:] = ordered[1:] != ordered[:-1]
    begins[starts[:-1]] = True
    first = np.flatnonzero(begins)
    nth = np.arange(len(ordered))
    nth -= np.repeat(first, np.diff(np.append(first, len(ordered))))
    stir(ordered, nth.view(np.uint64))
    keys = np.empty_like(hashes)
    keys[order] = ordered
    return keys


def pack(columns: Sequence[Codes], sizes: Sequence[int]) -> list[tuple[Words, int]]:
    """The columns packed into as few 64-bit words as possible: (word, bits used), first columns
    highest, so that comparing words compares rows."""
    words: list[tuple[Words, int]] = []
    for column, size in zip(columns, sizes, strict=True):
        bits = max(1, (size - 1).bit_length())
        if words and words[-1][1] + bits <= 64:
            word, used = words[-1]
            word <<= np.uint64(bits)
            word |= column.astype(np.uint64)
            words[-1] = word, used + bits
        else:
            words.append((column.astype(np.uint64), bits))
    return words


def unpack(words: Sequence[Words], sizes: Sequence[int]) -> Codes:
    """(n, columns) the columns of which `pack` made these words."""
    codes = np.empty((len(words[0]), len(sizes)), np.int32)
    places: list[tuple[int, int, int]] = []
    for size in sizes:
        bits = max(1, (size - 1).bit_length())
        word, used = (places[-1][0], places[-1][2]) if places else (0, 0)
        word, used = (word, used) if used + bits <= 64 else (word + 1, 0)
        places.append((word, bits, used + bits))
    used_bits = {word: end for word, _, end in places}
    for j, (word, bits, end) in enumerate(places):
        codes[:, j] = words[word] >> np.uint64(used_bits[word] - end) & np.uint64((1 << bits) - 1)
    return codes


def in_order(values: npt.NDArray[Any], rows: Ints) -> npt.NDArray[Any]:
    """values[rows], where these are many: Arrow gathers faster."""
    if len(rows) < MANY:
        return values[rows]
    found = pa.array(values).take(pa.array(rows))
    return np.frombuffer(found.buffers()[1], values.dtype)


def hash_rows(n: int, sensitive: Sequence[Codes], plain: Iterable[pa.Array], seed: int) -> Words:
    """(n,) a hash of what is published of each row apart from its quasi-identifiers.

    Equal rows have equal hashes, in whatever order they are.
    """
    from shoal.kernels.hashing import keyed_hash, stir

    codes, texts = list(sensitive), [_WordsInParts(column) for column in plain]
    key = key_words(seed, "rows") if seed >= LARGE else None
    out = np.full(n, (seed * 0x9E37 + 1) % (1 << 64), np.uint64)
    for begin in range(0, n, AT_ONCE):
        part = slice(begin, min(begin + AT_ONCE, n))
        words = chain(
            (one[part].astype(np.uint64) for one in codes), (one.words(part) for one in texts)
        )
        if key is not None:
            out[part] = keyed_hash(part.stop - begin, words, key)
            continue
        for each_word in words:
            stir(out[part], each_word)
    return out


class _WordsInParts:
    """The words of a column (`words_of`), some rows at a time."""

    def __init__(self, column: pa.Array) -> None:
        self._column, self._words = column, None
        if pa.types.is_dictionary(column.type):
            self._words = words_of(column.dictionary)

    def words(self, part: slice) -> Words:
        """Those of some rows."""
        return _words(self._column.slice(part.start, part.stop - part.start), self._words)


def spelled(column: pa.Array) -> pa.Array:
    """The column with the text of each value in its place, so that rows have the same hashes whether a
    table was read from text or has types. Values that differ stay different: -0 is not 0."""
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        texts = spelled(column.dictionary)
        texts = texts.dictionary_decode() if types.is_dictionary(texts.type) else texts
        return pa.DictionaryArray.from_arrays(column.indices, texts)
    if types.is_float16(kind):
        column, kind = column.cast(pa.float32()), pa.float32()
    if types.is_floating(kind):
        # by their bits: -0 equals 0
        coded = column.view(pa.int32() if kind.bit_width == 32 else pa.int64()).dictionary_encode()
        values = coded.dictionary.view(kind)
        zero = pa.array(np.signbit(values.to_numpy()) & (values.to_numpy() == 0))
        texts = pc.if_else(zero, "-0", text_of(values))
    elif _is_word(kind) or types.is_decimal(kind):
        if types.is_decimal32(kind) or types.is_decimal64(kind):
            column = column.cast(pa.decimal128(kind.precision, kind.scale))
        coded = column.dictionary_encode()
        texts = text_of(coded.dictionary)
    else:
        return column
    return pa.DictionaryArray.from_arrays(coded.indices, texts)


def words_of(column: pa.Array) -> Words:
    """(n,) a 64-bit word for each value: the value itself where it fits, else a hash of it."""
    return _words(column, None)


def _words(column: pa.Array, of_codes: Words | None) -> Words:
    """The same; of_codes: those of the values of a dictionary, where they are known."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        words = words_of(column.dictionary) if of_codes is None else of_codes
        codes = pc.fill_null(column.indices, 0).to_numpy(zero_copy_only=False)
        out = in_order(words, codes) if len(words) else np.zeros(len(column), np.uint64)
    elif pa.types.is_null(kind):
        out = np.zeros(len(column), np.uint64)
    elif _is_word(kind):
        out = _fixed(column)
    else:
        out = _texts(column)
    if column.null_count:
        out = np.where(column.is_null().to_numpy(zero_copy_only=False), MISSING_WORD, out)
    return out


def _is_word(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_date(kind)
        or types.is_time(kind)
        or types.is_timestamp(kind)
        or types.is_duration(kind)
    )


def _fixed(column: pa.Array) -> Words:
    kind = column.type
    if pa.types.is_floating(kind):
        return (
            column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False).view(np.uint64)
        )
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif not pa.types.is_integer(kind):
        column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    values = column.fill_null(0).to_numpy(zero_copy_only=False)
    return (
        values.astype(np.int64, copy=False).view(np.uint64)
        if values.dtype.kind == "i"
        else values.astype(np.uint64)
    )


def _texts(column: pa.Array) -> Words:
    """Hash the bytes; values without bytes of their own (decimals, lists) are hashed as text."""
    from shoal.kernels.hashing import hash_texts

    kind, types = column.type, pa.types
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        column = column.cast(pa.large_binary())
    elif not pa.types.is_large_string(kind):
        try:
            column = column.cast(pa.large_string())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            column = pa.array([repr(value) for value in column.to_pylist()], pa.large_string())
    _, offsets, data = column.buffers()
    at = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    return hash_texts(at, np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8))
