"""The probe of the 3DS on our own machine: a card with sent files, a run, and what came back."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import pocketgpu
from pocketgpu.capture.formats.pgc import numbers
from pocketgpu.facts.choices import CHOICES
from pocketgpu.probe.consoles.known import probe_console
from pocketgpu.probe.making import FOLDER, write_folder

PROGRAM = Path(pocketgpu.__file__).parent / "data" / "probe" / "probe.3dsx"
KEYS = "ABXY"
"""Keys of the values of a choice that a person tells apart."""


def card(folder: Path, choices: Iterable[str]) -> Path:
    """A card with a file for each choice."""
    folder.mkdir(exist_ok=True)
    for one in write_folder(folder, probe_console("3DS"), list(choices)):
        assert not one.reason, one
    return folder


def part(whole: Path, folder: Path, choices: Collection[str]) -> Path:
    """Another card with some of the files of one, without answers."""
    (folder / FOLDER).mkdir(parents=True)
    for choice in choices:
        shutil.copy(whole / FOLDER / f"{choice}.pgc", folder / FOLDER)
    return folder


def ran(folder: Path, switches: Mapping[str, str] | None = None) -> str:
    """Run the program on a card, press what a person sees, and return what it said."""
    switches = switches or {}
    app = pocketgpu.run(PROGRAM, sd=folder, writable=True, switches=switches)

    def over() -> bool:
        return app.end is not None or "the probe: the end" in app.debug_text

    def asked() -> str:
        """The choice whose picture somebody has to look at."""
        last = app.debug_text.rstrip().rpartition("\n")[2]
        return last.partition(":")[0] if ": What do the screens show?" in last else ""

    while not over():
        assert app.until(lambda: over() or bool(asked()), limit=20_000)
        if name := asked():
            value = switches.get(name, CHOICES[name].default)
            app.press(KEYS[CHOICES[name].values.index(value)], frames=4)
            app.frames(8)
    assert app.end is None, app.end
    return app.debug_text


def answer(folder: Path, name: str) -> Path:
    """The file of an answer."""
    return folder / FOLDER / f"{name}.answer.pgc"


def about_records(**texts: str) -> bytes:
    """ABOUT records as they lie in a file; an underscore of a key stands for a point."""
    out = b""
    for key, value in texts.items():
        name = key.replace("_", ".").encode()
        out += bytes([numbers.ABOUT, len(name)]) + name + bytes([len(value)]) + value.encode()
    return out
