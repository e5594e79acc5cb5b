"""Vertex programs: arithmetic, comparisons, flow, booleans."""

from __future__ import annotations

from textwrap import dedent

import numpy as np

from pocketgpu.builder import Assembly, Buffer, assemble

from .stage import Scene, scene

SAMPLES = 12


def program(text: str) -> Assembly:
    """A program with a position in o0 and a colour in o1. Constants at hand: c90 = (0, 1, 0.5, 0.25),
    c91 = (0.125, 2, 4, -1), and red, green, blue, yellow, grey as c80 to c84."""
    head = """
        .out o0 position
        .out o1 color
        .constf c90, 0.0, 1.0, 0.5, 0.25
        .constf c91, 0.125, 2.0, 4.0, -1.0
        .constf c80, 1.0, 0.15, 0.1, 1.0
        .constf c81, 0.1, 0.8, 0.2, 1.0
        .constf c82, 0.2, 0.3, 1.0, 1.0
        .constf c83, 1.0, 0.9, 0.1, 1.0
        .constf c84, 0.6, 0.6, 0.6, 1.0
    """
    return assemble(dedent(head) + dedent(text))


PLOTS = {
    "add: x + 1/2": "add r1, c90.zzzz, r0",
    "mul: x * x": "mul r1, r0, r0",
    "mad: x * x - 1": "mad r1, r0, r0, c91.wwww",
    "madi: x / 2 + 1": "mad r1, r0, r3.zzzz, c90.yyyy",
    "dp3: x + 1/2 + 1/4": "mov r2, c90.yzww\nmul r2, r0.xyzz, r2\nmov r4, c90.yzww\nmov r4.x, r0\ndp3 r1, r4, c90.yyyy",
    "dp4: 4 times x/4": "dp4 r1, c90.wwww, r0",
    "dph: 3 times x/4 + 1/4": "mov r4, c90.wwww\ndph r1, r0, r4",
    "dst: x * x (y part)": "dst r1, r0, r0\nmov r1, r1.yyyy",
    "ex2: 2^x": "ex2 r1, r0",
    "lg2: log2 |x|": "max r4, -r0, r0\nlg2 r1, r4.x",
    "litp: x part": "litp r1, r0\nmov r1, r1.xxxx",
    "sge: x >= 1/2": "mov r4, c90.zzzz\nsge r1, r0, r4",
    "slt: x < 1/2": "slt r1, r0, r3.zzzz",
    "flr: floor x": "flr r1, r0",
    "max: with 1/2": "max r1, c90.zzzz, r0",
    "min: with 1/2": "min r1, c90.zzzz, r0",
    "rcp: 1/x": "rcp r1, r0.x",
    "rsq: 1/sqrt |x|": "max r4, -r0, r0\nrsq r1, r4.x",
    "mova: c[x + 44], cut": "mova a0.x, r0.x\nmov r1, c44[a0.x]",
    "mov: -x": "mov r1, -r0",
    "swizzle and mask": "mov r1, r0\nadd r1.y, r3.z, r0.x\nmov r1, r1.yxzw",
    "negative zero: 1 / (-x * 0)": "mul r4, c90.xxxx, -r0\nrcp r1, r4.x",
}


@scene(6, 4, 32)
def shader_arithmetic(s: Scene) -> None:
    """Curves over x from -2 to 2 (left to right; nothing is computed at 0 itself), drawn from the axis in the middle;
    one unit is half of the height above it. Values beyond are cut off at the cell's edge."""
    at = np.linspace(-2, 2, SAMPLES) + 0.001
    rows = [(x, side) for x in at for side in (0.0, 1.0)]
    address = s.put(np.array(rows, "<f4"))
    tail = """
        mov r3, c90
        mul r5, r1, v0.yyyy         ; 0 at the axis, else the value
        mul r5, r5, c90.zzzz
        min r5, c90.yyyy, r5
        max r5, c91.wwww, r5
        mul r6, v0.xxxx, r3.zzzz
        mov o0.w, r3.y
        mov o0.z, -r3.z
        mov o0.x, r6.x
        mov o0.y, r5.x
        slt r7, r1, r3.xxxx         ; red below, green above the axis
        mov o1.w, r3.y
        mov o1.x, r7.x
        add r7.x, c90.y, -r7.x
        mov o1.y, r7.x
        mov o1.z, r3.z
        end
    """
    for label, text in PLOTS.items():
        s.cell(label).shader(program("mov r3, c90\nmov r0, v0.xxxx\n" + text + "\n" + dedent(tail)))
        s.cl.uniforms(40, [[n / 4 - 1] * 4 for n in range(10)])
        s.cl.attributes(Buffer(address, [("f32", 2)])).draw_arrays(len(rows), primitive="triangle strip")


