"""Pixels per second: the fragment pipeline against a scalar one in C++ (reference.cpp), same scene, one thread each.

The scene is 2 triangles that cover a 400x240 target, 200 of 30 pixels and 2000 of 5, with a bilinear RGBA8 texture,
three combiner stages, depth test and blending. Both start from the same screen-space vertices: the C++ takes them as
they are, the machine as clip coordinates that an empty vertex program passes on, from a command list in guest memory.
The promise is about the raster phase: triangles that are set up become pixels in memory. The whole draw (list walk,
vertex program, assembly and clipping; in C++ only triangle set-up) is shown beside it. Both run in one thread and are
timed by its processor time.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from common import Report, Series, cpu_time, ratio, run, turns
from guest import COLOR, DEPTH, Guest, use_clock

from pocketgpu.builder import Buffer, CommandList, assemble

WIDTH, HEIGHT = 400, 240
TEXTURE = 256
TARGET = 8.0  # times the reference
IN_A_ROW = 3
COLOR_START, DEPTH_START = 0x10203040, 0x00FFFFFF
PARTS = {"all": (2, 200, 2000), "2 full-screen": (2, 0, 0), "200 of 30 px": (0, 200, 0), "2000 of 5 px": (0, 0, 2000)}

VERTEX = np.dtype([("x", "f4"), ("y", "f4"), ("depth", "f4"), ("inverse_w", "f4"), ("attributes", "f4", 6)])
STAGE = np.dtype([("op", "i4", 2), ("source", "i4", (2, 3)), ("operand", "i4", (2, 3)), ("constant", "i4", 4)])
STATE = np.dtype(
    [
        ("width", "i4"), ("height", "i4"), ("depth_test", "i4"), ("depth_function", "i4"), ("depth_write", "i4"),
        ("depth_scale", "f4"), ("depth_offset", "f4"), ("alpha_test", "i4"), ("alpha_function", "i4"),
        ("alpha_reference", "i4"), ("blend", "i4"), ("equation", "i4", 2), ("source_factor", "i4", 2),
        ("target_factor", "i4", 2), ("texture_width", "i4"), ("texture_height", "i4"), ("wrap_s", "i4"),
        ("wrap_t", "i4"), ("linear", "i4"), ("stages", "i4"), ("stage", STAGE, 6),
    ]
)  # fmt: skip

Array = np.ndarray[Any, Any]


# -- the scene --------------------------------------------------------------------------------------------------------
@dataclass
class Scene:
    """Clip coordinates (n, 4), colours (n, 4) and texture coordinates (n, 2) of vertices in threes."""

    clip: Array
    color: Array
    uv: Array

    @property
    def screen(self) -> Array:
        """The same vertices after projection, with the machine's own float operations."""
        out = np.zeros(len(self.clip), VERTEX)
        inverse = np.float32(1) / self.clip[:, 3]
        half = np.array([WIDTH / 2, HEIGHT / 2], np.float32)
        window = (self.clip[:, :2] * inverse[:, None] + np.float32(1)) * half
        out["x"], out["y"] = window.T
        out["depth"], out["inverse_w"] = self.clip[:, 2] * inverse, inverse
        out["attributes"] = np.concatenate([self.color, self.uv], axis=1)
        return out


def make_scene(full: int, middle: int, small: int, seed: int = 2) -> Scene:
    """Random triangles; the first two cover the screen. Distances differ from corner to corner."""
    rng = np.random.default_rng(seed)
    corners = [np.array([[[0, 0], [WIDTH, 0], [0, HEIGHT]], [[WIDTH, HEIGHT], [0, HEIGHT], [WIDTH, 0]]], float)[:full]]
    for count, size in ((middle, 30), (small, 5)):
        at = rng.random((count, 2)) * [WIDTH - size, HEIGHT - size]
        jitter = rng.random((3, count, 2)) * size
        box = [
            at + jitter[0] * 0.2,
            at + [size, 0] + jitter[1] * [-0.2, 0.3],
            at + [0, size] + jitter[2] * [0.5, -0.2],
        ]
        corners.append(np.stack(box, axis=1))
    xy = np.clip(np.concatenate(corners), 0, [WIDTH, HEIGHT]).reshape(-1, 2)
    n = len(xy)
    w = 1 + rng.random(n) * 4
    depth = rng.random(n) * 0.9 + 0.05
    depth[: 3 * full] = 0.95
    ndc = np.concatenate([xy / [WIDTH / 2, HEIGHT / 2] - 1, -depth[:, None]], axis=1)
    clip = np.concatenate([ndc * w[:, None], w[:, None]], axis=1).astype(np.float32)
    color = rng.random((n, 4)).astype(np.float32)
    color[:, 3] = color[:, 3] * 0.7 + 0.3
    return Scene(clip, color, (rng.random((n, 2)) * 2).astype(np.float32))


