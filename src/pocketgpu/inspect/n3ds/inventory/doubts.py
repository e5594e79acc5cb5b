"""Which doubtful behaviour a draw, fill, transfer or display depends on: one small test for each choice.

"certain" means that the disputed case itself occurs: another value of the choice gives another result, unless the data
hide it. "possible" means that it depends on the data (a NaN, an exact tie, a coordinate just below 0). Choices on which
registers give no information are not here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pocketgpu.events import sized
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.formats import EXTERNAL_FORMATS, TEXTURE_FORMATS
from pocketgpu.facts.pica import SHADER_REGISTERS
from pocketgpu.facts.pica_enums import (
    BLEND_EQUATION,
    BLEND_FACTOR,
    COMPARE,
    CULL,
    DEPTH_FORMAT,
    FILL_WIDTH,
    FILTER,
    FOG_MODE,
    PRIMITIVE,
    TEXENV_COMBINER,
    TEXENV_SCALE,
    TEXENV_SOURCE,
    TEXTURE_TYPE,
    WRAP,
)
from pocketgpu.facts.shader_isa import F4, LAST_SLOT, OPCODES, opcode_number
from pocketgpu.facts.vertices import input_field
from pocketgpu.inspect.model.inventory import Doubt
from pocketgpu.inspect.n3ds.inventory.draw_state import DrawState
from pocketgpu.pica.engines.transfer import LEAST_16_BIT
from pocketgpu.pica.fragment.combiners import BUFFERED, STAGES
from pocketgpu.pica.texture.units import SHADOW_TYPES
from pocketgpu.wording import counted

LIST, DRAW, TRANSFER, WRITE, DISPLAY = "list", "draw", "transfer", "write", "display"
"""What happens in frames: a list is walked, a draw, a display transfer, a register is written, one of a display is."""
READ, COMMAND, POWER = "read", "command", "power"
"""A register is read for a write of 8 or 16 bits; a GX command runs; the power of video memory is switched."""
LASTING = frozenset({COMMAND, POWER})
"""What has effects in all later frames too: queues and shared memory of gsp, banks that are off."""

WHEN: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        ("list.high_ids", "list.fifo_mask", "list.jump_value", "list.end_match", "vertex.fixed_index"),
        frozenset({LIST, WRITE, COMMAND}),
    ),
    **dict.fromkeys(
        ("shader.reciprocal_zero", "shader.max_infinity", "shader.loop_ends", "shader.end", "clip.depth_range",
         "texture.filter"),
        frozenset({DRAW}),
    ),
    **dict.fromkeys(("transfer.no_tiling", "transfer.both_tiling_flags"), frozenset({TRANSFER})),
    **dict.fromkeys(
        ("external.status", "external.hardware_id", "display.select_read"), frozenset({READ, COMMAND})
    ),
    "vram.power_off": frozenset({POWER}),
    **dict.fromkeys(("display.sync_bits", "display.stride_unit"), frozenset({DISPLAY})),
    # They matter in emulated time only, which replays of captures do not have.
    **dict.fromkeys(
        ("display.latch", "display.vstart", "display.interleave", "display.dma_size_3", "external.core_reads"),
        frozenset(),
    ),
    **dict.fromkeys(
        ("gsp.alignment", "gsp.untranslatable", "gsp.double_fill", "gsp.swap_time", "gsp.swap_clients",
         "gsp.relay_limit", "gsp.read_size"),
        frozenset({COMMAND}),
    ),
}  # fmt: skip
"""Choices that no test here is about, and what must happen in a frame so that they can matter at all."""
UNSEEN = frozenset(WHEN)
"""Choices that no test here is about."""

_ORDERED = COMPARE.numbers("LESS", "LESS_OR_EQUAL", "GREATER", "GREATER_OR_EQUAL")
"""Comparisons whose result changes when their operands are exchanged."""
_EXTREMES = BLEND_EQUATION.numbers("MINIMUM", "MAXIMUM")
_LONG_WRAPS = WRAP.numbers("EDGE_ABOVE", "BORDER_ABOVE", "REPEAT_6", "REPEAT_7")
_24_BITS = FILL_WIDTH.numbers("BITS_24", "BITS_24_3")


def of_draw(state: DrawState) -> Iterator[Doubt]:
    """The doubts that a draw state depends on."""
    yield from _vertices(state)
    yield from _raster(state)
    yield from _textures(state)
    yield from _lighting(state)
    yield from _combiners(state)
    yield from _tests(state)


def _vertices(state: DrawState) -> Iterator[Doubt]:
    trigger = "DRAWARRAYS" if state.arrays else "DRAWELEMENTS"
    if not state.immediate and trigger in state.zero:
        yield Doubt("draw.trigger_value", f"0 is written to {trigger}")
    if state.immediate:
        inputs = state("VSH_NUM_ATTR.count") + 1
        order = [state(input_field(n)) for n in range(min(inputs, SHADER_REGISTERS))]
        if order != list(range(len(order))):
            yield Doubt("vertex.immediate_inputs", "immediate vertices with permuted attributes")
        if state("PRIMITIVE_CONFIG.mode") == PRIMITIVE.TRIANGLE_STRIP:
            yield Doubt("vertex.immediate_strip", "an immediate strip")
        return
    loaders = state.loaded
    seen: list[int] = [code for loader in loaders for code, size, _ in loader if size]
    if len(set(seen)) != len(seen):
        yield Doubt("vertex.repeated_attribute", "two loader components name the same attribute")
    fixed = state("ATTRIBBUFFERS_FORMAT_HIGH.fixed_mask")
    if any(fixed >> code & 1 for code in seen):
        yield Doubt("vertex.fixed_and_loaded", "an attribute is marked fixed and loaded as well")
    if any(_is_misaligned(loader) for loader in loaders):
        yield Doubt("vertex.alignment", "components inside a loader that are not aligned to their size")


def _is_misaligned(loader: list[tuple[int, int, int]]) -> bool:
    at = 0
    for _, size, count in loader:
        wanted = size or 4
        if at % wanted:
            return True
        at += max(size, 1) * count
    return False


def _raster(state: DrawState) -> Iterator[Doubt]:
    if state("VIEWPORT_XY.x") or state("VIEWPORT_XY.y"):
        yield Doubt("viewport.offset_sign", "the viewport does not start at 0, 0")
    if state("FACECULLING_CONFIG.mode") == CULL.NONE_3:
        yield Doubt("raster.cull_0_3", "culling mode 3")
    if state("FRAMEBUFFER_BLOCK32.enable"):
        yield Doubt("transfer.block32", "32x32 blocks")
    if state.geometry:
        yield Doubt("geometry.output_banks", "a geometry shader runs", certain=False)
        yield Doubt("geometry.bool15", "a geometry shader runs", certain=False)
    if state("DEPTHBUFFER_FORMAT.format") in (DEPTH_FORMAT.D24, DEPTH_FORMAT.D24S8) and state.writes_depth:
        yield Doubt("depth.bits", "a 24-bit depth buffer is written", certain=False)


def _textures(state: DrawState) -> Iterator[Doubt]:
    for unit in state.texture_units:
        prefix = f"TEXUNIT{unit}_"
        kind = state("TEXUNIT0_PARAM.type") if unit == 0 else TEXTURE_TYPE.FLAT
        if prefix + "ADDR" in state.zero:
            yield Doubt("texture.null_address", f"unit {unit} has no address")
        if state(prefix + "LOD.max_level"):
            yield Doubt("texture.levels", f"unit {unit} has smaller levels")
        format = TEXTURE_FORMATS.get(state(prefix + "TYPE.format"))
        if format is not None and any(bits in (5, 6) for _, _, bits in format.channels):
            yield Doubt("texture.expand", f"{counted(format.name, 'texture')}")
        if any(state(f"{prefix}PARAM.wrap_{axis}") in _LONG_WRAPS for axis in "st"):
            yield Doubt("texture.wrap_4_7", f"unit {unit} wraps by a code above 3")
        if FILTER.NEAREST in (state(prefix + "PARAM.mag_filter"), state(prefix + "PARAM.min_filter")):
            yield Doubt("texture.nearest", "textures without filtering", certain=False)
        if kind in SHADOW_TYPES:
            yield Doubt("texture.shadow_filter", "shadow textures")
            yield Doubt("texture.shadow_equal", "shadow textures", certain=False)
            if state("TEXUNIT0_SHADOW.bias"):
                yield Doubt("texture.shadow_bias", "shadow textures with a bias", certain=False)


def _lighting(state: DrawState) -> Iterator[Doubt]:
    if not state.lit:
        return
    yield Doubt("lighting.lut", "lighting reads its tables", certain=False)
    off = [state(f"LIGHTING_CONFIG1.{name}_off") for name in ("rb", "rr")]
    if off[0] != off[1]:
        yield Doubt("lighting.off_bits", "only one of the reflection tables for red and blue is off")
    if state("LIGHTING_CONFIG0.fresnel") and state("LIGHTING_NUM_LIGHTS.count"):
        yield Doubt("lighting.fresnel", "Fresnel alpha with several lights")
    if state.over_bright:
        yield Doubt("lighting.color_bits", "light colours above full brightness")


def _combiners(state: DrawState) -> Iterator[Doubt]:
    first = state.sources(0)
    if TEXENV_SOURCE.PREVIOUS in first:
        yield Doubt("combiner.first_previous", "stage 0 reads the previous stage")
    if TEXENV_SOURCE.BUFFER in first:
        yield Doubt("combiner.first_buffer", "stage 0 reads the combiner buffer")
    for stage in range(STAGES):
        operations = state.operations(stage)
        if 1 <= stage <= BUFFERED and TEXENV_SOURCE.BUFFER in state.sources(stage):
            stored = state(f"TEXENV_UPDATE_BUFFER.rgb{stage - 1}") or state(f"TEXENV_UPDATE_BUFFER.alpha{stage - 1}")
            if stored:
                yield Doubt("combiner.buffer_delay", "a stage reads the buffer that the stage before it stores to")
        if TEXENV_COMBINER.ADD_SIGNED in operations:
            yield Doubt("combiner.add_signed", "add-signed combiners")
        if TEXENV_COMBINER.ADD_THEN_MULTIPLY in operations:
            yield Doubt("combiner.add_multiply", "add-multiply combiners", certain=False)
        if any(state(f"TEXENV{stage}_SCALE.{part}") not in TEXENV_SCALE for part in ("rgb", "alpha")):
            yield Doubt("combiner.scale_3", "combiner scale code 3")
        if any(operations):
            yield Doubt("combiner.arithmetic", "combiners that compute", certain=False)
    # Before the first stage there is no previous one: its value is the vertex colour, unless combiner.first_previous
    # says otherwise.
    if TEXENV_SOURCE.VERTEX_COLOR in state.all_sources or TEXENV_SOURCE.PREVIOUS in first:
        yield Doubt("combiner.vertex_color", "vertex colours", certain=False)
    if state("TEXENV_UPDATE_BUFFER.fog_mode") == FOG_MODE.FOG:
        yield Doubt("fog.arithmetic", "fog", certain=False)
    if state.gas:
        yield Doubt("gas.hypothesis", "gas")


def _tests(state: DrawState) -> Iterator[Doubt]:
    depth, stencil = state("DEPTH_COLOR_MASK.depth_test"), state("STENCIL_TEST.enable")
    if state("FRAGOP_ALPHA_TEST.enable") and stencil:
        yield Doubt("test.order", "alpha test together with the stencil test")
    if stencil and state("STENCIL_TEST.function") in _ORDERED:
        yield Doubt("test.stencil_operands", "the stencil test compares by order")
    if stencil and state("DEPTHBUFFER_WRITE.depth") and not state("DEPTHBUFFER_WRITE.stencil"):
        yield Doubt("test.stencil_write", "depth may be written and the stencil may not")
    if not depth and state.writes_depth:
        yield Doubt("test.untested_depth_write", "depth is written without a depth test")
    if not state("COLOR_OPERATION.blend_enable"):
        return
    for part in ("rgb", "alpha"):
        factors = [state(f"BLEND_FUNC.{side}_{part}") for side in ("src", "dst")]
        if state(f"BLEND_FUNC.equation_{part}") in _EXTREMES and factors != [BLEND_FACTOR.ONE] * 2:
            yield Doubt("blend.min_max", "minimum or maximum with factors other than one")
        if any(factor not in BLEND_FACTOR for factor in factors):
            yield Doubt("blend.factor_15", "blend factor 15")


def of_program(code: bytes, geometry: bool) -> Iterator[Doubt]:
    """The doubts that the instructions in a shader unit's program memory (little-endian words) may depend on."""
    words = [int.from_bytes(code[i : i + 4], "little") for i in range(0, len(code), 4)]
    # 0 is also an ADD, but a word of 0 is memory that was never written.
    known = [(OPCODES.get(opcode_number(word)), word) for word in words if word]
    names = {op.name for op, _ in known if op is not None}
    loops = sum(1 for op, _ in known if op is not None and op.name == "LOOP")
    if names:
        yield Doubt("shader.precision", "shader arithmetic", certain=False)
    if "LITP" in names:
        yield Doubt("shader.litp_nan", "a program uses LITP", certain=False)
    if loops > 1:
        yield Doubt("shader.nested_loop_counter", "a program has several loops", certain=False)
    if names & {"CALL", "CALLC", "CALLU"}:
        yield Doubt("shader.stacks", "a program calls subroutines", certain=False)
    emits = [word for op, word in known if op is not None and op.name == "SETEMIT"]
    if geometry and any(F4.get(word, "winding") for word in emits):
        yield Doubt("geometry.winding", "a program emits triangles turned round")
    if geometry and any(F4.get(word, "vertex") == LAST_SLOT for word in emits):
        yield Doubt("geometry.emit_buffers", "a program emits by the fourth slot")


