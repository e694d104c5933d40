"""A table as the pipeline sees it, and the one that needs no other library: pyarrow's."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from shoal.arrays import Ints
from shoal.errors import InputError, listed
from shoal.io.arrow import gather, one_chunk, without_metadata
from shoal.threads import each


class Table(Protocol):
    """A table of some library, as the pipeline sees it."""

    @property
    def names(self) -> list[str]:
        """The columns, in order."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def column(self, name: str) -> pa.Array:
        """One column in one piece; missing values are nulls."""

    def release(
        self,
        columns: Sequence[str],
        labels: Mapping[str, pa.Array],
        rows: Ints,
        keep_index: bool,
    ) -> Any:
        """A frame of the same kind with these columns in this order.

        labels: published texts, already in output order; rows: (n_out,) the input row of each output
        row, for every column without labels. `keep_index` keeps the labels of a pandas index;
        otherwise rows are numbered again.
        """


@dataclass(frozen=True)
class ArrowTable:
    """A pyarrow table."""

    native: pa.Table

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return list(self.native.column_names)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.native.num_rows)

    def column(self, name: str) -> pa.Array:
        """One column in one piece."""
        return one_chunk(self.native.column(name))

    def release(
        self,
        columns: Sequence[str],
        labels: Mapping[str, pa.Array],
        rows: Ints,
        keep_index: bool,  # noqa: ARG002 - Arrow has no index
    ) -> pa.Table:
        """See Table.release."""

        def published(name: str) -> pa.Array:
            return labels[name] if name in labels else gather(self.native.column(name), rows)

        # only published columns are gathered, a few at a time: there is never a second table
        arrays = each(published, columns, len(rows))
        fields = []
        for name, array in zip(columns, arrays, strict=True):
            at = self.native.schema.get_field_index(name)  # -1 for an added column
            old = self.native.schema.field(at) if at >= 0 else None
            same = old is not None and old.type == array.type
            fields.append(old if same else pa.field(name, array.type))
        return without_metadata(pa.Table.from_arrays(arrays, schema=pa.schema(fields)))


def check_names(names: Sequence[Any]) -> None:
    """Raise an InputError unless all names are texts and different."""
    odd = [f"{name!r} ({type(name).__name__})" for name in names if not isinstance(name, str)]
    if odd:
        raise InputError(
            f"Column names must be texts, found {listed(odd)}. "
            "Rename them first, for instance with df.columns = [...]."
        )
    doubled = sorted(name for name, times in Counter(names).items() if times > 1)
    if doubled:
        raise InputError(
            f"The table has more than one column named {listed(doubled)}. Rename them first."
        )
