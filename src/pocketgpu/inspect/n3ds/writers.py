"""Which event changed bytes last. Draws that may have are run to find out whether they did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.n3ds.draw_watcher import DrawWatcher
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.n3ds.inspection import N3dsInspection


class ChangeWatch(DrawWatcher):
    """Notes which draws of a frame change a range. wanted: numbers of the draws to test; `found`: those that did."""

    def __init__(self, machine: N3DS, place: Range, wanted: set[int]) -> None:
        self.wanted = wanted
        self.found: set[int] = set()
        self._machine, self._place = machine, place

    def look(self, packets: DrawPackets, numbers: range, run: Run) -> None:
        """See `DrawWatcher`."""
        done = 0
        for number in sorted(self.wanted & set(numbers)):
            at = number - numbers.start
            if done < at:
                run(done, at)
            before = self._bytes()
            run(at, at + 1)
            done = at + 1
            if self._bytes() != before:
                self.found.add(number)
        if done < len(numbers):
            run(done, len(numbers))

    def _bytes(self) -> bytes:
        return self._machine.memory.read(self._place.address, self._place.size)


def who_changed(run: N3dsInspection, place: Range, before: Event | None) -> Event | None:
    """The last event before another (None: of the capture) that wrote any of the bytes. Draws must have changed them.

    :raises UsageError: no memory is there.
    """
    machine = run.player.machine
    if machine.memory.offset_of(place.address, place.size) is None:
        raise UsageError(
            f"no guest memory holds {counted(place.size, 'byte')} there", location=f"{place.address:#010x}",
            hint="Addresses are physical: VRAM is at 0x18000000, FCRAM at 0x20000000. 'pocketgpu events' shows those "
            "of targets, loads and transfers.",
        )  # fmt: skip
    last = run.frame_count - 1 + run.has_rest if before is None else before.frame
    for frame in range(last, -1, -1):
        events = [event for event in run.events(frame) if any(place.overlaps(one) for one in event.writes)]
        if before is not None and frame == before.frame:
            events = [event for event in events if event.number < before.number]
        # Events before a certain write do not matter.
        certain = max((n for n, event in enumerate(events) if event.draw is None), default=0)
        events = events[certain:]
        draws = {event.draw for event in events if event.draw is not None}
        changed: set[int] = set()
        if draws:
            watch = ChangeWatch(machine, place, draws)
            run.watch(events[-1], watch)
            changed = watch.found
        for event in reversed(events):
            if event.draw is None or event.draw in changed:
                return event
    return None
