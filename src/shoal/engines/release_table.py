"""A published table, wherever its rows are: what verification and reports need to know of it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools, Ints
from shoal.encoding.counts import Counts
from shoal.encoding.reading import AS_FOUND
from shoal.encoding.weights import read_weights
from shoal.engines.changes import published_rules
from shoal.engines.database.staging import Stored
from shoal.engines.duckdb.classes import STAR, TextCodes, number_texts
from shoal.engines.files import LocalFiles, wrap
from shoal.engines.formats.base import format_of, located
from shoal.engines.originals import NO_ORIGINALS, Originals, with_originals
from shoal.engines.population import count_population, population_of_classes
from shoal.errors import InputError, VerificationFailed
from shoal.evidence.evidence import Histogram, histogram
from shoal.evidence.people import PeopleSizes, people_sizes
from shoal.io.arrow import one_chunk
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.io.tables import Table
from shoal.models.base import POPULATION, SIZES_ONLY, WEIGHTS
from shoal.policy import Policy
from shoal.policy.released_columns import (
    check_released_columns,
    columns_to_verify,
    exempt_columns,
    suppressible_components,
)
from shoal.presets.base import ValueCheck
from shoal.presets.checking import (
    outcomes,
    rows_that_break,
    text_counts,
    value_checks,
)
from shoal.progress import Progress, no_progress
from shoal.verification.check import (
    ClassCounter,
    Finding,
    StarredRows,
    Strength,
    check,
    strengths,
)
from shoal.verification.digest import Fingerprint, content_of, fingerprint, read_text
from shoal.verification.guesses import ClassGuesses, guesses_of
from shoal.verification.meaning import Meaning, meaning_of, require_declared, with_meaning
from shoal.verification.people import (
    number_classes,
    people_of_classes,
    sharing_all,
    values_of_people,
    without_exempt,
)
from shoal.verification.preferences import at_worst
from shoal.verification.presets import PresetOutcome
from shoal.verification.rules import require_rules
from shoal.verification.weights import weights_of_classes


@dataclass(frozen=True)
class Verdict:
    """What was found in a published table."""

    findings: tuple[Finding, ...]
    """The models of the policy, in its order."""
    rows: int | None = None
    """Rows of the table, where checking the models counted them."""
    strengths: tuple[Strength, ...] = ()
    """Further models that the table satisfies, where they were asked for."""
    largest_share: dict[str, float] = field(default_factory=dict)
    """Anatomy: per sensitive column the largest share that one value has of a group's known values."""
    people: int | None = None
    """Where people were counted: those with a row that is not suppressed."""
    presets: tuple[PresetOutcome, ...] = ()
    """The presets of the policy, in its order."""
    starred: StarredRows | None = None
    """Suppressed rows, where they are published and the policy limits them."""


@dataclass(frozen=True)
class LabelCounts:
    """The different labels of a column."""

    texts: list[str | None]
    rows: Ints
    """(m,) rows with each."""
    first: Ints | None
    """(m,) the first of these rows, from 0 on; None where rows have no order."""


