"""Anonymisation as a step of a scikit-learn pipeline.

`Anonymizer` learns the classes of the rows that it is fitted on, by a release of them, and gives new
rows the labels of these classes. Needs scikit-learn: `pip install 'shoal[sklearn]'`.
"""

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal import api
from shoal.arrays import Bools, Codes, Floats, Ints
from shoal.decoding.meaning import Measured, meaning_of
from shoal.encoding.columns import ColumnSpec, encode_quasi
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import Spans
from shoal.engines.label_mapping import LabelMapping
from shoal.errors import InputError, PolicyError, ShoalWarning, listed, nearest
from shoal.hierarchy.text import text_of
from shoal.io.arrow import one_chunk
from shoal.io.frames import is_frame, wrap
from shoal.policy import Policy, resolve_policy
from shoal.publish.cut import Cut
from shoal.publish.label_parser import MOMENT, NUMBER, place_of
from shoal.publish.labels import ANY, labels_of
from shoal.publish.microaggregation import STATISTICS
from shoal.release import Release

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import Tags
    from sklearn.utils.validation import check_is_fitted, validate_data
except ModuleNotFoundError as error:
    raise ImportError(
        "shoal.sklearn needs scikit-learn: pip install 'shoal[sklearn]', or scikit-learn itself."
    ) from error

Array = npt.NDArray[Any]

ENCODINGS = ("labels", "numbers", "bounds")
AT_ONCE = 1 << 22
"""Rows times classes that are compared at a time."""
DAY = 86_400 * 10**9
EPOCH = date(1970, 1, 1).toordinal()
COVERED = (
    "Each row has the label of a class that at least as many training rows share as the policy asks for "
    "in the release that was verified. The new rows themselves were not counted: they hold no k, l or t."
)
UNCOVERED = (
    "{n:,} of {rows:,} rows are covered by no class: each has the label of the nearest one, with "
    "ranges, sets and nodes widened to its own values. Such a label may be one row's alone, and tells "
    "about it what the widening shows."
)


@dataclass(frozen=True)
class Coverage:
    """How many rows of a call of `transform` some class of the training rows covers."""

    rows: int
    """Rows that were transformed."""
    uncovered: int
    """Rows that no class covers: they have the label of the nearest class, widened."""

    @property
    def share(self) -> float:
        """The share of rows that some class covers; 1 of no rows."""
        return 1 - self.uncovered / self.rows if self.rows else 1.0

    @property
    def guarantee(self) -> str:
        """What is guaranteed of these rows, and what is not."""
        words = UNCOVERED.format(n=self.uncovered, rows=self.rows)
        return f"{COVERED} {words}" if self.uncovered else COVERED


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Give rows the labels of anonymous classes.

    `fit` makes a verified release of the training rows. `fit_transform` returns that release, in the
    order of the rows; rows that had to be suppressed are starred, since scikit-learn needs as many rows
    as came in. `transform` gives each new row the label of the class that covers it, of several the
    narrowest; where none does, that of the nearest class, widened to the row. A column with a statistic
    of the class as its `labels` is never widened; one with uniform labels gets the label that has the
    row's own value, and `*` where none has.

    Parameters
    ----------
    policy
        A `Policy`, a mapping with its keys, YAML text of several lines, or the path of a YAML file.
    identifiers, quasi, sensitive, plain, person, weight, k, l, t, constraints, hierarchies, kinds, \
