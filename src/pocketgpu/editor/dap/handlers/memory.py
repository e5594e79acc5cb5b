"""Requests about bytes of memory."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from pocketgpu.editor.dap.debuggee.lane import Lane
from pocketgpu.editor.dap.debuggee.memory import MOST_READ, place_of, reference_of
from pocketgpu.editor.dap.debuggee.session import Session
from pocketgpu.editor.dap.protocol.messages import Arguments, Json, short
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.memory_words import WORD

MOST_WRITTEN: Final = 4096
"""Bytes of a what-if in memory."""


def _place(session: Session, given: Arguments) -> tuple[Lane, str, int]:
    """The lane that sees it, space, address."""
    space, address, thread = place_of(given.text("memoryReference"))
    address += given.number("offset", 0)
    if address < 0:
        raise UsageError(f"{short(address)} is no address", location="offset")
    return session.lane(thread or session.focus), space, address


def read_memory(session: Session, given: Arguments) -> Json:
    """Memory as the thread sees it that moved last; local memory as its own thread."""
    lane, space, address = _place(session, given)
    count = given.number("count")
    if not 0 <= count <= MOST_READ:
        raise UsageError(f"{short(count)} bytes; {MOST_READ} are the most at once", location="count")
    data, missing = lane.memory.read(space, address, count, lane.time.tick(lane)) if count else (b"", 0)
    found: Json = {"address": f"{address:#x}", "data": base64.b64encode(data).decode()}
    return found | ({"unreadableBytes": missing} if missing else {})


def write_memory(session: Session, given: Arguments) -> Json:
    """What-if: bytes are others from here on."""
    lane, space, address = _place(session, given)
    try:
        data = base64.b64decode(given.text("data"), validate=True)
    except (binascii.Error, ValueError):
        raise UsageError("this is not in base 64", location="data") from None
    if not 1 <= len(data) <= MOST_WRITTEN:
        raise UsageError(f"{len(data)} bytes; 1 to {MOST_WRITTEN} can be written", location="data")
    first, end = address & -WORD, -(-(address + len(data)) // WORD) * WORD
    before, missing = lane.memory.read(space, first, end - first, lane.time.tick(lane))
    if missing:
        raise UsageError(f"nothing is at {reference_of(space, first + len(before))}", location="memoryReference")
    after = before[: address - first] + data + before[address - first + len(data) :]
    words = {
        lane.memory.name(space, first + at): int.from_bytes(after[at : at + WORD], "little")
        for at in range(0, len(after), WORD) if after[at : at + WORD] != before[at : at + WORD]
    }  # fmt: skip
    if words:
        lane.force(words)
        session.changed(lane, f"{len(data)} bytes at {reference_of(space, address)}")
        if session.client.flag("supportsMemoryEvent", False):
            where = given.text("memoryReference")
            session.later("memory", memoryReference=where, offset=given.number("offset", 0), count=len(data))
    return {"bytesWritten": len(data)}


__all__ = ["read_memory", "write_memory"]
