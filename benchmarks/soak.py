"""Replays many frames in one process and watches the resident size.

    python benchmarks/soak.py [CAPTURE ...] [--frames 10000]

Prints the resident size (MiB) at frame 100 and at the last one, for the captures in turn on one machine, as a long
session would. Without captures: the shipped sample. Linux only: it reads /proc.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import pocketgpu
from pocketgpu.capture.driver import drive
from pocketgpu.pica.n3ds import N3DS

SAMPLE = Path(__file__).resolve().parents[1] / "src" / "pocketgpu" / "data" / "sample.ctf.xz"


def resident() -> float:
    """Resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / (1 << 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures", nargs="*", default=[str(SAMPLE)])
    parser.add_argument("--frames", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    traces = [pocketgpu.open(path).trace for path in options.captures]
    machine = N3DS(threads=options.threads)
    done, started, early, most = 0, time.perf_counter(), 0.0, 0.0
    while done < options.frames:
        for trace in traces:
            for frame in drive(trace, machine=machine).frames():
                assert frame.screens
                done += 1
                most = max(most, resident())
                if done == 100:
                    early = resident()
            if done >= options.frames:
                break
    print(f"{done} frames in {time.perf_counter() - started:.0f} s")
    print(f"resident: {early:.1f} MiB at frame 100, {resident():.1f} MiB at frame {done}, {most:.1f} MiB at most")


if __name__ == "__main__":
    main()
