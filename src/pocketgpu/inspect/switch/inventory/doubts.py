"""Which doubtful behaviour of the GM20B a recording depends on: small tests of methods and of engines' records.

"certain" means that the disputed case itself occurs; "possible" means that it depends on the data. Most tests look at
method writes, so they are one table: class, method, which values matter, which choice, why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from pocketgpu.facts.maxwell import A140, B0B5, B06F, B1C0, B197, MethodBlock
from pocketgpu.inspect.model.inventory import Doubt
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sampling.records import FETCH, SAMPLE

Test = Callable[[int], bool]

_SHAPES: Final = ("draws", "clears")
_SHADERS: Final = ("draws", "launches", "launch_steps")

WHEN: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("channel.acquire_geq", "channel.syncpoint_index", "mme.reads", "mme.shadow_exempt", "mme.wide_shift",
         "mme.instruction_ram", "notify.write", "report.release_size", "inline.pitch_origin", "dma.layer",
         "twod.pitch_overrun"),
        ("words",),
    ),
    **dict.fromkeys(
        ("draw.zero_frequency", "draw.array_base_vertex", "draw.quad_diagonal", "tessellation.winding",
         "geometry.skip_mask", "raster.lower_left", "raster.window_clip_end", "raster.offset_step",
         "raster.window_offset", "output.blend_index", "output.alpha_equation", "output.depth_bounds",
         "clear.raster_disabled"),
        _SHAPES,
    ),
    **dict.fromkeys(("texture.gradient_order", "texture.anisotropy"), _SHADERS),
    "memory.block_depth_base": ("words",),
    # Tests of records are about grids; what programs of draws sample, no record says.
    **dict.fromkeys(("texture.fraction", "texture.fetch_outside"), ("draws",)),
}  # fmt: skip
"""Choices that may matter whatever the tests here say, and the counts of a frame of which one is then not 0."""
_SEEN: Final = frozenset({"texture.fraction", "texture.fetch_outside"})
UNSEEN: Final = frozenset(WHEN) - _SEEN
"""Choices that no test here is about."""

OLD_RAM_WORDS: Final = 2048
"""The size of the macro engine's instruction RAM according to one source."""


@dataclass(frozen=True, slots=True)
class _DoubtWatch:
    block: MethodBlock
    method: str
    matters: Test
    doubt: Doubt


def _is(block: MethodBlock, path: str, name: str) -> Test:
    """Whether a field has the value of that name."""
    field = block.field(path)
    number = field.values.number(name)
    return lambda word: field.raw(word) == number


def _set(word: int) -> bool:
    return word != 0


def _watches() -> Iterator[_DoubtWatch]:
    def watch(
        block: MethodBlock, method: str, matters: Test, choice: str, reason: str, certain: bool = True
    ) -> _DoubtWatch:
        return _DoubtWatch(block, method, matters, Doubt(choice, reason, certain))

    geq = _is(B06F, "SEMAPHORED.OPERATION", "ACQ_GEQ")
    yield watch(B06F, "SEMAPHORED", geq, "channel.acquire_geq", "a semaphore is waited for as greater or equal", False)
    high = B06F.field("SYNCPOINTB.SYNCPT_INDEX")
    yield watch(
        B06F, "SYNCPOINTB", lambda word: high.raw(word) > 255, "channel.syncpoint_index", "a syncpoint above 255"
    )
    mode = "SET_MME_SHADOW_RAM_CONTROL"
    through, replay = (_is(B197, f"{mode}.MODE", name) for name in ("METHOD_PASSTHROUGH", "METHOD_REPLAY"))
    yield watch(B197, mode, through, "mme.reads", "methods pass through the shadow RAM", False)
    yield watch(B197, mode, replay, "mme.shadow_exempt", "methods are replayed from the shadow RAM", False)
    yield watch(
        B197,
        "LOAD_MME_INSTRUCTION_RAM_POINTER",
        lambda word: word >= OLD_RAM_WORDS,
        "mme.instruction_ram",
        f"macros lie beyond word {OLD_RAM_WORDS}",
    )
    for block in (B197, B1C0, A140):
        for method in ("SET_DST_ORIGIN_BYTES_X", "SET_DST_ORIGIN_SAMPLES_Y"):
            yield watch(block, method, _set, "inline.pitch_origin", "inline data with an origin", False)
    for block in (B197, B1C0):
        name = "NOTIFY"
        if name in block:
            yield watch(block, name, lambda word: True, "notify.write", "a notifier is written")
    for method in ("SET_SRC_LAYER", "SET_DST_LAYER"):
        yield watch(B0B5, method, _set, "dma.layer", "the copy engine gets a layer", False)
    four = _is(B197, "SET_REPORT_SEMAPHORE_D.STRUCTURE_SIZE", "FOUR_WORDS")
    release = _is(B197, "SET_REPORT_SEMAPHORE_D.OPERATION", "RELEASE")
    yield watch(
        B197,
        "SET_REPORT_SEMAPHORE_D",
        lambda word: four(word) and release(word),
        "report.release_size",
        "a report semaphore of four words is released",
    )
    off = _is(B197, "SET_RASTER_ENABLE.V", "FALSE")
    yield watch(B197, "SET_RASTER_ENABLE", off, "clear.raster_disabled", "rasterising is off", False)


@cache
def watched(block_name: str) -> dict[int, list[tuple[Test, Doubt]]]:
    """The tests for methods of a class, by word: (test of the value, doubt)."""
    found: dict[int, list[tuple[Test, Doubt]]] = {}
    for watch in _watches():
        if watch.block.name == block_name:
            found.setdefault(watch.block[watch.method].word, []).append((watch.matters, watch.doubt))
    return found


def of_record(record: Any) -> Iterator[Doubt]:
    """The doubts about something that an engine did."""
    if type(record).__name__ == "Blit":
        if record.filter.upper() == "BILINEAR" and any(step * 256 % 1 for step in record.steps):
            yield Doubt("twod.weights", "a bilinear blit by an odd factor", False)
        if record.operation.upper().endswith("_AND"):
            yield Doubt("twod.and_operations", f"a blit with {record.operation}")
    elif type(record).__name__ == "Launch" and record.code is not None:
        if SAMPLE in record.code.textures:
            yield Doubt("texture.fraction", "a grid samples textures", False)
        if FETCH in record.code.textures:
            yield Doubt("texture.fetch_outside", "a grid fetches texels", False)


UNBOUND: Final = Doubt("channel.unbound", "methods for a subchannel that nothing was bound to")
RESERVED_HEADER: Final = Doubt("channel.illegal_header", "a method header of a reserved form")
DEADLOCK: Final = Doubt("channel.deadlock", "a channel waits for something that nothing releases")
