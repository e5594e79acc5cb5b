"""Conversations of programs for a Switch: instructions take no time, and lines tell where chosen numbers are.

`ref` names where a number lies that the program was told before: it is translated. `free` names where the kernel may
put any number: it is learned, or ignored. Everything else that a line says of an answer is required.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.processors.recorded import Line, Numbers, RecordedGuest

WAITERS: Final = 0x40000000
"""In the word of a mutex: others wait for it."""
MESSAGE: Final = "msg"
"""The role of a message: it lies in the thread's own storage."""
HANDLE: Final = "handle"
_LOW: Final = 0xFFFFFFFF
_GPFIFO_ADDRESS: Final = 0xFFFFFFFFFC
_LEARNED: Final = (
    HANDLE, "nvfd", "nvmap", "nvmapid", "gpuva", "syncpt", "aruid", "layer", "display", "binder", "object",
)  # fmt: skip
_MAY_BE_ZERO: Final = ("binder", "nvfd", "syncpt", "gpuva")
_ONCE: Final = ("nvmap", "nvmapid", "nvfd")
"""Two things that live at the same time have different ones."""
_REQUIRED: Final = ("layout", "addr", "random", "programid", "slot", "policy")
_GREATEST_HANDLE: Final = 1 << 30

Differ = Callable[[str, object, object], None]
"""Called with what is compared, what was found, and what was recorded."""


def translated(numbers: Numbers, kind: str, recorded: int) -> int:
    """The kernel's number for one that a line names."""
    if kind == "word":
        return numbers.of(HANDLE, recorded & ~WAITERS) | recorded & WAITERS if recorded else 0
    if kind == "gpfifo":
        address = recorded & _GPFIFO_ADDRESS
        return recorded & ~_GPFIFO_ADDRESS | numbers.below("gpuva", address) & _GPFIFO_ADDRESS
    if kind == "gpuva":
        return numbers.below(kind, recorded)
    return numbers.of(kind, recorded)


def settle(numbers: Numbers, kind: str, recorded: int, found: int, differ: Callable[[object, object], None]) -> None:
    """Compare or learn a number that a kernel chose."""
    if kind.split()[0] in _LEARNED:
        if not recorded:
            differ(found, 0)
        elif numbers.known(kind, recorded) and kind != HANDLE:
            differ(found, translated(numbers, kind, recorded))
        else:
            zero = not found and kind not in _MAY_BE_ZERO
            if zero or (kind == HANDLE and found >= _GREATEST_HANDLE):
                differ(f"{found:#x}, no usable {kind}", f"{recorded:#x}")
            if kind in _ONCE and found in numbers.chosen(kind):
                differ(f"{kind} {found:#x} again", f"{recorded:#x}")
            numbers.learn(kind, recorded, found)
    elif kind == "word":
        differ(f"{found:#x}", f"{translated(numbers, kind, recorded):#x}")
    elif kind in _REQUIRED:
        differ(f"{found:#x}", f"{recorded:#x}")


