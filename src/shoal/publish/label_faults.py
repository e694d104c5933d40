"""Labels that a policy cannot read: of no form that a column of its kind can have."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from shoal.encoding.columns import ColumnSpec
from shoal.hierarchy.csv_file import CsvFile
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.function import FunctionHierarchy
from shoal.hierarchy.mask import Mask
from shoal.hierarchy.nested import NestedTree
from shoal.publish.label_parser import (
    Axis,
    date_part,
    enclosed,
    foreign_range,
    half_open,
    join_pieces,
    joined_intervals,
    our_range,
    pieces,
    read_nodes,
    split_at,
    stars,
    unescaped,
    value_axis,
)
from shoal.publish.labels import ANY, MISSING

NO_NODE = "a text that is no node of the hierarchy"
REVERSED = "a range whose ends are reversed"
NO_PLACE = "a text that is no value of the column, and no range of such values"
NO_MEMBER = "a set with a member that is no value of the column"


def label_faults(
    name: str, labels: Sequence[str | None], spec: ColumnSpec, folder: Path = Path()
) -> list[str | None]:
    """Per label what is wrong with it, in words that do not repeat it; None where it can be read.

    Where the policy does not say what the values of a column are, any text may be one.
    """
    if isinstance(spec.hierarchy, FunctionHierarchy | Mask):
        return [None] * len(labels)
    if isinstance(spec.hierarchy, CsvFile | NestedTree):
        nodes = read_nodes(name, pa.array([], pa.string()), spec.hierarchy, folder)
        return [
            None if label in (None, ANY) or nodes.span(label or "") is not None else NO_NODE
            for label in labels
        ]
    if spec.rule is not None:
        labels = spec.rule.without_marks(pa.array(labels, pa.string())).to_pylist()
    axis = value_axis(labels, [], spec)
    if axis is None:
        return [None] * len(labels)
    return [None if label in (None, ANY) else _fault(label or "", axis, spec) for label in labels]


def _fault(label: str, axis: Axis, spec: ColumnSpec) -> str | None:
    if isinstance(spec.hierarchy, DateParts):
        span = date_part(label, days=True)
    elif axis.of == "intervals":
        span = joined_intervals(label, axis)
    else:
        span = half_open(label) if axis.of == "numbers" else our_range(label, axis)
    span = span or foreign_range(label, axis)
    if span is not None:
        return REVERSED if span.low > span.high else None
    found = pieces(label)
    if enclosed(found, "{", "}"):
        members = [_member(part, first=not i) for i, part in enumerate(split_at(found[1:-1], ","))]
        return None if all(m is None or axis.place(m) is not None for m in members) else NO_MEMBER
    if any(stars(found)):
        return None
    return NO_PLACE if axis.place(unescaped(label)) is None else None


def _member(part: list[tuple[str, bool]], first: bool) -> str | None:
    """A member of a set; None for the missing value."""
    part = part[1:] if not first and part[:1] == [(" ", True)] else part
    return None if part == pieces(MISSING) else join_pieces(part)
