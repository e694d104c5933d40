"""Nothing half-written, for folders: one appears under its name only when it is whole and checked.

As `atomic` does for files: the work goes to a hidden folder beside the target, which is renamed as a
whole. Whatever ends the block before `commit` removes it.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.errors import InputError
from shoal.io.atomic import Replacement, ended_as_exit, refuse_inside, sync
from shoal.io.hidden import left_behind, own_names


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
