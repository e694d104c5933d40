"""`predict`: columns count by what they tell about a target."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import plugins
from shoal.encoding.columns import BY_VALUES, encode_quasi
from shoal.encoding.prediction import (
    CLASSES,
    bits_about,
    bits_beyond,
    counts_of,
    counts_of_both,
    target_classes,
)
from shoal.errors import InputError, PolicyError
from tests.examples import examples
from tests.methods.test_importance import TREES

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")


def plain_bits(values: list[Any], classes: list[Any]) -> float:
    """Mutual information by its definition, less what chance tells."""
    n, pairs = len(values), Counter(zip(values, classes, strict=True))
    of_value, of_class = Counter(values), Counter(classes)
    bits = sum(
        count / n * math.log2(count * n / (of_value[v] * of_class[c]))
        for (v, c), count in pairs.items()
    )
    return max(0.0, bits - (len(of_value) - 1) * (len(of_class) - 1) / (2 * n * math.log(2)))


@examples(50)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=1))
def test_bits_equal_their_definition(rows: list[tuple[str, str]]) -> None:
    domain, codes = encode_quasi("value", pa.array([v for v, _ in rows]), BY_VALUES)
    classes = target_classes("target", pa.array([c for _, c in rows]))
    found = bits_about(counts_of(codes, domain.size, classes))
    assert found == pytest.approx(plain_bits(*map(list, zip(*rows, strict=True))), abs=1e-9)


@examples(50)
@given(st.lists(st.tuples(*map(st.sampled_from, ("pqr", "abcd", "xyz"))), min_size=1))
def test_bits_beyond_another_column_equal_their_definition(rows: list[tuple[str, ...]]) -> None:
    """The mean over the values of the other column, less what chance tells, as a whole."""
    other, values, classes = (
        target_classes("column", pa.array(each)) for each in map(list, zip(*rows, strict=True))
    )
    n, wanted = len(rows), 0.0
    for value in {row[0] for row in rows}:
        mine = [row[1:] for row in rows if row[0] == value]
        pairs = Counter(mine)
        of_value, of_class = (Counter(row[i] for row in mine) for i in (0, 1))
        for (v, c), count in pairs.items():
            wanted += count / n * math.log2(count * len(mine) / (of_value[v] * of_class[c]))
        wanted -= (len(of_value) - 1) * (len(of_class) - 1) / (2 * n * math.log(2))
    found = bits_beyond(counts_of_both(other, values, classes))
    assert found == pytest.approx(max(0.0, wanted), abs=1e-9)


def test_what_another_column_tells_too_counts_once() -> None:
    rng = np.random.default_rng(3)
    frame = people(1200).assign(d=rng.integers(0, 60, 1200))
    frame["copy"] = frame.a // 2
    frame["paid"] = np.where(frame.a + frame.d > 60, "much", "little")
    release = shoal.anonymize(
        frame,
        quasi=["a", "copy", "d", "b"],
        plain=["paid"],
        default="drop",
        k=8,
        predict="paid",
        seed=1,
    )
    (note,) = [note for note in release.notes if note.startswith("predict:")]
    bits = dict(word.split() for word in note.removesuffix(".").split("bits: ")[1].split(", "))
    least, most = sorted(float(bits[name]) for name in ("a", "copy"))
    assert most > 0.1 < float(bits["d"])
    assert least < most / 4  # on its own either tells nearly as much as the other
    assert float(bits["b"]) < 0.02


def test_in_few_rows_every_column_counts_by_all_that_it_tells() -> None:
    rows = {"a": [20, 30, 40, 50] * 4, "c": list("uuvvuvuv") * 2, "paid": [1, 1, 2, 2] * 4}
    release = shoal.anonymize(
        pa.table(rows), quasi=["a", "c"], plain="paid", k=4, predict="paid", seed=1
    )
    (note,) = [note for note in release.notes if note.startswith("predict:")]
    wanted = [plain_bits(rows[name], rows["paid"]) for name in ("a", "c")]
    assert note.endswith(f"in bits: a {wanted[0]:.3f}, c {wanted[1]:.3f}.")


def test_classes_of_numbers() -> None:
    numbers = pa.array([*range(1000), None])
    classes = target_classes("income", numbers)
    assert np.bincount(classes).tolist() == [100] * CLASSES + [1]
    assert (np.diff(classes) >= 0).all()
    assert len(set(target_classes("grade", pa.array([1, 2, 3] * 9)).tolist())) == 3
    with pytest.raises(InputError, match="'town' has 1,200 different values without an order"):
        target_classes("town", pa.array([f"t{i}" for i in range(1200)]))


def people(n: int = 240) -> pd.DataFrame:
    """a tells the target, b tells nothing."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 60, n),
            "b": rng.integers(0, 60, n),
            "c": rng.choice(list("uvwxyz"), n),
        }
    )
    frame["paid"] = np.where(frame.a + rng.normal(0, 8, n) > 30, "much", "little")
    frame["amount"] = frame.a * 100.0 + rng.normal(0, 500, n)
    return frame