orders, labels, importance
        As in `shoal.anonymize`. Without a policy and without `quasi`, all columns that are not named
        elsewhere are quasi-identifiers. The columns of an array without names are x0, x1, …
    method, refine, suppression, preset, default, seed, read
        As in `shoal.anonymize`.
    to_predict
        `predict` of `shoal.anonymize`: scikit-learn would take an estimator with an attribute of that
        name for a model.
    encode
        `labels`: labels as they are published, as objects. `numbers`: for a pipeline that ends in a
        model; numbers and dates (in days) by the middle of their label, other columns by a feature for
        each training value, with the share that the value has among those under the label. `bounds`:
        the same, with both ends of the label in place of the middle. Either says of numbers and dates
        what the labels say, and no more. A mean, median, midpoint or mode is one number in both.

    Attributes
    ----------
    release_
        The verified release of the training rows, in their order.
    classes_of_rows_
        (rows,) the class of each training row; -1 where it was suppressed.
    n_classes_
        Classes that new rows can get the label of.
    coverage_
        A `Coverage` for each call of `transform`, the latest last.

    Examples
    --------
    >>> import pandas as pd
    >>> from shoal.sklearn import Anonymizer
    >>> train = pd.DataFrame({"age": [31, 36, 35, 61, 64, 62]})
    >>> anonymizer = Anonymizer(quasi="age", k=3).set_output(transform="pandas")
    >>> anonymizer.fit_transform(train).age.tolist()
    ['[31~36]', '[31~36]', '[31~36]', '[61~64]', '[61~64]', '[61~64]']
    >>> anonymizer.transform(pd.DataFrame({"age": [33, 40]})).age.tolist()
    ['[31~36]', '[31~40]']
    >>> anonymizer.coverage_[-1].uncovered
    1
    """

    def __new__(cls, *_: Any, **keywords: Any) -> Self:
        """Raise `TypeError` for a keyword that there is not; `__init__` has no place for this, since
        scikit-learn reads its signature."""
        known = {*cls._get_param_names()}
        if unknown := [name for name in keywords if name not in known]:
            name = unknown[0]
            raise TypeError(f"Anonymizer: there is no keyword '{name}'. {_instead(name, known)}")
        return super().__new__(cls)

    def __init__(
        self,
        policy: Any = None,
        *,
        identifiers: Any = None,
        quasi: Any = None,
        sensitive: Any = None,
        plain: Any = None,
        k: int | None = None,
        l: int | None = None,  # noqa: E741 - the field's own letter
        t: float | None = None,
        constraints: Iterable[Any] | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        kinds: Mapping[str, str] | None = None,
        orders: Mapping[str, Iterable[str]] | None = None,
        labels: Mapping[str, api.LabelForm] | None = None,
        importance: Mapping[str, float] | None = None,
        person: str | None = None,
        weight: str | None = None,
        to_predict: str | None = None,
        method: Any = None,
        refine: Literal["quick", "thorough"] | int | None = None,
        suppression: float | None = None,
        preset: Any = None,
        default: Literal["drop"] | None = None,
        seed: int | None = None,
        read: Mapping[str, Any] | None = None,
        encode: Literal["labels", "numbers", "bounds"] = "labels",
    ) -> None:
        self.policy = policy
        self.identifiers = identifiers
        self.quasi = quasi
        self.sensitive = sensitive
        self.plain = plain
        self.k = k
        self.l = l
        self.t = t
        self.constraints = constraints
        self.hierarchies = hierarchies
        self.kinds = kinds
        self.orders = orders
        self.labels = labels
        self.importance = importance
        self.person = person
        self.weight = weight
        self.to_predict = to_predict
        self.method = method
        self.refine = refine
        self.suppression = suppression
        self.preset = preset
        self.default = default
        self.seed = seed
        self.read = read
        self.encode = encode

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803, ARG002 - scikit-learn's names
        """Learn the classes of these rows.

        Parameters
        ----------
        X
            A frame, or an array with a row for each person.
        y
            Ignored.

        Returns
        -------
        Anonymizer
            This very object.
        """
        table = self._table(X, reset=True)
        self._names = tuple(table.column_names)
        policy = self._policy(table.column_names)
        with warnings.catch_warnings():
            # the rows go back to whoever gave them
            warnings.filterwarnings("ignore", message="order: kept", category=ShoalWarning)
            self.release_: Release[pa.Table] = api.anonymize(table, policy)
            if self.release_.suppressed_rows and policy.suppressed != "starred":
                # as many rows must go out as came in
                policy = policy.replace_keys(suppressed="starred", seed=self.release_.seed)
                self.release_ = api.anonymize(table, policy)
        published = self.release_.table
        self.published_names_ = tuple(published.column_names)
        labels = {name: text_of(one_chunk(published[name])) for name in policy.quasi}
        self._starred = _starred(published)
        self.classes_of_rows_, first = _classes(list(labels.values()), self._starred)
        self.n_classes_ = len(first)
        self.coverage_: list[Coverage] = []
        self._rules = policy.column_rules
        specs = {name: policy.column_spec(name) for name in policy.quasi}
        self._columns = {
            name: _LearntColumn.of(
                name,
                self._recoded(table, name),
                specs[name],
                labels[name].take(pa.array(first)),
                self.classes_of_rows_,
                policy,
                self.release_.found_mapping,
            )
            for name in policy.quasi
        }
        kept = pa.array(~self._starred)
        self._unchanged = {
            name: _UnchangedColumn.of(self._recoded(table, name).filter(kept))
            for name in self.published_names_
            if name not in policy.quasi
        }
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: N803 - scikit-learn's names
        """Learn the classes of these rows, and return their verified release.

        Parameters
        ----------
        X
            A frame, or an array with a row for each person.
        y
            Ignored.

        Returns
        -------
        array or frame
            (rows, features) the labels of the rows, in their order, or what `encode` makes of them.
        """
        self.fit(X, y)
        table, number = self._table(X), self.classes_of_rows_
        if self.encode == "labels":
            return self._labelled(lambda name: one_chunk(self.release_.table[name]))
        parts = []
        for name in self.published_names_:
            if name in self._unchanged:
                known = self._unchanged[name].numbers(self._recoded(table, name))
                known[self._starred] = np.nan
                parts.append(known)
            else:
                own = self._columns[name].joined(None)
                parts.append(own.features(number, None, self.encode))
        return np.concatenate(parts, axis=1)

    def transform(self, X: Any) -> Any:  # noqa: N803 - scikit-learn's name
        """Give rows the labels of the classes that were learnt; `coverage_` says for how many none fits.

        Parameters
        ----------
        X
            A frame or an array with the columns of the training rows.

        Returns
        -------
        array or frame
            (rows, features) the labels of the rows, or what `encode` makes of them.
        """
        check_is_fitted(self)
        table = self._table(X)
        joined = {
            name: column.joined(self._recoded(table, name))
            for name, column in self._columns.items()
        }
        codes = np.stack([column.codes for column in joined.values()], axis=1)
        distinct, row = np.unique(codes, axis=0, return_inverse=True)
        row = row.reshape(-1)
        number, covered = _nearest(list(joined.values()), distinct, self.n_classes_)
        every: Bools = np.all(covered, axis=1)[row]
        self.coverage_.append(Coverage(len(row), int((~every).sum())))
        inside = {name: covered[row, j] for j, name in enumerate(joined)}
        number = number[row]
        if self.encode == "labels":

            def labels(name: str) -> pa.Array:
                if name in self._unchanged:
                    return self._recoded(table, name)
                return joined[name].labels(number, inside[name])

            return self._labelled(labels)
        return np.concatenate(
            [
                self._unchanged[name].numbers(self._recoded(table, name))
                if name in self._unchanged
                else joined[name].features(number, inside[name], self.encode)
                for name in self.published_names_
            ],
            axis=1,
        )

    def get_feature_names_out(self, input_features: Any = None) -> Array:  # noqa: ARG002
        """The names of the features that `transform` returns.

        Parameters
        ----------
        input_features
            Ignored: the names are those of the training rows.

        Returns
        -------
        array of str
            The published columns; with `encode`, `name_value` for each value of a column that is no
            number, and with `bounds` `name_low` and `name_high`.
        """
        check_is_fitted(self)
        names: list[str] = []
        for name in self.published_names_:
            if self.encode == "labels":
                names.append(name)
            elif name in self._unchanged:
                names += self._unchanged[name].names(name)
            else:
                names += self._columns[name].names(self.encode)
        return np.array(names, object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        tags.non_deterministic = self.seed is None
        return tags

    def _table(self, X: Any, reset: bool = False) -> pa.Table:  # noqa: N803
        """The rows as an Arrow table; arrays get names."""
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            wrapped = wrap(X)
            if not reset:
                self._check_names(wrapped.names)
            table = pa.table({name: wrapped.column(name) for name in wrapped.names})
            if not len(table) or not table.column_names:
                raise ValueError(
                    f"Found array with {table.num_rows} sample(s) and {table.num_columns} feature(s) "
                    f"(shape={table.shape}) while a minimum of 1 is required by Anonymizer."
                )
            return table
        array = validate_data(self, X, dtype=None, ensure_all_finite="allow-nan", reset=reset)
        if not reset:
            self._check_names([f"x{j}" for j in range(array.shape[1])])
        return pa.table({f"x{j}": _column_of(array[:, j]) for j in range(array.shape[1])})

    def _check_names(self, names: Sequence[str]) -> None:
        """Raise `InputError` for rows without the columns that the training rows had, by name."""
        if lacking := [name for name in self._names if name not in names]:
            raise InputError(
                f"Anonymizer was fitted on columns named {listed(self._names)}; in these rows, whose "
                f"columns are named {listed(names)}, {listed(lacking)} cannot be found. Give a frame "
                "both times, or an array both times: the columns of an array are x0, x1, …"
            )

    def _policy(self, names: Sequence[str]) -> Policy:
        """The policy with the keywords, for rows that are returned in their order."""
        if self.encode not in ENCODINGS:
            raise PolicyError(f"encode: found '{self.encode}'; allowed: {listed(ENCODINGS)}.")
        given = {
            key: value
            for key, value in self.get_params(deep=False).items()
            if key not in ("policy", "encode", "read", "to_predict") and value is not None
        }
        if self.to_predict is not None:
            given["predict"] = self.to_predict
        if self.policy is None and "quasi" not in given:
            named = ("identifiers", "sensitive", "plain", "person", "weight")
            roles = [given.get(role, ()) for role in named]
            others = {
                name for role in roles for name in ([role] if isinstance(role, str) else role)
            }
            given["quasi"] = [name for name in names if name not in others]
        policy = resolve_policy(self.policy, names, given).reading(**(self.read or {}))
        refused = {
            "`publish: anatomy`": policy.publish == "anatomy",
            "a `preference`": bool(policy.preferences),
            "the role pseudonym": bool(policy.pseudonyms),
        }
        if found := [words for words, has in refused.items() if has]:
            raise PolicyError(
                f"policy: Anonymizer gives rows the labels of classes, and cannot do so with "
                f"{listed(found)}. Leave it out, or use shoal.anonymize."
            )
        return policy.replace_keys(order="kept")

    def _recoded(self, table: pa.Table, name: str) -> pa.Array:
        """A column once the rule that the policy has for it was applied, whatever its role."""
        column, rule = one_chunk(table[name]), self._rules.get(name)
        return column if rule is None else rule(column)

    def _labelled(self, column: Callable[[str], pa.Array]) -> Array:
        columns = [np.array(column(name).to_pylist(), object) for name in self.published_names_]
        return np.stack(columns, axis=1)


# as without `__new__`, which takes any keyword in order to explain those that there are not
_OWN = list(inspect.signature(Anonymizer.__init__).parameters.values())[1:]
Anonymizer.__signature__ = inspect.Signature(_OWN)


def _instead(name: str, known: Iterable[str]) -> str:
    """What to do in place of a keyword that there is not."""
    if name == "predict":
        return (
            "Give the column as to_predict: scikit-learn takes an estimator with an attribute `predict` "
            "for a model."
        )
    if name in ("order", "suppressed", "publish"):
        return "Rows come back in their order, with labels; those that are suppressed are starred."
    if name in ("metrics", "population", "target"):
        return "Put it into a policy, as in Anonymizer(policy)."
    return f"{nearest(name, sorted(known)).strip()} Allowed: {listed(sorted(known), 30)}.".strip()


def _column_of(values: Array) -> pa.Array:
    """A column of an array; objects of several types as text."""
    if values.dtype != object:
        return pa.array(values, from_pandas=True)
    try:
        return pa.array(values.tolist(), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else str(value) for value in values.tolist()])


def _starred(published: pa.Table) -> Bools:
    """(rows,) whether a row was suppressed: every cell is a star."""
    found = np.ones(len(published), np.bool_)
    for name in published.column_names:
        same = pc.equal(text_of(one_chunk(published[name])), ANY)
        found &= pc.fill_null(same, False).to_numpy(zero_copy_only=False)
    return found


def _classes(labels: Sequence[pa.Array], starred: Bools) -> tuple[Ints, Ints]:
    """(rows,) the number of each row's class, in the order of the labels, and a row of each class.

    Suppressed rows have -1, unless there are no others.
    """
    codes = []
    for column in labels:
        encoded = column.dictionary_encode("encode")
        rank = pc.rank(encoded.dictionary, tiebreaker="first").to_numpy(zero_copy_only=False)
        codes.append(rank.astype(np.int64)[encoded.indices.to_numpy(zero_copy_only=False)])
    kept = ~starred if not starred.all() else starred
    rows = np.flatnonzero(kept)
    _, first, number = np.unique(
        np.stack(codes, axis=1)[rows], axis=0, return_index=True, return_inverse=True
    )
    found = np.full(len(starred), -1, np.int64)
    found[rows] = number.reshape(-1)
    return found, rows[first]


@dataclass(frozen=True)
class _LearntColumn:
    """A quasi-identifier of the training rows, and what their classes cover of it."""

    name: str
    spec: ColumnSpec
    values: pa.Array
    """(m,) the different training values."""
    starts: Ints
    """(classes + 1,) where each class begins in `members`."""
    members: Ints
    """Per class, the places of its different values."""
    published: pa.Array
    """(classes,) the label of each."""
    policy: Policy
    numeric: bool
    """Whether its values are numbers, dates or ordered otherwise."""
    shown: Ints
    """The places of the training values that are features: those of rows that were not suppressed; where
    labels are modes, the modes alone."""
    texts: tuple[str, ...]
    """The same as text."""
    mapping: LabelMapping | None
    """The labels of the column, where they are uniform."""

    @classmethod
    def of(
        cls,
        name: str,
        column: pa.Array,
        spec: ColumnSpec,
        published: pa.Array,
        number: Ints,
        policy: Policy,
        mapping: LabelMapping | None,
    ) -> "_LearntColumn":
        """number: (rows,) the class of each row, or -1. mapping: of the release, if it has one."""
        spec = spec.with_order_of(column)
        plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        encoded = plain.dictionary_encode("encode")
        place = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        inside = number >= 0
        wide = len(encoded.dictionary)
        pairs = np.unique(number[inside] * wide + place[inside])
        starts = np.searchsorted(pairs, np.arange(len(published) + 1) * wide)
        values = encoded.dictionary
        domain, codes = encode_quasi(name, values, spec, policy.folder)
        reads = None if domain.hierarchy is None or spec.hierarchy is None else spec.hierarchy.reads
        numeric = domain.kind == Kind.RANGE
        if reads in ("number", "date"):
            labels = published.unique().to_pylist()
            ones = np.ones(len(labels), np.int64)
            meaning = meaning_of(name, labels, ones, spec, policy.folder)
            numeric = isinstance(meaning, Measured)
        texts = domain.texts.take(pa.array(codes)).to_pylist()
        # the values of suppressed rows are not shown
        kept = np.unique(pairs % max(1, wide))
        if spec.labels in STATISTICS and not numeric:
            own = _single_labels(domain, codes[kept].astype(np.int64)).to_pylist()
            published_ones = set(published.to_pylist())
            kept = kept[[label in published_ones for label in own]]
        return cls(
            name,
            spec,
            values,
            starts,
            pairs % max(1, wide),
            published,
            policy,
            numeric,
            kept,
            tuple("missing" if texts[i] is None else texts[i] for i in kept.tolist()),
            mapping if spec.labels == "uniform" else None,
        )

    def names(self, encode: str) -> list[str]:
        """The names of the features."""
        if self.numeric:
            has_ends = encode == "bounds" and self.spec.labels not in STATISTICS
            return [f"{self.name}_low", f"{self.name}_high"] if has_ends else [self.name]
        return [f"{self.name}_{text}" for text in self.texts]

    def joined(self, new: pa.Array | None) -> "_JoinedColumn":
        """The column with the values of other rows."""
        values = self.values
        if new is not None:
            if pa.types.is_dictionary(new.type):
                new = new.dictionary_decode()
            values = pa.concat_arrays([values, *_alike(self.name, new, values.type)])
        domain, codes = encode_quasi(self.name, values, self.spec, self.policy.folder)
        m = len(self.values)
        return _JoinedColumn(self, domain, codes[:m].astype(np.int64), codes[m:].astype(np.int64))


def _alike(name: str, new: pa.Array, kind: pa.DataType) -> list[pa.Array]:
    try:
        return [new.cast(kind)]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"Column '{name}' has values of the type {new.type}, but the training rows have {kind}, and "
            "these cannot be converted. Give both the same type."
        ) from None


def _is_star(labels: pa.Array) -> Bools:
    found: Bools = pc.fill_null(pc.equal(labels, ANY), False).to_numpy(zero_copy_only=False)
    return found


class _JoinedColumn:
    """A column of the training rows and of new ones, as codes, and the classes in it."""

    def __init__(self, learnt: _LearntColumn, domain: Domain, known: Ints, codes: Ints) -> None:
        """known: (m,) the codes of the training values. codes: (rows,) those of the new rows."""
        self.learnt, self.domain, self.known, self.codes = learnt, domain, known, codes
        members = known[learnt.members]
        self.members, self.starts = members, learnt.starts
        self.shown = known[learnt.shown]
        """The codes of training values that are features: others must not be seen."""
        self.low: Ints = np.minimum.reduceat(members, learnt.starts[:-1])
        self.high: Ints = np.maximum.reduceat(members, learnt.starts[:-1])
        self.sizes = np.diff(learnt.starts)
        self.star = _is_star(learnt.published)
        n = len(self.low)
        if domain.kind == Kind.SET:
            self.has = np.zeros((n, domain.size), np.bool_)
            self.has[np.repeat(np.arange(n), self.sizes), members] = True
        self.levels = self._levels() if domain.kind == Kind.TREE else np.zeros(n, np.int64)
        self.cut = None
        if learnt.mapping is not None:
            self.cut = learnt.mapping.cut_of(domain, learnt.spec)

    def _levels(self) -> Ints:
        """(classes,) the level of each class's label: the lowest over its values with its text."""
        tree = self.domain.hierarchy
        assert tree is not None
        least = tree.lowest(self.low.astype(np.int32), self.high.astype(np.int32)).astype(np.int64)
        found = np.full(len(least), -1, np.int64)
        for level in range(tree.height + 1):
            written = self._written(self.low, self.high, np.full(len(least), level), None)
            same = pc.equal(pc.fill_null(written, ""), pc.fill_null(self.learnt.published, ""))
            fits = same.to_numpy(zero_copy_only=False) & (level >= least) & (found < 0)
            found[fits] = level
        return np.where(found < 0, least, found)

    @property
    def own(self) -> Floats:
        """(classes,) what the label of each class loses, 0 to 1."""
        return np.where(self.star, 1.0, self._loss(self.low, self.high, self.sizes, self.levels))

    def _loss(self, low: Ints, high: Ints, size: Ints, level: Ints) -> Floats:
        """What labels lose, in terms of the training rows alone, whatever other new rows there are."""
        domain = self.domain
        if domain.kind == Kind.SET:
            return np.where(size > 1, size / max(1, len(self.known)), 0.0)
        if domain.kind == Kind.TREE:
            assert domain.hierarchy is not None
            return level / max(1, domain.hierarchy.height)
        assert domain.positions is not None
        kept = self.known[self.known != domain.missing]
        wide = float(np.ptp(domain.positions[kept])) if len(kept) else 0.0
        way = (domain.positions[high] - domain.positions[low]).astype(np.float64)
        mixed = (high == domain.missing) & (low != high)
        return np.where(mixed, 1.0, way / (wide or 1.0))

    def compared(self, codes: Ints) -> tuple[Bools, Floats]:
        """(rows, classes) twice: whether each class covers each row, and what its label loses once it
        does."""
        code = codes[:, None]
        low, high = np.minimum(self.low, code), np.maximum(self.high, code)
        if self.domain.kind == Kind.SET:
            covered = self.has[:, codes].T
            loss = self._loss(low, high, self.sizes + ~covered, self.levels[None, :])
        elif self.domain.kind == Kind.TREE:
            level = self._level_over(np.arange(len(self.low))[None, :], code)
            covered = level == self.levels
            loss = self._loss(low, high, self.sizes, level)
        else:
            # a class with and without values is published as a star
            covered = (self.low <= code) & (code <= self.high)
            covered |= (self.high == self.domain.missing) & (self.low != self.high)
            loss = self._loss(low, high, self.sizes, self.levels[None, :])
        if self.cut is not None:  # a class has one of the labels
            block = self.cut.block
            covered = block[codes][:, None] == block[self.low][None, :]
        covered = covered | self.star
        return covered, np.where(covered, self.own, loss)

    def _level_over(self, of: Ints, code: Ints) -> Ints:
        """The lowest level, from that of each class on, at which the node of the class has the code."""
        tree = self.domain.hierarchy
        assert tree is not None
        low, least = self.low[of], self.levels[of]
        found = np.broadcast_to(tree.height, np.broadcast_shapes(of.shape, code.shape)).copy()
        for level in range(tree.height - 1, -1, -1):
            same = tree.nodes[level][code] == tree.nodes[level][low]
            found[same & (level >= least)] = level
        return np.maximum(found, least)

    def labels(self, number: Ints, covered: Bools) -> pa.Array:
        """(rows,) the label of each row's class, widened where it does not cover the row.

        A statistic stays as it is; of uniform labels it is that of the row's own value.
        """
        if self.cut is not None:
            return self.cut.texts.take(pa.array(self.cut.block[self.codes]))
        found = self.learnt.published.take(pa.array(number))
        wide = np.flatnonzero(~covered)
        if not len(wide) or self.learnt.spec.labels in STATISTICS:
            return found
        of, code = number[wide], self.codes[wide]
        low, high = np.minimum(self.low[of], code), np.maximum(self.high[of], code)
        levels = np.zeros(len(wide), np.int64)
        if self.domain.kind == Kind.TREE:
            levels = self._level_over(of, code)
        written = self._written(low, high, levels, (of, code))
        mask = pa.array(~covered)
        return pc.replace_with_mask(found, mask, written)

    def _written(
        self, low: Ints, high: Ints, levels: Ints, widened: tuple[Ints, Ints] | None
    ) -> pa.Array:
        """Labels as a release writes them; widened: the class and one more value of each."""
        sets: dict[int, tuple[Ints, Codes]] = {}
        if self.domain.kind == Kind.SET:
            assert widened is not None
            has = self.has[widened[0]]
            has[np.arange(len(has)), widened[1]] = True
            group, code = np.nonzero(has)
            starts = np.searchsorted(group, np.arange(len(has) + 1)).astype(np.int64)
            sets[0] = starts, code.astype(np.int32)
        spans = Spans(
            np.ones(len(low), np.int64),
            low.astype(np.int32)[:, None],
            high.astype(np.int32)[:, None],
            levels.astype(np.int32)[:, None],
            sets,
        )
        found = labels_of(self.domain, spans, 0)
        return found.texts.take(pa.array(found.of_group))

    def features(self, number: Ints, covered: Bools | None, encode: str) -> Floats:
        """(rows, features) the labels of rows as numbers; number -1: a row that was suppressed."""
        of = np.where(number >= 0, number, 0)
        star = self.star[of] | (number < 0)
        if self.learnt.spec.labels in STATISTICS:
            return self._statistics(of, star)
        if self.cut is not None:
            codes = self.codes if len(self.codes) else self.low[of]
            return self._uniform(self.cut, self.cut.block[codes], number < 0, encode)
        wide = np.zeros(len(of), np.bool_) if covered is None else ~covered
        code = self.codes if len(self.codes) else np.zeros(len(of), np.int64)
        if self.learnt.numeric:
            low, high = self._ends(of, code, wide, star)
            both = [low, high] if encode == "bounds" else [(low + high) / 2]
            return np.stack(both, axis=1)
        under, beside = self._under()[of], np.zeros(len(of))
        place = {int(value): i for i, value in reversed(list(enumerate(self.shown.tolist())))}
        own = np.array([place.get(int(one), -1) for one in code])
        more = np.flatnonzero(wide)
        if self.domain.kind == Kind.TREE and len(more):
            levels = self._level_over(of[more], code[more])
            under[more] = self._under_nodes(self.low[of[more]], levels)
        else:
            # a value that no training row has is under the label too, but has no feature
            beside[more] = own[more] < 0
            more = more[own[more] >= 0]
            under[more, own[more]] = True
        under[star], beside[star] = True, 0
        return under / np.maximum(1, under.sum(axis=1, keepdims=True) + beside[:, None])

    def _statistics(self, of: Ints, star: Bools) -> Floats:
        """(rows, features) the statistic of each row's class, as a number or as shares of values."""
        published = self.learnt.published
        if not self.learnt.numeric:
            own = _single_labels(self.domain, self.shown).to_pylist()
            texts = np.array(published.to_pylist(), object)
            under = np.array([[text == label for label in own] for text in texts], np.bool_)
            under = under.reshape(len(texts), len(own))[of]
            under[star] = True
            return under / np.maximum(1, under.sum(axis=1, keepdims=True))
        number = dict(zip(self.domain.texts.to_pylist(), self._numbers().tolist(), strict=True))
        found = np.array([_number_of(text, number) for text in published.to_pylist()])
        known = found[~np.isnan(found)]
        values = found[of]
        values[star] = (known.min() + known.max()) / 2 if len(known) else 0.0
        return values[:, None]

    def _uniform(self, cut: Cut, block: Codes, gone: Bools, encode: str) -> Floats:
        """(rows, features) uniform labels as numbers; block: (rows,) of each; gone: suppressed rows."""
        is_star = _is_star(cut.texts)
        star = is_star[block] | gone
        if not self.learnt.numeric:
            under = cut.block[self.shown][None, :] == block[:, None]
            under[star] = True
            return under / np.maximum(1, under.sum(axis=1, keepdims=True))
        ends = self._written_ends(cut.texts) if self.learnt.spec.order is None else None
        if ends is None:  # of an ordered list the places of the first and the last value
            number = self._numbers()
            of_block = [number[cut.block == i] for i in range(cut.n_blocks)]
            low, high = (np.array([end(each) for each in of_block]) for end in (np.min, np.max))
        else:
            low, high = ends
        used = np.isin(np.arange(cut.n_blocks), cut.block[self.low]) & ~is_star
        known = np.concatenate([low[used], high[used]])
        known = known[~np.isnan(known)]
        low, high = low[block], high[block]
        low[star] = known.min() if len(known) else 0.0
        high[star] = known.max() if len(known) else 0.0
        both = [low, high] if encode == "bounds" else [(low + high) / 2]
        return np.stack(both, axis=1)

    def _under(self) -> Bools:
        """(classes, shown) which training values lie under the label of each class."""
        if self.domain.kind == Kind.SET:
            return self.has[:, self.shown]
        return self._under_nodes(self.low, self.levels)

    def _under_nodes(self, low: Ints, levels: Ints) -> Bools:
        tree = self.domain.hierarchy
        assert tree is not None
        return tree.nodes[levels[:, None], self.shown[None, :]] == tree.nodes[levels, low][:, None]

    def _ends(self, of: Ints, code: Ints, wide: Bools, star: Bools) -> tuple[Floats, Floats]:
        """(rows,) twice: the ends of each label as numbers; nan where it holds no value.

        Nothing that the labels do not say: the ends of a star are those of all other labels.
        """
        if self.domain.kind == Kind.TREE:
            labels = self.labels(of, ~wide)
            every, ends = self._written_ends(self.learnt.published), self._written_ends(labels)
            assert every is not None, "other columns are no numbers"
            assert ends is not None
            low, high = ends
            star = star | _is_star(labels)
        else:
            number, missing = self._numbers(), self.domain.missing
            every = number[self.low], number[self.high]
            low, high = every[0][of], every[1][of]
            own = number[code]
            low[wide], high[wide] = np.fmin(low, own)[wide], np.fmax(high, own)[wide]
            # a label that was widened from values to a missing one, or the other way, is a star
            star = star | (wide & ((self.low[of] == missing) != (code == missing)))
        known = np.concatenate(every)[np.tile(~self.star, 2)]
        known = known[~np.isnan(known)]
        low[star], high[star] = known.min(initial=np.inf), known.max(initial=-np.inf)
        if not len(known):  # stars alone
            low[star] = high[star] = 0.0
        return low, high

    def _written_ends(self, labels: pa.Array) -> tuple[Floats, Floats] | None:
        """(n,) twice: the ends that are written in labels; of `90+` the one there is.

        None where they are not those of numbers or dates.
        """
        coded = labels.dictionary_encode("encode")
        texts = coded.dictionary.to_pylist()
        learnt = self.learnt
        meaning = meaning_of(
            learnt.name, texts, np.ones(len(texts), np.int64), learnt.spec, learnt.policy.folder
        )
        if not isinstance(meaning, Measured):
            return None
        low, high = (
            np.array([_in_days(meaning.sort, end) for end in ends], np.float64)
            for ends in (meaning.first, meaning.last)
        )
        place = coded.indices.to_numpy(zero_copy_only=False)
        return np.fmin(low, high)[place], np.fmax(low, high)[place]

    def _numbers(self) -> Floats:
        """(size,) each value as a number: dates in days, values of a list by their place in it."""
        texts = self.domain.texts.to_pylist()
        if self.learnt.spec.order is not None:
            return np.array([np.nan if t is None else float(i) for i, t in enumerate(texts)])
        found = []
        for i, text in enumerate(texts):
            place = None if text is None else place_of(text)
            if place is None:
                found.append(np.nan if text is None else float(i))
            else:
                found.append(_as_number(*place))
        return np.array(found)


