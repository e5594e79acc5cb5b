"""Commands that a page offers to copy. They are for a POSIX shell; names may hold any byte."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Final

from pocketgpu.sweeps.model.task import What

_PLAIN: Final = re.compile(r"[\x20-\x7e]")
_ADDRESS: Final = re.compile(r"f\d{1,9}(?:/[a-z0-9][a-z0-9,+-]{0,60}){0,4}")


def quoted(text: str) -> str:
    """A text as a word of a shell. What no terminal should get, such as control characters, is written as escapes."""
    if text.isprintable():
        return shlex.quote(text)
    raw = text.encode("utf-8", "surrogateescape")
    letters = (chr(byte) if _PLAIN.match(chr(byte)) and byte not in b"'\\" else f"\\x{byte:02x}" for byte in raw)
    return f"$'{''.join(letters)}'"


def file_word(path: str) -> str:
    """The path of a file as a word that is no option."""
    return quoted(f".{os.sep}{path}" if path.startswith("-") else path)


def is_address(text: object) -> bool:
    """Whether a text of a row can be handed to `view` and `why`."""
    return isinstance(text, str) and _ADDRESS.fullmatch(text) is not None


def sweep_command(what: What, patterns: str, out: str, baseline: str = "") -> str:
    """The command that makes a sweep again. patterns: as words of a shell. baseline: the folder, if there is one."""
    work = f"{what.work}={what.baseline}" if what.baseline else what.work
    words = ["pocketgpu sweep", patterns, "--do", quoted(work), *choices(what)]
    if what.frames is not None:
        first, last = what.frames
        words += ["--frames", f"{first}-" if last is None else f"{first}-{last}"]
    if what.work == "bench":
        words += ["--repeat", str(what.repeat)]
    if baseline:
        words += ["--baseline", file_word(baseline)]
    return " ".join([*words, "--out", file_word(out)])


def choices(what: What) -> list[str]:
    """The choices of a sweep as options, which other commands take, too."""
    return [word for name, value in what.switches.items() for word in ("--set", quoted(f"{name}={value}"))]


def joined(words: Iterable[str] | Sequence[str]) -> str:
    return " ".join(word for word in words if word)


__all__ = ["choices", "file_word", "is_address", "joined", "quoted", "sweep_command"]


def __dir__() -> list[str]:
    return [*__all__]
