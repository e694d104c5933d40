"""Mutation tests: is every line of what judges a release held by some test?

    python -m tests.mutants --seconds 1200          # from where the last ones stopped
    python -m tests.mutants --budget 10             # leave a mutant open after 10 seconds of tests
    python -m tests.mutants --again                 # those that are open or survived
    python -m tests.mutants --again --every         # these with all tests, whatever lines they reach
    python -m tests.mutants --show                  # the counts and survivors so far

Each mutant changes one operator, number, name or statement of one module, and the tests that concern it
run on the changed module. A mutant that no test notices is a survivor: it needs a test, or a reason in
`equivalent_mutants.txt`. Mutants come in a random order that is always the same, so a part of them is
a fair sample.

Loading the libraries and collecting the tests takes longer than the test that notices a mutant. So one
process of pytest collects all tests and forks for every mutant; the child gives the functions of the
module their changed code and runs the tests that reach the changed line: those first that noticed other
mutants of the module, then the quick ones.
Mutants outside of functions change what a module is when it is loaded. Most of them cannot be loaded at
all. For the others a second process, which has loaded the libraries but nothing of Shoal, forks, loads
Shoal with the changed module and runs the tests, the quick ones first. What was found is kept with a
digest of each function, class or other statement of a module in `benchmarks/results/mutants.json`: one
that changes begins anew.
"""

import argparse
import ast
import builtins
import contextlib
import functools
import gc
import hashlib
import importlib
import importlib.machinery
import json
import math
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "shoal"
RESULTS = ROOT / "benchmarks" / "results" / "mutants.json"
TIMES = (
    Path(os.environ.get("SHOAL_FUZZ_STATE", Path.home() / ".cache" / "shoal-fuzz")) / "times.json"
)
"""How long each test takes on this machine, and which lines of the modules it reaches."""
LIMIT = 180
"""Seconds of CPU after which the tests of a mutant are ended: it does not come to an end by itself."""
SLOWER = 20
"""A test that takes so many times as long as usual, and `PATIENCE` more, does not end either."""
PATIENCE = 5
MEMORY = 6 << 30
"""Bytes that the tests of a mutant may use."""

MODELS = ("tests/models", "tests/weights/test_estimated_k_map.py")
WARM = ("tests/models",)
"""Tests that load what most others need, and start no threads."""
TARGETS: dict[str, tuple[str, ...]] = {
    **{
        f"models/{name}.py": MODELS
        for name in (
            "k",
            "l",
            "alpha",
            "t",
            "beta",
            "delta",
            "average_risk",
            "population",
            "shares",
        )
    },
    "models/estimated_k_map.py": MODELS,
    "models/base.py": MODELS,
    "models/requirement.py": ("tests/models", "tests/publish/test_suppression.py"),
    "verification/check.py": ("tests/verification", "tests/models", "tests/people/test_counts.py"),
    "verification/people.py": ("tests/people/test_counts.py",),
    "verification/rules.py": (
        "tests/verification",
        "tests/policy/test_date_and_zip_rules.py",
        "tests/reading/test_rules.py",
    ),
    "verification/preferences.py": ("tests/personal", "tests/verification"),
    "verification/meaning.py": ("tests/verification", "tests/publish/test_label_parser.py"),
    "verification/anatomy.py": ("tests/anatomy", "tests/verification"),
    "verification/digest.py": ("tests/verification/test_digest.py",),
    "verification/guesses.py": ("tests/verification/test_guesses.py",),
    "verification/presets.py": ("tests/verification/test_outcome.py",),
    "verification/verification.py": ("tests/verification/test_outcome.py",),
    "verification/weights.py": ("tests/verification/test_weights.py",),
    "engines/truth.py": ("tests/truth", "tests/labels", "tests/anatomy", "tests/formats"),
    "engines/statistics_truth.py": ("tests/truth", "tests/labels"),
    "publish/label_faults.py": ("tests/verification/test_unread_labels.py",),
    "publish/label_parser.py": (
        "tests/publish",
        "tests/truth",
        "tests/verification/test_unread_labels.py",
        "tests/labels/test_statistics.py",
    ),
}
"""The modules that are mutated, and the tests that must notice."""

REASONS = Path(__file__).parent / "equivalent_mutants.txt"


