"""What the sensitive tables of an Anatomy release say about people who are linked to its rows.

A person in a row of a group has each sensitive value with the share that the value has of the group. A
person with several candidate rows has it with the mean over these.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.arrays import Floats, Ints
from shoal.encoding.counts import Counts
from shoal.engines.anatomy_release import counts_by_group
from shoal.engines.files import wrap
from shoal.errors import PolicyError
from shoal.hierarchy.text import text_of
from shoal.io.arrow import one_chunk
from shoal.policy import Policy
from shoal.policy.anatomy import group_name

DECIMALS = 9
"""Decimals to which expected rows are compared, so that ties stay ties."""


@dataclass(frozen=True)
class LikeliestValues:
    """The likeliest sensitive value of each class of rows."""

    texts: list[str]
    """The distinct values, the most frequent first; equally frequent ones by text."""
    totals: Ints
    """(values,) rows with each."""
    best: Ints
    """(classes,) the value that most rows of the class are expected to have; -1 if none."""
    rows: Floats
    """(classes,) the expected number of these rows."""


def likeliest_values(
    people: pa.Table, sensitive: Mapping[str, pa.Table], policy: Policy, of_row: Ints, classes: int
) -> dict[str, LikeliestValues]:
    """Per sensitive column; of_row: (rows,) the class of each row of the table of people."""
    name = group_name(policy)
    if name not in people.column_names:
        raise PolicyError(
            f"The release has no column '{name}', which an Anatomy release by this policy has. Is this "
            "the policy it was made by?"
        )
    column = one_chunk(people.column(name))
    counts = counts_by_group(column, {of: wrap(table) for of, table in sensitive.items()}, policy)
    group = text_of(column).cast(pa.int64()).to_numpy() - 1
    return {of: _likeliest(counts[of], group, of_row, classes) for of in sensitive}


def _likeliest(counts: Counts, group: Ints, of_row: Ints, classes: int) -> LikeliestValues:
    assert counts.domain is not None
    texts = counts.domain.texts.to_pylist()
    totals = np.zeros(len(texts), np.int64)
    np.add.at(totals, counts.values, counts.counts)
    ranked = sorted(range(len(texts)), key=lambda i: (-totals[i], texts[i]))
    rank = np.zeros(len(texts), np.int64)
    rank[ranked] = np.arange(len(texts))
    pairs, rows = np.unique(of_row * counts.n_groups + group, return_counts=True)
    owner, inside = np.divmod(pairs, counts.n_groups)
    # the values of each pair's group, one after the other
    many = np.diff(counts.starts)[inside]
    pair = np.repeat(np.arange(len(pairs)), many)
    entry = np.arange(len(pair)) + np.repeat(counts.starts[inside] - np.cumsum(many) + many, many)
    share = counts.counts[entry] / counts.sizes[inside[pair]]
    width = max(1, len(texts))
    keys, place = np.unique(owner[pair] * width + rank[counts.values[entry]], return_inverse=True)
    expected = np.bincount(place, rows[pair] * share, len(keys))
    order = np.lexsort((keys, -np.round(expected, DECIMALS), keys // width))
    heads, first = np.unique(keys[order] // width, return_index=True)
    best, most = np.full(classes, -1, np.int64), np.zeros(classes)
    best[heads], most[heads] = keys[order][first] % width, expected[order][first]
    return LikeliestValues([texts[i] for i in ranked], totals[ranked], best, most)
