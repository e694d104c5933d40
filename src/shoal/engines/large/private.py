"""A folder for the rows of one session, removed when the session ends, however it ends.

What ends with the process is removed then. What a kill -9 or a power cut left is removed by the next
session: a file in the folder is locked as long as its process lives, and no longer.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows; there nothing is locked, and nothing of others removed
    fcntl = None  # type: ignore[assignment]

PREFIX = "shoal-"
OWNED = "in-use"


def private_folder(owner: object, place: Path | None = None) -> tuple[Path, Callable[[], object]]:
    """A new folder that only this user may read, and what removes it; forgetting its owner does too.

    place: where to make it; the system's place for temporary files if not given.
    """
    _remove_stale(Path(place or tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    lock = os.open(folder / f"{OWNED}.new", os.O_RDWR | os.O_CREAT, 0o600)
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
    # under its name only now: one that can be locked by another is nobody's
    (folder / f"{OWNED}.new").rename(folder / OWNED)
    return folder, weakref.finalize(owner, _remove, folder, lock, os.getpid())


def _remove(folder: Path, lock: int, owned_by: int) -> None:
    if os.getpid() == owned_by:  # not a forked child, whose parent works on
        shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _remove_stale(place: Path) -> None:
    """Remove folders of this user whose process is gone."""
    if fcntl is None:
        return
    for folder in place.glob(f"{PREFIX}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / OWNED, os.O_RDWR)
        except OSError:  # not one of these, or gone meanwhile
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # in use
            pass
        finally:
            os.close(lock)
