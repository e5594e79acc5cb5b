"""A program that runs for the page: frames at the console's pace, a player's input, and what the page gets to see.

    run = LiveRun(lambda: pocketgpu.run("app.3dsx", record=True))
    run.hold({"keys": "A"})
    run.resume()
    while (seconds := run.advance()) is not None:
        time.sleep(seconds)
    run.contents()

It belongs to the machine's thread; others read `newest` only. The run is recorded from its start, so that a frame that
stands can be looked at without a second run.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from pocketgpu.displayed import line_of
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.guests.input.controls import Span
from pocketgpu.guests.input.script import KEYS, Statement, parse
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.capture.formats.pgc.contents import Contents
    from pocketgpu.guests import App
    from pocketgpu.pictures import ShownArray

RUNNING, STANDING, ENDED = "running", "standing", "ended"
MOST_RECORDED: Final = 1 << 30
"""Bytes of a recording at which a run stands: memory has an end."""
MOST_STEPS: Final = 600
"""Frames of one step."""
MOST_TEXT: Final = 64 << 10
"""Characters of a program's text that the page gets: the last ones."""
MOST_VALUES: Final = 400
"""Characters of the values of a control."""
_SLICE: Final = 0.02
"""Most seconds that a program runs before waiting questions are answered."""
_LATE: Final = 0.25
"""Seconds by which a run may be late and still run faster to catch up. What is more is not caught up."""
_MEASURED: Final = 60
"""Frames over which the pace is measured."""
_LEAST_TIME: Final = 1e-6
"""Seconds that these frames take at least, so that a pace can be computed."""
_LENGTH: Final = 4
"""Bytes of a length in a message."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page sees of a moment. number: grows with each. picture: grows with each change of the pixels. head: for
    JSON. pixels: red, green, blue of all screens, one screen after the other."""

    number: int
    picture: int
    head: Mapping[str, Any]
    pixels: bytes

    def message(self, known: int) -> bytes:
        """As a stream has it: two lengths in four bytes each, lowest first, the head as JSON, the pixels. known: the
        picture that the reader has; its pixels are not sent again."""
        head = json.dumps(self.head, separators=(",", ":")).encode()
        pixels = b"" if known == self.picture else self.pixels
        lengths = (len(part).to_bytes(_LENGTH, "little") for part in (head, pixels))
        return b"".join((*lengths, head, pixels))


