"""Geometry shaders: the three ways in, emission, what stays between primitives and draws, the shared fourth unit.

What they draw is compared with the same triangles drawn without them.

Source: 3dbrew GPU/Internal Registers, GPU/Shader Instruction Set.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.builder import Buffer, CommandList, assemble
from pocketgpu.builder.uploads import pack_f24
from pocketgpu.facts.formats import BY_NAME
from pocketgpu.pica.core.layout import MAX_RECORDS, MAX_TRIANGLES
from pocketgpu.pica.memory.surface import decode

TARGET, DATA = 0x18000000, 0x20000000
SIZE = 64
RED, GREEN, BLUE, WHITE = (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1), (1, 1, 1, 1)
Vertex = tuple[Sequence[float], Sequence[float]]

PASS = assemble("""
    .out o0 position
    .out o1 color
    mov o0, v0
    mov o1, v1
    end
""")
# Three input vertices of two outputs make the triangle they are.
TRIANGLE = """
    mov o0, v0
    mov o1, v1
    setemit 0
    emit
    mov o0, v2
    mov o1, v3
    setemit 1
    emit
    mov o0, v4
    mov o1, v5
    setemit 2, prim
    emit
    end
"""


def program(text: str) -> Any:
    """A geometry program whose o0 is the position and o1 the colour."""
    return assemble(".out o0 position\n.out o1 color\n" + textwrap.dedent(text))


class Scene:
    """A machine with a target of SIZE x SIZE pixels, and lists for it."""

    def __init__(self, evaluator: str = "llvm", tier: str = "auto", **choices: str) -> None:
        chosen = {name.replace("__", "."): value for name, value in choices.items()}
        self.machine = pocketgpu.N3DS(evaluator=evaluator, tier=tier, switches=chosen)
        self._next = DATA
        self.clear()

    def clear(self) -> None:
        """A black target, and a list that begins with plain state."""
        self.machine.memory.write(TARGET, bytes(4 * SIZE * SIZE))
        self.cl = CommandList().plain_state().render_target(TARGET, SIZE, SIZE).shader(PASS)

    def place(self, data: bytes) -> int:
        address = self._next
        self._next += (len(data) + 63) & ~63
        self.machine.memory.write(address, data)
        return address

    def vertices(self, vertices: Sequence[Vertex]) -> None:
        """Vertices of position and colour become the attributes of the next draws."""
        rows = np.array([[*position, *color] for position, color in vertices], np.float32)
        self.address = self.place(rows.tobytes())
        self.cl.attributes(Buffer(self.address, [("f32", 4), ("f32", 4)]))

    def arrays(self, count: int, first: int = 0, restart: bool = True) -> None:
        """A draw with the geometry stage, without what drivers put around it."""
        if restart:
            self.cl.write_word("RESTART_PRIMITIVE", 1)
        self.cl.write("NUMVERTICES", count=count).write("VERTEX_OFFSET", first=first)
        self.cl.write("INDEXBUFFER_CONFIG", type="u16").write_word("DRAWARRAYS", 1)

    def elements(self, indices: Sequence[int], restart: bool = True) -> None:
        address = self.place(np.array(indices, np.uint16).tobytes())
        if restart:
            self.cl.write_word("RESTART_PRIMITIVE", 1)
        self.cl.write("NUMVERTICES", count=len(indices))
        self.cl.write("INDEXBUFFER_CONFIG", type="u16", offset=address - self.address).write_word("DRAWELEMENTS", 1)

    def draw(self, vertices: Sequence[Vertex], restart: bool = True) -> None:
        self.vertices(vertices)
        self.arrays(len(vertices), restart=restart)

    def picture(self) -> np.ndarray:
        """Run the list; the target, upside up."""
        assert self.machine.submit(self.cl.finalize().words)
        raw = self.machine.memory.read(TARGET, 4 * SIZE * SIZE)
        self.cl = CommandList()
        return decode(raw, BY_NAME["RGBA8"], SIZE, SIZE, "tiled")

    @property
    def events(self) -> list[str]:
        return [event.id for event in self.machine.events.drain()]


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene()


@pytest.fixture
def fresh(scene: Scene) -> Scene:
    """The shared machine, with a clean target; checks that the test left no event."""
    scene.clear()
    scene.machine.events.drain()
    return scene


def corner(x: float, y: float, color: Sequence[float] = WHITE) -> Vertex:
    """A vertex at a place of the target in pixels."""
    return (2 * x / SIZE - 1, 2 * y / SIZE - 1, -0.5, 1.0), color


def triangles(count: int, seed: int = 1) -> list[Vertex]:
    """Corners of random triangles."""
    random = np.random.default_rng(seed)
    places, colors = random.uniform(0, SIZE, (3 * count, 2)), random.uniform(0, 1, (3 * count, 4))
    return [corner(*place, color) for place, color in zip(places, colors.tolist(), strict=True)]


def plain(scene: Scene, vertices: Sequence[Vertex], **state: Any) -> np.ndarray:
    """What these triangles look like without a geometry shader."""
    scene.clear()
    if state:
        scene.cl.write("FACECULLING_CONFIG", **state)
    scene.vertices(vertices)
    scene.cl.draw_arrays(len(vertices))
    picture = scene.picture()
    assert picture.any()
    scene.clear()
    return picture


# -- point mode -------------------------------------------------------------------------------------------------------


def test_points_become_triangles(fresh: Scene) -> None:
    vertices = triangles(11)
    expected = plain(fresh, vertices)
    fresh.cl.geometry_shader(program(TRIANGLE), outputs=2, inputs=6)
    fresh.draw(vertices)
    assert (fresh.picture() == expected).all() and fresh.events == []
    assert fresh.machine.stats.vertices == 33


def test_more_primitives_than_run_or_are_shaded_at_once(fresh: Scene) -> None:
    """9000 points, each a pixel of its own colour: later ones in front of earlier ones."""
    square = program("""
        .constf c80, -0.015625, 0.015625, 0.0, 0.0
        mov o1, v1
        add o0, c80.xxzz, v0
        setemit 0
        emit
        mov o1, v1
        add o0, c80.yxzz, v0
        setemit 1
        emit
        add o0, c80.xyzz, v0
        setemit 2, prim
        emit
        add o0, c80.yyzz, v0
        setemit 0, prim inv
        emit
        end
    """)
    random = np.random.default_rng(2)
    places = random.integers(0, SIZE, (9000, 2))
    colors = random.integers(0, 256, (9000, 3))
    expected = np.zeros((SIZE, SIZE, 4), np.uint8)
    expected[SIZE - 1 - places[:, 1], places[:, 0], :3] = colors  # a later point overwrites
    expected[SIZE - 1 - places[:, 1], places[:, 0], 3] = 255
    vertices = [corner(x + 0.5, y + 0.5, (*c / 255, 1.0)) for (x, y), c in zip(places, colors, strict=True)]
    fresh.cl.geometry_shader(square, outputs=2)
    fresh.draw(vertices)
    assert (fresh.picture() == expected).all()


def test_inputs_go_where_the_permutation_says(fresh: Scene) -> None:
    vertices = triangles(3)
    expected = plain(fresh, vertices)
    turned = TRIANGLE
    for i in range(6):
        turned = turned.replace(f", v{i}\n", f", V{15 - i}\n")
    fresh.cl.geometry_shader(program(turned.replace("V", "v")), outputs=2, inputs=6)
    fresh.cl.write_words("GSH_ATTRIBUTES_PERMUTATION_LOW", [0x89ABCDEF, 0x01234567])
    fresh.draw(vertices)
    assert (fresh.picture() == expected).all()


def test_outputs_queue_up_one_by_one(fresh: Scene) -> None:
    """Three inputs of vertices with two outputs each: every second primitive starts in the middle of a vertex."""
    text = """
        mov o0, v0
        setemit 0
        emit
        mov o0, v1
        setemit 1
        emit
        mov o0, v2
        setemit 2, prim
        emit
        end
    """
    places = [corner(x, y)[0] for x, y in ((5, 5), (30, 8), (9, 40), (60, 60), (30, 55), (55, 20))]
    expected = plain(fresh, [(place, (0, 0, 0, 0)) for place in places] + triangles(1))
    white = plain(fresh, [(place, WHITE) for place in places])
    assert (expected != white).any()
    fresh.cl.geometry_shader(assemble(".out o0 position\n" + textwrap.dedent(text)), outputs=2, inputs=3)
    fresh.draw([(places[2 * i], places[2 * i + 1]) for i in range(3)])
    assert (fresh.picture() == white).all()  # what nothing is mapped to is 1


def test_immediate_vertices(fresh: Scene) -> None:
    vertices = triangles(4)
    expected = plain(fresh, [tuple(np.array(part, np.float32) for part in v) for v in vertices])  # type: ignore[misc]
    fresh.cl.geometry_shader(program(TRIANGLE), outputs=2, inputs=6)
    fresh.cl.write("VSH_NUM_ATTR", count=2).write("VSH_INPUTBUFFER_CONFIG", count=2, unit_mode=0xA0)
    fresh.cl.write_word("RESTART_PRIMITIVE", 1).write("FIXEDATTRIB_INDEX", index=15)
    fresh.cl.fifo("FIXEDATTRIB_DATA0", [w for v in vertices for part in v for w in pack_f24(part)])
    difference = np.abs(fresh.picture().astype(int) - expected).max(axis=2)
    assert (difference > 2).mean() < 0.01  # 24-bit floats move an edge a little


# -- fixed and variable mode ------------------------------------------------------------------------------------------

QUADS = """
    mov o0, c10
    mov o1, c11
    setemit 0
    emit
    mov o0, c12
    mov o1, c13
    setemit 1
    emit
    mov o0, c14
    mov o1, c15
    setemit 2, prim
    emit
    mov o0, c16
    mov o1, c17
    setemit 0, prim inv
    emit
    end
