"""Print what became of the presets of a policy, and what is left to a person."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from shoal.cli.render.page import figure, indented, safe, section, tick

if TYPE_CHECKING:
    from shoal.api import PresetOutcome


def show_presets(console: Console, found: "Sequence[PresetOutcome]") -> None:
    """Print every preset: what was checked, and what a person must judge."""
    for outcome in found:
        section(
            console, f"Preset {safe(outcome.name)}: {safe(outcome.title)}", _body(console, outcome)
        )


def _body(console: Console, outcome: "PresetOutcome") -> RenderableType:
    checks = Table.grid(padding=(0, 1))
    checks.add_column()
    checks.add_column()
    for check in outcome.checks:
        if check.holds is None:
            mark = "no column" if console.options.ascii_only else "–"
            checks.add_row(Text(mark, style="yellow"), safe(f"{check.unchecked} ({check.text})"))
            continue
        text = safe(check.text)
        if check.found is not None:
            text += f" Found: {figure(check.found)}."
        checks.add_row(tick(console, check.holds), text)
        for violation in check.violations:
            checks.add_row("", Text(safe(violation.text), style="red"))
    judged = Table.grid(padding=(0, 1))
    for sentence in outcome.to_judge:
        judged.add_row("-", safe(sentence))
    parts: list[RenderableType] = [checks]
    if outcome.to_judge:
        parts += [Text("To be judged by a person:", style="dim"), indented(judged)]
    return Group(*parts)
