"""The people of a release in a session: who stands beside each published row, never in the release.

A row of the release and the row that was published are one where their texts are: a number made from
all of them, the hash, is kept with each person. What is counted is read from the release itself, and a
release with other rows than those that were published is refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from shoal.arrays import Bools, Ints
from shoal.encoding.cells import hash_rows
from shoal.encoding.counts import Reference, group_histograms, size_counts
from shoal.encoding.domain import Domain
from shoal.engines.class_findings import judge_classes
from shoal.engines.column_types import restore_type
from shoal.engines.queries import (
    ANYONE,
    HAS,
    HASH,
    KNOWN,
    PERSON,
    count_unpaired,
    pair_rows,
    people_of_classes,
    without_exempt,
)
from shoal.engines.sessions import Session, query_number
from shoal.errors import VerificationFailed
from shoal.io.arrow import one_chunk
from shoal.models.base import SIZES_ONLY, Model
from shoal.verification.digest import canonical

Places = tuple[tuple[str, pa.DataType], ...]
"""The name in the session and the type in the release's files of some columns."""


def hash_published(batch: pa.RecordBatch, columns: Places) -> Ints:
    """(n,) a hash of the texts of all columns, the same for rows of a session and of a file."""
    texts = [canonical(restore_type(batch.column(place), kind)) for place, kind in columns]
    return hash_rows(batch.num_rows, (), texts, 0).view(np.int64)


@dataclass(frozen=True)
class PublishedPeople:
    """Published rows with their person to the hash of each row, and the person."""

    columns: Places
    """The published columns, in the release's order."""

    @property
    def schema(self) -> pa.Schema:
        """The types of the result."""
        return pa.schema([(HASH, pa.int64()), (PERSON, pa.int64())])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Hash a batch."""
        columns = [pa.array(hash_published(batch, self.columns)), batch.column(PERSON)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


class PairedRows:
    """The rows of a release, each with its person."""

    def __init__(self, session: Session, texts: str, people: str, names: Sequence[str]) -> None:
        """Pair them.

        Parameters
        ----------
        session : Session
            Where the tables are.
        texts : str
            The rows of the release, as `session_release.ReadClasses` returns them.
        people : str
            What `PublishedPeople` made.
        names : sequence of str
            The columns of the texts.

        Raises
        ------
        VerificationFailed
            If the release has other rows than those that were published.
        """
        self._session, self._rows, self._classes = session, f"{texts}_paired", f"{texts}_classes"
        unpaired = query_number(session, count_unpaired(texts, people))
        if unpaired:
            raise VerificationFailed(
                f"The written file does not have the rows that were published ({unpaired:,} differ), so "
                "whose they are is not known. Make sure that no other program writes to it, and run "
                "again."
            )
        kept = [name for name in names if name != HASH]
        session.keep(self._rows, pair_rows(texts, people, kept))

    def classes(
        self,
        number: int,
        keys: tuple[str, ...],
        sensitive: tuple[tuple[str, str], ...],
        domains: Mapping[str, Domain],
        models: tuple[tuple[int, Model], ...],
        *,
        exempting: bool,
    ) -> tuple[str, "CheckPeople"]:
        """SQL of the counted people of one set of classes, and what checks a piece of it.

        exempting: whether some rows may be exempt, so that a class of nothing else is left out.
        """
        rows, piece = self._rows, f"b{number}"
        if exempting:
            rows = self._classes
            self._session.keep(rows, without_exempt(self._rows, piece, f"e{number}", keys))
        named = {name: domains[name] for _, name in sensitive}
        check = CheckPeople(keys, named, self._totals(rows, sensitive, named), models)
        columns = [column for column, _ in sensitive]
        return people_of_classes(rows, [piece, *keys], columns), check

    def _totals(
        self, rows: str, sensitive: Sequence[tuple[str, str]], domains: Mapping[str, Domain]
    ) -> dict[str, Reference]:
        """Per sensitive column, what a class is compared with: all rows as one class."""
        if not sensitive:
            return {}
        answer = self._session.query(
            people_of_classes(rows, [], [column for column, _ in sensitive])
        )
        what, value, people = (_numbers(answer, name) for name in ("what", "s", "people"))
        found = {}
        for i, (_, name) in enumerate(sensitive):
            counts = np.zeros(domains[name].size, np.int64)
            counts[value[what == HAS + i]] = people[what == HAS + i]
            found[name] = Reference(counts, int(people[what == KNOWN + i].sum()))
        return found

    def drop(self) -> None:
        """Drop the tables that were made."""
        self._session.drop(self._rows)
        self._session.drop(self._classes)


@dataclass(frozen=True)
class CheckPeople:
    """Counted people of whole classes to what the models find in them."""

    keys: tuple[str, ...]
    """The class columns."""
    domains: dict[str, Domain]
    """Of the sensitive columns that models need, in the order in which they were counted."""
    totals: dict[str, Reference]
    """By sensitive column, over all classes of the release."""
    models: tuple[tuple[int, Model], ...]
    """The models, each with its position among all."""

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Check whole classes."""
        group = number_texts([one_chunk(rows.column(key)) for key in self.keys])
        what, value, people, n = (_numbers(rows, name) for name in ("what", "s", "people", "n"))
        is_size = what == ANYONE
        classes = int(group.max(initial=-1)) + 1

        def total(chosen: Bools, of: Ints) -> Ints:
            found = np.zeros(classes, np.int64)
            np.add.at(found, group[chosen], of[chosen])
            return found

        sizes, in_rows = total(is_size, people), total(is_size, n)
        counts = {SIZES_ONLY: size_counts(sizes, rows=in_rows)}
        for i, (name, domain) in enumerate(self.domains.items()):
            having, whole = what == HAS + i, self.totals[name]
            found = group_histograms(sizes, group[having], value[having], domain, people[having])
            counts[name] = replace(
                found,
                totals=whole.counts,
                everyone=whole.people,
                known=total(what == KNOWN + i, people),
                rows=in_rows,
            )
        return judge_classes(self.models, counts)


def number_texts(columns: Sequence[pa.Array]) -> Ints:
    """(n,) a number for each combination, from 0 on."""
    found = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        encoded = column.dictionary_encode(null_encoding="encode")
        wide = found * max(1, len(encoded.dictionary)) + encoded.indices.to_numpy()
        found = np.unique(wide, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return found


def _numbers(rows: pa.Table, name: str) -> Ints:
    return rows[name].to_numpy().astype(np.int64)
