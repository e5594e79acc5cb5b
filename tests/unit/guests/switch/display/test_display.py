"""The buffer queue and the display: who has a buffer when, what is shown, and requests that are wrong."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from support.nv_client import NAME, NvClient

from pocketgpu.facts.switch.display import DISPLAY_SYNCPOINT, Code, Status
from pocketgpu.guests.kernel.objects import Event
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.services.vi import ApplicationDisplay, ManagerDisplay, SystemDisplay, Vi
from pocketgpu.maxwell.display.present import Surface, to_picture

SURFACE = Surface(64, 32, block_height=0, pitch=256)
SIZE = SURFACE.size
FULL, FREE = Status.WOULD_BLOCK, Status.OK


class Window(NvClient):
    """A queue with some buffers."""

    def __init__(self, buffers: int = 2, surface: Surface = SURFACE, format: int = 1, **choices: str) -> None:
        super().__init__({f"guest.{name}": value for name, value in choices.items()})
        self.device = self.open("/dev/nvmap")
        self.queue = self.display.layers[self.layer].queue
        assert self.connect() == 0
        size = surface.size + -surface.size % 0x1000
        self.handle = self.memory(self.device, buffers * size)
        for slot in range(buffers):
            self.set_buffer(slot, self.handle, slot * size, surface, format)
        self.place, self.size = self.driver.objects[self.handle].place or 0, size

    def fill(self, slot: int, value: int) -> None:
        """Store one byte everywhere in a buffer."""
        self.kernel.machine.memory.arena[self.place + slot * self.size :][: self.size] = value

    def vblank(self) -> list[int]:
        """The numbers of what a VBlank newly shows."""
        return [one.number for one in self.display.vblank(0).values()]

    @property
    def colour(self) -> int:
        """The first byte of the picture."""
        return int(self.display.screens["screen"].array[0, 0, 0])


def test_two_buffers_take_turns_with_the_display() -> None:
    window = Window()
    assert window.queue.event.on and window.display.screens == {}
    assert window.take() == (FREE, 0, 0) and window.take() == (FREE, 1, 0)
    assert window.take()[0] == FULL and not window.queue.event.on
    window.fill(0, 10)
    assert window.show(0) == 0 and window.display.screens == {} and window.take()[0] == FULL
    window.fill(1, 20)
    assert window.show(1) == 0 and window.display.present_count == 2
    assert window.vblank() == [0] and window.colour == 10
    assert window.take()[0] == FULL and not window.queue.event.on, "it is on the screen"
    assert window.vblank() == [1] and window.colour == 20
    assert window.queue.event.on and window.take() == (FREE, 0, 1), "back, with a fence"
    fence = window.queue.fences[0]
    assert fence[0] == DISPLAY_SYNCPOINT and window.driver.reached(*fence)
    assert window.vblank() == []


def test_an_interval_is_waited_for() -> None:
    window = Window(3)
    for _ in range(3):
        window.show(window.take()[1], interval=2)
    assert [window.vblank() for _ in range(6)] == [[0], [], [1], [], [2], []]


def test_without_an_interval_a_buffer_is_shown_at_once() -> None:
    window = Window(3)
    window.show(window.take()[1], interval=1)
    window.fill(1, 77)
    window.show(window.take()[1], interval=0)
    assert window.colour == 77 and window.display.present_count == 2 and window.vblank() == [1]
    assert window.take() == (FREE, 2, 0) and window.take() == (FREE, 0, 1)


def test_a_buffer_waits_for_its_fences() -> None:
    window = Window()
    window.show(window.take()[1], fence=(9, 1))
    window.take()
    window.show(1)
    assert window.display.present_count == 0 and window.vblank() == [] and window.display.screens == {}
    window.kernel.machine.syncpoints[9] = 1
    assert window.vblank() == [0] and window.vblank() == [1], "in their order"


def test_presents_that_are_vblanks() -> None:
    """With the trial kernel's clock each present is shown, and time is a 60th of a second later."""
    window = Window(clock="presents")
    ticks: list[int] = []
    window.display.at_present = ticks.append
    for number in range(3):
        assert window.take()[0] == FREE
        window.fill(number % 2, number)
        window.show(number % 2)
        assert window.colour == number
    assert ticks == [layout.START + n * layout.VSYNC for n in (1, 2, 3)] and window.kernel.time.now == ticks[-1]


