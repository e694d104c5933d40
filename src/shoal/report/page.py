"""The page of a report: made from a certificate and nothing else, for the person who signs it."""

import re
from dataclasses import dataclass, field
from typing import Any

from shoal.errors import counted
from shoal.report.charts import generality, pairs
from shoal.report.detail import detail_sentence, detail_view, detail_words, level_rows
from shoal.report.first_page import MOST_CARDS, first_page, plainly, reservation, with_sensitive
from shoal.report.formatting import (
    EVEN,
    chance,
    clean,
    figure,
    names,
    percent,
    share_of,
    shown,
)
from shoal.report.sample import sample_view
from shoal.report.statements import limits_of, unguarded
from shoal.report.weights import weights_view

MOST_DRAWN = 20
"""Values of a column in a chart; the table below has all."""
BUDGET = 450_000
"""Characters that the charts of single columns may take; beyond, there are tables alone, so that the
page opens quickly."""
MOST_COLUMNS = 120
"""Columns on the page, those with the most to lose first; the certificate has all."""
MANY = 10
"""With more columns than this, only those that lost most are open."""
OPEN = 4
KINDS = {
    "ordered": "published as ranges",
    "unordered": "published as sets of values",
    "hierarchy": "published as steps of a hierarchy",
    "sensitive": "sensitive, guarded by the guarantees",
}
UNGUARDED = "sensitive, published as it is: no constraint protects it"
APART = {"sensitive": "sensitive, published in a table apart"}
DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")
PROMPT = "$ "
"""The beginning of a line that is a command."""


def page(certificate: dict[str, Any]) -> str:
    """The whole page as HTML; everything it shows is in the certificate."""
    from shoal.drawing.page import render

    certificate = clean(certificate)
    return render(
        "shoal.report/report.html",
        certificate=certificate,
        verdict=verdict(certificate),
        cards=cards(certificate)[:MOST_CARDS],
        first=first_page(certificate, verdict(certificate)),
        sample=sample_view(certificate),
        sections=_sections(certificate),
        risks=_risks(certificate),
        detail=detail_view(certificate, 2 * MOST_DRAWN),
        weights=weights_view(certificate),
        levels=level_rows(certificate),
        columns=column_views(certificate),
        sizes=sizes_view(certificate),
        steps=_steps(certificate),
        limits=limits_of(certificate),
        known=_known(certificate),
        MOST_COLUMNS=MOST_COLUMNS,
        percent=percent,
        shown=shown,
        chance=chance,
        counted=counted,
        figure=figure,
        names=names,
        share_of=share_of,
    )


def _sections(certificate: dict[str, Any]) -> list[tuple[str, str]]:
    """The table of contents: the id of each section, and its name."""
    found: list[tuple[str, str, Any]] = [
        ("warnings", "To think about", certificate["warnings"]),
        ("asked", "What the policy asks", True),
        ("reasons", "Decisions", any(one["why"] for one in certificate["decisions"])),
        ("guaranteed", "What is guaranteed", True),
        ("presets", "What authorities ask", certificate["presets"]),
        ("risk", "Risk", True),
        ("criteria", "Singling out, linkability, inference", True),
        ("population", "In the population", certificate.get("weighted")),
        ("cost", "Cost", True),
        ("sizes", "Group sizes", True),
        ("suppression", "Suppression", True),
        ("personal", "People's own preferences", certificate["personal"]),
        ("anatomy", "Anatomy", certificate["anatomy"]),
        ("sample", "Sample", certificate["sample"]["rows"] or certificate["anatomy"]),
        ("reproduce", "How to repeat it", True),
    ]
    return [(place, name) for place, name, there in found if there]


def _steps(certificate: dict[str, Any]) -> list[tuple[str, bool]]:
    """How to repeat the run: each line, and whether it is a command. Digests are in full below."""
    lines = [DIGEST.sub(r"\1…", line) for line in certificate["reproduce"]]
    return [(line.removeprefix(PROMPT), line.startswith(PROMPT)) for line in lines]


def _known(certificate: dict[str, Any]) -> list[str]:
    """The columns that an attacker may know."""
    columns = certificate["cost"]["columns"]
    return [name for name, one in columns.items() if one["kind"] != "sensitive"]


