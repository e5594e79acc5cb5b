"""Every evaluator, tier and number of threads leaves the same bytes: compared frame by frame on whole recordings.

    python tools/oracle.py [RECORDING ...] [--frames A-B] [--numpy one|all|none]

A recording is anything of either console that `pocketgpu render` reads, or a folder of recordings. Without one, both
samples are compared, and all that POCKETGPU_RECORDINGS has. Three ways run as machine code: specialised, general, and
specialised on two threads that share all work, however small. NumPy takes seconds to minutes for a frame: it runs up to
the first frame that draws (--numpy one), and is left out for pictures of a Switch above 320x180.

Pictures, counts, warnings and all of guest memory must be the same after each frame. Ends with 1 if any differ.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from support import recordings  # noqa: E402

import pocketgpu  # noqa: E402
from pocketgpu import workers  # noqa: E402
from pocketgpu.maxwell.graphics.draw import drawing  # noqa: E402

MIB = 1 << 20
LARGEST = 320 * 180
"""Pixels of the largest picture of a Switch that NumPy makes."""
ENDINGS = ("*.ctf", "*.ctf.xz", "*.gx.json", "*.gx.json.xz", "*.mxcap.zip", "*.pgc")

# Share every draw out, however small.
workers.WORTH = 0.0
drawing.SHARE_VERTICES, drawing.SHARE_AREA = 1, 0


@dataclass(frozen=True)
class Way:
    """One way to run a recording."""

    name: str
    evaluator: str = "llvm"
    tier: str = "specialised"
    threads: int = 1


COMPILED = (Way("specialised"), Way("general", tier="general"), Way("2 threads", threads=2))
NUMPY = Way("numpy", evaluator="numpy")


@dataclass(frozen=True)
class Outcome:
    """What one frame left; drawn: whether it drew anything, pixels: of its largest picture."""

    pictures: str
    counts: tuple[tuple[str, int], ...]
    warnings: tuple[tuple[str, int], ...]
    memory: str
    drawn: bool
    pixels: int

    def differs_in(self, other: Outcome) -> str:
        return ", ".join(name for name in vars(self) if getattr(self, name) != getattr(other, name))


def replayed(capture: pocketgpu.Capture, way: Way, frames: range) -> Iterator[pocketgpu.Frame]:
    """Frames of a capture, run one way."""
    if capture.console == "3DS":
        memory = (256 if capture.trace.needs_new_model else 128) * MIB
        gpu = pocketgpu.N3DS(memory, way.threads, way.evaluator, tier=way.tier)
        return capture.render(frames, machine=gpu)
    machine = capture.machine(way.threads, evaluator=way.evaluator)
    run = capture.render(frames, machine=machine)  # which resets the machine
    machine.drawing.tier = way.tier
    machine.grids.tier = {"general": "interpreter"}.get(way.tier, way.tier)
    return run


def bytes_of(machine: Any) -> Iterator[bytes | memoryview]:
    """All of guest memory: the regions of a 3DS, what is mapped on a Switch."""
    memory = machine.memory
    if isinstance(machine, pocketgpu.N3DS):
        for region, _ in memory.regions:
            yield memory.view(region.base, region.size).data
    else:
        for mapping in memory.mappings:
            yield memory.read(mapping.address, mapping.size)


def outcomes(capture: pocketgpu.Capture, way: Way, frames: range) -> Iterator[Outcome]:
    """Replay one way; one outcome for each frame."""
    for frame in replayed(capture, way, frames):
        pictures, memory = hashlib.sha256(), hashlib.sha256()
        for name, screen in sorted(frame.screens.items()):
            pictures.update(name.encode() + screen.array.tobytes())
        for data in bytes_of(frame.machine):
            memory.update(data)
        pixels = max((screen.array.shape[0] * screen.array.shape[1] for screen in frame.screens.values()), default=0)
        yield Outcome(
            pictures.hexdigest(), tuple(sorted(frame.counts.items())),
            tuple((event.id, event.count) for event in frame.warnings), memory.hexdigest(), frame.draws > 0, pixels,
        )  # fmt: skip


def for_numpy(capture: pocketgpu.Capture, reference: list[Outcome], frames: range, how: str) -> range:
    """The frames that NumPy runs as well."""
    large = capture.console == "Switch" and max((one.pixels for one in reference), default=0) > LARGEST
    if how == "none" or (how == "one" and large):
        return range(0)
    if how == "all":
        return frames
    first = next((n for n, one in enumerate(reference) if one.drawn), 0)
    return frames[: first + 1]


def compare(path: Path, frames: range | None, numpy: str) -> int:
    """Compare all ways on one recording, print what differs, and return how often."""
    capture = pocketgpu.open(path)
    last = capture.frame_count
    frames = range(last) if frames is None else range(min(frames.start, last), min(frames.stop, last))
    reference: dict[int, Outcome] = {}
    wrong, times = 0, []
    for way in (*COMPILED, NUMPY):
        wanted = for_numpy(capture, list(reference.values()), frames, numpy) if way is NUMPY else frames
        if not wanted:
            continue
        started = time.perf_counter()
        found = dict(zip(wanted, outcomes(capture, way, wanted), strict=True))
        times.append(f"{way.name} {time.perf_counter() - started:.1f} s")
        reference = reference or found
        for index, ours in found.items():
            if ours != reference[index]:
                wrong += 1
                print(f"  f{index}: {way.name} differs from {COMPILED[0].name}: {ours.differs_in(reference[index])}")
    verdict = "DIFFERS" if wrong else "same"
    print(f"{path.name}: {len(frames)} frames, {len(times)} ways, {verdict} ({', '.join(times)})", flush=True)
    return wrong


def found_in(places: list[Path]) -> Iterator[Path]:
    """Recordings by name, and those of folders."""
    for place in places:
        yield from sorted(path for ending in ENDINGS for path in place.glob(ending)) if place.is_dir() else [place]


def everything() -> list[Path]:
    """The samples, and what POCKETGPU_RECORDINGS has."""
    data = Path(str(files("pocketgpu"))) / "data"
    return [data / "sample.ctf.xz", data / "sample_switch.mxcap.zip", recordings.n3ds(), recordings.switch()]


def frame_range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--frames", type=frame_range, help="those from A to B only")
    parser.add_argument("--numpy", choices=["one", "all", "none"], default="one", help="which frames NumPy runs")
    options = parser.parse_args()
    places = options.recordings or [place for place in everything() if place.exists()]

    sys.exit(bool(sum(compare(path, options.frames, options.numpy) for path in found_in(places))))


if __name__ == "__main__":
    main()
