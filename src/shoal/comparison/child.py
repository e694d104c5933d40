"""The process in which one method runs: table and policy come by standard input, figures go out.

Nothing of the table is written anywhere. Lines of JSON tell how far it is: `{"ready": true}` when the
table is here and all is warm, `{"step": .., "share": ..}`, and at the end `figures` or `error`.
"""

import json
import os
import pickle
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, BinaryIO

from shoal.errors import ShoalError

LENGTH = struct.Struct("<Q")
"""How long the pickled policy is that comes first; the table follows as an Arrow stream."""
OF_THIS_SESSION = (
    "The policy holds a hierarchy or method that was made in this very session, which another process "
    "cannot load. Put its class into a module that can be imported."
)
PAUSE = 0.1
"""Seconds between two words on how far it is."""

Say = Callable[[dict[str, Any]], None]


def main() -> None:
    """Read, warm up, run, tell."""
    source, say = os.fdopen(0, "rb", closefd=False), _speaker()
    steps = _Steps(say)
    try:
        policy, table = _received(source)
        _end_with_parent()
        from shoal.comparison.measuring import measure, warm_up

        warm_up(table, policy)
        say({"ready": True})
        say({"figures": asdict(measure(table, policy, steps.told))})
    except ShoalError as error:
        say({"error": str(error), "kind": type(error).__name__, "step": steps.now})
    except MemoryError:
        say({"error": "its memory ran out", "kind": "MemoryError", "step": steps.now})
    except Exception as error:
        # the text of an unforeseen error may hold a value of the table, its type cannot
        say({"error": type(error).__name__, "kind": "", "step": steps.now})
        if os.environ.get("SHOAL_DEBUG"):
            raise


def _speaker() -> Say:
    """What writes to the parent; whatever else prints goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)

    def say(words: dict[str, Any]) -> None:
        out.write(json.dumps(words) + "\n")
        out.flush()

    return say


def _received(source: BinaryIO) -> tuple[Any, Any]:
    import pyarrow as pa

    from shoal.errors import InputError

    (length,) = LENGTH.unpack(source.read(LENGTH.size))
    pickled = source.read(length)
    try:
        policy = pickle.loads(pickled)
    except (AttributeError, ImportError):
        raise InputError(OF_THIS_SESSION) from None
    return policy, pa.ipc.open_stream(source).read_all()


def _end_with_parent() -> None:
    """Nothing more comes by standard input: when it ends, so has the parent."""

    def wait() -> None:
        while os.read(0, 1):
            pass
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


class _Steps:
    """Tells the parent how far the work is, but not too often."""

    def __init__(self, say: Say) -> None:
        self.now = ""
        self._say, self._last = say, 0.0

    def told(self, step: str, share: float) -> None:
        """A step of the run, and how much of it is done."""
        if step == self.now and time.monotonic() - self._last < PAUSE:
            return
        self.now, self._last = step, time.monotonic()
        self._say({"step": step, "share": share})


if __name__ == "__main__":
    main()
    sys.stdout.flush()
