"""Bring a column into a type whose values Arrow can tell apart and sort."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Floats, Ints
from shoal.encoding.domain import UNIT, Domain, Kind, units_of, with_missing_text
from shoal.errors import HierarchyError, InputError, listed
from shoal.hierarchy.text import text_of
from shoal.hierarchy.tree import with_missing

if TYPE_CHECKING:
    from shoal.hierarchy import Hierarchy


def plain(name: str, column: pa.Array) -> pa.Array:
    """The same values in the nearest type that can be counted; lists and the like have none."""
    kind, types = column.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return plain(name, column.storage)
    if types.is_dictionary(kind):
        return plain(name, column.cast(kind.value_type))
    if types.is_run_end_encoded(kind):
        return plain(name, pc.run_end_decode(column))
    if types.is_nested(kind):
        raise InputError(
            f"Column '{name}' holds {kind}, in which a value is made of several. "
            "Take it apart into columns of single values, or leave it out."
        )
    if types.is_null(kind) or types.is_string_view(kind):
        return column.cast(pa.string())
    if types.is_binary_view(kind):
        return column.cast(pa.binary())
    if types.is_float16(kind):
        return column.cast(pa.float32())
    if types.is_decimal32(kind) or types.is_decimal64(kind):
        return column.cast(pa.decimal128(kind.precision, kind.scale))
    return column


# Read ordered values out of whatever a column holds.


DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y")
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
WHOLE = r"^[+-]?\d+$"
LONG = r"^[+-]?\.?(\d\.?){16}"
"""Sixteen digits or more: a float may not keep them all."""
FAR = r"[eE][+-]?\d{3}"
"""An exponent of three digits: a float may not reach it."""
PADDED = r"^[+-]?0\d"


def ordered_values(values: pa.Array, guess: bool) -> pa.Array | None:
    """The distinct values as numbers, dates or times, null where one cannot be read.

    With `guess` the answer is None unless every value can be read and nothing is lost by it: texts
    such as zip codes with leading zeros stay texts. Without it a column that holds at least one
    number or date is taken to be meant as such.
    """
    kind = values.type
    if pa.types.is_boolean(kind):
        return None if guess else values.cast(pa.int8())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return values
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return values
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None if guess else pa.nulls(len(values), pa.int64())
    parsed = _best(
        [_numbers(values, guess), *(_dates(values, form) for form in DATES), _times(values)]
    )
    if guess and (parsed.null_count or _is_padded(values, parsed.type)):
        return None
    return parsed


def _is_padded(values: pa.Array, kind: pa.DataType) -> bool:
    """Whether reading some value as a number would lose its leading zeros."""
    return not pa.types.is_temporal(kind) and _any(pc.match_substring_regex(values, PADDED))


def _best(readings: list[pa.Array]) -> pa.Array:
    return min(readings, key=lambda reading: reading.null_count)


def _any(flags: pa.Array) -> bool:
    return bool(pc.any(flags).as_py())


def _where(values: pa.Array, pattern: str) -> pa.Array:
    """The trimmed values that match, null elsewhere."""
    trimmed = pc.utf8_trim_whitespace(values)
    return pc.if_else(pc.match_substring_regex(trimmed, pattern), trimmed, None)


def _numbers(values: pa.Array, guess: bool) -> pa.Array:
    """Numbers, exactly; where that cannot be, none when it is a guess, else the nearest floats."""
    numbers = _where(values, NUMBER)
    plain = pc.replace_substring_regex(numbers, r"^\+", "")
    if not _any(pc.invert(pc.match_substring_regex(numbers, WHOLE))):
        return _whole(plain)
    long = _any(pc.match_substring_regex(plain, LONG))
    scientific = _any(pc.match_substring_regex(plain, "[eE]"))
    if long and not scientific:
        exact = _decimals(plain)
        if exact is not None:
            return exact
    if guess and (long or _any(pc.match_substring_regex(plain, FAR))):
        return pa.nulls(len(plain), pa.float64())
    # adding nothing makes one zero of 0 and -0
    return pc.add(plain.cast(pa.float64()), 0.0)


def _decimals(texts: pa.Array) -> pa.Array | None:
    """Numbers with more digits than a float keeps; None where no decimal holds them either."""
    places = pc.utf8_length(pc.replace_substring_regex(texts, r"^[^.]*\.?", ""))
    scale = pc.max(places).as_py()
    whole = pc.max(pc.utf8_length(pc.replace_substring_regex(texts, r"\..*$", ""))).as_py()
    return texts.cast(pa.decimal256(76, scale)) if whole + scale <= 75 else None


def _whole(texts: pa.Array) -> pa.Array:
    """Whole numbers of any size; beyond 75 digits they are not read."""
    longest = pc.max(pc.utf8_length(texts)).as_py() or 0
    # by length, not by trying: Arrow wraps a number just too long for a decimal around to another
    for most, kind in ((18, pa.int64()), (37, pa.decimal128(38, 0)), (75, pa.decimal256(76, 0))):
        if longest <= most:
            return texts.cast(kind)
    return pa.nulls(len(texts), pa.int64())


def _dates(values: pa.Array, form: str) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(values)
    days = pc.strptime(trimmed, format=form, unit="s", error_is_null=True)
    if days.null_count == len(days):
        return days.cast(pa.date32())
    # a 30th of February is read as a 2nd of March: the day must be the one that is written
    day = r"^(?P<day>\d{1,2})" if form.startswith("%d") else r"(?P<day>\d{1,2})$"
    written = pc.struct_field(pc.extract_regex(trimmed, day), "day").cast(pa.int64())
    return pc.if_else(pc.equal(pc.day(days), written), days.cast(pa.date32()), None)


def _times(values: pa.Array) -> pa.Array:
    """ISO dates with a time of day, without a zone."""
    iso = _where(values, r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?$")
    try:
        return iso.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return pa.nulls(len(values), pa.timestamp("us"))


# Which values a column holds and how often: all that its numbering needs to know.


SINGULAR = (
    ("have", "has"),
    ("are not dates", "is not a date"),
    ("are not numbers", "is not a number"),
    ("are no whole numbers", "is no whole number"),
    ("are", "is"),
)
"""How what is wrong begins with several values, and with one."""
COMMON = 10
"""A value may be named in an error only if at least so many rows share it."""


@dataclass(frozen=True)
class Tally:
    """The distinct values of one column, from rows in memory or counted elsewhere."""

    name: str
    values: pa.Array
    """(m,) each value once, none missing, in any order."""
    counts: Ints
    """(m,) rows that hold each."""
    missing: int
    """Rows without a value."""
    index: Codes | None = None
    """(n,) where the rows are at hand: each row's place among the values, -1 where it has none."""

    def only(self, kept: Bools) -> "Tally":
        """The same with some of the values; rows of the others count as missing."""
        index = self.index
        if index is not None:
            place = np.where(kept, np.cumsum(kept) - 1, -1)
            index = np.append(place, -1).astype(np.int32)[index]
        return Tally(
            self.name,
            self.values.filter(pa.array(kept)),
            self.counts[kept],
            self.missing + int(self.counts[~kept].sum()),
            index,
        )

    def rows(self, codes: npt.NDArray[np.integer], missing: int) -> Codes:
        """(n,) the code of each row, from the codes of the values and of the missing value."""
        assert self.index is not None, "rows that were counted elsewhere are numbered there"
        # index -1 reads the last entry: the missing value's code
        return np.append(codes, missing).astype(np.int32)[self.index]

    def where(self, chosen: npt.NDArray[np.integer]) -> str:
        """The first few rows that hold some values, in words; nothing where rows are not at hand."""
        if self.index is None:
            return ""
        rows = np.flatnonzero(np.isin(self.index, chosen))
        few = ", ".join(f"{row + 1:,}" for row in rows[:5]) + (", …" if len(rows) > 5 else "")
        return f" (data rows {few})"


