"""What became of a whole draw: how many vertices, triangles and fragments passed each stage, and what stopped the rest.

Vertices and triangles are judged by the code that clips and culls, over all of them at once. Fragments are counted on
tiles that the triangles touch, at most so many, spread over the draw; the answer says on how many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.pica_enums import GEOMETRY_STAGE, PRIMITIVE, SCISSOR
from pocketgpu.inspect.address import Address
from pocketgpu.inspect.event import Event
from pocketgpu.inspect.n3ds.explain import named
from pocketgpu.inspect.n3ds.history import DrawOnPixel
from pocketgpu.inspect.n3ds.machine import Run
from pocketgpu.inspect.n3ds.programs import Program
from pocketgpu.inspect.n3ds.targets import _Words
from pocketgpu.inspect.rules.n3ds.one_draw import said_of
from pocketgpu.inspect.wording import there_are
from pocketgpu.lanes import Engine, Value
from pocketgpu.lanes.numpy_eval import ArenaViews, NumpyLang
from pocketgpu.lanes.values import F32, I64
from pocketgpu.pica.core.layout import (
    CONTROL,
    PACKET,
    PACKET_REGISTERS,
    PACKET_SIZE,
    TRIANGLE,
    TRIANGLE_SIZE,
    VERTEX_SIZE,
)
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.core.registers import field as field_of
from pocketgpu.pica.fragment.kernel import draw_fragments
from pocketgpu.pica.front.draw_target import make_target
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pica.vertex.primitives import CHAINED, USER_PLANE, Setup
from pocketgpu.pica.watch import DrawPackets

if TYPE_CHECKING:
    from pocketgpu.inspect.n3ds.inspection import N3dsInspection

MOST_TILES = 64
PLANES = {
    0: "right of the view", 1: "left of it", 2: "above it", 3: "below it", 4: "nearer than the near plane",
    5: "beyond the far plane", 6: "behind the eye (w too small)", 7: "cut off by the plane of FRAGOP_CLIP",
}  # fmt: skip
"""What each clip plane (pica/primitives.py) leaves out."""
_NAN = 0x100
_ONE = {
    "vertices": "vertex", "triangles": "triangle", "triangles to draw": "triangle to draw", "fragments": "fragment",
    "colours": "colour",
}  # fmt: skip
_EMITTED = "triangles of the geometry program"
_NOTHING_EMITTED = "no triangle of the geometry program is left: it emits none, or all are clipped away or culled"
_PROGRAM = "the vertex program, or what it reads"
_POSITION = "the position that the program gives"
_SIDES = {
    "alpha": ("alpha.incoming", "alpha.reference", ("alpha is", "FRAGOP_ALPHA_TEST.reference is")),
    "stencil": ("stencil.reference", "stencil.tested", ("the reference is", "the buffer has")),
    "depth": ("depth.incoming", "depth.stored", ("their depth is", "the buffer has")),
}
"""For each test the probes of both sides, and what to call them."""
_COMPARED = {probe for own, other, _ in _SIDES.values() for probe in (own, other)}


@dataclass
class Stage:
    """A stage of the funnel: how many came, how many went on, and why the others did not: (count, reason, register)."""

    name: str
    came: int
    passed: int
    lost: list[tuple[int, str, str]] = field(default_factory=list)


@dataclass
class Funnel:
    """The answer for a draw. tiles: on how many tiles fragments were counted, of how many."""

    address: Address
    title: str
    stages: list[Stage]
    tiles: tuple[int, int] = (0, 0)
    proved: bool = True
    odd: list[str] = field(default_factory=list)
    """What rules of `pocketgpu check` say of the draw's registers and program."""
    triangle: str = ""
    """What became of the one triangle that was asked for."""

    @property
    def narrowest(self) -> Stage | None:
        """The first stage that nothing passed."""
        return next((stage for stage in self.stages if stage.came and not stage.passed), None)

    @property
    def because(self) -> str:
        """The cause, in a line."""
        stage = self.narrowest
        if stage is None:
            last = self.stages[-1]
            if not last.came:
                return "no vertices: NUMVERTICES is 0" if last.name != _EMITTED else _NOTHING_EMITTED
            # What was counted on some tiles is not all that there is.
            least = "at least " if self.tiles[0] < self.tiles[1] else ""
            return f"{least}{last.passed} {last.name} changed something"
        count, reason, register = max(stage.lost, default=(0, "nothing says why", ""))
        where = f" ({register})" if register else ""
        return f"no {stage.name} left: {count} of {stage.came} {reason}{where}"

    def to_json(self) -> dict[str, Any]:
        """Plain data, with `schema`."""
        return {
            "schema": "pocketgpu.funnel/1", "address": str(self.address), "because": self.because,
            "odd": self.odd, **({"triangle": self.triangle} if self.triangle else {}),
            "tiles": {"looked_at": self.tiles[0], "of": self.tiles[1]},
            "stages": [
                {"name": s.name, "came": s.came, "passed": s.passed,
                 "lost": [{"count": n, "reason": why, "register": register} for n, why, register in s.lost]}
                for s in self.stages
            ],
        }  # fmt: skip

    @property
    def conclusion(self) -> list[str]:
        """What became of the draw, and what is odd about it."""
        lines = [f"{self.title}: {self.because}  {self.address.place}", *(f"  odd: {line}" for line in self.odd)]
        return [f"{self.address}: {self.triangle}", *lines] if self.triangle else lines

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text())}</pre>"

    def __str__(self) -> str:
        return self.text()

    def text(self) -> str:
        """The conclusion, then the funnel."""
        lines = self.conclusion
        for stage in self.stages:
            name = stage.name if stage.came != 1 else _ONE.get(stage.name, stage.name)
            lines.append(f"  {stage.came} {name}, {stage.passed} pass")
            lines += [f"      {n} {why}{f' ({register})' if register else ''}" for n, why, register in stage.lost if n]
        looked, of = self.tiles
        if looked < of:
            lines.append(f"  fragments were counted on {looked} of {of} tiles")
        return "\n".join(lines)


