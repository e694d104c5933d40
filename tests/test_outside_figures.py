"""The figures of an outside judge, pycanon, on the same tables; where it differs, why.

docs/models.md tells of the differences.
"""

import math
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pycanon import anonymity  # type: ignore[import-untyped]

import shoal
from shoal.sample.hospital import hospital
from tests.test_outside_judge import for_the_judge

POLICY = str(files("shoal.sample") / "policy.yaml")
ROUNDED = 1.1e-4


def figures(path: Path, policy: Any) -> dict[Any, float]:
    """What we find in a file, by model, sensitive column and options."""
    found = shoal.verify(path, policy).strengths
    return {(one.model, one.of, *one.options.values()): one.reached for one in found}


def random_table(seed: int, rows: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 3, rows).astype(str),
            "town": rng.integers(0, 2, rows).astype(str),
            "ill": rng.choice(list("abcd"), rows, p=[0.4, 0.3, 0.2, 0.1]),
            "pay": rng.integers(1, 9, rows),
        }
    )


RANDOM: dict[str, Any] = {
    "columns": {
        "age": "quasi",
        "town": "quasi",
        "ill": "sensitive",
        "pay": {"role": "sensitive", "kind": "ordered"},
    },
    "constraints": [{"k": 1}],
}


def check_agreement(frame: pd.DataFrame, quasi: list[str], of: str, ours: dict[Any, float]) -> None:
    """All that both define alike."""
    columns = [of]
    assert ours["k", None] == anonymity.k_anonymity(frame, quasi)
    assert ours["l", of] == anonymity.l_diversity(frame, quasi, columns)
    alpha, k = anonymity.alpha_k_anonymity(frame, quasi, columns)
    assert ours["alpha", of] == pytest.approx(alpha, abs=ROUNDED)
    assert k == ours["k", None]
    entropy = anonymity.entropy_l_diversity(frame, quasi, columns)
    # cut off after a logarithm, it may say one less where values are equally common
    assert entropy in (math.floor(ours["entropy-l", of]), math.ceil(ours["entropy-l", of]) - 1)
    texts = frame.astype({of: str})
    assert ours["t", of] == pytest.approx(anonymity.t_closeness(texts, quasi, columns), abs=ROUNDED)
    beta = anonymity.basic_beta_likeness(frame, quasi, columns)
    assert ours["beta", of] == pytest.approx(beta, abs=ROUNDED)


@pytest.mark.parametrize("seed", range(4))
def test_the_same_figures_on_random_tables(seed: int, tmp_path: Path) -> None:
    frame, path, quasi = random_table(seed), tmp_path / "table.csv", ["age", "town"]
    frame.to_csv(path, index=False)
    ours = figures(path, RANDOM)
    for of in ("ill", "pay"):
        check_agreement(frame, quasi, of, ours)
        if math.isfinite(ours["delta", of]):
            delta = anonymity.delta_disclosure(frame, quasi, [of])
            assert ours["delta", of] == pytest.approx(delta, abs=ROUNDED)
    ordered = anonymity.t_closeness(frame, quasi, ["pay"])
    assert ours["t", "pay", "ordered"] == pytest.approx(ordered, abs=ROUNDED)
    assert math.isfinite(ours["delta", "ill"]) or seed


def test_the_same_figures_on_a_release_of_the_sample(tmp_path: Path) -> None:
    raw = hospital(600)
    raw = raw.filter(raw["disease"].is_valid())
    release = shoal.anonymize(raw, POLICY)
    path = release.write(tmp_path / "release.csv")
    ours = figures(path, POLICY)
    check_agreement(for_the_judge(release), list(release.policy.quasi), "disease", ours)


def asked(frame: pd.DataFrame, path: Path, constraint: dict[str, Any]) -> Any:
    """What we find of one constraint."""
    frame.to_csv(path, index=False)
    columns = {"age": "quasi", "town": "quasi", "ill": "sensitive"}
    (found,) = shoal.verify(
        path, {"columns": columns, "constraints": [{**constraint, "of": "ill"}]}
    )
    return found


def classes(*groups: str) -> pd.DataFrame:
    rows = [(str(age), "x", ill) for age, group in enumerate(groups) for ill in group]
    return pd.DataFrame(rows, columns=["age", "town", "ill"])


def test_delta_the_judge_leaves_out_values_that_a_class_lacks(tmp_path: Path) -> None:
    """A class without a rules a out, which the definition counts as infinite."""
    frame = classes("ab", "bb")
    assert math.isfinite(anonymity.delta_disclosure(frame, ["age", "town"], ["ill"]))
    assert math.isinf(asked(frame, tmp_path / "x.csv", {"delta": 9}).reached)


def test_recursive_the_judge_counts_from_the_rarest_value(tmp_path: Path) -> None:
    """Counts 3 1: r1 = 3 < c r2 = c needs c above 3. It sorts upwards and takes 1 / 3 for r1 / r2."""
    frame = classes("aaab")
    assert anonymity.recursive_c_l_diversity(frame, ["age", "town"], ["ill"]) == (1, 2)
    assert not asked(frame, tmp_path / "x.csv", {"recursive-l": 2, "c": 1}).holds
    assert not asked(frame, tmp_path / "x.csv", {"recursive-l": 2, "c": 3}).holds
    assert asked(frame, tmp_path / "x.csv", {"recursive-l": 2, "c": 3.01}).holds


def test_recursive_agrees_where_all_values_are_equally_common(tmp_path: Path) -> None:
    frame = classes("aabbcc", "ccddaa")
    c, least = anonymity.recursive_c_l_diversity(frame, ["age", "town"], ["ill"])
    assert (c, least) == (2, 3)  # 2 < c 2 needs c above 1; it gives whole numbers
    assert asked(frame, tmp_path / "x.csv", {"recursive-l": 3, "c": 2}).reached == least
    assert not asked(frame, tmp_path / "x.csv", {"recursive-l": 3, "c": 1}).holds


def test_enhanced_beta_agrees_where_some_beta_holds(tmp_path: Path) -> None:
    frame = classes("aabbcd", "abbccd", "abccdd")
    beta = anonymity.enhanced_beta_likeness(frame, ["age", "town"], ["ill"])
    found = asked(frame, tmp_path / "x.csv", {"beta": 1, "enhanced": True})
    assert found.reached == pytest.approx(beta, abs=ROUNDED)


def test_enhanced_beta_the_judge_gives_a_figure_where_none_holds(tmp_path: Path) -> None:
    """p of b is 0.9 and grows to 1: by 0.111, above -ln 0.9 = 0.105 for any beta."""
    frame = classes("abbbbbbbbb" + "a", "bbbbbbbbb")
    assert math.isfinite(anonymity.enhanced_beta_likeness(frame, ["age", "town"], ["ill"]))
    assert math.isinf(asked(frame, tmp_path / "x.csv", {"beta": 9, "enhanced": True}).reached)
