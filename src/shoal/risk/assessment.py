"""The risk figures of any table, raw or published."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.engines.local import LocalEngine
from shoal.engines.tables import wrap
from shoal.errors import InputError, listed, nearest
from shoal.policy import Policy
from shoal.release import Release
from shoal.risk.contents import Contents, contents_of
from shoal.risk.minimal_uniques import MinimalUniques, minimal_uniques
from shoal.risk.population import PopulationUniques, population_uniques
from shoal.risk.reidentification import THRESHOLD, Reidentification, reidentification
from shoal.risk.uniqueness import Packed

if TYPE_CHECKING:  # it would load the compiler
    from shoal.cells.table import How


@dataclass(frozen=True)
class Assessment:
    """What can be said about the risk of a table."""

    quasi: tuple[str, ...]
    """The columns that an attacker knows."""
    reidentification: Reidentification
    population_uniques: PopulationUniques | None = None
    """With a sampling fraction."""
    minimal_uniques: MinimalUniques | None = None
    """Where asked for."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        return asdict(self)


def assess(
    data: Any,
    quasi: Sequence[str] | str | None = None,
    *,
    population: Any = None,
    policy: Any = None,
    fraction: float | None = None,
    msu: int | None = None,
    threshold: float = THRESHOLD,
) -> Assessment:
    """The risk that people are picked out of a table, raw or published.

    `data` is a frame, a file's path or a `Release`. `quasi` are the columns an attacker knows; a
    release or a policy names them already. `population` is another table with these columns and a
    row per person: the journalist's and the marketer's risk are then counted in it, labels being
    read by the policy. `fraction` is the share of a population that is in the table, for an
    estimate of population uniques. `msu` is the largest set of columns in which minimal sample
    uniques are looked for. Rows count as risky above `threshold`.
    """
    if isinstance(data, Release):
        policy, data = policy or data.policy, data.table
    asked = None if policy is None else Policy.load(policy)
    if quasi is None and asked is None:
        raise InputError("Say which columns an attacker knows: quasi=[...], or give a policy.")
    chosen = [quasi] if isinstance(quasi, str) else list(quasi or (asked.quasi if asked else ()))
    table = table_of(data)
    require_columns(table, chosen, "The table")
    if not 0 < threshold <= 1:
        raise InputError(f"threshold: found {threshold:g}; must be above 0 and at most 1.")
    columns = [contents_of(name, table.column(name)) for name in chosen]
    heads, sizes = classes_of(columns, table.num_rows)
    people = None
    if population is not None:
        from shoal.publish.covering import population_of

        others = table_of(population)
        require_columns(others, chosen, "The population table")
        labels = {name: table.column(name).take(pa.array(heads)) for name in chosen}
        rows = {name: others.column(name) for name in chosen}
        how = how_of(asked) if asked else {}
        people = population_of(labels, rows, how, asked.folder if asked else Path())
    return assessed(columns, sizes, people, fraction, msu, threshold)


def assessed(
    columns: Sequence[Contents],
    sizes: npt.NDArray[np.int64],
    people: npt.NDArray[np.int64] | None,
    fraction: float | None,
    msu: int | None,
    threshold: float = THRESHOLD,
) -> Assessment:
    """The figures of columns that are counted already."""
    rows = int(sizes.sum())
    if msu is not None and msu < 1:
        raise InputError(f"msu: found {msu}; must be at least 1, the size of the largest set.")
    return Assessment(
        tuple(column.name for column in columns),
        reidentification(sizes, people, threshold),
        None if fraction is None else population_uniques(sizes, fraction),
        None if msu is None else minimal_uniques(columns, rows, msu),
    )


def classes_of(
    columns: Sequence[Contents], rows: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    """A row of each class, and how many rows it has."""
    numbers = Packed.nothing(rows).beside(columns).numbers
    _, heads, sizes = np.unique(numbers, return_index=True, return_counts=True)
    return heads, sizes.astype(np.int64)


def how_of(policy: Policy) -> "dict[str, How]":
    """How the labels of a policy's quasi-identifiers are read."""
    from shoal.cells.table import How

    found = {}
    for name in policy.quasi:
        column = policy.columns[name]
        found[name] = How(
            column.kind, tuple(column.order) if column.order else None, column.hierarchy
        )
    return found


def table_of(data: Any) -> pa.Table:
    """A frame or the table in a file, as Arrow."""
    if isinstance(data, str | Path):
        return LocalEngine().read(Path(data))
    if isinstance(data, pa.Table):
        return data
    table = wrap(data)
    return pa.table({name: table.column(name) for name in table.names})


def require_columns(table: pa.Table, names: Sequence[str], what: str) -> None:
    """Raise `InputError` unless the table has these columns."""
    if not names:
        raise InputError(f"{what} needs at least one column that an attacker knows.")
    for name in names:
        if name not in table.column_names:
            raise InputError(
                f"{what} has no column '{name}'.{nearest(name, table.column_names)} "
                f"It has: {listed(table.column_names)}."
            )