class _Watch:
    """Stops at one draw between its vertex side and its fragment side."""

    def __init__(self, machine: N3DS, draw: int) -> None:
        self.machine, self.draw = machine, draw
        self._packets: DrawPackets | None = None
        self.stages: list[Stage] = []
        self.odd: list[str] = []
        self.tiles = (0, 0)
        self._core, self._arena = machine._core, machine.memory.arena
        self._seen = False
        self._box: tuple[float, float, float, float] | None = None
        self._values: dict[str, tuple[int, int]] = {}
        self.triangles: list[str] = []
        """What clipping and culling did to each triangle."""

    def draws(self, packets: DrawPackets, numbers: range, run: Run) -> None:
        """As `machine.DrawWatcher` asks: what comes before the draw runs as always, the draw runs alone."""
        if self.draw not in numbers:
            run(0, len(numbers))
            return
        place = self.draw - numbers.start
        self._packets = packets
        if place:
            run(0, place)
        runner = getattr(self._core.runner, "_runner", self._core.runner)
        runner.raster_watch = partial(self._between, place)
        try:
            run(place, place + 1)
        finally:
            runner.raster_watch = None
        if not self._seen:  # no triangle came so far
            self._between(place, 0, 0, lambda first, end: None)

    # -- between the sides --------------------------------------------------------------------------------------------
    def _between(self, packet: int, first: int, end: int, draw: Callable[[int, int], None]) -> None:
        self._seen = True
        at = self._core.layout.packets + packet * PACKET_SIZE
        head = self._arena[at : at + PACKET_REGISTERS].view(np.int32)
        registers = self._arena[at + PACKET_REGISTERS : at + PACKET_SIZE].view(np.uint32)
        self._about = DrawOnPixel(self.draw, 0, 0, registers.copy(), (0, 0, 0, 0), [], (b"", b""))
        program = self._program(packet)
        self.odd = said_of(dict(enumerate(registers.tolist())), int(head[PACKET.KIND // 4]), program)
        self._vertices(at, program)
        low, high = (int(head[getattr(PACKET, f"{which}_TRIANGLE") // 4]) for which in ("FIRST", "LAST"))
        self._drawable(high - low)
        if high > low and first < end:
            self._fragments(packet, head, low, high)
        draw(first, end)

    def _vertices(self, at: int, program: Program | None) -> None:
        """Judge the vertices that lie in the work area, and the triangles that they make."""
        layout, arena = self._core.layout, self._arena
        get = StaticRegisters(_Words(self._about.registers))
        if get("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON:
            return  # the work area has the vertices of what was emitted, not those of the draw
        control = arena[layout.control : layout.control + CONTROL.size].view(np.int32)
        count = int(control[CONTROL.ASSEMBLE_COUNT // 4]) if self._ran(control) else 0
        slots = arena[layout.slot_list : layout.slot_list + 4 * count].view(np.int32)
        records = arena[layout.vertices :][: VERTEX_SIZE * (int(slots.max(initial=-1)) + 1)].view(np.float32)
        positions = records.reshape(-1, VERTEX_SIZE // 4)[slots, :4]
        nans = np.flatnonzero(np.isnan(positions).any(axis=1))
        numbers = len(nans)
        source = self._source_of_nan(program) if numbers else ""
        # Of a draw that runs in pieces the work area has one of them, and numbers are not those of addresses.
        first = f", v{nans[0]} first" if numbers and not source and count == get("NUMVERTICES.count") else ""
        lost = [(numbers, f"have NaN in their position{source}{first}", "" if source else _PROGRAM)]
        self.stages = [Stage("vertices", count, count - numbers, lost)]
        chained = get("PRIMITIVE_CONFIG.mode") in CHAINED  # the geometry stage is off
        n = max(count - 2, 0) if chained else count // 3
        t = np.arange(n)
        places = np.stack([t, t + 1, t + 2] if chained else [3 * t, 3 * t + 1, 3 * t + 2])
        if chained and get("PRIMITIVE_CONFIG.mode") == PRIMITIVE.TRIANGLE_FAN:
            places[0] = 0
        elif chained:
            places[:2, t % 2 == 1] = places[1::-1, t % 2 == 1]
        self._judge(at, positions, places)

    def _program(self, packet: int) -> Program | None:
        """The vertex program, with what of its uniforms is no number."""
        packets, get = self._packets, self._about.state
        if packets is None:
            return None
        banks = {
            name: np.frombuffer(packets.contents(int(packets.versions(name)[packet]), words), np.uint32)
            for name, words in (("vs_code", 512), ("vs_opdescs", 128), ("vs_uniforms", 384))
        }
        entry, bools = get("VSH_ENTRYPOINT.entry"), get("VSH_BOOLUNIFORM.bools")
        code, descriptors = (tuple(banks[name].tolist()) for name in ("vs_code", "vs_opdescs"))
        program = Program("vertex", code, descriptors, entry, bools, "", 1)
        nans = np.argwhere(np.isnan(banks["vs_uniforms"].view(np.float32).reshape(-1, 4))).tolist()
        program.nans = {(number, axis): ("", 1) for number, axis in nans}
        return program

    def _source_of_nan(self, program: Program | None) -> str:
        """The uniform that positions have their NaN of, in words; "" if none that the program reads is NaN."""
        if program is None or self._about.state("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON:
            return ""
        used = program.uniforms
        axes: dict[int, str] = {}
        for n, axis in program.nans:
            if used.get(n, 0) >> axis & 1:
                axes[n] = axes.get(n, "") + "xyzw"[axis]
        names = [f"c{n}.{which}" for n, which in axes.items()]
        if not names:
            return ""
        return f": uniform {names[0]} is NaN" if len(names) == 1 else f": uniforms {', '.join(names[:4])} are NaN"

    @staticmethod
    def _ran(control: NDArray[np.int32]) -> bool:
        return bool(control[CONTROL.PIECE // 4])

    def _judge(self, packet: int, positions: NDArray[np.float32], places: NDArray[np.int64]) -> None:
        n = places.shape[1]
        if not n:
            self.stages.append(Stage("triangles", 0, 0))
            return
        k = NumpyLang(ArenaViews(self._arena), n, {})
        with np.errstate(all="ignore"):
            setup = Setup(k, self._core.layout, k.const(packet, I64), dict(self._core.runner._assembly_choices))
            corners = [
                [Value(k, np.ascontiguousarray(positions[row, axis]), F32, n) for axis in range(4)] for row in places
            ]
            codes = [np.broadcast_to(setup.outcode(p).raw, (n,)) for p in corners]
            _, x, y, area = setup.projected(corners)
            culled = np.broadcast_to(setup.culled(area).raw, (n,))
        some, every = codes[0] | codes[1] | codes[2], codes[0] & codes[1] & codes[2]
        nan = (some & _NAN) != 0
        outside = ~nan & (every != 0)
        whole = ~nan & (some == 0)
        flat, back = whole & (area.raw == 0), whole & culled & (area.raw != 0)
        lost = [(int(nan.sum()), "have a corner with NaN", _PROGRAM)]
        for plane, text in PLANES.items():
            count = int((outside & (every >> plane & 1 != 0)).sum())
            if count:
                lost.append((count, f"lie {text}", "FRAGOP_CLIP" if plane == USER_PLANE else _POSITION))
        lost.append((int(flat.sum()), "have no area", _POSITION))
        mode = named(self._about, "FACECULLING_CONFIG.mode")
        for turn, side in (("clockwise", area.raw < 0), ("counter-clockwise", area.raw > 0)):
            text = f"are culled: their corners run {turn} on the screen"
            lost.append((int((back & side).sum()), text, f"FACECULLING_CONFIG drops {mode}"))
        self._tell(positions[places], nan, np.where(outside, every, 0), flat, back, area.raw < 0, whole)
        stopped = int((nan | outside | flat | back).sum())
        self.stages.append(Stage("triangles", n, n - stopped, [one for one in lost if one[0]]))
        left = whole & ~flat & ~back
        if left.any():
            columns, rows = (np.stack([np.broadcast_to(v.raw, (n,))[left] for v in axis]) / 16 for axis in (x, y))
            self._box = (float(columns.min()), float(columns.max()), float(rows.min()), float(rows.max()))

    def _tell(self, corners: NDArray[np.float32], nan: NDArray[np.bool_], outside: NDArray[np.int64],
              flat: NDArray[np.bool_], back: NDArray[np.bool_], clockwise: NDArray[np.bool_],
              whole: NDArray[np.bool_]) -> None:  # fmt: skip
        """A line for each triangle: what stopped it, and where its corners lie."""
        mode = named(self._about, "FACECULLING_CONFIG.mode")
        for n in range(len(nan)):
            beyond = [text for plane, text in PLANES.items() if outside[n] >> plane & 1]
            if nan[n]:
                fate = f"is dropped: a corner has NaN ({_PROGRAM})"
            elif beyond:
                fate = f"is clipped away: it lies {' and '.join(beyond)}"
            elif flat[n]:
                fate = f"is dropped: it has no area ({_POSITION})"
            elif back[n]:
                turn = "clockwise" if clockwise[n] else "counter-clockwise"
                fate = f"is culled: its corners run {turn} on the screen (FACECULLING_CONFIG drops {mode})"
            else:
                fate = "is to be drawn" if whole[n] else "is to be drawn, if culling keeps what clipping leaves of it"
            where = ", ".join(f"({', '.join(f'{value:.6g}' for value in corner)})" for corner in corners[:, n].tolist())
            self.triangles.append(f"{fate}; corners in clip space {where}")

    def _drawable(self, count: int) -> None:
        """What came out as records; the rest lies between pixels, or where nothing may be drawn."""
        if not self.stages:
            self.stages.append(Stage(_EMITTED, count, count))
            return
        before = self.stages[-1]
        clipped = max(before.passed, count)
        lost = [(clipped - count, *self._why_beside())] if clipped > count else []
        self.stages.append(Stage("triangles to draw", clipped, count, lost))

    def _why_beside(self) -> tuple[str, str]:
        """Why triangles that were not clipped away cover nothing, and the registers that say so."""
        get = self._about.state
        width, height = get("FRAMEBUFFER_DIM.width"), get("FRAMEBUFFER_DIM.height") + 1

        def decode(name: str) -> float:
            part = field_of(name)
            return float(part.field.decode(int(self._about.registers[part.register.offset])))

        x, y = int(decode("VIEWPORT_XY.x")), int(decode("VIEWPORT_XY.y"))
        across, up = (2 * decode(f"VIEWPORT_{name}.value") for name in ("WIDTH", "HEIGHT"))
        if self._box is not None:
            left, right, bottom, top = self._box
            if left >= width or bottom >= height or right <= 0 or top <= 0:
                text = f"lie beside the target of {width}x{height}: the viewport is {across:g}x{up:g} at {x}, {y}"
                return text, "VIEWPORT_XY, VIEWPORT_WIDTH, VIEWPORT_HEIGHT"
            if get("SCISSORTEST_MODE.mode") == SCISSOR.INSIDE:
                x1, y1, x2, y2 = (get(f"SCISSORTEST_{name}") for name in ("POS.x1", "POS.y1", "DIM.x2", "DIM.y2"))
                if left > x2 + 1 or right < x1 or bottom > y2 + 1 or top < y1 or x2 < x1 or y2 < y1:
                    text = f"lie outside of the scissor, which keeps {x1}, {y1} to {x2}, {y2}"
                    return text, "SCISSORTEST_POS, SCISSORTEST_DIM"
            return "are too small to cover the centre of a pixel", _POSITION
        return "cover no pixel centre of what may be drawn to", "FRAMEBUFFER_DIM, VIEWPORT_XY"

    # -- fragments ----------------------------------------------------------------------------------------------------
    def _fragments(self, packet: int, head: NDArray[np.int32], low: int, high: int) -> None:
        """Shade some tiles with the oracle and count; memory is then as it was."""
        core, arena = self._core, self._arena
        at = core.layout.triangles
        records = arena[at + low * TRIANGLE_SIZE : at + high * TRIANGLE_SIZE].view(np.int32)
        records = records.reshape(-1, TRIANGLE_SIZE // 4)
        box = slice(TRIANGLE.MIN_X // 4, TRIANGLE.MAX_Y // 4 + 1)
        tiles = [
            (n, x, y)
            for n, (x0, x1, y0, y1) in enumerate(records[:4096, box].tolist())
            for y in range(y0 & ~7, y1 + 1, 8)
            for x in range(x0 & ~7, x1 + 1, 8)
        ][: 1 << 16]
        chosen = tiles[:: max(-(-len(tiles) // MOST_TILES), 1)]
        self.tiles = (len(chosen), len(tiles))
        static = core.runner.fragment_code(packet)
        counts: dict[str, int] = {}
        self._values = {}
        mask: NDArray[np.bool_] = np.zeros(0, bool)

        def note(name: str, value: Value) -> None:
            nonlocal mask
            if name == "fragment.covered" or name.endswith(".passed"):
                mask = np.asarray(value.raw, bool)
            elif name in _COMPARED and mask.any():
                values = np.broadcast_to(value.raw, mask.shape)[mask]
                low, high = self._values.get(name, (int(values[0]), int(values[0])))
                self._values[name] = min(low, int(values.min())), max(high, int(values.max()))
            if name.endswith(".passed") or name == "written.r":
                counts[name] = counts.get(name, 0) + (0 if name == "written.r" else int(np.sum(value.raw)))

        run = Engine(arena, "numpy", note).get(draw_fragments, **static)
        kept = [(slice(start, start + size), arena[start : start + size].copy()) for start, size in self._written(head)]
        first, last = PACKET.FIRST_TRIANGLE // 4, PACKET.LAST_TRIANGLE // 4
        counter = arena[core.layout.counters : core.layout.counters + 4].view(np.int32)
        old_head, old_counter = head.copy(), counter.copy()
        counter[:] = 0
        for n, x, y in chosen:
            old_box = records[n, box].copy()
            records[n, box] = (max(x, old_box[0]), min(x + 7, old_box[1]), max(y, old_box[2]), min(y + 7, old_box[3]))
            head[first], head[last] = low + n, low + n + 1
            run(core.layout.packets + packet * PACKET_SIZE, 0, 1)
            records[n, box] = old_box
        covered = int(counter[0])
        head[:], counter[:] = old_head, old_counter
        changed = sum(int((arena[place] != old).any()) for place, old in kept)
        for place, old in kept:
            arena[place] = old
        self._count(covered, counts, bool(changed))

    def _compared(self, name: str) -> str:
        """What a test compared, in words."""
        own, other, title = _SIDES[name]
        if own not in self._values or other not in self._values:
            return ""
        most = 1
        if name == "depth":
            most = (1 << (16 if self._about.state("DEPTHBUFFER_FORMAT.format") == 0 else 24)) - 1

        def shown(which: str) -> str:
            low, high = (value / most for value in self._values[which])
            return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"

        return f": {title[0]} {shown(own)}, {title[1]} {shown(other)}"

    def _written(self, head: NDArray[np.int32]) -> list[tuple[int, int]]:
        registers = self._about.registers
        target = make_target(self.machine.memory, StaticRegisters(_Words(registers)))
        return [] if isinstance(target, str) else target.ranges

    def _count(self, covered: int, counts: dict[str, int], changed: bool) -> None:
        left, lost = covered, []
        functions = {
            "alpha": "FRAGOP_ALPHA_TEST.function", "stencil": "STENCIL_TEST.function",
            "depth": "DEPTH_COLOR_MASK.depth_function",
        }  # fmt: skip
        for name in (probe.removesuffix(".passed") for probe in counts):
            if name in functions:
                passed = counts[f"{name}.passed"]
                text = f"fail the {name} test{self._compared(name)}"
                lost.append((left - passed, text, f"{functions[name]} {named(self._about, functions[name])}"))
                left = passed
        self.stages.append(Stage("fragments", covered, left, [one for one in lost if one[0] > 0]))
        get = self._about.state
        masked = not any(get(f"DEPTH_COLOR_MASK.{ch}") for ch in ("red", "green", "blue", "alpha"))
        off = not get("COLORBUFFER_WRITE.mask")
        if left and (masked or off):
            by = "DEPTH_COLOR_MASK" if masked else "COLORBUFFER_WRITE"
            self.stages.append(Stage("colours", left, 0, [(left, "are masked", by)]))
        elif left:
            lost = [] if changed else [(left, "leave the bytes that were there", "")]
            self.stages.append(Stage("colours", left, left if changed else 0, lost))


def funnel(run: N3dsInspection, address: Address) -> Funnel:
    """The funnel of a draw.

    :raises UsageError: there is no such draw, or no such triangle of it.
    """
    event = run.event(address)
    assert event.draw is not None
    watch = _Watch(run.traveller.machine, event.draw)
    run.traveller.go(event.frame, event.number, watch)
    found = Funnel(event.address, event.title, watch.stages, watch.tiles, odd=watch.odd)
    if address.primitive is not None:
        found.address = event.address.at(primitive=address.primitive)
        found.triangle = _triangle(address, event, watch)
    return found


def _triangle(address: Address, event: Event, watch: _Watch) -> str:
    """What became of one triangle of the draw.

    :raises UsageError: there is none of that number, or triangles cannot be told apart.
    """
    assert address.primitive is not None
    emitted = watch.stages[0].name == _EMITTED
    if emitted or watch.stages[0].came != event.facts.get("vertices"):
        reason = "a geometry program makes them" if emitted else "the draw runs in pieces"
        raise UsageError(
            f"the triangles of this draw cannot be told apart: {reason}", location=str(address),
            hint=f"{address.place} tells of the whole draw.",
        )  # fmt: skip
    if address.primitive < len(watch.triangles):
        return watch.triangles[address.primitive]
    raise UsageError(
        f"the draw has no triangle {address.primitive}", location=str(address),
        hint=there_are(len(watch.triangles), "triangle", f"{event.address}/t0"),
    )  # fmt: skip
