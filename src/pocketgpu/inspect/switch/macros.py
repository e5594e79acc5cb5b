"""The macros that a recording loads."""

from __future__ import annotations

from pocketgpu.capture import Capture
from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.errors import UsageError


def macros_of(capture: Capture) -> dict[int, list[int]]:
    """The instruction words of macros by number, at the end of the recording, of the first channel that has any.

    :raises UsageError: the capture is no recording of a Switch.
    """
    log = capture.trace
    if not isinstance(log, ChannelLog):
        raise UsageError("only recordings of a Switch have macros", location=str(capture.path))
    driver = drive(log)
    machine = driver.machine
    machine.engine_classes = {}  # pushbuffers and macros only; nothing is copied or cleared
    driver.play_rest()
    found = (channel.macros() for channel in machine.channels.values())
    return next((macros for macros in found if macros), {})