def make_texture(seed: int = 1) -> Array:
    """Texels in memory order, 0xRRGGBBAA; a fifth of them is transparent."""
    rng = np.random.default_rng(seed)
    texels = rng.integers(0, 1 << 32, TEXTURE * TEXTURE, dtype=np.uint32)
    return np.where(rng.random(len(texels)) < 0.2, texels & 0xFFFFFF00, texels | 0x40).astype("<u4")


# -- the machine ------------------------------------------------------------------------------------------------------
PROGRAM = """
.out o0 position
.out o1 color
.out o2.xy texcoord0
main:
    mov o0, v0
    mov o1, v1
    mov o2.xy, v2
    end
"""
SOURCE_ALPHA = ("texture 0", "alpha")


def make_list(vertices: int, count: int, texture: int) -> CommandList:
    """The draw with all its state."""
    commands = CommandList().plain_state().render_target(COLOR, WIDTH, HEIGHT, depth=DEPTH)
    commands.write("FRAMEBUFFER_DIM", width=WIDTH, height=HEIGHT)  # rows from the bottom, as the C++ has them
    commands.depth("less or equal").blend("source alpha", "1 - source alpha")
    commands.texture(0, texture, TEXTURE, TEXTURE, filter="linear", wrap="repeat")
    modulate = ("modulate", "texture 0", "vertex color")
    commands.combiner(0, modulate, modulate)
    commands.combiner(1, ("interpolate", "previous stage", "constant", SOURCE_ALPHA), color=(200, 120, 40, 255))
    commands.combiner(2, ("add signed", "previous stage", "vertex color"))
    commands.shader(assemble(PROGRAM))
    commands.attributes(Buffer(vertices, [("f32", 4), ("f32", 4), ("f32", 2)]))
    return commands.draw_arrays(count)


class Machine:
    """Our side: the scene in guest memory and a list that draws it."""

    def __init__(self, scene: Scene, tier: str = "specialised") -> None:
        self.guest = Guest(tier=tier)
        vertices = np.concatenate([scene.clip, scene.color, scene.uv], axis=1)
        commands = make_list(self.guest.place(vertices), len(vertices), self.guest.place(make_texture()))
        self.list = self.guest.place_list(commands)
        self.raster = 0.0

    def draw(self) -> float:
        """Clear, draw, and return the seconds that drawing took."""
        guest, stats = self.guest, self.guest.gpu.stats
        guest.fill(COLOR, 4 * WIDTH * HEIGHT, COLOR_START)
        guest.fill(DEPTH, 4 * WIDTH * HEIGHT, DEPTH_START)
        stats.reset()
        start = cpu_time()
        guest.start(self.list)
        seconds = cpu_time() - start
        self.raster = stats.seconds["raster"]
        return seconds

    def pixels(self, address: int) -> Array:
        return np.frombuffer(self.guest.gpu.memory.read(address, 4 * WIDTH * HEIGHT), "<u4")


# -- the reference ----------------------------------------------------------------------------------------------------
def compiler() -> str | None:
    """A C++ compiler, if there is one."""
    return next(
        (path for name in ("g++", "clang++", "c++") if (path := shutil.which(os.environ.get("CXX", name)))), None
    )


FLAGS = "-O3 -march=native -ffp-contract=off -std=c++17 -shared -fPIC"


def build(cxx: str, folder: Path) -> ctypes.CDLL:
    """Compile reference.cpp."""
    target = folder / "reference.so"
    subprocess.run(
        [cxx, *shlex.split(FLAGS), str(Path(__file__).with_name("reference.cpp")), "-o", str(target)], check=True
    )
    library = ctypes.CDLL(str(target))
    library.setup.restype = ctypes.c_int32
    library.raster.restype = ctypes.c_int64
    return library


def make_state() -> Array:
    """The state of `make_list` as the C++ wants it: codes of the registers."""
    state = np.zeros(1, STATE)
    state["width"], state["height"] = WIDTH, HEIGHT
    state["depth_test"], state["depth_function"], state["depth_write"] = 1, 5, 1
    state["depth_scale"] = -1
    state["blend"], state["source_factor"], state["target_factor"] = 1, 6, 7
    state["texture_width"] = state["texture_height"] = TEXTURE
    state["wrap_s"] = state["wrap_t"] = 2
    state["linear"], state["stages"] = 1, 3
    texture, primary, constant, previous = 3, 0, 14, 15
    stages = state["stage"][0]
    stages["op"][:3] = [(1, 1), (4, 0), (3, 0)]
    stages["source"][:3] = [
        [(texture, primary, 0)] * 2,
        [(previous, constant, texture), (previous, 0, 0)],
        [(previous, primary, 0), (previous, 0, 0)],
    ]
    stages["operand"][1][0][2] = 2
    stages["constant"][1] = (200, 120, 40, 255)
    return state


