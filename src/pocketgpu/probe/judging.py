"""Judges answers: which values of a choice agree with what a console left in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from pocketgpu.capture.pgc import parse
from pocketgpu.errors import CaptureError, PocketGPUError, UsageError
from pocketgpu.facts.choices import CHOICES, DEFAULTS
from pocketgpu.late_dataclass import dataclass
from pocketgpu.probe.consoles.base import ProbeConsole
from pocketgpu.probe.consoles.known import probe_console
from pocketgpu.probe.files import keys
from pocketgpu.probe.files.answer import Answer, read_answer
from pocketgpu.probe.files.sent import Sent, watch_of
from pocketgpu.probe.making import WHAT_IF, console_of, digest, sent_of_scene
from pocketgpu.probe.model.observation import Observation, observe
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes import scene_of

ENDING: Final = ".answer.pgc"
_SENT_ENDING: Final = ".pgc"
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_OTHER_VERSION: Final = (
    "it is an answer to another version of the scene, and the file that was sent is not beside it; make the files "
    "again, and run them on the console again"
)
_PLACE: Final = re.compile(r" f\d+/e\d+\Z")
_LARGEST: Final = 256 << 20
"""Bytes of an answer that are read."""
_LARGEST_SENT: Final = 64 << 20
"""Bytes of a sent file that are read; programs take no larger ones."""
_MOST_PASSES: Final = 3
_MOST_FILES: Final = 10_000
_MOST_KEPT: Final = 256 << 20
"""Bytes of memory in answers that are kept while they are judged."""


@dataclass(frozen=True)
class Verdict:
    """What an answer says about a choice.

    agree: the values that leave the same. differing: for each other value what is not the same, and in how many
    bytes. silent: why the answer says nothing, if it does. hung, errors: as in the answer. digest: of the answer's
    file. by_eye: whether a person told what the screen showed. ours: whether our own machine answered, and no console.
    picture: whether it is the picture of a recording, which has no values. damaged: whether the file cannot be read.
    day: when the file was written.
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
    model: str = ""
    ours: bool = False
    picture: bool = False
    damaged: bool = False
    day: date | None = None

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
            "by_eye": self.by_eye, "model": self.model, "ours": self.ours, "picture": self.picture,
            "damaged": self.damaged, "day": self.day.isoformat() if self.day else None,
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
    """The verdicts about answers, in the order of the files. Answers of one console belong together: if it has other
    values than the defaults for some choices, its others are judged once more with these values, as scenes may depend
    on each other. A damaged file has a verdict that says so.

    tell: called with the name and the number of each file that is judged, from 1.
    """
    verdicts: list[Verdict] = []
    kept = _Kept()
    for number, path in enumerate(paths, 1):
        tell(Path(path).name, number)
        verdicts.append(_judge_file(os.fspath(path), kept))
    groups: dict[tuple[str, str], list[int]] = {}
    for number, verdict in enumerate(verdicts):
        groups.setdefault((verdict.console, verdict.model), []).append(number)
    for members in groups.values():
        others: dict[str, str] = {}
        for _ in range(_MOST_PASSES):
            found = _departures(verdicts[number] for number in members)
            if found == others:
                break
            others = found
            for number in members:
                if not (verdicts[number].damaged or verdicts[number].picture):
                    verdicts[number] = _judge_file(verdicts[number].file, kept, others)
    yield from verdicts


class _Kept:
    """Answers that were read, as long as they are not too large together: the others are read again."""

    def __init__(self) -> None:
        self._answers: dict[str, tuple[Answer, str]] = {}
        self._left = _MOST_KEPT

    def read(self, name: str) -> tuple[Answer, str]:
        found = self._answers.get(name)
        if found is None:
            found = read_file(name)
            self._left -= sum(map(len, found[0].memory.values()))
            if self._left >= 0:
                self._answers[name] = found
        return found


def _judge_file(name: str, kept: _Kept, others: Mapping[str, str] = NOTHING) -> Verdict:
    try:
        answer, digest_of_answer = kept.read(name)
        day = date.fromtimestamp(Path(name).stat().st_mtime)
    except CaptureError as error:
        silent = f"unreadable: {error.message}; copy it again from the card, or delete it and run the probe again"
        return Verdict(name, _choice_of(name), (), silent=silent, damaged=True)
    except (OSError, ValueError, OverflowError):
        return Verdict(name, _choice_of(name), (), silent="unreadable: the file changed", damaged=True)
    known = {choice: value for choice, value in others.items() if choice != answer.choice}
    return replace(judge(answer, digest_of_answer, known, _sent_beside(name, answer)), day=day)


def _sent_beside(name: str, answer: Answer) -> bytes:
    """The file that lies beside an answer to an earlier version of a scene; nothing: there is none that can be read, or
    the answer is to the scene of today."""
    if answer.choice not in CHOICES or scene_of(answer.choice) is None:
        return b""
    with suppress(PocketGPUError):
        if _sent(answer.choice)[1] == answer.digest.upper():
            return b""
    with suppress(OSError), open(name.removesuffix(ENDING) + _SENT_ENDING, "rb") as stream:
        return stream.read(_LARGEST_SENT)
    return b""


def _choice_of(name: str) -> str:
    """The choice that an answer is of by its name; "": of none."""
    choice = Path(name).name.removesuffix(ENDING)
    return choice if choice in CHOICES else ""


