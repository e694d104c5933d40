"""A method that misbehaves in a run, but not in its warm-up. Its file's name makes it `mondrian`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from pydantic.dataclasses import dataclass

from shoal.comparison.worker import WARM_UP_ROWS
from shoal.encoding.grouping import Grouping
from shoal.errors import PolicyError
from shoal.methods.base import Method

SECRET = "a value of somebody"


@dataclass(frozen=True)
class Mondrian(Method):
    """Misbehaves."""

    how: str = "lie"
    note: str = ""
    """A file that gets the numbers of the processes."""

    def group(self, cells, requirement, seed, progress):  # noqa: ARG002
        rows = np.arange(cells.n_rows, dtype=np.int32)
        if cells.n_rows > WARM_UP_ROWS:
            self._misbehave()
        else:
            rows[:] = 0
        groups = int(rows.max()) + 1
        return (Grouping(rows, groups, tuple(range(len(cells.domains)))),)

    def _misbehave(self):
        if self.how == "hang":
            other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            Path(self.note).write_text(f"{os.getpid()} {other.pid} ")
            time.sleep(600)
        elif self.how == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.how == "raise":
            print(SECRET)  # must not be taken for a word to the parent
            raise ValueError(SECRET)
        elif self.how == "cannot":
            raise PolicyError("method: mondrian finds this too large.")
