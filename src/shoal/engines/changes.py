"""Columns that a policy changes before anything else: column rules, and pseudonyms.

Everything after it works on the changed table, on every engine: methods, models, metrics and the release
see what is published. A change looks at one value at a time, so it gives the same in any batch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints
from shoal.encoding.pseudonyms import Pseudonyms
from shoal.encoding.rules import Recoding
from shoal.engines.column_types import restore_type, storage_type
from shoal.hierarchy.text import known_text
from shoal.io.arrow import gather, one_chunk
from shoal.io.tables import Table
from shoal.policy import Policy
from shoal.presets.base import ValueCheck
from shoal.presets.checking import rows_that_break, text_counts
from shoal.verification.meaning import require_codes_declared
from shoal.verification.rules import PublishedRule


@dataclass(frozen=True)
class SettledFloats:
    """Numbers with 0 in place of -0, where there are `zeros`, and nothing in place of what is no number.

    To models -0 and 0 are one number, and what is no number is missing, but a reader sees two values.
    """

    zeros: bool

    def __call__(self, column: pa.Array) -> pa.Array:
        """Change a column of floats."""
        wide = pa.float32() if pa.types.is_float16(column.type) else column.type
        values = column.cast(wide)
        if self.zeros:
            values = pc.add(values, pa.scalar(0, wide))
        return pc.if_else(pc.is_nan(values), pa.scalar(None, wide), values).cast(column.type)

    def type_of(self, kind: pa.DataType) -> pa.DataType:
        """The type of the result."""
        return kind


Change = Recoding | Pseudonyms | SettledFloats


def changes_of(policy: Policy) -> dict[str, Change]:
    """What the policy changes, by column; reads the key of its pseudonyms."""
    found: dict[str, Change] = dict(policy.column_rules)
    if policy.pseudonyms:
        assert policy.pseudonym is not None, "a policy with such a column names the key"
        key = policy.pseudonym.load(policy.folder)
        found |= {name: Pseudonyms(name, key) for name in policy.pseudonyms}
    return found


def changed_table(table: Table, policy: Policy) -> Table:
    """A table in memory with what the policy changes, its plain and sensitive numbers settled."""
    changes = changes_of(policy)
    for name in (*policy.plain, *policy.sensitive):
        if name in changes or name not in table.names:
            continue
        column = table.column(name)
        zeros = name in policy.sensitive and _has_negative_zeros(column)
        if zeros or _has_nan(column):
            changes[name] = SettledFloats(zeros)
    return ChangedTable(table, changes) if changes else table


def _has_negative_zeros(column: pa.Array) -> bool:
    if not pa.types.is_floating(column.type):
        return False
    values = column.drop_null().to_numpy(zero_copy_only=False)
    return bool((np.signbit(values) & (values == 0)).any())


def _has_nan(column: pa.Array) -> bool:
    if not pa.types.is_floating(column.type):
        return False
    # what is missing may be anything in the memory below
    return bool(np.isnan(column.drop_null().to_numpy(zero_copy_only=False)).any())


def ruled_values(policy: Policy) -> list[str]:
    """The sensitive columns with a rule whose codes for missing values the policy does not list."""
    rules = policy.column_rules
    return [
        name
        for name in policy.sensitive
        if name in rules and not policy.column_spec(name).states_missing
    ]


def require_codes_before_rule(policy: Policy, name: str, values: pa.Array) -> None:
    """Raise `InputError` for likely codes for missing values: a rule would publish 999 as `90+`."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    texts = known_text(pc.unique(values)).drop_null()
    require_codes_declared(name, texts, policy.column_spec(name))


