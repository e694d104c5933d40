"""The engine for tables larger than memory: rows stay in a session, on disk (DuckDB) or in Spark.

Values are numbered from their counts, and rows are encoded where they are. Methods that partition
choose the top cuts from histograms; the fragments that remain are grouped and labelled where their
rows are, and only sums come back. Full-domain methods see the distinct cells with their counts.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import Ints
from shoal.encoding.cells import Cells
from shoal.encoding.counts import SCALE
from shoal.encoding.domain import Domain
from shoal.encoding.grouping import SUPPRESSED, Grouping, check_groupings
from shoal.engines.base import Engine, Expected, LabelForms
from shoal.engines.changes import (
    ChangeBatch,
    SettledFloats,
    changes_of,
    require_codes_before_rule,
    ruled_values,
)
from shoal.engines.column_types import check_types, storage_type
from shoal.engines.encode import (
    FOUND,
    EncodedTable,
    Witness,
    Witnessed,
    columns_to_read,
    encode_table,
    some_values,
)
from shoal.engines.fragments import TARGET, Finish, GroupFragment
from shoal.engines.full_domain import PublishRows, SensitiveColumns, collect_cells, label_cells
from shoal.engines.large_groups import NONE, LargeGroups, label_large_groups
from shoal.engines.measured import (
    ColumnReport,
    ComponentReport,
    GroupPeople,
    Measured,
    column_loss_of,
    measure_release,
    metrics_of,
    note_on_shared_groups,
)
from shoal.engines.partition_tree import (
    Fragment,
    PartitionTree,
    cut_into_fragments,
    fragment_rows_for,
    whole_table,
)
from shoal.engines.person_key import person_name
from shoal.engines.published_counts import (
    ReleaseInSession,
    determined_in_session,
    disclosure_in_session,
)
from shoal.engines.queries import (
    ENCODED,
    KEY_NUMBER,
    PERSON,
    WEIGHT,
    Tree,
    class_sizes,
    count_below,
    count_nan,
    count_negative_zeros,
    count_published_people,
    number_people,
    people_by_code,
    people_in,
    people_of_groups,
    present,
    published_cells,
    published_rows,
    select,
    with_numbers,
)
from shoal.engines.release_table import ReleaseTable
from shoal.engines.session_identifiers import (
    dropped_columns,
    ids_of_people,
    least_rows,
    repeated_in_session,
    types_in,
)
from shoal.engines.session_people import (
    DrawWords,
    PublishedPeople,
    classes_hold,
    keep_people,
    people_sizes_in,
)
from shoal.engines.session_release import (
    PIECE_ROWS,
    SessionRelease,
    release_with_key,
    size_histogram,
)
from shoal.engines.session_truth import SessionTruth
from shoal.engines.session_weights import weights_of_classes
from shoal.engines.sessions import (
    PEOPLE,
    PUBLISHED,
    RAW,
    RELEASE,
    Session,
    passing,
    query_number,
    read_source,
)
from shoal.engines.sources import Source, source_at
from shoal.engines.targets import Target
from shoal.errors import Infeasible, InputError, VerificationFailed, format_memory, listed
from shoal.evidence.collect import Counting, Facts, evidence_of
from shoal.evidence.disclosure import Disclosure, coarsened
from shoal.evidence.estimated_risk import risk_of_classes
from shoal.evidence.evidence import Evidence, Histogram, histogram
from shoal.evidence.label_forms import LabelReader
from shoal.evidence.people import PeopleSizes
from shoal.evidence.repeated_ids import RepeatedId
from shoal.evidence.weighted import Weighted
from shoal.io.arrow import kind_name
from shoal.io.csv_dialect import CsvOptions
from shoal.methods.base import check_holds
from shoal.methods.blocks import block_requirement
from shoal.methods.partition import WIDEST_ROUNDED
from shoal.methods.refinement import passes_of
from shoal.metrics.base import (
    AdditiveMetric,
    ReleaseView,
    Sums,
    Totals,
    add_sums,
)
from shoal.metrics.entropy import column_information
from shoal.metrics.ncp import column_losses
from shoal.metrics.precision import column_climbs
from shoal.metrics.recognition_rate import RecognitionRate
from shoal.models.k import K
from shoal.models.requirement import Requirement
from shoal.plugins import name_of
from shoal.policy import Policy
from shoal.progress import Clock, Progress

CHANGED = "changed"
"""The raw table once column rules and pseudonyms were applied to it."""
MOST_SETTLED = 5_000_000
"""Rows that are grouped in one place, where groups with the same label do not hold together."""
ROW_BYTES, CELL_BYTES = 200, 40
"""Bytes that a group takes which is handled as a whole: for a row, and for each of its cells."""
RECOGNITION = "recognition-rate"
"""The one metric that looks at sensitive values also where no model does."""


class RelationalEngine(Engine):
    """Keeps the table in a session of DuckDB or Spark."""

    capability = "large"
    session: Session
    _in_database = False
    fragment_rows: int | None = None
    """Rows of a fragment; changes how the work is divided, not what comes out."""

    ceiling: int | None = None
    """The bytes that this process may take; None where that is not its own affair."""

    _names: list[str]
    _people: PublishedPeople | None = None
    _people_before: PeopleSizes | None = None
    _identifiers: tuple[str, ...] = ()
    """Identifiers that are dropped, but read to see whether they repeat."""
    _repeated: tuple[RepeatedId, ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns of the table."""
        return self._names

    def read(self, source: Source, policy: Policy, clock: Clock, progress: Progress) -> None:
        """Read the columns that the policy needs."""
        self._policy, self._names = policy, list(source.names)
        self._identifiers = dropped_columns(policy, self._names, types_in(source))
        columns = columns_to_read(policy, self._identifiers)
        self._schema = read_source(self.session, RAW, source, columns, clock, progress)

    def _change_columns(self) -> str:
        """Apply column rules and pseudonyms to the raw table; returns the name of the changed one."""
        changes = changes_of(self._policy)
        names = columns_to_read(self._policy, self._identifiers)
        policy = self._policy
        for i, (name, kind) in enumerate(zip(names, self._schema.types, strict=True)):
            published = name in policy.plain or name in policy.sensitive
            if not published or name in changes or not pa.types.is_floating(kind):
                continue
            zeros = name in policy.sensitive and bool(
                query_number(self.session, count_negative_zeros(RAW, f"p{i}"))
            )
            if zeros or query_number(self.session, count_nan(RAW, f"p{i}")):
                changes[name] = SettledFloats(zeros)
        if not changes:
            return RAW
        check_types(names, self._schema)
        for name in ruled_values(self._policy):
            i = names.index(name)
            values = some_values(self.session, RAW, f"p{i}", self._schema.types[i])
            require_codes_before_rule(self._policy, name, values)
        change = ChangeBatch(
            tuple(
                (f"p{i}", kind, changes.get(name))
                for i, (name, kind) in enumerate(zip(names, self._schema.types, strict=True))
            )
        )
        self.session.map(CHANGED, select(RAW, change.schema.names), change, change.schema)
        self.session.drop(RAW)
        self._schema = change.types
        return CHANGED

    def encode(self, progress: Progress) -> int:
        """Number the values from their counts, and encode the rows where they are."""
        raw = self._change_columns()
        policy = self._policy
        d = len(policy.plain) + len(policy.sensitive) + len(policy.quasi)
        places = tuple((field.name, field.type) for field in self._schema)[:d]
        self._truth = SessionTruth(self.session, policy, places, self.keeps_types)
        self._encoded = encode_table(
            self.session,
            policy,
            self._schema,
            self.seed,
            raw,
            progress=progress,
            identifiers=self._identifiers,
            witness=self._truth.raw_witness,
        )
        self._truth.count_raw(self._encoded)
        self.session.drop(raw)
        return self._encoded.n_rows

    @property
    def sensitive_domains(self) -> Mapping[str, Domain]:
        """What the codes of the sensitive columns mean."""
        return self._encoded.sensitive_domains

    def group(self, requirement: Requirement, progress: Progress) -> int | None:
        """Choose the top cuts from histograms, or run a full-domain method on the distinct cells."""
        session, encoded, policy = self.session, self._encoded, self._policy
        method = policy.method
        self._cells: Cells | None = None
        with passing(session, progress, 0, 1, None):
            if method.only_counts:
                # sensitive values that only a metric needs are collected where the policy names it
                measured = any(name_of(type(each)) == RECOGNITION for each in policy.metrics)
                columns = encoded.sensitive_columns if measured else ()
                sensitive = tuple(dict.fromkeys((*columns, *requirement.columns)))
                self._cells = collect_cells(session, encoded, sensitive)
                self._groupings: tuple[Grouping, ...] = method.group(
                    self._cells, requirement, self.seed, progress
                )
                check_groupings(self._cells, self._groupings, method.name)
                return int(self._suppressed.sum())
            most = self.fragment_rows or fragment_rows_for(encoded.n_rows)
            rule, wanted = method.partition_rule(), requirement
            # a method that runs in blocks may suppress rows, or raises this error itself
            whole = whole_table(encoded, requirement)
            check_holds(whole, requirement, can_suppress=rule is None)
            if rule is None:
                assert method.block_rows is not None, "see engines/capabilities.py"
                rule, wanted = WIDEST_ROUNDED, block_requirement(requirement, method.block_rows)
            self._tree = cut_into_fragments(session, encoded, wanted, rule, most, progress)
            self._finish = GroupFragment(method, requirement, encoded.n_rows, self.seed)
            self._requirement = requirement
        return None

    def refine(self, requirement: Requirement, progress: Progress) -> None:  # noqa: ARG002
        """Fragments are refined when they are grouped, as they are published."""
        assert self._policy.refine is not None
        self._finish = replace(self._finish, passes=passes_of(self._policy.refine))
        progress(1.0)

    @property
    def _suppressed(self) -> Any:
        return np.all([one.group == SUPPRESSED for one in self._groupings], axis=0)

    def publish(self, evidence: bool, progress: Progress) -> None:
        """Label the rows where they are."""
        self._facts = self._facts_of_table() if evidence else None
        plain = sorted(self._policy.unchanged)
        self._determined = determined_in_session(self.session, self._encoded, plain)
        several = least_rows(self._policy) > 1
        self._ids = ids_of_people(self.session, self._encoded) if several else {}
        if self._encoded.has_weights:
            codes = [f"c{j}" for j in range(len(self._encoded.domains))]
            self._weighted_before = weights_of_classes(self.session, ENCODED, codes)
            self._below_one = query_number(self.session, count_below(ENCODED, SCALE))
        with passing(self.session, progress, 0, 1, self._encoded.n_rows):
            if self._cells is None:
                self._publish_fragments(self._tree)
                self._settle_classes()
                self.session.drop(ENCODED)
            else:
                self._publish_cells(self._cells)
            self._truth.count_published(PUBLISHED, self._places, self._state)
            self._repeated = repeated_in_session(
                self.session,
                self._policy,
                self._encoded,
                self._ids,
                PUBLISHED,
                "g >= 0" if self._cells is None else "x <= 1",
            )

    def require_truth(self, released: ReleaseTable, progress: Progress) -> None:
        """Compare the written rows with the published ones, and these with the input."""
        assert isinstance(released, SessionRelease)
        with passing(self.session, progress, 0, 1, self._published_rows):
            self._truth.require(released, self._columns[0], self._in_database)

    def measure(self, progress: Progress) -> Measured:
        """Add up what was counted where the rows are."""
        with passing(self.session, progress, 0, 1, None):
            found = self._measure_fragments() if self._cells is None else self._measure_cells()
        found = replace(found, weighted=self._weighted())
        # of rows suppressed in some columns alone nothing may be left, but they are not withheld
        gone = found.suppressed_rows if self._cells is None else int(self._suppressed.sum())
        withheld = 0 if self._policy.suppressed == "starred" else gone
        self._published_rows = found.rows - withheld
        self._losses = found.column_loss
        return found

    def _weighted(self) -> Weighted | None:
        """The population behind the release, where the policy has sampling weights."""
        policy, encoded = self._policy, self._encoded
        if policy.weight is None:
            return None
        labels = [f"q{j}" for j in range(len(encoded.domains))]
        kept = "g >= 0" if self._cells is None else f"x <= 1 AND {WEIGHT} > 0"
        after = weights_of_classes(self.session, PUBLISHED, labels, f" WHERE {kept}")
        before = self._weighted_before
        return Weighted(
            policy.weight,
            risk_of_classes(*before),
            risk_of_classes(*after),
            self._below_one,
            encoded.n_rows,
        )

    @property
    def _behind(self) -> dict[str, pa.DataType]:
        """The values behind the labels: v0, v1, ... with their types; places of them are numbers."""
        first = len(self._encoded.payload)
        types = self._schema.types[first : first + len(self._encoded.quasi)]
        kinds = zip(types, self._encoded.behind, strict=True)
        return {f"v{j}": k if all_ is None else pa.int32() for j, (k, all_) in enumerate(kinds)}

    def _facts_of_table(self) -> Facts:
        policy, encoded = self._policy, self._encoded
        # what is read of an identifier is no part of the release
        read = dict(zip(columns_to_read(policy), self._schema.types, strict=False))
        return Facts(
            domains=encoded.domains,
            rows_of_values=encoded.rows_of_values,
            sensitive={
                name: (encoded.sensitive_domains[name], encoded.rows_of_sensitive[name])
                for name in policy.sensitive
            },
            n_rows=encoded.n_rows,
            how={name: policy.hierarchy_of(name) for name in policy.quasi},
            schema={n: kind_name(read[n]) if n in read else None for n in self._names},
            people=self._people_of_values(),
            n_people=encoded.n_people or 0,
        )

    def _people_of_values(self) -> dict[str, Ints]:
        """Where people are counted, how many hold each value of a column."""
        encoded = self._encoded
        if encoded.n_people is None:
            return {}
        columns = [(f"c{j}", domain.name, domain) for j, domain in enumerate(encoded.domains)]
        for i, (name, domain) in enumerate(encoded.sensitive_domains.items()):
            if name in self._policy.sensitive:  # not a column's second reading
                columns.append((f"s{i}", name, domain))
        found = {}
        for place, name, domain in columns:
            answer = self.session.query(people_by_code(ENCODED, place))
            code, people = (
                answer.column(n).cast(pa.int64()).to_numpy() for n in ("code", "people")
            )
            found[name] = np.zeros(domain.size, np.int64)
            found[name][code] = people
        return found

    def _publish_fragments(self, tree: PartitionTree) -> None:
        session, encoded, facts = self.session, self._encoded, self._facts
        self._counting = None if facts is None else facts.counting()
        self._sums = fragment_sums(self._policy, encoded, counting=self._counting)
        finish = Finish(
            encoded.domains,
            encoded.sensitive,
            encoded.sensitive_domains,
            encoded.totals,
            np.array([one.depth for one in tree.fragments], np.int64),
            tuple(f"p{i}" for i in range(len(encoded.payload))),
            self._finish,
            more=(TARGET,) if encoded.has_target else (),
            behind=tuple(self._behind),
            measure=self._sums,
            has_people=encoded.n_people is not None,
            pieces=self._pieces if self._judges_classes else 0,
            ids=tuple(self._ids.values()),
            has_weights=encoded.has_weights,
        )
        self._large = self._large_groups(tree)
        self._require_fits(tree)
        finish = replace(finish, large=self._large.labels)
        types = [*((f.name, f.type) for f in encoded.schema), *self._behind.items()]
        stored = pa.schema([(name, storage_type(kind)) for name, kind in types])
        self._before: Histogram = ()
        if facts is not None:
            codes = [f"c{j}" for j in range(len(encoded.domains))]
            self._before = size_histogram(session.query(class_sizes(ENCODED, codes)))
            if encoded.n_people is not None:
                self._people_before = people_sizes_in(session, ENCODED, codes)
        self._types = encoded.schema
        # values are compared with their labels at once, unless a hierarchy is needed for it
        done = [
            name for name, of in zip(self._behind, encoded.quasi, strict=True) if self._is_seen(of)
        ]
        schema, sizes = finish.schema(stored).append(FOUND), [one.rows for one in tree.fragments]
        schema = pa.schema([field for field in schema if field.name not in done])
        small = {f"c{j}": domain.size for j, domain in enumerate(encoded.domains)}
        small |= {
            name: len(every)
            for name, every in zip(self._behind, encoded.behind, strict=True)
            if every is not None and name in done
        }
        walks = session.walks
        rows, locate = tree.rows(finish.columns, stored, small if walks else {}, by_sql=not walks)
        seen = Witnessed(finish, self._witness(), at_result=True, without=tuple(done))
        session.map_groups(PUBLISHED, rows, "node", seen, schema, sizes, before=locate)

    def _large_groups(self, tree: PartitionTree) -> LargeGroups:
        """The groups that are larger than a fragment, where these are found by cuts alone."""
        encoded, finish = self._encoded, self._finish
        cuts = finish.method.partition_rule() is not None and not finish.is_table
        if not self.session.walks or not cuts or encoded.has_weights:
            return NONE
        return label_large_groups(
            self.session,
            tree,
            encoded.domains,
            encoded.sensitive_domains,
            encoded.totals,
            encoded.has_target,
            self._sums,
        )

    def _require_fits(self, tree: PartitionTree) -> None:
        """Raise `InputError` for a group that must be in memory as a whole and would take too much."""
        of = enumerate(tree.fragments)
        whole = (one.rows for i, one in of if one.is_group and i not in self._large.labels)
        rows = max(whole, default=0)
        needed = rows * (ROW_BYTES + CELL_BYTES * len(columns_to_read(self._policy)))
        if self.ceiling is not None and needed > self.ceiling:
            raise InputError(
                f"The constraints do not allow a group of {rows:,} rows to be divided. Together these "
                f"would take about {format_memory(needed)} of memory, but at most "
                f"{format_memory(self.ceiling)} may be used. Raise --memory (in Python memory=), make "
                "columns coarser, or loosen the constraints."
            )

    def _is_seen(self, name: str) -> bool:
        """Whether the witness of published rows compares a column's labels with the values."""
        return self._policy.hierarchy_of(name) is None

    @property
    def _judges_classes(self) -> bool:
        """Whether a published class need not hold although all of its groups do."""
        required = self._requirement
        return required.counts_people and not required.holds_when_merged

    def _settle_classes(self) -> None:
        """Where a published class does not hold, group all rows in one place, as it is done in memory:
        there rows are moved to other classes."""
        if not self._judges_classes:
            return
        encoded, required = self._encoded, self._requirement
        keys = tuple(f"q{j}" for j in range(len(encoded.domains)))
        domains = {name: encoded.sensitive_domains[name] for name in required.columns}
        codes = [f"s{encoded.sensitive.index(name)}" for name in required.columns]
        sizes = [PIECE_ROWS] * self._pieces
        if classes_hold(self.session, PUBLISHED, keys, domains, codes, required.models, sizes):
            return
        if encoded.n_rows > MOST_SETTLED:
            raise Infeasible(
                "Groups with the same label are one class to a reader, and some of these classes do "
                "not hold the policy's constraints when people are counted. Rows are moved between "
                f"classes for at most {MOST_SETTLED:,} rows, but the table has {encoded.n_rows:,}. "
                "Loosen the constraints, or ask for k alone."
            )
        self._finish = replace(self._finish, is_table=True)
        whole = (Fragment(0, encoded.n_rows),)
        self._publish_fragments(PartitionTree(Tree(len(encoded.domains)), whole))

    @property
    def _pieces(self) -> int:
        """Into how many pieces published classes are put to be looked at."""
        return 1 + self._encoded.n_rows // PIECE_ROWS

    def _measure_fragments(self) -> Measured:
        policy, encoded, facts = self._policy, self._encoded, self._facts
        labels = [f"q{j}" for j in range(len(encoded.domains))]
        sums = self.session.query(present(PUBLISHED, "sums")).column("sums").to_pylist()
        sums += self._large.sums
        after = size_histogram(self.session.query(class_sizes(PUBLISHED, labels, "g")))
        classes = sum(times for _, times in after)
        found = figures_of(policy, self._sums, sums, classes)
        evidence = Evidence()
        if facts is not None and self._counting is not None:
            both = self._before, after
            evidence = evidence_of(facts, self._counting, found.evidence, found.column_loss, both)
            if self._people_before is not None:
                kept = " WHERE g >= 0"
                people = people_sizes_in(self.session, PUBLISHED, labels, kept)
                evidence = replace(evidence, people_before=self._people_before, people_after=people)
        suppressed = int(found.metrics["suppressed-rows"] or 0)
        n_k = sum(isinstance(model, K) for model in policy.constraints)
        component = ComponentReport(
            columns=tuple(policy.quasi),
            constraints=tuple(range(n_k)),
            precision=found.metrics.get("precision"),
            suppressed_rows=suppressed,
        )
        return Measured(
            rows=encoded.n_rows,
            suppressed_rows=suppressed,
            groups=int(found.metrics["groups"] or 0),
            classes=classes,
            metrics=found.metrics,
            column_loss=found.column_loss,
            column_information=found.column_information,
            columns={
                name: ColumnReport(found.precision[name], found.levels.get(name, {}))
                for name in found.precision
            },
            components=(component,),
            notes=(*note_on_shared_groups(policy), *found.notes),
            evidence=evidence,
            people=encoded.n_people,
            suppressed_people=self._suppressed_people(),
            group_people=self._group_people(),
            merged_ids=encoded.merged_ids,
        )

    def _suppressed_people(self) -> int | None:
        """People without any row in the release, where people are counted."""
        people = self._encoded.n_people
        if people is None:
            return None
        return people - query_number(self.session, count_published_people(PUBLISHED))

    def _group_people(self) -> GroupPeople | None:
        """How many people the groups have, where people are counted and there is a group."""
        if self._encoded.n_people is None:
            return None
        (found,) = self.session.query(people_of_groups(PUBLISHED)).to_pylist()
        if not found["groups"]:
            return None
        mean = int(found["total"]) / int(found["groups"])
        return GroupPeople(int(found["smallest"]), mean, int(found["largest"]))

    def _publish_cells(self, cells: Cells) -> None:
        session, encoded, policy = self.session, self._encoded, self._policy
        groupings = self._groupings
        labelled, spans = label_cells(cells, groupings, policy.suppressed == "starred")
        payload = tuple((f.name, f.type) for f in encoded.schema)
        sensitive = SensitiveColumns(
            session, PUBLISHED, encoded, cells, reported=self._facts is not None
        )
        behind, ids = tuple(self._behind.items()), tuple(self._ids.values())
        ids = (*ids, WEIGHT) if encoded.has_weights else ids
        make = PublishRows(labelled, payload, sensitive.codes, behind, ids)
        codes = [f"c{j}" for j in range(len(encoded.domains))]
        needed = [*codes, *(name for name, _ in payload), *sensitive.codes, *self._behind, *ids]
        self._types = encoded.schema
        if labelled.has_stars:
            self._types = pa.schema([make.schema.field(name) for name, _ in payload])
        seen = Witnessed(make, self._witness(), at_result=True)
        session.map(PUBLISHED, select(ENCODED, needed), seen, make.schema.append(FOUND))
        weights = policy.method.weights
        classes = len(labelled.sizes)
        target, lost = cells.target, np.repeat(labelled.lost, cells.counts)
        self._parts = ReleaseView(cells, groupings, spans, classes, lost, target, weights)
        self._sensitive, self._labelled_sizes = sensitive, labelled.sizes

    def _measure_cells(self) -> Measured:
        policy, parts, facts, sensitive = self._policy, self._parts, self._facts, self._sensitive
        metrics = {
            name: sensitive.recognition_rate(metric, parts)
            if isinstance(metric, RecognitionRate)
            else metric.measure(parts)
            for name, metric in metrics_of(policy).items()
        }
        evidence = Evidence()
        if facts is not None:
            counting = facts.counting()
            sums = counting(parts) | sensitive.evidence_sums(counting, parts)
            losses = column_loss_of(parts, self._encoded.n_rows)
            both = histogram(parts.cells.counts), histogram(self._labelled_sizes)
            evidence = evidence_of(facts, counting, sums, losses, both)
        return measure_release(policy, parts, metrics, evidence=evidence)

    @property
    def _columns(self) -> tuple[list[str], list[str]]:
        """The published columns in the input's order, and where each stands in the session."""
        names = list(self._policy.published(self._names))
        place = {name: f"q{j}" for j, name in enumerate(self._encoded.quasi)}
        place |= {name: f"p{i}" for i, name in enumerate(self._encoded.payload)}
        return names, [place[name] for name in names]

    @property
    def _places(self) -> dict[str, str]:
        """Where each published column stands in the session, in the input's order."""
        return dict(zip(*self._columns, strict=True))

    @property
    def _state(self) -> str:
        """The column that says what a row of the published table is."""
        return "g" if self._cells is None else "x"

    def _witness(self) -> Witness:
        """What looks at published rows where they are made."""
        return self._truth.witness(self._types, self._places, self._state)

    def _query(self, columns: Sequence[str]) -> str:
        """SQL of the published rows."""
        fragments = self._cells is None
        query = published_rows if fragments else published_cells
        return query(PUBLISHED, columns)

    @property
    def domains(self) -> tuple[Domain, ...]:
        """What the codes of the quasi-identifiers and the sensitive columns mean."""
        return (*self._encoded.domains, *self._encoded.sensitive_domains.values())

    @property
    def expected(self) -> list[Expected]:
        """The table of the release."""
        return [Expected(tuple(self._columns[0]), self._published_rows)]

    def write(self, paths: Sequence[Target], options: CsvOptions, progress: Progress) -> None:
        """Write the published rows."""
        names, columns = self._columns
        rows = self._published_rows
        with passing(self.session, progress, 0, 1, rows):
            query = self._query(columns)
            self.session.write(query, paths[0], names, columns, options, rows)
            self._people = self._keep_people()
            if not self.key_asked:
                self._drop_sources()

    def _keep_people(self) -> PublishedPeople | None:
        """Keep whom the published rows belong to, where people are counted: never in the release."""
        if self._encoded.n_people is None:
            return None
        _, columns = self._columns
        rows = self._query([*columns, PERSON])
        return keep_people(self.session, PEOPLE, rows, list(zip(columns, self._kinds, strict=True)))

    @property
    def _kinds(self) -> list[pa.DataType]:
        """The types of the published columns, in the input's order."""
        types = {f"p{i}": field.type for i, field in enumerate(self._types)}
        return [types.get(column, pa.string()) for column in self._columns[1]]

    def write_key(self, path: Path, options: CsvOptions) -> None:
        """Write the private key of the release: its rows, and a random number of each one's person."""
        names, columns = self._columns
        draw, drawn, numbers = DrawWords(), f"{PEOPLE}_drawn", f"{PEOPLE}_numbers"
        self.session.map(drawn, people_in(PEOPLE), draw, draw.schema)
        self.session.keep(numbers, number_people(drawn))
        rows = with_numbers(self._query([*columns, PERSON]), columns, numbers)
        order = [*columns, KEY_NUMBER]
        named = [*names, person_name(names)]
        self.session.write(rows, path, named, order, options, self._published_rows)
        for table in (drawn, numbers):
            self.session.drop(table)
        self._drop_sources()

    def read_key_back(self, path: Path, options: CsvOptions, table: ReleaseTable) -> ReleaseTable:
        """The written release, whose rows belong to whom the written key says."""
        assert isinstance(table, SessionRelease)
        return release_with_key(table, source_at(path, options))

    def _drop_sources(self) -> None:
        """Drop the tables that the release was computed from."""
        for name in (PUBLISHED, ENCODED):
            self.session.drop(name)

    def read_back(
        self, paths: Sequence[Target], options: CsvOptions, progress: Progress
    ) -> ReleaseTable:
        """The release as it was written."""
        names, rows = list(self.expected[0].names), self.expected[0].rows
        found = source_at(paths[0], options).names
        if list(found) != names:
            raise VerificationFailed(
                f"The written file has the columns {listed(found)}, but {listed(names)} were to be "
                "published."
            )
        self._in_database = not isinstance(paths[0], Path)
        with passing(self.session, progress, 0, 1, rows):
            schema = self.session.read(RELEASE, list(paths), names, options)
        self._release = SessionRelease(self.session, RELEASE, names, schema, people=self._people)
        return self._release

    def published(self) -> ReleaseTable:
        """The rows of the release, as they are handed over."""
        return self._release

    def disclosure(self, table: ReleaseTable) -> Disclosure:
        """Count the published rows by SQL."""
        assert isinstance(table, SessionRelease)
        policy, plain = self._policy, tuple(sorted(self._policy.unchanged))
        places = {name: table.stored(name) for name in table.names}
        release = ReleaseInSession(
            self.session, table.table, policy.quasi, plain, places, self._people, policy.sensitive
        )
        found = disclosure_in_session(release, coarsened(self._determined, self._losses))
        return replace(found, repeated=self._repeated)

    def label_forms(self, table: ReleaseTable, readers: Mapping[str, LabelReader]) -> LabelForms:
        """Read the different labels where they are; only their forms come back."""
        assert isinstance(table, SessionRelease)
        return {name: table.label_forms(name, reader) for name, reader in readers.items()}


