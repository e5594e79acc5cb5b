"""Two shapes of the fragment pipeline: fused into one kernel for a state (as the package has it), or a chain of stage
kernels that pass a tile of 64 pixels on in memory. Same scene as `pixels`, same stages, same pictures.

The chain has four kernels: raster with the early depth test, the texture unit, the combiners with fog, and the output
(alpha test, depth, blending). A new state would need only those of them that no state before it had: the time that LLVM
takes for each is shown beside the speed.
"""

from __future__ import annotations

import argparse
from functools import partial
from time import perf_counter
from typing import Any

from common import Report, Series, cpu_time, ratio, run, turns
from guest import COLOR, DEPTH, use_clock
from pixels import IN_A_ROW, PARTS, Machine, make_scene

from pocketgpu.facts.pica_enums import TEXENV_SOURCE
from pocketgpu.lanes import F32, I32, I64, Lang, Value, kernel, machine_code
from pocketgpu.pica.core.layout import PACKET, TRIANGLE, TRIANGLE_SIZE, WorkLayout
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.fragment import kernel as fragment
from pocketgpu.pica.fragment.output import compare
from pocketgpu.pica.fragment.sources import ShadedPixels, Triangle, slots_used
from pocketgpu.pica.memory.pixels import morton_x, morton_y

ROW = 4 * 64
MASK, EDGE1, EDGE2, INCOMING, WORD, TEXTURE, RESULT = 0, 1, 2, 3, 4, 5, 9
BUFFER = 1 << 20  # from the start of the scratch area for command words, which nothing else uses meanwhile
HANDLES = BUFFER - 64
STAGES = ("texture", "combine", "output")


class Tile:
    """The buffer between stages: rows of 64 numbers, in blocks as wide as the lanes."""

    def __init__(self, k: Lang, layout: WorkLayout, block: Value) -> None:
        self.k, self.at = k, k.to_i64(block << 2) + (layout.inline + BUFFER)

    def get(self, row: int, type: Any = I32) -> Value:
        return self.k.load(type, self.at + ROW * row, lanes=self.k.lanes)

    def put(self, row: int, value: Value) -> None:
        self.k.store(value.type, self.at + ROW * row, value)


class Stage:
    """What every stage kernel has of the draw, and its loop over the blocks of a tile."""

    def __init__(self, k: Lang, packet: Value, record: Value, static: dict[str, Any]) -> None:
        self.k, self.layout = k, WorkLayout(static["layout_start"], static["layout_size"])
        self.state = StaticRegisters(dict(static["words"]))
        powers = static["powers_of_two"]
        self.draw = fragment.Draw(k, packet, self.state, powers, dict(static["choices"]), k.i64(self.layout.lights))
        self.triangle = Triangle(k, record, slots_used(self.state))

    def each(self, body: Any) -> None:
        k = self.k
        for block in k.range(0, 64, k.lanes):
            tile = Tile(k, self.layout, block)
            mask = tile.get(MASK) != 0
            for _ in k.when(k.any(mask)):
                pixels = ShadedPixels(self.draw, self.triangle, tile.get(EDGE1, F32), tile.get(EDGE2, F32))
                body(tile, block, mask, pixels)


@kernel(packet=I64, record=I64, number=I32)
def texture(k: Lang, packet: Value, record: Value, number: Value, **static: Any) -> None:
    def body(tile: Tile, block: Value, mask: Value, pixels: ShadedPixels) -> None:
        color = pixels.source(TEXENV_SOURCE.TEXTURE0)
        for i, channel in enumerate("rgba"):
            tile.put(TEXTURE + i, color[channel])

    Stage(k, packet, record, static).each(body)


@kernel(packet=I64, record=I64, number=I32)
def combine(k: Lang, packet: Value, record: Value, number: Value, **static: Any) -> None:
    stage = Stage(k, packet, record, static)

    def body(tile: Tile, block: Value, mask: Value, pixels: ShadedPixels) -> None:
        pixels._cache[TEXENV_SOURCE.TEXTURE0] = {channel: tile.get(TEXTURE + i) for i, channel in enumerate("rgba")}
        color = stage.draw.fog.apply(stage.draw.colors(pixels), pixels.depth)
        for i, channel in enumerate("rgba"):
            tile.put(RESULT + i, color[channel])

    stage.each(body)


