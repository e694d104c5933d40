"""The external report: for those who get the release, and silent about the table behind it.

It is made from the published rows, the policy and what was found in these rows. Nothing of the input
reaches this file: no rows that were withheld, no distribution, no count and no column that is not
published. Reasons and warnings stay in the internal report, since they may speak of the table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import pyarrow as pa

from shoal.encoding.values import COMMON
from shoal.engines.release_table import ReleaseTable
from shoal.errors import counted
from shoal.evidence.detail import Detail
from shoal.evidence.disclosure import Disclosure
from shoal.evidence.levels import ChosenLevel
from shoal.evidence.people import PeopleSizes
from shoal.pipeline.withheld_weights import without_estimates
from shoal.policy import Policy
from shoal.report.certificate import (
    EXTERNAL,
    SEAL,
    external_presets,
    guarantee,
    people_were_counted,
    risk_of,
    sample,
    seal_of,
)
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
from shoal.report.page import Card
from shoal.report.sample import sample_view
from shoal.report.statements import checks_of, limits_of
from shoal.verification.check import Finding
from shoal.verification.presets import PresetOutcome
from shoal.version import __version__

FORMAT = 2
"""That of certificates."""
MOST_COLUMNS = 40
"""Columns in the table of what is left."""


@dataclass(frozen=True)
class Published:
    """What is known of a release without the table behind it."""

    table: ReleaseTable
    policy: Policy
    findings: Sequence[Finding]
    """The guarantees, as found in the published rows."""
    detail: Detail
    """What the published labels say, without rows that were withheld."""
    disclosure: Disclosure
    """Who is alone on quasi and plain columns."""
    levels: Mapping[str, ChosenLevel]
    """The levels that a full-domain method chose."""
    presets: Sequence[PresetOutcome]
    largest_share: Mapping[str, float]
    """Anatomy: how often the best guess at a sensitive value is right."""
    seed_commitment: str
    policy_commitment: str
    """That of the policy, which speaks of columns that are not published."""
    name: str | None = None
    """What the release is called; None where it was not written."""
    people: int | None = None
    """People with a published row, where people were counted."""
    people_sizes: PeopleSizes | None = None
    """The classes of the release in people."""
    sensitive_digests: Mapping[str, str] | None = None
    """Anatomy: of the further tables."""


def external_certificate(published: Published) -> dict[str, Any]:
    """The certificate of a release for those who get it."""
    content = _content(published)
    return {**content, SEAL: seal_of(content)}


def _content(one: Published) -> dict[str, Any]:
    policy, table = one.policy, one.table
    anatomy = policy.publish == "anatomy"
    return {
        "certificate": FORMAT,
        "version": EXTERNAL,
        "shoal": __version__,
        "made": date.today().isoformat(),
        "about": policy.about.given(),
        "policy": {"commitment": one.policy_commitment},
        "release": {
            "name": one.name,
            "rows": table.n_rows,
            "columns": table.names,
            "digest": table.fingerprint.digest,
            "sensitive_digests": dict(one.sensitive_digests or {}),
        },
        "seed_commitment": one.seed_commitment,
        "decisions": [
            {"column": name, "role": policy.columns[name].role, "why": None}
            for name in _columns(one)
        ],
        "guarantees": [guarantee(without_estimates(each, policy), policy) for each in one.findings],
        "verified": all(finding.holds for finding in one.findings),
        "checked": checks_of(policy, any(model.quasi for model in policy.constraints)),
        "risk": {"after": risk_of(table.class_sizes(policy.quasi), one.people_sizes)},
        "disclosure": _disclosure(one.disclosure),
        "detail": one.detail.to_dict(),
        "levels": {name: _level(one, name) for name in one.levels},
        "people": None
        if one.people is None
        else {
            "counted": people_were_counted(one.findings),
            "published": one.people,
            "together": policy.together,
        },
        "presets": external_presets(one.presets),
        "anatomy": {"largest_share": dict(one.largest_share)} if anatomy else None,
        "suppressed": policy.suppressed,
        "sample": _sample(one),
    }


def _columns(one: Published) -> list[str]:
    """The published columns that the policy names: those of the first table, and sensitive ones."""
    names_ = [name for name in one.table.names if name in one.policy.columns]
    return [*names_, *(name for name in one.policy.sensitive if name not in names_)]


def _disclosure(found: Disclosure) -> dict[str, Any]:
    """Who is alone; not what plain columns give away of values that are not published."""
    return {
        "unit": found.unit,
        "published": found.published,
        "alone": found.alone,
        "alone_with_sensitive": found.alone_with_sensitive,
        "alone_by_sensitive": found.listed_by_sensitive,
        "share": found.share,
        "plain": list(found.plain),
        "alarming": found.is_alarming,
    }


def _level(one: Published, name: str) -> dict[str, Any]:
    """A level by its name, and the most frequent label of the release where many rows share it."""
    labels = one.table.labels(name)
    rows = int(labels.rows.max(initial=0))
    most = min(t or "" for t, n in zip(labels.texts, labels.rows, strict=True) if n == rows)
    return {
        "level": None,
        "highest": None,
        "name": one.levels[name].name,
        "value": None,
        "label": most if rows >= COMMON else None,
    }


def _sample(one: Published) -> dict[str, Any]:
    """Some published rows, without cells that few of them share or that name what few of them share."""
    table, policy = one.table, one.policy
    if policy.publish == "anatomy":
        return {"columns": table.names, "rows": [], "hidden": 0}
    common = {name: _common(table, name) for name in policy.quasi}
    kept = None if one.people is None else policy.quasi
    return sample(table.names, table.fingerprint, common, kept)


def _common(table: ReleaseTable, name: str) -> pa.Array:
    """The values that labels may name: those that many published rows have as they are."""
    labels = table.labels(name)
    found = [
        text for text, n in zip(labels.texts, labels.rows, strict=True) if text and n >= COMMON
    ]
    return pa.array(found, pa.string())


def external_page(certificate: dict[str, Any]) -> str:
    """The external report as a page; everything it shows is in its certificate."""
    from shoal.drawing.page import render

    certificate = clean(certificate)
    sentence = _verdict(certificate)
    return render(
        "shoal.report/external.html",
        certificate=certificate,
        first=first_page(certificate, sentence),
        verdict=sentence,
        cards=_cards(certificate)[:MOST_CARDS],
        limits=limits_of(certificate),
        detail=detail_view(certificate, MOST_COLUMNS),
        levels=level_rows(certificate),
        sample=sample_view(certificate),
        percent=percent,
        shown=shown,
        chance=chance,
        counted=counted,
        figure=figure,
        names=names,
        share_of=share_of,
    )


def _verdict(certificate: Mapping[str, Any]) -> str:
    """One sentence: whether the guarantees hold, and what is left of the detail."""
    found = certificate["guarantees"]
    rows = counted(certificate["release"]["rows"], "published row")
    every = "The guarantee was" if len(found) == 1 else f"All {len(found)} guarantees were"
    if certificate["people"] is not None:
        people = counted(certificate["people"]["published"], "person", "people")
        rows += f" of {people}, counted in people"
    if certificate["anatomy"] is not None:
        return f"{every} found in the {rows}, whose sensitive values stand apart from the people."
    left = plainly(detail_sentence(certificate["detail"]))
    return f"{reservation(certificate)}{every} found in the {rows}. {left}."


def _cards(certificate: Mapping[str, Any]) -> list[Card]:
    """The key figures, all of the release itself."""
    found = certificate["guarantees"]
    cards = [Card("guarantees found", f"{len(found)} of {len(found)}", "in the rows", "good")]
    people, rows = certificate["people"], certificate["release"]["rows"]
    if certificate["anatomy"] is None:
        highest = certificate["risk"]["after"]["prosecutor"]["highest"]
        of = " people" if people is not None and 0 < highest < EVEN else ""
        cards.append(Card("highest risk by what others may know", f"{chance(highest)}{of}"))
        alone = certificate["disclosure"]
        units = "people" if alone["unit"] == "person" else "rows"
        cards.append(
            Card(
                f"{units} alone by this and what is published as it is",
                f"{alone['alone']:,}",
                f"{percent(alone['share'])} of {alone['published']:,}{with_sensitive(alone)}",
                "bad" if alone["alarming"] else "",
            )
        )
        summary = certificate["detail"]["summary"]
        cards.append(
            Card(
                "of the cells are exact",
                percent(summary[0]["share"]),
                detail_words({"summary": summary[1:]}) or "of what others may know",
            )
        )
    if people is not None:
        cards.append(Card("people published", f"{people['published']:,}"))
    cards.append(Card("rows published", f"{rows:,}"))
    classes = certificate["risk"]["after"]["classes"]
    cards.append(Card("classes of rows that look alike", f"{classes:,}"))
    return cards
