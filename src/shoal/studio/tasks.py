"""What workers do: open a table, make releases of it, count, price, compare, attack and write.

Each task is a function of `Tables`, a progress callback and plain arguments, and returns plain values
that travel from the worker to the page. What they call is `shoal.api`.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import floor, log2, log10
from pathlib import Path
from typing import Any

from shoal import api
from shoal.errors import Infeasible, InputError, ShoalError
from shoal.progress import ProgressCallback, ProgressEvent
from shoal.studio.constraints import ConstraintText, with_figure
from shoal.studio.figures import Figures, figures_of
from shoal.studio.policy_text import changed
from shoal.studio.worker import Tables

COMMON = 10
"""Values that fewer rows share are not shown until that is asked for."""
SAMPLE_ROWS = 2_000
"""Rows of the sample that follows a moving thumb."""
KEPT_FIGURES = 100
"""Policies whose figures are kept: undone steps, and those that were looked at ahead."""


@dataclass(frozen=True)
class Opened:
    """What is known of a table once it is read."""

    columns: tuple[str, ...]
    rows: int
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class PolicyText:
    """A policy as a worker reads it."""

    text: str
    name: str
    folder: str
    known: "api.Policy | None" = field(default=None, compare=False, repr=False)
    """The policy, where this text was read before."""

    def read(self) -> "api.Policy":
        """The policy."""
        if self.known is not None:
            return self.known
        return api.read_policy(self.text, name=self.name, folder=self.folder)


def open_table(tables: Tables, report: ProgressCallback, place: str) -> Opened:
    """Read a table and keep it."""
    if tables.place != place:
        tables.place, tables.table, tables.sample = place, None, None
        tables.kept.clear()
    report(ProgressEvent("read", 0.0))
    prepared = tables.opened()
    table = prepared.table()
    return Opened(tuple(table.column_names), table.num_rows, prepared.warnings)


def page_of_rows(
    tables: Tables, report: ProgressCallback, start: int, count: int
) -> list[dict[str, Any]]:
    """A page of the table."""
    del report
    return tables.opened().rows(start, count)


def whole_figures(
    tables: Tables, report: ProgressCallback, policy: PolicyText, again: bool = False
) -> Figures:
    """The figures of a release of the whole table, written, read back and verified.

    again: also where those of the same policy, with the same files, are known.
    """
    prepared, wanted = tables.opened(), policy.read()
    known: dict[tuple[str, str], Figures] = tables.kept.setdefault("figures", {})
    key = (policy.text, prepared.fingerprint(wanted))
    found = known.pop(key, None)
    if found is None or again:
        found = _figures_of_whole(tables, prepared, prepared.release(wanted, report))
    known[key] = found
    while len(known) > KEPT_FIGURES:
        del known[next(iter(known))]
    return found


def _figures_of_whole(tables: Tables, prepared: "api.Prepared", release: "api.Release") -> Figures:
    """The figures of a release of the whole table that was read back."""
    return figures_of(
        release,
        sampled=None,
        read_back=True,
        encodings=prepared.encodings,
        kept=kept_by_rules(tables, prepared, release.policy),
        lost_with_rules=_lost_with_rules(tables, prepared, release),
    )


def sample_of(tables: Tables, policy: "api.Policy") -> "api.Prepared":
    """The sample, drawn again where the policy says otherwise how the file is written."""
    options = policy.read.file
    if tables.sample is None or tables.kept.get("sample read as") != options:
        whole = tables.opened()
        whole.table(options)
        tables.sample = whole.sample(SAMPLE_ROWS)
        tables.kept["sample read as"] = options
    return tables.sample


def sample_figures(tables: Tables, report: ProgressCallback, policy: PolicyText) -> Figures:
    """The figures of a release of a sample of the table."""
    wanted = policy.read()
    sample = sample_of(tables, wanted)
    release = sample.release(wanted, report, read_back=False)
    whole = release.rows == tables.opened().table().num_rows
    return figures_of(
        release,
        sampled=None if whole else release.rows,
        read_back=False,
        encodings=sample.encodings,
        kept=kept_by_rules(tables, sample, wanted),
        lost_with_rules=_lost_with_rules(tables, sample, release),
    )


def draft(tables: Tables, report: ProgressCallback, place: str, target: str) -> None:
    """Write a draft of a policy."""
    del tables
    api.draft_policy(place, Path(target), progress=report)


# -- columns, and how they grow coarser


def inspect_table(
    tables: Tables, report: ProgressCallback, read: dict[str, Any], person: str | None
) -> "api.Inspection":
    """The suggested roles with their reasons, and who stands out."""
    key = f"inspection {sorted(read.items())} {person}"
    if key not in tables.kept:
        assert tables.place is not None
        tables.kept[key] = api.inspect(tables.place, person=person, read=read, progress=report)
    found: api.Inspection = tables.kept[key]
    return found


@dataclass(frozen=True)
class RowsOfPeople:
    """How many rows the people of a table have, by the column that tells them apart."""

    column: str
    rows: int
    people: int
    several: tuple[tuple[int, int], ...]
    """Numbers of rows above one, and how many people have as many; the smallest first."""


def rows_of_people(tables: Tables, report: ProgressCallback, name: str) -> RowsOfPeople:
    """How many rows the people of the table have."""
    del report
    column = tables.opened().table().column(name)
    counts = column.drop_null().value_counts().field("counts").value_counts()
    pairs = zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True)
    found = dict(sorted(pairs))
    several = tuple((rows, people) for rows, people in found.items() if rows > 1)
    return RowsOfPeople(name, len(column), sum(found.values()), several)


def values_of_column(
    tables: Tables,
    report: ProgressCallback,
    name: str,
    rare: bool,
    missing: list[str],
    codes: bool,
) -> "api.ValueCounts":
    """How often the values of a column occur; `missing`, `codes`: as `value_counts` takes them."""
    del report
    return tables.opened().value_counts(name, rare, missing, codes)


MOST_VALUES = 400
"""A column with more values is not grouped by hand."""


MOST_BINS = 40
"""Bars of a histogram of numbers."""
NUMBER = re.compile(r"\s*([-+]?[0-9]{1,15})(?:[.,]([0-9]+))?\s*")
"""Numbers with a decimal point or comma; only a picture could take thousands for decimals."""
DATE = re.compile(r"\s*(?:([0-9]{4})-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4})).*")
"""Dates with a year of four digits, first or last."""
CODE = re.compile(r"\s*0[0-9].*")
"""A code such as 02138."""


@dataclass(frozen=True)
class Histogram:
    """Numbers, or the years of dates, in bins of equal width that begin and end at round figures."""

    low: float
    width: float
    rows: tuple[int, ...]
    """Rows of each bin; 0 where fewer than ten are in it."""
    of_years: bool = False

    @property
    def high(self) -> float:
        """Where the last bin ends."""
        return self.low + self.width * len(self.rows)


@dataclass(frozen=True)
class ColumnValues:
    """The values of a column."""

    bars: "api.ValueCounts"
    """How often they occur, for a picture."""
    rows: dict[str, int] | None
    """Rows of each value, most common first; None where there are too many to be grouped by hand."""
    histogram: Histogram | None
    """Of numbers and dates."""


def column_values(
    tables: Tables, report: ProgressCallback, name: str, missing: list[str]
) -> ColumnValues:
    """How often the values of a column occur; `missing`: the codes that are no values."""
    del report
    bars = tables.opened().value_counts(name, missing=missing)
    rows = tables.opened().rows_of_values(name, missing)
    found = None
    if len(rows) <= MOST_VALUES:
        found = dict(sorted(rows.items(), key=lambda pair: (-pair[1], pair[0])))
    return ColumnValues(bars, found, histogram_of(list(rows), list(rows.values())))


def histogram_of(names: list[str], rows: list[int]) -> Histogram | None:
    """The histogram of values that are nearly all numbers, or nearly all dates; None for others."""
    for pattern in (NUMBER, DATE):
        fitting = [
            (_place(found), count)
            for one, count in zip(names, rows, strict=True)
            if (found := pattern.fullmatch(one)) and (pattern is DATE or not CODE.fullmatch(one))
        ]
        if len(fitting) > 1 and sum(n for _, n in fitting) >= 0.9 * sum(rows):
            return _histogram(fitting, of_years=pattern is DATE)
    return None


def _place(found: "re.Match[str]") -> float:
    """Where a number, or the year of a date, stands."""
    first, second = found.groups()
    if found.re is DATE:
        return float(first or second)
    return float(f"{first}.{second}" if second else first)


def _histogram(numbers: list[tuple[float, int]], of_years: bool) -> Histogram:
    least, most = min(numbers)[0], max(numbers)[0]
    width = round_width((most - least) / MOST_BINS)
    if all(number.is_integer() for number, _ in numbers):
        width = max(1.0, width)
    low = floor(least / width) * width
    bins = [0] * (int((most - low) / width) + 1)
    for number, count in numbers:
        bins[min(int((number - low) / width), len(bins) - 1)] += count
    return Histogram(low, width, tuple(n if n >= COMMON else 0 for n in bins), of_years)


def round_width(width: float) -> float:
    """The next width of 1, 2 or 5 times a power of ten."""
    if width <= 0:
        return 1.0
    power = 10.0 ** floor(log10(width))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= width * 0.999)


# -- what a guarantee costs


@dataclass(frozen=True)
class CurvePoint:
    """The cost of one figure."""

    figure: float
    lost: float | None
    """The share of the information that is lost; None where there is no release."""
    reason: str = ""
    """Why there is none."""
    for_certain: bool = False
    """Whether that holds for the whole table, and not only for the sample."""


def cost_curve(
    tables: Tables,
    report: ProgressCallback,
    policy: PolicyText,
    one: ConstraintText,
    figures: tuple[float, ...],
) -> tuple[CurvePoint, ...]:
    """The cost of a constraint at several figures, everything else as in the policy."""
    return tuple(_point(tables, report, policy, one, figure) for figure in figures)


def _point(
    tables: Tables,
    report: ProgressCallback,
    policy: PolicyText,
    one: ConstraintText,
    figure: float,
) -> CurvePoint:
    text = changed(policy.text, with_figure(one, figure))
    try:
        wanted = api.read_policy(text, name=policy.name, folder=policy.folder)
        if reason := tables.opened().impossible(wanted):
            return CurvePoint(figure, None, reason, for_certain=True)
        release = sample_of(tables, wanted).release(wanted, report, read_back=False)
    except ShoalError as error:
        return CurvePoint(figure, None, str(error))
    return CurvePoint(figure, release.metrics.get("relative-non-uniform-entropy"))


# -- candidates of the frontier


MOST_COLUMNS = 24
"""Columns whose distributions are compared."""
WHOLE_ROWS = 20_000
"""Tables up to so many rows are compared whole; larger ones by a sample."""


@dataclass(frozen=True)
class Candidate:
    """A method at a k, and what it gives."""

    method: str
    k: int
    figures: Figures | None
    reason: str = ""
    """Why there is no release."""

    @property
    def name(self) -> str:
        """`mondrian, k 5`."""
        return f"{self.method}, k {self.k}"


def try_candidate(
    tables: Tables, report: ProgressCallback, policy: PolicyText, text: str, method: str, k: int
) -> Candidate:
    """Make a release of the table, or of a sample of it, as the candidate's policy says."""
    try:
        table, release = _trial(tables, report, replace(policy, text=text, known=None))
    except ShoalError as error:
        return Candidate(method, k, None, str(error))
    sampled = None if table is tables.table else release.rows
    found = figures_of(
        release,
        sampled=sampled,
        read_back=False,
        encodings=table.encodings,
        kept=kept_by_rules(tables, table, release.policy),
    )
    return Candidate(method, k, replace(found, warnings=(), notes=()))


