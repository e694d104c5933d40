"""A table that is read and encoded once, for many releases under changing policies.

Reading and encoding depend on the table, the seed and what a policy says about columns. Its
constraints, method and suppression do not matter to them, so a release with another k starts at the
grouping. Every release is verified as any other.
"""

import hashlib
import json
import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.engines.files import LocalFiles, wrap
from shoal.engines.memory import EncodedTable, MemoryEngine
from shoal.engines.population import population_of_policy
from shoal.engines.sources import Source, refuse_folder, source_at
from shoal.errors import Infeasible
from shoal.evidence.value_counts import ValueCounts, rows_of_values, value_counts
from shoal.hierarchy.function import FunctionHierarchy
from shoal.io.address import Place, as_place, place_of
from shoal.io.arrow import without_category_order
from shoal.io.csv_dialect import CsvOptions
from shoal.methods.base import check_feasible
from shoal.models.requirement import Requirement, in_both_spellings
from shoal.pipeline.run import check_policy, rehearse
from shoal.policy import Policy
from shoal.policy.canonical import to_data
from shoal.progress import Clock, ProgressCallback, ignore_event, no_progress
from shoal.release import Release
from shoal.seeds import Seed, choose

KEPT = 3
"""Encodings that are kept: methods that climb hierarchies use another than those that do not."""
NOT_ENCODED = (
    "constraints",
    "preset",
    "method",
    "refine",
    "suppression",
    "suppressed",
    "order",
    "publish",
    "metrics",
    "about",
)
"""Keys of a policy that change nothing before the grouping, beyond what `_encoding_key` adds."""


class Prepared:
    """A table of which releases are made again and again, each under its own policy.

    It is read on first use, and again only when a policy says otherwise how its file is written.
    """

    def __init__(self, data: Any) -> None:
        """`data`: a frame, or the file or address to read."""
        data = as_place(data)
        self._place: Place | None = data if isinstance(data, Place) else None
        self._table: pa.Table | None = None if self._place is not None else _arrow(data)
        self._options: CsvOptions | None = None
        self._source: Source | None = None
        self._encoded: OrderedDict[str, EncodedTable] = OrderedDict()
        self._seed: Seed = choose(None)
        self.encodings = 0
        """How often the table was encoded."""

    def table(self, options: CsvOptions | None = None) -> pa.Table:
        """All columns of the table; `options`: how its file is written."""
        options = options or self._options or CsvOptions()
        if self._place is not None and (self._table is None or options != self._options):
            refuse_folder(self._place)
            source = source_at(self._place, options)
            self._table = LocalFiles().read(source.files[0], source.options, list(source.names))
            self._options, self._source = options, source
            self._encoded.clear()
        assert self._table is not None
        return self._table

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was guessed about the file."""
        return () if self._source is None else self._source.warnings

    def sample(self, rows: int) -> "Prepared":
        """As many rows of the table, spread over it and always the same ones."""
        table = self.table()
        if table.num_rows > rows:
            chosen = np.sort(np.random.default_rng(0).choice(table.num_rows, rows, replace=False))
            table = table.take(pa.array(chosen))
        return Prepared(table)

    def rows(self, start: int, count: int) -> list[dict[str, Any]]:
        """A page of the table, as it was read."""
        found: list[dict[str, Any]] = self.table().slice(start, count).to_pylist()
        return found

    def value_counts(
        self, name: str, rare: bool = False, missing: Sequence[str] = (), codes: bool = False
    ) -> ValueCounts:
        """How often the values of a column occur.

        Parameters
        ----------
        name
            The column.
        rare
            Name also values that fewer than ten rows share.
        missing
            The codes that stand for a missing value.
        codes
            Digits are codes, such as those of postal districts, and no numbers.
        """
        return value_counts(self.table().column(name), rare, missing, codes)

    def rows_of_values(self, name: str, missing: Sequence[str] = ()) -> dict[str, int]:
        """The rows of each value of a column, as a text; without those that `missing` lists."""
        names, rows, _ = rows_of_values(self.table().column(name), missing)
        return dict(zip(names.to_pylist(), rows.tolist(), strict=True))

    def release(
        self,
        policy: Policy,
        progress: ProgressCallback = ignore_event,
        read_back: bool = True,
    ) -> Release[Any]:
        """Make a release of the table, verified as any other.

        Parameters
        ----------
        policy
            The policy; constraints, method and suppression can change without encoding again.
        progress
            A function that is called with every event; what it raises stops the run.
        read_back
            Write the release to a private file that is removed at once, and verify what is read back
            from it, as `run` does. Otherwise the rows in memory are verified, as `anonymize` does.

        Returns
        -------
        Release
            The release, with its table.

        Raises
        ------
        PolicyError, InputError, Infeasible, VerificationFailed
            As for `run`.
        """
        clock = Clock(progress)
        engine, key, seed = self._engine(policy, clock)
        if read_back:
            with tempfile.TemporaryDirectory(prefix="shoal-") as folder:
                file = Path(folder) / "release.csv"
                release = rehearse(engine, policy, seed, clock, self._source, file)
        else:
            release = rehearse(engine, policy, seed, clock, self._source)
        self._keep(key, engine)
        return release

    def fingerprint(self, policy: Policy) -> str:
        """All that the codes of the table depend on under a policy, such as files that it names."""
        seed = self._seed if policy.seed is None else choose(policy.seed)
        return _encoding_key(policy, seed.value)

    def impossible(self, policy: Policy) -> str:
        """Why no release of the table can hold a policy, whatever the method; empty where one may.

        Asks whether all rows in one group would hold it.
        """
        clock = Clock()
        engine, key, seed = self._engine(policy, clock)
        if (found := self._encoded.get(key)) is None:
            engine.seed = seed.value
            engine.load(policy, clock)
            engine.encode(no_progress)
            self._keep(key, engine)
            found = engine.encoded
        cells = found.cells
        models = in_both_spellings(policy.constraints, cells.sensitive_domains)
        limit = None if policy.suppression is None else int(policy.suppression * cells.n_rows)
        try:
            requirement = Requirement(models, limit, policy.person is not None, policy.together)
            check_feasible(cells, requirement, can_suppress=True)
        except Infeasible as error:
            return str(error)
        return ""

    def _engine(self, policy: Policy, clock: Clock) -> tuple["_KnownColumns", str, Seed]:
        """An engine with the columns that a policy needs, and the codes of them that are known."""
        with clock.step("read"):
            table = self.table(policy.read.file)
        check_policy(policy, table.column_names)
        seed = self._seed if policy.seed is None else choose(policy.seed)
        key = _encoding_key(policy, seed.value)
        wanted = {*policy.needed(table.column_names)}
        if policy.person is None:  # to see whether they repeat
            wanted |= {*policy.identifiers}
        columns = [name for name in table.column_names if name in wanted]
        frame = without_category_order(table.select(columns), policy.quasi)
        engine = _KnownColumns(frame, table.column_names, self._encoded.get(key))
        return engine, key, seed

    def _keep(self, key: str, engine: "_KnownColumns") -> None:
        self.encodings += key not in self._encoded
        self._encoded[key] = engine.encoded
        self._encoded.move_to_end(key)
        while len(self._encoded) > KEPT:
            self._encoded.popitem(last=False)


def _arrow(frame: Any) -> pa.Table:
    """A copy of the columns of a frame: it could be changed in place between two releases, and so could
    the arrays of numpy that lie under a table of Arrow."""
    if not isinstance(frame, pa.Table):
        table = wrap(frame)
        frame = pa.table({name: table.column(name) for name in table.names})
    return pa.ipc.open_stream(_stream(frame)).read_all()


def _stream(table: pa.Table) -> pa.Buffer:
    """The values of a table, written out."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


