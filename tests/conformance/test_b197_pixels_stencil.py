"""The stencil test: what it compares on either side, what it leaves of pixels, and what it stores."""

from __future__ import annotations

import pytest

from .switch_canvas import GREEN, RED, Canvas, paint, row

FUNCTIONS = ("NEVER", "LESS", "EQUAL", "LEQUAL", "GREATER", "NOTEQUAL", "GEQUAL", "ALWAYS")
SEEN = {
    "NEVER": "....", "LESS": "..RR", "EQUAL": ".R..", "LEQUAL": ".RRR", "GREATER": "R...", "NOTEQUAL": "R.RR",
    "GEQUAL": "RR..", "ALWAYS": "RRRR",
}  # fmt: skip
"""The reference, 2, against stored 1, 2, 3 and 4."""


def columns(letters: str) -> str:
    """A picture of four columns of two pixels each."""
    return row(f"8 x {''.join(2 * letter for letter in letters)}")


def prepare(s: Canvas, *values: int) -> Canvas:
    """Stencil tests on; columns of two pixels hold the given values, and nothing is to be seen."""
    s.set(SET_STENCIL_TEST=1, SET_STENCIL_OP_ZPASS={"V": "OGL_REPLACE"}, SET_CT_WRITE=(0, 0))
    for n, value in enumerate(values):
        s.set(SET_STENCIL_FUNC_REF=value).rect(RED, (2 * n, 0, 2 * n + 2, 8))
    return s.set(SET_STENCIL_OP_ZPASS={"V": "OGL_KEEP"}, SET_CT_WRITE=(0, 0x1111))


def backs(s: Canvas) -> None:
    """The whole target, clockwise: the back."""
    s.shape([(0, 0), (8, 0), (8, 8), (0, 8)], RED, "TRIANGLE_FAN")


def two_sided(s: Canvas) -> Canvas:
    """Fronts always pass and change nothing."""
    s.set(SET_TWO_SIDED_STENCIL_TEST=1, SET_STENCIL_FUNC={"V": "OGL_ALWAYS"}, OGL_SET_FRONT_FACE=0x901)
    return s


@pytest.mark.row("b197.0x4e0")
@pytest.mark.parametrize(("on", "seen"), [(1, ".R.R"), (0, "RRRR")])
def test_the_test_can_be_off(on: int, seen: str) -> None:
    def draw(s: Canvas) -> None:
        prepare(s, 0, 1, 0, 1).set(SET_STENCIL_TEST=on, SET_STENCIL_FUNC={"V": "OGL_EQUAL"}, SET_STENCIL_FUNC_REF=1)
        s.set(SET_STENCIL_OP_FAIL={"V": "OGL_INCRSAT"}).rect(RED)

    painted = paint(draw)
    assert painted.picture == columns(seen)
    assert painted.stencil[0].tolist() == ([1] * 8 if on else [0, 0, 1, 1] * 2)


@pytest.mark.row("b197.0x4e5", "b197.0x4e0")
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("base", [0x200, 1])
def test_the_reference_is_compared_with_what_is_stored(name: str, base: int) -> None:
    def draw(s: Canvas) -> None:
        prepare(s, 1, 2, 3, 4).set(SET_STENCIL_FUNC=base + FUNCTIONS.index(name), SET_STENCIL_FUNC_REF=2).rect(RED)

    assert paint(draw).picture == columns(SEEN[name])


@pytest.mark.row("b197.0x4e5")
@pytest.mark.parametrize(("reference", "seen"), [(1, "R..."), (2, ".R.."), (200, "...R"), (3, "....")])
def test_what_is_equal_to_the_reference_passes(reference: int, seen: str) -> None:
    def draw(s: Canvas) -> None:
        prepare(s, 1, 2, 0xFF, 200).set(SET_STENCIL_FUNC={"V": "OGL_EQUAL"}, SET_STENCIL_FUNC_REF=reference).rect(RED)

    assert paint(draw).picture == columns(seen)


@pytest.mark.row("b197.0x4e6")
@pytest.mark.parametrize(("mask", "seen"), [(0xFF, "R..."), (0x0F, "RR.."), (0x70, "R.R."), (0, "RRRR")])
def test_only_bits_of_the_mask_are_compared(mask: int, seen: str) -> None:
    def draw(s: Canvas) -> None:
        prepare(s, 0x25, 0x95, 0x23, 0x16).set(SET_STENCIL_FUNC={"V": "OGL_EQUAL"}, SET_STENCIL_FUNC_REF=0x25)
        s.set(SET_STENCIL_FUNC_MASK=mask).rect(RED)

    assert paint(draw).picture == columns(seen)


@pytest.mark.row("b197.0x4e7")
@pytest.mark.parametrize("mask", [0xFF, 0x0F, 0xA5, 0])
def test_only_bits_of_the_write_mask_are_stored(mask: int) -> None:
    def draw(s: Canvas) -> None:
        prepare(s, 0x00, 0xFF, 0x36, 0xC9).set(SET_STENCIL_OP_ZPASS={"V": "OGL_INVERT"}, SET_STENCIL_MASK=mask)
        s.rect(RED)

    assert paint(draw).stencil[5, ::2].tolist() == [mask, 0xFF ^ mask, 0x36 ^ mask, 0xC9 ^ mask]


