"""Models that are trained on a release and tested on raw rows that it has not seen.

Raw rows are split into some to train with and some to test with. Those to train with are anonymised by
the policy and decoded: numbers as expected values, categories as shares. A model trained on these is
tested on the held-out raw rows, beside the same model trained on the raw rows. Where held-out rows are
given, the release itself is used to train with.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.analysis.plain_values import as_numbers, raw_values, whole_numbers
from shoal.arrays import Bools, Floats, Ints
from shoal.decoding.decoder import Choice, Decoder
from shoal.errors import InputError, counted, listed, nearest
from shoal.hierarchy.text import text_of
from shoal.io.arrow import one_chunk
from shoal.policy import Policy
from shoal.publish.labels import MISSING
from shoal.threads import workers

TEST_SHARE = 0.25
MOST_ROWS = 50_000
"""Rows to train with, and to test with."""
MOST_VALUES = 50
"""Values of a column that are features of their own; the most frequent of what models are trained on."""
MOST_CLASSES = 20
"""A target with more different numbers is predicted as a number."""
LEAST_ROWS = 40
TREES = 50
"""Trees of a random forest."""
SCORED_TREES = 20
"""Trees of a single score, by which releases are ranked: on Adult it differs from that of 50 trees by
up to a third of the noise of so many test rows."""

Features = npt.NDArray[np.float32]


@dataclass(frozen=True)
class ModelUtility:
    """One learner, trained on raw rows and on the release."""

    learner: str
    score: Literal["accuracy", "r2"]
    """What the two figures are: the share of right predictions, or R² for numbers."""
    raw: float
    release: float
    auc_raw: float | None = None
    """The area under the curve of true and false positives; for several classes, the mean over them."""
    auc_release: float | None = None

    @property
    def lost(self) -> float:
        """What the release costs."""
        return self.raw - self.release


@dataclass(frozen=True)
class PredictionUtility:
    """Models of one target."""

    target: str
    task: Literal["classification", "regression"]
    trained: int
    """Rows to train with."""
    tested: int
    """Raw rows to test with."""
    baseline: float
    """The score of a model that knows nothing but the target's distribution."""
    models: tuple[ModelUtility, ...]
    held_out: bool
    """Whether the rows to test with were given, and the release itself was used to train with."""


@dataclass(frozen=True)
class ModelScore:
    """One learner, trained on a release."""

    score: Literal["accuracy", "r2"]
    """What the figure is: the share of right predictions, or R² for numbers."""
    value: float
    baseline: float
    """The score of a model that knows nothing but the target's distribution."""
    trained: int
    """Rows to train with."""
    tested: int
    """Raw rows to test with."""
    seconds: float = 0.0
    """From the rows to train with to the figure: their release, which is decoded, and the model."""


def check_target(policy: Policy, target: str, published: Sequence[str]) -> None:
    """Raise `InputError` unless models of a target can be trained on the release."""
    if target not in published:
        others = [name for name in published if name in policy.columns]
        raise InputError(
            f"The target '{target}' is not a column that the release publishes."
            f"{nearest(target, others)} Published: {listed(others)}."
        )
    if find_spec("sklearn") is None:
        raise InputError(
            "Models need scikit-learn, which is not installed: pip install 'shoal[sklearn]'."
        )


