"""What a policy that publishes two linked tables (`publish: anatomy`) may ask, and their names."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from shoal import plugins
from shoal.errors import listed
from shoal.models.base import SIZES_ONLY, SensitiveModel
from shoal.policy.wording import Problem

if TYPE_CHECKING:
    from shoal.policy.policy import Policy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.policy.parts import plain_constraint
from shoal.policy.wording import FieldPath, choice

GROUP, COUNT = "group", "count"
"""How the two columns that are added are called, unless a column of the table is called so."""


def group_name(policy: "Policy") -> str:
    """The column that links the tables."""
    return _free(GROUP, _published(policy))


def count_name(policy: "Policy") -> str:
    """The column of a sensitive table that says how often a value occurs in a group."""
    return _free(COUNT, _published(policy))


def anatomy_problems(policy: "Policy") -> Iterator[Problem]:
    """All that an Anatomy release cannot keep to."""
    if policy.publish != "anatomy":
        return
    if not policy.sensitive:
        yield Problem(
            ("publish",),
            "anatomy parts sensitive values from the rows of people, but no column has the role "
            "sensitive; give it to one, or write `publish: generalised`",
        )
    allowed = [name for name, model in plugins.models().items() if issubclass(model, SensitiveModel)]
    for place, model in enumerate(policy.constraints):
        if model.column == SIZES_ONLY:
            yield Problem(
                ("constraints", place),
                f"{model.name} speaks of quasi-identifiers, which `publish: anatomy` leaves exact, "
                f"so it cannot hold; allowed are models of a sensitive column: {listed(allowed)}",
            )
    for name in policy.preferences:
        yield Problem(
            ("columns", name, "preference"),
            "an Anatomy release publishes sensitive values as they are, so nobody's wish can be heard "
            "in it; leave `preference` out, or write `publish: generalised`",
        )
    if policy.suppressed != "withheld":
        yield Problem(
            ("suppressed",),
            "found 'starred'; with `publish: anatomy` a suppressed row is in no group, so it can "
            "only be left out: write `suppressed: withheld`",
        )
    if policy.order != "sorted":
        yield Problem(
            ("order",),
            "found 'kept'; with `publish: anatomy` the order of the input could link people to "
            "their values again: write `order: sorted`",
        )


def anatomy_warnings(policy: "Policy") -> Iterator[str]:
    """What a careful publisher should look at again."""
    if policy.publish == "anatomy" and policy.seed == 0:
        yield (
            "publish: anatomy shows who is in which group, and rows with equal quasi-identifiers "
            "were spread over groups by the seed and their values. Choose a seed of your own, a "
            "large one, and keep it to yourself: 0 is easy to guess."
        )


def _published(policy: "Policy") -> set[str]:
    # SQL takes names that differ in case only for one
    return {name.lower() for name, column in policy.columns.items() if column.is_published}


def _free(wanted: str, taken: Iterable[str]) -> str:
    """`group`, or `group_2`, `group_3`, ... where that is taken."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


# What must hold between the parts of a policy, and what is allowed but worth a word.


FROM_VALUES = ("Intervals", "Mask", "DateParts")
"""Hierarchies whose leaves are those of the table: a reader of the release does not know them."""


def problems(policy: "Policy") -> list[Problem]:
    """All that makes the policy contradict itself."""
    return [
        *_no_quasi(policy),
        *_preferences(policy),
        *_constraints(policy),
        *_same(policy),
        *_target(policy),
        *_metrics(policy),
        *anatomy_problems(policy),
        *_population(policy),
    ]


def warnings(policy: "Policy") -> list[str]:
    """What a careful publisher should look at again."""
    return [
        *_unguarded(policy),
        *_unheard(policy),
        *_uncovered(policy),
        *_weak(policy),
        *_kept_order(policy),
        *anatomy_warnings(policy),
    ]


def with_sensitive(problems: Sequence[Problem], data: Any) -> list[Problem]:
    """The problems of raw data; where a constraint names no column, with those it could name."""
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


def _no_quasi(policy: "Policy") -> Iterator[Problem]:
    if not policy.quasi:
        yield Problem(
            ("columns",),
            "no column has the role quasi; give it to the columns by which people can be "
            "recognised, such as age or zip",
        )