"""


def split(quads: Sequence[Vertex]) -> list[Vertex]:
    """The triangles that QUADS makes."""
    found = []
    for i in range(0, len(quads), 4):
        a, b, c, d = quads[i : i + 4]
        found += [a, b, c, b, d, c]
    return found


def test_fixed_primitives_lie_in_uniforms(fresh: Scene) -> None:
    quads = triangles(40)
    expected = plain(fresh, split(quads))
    fresh.cl.geometry_shader(program(QUADS), "fixed", outputs=2, vertices=4, first_uniform=10)
    fresh.draw(quads)
    assert (fresh.picture() == expected).all()


def test_uniforms_of_primitives_do_not_mix(fresh: Scene) -> None:
    """Another uniform is the same for all of 300 primitives, indexed ones are each one's own."""
    text = "\n    mova a0.x, c40.x\n" + QUADS.replace("mov o1, c11\n", "mov o1, c10[a0.x]\n").replace(
        "mov o1, c17\n", "mov o1, c41\n"
    )
    quads = triangles(400)
    wanted = [(p, (0.25, 0.5, 0.75, 1.0)) if i % 4 == 3 else (p, c) for i, (p, c) in enumerate(quads)]
    expected = plain(fresh, split(wanted))
    fresh.cl.geometry_shader(program(text), "fixed", outputs=2, vertices=4, first_uniform=10)
    fresh.cl.uniforms(40, [(1, 0, 0, 0), (0.25, 0.5, 0.75, 1.0)], unit="GSH")
    fresh.draw(quads)
    assert (fresh.picture() == expected).all()


