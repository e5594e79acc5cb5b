"""A slow model of a draw of the Switch, and the same draw as a recording: what funnels say is held to it.

The model is plain Python: integers for places, one pixel after the other. Corners have whole places in 1/256 pixel, so
that nothing is rounded; depth, colour and alpha are those of a primitive's first vertex, and the same at its others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, shader, size_of
from pocketgpu.capture.replay import Capture
from pocketgpu.inspect.switch.inspection import SwitchInspection

SIZE, STEPS = 32, 256
BLOCK_HEIGHT = 1
Box = tuple[int, int, int, int]
"""Left, top, right, bottom; the last two are not part of it."""
WHOLE: Box = (0, 0, SIZE, SIZE)
RESTART = 0xFFFF
Pixel = tuple[int, int]

VERTEX = """
    ALD.128 R0, a[0x80]
    ALD.128 R4, a[0x90]
    ALD.64 R8, a[0xa0]
    {}
    AST.128 a[0x70], R0
    AST.128 a[0x80], R4
    EXIT
"""
MOVED = "ALD.64 R10, a[0xb0]\nFADD R0, R0, R10\nFADD R1, R1, R11"
PIXEL = "".join(f"IPA.CONSTANT R{n}, a[{0x80 + 4 * n:#x}], RZ\n" for n in range(4)) + "{}EXIT"
KILLING = "FSETP.LT.AND P0, PT, R0, 0.25, PT\n@P0 KIL\n"
FORMATS = {
    "Z16": 16, "Z24S8": 24, "X8Z24": 24, "S8Z24": 24, "ZF32": 0, "ZF32_X24S8": 0, "S8": -1, "V8Z24": 24,
    "X8Z24_X16V8S8": 24, "ZF32_X16V8X8": 0, "ZF32_X16V8S8": 0,
}  # fmt: skip
"""Bits of depth; 0: a float; -1: none."""
STENCILS = ("Z24S8", "S8Z24", "ZF32_X24S8", "S8", "X8Z24_X16V8S8", "ZF32_X16V8S8")
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "NEVER": lambda a, b: False, "ALWAYS": lambda a, b: True, "EQUAL": lambda a, b: a == b,
    "NOTEQUAL": lambda a, b: a != b, "LESS": lambda a, b: a < b, "LEQUAL": lambda a, b: a <= b,
    "GREATER": lambda a, b: a > b, "GEQUAL": lambda a, b: a >= b,
}  # fmt: skip
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "KEEP": lambda s, r: s, "ZERO": lambda s, r: 0, "REPLACE": lambda s, r: r, "INCRSAT": lambda s, r: min(s + 1, 255),
    "DECRSAT": lambda s, r: max(s - 1, 0), "INVERT": lambda s, r: s ^ 255, "INCR": lambda s, r: (s + 1) & 255,
    "DECR": lambda s, r: (s - 1) & 255,
}  # fmt: skip


@dataclass(frozen=True)
class Vertex:
    """x, y in 1/256 pixel, y down. broken: its x is NaN. extra: the viewport's number, or the distance from user clip
    plane 0."""

    x: int
    y: int
    z: float = 0.5
    colour: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    extra: float = 0.0
    broken: bool = False


@dataclass(frozen=True)
class Face:
    """Stencil of a side of polygons."""

    function: str = "ALWAYS"
    reference: int = 0
    compared: int = 255
    written: int = 255
    fail: str = "KEEP"
    depth_fail: str = "KEEP"
    passes: str = "KEEP"


@dataclass(frozen=True)
class Registers:
    """Registers of a draw. scissors: by number of the viewport; None: off. viewports: whether vertices choose theirs;
    planes: whether they have a distance from user clip plane 0. depth, alpha, stencil: None: off; stencil is (front,
    back), back None with one side for both."""

    scissors: tuple[Box | None, ...] = (None,)
    cull: str | None = None
    front: str = "CCW"
    depth: str | None = None
    write: bool = True
    alpha: tuple[str, float] | None = None
    stencil: tuple[Face, Face | None] | None = None
    viewports: bool = False
    planes: bool = False
    kills: bool = False
    methods: tuple[tuple[Any, ...], ...] = ()


@dataclass(frozen=True)
class Drawn:
    """A draw. indices: None for consecutive vertices; may have RESTART. moves: by instance, in pixels to the right and
    down."""

    topology: str
    vertices: tuple[Vertex, ...]
    tests: Registers = Registers()
    indices: tuple[int, ...] | None = None
    moves: tuple[Pixel, ...] = ()


@dataclass
class Counts:
    """What the model says of a draw."""

    primitives: int = 0
    triangles: int = 0
    broken: int = 0
    planes: Counter[str] = field(default_factory=Counter)
    culled: int = 0
    flat: int = 0
    shapes: int = 0
    covered: int = 0
    cut: int = 0
    """Pixels that shapes would cover without the scissor."""
    passed: int = 0
    """Fragments that pass what is tested before the program, or all tests if that comes first."""
    changed: int = 0
    depth_changed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Fragments by the test that rejects them."""


