"""Nothing half-written, for folders: one appears under its name only when it is whole and checked.

As `atomic` does for files: the work goes to a hidden folder beside the target, which is renamed as a
whole. Whatever ends the block before `commit` removes it.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from shoal.errors import InputError
from shoal.io.atomic import MARK, ended_as_exit, is_alive, refuse_inside, sync


class FolderReplacement:
    """A target and the hidden folder that will take its place."""

    def __init__(self, target: Path, hidden: Path, force: bool) -> None:
        self.path = hidden
        """Where to make the folder; it ends as the target does, so its format is told alike."""
        self._target = target
        self._force = force
        self._keep_old = False

    def commit(self) -> None:
        """Move the finished folder into place; what stood there is gone after that, or stays whole."""
        sync(self.path)
        check_folder(self._target, self._force)
        aside: Path | None = None
        if os.path.lexists(self._target):
            aside = hidden_name(self._target, ".old")
            _remove(aside)
            self._target.rename(aside)
        try:
            self.path.rename(self._target)
        except BaseException:
            if aside is not None:
                aside.rename(self._target)
            raise
        sync(self._target.parent)
        if aside is not None and not self._keep_old:
            _remove(aside)

    def way_back(self, after: ExitStack) -> Callable[[], None]:
        """To be asked before `commit`: how to bring back what it replaces; `after` tidies up."""
        aside = hidden_name(self._target, ".old")
        self._keep_old = True
        after.callback(_remove, aside)

        def back() -> None:
            if self.path.exists():
                return  # never moved
            self._target.rename(self.path)
            if os.path.lexists(aside):
                aside.rename(self._target)

        return back


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
    _remove_stale(target)
    hidden = hidden_name(target)
    with ended_as_exit():
        try:
            yield FolderReplacement(target, hidden, force)
        finally:
            _remove(hidden)


def hidden_name(target: Path, note: str = "") -> Path:
    """The name beside a target under which this process works on it."""
    ending = "".join(target.suffixes[-2:]) if target.suffix == ".gz" else target.suffix
    return target.with_name(f".{target.name}.{os.getpid()}{note}.{MARK}{ending}")


def _remove_stale(target: Path) -> None:
    """Remove folders for this target whose process is gone; bring back what it had put aside."""
    ending = re.escape(hidden_name(target).name.rpartition(MARK)[2])
    shape = re.compile(rf"\.{re.escape(target.name)}\.(\d+)(\.old)?\.{MARK}{ending}")
    for other in sorted(target.parent.iterdir()):
        found = shape.fullmatch(other.name)
        if not found or is_alive(int(found[1])):
            continue
        if found[2] and not os.path.lexists(target):
            other.rename(target)
        else:
            _remove(other)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
