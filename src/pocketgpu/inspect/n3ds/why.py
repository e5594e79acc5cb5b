"""Why a pixel has its colour: from the screen through transfers to a render target, and there event by event.

Source of the behaviour is the machine itself: each step is worked out from what its units did, and the values of
fragments are those that the fragment code went through (history.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pocketgpu.capture.driver.checkpoints import Position
from pocketgpu.errors import UsageError
from pocketgpu.inspect.inspection import draw_of
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.model.wording import counted
from pocketgpu.inspect.n3ds.explain import explain, outcome
from pocketgpu.inspect.n3ds.history import DrawOnPixel, Fragment, PixelWatch
from pocketgpu.inspect.n3ds.pixels import Shown, Source, move_of, shown_at, sources_of
from pocketgpu.inspect.n3ds.report import lines_of

if TYPE_CHECKING:
    from pocketgpu.inspect.n3ds.inspection import N3dsInspection

SCHEMA = "pocketgpu.why/1"
MOST_LINKS = 8
MOST_BACK = 64
"""Frames that are looked through for who drew to a pixel, before the frame that asks."""
_COPIES = ("transfer", "copy")


@dataclass
class Touch:
    """An event that wrote, or could have written, the pixel. draw: what it did there, if it is a draw. writer: the
    event that last wrote the depth it was compared with, if one is known."""

    event: Event
    draw: DrawOnPixel | None = None
    depth_from: Event | None = None

    @property
    def wrote(self) -> bool:
        """Whether the pixel's bytes changed, or could have."""
        return self.draw is None or any(one.before[0] != one.after[0] for one in self.draw.fragments)

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"address": str(self.event.address), "kind": self.event.kind, "title": self.event.title}
        if self.draw is None:
            return found
        found |= {
            "pixel": [self.draw.x, self.draw.row], "proved": self.draw.proved,
            "fragments": [explain(self.draw, fragment) for fragment in self.draw.fragments],
        }  # fmt: skip
        if self.depth_from is not None:
            found["depth_from"] = str(self.depth_from.address)
        return found


@dataclass
class Link:
    """A transfer or copy that brought bytes to where they were asked for. sources: what it read for them."""

    event: Event
    sources: list[Source]

    def to_json(self) -> dict[str, Any]:
        return {
            "event": str(self.event.address), "kind": self.event.kind, "title": self.event.title,
            "sources": [source.to_json() for source in self.sources],
        }  # fmt: skip


