"""The mapping of a release: which label stands for which values, column by column.

A release has one if some of its columns have uniform labels: all that full-domain methods publish at one
level, and those with `labels: uniform`. It holds the published labels, the policy that they were made
by, and for the person who reads it the values under each label that enough people have. Values that
fewer people have are counted and not named, and numbers are described by intervals alone.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import Bools, Codes, Floats, Ints
from shoal.encoding.cells import Cells
from shoal.encoding.columns import ColumnSpec, as_published
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import SUPPRESSED, Grouping
from shoal.encoding.reading import AS_FOUND
from shoal.encoding.rules import plain_number
from shoal.errors import InputError, PolicyError, counted, listed
from shoal.hierarchy.function import FunctionHierarchy
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.text import text_of
from shoal.models.requirement import Requirement
from shoal.policy import Policy
from shoal.policy.canonical import to_data
from shoal.publish.cut import Cut, Cuts, cut_of_levels
from shoal.publish.label_parser import half_open, parse_labels
from shoal.publish.labels import ANY
from shoal.publish.microaggregation import column_scale

FORMAT = "shoal mapping 1"
EXPORT_AGAIN = "Export it again, with `shoal run --mapping` or `release.mapping.write(...)`."
NONE = (
    "This release has no mapping: its columns were generalised group by group, so that a value has many "
    "labels. Use `labels: uniform`, or a full-domain method such as optimal."
)


@dataclass(frozen=True)
class MappedLabel:
    """A label, and what it stands for."""

    label: str | None
    """As it is published; None where the value is missing."""
    low: str | None = None
    """Of an interval: where it begins."""
    high: str | None = None
    """Where it ends, if the end belongs to it."""
    below: str | None = None
    """Where it ends, if the end does not."""
    values: tuple[str, ...] = ()
    """Of values without an interval: those that enough people have."""


@dataclass(frozen=True)
class ColumnMapping:
    """The labels of one column."""

    labels: tuple[MappedLabel, ...]
    level: int | None = None
    """Where all labels are nodes of one level of the column's hierarchy: which; new values of the
    hierarchy then have a label too."""
    rare: int = 0
    """How many values were left out, because too few people have them."""


@dataclass(frozen=True, repr=False)
class LabelMapping:
    """Which label stands for which values, in every column with uniform labels."""

    policy: Policy
    """By which the labels were made, and by which tables that they are applied to are verified."""
    columns: dict[str, ColumnMapping]
    least: int
    """People whom a value must have to be named."""

    def __repr__(self) -> str:
        parts = (
            f"{name} {counted(len(one.labels), 'label')}" for name, one in self.columns.items()
        )
        return f"<LabelMapping: {'; '.join(parts)}>"

    def to_dict(self, folder: Path = Path()) -> dict[str, Any]:
        """As plain values for JSON; folder: where the paths of hierarchy files start."""
        return {
            "format": FORMAT,
            "policy": _with_paths(self.policy, folder),
            "named_from": self.least,
            "columns": {name: _plain(one) for name, one in self.columns.items()},
        }

    def to_json(self, folder: Path = Path()) -> str:
        """The text of its file, with a checksum."""
        data = self.to_dict(folder)
        return (
            json.dumps({**data, "checksum": _checksum(data)}, indent=2, ensure_ascii=False) + "\n"
        )

    def write(self, path: "str | os.PathLike[str]", force: bool = False) -> Path:
        """Write the mapping to a JSON file."""
        from shoal.io.commit import replacing_all

        target = Path(path)
        text = self.to_json(target.parent)
        with replacing_all([target], force) as places:
            places.paths[0].write_text(text, encoding="utf-8")
            places.commit()
        return target

    @property
    def local(self) -> tuple[str, ...]:
        """Quasi-identifiers that were generalised group by group, so that they have no mapping."""
        return tuple(name for name in self.policy.quasi if name not in self.columns)

    def require_whole(self) -> None:
        """Raise `InputError` unless every quasi-identifier has labels to apply."""
        if self.local:
            raise InputError(
                f"The mapping has no labels for {listed(map(repr, self.local))}, which the release "
                "generalised group by group. To apply it, give every quasi column `labels: uniform`, or "
                "use a full-domain method such as optimal."
            )

    def unknown(self, name: str, column: pa.Array) -> Bools:
        """(n,) whether each value of another table has no label."""
        policy = self.policy
        spec = policy.column_spec(name).with_order_of(column)
        texts = text_of(as_published(name, column, spec)).cast(pa.string())
        coded = texts.dictionary_encode()
        known = coded.dictionary.to_pylist()
        found = self.labels_of(name, known, spec) >= 0
        has_missing = any(one.label in (None, ANY) for one in self.columns[name].labels)
        flags = np.append(found, has_missing)
        places = coded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
        return ~flags[places]

    def labels_of(self, name: str, values: Sequence[str], spec: ColumnSpec) -> Ints:
        """(values,) the place of each value's label, as far as it is known; else -1."""
        mapping, hierarchy = self.columns[name], spec.hierarchy
        if mapping.level is not None and hierarchy is not None:
            _, codes = hierarchy.build(pa.array(values, pa.string()), name, self.policy.folder)
            return codes.astype(np.int64)
        labels = [one.label for one in mapping.labels]
        if spec.rule is not None:
            labels = spec.rule.without_marks(pa.array(labels, pa.string())).to_pylist()
        read = parse_labels(
            name, labels, values, replace(spec, reading=AS_FOUND), self.policy.folder
        )
        found = np.full(len(values), -1, np.int64)
        step = max(1, (1 << 24) // max(1, len(labels)))
        for begin in range(0, len(values), step):
            covers = read.covers(begin, min(begin + step, len(values)))
            found[begin : begin + len(covers)] = np.where(
                covers.any(axis=1), covers.argmax(axis=1), -1
            )
        return found

    def cut_of(self, domain: Domain, spec: ColumnSpec) -> Cut:
        """The labels of a column of another table, whose values all have one."""
        mapping, tree = self.columns[domain.name], domain.hierarchy
        if mapping.level is not None and tree is not None:
            level = min(mapping.level, tree.height)
            return cut_of_levels(domain, np.full(domain.size, level, np.int32))
        known = [text for text in domain.texts.to_pylist() if text is not None]
        if spec.rule is not None:
            known = spec.rule.without_marks(pa.array(known, pa.string())).to_pylist()
        place = self.labels_of(domain.name, known, spec)
        texts = [one.label for one in mapping.labels]
        if domain.missing >= 0:
            gone = next((i for i, text in enumerate(texts) if text in (None, ANY)), -1)
            place = np.append(place, gone)
        if (place < 0).any():
            # a leaf of a hierarchy that no row has may be under no label
            texts, place = [*texts, ANY], np.where(place < 0, len(texts), place)
        used, block = np.unique(place, return_inverse=True)
        first = np.array([np.flatnonzero(block == i)[0] for i in range(len(used))])
        rank = np.empty(len(used), np.int32)
        rank[np.argsort(first)] = np.arange(len(used), dtype=np.int32)
        labels = [texts[int(i)] for i in used[np.argsort(first)]]
        levels = None if tree is None else _levels_of(domain, [texts[int(i)] for i in place])
        widths = self._widths(domain, spec, labels)
        return Cut(rank[block.reshape(-1)], pa.array(labels, pa.string()), levels, widths=widths)

    def _widths(
        self, domain: Domain, spec: ColumnSpec, labels: Sequence[str | None]
    ) -> Floats | None:
        """(labels,) the width of each interval over that of the column; None without intervals."""
        scale = column_scale(domain, spec)
        if scale is None or domain.kind != Kind.RANGE:
            return None
        known = scale.counts(domain.texts.drop_null().to_pylist())
        span = max(1, int(known.max()) - int(known.min()))
        wide = {}
        for one in self.columns[domain.name].labels:
            ends = [scale.count(end) for end in (one.low, one.high or one.below) if end is not None]
            low, high = ends if len(ends) == 2 else (None, None)
            wide[one.label] = 0.0 if low is None or high is None else min(1.0, (high - low) / span)
        return np.array([1.0 if label == ANY else wide.get(label, 0.0) for label in labels])


def _levels_of(domain: Domain, labels: Sequence[str | None]) -> Codes:
    """(size,) the level at which each leaf has its label; the root's where it has none."""
    tree = domain.hierarchy
    assert tree is not None
    levels = np.full(domain.size, tree.height, np.int32)
    for level in range(tree.height - 1, -1, -1):
        cut = cut_of_levels(domain, np.full(domain.size, level, np.int32))
        texts = cut.texts.take(pa.array(cut.block)).to_pylist()
        same = np.array([mine == its for mine, its in zip(texts, labels, strict=True)], np.bool_)
        levels[same] = level
    return levels


def mapping_of(
    policy: Policy,
    cells: Cells,
    groupings: Sequence[Grouping],
    cuts: Cuts,
    requirement: Requirement,
) -> LabelMapping | None:
    """The mapping of a release; None where no column has uniform labels."""
    least = max(requirement.min_rows, 1)
    found = {}
    for grouping in groupings:
        published = grouping.group != SUPPRESSED
        for j, column in enumerate(grouping.columns):
            domain = cells.domains[column]
            cut, level = cuts.get(domain.name), None
            if cut is None:
                level = _one_level(grouping, j)
                if level is None:
                    continue
                cut = cut_of_levels(domain, np.full(domain.size, level, np.int32))
            codes = np.repeat(cells.codes[:, column], cells.counts)
            people = _people_of_values(cells, codes, domain.size)
            spec = policy.column_spec(domain.name)
            used = np.unique(cut.block[codes[published]])
            found[domain.name] = _column_mapping(domain, spec, cut, used, people, least, level)
    if not found:
        return None
    in_order = {name: found[name] for name in policy.quasi if name in found}
    return LabelMapping(policy.replace_keys(seed=None), in_order, least)


def _one_level(grouping: Grouping, j: int) -> int | None:
    """The level of a column that is the same in all groups."""
    if grouping.levels is None or not len(grouping.levels):
        return None
    levels = np.unique(grouping.levels[:, j])
    return int(levels[0]) if len(levels) == 1 else None


def _people_of_values(cells: Cells, codes: Codes, size: int) -> Ints:
    """(size,) the people, or rows, with each value."""
    if cells.people is None:
        return np.bincount(codes, minlength=size)
    pairs = np.unique(codes.astype(np.int64) * cells.people.count + cells.people.number)
    return np.bincount(pairs // cells.people.count, minlength=size)


def _column_mapping(
    domain: Domain,
    spec: ColumnSpec,
    cut: Cut,
    used: Ints,
    people: Ints,
    least: int,
    level: int | None,
) -> ColumnMapping:
    texts, labels = domain.texts.to_pylist(), cut.texts.to_pylist()
    scale = column_scale(domain, spec)
    named = scale is None and (domain.kind != Kind.RANGE or spec.order is not None)
    rare, found = 0, []
    for block in used.tolist():
        if cut.intervals and scale is not None:
            interval = cut.intervals[block]
            if interval is None:
                found.append(MappedLabel(None))
                continue
            low, end = scale.write(interval.low), interval.end
            if scale.is_discrete or end - interval.low == scale.least:
                found.append(MappedLabel(labels[block], low, scale.write(end - scale.least)))
            else:
                found.append(MappedLabel(labels[block], low, below=scale.write(end)))
            continue
        interval_of = (
            half_open(labels[block] or "") if isinstance(spec.hierarchy, Intervals) else None
        )
        if interval_of is not None:
            low, end = (plain_number(place[1]) for place in (interval_of.low, interval_of.high))
            found.append(MappedLabel(labels[block], low, below=end))
            continue
        codes = [c for c in np.flatnonzero(cut.block == block).tolist() if texts[c] is not None]
        enough = [texts[c] for c in codes if people[c] >= least]
        rare += sum(bool(0 < people[c] < least) for c in codes)
        found.append(MappedLabel(labels[block], values=tuple(sorted(enough)) if named else ()))
    return ColumnMapping(tuple(found), level, rare)


def _plain(column: ColumnMapping) -> dict[str, Any]:
    labels = []
    for one in column.labels:
        data: dict[str, Any] = {"label": one.label}
        ends = {"from": one.low, "to": one.high, "below": one.below}
        data |= {key: end for key, end in ends.items() if end is not None}
        labels.append(data | ({"values": list(one.values)} if one.values else {}))
    level = {} if column.level is None else {"level": column.level}
    return {**level, "labels": labels, "left_out": column.rare}


def _with_paths(policy: Policy, folder: Path) -> dict[str, Any]:
    """The policy as plain data; the paths of its files start at another folder."""
    for name, column in policy.columns.items():
        if isinstance(column.hierarchy, FunctionHierarchy):
            raise PolicyError(
                f"Column '{name}' has a function as its hierarchy, which no file can hold. Apply the "
                "mapping in the same program, or write the hierarchy as a tree or a CSV file."
            )
    data = to_data(policy)

    def moved(path: str) -> str:
        return os.path.relpath(policy.folder / path, folder)

    for column in data["columns"].values():
        if not isinstance(column, dict):
            continue
        hierarchy = column.get("hierarchy")
        if isinstance(hierarchy, str):
            column["hierarchy"] = moved(hierarchy)
        elif isinstance(hierarchy, dict) and "csv" in hierarchy:
            column["hierarchy"] = {**hierarchy, "csv": moved(hierarchy["csv"])}
        if "zip3" in column:
            column["zip3"] = moved(column["zip3"])
    return data


def _checksum(data: Mapping[str, Any]) -> str:
    text = json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_mapping(path: Path) -> LabelMapping:
    """The mapping in a file.

    Raises
    ------
    InputError
        If the file is none, is damaged, or was changed after it was written.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is no mapping: it is not text. {EXPORT_AGAIN}") from None
    try:
        data = json.loads(text)
    except ValueError:
        raise InputError(
            f"{path} is no mapping, or a damaged one: not JSON. {EXPORT_AGAIN}"
        ) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{path} is no mapping of this version of Shoal. {EXPORT_AGAIN}")
    written = data.pop("checksum", None)
    if written != _checksum(data):
        raise InputError(
            f"{path} was changed after it was written: its checksum differs. Labels that somebody "
            f"edited may overlap, or name people. {EXPORT_AGAIN}"
        )
    columns = {
        name: ColumnMapping(
            tuple(
                MappedLabel(
                    one["label"],
                    one.get("from"),
                    one.get("to"),
                    one.get("below"),
                    tuple(one.get("values", ())),
                )
                for one in column["labels"]
            ),
            column.get("level"),
            column["left_out"],
        )
        for name, column in data["columns"].items()
    }
    policy = Policy.load(data["policy"], folder=path.parent)
    return LabelMapping(policy, columns, data["named_from"])


def has_mapping(policy: Policy) -> bool:
    """Whether a release by this policy may have a mapping."""
    return policy.method.along_hierarchies or bool(policy.columns_labelled("uniform"))
