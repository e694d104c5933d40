"""Mutation tests: is every line of what judges a release held by some test?

    python -m tests.mutants --seconds 1200          # from where the last ones stopped
    python -m tests.mutants --budget 10             # leave a mutant open after 10 seconds of tests
    python -m tests.mutants --again                 # those that are open or survived
    python -m tests.mutants --again --every         # these with all tests, whatever lines they reach
    python -m tests.mutants --show                  # the counts and survivors so far

Each mutant changes one operator, number, name or statement of one module, and the tests that concern it
run on the changed module. A mutant that no test notices is a survivor: it needs a test, or a reason in
`EQUIVALENT`. Mutants come in a random order that is always the same, so a part of them is a fair sample.

Loading the libraries and collecting the tests takes longer than the test that notices a mutant. So one
process of pytest collects all tests and forks for every mutant; the child gives the functions of the
module their changed code and runs the tests that reach the changed line: those first that noticed other
mutants of the module, then the quick ones.
Mutants outside of functions need a process of their own. What was found is kept with a digest of each
module in `benchmarks/results/mutants.json`: a module that changes begins anew.
"""

import argparse
import ast
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
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType, FunctionType
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
    "models/requirement.py": (
        "tests/models",
        "tests/methods/test_any_table_any_model.py",
        "tests/publish/test_suppression.py",
    ),
    "verification/check.py": ("tests/verification", "tests/models", "tests/people/test_counts.py"),
    "verification/people.py": ("tests/people/test_counts.py", "tests/people/test_methods.py"),
    "verification/rules.py": (
        "tests/verification",
        "tests/policy/test_date_and_zip_rules.py",
        "tests/reading/test_rules.py",
    ),
    "verification/preferences.py": ("tests/personal", "tests/verification"),
    "verification/meaning.py": ("tests/verification", "tests/publish/test_label_parser.py"),
    "verification/anatomy.py": ("tests/anatomy", "tests/verification"),
    "verification/digest.py": ("tests/verification/test_digest.py",),
    "publish/label_parser.py": (
        "tests/publish",
        "tests/truth",
        "tests/verification/test_unread_labels.py",
        "tests/labels/test_statistics.py",
    ),
}
"""The modules that are mutated, and the tests that must notice."""

