"""Models that are trained on a release and tested on raw rows that it has not seen.

Raw rows are split into some to train with and some to test with. Those to train with are anonymised by
the policy and decoded: numbers as expected values, categories as shares. A model trained on these is
tested on the held-out raw rows, beside the same model trained on the raw rows. Where held-out rows are
given, the release itself is used to train with.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

TEST_SHARE = 0.25
MOST_ROWS = 50_000
"""Rows to train with, and to test with."""
MOST_VALUES = 50
"""Values of a column that are features of their own; the most frequent of what models are trained on."""
MOST_CLASSES = 20
"""A target with more different numbers is predicted as a number."""
LEAST_ROWS = 40
SCORED = "random forest"
"""The learner of a single score: of the three it predicts best without tuning."""

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
        found = self._prepared(train, test, release)
        models = []
        for name, make in _learners(found.is_number, self.seed):
            fitted = [make().fit(*found.raw), make().fit(*found.release)]
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

    def score(self, train: pa.Table, test: pa.Table, release: pa.Table) -> ModelScore:
        """Train one learner, `SCORED`, on a release and test it on other raw rows.

        train: the raw rows that the release was made of, for the values that occur.
        """
        found = self._prepared(train, test, release)
        make = dict(_learners(found.is_number, self.seed))[SCORED]
        return ModelScore(
            "r2" if found.is_number else "accuracy",
            float(make().fit(*found.release).score(*found.test)),
            0.0 if found.is_number else _most_frequent(found.raw[1], found.test[1]),
            len(found.release[1]),
            len(found.test[1]),
        )

    def _prepared(self, train: pa.Table, test: pa.Table, release: pa.Table) -> "_Prepared":
        random = np.random.default_rng([self.seed, 2])
        names = [name for name in release.column_names if name != self.target]
        if not names:
            raise InputError(
                "The release has the target alone: there is nothing to predict it from."
            )
        whole = whole_numbers(train, self.policy)
        decoder = Decoder(self.policy, self._choice(), release.schema, untyped=True, whole=whole)
        decoder.count(release)
        decoder.settle()
        decoded = decoder.decode(release.take(_some(release.num_rows, random)))
        train = train.take(_some(train.num_rows, random))
        test = test.take(_some(test.num_rows, random))
        new = {one.name: one for one in decoder.outcome()}
        features: list[_Feature] = []
        for name in names:
            features += _features(
                name, new[name].form, new[name].columns, decoded, self._raw(name, train)
            )
        goal = _Goal.of(
            self._raw(self.target, train), _plain(decoded.column(new[self.target].columns[0]))
        )
        x_raw = _matrix([one.raw(self._raw(one.column, train)) for one in features])
        x_test = _matrix([one.raw(self._raw(one.column, test)) for one in features])
        x_release = _matrix([one.release(decoded) for one in features])
        y_raw, keep_raw = goal.values(self._raw(self.target, train))
        y_test, keep_test = goal.values(self._raw(self.target, test))
        y_release, keep_release = goal.values(_plain(decoded.column(new[self.target].columns[0])))
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

    def _raw(self, name: str, table: pa.Table) -> pa.Array:
        return raw_values(name, one_chunk(table.column(name)), self.policy)


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
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    def scaled(model: Any) -> Any:
        return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), model)

    forest = {"n_estimators": 50, "min_samples_leaf": 5, "random_state": seed}
    if is_number:
        return [
            ("linear regression", lambda: scaled(Ridge())),
            ("decision tree", lambda: DecisionTreeRegressor(max_depth=8, random_state=seed)),
            ("random forest", lambda: RandomForestRegressor(**forest)),
        ]
    return [
        ("logistic regression", lambda: scaled(LogisticRegression(max_iter=300))),
        ("decision tree", lambda: DecisionTreeClassifier(max_depth=8, random_state=seed)),
        ("random forest", lambda: RandomForestClassifier(**forest)),
    ]


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


def _some(n: int, random: np.random.Generator) -> pa.Array:
    chosen = np.arange(n) if n <= MOST_ROWS else np.sort(random.choice(n, MOST_ROWS, replace=False))
    return pa.array(chosen)


def _matrix(columns: Sequence[Floats]) -> Features:
    return np.stack(columns, axis=1).astype(np.float32)


def _flags(texts: pa.Array, value: str) -> Floats:
    found = pc.fill_null(pc.equal(texts, value), False)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.float64)


def _texts(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return text_of(column).cast(pa.string())


def _plain(column: Any) -> pa.Array:
    return one_chunk(column)
