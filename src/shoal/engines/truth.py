"""Truth: whether what is published was in the table, cell by cell.

An engine claims of every published row which row of the table it is. Whatever the method and the
publisher did, the release is true if the claim can be checked: no row is claimed twice, the label of
every generalised cell covers the row's own value, and every other cell is equal to the row's own. Labels
are read by their text, as anybody reads them.

A column is checked by its distinct pairs of a label and a value. Common labels (numbers, ranges of
numbers, sets) are compared in bulk; others are read one by one by `label_parser`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Codes, Floats, Ints
from shoal.encoding.cells import in_order, words_of
from shoal.encoding.columns import ColumnSpec
from shoal.encoding.domain import Domain
from shoal.encoding.missing import is_declared
from shoal.encoding.people import number_people
from shoal.encoding.reading import AS_FOUND, ValueReading
from shoal.encoding.spelling import is_blank
from shoal.encoding.values import is_numbered
from shoal.engines.statistics_truth import StatisticsCheck
from shoal.errors import VerificationFailed
from shoal.hierarchy.text import is_bytes, known_text, text_of, text_of_bytes
from shoal.io.arrow import one_chunk
from shoal.policy import Policy
from shoal.policy.released_columns import suppressible_components
from shoal.publish.label_parser import parse_labels, value_axis
from shoal.threads import each
from shoal.verification.digest import canonical

STAR = "*"
MISSING = "<missing>"
"""How a set names the missing value."""
MOST_FLAGS, FLAGS_EACH = 1 << 27, 32
"""Pairs of a label and a value that are flagged in an array, in all and for each that is looked for;
more are looked up by their hashes."""
MANY, MOST_BITS, BITS_EACH = 100_000, 1 << 30, 256
"""So many pairs are flagged by bits, which takes compiled code; and how many bits there may be, in all
and for each pair. Where there may be more, hardly any pair comes twice."""
LOOKED_THROUGH = 8
"""Members of sets, for each pair and each member, that may be looked through again for other pairs."""
NUMBER = r"^-?\d{1,15}$|^-?\d{1,9}\.\d{1,6}$"
"""Numbers that a float holds exactly enough to be compared."""
RANGE = r"^\[(?P<low>[^~\\\[\]{}]+)~(?P<high>[^~\\\[\]{}]+)\]$"
SET = r"^\{[^\\{}]*\}$"

Column = Callable[[str], pa.Array]


@dataclass(frozen=True)
class Claim:
    """What an engine claims about the rows of a release."""

    rows: Ints
    """(published,) the input row of each published row, in the release's order."""
    n_rows: int
    """Rows of the input."""
    suppressed: Ints
    """Input rows that the method suppressed in every column."""
    grouped: tuple[tuple[str, ...], ...] = ()
    """Sets of quasi-identifiers that were grouped together: rows that read alike in all columns of one
    are a class there, whose statistics the labels may be."""


def require_truth(
    policy: Policy, claim: Claim, published: Column, raw: Column, domains: Sequence[Domain] = ()
) -> None:
    """Raise `VerificationFailed` unless every published cell is true of the row that it is claimed
    to be of.

    Parameters
    ----------
    policy
        Says which columns are generalised; those with preferences have a check of their own.
    claim
        Which rows are published.
    published, raw
        A column of the release, and of the input.
    domains
        Of the quasi-identifiers: how their texts were read; as the policy says, where left out.
    """
    domain_of = {domain.name: domain for domain in domains}
    _require_rows(claim, policy)
    stars = _Stars(policy, published, len(claim.rows))
    if policy.suppressed == "starred":
        stars.require_everywhere(claim)
    rows = pa.array(claim.rows)
    quasi = [name for name in policy.quasi if policy.publish != "anatomy"]
    others = [
        name
        for name in (*policy.plain, *policy.sensitive, *policy.quasi)
        if name not in quasi and name not in policy.preferences
        if name not in policy.sensitive or policy.publish != "anatomy"
    ]

    statistics = StatisticsCheck(policy, claim.grouped, published, _people(policy, claim, raw))

    def hidden(name: str) -> Bools:
        """(published,) rows that read `*` in all columns that were grouped with this one."""
        grouped = next((one for one in claim.grouped if name in one), (name,))
        return np.all([stars.star(column) for column in grouped], axis=0)

    def check(name: str) -> Bools | None:
        labels, values = one_chunk(published(name)), raw(name)
        if name in quasi:
            spec = policy.column_spec(name).with_order_of(values)
            if name in domain_of:
                spec = spec.as_read(domain_of[name])
            coded = coded_texts(values)
            own = pa.DictionaryArray.from_arrays(coded.indices.take(rows), coded.dictionary)
            if statistics.concerns(name):
                return statistics.untrue(
                    name, own.indices, _known_texts(coded.dictionary, spec), spec
                )
            wrong = uncovered(name, labels, own, spec, policy.folder)
            if wrong is None and spec.labels == "uniform":
                known = pa.array(_known_texts(coded.dictionary, spec), pa.string()).drop_null()
                wrong = overlapping(name, labels, known, spec, policy.folder, hidden(name))
            return wrong
        return different(labels, one_chunk(values), claim.rows)

    wrongs = each(check, (*quasi, *others), claim.n_rows)
    for name, wrong in zip((*quasi, *others), wrongs, strict=True):
        if wrong is not None and name in others:
            wrong = stars.without_starred(name, wrong)
        if wrong is None or not wrong.any():
            continue
        what = (
            "the label does not cover the row's own value"
            if name in quasi
            else "the value is not that of the row"
        )
        if name in quasi and policy.columns[name].labels == "uniform":
            what = "the label does not cover the row's own value, or another one covers it too,"
        if name in quasi and statistics.concerns(name):
            what = f"the value is not the {policy.columns[name].labels} of its class"
        raise VerificationFailed(
            f"The release would not be true: in column '{name}' {what} in {int(wrong.sum()):,} of "
            f"{len(wrong):,} rows, the first of them row {int(np.argmax(wrong)) + 1:,} of the release."
        )


