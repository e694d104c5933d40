"""Print what a release was found to hold, and whether a certificate fits it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from shoal.cli.render.page import (
    NARROW,
    counted,
    figure,
    lines,
    message,
    print_warnings,
    safe,
    section,
    tick,
)
from shoal.cli.render.presets import show_presets
from shoal.errors import percent

if TYPE_CHECKING:
    from shoal.api import CertificateCheck, Finding, Strength, Verification

DISTANCES = {"ordered": "by order", "hierarchical": "by tree"}
"""Short names of distances."""
MARGINS = 8
LEGEND = (
    "A larger k, l or entropy-l is stronger, a smaller figure of any other model. "
    "none: no figure holds."
)


def show_verification(console: Console, found: "Verification") -> None:
    """Print the guarantees, what else the release holds, and the check of the certificate."""
    failing = sum(not finding.holds for finding in found.findings)
    title = f"{len(found) - failing} of {counted(len(found), 'guarantee')} found"
    if found.person is not None:
        title += ", people counted" if found.people is not None else ", rows counted, not people"
    console.print()
    body: RenderableType = findings_table(console, found.findings, found.quasi)
    if found.people is not None:
        whose = f"{found.people:,}, told apart by {safe(found.person or '')}"
        body = Group(body, Text(), facts_table([("people", whose)]))
    if found.largest_share:
        guess = facts_table([("best guess", best_guess(found.largest_share))])
        body = Group(body, Text(), guess)
    console.print(panel(title, body, good=not failing, doubtful=bool(found.notes)))
    console.print()
    show_presets(console, found.presets)
    for note in found.notes:
        message(console, f"Note: {note}")
    print_warnings(console, found.warnings)
    lines(console, "Read", [str(path) for path in (found.path, *found.sensitive_files.values())])
    show_strengths(console, found.strengths, found.quasi, found.preferences)
    if found.certificate is not None:
        show_certificate(console, found.certificate)


def findings_table(console: Console, findings: "Sequence[Finding]", quasi: Sequence[str]) -> Table:
    """Return a line for each guarantee: what is required, and what was found."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("")
    table.add_column("guarantee")
    wide = console.width >= NARROW
    required = "required" if wide else "req."
    headings = [required, "found"] + (["classes", "failing"] if wide else [])
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for finding in findings:
        numbers = {
            required: f"{finding.asked:g}",
            "found": _found(finding, wide),
            "classes": f"{finding.classes:,}",
            "failing": f"{finding.failing:,}",
        }
        shown = [numbers[heading] for heading in headings]
        table.add_row(tick(console, finding.holds), _guarantee(finding, quasi), *shown)
    return table


def _found(finding: "Finding", wide: bool) -> str:
    """Return the figure that was found; of k with what it counts."""
    if not finding.classes:
        return "none"
    what = " people" if wide and finding.model == "k" and finding.counted == "people" else ""
    return f"{figure(finding.reached)}{what}"


def _guarantee(finding: "Finding", quasi: Sequence[str]) -> Text:
    """Return `l of disease`, with the quasi-identifiers unless they are all of them."""
    text = Text(finding.model, style="bold")
    if finding.of:
        text.append(f" of {safe(finding.of)}", style="default")
    if set(finding.columns) != set(quasi):
        text.append(f" on {safe(', '.join(finding.columns))}", style="default")
    return text.append(finding.details, style="dim")


def panel(title: str, body: RenderableType, good: bool, doubtful: bool = False) -> Panel:
    """Return a frame around the guarantees; `doubtful`: they hold, but not in what is meant."""
    style = ("yellow" if doubtful else "green") if good else "red"
    return Panel(body, title=title, title_align="left", border_style=style, padding=(1, 2))


def facts_table(facts: Iterable[tuple[str, str]]) -> Table:
    """Return a line for each fact, its name first."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, text in facts:
        table.add_row(name, text)
    return table


def best_guess(shares: Mapping[str, float]) -> str:
    """Return how likely a reader who finds a person's group guesses their value."""
    each = ", ".join(f"{percent(share)} for {safe(name)}" for name, share in shares.items())
    return f"right with a chance of up to {each}"


def show_strengths(
    console: Console,
    found: "Sequence[Strength]",
    quasi: Sequence[str],
    preferences: Sequence[str] = (),
) -> None:
    """Print the figures of the whole release, then a line for each sensitive column.

    preferences: the sensitive columns with personal preferences.
    """
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
        legend = [LEGEND]
        if preferences:
            names = ", ".join(map(safe, preferences))
            legend.append(f"Only l and alpha can be checked on {names}, with its preferences.")
        parts += [table, Text(), *(Text(each, style="dim") for each in legend)]
    section(console, f"What it holds{where}, required or not", Group(*parts))


def _wide(found: "Sequence[Strength]", columns: Sequence[str]) -> Table:
    """Return a line for each column, with a place for each model."""
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
    """Return a line for each column and model."""
    table = Table.grid(padding=(0, 1))
    for one in found:
        if one.of is not None:
            table.add_row(f"{_name(one)} of {safe(one.of)}", figure(one.reached))
    return table


def _name(one: "Strength") -> str:
    options = (DISTANCES.get(value, str(value)) for value in one.options.values())
    return " ".join([one.model, *options])


def show_certificate(console: Console, check: "CertificateCheck") -> None:
    """Print what the certificate is, and what it states otherwise than the release."""
    origin = safe(f"{check.file}, made {check.made} by Shoal {check.shoal}")
    text = "fits the policy, the rows and every guarantee" if check.fits else "does not fit"
    if check.fits and check.without_people:
        text = "fits the policy and the rows; what it says of people is checked only with the key"
    head = Text.assemble(tick(console, check.fits), f" {text}")
    body = (Text(safe(line)) for line in check.differences)
    section(console, "Certificate", Group(Text(origin), head, *body))
