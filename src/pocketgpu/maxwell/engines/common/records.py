"""What a machine logs: one record for each thing that an engine did, in order.

Records say what happened in terms of the console: GPU addresses, formats by name, rectangles in pixels. `place` is
where the machine was ("s3/e2+17": submission, entry, word). Draws and launches are in `draws` and `compute`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Clear:
    """CLEAR_SURFACE: a rectangle of one layer, in pixels.

    slot: the colour target, None if no colour was cleared. channels: those of "rgbazs" that were cleared. colour: the
    four clear values as raw words. address: of the colour target, else of the depth target.
    """

    place: str
    slot: int | None
    channels: str
    rectangle: tuple[int, int, int, int]
    layer: int
    format: str
    address: int
    colour: tuple[int, int, int, int]
    depth: float
    stencil: int


@dataclass(frozen=True)
class Copy:
    """A transfer of the DMA engine. unit: bytes of an element. kind: "copy", "remap" or "fill". slices: of source and
    target, where they are block-linear."""

    place: str
    kind: str
    source: int
    target: int
    source_layout: str
    target_layout: str
    line_length: int
    lines: int
    unit: int
    slices: tuple[int, int]


@dataclass(frozen=True)
class Blit:
    """A blit of the 2D engine. rectangle: left, top, width, height of what is written. steps: source pixels for each
    target pixel, across and down."""

    place: str
    source: int
    target: int
    source_format: str
    target_format: str
    rectangle: tuple[int, int, int, int]
    origin: tuple[float, float]
    steps: tuple[float, float]
    filter: str
    operation: str


@dataclass(frozen=True)
class Upload:
    """Inline data that went to memory: `lines` of `line_length` bytes, sent through class `class_id`."""

    place: str
    class_id: int
    target: int
    layout: str
    line_length: int
    lines: int


@dataclass(frozen=True)
class Report:
    """A report semaphore: "release", "report", "acquire" or "trap", and which counter it wrote, if any."""

    place: str
    operation: str
    address: int
    report: str
    value: int