def tally_of(name: str, column: pa.Array) -> Tally:
    """The distinct values of a column in memory."""
    values, index = distinct(name, column)
    counts = np.bincount(index + 1, minlength=len(values) + 1).astype(np.int64)
    return Tally(name, values, counts[1:], int(counts[0]), index)


def tally_of_counts(name: str, values: pa.Array, counts: Ints) -> Tally:
    """The same from values that were counted elsewhere; equal and missing ones may come apart."""
    once, index = distinct(name, values)
    total = np.zeros(len(once) + 1, np.int64)
    np.add.at(total, index, counts)  # index -1 is the last place: the missing ones
    return Tally(name, once, total[:-1], int(total[-1]))


def distinct(name: str, column: pa.Array) -> tuple[pa.Array, Codes]:
    """The distinct values without nulls, and (n,) each row's place among them, -1 where missing."""
    encoded = known(plain(name, column)).dictionary_encode()
    index = encoded.indices
    if index.null_count:
        index = pc.fill_null(index, -1)
    return encoded.dictionary, index.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)


def known(column: pa.Array) -> pa.Array:
    """The column with one way to write each value, and one for none."""
    if not pa.types.is_floating(column.type):
        return column
    # not a number means not known; adding nothing makes one zero of 0 and -0
    return pc.if_else(pc.is_nan(column), None, pc.add(column, pa.scalar(0, column.type)))


