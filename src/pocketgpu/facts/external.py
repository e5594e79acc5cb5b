"""The registers that the ARM11 reaches directly: memory fill, transfer, display and the LCD block.

Two blocks, both with offsets in bytes: EXTERNAL at physical 0x10400000 (its upper half, from 0x1000, is the
bank of facts/pica.py) and LCD at 0x10202000. Programs see them 0x0EB00000 higher.

Reset values are what the system software (gsp) leaves to programs. Source: 3dbrew GPU/External Registers, LCD
Registers; GBATEK where a register says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pocketgpu.facts.registers import Bank, Certainty, Field, Register, RegisterBlock

USER_OFFSET: Final = 0x0EB00000
"""Virtual address of a device register in a program, minus its physical address."""

EXTERNAL_BANK: Final = Bank("external", 0x10400000, 1)
LCD_BANK: Final = Bank("lcd", 0x10202000, 1)

WIKI: Final = "3dbrew GPU/External Registers"
LCD_WIKI: Final = "3dbrew LCD Registers"
GBATEK: Final = "GBATEK"

_FILL_WIDTH: Final[Mapping[int, str]] = {0: "16 bits", 1: "24 bits", 2: "32 bits", 3: "24 bits, code 3"}
_FORMAT: Final[Mapping[int, str]] = {0: "RGBA8", 1: "RGB8", 2: "RGB565", 3: "RGB5A1", 4: "RGBA4"}
_SCALE: Final[Mapping[int, str]] = {0: "none", 1: "2x1", 2: "2x2"}
_INTERLACE: Final[Mapping[int, str]] = {0: "A", 1: "A twice", 2: "A then B", 3: "B then A"}
_DMA_SIZE: Final[Mapping[int, str]] = {0: "32 bytes", 1: "64 bytes", 2: "128 bytes", 3: "code 3"}


def _uint(name: str, lo: int, width: int, doc: str = "", unit: str = "") -> Field:
    return Field(name, lo, width, doc=doc, unit=unit)


def _bool(name: str, lo: int, doc: str = "") -> Field:
    return Field(name, lo, 1, "bool", doc=doc)


def _enum(name: str, lo: int, width: int, table: Mapping[int, str]) -> Field:
    return Field(name, lo, width, "enum", enum=table)


def _halves(low: str, high: str, width: int = 16, unit: str = "") -> tuple[Field, Field]:
    return _uint(low, 0, width, unit=unit), _uint(high, 16, width, unit=unit)


def _register(offset: int, name: str, *fields: Field, **more: Any) -> Register:
    more.setdefault("source", WIKI)
    return Register(EXTERNAL_BANK, offset, name, fields=fields, **more)


def _measured(offset: int, name: str, *fields: Field, **more: Any) -> Register:
    return _register(offset, name, *fields, source=GBATEK, certainty=Certainty.GBATEK, **more)


_TRAFFIC: Final = (
    *("EXTERNAL_READ", "EXTERNAL_WRITE", "VRAM_A_READ", "VRAM_A_WRITE", "VRAM_B_READ", "VRAM_B_WRITE"),
    *("VERTEX_READ", "TEXTURE_READ", "DEPTH_READ", "DEPTH_WRITE", "COLOR_READ", "COLOR_WRITE"),
    *("PDC0_READ", "PDC1_READ", "PPF_READ", "PPF_WRITE", "PSC0_WRITE", "PSC1_WRITE", "CPU_READ", "CPU_WRITE"),
)

COUNTED_TRAFFIC: Final = ("PDC0_READ", "PDC1_READ", "PPF_READ", "PPF_WRITE", "PSC0_WRITE", "PSC1_WRITE")
"""Counters that this machine keeps, because it knows them exactly; those of the displays only while time passes."""


def _general() -> Iterator[Register]:
    model = _bool("new_model", 2)
    doc = "Bit 2 tells the new model (3dbrew); GBATEK found the word constant. See the switch external.hardware_id."
    yield _register(0x000, "HARDWARE_ID", model, reset=0x00010002, access="r", writable=0, doc=doc)
    yield _measured(0x004, "CLOCK", reset=0x00070100, doc="Clock enables and VRAM timing; 0x300 before gsp runs.")
    yield _measured(0x008, "EXTERNAL_UNKNOWN_008", writable=0x3)
    banks = ("a_low", "a_high", "b_low", "b_high")
    off = [_bool(f"{bank}_off", 8 + n, "this half bank loses its contents") for n, bank in enumerate(banks)]
    yield _register(0x030, "VRAM_POWER", *off, writable=0xF00, trigger=True)
    units = ("psc0", "psc1", "pdc0", "pdc1", "ppf", "p3d")
    yield _register(
        0x034,
        "STATUS",
        *(_bool(unit, 26 + n) for n, unit in enumerate(units)),
        aliases=("GPU_BUSY",),
        access="r",
        writable=0,
        certainty=Certainty.GBATEK,
        doc="Interrupt pending per unit (GBATEK). The wiki calls the bits busy; an old revision exchanges the PSCs.",
    )
    for offset, reset in ((0x038, 0x10402000), (0x03C, 0), (0x040, 0), (0x044, 0), (0x048, 0)):
        yield _measured(offset, f"EXTERNAL_UNKNOWN_{offset:03X}", reset=reset)
    nibbles = tuple(_uint(f"priority{n}", 4 * n, 4) for n in range(8))
    yield _register(0x050, "PRIORITY0", *nibbles, reset=0x22221200, doc="Memory priorities; 0x1111EF00 before gsp.")
    yield _register(0x054, "PRIORITY1", *nibbles[:3], reset=0xFF2, doc="Memory priorities; 0x112 before gsp.")
    busy = _bool("fill", 19), _bool("transfer", 20)
    yield _measured(0x058, "BUSY", *busy, access="r", writable=0)
    for offset, reset in ((0x05C, 0), (0x060, 0), (0x068, 0x00A80000)):
        yield _measured(offset, f"EXTERNAL_UNKNOWN_{offset:03X}", reset=reset)
    for n, name in enumerate(_TRAFFIC):
        doc = "Bytes moved; the unit is a guess." if name in COUNTED_TRAFFIC else "Not counted: always 0."
        count = _uint("count", 0, 32)
        yield _measured(0x070 + 4 * n, f"TRAFFIC_{name}", count, access="r", writable=0, doc=doc)
    doc = "0 lets the backlights go off, 0x20000000 keeps them on."
    yield _register(0x0C0, "BACKLIGHT", reset=0x20000000, doc=doc)
    yield _measured(0x0C4, "VRAM_A_BASE", Field("address", 0, 32, "pa"), reset=0x18000000)
    yield _measured(0x0C8, "VRAM_B_BASE", Field("address", 0, 32, "pa"), reset=0x18300000)
    yield _measured(0x0CC, "EXTERNAL_UNKNOWN_0CC", reset=0x20000000)
    yield _measured(0x0D0, "EXTERNAL_UNKNOWN_0D0", writable=0xF)


def _fill(unit: int) -> Iterator[Register]:
    base, prefix = 0x010 + 0x10 * unit, f"PSC{unit}_"
    address = Field("address", 0, 29, "pa8", doc="the lowest bit stays 0 (GBATEK): multiples of 16 bytes")
    yield _register(base, prefix + "START", address, writable=0x1FFFFFFE, doc="First byte to fill.")
    yield _register(base + 4, prefix + "END", address, writable=0x1FFFFFFE, doc="First byte that is not filled.")
    yield _register(base + 8, prefix + "VALUE", _uint("value", 0, 32), doc="The low bits count for narrow widths.")
    yield _register(
        base + 12,
        prefix + "CONTROL",
        _bool("start", 0, "write 1 to start; 1 while running"),
        _bool("finished", 1, "interrupt pending; write 0 to clear"),
        _enum("width", 8, 2, _FILL_WIDTH),
        _uint("unknown16", 16, 5),
        writable=0x001F0303,
        trigger=True,
    )


def _transfer() -> Iterator[Register]:
    address = Field("address", 0, 29, "pa8")
    yield _register(0xC00, "PPF_INPUT_ADDRESS", address, writable=0x1FFFFFFE)
    yield _register(0xC04, "PPF_OUTPUT_ADDRESS", address, writable=0x1FFFFFFE)
    size = _halves("width", "height", unit="pixels")
    doc = "Before down-scaling. Width is along a row of memory; multiples of 8."
    yield _register(0xC08, "PPF_OUTPUT_SIZE", *size, writable=0xFFF8FFF8, doc=doc)
    doc = "Width is the length of an input row; the height is not used."
    yield _register(0xC0C, "PPF_INPUT_SIZE", *size, writable=0xFFF8FFF8, doc=doc)
    yield _register(
        0xC10,
        "PPF_FLAGS",
        _bool("flip", 0, "upside down"),
        _bool("linear_to_tiled", 1, "0: tiled to linear"),
        _bool("crop", 2, "needed when output rows are shorter than input rows"),
        _bool("texture_copy", 3, "plain copy by the PPF_COPY registers"),
        _bool("no_tiling", 5, "tiled to tiled"),
        _enum("input_format", 8, 3, _FORMAT),
        _enum("output_format", 12, 3, _FORMAT),
        _bool("block32", 16, "32x32 blocks instead of 8x8"),
        _enum("scale", 24, 2, _SCALE),
        writable=0x0301772F,
    )
    yield _measured(0xC14, "PPF_UNKNOWN_C14", writable=0x1FFFFF, doc="gsp writes 0 before a display transfer.")
    yield _register(
        0xC18,
        "PPF_CONTROL",
        _bool("start", 0, "write 1 to start; 1 while running"),
        _bool("finished", 8, "interrupt pending; write 0 to clear"),
        writable=0x101,
        trigger=True,
    )
    position = _uint("irq_position", 0, 14, "0x3FFF: at the end"), _uint("remaining", 16, 14)
    yield _measured(0xC1C, "PPF_IRQ_POSITION", *position, reset=0x3FFF, writable=0x3FFF)
    yield _register(0xC20, "PPF_COPY_SIZE", _uint("size", 0, 32, unit="bytes"), writable=0xFFFFFFF0)
    line = Field("width", 0, 16, "x16", unit="bytes"), Field("gap", 16, 16, "x16", unit="bytes")
    doc = "Stored in units of 16 bytes; an old revision of the wiki says bytes. Gap 0: no lines."
    yield _register(0xC24, "PPF_COPY_INPUT", *line, doc=doc)
    yield _register(0xC28, "PPF_COPY_OUTPUT", *line, doc=doc)
    yield _measured(0xC2C, "PPF_UNKNOWN_C2C", writable=0x1)


_TIMING: Final = (
    (0x00, "HTOTAL", "line length minus one", (0x1C2, 0x1C2)),
    (0x04, "HSTART", "first clock of the picture", (0xD1, 0xD1)),
    (0x08, "HBR", "right border; no visible effect", (0x1C1, 0x1C1)),
    (0x0C, "HFP", "front porch", (0x1C1, 0x1C1)),
    (0x10, "HSYNC", "start of the sync pulse", (0, 0xCD)),
    (0x14, "HBP", "back porch, end of the sync pulse", (0xCF, 0xCF)),
    (0x18, "HBL", "left border", (0xD1, 0xD1)),
    (0x24, "VTOTAL", "lines minus one", (0x19D, 0x19D)),
    (0x28, "VSTART", "first line of the picture", (2, 0x52)),
    (0x2C, "VBORDER", "border after the picture", (0x192, 0x192)),
    (0x30, "VBLANK", "start of blanking", (0x192, 0x192)),
    (0x34, "VSYNC", "start of the sync pulse", (0x192, 0x4F)),
    (0x38, "VBP", "back porch, end of the sync pulse", (1, 0x50)),
    (0x3C, "VTOP", "border before the picture", (2, 0x52)),
    (0x44, "VCLOCK", "clock at which the line counter steps", (0, 0)),
)
"""Offset, name, meaning, (top, bottom) values that system software sets: the wiki's, except 0x2C, 0x30 and 0x34,
where the wiki's 0x1C2 contradicts both GBATEK and the drivers."""


