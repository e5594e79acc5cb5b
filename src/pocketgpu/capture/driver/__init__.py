"""Replay drivers: they make the machine for a capture, play it frame by frame or step by step, and seek.

`base.py` has the interface of a driver and everything that does not depend on the console; `n3ds.py` and `switch.py`
have the rest for each console. `checkpoints.py` keeps states of a replay within a budget of bytes.

Only this package chooses the machine for a capture, and only here does the console matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from pocketgpu.capture.driver.base import Driver, Frame, Player, Position, ProgramView
from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    from pocketgpu.capture.driver.n3ds import N3DSDriver
    from pocketgpu.capture.driver.switch import SwitchDriver
    from pocketgpu.capture.formats.mxcap import ChannelLog
    from pocketgpu.capture.formats.n3ds_trace import N3DSTrace
    from pocketgpu.capture.replay import Capture
    from pocketgpu.forced import ForcedWord
    from pocketgpu.maxwell.gm20b import GM20B
    from pocketgpu.pica.n3ds import N3DS


def provider(trace: N3DSTrace | ChannelLog) -> type[Driver[Any]]:
    """The class of drivers for a parsed capture."""
    # Imported late: reading and describing a capture must not wait for the machine and its compiler.
    if trace.console == "Switch":
        from pocketgpu.capture.driver.switch import SwitchDriver

        return SwitchDriver
    from pocketgpu.capture.driver.n3ds import N3DSDriver

    return N3DSDriver


@overload
def drive(
    trace: N3DSTrace, *, threads: int = 1, switches: Mapping[str, str] | None = None, evaluator: str = "llvm",
    machine: N3DS | None = None, forced: Sequence[ForcedWord] = (),
) -> N3DSDriver: ...  # fmt: skip
@overload
def drive(
    trace: ChannelLog, *, threads: int = 1, switches: Mapping[str, str] | None = None, evaluator: str = "llvm",
    machine: GM20B | None = None, forced: Sequence[ForcedWord] = (),
) -> SwitchDriver: ...  # fmt: skip
@overload
def drive(
    trace: N3DSTrace | ChannelLog, *, threads: int = 1, switches: Mapping[str, str] | None = None,
    evaluator: str = "llvm", machine: N3DS | GM20B | None = None, forced: Sequence[ForcedWord] = (),
) -> Driver[Any]: ...  # fmt: skip
def drive(
    trace: N3DSTrace | ChannelLog,
    *,
    threads: int = 1,
    switches: Mapping[str, str] | None = None,
    evaluator: str = "llvm",
    machine: Any = None,
    forced: Sequence[ForcedWord] = (),
) -> Driver[Any]:
    """A driver for a parsed capture, at its start.

    threads, switches, evaluator: as for `pocketgpu.N3DS` and `pocketgpu.GM20B`. machine: one that was made for such a
    capture, used again instead of a new one; it is reset, and the other arguments are ignored. forced: registers that
    hold other words than the capture writes.
    """
    chosen = provider(trace)
    if machine is None:
        machine = chosen.make_machine(trace, threads, switches, evaluator)
        if forced:
            machine.force(forced)
        return chosen(trace, machine)
    machine.reset()
    return chosen(trace, machine)


def trace_of_3ds(capture: Capture) -> N3DSTrace:
    """The parsed file of a 3DS capture.

    :raises UsageError: it is of another console.
    """
    from pocketgpu.capture.formats.mxcap import ChannelLog

    trace = capture.trace
    if isinstance(trace, ChannelLog):
        raise UsageError("the recording is of a Switch", location=capture.path, hint="Give one of a 3DS.")
    return trace


def log_of_switch(capture: Capture, message: str = "this is no recording of a Switch") -> ChannelLog:
    """The parsed file of a Switch recording.

    :raises UsageError: it is of another console; with `message`.
    """
    from pocketgpu.capture.formats.mxcap import ChannelLog

    trace = capture.trace
    if not isinstance(trace, ChannelLog):
        raise UsageError(message, location=capture.path)
    return trace


__all__ = ["Driver", "Frame", "Player", "Position", "ProgramView", "drive", "log_of_switch", "provider", "trace_of_3ds"]
