"""The studio's server: one process on 127.0.0.1, for one browser."""

import asyncio
import logging
import os
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from shoal.api import check_source
from shoal.errors import InputError, ShoalError
from shoal.studio.security import Guard

ADDRESS = "127.0.0.1"
"""The only address that the studio listens on; from elsewhere it is reached by an ssh tunnel."""
PORT = 8642
MISSING = (
    "The studio needs packages that are not installed. Install them with: "
    "pip install 'shoal[studio]'"
)


def serve(
    table: str | None,
    policy: Path | None,
    *,
    port: int | None = None,
    browser: bool = True,
    ready: Callable[[str], None],
) -> None:
    """Run the studio until it is stopped.

    ready: called with the address to open, once the studio answers there.
    """
    # NiceGUI keeps files of its own in the working folder unless it is told otherwise
    with tempfile.TemporaryDirectory(prefix="shoal-studio-") as private:
        os.environ["NICEGUI_STORAGE_PATH"] = private
        try:
            import nicegui
            import uvicorn
        except ImportError:
            raise InputError(MISSING) from None
        del nicegui
        from fastapi import FastAPI
        from nicegui import app, ui

        from shoal.studio.session import Session
        from shoal.studio.shell import register

        if table is not None:
            _require_openable(table)
        listening = _listen(port)
        port = listening.getsockname()[1]
        folder = Path(table).parent if table is not None and Path(table).exists() else Path.cwd()
        session = Session(folder)
        session.started_with = table
        _keep_values_out_of_logs()
        register(session)

        async def start() -> None:
            if table is not None:
                with suppress(ShoalError):  # the live panel says what is wrong
                    await session.open(table, policy)

        app.on_startup(lambda: _in_background(start()))
        outer = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        ui.run_with(
            outer, title="Shoal studio", favicon=FAVICON, dark=None, show_welcome_message=False,
            reconnect_timeout=30.0, tailwind=False, binding_refresh_interval=None,
        )  # fmt: skip
        guard = Guard(outer, port)
        server = uvicorn.Server(
            uvicorn.Config(
                guard,
                log_level="error",
                access_log=False,
                server_header=False,
                ws_max_size=16 * 1024 * 1024,
                timeout_graceful_shutdown=2,
                lifespan="on",
            )
        )
        address = f"http://{ADDRESS}:{port}/"

        def announce() -> None:
            while not server.started and not server.should_exit:
                threading.Event().wait(0.05)
            first = f"{address}?token={guard.token}"
            ready(first)
            if browser:
                webbrowser.open(first)
            _renew_on_enter(guard, address, ready)

        threading.Thread(target=announce, daemon=True).start()
        try:
            server.run(sockets=[listening])
        finally:
            session.close()


FAVICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>"
    "<rect width='32' height='32' rx='7' fill='#2f4fc7'/>"
    "<g fill='none' stroke='#fff' stroke-width='2.4' stroke-linecap='round'>"
    "<path d='M6 11c4-4 8-4 12 0M14 17c4-4 8-4 12 0M6 23c4-4 8-4 12 0'/></g></svg>"
)

_running: set["asyncio.Task[None]"] = set()


def _in_background(work: Any) -> None:
    task = asyncio.get_running_loop().create_task(work)
    _running.add(task)
    task.add_done_callback(_running.discard)


def _require_openable(table: str) -> None:
    """Raise `InputError` for a table that cannot be opened, unless a screen asks for what is wanting."""
    from shoal.studio.remedies import is_a_question

    try:
        check_source(table)
    except InputError as error:
        if not is_a_question(str(error)):
            raise


def _listen(port: int | None) -> socket.socket:
    """A socket on 127.0.0.1: the port that was asked for, or the usual one, or any free one."""
    for wanted in [port] if port is not None else [PORT, 0]:
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((ADDRESS, wanted))
        except OSError as error:
            listening.close()
            if port is not None:
                reason = (error.strerror or "it cannot be used").lower()
                raise InputError(
                    f"Port {port} of {ADDRESS}: {reason}. Choose another with --port, or leave it out."
                ) from None
            continue
        listening.listen(128)
        return listening
    raise InputError(f"No port of {ADDRESS} is free.")


def _renew_on_enter(guard: Guard, address: str, ready: Callable[[str], None]) -> None:
    """A new address for every Enter in the terminal: each works once."""
    if not sys.stdin.isatty():
        return
    for _ in sys.stdin:
        ready(f"{address}?token={guard.renew()}")


class _TypesOnly(logging.Filter):
    """Leaves the type of an exception in a log, and nothing that could hold a value of the table."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten a record in place."""
        if os.environ.get("SHOAL_DEBUG"):
            return True
        kind = None
        if record.exc_info and "No response returned" in str(record.exc_info[1]):
            return False  # the browser left before it was answered
        if "://" in str(record.msg):
            return False  # an address that is not there: requests are not logged
        if record.exc_info and record.exc_info[0]:
            kind = record.exc_info[0].__name__
        elif isinstance(record.msg, BaseException):
            kind = type(record.msg).__name__
        if kind is not None:
            record.msg = f"an unexpected error in the studio ({kind}); SHOAL_DEBUG=1 shows it"
            record.args, record.exc_info, record.exc_text = None, None, None
        return True


def _keep_values_out_of_logs() -> None:
    for name in ("nicegui", "uvicorn", "uvicorn.error", "asyncio", "socketio", "engineio"):
        logging.getLogger(name).addFilter(_TypesOnly())
