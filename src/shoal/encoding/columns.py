"""From a column's distinct values to its domain and their codes.

Ordered values are numbered in ascending order, hierarchy leaves depth first, sensitive values by their
text, and other quasi-identifiers from the rarest to the most common value. A cut between two codes then
separates rare values from common ones, which measurably loses less than a cut in alphabetical order.

Distinct values with their counts are all that is needed, so the codes of a table larger than memory are
the same as in memory.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Floats, Ints
from shoal.encoding.domain import UNIT, Domain, Kind, units_of, with_missing_text
from shoal.encoding.look_alikes import look_alikes
from shoal.encoding.missing import code_list, is_declared, likely_codes
from shoal.encoding.reading import (
    AS_FOUND,
    AmbiguousError,
    Ordered,
    StrayError,
    ValueReading,
    declared_texts,
    is_text,
    read_line,
    read_ordered,
    standard_texts,
)
from shoal.encoding.rules import Recoding
from shoal.encoding.spelling import fold, is_blank, merge_spellings
from shoal.encoding.values import (
    DATE_FORMATS,
    Tally,
    countable,
    describe_uncovered,
    ordered_values,
    require_covered,
    tally_of,
)
from shoal.errors import HierarchyError, InputError, counted, listed
from shoal.hierarchy import Hierarchy
from shoal.hierarchy.text import is_bytes, text_of
from shoal.hierarchy.tree import with_missing

ANY = "*"
STAR_SIGNS = "[*\N{FULLWIDTH ASTERISK}\N{SMALL ASTERISK}]"
"""One of them is in every text that reads `*`."""
BOOLEANS = ("false", "true")
NUMBERS = ValueReading("number")
PLURALS = {"number": "numbers", "date": "dates", "text": "texts"}
INTERVAL = re.compile(r"([\[(][^,]+), ([^,]+[\])])")
"""The text of an interval, as `pd.cut` and `Series.cut` of polars write it."""

Encoded = tuple[Domain, npt.NDArray[np.integer]]
"""A domain, and (m,) the code of each value of a tally."""


@dataclass(frozen=True)
class ColumnSpec:
    """What a policy says about the values of a column."""

    kind: str | None = None
    """`ordered`, `unordered`, or None to decide by the values."""
    order: tuple[str, ...] | None = None
    """The values of an ordered column, lowest first."""
    hierarchy: Hierarchy | None = None
    levels: Mapping[str, int] | None = None
    """Sensitive only: the sensitivity level of each value, by its text."""
    from_categories: bool = False
    """Whether the order is that of a categorical column and not the policy's."""
    missing: tuple[str, ...] = ()
    """The texts that stand for a missing value."""
    states_missing: bool = False
    """Whether the policy lists these codes for this very column: then none is asked about."""
    exact_spelling: bool = False
    """Sensitive only: whether every spelling is a value of its own."""
    exact_codes: bool = False
    """Whether a code for a missing value is one in the policy's spelling alone."""
    reading: ValueReading = AS_FOUND
    """How texts are read."""
    rule: Recoding | None = None
    """What was done to its values before they came here."""
    labels: str = "range"
    """The form of its labels; see `labels` of a column in a policy."""
    share: float = 1.0
    """Quasi-identifiers only: how much the column counts beside the most important one."""

    def as_read(self, domain: Domain) -> "ColumnSpec":
        """This spec with the way in which the texts of a column were read."""
        return replace(self, reading=domain.reading or AS_FOUND)

    def with_order_of(self, column: pa.Array) -> "ColumnSpec":
        """This spec with the order of an ordered categorical, unless the policy decides.

        Numbers and dates whose categories ascend keep their own order, which knows their distances.
        """
        kind = column.type
        if not (pa.types.is_dictionary(kind) and kind.ordered and len(column.dictionary)):
            return self
        if self.kind == "unordered" or self.order is not None or self.hierarchy is not None:
            return self
        categories = column.dictionary
        if pa.types.is_large_string(categories.type) or pa.types.is_string_view(categories.type):
            categories = categories.cast(pa.string())
        parsed = ordered_values(categories, guess=True)
        if parsed is not None and pc.sort_indices(parsed).equals(_counting(len(parsed))):
            return self
        order = tuple(text_of(categories).to_pylist())
        return replace(self, kind="ordered", order=order, from_categories=True)

    def as_spelled(self) -> "ColumnSpec":
        """The spec of the same column with every spelling as a value of its own.

        Numbers and dates are then texts: as such, those that are equal differ. What is missing stays so.
        """
        by_text = self.kind == "ordered" and self.order is None
        return replace(self, exact_spelling=True, kind=None if by_text else self.kind)


