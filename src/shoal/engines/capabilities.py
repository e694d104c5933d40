"""What each engine can do: one table, asked before any work.

The engine in memory does everything. The engines for large tables (DuckDB on disk, Spark) refuse what
is listed here, by name and with a way out.
"""

from collections.abc import Callable, Iterator
from typing import Literal

from shoal.errors import InputError, PolicyError, listed
from shoal.models.population import DeltaPresence
from shoal.models.requirement import Requirement
from shoal.plugins import name_of as plugin_name
from shoal.policy import Policy

IN_MEMORY = "work in memory, without --engine and --memory"
INSTEAD = f"Leave it out, or {IN_MEMORY}."

Step = Literal["run", "verify"]


def _preferences(policy: Policy) -> Iterator[str]:
    if policy.preferences:
        yield (
            f"Column {listed(map(repr, policy.preferences))} has a `preference`: personal preferences "
            f"are not supported for tables larger than memory. {INSTEAD}"
        )


def _anatomy(policy: Policy) -> Iterator[str]:
    if policy.publish == "anatomy":
        yield (
            "`publish: anatomy` makes linked tables, which are not supported for tables larger than "
            f"memory. Choose `publish: generalised`, or {IN_MEMORY}."
        )


def _population(policy: Policy) -> Iterator[str]:
    models = [model.name for model in policy.constraints if model.needs_population]
    if models or policy.population is not None:
        what = f"{listed(models)} compares" if models else "A `population` is there to compare"
        yield (
            f"{what} groups with a second table, which is not supported for tables larger than "
            f"memory. {INSTEAD}"
        )


def _models(policy: Policy) -> Iterator[str]:
    for model in policy.constraints:
        if model.release_wide and model.over(1, 1) is None:
            yield (
                f"{model.name} judges the release as a whole and cannot be computed from its numbers "
                f"of classes and rows (`over`), so it cannot be verified on large tables. {INSTEAD}"
            )


def _person(policy: Policy) -> Iterator[str]:
    if policy.person is None:
        return
    if policy.method.only_counts:
        yield (
            f"method: {policy.method.name} does not count the people of '{policy.person}' on tables "
            "larger than memory. Use least-loss-partition, flexible-partition or mondrian, or "
            f"{IN_MEMORY}."
        )
    if policy.together:
        yield (
            f"`together` of column '{policy.person}' protects all rows of a person at once, which is "
            f"not supported for tables larger than memory. {INSTEAD}"
        )


def _weight(policy: Policy) -> Iterator[str]:
    if policy.weight is not None and policy.person is not None:
        yield (
            f"Column '{policy.weight}' has the role weight: the weights of people with several rows "
            f"('{policy.person}') are not added up for tables larger than memory. Make it an identifier "
            f"to leave it out, or {IN_MEMORY}."
        )


def _estimated(policy: Policy) -> Iterator[str]:
    for model in policy.constraints:
        if model.needs_weights:
            yield (
                f"{model.name} is estimated from sampling weights, which is not supported for tables "
                f"larger than memory. {INSTEAD}"
            )


def _labels(policy: Policy) -> Iterator[str]:
    for name in policy.quasi:
        form = policy.columns[name].labels
        if form not in (None, "range"):
            yield (
                f"Column '{name}' has `labels: {form}`, which is not supported for tables larger than "
                f"memory. Choose `labels: range`, or {IN_MEMORY}."
            )


def _order(policy: Policy) -> Iterator[str]:
    if policy.order == "kept":
        yield (
            "`order: kept` keeps the order of the input rows, but rows of a table larger than memory "
            f"have no order. Choose `order: sorted`, or {IN_MEMORY}."
        )


def _method(policy: Policy) -> Iterator[str]:
    from shoal.methods.auto import Auto
    from shoal.methods.base import BlockMethod

    if isinstance(policy.method, Auto):
        return  # what it chooses runs on every engine
    method, name = policy.method, plugin_name(type(policy.method))
    if method.partition_rule() is not None or method.only_counts:
        return
    if not isinstance(method, BlockMethod):
        yield (
            f"method: {name} needs all rows in one place, so it does not run on tables larger than "
            f"memory. Use least-loss-partition, flexible-partition or mondrian, or {IN_MEMORY}."
        )
    elif method.block_rows is None:
        yield (
            f"method: {name} needs all rows in one place, unless it runs inside blocks. Give it "
            f"`block_rows`, as in `method: {{name: {name}, block_rows: 10000}}`; the release is then "
            "the same on every engine."
        )
    elif policy.suppressed == "starred":
        yield (
            f"method: {name} may suppress rows, and `suppressed: starred` is not supported for it on "
            f"tables larger than memory. Choose `suppressed: withheld`, or {IN_MEMORY}."
        )


