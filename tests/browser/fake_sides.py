"""Made-up answers about two sides of the desk, for tests of the page alone.

B lacks draw 1 of frame 0, and has a draw more after draw 2; pictures of B are those of A in another colour.
"""

from __future__ import annotations

from typing import Any

from browser.fake_server import ANSWERS, MARKUP, WIDTH, Fake, Refused

TEXT = f"BLEND_COLOR 0x1 -> 0x2 (r 1 -> 2) {MARKUP}"


class Desk:
    """What lies beside the capture. title: of B; "" for nothing."""

    def __init__(self, title: str = "") -> None:
        self.title = title
        self.refused = ""

    def sides(self, _: dict[str, str]) -> Any:
        names = [("a", "a.ctf.xz"), *([("b", self.title)] if self.title else [])]
        return {"sides": [{"name": name, "title": title, "console": "3DS", "frames": 2} for name, title in names]}

    def what_if(self, given: dict[str, str]) -> Any:
        if self.refused:
            raise Refused(self.refused)
        changes = [text for name in ("set", "force") for text in given.get(name, "").split(";") if text]
        self.title = " ".join(["a.ctf.xz", *changes]) if changes else ""
        return {"set": [], "force": [], **self.sides({})}


def _aligned(given: dict[str, str]) -> Any:
    frame = int(given["frame"])
    rows = [
        [0, None, 0, None, "equal", "load", f"load {MARKUP}", f"load {MARKUP}"],
        [2, 0, 2, 0, "equal", "draw", "draw 0: triangles", "draw 0: triangles"],
        [3, 1, None, None, "only a", "draw", "draw 1: triangles", None],
        [4, 2, 3, 1, "commands", "draw", "draw 2: triangles", "draw 1: triangles"],
        [None, None, 4, 2, "only b", "draw", None, "draw 2: lines"],
        [6, 3, 6, 3, "state", "draw", "draw 3: triangles", "draw 3: triangles"],
    ]
    differences = [
        {"level": "events", "a": "f0/d1", "b": None, "text": "only in A: draw 1"},
        {"level": "register", "a": "f0/d2", "b": "f0/d1", "text": TEXT},
        {"level": "events", "a": None, "b": "f0/d2", "text": "only in B: draw 2"},
    ]
    if frame:
        rows, differences = [[n, n, n, n, "equal", "draw", f"draw {n}", f"draw {n}"] for n in range(3000)], []
    columns = ["a", "draw_a", "b", "draw_b", "verdict", "kind", "title_a", "title_b"]
    return {"frame": frame, "columns": columns, "rows": rows, "differences": differences,
            "left_out": {"rows": 0, "differences": 0}}  # fmt: skip


def _differences(given: dict[str, str]) -> Any:
    pixel = {"level": "pixel", "a": "f0/d2/px1,2", "b": "f0/d1/px1,2", "text": "#11 -> #22"}
    names = ("events", "memory", "command", "register", "vertex", "pixel", "picture")
    levels = [{"name": name, "first": pixel if name == "pixel" else None} for name in names]
    return {"frame": int(given["frame"]), "levels": levels, "notes": []}


def _registers(given: dict[str, str]) -> Any:
    field = {"name": "r", "old": "1", "new": f"2 {MARKUP}"}
    change = {"register": "BLEND_COLOR", "old": given["a"], "new": given["b"], "fields": [field]}
    return {"a": given["a"], "b": given["b"], "changes": [change], "left_out": 0}


def _forcible(given: dict[str, str]) -> Any:
    fields = [
        {"name": "r", "type": "uint", "unit": "", "doc": MARKUP, "value": "17", "values": []},
        {"name": "mode", "type": "enum", "unit": "", "doc": "", "value": "0 (off)", "values": ["off", "on"]},
    ]
    found = [
        {"name": "BLEND_COLOR", "doc": MARKUP, "refusal": "", "word": "0x00000011", "fields": fields},
        {"name": "BLEND_NOW", "doc": "", "refusal": "a write has an effect", "word": None, "fields": []},
    ]
    words = given["text"].upper().split()
    return {"registers": [one for one in found if all(word in str(one["name"]) for word in words)], "more": False}


def picture_of_b(data: bytes) -> bytes:
    """The bytes of B's picture where A has others."""
    return bytes(255 - byte if at < 4 * WIDTH * 2 else byte for at, byte in enumerate(data))


def install(server: Fake, desk: Desk) -> None:
    """Have a server answer about two sides."""
    choices = [
        {"name": "fog.range", "default": "wide", "chosen": "wide", "alternatives": ["narrow", "none"],
         "doc": f"how wide {MARKUP}", "sources": [{"value": "wide", "source": MARKUP}]},
        {"name": "blend", "default": "exact", "chosen": "exact", "alternatives": ["fast"], "doc": "", "sources": []},
    ]  # fmt: skip

    def picture(given: dict[str, str]) -> bytes:
        data: bytes = ANSWERS["picture"](given)
        return picture_of_b(data) if given.get("side") == "b" else data

    def why(given: dict[str, str]) -> Any:
        found = ANSWERS["why"](given)
        return {**found, "because": f"{given.get('side', 'a')} says: {found['because']}"}

    server.answers |= {
        "sides": desk.sides, "aligned": _aligned, "differences": _differences, "unlike_registers": _registers,
        "unlike": lambda given: {"frame": 1 if int(given["from"]) == 1 else None,
                                 "next": 1 if int(given["from"]) == 0 else None},
        "choices": lambda given: {"choices": choices}, "forcible": _forcible, "what-if": desk.what_if,
        "picture": picture, "why": why,
    }  # fmt: skip
