"""Answers of `why` about pixels of a Switch: of a shown picture, or of a draw's target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.capture.formats.mxcap import Present
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.why import Shown, Touch, Why
from pocketgpu.inspect.switch.explain import CHANGES_NOTHING
from pocketgpu.inspect.switch.pixel_history import TouchWalk
from pocketgpu.inspect.switch.surfaces import Surface, shown_surface
from pocketgpu.inspect.switch.touches import Finder, Spot
from pocketgpu.inspect.switch.watched import Watch
from pocketgpu.maxwell.display.present import FLIP_X, FLIP_Y, TURN, to_picture
from pocketgpu.maxwell.display.present import Surface as ShownSurface
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.switch.inspection import SwitchInspection


def _surface_pixel(present: Present, address: Address) -> tuple[int, int]:
    """The pixel of the surface that a pixel of its upright picture shows.

    :raises UsageError: the picture has no such pixel.
    """
    assert address.pixel is not None
    x, y = address.pixel
    width, height = present.width - present.left, present.height - present.top
    upright = (height, width) if present.transform & TURN else (width, height)
    if not (x < upright[0] and y < upright[1]):
        raise UsageError(
            f"the picture has no pixel {x},{y}", location=str(address), hint=f"It has {upright[0]}x{upright[1]}."
        )
    if present.transform & TURN:
        x, y = y, height - 1 - x  # undo the rotation
    if present.transform & FLIP_Y:
        y = height - 1 - y
    if present.transform & FLIP_X:
        x = width - 1 - x
    return x + present.left, y + present.top


class PixelAnswers:
    """Answers for one inspection."""

    def __init__(self, inspection: SwitchInspection) -> None:
        self._inspection = inspection
        self._watch: Watch | None = None

    @property
    def watch(self) -> Watch:
        """The watcher of the machine, made at the first use."""
        if self._watch is None:
            self._watch = Watch(self._inspection.player.machine)
        return self._watch

    def shown(self, address: Address) -> Why:
        """Why a pixel of the shown picture has its value.

        :raises UsageError: there is no such pixel.
        """
        inspection = self._inspection
        if address.screen not in (None, "screen"):
            raise UsageError(f"a Switch has no screen {address.screen}", location=str(address), hint='Say "screen".')
        tick = inspection.tick_of(Address(address.frame))
        present = inspection.log.presents[address.frame]
        x, y = _surface_pixel(present, address)
        surface = shown_surface(present)
        base = self._base(tick, present, surface)
        if base is None:
            raise UsageError("nothing is mapped where the shown surface should be", location=str(address))
        spot = base + surface.place(x, y) - surface.address, surface.format.bytes
        place = Range(surface.place(x, y), surface.format.bytes)
        return self._answer(address, place, (spot,), tick, surface.address, shown=True)

    def _base(self, tick: int, present: Present, surface: Surface) -> int | None:
        """Arena offset of the shown surface."""
        sources = self._inspection.recorder.traces[tick - 1].sources
        if sources:
            return sources[0][1]
        self._inspection.player.go(self._inspection.player.at(tick))
        backings = self._inspection.player.driver.backings
        backing = backings.get(present.handle) if present.handle is not None else None
        if backing is not None:
            return backing.offset + present.offset
        return self._inspection.player.machine.memory.offset_of(surface.address, surface.size)

    def of_draw(self, address: Address) -> Why:
        """Why a pixel of a draw's first target has its value right after the draw.

        :raises UsageError: there is no such pixel or draw, or the draw has no target.
        """
        assert address.pixel is not None
        inspection = self._inspection
        tick = inspection.tick_of(address.place)
        trace = inspection.recorder.traces[tick - 1]
        if not trace.surfaces:
            raise UsageError("this event has no target with memory", location=str(address))
        surface, base = trace.surfaces[0]
        x, y = address.pixel
        if not surface.inside(x, y):
            size = f"{surface.width // surface.grid[0]}x{surface.height // surface.grid[1]}"
            raise UsageError(f"{surface.name} has no pixel {x},{y}", location=str(address), hint=f"It has {size}.")
        places = [(base + at - surface.address, surface.format.bytes) for at in surface.places(x, y)]
        place = Range(surface.places(x, y)[0], surface.format.bytes)
        return self._answer(address, place, tuple(places), tick, surface.address, shown=False)

    def _answer(
        self, address: Address, place: Range, spots: tuple[Spot, ...], tick: int, surface_address: int, shown: bool
    ) -> Why:
        inspection = self._inspection
        player = inspection.player
        track = Finder(inspection.recorder).track(spots, tick)
        walk = TouchWalk(inspection, self.watch)
        touches = walk.touches_of(track)
        player.go(player.at(tick))
        arena = player.machine.memory.arena
        value = [arena[at : at + size].tobytes() for at, size in spots]
        found = Why(address, value=[raw.hex() for raw in value], place=place, touches=touches, misses=walk.misses)
        found.proved = walk.chained and all(touch.proved for touch in found.all_touches())
        if touches and len(touches[-1].after) == len(value):
            found.proved = found.proved and touches[-1].after == found.value
        if shown:
            one = ShownSurface(1, 1, inspection.log.presents[address.frame].format, None)
            red, green, blue = to_picture(value[0], one)[0, 0].tolist()
            assert address.pixel is not None
            seen = bool(inspection.log.presents[address.frame].gpu_va)
            reason = "" if seen else "counted from the start of the picture, which the GPU does not see"
            found.color, found.shown = (red, green, blue), Shown("screen", *address.pixel, place, reason)
        if not found.fragments and not (found.way and found.way[-1].event.draw is not None):
            found.missing = self._missing(found, tick, surface_address)
        found.opening = _conclusion(found)
        found.because = found.opening[0].partition(": ")[2]
        return found

    def _missing(self, found: Why, tick: int, surface_address: int) -> str:
        """Why no draw reached the pixel: the fate of the last draw to its surface, or where draws of the frame go."""
        traces = self._inspection.recorder.traces
        if found.misses:
            from pocketgpu.inspect.switch.funnel import covers_something, draw_why

            last = found.misses[-1]
            if covers_something(self._inspection, self.watch, last):
                return ""
            return f"draw {last} drew {draw_why(self._inspection, self.watch, last).because}"
        if any(touch.event.kind not in _BACKGROUND for touch in found.touches):
            return ""
        frame = found.address.frame
        draws = [trace for trace in traces[:tick] if trace.event.frame == frame and isinstance(trace.what, Draw)]
        if not draws:
            return "the frame has no draw"
        colours = [surface for trace in draws for surface, _ in trace.surfaces if surface.slot is not None]
        if not colours:
            return "draws of the frame have no colour target (SET_CT_SELECT, SET_COLOR_TARGET_FORMAT)"
        goes = " and ".join(list(dict.fromkeys(f"{surface.address:#x}" for surface in colours))[:2])
        return (
            f"no draw goes there: draws of the frame go to {goes} (SET_COLOR_TARGET_A), and the surface is at "
            f"{surface_address:#x}"
        )


_BACKGROUND = ("load", "clear")
"""Kinds of events that a picture begins with: what is to be seen is drawn after them."""
_PLURALS = {"launch": "launches", "copy": "copies", "show": "shows"}


def _conclusion(why: Why) -> list[str]:
    """At most three lines."""
    value = why.hex or " ".join(why.value)
    way = why.way
    if not way:
        touched = _untouched(len(why.misses)) if why.misses else "no event wrote it"
        cause = f"; {why.missing}" if why.missing else ""
        return [f"{why.address} is {value}: {touched}{cause}; memory is 0 at first"]
    lines = [f"{why.address} is {value}: {', which takes '.join(map(_said, way))}"]
    counts: dict[str, int] = {}
    for one in why.all_touches():
        counts[one.event.kind] = counts.get(one.event.kind, 0) + 1
    fragments = why.fragments
    lost = [one for one in fragments if not one.written]
    text = "touched by " + ", ".join(counted(count, kind, _PLURALS.get(kind, "")) for kind, count in counts.items())
    if why.missing:
        text += f"; {_untouched(len(why.misses))}" if why.misses else ""
        text += f"; {why.missing}"
    if fragments:
        text += f"; {len(fragments) - len(lost)} of {len(fragments)} fragments written"
    if lost:
        text += f", the last other one {lost[-1].fate}"
    elif fragments and fragments[-1].fate.startswith(f"{CHANGES_NOTHING}:"):
        text += f", the last one {fragments[-1].fate.removeprefix('written, ')}"
    lines.append(text)
    lines.append(
        "NOT proved: the values do not end in the bytes that the machine wrote" if not why.proved
        else "proved: the values of NumPy end in the bytes that the machine wrote" if fragments
        else "proved: each event finds what the one before left, and the last one left what is shown"
    )  # fmt: skip
    return lines


def _untouched(misses: int) -> str:
    """What draws did to a pixel that none of them covers."""
    return "1 draw has its surface as a target, and does not cover it" if misses == 1 else (
        f"{misses} draws have its surface as a target, and none covers it"
    )  # fmt: skip


def _said(touch: Touch) -> str:
    """A touch in a few words."""
    if touch.writer is not None:
        number = touch.writer.primitive
        return f"{touch.event.title}, primitive {number}  {touch.event.address}/t{number}"
    return f"{touch.event.title}  {touch.event.address}"
