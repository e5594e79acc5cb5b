"""The display: layers with their queues of buffers, VBlanks, and the picture on the screen.

    display = Display(kernel, driver)
    layer = display.new_layer()
    display.vblank(tick)     # what is newly shown
    display.screens          # {"screen": Screen}

A *present* is a buffer that a program has put into its queue, once the GPU has drawn it: its fences are reached. The
display shows it at the next VBlank. With the value "presents" of the choice `guest.clock` it is shown at once, and time
goes on to the next 60th of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Protocol

from pocketgpu.capture.formats.pgc.numbers import SCREENS
from pocketgpu.facts.switch.display import DISPLAY_SYNCPOINT
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.display.buffer_queue import BufferQueue, Fence, Queued
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.display.present import Surface
from pocketgpu.maxwell.display.scan_out import picture_at
from pocketgpu.pictures import Screen

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel
    from pocketgpu.guests.switch.services.nvdrv.driver import NvDriver

SCREEN: Final = SCREENS["Switch"][0]
MOST_LAYERS: Final = 64


@dataclass(frozen=True, slots=True)
class Present:
    """A buffer that was presented. number: from 0. tick: when. place: of its first byte in the arena."""

    number: int
    tick: int
    surface: Surface
    place: int
    fences: tuple[Fence, ...]


class Follower(Protocol):
    """Who wants to know of presents: a recorder."""

    def presented(self, present: Present) -> None:
        """A buffer was presented; nothing has drawn to it since."""
        ...


@dataclass(slots=True, eq=False)
class Layer:
    """A layer. open: whether a program has opened it. z: of several layers that show something, the screen has the one
    with the highest z; of equal ones, the newest. present: what it shows."""

    id: int
    queue: BufferQueue
    open: bool = False
    z: int = 0
    present: Present | None = None


class Display:
    """The display of one console. layers: by id, which is the number of their binder, too. present_count: presents so
    far. vsync: signalled at each VBlank. at_present: called, with the tick, after a present that was shown at once and
    has moved the clock; see the choice `guest.clock`."""

    outside_state = frozenset({"followers", "_picture"})

    def __init__(self, kernel: SwitchKernel, driver: NvDriver) -> None:
        self.kernel, self._driver = kernel, driver
        self.layers: dict[int, Layer] = {}
        self.present_count = self.vblanks = 0
        self.vsync = Event(Reset.STICKY, "vsync")
        self.followers: list[Follower] = []
        self.at_present: Callable[[int], None] | None = None
        self.own_clock = kernel.machine.choices["guest.clock"] == "presents"
        """Whether presents move the clock; there are no VBlanks then."""
        self._start = kernel.time.now
        self._numbers = 0
        self._new: dict[str, Present] = {}
        self._shown: Present | None = None
        self._picture: tuple[Present, Screen] | None = None
        self._left: Screen | None = None
        """What is shown although its buffer is gone."""

    def __repr__(self) -> str:
        return f"<Display: {len(self.layers)} layers, {self.present_count} presents>"

    # -- layers -----------------------------------------------------------------------------------------------------
    def new_layer(self) -> int | None:
        """The id of a new layer; None if there are too many."""
        if len(self.layers) >= MOST_LAYERS:
            return None
        self._numbers += 1
        queue = BufferQueue(self.kernel, self._driver, self._queued, self._leaving)
        self.layers[self._numbers] = Layer(self._numbers, queue)
        return self._numbers

    def remove_layer(self, id: int) -> bool:
        """A layer is gone; whether there was one."""
        layer = self.layers.get(id)
        if layer is not None:
            self._leaving(layer.queue)
            del self.layers[id]
        return layer is not None

    def _layer_of(self, queue: BufferQueue) -> Layer:
        return next(one for one in self.layers.values() if one.queue is queue)

    def _on_top(self) -> Layer | None:
        """The layer that is on the screen; it covers the others."""
        showing = (one for one in self.layers.values() if one.present is not None)
        return max(showing, key=lambda one: (one.z, one.id), default=None)

    # -- presents ---------------------------------------------------------------------------------------------------
    def _queued(self, queue: BufferQueue) -> None:
        """A program has put a buffer into a queue."""
        self._present(queue)
        at_once = self.own_clock or queue.waiting[-1].interval == 0
        if not at_once:
            return
        self._show_all(queue)
        if self.own_clock:
            time = self.kernel.time
            time.pass_ticks(max(0, self._start + self.present_count * layout.VSYNC - time.now))
            self.kernel.signal(self.vsync)
            if self.at_present is not None:
                self.at_present(time.now)

    def _show_all(self, queue: BufferQueue) -> None:
        while queue.waiting and queue.waiting[0].number is not None:
            self._show(queue)

    def _present(self, queue: BufferQueue) -> None:
        """Buffers that are drawn by now become presents, in their order."""
        for one in queue.waiting:
            if one.number is None:
                if not all(self._driver.reached(*fence) for fence in one.fences):
                    return
                one.number = self.present_count
                self.present_count += 1
                present = Present(one.number, self.kernel.time.now, one.surface, one.place, one.fences)
                for follower in self.followers:
                    follower.presented(present)

    def _show(self, queue: BufferQueue) -> None:
        """The first buffer of a queue is on the screen; the display has left the one before, as its syncpoint tells."""
        syncpoints = self.kernel.machine.syncpoints
        syncpoints[DISPLAY_SYNCPOINT] += 1
        one = queue.show_next((DISPLAY_SYNCPOINT, syncpoints[DISPLAY_SYNCPOINT]))
        assert one.number is not None, "only presents are shown"
        queue.shown_at = self.vblanks
        layer = self._layer_of(queue)
        layer.present = Present(one.number, self.kernel.time.now, one.surface, one.place, one.fences)
        if self._on_top() is layer:
            self._shown, self._left = layer.present, None
            self._new[SCREEN] = layer.present
        self._driver.go_on()

    @property
    def shown_count(self) -> int:
        """Presents that were on the screen so far."""
        return 0 if self._shown is None else self._shown.number + 1

    def _leaving(self, queue: BufferQueue) -> None:
        """The buffers of a queue go: what was presented is shown before. The screen has the next layer then; without
        one, the picture stays."""
        self._show_all(queue)
        layer = self._layer_of(queue)
        if self._on_top() is layer:
            left = self.screens.get(SCREEN)
            layer.present = None
            top = self._on_top()
            if top is None:
                self._left = left
            else:
                self._shown, self._left = top.present, None
        layer.present = None

    def vblank(self, tick: int) -> Mapping[str, Present]:
        """A VBlank: queues go on. What is newly shown since the last one, by screen."""
        self.vblanks += 1
        self._driver.go_on()
        for layer in self.layers.values():
            queue = layer.queue
            self._present(queue)
            if queue.waiting and self._is_due(queue, queue.waiting[0]):
                self._show(queue)
        self.kernel.signal(self.vsync)
        new, self._new = self._new, {}
        return new

    def _is_due(self, queue: BufferQueue, one: Queued) -> bool:
        waited = self.vblanks - queue.shown_at
        return one.number is not None and (queue.shown is None or waited >= one.interval)

    # -- pictures ---------------------------------------------------------------------------------------------------
    def picture(self, present: Present) -> Screen:
        """The picture of a present, from memory as it is now."""
        surface, machine = present.surface, self.kernel.machine
        return Screen(SCREEN, picture_at(machine.memory, machine.engine, present.place, surface, surface.size))

    @property
    def has_new(self) -> bool:
        """Whether something was shown since the last VBlank, or will be at one of the next."""
        waiting = (one for layer in self.layers.values() for one in layer.queue.waiting)
        return bool(self._new) or any(one.number is not None for one in waiting)

    @property
    def screens(self) -> Mapping[str, Screen]:
        """What is on the screen; nothing before the first present."""
        if self._shown is None:
            return {}
        if self._left is not None:
            return {SCREEN: self._left}
        if self._picture is None or self._picture[0] is not self._shown:
            self._picture = self._shown, self.picture(self._shown)
        return {SCREEN: self._picture[1]}