def test_what_was_presented_is_shown_before_the_buffers_go() -> None:
    window = Window()
    window.fill(0, 50)
    window.show(window.take()[1])
    assert struct.unpack("<i", window.transact(Code.DISCONNECT, struct.pack("<I", 2))) == (0,)
    window.fill(0, 99)
    assert window.colour == 50, "the picture stays, whatever its memory is used for"
    assert window.take()[0] == Status.NO_INIT and window.connect() == 0
    window.set_buffer(0, window.handle, 0, SURFACE)
    window.show(window.take()[1])
    assert window.vblank() == [1] and window.colour == 99
    window.fill(0, 98)
    window.display.remove_layer(window.layer)
    assert window.colour == 99


def test_crop_and_transform() -> None:
    window = Window(1)
    window.fill(0, 0)
    window.kernel.machine.memory.arena[window.place] = 200
    window.show(window.take()[1], right=32, bottom=16, transform=1)
    window.vblank()
    picture = window.display.screens["screen"].array
    assert picture.shape == (16, 32, 3) and picture[0, 31, 0] == 200 and not picture[:, :31].any()


@pytest.mark.parametrize("block_height", [None, 1])
def test_a_crop_anywhere(block_height: int | None) -> None:
    surface = Surface(64, 32, block_height=block_height, pitch=256)
    window = Window(1, surface)
    bytes_ = np.random.default_rng(1).integers(0, 256, window.size, np.uint8)
    window.kernel.machine.memory.arena[window.place : window.place + window.size] = bytes_
    whole = to_picture(bytes_[: surface.size].tobytes(), surface)
    for left, top, right, bottom, shown in (
        (8, 3, 40, 16, whole[3:16, 8:40]), (63, 31, 99, 99, whole[31:, 63:]), (-5, 0, 7, 5, whole[:5, :7]),
        (64, 0, 99, 9, whole), (9, 9, 9, 20, whole), (0, 0, 0, 0, whole),
    ):  # fmt: skip
        window.show(window.take()[1], left=left, top=top, right=right, bottom=bottom)
        window.vblank()
        assert np.array_equal(window.display.screens["screen"].array, shown)
        outside = left < 0 or right > 64 or bottom > 32
        assert [one.id for one in window.kernel.events.drain()] == ["guest.buffer"] * outside


