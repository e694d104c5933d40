"""What may make an attack look weaker than it is, or its release odd."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from shoal.errors import listed
from shoal.policy import Policy
from shoal.policy.anatomy import group_name
from shoal.publish.covering import distinct_texts
from shoal.risk.linking import Linked, link_raw, link_release

if TYPE_CHECKING:
    from shoal.risk.attack import Attack, Tables

SAME_WAY = "written the same way?"


def doubts(found: "Attack", tables: "Tables", policy: Policy) -> Iterator[str]:
    """The warnings of an attack, a sentence each; no value is in them."""
    allowed = set(policy.published(tables.held))
    if policy.publish == "anatomy":
        allowed = allowed - set(policy.sensitive) | {group_name(policy)}
        if not tables.sensitive:
            yield (
                "The sensitive values of an Anatomy release are in tables of their own, which are not "
                "here. Give the `Release` itself or the path of its file to see what they tell."
            )
    if extra := [name for name in tables.held if name not in allowed]:
        yield (
            f"The release holds {listed(map(repr, extra))}, which the policy does not let be "
            "published. Is this the release, and the policy it was made by?"
        )
    for name, count in found.release.unread.items():
        labels = f"{count:,} label{'' if count == 1 else 's'}"
        yield f"{labels} of {name} could not be read and cover{'s' if count == 1 else ''} nobody."
    if found.release.linked == 0:
        alone = [name for name in found.columns if not _links(tables, policy, name)]
        yield _nobody("the release", alone or found.columns)
    if tables.raw is not None and found.raw is not None and found.raw.linked == 0:
        yield _nobody("the raw table", found.columns)
    for name in policy.sensitive:
        held = tables.sensitive.get(name, tables.release)
        if name in tables.known.column_names and name in held.column_names:
            theirs = _texts(name, tables.known)
            if theirs and theirs.isdisjoint(_texts(name, held)):
                yield (
                    f"None of the values of {name} in {_called(tables)} occurs in the release: are "
                    f"they {SAME_WAY}"
                )


def _called(tables: "Tables") -> str:
    called = tables.known_called
    return called if called != type(tables).known_called else called.lower()


def _nobody(what: str, names: Sequence[str]) -> str:
    return f"Nobody links to {what}: are the values of {listed(names)} {SAME_WAY}"


def _links(tables: "Tables", policy: Policy, name: str) -> bool:
    """Whether anybody links by one column alone."""
    how = {name: policy.how(name)}
    linked: Linked
    if policy.publish == "anatomy":
        linked = link_raw(tables.release, tables.known, [name], how)
    else:
        linked = link_release(tables.release, tables.known, [name], how, policy.folder)
    return any(len(part.classes) for part in linked.matches)


def _texts(name: str, table: pa.Table) -> set[str]:
    return set(distinct_texts(name, table.column(name)).texts)
