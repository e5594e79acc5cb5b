"""Verifying captures: the pictures of a replay against the digests in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc.contents import Contents, FrameContents, digest
from pocketgpu.capture.formats.pgc.traces import SelfTesting
from pocketgpu.displayed import line_of
from pocketgpu.errors import CaptureError
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.capture.replay import Capture, Frame


@dataclass(frozen=True, slots=True)
class FrameCheck:
    """One frame against its file: digests (hex) by name of the screen. `expected` is None if the file has none."""

    frame: Frame
    expected: Mapping[str, str] | None
    found: Mapping[str, str]

    def __repr__(self) -> str:
        result = "the same" if self.same else "not known" if self.expected is None else "different"
        return line_of(self, f"frame {self.frame.index}: {result}")

    @property
    def same(self) -> bool:
        """Whether it shows what it must; False too if that is not known."""
        return self.expected is not None and dict(self.expected) == dict(self.found)

    @property
    def differing(self) -> list[str]:
        """Names of screens whose pictures differ."""
        expected = self.expected or {}
        names = dict.fromkeys([*expected, *self.found])
        return [name for name in names if expected.get(name) != self.found.get(name)]


def pictures_of(frame: Frame, console: str, size: int) -> dict[int, bytes]:
    """Digests of a frame's pictures, by number of the screen."""
    names = F.SCREENS[console]
    return {names.index(name): digest(screen.array.tobytes(), size) for name, screen in frame.screens.items()}


def with_pictures(
    contents: Contents, capture: Capture, *, threads: int = 1, switches: Mapping[str, str] | None = None
) -> Contents:
    """The same contents with the digests of the pictures from a replay of `capture`, which has the same frames."""
    frames = [
        FrameContents(part.events, pictures_of(frame, contents.console, contents.digest_size))
        for part, frame in zip(contents.frames, _render(capture, threads, switches), strict=True)
    ]
    return replace(contents, frames=frames, coverage=contents.coverage | F.PICTURES_COVERED)


def _render(capture: Capture, threads: int, choices: Mapping[str, str] | None) -> Iterator[Frame]:
    if not capture.frame_count:
        return iter(())
    return capture.render(threads=threads, switches=choices, pictures=False)


def check(capture: Capture, *, threads: int = 1, switches: Mapping[str, str] | None = None) -> Iterator[FrameCheck]:
    """Replay a `.pgc` and compare each frame with the digests inside.

    Raises CaptureError, at once, for a capture of another kind: only `.pgc` files have expected pictures.
    """
    trace = capture.trace
    if not isinstance(trace, SelfTesting):
        hint = "'pocketgpu convert' makes a .pgc of it, with what it shows now."
        raise CaptureError("the capture has no digests of what it must show", file=capture.path, hint=hint)
    return _check(capture, trace, threads, switches)


def _check(
    capture: Capture, trace: SelfTesting, threads: int, choices: Mapping[str, str] | None
) -> Iterator[FrameCheck]:
    names, size = F.SCREENS[capture.console], trace.contents.digest_size
    for frame in _render(capture, threads, choices):
        found = {names[n]: value.hex() for n, value in pictures_of(frame, capture.console, size).items()}
        yield FrameCheck(frame, trace.expected[frame.index], found)
