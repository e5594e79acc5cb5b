"""What programs and the display hand to each other: parcels, buffers, codes of the buffer queue.

    fences = RECORDS.make("Fences", data)
    fences["count"], fences.numbers("id")

The rows are in display.tsv.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.dialect.records import RecordTable
from pocketgpu.facts.switch import TABLES

RECORDS: Final = RecordTable(TABLES, "display")
PRODUCER: Final = "android.gui.IGraphicBufferProducer"
"""The interface that programs name in parcels for a buffer queue."""
WIDTH: Final = 1280
HEIGHT: Final = 720
"""Pixels of the screen, and of buffers of which a program names no size."""
LARGEST_SIDE: Final = 4096
"""Pixels of a side of a buffer; more than twice what a screen has."""
SLOTS: Final = 64
"""Buffers that a queue can have."""
MOST_FENCES: Final = 4
DISPLAY_SYNCPOINT: Final = 1
"""It counts buffers that the display has shown: it has left the one before then."""


class Code(IntEnum):
    """What a program asks a buffer queue for."""

    REQUEST_BUFFER = 1
    SET_BUFFER_COUNT = 2
    DEQUEUE_BUFFER = 3
    DETACH_BUFFER = 4
    DETACH_NEXT_BUFFER = 5
    ATTACH_BUFFER = 6
    QUEUE_BUFFER = 7
    CANCEL_BUFFER = 8
    QUERY = 9
    CONNECT = 10
    DISCONNECT = 11
    SET_SIDEBAND_STREAM = 12
    ALLOCATE_BUFFERS = 13
    SET_PREALLOCATED_BUFFER = 14


class Status(IntEnum):
    """What it answers; Android's numbers."""

    OK = 0
    WOULD_BLOCK = -11
    NO_INIT = -19
    BAD_VALUE = -22


class Query(IntEnum):
    """What QUERY asks for; Android's numbers."""

    WIDTH = 0
    HEIGHT = 1
    FORMAT = 2
    MIN_UNDEQUEUED_BUFFERS = 3
    STICKY_TRANSFORM = 11
    DEFAULT_WIDTH = 6
    DEFAULT_HEIGHT = 7
    CONSUMER_USAGE = 10


class PixelLayout(IntEnum):
    """Where pixels of a buffer are."""

    ROWS = 1
    TILED = 2
    BLOCK_LINEAR = 3


FORMATS: Final[Mapping[int, str]] = MappingProxyType(
    {1: "RGBA8_UNORM", 2: "RGBX8_UNORM", 4: "RGB565_UNORM", 5: "BGRA8_UNORM"}
)
"""Formats of buffers that can be shown."""
