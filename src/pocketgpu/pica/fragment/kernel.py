"""The fragment kernel: raster, texture units, combiners and output fused for one state.

It walks the tiles in a triangle's bounding box, one row of tiles after the other (each thread has its own rows, so no
two threads touch the same pixel), rejects tiles outside an edge, and shades eight texels at a time: 4x2 pixels, which
are consecutive in the GPU's memory order.

Source: 3dbrew GPU/Internal Registers; the fill rule is part of the edge functions (primitives/assembly.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from pocketgpu.facts.pica_enums import FRAGMENT_MODE, SCISSOR, TEXENV_SOURCE
from pocketgpu.lanes import I32, I64, ArenaViews, Lang, Value, kernel, numpy_lanes
from pocketgpu.pica.core.colors import Color
from pocketgpu.pica.core.layout import LIGHTS_SIZE, PACKET, PACKET_REGISTERS, TRIANGLE, TRIANGLE_SIZE, WorkLayout
from pocketgpu.pica.core.registers import Flag, LiveRegisters, StateWords, StaticRegisters
from pocketgpu.pica.fragment.any_state import AnyState, state_words
from pocketgpu.pica.fragment.combiners import Combiners, sources_used
from pocketgpu.pica.fragment.fog import Fog
from pocketgpu.pica.fragment.gas import Gas
from pocketgpu.pica.fragment.lighting import Lighting
from pocketgpu.pica.fragment.output import ColorOutput, DepthStencilBuffer, compare
from pocketgpu.pica.fragment.sources import ShadedPixels, Triangle, slots_used
from pocketgpu.pica.memory.pixels import morton_x, morton_y
from pocketgpu.pica.texture.proctex import ProcTex
from pocketgpu.pica.texture.shadow import ShadowLookup, ShadowMap
from pocketgpu.pica.texture.units import SHADOW_TYPES, Sampler

TILE = 8
TEXELS = TILE * TILE
MOST_TILES_AT_ONCE = 10
"""Of the oracle: it has a lane for each of their pixels."""


@cache
def _of_lanes(lanes: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Column and row of each lane in its tile, and the number of the tile."""
    texels = [i % TEXELS for i in range(lanes)]
    return tuple(map(morton_x, texels)), tuple(map(morton_y, texels)), tuple(i // TEXELS for i in range(lanes))


class FragmentDraw:
    """The settings of one draw, which are the same for all its triangles.

    If `state` is known while tracing, only the code it uses is made. With StateWords (`general`) all code is made;
    shadow textures, shadow maps, gas and 32x32 blocks only if `rare`.
    """

    def __init__(
        self, k: Lang, packet: Value, state: StaticRegisters | StateWords, powers_of_two: tuple[bool, ...],
        choices: dict[str, str], lights: Value, rare: bool,
    ) -> None:  # fmt: skip
        self.k, self.state, self.packet = k, state, packet
        self.live = live = LiveRegisters(k, packet + PACKET_REGISTERS)
        head = lambda name, i=0: k.load(I32, packet + (getattr(PACKET, name) + 4 * i))
        self.tiles = head("WIDTH") >> 3
        self.rect = [head("RECT", i) for i in range(4)]
        color, depth = k.to_i64(head("COLOR")), k.to_i64(head("DEPTH"))
        self.depth = DepthStencilBuffer(k, state, live, depth, choices)
        self.color = ColorOutput(k, state, live, color, choices)
        self.cuts_vertex_color = choices.get("combiner.vertex_color") == "truncate"
        self.alpha_last = choices.get("test.order") == "depth-first"
        self.fog = Fog(k, state, live, packet, choices)
        self.depth_scale, self.depth_offset = live.float("DEPTHMAP_SCALE.value"), live.float("DEPTHMAP_OFFSET.value")
        self.alpha_reference = live("FRAGOP_ALPHA_TEST.reference")
        self.excluded = self._excluded(state("SCISSORTEST_MODE.mode") == SCISSOR.OUTSIDE, head("HEIGHT"))
        self.fragments = k.var(k.splat(0))
        columns, rows, _ = _of_lanes(k.lanes)
        self.column, self.row = k.pattern(columns), k.pattern(rows)
        self.tiles_at_once = max(k.lanes // TEXELS, 1)
        """Neighbours in a row of tiles whose pixels are lanes together."""
        self.samplers: dict[int, Sampler] = {}
        self.lighting: Lighting | None = None
        self.procedural: ProcTex | None = None
        self.shadow: ShadowLookup | None = None
        self.gas: Gas | None = None
        self.shadow_map: ShadowMap | None = None
        self.any: AnyState | None = None
        self.blocks: Flag = False
        """Whether the target has 32x32 blocks."""
        self.block_order = choices.get("transfer.block32", "morton")
        """The order of 8x8 tiles in them."""
        if rare or not isinstance(state, StateWords):
            self.blocks = state("FRAMEBUFFER_BLOCK32.enable") != 0
            self.gas = Gas(k, state, live, packet, color, choices)
            self.shadow_map = ShadowMap(k, state, live, color)
        if isinstance(state, StateWords):
            self.any = AnyState(self, state, choices, lights, rare)
            return
        self.combiners = Combiners(k, state, live, choices)
        self.samplers = {
            unit: Sampler(k, unit, state, live, packet, powers_of_two[unit], choices)
            for unit in range(3)
            if state(f"TEXUNIT_CONFIG.unit{unit}_enable")
        }
        if state("LIGHTING_ENABLE0.enable"):
            self.lighting = Lighting(k, state, live, packet, sources_used(state, choices), choices, lights)
        if state("TEXUNIT_CONFIG.unit3_enable"):
            self.procedural = ProcTex(k, state, live, packet)
        if 0 in self.samplers and self.samplers[0].kind in SHADOW_TYPES:
            self.shadow = ShadowLookup(k, state, live, self.samplers[0], choices)

    def _excluded(self, wanted: Flag, height: Value) -> list[Value] | None:
        """The rectangle that an excluding scissor removes (x from, x to, y from, y to); empty if there is none."""
        if wanted is False:
            return None
        k, live = self.k, self.live
        names = ("SCISSORTEST_POS.x1", "SCISSORTEST_DIM.x2", "SCISSORTEST_POS.y1", "SCISSORTEST_DIM.y2")
        x1, x2, y1, y2 = (live(name) for name in names)
        flip = live("FRAMEBUFFER_DIM.flip") != 0
        mirror = lambda y: k.select(flip, height - 1 - y, y)
        x2 = k.select(wanted, x2, k.i32(-1))
        return [x1, x2, k.min(mirror(y1), mirror(y2)), k.max(mirror(y1), mirror(y2))]

    def tile_number(self, tx: Value, ty: Value) -> Value:
        """The number, in memory order, of the tile in column tx of row ty."""
        def in_blocks() -> Value:
            column, row = tx & 3, ty & 3
            if self.block_order == "tiles":
                inside = (row << 2) | column
            else:  # Morton order continues
                inside = (column & 1) | ((row & 1) << 1) | ((column & 2) << 1) | ((row & 2) << 2)
            return (((ty >> 2) * (self.tiles >> 2) + (tx >> 2)) << 4) + inside

        number: Value = self.k.branch(self.blocks, in_blocks, lambda: ty * self.tiles + tx)
        return number

    def texture(self, pixels: ShadedPixels, unit: int) -> Color:
        """The colour of a texture unit, after `colors`."""
        return pixels.source(TEXENV_SOURCE.TEXTURE0 + unit) if self.any is None else self.any.texture(unit)

    def colors(self, pixels: ShadedPixels) -> Color:
        """The colours after the combiners for a group of pixels."""
        return self.combiners.run(pixels.source) if self.any is None else self.any.colors(pixels)


def _shade(draw: FragmentDraw, triangle: Triangle, edges: list[Value], mask: Value, number: Value) -> None:
    """Shade the pixels of `mask`; `number` is the texel number of the first one in the render target."""
    k, state, depth = draw.k, draw.state, draw.depth
    draw.fragments.value = draw.fragments.value + k.select(mask, 1, 0)
    pixels = ShadedPixels(draw, triangle, k.to_f32(edges[1]), k.to_f32(edges[2]))
    k.probe("fragment.covered", mask)
    k.probe("fragment.w", pixels.w)
    incoming = k.branch(depth.needed, lambda: depth.to_integer(pixels.depth()), lambda: k.splat(0))
    word = depth.load(number)
    mask = depth.early(mask, incoming, word)
    for _ in k.when(k.any(mask)):
        color = draw.colors(pixels)
        for ch in "rgba":
            k.probe(f"combined.{ch}", color[ch])
        color = draw.fog.apply(color, pixels.depth)
        if draw.gas is not None:
            color = draw.gas.apply(color, lambda: draw.texture(pixels, 0))

        def ordinary() -> None:
            def alpha_test() -> Value:
                reference = k.splat(draw.alpha_reference)
                passed: Value = mask & compare(k, state("FRAGOP_ALPHA_TEST.function"), color["a"], reference)
                for name, value in (("incoming", color["a"]), ("reference", reference), ("passed", passed)):
                    k.probe(f"alpha.{name}", value)
                return passed

            survivors = k.branch(state("FRAGOP_ALPHA_TEST.enable") != 0, alpha_test, lambda: mask)
            if draw.alpha_last:
                survivors = depth.finish(mask, incoming, word, number, survivors)
            else:
                survivors = depth.finish(survivors, incoming, word, number)
            draw.color.store(survivors, color, number)

        def gas() -> None:
            assert draw.gas is not None
            draw.gas.accumulate(mask, color["r"], incoming, word, number)

        def shadow_map() -> None:
            assert draw.shadow_map is not None
            draw.shadow_map.store(mask, color["g"], pixels.depth(), number)

        modes = [ordinary]
        if draw.shadow_map is not None:
            modes = FRAGMENT_MODE.in_order({"DEFAULT": ordinary, "GAS": gas, "SHADOW": shadow_map}, ordinary)
        k.switch(state("COLOR_OPERATION.fragment_mode") if draw.shadow_map is not None else 0, modes)


def _tiles(
    draw: FragmentDraw, triangle: Triangle, first: Value, ty: Value, sides: tuple[Value, Value],
    steps: list[tuple[Value, Value]], c: list[Value],
) -> None:  # fmt: skip
    """One 8x8 tile, or several in a row: edge functions at a tile's corner in 64 bits, inside it in 32.

    first: column of the (first) tile. sides: columns of the leftmost and rightmost tile that are drawn.
    """
    k, many = draw.k, draw.tiles_at_once > 1
    tx = first + k.pattern(_of_lanes(k.lanes)[2]) if many else first
    wide = [(k.to_i64(a), k.to_i64(b)) for a, b in steps]
    x0, y0 = k.to_i64(tx * TILE), k.to_i64(ty * TILE)
    corner = [a * x0 + b * y0 + e for (a, b), e in zip(wide, c, strict=True)]
    best = [e + k.max(a, 0) * (TILE - 1) + k.max(b, 0) * (TILE - 1) for e, (a, b) in zip(corner, wide, strict=True)]
    touched = (best[0] >= 0) & (best[1] >= 0) & (best[2] >= 0)
    if many:
        touched = touched & (tx >= sides[0]) & (tx <= sides[1])
    for _ in k.when(k.any(touched) if many else touched):
        bound = 0x7E000000
        near = [k.low32(k.clamp(e, -bound, bound)) for e in corner]
        inner = [draw.column * a + draw.row * b for a, b in steps]
        for block in k.range(0, TEXELS, min(k.lanes, TEXELS)):
            bx = (block & 1) | ((block >> 1) & 2) | ((block >> 2) & 4)
            by = ((block >> 1) & 1) | ((block >> 2) & 2) | ((block >> 3) & 4)
            edges = [i + (e + a * bx + b * by) for i, e, (a, b) in zip(inner, near, steps, strict=True)]
            mask = (edges[0] | edges[1] | edges[2]) >= 0
            if many:
                mask = mask & touched
            x, y = draw.column + (tx * TILE + bx), draw.row + (ty * TILE + by)
            rect = draw.rect
            mask = mask & (x >= rect[0]) & (x <= rect[1]) & (y >= rect[2]) & (y <= rect[3])
            if draw.excluded is not None:
                ex = draw.excluded
                mask = mask & ~((x >= ex[0]) & (x <= ex[1]) & (y >= ex[2]) & (y <= ex[3]))
            for _ in k.when(k.any(mask)):
                _shade(draw, triangle, edges, mask, draw.tile_number(first, ty) * TEXELS + block)


def tiles_at_once(row: int, columns: int) -> int:
    """How many tiles the oracle draws at once, if a row has `row` tiles and a triangle touches `columns` of them."""
    return max((n for n in range(1, min(columns, MOST_TILES_AT_ONCE) + 1) if row % n == 0), default=1)


def _lanes(memory: ArenaViews, args: Sequence[Any], static: dict[str, Any]) -> int:
    """Lanes for the oracle."""
    known = static["words"]
    blocks = static.get("rare", False) if known is None else StaticRegisters(dict(known))("FRAMEBUFFER_BLOCK32.enable")
    if blocks:
        return TEXELS  # neighbours in a row are not neighbours in memory
    words, head = memory.views["i32"], int(args[0]) >> 2
    first, last = (int(words[head + (getattr(PACKET, name) >> 2)]) for name in ("FIRST_TRIANGLE", "LAST_TRIANGLE"))
    start = WorkLayout(static["layout_start"], static["layout_size"]).triangles
    size = TRIANGLE_SIZE >> 2
    boxes = words[(start >> 2) + first * size : (start >> 2) + last * size].reshape(-1, size)
    left, right = (boxes[:, side >> 2] >> 3 for side in (TRIANGLE.MIN_X, TRIANGLE.MAX_X))
    columns = int((right - left).max(initial=0)) + 1
    return TEXELS * tiles_at_once(int(words[head + (PACKET.WIDTH >> 2)]) >> 3, columns)


@numpy_lanes(_lanes)
@kernel(packet=I64, part=I32, parts=I32)
def draw_fragments(
    k: Lang, packet: Value, part: Value, parts: Value,
    *, words: tuple[tuple[int, int], ...] | None, powers_of_two: tuple[bool, ...],
    choices: tuple[tuple[str, str], ...], layout_start: int, layout_size: int, rare: bool = False,
) -> None:  # fmt: skip
    """Draw a packet's triangles into the tile rows that belong to `part` (row number modulo `parts`).

    words: the state that the code is specialised for; None: general code, which reads it from the packet. rare: the
    general code has everything (`general_words.is_rare`).
    """
    if words is None:
        k.hurry()  # it is long, and draws only until there is specialised code
    layout = WorkLayout(layout_start, layout_size)
    state = StaticRegisters(dict(words)) if words is not None else state_words(k, packet)
    lights = k.to_i64(part * LIGHTS_SIZE) + layout.lights
    draw = FragmentDraw(k, packet, state, powers_of_two, dict(choices), lights, rare)
    first, last = (k.load(I32, packet + getattr(PACKET, name)) for name in ("FIRST_TRIANGLE", "LAST_TRIANGLE"))
    slots = slots_used(state)
    for t in k.range(first, last):
        record = k.to_i64(t * TRIANGLE_SIZE) + layout.triangles
        sides = (TRIANGLE.MIN_X, TRIANGLE.MAX_X, TRIANGLE.MIN_Y, TRIANGLE.MAX_Y)
        left, right, top, bottom = (k.load(I32, record + side) >> 3 for side in sides)
        # The first of our tile rows, starting at the top one.
        shift = part - (top - k.udiv(top, parts) * parts)
        ours = k.var(top + shift + k.select(shift < 0, parts, 0))
        for _ in k.when(ours.value <= bottom):
            steps = [
                (k.load(I32, record + TRIANGLE.A + 4 * e), k.load(I32, record + TRIANGLE.B + 4 * e)) for e in range(3)
            ]
            c = [k.load(I64, record + TRIANGLE.C + 8 * e) for e in range(3)]
            triangle = Triangle(k, record, slots)
            together = draw.tiles_at_once
            start = left if together == 1 else k.udiv(left, together) * together
            for _ in k.loop(lambda: ours.value <= bottom):
                ty = ours.value
                for tx in k.range(start, right + 1, together):
                    _tiles(draw, triangle, tx, ty, (left, right), steps, c)
                ours.value = ty + parts
    counter = k.to_i64(part << 2) + layout.counters
    k.store(I32, counter, k.load(I32, counter) + k.reduce("add", draw.fragments.value))


@kernel(first=I32, end=I32, part=I32, parts=I32)
def run_draws(
    k: Lang, first: Value, end: Value, part: Value, parts: Value, *, layout_start: int, layout_size: int
) -> None:
    """Run entries of the run list for one part: (handle of a draw_fragments specialisation, packet offset)."""
    layout = WorkLayout(layout_start, layout_size)
    for i in k.range(first, end):
        entry = k.to_i64(i << 4) + layout.run_list
        k.invoke(k.load(I64, entry), k.load(I64, entry + 8), part, parts)