# -- topologies -------------------------------------------------------------------------------------------------------
def runs_of(draw: Drawn) -> list[list[int]]:
    """The numbers of vertices, split where strips restart."""
    found: list[list[int]] = [[]]
    for index in range(len(draw.vertices)) if draw.indices is None else draw.indices:
        if index == RESTART:
            found.append([])
        else:
            found[-1].append(index)
    return found


def triangles_of(topology: str, run: list[int]) -> list[tuple[int, list[tuple[int, int, int]]]]:
    """For each primitive of a run: its number in the run, and its triangles."""
    n = len(run)
    corner: list[list[tuple[int, int, int]]]
    if topology == "TRIANGLES":
        corner = [[(i, i + 1, i + 2)] for i in range(0, n - 2, 3)]
    elif topology == "TRIANGLE_STRIP":
        corner = [[(i, i + 1, i + 2) if i % 2 == 0 else (i + 1, i, i + 2)] for i in range(n - 2)]
    elif topology == "TRIANGLE_FAN":
        corner = [[(0, i + 1, i + 2)] for i in range(n - 2)]
    elif topology == "QUADS":
        corner = [[(i, i + 1, i + 2), (i, i + 2, i + 3)] for i in range(0, n - 3, 4)]
    elif topology == "QUAD_STRIP":
        corner = [[(i, i + 1, i + 3), (i, i + 3, i + 2)] for i in range(0, n - 3, 2)]
    else:
        assert topology == "POLYGON"
        corner = [[(0, i + 1, i + 2) for i in range(n - 2)]] if n > 2 else []
    return [(i, [(run[a], run[b], run[c]) for a, b, c in each]) for i, each in enumerate(corner)]


# -- one triangle -----------------------------------------------------------------------------------------------------
Corner = tuple[int, int]


def area_of(corners: list[Corner]) -> int:
    """Twice the area; positive if clockwise on the screen, where y goes down."""
    (ax, ay), (bx, by), (cx, cy) = corners
    return (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)


def inside(corners: list[Corner], x: int, y: int) -> bool:
    """Whether a point (1/256 pixel) is in a triangle; of its edges, the left and the upper ones belong to it."""
    turn = corners if area_of(corners) > 0 else corners[::-1]
    for n in range(3):
        (x0, y0), (x1, y1) = turn[n], turn[(n + 1) % 3]
        side = (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)
        left, upper = y1 < y0, y1 == y0 and x1 > x0
        if side < 0 or (side == 0 and not (left or upper)):
            return False
    return True


