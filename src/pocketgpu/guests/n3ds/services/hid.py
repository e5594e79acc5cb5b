"""`hid:USER`: buttons, circle pad, touch and motion. Source: 3dbrew HID Shared Memory; libctru's hid.c."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.memory import PAGE, host_memory
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.n3ds.abi import pages
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, command
from pocketgpu.late_dataclass import dataclass

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
_CIRCLE_IS_KEY: Final = 41
_MOTION_ENTRIES, _MOTION_SIZE = 0x20, 6
_GYROSCOPE_ENTRIES: Final = 32
GRAVITY: Final = 512
"""The earth's acceleration in units of the accelerometer."""
DEGREE: Final = 14.375
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
    """What a player does at a VBlank.

    keys: bits as libctru's KEY_A and so on. circle: x and y of the circle pad, -156 to 156. touch: x and y of the lower
    screen, or None. acceleration: x, y and z in 512ths of the earth's. rotation: x, y and z in units of the gyroscope,
    14.375 for a degree in a second. slider: the 3D slider, 0 to 1; None leaves it where it is. volume: 0 to 63.
    """

    keys: int = 0
    circle: tuple[int, int] = (0, 0)
    touch: tuple[int, int] | None = None
    acceleration: tuple[int, int, int] = (0, -GRAVITY, 0)
    rotation: tuple[int, int, int] = (0, 0, 0)
    slider: float | None = None
    volume: int = 63

    @property
    def pad(self) -> int:
        """Keys as the console has them: the circle pad counts as keys too, when it is far from its middle."""
        keys = self.keys
        for value, more, less in zip(self.circle, ("CPAD_RIGHT", "CPAD_UP"), ("CPAD_LEFT", "CPAD_DOWN"), strict=True):
            if abs(value) >= _CIRCLE_IS_KEY:
                keys |= 1 << KEYS[more if value > 0 else less]
        return keys


class Hid(Service):
    """The service. block: its shared memory."""

    name = "hid:USER"

    def __init__(self, kernel: N3DSKernel) -> None:
        super().__init__(kernel)
        self.block = MemoryBlock("hid's shared memory", host_memory(PAGE))
        self.events = tuple(Event(Reset.ONE_SHOT, f"hid {n}") for n in range(5))
        self.now = Input()
        self._updates = 0
        self._motion = {ACCELEROMETER: 0, GYROSCOPE: 0}
        self._enabled = {ACCELEROMETER: 0, GYROSCOPE: 0}
        self._writes_motion = kernel.machine.choices["guest.motion"] == "written"
        self._edges = kernel.machine.choices["guest.hid_edges"] == "told"

    def _head(self, section: int, index: int) -> None:
        """The beginning of a section: tick of the entry, tick of the one before, index of the entry."""
        (tick,) = struct.unpack_from("<Q", self.block.view, section)
        struct.pack_into("<QQI", self.block.view, section, self.kernel.time.now, tick, index)

    def update(self, new: Input) -> None:
        """The next entry of pad and touch, and of the motion sensors that are enabled."""
        self._updates += 1
        view, index = self.block.view, self._updates % ENTRIES
        for section in (PAD, TOUCH):
            self._head(section, index)
        keys, before = new.pad, self.now.pad
        pressed, released = (keys & ~before, before & ~keys) if self._edges else (0, 0)
        struct.pack_into("<I", view, _CURRENT_PAD, keys)
        entry = keys, pressed, released, *new.circle
        struct.pack_into("<IIIhh", view, PAD + _PAD_ENTRIES + _PAD_SIZE * index, *entry)
        touched = (*new.touch, 1) if new.touch else (0, 0, 0)
        struct.pack_into("<HHI", view, TOUCH + _TOUCH_ENTRIES + _TOUCH_SIZE * index, *touched)
        self.now = new
        signalled = [*self.events[:PAD_EVENTS]]
        for section, values, entries, event in (
            (ACCELEROMETER, new.acceleration, ENTRIES, 2), (GYROSCOPE, new.rotation, _GYROSCOPE_ENTRIES, 3)
        ):  # fmt: skip
            if self._enabled[section] and self._writes_motion:
                at = self._motion[section] = (self._motion[section] + 1) % entries
                self._head(section, at)
                struct.pack_into("<hhh", view, section + _MOTION_ENTRIES + _MOTION_SIZE * at, *values)
                signalled.append(self.events[event])
        if new.slider is not None:
            pages.set_slider(self.kernel.shared_page, new.slider)
        for one in signalled:
            self.kernel.signal(one)

    @command(0xA)
    def get_handles(self, request: Request) -> Answer:
        return Answer(handles=(self.block, *self.events))

    def _enable(self, section: int, by: int) -> Answer:
        """Sensors are on as long as somebody has enabled them."""
        self._enabled[section] = max(0, self._enabled[section] + by)
        return Answer()

    @command(0x11)
    def enable_accelerometer(self, request: Request) -> Answer:
        return self._enable(ACCELEROMETER, 1)

    @command(0x12)
    def disable_accelerometer(self, request: Request) -> Answer:
        return self._enable(ACCELEROMETER, -1)

    @command(0x13)
    def enable_gyroscope(self, request: Request) -> Answer:
        return self._enable(GYROSCOPE, 1)

    @command(0x14)
    def disable_gyroscope(self, request: Request) -> Answer:
        return self._enable(GYROSCOPE, -1)

    @command(0x15)
    def get_gyroscope_coefficient(self, request: Request) -> Answer:
        return Answer(values=struct.unpack("<I", struct.pack("<f", DEGREE)))

    @command(0x16)
    def get_gyroscope_calibration(self, request: Request) -> Answer:
        data = struct.pack("<9h", *_CALIBRATION) + bytes(2)
        return Answer(values=struct.unpack("<5I", data))

    @command(0x17)
    def get_sound_volume(self, request: Request) -> Answer:
        return Answer(values=(self.now.volume & 0xFF,))