def require_anatomy(
    policy: Policy, claim: Claim, groups: Ints, tables: "Tables", raw: Column
) -> None:
    """Raise `VerificationFailed` unless the tables of sensitive values count those of each group.

    groups: (published,) the group of each published row. tables: per sensitive column its groups,
    values and counts.
    """
    for name in policy.sensitive:
        group, values, count = tables(name)
        mine = known_text(_comparable(one_chunk(raw(name))).take(pa.array(claim.rows))).cast(
            pa.string()
        )
        texts = pa.concat_arrays([mine, known_text(one_chunk(values)).cast(pa.string())])
        codes = canonical(texts).indices
        numbers = pc.fill_null(codes.cast(pa.int64()), -1).to_numpy(zero_copy_only=False) + 1
        width = int(numbers.max(initial=0)) + 1
        keys, times = np.unique(groups * width + numbers[: len(mine)], return_counts=True)
        stated, place = np.unique(group * width + numbers[len(mine) :], return_inverse=True)
        # an empty text and no value have lines of their own, and both mean that it is missing
        counted = np.bincount(place, weights=count, minlength=len(stated))
        if not (np.array_equal(stated, keys) and np.array_equal(counted, times)):
            raise VerificationFailed(
                f"The release would not be true: the table of {name} does not count the values of the "
                "groups."
            )


def _known_texts(values: pa.Array, spec: ColumnSpec) -> list[str | None]:
    """Different values as they are meant, None for those that the policy declares missing."""
    if spec.rule is not None:
        values = spec.rule.without_marks(values)
    values = _as_read(values, spec.reading)
    gone = np.zeros(len(values), np.bool_)
    if spec.missing:
        gone = is_declared(values, spec.missing, spec.exact_codes)
    return [None if gone[i] else text for i, text in enumerate(values.to_pylist())]


def _people(policy: Policy, claim: Claim, raw: Column) -> Ints | None:
    """(published,) the person of each row, where people are counted."""
    if policy.person is None:
        return None
    found = number_people(policy.person, raw(policy.person), policy.no_ids)
    return found.number[claim.rows].astype(np.int64)


Tables = Callable[[str], tuple[Ints, pa.Array, Ints]]


def _require_rows(claim: Claim, policy: Policy) -> None:
    rows = claim.rows
    if len(rows) and not (rows.min() >= 0 and rows.max() < claim.n_rows):
        raise VerificationFailed(
            "The release would not be true: it has rows that are not in the table."
        )
    seen = np.bincount(rows, minlength=claim.n_rows)
    if (twice := int((seen > 1).sum())) > 0:
        raise VerificationFailed(
            f"The release would not be true: {twice:,} rows of the table are published more than once."
        )
    starred = policy.suppressed == "starred"
    if not starred and (back := int(seen[claim.suppressed].sum())):
        raise VerificationFailed(
            f"The release would not be true: {back:,} suppressed rows are published."
        )
    lost = claim.n_rows - int(seen.sum()) - (0 if starred else len(claim.suppressed))
    if lost:
        raise VerificationFailed(
            f"The release would not be true: {lost:,} rows of the table were lost."
        )


