"""Asks our own Spark now and then how many tasks of what it works on are done.

Spark is asked through a connection of the thread's own, and what goes wrong there ends the asking
alone: it is the work that reports failures.
"""

import threading
from typing import Any

from shoal.engines.large.session import Moved, Told

PAUSE = 1.0
END_SECONDS = 5.0


class Poller:
    """A thread that tells as long as Spark works; nothing is told while it is idle."""

    def __init__(self, tracker: Any, told: Told, pause: float = PAUSE) -> None:
        """tracker: a `pyspark.StatusTracker`."""
        self._tracker = tracker
        self._told = told
        self._pause = pause
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="shoal-polls")
        self._thread.start()

    def end(self) -> None:
        """Ask no more; to be called before Spark is stopped."""
        self._ended.set()
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        try:
            while not self._ended.wait(self._pause):
                moved = tasks_of(self._tracker)
                if moved is not None and not self._ended.is_set():
                    self._told(moved)
        except Exception:  # Spark went away, or whoever watches did: the work itself tells
            return


def tasks_of(tracker: Any) -> Moved | None:
    """The tasks of all stages that run just now; None where none does."""
    found = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    running = [info for info in found if info is not None and info.numTasks]
    if not running:
        return None
    done = sum(info.numCompletedTasks for info in running)
    return Moved(tasks=done, of_tasks=sum(info.numTasks for info in running))
