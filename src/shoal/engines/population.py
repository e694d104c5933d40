"""The population that a policy names: read, and counted under the published labels."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.encoding.counts import Counts, size_counts
from shoal.engines.files import LocalFiles, wrap
from shoal.errors import InputError, listed
from shoal.io.address import place_of
from shoal.io.arrow import one_chunk
from shoal.policy import Policy


def population_of_policy(policy: Policy) -> Callable[[str], pa.Array]:
    """The population's columns by name; all quasi columns must be there."""
    if isinstance(policy.population, str):
        named = place_of(policy.population)
        path = policy.folder / named if isinstance(named, Path) else named
        files = LocalFiles()
        try:
            options, _ = files.settle(path)
        except InputError as error:
            raise InputError(f"{error} The policy's `population:` names this file.") from None
        _check(policy, files.names(path, options), f"The population table {path}")
        table = wrap(files.read(path, options, policy.quasi))
    else:
        table = wrap(policy.population)
        _check(policy, table.names, "The population table")
    return table.column


def _check(policy: Policy, names: list[str], what: str) -> None:
    missing = [name for name in policy.quasi if name not in names]
    if missing:
        raise InputError(
            f"{what} has no column {listed(repr(name) for name in missing)}; it must have every "
            f"quasi column of the policy, under the same names. It has {listed(names, 30)}."
        )


def count_population(rows: pa.Table, policy: Policy) -> Counts:
    """The published classes with the population under each, as their labels read."""
    from shoal.publish.covering import population_of

    population, names = population_of_policy(policy), list(policy.quasi)
    classes = rows.select(names).group_by(names).aggregate([([], "count_all")])
    sizes = classes["count_all"].to_numpy().astype(np.int64)
    labels = {name: one_chunk(classes[name]) for name in names}
    raw = {name: population(name) for name in names}
    how = {name: policy.column_spec(name) for name in names}
    covered = population_of(labels, raw, how, policy.folder)
    return size_counts(sizes, covered)