class ChangedTable:
    """A table of any kind, with some of its columns changed."""

    def __init__(self, table: Table, changes: Mapping[str, Change]) -> None:
        self._table, self._changes = table, changes
        self._changed: dict[str, pa.Array] = {}

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return list(self._table.names)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._table.n_rows

    def column(self, name: str) -> pa.Array:
        """One column in one piece, changed."""
        if name not in self._changes:
            return self._table.column(name)
        if name not in self._changed:
            self._changed[name] = one_chunk(self._changes[name](self._table.column(name)))
        return self._changed[name]

    def require_codes_declared(self, policy: Policy) -> None:
        """Raise `InputError` for likely codes for missing values that a rule would change."""
        for name in ruled_values(policy):
            require_codes_before_rule(policy, name, one_chunk(self._table.column(name)))

    def release(
        self,
        columns: Sequence[str],
        labels: Mapping[str, pa.Array],
        rows: Ints,
        keep_index: bool,
    ) -> Any:
        """A frame of the table's kind; see `Table.release`."""
        more = {
            name: gather(self.column(name), rows)
            for name in columns
            if name in self._changes and name not in labels
        }
        return self._table.release(columns, {**labels, **more}, rows, keep_index)


@dataclass(frozen=True)
class ChangeBatch:
    """Changes the columns p0, p1, ... of a batch, wherever it is."""

    columns: tuple[tuple[str, pa.DataType, Change | None], ...]
    """The name in the session, the type in the file, and the change of each."""

    @property
    def schema(self) -> pa.Schema:
        """The types of the result in the session."""
        return pa.schema([(field.name, storage_type(field.type)) for field in self.types])

    @property
    def types(self) -> pa.Schema:
        """The types of the result."""
        return pa.schema(
            [
                (place, kind if change is None else change.type_of(kind))
                for place, kind, change in self.columns
            ]
        )

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Change a batch."""
        changed = []
        for place, kind, change in self.columns:
            column = batch.column(place)
            if change is not None:
                column = change(restore_type(column, kind))
            changed.append(column)
        fields = self.schema
        cast = [one.cast(field.type) for one, field in zip(changed, fields, strict=True)]
        return pa.RecordBatch.from_arrays(cast, schema=fields)


BROKEN = pa.schema([("i", pa.int32()), ("broken", pa.bool_())])
"""What is found in a batch: the number of a rule, and whether it is broken there."""


@dataclass(frozen=True)
class CheckBatch:
    """Checks the rules of published columns on a batch, wherever it is."""

    columns: tuple[tuple[str, pa.DataType, PublishedRule], ...]
    """The name in the session, the type in the file, and the rule of each."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Which rules are broken in a batch."""
        found = [
            rule.is_broken(restore_type(batch.column(place), kind))
            for place, kind, rule in self.columns
        ]
        numbers = pa.array(range(len(found)), pa.int32())
        return pa.RecordBatch.from_arrays([numbers, pa.array(found, pa.bool_())], schema=BROKEN)


BROKEN_ROWS = pa.schema([("i", pa.int32()), ("n", pa.int64())])
"""What is found in a batch: the number of a check, and the rows that break it there."""


@dataclass(frozen=True)
class CountBroken:
    """Counts the rows of a batch that break the rules of presets, wherever it is."""

    columns: tuple[tuple[str, pa.DataType, ValueCheck], ...]
    """The name in the session, the type in the file, and the check of each."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """How many rows of a batch break each check."""
        texts = {
            place: text_counts(restore_type(batch.column(place), kind))
            for place, kind, _ in self.columns
        }
        found = [rows_that_break(check, *texts[place]) for place, _, check in self.columns]
        numbers = pa.array(range(len(found)), pa.int32())
        return pa.RecordBatch.from_arrays(
            [numbers, pa.array(found, pa.int64())], schema=BROKEN_ROWS
        )


def published_rules(policy: Policy, names: Sequence[str]) -> list[PublishedRule]:
    """The rules that published columns must follow."""
    rules = policy.column_rules
    found = []
    for name in names:
        column = policy.columns.get(name)
        if column is None or not (name in rules or name in policy.pseudonyms):
            continue
        generalised = column.role == "quasi" and policy.publish == "generalised"
        nodes = column.hierarchy is not None
        found.append(PublishedRule(name, rules.get(name), generalised, nodes))
    return found
