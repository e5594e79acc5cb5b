"""What becomes of pixels: depth, stencil, alpha, blending, masks."""

from __future__ import annotations

from typing import Any

from zoo.stage import BLUE, GREEN, RED, WHITE, YELLOW

from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import DEPTH

from .stage import PIXEL, Scene, corners, scene

TO_RIGHT = ((0, 0, 0, 1), WHITE, WHITE, (0, 0, 0, 1))


def names(method: str, prefix: str = "") -> list[str]:
    """Names of a method's values, in order."""
    found = B197[method].fields[0].enum or {}
    return [name for _, name in sorted(found.items()) if name.startswith(prefix)]


@scene(8, 4, 16)
def depth_functions(s: Scene) -> None:
    """All functions in OpenGL's and Direct3D's numbers: a slope from 0 to 1 (yellow) against 0.5 (blue); below with
    depth not written, where a white quad at 0.6 shows what was stored."""
    for write in (1, 0):
        for prefix in ("OGL", "D3D"):
            for name in names("SET_DEPTH_FUNC", prefix):
                pb = s.cell(f"{name}{'' if write else ', not written'}")
                pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1)
                s.quad(BLUE)
                pb.method("SET_DEPTH_FUNC", V=name).method("SET_DEPTH_WRITE", write)
                s.quad(YELLOW, z=(0, 1, 1, 0), box=(-1, -0.6, 1, 1))
                pb.method("SET_DEPTH_FUNC", V="OGL_LESS").method("SET_DEPTH_WRITE", 0)
                s.quad(WHITE, z=0.6, box=(-1, 0.3, 1, 1))
    s.show_depth()


@scene(6, 4, 20)
def depth_formats(s: Scene) -> None:
    """Each format of depth targets in a target of its own, shown instead of colours: two slopes that cross, the nearer
    one kept; then bounds of depth; with stencil where there is any (5 where the second slope passed)."""
    s.surfaces.clear()
    for layout in DEPTH.values():
        for bounds in (False, True):
            pb = s.tile(f"{layout.name}{', bounds' if bounds else ''}", layout.name)
            w, h = s.box[2:]
            pb.viewport(0, 0, w, h).scissor((0, 0, w, h))
            pb.method("SET_CT_SELECT", TARGET_COUNT=0)
            pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1).method("SET_DEPTH_FUNC", V="OGL_LESS")
            s.quad(z=(0, 1, 1, 0))
            pb.method("SET_STENCIL_TEST", 1).method("SET_STENCIL_FUNC_REF", 5).method(
                "SET_STENCIL_OP_ZPASS", V="OGL_REPLACE"
            )
            pb.method("SET_DEPTH_BOUNDS_TEST", int(bounds))
            pb.method("SET_DEPTH_BOUNDS_MIN", 0.2).method("SET_DEPTH_BOUNDS_MAX", 0.7)
            s.quad(z=(0.3, 0.3, 0.6, 0.6), box=(-0.8, -0.8, 0.8, 0.8))


@scene(8, 6, 16)
def stencil(s: Scene) -> None:
    """Operations in all three places (a stencil of 0, 1, 254, 255 in bands; the left half fails, the right half fails
    depth below and passes above) in both numberings; functions with masks; two sides."""

    def prepare() -> Any:
        pb = s.pb
        pb.method("SET_STENCIL_TEST", 1).method("SET_STENCIL_OP_ZPASS", V="OGL_REPLACE").method("SET_DEPTH_TEST", 1)
        pb.method("SET_DEPTH_WRITE", 1)
        for n, value in enumerate((0, 1, 254, 255)):
            pb.method("SET_STENCIL_FUNC_REF", value)
            s.quad(box=(-1 + n * 0.5, -1, -0.5 + n * 0.5, 1), color=(0.1, 0.1, value / 255, 1), z=(0.2, 0.2, 0.8, 0.8))
        return pb.method("SET_DEPTH_FUNC", V="OGL_LESS")

    for prefix in ("OGL", "D3D"):
        for name in names("SET_STENCIL_OP_FAIL", prefix):
            s.cell(f"operation {name}")
            pb = prepare()
            pb.method("SET_STENCIL_FUNC", V="OGL_LESS").method("SET_STENCIL_FUNC_REF", 100).method(
                "SET_STENCIL_MASK", 0x3F
            )
            for where in ("FAIL", "ZFAIL", "ZPASS"):
                pb.method(f"SET_STENCIL_OP_{where}", V=name)
            s.quad(YELLOW)
    for prefix in ("OGL", "D3D"):
        for name in names("SET_STENCIL_FUNC", prefix):
            s.cell(f"function {name}")
            pb = prepare()
            pb.method("SET_STENCIL_FUNC", V=name).method("SET_STENCIL_FUNC_REF", 0x81).method(
                "SET_STENCIL_FUNC_MASK", 0xF1
            )
            pb.method("SET_STENCIL_OP_FAIL", V="OGL_INVERT").method("SET_STENCIL_OP_ZPASS", V="OGL_KEEP")
            s.quad(YELLOW)
    for name in names("SET_STENCIL_FUNC", "OGL"):
        for cull in (0, 1):
            s.cell(f"back {name}, {'fronts culled' if cull else 'both'}")
            pb = prepare()
            pb.method("SET_TWO_SIDED_STENCIL_TEST", 1).method("SET_STENCIL_OP_ZPASS", V="OGL_INCR")
            pb.method("OGL_SET_CULL", cull).method("OGL_SET_CULL_FACE", 0x404).method("SET_DEPTH_TEST", 0)
            pb.method("SET_BACK_STENCIL_FUNC", V=name).method("SET_BACK_STENCIL_FUNC_REF", 1)
            pb.method("SET_BACK_STENCIL_OP_ZPASS", V="OGL_DECRSAT").method("SET_BACK_STENCIL_OP_FAIL", V="OGL_ZERO")
            pb.method("SET_BACK_STENCIL_MASK", 0x7F)
            s.draw([(-1, -1), (1, -1), (-1, 1), (-1, 1), (1, -1), (1, 1)], [RED] * 3 + [GREEN] * 3)
            s.draw([(-0.5, -0.9), (-0.5, 0.9), (0.5, -0.9)], YELLOW)
    s.show_depth()


