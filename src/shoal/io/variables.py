"""What a file says about its columns beside their values: labels, as in statistics packages."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # policies describe files too, and load no table library
    import pyarrow as pa


@dataclass(frozen=True)
class Variable:
    """A column of a file."""

    name: str
    type: "pa.DataType"
    """The type in which its values are read."""
    label: str = ""
    """The variable label: a description of the column."""
    codes: tuple[tuple[float, str], ...] = ()
    """Value labels: the text of each code, if the column is read as texts."""
