"""Atomic output: files and folders appear under their names only when they are complete and verified.

A run writes under temporary names next to its targets and then moves all of them into place, or none:
next to them, so that a move stays on one disk and cannot be half done. Whatever ends the run before
(an error, Ctrl-C, SIGTERM) removes the temporary files; what a kill -9 or a power cut left is removed
by the next run that writes into the same folder. Only their owner may read temporary files.

Several files cannot be moved at once. While they are moved, a journal next to them names them all; a
kill -9 in between leaves it behind, and `require_whole` recognises files of two releases by it.

A temporary name contains the host, the process and a random token, so two runs never share one, even
as threads of one process or in containers with equal process ids; and what dead processes left can be
removed safely.
"""

import json
import os
import platform
import re
import secrets
import shutil
import signal
import stat
import threading
import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import NoReturn

from shoal.errors import InputError, VerificationFailed, listed
from shoal.interruption import begin, committing, removing

MARK = "shoal-tmp"
TEMPORARY = re.compile(rf"\.(.+)\.(\d+)\.([0-9a-f]{{8}})\.([0-9a-f]{{12}})(\.\w+)?\.{MARK}.*", re.S)
"""A temporary name: its target, process, host, token, and what it is where it is not the new file."""
BACKUP, JOURNAL = ".old", ".moving"
BESIDE = ("-journal", "-wal", "-shm", ".wal")
"""What SQLite and DuckDB add to the name of a database for files beside it."""
PUBLIC, PRIVATE = 0o666, 0o600
"""Permissions of a new file, before the user's mask."""
_live: set[str] = set()
"""The tokens of this process's unfinished runs."""


@contextmanager
def temporary_names(target: Path) -> Iterator[tuple[Path, Path]]:
    """Two names: for what will replace the target, and for a backup of it.

    They have the target's extension, so that they have its format.
    """
    token = secrets.token_hex(6)
    prefix = f".{target.name}.{os.getpid()}.{_host()}.{token}"
    last = f".{MARK}{_ending(target)}"
    _live.add(token)
    try:
        yield target.with_name(prefix + last), target.with_name(f"{prefix}{BACKUP}{last}")
    finally:
        _live.discard(token)


@dataclass(frozen=True)
class StalePath:
    """Something that a dead process of this host left in a folder."""

    path: Path
    target: Path
    kind: str
    """BACKUP, JOURNAL, or empty for an unfinished file."""


def stale_paths(folder: Path) -> Iterator[StalePath]:
    """What dead processes of this host left in a folder."""
    for other in sorted(folder.iterdir()):
        found = TEMPORARY.fullmatch(other.name)
        if found and found[3] == _host() and not _is_alive(int(found[2]), found[4]):
            yield StalePath(other, other.with_name(found[1]), found[5] or "")


def final_path(path: Path) -> Path:
    """The target of a temporary name, for messages; any other path as it is."""
    made = TEMPORARY.fullmatch(path.name)
    return path.with_name(made[1]) if made else path


def _ending(target: Path) -> str:
    return "".join(target.suffixes[-2:]) if target.suffix == ".gz" else target.suffix