@dataclass(frozen=True)
class Card:
    """A key figure, its name, and its value before."""

    name: str
    value: str
    more: str = ""
    mood: str = ""
    """`good`, `bad`, `warn` or nothing."""


def cards(certificate: dict[str, Any]) -> list[Card]:
    """The key figures."""
    found = certificate["guarantees"]
    holding = sum(one["holds"] for one in found)
    whole = holding == len(found)
    first = Card(
        "guarantees found",
        f"{holding} of {len(found)}",
        "in the rows as published",
        "good" if whole else "bad",
    )
    return [first, *_risk_cards(certificate), *_price_cards(certificate)]


def verdict(certificate: dict[str, Any]) -> str:
    """One sentence: whether the guarantees hold, and what they cost."""
    found = certificate["guarantees"]
    holding = sum(one["holds"] for one in found)
    rows = counted(certificate["release"]["rows"], "published row")
    if not certificate["verified"]:
        return f"Only {holding} of {counted(len(found), 'guarantee')} were found in {rows}."
    every = "The guarantee was" if len(found) == 1 else f"All {len(found)} guarantees were"
    if (people := certificate["people"]) is not None:
        rows += f" of {counted(people['published'], 'person', 'people')}, counted in people"
    return f"{reservation(certificate)}{every} found in the {rows}{_price(certificate)}."


def _price(certificate: dict[str, Any]) -> str:
    detail, out = certificate["detail"], certificate["suppression"]
    gone = (
        "no row" if not out["rows"] else f"{counted(out['rows'], 'row')} ({percent(out['share'])})"
    )
    if out.get("people"):
        gone += f" and with them all rows of {counted(out['people'], 'person', 'people')}"
    held = "withheld" if out["how"] == "withheld" or not out["rows"] else "starred"
    if certificate["anatomy"] is not None:
        return f", whose sensitive values stand apart from the people; {gone} had to be {held}"
    if detail["exact"] == 1:
        return f", which lost no detail; {gone} had to be {held}"
    return f". {plainly(detail_sentence(detail))}; {gone} had to be {held}"


def _risk_cards(certificate: dict[str, Any]) -> list[Card]:
    if certificate["anatomy"] is not None:
        return [
            Card(
                f"best guess of {name}",
                percent(share),
                "at most, once a group is found",
                "" if share <= EVEN else "warn",
            )
            for name, share in certificate["anatomy"]["largest_share"].items()
        ][:3]
    before, after = certificate["risk"]["before"], certificate["risk"]["after"]
    highest = [one["prosecutor"]["highest"] for one in (before, after)]
    unit = _unit(certificate)
    alone = [one["unique_people" if unit == "people" else "unique_rows"] for one in (before, after)]
    # `1 in 5` of rows says little where a person has several
    of = " people" if unit == "people" and 0 < highest[1] < EVEN else ""
    return [
        Card(
            "highest risk by what others may know",
            f"{chance(highest[1])}{of}",
            f"{chance(highest[0])} before",
        ),
        _alone_card(certificate["disclosure"]),
        Card(
            f"{unit} alone by what others may know",
            f"{alone[1]:,}",
            f"{alone[0]:,} before ({percent(before['unique_share'])})",
        ),
    ]


def _unit(certificate: dict[str, Any]) -> str:
    """What classes are counted in."""
    return "people" if "people" in certificate["risk"]["after"] else "rows"


def _alone_card(found: dict[str, Any]) -> Card:
    """Beside the guaranteed risk: who is alone once plain and sensitive columns are known too."""
    units = "people" if found["unit"] == "person" else "rows"
    plain = counted(len(found["plain"]), "such column") if found["plain"] else "no such column"
    more = with_sensitive(found) or f", with {plain}"
    return Card(
        f"{units} alone by this and what is published as it is",
        f"{found['alone']:,}",
        f"{percent(found['share'])} of {found['published']:,}{more}",
        "bad" if found["alarming"] else "",
    )


