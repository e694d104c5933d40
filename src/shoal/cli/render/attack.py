"""Print what an attacker learns from a release, and from the raw table."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shoal.cli.render.page import NARROW, block, counted, print_warnings, safe, section
from shoal.errors import percent

if TYPE_CHECKING:
    from shoal.api import Attack, Guess


def show_attack(console: Console, found: "Attack", known: Path) -> None:
    """Print who is found, how many candidates there are, and how good a guess is."""
    console.print()
    people = counted(found.people, "known person").replace("persons", "people")
    block(console, Text.assemble((safe(known.name), "bold"), f": {people}"))
    columns = ", ".join(map(safe, found.columns))
    block(console, Text.assemble(("linked by ", "dim"), columns))
    block(console, _comparison(found))
    section(console, "What an attacker learns", _figures(console, found))
    print_warnings(console, found.warnings)


def _comparison(found: "Attack") -> Text:
    """Return how the attack compares to what the policy guarantees."""
    if found.highest_risk is None:
        words = Text("nobody is found: no row of the release fits a known person")
    else:
        words = Text.assemble(("highest risk found: ", "dim"), _chance(found.highest_risk))
        if found.highest_risk < 1:
            words.append(" people" if found.unit == "person" else " rows")
    if found.guaranteed_risk is not None and found.guaranteed_risk < 1:
        on = " on quasi columns alone" if found.unguarded else ""
        words.append(f"; the policy guarantees at most {_chance(found.guaranteed_risk)}{on}")
    return words


def _chance(share: float) -> str:
    return "certain" if share >= 1 else f"1 in {1 / share:,.0f}"


def _figures(console: Console, found: "Attack") -> Table:
    """Return a line for each figure: the raw table, if it was given, and the release."""
    both = [one for one in (found.raw, found.release) if one is not None]
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("")
    if found.raw is not None:
        table.add_column("raw table", justify="right", no_wrap=True)
    table.add_column("release", justify="right", no_wrap=True)

    def people(count: int) -> str:
        share = f" ({percent(count / found.people)})" if console.width >= NARROW else ""
        return f"{count:,}{share}"

    table.add_row("people with a candidate row", *(people(one.linked) for one in both))
    table.add_row("pinned to one row", *(_alarm(people(one.pinned), one.pinned) for one in both))
    if any(one.pinned_person is not None for one in both):
        counts = [one.pinned_person for one in both]
        cells = ["unknown" if n is None else _alarm(people(n), n) for n in counts]
        table.add_row("pinned to one person's rows", *cells)
    for name in found.release.sensitive:
        guesses = [one.sensitive.get(name) for one in both]
        cells = ["" if g is None else _alarm(people(g.pinned), g.pinned) for g in guesses]
        table.add_row(f"pinned to one {safe(name)}", *cells)
    table.add_row("fewest candidates", *(_number(one.smallest) for one in both))
    if any(one.smallest_people is not None for one in both):
        counts = [one.smallest_people for one in both]
        table.add_row(
            "fewest people among them", *("unknown" if n is None else _number(n) for n in counts)
        )
    table.add_row("median candidates", *(_number(one.median) for one in both))
    for name in found.release.sensitive:
        guesses = [one.sensitive.get(name) for one in both]
        table.add_row()
        table.add_row(f"{safe(name)} guessed right", *(_right(g) for g in guesses))
        base = [None if g is None else _shown(g)[0] for g in guesses]
        table.add_row(
            Text("  by the most frequent value", style="dim"),
            *(Text("" if b is None else percent(b), style="dim") for b in base),
        )
    return table


def _alarm(words: str, count: int) -> Text:
    return Text(words, style="red" if count else "green")


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:,.1f}".removesuffix(".0")


def _shown(guess: "Guess") -> tuple[float, float]:
    """Return base rate and best guess: as measured if that is known, otherwise as expected."""
    if guess.measured_base_rate is None or guess.measured_best_guess is None:
        return guess.base_rate, guess.best_guess
    return guess.measured_base_rate, guess.measured_best_guess


def _right(guess: "Guess | None") -> str:
    return "" if guess is None else percent(_shown(guess)[1])
