"""The two recordings of deko3d programs, as scenes of OpenGL: vertices, indices and uniforms come from the recording.

`ex03_cube` is a cube of six quads with colours; `ex07_mesh_lighting` a teapot of 2,464 triangles with one light, four
samples for each pixel and sRGB targets. The GLSL below is made to do what their programs do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats import mxcap
from pocketgpu.maxwell.engines.threed.draws import Draw
from twins.theirs import linked

RECORDINGS = ("ex03_cube", "ex07_mesh_lighting")
SIZE = (1280, 720)

_HEAD = "#version 430 core\n"
_TRANSFORM = "layout(std140, binding=0, row_major) uniform T { layout(column_major) mat4 view, projection; };\n"
CUBE = (
    _HEAD
    + _TRANSFORM
    + """layout(location=0) in vec3 position; layout(location=1) in vec4 colour; out vec4 c;
void main() { gl_Position = projection * (view * vec4(position, 1)); c = colour; }""",
    _HEAD + "in vec4 c; out vec4 o; void main() { o = vec4(c.rgb, 1); }",
)
MESH = (
    _HEAD
    + _TRANSFORM
    + """layout(location=0) in vec3 position; layout(location=1) in vec3 normal; out vec4 at; out vec3 n;
void main() {
    at = view * vec4(position, 1);
    gl_Position = projection * at;
    n = normalize(mat3(view) * normal);
}""",
    _HEAD
    + """layout(std140, binding=1) uniform L { vec4 light; vec3 ambient; vec3 diffuse; vec4 specular; };
in vec4 at; in vec3 n; out vec4 o;
void main() {
    vec3 normal = normalize(n);
    vec3 l = light.w != 0.0 ? normalize(light.xyz - at.xyz) : -light.xyz;
    vec3 h = normalize(l - normalize(at.xyz));
    float shine = pow(max(dot(normal, h), 0.0), specular.w);
    vec3 c = ambient + max(dot(normal, l), 0.0) * diffuse + shine * specular.rgb;
    o = vec4(c / (c + 1.0), 1);
}""",
)


@dataclass
class Recorded:
    """What a recording's first draw takes."""

    triangles: np.ndarray[Any, Any]  # indices, u32
    streams: list[np.ndarray[Any, Any]]  # f32 (n, 3)
    uniforms: list[bytes]  # of the vertex and the pixel program
    samples: int


def recorded(log: mxcap.ChannelLog) -> Recorded:
    """The draw of a recording's last frame, with its vertices and uniforms."""
    driver = drive(log)
    machine = driver.machine
    for _ in range(log.frame_count):
        driver.play_frame()
    draw = [item for item in machine.log if isinstance(item, Draw)][-1].freeze()
    numbers = draw.vertex_numbers.astype(np.uint32)
    if draw.topology_name == "QUADS":
        numbers = numbers.reshape(-1, 4)[:, [0, 1, 2, 0, 2, 3]].reshape(-1)
        streams = [values[:, :3] for values in draw.inputs.values()]
        numbers = np.arange(24, dtype=np.uint32).reshape(-1, 4)[:, [0, 1, 2, 0, 2, 3]].reshape(-1)
    else:
        first = {int(v): i for i, v in enumerate(draw.vertex_numbers)}
        order = sorted(first)
        streams = [values[[first[v] for v in order], :3] for values in draw.inputs.values()]
        numbers = np.searchsorted(order, numbers).astype(np.uint32)
    uniforms = []
    for group in (0, 4):
        binding = draw.constants[group][2]
        uniforms.append(machine.memory.try_read(binding.address, binding.size)[0] if binding else b"")
    samples = 4 if draw.state.word("SET_ANTI_ALIAS") == 2 else 1
    return Recorded(numbers, [np.ascontiguousarray(s, np.float32) for s in streams], uniforms, samples)