def _price_cards(certificate: dict[str, Any]) -> list[Card]:
    out, groups = certificate["suppression"], certificate["groups"]
    rows, came = certificate["release"]["rows"], certificate["input"]["rows"]
    made = []
    apart = certificate["anatomy"] is not None
    if not apart:
        summary = certificate["detail"]["summary"]
        exact, others = summary[0]["share"], detail_words({"summary": summary[1:]})
        made.append(
            Card("of the cells still exact", percent(exact), others or "of what others may know")
        )
    lost = certificate["cost"]["metrics"].get("relative-non-uniform-entropy")
    if lost is not None and not apart:
        made.append(
            Card("of the information lost", percent(lost), "in bits, of what others may know")
        )
    gone = f"{out['rows']:,} {out['how']}" if out["rows"] else "none suppressed"
    if (people := certificate["people"]) is not None:
        left = (
            f"{people['suppressed']:,} {out['how']}" if people["suppressed"] else "none suppressed"
        )
        made.append(
            Card("people published", f"{people['published']:,}", f"of {people['input']:,}, {left}")
        )
    made.append(Card("rows published", f"{rows:,}", f"of {came:,}, {gone}"))
    called = "groups of people" if apart else "classes of rows that look alike"
    number = groups["formed"] if apart else groups["published_classes"]
    sizes = "" if groups["mean"] is None else f"{groups['mean']:,.1f} rows on average"
    if (people := certificate["people"]) is not None and people["groups"] is not None:
        sizes = f"{people['groups']['mean']:,.1f} people on average"
    made.append(Card(called, f"{number:,}", sizes))
    return made


@dataclass(frozen=True)
class RiskRow:
    """One question, its answers before and after, and both as shares to draw."""

    question: str
    before: str
    after: str
    shares: tuple[float, float]


def _risks(certificate: dict[str, Any]) -> list[RiskRow]:
    before, after = certificate["risk"]["before"], certificate["risk"]["after"]
    limit = percent(before["threshold"])

    def row(question: str, of: Any, form: Any = percent) -> RiskRow:
        shares = of(before), of(after)
        return RiskRow(question, form(shares[0]), form(shares[1]), shares)

    def with_chance(share: float) -> str:
        return f"{percent(share)} ({chance(share)})" if 0 < share < EVEN else percent(share)

    rows = [
        row(
            "Chance to pick out the most exposed person",
            lambda one: one["prosecutor"]["highest"],
            with_chance,
        ),
        row("The same, on average", lambda one: one["prosecutor"]["average"], with_chance),
        row(f"People with a chance above {limit}", lambda one: one["prosecutor"]["above"]),
        row(
            "People whose rows look like no other's"
            if _unit(certificate) == "people"
            else "Rows that look like no other",
            lambda one: one["unique_share"],
        ),
    ]
    if before["marketer"] != before["prosecutor"]["average"]:
        rows.append(row("Right guesses of who tries everybody", lambda one: one["marketer"]))
    return rows


@dataclass(frozen=True)
class ColumnView:
    """One column: its charts and their figures."""

    place: int
    name: str
    kind: str
    exact: str
    """How much of it is exact, for a quasi column."""
    is_open: bool
    lumped: int
    distribution: list[dict[str, Any]] = field(default_factory=list)
    generality: list[dict[str, Any]] = field(default_factory=list)
    before_after: str = ""
    """The chart of its distribution, or nothing."""
    levels: str = ""
    """The chart of its levels of generality, or nothing."""

    @property
    def is_drawn(self) -> bool:
        """Whether charts show the tables' figures."""
        return bool(self.before_after or self.levels)


def column_views(certificate: dict[str, Any]) -> list[ColumnView]:
    """The charts and figures of each column, in the policy's order."""
    columns = certificate["cost"]["columns"]
    worst = sorted(columns, key=lambda name: -(columns[name]["loss"] or 0))[:MOST_COLUMNS]
    opened = set(columns) if len(columns) <= MANY else set(worst[:OPEN])
    apart = certificate["anatomy"] is not None
    kinds, open_ = (APART, []) if apart else (KINDS, unguarded(certificate))
    shown_columns = {name: one for name, one in columns.items() if name in set(worst)}
    left, views = BUDGET, []
    for place, (name, one) in enumerate(shown_columns.items(), 1):
        first, second = _charts(place, name, one) if left > 0 else ("", "")
        left -= len(first) + len(second)
        views.append(
            ColumnView(
                place=place,
                name=shown(name),
                kind=UNGUARDED if name in open_ else kinds.get(one["kind"], "published as it is"),
                exact=_exact(certificate, name),
                is_open=name in opened and one["loss"] != 0,
                lumped=one["lumped"],
                distribution=one["distribution"],
                generality=one["generality"],
                before_after=first,
                levels=second,
            )
        )
    return views


