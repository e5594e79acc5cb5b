"""All state that draws, clears, blits and copies depend on, so that a scene can run after other programs.

The builder's `plain_state` sets what a machine at power-on lacks. On a console a scene comes after others, so it also
writes what they may have changed, and empties the caches that they filled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from pocketgpu.builder.maxwell import PushBuffer
from pocketgpu.builder.maxwell.grids import LOCAL_WINDOW

Setting: TypeAlias = int | float | str | Mapping[str, Any]
"""A word, the name of a value, or fields by name."""

_TRANSFORM: Final[dict[str, Setting]] = {
    "SET_VIEWPORT_SCALE_OFFSET": 1, "SET_VIEWPORT_PIXEL": "AT_HALF_INTEGERS",
    "SET_VIEWPORT_COORDINATE_SWIZZLE": {axis: f"POS_{axis}" for axis in "XYZW"},
    "SET_VIEWPORT_Z_CLIP": "ZERO_TO_POSITIVE_W",
    "SET_VIEWPORT_CLIP_CONTROL": {
        "MIN_Z_ZERO_MAX_Z_ONE": True, "PIXEL_MIN_Z": "CLAMP", "PIXEL_MAX_Z": "CLAMP",
        "GEOMETRY_GUARDBAND": "SCALE_256", "LINE_POINT_CULL_GUARDBAND": "SCALE_256",
        "GEOMETRY_CLIP": "FRUSTUM_XYZ_CLIP", "GEOMETRY_GUARDBAND_Z": "SCALE_1",
    },
    "SET_USER_CLIP_ENABLE": 0, "SET_WINDOW_ORIGIN": 0, "SET_WINDOW_OFFSET_X": 0, "SET_WINDOW_OFFSET_Y": 0,
    "SET_WINDOW_CLIP_ENABLE": 0, "SET_SCISSOR_ENABLE": 0, "SET_RT_LAYER": 0, "SET_OFFSET_RENDER_TARGET_INDEX": 0,
}  # fmt: skip
_RASTER: Final[dict[str, Setting]] = {
    "SET_ANTI_ALIAS_ENABLE": 0, "SET_ANTI_ALIAS": "MODE_1X1", "SET_ANTI_ALIAS_ALPHA_CONTROL": 0, "SET_CSAA": 0,
    "SET_HYBRID_ANTI_ALIAS_CONTROL": {"PASSES": 1}, "SET_TIR": 0, "SET_COVERAGE_TO_COLOR": 0,
    "SET_CONSERVATIVE_RASTER": 0, "SET_FILL_VIA_TRIANGLE": 0, "SET_PROVOKING_VERTEX": "LAST", "SET_EDGE_FLAG": 1,
    "SET_FRONT_POLYGON_MODE": "FILL", "SET_BACK_POLYGON_MODE": "FILL", "SET_POLY_SMOOTH": 0,
    "SET_POLYGON_STIPPLE": 0, "OGL_SET_CULL": 0, "OGL_SET_CULL_FACE": "BACK", "OGL_SET_FRONT_FACE": "CCW",
    "SET_POLY_OFFSET_POINT": 0, "SET_POLY_OFFSET_LINE": 0, "SET_POLY_OFFSET_FILL": 0,
    "SET_VIEWPORT_INCREASE_SNAP_GRID_PRECISION": 0, "SET_LINE_MULTISAMPLE_OVERRIDE": 0,
}  # fmt: skip
_TESTS: Final[dict[str, Setting]] = {
    "SET_ZT_SELECT": 0, "SET_ZT_READ_ONLY": 0, "SET_ZCULL": 0, "SET_DEPTH_TEST": 0, "SET_DEPTH_WRITE": 0,
    "SET_DEPTH_FUNC": "OGL_ALWAYS", "SET_DEPTH_BOUNDS_TEST": 0, "SET_STENCIL_TEST": 0, "SET_TWO_SIDED_STENCIL_TEST": 0,
    "SET_ALPHA_TEST": 0, "SET_API_MANDATED_EARLY_Z": 0, "SET_CLIP_ID_TEST": 0,
}  # fmt: skip
_OUTPUT: Final[dict[str, Setting]] = {
    "SET_CT_MRT_ENABLE": 1, "SET_COLOR_TARGET_FORMAT": "DISABLED", "SET_SINGLE_CT_WRITE_CONTROL": 0,
    "SET_BLEND": 0, "SET_BLEND_STATE_PER_TARGET": 0, "SET_LOGIC_OP": 0, "SET_ITERATED_BLEND": 0, "SET_PS_SATURATE": 0,
    "SET_CLEAR_SURFACE_CONTROL": {"USE_SCISSOR0": True},
}  # fmt: skip
_PROGRAMS: Final[dict[str, Setting]] = {
    "SET_SPA_VERSION": {"MAJOR": 5, "MINOR": 3}, "SET_SHADER_EXCEPTIONS": 0, "SET_API_VISIBLE_CALL_LIMIT": "_128",
    "SET_SHADER_LOCAL_MEMORY_WINDOW": LOCAL_WINDOW, "SET_SAMPLER_BINDING": "INDEPENDENTLY", "SET_STREAM_OUTPUT": 0,
    "SET_RASTER_INPUT": 0, "SET_POST_VTG_SHADER_ATTRIBUTE_SKIP_MASK": 0,
}  # fmt: skip
_VERTICES: Final[dict[str, Setting]] = {
    "SET_VERTEX_STREAM_A_FORMAT": 0, "SET_GLOBAL_BASE_VERTEX_INDEX": 0, "SET_GLOBAL_BASE_INSTANCE_INDEX": 0,
    "SET_DA_PRIMITIVE_RESTART": 0, "SET_PRIMITIVE_TOPOLOGY_CONTROL": 0,
}  # fmt: skip
_EVERYWHERE: Final[dict[str, Setting]] = {
    "SET_RENDER_ENABLE_OVERRIDE": 0, "SET_RENDER_ENABLE_C": "TRUE", "SET_GLOBAL_RENDER_ENABLE_C": "TRUE",
    "SET_COLOR_KEY_ENABLE": 0, "SET_SRC_LAYER": 0, "SET_DST_LAYER": 0,
}  # fmt: skip
"""Of each class that has it."""
_GROUPS: Final = (0, 0, 1, 2, 3, 4)
"""The group of constant buffers of each stage of the pipeline."""
_CACHES: Final = (
    ("INVALIDATE_SHADER_CACHES", {"INSTRUCTION": True, "DATA": True, "CONSTANT": True}),
    ("INVALIDATE_TEXTURE_HEADER_CACHE", {"LINES": "ALL"}), ("INVALIDATE_SAMPLER_CACHE", {"LINES": "ALL"}),
    ("INVALIDATE_TEXTURE_DATA_CACHE", {"LINES": "ALL"}),
)  # fmt: skip


def whole_state(pb: PushBuffer, classes: Sequence[str]) -> PushBuffer:
    """Write the state of these classes, the 3D class last."""
    for each in classes:
        pb.on(each)
        for name, setting in _EVERYWHERE.items():
            if name in pb.block:
                _set(pb, name, setting)
    pb.on("3D").method("SET_MME_SHADOW_RAM_CONTROL", "METHOD_TRACK")
    for settings in (_TRANSFORM, _RASTER, _TESTS, _OUTPUT, _PROGRAMS, _VERTICES):
        for name, setting in settings.items():
            _set(pb, name, setting)
    for stage, group in enumerate(_GROUPS):
        pb.method("SET_PIPELINE_BINDING", stage, group)
    return pb.plain_state()


def empty_caches(pb: PushBuffer) -> PushBuffer:
    """Forget what caches hold of memory that has been written since."""
    for name, fields in _CACHES:
        pb.method(name, **fields)
    return pb


def _set(pb: PushBuffer, name: str, setting: Setting) -> None:
    """Set a register, or all of an array."""
    method = pb.block[name]
    for index in ((n,) for n in range(method.count)) if method.stride else ((),):
        if isinstance(setting, Mapping):
            pb.method(name, *index, **setting)
        else:
            pb.method(name, *index, setting)


__all__ = ["empty_caches", "whole_state"]
