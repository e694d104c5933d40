"""Policies from keywords: for the one-line call in a notebook, and for changes to a policy."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import ValidationError

from shoal import plugins
from shoal.errors import PolicyError, listed, nearest
from shoal.policy import parts
from shoal.policy.column import Column
from shoal.policy.messages import FieldPath, Problem, problems_of, refusal, unknown_key

if TYPE_CHECKING:
    from shoal.policy.policy import Policy

Names = str | Iterable[str]

FIGURES = ("k", "l", "t")
"""The models whose figure can be given as a keyword."""
ROLES = {
    "quasi": "quasi",
    "sensitive": "sensitive",
    "identifiers": "identifier",
    "plain": "plain",
    "person": "person",
    "weight": "weight",
}
"""The keywords that list columns, and the role that each gives."""
SETTINGS = {
    "hierarchies": "hierarchy",
    "kinds": "kind",
    "orders": "order",
    "labels": "labels",
    "importance": "importance",
}
"""The keywords that give columns a setting, and the setting."""


def resolve_policy(policy: Any, names: Iterable[str], keywords: Mapping[str, Any]) -> "Policy":
    """The policy with the changes that keywords make, or without one the policy they describe.

    `names` are the columns of the table.
    """
    from shoal.policy.policy import Policy

    if policy is not None:
        # keys that replace others are part of what is validated: a policy may need them
        whole = set(Policy.model_fields) - {"columns", "constraints", "folder"}
        given = {key: value for key, value in keywords.items() if value is not None}
        keys = {key: value for key, value in given.items() if key in whole}
        changes = {key: value for key, value in given.items() if key not in whole}
        return Policy.load(policy, **keys).with_changes(**changes)
    if "quasi" not in keywords:
        raise PolicyError(
            "Give a policy, or name the quasi-identifiers and a guarantee, such as "
            'quasi=["age", "zip"] and k=5. Other columns go to sensitive, identifiers or plain.'
        )
    return policy_from_keywords(names, **keywords)


def policy_from_keywords(
    names: Iterable[str],
    *,
    quasi: Names,
    sensitive: Names = (),
    identifiers: Names = (),
    plain: Names = (),
    person: Names = (),
    weight: Names = (),
    k: int | None = None,
    l: int | None = None,  # noqa: E741 - the field's own letter
    t: float | None = None,
    constraints: Iterable[Any] = (),
    hierarchies: Mapping[str, Any] | None = None,
    kinds: Mapping[str, str] | None = None,
    orders: Mapping[str, Iterable[str]] | None = None,
    labels: Mapping[str, str] | None = None,
    importance: Mapping[str, float] | None = None,
    **options: Any,
) -> "Policy":
    """Create a policy from lists of columns and a few figures.

    Parameters
    ----------
    names
        The columns of the table.
    quasi, sensitive, identifiers, plain, person, weight
        The columns with each role; at most one tells which rows are one person's, and at most one
        has the sampling weights. The order of quasi-identifiers breaks ties.
    k
        k-anonymity on all quasi-identifiers.
    l, t
        l-diversity and t-closeness of every sensitive column.
    constraints
        Further constraints, as a policy writes them or as objects such as `Delta(0.5, of="disease")`.
    hierarchies, kinds, orders
        Per quasi-identifier or sensitive column its hierarchy, its kind or the order of its values.
    labels
        Per quasi-identifier the form of its labels: range, midpoint, mean, median, mode or uniform.
    importance
        Per quasi-identifier how much its detail counts; 1 for those not named.
    **options
        Other keys of a policy: method, seed, suppression, default and so on.

    Returns
    -------
    Policy
        The validated policy. Columns without a role are refused unless `default="drop"` is given.

    Raises
    ------
    PolicyError
        With every mistake on a line of its own.

    Examples
    --------
    >>> policy = policy_from_keywords(["age", "ill"], quasi="age", sensitive="ill", k=5, l=2)
    >>> policy.constraints
    (K(k=5, on=None), L(l=2, of='ill'))
    """
    from shoal.policy.policy import Policy

    if "columns" in options:
        raise PolicyError("columns: cannot be combined with `quasi`; give a whole policy instead.")
    given = {
        "quasi": quasi,
        "sensitive": sensitive,
        "identifiers": identifiers,
        "plain": plain,
        "person": person,
        "weight": weight,
    }
    roles = {role: _as_list(columns) for role, columns in given.items()}
    settings: dict[str, Mapping[str, Any]] = {
        "hierarchies": hierarchies or {},
        "kinds": kinds or {},
        "orders": orders or {},
        "labels": labels or {},
        "importance": importance or {},
    }
    for keyword, setting in settings.items():
        if not isinstance(setting, Mapping):
            raise PolicyError(_not_by_column(keyword, setting))
    _check_roles(list(names), roles, settings, drop_others=options.get("default") == "drop")
    figures = {"k": k, "l": l, "t": t}
    models = [
        entry
        for name, figure in figures.items()
        if figure is not None
        for entry in _new_constraints(name, figure, roles["sensitive"])
    ]
    models += constraints
    if not models and not options.get("preset"):
        raise PolicyError(
            "k: missing; give k, l or t, such as k=5, or `constraints`, or a `preset`."
        )
    columns = _column_settings({**roles, **settings})
    return Policy.load({"columns": columns, "constraints": models, **options})


def keys_to_replace(policy: "Policy", changes: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a policy with their new values, from the keywords of `Policy.with_changes`."""
    keys = [name for name in type(policy).model_fields if name != "folder"]
    allowed = [*FIGURES, *ROLES, *SETTINGS, *keys]
    if unknown := [key for key in changes if key not in allowed]:
        raise refusal([Problem((key,), unknown_key(key, allowed)) for key in unknown], _nowhere)
    replaced = {key: value for key, value in changes.items() if key in keys}
    known = [*policy.columns, *(name for key in ROLES for name in _as_list(changes.get(key, ())))]
    if lines := [
        f"{keyword}: the policy has no column '{name}'; it has {listed(known, 30)}."
        f"{nearest(str(name), known)}"
        for keyword in SETTINGS
        if isinstance(given := changes.get(keyword, {}), Mapping)
        for name in given
        if name not in known and name not in changes.get("columns", {})
    ]:
        raise PolicyError("\n".join(lines))
    settings = dict(changes.get("columns", {}))
    for name, given in _column_settings(changes).items():
        settings[name] = {**_as_settings(settings.get(name, {})), **given}
    if settings:
        replaced["columns"] = _changed_columns(policy, settings)
    if "metrics" in changes:
        replaced["metrics"] = _more_metrics(policy, parts.one_or_more(changes["metrics"]))
    figures = {name: changes[name] for name in FIGURES if name in changes}
    if figures:
        if "constraints" in changes:
            raise PolicyError(
                f"{next(iter(figures))}: cannot be combined with `constraints`; put all models there."
            )
        replaced["constraints"] = _changed_constraints(policy, figures)
    return replaced


