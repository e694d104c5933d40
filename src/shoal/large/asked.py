"""A release in a session that is asked what it holds, and the values of its sensitive columns."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.large.profiling import how_many, rows_of, tally
from shoal.engines.large.session import Session
from shoal.errors import InputError
from shoal.io.arrow import one_chunk
from shoal.large.classes import STAR, Spell, spelled
from shoal.large.coding import MOST_VALUES
from shoal.policy import Policy
from shoal.verification.meaning import Meaning, meaning_of

PIECE = 250_000
"""Published rows of an average piece."""


@dataclass(frozen=True)
class Asked:
    """A release in a session, and what is asked of it."""

    session: Session
    table: str
    columns: Mapping[str, str]
    """By its name in the release, in the release's order, where each column stands in the table."""
    schema: pa.Schema
    """The types of these, in the same order, in the release's files."""
    policy: Policy
    piece_rows: int = PIECE


@dataclass(frozen=True)
class Values:
    """The published texts of a sensitive column."""

    texts: pa.Array
    """(m,) each once, in order; no missing one and no `*`."""
    counts: npt.NDArray[np.int64]
    """(m,) rows with each."""
    meaning: Meaning
    rows: int
    """Of the table, those without any of the texts included."""


class TooManyValuesError(InputError):
    """A sensitive column has too many values to be numbered here."""


def values_of(asked: Asked, name: str) -> Values:
    """The published texts of a sensitive column; raises where there are too many."""
    session, table, policy = asked.session, asked.table, asked.policy
    place = asked.columns[name]
    kind = asked.schema.types[list(asked.columns).index(name)]
    if pa.types.is_floating(kind):  # a database takes 0 and -0 for one, a reader does not
        spell, texts_only = Spell(place, kind), pa.schema([("v", pa.string())])
        session.map(f"{table}_spelled", rows_of(table, [place]), spell, texts_only, once=True)
        table, place, kind = f"{table}_spelled", "v", pa.string()
    found = session.ask(tally(table, place, MOST_VALUES + 2))
    if len(found) > MOST_VALUES + 1:
        n = int(session.ask(how_many(table, place)).column("n")[0].as_py())
        raise TooManyValuesError(
            f"The release's column '{name}' has {n:,} different values, but a large run can number at "
            f"most {MOST_VALUES:,} of a sensitive column."
        )
    texts = spelled(one_chunk(found.column("v")), kind)
    times = found.column("n").cast(pa.int64()).to_numpy()
    rows = int(times.sum())
    known = pc.fill_null(pc.not_equal(texts, STAR), fill_value=False)
    texts, times = texts.filter(known), times[known.to_numpy(zero_copy_only=False)]
    once = texts.dictionary_encode()
    counts = np.zeros(len(once.dictionary), np.int64)
    np.add.at(counts, once.indices.to_numpy(), times)
    order = pc.sort_indices(once.dictionary)
    sorted_texts = once.dictionary.take(order)
    meaning = meaning_of(name, sorted_texts, policy.how(name), policy.folder)
    return Values(sorted_texts, counts[order.to_numpy()], meaning, rows)
