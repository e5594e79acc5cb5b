"""Every evaluator, tier and number of threads draws the same bytes: compared frame by frame on whole recordings.

    python tools/oracle.py [RECORDING ...] [--frames A-B]

A recording is anything that `pocketgpu render` reads, or a folder of .ctf.xz; without one the sample is compared.
Screens, draws, triangles, fragments, warnings and all of guest memory have to be the same. The NumPy evaluator takes
seconds to minutes for a frame. Ends with 1 if a byte differs.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

import pocketgpu  # noqa: E402
from pocketgpu.capture import Capture  # noqa: E402
from pocketgpu.capture.driver.n3ds import N3DSDriver  # noqa: E402
from pocketgpu.pica import workers  # noqa: E402

workers.WORTH = 0.0  # share every draw out, however small

WAYS: dict[str, dict[str, Any]] = {
    "llvm": {"evaluator": "llvm", "tier": "specialised", "threads": 1},
    "2 threads": {"evaluator": "llvm", "tier": "specialised", "threads": 2},
    "general": {"evaluator": "llvm", "tier": "general", "threads": 1},
    "numpy": {"evaluator": "numpy", "tier": "specialised", "threads": 1},
}


@dataclass(frozen=True)
class Outcome:
    """What one frame left behind."""

    screens: str
    counts: tuple[int, ...]
    warnings: tuple[tuple[str, int], ...]
    memory: str

    def differs_in(self, other: Outcome) -> str:
        return ", ".join(name for name in vars(self) if getattr(self, name) != getattr(other, name))


def outcomes(capture: Capture, frames: range, **how: Any) -> Iterator[Outcome]:
    """Replay one way; one outcome for each frame."""
    machine = N3DSDriver.make_machine(capture.trace, **how)
    for frame in N3DSDriver(capture.trace, machine).frames(frames):
        screens, memory = hashlib.sha256(), hashlib.sha256()
        for name, screen in sorted(frame.screens.items()):
            screens.update(name.encode() + screen.array.tobytes())
        for region, offset in machine.memory.regions:
            memory.update(machine.memory.arena[offset : offset + region.size].data)
        counts = (frame.draws, frame.triangles, frame.fragments)
        warnings = tuple((event.id, event.count) for event in frame.warnings)
        yield Outcome(screens.hexdigest(), counts, warnings, memory.hexdigest())


def compare(path: Path, frames: range | None) -> int:
    """Compare all ways on one recording, say what differs, and return how often."""
    capture = pocketgpu.open(path)
    last = capture.frame_count
    frames = range(last) if frames is None else range(min(frames.start, last), min(frames.stop, last))
    reference: list[Outcome] = []
    wrong, times = 0, []
    for way, how in WAYS.items():
        started = time.perf_counter()
        found = list(outcomes(capture, frames, **how))
        times.append(f"{way} {time.perf_counter() - started:.1f} s")
        reference = reference or found
        for index, ours, theirs in zip(frames, found, reference, strict=True):
            if ours != theirs:
                wrong += 1
                print(f"  f{index}: {way} differs from {next(iter(WAYS))}: {ours.differs_in(theirs)}")
    verdict = "DIFFERS" if wrong else "same"
    print(f"{path.name}: {len(frames)} frames, {len(WAYS)} ways, {verdict} ({', '.join(times)})", flush=True)
    return wrong


def recordings(places: list[Path]) -> Iterator[Path]:
    for place in places:
        if place.is_dir():
            yield from sorted(place.glob("*.ctf*"))
        else:
            yield place


def frame_range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--frames", type=frame_range, help="those from A to B only")
    options = parser.parse_args()
    with as_file(files("pocketgpu") / "data" / "sample.ctf.xz") as sample:
        paths = recordings(options.recordings or [sample])
        sys.exit(bool(sum(compare(path, options.frames) for path in paths)))


if __name__ == "__main__":
    main()
