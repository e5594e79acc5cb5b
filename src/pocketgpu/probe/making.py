"""Makes what a probe is sent: files for scenes and for captures, and the folder for the memory card."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import Final

from pocketgpu import capture
from pocketgpu.capture.pgc.convert import contents_of
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.facts.choices import CHOICES, OF_CONSOLE
from pocketgpu.late_dataclass import dataclass
from pocketgpu.probe.consoles.base import ProbeConsole
from pocketgpu.probe.consoles.known import CONSOLES, probe_console
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
    """A file that was made, or why one was not. name: without `.pgc`. place: of what was asked for: a path, or the
    choice. before: whether it was in the folder already, and still is asked."""

    name: str
    size: int = 0
    reason: str = ""
    place: str = ""
    before: bool = False


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
        raise UsageError(message, location=os.fspath(path), hint=f"Use --console {contents.console.lower()}.")
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
    that says what to do. What cannot be made is told and left out; without anything that can, there is no folder. What
    the folder had before stays, and is told at the end.

    :raises UsageError: a choice has no scene, the folder is for another console, or it cannot be written.
    """
    scenes = [_scene(choice, console) for choice in choices]
    folder = Path(target) / FOLDER
    _check_folder(folder, console)
    asked: list[tuple[str, str, Callable[[], Sent]]] = []
    for one in scenes:
        asked.append((one.choice, one.choice, partial(sent_of_scene, one, most)))
    for path in captures:
        name = _file_name(path, [name for name, _, _ in asked])
        asked.append((name, os.fspath(path), partial(sent_of_capture, path, frame, console, most)))
    names: set[str] = set()
    for name, place, make in asked:
        try:
            data = make().encode()
        except PocketGPUError as error:
            hint = f" {error.hint}" if error.hint else ""
            yield Written(name, reason=f"{error.message}.{hint}" if hint else error.message, place=place)
            continue
        _write(folder, console, f"{name}.pgc", data, first=not names)
        names.add(f"{name}.pgc")
        yield Written(name, len(data), place=place)
    if names:
        yield from _from_before(folder, names)


def _check_folder(folder: Path, console: ProbeConsole) -> None:
    """A folder is for one console: both have a README, and read all files."""
    for other in map(probe_console, CONSOLES):
        if other.name != console.name and (folder / other.program).exists():
            message = f"the folder is for a {other.name}: {other.program} is in it"
            raise UsageError(message, location=str(folder), hint=f"Make the folder for a {console.name} elsewhere.")


def _from_before(folder: Path, names: Collection[str]) -> Iterator[Written]:
    """Files that were in the folder before: the program asks them, too."""
    for path in sorted(folder.glob("*.pgc")):
        if path.name not in names and not path.name.endswith(f"{_ANSWER}.pgc"):
            yield Written(path.name.removesuffix(".pgc"), path.stat().st_size, place=str(path), before=True)


def _write(folder: Path, console: ProbeConsole, name: str, data: bytes, *, first: bool) -> None:
    """Write a file, and before the first one the program and the README."""
    try:
        if first:
            _begin(folder, console)
        (folder / name).write_bytes(data)
    except OSError as error:
        raise UsageError(f"the folder cannot be written: {error.strerror or error}", location=str(folder)) from None


def _begin(folder: Path, console: ProbeConsole) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    program = files("pocketgpu").joinpath("data", "probe", console.program).read_bytes()
    (folder / console.program).write_bytes(program)
    (folder / "README.txt").write_text(_readme(console), encoding="utf-8", newline="\r\n")


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


def _file_name(path: str | os.PathLike[str], taken: Collection[str]) -> str:
    """The name of a recording's file: its own, with a number if another has it."""
    stem = Path(path).name.partition(".")[0]
    stem = stem if _NAME.fullmatch(stem) else "capture"
    names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    return next(name for name in names if name not in taken)


def _readme(console: ProbeConsole) -> str:
    return f"""The probe of pocketgpu, for a {console.name}

This folder asks a console how its GPU behaves where documents disagree.

1. Copy the folder {FOLDER} to the top of the console's memory card.
2. {console.how_to_start}
   It takes some minutes; {console.what_it_shows}
   At the end it waits for START, or ten seconds. The program reads and writes this
   folder only, and nothing else of the card or the console.
   If the console stops answering, hold its power button until it is off, and start
   the program again: it leaves out the file that it stopped in, and goes on.
3. Bring the folder back to a computer and run

       pocketgpu probe read {FOLDER} --evidence evidence.tsv

   It tells what the console answered. Please send evidence.tsv and the files
   *{_ANSWER}.pgc to the project, where you got pocketgpu from. They hold the pictures
   of these tests, the model and the version of the system software, and nothing
   personal.

The answer to a recording of your own is its picture on the console. To see where ours
differs, and which choices could be the reason:

       pocketgpu render {FOLDER}/NAME{_ANSWER}.pgc --out shown
       pocketgpu doubts {FOLDER}/NAME.pgc --expect shown

*.pgc           what the console is asked
*{_ANSWER}.pgc    what it answered
log.txt         what was run

The program is free (licence 0BSD) and comes without any warranty.
"""


__all__ = [
    "FOLDER", "WHAT_IF", "Written", "choices_with_scenes", "console_of", "digest", "sent_of_capture", "sent_of_scene",
    "write_folder",
]  # fmt: skip