def _changed_constraints(policy: "Policy", figures: Mapping[str, Any]) -> list[Any]:
    models: list[Any] = list(policy.constraints)
    problems: list[Problem] = []
    for name, figure in figures.items():
        model_type = plugins.model(name)
        places = [place for place, model in enumerate(models) if isinstance(model, model_type)]
        if problem := _ambiguity(name, models, places):
            problems.append(problem)
            continue
        entries: list[Any]
        if places:
            entries = [{**parts.plain_constraint(models[place]), name: figure} for place in places]
        else:
            entries = _new_constraints(name, figure, policy.sensitive)
        try:
            changed = [parts.constraint(entry) for entry in entries]
        except ValidationError as error:
            problems += [Problem((name,), problem.text) for problem in problems_of(error)]
            continue
        for place, model in zip(places, changed, strict=bool(places)):
            models[place] = model
        models += [] if places else changed
    if problems:
        raise refusal(problems, _nowhere)
    return models


def _ambiguity(name: str, models: list[Any], places: list[int]) -> Problem | None:
    """Which of several constraints would a single figure change?"""
    if len(places) < 2:
        return None
    figures = [models[place].figure for place in places]
    if name != "k" and len(set(figures)) == 1:
        return None
    which = listed(f"constraints[{place}]" for place in places)
    text = (
        f"the policy has {len(places)} {name} constraints ({which}), so a single {name} is ambiguous; "
        "give all `constraints` instead"
    )
    return Problem((name,), text)