def contradictions(verdicts: Iterable[Verdict]) -> dict[str, dict[str, tuple[str, ...]]]:
    """What consoles disagree about: for each such choice the values that each console is sure of, by its text."""
    told: dict[str, dict[str, list[str]]] = {}
    for one in verdicts:
        if one.tells and len(one.agree) == 1:
            told.setdefault(one.choice, {}).setdefault(one.console, []).append(one.agree[0])
    return {
        choice: {console: tuple(dict.fromkeys(values)) for console, values in by_console.items()}
        for choice, by_console in told.items()
        if len({value for values in by_console.values() for value in values}) > 1
    }


def _departures(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """The values other than defaults that verdicts are sure of, where they do not contradict each other."""
    found: dict[str, set[str]] = {}
    for one in verdicts:
        if one.tells and len(one.agree) == 1:
            found.setdefault(one.choice, set()).add(one.agree[0])
    sure = {choice: next(iter(values)) for choice, values in found.items() if len(values) == 1}
    return {choice: value for choice, value in sure.items() if value != DEFAULTS[choice]}


def judge(
    answer: Answer, digest_of_answer: str = "", others: Mapping[str, str] = NOTHING, sent_file: bytes = b""
) -> Verdict:
    """The verdict about an answer. others: the values that the console is known to have for other choices. sent_file:
    what was sent, if it is still there: an answer to an earlier version of the scene is judged with it.
    """
    choice = answer.choice
    known = CHOICES.get(choice)
    verdict = Verdict(
        answer.file, choice, known.values if known else (), console=answer.console, hung=answer.hung,
        errors=answer.errors, digest=digest_of_answer, model=answer.model, ours=answer.ours,
    )  # fmt: skip
    if not answer.finished:
        return replace(verdict, silent=answer.end or "it does not say how it ended")
    if not choice:
        return replace(verdict, silent="it is a picture of a recording", picture=True)
    if known is None or scene_of(choice) is None:
        return replace(verdict, silent=f"{choice!r} is no choice that has a scene")
    if known.what_if:
        return replace(verdict, silent=WHAT_IF)
    if (theirs := answer.contents.console) != (its := console_of(choice)):
        return replace(verdict, silent=f"a {theirs} answered, and the choice is of a {its}")
    try:
        made = _asked(choice, answer.digest.upper(), sent_file)
    except PocketGPUError as error:
        return replace(verdict, silent=f"the scene cannot be run: {error.message}")
    if made is None:
        return replace(verdict, silent=_OTHER_VERSION)
    console = probe_console(its)
    if reason := console.too_old(made, answer.model):
        return replace(verdict, silent=reason)
    if made.watch.by_eye:
        if answer.seen not in known.values:
            return replace(verdict, silent="only a person can see it on the screen, and nobody told what it showed")
        if troubles(answer, _expected(choice, made, answer.seen, tuple(sorted(others.items())))):
            return replace(verdict, silent=_unexplained(answer))
        return replace(verdict, agree=(answer.seen,), differing={}, by_eye=True)
    try:
        return replace(verdict, **_compared(answer, made, console, others))
    except PocketGPUError as error:
        return replace(verdict, silent=f"the scene cannot be run: {error.message}")


@lru_cache(maxsize=256)
def _sent(choice: str) -> tuple[Sent, str]:
    """What is sent for a choice, and the digest of the file."""
    scene = scene_of(choice)
    assert scene is not None
    sent = sent_of_scene(scene)
    return sent, digest(sent.encode())


@lru_cache(maxsize=4)
def _asked(choice: str, wanted: str, sent_file: bytes) -> Made | None:
    """What was asked, by the digest that an answer has: the scene, or what was sent for an earlier version of it; None:
    there is neither. Its watch has all memory that is read back."""
    scene = scene_of(choice)
    assert scene is not None
    made = scene.made
    sent, name = _sent(choice)
    if name == wanted:
        return replace(made, watch=replace(made.watch, memory=sent.watch.memory, pictures=False))
    if not sent_file or digest(sent_file) != wanted:
        return None
    about = parse(sent_file, file=f"{choice}.pgc").about
    try:
        watch = watch_of(about)
    except ValueError as error:
        raise CaptureError(f"the sent file has a damaged list: {error}", file=f"{choice}.pgc") from None
    if about.get(keys.CHOICE) != choice:
        return None
    watch = replace(watch, bits=made.watch.bits, by_eye=made.watch.by_eye, pictures=False)
    return replace(made, data=sent_file, watch=watch)


@lru_cache(maxsize=16)
def _expected(choice: str, made: Made, value: str, others: tuple[tuple[str, str], ...]) -> Observation:
    """What our machine leaves of all that an answer has. made: with all memory that is read back."""
    return observe(made, {**DEFAULTS, **dict(others), choice: value})


def _compared(answer: Answer, made: Made, console: ProbeConsole, others: Mapping[str, str]) -> dict[str, Any]:
    """The values that agree, and what differs for the others."""
    missing = [at for at, size in made.watch.memory if (at, size) not in answer.memory]
    if missing or any(at not in answer.registers for at in made.watch.registers):
        return {"silent": "it does not have all that was to be read back"}
    agree, differing, explained = [], {}, False
    for value in CHOICES[answer.choice].values:
        ours = _expected(answer.choice, made, value, tuple(sorted(others.items())))
        parts = differences(answer, ours, made, console)
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
    "ENDING", "Verdict", "answers_in", "contradictions", "differences", "expected", "judge", "judge_files", "read_file",
    "troubles",
]  # fmt: skip
