"""Geometry programs: points, fixed and variable primitives, emission."""

from __future__ import annotations

import numpy as np

from pocketgpu.builder import Assembly, Buffer, assemble

from .stage import BLUE, CORNERS, GREEN, RED, YELLOW, Scene, scene

VERTEX_PROGRAM = assemble("""
    .out o0 position
    .out o1 color
    main:
        mov o0, v0
        mov o1, v1
        end
""")


def program(text: str) -> Assembly:
    return assemble(".out o0 position\n.out o1 color\n.constf c80, 0.25, -0.25, 0.0, 1.0\n" + text)


def vertex(number: int, position: str, color: str, flags: str = "") -> str:
    return f"{position}\n{color}\nsetemit {number}{', ' + flags if flags else ''}\nemit\n"


SQUARES = (
    vertex(0, "add o0, c80.yyzz, v0", "mov o1, v1")
    + vertex(1, "add o0, c80.xyzz, v0", "mov o1, v1")
    + vertex(2, "add o0, c80.yxzz, v0", "mov o1, v1", "prim")
)
FOURTH = vertex(0, "add o0, c80.xxzz, v0", "mov o1, v1", "prim inv")
UNTURNED = vertex(0, "add o0, c80.xxzz, v0", "mov o1, v1", "prim")
TRIANGLES = "".join(
    vertex(
        n, f"mov r0, v{2 * n}\nadd r0.xy, r0.xy, r0.xy\nmov o0, r0", f"mov o1, v{2 * n + 1}", "prim" if n == 2 else ""
    )
    for n in range(3)
)
QUADS = "".join(
    vertex(n % 3, f"mov o0, c{10 + 2 * n}", f"mov o1, c{11 + 2 * n}", ("", "", "prim", "prim inv")[n]) for n in range(4)
)
# c0: the number of vertices; c1, c2: place and colour of the first; c3 on: places of the others. A fan.
FAN = """
    mov r0, c0
    mov r4, c80.zzzz
    mov o0, c1
    mov o1, c2
    setemit 0
    emit
    mov o0, c3
    mov o1, c2
    setemit 1
    emit
    mov r5, c80.wwww
    mov r6, c80.wwww
    add r6, r6, r5
    add r6, r6, r5
    mov r7, c80.wwww
again:
    mova a0.x, r7.x
    mov o0, c3[a0.x]
    mul o1, r7.xxxx, c81
    setemit 2, prim
    emit
    mova a0.x, r7.x
    mov o0, c3[a0.x]
    mul o1, r7.xxxx, c81
    setemit 1
    emit
    add r7, r7, r5
    add r8, r7, r5
    cmp r8, lt, lt, r0
    jmpc cmp.x, again
    end
"""


@scene(4, 2, 32)
def geometry_shaders(s: Scene) -> None:
    """Four points (red, green, blue, yellow) that become squares; triangles of three vertices of two outputs each,
    twice as large; squares of fixed primitives of four vertices; fans of 3, 4 and 5 vertices, whose sizes stand in the
    index list. Lower row: squares whose second triangle lacks the winding bit, with back faces culled (half of each);
    only the first vertex's colour written (stale ones from two emissions ago, as output registers have two banks); the
    vertex program alone again (one triangle); points by index, the same point twice."""
    points = np.array([(0.5 * x, 0.5 * y, -0.5, 1) for x, y in CORNERS])
    hues = np.array([RED, GREEN, BLUE, YELLOW])

    def start(label: str, text: str, mode: str = "point", **options: int) -> None:
        s.cell(label).shader(VERTEX_PROGRAM).geometry_shader(program(text), mode, outputs=2, **options)

    def data(places: np.ndarray, colors: np.ndarray) -> int:
        address = s.put(np.concatenate([places, colors], axis=1).astype("<f4"))
        s.cl.attributes(Buffer(address, [("f32", 4), ("f32", 4)]))
        return len(places)

    start("points", SQUARES + FOURTH + "end")
    s.cl.draw_arrays(data(points, hues), primitive="geometry")
    start("triangles", TRIANGLES + "end", inputs=6)
    small = np.array([(-0.4, -0.4, -0.5, 1), (0.1, -0.4, -0.5, 1), (-0.4, 0.1, -0.5, 1)])
    small = np.concatenate([small, -small * [1, 1, -1, -1]])
    s.cl.draw_arrays(data(small, np.concatenate([hues[:3], hues[1:]])), primitive="geometry")
    start("fixed primitives", QUADS + "end", "fixed", vertices=4, first_uniform=10)
    strip = points[[0, 1, 3, 2]]
    eight = np.concatenate([strip * [0.8, 0.8, 1, 1] - [0.55, 0, 0, 0], strip * [0.8, 0.8, 1, 1] + [0.55, 0, 0, 0]])
    s.cl.draw_arrays(data(eight, np.concatenate([hues, hues[::-1]])), primitive="geometry")
    start("variable primitives", FAN, "variable", main_vertices=1)
    s.cl.uniforms(81, [0.3, 0.15, 0.05, 1], unit="GSH")
    places, indices = [], []
    for number, (x, y) in enumerate(((-0.5, -0.5), (0.5, -0.4), (0, 0.5))):
        size = 3 + number
        indices += [size, *range(len(places), len(places) + size)]
        turn = np.linspace(0.3, 2 * np.pi - 0.5, size)
        places += [(x + 0.4 * np.cos(a), y + 0.4 * np.sin(a), -0.5, 1) for a in turn]
    data(np.array(places), np.resize(hues, (len(places), 4)))
    s.cl.draw_elements(len(indices), s.put(np.array(indices, "<u2")), primitive="geometry")

    start("no winding bit, culled", SQUARES + UNTURNED + "end")
    s.cl.write("FACECULLING_CONFIG", mode="back (clockwise)")
    s.cl.draw_arrays(data(points, hues), primitive="geometry")
    s.cl.write("FACECULLING_CONFIG")
    once = SQUARES.replace("mov o1, v1", "nop").replace("nop", "mov o1, v1", 1)
    start("colour of the first only", once + FOURTH.replace("mov o1, v1", "nop") + "end")
    s.cl.draw_arrays(data(points, hues), primitive="geometry")
    s.cell("vertex program alone").no_geometry_shader().shader(VERTEX_PROGRAM)
    s.cl.draw_arrays(data(points, hues), primitive="triangles")
    start("points by index", SQUARES + FOURTH + "end")
    data(points, hues)
    s.cl.draw_elements(3, s.put(np.array([0, 2, 0], "u1")), wide=False, primitive="geometry")
