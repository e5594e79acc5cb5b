"""State keys: the register fields that a draw's fragment code is specialised for.

Registers that only hold data (constants, references, addresses, sizes) are read at run time. The other fields are
extracted from the packet's registers and brought into a normal form (fields of disabled units are zero). They are the
static state of one specialised kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from pocketgpu.facts.choices import choose
from pocketgpu.facts.pica_enums import (
    COLOR_FORMAT,
    COMPARE,
    FILTER,
    FOG_MODE,
    FRAGMENT_MODE,
    PROCTEX_FILTER,
    SCISSOR,
    TEXENV_SOURCE,
    TEXTURE_TYPE,
    WRAP,
)
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.registers import StaticRegisters, field, select_fields
from pocketgpu.pica.fragment import combiners, lighting_state
from pocketgpu.pica.texture.units import PROCTEX_LINEAR, SAMPLED_TYPES, SHADOW_TYPES

TEXTURE_UNITS = 3

_MASKS = ("depth_test", "depth_function", "depth_write", "red", "green", "blue", "alpha")
FIELDS = [
    "TEXUNIT_CONFIG.unit0_enable", "TEXUNIT_CONFIG.unit1_enable", "TEXUNIT_CONFIG.unit2_enable",
    "TEXUNIT_CONFIG.unit2_coordinates", "TEXUNIT_CONFIG.unit3_enable",
    "TEXENV_UPDATE_BUFFER.fog_mode", "TEXENV_UPDATE_BUFFER.z_flip",
    *(f"TEXENV_UPDATE_BUFFER.{p}{i}" for p in ("rgb", "alpha") for i in range(4)),
    "COLOR_OPERATION.fragment_mode", "COLOR_OPERATION.blend_enable", "LOGIC_OP.op",
    *(f"BLEND_FUNC.{f}" for f in ("equation_rgb", "equation_alpha", "src_rgb", "dst_rgb", "src_alpha", "dst_alpha")),
    "FRAGOP_ALPHA_TEST.enable", "FRAGOP_ALPHA_TEST.function", "STENCIL_TEST.enable", "STENCIL_TEST.function",
    "STENCIL_OP.fail", "STENCIL_OP.z_fail", "STENCIL_OP.z_pass",
    *(f"DEPTH_COLOR_MASK.{f}" for f in _MASKS),
    "COLORBUFFER_READ.mask", "COLORBUFFER_WRITE.mask", "DEPTHBUFFER_READ.depth", "DEPTHBUFFER_READ.stencil",
    "DEPTHBUFFER_WRITE.depth", "DEPTHBUFFER_WRITE.stencil", "DEPTHBUFFER_FORMAT.format", "COLORBUFFER_FORMAT.format",
    "SCISSORTEST_MODE.mode", "DEPTHMAP_ENABLE.enable", *lighting_state.FIELDS, "FRAMEBUFFER_BLOCK32.enable",
    "GEOSTAGE_CONFIG.mode", "TEXUNIT_CONFIG.unit3_coordinates", "TEXUNIT0_SHADOW.orthographic",
    "PIXEL_SKIP.mode", "COLOR_OPERATION.line_config",
    *(f"TEXUNIT3_PROCTEX0.{axis}_{f}" for axis in "uv" for f in ("clamp", "shift")),
    *(f"TEXUNIT3_PROCTEX0.{f}" for f in ("rgb_function", "alpha_function", "separate_alpha", "noise")),
    "TEXUNIT3_PROCTEX4.filter", "TEXUNIT3_PROCTEX4.max_level",
]  # fmt: skip
for _unit in range(TEXTURE_UNITS):
    FIELDS += [f"TEXUNIT{_unit}_PARAM.{f}" for f in ("mag_filter", "min_filter", "mip_filter", "wrap_s", "wrap_t")]
    FIELDS += [f"TEXUNIT{_unit}_LOD.max_level", f"TEXUNIT{_unit}_LOD.min_level"]
FIELDS.append("TEXUNIT0_PARAM.type")
for _stage in range(combiners.STAGES):
    for _part in ("rgb", "alpha"):
        FIELDS += [f"TEXENV{_stage}_{r}.{_part}{i}" for r in ("SOURCE", "OPERAND") for i in range(3)]
        FIELDS += [f"TEXENV{_stage}_{r}.{_part}" for r in ("COMBINER", "SCALE")]

KEY_IDS, KEY_MASKS = select_fields(FIELDS)
"""Register ids and masks of all fields that can affect fragment code."""

LINE_SKIP = 1 << 8  # in COLOR_OPERATION.line_config
BLOCK32 = "how pixels lie in 32x32 blocks is not known: they lie as the choice transfer.block32 says"


def keys_of(registers: np.ndarray) -> np.ndarray:
    """Raw keys (n, len(KEY_IDS)) of n register files (n, 0x300)."""
    return np.ascontiguousarray(registers[:, KEY_IDS] & KEY_MASKS)


@dataclass(frozen=True)
class FragmentState:
    """The state that fragment code is compiled for: a key without the bits that have no effect.

    words: (register id, word) of all words that are not 0. units: texture units that are sampled. missing: features
    that are drawn by a guess or left out, as (event id, message for the user).
    """

    words: tuple[tuple[int, int], ...]
    units: tuple[int, ...]
    missing: tuple[tuple[str, str], ...]

    @property
    def registers(self) -> StaticRegisters:
        return StaticRegisters(dict(self.words))


class _KeyWords:
    """Register words under construction, by field name."""

    def __init__(self, words: dict[int, int]) -> None:
        self.words = words

    def __call__(self, name: str) -> int:
        f = field(name)
        return f.field.raw(self.words.get(f.register.offset, 0))

    def put(self, name: str, value: int) -> None:
        f = field(name)
        self.words[f.register.offset] = (self.words.get(f.register.offset, 0) & ~f.mask) | (value << f.lo)

    def clear(self, *registers: str) -> None:
        for name in registers:
            self.words.pop(field(name).register.offset, None)


def _missing(get: _KeyWords) -> list[tuple[str, str]]:
    """Features of the draw that are not supported, or uncertain; those that change no code are removed from the key."""
    found = []
    fog, mode = get("TEXENV_UPDATE_BUFFER.fog_mode"), get("COLOR_OPERATION.fragment_mode")
    if fog == FOG_MODE.GAS or mode == FRAGMENT_MODE.GAS:
        found.append(("pica.gas", "how gas looks is not known: it is drawn as the choice gas.hypothesis says"))
    if get("FRAMEBUFFER_BLOCK32.enable"):
        found.append(("pica.block32", BLOCK32))
    if get("PIXEL_SKIP.mode"):
        found.append(("pica.pixel-skip", "which pixels PIXEL_SKIP leaves out is not known: all are drawn"))
    if get("COLOR_OPERATION.line_config") & LINE_SKIP:
        found.append(("pica.line-skip", "which lines COLOR_OPERATION leaves out is not known: all are drawn"))
    get.put("PIXEL_SKIP.mode", 0)
    get.put("COLOR_OPERATION.line_config", 0)
    return found


def _procedural(get: _KeyWords, used: set[int], choices: Mapping[str, str]) -> None:
    """The normal form of texture unit 3. The choice texture.filter changes only its levels, because the filter bits
    concern its colour table."""
    if TEXENV_SOURCE.TEXTURE3 not in used or not get("TEXUNIT_CONFIG.unit3_enable"):
        get.put("TEXUNIT_CONFIG.unit3_enable", 0)
        get.put("TEXUNIT_CONFIG.unit3_coordinates", 0)
        get.clear("TEXUNIT3_PROCTEX0.noise", "TEXUNIT3_PROCTEX4.filter")
        return
    if get("TEXUNIT_CONFIG.unit3_coordinates") >= TEXTURE_UNITS:  # undefined
        get.put("TEXUNIT_CONFIG.unit3_coordinates", 0)
    if not get("TEXUNIT3_PROCTEX0.separate_alpha"):
        get.put("TEXUNIT3_PROCTEX0.alpha_function", 0)
    levels = choices["texture.levels"] == "as-programmed" and choices["texture.filter"] != "nearest"
    filtering = get("TEXUNIT3_PROCTEX4.filter")
    if not levels or filtering not in PROCTEX_FILTER or not get("TEXUNIT3_PROCTEX4.max_level"):
        get.put("TEXUNIT3_PROCTEX4.filter", filtering & PROCTEX_LINEAR)
    get.put("TEXUNIT3_PROCTEX4.max_level", 0)


def _mode(get: _KeyWords) -> None:
    """The normal form of tests and masks under the mode of fragment operations."""
    mode = get("COLOR_OPERATION.fragment_mode")
    if mode not in (FRAGMENT_MODE.GAS, FRAGMENT_MODE.SHADOW):
        get.put("COLOR_OPERATION.fragment_mode", FRAGMENT_MODE.DEFAULT)
        return
    # Both modes ignore blending, masks and most tests; both write 32 bits a pixel.
    get.clear("FRAGOP_ALPHA_TEST.enable", "STENCIL_TEST.enable", "STENCIL_OP.fail", "BLEND_FUNC.src_rgb", "LOGIC_OP.op")
    for name in ("red", "green", "blue", "alpha", "depth_write"):
        get.put(f"DEPTH_COLOR_MASK.{name}", 0)
    get.put("COLOR_OPERATION.blend_enable", 0)
    get.put("COLORBUFFER_FORMAT.format", COLOR_FORMAT.RGBA8)
    if mode == FRAGMENT_MODE.SHADOW:
        get.clear("DEPTH_COLOR_MASK.depth_test")
        get.clear("DEPTHBUFFER_READ.depth", "DEPTHBUFFER_WRITE.depth", "DEPTHBUFFER_FORMAT.format")


def normalise(raw: np.ndarray, choices: tuple[tuple[str, str], ...]) -> FragmentState:
    """The normal form of one raw key. choices: those that are not the default."""
    return _normal_form(raw.tobytes(), choices)


@lru_cache(maxsize=4096)
def _normal_form(raw: bytes, chosen: tuple[tuple[str, str], ...]) -> FragmentState:
    choices = choose(dict(chosen))
    words = np.frombuffer(raw, np.uint32).tolist()
    get = _KeyWords({number: word for number, word in zip(KEY_IDS.tolist(), words, strict=True) if word})
    used = combiners.sources_used(StaticRegisters(get.words), choices)
    missing = _missing(get)
    lit = lighting_state.normal_form(get, used, choices)
    used |= lighting_state.units_read(lit)
    get.clear(*lighting_state.FIELDS)
    for name, value in lit.items():
        get.put(name, value)
    if get("TEXENV_UPDATE_BUFFER.fog_mode") == FOG_MODE.GAS and choices["gas.hypothesis"] == "density":
        used.add(TEXENV_SOURCE.TEXTURE0)
    units = []
    filtering = choices["texture.filter"]
    for unit in range(TEXTURE_UNITS):
        name = f"TEXUNIT{unit}"
        enabled = get(f"TEXUNIT_CONFIG.unit{unit}_enable") and TEXENV_SOURCE.TEXTURE0 + unit in used
        kind = get(f"{name}_PARAM.type") if unit == 0 else TEXTURE_TYPE.FLAT
        if not enabled or kind not in SAMPLED_TYPES:
            get.put(f"TEXUNIT_CONFIG.unit{unit}_enable", 0)
            get.clear(f"{name}_PARAM.wrap_s", f"{name}_LOD.max_level")
            continue
        units.append(unit)
        if choices["texture.wrap_4_7"] == "as-0-3":
            for axis in "st":
                get.put(f"{name}_PARAM.wrap_{axis}", get(f"{name}_PARAM.wrap_{axis}") & WRAP.MIRRORED_REPEAT)
        mipmapped = get(f"{name}_LOD.max_level") > 0 and choices["texture.levels"] == "as-programmed"
        if filtering != "as-programmed":
            linear = filtering == "linear"
            for which in ("mag", "min"):
                get.put(f"{name}_PARAM.{which}_filter", FILTER.LINEAR if linear else FILTER.NEAREST)
            mipmapped = mipmapped and linear
        if kind in SHADOW_TYPES:  # comparisons have no filter bits and no levels
            get.put(f"{name}_PARAM.mag_filter", FILTER.NEAREST)
            get.put(f"{name}_PARAM.min_filter", FILTER.NEAREST)
            mipmapped = False
        get.clear(f"{name}_LOD.max_level")
        get.put(f"{name}_LOD.max_level", int(mipmapped))
        if not mipmapped:
            get.put(f"{name}_PARAM.mip_filter", FILTER.NEAREST)
    if not get("FRAGOP_ALPHA_TEST.enable"):
        get.clear("FRAGOP_ALPHA_TEST.function")
    if not get("STENCIL_TEST.enable"):
        get.clear("STENCIL_TEST.function", "STENCIL_OP.fail")
    get.clear(*(("LOGIC_OP.op",) if get("COLOR_OPERATION.blend_enable") else ("BLEND_FUNC.src_rgb",)))
    if not get("DEPTH_COLOR_MASK.depth_test"):
        get.put("DEPTH_COLOR_MASK.depth_function", COMPARE.NEVER)
    if get("COLORBUFFER_FORMAT.format") not in COLOR_FORMAT:
        get.put("COLORBUFFER_FORMAT.format", COLOR_FORMAT.RGBA4)
    if get("SCISSORTEST_MODE.mode") != SCISSOR.OUTSIDE:  # "keep inside" is part of every draw's rectangle
        get.put("SCISSORTEST_MODE.mode", SCISSOR.OFF)
    get.clear("GEOSTAGE_CONFIG.mode", "COLORBUFFER_READ.mask")
    if not (0 in units and get("TEXUNIT0_PARAM.type") == TEXTURE_TYPE.SHADOW_2D):
        get.clear("TEXUNIT0_SHADOW.orthographic")
    _procedural(get, used, choices)
    if get("TEXENV_UPDATE_BUFFER.fog_mode") != FOG_MODE.FOG:
        if get("TEXENV_UPDATE_BUFFER.fog_mode") != FOG_MODE.GAS:
            get.put("TEXENV_UPDATE_BUFFER.fog_mode", FOG_MODE.OFF)
        get.put("TEXENV_UPDATE_BUFFER.z_flip", 0)
    _mode(get)
    normal = tuple(sorted((i, w) for i, w in get.words.items() if w))
    return FragmentState(normal, tuple(units), tuple(missing))
