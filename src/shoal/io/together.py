"""Files that belong together: all of them appear, or none."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from shoal.errors import InputError
from shoal.io.atomic import Replacement, check_target, commit_all, replacing
from shoal.io.folders import check_folder, replacing_folder


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
