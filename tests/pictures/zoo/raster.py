"""From vertices to pixels: primitives, culling, clipping, scissor, viewport."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pocketgpu.facts.pica_enums import CULL, PRIMITIVE, SCISSOR

from .stage import BLUE, GREEN, RED, WHITE, YELLOW, Scene, each, scene

COLORS = (RED, GREEN, BLUE, YELLOW, (0, 0.8, 0.8, 1), (0.9, 0.2, 0.9, 1))


@scene(4, 2, 32)
def scissor(s: Scene) -> None:
    """Modes 0 to 3: off, keep outside, off (code 2), keep inside; first with a rectangle inside the cell (its corners
    count as inside: 8 to 23 across, 6 to 12 up), then with one that reaches over the cell's right edge."""
    for right in (23, 40):
        for code, mode in enumerate(each(SCISSOR)):
            s.cell(f"mode {code}, {mode}, to x {right}")
            x, y, _, _ = s.box
            s.cl.scissor(x + 8, y + 6, x + right, y + 12, mode=mode)
            s.quad(COLORS[:4])


@scene(4, 3, 32)
def culling(s: Scene) -> None:
    """Modes 0 to 3. In each cell two triangles that point up (left: counter-clockwise, red; right: clockwise, blue).
    Second row: a strip of four triangles, all clockwise, which no mode may split. Third row: a fan,
    counter-clockwise."""
    for mode in each(CULL):
        s.cell(f"{mode}").write("FACECULLING_CONFIG", mode=mode)
        left, right = [(-0.9, -0.8), (-0.1, -0.8), (-0.5, 0.8)], [(0.5, 0.8), (0.9, -0.8), (0.1, -0.8)]
        s.draw([*left, *right], [RED] * 3 + [BLUE] * 3)
    for mode in each(CULL):
        s.cell(f"{mode}: strip").write("FACECULLING_CONFIG", mode=mode)
        zigzag = [(-0.9 + 0.36 * i, 0.8 if i % 2 else -0.8) for i in range(6)]
        s.draw(zigzag, COLORS, primitive="triangle strip")
    for mode in each(CULL):
        s.cell(f"{mode}: fan").write("FACECULLING_CONFIG", mode=mode)
        turn = np.linspace(0.2, 5.0, 5)
        s.draw([(0, 0), *zip(0.9 * np.cos(turn), 0.9 * np.sin(turn), strict=True)], COLORS, primitive="triangle fan")


ROUND = [(0.9 * np.cos(a), 0.9 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 7)]


@scene(4, 3, 32)
def primitives(s: Scene) -> None:
    """Eight vertices (a point in the middle, seven around it, the last on the first) as each primitive: consecutive
    ones, by 16-bit indices, by 8-bit indices. Triangles take three at a time, "geometry" without a geometry shader
    too; two vertices are left over and must not show up in the next cell."""
    vertices = [(0, 0), *ROUND]
    colors = [WHITE, *COLORS, RED]
    first, count = s.mesh(vertices, colors)
    order = first + np.array([0, 1, 2, 3, 4, 0, 0, 5, 6, 0, 2])
    wide, narrow = s.put(order.astype("<u2")), s.put(order.astype("u1"))
    for primitive in each(PRIMITIVE):
        s.cell(primitive)
        s.use_meshes().draw_arrays(count, first, primitive)
    for name, indices in (("16-bit indices", wide), ("8-bit indices", narrow)):
        for primitive in each(PRIMITIVE):
            s.cell(f"{primitive}, {name}")
            s.use_meshes().draw_elements(len(order), indices, wide=name.startswith("16"), primitive=primitive)


@scene(4, 1, 32)
def restart(s: Scene) -> None:
    """Primitives over two draws. A strip whose second half comes in a draw of its own: joined to the first half when
    nothing restarts it, apart from it after RESTART_PRIMITIVE; the same for a fan."""
    zigzag = [(-0.9 + 0.25 * i, 0.8 if i % 2 else -0.8) for i in range(8)]
    for primitive, places in (("triangle strip", zigzag), ("triangle fan", [(0, 0), *ROUND])):
        for again in (False, True):
            s.cell(f"{primitive}, {'restarted' if again else 'going on'}")
            first, _ = s.mesh(places, (*COLORS, RED, GREEN))
            cl = s.use_meshes().draw_arrays(4, first, primitive)
            if again:
                cl.write_word("RESTART_PRIMITIVE", 1)
            cl.write("NUMVERTICES", count=4).write("VERTEX_OFFSET", first=first + 4).write_word("DRAWARRAYS", 1)


