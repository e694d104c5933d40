"""A release decoded: its labels are counted first, then every row takes the values of its labels.

The first pass decides the types and, where a form needs them, the marginals; the second converts the
rows. Both take a table batch by batch, so that a release larger than memory can be decoded.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Ints, Words
from shoal.decoding.forms import (
    CATEGORY_FORMS,
    CERTAIN,
    ESTIMATED,
    NUMBER_FORMS,
    Decoded,
    check_form,
    check_name_of_form,
    decoded,
    why_not,
)
from shoal.decoding.marginals import LabelCounts
from shoal.decoding.meaning import STATISTICS, Meaning, Measured, meaning_of
from shoal.decoding.value_types import ValueType, joined_type, typed, value_type
from shoal.encoding.columns import ColumnSpec, without_codes
from shoal.encoding.reading import is_text
from shoal.errors import InputError, PolicyError, listed, nearest
from shoal.policy import Policy
from shoal.policy.released_columns import suppressible_components
from shoal.publish.covering import distinct_texts
from shoal.publish.labels import ANY


@dataclass(frozen=True)
class Choice:
    """What a user asked for."""

    numbers: str = "midpoint"
    """The form of numbers, dates and times."""
    categories: str = "label"
    """The form of everything else."""
    forms: tuple[tuple[str, str], ...] = ()
    """Columns with a form of their own."""
    seed: int = 0
    """The seed of samples."""

    @cached_property
    def by_column(self) -> dict[str, str]:
        """The columns with a form of their own."""
        return dict(self.forms)

    @property
    def estimates(self) -> bool:
        """Whether some form needs marginals."""
        chosen = {self.numbers, self.categories, *self.by_column.values()}
        return bool(chosen & {*ESTIMATED})

    def check(self) -> None:
        """Raise `InputError` for a form that does not exist."""
        check_name_of_form(self.numbers, NUMBER_FORMS, "numbers")
        check_name_of_form(self.categories, CATEGORY_FORMS, "categories")
        every = tuple(dict.fromkeys((*NUMBER_FORMS, *CATEGORY_FORMS)))
        for name, form in self.forms:
            check_name_of_form(form, every, f"Column '{name}'")


@dataclass(frozen=True)
class DecodedColumn:
    """What became of a column."""

    name: str
    form: str
    """The form, or `value` where it was published unchanged."""
    labels: int
    """Its different labels; 0 for a column that was published unchanged."""
    columns: tuple[str, ...]
    """The columns that it became."""

    @property
    def is_sampled(self) -> bool:
        """Whether its values were drawn."""
        return self.form == "sample"


class LabelTally:
    """The different labels of a column with their rows, collected batch by batch."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.code: dict[str | None, int] = {}
        self.rows = np.zeros(0, np.int64)

    @property
    def labels(self) -> list[str | None]:
        """The different labels, in the order of their first row."""
        return list(self.code)

    def add(self, column: pa.Array) -> Ints:
        """Count the labels of some rows; returns the number of each row's label."""
        codes = self.codes(column, new=True)
        grown = np.zeros(len(self.code), np.int64)
        grown[: len(self.rows)] = self.rows
        self.rows = grown + np.bincount(codes, minlength=len(grown))
        return codes

    def codes(self, column: pa.Array, new: bool = False) -> Ints:
        """(rows,) the number of each row's label."""
        found = distinct_texts(self.name, column)
        texts: list[str | None] = [*found.texts, *([None] if found.missing else [])]
        if new:
            for text in texts:
                self.code.setdefault(text, len(self.code))
        places = np.array([self.code[text] for text in texts], np.int64)
        return places[found.codes] if len(places) else np.zeros(len(column), np.int64)