@pytest.mark.parametrize(("format", "name", "data", "colour"), [
    (1, "RGBA8_UNORM", [10, 20, 30, 40], [10, 20, 30]), (2, "RGBX8_UNORM", [10, 20, 30, 40], [10, 20, 30]),
    (4, "RGB565_UNORM", [0x1F, 0xF8, 0x1F, 0xF8], [255, 0, 255]), (5, "BGRA8_UNORM", [10, 20, 30, 40], [30, 20, 10]),
])  # fmt: skip
@pytest.mark.parametrize("block_height", [None, 2])
def test_formats(format: int, name: str, data: list[int], colour: list[int], block_height: int | None) -> None:
    window = Window(1, Surface(64, 32, name, block_height, 256), format)
    place = window.place
    window.kernel.machine.memory.arena[place : place + window.size] = np.array(data * (window.size // 4))
    window.show(window.take()[1])
    window.vblank()
    assert window.display.screens["screen"].array[5, 5].tolist() == colour
    assert window.display.screens["screen"].array.shape == (32, 64, 3)


@pytest.mark.parametrize(("memory", "offset", "surface", "format"), [
    (99, 0, SURFACE, 1), (1, 0, SURFACE, 3), (1, 1 << 31, SURFACE, 1), (1, 0, Surface(4096, 4096), 1),
    (1, 0, Surface(4097, 1, "RGB565_UNORM", None), 4),
])  # fmt: skip
def test_buffers_that_cannot_be_shown(memory: int, offset: int, surface: Surface, format: int) -> None:
    window = Window(2)
    window.set_buffer(2, 1, 0, Surface(4000, 1, "RGB565_UNORM", None), 4)
    assert list(window.queue.slots) == [0, 1, 2], "this one can"
    window.set_buffer(2, memory, offset, surface, format)
    assert list(window.queue.slots) == [0, 1] and [one.id for one in window.kernel.events] == ["guest.buffer"]
    assert window.show(2) == Status.BAD_VALUE


def test_a_buffer_can_be_given_back_and_taken_away() -> None:
    window = Window()
    window.take()
    window.transact(Code.CANCEL_BUFFER, struct.pack("<I", 0))
    assert window.take() == (FREE, 1, 0) and window.take() == (FREE, 0, 0)
    window.show(0)
    window.transact(Code.SET_PREALLOCATED_BUFFER, struct.pack("<II", 0, 0))
    assert window.vblank() == [] and list(window.queue.slots) == [1]
    assert window.show(1) == 0 and window.show(1) == Status.BAD_VALUE
    window.transact(Code.SET_PREALLOCATED_BUFFER, struct.pack("<II", 70, 0))


def test_a_single_buffer_comes_back_while_it_is_shown() -> None:
    window = Window(1)
    for number in range(3):
        assert window.take() == (FREE, 0, min(number, 1))
        window.fill(0, 10 * number)
        window.show(0)
        assert window.take()[0] == FULL and window.vblank() == [number] and window.colour == 10 * number


def test_a_buffer_that_the_program_has_can_be_detached() -> None:
    window = Window()

    def detach(slot: int) -> int:
        return int(struct.unpack("<i", window.transact(Code.DETACH_BUFFER, struct.pack("<I", slot)))[0])

    assert detach(0) == detach(7) == Status.BAD_VALUE, "it is in the queue; there is none"
    assert window.take() == (FREE, 0, 0) and detach(0) == 0 and list(window.queue.slots) == [1]
    assert window.take() == (FREE, 1, 0) and detach(1) == 0 and window.take()[0] == Status.NO_INIT


def test_the_layer_on_top_is_on_the_screen() -> None:
    window = Window()
    above = window.display.new_layer()
    assert above is not None
    system, first = SystemDisplay(window.kernel, window.display), window.layer
    assert window.asker.ask(system, 2205, "<Qq", above, 5).result == 0
    assert window.asker.ask(system, 2205, "<Qq", above, 256).result == Result.VI_OPERATION_FAILED
    assert window.asker.ask(system, 2205, "<Qq", 77, 5).result == Result.VI_NOT_FOUND
    assert window.asker.ask(system, 2204, "<Q", above).data == struct.pack("<q", 5)
    window.fill(0, 10)
    window.show(window.take()[1])
    assert window.vblank() == [0] and window.colour == 10
    window.layer = above
    window.connect()
    window.set_buffer(0, window.handle, window.size, SURFACE)
    window.fill(1, 90)
    window.show(window.take()[1])
    assert window.vblank() == [1] and window.colour == 90
    window.layer = first
    assert window.take() == (FREE, 1, 0) and window.show(1) == 0
    assert window.vblank() == [] and window.colour == 90, "it is covered"
    window.fill(1, 20)
    window.display.remove_layer(above)
    assert window.colour == 20


def test_what_a_program_asks_of_the_queue() -> None:
    window = Window()

    def ask(what: int) -> tuple[int, ...]:
        return struct.unpack("<Ii", window.transact(Code.QUERY, struct.pack("<I", what)))

    assert [ask(n) for n in (0, 1, 3)] == [(64, 0), (32, 0), (1, 0)] and ask(77)[1] == Status.BAD_VALUE
    assert window.connect() == Status.BAD_VALUE, "it is connected"
    assert struct.unpack("<Ii", window.transact(Code.REQUEST_BUFFER, struct.pack("<I", 1))) == (0, 0)
    assert struct.unpack("<Ii", window.transact(Code.REQUEST_BUFFER, struct.pack("<I", 5)))[1] == Status.BAD_VALUE
    assert struct.unpack("<i", window.transact(Code.SET_BUFFER_COUNT, b"")) == (Status.BAD_VALUE,)
    assert struct.unpack("<i", window.transact(1, b"", "nobody".encode("utf-16-le"))) == (Status.BAD_VALUE,)
    assert len(list(window.kernel.events)) == 2


def test_any_parcel_is_survived() -> None:
    chance = random.Random(3)
    window = Window()
    numbers = (0, 1, 2, 3, 0x54, 0x16C, 0x47424652, 64, 0xFFFFFFFF, 0x7FFFFFFF, 1280)
    for _ in range(3000):
        code = chance.choice((*map(int, Code), 99))
        words = [chance.choice(numbers) for _ in range(chance.choice((0, 1, 3, 5, 24, 100)))]
        parcel = bytearray(struct.pack("<4I", 8 + len(NAME) + 4 + 4 * len(words), 16, 0, 0))
        parcel += struct.pack("<II", 0x100, len(NAME) // 2) + NAME + bytes(2 + -(len(NAME) + 2) % 4)
        parcel += struct.pack(f"<{len(words)}I", *words)
        if chance.random() < 0.3:
            at = chance.randrange(len(parcel) // 4) * 4
            parcel[at : at + 4] = chance.choice(numbers).to_bytes(4, "little")
        window.asker.ask(
            window.binder, 3, "<iII", window.layer, code, 0, inputs=[bytes(parcel[: chance.choice((7, 16, 999))])],
            room=chance.choice((0, 4, 0x400)),
        )  # fmt: skip
        if chance.random() < 0.2:
            window.vblank()
            assert set(window.display.screens) <= {"screen"}


def test_services_of_the_display() -> None:
    window = Window()
    ask, display = window.asker.ask, window.display
    root = Vi(window.kernel, display, "vi:u")
    (service,) = ask(root, 0, "<I", 0).objects
    assert isinstance(service, ApplicationDisplay)
    kinds = [type(ask(service, n).objects[0]).__name__ for n in (100, 101, 102, 103)]
    assert kinds == ["HosBinderDriver", "SystemDisplay", "ManagerDisplay", "HosBinderDriver"]
    name = b"Default".ljust(64, b"\0")
    (display_id,) = struct.unpack("<Q", ask(service, 1010, "<64s", name).data)
    assert ask(service, 1010, "<64s", b"Edid".ljust(64, b"\0")).result == Result.VI_NOT_FOUND
    assert struct.unpack("<qq", ask(service, 1102, "<Q", display_id).data) == (1280, 720)
    manager, system = ManagerDisplay(window.kernel, display), SystemDisplay(window.kernel, display)
    (layer,) = struct.unpack("<Q", ask(manager, 2010, "<IIQQ", 0, 0, display_id, 0).data)
    stray, length = struct.unpack("<QQ", ask(system, 2312, "<QQ", 0, 0, room=0x100).data)
    assert len({layer, stray, window.layer}) == 3
    assert struct.unpack_from("<I", window.asker.output(length), 24) == (stray,), "the number of its binder"
    opened = struct.pack("<64sQQ", name, layer, 0)
    assert ask(service, 2020, f"<{len(opened)}s", opened, room=0x100).data == struct.pack("<Q", 60)
    assert ask(service, 2021, "<Q", layer).result == 0 and ask(service, 2021, "<Q", layer).result == Result.VI_NOT_FOUND
    assert ask(manager, 2011, "<Q", layer).result == 0 and ask(manager, 2011, "<Q", layer).result == Result.VI_NOT_FOUND
    assert ask(window.binder, 2, "<ii", 999, 15).result == Result.VI_NOT_FOUND
    (event,) = ask(service, 5202, "<Q", display_id).copies
    assert isinstance(event, Event) and not event.on
    window.vblank()
    assert event.on
    while display.new_layer() is not None:
        pass
    assert ask(service, 2030, "<IIQ", 0, 0, display_id, room=0x100).result == Result.VI_OPERATION_FAILED