KILL = """
    IPA.PASS R12, a[0x7c], RZ
    MUFU.RCP R12, R12
    IPA R0, a[0x80], R12
    IPA R1, a[0x84], R12
    IPA R2, a[0x88], R12
    IPA R3, a[0x8c], R12
    FSETP.GT.AND P0, PT, R0, 0.5, PT
    @P0 KIL
    EXIT
"""
OWN_DEPTH = PIXEL.replace("EXIT", "FMUL R5, R0, 0.75\nEXIT")


@scene(6, 2, 20)
def early_and_late(s: Scene) -> None:
    """Pixels that a program kills (red over a half), early tests on and off, with a stencil that counts; depth from the
    program, alpha test with depth."""
    for early in (0, 1):
        for label, text, options in (("plain", PIXEL, {}), ("kills", KILL, {}), ("depth", OWN_DEPTH, {"depth": True})):
            for alpha in (0, 1):
                pb = s.cell(f"{label}, early {early}, alpha test {alpha}")
                pb.method("SET_API_MANDATED_EARLY_Z", early)
                pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1)
                s.quad(BLUE, z=(0.4, 0.4, 0.6, 0.6))
                s.programs(text, options=options)
                pb.method("SET_DEPTH_FUNC", V="OGL_LESS")
                pb.method("SET_STENCIL_TEST", 1).method("SET_STENCIL_OP_ZPASS", V="OGL_INCR")
                pb.method("SET_STENCIL_OP_ZFAIL", V="OGL_DECR")
                pb.method("SET_ALPHA_TEST", alpha).method("SET_ALPHA_FUNC", V="OGL_GREATER").method(
                    "SET_ALPHA_REF", 0.5
                )
                s.quad([(0, 1, 0, 0), (1, 1, 0, 0.4), (1, 1, 0, 1), (0, 1, 0, 0.6)])
    s.show_depth()


SOURCE = [(0.2, 0.9, 0.4, 0.0), (1.0, 0.3, 0.1, 0.5), (0.6, 0.6, 1.0, 1.0), (0.0, 0.5, 0.9, 0.7)]
DUAL = PIXEL.replace("EXIT", "FADD R4, -R1, 1\nFMUL R5, R0, 0.5\nFADD R6, R2, 0.125\nFADD R7, -R3, 1\nEXIT")
TWO = {"targets": ("rgba", "rgba")}


def under(s: Scene) -> None:
    """What is blended with: blue to the left, red to the right, alpha upward."""
    s.quad([(0.1, 0.3, 0.9, 0.1), (0.9, 0.4, 0.1, 0.2), (0.8, 0.7, 0.2, 0.9), (0.2, 0.8, 0.7, 0.8)])


@scene(12, 7, 14)
def blend_factors(s: Scene) -> None:
    """Every factor in both numberings, of the source in one cell and of the target in the next (the other factor is
    zero), for colour and alpha the other way round. The constant is (0.25, 0.5, 0.75, 0.6)."""
    for prefix in ("OGL", "D3D"):
        for name in names("SET_BLEND_COLOR_SOURCE_COEFF", prefix):
            for place, other in (("SOURCE", "DEST"), ("DEST", "SOURCE")):
                if "BOTH" in name and place == "DEST":
                    s.skip()  # it chooses both factors
                    continue
                pb = s.cell(f"{name} {place}")
                under(s)
                if "SRC1" in name:
                    s.programs(DUAL, options=TWO)
                pb.method("SET_BLEND_CONST_RED", 0.25, 0.5, 0.75, 0.6).method("SET_BLEND", 0, 1)
                zero = f"{prefix}_ZERO"
                for part, one, two in (("COLOR", place, other), ("ALPHA", other, place)):
                    if "BOTH" in name:
                        one, two = place, other
                    pb.method(f"SET_BLEND_{part}_{one}_COEFF", V=name).method(f"SET_BLEND_{part}_{two}_COEFF", V=zero)
                s.quad(SOURCE)


