"""The engine that keeps the table in memory, as a frame and as cells."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.encoding.cells import Cells, codes_in_order, encode
from shoal.encoding.domain import Domain
from shoal.encoding.grouping import (
    SUPPRESSED,
    Grouping,
    Spans,
    check_groupings,
    groups_of_equal_rows,
    spans_of,
)
from shoal.encoding.population import with_population
from shoal.encoding.preferences import read_preferences
from shoal.encoding.weights import SCALE, check_constant, differing_people, read_weights
from shoal.engines.anatomy_release import AnatomyRelease
from shoal.engines.base import Engine, Expected, LabelForms
from shoal.engines.changes import ChangedTable, changed_table, changes_of
from shoal.engines.dropped_identifiers import (
    given_away,
    repeated_ids,
    repeating_identifiers,
    repeats,
)
from shoal.engines.duckdb.classes import number_texts
from shoal.engines.files import LocalFiles, wrap
from shoal.engines.formats.base import format_to_write
from shoal.engines.label_mapping import LabelMapping, has_mapping, mapping_of
from shoal.engines.measured import (
    Measured,
    RecognitionRates,
    column_loss_of,
    measure_release,
    metrics_of,
    recognition_rates,
    report_personal,
)
from shoal.engines.originals import NO_ORIGINALS, Originals, originals_of
from shoal.engines.person_key import PersonKey, random_numbers, read_key, with_people
from shoal.engines.population import population_of_policy
from shoal.engines.published_counts import MemoryCounts, determined_in_memory
from shoal.engines.release_table import MemoryRelease, ReleaseTable
from shoal.engines.sources import Source, refuse_folder
from shoal.engines.targets import Target
from shoal.engines.truth import Claim, require_anatomy, require_truth
from shoal.errors import InputError
from shoal.evidence.collect import collect
from shoal.evidence.detail import FormCounts
from shoal.evidence.disclosure import Determined, Disclosure, coarsened, disclosure_of
from shoal.evidence.estimated_risk import risk_of_rows
from shoal.evidence.label_forms import LabelReader, counted_forms
from shoal.evidence.people import PeopleSizes, people_sizes
from shoal.evidence.repeated_ids import RepeatedId
from shoal.evidence.weighted import Weighted
from shoal.io.arrow import kind_name, one_chunk, without_category_order
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.io.tables import Table
from shoal.methods.blocks import group_rows, refine_rows
from shoal.methods.people import LabelsOf, covering_labels
from shoal.methods.refinement import passes_of
from shoal.methods.uniform import UniformGroups, group_uniformly, refine_uniformly
from shoal.metrics.base import ReleaseView
from shoal.models.requirement import Requirement
from shoal.policy import Policy
from shoal.policy.anatomy import count_name, group_name
from shoal.progress import Clock, Progress, no_progress
from shoal.publish.anatomy import Anatomy, split_tables
from shoal.publish.assemble import PublishedRows, assemble, output_layout
from shoal.publish.cut import Cuts, under_cuts
from shoal.publish.labels import ANY, Labels, labels_of
from shoal.publish.microaggregation import STATISTICS, check_forms, labels_in_forms
from shoal.publish.preferences import apply_preferences, published_hashes
from shoal.threads import each
from shoal.verification.anatomy import whole
from shoal.verification.digest import content_of


@dataclass(frozen=True)
class _Labelled:
    """Groups with their labels."""

    parts: ReleaseView | None
    """None once all is measured and nobody asks for it any more: it takes much memory."""
    groupings: tuple[Grouping, ...]
    """As the method formed them."""
    published: PublishedRows | Anatomy
    personal: Mapping[str, pa.DictionaryArray]
    """Per sensitive column with preferences, (n_rows,) what is published of it."""


@dataclass(frozen=True)
class EncodedTable:
    """A table as codes, which further runs on the same columns can start from."""

    cells: Cells
    preferences: Mapping[str, Any]
    repeating: Mapping[str, Ints] | None = None
    """The ids that repeat, once a run has looked for them."""


class MemoryEngine(Engine):
    """Reads the table into this process; the default."""

    label = "local"
    capability = "memory"
    free_evidence = True

    def __init__(
        self, frame: Any = None, *, decode: bool = True, encoded: EncodedTable | None = None
    ) -> None:
        """`frame`: the user's table. `decode`: labels are plain text in the release's frame.

        encoded: the same table as another run encoded it, with the same seed and the same settings
        of its columns.
        """
        self._decode = decode
        self._encoded = encoded
        self._repeating = None if encoded is None else encoded.repeating

        self._table: Table | None = None if frame is None else wrap(frame)
        self._names = [] if self._table is None else list(self._table.names)
        self._cells: Cells
        self._preferences: dict[str, Any] = {}
        self._groupings: tuple[Grouping, ...] = ()
        self._uniform: UniformGroups | None = None
        self._labelled: _Labelled
        self._column_loss: dict[str, float] = {}
        self._tables: tuple[Any, ...] = ()
        self._rows: Ints = np.zeros(0, np.int64)
        self._originals = NO_ORIGINALS
        self._people: Ints | None = None
        self._weights: Ints | None = None
        self._people_sizes: tuple[PeopleSizes, PeopleSizes] | None = None
        self._determined: list[Determined] = []
        self._in_order = True
        """Whether the release as written has the order of the rows here."""
        self._repeated: tuple[RepeatedId, ...] = ()
        self._read_with_codes: Collection[str] = ()
        """Columns of a file whose texts have codes only because they were read so."""

    @classmethod
    def holding(
        cls, tables: Sequence[Any], policy: Policy, key: PersonKey | None = None
    ) -> "MemoryEngine":
        """An engine that holds a finished release, to be written."""
        engine = cls()
        engine._policy, engine._tables = policy, tuple(tables)
        if key is not None:
            engine._people = key.people_of(engine._first_rows())
        return engine

    def check_source(self, source: Source, policy: Policy) -> None:  # noqa: ARG002
        """Raise `InputError` for a folder of part files."""
        refuse_folder(source.place)

    @property
    def names(self) -> list[str]:
        """The columns of the table."""
        return self._names

    def load(self, policy: Policy, clock: Clock) -> None:
        """Take the frame that the engine was made for."""
        assert self._table is not None
        self._table = changed_table(self._table, policy)
        self._policy, clock.rows = policy, self._table.n_rows

    def read(self, source: Source, policy: Policy, clock: Clock, progress: Progress) -> None:
        """Read the columns that the policy needs."""
        self._names = list(source.names)
        wanted = {*policy.needed(self._names)}
        if policy.person is None:  # to see whether they repeat
            wanted |= {*policy.identifiers}
        columns = [name for name in self._names if name in wanted]
        numbered = policy.publish != "anatomy" and not changes_of(policy)
        read = LocalFiles().read(source.files[0], source.options, columns, coded=numbered)
        quasi = policy.quasi if numbered else ()
        self._read_with_codes = _coded_texts(read) if numbered else ()
        read = without_category_order(read, policy.quasi)
        self._table = wrap(_in_one_piece(read, quasi, policy.unchanged))
        self.load(policy, clock)
        progress(1.0)

    def encode(self, progress: Progress) -> int:
        """Number the values of every column, and reduce the rows to cells."""
        table, policy = self._table, self._policy
        assert table is not None
        if table.n_rows == 0:
            raise InputError("The table has column names but no rows: there is nothing to publish.")
        if self._encoded is not None:
            self._cells = self._encoded.cells
            self._preferences = dict(self._encoded.preferences)
            progress(1.0)
            return self._cells.n_rows
        if isinstance(table, ChangedTable):
            table.require_codes_declared(policy)
        quasi = {name: policy.column_spec(name) for name in policy.quasi}
        sensitive = {name: policy.column_spec(name) for name in sorted(policy.sensitive)}
        # sorted by name: where a column stands in the table is not published content.
        # preferences decide what is published of a row: equal rows have equal preferences too
        plain = [*sorted(policy.plain), *sorted(set(policy.preferences.values()))]
        cells = encode(
            table.column,
            quasi,
            sensitive,
            plain,
            self.seed,
            policy.folder,
            policy.person,
            policy.both_spellings,
            policy.no_ids,
            None if policy.weight is None else self._read_weights(policy.weight),
            policy.predict,
        )
        if cells.weights is not None and cells.people is not None:
            differing = differing_people(cells.people.number.astype(np.int64), cells.weights)
            check_constant(str(policy.weight), policy.person, differing, cells.people.count)
        if policy.target is not None:
            cells = replace(cells, target=codes_in_order(cells, table.column(policy.target)))
        if policy.population is not None:
            population = population_of_policy(policy)
            cells = with_population(cells, population.column, quasi, population.people)
        check_forms(cells.domains, quasi)
        self._cells = cells
        self._preferences = {
            name: read_preferences(cells, name, level, table.column(level))
            for name, level in policy.preferences.items()
        }
        progress(1.0)
        return cells.n_rows

    def _read_weights(self, name: str) -> Ints:
        """(n_rows,) the weight of each input row."""
        policy, table = self._policy, self._table
        assert table is not None
        column, missing = table.column(name), policy.missing_codes(name)
        reading, step = policy.value_reading(name), policy.columns[name].round
        return read_weights(name, column, missing, reading, step)

    @property
    def encoded(self) -> EncodedTable:
        """The table as codes, for another run."""
        return EncodedTable(self._cells, self._preferences, self._repeating)

    @property
    def sensitive_domains(self) -> Mapping[str, Domain]:
        """What the codes of the sensitive columns mean."""
        return self._cells.sensitive_domains

    def group(self, requirement: Requirement, progress: Progress) -> int:
        """Run the policy's method."""
        policy = self._policy
        if policy.columns_labelled("uniform"):
            specs = {name: policy.column_spec(name) for name in policy.quasi}
            self._uniform = group_uniformly(
                policy.method,
                self._cells,
                requirement,
                self.seed,
                specs,
                progress,
                self._labels_as_read,
            )
            self._groupings = self._uniform.groupings
        else:
            self._groupings = group_rows(
                policy.method, self._cells, requirement, self.seed, progress, self._labels_as_read
            )
        check_groupings(self._cells, self._groupings, policy.method.name)
        return int(self._suppressed.sum())

    def refine(self, requirement: Requirement, progress: Progress) -> None:
        """Rearrange the rows of the groups."""
        policy, groupings = self._policy, self._groupings
        assert policy.refine is not None
        passes = passes_of(policy.refine)
        if self._uniform is not None:
            self._uniform = refine_uniformly(
                policy.method,
                requirement,
                self._uniform,
                passes,
                self.seed,
                progress,
                self._labels_as_read,
            )
            self._groupings = self._uniform.groupings
            check_groupings(self._cells, self._groupings, "refine")
            return
        self._groupings = refine_rows(
            policy.method,
            self._cells,
            requirement,
            groupings,
            passes,
            self.seed,
            progress,
            self._labels_as_read,
        )
        check_groupings(self._cells, self._groupings, "refine")

    @property
    def _suppressed(self) -> Any:
        return np.all([one.group == SUPPRESSED for one in self._groupings], axis=0)

    def publish(self, evidence: bool, progress: Progress) -> None:  # noqa: ARG002
        """Label the groups, and gather the published rows in the user's kind of frame."""
        policy, cells, table = self._policy, self._cells, self._table
        assert table is not None
        groupings, formed = self._groupings, None
        if policy.publish == "anatomy":
            groupings, formed = groups_of_equal_rows(cells, groupings)
        spans = tuple(
            under_cuts(cells.domains, grouping, spans_of(cells, grouping), self._cuts)
            for grouping in groupings
        )
        values = apply_preferences(cells, self._preferences)
        published = self._published(spans, values)
        # who has which class of a sensitive target cannot be known once it is in another table
        apart = formed is not None and policy.target in policy.sensitive
        parts = ReleaseView(
            cells,
            groupings,
            spans,
            published.classes,
            published.suppressed if isinstance(published, PublishedRows) else self._suppressed,
            None if apart else cells.target,
            weights=policy.method.weights,
            formed=formed,
            raised=self._preferences,
        )
        self._labelled = _Labelled(parts, self._groupings, published, values)
        if isinstance(published, Anatomy):
            self._gather_anatomy(published, table)
        else:
            self._gather(published, table)
        if policy.preferences:
            self._originals = originals_of(table, policy, self._rows)
        if cells.weights is not None and policy.checks_hidden_weights:
            self._weights = np.empty(cells.n_rows, np.int64)
            self._weights[cells.rows] = cells.weights
            self._weights = self._weights[self._rows]
        if cells.people is not None:
            person = np.empty(cells.n_rows, np.int64)
            person[cells.rows] = cells.people.number
            self._people = random_numbers(person[self._rows])
            assert isinstance(published, PublishedRows)
            cell = np.repeat(np.arange(cells.n_cells), cells.counts)
            self._people_sizes = (
                people_sizes(cell, cells.people.number),
                people_sizes(published.class_of, person[published.rows]),
            )
        self._determined = determined_in_memory(cells, sorted(policy.unchanged), table.column)
        if self._repeating is None:
            self._repeating = repeating_identifiers(policy, table)
        ids = self._repeating
        dropped = [name for name in ids if name in policy.identifiers and repeats(ids[name])]
        self._determined += given_away(table, dropped, sorted(policy.unchanged))
        if isinstance(published, PublishedRows):
            self._repeated = tuple(repeated_ids(policy, cells, ids, published))
        self._schema = self._schema_of(table)
        progress(1.0)

    def _published(
        self, spans: tuple[Spans, ...], values: Mapping[str, pa.DictionaryArray]
    ) -> PublishedRows | Anatomy:
        policy, cells, table = self._policy, self._cells, self._table
        assert table is not None
        if policy.publish == "anatomy":
            plain, sensitive = sorted(policy.plain), sorted(policy.sensitive)
            grouping = self._groupings[0]
            return split_tables(cells, grouping, table.column, policy.quasi, plain, sensitive)
        hashes = None
        if values:  # the order of rows follows from what is published of them
            same = sorted(name for name in (*policy.plain, *policy.sensitive) if name not in values)
            hashes = published_hashes(cells, values, [table.column(n) for n in same], self.seed)
        kept = policy.order == "kept"
        labelled = None if not self._has_forms else self._labels_of
        return assemble(cells, self._groupings, spans, kept, values, hashes, labelled)

    @property
    def _has_forms(self) -> bool:
        """Whether some labels are not what covers the values of a group."""
        return bool(self._cuts or self._policy.columns_labelled(*STATISTICS))

    @property
    def _cuts(self) -> Cuts:
        """The cuts of columns with uniform labels."""
        return {} if self._uniform is None else self._uniform.cuts

    def _labels_of(self, grouping: Grouping, spans: Spans) -> list[Labels]:
        specs = {name: self._policy.column_spec(name) for name in self._policy.quasi}
        return labels_in_forms(self._cells, grouping, spans, specs, self._cuts)

    @property
    def _labels_as_read(self) -> LabelsOf:
        """How the labels of groups will read, of some rows with the same uniform labels at least."""
        if not self._policy.columns_labelled(*STATISTICS):
            return covering_labels
        specs = {name: self._policy.column_spec(name) for name in self._policy.quasi}
        return lambda cells, grouping: labels_in_forms(
            cells, grouping, spans_of(cells, grouping), specs, {}
        )

    def _gather(self, published: PublishedRows, table: Table) -> None:
        policy = self._policy
        starred = np.zeros(0, np.int64)
        if policy.suppressed == "starred":
            starred = np.setdiff1d(np.arange(self._cells.n_rows), published.rows)
        kept = policy.order == "kept"
        columns = policy.published(table.names)
        release = output_layout(published, columns, table.column, starred, keep_order=kept)
        release = release.decoded() if self._decode else release
        self._rows = release.rows
        self._read_with_codes = [n for n in self._read_with_codes if n not in release.labels]
        frame = table.release(release.columns, release.labels, release.rows, kept)
        self._tables = (frame,)

    def _gather_anatomy(self, anatomy: Anatomy, table: Table) -> None:
        policy = self._policy
        group, count = group_name(policy), count_name(policy)
        columns = [name for name in policy.published(table.names) if name not in policy.sensitive]
        groups = {group: pa.array(anatomy.group)}
        people = table.release([*columns, group], groups, anatomy.rows, keep_index=False)
        values = []
        for name in policy.sensitive:
            counts = anatomy.sensitive[name]
            numbers = {group: pa.array(counts.group), count: pa.array(counts.count)}
            columns = [group, name, count]
            values.append(table.release(columns, numbers, counts.rows, keep_index=False))
        self._rows, self._tables = anatomy.rows, (people, *values)

    def _schema_of(self, table: Table) -> dict[str, str | None]:
        """Every column of the input, with the type of those that a run reads."""
        read = set(self._policy.needed(self._names))
        return {n: kind_name(table.column(n).type) if n in read else None for n in self._names}

    def measure(self, progress: Progress) -> Measured:
        """Measure the release cell by cell."""
        policy, labelled = self._policy, self._labelled
        parts, cells = labelled.parts, self._cells
        assert parts is not None
        metrics = metrics_of(policy)
        evidence = collect(
            parts,
            labelled.published.sizes,
            column_loss_of(parts, cells.n_rows),
            {name: policy.hierarchy_of(name) for name in policy.quasi},
            policy.sensitive,
            self._schema,
        )
        if self._people_sizes is not None:
            before, after = self._people_sizes
            evidence = replace(evidence, people_before=before, people_after=after)
        rates: dict[str, RecognitionRates] = recognition_rates(policy, parts)
        measured = measure_release(
            policy,
            parts,
            {name: metric.measure(parts) for name, metric in metrics.items()},
            groupings=labelled.groupings,
            personal=report_personal(policy, parts, labelled.personal),
            recognition={name: one.report(self._rows) for name, one in rates.items()},
            evidence=evidence,
        )
        self._column_loss = column_loss_of(parts, 1)
        if not policy.columns_labelled(*STATISTICS):
            self._labelled = replace(labelled, parts=None)
        progress(1.0)
        return replace(measured, weighted=self._weighted())

    def _weighted(self) -> Weighted | None:
        """The population behind the release, where the policy has sampling weights."""
        cells, published = self._cells, self._labelled.published
        if cells.weights is None or self._policy.weight is None:
            return None
        weights = np.empty(cells.n_rows, np.int64)
        weights[cells.rows] = cells.weights
        person, after = None, None
        if cells.people is not None:
            person = np.empty(cells.n_rows, np.int64)
            person[cells.rows] = cells.people.number
        cell = np.repeat(np.arange(cells.n_cells), cells.counts)
        numbers = None if cells.people is None else cells.people.number
        before = risk_of_rows(cell, cells.weights, numbers)
        if isinstance(published, PublishedRows):
            rows = published.rows
            whose = None if person is None else person[rows]
            after = risk_of_rows(published.class_of, weights[rows], whose)
        below = int((weights < SCALE).sum())
        return Weighted(self._policy.weight, before, after, below, cells.n_rows)

    @property
    def domains(self) -> tuple[Domain, ...]:
        """What the codes of the quasi-identifiers and the sensitive columns mean."""
        return (*self._cells.domains, *self._cells.sensitive_domains.values())

    @property
    def expected(self) -> list[Expected]:
        """The tables of the release."""
        tables = [wrap(table) for table in self._tables]
        return [Expected(tuple(table.names), table.n_rows) for table in tables]

    def frames(self) -> tuple[Any, dict[str, Any]]:
        """The release in the user's kind of frame."""
        first, *others = self._tables
        if self._read_with_codes:
            first = _decoded(first, self._read_with_codes)
        return first, dict(zip(self._sensitive, others, strict=True))

    @property
    def _sensitive(self) -> tuple[str, ...]:
        return tuple(self._policy.sensitive) if len(self._tables) > 1 else ()

    def published(self) -> ReleaseTable:
        """The rows of the release, as they are handed over."""
        first, *others = self._tables
        sensitive = dict(zip(self._sensitive, others, strict=True))
        return release_of_frames(first, sensitive, self._originals, self._people, self._weights)

    def write(self, paths: Sequence[Target], options: CsvOptions, progress: Progress) -> None:
        """Write the tables of the release."""
        for table, path in zip(self._tables, paths, strict=True):
            rows = table if isinstance(table, pa.Table) else MemoryRelease(wrap(table)).read()
            LocalFiles().write(rows, path, options=options)
        progress(1.0)

    def read_back(
        self, paths: Sequence[Target], options: CsvOptions, progress: Progress = no_progress
    ) -> ReleaseTable:
        """The release as it was written."""
        files = [path for path in paths if isinstance(path, Path)]
        if len(files) < len(paths):
            return self._in_database(paths, options)
        first, *others = (wrap(self._read_whole(file, options)) for file in files)
        progress(1.0)
        if others:
            apart = dict(zip(self._sensitive, map(MemoryRelease, others), strict=True))
            return AnatomyRelease(MemoryRelease(first), apart)
        return MemoryRelease(first, options, self._originals, self._people, self._weights)

    def _in_database(self, paths: Sequence[Target], options: CsvOptions) -> ReleaseTable:
        """The release as a database holds it, which does not keep the order of rows; that its rows are
        these is checked before it is committed."""
        self._in_order = False
        first, *others = (MemoryRelease(path, options) for path in paths)
        if others:
            return AnatomyRelease(first, dict(zip(self._sensitive, others, strict=True)))
        if self._originals.values or self._people is not None or self._weights is not None:
            # originals, people and weights are paired with rows by their position
            return self.published()
        return MemoryRelease(paths[0], options, self._originals, self._people)

    def _read_whole(self, path: Path, options: CsvOptions) -> pa.Table:
        """The rows of a written file; the texts of columns that are compared often are coded."""
        files = LocalFiles()
        table = files.read(path, files.settle(path, options)[0], coded=True)
        numbered = (*self._policy.quasi, *self._policy.sensitive)
        return _in_one_piece(table, numbered, self._policy.unchanged)

    def require_truth(self, released: ReleaseTable, progress: Progress) -> None:
        """Compare the release with the table, row by row."""
        policy, cells, table = self._policy, self._cells, self._table
        assert table is not None
        released = released if self._in_order else self.published()
        suppressed = cells.rows[self._suppressed]
        grouped = tuple(
            tuple(cells.domains[column].name for column in one.columns) for one in self._groupings
        )
        claim = Claim(self._rows, table.n_rows, suppressed, grouped)
        people = released.people if isinstance(released, AnatomyRelease) else released
        assert isinstance(people, MemoryRelease)
        require_truth(policy, claim, people.column, table.column, cells.domains)
        if isinstance(released, AnatomyRelease):
            groups = whole(people.column(group_name(policy)), "The group ids")
            require_anatomy(
                policy, claim, groups, lambda name: released.counted(name, policy), table.column
            )
        self._table = None  # the input's rows are not needed any more
        progress(1.0)

    def disclosure(self, table: ReleaseTable) -> Disclosure:  # noqa: ARG002 - these are its rows
        """Count the published rows by hashes."""
        policy, labelled = self._policy, self._labelled
        release, published = wrap(self._tables[0]), labelled.published
        labels, classes = [release.column(name) for name in policy.quasi], None
        if self._are_all(published):
            labels = [published.labels[name] for name in policy.quasi]  # coded, so faster
            classes = None if self._has_forms else published.class_of
        plain = sorted(policy.unchanged)
        apart = policy.publish == "anatomy"
        sensitive = () if apart else policy.sensitive
        counts = MemoryCounts(plain, release.column, labels, self._people, sensitive, classes)
        determined = coarsened(self._determined, self._column_loss)
        found = disclosure_of(counts, determined, exact=apart)
        return replace(found, repeated=self._repeated)

    def _are_all(self, published: PublishedRows | Anatomy) -> TypeGuard[PublishedRows]:
        """Whether the labelled rows are those of the release, without any that is all stars."""
        return isinstance(published, PublishedRows) and np.array_equal(published.rows, self._rows)

    def label_forms(self, table: ReleaseTable, readers: Mapping[str, LabelReader]) -> LabelForms:  # noqa: ARG002
        """Count the labels of the rows that are handed over; a statistic says no more than the range or
        set of the values that it is of."""
        release, published = wrap(self._tables[0]), self._labelled.published
        coded = published if self._are_all(published) else None
        behind = self._behind_statistics()

        def count(name: str) -> list[FormCounts]:
            if name in behind:
                return counted_forms(readers[name].forms(*behind[name]))
            if coded is not None and name in coded.labels:
                return counted_forms(readers[name].forms(*coded.rows_of_labels(name)))
            labels = number_texts(name, pa.chunked_array([release.column(name)]))
            codes = pc.fill_null(labels.codes, len(labels.texts)).to_numpy(zero_copy_only=False)
            rows = np.bincount(codes, minlength=len(labels.texts) + 1)
            texts = pa.concat_arrays([labels.texts.cast(pa.string()), pa.nulls(1, pa.string())])
            some = np.flatnonzero(rows)
            return counted_forms(readers[name].forms(texts.take(pa.array(some)), rows[some]))

        return dict(zip(readers, each(count, readers, release.n_rows), strict=True))

    def _behind_statistics(self) -> dict[str, tuple[pa.Array, Ints]]:
        """Per column of statistics the labels that cover the values of its groups, and their rows."""
        parts, forms = self._labelled.parts, self._policy.columns_labelled(*STATISTICS)
        if parts is None:
            return {}
        found = {}
        for grouping, spans in zip(parts.groupings, parts.spans, strict=True):
            for j, column in enumerate(grouping.columns):
                domain = parts.cells.domains[column]
                if domain.name not in forms:
                    continue
                labels = labels_of(domain, spans, j)
                rows = np.bincount(labels.of_group, spans.sizes, len(labels.texts))
                starred = wrap(self._tables[0]).n_rows - int(spans.sizes.sum())
                texts = pa.concat_arrays([labels.texts.cast(pa.string()), pa.array([ANY])])
                every = np.append(rows.astype(np.int64), starred)
                some = np.flatnonzero(every)
                found[domain.name] = texts.take(pa.array(some)), every[some]
        return found

    @property
    def key(self) -> PersonKey | None:
        """Where people were counted: whose row is whose."""
        return None if self._people is None else PersonKey.of(self._first_rows(), self._people)

    def check_key(self, path: Path) -> None:
        """Raise `InputError` for a key that the engine cannot write."""
        format_to_write(path)

    def read_key_back(self, path: Path, options: CsvOptions, table: ReleaseTable) -> ReleaseTable:
        """The written release, whose rows belong to whom the written key says."""
        assert isinstance(table, MemoryRelease)
        key = read_key(path, table.names, options)
        return table.counting(key.people_of(table.read()))

    def write_key(self, path: Path, options: CsvOptions) -> None:
        """Write the private key of the release, with numbers of people that were never used before."""
        assert self._people is not None
        table = with_people(self._first_rows(), random_numbers(self._people))
        LocalFiles().write(table, path, options=options)

    def _first_rows(self) -> pa.Table:
        """The rows of the first table of the release."""
        table = self._tables[0]
        return table if isinstance(table, pa.Table) else MemoryRelease(wrap(table)).read()

    @property
    def digest(self) -> str:
        """Of a release that was checked on original values or hidden weights: the digest of the rows."""
        behind = self._policy.preferences or self._policy.checks_hidden_weights
        return self.published().digest if behind else ""

    @property
    def content(self) -> str:
        """Of a release whose frames can be changed in place: what shows that they were."""
        if all(isinstance(table, pa.Table) for table in self._tables):
            return ""
        published, names = self._labelled.published, wrap(self._tables[0]).names
        if not self._are_all(published):
            return self.published().content
        first, labels = wrap(self._tables[0]), published.labels  # coded, so faster
        columns = [labels[n] if n in labels else first.column(n) for n in names]
        return content_of(pa.table(columns, names))

    @property
    def mapping(self) -> LabelMapping | None:
        """Which label stands for which values, where columns have uniform labels."""
        if self._policy.publish == "anatomy" or not has_mapping(self._policy):
            return None
        requirement = Requirement(self._policy.constraints)
        return mapping_of(self._policy, self._cells, self._groupings, self._cuts, requirement)

    @property
    def weights(self) -> Ints | None:
        """Where a constraint is estimated from weights that are not published: those of the rows."""
        return self._weights


