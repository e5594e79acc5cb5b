"""The state of a Switch in a few lines, from the registers of the 3D class and what they bind."""

from __future__ import annotations

from pocketgpu.inspect.model.summary import Summary, listed
from pocketgpu.inspect.switch.primitives.causes import culling_registers, named
from pocketgpu.maxwell.engines.common.state import State

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


__all__ = ["summary_of"]
