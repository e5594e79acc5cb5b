"""Fixed cost of a small draw: lists of a thousand draws of a single triangle of a few pixels each.

Timed is the whole list, from the write that starts it until it returns: the walk with all register writes that
a driver makes for a draw, recording, vertex fetch and program, set-up, and the few pixels. Divided by the draws it is
an upper bound of what one more draw costs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from common import Report, clock, cpu_time, run, turns
from guest import COLOR, DEPTH, Guest, use_clock

from pocketgpu.builder import Buffer, CommandList, assemble

WIDTH, HEIGHT = 240, 400
DRAWS = 1000
STATES = 8
TARGET = 20.0  # microseconds
PROGRAM = """
.alias matrix c0
.out o0 position
.out o1 color
.out o2.xy texcoord0
main:
    dp4 o0.x, matrix[0], v0
    dp4 o0.y, matrix[1], v0
    dp4 o0.z, matrix[2], v0
    dp4 o0.w, matrix[3], v0
    mov o1, v1
    mov o2.xy, v2
    end
"""
BLENDS = ("one", "source alpha", "destination color", "constant color")
Between = Callable[[CommandList, int], object]


class Lists:
    """Lists of draws that differ in what happens between two draws."""

    def __init__(self) -> None:
        self.guest = Guest()
        rng = np.random.default_rng(5)
        at = rng.random((DRAWS, 1, 2)) * 1.8 - 0.9
        corners = at + np.array([[0, 0], [0.03, 0], [0, 0.02]])
        vertices = np.zeros((DRAWS, 3, 10), np.float32)
        vertices[..., :2], vertices[..., 2], vertices[..., 3] = corners, -0.5, 1
        vertices[..., 4:8], vertices[..., 8:] = rng.random((DRAWS, 3, 4)), rng.random((DRAWS, 3, 2))
        self.vertices = self.guest.place(vertices)
        texels = rng.integers(0, 1 << 32, (STATES, 32 * 32), dtype=np.uint32)
        self.textures = [self.guest.place(t) for t in texels]

    def begin(self) -> CommandList:
        commands = CommandList().plain_state().render_target(COLOR, WIDTH, HEIGHT, depth=DEPTH)
        commands.shader(assemble(PROGRAM)).uniforms(0, np.eye(4)).depth("less or equal")
        commands.attributes(Buffer(self.vertices, [("f32", 4), ("f32", 4), ("f32", 2)]))
        self.state(commands, 0)
        return commands

    def state(self, commands: CommandList, number: int) -> None:
        """One of eight states: texture, filter, first combiner stage and blending differ."""
        filter = ("nearest", "linear")[number & 1]
        commands.texture(0, self.textures[number], 32, 32, filter=filter, wrap="clamp to edge")
        operation = ("modulate", "add", "replace", "add signed")[number & 3]
        commands.combiner(0, (operation, "texture 0", "vertex color"), ("modulate", "texture 0", "vertex color"))
        commands.blend(BLENDS[number >> 1], "1 - source alpha" if number & 1 else "zero")

    def make(self, draws: int, between: Between) -> tuple[int, int]:
        commands = self.begin()
        for n in range(draws):
            between(commands, n)
            commands.draw_arrays(3, first=3 * n)
        return self.guest.place_list(commands)

    # -- what happens between two draws ----------------------------------------------------------------------------
    def nothing(self, commands: CommandList, n: int) -> None:
        pass

    def change_state(self, commands: CommandList, n: int) -> None:
        self.state(commands, n % STATES)

    def change_uniforms(self, commands: CommandList, n: int) -> None:
        commands.uniforms(0, np.eye(4) * (1 + (n % 4) / 64))

    def change_both(self, commands: CommandList, n: int) -> None:
        self.change_state(commands, n)
        self.change_uniforms(commands, n)


def measure(report: Report, arguments: argparse.Namespace) -> None:
    use_clock(cpu_time)
    lists = Lists()
    cases: list[tuple[str, Between, int]] = [
        ("same state", lists.nothing, DRAWS),
        (f"another of {STATES} states every draw", lists.change_state, DRAWS),
        ("other uniforms every draw", lists.change_uniforms, DRAWS),
        ("state and uniforms every draw", lists.change_both, DRAWS),
        ("a list with a single draw", lists.nothing, 1),
    ]
    gpu = lists.guest.gpu
    phases: list[dict[str, float]] = [{} for _ in cases]
    turn = []
    for number, (_, between, draws) in enumerate(cases):
        commands = lists.make(draws, between)

        def once(commands: tuple[int, int] = commands, number: int = number, draws: int = draws) -> float:
            gpu.stats.reset()
            seconds = clock(lambda: lists.guest.start(commands))
            if gpu.stats.draws != draws:
                raise RuntimeError(f"{gpu.stats.draws} draws ran instead of {draws}")
            for name, value in gpu.stats.seconds.items():
                phases[number][name] = min(value, phases[number].get(name, value))
            return seconds

        turn.append(once)
    for (name, _, draws), series, parts in zip(cases, turns(arguments.repeat, *turn, warm=3), phases, strict=True):
        per = 1e6 / draws
        split = ", ".join(f"{part} {parts[part] * per:.1f}" for part in ("list", "vertex", "raster"))
        target = TARGET if draws > 1 else None
        report.add(name, series.median * per, "us/draw", best=series.best * per, target=target, more=False, note=split)
    lists.guest.check()


if __name__ == "__main__":
    run("draws", measure, repeat=20)
