"""A program that runs: frame by frame, with its pictures, its text and a player's input.

    with pocketgpu.run("app.3dsx") as app:
        app.press("A", frames=3)
        app.frames(60)
        app.top.image.save("top.png")
        print(app.text)

A frame is a VBlank of the console: 59.83 of them are a second of emulated time on a 3DS, 60 on a Switch. `presents`
counts the frames that the program itself has shown. Time is emulated, so every run gives the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from pocketgpu.displayed import line_of, picture_html, table_html, title_html
from pocketgpu.errors import NoPictureError, PocketGPUError, ProgramFault, UsageError
from pocketgpu.guests.input.script import KEYS, Script
from pocketgpu.guests.input.script import parse as parse_script
from pocketgpu.guests.input.script import read as read_script
from pocketgpu.guests.kernel.checkpoint import Checkpoint
from pocketgpu.guests.kernel.console import Console, Recorder
from pocketgpu.guests.kernel.history import History
from pocketgpu.guests.kernel.kernel import End
from pocketgpu.guests.kernel.program import Program
from pocketgpu.interruption import look
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.capture.formats.pgc.contents import Contents
    from pocketgpu.pictures import ShownArray

LIMIT = 600
"""Frames after which a run ends if nothing else ends it: ten seconds."""


GuestConsole: TypeAlias = Console[Any, Any, Any]
"""A console of any kind."""


class _GivenUp(Exception):
    """What is done is to be given up. error: what was raised."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(frozen=True)
class Recorded:
    """A part of a run, recorded. first: the frame in which it begins. last: the frames that there were at its end.
    before: what `frames_begun` of the console was at its begin: the number of its first frame in a whole recording."""

    contents: Contents
    first: int
    last: int
    before: int


