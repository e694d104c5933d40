"""The policy file: the only state of the studio, with every step that led to it.

Each step has a name, such as `k 5 → 8`, and the whole text of the policy after it. The steps are kept
in a private file beside the policy, so that they can be undone and redone after a restart too. Another
program may edit the policy meanwhile: that is a step like any other.
"""

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml.comments import CommentedMap

from shoal import api
from shoal.errors import PolicyError
from shoal.studio import policy_text
from shoal.studio.columns_text import roles_in, with_role

if TYPE_CHECKING:
    from shoal.api import Policy

ELSEWHERE = "edited in another program"


@dataclass(frozen=True)
class Step:
    """A named change of the policy, with the text after it."""

    name: str
    text: str


@dataclass
class Workspace:
    """The policy of one table, its text on disk and its steps."""

    policy_file: Path
    columns: tuple[str, ...] | None = None
    """The table's columns, once they are known: the policy must fit them."""
    steps: list[Step] = field(default_factory=list)
    position: int = -1
    """The step that the policy is at; later ones can be done again."""
    policy: "Policy | None" = None
    """The policy, as long as its text is valid."""
    error: str = ""
    """What is wrong with the text of the policy, in the words of the command line."""
    undecided: tuple[str, ...] = ()
    """The columns that wait for a role, where nothing else is wrong."""
    written: dict[str, Any] | None = None
    """The release that was written last, for `Session.written_before`."""
    unsaved: str = ""
    """Why the policy could not be written to its file; it is tried again with the next step."""

    @classmethod
    def open(cls, policy_file: Path) -> "Workspace":
        """The policy in a file, with the steps of earlier sessions."""
        found = cls(policy_file)
        text = found._on_disk()
        with suppress(OSError, ValueError, KeyError, TypeError):
            kept = json.loads(found.steps_file.read_text(encoding="utf-8"))
            found.steps = [Step(str(one["name"]), str(one["text"])) for one in kept["steps"]]
            found.position = int(kept["position"])
            found.written = kept.get("written")
            if not 0 <= found.position < len(found.steps):
                found.steps, found.position = [], -1
        if not found.steps:
            found.steps, found.position = [Step("opened", text)], 0
        elif found.text != text:
            found._append(Step(ELSEWHERE, text))
        found._read()
        return found

    @property
    def steps_file(self) -> Path:
        """Where the steps are kept: hidden, and readable by its owner alone."""
        return self.policy_file.with_name(f".{self.policy_file.name}.steps")

    @property
    def text(self) -> str:
        """The policy as YAML."""
        return self.steps[self.position].text

    @property
    def last_step(self) -> str:
        """The name of the step that led here."""
        return self.steps[self.position].name

    @property
    def difference(self) -> list[tuple[str, str]]:
        """The lines that the last step changed."""
        if self.position == 0:
            return []
        return policy_text.difference(self.steps[self.position - 1].text, self.text)

    @property
    def can_undo(self) -> str:
        """The name of the step that would be undone; empty if there is none."""
        return self.steps[self.position].name if self.position > 0 else ""

    @property
    def can_redo(self) -> str:
        """The name of the step that would be done again; empty if there is none."""
        later = self.position + 1
        return self.steps[later].name if later < len(self.steps) else ""

    def check(self, text: str) -> "Policy":
        """The policy in a text, by the rules of the command line; raises `PolicyError`."""
        return api.read_policy(
            text, name=self.policy_file.name, folder=self.policy_file.parent, columns=self.columns
        )

    def preview(self, change: policy_text.Change) -> str:
        """The text that a change would give, valid or not; nothing is changed."""
        return policy_text.changed(self.text, change)

    def edit(self, name: str, change: policy_text.Change) -> bool:
        """Change the policy; returns whether anything changed.

        Raises `PolicyError`, and changes nothing, where the result would not be valid.
        """
        return self.replace(name, self.preview(change))

    def replace(self, name: str, text: str) -> bool:
        """Put another text in place of the policy; as `edit`."""
        if text == self.text:
            return False
        policy = None
        try:
            policy = self.check(text)
        except PolicyError as error:
            # a policy with mistakes is mended one by one, and one that waits for roles may wait on
            better = len(str(error)) < len(self.error) or self._only_undecided(text)
            if self.policy is not None or not better:
                raise
        self._append(Step(name, text))
        if policy is None:
            self._read()
        else:
            self.policy, self.error, self.undecided = policy, "", ()
        self.save()
        return True

    def undo(self) -> None:
        """Go back one step."""
        if self.can_undo:
            self.position -= 1
            self._read()
            self.save()

    def redo(self) -> None:
        """Do the step again that was undone last."""
        if self.can_redo:
            self.position += 1
            self._read()
            self.save()

    def knows(self, columns: tuple[str, ...]) -> None:
        """Take the columns of the table, and check the policy against them."""
        self.columns = columns
        self._read()

    def look(self) -> bool:
        """Take over what another program wrote into the file; returns whether it did."""
        if self.unsaved:  # what is here is newer
            self.save()
            return False
        try:
            text = self._on_disk()
        except PolicyError:
            return False
        if text == self.text:
            return False
        self._append(Step(ELSEWHERE, text))
        self._read()
        self._save_steps()
        return True

    def save(self) -> None:
        """Write the policy and its steps; `unsaved` says why that was not possible."""
        try:
            _write(self.policy_file, self.text)
            self.unsaved = ""
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            self.unsaved = (
                f"{self.policy_file.name} could not be written: {reason}. Your steps are kept here "
                "and written as soon as that is possible; do not stop the studio before."
            )
            return
        self._save_steps()

    def keep_written(self, written: dict[str, Any]) -> None:
        """Keep what was written, beside the steps."""
        self.written = written
        self._save_steps()

    def _save_steps(self) -> None:
        kept = {
            "written": self.written,
            "position": self.position,
            "steps": [{"name": one.name, "text": one.text} for one in self.steps],
        }
        try:
            _write(self.steps_file, json.dumps(kept, ensure_ascii=False), private=True)
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            self.unsaved = f"The steps could not be written to {self.steps_file.name}: {reason}."

    def _append(self, step: Step) -> None:
        self.steps = [*self.steps[: self.position + 1], step]
        self.position += 1

    def _read(self) -> None:
        self.undecided = ()
        try:
            self.policy, self.error = self.check(self.text), ""
        except PolicyError as error:
            self.policy, self.error = None, str(error)
            self.undecided = self._only_undecided(self.text)

    def _only_undecided(self, text: str) -> tuple[str, ...]:
        """The columns without a decision, if the policy would be valid with them left out."""
        try:
            names = [name for name, role in roles_in(text).items() if role == "undecided"]

            def decide(policy: CommentedMap) -> None:
                for name in names:
                    with_role(name, "identifier", settings=False)(policy)

            self.check(policy_text.changed(text, decide))
        except PolicyError:
            return ()
        return tuple(names)

    def _on_disk(self) -> str:
        try:
            return self.policy_file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            words = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror
            raise PolicyError(f"{self.policy_file}: cannot be read: {words}.") from None


def _write(path: Path, text: str, private: bool = False) -> None:
    """Write a file in one step: it is the old one or the new one, whatever happens."""
    mode = 0o600 if private or not path.exists() else path.stat().st_mode & 0o777
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
