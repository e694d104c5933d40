"""Print what a run made and what it cost."""

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from shoal.cli.render.page import (
    NARROW,
    block,
    counted,
    indented,
    lines,
    message,
    print_warnings,
    safe,
    wrapped,
)
from shoal.cli.render.presets import show_presets
from shoal.cli.render.verification import best_guess, facts_table, findings_table, panel
from shoal.errors import percent

if TYPE_CHECKING:
    from shoal.api import Metric, PersonalReport, Release, Weighted

BAR, NARROW_BAR = 16, 8
"""Characters of a full bar."""
WIDE = 78
"""From this width on every figure has its column."""
MOST_COLUMNS = 200
"""Columns of which the detail is shown."""


KEEP_SEED = (
    "Note: the seed was drawn at random. To be able to repeat this very release, run with --seed-file "
    "FILE, which keeps the seed in a private file, or with --show-seed."
)


KEEP_KEY = (
    "Note: without a key only rows can be counted in the written file. To have people counted again by "
    "`shoal verify`, run with --key FILE, which keeps whose row is whose in a private file."
)


def show_applied(console: Console, release: "Release[Any]", target: Any) -> None:
    """Print the summary of a release with the labels of a mapping, and where it is."""
    show_summary(console, release)
    lines(console, "Written", [str(target)])


def show_mapping(console: Console, path: Any) -> None:
    """Print where the mapping is, and what to think of before it is handed on."""
    lines(console, "Mapping, for your own use: read it before you hand it on", [str(path)])


def show_release(console: Console, release: "Release[Any]", show_seed: bool = False) -> None:
    """Print the summary, and where the files are; the seed only where asked for."""
    show_summary(console, release)
    seed = release.run.private_seed
    if seed.drawn and seed.file is None and not show_seed:
        message(console, KEEP_SEED)
    written = (release.output, *release.sensitive_outputs.values(), *release.reports)
    lines(console, "Written", [str(path) for path in written])
    if release.key_output is not None:
        lines(console, "Key, private: do not publish it", [str(release.key_output)])
    elif release.people is not None:
        message(console, KEEP_KEY)
    if seed.file is not None:
        lines(console, "Seed, private: do not publish it", [str(seed.file)])
    if show_seed:
        lines(console, "Seed, private: whoever knows it can repeat the run", [str(release.seed)])


def show_summary(console: Console, release: "Release[Any]") -> None:
    """Print guarantees first, then rows, groups and time, then what is left of the detail."""
    guarantees = findings_table(console, release.findings, release.policy.quasi)
    title = "Verified"
    if console.width >= NARROW:
        files = "files" if release.policy.publish == "anatomy" else "file"
        title += f": every guarantee was found in the written {files}"
        if release.people is not None:
            title += ", counted in people"
    console.print()
    console.print(panel(title, Group(guarantees, Text(), _facts(release)), good=True))
    console.print()
    block(console, _detail(console, release))
    if release.levels:
        block(console, _levels(console, release))
    if release.weighted is not None:
        block(console, _population(release.weighted))
    for name, report in release.personal.items():
        block(console, _personal(name, report))
    show_presets(console, release.presets)
    for note in release.notes:
        message(console, f"Note: {note}")
    print_warnings(console, release.warnings)


def _facts(release: "Release[Any]") -> Table:
    largest, mean = release.metrics.get("largest-group"), release.metrics.get("mean-group")
    out, suppressed = release.published_rows, release.suppressed_rows
    sizes = f" of {mean:,.1f} rows on average, {largest:,.0f} at most" if mean and largest else ""
    if sizes and (people := release.measured.group_people) is not None:
        sizes = (
            f" of {mean:,.1f} rows ({people.mean:,.1f} people) on average, {largest:,.0f} "
            f"({people.largest:,}) at most"
        )
    facts = [
        ("rows", f"{release.rows:,} in, {out:,} out, {suppressed:,} suppressed"),
        *_people(release),
        ("groups", f"{release.groups:,}{sizes}"),
        ("classes", f"{release.published_classes:,} that a reader can tell apart"),
        ("alone", _alone(release)),
        ("method", release.method),
        ("seconds", _seconds(release.seconds)),
    ]
    if release.largest_share:
        facts.insert(3, ("best guess", best_guess(release.largest_share)))
    for metric in release.policy.metrics:
        figure = release.metrics[metric.name]
        facts.insert(-1, (metric.name, _measured(metric, figure, release)))
    return facts_table(facts)


def _people(release: "Release[Any]") -> list[tuple[str, str]]:
    """Return how many people there were and are, where they were counted."""
    if release.people is None:
        return []
    gone = f"{release.suppressed_people:,} without any row left"
    together = ", all rows of a person together" if release.policy.together else ""
    return [
        ("people", f"{release.people:,} in, {release.published_people:,} out, {gone}{together}")
    ]


def _alone(release: "Release[Any]") -> str:
    """Return how many are alone once plain columns are known too, and once sensitive ones are."""
    found = release.disclosure
    share = f" ({percent(found.share)})" if found.alone else ""
    more = ""
    if found.alone_with_sensitive > found.alone:
        more = f", {found.alone_with_sensitive:,} with sensitive ones"
    return f"{found.alone:,} {found.units}{share} on quasi and plain columns{more}"


