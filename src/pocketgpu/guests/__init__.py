"""Programs of the consoles, run without a console.

`run` starts one as an `App`. `kernel/` is what the kernels of both consoles have in common, `processors/` executes
programs, `n3ds/` and `switch/` have the supervisor calls and services of each console. `opening.py` chooses between
them.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pocketgpu.guests.app import LIMIT, App, GuestConsole

__all__ = ["LIMIT", "App", "run"]


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Loading the code makes many objects and no garbage; the collector's search for it would take a fifteenth of a
    short run."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_collection_paused()
def run(
    path: str | os.PathLike[str],
    *,
    sd: str | os.PathLike[str] | None = None,
    writable: bool = False,
    font: str | os.PathLike[str] | None = None,
    threads: int = 1,
    switches: Mapping[str, str] | None = None,
    record: bool = False,
    symbols: str | os.PathLike[str] | None = None,
    arguments: Sequence[str] = (),
    raises: bool = False,
) -> App:
    """Start a program; it runs when it is asked for frames.

    :param path: a .3dsx file of the 3DS, a .nro of the Switch, or an .elf or .axf of one of them. An ELF finds the
        read-only files of the .3dsx or .nro of the same name beside it.
    :param sd: a folder that the program finds as its memory card. writable: whether it may change it.
    :param font: of the console's system; by default a free one. For the 3DS a dump of the console's shared font, or a
        .bcfnt file; for the Switch a .ttf or .otf file.
    :param threads: number of drawing threads; any number gives the same bytes.
    :param switches: named choices and their values.
    :param record: follow the run from its start, so that `App.capture` need not run the program a second time.
    :param symbols: the ELF that a .3dsx or .nro was made of, for functions and lines in back traces; by default the
        .elf of the same name beside it, if there is one.
    :param arguments: what the program is started with, after its own place on the card.
    :param raises: whether running a program that fails raises ProgramFault, with the report of `App.end`. Without it,
        `App.frames` returns False and `App.end` tells what happened.
    :raises CaptureError: the file cannot be read, or is no program.
    :raises UsageError: an argument is not valid, or the extra "guest" is missing.
    """
    from pocketgpu.errors import UsageError
    from pocketgpu.guests.kernel.console import RunOptions
    from pocketgpu.guests.kernel.files import HostFolder, MemoryFile, MemoryFiles
    from pocketgpu.guests.kernel.overlay import Overlay
    from pocketgpu.guests.opening import beside, kind_of, package, read_file, shown_name

    file = Path(path)
    data = read_file(file)
    if sd is not None and not Path(sd).is_dir():
        what = "that is a file" if Path(sd).exists() else "there is no such folder"
        raise UsageError(what, location=os.fspath(sd), hint="The memory card is a folder of this computer.")
    name = shown_name(file)
    kind = kind_of(data, name)
    elf = beside(file) if symbols is None else Path(symbols)
    program = kind.provider.read_program(
        data, name, elf=None if elf is None else read_file(elf), elf_name="" if elf is None else elf.name
    )
    own = package(file)
    content = data if own == file else read_file(own)
    place = kind.place(shown_name(own))
    started = kind.provider.prepare(program, [f"sdmc:{place}", *arguments], RunOptions(font, threads, switches))

    def start() -> GuestConsole:
        files = MemoryFiles({}) if sd is None else HostFolder(sd, writable=writable)
        return started(Overlay(files, place, MemoryFile(len(content), {0: content})))

    return App(start, program, record=record, repeatable=sd is None or not writable, raises=raises)
