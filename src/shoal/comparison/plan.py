"""The runs of a comparison, planned and checked before any of them starts."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from shoal import plugins
from shoal.comparison.criterion import Criterion, metrics_for, read_criterion
from shoal.comparison.outcome import Outcome
from shoal.engines.capabilities import check_method
from shoal.engines.files import wrap
from shoal.errors import InputError, PolicyError, listed, nearest
from shoal.models.k import K
from shoal.policy import Policy

Methods = str | Iterable[str] | None
Ks = str | int | Iterable[int] | None


AUTO = "auto"


@dataclass(frozen=True)
class Job:
    """One method at one k, the policy for it, and what is measured of its release."""

    method: str
    k: int | None
    policy: Policy
    criterion: Criterion


@dataclass(frozen=True)
class Plan:
    """The runs, and what is refused without one."""

    ks: tuple[int | None, ...]
    methods: tuple[str, ...]
    jobs: tuple[Job, ...]
    refused: tuple[Outcome, ...]
    criterion: Criterion


def make_plan(
    policy: Policy,
    names: Sequence[str],
    methods: Methods,
    k: Ks,
    by: str | None = None,
    target: str | None = None,
) -> Plan:
    """Every method at every k that it supports, k by k; raises for what is asked wrong.

    names: all columns of the table; by: the criterion; target: what its models predict.
    """
    own = plugins.name_of(type(policy.method))
    chosen, given = read_methods(methods, own), read_ks(k)
    policy.check(names)
    criterion = read_criterion(by, target, policy, names)
    if given and not ks_of(policy):
        raise PolicyError(
            "k: the policy has no constraint of the model k, so there is no k to replace. Leave it "
            "out, or add a constraint such as {k: 5}."
        )
    ks: tuple[int | None, ...] = given or (own_k(policy),)
    jobs, refused = [], []
    slim = _without_unneeded(policy, names, criterion)
    for each in ks:
        at_k = _with_k(slim, each if given else None)
        for name in chosen:
            try:
                job = Job(name, each, _with_method(at_k, name), criterion)
                check_method(job.policy)
            except PolicyError as error:
                reason = str(error).removeprefix("method: ")
                refused.append(Outcome(name, each, "cannot", reason))
            else:
                jobs.append(job)
    if not jobs:
        reasons = dict.fromkeys(f"- {one.method}: {one.reason}" for one in refused)
        raise PolicyError("None of the methods supports this policy:\n" + "\n".join(reasons))
    return Plan(ks, chosen, tuple(jobs), tuple(refused), criterion)


def read_methods(value: Methods, own: str = "mondrian") -> tuple[str, ...]:
    """The named methods, each once; when none is named, all but `auto`, which runs one of the others.

    own: the policy's method, which may be one that Shoal does not ship, or `auto`.
    """
    known = list(dict.fromkeys([*plugins.names("methods"), own]))
    if value is None:
        return tuple(name for name in known if name == own or name != AUTO)
    words = value.split(",") if isinstance(value, str) else list(value)
    chosen = [str(word).strip() for word in words]
    if not any(chosen):
        raise InputError(f"methods: found none; allowed: {listed(known, 30)}.")
    for name in chosen:
        if name not in known:
            raise InputError(
                f"methods: there is no method '{name}'; allowed: {listed(known, 30)}."
                f"{nearest(name, known)}"
            )
    return tuple(dict.fromkeys(chosen))


def read_ks(value: Ks) -> tuple[int, ...]:
    """The given k, each once, ascending; empty when none is given."""
    if value is None:
        return ()
    words: list[Any]
    if isinstance(value, str):
        words = value.split(",")
    else:
        words = [value] if isinstance(value, int | float) else list(value)
    found = []
    for word in words:
        number = _whole(word)
        if number is None or number < 1:
            raise InputError(
                f"k: found '{str(word).strip()}'; must be whole numbers from 1 on, as in 2,5,10."
            )
        found.append(number)
    if not found:
        raise InputError("k: found an empty list; write whole numbers from 1 on, as in 2,5,10.")
    return tuple(sorted(set(found)))


def read_budget(value: float | None) -> float | None:
    """The seconds that each run may take; None for as many as it needs."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise InputError(f"budget: found {value}; must be seconds, a number above 0.")
    return float(value)


def ks_of(policy: Policy) -> list[int]:
    """The k of every k constraint."""
    return [model.k for model in policy.constraints if isinstance(model, K)]


def own_k(policy: Policy) -> int | None:
    """The policy's own k, where its k constraints share one."""
    found = set(ks_of(policy))
    return found.pop() if len(found) == 1 else None


def _whole(word: Any) -> int | None:
    if isinstance(word, bool):
        return None
    if isinstance(word, str):
        word = word.strip()
        return int(word) if word.isascii() and word.isdigit() else None
    try:
        return int(word) if int(word) == word else None
    except (TypeError, ValueError, OverflowError):
        return None


def _without_unneeded(policy: Policy, names: Sequence[str], criterion: Criterion) -> Policy:
    """The policy without what no release depends on: dropped columns, and metrics on request other
    than the criterion."""
    wanted = policy.needed(names)
    columns = {name: column for name, column in policy.columns.items() if name in wanted}
    changes: dict[str, Any] = {"columns": columns, "metrics": metrics_for(criterion, policy)}
    if policy.population is not None and not isinstance(policy.population, str):
        people = wrap(policy.population)  # as Arrow, any frame can be sent to another process
        kept = [name for name in people.names if name in policy.quasi] or people.names
        changes["population"] = pa.table({name: people.column(name) for name in kept})
    return policy.replace_keys(**changes)


def _with_k(policy: Policy, k: int | None) -> Policy:
    if k is None:
        return policy
    models = [replace(m, k=k) if isinstance(m, K) else m for m in policy.constraints]
    return policy.replace_keys(constraints=tuple(models))


def _with_method(policy: Policy, method: str) -> Policy:
    """The policy's own method keeps its options; others have their defaults."""
    same = plugins.name_of(type(policy.method)) == method
    return policy if same else policy.replace_keys(method=method)
