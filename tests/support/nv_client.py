"""Requests to the devices of nvdrv and to buffer queues, without a program.

    nv = NvClient()
    device = nv.open("/dev/nvmap")
    error, record = nv.control(device, "Create", size=0x1000)
    record["handle"]
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch import display as display_facts
from pocketgpu.facts.switch.nvdrv import RECORDS, REQUESTS, NvError
from pocketgpu.guests.kernel.memory import Permission
from pocketgpu.guests.switch.display.display import Display
from pocketgpu.guests.switch.services.binder import HosBinderDriver
from pocketgpu.guests.switch.services.nvdrv.service import NvDrv
from pocketgpu.maxwell.display.present import Surface

from .switch_requests import Asker

MEMORY, MEMORY_SIZE = 0x30_0100_0000, 0x40_0000
"""Memory of the program for nvmap objects."""
_NUMBERS = {one.name: one.number for one in REQUESTS.values()}
NAME = display_facts.PRODUCER.encode("utf-16-le")


class NvClient:
    """A kernel with nvdrv and a display with one layer. order: what numbers of requests are made of, by hand."""

    def __init__(self, choices: Mapping[str, str] | None = None) -> None:
        self.asker = Asker(choices)
        self.kernel = self.asker.kernel
        self.kernel.map_ram("objects", MEMORY, MEMORY_SIZE, Permission.READ | Permission.WRITE)
        self.service = NvDrv(self.kernel)
        self.driver = self.service.driver
        self.display = Display(self.kernel, self.driver)
        self.layer = self.display.new_layer() or 0
        self.binder = HosBinderDriver(self.kernel, self.display)
        self._used = 0

    # -- nvdrv ------------------------------------------------------------------------------------------------------
    def open(self, path: str) -> int:
        """A device's number."""
        number, error = struct.unpack("<II", self.asker.ask(self.service, 0, inputs=[path.encode()]).data)
        assert error == 0, path
        return int(number)

    def raw(self, device: int, number: int, data: bytes, more: bytes = b"", direction: int = 3) -> tuple[int, bytes]:
        """Any request: error and the bytes that came back. One that waits ends with a time-out."""
        word = direction << 30 | len(data) << 16 | number
        inputs = [data, more] if more else [data]
        answer = self.asker.send(self.service, 11 if more else 1, "<II", device, word, inputs=inputs, room=len(data))
        if answer is None:
            self.kernel.resume(self.asker.thread, None)
            return NvError.TIMEOUT, self.asker.output(len(data))
        return int.from_bytes(answer.data, "little"), self.asker.output(len(data))

    def control(self, device: int, name: str, more: bytes = b"", **fields: int) -> tuple[int, Record]:
        """A request by name, with fields of its record."""
        one = RECORDS.make(name, b"")
        for field, value in fields.items():
            one[field] = value
        error, data = self.raw(device, _NUMBERS[name], bytes(one.data), more)
        return error, RECORDS.make(name, data)

    def event(self, device: int, number: int) -> object:
        """An event of a device; None if there is none."""
        answer = self.asker.ask(self.service, 4, "<II", device, number)
        return answer.copies[0] if answer.copies else None

    def memory(self, device: int, size: int) -> int:
        """The handle of a new memory object with memory."""
        handle = self.control(device, "Create", size=size)[1]["handle"]
        address = MEMORY + self._used
        self._used += size + -size % 0x1000
        assert self.control(device, "Alloc", handle=handle, address=address, align=0x1000)[0] == NvError.SUCCESS
        return handle

    # -- the buffer queue -------------------------------------------------------------------------------------------
    def transact(self, code: int, arguments: bytes, name: bytes = NAME, room: int = 0x400) -> bytes:
        """The payload of an answer."""
        token = struct.pack("<II", 0x100, len(name) // 2) + name + bytes(2)
        token += bytes(-len(token) % 4)
        payload = token + arguments
        parcel = struct.pack("<4I", len(payload), 16, 0, 16 + len(payload)) + payload
        self.asker.ask(self.binder, 3, "<iII", self.layer, code, 0, inputs=[parcel], room=room)
        size, offset = struct.unpack("<II", self.asker.output(8))
        return self.asker.output(offset + size)[offset:]

    def connect(self) -> int:
        """The status."""
        return int(struct.unpack_from("<i", self.transact(10, struct.pack("<III", 0, 2, 0)), 16)[0])

    def set_buffer(self, slot: int, memory: int, offset: int, surface: Surface, format: int = 1) -> None:
        """Give the queue a buffer."""
        one = display_facts.RECORDS.make("GraphicBuffer")
        one["planes"], one["memory"], one["pixel_format"], one["offset"] = 1, memory, format, offset
        one["plane_width"], one["plane_height"], one["pitch"] = surface.width, surface.height, surface.stride
        one["layout"] = 3 if surface.block_linear else 1
        one["block_height_log2"] = surface.block_height_log2
        self.transact(14, struct.pack("<IIII", slot, 1, len(one.data), 0) + bytes(one.data))

    def take(self) -> tuple[int, int, int]:
        """Status, slot, and how many fences it came with."""
        answer = self.transact(3, struct.pack("<5I", 1, 0, 0, 0, 0))
        slot, count, status = struct.unpack_from("<i", answer)[0], answer[16], struct.unpack_from("<i", answer, 52)[0]
        return int(status), int(slot), int(count)

    def show(self, slot: int, interval: int = 1, fence: tuple[int, int] | None = None, **fields: int) -> int:
        """The status."""
        one, fences = display_facts.RECORDS.make("QueueInput"), display_facts.RECORDS.make("Fences")
        one["interval"] = interval
        for name, value in fields.items():
            one[name] = value
        if fence is not None:
            fences["count"] = 1
            fences.set_number("id", 0, fence[0])
            fences.set_number("value", 0, fence[1])
        one.set_part("fences", bytes(fences.data))
        answer = self.transact(7, struct.pack("<III", slot, len(one.data), 0) + bytes(one.data))
        return int(struct.unpack_from("<i", answer, 16)[0])
