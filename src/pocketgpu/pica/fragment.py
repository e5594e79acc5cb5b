"""The fragment kernel: raster, texture units, combiners and output fused for one state.

It walks the tiles that a triangle's box touches, row of tiles by row (rows are dealt out to threads, so that no two
threads ever touch the same pixel), rejects tiles outside an edge, and shades eight texels at a time: 4x2 pixels, which
lie next to each other in the GPU's own memory order.

Source: 3dbrew GPU/Internal Registers; vertex.md-style rules are in primitives.py.
"""

from __future__ import annotations

from collections.abc import Callable

from ..lanes import F32, I32, I64, Lang, Value, kernel
from . import combiners
from .combiners import Color, Combiners
from .fog import Fog
from .layout import PACKET, PACKET_REGISTERS, TRIANGLE, TRIANGLE_SIZE, VERTEX_FLOATS, WorkLayout
from .output import ColorOutput, DepthStencil, compare
from .pixels import morton_x, morton_y
from .primitives import DEPTH_SLOT, INVERSE_W_SLOT
from .registers import LiveRegisters, StaticRegisters
from .texture import TYPE_CUBE, TYPE_PROJECTION, Ratio, Sampler, cube_axes, cube_face

COLOR_SLOT, TEXCOORD_SLOTS, TEXCOORD0_W_SLOT = 8, {0: 12, 1: 14, 2: 22}, 16
TILE = 8


class _Draw:
    """Everything of one draw that does not change from triangle to triangle."""

    def __init__(
        self, k: Lang, packet: Value, state: StaticRegisters, powers_of_two: tuple[bool, ...], switches: dict[str, str]
    ) -> None:
        self.k, self.state = k, state
        live = LiveRegisters(k, packet + PACKET_REGISTERS)
        head = lambda name, i=0: k.load(I32, packet + (getattr(PACKET, name) + 4 * i))
        self.tiles = head("WIDTH") >> 3
        self.rect = [head("RECT", i) for i in range(4)]
        self.depth = DepthStencil(k, state, live, k.to_i64(head("DEPTH")))
        self.color = ColorOutput(k, state, live, k.to_i64(head("COLOR")))
        self.combiners = Combiners(k, state, live)
        self.fog = Fog(k, state, live, packet, switches)
        self.samplers = {
            unit: Sampler(k, unit, state, live, packet, powers_of_two[unit])
            for unit in range(3)
            if state(f"TEXUNIT_CONFIG.unit{unit}_enable")
        }
        self.depth_scale, self.depth_offset = live.float("DEPTHMAP_SCALE.value"), live.float("DEPTHMAP_OFFSET.value")
        self.alpha_reference = live("FRAGOP_ALPHA_TEST.reference")
        self.excluded: list[Value] | None = None
        if state("SCISSORTEST_MODE.mode") == 1:
            height, flip = head("HEIGHT"), live("FRAMEBUFFER_DIM.flip") != 0
            names = ("SCISSORTEST_POS.x1", "SCISSORTEST_DIM.x2", "SCISSORTEST_POS.y1", "SCISSORTEST_DIM.y2")
            x1, x2, y1, y2 = (live(name) for name in names)
            mirror = lambda y: k.select(flip, height - 1 - y, y)
            self.excluded = [x1, x2, k.min(mirror(y1), mirror(y2)), k.max(mirror(y1), mirror(y2))]
        self.fragments = k.var(k.splat(0))


class _Triangle:
    """The planes of one triangle; each is read when first used, before the pixel loops."""

    def __init__(self, k: Lang, record: Value, slots: set[int]) -> None:
        self.k = k
        # How the edge functions 1 and 2 change from pixel to pixel: along x, along rows.
        self.steps = [
            [k.to_f32(k.load(I32, record + (getattr(TRIANGLE, part) + 4 * e))) for part in "AB"] for e in (1, 2)
        ]
        self.planes = {
            slot: [k.load(F32, record + getattr(TRIANGLE, part) + 4 * slot) for part in ("BASE", "D1", "D2")]
            for slot in sorted(slots)
        }

    def at(self, slot: int, e1: Value, e2: Value) -> Value:
        base, d1, d2 = self.planes[slot]
        return base + d1 * e1 + d2 * e2

    def slopes(self, slot: int) -> tuple[Value, Value]:
        """Change of a plane from pixel to pixel along x and along rows."""
        _, d1, d2 = self.planes[slot]
        along_x, along_y = (d1 * self.steps[0][axis] + d2 * self.steps[1][axis] for axis in range(2))
        return along_x, along_y