class _Stars:
    """Which cells of a release may read `*` in place of their value."""

    def __init__(self, policy: Policy, published: Column, n: int) -> None:
        self._components = suppressible_components(policy)
        self._policy, self._published, self._n = policy, published, n

    def star(self, name: str) -> Bools:
        """(published,) whether each row reads `*` in a column."""
        return _flags(pc.equal(text_of(one_chunk(self._published(name))).cast(pa.string()), STAR))

    def require_everywhere(self, claim: Claim) -> None:
        """Raise unless rows that the method suppressed read `*` in every column."""
        hidden = np.isin(claim.rows, claim.suppressed)
        if not hidden.any():
            return
        for name in self._policy.published(self._policy.columns):
            if not self.star(name)[hidden].all():
                raise VerificationFailed(
                    f"The release would not be true: suppressed rows are published in column '{name}'."
                )

    def without_starred(self, name: str, wrong: Bools) -> Bools:
        """Cells that read `*` are no fault in rows that are suppressed in a set of columns."""
        if not wrong.any() or not self._components:
            return wrong
        allowed = np.zeros(self._n, np.bool_)
        for component in self._components:
            allowed |= np.all([self.star(column) for column in component], axis=0)
        return wrong & ~(allowed & self.star(name))


def coded_texts(values: pa.Array) -> pa.DictionaryArray:
    """The values as codes of different texts."""
    if is_numbered(values):
        return values
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    try:
        encoded = values.dictionary_encode()
    except pa.ArrowNotImplementedError:
        encoded = text_of(values).dictionary_encode()
    texts = known_text(encoded.dictionary).cast(pa.string())
    if len(pc.unique(texts)) < len(texts) or texts.null_count:
        once = texts.dictionary_encode()
        return pa.DictionaryArray.from_arrays(once.indices.take(encoded.indices), once.dictionary)
    return pa.DictionaryArray.from_arrays(encoded.indices, texts)


def uncovered(
    name: str,
    labels: pa.Array,
    values: pa.DictionaryArray,
    spec: ColumnSpec,
    folder: Path = Path(),
) -> Bools | None:
    """(n,) whether each label does not cover its value; None where all do.

    values: texts as codes, in the order of the labels.
    """
    if len(labels) != len(values):
        raise VerificationFailed(
            f"The release would not be true: column '{name}' has {len(labels):,} cells for "
            f"{len(values):,} rows."
        )
    coded = labels if pa.types.is_dictionary(labels.type) else labels.dictionary_encode()
    texts = text_of(coded.dictionary).cast(pa.string())
    n_labels, n_values = len(texts) + 1, len(values.dictionary) + 1
    label = _codes(coded.indices, n_labels - 1)
    value = _codes(values.indices, n_values - 1)
    at_label, at_value = _distinct_pairs(label, value, n_labels, n_values)
    good = covered_pairs(name, texts, values.dictionary, at_label, at_value, spec, folder)
    if good.all():
        return None
    bad = (at_label * n_values + at_value)[~good]
    wrong: Bools = np.isin(label.astype(np.int64) * n_values + value, bad)
    return wrong


def overlapping(
    name: str,
    labels: pa.Array,
    values: pa.Array,
    spec: ColumnSpec,
    folder: Path,
    hidden: Bools,
) -> Bools | None:
    """(n,) whether some value of the table is under the label of each row and under another one that is
    published too; None where every value is under one label alone.

    values: the different known values. hidden: rows that are suppressed, whose `*` does not count.
    """
    coded = labels if pa.types.is_dictionary(labels.type) else labels.dictionary_encode()
    texts: list[str | None] = [*text_of(coded.dictionary).cast(pa.string()).to_pylist(), None]
    label = _codes(coded.indices, len(texts) - 1)
    used = np.unique(label[~hidden])
    published = [texts[i] for i in used.tolist()]
    whole = [i for i, text in zip(used.tolist(), published, strict=True) if text == STAR]
    if whole and len(used) > 1:
        return np.isin(label, whole) & ~hidden
    values = values if spec.rule is None else spec.rule.without_marks(values)
    marked = published
    if spec.rule is not None:
        marked = spec.rule.without_marks(pa.array(published, pa.string())).to_pylist()
    known = pc.unique(values).to_pylist()
    read = parse_labels(name, marked, known, replace(spec, reading=AS_FOUND), folder)
    # how many labels are over each place, and which of them name a value that is not under their range
    n = int(read.axis.max(initial=-1)) + 2
    steps = np.zeros(n + 1, np.int64)
    ranged = read.high >= read.low
    np.add.at(steps, read.low[ranged], 1)
    np.add.at(steps, np.minimum(read.high[ranged] + 1, n), -1)
    over = np.append(np.cumsum(steps)[:n], 0)[read.axis]
    value, by = read.listed.T if len(read.listed) else np.zeros((2, 0), np.int64)
    apart = ~((read.axis[value] >= read.low[by]) & (read.axis[value] <= read.high[by]))
    over[: len(known) + 1] += np.bincount(value[apart], minlength=len(known) + 1)
    twice = np.flatnonzero(over > 1)
    if not len(twice):
        return None
    bad = read.covers(int(twice[0]), int(twice[0]) + 1)[0]
    return np.isin(label, used[bad]) & ~hidden


