"""What becomes of a colour on its way into a target: alpha test, blending, logic operations, and which target it is."""

from __future__ import annotations

import numpy as np
import pytest

from .switch_canvas import BLUE, GREEN, MAGENTA, PIXEL, RED, WHITE, Array, Canvas, empty, paint, row

Color = tuple[float, float, float, float]


def columns(letters: str) -> str:
    """A picture of four columns of two pixels each."""
    return row(f"8 x {''.join(2 * letter for letter in letters)}")


# -- alpha test -------------------------------------------------------------------------------------------------------

FUNCTIONS = {
    "NEVER": "....", "LESS": "W...", "EQUAL": ".W..", "LEQUAL": "WW..", "GREATER": "..WW", "NOTEQUAL": "W.WW",
    "GEQUAL": ".WWW", "ALWAYS": "WWWW",
}  # fmt: skip


def alphas(s: Canvas) -> None:
    """Columns of alpha 0, 0.25, 0.75 and 1."""
    s.bars(*((1, 1, 1, a) for a in (0, 0.25, 0.75, 1)))


@pytest.mark.row("b197.0x4c5")
@pytest.mark.parametrize(
    ("code", "name"), [(base + n, name) for base in (0x200, 1) for n, name in enumerate(FUNCTIONS)]
)
def test_alpha_is_compared_by_functions_in_two_numberings(code: int, name: str) -> None:
    def draw(s: Canvas) -> None:
        alphas(s.set(SET_ALPHA_TEST=1, SET_ALPHA_REF=0.25, SET_ALPHA_FUNC=code))

    assert paint(draw).picture == columns(FUNCTIONS[name])


@pytest.mark.row("b197.0x4bb")
@pytest.mark.parametrize(("on", "seen"), [(1, "...W"), (0, "WWWW")])
def test_the_alpha_test_can_be_off(on: int, seen: str) -> None:
    def draw(s: Canvas) -> None:
        alphas(s.set(SET_ALPHA_TEST=on, SET_ALPHA_REF=0.8, SET_ALPHA_FUNC={"V": "OGL_GREATER"}))

    assert paint(draw).picture == columns(seen)


@pytest.mark.row("b197.0x4c4")
@pytest.mark.parametrize(
    ("reference", "seen"), [(-1.0, "WWWW"), (0.1, ".WWW"), (0.5, "..WW"), (0.9, "...W"), (2.0, "....")]
)
def test_the_reference_of_the_alpha_test_is_a_float(reference: float, seen: str) -> None:
    def draw(s: Canvas) -> None:
        alphas(s.set(SET_ALPHA_TEST=1, SET_ALPHA_REF=reference, SET_ALPHA_FUNC={"V": "OGL_GREATER"}))

    assert paint(draw).picture == columns(seen)


# -- blending ---------------------------------------------------------------------------------------------------------

SOURCE: Color = (0.5, 0.25, 1.0, 0.75)
TARGET: Color = (0.25, 1.0, 0.5, 0.5)
SECOND: Color = (1.0, 0.5, 0.25, 0.25)
CONSTANT: Color = (0.75, 0.5, 0.25, 1.0)
FOUR = "RF32_GF32_BF32_AF32"
TWO = PIXEL.replace("EXIT", "".join(f"MOV R{4 + n}, c[0x0][{4 * n:#x}]\n" for n in range(4)) + "EXIT")
"""A program whose second output is a constant."""
s, d, c, t = (np.array(v) for v in (SOURCE, TARGET, CONSTANT, SECOND))
FACTORS = {
    "ZERO": 0 * s, "ONE": 0 * s + 1, "SRC_COLOR": s, "SRC_ALPHA": 0 * s + s[3], "DST_ALPHA": 0 * s + d[3],
    "DST_COLOR": d, "CONSTANT_COLOR": c, "CONSTANT_ALPHA": 0 * s + c[3], "SRC1COLOR": t, "SRC1ALPHA": 0 * s + t[3],
}  # fmt: skip
NUMBERS = {
    "ZERO": (0x4000, 1), "ONE": (0x4001, 2), "SRC_COLOR": (0x4300, 3), "SRC_ALPHA": (0x4302, 5),
    "DST_ALPHA": (0x4304, 7), "DST_COLOR": (0x4306, 9), "CONSTANT_COLOR": (0xC001, 14), "CONSTANT_ALPHA": (0xC003, 0),
    "SRC1COLOR": (0xC900, 16), "SRC1ALPHA": (0xC902, 18),
}  # fmt: skip
"""OpenGL's numbers and Direct3D's; the factor that is 1 less this one follows."""
COEFFICIENTS = [
    (code + less, np.abs(less - FACTORS[name]))
    for name, codes in NUMBERS.items()
    for code in codes
    if code
    for less in ((0, 1) if name not in ("ZERO", "ONE") else (0,))
] + [(code, np.array([0.5, 0.5, 0.5, 1.0])) for code in (0x4308, 11)]
"""The last: the least of the source's alpha and what the target's leaves, and 1 for alpha."""