class App:
    """A running program; make it with `pocketgpu.run`.

    start: makes a console on which the program is about to start. repeatable: whether a second run finds the same
    files. raises: whether a failure of the program is an exception.
    """

    def __init__(
        self, start: Callable[[], GuestConsole], program: Program, *, record: bool = False, repeatable: bool = True,
        raises: bool = False,
    ) -> None:  # fmt: skip
        self._start, self._repeatable, self._raises = start, repeatable, raises
        self.program = program
        self.console = start()
        self._history = History(self.console)
        self._read_at, self._read = -1, ""
        self._failed = False
        self._recorder = self.console.recorder() if record else None

    def __str__(self) -> str:
        state = f"ended: {self.end.why}" if self.end else "running"
        return f"{self.program.name}: {counted(self.frame_count, 'frame')}, {state}"

    def __repr__(self) -> str:
        return line_of(self, str(self))

    def _repr_html_(self) -> str:
        """What the screens show, and the text."""
        shown = [title_html(name) + picture_html(one._repr_png_()) for name, one in self.screens.items()]
        lines = [("text", line) for line in self.text.splitlines()]
        return title_html(str(self)) + "".join(shown) + table_html((), lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is left running."""

    # -- running ----------------------------------------------------------------------------------------------------
    def frames(self, count: int = 1) -> bool:
        """Run for so many frames; whether the program still runs.

        :raises UsageError: the number is negative.
        """
        return self._to(lambda: self.console.frame_count, count)

    def presents(self, count: int = 1, *, limit: int = LIMIT) -> bool:
        """Run until the program has shown so many further frames, for at most `limit` frames; whether it has."""
        wanted, last = self.present_count + count, self.frame_count + limit
        self.until(lambda: self.present_count >= wanted or self.frame_count >= last)
        return self.present_count >= wanted

    def until(self, condition: Callable[[], bool], *, limit: int = LIMIT) -> bool:
        """Run until a condition holds, for at most `limit` frames; whether it does. It is asked after every call and
        every frame of the program."""
        last = self.frame_count + limit
        while not condition():
            if self.frame_count >= last or not self._step():
                return condition()
        return True

    def until_text(self, text: str, *, limit: int = LIMIT) -> bool:
        """Run until the program has printed a text, on a screen or for a debugger, for at most `limit` frames; whether
        it has. Screens are read after each frame.

        :raises UsageError: the text is empty.
        """
        if not text:
            raise UsageError("there is no text to wait for")
        last = self.frame_count + limit
        while text not in self.text:
            if self.frame_count >= last or not self.frames(1):
                return text in self.text
        return True

    def _to(self, number: Callable[[], int], count: int) -> bool:
        if count < 0:
            raise UsageError(f"frames cannot go back by {-count}")
        wanted = number() + count
        while number() < wanted:
            look()
            if not self._step():
                return False
        return True

    def _step(self) -> bool:
        try:
            going: bool = self.console.kernel.step()
        except PocketGPUError:
            self._failed = True
            raise
        if not going:
            self.console.after_end()
        self._history.stepped()
        if not going and self._raises and self.end is not None and not self.end.well:
            raise ProgramFault(str(self.end))
        return going

    @property
    def end(self) -> End | None:
        """How the program ended; None while it runs."""
        end: End | None = self.console.kernel.end
        return end

    def fresh(self, *, record: bool = False) -> App:
        """The same program with the same input, before its start.

        :raises UsageError: the program may have changed its files, so a second run may find others.
        """
        if not self._repeatable:
            raise UsageError(
                "the program may write to its memory card, so a second run may go another way",
                hint="Ask for a recording when it starts: run(..., record=True).",
            )
        other = App(self._start, self.program, record=record)
        other.console.inputs = self.console.inputs
        return other

    def again(self, *, record: bool = False) -> App:
        """A second run of the same program with the same input, up to where this one is. Every run gives the same
        bytes, so what was not watched can be watched in a second one.

        :raises UsageError: as `fresh`.
        """
        other = self.fresh(record=record)
        steps = self.console.kernel.steps
        while other.console.kernel.steps < steps and other._step():
            pass
        if self.end is not None:
            other._step()  # what it does after the end
        return other

    # -- going back -------------------------------------------------------------------------------------------------
    def checkpoint(self) -> Checkpoint:
        """This moment of the run, for `restore`."""
        return Checkpoint.take(self.console)

    def restore(self, point: Checkpoint) -> None:
        """Go back, or forward again, to a moment of this run, with the input that it had then. Going on gives the same
        bytes. What the program has written to files of this computer stays; an event tells so.

        :raises UsageError: the checkpoint is of another run.
        """
        self._stop_recording()
        self._read_at = -1
        point.restore(self.console)
        self._history.forget_after(0)  # what was kept may be of a run with other input

    def back(self, frames: int = 1) -> None:
        """Go back by frames: to where the frame began that was shown then. The input stays, so going on gives the same
        pictures again, unless you press something else.

        The first time, the program runs again from its start; from then on checkpoints are kept.

        :raises UsageError: there are not so many frames.
        """
        wanted = self.frame_count - frames
        if frames < 0 or wanted < 0:
            raise UsageError(f"cannot go back by {frames} frames", hint=f"There are {self.frame_count}.")
        self._stop_recording()
        if self._history.recent is None:
            self._history.keep()
        self._go_back(wanted)
        self._history.forget_after(wanted)

    def _go_back(self, frame: int) -> None:
        """To where a frame began, with the input that there is now."""
        inputs = self.console.inputs
        self._read_at, self._failed = -1, False
        self._history.to(frame)
        self.console.inputs = inputs
        self.frames(frame - self.frame_count)

    def recorded_from(
        self, frame: int, most_bytes: int | None = None, progress: Callable[[int, int], None] = lambda done, of: None
    ) -> Recorded:
        """A recording from where a frame began until now, with memory and registers as they were then. The run goes
        back and comes here again for it, with the same input. It begins somewhat later if the GPU has work left then.

        progress: called on the way with the number of frames that have run again, and of all that have to. What it
        raises gives the recording up: the run is here again, soon if checkpoints are kept, and the error goes on.

        :raises UsageError: the frame is not over yet, the recording would have more than `most_bytes` of what was
            written to memory, or the GPU is never done from there on.
        """
        if not 0 <= frame <= self.frame_count:
            raise UsageError(f"frame {frame} is not over yet", hint=f"There are {self.frame_count}.")
        console, ended = self.console, self.end is not None or self._failed
        steps, now = console.kernel.steps, self.frame_count
        self._stop_recording()
        heard = 0

        def told() -> None:
            nonlocal heard
            done = self.frame_count - frame
            if done > heard:
                heard = done
                try:
                    progress(done, now - frame)
                except BaseException as error:
                    raise _GivenUp(error) from error

        try:
            return self._record_again(frame, steps, ended, most_bytes, told)
        except _GivenUp as given_up:
            self._go_back(now)
            while console.kernel.steps < steps and self._step():
                pass
            if ended:
                with suppress(PocketGPUError):  # the run has ended so before, too
                    self._step()
            raise given_up.error from None

    def _record_again(
        self, frame: int, steps: int, ended: bool, most_bytes: int | None, told: Callable[[], None]
    ) -> Recorded:
        """Go back to a frame, and record until the kernel has made so many steps. told: called after each."""
        console, kernel, now = self.console, self.console.kernel, self.frame_count
        self._go_back(frame)
        going = True
        while going and kernel.steps < steps and not console.settled:
            going = self._step()
            told()
        if not console.settled:
            raise UsageError(f"the GPU has work left from frame {frame} on, so no recording can begin there")
        begun, before, recorder = self.frame_count, console.frames_begun, console.recorder()
        fits = True
        try:
            with suppress(PocketGPUError):  # the run has ended so before, too
                while going and kernel.steps < steps:
                    going = self._step()
                    told()
                    if fits and most_bytes is not None and recorder.stored_bytes > most_bytes:
                        fits = False
                        recorder.stop()
                if going and ended:
                    self._step()
            if not fits and most_bytes is not None:
                hint = "Begin later."
                raise UsageError(f"the recording would be larger than {counted(most_bytes, 'byte')}", hint=hint)
            return Recorded(
                recorder.contents({"title": self.program.name, "program": self.program.name}), begun, now, before
            )
        finally:
            if fits:
                recorder.stop()

    @property
    def history(self) -> History:
        """The checkpoints that `back` has."""
        return self._history

    def _stop_recording(self) -> None:
        """A recorder follows a run from its start; after going back, a second run is recorded instead."""
        if self._recorder is not None:
            self._recorder.stop()
            self._recorder = None

    @property
    def recorder(self) -> Recorder | None:
        """Who records this run from its start; None if nobody does, or after going back."""
        return self._recorder

    def contents(self) -> Contents:
        """All that the GPU was given, as the contents of a `.pgc`; see `capture`."""
        recorder = self._recorder or self.again(record=True)._recorder
        assert recorder is not None
        return recorder.contents({"title": self.program.name, "program": self.program.name})

    def capture(self) -> Capture:
        """All frames so far as a capture, which replays without the program. A run that was not recorded from its start
        is run a second time for it.

        :raises UsageError: as `again`.
        """
        from pocketgpu.capture import Capture
        from pocketgpu.capture.formats.pgc.traces import trace_of

        return Capture(self.program.name, trace_of(self.contents(), self.program.name))

    # -- what is to be seen -----------------------------------------------------------------------------------------
    @property
    def frame_count(self) -> int:
        """VBlanks so far."""
        return self.console.frame_count

    @property
    def present_count(self) -> int:
        """Frames that the program has shown so far."""
        return self.console.present_count

    @property
    def screens(self) -> Mapping[str, ShownArray]:
        """The pictures of the screens that show something, by name. A 3DS has "top", "bottom" and, if the right eye
        has another one, "top-right"; a Switch has "screen"."""
        return self.console.screens

    def _screen(self, name: str) -> ShownArray:
        screens = self.screens
        if name not in screens:
            names = self.console.screen_names
            if name not in names:
                raise NoPictureError(f"this console has no screen '{name}'", hint=f"It has {', '.join(names)}.")
            shown = ", ".join(screens) or "none"
            raise NoPictureError(
                f"no picture on screen '{name}'", location=f"frame {self.frame_count}", hint=f"Shown: {shown}."
            )
        return screens[name]

    @property
    def screen(self) -> ShownArray:
        """The screen of a console that has one, and the first of another: "screen" of a Switch, "top" of a 3DS.
        Raises NoPictureError if it shows nothing."""
        return self._screen(self.console.screen_names[0])

    @property
    def top(self) -> ShownArray:
        """The upper screen of a 3DS (left eye). Raises NoPictureError if it shows nothing."""
        return self._screen("top")

    @property
    def bottom(self) -> ShownArray:
        """The lower screen of a 3DS. Raises NoPictureError if it shows nothing."""
        return self._screen("bottom")

    @property
    def top_right(self) -> ShownArray | None:
        """The upper screen's picture for the right eye; None if both eyes have the same."""
        return self.screens.get("top-right")

    @property
    def text(self) -> str:
        """What the program has printed for a debugger, and below it what its text consoles show after this frame."""
        if self._read_at != self.frame_count:
            shown = self.console_text.values() if self.frame_count else ()
            self._read_at, self._read = self.frame_count, "\n".join(filter(None, shown))
        printed = self.debug_text
        between = "\n" if printed and self._read and not printed.endswith("\n") else ""
        return f"{printed}{between}{self._read}"

    @property
    def debug_text(self) -> str:
        """What the program has printed for a debugger, all of it."""
        return self.console.text

    @property
    def console_text(self) -> Mapping[str, str]:
        """What the program shows on its text consoles, by screen: the characters of the pictures, "" where none is.
        Characters that cannot be told are U+FFFD."""
        return self.console.console_text(self.program)

    # -- input ------------------------------------------------------------------------------------------------------
    def press(self, keys: str, *, frames: int = 2) -> None:
        """Hold keys ("A", "UP+B") during the next frames; the program goes on when you run it.

        :raises UsageError: there is no such key, or no such number of frames.
        """
        self._hold(KEYS, keys, frames)

    def touch(self, x: int, y: int, *, frames: int = 2) -> None:
        """Touch the screen during the next frames: at pixels of the lower screen of a 3DS, of 1280x720 of a Switch.

        :raises UsageError: there is no such point, or no such number of frames.
        """
        self._hold("touch", f"touch {x},{y}", frames)

    def circle(self, x: float, y: float, *, frames: int = 2) -> None:
        """Push the circle pad of a 3DS during the next frames: -1 to 1, to the right and up.

        :raises UsageError: it does not go so far, or no such number of frames.
        """
        self._hold("circle", f"circle {x:.6f},{y:.6f}", frames)

    def stick(self, side: str, x: float, y: float, *, frames: int = 2) -> None:
        """Push the "left" or "right" stick of a Switch during the next frames: -1 to 1, to the right and up.

        :raises UsageError: it does not go so far, there is no such stick, or no such number of frames.
        """
        if side not in ("left", "right"):
            raise UsageError(f"there is no stick {side!r}", hint='There are "left" and "right".')
        self._hold(f"{side}_stick", f"{side}_stick {x:.6f},{y:.6f}", frames)

    def slider(self, position: float) -> None:
        """Put the slider of the 3D effect of a 3DS somewhere, from 0 to 1.

        :raises UsageError: it does not go there.
        """
        self._hold("slider", f"slider {position:.6f}", 1)

    def play(self, script: Script | str | os.PathLike[str]) -> None:
        """Do what a script says at its frames, which are counted from the start of the program. A path is a file, a
        string is the script itself; see `pocketgpu.guests.input.script`.

        :raises CaptureError: the file cannot be read.
        :raises UsageError: it is not a script, or its frames are over already.
        """
        if isinstance(script, str):
            script = parse_script(script, self.console.controls)
        elif not isinstance(script, Script):
            script = read_script(script, self.console.controls)
        for one in script:
            if one.last is not None and one.last < self.frame_count:
                raise UsageError(
                    f"frame {one.last} is over", location=str(one), hint=f"The next one is {self.frame_count}."
                )
        self.console.play(script)

    def _hold(self, what: str, text: str, frames: int) -> None:
        if frames < 1:
            raise UsageError(f"{what} for {frames} frames is nothing", hint="Give 1 or more.")
        first = self.frame_count
        span = f"{first}" if frames == 1 else f"{first}-{first + frames - 1}"
        self.play(f"{span}: {text}")

    def close(self) -> None:
        """Ask the program to end, as the HOME menu does."""
        self.console.close()
