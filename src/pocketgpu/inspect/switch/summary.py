"""The state of a Switch in a few lines, from the registers of the 3D class and what they bind; and the stages that make
a draw's colours."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.colour_flow import FlowInput, FlowPart, FlowStage, floats
from pocketgpu.inspect.model.summary import Summary, listed
from pocketgpu.inspect.model.why import PROGRAM, Fragment
from pocketgpu.inspect.switch.primitives.causes import culling_registers, named
from pocketgpu.maxwell.engines.common.state import State

if TYPE_CHECKING:
    from pocketgpu.inspect.switch.moments import SwitchMoment

_STENCIL = (("FAIL", "it fails"), ("ZFAIL", "depth fails"), ("ZPASS", "both pass"))
_MASK = {"red": "R_ENABLE", "green": "G_ENABLE", "blue": "B_ENABLE", "alpha": "A_ENABLE"}


def _culling(state: State) -> str:
    return f"drops {culling_registers(state)}" if state.field("OGL_SET_CULL", "ENABLE") else "off"


def _depth(state: State) -> str:
    if not state.field("SET_DEPTH_TEST", "ENABLE"):
        return "off"
    written = "written" if state.field("SET_DEPTH_WRITE", "ENABLE") else "not written"
    return f"{named(state, 'SET_DEPTH_FUNC')}, {written}"


def _stencil(state: State) -> str:
    if not state.field("SET_STENCIL_TEST", "ENABLE"):
        return "off"
    reference, mask = state.word("SET_STENCIL_FUNC_REF"), state.word("SET_STENCIL_FUNC_MASK")
    actions = ", ".join(f"{named(state, f'SET_STENCIL_OP_{part}')} if {when}" for part, when in _STENCIL)
    sides = ", back sides have their own" if state.field("SET_TWO_SIDED_STENCIL_TEST", "ENABLE") else ""
    return f"{named(state, 'SET_STENCIL_FUNC')} with {reference:#x}, mask {mask:#x}: {actions}{sides}"


def _blending(state: State, slot: int) -> str:
    """Blending of a colour target."""
    mask = slot if not state.field("SET_SINGLE_CT_WRITE_CONTROL", "ENABLE") else 0
    written = [name for name, bit in _MASK.items() if state.field("SET_CT_WRITE", bit, mask)]
    masked = "" if len(written) == len(_MASK) else f"; writes {', '.join(written) or 'no colour'}"
    if state.field("SET_LOGIC_OP", "ENABLE"):
        return f"{named(state, 'SET_LOGIC_OP_FUNC')}{masked}"
    if not state.field("SET_BLEND", "ENABLE", slot):
        return f"off{masked}"
    each = state.field("SET_BLEND_STATE_PER_TARGET", "ENABLE")
    prefix, index = ("SET_BLEND_PER_TARGET_", slot) if each else ("SET_BLEND_", None)
    names = ("OP", "SOURCE_COEFF", "DEST_COEFF")
    rgb = ", ".join(named(state, f"{prefix}COLOR_{name}", index) for name in names)
    alpha = ", ".join(named(state, f"{prefix}ALPHA_{name}", index) for name in names)
    own = state.field(f"{prefix}SEPARATE_FOR_ALPHA", "ENABLE", index or 0)
    return f"{rgb}{f'; {alpha}' if own else ''}{masked}"


def _scissor(state: State) -> str:
    if not state.field("SET_SCISSOR_ENABLE"):
        return "off"
    x, y = ([state.field(f"SET_SCISSOR_{axis}", f"{name}{end}") for end in ("MIN", "MAX")]
            for axis, name in (("HORIZONTAL", "X"), ("VERTICAL", "Y")))  # fmt: skip
    empty = "nothing, " if x[0] >= x[1] or y[0] >= y[1] else ""
    return f"keeps {empty}{x[0]}, {y[0]} up to, not including, {x[1]}, {y[1]}"


def _viewport(state: State) -> str:
    if not state.field("SET_VIEWPORT_SCALE_OFFSET", "ENABLE"):
        return "off: positions are pixels"
    (left, right), (top, bottom) = (
        (offset - abs(scale), offset + abs(scale))
        for scale, offset in ((state.float(f"SET_VIEWPORT_SCALE_{axis}"), state.float(f"SET_VIEWPORT_OFFSET_{axis}"))
                              for axis in "XY")
    )  # fmt: skip
    near, far = state.float("SET_VIEWPORT_CLIP_MIN_Z"), state.float("SET_VIEWPORT_CLIP_MAX_Z")
    return f"{right - left:g} by {bottom - top:g} pixels at {left:g}, {top:g}; depth {near:g} to {far:g}"


def summary_of(
    state: State, slots: list[int], targets: list[str], textures: list[str] | None, programs: list[str] | None
) -> Summary:
    """The summary of the 3D class. slots: of the colour targets; textures, programs: None where no program runs."""
    where = "only draws and launches have them"
    blending = [_blending(state, slot) for slot in slots]
    parts = [text if len(set(blending)) == 1 else f"target {slot}: {text}"
             for slot, text in zip(slots, blending, strict=True)]  # fmt: skip
    return Summary({
        "culling": _culling(state), "depth": _depth(state), "stencil": _stencil(state),
        "blending": listed(dict.fromkeys(parts), "no colour target"), "scissor": _scissor(state),
        "viewport": _viewport(state), "targets": listed(targets),
        "textures": where if textures is None else listed(textures),
        "programs": where if programs is None else listed(programs),
    })  # fmt: skip


# -- the stages of a draw ---------------------------------------------------------------------------------------------
def _number(word: str) -> float:
    """The float of a word that is written as "0x3f800000"."""
    found: float = struct.unpack("<f", int(word, 16).to_bytes(4, "little"))[0]
    return found


def _textures_of(moment: SwitchMoment, stage: str, fragment: Fragment | None) -> Iterator[FlowInput]:
    """The textures that a stage's program names; with a fragment what each sample gave it."""
    samples = [one.values for one in fragment.stages if one.name == "texture"] if fragment else []
    if stage == "pixel" and samples:
        for one in samples:
            yield FlowInput(one["texture"], one["text"], "", floats([*map(_number, one["result"].values())]))
        return
    for texture in moment.textures.values():
        if texture.stage == stage:
            yield FlowInput(str(texture))


