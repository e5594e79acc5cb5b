"""Which features of the GPU a draw uses, as `pocketgpu info` prints them.

Each feature is a pair: what it is (a fixed word, for scripts) and how it is used (for people). Features are in order of
their units: targets, vertices, textures, lighting, combiners, tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pocketgpu.events import sized
from pocketgpu.facts.dialect.registers import Register
from pocketgpu.facts.external import EXTERNAL, shows_both
from pocketgpu.facts.formats import DEPTH_FORMATS, FRAMEBUFFER_COLOR_FORMATS, TEXTURE_FORMATS
from pocketgpu.facts.pica import ATTRIBUTES
from pocketgpu.facts.pica_enums import (
    BLEND_EQUATION,
    BLEND_FACTOR,
    CULL,
    FOG_MODE,
    FRAGMENT_MODE,
    LOGIC_OP,
    SCISSOR,
    TEXENV_SOURCE,
)
from pocketgpu.facts.vertices import format_fields
from pocketgpu.inspect.model.inventory import Feature
from pocketgpu.inspect.n3ds.inventory.draw_state import DrawState
from pocketgpu.pica.fragment.combiners import STAGES
from pocketgpu.wording import counted


def of_draw(state: DrawState) -> Iterator[Feature]:
    """All features of a draw state."""
    yield from _target(state)
    yield from _vertices(state)
    yield from _textures(state)
    yield from _lighting(state)
    yield from _combiners(state)
    yield from _output(state)


def _target(state: DrawState) -> Iterator[Feature]:
    width, height = state("FRAMEBUFFER_DIM.width"), state("FRAMEBUFFER_DIM.height") + 1
    color = FRAMEBUFFER_COLOR_FORMATS.get(state("COLORBUFFER_FORMAT.format"))
    depth = DEPTH_FORMATS.get(state("DEPTHBUFFER_FORMAT.format"))
    place = state.bytes("COLORBUFFER_LOC.address")
    names = " and ".join(format.name if format else "an undefined format" for format in (color, depth))
    yield Feature("target", f"{names}, {sized(width, height)}, colours at {place:#010x}")
    if state("FRAMEBUFFER_BLOCK32.enable"):
        yield Feature("target.block32", "32x32 blocks")


def _vertices(state: DrawState) -> Iterator[Feature]:
    if state.immediate:
        yield Feature("vertices.immediate", f"{counted(state('VSH_NUM_ATTR.count') + 1, 'attribute')} a vertex")
    elif state.indexed:
        yield Feature("vertices.indexed", f"{counted(state.text('INDEXBUFFER_CONFIG.type'), 'index', 'indices')}")
    else:
        yield Feature("vertices.arrays", "consecutive vertices")
    yield Feature("primitives", state.text("PRIMITIVE_CONFIG.mode"))
    if not state.immediate:
        fixed = state("ATTRIBBUFFERS_FORMAT_HIGH.fixed_mask")
        loaded = {code for loader in state.loaded for code, size, _ in loader if size}
        words = []
        for attribute in range(min(ATTRIBUTES, state("ATTRIBBUFFERS_FORMAT_HIGH.count") + 1)):
            if attribute in loaded:
                words.append(f"{state.text(format_fields(attribute)[0])}x{state.element(attribute)[1]}")
            elif fixed >> attribute & 1:
                words.append("fixed")
        buffers = len(state.loaded)
        plural = "buffer" if buffers == 1 else "buffers"
        yield Feature("attributes", f"{' '.join(words) or 'none'} from {buffers} {plural}")
    if state.geometry:
        yield Feature("geometry-shader", f"{state.text('GSH_MISC0.mode')} mode")
    if state("FACECULLING_CONFIG.mode") in (CULL.FRONT, CULL.BACK):
        yield Feature("culling", state.text("FACECULLING_CONFIG.mode"))
    if state("FRAGOP_CLIP.enable"):
        yield Feature("clip-plane", "user clip plane")
    if state("FLAT_SHADING.flat"):
        yield Feature("flat-shading", "colour of one vertex for the whole triangle")


def _textures(state: DrawState) -> Iterator[Feature]:
    for unit in state.texture_units:
        prefix = f"TEXUNIT{unit}_"
        format = TEXTURE_FORMATS.get(state(prefix + "TYPE.format"))
        kind = state.text("TEXUNIT0_PARAM.type") if unit == 0 else "2D"
        name = format.name if format else "undefined format"
        width, height = state(prefix + "DIM.width"), state(prefix + "DIM.height")
        text = f"unit {unit}: {name} {sized(width, height)} {kind}"
        top = state(prefix + "LOD.max_level")
        if top:
            text += f", levels {state(prefix + 'LOD.min_level')}-{top}"
        yield Feature("texture", text)
        yield Feature("texture.format", name)
        if kind != "2D":
            yield Feature("texture.type", kind)
        if top:
            yield Feature("texture.mipmaps", f"{state.text(prefix + 'PARAM.mip_filter')} between levels")
        filters = [state.text(f"{prefix}PARAM.{name}") for name in ("mag_filter", "min_filter")]
        yield Feature("texture.filter", f"{filters[0]} when enlarged, {filters[1]} when reduced")
        wraps = [state.text(f"{prefix}PARAM.wrap_{axis}") for axis in "st"]
        yield Feature("texture.wrap", wraps[0] if wraps[0] == wraps[1] else f"{wraps[0]}, {wraps[1]}")
    if state.procedural:
        maps = state.text("PROCTEX0.rgb_function")
        noise = ", noise" if state("PROCTEX0.noise") else ""
        alpha = ", alpha of its own" if state("PROCTEX0.separate_alpha") else ""
        yield Feature("proctex", f"map {maps}{noise}{alpha}, {state.text('PROCTEX4.filter')}")


def _lighting(state: DrawState) -> Iterator[Feature]:
    if not state.lit:
        return
    count = state("LIGHTING_NUM_LIGHTS.count") + 1
    lights = f"{count} {'light' if count == 1 else 'lights'}"
    yield Feature("lighting", f"{lights}, tables {state.text('LIGHTING_CONFIG0.layer')}")
    if state("LIGHTING_CONFIG0.bump_mode"):
        unit = state("LIGHTING_CONFIG0.bump_unit")
        yield Feature("lighting.bump", f"{state.text('LIGHTING_CONFIG0.bump_mode')} on texture unit {unit}")
    if state("LIGHTING_CONFIG0.shadow"):
        yield Feature("lighting.shadow", f"shadow map on texture unit {state('LIGHTING_CONFIG0.shadow_unit')}")
    if state("LIGHTING_CONFIG0.fresnel"):
        yield Feature("lighting.fresnel", state.text("LIGHTING_CONFIG0.fresnel"))


def _combiners(state: DrawState) -> Iterator[Feature]:
    active = [stage for stage in range(STAGES) if not state.passes_through(stage)]
    yield Feature("combiners", f"{len(active)} {'stage' if len(active) == 1 else 'stages'}")
    for stage in active:
        for part in ("rgb", "alpha"):
            yield Feature("combiners.operation", state.text(f"TEXENV{stage}_COMBINER.{part}"))
    if TEXENV_SOURCE.BUFFER in state.all_sources:
        yield Feature("combiners.buffer", "combiner buffer")
    if state("TEXENV_UPDATE_BUFFER.fog_mode") == FOG_MODE.FOG:
        yield Feature("fog", "looked up by 1 - depth" if state("TEXENV_UPDATE_BUFFER.z_flip") else "looked up by depth")
    if state.gas:
        accumulates = state("COLOR_OPERATION.fragment_mode") == FRAGMENT_MODE.GAS
        yield Feature("gas", "density is accumulated" if accumulates else "density is shaded")


def _output(state: DrawState) -> Iterator[Feature]:
    if state("COLOR_OPERATION.fragment_mode") == FRAGMENT_MODE.SHADOW:
        yield Feature("shadow-map", "a shadow map is drawn")
    if state("COLOR_OPERATION.blend_enable"):
        plain = all(
            (state(f"BLEND_FUNC.equation_{part}"), state(f"BLEND_FUNC.src_{part}"), state(f"BLEND_FUNC.dst_{part}"))
            == (BLEND_EQUATION.ADD, BLEND_FACTOR.ONE, BLEND_FACTOR.ZERO)
            for part in ("rgb", "alpha")
        )
        if not plain:
            parts = []
            for part in ("rgb", "alpha"):
                factors = [state.text(f"BLEND_FUNC.{side}_{part}") for side in ("src", "dst")]
                parts.append(f"{state.text(f'BLEND_FUNC.equation_{part}')} ({factors[0]}, {factors[1]})")
            yield Feature("blending", parts[0] if parts[0] == parts[1] else f"{parts[0]}; alpha {parts[1]}")
    elif state("LOGIC_OP.op") != LOGIC_OP.COPY:
        yield Feature("logic-operation", state.text("LOGIC_OP.op"))
    if state("FRAGOP_ALPHA_TEST.enable"):
        yield Feature("alpha-test", state.text("FRAGOP_ALPHA_TEST.function"))
    if state("STENCIL_TEST.enable"):
        yield Feature("stencil-test", state.text("STENCIL_TEST.function"))
    if state("DEPTH_COLOR_MASK.depth_test"):
        yield Feature("depth-test", state.text("DEPTH_COLOR_MASK.depth_function"))
    if not state("DEPTHMAP_ENABLE.enable"):
        yield Feature("w-buffer", "depth times w")
    if state("SCISSORTEST_MODE.mode") in (SCISSOR.OUTSIDE, SCISSOR.INSIDE):
        yield Feature("scissor", state.text("SCISSORTEST_MODE.mode"))
    if state("EARLYDEPTH_TEST1.enable") or state("EARLYDEPTH_TEST2.enable"):
        yield Feature("early-depth-test", "early depth test")


# The units outside of the 3D core


def _part(words: Mapping[str, int], name: str, field: str) -> int:
    register: Register = EXTERNAL[name]
    return register[field].raw(words[name])


def _named(words: Mapping[str, int], name: str, field: str) -> str:
    found = EXTERNAL[name][field]
    raw = found.raw(words[name])
    return found.enum.get(raw, f"code {raw}") if found.enum else str(raw)


def of_unit(unit: str, words: Mapping[str, int]) -> Iterator[Feature]:
    """Features of a memory fill (unit PSC0 or PSC1) or of the transfer engine (PPF), from its registers."""
    if unit != "PPF":
        yield Feature("fill", f"{_named(words, f'{unit}_CONTROL', 'width')}, {unit}")
        return
    if _part(words, "PPF_FLAGS", "texture_copy"):
        gaps = [_part(words, name, "gap") for name in ("PPF_COPY_INPUT", "PPF_COPY_OUTPUT")]
        yield Feature("texture-copy", "with gaps between lines" if any(gaps) else "without gaps")
        return

    def flag(name: str) -> int:
        return _part(words, "PPF_FLAGS", name)

    layouts = ("linear", "tiled") if flag("linear_to_tiled") else ("tiled", "tiled" if flag("no_tiling") else "linear")
    formats = [_named(words, "PPF_FLAGS", f"{side}_format") for side in ("input", "output")]
    extras = [
        word for name, word in (("flip", "flipped"), ("crop", "cropped"), ("block32", "32x32 blocks")) if flag(name)
    ]
    if flag("scale"):
        extras.append(f"scaled down {_named(words, 'PPF_FLAGS', 'scale')}")
    text = f"{formats[0]} {layouts[0]} to {formats[1]} {layouts[1]}"
    yield Feature("transfer", ", ".join([text, *extras]))


def of_display(read: Mapping[str, int], unit: int) -> Iterator[Feature]:
    """Features of what a display controller shows, from its registers; nothing while it has no picture."""
    prefix = f"PDC{unit}_"
    if not _part(read, prefix + "CONTROL", "enable"):
        return
    second = _part(read, prefix + "SELECT", "next")
    if not read[f"{prefix}ADDRESS_A{second}"]:
        return
    lines, doubling = _part(read, prefix + "FORMAT", "interlace"), _part(read, prefix + "FORMAT", "scan_doubling")
    mode = ""
    if unit == 0:
        mode = ", stereo" if shows_both(lines) else "" if lines or doubling else ", 800 columns"
    screen = "bottom" if unit else "top"
    yield Feature("display", f"{screen}: {_named(read, prefix + 'FORMAT', 'color_format')}{mode}")
