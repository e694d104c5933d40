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
from shoal.cells.number import (
    check_no_star,
    number_sensitive,
    quasi_domain,
    sensitive_domain,
)
from shoal.cells.ordered import Numbered
from shoal.cells.tally import Tally, tally_of
from shoal.threads import each

if TYPE_CHECKING:
    from shoal.hierarchy import HierarchySpec


@dataclass(frozen=True)
class How:
    """How a column is to be read."""

    kind: str | None = None
    order: tuple[str, ...] | None = None
    hierarchy: "HierarchySpec | None" = None
    levels: Mapping[str, int] | None = None
    """Sensitive only: the sensitivity level of each value, by its text."""


def encode(
    column: Callable[[str], pa.Array],
    quasi: Mapping[str, How],
    sensitive: Mapping[str, How],
    plain: list[str],
    seed: int,
    folder: Path = Path(),
) -> Cells:
    """Number the columns, several at a time, and reduce the rows to cells."""

    def number(name: str) -> tuple[Domain, npt.NDArray[np.int32]]:
        tally = tally_of(name, column(name))
        domain, codes = domain_of(tally, quasi.get(name), sensitive.get(name), folder)
        return domain, tally.rows(codes, domain.missing)

    numbered = each(number, [*quasi, *sensitive])
    secret = dict(zip(sensitive, numbered[len(quasi) :], strict=True))
    # one code may stand for what a reader tells apart (nan and null, 0 and -0): values are hashed too
    others = [column(name) for name in (*plain, *sensitive)]
    return build_cells(numbered[: len(quasi)], secret, others, seed)


def domain_of(tally: Tally, quasi: How | None, sensitive: How | None, folder: Path) -> Numbered:
    """The domain of a column, which has one of the two roles, and the codes of its values."""
    if quasi is not None:
        return quasi_domain(tally, quasi.kind, quasi.order, quasi.hierarchy, folder)
    assert sensitive is not None
    check_no_star(tally)
    how = sensitive
    return sensitive_domain(tally, how.kind, how.order, how.hierarchy, folder, how.levels)


def number_as_sensitive(
    name: str, column: pa.Array, how: How, folder: Path
) -> tuple[Domain, npt.NDArray[np.int32]]:
    """The domain of a sensitive column and the codes of its rows."""
    return number_sensitive(name, column, how.kind, how.order, how.hierarchy, folder, how.levels)


def codes_in_order(cells: Cells, column: pa.Array) -> npt.NDArray[np.int32]:
    """(n_rows,) codes of any other column, in canonical order."""
    _, codes = number_sensitive("", column)
    return codes[cells.rows]