@kernel(packet=I64, record=I64, number=I32)
def output(k: Lang, packet: Value, record: Value, number: Value, **static: Any) -> None:
    stage = Stage(k, packet, record, static)
    draw = stage.draw

    def body(tile: Tile, block: Value, mask: Value, pixels: ShadedPixels) -> None:
        color = {channel: tile.get(RESULT + i) for i, channel in enumerate("rgba")}
        if stage.state("FRAGOP_ALPHA_TEST.enable"):
            mask = mask & compare(
                k, stage.state("FRAGOP_ALPHA_TEST.function"), color["a"], k.splat(draw.alpha_reference)
            )
        mask = draw.depth.finish(mask, tile.get(INCOMING), tile.get(WORD), number + block)
        draw.color.store(mask, color, number + block)

    stage.each(body)


@kernel(packet=I64, part=I32, parts=I32)
def chain(k: Lang, packet: Value, part: Value, parts: Value, **static: Any) -> None:
    """`fragment.draw_fragments` with each stage called through a handle."""
    layout = WorkLayout(static["layout_start"], static["layout_size"])
    state = StaticRegisters(dict(static["words"]))
    lights = k.i64(layout.lights)
    draw = fragment.Draw(k, packet, state, static["powers_of_two"], dict(static["choices"]), lights)
    handles = [k.load(I64, k.i64(layout.inline + HANDLES + 8 * i)) for i in range(len(STAGES))]
    first, last = (k.load(I32, packet + getattr(PACKET, name)) for name in ("FIRST_TRIANGLE", "LAST_TRIANGLE"))
    for t in k.range(first, last):
        record = k.to_i64(t * TRIANGLE_SIZE) + layout.triangles
        bounds = [k.load(I32, record + at) for at in (TRIANGLE.MIN_X, TRIANGLE.MAX_X, TRIANGLE.MIN_Y, TRIANGLE.MAX_Y)]
        left, right, top, bottom = (bound >> 3 for bound in bounds)
        steps = [(k.load(I32, record + TRIANGLE.A + 4 * e), k.load(I32, record + TRIANGLE.B + 4 * e)) for e in range(3)]
        edges = [k.load(I64, record + TRIANGLE.C + 8 * e) for e in range(3)]
        triangle = Triangle(k, record, slots_used(state))
        for ty in k.range(top, bottom + 1):
            for tx in k.range(left, right + 1):
                _tile(k, draw, triangle, layout, packet, record, handles, tx, ty, steps, edges)
    counter = k.to_i64(part << 2) + layout.counters
    k.store(I32, counter, k.load(I32, counter) + k.reduce("add", draw.fragments.value))


def _tile(
    k: Lang, draw: fragment.Draw, triangle: Triangle, layout: WorkLayout, packet: Value, record: Value,
    handles: list[Value], tx: Value, ty: Value, steps: list[tuple[Value, Value]], c: list[Value],
) -> None:  # fmt: skip
    wide = [(k.to_i64(a), k.to_i64(b)) for a, b in steps]
    x0, y0 = k.to_i64(tx * 8), k.to_i64(ty * 8)
    corner = [a * x0 + b * y0 + e for (a, b), e in zip(wide, c, strict=True)]
    best = [e + k.max(a, 0) * 7 + k.max(b, 0) * 7 for e, (a, b) in zip(corner, wide, strict=True)]
    for _ in k.when((best[0] >= 0) & (best[1] >= 0) & (best[2] >= 0)):
        near = [k.low32(k.clamp(e, -0x7E000000, 0x7E000000)) for e in corner]
        column = k.pattern([morton_x(i % 64) for i in range(k.lanes)])
        row = k.pattern([morton_y(i % 64) for i in range(k.lanes)])
        inner = [column * a + row * b for a, b in steps]
        number = draw.tile_number(tx, ty) * 64
        some = k.var(k.i32(0))
        for block in k.range(0, 64, k.lanes):
            bx = (block & 1) | ((block >> 1) & 2) | ((block >> 2) & 4)
            by = ((block >> 1) & 1) | ((block >> 2) & 2) | ((block >> 3) & 4)
            e = [i + (n + a * bx + b * by) for i, n, (a, b) in zip(inner, near, steps, strict=True)]
            x, y = column + (tx * 8 + bx), row + (ty * 8 + by)
            x_from, x_to, y_from, y_to = draw.rect
            mask = ((e[0] | e[1] | e[2]) >= 0) & (x >= x_from) & (x <= x_to) & (y >= y_from) & (y <= y_to)
            tile = Tile(k, layout, block)
            tile.put(MASK, k.splat(0))
            for _ in k.when(k.any(mask)):
                draw.fragments.value = draw.fragments.value + k.select(mask, 1, 0)
                pixels = ShadedPixels(draw, triangle, k.to_f32(e[1]), k.to_f32(e[2]))
                incoming = draw.depth.to_integer(pixels.depth())
                word = draw.depth.load(number + block)
                mask = draw.depth.early(mask, incoming, word)
                for at, value in ((EDGE1, pixels.e1), (EDGE2, pixels.e2), (INCOMING, incoming), (WORD, word)):
                    tile.put(at, value)
                tile.put(MASK, k.select(mask, 1, 0))
                some.value = some.value | k.select(k.any(mask), 1, 0)
        for _ in k.when(some.value != 0):
            for handle in handles:
                k.invoke(handle, packet, record, number)