class _Pixels:
    """One group of pixels being shaded: what the combiners ask for is computed once, when asked."""

    def __init__(self, draw: _Draw, triangle: _Triangle, e1: Value, e2: Value) -> None:
        self.k, self.draw, self.triangle, self.e1, self.e2 = draw.k, draw, triangle, e1, e2
        self._cache: dict[int, Color] = {}
        self._w: Value | None = None

    def plane(self, slot: int) -> Value:
        return self.triangle.at(slot, self.e1, self.e2)

    @property
    def w(self) -> Value:
        if self._w is None:
            self._w = 1.0 / self.plane(INVERSE_W_SLOT)
        return self._w

    def attribute(self, slot: int) -> Value:
        """A perspective-correct attribute."""
        return self.plane(slot) * self.w

    def depth(self) -> Value:
        draw = self.draw
        d = self.plane(DEPTH_SLOT) * draw.depth_scale + draw.depth_offset
        return d if draw.state("DEPTHMAP_ENABLE.enable") else d * self.w

    def source(self, code: int) -> Color:
        if code not in self._cache:
            self._cache[code] = self._compute(code)
        return self._cache[code]

    def _compute(self, code: int) -> Color:
        k, draw = self.k, self.draw
        if code == combiners.PRIMARY:
            color = {
                ch: k.to_i32(self.attribute(COLOR_SLOT + i) * 255.0 + 0.5, 0.0, 255.0) for i, ch in enumerate("rgba")
            }
        elif code - combiners.TEXTURE0 in draw.samplers:
            color = self._texture(code - combiners.TEXTURE0)
        else:  # switched off, undefined or not drawn yet (reported when the draw was prepared)
            color = dict.fromkeys("rgba", k.splat(0))
        for ch in "rgba":
            k.probe(f"source{code}.{ch}", color[ch])
        return color

    def _texture(self, unit: int) -> Color:
        sampler = self.draw.samplers[unit]
        slot = texcoord_slot(self.draw.state, unit)
        if sampler.kind == TYPE_CUBE:
            return self._cube(sampler)
        divisor = TEXCOORD0_W_SLOT if sampler.kind == TYPE_PROJECTION else INVERSE_W_SLOT
        inverse = self.w if divisor == INVERSE_W_SLOT else 1.0 / self.plane(divisor)

        def ratio(numerator: int) -> Ratio:
            value = self.plane(numerator) * inverse

            def slopes() -> tuple[Value, Value]:
                pairs = zip(self.triangle.slopes(numerator), self.triangle.slopes(divisor), strict=True)
                along_x, along_y = ((n - value * d) * inverse for n, d in pairs)
                return along_x, along_y

            return Ratio(value, slopes)

        return sampler.sample(ratio(slot), ratio(slot + 1))

    def _cube(self, sampler: Sampler) -> Color:
        """Cube map: texture coordinate 0 with its w is a direction; its length does not matter."""
        k, slots = self.k, (TEXCOORD_SLOTS[0], TEXCOORD_SLOTS[0] + 1, TEXCOORD0_W_SLOT)
        face, choice, (x, y, m) = cube_face(k, [self.plane(slot) for slot in slots])
        inverse = 1.0 / m

        def ratio(index: int) -> Ratio:
            quotient = (x, y)[index] * inverse

            def slopes() -> tuple[Value, Value]:
                out = []
                for axis in range(2):
                    change = [k.splat(self.triangle.slopes(slot)[axis]) for slot in slots]
                    axes = cube_axes(k, change, choice)
                    out.append((axes[index] - quotient * axes[2]) * inverse * 0.5)
                return out[0], out[1]

            return Ratio(quotient * 0.5 + 0.5, slopes)

        return sampler.sample(ratio(0), ratio(1), face)


def texcoord_slot(state: StaticRegisters, unit: int) -> int:
    """Slot of the first texture coordinate that a unit uses."""
    return TEXCOORD_SLOTS[1 if unit == 2 and state("TEXUNIT_CONFIG.unit2_coordinates") else unit]


def slots_used(state: StaticRegisters) -> set[int]:
    """Attribute slots that the fragment code of a state may read."""
    slots = {DEPTH_SLOT, INVERSE_W_SLOT, *range(COLOR_SLOT, COLOR_SLOT + 4)}
    for unit in range(3):
        if state(f"TEXUNIT_CONFIG.unit{unit}_enable"):
            slot = texcoord_slot(state, unit)
            slots |= {slot, slot + 1}
            if unit == 0 and state("TEXUNIT0_PARAM.type") in (TYPE_CUBE, TYPE_PROJECTION):
                slots.add(TEXCOORD0_W_SLOT)
    assert max(slots) < VERTEX_FLOATS
    return slots


