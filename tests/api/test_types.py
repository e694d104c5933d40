"""Type checkers find mistakes in a user's script, and accept one without."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import shoal
from shoal import api, plugins

SCRIPTS = {
    name: Path(__file__).parent / "scripts" / f"{name}.py" for name in ("correct", "mistakes")
}
ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
BIN = Path(sys.executable).parent


def run_mypy(folder: Path) -> dict[str, set[int]]:
    """Per script the lines in which mypy reports an error; what it knows of the package is reused."""
    if (ROOT / ".mypy_cache").is_dir():
        shutil.copytree(ROOT / ".mypy_cache", folder / "cache")
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(folder / "cache")]
    command += [str(path.relative_to(ROOT)) for path in SCRIPTS.values()]
    environment = {"MYPYPATH": str(SOURCE.relative_to(ROOT)), "PATH": str(BIN)}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.stderr == ""
    return {
        name: {int(line) for line in re.findall(rf"{path.name}:(\d+): error", done.stdout)}
        for name, path in SCRIPTS.items()
    }


def run_pyright(folder: Path) -> dict[str, set[int]]:
    """Per script the lines in which pyright reports an error."""
    pyright = shutil.which("basedpyright", path=str(BIN))
    assert pyright, "basedpyright is not installed; run `make test`"
    settings = {
        "include": [str(path) for path in SCRIPTS.values()],
        "extraPaths": [str(SOURCE)],
        "typeCheckingMode": "standard",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [pyright, "--project", str(folder), "--pythonpath", sys.executable, "--outputjson"]
    report = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    assert report["summary"]["filesAnalyzed"] == len(SCRIPTS)
    found: dict[str, set[int]] = {name: set() for name in SCRIPTS}
    for one in report["generalDiagnostics"]:
        if one["severity"] == "error":
            found[Path(one["file"]).stem].add(one["range"]["start"]["line"] + 1)
    return found


@pytest.mark.long
@pytest.mark.parametrize("checker", [run_mypy, run_pyright])
def test_ten_mistakes_are_found_and_nothing_else(checker, tmp_path):
    lines = SCRIPTS["mistakes"].read_text().splitlines()
    planted = {place for place, line in enumerate(lines, 1) if line.endswith("# mistake")}
    assert len(planted) == 10
    assert checker(tmp_path) == {"correct": set(), "mistakes": planted}


@pytest.mark.parametrize(
    ("literal", "kind"), [(api.MethodName, "methods"), (api.MetricName, "metrics")]
)
def test_the_literals_name_plug_ins_that_exist(literal, kind):
    # a new plug-in need not be listed there: it can be given as an object too
    assert set(get_args(literal)) <= set(plugins.names(kind))


def test_the_package_declares_that_it_is_typed():
    assert (Path(shoal.__file__).parent / "py.typed").is_file()
