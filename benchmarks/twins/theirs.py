"""A scene as calls of OpenGL 4.5, on llvmpipe.

The origin is made the upper left corner and depth 0 to 1, so that all of a scene's numbers mean the same on both sides.
"""

from __future__ import annotations

import os
from ctypes import c_void_p
from time import perf_counter
from typing import Any

import numpy as np

from twins.calls import Calls
from twins.description import Array, Draw, Pass, Scene, State
from twins.programs import PROGRAMS

_BYTES_OF_MATRIX = 64


def context(threads: int) -> Any:
    """OpenGL on llvmpipe, without a window; the module of its names.

    :raises ImportError: PyOpenGL is not installed.
    """
    os.environ.update(PYOPENGL_PLATFORM="egl", EGL_PLATFORM="surfaceless", LIBGL_ALWAYS_SOFTWARE="1")
    os.environ["LP_NUM_THREADS"] = str(threads)
    from OpenGL import EGL, GL

    display = EGL.eglGetDisplay(EGL.EGL_DEFAULT_DISPLAY)
    EGL.eglInitialize(display, None, None)
    EGL.eglBindAPI(EGL.EGL_OPENGL_API)
    wanted = [EGL.EGL_CONTEXT_MAJOR_VERSION, 4, EGL.EGL_CONTEXT_MINOR_VERSION, 3, EGL.EGL_NONE]
    made = EGL.eglCreateContext(display, None, None, wanted)
    EGL.eglMakeCurrent(display, EGL.EGL_NO_SURFACE, EGL.EGL_NO_SURFACE, made)
    assert b"llvmpipe" in GL.glGetString(GL.GL_RENDERER)
    return GL


def linked(gl: Any, sources: tuple[str, str]) -> int:
    """A program of a vertex and a fragment shader."""
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


