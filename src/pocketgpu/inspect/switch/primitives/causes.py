"""What registers alone say about a draw: scissors that keep nothing, tests that never pass, blending without effect.

`why` names these causes, and `pocketgpu check` looks for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pocketgpu.events import sized
from pocketgpu.facts.maxwell import B197
from pocketgpu.inspect.model.stage import Loss
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.formats.samples import samples_of
from pocketgpu.maxwell.graphics.draw.plans import Plan
from pocketgpu.maxwell.graphics.output.blend import FACTORS, OPERATIONS
from pocketgpu.maxwell.graphics.output.keys import BLEND, COMPARISONS, ColorKey
from pocketgpu.maxwell.graphics.output.targets import Target, colour_slots

NEVER = COMPARISONS.index("never")
_SCISSORS = (("SET_SCISSOR_HORIZONTAL", "XMIN", "XMAX", "columns"), ("SET_SCISSOR_VERTICAL", "YMIN", "YMAX", "rows"))
_MASK_BITS = ("R_ENABLE", "G_ENABLE", "B_ENABLE", "A_ENABLE")
Cause = tuple[str, str]
"""Text, and the registers that cause it."""


def named(state: State, method: str, index: int | None = None) -> str:
    """A register and the name of its value: "OGL_SET_CULL_FACE BACK". index: of an element of an array."""
    value = state.field(method, "V", index or 0)
    label = method if index is None else f"{method}({index})"
    return f"{label} {B197.values(method).get(value, f'{value:#x}')}"


def target_size(state: State, targets: Sequence[Target]) -> tuple[int, int] | None:
    """Columns and rows of pixels that all targets have; None without targets."""
    if not targets:
        return None
    across, down = samples_of(state)
    return min(t.width for t in targets) // across, min(t.height for t in targets) // down


def empty_scissor(state: State, targets: Sequence[Target], n: int = 0) -> Cause | None:
    """Whether the scissor of viewport `n` keeps no pixel at all, or none of the targets."""
    if not state.field("SET_SCISSOR_ENABLE", "V", n):
        return None
    size = target_size(state, targets)
    for axis, (method, least, most, what) in enumerate(_SCISSORS):
        low, high = state.field(method, least, n), state.field(method, most, n)
        if low >= high:
            kept = f"{what} {low} up to, not including, {high}"
            return f"{{lies|lie}} outside of the scissor, which keeps nothing: {kept}", f"{method}({n})"
        if size is not None and low >= size[axis]:
            return f"{{lies|lie}} outside of the scissor, which begins at {what} {low} of a target of {sized(*size)}", (
                f"{method}({n})"
            )
    return None


def culling_registers(state: State) -> str:
    """The registers that decide which side is culled, with their values."""
    return f"{named(state, 'OGL_SET_CULL_FACE')}, {named(state, 'OGL_SET_FRONT_FACE')}"


def tests_that_never_pass(plan: Plan, state: State, count: int) -> list[Loss]:
    """The first test of a draw whose function is "never", as the reason why all of `count` samples are lost.

    A test counts only if it happens: depth and stencil need a target that has them, alpha a program that writes it.
    Stencil needs both sides of polygons to fail.
    """
    key = plan.output.test_key
    discards = key if key.discard_in_test else plan.output.write_key
    tests = [("alpha", discards.alpha_function == NEVER, named(state, "SET_ALPHA_FUNC"))]
    if key.stencil_test:
        both = key.front_function == key.back_function == NEVER
        names = ["SET_STENCIL_FUNC"]
        names += ["SET_BACK_STENCIL_FUNC"] if state.field("SET_TWO_SIDED_STENCIL_TEST", "ENABLE") else []
        tests.append(("stencil", both, ", ".join(named(state, name) for name in names)))
    tests.append(("depth", key.depth_function == NEVER, named(state, "SET_DEPTH_FUNC")))
    if plan.output.early:
        tests = [*tests[1:], tests[0]]
    return [
        Loss(count, f"{{fails|fail}} the {what} test, which never passes", register)
        for what, never, register in tests
        if never
    ][:1]


def masked_colours(state: State) -> str:
    """The registers that mask all channels of all colour targets; "" if some channel is written, or there is no
    target."""
    places = sorted(set(colour_slots(state)))
    if places and state.field("SET_SINGLE_CT_WRITE_CONTROL", "ENABLE"):
        places = [0]
    on = any(state.field("SET_CT_WRITE", bit, n) for bit in _MASK_BITS for n in places)
    return "" if on else ", ".join(f"SET_CT_WRITE({n})" for n in places)


def keeps_target(key: ColorKey) -> bool:
    """Whether a blend equation gives the target as it is: 0 of the source, all of the target."""
    zero, one = (FACTORS.index(name) for name in ("zero", "one"))
    if key.mode != BLEND:
        return False
    sums = {OPERATIONS.index(name) for name in ("add", "reverse subtract")}
    parts = (
        (key.color_operation, key.color_source, key.color_target),
        (key.alpha_operation, key.alpha_source, key.alpha_target),
    )
    return all(operation in sums and (source, target) == (zero, one) for operation, source, target in parts)


def unchanging(state: State, plan: Plan | None, name: str) -> str:
    """The blend registers, with their values, if the equation of a target gives the target as it is; else ""."""
    if plan is None:
        return ""
    for target, key in zip(plan.output.colours, plan.output.write_key.colors, strict=True):
        if target.name == name and keeps_target(key):
            each = state.field("SET_BLEND_STATE_PER_TARGET", "ENABLE")
            prefix, index = ("SET_BLEND_PER_TARGET_", target.slot) if each else ("SET_BLEND_", None)
            separate = state.field(f"{prefix}SEPARATE_FOR_ALPHA", "ENABLE", index or 0)
            parts = ["COLOR", "ALPHA"] if separate else ["COLOR"]
            names = [f"{prefix}{part}_{side}_COEFF" for part in parts for side in ("SOURCE", "DEST")]
            return ", ".join(named(state, name, index) for name in names)
    return ""


__all__ = [
    "NEVER", "Cause", "culling_registers", "empty_scissor", "keeps_target", "masked_colours", "named", "target_size",
    "tests_that_never_pass", "unchanging",
]  # fmt: skip
