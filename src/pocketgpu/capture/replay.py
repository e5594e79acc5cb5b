"""Captures in the public interface: opened, replayed frame by frame."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pocketgpu.capture.driver import drive, provider
from pocketgpu.capture.driver.base import Driver, Frame
from pocketgpu.displayed import line_of, table_html, title_html
from pocketgpu.errors import NoPictureError, UsageError
from pocketgpu.events import Event
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.capture.formats.mxcap import ChannelLog
    from pocketgpu.capture.formats.n3ds_trace import N3DSTrace
    from pocketgpu.forced import ForcedWord
    from pocketgpu.maxwell.gm20b import GM20B
    from pocketgpu.pica.n3ds import N3DS


class Capture:
    """An opened capture; get one with `pocketgpu.capture.open`.

    path: as given. frame_count: complete frames. warnings: problems of the file itself (events of the replay are in
    each Frame). trace: the parsed file, with its events; its type is that of the format.
    """

    def __init__(self, path: str, trace: N3DSTrace | ChannelLog) -> None:
        self.path = path
        self.trace = trace
        self.frame_count = trace.frame_count
        self.warnings: list[Event] = list(trace.warnings)
        self.packed_bytes = 0
        """Bytes of the file at `path`, as it is stored."""
        self.digest: bytes | None = None
        """Of the bytes of all its files; None if it was not read from files."""

    @property
    def console(self) -> str:
        """The console of the recording: "3DS" or "Switch"."""
        return self.trace.console

    @property
    def has_rest(self) -> bool:
        """Whether work comes after the last frame; its address is f60 after 60 frames."""
        return self.trace.has_rest

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of all files that it was read from: a GX log has two."""
        return (self.path, *self.trace.other_files)

    @property
    def file_bytes(self) -> int:
        """Bytes of all its files, as they are stored."""
        return self.packed_bytes + sum(map(os.path.getsize, self.trace.other_files))

    @property
    def provider(self) -> type[Driver[Any]]:
        """The class of drivers that replay it, which knows what its console has."""
        return provider(self.trace)

    def render(
        self,
        frames: range | None = None,
        threads: int = 1,
        switches: Mapping[str, str] | None = None,
        evaluator: str = "llvm",
        machine: N3DS | GM20B | None = None,
        pictures: bool = True,
        forced: Sequence[ForcedWord] = (),
    ) -> Iterator[Frame]:
        """Replay from the start and yield the frames in `frames` (all if None) in ascending order.

        Frames before and between them run too, because each builds on the last; later frames do not. threads, choices,
        evaluator: as for `pocketgpu.N3DS` and `pocketgpu.GM20B`. machine: one from `self.machine`, used again instead
        of a new one; it is reset first, and the other three arguments are ignored. pictures: whether frames keep their
        pictures when the machine moves on, for which all of them are scanned out. forced: registers that hold other
        words than the capture writes (`pocketgpu.inspect.inspection.forced_words`).

        Raises NoPictureError, at once, if the capture has no frames or not all of `frames`, and UsageError if `frames`
        is no range.
        """
        wanted = wanted_frames(self, frames)
        return self.driver(threads, switches, evaluator, machine, forced).frames(wanted, pictures)

    def driver(
        self,
        threads: int = 1,
        switches: Mapping[str, str] | None = None,
        evaluator: str = "llvm",
        machine: N3DS | GM20B | None = None,
        forced: Sequence[ForcedWord] = (),
    ) -> Driver[Any]:
        """A driver for the capture, at its start; arguments as for `render`."""
        return drive(
            self.trace, threads=threads, switches=switches, evaluator=evaluator, machine=machine, forced=forced
        )

    def machine(
        self, threads: int = 1, switches: Mapping[str, str] | None = None, evaluator: str = "llvm"
    ) -> N3DS | GM20B:
        """A machine of the capture's console, with as much memory as it needs."""
        made: N3DS | GM20B = self.provider.make_machine(self.trace, threads, switches, evaluator)
        return made

    def __str__(self) -> str:
        return f"{self.path}: {self.console}, {counted(self.frame_count, 'frame')}"

    def __repr__(self) -> str:
        return line_of(self, f"{self.path!r}: {counted(self.frame_count, 'frame')}")

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [("file", name) for name in self.files]
        rows += [("console", self.console), ("frames", self.frame_count)]
        rows += [("bytes", f"{self.packed_bytes:,}")] if self.packed_bytes else []
        rows += [("warning", event.message) for event in self.warnings]
        return title_html(str(self)) + table_html((), rows)


def wanted_frames(capture: Capture, frames: range | None) -> range:
    """The numbers of `frames`, or of all, in ascending order.

    :raises NoPictureError: the capture has no frames, or not all of these.
    :raises UsageError: `frames` is no range.
    """
    if not isinstance(frames, range | None):
        raise UsageError(
            f"frames is a range, not {frames!r}", hint="range(1, 2) is frame 1; without it all frames are rendered."
        )
    if not capture.frame_count:
        raise NoPictureError(
            "the capture has no frames", location=capture.path, hint="A frame ends with a marker; there is none."
        )
    if frames is None:
        return range(capture.frame_count)
    wanted = frames if frames.step > 0 else frames[::-1]
    if wanted and (wanted[0] < 0 or wanted[-1] >= capture.frame_count):
        missing = wanted[0] if wanted[0] < 0 else wanted[-1]
        last = capture.frame_count - 1
        raise NoPictureError(
            f"the capture has no frame {missing}", location=capture.path, hint=f"It has frames 0 to {last}."
        )
    return wanted


__all__ = ["Capture", "Frame", "wanted_frames"]
