"""Some published rows, without the cells that few rows share."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from platform import python_version
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal import plugins
from shoal.encoding.values import COMMON
from shoal.engines.release_table import ReleaseTable
from shoal.engines.selection import LOCAL, SPARK
from shoal.errors import listed, percent
from shoal.evidence.evidence import Evidence, Histogram, binned
from shoal.hierarchy.csv_file import CsvFile
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.mask import Mask
from shoal.policy import Policy
from shoal.policy.canonical import to_data
from shoal.policy.column import Column
from shoal.policy.parts import plain_named
from shoal.publish.label_parser import enclosed, join_pieces, pieces, split_at
from shoal.release import Release
from shoal.report.release_view import contents as contents_of_column
from shoal.report.release_view import digests_of, rows_of
from shoal.risk.assessment import THRESHOLD, Reidentification, reidentification
from shoal.risk.columns import hint_of, suggest
from shoal.verification.check import Finding
from shoal.verification.digest import Fingerprint
from shoal.version import __version__


def sample(
    names: Sequence[str], found: Fingerprint, common: Mapping[str, pa.Array]
) -> dict[str, Any]:
    """The rows of a release's fingerprint: as good as any, whatever the order of all rows. As text; a
    missing value is an empty text, a hidden one None.

    Hidden are cells whose text fewer than `COMMON` published rows share, and labels that name a value
    which fewer input rows share. common: per column with such labels the values that may be named.
    """
    shown = [
        _cells(pc.fill_null(column, "").to_pylist(), times.tolist(), common.get(name))
        for name, column, times in zip(names, found.some.columns, found.times, strict=True)
    ]
    rows = [list(row) for row in zip(*shown, strict=True)]
    rows.sort(key=lambda row: [(cell is None, cell or "") for cell in row])
    hidden = sum(cell is None for row in rows for cell in row)
    return {"columns": list(names), "rows": rows, "hidden": hidden}


def _cells(texts: list[str], times: list[int], common: pa.Array | None) -> list[str | None]:
    return [
        text if n >= COMMON and (common is None or _named(text) <= _known(common, text)) else None
        for text, n in zip(texts, times, strict=True)
    ]


def _known(common: pa.Array, label: str) -> set[str]:
    """The values named in a label that may be."""
    named = pa.array(sorted(_named(label)), pa.string())
    known: list[str] = named.filter(pc.is_in(named, value_set=common)).to_pylist()
    return set(known)


def _named(label: str) -> set[str]:
    """The values that a range or a set names; none for a value on its own, which is counted."""
    found = pieces(label)
    if enclosed(found, "[", "]"):
        ends = split_at(found[1:-1], "~")
        return {join_pieces(end) for end in ends} if len(ends) == 2 else set()
    if enclosed(found, "{", "}"):
        members = [
            part[1:] if place and part[:1] == [(" ", True)] else part
            for place, part in enumerate(split_at(found[1:-1], ","))
        ]
        return {join_pieces(member) for member in members if member != pieces("<missing>")}
    return set()


# A policy in plain sentences, for whoever must sign.


MANY = 30
MODELS = {
    "k": "Every combination of {on} occurs in at least {asked} rows",
    "l": "Among the rows that share {on} are at least {asked} different values of {of}",
    "alpha": "No value of {of} has more than {percent} of the rows that share {on}",
    "entropy-l": "The values of {of} among rows that share {on} are as mixed as {asked} equally "
    "frequent ones (entropy l-diversity)",
    "recursive-l": "The most frequent value of {of} among rows that share {on} is not too frequent "
    "beside the rarer ones (recursive l-diversity)",
    "t": "The values of {of} among rows that share {on} are at most {asked} away from those of the "
    "whole table",
    "beta": "No value of {of} is among rows that share {on} more than {asked} times as much more "
    "frequent than in the whole table",
    "delta": "The share of a value of {of} among rows that share {on} differs from that in the whole "
    "table by a factor of at most e to the {asked}",
    "k-map": "Every combination of {on} fits at least {asked} people of the population",
    "delta-presence": "Whoever finds somebody in the population learns with a certainty of at most "
    "{percent} that they are in the table",
    "average-risk": "The chance to pick the right row of a person is at most {percent} on average",
}
"""What each model promises. One that is not here is told by its own summary."""


def promise(model: str, asked: float, of: str | None, on: Sequence[str], every: bool) -> str:
    """A guarantee in one sentence; `every`: `on` are all quasi columns."""
    words = MODELS.get(model)
    if words is None:
        return f"{plugins.describe(plugins.model(model)).summary} Asked for: {asked:g}."
    columns = "all quasi columns" if every else _both(on)
    return words.format(asked=f"{asked:g}", percent=percent(asked), of=of, on=columns) + "."


def policy_words(policy: Policy, names: Sequence[str]) -> list[str]:
    """What was asked, sentence by sentence; `names` are the columns of the input."""
    return [
        *_roles(policy, names),
        *(_constraint(policy, model) for model in policy.constraints),
        *_how(policy),
    ]


def _roles(policy: Policy, names: Sequence[str]) -> Iterator[str]:
    if policy.identifiers:
        yield f"Not published: {listed(policy.identifiers, MANY)}."
    if left := [name for name in names if name not in policy.columns]:
        yield f"Not listed in the policy, and so dropped: {listed(left, MANY)}."
    if policy.publish == "anatomy":
        yield (
            f"Others may know {_both(policy.quasi)}. These quasi columns are published as they are; "
            f"the values of {_both(policy.sensitive)} are published in tables apart, linked to groups "
            "of people and not to single ones."
        )
    else:
        alike: dict[str, list[str]] = {}
        for name in policy.quasi:
            alike.setdefault(_coarser(policy.columns[name]), []).append(name)
        each = [f"{listed(named, MANY)} {how}" for how, named in alike.items()]
        yield (
            "Others may know these quasi columns, so they are published only as coarsely as the "
            f"guarantees need: {'; '.join(each)}."
        )
    secret = [name for name in policy.sensitive if name not in policy.preferences]
    if secret and policy.publish != "anatomy":
        yield f"To be protected, and published as they are: {listed(secret, MANY)}."
    for name, wish in policy.preferences.items():
        yield (
            f"To be protected: {name}. Who asked in {wish} for more protection than their value has "
            "gets a wider value published; what they asked for is not."
        )
    heard = set(policy.preferences.values())
    if unheard := [name for name in policy.columns_with("preference") if name not in heard]:
        yield f"Read by nobody and not published: {listed(unheard, MANY)}."
    if policy.plain:
        yield f"Published as they are, without any guarantee: {listed(policy.plain, MANY)}."


def _coarser(column: Column) -> str:
    """How a quasi column generalises, in brackets."""
    spec: Any = column.hierarchy
    if isinstance(spec, Mask):
        side = "last" if spec.side == "right" else "first"
        return f"(its {side} characters hidden)"
    if isinstance(spec, DateParts):
        return f"(by {', '.join(spec.parts)})"
    if isinstance(spec, Intervals):
        return f"(in intervals of {', '.join(f'{width:g}' for width in spec.widths)})"
    if spec is not None:
        return "(by a tree of wider values)"
    if column.kind is None:
        return "(as ranges or sets, whichever fits their values)"
    return "(as ranges)" if column.kind == "ordered" else "(as sets)"


def _constraint(policy: Policy, model: Any) -> str:
    on = model.quasi_of(policy.quasi)
    of, every = model.column or None, set(on) == set(policy.quasi)
    words = promise(model.name, model.figure, of, on, every)
    if policy.publish == "anatomy":
        words = words.replace("rows that share all quasi columns", "rows of a group")
    return words


def _how(policy: Policy) -> Iterator[str]:
    method = plugins.describe(type(policy.method))
    yield f"Rows are put into groups by the method {method.name}. {method.summary}"
    way = "left out" if policy.suppressed == "withheld" else "published with every cell as *"
    if policy.suppression is None:
        yield f"Rows that fit no group may be suppressed, without a limit; they are {way}."
    elif policy.suppression == 0:
        yield "No row may be suppressed."
    else:
        share = percent(policy.suppression)
        yield f"At most {share} of the rows may be suppressed; such rows are {way}."
    if policy.order == "kept":
        yield "Rows leave in the order they came."
    else:
        yield "Rows leave in an order made from what is published alone."
    if policy.population is not None:
        yield "A table of the whole population was looked at."


def _both(names: Sequence[str]) -> str:
    """`a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


# What a privacy officer should think about before signing.


NEARLY_UNIQUE = 0.5
"""From this share of rows with a value of their own on, a plain column points at single people."""
DOMINANT = 0.5
"""From this share of rows on, one sensitive value is a good guess for everybody."""


def warnings(release: Release, published: ReleaseTable, after: Reidentification) -> list[str]:
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


def _plain(release: Release, published: ReleaseTable) -> Iterator[str]:
    for name in release.policy.plain:
        if name not in published.names:
            continue
        contents = contents_of_column(published, name)
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


# The certificate: all that a report tells, as plain values, which `shoal verify` can check.


FORMAT = 1
"""Grows when a reader of older certificates would misread a new one."""
SEAL = "seal"
HIDDEN = "…"
PACKAGES = ("numpy", "numba", "duckdb", "pyarrow")


def certificate(release: Release, table: ReleaseTable | None = None) -> dict[str, Any]:
    """Everything a report shows of a release, for JSON. It holds no row that was not published, and
    no value that few rows share.

    table: the release's rows, where an engine holds them.
    """
    with rows_of(release, table) as published:
        told = _told_of(release, published)
    return {**told, SEAL: seal_of(told)}


def seal_of(told: Mapping[str, Any]) -> str:
    """A hash of all that a certificate tells, so that a change of it is noticed."""
    rest = {key: value for key, value in told.items() if key != SEAL}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def file_digests(policy: Policy) -> dict[str, str | None]:
    """A hash of every file that the policy leans on, by its path there; None where it is gone."""
    paths = [c.hierarchy.path for c in policy.columns.values() if isinstance(c.hierarchy, CsvFile)]
    if isinstance(policy.population, str):
        paths.append(policy.population)
    found: dict[str, str | None] = {}
    for path in sorted(set(paths)):
        file = policy.folder / path
        held = file.read_bytes() if file.is_file() else None
        found[path] = None if held is None else hashlib.sha256(held).hexdigest()
    return found


def risk_of(sizes: Histogram) -> dict[str, Any]:
    """The risk of classes of these sizes, as a certificate tells it."""
    return _told(_risk(sizes))


def _told_of(release: Release, published: ReleaseTable) -> dict[str, Any]:
    policy, evidence = release.policy, release.evidence
    before, after = _risk(evidence.before), _risk(evidence.after)
    return {
        "certificate": FORMAT,
        "shoal": __version__,
        "made": date.today().isoformat(),
        "input": {
            "rows": release.rows,
            "columns": list(evidence.input_columns),
            "schema_digest": evidence.schema_digest,
        },
        "policy": {
            "digest": policy.fingerprint(),
            "data": to_data(policy),
            "files": file_digests(policy),
            "words": policy_words(policy, evidence.input_columns),
        },
        "release": {
            "rows": release.published_rows,
            "columns": published.names,
            "digest": published.fingerprint.digest,
            "sensitive_digests": digests_of(release.sensitive_tables),
        },
        "method": method_of(policy),
        "seed": release.seed,
        "guarantees": [guarantee(finding, policy) for finding in release.findings],
        "verified": release.verified,
        "checked": _checked(release),
        "risk": {"before": _told(before), "after": _told(after)},
        "class_sizes": _class_sizes(evidence),
        "groups": {
            "formed": release.groups,
            "published_classes": release.published_classes,
            "mean": release.metrics.get("mean-group"),
            "largest": release.metrics.get("largest-group"),
        },
        "cost": {
            "mean_ncp": release.metrics.get("mean-ncp"),
            "metrics": release.metrics,
            "columns": {name: asdict(column) for name, column in evidence.columns.items()},
        },
        "suppression": _suppression(release),
        "personal": _personal(release),
        "anatomy": _anatomy(release),
        "warnings": warnings(release, published, after),
        "notes": list(release.notes),
        "sample": _sample(release, published),
        "seconds": {step: round(taken, 4) for step, taken in release.seconds.items()},
        "environment": _environment(release),
        "reproduce": _reproduce(release),
    }


def guarantee(finding: Finding, policy: Policy) -> dict[str, Any]:
    """What was found of one constraint, with what it promises in words."""
    told = finding.to_dict()
    told["columns"] = list(finding.columns)
    if policy.publish == "anatomy":
        words = promise(finding.model, finding.asked, finding.of, ("a group",), every=False)
    else:
        every = set(finding.columns) == set(policy.quasi)
        words = promise(finding.model, finding.asked, finding.of, finding.columns, every)
    return {**told, "words": words}


def _risk(found: Histogram) -> Reidentification:
    sizes, classes = np.array(found, np.int64).reshape(-1, 2).T
    return reidentification(sizes, times=classes)


def _environment(release: Release) -> dict[str, str]:
    packages = (*PACKAGES, *(["pyspark"] if release.engine == SPARK else []))
    return {
        "engine": release.engine,
        "python": python_version(),
        **{package: version(package) for package in packages},
    }


def _told(risk: Reidentification) -> dict[str, Any]:
    """Without the journalist, who here is the prosecutor."""
    kept = ("rows", "classes", "unique_rows", "unique_share", "threshold", "prosecutor", "marketer")
    return {key: value for key, value in asdict(risk).items() if key in kept}


def _class_sizes(evidence: Evidence) -> dict[str, Any]:
    both: Mapping[str, Histogram] = {"before": evidence.before, "after": evidence.after}
    largest = max((size for found in both.values() for size, _ in found), default=1)
    return {when: [asdict(one) for one in binned(found, largest)] for when, found in both.items()}


def method_of(policy: Policy) -> dict[str, Any]:
    """The method and its options."""
    named = plain_named(policy.method)
    options = {} if isinstance(named, str) else dict(named)
    name = options.pop("name", named)
    return {"name": name, "options": options}


def _suppression(release: Release) -> dict[str, Any]:
    parts = release.components if len(release.components) > 1 else ()
    return {
        "rows": release.suppressed_rows,
        "share": release.suppressed_rows / release.rows,
        "limit": release.policy.suppression,
        "how": release.policy.suppressed,
        "components": [
            {"columns": list(part.columns), "rows": part.suppressed_rows} for part in parts
        ],
    }


def _personal(release: Release) -> dict[str, Any]:
    told: dict[str, Any] = release.to_dict()["personal"]
    for report in told.values():
        for label in report["labels"]:
            if label["rows"] < COMMON:  # it may read as a value does
                label["label"] = HIDDEN
        report["labels"] = list(report["labels"])
    return told


def _anatomy(release: Release) -> dict[str, Any] | None:
    if release.policy.publish != "anatomy":
        return None
    return {"largest_share": release.largest_share}


def _sample(release: Release, published: ReleaseTable) -> dict[str, Any]:
    """Some published rows; none of Anatomy, whose rows are people as they came in."""
    if release.policy.publish == "anatomy":
        return {"columns": published.names, "rows": [], "hidden": 0}
    return sample(published.names, published.fingerprint, release.evidence.common)


def _checked(release: Release) -> list[str]:
    """How it was made sure that the guarantees hold."""
    policy = release.policy
    told = [
        "The published rows were read as a stranger would read them, with nothing known of how they "
        "were made: put into classes by the text that stands in their quasi columns.",
        "Every constraint of the policy was asked of every class. A release in which one falls short "
        "is never handed over or written.",
    ]
    if policy.publish == "anatomy":
        told[0] = (
            "The published tables were read as a stranger would read them: the values of each group "
            "were counted, the groups of all tables were found to fit together, and the order of rows "
            "to tell nothing of their values."
        )
        told[1] = told[1].replace("class.", "group.")
    if policy.preferences:
        told.append(
            "Values that were raised because people asked for it were judged by the values behind "
            "them, and every one was found to follow the rule."
        )
    if policy.suppressed == "starred" or len(release.components) > 1:
        told.append(
            "Rows that were suppressed, and read * throughout, were left out of the classes."
        )
    told.append(
        "The digest of the published rows is part of this certificate, so that anybody can check that "
        "a file holds these rows and no others."
    )
    return told


def _place(engine: str) -> str:
    """How a command is told of the engine."""
    if engine == SPARK:
        return f" --engine {SPARK}"
    return engine.removeprefix(LOCAL)


def _reproduce(release: Release) -> list[str]:
    """Sentences, and commands that begin with `$`."""
    evidence, place = release.evidence, _place(release.engine)
    return [
        f"Take Shoal {__version__}, the policy with the digest {release.policy.fingerprint()} "
        f"(it holds the seed, {release.seed}), and the input: {release.rows:,} rows whose columns "
        f"have the digest {evidence.schema_digest}. The same input gives the same rows, whatever "
        "their order and the engine.",
        f"$ shoal run INPUT POLICY -o RELEASE{place} --report report.html",
        "Check that a file is this release and holds what is promised:",
        f"$ shoal verify RELEASE POLICY{place} --certificate report.json",
    ]