# c0: how many vertices. c1, c2: position and colour of the first one; c3, c4: positions of the next ones.
SIZED = """
    mov o1, c2
    mov o0, c1
    setemit 0
    emit
    mov r0, c0
    mul o1, c50, r0
    mov o0, c3
    setemit 1
    emit
    mov o1, c2
    mov o0, c4
    setemit 2, prim
    emit
    end
"""


def sized(vertices: Sequence[Vertex], count: int) -> list[Vertex]:
    (a, color), (b, _), (c, _) = vertices[:3]
    return [(a, color), (b, [count * 0.125] * 4), (c, color)]


def test_variable_primitives_bring_their_sizes(fresh: Scene) -> None:
    vertices = triangles(30)
    lists = [[0, 1, 2], [10, 11, 12, 13, 14], [40, 3, 7, 8], [5, 6, 9]]
    indices = [i for part in lists for i in (len(part), *part)]
    indices.insert(4, 0)  # a primitive of no vertices is none
    expected = plain(fresh, [v for part in lists for v in sized([vertices[i] for i in part], len(part))])
    fresh.cl.geometry_shader(program(SIZED), "variable", outputs=2, main_vertices=1)
    fresh.cl.uniforms(50, [0.125] * 4, unit="GSH")
    fresh.vertices(vertices)
    fresh.elements(indices)
    assert (fresh.picture() == expected).all() and fresh.events == []


