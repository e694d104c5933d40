"""The policy file is the only state: steps are named, undone, redone, and survive a restart."""

import errno
import os
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from shoal.errors import PolicyError
from shoal.studio.columns_text import (
    ROWS_ARE_PEOPLE,
    person_answer,
    person_column,
    with_person,
    with_role,
    with_rows_as_people,
)
from shoal.studio.constraints import constraints_in, figure_step, with_figure, with_key
from shoal.studio.workspace import ELSEWHERE, Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    shutil.copytree(str(files("shoal.sample")), tmp_path / "sample")
    return Workspace.open(tmp_path / "sample" / "policy.yaml")


def set_k(workspace: Workspace, figure: int) -> None:
    one = constraints_in(workspace.text)[0]
    workspace.edit(figure_step(one, figure), with_figure(one, figure))


def ks(workspace: Workspace) -> tuple[float | None, float]:
    """The k of the text on disk, and of the policy."""
    text = workspace.policy_file.read_text(encoding="utf-8")
    assert workspace.policy is not None
    return constraints_in(text)[0].figure, workspace.policy.constraints[0].figure


def test_every_step_is_on_disk_and_named(workspace: Workspace) -> None:
    for figure in (8, 11):
        set_k(workspace, figure)
    assert ks(workspace) == (11, 11)
    assert [step.name for step in workspace.steps] == ["opened", "k 5 → 8", "k 8 → 11"]
    assert [(m, line.split("#")[0].strip()) for m, line in workspace.difference if m in "+-"] == [
        ("-", "- {k: 8}"),
        ("+", "- {k: 11}"),
    ]


def test_undo_and_redo_without_limit_across_a_restart(workspace: Workspace) -> None:
    for figure in range(6, 40):
        set_k(workspace, figure)
    for _ in range(20):
        workspace.undo()
    assert ks(workspace) == (19, 19)
    again = Workspace.open(workspace.policy_file)
    assert (again.can_undo, again.can_redo) == ("k 18 → 19", "k 19 → 20")
    for _ in range(14):
        again.undo()
    again.undo()
    assert ks(again) == (5, 5)
    for _ in range(34):
        again.redo()
    assert ks(again) == (39, 39)
    assert not again.can_redo
    set_k(again, 4)
    assert not again.can_redo
    assert oct(again.steps_file.stat().st_mode & 0o777) == "0o600"


def test_a_change_that_is_not_valid_changes_nothing(workspace: Workspace) -> None:
    before = workspace.text
    with pytest.raises(PolicyError, match=r"policy\.yaml:\d+: .*suppression"):
        workspace.edit("nonsense", with_key("suppression", 7))
    assert workspace.text == before == workspace.policy_file.read_text(encoding="utf-8")
    assert len(workspace.steps) == 1


def test_what_another_program_writes_is_a_step(workspace: Workspace) -> None:
    set_k(workspace, 8)
    text = workspace.text.replace("k: 8", "k: 9")
    workspace.policy_file.write_text(text, encoding="utf-8")
    assert workspace.look()
    assert not workspace.look()
    assert workspace.last_step == ELSEWHERE
    assert ks(workspace) == (9, 9)
    workspace.policy_file.write_text("columns: [", encoding="utf-8")
    assert workspace.look()
    assert workspace.policy is None
    assert "policy.yaml" in workspace.error
    workspace.undo()
    assert ks(workspace) == (9, 9)
    # while the studio was not running
    workspace.policy_file.write_text(text.replace("k: 9", "k: 7"), encoding="utf-8")
    again = Workspace.open(workspace.policy_file)
    assert ks(again) == (7, 7)
    again.undo()
    assert ks(again) == (9, 9)


def test_the_policy_must_fit_the_table(workspace: Workspace) -> None:
    workspace.knows(("age", "unknown"))
    assert workspace.policy is None
    assert "unknown" in workspace.error


def test_a_full_disk_loses_nothing(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        set_k(workspace, 8)
    assert "no space left" in workspace.unsaved
    assert ks(workspace) == (5, 8)
    assert [path.name for path in workspace.policy_file.parent.glob(".policy*")] == []
    assert not workspace.look()  # what is here is newer, and is written now
    assert workspace.unsaved == ""
    assert ks(workspace) == (8, 8)
    assert Workspace.open(workspace.policy_file).can_undo == "k 5 → 8"


def test_steps_that_cannot_be_read_are_begun_anew(workspace: Workspace) -> None:
    for broken in ("", "{", '{"steps": []}', '{"steps": [{"name": 1}], "position": 0}'):
        workspace.steps_file.write_text(broken, encoding="utf-8")
        assert Workspace.open(workspace.policy_file).last_step == "opened"


def test_a_draft_waits_for_roles_and_can_be_changed_meanwhile(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(
        "# A draft for t.csv\ncolumns:\n  id: person\n  age: quasi\n  a: undecided\n  b: undecided\n"
        "constraints:\n  - {k: 5}\n",
        encoding="utf-8",
    )
    draft = Workspace.open(file)
    assert draft.policy is None
    assert draft.undecided == ("a", "b")
    assert person_column(draft.text) == "id"
    assert person_answer(draft.text) == ""  # proposed is not answered
    assert draft.replace("one person is one id", with_person(draft.text, "id"))
    assert person_answer(draft.text) == "id"
    assert draft.undecided == ("a", "b")
    assert draft.edit("a: undecided → plain", with_role("a", "plain"))
    assert draft.undecided == ("b",)
    with pytest.raises(PolicyError):
        draft.edit("k 5 → 0", with_key("constraints", []))
    draft.edit("b: undecided → identifier", with_role("b", "identifier"))
    assert draft.undecided == ()
    assert draft.policy is not None
    assert draft.replace("one row is one person", with_rows_as_people(draft.text))
    assert person_answer(draft.text) == ROWS_ARE_PEOPLE
    assert "id: identifier" in draft.text
    assert draft.text.count("one person") == 1  # the other answer went
