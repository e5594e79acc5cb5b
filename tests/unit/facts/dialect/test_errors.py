"""Errors and events: what they say, and that the log stays small."""

from __future__ import annotations

from pocketgpu.errors import CaptureError, GuestMemoryError, NoPictureError, PocketGPUError, UsageError
from pocketgpu.events import DROPPED_ID, Event, EventLog


def test_error_text_has_place_and_hint() -> None:
    error = PocketGPUError("cannot do it", location="here", hint="Try that.")
    assert str(error) == "cannot do it (at here). Try that."
    assert str(UsageError("bad option")) == "bad option"
    assert str(NoPictureError("no frame 7.", hint="There are 3.")) == "no frame 7. There are 3."


def test_error_attributes() -> None:
    error = CaptureError("cut short", file="a.ctf", offset=0x20)
    assert (error.file, error.offset, error.location) == ("a.ctf", 0x20, "a.ctf, byte 0x20")
    unmapped = GuestMemoryError(0x1000, 4)
    assert (unmapped.address, unmapped.size) == (0x1000, 4)
    assert "0x00001000" in str(unmapped)


def test_repeated_events_are_merged() -> None:
    log = EventLog()
    log.report("warning", "pica.gas", "not modelled", at="f0/e1")
    log.report("warning", "pica.gas", "not modelled", at="f0/e9", count=3)
    log.report("fault", "pica.gas", "not modelled")
    assert list(log) == [
        Event("warning", "pica.gas", "not modelled", "f0/e1", 4),
        Event("fault", "pica.gas", "not modelled"),
    ]
    assert len(log.drain()) == 2 and len(log) == 0


def test_log_is_bounded() -> None:
    log = EventLog(limit=10)
    for n in range(100):
        log.report("warning", "x", f"message {n}", at=f"e{n}")
    assert len(log) == 11
    last = log.drain()[-1]
    assert (last.id, last.count, last.at) == (DROPPED_ID, 90, "e10")
    log.report("warning", "x", "again")
    assert len(log) == 1
