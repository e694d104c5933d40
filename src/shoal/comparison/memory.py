"""How much memory this process takes."""

import gc
import sys
from contextlib import suppress
from pathlib import Path

STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Peak:
    """The most memory in use from now on, beyond what is in use now.

    Linux keeps a high-water mark that can be lowered to the present. Elsewhere the mark is that of
    the whole process, so what the warm-up needed already is not counted again. The mark of
    `getrusage` is no use on Linux: there a process inherits its parent's.
    """

    def __init__(self) -> None:
        gc.collect()
        with suppress(OSError):
            FORGET.write_text("5")
        self._before = _mark()

    def bytes(self) -> int:
        """So far."""
        return max(0, _mark() - self._before)


def _mark() -> int:
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:  # Windows
        return 0
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024
