"""The sound renderer of the Switch: records of its updates, and their order.

    AUDREN.make("voice_in", data)["state"]
    sections("in")[1].record  # "memory_pool_in"

The rows are in switch/audren.tsv. What the renderer does is in pocketgpu.guests.switch.services.audio.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Final

from pocketgpu.facts.dialect.records import RecordTable
from pocketgpu.facts.switch import TABLES
from pocketgpu.late_dataclass import dataclass

AUDREN: Final = RecordTable(TABLES, "audren")
"""The records."""


@dataclass(frozen=True, slots=True)
class Section:
    """Records of one kind in an update. record: their name. field: of the header, with their size in bytes. count:
    what says how many there are: a parameter of the renderer, or "one". size: of one record."""

    record: str
    field: str
    count: str
    size: int


@cache
def sections(direction: str) -> tuple[Section, ...]:
    """Sections of an update ("in"), or of its answer ("out"), in their order."""
    return tuple(
        Section(row["record"], row["section"], row["count"], int(row["size"], 0))
        for row in TABLES.read("audren")
        if row["direction"] == direction
    )


RATES: Final = {48000: 240, 32000: 160}
"""Sample rates, and samples of a frame."""
FRAMES_PER_SECOND: Final = 200
WAVE_BUFFERS: Final = 4
"""Places of a voice."""
MOST_ERRORS: Final = 10
MOST_CHANNELS: Final = 6
"""Of a voice."""
REVISION_NAME: Final = b"REV"
NEWEST_REVISION: Final = 4
"""Whose records are in the table."""
LIMITS: Final = {
    "voices": (1, 1024), "effects": (0, 256), "sinks": (1, 256), "submixes": (0, 255), "mix_buffers": (1, 256),
}  # fmt: skip
"""The least and the most of each parameter. Source: libnx's audren.c."""
POOL_PAGE: Final = 0x1000
"""Memory pools begin and end at multiples of it."""
ADPCM_SAMPLES: Final = 14
"""Of a frame."""
ADPCM_BYTES: Final = 8
"""Of a frame."""


class PoolState(IntEnum):
    """What a program wants with a memory pool, and what became of it."""

    NO_CHANGE = 0
    NEW = 1
    DETACH = 2
    DETACHED = 3
    ATTACH = 4
    ATTACHED = 5
    RELEASED = 6


class VoiceState(IntEnum):
    """What a voice does."""

    STARTED = 0
    STOPPED = 1
    PAUSED = 2


class SampleFormat(IntEnum):
    """Of wave buffers."""

    INT8 = 1
    INT16 = 2
    INT24 = 3
    INT32 = 4
    FLOAT = 5
    ADPCM = 6


class SinkType(IntEnum):
    """Where mixed sound goes."""

    DEVICE = 1
    CIRCULAR_BUFFER = 2


SAMPLE_BYTES: Final = {SampleFormat.INT16: 2}
"""Of the formats that the renderer plays, beside ADPCM. Source: libnx's audio/voice.c."""
