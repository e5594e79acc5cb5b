"""A server with the requests of docs/formats/view.md and made-up answers, so that the page is tested alone.

Frame 0 has two passes of three draws, frame 1 has 100,000 events. Every draw n paints pixel (n, 0) of its target. Names
and texts hold markup, which must stay text.
"""

from __future__ import annotations

import json
import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from browser import fake_draws, fake_flow, fake_resources, fake_shader, fake_stream

from pocketgpu.view.gate import HEADERS

WIDTH, HEIGHT = 40, 24
MANY = 100_000
MARKUP = "<img src=x onerror=document.title='broken'>"
"""A title that breaks a page that takes it for HTML."""
_PLACE = re.compile(r"f(\d+)(?:/([dep])(\d+))?(?:/(?:top/)?px(\d+),(\d+))?")


class Refused(Exception):
    """Answered with status 400."""


class Fake(ThreadingHTTPServer):
    """Serves the built page and the requests. `asked` lists the requests' paths; `slow` delays those of a path."""

    daemon_threads = True

    def __init__(self, page: Path) -> None:
        super().__init__(("127.0.0.1", 0), partial(_Handler, directory=str(page)))
        self._working = 0
        self._none_works = threading.Condition()
        self._begin()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def _begin(self) -> None:
        self.answers = dict(ANSWERS)
        """The answer of each request; tests may put others there."""
        self.asked: list[str] = []
        self.slow: dict[str, float] = {}
        self.overtaken: set[str] = set()
        """Paths whose next request is answered with status 409."""
        self.ended = threading.Event()

    def renew(self) -> None:
        """Become as new, when the requests of a page that has gone away are done."""
        self.ended.set()
        with self._none_works:
            assert self._none_works.wait_for(lambda: not self._working, timeout=60)
        self._begin()

    def end(self) -> None:
        self.ended.set()
        self.shutdown()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._none_works:
            self._working += 1
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._none_works:
                self._working -= 1
                self._none_works.notify_all()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def handle_error(self, request: Any, address: Any) -> None:
        """A page that aborts a request closes the connection; that's no error."""