def blended(slot: int, **state: int) -> Array:
    """What SOURCE over TARGET comes to in a slot with a blend state of its own; all other slots do not blend."""

    def draw(canvas: Canvas) -> None:
        if slot:
            target = canvas.target(slot, FOUR, TARGET)
            canvas.show(target)
            canvas.set(SET_CT_SELECT={"TARGET_COUNT": 1, "TARGET0": slot})
        canvas.set(SET_BLEND_STATE_PER_TARGET=1, SET_BLEND=(slot, 1))
        canvas.pb.method("SET_BLEND_CONST_RED", *CONSTANT)
        canvas.programs(TWO, options={"targets": ("rgba", "rgba")})
        canvas.constants(np.array(SECOND, np.float32))
        canvas.set(**{f"SET_BLEND_PER_TARGET_{name}": (slot, value) for name, value in state.items()})
        canvas.rect(SOURCE)

    painted = paint(draw, canvas={"side": 2, "format": FOUR, "clear": TARGET, "depth_format": None})
    colors: Array = painted.rgba(painted.canvas.surfaces[-1])
    assert (colors == colors[0, 0]).all()
    return colors[0, 0]


@pytest.mark.parametrize("slot", [0, 7])
@pytest.mark.parametrize(
    ("part", "side"),
    [
        pytest.param("COLOR", "SOURCE", marks=pytest.mark.row("b197.0x782")),
        pytest.param("COLOR", "DEST", marks=pytest.mark.row("b197.0x783")),
        pytest.param("ALPHA", "SOURCE", marks=pytest.mark.row("b197.0x785")),
        pytest.param("ALPHA", "DEST", marks=pytest.mark.row("b197.0x786")),
    ],
)
def test_factors_of_source_and_target_in_two_numberings(part: str, side: str, slot: int) -> None:
    """One factor at a time, the other is 0; the other part of the colour is replaced."""
    other = "DEST" if side == "SOURCE" else "SOURCE"
    rest = "ALPHA" if part == "COLOR" else "COLOR"
    for code, factor in COEFFICIENTS:
        found = blended(slot, **{
            f"{part}_{side}_COEFF": code, f"{part}_{other}_COEFF": 0x4000,
            f"{rest}_SOURCE_COEFF": 0x4001, f"{rest}_DEST_COEFF": 0x4000,
        })  # fmt: skip
        of = np.array(SOURCE if side == "SOURCE" else TARGET)
        expected = np.where([part == "COLOR"] * 3 + [part == "ALPHA"], of * factor, SOURCE)
        assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-6), hex(code)


