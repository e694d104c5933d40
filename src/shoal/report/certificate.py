"""The certificate: everything that a report shows, as plain values that `shoal verify` can check.

Beside the figures of the release it holds warnings, which are what a privacy officer should consider
before signing, and a sample of published rows without the cells that few rows share.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from platform import python_version
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.values import COMMON
from shoal.encoding.vocabulary import hint_of
from shoal.engines.anatomy_release import AnatomyRelease
from shoal.engines.files import wrap
from shoal.engines.memory import release_of_frames
from shoal.engines.release_table import MemoryRelease, ReleaseTable
from shoal.engines.selection import release_in_session
from shoal.engines.session_release import SessionRelease
from shoal.engines.sessions import LOCAL, SPARK, is_spark
from shoal.errors import InputError, counted, percent
from shoal.evidence.evidence import Evidence, Histogram, binned
from shoal.evidence.people import PeopleSizes
from shoal.hierarchy.csv_file import CsvFile
from shoal.pipeline.run import require_as_made
from shoal.policy import Policy
from shoal.policy.canonical import to_data
from shoal.policy.parts import plain_named
from shoal.publish.label_parser import enclosed, join_pieces, pieces, split_at
from shoal.release import Release
from shoal.report.statements import checks_of, policy_statements, promise
from shoal.risk.assessment import (
    THRESHOLD,
    Reidentification,
    reidentification,
    reidentification_of_people,
)
from shoal.risk.columns import MANY_VALUES, Contents, Suggestion, contents_of, suggest
from shoal.risk.criteria import criteria_of
from shoal.risk.table import contents_in_session
from shoal.verification.check import Finding
from shoal.verification.digest import Fingerprint
from shoal.verification.presets import PresetOutcome
from shoal.version import __version__

FORMAT = 2
"""Incremented when a reader of older certificates would misread a new one."""
SEAL = "seal"
EXTERNAL = "external"
"""The version of a certificate for those who get the release."""
HIDDEN = "…"
NOT_LISTED = "not listed"
"""In place of the role of a column that the policy leaves out."""
PACKAGES = ("numpy", "numba", "duckdb", "pyarrow")
DOMINANT = 0.5
"""From this share of rows on, one sensitive value is a good guess for everybody."""


def certificate(release: Release, table: ReleaseTable | None = None) -> dict[str, Any]:
    """Everything that a report shows of a release, for JSON.

    It holds no row that was not published, and no value that few rows share.

    table: the release's rows, where an engine holds them.
    """
    with published_rows(release, table) as published:
        content = _content(release, published)
    return {**content, SEAL: seal_of(content)}


def seal_of(certificate: Mapping[str, Any]) -> str:
    """A hash of a certificate's content, so that a change of it is noticed."""
    rest = {key: value for key, value in certificate.items() if key != SEAL}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def file_digests(policy: Policy) -> dict[str, str | None]:
    """A hash of every file that the policy uses, by its path there; None where it is missing."""
    paths = [c.hierarchy.path for c in policy.columns.values() if isinstance(c.hierarchy, CsvFile)]
    if isinstance(policy.population, str):
        paths.append(policy.population)
    paths += [column.zip3 for column in policy.columns.values() if column.zip3 is not None]
    paths += [path for preset in policy.preset for path in preset.files]
    found: dict[str, str | None] = {}
    for path in sorted(set(paths)):
        file = policy.folder / path
        found[path] = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None
    return found


def risk_of(sizes: Histogram, people: PeopleSizes | None = None) -> dict[str, Any]:
    """The risk of classes of these sizes, in rows or in people, as a certificate holds it."""
    return _risk_entry(_risk(sizes, people))


