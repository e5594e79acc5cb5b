"""The machine's log: one record for each action of an engine, in order.

Records use the console's terms: GPU addresses, formats by name, rectangles in pixels. `place` is the current place
("s3/e2+17": submission, entry, word). Records of draws and launches are in `threed/draws.py` and
`compute/queue_metadata.py`.
"""

from __future__ import annotations

from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True)
class Clear:
    """CLEAR_SURFACE: a rectangle of one layer, in pixels.

    slot: the colour target, None if no colour was cleared. channels: those of "rgbazs" that were cleared. colour: the
    four clear values as raw words. address: of the colour target, or of the depth target without one.
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
    """A blit of the 2D engine. rectangle: left, top, width, height in the target. steps: source pixels for each target
    pixel, across and down."""

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
    """Inline data that was written to memory: `lines` of `line_length` bytes, sent through class `class_id`."""

    place: str
    class_id: int
    target: int
    layout: str
    line_length: int
    lines: int


@dataclass(frozen=True)
class Report:
    """A report semaphore: "release", "report", "acquire" or "trap", and the counter that it wrote, if any."""

    place: str
    operation: str
    address: int
    report: str
    value: int
