"""What stands behind the rows of a release in which people's wishes count."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.errors import VerificationFailed
from shoal.hierarchy.text import text_of
from shoal.io.frames import Table
from shoal.policy import Policy
from shoal.verification.digest import digest_of, read_text
from shoal.verification.preferences import STAR, require_rule, tree_of


@dataclass(frozen=True)
class Behind:
    """Originals and wishes, row by row of the release. They never leave the run that made it."""

    values: Mapping[str, pa.Array]
    """Per sensitive column in which wishes count, the original values."""
    wishes: Mapping[str, pa.Array]
    """And the level of protection that each person asked for."""

    @property
    def rows(self) -> int:
        """Rows of the release."""
        return len(next(iter(self.values.values())))


NOTHING = Behind({}, {})


def behind(table: Table, policy: Policy, rows: Ints) -> Behind:
    """The values and wishes behind the published rows; `rows` are their places in the table."""
    at = pa.array(rows)
    wishes = policy.preferences
    return Behind(
        {name: text_of(table.column(name)).take(at) for name in wishes},
        {name: text_of(table.column(wish)).take(at) for name, wish in wishes.items()},
    )


def with_originals(rows: pa.Table, policy: Policy, hidden: Behind) -> pa.Table:
    """The published rows with the original values; raises where one breaks the personal rule."""
    for name, values in hidden.values.items():
        shown = text_of(rows.column(name)).cast(pa.string())
        domain = tree_of(policy.how(name), name, policy.folder)
        require_rule(domain, values, hidden.wishes[name], read_text(shown))
        starred = pc.fill_null(pc.equal(shown, STAR), False)
        paired = pc.if_else(starred, STAR, values.cast(pa.string()))
        rows = rows.set_column(rows.column_names.index(name), name, paired)
    return rows


def require_same(rows: pa.Table, digest: str, what: str) -> None:
    """Raise unless these are the very rows that were verified."""
    if digest_of(rows) != digest:
        raise VerificationFailed(
            f"{what} is not what was verified when the release was made. Its guarantees were judged "
            "on the values behind it, so no other rows can be written. Make the release again."
        )