COPIED = "no copy is needed where nothing is missing"
ALIKE = "both are of one length: a check of ours"
MARGIN = "a bit of margin: whole numbers go up to 2**63"
NONE = "any number below 0 is none of the codes"
EQUIVALENT: dict[str, str] = {
    "models/alpha.py:79: 1 to 2": "more rows than there are never fit",
    "models/alpha.py:82: Add to Sub": "the next line takes back a row too many",
    "models/l.py:72: Gt to GtE": "a group without a value has no more than its 0 different ones",
    "models/l.py:134: GtE to Gt": "logarithms meet the bound exactly by chance alone",
    "models/population.py:93: 1 to 2": "what is divided by nobody is replaced by infinity",
    "models/population.py:100: 1 to 2": "a figure above 1 is infinite",
    "models/t.py:20: 62 to 63": MARGIN,
    "models/t.py:20: 1 to 2": MARGIN,
    "models/t.py:87: 1 to 2": "nothing is moved, over however many steps",
    "models/t.py:108: Or to And": "with one place, or no value, nothing is moved",
    "models/t.py:109: 1 to 2": "nothing is moved, over however many steps",
    "models/t.py:111: 1 to 2": MARGIN,
    "models/t.py:111: Lt to LtE": MARGIN,
    "models/t.py:147: 1 to 2": MARGIN,
    "models/t.py:147: Lt to LtE": MARGIN,
    "models/t.py:149: 1 to 2": "in a table of one row nothing is moved",
    "verification/anatomy.py:61: 0 to 1": "before the first text there is only a missing one",
    "verification/anatomy.py:61: GtE to Gt": "before the first text there is only a missing one",
    "verification/anatomy.py:62: Lt to LtE": "equal texts are no pair that differs",
    "verification/anatomy.py:62: 0 to 1": "equal texts are no pair that differs",
    "verification/anatomy.py:81: 0 to 1": "ids and their counts are equally many",
    "verification/anatomy.py:83: 0 to 1": "ids and their counts are equally many",
    "verification/anatomy.py:97: False to True": COPIED,
    "verification/anatomy.py:146: False to True": COPIED,
    "verification/anatomy.py:154: 1 to 2": NONE,
    "verification/anatomy.py:156: False to True": COPIED,
    "verification/digest.py:47: Or to And": "the texts of floats are the same, only slower",
    "verification/digest.py:72: Or to And": "the texts of texts are the same, only slower",
    "verification/digest.py:112: True to False": ALIKE,
    "verification/digest.py:167: True to False": ALIKE,
    "verification/digest.py:173: False to True": COPIED,
    "verification/digest.py:174: 2 to 3": "one place more, which counts nothing",
    "verification/digest.py:176: False to True": COPIED,
    "publish/label_parser.py:254: BitOr to BitAnd": "the type of an attribute, which is never evaluated",
    "publish/label_parser.py:287: 1 to 2": "any negative number says that there is no such value",
    "publish/label_parser.py:326: Add to Sub": "where all are stars, the last branch hides as many",
    "publish/label_parser.py:349: 1 to 2": "numpy takes any negative number for the size to be found",
    "publish/label_parser.py:410: 366 to 367": "no day lies beyond the calendar",
    "publish/label_parser.py:443: Gt to GtE": "the search begins at 1, so nothing is found at 0",
    "publish/label_parser.py:478: True to False": "labels and spans of a level are equally many",
    "publish/label_parser.py:501: 0 to 1": "a clock has an hour if and only if it has a minute",
    "verification/digest.py:200: 1 to 2": NONE,
    "verification/digest.py:200: False to True": COPIED,
    "verification/digest.py:203: BitAnd to BitOr": "rows that are in order are sorted again",
    "verification/digest.py:258: True to False": ALIKE,
    "verification/digest.py:261: True to False": ALIKE,
    "verification/digest.py:273: 1 to 2": "the buffer ends with the last offset",
    "verification/digest.py:276: And to Or": "Arrow gives both buffers, or this would raise",
    "verification/meaning.py:43: 1 to 2": NONE,
    "verification/people.py:20: 0 to 1": "a wider base, in which numbers differ as well",
    "verification/people.py:20: 1 to 2": "all numbers one higher",
    "verification/people.py:20: 2 to 3": "a wider base, in which numbers differ as well",
    "verification/people.py:20: Add to Sub": "all numbers two lower",
    "verification/people.py:21: 1 to 2": "any negative size is the one that is not given",
    "verification/people.py:27: 1 to 2": "a class more, which no row has",
    "verification/people.py:76: 1 to 2": "any negative size is the one that is not given",
    "verification/people.py:79: 1 to 2": "numbers of people are 0 or more",
    "verification/people.py:82: 0 to 1": "of nobody, a round more that changes nothing",
    "verification/people.py:87: 1 to 2": "numbers of classes are 0 or more",
    "verification/people.py:96: True to False": "looks for what cannot be there twice",
    "verification/preferences.py:107: True to False": ALIKE,
    "verification/preferences.py:115: 0 to 1": "the code of what is no value is not used",
    "verification/preferences.py:147: 0 to 1": "levels begin at 1",
    "verification/preferences.py:202: 0 to 1": "the node of level 1 is the value itself",
    "verification/rules.py:51: True to False": ALIKE,
}
"""Survivors that change nothing anybody could notice, and why; by module, line and change."""

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


def mutated(name: str, number: int) -> tuple[ast.Module, str, str | None, range]:
    """The changed module, words, the function that the change is in the body of, if any, and the lines
    of the statement."""
    tree = parsed(name)
    node, words, change = next(islice(mutations(tree), number, None))
    inside = _function_of(tree, node)
    where = f"{name}:{getattr(node, 'lineno', 0)}: {words}"
    lines = _lines_of(tree, node)
    change(node)
    return ast.fix_missing_locations(tree), where, inside, lines


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


