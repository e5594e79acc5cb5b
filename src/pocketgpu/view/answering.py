"""From a request to its reply, for the server and for the messages of a notebook's widget.

    asking = begin(machine, asked["why"], {"at": "f1/px8,9"})       # a future: the machine's thread answers
    reply = reply_of(asking)                                        # status 200 and JSON, or what is wrong

Both carriers send these bytes, so what shows them cannot tell which one it was.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import field
from typing import Any, Final

from pocketgpu.errors import PocketGPUError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.view.machine_thread import Busy, MachineThread, Overtaken
from pocketgpu.view.questions.asking import AnyAsked, Buffer, Download, Found, Json, Pixels
from pocketgpu.view.questions.desk import Desk
from pocketgpu.view.questions.parameters import Parameters

MOST_REQUESTS: Final = 96
"""Most requests at a time, of a server or of a widget."""
MOST_TARGET: Final = 2048
"""Most bytes of a request's path and query."""
NO_STORE: Final = {"cache-control": "no-store"}
OK: Final = 200
BAD_REQUEST: Final = 400
NOT_FOUND: Final = 404
OVERTAKEN: Final = 409
FAILED: Final = 500
BUSY: Final = 503
"""Statuses, as of HTTP."""
_JSON: Final = "application/json"
_MOST_NAME: Final = 120
"""Most characters of the name of a file."""
_MOST_PANEL: Final = 80
"""Most characters of the names of a tab and a panel."""


@dataclass(frozen=True)
class Reply:
    """What a request is answered with. status, type, headers: as in HTTP; names of headers are in small letters."""

    status: int
    type: str
    data: bytes
    headers: Mapping[str, str] = field(default_factory=lambda: NO_STORE)


def begin(machine: MachineThread[Desk], asked: AnyAsked, query: Mapping[str, str]) -> Future[Found]:
    """Ask the machine. Whatever is wrong is in the future. It may be cancelled: what has not begun then never does."""
    given = Parameters(query)
    try:
        tab, panel = given.text("tab", ""), given.text("panel", "")
        asker = f"{tab}, {panel}"[:_MOST_PANEL] if tab and panel else ""
        return machine.put(asker, asked.question(given), asked.is_slow(given), given.number("turn", 0))
    except Exception as error:  # the page waits for a reply, whatever went wrong
        refused: Future[Found] = Future()
        refused.set_exception(error)
        return refused


def reply_of(asking: Future[Found]) -> Reply:
    """The reply to a question that is done."""
    try:
        found = asking.result()
    except PocketGPUError as error:
        return refusal(error.message, BAD_REQUEST, error.location, error.hint)
    except (Overtaken, CancelledError):
        return refusal("the panel has asked something newer", OVERTAKEN)
    except Busy:
        return refusal("too many questions wait", BUSY, hint="Ask again in a moment.")
    except Exception:
        logging.getLogger(__name__).exception("a question has failed")
        return refusal("the question has failed", FAILED, hint="This is a fault of pocketgpu. Its log has the details.")
    if isinstance(found, Download):
        # It is to be saved. It cannot be shown here: pages to send have styles, which the viewer's site forbids.
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", found.name)[:_MOST_NAME]
        return Reply(OK, found.type, found.data, NO_STORE | {"content-disposition": f'attachment; filename="{name}"'})
    return _of_bytes(found) if isinstance(found, Buffer) else in_json(found)


def refusal(message: str, status: int, location: str | None = None, hint: str | None = None) -> Reply:
    """A reply that says what is wrong."""
    return in_json({"error": {"message": message, "location": location, "hint": hint}}, status)


def in_json(value: Json, status: int = OK) -> Reply:
    """Data as a reply."""
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(_plain(value), allow_nan=False, separators=(",", ":"))
    return Reply(status, _JSON, text.encode())


def _of_bytes(found: Buffer) -> Reply:
    headers = {"etag": f'"{found.tag}"', "cache-control": "no-cache"} if found.tag else dict(NO_STORE)
    if isinstance(found, Pixels):
        headers["x-size"] = f"{found.width}x{found.height}"
    return Reply(OK, found.type, found.data, headers)


def _plain(value: Any) -> Any:
    """Data with texts in place of numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


__all__ = [
    "BAD_REQUEST", "BUSY", "FAILED", "NOT_FOUND", "NO_STORE", "OK", "OVERTAKEN", "Reply", "begin", "in_json",
    "refusal", "reply_of",
]  # fmt: skip