class _KnownColumns(MemoryEngine):
    """An engine that was given the columns it needs, of a table with more."""

    def __init__(self, frame: pa.Table, names: list[str], encoded: EncodedTable | None) -> None:
        super().__init__(frame, encoded=encoded)
        self._table = wrap(frame)
        self._names = names


_CALLS = count()


def _encoding_key(policy: Policy, seed: int) -> str:
    """All that the codes of a table depend on: files and tables by their content.

    What a function gives can change without a trace, so no two keys with one are equal.
    """
    data = {key: value for key, value in to_data(policy).items() if key not in NOT_ENCODED}
    hierarchies = [column.hierarchy for column in policy.columns.values()]
    files = {
        path: _digest_of_file(policy.folder / path)
        for column in policy.columns.values()
        for path in _paths(column.hierarchy, column.zip3)
    }
    specs: list[Any] = [policy.method.along_hierarchies, policy.both_spellings, policy.no_ids]
    if policy.population is not None:
        specs.append(_digest_of_population(policy))
    if policy.pseudonym is not None:  # rows of one cell are in the order of what is published
        specs.append(hashlib.sha256(policy.pseudonym.load(policy.folder)).hexdigest())
    if any(isinstance(one, FunctionHierarchy) for one in hierarchies):
        specs.append(next(_CALLS))
    return json.dumps([data, seed, specs, files, str(policy.folder)], default=str)


def _paths(hierarchy: Any, zip3: str | None) -> list[str]:
    plain = None if hierarchy is None else hierarchy.to_plain()
    if isinstance(plain, dict):
        plain = plain.get("csv")
    return [path for path in (plain, zip3) if isinstance(path, str)]


def _digest_of_file(path: Path) -> str | None:
    """Of its bytes: its size and the time of its last change may stay what they were."""
    try:
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return None


def _digest_of_population(policy: Policy) -> str | None:
    """Of the bytes of its file, or of the columns that count."""
    if isinstance(policy.population, str):
        place = place_of(policy.population, policy.folder)
        if isinstance(place, Path):
            return _digest_of_file(place)
    population = population_of_policy(policy)
    columns = pa.table({name: population.column(name) for name in policy.quasi})
    found = hashlib.sha256(_stream(columns))
    if population.people is not None:
        found.update(population.people.number.tobytes())
    return found.hexdigest()
