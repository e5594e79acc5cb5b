"""The kernel `walk`: the loop over a draw's pieces, for draws whose vertices go from the vertex program to raster.

It returns when the draw is done, or where threads can share what comes next. Called again, it continues.
"""

from __future__ import annotations

from pocketgpu.lanes import I32, I64, Lang, Value, kernel
from pocketgpu.maxwell.graphics.draw.crew import draw_together, is_there
from pocketgpu.maxwell.graphics.input.vertex_records import INPUT
from pocketgpu.maxwell.graphics.records import PRIMITIVES, RASTER, REGION, VERTICES
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK
from pocketgpu.struct_words import Struct

WALK = Struct(
    "NEXT_PIECE:2", "RUN_VERTICES:2", "SET_UP:2", "RASTER_SHAPES:2",  # handles
    "INPUT", "VERTEX_SLOT", "VERTEX_ROOM",  # offsets: of the draw's INPUT record, of the first thread's slot and room
    "RASTER", "REGION", "SCRATCH", "PIXEL_SLOT", "FRAGMENTS",
    "RASTERS",  # whether there are pixels
    "SHARE_VERTICES", "SHARE_AREA",  # minimum of vertices, and of REGION.AREA, for which it returns to the caller
    "CREW", "SECOND_SLOT", "SECOND_FRAGMENTS",  # the CREW record (0: one thread draws), and what its helper draws with
    "HELP_AREA",  # minimum of REGION.AREA for which the helper is asked
    "PAIR",  # whether there are no threads but these two, so that draws that are large stay here
    "PHASE", "FOLLOWING",  # current position
    "SHADED",  # vertices so far
    "TOGETHER",  # whether the helper has drawn shapes
    "FAILED",  # whether a program has failed in the helper's slot
    "AREA", "MOST_AREA",  # sum of REGION.AREA so far, and the limit after which the rest is left out
)  # fmt: skip
"""A draw in progress. FOLLOWING: the primitive of the piece that comes next."""
PIECE, SHAPES = range(2)
"""WALK.PHASE: a new piece comes next, or more shapes of the current one."""
DONE, VERTICES_NEXT, SHAPES_NEXT, NO_ROOM, TOO_LARGE = range(5)
"""WALK.STATUS after `walk`: the draw is done, or a program hangs; the caller must shade the piece's vertices, or draw
the shapes of the region; a primitive does not fit into the region; shapes are larger than MOST_AREA."""
STATUS = WALK.size
WALK_SIZE = WALK.size + 4


def _draw_shapes(k: Lang, record: Value, together: Value) -> Value:
    """Draw the shapes of the region, together with the helper or alone. Returns whether a program hangs."""
    get = lambda name: k.load(I32, record + WALK.offsets[name])
    put = lambda name, v: k.store(I32, record + WALK.offsets[name], v)
    raster, slot, second = get("RASTER"), get("PIXEL_SLOT"), get("SECOND_SLOT")
    own = raster, get("REGION"), slot, get("FRAGMENTS")
    function = k.load(I64, record + WALK.RASTER_SHAPES)
    runs, hung = k.load(I32, raster + RASTER.PROGRAM) != 0, k.var(k.i32(0))
    for _ in k.when(~together):
        k.invoke(function, *own, k.i32(0), k.i32(1))
    for _ in k.when(together):
        for _ in k.when(runs & (get("TOGETHER") == 0)):
            k.store(I64, second + BLOCK.STEPS, 0)
        put("TOGETHER", k.i32(1))
        draw_together(k, get("CREW"), own, (second, get("SECOND_FRAGMENTS")), function)
        for _ in k.when(runs):
            hung.value = k.load(I32, second + BLOCK.HUNG)
            put("FAILED", get("FAILED") | hung.value | k.load(I32, second + BLOCK.FAULT_COUNT))
    for _ in k.when(runs):
        hung.value = hung.value | k.load(I32, slot + BLOCK.HUNG)
    return hung.value != 0


@kernel(lanes=32, record=I32)
def walk(k: Lang, record: Value) -> None:
    """Continue a draw. `record`: offset of a WALK record of WALK_SIZE bytes."""
    get = lambda name: k.load(I32, record + WALK.offsets[name])
    put = lambda name, v: k.store(I32, record + WALK.offsets[name], v)
    handle = lambda name: k.load(I64, record + WALK.offsets[name])
    draw, region, raster = get("INPUT"), get("REGION"), get("RASTER")
    of_draw = lambda word: k.load(I32, draw + word)
    status, going = k.var(DONE), k.var(1)
    for _ in k.loop(lambda: going.value != 0):
        for _ in k.when(get("PHASE") == PIECE):
            for _ in k.when(of_draw(INPUT.MORE) == 0):
                going.value = 0
            for _ in k.when(going.value != 0):
                k.invoke(handle("NEXT_PIECE"), draw)
                count = of_draw(INPUT.VERTICES + VERTICES.COUNT)
                put("SHADED", get("SHADED") + count)
                put("PHASE", k.select(get("RASTERS") != 0, SHAPES, k.i32(PIECE)))
                put("FOLLOWING", k.i32(0))
                shared = count >= get("SHARE_VERTICES")
                for _ in k.when(shared):
                    status.value = VERTICES_NEXT
                    going.value = 0
                for _ in k.when(~shared):
                    pages = (count + 31) >> 5
                    slot, room = get("VERTEX_SLOT"), get("VERTEX_ROOM")
                    k.invoke(handle("RUN_VERTICES"), draw, slot, room, k.i32(0), pages)
                    for _ in k.when(k.load(I32, slot + BLOCK.HUNG) != 0):
                        going.value = 0
        for _ in k.when((going.value != 0) & (get("PHASE") == SHAPES)):
            following, count = get("FOLLOWING"), of_draw(INPUT.PRIMITIVES + PRIMITIVES.COUNT)
            for _ in k.when(following >= count):
                put("PHASE", k.i32(PIECE))
            for _ in k.when(following < count):
                k.invoke(handle("SET_UP"), raster, region, get("SCRATCH"), following, count)
                after = k.load(I32, region + REGION.NEXT)
                put("FOLLOWING", after)
                some = k.load(I32, region + REGION.SHAPES_END) > k.load(I32, region + REGION.AT)
                size = k.load(I32, region + REGION.AREA)
                large = k.var(some & (size >= get("SHARE_AREA")))
                together = k.var(some & (get("CREW") != 0) & (size >= get("HELP_AREA")))
                for _ in k.when(together.value):
                    together.value = is_there(k, get("CREW"), size)
                    large.value = large.value & ~(together.value & (get("PAIR") != 0))
                area = get("AREA") + size
                put("AREA", area)
                fits = area <= get("MOST_AREA")
                for _ in k.when(~fits):
                    status.value = TOO_LARGE
                    going.value = 0
                for _ in k.when(after <= following):
                    status.value = NO_ROOM
                    going.value = 0
                for _ in k.when((after > following) & large.value & fits):
                    status.value = SHAPES_NEXT
                    going.value = 0
                for _ in k.when((after > following) & some & ~large.value & fits):
                    going.value = k.select(_draw_shapes(k, record, together.value), 0, going.value)
    k.store(I32, record + STATUS, status.value)