@pytest.mark.parametrize("slot", [0, 5])
@pytest.mark.parametrize(
    "part",
    [
        pytest.param("COLOR", marks=pytest.mark.row("b197.0x781")),
        pytest.param("ALPHA", marks=pytest.mark.row("b197.0x784")),
    ],
)
def test_equations_in_two_numberings(part: str, slot: int) -> None:
    """Halves of source and target; the least and the most know no factors."""
    half, rest = 0xC004, "ALPHA" if part == "COLOR" else "COLOR"  # 1 - the constant's alpha, which is 1: 0
    assert blended(slot, COLOR_SOURCE_COEFF=half, COLOR_DEST_COEFF=half)[:3].tolist() == [0, 0, 0]
    source, target = np.array(SOURCE), np.array(TARGET)
    scaled, aim = source * SOURCE[3], target * TARGET[3]
    results = {
        (0x8006, 1): scaled + aim, (0x800A, 2): scaled - aim, (0x800B, 3): aim - scaled,
        (0x8007, 4): np.minimum(source, target), (0x8008, 5): np.maximum(source, target),
    }  # fmt: skip
    for codes, expected in results.items():
        for code in codes:
            found = blended(slot, **{
                f"{part}_OP": code, f"{part}_SOURCE_COEFF": 0x4302, f"{part}_DEST_COEFF": 0x4304,
                f"{rest}_OP": 0x8006, f"{rest}_SOURCE_COEFF": 0x4001, f"{rest}_DEST_COEFF": 0x4000,
            })  # fmt: skip
            both = np.where([part == "COLOR"] * 3 + [part == "ALPHA"], expected, SOURCE)
            assert found.tolist() == pytest.approx(both.tolist(), abs=1e-6), hex(code)


@pytest.mark.parametrize(
    ("number", "name"), [pytest.param(n, name, marks=pytest.mark.row("b197.0x4c7")) for n, name in enumerate(
        ("RED", "GREEN", "BLUE", "ALPHA")
    )]
)  # fmt: skip
def test_the_constant_is_four_registers(number: int, name: str) -> None:
    def draw(canvas: Canvas, value: float) -> None:
        canvas.set(SET_BLEND=(0, 1), **{f"SET_BLEND_CONST_{name}": value})
        for part in ("COLOR", "ALPHA"):
            canvas.set(**{f"SET_BLEND_{part}_SOURCE_COEFF": 0xC001, f"SET_BLEND_{part}_DEST_COEFF": 0x4000})
        canvas.rect(WHITE)

    for value in (0.0, 0.25, 1.0):
        color = paint(draw, value, canvas={"format": FOUR}).rgba()[0, 0]
        assert color.tolist() == [value if n == number else 0 for n in range(4)]


@pytest.mark.row("b197.0x4b9")
@pytest.mark.parametrize(("each", "first", "second"), [(0, "M", "M"), (1, "B", "R")])
def test_blend_states_are_one_for_all_or_one_for_each(each: int, first: str, second: str) -> None:
    """Red over blue: the common state adds them; the first one of its own keeps what is there, the second does not."""

    def draw(canvas: Canvas) -> None:
        canvas.show(canvas.target(1, "A8B8G8R8", BLUE))
        canvas.set(SET_CT_SELECT={"TARGET_COUNT": 2, "TARGET0": 0, "TARGET1": 1})
        canvas.set(SET_BLEND=(0, 1), SET_BLEND_STATE_PER_TARGET=each).set(SET_BLEND=(1, 1))
        canvas.set(SET_BLEND_COLOR_SOURCE_COEFF=0x4001, SET_BLEND_COLOR_DEST_COEFF=0x4001)
        for n, (source, target) in enumerate(((0x4000, 0x4001), (0x4001, 0x4000))):
            canvas.set(SET_BLEND_PER_TARGET_COLOR_SOURCE_COEFF=(n, source))
            canvas.set(SET_BLEND_PER_TARGET_COLOR_DEST_COEFF=(n, target))
        canvas.rect(RED)

    painted = paint(draw, canvas={"clear": BLUE, "depth_format": None})
    found = [painted.letters(surface) for surface in painted.canvas.surfaces]
    assert found == [row(f"8 x {8 * letter}") for letter in (first, second)]


