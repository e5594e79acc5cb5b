"""Updates of the sound renderer: a message with the wishes of the program, and the answer to it.

    update = Update(data, counts, revision)
    update.records("voices")  # their bytes, one after the other

Header and sections are in facts/switch/audren.tsv.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.audren import AUDREN, MOST_ERRORS, sections


class MalformedUpdate(ValueError):
    """The sizes or numbers of an update are wrong."""


def update_size(direction: str, counts: Mapping[str, int]) -> int:
    """Bytes of an update ("in") or an answer ("out") with its header. counts: of records, by parameter."""
    return AUDREN.size("header") + sum(one.size * counts[one.count] for one in sections(direction))


class Update:
    """What a program wants.

    :raises MalformedUpdate: header and parameters do not agree.
    """

    def __init__(self, data: bytes, counts: Mapping[str, int], revision: int) -> None:
        size = update_size("in", counts)
        if len(data) < size:
            raise MalformedUpdate(f"{len(data)} bytes instead of {size}")
        at = AUDREN.size("header")
        header = AUDREN.make("header", data[:at])
        if header["revision"] != revision or header["total"] != size:
            raise MalformedUpdate("another revision or size")
        self._sections: dict[str, bytes] = {}
        for one in sections("in"):
            length = one.size * counts[one.count]
            if header[one.field] != length:
                raise MalformedUpdate(f"{header[one.field]} bytes of {one.field} instead of {length}")
            self._sections[one.record] = data[at : at + length]
            at += length

    def __repr__(self) -> str:
        return f"<Update: {', '.join(f'{len(data)} bytes {name}' for name, data in self._sections.items() if data)}>"

    def section(self, record: str) -> bytes:
        """All bytes of a kind of record."""
        return self._sections[record]

    def raw(self, record: str) -> Iterator[tuple[int, bytes]]:
        """Number and bytes of each record."""
        data, size = self._sections[record], AUDREN.size(record)
        for number, place in enumerate(range(0, len(data), size)):
            yield number, data[place : place + size]

    def records(self, record: str, used: str = "") -> Iterator[tuple[int, Record | None]]:
        """Number and record of each; None for those whose field `used` is 0, which costs less."""
        at = AUDREN.layouts[record].fields[used].offset if used else None
        for number, data in self.raw(record):
            yield number, None if at is not None and not data[at] else AUDREN.make(record, data)


class UpdateAnswer:
    """What the renderer says. errors: results, and the addresses they are about."""

    def __init__(self, counts: Mapping[str, int], revision: int) -> None:
        self.size = update_size("out", counts)
        self.data = bytearray(self.size)
        self.errors: list[tuple[int, int]] = []
        header, at = AUDREN.make("header"), AUDREN.size("header")
        header["revision"], header["total"] = revision, self.size
        self._places: dict[str, int] = {}
        for one in sections("out"):
            length = one.size * counts[one.count]
            header[one.field], self._places[one.record] = length, at
            at += length
        self.data[: len(header.data)] = header.data

    def __repr__(self) -> str:
        return f"<UpdateAnswer: {self.size} bytes, {len(self.errors)} errors>"

    def store(self, record: str, number: int, **values: int) -> None:
        """Store fields of a record."""
        one = AUDREN.make(record)
        for name, value in values.items():
            one[name] = value
        at = self._places[record] + number * len(one.data)
        self.data[at : at + len(one.data)] = one.data

    def finished(self) -> bytes:
        """The bytes, with the errors."""
        told = AUDREN.make("behaviour_out")
        entries = b""
        for result, about in self.errors[:MOST_ERRORS]:
            entry = AUDREN.make("error")
            entry["result"], entry["about"] = result, about
            entries += bytes(entry.data)
        told.set_part("errors", entries)
        told["count"] = min(len(self.errors), MOST_ERRORS)
        at = self._places["behaviour_out"]
        self.data[at : at + len(told.data)] = told.data
        return bytes(self.data)
