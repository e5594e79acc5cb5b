"""The stages of a fragment with their values: inputs, textures, lighting, combiners, fog, tests, blending.

Every value comes from a probe of the code that drew the fragment. Names and constants come from the draw's registers.
"""

from __future__ import annotations

from typing import Any

from pocketgpu.facts.pica import PICA
from pocketgpu.facts.pica_enums import (
    BLEND_FACTOR,
    LOGIC_OP,
    SCISSOR,
    TEXENV_ALPHA_OPERAND,
    TEXENV_COMBINER,
    TEXENV_RGB_OPERAND,
    TEXENV_SCALE,
    TEXENV_SOURCE,
)
from pocketgpu.facts.shader_isa import SEMANTICS
from pocketgpu.inspect.model.stage import Loss, Stage
from pocketgpu.inspect.model.why import Fragment
from pocketgpu.inspect.n3ds.history import DrawOnPixel, FragmentProbes
from pocketgpu.inspect.n3ds.stage_references import references_of
from pocketgpu.inspect.n3ds.stage_text import lines_of
from pocketgpu.pica.core.registers import field
from pocketgpu.pica.fragment.combiners import STAGES, USES

Section = dict[str, Any]
DEPTH_ONLY = "written to depth or stencil only"
_CHANNELS = "rgba"
_MASKS = ("red", "green", "blue", "alpha")
_LEAVES = "{leaves|leave} the colour that was there"


def named(draw: DrawOnPixel, name: str) -> str:
    """The value of a field as text, as the register table names it."""
    part = field(name)
    raw = draw.state(name)
    return part.field.enum.get(raw, f"code {raw}") if part.field.enum is not None else str(raw)


def _hex(color: list[int] | None) -> str | None:
    return None if color is None else "#" + "".join(f"{max(min(c, 255), 0):02x}" for c in color)


def _color(fragment: FragmentProbes, prefix: str, channels: str = _CHANNELS) -> list[int] | None:
    found = [fragment.last(f"{prefix}.{ch}") for ch in channels]
    return None if None in found else found


# -- sections -------------------------------------------------------------------------------------------------------
def inputs(fragment: FragmentProbes) -> Section:
    """Interpolated attributes by semantic, and depth."""
    found: Section = {}
    for slot, name in enumerate(SEMANTICS):
        if name and f"input{slot}" in fragment.probes:
            found[name] = fragment.last(f"input{slot}")
    for name, probe in (("w", "fragment.w"), ("depth", "fragment.depth")):
        if probe in fragment.probes:
            found[name] = fragment.last(probe)
    return found


def texture(draw: DrawOnPixel, fragment: FragmentProbes, unit: int) -> Section | None:
    """A texture unit's sample, with the texels that it was made from; None if it was not sampled."""
    color = _color(fragment, f"texture{unit}")
    if color is None:
        return None
    found: Section = {"color": color, "hex": _hex(color)}
    if unit < 3:
        address = PICA[f"TEXUNIT{unit}_ADDR"]["address"].decode(int(draw.registers[PICA[f"TEXUNIT{unit}_ADDR"].offset]))
        found |= {
            "address": f"{int(address):#010x}",
            "format": named(draw, f"TEXUNIT{unit}_TYPE.format"),
            "size": [draw.state(f"TEXUNIT{unit}_DIM.width"), draw.state(f"TEXUNIT{unit}_DIM.height")],
        }
        for part in ("wrap_s", "wrap_t", "mag_filter", "min_filter"):
            found[part] = named(draw, f"TEXUNIT{unit}_PARAM.{part}")
    for name in ("s", "t", "face", "lod"):
        if f"texture{unit}.{name}" in fragment.probes:
            found[name] = fragment.last(f"texture{unit}.{name}")
    fractions = {part: fragment.last(f"texture{unit}.fraction.{part}") for part in ("s", "t", "level")}
    found |= {f"fraction_{part}": value / 256 for part, value in fractions.items() if value is not None}
    columns = [fragment.probes.get(f"texture{unit}.texel.{name}", []) for name in ("width", "height", "x", "y", "word")]
    texels = []
    for width, height, x, y, word in zip(*columns, strict=True):
        word &= 0xFFFFFFFF
        rgba = list(word.to_bytes(4, "big"))
        texels.append({"level_size": [width, height], "x": x, "y": y, "color": rgba, "hex": _hex(rgba)})
    if texels:
        found["texels"] = texels
    return found


