"""The entry point of the debugger: a capture's run as events, its moments, and answers about pixels.

    run = pocketgpu.debug("scene.pgc")
    for event in run.events(1):
        print(event)
    moment = run.seek("f1/d17")
    moment.target.image.save("after.png")
    print(run.why("f1/px200,120"))

`model/` has the types, the same for both consoles; `n3ds/` and `switch/` have the implementations. Only this module
tests which console a capture is of.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.forced import ForcedWord
    from pocketgpu.inspect.model.address import Address
    from pocketgpu.inspect.model.causes import FrameCauses
    from pocketgpu.inspect.model.forcing import Override
    from pocketgpu.inspect.model.inspection import Inspection as Inspection
    from pocketgpu.inspect.model.inventory import Inventory
    from pocketgpu.inspect.model.moment import Moment as Moment
    from pocketgpu.inspect.n3ds.programs import Program


def debug(
    capture: Capture | str | os.PathLike[str], switches: Mapping[str, str] | None = None, evaluator: str = "llvm",
    overrides: Iterable[Override | str] = (),
) -> Inspection:  # fmt: skip
    """Inspect a capture or a capture file. switches (choices by name), evaluator: as for the machines. overrides:
    registers with the values that they have from a place on, such as "BLEND_COLOR.r=255@f0/d3".

    A program in place of a capture file is run for 60 frames; for more, debug `App.capture()`.

    :raises CaptureError: the file is not a capture, or is damaged.
    :raises UsageError: there is no such choice, or a register cannot have an override.
    """
    found = opened(capture) if isinstance(capture, str | os.PathLike) else capture
    return _made(found, switches, evaluator, forced_words(found, overrides, switches))


def again(run: Inspection) -> Inspection:
    """Another inspection of the same capture, with the same choices, evaluator and overrides: for another thread."""
    return _made(run.capture, run.choices, run.evaluator, run.forced)


def _made(
    capture: Capture, switches: Mapping[str, str] | None, evaluator: str, forced: tuple[ForcedWord, ...]
) -> Inspection:
    if capture.console == "Switch":
        from pocketgpu.inspect.switch.inspection import SwitchInspection

        return SwitchInspection(capture, switches, evaluator, frames=_causes_of, forced=forced)
    from pocketgpu.inspect.n3ds.inspection import N3dsInspection

    return N3dsInspection(capture, switches, evaluator, judge=_said_of, frames=_causes_of, forced=forced)


def forced_words(
    capture: Capture, overrides: Iterable[Override | str], switches: Mapping[str, str] | None = None
) -> tuple[ForcedWord, ...]:
    """What a machine is told about overrides (`drive`). The capture is played as it is to find their places.

    :raises UsageError: a register cannot have an override.
    """
    wanted = list(overrides)
    if not wanted:
        return ()
    from pocketgpu.inspect.model.forcing import Override

    forcing = debug(capture, switches).forcing
    return tuple(forcing.word(Override.parse(one) if isinstance(one, str) else one) for one in wanted)


def opened(path: str | os.PathLike[str]) -> Capture:
    """The capture of a file, as `debug` opens it: a program is run for 60 frames.

    :raises CaptureError: the file is neither, or is damaged.
    """
    from pocketgpu.capture import open as open_capture
    from pocketgpu.capture.formats.first_bytes import is_program

    if is_program(path):
        from pocketgpu.guests import recordings

        return recordings.opened(path)
    return open_capture(path)


def _said_of(registers: Mapping[int, int], kind: int, program: Program | None) -> list[str]:
    """`rules.one_draw.said_of`, imported when it is used: most questions are about other things than findings."""
    from pocketgpu.inspect.rules.one_draw import said_of

    return said_of(registers, kind, program)


def _causes_of(run: Inspection, address: Address) -> FrameCauses:
    """`rules.causes.frame_causes`, imported when it is used."""
    from pocketgpu.inspect.rules.causes import frame_causes

    return frame_causes(run, address)


def examine(
    capture: Capture, progress: Callable[[int], None] = lambda _: None, frames: int | None = None,
    switches: Mapping[str, str] | None = None,
) -> Inventory[Any]:  # fmt: skip
    """Count what is in a capture. progress: called after each frame. frames: how many to look at, from the first;
    None: everything, also what comes after the last one. switches: values of choices under which it is replayed.

    :raises NoPictureError: there is nothing to count.
    """
    if capture.console == "Switch":
        from pocketgpu.inspect.switch.inventory.capture_info import examine_capture

        return examine_capture(capture, progress, frames, switches)
    from pocketgpu.inspect.n3ds.inventory.capture_info import examine as examine_3ds

    return examine_3ds(capture, progress, frames, switches)


def __getattr__(name: str) -> Any:
    """`Inspection` and `Moment`, imported at their first use: counting what is in a capture needs neither."""
    if name in ("Inspection", "Moment"):
        return getattr(importlib.import_module(f"pocketgpu.inspect.model.{name.lower()}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Inspection", "Moment", "debug", "examine"]


def __dir__() -> list[str]:
    return [*__all__]