def _equivalent(text: str) -> dict[tuple[str, str, str], str]:
    """By module, line of code and change."""
    found = {}
    module = code = ""
    for line in text.splitlines():
        words = line.strip()
        match len(line) - len(line.lstrip()):
            case 0:
                module = words
            case 4:
                code = words
            case 8:
                change, _, reason = words.partition(": ")
                found[module, code, change] = reason
    return found


EQUIVALENT = _equivalent(REASONS.read_text(encoding="utf-8"))
"""Survivors that change nothing anybody could notice, and why. Lines are known by their text, as their
numbers change with the lines before them."""

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
    "bisect_left": "bisect_right", "bisect_right": "bisect_left", "left": "right",
}  # fmt: skip


def mutations(tree: ast.Module) -> Iterator[tuple[ast.AST, str, Any]]:
    """(node, words, change) of every mutant of a module; `change` is called with the node."""
    for node in ast.walk(tree):
        for words, change in _changes(node):
            yield node, words, change


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        new = SWAPS[type(node.ops[0])]
        yield (
            f"{type(node.ops[0]).__name__} to {new.__name__}",
            lambda n: n.ops.__setitem__(0, new()),
        )
    if isinstance(node, ast.BoolOp | ast.BinOp | ast.AugAssign) and type(node.op) in SWAPS:
        swapped = SWAPS[type(node.op)]
        words = f"{type(node.op).__name__} to {swapped.__name__}"
        yield words, lambda n: setattr(n, "op", swapped())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        yield f"without {type(node.op).__name__}", lambda n: setattr(n, "op", ast.UAdd())
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value} to {not node.value}", lambda n: setattr(n, "value", not n.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield f"{node.value} to {node.value + 1}", lambda n: setattr(n, "value", n.value + 1)
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield f"{node.id} to {NAMES[node.id]}", lambda n: setattr(n, "id", NAMES[n.id])
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield f"{node.attr} to {NAMES[node.attr]}", lambda n: setattr(n, "attr", NAMES[n.attr])
    if isinstance(node, ast.If):
        yield "if to if not", lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))
    if isinstance(node, ast.Raise):
        yield "no raise", lambda n: (setattr(n, "exc", None), setattr(n, "__class__", ast.Pass))


def parsed(name: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse((PACKAGE / name).read_text(encoding="utf-8"))


def mutants(seed: int = 1) -> list[tuple[str, int]]:
    """(module, number) of all mutants, shuffled."""
    found = [(name, i) for name in sorted(TARGETS) for i, _ in enumerate(mutations(parsed(name)))]
    random.Random(seed).shuffle(found)
    return found


def listed(name: str) -> list[tuple[str, tuple[str, str, str]]]:
    """Of every mutant of a module where it is, and by what `EQUIVALENT` knows it."""
    text = (PACKAGE / name).read_text(encoding="utf-8")
    lines = text.splitlines()
    seen: Counter[tuple[int, str]] = Counter()
    found = []
    for node, words, _ in mutations(ast.parse(text)):
        line = getattr(node, "lineno", 1)
        seen[line, words] += 1
        if seen[line, words] > 1:
            words = f"{words} ({seen[line, words]})"
        found.append((f"{name}:{line}: {words}", (name, lines[line - 1].strip(), words)))
    return found


def mutated(name: str, number: int) -> tuple[ast.Module, str | None, range]:
    """The changed module, the function that the change is in the body of, if any, and the lines of the
    statement."""
    tree = parsed(name)
    node, _, change = next(islice(mutations(tree), number, None))
    inside = _function_of(tree, node)
    lines = _lines_of(tree, node)
    change(node)
    return ast.fix_missing_locations(tree), inside, lines


def _lines_of(tree: ast.AST, node: ast.AST) -> range:
    """The lines of the innermost statement around a node; of one with a body, those before it.

    None outside of functions: such statements are reached when the module is loaded.
    """
    functions = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))
    bodies = (line for function in functions for line in function.body)
    if not any(each is node for line in bodies for each in ast.walk(line)):
        return range(0)
    found = range(0)
    for each in ast.walk(tree):  # from the outside to the inside
        if isinstance(each, ast.stmt | ast.ExceptHandler) and any(
            n is node for n in ast.walk(each)
        ):
            last = each.end_lineno or each.lineno
            if body := getattr(each, "body", None):
                last = max(each.lineno, body[0].lineno - 1)
            found = range(each.lineno, last + 1)
    return found