def _display(unit: int) -> Iterator[Register]:
    base, prefix = 0x400 + 0x100 * unit, f"PDC{unit}_"

    def pick(top: int, bottom: int) -> int:
        return bottom if unit else top

    def register(offset: int, name: str, *fields: Field, **more: Any) -> Register:
        return _register(base + offset, prefix + name, *fields, **more)

    for offset, name, doc, values in _TIMING:
        field = _uint("value", 0, 12)
        yield register(offset, name, field, reset=pick(*values), writable=field.mask, doc=doc.capitalize() + ".")
    span = _halves("start", "end", 12)
    twice = 0x0FFF0FFF
    doc = "Clocks from which and until which the line is raised. A start or end past the line: never."
    yield register(0x1C, "HIRQ", *span, reset=0x01C501C1, writable=twice, doc=doc)
    yield register(0x20, "FETCH", *_halves("low", "high"), reset=0x00010000, certainty=Certainty.UNKNOWN)
    doc = "VBlank interrupt at clock 0 of the start line."
    yield register(0x40, "VIRQ", *span, reset=pick(0x01960192, 0x01980194), writable=twice, doc=doc)
    doc = "Level of the sync pulses, with the second bit at 4 or 8; or bits that stop them (3dbrew: 0 and 8)."
    bits = _bool("h", 0), _bool("v4", 4), _bool("v8", 8)
    sync = {"writable": 0x111, "certainty": Certainty.DIFFER, "doc": doc}
    yield register(0x48, "POLARITY", *bits, reset=pick(0, 0x11), **sync)
    border = tuple(_uint(channel, 8 * n, 8) for n, channel in enumerate("rgb"))
    yield register(0x4C, "BORDER_COLOR", *border, doc="What the screen shows where its picture does not reach.")
    doc = "Where the scan is; it moves with emulated time only."
    yield register(0x50, "HCOUNT", _uint("value", 0, 12), access="r", writable=0, doc=doc)
    yield register(0x54, "VCOUNT", _uint("value", 0, 12), access="r", writable=0, doc=doc)
    doc = "Width is along a row of memory, which stands upright on the screen: 240 pixels."
    size = _halves("width", "height", unit="pixels")
    yield register(0x5C, "SIZE", *size, reset=pick(0x019000F0, 0x014000F0), doc=doc)
    yield register(0x60, "HPICTURE", *span, reset=0x01C100D1, writable=twice, doc="Clocks that show the picture.")
    span_v = pick(0x01920002, 0x01920052)
    yield register(0x64, "VPICTURE", *span, reset=span_v, writable=twice, doc="Lines that show the picture.")
    address = Field("address", 0, 32, "pa")
    start = 0x18300000 if unit == 0 else 0
    yield register(0x68, "ADDRESS_A0", address, reset=start, doc="First picture; the left eye in stereo.")
    yield register(0x6C, "ADDRESS_A1", address, reset=start, doc="Second picture; the left eye in stereo.")
    yield register(
        0x70,
        "FORMAT",
        _enum("color_format", 0, 3, _FORMAT),
        _enum("interlace", 4, 2, _INTERLACE),
        _bool("scan_doubling", 6, "top: every line twice, its flat mode; bottom: every pixel twice"),
        _enum("dma_size", 8, 2, _DMA_SIZE),
        _uint("dma_interval", 16, 16),
        reset=pick(0x00080340, 0x00080300),
    )
    yield register(
        0x74,
        "CONTROL",
        _bool("enable", 0),
        _bool("h_irq_off", 8),
        _bool("v_irq_off", 9),
        _bool("error_irq_off", 10),
        _bool("output_enable", 16),
        reset=0x00010501,
    )
    yield register(
        0x78,
        "SELECT",
        _bool("next", 0, "picture that the next frame shows: 0 first, 1 second"),
        _bool("current", 4, "picture that is shown; moves with emulated time"),
        _bool("reset_fifo", 8, "write 1 to end an error"),
        _bool("h_irq", 16, "pending; write 1 to clear"),
        _bool("v_irq", 17, "pending; write 1 to clear"),
        _bool("error_irq", 18, "pending; write 1 to clear"),
        trigger=True,
    )
    flags = (
        *(("v_irq_area", 0), ("h_irq_area", 1), ("latch", 4), ("vsync", 8), ("vblank", 9), ("v_picture", 10)),
        *(("hsync", 12), ("hblank", 13), ("h_picture", 14), ("error", 15)),
    )
    status = [_bool(name, bit) for name, bit in flags]
    yield _measured(base + 0x7C, prefix + "STATUS", *status, access="r", writable=0)
    yield register(0x80, "LUT_INDEX", _uint("index", 0, 8), access="w", trigger=True)
    doc = "Colour look-up table entry; each access steps the index."
    yield register(0x84, "LUT_DATA", *border, trigger=True, doc=doc)
    stride = Field("stride", 0, 32, "sint", unit="bytes", doc="may be negative; the low bits are ignored")
    yield register(0x90, "STRIDE", stride, reset=240 * 3, writable=0xFFFFFFF0)
    yield register(0x94, "ADDRESS_B0", address, reset=start, doc="First picture of the right eye.")
    yield register(0x98, "ADDRESS_B1", address, reset=start, doc="Second picture of the right eye.")
    doc = "Where new addresses, stride, format and select are taken over."
    yield _measured(base + 0x9C, prefix + "LATCH", *_halves("h", "v", 12), writable=twice, doc=doc)


