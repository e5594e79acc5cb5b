"""Each rule of the Switch has a recording in which it finds something, and one in which it finds nothing.

All that is said of a recording is kept in `findings_switch.json`. When a text should change, write them again and read
the difference:

    PYTHONPATH=tests python tests/unit/inspect/rules/test_rules_switch.py
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import pytest
from support.strict_scenes_switch import NOWHERE, SHARED, SIZE, VERTEX, Scene
from support.strict_scenes_switch import ROWS as VERTICES

from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, size_of
from pocketgpu.inspect.rules.checker import check
from pocketgpu.inspect.rules.registry import RULES, rule
from pocketgpu.maxwell.mme.assembler import assemble as macro

KEPT = Path(__file__).with_name("findings_switch.json")
def blit(capture: MaxwellCaptureBuilder, target: Surface, pb: PushBuffer) -> None:
    pb.bind("2D").blit(target, target, (0, 0, 8, 8), (8, 8, 13, 13), filter="BILINEAR")


SCISSOR = ("SET_SCISSOR_ENABLE(0)", 1)
ROWS = ("SET_SCISSOR_VERTICAL(0)", SIZE << 16)
BLEND = (("SET_BLEND(0)", 1), ("SET_BLEND_STATE_PER_TARGET", 0), ("SET_BLEND_COLOR_OP", 0x8006),
         ("SET_BLEND_COLOR_SOURCE_COEFF", 0x4000), ("SET_BLEND_SEPARATE_FOR_ALPHA", 0))  # fmt: skip
DEPTH = (("SET_ZT_FORMAT", 0x15), ("SET_ZT_SELECT", 1), ("SET_ZT_SIZE_A", SIZE, SIZE, 1))
NAN = (float("nan"), 0.0, 0.0, 1.0, 0.0, 0.0)
TARGET = size_of(SIZE, SIZE)
"""Bytes of the target."""


def to_the_end(capture: MaxwellCaptureBuilder, target: Surface, pb: PushBuffer) -> None:
    """A copy whose source and target are the last bytes of their memory."""
    source, place = capture.put(bytes(4096)), capture.allocate(4096)
    pb.bind("DMA copy").copy(source + 4032, place + 4032, 64)


def released(capture: MaxwellCaptureBuilder, target: Surface, pb: PushBuffer) -> None:
    at = capture.allocate(64)
    pb.semaphore_release(at, 7).semaphore_acquire(at, 7)


@dataclass
class Case:
    """A rule, a scene in which it finds something, and words of what it says."""

    rule: str
    scene: Callable[[], Scene]
    says: str


CASES = [
    Case("switch.block-order", lambda: Scene(grid=SHARED), "on which block runs first"),
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
    Case("switch.vertex-stride", lambda: Scene(before=(("SET_VERTEX_STREAM_A_FORMAT(0)", 1 << 12 | 20),)),
         "attribute 1 ends at byte 24 of a vertex (SET_VERTEX_ATTRIBUTE_A(1)), and the next vertex of stream 0 begins "
         "at byte 20 (SET_VERTEX_STREAM_A_FORMAT(0))"),
    Case("switch.vertex-align", lambda: Scene(before=(("SET_VERTEX_STREAM_A_FORMAT(0)", 1 << 12 | 26),)),
         "attribute 0 has vertices of 26 bytes, no multiple of the 4 bytes of a component "
         "(SET_VERTEX_STREAM_A_FORMAT(0))"),
    Case("switch.target-input", lambda: Scene(inside=TARGET - 4), "attribute 0 of stream 0 at"),
    Case("switch.two-uses", lambda: Scene(inside=TARGET, beyond=TARGET + 64),
         "attribute 1 of stream 0 at 0x500004010+0x38 and a texture at 0x500004040+0x400 have bytes in common"),
    Case("switch.constants-unset", lambda: Scene(vertex="NOP\nMOV R9, c[0x0][0x10]\n" + VERTEX, written=16),
         "the vertex program reads c[0x0][0x10] at instruction 1 (MOV), and nothing wrote these bytes"),
    Case("switch.constants-small", lambda: Scene(vertex="MOV R9, c[0x0][0x24]\n" + VERTEX, constants=32),
         "reads c[0x0][0x24], and the buffer of that slot has 0x20 bytes"),
    Case("switch.texture-invalid", lambda: Scene(handle=1), "texture 1 at c[0x0][0x0], and the pool ends at 0"),
    Case("switch.target-unused", lambda: Scene(shows=False), "nothing reads or shows the colour target 0"),
    Case("switch.shown-never-written", lambda: Scene(shows=False), "nothing wrote the shown surface"),
    Case("switch.nothing-passes", lambda: Scene(before=(("SET_ALPHA_TEST", 1), ("SET_ALPHA_FUNC", 0x204),
                                                         ("SET_ALPHA_REF", 2.0))), "no sample of a draw passes"),
    Case("switch.culled", lambda: Scene(before=(("OGL_SET_CULL", 1), ("OGL_SET_CULL_FACE", 0x404),
                                                ("OGL_SET_FRONT_FACE", 0x901))),
         "1 shows the side that is culled (OGL_SET_CULL_FACE FRONT, OGL_SET_FRONT_FACE CCW)"),
    Case("switch.vertex-nan", lambda: Scene(rows=(NAN, *VERTICES[1:])), "1 has NaN or infinity in its positions"),
    Case("switch.draw-nothing", lambda: Scene(before=(SCISSOR, ROWS, ("SET_SCISSOR_HORIZONTAL(0)", 0))),
         "lies outside of the scissor"),
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
    "switch.vertex-nan": Scene(rows=(NAN, *VERTICES[1:], *VERTICES)),
    "switch.vertex-stride": Scene(before=(("SET_VERTEX_STREAM_A_FORMAT(0)", 1 << 12 | 24),)),
    "switch.vertex-align": Scene(before=(("SET_VERTEX_STREAM_A_FORMAT(0)", 1 << 12 | 28),)),
    "switch.target-input": Scene(inside=TARGET),
    "switch.two-uses": Scene(inside=TARGET, beyond=TARGET + 96),
    "switch.constants-unset": Scene(vertex="NOP\nMOV R9, c[0x0][0x10]\n" + VERTEX, written=20),
    "switch.block-order": Scene(),
    # The processor writes zeros, which memory has at first.
    "switch.never-written": Scene(vertex="MOV R9, c[0x0][0x0]\n" + VERTEX, written=4),
    "switch.no-program": Scene(stages=("vertex", "pixel")),
    "switch.unbound-constants": Scene(vertex="MOV R9, c[0x0][0x0]\n" + VERTEX),
    "switch.target-texture": Scene(beyond=TARGET),
    "switch.target-overlap": Scene(depth_at=TARGET),
    "switch.deadlock": Scene(more=released),
    "switch.fence": Scene(fence=1),
    "switch.unmapped": Scene(more=to_the_end),
    "switch.fault": Scene(ends=True),
    "switch.hang": Scene(chained=False),
    "switch.illegal": Scene(more=lambda c, t, pb: pb.on("3D").write(0, 0xB197)),
    "switch.unknown-method": Scene(more=lambda c, t, pb: pb.on("3D").write(0x50, 1)),
    "switch.macro": Scene(more=lambda c, t, pb: pb.on("3D").upload_macro(0, macro("exit\nnop"), 0).call_macro(0, 1)),
    "switch.doubt": Scene(more=lambda c, t, pb: pb.bind("2D").blit(t, t, (0, 0, 8, 8), (8, 8, 8, 8))),
    "switch.constants-small": Scene(vertex="MOV R9, c[0x0][0x1c]\n" + VERTEX, constants=32),
    "switch.texture-invalid": Scene(handle=0),
    "switch.target-unused": Scene(texture_at_target=True, shows=False),
    "switch.shown-never-written": Scene(shows=True),
    "switch.nothing-passes": Scene(before=(("SET_ALPHA_TEST", 1), ("SET_ALPHA_FUNC", 0x204), ("SET_ALPHA_REF", 0.5))),
    "switch.draw-nothing": Scene(before=(SCISSOR, ROWS, ("SET_SCISSOR_HORIZONTAL(0)", SIZE << 16))),
    "switch.culled": Scene(before=(("OGL_SET_CULL", 1), ("OGL_SET_CULL_FACE", 0x405), ("OGL_SET_FRONT_FACE", 0x901))),
}  # fmt: skip
"""By rule, the nearest scene that it must not accuse."""


def test_every_rule_has_a_sound_scene() -> None:
    assert set(SOUND) == {case.rule for case in CASES}


@pytest.mark.parametrize("rule", SOUND)
def test_the_nearest_sound_scene_is_not_accused(rule: str) -> None:
    assert rule not in {one.rule.id for one in check(SOUND[rule].capture()).findings}


TO_ONE = VERTEX.replace("EXIT", "MOV32I R9, 0x1\nAST a[0x68], R9\nEXIT")
"""Puts everything into viewport 1."""
OF_ONE = (
    ("SET_VIEWPORT_SCALE_X(1)", 16.0), ("SET_VIEWPORT_SCALE_Y(1)", -16.0), ("SET_VIEWPORT_OFFSET_X(1)", 16.0),
    ("SET_VIEWPORT_OFFSET_Y(1)", 16.0), ("SET_VIEWPORT_SCALE_Z(1)", 1.0), ("SET_VIEWPORT_CLIP_MAX_Z(1)", 1.0),
    ("SET_VIEWPORT_CLIP_HORIZONTAL(1)", SIZE << 16), ("SET_VIEWPORT_CLIP_VERTICAL(1)", SIZE << 16),
)  # fmt: skip
VIEWPORTS: list[tuple[str, tuple[tuple[object, ...], ...]]] = [
    ("switch.scissor-empty", (("SET_SCISSOR_ENABLE({})", 1), ("SET_SCISSOR_HORIZONTAL({})", 7 << 16 | 7),
                              ("SET_SCISSOR_VERTICAL({})", 32 << 16))),
    ("switch.viewport-empty", (("SET_VIEWPORT_SCALE_X({})", 0.0),)),
    ("switch.viewport-number", (("SET_VIEWPORT_OFFSET_Y({})", float("inf")),)),
    ("switch.viewport-outside", (("SET_VIEWPORT_OFFSET_Y({})", -16.0),)),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "methods"), VIEWPORTS, ids=[case[0] for case in VIEWPORTS])
def test_the_viewport_that_a_draw_uses_is_the_one_that_counts(
    rule: str, methods: tuple[tuple[object, ...], ...]
) -> None:
    """What is wrong with viewport 0 does not matter if all goes to viewport 1, and the other way round."""
    for used, program in ((0, VERTEX), (1, TO_ONE)):
        for broken in (0, 1):
            wrong = tuple((str(name).format(broken), *values) for name, *values in methods)
            found = findings(partial(Scene, vertex=program, before=(*OF_ONE, *wrong)))
            told = "\n".join(found.get(rule, []))
            assert bool(told) == (used == broken), (used, broken, found)
            assert not told or f"({broken})" in told


def test_words_that_no_load_wrote_but_the_pushbuffer() -> None:
    """Words that a copy, inline data or words for constants bring are written; copied ones only if their source was."""
    vertex = "MOV R9, c[0x0][0x10]\n" + VERTEX

    def unset(*before: tuple[object, ...], written: int = 16) -> bool:
        scene = Scene(vertex=vertex, written=written, before=before)
        return "switch.constants-unset" in {one.rule.id for one in check(scene.capture()).findings}

    assert unset()
    # The buffer that was bound last is that of the pixel program, with the same memory.
    assert not unset(("LOAD_CONSTANT_BUFFER_OFFSET", 16), ("LOAD_CONSTANT_BUFFER(0)", 0))
    assert unset(("LOAD_CONSTANT_BUFFER_OFFSET", 20), ("LOAD_CONSTANT_BUFFER(0)", 0))


OF_PROGRAMS = ("switch.cache-stale",)
"""Rules that recordings cannot break; their tests are in switch/test_switch_flushes.py."""


def test_every_rule_has_a_case() -> None:
    rules = [one.id for one in RULES if one.console == "Switch" and one.id not in OF_PROGRAMS]
    assert [case.rule for case in CASES] == rules == [*kept()]


if __name__ == "__main__":
    KEPT.write_text(json.dumps({case.rule: findings(case.scene) for case in CASES}, indent=1) + "\n", encoding="utf-8")