def _content(release: Release, published: ReleaseTable) -> dict[str, Any]:
    policy, evidence = release.policy, release.evidence
    before = _risk(evidence.before, evidence.people_before)
    after = _risk(evidence.after, evidence.people_after)
    return {
        "certificate": FORMAT,
        "shoal": __version__,
        "made": date.today().isoformat(),
        "input": {
            "name": release.input_name,
            "rows": release.rows,
            "columns": list(evidence.input_columns),
            "schema_digest": evidence.schema_digest,
        },
        "policy": {
            "digest": policy.fingerprint(),
            "data": to_data(policy),
            "files": file_digests(policy),
            "words": policy_statements(policy, evidence.input_columns),
        },
        "about": policy.about.given(),
        "decisions": decisions(policy, evidence.input_columns),
        "release": {
            "name": release.output_name,
            "rows": release.published_rows,
            "columns": published.names,
            "digest": published.fingerprint.digest,
            "sensitive_digests": digests_apart(release),
        },
        "method": method_of(policy),
        "seed_commitment": release.seed_commitment,
        "guarantees": [guarantee(finding, policy) for finding in release.findings],
        "presets": internal_presets(release.presets),
        "verified": release.verified,
        "checked": checks_of(policy, len(release.components) > 1),
        "risk": {"before": _risk_entry(before), "after": _risk_entry(after)},
        "disclosure": release.disclosure.to_dict(),
        "criteria": _criteria(release, published),
        "weighted": None if release.weighted is None else release.weighted.to_dict(),
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
        "detail": release.detail.to_dict(),
        "levels": {name: asdict(one) for name, one in release.levels.items()},
        "people": _people(release),
        "suppression": _suppression(release),
        "personal": _personal(release),
        "anatomy": _anatomy(release),
        "warnings": _warnings(release, published, after),
        "notes": list(release.notes),
        "sample": _sample(release, published),
        "seconds": {step: round(taken, 4) for step, taken in release.seconds.items()},
        "environment": _environment(release),
        "reproduce": _reproduce(release),
    }


def digests_apart(release: Release) -> dict[str, str]:
    """With Anatomy, the digest of every table of sensitive values."""
    return {
        name: MemoryRelease(wrap(apart)).fingerprint.digest
        for name, apart in release.sensitive_tables.items()
    }


def is_external(certificate: Mapping[str, Any]) -> bool:
    """Whether a certificate is for those who get the release."""
    return certificate.get("version") == EXTERNAL


def internal_presets(presets: Sequence[PresetOutcome]) -> list[dict[str, Any]]:
    """What became of the policy's presets."""
    return [preset.to_dict() for preset in presets]


def external_presets(presets: Sequence[PresetOutcome]) -> list[dict[str, Any]]:
    """The same without options and figures, which may speak of the table behind the release."""
    return [
        {
            "name": preset.name,
            "title": preset.title,
            "sources": list(preset.sources),
            "holds": preset.holds,
            "checks": [
                {
                    "text": check.text,
                    "holds": check.holds,
                    "unchecked": check.unchecked,
                    "found": None,
                    "columns": [],
                }
                for check in preset.checks
            ],
            "to_judge": list(preset.to_judge),
        }
        for preset in presets
    ]


def people_were_counted(findings: Sequence[Finding]) -> bool:
    """Whether every guarantee was checked on people in place of rows."""
    return all(finding.counted == "people" for finding in findings)


def decisions(policy: Policy, names: Sequence[str]) -> list[dict[str, str | None]]:
    """What a person decided about each column of the input, and why; in the input's order."""
    found = []
    for name in names:
        column = policy.columns.get(name)
        role, why = (NOT_LISTED, None) if column is None else (column.role, column.why)
        found.append({"column": name, "role": role, "why": why})
    return found


def _criteria(release: Release, published: ReleaseTable) -> dict[str, Any] | None:
    """Singling out, linkability and inference; None where people count and are not known here."""
    if release.people is not None:
        if release.key is None or not isinstance(published, MemoryRelease):
            return None
        published = published.counting(release.key.people_of(published.read()))
    return criteria_of(published, release.policy).to_dict()


def guarantee(finding: Finding, policy: Policy) -> dict[str, Any]:
    """The finding of one constraint, with its promise as a sentence."""
    entry = finding.to_dict()
    entry["columns"] = list(finding.columns)
    if policy.publish == "anatomy":
        sentence = promise(finding.model, finding.asked, finding.of, ("a group",), every=False)
    else:
        every = set(finding.columns) == set(policy.quasi)
        people = policy.person is not None
        sentence = promise(finding.model, finding.asked, finding.of, finding.columns, every, people)
    return {**entry, "words": sentence, "promises_nothing": _promises_nothing(finding, policy)}


def _promises_nothing(finding: Finding, policy: Policy) -> bool:
    return any(
        model.promises_nothing
        for model in policy.constraints
        if (model.name, model.figure, model.column or None)
        == (finding.model, finding.asked, finding.of)
    )


def _risk(found: Histogram, people: PeopleSizes | None = None) -> Reidentification:
    if people is not None:
        return reidentification_of_people(people)
    sizes, classes = np.array(found, np.int64).reshape(-1, 2).T
    return reidentification(sizes, times=classes)


def _environment(release: Release) -> dict[str, str]:
    packages = (*PACKAGES, *(["pyspark"] if release.engine == SPARK else []))
    return {
        "engine": release.engine,
        "python": python_version(),
        **{package: version(package) for package in packages},
    }


