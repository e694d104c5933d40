"""The report: one page for whoever must sign, made from a certificate and nothing else."""

import re
from dataclasses import dataclass
from typing import Any

from shoal.report import figures
from shoal.report.columns import column_views, loss_view
from shoal.report.figures import percent
from shoal.report.labels import clean, shown
from shoal.report.sizes import sizes_view
from shoal.report.verdict import cards, verdict

MOST_SAMPLED = 60
"""Columns of the sample: more make a page that nobody can scroll."""
DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")
PROMPT = "$ "
"""How a line starts that is typed and not read."""


@dataclass(frozen=True)
class RiskRow:
    """One question, its answers before and after, and these as shares to draw."""

    question: str
    before: str
    after: str
    shares: tuple[float, float]


def page(certificate: dict[str, Any]) -> str:
    """The whole page as HTML, with no raw row behind it: all it shows is in the certificate."""
    from shoal.drawing.page import render

    certificate = clean(certificate)
    return render(
        "shoal.report/report.html",
        certificate=certificate,
        verdict=verdict(certificate),
        cards=cards(certificate),
        sections=_sections(certificate),
        risks=_risks(certificate),
        loss=loss_view(certificate),
        columns=column_views(certificate),
        sizes=sizes_view(certificate),
        steps=_steps(certificate),
        limits=_limits(certificate),
        known=_known(certificate),
        MOST_SAMPLED=MOST_SAMPLED,
        percent=percent,
        shown=shown,
        chance=figures.chance,
        counted=figures.counted,
        figure=figures.figure,
        names=figures.names,
        share_of=figures.share_of,
    )


def _sections(certificate: dict[str, Any]) -> list[tuple[str, str]]:
    """Where one can go from the top: the id of a section, and its name."""
    found: list[tuple[str, str, Any]] = [
        ("warnings", "To think about", certificate["warnings"]),
        ("asked", "What was asked", True),
        ("guaranteed", "What is guaranteed", True),
        ("risk", "Risk", True),
        ("cost", "Cost", True),
        ("sizes", "Group sizes", True),
        ("suppression", "Suppression", True),
        ("personal", "People's own wishes", certificate["personal"]),
        ("anatomy", "Anatomy", certificate["anatomy"]),
        ("sample", "Sample", certificate["sample"]["rows"] or certificate["anatomy"]),
        ("reproduce", "How to repeat it", True),
    ]
    return [(place, name) for place, name, there in found if there]


def _risks(certificate: dict[str, Any]) -> list[RiskRow]:
    before, after = certificate["risk"]["before"], certificate["risk"]["after"]
    limit = percent(before["threshold"])

    def row(question: str, of: Any, say: Any = percent) -> RiskRow:
        shares = of(before), of(after)
        return RiskRow(question, say(shares[0]), say(shares[1]), shares)

    def chance(share: float) -> str:
        told = figures.chance(share)
        return f"{percent(share)} ({told})" if 0 < share < figures.EVEN else percent(share)

    rows = [
        row(
            "Chance to pick out the most exposed person",
            lambda one: one["prosecutor"]["highest"],
            chance,
        ),
        row("The same, on average", lambda one: one["prosecutor"]["average"], chance),
        row(f"People with a chance above {limit}", lambda one: one["prosecutor"]["above"]),
        row("Rows that look like no other", lambda one: one["unique_share"]),
    ]
    if before["marketer"] != before["prosecutor"]["average"]:
        rows.append(row("Right guesses of who tries everybody", lambda one: one["marketer"]))
    return rows


def _steps(certificate: dict[str, Any]) -> list[tuple[str, bool]]:
    """How to repeat the run: each line, and whether it is typed. Digests are in full below."""
    lines = [DIGEST.sub(r"\1…", line) for line in certificate["reproduce"]]
    return [(line.removeprefix(PROMPT), line.startswith(PROMPT)) for line in lines]


def _known(certificate: dict[str, Any]) -> list[str]:
    """The columns that others may know."""
    columns = certificate["cost"]["columns"]
    return [name for name, one in columns.items() if one["kind"] != "sensitive"]


def _limits(certificate: dict[str, Any]) -> list[str]:
    """What the guarantees leave open, whatever they say."""
    models = {one["model"] for one in certificate["guarantees"]}
    found = [
        "Roles that are wrong: if others know a column that the policy calls plain or sensitive, no "
        "guarantee speaks of it.",
        "Several releases of one table: they can be laid side by side. Publish one.",
    ]
    if "delta-presence" not in models:
        found.append("Being in the table: it is not hidden that somebody is part of it.")
    if not models & {"alpha", "t", "beta", "delta", "entropy-l", "recursive-l"}:
        found.append(
            "Good guesses: nothing bounds how common one sensitive value is among rows that look alike."
        )
    return found
