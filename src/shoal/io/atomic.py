"""Nothing half-written: a file appears under its name only when it is whole and checked.

The work goes to a temporary file beside the target (so that the move stays on one disk and cannot
be half done). Whatever ends the block before `commit` - an error, Ctrl-C, SIGTERM - removes it.
What a kill -9 or a power cut left is removed by the next run for the same target.
"""

import os
import re
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from shoal.errors import InputError

MARK = "shoal-tmp"


class Replacement:
    """A target and the temporary file that will take its place."""

    def __init__(self, target: Path, temporary: Path, force: bool) -> None:
        self.path = temporary
        """Where to write; it ends as the target does, so its format is told alike."""
        self._target = target
        self._force = force

    def commit(self) -> None:
        """Move the finished file into place, its bytes safe on the disk first."""
        sync(self.path)
        if self._force:
            self.path.replace(self._target)
        else:
            self._move_if_free()
        sync(self._target.parent)

    def way_back(self, after: ExitStack) -> Callable[[], None]:
        """To be asked before `commit`: how to bring back what it replaces; `after` tidies up."""
        kept: Path | None = None
        if self._target.exists():
            # named as our temporary files are, so that a later run removes what a kill -9 left
            kept = self.path.with_name(f".old.{MARK}".join(self.path.name.rsplit(f".{MARK}", 1)))
            kept.unlink(missing_ok=True)
            after.callback(kept.unlink, missing_ok=True)
            try:
                os.link(self._target, kept)
            except OSError:  # a disk without hard links
                shutil.copy2(self._target, kept)

        def back() -> None:
            if self.path.exists() and not _same_file(self.path, self._target):
                return  # never moved
            if kept is not None:
                kept.replace(self._target)
            else:
                self._target.unlink(missing_ok=True)

        return back

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
    ending = "".join(target.suffixes[-2:]) if target.suffix == ".gz" else target.suffix
    _remove_stale(target, ending)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{MARK}{ending}")
    with ended_as_exit():
        try:
            yield Replacement(target, temporary, force)
        finally:
            temporary.unlink(missing_ok=True)


def _remove_stale(target: Path, ending: str) -> None:
    """Remove temporary files for this target whose process is gone."""
    shape = re.compile(rf"\.{re.escape(target.name)}\.(\d+)(?:\.old)?\.{MARK}{re.escape(ending)}")
    for other in target.parent.iterdir():
        found = shape.fullmatch(other.name)
        if found and not is_alive(int(found[1])):
            other.unlink(missing_ok=True)


def is_alive(pid: int) -> bool:
    """Whether a process of this number runs that is not ours."""
    if pid == os.getpid():
        # Ours begins only now: this one is of an earlier process with our number.
        return False
    if os.name == "nt":
        # There, asking in this way would end the process.
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


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
