"""Microaggregation: the rows of a group share one value, a statistic of the group.

`midpoint`, `mean` and `median` are of numbers and dates, rounded to the grain of the column (see
`scale`); the median of an ordered list, and the `mode` of any column, is one of its values. Where people
are counted, everybody counts once in each group, by equal shares of her rows there. A statistic is
one of the published class: groups that read alike in every column are one class, and its statistics are
computed anew.

In a group of missing and known values a midpoint, mean or median is `*`, as a range is; the mode counts
the missing value as any other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import lcm

import numpy as np
import pyarrow as pa

from shoal.arrays import Bools, Codes, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.columns import ColumnSpec
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import SUPPRESSED, Grouping, Spans, rows_by_group
from shoal.encoding.rules import ColumnRule
from shoal.errors import InputError, listed
from shoal.publish.cut import Cuts, cut_labels
from shoal.publish.label_parser import DAY, MOMENT
from shoal.publish.labels import ANY, Labels, labels_of
from shoal.publish.scale import SAFE, Scale, Whole, scale_of

STATISTICS = ("midpoint", "mean", "median", "mode")
"""The forms of labels that are a statistic of their group."""
ADVICE = {
    "midpoint": "numbers and dates",
    "mean": "numbers and dates",
    "median": "numbers, dates and columns with an `order`",
}


def column_scale(domain: Domain, spec: ColumnSpec) -> Scale | None:
    """The scale of a column, None where its values are no numbers or dates."""
    ordered = domain.kind == Kind.RANGE and domain.interval_ends is None and spec.order is None
    by_tree = domain.kind == Kind.TREE and spec.hierarchy is not None
    if not (ordered or (by_tree and spec.hierarchy is not None and spec.hierarchy.reads != "text")):
        return None
    rule = spec.rule
    base: Decimal | None = rule.base if isinstance(rule, ColumnRule) else None
    return scale_of(domain.texts.drop_null().to_pylist(), base)


def check_forms(domains: Sequence[Domain], specs: Mapping[str, ColumnSpec]) -> None:
    """Raise `InputError` where a column has no statistic of the form that the policy asks for."""
    for domain in domains:
        spec = specs[domain.name]
        form = spec.labels
        if form == "uniform":
            _check_uniform(domain, spec)
        if form not in ADVICE or column_scale(domain, spec) is not None:
            continue
        if form == "median" and domain.kind == Kind.RANGE and spec.hierarchy is None:
            continue  # the middle one of an ordered list
        what = {Kind.SET: "texts without an order", Kind.TREE: "nodes of a hierarchy of texts"}.get(
            domain.kind, "values of another kind"
        )
        allowed = ["range", "mode", "uniform"]
        raise InputError(
            f"Column '{domain.name}': `labels: {form}` is for {ADVICE[form]}, but its values are "
            f"{what}. Allowed here: {listed(allowed)}; if its texts are numbers or dates, give it "
            "`type: number` or `type: date`."
        )


def _check_uniform(domain: Domain, spec: ColumnSpec) -> None:
    """Raise for times of day: intervals of days would not cover them."""
    scale = column_scale(domain, spec)
    if (
        domain.kind == Kind.RANGE
        and scale is not None
        and scale.sort == MOMENT
        and scale.step < DAY
    ):
        raise InputError(
            f"Column '{domain.name}': `labels: uniform` makes intervals of whole days, but its values "
            "have a time of day. Give it a `hierarchy` such as `{dates: [day, month, year]}`."
        )


@dataclass(frozen=True)
class _Rows:
    """The rows of groups, one group after the other, none of them empty."""

    codes: Codes
    """(rows,) their codes in one column."""
    weights: Whole
    """(rows,) how much each counts."""
    starts: Ints
    """(groups,) where each group begins."""

    @property
    def group(self) -> Ints:
        """(rows,) the group of each."""
        sizes = np.diff(np.append(self.starts, len(self.codes)))
        return np.repeat(np.arange(len(self.starts)), sizes)


def labels_in_forms(
    cells: Cells,
    grouping: Grouping,
    spans: Spans,
    specs: Mapping[str, ColumnSpec],
    cuts: Cuts,
) -> list[Labels]:
    """The labels of a grouping, each column in the form that the policy says.

    specs: what the policy says about each column. cuts: of columns with uniform labels.
    """
    domains = [cells.domains[column] for column in grouping.columns]
    forms = [specs[domain.name].labels for domain in domains]

    def covering(j: int) -> Labels | None:
        if forms[j] in STATISTICS:
            return None
        cut = cuts.get(domains[j].name)
        return labels_of(domains[j], spans, j) if cut is None else cut_labels(cut, spans.low[:, j])

    labels = [covering(j) for j in range(len(domains))]
    scales = {j: column_scale(d, specs[d.name]) for j, d in enumerate(domains) if labels[j] is None}
    which, n_groups = np.arange(grouping.n_groups, dtype=np.int32), grouping.n_groups
    while True:
        merged = np.where(grouping.group == SUPPRESSED, SUPPRESSED, which[grouping.group])
        rows, starts = rows_by_group(merged.astype(np.int32), n_groups)
        used = np.flatnonzero(np.diff(starts))
        weights = _weights(cells, rows, starts)
        found: list[Labels] = []
        for j, form in enumerate(forms):
            label = labels[j]
            if label is None:
                column = grouping.columns[j]
                codes = np.repeat(cells.codes[:, column], cells.counts)[rows]
                of_rows = _Rows(codes, weights, starts[used])
                label = _spread(_statistic(domains[j], of_rows, form, scales[j]), used, n_groups)
                label = Labels(label.texts, label.of_group[which])
            found.append(label)
        if cells.people is None:  # then the statistics of a union of equal groups are the same
            return found
        read = np.stack([label.of_group for label in found])
        number = np.unique(read, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int32)
        count = int(number.max(initial=-1)) + 1
        if count == n_groups:
            return found
        which, n_groups = number, count


def _spread(label: Labels, used: Ints, n_groups: int) -> Labels:
    """Labels of all groups; those without rows have any."""
    of_group = np.zeros(n_groups, np.int32)
    of_group[used] = label.of_group
    return Labels(label.texts, of_group)


def _weights(cells: Cells, rows: Codes, starts: Ints) -> Whole:
    """(rows,) how much each row counts in its group: everybody alike, by equal shares of her rows."""
    if cells.people is None:
        return np.ones(len(rows), np.int64)
    person = cells.people.number[rows].astype(np.int64)
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    _, place, times = np.unique(
        group * np.int64(cells.people.count) + person, return_inverse=True, return_counts=True
    )
    mine = times[place.reshape(-1)]
    common = lcm(*np.unique(mine).tolist())
    small = common < SAFE // max(1, len(rows))
    weights: Whole = common // mine.astype(np.int64 if small else object)
    return weights


def _statistic(domain: Domain, rows: _Rows, form: str, scale: Scale | None) -> Labels:
    if form == "mode":
        return _of_codes(domain, _modes(domain, rows))
    if scale is None:
        return _of_codes(domain, _middles(rows), rows)
    places = scale.counts(domain.texts.to_pylist())[rows.codes]
    at = COMPUTED[form](rows, places)
    values = scale.rounded(*at)
    return _of_places(domain, rows, values, scale)


def _midpoints(rows: _Rows, places: Whole) -> tuple[Whole, Whole]:
    low = np.minimum.reduceat(places, rows.starts)
    high = np.maximum.reduceat(places, rows.starts)
    return low.astype(object) + high, np.full(len(low), 2, object)


def _means(rows: _Rows, places: Whole) -> tuple[Whole, Whole]:
    weights = rows.weights
    most = int(np.abs(places).max(initial=0)) * int(weights.max(initial=1)) * len(places)
    if most >= SAFE:
        places, weights = places.astype(object), weights.astype(object)
    sums = np.add.reduceat(places * weights, rows.starts)
    return sums, np.add.reduceat(weights, rows.starts)


def _medians(rows: _Rows, places: Whole) -> tuple[Whole, Whole]:
    """The middle of the two middle values, which are one where rows are odd."""
    rank = np.unique(places, return_inverse=True)[1].reshape(-1)
    first, second = (_weighted_middle(rows, rank, upper) for upper in (False, True))
    low, high = places[first].astype(object), places[second]
    return low + high, np.full(len(low), 2, object)


def _weighted_middle(rows: _Rows, rank: Ints, upper: bool) -> Ints:
    """(groups,) the row at the middle of the weights of each group, in the order of the ranks.

    upper: the first row beyond which less than half of the weights are, else at which there is half.
    """
    order = np.lexsort((rank, rows.group))
    weights = rows.weights[order]
    if weights.dtype != object and int(weights.max(initial=1)) * len(weights) >= SAFE:
        weights = weights.astype(object)
    summed = np.cumsum(weights)
    totals = np.add.reduceat(weights, rows.starts)
    before = np.concatenate([summed[:1] * 0, np.cumsum(totals)[:-1]])
    group = rows.group  # the order inside groups does not change which row is in which
    reached = 2 * (summed - before[group])
    enough = reached > totals[group] if upper else reached >= totals[group]
    flags = np.asarray(enough, np.bool_)
    places = np.where(flags, np.arange(len(order)), len(order))
    found: Ints = order[np.minimum.reduceat(places, rows.starts)]
    return found


def _middles(rows: _Rows) -> Codes:
    """(groups,) the lower of the two middle codes."""
    found: Codes = rows.codes[_weighted_middle(rows, rows.codes.astype(np.int64), False)]
    return found


def _modes(domain: Domain, rows: _Rows) -> Codes:
    """(groups,) the most frequent code; of equally frequent ones the first."""
    keys, place = np.unique(rows.group * domain.size + rows.codes, return_inverse=True)
    weights = np.zeros(len(keys), rows.weights.dtype)
    np.add.at(weights, place.reshape(-1), rows.weights)
    if weights.dtype == object:
        weights = np.unique(weights, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((keys, -weights, keys // domain.size))
    first = np.flatnonzero(np.diff((keys // domain.size)[order], prepend=-1))
    found: Codes = (keys[order[first]] % domain.size).astype(np.int32)
    return found


COMPUTED: dict[str, Callable[[_Rows, Whole], tuple[Whole, Whole]]] = {
    "midpoint": _midpoints,
    "mean": _means,
    "median": _medians,
}
"""Per form the statistics of groups, as numerators and denominators."""


def _mixed(domain: Domain, rows: _Rows) -> tuple[Bools, Bools]:
    """(groups,) whether some values of each are missing, and whether all are."""
    if domain.missing < 0:
        return np.zeros((2, len(rows.starts)), np.bool_)[0], np.zeros(len(rows.starts), np.bool_)
    gone = rows.codes == domain.missing
    some, every = (
        np.logical_or.reduceat(gone, rows.starts),
        np.logical_and.reduceat(gone, rows.starts),
    )
    return some & ~every, every


def _of_codes(domain: Domain, codes: Codes, rows: _Rows | None = None) -> Labels:
    """Labels for one value each; rows: of which some may be missing beside known ones."""
    n = len(codes)
    singles = {0: (np.arange(n + 1, dtype=np.int64), codes)}
    low = codes[:, None]
    spans = Spans(np.ones(n, np.int64), low, low, np.zeros((n, 1), np.int32), singles)
    label = labels_of(domain, spans, 0)
    return label if rows is None else _starred(label, _mixed(domain, rows)[0])


def _starred(label: Labels, mixed: Bools) -> Labels:
    if not mixed.any():
        return label
    texts = pa.concat_arrays([label.texts.cast(pa.string()), pa.array([ANY])])
    return Labels(texts, np.where(mixed, len(texts) - 1, label.of_group).astype(np.int32))


def _of_places(domain: Domain, rows: _Rows, places: Whole, scale: Scale) -> Labels:
    """Labels that are numbers or dates, in their order; a group of one value has its very text."""
    mixed, gone = _mixed(domain, rows)
    first = rows.codes[rows.starts]
    low, high = (f.reduceat(rows.codes, rows.starts) for f in (np.minimum, np.maximum))
    single = (low == high) & ~gone
    every = _of_codes(domain, np.arange(domain.size, dtype=np.int32))
    own = every.texts.take(pa.array(every.of_group)).to_pylist()
    keys = [
        (2, 0, None)
        if gone[i]
        else (1, 0, ANY)
        if mixed[i]
        else (0, int(place), own[first[i]] if single[i] else scale.write(int(place)))
        for i, place in enumerate(places.tolist())
    ]
    by_text = {key[2]: key for key in sorted(keys, key=lambda key: (key[:2], key[2] or ""))}
    known = list(by_text)
    number = {text: i for i, text in enumerate(known)}
    of_group = np.array([number[key[2]] for key in keys], np.int32)
    return Labels(pa.array(known, pa.string()), of_group)