def _measured(metric: "Metric", figure: float | None, release: "Release[Any]") -> str:
    """Return the figure of a metric that the policy names."""
    name = metric.name
    if figure is None:
        missing = name == "cm" and release.policy.target is None
        return "does not apply" + (": the policy has no target" if missing else "")
    return f"{figure:.3g}, mean relative error" if name == "query-error" else f"{figure:.6g}"


def _seconds(seconds: Mapping[str, float]) -> str:
    steps = ", ".join(f"{step} {taken:.2f}" for step, taken in seconds.items())
    return f"{sum(seconds.values()):.2f} ({steps})"


def _detail(console: Console, release: "Release[Any]") -> RenderableType:
    """Return what is left of the quasi columns: exact cells first, then what the others say."""
    if release.policy.publish == "anatomy" and not release.suppressed_rows:
        words = (
            "all in quasi columns: their values are exact. Sensitive values are in other tables."
        )
        return Text.assemble(("Detail ", "bold"), words)
    wide = console.width >= WIDE
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("column", overflow="fold")
    if wide:
        table.add_column("", no_wrap=True)
    table.add_column("exact", justify="right", no_wrap=True)
    if console.width >= NARROW:
        table.add_column("otherwise", overflow="fold")
        table.add_column("labels", justify="right", no_wrap=True)
    if wide:
        table.add_column("NCP", justify="right", no_wrap=True)
    for name, column in islice(release.detail.columns.items(), MOST_COLUMNS):
        cells: list[str | Text] = [
            safe(name),
            *([_bar(console, column.exact)] if wide else []),
            percent(column.exact),
            *([column.typical, f"{column.labels:,}"] if console.width >= NARROW else []),
            *([percent(release.column_loss.get(name, 0.0))] if wide else []),
        ]
        table.add_row(*cells)
    lost = release.metrics.get("relative-non-uniform-entropy")
    information = "" if lost is None else f"; {percent(lost)} of the information lost"
    words = f"Detail {release.detail.words}, of the cells in quasi columns{information}"
    head = wrapped(console, words, indent=4)
    head.stylize("bold", 0, len("Detail"))
    return Group(head, indented(table), *_others(len(release.detail.columns)))


def _others(columns: int) -> list[RenderableType]:
    """Return a line for the columns of a wide table that are not shown."""
    if columns <= MOST_COLUMNS:
        return []
    words = counted(columns - MOST_COLUMNS, "other column")
    return [indented(Text(f"{words}: all are in the report, and in what --json prints"))]


def _levels(console: Console, release: "Release[Any]") -> RenderableType:
    """Return the level that a full-domain method chose for each column."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("column", overflow="fold")
    table.add_column("level", no_wrap=True)
    table.add_column("published", overflow="fold")
    table.add_column("for example", overflow="fold")
    arrow = "->" if console.options.ascii_only else "→"
    for name, one in islice(release.levels.items(), MOST_COLUMNS):
        example = "" if one.label is None else safe(one.label)
        if one.value is not None:
            example = f"{safe(one.value)} {arrow} {example}"
        table.add_row(safe(name), f"{one.level} of {one.highest}", safe(one.name), example)
    head = Text.assemble(("Levels ", "bold"), "chosen for the whole column:")
    return Group(head, indented(table), *_others(len(release.levels)))


def _population(found: "Weighted") -> RenderableType:
    """Return the risk in the population that sampling weights suggest, before and after."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("")
    both = [found.before, *(() if found.after is None else (found.after,))]
    for heading in ("before", "after")[: len(both)]:
        table.add_column(heading, justify="right", no_wrap=True)
    about, least, most = ("about ", "at least ", "at most ") if both[0].rounded else ("", "", "")
    fewest = (f"{least}{one.smallest_class:,.1f}" for one in both)
    table.add_row("fewest people in a class", *fewest)
    table.add_row("highest individual risk", *(f"{most}{percent(one.highest)}" for one in both))
    expected = (f"{about}{one.expected:,.2f}" for one in both)
    table.add_row("re-identifications to expect", *expected)
    population = f"{about}{both[-1].population:,.0f}"
    people = f"{population} people that the rows stand for, estimated by their weights:"
    return Group(Text.assemble(("Population ", "bold"), people), indented(table))


def _personal(name: str, report: "PersonalReport") -> RenderableType:
    """Return what personal preferences changed in one column."""
    rows = f"{counted(report.raised_rows, 'value')} generalised by preference"
    head = Text.assemble(("Personal ", "bold"), f"{safe(name)}: {rows}")
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    for label in report.labels:
        table.add_row(
            safe(label.label),
            f"{label.rows:,}",
            f"level {label.level}, can mean {label.effective_leaves} of {label.leaves}",
        )
    facts = []
    if report.diversity_before is not None:
        facts.append(f"diversity {report.diversity_before} before, {report.diversity_after} after")
    if report.recognition_rate is not None and report.effective_recognition_rate is not None:
        rate, known = report.recognition_rate, report.effective_recognition_rate
        facts.append(f"recognition rate {percent(rate)}, {percent(known)} knowing the rule")
    return Group(head, indented(table), indented(Text("\n".join(facts))))


def _bar(console: Console, share: float) -> Text:
    width = BAR if console.width >= NARROW else NARROW_BAR
    if console.options.ascii_only:
        full = round(share * width)
        return Text("#" * full + "." * (width - full))
    eighths = round(share * width * 8)
    full, rest = divmod(eighths, 8)
    drawn = "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
    return Text.assemble((drawn, "cyan"), ("·" * (width - len(drawn)), "dim"))
