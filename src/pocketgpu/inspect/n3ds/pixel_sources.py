"""From a screen's pixel to the bytes in memory that it shows, and from those through transfers to their sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pocketgpu.errors import UsageError
from pocketgpu.facts.external import EXTERNAL, shows_both
from pocketgpu.facts.pica_enums import INTERLACE
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.why import Shown
from pocketgpu.inspect.n3ds.resources.targets import untiled
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.display.lcd import fill_colour
from pocketgpu.pica.display.screens import BOTTOM_WIDTH, HEIGHT, TOP_WIDTH, WIDE_WIDTH, pixel_bits
from pocketgpu.pica.engines.transfer import Move, external_format, tile_order
from pocketgpu.pica.n3ds import N3DS


@dataclass(frozen=True)
class Source:
    """A pixel, or some bytes, that a transfer reads; column and row if the source is a picture."""

    bytes_: Range
    x: int | None = None
    row: int | None = None


def shown_at(machine: N3DS, screen: str, x: int, y: int) -> Shown:
    """The memory that the pixel (x, y) of an upright picture shows, with the display registers as they are now.

    :raises UsageError: the screen shows no such pixel.
    """
    unit = int(screen == "bottom")
    read = machine.peek

    def get(register: str, part: str) -> int:
        found = EXTERNAL[f"PDC{unit}_{register}"]
        return int(found[part].decode(read(found.address)))

    lines, doubling, second = get("FORMAT", "interlace"), get("FORMAT", "scan_doubling"), get("SELECT", "next")
    width = BOTTOM_WIDTH if unit else TOP_WIDTH if lines or doubling else WIDE_WIDTH
    if not (x < width and y < HEIGHT):
        raise UsageError(f"the {screen} screen has {width}x{HEIGHT} pixels; there is no ({x}, {y})")
    a, b = get(f"ADDRESS_A{second}", "address"), get(f"ADDRESS_B{second}", "address")
    base, side = a, "A"
    if not unit and shows_both(lines):
        left, right = (a, b) if lines == INTERLACE.A_THEN_B else (b, a)
        base = right if screen == "top-right" else left
        side = "A" if base == a else "B"
        if screen == "top-right" and left == right:
            raise UsageError("both eyes see the same picture", hint="Ask for the top screen.")
    elif screen == "top-right":
        raise UsageError("the top screen shows one picture to both eyes", hint="Ask for the top screen.")
    if fill_colour("bottom" if unit else "top", read) is not None:
        return Shown(screen, x, y, None, "the LCD shows its fill colour")
    if not get("CONTROL", "enable"):
        return Shown(screen, x, y, None, "the display controller is off")
    if not base:
        return Shown(screen, x, y, None, "no framebuffer was ever given")
    size = pixel_bits(get("FORMAT", "color_format"), machine.choices) // 8
    place = (HEIGHT - 1 - y) >> int(bool(unit and doubling))
    address = base + x * get("STRIDE", "stride") + place * size
    if machine.memory.offset_of(address, size) is None:
        return Shown(screen, x, y, None, f"{address:#010x} is no memory")
    return Shown(screen, x, y, Range(address, size), register=f"PDC{unit}_ADDRESS_{side}{second} {base:#010x}")


def move_of(machine: N3DS, facts: Mapping[str, Any]) -> Move:
    """What the transfer of an event did; facts: of the event, its registers by name."""
    return machine.transfer_of({name: int(word, 16) for name, word in facts.items()})


def sources_of(machine: N3DS, move: Move, wanted: Range) -> list[Source]:
    """What a transfer read for the first pixel (or for bytes) in an output range. Empty if it wrote nothing there."""
    memory = machine.memory
    offset = memory.offset_of(wanted.address, wanted.size)
    start, size = move.written
    if offset is None or not start <= offset < start + size or not move.arguments:
        return []
    if not move.how:
        return _copied(machine, move, offset, wanted.size)
    how = move.how
    source, target, stride, width, height, flip = move.arguments
    read, write = external_format(how["input"]), external_format(how["output"])
    number = (offset - target) // (write.bits // 8)
    if how["tiled_out"]:
        column, row = untiled(number, width >> 3, how["block"])
    else:
        column, row = number % width, number // width
    if column >= width or row >= height:
        return []
    y = (height - 1 - row if flip else row) << how["scale_y"]
    x = column << how["scale_x"]
    # From a linear source, several pixels are taken from one row.
    in_a_row = how["scale_x"] and not how["tiled_in"] and machine.choices["transfer.linear_scale"] == "as_tiled"
    found = []
    for j in range(1 + how["scale_y"]):
        for i in range(1 + how["scale_x"]):
            at = (x + i + 2 * j, y) if in_a_row else (x + i, y + j)
            place = tile_order(*at, stride >> 3, how["block"]) if how["tiled_in"] else at[0] + at[1] * stride
            address = memory.address_of(source + place * (read.bits // 8))
            if address is not None:
                found.append(Source(Range(address, read.bits // 8), *at))
    return found


def _copied(machine: N3DS, move: Move, offset: int, size: int) -> list[Source]:
    """The source bytes of some bytes that a texture copy wrote."""
    source, target, units, in_width, in_gap, out_width, out_gap = move.arguments
    line, inside = divmod(offset - target, 16 * (out_width + out_gap))
    if inside >= 16 * out_width:
        return []
    unit, byte = divmod(inside, 16)
    number = line * out_width + unit
    if number >= units:
        return []
    line, place = divmod(number, in_width)
    address = machine.memory.address_of(source + 16 * (line * (in_width + in_gap) + place) + byte)
    return [] if address is None else [Source(Range(address, min(size, 16 - byte)))]