class ReleaseTable(ABC):
    """Published rows. Nothing of the method that made them is known here."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The columns, in order."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def sensitive_tables(self) -> Mapping[str, "ReleaseTable"]:
        """Anatomy: per sensitive column the table of its values."""
        return {}

    @property
    @abstractmethod
    def fingerprint(self) -> Fingerprint:
        """The digest of the rows, and some of them."""

    @property
    def digest(self) -> str:
        """The digest of the rows, and of those of the tables of sensitive values."""
        tables = (self, *self.sensitive_tables.values())
        return " ".join(table.fingerprint.digest for table in tables)

    @property
    def content(self) -> str:
        """Of rows in memory, what shows that they were changed since."""
        return ""

    @abstractmethod
    def labels(self, name: str) -> "LabelCounts":
        """The different labels of a column."""

    @abstractmethod
    def class_sizes(self, columns: Sequence[str]) -> Histogram:
        """How many classes have each size, by the text of some columns."""

    @abstractmethod
    def broken_rows(self, checks: Sequence[ValueCheck]) -> dict[ValueCheck, int]:
        """For each check of a published column, the rows whose text breaks it."""

    @abstractmethod
    def linked_through(self, first: Sequence[str], second: Sequence[str]) -> float:
        """The share of records with some columns that are linked, through the release, to those of the
        same row with others: a row like the first record is picked at random, then a record like it.
        """

    def guesses(
        self,
        policy: Policy,  # noqa: ARG002
        columns: Sequence[str],  # noqa: ARG002
        of: Sequence[str],  # noqa: ARG002
    ) -> dict[str, ClassGuesses]:
        """Per sensitive column, how well its values can be guessed in the classes of some columns; none
        where they are in tables of their own."""
        return {}

    def people_sizes(self, columns: Sequence[str]) -> PeopleSizes | None:  # noqa: ARG002
        """The classes by the text of some columns, in people; None where these are not known."""
        return None

    def starred_rows(self, columns: Sequence[str]) -> int:  # noqa: ARG002
        """Rows that read `*` in all of some columns; none where suppressed rows are left out."""
        return 0

    @abstractmethod
    def verify(
        self, policy: Policy, *, survey: bool = False, progress: Progress = no_progress
    ) -> Verdict:
        """Check the policy's models on the rows; with `survey` also every other model that needs
        nothing but its figure."""


def with_presets(table: ReleaseTable, policy: Policy, verdict: Verdict) -> Verdict:
    """The verdict with what was found of the policy's presets."""
    checks = value_checks(policy.preset, policy)
    broken = table.broken_rows(checks)
    return replace(verdict, presets=outcomes(policy.preset, policy, verdict.findings, broken))


def with_starred(table: ReleaseTable, policy: Policy, verdict: Verdict) -> Verdict:
    """The verdict with the number of suppressed rows, where some are published and limited.

    Where nothing but quasi-identifiers is published, a class that is generalised to the top reads like
    suppressed rows. So many rows as a class must have are taken for one; and any number where
    constraints are on different columns, since fewer rows than a class has may be at the top of all.
    """
    if policy.suppression is None or policy.publish == "anatomy":
        return verdict
    if not suppressible_components(policy):
        return verdict
    starred = table.starred_rows(columns_to_verify(policy, table.names))
    if set(table.names) <= set(policy.quasi):
        smallest = max(model.min_rows for model in policy.constraints)
        on_all = all(set(m.quasi_of(policy.quasi)) == set(policy.quasi) for m in policy.constraints)
        starred = starred if on_all and starred < smallest else 0
    return replace(verdict, starred=StarredRows(starred, table.n_rows, policy.suppression))


