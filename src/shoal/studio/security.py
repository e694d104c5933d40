"""Who may talk to the studio: the one browser that opened its address.

The studio listens on 127.0.0.1 alone, but every web page in the browser can send requests there, and
every program of every user of the machine. `Guard` stands before all pages, files and websockets:

- *Host* must be the studio's own address: a page of another site whose name was made to point at
  127.0.0.1 (DNS rebinding) still has its own name there.
- *Origin*, where a browser names it, must be the studio's own: other sites can neither send forms nor
  open a websocket.
- The address that is opened has a random token, which is good for one use. It is exchanged for a
  cookie that scripts cannot read (HttpOnly) and that no request from another site carries
  (SameSite=Strict). Everything else needs this cookie.
- A request has an upper size, counted while it arrives.
"""

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_UPLOAD = 512 * 1024 * 1024
"""Bytes of the largest file that can be dropped; larger tables are named when the studio starts."""
LARGEST_REQUEST = 1024 * 1024
"""Bytes of any other request."""
HEADERS = {
    "content-security-policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
        "connect-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'"
    ),
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""On every answer: nothing is loaded from elsewhere, and no other site can embed the studio."""
REFUSED = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>Shoal studio</title>"
    "<body style='font:16px/1.5 system-ui;max-width:34rem;margin:15vh auto;padding:0 1rem'>"
    "<h1 style='font-size:1.3rem'>This page is for one browser</h1><p>{}</p>"
)


class Guard:
    """An ASGI application that lets through what the studio's own browser sends."""

    def __init__(self, app: App, port: int) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._token: str | None = secrets.token_urlsafe(32)
        self._secret = ""
        self.cookie = f"shoal_studio_{port}"
        """The cookie's name; browsers share cookies between the ports of a host."""

    @property
    def token(self) -> str:
        """The token of the address to open, until it is used."""
        return self._token or ""

    def renew(self) -> str:
        """A new token for another address to open; who holds the cookie keeps it until then."""
        self._token = secrets.token_urlsafe(32)
        return self._token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] not in ("http", "websocket"):  # the server's own start and end
            await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        refusal = self._foreign(scope, headers)
        if refusal:
            await _refuse(scope, receive, send, refusal)
        elif self._is_ours(headers):
            await self._let_through(scope, headers, receive, send)
        elif scope["type"] == "http" and scope["path"] == "/" and self._uses_token(scope):
            await self._hand_out_cookie(send)
        else:
            await _refuse(
                scope,
                receive,
                send,
                "Open the address that <code>shoal studio</code> printed in its terminal. It works "
                "once, in one browser; press Enter in the terminal for a new one.",
            )

    def _foreign(self, scope: Scope, headers: dict[str, list[str]]) -> str:
        """Why a request cannot come from the studio's own pages."""
        hosts = headers.get("host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return "The request was made for another host name than the studio's."
        origins = headers.get("origin", [])
        own = f"http://{hosts[0].lower()}"
        if any(origin.lower() != own for origin in origins):
            return "The request was made by a page of another site."
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if changes and not origins:
            return "The request does not say which page made it."
        return ""

    def _is_ours(self, headers: dict[str, list[str]]) -> bool:
        if not self._secret:
            return False
        for line in headers.get("cookie", []):
            for part in line.split(";"):
                name, _, value = part.strip().partition("=")
                if name == self.cookie and hmac.compare_digest(
                    value.encode(), self._secret.encode()
                ):
                    return True
        return False

    def _uses_token(self, scope: Scope) -> bool:
        query = scope["query_string"].decode("ascii", "replace")
        given = [part.partition("=")[2] for part in query.split("&") if part.startswith("token=")]
        return (
            self._token is not None
            and len(given) == 1
            and hmac.compare_digest(given[0].encode(), self._token.encode())
        )

    async def _hand_out_cookie(self, send: Send) -> None:
        """Exchange the token for the cookie, which replaces that of any other browser."""
        self._token, self._secret = None, secrets.token_urlsafe(32)
        cookie = f"{self.cookie}={self._secret}; HttpOnly; SameSite=Strict; Path=/"
        # a page that sends on by itself: browsers do not send a strict cookie with a redirect that
        # began at another site, such as a notebook
        text = (
            "<!doctype html><meta http-equiv=refresh content='0;url=/'><title>Shoal studio</title>"
        )
        headers = [("set-cookie", cookie), ("cache-control", "no-store")]
        await _answer(send, 200, text, headers)

    async def _let_through(
        self, scope: Scope, headers: dict[str, list[str]], receive: Receive, send: Send
    ) -> None:
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        limit = LARGEST_UPLOAD if "/upload/" in scope["path"] else LARGEST_REQUEST
        length = headers.get("content-length", ["0"])[0]
        is_number = length.isascii() and length.isdigit()
        if not is_number or int(length) > limit:
            await _refuse(
                scope,
                receive,
                send,
                f"That is more than the {limit // 1024**2:,} MB that can be sent. Start the studio "
                "with the file's name instead: <code>shoal studio TABLE</code>.",
                413,
            )
            return
        arrived = 0

        async def counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > limit:
                return {"type": "http.disconnect"}
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message.get("headers", [])}
                added = [
                    (name.encode(), value.encode())
                    for name, value in HEADERS.items()
                    if name.encode() not in given
                ]
                message["headers"] = [*message.get("headers", []), *added]
            await send(message)

        await self._app(scope, counted, with_headers)


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


async def _refuse(
    scope: Scope, receive: Receive, send: Send, reason: str, status: int = 403
) -> None:
    if scope["type"] == "websocket":
        await receive()  # the request to connect
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    await _answer(send, status, REFUSED.format(reason), [("cache-control", "no-store")])


async def _answer(send: Send, status: int, text: str, headers: list[tuple[str, str]]) -> None:
    every = [("content-type", "text/html; charset=utf-8"), *HEADERS.items(), *headers]
    raw = [(name.encode(), value.encode()) for name, value in every]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": text.encode()})
