"""What a privacy officer should think about before signing."""

from collections.abc import Iterator

import numpy as np

from shoal.errors import percent
from shoal.release import Release
from shoal.report.released import Released
from shoal.risk.reidentification import THRESHOLD, Reidentification
from shoal.risk.roles import suggest
from shoal.risk.words import hint_of

NEARLY_UNIQUE = 0.5
"""From this share of rows with a value of their own on, a plain column points at single people."""
DOMINANT = 0.5
"""From this share of rows on, one sensitive value is a good guess for everybody."""


def warnings(release: Release, published: Released, after: Reidentification) -> list[str]:
    """The release's own warnings, and what its columns give to think about.

    published: the rows of the release's first table. after: the risk of its classes.
    """
    return [
        *release.warnings,
        *_plain(release, published),
        *_identifiers(release),
        *_dominant(release),
        *_risky(release, after),
    ]


def _plain(release: Release, published: Released) -> Iterator[str]:
    for name in release.policy.plain:
        if name not in published.names:
            continue
        contents = published.contents(name)
        known = contents.rows - contents.missing
        single = contents.unique_rows - (contents.missing == 1)
        if known and single / known >= NEARLY_UNIQUE:
            yield (
                f"{name} is plain and published as it is, but {percent(single / known)} of its values "
                "belong to one row alone: whoever knows the value knows the row. Consider the role "
                "identifier or quasi."
            )
            continue
        found = suggest(contents)
        if found.role not in ("plain", "preference"):
            yield (
                f"{name} is plain and published as it is, but looks {_like(found.role)}: "
                f"{found.reason}. No guarantee speaks of it."
            )


def _like(role: str) -> str:
    return {"identifier": "like an identifier", "quasi": "like a quasi-identifier"}.get(role, role)


def _identifiers(release: Release) -> Iterator[str]:
    for name in release.policy.identifiers:
        hint = hint_of(name)
        if hint and hint[0] == "quasi":
            yield (
                f"{name} has the role identifier and is not published, but its name is that of a "
                "quasi-identifier. Check that no published column tells the same of people, and that "
                "nobody needs it more coarsely."
            )


def _dominant(release: Release) -> Iterator[str]:
    for name, found in release.evidence.dominant.items():
        if found.share >= DOMINANT:
            called = "one value" if found.label is None else f"the value '{found.label}'"
            yield (
                f"{percent(found.share)} of all rows have {called} of {name}: whoever guesses it for "
                "somebody is mostly right, whatever is published."
            )


def _risky(release: Release, after: Reidentification) -> Iterator[str]:
    highest = after.prosecutor.highest
    if release.policy.publish == "anatomy" or highest <= THRESHOLD:
        return
    rows = int(np.rint(1 / highest))
    told = "one row" if rows == 1 else f"{rows} rows"
    yield (
        f"The smallest published class has {told}, so somebody known to be in the table can be found "
        f"in it with a chance of {percent(highest)}; the usual limit is {percent(THRESHOLD)}."
    )
