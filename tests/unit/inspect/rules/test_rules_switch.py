"""Each rule of the Switch has a recording in which it finds something, and one in which it finds nothing.

All that is said of a recording is kept in `findings_switch.json`. When a text should change, write them again and read
the difference:

    PYTHONPATH=tests python tests/unit/inspect/rules/test_rules_switch.py
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pocketgpu.builder.maxwell import Grid, MaxwellCaptureBuilder, PushBuffer, Surface, shader, size_of
from pocketgpu.capture.replay import Capture
from pocketgpu.facts.maxwell.headers import TIC, TSC
from pocketgpu.inspect.rules.checker import check
from pocketgpu.inspect.rules.registry import RULES, rule
from pocketgpu.maxwell.mme.assembler import assemble as macro
from pocketgpu.maxwell.sass.isa.assembler import assemble

KEPT = Path(__file__).with_name("findings_switch.json")
VERTEX = "ALD.128 R0, a[0x80]\nALD.64 R4, a[0x90]\nAST.128 a[0x70], R0\nAST.64 a[0x80], R4\nEXIT"
PIXEL = """
    IPA.PASS R5, a[0x7c], RZ
    MUFU.RCP R5, R5
    IPA R0, a[0x80], R5
    IPA R1, a[0x84], R5
    TEX R0, R0, RZ, 0x0, 2D, 0xf
    EXIT
"""
SIZE, NOWHERE = 32, 0x60_0000_0000
HEADER = {
    "COMPONENTS": 8, "R_DATA_TYPE": 2, "G_DATA_TYPE": 2, "B_DATA_TYPE": 2, "A_DATA_TYPE": 2, "X_SOURCE": 2,
    "Y_SOURCE": 3, "Z_SOURCE": 4, "W_SOURCE": 5, "WIDTH_MINUS_ONE": 15, "HEIGHT_MINUS_ONE": 15, "NORMALIZED_COORDS": 1,
    "TEXTURE_TYPE": 1, "HEADER_VERSION": 2, "PITCH_BITS20TO5": 2,
}  # fmt: skip
# R2:R3 is an address of the output: the thread's own word, or the first one.
OWN = """
    S2R R0, SR_CTAID.X
    S2R R1, SR_TID.X
    ISCADD R4, R0, R1, 0x5
    SHL R2, R4, 0x2
    IADD R2.CC, R2, c[0x0][0x0]
    IADD.X R3, RZ, c[0x0][0x4]
    STG.E [R2], R4
    EXIT
