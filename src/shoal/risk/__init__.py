"""What could go wrong if a table were published as it is: who stands out, and by which columns."""

from shoal.risk.draft import draft_policy
from shoal.risk.inspection import ColumnReport, ColumnSet, Inspection, inspect_table

__all__ = ["ColumnReport", "ColumnSet", "Inspection", "draft_policy", "inspect_table"]