def test_main_vertices_keep_all_outputs(fresh: Scene) -> None:
    """With three main vertices the uniforms are c1, c2 | c3, c4 | c5, c6 | c7 ..."""
    text = """
        mov o0, c1
        mov o1, c2
        setemit 0
        emit
        mov o0, c3
        mov o1, c4
        setemit 1
        emit
        mov o0, c7
        mov o1, c6
        setemit 2, prim
        emit
        end
    """
    vertices = triangles(4)
    a, b, c, d = vertices[:4]
    expected = plain(fresh, [a, b, (d[0], c[1])])
    fresh.cl.geometry_shader(program(text), "variable", outputs=2, main_vertices=3)
    fresh.vertices(vertices)
    fresh.elements([4, 0, 1, 2, 3])
    assert (fresh.picture() == expected).all()


def test_a_large_primitive_stops_at_the_last_uniform(fresh: Scene) -> None:
    text = SIZED.replace("mov r0, c0", "nop").replace("mul o1, c50, r0", "mov o1, c2")
    vertices = triangles(2)
    (a, color), (b, _), (c, _) = vertices[:3]
    expected = plain(fresh, [(a, color), (b, color), (c, color)])
    fresh.cl.geometry_shader(program(text), "variable", outputs=2)
    fresh.vertices(vertices)
    fresh.elements([600, 0, 1, 2, *[3] * 597])
    layout = fresh.machine.work.layout
    after = fresh.machine.memory.arena[layout.geometry_uniforms + 96 * 16 :][:512]
    before = after.copy()
    assert (fresh.picture() == expected).all()
    assert (after == before).all()


def test_variable_primitives_without_an_index_list(fresh: Scene) -> None:
    fresh.cl.geometry_shader(program(SIZED), "variable", outputs=2)
    fresh.draw(triangles(3))
    assert not fresh.picture().any()
    assert fresh.events == ["draw.no-sizes"]


def test_unknown_modes_leave_the_draw_out(fresh: Scene) -> None:
    fresh.cl.geometry_shader(program(TRIANGLE), outputs=2, inputs=6).write_word("GSH_MISC0", 3)
    fresh.draw(triangles(3))
    assert not fresh.picture().any()
    assert fresh.events == ["draw.left-out"]


# -- between draws ----------------------------------------------------------------------------------------------------

WAYS: dict[str, tuple[str, dict[str, Any], int]] = {
    "point": (TRIANGLE, {"inputs": 6}, 3),
    "fixed": (QUADS, {"vertices": 4, "first_uniform": 10}, 4),
}


@pytest.mark.parametrize("mode", WAYS)
@pytest.mark.parametrize("restart", [False, True])
def test_unfinished_primitives_wait_for_the_next_draw(fresh: Scene, mode: str, restart: bool) -> None:
    text, more, each = WAYS[mode]
    vertices = triangles(12)[: 3 * each]
    make = split if mode == "fixed" else list
    # Without a restart all three primitives come to be; with it the first vertex is forgotten.
    left = vertices if not restart else vertices[1 : 1 + 2 * each]
    expected = plain(fresh, make(left))
    fresh.cl.geometry_shader(program(text), mode, outputs=2, **more)
    fresh.vertices(vertices)
    fresh.arrays(1)
    fresh.cl.write("GEOSTAGE_CONFIG").write("NUMVERTICES", count=0).write_word("DRAWARRAYS", 1)  # a draw without
    fresh.cl.write("GEOSTAGE_CONFIG", mode="on")
    fresh.arrays(3 * each - 1, first=1, restart=restart)
    assert (fresh.picture() == expected).all()


@pytest.mark.parametrize("cut", range(1, 9))
def test_variable_primitives_go_on_in_the_next_draw(fresh: Scene, cut: int) -> None:
    vertices = triangles(10)
    indices = [3, 0, 1, 2, 4, 9, 8, 7, 6, 3, 20, 21, 22]
    parts = [[0, 1, 2], [9, 8, 7, 6], [20, 21, 22]]
    expected = plain(fresh, [v for part in parts for v in sized([vertices[i] for i in part], len(part))])
    fresh.cl.geometry_shader(program(SIZED), "variable", outputs=2)
    fresh.cl.uniforms(50, [0.125] * 4, unit="GSH")
    fresh.vertices(vertices)
    fresh.elements(indices[:cut])
    fresh.elements(indices[cut:], restart=False)
    assert (fresh.picture() == expected).all()