class PredictionTask:
    """The prediction of a target from the other published columns."""

    def __init__(self, policy: Policy, target: str, seed: int) -> None:
        self.policy, self.target, self.seed = policy, target, seed

    def split(self, rows: int) -> tuple[Ints, Ints]:
        """Rows to train with and rows to test with, drawn by the seed."""
        if rows < LEAST_ROWS:
            raise InputError(
                f"Models need {LEAST_ROWS} rows at least to be trained and tested; the table has "
                f"{counted(rows, 'row')}."
            )
        order = np.random.default_rng([self.seed, 1]).permutation(rows)
        n_test = max(1, round(rows * TEST_SHARE))
        return np.sort(order[n_test:]), np.sort(order[:n_test])

    def measure(
        self, train: pa.Table, test: pa.Table, release: pa.Table, held_out: bool
    ) -> PredictionUtility:
        """Train on raw rows and on a release of them, test both on other raw rows."""
        rows = RawRows(train, self.policy, self.seed), RawRows(test, self.policy, self.seed)
        found = self._prepared(*rows, release)
        models = []
        for name, make in _learners(found.is_number, self.seed):
            fitted = [_fitted(make(), *found.raw), _fitted(make(), *found.release)]
            models.append(_judged(name, fitted, *found.test, found.is_number))
        return PredictionUtility(
            self.target,
            "regression" if found.is_number else "classification",
            len(found.release[1]),
            len(found.test[1]),
            0.0 if found.is_number else _most_frequent(found.raw[1], found.test[1]),
            tuple(models),
            held_out,
        )

    def score(self, train: "RawRows", test: "RawRows", release: pa.Table) -> ModelScore:
        """Train one learner, a random forest, on a release and test it on other raw rows.

        Of the learners it predicts best without tuning.

        train: the raw rows that the release was made of, for the values that occur.
        """
        found = self._prepared(train, test, release, raw_features=False)
        model = _fitted(_forest(found.is_number, self.seed, SCORED_TREES), *found.release)
        return ModelScore(
            "r2" if found.is_number else "accuracy",
            float(model.score(*found.test)),
            0.0 if found.is_number else _most_frequent(found.raw[1], found.test[1]),
            len(found.release[1]),
            len(found.test[1]),
        )

    def _prepared(
        self, train: "RawRows", test: "RawRows", release: pa.Table, raw_features: bool = True
    ) -> "_Prepared":
        names = [name for name in release.column_names if name != self.target]
        if not names:
            raise InputError(
                "The release has the target alone: there is nothing to predict it from."
            )
        choice, whole = self._choice(), train.whole
        decoder = Decoder(self.policy, choice, release.schema, untyped=True, whole=whole)
        decoder.count(release)
        decoder.settle()
        decoded = decoder.decode(release.take(_some(release.num_rows, self.seed)))
        new = {one.name: one for one in decoder.outcome()}
        features: list[_Feature] = []
        for name in names:
            features += _features(
                name, new[name].form, new[name].columns, decoded, train.column(name)
            )
        goals = _plain(decoded.column(new[self.target].columns[0]))
        goal = _Goal.of(train.column(self.target), goals)
        y_raw, keep_raw = goal.values(train.column(self.target))
        y_test, keep_test = goal.values(test.column(self.target))
        y_release, keep_release = goal.values(goals)
        x_raw = train.matrix(features if raw_features else ())
        x_test = test.matrix(features)
        x_release = _matrix([one.release(decoded) for one in features], len(decoded))
        found = _Prepared(
            goal.is_number,
            (x_raw[keep_raw], y_raw[keep_raw]),
            (x_release[keep_release], y_release[keep_release]),
            (x_test[keep_test], y_test[keep_test]),
        )
        too_few = any(len(np.unique(y)) < 2 for _, y in (found.raw, found.release))
        if too_few or not len(found.test[1]):
            raise InputError(
                f"The target '{self.target}' has fewer than two values in the rows to train with: there "
                "is nothing to predict."
            )
        return found

    def _choice(self) -> Choice:
        target: tuple[tuple[str, str], ...] = ()
        if self.target in (*self.policy.quasi, *self.policy.preferences):
            target = ((self.target, "sample"),)
        return Choice("expected", "shares", target, self.seed)


