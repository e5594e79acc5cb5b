"""Pictures that nobody looks at."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_READERS = ("transfer", "copy", "display", "texture")


def look(record: N3dsRecord) -> Iterator[Found]:
    read = [one for one in record.all_reads if one.kind in _READERS and one.range.size]
    if not any(one.kind in ("transfer", "copy") for one in read):
        return
    for draw in record.draws:
        target = draw.writes.get("color")
        if target is None or any(target.overlaps(one.range) for one in read):
            continue
        others = sorted({f"{one.range.address:#010x}" for one in read if one.kind in ("transfer", "copy")})
        width, height = draw.size
        yield draw.found(
            f"draws go to {width}x{height} pixels at {target.address:#010x} (COLORBUFFER_LOC), and nothing reads them: "
            f"transfers read {', '.join(others[:3])}"
        )


RULE = Rule(
    "target.unused",
    "a render target that nothing reads",
    "3DS",
    "warning",
    "inferred",
    "3dbrew GPU/Internal Registers, GPUREG_COLORBUFFER_LOC; GPU/External Registers, Transfer Engine",
    "No transfer, copy, texture or screen of the recording takes the picture. Often one of the two addresses is wrong.",
    "Compare COLORBUFFER_LOC with the input address of the transfer.",
    look,
)
