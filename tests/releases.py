"""What tests of whole releases share: every method, a made-up one, and a table with every column."""

import datetime
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
import pytest

from shoal import plugins
from shoal.encoding.cells import Cells
from shoal.encoding.grouping import Grouping
from shoal.errors import PolicyError
from shoal.methods.base import Method, Progress
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement

Texts = tuple[str | None, ...]


def every_method(climbing: bool = False) -> list[Any]:
    """Each method as a policy names it, once as it is and once per other choice of an option.

    Methods that honour any policy, or those that need a hierarchy for every column.
    """
    return [
        variant
        for method in plugins.methods().values()
        if climbing == _climbs(method) and (climbing or _honours_k(method, False))
        for variant in variants(method)
    ]


def variants(method: type[Method]) -> list[Any]:
    """A method as policies name it, once as it is and once per other choice of an option."""
    hints, name = get_type_hints(method), method.name
    found = [pytest.param({"name": name}, id=name)]
    for option in fields(method):
        for choice in _choices(hints[option.name]):
            if choice != option.default:
                chosen = {"name": name, option.name: choice}
                found.append(pytest.param(chosen, id=f"{name}-{option.name}-{choice}"))
    return found


def _honours_k(method: type[Method], trees: bool) -> bool:
    """Whether a method takes k alone, over one column with or without a hierarchy."""
    try:
        method().check(Requirement((K(2),)), {"age": trees})
    except PolicyError:
        return False
    return True


def _climbs(method: type[Method]) -> bool:
    return _honours_k(method, True) and not _honours_k(method, False)


def _choices(hint: Any) -> tuple[Any, ...]:
    if hint is bool:
        return (True, False)
    return get_args(hint) if get_origin(hint) is Literal else ()


def raw_text(value: Any) -> str | None:
    """A raw value as a reader of the table would write it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.date):
        return value.isoformat()
    return None if value is None else str(value)


def text_rows(table: pa.Table) -> list[Texts]:
    """The rows of a table as text."""
    columns = [[raw_text(v) for v in column.to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True))


def shuffled(table: pa.Table, seed: int) -> pa.Table:
    """The same rows in another order."""
    return table.take(pa.array(np.random.default_rng(seed).permutation(table.num_rows)))


@dataclass(frozen=True)
class Fixed(Method):
    """A made-up method: the groups are given, by input row; -1 suppresses a row."""

    groups: tuple[tuple[int, ...], ...]
    """One tuple per grouping."""
    columns: tuple[tuple[int, ...], ...] = ()
    """The columns of each grouping; all of them for a single one."""
    levels: tuple[tuple[int, ...], ...] | None = None
    """The hierarchy levels of each group, for a single grouping."""
    least: int = 0
    """Fewer suppressed rows than this stand out."""
    notes: tuple[str, ...] = ()

    def group(
        self,
        cells: Cells,
        requirement: Requirement,  # noqa: ARG002 - it does not ask
        seed: int,  # noqa: ARG002
        progress: Progress,
    ) -> tuple[Grouping, ...]:
        progress(1.0)
        columns = self.columns or (tuple(range(len(cells.domains))),)
        levels = None if self.levels is None else np.array(self.levels, np.int32)
        return tuple(
            Grouping(
                np.array(groups, np.int32)[cells.rows],
                max(groups) + 1,
                of,
                levels=levels,
                least=self.least,
                notes=self.notes,
            )
            for groups, of in zip(self.groups, columns, strict=True)
        )


def takes_k_alone(method: dict[str, Any]) -> bool:
    """Whether a method refuses all models but k, even where columns have hierarchies."""
    options = {key: value for key, value in method.items() if key != "name"}
    chosen = plugins.method(method["name"])(**options)
    try:
        chosen.check(Requirement((K(2), L(2, "ill"))), {"age": True})
    except PolicyError:
        return True
    return False
