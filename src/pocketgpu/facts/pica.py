"""The internal registers of the GPU, ids 0x000 to 0x2FF: what command lists write.

Offsets are register ids; id n also answers the ARM11 at physical address 0x10401000 + 4 n. Ids that no source
describes are present with known=False, so that every id has a register and tools can name what they meet.

Source: 3dbrew GPU/Internal Registers where a register says nothing else. Names are the wiki's without the
GPUREG_ prefix, which works as an alias.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pocketgpu.facts import pica_enums as names
from pocketgpu.facts.registers import Bank, Certainty, Field, Register, RegisterBlock

BANK: Final = Bank("pica", 0x10401000, 4)

WIKI: Final = "3dbrew GPU/Internal Registers"
GBATEK: Final = "GBATEK"

COUNT: Final = 0x300
"""Number of register ids."""


def _uint(name: str, lo: int, width: int, doc: str = "", unit: str = "") -> Field:
    return Field(name, lo, width, doc=doc, unit=unit)


def _less_one(name: str, lo: int, width: int, doc: str = "") -> Field:
    return Field(name, lo, width, unit="minus one", doc=doc)


def _sint(name: str, lo: int, width: int, doc: str = "") -> Field:
    return Field(name, lo, width, "sint", doc=doc)


def _bool(name: str, lo: int, doc: str = "") -> Field:
    return Field(name, lo, 1, "bool", doc=doc)


def _enum(name: str, lo: int, width: int, table: Mapping[int, str], doc: str = "") -> Field:
    return Field(name, lo, width, "enum", enum=table, doc=doc)


def _rgba(width: int = 8) -> tuple[Field, ...]:
    return tuple(_uint(channel, 8 * i, width) for i, channel in enumerate("rgba"))


def _register(id: int, name: str, *fields: Field, also: tuple[str, ...] = (), **more: Any) -> Register:
    more.setdefault("source", WIKI)
    aliases = tuple(alias for own in (name, *also) for alias in (own, f"GPUREG_{own}"))[1:]
    return Register(BANK, id, name, aliases, fields, **more)


def _measured(id: int, name: str, *fields: Field, **more: Any) -> Register:
    return _register(id, name, *fields, source=GBATEK, certainty=Certainty.GBATEK, **more)


def _irq() -> Iterator[Register]:
    doc = "Command lists cannot reach this id; the ARM11 acknowledges the interrupt byte by byte here."
    for n in range(16):
        yield _measured(n, f"IRQ_ACK{n}", *_irq_bytes(n), doc=doc, trigger=True)
    yield _register(
        0x010,
        "FINALIZE",
        *_irq_bytes(0),
        also=("IRQ_REQ0",),
        trigger=True,
        doc="Requests the end-of-list interrupt; drivers write 0x12345678. The list stops here when autostop is on.",
    )
    for n in range(1, 16):
        yield _measured(0x010 + n, f"IRQ_REQ{n}", *_irq_bytes(n), doc="Further interrupt request bytes.", trigger=True)
    for n in range(16):
        reset = 0x12345678 if n == 0 else 0
        yield _measured(
            0x020 + n,
            f"IRQ_CMP{n}",
            *_irq_bytes(n),
            reset=reset,
            doc="A request byte equal to its byte here raises the interrupt. The reset value is what gsp leaves.",
        )
    low = tuple(_bool(f"byte{n}", n, "1: this byte never raises the interrupt") for n in range(32))
    high = tuple(_bool(f"byte{32 + n}", n, "1: this byte never raises the interrupt") for n in range(32))
    doc = "One bit per request byte, 1 switches it off. The reset value is what gsp leaves."
    yield _measured(0x030, "IRQ_MASK_LOW", *low, reset=0xFFFFFFF0, doc=doc)
    yield _measured(0x031, "IRQ_MASK_HIGH", *high, reset=0xFFFFFFFF, doc=doc)
    yield _measured(0x032, "IRQ_STAT_LOW", _uint("matches", 0, 32), access="r", doc="Bytes 0-31 that match now.")
    yield _measured(0x033, "IRQ_STAT_HIGH", _uint("matches", 0, 32), access="r", doc="Bytes 32-63 that match now.")
    yield _measured(0x034, "IRQ_AUTOSTOP", _bool("enable", 0, "stop the list when the interrupt fires"), reset=1)
    yield _measured(0x035, "P3D_ID", access="r", reset=0x00010002, writable=0, doc="Constant 0x00010002.")


def _irq_bytes(word: int) -> tuple[Field, ...]:
    return tuple(_uint(f"byte{4 * word + n}", 8 * n, 8) for n in range(4))


def _raster() -> Iterator[Register]:
    yield _register(0x040, "FACECULLING_CONFIG", _enum("mode", 0, 2, names.CULL))
    yield _register(0x041, "VIEWPORT_WIDTH", Field("value", 0, 24, "f24", doc="half the width", unit="pixels"))
    yield _register(0x042, "VIEWPORT_INVW", Field("value", 1, 31, "f31", doc="2 / width"))
    yield _register(0x043, "VIEWPORT_HEIGHT", Field("value", 0, 24, "f24", doc="half the height", unit="pixels"))
    yield _register(0x044, "VIEWPORT_INVH", Field("value", 1, 31, "f31", doc="2 / height"))
    yield _register(0x047, "FRAGOP_CLIP", _bool("enable", 0, "user clip plane on"))
    for n, axis in enumerate("xyzw"):
        plane = Field("value", 0, 24, "f24", doc=f"{axis} of the user clip plane")
        yield _register(0x048 + n, f"FRAGOP_CLIP_DATA{n}", plane)
    yield _register(0x04D, "DEPTHMAP_SCALE", Field("value", 0, 24, "f24", doc="usually -1"))
    yield _register(0x04E, "DEPTHMAP_OFFSET", Field("value", 0, 24, "f24"))
    yield _register(0x04F, "SH_OUTMAP_TOTAL", _uint("count", 0, 3, "output registers that reach the rasteriser"))
    for n in range(7):
        semantics = tuple(_enum(axis, 8 * i, 5, names.SEMANTIC) for i, axis in enumerate("xyzw"))
        yield _register(0x050 + n, f"SH_OUTMAP_O{n}", *semantics)
    flat = _bool("flat", 0, "colour of the third vertex for the whole triangle")
    yield _measured(0x058, "FLAT_SHADING", flat, _bool("unknown8", 8))
    yield _measured(0x05A, "COUNT_VERTICES", _uint("count", 0, 32), access="r", doc="Vertices received.")
    yield _measured(0x05B, "COUNT_TRIANGLES", _uint("count", 0, 32), access="r", doc="Triangles received.")
    yield _measured(0x05C, "COUNT_TRIANGLES_DRAWN", _uint("count", 0, 32), access="r", doc="Triangles drawn.")
    yield _measured(0x060, "PIXEL_SKIP", _uint("mode", 8, 2), doc="Draws only every 2nd or 4th pixel.")
    yield _register(0x061, "EARLYDEPTH_FUNC", _enum("function", 0, 2, names.EARLY_DEPTH_COMPARE))
    yield _register(0x062, "EARLYDEPTH_TEST1", _bool("enable", 0))
    yield _register(0x063, "EARLYDEPTH_CLEAR", _bool("clear", 0), trigger=True)
    yield _register(0x064, "SH_OUTATTR_MODE", _bool("texture_coordinates", 0))
    yield _register(0x065, "SCISSORTEST_MODE", _enum("mode", 0, 2, names.SCISSOR))
    yield _register(0x066, "SCISSORTEST_POS", _uint("x1", 0, 10), _uint("y1", 16, 10))
    doc = "Last column and row inside."
    yield _register(0x067, "SCISSORTEST_DIM", _uint("x2", 0, 10), _uint("y2", 16, 10), doc=doc)
    yield _register(0x068, "VIEWPORT_XY", _sint("x", 0, 10), _sint("y", 16, 10))
    yield _register(0x06A, "EARLYDEPTH_DATA", _uint("value", 0, 24, "clear value"))
    yield _register(0x06D, "DEPTHMAP_ENABLE", _bool("enable", 0, "1: depth linear in z/w; 0: depth times w"))
    yield _register(0x06E, "RENDERBUF_DIM", *_dimensions(), doc="Drivers write the same as FRAMEBUFFER_DIM.")
    yield _register(
        0x06F,
        "SH_OUTATTR_CLOCK",
        _bool("position_z", 0),
        _bool("color", 1),
        _bool("texcoord0", 8),
        _bool("texcoord1", 9),
        _bool("texcoord2", 10),
        _bool("texcoord0_w", 16),
        _bool("quaternion_view", 24),
    )


def _dimensions() -> tuple[Field, ...]:
    flip = _bool("flip", 24, "1 is the normal setting; 0 mirrors the picture vertically (GBATEK)")
    return _uint("width", 0, 11), _less_one("height", 12, 10), flip


def _textures() -> Iterator[Register]:
    yield _register(
        0x080,
        "TEXUNIT_CONFIG",
        _bool("unit0_enable", 0),
        _bool("unit1_enable", 1),
        _bool("unit2_enable", 2),
        _uint("unit3_coordinates", 8, 2, "texture coordinate set of the procedural unit"),
        _bool("unit3_enable", 10),
        _bool("constant_one", 12, "drivers write 1"),
        _enum("unit2_coordinates", 13, 1, {0: "texcoord2", 1: "texcoord1"}),
        _bool("clear_cache", 16, "writing 1 clears the texture caches"),
        trigger=True,
    )
    for unit, base in enumerate((0x081, 0x091, 0x099)):
        yield from _texture_unit(unit, base)
    for n in range(2, 7):
        face = _uint("address", 0, 22, "low 22 bits of address / 8; the upper ones come from TEXUNIT0_ADDR")
        yield _register(0x084 + n, f"TEXUNIT0_ADDR{n}", face, doc="Cube faces +X -X +Y -Y +Z -Z are ADDR1 to ADDR6.")
    yield _register(
        0x08B,
        "TEXUNIT0_SHADOW",
        _bool("orthographic", 0, "1: coordinates are not divided by w"),
        _uint("bias", 1, 23, "half of the depth bias in 24-bit depth steps"),
    )
    yield _register(0x08E, "TEXUNIT0_TYPE", _enum("format", 0, 4, names.TEXTURE_FORMAT))
    yield _register(0x096, "TEXUNIT1_TYPE", _enum("format", 0, 4, names.TEXTURE_FORMAT))
    yield _register(0x09E, "TEXUNIT2_TYPE", _enum("format", 0, 4, names.TEXTURE_FORMAT))
    yield from _procedural()


def _texture_unit(unit: int, base: int) -> Iterator[Register]:
    own: tuple[Field, ...] = ()
    if unit == 0:
        own = _bool("shadow", 20), _enum("type", 28, 3, names.TEXTURE_TYPE)
    prefix = f"TEXUNIT{unit}_"
    yield _register(base, prefix + "BORDER_COLOR", *_rgba())
    yield _register(base + 1, prefix + "DIM", _uint("height", 0, 11), _uint("width", 16, 11))
    yield _register(
        base + 2,
        prefix + "PARAM",
        _enum("mag_filter", 1, 1, names.FILTER),
        _enum("min_filter", 2, 1, names.FILTER),
        _uint("etc1", 4, 2, "drivers write 2 for ETC1, else 0"),
        _enum("wrap_t", 8, 3, names.WRAP),
        _enum("wrap_s", 12, 3, names.WRAP),
        _enum("mip_filter", 24, 1, names.FILTER),
        *own,
    )
    yield _register(
        base + 3,
        prefix + "LOD",
        Field("bias", 0, 13, "fixed8"),
        _uint("max_level", 16, 4),
        _uint("min_level", 24, 4),
    )
    also = ("TEXUNIT0_ADDR1",) if unit == 0 else (prefix + "ADDR1",)
    yield _register(base + 4, prefix + "ADDR", Field("address", 0, 28, "pa8"), also=also)


def _procedural() -> Iterator[Register]:
    prefix = "TEXUNIT3_PROCTEX"
    yield _register(
        0x0A8,
        prefix + "0",
        _enum("u_clamp", 0, 3, names.PROCTEX_CLAMP),
        _enum("v_clamp", 3, 3, names.PROCTEX_CLAMP),
        _enum("rgb_function", 6, 4, names.PROCTEX_MAP),
        _enum("alpha_function", 10, 4, names.PROCTEX_MAP),
        _bool("separate_alpha", 14),
        _bool("noise", 15),
        _enum("u_shift", 16, 2, names.PROCTEX_SHIFT),
        _enum("v_shift", 18, 2, names.PROCTEX_SHIFT),
        _uint("lod_bias_low", 20, 8, "low byte of an f16"),
        also=("PROCTEX0",),
    )
    for n, axis in enumerate("UV"):
        yield _register(
            0x0A9 + n,
            f"{prefix}{n + 1}",
            Field("amplitude", 0, 16, "fixed12"),
            Field("phase", 16, 16, "f16"),
            also=(f"PROCTEX{n + 1}",),
            doc=f"Noise along {axis}.",
        )
    yield _register(
        0x0AB,
        prefix + "3",
        Field("u_frequency", 0, 16, "f16"),
        Field("v_frequency", 16, 16, "f16"),
        also=("PROCTEX3",),
    )
    yield _register(
        0x0AC,
        prefix + "4",
        _enum("filter", 0, 3, names.PROCTEX_FILTER),
        _uint("min_level", 3, 4),
        _uint("max_level", 7, 4),
        _uint("width", 11, 8, unit="texels"),
        _uint("lod_bias_high", 19, 8, "high byte of an f16"),
        also=("PROCTEX4",),
    )
    offsets = tuple(_uint(f"level{n}", 8 * n, 8, "first entry of this level in the colour table") for n in range(4))
    yield _register(0x0AD, prefix + "5", *offsets, also=("PROCTEX5",))
    table = _enum("table", 8, 4, names.PROCTEX_TABLE)
    yield _register(0x0AF, "PROCTEX_LUT", _uint("index", 0, 8), table, trigger=True)
    colors = tuple(Field(channel, 8 * i, 8, view=True) for i, channel in enumerate("rgba"))
    fields = (_uint("value", 0, 12, "in 1/4095"), _sint("difference", 12, 12, "to the next entry"), *colors)
    for n in range(8):
        yield _register(0x0B0 + n, f"PROCTEX_LUT_DATA{n}", *fields, trigger=True, doc="Any of the eight ids will do.")


def _combiners() -> Iterator[Register]:
    for stage, base in enumerate((0x0C0, 0x0C8, 0x0D0, 0x0D8, 0x0F0, 0x0F8)):
        yield from _stage(f"TEXENV{stage}_", base)
    bits = [_bool(f"rgb{n}", 8 + n, f"rgb result of stage {n} goes to the buffer") for n in range(4)]
    bits += [_bool(f"alpha{n}", 12 + n, f"alpha result of stage {n} goes to the buffer") for n in range(4)]
    yield _register(
        0x0E0,
        "TEXENV_UPDATE_BUFFER",
        _enum("fog_mode", 0, 3, names.FOG_MODE),
        _enum("shading_density", 3, 1, names.SHADING_DENSITY, "density that gas shading uses"),
        *bits,
        _bool("z_flip", 16, "look the fog up by 1 - depth"),
    )
    yield _register(0x0E1, "FOG_COLOR", *_rgba()[:3])
    yield _register(0x0E4, "GAS_ATTENUATION", Field("value", 0, 16, "f16"))
    yield _register(0x0E5, "GAS_ACCMAX", Field("value", 0, 16, "f16", doc="1 / largest density"))
    yield _register(0x0E6, "FOG_LUT_INDEX", _uint("index", 0, 16, "7 bits are used"), trigger=True)
    entry = _sint("difference", 0, 13, "to the next entry, in 1/2047"), _uint("value", 13, 11, "in 1/2047")
    for n in range(8):
        yield _register(0x0E8 + n, f"FOG_LUT_DATA{n}", *entry, trigger=True, doc="Any of the eight ids will do.")
    yield _register(0x0FD, "TEXENV_BUFFER_COLOR", *_rgba())


def _stage(prefix: str, base: int) -> Iterator[Register]:
    rgb = [_enum(f"rgb{n}", 4 * n, 4, names.TEXENV_SOURCE) for n in range(3)]
    alpha = [_enum(f"alpha{n}", 16 + 4 * n, 4, names.TEXENV_SOURCE) for n in range(3)]
    yield _register(base, prefix + "SOURCE", *rgb, *alpha)
    rgb = [_enum(f"rgb{n}", 4 * n, 4, names.TEXENV_RGB_OPERAND) for n in range(3)]
    alpha = [_enum(f"alpha{n}", 12 + 4 * n, 3, names.TEXENV_ALPHA_OPERAND) for n in range(3)]
    yield _register(base + 1, prefix + "OPERAND", *rgb, *alpha)
    combine = [_enum(part, lo, 4, names.TEXENV_COMBINER) for part, lo in (("rgb", 0), ("alpha", 16))]
    yield _register(base + 2, prefix + "COMBINER", *combine)
    yield _register(base + 3, prefix + "COLOR", *_rgba())
    scale = [_enum(part, lo, 2, names.TEXENV_SCALE) for part, lo in (("rgb", 0), ("alpha", 16))]
    yield _register(base + 4, prefix + "SCALE", *scale)


def _output() -> Iterator[Register]:
    yield _register(
        0x100,
        "COLOR_OPERATION",
        _enum("fragment_mode", 0, 2, names.FRAGMENT_MODE),
        _bool("blend_enable", 8, "1: blend; 0: logic operation"),
        _uint("line_config", 16, 10, "0x0E4 normally; bit 8 of it draws every second line only (GBATEK)"),
    )
    equations = [_enum(f"equation_{part}", lo, 3, names.BLEND_EQUATION) for part, lo in (("rgb", 0), ("alpha", 8))]
    places = (("src_rgb", 16), ("dst_rgb", 20), ("src_alpha", 24), ("dst_alpha", 28))
    factors = [_enum(name, lo, 4, names.BLEND_FACTOR) for name, lo in places]
    yield _register(0x101, "BLEND_FUNC", *equations, *factors)
    yield _register(0x102, "LOGIC_OP", _enum("op", 0, 4, names.LOGIC_OP), doc="Plain drawing is 3, copy.")
    yield _register(0x103, "BLEND_COLOR", *_rgba())
    test = _bool("enable", 0), _enum("function", 4, 3, names.COMPARE)
    yield _register(0x104, "FRAGOP_ALPHA_TEST", *test, _uint("reference", 8, 8))
    masks = _uint("write_mask", 8, 8), _uint("reference", 16, 8), _uint("input_mask", 24, 8)
    yield _register(0x105, "STENCIL_TEST", *test, *masks)
    actions = (("fail", 0), ("z_fail", 4), ("z_pass", 8))
    yield _register(0x106, "STENCIL_OP", *(_enum(name, lo, 3, names.STENCIL_ACTION) for name, lo in actions))
    yield _register(
        0x107,
        "DEPTH_COLOR_MASK",
        _bool("depth_test", 0),
        _enum("depth_function", 4, 3, names.COMPARE),
        *(_bool(name, 8 + n) for n, name in enumerate(("red", "green", "blue", "alpha", "depth_write"))),
    )
    yield _register(0x110, "FRAMEBUFFER_INVALIDATE", _bool("invalidate", 0), trigger=True)
    yield _register(0x111, "FRAMEBUFFER_FLUSH", _bool("flush", 0), trigger=True)
    yield _register(0x112, "COLORBUFFER_READ", _uint("mask", 0, 4))
    yield _register(0x113, "COLORBUFFER_WRITE", _uint("mask", 0, 4))
    yield _register(0x114, "DEPTHBUFFER_READ", _bool("stencil", 0), _bool("depth", 1))
    yield _register(0x115, "DEPTHBUFFER_WRITE", _bool("stencil", 0), _bool("depth", 1))
    yield _register(0x116, "DEPTHBUFFER_FORMAT", _enum("format", 0, 2, names.DEPTH_FORMAT))
    formats = _enum("pixel_size", 0, 2, names.PIXEL_SIZE), _enum("format", 16, 3, names.COLOR_FORMAT)
    yield _register(0x117, "COLORBUFFER_FORMAT", *formats)
    yield _register(0x118, "EARLYDEPTH_TEST2", _bool("enable", 0))
    yield _register(0x11B, "FRAMEBUFFER_BLOCK32", _bool("enable", 0, "32x32 blocks instead of 8x8"))
    yield _register(0x11C, "DEPTHBUFFER_LOC", Field("address", 0, 28, "pa8"))
    yield _register(0x11D, "COLORBUFFER_LOC", Field("address", 0, 28, "pa8"))
    yield _register(0x11E, "FRAMEBUFFER_DIM", *_dimensions())
    shade = tuple(_uint(name, 8 * n, 8) for n, name in enumerate(("minimum", "maximum", "attenuation")))
    yield _register(0x120, "GAS_LIGHT_XY", *shade)
    yield _register(0x121, "GAS_LIGHT_Z", *shade)
    lut_input = _enum("lut_input", 8, 1, {0: "density", 1: "light factor"})
    yield _register(0x122, "GAS_LIGHT_Z_COLOR", _uint("direction", 0, 8), lut_input)
    yield _register(0x123, "GAS_LUT_INDEX", _uint("index", 0, 16, "4 bits are used"), trigger=True)
    yield _register(0x124, "GAS_LUT_DATA", *_rgba()[:3], trigger=True)
    doc = "Largest density seen; writing 0 starts anew."
    yield _register(0x125, "GAS_ACCMAX_FEEDBACK", _uint("value", 0, 16), certainty=Certainty.DRIVER, doc=doc)
    depth = _uint("delta_z", 0, 24, unit="/256"), _enum("function", 24, 2, names.DEPTH_CLASS)
    yield _register(0x126, "GAS_DELTAZ_DEPTH", *depth)
    shadow = Field("constant", 0, 16, "f16"), Field("linear", 16, 16, "f16")
    yield _register(0x130, "FRAGOP_SHADOW", *shadow)


def _lighting() -> Iterator[Register]:
    for light in range(8):
        yield from _light(f"LIGHT{light}_", 0x140 + 16 * light)
    yield _register(0x08F, "LIGHTING_ENABLE0", _bool("enable", 0))
    yield _register(0x1C0, "LIGHTING_AMBIENT", *_light_color())
    yield _register(0x1C2, "LIGHTING_NUM_LIGHTS", _less_one("count", 0, 3), also=("NUM_LIGHTS",))
    yield _register(
        0x1C3,
        "LIGHTING_CONFIG0",
        _bool("shadow", 0, "shadow factor on"),
        _enum("fresnel", 2, 2, names.FRESNEL),
        _enum("layer", 4, 4, names.LIGHT_LAYER, "which tables take part"),
        _uint("constant_four", 8, 4, "drivers write 4"),
        _bool("shadow_primary", 16),
        _bool("shadow_secondary", 17),
        _bool("shadow_invert", 18),
        _bool("shadow_alpha", 19),
        _uint("bump_unit", 22, 2, "texture unit of the bump map"),
        _uint("shadow_unit", 24, 2, "texture unit of the shadow map"),
        _bool("clamp_highlights", 27),
        _enum("bump_mode", 28, 2, names.BUMP_MODE),
        _bool("bump_keep_z", 30, "1: z of the bump normal is not recomputed"),
        _bool("constant_one", 31, "drivers write 1"),
    )
    tables = (("d0_off", 16), ("d1_off", 17), ("fr_off", 19), ("rb_off", 20), ("rg_off", 21), ("rr_off", 22))
    yield _register(
        0x1C4,
        "LIGHTING_CONFIG1",
        _uint("shadow_off", 0, 8, "one bit per light"),
        _uint("spot_off", 8, 8, "one bit per light"),
        *(_bool(name, lo) for name, lo in tables),
        _bool("constant_one", 18, "drivers write 1"),
        _uint("distance_off", 24, 8, "one bit per light"),
    )
    table = _enum("table", 8, 5, names.LIGHT_LUT)
    yield _register(
        0x1C5, "LIGHTING_LUT_INDEX", _uint("index", 0, 8), table, also=("LIGHT_LUT_INDEX", "LUT_INDEX"), trigger=True
    )
    yield _register(0x1C6, "LIGHTING_ENABLE1", _bool("disable", 0, "1: lighting off"))
    entry = _uint("value", 0, 12, "in 1/4095"), Field("difference", 12, 12, "smag", doc="to the next, in 1/2047")
    doc = "Any of the eight ids will do."
    for n in range(8):
        also = (f"LUT_DATA{n}",)
        yield _register(0x1C8 + n, f"LIGHTING_LUT_DATA{n}", *entry, also=also, trigger=True, doc=doc)
    inputs = ("d0", "d1", "sp", "fr", "rb", "rg", "rr")
    off = [_bool(name, 1 + 4 * n, "1: the absolute value is not taken") for n, name in enumerate(inputs)]
    yield _register(0x1D0, "LIGHTING_LUTINPUT_ABS", *off, also=("LUTINPUT_ABS",))
    select = [_enum(name, 4 * n, 3, names.LIGHT_LUT_INPUT) for n, name in enumerate(inputs)]
    yield _register(0x1D1, "LIGHTING_LUTINPUT_SELECT", *select, also=("LUTINPUT_SELECT",))
    scale = [_enum(name, 4 * n, 3, names.LIGHT_LUT_SCALE) for n, name in enumerate(inputs)]
    yield _register(0x1D2, "LIGHTING_LUTINPUT_SCALE", *scale, also=("LUTINPUT_SCALE",))
    order = [_uint(f"light{n}", 4 * n, 3, f"number of active light {n}") for n in range(8)]
    yield _register(0x1D9, "LIGHTING_LIGHT_PERMUTATION", *order, also=("LIGHT_PERMUTATION",))


def _light_color() -> tuple[Field, ...]:
    return tuple(_uint(name, 10 * n, 10, "255 is full; larger values are over-bright") for n, name in enumerate("bgr"))


def _light(prefix: str, base: int) -> Iterator[Register]:
    for n, name in enumerate(("SPECULAR0", "SPECULAR1", "DIFFUSE", "AMBIENT")):
        yield _register(base + n, prefix + name, *_light_color())
    yield _register(base + 4, prefix + "XY", Field("x", 0, 16, "f16"), Field("y", 16, 16, "f16"))
    yield _register(base + 5, prefix + "Z", Field("z", 0, 16, "f16"))
    doc = "The direction is stored negated."
    spot = Field("x", 0, 13, "fixed11"), Field("y", 16, 13, "fixed11")
    yield _register(base + 6, prefix + "SPOTDIR_XY", *spot, doc=doc)
    yield _register(base + 7, prefix + "SPOTDIR_Z", Field("z", 0, 13, "fixed11"), doc=doc)
    bits = ("directional", "two_sided", "geometric0", "geometric1")
    yield _register(base + 9, prefix + "CONFIG", *(_bool(name, n) for n, name in enumerate(bits)))
    yield _register(base + 10, prefix + "ATTENUATION_BIAS", Field("value", 0, 20, "f20"))
    yield _register(base + 11, prefix + "ATTENUATION_SCALE", Field("value", 0, 20, "f20"))


def _vertices() -> Iterator[Register]:
    yield _register(0x200, "ATTRIBBUFFERS_LOC", Field("base", 1, 28, "pa16", doc="all loader offsets count from here"))
    yield _register(0x201, "ATTRIBBUFFERS_FORMAT_LOW", *_attribute_formats(range(8)))
    yield _register(
        0x202,
        "ATTRIBBUFFERS_FORMAT_HIGH",
        *_attribute_formats(range(8, 12)),
        _uint("fixed_mask", 16, 12, "attributes that keep a fixed value"),
        _less_one("count", 28, 4, "attributes in all"),
    )
    for n in range(12):
        prefix = f"ATTRIBBUFFER{n}_"
        low = [_enum(f"component{k + 1}", 4 * k, 4, names.COMPONENT) for k in range(8)]
        high = [_enum(f"component{k + 9}", 4 * k, 4, names.COMPONENT) for k in range(4)]
        yield _register(0x203 + 3 * n, prefix + "OFFSET", _uint("offset", 0, 28, unit="bytes"))
        yield _register(0x204 + 3 * n, prefix + "CONFIG1", *low)
        shape = _uint("stride", 16, 8, unit="bytes"), _uint("count", 28, 4, "components in use")
        yield _register(0x205 + 3 * n, prefix + "CONFIG2", *high, *shape)
    index = _uint("offset", 0, 28, unit="bytes"), _enum("type", 31, 1, names.INDEX_TYPE)
    yield _register(0x227, "INDEXBUFFER_CONFIG", *index)
    yield _register(0x228, "NUMVERTICES", _uint("count", 0, 32))
    yield _register(
        0x229,
        "GEOSTAGE_CONFIG",
        _enum("mode", 0, 2, names.GEOMETRY_STAGE),
        _bool("triangle_elements", 8),
        _bool("variable", 31, "primitives of varying vertex count"),
    )
    yield _register(0x22A, "VERTEX_OFFSET", _uint("first", 0, 32, "first vertex of DRAWARRAYS"))
    yield _register(0x22D, "POST_VERTEX_CACHE_NUM", _uint("count", 0, 8), doc="4 or 0x84 usually.")
    yield _register(0x22E, "DRAWARRAYS", _uint("value", 0, 32), trigger=True, doc="Draws consecutive vertices.")
    yield _register(0x22F, "DRAWELEMENTS", _uint("value", 0, 32), trigger=True, doc="Draws by the index buffer.")
    yield _register(0x231, "VTX_FUNC", _bool("clear", 0, "empties the vertex cache"), trigger=True)
    slot = _uint("index", 0, 4, "attribute 0-11, or 15: the words are vertices to draw")
    yield _register(0x232, "FIXEDATTRIB_INDEX", slot, trigger=True)
    doc = "Three words are one attribute of four f24, w first; any of the three ids will do."
    for n in range(3):
        yield _register(0x233 + n, f"FIXEDATTRIB_DATA{n}", _uint("data", 0, 32), trigger=True, doc=doc)
    for n in range(2):
        size = Field("size", 0, 21, "x8", unit="bytes")
        doc = "The lowest bit stays 0 (GBATEK), so that lists are multiples of 16 bytes."
        yield _register(0x238 + n, f"CMDBUF_SIZE{n}", size, writable=0x1FFFFE, doc=doc)
    for n in range(2):
        doc = "The lowest bit stays 0 (GBATEK), so that lists start at multiples of 16 bytes."
        yield _register(0x23A + n, f"CMDBUF_ADDR{n}", Field("address", 0, 29, "pa8"), writable=0x1FFFFFFE, doc=doc)
    for n in range(2):
        doc = "Leaves the running list for the one that ADDR and SIZE of the same number name."
        yield _register(0x23C + n, f"CMDBUF_JUMP{n}", _uint("value", 0, 32), trigger=True, doc=doc)


def _attribute_formats(attributes: range) -> Iterator[Field]:
    for n, attribute in enumerate(attributes):
        yield _enum(f"type{attribute}", 4 * n, 2, names.ATTRIBUTE_TYPE)
        yield _less_one(f"size{attribute}", 4 * n + 2, 2, "elements")


def _pipeline() -> Iterator[Register]:
    yield _register(0x242, "VSH_NUM_ATTR", _less_one("count", 0, 4, "attributes per vertex"))
    yield _register(0x244, "VSH_COM_MODE", _bool("separate", 0, "1: the geometry unit has registers of its own"))
    yield _register(0x245, "START_DRAW_FUNC0", _bool("configuration", 0, "1: configuration; 0: drawing"), reset=1)
    yield _register(0x24A, "VSH_OUTMAP_TOTAL1", _less_one("count", 0, 4, "vertex shader outputs"))
    yield _register(0x251, "VSH_OUTMAP_TOTAL2", _less_one("count", 0, 4, "vertex shader outputs"))
    yield _register(
        0x252,
        "GSH_MISC0",
        _enum("mode", 0, 8, names.GEOMETRY_MODE),
        _less_one("vertices", 8, 4, "vertices per primitive, fixed mode"),
        _less_one("attributes", 12, 4, "attributes per vertex, fixed mode"),
        _uint("first_uniform", 16, 8, "where fixed mode stores them"),
        _bool("unknown24", 24),
        certainty=Certainty.ONE_PEER,
        doc="The wiki lists whole words only; the split into fields is one simulator's.",
    )
    arrays = _bool("arrays", 0, "1 while drawing arrays or sending immediate vertices")
    yield _register(0x253, "GEOSTAGE_CONFIG2", arrays, _bool("triangle_elements", 8))
    yield _register(0x254, "GSH_MISC1", _less_one("main_vertices", 0, 5, "vertices whose outputs are all kept"))
    outputs = _less_one("outputs", 0, 4, "vertex shader outputs"), _enum("mode", 8, 2, names.PRIMITIVE)
    yield _register(0x25E, "PRIMITIVE_CONFIG", *outputs, trigger=True)
    yield _register(0x25F, "RESTART_PRIMITIVE", _uint("value", 0, 32), trigger=True)


def _shader(prefix: str, base: int) -> Iterator[Register]:
    """The registers of one shader unit; geometry and vertex units have the same layout."""
    bools = _uint("bools", 0, 16), _uint("upper", 16, 16, "drivers write 0x7FFF")
    yield _register(base, prefix + "BOOLUNIFORM", *bools)
    for n in range(4):
        ints = [_uint(axis, 8 * i, 8) for i, axis in enumerate("xyzw")]
        yield _register(base + 1 + n, f"{prefix}INTUNIFORM_I{n}", *ints)
    yield _register(
        base + 0x9,
        prefix + "INPUTBUFFER_CONFIG",
        _less_one("count", 0, 4, "input registers"),
        _uint("use_uniforms", 8, 8, "1: geometry shader input goes to uniforms"),
        _uint("unit_mode", 24, 8, "0xA0 for vertex units, 0x08 for a geometry unit in use"),
    )
    entry = _uint("entry", 0, 16, "first instruction word"), _uint("end", 16, 16, "drivers write 0x7FFF")
    yield _register(base + 0xA, prefix + "ENTRYPOINT", *entry)
    for n, half in enumerate(("LOW", "HIGH")):
        inputs = [_uint(f"input{8 * n + k}", 4 * k, 4, "input register") for k in range(8)]
        yield _register(base + 0xB + n, f"{prefix}ATTRIBUTES_PERMUTATION_{half}", *inputs)
    yield _register(base + 0xD, prefix + "OUTMAP_MASK", _uint("mask", 0, 16, "output registers in use"))
    yield _register(base + 0xF, prefix + "CODETRANSFER_END", _uint("value", 0, 32), trigger=True)
    uniform = _uint("index", 0, 8), _bool("f32", 31, "1: four f32 words; 0: three words of f24")
    yield _register(base + 0x10, prefix + "FLOATUNIFORM_INDEX", *uniform, trigger=True)
    yield from _fifo(base + 0x11, prefix + "FLOATUNIFORM_DATA")
    yield _register(base + 0x1B, prefix + "CODETRANSFER_INDEX", _uint("index", 0, 12), trigger=True)
    yield from _fifo(base + 0x1C, prefix + "CODETRANSFER_DATA")
    yield _register(base + 0x25, prefix + "OPDESCS_INDEX", _uint("index", 0, 12, "7 bits are used"), trigger=True)
    yield from _fifo(base + 0x26, prefix + "OPDESCS_DATA")


def _fifo(base: int, name: str) -> Iterator[Register]:
    for n in range(8):
        doc = "Any of the eight ids will do; the index moves on."
        yield _register(base + n, f"{name}{n}", _uint("data", 0, 32), trigger=True, doc=doc)


_STORED: Final = frozenset(
    (
        *(0x045, 0x046, 0x04C, 0x059, 0x069, 0x06B, 0x06C, 0x08C, 0x08D, 0x0C7, 0x0E2, 0x0E3),
        *(0x10D, 0x10E, 0x10F, 0x119, 0x11A, 0x11F, 0x13F, *range(0x1D3, 0x1D9), 0x243, 0x255),
    )
)
"""Ids that keep what is written but whose purpose nobody has found (GBATEK)."""

_MIRRORS: Final = frozenset(
    (
        *(*range(0x070, 0x080), 0x0FE, 0x0FF, *range(0x127, 0x130), *range(0x1E0, 0x200), 0x240, 0x241),
        *(*range(0x246, 0x24A), *range(0x24B, 0x250), *range(0x258, 0x25E), *range(0x260, 0x280)),
    )
)
"""Ids at which a console shows RESTART_PRIMITIVE again (GBATEK); writing them is asking for trouble."""

_RESETS: Final[Mapping[int, int]] = {0x11F: 0x00010140, 0x243: 0x37}


def _unknown(id: int) -> Register:
    if id in _STORED:
        doc, certainty, source = "Keeps what is written; purpose unknown.", Certainty.GBATEK, GBATEK
    elif id in _MIRRORS:
        doc, certainty, source = "Mirror of RESTART_PRIMITIVE.", Certainty.GBATEK, GBATEK
    elif id >= 0x2E0:
        doc, certainty, source = "Own registers of a further shader unit, as from 0x280.", Certainty.GBATEK, GBATEK
    else:
        doc, certainty, source = "Unused as far as is known.", Certainty.UNKNOWN, ""
    facts: dict[str, Any] = {"source": source, "certainty": certainty, "doc": doc, "reset": _RESETS.get(id, 0)}
    return Register(BANK, id, f"UNKNOWN_{id:03X}", known=False, **facts)


def _table() -> Iterator[Register]:
    described: list[Register] = [
        *(*_irq(), *_raster(), *_textures(), *_combiners(), *_output(), *_lighting()),
        *(*_vertices(), *_pipeline(), *_shader("GSH_", 0x280), *_shader("VSH_", 0x2B0)),
    ]
    yield from described
    taken = {register.offset for register in described}
    yield from (_unknown(id) for id in range(COUNT) if id not in taken)


PICA: Final = RegisterBlock(BANK, _table())
"""All internal registers; offsets are ids."""