def _external() -> Iterator[Register]:
    yield from _general()
    for unit in range(2):
        yield from _fill(unit)
        yield from _display(unit)
    yield from _transfer()


def _lcd() -> Iterator[Register]:
    def register(offset: int, name: str, *fields: Field, **more: Any) -> Register:
        return Register(LCD_BANK, offset, name, fields=fields, source=LCD_WIKI, **more)

    yield register(0x000, "PARALLAX_CONTROL", doc="Parallax barrier of the top screen.")
    yield register(0x004, "PARALLAX_PWM", reset=0x0A390A39, doc="Timing of the barrier.")
    yield register(0x008, "LCD_STATUS")
    clocks = _bool("top", 0), _bool("bottom", 16)
    yield register(0x00C, "CLOCK_DISABLE", *clocks, reset=0x10001, certainty=Certainty.UNKNOWN)
    yield register(0x014, "LCD_RESET", _bool("run", 0), reset=1)
    for name, base in (("TOP", 0x200), ("BOTTOM", 0xA00)):
        colors = (_uint(channel, 8 * n, 8) for n, channel in enumerate("rgb"))
        enable = _bool("enable", 24, "the whole screen shows this colour")
        yield register(base, f"{name}_CONTROL", doc="Flags of the adaptive backlight.")
        yield register(base + 0x04, f"{name}_FILL", *colors, enable)
        for n in range(5):
            yield register(base + 0x10 + 4 * n, f"{name}_ABL_AREA{n}", doc="Area of the adaptive backlight.")
        for n in range(2):
            yield register(base + 0x38 + 4 * n, f"{name}_ABL_LINES{n}", doc="Lines of the adaptive backlight.")
        yield register(base + 0x40, f"{name}_BACKLIGHT", _uint("duty", 0, 10))
        period = _uint("period", 0, 10), _bool("enable", 16)
        yield register(base + 0x44, f"{name}_BACKLIGHT_PWM", *period, reset=0x1023E)
        for n, pattern in enumerate((0x0C84, 0x840C, 0x48C0, 0xC048)):
            yield register(base + 0x60 + 4 * n, f"{name}_DITHER{n}", reset=pattern)
        for n in range(32):
            tables: dict[str, Any] = {"certainty": Certainty.UNKNOWN, "doc": "Tables of the adaptive backlight."}
            yield register(base + 0x80 + 4 * n, f"{name}_ABL_LUT{n}", **tables)
        for n in range(64):
            tables = {"certainty": Certainty.UNKNOWN, "doc": "Calibration; new model only."}
            yield register(base + 0x100 + 4 * n, f"{name}_CALIBRATION{n}", **tables)


@dataclass(frozen=True, slots=True)
class Area:
    """Offsets of the GPU block, `end` exclusive, that hold no registers of their own. `period`: mirrors of as many
    bytes from `home` on. Without one, `hangs` tells whether an access stops the console or only the program."""

    start: int
    end: int
    home: int = 0
    period: int = 0
    hangs: bool = False


MIRRORS: Final = (Area(0x100, 0x400, 0x000, 0x100), Area(0xD00, 0x1000, 0xC00, 0x100))
"""Where registers answer a second time. Source: GBATEK."""

HOLES: Final = (Area(0x600, 0x800, hangs=True), Area(0x800, 0xC00), Area(0x2000, 0x100000))
"""Where nothing answers: the bus hangs, or the access ends in a data abort. Source: GBATEK."""

CORE_READ_HANGS: Final = frozenset({0x6C})
"""Ids of registers of the 3D core that nobody may read from outside: the bus hangs. Source: GBATEK."""

EXTERNAL: Final = RegisterBlock(EXTERNAL_BANK, _external())
"""Fill, transfer and display registers; offsets in bytes from 0x10400000."""

LCD: Final = RegisterBlock(LCD_BANK, _lcd())
"""Screen registers; offsets in bytes from 0x10202000."""
