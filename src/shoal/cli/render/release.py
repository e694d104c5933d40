"""What a run made and what it cost, for the eye."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from shoal import plugins
from shoal.cli.console import NARROW, block, counted, figure, indented, lines, safe, tick
from shoal.errors import percent
from shoal.plugins import name_of

if TYPE_CHECKING:
    from shoal.engines.measured import PersonalReport
    from shoal.release import Release
    from shoal.verification.check import Finding
from typing import TYPE_CHECKING

from shoal.cli.console import section

if TYPE_CHECKING:
    from shoal.verification.check import Strength


NONE: Mapping[str, Any] = MappingProxyType({})
BAR, NARROW_BAR = 24, 8
"""Characters of a bar that stands for all."""


def show_release(
    console: Console,
    release: "Release",
    path: Path,
    others: Mapping[str, Path] = NONE,
    reports: Sequence[Path] = (),
) -> None:
    """The summary, and where the files are; `others` by sensitive column."""
    show_summary(console, release)
    lines(console, "Written", [str(each) for each in (path, *others.values(), *reports)])


def show_summary(console: Console, release: "Release") -> None:
    """Guarantees first, then rows, groups, loss and time, then what to think about."""
    body = Group(
        findings_table(console, release.findings, release.policy.quasi), Text(), _facts(release)
    )
    title = "Verified"
    if console.width >= NARROW:
        files = "files" if release.policy.publish == "anatomy" else "file"
        title += f": every guarantee was found in the written {files}"
    console.print()
    console.print(_panel(title, body, good=True))
    console.print()
    block(console, _losses(console, release))
    for name, report in release.personal.items():
        block(console, _personal(name, report))
    for words, style in (
        *((f"Note: {note}", "") for note in release.notes),
        *((f"Warning: {warning}", "yellow") for warning in release.warnings),
    ):
        block(console, _told(words, style))


def _told(words: str, style: str) -> RenderableType:
    """A note: its first line, and the others below it, each on its own."""
    first, *others = (Text(safe(line.strip()), style=style) for line in words.split("\n"))
    return Group(first, *(indented(line) for line in others))


def show_findings(
    console: Console,
    findings: "Sequence[Finding]",
    quasi: Sequence[str],
    path: Path,
    others: Mapping[str, Path] = NONE,
    shares: Mapping[str, float] = NONE,
) -> None:
    """Whether a release holds what its policy promises."""
    failing = sum(not finding.holds for finding in findings)
    title = f"{len(findings) - failing} of {counted(len(findings), 'guarantee')} found"
    console.print()
    body: RenderableType = findings_table(console, findings, quasi)
    if shares:
        body = Group(body, Text(), _facts_table([("best guess", best_guess(shares))]))
    console.print(_panel(title, body, good=not failing))
    console.print()
    lines(console, "Read", [str(each) for each in (path, *others.values())])


def findings_table(console: Console, findings: "Sequence[Finding]", quasi: Sequence[str]) -> Table:
    """Asked against found, a line each."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("")
    table.add_column("guarantee")
    headings = ["asked", "found"] + (["classes", "failing"] if console.width >= NARROW else [])
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for finding in findings:
        numbers = {
            "asked": f"{finding.asked:g}",
            "found": figure(finding.reached) if finding.classes else "none",
            "classes": f"{finding.classes:,}",
            "failing": f"{finding.failing:,}",
        }
        shown = [numbers[heading] for heading in headings]
        table.add_row(tick(console, finding.holds), _guarantee(finding, quasi), *shown)
    return table


def _guarantee(finding: "Finding", quasi: Sequence[str]) -> Text:
    """`l of disease`, and the columns it speaks of unless they are all."""
    words = Text(finding.model, style="bold")
    if finding.of:
        words.append(f" of {safe(finding.of)}", style="default")
    if set(finding.columns) != set(quasi):
        words.append(f" on {safe(', '.join(finding.columns))}", style="default")
    return words.append(finding.details, style="dim")


def _panel(title: str, body: RenderableType, good: bool) -> Panel:
    style = "green" if good else "red"
    return Panel(body, title=title, title_align="left", border_style=style, padding=(1, 2))


def best_guess(shares: Mapping[str, float]) -> str:
    """How likely a reader who finds a person's group guesses their value."""
    each = ", ".join(f"{percent(share)} for {safe(name)}" for name, share in shares.items())
    return f"right with a chance of up to {each}"


