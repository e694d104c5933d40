"""A studio in a process of its own, as `shoal studio` starts it."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

WAIT = 120


@dataclass
class Running:
    """A studio that answers."""

    process: "subprocess.Popen[str]"
    address: str
    """With its token, which works once."""

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].split("/")[0])

    @property
    def token(self) -> str:
        return self.address.split("token=")[1]


def workers_of(running: Running) -> list[int]:
    """The processes that keep its table."""
    children = Path(f"/proc/{running.process.pid}/task").glob("*/children")
    return [int(one) for each in children for one in each.read_text().split()]


@contextmanager
def studio(
    *arguments: str | Path, cwd: Path | None = None, errors: IO[bytes] | None = None
) -> Iterator[Running]:
    """Start the studio, and end it afterwards; errors: a file for all that it logs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal.cli.app", "studio", *map(str, arguments), "--no-browser"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        cwd=cwd,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    late = threading.Timer(WAIT, process.kill)  # then there is no line
    late.start()
    try:
        line = process.stdout.readline()
        late.cancel()
        assert "http://127.0.0.1:" in line, line
        yield Running(process, line[line.index("http://") :].strip())
    finally:
        late.cancel()
        process.send_signal(signal.SIGINT)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
