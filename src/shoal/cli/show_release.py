"""What a run made and what it cost, for the eye."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from shoal.cli.console import NARROW, block, counted, indented, lines, percent, safe, tick
from shoal.plugins import name_of

if TYPE_CHECKING:
    from shoal.release import Release
    from shoal.verification.check import Finding

BAR, NARROW_BAR = 24, 8
"""Characters of a bar that stands for all."""


def show_release(console: Console, release: "Release", path: Path) -> None:
    """The summary, and where the file is."""
    show_summary(console, release)
    lines(console, "Written", [str(path)])


def show_summary(console: Console, release: "Release") -> None:
    """Guarantees first, then rows, groups, loss and time, then what to think about."""
    body = Group(
        findings_table(console, release.findings, release.policy.quasi), Text(), _facts(release)
    )
    title = "Verified"
    if console.width >= NARROW:
        title += ": every guarantee was found in the written file"
    console.print()
    console.print(_panel(title, body, good=True))
    console.print()
    block(console, _losses(console, release))
    for words, style in (
        *((f"Note: {note}", "") for note in release.notes),
        *((f"Warning: {warning}", "yellow") for warning in release.warnings),
    ):
        block(console, Text(safe(words), style=style))


def show_findings(
    console: Console, findings: "Sequence[Finding]", quasi: Sequence[str], path: Path
) -> None:
    """Whether a release holds what its policy promises."""
    failing = sum(not finding.holds for finding in findings)
    title = f"{len(findings) - failing} of {counted(len(findings), 'guarantee')} found"
    console.print()
    console.print(_panel(title, findings_table(console, findings, quasi), good=not failing))
    console.print()
    lines(console, "Read", [str(path)])


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
            "found": f"{finding.reached:g}" if finding.classes else "none",
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
    return words


def _panel(title: str, body: RenderableType, good: bool) -> Panel:
    style = "green" if good else "red"
    return Panel(body, title=title, title_align="left", border_style=style, padding=(1, 2))


def _facts(release: "Release") -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    largest, mean = release.metrics.get("largest-group"), release.metrics.get("mean-group")
    out, suppressed = release.published_rows, release.suppressed_rows
    table.add_row("rows", f"{release.rows:,} in, {out:,} out, {suppressed:,} suppressed")
    sizes = f" of {mean:.1f} rows on average, {largest:.0f} at most" if mean and largest else ""
    table.add_row("groups", f"{release.groups:,}{sizes}")
    table.add_row("classes", f"{release.published_classes:,} that a reader can tell apart")
    table.add_row("method", f"{release.method}, seed {release.seed}")
    for metric in release.policy.metrics:
        name = name_of(type(metric))
        figure = release.metrics[name]
        table.add_row(name, "does not apply" if figure is None else f"{figure:.6g}")
    table.add_row("seconds", _seconds(release.seconds))
    return table


def _seconds(seconds: Mapping[str, float]) -> str:
    steps = ", ".join(f"{step} {taken:.2f}" for step, taken in seconds.items())
    return f"{sum(seconds.values()):.2f} ({steps})"


def _losses(console: Console, release: "Release") -> RenderableType:
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


def _bar(console: Console, share: float) -> Text:
    width = BAR if console.width >= NARROW else NARROW_BAR
    if console.options.ascii_only:
        full = round(share * width)
        return Text("#" * full + "." * (width - full))
    eighths = round(share * width * 8)
    full, rest = divmod(eighths, 8)
    drawn = "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
    return Text.assemble((drawn, "cyan"), ("·" * (width - len(drawn)), "dim"))