BY_VALUES = ColumnSpec()
"""The spec of a column about which the policy says nothing."""
AS_SPELLED = ColumnSpec(exact_spelling=True)
"""The spec of a column whose texts are only told apart."""


def encode_quasi(
    name: str, column: pa.Array, spec: ColumnSpec = BY_VALUES, folder: Path = Path()
) -> tuple[Domain, Codes]:
    """The domain of a quasi-identifier and the (n,) codes of its rows."""
    tally = tally_of(name, column)
    domain, codes = quasi_domain(tally, spec.with_order_of(column), folder)
    return domain, tally.rows(codes, domain.missing)


def encode_sensitive(
    name: str, column: pa.Array, spec: ColumnSpec = BY_VALUES, folder: Path = Path()
) -> tuple[Domain, Codes]:
    """The domain of a sensitive column and the (n,) codes of its rows; see `sensitive_domain`."""
    tally = tally_of(name, column)
    domain, codes = sensitive_domain(tally, spec, folder)
    return domain, tally.rows(codes, domain.missing)


def quasi_domain(tally: Tally, spec: ColumnSpec = BY_VALUES, folder: Path = Path()) -> Encoded:
    """The domain of a quasi-identifier and the codes of its values.

    The policy's codes for missing values have the code of the missing value, and so have blank texts
    among numbers or dates. Other blank texts are values: what looks different is different.
    """
    kept = _not_declared(tally, spec)
    known = tally if kept.all() else tally.only(kept)
    if not len(known.values):
        raise InputError(
            f"Column '{tally.name}' is a quasi-identifier but all of its values are missing. "
            "Give it the role 'identifier', so that it is dropped, or leave its rows out."
        )
    if spec.hierarchy is not None:
        domain, codes = _by_hierarchy(known, spec, folder)
    else:
        domain, codes = _ordered_without_blank(known, spec) or _by_frequency(known)
    if spec.share != domain.share:
        domain = replace(domain, share=spec.share)
    return domain, _with_unknown(kept, codes, domain.missing)


def _ordered_without_blank(tally: Tally, spec: ColumnSpec) -> Encoded | None:
    """As `_by_order`, blank texts among numbers or dates being missing."""
    if spec.order is not None or not _may_be_text(tally.values.type):
        return _by_order(tally, spec)
    kept = ~_flags(is_blank(text_of(tally.values)))
    if kept.all() or not kept.any():
        return _by_order(tally, spec)
    ordered = _by_order(tally.only(kept), spec)
    if ordered is None:
        return None
    domain, codes = ordered
    return domain, _with_unknown(kept, codes, domain.missing)


def _not_declared(tally: Tally, spec: ColumnSpec) -> Bools:
    """(m,) whether each value is none of the policy's codes for missing values."""
    if not spec.missing:
        return np.ones(len(tally.values), np.bool_)
    texts = text_of(tally.values)
    return ~is_declared(texts, spec.missing, spec.exact_codes, spec.reading)


def _known(tally: Tally, spec: ColumnSpec) -> Bools:
    """(m,) whether each sensitive value is one: neither blank nor `*` nor a code for a missing one."""
    kept = _not_declared(tally, spec)
    kept[_stars(tally)] = False
    if _may_be_text(tally.values.type):
        kept &= ~_flags(is_blank(text_of(tally.values)))
    return kept


def _flags(booleans: pa.Array) -> Bools:
    return np.asarray(booleans.to_numpy(zero_copy_only=False), np.bool_)


def _may_be_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or is_bytes(kind))


def _with_unknown(
    kept: Bools, codes: npt.NDArray[np.integer], missing: int
) -> npt.NDArray[np.integer]:
    """The codes of all values, from those of the known ones."""
    if kept.all():
        return codes
    every = np.full(len(kept), missing, np.int32)
    every[kept] = codes
    return every