class RawRows:
    """Raw rows to train or to test with; what models see of them is computed once, for all releases."""

    def __init__(self, table: pa.Table, policy: Policy, seed: int) -> None:
        self._all, self._policy = table, policy
        self._some = table.take(_some(table.num_rows, seed))
        self._columns: dict[str, pa.Array] = {}
        self._features: dict[_Feature, Features] = {}

    @cached_property
    def whole(self) -> dict[str, bool]:
        """Per quasi-identifier of numbers whether all are whole."""
        return whole_numbers(self._all, self._policy)

    def column(self, name: str) -> pa.Array:
        """The values of a column, as the policy reads them."""
        if name not in self._columns:
            column = one_chunk(self._some.column(name))
            self._columns[name] = raw_values(name, column, self._policy)
        return self._columns[name]

    def matrix(self, features: Sequence["_Feature"]) -> Features:
        """(rows, features) what learners are given."""
        for one in features:
            if one not in self._features:
                found = one.raw(self.column(one.column))
                self._features[one] = found.astype(np.float32)
        return _matrix([self._features[one] for one in features], self._some.num_rows)


@dataclass(frozen=True)
class _Prepared:
    """Features and targets, of the rows that have a target."""

    is_number: bool
    raw: tuple[Features, Floats | Ints]
    release: tuple[Features, Floats | Ints]
    test: tuple[Features, Floats | Ints]


@dataclass(frozen=True)
class _Feature:
    """One column of the matrix that learners are given."""

    column: str
    """Of the raw table."""
    decoded: str
    """Of the decoded release."""
    value: str | None
    """The value whose presence it is; None for a number."""
    typed: pa.DataType | None = None
    """The type of dates and times, which raw texts are read as."""

    def raw(self, values: pa.Array) -> Floats:
        if self.value is None:
            return numbers_of(values, self.typed)
        if self.decoded != self.column and self.value == MISSING:
            return np.asarray(pc.is_null(values).to_numpy(zero_copy_only=False), np.float64)
        return _flags(_texts(values), self.value)

    def release(self, decoded: pa.Table) -> Floats:
        column = _plain(decoded.column(self.decoded))
        if self.value is None:
            return numbers_of(column, self.typed)
        if self.decoded != self.column:
            return numbers_of(column, None)
        return _flags(_texts(column), self.value)


def numbers_of(values: pa.Array, kind: pa.DataType | None) -> Floats:
    """(rows,) numbers; NaN where a value is missing or none."""
    found = as_numbers(values)
    if found is not None:
        return found
    texts = pc.utf8_trim_whitespace(_texts(values))
    if kind is not None and (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        dates = as_numbers(pc.if_else(pc.equal(texts, ""), None, texts).cast(kind))
        assert dates is not None
        return dates
    pattern = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
    known = pc.if_else(pc.match_substring_regex(texts, pattern), texts, None)
    plain = pc.replace_substring_regex(known, r"^\+", "")
    result: Floats = np.asarray(plain.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    return result


def _features(
    name: str, form: str, columns: Sequence[str], decoded: pa.Table, raw: pa.Array
) -> list[_Feature]:
    if form == "shares":
        often = [-float(pc.sum(decoded.column(new)).as_py() or 0) for new in columns]
        chosen = sorted(np.argsort(often, kind="stable")[:MOST_VALUES].tolist())
        return [_Feature(name, columns[i], columns[i].removeprefix(f"{name}=")) for i in chosen]
    kind = _plain(decoded.column(columns[0])).type
    if as_numbers(pa.array([], kind)) is not None:
        return [_Feature(name, columns[0], None, kind)]
    counts = _texts(raw).value_counts()
    order = np.argsort(-np.asarray(counts.field("counts")), kind="stable")[:MOST_VALUES]
    values = counts.field("values").take(pa.array(order)).to_pylist()
    return [
        _Feature(name, columns[0], value) for value in sorted(v for v in values if v is not None)
    ]


@dataclass(frozen=True)
class _Goal:
    """What is predicted."""

    is_number: bool
    classes: tuple[str, ...]
    kind: pa.DataType

    @classmethod
    def of(cls, raw: pa.Array, release: pa.Array) -> "_Goal":
        is_number = as_numbers(pa.array([], release.type)) is not None
        if is_number and len(pc.unique(raw)) > MOST_CLASSES:
            return cls(True, (), release.type)
        texts = pc.unique(_texts(raw)).drop_null().to_pylist()
        return cls(False, tuple(sorted(texts)), release.type)

    def values(self, column: pa.Array) -> tuple[Floats | Ints, Bools]:
        """(rows,) the numbers or codes of classes, and which rows have one."""
        if self.is_number:
            numbers = numbers_of(column, self.kind)
            return numbers, ~np.isnan(numbers)
        codes = pc.fill_null(pc.index_in(_texts(column), pa.array(list(self.classes))), -1)
        found: Ints = np.asarray(codes.to_numpy(zero_copy_only=False), np.int64)
        return found, found >= 0


def _learners(is_number: bool, seed: int) -> list[tuple[str, Callable[[], Any]]]:
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    def scaled(model: Any) -> Any:
        return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), model)

    def forest() -> Any:
        return _forest(is_number, seed, TREES)

    if is_number:
        return [
            ("linear regression", lambda: scaled(Ridge())),
            ("decision tree", lambda: DecisionTreeRegressor(max_depth=8, random_state=seed)),
            ("random forest", forest),
        ]
    return [
        ("logistic regression", lambda: scaled(LogisticRegression(max_iter=300))),
        ("decision tree", lambda: DecisionTreeClassifier(max_depth=8, random_state=seed)),
        ("random forest", forest),
    ]


