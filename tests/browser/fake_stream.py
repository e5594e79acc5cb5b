"""A made-up command stream of 1,000,000 rows. Draw n of frame 0 has rows 5000 n to 5000 n + 4999; those after row
30,000 belong to draws of frame 1, ten each. Every thousandth row is of the register NEEDLE, every tenth one has
changed."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

COUNT = 1_000_000
DRAW, DRAWS, LATER = 5000, 6, 10
EVERY = 1000
BASE = 0x20000000
_MARKUP = "<img src=x onerror=document.title='broken'>"


def at_of(row: int) -> str:
    """The draw of a row."""
    return f"f0/d{row // DRAW}" if row < DRAW * DRAWS else f"f1/d{(row - DRAW * DRAWS) // LATER}"


def extent(at: str) -> tuple[int, int]:
    """The rows of a place."""
    frame, draw = re.fullmatch(r"f(\d+)(?:/d(\d+))?.*", at).groups()  # type: ignore[union-attr]
    later = DRAW * DRAWS
    if draw is None:
        return ((0, later), (later, COUNT), (COUNT, COUNT))[int(frame)]
    first, size = (0, DRAW) if frame == "0" else (later, LATER)
    begin = min(first + size * int(draw), COUNT)
    return begin, min(begin + size, COUNT)


def is_needle(row: int) -> bool:
    return row % EVERY == EVERY - 1


def line(row: int) -> dict[str, Any]:
    """What a row holds."""
    name = "NEEDLE" if is_needle(row) else "TEXENV0_SOURCE"
    found = {"at": at_of(row), "list": row // DRAW, "position": row % DRAW, "address": f"0x{BASE + 4 * row:08x}",
             "word": f"0x{row:08x}", "what": "header" if row % 2 else "parameter",
             "register": {"id": "0x0c0", "name": name}, "fields": {"rgb0": _MARKUP}}  # fmt: skip
    return found | ({"changed": True} if row % 10 == 0 else {})


@cache
def _rows(text: str, changed: str, within: str) -> Any:
    first, end = extent(within) if within else (0, COUNT)
    if not text and changed == "0":
        return range(first, end)
    needle = "needle" in text
    return [
        row for row in range(first, end)
        if (not text or (is_needle(row) if needle else f"{row:08x}" == text)) and (changed == "0" or row % 10 == 0)
    ]  # fmt: skip


def _view(given: dict[str, str], find: str = "") -> Any:
    return _rows(find or given.get("text", ""), given["changed"], given.get("within", ""))


def _progress(rows: Any) -> dict[str, Any]:
    return {"found": len(rows), "scanned": COUNT, "of": COUNT, "done": True}


def _window(given: dict[str, str]) -> Any:
    first = int(given["first"])
    rows = _view(given)[first : first + int(given["count"])]
    find = given.get("find", "")
    return {"columns": ["row", "hit", "line"], "rows": [[row, find == "needle" and is_needle(row), line(row)]
                                                       for row in rows]}  # fmt: skip


def index(rows: Any, row: int) -> int:
    """How many of some rows come before a row."""
    return sum(one < row for one in rows) if isinstance(rows, list) else min(max(row - rows.start, 0), len(rows))


def _place(given: dict[str, str]) -> Any:
    rows = _view(given)
    first, end = extent(given["at"])
    row = first + int(given.get("line", 0))
    kept = index(rows, int(given["row"])) if "row" in given else None
    return {"first": first, "end": end, "row": row, "index": index(rows, row), "kept": kept}


def _find(given: dict[str, str]) -> Any:
    hits, forward = _view(given, given["find"]), given["way"] == "next"
    start = int(given.get("from", -1 if forward else COUNT))
    found = [row for row in hits if (row > start if forward else row < start)]
    row = (found[0] if forward else found[-1]) if found else None
    at = {"row": row, "index": None, "hit": None} if row is None else {
        "row": row, "index": index(_view(given), row), "hit": index(hits, row)}  # fmt: skip
    return {**at, "known": True, **_progress(hits)}


def _event(given: dict[str, str]) -> Any:
    row = int(given["row"])
    return {"at": at_of(row), "line": row - extent(at_of(row))[0]}


ANSWERS: dict[str, Any] = {
    "stream_open": lambda given: {"ready": True, "rows": COUNT, "words": COUNT, "issued": 0},
    "stream_sift": lambda given: _progress(_view(given, given.get("find", ""))),
    "stream": _window, "stream_place": _place, "stream_find": _find,
    "stream_event": _event,
}  # fmt: skip
