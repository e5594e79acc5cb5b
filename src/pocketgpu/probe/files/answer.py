"""An answer of a probe: what a file left on a console. Answers come from other people's consoles and are not
trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pocketgpu.capture.formats.pgc.contents import Contents, Load, bytes_of
from pocketgpu.capture.pgc import parse
from pocketgpu.displayed import plain
from pocketgpu.errors import CaptureError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.probe.files import keys

_LONGEST_TEXT: Final = 400
"""Letters of a text that are kept: consoles tell little, and files may tell anything."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What an answer says. Its texts are printable. memory: by (address, bytes). seen: the value that a person saw."""

    file: str
    contents: Contents
    choice: str
    digest: str
    console: str
    model: str
    program: str
    end: str
    hung: str
    errors: str
    seen: str
    memory: Mapping[tuple[int, int], bytes]
    registers: Mapping[int, int]
    interrupts: Mapping[str, int]

    @property
    def finished(self) -> bool:
        """Whether the file ran to its end, or until too much hung, and what it left was read."""
        return self.end in (keys.FINISHED, keys.STOPPED)

    @property
    def ours(self) -> bool:
        """Whether our own machine ran the program, and no console."""
        return self.console.startswith(keys.OURS)


def read_answer(data: bytes, file: str = "") -> Answer:
    """An answer from the bytes of its file.

    :raises CaptureError: the file is damaged, or no answer.
    """
    contents = parse(data, file=file)
    about = contents.about
    if about.get(keys.ANSWER) != keys.VERSION:
        raise CaptureError("no answer of a probe", file=file, hint="Answers are the files *.answer.pgc of its folder.")
    try:
        registers = dict(keys.pairs(about.get(keys.REGISTER, "")))
        interrupts = keys.counts(about.get(keys.INTERRUPTS, ""))
    except ValueError as error:
        raise CaptureError(f"the answer has a damaged list: {error}", file=file) from None
    texts = {
        name: plain(about.get(key, "")[:_LONGEST_TEXT])
        for name, key in (
            ("choice", keys.CHOICE), ("digest", keys.DIGEST), ("console", keys.CONSOLE),
            ("model", keys.MODEL), ("program", keys.PROGRAM),
            ("end", keys.END), ("hung", keys.HUNG), ("errors", keys.ERRORS), ("seen", keys.SEEN),
        )
    }  # fmt: skip
    return Answer(file, contents, **texts, memory=_memory(contents), registers=registers, interrupts=interrupts)


def _memory(contents: Contents) -> dict[tuple[int, int], bytes]:
    found: dict[tuple[int, int], bytes] = {}
    for event in contents.memory_events():
        data = bytes_of(event.pieces)
        address = event.address if isinstance(event, Load) else event.gpu_va
        found[address, len(data)] = data
    return found


__all__ = ["Answer", "read_answer"]