def _preferences(policy: "Policy") -> Iterator[Problem]:
    for name, wish in policy.preferences.items():
        yield from _has_role(policy, ("columns", name, "preference"), wish, "preference")
        kind = type(policy.columns[name].hierarchy).__name__
        if kind in FROM_VALUES:
            words = (
                "is made from the table's values; a column with a `preference` needs one that is "
                "written out, as a `tree` or a `csv` file"
            )
            yield Problem(("columns", name, "hierarchy"), words)
    for place, model in enumerate(policy.constraints):
        if model.column in policy.preferences and not model.accepts_wider_values:
            allowed = [name for name, each in plugins.models().items() if each.accepts_wider_values]
            words = (
                f"'{model.column}' has a `preference`: some of its values are published as "
                f"wider ones, on which {model.name} cannot be verified; allowed: "
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
    """A distance between values needs what it goes by."""
    column, needed = policy.columns.get(model.column), model.column_kind
    if column is None or column.role != "sensitive":
        return  # which is told already
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
            yield Problem((*path, at), f"'{name}' is there twice; keep one")
        else:
            yield from _has_role(policy, (*path, at), name, "quasi")


def _has_role(policy: "Policy", path: FieldPath, name: str, role: str) -> Iterator[Problem]:
    allowed = policy.having(role)
    if name in allowed:
        return
    if name in policy.columns:
        yield Problem(
            path,
            f"'{name}' has the role {policy.columns[name].role}; only {role} columns can stand "
            f"here: {listed(allowed) or 'there are none'}",
        )
    elif allowed:
        yield Problem(path, choice(name, allowed))
    else:
        yield Problem(path, f"found '{name}'; no column has the role {role}")


def _same(policy: "Policy") -> Iterator[Problem]:
    """Two constraints that ask for the same are a slip: one was meant for something else."""
    first: dict[str, int] = {}
    for place, model in enumerate(policy.constraints):
        asked = _meaning(policy, model)
        if asked in first:
            words = f"asks for the same as constraints[{first[asked]}]; remove one of them"
            yield Problem(("constraints", place), words)
        first.setdefault(asked, place)


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
            yield Problem(("metrics", place), f"'{name}' is there twice; keep one")
        seen.add(type(metric))


def _population(policy: "Policy") -> Iterator[Problem]:
    asking = [model.name for model in policy.constraints if model.needs_population]
    if asking and policy.population is None:
        words = (
            f"missing; {listed(asking)} needs it, a table of all people: a file's path, or from "
            "Python any table"
        )
        yield Problem(("population",), words)
    if policy.population is not None and not asking:
        words = "found, but no constraint asks for it; k-map and delta-presence do"
        yield Problem(("population",), words)


def _unguarded(policy: "Policy") -> Iterator[str]:
    guarded = {model.column for model in policy.constraints}
    for name in policy.sensitive:
        if name not in guarded:
            yield (
                f"No constraint speaks of the sensitive column {name}: where a group shares one "
                f"value, everybody in it is known to have it. Consider {{l: 2, of: {name}}}."
            )


def _unheard(policy: "Policy") -> Iterator[str]:
    heard = set(policy.preferences.values())
    for name in policy.having("preference"):
        if name not in heard:
            yield (
                f"No sensitive column has `preference: {name}`: what people asked for is not "
                "looked at."
            )


def _uncovered(policy: "Policy") -> Iterator[str]:
    lists = [model.quasi for model in policy.constraints]
    if any(on is None for on in lists):
        return
    covered = {name for on in lists for name in on or ()}
    if left := [name for name in policy.quasi if name not in covered]:
        yield (
            f"No constraint covers the quasi columns {listed(left)}: people may be recognised by "
            "them. Name them in an `on`, or add a constraint without one."
        )


def _weak(policy: "Policy") -> Iterator[str]:
    for model in policy.constraints:
        name, value = next(iter(plain_constraint(model).items()))
        if name in ("k", "l") and value == 1:
            yield f"{name} of 1 asks for nothing: every table holds it. Choose 2 or more."
        if name in ("entropy-l", "k-map") and value == 1:
            yield f"{name} of 1 asks for nothing to speak of. Choose more."
        if name in ("t", "alpha", "average-risk", "delta-presence") and value == 1:
            yield f"{name} of 1 asks for nothing to speak of. Choose less."


def _kept_order(policy: "Policy") -> Iterator[str]:
    if policy.order == "kept":
        yield (
            "order: kept leaves the rows in the order they came, so whoever knows that order knows "
            "whose row is whose. Use it only where nobody else does."
        )