def require_covered(what: str, covered: Bools, tally: Tally) -> None:
    """Raise, naming values that many rows share and the row numbers of the others."""
    found = uncovered(what, covered, tally)
    if found:
        raise HierarchyError(
            f"{found} Correct them in the table, add them to the hierarchy or list if there is one, "
            "or choose another treatment for the column."
        )


def uncovered(what: str, covered: Bools, tally: Tally) -> str:
    """What is wrong, with values that many rows share and the row numbers of the others; or nothing."""
    if covered.all():
        return ""
    bad = np.flatnonzero(~covered)
    rows = int(tally.counts[bad].sum())
    common = bad[tally.counts[bad] >= COMMON]
    named = [f"'{text}'" for text in text_of(tally.values.take(pa.array(common[:5]))).to_pylist()]
    which = f" Among them: {listed(named)}." if named else ""
    if len(bad) == 1:
        what = next(what.replace(many, one, 1) for many, one in SINGULAR if what.startswith(many))
    return (
        f"Column '{tally.name}': {len(bad):,} distinct value{'s' if len(bad) > 1 else ''} in "
        f"{rows:,} row{'s' if rows > 1 else ''} {what}{tally.where(bad)}.{which}"
    )


# Codes that ascend with the values: numbers, dates, and lists that a policy gives.


Numbered = tuple[Domain, npt.NDArray[np.integer]]
"""A domain, and (m,) the code of each value of a tally."""


def by_order(tally: Tally, kind: str | None, order: Sequence[str] | None) -> Numbered | None:
    """Ascending, if the column is ordered or, where nothing is said, can be; else None."""
    if kind == "ordered" and order is None and _is_boolean(tally.values):
        order = ("false", "true")
    if order is not None:
        return _by_list(tally, order)
    if kind == "unordered":
        return None
    parsed = ordered_values(tally.values, guess=kind is None)
    if parsed is None:
        return None
    good = parsed.is_valid().to_numpy(zero_copy_only=False)
    what = "are neither numbers nor dates, but the column is to be ordered"
    require_covered(what, good, tally)
    return _ascending(tally, parsed)


def check_read_back(tally: Tally) -> None:
    """Refuse an order that nobody could find again in the text of a release."""
    texts = text_of(tally.values).cast(pa.string())
    parsed = ordered_values(texts, guess=False)
    if not _is_boolean(tally.values) and (parsed is None or parsed.null_count):
        raise InputError(
            f"Column '{tally.name}' is sensitive and to be ordered, but values of the type "
            f"{tally.values.type} cannot be put in order again by who reads the release. Give it an "
            "`order`, or turn it into numbers, dates, or times without a zone."
        )


def _is_boolean(values: pa.Array) -> bool:
    return bool(pa.types.is_boolean(values.type)) or set(text_of(values).to_pylist()) <= {
        "false",
        "true",
    }


