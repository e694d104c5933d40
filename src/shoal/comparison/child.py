"""The child process of a comparison: started before anything else is loaded, ended with all it started.

It takes as long to start as a small table to be read. Both therefore happen at the same time, and this
module imports next to nothing.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

MODELS = "models"
"""Tells the child to load what models need."""


class Child:
    """A process that waits for a table and jobs; see `worker.py`. It has ended with the block."""

    def __init__(self, models: bool = False) -> None:
        """models: whether runs are judged by models."""
        self.models = models
        debugging = os.environ.get("SHOAL_DEBUG")
        path = os.pathsep.join(each or str(Path.cwd()) for each in sys.path)
        words = [MODELS] if models else []
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "shoal.comparison.worker", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if debugging else subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path},
            start_new_session=True,  # a process group of its own, so that all it starts ends with it
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def source(self) -> IO[bytes]:
        """What it reads."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def output(self) -> IO[bytes]:
        """What it writes."""
        assert self._process.stdout is not None
        return self._process.stdout

    def end(self) -> int:
        """End it, and all that it started; returns its exit code."""
        process = self._process
        if process.returncode is not None:
            return process.returncode
        if hasattr(os, "killpg"):
            # not waited for yet, so the process id is still its own
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        code = process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()
        return code
