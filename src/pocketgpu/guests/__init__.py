"""Programs of the consoles, run without a console.

`run` starts one as an `App`. `kernel/` is what the kernels of both consoles have in common, `processors/` executes
programs, `n3ds/` has the supervisor calls and services of the 3DS.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pocketgpu.guests.app import App

__all__ = ["App", "run"]


def run(
    path: str | os.PathLike[str],
    *,
    sd: str | os.PathLike[str] | None = None,
    writable: bool = False,
    font: str | os.PathLike[str] | None = None,
    threads: int = 1,
    switches: Mapping[str, str] | None = None,
) -> App:
    """Start a program; it runs when it is asked for frames.

    :param path: a .3dsx, .elf or .axf file.
    :param sd: a folder that the program finds as its memory card. writable: whether it may change it.
    :param font: a dump of the console's shared font, or a .bcfnt file; by default a free font.
    :param threads: number of drawing threads; any number gives the same bytes.
    :param switches: named choices and their values.
    :raises CaptureError: the file cannot be read, or is no program.
    :raises UsageError: an argument is not valid, or the extra "guest" is missing.
    """
    from pocketgpu.errors import CaptureError
    from pocketgpu.guests.kernel.files import HostFolder, MemoryFile, MemoryFiles
    from pocketgpu.guests.n3ds.console import Console
    from pocketgpu.guests.n3ds.font import Font, system_font
    from pocketgpu.guests.n3ds.loader import read_program
    from pocketgpu.guests.processors.unicorn_arm import UnicornArm
    from pocketgpu.pica.n3ds import N3DS

    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise CaptureError(f"cannot be read: {error.strerror}", file=str(path)) from None
    program = read_program(data, file.name)
    place = f"/3ds/{file.name}"
    card = MemoryFiles({place: MemoryFile(len(data), {0: data})}) if sd is None else HostFolder(sd, writable=writable)
    shared_font = Font.read(system_font(font)).shared_memory()
    console = Console(UnicornArm(), N3DS(threads=threads, switches=switches), card, font=shared_font)
    console.kernel.load(program, [f"sdmc:{place}"])
    return App(console, program)
