"""A policy from a few keywords, for the one-line call in a notebook."""

from collections.abc import Iterable, Mapping
from typing import Any

from shoal.errors import PolicyError, listed, nearest
from shoal.policy.policy import Policy

Names = str | Iterable[str]


def simple(
    names: Iterable[str],
    *,
    quasi: Names,
    sensitive: Names = (),
    identifiers: Names = (),
    plain: Names = (),
    k: int | None = None,
    l: int | None = None,  # noqa: E741 - the field's own letter
    hierarchies: Mapping[str, Any] | None = None,
    **options: Any,
) -> Policy:
    """A policy for a table with the columns `names`.

    `l` is asked of every sensitive column, `hierarchies` gives quasi or sensitive columns their
    trees, and `options` are the other keys of a policy: method, seed, suppression, default and so
    on. A column without a role is an error unless `default="drop"` is given.
    """
    if taken := [key for key in ("columns", "constraints") if key in options]:
        raise PolicyError(f"{taken[0]}: cannot stand beside `quasi`; give a whole policy instead.")
    table = list(names)
    roles = {
        "quasi": _list(quasi),
        "sensitive": _list(sensitive),
        "identifiers": _list(identifiers),
        "plain": _list(plain),
    }
    _check(table, roles, hierarchies or {}, drops=options.get("default") == "drop")
    constraints: list[dict[str, Any]] = [] if k is None else [{"k": k}]
    if l is not None:
        if not roles["sensitive"]:
            raise PolicyError("l: needs a sensitive column; give `sensitive`, or leave `l` out.")
        constraints += [{"l": l, "of": column} for column in roles["sensitive"]]
    if not constraints:
        raise PolicyError("k: missing; give k, l or both, such as k=5.")
    columns = {
        column: {"role": "identifier" if role == "identifiers" else role}
        for role, given in roles.items()
        for column in given
    }
    for column, tree in (hierarchies or {}).items():
        columns[column]["hierarchy"] = tree
    return Policy.load({"columns": columns, "constraints": constraints, **options})


def _list(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _check(
    table: list[str], roles: Mapping[str, list[str]], trees: Mapping[str, Any], *, drops: bool
) -> None:
    """Everything that is wrong with the lists, in the keywords' own words."""
    lines: list[str] = []
    seen: dict[str, str] = {}
    for role, given in roles.items():
        for name in given:
            if name not in table:
                meant = nearest(str(name), table)
                lines.append(
                    f"{role}: the table has no column '{name}'; it has {listed(table, 30)}.{meant}"
                )
            elif name in seen:
                lines.append(
                    f"{role}: '{name}' is in `{seen[name]}` already; a column has one role."
                )
            seen.setdefault(name, role)
    for name in trees:
        if name not in (*roles["quasi"], *roles["sensitive"]):
            lines.append(f"hierarchies: '{name}' is neither in `quasi` nor in `sensitive`.")
    left = [name for name in table if name not in seen]
    if left and not drops:
        lines.append(
            f"no role for {listed(left, 30)}; put each into quasi, sensitive, identifiers or "
            'plain, or give default="drop" to leave such columns out.'
        )
    if lines:
        raise PolicyError("\n".join(lines))
