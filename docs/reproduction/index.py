"""Writes README.md beside this file from the results in the folders beside it."""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NAMES = ("classfly-plus", "l-clustering", "personalised", "flexible-partition")
WORDS = {True: "held", False: "**did not hold**", None: "cannot tell"}
HEAD = """# The papers' experiments, run again

Four papers describe methods that Shoal has. `shoal reproduce NAME` runs their experiments again; this is
what full runs found. What the papers claim is judged by our figures, and some of it did not hold. Where
a claim is not in figures ("little", "about the same"), the threshold is ours and stands in it. Each
folder holds the page with all figures and their data (`index.html`), the figures as SVG, and the same as
CSV and JSON. [How to run them](../commands.md#shoal-reproduce).
"""


def text() -> str:
    """The whole page."""
    found = [_read(name) for name in NAMES if (HERE / name / "result.json").exists()]
    return "\n".join([HEAD, *_overview(found), *(line for one in found for line in _part(one))])


def _read(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((HERE / name / "result.json").read_text(encoding="utf-8"))
    return data


def _overview(found: list[dict[str, Any]]) -> list[str]:
    lines = ["| paper | held | did not hold | cannot tell | data |", "|---|--:|--:|--:|---|"]
    for one in found:
        held = [claim["held"] for claim in one["claims"]]
        counts = " | ".join(str(held.count(value)) for value in WORDS)
        lines.append(f"| [{one['title']}](#{one['name']}) | {counts} | {one['data']} |")
    return [*lines, ""]


def _part(one: dict[str, Any]) -> list[str]:
    name, versions = one["name"], one["versions"]
    kind = "A quick run" if one["quick"] else "A full run"
    return [
        f"## {name}",
        "",
        f"{one['title']}. {one['source']}.",
        "",
        f"{kind} of {one['made']}, {one['seconds'] / 60:.1f} minutes; {one['machine']}; Shoal "
        f"{versions['shoal']}, Python {versions['python']}. Data: {one['data']}.",
        "",
        "| claim | | our figures |",
        "|---|---|---|",
        *(
            f"| {_cell(claim['text'])} | {WORDS[claim['held']]} | {_cell(claim['found'])} |"
            for claim in one["claims"]
        ),
        "",
        *(f"- {note}" for note in one["notes"]),
        "",
        *(
            line
            for figure in one["figures"]
            for line in (
                f"**{figure['title']}** ({figure['shows']}; [data]({name}/{figure['name']}.csv))",
                "",
                f"![{figure['title']}]({name}/{figure['name']}.svg)",
                "",
            )
        ),
    ]


def _cell(words: str) -> str:
    return words.replace("|", "\\|")


if __name__ == "__main__":
    (HERE / "README.md").write_text(text(), encoding="utf-8")
