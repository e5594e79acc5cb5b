"""A scene as a recording for the Switch: what its programs write to the GPU, frame after frame."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

import pocketgpu
from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface
from pocketgpu.capture.formats.mxcap import ChannelLog
from twins.description import CONSTANT_FLOATS, VERTEX_FLOATS, Draw, Pass, Scene, State, Target
from twins.programs import PROGRAMS

FORMATS = {"RGBA8": "A8B8G8R8", "RGBA16F": "RF16_GF16_BF16_AF16"}
KINDS = {"RGBA8": (np.uint8, "unorm"), "RGBA16F": (np.float16, "float")}
"""The type of an array of their texels, and how the texels are read."""
POSITIONS = ((6, 2), (14, 6), (2, 10), (10, 14))
"""Of the four samples, in 1/16 pixel, as drivers of the Switch and llvmpipe have them."""
ROW = 256
"""Bytes from one row of constants to the next."""
_OPERATIONS = {"INCR_WRAP": "INCR", "DECR_WRAP": "DECR", "INCR": "INCRSAT", "DECR": "DECRSAT"}
_VECTOR = "R32_G32_B32_A32"


def _gl(name: str) -> str:
    return f"OGL_{_OPERATIONS.get(name, name)}"


class Recording:
    """Makes the recording of a scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.capture = MaxwellCaptureBuilder("a scene of the benchmarks")
        put = self.capture.put
        self.vertices = put(np.ascontiguousarray(scene.vertices, "<f4"))
        rows = np.zeros((len(scene.constants), ROW // 4), "<f4")
        rows[:, :CONSTANT_FLOATS] = scene.constants
        self.constants = put(rows)
        self.matrix = put(np.ascontiguousarray(scene.matrix, "<f4").tobytes().ljust(ROW, b"\0"))
        self.handles, self.pushed = put(bytes(ROW)), put(bytes(ROW))
        used = {draw.program for one in scene.passes for draw in one.draws}
        self.programs = {name: self._images(name) for name in sorted(used)}
        self.surfaces = {name: self._surface(target) for name, target in scene.targets.items()}
        self.depths = {name: self._surface(target) for name, target in scene.targets.items()}
        self._describe()

    def _images(self, name: str) -> dict[str, int]:
        return {stage: self.capture.put(one.image) for stage, one in PROGRAMS[name].shaders.items()}

    def _surface(self, target: Target) -> Surface:
        across = 2 if target.samples > 1 else 1
        width, height = (side * across for side in self.scene.size)
        size = Surface(0, width, height, FORMATS[target.format]).size
        return Surface(self.capture.allocate(size, kind="generic_16bx2"), width, height, FORMATS[target.format])

    def _describe(self) -> None:
        """Headers and samplers of all textures, and of the targets that programs read."""
        read = {name for one in self.scene.passes for draw in one.draws for name in draw.textures}
        self.handle: dict[str, int] = {}
        headers, samplers = [(0,) * 8], [(0,) * 8]
        width, height = self.scene.size
        for name in sorted(read):
            if name in self.scene.textures:
                image = self.scene.textures[name]
                texture = pocketgpu.Texture(image, numbers="unorm", filter="linear", normalized=True, address="wrap")
                address = self.capture.allocate(texture.nbytes, kind="generic_16bx2")
                self.capture.load(address, texture.tobytes())
            else:
                texel, numbers = KINDS[self.scene.targets[name].format]
                texels = np.zeros((height, width, 4), texel)
                texture = pocketgpu.Texture(texels, numbers=numbers, normalized=True, address="clamp")
                address = self.surfaces[name].address
            self.handle[name] = len(headers) | len(headers) << 20
            headers.append(tuple(texture.header(address)))
            samplers.append(tuple(texture.sampler()))
        pools = (b"".join(struct.pack("<8I", *words) for words in pool) for pool in (headers, samplers))
        self.pools = (*map(self.capture.put, pools), len(headers) - 1)

    # -- a frame ----------------------------------------------------------------------------------------------------
    def frame(self, draws: bool = True, pixels: bool = True, resolves: bool = True) -> PushBuffer:
        """The commands of a frame. draws, resolves: False leaves these parts out. pixels: False draws nothing, by a
        scissor of no size."""
        pb = PushBuffer().bind("3D").plain_state()
        pb.texture_pools(*self.pools).stream(0, self.vertices, 4 * VERTEX_FLOATS)
        for n in range(3):
            pb.attribute(n, 0, 16 * n, _VECTOR)
        for stage in ("vertex", "pixel"):
            pb.constants(stage, 2, self.pushed if self.scene.pushed else self.constants, ROW)
        pb.constants("vertex", 1, self.matrix, ROW).constants("pixel", 0, self.handles, ROW)
        if not pixels:
            pb.scissor((0, 0, 0, 0))
        for one in self.scene.passes:
            self._pass(pb, one, draws)
        if self.scene.resolve is not None and resolves:
            width, height = self.scene.size
            source, target = self.surfaces[self.scene.resolve], self.surfaces[self.scene.shown]
            pb.bind("2D").blit(source, target, (0, 0, 2 * width, 2 * height), (0, 0, width, height), filter="BILINEAR")
            pb.on("3D")
        return pb.method("INCREMENT_SYNC_POINT", INDEX=self.capture.syncpoint(), CONDITION="ROP_WRITES_DONE")

    def _pass(self, pb: PushBuffer, one: Pass, draws: bool) -> None:
        width, height = self.scene.size
        samples = self.scene.targets[one.targets[0]].samples
        pb.method("SET_ANTI_ALIAS", SAMPLES="MODE_2X2" if samples > 1 else "MODE_1X1")
        pb.method("SET_ANTI_ALIAS_ENABLE", int(samples > 1))
        places: dict[str, Any] = {f"{c}{n}": POSITIONS[n][a] for n in range(4) for a, c in enumerate("XY")}
        for n in range(4):
            pb.method("SET_ANTI_ALIAS_SAMPLE_POSITIONS", n, **places)
        order: dict[str, Any] = {f"TARGET{n}": n for n in range(8)}
        pb.method("SET_CT_SELECT", TARGET_COUNT=len(one.targets), **order)
        for slot, name in enumerate(one.targets):
            pb.render_target(slot, self.surfaces[name])
        pb.method("SET_SURFACE_CLIP_HORIZONTAL", X=0, WIDTH=width)
        pb.method("SET_SURFACE_CLIP_VERTICAL", Y=0, HEIGHT=height).viewport(0, 0, width, height)
        self._state(pb, State(), None)
        for slot in range(len(one.targets)):
            pb.clear(one.clear, slot=slot, within_scissor=False)
        depth = self.depths[one.targets[0]]
        pb.depth_target(depth.address if one.depth else None, depth.width, depth.height)
        if one.depth:
            pb.clear_depth(1.0, 0)
        before: Draw | None = None
        for draw in one.draws if draws else ():
            self._draw(pb, draw, before)
            before = draw

    def _draw(self, pb: PushBuffer, draw: Draw, before: Draw | None) -> None:
        """A draw, after the state in which it differs from the one before it."""
        if before is None or draw.program != before.program:
            pb.shaders(self.programs[draw.program])
        self._state(pb, draw.state, before.state if before is not None else State())
        if draw.textures and (before is None or draw.textures != before.textures):
            self._push(pb, self.handles, [self.handle[name] for name in draw.textures])
        if draw.constants is not None and (before is None or draw.constants != before.constants):
            if self.scene.pushed:
                row = np.asarray(self.scene.constants[draw.constants], "<f4")
                self._push(pb, self.pushed, row.view("<u4").tolist())
            else:
                for stage in ("vertex", "pixel"):
                    pb.constants(stage, 2, self.constants + ROW * draw.constants, ROW)
        pb.draw(draw.topology, draw.count, draw.first)

    @staticmethod
    def _push(pb: PushBuffer, address: int, words: Sequence[int]) -> None:
        pb.method("SET_CONSTANT_BUFFER_SELECTOR_A", ROW).address("SET_CONSTANT_BUFFER_SELECTOR_B", address)
        pb.method("LOAD_CONSTANT_BUFFER_OFFSET", 0).method("LOAD_CONSTANT_BUFFER", 0, *words)

    @staticmethod
    def _state(pb: PushBuffer, state: State, before: State | None) -> None:
        if before is None or state.blend != before.blend:
            pb.method("SET_BLEND", 0, int(state.blend is not None))
            if state.blend is not None:
                for part in ("COLOR", "ALPHA"):
                    pb.method(f"SET_BLEND_{part}_OP", V="OGL_FUNC_ADD")
                    for side, factor in zip(("SOURCE", "DEST"), state.blend, strict=True):
                        pb.method(f"SET_BLEND_{part}_{side}_COEFF", V=_gl(factor))
        if before is None or state.depth != before.depth:
            for method in ("SET_DEPTH_TEST", "SET_DEPTH_WRITE"):
                pb.method(method, int(state.depth is not None))
            if state.depth is not None:
                pb.method("SET_DEPTH_FUNC", V=_gl(state.depth))
        if before is None or state.writes_colour != before.writes_colour:
            on: dict[str, Any] = {f"{c}_ENABLE": state.writes_colour for c in "RGBA"}
            pb.method("SET_CT_WRITE", 0, **on)
        if before is None or state.culls != before.culls:
            pb.method("OGL_SET_CULL", int(state.culls)).method("OGL_SET_CULL_FACE", V="BACK")
            pb.method("OGL_SET_FRONT_FACE", V="CCW")
        if before is None or state.stencil != before.stencil:
            pb.method("SET_STENCIL_TEST", int(state.stencil is not None)).method("SET_TWO_SIDED_STENCIL_TEST", 1)
            if state.stencil is not None:
                for side, passed in zip(("", "BACK_"), state.stencil.passed, strict=True):
                    pb.method(f"SET_{side}STENCIL_FUNC", V=_gl(state.stencil.function))
                    pb.method(f"SET_{side}STENCIL_FUNC_REF", state.stencil.reference)
                    for place in ("FAIL", "ZFAIL"):
                        pb.method(f"SET_{side}STENCIL_OP_{place}", V=_gl(state.stencil.failed))
                    pb.method(f"SET_{side}STENCIL_OP_ZPASS", V=_gl(passed))

    def log(self, frames: int = 3, **parts: bool) -> ChannelLog:
        """The recording of so many equal frames. parts: see `frame`."""
        for _ in range(frames):
            self.capture.submit(self.frame(**parts)).present(self.surfaces[self.scene.shown])
        return self.capture.log()


def recording(scene: Scene, **parts: bool) -> ChannelLog:
    """A scene as a recording of three equal frames. parts: see `Recording.frame`."""
    return Recording(scene).log(**parts)
