"""Messages between programs and services: the words of a request, and the answer.

    def get_region(request):
        return Answer(values=(1,))

A message is 64 words at TLS+0x80: a header (command, normal words, translated words), the normal words, then pairs of
descriptors and what they describe: handles, buffers. Word 1 of an answer is its result code.

Source: 3dbrew IPC; libctru's ipc.h.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.objects import KernelObject
from pocketgpu.guests.kernel.service import Commands, Session, command
from pocketgpu.guests.n3ds.abi.results import Result
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

__all__ = ["COMMAND_BUFFER", "STATIC_BUFFERS", "WORDS", "Answer", "Request", "Service", "Session", "command"]

COMMAND_BUFFER: Final = 0x80
"""Offset in thread-local storage."""
STATIC_BUFFERS: Final = 0x180
WORDS: Final = 64
_COPY, _MOVE = 0, 0x10
_STATIC: Final = 2


@dataclass(frozen=True)
class Answer:
    """What a service says.

    values: words after the result. handles: objects whose handles follow, after one descriptor; moved: whether the
    sender gives its own away. statics: bytes for the caller's static buffers, by number. also: words at the end.
    """

    result: int = Result.OK
    values: Sequence[int] = ()
    handles: Sequence[KernelObject | None] = ()
    moved: bool = False
    statics: Mapping[int, bytes] = field(default_factory=dict)
    also: Sequence[int] = ()


class Request:
    """A message on its way. words: header and all that follows."""

    def __init__(self, kernel: N3DSKernel, thread: Thread) -> None:
        self.kernel, self.thread = kernel, thread
        self.place = thread.tls + COMMAND_BUFFER
        self.words = kernel.space.words(self.place, WORDS)

    def __repr__(self) -> str:
        return f"<Request {self.words[0]:#010x}>"

    @property
    def command(self) -> int:
        """The number of the command."""
        return self.words[0] >> 16

    @property
    def size(self) -> int:
        """Words that it has, the header among them."""
        return min(WORDS, 1 + (self.words[0] & 0x3F) + (self.words[0] >> 6 & 0x3F))

    def object(self, at: int) -> KernelObject | None:
        """The object of the handle in a word, which the service knows from now on."""
        found = self.kernel.object_of(self.thread, self.words[at])
        if found is not None:
            found.outside = True
        return found

    def static(self, at: int) -> bytes:
        """The bytes that a static buffer's descriptor at a word describes."""
        return self.kernel.space.read(self.words[at + 1], self.words[at] >> 14)

    def mapped(self, at: int) -> tuple[int, int]:
        """Address and size of a mapped buffer whose descriptor is at a word."""
        return self.words[at + 1], self.words[at] >> 4

    def text(self, at: int, length: int) -> str:
        """A short name in words."""
        data = b"".join(word.to_bytes(4, "little") for word in self.words[at : at + 2])
        return data[:length].split(b"\0")[0].decode("ascii", "backslashreplace")

    def answer(self, answer: Answer) -> None:
        """Store an answer where the program finds it."""
        kernel = self.kernel
        words = [answer.result, *answer.values]
        normal = len(words)
        if answer.handles:
            words.append((len(answer.handles) - 1) << 26 | (_MOVE if answer.moved else _COPY))
            words += [0 if one is None else kernel.handle_of(one) for one in answer.handles]
        for number, data in answer.statics.items():
            descriptor, pointer = kernel.space.words(self.thread.tls + STATIC_BUFFERS + 8 * number, 2)
            kernel.space.write(pointer, data[: descriptor >> 14])
            words += [len(data) << 14 | number << 10 | _STATIC, pointer]
        words += answer.also
        translated = len(words) - normal - len(answer.also)
        header = self.command << 16 | normal << 6 | translated
        kernel.space.set_words(self.place, header, *words)


class Service(Commands[Request, Answer]):
    """A service: methods marked with `command` answer. name: under which programs ask for it. also: further names of
    the same service."""

    name = ""
    also: tuple[str, ...] = ()

    def __init__(self, kernel: N3DSKernel) -> None:
        super().__init__()
        self.kernel = kernel

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def unknown(self, request: Request) -> Answer | None:
        return self.kernel.unknown_command(self, request)
