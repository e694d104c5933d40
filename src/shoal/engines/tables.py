"""The door for tables in Python: every kind of frame, and DuckDB relations too."""

from typing import Any

from narwhals.stable.v2.dependencies import is_duckdb_relation

from shoal.io.frames import Table
from shoal.io.frames import wrap as wrap_frame


def wrap(native: Any) -> Table:
    """The user's table, ready for the pipeline; `release` gives the same kind back."""
    if is_duckdb_relation(native):
        # Only here, so that nobody else pays for importing DuckDB.
        from shoal.engines.relation import wrap_relation

        return wrap_relation(native)
    return wrap_frame(native)