def _attributes_of(fragment: Fragment | None) -> Iterator[FlowInput]:
    """The attributes that a fragment's program read."""
    stage = fragment.stage("inputs") if fragment else None
    for name, word in stage.values.items() if stage else ():
        yield FlowInput(name, value=floats([_number(word)]))


def colour_flow(moment: SwitchMoment, place: Address, fragment: Fragment | None) -> list[FlowStage]:
    """See `Inspection.colour_flow`."""
    found: list[FlowStage] = []
    for name, program in moment.programs.items():
        pixel = name == "pixel"
        before = (FlowInput(found[-1].name, stage=found[-1].name),) if found else ()
        inputs = (*before, *(_attributes_of(fragment) if pixel else ()), *_textures_of(moment, name, fragment))
        ran = fragment.stage(PROGRAM) if fragment and pixel else None
        output = floats([*map(_number, ran.values["outputs"][:4])]) if ran and ran.values["outputs"] else None
        at = place if pixel and place.pixel is not None else place.place.at(vertex=0) if not found else None
        part = FlowPart("", f"{program.digest}, {program.size}", inputs, "", output)
        found.append(FlowStage(f"{name} program", (part,), output, program=at))
    blend = fragment.stage("blend") if fragment else None
    values = blend.values if blend else {}
    source, target, result = (
        floats(values[key]) if values.get(key) else None for key in ("source", "target", "result")
    )  # fmt: skip
    last = found[-1].name if found else ""
    inputs = (FlowInput("source", "", last, source), FlowInput("target", "", "", target))
    operation = values.get("equation") or moment.summary.parts["blending"]
    return [*found, FlowStage("blending", (FlowPart("", operation, inputs, "", result),), result)]


__all__ = ["colour_flow", "summary_of"]
