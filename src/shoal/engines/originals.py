"""The original values and preferences behind a release with personal protection."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.encoding.missing import is_missing
from shoal.errors import VerificationFailed
from shoal.hierarchy.text import text_of
from shoal.io.tables import Table
from shoal.policy import Policy
from shoal.verification.digest import digest_of, read_text
from shoal.verification.preferences import STAR, require_rule, tree_of


@dataclass(frozen=True)
class Originals:
    """Original values and preferences, row by row of the release. They never leave the run."""

    values: Mapping[str, pa.Array]
    """Per sensitive column with preferences, the original values."""
    preferences: Mapping[str, pa.Array]
    """Per such column, the level of protection that each person asked for."""

    @property
    def rows(self) -> int:
        """Rows of the release."""
        return len(next(iter(self.values.values())))


NO_ORIGINALS = Originals({}, {})


def originals_of(table: Table, policy: Policy, rows: Ints) -> Originals:
    """What stands behind the published rows; `rows` are their places in the table."""
    at = pa.array(rows)

    def values(name: str) -> pa.Array:
        texts = text_of(table.column(name)).take(at)
        spec = policy.column_spec(name)
        gone = is_missing(texts, spec.missing, spec.exact_codes, spec.reading)
        return pc.if_else(pa.array(gone), None, texts)

    return Originals(
        {name: values(name) for name in policy.preferences},
        {name: text_of(table.column(level)).take(at) for name, level in policy.preferences.items()},
    )


def with_originals(rows: pa.Table, policy: Policy, originals: Originals) -> pa.Table:
    """The published rows with the original values; raises where one breaks the personal rule."""
    for name, values in originals.values.items():
        label = text_of(rows.column(name)).cast(pa.string())
        domain = tree_of(policy.column_spec(name), name, policy.folder)
        require_rule(domain, values, originals.preferences[name], read_text(label))
        starred = pc.fill_null(pc.equal(label, STAR), False)
        paired = pc.if_else(starred, STAR, values.cast(pa.string()))
        rows = rows.set_column(rows.column_names.index(name), name, paired)
    return rows


def require_same(rows: pa.Table, digest: str, what: str) -> None:
    """Raise `VerificationFailed` unless these are the very rows that were verified."""
    if digest_of(rows) != digest:
        raise VerificationFailed(
            f"{what} is not what was verified when the release was made. Its guarantees were checked "
            "on the original values, so no other rows can be written. Make the release again."
        )