def covered_pairs(
    name: str,
    labels: pa.Array,
    values: pa.Array,
    at_label: Ints,
    at_value: Ints,
    spec: ColumnSpec,
    folder: Path = Path(),
) -> Bools:
    """(pairs,) whether a label covers a value; the place after the last one is the missing value.

    labels, values: different texts.
    """
    if spec.rule is not None:
        labels, values = spec.rule.without_marks(labels), spec.rule.without_marks(values)
    values = _as_read(values, spec.reading)
    unknown = np.append(_unknown(values, spec), True)
    good = np.append(_flags(pc.equal(labels, STAR)), False)[at_label]
    gone = at_label == len(labels)
    good |= gone & unknown[at_value]
    if spec.hierarchy is None and spec.order is None:
        good |= _equal(labels, values, at_label, at_value)
        left = np.flatnonzero(~good)
        good[left] = _in_sets(labels, values, at_label[left], at_value[left], unknown)
        left = left[~good[left]]
        if spec.kind != "unordered" and len(left):
            good[left] = _in_ranges(labels, values, at_label[left], at_value[left])
    rest = np.flatnonzero(~good & ~gone)
    if len(rest):
        good[rest] = _by_parser(name, labels, values, at_label[rest], at_value[rest], spec, folder)
    return good


def _unknown(values: pa.Array, spec: ColumnSpec) -> Bools:
    """(values,) whether each stands for a missing value."""
    found: Bools = _flags(is_blank(values))
    return found | is_declared(values, spec.missing, spec.exact_codes) if spec.missing else found


def _equal(labels: pa.Array, values: pa.Array, at_label: Ints, at_value: Ints) -> Bools:
    """The label is the value itself, without anything that has a meaning in a label."""
    plain = pc.invert(pc.match_substring_regex(labels, r"[\\*]|^[\[{]"))
    place = pc.fill_null(pc.index_in(labels, values), -1).to_numpy(zero_copy_only=False)
    place = np.append(np.where(_flags(plain), place, -1), -1)
    return place[at_label] == at_value


def _in_sets(
    labels: pa.Array, values: pa.Array, at_label: Ints, at_value: Ints, unknown: Bools
) -> Bools:
    """The value is a member of a set in which no character is escaped."""
    is_set = _flags(pc.match_substring_regex(labels, SET))
    if not is_set.any():
        return np.zeros(len(at_label), np.bool_)
    inner = pc.utf8_slice_codeunits(labels.filter(pa.array(is_set)), 1, -1)
    lists = pc.split_pattern(inner, ", ")
    members = lists.flatten().dictionary_encode()
    place = pc.fill_null(pc.index_in(members.dictionary, values), len(values) + 1)
    place = place.to_numpy(zero_copy_only=False).astype(np.int64)
    place[_flags(pc.equal(members.dictionary, MISSING))] = len(values)
    member = place[members.indices.to_numpy(zero_copy_only=False)]
    # the place after that of the missing value is that of members that are none of the values; a label
    # that is no set has no members, and a missing one is after all others
    sizes = np.zeros(len(labels) + 1, np.int64)
    sizes[:-1][is_set] = pc.list_value_length(lists).to_numpy()
    starts = np.append(0, np.cumsum(sizes))
    good = _in_lists(at_label, at_value, starts, member, len(values) + 2)
    # every code for a missing value is a missing value
    codes = np.flatnonzero(unknown[at_value] & ~good)
    if len(codes):
        gone = np.full(len(codes), len(values))
        good[codes] = _in_lists(at_label[codes], gone, starts, member, len(values) + 2)
    return good


