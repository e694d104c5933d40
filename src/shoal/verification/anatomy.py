"""Verifying an Anatomy release: do its tables fit together, what do its groups hold, is the order safe?

The tables are read as any reader would read them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.encoding.counts import Counts
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.values import ordered_values
from shoal.errors import VerificationFailed
from shoal.hierarchy.text import known_text, text_of
from shoal.io.arrow import one_chunk
from shoal.models.shares import known, owners

STAR = "*"
PEOPLE = "The group ids of the table of people"
WHOLE = "^[1-9][0-9]{0,17}$"


@dataclass(frozen=True)
class Values:
    """The three columns of a sensitive table."""

    group: pa.Array
    value: pa.Array
    count: pa.Array


def group_counts(people: pa.Array, tables: Mapping[str, Values]) -> dict[str, Counts]:
    """What each group holds, per sensitive column, and under "" the sizes alone.

    people: the group of each row of the first table. Raises where the tables do not fit together.
    """
    sizes = _sizes(people)
    starts, none = np.zeros(len(sizes) + 1, np.int64), np.zeros(0, np.int64)
    found = {"": Counts(sizes, starts, none.astype(np.int32), none)}
    for name, values in tables.items():
        found[name] = _histograms(name, values, sizes)
    return found


def require_order(group: Ints, columns: Sequence[pa.ChunkedArray]) -> None:
    """Raise unless rows are sorted by group, and inside a group by the text of their columns.

    A number may be spelled otherwise in a file than in a frame (1 and 1.0), and an empty text may
    read as missing: two neighbours are out of order only where no such reading puts them in order.
    """
    wrong = np.diff(group) < 0
    open_pairs = np.diff(group) == 0
    for column in columns:
        values = known_text(one_chunk(column)).cast(pa.string())
        raw = _ranks(values)
        differ = open_pairs & (raw[1:] != raw[:-1])
        known = (raw[1:] >= 0) & (raw[:-1] >= 0)
        later = (np.diff(raw) < 0) & (np.diff(_ranks(_as_numbers(values))) < 0)
        wrong |= differ & known & later
        open_pairs &= ~differ
    if wrong.any():
        raise VerificationFailed(
            "The people are not sorted by group and then by the text of their columns: any other "
            "order could reveal whose value is whose."
        )


def largest_share(counts: Counts) -> float:
    """The largest share that one value has of the rows of a group whose value is known."""
    return float((counts.counts / known(counts)[owners(counts)]).max(initial=0.0))


def _sizes(people: pa.Array) -> Ints:
    """Rows of each group; the groups are numbered from 1 without a gap."""
    ids = whole(people, PEOPLE)
    sizes = np.unique(ids, return_counts=True)
    if len(sizes[0]) and sizes[0][-1] != len(sizes[0]):
        raise VerificationFailed(
            f"The table of people has {len(sizes[0]):,} groups, but their ids run up to "
            f"{sizes[0][-1]:,}: a gap shows that groups were left out."
        )
    return sizes[1].astype(np.int64)


def _histograms(name: str, table: Values, sizes: Ints) -> Counts:
    group = whole(table.group, f"The group ids of the table of {name}") - 1
    count = whole(table.count, f"The counts of the table of {name}")
    coded = known_text(one_chunk(table.value)).dictionary_encode()
    by_text = pc.sort_indices(coded.dictionary).to_numpy()
    width = len(by_text) + 1
    rank = np.full(width, width - 1)
    rank[by_text] = np.arange(len(by_text))
    values = rank[pc.fill_null(coded.indices, width - 1).to_numpy(zero_copy_only=False)]
    _check_link(name, group, count, sizes)
    _check_order(name, group * width + values)
    texts = coded.dictionary.take(pa.array(by_text))
    # a star or a missing value counts as a row, never as a value
    counts_as = pc.not_equal(texts, STAR).to_numpy(zero_copy_only=False)
    real = np.append(counts_as, False)[values]
    codes = (np.cumsum(counts_as) - 1)[values[real]].astype(np.int32)
    starts = np.searchsorted(group[real], np.arange(len(sizes) + 1)).astype(np.int64)
    domain = Domain(name, Kind.SET, texts.filter(pa.array(counts_as)), missing=-1)
    return Counts(sizes, starts, codes, count[real], domain)


def _check_link(name: str, group: Ints, count: Ints, sizes: Ints) -> None:
    """Raise unless both tables have the same groups, of the same sizes."""
    strangers = np.unique(group[group >= len(sizes)])
    if len(strangers):
        raise VerificationFailed(
            f"The table of {name} has values of {len(strangers):,} group(s) that have no rows of people."
        )
    total = np.zeros(len(sizes), np.int64)
    np.add.at(total, group, count)
    wrong = int((total != sizes).sum())
    if wrong:
        raise VerificationFailed(
            f"In {wrong:,} of {len(sizes):,} groups the counts of {name} do not add up to the rows "
            "of people. Do the files belong to one release?"
        )


def _check_order(name: str, keys: Ints) -> None:
    """Raise unless every value of a group is there once, sorted."""
    steps = np.diff(keys)
    if (steps <= 0).any():
        raise VerificationFailed(
            f"The table of {name} is not sorted by group and by the text of its values, each once: "
            "any other order could reveal whose value is whose."
        )


def whole(column: pa.Array, what: str) -> Ints:
    """The numbers of a column; raises where one is not a whole number from 1 on."""
    texts = text_of(one_chunk(column))
    good = pc.fill_null(pc.match_substring_regex(texts, WHOLE), fill_value=False)
    wrong = len(texts) - (pc.sum(good).as_py() or 0)
    if wrong:
        raise VerificationFailed(
            f"{what} must be whole numbers from 1 on, but {wrong:,} of {len(texts):,} are not."
        )
    numbers: Ints = texts.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return numbers


def _ranks(texts: pa.Array) -> Ints:
    """(n,) the place of each text among the distinct ones, -1 where missing."""
    coded = texts.dictionary_encode()
    by_text = pc.sort_indices(coded.dictionary).to_numpy()
    rank = np.full(len(by_text) + 1, -1, np.int64)
    rank[by_text] = np.arange(len(by_text))
    codes = pc.fill_null(coded.indices, len(by_text)).to_numpy(zero_copy_only=False)
    return rank[codes]


def _as_numbers(texts: pa.Array) -> pa.Array:
    """The texts as a frame of numbers, dates or times would spell them, where they are such."""
    coded = texts.dictionary_encode()
    parsed = ordered_values(coded.dictionary, guess=True)
    return texts if parsed is None else text_of(parsed).cast(pa.string()).take(coded.indices)