def _shade(draw: _Draw, triangle: _Triangle, edges: list[Value], mask: Value, number: Value) -> None:
    """Shade the pixels of `mask`; `number` is the texel number of the first of them in the render target."""
    k, state, depth = draw.k, draw.state, draw.depth
    draw.fragments.value = draw.fragments.value + k.select(mask, 1, 0)
    pixels = _Pixels(draw, triangle, k.to_f32(edges[1]), k.to_f32(edges[2]))
    incoming = k.branch(depth.needed, lambda: depth.to_integer(pixels.depth()), lambda: k.splat(0))
    word = depth.load(number)
    mask = depth.early(mask, incoming, word)
    for _ in k.when(k.any(mask)):
        color = draw.combiners.run(pixels.source)
        if draw.fog.enabled:
            color = draw.fog.apply(color, pixels.depth())
        alpha_test: Callable[[], Value] = lambda: (
            mask & compare(k, state("FRAGOP_ALPHA_TEST.function"), color["a"], k.splat(draw.alpha_reference))
        )
        mask = k.branch(state("FRAGOP_ALPHA_TEST.enable") != 0, alpha_test, lambda: mask)
        mask = depth.finish(mask, incoming, word, number)
        draw.color.store(mask, color, number)


def _tile(
    draw: _Draw, triangle: _Triangle, tx: Value, ty: Value, steps: list[tuple[Value, Value]], c: list[Value]
) -> None:
    """One 8x8 tile: edge functions at its corner in 64 bits, inside it in 32."""
    k = draw.k
    wide = [(k.to_i64(a), k.to_i64(b)) for a, b in steps]
    x0, y0 = k.to_i64(tx * TILE), k.to_i64(ty * TILE)
    corner = [a * x0 + b * y0 + e for (a, b), e in zip(wide, c, strict=True)]
    best = [e + k.max(a, 0) * (TILE - 1) + k.max(b, 0) * (TILE - 1) for e, (a, b) in zip(corner, wide, strict=True)]
    for _ in k.when((best[0] >= 0) & (best[1] >= 0) & (best[2] >= 0)):
        bound = 0x7E000000
        near = [k.low32(k.clamp(e, -bound, bound)) for e in corner]
        column = k.pattern([morton_x(i % 64) for i in range(k.lanes)])
        row = k.pattern([morton_y(i % 64) for i in range(k.lanes)])
        inner = [column * a + row * b for a, b in steps]
        for block in k.range(0, TILE * TILE, min(k.lanes, TILE * TILE)):
            bx = (block & 1) | ((block >> 1) & 2) | ((block >> 2) & 4)
            by = ((block >> 1) & 1) | ((block >> 2) & 2) | ((block >> 3) & 4)
            edges = [i + (e + a * bx + b * by) for i, e, (a, b) in zip(inner, near, steps, strict=True)]
            mask = (edges[0] | edges[1] | edges[2]) >= 0
            x, y = column + (tx * TILE + bx), row + (ty * TILE + by)
            rect = draw.rect
            mask = mask & (x >= rect[0]) & (x <= rect[1]) & (y >= rect[2]) & (y <= rect[3])
            if draw.excluded is not None:
                ex = draw.excluded
                mask = mask & ~((x >= ex[0]) & (x <= ex[1]) & (y >= ex[2]) & (y <= ex[3]))
            for _ in k.when(k.any(mask)):
                _shade(draw, triangle, edges, mask, (ty * draw.tiles + tx) * (TILE * TILE) + block)


@kernel(packet=I64, part=I32, parts=I32)
def draw_fragments(
    k: Lang, packet: Value, part: Value, parts: Value,
    *, words: tuple[tuple[int, int], ...], powers_of_two: tuple[bool, ...], switches: tuple[tuple[str, str], ...],
    layout_start: int, layout_size: int,
) -> None:  # fmt: skip
    """Draw a packet's triangles into the tile rows that belong to `part` (row number modulo `parts`)."""
    layout = WorkLayout(layout_start, layout_size)
    state = StaticRegisters(dict(words))
    draw = _Draw(k, packet, state, powers_of_two, dict(switches))
    first, last = (k.load(I32, packet + getattr(PACKET, name)) for name in ("FIRST_TRIANGLE", "LAST_TRIANGLE"))
    slots = slots_used(state)
    for t in k.range(first, last):
        record = k.to_i64(t * TRIANGLE_SIZE) + layout.triangles
        bounds: Callable[[str], Value] = lambda name, record=record: k.load(I32, record + getattr(TRIANGLE, name))  # type: ignore[misc]
        left, right, top, bottom = (bounds(n) >> 3 for n in ("MIN_X", "MAX_X", "MIN_Y", "MAX_Y"))
        # The first row of tiles at or below the top one that is ours.
        shift = part - (top - k.udiv(top, parts) * parts)
        ours = k.var(top + shift + k.select(shift < 0, parts, 0))
        for _ in k.when(ours.value <= bottom):
            steps = [
                (k.load(I32, record + TRIANGLE.A + 4 * e), k.load(I32, record + TRIANGLE.B + 4 * e)) for e in range(3)
            ]
            c = [k.load(I64, record + TRIANGLE.C + 8 * e) for e in range(3)]
            triangle = _Triangle(k, record, slots)
            for _ in k.loop(lambda: ours.value <= bottom):
                ty = ours.value
                for tx in k.range(left, right + 1):
                    _tile(draw, triangle, tx, ty, steps, c)
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