def _in_lists(which: Ints, wanted: Ints, starts: Ints, listed: Ints, size: int) -> Bools:
    """(n,) whether wanted[i] is in the list of number which[i]; see `are_in_lists`."""
    if len(which) < max(1, MANY):
        keys = np.repeat(np.arange(len(starts) - 1), np.diff(starts)) * size + listed
        return _contained(which * size + wanted, keys, (len(starts) - 1) * size)
    from shoal.kernels.uniqueness import are_in_lists

    asked = np.append(True, which[1:] != which[:-1])
    looked_through = int(np.diff(starts)[which[asked]].sum())
    if looked_through <= LOOKED_THROUGH * (len(which) + len(listed)):
        return are_in_lists(which, wanted, starts, listed, size)
    order, found = np.argsort(which, kind="stable"), np.empty(len(which), np.bool_)
    found[order] = are_in_lists(which[order], wanted[order], starts, listed, size)
    return found


def _in_ranges(labels: pa.Array, values: pa.Array, at_label: Ints, at_value: Ints) -> Bools:
    """Numbers between two numbers."""
    ends = pc.extract_regex(labels, RANGE)
    low, high = (_numbers(pc.struct_field(ends, name)) for name in ("low", "high"))
    single = _numbers(labels)
    low, high = np.where(np.isnan(low), single, low), np.where(np.isnan(high), single, high)
    number = np.append(_numbers(values), np.nan)
    with np.errstate(invalid="ignore"):
        inside: Bools = (number[at_value] >= np.append(low, np.nan)[at_label]) & (
            number[at_value] <= np.append(high, np.nan)[at_label]
        )
    return inside


def _numbers(texts: pa.Array) -> Floats:
    """The numbers among some texts, not a number where they are none."""
    good = pc.fill_null(pc.match_substring_regex(texts, NUMBER), False)
    numbers = pc.if_else(good, texts, None).cast(pa.float64())
    return pc.fill_null(numbers, np.nan).to_numpy(zero_copy_only=False)


def _by_parser(
    name: str,
    labels: pa.Array,
    values: pa.Array,
    at_label: Ints,
    at_value: Ints,
    spec: ColumnSpec,
    folder: Path,
) -> Bools:
    """The labels one by one."""
    some, place = np.unique(at_label, return_inverse=True)
    texts: list[str | None] = labels.take(pa.array(some)).to_pylist()
    known, is_unknown = values.to_pylist(), _unknown(values, spec)
    spec = replace(spec, reading=AS_FOUND)
    if is_unknown.any():  # a code for a missing value does not decide what the others are
        others = [text for text, none in zip(known, is_unknown.tolist(), strict=True) if not none]
        if (axis := value_axis(texts, others, spec)) is not None and axis.of == "places":
            spec = replace(spec, kind="ordered")
    reading = parse_labels(name, texts, known, spec, folder)
    found = reading.covers_pairs(at_value, place)
    unknown = np.append(is_unknown, True)[at_value]
    return found | (unknown & reading.covers_pairs(np.full(len(at_value), len(known)), place))


def _as_read(values: pa.Array, reading: ValueReading) -> pa.Array:
    """The texts as they are meant, where the policy says how dates or numbers are written."""
    usual = reading.decimal in (None, ".") and not reading.thousands and not reading.percent
    if reading.dates is None and usual:
        return values
    return pa.array([_one_as_read(text, reading) for text in values.to_pylist()], pa.string())


def _one_as_read(text: str, reading: ValueReading) -> str:
    if reading.dates is not None:
        try:
            found = datetime.strptime(text.strip().title(), reading.dates)
        except ValueError:
            return text
        return text_of(pa.array([found], pa.timestamp("us")))[0].as_py()
    plain = text.strip().removesuffix("%").rstrip() if reading.percent else text.strip()
    plain = plain.replace(reading.thousands, "") if reading.thousands else plain
    plain = plain.replace(reading.decimal, ".") if reading.decimal else plain
    try:
        float(plain)
    except ValueError:
        return text
    return plain


