"""The examples for newcomers in CONTRIBUTING.md work as they stand."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import ROOT, blocks

START = """
import importlib
import pyarrow as pa
import shoal
from shoal import plugins

importlib.import_module("shoal.{room}").__path__.append({folder!r})
rows = range(40)
table = pa.table({{
    "age": [20 + i % 9 for i in rows],
    "sex": ["f" if i < 20 else "m" for i in rows],
    "disease": [["flu", "gout", None][i % 3] for i in rows],
}})
columns = {{"age": "quasi", "sex": "quasi", "disease": "sensitive"}}
policy = {{"columns": columns, "constraints": [{{"k": 2}}]}}
"""
CHECKS = {
    "methods/sorted_runs.py": """
assert plugins.describe(plugins.method("sorted-runs")).options[0].default == "0"
for constraints in ([{"k": 3}], [{"k": 3}, {"l": 2, "of": "disease"}]):
    asked = {**policy, "constraints": constraints, "method": {"name": "sorted-runs", "spare": 1}}
    release = shoal.anonymize(table, asked)
    assert release.verified and release.groups > 1 and release.method == "sorted-runs"
""",
    "models/known.py": """
asked = {**policy, "constraints": [{"known": 3, "of": "disease"}]}
release = shoal.anonymize(table, asked)
assert release.verified and release.groups > 1 and release.findings[0].reached >= 3
try:
    shoal.anonymize(table, {**policy, "constraints": [{"known": 30, "of": "disease"}]})
except shoal.Infeasible as error:
    assert "known = 30" in str(error)
else:
    raise AssertionError("27 rows have a disease, so 30 cannot be reached")
""",
    "metrics/untouched_columns.py": """
release = shoal.anonymize(table, policy)
assert release.metrics["untouched-columns"] == sum(l == 0 for l in release.column_loss.values()) > 0
""",
}
"""Per example, what it must do once its file is in its room."""

each_example = pytest.mark.parametrize("file", CHECKS)


def source_of(file: str) -> str:
    (block,) = (b for b in blocks(ROOT / "CONTRIBUTING.md") if b.mark == f"file: {file}")
    return block.body


def test_every_room_has_an_example() -> None:
    marks = [block.mark for block in blocks(ROOT / "CONTRIBUTING.md") if block.language == "python"]
    assert marks == [f"file: {name}" for name in CHECKS]


@each_example
def test_it_works(file: str, tmp_path: Path) -> None:
    room, name = file.split("/")
    (tmp_path / name).write_text(source_of(file), encoding="utf-8")
    code = START.format(room=room, folder=str(tmp_path)) + CHECKS[file]
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@each_example
@pytest.mark.parametrize("asked", [["check"], ["format", "--check"]], ids=["lint", "format"])
def test_it_is_in_the_project_style(file: str, asked: list[str]) -> None:
    command = [sys.executable, "-m", "ruff", *asked, "--stdin-filename", f"src/shoal/{file}", "-"]
    done = subprocess.run(
        command, cwd=ROOT, input=source_of(file), capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr
