"""A program that runs for the page: frames at the console's pace, a player's input, and what the page gets to see.

    run = LiveRun(lambda: pocketgpu.run("app.3dsx"))
    run.hold({"keys": "A"})
    run.resume()
    while (seconds := run.advance()) is not None:
        time.sleep(seconds)
    run.capture()

It belongs to the machine's thread; others read `newest` and set `ready` of their follower only. A program that runs is
not recorded, which would take most of the time. It keeps checkpoints of late instead. When it stands, it goes back by
some frames and comes again with a recorder, so a frame can be looked at after hours as after a second.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from pocketgpu.displayed import line_of
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.guests.input.controls import Span
from pocketgpu.guests.input.script import KEYS, Statement, parse
from pocketgpu.view.live.advice import advice
from pocketgpu.view.live.shown import Follower, Shown

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.capture.formats.pgc.contents import Contents
    from pocketgpu.guests import App
    from pocketgpu.guests.app import Recorded
    from pocketgpu.pictures import ShownArray

RUNNING, STANDING, ENDED = "running", "standing", "ended"
MOST_RECORDED: Final = 1 << 30
"""Bytes that the processor has written, which one recording has at most."""
MOST_KEPT: Final = 256 << 20
"""Bytes of the checkpoints of late."""
LOOKED_AT: Final = 12
"""Frames of the recording of a program that stands, or more if the shown picture is older."""
_LOOKING: Final = 0.25
"""Seconds that these frames took at most; slow programs have fewer, but two."""
_LEAST_LOOKED_AT: Final = 2
_AHEAD: Final = 2
"""Frames before a picture is shown, in which it was drawn."""
_MOST_CHANGES: Final = 4096
"""Frames that showed a new picture, which are remembered."""
_KEPT_VBLANKS: Final = 64
"""Of which the console keeps what they did."""
_MOST_EVENTS: Final = 50
"""Different events that the page gets: the last ones."""
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


class LiveRun:
    """A program that runs or stands.

    :param start: starts the program, without a recording. It is called again for a restart.
    :param choices: named choices and their values, for looking at frames.
    """

    def __init__(self, start: Callable[[], App], choices: Mapping[str, str] | None = None) -> None:
        self._start, self.choices = start, dict(choices or {})
        self.followers: list[Follower] = []
        """Told whenever there is something new to see, on the machine's thread."""
        self._number = 0
        """Of the newest `Shown`."""
        self.newest: Shown | None = None
        """What there is to see."""
        self.recordings = 0
        """How many recordings `capture` has made."""
        self.restart()

    def __repr__(self) -> str:
        return line_of(self, f"{self.app}, {self.state}")

    # -- the program ------------------------------------------------------------------------------------------------
    def restart(self) -> None:
        """Start the program. It stands before its first frame."""
        self._use(self._start())
        self.state, self.note, self.advice = STANDING, "", ""
        self.marked: int | None = None
        """The frame from which on the player wants a recording."""
        self.events: dict[str, None] = {}
        """What the machine and the kernel had to tell, each once: the last ones."""
        self._held: dict[str, tuple[float | str, ...]] = {}
        """What the player holds, by control."""
        self._lasting: dict[str, tuple[float | str, ...]] = {}
        """The values that controls which keep theirs were given last."""
        self._begun = False
        """Whether a part of the next frame has run. Then it has its input already."""
        self._recorded: Recorded | None = None
        """The recording that `capture` has made last; None after the program has gone on."""
        self._changes: deque[int] = deque(maxlen=_MOST_CHANGES)
        """Frames that showed something new."""
        self._seconds: deque[float] = deque(maxlen=_MEASURED)
        """How long the last frames took."""
        self._taken = 0.0
        """Seconds of the frame that has begun."""
        self._times: deque[float] = deque(maxlen=_MEASURED)
        """When the last frames were over."""
        self._due = 0.0
        """When the next frame has to be over."""
        self._publish()

    def _use(self, app: App) -> None:
        self.app = app
        app.console.most_vblanks = _KEPT_VBLANKS
        with suppress(PocketGPUError):  # a program that cannot go back runs all the same
            app.history.keep_recent(MOST_KEPT)

    @property
    def frame(self) -> int:
        """Frames so far."""
        return self.app.frame_count

    @property
    def at(self) -> str:
        """The address of the frame that is shown, in the recording of `capture`."""
        before = self._recorded.before if self._recorded is not None else 0
        return f"f{max(0, self.app.console.recorded_frame - before)}"

    @property
    def reach(self) -> int | None:
        """The first frame to which it can go back soon; None: it cannot go back."""
        recent = self.app.history.recent
        return None if recent is None else recent.first

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

        :raises UsageError: the program has ended.
        """
        self._check_goes_on()
        if self.state != RUNNING:
            self.state, self.note, self.advice, self._due = RUNNING, "", "", perf_counter()
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

    def _run_frame(self, deadline: float | None = None) -> bool:
        """Run the next frame to its end, or until the time `deadline`; whether it is over."""
        if not self._begun:
            self._recorded = None
            self._play()
            self._begun, self._wanted, self._taken = True, self.frame + 1, 0.0
        app, wanted, begun = self.app, self._wanted, perf_counter()
        shown = app.console.recorded_frame
        try:
            app.until(lambda: app.frame_count >= wanted or (deadline is not None and perf_counter() > deadline))
        except PocketGPUError as error:  # what the GPU cannot do ends the run, as a fault does
            self.state, self.note = ENDED, str(error)
        if app.end is not None:
            self.state, self.note = ENDED, str(app.end)
        over = app.frame_count >= wanted
        self._begun = not over and self.state != ENDED
        self._taken += perf_counter() - begun
        if app.console.recorded_frame != shown:
            self._changes.append(self.frame)
        if over:
            self._seconds.append(self._taken)
        self._hear()
        return over

    def _hear(self) -> None:
        """Keep what the machine and the kernel tell, and say what may help."""
        for event in self.app.console.events:
            self.events.pop(str(event), None)
            self.events[str(event)] = None
        while len(self.events) > _MOST_EVENTS:
            del self.events[next(iter(self.events))]
        idle = self.frame - self._changes[-1] if self._changes else self.frame
        self.advice = advice(self.app, self.state == ENDED, idle, self.fps)

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
        controls, frame = self.app.console.controls, self.frame
        for name, values in self._held.items():
            control = controls.find(name)
            if control is not None and control.span is Span.LASTING:
                if self._lasting.get(name) == values:
                    continue
                self._lasting[name] = values
            self.app.console.hold(Statement(frame, frame, name, values))

    # -- going back -------------------------------------------------------------------------------------------------
    def back(self, frames: int = 1) -> None:
        """Stand some frames earlier. What the player did after that is forgotten.

        :raises UsageError: there are not so many, or this program cannot go back.
        """
        self.stand()
        wanted, reach = self.frame - frames, self.reach
        if reach is None:
            raise UsageError("this program cannot go back", hint="Restart it.")
        if frames < 1 or wanted < 0:
            raise UsageError(f"cannot go back by {frames} frames", location="frames", hint=f"There are {self.frame}.")
        if wanted < reach:
            raise UsageError(
                f"frame {wanted} is not kept any more", location="frames", hint=f"Frames are kept from {reach} on."
            )
        self.app.back(frames)
        console = self.app.console
        left = tuple(one for one in map(partial(_until, frame=wanted), console.inputs.statements) if one is not None)
        console.inputs = replace(console.inputs, statements=left, closes_at=None)
        self._lasting.clear()
        while self._changes and self._changes[-1] > wanted:
            self._changes.pop()
        if self.marked is not None and self.marked > wanted:
            self.mark(wanted)
        self.state, self.note, self.advice, self._begun = STANDING, "", "", False
        self._publish()

    # -- what it was given ------------------------------------------------------------------------------------------
    def mark(self, frame: int | None) -> None:
        """A recording is wanted from a frame on: the checkpoint before it is kept. None: no longer."""
        self.marked = frame
        recent = self.app.history.recent
        if recent is not None:
            recent.pinned = frame

    def contents(
        self, first: int = 0, progress: Callable[[int, int], None] = lambda done, of: None
    ) -> Contents:  # fmt: skip
        """A recording from a frame on until now. The program goes back and comes here again for it. progress: as for
        `App.recorded_from`.

        :raises UsageError: there is no such frame, or the recording would be too large.
        """
        self.stand()
        if self.frame and first >= self.frame:
            raise UsageError(f"frame {first} is not over yet", location="from", hint=f"There are {self.frame}.")
        return self.app.recorded_from(first, MOST_RECORDED, progress).contents

    def capture(self) -> Capture | None:
        """A recording with the frame that is shown, and some before it; None if the last recording has it."""
        from pocketgpu.capture import Capture
        from pocketgpu.capture.formats.pgc.traces import trace_of

        last = self._recorded
        if last is not None and (last.first < self.frame <= last.last or last.last == 0):
            return None
        self._recorded = found = self.app.recorded_from(self._first_looked_at)
        self.recordings += 1
        self._publish()
        name = self.app.program.name
        return Capture(name, trace_of(found.contents, name))

    @property
    def _first_looked_at(self) -> int:
        """The frame with which the recording of `capture` begins."""
        each = sum(self._seconds) / max(1, len(self._seconds))
        count = min(LOOKED_AT, max(_LEAST_LOOKED_AT, int(_LOOKING / max(each, _LEAST_TIME))))
        first = self.frame - count
        if self.app.console.recorded_frame >= 0 and self._changes:  # the picture may have been there for long
            first = min(first, max(self._changes[-1] - _AHEAD, self.reach or 0))
        return max(0, first)

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
            "note": self.note, "advice": self.advice, "at": self.at, "recording": self.recordings,
            "reach": self.reach, "marked": self.marked,
            "recorded": None if self._recorded is None else [self._recorded.first, self._recorded.last],
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
                    "values": [
                        {"name": v.name, "low": v.low, "high": v.high, "whole": v.whole, "start": v.start}
                        for v in one.values
                    ],
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
        """Make this moment the newest. A program that runs is shown to those who have sent what was before."""
        if self.state == RUNNING and not any(one.ready for one in self.followers):
            return
        screens = self._screens()
        self._number += 1
        arrays = {name: one.array for name, one in screens.items()}
        self.newest = Shown(self._number, self.status(screens), arrays, self.state == RUNNING)
        for one in tuple(self.followers):
            one.told()


def _until(one: Statement, frame: int) -> Statement | None:
    """What is left of a statement before a frame."""
    if one.first >= frame:
        return None
    return replace(one, last=frame - 1) if one.last is not None and one.last >= frame else one


__all__ = ["ENDED", "LOOKED_AT", "MOST_RECORDED", "MOST_STEPS", "RUNNING", "STANDING", "LiveRun"]