def test_uploads_between_draws_reach_the_unit_and_nothing_else_changes(fresh: Scene) -> None:
    """A primitive's uniforms stay until they are uploaded again or the next primitive comes."""
    text = TRIANGLE.replace("o1, v1", "o1, c41").replace("o1, v3", "o1, c41").replace("o1, v5", "o1, c42")
    show = program(text)
    corners = [corner(5, 5), corner(60, 5), corner(5, 60)]
    quad = [corner(0, 0, RED), corner(0, 0, GREEN), corner(0, 0, BLUE), corner(0, 0, WHITE)]
    expected = plain(fresh, [(p, c) for (p, _), c in zip(corners, (RED, RED, BLUE), strict=True)])
    # The quad's colours go to c41, c43, ...; then c42 alone is uploaded.
    fresh.cl.geometry_shader(program(QUADS), "fixed", outputs=2, vertices=4, first_uniform=40)
    fresh.cl.uniforms(10, np.zeros((8, 4)), unit="GSH")
    fresh.draw(quad)
    fresh.cl.geometry_shader(show, outputs=2, inputs=6)
    fresh.cl.uniforms(42, BLUE, unit="GSH")
    fresh.draw(corners)
    assert (fresh.picture() == expected).all()


# -- emission ---------------------------------------------------------------------------------------------------------


def test_buffers_keep_their_vertices(fresh: Scene) -> None:
    """The first primitive fills the buffers; later ones, and those of later draws, exchange one vertex at a time. Other
    draws between them do not matter."""
    text = """
        ifu b0
            mov o0, v0
            mov o1, v1
            setemit 0
            emit
            mov o0, v0.yxzw
            mov o1, v1
            setemit 1
            emit
        else
            mov o0, v0
            mov o1, v1
            setemit 2, prim
            emit
        endif
        end
    """
    a, b = corner(2, 40, RED), corner(30, 60, GREEN)
    c, d = corner(50, 10, BLUE), corner(60, 60, WHITE)
    mirrored = (a[0][1], a[0][0], a[0][2], a[0][3])
    other = triangles(1)
    expected = plain(fresh, [*other, a, (mirrored, RED), b, a, (mirrored, RED), c, a, (mirrored, RED), d])
    fresh.cl.geometry_shader(program(text), outputs=2)
    fresh.cl.bool_uniforms({0: True}, unit="GSH")
    fresh.draw([a])
    fresh.cl.write("GEOSTAGE_CONFIG").write("GSH_OUTMAP_MASK", mask=3)
    fresh.draw(other)
    fresh.cl.write("GEOSTAGE_CONFIG", mode="on").bool_uniforms({}, unit="GSH")
    fresh.draw([b, c])
    fresh.draw([d])
    assert (fresh.picture() == expected).all()


STALE = """
    mov o0, v0
    mov o1, c20
    setemit 3
    emit
    mov o0, v0
    mov o1, c21
    setemit 0
    emit
    mov o0, v2
    setemit 1
    emit
    mov o0, v4
    setemit 2, prim
    emit
    end
"""


@pytest.mark.parametrize(("banks", "colors"), [("double", (GREEN, RED, GREEN)), ("single", (GREEN, GREEN, GREEN))])
@pytest.mark.parametrize("tier", ["auto", "general"])
def test_components_not_written_again(banks: str, colors: Sequence[Sequence[float]], tier: str) -> None:
    """They come from the vertex emitted two before, for registers change banks; or from the one before."""
    scene = Scene(geometry__output_banks=banks, tier=tier)
    corners = [corner(5, 5), corner(60, 9), corner(11, 60)]
    expected = plain(scene, [(place, color) for (place, _), color in zip(corners, colors, strict=True)])
    scene.cl.geometry_shader(program(STALE), outputs=2, inputs=6)
    scene.cl.uniforms(20, [RED, GREEN], unit="GSH")
    scene.draw(corners)
    assert (scene.picture() == expected).all()


@pytest.mark.parametrize(("winding", "order"), [("swap-first", (1, 0, 2)), ("reverse", (2, 1, 0))])
def test_winding_turns_triangles_round(winding: str, order: Sequence[int]) -> None:
    scene = Scene(geometry__winding=winding)
    inv = TRIANGLE.replace("prim", "prim inv")
    vertices = triangles(20)
    turned = [vertices[3 * i + k] for i in range(20) for k in (1, 0, 2)]
    expected = plain(scene, turned, mode=1)
    assert (expected != plain(scene, vertices, mode=1)).any()
    scene.cl.write("FACECULLING_CONFIG", mode=1).geometry_shader(program(inv), outputs=2, inputs=6)
    scene.draw(vertices)
    assert (scene.picture() == expected).all()
    # Both values draw alike; they differ in which vertex is the first one.
    slots = scene.machine.work.slots(3)
    assert (np.argsort(slots) == np.argsort(order)).all()


