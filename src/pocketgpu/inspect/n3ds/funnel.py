"""The funnel of a draw: how many vertices, triangles and fragments passed each stage, and what stopped the rest.

Vertices and triangles are tested by the machine's code for clipping and culling, all of them at once. Fragments are
counted on tiles that the triangles touch. If there are too many tiles, some are chosen, spread over the draw; the
answer says how many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.events import sized
from pocketgpu.facts.pica_enums import GEOMETRY_STAGE, PRIMITIVE, SCISSOR
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.model.stage import Loss, Stage
from pocketgpu.inspect.model.wording import counted, there_are
from pocketgpu.inspect.n3ds.draw_watcher import DrawWatcher
from pocketgpu.inspect.n3ds.explain import named
from pocketgpu.inspect.n3ds.history import DrawOnPixel
from pocketgpu.inspect.n3ds.programs import Program
from pocketgpu.inspect.n3ds.targets import RegisterWords
from pocketgpu.lanes import Engine, Value
from pocketgpu.lanes.numpy_eval import ArenaViews, NumpyLang
from pocketgpu.lanes.values import F32, I64
from pocketgpu.pica.core.layout import PACKET, TRIANGLE
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.core.registers import field as field_of
from pocketgpu.pica.fragment.kernel import draw_fragments
from pocketgpu.pica.front.draw_target import make_target
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pica.primitives.assembly import CHAINED, USER_PLANE, Setup

if TYPE_CHECKING:
    from pocketgpu.inspect.n3ds.inspection import Judge, N3dsInspection

MOST_TILES = 64
MOST_TRIANGLES = 4096
"""Most triangles whose tiles are listed."""
MOST_LISTED = 1 << 16
"""Most tiles that are listed."""
PLANES = {
    0: "right of the view", 1: "left of it", 2: "above it", 3: "below it", 4: "nearer than the near plane",
    5: "beyond the far plane", 6: "behind the eye (w too small)", 7: "cut off by the plane of FRAGOP_CLIP",
}  # fmt: skip
"""What each clip plane cuts off."""
_NAN = 0x100
_EMITTED = "triangles of the geometry program"
_NOTHING_EMITTED = "no triangle of the geometry program is left: it emits none, or all are clipped away or culled"
_PROGRAM = "the vertex program, or what it reads"
_POSITION = "the position that the program gives"
_SIDES = {
    "alpha": ("alpha.incoming", "alpha.reference", ("alpha is", "FRAGOP_ALPHA_TEST.reference is")),
    "stencil": ("stencil.reference", "stencil.tested", ("the reference is", "the buffer has")),
    "depth": ("depth.incoming", "depth.stored", ("their depth is", "the buffer has")),
}
"""For each test the probes of both operands, and how a text names them."""
_COMPARED = {probe for own, other, _ in _SIDES.values() for probe in (own, other)}


class _FunnelWatch(DrawWatcher):
    """Stops at one draw between its vertex side and its fragment side."""

    def __init__(self, machine: N3DS, draw: int, judge: Judge | None) -> None:
        self.machine, self.draw, self._said_of = machine, draw, judge
        self._packets: DrawPackets | None = None
        self.stages: list[Stage] = []
        self.odd: list[str] = []
        self.tiles = (0, 0)
        self.proved = True
        self._drawn: list[tuple[slice, NDArray[np.uint8]]] = []
        """What the oracle left in the target, if it shaded all tiles."""
        self._work = machine.work
        self._place: int | None = None  # the draw's packet, while it runs
        self._seen = False
        self._box: tuple[float, float, float, float] | None = None
        self._values: dict[str, tuple[int, int]] = {}
        self.triangles: list[str] = []
        """What clipping and culling did to each triangle."""

    def look(self, packets: DrawPackets, numbers: range, run: Run) -> None:
        """See `DrawWatcher`. The draws before this one run as always; this one runs alone."""
        if self.draw not in numbers:
            run(0, len(numbers))
            return
        place = self.draw - numbers.start
        self._packets = packets
        if place:
            run(0, place)
        self._place = packets.start + place
        try:
            run(place, place + 1)
        finally:
            self._place = None
        if not self._seen:  # no triangle so far
            self._between(packets.start + place, 0, 0, lambda first, end: None)

    def fragments(self, first: int, end: int, run: Run) -> None:
        """See `Observer`."""
        if self._place is None:
            run(first, end)
        else:
            self._between(self._place, first, end, run)

    # -- between the sides --------------------------------------------------------------------------------------------
    def _between(self, packet: int, first: int, end: int, draw: Run) -> None:
        self._seen = True
        at, head, registers = self._work.packet(packet), self._work.head(packet), self._work.registers(packet)
        self._about = DrawOnPixel(self.draw, 0, 0, registers.copy(), (0, 0, 0, 0), [], (b"", b""))
        program = self._program(packet)
        if self._said_of is not None:
            self.odd = self._said_of(dict(enumerate(registers.tolist())), int(head[PACKET.KIND // 4]), program)
        self._vertices(at, program)
        low, high = (int(head[getattr(PACKET, f"{which}_TRIANGLE") // 4]) for which in ("FIRST", "LAST"))
        self._drawable(high - low)
        if high > low and first < end:
            self._fragments(packet, head, low, high)
        draw(first, end)
        self.proved = self.proved and all(
            np.array_equal(self._work.arena[place], drawn) for place, drawn in self._drawn
        )  # fmt: skip
        self._drawn = []

    def _vertices(self, at: int, program: Program | None) -> None:
        """Test the vertices in the work area, and the triangles that they form."""
        work = self._work
        get = StaticRegisters(RegisterWords(self._about.registers))
        if get("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON:
            return  # the work area has the emitted vertices, not those of the draw
        count = work.control("ASSEMBLE_COUNT") if work.control("PIECE") else 0
        slots = work.slots(count)
        positions = work.vertices(int(slots.max(initial=-1)) + 1)[slots, :4]
        nans = np.flatnonzero(np.isnan(positions).any(axis=1))
        numbers = len(nans)
        source = self._source_of_nan(program) if numbers else ""
        # If a draw runs in pieces, the work area has one piece, and its numbers are not those that addresses name.
        first = f", v{nans[0]} first" if numbers and not source and count == get("NUMVERTICES.count") else ""
        loss = Loss(numbers, f"have NaN in their position{source}{first}", "" if source else _PROGRAM)
        self.stages = [Stage("vertices", count, count - numbers, [loss])]
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
        """The vertex program, with the components of its uniforms that are NaN."""
        packets, get = self._packets, self._about.state
        if packets is None:
            return None
        names = ("vs_code", "vs_opdescs", "vs_uniforms")
        banks = {name: np.frombuffer(packets.seen(name, packet - packets.start), np.uint32) for name in names}
        entry, bools = get("VSH_ENTRYPOINT.entry"), get("VSH_BOOLUNIFORM.bools")
        code, descriptors = (tuple(banks[name].tolist()) for name in ("vs_code", "vs_opdescs"))
        program = Program("vertex", code, descriptors, entry, bools, "", 1)
        nans = np.argwhere(np.isnan(banks["vs_uniforms"].view(np.float32).reshape(-1, 4))).tolist()
        program.nans = {(number, axis): ("", 1) for number, axis in nans}
        return program

    def _source_of_nan(self, program: Program | None) -> str:
        """Text that names the NaN uniforms that the program reads; "" if there are none."""
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

    def _judge(self, packet: int, positions: NDArray[np.float32], places: NDArray[np.int64]) -> None:
        n = places.shape[1]
        if not n:
            self.stages.append(Stage("triangles", 0, 0))
            return
        k = NumpyLang(ArenaViews(self._work.arena), n, {})
        with np.errstate(all="ignore"):
            choices = dict(self.machine.runner.assembly_choices)
            setup = Setup(k, self._work.layout, k.const(packet, I64), choices)
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
        lost = [Loss(int(nan.sum()), "have a corner with NaN", _PROGRAM)]
        for plane, text in PLANES.items():
            count = int((outside & (every >> plane & 1 != 0)).sum())
            if count:
                lost.append(Loss(count, f"lie {text}", "FRAGOP_CLIP" if plane == USER_PLANE else _POSITION))
        lost.append(Loss(int(flat.sum()), "have no area", _POSITION))
        mode = named(self._about, "FACECULLING_CONFIG.mode")
        for turn, side in (("clockwise", area.raw < 0), ("counter-clockwise", area.raw > 0)):
            text = f"are culled: their corners run {turn} on the screen"
            lost.append(Loss(int((back & side).sum()), text, f"FACECULLING_CONFIG drops {mode}"))
        self._tell(positions[places], nan, np.where(outside, every, 0), flat, back, area.raw < 0, whole)
        stopped = int((nan | outside | flat | back).sum())
        self.stages.append(Stage("triangles", n, n - stopped, [one for one in lost if one.count]))
        left = whole & ~flat & ~back
        if left.any():
            columns, rows = (np.stack([np.broadcast_to(v.raw, (n,))[left] for v in axis]) / 16 for axis in (x, y))
            self._box = (float(columns.min()), float(columns.max()), float(rows.min()), float(rows.max()))

    def _tell(self, corners: NDArray[np.float32], nan: NDArray[np.bool_], outside: NDArray[np.int64],
              flat: NDArray[np.bool_], back: NDArray[np.bool_], clockwise: NDArray[np.bool_],
              whole: NDArray[np.bool_]) -> None:  # fmt: skip
        """A line for each triangle: what stopped it, and the positions of its corners."""
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
                fate = "is to be drawn" if whole[n] else "is to be drawn, unless what clipping leaves is culled"
            where = ", ".join(f"({', '.join(f'{value:.6g}' for value in corner)})" for corner in corners[:, n].tolist())
            self.triangles.append(f"{fate}; corners in clip space {where}")

    def _drawable(self, count: int) -> None:
        """Count the triangles that have a record; the others are between pixels, or where nothing may be drawn."""
        if not self.stages:
            self.stages.append(Stage(_EMITTED, count, count))
            return
        before = self.stages[-1]
        clipped = max(before.passed, count)
        lost = [Loss(clipped - count, *self._why_beside())] if clipped > count else []
        self.stages.append(Stage("triangles to draw", clipped, count, lost))

    def _why_beside(self) -> tuple[str, str]:
        """Why triangles that were not clipped away cover nothing, and the registers that cause it."""
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
                viewport = f"the viewport is {sized(across, up)} at {x}, {y}"
                text = f"lie outside of the target of {sized(width, height)}: {viewport}"
                return text, "VIEWPORT_XY, VIEWPORT_WIDTH, VIEWPORT_HEIGHT"
            if get("SCISSORTEST_MODE.mode") == SCISSOR.INSIDE:
                x1, y1, x2, y2 = (get(f"SCISSORTEST_{name}") for name in ("POS.x1", "POS.y1", "DIM.x2", "DIM.y2"))
                if left > x2 + 1 or right < x1 or bottom > y2 + 1 or top < y1 or x2 < x1 or y2 < y1:
                    text = f"lie outside of the scissor, which keeps {x1}, {y1} to {x2}, {y2}"
                    return text, "SCISSORTEST_POS, SCISSORTEST_DIM"
            return "are too small to cover the centre of a pixel", _POSITION
        return "cover no pixel centre where the draw may write", "FRAMEBUFFER_DIM, VIEWPORT_XY"

    # -- fragments ----------------------------------------------------------------------------------------------------
    def _fragments(self, packet: int, head: NDArray[np.int32], low: int, high: int) -> None:
        """Shade some tiles with the oracle and count fragments; then memory is restored."""
        work, arena = self._work, self._work.arena
        records = work.triangles(low, high)
        box = slice(TRIANGLE.MIN_X // 4, TRIANGLE.MAX_Y // 4 + 1)
        tiles = [
            (n, x, y)
            for n, (x0, x1, y0, y1) in enumerate(records[:MOST_TRIANGLES, box].tolist())
            for y in range(y0 & ~7, y1 + 1, 8)
            for x in range(x0 & ~7, x1 + 1, 8)
        ][:MOST_LISTED]
        chosen = tiles[:: max(-(-len(tiles) // MOST_TILES), 1)]
        self.tiles = (len(chosen), len(tiles))
        static = self.machine.runner.fragment_code(packet)
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
        kept = [(slice(start, start + size), arena[start : start + size].copy()) for start, size in self._written()]
        first, last = PACKET.FIRST_TRIANGLE // 4, PACKET.LAST_TRIANGLE // 4
        counter = work.words(work.layout.counters, 1)
        old_head, old_counter = head.copy(), counter.copy()
        counter[:] = 0
        for n, x, y in chosen:
            old_box = records[n, box].copy()
            records[n, box] = (max(x, old_box[0]), min(x + 7, old_box[1]), max(y, old_box[2]), min(y + 7, old_box[3]))
            head[first], head[last] = low + n, low + n + 1
            run(work.packet(packet), 0, 1)
            records[n, box] = old_box
        covered = int(counter[0])
        head[:], counter[:] = old_head, old_counter
        changed = sum(int((arena[place] != old).any()) for place, old in kept)
        complete = len(chosen) == len(tiles) and len(records) <= MOST_TRIANGLES
        self.proved = self.proved and complete
        self._drawn = [(place, arena[place].copy()) for place, _ in kept] if complete else []
        for place, old in kept:
            arena[place] = old
        self._count(covered, counts, bool(changed))

    def _compared(self, name: str) -> str:
        """What a test compared, as text."""
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

    def _written(self) -> list[tuple[int, int]]:
        registers = self._about.registers
        target = make_target(self.machine.memory, StaticRegisters(RegisterWords(registers)))
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
                lost.append(Loss(left - passed, text, f"{functions[name]} {named(self._about, functions[name])}"))
                left = passed
        self.stages.append(Stage("fragments", covered, left, [one for one in lost if one.count > 0]))
        get = self._about.state
        masked = not any(get(f"DEPTH_COLOR_MASK.{ch}") for ch in ("red", "green", "blue", "alpha"))
        off = not get("COLORBUFFER_WRITE.mask")
        if left and (masked or off):
            by = "DEPTH_COLOR_MASK" if masked else "COLORBUFFER_WRITE"
            self.stages.append(Stage("colours", left, 0, [Loss(left, "are masked", by)]))
        elif left:
            lost = [] if changed else [Loss(left, "leave the bytes that were there")]
            self.stages.append(Stage("colours", left, left if changed else 0, lost))


def funnel(run: N3dsInspection, address: Address) -> Funnel:
    """The funnel of a draw.

    :raises UsageError: there is no such draw, or no such triangle of it.
    """
    event = run.event(address)
    assert event.draw is not None
    watch = _FunnelWatch(run.player.machine, event.draw, run.judge)
    run.watch(event, watch)
    tiles = watch.tiles if watch.tiles[0] < watch.tiles[1] else None
    found = Funnel(event.address, event, watch.stages, odd=watch.odd, tiles=tiles, proved=watch.proved)
    found.because = because(found)
    if address.primitive is not None:
        found.address = event.address.at(primitive=address.primitive)
        found.triangle = _triangle(address, event, watch)
    return found


def because(found: Funnel) -> str:
    """The cause, in a line: the first stage that stopped everything, or how much was written."""
    stage = found.narrowest
    if stage is None:
        last = found.stages[-1]
        if not last.came:
            return _no_triangle(found)
        # A count on some tiles is a lower bound.
        least = "" if found.tiles is None else "at least "
        return f"{least}{last.passed} {last.name} changed something"
    most = max(stage.lost, key=lambda loss: loss.count, default=Loss(0, "for an unknown reason"))
    where = f" ({most.register})" if most.register else ""
    return f"no {stage.name} left: {most.count} of {stage.came} {most.reason}{where}"


def _no_triangle(found: Funnel) -> str:
    """Why a draw has no triangle, though no stage stopped one."""
    first = found.stages[0]
    if first.name == _EMITTED:
        return _NOTHING_EMITTED
    if first.came:
        return f"no triangle: {counted(first.came, 'vertex makes', 'vertices make')} none"
    return "no vertices: " + ("the vertex program hangs" if found.event.facts["vertices"] else "NUMVERTICES is 0")


def _triangle(address: Address, event: Event, watch: _FunnelWatch) -> str:
    """What happened to one triangle of the draw.

    :raises UsageError: there is none of that number, or the triangles have no numbers.
    """
    assert address.primitive is not None
    emitted = watch.stages[0].name == _EMITTED
    if emitted or watch.stages[0].came != event.facts.get("vertices"):
        reason = "a geometry program makes them" if emitted else "the draw runs in pieces"
        raise UsageError(
            f"the triangles of this draw have no numbers: {reason}", location=str(address),
            hint=f"{address.place} explains the whole draw.",
        )  # fmt: skip
    if address.primitive < len(watch.triangles):
        return watch.triangles[address.primitive]
    raise UsageError(
        f"the draw has no triangle {address.primitive}", location=str(address),
        hint=there_are(len(watch.triangles), "triangle", f"{event.address}/t0"),
    )  # fmt: skip
