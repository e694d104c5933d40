"""What must hold between the parts of a policy, and between a policy and a table.

Contradictions are problems; what is allowed but may be unintended is a warning.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from shoal import plugins
from shoal.errors import listed, nearest
from shoal.models.base import SIZES_ONLY
from shoal.policy import anatomy
from shoal.policy.column import DECIDE, HOW_TO_DECIDE, NO_OPEN_END
from shoal.policy.messages import FieldPath, Problem, choice
from shoal.policy.parts import plain_constraint

if TYPE_CHECKING:
    from shoal.policy.policy import Policy


def problems(policy: "Policy") -> list[Problem]:
    """All contradictions inside the policy."""
    return [
        *_no_quasi(policy),
        *_person(policy),
        *_weight(policy),
        *_preferences(policy),
        *_constraints(policy),
        *_repeated(policy),
        *_target(policy),
        *_metrics(policy),
        *_open_ends(policy),
        *anatomy.problems(policy),
        *_population(policy),
        *_estimated(policy),
        *_pseudonyms(policy),
        *_refine(policy),
        *_labels(policy),
        *_importance(policy),
        *_predict(policy),
    ]


def warnings(policy: "Policy") -> list[str]:
    """What a careful publisher should reconsider."""
    return [
        *_unprotected(policy),
        *_unused_preferences(policy),
        *_uncovered(policy),
        *_weak(policy),
        *_kept_order(policy),
        *_linkable(policy),
        *_exact_weight(policy),
        *_estimate_alone(policy),
        *_hidden_weights(policy),
        *anatomy.warnings(policy),
    ]


def table_problems(policy: "Policy", names: Sequence[str]) -> Iterator[Problem]:
    """Everything that keeps the policy from being applied to a table with these columns."""
    if not any(name in policy.columns for name in names):
        # the table's names are not shown: in a file without a header they are a person's row
        yield Problem(
            ("columns",),
            f"none of them is in the table, which has {len(names)} other columns. Is this the policy "
            "of another table, or does the file have no header, or another separator? The policy "
            f"lists {listed(policy.columns)}",
        )
        return
    unlisted = [name for name in names if name not in policy.columns]
    there = set(names)
    for name in policy.columns:
        if name not in there:
            # a column that the policy does not list is the most likely one to be meant
            suggestion = nearest(name, unlisted) or nearest(name, names)
            text = f".{suggestion}" if suggestion else f"; it has {listed(names, 30)}"
            yield Problem(("columns", name), f"the table has no such column{text}")
    if unlisted and policy.default != "drop":
        yield Problem(
            ("columns",),
            f"the table also has {listed(unlisted, 30)}; list each under `columns` with a role, or "
            "set `default: drop` to leave such columns out",
        )


def with_sensitive(problems: Sequence[Problem], data: Any) -> list[Problem]:
    """The problems, where a constraint lacks its column with the columns that are possible."""
    columns = data.get("columns") if isinstance(data, Mapping) else None
    each = columns.items() if isinstance(columns, Mapping) else ()
    roles = {n: c.get("role") if isinstance(c, Mapping) else getattr(c, "role", c) for n, c in each}
    allowed = listed(str(name) for name, role in roles.items() if role == "sensitive")
    return [
        Problem(path, f"{text.removesuffix('.')}; allowed: {allowed or 'there is none'}")
        if path[:1] == ("constraints",) and path[-1] == "of" and text.startswith("missing.")
        else Problem(path, text)
        for path, text in problems
    ]


def with_undecided(problems: Sequence[Problem]) -> list[Problem]:
    """The problems, with one for all columns that nobody has decided: every one of them is named."""
    open_ = [problem for problem in problems if problem.text == DECIDE]
    if len(open_) < 2:
        return list(problems)
    names = ", ".join(str(problem.path[-1]) for problem in open_)
    words = f"{len(open_)} columns are undecided: {names}. For each, {HOW_TO_DECIDE}"
    others = [problem for problem in problems if problem.text != DECIDE]
    return [Problem(("columns",), words), *others]


def _no_quasi(policy: "Policy") -> Iterator[Problem]:
    if not policy.quasi:
        yield Problem(
            ("columns",),
            "no column has the role quasi; give it to the columns by which people can be "
            "recognised, such as age or zip",
        )


def _labels(policy: "Policy") -> Iterator[Problem]:
    """Other labels than ranges belong to groups, which Anatomy does not publish; and only labels that
    cover their values can be compared with a population."""
    for name in policy.quasi:
        form = policy.columns[name].labels
        if form in (None, "range"):
            continue
        if policy.publish == "anatomy":
            words = (
                f"found {form}, but `publish: anatomy` publishes the values as they are; leave `labels` "
                "out, or choose `publish: generalised`"
            )
            yield Problem(("columns", name, "labels"), words)
        compared = [model.name for model in policy.constraints if model.needs_population]
        if form == "uniform" and policy.together:
            words = (
                "found uniform, but `together` of the person column puts the rows of a person into "
                "several classes, which cannot have fixed labels; leave one of the two out"
            )
            yield Problem(("columns", name, "labels"), words)
        if compared and form != "uniform":
            words = (
                f"found {form}, but {listed(compared)} counts the people of a population whose values a "
                "label covers, and a single value does not say which; allowed here: range, uniform"
            )
            yield Problem(("columns", name, "labels"), words)
        if form != "uniform" and policy.method.along_hierarchies and _counts_across_groups(policy):
            words = (
                f"found {form}, but {policy.method.name} meets constraints on some columns across "
                f"groups, each of which would have a {form} of its own; allowed here: range, uniform. "
                "Or choose another method"
            )
            yield Problem(("columns", name, "labels"), words)


def _counts_across_groups(policy: "Policy") -> bool:
    """Whether a constraint on some columns may be met by several groups together, so that these must
    read alike: where it shares columns with another one, or all of them make one set of groups."""
    sets = {frozenset(model.quasi_of(policy.quasi)) for model in policy.constraints}
    overlap = any(one & other for one, other in combinations(sets, 2))
    return overlap or (len(sets) > 1 and policy.method.name == "datafly")


def _person(policy: "Policy") -> Iterator[Problem]:
    """People are told apart by one column, and not combined with what counts rows."""
    people = policy.columns_with("person")
    if len(people) > 1:
        words = (
            f"{listed(people)} all have the role person; a person is told apart by one column. Give "
            "the role to one, and make the others identifiers"
        )
        yield Problem(("columns",), words)
    if not people:
        return
    if policy.publish == "anatomy":
        words = (
            "anatomy publishes how many rows have each value, not how many people, so it cannot be "
            f"combined with the person column '{people[0]}'; choose generalised"
        )
        yield Problem(("publish",), words)
    for name in policy.preferences:
        words = (
            f"a personal preference belongs to a row and cannot be combined with the person column "
            f"'{people[0]}'; leave one of the two out"
        )
        yield Problem(("columns", name, "preference"), words)


def _weight(policy: "Policy") -> Iterator[Problem]:
    """There is one weight: a population cannot be estimated by two."""
    weights = policy.columns_with("weight")
    if len(weights) > 1:
        words = (
            f"{listed(weights)} all have the role weight; the population is estimated by one. Give the "
            "role to the weight of a row's person, and make the others identifiers"
        )
        yield Problem(("columns",), words)


def _preferences(policy: "Policy") -> Iterator[Problem]:
    for name, preference in policy.preferences.items():
        yield from _has_role(policy, ("columns", name, "preference"), preference, "preference")
        hierarchy = policy.columns[name].hierarchy
        if hierarchy is not None and hierarchy.from_values:
            words = (
                "is derived from the table's values; a column with a `preference` needs one that is "
                "written out, as a `tree` or a `csv` file"
            )
            yield Problem(("columns", name, "hierarchy"), words)
    for place, model in enumerate(policy.constraints):
        if model.column in policy.preferences and not model.accepts_wider_values:
            allowed = [name for name, each in plugins.models().items() if each.accepts_wider_values]
            words = (
                f"'{model.column}' has a `preference`: some of its values are published as more "
                f"general ones, on which {model.name} cannot be verified; allowed: "
                f"{listed(allowed)}"
            )
            yield Problem(("constraints", place), words)


def _constraints(policy: "Policy") -> Iterator[Problem]:
    if not policy.constraints:
        words = "found an empty list; write at least one, as in `constraints: [{k: 5}]`"
        yield Problem(("constraints",), words)
    for place, model in enumerate(policy.constraints):
        of, on = model.column, model.quasi
        if of != SIZES_ONLY:
            yield from _has_role(policy, ("constraints", place, "of"), of, "sensitive")
            yield from _measurable(policy, place, model)
        if on is not None:
            yield from _column_list(policy, ("constraints", place, "on"), on)


def _measurable(policy: "Policy", place: int, model: Any) -> Iterator[Problem]:
    """A distance between values needs the order or hierarchy that it is computed from."""
    column, needed = policy.columns.get(model.column), model.column_kind
    if column is None or column.role != "sensitive":
        return  # reported already
    missing = {
        "ordered": column.kind != "ordered" and "`kind: ordered` (numbers, dates) or an `order`",
        "hierarchical": column.hierarchy is None and "a `hierarchy`",
    }.get(needed or "")
    if missing:
        words = f"'{needed}' needs {missing} on the column '{model.column}'"
        yield Problem(("constraints", place, "distance"), words)


def _column_list(policy: "Policy", path: FieldPath, on: tuple[str, ...]) -> Iterator[Problem]:
    if not on:
        yield Problem(path, "is empty; name quasi columns, or leave `on` out to mean all of them")
    for at, name in enumerate(on):
        if name in on[:at]:
            yield Problem((*path, at), f"'{name}' is listed twice; keep one")
        else:
            yield from _has_role(policy, (*path, at), name, "quasi")


def _has_role(policy: "Policy", path: FieldPath, name: str, role: str) -> Iterator[Problem]:
    allowed = policy.columns_with(role)
    if name in allowed:
        return
    if name in policy.columns:
        yield Problem(
            path,
            f"'{name}' has the role {policy.columns[name].role}; only {role} columns are "
            f"allowed here: {listed(allowed) or 'there are none'}",
        )
    elif allowed:
        yield Problem(path, choice(name, allowed))
    else:
        yield Problem(path, f"found '{name}'; no column has the role {role}")


def _repeated(policy: "Policy") -> Iterator[Problem]:
    """Two equal constraints are a slip: one was meant to be different."""
    first: dict[str, int] = {}
    for place, model in enumerate(policy.constraints):
        meaning = _meaning(policy, model)
        if meaning in first:
            words = f"is the same as constraints[{first[meaning]}]; remove one of them"
            yield Problem(("constraints", place), words)
        first.setdefault(meaning, place)


def _meaning(policy: "Policy", model: Any) -> str:
    fields = plain_constraint(model)
    if not model.column:
        fields["on"] = sorted(policy.quasi if model.quasi is None else model.quasi)
    return repr(fields)


def _target(policy: "Policy") -> Iterator[Problem]:
    if policy.target is None:
        return
    allowed = [name for name, column in policy.columns.items() if column.is_published]
    if policy.target in allowed:
        return
    if policy.target in policy.columns:
        role = policy.columns[policy.target].role
        words = f"'{policy.target}' has the role {role} and is not published; choose another column"
        yield Problem(("target",), words)
    else:
        yield Problem(("target",), choice(policy.target, allowed))


def _metrics(policy: "Policy") -> Iterator[Problem]:
    seen: set[type] = set()
    for place, metric in enumerate(policy.metrics):
        if type(metric) in seen:
            name = plugins.name_of(type(metric))
            yield Problem(("metrics", place), f"'{name}' is listed twice; keep one")
        seen.add(type(metric))


def _open_ends(policy: "Policy") -> Iterator[Problem]:
    """A hierarchy beside a kind is only in the way of `top` and `bottom` where the method takes it."""
    for name in policy.quasi:
        column = policy.columns[name]
        ends = [key for key in ("top", "bottom") if getattr(column, key) is not None]
        if ends and policy.hierarchy_of(name) is not None:
            yield Problem(("columns", name, ends[0]), NO_OPEN_END)


def _population(policy: "Policy") -> Iterator[Problem]:
    models = [model.name for model in policy.constraints if model.needs_population]
    if models and policy.population is None:
        words = (
            f"missing; {listed(models)} needs it, a table of the whole population: a file's path, or "
            "from Python any table"
        )
        yield Problem(("population",), words)
    if policy.population is not None and not models:
        words = "found, but no constraint uses it; k-map and delta-presence do"
        yield Problem(("population",), words)


def _estimated(policy: "Policy") -> Iterator[Problem]:
    for place, model in enumerate(policy.constraints):
        if model.needs_weights and policy.weight is None:
            words = (
                f"{model.name} is estimated from sampling weights, but no column has the role weight; "
                "give it to the column of weights, or use k"
            )
            yield Problem(("constraints", place), words)


def _unprotected(policy: "Policy") -> Iterator[str]:
    protected = {model.column for model in policy.constraints if not model.promises_nothing}
    for name in policy.sensitive:
        if name not in protected:
            yield (
                f"No constraint protects the sensitive column {name}: where all rows of a group share "
                f"one value, it is disclosed for everyone in the group. Consider {{l: 2, of: {name}}}, "
                f"or {{t: 0.3, of: {name}, distance: ordered}} if it has more than 20 different numbers."
            )


def _unused_preferences(policy: "Policy") -> Iterator[str]:
    used = set(policy.preferences.values())
    for name in policy.columns_with("preference"):
        if name not in used:
            yield (
                f"No sensitive column has `preference: {name}`, so the preferences in it have no "
                "effect."
            )


def _uncovered(policy: "Policy") -> Iterator[str]:
    lists = [model.quasi for model in policy.constraints]
    if any(on is None for on in lists):
        return
    covered = {name for on in lists for name in on or ()}
    if left := [name for name in policy.quasi if name not in covered]:
        yield (
            f"No constraint covers the quasi columns {listed(left)}: people may be re-identified by "
            "them. Name them in an `on`, or add a constraint without one."
        )


def _weak(policy: "Policy") -> Iterator[str]:
    for model in policy.constraints:
        if model.promises_nothing:
            better = "2 or more" if model.high_is_strong else "less"
            yield (
                f"{model.name} of {model.figure:g} has no effect: every table satisfies it, and nobody "
                f"is protected by it. Choose {better}."
            )


def _kept_order(policy: "Policy") -> Iterator[str]:
    if policy.order == "kept":
        yield (
            "order: kept leaves the rows in the order of the input, so anyone who knows that order can "
            "tell whose row is whose. Use it only where nobody else does."
        )
        if policy.person is not None:
            yield (
                "order: kept leaves the rows of a person where they stood: rows beside each other may "
                "be one person's, and whoever guesses so puts them together. Leave `order` out, and "
                "rows are sorted by what is published of them."
            )


def _predict(policy: "Policy") -> Iterator[Problem]:
    """What is predicted is published, and gives nothing away by the groups."""
    name = policy.predict
    if name is None:
        return
    allowed = [n for n, column in policy.columns.items() if column.role in ("quasi", "plain")]
    role = policy.columns[name].role if name in policy.columns else None
    if role is None:
        yield Problem(("predict",), choice(name, allowed))
    elif role == "sensitive":
        words = (
            f"'{name}' is sensitive, and sensitive values must not steer the groups; allowed: "
            f"{listed(allowed)}"
        )
        yield Problem(("predict",), words)
    elif name not in allowed:
        words = (
            f"'{name}' has the role {role}, and only a column that is published as it is, or "
            f"generalised, can be predicted; allowed: {listed(allowed)}"
        )
        yield Problem(("predict",), words)
    if policy.publish == "anatomy":
        words = (
            "has no effect with `publish: anatomy`, where quasi columns stay exact; leave it out, or "
            "choose generalised"
        )
        yield Problem(("predict",), words)
    if not policy.method.honours_importance:
        words = (
            f"{policy.method.name} searches by a metric in which all columns count alike, so `predict` "
            "cannot steer it; write `metric: mean-ncp`, or leave `predict` out"
        )
        yield Problem(("method",), words)


def _importance(policy: "Policy") -> Iterator[Problem]:
    """Importance steers what a method gives up, where it gives up anything."""
    named = [name for name in policy.quasi if policy.columns[name].importance is not None]
    for name in named:
        if policy.publish == "anatomy":
            words = (
                "has no effect with `publish: anatomy`, where quasi columns stay exact; leave it out, "
                "or choose generalised"
            )
            yield Problem(("columns", name, "importance"), words)
    if policy.has_importance and not policy.method.honours_importance:
        words = (
            f"{policy.method.name} searches by a metric in which all columns count alike, but "
            f"{listed(named)} {'has' if len(named) == 1 else 'have'} an `importance`; write `metric: "
            "mean-ncp`, or leave the importance out"
        )
        yield Problem(("method",), words)


def _refine(policy: "Policy") -> Iterator[Problem]:
    if policy.refine is not None and policy.publish == "anatomy":
        words = (
            "has no effect with `publish: anatomy`, where quasi columns stay exact; leave it out, or "
            "choose generalised"
        )
        yield Problem(("refine",), words)
    if policy.refine is not None and policy.together:
        words = (
            f"cannot be combined with `together` of column '{policy.person}': every class of a group of "
            "people has a row of each of them, and rows that change places would break that; leave one "
            "of the two out"
        )
        yield Problem(("refine",), words)


def _pseudonyms(policy: "Policy") -> Iterator[Problem]:
    if policy.pseudonyms and policy.pseudonym is None:
        words = (
            f"missing; say where the secret key for {listed(policy.pseudonyms)} is, as in "
            "`pseudonym: {key_file: linkage.key}` or `pseudonym: {key_env: LINKAGE_KEY}`"
        )
        yield Problem(("pseudonym",), words)


def _estimate_alone(policy: "Policy") -> Iterator[str]:
    names = [model.name for model in policy.constraints if model.needs_weights]
    if names and all(model.needs_weights or model.column for model in policy.constraints):
        yield (
            f"{names[0]} is an estimate, and speaks of people who do not know who took part: a class "
            "may hold a single row. Add a `k`, which is counted."
        )


def _hidden_weights(policy: "Policy") -> Iterator[str]:
    if policy.checks_hidden_weights:
        yield (
            f"The weights of {policy.weight} are withheld, so that only the run itself can check what "
            "is estimated from them: `shoal verify` refuses this release. Publish them rounded, as in "
            "`round: 10`, if others are to check it."
        )


def _exact_weight(policy: "Policy") -> Iterator[str]:
    name = policy.weight
    if name is not None and policy.columns[name].publish == "exact":
        yield (
            f"{name} is published exactly: sampling weights follow from strata, regions and adjustment "
            "cells, so a rare weight gives away where a person lives or which group she belongs to, and "
            "a weight that one row has singles it out. Round it (`round: 10`) or withhold it."
        )


def _linkable(policy: "Policy") -> Iterator[str]:
    if policy.pseudonyms:
        yield (
            f"{listed(policy.pseudonyms)} is published as pseudonyms: rows of one person can be linked, "
            "in this release and with every other one that is published with the same key, and who has "
            "the key can find people again. The guarantees speak of single releases and not of what "
            "linked ones give away together; in law the release is still personal data."
        )