def lighting(draw: DrawOnPixel, fragment: FragmentProbes) -> Section | None:
    """Terms of the lighting unit; None if it did not run."""
    if "lighting.normal.x" not in fragment.probes:
        return None
    found: Section = {
        what: [fragment.last(f"lighting.{what}.{axis}") for axis in "xyz"] for what in ("normal", "tangent", "view")
    }
    order = PICA["LIGHTING_LIGHT_PERMUTATION"]
    word = int(draw.registers[order.offset])
    lights = []
    for n, slot in enumerate(fragment.probes.get("lighting.light", [])):
        entry: Section = {"slot": slot, "light": order[f"light{slot}"].raw(word)}
        for name in ("distance", "l_n", "diffuse", "attenuation", "specular0"):
            values = fragment.probes.get(f"lighting.{name}", [])
            if n < len(values):
                entry[name] = values[n]
        parts = [fragment.probes.get(f"lighting.specular1.{ch}", []) for ch in "rgb"]
        if all(n < len(part) for part in parts):
            entry["specular1"] = [part[n] for part in parts]
        lights.append(entry)
    found["lights"] = lights
    tables = {name: fragment.probes[f"lighting.lut.{name}"] for name in ("d0", "d1", "rr", "rg", "rb", "fr", "sp")
              if f"lighting.lut.{name}" in fragment.probes}  # fmt: skip
    if tables:
        found["luts"] = tables
    for name, source in (("primary", 1), ("secondary", 2)):
        color = _color(fragment, f"source{source}")
        if color is not None:
            found[name] = color
    return found


def combiner(draw: DrawOnPixel, fragment: FragmentProbes, stage: int) -> Section | None:
    """A combiner stage: operations, operands with their sources, scale, result."""
    color = _color(fragment, f"texenv{stage}")
    if color is None:
        return None
    found: Section = {}
    for part, channels in (("rgb", "rgb"), ("alpha", "a")):
        operation = draw.state(f"TEXENV{stage}_COMBINER.{part}")
        sources = []
        for i in range(USES.get(operation, 0)):
            values = _color(fragment, f"texenv{stage}.{part}{i}", channels)
            sources.append({
                "source": named(draw, f"TEXENV{stage}_SOURCE.{part}{i}"),
                "operand": named(draw, f"TEXENV{stage}_OPERAND.{part}{i}"),
                "value": values if values is None or part == "rgb" else values[0],
            })  # fmt: skip
        found[part] = {
            "operation": named(draw, f"TEXENV{stage}_COMBINER.{part}"), "operands": sources,
            "scale": named(draw, f"TEXENV{stage}_SCALE.{part}"),
            "result": color[:3] if part == "rgb" else color[3],
        }  # fmt: skip
    constant = PICA[f"TEXENV{stage}_COLOR"]
    found["constant"] = [constant[ch].raw(int(draw.registers[constant.offset])) for ch in _CHANNELS]
    found["result"], found["hex"] = color, _hex(color)
    found["idle"] = _idle(draw, stage)
    return found


def _idle(draw: DrawOnPixel, stage: int) -> bool:
    """Whether a stage passes the result of the previous stage on unchanged."""
    return all(
        draw.state(f"TEXENV{stage}_COMBINER.{part}") == TEXENV_COMBINER.REPLACE
        and draw.state(f"TEXENV{stage}_SOURCE.{part}0") == TEXENV_SOURCE.PREVIOUS
        and draw.state(f"TEXENV{stage}_OPERAND.{part}0") == plain
        and draw.state(f"TEXENV{stage}_SCALE.{part}") == TEXENV_SCALE.X1
        for part, plain in (("rgb", TEXENV_RGB_OPERAND.RGB), ("alpha", TEXENV_ALPHA_OPERAND.ALPHA))
    )


def fog(draw: DrawOnPixel, fragment: FragmentProbes) -> Section | None:
    """The fog unit; None if it is off."""
    if "fog.keep" not in fragment.probes:
        return None
    register = PICA["FOG_COLOR"]
    return {
        "depth": fragment.last("fog.depth"), "keep": fragment.last("fog.keep"),
        "color": [register[ch].raw(int(draw.registers[register.offset])) for ch in "rgb"],
        "result": _color(fragment, "fog", "rgb"),
    }  # fmt: skip


