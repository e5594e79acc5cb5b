"""Why a pixel has its colour: from the screen through transfers back to a render target, and there event by event.

All of it comes from the machine itself: each step from what its units did, the values of fragments from the fragment
code (history.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pocketgpu.capture.driver.checkpoints import Position
from pocketgpu.errors import UsageError
from pocketgpu.events import sized
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.answer import Answer
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.model.inspection import draw_of
from pocketgpu.inspect.model.why import Fragment, History, Touch, Why
from pocketgpu.inspect.n3ds.explain import DEPTH_ONLY, explain
from pocketgpu.inspect.n3ds.history import DrawOnPixel, PixelWatch, PrimitiveWatch
from pocketgpu.inspect.n3ds.pixel_sources import move_of, shown_at, sources_of
from pocketgpu.inspect.n3ds.resources.targets import target_of
from pocketgpu.pica.fragment.combiners import STAGES
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.n3ds.inspection import N3dsInspection

MOST_LINKS = 8
"""Most transfers in a row that are followed back."""
MOST_BACK = 64
"""Most earlier frames that are searched for events on a pixel."""
_COPIES = ("transfer", "copy")


def why(run: N3dsInspection, address: Address, every: bool = False) -> Answer:
    """The answer for a pixel of a screen or of a draw's target, for a draw or one of its triangles (funnel.py).

    every: count all fragments of a draw, however many there are.

    :raises UsageError: the address names no pixel and no draw.
    """
    if address.pixel is None:
        from pocketgpu.inspect.n3ds.funnel import funnel

        return funnel(run, draw_of(run, address), every)
    x, y = address.pixel
    if address.names_event:
        return _of_target(run, address, x, y)
    screen = address.screen or "top"
    if screen == "screen":
        raise UsageError("a 3DS has the screens top, top-right and bottom", location=str(address))
    moment = run.seek(Address(address.frame))
    machine = run.player.machine
    try:
        shown = shown_at(machine, screen, x, y)
    except UsageError as error:
        raise UsageError(error.message, location=str(address), hint=error.hint) from None
    picture = moment.screens[screen].array
    answer = Why(address, color=tuple(int(c) for c in picture[y, x]), shown=shown)
    walk = _BackWalk(run)
    if shown.bytes_ is not None:
        answer.place = shown.bytes_
        answer.value = [machine.memory.read(shown.bytes_.address, shown.bytes_.size)[::-1].hex()]
        answer.touches = walk.follow(shown.bytes_, address.frame, None, MOST_LINKS)
        walk.explain_missing(answer, address.frame, None)
    return _concluded(answer, walk)


def _of_target(run: N3dsInspection, address: Address, x: int, y: int) -> Why:
    moment = run.seek(address.place)
    machine = run.player.machine
    target = target_of(machine.memory, machine.registers, machine.choices)
    if target is None or not (x < target.width and y < target.height):
        what = "no target" if target is None else f"a target of {sized(target.width, target.height)}"
        raise UsageError(f"the draw has {what}; there is no pixel ({x}, {y})", location=str(address))
    size = target.format.bits // 8
    place = Range(target.address + target.number(x, target.row(y)) * size, size)
    event = run.event(address)
    data = moment.read(place.address, size)
    answer = Why(address, color=tuple(target.texel(data)), value=[data[::-1].hex()], place=place)
    walk = _BackWalk(run)
    answer.touches = walk.history(place, event.frame, event.number + 1)
    walk.explain_missing(answer, event.frame, event.number + 1)
    return _concluded(answer, walk)


def _concluded(answer: Why, walk: _BackWalk) -> Why:
    """Add the results of the walk and the conclusion to the answer."""
    answer.misses, answer.missing, answer.proved = walk.misses, walk.missing, walk.proved
    answer.overlapping = walk.overlapping
    answer.because = _because(answer)
    answer.opening = [f"{answer.address} is {answer.hex}: {answer.because}"]
    last = answer.last
    if last is not None and last.writer is not None:
        answer.opening.append(f"  {_cause(last.writer)}")
    elif not walk.missing and (lost := _last_fragment(answer)) is not None and lost.fate.startswith(DEPTH_ONLY):
        answer.opening.append(f"  {_cause(lost)}")
    if walk.overlapping is not None:
        overlap = f"the colour and depth buffers of {walk.overlapping} overlap: other pixels write here as well"
        answer.opening.append(overlap)
    elif not walk.proved:
        answer.opening.append("NOT proved: the values do not end in the bytes that were drawn")
    elif answer.fragments or answer.misses:
        answer.opening.append("proved: the values end in the bytes that were drawn")
    return answer


def _because(answer: Why) -> str:
    """The cause, in a line."""
    if answer.shown is not None and answer.shown.bytes_ is None:
        return answer.shown.reason
    last, missing = answer.last, answer.missing
    if last is None or last.sources:
        return f"nothing ever wrote there{f'; {missing}' if missing else ''}"
    if last.writer is not None:
        number = last.writer.primitive
        return f"{last.event.title}, primitive {number}  {last.event.address}/t{number}"
    if last.fragments:
        return f"nothing ever wrote there; {missing or _rejected(answer)}"
    since = missing or (_rejected(answer) if answer.fragments or answer.misses else "nothing wrote there since")
    return f"{last.event.title}; {since}  {last.event.address}"


def _rejected(answer: Why) -> str:
    """Why draws did not write a pixel: the fate of the last fragment there, or how many draws missed it."""
    touches = [touch for touch in answer.all_touches() if touch.fragments]
    fragment = _last_fragment(answer)
    if fragment is not None:
        return f"draw {touches[-1].event.address} was {fragment.fate}"
    return f"{counted(len(answer.misses), 'draw')} to this target did not cover it"


def _last_fragment(answer: Why) -> Fragment | None:
    """The last fragment on a pixel, written or not."""
    touches = [touch for touch in answer.all_touches() if touch.fragments]
    return touches[-1].fragments[-1] if touches else None


def _cause(fragment: Fragment) -> str:
    """What computed a fragment's colour: the last combiner stage that is not idle."""
    for number in reversed(range(STAGES)):
        stage = fragment.stage(f"combiner {number}")
        if stage is not None and not stage.values["idle"]:
            rgb = stage.values["rgb"]
            operands = ", ".join(f"{one['source']}.{one['operand']} {one['value']}" for one in rgb["operands"])
            return f"combiner stage {number}: {rgb['operation']} of {operands} gives {rgb['result']}"
    return "the vertex colour, as no combiner stage changes it"