# -- logic operations -------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x671", "b197.0x672")
@pytest.mark.parametrize("code", range(0x1500, 0x1510))
def test_logic_operations_replace_colours_by_bits(code: int) -> None:
    """In OpenGL's order, on all pairs of bits; blue and alpha show that the plain colour is another one."""
    source, target = 0b0011_0101, 0b0101_0011
    table = {
        0x1500: 0, 0x1501: source & target, 0x1502: source & ~target, 0x1503: source, 0x1504: ~source & target,
        0x1505: target, 0x1506: source ^ target, 0x1507: source | target, 0x1508: ~(source | target),
        0x1509: ~(source ^ target), 0x150A: ~target, 0x150B: source | ~target, 0x150C: ~source,
        0x150D: ~source | target, 0x150E: ~(source & target), 0x150F: 0xFF,
    }  # fmt: skip

    def draw(canvas: Canvas, on: int) -> None:
        canvas.rect(tuple(v / 255 for v in (target, target, 255, 0)))
        canvas.set(SET_LOGIC_OP=on, SET_LOGIC_OP_FUNC=code).rect(tuple(v / 255 for v in (source, source, 0, 255)))

    found, plain = (np.round(paint(draw, on).rgba()[0, 0] * 255).astype(int).tolist() for on in (1, 0))
    assert found[:2] == [table[code] & 0xFF] * 2
    assert plain == [source, source, 0, 255]


# -- targets ----------------------------------------------------------------------------------------------------------

FIRST = PIXEL.replace("EXIT", "MOV R4, R1\nMOV R5, R2\nMOV R6, R0\nMOV R7, R3\nEXIT")
"""The second output has the components of the first, turned: red comes to be blue."""


@pytest.mark.row("b197.0x487")
@pytest.mark.parametrize(
    ("count", "slots", "pictures"),
    [
        (2, (0, 1), ("R", "B", ".")),
        (2, (2, 0), ("B", ".", "R")),
        (1, (1, 0), (".", "R", ".")),
        (2, (1, 2), (".", "R", "B")),
        (0, (0, 1), (".", ".", ".")),
    ],
)
def test_outputs_go_to_the_slots_that_are_named(count: int, slots: tuple[int, int], pictures: tuple[str, ...]) -> None:
    def draw(canvas: Canvas) -> None:
        for slot in (1, 2):
            canvas.show(canvas.target(slot, "A8B8G8R8", (0, 0, 0, 0)))
        canvas.programs(FIRST, options={"targets": ("rgba", "rgba")})
        canvas.set(SET_CT_SELECT={"TARGET_COUNT": count, "TARGET0": slots[0], "TARGET1": slots[1]}).rect(RED)

    painted = paint(draw, canvas={"depth_format": None})
    found = [painted.letters(surface) for surface in painted.canvas.surfaces]
    assert found == [row(f"8 x {8 * letter}") for letter in pictures]


@pytest.mark.row("b197.0x206", "b197.0x207", "b197.0x208")
@pytest.mark.parametrize(("base", "layer", "lit"), [(0, 0, 0), (0, 2, 2), (1, 0, 1), (1, 2, 3), (0, 4, None)])
def test_layers_count_from_the_base_and_those_beyond_the_last_are_nowhere(
    base: int, layer: int, lit: int | None
) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.set(SET_COLOR_TARGET_LAYER=(0, base), SET_RT_LAYER={"V": layer}).rect(GREEN)

    painted = paint(draw, canvas={"layers": 4, "depth_format": None})
    found = [painted.letters(layer=n) for n in range(4)]
    assert found == [row("8 x GGGGGGGG") if n == lit else empty() for n in range(4)]


@pytest.mark.row("b197.0x200", "b197.0x204")
@pytest.mark.parametrize(
    ("format", "stored"),
    [
        ("A8B8G8R8", "ff00ffff"),
        ("R5G6B5", "1ff8"),
        ("A2B10G10R10", "ff03f0ff"),
        ("RF16_GF16_BF16_AF16", "003c0000003c003c"),
    ],
)
def test_colours_are_stored_in_the_format_of_the_target(format: str, stored: str) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.rect(MAGENTA)

    painted = paint(draw, canvas={"format": format})
    data = bytes.fromhex(stored)
    assert painted.rows(painted.canvas.color)[0].tobytes()[: len(data)] == data


@pytest.mark.row("b197.0x374", note="pixels=later")
def test_iterated_blending_is_told_of_and_the_fixed_equation_is_taken() -> None:
    def draw(canvas: Canvas, on: int) -> None:
        canvas.set(SET_ITERATED_BLEND={"ENABLE": on}).rect(RED)

    plain, iterated = paint(draw, 0), paint(draw, 1)
    assert plain.events == () and iterated.events == ("draw.iterated_blend",)
    assert plain.picture == iterated.picture == row("8 x RRRRRRRR")