class Twin:
    """A scene on llvmpipe."""

    def __init__(self, gl: Any, scene: Scene) -> None:
        self.gl, self.scene = gl, scene
        gl.glClipControl(gl.GL_UPPER_LEFT, gl.GL_ZERO_TO_ONE)
        names = {draw.program for one in scene.passes for draw in one.draws}
        self.programs = {name: linked(gl, PROGRAMS[name].glsl) for name in names}
        self.textures = {name: self._texture(image) for name, image in scene.textures.items()}
        self.drawn: dict[str, int] = {name: self._target(name) for name in scene.targets}
        self.frames = [self._framebuffer(one.targets, one.depth) for one in scene.passes]
        self.shown = self._framebuffer((scene.shown,), False)
        self.array = self._vertices()
        self._constants()
        self._calls = self._frame().made()

    def _constant(self, name: str) -> int:
        return int(getattr(self.gl, f"GL_{name}"))

    # -- objects ----------------------------------------------------------------------------------------------------
    def _texture(self, image: Array) -> int:
        gl = self.gl
        texture = int(gl.glGenTextures(1))
        gl.glBindTexture(gl.GL_TEXTURE_2D, texture)
        height, width = image.shape[:2]
        gl.glTexStorage2D(gl.GL_TEXTURE_2D, 1, gl.GL_RGBA8, width, height)
        gl.glTexSubImage2D(gl.GL_TEXTURE_2D, 0, 0, 0, width, height, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, image)
        self._filter(gl.GL_LINEAR, gl.GL_REPEAT)
        return texture

    def _filter(self, filter: int, wrap: int) -> None:
        gl = self.gl
        for name, value in (("MIN_FILTER", filter), ("MAG_FILTER", filter), ("WRAP_S", wrap), ("WRAP_T", wrap)):
            gl.glTexParameteri(gl.GL_TEXTURE_2D, self._constant(f"TEXTURE_{name}"), value)

    def _target(self, name: str) -> int:
        """A texture to draw to, or a buffer if it has several samples."""
        gl, target = self.gl, self.scene.targets[name]
        format = self._constant(target.format)
        if target.samples > 1:
            buffer = int(gl.glGenRenderbuffers(1))
            gl.glBindRenderbuffer(gl.GL_RENDERBUFFER, buffer)
            gl.glRenderbufferStorageMultisample(gl.GL_RENDERBUFFER, target.samples, format, *self.scene.size)
            return buffer
        texture = int(gl.glGenTextures(1))
        gl.glBindTexture(gl.GL_TEXTURE_2D, texture)
        gl.glTexStorage2D(gl.GL_TEXTURE_2D, 1, format, *self.scene.size)
        self._filter(gl.GL_NEAREST, gl.GL_CLAMP_TO_EDGE)
        return texture

    def _framebuffer(self, targets: tuple[str, ...], depth: bool) -> int:
        gl, samples = self.gl, self.scene.targets[targets[0]].samples
        frame = int(gl.glGenFramebuffers(1))
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, frame)
        for n, name in enumerate(targets):
            place = gl.GL_COLOR_ATTACHMENT0 + n
            if samples > 1:
                gl.glFramebufferRenderbuffer(gl.GL_FRAMEBUFFER, place, gl.GL_RENDERBUFFER, self.drawn[name])
            else:
                gl.glFramebufferTexture(gl.GL_FRAMEBUFFER, place, self.drawn[name], 0)
        gl.glDrawBuffers(len(targets), [gl.GL_COLOR_ATTACHMENT0 + n for n in range(len(targets))])
        if depth:
            buffer = gl.glGenRenderbuffers(1)
            gl.glBindRenderbuffer(gl.GL_RENDERBUFFER, buffer)
            count = samples if samples > 1 else 0
            gl.glRenderbufferStorageMultisample(gl.GL_RENDERBUFFER, count, gl.GL_DEPTH24_STENCIL8, *self.scene.size)
            gl.glFramebufferRenderbuffer(gl.GL_FRAMEBUFFER, gl.GL_DEPTH_STENCIL_ATTACHMENT, gl.GL_RENDERBUFFER, buffer)
        assert gl.glCheckFramebufferStatus(gl.GL_FRAMEBUFFER) == gl.GL_FRAMEBUFFER_COMPLETE
        return frame

    def _vertices(self) -> int:
        gl, data = self.gl, np.ascontiguousarray(self.scene.vertices, np.float32)
        array = int(gl.glGenVertexArrays(1))
        gl.glBindVertexArray(array)
        gl.glBindBuffer(gl.GL_ARRAY_BUFFER, gl.glGenBuffers(1))
        gl.glBufferData(gl.GL_ARRAY_BUFFER, data.nbytes, data, gl.GL_STATIC_DRAW)
        for n in range(3):
            gl.glEnableVertexAttribArray(n)
            gl.glVertexAttribPointer(n, 4, gl.GL_FLOAT, False, data.strides[0], c_void_p(16 * n))
        return array

    def _constants(self) -> None:
        gl = self.gl
        self.row = max(256, int(gl.glGetIntegerv(gl.GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT)))
        rows = np.zeros((len(self.scene.constants), self.row // 4), np.float32)
        rows[:, : self.scene.constants.shape[1]] = self.scene.constants
        self.constants = int(gl.glGenBuffers(1))
        gl.glBindBuffer(gl.GL_UNIFORM_BUFFER, self.constants)
        gl.glBufferData(gl.GL_UNIFORM_BUFFER, rows.nbytes, rows, gl.GL_DYNAMIC_DRAW)

    # -- a frame ----------------------------------------------------------------------------------------------------
    def _frame(self) -> Calls:
        gl, calls, scene = self.gl, Calls(), self.scene
        width, height = scene.size
        calls.add("glBindVertexArray", "i", self.array)
        calls.add("glViewport", "iiii", 0, 0, width, height)
        calls.add("glBindBufferRange", "iiill", gl.GL_UNIFORM_BUFFER, 2, self.constants, 0, _BYTES_OF_MATRIX)
        for frame, one in zip(self.frames, scene.passes, strict=True):
            calls.add("glBindFramebuffer", "ii", gl.GL_FRAMEBUFFER, frame)
            self._pass(calls, one)
        if scene.resolve is not None:
            drawn = self.frames[next(n for n, one in enumerate(scene.passes) if scene.resolve in one.targets)]
            calls.add("glBindFramebuffer", "ii", gl.GL_READ_FRAMEBUFFER, drawn)
            calls.add("glBindFramebuffer", "ii", gl.GL_DRAW_FRAMEBUFFER, self.shown)
            box = (0, 0, width, height)
            calls.add("glBlitFramebuffer", "i" * 10, *box, *box, gl.GL_COLOR_BUFFER_BIT, gl.GL_NEAREST)
        calls.add("glFinish")
        return calls

    def _pass(self, calls: Calls, one: Pass) -> None:
        gl = self.gl
        self._state(calls, State(), None)
        calls.add("glClearColor", "ffff", *one.clear)
        bits = gl.GL_COLOR_BUFFER_BIT
        if one.depth:
            bits |= gl.GL_DEPTH_BUFFER_BIT | gl.GL_STENCIL_BUFFER_BIT
            calls.add("glDepthMask", "i", 1)
        calls.add("glClear", "i", bits)
        before: Draw | None = None
        for draw in one.draws:
            if before is None or draw.program != before.program:
                program = self.programs[draw.program]
                calls.add("glUseProgram", "i", program)
                if gl.glGetUniformLocation(program, "matrix") == 0:
                    calls.add("glUniformMatrix4fv", "iiip", 0, 1, 1, self.scene.matrix.astype(np.float32))
            self._state(calls, draw.state, before.state if before is not None else State())
            for n, name in enumerate(draw.textures):
                if before is None or draw.textures != before.textures:
                    calls.add("glActiveTexture", "i", gl.GL_TEXTURE0 + n)
                    calls.add("glBindTexture", "ii", gl.GL_TEXTURE_2D, self.textures.get(name) or self.drawn[name])
            if draw.constants is not None and (before is None or draw.constants != before.constants):
                self._row(calls, draw.constants)
            calls.add("glDrawArrays", "iii", self._constant(draw.topology), draw.first, draw.count)
            before = draw

    def _row(self, calls: Calls, row: int) -> None:
        gl = self.gl
        if self.scene.pushed:
            data = np.asarray(self.scene.constants[row], np.float32)
            calls.add("glBufferSubData", "illp", gl.GL_UNIFORM_BUFFER, 0, data.nbytes, data)
        else:
            calls.add("glBindBufferRange", "iiill", gl.GL_UNIFORM_BUFFER, 2, self.constants, self.row * row, 64)

    def _state(self, calls: Calls, state: State, before: State | None) -> None:
        def turn(name: str, on: bool) -> None:
            calls.add("glEnable" if on else "glDisable", "i", self._constant(name))

        if before is None or state.blend != before.blend:
            turn("BLEND", state.blend is not None)
            if state.blend is not None:
                calls.add("glBlendFunc", "ii", *map(self._constant, state.blend))
        if before is None or state.depth != before.depth:
            turn("DEPTH_TEST", state.depth is not None)
            calls.add("glDepthMask", "i", int(state.depth is not None))
            if state.depth is not None:
                calls.add("glDepthFunc", "i", self._constant(state.depth))
        if before is None or state.writes_colour != before.writes_colour:
            calls.add("glColorMask", "iiii", *[int(state.writes_colour)] * 4)
        if before is None or state.culls != before.culls:
            turn("CULL_FACE", state.culls)
        if before is None or state.stencil != before.stencil:
            turn("STENCIL_TEST", state.stencil is not None)
            if state.stencil is not None:
                test = state.stencil
                calls.add("glStencilFunc", "iii", self._constant(test.function), test.reference, 255)
                for side, passed in zip(("FRONT", "BACK"), test.passed, strict=True):
                    kept = self._constant(test.failed)
                    calls.add("glStencilOpSeparate", "iiii", self._constant(side), kept, kept, self._constant(passed))

    def frame(self) -> float:
        """Seconds of a frame, up to glFinish."""
        start = perf_counter()
        self._calls()
        return perf_counter() - start

    def picture(self) -> Array:
        """What a frame shows, (height, width, 3)."""
        gl, (width, height) = self.gl, self.scene.size
        gl.glClipControl(gl.GL_UPPER_LEFT, gl.GL_ZERO_TO_ONE)
        self.frame()
        assert gl.glGetError() == gl.GL_NO_ERROR
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, self.shown)
        data = gl.glReadPixels(0, 0, width, height, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE)
        return np.frombuffer(data, np.uint8).reshape(height, width, 4)[..., :3]