class MemoryRelease(ReleaseTable):
    """Published rows in a frame, or in a file that fits into memory."""

    def __init__(
        self,
        source: Table | Stored,
        options: CsvOptions = DETECT,
        originals: Originals = NO_ORIGINALS,
        people: Ints | None = None,
        weights: Ints | None = None,
    ) -> None:
        """`originals` are the values and preferences behind the rows, for columns with preferences:
        these are then checked on the originals instead of at their worst. `people` are the numbers of
        the rows' people: people are then counted, not rows. `weights` are the rows' sampling weights
        in millionths, where they are not published."""
        self._source, self._originals, self._people = source, originals, people
        self._weights = weights
        self._options = options
        if isinstance(source, Stored):
            self._options, _ = LocalFiles().settle(source, options)
            # a database is read once, so that all is found in one state of it
            if not isinstance(source, Path) or format_of(located(source, options)[0]).costly:
                self._source = wrap(LocalFiles().read(source, self._options))

    @cached_property
    def names(self) -> list[str]:
        """The columns, in order."""
        if isinstance(self._source, Stored):
            return LocalFiles().names(self._source, self._options)
        return list(self._source.names)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        if isinstance(self._source, Stored):
            counts = LocalFiles().count_classes(self._source, [], [], self._options)
            return int(counts[""].sizes.sum())
        return self._source.n_rows

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Some columns of the table, or all."""
        names = self.names if columns is None else columns
        if isinstance(self._source, Stored):
            return LocalFiles().read(self._source, self._options, names)
        return pa.table({name: self._source.column(name) for name in names})

    def column(self, name: str) -> pa.Array:
        """One column in one piece."""
        return one_chunk(self.read([name]).column(name))

    def labels(self, name: str) -> LabelCounts:
        """The different labels of a column."""
        texts = number_texts(name, pa.chunked_array([self.column(name)]))
        codes, first, rows = np.unique(_codes(texts), return_index=True, return_counts=True)
        found: list[str | None] = [
            None if c < 0 else texts.texts[c].as_py() for c in codes.tolist()
        ]
        return LabelCounts(found, rows, first)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The digest of the rows, and some of them."""
        return fingerprint(self.read())

    @property
    def content(self) -> str:
        """What shows that the rows were changed since."""
        return content_of(self.read())

    def class_sizes(self, columns: Sequence[str]) -> Histogram:
        """How many classes have each size, by the text of some columns."""
        return histogram(LocalFiles().count_classes(self.read(columns), columns, [])[""].sizes)

    def broken_rows(self, checks: Sequence[ValueCheck]) -> dict[ValueCheck, int]:
        """For each check of a published column, the rows whose text breaks it."""
        if not checks:
            return {}
        rows = self.read(list(dict.fromkeys(one.column for one in checks)))
        columns = {name: one_chunk(rows.column(name)) for name in rows.column_names}
        possible = [one for one in checks if _may_break(one, columns[one.column])]
        read = {name: text_counts(columns[name]) for name in {one.column for one in possible}}
        found = {one: rows_that_break(one, *read[one.column]) for one in possible}
        return {one: found.get(one, 0) for one in checks}

    def people_sizes(self, columns: Sequence[str]) -> PeopleSizes | None:
        """The classes by the text of some columns, in people; None where these are not known."""
        if self._people is None:
            return None
        rows = self.read(columns)
        codes = [_codes(number_texts(name, rows.column(name))) for name in columns]
        person = np.unique(self._people, return_inverse=True)[1].reshape(-1)
        return people_sizes(number_classes(codes, rows.num_rows), person)

    def linked_through(self, first: Sequence[str], second: Sequence[str]) -> float:
        """The share of records with some columns that are linked, through the release, to those of the
        same row with others: a row like the first record is picked at random, then a record like it.
        """
        rows = self.read([*first, *second])
        codes = {name: _codes(number_texts(name, rows.column(name))) for name in rows.column_names}
        sides = [
            number_classes([codes[n] for n in side], rows.num_rows) for side in (first, second)
        ]
        both = number_classes(sides, rows.num_rows)
        like = [np.bincount(one)[one] for one in (*sides, both)]
        return float(np.mean(like[2] / (like[0] * like[1]))) if rows.num_rows else 0.0

    def guesses(
        self, policy: Policy, columns: Sequence[str], of: Sequence[str]
    ) -> dict[str, ClassGuesses]:
        """Per sensitive column, how well its values can be guessed in the classes of some columns."""
        rows = self.read(list(dict.fromkeys([*columns, *of])))
        if self._people is None:
            counts: Mapping[str, Counts] = _with_meaning(
                LocalFiles().count_classes(rows, columns, of), policy, self._originals.values
            )
        else:
            texts = {name: number_texts(name, rows.column(name)) for name in rows.column_names}
            codes = {name: _codes(one) for name, one in texts.items()}
            group = number_classes([codes[name] for name in columns], rows.num_rows)
            counts = {
                name: _of_people(
                    meaning_of(name, texts[name].texts, policy.column_spec(name), policy.folder),
                    codes[name],
                    group,
                    self._people,
                )
                for name in of
            }
        return {name: guesses_of(counts[name]) for name in of}

    def verify(
        self,
        policy: Policy,
        *,
        survey: bool = False,
        progress: Progress = no_progress,  # noqa: ARG002
    ) -> Verdict:
        """Group by the text in the table and check every model again."""
        check_released_columns(policy, self.names)
        self.check_rules(policy)
        counter = self._counter(policy)
        if survey:
            counter = _asking(counter, policy)
        findings = check(counter, policy.quasi, policy.constraints)
        return Verdict(
            findings,
            None if suppressible_components(policy) else findings[0].rows,
            strengths(counter, policy.quasi, policy.sensitive) if survey else (),
            people=None if self._people is None else self._published_people(policy, self._people),
        )

    def check_rules(self, policy: Policy) -> None:
        """Raise `VerificationFailed` where values are not what the policy's column rules give."""
        broken = [
            rule
            for rule in published_rules(policy, self.names)
            if rule.is_broken(one_chunk(self.read([rule.name]).column(rule.name)))
        ]
        require_rules(broken)

    def counting(self, people: Ints) -> "MemoryRelease":
        """The same rows with the numbers of their people: these are then counted."""
        return MemoryRelease(self._source, self._options, self._originals, people, self._weights)

    def weighing(self, weights: Ints) -> "MemoryRelease":
        """The same rows with their sampling weights, which are not published."""
        return MemoryRelease(self._source, self._options, self._originals, self._people, weights)

    def _published_people(self, policy: Policy, people: Ints) -> int:
        """People with a row that does not read `*` throughout."""
        if suppressible_components(policy):
            people = people[~self._starred(self.names)]
        return len(np.unique(people))

    def starred_rows(self, columns: Sequence[str]) -> int:
        """Rows that read `*` in all of some columns."""
        return int(self._starred(columns).sum())

    def _starred(self, columns: Sequence[str]) -> Bools:
        """(n,) whether each row reads `*` in all of some columns."""
        texts = (read_text(column) for column in self.read(columns).columns)
        starred = [pc.fill_null(pc.equal(one, STAR), False).to_numpy(False) for one in texts]
        return np.all(starred, axis=0)

    def _counter(self, policy: Policy) -> ClassCounter:
        if self._people is not None:
            return self._people_counter(policy, self._people)
        names = self.names
        rows: pa.Table | Stored
        if isinstance(self._source, Stored) and not self._originals.values:
            rows = self._source
        else:
            rows = self._paired(self.read(columns_to_verify(policy, names)), policy)

        def count(columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:
            starred = exempt_columns(policy, columns, names)
            own = [name for name in of if name not in (POPULATION, WEIGHTS)]
            counts = LocalFiles().count_classes(rows, columns, own, self._options, starred)
            found = _with_meaning(counts, policy, self._originals.values)
            if POPULATION in of:
                found[POPULATION] = count_population(self.read(policy.quasi), policy)
            if WEIGHTS in of:
                found[WEIGHTS] = self.weights_of_classes(policy, columns)
            return found

        return count

    def _people_counter(self, policy: Policy, people: Ints) -> ClassCounter:
        """Counts people: rows that share the text of the class columns, and a person, are one."""
        names = self.names
        rows = self.read(columns_to_verify(policy, names))
        if rows.num_rows != len(people):
            raise VerificationFailed(
                f"The published table has {rows.num_rows:,} rows, but the people of {len(people):,} "
                "rows are known: they do not belong together."
            )
        texts = {name: number_texts(name, rows.column(name)) for name in rows.column_names}
        codes = {name: _codes(one) for name, one in texts.items()}
        stars = {name: pc.index(one.texts, STAR).as_py() for name, one in texts.items()}

        def count(columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:
            group = number_classes([codes[name] for name in columns], len(people))
            starred = exempt_columns(policy, columns, names)
            exempt = np.full(len(people), bool(starred))
            for name in starred:
                # a column without any star has none of the codes; a missing value is no star
                exempt &= (codes[name] == stars[name]) & (codes[name] >= 0)
            group, kept = without_exempt(group, exempt)
            found = {SIZES_ONLY: people_of_classes(group, people[kept])}
            if policy.together:
                shared = sharing_all(group, people[kept])
                found[SIZES_ONLY] = replace(found[SIZES_ONLY], shared=shared)
            for name in of:
                if name == WEIGHTS:
                    found[name] = self.weights_of_classes(policy, columns)
                    continue
                if name == POPULATION:
                    _, first = np.unique(group, return_index=True)
                    classes = rows.take(pa.array(np.flatnonzero(kept)[first]))
                    covered = population_of_classes(classes, policy)
                    found[name] = replace(found[SIZES_ONLY], population=covered)
                    continue
                spec = policy.column_spec(name)
                meaning = meaning_of(name, texts[name].texts, spec, policy.folder)
                found[name] = _of_people(meaning, codes[name][kept], group, people[kept])
            return found

        return count

    def weights_of_classes(self, policy: Policy, columns: Sequence[str]) -> Counts:
        """The classes with the sampling weights of their rows; exempt rows weigh nothing."""
        starred = exempt_columns(policy, columns, self.names)
        rows = self.read(list(dict.fromkeys((*columns, *starred))))
        texts = {name: number_texts(name, rows.column(name)) for name in rows.column_names}
        group = number_classes([_codes(texts[name]) for name in columns], rows.num_rows)
        exempt = np.full(rows.num_rows, bool(starred))
        for name in starred:
            star = pc.index(texts[name].texts, STAR).as_py()
            codes = _codes(texts[name])
            exempt &= (codes == star) & (codes >= 0)
        weights = np.where(exempt, 0, self._row_weights(policy, exempt))
        group, kept = without_exempt(group, exempt)
        people = None if self._people is None else self._people[kept]
        return weights_of_classes(group, weights[kept], people)

    def _row_weights(self, policy: Policy, exempt: Bools) -> Ints:
        """(n,) the weight of each row: as published, or those that stayed behind."""
        name = policy.weight
        assert name is not None, "a model that needs weights has a column of them"
        if name in self.names:
            column, found = self.column(name), np.zeros(len(exempt), np.int64)
            # what a rule made is written with a decimal point
            reading = AS_FOUND if policy.columns[name].has_rule else policy.value_reading(name)
            known = column.filter(pa.array(~exempt))
            found[~exempt] = read_weights(name, known, policy.missing_codes(name), reading)
            return found
        if self._weights is None:
            model = next(model.name for model in policy.constraints if model.needs_weights)
            raise InputError(
                f"{model} is estimated from the weights of '{name}', which the release withholds: the "
                "run that made the release checked it with them, and nobody can without. To check it "
                "again, run the raw table with the same policy and seed file and compare the digests "
                "of the certificates; to check the other constraints, verify with a policy that "
                f"leaves {model} out; to let others check it, publish the weights rounded (`round: "
                "10`)."
            )
        if len(self._weights) != len(exempt):
            raise VerificationFailed(
                f"The published table has {len(exempt):,} rows, but the weights of "
                f"{len(self._weights):,} rows are known: they do not belong together."
            )
        return self._weights

    def _paired(self, rows: pa.Table, policy: Policy) -> pa.Table:
        """The rows with the original values beside them, which must be as many."""
        if self._originals.values and rows.num_rows != self._originals.rows:
            raise VerificationFailed(
                f"The written file has {rows.num_rows:,} rows, but {self._originals.rows:,} were to "
                "be published."
            )
        return with_originals(rows, policy, self._originals)


def _may_break(check: ValueCheck, column: pa.Array) -> bool:
    """Whether some text of a column might break a check; where it is not text, any might."""
    texts = column.dictionary if pa.types.is_dictionary(column.type) else column
    return not pa.types.is_string(texts.type) or check.may_break(texts)


def _codes(texts: TextCodes) -> Ints:
    """(n,) the number of each row's text, -1 for a missing one."""
    codes = pc.fill_null(texts.codes, -1).to_numpy(zero_copy_only=False)
    return codes.astype(np.int64)


def _asking(count: ClassCounter, policy: Policy) -> ClassCounter:
    """The same; raises `InputError` for likely codes for missing values that the policy leaves out.

    A table from elsewhere may hold them. What a run publishes was asked about when it was read.
    """

    def counted(columns: Sequence[str], of: Sequence[str]) -> Mapping[str, Counts]:
        found = count(columns, of)
        for name in policy.sensitive:
            if name in found and found[name].raised is None:
                require_declared(found[name], policy.column_spec(name))
        return found

    return counted


def _of_people(meaning: Meaning, texts: Ints, group: Ints, people: Ints) -> Counts:
    """The values of each class's people; `texts` are the numbers of texts, -1 for a missing one."""
    place = np.append(meaning.place, -1)
    place[place == meaning.domain.missing] = -1
    found = values_of_people(group, people, place[texts], meaning.domain)
    if meaning.spelled is None:
        return found
    return replace(found, spelled=_of_people(meaning.spelled, texts, group, people))


def _with_meaning(
    counts: Mapping[str, Counts], policy: Policy, known: Iterable[str]
) -> dict[str, Counts]:
    """`known`: columns that hold their own values and no wider ones."""
    found: dict[str, Counts] = {}
    for name, one in counts.items():
        if not name:
            found[name] = one
        elif name in policy.preferences and name not in known:
            found[name] = at_worst(one, policy.column_spec(name), policy.folder)
        else:
            found[name] = with_meaning(one, policy.column_spec(name), policy.folder)
    return found