BANDS = 6
FLOW: dict[str, str] = {
    "loop: 5 passes": "loop i0\nadd r1, c91.xxxx, r1\nnop\nendloop",
    "aL picks uniforms": "loop i1\nadd r1, c80[aL], r1\nmul r1, c90.zzzz, r1\nendloop",
    "aL after the loop": "loop i1\nnop\nnop\nendloop\nmov r1, c80[aL]",
    "loop in a loop: 6 passes": "loop i2\nnop\nloop i3\nadd r1, c91.xxxx, r1\nnop\nendloop\nnop\nendloop",
    "breakc": "mov r5, v1.xxxx\nloop i0\nadd r1, c91.xxxx, r1\ncmp r1, gt, gt, r5\nbreakc cmp.x\nnop\nendloop",
    "call": "call paint\nnop",
    "callu, true": "callu b0, paint\nnop",
    "callu, false": "callu b1, paint\nnop",
    "callc: x < 1/2": "cmp c90.zzzz, gt, gt, v1.xxxx\ncallc cmp.x, paint\nnop",
    "call in a call": "call outer\nnop",
    "ifu, true": "ifu b0\nmov r1, c81\nnop\nelse\nmov r1, c80\nnop\nendif",
    "ifu, false": "ifu b1\nmov r1, c81\nnop\nelse\nmov r1, c80\nnop\nendif",
    "ifc: x < 1/2": "cmp c90.zzzz, gt, gt, v1.xxxx\nifc cmp.x\nmov r1, c81\nnop\nelse\nmov r1, c80\nnop\nendif",
    "ifc in ifc": "cmp c90.zwww, gt, gt, v1.xxxx\nifc cmp.x\nmov r1, c81\nifc cmp.y\nmov r1, c82\nnop\nendif\nnop\n"
    "else\nmov r1, c80\nnop\nendif",
    "cmp.x && !cmp.y": "cmp c90.zwww, gt, gt, v1.xxxx\nifc cmp.x && !cmp.y\nmov r1, c83\nnop\nendif",
    "!cmp.x || cmp.y": "cmp c90.zwww, gt, gt, v1.xxxx\nifc !cmp.x || cmp.y\nmov r1, c83\nnop\nendif",
    "jmpc: x < 1/2": "cmp c90.zzzz, gt, gt, v1.xxxx\nmov r1, c82\njmpc cmp.x, there\nmov r1, c80\nthere:\nnop",
    "jmpu, true": "mov r1, c82\njmpu b0, there\nmov r1, c80\nthere:\nnop",
    "jmpu, not true": "mov r1, c82\njmpu !b0, there\nmov r1, c80\nthere:\nnop",
    "jmpc back: counts to 5": "mov r5, c90.zzzz\nadd r5, c91.xxxx, r5\nagain:\nadd r1, c91.xxxx, r1\n"
    "cmp r1, lt, lt, r5\njmpc cmp.x, again\nnop",
    "end in the middle": "cmp c90.zzzz, gt, gt, v1.xxxx\nifc cmp.x\nmov o0, v0\nmov o1, c81\nend\nnop\nendif\n"
    "mov r1, c80",
}
PROCS = """
    .proc paint
        mov r1, c82
        nop
    .endproc
    .proc outer
        mov r1, c80
        call inner
        mul r1, c90.zzzz, r1
    .endproc
    .proc inner
        add r1, c81, r1
        nop
    .endproc
"""


