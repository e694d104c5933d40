"""A policy in plain statements, for the person who signs the report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shoal import plugins
from shoal.errors import listed, percent
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.mask import Mask
from shoal.policy import Policy
from shoal.policy.column import Column
from shoal.report.formatting import names

MOST_NAMES = 30
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
    "estimated-k-map": "Every combination of {on} stands for at least {asked} people of the population, "
    "an ESTIMATE from the sampling weights and not a count",
    "delta-presence": "Whoever finds somebody in the population learns with a certainty of at most "
    "{percent} that they are in the table",
    "average-risk": "The chance to pick the right row of a person is at most {percent} on average",
}
"""The promise of each model; a model that is not here is described by its own summary."""
PEOPLE = {
    "k": "Every combination of {on} is shared by at least {asked} people",
    "l": "Among the people who share {on} are at least {asked} different values of {of}, and whichever "
    "value is taken, at least {others} of them do not have it",
    "alpha": "No value of {of} belongs to more than {percent} of the people who share {on}",
    "entropy-l": "The values of {of} that people who share {on} have, each once per person, are as "
    "mixed as {asked} equally frequent ones (entropy l-diversity)",
    "recursive-l": "The most frequent value of {of} among people who share {on}, each counted once per "
    "person, is not too frequent beside the rarer ones (recursive l-diversity)",
    "t": "The values of {of} that people who share {on} have, each once per person, are at most "
    "{asked} away from those of all people",
    "beta": "No value of {of} is among people who share {on} more than {asked} times as much more "
    "frequent than among all people",
    "delta": "The share of people with a value of {of} among those who share {on} differs from that "
    "among all people by a factor of at most e to the {asked}",
    "average-risk": "The chance to find the right person is at most {percent} on average",
}
"""The same where people are counted, not rows."""


def promise(
    model: str, asked: float, of: str | None, on: Sequence[str], every: bool, people: bool = False
) -> str:
    """A guarantee in one sentence; `every`: `on` are all quasi columns."""
    template = (MODELS | PEOPLE if people else MODELS).get(model)
    if template is None:
        return f"{plugins.describe(plugins.model(model)).summary} Asked for: {asked:g}."
    columns = "all quasi columns" if every else _joined(on)
    figures = {"asked": f"{asked:g}", "percent": percent(asked), "others": f"{asked - 1:g}"}
    return template.format(**figures, of=of, on=columns) + "."


def policy_statements(policy: Policy, names: Sequence[str]) -> list[str]:
    """A policy sentence by sentence; `names` are the columns of the input."""
    return [
        *_roles(policy, names),
        *(_constraint(policy, model) for model in policy.constraints),
        *_treatment(policy),
    ]


def _roles(policy: Policy, names: Sequence[str]) -> Iterator[str]:
    if policy.identifiers:
        yield f"Not published: {listed(policy.identifiers, MOST_NAMES)}."
    if policy.person is not None:
        yield (
            f"Rows with the same {policy.person} are one person's: people are counted, not rows. The "
            "column is not published, and spellings of one id are one person."
        )
    if policy.together:
        yield (
            "All rows of a person are protected together: whoever knows several of them still finds as "
            "many people as k asks for who have such rows. A person's rows are published all or none."
        )
    if left := [name for name in names if name not in policy.columns]:
        yield f"Not listed in the policy, and so dropped: {listed(left, MOST_NAMES)}."
    if policy.publish == "anatomy":
        yield (
            f"Others may know {_joined(policy.quasi)}. These quasi columns are published as they are; "
            f"the values of {_joined(policy.sensitive)} are published in tables apart, linked to groups "
            "of people and not to single ones."
        )
    else:
        alike: dict[str, list[str]] = {}
        for name in policy.quasi:
            alike.setdefault(_coarser(policy.columns[name], policy.hierarchy_of(name)), []).append(
                name
            )
        each = [f"{listed(named, MOST_NAMES)} {how}" for how, named in alike.items()]
        yield (
            "Others may know these quasi columns, so they are published only as coarsely as the "
            f"guarantees need: {'; '.join(each)}."
        )
    sensitive = [name for name in policy.sensitive if name not in policy.preferences]
    if sensitive and policy.publish != "anatomy":
        yield f"To be protected, and published as they are: {listed(sensitive, MOST_NAMES)}."
    for name, preference in policy.preferences.items():
        yield (
            f"To be protected: {name}. Who asked in {preference} for more protection than their "
            "value has gets a wider value published; what they asked for is not."
        )
    read = set(policy.preferences.values())
    if unread := [name for name in policy.columns_with("preference") if name not in read]:
        yield f"Read by nobody and not published: {listed(unread, MOST_NAMES)}."
    if policy.weight is not None:
        published = {"rounded": "published rounded", "exact": "published as they are"}
        how = published.get(policy.columns[policy.weight].publish or "", "not published")
        yield (
            f"{policy.weight} has the sampling weights, from which the population is estimated; they "
            f"are {how}."
        )
    if plain := [name for name in policy.unchanged if name != policy.weight]:
        names = listed(plain, MOST_NAMES)
        yield f"Published as they are, without any guarantee: {names}."
    for preset in policy.preset:
        sources = "; ".join(map(str, preset.sources))
        yield f"The preset {preset.name} applies: {preset.title}. Source: {sources}."
    for name, rule in policy.column_rules.items():
        yield f"By a rule of the policy, before anything else: {name} ({rule.words})."
    if policy.pseudonyms:
        tokens = listed(policy.pseudonyms, MOST_NAMES)
        yield (
            f"Published as pseudonyms: {tokens}. Tokens made with a secret key take the place of the "
            "identifiers, so that rows of one person can be linked, here and in every table that is "
            "published with the same key. Who has the key can find the people again."
        )


def _coarser(column: Column, spec: Any) -> str:
    """How a quasi column is generalised, in brackets; `spec`: its hierarchy, if that is used."""
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
    statement = promise(model.name, model.figure, of, on, every, policy.person is not None)
    if policy.publish == "anatomy":
        return statement.replace("rows that share all quasi columns", "rows of a group")
    return statement


def _treatment(policy: Policy) -> Iterator[str]:
    method = plugins.describe(type(policy.method))
    yield f"Rows are put into groups by the method {method.name}. {method.summary}"
    treatment = "left out" if policy.suppressed == "withheld" else "published with every cell as *"
    if policy.suppression is None:
        yield f"Rows that fit no group may be suppressed, without a limit; they are {treatment}."
    elif policy.suppression == 0:
        yield "No row may be suppressed."
    else:
        share = percent(policy.suppression)
        what = "the rows" if policy.person is None else "the rows, and of the people,"
        yield f"At most {share} of {what} may be suppressed; such rows are {treatment}."
    if policy.order == "kept":
        yield "Rows leave in the order they came."
    else:
        yield "Rows leave in an order made from what is published alone."
    if policy.population is not None:
        yield "A table of the whole population was looked at."


def _joined(names: Sequence[str]) -> str:
    """`a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def checks_of(policy: Policy, apart: bool) -> list[str]:
    """How the guarantees were checked; apart: some columns were treated apart from all others."""
    checks = [
        "The published rows were read as a stranger would read them, with nothing known of how they "
        "were made: put into classes by the text that stands in their quasi columns.",
        "Every constraint of the policy was checked on every class. A release in which one falls short "
        "is never handed over or written.",
    ]
    if policy.publish == "anatomy":
        checks[0] = (
            "The published tables were read as a stranger would read them: the values of each group "
            "were counted, the groups of all tables were found to fit together, and the order of rows "
            "to tell nothing of their values."
        )
        checks[1] = checks[1].replace("class.", "group.")
    if policy.preferences:
        checks.append(
            "Values that were raised because people asked for it were judged by the values behind "
            "them, and every one was found to follow the rule."
        )
    if policy.person is not None:
        checks.append(
            "People were counted in every class, not rows: the run knows which rows are one person's. "
            "The release does not tell, so whoever has it alone can count rows; people are counted "
            "again with the private key, which stays with the publisher."
        )
    if policy.together:
        checks.append(
            "All rows of a person were judged together: for every person there are as many people as "
            "k asks for who share all of her classes."
        )
    if any(model.needs_weights for model in policy.constraints):
        hidden = (
            " The weights are not published, so the release alone does not show it."
            if policy.withholds_weight
            else ""
        )
        checks.append(
            "The sampling weights of every class were added up to find how many people of the "
            f"population it stands for. That is an estimate: nobody counted these people.{hidden}"
        )
    if policy.suppressed == "starred" or apart:
        checks.append(
            "Rows that were suppressed, and read * throughout, were left out of the classes."
        )
    checks.append(
        "The digest of the published rows is part of this certificate, so that anybody can check that "
        "a file holds these rows and no others."
    )
    return checks


def unguarded(certificate: Mapping[str, Any]) -> list[str]:
    """The sensitive columns of which no constraint promises anything."""
    of = {one["of"] for one in certificate["guarantees"] if not one["promises_nothing"]}
    return [
        one["column"]
        for one in certificate["decisions"]
        if one["role"] == "sensitive" and one["column"] not in of
    ]


def limits_of(certificate: Mapping[str, Any]) -> list[str]:
    """What the guarantees do not cover."""
    models = {one["model"] for one in certificate["guarantees"]}
    found = [
        "Roles that are wrong: if others know a column that the policy calls plain or sensitive, no "
        "guarantee speaks of it.",
        "Several releases of one table: they can be laid side by side. Publish one.",
    ]
    if "estimated-k-map" in models:
        found.append(
            "Weights that are wrong: estimated-k-map is an estimate from the sampling weights, and "
            "speaks of people who do not know who took part."
        )
    if open_ := unguarded(certificate):
        found.append(
            f"What is learnt of {names(open_, MOST_NAMES)}: no constraint names "
            f"{'it' if len(open_) == 1 else 'them'}, so all rows that look alike may share one value."
        )
    if "delta-presence" not in models:
        found.append("Being in the table: it is not hidden that somebody is part of it.")
    if not models & {"alpha", "t", "beta", "delta", "entropy-l", "recursive-l"}:
        found.append(
            "Good guesses: nothing bounds how common one sensitive value is among rows that look alike."
        )
    return found