def _single_labels(domain: Domain, codes: Ints) -> pa.Array:
    """(n,) the label of each value alone."""
    low, starts = codes.astype(np.int32)[:, None], np.arange(len(codes) + 1, dtype=np.int64)
    sets = {0: (starts, codes.astype(np.int32))} if domain.kind == Kind.SET else {}
    spans = Spans(np.ones(len(codes), np.int64), low, low, np.zeros_like(low), sets)
    found = labels_of(domain, spans, 0)
    return found.texts.take(pa.array(found.of_group))


def _number_of(text: str | None, known: Mapping[str | None, float]) -> float:
    """A published statistic as a number: nan where it is missing or a star."""
    if text is None or text == ANY:
        return np.nan
    if text in known:
        return known[text]
    place = place_of(text)
    return np.nan if place is None else _as_number(*place)


def _in_days(sort: str, end: Any) -> float:
    """The end of a label: a number as it is; dates and moments in days since 1970; nan where none is."""
    if end is None or sort == "number":
        return np.nan if end is None else float(end)
    days = float(end) if sort == "date" else float(end) / DAY
    return days - EPOCH if sort in ("date", "moment") else days


def _as_number(sort: int, place: Any) -> float:
    """A number as it is; moments in days since 1970, times of day and durations in days."""
    if sort == NUMBER:
        return float(place)
    return float(place) / DAY - (EPOCH if sort == MOMENT else 0)