@dataclass
class Why:
    """The answer. shown: the screen's pixel, if one was asked for; color: what the screen shows there, or the pixel's
    bytes as its format gives them (r, g, b or r, g, b, a). links: transfers, from the screen back. touches: events on
    the pixel of the render target, in order. place: where that pixel lies. final: its bytes when they were taken."""

    address: Address
    color: tuple[int, ...]
    shown: Shown | None = None
    links: list[Link] = field(default_factory=list)
    touches: list[Touch] = field(default_factory=list)
    place: Range | None = None
    final: bytes = b""
    more: list[list[Touch]] = field(default_factory=list)
    """Events on further source pixels, where a transfer took the mean of several."""
    missing: str = ""
    """Why no draw reached the pixel, if none did and that can be told."""

    @property
    def last(self) -> Touch | None:
        """The event that gave the pixel its colour."""
        return next((touch for touch in reversed(self.touches) if touch.wrote), None)

    @property
    def proved(self) -> bool:
        """Whether every fragment's values end in the bytes that the fast path wrote, and the last of those in the
        bytes that were taken."""
        draws = [touch.draw for row in (self.touches, *self.more) for touch in row if touch.draw is not None]
        if not all(draw.proved for draw in draws):
            return False
        mine = [touch.draw for touch in self.touches if touch.draw is not None]
        if not mine or self.touches[-1].draw is not mine[-1]:
            return True
        return mine[-1].agrees(self.final)

    @property
    def overlapping(self) -> Touch | None:
        """A draw whose colour and depth buffers overlap: then bytes of the pixel are not its own."""
        rows = (self.touches, *self.more)
        return next((touch for row in rows for touch in row if touch.draw is not None and touch.draw.overlapping), None)

    def to_json(self) -> dict[str, Any]:
        """Plain data, with `schema`."""
        found: dict[str, Any] = {
            "schema": SCHEMA, "address": str(self.address), "color": list(self.color),
            "hex": "#" + "".join(f"{c:02x}" for c in self.color), "proved": self.proved,
            "because": self.because,
        }  # fmt: skip
        if self.shown is not None:
            shown = self.shown
            found["screen"] = {"name": shown.screen, "x": shown.x, "y": shown.y, "reason": shown.reason}
            if shown.bytes_ is not None:
                found["screen"] |= {"memory": f"{shown.bytes_.address:#010x}", "size": shown.bytes_.size}
        found["transfers"] = [link.to_json() for link in self.links]
        if self.place is not None:
            found["pixel"] = {"memory": f"{self.place.address:#010x}", "bytes": self.final[::-1].hex()}
        found["events"] = [touch.to_json() for touch in self.touches]
        if self.more:
            found["further_sources"] = [[touch.to_json() for touch in row] for row in self.more]
        return found

    @property
    def because(self) -> str:
        """The cause, in a line."""
        if self.shown is not None and self.shown.bytes_ is None:
            return self.shown.reason
        last = self.last
        if last is None:
            return f"nothing ever wrote there{f'; {self.missing}' if self.missing else ''}"
        if last.draw is None:
            left = [touch for touch in self.touches if touch.draw is not None]
            since = self.missing or (_rejected(left) if left else "nothing wrote there since")
            return f"{last.event.title}; {since}  {last.event.address}"
        fragments = [one for one in last.draw.fragments if one.before[0] != one.after[0]]
        return (
            f"{last.event.title}, primitive {fragments[-1].primitive}  {last.event.address}/t{fragments[-1].primitive}"
        )

    @property
    def conclusion(self) -> list[str]:
        """The first lines of the text: the cause, and whether values end in the bytes that were drawn."""
        lines = list(lines_of(self))
        return lines[: lines.index("")]

    @property
    def fragments(self) -> list[Fragment]:
        """All fragments on the pixel, in order."""
        return [one for touch in self.touches if touch.draw is not None for one in touch.draw.fragments]

    def text(self) -> str:
        """The conclusion, then everything."""
        return "\n".join(lines_of(self))

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from html import escape

        red, green, blue = (*self.color, 0, 0, 0)[:3]
        swatch = (
            f'<span style="background:#{red:02x}{green:02x}{blue:02x};border:1px solid;padding:0 1em">&nbsp;</span>'
        )
        return f"<div>{swatch}<pre>{escape(self.text())}</pre></div>"


def _rejected(touches: list[Touch]) -> str:
    """What kept draws from a pixel, of the last of them that had a fragment there."""
    for touch in reversed(touches):
        assert touch.draw is not None
        if touch.draw.fragments:
            return f"draw {touch.event.address} was {outcome(touch.draw, touch.draw.fragments[-1])}"
    return f"{counted(len(touches), 'draw')} to this target did not cover it"


# -- finding out ------------------------------------------------------------------------------------------------------
def why(run: N3dsInspection, address: Address) -> Any:
    """The answer for a pixel of a screen or of a draw's target, or for a whole draw (funnel.py).

    :raises UsageError: the address names no pixel and no draw.
    """
    if address.pixel is None:
        from pocketgpu.inspect.n3ds.funnel import funnel

        return funnel(run, draw_of(run, address))
    x, y = address.pixel
    if address.draw is not None or address.event is not None:
        return _of_target(run, address, x, y)
    screen = address.screen or "top"
    if screen == "screen":
        raise UsageError("a 3DS has the screens top, top-right and bottom", location=str(address))
    moment = run.seek(Address(address.frame))
    try:
        shown = shown_at(moment.machine, screen, x, y)
    except UsageError as error:
        raise UsageError(error.message, location=str(address), hint=error.hint) from None
    picture = moment.screens[screen].array
    answer = Why(address, tuple(int(c) for c in picture[y, x]), shown)
    if shown.bytes_ is not None:
        _follow(run, answer, shown.bytes_, address.frame, None)
    return answer


def _of_target(run: N3dsInspection, address: Address, x: int, y: int) -> Why:
    moment = run.seek(address.place)
    target = moment.target
    if target is None or not (x < target.width and y < target.height):
        what = "no target" if target is None else f"a target of {target.width}x{target.height}"
        raise UsageError(f"the draw has {what}; there is no pixel ({x}, {y})", location=str(address))
    size = target.format.bits // 8
    place = Range(target.address + target.number(x, target.row(y)) * size, size)
    event = run.event(address)
    answer = Why(address, tuple(target.texel(moment.read(place.address, size))))
    _history(run, answer, place, event.frame, event.number + 1)
    return answer