def _target(gl: Any, format: int, samples: int) -> int:
    """A framebuffer with colour and depth."""
    frame = gl.glGenFramebuffers(1)
    gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, frame)
    for attachment, inside in (
        (gl.GL_COLOR_ATTACHMENT0, format),
        (gl.GL_DEPTH_STENCIL_ATTACHMENT, gl.GL_DEPTH24_STENCIL8),
    ):
        buffer = gl.glGenRenderbuffers(1)
        gl.glBindRenderbuffer(gl.GL_RENDERBUFFER, buffer)
        gl.glRenderbufferStorageMultisample(gl.GL_RENDERBUFFER, samples if samples > 1 else 0, inside, *SIZE)
        gl.glFramebufferRenderbuffer(gl.GL_FRAMEBUFFER, attachment, gl.GL_RENDERBUFFER, buffer)
    return int(frame)


def opengl(gl: Any, scene: Recorded) -> tuple[Callable[[], float], Callable[[], np.ndarray[Any, Any]]]:
    """(seconds of one frame, the picture it makes) of a scene."""
    program = linked(gl, CUBE if scene.samples == 1 else MESH)
    srgb = scene.samples > 1
    format = gl.GL_SRGB8_ALPHA8 if srgb else gl.GL_RGBA8
    drawn = _target(gl, format, scene.samples)
    shown = _target(gl, format, 1) if srgb else drawn
    array = gl.glGenVertexArrays(1)
    gl.glBindVertexArray(array)
    for number, stream in enumerate(scene.streams):
        buffer = gl.glGenBuffers(1)
        gl.glBindBuffer(gl.GL_ARRAY_BUFFER, buffer)
        gl.glBufferData(gl.GL_ARRAY_BUFFER, stream.nbytes, stream, gl.GL_STATIC_DRAW)
        gl.glEnableVertexAttribArray(number)
        gl.glVertexAttribPointer(number, 3, gl.GL_FLOAT, False, 12, None)
    indices = gl.glGenBuffers(1)
    gl.glBindBuffer(gl.GL_ELEMENT_ARRAY_BUFFER, indices)
    gl.glBufferData(gl.GL_ELEMENT_ARRAY_BUFFER, scene.triangles.nbytes, scene.triangles, gl.GL_STATIC_DRAW)
    for number, data in enumerate(scene.uniforms):
        if data:
            buffer = gl.glGenBuffers(1)
            gl.glBindBufferBase(gl.GL_UNIFORM_BUFFER, number, buffer)
            gl.glBufferData(gl.GL_UNIFORM_BUFFER, len(data), data, gl.GL_STATIC_DRAW)

    def frame() -> float:
        start = perf_counter()
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, drawn)
        gl.glViewport(0, 0, *SIZE)
        gl.glUseProgram(program)
        gl.glBindVertexArray(array)
        gl.glEnable(gl.GL_DEPTH_TEST)
        (gl.glEnable if srgb else gl.glDisable)(gl.GL_FRAMEBUFFER_SRGB)
        gl.glClear(gl.GL_COLOR_BUFFER_BIT | gl.GL_DEPTH_BUFFER_BIT | gl.GL_STENCIL_BUFFER_BIT)
        gl.glDrawElements(gl.GL_TRIANGLES, len(scene.triangles), gl.GL_UNSIGNED_INT, None)
        if shown != drawn:
            gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, drawn)
            gl.glBindFramebuffer(gl.GL_DRAW_FRAMEBUFFER, shown)
            gl.glBlitFramebuffer(0, 0, *SIZE, 0, 0, *SIZE, gl.GL_COLOR_BUFFER_BIT, gl.GL_NEAREST)
        gl.glFinish()
        return perf_counter() - start

    def picture() -> np.ndarray[Any, Any]:
        frame()
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, shown)
        data = gl.glReadPixels(0, 0, *SIZE, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE)
        return np.frombuffer(data, np.uint8).reshape(SIZE[1], SIZE[0], 4)[::-1, :, :3]

    return frame, picture
