"""What the demo made, and where to go from there."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from shoal.cli.console import safe
from shoal.cli.show_release import show_release

if TYPE_CHECKING:
    from shoal.release import Release
    from shoal.sample import SamplePaths


def show_demo(console: Console, release: "Release", sample: "SamplePaths", target: Path) -> None:
    """The release, its files and some commands to try."""
    show_release(console, release, target)
    table, policy = safe(str(sample.table)), safe(str(sample.policy))
    files = Table.grid(padding=(0, 2))
    files.add_column(no_wrap=True)
    files.add_column(style="dim")
    files.add_row(table, "made-up patients, as a hospital would hold them")
    files.add_row(policy, "what may be published, and why: read it, it is short")
    files.add_row(safe(str(target)), "the release")
    console.print(Padding(files, (0, 2, 1, 2)))
    console.print(Text("  Try next", style="bold"))
    for command in (
        f"shoal inspect {table}",
        f"shoal verify {safe(str(target))} {policy}",
        f"shoal run {table} {policy} -o other.csv --method mondrian",
        f"shoal init {table} -o my-policy.yaml",
    ):
        console.print(Text(f"    {command}"), soft_wrap=True)
    console.print()
