"""The first things a reader sees: one sentence, and the figures behind it."""

from dataclasses import dataclass
from typing import Any

from shoal.report.figures import EVEN, chance, counted, percent


@dataclass(frozen=True)
class Card:
    """One figure, what it is and what it was before."""

    name: str
    value: str
    more: str = ""
    mood: str = ""
    """`good`, `bad`, `warn` or nothing."""


def verdict(certificate: dict[str, Any]) -> str:
    """Whether it holds and what it cost."""
    found = certificate["guarantees"]
    holding = sum(one["holds"] for one in found)
    rows = counted(certificate["release"]["rows"], "published row")
    if not certificate["verified"]:
        return f"Only {holding} of {counted(len(found), 'guarantee')} were found in {rows}."
    every = "The guarantee was" if len(found) == 1 else f"All {len(found)} guarantees were"
    return f"{every} found in the {rows}, {_price(certificate)}."


def _price(certificate: dict[str, Any]) -> str:
    loss, out = certificate["cost"]["mean_ncp"], certificate["suppression"]
    gone = (
        "no row" if not out["rows"] else f"{counted(out['rows'], 'row')} ({percent(out['share'])})"
    )
    held = "withheld" if out["how"] == "withheld" or not out["rows"] else "starred"
    if certificate["anatomy"] is not None:
        return f"whose sensitive values stand apart from the people; {gone} had to be {held}"
    if loss is None:
        return f"and {gone} had to be {held}"
    if not loss:
        return f"which lost no detail; {gone} had to be {held}"
    return f"at the price of {percent(loss)} of the detail; {gone} had to be {held}"


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
    return [
        Card(
            "highest risk to be picked out",
            chance(highest[1]),
            f"{chance(highest[0])} before",
        ),
        Card(
            "rows that stand alone",
            f"{after['unique_rows']:,}",
            f"{before['unique_rows']:,} before ({percent(before['unique_share'])})",
        ),
    ]


def _price_cards(certificate: dict[str, Any]) -> list[Card]:
    out, groups = certificate["suppression"], certificate["groups"]
    rows, came = certificate["release"]["rows"], certificate["input"]["rows"]
    loss = certificate["cost"]["mean_ncp"]
    made = []
    apart = certificate["anatomy"] is not None
    if loss is not None and not apart:
        made.append(Card("of the detail given up", percent(loss), "mean of the columns below"))
    gone = f"{out['rows']:,} {out['how']}" if out["rows"] else "none suppressed"
    made.append(Card("rows published", f"{rows:,}", f"of {came:,}, {gone}"))
    called = "groups of people" if apart else "classes of rows that look alike"
    number = groups["formed"] if apart else groups["published_classes"]
    sizes = "" if groups["mean"] is None else f"{groups['mean']:,.1f} rows on average"
    made.append(Card(called, f"{number:,}", sizes))
    return made
