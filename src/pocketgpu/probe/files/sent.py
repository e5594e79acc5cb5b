"""A sent file: a capture with what a program has to know to run it and to look at what it has left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from pocketgpu.capture.formats.pgc.contents import Contents
from pocketgpu.capture.formats.pgc.encoder import encode_plain
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.probe.files import keys
from pocketgpu.probe.model.scene import Watch

MOST_RANGES: Final = 64
MOST_REGISTERS: Final = 64
"""What a program has room for."""


@dataclass(frozen=True, slots=True)
class Move:
    """A word that holds an address in the memory that a program moves. event: its number in the file; offset: bytes
    from the beginning of its record; kind: a letter of docs/formats/probe.md."""

    event: int
    offset: int
    kind: str


@dataclass(frozen=True, slots=True)
class Sent:
    """What a sent file says. watch: what is read back. main: address and bytes of the memory that is moved. look: the
    values that a person tells apart by looking, and what there is to be seen. more: further ABOUT records, which only
    one console has. most_bytes: of a file that its program has room for; 0: any."""

    contents: Contents
    watch: Watch
    choice: str = ""
    main: tuple[int, int] | None = None
    moves: Sequence[Move] = ()
    look: tuple[tuple[str, ...], str] = ((), "")
    more: Mapping[str, str] = field(default_factory=dict)
    most_bytes: int = 0

    def encode(self) -> bytes:
        """The bytes of the file.

        :raises UsageError: it is larger, or names more memory or registers, than programs have room for.
        """
        watch = self.watch
        for count, most, what in (
            (len(watch.memory), MOST_RANGES, "ranges of memory"), (len(watch.registers), MOST_REGISTERS, "registers"),
        ):  # fmt: skip
            if count > most:
                raise UsageError(f"{count} {what} are to be read back; a probe reads {most} at most")
        about = {
            keys.SENT: keys.VERSION,
            keys.CHOICE: self.choice,
            keys.MEMORY: keys.listed(watch.memory),
            keys.REGISTER: keys.listed((at,) for at in watch.registers),
            keys.INTERRUPTS: "1" if watch.interrupts else "",
            keys.MAIN: keys.listed([self.main]) if self.main else "",
            keys.LOOK: ", ".join(self.look[0]),
            keys.LOOK_TEXT: self.look[1],
            **self.more,
        }
        contents = replace(self.contents, about={key: text for key, text in about.items() if text})
        plain = encode_plain(contents)
        if not self.moves:
            return self._checked(plain.data)
        # Positions count from the first event, so this record does not change them.
        places = sorted((plain.places[move.event] + move.offset, move.kind) for move in self.moves)
        contents.about[keys.RELOCATE] = ", ".join(f"{place:X}{kind}" for place, kind in places)
        return self._checked(encode_plain(contents).data)

    def _checked(self, data: bytes) -> bytes:
        if self.most_bytes and len(data) > self.most_bytes:
            raise UsageError(
                f"the file would have {len(data):,} bytes; the program has room for {self.most_bytes:,}",
                hint="Give a capture of one frame or one draw: pocketgpu capture minimise.",
            )
        return data


def watch_of(about: Mapping[str, str]) -> Watch:
    """What the ABOUT records of a sent file say about what is read back. Raises ValueError for damaged lists."""
    return Watch(
        memory=tuple(keys.pairs(about.get(keys.MEMORY, ""))),
        registers=tuple(keys.numbers(about.get(keys.REGISTER, ""))),
        interrupts=about.get(keys.INTERRUPTS) == "1",
    )


def joined(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Ranges (address, bytes) in ascending order, with those that overlap as one; empty ones are left out."""
    found: list[tuple[int, int]] = []
    for at, size in sorted(ranges):
        if found and at < sum(found[-1]):
            first, before = found[-1]
            found[-1] = first, max(before, at + size - first)
        elif size:
            found.append((at, size))
    return tuple(found)
