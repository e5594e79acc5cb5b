"""Judges answers: which values of a choice agree with what a console left behind."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from pocketgpu.errors import CaptureError, PocketGPUError, UsageError
from pocketgpu.facts.choices import CHOICES, DEFAULTS
from pocketgpu.late_dataclass import dataclass
from pocketgpu.probe.consoles.base import ProbeConsole
from pocketgpu.probe.consoles.known import probe_console
from pocketgpu.probe.files.answer import Answer, read_answer
from pocketgpu.probe.files.sent import Sent
from pocketgpu.probe.making import console_of, digest, sent_of_scene
from pocketgpu.probe.model.observation import Observation, observe
from pocketgpu.probe.model.scene import Made, Scene
from pocketgpu.probe.scenes import scene_of

ENDING: Final = ".answer.pgc"
_LARGEST: Final = 256 << 20
"""Bytes of an answer that are read."""
_MOST_FILES: Final = 10_000


@dataclass(frozen=True)
class Verdict:
    """What an answer says about a choice.

    agree: the values that leave the same behind. differing: for each other value what is not the same, and in how many
    bytes. silent: why the answer says nothing, if it does. digest: of the answer's file. by_eye: whether a person told
    what the screen showed.
    """

    file: str
    choice: str
    values: tuple[str, ...]
    agree: tuple[str, ...] = ()
    differing: Mapping[str, tuple[str, ...]] | None = None
    silent: str = ""
    console: str = ""
    hung: str = ""
    digest: str = ""
    by_eye: bool = False

    @property
    def tells(self) -> bool:
        """Whether the answer leaves out at least one value, and not all of them."""
        return not self.silent and 0 < len(self.agree) < len(self.values)

    @property
    def nearest(self) -> str:
        """If no value agrees, the one that differs in the fewest things; "" otherwise."""
        if self.silent or self.agree or not self.differing:
            return ""
        return min(self.differing, key=lambda value: len(self.differing[value]) if self.differing else 0)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "file": self.file, "choice": self.choice, "values": list(self.values), "agree": list(self.agree),
            "differing": {value: list(parts) for value, parts in (self.differing or {}).items()},
            "silent": self.silent or None, "console": self.console, "hung": self.hung or None, "digest": self.digest,
            "by_eye": self.by_eye,
        }  # fmt: skip


def answers_in(places: list[str]) -> Iterator[Path]:
    """The answers among files and in folders, by name.

    :raises UsageError: something is not there, or there are too many files.
    """
    for place in places:
        path = Path(place)
        if path.is_dir():
            found = sorted(one for one in path.rglob("*") if one.name.endswith(ENDING) and one.is_file())
            if len(found) > _MOST_FILES:
                raise UsageError(f"more than {_MOST_FILES:,} answers", location=place)
            yield from found
        elif path.is_file():
            yield path
        else:
            raise UsageError("there is no such file or folder", location=place)


def judge_file(path: str | os.PathLike[str]) -> Verdict:
    """The verdict about the answer in a file.

    :raises CaptureError: the file cannot be read, or is no answer.
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        raise CaptureError(f"the answer cannot be read: {error.strerror or error}", file=name) from None
    if len(data) > _LARGEST:
        raise CaptureError(f"an answer has at most {_LARGEST:,} bytes", file=name)
    return judge(read_answer(data, name), digest(data))


def judge(answer: Answer, digest_of_answer: str = "") -> Verdict:
    """The verdict about an answer."""
    choice = answer.choice
    known = CHOICES.get(choice)
    verdict = Verdict(
        answer.file, choice, known.values if known else (), console=answer.console, hung=answer.hung,
        digest=digest_of_answer,
    )  # fmt: skip
    if known is None or (scene := scene_of(choice)) is None:
        return replace(verdict, silent=f"{choice!r} is no choice that has a scene" if choice else "it is of a capture")
    if not answer.finished:
        return replace(verdict, silent=answer.end or "it does not say how it ended")
    try:
        sent = sent_of_scene(scene)
    except PocketGPUError as error:
        return replace(verdict, silent=f"the scene cannot be sent: {error.message}")
    if digest(sent.encode()) != answer.digest.upper():
        return replace(verdict, silent="it is an answer to another version of the scene; make the files again")
    if scene.made.watch.by_eye:
        if answer.seen not in known.values:
            return replace(verdict, silent="only a person can see it on the screen, and nobody told what it showed")
        return replace(verdict, agree=(answer.seen,), differing={}, by_eye=True)
    return replace(verdict, **_compared(answer, scene, sent, probe_console(console_of(choice))))


def _compared(answer: Answer, scene: Scene, sent: Sent, console: ProbeConsole) -> dict[str, Any]:
    """The values that agree, and what differs for the others."""
    missing = [at for at, size in sent.watch.memory if (at, size) not in answer.memory]
    if missing or any(at not in answer.registers for at in sent.watch.registers):
        return {"silent": "it does not have all that was to be read back"}
    agree, differing = [], {}
    for value in CHOICES[scene.choice].values:
        parts = differences(answer, expected(scene.made, sent, {scene.choice: value}), scene.made, console)
        if parts:
            differing[value] = parts
        else:
            agree.append(value)
    silent = "all values leave the same behind" if len(agree) > 1 and not differing else ""
    return {"agree": tuple(agree), "differing": differing, "silent": silent}


def expected(made: Made, sent: Sent, switches: Mapping[str, str]) -> Observation:
    """What our machine leaves behind of what the answer has, under some choices."""
    watch = replace(made.watch, memory=sent.watch.memory, pictures=False)
    return observe(replace(made, watch=watch), {**DEFAULTS, **switches})


def differences(answer: Answer, ours: Observation, made: Made, console: ProbeConsole) -> tuple[str, ...]:
    """What is not the same, as text."""
    parts = []
    for (at, size), data in ours.memory.items():
        theirs = np.frombuffer(answer.memory[at, size], np.uint8)
        count = int(np.count_nonzero(theirs != np.frombuffer(data, np.uint8)))
        if count:
            parts.append(f"{count:,} of {size:,} bytes at {at:#x}")
    for at, word in ours.registers.items():
        found = made.watch.bits_of(at, answer.registers[at])
        if found != word:
            parts.append(f"the register {at:#x}: {found:#010x} and not {word:#010x}")
    if made.watch.interrupts and not console.same_interrupts(ours.interrupts, answer.interrupts):
        parts.append("which units reported their end")
    return tuple(parts)


__all__ = ["ENDING", "Verdict", "answers_in", "differences", "expected", "judge", "judge_file"]
