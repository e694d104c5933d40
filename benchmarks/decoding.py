"""What analysts find in decoded releases of Adult, against the raw table: means, slopes, shares, models.

The releases are of the 32,561 training rows, with nine quasi-identifiers; only `income` is published as
it is. Models are tested on the 16,281 raw rows of the test file. `SHOAL_ADULT_UCI` names the folder with
`adult.data` and `adult.test`. Bias is in percent of the raw figure; the slope is that of income (0 or 1)
on age, beside hours; the distance of shares is half the sum of their differences.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

import shoal

HERE = Path(__file__).parent
NAMES = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
]
NUMBERS = ["age", "hours-per-week"]
CATEGORIES = [
    *("workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"),
]
METHODS = ("least-loss-partition", "mondrian", "k-clustering")


def adult(file: str, skip: int = 0) -> pd.DataFrame:
    folder = Path(os.environ["SHOAL_ADULT_UCI"])
    found = pd.read_csv(folder / file, names=NAMES, skipinitialspace=True, skiprows=skip)
    found["income"] = found["income"].str.contains(">50K").astype(int)
    return found[[*NUMBERS, *CATEGORIES, "income"]].dropna()


def slope(rows: pd.DataFrame, suffix: str = "") -> float:
    """The coefficient of age in a regression of income on age and hours."""
    known = rows[[f"{name}{suffix}" for name in NUMBERS]].astype(float)
    design = np.column_stack([np.ones(len(known)), known])
    use = ~np.isnan(design).any(axis=1)
    return float(np.linalg.lstsq(design[use], rows["income"].to_numpy()[use], rcond=None)[0][1])


def features(rows: pd.DataFrame, like: pd.DataFrame | None = None) -> pd.DataFrame:
    """Raw rows with a column per value, as decoded ones have them."""
    wide = pd.get_dummies(rows, columns=CATEGORIES, prefix_sep="=", dtype=float)
    return wide if like is None else wide.reindex(columns=like.columns, fill_value=0.0)


def model(train: pd.DataFrame, test: pd.DataFrame) -> dict[str, float]:
    """Accuracy and AUC of boosted trees on raw rows that they have not seen."""
    learner = HistGradientBoostingClassifier(random_state=0)
    learner.fit(train.drop(columns="income"), train["income"])
    chance = learner.predict_proba(test.drop(columns="income"))[:, 1]
    return {
        "accuracy": round(float(((chance > 0.5) == test["income"]).mean()), 4),
        "auc": round(float(roc_auc_score(test["income"], chance)), 4),
        "columns": train.shape[1] - 1,
    }


def distance(raw: pd.Series, shares: pd.DataFrame) -> float:
    counted = raw.value_counts(normalize=True)
    estimated = {
        name: shares.get(f"{raw.name}={name}", pd.Series([0.0])).mean() for name in counted.index
    }
    return round(float(sum(abs(estimated[n] - counted[n]) for n in counted.index) / 2), 4)


def decoded_figures(raw: pd.DataFrame, release: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for form in ("midpoint", "expected", "sample"):
        rows, suffix = release.decode(numbers=form), "_sampled" if form == "sample" else ""
        found[form] = {
            "mean": {n: round(float(rows[n + suffix].mean()), 3) for n in NUMBERS},
            "bias": {
                n: round(100 * (float(rows[n + suffix].mean()) / raw[n].mean() - 1), 2)
                for n in NUMBERS
            },
            "slope": round(slope(rows, suffix), 6),
        }
    shares = release.decode(categories="shares")
    found["distance of shares"] = {name: distance(raw[name], shares) for name in CATEGORIES}
    return found


def models(release: Any, test: pd.DataFrame) -> dict[str, Any]:
    ready = {
        "midpoint, indicators": release.decode(categories="indicators"),
        "expected, shares": release.decode(numbers="expected", categories="shares"),
    }
    return {name: model(rows, features(test, rows)) for name, rows in ready.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="k = 10 and one method alone")
    parser.add_argument("--models", action="store_true", help="also train models, at k = 10")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "decoding.json")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    raw, test = adult("adult.data"), adult("adult.test", skip=1)
    wide = features(raw)
    result: dict[str, Any] = {
        "raw": {
            "rows": len(raw),
            "mean": {name: round(float(raw[name].mean()), 3) for name in NUMBERS},
            "slope": round(slope(raw), 6),
        },
        "releases": [],
    }
    if chosen.models:
        result["raw"]["model"] = model(wide, features(test, wide))
    for method in METHODS[:1] if chosen.quick else METHODS:
        for k in (10,) if chosen.quick else (5, 10, 20, 50):
            keys: dict[str, Any] = {"quasi": [*NUMBERS, *CATEGORIES], "plain": "income", "seed": 1}
            release = shoal.anonymize(raw, k=k, method=method, **keys)
            begin = time.process_time()
            one = {"method": method, "k": k, **decoded_figures(raw, release)}
            one["seconds of decoding, four times"] = round(time.process_time() - begin, 2)
            if chosen.models and method == METHODS[0] and k == 10:
                one["models"] = models(release, test)
            result["releases"].append(one)
            print(json.dumps(one), flush=True)
            chosen.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