def _coded_texts(table: pa.Table) -> list[str]:
    """The columns of texts with codes."""
    return [field.name for field in table.schema if pa.types.is_dictionary(field.type)]


def _decoded(table: pa.Table, names: Collection[str]) -> pa.Table:
    """The table with texts in place of codes in some of its columns, where it has them."""

    def column(name: str) -> pa.Array:
        values = one_chunk(table.column(name))
        return values.dictionary_decode() if name in names else values

    every = table.column_names
    return pa.Table.from_arrays(each(column, every, table.num_rows), every)


def _in_one_piece(
    table: pa.Table, numbered: Collection[str], unchanged: Collection[str]
) -> pa.Table:
    """The table with every column in one piece; the texts of some columns are numbered.

    unchanged: columns that are only copied and compared: their numbers may be short ones.
    """
    copied = set(unchanged)

    def column(name: str) -> pa.Array:
        values = table.column(name)
        if name in numbered and pa.types.is_string(values.type):
            values = values.dictionary_encode()  # first: codes are put together faster than texts
        kind = values.type
        if (
            name not in copied
            and pa.types.is_dictionary(kind)
            and pa.types.is_int16(kind.index_type)
        ):
            values = values.cast(pa.dictionary(pa.int32(), kind.value_type, kind.ordered))
        return one_chunk(values)

    columns = each(column, table.column_names, table.num_rows)
    fields = [field.with_type(one.type) for field, one in zip(table.schema, columns, strict=True)]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, table.schema.metadata))


def release_of_frames(
    table: Any,
    sensitive: Mapping[str, Any],
    originals: Originals = NO_ORIGINALS,
    people: Ints | None = None,
    weights: Ints | None = None,
) -> ReleaseTable:
    """The rows of a release in frames; `sensitive` are the further tables of an Anatomy release."""
    rows = MemoryRelease(wrap(table), DETECT, originals, people, weights)
    if not sensitive:
        return rows
    return AnatomyRelease(rows, {name: MemoryRelease(wrap(one)) for name, one in sensitive.items()})
