"""Judges answers: which values of a choice agree with what a console left in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
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
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_PLACE: Final = re.compile(r" f\d+/e\d+\Z")
_LARGEST: Final = 256 << 20
"""Bytes of an answer that are read."""
_MOST_PASSES: Final = 3
_MOST_FILES: Final = 10_000


@dataclass(frozen=True)
class Verdict:
    """What an answer says about a choice.

    agree: the values that leave the same. differing: for each other value what is not the same, and in how many
    bytes. silent: why the answer says nothing, if it does. hung, errors: as in the answer. digest: of the answer's
    file. by_eye: whether a person told what the screen showed.
    """

    file: str
    choice: str
    values: tuple[str, ...]
    agree: tuple[str, ...] = ()
    differing: Mapping[str, tuple[str, ...]] | None = None
    silent: str = ""
    console: str = ""
    hung: str = ""
    errors: str = ""
    digest: str = ""
    by_eye: bool = False

    @property
    def tells(self) -> bool:
        """Whether the answer leaves out at least one value, and not all of them."""
        return not self.silent and 0 < len(self.agree) < len(self.values)

    @property
    def default(self) -> str:
        """The default of the choice."""
        return DEFAULTS.get(self.choice, "")

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
            "silent": self.silent or None, "console": self.console, "hung": self.hung or None,
            "errors": self.errors or None, "digest": self.digest,
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


def read_file(path: str | os.PathLike[str]) -> tuple[Answer, str]:
    """The answer in a file, and the digest of the file.

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
    return read_answer(data, name), digest(data)


def judge_files(
    paths: Iterable[str | os.PathLike[str]], tell: Callable[[str, int], None] = lambda name, number: None
) -> Iterator[Verdict]:
    """The verdicts about answers of one console. If it has other values than the defaults for some choices, the others
    are judged once more with these values, as scenes may depend on each other.

    tell: called with the name and the number of each file that is judged, from 1.

    :raises CaptureError: a file cannot be read, or is no answer.
    """
    names = list(paths)
    verdicts = []
    for number, name in enumerate(names, 1):
        tell(Path(name).name, number)
        verdicts.append(judge(*read_file(name)))
    others: dict[str, str] = {}
    for _ in range(_MOST_PASSES):
        found = _departures(verdicts)
        if found == others:
            break
        others = found
        verdicts = [
            judge(*read_file(name), {choice: value for choice, value in others.items() if choice != verdict.choice})
            for name, verdict in zip(names, verdicts, strict=True)
        ]
    yield from verdicts


def _departures(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """The values other than defaults that verdicts are sure of."""
    sure = (one for one in verdicts if one.tells and len(one.agree) == 1)
    return {one.choice: one.agree[0] for one in sure if one.agree[0] != DEFAULTS[one.choice]}


def judge(answer: Answer, digest_of_answer: str = "", others: Mapping[str, str] = NOTHING) -> Verdict:
    """The verdict about an answer. others: the values that the console is known to have for other choices."""
    choice = answer.choice
    known = CHOICES.get(choice)
    verdict = Verdict(
        answer.file, choice, known.values if known else (), console=answer.console, hung=answer.hung,
        errors=answer.errors, digest=digest_of_answer,
    )  # fmt: skip
    if known is None or (scene := scene_of(choice)) is None:
        return replace(verdict, silent=f"{choice!r} is no choice that has a scene" if choice else "it is of a capture")
    if not answer.finished:
        return replace(verdict, silent=answer.end or "it does not say how it ended")
    try:
        sent, name = _sent(choice)
    except PocketGPUError as error:
        return replace(verdict, silent=f"the scene cannot be sent: {error.message}")
    if name != answer.digest.upper():
        return replace(verdict, silent="it is an answer to another version of the scene; make the files again")
    console = probe_console(console_of(choice))
    if reason := console.too_old(scene.made, answer.model):
        return replace(verdict, silent=reason)
    if scene.made.watch.by_eye:
        if answer.seen not in known.values:
            return replace(verdict, silent="only a person can see it on the screen, and nobody told what it showed")
        if troubles(answer, _expected(choice, answer.seen, tuple(sorted(others.items())))):
            return replace(verdict, silent=_unexplained(answer))
        return replace(verdict, agree=(answer.seen,), differing={}, by_eye=True)
    return replace(verdict, **_compared(answer, scene, sent, console, others))


@lru_cache(maxsize=256)
def _sent(choice: str) -> tuple[Sent, str]:
    """What is sent for a choice, and the digest of the file."""
    scene = scene_of(choice)
    assert scene is not None
    sent = sent_of_scene(scene)
    return sent, digest(sent.encode())


@lru_cache(maxsize=16)
def _expected(choice: str, value: str, others: tuple[tuple[str, str], ...]) -> Observation:
    scene = scene_of(choice)
    assert scene is not None
    return expected(scene.made, _sent(choice)[0], {**dict(others), choice: value})


def _compared(
    answer: Answer, scene: Scene, sent: Sent, console: ProbeConsole, others: Mapping[str, str]
) -> dict[str, Any]:
    """The values that agree, and what differs for the others."""
    missing = [at for at, size in sent.watch.memory if (at, size) not in answer.memory]
    if missing or any(at not in answer.registers for at in sent.watch.registers):
        return {"silent": "it does not have all that was to be read back"}
    agree, differing, explained = [], {}, False
    for value in CHOICES[scene.choice].values:
        ours = _expected(scene.choice, value, tuple(sorted(others.items())))
        parts = differences(answer, ours, scene.made, console)
        explained |= not troubles(answer, ours)
        if parts:
            differing[value] = parts
        else:
            agree.append(value)
    if not explained:
        return {"silent": _unexplained(answer)}
    silent = "all values leave the same in memory" if len(agree) > 1 and not differing else ""
    return {"agree": tuple(agree), "differing": differing, "silent": silent}


def expected(made: Made, sent: Sent, switches: Mapping[str, str]) -> Observation:
    """What our machine leaves of all that the answer has, under some choices."""
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
    return (*parts, *troubles(answer, ours))


def troubles(answer: Answer, ours: Observation) -> tuple[str, ...]:
    """What hung or was refused in only one of the two runs, as text."""
    parts = []
    for what, theirs, expected in (("hung", answer.hung, ours.hung), ("refused", answer.errors, ours.errors)):
        found = _names(theirs)
        if found != expected:
            parts.append(f"{what}: {', '.join(found) or 'nothing'} and not {', '.join(expected) or 'nothing'}")
    return tuple(parts)


def _names(text: str) -> tuple[str, ...]:
    """The items of a list of hung units or errors, without the places: the program counts other events than we do."""
    return tuple(_PLACE.sub("", one).upper() for one in text.split(", ") if one)


def _unexplained(answer: Answer) -> str:
    """Why an answer says nothing in which something failed that fails under no value."""
    found = [f"{what} {text}" for what, text in (("hung:", answer.hung), ("refused:", answer.errors)) if text]
    what = "; ".join(found) or "nothing hung, nothing was refused"
    return f"under no value our machine fails as this one did ({what})"


__all__ = [
    "ENDING", "Verdict", "answers_in", "differences", "expected", "judge", "judge_files", "read_file", "troubles",
]  # fmt: skip
