"""The raw table and the release as columns of plain values, which can be compared.

A release has labels. Each is replaced by a plausible value, drawn from the shares that the release
itself supports, as `shoal decode` does. So the figures are those of an analyst who has nothing but the
release.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from datetime import date, datetime, timedelta
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Floats, Ints
from shoal.decoding.decoder import Choice, Decoder
from shoal.decoding.meaning import ANYTHING, Categories, Measured, meaning_of
from shoal.encoding.columns import as_published
from shoal.errors import InputError, counted, listed, nearest
from shoal.hierarchy.text import text_of
from shoal.io.arrow import one_chunk
from shoal.policy import Policy

MOST_DRAWS = 20
DRAWN = 200_000
"""Values that are drawn per column, at least; a release with fewer rows is drawn several times."""
STRANGE = 0.1
"""The share of rows above which two tables do not belong together. It is not 0, since spellings that a
policy makes equal may differ between them."""


@dataclass(frozen=True)
class PlainColumn:
    """One column of both tables."""

    name: str
    is_number: bool
    """Whether its values are numbers, dates or times; others are texts."""
    raw: Floats | Ints
    """(raw rows,) numbers, NaN where there is none; or codes of `texts`, -1 where there is none."""
    release: Floats | Ints
    """(draws * release rows,) the same of the release, draw by draw."""
    texts: tuple[str, ...] = ()
    """The texts of codes."""
    unit: Literal["", "day", "second"] = ""
    """What numbers count: days or seconds since the start of 1970 for dates and times."""

    def text(self, value: float) -> str:
        """A number of this column as people write it."""
        if self.unit == "day":
            return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
        if self.unit == "second":
            return (datetime(1970, 1, 1) + timedelta(seconds=value)).isoformat(" ", "seconds")
        return f"{value:,.6g}" if value != int(value) else f"{int(value)}"


@dataclass(frozen=True)
class PlainTables:
    """Both tables in plain values."""

    columns: tuple[PlainColumn, ...]
    raw_rows: int
    release_rows: int
    draws: int
    """How often the release was drawn."""
    notes: tuple[str, ...] = field(default=())
    """Columns that cannot be compared, and why."""

    def column(self, name: str) -> PlainColumn:
        """Return a column by its name; `InputError` where there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        names = [column.name for column in self.columns]
        raise InputError(
            f"There is no column '{name}' to count by (a query is a list of "
            "columns): it is not in both tables, or its labels do not list values."
            f"{nearest(name, names)} Columns that can be counted: {listed(names)}."
        )


