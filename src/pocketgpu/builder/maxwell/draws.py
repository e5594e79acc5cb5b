"""The methods of pushbuffers for draws: programs, vertices, viewports, depth targets, and the draws themselves.

    pb = PushBuffer().bind("3D").plain_state().render_target(0, target).viewport(0, 0, 640, 360)
    pb.shaders({"vertex": vertex_address, "pixel": pixel_address})
    pb.stream(0, vertices, 24).attribute(0, 0, 0, "R32_G32_B32", "FLOAT").attribute(1, 0, 12, "R32_G32_B32", "FLOAT")
    pb.draw("TRIANGLES", 3)

Source: class header B197; drivers, for the order of writes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from pocketgpu.builder.maxwell.packets import Packets
from pocketgpu.builder.maxwell.shaders import PADDING, STAGES
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import DEPTH

_PIPELINE: Final = {"vertex_a": 0, **STAGES}
"""Stages by number of the pipeline."""
_TYPES: Final = ("VERTEX_CULL_BEFORE_FETCH", "VERTEX", "TESSELLATION_INIT", "TESSELLATION", "GEOMETRY", "PIXEL")
_GROUPS: Final = (0, 0, 1, 2, 3, 4)
_INDEX_SIZES: Final = {1: "ONE_BYTE", 2: "TWO_BYTES", 4: "FOUR_BYTES"}
_LAYER_UNIT: Final = B197["SET_ZT_ARRAY_PITCH"]["V"].scale
_REGION: Final = 1 << 32


def _pixels(start: float, size: float) -> tuple[int, int]:
    """First pixel of an extent, and the one after its last."""
    low, high = sorted((start, start + size))
    return max(math.floor(low), 0), max(math.ceil(high), 0)


class DrawPackets(Packets):
    """Method writes for draws; part of `PushBuffer`."""

    # -- state ------------------------------------------------------------------------------------------------------
    def plain_state(self, targets: int = 1) -> Self:
        """The state that draws need and that power-on does not set: raster on, `targets` colour targets in order, no
        masks, no attribute from a stream, separate blending of alpha."""
        self.method("SET_RASTER_ENABLE", 1)
        order: dict[str, Any] = {f"TARGET{n}": n for n in range(8)}
        self.method("SET_CT_SELECT", TARGET_COUNT=targets, **order)
        for n in range(8):
            self.method("SET_CT_WRITE", n, R_ENABLE=True, G_ENABLE=True, B_ENABLE=True, A_ENABLE=True)
        self.method("SET_SAMPLE_MASK_X0_Y0", *[0xFFFF] * 4).method("SET_SAMPLE_MASK", RASTER_OUT_ENABLE=True)
        for side in ("", "BACK_"):
            self.method(f"SET_{side}STENCIL_FUNC_MASK", 255).method(f"SET_{side}STENCIL_MASK", 255)
        self.method("SET_BLEND_SEPARATE_FOR_ALPHA", 1)
        for n in range(8):
            self.method("SET_BLEND_PER_TARGET_SEPARATE_FOR_ALPHA", n, 1)
        self.method("SET_ATTRIBUTE_DEFAULT", GENERIC_VECTOR=True)
        for n in range(16):
            self.method(
                "SET_VERTEX_ATTRIBUTE_A", n, SOURCE="INACTIVE", COMPONENT_BIT_WIDTHS="R32", NUMERICAL_TYPE="NUM_FLOAT"
            )  # fmt: skip
        return self.method("SET_DA_OUTPUT", VERTEX_ID_USES_ARRAY_START=True)

    # -- programs ---------------------------------------------------------------------------------------------------
    def shaders(self, programs: Mapping[str, int]) -> Self:
        """Use these programs, by stage ("vertex", "control", "evaluation", "geometry", "pixel"; "vertex_a" for a second
        vertex program before the first), and no others.

        programs: GPU addresses of images as in `Shader.image`, multiples of 128 in the same 4 GiB.
        """
        unknown = programs.keys() - _PIPELINE.keys()
        regions = {address // _REGION for address in programs.values()}
        if unknown or len(regions) > 1:
            raise UsageError(
                f"no stage {min(unknown)!r}" if unknown else "programs of one draw must be in the same 4 GiB",
                hint=f"Stages are {', '.join(_PIPELINE)}." if unknown else None,
            )
        for region in regions:
            self.address("SET_PROGRAM_REGION_A", region * _REGION)
        for stage, number in _PIPELINE.items():
            self.method("SET_PIPELINE_SHADER", number, ENABLE=stage in programs, TYPE=_TYPES[number])
            if stage in programs:
                self.method("SET_PIPELINE_PROGRAM", number, programs[stage] % _REGION + PADDING)
                self.method("SET_PIPELINE_REGISTER_COUNT", number, 64)
        return self

    def constants(self, stage: str, slot: int, address: int, size: int) -> Self:
        """Bind `size` bytes at a GPU address as constant buffer `slot` of a stage.

        :raises UsageError: there is no such stage or slot.
        """
        if stage not in _PIPELINE:
            raise UsageError(f"no stage {stage!r}", hint=f"Stages are {', '.join(_PIPELINE)}.")
        self.method("SET_CONSTANT_BUFFER_SELECTOR_A", size).address("SET_CONSTANT_BUFFER_SELECTOR_B", address)
        group = _GROUPS[_PIPELINE[stage]]
        return self.method("BIND_GROUP_CONSTANT_BUFFER", group, VALID=True, SHADER_SLOT=slot)

    def texture_pools(self, headers: int, samplers: int, last: int, *, slot: int = 0) -> Self:
        """Pools of texture and sampler headers at GPU addresses, with numbers up to `last`; handles that programs use
        by number are words of constant buffer `slot`."""
        for name, address in (("HEADER", headers), ("SAMPLER", samplers)):
            self.address(f"SET_TEX_{name}_POOL_A", address).method(f"SET_TEX_{name}_POOL_C", last)
        return self.method("SET_BINDLESS_TEXTURE", slot)

    # -- vertices ---------------------------------------------------------------------------------------------------
    def stream(
        self, number: int, address: int, stride: int, *, size: int = 1 << 32, divisor: int | None = None
    ) -> Self:
        """Vertices `stride` bytes apart at a GPU address, `size` bytes of them. divisor: instances that share one."""
        self.method("SET_VERTEX_STREAM_A_FORMAT", number, STRIDE=stride, ENABLE=True)
        self.address("SET_VERTEX_STREAM_A_LOCATION_A", number, address)
        self.method("SET_VERTEX_STREAM_A_FREQUENCY", number, divisor or 0)
        self.method("SET_VERTEX_STREAM_INSTANCE_A", number, int(divisor is not None))
        return self.address("SET_VERTEX_STREAM_LIMIT_A_A", number, address + size - 1)

    def attribute(self, number: int, stream: int, offset: int, size: str, type: str = "FLOAT", **more: Any) -> Self:
        """Attribute `number` is `offset` bytes into the vertices of a stream. size: component sizes (a format such as
        "R32_G32_B32"). type: component type ("FLOAT", "UNORM", "SINT", ...). more: other fields of its word."""
        return self.method(
            "SET_VERTEX_ATTRIBUTE_A", number, STREAM=stream, SOURCE="ACTIVE", OFFSET=offset, COMPONENT_BIT_WIDTHS=size,
            NUMERICAL_TYPE=f"NUM_{type}", **more,
        )  # fmt: skip

    # -- raster -----------------------------------------------------------------------------------------------------
    def viewport(
        self, x: float, y: float, width: float, height: float, *, near: float = 0.0, far: float = 1.0, number: int = 0
    ) -> Self:
        """Map -1..1 to a rectangle of the target (y goes up in clip space, and down from the target's top), depth 0..1
        to near..far; clip there. Negative sizes mirror."""
        self.method("SET_VIEWPORT_SCALE_OFFSET", 1).method("SET_VIEWPORT_Z_CLIP", RANGE="ZERO_TO_POSITIVE_W")
        self.method("SET_VIEWPORT_CLIP_CONTROL", GEOMETRY_CLIP="FRUSTUM_XYZ_CLIP")
        for axis, scale, offset in (
            ("X", width / 2, x + width / 2), ("Y", -height / 2, y + height / 2), ("Z", far - near, near),
        ):  # fmt: skip
            self.method(f"SET_VIEWPORT_SCALE_{axis}", number, float(scale))
            self.method(f"SET_VIEWPORT_OFFSET_{axis}", number, float(offset))
        left, right = _pixels(x, width)
        top, bottom = _pixels(y, height)
        self.method("SET_VIEWPORT_CLIP_HORIZONTAL", number, X0=left, WIDTH=right - left)
        self.method("SET_VIEWPORT_CLIP_VERTICAL", number, Y0=top, HEIGHT=bottom - top)
        self.method("SET_VIEWPORT_CLIP_MIN_Z", number, float(min(near, far)))
        return self.method("SET_VIEWPORT_CLIP_MAX_Z", number, float(max(near, far)))

    def depth_target(
        self, address: int | None, width: int = 0, height: int = 0, format: str = "Z24S8", *,
        block_height_log2: int = 4, layers: int = 1, layer_size: int = 0,
    ) -> Self:  # fmt: skip
        """Make block-linear memory at a GPU address the depth target, of width x height samples. None: no depth
        target.

        :raises UsageError: there is no such format of depth targets.
        """
        known = {layout.name: layout.code for layout in DEPTH.values()}
        if format not in known:
            raise UsageError(f"no depth target has format {format!r}", hint=f"Known are {', '.join(known)}.")
        self.method("SET_ZT_SELECT", int(address is not None))
        if address is None:
            return self
        self.address("SET_ZT_A", address).method("SET_ZT_FORMAT", V=known[format])
        self.method("SET_ZT_BLOCK_SIZE", HEIGHT=block_height_log2)
        self.method("SET_ZT_ARRAY_PITCH", layer_size // _LAYER_UNIT)
        self.method("SET_ZT_SIZE_A", width).method("SET_ZT_SIZE_B", height)
        return self.method("SET_ZT_SIZE_C", THIRD_DIMENSION=layers)

    def clear_depth(self, depth: float | None = None, stencil: int | None = None, *, layer: int = 0) -> Self:
        """Fill the depth target with a depth, a stencil value, or both."""
        if depth is not None:
            self.method("SET_Z_CLEAR_VALUE", float(depth))
        if stencil is not None:
            self.method("SET_STENCIL_CLEAR_VALUE", stencil)
        fields: dict[str, Any] = {"Z_ENABLE": depth is not None, "STENCIL_ENABLE": stencil is not None}
        return self.method("CLEAR_SURFACE", RT_ARRAY_INDEX=layer, **fields)

    # -- draws ------------------------------------------------------------------------------------------------------
    def _begin(self, topology: str, instance: int) -> Self:
        return self.method("BEGIN", OP=topology, INSTANCE_ID="SUBSEQUENT" if instance else "FIRST")

    def draw(self, topology: str, count: int, first: int = 0, *, instances: int = 1) -> Self:
        """Draw consecutive vertices; topology: a name of BEGIN's, such as "TRIANGLES"."""
        self.method("SET_VERTEX_ARRAY_START", first)
        for instance in range(instances):
            self._begin(topology, instance).method("DRAW_VERTEX_ARRAY", count).method("END", 0)
        return self

    def draw_indexed(
        self, topology: str, indices: int, count: int, first: int = 0, *, size: int = 2, instances: int = 1
    ) -> Self:
        """Draw vertices by indices of `size` bytes at a GPU address."""
        if size not in _INDEX_SIZES:
            raise UsageError(f"indices have 1, 2 or 4 bytes, not {size}")
        self.address("SET_INDEX_BUFFER_A", indices)
        self.address("SET_INDEX_BUFFER_C", indices + (first + count) * size - 1)
        self.method("SET_INDEX_BUFFER_E", _INDEX_SIZES[size]).method("SET_INDEX_BUFFER_F", first)
        for instance in range(instances):
            self._begin(topology, instance).method("DRAW_INDEX_BUFFER", count).method("END", 0)
        return self

    def draw_inline(self, topology: str, indices: Sequence[int]) -> Self:
        """Draw vertices by indices in the pushbuffer itself."""
        self._begin(topology, 0).method("DRAW_INLINE_INDEX", *indices, form="non_inc")
        return self.method("END", 0)
