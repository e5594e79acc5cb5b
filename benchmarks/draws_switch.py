"""Fixed cost of a small draw of the Switch: pushbuffers of a thousand draws of a triangle of a few pixels each.

Timed is a whole submission: the channel, BEGIN, the draw and END with the words between draws, looking up the
prepared state, vertex fetch and program, set-up, and the few pixels. Divided by the draws it is an upper
bound of what one more draw costs. All states were seen before, so kernels make the draws by themselves (quick draws);
one figure has them turned off. Then 1, 2, 4 and 8 times as many draws, and pixels: cost must be linear.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from common import Report, clock, run, turns

from pocketgpu.builder.maxwell import PushBuffer, Surface, shader
from pocketgpu.maxwell.gm20b import GM20B

WIDTH, HEIGHT = 320, 180
DRAWS = 1000
STATES = 8
TARGET = 25.0  # microseconds
PROGRAMS, VERTICES, CONSTANTS, COLOUR, WORDS = (0x5_0000_0000 + n * 0x100_0000 for n in range(5))
VERTEX = """
    ALD.128 R0, a[0x80]
    FADD R0, R0, c[0x1][0x0]
    AST.128 a[0x70], R0
    ALD.128 R4, a[0x90]
    AST.128 a[0x80], R4
    EXIT
"""
PIXEL = """
    IPA.PASS R4, a[0x7c], RZ
    MUFU.RCP R4, R4
    IPA R0, a[0x80], R4
    IPA R1, a[0x84], R4
    IPA R2, a[0x88], R4
    MOV32I R3, 0x3f800000
    EXIT
"""
Between = Callable[[PushBuffer, int], object]


class Guest:
    """A machine with programs, triangles and a target."""

    def __init__(self) -> None:
        self.gpu = GM20B()
        for address in (PROGRAMS, VERTICES, CONSTANTS, COLOUR, WORDS):
            self.gpu.map(address, 0x80_0000)
        self.programs = {}
        at = PROGRAMS
        for stage, text in (("vertex", VERTEX), ("pixel", PIXEL)):
            image = shader(stage, text).image
            self.gpu.memory.write(at, image)
            self.programs[stage] = at
            at += -(-len(image) // 256) * 256
        rng = np.random.default_rng(5)
        corners = rng.random((DRAWS, 1, 2)) * 1.8 - 0.9 + np.array([[0, 0], [0.03, 0], [0, 0.04]])
        vertices = np.zeros((DRAWS, 3, 8), np.float32)
        vertices[..., :2], vertices[..., 3], vertices[..., 4:] = corners, 1, rng.random((DRAWS, 3, 4))
        self.gpu.memory.write(VERTICES, vertices.tobytes())
        big = np.array([[-1, -1], [3, -1], [-1, 3]], np.float32)
        vertices[0, :, :2] = big
        self.gpu.memory.write(VERTICES + (1 << 20), vertices[0].tobytes())

    def begin(self) -> PushBuffer:
        pb = PushBuffer().bind("3D").render_target(0, self.surface()).viewport(0, 0, WIDTH, HEIGHT)
        pb.method("SET_RASTER_ENABLE", 1).method("SET_CT_SELECT", TARGET_COUNT=1).method("SET_CT_WRITE", 0, 0x1111)
        pb.shaders(self.programs).constants("vertex", 1, CONSTANTS, 256)
        pb.stream(0, VERTICES, 32).attribute(0, 0, 0, "R32_G32_B32_A32").attribute(1, 0, 16, "R32_G32_B32_A32")
        return pb

    @staticmethod
    def surface() -> Surface:
        return Surface(COLOUR, WIDTH, HEIGHT)

    def submission(self, between: Between, draws: int = DRAWS) -> Callable[[], float]:
        """Seconds of a submission of draws with something done between them."""
        pb = self.begin()
        for n in range(draws):
            between(pb, n)
            pb.draw("TRIANGLES", 3, 3 * (n % DRAWS))
        return self.timed(pb)

    def timed(self, pb: PushBuffer) -> Callable[[], float]:
        """Seconds of a submission."""
        words = pb.words
        data = words.tobytes()

        def once() -> float:
            self.gpu.memory.write(WORDS, data)
            self.gpu.log.clear()
            return clock(self._submit(len(words)))

        once()
        assert not list(self.gpu.events), [event.message for event in self.gpu.events]
        return once

    def _submit(self, count: int) -> Callable[[], None]:
        def work() -> None:
            self.gpu.submit([WORDS | count << 42])
            self.gpu.finish()

        return work

    def full_screen(self, times: int) -> Callable[[], float]:
        """Seconds of draws that cover the target."""
        pb = self.begin().stream(0, VERTICES + (1 << 20), 32)
        for _ in range(times):
            pb.draw("TRIANGLES", 3)
        return self.timed(pb)


def _nothing(pb: PushBuffer, n: int) -> None:
    """The same state for all."""


def _constants(pb: PushBuffer, n: int) -> None:
    pb.method("SET_CONSTANT_BUFFER_SELECTOR_A", 256).address("SET_CONSTANT_BUFFER_SELECTOR_B", CONSTANTS)
    pb.method("LOAD_CONSTANT_BUFFER_OFFSET", 0)
    pb.method("LOAD_CONSTANT_BUFFER", 0, *([n & 1] * 4))


def _bindings(pb: PushBuffer, n: int) -> None:
    pb.constants("vertex", 1, CONSTANTS + 256 * (n & 1), 256)


def _state(pb: PushBuffer, n: int) -> None:
    pb.method("SET_BLEND_CONST_RED", n % STATES / STATES).method("SET_BLEND", 0, n & 1)


def measure(report: Report, arguments: argparse.Namespace) -> None:
    """A thousand draws with different things between them, and more and more of them."""
    guest = Guest()
    cases = {
        "same state": _nothing, "other constants": _constants, f"one of {STATES} states": _state,
        "other bindings of constants": _bindings,
    }  # fmt: skip
    found = turns(arguments.repeat, *(guest.submission(between) for between in cases.values()))
    for name, series in zip(cases, found, strict=True):
        value, best = 1e6 * series.median / DRAWS, 1e6 * series.best / DRAWS
        report.add(name, value, "us a draw", best=best, target=TARGET, more=False)
    slow = Guest()
    slow.gpu.drawing.quick.on = False
    (series,) = turns(arguments.repeat, slow.submission(_nothing))
    value, best = 1e6 * series.median / DRAWS, 1e6 * series.best / DRAWS
    report.add("same state, by Python", value, "us a draw", best=best)
    counts = (1, 2, 4, 8)
    draws = turns(arguments.repeat, *(guest.submission(_nothing, DRAWS * n // 4) for n in counts))
    pixels = turns(arguments.repeat, *(guest.full_screen(16 * n) for n in counts))
    for what, several in (("250 draws", draws), ("16 draws of the whole target", pixels)):
        times = ", ".join(f"{1e6 * one.median:,.0f}" for one in several)
        report.add(f"{what}, 8 times as many", several[-1].median / several[0].median, "x the time", note=f"{times} us")
    area = WIDTH * HEIGHT * 16
    report.add("pixels of a plain program", area / pixels[0].median / 1e6, "Mpixel/s", best=area / pixels[0].best / 1e6)


if __name__ == "__main__":
    run("draws_switch", measure, repeat=15)
