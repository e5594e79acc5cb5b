"""A 2D frame of the Switch, as libraries for vector graphics draw it: 187 filled paths in three draws each.

The first draw of a path counts its windings in the stencil buffer, the second draws its soft edge where they are 0,
the third its inside where they are not, and clears them. Colours come in the pushbuffer, before each draw.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, shader, size_of

WIDTH, HEIGHT = 1280, 720
PATHS = 187
CORNERS = 24
EDGE = 1.5
"""Pixels of the soft edge."""
SEED = 561
VERTEX = """
    ALD.64 R0, a[0x80]
    ALD.64 R4, a[0x90]
    MOV32I R6, 0x3acccccd
    MOV32I R7, 0xbb360b61
    MOV32I R8, 0xbf800000
    MOV32I R9, 0x3f800000
    FFMA R0, R0, R6, R8
    FFMA R1, R1, R7, R9
    MOV R2, RZ
    MOV32I R3, 0x3f800000
    AST.128 a[0x70], R0
    AST.64 a[0x80], R4
    EXIT
"""
"""Pixels become clip space: 2/1280 and -2/720 are the factors."""
PIXEL = """
    IPA.PASS R5, a[0x7c], RZ
    MUFU.RCP R5, R5
    IPA R4, a[0x80], R5
    MOV R0, c[0x1][0x0]
    MOV R1, c[0x1][0x4]
    MOV R2, c[0x1][0x8]
    FMUL R3, R4, c[0x1][0xc]
    EXIT
"""
_BLOCK = 256  # bytes of a constant buffer


def _path(values: np.random.Generator, number: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Points of a path in order, and the directions away from it: a star, or for the first ones a large panel."""
    if number < 4:
        left, top = number * 300 + 20, 20 + 30 * number
        points = np.array([(left, top), (left + 500, top), (left + 500, top + 560), (left, top + 560)], np.float32)
        middle = points.mean(axis=0)
        return points, np.sign(points - middle).astype(np.float32)
    radius = values.uniform(8, 90 if number % 8 else 180)
    centre = values.uniform((0, 0), (WIDTH, HEIGHT))
    turns = np.arange(CORNERS) * (2 * math.pi / CORNERS)
    out = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    reach = radius * (1.0 - 0.45 * (np.arange(CORNERS) % 2))
    return (centre + out * reach[:, None]).astype(np.float32), out.astype(np.float32)


def _rows(points: NDArray[np.float32], cover: NDArray[np.float32] | float) -> NDArray[np.float32]:
    """Vertices: position in pixels, how much of the pixel is covered, and a number that is not used."""
    rows = np.zeros((len(points), 4), np.float32)
    rows[:, :2], rows[:, 2] = points, cover
    return rows


def build(paths: int = PATHS, frames: int = 1) -> MaxwellCaptureBuilder:
    """The capture's builder: `frames` times the same picture."""
    values = np.random.default_rng(SEED)
    builder = MaxwellCaptureBuilder("a benchmark: 2D paths")
    target = Surface(builder.allocate(size_of(WIDTH, HEIGHT), kind="generic_16bx2"), WIDTH, HEIGHT)
    depth = builder.allocate(size_of(WIDTH, HEIGHT), kind="z24s8")
    vertices: list[NDArray[np.float32]] = []
    counts = []
    for number in range(paths):
        points, out = _path(values, number)
        closed = np.concatenate([points, points[:1]])
        outer = np.concatenate([points + EDGE * out, (points + EDGE * out)[:1]])
        edge = np.stack([_rows(closed, 1.0), _rows(outer, 0.0)], axis=1).reshape(-1, 4)
        low, high = outer.min(axis=0), outer.max(axis=0)
        corners = np.array([low, (high[0], low[1]), (low[0], high[1]), high], np.float32)
        vertices += [_rows(points, 1.0), edge, _rows(corners, 1.0)]
        counts.append((len(points), len(edge)))
    data = np.concatenate(vertices)
    stream = builder.put(data)
    programs = {
        "vertex": builder.put(shader("vertex", VERTEX).image), "pixel": builder.put(shader("pixel", PIXEL).image),
    }  # fmt: skip
    constants = builder.put(bytes(_BLOCK))
    colours = values.uniform(0, 1, (paths, 4)).astype(np.float32)
    colours[:, 3] = values.uniform(0.3, 1, paths)
    for _ in range(frames):
        pb = PushBuffer().bind("3D").plain_state().render_target(0, target).viewport(0, 0, WIDTH, HEIGHT)
        pb.depth_target(depth, WIDTH, HEIGHT).shaders(programs).constants("pixel", 1, constants, _BLOCK)
        pb.stream(0, stream, 16, size=data.nbytes)
        pb.attribute(0, 0, 0, "R32_G32").attribute(1, 0, 8, "R32_G32")
        pb.clear((0.1, 0.1, 0.12, 1)).clear_depth(1.0, 0)
        pb.method("SET_STENCIL_TEST", 1).method("SET_TWO_SIDED_STENCIL_TEST", 1)
        for part in ("COLOR", "ALPHA"):
            pb.method(f"SET_BLEND_{part}_SOURCE_COEFF", V="OGL_SRC_ALPHA")
            pb.method(f"SET_BLEND_{part}_DEST_COEFF", V="OGL_ONE_MINUS_SRC_ALPHA")
        at = 0
        for number, (corners, edge) in enumerate(counts):
            pb.method("LOAD_CONSTANT_BUFFER_OFFSET", 0)
            for value in colours[number].view(np.uint32).tolist():
                pb.method("LOAD_CONSTANT_BUFFER(0)", value)
            _wind(pb).draw("TRIANGLE_FAN", corners, at)
            _cover(pb, "OGL_EQUAL", "OGL_KEEP").draw("TRIANGLE_STRIP", edge, at + corners)
            _cover(pb, "OGL_NOTEQUAL", "OGL_ZERO").draw("TRIANGLE_STRIP", 4, at + corners + edge)
            at += corners + edge + 4
        pb.method("INCREMENT_SYNC_POINT", INDEX=builder.syncpoint(), CONDITION="ROP_WRITES_DONE")
        builder.submit(pb).present(target)
    return builder


def _colours(pb: PushBuffer, on: bool) -> PushBuffer:
    return pb.method("SET_CT_WRITE", 0, R_ENABLE=on, G_ENABLE=on, B_ENABLE=on, A_ENABLE=on)


def _wind(pb: PushBuffer) -> PushBuffer:
    """The state that counts windings."""
    for side, op in (("", "OGL_INCR"), ("BACK_", "OGL_DECR")):
        pb.method(f"SET_{side}STENCIL_FUNC", V="OGL_ALWAYS")
        for when in ("FAIL", "ZFAIL"):
            pb.method(f"SET_{side}STENCIL_OP_{when}", V="OGL_KEEP")
        pb.method(f"SET_{side}STENCIL_OP_ZPASS", V=op)
    return _colours(pb, False).method("SET_BLEND", 0, 0)


def _cover(pb: PushBuffer, function: str, op: str) -> PushBuffer:
    """The state that draws where the windings compare so with 0."""
    for side in ("", "BACK_"):
        pb.method(f"SET_{side}STENCIL_FUNC", V=function)
        for when in ("FAIL", "ZFAIL", "ZPASS"):
            pb.method(f"SET_{side}STENCIL_OP_{when}", V=op)
    return _colours(pb, True).method("SET_BLEND", 0, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the scene as a recording.")
    parser.add_argument("file", type=Path)
    build().save(parser.parse_args().file)
