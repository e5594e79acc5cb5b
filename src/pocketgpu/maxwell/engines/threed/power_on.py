"""What registers of the 3D class hold before anybody writes them.

No source tells all of it. Zero is right or harmless for most; what is here is what zero cannot be: the recorded drivers
leave the coordinate swizzle alone and draw, so it starts as x, y, z, w; nor do they say which group of constant buffers
a stage has, so each starts with its own; and enumerations that have no zero start as OpenGL's contexts do.
"""

from __future__ import annotations

import numpy as np

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common import conditions
from pocketgpu.maxwell.engines.common.base import Registers

_GROUPS = (0, 0, 1, 2, 3, 4)
"""Group of constant buffers of each stage of the pipeline; both vertex programs have the first."""
_ONE = int(np.float32(1.0).view(np.uint32))
_VALUES = {
    "SET_VIEWPORT_COORDINATE_SWIZZLE": 0x6420,
    "SET_FRONT_POLYGON_MODE": 0x1B02,
    "SET_BACK_POLYGON_MODE": 0x1B02,
    "OGL_SET_FRONT_FACE": 0x901,
    "OGL_SET_CULL_FACE": 0x405,
    "SET_DEPTH_FUNC": 0x207,
    "SET_ALPHA_FUNC": 0x207,
    "SET_STENCIL_FUNC": 0x207,
    "SET_BACK_STENCIL_FUNC": 0x207,
    **{f"SET_{back}STENCIL_OP_{name}": 0x1E00 for back in ("", "BACK_") for name in ("FAIL", "ZFAIL", "ZPASS")},
    **{f"SET_BLEND_{each}{part}_OP": 0x8006 for each in ("", "PER_TARGET_") for part in ("COLOR", "ALPHA")},
    **{f"SET_BLEND_{each}{part}_SOURCE_COEFF": 0x4001 for each in ("", "PER_TARGET_") for part in ("COLOR", "ALPHA")},
    **{f"SET_BLEND_{each}{part}_DEST_COEFF": 0x4000 for each in ("", "PER_TARGET_") for part in ("COLOR", "ALPHA")},
    # Neither driver sets these; with zero nobody would see sRGB targets, or more than one target.
    "SET_SRGB_WRITE": 1,
    "SET_CT_MRT_ENABLE": 1,
    "SET_POINT_SIZE": _ONE,
    "SET_LINE_WIDTH_FLOAT": _ONE,
    "SET_ALIASED_LINE_WIDTH_FLOAT": _ONE,
}


def power_on(registers: Registers) -> None:
    """Set the registers of the 3D class as they are at first."""
    conditions.power_on(B197, registers)
    for name, value in _VALUES.items():
        for word in B197[name].words():
            registers[word] = value
    for word, group in zip(B197["SET_PIPELINE_BINDING"].words(), _GROUPS, strict=False):
        registers[word] = group
