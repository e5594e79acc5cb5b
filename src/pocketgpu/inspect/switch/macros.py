"""The macros that a recording loads."""

from __future__ import annotations

from pocketgpu.capture import Capture
from pocketgpu.capture.driver import drive, log_of_switch


def macros_of(capture: Capture) -> dict[int, list[int]]:
    """The instruction words of macros by number, at the end of the recording, of the first channel that has any.

    :raises UsageError: the capture is no recording of a Switch.
    """
    driver = drive(log_of_switch(capture, "only recordings of a Switch have macros"))
    machine = driver.machine
    machine.engine_classes = {}  # pushbuffers and macros only; nothing is copied or cleared
    driver.play_rest()
    found = (channel.macros() for channel in machine.channels.values())
    return next((macros for macros in found if macros), {})
