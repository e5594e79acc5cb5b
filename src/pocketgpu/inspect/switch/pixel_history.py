"""The history of a pixel: the machine replays the events that touched it; the bytes before and after each event are
read, and draws are watched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.why import History, Touch
from pocketgpu.inspect.switch.explain import Explainer
from pocketgpu.inspect.switch.fragments import MOST, FragmentWatch
from pocketgpu.inspect.switch.primitives.corners import DrawCorners
from pocketgpu.inspect.switch.surfaces import Surface
from pocketgpu.inspect.switch.touches import Candidate, Spot, Track, overlaps
from pocketgpu.inspect.switch.vertices import fresh
from pocketgpu.inspect.switch.watched import Watch
from pocketgpu.maxwell.engines.common.action_log import Blit, Clear
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.switch.inspection import SwitchInspection

_EVERYWHERE = (0, 0, 1 << 30, 1 << 30)

class TouchWalk:
    """Replays the touches of tracks in order, and describes what each did.

    :param closely: whether fragments are watched; otherwise only the bytes before and after are reported.
    """

    def __init__(self, inspection: SwitchInspection, watch: Watch, closely: bool = True) -> None:
        self._inspection, self._watch, self._closely = inspection, watch, closely
        self.player, self.memory = inspection.player, inspection.player.machine.memory
        self.misses: list[Address] = []
        """Draws with the surface as a target that have no fragment on the pixel."""
        self.chained = True
        """Whether each step finds the bytes that the step before left."""
        self._steps: dict[int, Touch | None] = {}

    def touches_of(self, track: Track) -> list[Touch]:
        """The touches of a track, as an answer has them, with those of its sources inside."""
        touches: list[tuple[Candidate, Track]] = []

        def gather(one: Track) -> None:
            for touch in one.touches:
                if touch.source is not None:
                    gather(touch.source)
                touches.append((touch, one))

        gather(track)
        by_tick: dict[int, list[tuple[Candidate, Track]]] = {}
        for touch, owner in touches:
            by_tick.setdefault(touch.tick, []).append((touch, owner))
        for tick in sorted(by_tick):
            self._at(tick, by_tick[tick])
        return self._of(track)

    def _of(self, track: Track) -> list[Touch]:
        found = []
        last: list[str] | None = None
        for touch in track.touches:
            step = self._steps.get(id(touch))
            if step is None:
                continue
            if touch.source is not None:
                step.sources = [self._history(touch, touch.source)]
            if last is not None and step.before != last and len(step.before) == len(last):
                self.chained = False
            last = step.after
            found.append(step)
        return found

    def _history(self, touch: Candidate, track: Track) -> History:
        """The history of the bytes that an event copied; of several, of those that weigh most."""
        touches = self._of(track)
        tap = next(one for one in touch.taps if one.spot == track.spots[0])
        place = Range(tap.address, tap.spot[1])
        if not touches:
            return History(place)
        last = touches[-1]
        return History(place, last.surface, last.x, last.y, touches)

    # -- one event ----------------------------------------------------------------------------------------------------
    def _at(self, tick: int, touches: list[tuple[Candidate, Track]]) -> None:
        if self._closely and all(self._beside(touch) for touch, _ in touches) and self._same(tick, touches):
            self.misses += [touch.trace.event.address for touch, _ in touches]
            self._steps |= {id(touch): None for touch, _ in touches}
            return
        player = self.player
        player.go(player.at(tick - 1))
        before = [self._bytes(touch, track) for touch, track in touches]
        watches: dict[int, FragmentWatch] = {}
        if self._closely:
            for touch, _ in touches:
                if isinstance(touch.trace.what, Draw) and touch.surface is not None:
                    watches[id(touch)] = FragmentWatch(self._watch, touch.x, touch.y, touch.surface.grid)
        if watches:
            player.play_to(player.at(tick), *watches.values())
            self._inspection.recorder.reached[tick] = next(iter(watches.values())).box
        else:
            player.go(player.at(tick))
        for (touch, track), old in zip(touches, before, strict=True):
            new = self._bytes(touch, track)
            self._steps[id(touch)] = self._step(touch, old, new, watches.get(id(touch)))

    def _beside(self, touch: Candidate) -> bool:
        """Whether a draw was looked at before, and none of its shapes can cover the pixel."""
        trace = touch.trace
        if not isinstance(trace.what, Draw) or touch.surface is None or trace.stores:
            return False
        left, top, right, bottom = self._inspection.recorder.reached.get(touch.tick, _EVERYWHERE)
        return not (left <= touch.x <= right and top <= touch.y <= bottom)

    def _same(self, tick: int, touches: list[tuple[Candidate, Track]]) -> bool:
        """Whether a draw beside the pixels leaves their bytes. Words for constant buffers, which belong to the draw
        after them, can go anywhere."""
        if all(self._has_no_constants(touch, track) for touch, track in touches):
            return True
        self.player.go(self.player.at(tick - 1))
        before = [self._bytes(touch, track) for touch, track in touches]
        self.player.go(self.player.at(tick))
        return before == [self._bytes(touch, track) for touch, track in touches]

    def _has_no_constants(self, touch: Candidate, track: Track) -> bool:
        """Whether no words for constant buffers went to the pixel before a draw."""
        if "constant_words" not in touch.trace.event.facts:
            return True
        stored = touch.trace.stored
        return stored is not None and not any(overlaps(spot, stored) for spot in self._spots(touch, track))

    def _spots(self, touch: Candidate, track: Track) -> Sequence[Spot]:
        """Where the pixel's samples in the event's surface are, or the bytes of the track."""
        surface = touch.surface
        if surface is None or surface.samples == 1:
            return track.spots
        base = next(base for one, base in touch.trace.surfaces if one is surface)
        places = surface.places(touch.x, touch.y)
        return [(base + place - surface.address, surface.format.bytes) for place in places]

    def _bytes(self, touch: Candidate, track: Track) -> list[bytes]:
        """The bytes there."""
        return [self.memory.arena[at : at + size].tobytes() for at, size in self._spots(touch, track)]

    def _step(self, touch: Candidate, old: list[bytes], new: list[bytes], watch: FragmentWatch | None) -> Touch | None:
        trace, surface = touch.trace, touch.surface
        event = trace.event
        text, fragments, proved = event.title, [], True
        if isinstance(trace.what, Draw):
            if watch is not None:
                if not watch.total and old == new:
                    self.misses.append(trace.event.address)
                    return None
                assert surface is not None
                explainer = Explainer(self._watch, self._inspection.recorder, surface, touch.tick - 1)
                fragments = [explainer.fragment(seen) for seen in watch.seen]
                if fragments:
                    corners = DrawCorners(fresh(trace.what))
                    for one in fragments:
                        one.origin = corners.primitive(event.address, one.primitive)
                proved = all(one.proved for one in fragments)
                final = next((one.after for one in reversed(fragments) if one.after), None)
                if watch.total <= MOST and final is not None:
                    proved = proved and final == [raw.hex() for raw in new]
                elif not watch.total:
                    proved = False  # something other than a fragment wrote it, such as a program's store
                count = sum(one.written for one in fragments)
                text = f"{event.title}: {counted(watch.total, 'fragment')} here, {count} written"
            elif old == new:
                return None
        elif isinstance(trace.what, Clear):
            text = f"{event.title}: sets this pixel"
        elif isinstance(trace.what, Blit):
            parts = ", ".join(f"{tap.weight:.4g} of {tap.address:#x}" for tap in touch.taps)
            text = f"{event.title}: takes {parts or 'pixels outside of its source'}"
        elif touch.taps:
            text = f"{event.title}: takes the bytes at {touch.taps[0].address:#x}"
        elif event.kind in ("launch", "report") and old == new:
            return None
        name = surface.name if surface is not None else "memory"
        # Questions about a pixel of a draw are about its first target.
        first = event.draw is not None and bool(trace.surfaces) and surface is trace.surfaces[0][0]
        return Touch(
            event, text, name, touch.x, touch.y, [raw.hex() for raw in old], [raw.hex() for raw in new],
            _meaning(surface, old), _meaning(surface, new), fragments, proved=proved,
            pixel=event.address.at(pixel=(touch.x, touch.y)) if first else None,
        )  # fmt: skip


def _meaning(surface: Surface | None, samples: list[bytes]) -> str:
    """The meaning of samples' bytes, for people."""
    if surface is None or not samples or any(len(raw) != surface.format.bytes for raw in samples):
        return " ".join(raw.hex() for raw in samples[:8])
    each = list(dict.fromkeys(samples))
    texts = []
    for raw in each[:4]:
        values = ", ".join("-" if v is None else f"{v:.6g}" for v in surface.value(raw))
        texts.append(f"{raw.hex()} ({values})")
    return " | ".join(texts) + (f" and {len(each) - 4} more" if len(each) > 4 else "")