def settings_of(name: str) -> dict[str, Any]:
    trees = {"hierarchies": TREES} if plugins.method(name).along_hierarchies else {}
    plain = {"plain": ["paid", "amount"]}
    return {"quasi": ["a", "b", "c"], "k": 8, "method": name, "seed": 1, **plain, **trees}


@pytest.mark.parametrize(
    "name", [n for n in plugins.names("methods") if n not in ("sorted-runs", "l-clustering")]
)
@pytest.mark.parametrize("target", ["paid", "amount"])
def test_what_predicts_keeps_its_detail(name: str, target: str) -> None:
    given = settings_of(name)
    release = shoal.anonymize(people(), **given, predict=target)
    assert release.column_loss["a"] < release.column_loss["b"]
    plain = shoal.anonymize(people(), **given)
    assert release.column_loss["a"] < plain.column_loss["a"]
    assert "mean-ncp-by-importance" in release.metrics
    (note,) = [note for note in release.notes if note.startswith("predict:")]
    assert f"tell about {target} beyond columns that tell more, in bits: a " in note


def test_importance_and_target_both_count() -> None:
    given = settings_of("least-loss-partition")
    both = shoal.anonymize(people(), **given, predict="paid", importance={"b": 1000})
    alone = shoal.anonymize(people(), **given, predict="paid")
    assert both.column_loss["b"] < alone.column_loss["b"]
    own = shoal.anonymize(people(), **given, predict="b")  # a quasi column can be predicted too
    assert own.column_loss["b"] < alone.column_loss["b"]


def test_nothing_to_predict() -> None:
    frame = people().assign(paid="much")
    given = settings_of("least-loss-partition")
    release = shoal.anonymize(frame, **given, predict="paid")
    assert release.table.equals(shoal.anonymize(frame, **given).table)
    assert "no quasi column tells anything about paid" in " ".join(release.notes)


def test_refused_targets() -> None:
    given: dict[str, Any] = {"quasi": ["a", "b"], "sensitive": "c", "identifiers": "amount", "k": 2}
    with pytest.raises(
        PolicyError, match="predict: 'c' is sensitive, and sensitive values must not"
    ):
        shoal.anonymize(people(), **given, plain="paid", predict="c")
    with pytest.raises(PolicyError, match="predict: 'amount' has the role identifier, and only"):
        shoal.anonymize(people(), **given, plain="paid", predict="amount")
    with pytest.raises(PolicyError, match=r"predict: found 'pay'.*paid"):
        shoal.anonymize(people(), **given, plain="paid", predict="pay")
    with pytest.raises(PolicyError, match="predict: found 'paid'"):  # dropped, so not published
        shoal.anonymize(people(), **given, default="drop", predict="paid")
    with pytest.raises(PolicyError, match="so `predict` cannot steer it"):
        shoal.anonymize(
            people(),
            quasi=["a", "b", "c"],
            hierarchies=TREES,
            plain=["paid", "amount"],
            k=2,
            predict="paid",
            method={"name": "optimal", "metric": "precision"},
        )


def test_sensitive_values_change_nothing() -> None:
    """What is predicted steers the groups; what is sensitive does not."""
    frame = people().assign(ill=np.arange(240) % 7)
    given = {**settings_of("least-loss-partition"), "sensitive": "ill", "order": "kept"}
    one = shoal.anonymize(frame, **given, predict="paid")
    other = shoal.anonymize(frame.assign(ill=(np.arange(240) * 5) % 7), **given, predict="paid")
    for name in ("a", "b", "c"):
        assert one.column_loss[name] == other.column_loss[name]


@pytest.mark.parametrize("target", ["paid", "amount", "a"])
def test_the_same_release_out_of_core(target: str, tmp_path: Any) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    roles = {"a": "quasi", "b": "quasi", "c": "quasi", "paid": "plain", "amount": "plain"}
    policy = {"columns": roles, "constraints": [{"k": 8}], "predict": target, "seed": 5}
    policy["method"] = "least-loss-partition"
    shoal.run(tmp_path / "people.csv", policy, tmp_path / "memory.csv")
    shoal.run(tmp_path / "people.csv", policy, tmp_path / "disk.csv", memory="256MB")
    rows = [
        sorted((tmp_path / name).read_text().splitlines()) for name in ("memory.csv", "disk.csv")
    ]
    assert rows[0] == rows[1]
