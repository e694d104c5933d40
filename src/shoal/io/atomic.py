"""Nothing half-written: a file appears under its name only when it is whole and checked.

The work goes to a temporary file beside the target (so that the move stays on one disk and cannot
be half done). Whatever ends the block before `commit` - an error, Ctrl-C, SIGTERM - removes it.
What a kill -9 or a power cut left is removed by the next run for the same target.
"""

import os
import shutil
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from shoal.errors import InputError
from shoal.io.hidden import left_behind, own_names


class Replacement:
    """A target and the temporary file that will take its place."""

    def __init__(self, target: Path, temporary: Path, old: Path, force: bool) -> None:
        self.path = temporary
        """Where to write; it ends as the target does, so its format is told alike."""
        self._target = target
        self._old = old
        self._force = force
        self._written: os.stat_result | None = None

    def commit(self) -> None:
        """Move what is finished into place; if that fails, what was there before stays."""
        commit_all([self])

    def move(self) -> None:
        """Move the file into place, its bytes safe on the disk first; the old one is kept aside."""
        sync(self.path)
        self._written = self.path.stat()
        if self._target.exists():
            try:
                os.link(self._target, self._old)
            except OSError:  # a disk without hard links
                shutil.copy2(self._target, self._old)
        if self._force:
            self.path.replace(self._target)
        else:
            self._move_if_free()
        sync(self._target.parent)

    def back(self) -> None:
        """Undo `move`, however far it came."""
        if not self._is_moved():
            self.forget()
        elif self._old.exists():
            self._old.replace(self._target)
        else:
            self._target.unlink()

    def forget(self) -> None:
        """Remove the old one that was kept aside."""
        self._old.unlink(missing_ok=True)

    def _is_moved(self) -> bool:
        """Whether what stands in the target's place is ours."""
        try:
            return self._written is not None and os.path.samestat(
                self._written, self._target.lstat()
            )
        except FileNotFoundError:
            return False

    def _move_if_free(self) -> None:
        """Like a move, but a file that came to the target's place meanwhile stays."""
        try:
            os.link(self.path, self._target)
        except OSError:
            # Taken, or a disk without hard links.
            check_target(self._target, self._force)
            self.path.replace(self._target)
        else:
            self.path.unlink()


def commit_all(parts: Sequence[Replacement]) -> None:
    """Move all into place, or none; what they replace is removed only when all are there."""
    with ExitStack() as after:  # each step is tried, even if another fails
        try:
            for part in parts:
                part.move()
        except BaseException:
            for part in parts:
                after.callback(part.back)
            raise
        for part in parts:
            after.callback(part.forget)


def check_target(target: Path, force: bool, source: Path | None = None) -> None:
    """Raise an InputError unless the target may be written; to be asked before any work.

    `source` is the input: it is never overwritten, not even by force.
    """
    folder = target.parent
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"{target} cannot be written: {folder} {what}. Create it first.")
    if target.is_dir():
        raise InputError(f"{target} is a directory. Name a file in it.")
    if source is not None and _same_file(source, target):
        raise InputError(f"{target} is the input itself. Write to another file.")
    if source is not None:
        refuse_inside(target, source)
    if os.path.lexists(target) and not force:
        raise InputError(
            f"{target} exists already. Pass --force (in Python force=True) to replace it."
        )
    if not os.access(folder, os.W_OK):
        raise InputError(f"{target} cannot be written: no right to write into {folder}.")


def refuse_inside(target: Path, source: Path) -> None:
    """Raise an InputError where the target would lie among the part files of the input."""
    if source.is_dir() and source.resolve() in target.resolve().parents:
        raise InputError(
            f"{target} lies in the input folder {source}: it would become a part of that table. Write "
            "to another folder."
        )


def _same_file(source: Path, target: Path) -> bool:
    try:
        return source.samefile(target)
    except OSError:
        return source.absolute() == target.absolute()


@contextmanager
def replacing(target: Path, force: bool, source: Path | None = None) -> Iterator[Replacement]:
    """A temporary path beside `target`, moved into place by `commit()` and else removed."""
    check_target(target, force, source)
    # Through a link to the file it points at, and never the link replaced by a file.
    target = target.resolve()
    for other, _ in left_behind(target):
        other.unlink(missing_ok=True)
    with ended_as_exit(), own_names(target) as (temporary, old):
        _make(temporary, target)
        try:
            yield Replacement(target, temporary, old, force)
        finally:
            temporary.unlink(missing_ok=True)


def _make(temporary: Path, target: Path) -> None:
    """Make the file, which nobody else may have made."""
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}.") from None


@contextmanager
def ended_as_exit() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the block as Ctrl-C does, where nobody else handles them."""
    taken: list[signal.Signals] = []
    # Only a main thread may set handlers.
    if threading.current_thread() is threading.main_thread():
        known = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP"))
        taken = [s for s in known if s is not None and signal.getsignal(s) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _leave)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _leave(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - as signal calls it
    # 128 + n is how a shell reports a process that a signal ended.
    raise SystemExit(128 + number)


def sync(path: Path) -> None:
    """Make the system write a file or a folder through to the disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:
        # Windows opens no folder; there the move itself is safe.
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
