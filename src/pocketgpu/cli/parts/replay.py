"""What all replaying commands do: open the capture, replay its frames, write pictures.

It uses only public Python calls, as a user's program would.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from pocketgpu.cli.parts.beside import Beside
from pocketgpu.cli.parts.options import FrameSpan
from pocketgpu.cli.parts.terminal import Progress, clear_progress
from pocketgpu.errors import CaptureError, NoPictureError, UsageError
from pocketgpu.events import Event

if TYPE_CHECKING:
    from pathlib import Path

    from pocketgpu.capture import Capture, Frame
    from pocketgpu.cli.parts.outcome import Outcome


def open_capture(path: str, about: str | int | FrameSpan | None = None) -> Capture:
    """Open a capture, or run a program and record it. A missing or unreadable file is a CaptureError, like a damaged
    one.

    about: the place that is asked about, so that a program runs until there: a frame, frames, or an address.
    """
    from pocketgpu import capture
    from pocketgpu.capture.formats.first_bytes import is_program

    try:
        if is_program(path):
            from pocketgpu.guests import recordings

            return recordings.opened(path, _frames(about))
        return capture.open(path)
    except OSError as error:
        raise CaptureError(
            f"cannot read the capture: {error.strerror or error}",
            file=path,
            hint="Check the path and its permissions.",
        ) from error


def _frames(about: str | int | FrameSpan | None) -> int | None:
    """How many frames a place needs; None if it does not say."""
    if isinstance(about, FrameSpan):
        about = about.last
    elif isinstance(about, str):
        found = re.match(r"(?:.*#)?f(\d{1,6})", about)
        about = int(found[1]) if found else None
    return None if about is None else about + 1


def frames_of(capture: Capture, span: FrameSpan | None, outcome: Outcome | None = None) -> range:
    """The frames of the capture that `span` names (None: all). An end after the last frame is reduced to that, and
    `outcome` gets a warning.

    Raises NoPictureError if no frame is left.
    """
    count = capture.frame_count
    if count <= 0:
        raise NoPictureError(
            "the capture holds no frame: nothing marks the end of one",
            location=str(capture.path),
            hint="Record until at least one picture was shown.",
        )
    if span is None:
        return range(count)
    if span.first >= count:
        raise NoPictureError(
            f"there is no frame {span}: the capture has {_plural(count, 'frame')}, f0 to f{count - 1}",
            location=str(capture.path),
            hint="Frames count from 0.",
        )
    if span.last is not None and span.last >= count and outcome is not None:
        message = f"frames {span} were asked for; the last one is f{count - 1}"
        outcome.add_events([Event("warning", "capture.no-more-frames", message, at=f"f{count - 1}")])
    return range(span.first, count if span.last is None else min(span.last + 1, count))


def replay(
    capture: Capture, frames: range, threads: int, choices: Mapping[str, str], forced: Sequence[str] = ()
) -> Iterator[Frame]:
    """Replay from the start of the capture and yield the requested frames, with progress on a terminal. forced: as in
    `pocketgpu.debug`."""
    more: dict[str, Any] = {}
    if forced:
        from pocketgpu.inspect.inspection import forced_words

        more["forced"] = forced_words(capture, forced, choices)
    progress = Progress()
    try:
        progress.show("preparing")
        played = capture.render(frames=frames, threads=threads, switches=dict(choices), **more)
        for done, frame in enumerate(played, 1):
            yield frame
            progress.show(f"frame {done} of {len(frames)}")
    finally:
        clear_progress()


def no_picture_hint(capture: Capture) -> tuple[str, str]:
    """Message and hint for the case that no frame shows anything."""
    return f"nothing is shown: {capture.provider.nothing_shown}", "Read the memory itself with 'pocketgpu dump'."


def make_directory(path: str) -> Path:
    """Create the folder for the pictures, with its parents."""
    from pathlib import Path  # which loads readers of web addresses; a start that needs none calls `make_folder`

    make_folder(path)
    return Path(path)


def make_folder(path: str) -> None:
    """Create a folder with its parents."""
    try:
        os.makedirs(path, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _cannot_write("cannot create the folder", path, error) from error


def write_file(path: str | Path, data: bytes, option: str = "--out") -> None:
    """Write a file atomically: an interrupted run leaves no partial picture under the final name. A device or a pipe
    of that name is written to, not replaced.

    option: the option that names the file, for the hint of the UsageError.
    """
    folder, name = os.path.split(path)
    partial = os.path.join(folder, f".{name}.{os.getpid()}.part")
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            _write(path, data)
            return
        try:
            _write(partial, data)
            os.replace(partial, path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(partial)
            raise
    except (OSError, ValueError) as error:
        raise _cannot_write("cannot write the file", str(path), error, option) from error


def _write(path: str | Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def describe_frame(frame: Frame) -> dict[str, Any]:
    """The numbers of a frame as --json prints them; `screens` is empty."""
    return {
        "index": int(frame.index),
        "screens": {},
        **{name: int(count) for name, count in frame.counts.items()},
        "milliseconds": round(float(frame.milliseconds), 4),
    }


def median(times: Sequence[float]) -> float:
    """The one in the middle. Python's `statistics` takes longer to import than a short run."""
    ordered = sorted(times)
    return (ordered[len(ordered) // 2] + ordered[(len(ordered) - 1) // 2]) / 2


class Shown(Protocol):
    """A picture with a name: a screen, or several composed."""

    @property
    def array(self) -> Any: ...
    @property
    def image(self) -> Any: ...


def write_screens(
    index: int, screens: Mapping[str, Shown], directory: str | Path | None, digests: bool
) -> dict[str, dict[str, Any]]:
    """Write every screen of frame `index` as `f<index>.<screen>.png`; without a directory only describe them.

    Returns for each screen the file, the size in pixels and, with `digests`, a SHA-256 of the pixels, not of the PNG
    file: the red, green and blue byte of each pixel, row after row from the top left of the upright picture.
    """
    written: dict[str, dict[str, Any]] = {}
    files = _png_files(screens) if directory is not None else {}
    for name, screen in screens.items():
        entry = written[str(name)] = {}
        if directory is not None:
            path = entry["file"] = os.path.join(directory, f"f{index}.{name}.png")
            write_file(path, files[name]())
        height, width = screen.array.shape[:2]
        entry |= {"width": int(width), "height": int(height)}
        if digests:
            import hashlib  # it loads OpenSSL, which takes longer than a small picture

            entry["sha256"] = hashlib.sha256(screen.array.tobytes()).hexdigest()
    return written


def _png_files(screens: Mapping[str, Shown]) -> dict[str, Callable[[], bytes]]:
    """What gives the PNG file of each screen: several are packed at once."""
    from pocketgpu.pictures import to_png

    if len(screens) == 1:
        return {name: partial(to_png, screen.array) for name, screen in screens.items()}
    return {name: Beside(partial(to_png, screen.array)).result for name, screen in screens.items()}


def _cannot_write(what: str, path: str, error: OSError | ValueError, option: str = "--out") -> UsageError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return UsageError(f"{what}: {reason}", location=path, hint=f"Choose another place with {option}.")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
