"""The three models of the paper on personalised protection at every setting it looks at."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.reproduction._adult import TRAINING_ROWS
from shoal.reproduction._adult_trees import HIERARCHIES
from shoal.reproduction._stopwatch import Stopwatch
from shoal.reproduction.base import Progress

QUASI = ("age", "workclass", "education", "native-country", "marital-status", "race", "sex")
LEVELS = {
    4: ["HIV", "Cancer"],
    3: ["Phthisis", "Hepatitis"],
    2: ["Heart Disease", "Asthma"],
    1: ["Flu", "Indigestion"],
}
TREE = {
    "any disease": {
        "cardio-respiratory": {
            "respiratory infection": ["Flu", "Phthisis"],
            "chest disease": ["Asthma", "Heart Disease"],
        },
        "other": {
            "digestive disease": ["Indigestion", "Hepatitis"],
            "systemic disease": ["HIV", "Cancer"],
        },
    }
}
DISEASES = [disease for diseases in LEVELS.values() for disease in diseases]
DIVERSE = [{"l": 4, "of": "disease"}, {"alpha": 0.8, "of": "disease"}]
PLAIN, DIVERSITY, PERSONAL = "plain", "diverse", "personal"
NAMES = {PLAIN: "k-anonymity", DIVERSITY: "(α,l)-diversity", PERSONAL: "personalised"}


@dataclass(frozen=True)
class Sizes:
    """How much is run; as it stands, what the paper runs, as far as it says."""

    rows: int = TRAINING_ROWS
    """Of the figures against k; all the paper has."""
    k: tuple[int, ...] = (4, 5, 10, 15, 20, 25, 30)
    growing: tuple[int, ...] = (5_000, 10_000, 15_000, 20_000, 25_000, 30_000)
    """Rows of the figures against rows, as far as there are so many."""
    growing_k: int = 5
    repeats: int = 10


QUICK = Sizes(4_000, (4, 5, 10, 20, 30), (1_000, 2_000, 4_000), repeats=3)


@dataclass(frozen=True)
class Point:
    """One model at one setting, averaged over the repeats."""

    loss: float
    """NCP, summed over rows and columns, the sensitive one too."""
    rate: float
    """Of recognition, averaged over groups."""
    seconds: float
    suppressed: float
    """Rows that fit into no group."""


@dataclass(frozen=True)
class Found:
    """Every figure, by model and k or rows."""

    sizes: Sizes
    by_k: dict[tuple[str, int], Point]
    by_rows: dict[tuple[str, int], Point]

    def along_k(self, model: str) -> list[Point]:
        """One for each k."""
        return [self.by_k[model, k] for k in self.sizes.k]

    def along_rows(self, model: str) -> list[Point]:
        """One for each number of rows."""
        return [self.by_rows[model, rows] for rows in self.sizes.growing]


def measure(table: pa.Table, sizes: Sizes, progress: Progress) -> Found:
    """Run all of it; the models take turns, so that other work of the machine slows all of them."""
    settings = [(k, sizes.rows) for k in sizes.k]
    settings += [(sizes.growing_k, rows) for rows in sizes.growing]
    settings = list(dict.fromkeys(settings))
    for model in NAMES:  # the first run compiles
        _run(_drawn(table, min(500, sizes.rows), 0), model, sizes.growing_k, 0)
    found: dict[tuple[str, int, int], Point] = {}
    for at, (k, rows) in enumerate(settings):
        runs: dict[str, list[tuple[float, ...]]] = {model: [] for model in NAMES}
        for seed in range(sizes.repeats):
            progress("run", (at + seed / sizes.repeats) / len(settings))
            some = _drawn(table, rows, seed)
            for model in NAMES:
                runs[model].append(_run(some, model, k, seed))
        for model in NAMES:
            found[model, k, rows] = Point(*np.mean(runs[model], axis=0).tolist())
    return Found(
        sizes,
        {(model, k): found[model, k, sizes.rows] for model in NAMES for k in sizes.k},
        {
            (model, rows): found[model, sizes.growing_k, rows]
            for model in NAMES
            for rows in sizes.growing
        },
    )


def _drawn(table: pa.Table, rows: int, seed: int) -> pa.Table:
    """So many rows, each with a random disease, and a random quarter with a random wish."""
    rng = np.random.default_rng(seed)
    some = table.take(pa.array(np.sort(rng.permutation(table.num_rows)[:rows])))
    disease = pa.array(DISEASES).take(pa.array(rng.integers(0, len(DISEASES), rows)))
    quarter = np.zeros(rows, bool)
    quarter[rng.permutation(rows)[: rows // 4]] = True
    wish = pa.array(rng.integers(1, 5, rows), pa.int8(), mask=~quarter)
    return some.append_column("disease", disease).append_column("wish", wish)


def _run(table: pa.Table, model: str, k: int, seed: int) -> tuple[float, ...]:
    from shoal.pipeline.run import anonymize

    watch = Stopwatch()
    release = anonymize(table, _policy(model, k) | {"seed": seed}, progress=watch)
    loss, rate = release.metrics["ncp"], release.metrics["recognition-rate"]
    assert loss is not None
    assert rate is not None
    seconds = watch.seconds["group"] + watch.seconds["publish"]
    return loss, rate, seconds, release.suppressed_rows


def _policy(model: str, k: int) -> dict[str, Any]:
    """By `top-down`: ages as ranges, all else by our trees."""
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": HIERARCHIES[name]} for name in QUASI
    }
    columns["age"] = {"role": "quasi", "kind": "ordered"}
    columns["disease"] = {"role": "sensitive", "levels": LEVELS, "hierarchy": {"tree": TREE}}
    if model == PERSONAL:
        columns["disease"]["preference"] = "wish"
        columns["wish"] = "preference"
    constraints: list[dict[str, Any]] = [{"k": k}, *([] if model == PLAIN else DIVERSE)]
    return {
        "columns": columns,
        "constraints": constraints,
        "method": "top-down",
        "metrics": ["ncp", "recognition-rate"],
        "default": "drop",
    }