class LiveRun:
    """A program that runs or stands.

    :param start: starts the program, with a recording. It is called again for a restart.
    :param choices: named choices and their values, for looking at frames.
    """

    def __init__(self, start: Callable[[], App], choices: Mapping[str, str] | None = None) -> None:
        self._start, self.choices = start, dict(choices or {})
        self.followers: list[Callable[[], None]] = []
        """Called whenever there is something new to see, on the machine's thread."""
        self._number = self._picture = 0
        """Of the newest `Shown`."""
        self._pixels = b""
        self._apps = 0
        """How often the program was started."""
        self.recordings = 0
        """How many recordings `capture` has made."""
        self.restart()

    def __repr__(self) -> str:
        return line_of(self, f"{self.app}, {self.state}")

    # -- the program ------------------------------------------------------------------------------------------------
    def restart(self) -> None:
        """Start the program. It stands before its first frame."""
        self._use(self._start())
        self.state, self.note = STANDING, ""
        self._held: dict[str, tuple[float | str, ...]] = {}
        """What the player holds, by control."""
        self._lasting: dict[str, tuple[float | str, ...]] = {}
        """The values that controls which keep theirs were given last."""
        self._begun = False
        """Whether a part of the next frame has run. Then it has its input already."""
        self._earlier: Contents | None = None
        """After going back: the recording from before that, until the program runs again."""
        self._earlier_moment = (0, 0)
        """The `_moment` at which that recording ends."""
        self._looked = (0, 0)
        """The `_moment` at which the last recording of `capture` ends."""
        self._times: deque[float] = deque(maxlen=_MEASURED)
        """When the last frames were over."""
        self._due = 0.0
        """When the next frame has to be over."""
        self._publish()

    def _use(self, app: App) -> None:
        self.app = app
        self._apps += 1
        with suppress(PocketGPUError):  # a program that cannot go back runs all the same
            app.history.keep()

    @property
    def frame(self) -> int:
        """Frames so far."""
        return self.app.frame_count

    @property
    def _moment(self) -> tuple[int, int]:
        """How far the program is: the number of its start, and the steps of its kernel."""
        return self._apps, self.app.console.kernel.steps + 1

    @property
    def at(self) -> str:
        """The address of the frame that is shown, in a recording of the run."""
        return f"f{max(0, self.app.console.recorded_frame)}"

    @property
    def fps(self) -> float:
        """Frames in a second, over the last ones; 0 while the program stands."""
        if self.state != RUNNING or len(self._times) < 2:
            return 0.0
        return (len(self._times) - 1) / max(self._times[-1] - self._times[0], _LEAST_TIME)

    @property
    def text(self) -> str:
        """The last of what the program has printed."""
        return self.app.text[-MOST_TEXT:]

    # -- running ----------------------------------------------------------------------------------------------------
    def resume(self) -> None:
        """Run, at the console's pace.

        :raises UsageError: the program has ended, or its recording is full.
        """
        self._check_goes_on()
        if self.state != RUNNING:
            self.state, self.note, self._due = RUNNING, "", perf_counter()
            self._times.clear()
            self._publish()

    def stand(self) -> None:
        """Stand at the end of a frame."""
        if self.state == RUNNING:
            self.state = STANDING
            if self._begun:
                self._run_frame()
            self._publish()

    def step(self, frames: int = 1) -> None:
        """Run some frames, and stand.

        :raises UsageError: as `resume`, or so many are not run at once.
        """
        self._check_goes_on()
        if not 1 <= frames <= MOST_STEPS:
            raise UsageError(f"a step has 1 to {MOST_STEPS} frames, not {frames}", location="frames")
        self.stand()
        for _ in range(frames):
            if self.state != STANDING or not self._run_frame():
                break
        self._publish()

    def advance(self) -> float | None:
        """Run a part of the next frame, if it is time for it. It returns after how many seconds it has to be called
        again; None: the program stands."""
        if self.state != RUNNING:
            return None
        now = perf_counter()
        if now < self._due:
            return self._due - now
        if self._run_frame(now + _SLICE):
            now = perf_counter()
            self._due = max(self._due + self.app.console.frame_seconds, now - _LATE)
            self._times.append(now)
            self._publish()
        elif self.state == ENDED:
            self._publish()
        return max(0.0, self._due - now) if self.state == RUNNING else None

    def _check_goes_on(self) -> None:
        if self.state == ENDED:
            raise UsageError("the program has ended", hint="Restart it, or go back.")
        if self._is_full:
            raise UsageError(self._full, hint="Restart the program.")

    @property
    def _is_full(self) -> bool:
        recorder = self.app.recorder
        return recorder is not None and recorder.stored_bytes >= MOST_RECORDED

    @property
    def _full(self) -> str:
        return f"the recording is full: it has {MOST_RECORDED >> 20} MiB"

    def _run_frame(self, deadline: float | None = None) -> bool:
        """Run the next frame to its end, or until the time `deadline`; whether it is over."""
        if not self._begun:
            self._earlier = None
            self._play()
            self._begun, self._wanted = True, self.frame + 1
        app, wanted = self.app, self._wanted
        try:
            app.until(lambda: app.frame_count >= wanted or (deadline is not None and perf_counter() > deadline))
        except PocketGPUError as error:  # what the GPU cannot do ends the run, as a fault does
            self.state, self.note = ENDED, str(error)
        if app.end is not None:
            self.state, self.note = ENDED, str(app.end)
        over = app.frame_count >= wanted
        self._begun = not over and self.state != ENDED
        if over and self._is_full and self.state != ENDED:
            self.state, self.note = STANDING, self._full
        return over

    # -- input ------------------------------------------------------------------------------------------------------
    def hold(self, held: Mapping[str, str]) -> None:
        """What the player holds from the next frame on; what is not named is let go. held: values by control, as
        scripts write them; those of "keys" are joined by +.

        :raises UsageError: there is no such control, or it does not go so far.
        """
        controls, found = self.app.console.controls, {}
        known = {KEYS: True, **{one.name: one.span is not Span.ONCE for one in controls.others}}
        for name, values in held.items():
            if not known.get(name):
                names = ", ".join(name for name, is_held in known.items() if is_held)
                raise UsageError(f"no control called '{name}' can be held", location=name, hint=f"There are: {names}.")
            if values:
                found[name] = self._values(name, values)
        self._held = found

    def _values(self, name: str, values: str) -> tuple[float | str, ...]:
        """The values of a control, checked as those of a script are."""
        if len(values) > MOST_VALUES or "\n" in values:
            raise UsageError(f"a value of {name} is one line of at most {MOST_VALUES} characters", location=name)
        what = values if name == KEYS else f"{name} {values}"
        (one,) = parse(f"0: {what}", self.app.console.controls, name) or (None,)
        if one is None or one.control != name:
            raise UsageError(f"{values!r} is no value of {name}", location=name)
        return one.values

    def do(self, what: str, text: str | None = None) -> None:
        """Something that happens once, in the next frame: a button of the console, or a text for a program that asks.

        :raises UsageError: there is no such thing.
        """
        controls = self.app.console.controls
        control = controls.find(what)
        if control is None or control.span is not Span.ONCE or control.text != (text is not None):
            known = ", ".join(one.name for one in controls.others if one.span is Span.ONCE)
            raise UsageError(f"no control called '{what}' acts once", location="what", hint=f"There are: {known}.")
        # A frame that has begun has its input already.
        frame = self.frame + self._begun
        self.app.console.play([Statement(frame, frame, what, () if text is None else (text[:MOST_VALUES],))])

    def _play(self) -> None:
        """Give what is held to the program, for the next frame."""
        controls, frame, statements = self.app.console.controls, self.frame, []
        for name, values in self._held.items():
            control = controls.find(name)
            if control is not None and control.span is Span.LASTING:
                if self._lasting.get(name) == values:
                    continue
                self._lasting[name] = values
            statements.append(Statement(frame, frame, name, values))
        if statements:
            self.app.console.play(statements)

    # -- going back -------------------------------------------------------------------------------------------------
    def back(self, frames: int = 1) -> None:
        """Stand some frames earlier. What the player did after that is forgotten.

        :raises UsageError: there are not so many, or this program cannot go back.
        """
        self.stand()
        wanted = self.frame - frames
        if frames < 1 or wanted < 0:
            raise UsageError(f"cannot go back by {frames} frames", location="frames", hint=f"There are {self.frame}.")
        earlier = self._earlier
        if earlier is None and self.app.recorder is not None:
            earlier, self._earlier_moment = self.app.contents(), self._moment
        self.app.back(frames)
        console = self.app.console
        left = tuple(one for one in console.inputs.statements if one.first < wanted)
        console.inputs = replace(console.inputs, statements=left, closes_at=None)
        self._lasting.clear()
        self.state, self.note, self._begun, self._earlier = STANDING, "", False, earlier
        self._publish()

    # -- what it was given ------------------------------------------------------------------------------------------
    def contents(self) -> Contents:
        """The recording of the run so far. If the run went back and on, it is run a second time for it."""
        if self._earlier is not None:
            shown = self.app.console.recorded_frame + 1
            return replace(self._earlier, frames=self._earlier.frames[:shown], tail=())
        if self.app.recorder is None:
            self._use(self.app.again(record=True))
        return self.app.contents()

    def capture(self) -> Capture | None:
        """A recording with the frame that is shown, to look at it; None if the last recording has it."""
        from pocketgpu.capture import Capture
        from pocketgpu.capture.formats.pgc.traces import trace_of

        if self._looked == (self._moment if self._earlier is None else self._earlier_moment):
            return None
        contents = self._earlier or self.contents()
        self._looked = self._moment if self._earlier is None else self._earlier_moment
        self.recordings += 1
        self._publish()
        name = self.app.program.name
        return Capture(name, trace_of(contents, name))

    # -- what is to be seen -----------------------------------------------------------------------------------------
    def _screens(self) -> dict[str, ShownArray]:
        """The pictures of the console's displays."""
        sizes = self.app.console.screen_sizes
        return {name: one for name, one in self.app.screens.items() if name in sizes}

    def status(self, screens: Mapping[str, ShownArray] | None = None) -> dict[str, Any]:
        """State and frame, and what is shown. screens: the pictures, if they are at hand."""
        app, shown = self.app, self._screens() if screens is None else screens
        return {
            "state": self.state, "frame": self.frame, "presents": app.present_count, "fps": round(self.fps, 1),
            "note": self.note, "at": self.at, "recording": self.recordings,
            "screens": [
                {"name": name, "width": one.width, "height": one.height} for name, one in shown.items()
            ],
        }  # fmt: skip

    def controls(self) -> dict[str, Any]:
        """What a player finds, for the page."""
        console = self.app.console
        controls = console.controls
        return {
            "keys": controls.keys,
            "keyboard": [{"code": code, "does": does} for code, does in controls.keyboard],
            "gamepad": controls.gamepad,
            "sticks": controls.sticks,
            "others": [
                {
                    "name": one.name, "span": one.span.value, "text": one.text,
                    "values": [{"name": v.name, "low": v.low, "high": v.high, "whole": v.whole} for v in one.values],
                }
                for one in controls.others
            ],
            "displays": [
                {"name": name, "width": width, "height": height, "touched": name == console.touch_screen}
                for name, (width, height) in console.screen_sizes.items()
            ],
            "rate": round(1 / console.frame_seconds, 2),
        }  # fmt: skip

    def _publish(self) -> None:
        """Make this moment the newest."""
        screens = self._screens()
        pixels = b"".join(one.array.tobytes() for one in screens.values())
        if pixels != self._pixels:
            self._pixels = pixels
            self._picture += 1
        self._number += 1
        self.newest = Shown(self._number, self._picture, self.status(screens), self._pixels)
        for told in tuple(self.followers):
            told()


__all__ = ["ENDED", "MOST_RECORDED", "MOST_STEPS", "RUNNING", "STANDING", "LiveRun", "Shown"]
