"""Who wrote a byte, and what changed before a draw: held to a list of all writes, and to a slow model of draws."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from support.switch_model import COMPARE, Drawn, Model, Registers, Vertex, look, square
from support.switch_scene import Scene

from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, size_of
from pocketgpu.capture import Capture
from pocketgpu.facts.maxwell import B197
from pocketgpu.inspect.switch.inspection import SwitchInspection

ROOM = 0x3000


@dataclass
class Write:
    """Bytes that an event wrote, from start up to end. kind, number: which event of that kind."""

    kind: str
    number: int
    frame: int
    start: int
    end: int


def written(seed: int) -> tuple[SwitchInspection, int, list[Write]]:
    """Loads, copies, fills and inline data in random order, two frames of them; and the list of all of it."""
    chance = random.Random(seed)
    builder = MaxwellCaptureBuilder("a test")
    base, source = builder.allocate(ROOM), builder.put(np.arange(ROOM, dtype=np.uint16))
    target = Surface(builder.allocate(size_of(16, 16)), 16, 16)
    writes: list[Write] = []
    for frame in range(2):
        numbers = dict.fromkeys(("load", "copy", "fill", "upload"), 0)
        for _ in range(2):
            loads = chance.randint(0, 3)
            for _ in range(loads):
                start = chance.randrange(ROOM - 64)
                data = bytes(chance.randrange(256) for _ in range(chance.randint(1, 64)))
                builder.load(base + start, data)
                writes.append(Write("load", numbers["load"], frame, start, start + len(data)))
            # The first submission also loads what was put, and each one its pushbuffer.
            numbers["load"] += 1
            pb = PushBuffer()
            for _ in range(4):
                start, size = chance.randrange(ROOM - 128), chance.randint(1, 128)
                kind = chance.choice(["copy", "fill", "upload"])
                if kind == "copy":
                    pb.bind("DMA copy").copy(source + chance.randrange(ROOM), base + start, size)
                elif kind == "fill":
                    start, size = start & ~3, max(size & ~3, 4)
                    pb.bind("DMA copy").fill(base + start, chance.randrange(1 << 32), size // 4)
                else:
                    pb.bind("3D").inline(base + start, bytes(chance.randrange(256) for _ in range(size)))
                writes.append(Write(kind, numbers[kind], frame, start, start + size))
                numbers[kind] += 1
            builder.submit(pb)
        builder.present(target)
    return SwitchInspection(Capture("a test", builder.log())), base, writes


def test_the_last_writer_of_random_bytes() -> None:
    for seed in range(4):
        run, base, writes = written(seed)
        for frame in range(2):
            run.events(frame)
        chance = random.Random(-seed)
        for _ in range(60):
            start, size = chance.randrange(ROOM), chance.choice([1, 1, 4, 16])
            frame = chance.randrange(2)
            before = f"f{frame + 1}/e0" if frame == 0 else None
            known = [
                one for one in writes
                if one.frame <= frame and one.start < start + size and start < one.end
            ]  # fmt: skip
            for found in (run.who_wrote(base + start, size, before), run.who_changed(base + start, size, before)):
                if not known:
                    assert found is None, (seed, start, size)
                    continue
                last = known[-1]
                events = [event for event in run.events(last.frame) if event.kind == last.kind]
                assert found is events[last.number], (seed, start, size, last, str(found))


def test_the_draw_that_changed_a_pixel() -> None:
    """Colour and depth of single pixels: the last draw after which the bytes differ, else the clear."""
    chance = random.Random(3)
    draws = []
    for _ in range(6):
        made: list[Vertex] = []
        for _ in range(2):
            x, y, z = chance.randrange(12), chance.randrange(12), chance.choice([0.25, 0.5, 0.75])
            width, height = chance.randint(8, 20), chance.randint(8, 20)
            made += square(x, y, width, height, z, colour=(chance.choice([0, 1]), 1, 0, 1))
        draws.append(Drawn("TRIANGLES", tuple(made), Registers(depth=chance.choice(list(COMPARE)))))
    run, model = look(draws, "Z24S8", 0.5), Model("Z24S8", 0.5)
    states = [(dict(model.colours), dict(model.depths))]
    for drawn in draws:
        model.draw(drawn)
        states.append((dict(model.colours), dict(model.depths)))
    colour, depth = run.seek(f"f0/d{len(draws) - 1}").surfaces()
    asked = 0
    for surface, which in ((colour, 0), (depth, 1)):
        for _ in range(25):
            at = chance.randrange(32), chance.randrange(32)
            changed = [n for n in range(len(draws)) if states[n][which][at] != states[n + 1][which][at]]
            found = run.who_changed(surface.place(*at), surface.format.bytes)
            assert found is not None
            if changed:
                assert (found.kind, found.draw) == ("draw", changed[-1]), (surface, at, str(found))
                asked += 1
            else:
                assert found.kind == "clear" and ("depth" in found.title) == (which == 1), (surface, at, str(found))
    assert asked > 10


# -- registers that changed before a draw ------------------------------------------------------------------------------
_QUIET = (
    "SET_LINE_WIDTH_FLOAT", "SET_POINT_SIZE", "SET_BLEND_CONST_RED", "SET_BLEND_CONST_ALPHA", "SET_ALPHA_REF",
    "SET_STENCIL_FUNC_REF", "SET_STENCIL_FUNC_MASK", "SET_STENCIL_MASK", "SET_BACK_STENCIL_FUNC_REF",
    "SET_BACK_STENCIL_FUNC_MASK", "SET_BACK_STENCIL_MASK", "SET_STENCIL_FUNC", "SET_BACK_STENCIL_FUNC",
    "SET_STENCIL_OP_ZPASS", "SET_BACK_STENCIL_OP_FAIL", "SET_DEPTH_BOUNDS_MIN", "SET_DEPTH_BOUNDS_MAX",
    "SET_DEPTH_FUNC", "SET_DEPTH_WRITE", "SET_SCISSOR_HORIZONTAL", "SET_SCISSOR_VERTICAL", "SET_VIEWPORT_SCALE_X",
    "SET_VIEWPORT_OFFSET_Z", "SET_VIEWPORT_CLIP_HORIZONTAL", "SET_VIEWPORT_CLIP_MIN_Z", "SET_COLOR_TARGET_WIDTH",
    "SET_COLOR_TARGET_FORMAT", "SET_COLOR_TARGET_B", "SET_CT_WRITE", "SET_BLEND_PER_TARGET_COLOR_OP",
    "SET_BLEND_PER_TARGET_ALPHA_DEST_COEFF", "SET_BLEND", "SET_DEPTH_BIAS", "SET_SLOPE_SCALE_DEPTH_BIAS",
    "OGL_SET_FRONT_FACE", "OGL_SET_CULL_FACE", "SET_WINDOW_CLIP_HORIZONTAL", "SET_POLYGON_STIPPLE_PATTERN",
    "SET_LINE_STIPPLE_PARAMETERS", "SET_TESSELLATION_LOD_U0_OR_DENSITY", "SET_PATCH", "SET_CLIP_ID_CLEAR_VALUE",
)  # fmt: skip
"""Registers that change nothing of a draw with one colour target and no tests; of arrays, elements from 3 on."""


def quiet(chance: random.Random) -> tuple[str, int]:
    """A method and a value that it does not have at first."""
    method = B197[chance.choice([name for name in _QUIET if name in B197])]
    label = method(chance.randrange(3, method.count)).label if method.stride else method.label
    return label, chance.randrange(1, 1 << 32) & sum(f.mask for f in method.fields if not f.view) or 1


def test_registers_that_changed_before_a_draw() -> None:
    """Exactly those that were written with another value, with both values."""
    chance = random.Random(11)
    plain = Scene().look().seek("f0/d1")
    words = plain.registers()
    usual = {one.register for one in plain.changes()}
    seen = set()
    for _ in range(16):
        methods = dict(quiet(chance) for _ in range(chance.randint(1, 4)))
        moment = Scene(methods=tuple(methods.items())).look().seek("f0/d1")
        expected = {name: (words[name], value) for name, value in methods.items() if words[name] != value}
        told = {one.register: (one.old, one.new) for one in moment.changes() if one.register not in usual}
        assert told == expected
        for name, value in methods.items():
            assert moment.registers()[name] == value
        seen |= set(methods)
    assert len(seen) > 20
