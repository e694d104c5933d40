"""Names beside a target under which one run alone works on it, and what dead runs left there.

A name tells host, process and a random token. So two runs never share one, be they threads of one
process or containers that number their processes alike; and what is removed is surely nobody's.
"""

import os
import platform
import re
import secrets
import shutil
import signal
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import NoReturn

from shoal.errors import InputError

MARK = "shoal-tmp"
_live: set[str] = set()
"""The tokens this process works under."""


@contextmanager
def own_names(target: Path) -> Iterator[tuple[Path, Path]]:
    """Two names: for what will take the target's place, and for what it replaces.

    They end as the target does, so that their format is told alike.
    """
    token = secrets.token_hex(6)
    whose = f".{target.name}.{os.getpid()}.{_host()}.{token}"
    last = f".{MARK}{_ending(target)}"
    _live.add(token)
    try:
        yield target.with_name(whose + last), target.with_name(f"{whose}.old{last}")
    finally:
        _live.discard(token)


def left_behind(target: Path) -> Iterator[tuple[Path, bool]]:
    """What dead processes of this host left for a target; whether it is what they had put aside."""
    shape = re.compile(
        rf"\.{re.escape(target.name)}\.(\d+)\.{_host()}\.([0-9a-f]+)(\.old)?"
        rf"\.{MARK}{re.escape(_ending(target))}"
    )
    for other in sorted(target.parent.iterdir()):
        found = shape.fullmatch(other.name)
        if found and not _is_alive(int(found[1]), found[2]):
            yield other, bool(found[3])


def _ending(target: Path) -> str:
    return "".join(target.suffixes[-2:]) if target.suffix == ".gz" else target.suffix


@cache
def _host() -> str:
    """What tells apart where process numbers mean different things: hosts, and their containers."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:  # not Linux
        space = ""
    return f"{zlib.crc32(f'{platform.node()} {space}'.encode()):08x}"


def _is_alive(pid: int, token: str) -> bool:
    """Whether a run may still go on; under our own number it may be one of an earlier process."""
    if pid == os.getpid():
        return token in _live
    if os.name == "nt":
        # There, asking in this way would end the process.
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


# Nothing half-written: a file appears under its name only when it is whole and checked.


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


# Nothing half-written, for folders: one appears under its name only when it is whole and checked.


class FolderReplacement(Replacement):
    """A target and the hidden folder that will take its place; the folder is made by who writes it."""

    def move(self) -> None:
        """Move the finished folder into place; what stood there is put aside."""
        sync(self.path)
        check_folder(self._target, self._force)
        self._written = self.path.stat()
        if os.path.lexists(self._target):
            self._target.rename(self._old)
        self.path.rename(self._target)
        sync(self._target.parent)

    def back(self) -> None:
        """Undo `move`, however far it came: the disk tells that, for an interrupt comes anywhere."""
        if self._is_moved():
            self._target.rename(self.path)
        if os.path.lexists(self._old) and not os.path.lexists(self._target):
            self._old.rename(self._target)

    def forget(self) -> None:
        """Remove what was put aside."""
        _remove(self._old)


def check_folder(target: Path, force: bool, sources: Sequence[Path] = ()) -> None:
    """Raise an InputError unless the folder may be written; to be asked before any work.

    `sources` are the input: neither they nor what holds them is replaced, not even by force.
    """
    parent = target.parent
    if not parent.is_dir():
        what = "is not a folder" if parent.exists() else "does not exist"
        raise InputError(f"{target} cannot be written: {parent} {what}. Create it first.")
    whole = target.resolve()
    for source in sources:
        if source.resolve() == whole or whole in source.resolve().parents:
            raise InputError(f"{target} is the input itself, or holds it. Write to another folder.")
        refuse_inside(target, source)
    if os.path.lexists(target) and not force:
        raise InputError(
            f"{target} exists already. Pass --force (in Python force=True) to replace it."
        )
    if not os.access(parent, os.W_OK):
        raise InputError(f"{target} cannot be written: no right to write into {parent}.")


@contextmanager
def replacing_folder(
    target: Path, force: bool, sources: Sequence[Path] = ()
) -> Iterator[FolderReplacement]:
    """A hidden path beside `target` for a folder to be, moved into place by `commit()`, else removed."""
    check_folder(target, force, sources)
    target = target.resolve()
    _tidy(target)
    with ended_as_exit(), own_names(target) as (hidden, old):
        try:
            yield FolderReplacement(target, hidden, old, force)
        finally:
            _remove(hidden)


def _tidy(target: Path) -> None:
    """Remove what dead processes left for this target; bring back what they had put aside."""
    for other, is_old in left_behind(target):
        if is_old and not os.path.lexists(target):
            with suppress(FileNotFoundError):  # another run was first
                other.rename(target)
        else:
            _remove(other)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


# Files that belong together: all of them appear, or none.


class Replacements:
    """Several targets and the temporary files that will take their places."""

    def __init__(self, parts: Sequence[Replacement]) -> None:
        self._parts = parts

    @property
    def paths(self) -> list[Path]:
        """Where to write, in the order of the targets."""
        return [part.path for part in self._parts]

    def commit(self) -> None:
        """Move all finished files into place; if one cannot, what was there before stays."""
        commit_all(self._parts)


def check_targets(
    targets: Sequence[Path], force: bool, source: Path | None = None, folder: bool = False
) -> None:
    """Raise an InputError unless all targets may be written; to be asked before any work.

    folder: the first of them is one.
    """
    folders, files = (targets[:1], targets[1:]) if folder else ((), targets)
    for target in folders:
        check_folder(target, force, [] if source is None else [source])
        if inside := [file for file in files if target.resolve() in file.resolve().parents]:
            raise InputError(
                f"{inside[0]} lies in {target}, which is made anew. Name another place."
            )
    for target in files:
        check_target(target, force, source)


@contextmanager
def replacing_all(
    targets: Sequence[Path], force: bool, source: Path | None = None, folder: bool = False
) -> Iterator[Replacements]:
    """Like `atomic.replacing`, for files that belong together; all are asked for before any work.

    folder: the first of them is one.
    """
    check_targets(targets, force, source, folder)
    folders, files = (targets[:1], targets[1:]) if folder else ((), targets)
    sources = [] if source is None else [source]
    with ExitStack() as stack:
        yield Replacements(
            [
                *(stack.enter_context(replacing_folder(t, force, sources)) for t in folders),
                *(stack.enter_context(replacing(t, force, source)) for t in files),
            ]
        )
