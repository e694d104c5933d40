"""The cells of a table, by the roles a policy gives its columns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.cells.cells import Cells
from shoal.cells.domain import Domain
from shoal.cells.encode import build_cells
from shoal.cells.number import number_quasi, number_sensitive
from shoal.threads import each

if TYPE_CHECKING:
    from shoal.hierarchy import HierarchySpec


@dataclass(frozen=True)
class Quasi:
    """How a quasi-identifier is to be read."""

    kind: str | None = None
    order: tuple[str, ...] | None = None
    hierarchy: "HierarchySpec | None" = None


def encode(
    column: Callable[[str], pa.Array],
    quasi: Mapping[str, Quasi],
    sensitive: list[str],
    plain: list[str],
    seed: int,
    folder: Path = Path(),
) -> Cells:
    """Number the columns, several at a time, and reduce the rows to cells."""

    def number(name: str) -> tuple[Domain, npt.NDArray[np.int32]]:
        if name not in quasi:
            return number_sensitive(name, column(name))
        how = quasi[name]
        return number_quasi(name, column(name), how.kind, how.order, how.hierarchy, folder)

    numbered = each(number, [*quasi, *sensitive])
    secret = dict(zip(sensitive, numbered[len(quasi) :], strict=True))
    # one code may stand for what a reader tells apart (nan and null, 0 and -0): values are hashed too
    others = [column(name) for name in (*plain, *sensitive)]
    return build_cells(numbered[: len(quasi)], secret, others, seed)


def codes_in_order(cells: Cells, column: pa.Array) -> npt.NDArray[np.int32]:
    """(n_rows,) codes of any other column, in canonical order."""
    _, codes = number_sensitive("", column)
    return codes[cells.rows]