def of_list(ignored: int) -> Iterator[Doubt]:
    """The doubts of a command list with `ignored` writes to ids where lists have no register."""
    if ignored:
        yield Doubt("list.private_ids", "a list writes ids that belong to the ARM11, or above 0x2ff")


def _raw(words: Mapping[str, int], name: str, part: str) -> int:
    return EXTERNAL[name][part].raw(words[name])


def of_unit(unit: str, words: Mapping[str, int]) -> Iterator[Doubt]:
    """The doubts of a fill (unit PSC0 or PSC1) or of the transfer engine (PPF)."""
    if unit != "PPF":
        start, end = (
            int(EXTERNAL[f"{unit}_{name}"]["address"].decode(words[f"{unit}_{name}"])) for name in ("START", "END")
        )
        if not start:
            yield Doubt("fill.null_start", "a fill at address 0")
        elif _raw(words, f"{unit}_CONTROL", "width") in _24_BITS and (end - start) % 3:
            yield Doubt("fill.tail_24", "a 24-bit fill of a length that is no multiple of 3")
        return
    if _raw(words, "PPF_FLAGS", "texture_copy"):
        sides = [
            (_raw(words, name, "width"), _raw(words, name, "gap")) for name in ("PPF_COPY_INPUT", "PPF_COPY_OUTPUT")
        ]
        if any(gap and width for width, gap in sides):
            yield Doubt("texture_copy.units", "a texture copy with gaps")
        if any(gap and not width for width, gap in sides):
            yield Doubt("texture_copy.zero_width", "a texture copy with gaps between lines of width 0")
        return
    yield from _transfer(words)


