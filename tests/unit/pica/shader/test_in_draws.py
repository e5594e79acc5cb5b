"""Vertex programs inside of draws: what the translator does not take runs on the interpreter, and choices arrive."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble
from pocketgpu.builder.matrices import UPRIGHT
from pocketgpu.pica.shader.program import ProgramGraph, TooComplex

HEAD = ".out o0 position \n .out o1 color \n main: \n"
PASS = "dp4 o0.x, c0, v0 \n dp4 o0.y, c1, v0 \n dp4 o0.z, c2, v0 \n dp4 o0.w, c3, v0 \n"
# Never run, but there: under ever other entries of the if stack each address is many places.
MAZE = "".join(f"ifu b{n % 16}, {2 * n + 90}, {2 * n + 90 + n % 7} \n jmpc cmp.x, {n * 7 % 80} \n" for n in range(40))


def picture(text: str, tmp_path: Path, choices: dict[str, str] | None = None) -> np.ndarray:
    program = assemble(HEAD + text)
    capture = CaptureBuilder()
    corners = [[-0.8, -0.8, -0.5, 1, 0, 0], [0.8, -0.8, -0.5, 0, 1, 0], [0.0, 0.8, -0.5, 0, 0, 1]]
    vertices = capture.put(np.array(corners, np.float32))
    target = capture.allocate(240 * 400 * 4, region="VRAM")
    commands = CommandList().plain_state().render_target(target, 240, 400)
    commands.shader(program).uniforms(0, UPRIGHT)
    commands.attributes(Buffer(vertices, [("f32", 3), ("f32", 3)])).draw_arrays(3).end_drawing()
    capture.clear(target, 240, 400, 0x203040FF).submit(commands).present("top", target).end_frame()
    path = tmp_path / "draw.ctf.xz"
    capture.save(path)
    (frame,) = pocketgpu.open(path).render(switches=choices)
    assert not frame.warnings
    return np.asarray(frame.top.image).copy()


def test_a_program_of_too_many_places_draws_what_it_should(tmp_path: Path) -> None:
    maze = "jmpu !b0, draw \n" + MAZE + "nop \n" * 40 + "draw: \n" + PASS + "mov o1, v1 \n end"
    words = assemble(HEAD + maze)
    code, descriptors = np.zeros(512, int), np.zeros(128, int)
    code[: len(words.code)], descriptors[: len(words.descriptors)] = words.code, words.descriptors
    with pytest.raises(TooComplex):
        ProgramGraph(tuple(code.tolist()), tuple(descriptors.tolist()), words.entry)
    plain = picture(PASS + "mov o1, v1 \n end", tmp_path)
    assert len(np.unique(plain.reshape(-1, plain.shape[-1]), axis=0)) > 1000
    assert (picture(maze, tmp_path) == plain).all()


def test_switches_reach_vertex_programs(tmp_path: Path) -> None:
    # The colour is white where MAX(0, -inf) is below zero: -inf is the logarithm of c90, which is zero like all of r1.
    text = PASS + "lg2 r0, c90.x \n max r0, c90.x, r0 \n slt r0, r0, r1 \n mov o1, r0 \n end"
    usual = picture(text, tmp_path)
    other = picture(text, tmp_path, {"shader.max_infinity": "result"})
    assert usual.max() < other.max() == 255
