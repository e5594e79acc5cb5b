"""Pictures made of nothing."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_KINDS = ("transfer", "copy")


def look(record: N3dsRecord) -> Iterator[Found]:
    for read in record.all_reads:
        if read.kind in _KINDS and read.range.size and read.missing >= read.range.size:
            drawn = sorted({draw.writes["color"].address for draw in record.draws if "color" in draw.writes})
            more = f"; draws go to {', '.join(f'{address:#010x}' for address in drawn[:3])}" if drawn else ""
            yield Found(
                f"{read.what}: nothing was ever written at {read.range.address:#010x} ({read.name}){more}", read.at
            )


RULE = Rule(
    "transfer.never-written",
    "a transfer or a copy reads memory that nothing wrote",
    "3DS",
    "warning",
    "inferred",
    "3dbrew GPU/External Registers, Transfer Engine",
    "What is shown is whatever was there before; here it is black.",
    "Transfer from where draws go, COLORBUFFER_LOC.",
    look,
)
