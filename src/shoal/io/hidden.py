"""Names beside a target under which one run alone works on it, and what dead runs left there.

A name tells host, process and a random token. So two runs never share one, be they threads of one
process or containers that number their processes alike; and what is removed is surely nobody's.
"""

import os
import platform
import re
import secrets
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

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