def _trial(
    tables: Tables, report: ProgressCallback, policy: PolicyText
) -> "tuple[api.Prepared, api.Release[Any]]":
    """A release of the table, or of a sample of a large one, and what it is a release of."""
    wanted = policy.read()
    whole = tables.opened()
    rows = whole.table(wanted.read.file).num_rows
    table = whole if rows <= WHOLE_ROWS else sample_of(tables, wanted)
    return table, table.release(wanted, report, read_back=False)


def usefulness(
    tables: Tables,
    report: ProgressCallback,
    policy: PolicyText,
    queries: tuple[tuple[str, ...], ...],
    target: str | None,
) -> "api.Utility":
    """What a release is still good for; its counts are the user's own, then those of every column."""
    table, release = _trial(tables, report, policy)
    plain = api.utility(table.table(), release)  # not every column can be counted by
    every = [(one.column,) for one in plain.columns][:MOST_COLUMNS]
    return api.utility(
        table.table(), release, target=target, queries=[*queries, *every], progress=report
    )


# -- what one step buys


@dataclass(frozen=True)
class Price:
    """The release of a policy in three figures."""

    lost: float
    """The share of the information of the columns of the policy as it is now that is lost."""
    highest: float
    """The highest chance that somebody is found."""
    average: float
    """The chance that a row is found, averaged over all."""
    left_out: int
    sampled: int | None
    """How many rows it was counted on, where that is a sample."""