def _ascending(tally: Tally, parsed: pa.Array) -> Numbered:
    unique = pc.unique(parsed)
    unique = unique.take(pc.sort_indices(unique))
    codes = pc.index_in(parsed, unique).to_numpy(zero_copy_only=False)
    place = _in_order_of_numbers(unique)
    if not np.isfinite(place).all():
        raise InputError(
            f"Column '{tally.name}' holds infinite values, which no interval can end at. "
            "Replace them by a missing value or by the largest real one."
        )
    if max(-place[0], place[-1]) > np.finfo(np.float64).max / 4:
        place = place / 4  # else the width might not be a number
    width = place[-1] - place[0]
    positions = np.rint((place - place[0]) / (width or 1.0) * UNIT).astype(np.int64)
    return _range(tally, text_of(unique), positions, units_of(unique)), codes


def _by_list(tally: Tally, order: Sequence[str]) -> Numbered:
    """Ordered labels are measured on their rank in the policy's list."""
    labels = pa.array(list(order), pa.string())
    found = pc.index_in(text_of(tally.values), labels)
    codes = pc.fill_null(found, -1).to_numpy(zero_copy_only=False)
    require_covered("are not in its 'order' list", codes >= 0, tally)
    positions = np.arange(len(order), dtype=np.int64) * UNIT // max(1, len(order) - 1)
    return _range(tally, labels, positions, np.arange(len(order), dtype=np.float64)), codes


def _range(
    tally: Tally,
    texts: pa.Array,
    positions: Ints,
    units: Floats,
) -> Domain:
    missing = -1
    if tally.missing:
        missing = len(texts)
        positions = np.append(positions, 2 * UNIT)
        units = np.append(units, units[-1])
    texts = with_missing_text(texts, missing)
    return Domain(tally.name, Kind.RANGE, texts, missing, positions, units=units)


def _in_order_of_numbers(values: pa.Array) -> Floats:
    kind = values.type
    if pa.types.is_temporal(kind):
        values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if pa.types.is_integer(values.type):
        # exact differences first: large numbers lie closer together than a float can tell
        whole = values.to_numpy(zero_copy_only=False)
        if whole.itemsize < 8:
            whole = whole.astype(np.int64)
        return (whole - whole[0]).view(np.uint64).astype(np.float64)
    return values.cast(pa.float64()).to_numpy(zero_copy_only=False)


# Give every value of a column its code.


ANY = "*"


def number_quasi(
    name: str,
    column: pa.Array,
    kind: str | None = None,
    order: Sequence[str] | None = None,
    hierarchy: "Hierarchy | None" = None,
    folder: Path = Path(),
) -> tuple[Domain, Codes]:
    """The domain of a quasi-identifier and the (n,) codes of its rows."""
    tally = tally_of(name, column)
    domain, codes = quasi_domain(tally, kind, order, hierarchy, folder)
    return domain, tally.rows(codes, domain.missing)


def number_sensitive(
    name: str,
    column: pa.Array,
    kind: str | None = None,
    order: Sequence[str] | None = None,
    hierarchy: "Hierarchy | None" = None,
    folder: Path = Path(),
    levels: Mapping[str, int] | None = None,
) -> tuple[Domain, Codes]:
    """The domain of a sensitive column and the (n,) codes of its rows; see `sensitive_domain`."""
    tally = tally_of(name, column)
    domain, codes = sensitive_domain(tally, kind, order, hierarchy, folder, levels)
    return domain, tally.rows(codes, domain.missing)


def quasi_domain(
    tally: Tally,
    kind: str | None = None,
    order: Sequence[str] | None = None,
    hierarchy: "Hierarchy | None" = None,
    folder: Path = Path(),
) -> Numbered:
    """The domain of a quasi-identifier and the codes of its values."""
    if not len(tally.values):
        raise InputError(
            f"Column '{tally.name}' is a quasi-identifier but every value of it is missing. "
            "Give it the role 'identifier', so that it is dropped, or leave its rows out."
        )
    if hierarchy is not None:
        return _by_tree(tally, hierarchy, folder)
    return by_order(tally, kind, order) or _by_frequency(tally)


