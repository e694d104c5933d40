"""A kernel gives the same numbers interpreted as compiled."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.kernels import jit
from shoal.kernels.hashing import stir
from shoal.kernels.jit import Kernel, interpreting, kernel
from tests.methods.everyone import everyone, policy, write_hierarchies
from tests.releases import every_method

CONSTRAINTS: list[list[dict[str, Any]]] = [[{"k": 3}], [{"k": 2}, {"l": 2, "of": "ill"}]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("trees")
    write_hierarchies(made)
    return made


def both(table: pa.Table, asked: dict[str, Any]) -> tuple[pa.Table, pa.Table]:
    """A release by compiled kernels and by interpreted ones."""
    compiled = shoal.anonymize(table, asked).table
    with interpreting():
        return compiled, shoal.anonymize(table, asked).table


@pytest.mark.parametrize("method", [*every_method(), {"name": "l-clustering"}])
def test_releases_of_every_method(method: dict[str, Any], folder: Path) -> None:
    chosen = CONSTRAINTS[1:] if method["name"] == "l-clustering" else CONSTRAINTS
    for constraints in chosen:
        compiled, interpreted = both(
            everyone(24), policy(folder, method, constraints=constraints, refine=2)
        )
        assert compiled.equals(interpreted)


@pytest.mark.parametrize("method", every_method(climbing=True))
def test_releases_of_every_method_that_climbs(method: dict[str, Any]) -> None:
    digits = [f"{i * i % 90 + 10}" for i in range(24)]
    quasi = {"role": "quasi", "hierarchy": {"mask": "right"}}
    columns = {"a": quasi, "b": quasi, "ill": "sensitive"}
    asked = {"columns": columns, "constraints": [{"k": 3}], "method": method, "suppression": 0.2}
    compiled, interpreted = both(pa.table({"a": digits, "b": digits[::-1], "ill": digits}), asked)
    assert compiled.equals(interpreted)


def test_people_and_attacks() -> None:
    table = everyone(24).select(["age", "town", "ill", "ward"])
    table = table.append_column("id", pa.array([f"p{i // 2}" for i in range(24)]))
    columns = {"id": "person", "age": "quasi", "town": "quasi", "ill": "sensitive", "ward": "plain"}
    metrics = [{"name": "query-error", "queries": 3, "seed": 1}]
    asked = {"columns": columns, "constraints": [{"k": 2}], "metrics": metrics}
    compiled = shoal.anonymize(table, asked)
    attacked = shoal.attack(compiled, known=table, raw=table)
    with interpreting():
        interpreted = shoal.anonymize(table, asked)
        assert shoal.attack(interpreted, known=table, raw=table).to_dict() == attacked.to_dict()
    assert interpreted.table.equals(compiled.table)
    assert interpreted.metrics == compiled.metrics


def test_few_numbers_are_interpreted_until_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def doubled(values: np.ndarray) -> int:
        return 2 * len(values)

    def compile_(self: Kernel[..., Any]) -> Any:
        seen.append(self)
        return lambda values: 2 * len(values)

    monkeypatch.setattr(Kernel, "compile", compile_)
    monkeypatch.setattr(Kernel, "left", 100)
    loop = kernel(doubled)
    few, many = np.zeros(60), np.zeros(jit.FEW + 1)
    assert loop(few) == 120
    assert not seen
    loop(few)
    assert len(seen) == 1, "patience is over"
    monkeypatch.setattr(Kernel, "left", 10_000)
    assert loop(many) == 2 * len(many)
    assert len(seen) == 2
    with jit.expecting(jit.FEW_ROWS):
        loop(many)
    assert len(seen) == 2
    with jit.expecting(jit.FEW_ROWS + 1):
        loop(many)
    assert len(seen) == 3


def test_a_kernel_travels_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(stir)) is stir


def test_waiting_for_the_compiler_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    now = iter([0.0, 0.0, 0.9, 1.1, 5.0])
    monkeypatch.setattr(jit.time, "monotonic", lambda: next(now))
    notice = jit.Notice()
    jit.on_screen.append(said.append)
    try:
        for _ in range(4):
            notice()
    finally:
        jit.on_screen.pop()
    assert said == [jit.Notice.line]


def test_compilation_is_announced() -> None:
    """What is not kept on disk is; a function that was compiled in this process is not."""
    import numba

    heard: list[int] = []
    jit.on_compile.append(lambda: heard.append(1))
    try:
        assert isinstance(stir, Kernel)
        stir.compile()
        twice = numba.njit(lambda x: x + x)
        assert twice(2) == 4
        count = len(heard)
        assert count
        assert twice(3) == 6
        assert len(heard) == count
    finally:
        jit.on_compile.pop()