REACHED: set[tuple[str, int]] = set()
"""(module, line) of the statements that were reached since this was emptied."""


class _Noting(ast.NodeTransformer):
    """Puts a note before every statement of the functions of a module: far quicker than tracing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        for each in ast.walk(node):
            for part in ("body", "orelse", "finalbody"):
                lines = getattr(each, part, None)
                if isinstance(lines, list) and lines and not isinstance(each, ast.ClassDef):
                    setattr(each, part, [new for line in lines for new in self.noted(line)])
        return node

    def noted(self, line: ast.stmt) -> list[ast.stmt]:
        if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant):
            return [line]  # a docstring
        note = ast.parse(f"_reached_(({self.name!r}, {line.lineno}))").body[0]
        return [*(ast.copy_location(each, line) for each in [note]), line]


def note_what_is_reached() -> None:
    """Modules that are loaded from now on note which of their statements are reached."""
    builtins._reached_ = REACHED.add  # type: ignore[attr-defined]
    paths = {str(PACKAGE / name): name for name in TARGETS}

    def changed(path: str) -> CodeType:
        tree = _Noting(paths[path]).visit(parsed(paths[path]))
        return compile(ast.fix_missing_locations(tree), path, "exec")

    _load_by(lambda path: changed(path) if path in paths else None)


def _load_by(code_of: Callable[[str], CodeType | None]) -> None:
    """Load modules by their changed code, where there is one."""
    usual = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        return code_of(self.path) or usual(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def _function_of(tree: ast.AST, node: ast.AST, prefix: str = "") -> str | None:
    """The qualified name of the function whose body holds a node, or of the class variable."""
    for child in ast.iter_child_nodes(tree):
        if _is_class_variable(child) and any(each is node for each in ast.walk(child)):
            return prefix + ast.unparse(child.target)  # type: ignore[attr-defined]
        if isinstance(child, ast.FunctionDef):
            if any(each is node for line in child.body for each in ast.walk(line)):
                return prefix + child.name
        elif isinstance(child, ast.ClassDef):
            found = _function_of(child, node, f"{prefix}{child.name}.")
            if found:
                return found
    return None


def _is_class_variable(node: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) and "ClassVar" in ast.unparse(node.annotation)


def _codes(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    """The code of the functions of a module and of its classes, with their qualified names."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each.co_qualname, each
            if "<locals>" not in each.co_qualname:
                yield from _codes(each)


def _is_in(node: ast.AST, inside: str, tree: ast.Module) -> bool:
    return _function_of(tree, node) == inside


def patched(name: str, changed: ast.Module, inside: str) -> bool:
    """Give a function of a loaded module its changed code; False where that cannot be done."""
    module = importlib.import_module("shoal." + name.removesuffix(".py").replace("/", "."))
    codes = [
        code
        for called, code in _codes(compile(changed, str(PACKAGE / name), "exec"))
        if called == inside
    ]
    found: Any = module
    *owners, last = inside.split(".")
    for part in owners:
        found = found.__dict__[part]
    declared = [
        each
        for each in ast.walk(changed)
        if _is_class_variable(each) and _is_in(each, inside, changed)
    ]
    if declared:
        (variable,) = declared
        value = ast.Expression(variable.value)  # type: ignore[attr-defined]
        setattr(found, last, eval(compile(value, name, "eval"), vars(module)))
        return True
    found = found.__dict__[last]
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, functools.cached_property):
        found = found.func
    elif isinstance(found, staticmethod | classmethod):
        found = found.__func__
    while hasattr(found, "__wrapped__"):
        if hasattr(found, "cache_clear"):
            found.cache_clear()
        found = found.__wrapped__
    if len(codes) != 1 or not isinstance(found, FunctionType):
        return False
    if found.__code__.co_freevars != codes[0].co_freevars:
        return False
    found.__code__ = codes[0]
    return True


