"""The devices of nvdrv: their requests (ioctls), and the records that go with them.

    one = REQUESTS["/dev/nvmap", 0x0101]
    one.name, one.layout.size  # "Create", 8

The rows are in nvdrv.tsv. What the requests do is in pocketgpu.guests.switch.services.nvdrv.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from pocketgpu.facts.dialect.records import RecordLayout, RecordTable
from pocketgpu.facts.switch import TABLES
from pocketgpu.facts.switch.structures import structure
from pocketgpu.late_dataclass import dataclass

RECORDS: Final = RecordTable(TABLES, "nvdrv")
REQUEST: Final = structure("NV_REQUEST")


@dataclass(frozen=True, slots=True)
class NvRequest:
    """A request of a device. number: with its type in bits 15:8."""

    device: str
    number: int
    name: str
    layout: RecordLayout


def _read() -> Mapping[tuple[str, int], NvRequest]:
    found = {}
    for row in TABLES.read("nvdrv"):
        if row["device"]:
            one = NvRequest(row["device"], int(row["number"], 0), row["record"], RECORDS.layouts[row["record"]])
            found[one.device, one.number] = one
    return found


REQUESTS: Final = _read()
"""By device and number."""
DEVICES: Final = tuple(dict.fromkeys(device for device, _ in REQUESTS))
"""Paths of all devices."""


class NvError(IntEnum):
    """What devices answer. Source: libnx's result.h."""

    SUCCESS = 0
    NOT_IMPLEMENTED = 1
    NOT_SUPPORTED = 2
    NOT_INITIALIZED = 3
    BAD_PARAMETER = 4
    TIMEOUT = 5
    INSUFFICIENT_MEMORY = 6
    INVALID_STATE = 8
    INVALID_ADDRESS = 9
    INVALID_SIZE = 10
    BAD_VALUE = 11
    ALREADY_ALLOCATED = 13
    BUSY = 14
    RESOURCE_ERROR = 15
    FILE_NOT_FOUND = 0x30013


class MapFlag(IntEnum):
    """Bits of MapBufferEx and AllocSpace."""

    FIXED = 1 << 0
    MODIFY = 1 << 8


class SubmitFlag(IntEnum):
    """Bits of KickoffPb and SubmitGpfifo."""

    FENCE_WAIT = 1 << 0
    FENCE_GET = 1 << 1
    INCREMENTS = 1 << 8


class Param(IntEnum):
    """What nvmap's Param reports about an object."""

    SIZE = 1
    ALIGN = 2
    BASE = 3
    HEAP = 4
    KIND = 5