@cache
def _host() -> str:
    """A name for the space in which process ids are unique: a host, or one of its containers."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:  # not Linux
        space = ""
    return f"{zlib.crc32(f'{platform.node()} {space}'.encode()):08x}"


def _is_alive(pid: int, token: str) -> bool:
    """Whether a run may still go on; with our own process id it may be that of an earlier process."""
    if pid == os.getpid():
        return token in _live
    if os.name == "nt":
        # there, this check would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


class Part(ABC):
    """One of the things that a run puts in place together."""

    @abstractmethod
    def move(self) -> None:
        """Put it in place."""

    @abstractmethod
    def undo(self) -> None:
        """Undo `move`, however far it got."""

    @abstractmethod
    def discard_backup(self) -> None:
        """Remove what only `undo` needs."""

    @property
    def target(self) -> Path | None:
        """The file or folder that it becomes; None for tables of a database."""
        return None


class Replacement(Part):
    """A target and the temporary file that will replace it."""

    def __init__(
        self, target: Path, temporary: Path, old: Path, force: bool, mode: int | None = None
    ) -> None:
        """`mode`: the permissions that the finished file gets; None where it has them."""
        self._mode = mode
        self.path = temporary
        """Where to write; it has the target's extension, and so its format."""
        self._target = target
        self._old = old
        self._force = force
        self._written: os.stat_result | None = None

    @property
    def target(self) -> Path:
        """The file that it becomes."""
        return self._target

    def commit(self) -> None:
        """Move the finished file into place; if that fails, the old one stays."""
        commit_all([self])

    def move(self) -> None:
        """Move the file into place, after its bytes are safe on the disk; the old one is backed up."""
        if self._mode is not None:  # it is complete and verified
            self.path.chmod(self._mode)
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

    def undo(self) -> None:
        """Undo `move`, however far it got."""
        if not self._is_moved():
            self.discard_backup()
        elif self._old.exists():
            self._old.replace(self._target)
        else:
            self._target.unlink()

    def discard_backup(self) -> None:
        """Remove the backup of the old file."""
        self._old.unlink(missing_ok=True)

    def _is_moved(self) -> bool:
        """Whether the file in the target's place is ours."""
        try:
            return self._written is not None and os.path.samestat(
                self._written, self._target.lstat()
            )
        except FileNotFoundError:
            return False

    def _move_if_free(self) -> None:
        """Like a move, but a file that appeared in the target's place meanwhile stays."""
        try:
            os.link(self.path, self._target)
        except OSError:
            # there is one, or the disk has no hard links
            check_target(self._target, self._force)
            self.path.replace(self._target)
        else:
            self.path.unlink()


def commit_all(parts: Sequence[Part]) -> None:
    """Move all into place, or none; backups are removed only when all are in place.

    A signal that arrives meanwhile takes effect afterwards.
    """
    with committing(), _journal(parts) as journal, ExitStack() as after:
        try:
            for part in parts:
                part.move()
        except BaseException:
            with ExitStack() as undone:  # each is tried, even if another fails
                for part in parts:
                    undone.callback(part.undo)
            journal.remove()
            raise
        for part in parts:
            after.callback(part.discard_backup)
        journal.remove(superseded=True)


class _Journal:
    """A file that is next to the targets while they are moved."""

    def __init__(self, path: Path | None, superseded: Sequence[Path]) -> None:
        self._path, self._superseded = path, superseded

    def begin(self, entries: Mapping[str, tuple[int | None, int]]) -> None:
        """Write down what is to be moved: by the name of the target, the old file and the new one."""
        assert self._path is not None
        handle = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(entries, file)
            file.flush()
            os.fsync(file.fileno())
        sync(self._path.parent)

    def remove(self, superseded: bool = False) -> None:
        """Remove it, and where all targets are new also those of earlier runs for the same targets."""
        for path in (self._path, *(self._superseded if superseded else ())):
            if path is not None:
                path.unlink(missing_ok=True)


@contextmanager
def _journal(parts: Sequence[Part]) -> Iterator[_Journal]:
    """The journal of a commit; one target is moved at once, and needs none."""
    moved = [part for part in parts if isinstance(part, Replacement)]
    places = {part.target.resolve() for part in moved}
    folders = {place.parent for place in places}
    superseded = [
        path for folder in folders for path, found in _journals(folder) if places >= {*found}
    ]
    if len(moved) < 2:
        yield _Journal(None, superseded)
        return
    target, token = moved[0].target, secrets.token_hex(6)
    name = f".{target.name}.{os.getpid()}.{_host()}.{token}{JOURNAL}.{MARK}"
    journal = _Journal(target.with_name(name), superseded)
    _live.add(token)
    try:
        journal.begin(
            {
                os.path.relpath(part.target, target.parent): (
                    _inode(part.target),
                    part.path.stat().st_ino,
                )
                for part in moved
            }
        )
    except BaseException:
        journal.remove()
        raise
    else:
        yield journal
    finally:
        _live.discard(token)


def _inode(path: Path) -> int | None:
    try:
        return path.lstat().st_ino
    except FileNotFoundError:
        return None


