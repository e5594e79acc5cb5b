"""What can be done when a program has ended, shows nothing, or is slow: a sentence for the page, beside the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.kernel import WAITS_FOREVER

if TYPE_CHECKING:
    from pocketgpu.guests import App

_STILL: Final = 180
"""Frames without a new picture from which on it is said: three seconds."""
_SLOW: Final = 0.5
"""Share of the console's pace below which it is said."""
_BACK: Final = "Back shows the frames before it; Restart begins again."
_ENDS: Final = {
    "exit": "The program has ended as it meant to. Restart begins again.",
    "close": "The program has ended as it was asked to. Restart begins again.",
    WAITS_FOREVER: f"Its threads wait for each other; the report has where each of them does. {_BACK}",
    "fault": f"The first line of the back trace is where it happened. {_BACK}",
    "break": f"The program itself has stopped here, as a failed check does. {_BACK}",
    "error": f"The program has reported an error of the system and gave up. {_BACK}",
    "unknown call": f"It has called what is not there: see 'What it told' below. {_BACK}",
}
"""By `End.why`."""
_GPU: Final = f"The GPU cannot do what it was told; the last events of the recording are what it was told. {_BACK}"
_NOTHING: Final = (
    "It has shown nothing yet for {} frames: it may wait for a key, or compute for long. Its text and what it told are "
    "below."
)
_NO_CHANGE: Final = (
    "It has shown nothing new for {} frames: it may wait for a key. Its text and what it told are below."
)
_PACE: Final = "It runs at {:.0f} % of the console's pace: no frame is left out."


def advice(app: App, ended: bool, still: int, fps: float) -> str:
    """A sentence or two; "" if there is nothing to say. ended: whether the program has. still: frames since the shown
    picture was new. fps: frames in a second, 0 if it stands."""
    if ended:
        return _GPU if app.end is None else _ENDS.get(app.end.why, _BACK)
    said = []
    if still >= _STILL:
        said.append((_NO_CHANGE if app.present_count else _NOTHING).format(still))
    share = fps * app.console.frame_seconds
    if 0 < share < _SLOW:
        said.append(_PACE.format(100 * share))
    return " ".join(said)


__all__ = ["advice"]