class Chained(Machine):
    """The machine of `pixels` with the chain in place of the fused kernel."""

    def __init__(self, scene: Any) -> None:
        super().__init__(scene)
        self.draw()
        runner = self.guest.gpu.runner
        (state,) = [known for known in runner._states.values() if known.handles]
        ((powers, code),) = state.handles.items()
        static = code._special[1]
        handles = [runner.engine.handle(stage, **static) for stage in (texture, combine, output)]
        at = runner.layout.inline + HANDLES
        self.guest.gpu.memory.arena[at : at + 8 * len(handles)].view("i8")[:] = handles
        state.handles[powers] = Fixed(runner.engine.handle(chain, **static))
        self.static = static


class Fixed:
    """A handle that already exists."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def handle(self, tier: str) -> int:
        return self._handle


def measure(report: Report, arguments: argparse.Namespace) -> None:
    use_clock(cpu_time)
    for name in ("all", "2 full-screen", "2000 of 5 px"):
        scene = make_scene(*PARTS[name])
        sides = [Machine(scene), Chained(scene)]
        rasters = [Series() for _ in sides]

        def turn(number: int, sides: list[Machine] = sides, rasters: list[Series] = rasters) -> float:
            best, raster = [], []
            for _ in range(IN_A_ROW):
                best.append(sides[number].draw())
                raster.append(sides[number].raster)
            rasters[number].seconds.append(min(raster))
            return min(best)

        turns(arguments.repeat, *(partial(turn, i) for i in range(2)))
        for place in (COLOR, DEPTH):
            if (sides[0].pixels(place) != sides[1].pixels(place)).any():
                raise RuntimeError(f"{name}: the two shapes do not draw the same")
        fragments = sides[0].guest.gpu.stats.fragments
        for what, series in zip(("fused", "chain"), rasters, strict=True):
            speeds = [fragments / s / 1e6 for s in (series.median, series.best)]
            report.add(f"{name}: {what}", speeds[0], "Mpixel/s", best=speeds[1])
        middle, best = ratio(rasters[1], rasters[0])
        report.add(f"{name}: fused, times as fast", middle, "x", best=best)
    _compiling(report, sides[1])


def _compiling(report: Report, machine: Machine) -> None:
    """Seconds from a new state to its code, without any cache."""
    assert isinstance(machine, Chained)
    lanes = machine_code.best_lanes()
    for what, kernels in (("fused", (fragment.draw_fragments,)), ("chain", (chain, texture, combine, output))):
        times = []
        for one in kernels:
            started = perf_counter()
            machine_code.compile_object(one.trace(lanes, machine.static))
            times.append(perf_counter() - started)
        parts = ", ".join(f"{k.name} {1e3 * t:.0f}" for k, t in zip(kernels, times, strict=True))
        report.add(f"code for a new state: {what}", 1e3 * sum(times), "ms", more=False, note=parts)


if __name__ == "__main__":
    run("shapes", measure, repeat=30)