def tests(draw: DrawOnPixel, fragment: FragmentProbes) -> dict[str, Section]:
    """The tests that the fragment reached, in order; one that it failed is the last.

    The operands of a depth test that always passes are None if the draw neither reads nor writes depth.
    """
    functions = {
        "alpha test": ("alpha", "FRAGOP_ALPHA_TEST.function"),
        "stencil test": ("stencil", "STENCIL_TEST.function"),
        "depth test": ("depth", "DEPTH_COLOR_MASK.depth_function"),
    }
    found = {}
    for name, (prefix, function) in functions.items():
        if f"{prefix}.passed" not in fragment.probes:
            continue
        stored, incoming = ("tested", "reference") if prefix == "stencil" else ("stored", "incoming")
        if prefix == "alpha":
            stored = "reference"
        found[name] = {
            "function": named(draw, function), "register": function,
            "incoming": fragment.last(f"{prefix}.{incoming}"), "stored": fragment.last(f"{prefix}.{stored}"),
            "passed": bool(fragment.last(f"{prefix}.passed")),
        }  # fmt: skip
    if "stencil test" in found:
        found["stencil test"]["after"] = fragment.last("stencil.after")
    order = list(fragment.probes)
    reached: dict[str, Section] = {}
    for name in sorted(found, key=lambda name: order.index(f"{functions[name][0]}.passed")):
        reached[name] = found[name]
        if not found[name]["passed"]:  # the code goes on for the other lanes; for this fragment it means nothing
            break
    return reached


def output(draw: DrawOnPixel, fragment: FragmentProbes) -> Section | None:
    """Blending or logic operation, and masks; None if no colour was written."""
    target, result = _color(fragment, "target"), _color(fragment, "color")
    if target is None or result is None:
        return None
    found: Section = {"source": _color(fragment, "fog", "rgb") or _color(fragment, "combined", "rgb"), "target": target}
    if found["source"] is not None:
        found["source"] = [*found["source"], fragment.last("combined.a")]
    if draw.state("COLOR_OPERATION.blend_enable"):
        for part in ("rgb", "alpha"):
            found[part] = {
                "equation": named(draw, f"BLEND_FUNC.equation_{part}"),
                "source_factor": named(draw, f"BLEND_FUNC.src_{part}"),
                "target_factor": named(draw, f"BLEND_FUNC.dst_{part}"),
            }
        found["source_factors"] = _color(fragment, "blend.source")
        found["target_factors"] = _color(fragment, "blend.target")
    else:
        found["logic_operation"] = named(draw, "LOGIC_OP.op")
    found["result"], found["hex"] = result, _hex(result)
    found["written"] = _color(fragment, "written")
    return found


def write_mask(draw: DrawOnPixel) -> Section:
    """Which channels may be written, and by which registers."""
    names = dict(zip(_CHANNELS, _MASKS, strict=True))
    enabled = draw.state("COLORBUFFER_WRITE.mask") != 0
    found: Section = {ch: bool(enabled and draw.state(f"DEPTH_COLOR_MASK.{name}")) for ch, name in names.items()}
    found["depth"] = bool(draw.state("DEPTH_COLOR_MASK.depth_write") and draw.state("DEPTHBUFFER_WRITE.depth"))
    return found


def leaves_colour(draw: DrawOnPixel, count: int) -> Loss:
    """Why fragments that passed all tests left the colours as they were."""
    get = draw.state
    if not any(get(f"DEPTH_COLOR_MASK.{channel}") for channel in _MASKS):
        return Loss(count, "{is|are} masked", "DEPTH_COLOR_MASK")
    if not get("COLORBUFFER_WRITE.mask"):
        return Loss(count, "{is|are} masked", "COLORBUFFER_WRITE")
    replaces = (get("BLEND_FUNC.src_rgb"), get("BLEND_FUNC.dst_rgb")) == (BLEND_FACTOR.ONE, BLEND_FACTOR.ZERO)
    if get("COLOR_OPERATION.blend_enable") and not replaces:
        source, target = (named(draw, f"BLEND_FUNC.{side}_rgb") for side in ("src", "dst"))
        equation = named(draw, "BLEND_FUNC.equation_rgb")
        return Loss(count, f"{_LEAVES}: blending is {equation} of {source} and {target}", "BLEND_FUNC")
    if not get("COLOR_OPERATION.blend_enable") and get("LOGIC_OP.op") != LOGIC_OP.COPY:
        return Loss(count, f"{_LEAVES}: the logic operation is {named(draw, 'LOGIC_OP.op')}", "LOGIC_OP")
    return Loss(count, _LEAVES)