@dataclass(frozen=True)
class NoPrice:
    """Why there is no release."""

    reason: str
    impossible: bool
    """Whether the policy cannot be met; otherwise it is not a policy at all."""


def longest_texts(
    tables: Tables, report: ProgressCallback, columns: tuple[str, ...]
) -> dict[str, int]:
    """How many characters the longest value of each column has."""
    del report
    table = tables.opened().table()
    return {
        name: max((len(str(one)) for one in table.column(name).unique().to_pylist()), default=0)
        for name in columns
    }


def kept_by_rules(
    tables: Tables, prepared: "api.Prepared", policy: "api.Policy"
) -> dict[str, float]:
    """Of columns that a rule of the policy changes first, the share of their information that is left.

    What methods lose is counted from there, so both together are what a column has lost.
    """
    found = {}
    for name in policy.quasi:
        if policy.column_rules.get(name) is not None:
            before = _bits_of(tables, prepared, policy, name, ruled=False)
            after = _bits_of(tables, prepared, policy, name, ruled=True)
            found[name] = after / before if before else 1.0
    return found


def _bits_of(
    tables: Tables, prepared: "api.Prepared", policy: "api.Policy", name: str, *, ruled: bool
) -> float:
    """The bits that tell the values of a column apart, of a row; ruled: once its rule was applied."""
    rule = policy.column_rules.get(name) if ruled else None
    key = f"bits {name} {prepared is tables.sample} {policy.read.file!r} {rule!r}"
    if key not in tables.kept:
        values = prepared.table(policy.read.file).column(name).combine_chunks()
        tables.kept[key] = _information(values if rule is None else rule(values))
    found: float = tables.kept[key]
    return found