def _risk_entry(risk: Reidentification) -> dict[str, Any]:
    """Without the journalist, whose risk is the prosecutor's here."""
    kept = ["rows", "classes", "unique_rows", "unique_share", "threshold", "prosecutor", "marketer"]
    if risk.people is not None:
        kept += ["people", "unique_people"]
    return {key: value for key, value in asdict(risk).items() if key in kept}


def _class_sizes(evidence: Evidence) -> dict[str, Any]:
    if evidence.people_before is not None and evidence.people_after is not None:
        return _class_sizes_of_people(evidence.people_before, evidence.people_after)
    both: Mapping[str, Histogram] = {"before": evidence.before, "after": evidence.after}
    largest = max((size for found in both.values() for size, _ in found), default=1)
    return {when: [asdict(one) for one in binned(found, largest)] for when, found in both.items()}


def _class_sizes_of_people(before: PeopleSizes, after: PeopleSizes) -> dict[str, Any]:
    """Classes by their people, and people by the smallest class that they are in."""
    both = {"before": before, "after": after}
    largest = max((size for one in both.values() for size, _ in one.classes), default=1)
    return {
        when: [
            {"low": bin_.low, "high": bin_.high, "classes": bin_.classes, "people": people}
            for bin_ in binned(one.classes, largest)
            for people in [sum(n for size, n in one.smallest if bin_.low <= size <= bin_.high)]
        ]
        for when, one in both.items()
    }


def _people(release: Release) -> dict[str, Any] | None:
    """How people were counted; None where the policy names no person column."""
    measured = release.measured
    if release.people is None:
        return None
    groups = measured.group_people
    return {
        "counted": people_were_counted(release.findings),
        "input": release.people,
        "published": release.published_people,
        "suppressed": release.suppressed_people,
        "merged_ids": measured.merged_ids,
        "together": release.policy.together,
        "groups": None if groups is None else asdict(groups),
    }


def method_of(policy: Policy) -> dict[str, Any]:
    """The method and its options."""
    named = plain_named(policy.method)
    options = {} if isinstance(named, str) else dict(named)
    name = options.pop("name", named)
    return {"name": name, "options": options}


def _suppression(release: Release) -> dict[str, Any]:
    parts = release.components if len(release.components) > 1 else ()
    people = {}
    if release.people is not None and release.suppressed_people is not None:
        share = release.suppressed_people / release.people
        people = {"people": release.suppressed_people, "people_share": share}
    return people | {
        "rows": release.suppressed_rows,
        "share": release.suppressed_rows / release.rows,
        "limit": release.policy.suppression,
        "how": release.policy.suppressed,
        "components": [
            {"columns": list(part.columns), "rows": part.suppressed_rows} for part in parts
        ],
    }


def _personal(release: Release) -> dict[str, Any]:
    personal: dict[str, Any] = release.to_dict()["personal"]
    for report in personal.values():
        for label in report["labels"]:
            if label["rows"] < COMMON:  # it may look like a value
                label["label"] = HIDDEN
        report["labels"] = list(report["labels"])
    return personal


def _anatomy(release: Release) -> dict[str, Any] | None:
    if release.policy.publish != "anatomy":
        return None
    return {"largest_share": release.largest_share}


def _sample(release: Release, published: ReleaseTable) -> dict[str, Any]:
    """Some published rows; none of Anatomy, whose rows are people as they came in."""
    if release.policy.publish == "anatomy":
        return {"columns": published.names, "rows": [], "hidden": 0}
    kept = None if release.people is None else release.policy.quasi
    return sample(published.names, published.fingerprint, release.evidence.common, kept)


def _engine_options(engine: str) -> str:
    """The options by which a command names the engine."""
    if engine == SPARK:
        return f" --engine {SPARK}"
    return engine.removeprefix(LOCAL)


def _reproduce(release: Release) -> list[str]:
    """Sentences, and commands that begin with `$`."""
    evidence, options = release.evidence, _engine_options(release.engine)
    return [
        f"Take Shoal {__version__}, the policy with the digest {release.policy.fingerprint()}, "
        f"the seed, which its publisher keeps in a private file, and the input: {release.rows:,} "
        f"rows whose columns have the digest {evidence.schema_digest}. The same input gives the "
        "same rows, whatever their order and the engine.",
        f"$ shoal run INPUT POLICY -o RELEASE{options} --seed-file SEED --report report.html",
        "Check that a file is this release and holds what is promised:",
        f"$ shoal verify RELEASE POLICY{options} --certificate report.json",
        *(
            []
            if release.policy.person is None
            else [
                "People are counted with the private key that `shoal run --key` writes: add --key KEY."
            ]
        ),
        "Whoever has the private file can also check that the seed is the one of this certificate: add "
        "--seed-file SEED.",
    ]


