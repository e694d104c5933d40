"""Mutation tests: what was found of a module is kept for as long as its functions are the same."""

import json
from pathlib import Path

import pytest

from tests import mutants

MODULE = """\
MOST = 3

def few(n):
    return n < MOST

def many(n):
    if n > MOST:
        return n + 1
    return 0
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state in which all mutants of a module were noticed, and one of them was not."""
    (tmp_path / "counting.py").write_text(MODULE)
    monkeypatch.setattr(mutants, "PACKAGE", tmp_path)
    monkeypatch.setattr(mutants, "TARGETS", {"counting.py": ("tests",)})
    state = mutants.Kept(tmp_path / "state.json")
    for number in range(len(state.listed["counting.py"])):
        state.add("counting.py", number, "survived" if number == 0 else "killed")
    return tmp_path


def left(folder: Path) -> list[str]:
    """The mutants that are to be tried."""
    state = mutants.Kept(folder / "state.json")
    one = state.modules["counting.py"]["outcomes"]
    return [
        where
        for letter, (where, _) in zip(one, state.listed["counting.py"], strict=True)
        if letter == "."
    ]


def test_nothing_is_tried_again_where_nothing_changed(kept: Path) -> None:
    assert left(kept) == []
    assert json.loads((kept / "state.json").read_text())["survivors"] == ["counting.py:1: 3 to 4"]


def test_lines_may_move(kept: Path) -> None:
    (kept / "counting.py").write_text('"""Counting."""\n\n' + MODULE)
    assert left(kept) == []
    found = mutants.Kept(kept / "state.json").summary()
    assert found["survivors"] == ["counting.py:3: 3 to 4"]


def test_a_function_that_changed_begins_anew(kept: Path) -> None:
    (kept / "counting.py").write_text(MODULE.replace("n > MOST", "n >= MOST"))
    assert {where.split(":")[1] for where in left(kept)} == {"7", "8", "9"}
