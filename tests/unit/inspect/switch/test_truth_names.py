"""Names in answers follow the registers: an answer names a register, and a change of that register changes the fate.

Each row of the table has a draw that shows nothing for one reason, and a register with a value that cures it. The
answer must name just that register; with the other value the reason must be gone, and the draw must show something.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from support.switch_model import BLOCK_HEIGHT, SIZE, Box, Drawn, Face, Registers, look, square

from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.model.why import Why
from pocketgpu.inspect.switch.inspection import SwitchInspection

assert BLOCK_HEIGHT >= 0
Method = tuple[Any, ...]
BOX = 4, 4, 20, 20
COLOUR = (1.0, 0.6, 0.2, 0.4)
ALWAYS, NEVER, GREATER = 0x207, 0x200, 0x204


PLAIN = Registers()


@dataclass(frozen=True)
class Row:
    """says: words of the answer. cure: a method with its value. draw: where it begins. registers, methods: of the draw;
    format: of the depth target, which has depth 0.25 and stencil 5."""

    says: str
    cure: Method
    registers: Registers = PLAIN
    methods: tuple[Method, ...] = ()
    format: str | None = None
    turned: bool = False
    z: float = 0.5
    extra: float = 0.0
    colour: tuple[float, ...] = COLOUR
    more: dict[str, Any] = field(default_factory=dict)

    def look(self, *cure: Method) -> SwitchInspection:
        corners = square(*BOX, self.z, self.turned, colour=self.colour, extra=self.extra)
        registers = replace(self.registers, methods=(*self.registers.methods, *self.methods, *cure))
        return look([Drawn("TRIANGLES", tuple(corners), registers)], self.format, 0.25, 5, **self.more)


def culls(face: str, front: str) -> Registers:
    return Registers(cull=face, front=front)


def scissor(*box: int) -> Registers:
    kept: Box = (box[0], box[1], box[2], box[3])
    return Registers(scissors=(kept,))


def stencils(one: Face, other: Face | None = None) -> Registers:
    return Registers(stencil=(one, other))


def extent(first: int, size: int) -> int:
    return size << 16 | first


NO = Face("NEVER", 5)
EQUAL = Face("EQUAL", 5)
SIDE = "2 show the side that is culled"
BLENDS = (("SET_BLEND(0)", 1), ("SET_BLEND_STATE_PER_TARGET", 0), ("SET_BLEND_SEPARATE_FOR_ALPHA", 0))
EACH = (("SET_BLEND(0)", 1), ("SET_BLEND_STATE_PER_TARGET", 1), ("SET_BLEND_PER_TARGET_SEPARATE_FOR_ALPHA(0)", 0))
ZERO, ONE = 0x4000, 0x4001
KEEPS = (("SET_BLEND_COLOR_SOURCE_COEFF", ZERO), ("SET_BLEND_COLOR_DEST_COEFF", ONE))
KEEPS_EACH = tuple((f"{name.replace('BLEND_', 'BLEND_PER_TARGET_')}(0)", value) for name, value in KEEPS)
ALPHA_TOO = (("SET_BLEND_SEPARATE_FOR_ALPHA", 1), *KEEPS, ("SET_BLEND_ALPHA_SOURCE_COEFF", ZERO),
             ("SET_BLEND_ALPHA_DEST_COEFF", ONE))  # fmt: skip
WINDOWS = (("SET_WINDOW_CLIP_ENABLE", 1), ("SET_WINDOW_CLIP_TYPE", 0))
MASK = tuple((f"SET_SAMPLE_MASK_{corner}", 0) for corner in ("X0_Y0", "X1_Y0", "X0_Y1", "X1_Y1"))
# No clipping at near and far plane; pixels beyond the viewport's depths are dropped.
DROPS = ("SET_VIEWPORT_CLIP_CONTROL", 2 << 11)
BOUNDS = (("SET_DEPTH_BOUNDS_TEST", 1), ("SET_DEPTH_BOUNDS_MIN", 0.1), ("SET_DEPTH_BOUNDS_MAX", 0.9))

ROWS = {
    # -- primitives
    "culled face": Row(SIDE, ("OGL_SET_CULL_FACE", 0x405), culls("FRONT", "CCW")),
    "culled face, back": Row(SIDE, ("OGL_SET_CULL_FACE", 0x404), culls("BACK", "CCW"), turned=True),
    "front face": Row(SIDE, ("OGL_SET_FRONT_FACE", 0x900), culls("FRONT", "CCW")),
    "front face, clockwise": Row(SIDE, ("OGL_SET_FRONT_FACE", 0x901), culls("BACK", "CW")),
    "near plane": Row("2 lie nearer than the near plane", ("SET_VIEWPORT_Z_CLIP", 0), z=-0.5),
    "far plane": Row("2 lie beyond the far plane", ("SET_VIEWPORT_CLIP_CONTROL", 2 << 11), z=1.5),
    "user clip plane": Row(
        "outside of user clip plane 0", ("SET_USER_CLIP_ENABLE", 0), Registers(planes=True), extra=-1,
    ),
    "scissor, right of the draw": Row(
        "which keeps columns 28 to 31", ("SET_SCISSOR_HORIZONTAL(0)", 5 << 16), scissor(28, 0, 32, 32),
    ),
    "scissor, left": Row("which keeps columns 0 to 3", ("SET_SCISSOR_HORIZONTAL(0)", 5 << 16), scissor(0, 0, 4, 32)),
    "scissor, below": Row("which keeps rows 24 to 31", ("SET_SCISSOR_VERTICAL(0)", 5 << 16), scissor(0, 24, 32, 32)),
    "scissor, above": Row("which keeps rows 0 to 3", ("SET_SCISSOR_VERTICAL(0)", 5 << 16), scissor(0, 0, 32, 4)),
    "scissor of no columns": Row(
        "which keeps nothing: columns", ("SET_SCISSOR_HORIZONTAL(0)", 9 << 16 | 8), scissor(8, 0, 8, 32),
    ),
    "scissor of no rows": Row(
        "which keeps nothing: rows", ("SET_SCISSOR_VERTICAL(0)", 9 << 16 | 8), scissor(0, 8, 32, 8),
    ),
    "scissor beside the target": Row(
        "begins at rows 32", ("SET_SCISSOR_VERTICAL(0)", 40 << 16 | 8), scissor(0, 32, 32, 40),
    ),
    **{
        f"{name}, {axis.lower()}": Row(
            f"outside of {what}, {unit} 28 to 31", (f"{method}_{axis}{index}", extent(0, SIZE)),
            methods=((f"{method}_{axis}{index}", extent(28, 4)),),
        )
        for name, what, method, index in (
            ("viewport", "the viewport's rectangle", "SET_VIEWPORT_CLIP", "(0)"),
            ("surface clip", "the surface clip", "SET_SURFACE_CLIP", ""),
        )
        for axis, unit in (("HORIZONTAL", "columns"), ("VERTICAL", "rows"))
    },
    "raster": Row("raster is off", ("SET_RASTER_ENABLE", 1), methods=(("SET_RASTER_ENABLE", 0),)),
    # -- masks
    "window rectangles": Row("left out by window rectangles", ("SET_WINDOW_CLIP_ENABLE", 0), methods=WINDOWS),
    "stipple": Row(
        "left out by the stipple of polygons", ("SET_POLYGON_STIPPLE", 0), methods=(("SET_POLYGON_STIPPLE", 1),),
    ),
    "sample mask": Row(
        "left out by the sample mask (SET_SAMPLE_MASK_X0_Y0)", ("SET_SAMPLE_MASK_X0_Y0", 1), methods=MASK,
    ),
    # -- tests
    "depth never": Row(
        "which never passes (SET_DEPTH_FUNC OGL_NEVER)", ("SET_DEPTH_FUNC", ALWAYS), Registers(depth="NEVER"),
        format="Z16",
    ),
    "depth never, as Direct3D has it": Row(
        "(SET_DEPTH_FUNC D3D_NEVER)", ("SET_DEPTH_FUNC", 8), Registers(depth="LESS"), (("SET_DEPTH_FUNC", 1),),
        "Z16",
    ),
    "depth": Row("stored 0.25", ("SET_DEPTH_FUNC", GREATER), Registers(depth="LESS"), format="ZF32"),
    "depth bounds, low": Row(
        "outside of the bounds", ("SET_DEPTH_BOUNDS_MIN", 0.2), methods=(*BOUNDS, ("SET_DEPTH_BOUNDS_MIN", 0.3)),
        format="Z24S8",
    ),
    "depth bounds, high": Row(
        "outside of the bounds", ("SET_DEPTH_BOUNDS_MAX", 0.3), methods=(*BOUNDS, ("SET_DEPTH_BOUNDS_MAX", 0.2)),
        format="Z24S8",
    ),
    "depth range, low": Row(
        "beyond the viewport's range", ("SET_VIEWPORT_CLIP_MIN_Z(0)", 0.4),
        registers=Registers(depth="ALWAYS"), methods=(DROPS, ("SET_VIEWPORT_CLIP_MIN_Z(0)", 0.6)), format="ZF32",
    ),
    "depth range, high": Row(
        "beyond the viewport's range", ("SET_VIEWPORT_CLIP_MAX_Z(0)", 0.6),
        registers=Registers(depth="ALWAYS"), methods=(DROPS, ("SET_VIEWPORT_CLIP_MAX_Z(0)", 0.4)), format="ZF32",
    ),
    "depth range of 0 to 1": Row(
        "beyond the viewport's range", ("SET_VIEWPORT_CLIP_CONTROL", 2 << 11 | 0x18),
        registers=Registers(depth="ALWAYS"), methods=(("SET_VIEWPORT_CLIP_CONTROL", 2 << 11 | 1),), format="ZF32",
        z=1.5,
    ),
    "alpha never": Row("(SET_ALPHA_FUNC OGL_NEVER)", ("SET_ALPHA_FUNC", ALWAYS), Registers(alpha=("NEVER", 0.5))),
    "alpha function": Row("alpha 0.4 > 0.5", ("SET_ALPHA_FUNC", 0x201), Registers(alpha=("GREATER", 0.5))),
    "alpha reference": Row("alpha 0.4 > 0.5", ("SET_ALPHA_REF", 0.3), Registers(alpha=("GREATER", 0.5))),
    "alpha after depth": Row(
        "alpha test, alpha 0.4 > 0.5", ("SET_ALPHA_REF", 0.3),
        Registers(alpha=("GREATER", 0.5), depth="GREATER", write=False), format="Z16",
    ),
    "depth before alpha": Row(
        "depth test, 0.5", ("SET_DEPTH_FUNC", GREATER), Registers(depth="LESS", write=False, kills=True),
        format="Z24S8",
    ),
    "stencil, front": Row(
        "reference 0x5 != stored 0x5", ("SET_STENCIL_FUNC", ALWAYS), stencils(Face("NOTEQUAL", 5)), format="Z24S8",
    ),
    "stencil, back with one side": Row(
        "reference 0x5 != stored 0x5", ("SET_STENCIL_FUNC", ALWAYS), stencils(Face("NOTEQUAL", 5)), format="S8",
        turned=True,
    ),
    "stencil, front of two sides": Row(
        "reference 0x5 != stored 0x5", ("SET_STENCIL_FUNC", ALWAYS), stencils(Face("NOTEQUAL", 5), EQUAL),
        format="S8Z24",
    ),
    "stencil, back of two sides": Row(
        "reference 0x5 != stored 0x5", ("SET_BACK_STENCIL_FUNC", ALWAYS), stencils(EQUAL, Face("NOTEQUAL", 5)),
        format="S8Z24", turned=True,
    ),
    "stencil never": Row(
        "stencil test, which never passes (SET_STENCIL_FUNC OGL_NEVER)", ("SET_STENCIL_FUNC", ALWAYS),
        stencils(NO), format="Z24S8",
    ),
    "stencil never of two sides": Row(
        "stencil test, which never passes", ("SET_BACK_STENCIL_FUNC", ALWAYS), stencils(NO, NO), format="Z24S8",
        turned=True,
    ),
    "stencil of two sides, one never": Row(
        "never (reference 0x5, stored 0x5)", ("SET_STENCIL_FUNC", ALWAYS), stencils(NO, EQUAL), format="Z24S8",
    ),
    "coverage": Row(
        "alpha to coverage leaves no sample", ("SET_ANTI_ALIAS_ALPHA_CONTROL", 0),
        methods=(("SET_ANTI_ALIAS_ALPHA_CONTROL", 1),), colour=(1, 1, 1, 0),
    ),
    # -- writes
    "masks of channels": Row("all channels are masked", ("SET_CT_WRITE(0)", 0x1111), methods=(("SET_CT_WRITE(0)", 0),)),
    "masks of channels, slot 3": Row(
        "all channels are masked", ("SET_CT_WRITE(3)", 0x1111), methods=(("SET_CT_WRITE(3)", 0),),
        more={"slot": 3},
    ),
    "one mask for all slots": Row(
        "all channels are masked", ("SET_CT_WRITE(0)", 0x1111),
        methods=(("SET_SINGLE_CT_WRITE_CONTROL", 1), ("SET_CT_WRITE(0)", 0)), more={"slot": 3},
    ),
    "blending, source": Row(
        "blending leaves the colour target 0", ("SET_BLEND_COLOR_SOURCE_COEFF", ONE), methods=(*BLENDS, *KEEPS),
    ),
    "blending, target": Row(
        "blending leaves the colour target 0", ("SET_BLEND_COLOR_DEST_COEFF", ZERO), methods=(*BLENDS, *KEEPS),
    ),
    "blending, alpha": Row(
        "blending leaves the colour target 0", ("SET_BLEND_ALPHA_DEST_COEFF", ZERO), methods=(*BLENDS, *ALPHA_TOO),
    ),
    "blending of one target": Row(
        "blending leaves the colour target 0", ("SET_BLEND_PER_TARGET_COLOR_DEST_COEFF(0)", ZERO),
        methods=(*EACH, *KEEPS_EACH),
    ),
}  # fmt: skip


def told(run: SwitchInspection) -> str:
    """What the funnel says first, its losses, and its example."""
    found = run.why("f0/d0")
    assert isinstance(found, Funnel) and found.proved
    lost = [str(loss) for stage in found.stages for loss in stage.lost]
    return "\n".join([found.because, *lost, found.example])


def shows(run: SwitchInspection) -> bool:
    found = run.why("f0/d0")
    assert isinstance(found, Funnel)
    return any(stage.passed for stage in found.stages if stage.name.startswith("samples of colour"))


@pytest.mark.parametrize("name", ROWS)
def test_the_register_that_an_answer_names_is_the_one_that_counts(name: str) -> None:
    row = ROWS[name]
    run = row.look()
    answer = told(run)
    assert row.says in answer and not shows(run), answer
    assert answer.startswith("nothing: "), answer
    register = row.cure[0]
    assert register in answer, answer
    cured = row.look(row.cure)
    assert shows(cured) and row.says not in told(cured), told(cured)


CONTRARY = {
    "culled face": ("OGL_SET_CULL", 0), "scissor, left": ("SET_SCISSOR_ENABLE(0)", 0), "depth": ("SET_DEPTH_TEST", 0),
    "alpha function": ("SET_ALPHA_TEST", 0), "stencil, front": ("SET_STENCIL_TEST", 0),
    "depth bounds, low": ("SET_DEPTH_BOUNDS_TEST", 0), "blending, source": ("SET_BLEND(0)", 0),
    "sample mask": ("SET_SAMPLE_MASK", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRARY)
def test_what_is_off_is_not_named(name: str) -> None:
    """The same registers, with the feature off: no answer mentions it."""
    run = ROWS[name].look(CONTRARY[name])
    assert shows(run) and ROWS[name].cure[0] not in told(run), told(run)


NEAREST = {
    "depth never without a depth target": (Registers(depth="NEVER"), None),
    "stencil never without stencil": (Registers(stencil=(NO, None)), "Z16"),
    "depth never in a target of stencil alone": (Registers(depth="NEVER"), "S8"),
    "stencil never for the other side": (Registers(stencil=(Face("ALWAYS", 1), NO)), "Z24S8"),
}


@pytest.mark.parametrize("name", NEAREST)
def test_tests_that_do_not_happen_are_no_cause(name: str) -> None:
    registers, format = NEAREST[name]
    row = Row("never", ("SET_DEPTH_FUNC", ALWAYS), registers, format=format)
    run = row.look()
    assert shows(run) and "never" not in told(run), told(run)


@pytest.mark.parametrize("corner", [(0, 0), (1, 0), (0, 1), (1, 1)], ids=str)
def test_the_sample_mask_of_one_pixel_of_a_quad(corner: tuple[int, int]) -> None:
    x, y = corner
    name = f"SET_SAMPLE_MASK_X{x}_Y{y}"
    run = Row("", ("", 0), methods=((name, 0),)).look()
    found = run.why("f0/d0")
    assert isinstance(found, Funnel)
    lost = {loss.register: loss.count for stage in found.stages for loss in stage.lost}
    assert lost == {name: BOX[2] * BOX[3] // 4}
    (fragment,) = run.why(f"f0/d0/px{8 + x},{8 + y}").fragments
    assert fragment.fate == f"rejected: the sample mask leaves it out [{name}]"
    (fragment,) = run.why(f"f0/d0/px{9 - x},{8 + y}").fragments
    assert fragment.written


# -- blending: names of factors and operations, and what they give -----------------------------------------------------
Four = tuple[float, ...]
SOURCE: Four = (1.0, 0.6, 0.2, 0.4)
TARGET: Four = (0.0, 0.0, 0.0, 1.0)
CONSTANT: Four = (0.25, 0.5, 0.75, 0.125)
BLEND_FACTORS: dict[int, tuple[str, Callable[[Four, Four], Four]]] = {
    0x4000: ("zero", lambda s, d: (0,) * 4), 0x4001: ("one", lambda s, d: (1,) * 4),
    0x4300: ("source color", lambda s, d: s), 0x4301: ("1 - source color", lambda s, d: tuple(1 - v for v in s)),
    0x4302: ("source alpha", lambda s, d: (s[3],) * 4), 0x4303: ("1 - source alpha", lambda s, d: (1 - s[3],) * 4),
    0x4304: ("target alpha", lambda s, d: (d[3],) * 4), 0x4305: ("1 - target alpha", lambda s, d: (1 - d[3],) * 4),
    0x4306: ("target color", lambda s, d: d), 0x4307: ("1 - target color", lambda s, d: tuple(1 - v for v in d)),
    0x4308: ("alpha saturate", lambda s, d: (min(s[3], 1 - d[3]),) * 3 + (1,)),
    0xC001: ("constant color", lambda s, d: CONSTANT),
    0xC002: ("1 - constant color", lambda s, d: tuple(1 - v for v in CONSTANT)),
    0xC003: ("constant alpha", lambda s, d: (CONSTANT[3],) * 4),
    0xC004: ("1 - constant alpha", lambda s, d: (1 - CONSTANT[3],) * 4),
}  # fmt: skip
BLEND_OPERATIONS: dict[int, tuple[str, Callable[[float, float], float]]] = {
    0x8006: ("{s} + {d}", lambda s, d: s + d), 0x800A: ("{s} - {d}", lambda s, d: s - d),
    0x800B: ("{d} - {s}", lambda s, d: d - s), 0x8007: ("min(source, target)", min),
    0x8008: ("max(source, target)", max),
}  # fmt: skip


def pixel(run: SwitchInspection) -> Why:
    found = run.why("f0/d0/px10,9")
    assert isinstance(found, Why) and found.proved
    return found


@pytest.mark.parametrize("factor", BLEND_FACTORS, ids=hex)
def test_the_equation_that_an_answer_shows(factor: int) -> None:
    """Each factor as that of the source, then of the target; operations in turn. Names and numbers."""
    for n, place in enumerate(("SOURCE", "DEST")):
        operation = [*BLEND_OPERATIONS][(list(BLEND_FACTORS).index(factor) + n) % len(BLEND_OPERATIONS)]
        other = "DEST" if place == "SOURCE" else "SOURCE"
        names_of = ("RED", "GREEN", "BLUE", "ALPHA")
        constants = ((f"SET_BLEND_CONST_{c}", v) for c, v in zip(names_of, CONSTANT, strict=True))
        row = Row("", ("", 0), methods=(
            *BLENDS, ("SET_BLEND_COLOR_OP", operation), (f"SET_BLEND_COLOR_{place}_COEFF", factor),
            (f"SET_BLEND_COLOR_{other}_COEFF", 0x4304), *constants,
        ))  # fmt: skip
        (fragment,) = pixel(row.look()).fragments
        stage = fragment.stage("blend")
        name, factors = BLEND_FACTORS[factor]
        names = {place: name, other: "target alpha"}
        text, combine = BLEND_OPERATIONS[operation]
        equation = text.format(s=f"source * {names['SOURCE']}", d=f"target * {names['DEST']}")
        assert stage.values["equation"] == f"blend {equation}"
        assert stage.values["source"] == pytest.approx(SOURCE) and stage.values["target"] == pytest.approx(TARGET)
        mine, theirs = factors(SOURCE, TARGET), (TARGET[3],) * 4
        by = {place: mine, other: theirs}
        whole = (1,) * 4 if "min" in text or "max" in text else None
        first, second = whole or by["SOURCE"], whole or by["DEST"]
        result = [combine(s * a, d * b) for s, a, d, b in zip(SOURCE, first, TARGET, second, strict=True)]
        assert stage.values["result"] == pytest.approx(result, abs=1e-6), (hex(factor), place)


LOGIC: dict[int, tuple[str, Callable[[int, int], int]]] = {
    0x1500: ("clear", lambda s, d: 0), 0x1501: ("and", lambda s, d: s & d),
    0x1502: ("and reverse", lambda s, d: s & ~d),
    0x1503: ("copy", lambda s, d: s), 0x1504: ("and inverted", lambda s, d: ~s & d), 0x1505: ("noop", lambda s, d: d),
    0x1506: ("xor", lambda s, d: s ^ d), 0x1507: ("or", lambda s, d: s | d), 0x1508: ("nor", lambda s, d: ~(s | d)),
    0x1509: ("equiv", lambda s, d: ~(s ^ d)), 0x150A: ("invert", lambda s, d: ~d),
    0x150B: ("or reverse", lambda s, d: s | ~d),
    0x150C: ("copy inverted", lambda s, d: ~s), 0x150D: ("or inverted", lambda s, d: ~s | d),
    0x150E: ("nand", lambda s, d: ~(s & d)), 0x150F: ("set", lambda s, d: 255),
}  # fmt: skip


@pytest.mark.parametrize("operation", LOGIC, ids=hex)
def test_the_logic_operation_that_an_answer_shows(operation: int) -> None:
    row = Row("", ("", 0), methods=(("SET_LOGIC_OP", 1), ("SET_LOGIC_OP_FUNC", operation)))
    found = pixel(row.look())
    name, combine = LOGIC[operation]
    assert found.fragments[0].stage("blend").values["equation"] == f"logic operation {name}"
    expected = bytes(combine(round(s * 255), round(d * 255)) & 255 for s, d in zip(SOURCE, TARGET, strict=True))
    assert found.value == [expected.hex()]


# -- where draws go ----------------------------------------------------------------------------------------------------
def test_a_frame_whose_draws_go_nowhere() -> None:
    """The registers that it names, one after the other."""
    for broken, cure in ((("SET_CT_SELECT", 0), ("SET_CT_SELECT", 1)),
                         (("SET_COLOR_TARGET_FORMAT(0)", 0), ("SET_COLOR_TARGET_FORMAT(0)", 0xD5))):  # fmt: skip
        row = Row("", cure, methods=(broken,), more={"clear": False})
        found = row.look().why("f0/px10,9")
        assert "draws of the frame have no colour target" in str(found) and cure[0].partition("(")[0] in str(found)
        assert "no colour target" not in str(row.look(cure).why("f0/px10,9"))
    elsewhere = ("SET_COLOR_TARGET_B(0)", 0x14000)
    row = Row("", ("SET_COLOR_TARGET_A(0)", 5), methods=(elsewhere,), format="Z16", more={"clear": False})
    found = row.look().why("f0/px10,9")
    assert "draws of the frame go to 0x500014000 (SET_COLOR_TARGET_A), and the surface is at 0x500000000" in str(found)
