"""Starts programs on a Switch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pocketgpu.errors import UsageError
from pocketgpu.guests.kernel.console import RunOptions
from pocketgpu.guests.kernel.files import Files
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.processors.unicorn_arm64 import UnicornArm64
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.guests.switch.loader import read_program
from pocketgpu.maxwell.gm20b import GM20B

__all__ = ["prepare", "read_program"]


def prepare(program: Program, arguments: Sequence[str], options: RunOptions) -> Callable[[Files], SwitchConsole]:
    """What starts a program with some files on the card.

    :raises UsageError: a font was named.
    """
    if options.font is not None:
        raise UsageError("a program of a Switch takes no font of the 3DS's system")

    def start(card: Files) -> SwitchConsole:
        processor = UnicornArm64(layout.CLOCK, layout.COUNTER)
        console = SwitchConsole(processor, GM20B(threads=options.threads, switches=options.switches), card)
        console.kernel.load(program, arguments)
        return console

    return start