def _nearest(columns: Sequence[_JoinedColumn], rows: Ints, n_classes: int) -> tuple[Ints, Bools]:
    """(rows,) the class of each of these different rows, and (rows, columns) whether it covers them.

    Of the classes that cover a row the one that loses least; else the one whose label loses least more
    when it is widened; of equals the first.
    """
    number = np.zeros(len(rows), np.int64)
    inside = np.zeros((len(rows), len(columns)), np.bool_)
    shares = [column.domain.share for column in columns]
    own = sum(share * column.own for share, column in zip(shares, columns, strict=True))
    step = max(1, AT_ONCE // max(1, n_classes))
    for begin in range(0, len(rows), step):
        some = rows[begin : begin + step]
        covers = np.ones((len(some), n_classes), np.bool_)
        loss = np.zeros((len(some), n_classes))
        each = []
        for j, column in enumerate(columns):
            covered, lost = column.compared(some[:, j])
            each.append(covered)
            covers &= covered
            loss += shares[j] * lost
        # what a label loses is below the number of columns: classes that cover a row come first
        rank = np.where(covers, own - len(columns) - 1, loss - own)
        # equals may differ by the grain of positions, 2^-28 of the range
        best = np.argmin(np.round(rank, 7), axis=1)
        number[begin : begin + step] = best
        for j, covered in enumerate(each):
            inside[begin : begin + step, j] = covered[np.arange(len(some)), best]
    return number, inside


@dataclass(frozen=True)
class _UnchangedColumn:
    """A published column that is no quasi-identifier."""

    categories: tuple[str, ...] | None
    """The training values; None of a column of numbers."""

    @classmethod
    def of(cls, column: pa.Array) -> "_UnchangedColumn":
        kind = column.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            return cls(None)
        texts = text_of(column).unique().drop_null()
        return cls(tuple(sorted(texts.to_pylist())))

    def names(self, name: str) -> list[str]:
        """The names of its features."""
        return [name] if self.categories is None else [f"{name}_{each}" for each in self.categories]

    def numbers(self, column: pa.Array) -> Floats:
        """(rows, features) the values as numbers."""
        if self.categories is None:
            values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
            return values.astype(np.float64)[:, None].copy()
        texts = np.array(text_of(column).to_pylist(), object)
        found = np.zeros((len(texts), len(self.categories)))
        for j, each in enumerate(self.categories):
            found[:, j] = texts == each
        return found