@contextlib.contextmanager
def reached() -> Iterator[set[tuple[str, int]]]:
    """The lines of the modules that are reached meanwhile."""
    names = {str(PACKAGE / name): name for name in TARGETS}
    found: set[tuple[str, int]] = set()

    def line(frame: FrameType, _: str, __: Any) -> Any:
        found.add((names[frame.f_code.co_filename], frame.f_lineno))
        return line

    def call(frame: FrameType, event: str, _: Any) -> Any:
        return line(frame, event, None) if frame.f_code.co_filename in names else None

    usual = sys.gettrace()
    threading.settrace(call)
    sys.settrace(call)
    try:
        yield found
    finally:
        sys.settrace(usual)
        threading.settrace(usual)  # type: ignore[arg-type]


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
    ) -> None:
        self.tasks, self.kept, self.seconds, self.budget = tasks, kept, seconds, budget
        self.every = every
        self.durations: dict[str, float] = {}
        self.reaching: dict[str, set[tuple[str, int]]] = {}
        """By test, the lines of the modules that it reaches."""
        self.noticed: dict[str, list[Any]] = {}
        """By module, the tests that noticed mutants; the last ones first."""

    def pytest_collection(self) -> None:
        """Try the same examples in every process, and do not look for a smaller one that fails."""
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

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try the mutants."""
        self.time_tests(session.items)
        self.warm(session.items)
        begin = time.monotonic()
        for name, number in self.tasks:
            if time.monotonic() - begin > self.seconds:
                break
            found, where = self.outcome(session.items, name, number)
            self.kept.add(name, number, found, where)
            if found == "survived":
                print(where, flush=True)
        return True

    def time_tests(self, items: list[pytest.Item]) -> None:
        """How long each test takes and what it reaches, without any mutant; all must pass."""
        read = json.loads(TIMES.read_text()) if TIMES.exists() else {}
        digests = {name: one["digest"] for name, one in self.kept.modules.items()}
        known = read["tests"] if read.get("modules") == digests else {}
        new = [item for item in items if item.nodeid not in known]
        if new:
            reading, writing = os.pipe()
            child = os.fork()
            if not child:
                _silent()
                for i, item in enumerate(new):
                    begun = time.process_time()
                    with reached() as lines:
                        passed = _passes(item, new[i + 1] if i + 1 < len(new) else None)
                    took = time.process_time() - begun
                    found = [item.nodeid, passed, took, sorted(lines)]
                    os.write(writing, json.dumps(found).encode() + b"\n")
                os._exit(0)
            os.close(writing)
            with os.fdopen(reading, "rb") as pipe:
                heard = [json.loads(line) for line in pipe]
            os.waitpid(child, 0)
            failed = [nodeid for nodeid, passed, *_ in heard if not passed]
            assert not failed, f"these fail without any mutant: {failed}"
            known.update({nodeid: [took, lines] for nodeid, _, took, lines in heard})
            TIMES.parent.mkdir(parents=True, exist_ok=True)
            TIMES.write_text(json.dumps({"modules": digests, "tests": known}))
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

    def outcome(self, items: list[pytest.Item], name: str, number: int) -> tuple[str, str]:
        """`killed`, `survived`, `endless` or `open`, and the change."""
        changed, where, inside, lines = mutated(name, number)
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
            return ("endless" if os.WTERMSIG(status) == signal.SIGXCPU else "killed"), where
        if heard == "apart":
            return ("open" if self.budget < LIMIT else apart(name, number)), where
        if heard == "open":
            return "open", where
        if heard.isdigit():
            noticed = ordered[int(heard)]
            self.noticed[name] = [noticed, *(item for item in first if item is not noticed)][:12]
        return ("survived" if os.WEXITSTATUS(status) == 0 else "killed"), where

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


def _limited(seconds: int = LIMIT) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (min(seconds, LIMIT), LIMIT + 10))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def _silent() -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)


ARGUMENTS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no")


def apart(name: str, number: int) -> str:
    """The outcome of a mutant in a process that loads the changed module."""
    command = [sys.executable, "-m", "tests.mutants", "--one", name, str(number)]
    code = subprocess.run(command, cwd=ROOT, capture_output=True).returncode
    return "survived" if code == 0 else "endless" if code == -signal.SIGXCPU else "killed"


def try_alone(name: str, number: int) -> None:
    """Run the tests in this process, which loads the changed module, and end it."""
    changed, *_ = mutated(name, number)
    _limited()
    path = str(PACKAGE / name)
    code = compile(changed, path, "exec")
    usual = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        return code if self.path == path else usual(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    found = 3
    with contextlib.suppress(BaseException):
        found = int(pytest.main(["-x", *ARGUMENTS, "-m", "not long", *TARGETS[name]]))
    os._exit(found)


class Kept:
    """What was found, in a file; by module, as long as the module is the same."""

    LETTERS = {"killed": "k", "survived": "s", "endless": "e", "open": "o"}  # noqa: RUF012

    def __init__(self, path: Path) -> None:
        self.path = path
        before = json.loads(path.read_text())["modules"] if path.exists() else {}
        self.modules: dict[str, dict[str, Any]] = {}
        for name in sorted(TARGETS):
            text = (PACKAGE / name).read_text(encoding="utf-8")
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            if before.get(name, {}).get("digest") == digest:
                self.modules[name] = before[name]
            else:
                total = sum(1 for _ in mutations(ast.parse(text)))
                self.modules[name] = {"digest": digest, "outcomes": "." * total, "survivors": {}}

    def is_open(self, name: str, number: int, again: bool) -> bool:
        """Whether a mutant is to be tried."""
        return self.modules[name]["outcomes"][number] in ("so" if again else ".")

    def add(self, name: str, number: int, found: str, where: str) -> None:
        """Note an outcome, and write all of them."""
        one = self.modules[name]
        letters = one["outcomes"]
        one["outcomes"] = letters[:number] + self.LETTERS[found] + letters[number + 1 :]
        one["survivors"].pop(str(number), None)
        if found == "survived":
            one["survivors"][str(number)] = where
        self.write()

    def write(self) -> None:
        """Write the state; an interruption leaves the old or the new one."""
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({**self.summary(), "modules": self.modules}, indent=1) + "\n")
        new.replace(self.path)

    def summary(self) -> dict[str, Any]:
        """How many mutants there are, were tried and noticed, and which were not."""
        letters = "".join(one["outcomes"] for one in self.modules.values())
        survivors = [where for one in self.modules.values() for where in one["survivors"].values()]
        return {
            "mutants": len(letters),
            "tried": len(letters) - letters.count(".") - letters.count("o"),
            "open": letters.count("o"),
            "noticed": letters.count("k") + letters.count("e"),
            "equivalent": {where: EQUIVALENT[where] for where in survivors if where in EQUIVALENT},
            "survivors": [where for where in survivors if where not in EQUIVALENT],
        }


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", default="", help="modules whose name contains this")
    parser.add_argument("--again", action="store_true", help="those that are open or survived")
    parser.add_argument("--every", action="store_true", help="tests that do not reach it too")
    parser.add_argument("--budget", type=float, default=LIMIT, help="seconds of tests per mutant")
    parser.add_argument("--show", action="store_true", help="the counts and survivors so far")
    parser.add_argument("--one", nargs=2, metavar=("MODULE", "NUMBER"), help=argparse.SUPPRESS)
    parser.add_argument("--state", type=Path, default=RESULTS)
    asked = parser.parse_args()
    os.chdir(ROOT)
    os.environ.setdefault("SHOAL_EXAMPLES", "0.2")
    os.environ.setdefault("SHOAL_THREADS", "1")
    if asked.one:
        try_alone(asked.one[0], int(asked.one[1]))
    kept = Kept(asked.state)
    tasks = [
        (name, number)
        for name, number in mutants()
        if asked.only in name and kept.is_open(name, number, asked.again)
    ]
    if tasks and not asked.show:
        tests = sorted({test for name, _ in tasks for test in TARGETS[name]})
        mutating = Mutating(tasks, kept, asked.seconds, asked.budget, asked.every)
        pytest.main([*ARGUMENTS, "-m", "not long", *tests], plugins=[mutating])
    summary = kept.summary()
    print(json.dumps(summary, indent=1))
    sys.exit(1 if summary["survivors"] else 0)


if __name__ == "__main__":
    main()