def _new_constraints(name: str, figure: Any, sensitive: Iterable[str]) -> list[dict[str, Any]]:
    """A k on all quasi-identifiers; any other model for every sensitive column."""
    if name == "k":
        return [{"k": figure}]
    columns = list(sensitive)
    if not columns:
        raise PolicyError(
            f"{name}: needs a sensitive column; give `sensitive`, or leave `{name}` out."
        )
    return [{name: figure, "of": column} for column in columns]


def _changed_columns(policy: "Policy", settings: Mapping[str, Any]) -> dict[str, Any]:
    """The policy's columns with other settings; a column with another role starts afresh."""
    columns: dict[str, Any] = dict(policy.columns)
    for name, given in settings.items():
        current = policy.columns.get(name)
        new = _as_settings(given)
        if (
            isinstance(given, Column)
            or current is None
            or new.get("role", current.role) != current.role
        ):
            columns[name] = given
            continue
        kept = {key: getattr(current, key) for key in Column.model_fields}
        if new.get("hierarchy") is not None:  # it takes the place of an order
            kept |= {"kind": None, "order": None}
        elif new.get("kind") is not None or new.get("order") is not None:
            kept |= {"hierarchy": None, "kind": None, "order": None}
        columns[name] = {**kept, **new}
    return columns


def _more_metrics(policy: "Policy", metrics: Iterable[Any]) -> list[Any]:
    """The policy's metrics and further ones; a bare name does not replace one with options."""
    new: dict[str, Any] = {}
    for metric in metrics:
        name = metric.get("name") if isinstance(metric, Mapping) else metric
        new[name if isinstance(name, str) else plugins.name_of(type(name))] = metric
    kept = {
        metric.name: metric
        for metric in policy.metrics
        if isinstance(new.get(metric.name, ""), str)
    }
    return [*kept.values(), *(metric for name, metric in new.items() if name not in kept)]


def _column_settings(keywords: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What the keywords say of each column: its role and its settings."""
    settings: dict[str, dict[str, Any]] = {}
    for keyword, role in ROLES.items():
        for name in _as_list(keywords.get(keyword, ())):
            if name in settings:
                raise PolicyError(
                    f"{keyword}: '{name}' is in another list too; a column has one role."
                )
            settings[name] = {"role": role}
    for keyword, key in SETTINGS.items():
        given = keywords.get(keyword, {})
        if not isinstance(given, Mapping):
            raise PolicyError(_not_by_column(keyword, given))
        for name, value in given.items():
            settings.setdefault(name, {})[key] = value
    return settings


def _not_by_column(keyword: str, given: Any) -> str:
    return (
        f'{keyword}: found {given!r}; must be a mapping of columns, such as {keyword}={{"age": …}}.'
    )


def _as_settings(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    return {"role": given} if isinstance(given, str) else {}


def _as_list(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _nowhere(path: FieldPath) -> str:  # noqa: ARG001 - keywords are on no line of a file
    return ""


def _check_roles(
    table: list[str],
    roles: Mapping[str, list[str]],
    settings: Mapping[str, Mapping[str, Any]],
    *,
    drop_others: bool,
) -> None:
    """Report everything that is wrong with the lists of columns."""
    lines: list[str] = []
    role_of: dict[str, str] = {}
    for role, columns in roles.items():
        for name in columns:
            if name not in table:
                lines.append(
                    f"{role}: the table has no column '{name}'; it has {listed(table, 30)}."
                    f"{nearest(str(name), table)}"
                )
            elif name in role_of:
                lines.append(
                    f"{role}: '{name}' is in `{role_of[name]}` already; a column has one role."
                )
            role_of.setdefault(name, role)
    lines += [
        f"{keyword}: '{name}' is neither in `quasi` nor in `sensitive`."
        for keyword, given in settings.items()
        for name in given
        if name not in (*roles["quasi"], *roles["sensitive"])
    ]
    others = [name for name in table if name not in role_of]
    if others and not drop_others:
        lines.append(
            f"no role for {listed(others, 30)}; put each into quasi, sensitive, identifiers or "
            'plain, or give default="drop" to leave such columns out.'
        )
    if lines:
        raise PolicyError("\n".join(lines))
