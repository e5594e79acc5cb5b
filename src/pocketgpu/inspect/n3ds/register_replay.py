"""Replays of captures for their registers only: lists run, nothing is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.events import Event
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.pica.core.observer import Undrawn

if TYPE_CHECKING:
    from pocketgpu.capture import Capture


def registers_after(capture: Capture, frame: int) -> tuple[dict[int, int], list[Event]]:
    """Words of the display registers by physical address after a frame of a capture, and the events of the replay."""
    from pocketgpu.capture.driver import drive, trace_of_3ds

    driver = drive(trace_of_3ds(capture))
    machine = driver.machine
    machine.observe(Undrawn())
    events: list[Event] = []
    for replayed in driver.frames(range(frame, frame + 1), pictures=False):
        events += replayed.warnings
    shown = [register.address for register in EXTERNAL if register.name.startswith("PDC") and register.access != "w"]
    return {address: machine.peek(address) for address in shown}, events
