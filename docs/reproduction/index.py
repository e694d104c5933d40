"""Writes README.md beside this file from the results in the folders beside it."""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NAMES = (
    "classfly-plus",
    "l-clustering",
    "personalised",
    "flexible-partition",
    "further-questions",
)
WORDS = {
    "holds": "holds",
    "does not hold": "**does not hold**",
    "depends": "*depends*",
    "cannot tell": "cannot tell",
}
HEAD = """# The papers' experiments, run again

Four papers describe methods that Shoal has. `shoal reproduce NAME` runs their experiments again; this is
what full runs found. [How to run them](../commands.md#shoal-reproduce).

Every claim gets one of four verdicts, with the reason in a sentence:

- **holds**: our figures say so.
- **does not hold**: our figures say otherwise, in all settings that we tried.
- **depends** on a setting that the paper does not give, such as a hierarchy or an order of values: it
  holds in some of the settings that we tried, which were chosen beforehand, and not in others.
- **cannot tell**: our run cannot decide it; mostly a claim on times, where ours are a few milliseconds.

Where a paper makes a claim without a figure ("little", "about the same"), the threshold is ours, and is
given in the claim. A verdict is about our run of an experiment, not about the paper: its authors had
their own tables, trees and programs. This applies to running times most of all.

Settings were chosen before the runs. Three rules of judging were changed after a first run was seen:
that naive is the slowest is judged over all sizes together instead of at each; times of L-incognito with
8 quasi-identifiers, a few milliseconds, became "cannot tell"; and losses of L-clustering are means over
five seeds instead of two.

Each folder holds the page with all figures and their data (`index.html`), the figures as SVG, and the
same as CSV and JSON.
"""


def text() -> str:
    """The whole page."""
    found = [_read(name) for name in NAMES if (HERE / name / "result.json").exists()]
    papers = [one for one in found if one["is_paper"]]
    others = [one for one in found if not one["is_paper"]]
    lines = [HEAD, *_overview(papers), *_summary(papers)]
    if others:
        lines += [
            "What the papers leave open is measured in [further questions](#further-questions), where "
            "the claims are expectations of ours.",
            "",
        ]
    return "\n".join([*lines, *(line for one in found for line in _part(one))])


def _read(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((HERE / name / "result.json").read_text(encoding="utf-8"))
    return data


def _overview(found: list[dict[str, Any]]) -> list[str]:
    lines = [f"| paper | {' | '.join(WORDS)} | data |", "|---|--:|--:|--:|--:|---|"]
    for one in found:
        given = [claim["verdict"] for claim in one["claims"]]
        counts = " | ".join(str(given.count(verdict)) for verdict in WORDS)
        lines.append(f"| [{one['title']}](#{one['name']}) | {counts} | {one['data']} |")
    every = [claim["verdict"] for one in found for claim in one["claims"]]
    counts = " | ".join(str(every.count(verdict)) for verdict in WORDS)
    return [*lines, f"| all {len(every)} claims | {counts} | |", ""]


def _summary(found: list[dict[str, Any]]) -> list[str]:
    """Every claim with its verdict and the reason; the figures stand below."""
    lines = ["## All claims", "", "| paper | claim | verdict | why |", "|---|---|---|---|"]
    for one in found:
        for i, claim in enumerate(one["claims"]):
            name = f"[{one['name']}](#{one['name']})" if i == 0 else ""
            words = (claim["text"], WORDS[claim["verdict"]], claim["reason"])
            lines.append(f"| {name} | {' | '.join(map(_cell, words))} |")
    return [*lines, ""]


def _part(one: dict[str, Any]) -> list[str]:
    name, versions = one["name"], one["versions"]
    kind = "A quick run" if one["quick"] else "A full run"
    return [
        f"## {name}",
        "",
        f"{one['title']}. {one['source']}.",
        "",
        f"{kind} of {one['made']}, {one['seconds'] / 60:.1f} minutes of processor time; "
        f"{one['machine']}; Shoal {versions['shoal']}, Python {versions['python']}. "
        f"Data: {one['data']}.",
        "",
        f"| {'claim' if one['is_paper'] else 'expectation'} | verdict | why | our figures |",
        "|---|---|---|---|",
        *(
            "| "
            + " | ".join(
                map(
                    _cell,
                    (claim["text"], WORDS[claim["verdict"]], claim["reason"], claim["found"]),
                )
            )
            + " |"
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
