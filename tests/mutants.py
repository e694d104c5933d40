"""Mutation tests: is every line of what judges a release held by some test?

    python -m tests.mutants --seconds 1200          # from where the last ones stopped
    python -m tests.mutants --show                  # survivors, with their lines

Each mutant changes one operator, number, name or statement of one module, and the tests that concern it
run on the changed module in a forked process, which has all libraries loaded already. A mutant that no
test notices is a survivor: it needs a test, or a reason in `EQUIVALENT`. Mutants come in a random order
that is always the same, so a part of them is a fair sample. The state is kept outside of the repository.
"""

import argparse
import ast
import contextlib
import importlib.machinery
import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "shoal"
STATE = Path(os.environ.get("SHOAL_FUZZ_STATE", Path.home() / ".cache" / "shoal-fuzz"))
LIMIT = 180
"""Seconds of CPU after which the tests of a mutant are ended: it does not come to an end by itself."""

MODELS = ("tests/models", "tests/weights/test_estimated_k_map.py")
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
    "models/requirement.py": ("tests/models", "tests/methods/test_any_table_any_model.py"),
    "verification/check.py": ("tests/verification", "tests/models", "tests/people/test_counts.py"),
    "verification/people.py": ("tests/people/test_counts.py", "tests/people/test_methods.py"),
    "verification/rules.py": ("tests/verification", "tests/policy/test_date_and_zip_rules.py"),
    "verification/preferences.py": ("tests/personal", "tests/verification"),
    "verification/meaning.py": ("tests/verification", "tests/publish/test_label_parser.py"),
    "verification/anatomy.py": ("tests/anatomy", "tests/verification"),
    "verification/digest.py": ("tests/verification/test_digest.py",),
    "publish/label_parser.py": ("tests/publish", "tests/truth"),
}
"""The modules that are mutated, and the tests that must notice."""

EQUIVALENT: dict[str, str] = {}
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


def mutants(seed: int = 1) -> list[tuple[str, int]]:
    """(module, number) of all mutants, shuffled."""
    found = [
        (name, i)
        for name in sorted(TARGETS)
        for i, _ in enumerate(mutations(ast.parse((PACKAGE / name).read_text(encoding="utf-8"))))
    ]
    random.Random(seed).shuffle(found)
    return found


def outcome(name: str, number: int) -> tuple[str, str]:
    """`killed`, `survived` or `endless`, and the change."""
    path = PACKAGE / name
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node, words, change = next(islice(mutations(tree), number, None))
    where = f"{name}:{getattr(node, 'lineno', 0)}: {words}"
    change(node)
    child = os.fork()
    if not child:
        _try(path, tree, TARGETS[name])
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return ("endless" if os.WTERMSIG(status) == signal.SIGXCPU else "killed"), where
    return ("survived" if os.WEXITSTATUS(status) == 0 else "killed"), where


def _try(path: Path, changed: ast.Module, tests: tuple[str, ...]) -> None:
    """Run the tests on the changed module, in this process, and end it."""
    import resource

    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 10))
    code = compile(ast.fix_missing_locations(changed), str(path), "exec")
    usual = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        return code if self.path == str(path) else usual(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not long", *tests]
    code_ = 3
    with contextlib.suppress(BaseException):
        code_ = int(pytest.main(arguments))
    os._exit(code_)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", help="modules whose name contains this")
    parser.add_argument("--show", action="store_true", help="the counts and survivors so far")
    parser.add_argument("--state", type=Path, default=STATE / "mutants.json")
    parser.add_argument("--summary", type=Path)
    asked = parser.parse_args()
    os.chdir(ROOT)
    os.environ["SHOAL_EXAMPLES"] = os.environ.get("SHOAL_EXAMPLES", "0.3")
    kept: dict[str, Any] = json.loads(asked.state.read_text()) if asked.state.exists() else {}
    if not asked.show:
        import duckdb  # noqa: F401 - loaded once, before any fork
        import hypothesis  # noqa: F401
        import pandas  # noqa: F401
        import pyarrow.compute  # noqa: F401
        import pydantic  # noqa: F401
        import pytest  # noqa: F401

        begin = time.monotonic()
        for name, number in mutants():
            key = f"{name}#{number}"
            if key in kept or (asked.only and asked.only not in name):
                continue
            if time.monotonic() - begin > asked.seconds:
                break
            found, where = outcome(name, number)
            kept[key] = {"outcome": found, "where": where}
            asked.state.parent.mkdir(parents=True, exist_ok=True)
            asked.state.write_text(json.dumps(kept, indent=1))
            if found == "survived":
                print(where, flush=True)
    summary = summarised(kept)
    if asked.summary:
        asked.summary.write_text(json.dumps(summary, indent=1) + "\n")
    print(json.dumps(summary, indent=1))
    sys.exit(1 if summary["survivors"] else 0)


def summarised(kept: dict[str, Any]) -> dict[str, Any]:
    """How many mutants there are, were tried and noticed, and which were not."""
    survivors = sorted(each["where"] for each in kept.values() if each["outcome"] == "survived")
    open_ = [where for where in survivors if where not in EQUIVALENT]
    return {
        "mutants": len(mutants()),
        "tried": len(kept),
        "noticed": len(kept) - len(survivors),
        "equivalent": {where: EQUIVALENT[where] for where in survivors if where in EQUIVALENT},
        "survivors": open_,
    }


if __name__ == "__main__":
    main()
