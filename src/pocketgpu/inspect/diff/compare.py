"""Two runs compared, frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from pocketgpu.errors import UsageError
from pocketgpu.inspect.diff.pixel_search import PixelSearch, pictures_of
from pocketgpu.inspect.diff.report import Difference, Report
from pocketgpu.inspect.diff.sides import Sides
from pocketgpu.inspect.diff.structure import Structure
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.capture import Capture

MOST_PICTURES = 64
"""Most pairs of pictures that a report keeps; of further ones it has only the numbers."""


def diff(
    a: Inspection, b: Inspection, frames: range | None = None, *,
    names: tuple[str, str] = ("A", "B"), progress: Callable[[int], None] = lambda frame: None,
) -> Report:  # fmt: skip
    """The differences of two runs: of two captures, or of one with two settings.

    frames: the frames to compare (default: all that both have). progress: called before each frame.

    :raises UsageError: the runs are of different consoles, or one of them has no such frame.
    """
    same_console(a.capture, b.capture)
    report = Report(names)
    counts = (a.frame_count, b.frame_count)
    sides = sides_of(a, b)
    a, b = sides.a, sides.b
    report.notes += [sides.missing] if sides.missing else []
    if frames is None:
        frames = range(min(counts))
        if counts[0] != counts[1]:
            text, last = f"{counted(counts[0], 'frame')}, not {counts[1]}", min(counts)
            first, second = (Address(last) if count > last else None for count in counts)
            report.structure.append(Difference("events", first, second, text, {"frames": list(counts)}))
    for frame in frames:
        if frame >= min(counts):
            raise UsageError(f"the captures have {counts[0]} and {counted(counts[1], 'frame')}", location=f"f{frame}")
    structure = Structure(sides)
    found: list[Difference] = []
    for frame in frames:
        progress(frame)
        mine, others = a.events(frame), b.events(frame)
        pairs, differences = structure.frame(mine, others)
        found += differences
        report.frames += 1
        report.events += max(len(mine), len(others))
        for one in pictures_of(a, b, frame):
            if len(report.pictures) >= MOST_PICTURES:
                one = replace(one, pictures=(None, None))
            report.pictures.append(one)
        if report.pixel is None:
            suspects = {one.a for one in differences if one.a is not None}
            report.pixel = PixelSearch(sides, mine, others, pairs).first(frame, suspects)
        if report.vertex is None and (differences or report.pixel is not None):
            report.vertex, missed = sides.vertex(mine, others, pairs)
            report.notes += [missed] if missed and missed not in report.notes else []
    report.structure = found + report.structure
    return report


def same_console(a: Capture, b: Capture) -> None:
    """Check that two captures can be compared.

    :raises UsageError: they are of different consoles.
    """
    if a.console != b.console:
        raise UsageError(f"one capture is of a {a.console}, the other of a {b.console}")


def sides_of(a: Inspection, b: Inspection) -> Sides:
    """What knows most of two runs."""
    # Read here: most who can compare never do.
    from pocketgpu.inspect.diff.n3ds import N3dsSides
    from pocketgpu.inspect.diff.switch import SwitchSides
    from pocketgpu.inspect.n3ds.inspection import N3dsInspection
    from pocketgpu.inspect.switch.inspection import SwitchInspection

    if isinstance(a, N3dsInspection) and isinstance(b, N3dsInspection):
        return N3dsSides(a, b)
    if isinstance(a, SwitchInspection) and isinstance(b, SwitchInspection):
        return SwitchSides(a, b)
    return Sides(a, b)
