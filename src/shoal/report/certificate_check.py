"""Whether a certificate fits a release: what it states is checked against the rows again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from shoal.engines.release_table import MemoryRelease, ReleaseTable, Verdict, with_presets
from shoal.errors import InputError, VerificationFailed, listed
from shoal.evidence.estimated_risk import risk_of_classes
from shoal.io.csv_dialect import CsvOptions
from shoal.pipeline.withheld_weights import stated_findings, without_estimates
from shoal.policy import Policy
from shoal.policy.canonical import fingerprint, to_data
from shoal.policy.released_columns import suppressible_components
from shoal.report.certificate import (
    FORMAT,
    SEAL,
    external_presets,
    file_digests,
    guarantee,
    internal_presets,
    is_external,
    method_of,
    risk_of,
    seal_of,
)
from shoal.report.statements import policy_statements
from shoal.risk.criteria import criteria_of
from shoal.seeds import Seed
from shoal.verification.check import Finding

NEARLY = 1e-8
NO_TABLES: Mapping[str, ReleaseTable] = {}
NEEDED = ("shoal", "made", "policy", "release", "guarantees", SEAL)
SAME = ("model", "asked", "of", "columns", "options")
"""What makes two guarantees the same."""
FIGURES = ("reached", "classes", "failing", "smallest_failing", "rows", "holds")
AT_WORST = ("reached", "failing", "smallest_failing", "holds")
"""Figures that cannot be checked in a file alone for a column with preferences."""


def read_certificate(path: Path) -> dict[str, Any]:
    """The certificate in a file; raises `InputError` where it is not one."""
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise InputError(
            f"{path} is no certificate: it is not JSON, or has a key twice. {_WHICH}"
        ) from None
    if not isinstance(found, dict) or type(found.get("certificate")) is not int:
        raise InputError(f"{path} is no certificate of Shoal. {_WHICH}")
    if not 1 <= found["certificate"] <= FORMAT:
        raise InputError(
            f"{path} has the format {found['certificate']}, but this Shoal reads 1 to {FORMAT}. If it "
            "was made by a newer one, take that one, or a later."
        )
    missing = [key for key in NEEDED if key not in found]
    if missing or not all(isinstance(found[key], dict) for key in ("policy", "release")):
        raise InputError(f"{path} is no whole certificate. {_WHICH}")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without duplicate keys, of which a person might read one and a program the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _no_number(_: str) -> None:
    raise ValueError


_WHICH = "Give the .json file that `shoal run --report` wrote beside the page."


def differences(
    certificate: Mapping[str, Any],
    policy: Policy,
    path: Path,
    others: Mapping[str, Path],
    findings: Sequence[Finding],
    options: CsvOptions,
) -> list[str]:
    """What a certificate states differently from the release in `path` and its policy, a sentence each.

    others: the further files of the release, by sensitive column. findings: those of verifying them.
    """
    apart = {name: MemoryRelease(file, options) for name, file in others.items()}
    return differences_of(certificate, policy, MemoryRelease(path, options), findings, apart)


def differences_of(
    certificate: Mapping[str, Any],
    policy: Policy,
    released: ReleaseTable,
    findings: Sequence[Finding],
    apart: Mapping[str, ReleaseTable] = NO_TABLES,
    seed: Seed | None = None,
    people: int | None = None,
) -> list[str]:
    """The same for rows that an engine holds; apart: the tables of sensitive columns.

    seed: the seed of the run, to be compared with the commitment to it. people: how many people the
    release has rows of, where its key is known.
    """
    return [
        *_sealed(certificate),
        *_seed(certificate, seed),
        *_policy(certificate, policy, seed),
        *_risk(certificate, policy, released),
        *_disclosure(certificate, policy, released),
        *_weighted(certificate, policy, released),
        *_criteria(certificate, policy, released),
        *_people(certificate, policy, people),
        *_rows(certificate["release"], released, apart),
        *_guarantees(certificate, findings, policy),
        *_presets(certificate, policy, released, findings, people),
    ]


def require_fits(found: Sequence[str]) -> None:
    """Raise `VerificationFailed` unless there is no difference."""
    if found:
        raise VerificationFailed("\n".join(["The certificate does not fit:", *found]))


def _sealed(certificate: Mapping[str, Any]) -> Iterator[str]:
    if certificate[SEAL] != seal_of(certificate):
        yield "The certificate was changed after it was made: its seal does not fit what it holds."


def _seed(certificate: Mapping[str, Any], seed: Seed | None) -> Iterator[str]:
    if seed is not None and certificate.get("seed_commitment") != seed.commitment:
        yield "The seed file is not the one of the run: it does not fit the certificate's commitment."


def _policy(
    certificate: Mapping[str, Any], policy: Policy, private: Seed | None = None
) -> Iterator[str]:
    """What follows from the policy: its data and statements, and the files that it uses."""
    if is_external(certificate):
        yield from _external_policy(certificate, policy, private)
        return
    # in the first format the policy held the seed
    seed = certificate.get("seed") if certificate["certificate"] == 1 else None
    theirs, ours = certificate["policy"].get("data"), _plain(to_data(policy, seed))
    if certificate["policy"].get("digest") != fingerprint(policy, seed) or theirs != ours:
        other = ""
        if isinstance(theirs, dict):
            keys = [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
            other = f" They differ in {listed(keys)}." if keys else ""
        yield f"The certificate is of another policy than the one given.{other}"
        return
    files, now = certificate["policy"].get("files"), file_digests(policy)
    if files != now:
        then = files if isinstance(files, dict) else {}
        changed = [one for one in {**now, **then} if then.get(one) != now.get(one)]
        yield f"Files that the policy uses have changed: {listed(changed)}."
    columns = (
        certificate["input"].get("columns") if isinstance(certificate.get("input"), dict) else None
    )
    words = policy_statements(policy, columns) if isinstance(columns, list) else None
    wrong = [] if certificate.get("method") == _plain(method_of(policy)) else ["method"]
    if seed is not None and policy.seed not in (None, seed):
        wrong.append("seed")
    if certificate["policy"].get("words") != words:
        wrong.append("policy in words")
    if wrong:
        yield f"What the certificate states about the policy does not follow from it: {listed(wrong)}."


def _external_policy(
    certificate: Mapping[str, Any], policy: Policy, private: Seed | None
) -> Iterator[str]:
    """What the certificate for others repeats of the policy; all of it only with the private salt."""
    stated = certificate["policy"].get("commitment")
    if private is not None and stated != private.committed(fingerprint(policy)):
        yield "The certificate is of another policy than the one given."
        return
    decided = certificate.get("decisions")
    roles = [
        {"column": name, "role": policy.columns[name].role, "why": None}
        for one in (decided if isinstance(decided, list) else [])
        if isinstance(one, dict) and (name := one.get("column")) in policy.columns
    ]
    wrong = [] if decided == roles else ["decisions"]
    if certificate.get("about") != _plain(policy.about.given()):
        wrong.append("about")
    if certificate.get("suppressed") != policy.suppressed:
        wrong.append("suppressed")
    if wrong:
        yield f"What the certificate states about the policy does not follow from it: {listed(wrong)}."


def _plain(value: Any) -> Any:
    """As it is after a round trip through JSON."""
    return json.loads(json.dumps(value))


def _risk(certificate: Mapping[str, Any], policy: Policy, released: ReleaseTable) -> Iterator[str]:
    """The risk of the release, counted again; not where rows may be starred, or values are apart."""
    parts = any(model.quasi for model in policy.constraints)
    if policy.publish != "generalised" or policy.suppressed != "withheld" or parts:
        return
    risk = certificate.get("risk")
    theirs = risk.get("after") if isinstance(risk, dict) else None
    people = released.people_sizes(policy.quasi)
    if policy.person is not None and people is None:
        return  # only the key tells people apart
    if theirs != _plain(risk_of(released.class_sizes(policy.quasi), people)):
        yield "The risk after, as the certificate states it, is not that of the release."


def _disclosure(
    certificate: Mapping[str, Any], policy: Policy, released: ReleaseTable
) -> Iterator[str]:
    """Who is alone on quasi and plain columns, and with sensitive ones; not if rows may be starred."""
    stated = certificate.get("disclosure")
    if not isinstance(stated, dict) or stated.get("unit") != "row":
        return  # of an older format, or of people, whom only the owner of the table can count
    if policy.suppressed != "withheld" or any(model.quasi for model in policy.constraints):
        return
    sizes = released.class_sizes([*policy.quasi, *policy.unchanged])
    alone = sum(classes for size, classes in sizes if size == 1)
    if stated.get("alone") != alone:
        yield (
            f"{alone:,} rows of the release are alone on quasi and plain columns, "
            f"{_number(stated.get('alone'))} in the certificate."
        )
    if policy.publish == "anatomy" or "alone_with_sensitive" not in stated:
        return
    sizes = released.class_sizes([*policy.quasi, *policy.unchanged, *policy.sensitive])
    alone = sum(classes for size, classes in sizes if size == 1)
    if stated["alone_with_sensitive"] != alone:
        yield (
            f"{alone:,} rows of the release are alone on quasi, plain and sensitive columns, "
            f"{_number(stated['alone_with_sensitive'])} in the certificate."
        )
    for one in stated.get("alone_by_sensitive") or ():
        name = one.get("column") if isinstance(one, dict) else None
        if name not in policy.sensitive:
            continue
        sizes = released.class_sizes([*policy.quasi, name])
        alone = sum(classes for size, classes in sizes if size == 1)
        if one.get("alone") != alone:
            yield (
                f"{alone:,} rows of the release are alone on quasi columns and {name}, "
                f"{_number(one.get('alone'))} in the certificate."
            )


def _criteria(
    certificate: Mapping[str, Any], policy: Policy, released: ReleaseTable
) -> Iterator[str]:
    """Singling out and linkability, counted again."""
    stated = certificate.get("criteria")
    if not isinstance(stated, dict) or policy.person is not None:
        return  # of an older format, or of people, whom only the owner of the table can count
    found = _plain(criteria_of(released, policy).to_dict())
    theirs, ours = stated.get("linkability"), found["linkability"]
    if isinstance(theirs, dict) and _nearly(theirs.get("linked_across"), ours["linked_across"]):
        ours["linked_across"] = theirs.get("linked_across")
    wrong = [
        key
        for key in ("unit", "published", "singling_out", "linkability")
        if stated.get(key) != found[key]
    ]
    if wrong:
        named = listed(key.replace("_", " ") for key in wrong)
        yield f"What the certificate states about {named} is not what was found in the release."


def _nearly(one: Any, other: Any) -> bool:
    """Whether two shares are the same, as engines add them up in different orders."""
    return isinstance(one, float) and isinstance(other, float) and abs(one - other) <= NEARLY


def _people(certificate: Mapping[str, Any], policy: Policy, people: int | None) -> Iterator[str]:
    """How people were counted, and how many of them there are."""
    stated = certificate.get("people")
    if policy.person is None:
        if stated is not None:
            yield "The certificate counts people, but no column of the policy has the role person."
        return
    if not isinstance(stated, dict) or stated.get("counted") is not True:
        yield "The policy means people, but the certificate does not say that they were counted."
        return
    if stated.get("together") is not policy.together:
        yield "Whether all rows of a person were judged together is not what the policy says."
    if people is not None and stated.get("published") != people:
        yield (
            f"The release has rows of {people:,} people, the certificate of "
            f"{_number(stated.get('published'))}."
        )


def _weighted(
    certificate: Mapping[str, Any], policy: Policy, released: ReleaseTable
) -> Iterator[str]:
    """What is estimated from weights that the release has: added up again, where rows are people.

    An external certificate does not speak of the population.
    """
    stated = certificate.get("weighted")
    if policy.weight is None or certificate["certificate"] == 1 or is_external(certificate):
        return
    if not isinstance(stated, dict) or stated.get("column") != policy.weight:
        yield "It does not state the population that the policy's weights stand for."
        return
    hidden = policy.weight not in released.names or policy.person is not None
    if hidden or suppressible_components(policy) or not isinstance(released, MemoryRelease):
        return
    counts = released.weights_of_classes(policy, policy.quasi)
    assert counts.weights is not None
    if stated.get("after") != asdict(risk_of_classes(counts.sizes, counts.weights)):
        yield "It states another estimate of the population than the weights of the release give."


def _rows(
    stated: Mapping[str, Any], released: ReleaseTable, apart: Mapping[str, ReleaseTable]
) -> Iterator[str]:
    names, rows = released.names, released.n_rows
    if names != stated.get("columns"):
        theirs = stated.get("columns")
        shown = listed(map(str, theirs)) if isinstance(theirs, list) else "none"
        yield f"The file has the columns {listed(names)}, the certificate {shown}."
    if type(stated.get("rows")) is not int or rows != stated["rows"]:
        yield f"The file has {rows:,} rows, the certificate {_number(stated.get('rows'))}."
    elif released.fingerprint.digest != stated.get("digest"):
        yield "The rows of the file are not those the certificate was made for: their digests differ."
    digests = stated.get("sensitive_digests")
    digests = digests if isinstance(digests, dict) else {}
    if set(digests) != set(apart):
        yield (
            f"The release has tables apart for {listed(apart) or 'no column'}, the certificate for "
            f"{listed(digests) or 'no column'}."
        )
    for name in sorted(set(digests) & set(apart)):
        if apart[name].fingerprint.digest != digests[name]:
            yield f"The table of {name} is not the one the certificate was made for."


def _guarantees(
    certificate: Mapping[str, Any], findings: Sequence[Finding], policy: Policy
) -> Iterator[str]:
    stated = certificate["guarantees"]
    if is_external(certificate):
        findings = [without_estimates(finding, policy) for finding in findings]
    findings = stated_findings(findings, policy)
    ours = [json.loads(json.dumps(finding.to_dict())) for finding in findings]
    if not isinstance(stated, list) or [_same(one) for one in stated] != [
        _same(one) for one in ours
    ]:
        yield "The certificate has other guarantees than the policy."
        return
    if policy.person is not None and any(one.get("counted") != "people" for one in stated):
        yield "The policy means people, but the certificate counted rows."
        return
    for theirs, found, finding in zip(stated, ours, findings, strict=True):
        if theirs.get("words") != guarantee(finding, policy)["words"]:
            yield f"{found['model']}: the certificate states it differently from the policy."
        left_out = AT_WORST if found["of"] in policy.preferences else ()
        if theirs.get("counted") != finding.counted:  # only the key tells people apart
            left_out = AT_WORST
        for figure in FIGURES:
            if figure not in left_out and theirs.get(figure) != found[figure]:
                of = f" of {found['of']}" if found["of"] else ""
                yield (
                    f"{found['model']}{of}: {figure.replace('_', ' ')} is "
                    f"{_number(found[figure])} in the release, {_number(theirs.get(figure))} in the "
                    "certificate."
                )


def _presets(
    certificate: Mapping[str, Any],
    policy: Policy,
    released: ReleaseTable,
    findings: Sequence[Finding],
    people: int | None,
) -> Iterator[str]:
    """What became of the policy's presets; without its key only the rows of a release are counted."""
    found = with_presets(released, policy, Verdict(tuple(findings))).presets
    form = external_presets if is_external(certificate) else internal_presets
    ours, theirs = _plain(form(found)), certificate.get("presets", [])
    if policy.person is not None and people is None:
        ours, theirs = _without_counts(ours), _without_counts(theirs)
    if ours != theirs:
        yield "What the certificate states about presets is not what was found in the release."


def _without_counts(presets: Any) -> Any:
    """Presets without what depends on whether people or rows were counted."""
    if not isinstance(presets, list) or not all(isinstance(one, dict) for one in presets):
        return presets
    kept = ("name", "title", "sources", "to_judge", "options")
    return [{key: one.get(key) for key in kept} for one in presets]


def _same(one: Any) -> Any:
    return [one.get(key) for key in SAME] if isinstance(one, Mapping) else None


def _number(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return (
        f"{value:,}"
        if isinstance(value, int)
        else f"{value:g}"
        if isinstance(value, float)
        else "no number"
    )
