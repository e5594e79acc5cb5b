"""Our side of a comparison: frames of a recording, the first ones and later ones, and where their time goes."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.maxwell.sampling.store import Textures
from twins.description import Array, Scene
from twins.ours import recording

FRAMES = 10


class Player:
    """Plays a recording once, and then gives the machine the submissions of its last frame again and again.

    first: seconds of each frame of the recording, loads included.
    """

    def __init__(self, log: ChannelLog, threads: int) -> None:
        self.driver: Any = drive(log, threads=threads)
        self.machine = self.driver.machine
        self.last = log.submissions_of(log.frame_count - 1)
        self.first: list[float] = []
        for _ in range(log.frame_count):
            start = perf_counter()
            self.driver.play_frame()
            self.first.append(perf_counter() - start)

    def frame(self) -> float:
        """Seconds of a frame: commands, clears, draws, resolve."""
        self.machine.log.clear()
        start = perf_counter()
        for number in self.last:
            self.driver.submit(number)
        self.machine.finish()
        return perf_counter() - start

    def picture(self) -> Array:
        picture = self.driver.picture(self.driver.frame_count - 1)
        assert picture is not None
        return picture[..., :3]

    def present(self) -> float:
        """Seconds to make the picture of what is shown."""
        start = perf_counter()
        self.picture()
        return perf_counter() - start


class _Textures:
    """Adds up the seconds in which textures are looked up and decoded."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            start = perf_counter()
            try:
                return function(*arguments)
            finally:
                self.seconds += perf_counter() - start

        return run


def best(measure: Callable[[], float]) -> float:
    """The best of some repetitions."""
    return min(measure() for _ in range(FRAMES))


def phases(scene: Scene, threads: int) -> dict[str, float]:
    """Seconds of the parts of a frame, each the difference between frames with and without it.

    commands: state and clears. vertices: fetch, vertex programs and culling. pixels: set-up, raster, pixel programs,
    tests and writes, without textures. textures: finding what has changed, and decoding. resolve: averaging samples.
    """
    clock, own = _Textures(), {name: getattr(Textures, name) for name in ("begin", "resolve")}
    for name, function in own.items():
        setattr(Textures, name, clock.timed(function))
    try:
        commands = best(Player(recording(scene, draws=False, resolves=False), threads).frame)
        vertices = best(Player(recording(scene, pixels=False, resolves=False), threads).frame)
        drawn = Player(recording(scene, resolves=False), threads)
        textures, pixels = float("inf"), float("inf")
        for _ in range(FRAMES):
            clock.seconds = 0.0
            pixels = min(pixels, drawn.frame())
            textures = min(textures, clock.seconds)
        whole = Player(recording(scene), threads)
        found = {
            "commands": commands, "vertices": max(vertices - commands, 0.0),
            "pixels": max(pixels - vertices - textures, 0.0), "textures": textures,
        }  # fmt: skip
        if scene.resolve is not None:
            found["resolve"] = max(best(whole.frame) - pixels, 0.0)
        return found | {"present": best(whole.present)}
    finally:
        for name, function in own.items():
            setattr(Textures, name, function)
