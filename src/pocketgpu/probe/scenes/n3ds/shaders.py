"""Scenes of vertex programs: results of odd numbers, and where control goes.

A program gives a number of 0 to 1, which is shown as a colour of a palette. The left square has the same program with
a number that is not odd, or shows what the usual way gives.
"""

from __future__ import annotations

from pocketgpu.facts.shader_isa import CALL_DEPTH
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.canvas import BLUE, LEFT, LIGHT, ORANGE, RIGHT, VALUE, Box, SceneCanvas

_NUMBERS = ".constf c90, 0.0, 1.0, -1.0, 0.25\n"
"""Constants of all programs: c90.x is 0, c90.y is 1, c90.z is -1, c90.w is 1/4."""


def _canvas() -> SceneCanvas:
    """Numbers below 1/2 are blue, the others orange."""
    canvas = SceneCanvas()
    canvas.palette(BLUE, ORANGE)
    return canvas


def _show(canvas: SceneCanvas, box: Box, text: str) -> None:
    """A box in the colour of what a program leaves in r7.x."""
    canvas.program(f"{text}\nmov o1.xy, r7.x", VALUE + _NUMBERS)
    canvas.draw(box)


@scene("shader.precision")
def _() -> Made:
    """A program computes (1 + x) - 1. For the left square x is 1/256, which is left over: orange. For the right one x
    is 1/262144: it is left over too, orange (f32), or lost, because a mantissa has 16 bits, blue (f24)."""
    canvas = _canvas()
    for box, exponent in ((LEFT, 8), (RIGHT, 18)):
        small = 2.0**-exponent
        canvas.list.uniforms(0, [[small, 1 / small, 0, 0]])
        text = "mov r0, c0 \n add r1.x, c90.y, r0.x \n add r1.x, c90.z, r1.x \n mul r7.x, c0.y, r1.x"
        _show(canvas, box, text)
    return canvas.made()


@scene("shader.reciprocal_zero")
def _() -> Made:
    """Orange means that a reciprocal is positive: of 0 for the left square, of -0 for the right one. That is infinity,
    orange (positive), or -infinity, blue (signed)."""
    canvas = _canvas()
    for box, sign in ((LEFT, ""), (RIGHT, "-")):
        _show(canvas, box, f"mov r0, {sign}c90.xxxx \n rcp r1.x, r0.x \n slt r7.x, c90.x, r1.x")
    return canvas.made()


@scene("shader.max_infinity")
def _() -> Made:
    """Orange means that a maximum is 0. The left square has the maximum of 0 and -1. The right one has that of 0 and
    -infinity: 0, orange (smaller), or -infinity, blue (result)."""
    canvas = _canvas()
    _show(canvas, LEFT, "mov r0, c90 \n max r1.x, c90.x, r0.z \n sge r7.x, r1.x, c90.x")
    text = "mov r0, c90 \n rcp r0.x, r0.x \n mov r0.x, -r0.x \n max r1.x, c90.x, r0.x \n sge r7.x, r1.x, c90.x"
    _show(canvas, RIGHT, text)
    return canvas.made()


@scene("shader.litp_nan")
def _() -> Made:
    """Orange means that LITP limits its first component to 0. The left square gives it -1. The right one gives it NaN:
    the result is 0, orange (zero), or NaN, blue (keep)."""
    canvas = _canvas()
    _show(canvas, LEFT, "mov r0, c90.zzzz \n litp r1, r0 \n sge r7.x, r1.x, c90.x")
    nan = "mov r0, c90 \n rcp r0.x, r0.x \n add r0, r0.xxxx, -r0.xxxx \n"
    _show(canvas, RIGHT, nan + "litp r1, r0 \n sge r7.x, r1.x, c90.x")
    return canvas.made()


@scene("shader.nested_loop_counter")
def _() -> Made:
    """A loop with another one inside reads a uniform by aL: orange by its own counter, blue by the inner one. It reads
    before the inner loop for the left square, and after it for the right one: orange (restored), or blue (kept)."""
    canvas = _canvas()
    inner = "loop i1 \n add r1, c90.y, r1 \n nop \n endloop \n"
    canvas.list.uniforms(0, [[float(n < 20)] * 4 for n in range(40)])
    canvas.list.int_uniform(0, 0, 10, 1).int_uniform(1, 0, 30, 1)
    for box, before, after in ((LEFT, "", inner), (RIGHT, inner, "")):
        _show(canvas, box, f"mov r1, c90.xxxx \n loop i0 \n {before} mov r7, c0[aL] \n {after} nop \n endloop")
    return canvas.made()


@scene("shader.loop_ends")
def _() -> Made:
    """Two loops of two rounds, one inside of the other, add 1/4 in each round. For the left square an instruction lies
    between their ends: 4/4, orange. For the right one both end together: 4/4, orange (all), or 2/4, light grey, because
    the outer loop misses its end (one)."""
    canvas = SceneCanvas()
    canvas.palette(BLUE, LIGHT, ORANGE)
    canvas.list.int_uniform(0, 1)
    for box, between in ((LEFT, "nop \n"), (RIGHT, "")):
        loops = f"loop i0, outer \n loop i0, inner \n add r7, c90.w, r7 \n inner: \n {between} outer: \n"
        _show(canvas, box, f"mov r7, c90.xxxx \n {loops}")
    return canvas.made()


@scene("shader.stacks")
def _() -> Made:
    """Subroutines call each other, four deep for the left square, five deep for the right one. A square is orange if
    the program comes back to its start. The right one is blue, because the stack of calls only holds four (separate),
    or orange, because one larger stack holds all (single)."""
    canvas = _canvas()
    for box, depth in ((LEFT, CALL_DEPTH), (RIGHT, CALL_DEPTH + 1)):
        procedures = [f".proc p{n} \n nop \n call p{n + 1} \n nop \n .end" for n in reversed(range(1, depth))]
        text = [
            VALUE, _NUMBERS, f".proc p{depth} \n nop \n nop \n .end", *procedures,
            # Control arrives here after the end of p1 if it does not return from there.
            "mov r7, c90.xxxx", "jmpu !b0, show",
            "main:", "mov o0, v0", "call p1", "mov r7, c90.yyyy", "show:", "mov o1.xy, r7.x", "end",
        ]  # fmt: skip
        canvas.shader("\n".join(text))
        canvas.draw(box)
    return canvas.made()


@scene("shader.end")
def _() -> Made:
    """A program writes orange, then blue. The upper half of ENTRYPOINT points past its end for the left square: blue.
    It points between both instructions for the right one: blue (nothing), or orange, because the program ends there
    (entrypoint)."""
    canvas = _canvas()
    program = canvas.program("mov o1.xy, c90.y \n between: \n mov o1.xy, c90.x", VALUE + _NUMBERS)
    for box, end in ((LEFT, len(program.code)), (RIGHT, program.labels["between"])):
        canvas.list.write("VSH_ENTRYPOINT", entry=program.entry, end=end)
        canvas.draw(box)
    return canvas.made()
