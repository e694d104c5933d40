"""The tables of a release in the user's kind of frame, one or several."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.io.frames import Table
from shoal.pipeline.prepare import Prepared
from shoal.policy import Policy
from shoal.policy.anatomy import count_name, group_name
from shoal.publish.anatomy import Anatomy
from shoal.publish.shape import Shape, shape


@dataclass(frozen=True)
class Made:
    """What is handed over."""

    table: Any
    origin: npt.NDArray[np.int64]
    """(published,) the input row behind each row of it."""
    sensitive: dict[str, Any]
    """Per sensitive column the table of its values; none unless the policy parts them."""

    @property
    def tables(self) -> list[Any]:
        """All of them, the table of people first."""
        return [self.table, *self.sensitive.values()]


def make(prepared: Prepared, policy: Policy, table: Table, decode: bool = True) -> Made:
    """Gather what is published; with `decode` labels are plain text."""
    if isinstance(prepared.published, Anatomy):
        return _parted(prepared.published, policy, table)
    made = _shape(prepared, policy, table)
    made = made.decoded() if decode else made
    native = table.release(made.columns, made.labels, made.rows, policy.order == "kept")
    return Made(native, made.rows, {})


def _parted(anatomy: Anatomy, policy: Policy, table: Table) -> Made:
    group, count = group_name(policy), count_name(policy)
    shown = [name for name in policy.published(table.names) if name not in policy.sensitive]
    people = table.release(
        [*shown, group], {group: pa.array(anatomy.group)}, anatomy.rows, keep_index=False
    )
    values = {}
    for name in policy.sensitive:
        counted = anatomy.sensitive[name]
        numbers = {group: pa.array(counted.group), count: pa.array(counted.count)}
        columns = [group, name, count]
        values[name] = table.release(columns, numbers, counted.rows, keep_index=False)
    return Made(people, anatomy.rows, values)


def _shape(prepared: Prepared, policy: Policy, table: Table) -> Shape:
    published = prepared.published
    assert not isinstance(published, Anatomy)
    starred = np.zeros(0, np.int64)
    if policy.suppressed == "starred":
        starred = np.setdiff1d(np.arange(prepared.rows), published.rows)
    return shape(
        published,
        policy.published(table.names),
        table.column,
        starred,
        keep_order=policy.order == "kept",
    )