def _warnings(release: Release, published: ReleaseTable, after: Reidentification) -> list[str]:
    """The release's own warnings, and what its columns give reason to consider.

    published: the rows of the release's first table. after: the risk of its classes.
    """
    return [
        *release.warnings,
        *_plain_columns(release, published),
        *_identifiers(release),
        *_dominant(release),
        *_risky(release, after),
    ]


def _plain_columns(release: Release, published: ReleaseTable) -> Iterator[str]:
    unique = {one.column for one in release.disclosure.nearly_unique}  # the release warns of these
    for name in release.policy.unchanged:
        if name not in published.names or name in unique:
            continue
        contents = _contents(published, name)
        found = suggest(contents)
        if found.role == "plain" and contents.distinct >= MANY_VALUES:  # numbers that say nothing
            found = Suggestion("quasi", "kept", f"it has {contents.distinct:,} different values")
        if found.role not in ("plain", "preference"):
            yield (
                f"{name} is plain and published as it is, but looks {_like(found.role)}: "
                f"{found.reason}. No guarantee speaks of it."
            )


def _like(role: str) -> str:
    words = {"identifier": "like an identifier", "quasi": "like a quasi-identifier"}
    return {**words, "weight": "like a survey weight"}.get(role, role)


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
            whose = "people" if found.people else "rows"
            yield (
                f"{percent(found.share)} of all {whose} have {called} of {name}: guessing it for "
                "anybody is mostly right, whatever is published."
            )


def _risky(release: Release, after: Reidentification) -> Iterator[str]:
    highest = after.prosecutor.highest
    if release.policy.publish == "anatomy" or highest <= THRESHOLD:
        return
    n = int(np.rint(1 / highest))
    held = counted(n, "row") if after.people is None else counted(n, "person", "people")
    yield (
        f"The smallest published class has {held}, so somebody "
        f"known to be in the table can be found in it with a chance of {percent(highest)}; the usual "
        f"limit is {percent(THRESHOLD)}."
    )


def sample(
    names: Sequence[str],
    found: Fingerprint,
    common: Mapping[str, pa.Array],
    kept: Collection[str] | None = None,
) -> dict[str, Any]:
    """The rows of a release's fingerprint, as text; a missing value is an empty text, a hidden one None.

    Hidden are cells whose text fewer than `COMMON` published rows share, and labels that name a value
    which fewer rows share. common: per column with such labels the values that may be named. kept: the
    columns that are shown, where people are counted: a value that many rows share may be that of one.
    """
    columns = [
        _visible_cells(pc.fill_null(column, "").to_pylist(), times.tolist(), common.get(name))
        if kept is None or name in kept
        else [None] * len(times)
        for name, column, times in zip(names, found.some.columns, found.times, strict=True)
    ]
    rows = [list(row) for row in zip(*columns, strict=True)]
    rows.sort(key=lambda row: [(cell is None, cell or "") for cell in row])
    hidden = sum(cell is None for row in rows for cell in row)
    return {"columns": list(names), "rows": rows, "hidden": hidden}


def _visible_cells(texts: list[str], times: list[int], common: pa.Array | None) -> list[str | None]:
    return [
        text
        if n >= COMMON and (common is None or _named(text) <= _nameable(common, text))
        else None
        for text, n in zip(texts, times, strict=True)
    ]


def _nameable(common: pa.Array, label: str) -> set[str]:
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


@contextmanager
def published_rows(release: Release, table: ReleaseTable | None) -> Iterator[ReleaseTable]:
    """The published rows of a release; `table` where an engine holds them."""
    if table is not None:
        yield table
    elif release.table is None:
        raise InputError(
            "This release holds no rows: they are in the files that the run wrote. Ask the run itself "
            "for the report (`report=`, on the command line `--report`)."
        )
    elif is_spark(release.table):
        with release_in_session(release.table) as opened:
            yield opened
    else:
        rows = release_of_frames(release.table, release.sensitive_tables)
        require_as_made(release, rows)
        yield rows


def _contents(table: ReleaseTable, name: str) -> Contents:
    """The counted values of a column of a published table."""
    if isinstance(table, SessionRelease):
        place, kind = table.stored(name)
        return contents_in_session(table.session, table.table, name, place, kind)
    assert isinstance(table, MemoryRelease | AnatomyRelease)
    return contents_of(name, table.read([name]).column(0))
