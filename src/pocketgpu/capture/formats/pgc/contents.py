"""The contents of a `.pgc` file as values, which readers make, writers take and tools change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.gsp import AddressRange
from pocketgpu.late_dataclass import dataclass

Words: TypeAlias = NDArray[np.uint32]
Pieces: TypeAlias = tuple[bytes, ...]
"""Bytes of guest memory in blocks; equal blocks may be the same object."""


@dataclass(frozen=True, slots=True)
class Load:
    """The bytes of `pieces`, joined, are stored at physical `address`."""

    address: int
    pieces: Pieces


@dataclass(frozen=True, slots=True, eq=False)
class Writes:
    """Register writes in order: word-aligned physical addresses and values, of the same length."""

    addresses: Words
    values: Words


@dataclass(frozen=True, slots=True)
class Narrow:
    """One register write of `width` 8 or 16 bits."""

    address: int
    value: int
    width: int


@dataclass(frozen=True, slots=True)
class Gx:
    """A GX command of eight words."""

    words: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Swap:
    """A framebuffer entry of seven words for a screen, and the register writes that result from it."""

    screen: int
    info: tuple[int, ...]
    registers: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Map:
    """`size` bytes of `handle`, from its byte `offset`, are mapped to `gpu_va`."""

    id: int
    gpu_va: int
    size: int
    handle: int
    kind: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Unmap:
    """The mapping `id` is removed."""

    id: int


@dataclass(frozen=True, slots=True)
class Store:
    """A write of the processor: to `offset` of `handle`, or to `gpu_va` if there is no handle."""

    handle: int | None
    offset: int
    gpu_va: int
    pieces: Pieces


@dataclass(frozen=True, slots=True, eq=False)
class Submit:
    """GPFIFO entries for a channel."""

    channel: int
    entries: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Present:
    """The surface that is presented at the end of the frame; fields as in `mxcap.Present`, `format` by number."""

    gpu_va: int
    handle: int | None
    offset: int
    width: int
    height: int
    format: int
    block_linear: bool
    block_height_log2: int
    stride: int
    transform: int
    fence: tuple[int, int] | None
    left: int = 0
    top: int = 0


Event: TypeAlias = Load | Writes | Narrow | Gx | Swap | Map | Unmap | Store | Submit | Present


@dataclass(frozen=True, slots=True, eq=False)
class StateRecord:
    """Words of one memory of the GPU, starting at word `first`; `item` as in `numbers.STATE_ITEMS`."""

    item: int
    words: Words
    first: int = 0
    channel: int = 0
    class_id: int = 0


@dataclass(frozen=True, slots=True)
class FrameContents:
    """The events of a frame, and the digests of its pictures by number of the screen (None: not known)."""

    events: tuple[Event, ...]
    pictures: Mapping[int, bytes] | None = None


@dataclass(slots=True)
class Contents:
    """A whole capture. `digest_size`, `check_size`: bytes, see the header of the format. `tail`: events after the
    last frame."""

    console: str
    digest_size: int = 16
    check_size: int = 4
    about: dict[str, str] = field(default_factory=dict)
    coverage: int = 0
    state: list[StateRecord] = field(default_factory=list)
    ranges: list[AddressRange] = field(default_factory=list)
    syncpoints: dict[int, int] = field(default_factory=dict)
    frames: list[FrameContents] = field(default_factory=list)
    tail: tuple[Event, ...] = ()

    def memory_events(self) -> Iterator[Load | Store]:
        """All events that store bytes in memory, in order."""
        for events in (*(frame.events for frame in self.frames), self.tail):
            for event in events:
                if isinstance(event, Load | Store):
                    yield event


def count(event: Event) -> int:
    """The number of positions of an event."""
    return len(event.addresses) if isinstance(event, Writes) else 1


def digest(pixels: bytes, size: int) -> bytes:
    """The digest of a picture: RGB bytes of each pixel, row by row from the upper left."""
    return hashlib.sha256(pixels).digest()[:size]


def bytes_of(pieces: Sequence[bytes]) -> bytes:
    """The joined pieces."""
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