# -- finding out ------------------------------------------------------------------------------------------------------
class _BackWalk:
    """Goes back from the bytes of a pixel to the events that wrote them.

    misses: draws to the pixel's target that do not cover it. missing: why no draw reached the pixel, if that was found.
    proved: whether all values lead to the bytes that were drawn. overlapping: a draw whose colour and depth buffers
    overlap, so that other pixels write these bytes too.
    """

    def __init__(self, run: N3dsInspection) -> None:
        self._run = run
        self._machine = run.player.machine
        self.misses: list[Address] = []
        self.missing = ""
        self.proved = True
        self.overlapping: Address | None = None
        self._tried: list[Event] = []  # draws that may have written the pixel of the last history
        self._place: Range | None = None  # the pixel of the last history

    def _before(self, frame: int, number: int | None) -> Iterator[Event]:
        """Events before event `number` of a frame (None: all of it), latest first."""
        for index in range(frame, max(frame - MOST_BACK, 0) - 1, -1):
            events = self._run.events(index)
            yield from reversed(events if index != frame or number is None else events[:number])

    def follow(self, place: Range, frame: int, number: int | None, links: int) -> list[Touch]:
        """What touched some bytes before event `number` of a frame; back through at most `links` transfers."""
        writer = next((e for e in self._before(frame, number) if any(place.overlaps(w) for w in e.writes)), None)
        if not links or writer is None or writer.kind not in _COPIES or "PPF_CONTROL" not in writer.facts:
            return self.history(place, frame, number)
        sources = sources_of(self._machine, move_of(self._machine, writer.facts), place)
        if not sources:
            return self.history(place, frame, number)
        found = []
        # Of a mean of several pixels, only the first is followed back through further transfers.
        for n, source in enumerate(sources):
            left = 0 if n else links - 1
            touches = self.follow(source.bytes_, writer.frame, writer.number, left)
            surface = touches[-1].surface if touches else ""
            found.append(History(source.bytes_, surface, source.x, source.row, touches))
        return [Touch(writer, writer.title, sources=found)]

    def history(self, place: Range, frame: int, number: int | None) -> list[Touch]:
        """The events on a pixel before event `number` of a frame, from the last one that wrote all of it."""
        events: list[Event] = []
        for event in self._before(frame, number):
            if not any(place.overlaps(one) for one in event.writes):
                continue
            events.append(event)
            whole = any(one.address <= place.address and place.end <= one.end for one in event.writes)
            if event.kind != "draw" and whole:
                break
        events.reverse()
        self._tried = [event for event in events if event.draw is not None]
        self._place = place
        found = self._on_pixel(events, place)
        touches: list[Touch] = []
        depth: Event | None = None
        last: DrawOnPixel | None = None
        for event in events:
            if event.draw is None:
                last = None
                touches.append(Touch(event, event.title))
                continue
            seen = found.get((event.frame, event.draw))
            if seen is None:
                continue
            last = seen
            self.proved = self.proved and seen.proved
            if seen.overlapping:
                self.overlapping = self.overlapping or event.address
            if not seen.fragments:
                self.misses.append(event.address)
                continue
            fragments = [explain(seen, one) for one in seen.fragments]
            touches.append(Touch(
                event, event.title, str(event.facts.get("target", "")), seen.x, seen.row,
                fragments[0].before, fragments[-1].after, fragments=fragments, depth_from=depth, proved=seen.proved,
                pixel=self._address(event, seen),
            ))  # fmt: skip
            if any(one.before[1] != one.after[1] for one in seen.fragments):
                depth = event
        self._run.player.go(Position(frame + 1) if number is None else Position(frame, number))
        final = self._machine.memory.read(place.address, place.size)
        if last is not None:  # nothing else wrote the pixel after this draw
            self.proved = self.proved and last.agrees(final)
        return touches

    def _address(self, event: Event, seen: DrawOnPixel) -> Address | None:
        """The pixel as addresses count it: with y as the viewport has it."""
        target = target_of(self._machine.memory, seen.registers, self._machine.choices)
        return None if target is None else event.address.at(pixel=(seen.x, target.row(seen.row)))

    def _on_pixel(self, events: list[Event], place: Range) -> dict[tuple[int, int], DrawOnPixel]:
        """What the draws among some events did to a pixel, by frame and number of the draw."""
        found: dict[tuple[int, int], DrawOnPixel] = {}
        offset = self._machine.memory.offset_of(place.address, place.size)
        assert offset is not None
        for index in sorted({event.frame for event in events if event.draw is not None}):
            draws = {event.draw: event for event in events if event.frame == index and event.draw is not None}
            watch = PixelWatch(self._machine, offset, {draw: event.address for draw, event in draws.items()})
            self._run.watch(max(draws.values(), key=lambda event: event.number), watch)
            for one in watch.found:
                self._find_origins(draws[one.draw], one)
                found[index, one.draw] = one
        return found

    def _find_origins(self, event: Event, seen: DrawOnPixel) -> None:
        """The primitives of fragments whose triangles a geometry program emitted."""
        if all(fragment.origin is not None for fragment in seen.fragments):
            return
        watch = PrimitiveWatch(self._machine, seen.draw)
        self._run.watch(event, watch)
        for fragment in seen.fragments:
            owner = watch.owner(fragment.primitive)
            if owner is not None:
                fragment.primitive, fragment.origin = owner, watch.primitive(event.address, owner)

    def explain_missing(self, answer: Why, frame: int, number: int | None) -> None:
        """If no draw had a fragment on the pixel: the fate of the last draw to its target, or where draws go."""
        if answer.fragments:
            return
        run = self._run
        if self._tried:
            from pocketgpu.inspect.n3ds.funnel import changes_colour, funnel

            if changes_colour(run, self._tried[-1].address):
                return
            found = funnel(run, self._tried[-1].address)
            if found.narrowest is not None or not found.stages[-1].came:
                self.missing = f"draw {found.address} drew nothing: {found.because}"
            return
        events = run.events(frame)
        if not answer.touches and answer.shown is not None:
            # A screen shows the output of transfers: report where those go instead.
            moved = [event for event in events if event.kind in _COPIES and event.writes]
            places = list(dict.fromkeys(f"{event.writes[0].address:#x} ({event.address})" for event in moved))
            if places:
                self.missing = (
                    f"transfers of the frame go to {' and '.join(places[:3])}, and the screen shows what is elsewhere "
                    f"({answer.shown.register})"
                )
                return
            if any(event.draw is not None for event in events):
                self.missing = "no transfer of the frame takes the output of draws to a screen"
                return
        draws = [event for event in events[:number] if event.draw is not None]
        place = self._place
        covered = [draw for draw in draws if place is not None and any(place.overlaps(one) for one in draw.writes)]
        targets = dict.fromkeys(event.facts["target"] for event in draws)
        if covered:
            self.missing = f"draw {covered[-1].address} wrote to this target before it"
        elif targets:
            goes = " and ".join(list(targets)[:2])
            self.missing = f"no draw goes there: draws of the frame go to {goes} (COLORBUFFER_LOC)"


__all__ = ["Why", "why"]


def __dir__() -> list[str]:
    return [*__all__]
