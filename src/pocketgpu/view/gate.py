"""Which requests are heard: those of a page that came from this server, in a browser that has the cookie.

Any web page that is open on this computer can send requests to the server, and other people's programs on it, too. So:

* The first link has a token in it, which works once and becomes a cookie that only this site's requests carry.
* The Host header must be one that the server listens as: names that somebody's DNS leads here are refused.
* Origin and Sec-Fetch-Site, where a browser sends them, must be of the same site.
* Only GET and HEAD without a body, of limited length, and so many at a time.

Every answer carries headers that let a page load only what this server has: no script, style or frame of anybody else,
and no script in what a capture contains.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from pocketgpu.displayed import line_of
from pocketgpu.view.answering import MOST_REQUESTS, MOST_TARGET

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN: Final = "token"
"""The name of the query's parameter with the token, in the first link."""
_TOKEN_BYTES: Final = 24
_POLICY_VIOLATION: Final = 1008
"""RFC 6455: the code with which a WebSocket is closed that is not wanted."""
POLICY: Final = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob: data:", "connect-src 'self'",
    "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
))  # fmt: skip
HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_SAME: Final = ("same-origin", "none")
"""Sec-Fetch-Site of the page's own requests, and of an address that somebody typed or opened."""


def new_token() -> str:
    """A text that nobody can guess, for the first link."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


class Gate:
    """Hears requests for an app, or answers them itself with an error.

    :param hosts: what a Host header may be, such as "127.0.0.1:8123".
    :param token: of the first link; without one the gate makes it.
    """

    def __init__(self, app: App, hosts: Iterable[str], token: str = "") -> None:
        self._app, self._hosts = app, frozenset(host.lower() for host in hosts)
        self.token: str | None = token or new_token()
        """Of the first link; None once it was used."""
        self._secret = secrets.token_urlsafe(_TOKEN_BYTES)
        # A browser sends a cookie to all ports of a host, so each viewer gives its own another name.
        self.cookie = f"pocketgpu-{secrets.token_hex(4)}"
        self._requests = 0

    def __repr__(self) -> str:
        return line_of(self, ", ".join(sorted(self._hosts)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
            return
        headers = _headers(scope)
        refused = self._refusal(scope, headers)
        if refused is not None:
            await _answer(send, *refused)
        elif self._is_first(scope):
            await self._let_in(scope, send)
        elif not self._knows(headers):
            await _answer(send, 403, "Open the link that the command has printed. It works once in a browser.")
        elif self._requests >= MOST_REQUESTS:
            await _answer(send, 503, "Too many requests at a time.")
        else:
            self._requests += 1
            try:
                await self._app(scope, receive, _guarded(send))
            finally:
                self._requests -= 1

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Status and text for a request that is wrong, with or without a cookie."""
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        if host not in self._hosts:
            return 421, "The Host header names another server. Open the link that the command has printed."
        if origin is not None and origin.lower() != f"http://{host}":
            return 403, "Requests of other pages are not answered."
        if headers.get("sec-fetch-site", "none") not in _SAME and not _opens_a_page(headers):
            return 403, "Requests of other pages are not answered."
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "Only GET and HEAD."
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            return 413, "Requests have no body here."
        if len(scope["raw_path"]) + len(scope["query_string"]) > MOST_TARGET:
            return 414, "The address is too long."
        return None

    # -- who is known -----------------------------------------------------------------------------------------------
    def _is_first(self, scope: Scope) -> bool:
        given = dict(_query(scope)).get(TOKEN)
        return given is not None and self.token is not None and _same(given, self.token)

    async def _let_in(self, scope: Scope, send: Send) -> None:
        """Exchange the token for the cookie, and show the address without it."""
        self.token = None
        left = urlencode([pair for pair in _query(scope) if pair[0] != TOKEN])
        cookie = f"{self.cookie}={self._secret}; HttpOnly; SameSite=Strict; Path=/"
        more = {"location": "/" + (f"?{left}" if left else ""), "set-cookie": cookie}
        await _answer(send, 303, "", more)

    def _knows(self, headers: Mapping[str, str]) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return found is not None and _same(found.value, self._secret)


def _opens_a_page(headers: Mapping[str, str]) -> bool:
    """Whether somebody follows a link of another page, such as one in a bug report: only the page itself is shown then,
    and without a cookie not even that."""
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def _headers(scope: Scope) -> dict[str, str]:
    """Headers by name; of one that comes twice all values, so that no value is looked at alone."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        found[key] = f"{found[key]}; {text}" if key in found else text
    return found


def _query(scope: Scope) -> list[tuple[str, str]]:
    try:
        return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=32)
    except ValueError:
        return []


def _guarded(send: Send) -> Send:
    """`send` with the headers of every answer."""

    async def run(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_encoded(HEADERS)]
        await send(message)

    return run


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


async def _answer(send: Send, status: int, text: str, more: Mapping[str, str] | None = None) -> None:
    body = text.encode()
    headers = {
        **HEADERS, "content-type": "text/plain; charset=utf-8", "content-length": str(len(body)),
        "cache-control": "no-store", **(more or {}),
    }  # fmt: skip
    await send({"type": "http.response.start", "status": status, "headers": _encoded(headers)})
    await send({"type": "http.response.body", "body": body})


__all__ = ["HEADERS", "MOST_REQUESTS", "MOST_TARGET", "TOKEN", "Gate", "new_token"]
