"""Who may talk to the studio: raw requests on the loopback, without a browser."""

import asyncio
import base64
import http.client
import io
import logging
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from shoal.studio import security
from shoal.studio.security import Guard
from shoal.studio.server import _keep_values_out_of_logs
from tests.studio.process import Running, studio


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with studio(cwd=tmp_path_factory.mktemp("empty")) as found:
        yield found


@pytest.fixture(scope="module")
def cookie(running: Running) -> str:
    """The token, exchanged for the cookie; wrong ones before it neither open nor use it up."""
    for wrong in ("wrong", "", running.token[:-1], f"{running.token}&token={running.token}"):
        status, headers, _ = ask(running, f"/?token={wrong}")
        assert status == 403
        assert "set-cookie" not in headers
    status, headers, body = ask(running, f"/?token={running.token}")
    assert status == 200
    assert "content='0;url=/'" in body
    set_cookie = headers["set-cookie"]
    assert "HttpOnly" in set_cookie
    assert "SameSite=Strict" in set_cookie
    assert "Path=/" in set_cookie
    return set_cookie.split(";")[0]


def ask(
    running: Running, path: str, method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=30)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.putrequest(method, path, skip_host="Host" in sent, skip_accept_encoding=True)
    for name, value in sent.items():
        connection.putheader(name, value)
    if body is not None and "Content-Length" not in sent:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    found = {name.lower(): value for name, value in answer.getheaders()}
    text = answer.read().decode("utf-8", "replace")
    connection.close()
    return answer.status, found, text


def open_socket(running: Running, **headers: str) -> int:
    """The status of the answer to a websocket's handshake."""
    own = {
        "Host": f"127.0.0.1:{running.port}",
        "Origin": f"http://127.0.0.1:{running.port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Sec-WebSocket-Version": "13",
    }
    sent = {name: value for name, value in (own | headers).items() if value}
    with socket.create_connection(("127.0.0.1", running.port), timeout=30) as opened:
        path = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
        lines = [f"GET {path} HTTP/1.1", *(f"{n}: {v}" for n, v in sent.items()), "", ""]
        opened.sendall("\r\n".join(lines).encode())
        return int(opened.recv(64).split()[1])


def test_it_listens_on_the_loopback_alone(running: Running) -> None:
    table = Path("/proc/net/tcp").read_text().splitlines()
    listening = [line.split()[1] for line in table if line.split()[3] == "0A"]
    ours = [one for one in listening if int(one.split(":")[1], 16) == running.port]
    assert ours == [f"0100007F:{running.port:04X}"]
    table6 = Path("/proc/net/tcp6")
    others = table6.read_text().splitlines() if table6.exists() else []
    assert not [o for o in others if o.split()[1].endswith(f":{running.port:04X}")]


def test_without_the_cookie_nothing_is_served(running: Running, cookie: str) -> None:
    assert cookie
    for path in (
        "/",
        "/protect",
        "/_nicegui_ws/socket.io/?EIO=4&transport=polling",
        "/favicon.ico",
    ):
        assert ask(running, path)[0] == 403, path
    assert ask(running, "/", Cookie="shoal_studio=1")[0] == 403
    secret = cookie.split("=")[1]
    assert ask(running, "/", Cookie=f"other={secret}")[0] == 403
    for wrong in ("wrong", "", "\xe9", secret[:-1]):
        assert ask(running, "/", Cookie=f"{cookie.split('=')[0]}={wrong}")[0] == 403


def test_the_token_works_once_and_a_wrong_one_never(running: Running, cookie: str) -> None:
    assert ask(running, "/", Cookie=cookie)[0] == 200
    status, headers, body = ask(running, f"/?token={running.token}")
    assert status == 403
    assert "set-cookie" not in headers
    assert running.token not in body
    assert ask(running, "/?token=")[0] == 403
    assert ask(running, "/?token=wrong")[0] == 403


def test_pages_have_headers_that_keep_others_out(running: Running, cookie: str) -> None:
    _, headers, body = ask(running, "/", Cookie=cookie)
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert "http://" not in body.replace("http://www.w3.org", "")
    assert "https://" not in body


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "0.0.0.0:{port}"]
)
def test_another_host_is_refused(running: Running, cookie: str, host: str) -> None:
    named = host.format(port=running.port)
    assert ask(running, "/", Cookie=cookie, Host=named)[0] == 403
    assert open_socket(running, Cookie=cookie, Host=named) == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", ""])
def test_another_origin_is_refused(running: Running, cookie: str, origin: str) -> None:
    named = origin.format(port=running.port)
    if named:
        assert ask(running, "/", Cookie=cookie, Origin=named)[0] == 403
    assert open_socket(running, Cookie=cookie, Origin=named) == 403
    sent = {"Origin": named} if named else {}
    assert ask(running, "/protect", "POST", b"x", Cookie=cookie, **sent)[0] == 403


def test_a_websocket_needs_the_cookie(running: Running, cookie: str) -> None:
    assert open_socket(running) == 403
    assert open_socket(running, Cookie=cookie) == 101


def test_an_oversized_request_is_refused_before_it_arrives(running: Running, cookie: str) -> None:
    own = f"http://127.0.0.1:{running.port}"
    for path, size in (("/protect", 2**21), ("/_nicegui/client/x/upload/1", 2**40)):
        status, _, body = ask(
            running, path, "POST", b"x", Cookie=cookie, Origin=own, **{"Content-Length": str(size)}
        )
        assert status == 413, path
        assert "shoal studio TABLE" in body


