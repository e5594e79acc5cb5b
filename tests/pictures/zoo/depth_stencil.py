"""Depth and stencil: tests, formats, depth map, stencil operations."""

from __future__ import annotations

import numpy as np

from pocketgpu.facts.formats import BY_NAME
from pocketgpu.facts.pica_enums import COMPARE, DEPTH_FORMAT, STENCIL_ACTION

from .stage import BLUE, RED, YELLOW, Scene, each, scene

RAMP = np.array([0, 1, 2, 127, 128, 129, 254, 255])
"""Stencil values that show every operation at its limits."""


@scene(8, 3, 16)
def depth_test(s: Scene) -> None:
    """Every function (columns) in every format (rows; a buffer each). The buffer holds a slope that rises to the right.
    Above, a yellow slope that falls to the right meets it in the middle; below, an orange one lies exactly on it."""
    s.surfaces = s.surfaces[:1]
    for format in each(DEPTH_FORMAT):
        s.submit()
        s.depth_format = format
        s.depth = s.capture.allocate(s.texels * 4, region="VRAM")
        s.surfaces.append(s.surface(format, s.depth, format))
        s.cl = s.new_list()
        for function in each(COMPARE):
            s.cell(f"{function}, {format}").depth("always")
            s.quad(BLUE, z=(0, -1, -1, 0))
            s.cl.depth(function)
            x, y, w, h = s.box
            s.cl.scissor(x, y + h // 2, x + w - 1, y + h - 1)
            s.quad(YELLOW, z=(-0.9, -0.1, -0.1, -0.9))
            s.cl.scissor(x, y, x + w - 1, y + h // 2 - 1)  # the very same triangles, so that depths are the same
            s.quad((1, 0.4, 0, 1), z=(0, -1, -1, 0))
            s.cl.scissor(mode="off")


MAPS = (
    ("usual", -1.0, 0.0), ("reverse", 1.0, 1.0), ("half range", -0.5, 0.25), ("clamped below", -2.0, -1.0),
    ("clamped above", -2.0, 0.5), ("constant", 0.0, 0.5),
)  # fmt: skip


@scene(6, 2, 16)
def depth_map(s: Scene) -> None:
    """Scale and offset of the depth map (columns), for depth by z/w (upper row) and times w (lower row). The plane goes
    into the distance: w is 1 at the left and 0.25 at the right, z/w from -0.1 to -0.9. The depth buffer has the result;
    blue is what a wall at depth 0.3 hides of it."""
    s.fill_depth(0.0)
    for w_buffer in (False, True):
        for name, scale, offset in MAPS:
            s.cell(f"{name}, {'w' if w_buffer else 'z'}: {scale:g} z/w + {offset:g}")
            s.cl.write("DEPTHMAP_SCALE", value=scale).write("DEPTHMAP_OFFSET", value=offset)
            s.cl.write("DEPTHMAP_ENABLE", enable=not w_buffer).depth("always")
            s.quad((YELLOW, RED, RED, YELLOW), z=(-0.1, -0.9, -0.9, -0.1), w=(1, 0.25, 0.25, 1))
            s.cl.write("DEPTHMAP_SCALE").write("DEPTHMAP_OFFSET", value=0.3)
            s.cl.write("DEPTHMAP_ENABLE", enable=True).depth("greater", write=False)
            s.quad(BLUE)


@scene(8, 3, 16)
def stencil_functions(s: Scene) -> None:
    """Every function (columns), reference 128: stored are 0, 1, 2, 127, 128, 129, 254 and 255 from left to right, the
    reference is the left operand. Second row: only the low four bits are compared (input mask 0x0F, reference 0x81).
    Third row: input mask 0, so that all are equal."""
    x, _ = s.content
    ramp = np.broadcast_to(RAMP[(x * 8).astype(int)], x.shape)
    s.fill_depth(s.pattern(0.5 + 0 * x), s.pattern(ramp))
    for reference, mask in ((128, 0xFF), (0x81, 0x0F), (255, 0)):
        for function in each(COMPARE):
            cl = s.cell(f"{function}, reference {reference}, input mask {mask:#04x}")
            cl.write("STENCIL_TEST", enable=True, function=function, reference=reference, write_mask=0, input_mask=mask)
            s.quad((RED, YELLOW, YELLOW, RED))


@scene(8, 5, 16)
def stencil_operations(s: Scene) -> None:
    """Every operation (columns) when stencil fails, depth fails, both pass, both pass with write mask 0x0F, and (last
    row) all three at once: stencil fails in the lower third, depth in the middle one. Stored are 0, 1, 2, 127, 128,
    129, 254 and 255 from left to right; the reference is 0x5A."""
    x, _ = s.content
    ramp = np.broadcast_to(RAMP[(x * 8).astype(int)], x.shape)
    s.fill_depth(s.pattern(0.5 + 0 * x), s.pattern(ramp))
    actions = list(each(STENCIL_ACTION))
    for event in ("fail", "z_fail", "z_pass", "z_pass, masked"):
        for action in actions:
            cl = s.cell(f"{event}: {action}").depth("greater", write=False)
            mask = 0x0F if "masked" in event else 0xFF
            function = "never" if event == "fail" else "always"
            cl.write("STENCIL_TEST", enable=True, function=function, reference=0x5A, write_mask=mask, input_mask=255)
            cl.write("STENCIL_OP").write("STENCIL_OP", **{event.split(",")[0]: action})
            s.quad(YELLOW, z=-0.3 if event == "z_fail" else -0.7)
    for number, action in enumerate(actions):
        others = [actions[(number + i) % 8] for i in (1, 2)]
        cl = s.cell(f"fail {action}, z_fail {others[0]}, z_pass {others[1]}").depth("greater")
        cl.write("STENCIL_OP", fail=action, z_fail=others[0], z_pass=others[1])
        thirds = ((-1, -1 / 3, "never", -0.7), (-1 / 3, 1 / 3, "always", -0.3), (1 / 3, 1, "always", -0.7))
        for low, high, function, z in thirds:
            cl.write("STENCIL_TEST", enable=True, function=function, reference=0x5A, write_mask=255, input_mask=255)
            s.quad(YELLOW, box=(-1, low, 1, high), z=z)


@scene(3, 1, 16)
def stencil_without_buffer(s: Scene) -> None:
    """A stencil test that never passes counts only where the buffer has stencils: nothing in D24S8, a square in D16 and
    D24."""
    for format in ("D24S8", "D24", "D16"):
        s.submit()
        s.depth_format = format
        s.depth = s.capture.allocate(s.texels * BY_NAME[format].bits // 8, region="VRAM")
        s.cl = s.new_list()
        s.cell(format).write("STENCIL_TEST", enable=True, function="never", write_mask=255, input_mask=255)
        s.cl.depth("always")
        s.quad((RED, YELLOW, YELLOW, RED))
