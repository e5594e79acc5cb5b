"""Makes what a probe is sent: files for scenes and for captures, and the folder for the memory card."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Final

from pocketgpu import capture
from pocketgpu.capture.pgc.convert import contents_of
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.facts.choices import CHOICES, OF_CONSOLE
from pocketgpu.late_dataclass import dataclass
from pocketgpu.probe.consoles.base import ProbeConsole
from pocketgpu.probe.consoles.known import probe_console
from pocketgpu.probe.files.sent import Sent
from pocketgpu.probe.model.scene import Scene, Watch
from pocketgpu.probe.scenes import NO_SCENE, SCENES, scene_of
from pocketgpu.wording import counted

FOLDER: Final = "pocketgpu-probe"
"""The folder on the memory card."""
WHAT_IF: Final = "it is a what-if: no console has another value than the default"
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,96}")
_ANSWER: Final = ".answer"


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was made, or why one was not. name: without `.pgc`."""

    name: str
    size: int = 0
    reason: str = ""


def console_of(choice: str) -> str:
    """The console whose machine has a choice.

    :raises UsageError: there is no such choice, or no machine has it.
    """
    for console, names in OF_CONSOLE.items():
        if choice in names:
            return console
    if choice in CHOICES:
        raise UsageError(f"{choice} is a choice of programs, not of a GPU", hint="A probe has no part in it.")
    close = difflib.get_close_matches(choice, CHOICES, n=1)
    hint = f"Did you mean {close[0]}? " if close else ""
    raise UsageError(f"there is no choice {choice!r}", hint=f"{hint}'pocketgpu switches' lists them.")


@lru_cache(maxsize=256)
def sent_of_scene(scene: Scene, most: int | None = None) -> Sent:
    """What a probe is sent for a scene.

    :raises UsageError: no program can run it.
    """
    console = probe_console(console_of(scene.choice))
    made = scene.made
    if reason := console.unreadable(made.watch):
        raise UsageError(reason, location=scene.choice)
    contents = contents_of(capture.of_bytes(made.data).trace)
    sent = console.prepare(contents, made.watch, most=console.most_memory if most is None else most)
    look = (CHOICES[scene.choice].values, scene.doc) if made.watch.by_eye else ((), "")
    return replace(sent, choice=scene.choice, look=look)


def sent_of_capture(path: str | os.PathLike[str], frame: int, console: ProbeConsole, most: int | None = None) -> Sent:
    """What a probe is sent for a frame of a capture.

    :raises UsageError: no program can run it, or there is no such frame.
    """
    contents = contents_of(capture.open(path).trace)
    if contents.console != console.name:
        message = f"a capture of a {contents.console} does not run on a {console.name}"
        raise UsageError(message, location=os.fspath(path))
    if frame >= len(contents.frames):
        message = f"there is no frame {frame}: the capture has {counted(len(contents.frames), 'frame')}"
        raise UsageError(message, location=os.fspath(path))
    kept = console.frame_of(contents, frame)
    return console.prepare(kept, Watch(), most=console.most_memory if most is None else most)


def choices_with_scenes(console: str) -> tuple[str, ...]:
    """The choices of a console that can be asked: they have a scene, and consoles may differ in them."""
    return tuple(name for name in OF_CONSOLE[console] if name in SCENES and not CHOICES[name].what_if)


def digest(data: bytes) -> str:
    """How an answer names the file that it belongs to."""
    return hashlib.sha256(data).hexdigest().upper()


def write_folder(
    target: str | os.PathLike[str], console: ProbeConsole, choices: Sequence[str],
    captures: Iterable[str | os.PathLike[str]] = (), *, frame: int = 0, most: int | None = None,
) -> Iterator[Written]:  # fmt: skip
    """Write the folder `pocketgpu-probe` into `target`: the program, a file for each choice and capture, and a text
    that says what to do. What cannot be made is told and left out.

    :raises UsageError: a choice has no scene, or the folder cannot be written.
    """
    scenes = [_scene(choice, console) for choice in choices]
    folder = Path(target) / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        program = files("pocketgpu").joinpath("data", "probe", console.program).read_bytes()
        (folder / console.program).write_bytes(program)
        (folder / "README.txt").write_text(_readme(console), encoding="utf-8", newline="\r\n")
        for scene in scenes:
            yield _write(folder, scene.choice, partial(sent_of_scene, scene, most))
        for path in captures:
            name = _file_name(path)
            yield _write(folder, name, partial(sent_of_capture, path, frame, console, most))
    except OSError as error:
        raise UsageError(f"the folder cannot be written: {error.strerror or error}", location=str(folder)) from None


def _scene(choice: str, console: ProbeConsole) -> Scene:
    scene = scene_of(choice)
    if console_of(choice) != console.name:
        other = console_of(choice)
        message = f"{choice} is no choice of a {console.name}, but of a {other}"
        raise UsageError(message, hint=f"Use --console {other.lower()}.")
    if CHOICES[choice].what_if:
        raise UsageError(f"{choice} cannot be asked: {WHAT_IF}")
    if scene is None:
        reason = NO_SCENE.get(choice, "there is no scene in which its values can be told apart")
        raise UsageError(f"{choice} cannot be asked: {reason}")
    return scene


def _file_name(path: str | os.PathLike[str]) -> str:
    name = Path(path).name.partition(".")[0]
    return name if _NAME.fullmatch(name) else "capture"


def _write(folder: Path, name: str, make: Callable[[], Sent]) -> Written:
    try:
        data = make().encode()
    except PocketGPUError as error:
        return Written(name, reason=error.message)
    (folder / f"{name}.pgc").write_bytes(data)
    return Written(name, len(data))


def _readme(console: ProbeConsole) -> str:
    return f"""The probe of pocketgpu, for a {console.name}

This folder asks a console how its GPU behaves where documents disagree.

1. Copy the folder {FOLDER} to the top of the console's memory card.
2. {console.how_to_start}
   It takes some minutes; the lower part of the screen tells what runs. The program
   reads and writes this folder only, and nothing else of the card or the console.
   If the console stops answering, hold its power button until it is off, and start
   the program again: it leaves out the file that it stopped in, and goes on.
3. Bring the folder back to a computer and run

       pocketgpu probe read {FOLDER} --evidence evidence.tsv

   It tells what the console answered. Please send evidence.tsv and the files
   *{_ANSWER}.pgc to the project. They hold the pictures of these tests, the model and
   the version of the system software, and nothing personal.

*.pgc           what the console is asked
*{_ANSWER}.pgc    what it answered
log.txt         what was run

The program is free (licence 0BSD) and comes without any warranty.
"""


__all__ = [
    "FOLDER", "WHAT_IF", "Written", "choices_with_scenes", "console_of", "digest", "sent_of_capture", "sent_of_scene",
    "write_folder",
]  # fmt: skip
