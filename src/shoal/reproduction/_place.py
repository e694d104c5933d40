"""Where a run was made: times mean little without it."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

COMPUTES = ("numpy", "numba", "pyarrow")


def machine() -> str:
    """The processor, how many cores may be used, and the system; never whose machine it is."""
    from shoal.threads import workers

    cores = workers()
    words = f"{cores} core{'' if cores == 1 else 's'}"
    return f"{_processor()}, {words}{_memory()}, {platform.system()} {platform.machine()}"


def versions() -> dict[str, str]:
    """Of Shoal, of Python and of what computes."""
    from shoal.version import __version__

    own = {"shoal": __version__, "python": platform.python_version()}
    return own | {package: version(package) for package in COMPUTES}


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    lines = told.read_text(encoding="utf-8", errors="replace") if told.exists() else ""
    for line in lines.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name" and value.strip():
            return value.strip()
    return platform.processor() or "unknown processor"


def _memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # a system that does not tell
        return ""
    return f", {size / 2**30:.0f} GB"