def _facts_table(facts: Iterable[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, words in facts:
        table.add_row(name, words)
    return table


def _facts(release: "Release") -> Table:
    largest, mean = release.metrics.get("largest-group"), release.metrics.get("mean-group")
    out, suppressed = release.published_rows, release.suppressed_rows
    sizes = f" of {mean:,.1f} rows on average, {largest:,.0f} at most" if mean and largest else ""
    facts = [
        ("rows", f"{release.rows:,} in, {out:,} out, {suppressed:,} suppressed"),
        ("groups", f"{release.groups:,}{sizes}"),
        ("classes", f"{release.published_classes:,} that a reader can tell apart"),
        ("method", f"{release.method}, seed {release.seed}"),
        ("seconds", _seconds(release.seconds)),
    ]
    if release.largest_share:
        facts.insert(3, ("best guess", best_guess(release.largest_share)))
    for metric in release.policy.metrics:
        figure = release.metrics[name_of(type(metric))]
        facts.insert(-1, (name_of(type(metric)), _measured(metric, figure, release)))
    return _facts_table(facts)


def _measured(metric: Any, figure: float | None, release: "Release") -> str:
    """A metric that the policy asks for."""
    name = name_of(type(metric))
    if figure is None:
        missing = name == "cm" and release.policy.target is None
        return "does not apply" + (": the policy names no target" if missing else "")
    return f"{figure:.3g}, mean relative error" if name == "query-error" else f"{figure:.6g}"


def _seconds(seconds: Mapping[str, float]) -> str:
    steps = ", ".join(f"{step} {taken:.2f}" for step, taken in seconds.items())
    return f"{sum(seconds.values()):.2f} ({steps})"


def _losses(console: Console, release: "Release") -> RenderableType:
    if release.policy.publish == "anatomy" and not release.suppressed_rows:
        words = "none in quasi columns: their values are exact. Sensitive values are apart."
        return Text.assemble(("Loss ", "bold"), words)
    mean = release.metrics.get("mean-ncp") or 0.0
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for name, loss in release.column_loss.items():
        table.add_row(safe(name), _bar(console, loss), percent(loss))
    head = Text.assemble(
        ("Loss ", "bold"),
        f"{percent(mean)} of the detail in quasi columns (mean NCP), by column:",
    )
    return Group(head, indented(table))


def _personal(name: str, report: "PersonalReport") -> RenderableType:
    """What people's own wishes changed in one column."""
    rows = f"{counted(report.raised_rows, 'value')} raised as people asked"
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


# What a release really holds, asked or not, for the eye.


SHORT = {"ordered": "by order", "hierarchical": "by tree"}
"""Distances in words that leave room."""
MARGINS = 8
LEGEND = (
    "A larger k, l or entropy-l is stronger, a smaller figure of any other model. "
    "none: no figure holds."
)


def show_strengths(console: Console, found: "Sequence[Strength]", quasi: Sequence[str]) -> None:
    """The figures of the whole release, then a line for each sensitive column."""
    if not found:
        return
    whole = ", ".join(f"{_name(one)} {figure(one.reached)}" for one in found if one.of is None)
    where, parts = " in groups", list[RenderableType]()  # of an Anatomy release
    if whole:
        where, parts = "", [Text(f"{whole} on {counted(len(quasi), 'quasi column')}"), Text()]
    columns = list(dict.fromkeys(one.of for one in found if one.of is not None))
    if columns:
        table = _wide(found, columns)
        if console.measure(table).maximum > console.width - MARGINS:
            table = _narrow(found)
        parts += [table, Text(), *(Text(each, style="dim") for each in _legend(found))]
    section(console, f"What it holds{where}, asked or not", Group(*parts))


def _legend(found: "Sequence[Strength]") -> list[str]:
    """What the figures mean, and why some places have none."""
    asked = {one.of: {each.model for each in found if each.of == one.of} for one in found if one.of}
    wider = {name for name, model in plugins.models().items() if model.accepts_wider_values}
    heard = [safe(of) for of, models in asked.items() if of and models <= wider]
    if not heard:
        return [LEGEND]
    return [LEGEND, f"Only l and alpha can be told of {', '.join(heard)}: wishes were heard there."]


def _wide(found: "Sequence[Strength]", columns: Sequence[str]) -> Table:
    """A line for each column, a place for each model."""
    models = list(dict.fromkeys(one.model for one in found))
    by_model = sorted(found, key=lambda one: models.index(one.model))
    names = list(dict.fromkeys(_name(one) for one in by_model if one.of is not None))
    reached = {(one.of, _name(one)): figure(one.reached) for one in found}
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("", overflow="fold")
    for name in names:
        table.add_column(name.replace("by ", "by\n"), justify="right")
    for column in columns:
        table.add_row(safe(column), *(reached.get((column, name), "") for name in names))
    return table


def _narrow(found: "Sequence[Strength]") -> Table:
    table = Table.grid(padding=(0, 1))
    for one in found:
        if one.of is not None:
            table.add_row(f"{_name(one)} of {safe(one.of)}", figure(one.reached))
    return table


def _name(one: "Strength") -> str:
    return " ".join([one.model, *(SHORT.get(value, str(value)) for value in one.options.values())])


# Whether a certificate fits, for the eye.


def show_certificate(
    console: Console, path: Path, told: Mapping[str, Any], differences: Sequence[str]
) -> None:
    """What it is, and what it tells otherwise."""
    made = safe(f"{path}, made {told['made']} by Shoal {told['shoal']}")
    words = "fits the policy, the rows and every guarantee" if not differences else "does not fit"
    head = Text.assemble(tick(console, not differences), f" {words}")
    lines = (Text(safe(line)) for line in differences)
    section(console, "Certificate", Group(Text(made), head, *lines))