class RecordedSwitch(RecordedGuest):
    """A Switch's processor that makes recorded calls."""

    def moment(self, line: Line) -> tuple[int, int] | None:
        return (line["t"], 0) if "n" in line else None

    def enter(self, thread: Thread, line: Line) -> None:
        assert self.space is not None
        registers = [int(word, 16) for word in line["r"]]
        pieces = [
            bytearray.fromhex(data) if isinstance(data, str) else None for _, data, *_ in line.get("in", ())
        ]  # only length and digest of long ones are known
        for where, offset, size, kind in line.get("ref", ()):
            if where.startswith("r"):
                number = int(where[1:])
                registers[number] = registers[number] & ~_LOW | self._of(kind, registers[number] & _LOW)
            elif (piece := pieces[int(where[2:])]) is not None:
                value = self._of(kind, int.from_bytes(piece[offset : offset + size], "little"))
                piece[offset : offset + size] = value.to_bytes(size, "little")
        thread.registers = registers
        for (address, _, _, role), piece in zip(line.get("in", ()), pieces, strict=True):
            if piece is not None:
                self.store(thread.tls if role == MESSAGE else int(address, 16), bytes(piece))

    def _of(self, kind: str, recorded: int) -> int:
        return translated(self.numbers, kind, recorded)

    # -- answers ----------------------------------------------------------------------------------------------------
    def compare_registers(self, line: Line, answer: Mapping[int, int], differ: Differ) -> None:
        """Compare the registers that a call has set."""
        free = {where: kind for where, _, _, kind in line.get("free", ())}
        for number, recorded in line.get("o", {}).items():
            kind, wanted = free.get(f"o{number}"), int(recorded, 16)
            found = answer.get(int(number))
            what = f"{line['name']} x{number}"
            if kind is not None and (found is not None or kind in _REQUIRED or kind == HANDLE):
                settle(self.numbers, kind, wanted, found or 0, partial(differ, what))
            elif kind is None:
                differ(what, None if found is None else f"{found:x}", recorded)

    def forget_closed(self, line: Line) -> None:
        """Numbers of the graphics driver that a call gives back."""
        nv, ipc = line.get("nv"), line.get("ipc", {})
        if nv and nv["dev"] == "nvmap" and nv["ioctl"] == "105":
            for kind in ("nvmap", "nvmapid"):
                self.numbers.forget(kind, int.from_bytes(bytes.fromhex(nv["in"][:8]), "little"))
        if ipc.get("cmdname") == "Close":
            self.numbers.forget("nvfd", int.from_bytes(bytes.fromhex(ipc["data"][:8]), "little"))

    def compare_memory(self, line: Line, thread: Thread, differ: Differ) -> None:
        """Compare what a call has written to memory."""
        assert self.space is not None
        for number, (address, data, size, role) in enumerate(line.get("wr", ())):
            if not isinstance(data, str):
                continue  # parts of files, of which the digest is known
            place = thread.tls if role == MESSAGE else int(address, 16)
            found = bytearray(b"".join(bytes(one) for one in self._bytes(place, size)))
            free = [(at, length, kind) for where, at, length, kind in line.get("free", ()) if where == f"wr{number}"]
            wanted = bytearray.fromhex(data)
            if role == MESSAGE:
                self._compare_message(line, wanted, found, free, differ)
            else:
                self._settle(wanted, found, free, f"{name_of(line)} {role}", differ)
                _same(f"{name_of(line)} {role}", found, wanted, differ)

    def _bytes(self, address: int, size: int) -> list[bytes]:
        """Bytes of the program's memory, with zeros where there is none."""
        assert self.space is not None
        pieces, at = [], address
        for area in self.space.within(address, size):
            low, high = max(area.base, address), min(area.end, address + size)
            pieces += [bytes(low - at), bytes(area.view[low - area.base : high - area.base])]
            at = high
        return [*pieces, bytes(address + size - at)]

    def _settle(
        self, wanted: bytearray, found: bytearray, free: list[tuple[int, int, str]], what: str, differ: Differ
    ) -> None:
        """Compare or learn the numbers in bytes, and make zeros of them."""
        for at, length, kind in free:
            recorded, chosen = (int.from_bytes(one[at : at + length], "little") for one in (wanted, found))
            place = f"{what}+{at:#x} {kind}"
            settle(self.numbers, kind, recorded, chosen, partial(differ, place))
            wanted[at : at + length] = found[at : at + length] = bytes(length)

    def _compare_message(
        self, line: Line, wanted: bytearray, found: bytearray, free: list[tuple[int, int, str]], differ: Differ
    ) -> None:
        what, answer = name_of(line), line.get("ipc", {}).get("ans")
        if (head := _header(found)) != (kept := _header(wanted)):
            differ(f"{what}: statics and buffers, pid, copied and moved handles", head, kept)
            return
        if not answer:
            return
        at = answer["at"]
        magic, result = found[at - _RESULT_BEFORE - 8 :][:4], found[at - _RESULT_BEFORE :][:4]
        if magic != _ANSWER:
            differ(f"{what}: magic", bytes(magic), _ANSWER)
            return
        code = int.from_bytes(result, "little")
        if code != int(answer["rc"], 16):
            differ(f"{what}: result", f"{code:x}", answer["rc"])
            return
        if "objects" in answer and any(kind.startswith("object") for _, _, kind in free):
            count = at - _COUNT_BEFORE
            differ(f"{what}: objects", found[count], wanted[count])
        self._settle(wanted, found, free, what, differ)
        size = len(answer["data"]) // 2
        _same(f"{what}: data", found[at : at + size], wanted[at : at + size], differ)


_ANSWER: Final = b"SFCO"
_RESULT_BEFORE: Final = 8
"""Bytes between a result and the data."""
_COUNT_BEFORE: Final = 32
"""Bytes between the number of objects and the data, in a domain."""


def name_of(line: Line) -> str:
    """What a line is about, for people."""
    ipc = line.get("ipc")
    if ipc is None:
        return str(line["name"])
    more = ""
    for kind, name in (("nv", "name"), ("binder", "name")):
        if kind in line:
            more = f" {line[kind][name]}"
    return f"{ipc.get('to', line.get('obj'))} {ipc.get('cmd', '')} {ipc.get('cmdname', ipc['kind'])}{more}"


def _header(message: bytearray) -> tuple[int, bool, int, int]:
    """Counts of descriptors, and of what the special header announces."""
    first, second, special = (int.from_bytes(message[at : at + 4], "little") for at in (0, 4, 8))
    if not second >> 31:
        special = 0
    return first >> 16, bool(special & 1), special >> 1 & 0xF, special >> 5 & 0xF


def _same(what: str, found: bytearray, wanted: bytearray, differ: Differ) -> None:
    if found != wanted:
        at = next(n for n in range(len(wanted)) if found[n] != wanted[n])
        differ(f"{what}+{at:#x}", found[at : at + 8].hex(), wanted[at : at + 8].hex())