class Mutating:
    """A plugin of pytest that, once all tests are collected, tries mutants instead of running them."""

    def __init__(
        self,
        tasks: list[tuple[str, int]],
        kept: "Kept",
        seconds: float,
        budget: float,
        every: bool,
        apart: "Apart",
    ) -> None:
        self.apart = apart
        self.tasks, self.kept, self.seconds, self.budget = tasks, kept, seconds, budget
        self.every = every
        self.durations: dict[str, float] = {}
        self.reaching: dict[str, set[tuple[str, int]]] = {}
        """By test, the lines of the modules that it reaches."""
        self.noticed: dict[str, list[Any]] = {}
        """By module, the tests that noticed mutants; the last ones first."""

    def pytest_collection(self) -> None:
        """Try the same examples in every process, and do not look for a smaller one that fails."""
        _same_examples()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try the mutants."""
        self.time_tests(session.items)
        self.warm(session.items)
        begin = time.monotonic()
        for name, number in self.tasks:
            if time.monotonic() - begin > self.seconds:
                break
            found = self.outcome(session.items, name, number)
            where, known = self.kept.listed[name][number]
            self.kept.add(name, number, found)
            if found == "survived" and known not in EQUIVALENT:
                print(where, flush=True)
        return True

    def time_tests(self, items: list[pytest.Item]) -> None:
        """How long each test takes and what it reaches, without any mutant; all must pass."""
        read = json.loads(TIMES.read_text()) if TIMES.exists() else {"modules": {}, "tests": {}}
        digests = {name: one["digest"] for name, one in self.kept.modules.items()}
        changed = {name for name in digests if digests[name] != read["modules"].get(name)}
        stale = tuple({test for name in changed for test in TARGETS[name]})
        files = {item.nodeid.partition("::")[0] for item in items}
        same = {
            file: _digest((ROOT / file).read_text(encoding="utf-8"))
            for file in files | read.get("files", {}).keys()
            if (ROOT / file).exists()
        }
        known = {
            nodeid: each
            for nodeid, each in read["tests"].items()
            if not (stale and nodeid.startswith(stale))
            and same.get(file := nodeid.partition("::")[0]) == read.get("files", {}).get(file, "")
        }

        def keep() -> None:
            new = TIMES.with_suffix(".new")
            new.write_text(json.dumps({"modules": digests, "files": same, "tests": known}))
            new.replace(TIMES)

        TIMES.parent.mkdir(parents=True, exist_ok=True)
        new = [item for item in items if item.nodeid not in known]
        if new:
            reading, writing = os.pipe()
            child = os.fork()
            if not child:
                _silent()
                for i, item in enumerate(new):
                    begun = time.process_time()
                    REACHED.clear()
                    passed = _passes(item, new[i + 1] if i + 1 < len(new) else None)
                    took = time.process_time() - begun
                    found = [item.nodeid, passed, took, sorted(REACHED)]
                    os.write(writing, json.dumps(found).encode() + b"\n")
                os._exit(0)
            os.close(writing)
            failed = []
            with os.fdopen(reading, "rb") as pipe:
                for i, line in enumerate(pipe):
                    nodeid, passed, took, lines = json.loads(line)
                    if passed:
                        known[nodeid] = [took, lines]
                    else:
                        failed.append(nodeid)
                    if i % 20 == 0:
                        keep()
            os.waitpid(child, 0)
            keep()
            assert not failed, f"these fail without any mutant: {failed}"
        self.durations = {nodeid: took for nodeid, (took, _) in known.items()}
        self.reaching = {
            nodeid: {(name, line) for name, line in lines} for nodeid, (_, lines) in known.items()
        }

    def warm(self, items: list[pytest.Item]) -> None:
        """Run quick tests in this process: what they load and compile, no child has to.

        Threads do not outlive a fork, so only tests that start none may run here.
        """
        quick = [item for item in items if item.nodeid.startswith(WARM)]
        for item in quick:
            if self.durations[item.nodeid] < 1:
                _passes(item, None)
        gc.collect()
        gc.freeze()

    def outcome(self, items: list[pytest.Item], name: str, number: int) -> str:
        """`killed`, `survived`, `endless` or `open`."""
        changed, inside, lines = mutated(name, number)
        mine = [i for i in items if i.nodeid.startswith(TARGETS[name])]
        if not self.every and lines:
            changing = {(name, line) for line in lines}
            mine = [i for i in mine if self.reaching[i.nodeid] & changing]
        mine.sort(key=lambda item: self.durations.get(item.nodeid, 0))
        first = self.noticed.setdefault(name, [])
        ordered = [item for item in first if item in mine]
        ordered += [item for item in mine if item not in first]
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            self.child(name, changed, inside, ordered, writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            heard = pipe.read().decode()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return "endless" if os.WTERMSIG(status) == signal.SIGXCPU else "killed"
        if heard == "apart":
            return self.apart.outcome(name, number, self.budget)
        if heard == "open":
            return "open"
        if heard.isdigit():
            noticed = ordered[int(heard)]
            self.noticed[name] = [noticed, *(item for item in first if item is not noticed)][:12]
        return "survived" if os.WEXITSTATUS(status) == 0 else "killed"

    def child(
        self,
        name: str,
        changed: ast.Module,
        inside: str | None,
        items: list[pytest.Item],
        writing: int,
    ) -> None:
        """Run the tests on the changed module, in this process, and end it."""
        _limited()
        _silent()
        code = 3
        with contextlib.suppress(BaseException):
            if inside is None and not loads(name, changed):
                os._exit(1)
            if inside is None or not patched(name, changed, inside):
                os.write(writing, b"apart")
                os._exit(0)
            code = 0
            begun = time.process_time()
            for i, item in enumerate(items):
                if time.process_time() - begun > self.budget:
                    os.write(writing, b"open")
                    break
                following = items[i + 1] if i + 1 < len(items) else None
                usual = self.durations.get(item.nodeid, 0)
                _limited(math.ceil(time.process_time() + SLOWER * usual + PATIENCE))
                if not _passes(item, following):
                    os.write(writing, str(i).encode())
                    code = 1
                    break
        os._exit(code)


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    from _pytest.runner import runtestprotocol

    return not any(r.failed for r in runtestprotocol(item, log=False, nextitem=following))


def _same_examples() -> None:
    from hypothesis import Phase, settings  # pytest rewrites its plugins before their import

    settings.register_profile(
        "mutants",
        settings.get_profile("shoal"),
        database=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate),
        report_multiple_bugs=False,
    )
    settings.load_profile("mutants")


def _limited(seconds: int = LIMIT) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (min(seconds, LIMIT), LIMIT + 10))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def _silent() -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)


ARGUMENTS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no")


LIBRARIES = (
    "duckdb",
    "hypothesis",
    "narwhals",
    "numba",
    "numpy",
    "pandas",
    "polars",
    "pyarrow.compute",
    "pyarrow.csv",
    "pyarrow.parquet",
    "pydantic.dataclasses",
    "rich.console",
    "typer",
    "yaml",
)
"""What most tests need, loaded once by the process that tries mutants apart."""


class Apart:
    """A process that has loaded nothing of Shoal, and forks for every mutant that changes a module's
    loading. Whatever notices a mutant there must pass there without it."""

    def __init__(self) -> None:
        self.asking, asked = os.pipe()
        answering, self.answered = os.pipe()
        self.asked, self.answering = os.fdopen(asked, "w"), os.fdopen(answering)
        self.passing: set[tuple[str, ...]] = set()
        self.process = os.fork()
        if not self.process:
            os.close(asked)
            os.close(answering)
            self.serve()
        os.close(self.asking)
        os.close(self.answered)

    def outcome(self, name: str, number: int, budget: float) -> str:
        """`killed`, `survived`, `endless` or `open`."""
        found, noticing = self.ask(name, number, TARGETS[name], budget)
        if noticing:
            tests = (noticing,) if "::" in noticing else TARGETS[name]
            if tests not in self.passing:
                alone, _ = self.ask(name, None, tests, LIMIT)
                assert alone == "survived", f"fails without any mutant: {tests}"
                self.passing.add(tests)
        return found

    def ask(
        self, name: str, number: int | None, tests: tuple[str, ...], budget: float
    ) -> tuple[str, str]:
        """The outcome, and the test that failed, if any."""
        self.asked.write(json.dumps([name, number, tests, budget]) + "\n")
        self.asked.flush()
        found, noticing = json.loads(self.answering.readline())
        return found, noticing

    def serve(self) -> None:
        """Answer until nobody can ask any more, and end the process."""
        assert not any(each.split(".")[0] == "shoal" for each in sys.modules)
        with os.fdopen(self.asking) as asking:
            for line in asking:
                for library in LIBRARIES:
                    importlib.import_module(library)
                gc.freeze()
                reading, writing = os.pipe()
                child = os.fork()
                if not child:
                    _silent()
                    try_alone(*json.loads(line), writing)
                os.close(writing)
                with os.fdopen(reading) as pipe:
                    noticing = pipe.read()
                _, status = os.waitpid(child, 0)
                answer = json.dumps([_told(status), noticing])
                os.write(self.answered, f"{answer}\n".encode())
        os._exit(0)


def _told(status: int) -> str:
    if os.WIFSIGNALED(status):
        return "endless" if os.WTERMSIG(status) == signal.SIGXCPU else "killed"
    return {0: "survived", OPEN: "open"}.get(os.WEXITSTATUS(status), "killed")


OPEN = 77
"""The exit code where time was up before the tests were."""


class QuickFirst:
    """A plugin of pytest that runs quick tests first, within a budget of seconds."""

    def __init__(self, budget: float, writing: int) -> None:
        self.budget, self.writing = budget, writing
        read = json.loads(TIMES.read_text())["tests"] if TIMES.exists() else {}
        self.durations = {nodeid: took for nodeid, (took, _) in read.items()}

    def pytest_collection(self) -> None:
        """Try the same examples in every process."""
        _same_examples()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """The quick ones first."""
        items.sort(key=lambda item: self.durations.get(item.nodeid, 0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Say which test fails."""
        if report.failed:
            os.write(self.writing, report.nodeid.encode())

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Say that some cannot be collected."""
        if report.failed:
            os.write(self.writing, b"collection")

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """End where time is up, and limit a test that takes far longer than it should."""
        if time.process_time() > self.budget:
            os._exit(OPEN)
        usual = self.durations.get(item.nodeid, 1)
        _limited(math.ceil(time.process_time() + SLOWER * usual + PATIENCE))


def try_alone(name: str, number: int | None, tests: list[str], budget: float, writing: int) -> None:
    """Run tests in this process, which loads the changed module, and end it."""
    changed = parsed(name) if number is None else mutated(name, number)[0]
    _limited()
    path = str(PACKAGE / name)
    code = compile(changed, path, "exec")
    _load_by(lambda each: code if each == path else None)
    found = 3
    with contextlib.suppress(BaseException):
        arguments = ["-x", *ARGUMENTS, "-m", "not long", *tests]
        found = int(pytest.main(arguments, plugins=[QuickFirst(budget, writing)]))
    os._exit(found)


def loads(name: str, changed: ast.Module) -> bool:
    """Whether a changed module can be loaded, in a process in which its libraries are."""
    full = "shoal." + name.removesuffix(".py").replace("/", ".")
    fresh = ModuleType(full)
    fresh.__dict__.update(__file__=str(PACKAGE / name), __package__=full.rpartition(".")[0])
    try:
        exec(compile(changed, str(PACKAGE / name), "exec"), vars(fresh))
    except Exception:
        return False
    return True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def parts(text: str) -> list[str]:
    """Of every mutant of a module, which of its statements it is in: a digest of the statement's text,
    numbered where there are several of that text."""
    tree = ast.parse(text)
    part_of: dict[ast.AST, str] = {}
    seen: Counter[str] = Counter()
    for statement in tree.body:
        # decorators stand before the line that a function is said to begin in
        lines = [each.lineno for each in getattr(statement, "decorator_list", ())]
        first, last = min([statement.lineno, *lines]), statement.end_lineno
        digest = _digest("\n".join(text.splitlines()[first - 1 : last]))
        seen[digest] += 1
        part = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
        part_of |= dict.fromkeys(ast.walk(statement), part)
    return [part_of[node] for node, _, _ in mutations(tree)]


class Kept:
    """What was found, in a file; by statement of a module, as long as its text is the same."""

    LETTERS = {"killed": "k", "survived": "s", "endless": "e", "open": "o"}  # noqa: RUF012

    def __init__(self, path: Path) -> None:
        self.path = path
        before = json.loads(path.read_text())["modules"] if path.exists() else {}
        self.listed = {name: listed(name) for name in sorted(TARGETS)}
        self.parts: dict[str, list[str]] = {}
        self.modules: dict[str, dict[str, str]] = {}
        for name in self.listed:
            text = (PACKAGE / name).read_text(encoding="utf-8")
            self.parts[name] = parts(text)
            found = before.get(name, {})
            size = Counter(self.parts[name])
            left = {part: iter(found.get(part, "." * many)) for part, many in size.items()}
            outcomes = "".join(next(left[part]) for part in self.parts[name])
            self.modules[name] = {"digest": _digest(text), "outcomes": outcomes}

    def is_open(self, name: str, number: int, again: bool) -> bool:
        """Whether a mutant is to be tried."""
        return self.modules[name]["outcomes"][number] in (".so" if again else ".")

    def add(self, name: str, number: int, found: str) -> None:
        """Note an outcome, and write all of them."""
        one = self.modules[name]
        letters = one["outcomes"]
        one["outcomes"] = letters[:number] + self.LETTERS[found] + letters[number + 1 :]
        self.write()

    def write(self) -> None:
        """Write the state; an interruption leaves the old or the new one."""
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({**self.summary(), "modules": self.by_part()}, indent=1) + "\n")
        new.replace(self.path)

    def by_part(self) -> dict[str, dict[str, str]]:
        """By module and statement, the outcomes of its mutants in their order."""
        found: dict[str, dict[str, str]] = {}
        for name, one in self.modules.items():
            mine = found.setdefault(name, {})
            for part, letter in zip(self.parts[name], one["outcomes"], strict=True):
                mine[part] = mine.get(part, "") + letter
        return found

    def summary(self) -> dict[str, Any]:
        """How many mutants there are, were tried and noticed, and which were not."""
        letters = "".join(one["outcomes"] for one in self.modules.values())
        survivors = [
            (where, EQUIVALENT.get(known))
            for name, one in self.modules.items()
            for letter, (where, known) in zip(one["outcomes"], self.listed[name], strict=True)
            if letter == "s"
        ]
        return {
            "mutants": len(letters),
            "tried": len(letters) - letters.count(".") - letters.count("o"),
            "open": letters.count("o"),
            "noticed": letters.count("k") + letters.count("e"),
            "equivalent": {where: reason for where, reason in survivors if reason},
            "survivors": [where for where, reason in survivors if not reason],
        }

    def stale(self) -> list[tuple[str, str, str]]:
        """Reasons for mutants that are noticed, or that there are no more."""
        surviving = {
            known
            for name, one in self.modules.items()
            for letter, (_, known) in zip(one["outcomes"], self.listed[name], strict=True)
            if letter in ".so"
        }
        return [known for known in EQUIVALENT if known not in surviving]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", default="", help="modules whose name contains this")
    parser.add_argument("--again", action="store_true", help="those that are open or survived")
    parser.add_argument("--every", action="store_true", help="tests that do not reach it too")
    parser.add_argument("--budget", type=float, default=LIMIT, help="seconds of tests per mutant")
    parser.add_argument("--show", action="store_true", help="the counts and survivors so far")
    parser.add_argument("--state", type=Path, default=RESULTS)
    asked = parser.parse_args()
    os.chdir(ROOT)
    os.environ.setdefault("SHOAL_EXAMPLES", "0.2")
    os.environ.setdefault("SHOAL_THREADS", "1")
    kept = Kept(asked.state)
    tasks = [
        (name, number)
        for name, number in mutants()
        if asked.only in name and kept.is_open(name, number, asked.again)
    ]
    if tasks and not asked.show:
        tests = sorted({test for name, _ in tasks for test in TARGETS[name]})
        mutating = Mutating(tasks, kept, asked.seconds, asked.budget, asked.every, Apart())
        note_what_is_reached()
        pytest.main([*ARGUMENTS, "-m", "not long", *tests], plugins=[mutating])
    summary = kept.summary()
    print(json.dumps(summary, indent=1))
    for known in kept.stale():
        print("no longer needed:", *known, sep="\n  ")
    sys.exit(1 if summary["survivors"] else 0)


if __name__ == "__main__":
    main()