def _exact(certificate: dict[str, Any], name: str) -> str:
    found = certificate["detail"]["columns"].get(name)
    if found is None:
        return ""
    return "exact" if found["exact"] == 1 else f"{percent(found['exact'])} exact"


def _charts(place: int, name: str, one: dict[str, Any]) -> tuple[str, str]:
    called, first, second = shown(name, 60), "", ""
    bars = [(bar["label"], bar["before"], bar["after"]) for bar in one["distribution"]]
    if bars:
        most = max(bars, key=lambda bar: bar[1])
        more = f" The first {MOST_DRAWN} of {len(bars)}." if len(bars) > MOST_DRAWN else ""
        description = (
            f"One pair of bars per value. The most common is {most[0]}, {percent(most[1])}.{more}"
        )
        title = f"Values of {called}, before and after"
        first = pairs(f"values-{place}", bars[:MOST_DRAWN], title, description)
    levels = [(level["label"], level["share"]) for level in one["generality"]]
    if levels:
        second = generality(f"levels-{place}", levels, f"How general the values of {called} became")
    return first, second


@dataclass(frozen=True)
class SizesView:
    """The chart of class sizes and its figures."""

    chart: str
    rows: list[tuple[str, int, int, int, int]]
    """Of each size: classes and rows (or people) before, and the same after."""
    unit: str = "rows"


def sizes_view(certificate: dict[str, Any]) -> SizesView | None:
    """The sizes of classes before and after; None where there are none, or publishing changes none."""
    if certificate["anatomy"] is not None:
        return None
    before, after = (certificate["class_sizes"][when] for when in ("before", "after"))
    bins = sorted({(one["low"], one["high"]) for one in (*before, *after)})
    if not bins:
        return None
    found = [{(one["low"], one["high"]): one for one in when} for when in (before, after)]
    unit = _unit(certificate)
    nothing = {"classes": 0, unit: 0}
    first, last = ([when.get(size, nothing) for size in bins] for when in found)
    whole = [max(1, sum(one[unit] for one in when)) for when in (first, last)]
    labels = [_size(low, high, unit) for low, high in bins]
    bars = [
        (label, one[unit] / whole[0], other[unit] / whole[1])
        for label, one, other in zip(labels, first, last, strict=True)
    ]
    description = (
        f"One pair of bars per size of a class. Before, {percent(_alone(before, whole[0], unit))} of "
        f"the {unit} stood alone; after, {percent(_alone(after, whole[1], unit))}."
    )
    drawn = pairs(
        "class-sizes",
        bars,
        f"{unit.capitalize()} by the size of their class, before and after",
        description,
        what=f"share of {unit}",
        mark=_k_mark(certificate, [low for low, _ in bins]),
    )
    return SizesView(
        drawn,
        [
            (label, one["classes"], one[unit], other["classes"], other[unit])
            for label, one, other in zip(labels, first, last, strict=True)
        ],
        unit,
    )


def _size(low: int, high: int | None, unit: str) -> str:
    if high is None:
        return f"{low:,} or more {unit}"
    if low == high:
        return counted(low, {"rows": "row", "people": "person"}[unit], unit)
    return f"{low:,} to {high:,} {unit}"


def _alone(sizes: list[dict[str, Any]], whole: int, unit: str) -> float:
    alone: int = sum(one[unit] for one in sizes if one["high"] == 1)
    return alone / whole


def _k_mark(certificate: dict[str, Any], lows: list[int]) -> tuple[int, str] | None:
    """The bin that begins at the k of all columns together, if one does, and its legend."""
    wide = max((len(one["columns"]) for one in certificate["guarantees"]), default=0)
    asked = [
        int(one["asked"])
        for one in certificate["guarantees"]
        if one["model"] == "k" and len(one["columns"]) == wide
    ]
    k = max(asked, default=0)
    if k < 2 or k not in lows[1:]:
        return None
    return lows.index(k), f"asked: {k:,}"
