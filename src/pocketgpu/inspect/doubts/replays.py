"""Replays of a capture under the values of choices, compared with the replay under the defaults."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.replay import wanted_frames
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.facts.choices import CHOICES, OF_CONSOLE
from pocketgpu.inspect.doubts.agreement import Trial, Wanted
from pocketgpu.inspect.doubts.expected import Expected, Taken
from pocketgpu.inspect.doubts.found import Agreement, CaptureDoubts, Parting
from pocketgpu.inspect.doubts.usual import Pictures, Pixels, Replayed, UsualReplay
from pocketgpu.inspect.inspection import examine
from pocketgpu.inspect.model.address import Address

if TYPE_CHECKING:
    from pocketgpu.capture import Capture

MOST_FRAMES = 60
"""So many frames are looked at unless others are named: all of their pictures are kept."""


def touched(
    capture: Capture, frames: int | None = None, switches: Mapping[str, str] | None = None
) -> Mapping[str, Collection[int]]:
    """The choices that a capture may depend on, in order, and in which of its first `frames` frames (None: all).

    :param switches: values of choices for the replay: they decide what runs, and so what is touched.

    :raises NoPictureError: the capture shows nothing.
    """
    touching = examine(capture, frames=frames, switches=switches).touching
    return {name: touching[name] for name in OF_CONSOLE[capture.console] if name in touching}


def doubts(
    capture: Capture,
    choices: Sequence[str] | None = None,
    frames: range | None = None,
    threads: int = 1,
    expected: Wanted | None = None,
    switches: Mapping[str, str] | None = None,
    progress: Callable[[str, int, int], None] = lambda what, number, count: None,
    taken: str | None = None,
) -> CaptureDoubts:
    """Replay a capture with every value of each choice that it touches, and compare the pictures.

    :param choices: names of choices to try instead of those, or of groups of them such as "combiner"; choices of the
        other console are left out.
    :param frames: numbers of the frames to look at; None: the first MOST_FRAMES.
    :param expected: the expected picture of a frame (its number) and a screen (its name), or None if there is none, as
        RGB of shape (height, width, 3) or RGBA. Photos of the screen may have any size.
    :param switches: values of choices for all replays, instead of defaults.
    :param progress: called before each replay with what it tries, its number and how many there are.
    :param taken: what the expected pictures are, "copies" of the screens' pixels or "photos"; None: copies, unless most
        pixels differ.
    :raises UsageError: there is no choice of that name, or expected pictures are of none of these frames
        or of another shape.
    :raises NoPictureError: the capture shows nothing, or has no such frames.
    """
    given = dict(switches or {})
    kind = None if taken is None else _kind(taken)
    asked = None if choices is None else [name for one in choices for name in _named(one, capture.console)]
    wanted = wanted_frames(capture, range(min(capture.frame_count, MOST_FRAMES)) if frames is None else frames)
    touching = touched(capture, wanted[-1] + 1 if wanted else 0, given)
    names = [name for name in touching if not CHOICES[name].what_if] if asked is None else [*dict.fromkeys(asked)]
    left_out = [name for name in OF_CONSOLE[capture.console] if name not in touching and not CHOICES[name].what_if]
    usual = UsualReplay(capture, wanted, threads, given, [touching.get(name, ()) for name in names])
    goldens = None if expected is None else Expected(usual.pictures, expected, capture.path, kind)
    trials = [(name, value) for name in names for value in CHOICES[name].values if value != _usual(name, given)]
    usual.leave_out(0 if choices is not None else sum(len(CHOICES[name].alternatives) for name in left_out))
    partings: list[Parting] = []
    failed: dict[Trial, str] = {}

    def pictures_under(values: Mapping[str, str]) -> Replayed:
        return usual.under(values, {frame for name in values for frame in touching.get(name, ())})

    for number, (name, value) in enumerate(trials):
        progress(f"{name}={value}", number, len(trials))
        try:
            replayed = pictures_under({name: value})
        except PocketGPUError as error:
            failed[name, value] = str(error)
            continue
        parting = _parting(name, value, usual.pictures, replayed)
        if parting is None:
            continue
        if goldens is not None:
            parting = replace(parting, wrong=goldens.add((name, value), replayed.pictures))
        partings.append(parting)
    partings.sort(key=lambda one: (-one.pixels, one.choice, one.value))
    agreement = None
    if goldens is not None:

        def again(values: Mapping[str, str]) -> Pictures:
            progress(", ".join(f"{name}={value}" for name, value in values.items()), len(trials) - 1, len(trials))
            return pictures_under(values).pictures

        agreement = goldens.agreement([trial for trial in trials if trial not in failed], again)
        if not isinstance(agreement, Agreement):  # nearly all pixels of a photo are wrong, which says nothing
            partings = [replace(one, wrong=None) for one in partings]
    return CaptureDoubts(
        path=capture.path,
        console=capture.console,
        frames=len(usual.pictures),
        of=capture.frame_count,
        tried=tuple(trials),
        partings=tuple(partings),
        failed=failed,
        work=usual.work,
        agreement=agreement,
    )


def _kind(taken: str) -> Taken:
    """:raises UsageError: there is no such kind of pictures."""
    try:
        return Taken(taken)
    except ValueError:
        kinds = " or ".join(map(repr, map(str, Taken)))
        raise UsageError(f"expected pictures are taken for {kinds}, not {taken!r}") from None


def _named(name: str, console: str) -> list[str]:
    """The choices of a console that a name means: itself, or those of its group; none if it is of another console.

    :raises UsageError: there is no such choice or group.
    """
    found = [name] if name in CHOICES else [one for one in CHOICES if one.startswith(f"{name}.")]
    if not found:
        close = get_close_matches(name, CHOICES, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else "'pocketgpu switches' lists them."
        raise UsageError(f"there is no choice {name!r}", hint=hint)
    return [one for one in found if one in OF_CONSOLE[console] and (one == name or not CHOICES[one].what_if)]


def _usual(name: str, given: Mapping[str, str]) -> str:
    return given.get(name, CHOICES[name].default)


def _parting(choice: str, value: str, usual: Pictures, replayed: Replayed) -> Parting | None:
    """Where pictures differ from the usual ones; None: nowhere."""
    pixels, frames, first = 0, 0, None
    for number, screens in usual.items():
        if number not in replayed.frames:
            continue
        others, before = replayed.pictures[number], pixels
        for name in dict.fromkeys((*screens, *others)):
            if name in screens and name in others and np.array_equal(screens[name], others[name]):
                continue  # nearly always, and much faster than what follows
            differ = _differ(screens.get(name), others.get(name))
            pixels += int(np.count_nonzero(differ))
            if first is None:
                y, x = (int(place) for place in np.argwhere(differ)[0])
                first = Address(number, screen=name, pixel=(x, y))
        frames += pixels > before
    if first is None:
        return None
    return Parting(choice, value, pixels, frames, first)


def _differ(a: Pixels | None, b: Pixels | None) -> NDArray[np.bool_]:
    """Which pixels of two pictures differ: all of them if there is only one, or if their sizes do."""
    if a is not None and b is not None and a.shape == b.shape:
        differ: NDArray[np.bool_] = (a != b).any(axis=-1)
        return differ
    one = a if a is not None else b
    assert one is not None
    return np.ones(one.shape[:2], np.bool_)


__all__ = ["MOST_FRAMES", "doubts", "touched"]