def _lost_of(
    tables: Tables,
    prepared: "api.Prepared",
    release: "api.Release[Any]",
    columns: tuple[str, ...],
) -> float:
    """The share of the information of some columns of the raw table that a release has lost.

    Of columns that it does not publish, and of what rules took away first, nothing is left.
    """
    policy = release.policy
    there = sum(_bits_of(tables, prepared, policy, name, ruled=False) for name in columns)
    left = sum(_bits_of(tables, prepared, policy, name, ruled=True) for name in policy.quasi)
    lost = release.metrics.get("relative-non-uniform-entropy") or 0.0
    return 1 - (1 - lost) * left / there if there else lost


def _lost_with_rules(
    tables: Tables, prepared: "api.Prepared", release: "api.Release[Any]"
) -> float | None:
    quasi = tuple(release.policy.quasi)
    if not any(name in release.policy.column_rules for name in quasi):
        return None
    return _lost_of(tables, prepared, release, quasi)


def _information(values: Any) -> float:
    """Bits that tell one value from another."""
    counts = values.value_counts().field("counts").to_pylist()
    rows = sum(counts)
    return sum(count / rows * log2(rows / count) for count in counts)


def price(
    tables: Tables,
    report: ProgressCallback,
    policy: PolicyText,
    text: str,
    columns: tuple[str, ...],
) -> Price | NoPrice:
    """The price of a policy; of `columns`, those that it does not publish have lost everything."""
    try:
        table, release = _trial(tables, report, replace(policy, text=text, known=None))
    except ShoalError as error:
        return NoPrice(str(error), isinstance(error, Infeasible))
    now = api.risk_change(release).now
    return Price(
        _lost_of(tables, table, release, columns),
        now.prosecutor.highest,
        now.marketer,
        release.suppressed_rows,
        None if table is tables.table else release.rows,
    )


# -- attacks


@dataclass(frozen=True)
class Learnt:
    """What an attacker who knows some columns learns from one table."""

    linked: int
    """People with at least one row that fits."""
    found: int
    """People whom only rows of one person fit; where people are not told apart, one row."""
    rows: int | None
    """The fewest rows that fit anybody; None where nobody is linked."""
    people: int | None
    """The fewest people that fit anybody; None where people are not told apart."""
    guesses: dict[str, tuple[float, float, int]]
    """Per sensitive column: how often the most common value is right, how often the best guess is, and
    how many people are pinned to one value."""


@dataclass(frozen=True)
class Attacked:
    """The same attack on the table and on the release."""

    people: int
    columns: tuple[str, ...]
    raw: Learnt
    release: Learnt
    row: dict[str, Any] | None
    """The person that was looked for, where it is one."""
    warnings: tuple[str, ...]


