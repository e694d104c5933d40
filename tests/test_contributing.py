"""The examples of CONTRIBUTING.md, dropped into a copy of the repository: nothing else is edited."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import ROOT, blocks, read, section

COPIED = ("src", "tests", "docs", "benchmarks")
WHOLE = (
    "tests/test_house.py",
    "tests/test_plugins.py",
    "tests/cli/test_lists.py",
    "tests/models",
    "tests/metrics",
)
"""Parts of the suite that may know a fixed set of plug-ins."""
EACH = (
    "tests/test_conformance.py",
    "tests/test_docs.py",
    "tests/methods",
    "tests/api/test_types.py",
    "tests/golden",
)
"""Parts with tests for each plug-in, or for pages that name them."""
EXAMPLES = {
    "methods": ("sorted_runs", "sorted-runs"),
    "models": ("known", "known"),
    "metrics": ("untouched_columns", "untouched-columns"),
}


def example_files() -> dict[str, str]:
    """The text of each file by its path in the repository."""
    found = {}
    for block in blocks(ROOT / "CONTRIBUTING.md"):
        if block.language == "python":
            assert block.mark.startswith("file: "), f"{block} belongs to no file"
            found[block.mark.removeprefix("file: ")] = block.body
    return found


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with the examples in it; compiled kernels and checked types come along."""
    root = tmp_path_factory.mktemp("copy") / "shoal"
    for folder in COPIED:
        shutil.copytree(ROOT / folder, root / folder)
    if (ROOT / ".mypy_cache").is_dir():
        shutil.copytree(ROOT / ".mypy_cache", root / ".mypy_cache")
    for file in ROOT.iterdir():
        if file.is_file() and file.name != ".git":
            shutil.copy2(file, root / file.name)
    for name, text in example_files().items():
        (root / name).write_text(text, encoding="utf-8")
    return root


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    # the properties themselves are tried elsewhere
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "SHOAL_EXAMPLES": "0.1"}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
    )


def test_each_example_is_one_file_and_one_test_file() -> None:
    assert set(example_files()) == {
        path
        for kind, (file, _) in EXAMPLES.items()
        for path in (f"src/shoal/{kind}/{file}.py", f"tests/{kind}/test_{file}.py")
    }


@pytest.mark.long
def test_the_suite_passes_with_them(copy: Path) -> None:
    """Their own tests among the others."""
    done = run(copy, "pytest", "-q", "-x", "-p", "no:cacheprovider", *WHOLE)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr


@pytest.mark.long
def test_the_suite_takes_each_of_them_up(copy: Path) -> None:
    names = [name for _, name in EXAMPLES.values()]
    listed = run(copy, "pytest", "-q", "--collect-only", "tests/test_conformance.py").stdout
    assert all(f"[{name}]" in listed for name in names), listed
    chosen = " or ".join(
        [*names, "sorted_runs", "plugins_are_documented", "links", "literals", "seed37"]
    )
    done = run(copy, "pytest", "-q", "-x", "-p", "no:cacheprovider", *EACH, "-k", chosen)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr


@pytest.mark.parametrize(
    "command", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]], ids=" ".join
)
def test_they_are_in_the_style_of_the_project(copy: Path, command: list[str]) -> None:
    files = example_files()
    if command == ["mypy"]:
        files = {name: text for name, text in files.items() if name.startswith("src/")}
    done = run(copy, *command, *files)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_described_as_it_is() -> None:
    """Every folder and module of the package is in the table, and nothing else."""
    named = re.findall(r"`([a-z_]+(?:/|\.py))`", section("CONTRIBUTING.md", "The package"))
    package = ROOT / "src" / "shoal"
    there = {f"{path.name}/" for path in package.iterdir() if (path / "__init__.py").is_file()}
    there |= {path.name for path in package.glob("*.py") if path.name != "__init__.py"}
    assert set(named) == there


def test_files_that_are_named_exist() -> None:
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", read(ROOT / "CONTRIBUTING.md"))
    assert named
    for name in named:
        assert (ROOT / name).is_file() or (ROOT / "src" / "shoal" / name).is_file(), name