@pytest.mark.row("b197.0x4e0")
@pytest.mark.parametrize(
    ("operation", "stored"),
    [
        ("OGL_KEEP", (0, 1, 254, 255)),
        ("OGL_ZERO", (0, 0, 0, 0)),
        ("OGL_REPLACE", (77, 77, 77, 77)),
        ("OGL_INCRSAT", (1, 2, 255, 255)),
        ("OGL_DECRSAT", (0, 0, 253, 254)),
        ("OGL_INVERT", (255, 254, 1, 0)),
        ("OGL_INCR", (1, 2, 255, 0)),
        ("OGL_DECR", (255, 0, 253, 254)),
    ],
)
@pytest.mark.parametrize("where", ["FAIL", "ZFAIL", "ZPASS"])
def test_what_becomes_of_the_stencil(operation: str, stored: tuple[int, ...], where: str) -> None:
    """The operation of the place where a pixel ends; the other two keep what is there."""

    def draw(s: Canvas) -> None:
        prepare(s, 0, 1, 254, 255).set(SET_STENCIL_FUNC_REF=77, SET_DEPTH_TEST=1, **{
            "SET_STENCIL_FUNC": {"V": "OGL_NEVER" if where == "FAIL" else "OGL_ALWAYS"},
            "SET_DEPTH_FUNC": {"V": "OGL_NEVER" if where == "ZFAIL" else "OGL_ALWAYS"},
            f"SET_STENCIL_OP_{where}": {"V": operation},
        }).rect(RED)  # fmt: skip

    painted = paint(draw)
    assert painted.stencil[5, ::2].tolist() == list(stored)
    assert painted.picture == columns("RRRR" if where == "ZPASS" else "....")


# -- the back ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x3d5")
@pytest.mark.parametrize(("sides", "seen"), [(1, ".R.."), (0, "R...")])
def test_backs_have_a_reference_of_their_own(sides: int, seen: str) -> None:
    """With one side only the front's counts for both."""

    def draw(s: Canvas) -> None:
        two_sided(prepare(s, 1, 2, 3, 4)).set(SET_TWO_SIDED_STENCIL_TEST=sides)
        s.set(SET_STENCIL_FUNC={"V": "OGL_EQUAL"}, SET_BACK_STENCIL_FUNC={"V": "OGL_EQUAL"})
        s.set(SET_STENCIL_FUNC_REF=1, SET_BACK_STENCIL_FUNC_REF=2)
        backs(s)

    assert paint(draw).picture == columns(seen)


@pytest.mark.row("b197.0x3d6")
@pytest.mark.parametrize(("sides", "stored"), [(1, 0x0F), (0, 0xF0)])
def test_backs_have_a_write_mask_of_their_own(sides: int, stored: int) -> None:
    """The page has an enable here."""

    def draw(s: Canvas) -> None:
        two_sided(prepare(s)).set(SET_TWO_SIDED_STENCIL_TEST=sides, SET_STENCIL_MASK=0xF0, SET_BACK_STENCIL_MASK=0x0F)
        s.set(SET_STENCIL_OP_ZPASS={"V": "OGL_INVERT"}, SET_BACK_STENCIL_OP_ZPASS={"V": "OGL_INVERT"})
        backs(s)

    assert (paint(draw).stencil == stored).all()


@pytest.mark.row("b197.0x3d7")
@pytest.mark.parametrize(("sides", "seen"), [(1, "RR.."), (0, "R.R.")])
def test_backs_have_a_mask_of_what_is_compared(sides: int, seen: str) -> None:
    def draw(s: Canvas) -> None:
        two_sided(prepare(s, 0x25, 0x95, 0x23, 0x16)).set(SET_TWO_SIDED_STENCIL_TEST=sides)
        s.set(SET_STENCIL_FUNC={"V": "OGL_EQUAL"}, SET_BACK_STENCIL_FUNC={"V": "OGL_EQUAL"})
        s.set(SET_STENCIL_FUNC_REF=0x25, SET_BACK_STENCIL_FUNC_REF=0x25)
        s.set(SET_STENCIL_FUNC_MASK=0x70, SET_BACK_STENCIL_FUNC_MASK=0x0F)
        backs(s)

    assert paint(draw).picture == columns(seen)


@pytest.mark.row("b197.0x3d5", "b197.0x4e5")
def test_each_side_of_one_draw_takes_its_own() -> None:
    def draw(s: Canvas) -> None:
        two_sided(prepare(s)).set(SET_STENCIL_FUNC_REF=5, SET_BACK_STENCIL_FUNC_REF=9)
        s.set(SET_STENCIL_OP_ZPASS={"V": "OGL_REPLACE"}, SET_BACK_STENCIL_OP_ZPASS={"V": "OGL_REPLACE"})
        s.shape([(0, 8), (4, 8), (0, 0), (8, 8), (4, 8), (8, 0)], [RED] * 3 + [GREEN] * 3)

    stencil = paint(draw).stencil
    assert stencil[7].tolist() == [5, 5, 5, 5, 9, 9, 9, 9] and stencil[0].tolist() == [0] * 8