def sensitive_domain(
    tally: Tally,
    kind: str | None = None,
    order: Sequence[str] | None = None,
    hierarchy: "Hierarchy | None" = None,
    folder: Path = Path(),
    levels: Mapping[str, int] | None = None,
) -> Numbered:
    """The domain of a sensitive column and the codes of its values.

    By text, unless it is said to be ordered or has a hierarchy. A `*`, which stands for a suppressed
    value in a release, counts as missing. levels: the sensitivity level of each value, by its text.
    """
    kept = np.arange(len(tally.values)) != _star(tally)
    known = tally if kept.all() else tally.only(kept)
    domain, codes = _sensitive(known, kind, order, hierarchy, folder)
    if levels is not None:
        domain = replace(domain, levels=_levels(known, domain, levels))
    every = np.full(len(kept), domain.missing, np.int32)
    every[kept] = codes
    return domain, every


def check_no_star(tally: Tally) -> None:
    """Refuse a sensitive value that a reader of the release would take for a suppressed one."""
    star = _star(tally)
    if star < 0:
        return
    rows = int(tally.counts[star])
    raise InputError(
        f"Column '{tally.name}' is sensitive and reads '{ANY}' in {rows:,} "
        f"row{'s' if rows > 1 else ''}{tally.where(np.array([star]))}. In a release this means that "
        "a value is suppressed, so nobody could tell the two apart. Make it a missing value, or "
        "another word."
    )


def _star(tally: Tally) -> int:
    place: int = pc.index(text_of(tally.values), ANY).as_py()
    return place


def _sensitive(
    tally: Tally,
    kind: str | None,
    order: Sequence[str] | None,
    hierarchy: "Hierarchy | None",
    folder: Path,
) -> Numbered:
    if hierarchy is not None and len(tally.values):
        return _by_tree(tally, hierarchy, folder)
    if (kind != "ordered" and order is None) or not len(tally.values):
        return _by_text(tally)
    ordered = by_order(tally, "ordered", order)
    assert ordered is not None  # what cannot be ordered was refused
    if order is None:
        check_read_back(tally)
    return ordered


def _levels(tally: Tally, domain: Domain, levels: Mapping[str, int]) -> Codes:
    known = pa.array(list(levels), pa.string())
    has = pc.is_in(text_of(tally.values), known).to_numpy(zero_copy_only=False)
    if found := uncovered("have no level in the policy", has, tally):
        raise HierarchyError(
            f"{found} Add what is missing to the `levels` of column '{tally.name}'."
        )
    # leaves of a hierarchy that the table does not hold need no level
    return np.array([levels.get(text, 0) for text in domain.texts.to_pylist()], np.int32)


def _by_tree(tally: Tally, hierarchy: "Hierarchy", folder: Path) -> Numbered:
    tree, codes = hierarchy.build(tally.values, tally.name, folder)
    require_covered(hierarchy.uncovered, codes >= 0, tally)
    missing = -1
    if tally.missing:
        missing = tree.n_leaves
        tree = with_missing(tree)
    texts = with_missing_text(pa.array(tree.labels[0], pa.string()), missing)
    return Domain(tally.name, Kind.TREE, texts, missing, hierarchy=tree), codes


def _by_text(tally: Tally) -> Numbered:
    return _set_by_list(tally, pc.sort_indices(text_of(tally.values)).to_numpy())


def _by_frequency(tally: Tally) -> Numbered:
    by_text = pc.sort_indices(text_of(tally.values)).to_numpy()
    return _set_by_list(tally, by_text[np.argsort(tally.counts[by_text], kind="stable")])


def _set_by_list(tally: Tally, order: npt.NDArray[np.integer]) -> Numbered:
    """Values without an order of their own, in some order of their places."""
    codes = np.empty(len(order), np.int32)
    codes[order] = np.arange(len(order), dtype=np.int32)
    missing = len(order) if tally.missing else -1
    texts = with_missing_text(text_of(tally.values).take(pa.array(order)), missing)
    return Domain(tally.name, Kind.SET, texts, missing), codes
