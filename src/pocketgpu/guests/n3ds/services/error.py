"""The port `err:f`, to which programs report what they cannot handle.

    The program ended: error: a result code that is a failure, thread 1
    Result 0xd8e007f7 (kernel: invalid handle; invalid argument, permanent).

Source: 3dbrew ERR Services; libctru's errf.h.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.n3ds.structures import ERROR_RECORD
from pocketgpu.guests.backtrace.arm import registers_of
from pocketgpu.guests.kernel.kernel import End
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, command
from pocketgpu.guests.n3ds.abi.results import result_text

_RECORD_WORDS: Final = ERROR_RECORD.words
_MESSAGE_AT: Final = 8
"""Word of the record from which on a text may be, for kinds other than an exception."""
_TYPES: Final = ERROR_RECORD["type"].values
_EXCEPTIONS: Final = ERROR_RECORD["exception"].values


class ErrorPort(Service):
    """The port."""

    name = "err:f"

    @command(0x1)
    def throw(self, request: Request) -> Answer:
        record = request.words[1 : 1 + _RECORD_WORDS]
        text, details = described(record)
        self.kernel.finish(End("error", f"{text}, thread {request.thread.number}", details=details))
        return Answer()


def described(record: tuple[int, ...]) -> tuple[str, tuple[str, ...]]:
    """What an error record says: a line, and further ones."""
    raw = {field.name: field.raw(record) for field in ERROR_RECORD.elements()}
    kind, what = raw["type"], raw["exception"]
    details = [
        f"Result {result_text(raw['result'])}.",
        f"The program says it gave up at {raw['pc']:#010x}, process {raw['process']}, title {raw['title']:016x}.",
    ]
    if kind == _TYPES.EXCEPTION:
        *values, flags = (one.raw(record) for one in ERROR_RECORD["registers"].elements())
        details.append(
            f"Exception: {_EXCEPTIONS.get(what, f'kind {what}')}, fault status {raw['fsr']:#x}, "
            f"address {raw['far']:#010x}. Its registers:"
        )
        details += [f"  {line}" for line in registers_of(values, flags).lines]
    elif kind == _TYPES.RESULT_FAILURE:
        message = b"".join(word.to_bytes(4, "little") for word in record[_MESSAGE_AT:]).split(b"\0")[0]
        if message:
            details.append(f"It says: {message.decode('utf-8', 'backslashreplace')}")
    return _TYPES.get(kind, f"type {kind}"), tuple(details)