def sensitive_domain(tally: Tally, spec: ColumnSpec = BY_VALUES, folder: Path = Path()) -> Encoded:
    """The domain of a sensitive column and the codes of its values.

    By text, unless the policy says it is ordered or has a hierarchy. Spellings of one value share a
    code. Blank texts, the policy's codes for missing values and a `*`, which stands for a suppressed
    value in a release, count as missing.
    """
    kept = _known(tally, spec)
    known = tally if kept.all() else tally.only(kept)
    domain, codes = _sensitive_values(known, spec, folder)
    if spec.levels is not None:
        domain = replace(domain, levels=_levels(known, domain, spec.levels))
    if not spec.exact_spelling:
        domain, codes = _with_spellings(known, spec, domain, codes)
    return domain, _with_unknown(kept, codes, domain.missing)


def as_spelled(name: str) -> str:
    """The name of a sensitive column whose spellings are counted apart, beside the column itself."""
    return f"{name} as spelled"


def sensitive_readings(
    tally: Tally, spec: ColumnSpec, folder: Path, both: bool
) -> dict[str, Encoded]:
    """A sensitive column of a table as it is to be protected, by name.

    Where spellings of one value were merged and `both` is true, the same column is there again with
    every spelling as a value. Raises `InputError` for a `*`, and for a likely code for missing values
    that the policy does not mention.
    """
    check_no_star(tally)
    undeclared = _undeclared_codes(tally, spec)
    domain, codes = sensitive_domain(tally, spec, folder)
    found: dict[str, Encoded] = {tally.name: (replace(domain, undeclared=undeclared), codes)}
    if both and domain.spellings is not None:
        exact, codes = sensitive_domain(tally, spec.as_spelled(), folder)
        name = as_spelled(tally.name)
        found[name] = replace(exact, name=name, spelled_of=tally.name), codes
    return found


def _undeclared_codes(tally: Tally, spec: ColumnSpec) -> tuple[str, ...]:
    """The texts that are likely codes for missing values, and not among the policy's."""
    known = tally.values.filter(pa.array(_known(tally, spec)))
    found = likely_codes(declared_texts(text_of(known), spec.reading))
    if found and not spec.states_missing:
        texts = declared_texts(text_of(tally.values), spec.reading)
        rows = pc.is_in(texts, pa.array(found, pa.string()))
        n = int(tally.counts[_flags(rows)].sum())
        raise InputError(undeclared_error(tally.name, found, spec, n))
    return tuple(found)


def undeclared_error(name: str, found: Sequence[str], spec: ColumnSpec, rows: int | None) -> str:
    """What is asked about likely codes for missing values in a sensitive column."""
    where = "" if rows is None else f" in {counted(rows, 'row')}"
    many = len(found) > 1
    return (
        f"Column '{name}' is sensitive and reads {listed([repr(code) for code in found])}{where}, which "
        f"{'are' if many else 'is'} likely to stand for a missing value, but the policy does not say "
        f"so. Add `missing: {code_list([*spec.missing, *found])}` to the column. If "
        f"{'they are real values' if many else 'it is a real value'}, write "
        f"`missing: {code_list(spec.missing)}`."
    )


def _sensitive_values(known: Tally, spec: ColumnSpec, folder: Path) -> Encoded:
    if not len(known.values):
        return _by_text(known)
    if spec.hierarchy is not None:
        return _by_hierarchy(known, spec, folder)
    if spec.kind != "ordered" and spec.order is None:
        return _by_text(known)
    ordered = _by_order(known, replace(spec, kind="ordered"))
    assert ordered is not None  # values without an order were refused
    if spec.order is None:
        _check_order_readable(known, spec)
        _check_declared(known, spec)
    return ordered


def _with_spellings(
    known: Tally, spec: ColumnSpec, domain: Domain, codes: npt.NDArray[np.integer]
) -> Encoded:
    """The same with one code for all spellings of a value."""
    if not _may_be_text(known.values.type):  # different numbers, dates and times fold differently
        return domain, codes
    texts = declared_texts(text_of(known.values).cast(pa.string()), spec.reading)
    merged, spellings = merge_spellings(
        texts, codes.astype(np.int32), known.counts, spec.reading.type != "text"
    )
    alike = look_alikes(texts, merged, spec.reading.type != "text")
    if alike is not None:
        domain = replace(domain, look_alikes=alike)
    if spellings is None:
        return domain, codes
    if domain.levels is not None and (domain.levels[merged] != domain.levels[codes]).any():
        raise HierarchyError(
            f"Column '{known.name}': some `levels` differ for spellings of one value, which count as "
            "one. Give them the same level, or write `spelling: exact`."
        )
    return replace(domain, spellings=spellings), merged


