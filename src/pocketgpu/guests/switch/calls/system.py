"""Questions about the system, and the end of a program. Source: libnx's svc.h."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.kernel import End
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.calls.register import Reply, call

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.switch.kernel import SwitchKernel

MOST_TEXT: Final = 1 << 16


@call("ExitProcess")
def exit_process(kernel: SwitchKernel, thread: Thread) -> Reply:
    kernel.finish(End("exit"))
    return None


@call("OutputDebugString")
def output_debug_string(kernel: SwitchKernel, thread: Thread, text: int, length: int) -> Reply:
    kernel.printed(kernel.space.read(text, min(length, MOST_TEXT)))
    return Result.OK