@scene(6, 2, 32)
def frustum(s: Scene) -> None:
    """A triangle that leaves the volume on each of its sides: left, right, below, above, near (z < -w), far (z > 0).
    Colours go on as if nothing had been cut. Second row: the same with w from 0.5 to 2 at the corners; the last has a
    vertex behind the eye (w < 0). What the viewport (two thirds of the cell) shows must end at its edge."""
    around = [(-0.8, -0.8), (0.8, -0.8), (0.0, 0.8)]
    names = ("left", "right", "below", "above", "near", "far")
    moves = ((-0.8, 0), (0.8, 0), (0, -0.8), (0, 0.8), (0, 0), (0, 0))
    for perspective in (False, True):
        for name, (dx, dy) in zip(names, moves, strict=True):
            s.cell(f"{name}{', perspective' if perspective else ''}")
            x, y, w, h = s.box
            s.cl.viewport(x + 5, y + 5, w - 10, h - 10)
            z = {"near": (-0.5, -0.9, -1.6), "far": (-0.5, -0.1, 1.2)}.get(name, (-0.5,) * 3)
            scale = np.array((0.5, 1.0, 2.0) if perspective else (1.0,) * 3)
            if perspective and name == "far":
                scale = np.array((0.5, 0.5, -0.5))
                z = (-0.5, -0.5, 0)
                around[2] = (0.0, -1.6)  # comes out above
            at = [(px + dx, py + dy, pz, 1) for (px, py), pz in zip(around, z, strict=True)]
            s.draw(np.array(at) * scale[:, None], (RED, GREEN, BLUE))


@scene(4, 2, 32)
def clip_plane(s: Scene) -> None:
    """The user's clip plane, which keeps what lies on the side that it points to: off; x > 0; y < 0.5; x + y > 0; far
    from the middle by z; with perspective, x > 0 at w 2 on top; a plane that keeps all; one that keeps nothing."""
    planes = (
        ("off", None), ("x > 0", (1, 0, 0, 0)), ("y < 0.5", (0, -1, 0, 0.5)), ("x + y > 0", (1, 1, 0, 0)),
        ("z < -0.5", (0, 0, -1, -0.5)), ("x > 0.5 w, perspective", (1, 0, 0, -0.5)), ("all", (0, 0, 0, 1)),
        ("nothing", (0, 0, 0, -1)),
    )  # fmt: skip
    for name, plane in planes:
        s.cell(name).write("FRAGOP_CLIP", enable=plane is not None)
        for i, value in enumerate(plane or (0, 0, 0, -1)):
            s.cl.write(f"FRAGOP_CLIP_DATA{i}", value=value)
        w = (1, 1, 2, 2) if "perspective" in name else 1.0
        s.quad(COLORS[:4], z=(-0.1, -0.4, -0.9, -0.6), w=w, box=(-0.9, -0.9, 0.9, 0.9))


@scene(4, 1, 32)
def shared_edges(s: Scene) -> None:
    """Neighbours cover every pixel once: colours are added, so a seam would be bright or dark. A fan of thin
    triangles, a grid of small quads, a strip of slivers, a fan off the pixel grid."""
    s.cl.blend("one", "one")
    half = (0.35, 0.3, 0.25, 0.5)
    s.cell("fan")
    turn = np.linspace(0, 2 * np.pi, 24)
    s.draw([(0, 0), *zip(1.2 * np.cos(turn), 1.2 * np.sin(turn), strict=True)], half, primitive="triangle fan")
    s.cell("grid")
    steps = np.linspace(-1, 1, 6)
    corners = [
        (x, y)
        for x0, x1 in pairwise(steps)
        for y0, y1 in pairwise(steps)
        for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y0), (x1, y1), (x0, y1))
    ]
    s.draw(corners, half)
    s.cell("slivers")
    s.draw([(-1 + i / 10, 1 if i % 2 else -1) for i in range(21)], half, primitive="triangle strip")
    s.cell("fan off the grid")
    s.draw(
        [(0.013, 0.037), *zip(0.83 * np.cos(turn), 0.83 * np.sin(turn), strict=True)], half, primitive="triangle fan"
    )


@scene(4, 2, 32)
def viewports(s: Scene) -> None:
    """A quad with a colour at each corner (red, green, blue, yellow from the lower left, counter-clockwise) through
    viewports: the whole cell; its left half; of broken size; a point; moved up and right by an offset, where the
    target's edge cuts it; below and left of the target; mirrored rows (FRAMEBUFFER_DIM without its flip bit, the last
    two, which show in the other row of cells)."""
    half = s.height
    boxes = (
        ("whole", 0, 0, 31, 31), ("left half", 0, 0, 15, 31), ("12.5 x 20.25", 3, 4, 12.5, 20.25),
        ("one pixel", 16, 16, 1, 1), ("moved", 8, 8, 31, 31), ("from outside", -64 - 10, -10, 31, 31),
    )  # fmt: skip
    for name, dx, dy, w, h in boxes:
        s.cell(name)
        x, y, _, _ = s.box
        y = y if y else 1
        if name == "from outside":
            x, dx = 32, -20
        s.cl.viewport(x + dx, y + dy, 8, 8)
        s.cl.write("VIEWPORT_WIDTH", value=w / 2).write("VIEWPORT_HEIGHT", value=h / 2)
        s.cl.scissor(x, y, x + 30, y + 30)
        s.quad(COLORS[:4])
    s.cl.scissor(mode="off")
    for name in ("mirrored rows", "mirrored rows, triangle"):
        s.cell(name)
        x, y, w, h = s.box
        for register in ("FRAMEBUFFER_DIM", "RENDERBUF_DIM"):
            s.cl.write(register, width=s.width, height=s.height)
        s.cl.viewport(x, half - y - h, w, h)  # rows count from the top now
        if name.endswith("triangle"):
            s.triangle(YELLOW)
        else:
            s.quad(COLORS[:4])
