"""What a fragment costs, feature by feature, and how replay time grows with triangles, pixels, draws and list words.

Costs: two triangles cover a 400x240 target, with one combiner stage and nothing else but the named feature; the raster
phase divided by the fragments. Growth: the same scene in 1, 2, 4 and 8 times the number; the last figure is the time of
eight times the work in units of eight times the time of the single one (1.0: linear, less: a fixed part).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
from common import Report, Series, cpu_time, run, turns
from guest import COLOR, DEPTH, Guest, use_clock

from pocketgpu.builder import Buffer, CommandList, assemble

WIDTH, HEIGHT = 400, 240
TEXTURE, SHADOW_MAP = 256, 256
STEPS = (1, 2, 4, 8)
PROGRAM = assemble("""
.out o0 position
.out o1 color
.out o2.xy texcoord0
.out o3.xyz view
.out o4 quaternion
.constf c0, 0.0, 0.0, 0.0, 1.0
main:
    mov o0, v0
    mov o1, v1
    mov o2.xy, v2
    mov o3.xyz, v0
    mov o4, c0
    end
""")
Feature = Callable[[CommandList], object]


class Scene:
    """Memory that all features share."""

    def __init__(self) -> None:
        self.guest = Guest()
        rng = np.random.default_rng(3)
        self.texture = self.guest.place(rng.integers(0, 1 << 32, TEXTURE * TEXTURE * 2, dtype=np.uint32))
        self.shadow_map = self.guest.place(rng.integers(0, 1 << 32, SHADOW_MAP * SHADOW_MAP, dtype=np.uint32))

    def start(self, vertices: int) -> CommandList:
        commands = CommandList().plain_state().render_target(COLOR, WIDTH, HEIGHT, depth=DEPTH)
        commands.no_textures().combiner(0, ("replace", "vertex color")).shader(PROGRAM)
        return commands.attributes(Buffer(vertices, [("f32", 4), ("f32", 4), ("f32", 2)]))

    def vertices(self, corners: np.ndarray, seed: int = 4) -> int:
        """Place vertices at corners (n, 2) in -1..1, in threes, with random colours and depths."""
        rng = np.random.default_rng(seed)
        data = np.zeros((len(corners), 10), np.float32)
        data[:, :2], data[:, 2], data[:, 3] = corners, -rng.random(len(corners)) * 0.8 - 0.1, 1
        data[:, 4:8] = rng.random((len(corners), 4)) * 0.9 + 0.05
        data[:, 8:] = corners * 0.7 + 0.9
        return self.guest.place(data)

    # -- features ---------------------------------------------------------------------------------------------------
    def textures(self, count: int, filter: str, commands: CommandList) -> None:
        for unit in range(count):
            commands.texture(unit, self.texture, TEXTURE, TEXTURE, filter=filter)
            commands.combiner(unit, ("modulate", f"texture {unit}", "previous stage" if unit else "vertex color"))

    def trilinear(self, commands: CommandList) -> None:
        self.textures(1, "linear", commands)
        commands.write(
            "TEXUNIT0_PARAM", wrap_s="repeat", wrap_t="repeat", mag_filter="linear", min_filter="linear",
            mip_filter="linear",
        )  # fmt: skip
        commands.write("TEXUNIT0_LOD", bias=0.5, max_level=4)  # half a level

    def depth_and_blend(self, commands: CommandList) -> None:
        commands.depth("less or equal").blend("source alpha", "1 - source alpha")

    def lights(self, count: int, commands: CommandList) -> None:
        commands.write_word("LIGHTING_ENABLE0", 1).write_word("LIGHTING_ENABLE1", 0)
        commands.write_word("LIGHTING_NUM_LIGHTS", count - 1).write_word("LIGHTING_LIGHT_PERMUTATION", 0x76543210)
        commands.write_word("LIGHTING_CONFIG0", 0x80000400).write_word("LIGHTING_CONFIG1", 0xFF00FF00)
        for light in range(count):
            for name, word in (("SPECULAR0", 0x0FF3FCFF), ("DIFFUSE", 0x0803FC10), ("AMBIENT", 0x00100401),
                               ("XY", 0x3C003C00), ("Z", 0x3C00), ("CONFIG", 0)):  # fmt: skip
                commands.write_word(f"LIGHT{light}_{name}", word)
        commands.combiner(0, ("add", "fragment primary color", "fragment secondary color"))

    def proctex(self, filter: int, commands: CommandList) -> None:
        words = (0x00000012, 0, 0, 0, filter | 128 << 11, 0)
        for number, word in enumerate(words):
            commands.write_word(f"TEXUNIT3_PROCTEX{number}", word)
        for number, word in ((0, 0), (2, 0x00010000), (3, 0x00010000), (4, 0x80604020), (5, 0)):
            commands.write_word("PROCTEX_LUT", number << 8)
            for index in range(128):
                commands.write_word("PROCTEX_LUT_DATA0", word + index if number == 4 else 32 * index)
        commands.write_word("TEXUNIT_CONFIG", 0x11400)
        commands.combiner(0, ("replace", "texture 3 (procedural)"))

    def fog(self, commands: CommandList) -> None:
        commands.write_word("TEXENV_UPDATE_BUFFER", 5).write_word("FOG_COLOR", 0x804020)
        commands.write_word("FOG_LUT_INDEX", 0)
        for index in range(128):
            commands.write_word("FOG_LUT_DATA0", (2047 - 15 * index) << 13 | 0x1FF1)

    def shadow(self, commands: CommandList) -> None:
        commands.texture(0, self.shadow_map, SHADOW_MAP, SHADOW_MAP)
        commands.write_word("TEXUNIT0_PARAM", 2 << 28 | 1 << 2 | 1 << 1).write_word("TEXUNIT0_SHADOW", 1)
        commands.combiner(0, ("replace", "texture 0"))

    def all(self) -> dict[str, Feature]:
        texture = self.textures
        return {
            "plain colour": lambda commands: None,
            "depth test and blending": self.depth_and_blend,
            "one texture, nearest": partial(texture, 1, "nearest"),
            "one texture, bilinear": partial(texture, 1, "linear"),
            "one texture, trilinear": self.trilinear,
            "three textures, bilinear": partial(texture, 3, "linear"),
            "lighting, one light": partial(self.lights, 1),
            "lighting, eight lights": partial(self.lights, 8),
            "procedural texture, nearest": partial(self.proctex, 0),
            "procedural texture, linear": partial(self.proctex, 1),
            "fog": self.fog,
            "shadow map": self.shadow,
        }


def grid(triangles: int, size: float) -> np.ndarray:
    """Corners of triangles of one size, at random places."""
    at = np.random.default_rng(6).random((triangles, 1, 2)) * (2 - 2 * size) - 1 + size
    return (at + np.array([[-size, -size], [size, -size], [-size, size]])).reshape(-1, 2)


def growths(scene: Scene) -> dict[str, Callable[[int], CommandList]]:
    """For each kind of work, a list with n times as much of it."""

    def triangles(n: int) -> CommandList:
        return scene.start(scene.vertices(grid(2000 * n, 0.01))).draw_arrays(6000 * n)

    def pixels(n: int) -> CommandList:
        return scene.start(scene.vertices(grid(8 * n, 0.7))).draw_arrays(24 * n)

    def draws(n: int) -> CommandList:
        commands = scene.start(scene.vertices(grid(1, 0.02)))
        for number in range(500 * n):
            commands.write_word("TEXENV0_COLOR", number & 7).draw_arrays(3)
        return commands

    def words(n: int) -> CommandList:
        commands = scene.start(scene.vertices(grid(1, 0.02)))
        for number in range(4000 * n):
            commands.write_word("TEXENV0_COLOR", number)
        return commands.draw_arrays(3)

    return {"2000 triangles": triangles, "8 large triangles (pixels)": pixels, "500 draws": draws,
            "8000 list words": words}  # fmt: skip


def measure(report: Report, arguments: argparse.Namespace) -> None:
    use_clock(cpu_time)
    scene = Scene()
    square = scene.vertices(np.array([[-1, -1], [1, -1], [-1, 1], [1, 1], [-1, 1], [1, -1]], float))
    guest, stats = scene.guest, scene.guest.gpu.stats

    def draw(commands: tuple[int, int], phase: str) -> float:
        guest.fill(DEPTH, 4 * WIDTH * HEIGHT, 0x00FFFFFF)
        stats.reset()
        start = cpu_time()
        guest.start(commands)
        return stats.seconds[phase] if phase else cpu_time() - start

    features = scene.all()
    lists = {}
    for name, feature in features.items():
        commands = scene.start(square)
        feature(commands)
        lists[name] = guest.place_list(commands.draw_arrays(6))
    found = turns(arguments.repeat, *(partial(draw, commands, "raster") for commands in lists.values()))
    for name, series in zip(lists, found, strict=True):
        draw(lists[name], "raster")
        guest.check()
        scale = 1e9 / stats.fragments
        report.add(name, scale * series.median, "ns/fragment", best=scale * series.best, more=False)
    for name, make in growths(scene).items():
        _growth(report, name, [guest.place_list(make(n)) for n in STEPS], arguments.repeat, draw)
    guest.check()


def _growth(
    report: Report, name: str, lists: list[tuple[int, int]], repeat: int, draw: Callable[[tuple[int, int], str], float]
) -> None:
    series: list[Series] = turns(repeat, *(partial(draw, commands, "") for commands in lists))
    for n, each in zip(STEPS, series, strict=True):
        report.add(f"{n} x {name}", 1e6 * each.median, "us", best=1e6 * each.best, more=False)
    single, most = series[0], series[-1]
    times = STEPS[-1]
    report.add(f"{name}: {times} times the work", most.median / single.median / times, "of linear",
               best=most.best / single.best / times, more=False)  # fmt: skip


if __name__ == "__main__":
    run("features", measure, repeat=20)
