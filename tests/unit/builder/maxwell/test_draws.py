"""Draws in built pushbuffers: headers read off assembly text, methods of one call each."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.builder.maxwell import PushBuffer, shader
from pocketgpu.builder.maxwell.shaders import ALIGNMENT, PADDING
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.graphics.programs.headers import FLAT, HEADER_SIZE, LINEAR, PERSPECTIVE, Header
from pocketgpu.maxwell.sass.isa.decoder import decode_program


def log(pb: PushBuffer) -> list[tuple[str, int]]:
    """Label and value of each write, as headers say."""
    names = {method.word + n * method.stride: (method.name, n) for method in B197 for n in range(method.count or 1)}
    out, words, at = [], pb.words.tolist(), 0
    while at < len(words):
        form, count, word = words[at] >> 29, words[at] >> 16 & 0x1FFF, words[at] & 0x1FFF
        values = [count] if form == 4 else words[at + 1 : at + 1 + count]
        for i, value in enumerate(values):
            name, n = names.get(word + (i if form == 1 else 0), ("other", 0))
            out.append((f"{name}[{n}]" if n else name, value))
        at += 1 if form == 4 else 1 + count
    return out


def writes(pb: PushBuffer) -> dict[str, int]:
    """The last value of each register."""
    return dict(log(pb))


def test_a_header_tells_what_the_code_does() -> None:
    vertex = shader("vertex", "ALD.96 R0, a[0x90]\nALD R3, a[0x2fc]\nAST.128 a[0x70], R0\nAST a[0xb4], R0\nEXIT")
    header = Header.of(vertex.header)
    assert header.fits and set(header.inputs) == {0x90, 0x94, 0x98, 0x2FC}
    assert header.outputs == (0x70, 0x74, 0x78, 0x7C, 0xB4)
    text = """
        IPA.PASS R9, a[0x7c], RZ
        IPA R0, a[0x80], R9
        IPA.PASS R1, a[0x84], RZ
        IPA.CONSTANT R2, a[0x88], RZ
        KIL
        STG.E [R4], R0
        EXIT
    """
    pixel = shader("pixel", text, targets=("rgba", "rg"), depth=True, inputs={0x8C: LINEAR})
    header = Header.of(pixel.header)
    wanted = {0x80: PERSPECTIVE, 0x84: LINEAR, 0x88: FLAT, 0x8C: LINEAR}
    assert {address: mode for address, mode in header.inputs.items() if address >= 0x80} == wanted
    assert 0x7C in header.inputs and header.targets[:3] == (15, 3, 0)
    assert header.kills and header.stores and header.many_targets and header.depth_register == 9
    plain = Header.of(shader("pixel", "EXIT").header)
    assert not (plain.kills or plain.stores or plain.many_targets) and plain.depth_register is None


def test_places_that_a_register_chooses_are_not_in_the_header() -> None:
    """Only those that the code names; others have to be given."""
    text = "ALD.PHYS R0, a[R3]\nALD R1, a[0xa0]\nAST.PHYS a[R3], R0\nAST a[0x70], R1\nEXIT"
    header = Header.of(shader("vertex", text).header)
    assert (set(header.inputs), header.outputs) == ({0xA0}, (0x70,))
    header = Header.of(shader("vertex", text, inputs=(0x90, 0x94), outputs=(0xB0,)).header)
    assert (set(header.inputs), header.outputs) == ({0x90, 0x94, 0xA0}, (0x70, 0xB0))


def test_an_image_has_its_code_where_it_belongs() -> None:
    made = shader("geometry", "EXIT", OUTPUT_TOPOLOGY=7, MAX_OUTPUT_VERTEX_COUNT=12)
    assert (PADDING + HEADER_SIZE) % ALIGNMENT == 0
    assert made.image[PADDING:][:HEADER_SIZE] == made.header and made.image[PADDING + HEADER_SIZE :] == made.code
    assert Header.of(made.header).topology == 7 and Header.of(made.header).most_vertices == 12


@pytest.mark.parametrize(("stage", "fields"), [("hull", {}), ("vertex", {"NO_SUCH": 1}), ("vertex", {"VERSION": 999})])
def test_what_no_header_tells_is_refused(stage: str, fields: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        shader(stage, "EXIT", **fields)


def test_geometry_programs_may_pass_vertices_on() -> None:
    text = "MOV R0, RZ\nAST a[0x80], R0\nEXIT"
    assert [Header.of(shader("geometry", text, pass_through=on).header).pass_through for on in (False, True)] == [0, 1]
    with pytest.raises(UsageError, match="does not pass vertices on"):
        shader("vertex", text, pass_through=True)


def test_code_without_scheduling_gets_barriers() -> None:
    text = "ALD R0, a[0x80]\nAST a[0x70], R0\nEXIT"
    plain, careful = (shader("vertex", text, barriers=on) for on in (False, True))
    assert plain.header == careful.header and plain.code != careful.code
    assert [instruction.control.wait_mask for instruction in decode_program(plain.code)] == [0, 0, 0]
    assert [instruction.control.wait_mask for instruction in decode_program(careful.code)] == [3, 3, 3]


def test_a_viewport_and_its_mirror() -> None:
    found = writes(PushBuffer().viewport(10, 20, 101.5, 50, near=0.25, far=0.75))

    def number(name: str) -> float:
        return float(np.uint32(found[name]).view(np.float32))

    assert (number("SET_VIEWPORT_SCALE_X"), number("SET_VIEWPORT_OFFSET_X")) == (50.75, 60.75)
    assert (number("SET_VIEWPORT_SCALE_Y"), number("SET_VIEWPORT_OFFSET_Y")) == (-25.0, 45.0)
    assert (number("SET_VIEWPORT_SCALE_Z"), number("SET_VIEWPORT_OFFSET_Z")) == (0.5, 0.25)
    assert (
        found["SET_VIEWPORT_CLIP_HORIZONTAL"] == 10 | 102 << 16 and found["SET_VIEWPORT_CLIP_VERTICAL"] == 20 | 50 << 16
    )
    found = writes(PushBuffer().viewport(40, 30, -50, -10))
    assert found["SET_VIEWPORT_CLIP_HORIZONTAL"] == 40 << 16 and found["SET_VIEWPORT_CLIP_VERTICAL"] == 20 | 10 << 16


def test_programs_and_streams() -> None:
    region = 0x3_0000_0000
    found = writes(PushBuffer().shaders({"vertex": region + 0x1000, "pixel": region + 0x2000}))
    assert (found["SET_PROGRAM_REGION_A"], found["SET_PROGRAM_REGION_B"]) == (3, 0)
    assert found["SET_PIPELINE_PROGRAM[1]"] == 0x1000 + PADDING and found["SET_PIPELINE_PROGRAM[5]"] == 0x2000 + PADDING
    on = [found[f"SET_PIPELINE_SHADER[{n}]" if n else "SET_PIPELINE_SHADER"] & 1 for n in range(6)]
    assert on == [0, 1, 0, 0, 0, 1]
    for wrong in ({"hull": region}, {"vertex": region, "pixel": region * 2}):
        with pytest.raises(UsageError):
            PushBuffer().shaders(wrong)
    found = writes(PushBuffer().stream(2, 0x5_0000_0000, 24, size=48, divisor=3))
    assert found["SET_VERTEX_STREAM_A_FORMAT[2]"] == 24 | 1 << 12 and found["SET_VERTEX_STREAM_A_FREQUENCY[2]"] == 3
    assert found["SET_VERTEX_STREAM_INSTANCE_A[2]"] == 1 and found["SET_VERTEX_STREAM_LIMIT_A_B[2]"] == 47


def test_draws() -> None:
    found = writes(PushBuffer().draw_indexed("TRIANGLE_STRIP", 0x5_0000_1000, 10, 4, size=4))
    assert found["SET_INDEX_BUFFER_B"] == 0x1000 and found["SET_INDEX_BUFFER_D"] == 0x1000 + 14 * 4 - 1
    assert (found["SET_INDEX_BUFFER_E"], found["SET_INDEX_BUFFER_F"], found["DRAW_INDEX_BUFFER"]) == (2, 4, 10)
    assert found["BEGIN"] == 5
    with pytest.raises(UsageError):
        PushBuffer().draw_indexed("POINTS", 0, 1, size=3)
    calls = [call for call in log(PushBuffer().draw("QUADS", 4, 8, instances=3)) if call[0] != "END"]
    begins = [("BEGIN", 7), ("BEGIN", 7 | 1 << 26), ("BEGIN", 7 | 1 << 26)]
    assert calls == [("SET_VERTEX_ARRAY_START", 8), *(c for begin in begins for c in (begin, ("DRAW_VERTEX_ARRAY", 4)))]
