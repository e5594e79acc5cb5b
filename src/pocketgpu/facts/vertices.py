"""Register fields of vertices: lists that continue in the next register, and meanings of their codes.

Source: 3dbrew GPU/Internal Registers ("Geometry pipeline registers", "Rasterizer registers").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pocketgpu.facts.pica_enums import ATTRIBUTE_TYPE, COMPONENT, SEMANTIC

NIBBLES: Final = 8
"""Number of four-bit fields in a register of a list; such lists continue in the next register."""

ELEMENT_BYTES: Final[Mapping[int, int]] = {
    ATTRIBUTE_TYPE.S8: 1,
    ATTRIBUTE_TYPE.U8: 1,
    ATTRIBUTE_TYPE.S16: 2,
    ATTRIBUTE_TYPE.F32: 4,
}
"""Bytes of an attribute's element in memory, by its type."""


def input_field(attribute: int, unit: str = "VSH") -> str:
    """The field with the input register of an attribute (0 to 15) of a shader unit, "VSH" or "GSH"."""
    return f"{unit}_ATTRIBUTES_PERMUTATION_{_half(attribute)}.input{attribute}"


def format_fields(attribute: int) -> tuple[str, str]:
    """The fields with the type, and the number of elements minus one, of an attribute (0 to 11) in memory."""
    register = f"ATTRIBBUFFERS_FORMAT_{_half(attribute)}"
    return f"{register}.type{attribute}", f"{register}.size{attribute}"


def component_field(loader: int, place: int) -> str:
    """The field with the component that a loader (0 to 11) reads at a place (0 to 11) of its list: COMPONENT."""
    return f"ATTRIBBUFFER{loader}_CONFIG{1 if place < NIBBLES else 2}.component{place + 1}"


def skipped_bytes(component: int) -> int:
    """Bytes that a loader skips for a component; 0 if the component is an attribute."""
    return max(0, 4 * (component - COMPONENT.SKIP_4 + 1))


def _half(n: int) -> str:
    return "LOW" if n < NIBBLES else "HIGH"


UNUSED: Final = SEMANTIC.UNUSED
"""Semantic of an unused output component."""

CLOCKS: Final[Mapping[str, frozenset[int]]] = {
    "position_z": SEMANTIC.numbers("POSITION_Z"),
    "color": SEMANTIC.numbers("COLOR_R", "COLOR_G", "COLOR_B", "COLOR_A"),
    "texcoord0": SEMANTIC.numbers("TEXCOORD0_U", "TEXCOORD0_V"),
    "texcoord1": SEMANTIC.numbers("TEXCOORD1_U", "TEXCOORD1_V"),
    "texcoord2": SEMANTIC.numbers("TEXCOORD2_U", "TEXCOORD2_V"),
    "texcoord0_w": SEMANTIC.numbers("TEXCOORD0_W"),
    "quaternion_view": SEMANTIC.numbers(
        "QUATERNION_X", "QUATERNION_Y", "QUATERNION_Z", "QUATERNION_W", "VIEW_X", "VIEW_Y", "VIEW_Z"
    ),
}
"""The semantics of SH_OUTMAP for each field of SH_OUTATTR_CLOCK."""

TEXTURE_COORDINATES: Final = frozenset().union(*(CLOCKS[f"texcoord{name}"] for name in ("0", "1", "2", "0_w")))
"""The semantics for SH_OUTATTR_MODE.texture_coordinates."""