"""
SHARED = "S2R R4, SR_CTAID.X\nMOV R2, c[0x0][0x0]\nMOV R3, c[0x0][0x4]\nSTG.E [R2], R4\nEXIT"


@dataclass
class Scene:
    """A textured triangle, a grid that writes numbers, and a present; tests break what they name."""

    vertex: str = VERTEX
    grid: str = OWN
    stages: tuple[str, ...] = ("vertex", "pixel")
    vertices: int | None = None
    texture_at_target: bool = False
    fence: int | None = None
    output: int | None = None
    grid_fields: dict[str, Any] = field(default_factory=dict)
    more: Callable[[MaxwellCaptureBuilder, Surface, PushBuffer], Any] = lambda capture, target, pb: None
    chained: bool = False
    before: tuple[tuple[Any, ...], ...] = ()
    """Methods with their values, written before the draw."""
    limit: int = 72
    """Bytes of the vertex stream."""
    constants: int = 256
    """Bytes of constant buffer 0."""
    handle: int = 0
    """The handle of the texture."""
    shows: bool = True
    """Whether the target of the draw is shown, and not another surface."""
    indices: int = 0
    """Bytes of an index buffer; 0 if the draw has no indices."""

    def capture(self) -> Capture:
        capture = MaxwellCaptureBuilder("a test")
        target = Surface(capture.allocate(size_of(SIZE, SIZE)), SIZE, SIZE)
        rows = [(-0.8, -0.8, 0, 1, 0, 0), (0.8, -0.8, 0, 1, 1, 0), (0, 0.8, 0, 1, 0, 1)]
        vertices = capture.put(np.array(rows, "<f4"))
        texels = target.address if self.texture_at_target else capture.put(np.full((16, 16, 4), 200, np.uint8))
        place = {"ADDRESS_BITS31TO5": (texels & 0xFFFFFFFF) >> 5, "ADDRESS_BITS47TO32": texels >> 32}
        headers = capture.put(struct.pack("<8I", *TIC["PITCH"].pack({**HEADER, **place})))
        samplers = capture.put(struct.pack("<8I", *TSC.pack({"MAG_FILTER": 2, "MIN_FILTER": 2})))
        handles = capture.put(struct.pack("<I", self.handle).ljust(256, b"\0"))
        programs = {"vertex": capture.put(shader("vertex", self.vertex).image),
                    "pixel": capture.put(shader("pixel", PIXEL).image)}  # fmt: skip
        pb = PushBuffer().bind("3D").plain_state().render_target(0, target).viewport(0, 0, SIZE, SIZE)
        pb.shaders({name: programs[name] for name in self.stages}).texture_pools(headers, samplers, 0)
        for stage in ("vertex", "pixel"):
            pb.constants(stage, 0, handles, self.constants)
        place_of = vertices if self.vertices is None else capture.allocate(self.vertices)
        pb.stream(0, place_of, 24, size=self.limit).attribute(0, 0, 0, "R32_G32_B32_A32", "FLOAT")
        pb.attribute(1, 0, 16, "R32_G32", "FLOAT").clear((0, 0, 0, 1))
        for name, *values in self.before:
            if name == "SET_ZT_A":
                pb.address(name, values[0] or target.address)
            else:
                pb.method(name, *values)
        if self.indices:
            place_of = capture.put(np.array([0, 1, 2], "<u2"))
            pb.draw_indexed("TRIANGLES", place_of, 3)
            # The same draw again, with the limit of the test.
            pb.address("SET_INDEX_BUFFER_C", place_of + self.indices - 1)
            pb.method("BEGIN", OP="TRIANGLES").method("SET_INDEX_BUFFER_F", 0, 3).method("END", 0)
        else:
            pb.draw("TRIANGLES", 3)
        output = capture.allocate(4096) if self.output is None else self.output
        constants = capture.put(struct.pack("<Q", output).ljust(256, b"\0"))
        qmd = capture.allocate(256)
        grid = Grid(capture.put(assemble(self.grid).code), (4,), (32,), constants={0: (constants, 256)},
                    after=qmd if self.chained else None, **self.grid_fields)  # fmt: skip
        pb.bind("compute").launch(qmd, grid)
        self.more(capture, target, pb)
        pb.on("3D").method("INCREMENT_SYNC_POINT", INDEX=capture.syncpoint(), CONDITION="ROP_WRITES_DONE")
        other = Surface(capture.allocate(size_of(SIZE, SIZE)), SIZE, SIZE)
        capture.submit(pb).present(target if self.shows else other, fence=self.fence)
        return Capture("scene", capture.log())


def blit(capture: MaxwellCaptureBuilder, target: Surface, pb: PushBuffer) -> None:
    pb.bind("2D").blit(target, target, (0, 0, 8, 8), (8, 8, 13, 13), filter="BILINEAR")


SCISSOR = ("SET_SCISSOR_ENABLE(0)", 1)
ROWS = ("SET_SCISSOR_VERTICAL(0)", SIZE << 16)
BLEND = (("SET_BLEND(0)", 1), ("SET_BLEND_STATE_PER_TARGET", 0), ("SET_BLEND_COLOR_OP", 0x8006),
         ("SET_BLEND_COLOR_SOURCE_COEFF", 0x4000), ("SET_BLEND_SEPARATE_FOR_ALPHA", 0))  # fmt: skip
DEPTH = (("SET_ZT_FORMAT", 0x15), ("SET_ZT_SELECT", 1), ("SET_ZT_SIZE_A", SIZE, SIZE, 1))
OVER = 0x5_7000_0000


@dataclass
class Case:
    """A rule, a scene in which it finds something, and words of what it says."""

    rule: str
    scene: Callable[[], Scene]
    says: str


CASES = [
    Case("switch.block-order", lambda: Scene(grid=SHARED), "depend on which block runs first"),
    Case("switch.never-written", lambda: Scene(vertices=4096), "vertex stream 0: 72 of 72 bytes"),
    Case("switch.no-program", lambda: Scene(stages=("pixel",)), "without a vertex program"),
    Case("switch.unbound-constants", lambda: Scene(vertex="MOV R9, c[0x5][0x0]\n" + VERTEX), "constant buffer 5"),
    Case("switch.target-texture", lambda: Scene(texture_at_target=True), "overlaps the colour target 0"),
    Case("switch.scissor-empty", lambda: Scene(before=(SCISSOR, ("SET_SCISSOR_HORIZONTAL(0)", 7 << 16 | 7), ROWS)),
         "columns 7 up to, not including, 7 (SET_SCISSOR_HORIZONTAL(0))"),
    Case("switch.viewport-number", lambda: Scene(before=(("SET_VIEWPORT_OFFSET_X(0)", float("nan")),)),
         "SET_VIEWPORT_OFFSET_X(0) is nan"),
    Case("switch.viewport-empty", lambda: Scene(before=(("SET_VIEWPORT_SCALE_Y(0)", 0.0),)),
         "SET_VIEWPORT_SCALE_Y(0) is 0"),
    Case("switch.viewport-outside", lambda: Scene(before=(("SET_VIEWPORT_OFFSET_X(0)", 1.5 * SIZE),)),
         "from 32 to 64 along x, beside the target of 32x32"),
    Case("switch.cull-both", lambda: Scene(before=(("OGL_SET_CULL", 1), ("OGL_SET_CULL_FACE", 0x408))),
         "OGL_SET_CULL_FACE FRONT_AND_BACK"),
    Case("switch.never-passes", lambda: Scene(before=(("SET_ALPHA_TEST", 1), ("SET_ALPHA_FUNC", 0x200))),
         "fail the alpha test, which never passes (SET_ALPHA_FUNC OGL_NEVER)"),
    Case("switch.no-target", lambda: Scene(before=(("SET_CT_SELECT", 0),)), "neither a colour nor a depth target"),
    Case("switch.writes-nothing", lambda: Scene(before=(("SET_CT_WRITE(0)", 0),)), "SET_CT_WRITE(0)"),
    Case("switch.raster-off", lambda: Scene(before=(("SET_RASTER_ENABLE", 0),)), "raster is off"),
    Case("switch.sample-mask", lambda: Scene(before=(("SET_SAMPLE_MASK", 1), *(
        (f"SET_SAMPLE_MASK_{n}", 0) for n in ("X0_Y0", "X1_Y0", "X0_Y1", "X1_Y1")))), "keeps no sample"),
    Case("switch.target-overlap", lambda: Scene(before=(*DEPTH, ("SET_ZT_A", 0))), "colour target 0 at"),
    Case("switch.blend-nothing", lambda: Scene(before=(*BLEND, ("SET_BLEND_COLOR_DEST_COEFF", 0x4001))),
         "SET_BLEND_COLOR_SOURCE_COEFF OGL_ZERO, SET_BLEND_COLOR_DEST_COEFF OGL_ONE"),
    Case("switch.stream-off", lambda: Scene(before=(("SET_VERTEX_STREAM_A_FORMAT(0)", 24),)),
         "attribute 0, whose stream 0"),
    Case("switch.index-limit", lambda: Scene(indices=5), "SET_INDEX_BUFFER_C"),
    Case("switch.vertex-limit", lambda: Scene(limit=71), "attribute 1 of vertex 2"),
    Case("switch.constants-small", lambda: Scene(vertex="MOV R9, c[0x0][0x24]\n" + VERTEX, constants=32),
         "reads c[0x0][0x24], and the buffer of that slot has 0x20 bytes"),
    Case("switch.texture-invalid", lambda: Scene(handle=1), "texture 1 at c[0x0][0x0], and the pool ends at 0"),
    Case("switch.target-unused", lambda: Scene(shows=False), "nothing reads or shows the colour target 0"),
    Case("switch.shown-never-written", lambda: Scene(shows=False), "nothing wrote the shown surface"),
    Case("switch.nothing-passes", lambda: Scene(before=(("SET_ALPHA_TEST", 1), ("SET_ALPHA_FUNC", 0x204),
                                                         ("SET_ALPHA_REF", 2.0))), "no sample of a draw passes"),
    Case("switch.draw-nothing", lambda: Scene(before=(("OGL_SET_CULL", 1), ("OGL_SET_CULL_FACE", 0x404),
                                                       ("OGL_SET_FRONT_FACE", 0x901))),
         "1 show the side that is culled (OGL_SET_CULL_FACE FRONT, OGL_SET_FRONT_FACE CCW)"),
    Case("switch.deadlock", lambda: Scene(more=lambda c, t, pb: pb.semaphore_acquire(c.allocate(64), 7)), "waits at"),
    Case("switch.fence", lambda: Scene(fence=9), "it is at 1"),
    Case("switch.unmapped", lambda: Scene(more=lambda c, t, pb: pb.bind("DMA copy").copy(NOWHERE, t.address, 64)),
         "not mapped"),
    Case("switch.fault", lambda: Scene(output=NOWHERE), "nothing is mapped at"),
    Case("switch.hang", lambda: Scene(chained=True), "QMDs that depend on each other"),
    Case("switch.illegal", lambda: Scene(more=lambda c, t, pb: pb.on("3D").write(0, 0x1234)), "1234"),
    Case("switch.unknown-method", lambda: Scene(more=lambda c, t, pb: pb.on("3D").write(0x52, 1)), "word 0x52"),
    Case("switch.macro", lambda: Scene(more=lambda c, t, pb: pb.on("3D").upload_macro(
        0, macro("exit\nnop"), 0).call_macro(0, 1, 2, 3)), "a parameter for a macro that does not wait"),
    Case("switch.doubt", lambda: Scene(more=blit), "odd factor"),
]  # fmt: skip


@cache
def findings(scene: Callable[[], Scene]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in check(scene().capture()).findings:
        found.setdefault(one.rule.id, []).append(str(one))
    return found


@cache
def kept() -> dict[str, dict[str, list[str]]]:
    """Rule -> all that is said of its recording."""
    found: dict[str, dict[str, list[str]]] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_a_rule_finds_what_it_is_about(case: Case) -> None:
    broken = findings(case.scene)
    assert case.says in "\n".join(broken.get(case.rule, [])), broken
    assert rule(case.rule).console == "Switch"
    assert broken == kept()[case.rule]


def test_copies_of_nothing_are_found() -> None:
    def copy(capture: MaxwellCaptureBuilder, target: Surface, pb: PushBuffer) -> None:
        pb.bind("DMA copy").copy(capture.allocate(4096), target.address, 64)

    (found,) = findings(lambda: Scene(more=copy))["switch.never-written"]
    assert "a copy: 64 of 64 bytes" in found


def test_nothing_is_said_of_a_sound_scene() -> None:
    assert not findings(Scene)


SOUND = {
    "switch.scissor-empty": Scene(before=(SCISSOR, ("SET_SCISSOR_HORIZONTAL(0)", 17 << 16 | 16), ROWS)),
    "switch.viewport-number": Scene(before=(("SET_VIEWPORT_OFFSET_Z(0)", 3.0e38),)),
    "switch.viewport-empty": Scene(before=(("SET_VIEWPORT_SCALE_Y(0)", -0.5),)),
    "switch.viewport-outside": Scene(before=(("SET_VIEWPORT_OFFSET_X(0)", 1.5 * SIZE - 1),)),
    "switch.cull-both": Scene(before=(("OGL_SET_CULL", 0), ("OGL_SET_CULL_FACE", 0x408))),
    "switch.never-passes": Scene(before=(("SET_ALPHA_TEST", 0), ("SET_ALPHA_FUNC", 0x200))),
    "switch.no-target": Scene(before=(("SET_CT_SELECT", 1),)),
    "switch.writes-nothing": Scene(before=(("SET_CT_WRITE(0)", 0x1000),)),
    "switch.raster-off": Scene(before=(("SET_RASTER_ENABLE", 0), ("SET_STREAM_OUTPUT", 1))),
    "switch.sample-mask": Scene(before=(("SET_SAMPLE_MASK", 1), ("SET_SAMPLE_MASK_X0_Y0", 0),
                                         ("SET_SAMPLE_MASK_X1_Y1", 1))),
    "switch.blend-nothing": Scene(before=(*BLEND, ("SET_BLEND_COLOR_DEST_COEFF", 0x4302))),
    "switch.stream-off": Scene(before=(("SET_VERTEX_STREAM_A_FORMAT(0)", 1 << 12 | 24),)),
    "switch.index-limit": Scene(indices=6),
    "switch.vertex-limit": Scene(limit=72),
    "switch.constants-small": Scene(vertex="MOV R9, c[0x0][0x1c]\n" + VERTEX, constants=32),
    "switch.texture-invalid": Scene(handle=0),
    "switch.target-unused": Scene(texture_at_target=True, shows=False),
    "switch.shown-never-written": Scene(shows=True),
    "switch.nothing-passes": Scene(before=(("SET_ALPHA_TEST", 1), ("SET_ALPHA_FUNC", 0x204), ("SET_ALPHA_REF", 0.5))),
    "switch.draw-nothing": Scene(before=(("OGL_SET_CULL", 1), ("OGL_SET_CULL_FACE", 0x405),
                                          ("OGL_SET_FRONT_FACE", 0x901))),
}  # fmt: skip
"""By rule, the nearest scene that it must not accuse."""


@pytest.mark.parametrize("rule", SOUND)
def test_the_nearest_sound_scene_is_not_accused(rule: str) -> None:
    assert rule not in {one.rule.id for one in check(SOUND[rule].capture()).findings}


def test_every_rule_has_a_case() -> None:
    assert [case.rule for case in CASES] == [one.id for one in RULES if one.console == "Switch"] == [*kept()]


if __name__ == "__main__":
    KEPT.write_text(json.dumps({case.rule: findings(case.scene) for case in CASES}, indent=1) + "\n", encoding="utf-8")
