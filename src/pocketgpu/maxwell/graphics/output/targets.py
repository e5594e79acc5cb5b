"""Colour and depth targets of a draw: their formats, sizes and addresses from registers.

Source: class header B197. Widths of block-linear targets are in samples, those of linear ones in bytes; the distance of
layers is a register (in words), so there may be gaps between a target's layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import COLOR_TARGET, DEPTH, PixelLayout
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.threed.clear import COLOR_FORMATS, LAYOUTS, THIRD_DIMENSIONS
from pocketgpu.maxwell.graphics.records import MAX_TARGETS, TARGET
from pocketgpu.maxwell.memory.blocklinear import GOB_WIDTH, MAX_BLOCK_LOG2, Layout

_ZT_LAYERS = B197.values("SET_ZT_SIZE_C.CONTROL")


@dataclass(frozen=True)
class Target:
    """A target as described by registers.

    slot: of a colour target, None for depth. address: GPU address of the first byte that draws can write; size: bytes
    from there on. width, height: in samples. words: the TARGET record except for BASE.
    """

    slot: int | None
    format: PixelLayout
    address: int
    size: int
    width: int
    height: int
    layers: int
    words: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """Its name in messages."""
        return "depth target" if self.slot is None else f"colour target {self.slot}"

    def record(self, offset: int) -> list[int]:
        """The words of a TARGET record for a target whose first byte is at an arena offset."""
        return [offset if name == "BASE" else dict(self.words)[name] for name in TARGET.offsets]


_HIGH = 2
"""log2 of the GOBs of a block from which threads share columns: each piece of a column is 2 KiB of memory, or more."""
_LEAST_COLUMN = 5
"""log2 of the least pixels of a column."""


def column_bits(targets: Sequence[Target]) -> int:
    """log2 of the pixels of columns that threads share, 0 if they share rows.

    Where pixels of two threads are side by side in memory, each processor fetches ahead what the other one is about to
    write. With strips of 8 rows that is every 512 bytes: large shapes took twice as long on processors that share no
    cache. A block is one GOB wide and lies in one piece, so columns of blocks are apart. In pitch layout, or in blocks
    that are not high, they are not.
    """
    if not all(_in_high_blocks(dict(target.words)) for target in targets):
        return 0
    widths = [GOB_WIDTH // target.format.bytes for target in targets]
    return max([_LEAST_COLUMN, *(width.bit_length() - 1 for width in widths)]) if widths else 0


def _in_high_blocks(words: Mapping[str, int]) -> bool:
    return not words["PITCH"] and words["BLOCK_HEIGHT"] >= _HIGH


Events = list[tuple[str, str]]


def _block_linear(
    width: int, height: int, format: PixelLayout, high: int, deep: int, slices: int
) -> tuple[Layout, dict[str, int]]:
    high, deep = min(high, MAX_BLOCK_LOG2), min(deep, MAX_BLOCK_LOG2)
    layout = Layout(max(width, 1) * format.bytes, max(height, 1), max(slices, 1), high, deep)
    words = {"PITCH": 0, "GOBS": layout.gobs_per_row, "BLOCK_HEIGHT": high, "BLOCK_DEPTH": deep}
    return layout, words


def _made(
    slot: int | None, format: PixelLayout, address: int, size: int, width: int, height: int, layers: int, stride: int,
    first: int, words: dict[str, int],
) -> Target:  # fmt: skip
    words |= {
        "LAYER_STRIDE": stride, "LAYERS": layers, "WIDTH": width, "HEIGHT": height, "FIRST_LAYER": first,
    }  # fmt: skip
    size = size + stride * (layers - 1) if stride else size
    return Target(slot, format, address, size, width, height, layers, tuple(words.items()))


def colour_target(state: State, slot: int, layered: bool, events: Events) -> Target | None:
    """Colour target `slot`, None if it is off or has no format. layered: whether layers but the first are drawn to.

    events: receives (id, message) of errors.

    :raises UsageError: it would not fit into the address space.
    """
    field = lambda name, part="V": state.field(f"SET_COLOR_TARGET_{name}", part, slot)
    code = field("FORMAT")
    if code == COLOR_FORMATS.DISABLED:
        return None
    format = COLOR_TARGET.get(code)
    if format is None or not format.bytes:
        events.append(("draw.format", f"colour target {slot} has the unknown format {code:#x}: nothing is drawn to it"))
        return None
    memory = lambda part: field("MEMORY", part)
    width, height, third = field("WIDTH"), field("HEIGHT"), max(field("THIRD_DIMENSION"), 1)
    first, address = field("LAYER", "OFFSET"), state.address("SET_COLOR_TARGET_A", slot)
    if memory("LAYOUT") == LAYOUTS.PITCH:
        columns = width // format.bytes
        size = width * max(height, 1)
        return _made(
            slot, format, address & -128, size, columns, height, 1, 0, 0,
            {"PITCH": width, "GOBS": 0, "BLOCK_HEIGHT": 0, "BLOCK_DEPTH": 0},
        )  # fmt: skip
    volume = memory("THIRD_DIMENSION_CONTROL") == THIRD_DIMENSIONS.THIRD_DIMENSION_DEFINES_DEPTH_SIZE
    layout, words = _block_linear(
        width, height, format, memory("BLOCK_HEIGHT"), memory("BLOCK_DEPTH"), third if volume else 1
    )
    if volume:
        return _made(slot, format, address & -512, layout.size, width, height, third, 0, first, words)
    stride = state.bytes("SET_COLOR_TARGET_ARRAY_PITCH", index=slot)
    layers = max(third - first, 1) if layered and stride else 1
    return _made(
        slot, format, (address & -512) + first * stride, layout.size, width, height, layers, stride, 0, words
    )  # fmt: skip


def depth_target(state: State, layered: bool, events: Events) -> Target | None:
    """The depth target, None if it is off or has no format; see `colour_target`."""
    if not state.field("SET_ZT_SELECT", "TARGET_COUNT"):
        return None
    code = state.field("SET_ZT_FORMAT")
    format = DEPTH.get(code)
    if format is None or not format.bytes:
        events.append(("draw.format", f"the depth target has the unknown format {code:#x}: all depth tests pass"))
        return None
    block = lambda part: state.field("SET_ZT_BLOCK_SIZE", part)
    width, height = state.field("SET_ZT_SIZE_A", "WIDTH"), state.field("SET_ZT_SIZE_B", "HEIGHT")
    address = state.address("SET_ZT_A") & -512
    layout, words = _block_linear(width, height, format, block("HEIGHT"), block("DEPTH"), 1)
    stride, first = state.bytes("SET_ZT_ARRAY_PITCH"), state.field("SET_ZT_LAYER", "OFFSET")
    third = max(state.field("SET_ZT_SIZE_C", "THIRD_DIMENSION"), 1)
    if state.field("SET_ZT_SIZE_C", "CONTROL") == _ZT_LAYERS.ARRAY_SIZE_IS_ONE:
        third = first + 1
    layers = max(third - first, 1) if layered and stride else 1
    return _made(None, format, address + first * stride, layout.size, width, height, layers, stride, 0, words)


def colour_slots(state: State) -> list[int]:
    """The target slot of each output of the pixel program, as SET_CT_SELECT routes them."""
    count = min(state.field("SET_CT_SELECT", "TARGET_COUNT"), MAX_TARGETS)
    return [state.field("SET_CT_SELECT", f"TARGET{n}") for n in range(count)]