class _Handler(SimpleHTTPRequestHandler):
    server: Fake
    timeout = 10
    """Seconds: a browser opens connections ahead, and may leave one without a request."""

    def log_message(self, format: str, *values: Any) -> None:
        pass

    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def do_GET(self) -> None:
        target = urlsplit(self.path)
        if not target.path.startswith("/api/"):
            super().do_GET()
            return
        name = target.path.removeprefix("/api/")
        given = {key: values[0] for key, values in parse_qs(target.query).items()}
        self.server.asked.append(self.path)
        self.server.ended.wait(self.server.slow.get(name, 0))
        if name in self.server.overtaken:
            self.server.overtaken.remove(name)
            self._send(409, _json({"error": {"message": "overtaken", "location": None, "hint": None}}))
            return
        if name == "progress":
            self._progress()
            return
        try:
            answer = self.server.answers[name](given)
        except Refused as error:
            at = given.get("at")
            self._send(400, _json({"error": {"message": str(error), "location": at, "hint": "Such as f0/d1."}}))
            return
        if isinstance(answer, bytes):
            self._send(200, answer, "application/octet-stream")
        else:
            self._send(200, _json(answer))

    def _progress(self) -> None:
        """Stay open until the server ends, as the real one does."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b'data: {"busy": false, "panel": ""}\n\n')
        self.wfile.flush()
        self.server.ended.wait()

    def _send(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


# -- what the capture holds -------------------------------------------------------------------------------------------
def rows(frame: int) -> list[list[Any]]:
    """Rows of `events`: in each pass a clear, then draws."""
    if frame == 1:
        return [[n, n, 0, "draw", f"draw {n}: triangles"] for n in range(MANY)]
    found: list[list[Any]] = [[0, None, None, "load", f"load {MARKUP}"]]
    for number in (0, 1):
        found.append([len(found), None, number, "clear", f"clear {number}"])
        for _ in range(3):
            draw = sum(row[1] is not None for row in found)
            found.append([len(found), draw, number, "draw", f"draw {draw}: triangles"])
    return found


def place(at: str) -> tuple[int, int | None]:
    """Frame and number of draws that are done at an address; None draws: all of the frame."""
    match = _PLACE.fullmatch(at)
    if match is None:
        raise Refused(f"'{at}' is no part of an address")
    frame, kind, number = int(match[1]), match[2], match[3]
    if frame > 2:
        raise Refused("there are 3 frames")
    if kind is None or kind == "p":
        return frame, None
    done = 0
    for event, draw, *_ in rows(frame):
        done += draw is not None
        if (draw if kind == "d" else event) == int(number):
            return frame, done
    raise Refused(f"frame {frame} has no {'draw' if kind == 'd' else 'event'} {number}")


def picture(given: dict[str, str]) -> bytes:
    """Bytes that depend on the place; each draw changed one pixel. Alpha is not 255 anywhere."""
    frame, done = place(given["at"])
    if given.get("before"):
        if given["at"] in ("f0", "f0/e0", "f0/p0"):
            raise Refused("nothing comes before this")
        events = [row for row in rows(frame) if f"f{frame}/d{row[1]}" == given["at"]]
        done = (done or 0) - bool(events)
    data = bytearray((n * 7 + frame) & 0xFF for n in range(WIDTH * HEIGHT * 4))
    for draw in range(min(WIDTH, 6 if done is None else done)):
        data[draw * 4 : draw * 4 + 4] = bytes((255 - draw, draw, 128, 77))
    return bytes(data)


def _pictures(given: dict[str, str]) -> Any:
    place(given["at"])
    kinds = {"top": "screen", "target": "colour", "depth": "depth"}
    return {"pictures": [
        {"name": name, "kind": kind, "title": f"{name} {WIDTH}x{HEIGHT} {MARKUP}", "width": WIDTH, "height": HEIGHT,
         "addresses": _addresses(given["at"], kind)}
        for name, kind in kinds.items()
    ]}  # fmt: skip


def _look(given: dict[str, str]) -> bytes:
    """The pictures of a place, and one of them: that of the wanted name, or the target inside of frames."""
    pictures = _pictures(given)["pictures"]
    names = [one["name"] for one in pictures]
    name = given["of"] if given.get("of") in names else "target" if "/" in given["at"] else "top"
    data = picture({"at": given["at"], "of": name})
    pixels = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
    return fake_draws.packed({"pictures": pictures, "shown": name}, [("pixels", "rgba", "u32", 1, pixels)])


def _addresses(at: str, kind: str) -> Any:
    """Targets count lines from below, as viewports do. Screens have addresses in frames, targets inside of them."""
    if (kind == "screen") == ("/" in at):
        return None
    if kind == "screen":
        return {"places": [f"{at}/top", at], "first": [0, 0], "turn": [[1, 0], [0, 1]]}
    return {"places": [at], "first": [0, HEIGHT - 1], "turn": [[1, 0], [0, -1]]}


def _pixel(given: dict[str, str]) -> Any:
    x, y, at = int(given["x"]), int(given["y"]), given["at"]
    named = _addresses(at, "screen" if given["of"] == "top" else "colour")
    address = named and f"{named['places'][0]}/px{x},{y if named['turn'][1][1] > 0 else HEIGHT - 1 - y}"
    return {"address": address, "values": [{"name": "red", "value": 1}, {"name": "note", "value": MARKUP}]}


def _why(given: dict[str, str]) -> Any:
    at = given["at"]
    place(at)
    if "/e" in at:
        raise Refused("this event is no draw")
    conclusion = [f"{at} is #263692: draw 2  f0/d2", "  proved: by a test"]
    text = "\n".join(
        [*conclusion, "", "what happened:", "  | f0/e1  clear", "  | f0/d2  draw 2", "  |   inputs", MARKUP]
    )
    programs = [{"program": "pixel program", "address": "f0/d2/px5,6", "parts": []}] if "/px" in at else []
    return {"address": at, "because": f"because of f0/d2, says the fake about {at}", "conclusion": conclusion,
            "proved": True, "text": text, "programs": programs, "links": _links(given)}  # fmt: skip


def _event(given: dict[str, str]) -> Any:
    place(given["at"])
    return {"address": given["at"], "title": f"event {MARKUP}", "facts": {"size": 16}, "reads": [],
            "writes": [{"address": "0x20000000", "size": 16}]}  # fmt: skip


def _state(given: dict[str, str]) -> Any:
    place(given["at"])
    fields = [{"name": "function", "old": "never", "new": f"less {MARKUP}"}]
    changes = [{"register": f"REGISTER_{n}", "old": "0x0", "new": f"0x{n:x}", "fields": fields} for n in range(1000)]
    summary = [{"name": "since", "text": given["since"]}, {"name": "depth", "text": MARKUP}]
    return {"summary": summary, "changes": changes}


def _notes(given: dict[str, str]) -> Any:
    return {"file": "fake.notes.json", "notes": []}


def _links(given: dict[str, str]) -> list[dict[str, Any]]:
    """Of the lines "f0/d2  draw 2" and "inputs" of the text of `_why`."""
    at = given["at"].split("/px")[0]
    return [
        {"line": 5, "at": at, "texture": "unit0", "part": "unit0.level1", "x": 3, "y": 2},
        {"line": 6, "at": at, "register": "TEXENV0_SOURCE"}, {"line": 6, "at": at, "register": "UNWRITTEN"},
    ]  # fmt: skip


def _register_word(given: dict[str, str]) -> Any:
    if given["register"] == "UNWRITTEN":
        return {"word": None}
    return {"word": {"register": given["register"], "event": "f0/d2", "line": 4321, "address": "0x20004384",
                     "value": "0x00000001"}}  # fmt: skip


ANSWERS: dict[str, Any] = {
    "capture": lambda given: {"name": f"fake {MARKUP}", "console": "3DS", "frames": 2, "rest": True, "version": "0"},
    "events": lambda given: {
        "frame": int(given["frame"]), "columns": ["event", "draw", "pass", "kind", "title"],
        "rows": rows(int(given["frame"])),
        "passes": [{"address": f"f{given['frame']}/p{n}", "target": f"target {n} {MARKUP}"} for n in range(2)],
    },
    "event": _event, "look": _look, "pictures": _pictures, "picture": picture, "pixel": _pixel, "why": _why,
    "state": _state, "notes": _notes, "flow": fake_flow.flow, "register-word": _register_word,
    **fake_stream.ANSWERS, **fake_shader.ANSWERS, **fake_resources.ANSWERS,
    **fake_draws.answers(WIDTH, HEIGHT, MARKUP, MANY),
    "sides": lambda given: {"sides": [{"name": "a", "title": "fake", "console": "3DS", "frames": 2}]},
    "choices": lambda given: {"choices": []},
}  # fmt: skip