def centres(corners: list[Corner]) -> list[Pixel]:
    """Pixels near a triangle whose centres are inside."""
    xs, ys = ([corner[n] // STEPS for corner in corners] for n in range(2))
    return [
        (px, py)
        for py in range(min(ys) - 1, max(ys) + 2)
        for px in range(min(xs) - 1, max(xs) + 2)
        if inside(corners, px * STEPS + STEPS // 2, py * STEPS + STEPS // 2)
    ]


def within(pixel: Pixel, box: Box) -> bool:
    return box[0] <= pixel[0] < box[2] and box[1] <= pixel[1] < box[3]


def meets(corners: list[Corner], box: Box) -> bool:
    """Whether the box of the centres that a triangle may cover has a pixel of another box."""
    for n in range(2):
        low = math.ceil((min(corner[n] for corner in corners) - STEPS // 2) / STEPS)
        high = math.floor((max(corner[n] for corner in corners) - STEPS // 2) / STEPS)
        if max(low, box[n]) > min(high, box[n + 2] - 1):
            return False
    return True


def stored(format: str, depth: float) -> float:
    """Depth as a format stores it: a whole number of steps, halves up; floats as they are."""
    bits = FORMATS[format]
    return math.floor(depth * ((1 << bits) - 1) + 0.5) if bits > 0 else float(np.float32(depth))


# -- the target -------------------------------------------------------------------------------------------------------
class Model:
    """The target and the depth target, all of one colour, depth and stencil at first."""

    def __init__(self, format: str | None, depth: float = 1.0, stencil: int = 0) -> None:
        self.format = format
        self.colours: dict[Pixel, tuple[int, ...]] = {}
        self.depths: dict[Pixel, float] = {}
        self.stencils: dict[Pixel, int] = {}
        self.fates: dict[Pixel, list[str]] = {}
        """What became of the fragments of the last draw, by pixel, as answers tell it."""
        for x in range(SIZE):
            for y in range(SIZE):
                self.colours[x, y] = (0, 0, 0, 255)
                self.depths[x, y] = stored(format, depth) if format is not None and format != "S8" else 0.0
                self.stencils[x, y] = stencil if format in STENCILS else 0

    def draw(self, draw: Drawn, move: Pixel = (0, 0)) -> Counts:
        """Draw, and count. move: of the instance."""
        counts, tests = Counts(), draw.tests
        self.fates = {}
        before = dict(self.colours), dict(self.depths), dict(self.stencils)
        for run in runs_of(draw):
            for _, triangles in triangles_of(draw.topology, run):
                counts.primitives += 1
                for triangle in triangles:
                    counts.triangles += 1
                    self._triangle([draw.vertices[n] for n in triangle], tests, move, counts)
        counts.changed = sum(self.colours[at] != before[0][at] for at in self.colours)
        counts.depth_changed = sum(
            (self.depths[at], self.stencils[at]) != (before[1][at], before[2][at]) for at in self.depths
        )
        return counts

    def _triangle(self, vertices: list[Vertex], tests: Registers, move: Pixel, counts: Counts) -> None:
        corners = [(v.x + move[0] * STEPS, v.y + move[1] * STEPS) for v in vertices]
        if any(v.broken for v in vertices):
            counts.broken += 1
            return
        size = SIZE * STEPS
        for name, beyond in (
            ("left of the view", [x < 0 for x, _ in corners]), ("right of the view", [x > size for x, _ in corners]),
            ("below the view", [y > size for _, y in corners]), ("above the view", [y < 0 for _, y in corners]),
            ("nearer than the near plane", [v.z < 0 for v in vertices]),
            ("beyond the far plane", [v.z > 1 for v in vertices]),
            ("outside of user clip plane 0", [tests.planes and not v.extra >= 0 for v in vertices]),
        ):  # fmt: skip
            if all(beyond):
                counts.planes[name] += 1
                return
        twice = area_of(corners)
        if not twice:
            counts.flat += 1
            return
        front = (twice < 0) == (tests.front == "CCW")
        if tests.cull is not None and tests.cull in ("FRONT_AND_BACK", "FRONT" if front else "BACK"):
            counts.culled += 1
            return
        scissor = tests.scissors[int(vertices[-1].extra) if tests.viewports else 0]
        box = WHOLE if scissor is None else scissor
        met = meets(corners, (max(box[0], 0), max(box[1], 0), min(box[2], SIZE), min(box[3], SIZE)))
        counts.shapes += met
        for pixel in centres(corners):
            if not within(pixel, WHOLE):
                continue
            if within(pixel, box):
                counts.covered += 1
                self._fragment(pixel, vertices[0], front, tests, counts)
            else:
                counts.cut += met

    def _fragment(self, at: Pixel, vertex: Vertex, front: bool, tests: Registers, counts: Counts) -> None:
        removed = self._removed(vertex, tests)
        format = self.format
        has_depth = tests.depth is not None and format is not None and FORMATS[format] >= 0
        has_stencil = tests.stencil is not None and format in STENCILS
        # Tests come before the program if nothing shows that they do.
        early = has_depth and tests.depth != "ALWAYS" and not has_stencil and not tests.write
        if removed and not early:
            return self._reject(at, removed, counts)
        near, told = True, ""
        if has_depth:
            assert tests.depth is not None and format is not None
            new, old = stored(format, vertex.z), self.depths[at]
            near = COMPARE[tests.depth](new, old)
            text = compared(shown(format, new), tests.depth, f"stored {shown(format, old)}")
            told = f"depth test, {text} [SET_DEPTH_FUNC]"
        if has_stencil:
            assert tests.stencil is not None
            one, other = tests.stencil
            face = one if front or other is None else other
            was, mask = self.stencils[at], face.compared
            passes = COMPARE[face.function](face.reference & mask, was & mask)
            name = face.fail if not passes else face.passes if near else face.depth_fail
            value = OPERATIONS[name](was, face.reference)
            value = (value & face.written) | (was & ~face.written & 255)
            self.stencils[at] = value
            if not passes:
                text = compared(f"reference {face.reference & mask:#x}", face.function, f"stored {was & mask:#x}")
                register = "SET_STENCIL_FUNC" if front or other is None else "SET_BACK_STENCIL_FUNC"
                told = f"stencil test, {text} (mask {mask:#x}); stencil becomes {value:#x} [{register}]"
                return self._reject(at, told, counts)
        if not near:
            return self._reject(at, told, counts)
        counts.passed += 1
        if removed:
            return self._reject(at, removed, counts)
        if has_depth and tests.write:
            assert format is not None
            self.depths[at] = stored(format, vertex.z)
        colour = tuple(math.floor(c * 255 + 0.5) for c in vertex.colour)
        same = ", which changes nothing" if colour == self.colours[at] else ""
        self.fates.setdefault(at, []).append(f"written{same}")
        self.colours[at] = colour

    def _removed(self, vertex: Vertex, tests: Registers) -> str:
        """What the program or the alpha test says of a fragment; "" if both keep it."""
        if tests.kills and vertex.colour[0] < 0.25:
            return "discard, instruction "
        if tests.alpha is not None:
            function, reference = tests.alpha
            if not COMPARE[function](vertex.colour[3], reference):
                text = compared(f"alpha {np.float32(vertex.colour[3]):.7g}", function, f"{np.float32(reference):.7g}")
                return f"alpha test, {text} [SET_ALPHA_FUNC, SET_ALPHA_REF]"
        return ""

    def _reject(self, at: Pixel, told: str, counts: Counts) -> None:
        counts.reasons[told.partition(",")[0]] += 1
        self.fates.setdefault(at, []).append(f"rejected: {told}")


SIGNS = {"LESS": "<", "EQUAL": "=", "LEQUAL": "<=", "GREATER": ">", "NOTEQUAL": "!=", "GEQUAL": ">="}


def compared(left: str, function: str, right: str) -> str:
    """A comparison as an answer shows it."""
    return f"{left} {SIGNS[function]} {right}" if function in SIGNS else f"{function.lower()} ({left}, {right})"


def shown(format: str, depth: float) -> str:
    """A stored depth as an answer shows it: as a number, and as it is stored."""
    bits = FORMATS[format]
    return f"{depth / ((1 << bits) - 1):.8f} ({int(depth):#x})" if bits > 0 else f"{depth:.9g}"


# -- the recording ----------------------------------------------------------------------------------------------------
def square(
    x: int, y: int, width: int, height: int, z: float = 0.5, turned: bool = False, **more: Any
) -> list[Vertex]:  # fmt: skip
    """Two triangles, counter-clockwise for a viewer, or turned. Sizes are pixels."""
    places = (x, y), (x, y + height), (x + width, y + height), (x + width, y)
    a, b, c, d = ((px * STEPS, py * STEPS) for px, py in places)
    corners = [a, b, c, a, c, d] if not turned else [a, c, b, a, d, c]
    return [Vertex(*corner, z, **more) for corner in corners]


def _rows(vertices: tuple[Vertex, ...]) -> np.ndarray:
    rows = []
    for v in vertices:
        x = math.nan if v.broken else 2 * v.x / (SIZE * STEPS) - 1
        rows.append((x, 1 - 2 * v.y / (SIZE * STEPS), v.z, 1.0, *v.colour, v.extra, 0.0))
    return np.array(rows, "<f4")


def _state(pb: PushBuffer, tests: Registers) -> None:
    for n, box in enumerate(tests.scissors):
        pb.method("SET_SCISSOR_ENABLE", n, int(box is not None))
        if box is not None:
            pb.method("SET_SCISSOR_HORIZONTAL", n, XMIN=box[0], XMAX=box[2])
            pb.method("SET_SCISSOR_VERTICAL", n, YMIN=box[1], YMAX=box[3])
    pb.method("OGL_SET_CULL", int(tests.cull is not None)).method("OGL_SET_CULL_FACE", V=tests.cull or "BACK")
    pb.method("OGL_SET_FRONT_FACE", V=tests.front)
    pb.method("SET_DEPTH_TEST", int(tests.depth is not None)).method("SET_DEPTH_WRITE", int(tests.write))
    pb.method("SET_DEPTH_FUNC", V=f"OGL_{tests.depth or 'ALWAYS'}")
    pb.method("SET_ALPHA_TEST", int(tests.alpha is not None))
    if tests.alpha is not None:
        pb.method("SET_ALPHA_FUNC", V=f"OGL_{tests.alpha[0]}").method("SET_ALPHA_REF", float(tests.alpha[1]))
    pb.method("SET_STENCIL_TEST", int(tests.stencil is not None))
    front, back = tests.stencil or (Face(), None)
    pb.method("SET_TWO_SIDED_STENCIL_TEST", int(back is not None))
    # What the back has counts only with two sides.
    for prefix, face in (("SET_", front), ("SET_BACK_", back or Face("NEVER", 77, 1, 2, "ZERO", "ZERO", "ZERO"))):
        pb.method(f"{prefix}STENCIL_FUNC", V=f"OGL_{face.function}")
        pb.method(f"{prefix}STENCIL_FUNC_REF", face.reference).method(f"{prefix}STENCIL_FUNC_MASK", face.compared)
        pb.method(f"{prefix}STENCIL_MASK", face.written)
        for part, name in (("FAIL", face.fail), ("ZFAIL", face.depth_fail), ("ZPASS", face.passes)):
            pb.method(f"{prefix}STENCIL_OP_{part}", V=f"OGL_{name}")
    pb.method("SET_USER_CLIP_ENABLE", int(tests.planes))
    for name, *values in tests.methods:
        pb.method(name, *values)


def recording(
    draws: list[Drawn], format: str | None = None, depth: float = 1.0, stencil: int = 0, *, slot: int = 0,
    clear: bool = True,
) -> Capture:  # fmt: skip
    """The draws on a target, which is cleared, and a picture. slot: of the target."""
    capture = MaxwellCaptureBuilder("a model")
    target = Surface(capture.allocate(size_of(SIZE, SIZE)), SIZE, SIZE)
    pb = PushBuffer().bind("3D").plain_state().render_target(slot, target)
    pb.method("SET_CT_SELECT", TARGET_COUNT=1, TARGET0=slot)
    for n in range(4):
        pb.viewport(0, 0, SIZE, SIZE, number=n)
    if clear:
        pb.clear((0, 0, 0, 1), slot=slot, within_scissor=False)
    if format is not None:
        pb.depth_target(capture.allocate(1 << 16), SIZE, SIZE, format, block_height_log2=BLOCK_HEIGHT)
        pb.clear_depth(depth if format != "S8" else None, stencil if format in STENCILS else None)
    for n, (size, at) in enumerate((("R32_G32_B32_A32", 0), ("R32_G32_B32_A32", 16), ("R32_G32", 32))):
        pb.attribute(n, 0, at, size)
    programs: dict[str, int] = {}

    def program(stage: str, text: str) -> int:
        if text not in programs:
            programs[text] = capture.put(shader(stage, text).image)
        return programs[text]

    for draw in draws:
        tests = draw.tests
        parts = [MOVED] if draw.moves else []
        parts += ["F2I.U32.F32 R8, R8\nAST a[0x68], R8"] if tests.viewports else []
        parts += ["AST a[0x2c0], R8"] if tests.planes else []
        pb.shaders({
            "vertex": program("vertex", VERTEX.format("\n".join(parts))),
            "pixel": program("pixel", PIXEL.format(KILLING if tests.kills else "")),
        })  # fmt: skip
        rows = _rows(draw.vertices)
        pb.stream(0, capture.put(rows), 40, size=rows.nbytes)
        if draw.moves:
            moves = np.array([(2 * x / SIZE, -2 * y / SIZE) for x, y in draw.moves], "<f4")
            pb.stream(1, capture.put(moves), 8, size=moves.nbytes, divisor=1).attribute(3, 1, 0, "R32_G32")
        _state(pb, tests)
        count = len(draw.moves) or 1
        if draw.indices is None:
            pb.draw(draw.topology, len(draw.vertices), instances=count)
        else:
            pb.method("SET_DA_PRIMITIVE_RESTART", int(RESTART in draw.indices))
            pb.method("SET_DA_PRIMITIVE_RESTART_INDEX", RESTART)
            indices = capture.put(np.array(draw.indices, "<u2"))
            pb.draw_indexed(draw.topology, indices, len(draw.indices), instances=count)
    capture.submit(pb).present(target)
    return Capture("model", capture.log())


def look(
    draws: list[Drawn], format: str | None = None, depth: float = 1.0, stencil: int = 0, **more: Any
) -> SwitchInspection:  # fmt: skip
    """The recording, looked into."""
    return SwitchInspection(recording(draws, format, depth, stencil, **more))