def outcome(draw: DrawOnPixel, fragment: FragmentProbes) -> str:
    """What happened to a fragment, in a line; begins with "written" if it was not rejected."""
    if fragment.scissored:
        x0, x1, y0, y1 = draw.rect
        mode = draw.state("SCISSORTEST_MODE.mode")
        inside = mode == SCISSOR.INSIDE
        by = f"SCISSORTEST_MODE {named(draw, 'SCISSORTEST_MODE.mode')}" if inside else "FRAMEBUFFER_DIM"
        return f"outside of columns {x0} to {x1}, rows {y0} to {y1} of memory ({by})"
    if not fragment.shaded:
        return f"left out by the scissor (SCISSORTEST_MODE {named(draw, 'SCISSORTEST_MODE.mode')})"
    for name, test in tests(draw, fragment).items():
        if not test["passed"]:
            text = f"rejected by the {name}: {test['incoming']} {test['function']} {test['stored']}"
            return f"{text} is false ({test['register']})"
    if fragment.before == fragment.after:
        mask = write_mask(draw)
        if not any(mask[ch] for ch in _CHANNELS):
            by = "DEPTH_COLOR_MASK" if draw.state("COLORBUFFER_WRITE.mask") else "COLORBUFFER_WRITE"
            return f"nothing written: all colour channels are masked ({by})"
        return "written, with the value that was there"
    if fragment.before[0] == fragment.after[0]:
        loss = leaves_colour(draw, 1)
        what = "it" if loss.reason.startswith("leaves") else "its colour"
        return f"{DEPTH_ONLY}: {what} {loss.reason}{f' ({loss.register})' if loss.register else ''}"
    return "written"


def sections(draw: DrawOnPixel, fragment: FragmentProbes) -> dict[str, Section]:
    """The values of the stages that a fragment reached, by name, in order."""
    if not fragment.shaded:
        return {}
    found: dict[str, Section | None] = {"inputs": inputs(fragment)}
    for unit in range(4):
        found[f"texture {unit}"] = texture(draw, fragment, unit)
    found["lighting"] = lighting(draw, fragment)
    for stage in range(STAGES):
        found[f"combiner {stage}"] = combiner(draw, fragment, stage)
    found["fog"] = fog(draw, fragment)
    reached = tests(draw, fragment)
    found |= reached
    if all(test["passed"] for test in reached.values()):
        found["blend"] = output(draw, fragment)
        found["write mask"] = write_mask(draw)
    return {name: part for name, part in found.items() if part is not None}


def explain(draw: DrawOnPixel, probes: FragmentProbes) -> Fragment:
    """A fragment with all stages that it reached."""
    fate = outcome(draw, probes)
    written = fate.startswith("written") and not fate.startswith(DEPTH_ONLY)
    sides = [[part[::-1].hex() for part in side] for side in (probes.before, probes.after)]
    (color, depth), (color_after, depth_after) = sides
    found = Fragment(probes.primitive, fate, written, [color], [color_after], passed=[0] if written else [])
    found.origin = probes.origin
    for name, values in sections(draw, probes).items():
        passed = bool(values.get("passed", True))
        lost = []
        if not passed:
            compared = f"{values['incoming']} {values['function']} {values['stored']} is false"
            lost = [Loss(1, compared, values["register"])]
        text = [] if values.get("idle") else list(lines_of(name, values))
        about = list(references_of(draw, name, values, text))
        found.stages.append(Stage(name, 1, int(passed), lost, text, values, references=about))
    bytes_ = {"color": [color, color_after], "depth": [depth, depth_after]}
    found.stages.append(Stage("bytes", values=bytes_))
    return found