class Reference:
    """The C++ side."""

    def __init__(self, library: ctypes.CDLL, scene: Scene) -> None:
        self.library, self.vertices, self.state, self.texture = library, scene.screen, make_state(), make_texture()
        self.triangles = np.zeros(len(self.vertices) // 3 * library.triangle_size(), np.uint8)
        self.color = np.zeros(WIDTH * HEIGHT, "<u4")
        self.depth = np.zeros(WIDTH * HEIGHT, "<u4")
        self.raster = 0.0
        self.fragments = 0
        self._at = {name: getattr(self, name).ctypes.data_as(ctypes.c_void_p) for name in
                    ("vertices", "state", "texture", "triangles", "color", "depth")}  # fmt: skip

    def draw(self) -> float:
        """Clear, draw, and return the seconds that drawing took."""
        self.color[:], self.depth[:] = COLOR_START, DEPTH_START
        at = self._at
        start = cpu_time()
        count = self.library.setup(at["vertices"], len(self.vertices), at["state"], at["triangles"])
        middle = cpu_time()
        self.fragments = self.library.raster(
            at["triangles"], count, at["state"], at["texture"], at["color"], at["depth"]
        )
        end = cpu_time()
        self.raster = end - middle
        return end - start


def agreement(machine: Machine, reference: Reference) -> tuple[float, int]:
    """Share of equal pixels, and the largest difference in a channel of a colour."""
    ours, theirs = machine.pixels(COLOR), reference.color
    same = (ours == theirs) & (machine.pixels(DEPTH) == reference.depth)
    apart = np.abs(ours.view(np.uint8).astype(int) - theirs.view(np.uint8).astype(int)).max(initial=0)
    return float(same.mean()), int(apart)


# -- the measurement --------------------------------------------------------------------------------------------------
def measure(report: Report, arguments: argparse.Namespace) -> None:
    use_clock(cpu_time)
    cxx = compiler()
    if cxx is None:
        report.notes.append(
            "no C++ compiler found (g++, clang++, c++, or the one that CXX names): nothing to compare with"
        )
    with tempfile.TemporaryDirectory() as folder:
        library = build(cxx, Path(folder)) if cxx else None
        for name, counts in PARTS.items():
            _part(report, name, make_scene(*counts), library, arguments.repeat)
    _general(report, arguments.repeat)
    if cxx:
        report.notes.append(f"reference: {Path(cxx).name} {FLAGS}")


def _part(report: Report, name: str, scene: Scene, library: ctypes.CDLL | None, repeat: int) -> None:
    machine = Machine(scene)
    reference = Reference(library, scene) if library else None
    sides = [side for side in (machine, reference) if side is not None]
    rasters = [Series() for _ in sides]

    def turn(number: int) -> float:
        # The first draw of a turn finds the other side's data in the caches.
        side, wholes, raster = sides[number], [], []
        for _ in range(IN_A_ROW):
            wholes.append(side.draw())
            raster.append(side.raster)
        rasters[number].seconds.append(min(raster))
        return min(wholes)

    machine.draw()
    wholes = turns(repeat, *(partial(turn, i) for i in range(len(sides))), warm=0)
    machine.guest.check()
    fragments = machine.guest.gpu.stats.fragments

    def speed(seconds: float) -> float:
        return fragments / seconds / 1e6

    ours = rasters[0]
    report.add(f"{name}: raster", speed(ours.median), "Mpixel/s", best=speed(ours.best), note=f"{fragments} fragments")
    report.add(f"{name}: whole draw", 1e3 * wholes[0].median, "ms", best=1e3 * wholes[0].best, more=False)
    if reference is None:
        return
    equal, apart = agreement(machine, reference)
    if reference.fragments != fragments or equal < 0.999:
        raise RuntimeError(
            f"{name}: the pictures differ ({equal:.2%} of the pixels are equal, {fragments} fragments against "
            f"{reference.fragments}): the two sides do not do the same work"
        )
    theirs = rasters[1]
    report.add(f"{name}: C++ raster", speed(theirs.median), "Mpixel/s", best=speed(theirs.best))
    report.add(f"{name}: C++ whole draw", 1e3 * wholes[1].median, "ms", best=1e3 * wholes[1].best, more=False)
    middle, best = ratio(theirs, ours)
    note = f"pictures: {equal:.3%} of the pixels are equal, the others within {apart}"
    target = TARGET if name == "all" else None
    report.add(f"{name}: raster, times C++", middle, "x", best=best, target=target, by_best=True, note=note)
    middle, best = ratio(wholes[1], wholes[0])
    report.add(f"{name}: whole draw, times C++", middle, "x", best=best)


def _general(report: Report, repeat: int) -> None:
    """The code that draws while specialised code is being made."""
    machine = Machine(make_scene(*PARTS["all"]), tier="general")
    rasters = Series()

    def turn() -> float:
        seconds = machine.draw()
        rasters.seconds.append(machine.raster)
        return seconds

    turns(repeat // 2 or 1, turn, warm=0)
    fragments = machine.guest.gpu.stats.fragments
    speeds = [fragments / seconds / 1e6 for seconds in (rasters.median, rasters.best)]
    report.add("all: raster by general code", speeds[0], "Mpixel/s", best=speeds[1])


if __name__ == "__main__":
    run("pixels", measure, repeat=40)
