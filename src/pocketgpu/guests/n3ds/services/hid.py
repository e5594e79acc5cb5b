"""`hid:USER`: buttons, circle pad, touch and motion. Source: 3dbrew HID Shared Memory; libctru's hid.c."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.memory import PAGE, host_memory
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.n3ds.abi.blocks import MemoryBlock
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, command

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

PAD: Final = 0x000
TOUCH: Final = 0x0A8
ACCELEROMETER: Final = 0x108
GYROSCOPE: Final = 0x158
ENTRIES: Final = 8
PAD_EVENTS: Final = 2
"""So many of the five events are about pad and touch."""
_INDEX: Final = 0x10
_CURRENT_PAD: Final = 0x1C
_PAD_ENTRIES, _PAD_SIZE = 0x28, 16
_TOUCH_ENTRIES, _TOUCH_SIZE = 0x20, 8
_ROTATION: Final = 14.375
"""Units of the gyroscope for a degree in a second."""
_CALIBRATION: Final = (0, 6700, -6700) * 3
"""Zero, plus and minus of each axis of the gyroscope."""


KEYS: Final = {
    "A": 0, "B": 1, "SELECT": 2, "START": 3, "RIGHT": 4, "LEFT": 5, "UP": 6, "DOWN": 7, "R": 8, "L": 9, "X": 10,
    "Y": 11, "ZL": 14, "ZR": 15, "TOUCH": 20, "CSTICK_RIGHT": 24, "CSTICK_LEFT": 25, "CSTICK_UP": 26, "CSTICK_DOWN": 27,
    "CPAD_RIGHT": 28, "CPAD_LEFT": 29, "CPAD_UP": 30, "CPAD_DOWN": 31,
}  # fmt: skip
"""Bits of the pad by key. Source: libctru's hid.h."""


@dataclass(frozen=True, slots=True)
class Input:
    """What a player does. keys: bits as libctru's KEY_A and so on. circle: x and y, -156 to 156. touch: x and y of the
    lower screen, or None."""

    keys: int = 0
    circle: tuple[int, int] = (0, 0)
    touch: tuple[int, int] | None = None


class Hid(Service):
    """The service. block: its shared memory."""

    name = "hid:USER"

    def __init__(self, kernel: N3DSKernel) -> None:
        super().__init__(kernel)
        self.block = MemoryBlock("hid's shared memory", host_memory(PAGE))
        self.events = tuple(Event(Reset.ONE_SHOT, f"hid {n}") for n in range(5))
        self.now = Input()
        self._updates = 0
        self._edges = kernel.machine.choices["guest.hid_edges"] == "told"

    def update(self, new: Input) -> None:
        """The next entry of pad and touch."""
        self._updates += 1
        view, index = self.block.view, self._updates % ENTRIES
        for section in (PAD, TOUCH):
            (tick,) = struct.unpack_from("<Q", view, section)
            struct.pack_into("<QQI", view, section, self.kernel.time.now, tick, index)
        pressed, released = (new.keys & ~self.now.keys, self.now.keys & ~new.keys) if self._edges else (0, 0)
        struct.pack_into("<I", view, _CURRENT_PAD, new.keys)
        entry = new.keys, pressed, released, *new.circle
        struct.pack_into("<IIIhh", view, PAD + _PAD_ENTRIES + _PAD_SIZE * index, *entry)
        touched = (*new.touch, 1) if new.touch else (0, 0, 0)
        struct.pack_into("<HHI", view, TOUCH + _TOUCH_ENTRIES + _TOUCH_SIZE * index, *touched)
        self.now = new
        for event in self.events[:PAD_EVENTS]:
            self.kernel.signal(event)

    @command(0xA)
    def get_handles(self, request: Request) -> Answer:
        return Answer(handles=(self.block, *self.events))

    @command(0x11)
    def enable_accelerometer(self, request: Request) -> Answer:
        return Answer()

    @command(0x12)
    def disable_accelerometer(self, request: Request) -> Answer:
        return Answer()

    @command(0x13)
    def enable_gyroscope(self, request: Request) -> Answer:
        return Answer()

    @command(0x14)
    def disable_gyroscope(self, request: Request) -> Answer:
        return Answer()

    @command(0x15)
    def get_gyroscope_coefficient(self, request: Request) -> Answer:
        return Answer(values=struct.unpack("<I", struct.pack("<f", _ROTATION)))

    @command(0x16)
    def get_gyroscope_calibration(self, request: Request) -> Answer:
        data = struct.pack("<9h", *_CALIBRATION) + bytes(2)
        return Answer(values=struct.unpack("<5I", data))

    @command(0x17)
    def get_sound_volume(self, request: Request) -> Answer:
        return Answer(values=(0x3F,))