def different(published: pa.Array, values: pa.Array, rows: Ints) -> Bools | None:
    """(n,) whether each published cell differs from the value of its row; None where none does.

    values: a column of the input; rows: (n,) the row of each cell. Cells are compared by a word each,
    which is a number itself or the hash of a text, and those that differ then by their text.
    """
    if len(published) != len(rows):
        raise VerificationFailed(
            f"The release would not be true: it has {len(published):,} cells for {len(rows):,} rows."
        )
    if _has_codes(published) and _has_codes(values):
        wrong: Bools = _different_codes(published, values, rows)
    else:
        published, values = _comparable(published), _comparable(values)
        wrong = np.ones(len(rows), np.bool_)
        if published.type == values.type:
            wrong = words_of(published) != in_order(words_of(values), rows)
    if not wrong.any():
        return None
    # numbers and times may be spelled otherwise in a file
    at = np.flatnonzero(wrong)
    mine = _canonical_texts(published.take(pa.array(at)))
    theirs = _canonical_texts(values.take(pa.array(rows[at])))
    same = pc.fill_null(pc.equal(mine, theirs), False)
    wrong[at] = ~_flags(pc.or_(same, pc.and_(mine.is_null(), theirs.is_null())))
    return wrong if wrong.any() else None


def _has_codes(column: pa.Array) -> bool:
    """Whether a column has texts with codes, none of them missing."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or not pa.types.is_string(kind.value_type):
        return False
    return column.dictionary.null_count == 0 and pa.types.is_signed_integer(kind.index_type)


def _different_codes(
    published: pa.DictionaryArray, values: pa.DictionaryArray, rows: Ints
) -> Bools:
    """(n,) whether the text of each cell is not that of its row, found by comparing different texts.

    Cells with one text may differ here where it is twice in a dictionary.
    """
    place = pc.fill_null(pc.index_in(published.dictionary, values.dictionary), -2)
    of_code = np.append(place.to_numpy(zero_copy_only=False).astype(np.int32), np.int32(-1))
    mine = of_code[_codes(published.indices, len(published.dictionary))]
    theirs = pc.fill_null(values.indices, -1).to_numpy(zero_copy_only=False)
    wrong: Bools = mine != in_order(theirs, rows)
    return wrong


def _canonical_texts(column: pa.Array) -> pa.Array:
    if is_bytes(column.type):  # beside a star they are published as text
        column = text_of_bytes(column)
    return canonical(without_nan(column)).dictionary_decode().cast(pa.large_string())


def without_nan(column: pa.Array) -> pa.Array:
    """The column, in which not a number is missing: in a CSV file it is."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not pa.types.is_floating(column.type) or pa.types.is_float16(column.type):
        return column
    return pc.if_else(pc.is_nan(column), None, column)


def _comparable(column: pa.Array) -> pa.Array:
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        return column.cast(pa.large_string() if column.nbytes >= 1 << 31 else pa.string())
    return column.cast(pa.large_binary()) if pa.types.is_binary_view(column.type) else column


def _codes(indices: pa.Array, missing: int) -> Codes:
    codes = indices.cast(pa.int32())
    codes = pc.fill_null(codes, missing) if codes.null_count else codes
    return codes.to_numpy(zero_copy_only=False)


def _distinct_pairs(label: Codes, value: Codes, n_labels: int, n_values: int) -> tuple[Ints, Ints]:
    """The different pairs of a label and a value, in any order; some may come more than once."""
    size = n_labels * n_values
    if len(label) >= MANY:
        if size > min(MOST_BITS, BITS_EACH * len(label)):
            return label.astype(np.int64), value.astype(np.int64)
        from shoal.kernels.uniqueness import distinct_pairs

        found = distinct_pairs(label, value, n_values, size)
        return _apart(found, n_values)
    keys = label.astype(np.int64) * n_values + value
    if size > _most_flags(keys):
        pairs = pc.unique(pa.array(keys)).to_numpy()
    else:
        flags = np.zeros(size, np.bool_)
        flags[keys] = True
        pairs = np.flatnonzero(flags)
    return _apart(pairs, n_values)


def _apart(pairs: Ints, n_values: int) -> tuple[Ints, Ints]:
    """The label and the value of each pair."""
    label = pairs // n_values
    return label, pairs - label * n_values


def _contained(wanted: Ints, known: Ints, size: int) -> Bools:
    """(n,) whether each number is among the known ones; all are below `size`."""
    if size > _most_flags(wanted):
        return _flags(pc.is_in(pa.array(wanted), pa.array(known)))
    flags = np.zeros(size, np.bool_)
    flags[known] = True
    found: Bools = flags[wanted]
    return found


def _most_flags(numbers: Ints) -> int:
    return min(MOST_FLAGS, FLAGS_EACH * len(numbers))


def _flags(booleans: pa.Array | pa.ChunkedArray) -> Bools:
    found = pc.fill_null(booleans, False) if booleans.null_count else booleans
    return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)
