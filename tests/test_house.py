"""The house rules that no other tool checks: who may import what, declared protocols, clean texts."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "shoal"
MODULES = sorted(PACKAGE.rglob("*.py"))

HEAVY = ("numpy", "numba", "pandas", "polars", "pyarrow", "duckdb", "pydantic")
SQL = re.compile(
    r"\bSELECT\b.+\bFROM\b|\bGROUP BY\b|\bUNION ALL\b|\bCOPY \(|\bCAST\(.+ AS\b|\bread_csv\("
)


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def imports(tree: ast.Module) -> Iterator[str]:
    """The top-level packages that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def texts(tree: ast.Module) -> Iterator[str]:
    """The texts in a module that are not docstrings; parts of f-strings are joined."""
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    parts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside = [part for part in node.values if isinstance(part, ast.Constant)]
            parts |= {id(part) for part in inside}
            yield "?".join(str(part.value) for part in inside)
    left_out = docstrings | parts
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in left_out:
            yield node.value


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported_by(path: Path) -> frozenset[str]:
    return frozenset(imports(tree_of(path)))


def importers(package: str) -> set[str]:
    return {name_of(path) for path in MODULES if package in imported_by(path)}


def rooms(files: set[str]) -> set[str]:
    return {file.partition("/")[0] for file in files}


def test_import_contracts_hold() -> None:
    lint = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert lint, "import-linter is not installed; run `make test`"
    done = subprocess.run(
        [lint, "--no-cache", "--no-logo"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_kernels_compile() -> None:
    assert rooms(importers("numba")) == {"kernels"}


def test_only_engines_talk_to_a_database() -> None:
    assert rooms(importers("duckdb")) == {"engines"}


def test_only_the_spark_engine_imports_pyspark() -> None:
    for library in ("pyspark", "py4j"):
        assert {Path(file).parent.as_posix() for file in importers(library)} == {"engines/spark"}


@pytest.mark.parametrize(
    ("library", "allowed"),
    [
        ("pandas", set()),
        ("polars", {"engines/formats/labelled.py"}),
    ],  # an extra: pyreadstat needs it
)
def test_frame_libraries_come_with_the_user(library: str, allowed: set[str]) -> None:
    assert importers(library) == allowed


def test_only_engines_hold_sql() -> None:
    holders = {
        name_of(path) for path in MODULES if any(SQL.search(text) for text in texts(tree_of(path)))
    }
    assert rooms(holders) == {"engines"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_each_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(tree_of(path)), "no docstring"


def test_no_module_is_private() -> None:
    assert [name_of(path) for path in MODULES if re.match(r"_[^_]", path.name)] == []


PLUGINS = {"constraint", "method", "metric", "model", "plugin"}
"""What variables that hold plug-ins are called."""


def probes(tree: ast.Module) -> Iterator[int]:
    """The lines where a plug-in is searched for an attribute that its base class should declare."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
            continue
        asks = node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) == 3)
        words = re.findall(r"\w+", ast.unparse(node.args[0]))
        if asks and any(word.removesuffix("s") in PLUGINS for word in words):
            yield node.lineno


def test_nobody_probes_plug_ins() -> None:
    found = [f"{name_of(path)}:{line}" for path in MODULES for line in probes(tree_of(path))]
    assert not found, "declare it in the base class, with a default"
    wrong = "hasattr(method, 'check')\ngetattr(self.policy.method, 'weights', None)\nhasattr(os, 'fork')"
    assert list(probes(ast.parse(wrong))) == [1, 2]


def loaded_by(code: str) -> set[str]:
    """Heavy packages in memory after some code ran in a fresh Python."""
    shown = f"{code}\nimport sys\nprint(*sorted(set({HEAVY}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_importing_shoal_costs_nothing() -> None:
    assert loaded_by("import shoal; shoal.__version__; dir(shoal); shoal.ShoalError") == set()


def test_help_costs_nothing() -> None:
    assert loaded_by("import shoal.cli.app") == set()


def test_reading_a_policy_starts_no_database() -> None:
    code = "import shoal; shoal.Policy.load('columns: {a: quasi}\\nconstraints: [{k: 2}]\\n')"
    assert loaded_by(code).isdisjoint({"duckdb", "pandas", "polars"})


def test_every_public_name_is_there() -> None:
    import shoal

    for name in shoal.__all__:
        found = getattr(shoal, name)
        assert found is not None
        # the package of the studio can be called as the function can
        is_hidden = isinstance(found, type(shoal)) and not callable(found)
        assert not is_hidden, f"{name} is hidden by a module"


# What no file of the project may say. Written in pieces, so that this file does not say it either.
FORBIDDEN = {
    "a package registry": "|".join(
        [
            "py" + r"pi\.(?:org|io)",
            "python" + r"hosted\.org",
            "--index" + "-url",
            "conda" + r"\.org",
        ]
    ),
    "a path of some machine": r"(?<![\w.])/(?:"
    + "|".join(["ro" + "ot", "ho" + "me", "wo" + "rk"])
    + ")/",
    "a folder outside": r"\.\./sha" + "red",
    "something left to do": "TO" + r"DO\b|FIX" + r"ME\b|XX" + r"X\b",
}
ALLOWED = {("a folder outside", ".ci/run")}
"""The Adult table may lie beside the checkout; `.ci/run` tells the tests where."""


def project_files() -> Iterator[Path]:
    """Every text file that belongs to the project."""
    # in a worktree `.git` is a file with a path of this machine
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.name != ".git")
    for folder in ("src", "tests", "docs", "benchmarks", "packaging", ".ci", ".github"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


@pytest.mark.parametrize("what", FORBIDDEN)
def test_the_project_speaks_of_itself_alone(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    found = []
    for path in project_files():
        name = path.relative_to(ROOT).as_posix()
        if (what, name) in ALLOWED:
            continue
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        found += [f"{name}:{i}" for i, line in enumerate(lines, 1) if pattern.search(line)]
    assert not found, f"{what}: {', '.join(found)}"


def test_the_lock_pins_every_dependency() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"].values()
    wanted = [*project["project"]["dependencies"], *(each for group in groups for each in group)]
    lines = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.!+-]+", pin) for pin in pins), "one exact pin per line"
    pinned = {_canonical(pin.partition("==")[0]) for pin in pins}
    names = {_canonical(re.split(r"[^\w.-]", each)[0]) for each in wanted}
    assert names <= pinned
    assert "shoal" not in pinned


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