LOSSES, CLIMBS, LEVELS, EVIDENCE = "\0losses", "\0climbs", "\0levels", "\0evidence"
"""Beside the metrics by name: sums for what is reported of each column."""


@dataclass(frozen=True)
class FragmentSums:
    """Computes the sums of a fragment, wherever its rows are."""

    metrics: dict[str, AdditiveMetric]
    whole: Totals
    """Of the table; the published classes are not known yet."""
    counting: Counting | None = None
    """What is counted for a report, if there is to be one."""

    def __call__(self, parts: ReleaseView) -> str:
        """The sums of one fragment, as text to be handed on."""
        own = replace(parts, whole=self.whole)
        found = {name: metric.sums(own) for name, metric in self.metrics.items()}
        found |= {LOSSES: column_losses(own), CLIMBS: column_climbs(own), LEVELS: _levels(own)}
        if self.counting is not None:
            found[EVIDENCE] = self.counting(own)
        return json.dumps(found)


@dataclass(frozen=True)
class Figures:
    """The figures of a whole release, from the sums of its fragments."""

    metrics: dict[str, float | None]
    column_loss: dict[str, float]
    """Per quasi-identifier, the mean loss of a cell."""
    column_information: dict[str, float]
    """Per quasi-identifier, the share of its information that is lost."""
    precision: dict[str, float]
    """Per column with a hierarchy."""
    levels: dict[str, dict[int, int]]
    """Without columns of which no row is published."""
    """Per column, published rows by the level of their label."""
    notes: tuple[str, ...]
    evidence: Sums
    """What was counted for a report."""


