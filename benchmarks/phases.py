"""The command line with a clock for its phases: `python phases.py FILE render capture.pgc --out DIR`.

`first_picture` starts it, and says what the phases are. It imports hardly anything itself, as imports are measured.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable
from functools import wraps
from threading import get_ident
from time import perf_counter
from typing import Any

PHASES = (
    "python", "import", "open", "machine", "trace", "compile", "load", "replay", "scan-out", "PNG", "rest", "exit",
)  # fmt: skip
TIMED = {
    "pocketgpu.capture": {"open": "open"},
    "pocketgpu.guests": {"run": "open"},
    "pocketgpu.pica.n3ds": {"N3DS.__init__": "machine"},
    "pocketgpu.maxwell.gm20b": {"GM20B.__init__": "machine"},
    "pocketgpu.lanes.kernel": {"Kernel.trace": "trace", "Engine.get": "load"},
    "pocketgpu.lanes.machine_code": {"compile_object": "compile"},
    "pocketgpu.capture.driver.n3ds": {"N3DSDriver.play_frame": "replay", "N3DSDriver.shown": "scan-out"},
    "pocketgpu.capture.driver.switch": {"SwitchDriver.play_frame": "replay", "SwitchDriver.shown": "scan-out"},
    "pocketgpu.guests.app": {"App.frames": "replay", "App.screens": "scan-out"},
    "pocketgpu.pictures": {"png_bytes": "PNG", "to_png": "PNG", "to_image": "PNG"},
    # Threads beside the replay are not timed, only how long it waits for them.
    "pocketgpu.cli.parts.beside": {"Loading.wait": "import"},
    "pocketgpu.cli.commands.render": {"_Writer.finish": "PNG"},
}
"""What is timed once its module is imported: function, method or property, and the phase that it belongs to."""


def is_loaded(name: str) -> bool:
    """Whether a module is there and complete."""
    module = sys.modules.get(name)
    return hasattr(module, "__file__") and not getattr(module.__spec__, "_initializing", False)


class Clock:
    """Seconds of the main thread by phase. `enter` begins one inside another, `leave` goes back to the one around."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self.around = ["rest"]
        self.thread = get_ident()
        self.made: list[str] = []
        self.since = perf_counter()

    def enter(self, phase: str) -> None:
        self.charge()
        self.around.append(phase)

    def leave(self) -> None:
        self.charge()
        self.around.pop()

    def charge(self) -> None:
        now = perf_counter()
        self.seconds[self.around[-1]] += now - self.since
        self.since = now

    def timed(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*args: Any, **named: Any) -> Any:
            if phase == "trace":
                self.made.append(args[0].name)
            if get_ident() != self.thread:
                return function(*args, **named)
            self.enter(phase)
            try:
                return function(*args, **named)
            finally:
                self.leave()

        return run


class Imports:
    """Times imports, and everything in TIMED as soon as its module is there."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.waiting, self.depth = clock, dict(TIMED), 0
        self.own = builtins.__import__

    def __call__(self, *args: Any, **named: Any) -> Any:
        if self.depth or get_ident() != self.clock.thread:
            return self.own(*args, **named)
        self.depth += 1
        self.clock.enter("import")
        try:
            return self.own(*args, **named)
        finally:
            self.depth -= 1
            self.install()
            self.clock.leave()

    def install(self) -> None:
        for name in [name for name in self.waiting if is_loaded(name)]:
            for path, phase in self.waiting.pop(name).items():
                place: Any = sys.modules[name]
                *owners, last = path.split(".")
                for one in owners:
                    place = getattr(place, one)
                found = vars(place)[last]
                if isinstance(found, property):
                    assert found.fget is not None
                    setattr(place, last, property(self.clock.timed(phase, found.fget)))
                else:
                    setattr(place, last, self.clock.timed(phase, found))


def within(report: str, words: list[str]) -> int:
    """Run the command line and write the seconds of each phase to a file: 'python' and 'exit' as moments."""
    first = perf_counter()
    clock = Clock()
    imports = Imports(clock)
    builtins.__import__ = imports
    importlib.import_module = clock.timed("import", importlib.import_module)
    sys.argv = ["pocketgpu", *words]
    from pocketgpu.cli import run

    code = run()  # the process ends as one of the command does
    clock.charge()
    import json

    with open(report, "w", encoding="utf-8") as file:
        json.dump(clock.seconds | {"made": clock.made, "python": first, "exit": perf_counter()}, file)
    return code


if __name__ == "__main__":
    sys.exit(within(sys.argv[1], sys.argv[2:]))
