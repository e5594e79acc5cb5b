"""Parcels: the messages of binders, which buffer queues take.

    parcel = ParcelReader(data)
    slot = parcel.number()
    answer = parcel_of(pack("<i", 0))

A request names its interface before its arguments. Source: libnx's display/parcel.c and display/binder.c.
"""

from __future__ import annotations

from struct import unpack_from

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.display import RECORDS

_ALIGN = 4
_UNIT = 2
"""Bytes of a unit of UTF-16."""


class ParcelReader:
    """The arguments of a request, in order; what is not there reads as zeros. interface: its name."""

    def __init__(self, data: bytes) -> None:
        head = RECORDS.make("Parcel", data[: RECORDS.size("Parcel")])
        start, size = head["offset"], head["size"]
        self._data = data[start : start + size]
        self._at = 0
        token = self.record("Token")
        length = min(token["length"], len(self._data) // _UNIT)
        self.interface = self.take(_UNIT * length).decode("utf-16-le", "replace")
        self._at = RECORDS.size("Token") + _up(_UNIT * (length + 1))  # a zero ends the name

    def __repr__(self) -> str:
        return f"<ParcelReader {self.interface}: {max(0, len(self._data) - self._at)} bytes left>"

    def take(self, size: int) -> bytes:
        """The next bytes, as they are aligned in a parcel."""
        data = self._data[self._at : self._at + size]
        self._at += _up(size)
        return data.ljust(size, b"\0")

    def number(self) -> int:
        """The next signed number."""
        value: int = unpack_from("<i", self.take(4))[0]
        return value

    def record(self, name: str) -> Record:
        """The next record."""
        return RECORDS.make(name, self.take(RECORDS.size(name)))

    def flattened(self, name: str) -> Record | None:
        """The next object; None if it is shorter than it should be."""
        head = self.record("Flattened")
        if head["length"] < RECORDS.size(name) or head["length"] > len(self._data):
            return None
        return RECORDS.make(name, self.take(head["length"]))


def _up(size: int) -> int:
    return size + -size % _ALIGN


def parcel_of(payload: bytes) -> bytes:
    """A parcel without objects."""
    head = RECORDS.make("Parcel")
    head["size"], head["objects_offset"] = len(payload), head["offset"] + len(payload)
    return bytes(head.data) + payload


def flat(one: Record) -> bytes:
    """An object in a parcel."""
    head = RECORDS.make("Flattened")
    head["length"] = len(one.data)
    return bytes(head.data) + bytes(one.data).ljust(_up(len(one.data)), b"\0")