def fragment_sums(
    policy: Policy, encoded: EncodedTable, groupings: int = 1, counting: Counting | None = None
) -> FragmentSums:
    """What computes the sums of the fragments of an encoded table."""
    chosen = metrics_of(policy)
    return FragmentSums(
        {name: metric for name, metric in chosen.items() if isinstance(metric, AdditiveMetric)},
        Totals(
            domains=encoded.domains,
            rows_of_values=encoded.rows_of_values,
            n_rows=encoded.n_rows,
            groupings=groupings,
            sensitive=encoded.sensitive_columns,
            has_target=encoded.has_target,
            weights=policy.method.weights,
        ),
        counting,
    )


def figures_of(
    policy: Policy, measure: FragmentSums, sums_of_fragments: Iterable[str], published_classes: int
) -> Figures:
    """The figures, from the sums of all fragments."""
    by_name: dict[str, list[Sums]] = {}
    for text in sums_of_fragments:
        for name, sums in json.loads(text).items():
            by_name.setdefault(name, []).append(sums)
    found = {name: add_sums(sums) for name, sums in by_name.items()}
    whole = replace(measure.whole, published_classes=published_classes)
    metrics: dict[str, float | None] = dict.fromkeys(metrics_of(policy))
    left_out = [name for name in metrics if name not in measure.metrics]
    for name, metric in measure.metrics.items():
        metrics[name] = metric.figure(found[name], whole)
    levels: dict[str, dict[int, int]] = {}
    for key, rows in found[LEVELS].items():
        level, _, name = key.partition(":")
        levels.setdefault(name, {})[int(level)] = int(rows)
    return Figures(
        metrics=metrics,
        column_loss={name: loss / whole.n_rows for name, loss in found[LOSSES].items()},
        column_information=column_information(found["relative-non-uniform-entropy"], whole),
        precision={name: 1 - climbed / whole.n_rows for name, climbed in found[CLIMBS].items()},
        levels={name: dict(sorted(by_level.items())) for name, by_level in levels.items()},
        notes=_notes(left_out),
        evidence=found.get(EVIDENCE, {}),
    )


def _levels(parts: ReleaseView) -> Sums:
    """Published rows by `level:column`."""
    found: Sums = {}
    for grouping, spans in zip(parts.groupings, parts.spans, strict=True):
        for j, column in enumerate(grouping.columns):
            rows = np.bincount(spans.levels[:, j], spans.sizes).astype(np.int64).tolist()
            name = parts.cells.domains[column].name
            found |= {f"{level}:{name}": n for level, n in enumerate(rows) if n}
    return found


def _notes(left_out: list[str]) -> tuple[str, ...]:
    if not left_out:
        return ()
    return (
        f"Not measured on a table larger than memory: {listed(left_out)}. Only metrics that are "
        "sums over parts of the table are.",
    )