def attack_release(
    tables: Tables,
    report: ProgressCallback,
    policy: PolicyText,
    columns: tuple[str, ...],
    row: int | None,
    known: str | None,
) -> Attacked:
    """Look for everyone of the table, for one row of it, or for the people of another file."""
    if tables.kept.get("attacked policy") != policy:
        tables.kept["attacked release"] = tables.opened().release(policy.read(), report)
        tables.kept["attacked policy"] = policy
    release = tables.kept["attacked release"]
    table = tables.opened().table()
    people: Any = table if row is None else table.slice(row, 1)
    if known is not None:
        people = api.prepare(known).table()
    found = api.attack(release, known=people, raw=table, on=list(columns) or None, progress=report)
    assert found.raw is not None
    return Attacked(
        found.people,
        found.columns,
        _learnt(found.raw),
        _learnt(found.release),
        None if row is None else tables.opened().rows(row, 1)[0],
        found.warnings,
    )


def _learnt(linkage: "api.Linkage") -> Learnt:
    return Learnt(
        linkage.linked,
        linkage.pinned if linkage.pinned_person is None else linkage.pinned_person,
        linkage.smallest,
        linkage.smallest_people,
        {
            name: (guess.base_rate, guess.best_guess, guess.pinned)
            for name, guess in linkage.sensitive.items()
        },
    )


# -- the release


@dataclass(frozen=True)
class Order:
    """What is to be written; paths as the command line takes them."""

    policy: str
    target: str
    report: str | None
    external_report: str | None
    key: str | None
    seed_file: str | None
    force: bool
    private: str | None = None
    """The folder of the files that are not for others; it is made where it does not exist."""


@dataclass(frozen=True)
class Written:
    """What was written."""

    files: tuple[str, ...]
    """The release first, then tables beside it, reports, the key and the seed."""
    private: tuple[str, ...]
    """Those of them that are not for others."""
    rows: int
    verified: bool
    to_judge: tuple[str, ...]
    """What a preset leaves to a person."""
    warnings: tuple[str, ...]
    sums: tuple[str, ...] = ()
    """Of each file its SHA-256; empty for a table of a database."""


def write_release(tables: Tables, report: ProgressCallback, order: Order) -> Written:
    """Make the release, read it back, verify it, and put it in place with its reports."""
    return _write_release(tables, report, order)[0]


def write_release_of(
    tables: Tables, report: ProgressCallback, order: Order, policy: PolicyText
) -> tuple[Written, Figures | None]:
    """As `write_release`, with the figures of what was written: where the policy has no seed, another
    was drawn than for the trial, so other rows may stand together. None where its rows are only in
    files. They are those of the policy from now on."""
    written, release = _write_release(tables, report, order)
    if release.table is None:
        return written, None
    prepared = tables.opened()
    found = _figures_of_whole(tables, prepared, release)
    known: dict[tuple[str, str], Figures] = tables.kept.setdefault("figures", {})
    known[policy.text, prepared.fingerprint(policy.read())] = found
    return written, found


def _write_release(
    tables: Tables, report: ProgressCallback, order: Order
) -> "tuple[Written, api.Release[Any]]":
    assert tables.place is not None
    with _private_folder(order.private):
        release = api.run(
            api.command_line_place(tables.place),
            order.policy,
            api.command_line_place(order.target),
            report=order.report,
            external_report=order.external_report,
            key=order.key,
            seed_file=order.seed_file,
            force=order.force,
            progress=report,
        )
    files = [str(release.output), *map(str, release.sensitive_outputs.values())]
    files += [str(file) for file in release.reports]
    own = [str(file) for file in (release.key_output, order.seed_file) if file is not None]
    for_others = Path(order.external_report or "").stem
    private = [str(file) for file in release.reports if Path(file).stem != for_others]
    every = (*files, *own)
    written = Written(
        every,
        (*private, *own),
        release.published_rows,
        release.verified,
        release.to_judge,
        release.warnings,
        tuple(map(_sum_of, every)),
    )
    return written, release


@contextmanager
def _private_folder(folder: str | None) -> Iterator[None]:
    """A folder that only its owner can open; it goes again where nothing was written into it."""
    if folder is None:
        yield
        return
    try:
        Path(folder).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or "it cannot be made").lower()
        raise InputError(f"The folder {folder} for private files: {reason}.") from None
    try:
        yield
    except BaseException:
        with suppress(OSError):  # it has files of an earlier release
            Path(folder).rmdir()
        raise


def _sum_of(file: str) -> str:
    if not Path(file).is_file():
        return ""
    with Path(file).open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def is_as_written(tables: Tables, report: ProgressCallback, written: Written) -> bool:
    """Whether all files are still what was written and verified; tables of databases are not read."""
    del tables, report
    try:
        return written.sums == tuple(map(_sum_of, written.files))
    except OSError:
        return False
