"""Numbers of the `.pgc` format; docs/formats/pgc.md describes them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pocketgpu.late_dataclass import dataclass

VERSION: Final = 1
HEADER_SIZE: Final = 16
CONSOLES: Final[Mapping[str, int]] = MappingProxyType({"3DS": 1, "Switch": 2})
DIGEST_SIZES: Final = range(8, 33)
CHECK_SIZE: Final = 4
CHECK_LEFT_OUT: Final = 2

# Sections
RECORDS, END = 1, 2
SECTION_HEAD: Final = 10
CODECS: Final = ("stored", "zstd", "lzma")
SECTION_LIMIT: Final = 1 << 28
STREAM_LIMIT: Final = 1 << 31
BLOCK_LIMIT: Final = 1 << 26
STORED_LIMIT: Final = 1 << 34
"""The most bytes that all loads of a file together may store: blocks may be used many times."""

# Records
ABOUT, COVERAGE, STATE, FRAME = 0x01, 0x02, 0x03, 0x0F
LOAD, WRITES, WRITE8, WRITE16, GX, SWAP, TRANSLATE = 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16
MAP, UNMAP, STORE, SUBMIT, SYNCPOINT, PRESENT, MAP_PART, PRESENT_PART = range(0x20, 0x28)

SAME, DIGEST = 0, 1
"""Forms of a picture in FRAME."""

SCREENS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"3DS": ("top", "bottom", "top-right"), "Switch": ("screen",)}
)
"""Names of screens by their number."""

PICTURES_COVERED: Final = 1 << 16
MEMORY_COVERED: Final = 1 << 17


@dataclass(frozen=True, slots=True)
class StateItem:
    """One memory of the GPU in STATE records: its number, its words, its coverage bit."""

    number: int
    name: str
    words: int
    coverage: int


STATE_3DS: Final = (
    StateItem(0, "external", 1024, 0),
    StateItem(1, "lcd", 1024, 1),
    StateItem(2, "pica", 768, 2),
    StateItem(3, "default_attributes", 64, 3),
    StateItem(4, "vs_code", 512, 4),
    StateItem(5, "vs_opdescs", 128, 4),
    StateItem(6, "vs_uniforms", 384, 4),
    StateItem(7, "gs_code", 4096, 5),
    StateItem(8, "gs_opdescs", 128, 5),
    StateItem(9, "gs_uniforms", 384, 5),
    StateItem(10, "lighting_lut", 24 * 256, 6),
    StateItem(11, "fog_lut", 128, 7),
    StateItem(12, "proctex_lut", 896, 8),
    StateItem(13, "gas_lut", 16, 9),
    StateItem(14, "vs_uniforms_f32", 384, 4),
    StateItem(15, "gs_uniforms_f32", 384, 5),
)
TABLES: Final = ("lighting_lut", "fog_lut", "proctex_lut", "gas_lut")
WIDE_UNIFORMS: Final = ("vs_uniforms_f32", "gs_uniforms_f32")
"""These and the tables are not in the start state of a CiTrace recording."""

STATE_SWITCH: Final = (
    StateItem(64, "bindings", 8, 1),
    StateItem(65, "registers", 4096, 1),
    StateItem(66, "shadow_registers", 4096, 1),
    StateItem(67, "shadow_mode", 1, 1),
    StateItem(68, "mme_code", 8192, 2),
    StateItem(69, "mme_starts", 128, 2),
    StateItem(70, "mme_pointers", 2, 2),
    StateItem(71, "constant_buffers", 5 * 32 * 4, 1),
)
STATE_ITEMS: Final[Mapping[str, Mapping[int, StateItem]]] = MappingProxyType(
    {
        "3DS": MappingProxyType({item.number: item for item in STATE_3DS}),
        "Switch": MappingProxyType({item.number: item for item in STATE_SWITCH}),
    }
)
COVERAGE_NAMES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "3DS": (
            "external registers", "LCD registers", "registers of the 3D core", "fixed vertex attributes", "vertex unit",
            "geometry unit", "lighting tables", "fog table", "tables of procedural textures", "gas table", "VRAM",
            "main memory",
        ),
        "Switch": ("mappings", "state of channels", "state of macro engines", "memory of mappings", "syncpoints"),
    }
)  # fmt: skip
FULL_COVERAGE: Final[Mapping[str, int]] = MappingProxyType(
    {console: (1 << len(names)) - 1 | MEMORY_COVERED for console, names in COVERAGE_NAMES.items()}
)
"""All except the pictures."""