def _forest(is_number: bool, seed: int, trees: int) -> Any:
    """A random forest, whose trees grow on all cores."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    make = RandomForestRegressor if is_number else RandomForestClassifier
    return make(n_estimators=trees, min_samples_leaf=5, random_state=seed, n_jobs=workers())


def _fitted(model: Any, rows: Features, wanted: Any) -> Any:
    model.fit(rows, wanted)
    if "n_jobs" in model.get_params():
        # threads would add up what the trees say in any order, and sums of decimals depend on it
        model.set_params(n_jobs=1)
    return model


def _judged(
    name: str, fitted: Sequence[Any], rows: Features, wanted: Any, is_number: bool
) -> ModelUtility:
    scores = [float(model.score(rows, wanted)) for model in fitted]
    if is_number:
        return ModelUtility(name, "r2", *scores)
    return ModelUtility(name, "accuracy", *scores, *(_auc(model, rows, wanted) for model in fitted))


def _auc(model: Any, rows: Features, wanted: Ints) -> float | None:
    """The area under the curve, over the classes that the model knows; None where only one occurs."""
    from sklearn.metrics import roc_auc_score

    known = np.isin(wanted, model.classes_)
    chances = model.predict_proba(rows[known])
    found = [
        float(roc_auc_score(wanted[known] == label, chances[:, i]))
        for i, label in enumerate(model.classes_)
        if 0 < np.sum(wanted[known] == label) < known.sum()
    ]
    return float(np.mean(found)) if found else None


def _most_frequent(train: Any, wanted: Any) -> float:
    labels, counts = np.unique(train, return_counts=True)
    return float(np.mean(wanted == labels[np.argmax(counts)]))


def _some(n: int, seed: int) -> pa.Array:
    if n <= MOST_ROWS:
        return pa.array(np.arange(n))
    random = np.random.default_rng([seed, 2])
    return pa.array(np.sort(random.choice(n, MOST_ROWS, replace=False)))


def _matrix(columns: Sequence[Floats | Features], rows: int) -> Features:
    found = np.empty((rows, len(columns)), np.float32)
    for j, column in enumerate(columns):
        found[:, j] = column
    return found


def _flags(texts: pa.Array, value: str) -> Floats:
    found = pc.fill_null(pc.equal(texts, value), False)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.float64)


def _texts(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return text_of(column).cast(pa.string())


def _plain(column: Any) -> pa.Array:
    return one_chunk(column)
