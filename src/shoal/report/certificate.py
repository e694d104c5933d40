"""The certificate: all that a report tells, as plain values, which `shoal verify` can check."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from platform import python_version
from typing import Any

import numpy as np

from shoal.cells.tally import COMMON
from shoal.evidence.evidence import Evidence, Histogram
from shoal.evidence.sizes import binned
from shoal.hierarchy.csv_file import CsvFile
from shoal.large.held import Held
from shoal.pipeline.opening import LOCAL, SPARK
from shoal.policy import Policy
from shoal.policy.canonical import to_data
from shoal.policy.parts import plain_named
from shoal.release import Release
from shoal.report.released import Released, digests_of, rows_of
from shoal.report.sample import sample
from shoal.report.warnings import warnings
from shoal.report.words import policy_words, promise
from shoal.risk.reidentification import Reidentification, reidentification
from shoal.verification.check import Finding
from shoal.version import __version__

FORMAT = 1
"""Grows when a reader of older certificates would misread a new one."""
SEAL = "seal"
HIDDEN = "…"
PACKAGES = ("numpy", "numba", "duckdb", "pyarrow")


def certificate(release: Release, held: Held | None = None) -> dict[str, Any]:
    """Everything a report shows of a release, for JSON. It holds no row that was not published, and
    no value that few rows share.

    held: the release's rows, where they are in a session that is open.
    """
    with rows_of(release, held) as published:
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


def _told_of(release: Release, published: Released) -> dict[str, Any]:
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


def _sample(release: Release, published: Released) -> dict[str, Any]:
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