def _refine(policy: Policy) -> Iterator[str]:
    if policy.refine is None or not policy.method.refinable:
        return
    if policy.method.block_rows is None:
        yield (
            f"refine: the groups of {policy.method.name} are refined in memory only, where all rows are "
            "in one place. Leave `refine` out, use a method that runs inside blocks, as in `method: "
            f"{{name: k-clustering, block_rows: 10000}}`, or {IN_MEMORY}."
        )
    elif policy.person is not None:
        yield (
            f"refine: where the people of '{policy.person}' are counted, groups are refined in memory "
            f"only. {INSTEAD}"
        )


REFUSED: dict[str, dict[Step, tuple[Callable[[Policy], Iterator[str]], ...]]] = {
    "memory": {"run": (), "verify": ()},
    "large": {
        "run": (
            _preferences,
            _anatomy,
            _population,
            _models,
            _person,
            _weight,
            _estimated,
            _labels,
            _order,
            _method,
            _refine,
        ),
        "verify": (_preferences, _anatomy, _population, _models, _estimated),
    },
}
"""Per kind of engine and step, what a policy may not contain."""

REFUSED_TASKS: dict[str, dict[str, str]] = {
    "memory": {},
    "large": {
        "msu": f"msu: minimal sample uniques need all rows in memory. {INSTEAD}",
        "population": f"population: not supported for tables larger than memory. {INSTEAD}",
        "person": f"person: people are not counted in tables larger than memory. {INSTEAD}",
        "household": f"household: households are not counted in tables larger than memory. {INSTEAD}",
        "key": "key: Spark writes folders of files, and a key must be one private file. Leave it out, "
        "or work on one machine, with --memory or in memory.",
        "compare": "Methods are compared on tables in memory. Give a sample of the Spark table, such as "
        "frame.sample(0.01).toPandas().",
        "mapping": "mapping: labels are mapped in memory. Leave it out, or work in memory, without "
        "--engine and --memory; of a Spark table give a sample, such as frame.sample(0.01).toPandas().",
        "raw": f"raw: a raw table is linked to a release in memory. {INSTEAD}",
        "attack": "An attack needs both tables in memory. Write the release to a file, or give samples.",
    },
}
"""Per kind of engine, the tasks and options that it refuses, with the message."""


def check_capabilities(kind: str, policy: Policy, step: Step = "run") -> None:
    """Raise `PolicyError` with everything that an engine of this kind cannot do."""
    problems = [text for check in REFUSED[kind][step] for text in check(policy)]
    if problems:
        raise PolicyError("\n".join(problems))


def refuse_task(kind: str, task: str) -> None:
    """Raise `InputError` where an engine of this kind does not support a task."""
    if task in REFUSED_TASKS[kind]:
        raise InputError(REFUSED_TASKS[kind][task])


def check_method(policy: Policy) -> None:
    """Raise `PolicyError` where the method cannot honour the policy, on any engine."""
    for model in policy.constraints:
        if isinstance(model, DeltaPresence) and model.least > 0:
            raise PolicyError(
                f"No method guarantees delta-presence with a `least` of {model.least:g}: a label may "
                "cover more people than were counted. Leave `least` out; `shoal verify` can check it "
                "afterwards."
            )
    from shoal.methods.base import FullDomainMethod

    if policy.together and isinstance(policy.method, FullDomainMethod):
        raise PolicyError(
            f"method: {policy.method.name} gives every value the same level everywhere, so it cannot "
            f"protect the rows of a person together (`together` on the column '{policy.person}'). Use "
            "least-loss-partition, flexible-partition, mondrian, k-clustering, top-down or bottom-up."
        )
    if policy.refine is not None and not policy.method.refinable:
        raise PolicyError(
            f"refine: method: {policy.method.name} gives every value the same level everywhere, so rows "
            "cannot change their groups. Leave `refine` out, or use a method that forms groups of rows, "
            "such as least-loss-partition or k-clustering."
        )
    trees = {name: policy.hierarchy_of(name) is not None for name in policy.quasi}
    requirement = Requirement(policy.constraints, counts_people=policy.person is not None)
    policy.method.check(requirement, trees)
