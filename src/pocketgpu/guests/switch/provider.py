"""Starts programs on a Switch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pocketgpu.guests.kernel.console import RunOptions
from pocketgpu.guests.kernel.files import Files
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.processors.unicorn_arm64 import UnicornArm64
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.guests.switch.loader import read_program
from pocketgpu.guests.switch.services.pl import shared_font
from pocketgpu.maxwell.gm20b import GM20B

__all__ = ["prepare", "read_program"]


def prepare(program: Program, arguments: Sequence[str], options: RunOptions) -> Callable[[Files], SwitchConsole]:
    """What starts a program with some files on the card.

    :raises CaptureError: the named font cannot be read, or is none.
    """
    font = None if options.font is None else shared_font(options.font)

    def start(card: Files) -> SwitchConsole:
        processor = UnicornArm64(layout.CLOCK, layout.COUNTER)
        machine = GM20B(threads=options.threads, switches=options.switches)
        console = SwitchConsole(processor, machine, card, font)
        console.kernel.load(program, arguments)
        return console

    return start
