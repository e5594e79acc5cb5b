"""The works: what the commands of the same names do, as fields of a row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pocketgpu.errors import NoPictureError, UsageError
from pocketgpu.sweeps.model.task import What
from pocketgpu.sweeps.works.found import Found

if TYPE_CHECKING:
    from pocketgpu.capture import Capture

MOST_DIFFERENCES = 50
"""Most differences of a row."""


def render(capture: Capture, what: What, other: Path | None, found: Found) -> None:
    """Every frame's pictures, or those of `what.frames`."""
    first, last = what.frames or (0, None)
    end = capture.frame_count if last is None else min(last + 1, capture.frame_count)
    if first >= capture.frame_count:
        raise NoPictureError("the capture has no such frame", hint="Frames count from 0.")
    for frame in capture.render(frames=range(first, end), switches=what.switches):
        found.add_frame(frame)


def check(capture: Capture, what: What, other: Path | None, found: Found) -> None:
    """What works here and may not work on a console."""
    from pocketgpu.inspect.rules.checker import check as run

    report = run(capture)
    found.data["findings"] = [
        {
            "rule": one.rule.id, "severity": one.rule.severity, "message": one.message, "at": one.at,
            "count": int(one.count),
        }
        for one in report.findings
    ]  # fmt: skip
    found.data["counts"] = report.counts()


def bench(capture: Capture, what: What, other: Path | None, found: Found) -> None:
    """How long each frame takes: the best of `what.repeat` passes, after one that does not count."""
    driver = capture.driver(switches=what.switches)
    best: dict[int, float] = {}
    for number in range(what.repeat + 1):
        if number:
            driver.begin()
        for frame in driver.frames(pictures=False):
            if number == 0:
                found.add_counts(frame)
            else:
                best[frame.index] = min(best.get(frame.index, float("inf")), frame.milliseconds)
    found.milliseconds = [round(best[index], 4) for index in sorted(best)]


def info(capture: Capture, what: What, other: Path | None, found: Found) -> None:
    """What is in the capture, and which features it uses."""
    from pocketgpu.inspect.inspection import examine

    inventory = examine(capture)
    found.add_events(inventory.events)
    data = inventory.to_dict()
    found.data["counts"] = {name: int(count) for name, count in data["totals"].items()}
    found.data["features"] = sorted({f"{one['id']}: {one['text']}" for one in data["features"]})
    found.data["detail"] = {"kind": capture.trace.kind}


def doubts(capture: Capture, what: What, other: Path | None, found: Found) -> None:
    """Which doubtful choices change its pictures. counts: pixels by value."""
    from pocketgpu.inspect.doubts import doubts as replayed

    answer = replayed(capture, switches=what.switches)
    found.data["counts"] = {f"{one.choice}={one.value}": one.pixels for one in answer.partings}
    found.data["detail"] = {
        "frames": answer.frames, "tried": list(answer.choices),
        "first": {f"{one.choice}={one.value}": str(one.first) for one in answer.partings},
        "failed": [f"{choice}={value}: {message}" for (choice, value), message in answer.failed.items()],
    }  # fmt: skip


def verify(capture: Capture, what: What, other: Path | None, found: Found) -> None:
    """Each frame against the digests in the file; only a .pgc has them."""
    from pocketgpu.capture import pgc

    different: list[str] = []
    unknown = 0
    for one in pgc.check(capture, switches=what.switches):
        if one.expected is None:
            unknown += 1
        else:
            different += [f"f{one.frame.index}/{name}" for name in one.differing]
        found.add_frame(one.frame)
    if unknown and unknown == capture.frame_count:
        raise NoPictureError("the capture has no digests of its pictures", hint="'pocketgpu convert' adds them.")
    found.data["detail"] = {"different": different[:MOST_DIFFERENCES], "count": len(different), "unknown": unknown}


def diff(capture: Capture, what: What, other: Path | None, found: Found) -> None:
    """Where the capture differs from the one of the same name in another folder."""
    from pocketgpu.inspect.diff import diff as compare
    from pocketgpu.inspect.inspection import debug
    from pocketgpu.sweeps.works.opening import opened

    if other is None:
        raise UsageError("there is no capture of this name to compare with", hint="Put it into the folder of diff=.")
    second = opened(other)
    report = compare(debug(second, what.switches), debug(capture, what.switches), names=("A", "B"))
    different = [f"{one.level}: {one.text} ({one.places})" for one in report.all]
    found.data["detail"] = {
        "different": different[:MOST_DIFFERENCES], "count": len(different), "frames": report.frames,
    }  # fmt: skip
