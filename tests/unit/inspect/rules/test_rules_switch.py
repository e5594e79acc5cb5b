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

    def capture(self) -> Capture:
        capture = MaxwellCaptureBuilder("a test")
        target = Surface(capture.allocate(size_of(SIZE, SIZE)), SIZE, SIZE)
        rows = [(-0.8, -0.8, 0, 1, 0, 0), (0.8, -0.8, 0, 1, 1, 0), (0, 0.8, 0, 1, 0, 1)]
        vertices = capture.put(np.array(rows, "<f4"))
        texels = target.address if self.texture_at_target else capture.put(np.full((16, 16, 4), 200, np.uint8))
        place = {"ADDRESS_BITS31TO5": (texels & 0xFFFFFFFF) >> 5, "ADDRESS_BITS47TO32": texels >> 32}
        headers = capture.put(struct.pack("<8I", *TIC["PITCH"].pack({**HEADER, **place})))
        samplers = capture.put(struct.pack("<8I", *TSC.pack({"MAG_FILTER": 2, "MIN_FILTER": 2})))
        handles = capture.put(bytes(256))
        programs = {"vertex": capture.put(shader("vertex", self.vertex).image),
                    "pixel": capture.put(shader("pixel", PIXEL).image)}  # fmt: skip
        pb = PushBuffer().bind("3D").plain_state().render_target(0, target).viewport(0, 0, SIZE, SIZE)
        pb.shaders({name: programs[name] for name in self.stages}).texture_pools(headers, samplers, 0)
        for stage in ("vertex", "pixel"):
            pb.constants(stage, 0, handles, 256)
        place_of = vertices if self.vertices is None else capture.allocate(self.vertices)
        pb.stream(0, place_of, 24, size=72).attribute(0, 0, 0, "R32_G32_B32_A32", "FLOAT")
        pb.attribute(1, 0, 16, "R32_G32", "FLOAT").clear((0, 0, 0, 1)).draw("TRIANGLES", 3)
        output = capture.allocate(4096) if self.output is None else self.output
        constants = capture.put(struct.pack("<Q", output).ljust(256, b"\0"))
        qmd = capture.allocate(256)
        grid = Grid(capture.put(assemble(self.grid).code), (4,), (32,), constants={0: (constants, 256)},
                    after=qmd if self.chained else None, **self.grid_fields)  # fmt: skip
        pb.bind("compute").launch(qmd, grid)
        self.more(capture, target, pb)
        pb.on("3D").method("INCREMENT_SYNC_POINT", INDEX=capture.syncpoint(), CONDITION="ROP_WRITES_DONE")
        capture.submit(pb).present(target, fence=self.fence)
        return Capture("scene", capture.log())


def blit(capture: MaxwellCaptureBuilder, target: Surface, pb: PushBuffer) -> None:
    pb.bind("2D").blit(target, target, (0, 0, 8, 8), (8, 8, 13, 13), filter="BILINEAR")


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


def test_every_rule_has_a_case() -> None:
    assert [case.rule for case in CASES] == [one.id for one in RULES if one.console == "Switch"] == [*kept()]


if __name__ == "__main__":
    KEPT.write_text(json.dumps({case.rule: findings(case.scene) for case in CASES}, indent=1) + "\n", encoding="utf-8")
