"""The table of requests: what does each, in which states of a session it has a place, and the capability it stands for.

The capabilities that an editor is told derive from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pocketgpu.editor.dap.debuggee.session import STATES, Session, State
from pocketgpu.editor.dap.handlers import breakpoints, lifecycle, looking, memory, motion
from pocketgpu.editor.dap.protocol.messages import Arguments, Json
from pocketgpu.late_dataclass import dataclass

Handler = Callable[[Session, Arguments], Json | None]

ANY: Final = STATES[:-1]
READY: Final[tuple[State, ...]] = ("waiting for a launch", "being configured", "stopped", "at its end")
LAUNCHED: Final[tuple[State, ...]] = ("being configured", "stopped", "at its end")
STOPPED: Final[tuple[State, ...]] = ("stopped",)
LOOKED_AT: Final[tuple[State, ...]] = ("being configured", "stopped")


@dataclass(frozen=True)
class Asked:
    """A request. capability: what an editor reads of it; "" if every adapter has it."""

    handler: Handler
    states: tuple[State, ...]
    capability: str = ""


def _initialize(session: Session, given: Arguments) -> Json:
    return lifecycle.initialize(session, given, CAPABILITIES)


REQUESTS: Final[Mapping[str, Asked]] = {
    "initialize": Asked(_initialize, ("new",)),
    "launch": Asked(lifecycle.launch, ("waiting for a launch",)),
    "configurationDone": Asked(
        lifecycle.configuration_done, ("waiting for a launch", "being configured"), "supportsConfigurationDoneRequest"
    ),
    "restart": Asked(lifecycle.restart, ("stopped", "at its end"), "supportsRestartRequest"),
    "terminate": Asked(lifecycle.terminate, READY, "supportsTerminateRequest"),
    "disconnect": Asked(lifecycle.disconnect, ANY),
    "cancel": Asked(lifecycle.cancel, ANY, "supportsCancelRequest"),
    "threads": Asked(lifecycle.threads, READY),
    "modules": Asked(lifecycle.modules, LAUNCHED, "supportsModulesRequest"),
    "loadedSources": Asked(lifecycle.loaded_sources, LAUNCHED, "supportsLoadedSourcesRequest"),
    "source": Asked(lifecycle.source, LAUNCHED),
    "setBreakpoints": Asked(breakpoints.set_breakpoints, READY),
    "breakpointLocations": Asked(
        breakpoints.breakpoint_locations, LAUNCHED, "supportsBreakpointLocationsRequest"
    ),
    "setInstructionBreakpoints": Asked(
        breakpoints.set_instruction_breakpoints, READY, "supportsInstructionBreakpoints"
    ),
    "dataBreakpointInfo": Asked(breakpoints.data_breakpoint_info, LOOKED_AT, "supportsDataBreakpoints"),
    "setDataBreakpoints": Asked(breakpoints.set_data_breakpoints, READY),
    "setExceptionBreakpoints": Asked(breakpoints.set_exception_breakpoints, READY),
    "exceptionInfo": Asked(breakpoints.exception_info, STOPPED, "supportsExceptionInfoRequest"),
    "continue": Asked(motion.continue_, STOPPED),
    "next": Asked(motion.next_, STOPPED),
    "stepIn": Asked(motion.step_in, STOPPED),
    "stepOut": Asked(motion.step_out, STOPPED),
    "stepBack": Asked(motion.step_back, STOPPED, "supportsStepBack"),
    "reverseContinue": Asked(motion.reverse_continue, STOPPED),
    "pause": Asked(motion.pause, STOPPED),
    "restartFrame": Asked(motion.restart_frame, STOPPED, "supportsRestartFrame"),
    "gotoTargets": Asked(motion.goto_targets, STOPPED, "supportsGotoTargetsRequest"),
    "goto": Asked(motion.goto, STOPPED),
    "stackTrace": Asked(looking.stack_trace, STOPPED),
    "scopes": Asked(looking.scopes, STOPPED),
    "variables": Asked(looking.variables, STOPPED),
    "evaluate": Asked(looking.evaluate, LOOKED_AT),
    "setVariable": Asked(looking.set_variable, STOPPED, "supportsSetVariable"),
    "setExpression": Asked(looking.set_expression, STOPPED, "supportsSetExpression"),
    "completions": Asked(looking.completions, LOOKED_AT, "supportsCompletionsRequest"),
    "readMemory": Asked(memory.read_memory, STOPPED, "supportsReadMemoryRequest"),
    "writeMemory": Asked(memory.write_memory, STOPPED, "supportsWriteMemoryRequest"),
    "disassemble": Asked(looking.disassemble, LAUNCHED, "supportsDisassembleRequest"),
}  # fmt: skip

CAPABILITIES: Final[Json] = {one.capability: True for one in REQUESTS.values() if one.capability}

__all__ = ["CAPABILITIES", "REQUESTS", "Asked"]
