"""Recordings of two deko3d programs against the same scenes drawn by Mesa's llvmpipe on the same computer, in turn.

`ex03_cube` is a cube of six quads with colours; `ex07_mesh_lighting` a teapot of 2,464 triangles with one light, four
samples for each pixel and sRGB targets. Vertices, indices and uniforms come from the recording; the GLSL below is made
to do what its programs do. A frame of ours is its last submissions, submitted again: commands, clears, draw, resolve.
One of llvmpipe is the same calls up to glFinish. Needs the recordings, and PyOpenGL with Mesa's EGL.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from common import SHARED, Report, ratio, run, turns

from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats import mxcap
from pocketgpu.maxwell.engines.threed.draws import Draw

FOLDER = SHARED / "captures" / "switch"
SCENES = ("ex03_cube", "ex07_mesh_lighting")
SIZE = (1280, 720)
THREADS = 2
FRAMES_IN_A_ROW = 10
TARGET = 3.0  # times llvmpipe's time, at most

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
class Scene:
    """What a recording's first draw takes."""

    triangles: np.ndarray[Any, Any]  # indices, u32
    streams: list[np.ndarray[Any, Any]]  # f32 (n, 3)
    uniforms: list[bytes]  # of the vertex and the pixel program
    samples: int


def scene_of(log: mxcap.ChannelLog) -> Scene:
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
    return Scene(numbers, [np.ascontiguousarray(s, np.float32) for s in streams], uniforms, samples)


def context() -> Any:
    """OpenGL 4.3 on llvmpipe, without a window."""
    os.environ.update(PYOPENGL_PLATFORM="egl", EGL_PLATFORM="surfaceless", LIBGL_ALWAYS_SOFTWARE="1")
    os.environ["LP_NUM_THREADS"] = str(THREADS)
    from OpenGL import EGL, GL

    display = EGL.eglGetDisplay(EGL.EGL_DEFAULT_DISPLAY)
    EGL.eglInitialize(display, None, None)
    EGL.eglBindAPI(EGL.EGL_OPENGL_API)
    wanted = [EGL.EGL_CONTEXT_MAJOR_VERSION, 4, EGL.EGL_CONTEXT_MINOR_VERSION, 3, EGL.EGL_NONE]
    made = EGL.eglCreateContext(display, None, None, wanted)
    EGL.eglMakeCurrent(display, EGL.EGL_NO_SURFACE, EGL.EGL_NO_SURFACE, made)
    assert b"llvmpipe" in GL.glGetString(GL.GL_RENDERER)
    return GL


def _program(gl: Any, sources: tuple[str, str]) -> int:
    program = gl.glCreateProgram()
    for kind, source in zip((gl.GL_VERTEX_SHADER, gl.GL_FRAGMENT_SHADER), sources, strict=True):
        shader = gl.glCreateShader(kind)
        gl.glShaderSource(shader, source)
        gl.glCompileShader(shader)
        assert gl.glGetShaderiv(shader, gl.GL_COMPILE_STATUS), gl.glGetShaderInfoLog(shader)
        gl.glAttachShader(program, shader)
    gl.glLinkProgram(program)
    assert gl.glGetProgramiv(program, gl.GL_LINK_STATUS), gl.glGetProgramInfoLog(program)
    return int(program)


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


def opengl(gl: Any, scene: Scene) -> tuple[Callable[[], float], Callable[[], np.ndarray[Any, Any]]]:
    """(seconds of one frame, the picture it makes) of a scene."""
    program = _program(gl, CUBE if scene.samples == 1 else MESH)
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


class Player:
    """Gives a machine the submissions of a recording's last frame again and again."""

    def __init__(self, log: mxcap.ChannelLog) -> None:
        self.driver = drive(log, threads=THREADS)
        self.machine = self.driver.machine
        self.last = log.submissions_of(log.frame_count - 1)
        for _ in range(log.frame_count):
            self.driver.play_frame()

    def frame(self) -> float:
        """Seconds a frame, of the best of some."""
        best = float("inf")
        for _ in range(FRAMES_IN_A_ROW):
            self.machine.log.clear()
            start = perf_counter()
            for number in self.last:
                self.driver.submit(number)
            self.machine.finish()
            best = min(best, perf_counter() - start)
        return best

    def picture(self) -> np.ndarray[Any, Any]:
        picture = self.driver.picture(self.driver.frame_count - 1)
        assert picture is not None
        return picture


def alike(ours: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any]) -> float:
    """Percent of pixels within 8 levels."""
    near = np.abs(ours.astype(int) - theirs.astype(int)).max(axis=-1) <= 8
    return float(100 * near.mean())


def _best(frame: Callable[[], float]) -> float:
    return min(frame() for _ in range(FRAMES_IN_A_ROW))


def measure(report: Report, arguments: argparse.Namespace) -> None:
    """Both scenes, in turns."""
    try:
        gl = context()
    except ImportError:
        report.notes.append("PyOpenGL is not installed: nothing to compare with")
        return
    for name in SCENES:
        path = Path(FOLDER / f"{name}_1280x720.mxcap.zip")
        if not path.is_file():
            report.notes.append(f"{path.name} is not there: nothing measured")
            continue
        log = mxcap.parse(path.read_bytes(), file=path.name)
        frame, picture = opengl(gl, scene_of(log))
        player = Player(log)
        like = alike(player.picture(), picture())
        report.notes.append(f"{name}: {like:.2f} % of pixels within 8 levels of llvmpipe's")
        ours, theirs = turns(arguments.repeat, player.frame, partial(_best, frame))
        times, best = ratio(ours, theirs)
        note = f"ours {1e3 * ours.median:.2f} ms, llvmpipe {1e3 * theirs.median:.2f} ms"
        report.add(f"{name}, {THREADS} threads", times, "x its time", best=best, target=TARGET, more=False, note=note)


if __name__ == "__main__":
    run("llvmpipe", measure, repeat=15)
