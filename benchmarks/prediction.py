"""What a model learns from a release of Adult, tested on held-out raw rows.

`SHOAL_ADULT` names a folder with `adult.csv`. The table is split at random several times: two thirds
are released, by default and with `predict: salary-class`, and the model is trained on the decoded
release, on one-hot labels, and on the raw rows. Decoded are ages by the middle of their label, and every
other value by 1 over the values under the label. It is tested on the raw rows of the last third. For
one-hot labels these get the labels of `Anonymizer`, which says how many of them no class covers. Beside
these, the mean age and the slope of the salary class over age, by least squares. Needs scikit-learn.
"""

import argparse
import json
import os
import sys
import warnings
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

import shoal
from adult import QUASI
from shoal.sklearn import Anonymizer

HERE = Path(__file__).parent
TARGET = "salary-class"
CATEGORIES = [name for name in QUASI if name != "age"]
POLICY: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "kind": "ordered"},
        **{name: {"role": "quasi", "kind": "unordered"} for name in CATEGORIES},
        TARGET: "plain",
    },
    "default": "drop",
    "seed": 1,
}


def table() -> pd.DataFrame:
    if "SHOAL_ADULT" not in os.environ:
        sys.exit("Adult is not there: set SHOAL_ADULT to the folder that holds adult.csv.")
    rows = pd.read_csv(Path(os.environ["SHOAL_ADULT"]) / "adult.csv", sep=";", dtype=str)
    return rows.assign(age=rows.age.astype(int))


def halves(rows: pd.DataFrame, split: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows to train on, and the last third, to test on."""
    order = np.random.default_rng(split).permutation(len(rows))
    train, test = np.split(order, [len(rows) * 2 // 3])
    return rows.iloc[train].reset_index(drop=True), rows.iloc[test].reset_index(drop=True)


def is_rich(rows: pd.DataFrame) -> np.ndarray:
    return (rows[TARGET] == ">50K").to_numpy()


def raw_features(rows: pd.DataFrame) -> pd.DataFrame:
    return pd.get_dummies(rows[QUASI], columns=CATEGORIES, prefix_sep="=", dtype=float)


def score(
    train: pd.DataFrame, rich: np.ndarray, test: pd.DataFrame, truth: np.ndarray
) -> dict[str, float]:
    """Accuracy and AUC on the test rows, whose columns are those of the training rows."""
    model = HistGradientBoostingClassifier(random_state=0, max_iter=80)
    model.fit(train.to_numpy(float), rich)
    chance = model.predict_proba(test.reindex(columns=train.columns, fill_value=0.0).to_numpy())
    return {
        "accuracy": float(((chance[:, 1] > 0.5) == truth).mean()),
        "auc": float(roc_auc_score(truth, chance[:, 1])),
        "features": train.shape[1],
    }


def slope(age: np.ndarray, rich: np.ndarray) -> float:
    return float(np.polyfit(age, rich.astype(float), 1)[0])


def shares(decoded: pd.DataFrame) -> pd.DataFrame:
    """The age, and the indicators of each column as shares: 1 over the values under a label."""
    parts = [decoded[["age"]].astype(float)]
    for name in CATEGORIES:
        mine = decoded[[each for each in decoded if each.startswith(f"{name}=")]].astype(float)
        parts.append(mine.div(mine.sum(axis=1), axis=0))
    return pd.concat(parts, axis=1)


def of_release(train: pd.DataFrame, test: pd.DataFrame, k: int, predict: bool) -> dict[str, Any]:
    policy = {**POLICY, "constraints": [{"k": k}]}
    release = shoal.anonymize(train, policy, **({"predict": TARGET} if predict else {}))
    decoded = shoal.decode(release, categories="indicators")
    rich, age = is_rich(decoded), decoded.age.to_numpy(float)
    found: dict[str, Any] = score(shares(decoded), rich, raw_features(test), is_rich(test))
    found["mean age"], found["slope"] = float(age.mean()), slope(age, rich)
    found |= {"mean-ncp": release.metrics["mean-ncp"], "method": release.method}
    found["seconds"] = sum(release.seconds.values())
    return found


def of_labels(train: pd.DataFrame, test: pd.DataFrame, k: int, predict: bool) -> dict[str, Any]:
    """One-hot labels; held-out rows get theirs from `Anonymizer`."""
    policy = {**POLICY, "constraints": [{"k": k}], **({"predict": TARGET} if predict else {})}
    anonymizer = Anonymizer(policy).set_output(transform="pandas")
    labels = pd.get_dummies(anonymizer.fit_transform(train[[*QUASI, TARGET]])[QUASI], dtype=float)
    new = anonymizer.transform(test[[*QUASI, TARGET]])[QUASI]
    found: dict[str, Any] = score(
        labels, is_rich(train), pd.get_dummies(new, dtype=float), is_rich(test)
    )
    found["labelled"] = float(new.notna().all(axis=1).mean())
    found["covered"] = anonymizer.coverage_[-1].share
    return found


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--k", type=int, nargs="+", default=[5, 10, 20, 50])
    asked.add_argument("--splits", type=int, default=4)
    asked.add_argument("--output", type=Path, default=HERE / "results" / "prediction.json")
    given = asked.parse_args()
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    rows, results = table(), []
    splits = [halves(rows, split) for split in range(given.splits)]

    def keep(split: int, k: int | None, words: str, found: dict[str, Any]) -> None:
        results.append({"split": split, "k": k, "as": words, **found})
        print(f"split {split}, k = {k}, {words}: accuracy {found['accuracy']:.4f}", flush=True)
        text = json.dumps({"date": str(date.today()), "results": results}, indent=1)
        given.output.write_text(text + "\n")

    for split, (train, test) in enumerate(splits):
        of_raw: dict[str, Any] = score(
            raw_features(train), is_rich(train), raw_features(test), is_rich(test)
        )
        of_raw["mean age"] = float(train.age.mean())
        of_raw["slope"] = slope(train.age.to_numpy(), is_rich(train))
        keep(split, None, "raw", of_raw)
        for k in given.k:
            for words, predict in (("decoded", False), ("decoded, predict", True)):
                keep(split, k, words, of_release(train, test, k, predict))
    for k in given.k:  # thousands of features take their time, so of one split
        for words, predict in (("one-hot labels", False), ("one-hot labels, predict", True)):
            keep(0, k, words, of_labels(*splits[0], k, predict))
    summary = pd.json_normalize(results)
    whole = summary[summary["as"] == "raw"].set_index("split")
    print(f"raw: accuracy {whole.accuracy.mean():.4f}, AUC {whole.auc.mean():.4f}")
    for (k, words), some in summary[summary.k.notna()].groupby(["k", "as"]):
        some = some.set_index("split")
        lost = 100 * (whole.accuracy - some.accuracy)
        line = (
            f"k = {k:.0f}, {words}: accuracy {some.accuracy.mean():.4f}, {lost.mean():.2f} points "
        )
        line += f"lost (± {lost.std() / len(lost) ** 0.5:.2f}), AUC {some.auc.mean():.4f}, "
        line += f"{some.features.mean():.0f} features"
        if words.startswith("one-hot labels"):
            line += f", {some.covered.mean():.1%} of held-out rows covered, "
            line += f"{some.labelled.mean():.0%} labelled"
        else:
            bias = 100 * (some["mean age"] / whole["mean age"] - 1).mean()
            line += f", mean age {bias:+.2f} %, slope × {(some.slope / whole.slope).mean():.3f}"
        print(line)


if __name__ == "__main__":
    main()