class ClassTally:
    """The equivalence classes on some columns, collected batch by batch."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.hashes = np.zeros(0, np.uint64)
        self.codes = np.zeros((0, len(names)), np.int64)
        self.rows = np.zeros(0, np.int64)

    def add(self, codes: Mapping[str, Ints]) -> None:
        """Take in the labels of some rows."""
        rows = np.stack([codes[name] for name in self.names], axis=1)
        every = np.concatenate([self.hashes, _hashed(rows)])
        counts = np.concatenate([self.rows, np.ones(len(rows), np.int64)])
        self.hashes, first, place = np.unique(every, return_index=True, return_inverse=True)
        self.codes = np.concatenate([self.codes, rows])[first]
        self.rows = np.zeros(len(first), np.int64)
        np.add.at(self.rows, place, counts)

    def sizes_of(self, name: str) -> tuple[Ints, Ints, Ints]:
        """The labels of a column with the sizes of their classes, and how many classes are so."""
        pairs = np.stack([self.codes[:, self.names.index(name)], self.rows], axis=1)
        found, times = np.unique(pairs, axis=0, return_counts=True)
        return found[:, 0], found[:, 1], times


class Decoder:
    """Decodes the rows of one release."""

    def __init__(
        self,
        policy: Policy,
        choice: Choice,
        schema: pa.Schema,
        untyped: bool = False,
        whole: Mapping[str, bool] | None = None,
    ) -> None:
        """schema: the columns of the release. untyped: whether all columns are texts because the
        format has no types, so that numbers and dates are to be recognised. whole: columns of which it
        is known whether their numbers are whole."""
        choice.check()
        check_columns(policy, choice, schema.names)
        self.policy, self.choice, self.names = policy, choice, list(schema.names)
        self.whole = whole or {}
        self.specs = {name: _spec(policy, name) for name in self.names}
        self.tallies = {name: LabelTally(name) for name in self.names if has_labels(policy, name)}
        self._types: dict[str, set[ValueType]] = {
            name: set()
            for name in self.names
            if name not in self.tallies
            and is_text(_bare(schema.field(name).type))
            and (untyped or self._declares_type(name) or self._may_be_starred(name))
        }
        self._as_texts = {
            name for name in self._types if not untyped and not self._declares_type(name)
        }
        """Columns that are texts unless some of their cells were suppressed."""
        self._components = [
            ClassTally([name for name in component if name in self.tallies])
            for component in _components(policy)
            if choice.estimates and all(name in self.tallies for name in component)
        ]
        self.columns: dict[str, Decoded] = {}
        self.notes: list[str] = []

    def _declares_type(self, name: str) -> bool:
        return self.specs[name].reading.type in ("number", "date")

    def _may_be_starred(self, name: str) -> bool:
        """Whether a `*` in a column that is published unchanged is a suppressed cell."""
        return name in self.policy.sensitive or bool(suppressible_components(self.policy))

    def count(self, batch: pa.Table | pa.RecordBatch) -> None:
        """The first pass: take in the labels of some rows."""
        codes = {name: tally.add(self._labels(name, batch)) for name, tally in self.tallies.items()}
        for component in self._components:
            component.add(codes)
        for name, found in self._types.items():
            if name in self._as_texts and _has_star(_column(batch, name)):
                self._as_texts.remove(name)
            values = pc.unique(self._known(name, _column(batch, name)).cast(pa.string()))
            found.add(value_type(values, self.specs[name].reading))

    def _labels(self, name: str, batch: pa.Table | pa.RecordBatch) -> pa.Array:
        """The labels of a column, without codes for missing values; a mean may be such a number."""
        column, spec = _column(batch, name), self.specs[name]
        return column if spec.labels in STATISTICS else without_codes(name, column, spec)

    def settle(self) -> None:
        """Decide between the passes what every column becomes."""
        random = np.random.SeedSequence(self.choice.seed)
        for position, name in enumerate(self.names):
            tally = self.tallies.get(name)
            if tally is None:
                continue
            meaning = meaning_of(
                name, tally.labels, tally.rows, self.specs[name], self.policy.folder
            )
            if isinstance(meaning, Measured) and name in self.whole:
                meaning = replace(meaning, whole=self.whole[name])
            form = self._form(name, meaning)
            own = np.random.default_rng([*random.generate_state(4).tolist(), position])
            component = next((one for one in self._components if name in one.names), None)
            sizes = (np.arange(len(tally.rows)), tally.rows, np.ones_like(tally.rows))
            if component is not None:
                sizes = component.sizes_of(name)
            counts = LabelCounts(tally.rows, *sizes)
            tight = component is not None and self.specs[name].labels == "range"
            self.columns[name] = decoded(meaning, form, counts, tight, own)
        self._check_new_names()

    def _form(self, name: str, meaning: Meaning) -> str:
        own = self.choice.by_column.get(name)
        if own is not None:
            check_form(own, meaning)
            return own
        form = self.choice.numbers if isinstance(meaning, Measured) else self.choice.categories
        why = why_not(form, meaning)
        if why and meaning.statistic and form in meaning.forms:
            # the columns of the result depend on the policy and the options alone
            said = f"no {form} is known" if form in CERTAIN else "the published values are used"
            self.notes.append(f"Column '{name}': {said}, because {why}.")
            return form
        if why:
            self.notes.append(f"Column '{name}' keeps its labels: {why}.")
        return "label" if why else form

    def _check_new_names(self) -> None:
        every = [new for name in self.names for new in self._new_names(name)]
        doubled = sorted({name for name in every if every.count(name) > 1})
        if doubled:
            raise InputError(
                f"Decoding would make two columns named {listed(doubled)}. Rename the column of the "
                "release that has the name, or choose another form."
            )

    def _new_names(self, name: str) -> list[str]:
        found = self.columns.get(name)
        return [name] if found is None else list(found.columns)

    def decode(self, batch: pa.Table | pa.RecordBatch) -> pa.Table:
        """The second pass: some rows with their values."""
        new: dict[str, pa.Array] = {}
        for name in self.names:
            if name in self.columns:
                new |= self.columns[name].rows(self.tallies[name].codes(self._labels(name, batch)))
            else:
                new[name] = self._value(name, _column(batch, name))
        return pa.table(new)

    def _value(self, name: str, column: pa.Array) -> pa.Array:
        """A column that was published unchanged, in its type."""
        known = self._known(name, column)
        if name not in self._types or name in self._as_texts:
            return known
        kind = joined_type(self._types[name])
        return typed(known.cast(pa.string()), kind, self.specs[name].reading)

    def _known(self, name: str, column: pa.Array) -> pa.Array:
        """The values without codes for missing ones and, where rows may be starred, without `*`."""
        spec = self.specs[name]
        column = without_codes(name, column, spec)
        if self._may_be_starred(name) and is_text(_bare(column.type)):
            plain = column.cast(pa.string())
            column = pc.if_else(pc.equal(plain, ANY), None, plain)
        return column

    def changes(self, name: str) -> bool:
        """Whether a column is not returned as it is."""
        starred = name in self.policy.sensitive or bool(suppressible_components(self.policy))
        return (
            name in self.columns or name in self._types or starred or bool(self.specs[name].missing)
        )

    def outcome(self) -> tuple[DecodedColumn, ...]:
        """What became of every column."""
        return tuple(
            DecodedColumn(
                name,
                self.columns[name].form if name in self.columns else "value",
                len(self.tallies[name].rows) if name in self.tallies else 0,
                tuple(self._new_names(name)),
            )
            for name in self.names
        )


def has_labels(policy: Policy, name: str) -> bool:
    """Whether a column of a release has labels: a quasi-identifier, or sensitive with preferences."""
    return name in policy.quasi or name in policy.preferences


def check_columns(policy: Policy, choice: Choice, names: Sequence[str]) -> None:
    """Raise an error unless a table can be a release of the policy, and the choice fits it."""
    if policy.publish == "anatomy":
        raise PolicyError(
            "A release with `publish: anatomy` has exact values and no labels, so there is nothing to "
            "decode. Read its files as they are, and join them by the number of the group."
        )
    allowed = policy.published(policy.columns)
    unknown = [name for name in names if name not in policy.columns]
    if not any(name in policy.columns for name in names):
        raise PolicyError(
            f"The release has none of the policy's columns ({listed(allowed)}), but {len(names)} "
            "others. Is this the policy it was made with, and does the file begin with a header?"
        )
    if unknown:
        raise PolicyError(
            f"The release has the column '{unknown[0]}', which the policy does not list."
            f"{nearest(unknown[0], allowed)} It lists: {listed(allowed)}."
        )
    if hidden := [name for name in names if name not in allowed]:
        raise PolicyError(
            f"The table has the column '{hidden[0]}', which the policy does not publish. Is this the "
            "release, and not the table that it was made from?"
        )
    for name, form in choice.forms:
        if name not in names:
            raise InputError(
                f"There is no column '{name}' to decode as '{form}'.{nearest(name, names)} "
                f"The release has: {listed(names)}."
            )
        if not has_labels(policy, name):
            raise InputError(
                f"Column '{name}' cannot be decoded as '{form}': it is published unchanged and has no "
                f"labels. Columns with labels: {listed(n for n in names if has_labels(policy, n))}."
            )


def decoded_table(table: pa.Table, decoder: Decoder) -> pa.Table:
    """A whole table decoded at once."""
    decoder.count(table)
    decoder.settle()
    return decoder.decode(table)


def _spec(policy: Policy, name: str) -> ColumnSpec:
    """What the policy says about a column of a release; where it has its codes, missing ones too."""
    return policy.column_spec(name)


def _components(policy: Policy) -> Iterable[Sequence[str]]:
    """The sets of columns whose classes have tight labels: those of constraints that share columns."""
    return suppressible_components(policy) or [policy.quasi]


def _column(batch: pa.Table | pa.RecordBatch, name: str) -> Any:
    column = batch.column(name)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _has_star(column: pa.Array) -> bool:
    return bool(pc.any(pc.equal(column.cast(pa.string()), ANY)).as_py())


def _bare(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _hashed(rows: Ints) -> Words:
    """(rows,) a hash of the numbers in each row (splitmix64)."""
    found = np.full(len(rows), 0x9E3779B97F4A7C15, np.uint64)
    with np.errstate(over="ignore"):
        for column in rows.T:
            found = (found ^ column.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
            found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            found ^= found >> np.uint64(31)
    return found
