"""Killing a worker at a known moment: while both executors are inside a function of ours."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.spark.cluster import Cluster, kill_worker
from tests.spark.processes import until_gone

PATIENCE = 300.0


class Stage:
    """A function's calls leave marks in a folder and wait there until somebody was killed."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder

    def holding(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The function, with each call held up; it can travel to another process."""
        folder = str(self._folder)

        def held(rows: Any) -> Any:
            import os
            import time
            import uuid
            from pathlib import Path

            Path(folder, f"{os.getppid()}-{uuid.uuid4().hex}").touch()
            while not Path(folder, "go").exists():
                time.sleep(0.02)
            return function(rows)

        return held

    @property
    def calls(self) -> int:
        """How often the function was begun."""
        return len(list(self._folder.glob("*-*")))

    def kill_during(self, cluster: Cluster, work: threading.Thread) -> None:
        """Wait until both executors are in the function, kill a worker, let the calls go on."""
        end = time.monotonic() + PATIENCE
        while len({mark.name.split("-")[0] for mark in self._folder.glob("*-*")}) < 2:
            assert work.is_alive(), "the work ended before both executors took part"
            assert time.monotonic() < end, "the function was not called by both executors"
            time.sleep(0.05)
        pids = kill_worker(cluster.busy()[0])
        assert len(pids) >= 3, "a worker, its executor and its Python"
        assert not until_gone(pids)
        (self._folder / "go").touch()


class Work(threading.Thread):
    """Something that goes on beside; what it raised is raised again by `result`."""

    def __init__(self, call: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._call = call
        self._given: list[Any] = []
        self._raised: list[BaseException] = []

    def run(self) -> None:
        """Do it."""
        try:
            self._given.append(self._call())
        except BaseException as error:
            self._raised.append(error)

    def result(self) -> Any:
        """What it gave, when it has ended."""
        self.join(PATIENCE)
        assert not self.is_alive(), "it does not end"
        if self._raised:
            raise self._raised[0]
        return self._given[0]
