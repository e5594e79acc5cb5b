"""How fast the shader unit is: millions of vertices per second for a typical program of 40 instructions, one thread.

Measured is the kernel that draws run, on 100,000 vertices that go through one buffer of 128 as those of a draw do.
"exact" is the same with the unit's own rule for zero times infinity; draws use it when such a product occurs. The
interpreter runs programs that are not compiled (yet).
"""

from __future__ import annotations

import argparse

import numpy as np
from common import Report, clock, run, turns

from pocketgpu.builder import assemble
from pocketgpu.lanes import I32, I64, Engine, Lang, Value, kernel
from pocketgpu.pica.core.layout import BANK_INDEX, CHUNK, PACKET, PACKET_SIZE
from pocketgpu.pica.shader import Program
from pocketgpu.pica.shader.interpreter import vertex_interpreter
from pocketgpu.pica.shader.translate import vertex_program

TARGET = 100.0  # million vertices per second
VERTICES = 100_000
SOURCE = """
    ; eye space and clip space
    dp4 r0.x, c0, v0
    dp4 r0.y, c1, v0
    dp4 r0.z, c2, v0
    dp4 r0.w, c3, v0
    dp4 o0.x, c4, r0
    dp4 o0.y, c5, r0
    dp4 o0.z, c6, r0
    dp4 o0.w, c7, r0
    ; unit normal
    dp3 r1.x, c0, v1
    dp3 r1.y, c1, v1
    dp3 r1.z, c2, v1
    dp3 r1.w, r1, r1
    rsq r1.w, r1.w
    mul r1.xyz, r1, r1.w
    ; unit vector to the eye, and half way to the light
    mov r2, -r0
    dp3 r2.w, r2, r2
    rsq r2.w, r2.w
    mul r2.xyz, r2, r2.w
    add r3.xyz, c16, r2
    dp3 r3.w, r3, r3
    rsq r3.w, r3.w
    mul r3.xyz, r3, r3.w
    ; diffuse and specular light
    dp3 r4.x, c16, r1
    max r4.x, c20.x, r4.x
    dp3 r4.y, r1, r3
    max r4.y, c20.x, r4.y
    mul r4.y, r4.y, r4.y
    mul r4.y, r4.y, r4.y
    mul r5, c17, r4.x
    mad r5, c18, r4.y, r5
    add r5, c19, r5
    min r5, c20.y, r5
    mul o1, r5, v3
    ; texture coordinates, and a reflected vector
    dp4 o2.x, c21, v2
    dp4 o2.y, c22, v2
    mov o2.zw, c20.x
    dp3 r6.x, r1, r2
    add r6.x, r6.x, r6.x
    mad o3.xyz, r1, r6.x, -r2
    mov o3.w, c20.y
    end
"""


@kernel(program=I64, inputs=I64, outputs=I64, uniforms=I64, packet=I64, count=I32)
def shade_chunks(
    k: Lang, program: Value, inputs: Value, outputs: Value, uniforms: Value, packet: Value, count: Value
) -> None:
    """Run a vertex program on a chunk of vertices until it has run for `count`."""
    for first in k.range(0, count, CHUNK):
        k.invoke(program, inputs, outputs, uniforms, packet, k.min(count - first, CHUNK))


def measure(report: Report, arguments: argparse.Namespace) -> None:
    program = assemble(SOURCE)
    code, descriptors = np.zeros(512, np.uint32), np.zeros(128, np.uint32)
    code[: len(program.code)], descriptors[: len(program.descriptors)] = program.code, program.descriptors
    control, uniforms, packet = 4096, 8192, 16384
    place = {"vs_code": packet + PACKET_SIZE, "vs_opdescs": packet + PACKET_SIZE + 2048}
    inputs = packet + PACKET_SIZE + 4096
    outputs = inputs + 4 * 64 * CHUNK
    arena = np.zeros(outputs + 4 * 64 * CHUNK, np.uint8)
    random = np.random.default_rng(1)
    arena[uniforms : uniforms + 16 * 96].view(np.float32)[:] = random.uniform(-1, 1, 4 * 96)
    arena[inputs:outputs].view(np.float32)[:] = random.uniform(-1, 1, 64 * CHUNK)
    for name, at in place.items():
        arena[packet + PACKET.VERSIONS + 4 * BANK_INDEX[name] :][:4].view(np.int32)[0] = at
    arena[place["vs_code"] :][:2048].view(np.uint32)[:] = code
    arena[place["vs_opdescs"] :][:512].view(np.uint32)[:] = descriptors

    engine = Engine(arena)
    drive = engine.get(shade_chunks)
    static = {"code": code.tobytes(), "descriptors": descriptors.tobytes(), "entry": program.entry, "control": control}
    handles = [
        engine.handle(vertex_program, exact=False, **static),
        engine.handle(vertex_program, exact=True, **static),
        engine.handle(vertex_interpreter, control=control),
    ]

    def kernel_time(handle: int) -> float:
        return clock(lambda: drive(handle, inputs, outputs, uniforms, packet, VERTICES))

    door = Program(program.code, program.descriptors, program.entry, tier="specialised")
    vectors = np.zeros((VERTICES, 16, 4), np.float32)
    vectors[:, :4] = random.uniform(-1, 1, (VERTICES, 4, 4))
    constants = {i: random.uniform(-1, 1, 4).tolist() for i in range(96)}
    measures = [lambda h=h: kernel_time(h) for h in handles]
    series = turns(arguments.repeat, *measures, lambda: clock(lambda: door.run(vectors, constants)))
    names = ("kernel", "kernel, exact", "interpreter kernel", "Program.run, all of it")
    for name, times, target in zip(names, series, (TARGET, None, None, None), strict=True):
        rate = VERTICES / 1e6
        report.add(name, rate / times.median, "M vertices/s", best=rate / times.best, target=target)


if __name__ == "__main__":
    run("shader", measure, repeat=30)
