"""Rules about memory that is read: never written, not flushed from a cache, or used in two ways."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.wording import counted

RULES = RuleSet("3DS")


_KINDS = ("list", "vertices", "indices", "texture")


@RULES.rule(
    "memory.never-written",
    "vertices, indices, textures or lists are read from memory that nothing wrote",
    severity="warning",
    confidence="inferred",
    source="3dbrew Memory layout",
    explanation=(
        "Here such memory is 0. On a console it holds what another program left there. Writes are recorded in groups "
        "of 16."
    ),
    hint="Look at the address and the size; a recording that began late may also lack what was written before.",
)
def memory_never_written(record: N3dsRecord) -> Iterator[Found]:
    for read in record.all_reads:
        if read.kind in _KINDS and read.missing:
            where = f" ({read.name})" if read.name else ""
            yield Found(
                f"{read.what}: {read.missing} of {counted(read.range.size, 'byte')} at {read.range.address:#010x} "
                f"were never written{where}", read.at,
            )  # fmt: skip


_MEMORY_TWO_USES_KINDS = ("vertices", "indices", "texture")


@RULES.rule(
    "memory.two-uses",
    "a draw reads the same bytes as vertices and as indices or a texture",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_ATTRIBBUFFERi_CONFIG2, GPUREG_INDEXBUFFER_CONFIG",
    explanation=(
        "One range overlaps the other: a stride or a number of vertices is too large, or an address is wrong."
    ),
    hint="Look at strides, at the largest index, and at offsets, which count from ATTRIBBUFFERS_LOC.",
)
def memory_two_uses(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        reads = [read for kind in _MEMORY_TWO_USES_KINDS for read in draw.reads if read.kind == kind]
        for one, other in combinations(reads, 2):
            if one.kind != other.kind and one.range.overlaps(other.range):
                yield draw.found(f"{one.what} at {one.range} ({one.name}) overlaps {other.what} at {other.range}")


_TRANSFER_NEVER_WRITTEN_KINDS = ("transfer", "copy")


@RULES.rule(
    "transfer.never-written",
    "a transfer or a copy reads memory that nothing wrote",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/External Registers, Transfer Engine",
    explanation="A console shows whatever was there before; here it is black.",
    hint="Transfer from the colour buffer of draws, COLORBUFFER_LOC.",
)
def transfer_never_written(record: N3dsRecord) -> Iterator[Found]:
    for read in record.all_reads:
        if read.kind in _TRANSFER_NEVER_WRITTEN_KINDS and read.range.size and read.missing >= read.range.size:
            drawn = sorted({draw.writes["color"].address for draw in record.draws if "color" in draw.writes})
            more = f"; draws go to {', '.join(f'{address:#010x}' for address in drawn[:3])}" if drawn else ""
            where = f" ({read.name})" if read.name else ""
            yield Found(f"{read.what}: nothing was ever written at {read.range.address:#010x}{where}{more}", read.at)


@RULES.rule(
    "target.not-cleared",
    "a draw depends on a colour or depth buffer that was never cleared",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_DEPTH_COLOR_MASK, GPUREG_BLEND_FUNC",
    explanation=(
        "Here the buffer is 0; on a console it holds what was there before, so the picture differs from run to run."
    ),
    hint="Fill colour and depth buffer before the first draw, at the addresses that the draw uses.",
)
def target_not_cleared(record: N3dsRecord) -> Iterator[Found]:
    for read in record.all_reads:
        if read.kind in ("color", "depth") and read.range.size and read.missing >= read.range.size:
            use = "tested against" if read.kind == "depth" else "blended with"
            yield Found(
                f"the {read.what} at {read.range.address:#010x} ({read.name}) is {use}, and nothing ever wrote there",
                read.at,
            )


@RULES.rule(
    "cache.stale",
    "the GPU reads what the processor wrote without a cache flush",
    severity="warning",
    confidence="documented",
    source="3dbrew GSP Shared Memory, FlushCacheRegions; GSPGPU:FlushDataCache",
    explanation=(
        "The GPU does not see the processor's cache, and reads older data. Of a program (app.3dsx, app.elf), a run is "
        "watched, byte by byte. Only recordings of GX commands contain flushes, and only those by commands: if such a "
        "recording has no flush at all, nothing is looked for."
    ),
    hint="Flush the range after writing it and before the command that reads it.",
)
def cache_stale(record: N3dsRecord) -> Iterator[Found]:
    if record.live is not None:
        yield from record.live
        return
    if not record.flushes:
        return
    for read in record.all_reads:
        if read.stale:
            yield Found(
                f"{read.what}: {read.stale} of {counted(read.range.size, 'byte')} at {read.range.address:#010x} were "
                f"written by "
                "the processor and not flushed since", read.at,
            )  # fmt: skip
