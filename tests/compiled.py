"""Compile the kernels before the tests: `python -m tests.compiled`.

Kernels are kept on disk, so this is work for a fresh clone alone. Without it every process of tests
would compile the same ones. What all methods use comes first, then a second process helps.
"""

import subprocess
import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

import shoal
from shoal.errors import ShoalError
from shoal.kernels.jit import Kernel
from tests.methods.everyone import everyone, policy, write_hierarchies
from tests.releases import every_method

warnings.simplefilter("ignore", shoal.ShoalWarning)  # of tables that serve the compiler only
Kernel.left = -1  # nothing is interpreted, however few its rows
SEVERAL = [{"k": 3}, {"k": 2, "on": ["a"]}]
BOTH = [{"k": 2}, {"l": 2, "of": "ill"}]
DIVERSE = [{"l": 3, "of": "ill"}]
ASKED = [[{"k": 5}], DIVERSE, [{"k": 4}, *DIVERSE]]
SECOND = ("clustering", "top-down")
"""What the second process takes."""


def climb(method: dict[str, Any]) -> None:
    """Releases by a method that needs hierarchies."""
    digits = [f"{i * i % 90 + 10}" for i in range(60)]
    table = pa.table({"a": digits, "b": digits[::-1], "ill": digits})
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": {"mask": "right"}} for name in "ab"
    }
    columns["ill"] = "sensitive"
    for constraints in ([{"k": 3}], SEVERAL, BOTH):
        _try(table, {"columns": columns, "constraints": constraints, "method": method})


def ask() -> None:
    """What is asked of a release."""
    people = everyone(300).select(["age", "town", "ill"])
    columns = {"age": "quasi", "town": "quasi", "ill": "sensitive"}
    metrics = [{"name": "query-error", "queries": 10, "seed": 1}]
    asked = {"columns": columns, "constraints": [{"k": 3}], "metrics": metrics}
    shoal.attack(shoal.anonymize(people, asked), known=people, raw=people)


def cut(method: dict[str, Any]) -> None:
    """Releases by a method that needs none, and by blocks where it has them."""
    with tempfile.TemporaryDirectory() as folder:
        write_hierarchies(Path(folder))
        for constraints in ASKED:
            for chosen in (method, {**method, "block_rows": 100}):
                _try(everyone(300), policy(Path(folder), chosen, constraints=constraints))


def _try(table: pa.Table, asked: dict[str, Any]) -> None:
    with suppress(ShoalError):  # it does not honour these, or has no blocks
        shoal.anonymize(table, asked)


def main(part: str) -> None:
    """All kernels, or those of the second process."""
    climbing = [param.values[0] for param in every_method(climbing=True)]
    others = [*(param.values[0] for param in every_method()), {"name": "l-clustering"}]
    second = [method for method in others if method["name"].endswith(SECOND)]
    if part == "second":
        for method in second:
            cut(method)
        return
    climb(climbing[0])
    with subprocess.Popen([sys.executable, "-m", "tests.compiled", "second"]) as helper:
        for method in climbing[1:]:
            climb(method)
        for method in others:
            if method not in second:
                cut(method)
        ask()
    sys.exit(helper.returncode)


if __name__ == "__main__":
    main(*sys.argv[1:] or ["all"])