def check_no_star(tally: Tally) -> None:
    """Refuse a sensitive value that would be taken for a suppressed one in the release."""
    stars = _stars(tally)
    if not len(stars):
        return
    rows = int(tally.counts[stars].sum())
    raise InputError(
        f"Column '{tally.name}' is sensitive and reads '{ANY}' in {rows:,} "
        f"row{'s' if rows > 1 else ''}{tally.where(stars)}. In a release this means that "
        "a value is suppressed, so the two could not be distinguished. Make it a missing value, or "
        "another word."
    )


def _stars(tally: Tally) -> Ints:
    """The places of the values that read `*`: also with spaces around it, or in another width."""
    texts = text_of(tally.values).cast(pa.string())
    some = np.flatnonzero(_flags(pc.fill_null(pc.match_substring_regex(texts, STAR_SIGNS), False)))
    found = [i for i in some.tolist() if fold(texts[i].as_py()) == ANY]
    return np.array(found, np.int64)


def _levels(tally: Tally, domain: Domain, levels: Mapping[str, int]) -> Codes:
    known = pa.array(list(levels), pa.string())
    has_level = pc.is_in(text_of(tally.values), known).to_numpy(zero_copy_only=False)
    if description := describe_uncovered("have no level in the policy", has_level, tally):
        raise HierarchyError(
            f"{description} Add what is missing to the `levels` of column '{tally.name}'."
        )
    # leaves of a hierarchy that are not in the table need no level
    return np.array([levels.get(text, 0) for text in domain.texts.to_pylist()], np.int32)


def _by_order(tally: Tally, spec: ColumnSpec) -> Encoded | None:
    """Ascending codes if the column is ordered or, where the policy does not decide, can be."""
    order = spec.order
    if spec.kind == "ordered" and order is None and _is_boolean(tally.values):
        order = BOOLEANS
    if order is not None:
        domain, codes = _by_list(tally, order)
        ends = interval_ends(order) if spec.from_categories else None
        return replace(domain, interval_ends=ends), codes
    if spec.kind == "unordered":
        return None
    found = read_column(tally, spec)
    if found is None:
        return None
    problem = "are neither numbers nor dates, but the column is to be ordered"
    if spec.reading.type is not None:
        problem = f"are not {PLURALS[spec.reading.type]}, as the policy says"
    require_covered(problem, found.values.is_valid().to_numpy(zero_copy_only=False), tally)
    domain, codes = _ascending(tally, found.values)
    if spec.rule is not None:
        domain = replace(domain, texts=spec.rule.with_marks(domain.texts))
    return replace(domain, read_as=found.words, reading=found.reading), codes


def read_column(tally: Tally, spec: ColumnSpec) -> Ordered | None:
    """The values as numbers or dates; None where the policy does not decide and they are texts.

    Raises
    ------
    InputError
        If they can be read in several ways, or if nearly all, but not all, are numbers or dates.
    """
    if spec.rule is not None and spec.rule.gives_numbers:  # but for the labels of the ends
        return read_ordered(spec.rule.without_marks(tally.values), False, NUMBERS)
    try:
        return read_ordered(tally.values, spec.kind is None, spec.reading)
    except AmbiguousError as question:
        lines = " or ".join(f"`{line}`" for line in question.lines)
        raise InputError(
            f"Column '{tally.name}': {question.why}. Add {lines} to the policy, whichever is right; or "
            "`type: text` to the column, if it is neither."
        ) from None
    except StrayError as stray:
        read = stray.nearly
        what = "dates" if pa.types.is_temporal(read.values.type) else "numbers"
        covered = read.values.is_valid().to_numpy(zero_copy_only=False)
        described = describe_uncovered(f"are not {read.words or what}", covered, tally)
        raise InputError(
            f"{described} All others are. Correct them, list them under `missing`, or add `type: text` "
            "to the column if it is not meant to be ordered."
        ) from None


