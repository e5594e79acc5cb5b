"""The queue of a layer's buffers: the program takes a free one, draws, and puts it into the queue; the display shows
it and gives back the one that it showed before. Source: libnx's gfx/buffer_producer.c and display/native_window.c.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from struct import pack
from typing import TYPE_CHECKING, Final, Protocol

from pocketgpu.errors import UsageError
from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch import display as facts
from pocketgpu.facts.switch.display import RECORDS, Code, PixelLayout, Query, Status
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi.parcel import ParcelReader, flat
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.display.present import Surface

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.switch.kernel import SwitchKernel
    from pocketgpu.guests.switch.services.nvdrv.driver import MemoryObject

Fence = tuple[int, int]
"""A syncpoint and the value that it must reach."""
_KEPT_BY_DISPLAY: Final = 1
"""Buffers that a program cannot have, because the display shows them."""


class Memory(Protocol):
    """Who knows memory objects by id: the driver of the GPU."""

    @property
    def objects(self) -> dict[int, MemoryObject]:
        """By id."""
        ...


class SlotState(Enum):
    """Who has a buffer."""

    FREE = "free"
    DEQUEUED = "the program"
    QUEUED = "the queue"
    SHOWN = "the display"


@dataclass(slots=True, eq=False)
class Slot:
    """A buffer. place: of its first pixel in the arena. freed: its turn among free ones."""

    number: int
    surface: Surface
    place: int
    room: int
    freed: int
    state: SlotState = SlotState.FREE


@dataclass(slots=True, eq=False)
class Queued:
    """A buffer in the queue. surface: with the transform and the crop that were asked for. interval: VBlanks that the
    one before is shown, at least. number: of its present, once its fences were reached."""

    slot: Slot
    surface: Surface
    place: int
    fences: tuple[Fence, ...]
    interval: int
    number: int | None = None


class BufferQueue:
    """The queue of one layer. event: on while a buffer is free. waiting: buffers that are to be shown, in order.
    shown: the one that is on the screen. queued: called when a buffer was put into the queue. leaving: called before
    the buffers go."""

    def __init__(
        self, kernel: SwitchKernel, memory: Memory, queued: Callable[[BufferQueue], None],
        leaving: Callable[[BufferQueue], None],
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self._memory, self._queued, self._leaving = memory, queued, leaving
        self.slots: dict[int, Slot] = {}
        self.fences: dict[int, Fence] = {}
        """With which buffers come back, by slot."""
        self.event = Event(Reset.STICKY, "buffer-free")
        self.waiting: list[Queued] = []
        self.shown: Queued | None = None
        self.shown_at = 0
        """The number of the VBlank at which it was."""
        self.connected = 0
        self._frees = 0

    def __repr__(self) -> str:
        return f"<BufferQueue: {len(self.slots)} buffers, {len(self.waiting)} to be shown>"

    # -- the display's side -----------------------------------------------------------------------------------------
    def show_next(self, fence: Fence) -> Queued:
        """The first buffer of the queue is shown now. fence: with which the one before comes back."""
        one = self.waiting.pop(0)
        before, self.shown = self.shown, one
        one.slot.state = SlotState.SHOWN
        # A program with a single buffer has it back while it is shown: it draws what the screen shows.
        left = one.slot if len(self.slots) == 1 else before.slot if before is not None else None
        if left is not None and left.state is SlotState.SHOWN and self.slots.get(left.number) is left:
            self.fences[left.number] = fence
            self._free(left)
        return one

    def _free(self, slot: Slot) -> None:
        self._frees += 1
        slot.freed, slot.state = self._frees, SlotState.FREE
        self._told()

    def _told(self) -> None:
        """The event is on while a buffer is free."""
        if any(slot.state is SlotState.FREE for slot in self.slots.values()):
            self.kernel.signal(self.event)
        else:
            self.event.on = False

    # -- the program's side -----------------------------------------------------------------------------------------
    def transact(self, code: int, parcel: ParcelReader, thread: Thread) -> bytes:
        """Do what a program asks for; the answer's payload."""
        method = _METHODS.get(code)
        if method is None or parcel.interface != facts.PRODUCER:
            name = Code(code).name if code in tuple(map(int, Code)) else ""
            self.kernel.not_modelled("guest.binder", f"code {code} {name} of {parcel.interface!r}", (code,), thread)
            return _status(Status.BAD_VALUE)
        return method(self, parcel)

    def _request(self, parcel: ParcelReader) -> bytes:
        known = parcel.number() in self.slots
        return pack("<I", 0) + _status(Status.OK if known else Status.BAD_VALUE)

    def _set_buffer(self, parcel: ParcelReader) -> bytes:
        number, has = parcel.number(), parcel.number()
        if not 0 <= number < facts.SLOTS:
            return b""
        self._forget(number)
        if has:
            head = parcel.flattened("GraphicBuffer")
            made = self._made(number, head) if head is not None else None
            if made is None:
                self._bad("a buffer cannot be shown")
            else:
                self.slots[number] = made
        self._told()
        return b""

    def _forget(self, number: int) -> Slot | None:
        """The queue has a buffer no longer, and shows it no more if it still waits."""
        before = self.slots.pop(number, None)
        if before is not None:
            self.waiting = [one for one in self.waiting if one.slot is not before]
            self.fences.pop(number, None)
        return before

    def _detach(self, parcel: ParcelReader) -> bytes:
        """The program takes a buffer back for good, one that it has: older libraries do before they disconnect."""
        number = parcel.number()
        slot = self.slots.get(number)
        if slot is None:
            return _status(Status.BAD_VALUE)
        if slot.state is not SlotState.DEQUEUED:
            return _status(Status.BAD_VALUE)
        self._forget(number)
        self._told()
        return _status(Status.OK)

    def _made(self, number: int, head: Record) -> Slot | None:
        """A slot of what a program says of a buffer; None if nothing can be shown of it."""
        memory = self._memory.objects.get(head["memory"])
        format, layout = facts.FORMATS.get(head["pixel_format"]), head["layout"]
        wrong = head["magic"] != RECORDS.make("GraphicBuffer")["magic"] or head["planes"] != 1
        if wrong or memory is None or memory.place is None or format is None:
            return None
        if layout not in (PixelLayout.ROWS, PixelLayout.BLOCK_LINEAR):
            return None
        if max(head["plane_width"], head["plane_height"]) > facts.LARGEST_SIDE:
            return None
        height = head["block_height_log2"] if layout == PixelLayout.BLOCK_LINEAR else None
        try:
            surface = Surface(head["plane_width"], head["plane_height"], format, height, head["pitch"])
        except UsageError:
            return None
        if head["offset"] + surface.size > memory.room:
            return None
        self._frees += 1
        return Slot(number, surface, memory.place + head["offset"], surface.size, self._frees)

    def _bad(self, message: str) -> None:
        self.kernel.events.report("warning", "guest.buffer", message)

    def _dequeue(self, parcel: ParcelReader) -> bytes:
        head, fences = RECORDS.make("Dequeued"), RECORDS.make("Fences")
        free = [slot for slot in self.slots.values() if slot.state is SlotState.FREE]
        status = Status.OK if free else Status.WOULD_BLOCK if self.connected and self.slots else Status.NO_INIT
        head["slot"] = -1
        if free:
            slot = min(free, key=lambda one: one.freed)
            slot.state = SlotState.DEQUEUED
            head["slot"] = slot.number
            fence = self.fences.get(slot.number)
            if fence is not None:
                fences["count"] = 1
                fences.set_number("id", 0, fence[0])
                fences.set_number("value", 0, fence[1])
            self._told()
        return bytes(head.data) + flat(fences) + _status(status)

    def _queue(self, parcel: ParcelReader) -> bytes:
        slot, one = self.slots.get(parcel.number()), parcel.flattened("QueueInput")
        if slot is None or one is None or slot.state is not SlotState.DEQUEUED:
            return self._output(Status.BAD_VALUE)
        surface = self._surface(slot.surface, one)
        fences = RECORDS.make("Fences", one.part("fences"))
        count = min(fences["count"], facts.MOST_FENCES)
        wanted = tuple(zip(fences.numbers("id"), fences.numbers("value"), strict=True))[:count]
        slot.state = SlotState.QUEUED
        self.waiting.append(Queued(slot, surface, slot.place, wanted, one["interval"]))
        self._queued(self)
        return self._output(Status.OK)

    def _surface(self, whole: Surface, one: Record) -> Surface:
        """What of a buffer is shown: all of it if the rectangle is empty or begins outside."""
        left, top, right, bottom = (max(one[name], 0) for name in ("left", "top", "right", "bottom"))
        width, height, transform = min(right, whole.width), min(bottom, whole.height), one["transform"] & _TRANSFORMS
        if min(one["left"], one["top"]) < 0 or (right, bottom) != (width, height):
            self._bad("a crop reaches out of its buffer, which a console may refuse")
        if left >= width or top >= height:
            left, top, width, height = 0, 0, whole.width, whole.height
        return Surface(width, height, whole.format, whole.block_height, whole.stride, transform, left, top)

    def _cancel(self, parcel: ParcelReader) -> bytes:
        slot = self.slots.get(parcel.number())
        if slot is not None and slot.state is SlotState.DEQUEUED:
            self._free(slot)
        return b""

    def _query(self, parcel: ParcelReader) -> bytes:
        what = parcel.number()
        first = next(iter(self.slots.values()), None)
        sizes = (first.surface.width, first.surface.height) if first is not None else (facts.WIDTH, facts.HEIGHT)
        values = {
            Query.WIDTH: sizes[0], Query.HEIGHT: sizes[1], Query.DEFAULT_WIDTH: facts.WIDTH,
            Query.DEFAULT_HEIGHT: facts.HEIGHT, Query.FORMAT: 1, Query.MIN_UNDEQUEUED_BUFFERS: _KEPT_BY_DISPLAY,
            Query.STICKY_TRANSFORM: 0, Query.CONSUMER_USAGE: 0,
        }  # fmt: skip
        if what not in tuple(map(int, Query)):
            return pack("<I", 0) + _status(Status.BAD_VALUE)
        return pack("<I", values[Query(what)]) + _status(Status.OK)

    def _connect(self, parcel: ParcelReader) -> bytes:
        parcel.number()  # a listener, which programs do not have
        api = parcel.number()
        if self.connected or api <= 0:
            return self._output(Status.BAD_VALUE)
        self.connected = api
        return self._output(Status.OK)

    def _disconnect(self, parcel: ParcelReader) -> bytes:
        if not self.connected or parcel.number() != self.connected:
            return _status(Status.BAD_VALUE)
        self._leaving(self)
        self.connected = 0
        self.slots.clear()
        self.waiting.clear()
        self._told()
        return _status(Status.OK)

    def _output(self, status: Status) -> bytes:
        output = RECORDS.make("QueueOutput")
        output["pending"] = len(self.waiting)
        return bytes(output.data) + _status(status)


_TRANSFORMS: Final = 7
"""Mirrored in both directions, turned."""
_METHODS: Final[dict[int, Callable[[BufferQueue, ParcelReader], bytes]]] = {
    Code.REQUEST_BUFFER: BufferQueue._request,
    Code.SET_PREALLOCATED_BUFFER: BufferQueue._set_buffer,
    Code.DEQUEUE_BUFFER: BufferQueue._dequeue,
    Code.QUEUE_BUFFER: BufferQueue._queue,
    Code.CANCEL_BUFFER: BufferQueue._cancel,
    Code.DETACH_BUFFER: BufferQueue._detach,
    Code.QUERY: BufferQueue._query,
    Code.CONNECT: BufferQueue._connect,
    Code.DISCONNECT: BufferQueue._disconnect,
}


def _status(status: Status) -> bytes:
    return pack("<i", status)
