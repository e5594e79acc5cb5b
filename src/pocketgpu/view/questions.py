"""What the page asks, as functions of an inspection: plain data for JSON, and pixels. They run on the machine's thread.

Nothing here knows a console; what is missing belongs to `inspect`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pocketgpu.digests import blake2b
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.pictures import MomentPicture
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pictures import to_png

Json = Mapping[str, Any]
COLUMNS = ("event", "draw", "pass", "kind", "title")
"""Of the rows of `events`."""
_TAG_BYTES = 12


@dataclass(frozen=True)
class Pixels:
    """The bytes of a picture, and a tag that is the same if the bytes are."""

    data: bytes
    type: str
    tag: str
    width: int
    height: int


def capture(run: Inspection, name: str, version: str) -> Json:
    """What the capture is. name: of its file, without folders."""
    return {
        "name": name, "console": run.capture.console, "frames": run.frame_count, "rest": run.has_rest,
        "version": version,
    }  # fmt: skip


def events(run: Inspection, frame: int) -> Json:
    """The events of a frame, a row for each, and its passes."""
    rows = [[one.number, one.draw, one.pass_, one.kind, one.title] for one in run.events(frame)]
    passes = [{"address": str(one.address), "target": one.target} for one in run.passes(frame)]
    return {"frame": frame, "passes": passes, "columns": COLUMNS, "rows": rows}


def event(run: Inspection, at: Address) -> Json:
    """One event with its words."""
    return run.event(at).to_json(words=True)


def pictures(run: Inspection, at: Address) -> Json:
    """What can be looked at."""
    return {
        "pictures": [
            {"name": one.name, "kind": one.kind, "title": one.title, "width": one.width, "height": one.height}
            for one in _at(run, at).values()
        ]
    }


def picture(run: Inspection, at: Address, name: str, png: bool) -> Pixels:
    """The pixels of a picture: RGBA, or the bytes of a PNG file."""
    found = _named(run, at, name)
    pixels = found.pixels
    data = to_png(pixels) if png else pixels.tobytes()
    tag = blake2b(data, digest_size=_TAG_BYTES).hexdigest()
    return Pixels(data, "image/png" if png else "application/octet-stream", tag, found.width, found.height)


def pixel(run: Inspection, at: Address, name: str, x: int, y: int) -> Json:
    """Address and values of a pixel of a picture."""
    found = _named(run, at, name)
    address = found.at(x, y)
    return {
        "address": None if address is None else str(address),
        "values": [{"name": name, "value": value} for name, value in found.values(x, y).items()],
    }  # fmt: skip


def why(run: Inspection, at: Address) -> Json:
    """The answer about a pixel, a draw, a primitive, a thread or a frame."""
    answer = run.why(at)
    return {**answer.to_json(), "text": answer.text()}


def state(run: Inspection, at: Address, since: str) -> Json:
    """What is in effect after an event, and what has changed since another."""
    moment = run.seek(at.place)
    return {
        "summary": [{"name": name, "text": text} for name, text in moment.summary.to_json().items()],
        "changes": [one.to_json() for one in moment.changes(since)],
        "missing": moment.missing,
    }  # fmt: skip


def words(run: Inspection, at: Address) -> Json:
    """The words of the command stream that belong to an event."""
    return {"lines": [json.loads(line) for line in run.words_of(run.event(at))]}


def _at(run: Inspection, at: Address) -> dict[str, MomentPicture]:
    return run.seek(at.place).pictures


def _named(run: Inspection, at: Address, name: str) -> MomentPicture:
    found = _at(run, at)
    if name not in found:
        hint = f"There are: {', '.join(found)}." if found else "There is nothing to look at."
        raise UsageError(f"there is no picture called '{name}'", location=str(at), hint=hint)
    return found[name]