@pytest.mark.parametrize("buffers", ["4", "3"])
def test_the_fourth_buffer(buffers: str) -> None:
    """An EMIT by slot 3 can start a triangle of the other three; where there is no such buffer it is lost."""
    scene = Scene(geometry__emit_buffers=buffers)
    text = TRIANGLE.replace("setemit 2, prim\n    emit\n", "setemit 2\n    emit\n    setemit 3, prim\n    emit\n")
    vertices = triangles(1)
    expected = plain(scene, vertices)
    scene.cl.geometry_shader(program(text), outputs=2, inputs=6)
    scene.draw(vertices)
    assert (scene.picture() == (expected if buffers == "4" else 0)).all()


def test_only_enabled_outputs_reach_the_rasteriser(fresh: Scene) -> None:
    """The mask takes o2 and o5; the second of them is colour. Colours are positive and at most 1."""
    text = TRIANGLE.replace("o1,", "o5,").replace("o0,", "o2,").replace("emit\n", "emit\n    mov o1, c60\n", 1)
    made = assemble(".out o2 position\n.out o5 color\n" + textwrap.dedent(text))
    vertices = triangles(2)
    loud = [(p, [-3.0 * c[0], *c[1:]]) for p, c in vertices]
    expected = plain(fresh, [(p, [min(3 * c[0], 1.0), *c[1:]]) for p, c in vertices])
    fresh.cl.geometry_shader(made, outputs=2, inputs=6)
    fresh.draw(loud)
    assert (fresh.picture() == expected).all()


BOOL15 = """
    ifu b15
        mov r0, c20
    else
        mov r0, c21
    endif
    mov o0, v0
    mov o1, r0
    setemit 0
    emit
    mov o0, v2
    mov o1, r0
    setemit 1
    emit
    mov o0, v4
    mov o1, r0
    setemit 2, prim
    emit
    end
"""


