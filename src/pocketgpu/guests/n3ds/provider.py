"""Starts programs on a 3DS."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pocketgpu.guests.kernel.console import RunOptions
from pocketgpu.guests.kernel.files import Files
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.n3ds.console import N3DSConsole
from pocketgpu.guests.n3ds.font import Font, system_font
from pocketgpu.guests.n3ds.loader import read_program
from pocketgpu.guests.processors.unicorn_arm import UnicornArm
from pocketgpu.pica.n3ds import N3DS

__all__ = ["prepare", "read_program"]


def prepare(program: Program, arguments: Sequence[str], options: RunOptions) -> Callable[[Files], N3DSConsole]:
    """What starts a program with some files on the card."""
    font = Font.read(system_font(options.font)).shared_memory()

    def start(card: Files) -> N3DSConsole:
        console = N3DSConsole(UnicornArm(), N3DS(threads=options.threads, switches=options.switches), card, font=font)
        console.kernel.load(program, arguments)
        return console

    return start
