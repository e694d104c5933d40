"""Whether a certificate fits, for the eye."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.text import Text

from shoal.cli.console import safe, section, tick


def show_certificate(
    console: Console, path: Path, told: Mapping[str, Any], differences: Sequence[str]
) -> None:
    """What it is, and what it tells otherwise."""
    made = safe(f"{path}, made {told['made']} by Shoal {told['shoal']}")
    words = "fits the policy, the rows and every guarantee" if not differences else "does not fit"
    head = Text.assemble(tick(console, not differences), f" {words}")
    lines = (Text(safe(line)) for line in differences)
    section(console, "Certificate", Group(Text(made), head, *lines))