def _transfer(words: Mapping[str, int]) -> Iterator[Doubt]:
    in_width, out_width = _raw(words, "PPF_INPUT_SIZE", "width"), _raw(words, "PPF_OUTPUT_SIZE", "width")
    if not (out_width and _raw(words, "PPF_OUTPUT_SIZE", "height")):
        yield Doubt("transfer.zero_size", "a transfer without width or height")
        return
    if in_width != out_width and not _raw(words, "PPF_FLAGS", "crop"):
        yield Doubt("transfer.uncropped_stride", "rows of different lengths without the crop flag")
    if _raw(words, "PPF_FLAGS", "no_tiling"):
        both = _raw(words, "PPF_FLAGS", "linear_to_tiled")
        name, reason = ("both_tiling_flags", "both tiling flags") if both else ("no_tiling", "the no-tiling flag")
        yield Doubt(f"transfer.{name}", reason)
    if _raw(words, "PPF_FLAGS", "flip") and _raw(words, "PPF_FLAGS", "crop") and in_width > out_width:
        yield Doubt("transfer.flip_crop", "a picture is flipped and cropped")
    if _raw(words, "PPF_FLAGS", "block32"):
        yield Doubt("transfer.block32", "32x32 blocks")
    read, write = (EXTERNAL_FORMATS.get(_raw(words, "PPF_FLAGS", f"{side}_format")) for side in ("input", "output"))
    if read is None or write is None:
        return
    if read.bits > write.bits and any(bits < 8 for _, _, bits in write.channels):
        yield Doubt("transfer.contract", f"{read.name} becomes {write.name}")
    # RGBA8 becomes anything, RGB8 only itself, 16 bits other 16 bits (GBATEK).
    if read.bits != 32 and read.bits != write.bits:
        yield Doubt("transfer.odd_formats", f"{read.name} becomes {write.name}")
    height = _raw(words, "PPF_OUTPUT_SIZE", "height")
    if read.bits == write.bits == 16 and min(out_width, height) < LEAST_16_BIT:
        yield Doubt("transfer.small", f"{sized(out_width, height)} pixels of 16 bits")
    if _raw(words, "PPF_FLAGS", "scale"):
        if read.bits == 16:
            yield Doubt("transfer.average_bits", f"{read.name} is scaled down")
        if _raw(words, "PPF_FLAGS", "linear_to_tiled"):
            yield Doubt("transfer.linear_scale", "a linear picture is scaled down")


def of_display(registers: Mapping[str, int], unit: int) -> Iterator[Doubt]:
    """The doubts of what a display controller shows."""
    code = EXTERNAL[f"PDC{unit}_FORMAT"]["color_format"].raw(registers[f"PDC{unit}_FORMAT"])
    if code not in EXTERNAL_FORMATS:
        yield Doubt("display.formats_5_7", f"display format {code}")
    elif any(bits in (5, 6) for _, _, bits in EXTERNAL_FORMATS[code].channels):
        yield Doubt("display.expand", f"{EXTERNAL_FORMATS[code].name} on a screen")