def _journals(folder: Path) -> Iterator[tuple[Path, dict[Path, tuple[int | None, int]]]]:
    """The journals in a folder, and what was to be moved into which place."""
    for path in folder.glob(f".*{JOURNAL}.{MARK}"):
        if not TEMPORARY.fullmatch(path.name):
            continue
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))
            yield path, {(folder / name).resolve(): (*both,) for name, both in entries.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            continue  # it was not finished, so nothing was moved


def require_whole(path: Path) -> None:
    """Raise `VerificationFailed` where files that belong together were moved into place only in part."""
    place = path.resolve()
    for _, entries in _journals(place.parent):
        if place not in entries:
            continue
        found = {each: _inode(each) for each in entries}
        if any(all(found[each] == both[i] for each, both in entries.items()) for i in (0, 1)):
            continue  # all are the old ones, or all are the new ones
        names = listed(sorted(each.name for each in entries))
        raise VerificationFailed(
            f"{path} is not the whole of a release: the run that wrote it ended while its files were "
            f"put in place, so {names} may be of two releases. Run again with --force (in Python "
            "force=True)."
        )


def check_target(target: Path, force: bool, source: Path | None = None) -> None:
    """Raise an InputError unless the target may be written; checked before any work.

    `source` is the input: it is never overwritten, not even by force.
    """
    _check_parent(target)
    if target.is_dir():
        raise InputError(f"{target} is a directory. Name a file in it.")
    if source is not None and _same_file(source, target):
        raise InputError(f"{target} is the input itself. Write to another file.")
    if source is not None:
        refuse_inside(target, source)
    _check_writable(target, force)


def refuse_inside(target: Path, source: Path) -> None:
    """Raise an InputError where the target would be among the part files of the input."""
    if source.is_dir() and source.resolve() in target.resolve().parents:
        raise InputError(
            f"{target} is in the input folder {source}: it would become a part of that table. Write "
            "to another folder."
        )


def _check_parent(target: Path) -> None:
    folder = target.parent
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"{target} cannot be written: {folder} {what}. Create it first.")


def _check_writable(target: Path, force: bool) -> None:
    if os.path.lexists(target) and not force:
        raise InputError(
            f"{target} exists already. Pass --force (in Python force=True) to replace it."
        )
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"{target} cannot be written: no right to write into {target.parent}.")


def _same_file(source: Path, target: Path) -> bool:
    try:
        return source.samefile(target)
    except OSError:
        return source.absolute() == target.absolute()


@contextmanager
def replacing(
    target: Path, force: bool, source: Path | None = None, private: bool = False
) -> Iterator[Replacement]:
    """A temporary path next to `target`, moved into place by `commit()` and otherwise removed.

    private: nobody but the user may read the file, from its first byte on.
    """
    check_target(target, force, source)
    # a link is followed to its file, and never replaced
    target = target.resolve()
    _clean_up(target.parent)
    begin()
    with exit_on_signals(), temporary_names(target) as (temporary, old):
        mode = _create(temporary, target, PRIVATE if private else PUBLIC)
        with removing(partial(_remove_all, temporary)):
            yield Replacement(target, temporary, old, force, mode)


def _create(temporary: Path, target: Path, mode: int) -> int:
    """Create the file, which must not exist, for its owner alone; returns the permissions that the
    user's mask leaves to a new file."""
    try:
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}.") from None
    try:
        allowed = stat.S_IMODE(os.fstat(handle).st_mode)
        temporary.chmod(PRIVATE)  # it is still empty
        return allowed
    finally:
        os.close(handle)


def _remove_all(temporary: Path) -> None:
    """Remove a temporary file, and what a database made beside it."""
    for path in (temporary, *(temporary.with_name(temporary.name + end) for end in BESIDE)):
        path.unlink(missing_ok=True)


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the block as Ctrl-C does, unless they have handlers already."""
    taken: list[signal.Signals] = []
    # only the main thread may set handlers
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
    # shells report a process that was ended by signal n as 128 + n
    raise SystemExit(128 + number)


def sync(path: Path) -> None:
    """Flush a file or a folder to the disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:
        # Windows cannot open folders; there the move itself is safe
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class FolderReplacement(Replacement):
    """A target and the temporary folder that will replace it; the folder is created by its writer."""

    def move(self) -> None:
        """Move the finished folder into place; the old one is backed up."""
        sync(self.path)
        check_folder(self._target, self._force)
        self._written = self.path.stat()
        if os.path.lexists(self._target):
            self._target.rename(self._old)
        self.path.rename(self._target)
        sync(self._target.parent)

    def undo(self) -> None:
        """Undo `move`, however far it got: the disk shows that, for an interrupt can come anywhere."""
        if self._is_moved():
            self._target.rename(self.path)
        if os.path.lexists(self._old) and not os.path.lexists(self._target):
            self._old.rename(self._target)

    def discard_backup(self) -> None:
        """Remove the backup of the old folder."""
        _remove(self._old)