def as_published(name: str, column: pa.Array, spec: ColumnSpec) -> pa.Array:
    """The values of another table as the labels of a release write them: ISO dates, a decimal point,
    the policy's codes for missing values as such.

    Values that cannot be read so are left as they are. Ends that a rule gives are their numbers.
    """
    column = without_codes(name, column, spec)
    if spec.rule is not None:
        return spec.rule.without_marks(spec.rule(column))
    by_text = spec.hierarchy is not None and spec.hierarchy.reads == "text"
    if not is_text(column.type) or spec.kind == "unordered" or spec.order is not None or by_text:
        return column
    tally = tally_of(name, column)
    found = _read_for_hierarchy(tally, spec) if spec.hierarchy else _read_leniently(tally, spec)
    if found is None or found.is_standard or tally.index is None:
        return column
    places = pa.array(tally.index, mask=tally.index < 0)
    return standard_texts(tally.values, found).take(places)


def without_codes(name: str, column: pa.Array, spec: ColumnSpec) -> pa.Array:
    """The column with nulls for the policy's codes for missing values."""
    if not spec.missing:
        return column
    tally = tally_of(name, column)
    gone = ~_not_declared(tally, spec)
    if not gone.any() or tally.index is None:
        return column
    rows = np.append(gone, False)[tally.index]  # index -1 reads the last entry
    return pc.if_else(pa.array(rows), None, countable(name, column))


def _read_leniently(tally: Tally, spec: ColumnSpec) -> Ordered | None:
    try:
        return read_ordered(tally.values, spec.kind is None, spec.reading)
    except StrayError as stray:
        return stray.nearly
    except AmbiguousError:
        return read_column(tally, spec)


def _check_declared(tally: Tally, spec: ColumnSpec) -> None:
    """Refuse a sensitive column whose cells a reader of the release would have to guess about."""
    found = read_column(tally, spec)
    if found is None or found.reading.dates in DATE_FORMATS:
        return
    given = spec.reading.needed
    if all(given.get(key) == value for key, value in found.reading.needed.items()):
        return
    raise InputError(
        f"Column '{tally.name}' is sensitive and to be ordered, and looks like {found.words}. Its cells "
        "are published as they are, so the policy must say how to read them: add "
        f"`{read_line(found.reading)}` to it."
    )


def _check_order_readable(tally: Tally, spec: ColumnSpec) -> None:
    """Refuse an order that could not be recognised in the text of a release."""
    texts = text_of(tally.values).cast(pa.string())
    found = read_column(replace(tally, values=texts), replace(spec, kind="ordered"))
    if not _is_boolean(tally.values) and (found is None or found.values.null_count):
        raise InputError(
            f"Column '{tally.name}' is sensitive and to be ordered, but the order of values of the "
            f"type {tally.values.type} cannot be recognised in a release. Give it an `order`, or turn "
            "it into numbers, dates, or times without a zone."
        )


def _is_boolean(values: pa.Array) -> bool:
    return bool(pa.types.is_boolean(values.type)) or set(text_of(values).to_pylist()) <= {*BOOLEANS}


def _ascending(tally: Tally, parsed: pa.Array) -> Encoded:
    unique = pc.unique(parsed)
    unique = unique.take(pc.sort_indices(unique))
    codes = pc.index_in(parsed, unique).to_numpy(zero_copy_only=False)
    place = _as_floats(unique)
    if not np.isfinite(place).all():
        raise InputError(
            f"Column '{tally.name}' has infinite values, at which no interval can end. "
            "Replace them by a missing value or by the largest finite one."
        )
    if max(-place[0], place[-1]) > np.finfo(np.float64).max / 4:
        place = place / 4  # otherwise the width might overflow
    width = place[-1] - place[0]
    positions = np.rint((place - place[0]) / (width or 1.0) * UNIT).astype(np.int64)
    return _range_domain(tally, text_of(unique), positions, units_of(unique)), codes