def columns(s: Scene) -> tuple[int, int]:
    """Six upright bands, x in the middle of each as v1: 1/12, 3/12, ..."""
    rows = []
    for band in range(BANDS):
        left, right = (2 * (band + n) / BANDS - 1 for n in (0, 1))
        for x, y in ((left, -1), (right, -1), (right, 1), (left, -1), (right, 1), (left, 1)):
            rows.append((x, y, -0.5, 1, (band + 0.5) / BANDS, 0, 0, 1))
    return s.put(np.array(rows, "<f4")), len(rows)


@scene(7, 3, 16)
def shader_flow(s: Scene) -> None:
    """Flow, seen by what a program paints, on six bands whose x is 1/12, 3/12 ... 11/12: loops count (five or six
    eighths of white), pick uniforms (red, then green, then blue, halved), leave early (stairs); calls paint blue
    (called) or leave black; branches are green (taken), red (not taken), and blue or yellow by position; jumps are blue
    (taken) or red. Booleans: b0 is true, b1 false."""
    address, count = columns(s)
    for label, text in FLOW.items():
        body = f"main:\nmov r1, c90.xxxy\n{text}\nmov o0, v0\nmov o1, r1\nend\n"
        s.cell(label).shader(program(PROCS + body)).bool_uniforms({0: True})
        for number, (passes, start, step) in enumerate(((5, 0, 1), (3, 0, 1), (2, 0, 1), (3, 0, 1))):
            s.cl.int_uniform(number, x=passes - 1, y=start, z=step)
        s.cl.attributes(Buffer(address, [("f32", 4), ("f32", 4)])).draw_arrays(count)


COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


@scene(6, 2, 16)
def shader_compare(s: Scene) -> None:
    """CMP: x of six bands (1/12 ... 11/12) against 5/12, the middle of the third: equal, not equal, less, less or
    equal, greater, greater or equal; yellow where true. Upper row by cmp.x; lower row by cmp.y, which has the opposite
    operation."""
    address, count = columns(s)
    opposite = dict(zip(COMPARISONS, ("ne", "eq", "ge", "gt", "le", "lt"), strict=True))
    pick = "ifu b2\nifc cmp.y\nmov r1, c83\nnop\nendif\nnop\nelse\nifc cmp.x\nmov r1, c83\nnop\nendif\nnop\nendif"
    for component in "xy":
        for name in COMPARISONS:
            body = f"main:\nmov r1, c82\nmov r2, v1.xxxx\ncmp r2, {name}, {opposite[name]}, r3\n{pick}"
            body = body.replace("cmp r2", "mov r3, c0\ncmp r2") + "\nmov o0, v0\nmov o1, r1\nend\n"
            other = f", opposite of {name}" if component == "y" else ""
            s.cell(f"cmp.{component} {opposite[name] if other else name}{other}").shader(program(body))
            s.cl.uniforms(0, [np.float32(2.5 / BANDS)] * 4).bool_uniforms({2: component == "y"})
            s.cl.attributes(Buffer(address, [("f32", 4), ("f32", 4)])).draw_arrays(count)


BOOLS = "\n".join(f"ifu b{n}\nmov r1, c{n}\nadd r2.x, c{n}.w, r2.x\nendif" for n in range(16))


@scene(6, 3, (32, 8))
def boolean_uniforms(s: Scene) -> None:
    """Each of the sixteen booleans alone moves a bar to its place (b0 at the left) and gives it a hue; then b3 and b5
    together, which add their places; then none. The last is the plain bar."""
    body = f"main:\nmov r1, c90.yyyy\nmov r2, v0\n{BOOLS}\nmov o0, r2\nmov o1, r1\nend\n"
    s.cl.shader(program(body))
    for n in range(16):
        hue = [0.5 + 0.5 * np.cos(2 * np.pi * (n / 16 + shift)) for shift in (0, 1 / 3, 2 / 3)]
        s.cl.uniforms(n, [*hue, n * 2 / 16])
    for label, bools in [*((f"b{n}", {n: True}) for n in range(16)), ("b3 and b5", {3: True, 5: True}), ("none", {})]:
        s.cell(label).bool_uniforms(bools)
        s.quad(box=(-1, -0.8, -0.875, 0.8))