@scene(5, 5, 16)
def blend_equations(s: Scene) -> None:
    """Every equation in both numberings, with alpha's the other way round, for factors of alpha; then one set for all
    channels, sets per target; masks."""
    for prefix in ("OGL", "D3D"):
        found = names("SET_BLEND_COLOR_OP", prefix)
        for name, other in zip(found, found[::-1], strict=True):
            pb = s.cell(f"{name}, alpha {other}")
            under(s)
            pb.method("SET_BLEND", 0, 1).method("SET_BLEND_COLOR_OP", V=name).method("SET_BLEND_ALPHA_OP", V=other)
            for part in ("COLOR", "ALPHA"):
                pb.method(f"SET_BLEND_{part}_SOURCE_COEFF", V="OGL_SRC_ALPHA")
                pb.method(f"SET_BLEND_{part}_DEST_COEFF", V="OGL_ONE_MINUS_SRC_ALPHA")
            s.quad(SOURCE)
    for label in ("one set for all", "sets per target", "off"):
        pb = s.cell(label)
        under(s)
        pb.method("SET_BLEND", 0, int(label != "off"))
        pb.method("SET_BLEND_COLOR_SOURCE_COEFF", V="OGL_SRC_ALPHA").method("SET_BLEND_COLOR_DEST_COEFF", V="OGL_ONE")
        if label == "one set for all":
            pb.method("SET_BLEND_SEPARATE_FOR_ALPHA", 0)
        if label == "sets per target":
            pb.method("SET_BLEND_STATE_PER_TARGET", 1).method("SET_BLEND_PER_TARGET_SEPARATE_FOR_ALPHA", 0, 1)
            pb.method("SET_BLEND_PER_TARGET_COLOR_SOURCE_COEFF", 0, V="OGL_DST_COLOR")
            pb.method("SET_BLEND_PER_TARGET_COLOR_DEST_COEFF", 0, V="OGL_SRC_ALPHA")
        s.quad(SOURCE)
    for n, mask in enumerate((0, 1, 2, 4, 8, 5, 10, 15, 14, 7)):
        pb = s.cell(f"mask {mask:04b}")
        under(s)
        pb.method(
            "SET_CT_WRITE", n % 2, R_ENABLE=mask & 1, G_ENABLE=mask >> 1 & 1, B_ENABLE=mask >> 2 & 1, A_ENABLE=mask >> 3
        )
        pb.method(
            "SET_CT_WRITE", 0, R_ENABLE=mask & 1, G_ENABLE=mask >> 1 & 1, B_ENABLE=mask >> 2 & 1, A_ENABLE=mask >> 3
        )
        pb.method("SET_SINGLE_CT_WRITE_CONTROL", n % 2)
        s.quad(SOURCE)


@scene(8, 2, 16)
def logic_ops(s: Scene) -> None:
    """The sixteen operations on bits: the source grows to the right, the target upward (green the other way)."""
    for name in names("SET_LOGIC_OP_FUNC"):
        pb = s.cell(name)
        s.quad([(0, 1, 0, 0), (0, 1, 0, 0), (1, 0, 1, 1), (1, 0, 1, 1)])
        pb.method("SET_LOGIC_OP", 1).method("SET_LOGIC_OP_FUNC", V=name)
        s.quad([(0, 1, 0, 0), (1, 0, 1, 1), (1, 0, 1, 1), (0, 1, 0, 0)])


@scene(8, 3, 14)
def alpha_test(s: Scene) -> None:
    """Every function in both numberings against 0.5: bands of alpha 0, 0.25, 0.5, 0.75 and 1; then references."""
    bands = [(1, 0.25 + 0.75 * a, 0.2, a) for a in (0, 0.25, 0.5, 0.75, 1)]
    for prefix in ("OGL", "D3D"):
        for name in names("SET_ALPHA_FUNC", prefix):
            s.cell(name).method("SET_ALPHA_TEST", 1).method("SET_ALPHA_REF", 0.5).method("SET_ALPHA_FUNC", V=name)
            s.bands(bands)
    for reference in (0.0, 0.25, 0.75, 1.0, -1.0, 2.0):
        pb = s.cell(f"greater or equal {reference}")
        pb.method("SET_ALPHA_TEST", 1).method("SET_ALPHA_REF", reference).method("SET_ALPHA_FUNC", V="OGL_GEQUAL")
        s.bands(bands)
    s.cell("off").method("SET_ALPHA_FUNC", V="OGL_NEVER")
    s.bands(bands)
    s.cell("a triangle").method("SET_ALPHA_TEST", 1).method("SET_ALPHA_REF", 0.4).method("SET_ALPHA_FUNC", V="OGL_LESS")
    s.draw(corners(3), [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 1)])