def _by_list(tally: Tally, order: Sequence[str]) -> Encoded:
    """Labels of an ordered list are measured by their rank in it."""
    labels = pa.array(list(order), pa.string())
    place = pc.index_in(text_of(tally.values), labels)
    codes = pc.fill_null(place, -1).to_numpy(zero_copy_only=False)
    require_covered("are not in its 'order' list", codes >= 0, tally)
    positions = np.arange(len(order), dtype=np.int64) * UNIT // max(1, len(order) - 1)
    return _range_domain(tally, labels, positions, np.arange(len(order), dtype=np.float64)), codes


def interval_ends(texts: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The lower and upper ends, as in `(0` and `3]`, of texts that are ascending intervals."""
    matches = [INTERVAL.fullmatch(text) for text in texts]
    ends = [(match[1], match[2]) for match in matches if match]
    if not ends or len(ends) < len(texts):
        return None
    for (_, upper), (lower, _) in pairwise(ends):
        if upper[:-1] != lower[1:] and not _is_before(upper[:-1], lower[1:]):
            return None
    lows, highs = zip(*ends, strict=True)
    return lows, highs


def _is_before(upper: str, lower: str) -> bool:
    try:
        return float(upper) <= float(lower)
    except ValueError:
        return False


def _range_domain(tally: Tally, texts: pa.Array, positions: Ints, units: Floats) -> Domain:
    missing = -1
    if tally.missing:
        missing = len(texts)
        positions = np.append(positions, 2 * UNIT)
        units = np.append(units, units[-1])
    texts = with_missing_text(texts, missing)
    return Domain(tally.name, Kind.RANGE, texts, missing, positions, units=units)


def _as_floats(values: pa.Array) -> Floats:
    kind = values.type
    if pa.types.is_temporal(kind):
        values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if pa.types.is_integer(values.type):
        # exact differences first: large numbers may be closer together than a float's precision
        whole = values.to_numpy(zero_copy_only=False)
        if whole.itemsize < 8:
            whole = whole.astype(np.int64)
        return (whole - whole[0]).view(np.uint64).astype(np.float64)
    return values.cast(pa.float64()).to_numpy(zero_copy_only=False)


def _read_for_hierarchy(tally: Tally, spec: ColumnSpec) -> Ordered | None:
    """The values as the numbers or dates that a hierarchy is built from; None if it takes texts."""
    assert spec.hierarchy is not None
    if spec.hierarchy.reads == "text" or not is_text(tally.values.type):
        return None
    reading = replace(spec.reading, type=spec.hierarchy.reads)
    return read_column(tally, replace(spec, reading=reading))


def _by_hierarchy(tally: Tally, spec: ColumnSpec, folder: Path) -> Encoded:
    hierarchy, values, read_as, reading = spec.hierarchy, tally.values, "", None
    assert hierarchy is not None
    found = _read_for_hierarchy(tally, spec)
    if found is not None and not found.is_standard:
        values, read_as = standard_texts(values, found), found.words
        reading = found.reading
    tree, codes = hierarchy.build(values, tally.name, folder)
    require_covered(hierarchy.uncovered, codes >= 0, tally)
    missing = -1
    if tally.missing:
        missing = tree.n_leaves
        tree = with_missing(tree)
    texts = with_missing_text(pa.array(tree.labels[0], pa.string()), missing)
    domain = Domain(tally.name, Kind.TREE, texts, missing, hierarchy=tree)
    return replace(domain, read_as=read_as, reading=reading), codes


def _by_text(tally: Tally) -> Encoded:
    return _set_domain(tally, pc.sort_indices(text_of(tally.values)).to_numpy())


def _by_frequency(tally: Tally) -> Encoded:
    by_text = pc.sort_indices(text_of(tally.values)).to_numpy()
    return _set_domain(tally, by_text[np.argsort(tally.counts[by_text], kind="stable")])


def _set_domain(tally: Tally, order: npt.NDArray[np.integer]) -> Encoded:
    """Values without an order of their own; `order` lists their places."""
    codes = np.empty(len(order), np.int32)
    codes[order] = np.arange(len(order), dtype=np.int32)
    missing = len(order) if tally.missing else -1
    texts = with_missing_text(text_of(tally.values).take(pa.array(order)), missing)
    return Domain(tally.name, Kind.SET, texts, missing), codes


def _counting(n: int) -> pa.Array:
    return pa.array(np.arange(n, dtype=np.uint64))