@pytest.mark.parametrize(("rule", "after"), [("set", RED), ("keep", GREEN)])
@pytest.mark.parametrize("shared", [False, True])
def test_boolean_15_after_the_first_run(rule: str, after: Sequence[float], shared: bool) -> None:
    scene = Scene(geometry__bool15=rule)
    vertices = triangles(6)
    paint = lambda colors: [(p, colors[i // 3]) for i, (p, _) in enumerate(vertices)]  # noqa: E731
    expected = plain(scene, paint([GREEN, after, after, after, GREEN, after]))
    scene.cl.geometry_shader(program(BOOL15), outputs=2, inputs=6).bool_uniforms({3: True}, unit="GSH")
    scene.cl.uniforms(20, [RED, GREEN], unit="GSH")
    scene.vertices(vertices)
    scene.arrays(9)
    scene.arrays(3, first=9)  # still set
    if shared:  # a vertex unit takes the fourth one along
        scene.cl.write("GEOSTAGE_CONFIG").write("VSH_COM_MODE").bool_uniforms({3: True})
        scene.cl.write("VSH_COM_MODE", separate=True).write("GEOSTAGE_CONFIG", mode="on")
    else:
        scene.cl.bool_uniforms({3: True}, unit="GSH")
    scene.arrays(6, first=12)
    assert (scene.picture() == expected).all()


def test_what_was_carried_for_assembly_does_not_mix_with_emitted_triangles(fresh: Scene) -> None:
    vertices = triangles(2)
    expected = plain(fresh, vertices[3:])
    fresh.vertices(vertices)
    fresh.arrays(2)
    fresh.cl.geometry_shader(program(TRIANGLE), outputs=2, inputs=6)
    fresh.arrays(3, first=3, restart=False)
    assert (fresh.picture() == expected).all()


def test_programs_change_between_draws(fresh: Scene) -> None:
    """Draws that differ in the geometry program alone, and one that changes after a draw without."""
    programs = [TRIANGLE.replace("v1", f"c{20 + i}").replace("v3", "c20").replace("v5", "c20") for i in range(3)]
    vertices = triangles(4)
    colors = [(RED, RED, RED), (GREEN, RED, RED), None, (BLUE, RED, RED)]
    expected = plain(
        fresh,
        [(p, c if paint is None else paint[i % 3]) for i, (p, c) in enumerate(vertices) for paint in [colors[i // 3]]],
    )
    fresh.cl.geometry_shader(program(programs[0]), outputs=2, inputs=6).uniforms(20, [RED, GREEN, BLUE], unit="GSH")
    fresh.vertices(vertices)
    fresh.arrays(3)
    fresh.cl.upload_code(program(programs[1]).code, unit="GSH")
    fresh.arrays(3, first=3)
    fresh.cl.upload_code(program(programs[2]).code, unit="GSH").write("GEOSTAGE_CONFIG")
    fresh.arrays(3, first=6)
    fresh.cl.write("GEOSTAGE_CONFIG", mode="on")
    fresh.arrays(3, first=9)
    assert (fresh.picture() == expected).all()


def test_draws_that_read_what_they_write_run_one_by_one(fresh: Scene) -> None:
    """The target is a texture as well, though no stage uses it for colours."""
    fresh.cl.texture(0, TARGET, SIZE, SIZE)
    fresh.cl.combiner(0, ("replace", "vertex color"), ("replace", "texture 0"))
    fresh.cl.depth(None, write=False, colors="rgb")
    fresh.cl.geometry_shader(program(TRIANGLE), outputs=2, inputs=6)
    vertices = triangles(6)
    fresh.vertices(vertices)
    for i in range(6):
        fresh.arrays(3, first=3 * i)
    picture = fresh.picture()
    assert (picture[..., :3] == plain(fresh, vertices)[..., :3]).all()


# -- very much --------------------------------------------------------------------------------------------------------

# The triangle that TRIANGLE makes 3072 times: 256 rounds of a loop, twelve times over.
ROUNDS = "    loop i0\n        mov o0, v4\n        mov o1, v5\n        emit\n    endloop\n"
MANY = TRIANGLE.replace("    setemit 2, prim\n    emit\n", "    setemit 2, prim\n" + 12 * ROUNDS)


def test_programs_that_emit_very_much(fresh: Scene) -> None:
    """40 primitives make 122880 triangles: more than vertices and triangles have room for at once."""
    assert 40 * 3072 > MAX_RECORDS > MAX_TRIANGLES
    vertices = triangles(40)
    expected = plain(fresh, vertices)
    fresh.machine.stats.reset()
    fresh.cl.geometry_shader(program(MANY), outputs=2, inputs=6).int_uniform(0, 255, unit="GSH")
    fresh.draw(vertices)
    assert (fresh.picture() == expected).all()
    assert fresh.machine.stats.triangles == 40 * 3072 and fresh.events == []


def test_programs_without_end_hang(fresh: Scene) -> None:
    endless = program(TRIANGLE.replace("    end\n", "    again:\n    emit\n    jmpu !b7, again\n    end\n"))
    fresh.cl.geometry_shader(endless, outputs=2, inputs=6)
    fresh.draw(triangles(2))
    fresh.machine.submit(fresh.cl.finalize().words)
    (event,) = fresh.machine.events.drain()
    assert (event.kind, event.id) == ("hang", "shader.endless") and "geometry program" in event.message
    fresh.clear()
    vertices = triangles(2)
    expected = plain(fresh, vertices)
    fresh.cl.geometry_shader(program(TRIANGLE), outputs=2, inputs=6)
    fresh.draw(vertices)
    assert (fresh.picture() == expected).all()  # the next list is not affected


def test_vertices_that_must_be_shaded_exactly(fresh: Scene) -> None:
    """0 * infinity in the vertex program is 0 there, also on the way to a geometry program."""
    shader = assemble("""
        .out o0 position
        .out o1 color
        rcp r0, c8.x
        mul r0, c8.x, r0
        add o0, v0, r0
        mov o1, v1
        end
    """)
    vertices = triangles(3)
    expected = plain(fresh, vertices)
    fresh.cl.shader(shader).uniforms(8, [0.0] * 4)
    fresh.cl.geometry_shader(program(TRIANGLE), outputs=2, inputs=6)
    fresh.draw(vertices)
    assert (fresh.picture() == expected).all()


# -- the fourth unit --------------------------------------------------------------------------------------------------

SHARED = """
    .constf c30, 0.25, 0.5, 0.75, 1.0
    loop i1
        nop
        mov r0, c30
    endloop
    ifu b2
        mov o0, v0
        mov o1, r0
        setemit 0
        emit
        mov o0, v2
        mov o1, r0
        setemit 1
        emit
        mov o0, v4
        mov o1, r0
        setemit 2, prim
        emit
    endif
    end
"""


@pytest.mark.parametrize("how", ["shared", "separate", "on"])
def test_vertex_uploads_reach_the_fourth_unit_while_it_is_one_of_them(how: str) -> None:
    """Code, descriptors, uniforms, booleans, integers and the output mask, unless the unit is set up on its own or in
    use."""
    scene = Scene()
    made = program(SHARED)
    vertices = triangles(5)
    expected = plain(scene, [(p, (0.25, 0.5, 0.75, 1.0)) for p, _ in vertices])
    cl = scene.cl
    # First another program, which draws nothing.
    cl.geometry_shader(program("nop\nend"), outputs=2, inputs=6).bool_uniforms({}, unit="GSH")
    cl.write("GSH_OUTMAP_MASK", mask=0)
    cl.write("VSH_COM_MODE", separate=how == "separate").write("GEOSTAGE_CONFIG", mode="on" if how == "on" else "off")
    cl.upload_code(made.code).upload_descriptors(made.descriptors).uniforms(30, (0.25, 0.5, 0.75, 1.0))
    cl.bool_uniforms({2: True}).int_uniform(1, 0).write("VSH_OUTMAP_MASK", mask=3)
    # Then the vertex program again, into the vertex units alone.
    cl.write("VSH_COM_MODE", separate=True).shader(PASS)
    cl.write("GEOSTAGE_CONFIG", mode="on").write("GSH_ENTRYPOINT", entry=made.entry)
    scene.draw(vertices)
    assert (scene.picture() == (expected if how == "shared" else 0)).all()
    assert scene.events == []


# -- tiers and evaluators ---------------------------------------------------------------------------------------------


SOME = """
    mov r0, c12
    cmp c10, lt, gt, r0
    ifc cmp.x && !cmp.y
        mov o0, c12
        mov o1, c41
        setemit 2, prim
        emit
        mov r1, c13
        mul o1, c13, r1
        setemit 1, prim inv
        emit
    endif
    end
"""


def indexed(scene: Scene) -> None:
    """Fixed primitives with uniforms by address register, and lanes that part ways."""
    text = "\n    mova a0.x, c40.x\n" + QUADS.replace("mov o1, c11\n", "mov o1, c10[a0.x]\n").replace("    end\n", SOME)
    scene.cl.geometry_shader(program(text), "fixed", outputs=2, vertices=4, first_uniform=10)
    scene.cl.uniforms(40, [(1, 0, 0, 0), (0.25, 0.5, 0.75, 1.0)], unit="GSH")
    scene.draw(triangles(30, seed=9))


def points(scene: Scene) -> None:
    scene.cl.geometry_shader(program(BOOL15), outputs=2, inputs=6).bool_uniforms({}, unit="GSH")
    scene.cl.uniforms(20, [RED, GREEN], unit="GSH")
    scene.draw(triangles(9, seed=8))
    scene.draw(triangles(2, seed=7)[:5])


def variable(scene: Scene) -> None:
    scene.cl.geometry_shader(program(SIZED), "variable", outputs=2)
    scene.cl.uniforms(50, [0.125] * 4, unit="GSH")
    scene.vertices(triangles(10))
    scene.elements([3, 0, 1, 2, 4, 9, 8, 7, 6, 3, 20, 21, 22])


@pytest.mark.parametrize("choices", [{}, {"shader__precision": "f24", "geometry__winding": "reverse"}])
@pytest.mark.parametrize("paint", [indexed, points, variable])
def test_evaluators_and_tiers_draw_the_same(paint: Callable[[Scene], None], choices: dict[str, str]) -> None:
    pictures = []
    for choice in ({}, {"tier": "general"}, {"evaluator": "numpy"}):
        scene = Scene(**choice, **choices)
        paint(scene)
        pictures.append(scene.picture())
        assert scene.events == []
    assert pictures[0].any()
    assert (pictures[0] == pictures[1]).all() and (pictures[0] == pictures[2]).all()
