"""The population that a policy names: read, and counted under the published labels."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.arrays import Ints
from shoal.encoding.counts import Counts, size_counts
from shoal.encoding.people import People, read_people
from shoal.engines.files import LocalFiles, wrap
from shoal.errors import InputError, listed
from shoal.io.address import place_of
from shoal.io.arrow import one_chunk
from shoal.policy import Policy


@dataclass(frozen=True)
class Population:
    """The population table of a policy."""

    column: Callable[[str], pa.Array]
    """Its columns by name."""
    people: People | None
    """Its people, where the policy counts people and the table tells which rows are one person's;
    without it every row is a person."""


def population_of_policy(policy: Policy) -> Population:
    """The population of a policy; all quasi columns must be there."""
    if isinstance(policy.population, str):
        path = place_of(policy.population, policy.folder)
        files = LocalFiles()
        try:
            options, _ = files.settle(path)
        except InputError as error:
            raise InputError(f"{error} The policy's `population:` names this file.") from None
        _check(policy, files.names(path, options), f"The population table {path}")
        names = [n for n in files.names(path, options) if n in (*policy.quasi, policy.person)]
        table = wrap(files.read(path, options, names))
    else:
        table = wrap(policy.population)
        _check(policy, table.names, "The population table")
    people = None
    if policy.person is not None and policy.person in table.names:
        people = read_people(policy.person, table.column(policy.person), policy.no_ids)
    return Population(table.column, people)


def _check(policy: Policy, names: list[str], what: str) -> None:
    missing = [name for name in policy.quasi if name not in names]
    if missing:
        raise InputError(
            f"{what} has no column {listed(repr(name) for name in missing)}; it must have every "
            f"quasi column of the policy, under the same names. It has {listed(names, 30)}."
        )


def count_population(rows: pa.Table, policy: Policy) -> Counts:
    """The published classes with the population under each, as their labels read."""
    names = list(policy.quasi)
    classes = rows.select(names).group_by(names).aggregate([([], "count_all")])
    sizes = classes["count_all"].to_numpy().astype(np.int64)
    return size_counts(sizes, population_of_classes(classes, policy))


def population_of_classes(classes: pa.Table, policy: Policy) -> Ints:
    """(n_classes,) the population that the labels of each class cover."""
    from shoal.publish.covering import population_of

    population, names = population_of_policy(policy), list(policy.quasi)
    labels = {name: one_chunk(classes[name]) for name in names}
    raw = {name: population.column(name) for name in names}
    how = {name: policy.column_spec(name) for name in names}
    people = None if population.people is None else population.people.number.astype(np.int64)
    return population_of(labels, raw, how, policy.folder, people)
