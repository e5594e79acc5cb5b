"""The funnel of a draw, or of one of its triangles: how many vertices, triangles and fragments passed each stage, and
what stopped the rest.

    vertices: 264 of 264
    triangles: 40 of 88
        48 are culled: their corners run clockwise on the screen (FACECULLING_CONFIG drops back (clockwise))
    triangles to draw: 40 of 40
    fragments: 310 of 702
        392 fail the depth test: ... (DEPTH_COLOR_MASK.depth_function GREATER)
    colours: 310 of 310

Vertices are shaded a second time for this, and triangles are tested by the machine's code for clipping and culling
(triangle_fates.py). Fragments are counted on tiles that the triangles touch (fragment_count.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.events import sized
from pocketgpu.facts.formats import DEPTH_FORMATS
from pocketgpu.facts.pica_enums import GEOMETRY_STAGE, SCISSOR
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.model.stage import Loss, Stage
from pocketgpu.inspect.n3ds.draw_watcher import DrawWatcher
from pocketgpu.inspect.n3ds.explain import leaves_colour, named
from pocketgpu.inspect.n3ds.fragment_count import SIDES, FragmentCount, FragmentCounter
from pocketgpu.inspect.n3ds.history import DrawOnPixel, primitives_of
from pocketgpu.inspect.n3ds.primitives.triangle_fates import PLANES, POSITION, PROGRAM, TriangleFates, fates_of
from pocketgpu.inspect.n3ds.programs import Program
from pocketgpu.inspect.n3ds.vertices import VertexWatch
from pocketgpu.pica.core.layout import PACKET
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.core.registers import field as field_of
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pica.vertex.vertex_run import HUNG
from pocketgpu.wording import counted, there_are

if TYPE_CHECKING:
    from pocketgpu.inspect.n3ds.inspection import Judge, N3dsInspection

_EMITTED = "triangles of the geometry program"
_NOTHING_EMITTED = "no triangle of the geometry program is left: it emits none, or all are clipped away or culled"
_FUNCTIONS = {
    "alpha": "FRAGOP_ALPHA_TEST.function", "stencil": "STENCIL_TEST.function",
    "depth": "DEPTH_COLOR_MASK.depth_function",
}  # fmt: skip
_OPERANDS = {
    "alpha": ("alpha is", "FRAGOP_ALPHA_TEST.reference is"), "stencil": ("the reference is", "the buffer has"),
    "depth": ("{its|their} depth is", "the buffer has"),
}  # fmt: skip
"""How a text names both operands of a test."""


class _FunnelWatch(DrawWatcher):
    """Stops at one draw before its vertex side, and again between its vertex side and its fragment side.

    primitive: the number of the only triangle that counts; None: all count. every: count fragments on all tiles.
    brief: only find out whether a fragment changes a colour.
    """

    def __init__(
        self, machine: N3DS, draw: int, judge: Judge | None, primitive: int | None, every: bool, brief: bool = False
    ) -> None:
        self.machine, self.draw, self.primitive = machine, draw, primitive
        self._judge, self._brief = judge, brief
        self._work = machine.work
        self._counter = FragmentCounter(machine, every, brief)
        self._place: int | None = None  # the draw's packet, while it runs
        self.odd: list[str] = []
        self.staged = False
        """Whether a geometry program makes the triangles."""
        self.hung = False
        self.vertices = 0
        self.nans: list[int] = []
        """Vertices that have NaN in their position."""
        self.nan_source = ""
        self.fates: TriangleFates | None = None
        self.total = 0
        """How many triangles the vertices form."""
        self._records = 0
        self._numbers: set[int] = set()

    @property
    def to_draw(self) -> int:
        """Triangles that count and are drawn. Clipping makes several of one, which still count as one."""
        return self._records if self.staged else len(self._numbers)

    @property
    def count(self) -> FragmentCount:
        return self._counter.count

    def look(self, packets: DrawPackets, numbers: range, run: Run) -> None:
        """See `DrawWatcher`. The draws before this one run as always; this one runs alone."""
        if self.draw not in numbers:
            run(0, len(numbers))
            return
        place = self.draw - numbers.start
        if place:
            run(0, place)
        self._place = packet = packets.start + place
        registers = self._work.registers(packet).copy()
        self.about = DrawOnPixel(self.draw, 0, 0, registers, (0, 0, 0, 0), [], (b"", b""))
        self.staged = self.about.state("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON
        program = _program(packets, place, self.about)
        if self._judge is not None:
            kind = int(self._work.head(packet)[PACKET.KIND // 4])
            self.odd = self._judge(dict(enumerate(registers.tolist())), kind, program)
        if not self.staged and not self._brief:
            self._read(packet, program)
        try:
            run(place, place + 1)
        finally:
            self._place = None
        self.hung = self._work.control("VERTEX_STATUS") == HUNG

    def _read(self, packet: int, program: Program) -> None:
        """Shade the draw's vertices, and test its triangles."""
        found, positions = VertexWatch(self.machine, set()).read(packet)
        triangles = found.triangles
        self.total = len(triangles)
        if self.primitive is not None:
            triangles = triangles[self.primitive : self.primitive + 1]
            corners = sorted(set(triangles.ravel().tolist()))
        else:
            corners = list(range(len(positions)))
        self.vertices = len(corners)
        self.nans = [corners[n] for n in np.flatnonzero(np.isnan(positions[corners]).any(axis=1)).tolist()]
        self.nan_source = _source_of_nan(program) if self.nans else ""
        self.fates = fates_of(self.machine, self._work.packet(packet), positions[triangles])

    def fragments(self, first: int, end: int, run: Run) -> None:
        """See `Observer`. A draw with many triangles comes here once for each piece of them."""
        if self._place is None:
            run(first, end)
            return
        work, packet = self._work, self._place
        head = work.head(packet)
        low, high = (int(head[getattr(PACKET, f"{which}_TRIANGLE") // 4]) for which in ("FIRST", "LAST"))
        if high > low and first < end:
            wanted = np.ones(high - low, bool)
            numbers = primitives_of(work.triangles(low, high))
            if self.primitive is not None:
                wanted = numbers == self.primitive
            self._records += int(wanted.sum())
            self._numbers.update(numbers[wanted].tolist())
            if wanted.any():
                self._counter.add(packet, wanted)
        run(first, end)
        self.count.compare(work.arena)

    # -- the stages ---------------------------------------------------------------------------------------------------
    def stages(self) -> Iterator[Stage]:
        """What was counted, in order."""
        fates = self.fates
        if self.staged:
            yield Stage(_EMITTED, self.to_draw, self.to_draw)
        elif fates is None or self.hung:
            yield Stage("vertices", 0, 0)
        else:
            number = len(self.nans)
            first = f", v{self.nans[0]} first" if number and not self.nan_source else ""
            text = f"{{has|have}} NaN in {{its|their}} position{self.nan_source}{first}"
            lost = [Loss(number, text, "" if self.nan_source else PROGRAM)]
            yield Stage("vertices", self.vertices, self.vertices - number, lost)
            n, stopped = len(fates.nan), int(fates.stopped.sum())
            drops = named(self.about, "FACECULLING_CONFIG.mode")
            yield Stage("triangles", n, n - stopped, [one for one in fates.losses(drops) if one.count])
            clipped = max(n - stopped, self.to_draw)
            yield Stage("triangles to draw", clipped, self.to_draw, list(self._beside(clipped - self.to_draw)))
        if self.to_draw:
            yield from self._of_fragments()

    def _beside(self, number: int) -> Iterator[Loss]:
        """Why triangles that were not clipped away cover nothing, and the registers that cause it."""
        if number <= 0:
            return
        assert self.fates is not None
        get = self.about.state
        width, height = get("FRAMEBUFFER_DIM.width"), get("FRAMEBUFFER_DIM.height") + 1

        def decode(name: str) -> float:
            part = field_of(name)
            return float(part.field.decode(int(self.about.registers[part.register.offset])))

        x, y = int(decode("VIEWPORT_XY.x")), int(decode("VIEWPORT_XY.y"))
        across, up = (2 * decode(f"VIEWPORT_{name}.value") for name in ("WIDTH", "HEIGHT"))
        of_target = self.fates.beside(0, width - 1, 0, height - 1)
        if of_target.any():
            viewport = f"the viewport is {sized(across, up)} at {x}, {y}"
            text = f"{{lies|lie}} outside of the target of {sized(width, height)}: {viewport}"
            yield Loss(int(of_target.sum()), text, "VIEWPORT_XY, VIEWPORT_WIDTH, VIEWPORT_HEIGHT")
            number -= int(of_target.sum())
        if get("SCISSORTEST_MODE.mode") == SCISSOR.INSIDE:
            x1, y1, x2, y2 = (get(f"SCISSORTEST_{name}") for name in ("POS.x1", "POS.y1", "DIM.x2", "DIM.y2"))
            of_scissor = self.fates.beside(x1, x2, y1, y2) & ~of_target
            if of_scissor.any():
                text = f"{{lies|lie}} outside of the scissor, which keeps {x1}, {y1} to {x2}, {y2}"
                yield Loss(int(of_scissor.sum()), text, "SCISSORTEST_POS, SCISSORTEST_DIM")
                number -= int(of_scissor.sum())
        cut = min(int((self.fates.cut & ~self.fates.stopped).sum()), number)
        if cut > 0:
            yield Loss(cut, "{covers|cover} no pixel centre where the draw may write", "FRAMEBUFFER_DIM, VIEWPORT_XY")
            number -= cut
        if number > 0:
            yield Loss(number, "{is|are} too small to cover the centre of a pixel", POSITION)

    def _of_fragments(self) -> Iterator[Stage]:
        count, left = self.count, self.count.covered
        lost = []
        for name, passed in count.passed.items():
            if name in _FUNCTIONS:
                failed = left - passed
                text = f"{{fails|fail}} the {name} test{self._compared(name)}"
                lost.append(Loss(failed, text, f"{_FUNCTIONS[name]} {named(self.about, _FUNCTIONS[name])}"))
                left = passed
        yield Stage("fragments", count.covered, left, [one for one in lost if one.count > 0])
        if left:
            lost = [leaves_colour(self.about, left - count.colours)] if left > count.colours else []
            yield Stage("colours", left, count.colours, lost)

    def _compared(self, name: str) -> str:
        """What a test compared, as text."""
        (own, other), title, values = SIDES[name], _OPERANDS[name], self.count.values
        if own not in values or other not in values:
            return ""
        most = 1
        if name == "depth":
            format = DEPTH_FORMATS.get(self.about.state("DEPTHBUFFER_FORMAT.format"))
            channel = None if format is None else format.channel("d")
            most = 1 if channel is None else (1 << channel[1]) - 1

        def shown(which: str) -> str:
            low, high = (value / most for value in values[which])
            return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"

        return f": {title[0]} {shown(own)}, {title[1]} {shown(other)}"


def _program(packets: DrawPackets, place: int, about: DrawOnPixel) -> Program:
    """The vertex program of a draw, with the components of its uniforms that are NaN."""
    names = ("vs_code", "vs_opdescs", "vs_uniforms")
    banks = {name: np.frombuffer(packets.seen(name, place), np.uint32) for name in names}
    entry, bools = about.state("VSH_ENTRYPOINT.entry"), about.state("VSH_BOOLUNIFORM.bools")
    code, descriptors = (tuple(banks[name].tolist()) for name in ("vs_code", "vs_opdescs"))
    program = Program("vertex", code, descriptors, entry, bools, "", 1)
    nans = np.argwhere(np.isnan(banks["vs_uniforms"].view(np.float32).reshape(-1, 4))).tolist()
    program.nans = {(number, axis): ("", 1) for number, axis in nans}
    return program


def _source_of_nan(program: Program) -> str:
    """Text that names the NaN uniforms that the program reads; "" if there are none."""
    used = program.uniforms
    axes: dict[int, str] = {}
    for n, axis in program.nans:
        if used.get(n, 0) >> axis & 1:
            axes[n] = axes.get(n, "") + "xyzw"[axis]
    names = [f"c{n}.{which}" for n, which in axes.items()]
    if not names:
        return ""
    return f": uniform {names[0]} is NaN" if len(names) == 1 else f": uniforms {', '.join(names[:4])} are NaN"


def funnel(run: N3dsInspection, address: Address, every: bool = False) -> Funnel:
    """The funnel of a draw, or of one of its triangles. every: count fragments on all tiles, however many there are.

    :raises UsageError: there is no such draw, or no such triangle of it.
    """
    event = run.event(address)
    assert event.draw is not None
    watch = _FunnelWatch(run.player.machine, event.draw, run.judge, address.primitive, every)
    run.watch(event, watch)
    if address.primitive is not None:
        _need_triangle(address, event, watch)
    count = watch.count
    tiles = None if count.complete else count.tiles
    found = Funnel(
        event.address.at(primitive=address.primitive), event, list(watch.stages()), odd=watch.odd, tiles=tiles,
        proved=count.complete and count.proved, depths=count.depths,
    )  # fmt: skip
    if address.primitive is None:
        found.because = because(found)
    else:
        assert watch.fates is not None
        found.because = _of_triangle(found, watch.fates)
        found.triangle = f"corners in clip space {watch.fates.where(0)}"
    return found


def changes_colour(run: N3dsInspection, address: Address) -> bool:
    """Whether a fragment of a draw changes a colour, on the tiles where `funnel` counts: then no stage of its funnel
    stops everything. It ends at the first such tile.

    :raises UsageError: there is no such draw.
    """
    event = run.event(address)
    assert event.draw is not None
    draw, known = (event.frame, event.draw), run.changing
    if draw not in known:
        watch = _FunnelWatch(run.player.machine, event.draw, None, None, every=False, brief=True)
        run.watch(event, watch)
        known[draw] = watch.count.colours > 0
    return known[draw]


def because(found: Funnel) -> str:
    """The cause, in a line: the first stage that stopped everything, or how much was written."""
    stage = found.narrowest
    if stage is None:
        last = found.stages[-1]
        return _changed(found, last) if last.came else _no_triangle(found)
    if stage.name == "colours" and found.depths:
        changed = f"{_least(found)}{counted(found.depths, 'fragment')} changed depth or stencil"
        return f"{changed}, and no colour: {_most(stage)}"
    counted_on = "" if found.tiles is None or stage.name not in ("fragments", "colours") else (
        f" on {found.tiles[0]} of {found.tiles[1]} tiles"
    )  # fmt: skip
    return f"no {stage.name} left{counted_on}: {_most(stage)}"


def _most(stage: Stage) -> str:
    """The reason that stopped most."""
    most = max(stage.lost, key=lambda loss: loss.count, default=Loss(0, "for an unknown reason"))
    where = f" ({most.register})" if most.register else ""
    return f"{most.count} of {stage.came} {most.reason}{where}"


def _least(found: Funnel) -> str:
    """A count on some tiles is a lower bound."""
    return "" if found.tiles is None else "at least "


def _changed(found: Funnel, last: Stage) -> str:
    of = f" of {last.came}" if last.passed < last.came else ""
    return f"{_least(found)}{last.passed}{of} {'fragment' if last.came == 1 else 'fragments'} changed a colour"


def _no_triangle(found: Funnel) -> str:
    """Why a draw has no triangle, though no stage stopped one."""
    first = found.stages[0]
    if first.name == _EMITTED:
        return _NOTHING_EMITTED
    if first.came:
        return f"no triangle: {counted(first.came, 'vertex makes', 'vertices make')} none"
    return "no vertices: " + ("the vertex program hangs" if found.event.facts["vertices"] else "NUMVERTICES is 0")


def _of_triangle(found: Funnel, fates: TriangleFates) -> str:
    """What became of a single triangle, from what stopped it first."""
    stages = {stage.name: stage for stage in found.stages}
    triangle = stages["triangles"]
    if not triangle.passed:
        beyond = [text for plane, text in PLANES.items() if fates.outside[0] >> plane & 1]
        loss = triangle.lost[0]
        if beyond:
            return f"is clipped away: it lies {' and '.join(beyond)} ({loss.register})"
        how = loss.reason if fates.culled[0] else f"is dropped: it {loss.reason}"
        return f"{how} ({loss.register})"
    to_draw = stages["triangles to draw"]
    if not to_draw.passed:
        loss = to_draw.lost[0]
        if fates.cut[0]:
            return f"covers no pixel: what clipping leaves of it is culled, or {loss.reason} ({loss.register})"
        return f"covers no pixel: it {loss.reason} ({loss.register})"
    fragments = stages["fragments"]
    if not fragments.came:
        return "covers no pixel that is counted" if found.tiles else "covers no pixel: it lies between pixel centres"
    return because(found)


def _need_triangle(address: Address, event: Event, watch: _FunnelWatch) -> None:
    """Refuse a triangle that cannot be told from the others.

    :raises UsageError: there is none of that number, or the triangles have no numbers.
    """
    assert address.primitive is not None
    if watch.staged:
        raise UsageError(
            "the triangles of this draw have no numbers: a geometry program makes them", location=str(address),
            hint=f"{address.place} explains the whole draw; 'pocketgpu shader step CAPTURE {address}' shows what the "
            "program does for this primitive.",
        )  # fmt: skip
    if address.primitive >= watch.total:
        raise UsageError(
            f"the draw has no triangle {address.primitive}", location=str(address),
            hint=there_are(watch.total, "triangle", f"{event.address}/t0"),
        )  # fmt: skip


__all__ = ["Funnel", "because", "changes_colour", "funnel"]


def __dir__() -> list[str]:
    return [*__all__]
