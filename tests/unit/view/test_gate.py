"""Which requests are heard, and which are not: the attacks of other pages and programs on the viewer's server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pocketgpu.view import gate as gates
from pocketgpu.view.gate import HEADERS, TOKEN, Gate

HOST = "127.0.0.1:8123"


async def app(scope: Any, receive: Any, send: Any) -> None:
    headers = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"heard"})


class Browser:
    """Sends requests to a gate, and keeps cookies."""

    def __init__(self, gate: Gate) -> None:
        self.gate, self.cookie = gate, ""

    def get(self, target: str, method: str = "GET", host: str = HOST, **headers: str) -> Any:
        """Status, headers and text."""
        return asyncio.run(self.ask(target, method, host, **headers))

    async def ask(self, target: str, method: str = "GET", host: str = HOST, **more: str) -> Any:
        path, _, query = target.partition("?")
        headers = {"host": host, **{name.replace("_", "-"): value for name, value in more.items()}}
        if self.cookie:
            headers.setdefault("cookie", self.cookie)
        scope = {
            "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }  # fmt: skip
        answer: dict[str, Any] = {"body": b""}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                answer["status"] = message["status"]
                answer["headers"] = {name.decode(): value.decode() for name, value in message["headers"]}
            else:
                answer["body"] += message["body"]

        await self.gate(scope, None, send)  # type: ignore[arg-type]
        given = answer["headers"].get("set-cookie")
        if given:
            self.cookie = given.partition(";")[0]
        return answer["status"], answer["headers"], answer["body"].decode()


@pytest.fixture
def gate() -> Gate:
    return Gate(app, [HOST, "localhost:8123"])


@pytest.fixture
def browser(gate: Gate) -> Browser:
    """A browser that has opened the first link."""
    found = Browser(gate)
    assert found.get(f"/?{TOKEN}={gate.token}")[0] == 303
    return found


def test_the_first_link_works_once(gate: Gate) -> None:
    link, first, second = f"/?{TOKEN}={gate.token}&x=1", Browser(gate), Browser(gate)
    status, headers, _ = first.get(link)
    assert (status, headers["location"]) == (303, "/?x=1")
    assert "HttpOnly" in headers["set-cookie"] and "SameSite=Strict" in headers["set-cookie"]
    assert first.get("/api/capture")[0] == 200
    assert second.get(link)[0] == 403 and second.cookie == ""
    assert first.get(link)[0] == 200  # who has the cookie may use the link again


@pytest.mark.parametrize("query", ["", f"{TOKEN}=", f"{TOKEN}=wrong", f"{TOKEN}=%00", f"{TOKEN}[]=x", "&" * 100])
def test_without_token_and_cookie_nothing_is_heard(gate: Gate, query: str) -> None:
    status, headers, text = Browser(gate).get(f"/?{query}")
    assert status == 403 and "link" in text and "set-cookie" not in headers
    assert gate.token is not None


@pytest.mark.parametrize("cookie", ["", "x", "pocketgpu=1", "a=b; c=d", "=;=;", "\x00", "a" * 4000])
def test_wrong_cookies(gate: Gate, cookie: str) -> None:
    one = Browser(gate)
    one.cookie = cookie
    assert one.get("/api/capture")[0] == 403
    one.cookie = f"{gate.cookie}={cookie}"
    assert one.get("/api/capture")[0] == 403


@pytest.mark.parametrize("host", ["", "evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:80", "localhost"])
def test_foreign_hosts(browser: Browser, host: str) -> None:
    """Somebody's name may lead to this computer, and its pages would be of the same origin then."""
    assert browser.get("/api/capture", host=host)[0] == 421
    assert browser.get("/api/capture", host="LOCALHOST:8123")[0] == 200


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "https://127.0.0.1:8123", "http://127.0.0.1:8124"])
def test_foreign_origins(browser: Browser, origin: str) -> None:
    assert browser.get("/api/capture", origin=origin)[0] == 403
    assert browser.get("/api/capture", origin=f"http://{HOST}")[0] == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_of_other_pages(browser: Browser, site: str) -> None:
    assert browser.get("/api/picture", sec_fetch_site=site, sec_fetch_mode="no-cors", sec_fetch_dest="image")[0] == 403
    assert browser.get("/api/capture", sec_fetch_site=site)[0] == 403
    # A link in a bug report opens the page.
    assert browser.get("/", sec_fetch_site=site, sec_fetch_mode="navigate", sec_fetch_dest="document")[0] == 200
    assert browser.get("/", sec_fetch_site=site, sec_fetch_mode="navigate", sec_fetch_dest="iframe")[0] == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "X"])
def test_other_methods(browser: Browser, method: str) -> None:
    assert browser.get("/api/capture", method=method)[0] == 405


def test_bodies_and_long_addresses(browser: Browser) -> None:
    assert browser.get("/api/capture", content_length="10")[0] == 413
    assert browser.get("/api/capture", transfer_encoding="chunked")[0] == 413
    assert browser.get("/api/why?at=" + "f" * gates.MOST_TARGET)[0] == 414
    assert browser.get("/" + "a" * gates.MOST_TARGET)[0] == 414


def test_every_answer_has_the_headers(gate: Gate, browser: Browser) -> None:
    answers = [
        browser.get("/"), browser.get("/", method="POST"), browser.get("/", host="evil.example"),
        Browser(gate).get("/"),
    ]  # fmt: skip
    for _, headers, _ in answers:
        assert HEADERS.items() <= headers.items()
    assert "script-src 'self'" in HEADERS["content-security-policy"]
    assert "unsafe" not in HEADERS["content-security-policy"]


def test_too_many_requests_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "MOST_REQUESTS", 2)
    free = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await free.wait()
        await app(scope, receive, send)

    async def run() -> list[int]:
        browser = Browser(Gate(slow, [HOST]))
        await browser.ask(f"/?{TOKEN}={browser.gate.token}")
        waiting = [asyncio.create_task(browser.ask("/api/why")) for _ in range(3)]
        await asyncio.sleep(0)
        late = await waiting[2]
        free.set()
        return [(await one)[0] for one in waiting[:2]] + [late[0], (await browser.ask("/"))[0]]

    assert asyncio.run(run()) == [200, 200, 503, 200]


def test_websockets_are_closed(browser: Browser) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(browser.gate({"type": "websocket", "headers": []}, None, send))  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008}]
