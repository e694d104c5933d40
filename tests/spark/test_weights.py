"""Sampling weights on a cluster: the same estimates as on one machine."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines.spark.session import SparkTables
from tests.out_of_core.session_runs import run_in
from tests.spark.cases import read_all, rows_of
from tests.weights.test_engines import policy, table


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize(
    ("method", "weight", "more"),
    [
        ("least-loss-partition", "weight", {}),
        pytest.param(
            "optimal",
            {"role": "weight", "round": 0.5},
            {"suppression": 0.3},
            marks=pytest.mark.long,
        ),
    ],
)
def test_the_same_rows_and_estimates_as_in_memory(
    session: SparkTables, tmp_path: Path, method: str, weight: Any, more: dict[str, Any]
) -> None:
    source, here, there = (tmp_path / f"{name}.parquet" for name in ("in", "here", "there"))
    pq.write_table(table(), source)
    chosen = policy(method, weight, **more)
    memory = shoal.run(source, chosen, here)
    found = run_in(session, source, chosen, there, folders=True, fragment_rows=40)
    assert rows_of(read_all(there)) == rows_of(read_all(here))
    assert found.weighted == memory.weighted
    for name in ("weighted-mean-ncp", "weighted-suppression"):
        assert found.metrics[name] == pytest.approx(memory.metrics[name], rel=1e-12)


def test_an_assessment_of_a_spark_frame(session: SparkTables, tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "in.parquet")
    frame = session._spark.read.parquet(str(tmp_path / "in.parquet")).repartition(3)
    found = shoal.assess(frame, ["age", "sex"], weight="w").estimated
    assert found == shoal.assess(table(), ["age", "sex"], weight="w").estimated