def check_folder(target: Path, force: bool, sources: Sequence[Path] = ()) -> None:
    """Raise an InputError unless the folder may be written; checked before any work.

    `sources` are the input: neither they nor the folders around them are replaced, not even by force.
    """
    _check_parent(target)
    whole = target.resolve()
    for source in sources:
        if source.resolve() == whole or whole in source.resolve().parents:
            raise InputError(
                f"{target} is the input itself, or contains it. Write to another folder."
            )
        refuse_inside(target, source)
    _check_writable(target, force)


@contextmanager
def replacing_folder(
    target: Path, force: bool, sources: Sequence[Path] = ()
) -> Iterator[FolderReplacement]:
    """A temporary path next to `target` for a folder, moved into place by `commit()`, else removed."""
    check_folder(target, force, sources)
    target = target.resolve()
    _clean_up(target.parent)
    begin()
    with (
        exit_on_signals(),
        temporary_names(target) as (temporary, old),
        removing(partial(_remove, temporary)),
    ):
        yield FolderReplacement(target, temporary, old, force)


def _clean_up(folder: Path) -> None:
    """Remove what dead processes left in a folder; restore a folder of which only a backup is left.

    Journals stay until their targets are replaced: they say that these do not belong together. One that
    was never finished says nothing.
    """
    finished = {path for path, _ in _journals(folder)}
    for stale in stale_paths(folder):
        lost = stale.kind == BACKUP and stale.path.is_dir() and not os.path.lexists(stale.target)
        if lost:
            with suppress(FileNotFoundError):  # another run was faster
                stale.path.rename(stale.target)
        elif stale.path not in finished:
            _remove(stale.path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


class Replacements:
    """Several targets and the temporary files that will replace them."""

    def __init__(self, parts: Sequence[Replacement]) -> None:
        self.parts = parts

    @property
    def paths(self) -> list[Path]:
        """Where to write, in the order of the targets."""
        return [part.path for part in self.parts]

    def commit(self) -> None:
        """Move all finished files into place; if one cannot be moved, the old ones stay."""
        commit_all(self.parts)


def check_targets(
    targets: Sequence[Path], force: bool, source: Path | None = None, folder: bool = False
) -> None:
    """Raise an InputError unless all targets may be written; checked before any work.

    folder: the first of them is a folder.
    """
    for i, target in enumerate(targets):
        if any(_same_file(other, target) for other in targets[:i]):
            pages = (one for one in targets if one.suffix.lower() in (".html", ".htm"))
            page = next(
                (one for one in pages if _same_file(one.with_suffix(".json"), target)), None
            )
            why = (
                "" if page is None else f": the certificate of the report {page} has this name, too"
            )
            raise InputError(
                f"{target} is named for two files of this run{why}. Write each to a file of its own."
            )
    folders, files = (targets[:1], targets[1:]) if folder else ((), targets)
    for target in folders:
        check_folder(target, force, [] if source is None else [source])
        if inside := [file for file in files if target.resolve() in file.resolve().parents]:
            raise InputError(
                f"{inside[0]} is in {target}, which is replaced. Choose another place."
            )
    for target in files:
        check_target(target, force, source)


@contextmanager
def replacing_all(
    targets: Sequence[Path],
    force: bool,
    source: Path | None = None,
    folder: bool = False,
    private: Collection[Path] = (),
) -> Iterator[Replacements]:
    """Like `replacing`, for files that belong together; all are checked before any work.

    folder: the first of them is a folder. private: those that nobody but the user may read.
    """
    check_targets(targets, force, source, folder)
    folders, files = (targets[:1], targets[1:]) if folder else ((), targets)
    sources = [] if source is None else [source]
    with ExitStack() as stack:
        yield Replacements(
            [
                *(stack.enter_context(replacing_folder(t, force, sources)) for t in folders),
                *(stack.enter_context(replacing(t, force, source, t in private)) for t in files),
            ]
        )