def plain_tables(raw: pa.Table, release: pa.Table, policy: Policy, seed: int) -> PlainTables:
    """Both tables in plain values.

    Raises `InputError` unless the raw table has every column of the release, and values that its labels
    can stand for.
    """
    missing = [name for name in release.column_names if name not in raw.column_names]
    if missing:
        raise InputError(
            f"The raw table has no column '{missing[0]}', which the release has."
            f"{nearest(missing[0], raw.column_names)} Is it the table that the release was made from?"
        )
    if not release.num_rows or not raw.num_rows:
        which = "release" if raw.num_rows else "raw table"
        raise InputError(f"The {which} has no rows: there is nothing to compare.")
    if release.num_rows > raw.num_rows:
        raise InputError(
            f"The release has {counted(release.num_rows, 'row')}, the raw table only "
            f"{raw.num_rows:,}. Is it the table that the release was made from?"
        )
    draws = min(MOST_DRAWS, max(1, -(-DRAWN // release.num_rows)))
    whole = whole_numbers(raw, policy)
    drawn = [_drawn(release, policy, seed + i, whole) for i in range(draws)]
    decoder = drawn[0][1]
    forms = {one.name: one for one in decoder.outcome()}
    columns, notes = [], []
    for name in release.column_names:
        new = forms[name].columns[0]
        if not _is_listed(decoder, name):
            notes.append(
                f"Column '{name}' is not compared: its labels do not list the values they stand for."
            )
            continue
        parts = [one_chunk(table.column(new)) for table, _ in drawn]
        before = one_chunk(raw.column(name))
        columns.append(_column(name, before, parts, policy))
    found = PlainTables(tuple(columns), raw.num_rows, release.num_rows, draws, tuple(notes))
    for column in columns:
        _check_fit(column, found, decoder)
    return found


def _check_fit(column: PlainColumn, tables: PlainTables, decoder: Decoder) -> None:
    """Raise `InputError` where the values of a raw column cannot be those behind the release."""
    policy, name = decoder.policy, column.name
    if name in decoder.tallies:
        strange = _uncovered(column, decoder) - (tables.raw_rows - tables.release_rows)
        what = f"{strange:,} rows of the raw table have a value that no label of the release covers"
        rows = tables.raw_rows
    elif name in (*policy.sensitive, *policy.plain) and name not in (
        *policy.pseudonyms,
        *policy.preferences,
        *policy.column_rules,
    ):
        strange, rows = _added(column, tables.release_rows), tables.release_rows
        what = f"the release has {strange:,} rows with a value that the raw table has less often"
    else:
        return
    if strange > STRANGE * rows:
        raise InputError(
            f"The raw table does not fit the release. Column '{name}': {what}. Is it the table that "
            "the release was made from?"
        )


def _uncovered(column: PlainColumn, decoder: Decoder) -> int:
    """Raw rows whose value is outside of all labels together; 0 where that cannot be known."""
    tally = decoder.tallies[column.name]
    spec, folder = decoder.specs[column.name], decoder.policy.folder
    meaning = meaning_of(column.name, tally.labels, tally.rows, spec, folder)
    if meaning.statistic or spec.rule is not None:
        return 0
    if isinstance(meaning, Measured) and column.is_number:
        ends = [as_numbers(meaning.typed(some)) for some in (meaning.low, meaning.high)]
        if any(end is None or np.isnan(end).any() for end in ends):
            return 0  # some label is open, or stands for anything
        low, high = ends
        assert low is not None
        assert high is not None
        slack = 1e-9 * max(1.0, float(np.abs(high).max()))
        outside = (column.raw < low.min() - slack) | (column.raw > high.max() + slack)
        return int(outside.sum())
    if isinstance(meaning, Categories) and not column.is_number and not meaning.unlisted:
        inside = np.unique(meaning.entries)
        if len(inside) and inside[-1] == len(meaning.texts):
            inside = inside[:-1]
        known = np.isin(column.texts, [meaning.texts[i] for i in inside.tolist()])
        anywhere = np.asarray(tally.rows)[meaning.state == ANYTHING].sum()  # `*` covers every value
        return max(0, int((~np.append(known, True)[column.raw]).sum()) - int(anywhere))
    return 0


def _added(column: PlainColumn, rows: int) -> int:
    """Rows of the release beyond those that the raw table has with the same value."""
    after, before = column.release[:rows], column.raw
    after, before = after[after == after], before[before == before]
    if not column.is_number:
        after, before = after[after >= 0], before[before >= 0]
    values, place = np.unique(np.concatenate([before, after]), return_inverse=True)
    place = place.reshape(-1)
    had = np.bincount(place[: len(before)], minlength=len(values))
    has = np.bincount(place[len(before) :], minlength=len(values))
    return int(np.maximum(has - had, 0).sum())


def raw_values(name: str, column: pa.Array, policy: Policy) -> pa.Array:
    """The values of a raw column as a release writes them, in the type of the table."""
    spec = replaced(policy.column_spec(name), rule=None)
    return as_published(name, column, spec)


def as_numbers(column: pa.Array) -> Floats | None:
    """(rows,) numbers, days or seconds with NaN for missing ones; None for other values."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return as_numbers(column.dictionary_decode())
    if pa.types.is_boolean(kind):
        return None
    if pa.types.is_date(kind):
        column = column.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        column = pc.divide(
            column.cast(pa.timestamp("us", kind.tz)).cast(pa.int64()).cast(pa.float64()), 1e6
        )
    elif pa.types.is_time(kind) or pa.types.is_duration(kind):
        column = column.cast(pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    found: Floats = np.asarray(
        column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64
    )
    return found


def whole_numbers(raw: pa.Table, policy: Policy) -> dict[str, bool]:
    """Per quasi-identifier of numbers whether all are whole, which labels such as `[1-2)` do not say."""
    found = {}
    for name in policy.quasi:
        if name in raw.column_names:
            column = raw_values(name, one_chunk(raw.column(name)), policy)
            numbers = as_numbers(column)
            if numbers is None:
                numbers = _parsed(column, pa.float64())
            if numbers is not None:
                known = numbers[~np.isnan(numbers)]
                found[name] = bool(np.all(known == np.floor(known)))
    return found


def _drawn(
    release: pa.Table, policy: Policy, seed: int, whole: Mapping[str, bool]
) -> tuple[pa.Table, Decoder]:
    choice = Choice(numbers="sample", categories="sample", seed=seed)
    decoder = Decoder(policy, choice, release.schema, untyped=True, whole=whole)
    decoder.count(release)
    decoder.settle()
    return decoder.decode(release), decoder


def _is_listed(decoder: Decoder, name: str) -> bool:
    """Whether the values of a column can be compared with raw ones."""
    found = decoder.columns.get(name)
    if found is None or found.form != "label":
        return True
    return not any("keeps its labels" in note and f"'{name}'" in note for note in decoder.notes)


def _column(name: str, raw: pa.Array, parts: Sequence[pa.Array], policy: Policy) -> PlainColumn:
    before = raw_values(name, raw, policy)
    numbers = [as_numbers(part) for part in parts]
    if all(part is not None for part in numbers):
        typed = as_numbers(before)
        if typed is None:
            typed = _parsed(before, parts[0].type)
        if typed is not None:
            after = np.concatenate([part for part in numbers if part is not None])
            return PlainColumn(name, True, typed, after, unit=_unit(parts[0].type))
    texts = [_texts(before), *(_texts(part) for part in parts)]
    every = pc.unique(pa.concat_arrays([pc.unique(one) for one in texts])).drop_null()
    every = every.take(pc.sort_indices(every))
    codes: list[Ints] = [_codes(one, every) for one in texts]
    return PlainColumn(name, False, codes[0], np.concatenate(codes[1:]), tuple(every.to_pylist()))


def _unit(kind: pa.DataType) -> Literal["", "day", "second"]:
    if pa.types.is_date(kind):
        return "day"
    return "second" if pa.types.is_timestamp(kind) else ""


def _parsed(column: pa.Array, kind: pa.DataType) -> Floats | None:
    """Texts of a file without types, as the numbers or dates that the release has."""
    texts = _texts(column)
    blank: Bools = pc.fill_null(pc.equal(pc.utf8_trim_whitespace(texts), ""), True)
    texts = pc.if_else(blank, None, texts)
    target = kind if pa.types.is_date(kind) or pa.types.is_timestamp(kind) else pa.float64()
    try:
        return as_numbers(pc.utf8_trim_whitespace(texts).cast(target))
    except pa.ArrowInvalid:
        return None


def _texts(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return text_of(column).cast(pa.string())


def _codes(texts: pa.Array, every: pa.Array) -> Ints:
    found = pc.fill_null(pc.index_in(texts, every), -1)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)