@pytest.mark.parametrize("length", ["many", "", "-1", "1e3", "0x10", "\u00b2"])
def test_a_size_that_is_no_number_is_refused(length: str) -> None:
    """Servers may hand over what they do not understand: the pages do not get it."""
    reached: list[str] = []
    answers: list[dict[str, Any]] = []

    async def pages(scope: Any, _: Any, __: Any) -> None:
        reached.append(scope["path"])

    async def nothing() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def answer(message: Any) -> None:
        answers.append(message)

    async def send() -> None:
        guard = Guard(pages, 8642)
        own = {"type": "http", "path": "/", "query_string": f"token={guard.token}".encode()}
        host = (b"host", b"127.0.0.1:8642")
        await guard(own | {"method": "GET", "headers": [host]}, nothing, answer)
        cookie = dict(answers.pop(0)["headers"])[b"set-cookie"].split(b";")[0]
        headers = [host, (b"origin", b"http://127.0.0.1:8642"), (b"cookie", cookie)]
        scope = {"type": "http", "method": "POST", "path": "/protect"}
        answers.clear()
        sized = [*headers, (b"content-length", length.encode("latin-1"))]
        await guard(scope | {"headers": sized}, nothing, answer)
        assert not reached
        assert answers[0]["status"] == 413
        await guard(scope | {"headers": [*headers, (b"content-length", b"7")]}, nothing, answer)
        assert reached == ["/protect"]

    # a browser of other tests has an event loop in this thread
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(send())).result()


@pytest.mark.parametrize("path", ["/_nicegui/client/x/upload/1", "/protect"])
def test_a_body_that_does_not_say_its_size_is_counted(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sent in chunks, without Content-Length: what is beyond the limit does not reach the pages."""
    monkeypatch.setattr(security, "LARGEST_UPLOAD", 3000)
    monkeypatch.setattr(security, "LARGEST_REQUEST", 2000)
    limit = 3000 if "upload" in path else 2000
    taken: list[bytes] = []
    answers: list[dict[str, Any]] = []

    async def pages(_: Any, receive: Any, __: Any) -> None:
        while (message := await receive())["type"] == "http.request":
            taken.append(message["body"])

    chunks = iter([{"type": "http.request", "body": b"x" * 900, "more_body": True}] * 10)

    async def chunk() -> dict[str, Any]:
        return next(chunks, {"type": "http.disconnect"})

    async def answer(message: Any) -> None:
        answers.append(message)

    async def send() -> None:
        guard = Guard(pages, 8642)
        own = {"type": "http", "path": "/", "query_string": f"token={guard.token}".encode()}
        host = (b"host", b"127.0.0.1:8642")
        await guard(own | {"method": "GET", "headers": [host]}, chunk, answer)
        cookie = dict(answers[0]["headers"])[b"set-cookie"].split(b";")[0]
        headers = [host, (b"origin", b"http://127.0.0.1:8642"), (b"cookie", cookie)]
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
        await guard(scope, chunk, answer)

    # a browser of other tests has an event loop in this thread
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(send())).result()
    assert 0 < len(b"".join(taken)) <= limit


def test_what_is_asked_for_is_not_logged(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as errors, studio(cwd=tmp_path, errors=errors) as asked:
        _, headers, _ = ask(asked, f"/?token={asked.token}")
        cookie = headers["set-cookie"].split(";")[0]
        for path in ("/protect?disease=HIV", "/written/HIV.csv", "/nowhere/HIV"):
            ask(asked, path, Cookie=cookie)
        ask(asked, "/?token=HIV")
        assert asked.process.stdout is not None
    assert log.read_text(encoding="utf-8") == ""


def test_of_unexpected_errors_only_the_type_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOAL_DEBUG", raising=False)
    names = ("nicegui", "uvicorn", "uvicorn.error", "asyncio", "socketio", "engineio")
    before = {name: list(logging.getLogger(name).filters) for name in names}
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    try:
        _keep_values_out_of_logs()
        for name in names:
            logger = logging.getLogger(name)
            logger.addHandler(handler)
            try:
                raise KeyError("Alice has HIV")
            except KeyError as error:
                logger.exception("of %s", "Alice")
                logger.error(error)
            logger.removeHandler(handler)
    finally:
        for name in names:
            logging.getLogger(name).filters[:] = before[name]
    said = written.getvalue()
    assert said.count("KeyError") >= 2 * len(names)
    assert "Alice" not in said
    assert "HIV" not in said


async def nobody(*_: Any) -> None:
    """Pages that answer nothing."""


@pytest.mark.parametrize("hosts", [[], ["127.0.0.1:8642", "evil.example"], ["evil.example"]])
def test_a_request_has_one_host(hosts: list[str]) -> None:
    scope = {"type": "http", "method": "GET"}
    assert Guard(nobody, 8642)._foreign(scope, {"host": hosts} if hosts else {})
    assert not Guard(nobody, 8642)._foreign(scope, {"host": ["127.0.0.1:8642"]})


def test_before_the_address_was_opened_no_cookie_is_good() -> None:
    """Nobody holds the cookie yet, and an empty one is not the one that nobody holds."""
    guard = Guard(nobody, 8642)
    for value in ("", "None", guard.token):
        assert not guard._is_ours({"cookie": [f"{guard.cookie}={value}"]})


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/_nicegui/3.18.0/static/../../../../../../etc/passwd",
        "/_nicegui/3.18.0/static/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/_nicegui/3.18.0/resources/x/../../../etc/passwd",
    ],
)
def test_no_path_leads_out(running: Running, cookie: str, path: str) -> None:
    status, _, body = ask(running, path, Cookie=cookie)
    assert status >= 400
    assert "root:" not in body
