"""Registers of the 3D class at power-on.

No source gives all of them. Zero is right or harmless for most; this table has those that cannot be zero. The recorded
drivers draw without setting the coordinate swizzle, so it starts as x, y, z, w. Nor do they set the group of constant
buffers of a stage, so each starts with its own. Enumerations without a zero start as in an OpenGL context.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from pocketgpu.facts.maxwell import B197, Method
from pocketgpu.maxwell.engines.common import conditions
from pocketgpu.maxwell.engines.common.base import Registers

_GROUPS = (0, 0, 1, 2, 3, 4)
"""Group of constant buffers of each stage of the pipeline; both vertex programs have the first."""
_ONE = int(np.float32(1.0).view(np.uint32))
_VALUES: Mapping[str, int | str | Mapping[str, str]] = {
    "SET_VIEWPORT_COORDINATE_SWIZZLE": {axis: f"POS_{axis}" for axis in "XYZW"},
    "SET_FRONT_POLYGON_MODE": "FILL",
    "SET_BACK_POLYGON_MODE": "FILL",
    "OGL_SET_FRONT_FACE": "CCW",
    "OGL_SET_CULL_FACE": "BACK",
    "SET_DEPTH_FUNC": "OGL_ALWAYS",
    "SET_ALPHA_FUNC": "OGL_ALWAYS",
    "SET_STENCIL_FUNC": "OGL_ALWAYS",
    "SET_BACK_STENCIL_FUNC": "OGL_ALWAYS",
    **{f"SET_{back}STENCIL_OP_{name}": "OGL_KEEP" for back in ("", "BACK_") for name in ("FAIL", "ZFAIL", "ZPASS")},
    **{
        f"SET_BLEND_{each}{part}_{what}": value
        for each in ("", "PER_TARGET_")
        for part in ("COLOR", "ALPHA")
        for what, value in (("OP", "OGL_FUNC_ADD"), ("SOURCE_COEFF", "OGL_ONE"), ("DEST_COEFF", "OGL_ZERO"))
    },
    # Neither driver sets these; with zeros there would be no sRGB targets, and at most one target.
    "SET_SRGB_WRITE": 1,
    "SET_CT_MRT_ENABLE": 1,
    "SET_POINT_SIZE": _ONE,
    "SET_LINE_WIDTH_FLOAT": _ONE,
    "SET_ALIASED_LINE_WIDTH_FLOAT": _ONE,
}
"""By method: a word, or the symbol of its only field, or the symbols of several fields."""


def _word(method: Method, value: int | str | Mapping[str, str]) -> int:
    if isinstance(value, int):
        return value
    symbols = {method.fields[0].name: value} if isinstance(value, str) else value
    return method.encode(**{name: method[name].values.number(symbol) for name, symbol in symbols.items()})


def power_on(registers: Registers) -> None:
    """Set the registers of the 3D class to their values at power-on."""
    conditions.power_on(B197, registers)
    for word, value in _words():
        registers[word] = value


@cache
def _words() -> tuple[tuple[int, int], ...]:
    """(word of the method, value) of all that is set, in order."""
    methods = [(B197[name], value) for name, value in _VALUES.items()]
    values = [(word, _word(method, value)) for method, value in methods for word in method.words()]
    return (*values, *zip(B197["SET_PIPELINE_BINDING"].words(), _GROUPS, strict=False))