def _before(run: N3dsInspection, frame: int, number: int | None) -> Iterator[Event]:
    """Events before event `number` of a frame (None: all of it), latest first."""
    for index in range(frame, max(frame - MOST_BACK, 0) - 1, -1):
        events = run.events(index)
        yield from reversed(events if index != frame or number is None else events[:number])


def _follow(run: N3dsInspection, answer: Why, place: Range, frame: int, number: int | None) -> None:
    """Go back through transfers to the target that draws go to."""
    for _ in range(MOST_LINKS):
        writer = next((e for e in _before(run, frame, number) if any(place.overlaps(w) for w in e.writes)), None)
        if writer is None or writer.kind not in _COPIES or "PPF_CONTROL" not in writer.facts:
            break
        machine = run.player.machine
        sources = sources_of(machine, move_of(machine, writer.facts), place)
        if not sources:
            break
        answer.links.append(Link(writer, sources))
        place, frame, number = sources[0].bytes_, writer.frame, writer.number
        for source in sources[1:]:
            further = Why(answer.address, ())
            _history(run, further, source.bytes_, frame, number)
            answer.more.append(further.touches)
    _history(run, answer, place, frame, number)


def _history(run: N3dsInspection, answer: Why, place: Range, frame: int, number: int | None) -> None:
    """The events on a pixel before event `number` of a frame, from the last one that wrote all of it for certain."""
    answer.place = place
    events: list[Event] = []
    for event in _before(run, frame, number):
        if not any(place.overlaps(one) for one in event.writes):
            continue
        events.append(event)
        whole = any(one.address <= place.address and place.end <= one.end for one in event.writes)
        if event.kind != "draw" and whole:
            break
    events.reverse()
    found: dict[tuple[int, int], DrawOnPixel] = {}
    machine = run.player.machine
    offset = machine.memory.offset_of(place.address, place.size)
    assert offset is not None
    for index in sorted({event.frame for event in events if event.draw is not None}):
        draws = {event.draw: event for event in events if event.frame == index and event.draw is not None}
        watch = PixelWatch(machine, offset, set(draws))
        run.watch(max(draws.values(), key=lambda event: event.number), watch)
        found |= {(index, one.draw): one for one in watch.found}
    depth: Event | None = None
    for event in events:
        on_pixel = found.get((event.frame, event.draw)) if event.draw is not None else None
        if event.draw is not None and on_pixel is None:
            continue
        answer.touches.append(Touch(event, on_pixel, depth))
        if on_pixel is not None and any(one.before[1] != one.after[1] for one in on_pixel.fragments):
            depth = event
    answer.missing = _missing(run, answer, events, frame, number)
    run.player.go(Position(frame + 1) if number is None else Position(frame, number))
    answer.final = machine.memory.read(place.address, place.size)


def _missing(run: N3dsInspection, answer: Why, events: list[Event], frame: int, number: int | None) -> str:
    """Where no draw had a fragment on the pixel: what became of the last one that draws there, or where draws go.

    events: those that may have written the pixel, since all of it was written.
    """
    if any(touch.draw is not None and touch.draw.fragments for touch in answer.touches):
        return ""
    tried = [event for event in events if event.draw is not None]
    if tried:
        from pocketgpu.inspect.n3ds.funnel import funnel

        found = funnel(run, tried[-1].address)
        nothing = found.narrowest is not None or not found.stages[-1].came
        return f"draw {found.address} drew nothing: {found.because}" if nothing else ""
    if not events and answer.shown is not None and not answer.links:
        # What a screen shows comes by transfers: say where those go instead.
        moved = [event for event in run.events(frame) if event.kind in _COPIES and event.writes]
        places = list(dict.fromkeys(f"{event.writes[0].address:#x} ({event.address})" for event in moved))
        if places:
            screen = f"PDC{int(answer.shown.screen == 'bottom')}"
            return f"transfers of the frame go to {' and '.join(places[:3])}, not to where {screen} shows from"
        if any(event.draw is not None for event in run.events(frame)):
            return "no transfer of the frame takes what draws drew to a screen"
    targets = dict.fromkeys(event.facts["target"] for event in run.events(frame)[:number] if event.draw is not None)
    if not targets:
        return ""
    return f"no draw goes there: draws of the frame go to {' and '.join(list(targets)[:2])} (COLORBUFFER_LOC)"
