"""Textures and surfaces for kernels, in the manner of CUDA's texture objects.

    picture = pocketgpu.Texture(array, filter="linear", normalized=True)
    target = pocketgpu.Surface(np.zeros((64, 64), np.uint32))
    kernel((2, 2), (32, 32), (picture, target))

A `Texture` keeps a copy of its array. A `Surface` is copied to the GPU before each launch and back after it, as arrays
are. Both have real texture headers and samplers in the device's memory, and block-linear texels.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import line_of, table_html
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.formats import TEXTURE, PixelLayout
from pocketgpu.facts.maxwell.headers import HANDLE, TIC, TSC, BitStructure
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.formats.arrays import to_rgba8
from pocketgpu.maxwell.formats.channels import CHANNELS, texture_types
from pocketgpu.maxwell.memory.blocklinear import MipLayout, detile, mip_layout, tile
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.memory.gpu_memory import Mapping as GpuMapping
from pocketgpu.maxwell.sampling.records import ANISOTROPIES
from pocketgpu.maxwell.sampling.store import HEADER_BYTES, SAMPLER_BYTES, Pools
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.maxwell.compute.device import Device

# Axes of an array before its channels, and the type of the header.
_KINDS = {
    "1d": ("x", "ONE_D"), "2d": ("yx", "TWO_D"), "3d": ("zyx", "THREE_D"), "1d_array": ("nx", "ONE_D_ARRAY"),
    "2d_array": ("nyx", "TWO_D_ARRAY"), "cube": ("nyx", "CUBEMAP"), "cube_array": ("nyx", "CUBEMAP_ARRAY"),
    "buffer": ("x", "ONE_D_BUFFER"),
}  # fmt: skip
_ADDRESSES = {
    "wrap": "WRAP", "mirror": "MIRROR", "clamp": "CLAMP_TO_EDGE", "border": "BORDER", "clamp_gl": "CLAMP_OGL",
    "mirror_once": "MIRROR_ONCE_CLAMP_TO_EDGE", "mirror_once_border": "MIRROR_ONCE_BORDER",
    "mirror_once_gl": "MIRROR_ONCE_CLAMP_OGL",
}  # fmt: skip
# Common names of formats in other interfaces.
_SAME_ADDRESS = {
    "repeat": "wrap", "clamp_to_edge": "clamp", "clamp_to_border": "border", "mirrored_repeat": "mirror",
    "mirror_clamp_to_edge": "mirror_once",
}  # fmt: skip
_USUAL_FORMAT = re.compile(r"((?:[RGBA]\d+)+)_([A-Z]+)")
_FILTERS = {"nearest": "POINT", "linear": "LINEAR"}
_COMPARES = {
    "never": "ZC_NEVER", "less": "ZC_LESS", "equal": "ZC_EQUAL", "less_equal": "ZC_LEQUAL", "greater": "ZC_GREATER",
    "not_equal": "ZC_NOTEQUAL", "greater_equal": "ZC_GEQUAL", "always": "ZC_ALWAYS",
}  # fmt: skip
_NUMBERS = [name for name in texture_types().values() if not name.endswith("16")]
_ANISOTROPY = tuple(ANISOTROPIES.values())
_BLOCK_HEIGHT = 4  # log2 of GOBs; small levels have smaller blocks
SLOTS = 4096
"""The most headers, and the most samplers, of a device."""
DESCRIPTOR = 64
"""Bytes of a texture's descriptor, which kernels of CUDA's runtime read by its number."""
_LEVELS_WORD = 0x2C


@cache
def _layout_of(bytes: int, channels: int) -> PixelLayout | None:
    """The format whose texels are so many channels in order, each of so many bytes, of any type."""
    if channels > len(CHANNELS):
        return None
    wanted = [(name, "", 8 * bytes * n, 8 * bytes) for n, name in enumerate(CHANNELS[:channels])]
    found = ((layout, [one[:4] for one in layout.components]) for layout in TEXTURE.values())
    return next((layout for layout, parts in found if parts == wanted), None)


class Slots:
    """A device's pools of headers and samplers, and the table of descriptors, which share their numbers.

    Number 0 is never used, so that a handle of 0 is an error.
    """

    def __init__(self, memory: GpuMemory, headers: GpuMapping, samplers: GpuMapping, table: GpuMapping) -> None:
        self.memory, self._headers, self._samplers, self.table = memory, headers, samplers, table
        self._free = list(range(1, SLOTS))
        self.pools = Pools(headers.address, SLOTS - 1, samplers.address, SLOTS - 1)

    def take(self) -> int:
        """Allocate the lowest free number, so that the same launch again gives its textures the same handles.

        :raises UsageError: there is none left.
        """
        if not self._free:
            raise UsageError(f"more than {SLOTS - 1} textures and surfaces at once")
        return heappop(self._free)

    def give_back(self, number: int) -> None:
        self.put(number, [0] * 8, [0] * 8, 0)
        heappush(self._free, number)

    def put(self, number: int, header: Sequence[int], sampler: Sequence[int], levels: int) -> None:
        """Write header, sampler (eight words each) and descriptor of a number."""
        word = lambda words: np.array(words, "<u4").tobytes()
        self.memory.write(self._headers.address + number * HEADER_BYTES, word(header))
        self.memory.write(self._samplers.address + number * SAMPLER_BYTES, word(sampler))
        self.memory.write(self.table.address + number * DESCRIPTOR + _LEVELS_WORD, word([levels]))


@dataclass
class _Placed:
    """A texture's place on one device."""

    handle: int
    mapping: GpuMapping


class Image:
    """Texels in a layout of the GPU: base class of textures and surfaces.

    :param array: texels, shape (z, y, x) as the kind requires and then 1 to 4 channels; the channel axis is optional
        for one channel. For a texture with mip levels a list of arrays. With `format` the last axis is the bytes of an
        element.
    :param kind: "1d", "2d", "3d", "1d_array", "2d_array", "cube" (6 faces: +x -x +y -y +z -z), "cube_array", "buffer".
    :param format: a format of texture headers by name (such as "DXT1") instead of the one that fits the array; or a
        common name of the one that fits ("R8G8B8A8_UNORM"), which also defines the type.
    :param numbers: the type of the texels: "uint", "sint", "float", "unorm" or "snorm".
    :param size: (width, height) in texels if the blocks of a compressed format reach beyond it.
    :raises UsageError: there is no such kind or format, or the array has a wrong shape for it.
    """

    def __init__(
        self, array: Any, kind: str = "2d", *, format: str | None = None, numbers: str | None = None,
        size: tuple[int, int] | None = None,
    ) -> None:  # fmt: skip
        if kind not in _KINDS:
            raise UsageError(f"there is no kind of texture {kind!r}", hint=f"Kinds are {', '.join(_KINDS)}.")
        self.kind = kind
        self.axes, self.header_type = _KINDS[kind]
        levels = list(array) if isinstance(array, list | tuple) else [array]
        if not levels or not all(isinstance(level, np.ndarray) and level.size for level in levels):
            raise UsageError("a texture is made of arrays that are not empty")
        self.arrays: list[NDArray[Any]] = levels
        first = levels[0]
        rank = len(self.axes)
        usual = _USUAL_FORMAT.fullmatch(format or "")
        if usual is not None:
            channels = first.shape[rank] if first.ndim > rank else 1
            width = first.dtype.itemsize * 8
            if usual[1] != "".join(f"{c}{width}" for c in "RGBA"[:channels]):
                raise UsageError(f"{format} has other channels than an array of shape {first.shape} of {first.dtype}")
            format, numbers = None, usual[2].lower()
        if format is not None:
            self.layout = self._named(format)
            if first.dtype != np.uint8 or first.ndim != rank + 1 or first.shape[-1] != self.layout.bytes:
                raise UsageError(f"elements of {format} are uint8 with a last axis of {self.layout.bytes} bytes")
            meaning = numbers or "unorm"
        else:
            if first.ndim not in (rank, rank + 1):
                raise UsageError(f"a {kind} texture has {rank} axes and perhaps channels, not shape {first.shape}")
            channels = first.shape[rank] if first.ndim > rank else 1
            layout = _layout_of(first.dtype.itemsize, channels)
            if layout is None or first.dtype.kind not in "iuf":
                raise UsageError(f"no texture has {channels} channels of {first.dtype}")
            self.layout = layout
            meaning = numbers or {"i": "sint", "u": "uint", "f": "float"}[first.dtype.kind]
        if meaning.lower() not in _NUMBERS:
            raise UsageError(f"numbers of a texture are {', '.join(_NUMBERS)}, not {meaning!r}")
        self.numbers = meaning
        shape: dict[str, int] = dict(zip(self.axes, first.shape, strict=False))
        across, down = self.layout.block
        self.width: int
        self.height: int
        self.width, self.height = size or (shape["x"] * across, shape.get("y", 1) * down)
        self.depth, self.layers = shape.get("z", 1), shape.get("n", 1)
        if kind.startswith("cube") and (self.layers % 6 or (kind == "cube" and self.layers != 6)):
            raise UsageError(f"a cube has six faces, not {self.layers}")
        self.mips: MipLayout | None = None
        if kind != "buffer":
            self.mips = mip_layout(
                self.width, self.height, self.depth, element_bytes=self.layout.bytes, element=self.layout.block,
                levels=len(levels), layers=self.layers, block_height_log2=_BLOCK_HEIGHT,
                block_depth_log2=_BLOCK_HEIGHT if self.depth > 1 else 0,
            )  # fmt: skip
        elif len(levels) > 1:
            raise UsageError("a buffer has no mip levels")
        for number, level in enumerate(levels):
            self._rows(number, level)  # checks the shape
        self._places: weakref.WeakKeyDictionary[Device, _Placed] = weakref.WeakKeyDictionary()

    def __repr__(self) -> str:
        return line_of(self, str(self))

    def __str__(self) -> str:
        size = "x".join(str(n) for n in (self.width, self.height, self.depth) if n > 1) or "1"
        layers = f", {counted(self.layers, 'layer')}" if self.layers > 1 else ""
        levels = f", {counted(len(self.arrays), 'level')}" if len(self.arrays) > 1 else ""
        return f"{self.kind} {size} {self.layout.name}{layers}{levels}"

    def _repr_html_(self) -> str:
        rows = (("size", self), ("numbers", self.numbers), ("dtype", self.arrays[0].dtype))
        return table_html((), [*rows, *((f"level {n}", one.shape) for n, one in enumerate(self.arrays))])

    @staticmethod
    def _named(format: str) -> PixelLayout:
        try:
            found = TEXTURE.named(format)
        except KeyError as error:
            raise UsageError(str(error.args[0])) from None
        if not found.bytes:
            raise UsageError(f"the texture format {format} has no description")
        return found

    # -- memory -----------------------------------------------------------------------------------------------------
    def _rows(self, number: int, level: NDArray[Any]) -> NDArray[np.uint8]:
        """A level as bytes, (layers, depth, rows, bytes of a row).

        :raises UsageError: it has another size than the level of that number.
        """
        data = np.ascontiguousarray(level).reshape(-1).view(np.uint8)
        if self.mips is None:
            return data.reshape(1, 1, 1, -1)
        layout = self.mips.levels[number].layout
        shape = (self.layers, layout.depth, layout.height, layout.width_bytes)
        if data.size != np.prod(shape) or level.dtype != self.arrays[0].dtype:
            raise UsageError(f"level {number} has shape {level.shape} of {level.dtype}, which is no level of the first")
        return data.reshape(shape)

    @property
    def nbytes(self) -> int:
        """Bytes of GPU memory."""
        return self.arrays[0].nbytes if self.mips is None else self.mips.size

    def _header(self, address: int) -> list[int]:
        type = f"NUM_{self.numbers.upper()}"
        names = [component.name for component in self.layout.components]
        sources = {"R": "IN_R", "G": "IN_G", "B": "IN_B", "A": "IN_A"}
        missing = {"R": "IN_ZERO", "G": "IN_ZERO", "B": "IN_ZERO"}
        one = "IN_ONE_INT" if self.numbers in ("uint", "sint") else "IN_ONE_FLOAT"
        common: dict[str, Any] = {"COMPONENTS": self.layout.code}
        for place, channel in zip("XYZW", "RGBA", strict=True):
            common[f"{channel}_DATA_TYPE"] = type
            held = channel in names or self.layout.compressed
            common[f"{place}_SOURCE"] = sources[channel] if held else missing.get(channel, one)
        if self.mips is None:
            count = self.width - 1
            return _packed(TIC["1D"], common | {
                "HEADER_VERSION": "SELECT_ONE_D_BUFFER",
                "ADDRESS_BITS31TO0": address & 0xFFFFFFFF, "ADDRESS_BITS47TO32": address >> 32,
                "WIDTH_MINUS_ONE_BITS31TO16": count >> 16, "WIDTH_MINUS_ONE_BITS15TO0": count & 0xFFFF,
            })  # fmt: skip
        count = self.layers // 6 if self.kind.startswith("cube") else max(self.layers, self.depth)
        return _packed(TIC["BL"], common | {
            "HEADER_VERSION": "SELECT_BLOCKLINEAR", "ADDRESS_BITS47TO32": address >> 32,
            "ADDRESS_BITS31TO9": (address & 0xFFFFFFFF) // TIC["BL"]["ADDRESS_BITS31TO9"].scale,
            "TEXTURE_TYPE": self.header_type, "WIDTH_MINUS_ONE": self.width - 1, "HEIGHT_MINUS_ONE": self.height - 1,
            "DEPTH_MINUS_ONE": count - 1, "MAX_MIP_LEVEL": len(self.arrays) - 1,
            "RES_VIEW_MAX_MIP_LEVEL": len(self.arrays) - 1, "GOBS_PER_BLOCK_HEIGHT": _BLOCK_HEIGHT,
            "GOBS_PER_BLOCK_DEPTH": _BLOCK_HEIGHT if self.depth > 1 else 0, "BORDER_SIZE": "BORDER_SAMPLER_COLOR",
            **self._more(),
        })  # fmt: skip

    def _more(self) -> dict[str, Any]:
        """Further fields of the header for a kind of image."""
        return {}

    def _sampler(self) -> list[int]:
        return [0] * 8

    # -- without a device -------------------------------------------------------------------------------------------
    def header(self, address: int) -> list[int]:
        """The eight words of a texture header for texels at a GPU address (a multiple of 512)."""
        return self._header(address)

    def sampler(self) -> list[int]:
        """The eight words of a sampler; zeros for images without one."""
        return self._sampler()

    def tobytes(self) -> bytes:
        """The texels in the header's layout, `nbytes` of them."""
        data = np.zeros(self.nbytes, np.uint8)
        for number, level in enumerate(self.arrays):
            rows = self._rows(number, level)
            if self.mips is None:
                return rows.tobytes()
            for layer in range(self.layers):
                at = self.mips.offset_of(number, layer)
                tiled = tile(rows[layer], self.mips.levels[number].layout).reshape(-1)
                data[at : at + tiled.size] = tiled
        return data.tobytes()

    # -- on a device ------------------------------------------------------------------------------------------------
    def place(self, device: Device) -> _Placed:
        """Allocate memory and a handle on a device, without contents."""
        placed = self._places.get(device)
        if placed is None:
            mapping = device.allocate(self.nbytes)
            number = device.slots.take()
            device.slots.put(number, self._header(mapping.address), self._sampler(), len(self.arrays))
            placed = self._places[device] = _Placed(_handle(number), mapping)
            weakref.finalize(self, _forget, device, number, mapping)
        return placed

    def upload(self, device: Device) -> None:
        """Copy the arrays to a device."""
        placed, memory = self.place(device), device.memory
        for number, level in enumerate(self.arrays):
            rows = self._rows(number, level)
            if self.mips is None:
                memory.write(placed.mapping.address, rows.tobytes())
                continue
            for layer in range(self.layers):
                at = placed.mapping.address + self.mips.offset_of(number, layer)
                memory.write(at, tile(rows[layer], self.mips.levels[number].layout).tobytes())

    def download(self, device: Device) -> None:
        """Copy the device's texels into the arrays."""
        placed, memory = self.place(device), device.memory
        for number, level in enumerate(self.arrays):
            if self.mips is None:
                data = np.frombuffer(memory.read(placed.mapping.address, level.nbytes), np.uint8)
            else:
                layout = self.mips.levels[number].layout
                starts = [placed.mapping.address + self.mips.offset_of(number, n) for n in range(self.layers)]
                data = np.stack([detile(memory.read(at, layout.size), layout) for at in starts]).reshape(-1)
            level[...] = data.view(level.dtype).reshape(level.shape)


def _forget(device: Device, number: int, mapping: GpuMapping) -> None:
    device.slots.give_back(number)
    device.release(mapping)


class Texture(Image):
    """A texture with its sampler, for kernels that take a texture object.

    :param array, kind, format, numbers, size: as for `Image`.
    :param filter: "nearest" or "linear"; `mip_filter` the same between mip levels, or "none".
    :param address: address mode outside of the texture, one for all axes or one each: "wrap", "mirror", "clamp",
        "border", "clamp_gl", "mirror_once", "mirror_once_border", "mirror_once_gl".
    :param normalized: whether coordinates go from 0 to 1 instead of being in texels.
    :param border: red, green, blue and alpha of the border.
    :param srgb: red, green and blue are sRGB.
    :param compare: "less", "less_equal", ...: the comparison of a reference with depths.
    :param anisotropy: samples of an anisotropic filter, 1 to 16.
    :param lod_bias, lod_range: added to the level of detail, and its bounds.
    :param seamless: filter across the edges of a cube.
    """

    def __init__(
        self, array: Any, kind: str = "2d", *, format: str | None = None, numbers: str | None = None,
        size: tuple[int, int] | None = None, filter: str = "nearest", mip_filter: str = "none",
        address: str | Sequence[str] = "clamp", normalized: bool = False,
        border: Sequence[float] = (0.0, 0.0, 0.0, 0.0), srgb: bool = False, compare: str | None = None,
        anisotropy: int = 1, lod_bias: float = 0.0, lod_range: tuple[float, float] = (0.0, 15.0),
        seamless: bool = True,
    ) -> None:  # fmt: skip
        copies = [np.array(a) for a in array] if isinstance(array, list | tuple) else np.array(array)
        self.normalized, self.srgb = normalized, srgb
        super().__init__(copies, kind, format=format, numbers=numbers, size=size)
        modes = [address] * 3 if isinstance(address, str) else [*address, *["clamp"] * 3][:3]
        modes = [_SAME_ADDRESS.get(mode, mode) for mode in modes]
        checks: list[tuple[str, str, Iterable[str]]] = [("address", mode, _ADDRESSES) for mode in modes]
        for name, value, known in [*checks, ("filter", filter, _FILTERS)]:
            if value not in known:
                raise UsageError(f"there is no {name} {value!r}", hint=f"There are {', '.join(known)}.")
        if mip_filter not in ("none", *_FILTERS):
            raise UsageError(f"there is no mip_filter {mip_filter!r}", hint=f"There are none, {', '.join(_FILTERS)}.")
        if compare is not None and compare not in _COMPARES:
            raise UsageError(f"there is no comparison {compare!r}", hint=f"There are {', '.join(_COMPARES)}.")
        if anisotropy not in _ANISOTROPY:
            raise UsageError(f"an anisotropic filter takes {_ANISOTROPY} samples, not {anisotropy}")
        integer = self.numbers in ("uint", "sint")
        colour = np.array([*border, 0.0, 0.0, 0.0, 0.0][:4])
        words = (colour.astype(np.int64) & 0xFFFFFFFF if integer else colour.astype("<f4").view("<u4")).tolist()
        codes = to_rgba8(colour.reshape(1, 1, 4))[0, 0, :3].tolist()
        fixed = lambda v, low: round(min(max(v, low), 15.99) * 256) / 256
        self._words = _packed(TSC, {
            **{f"ADDRESS_{axis}": _ADDRESSES[mode] for axis, mode in zip("UVP", modes, strict=True)},
            "MAG_FILTER": f"MAG_{_FILTERS[filter]}",
            "MIN_FILTER": "MIN_ANISO" if anisotropy > 1 else f"MIN_{_FILTERS[filter]}",
            "MIP_FILTER": f"MIP_{_FILTERS.get(mip_filter, 'NONE')}",
            "MAX_ANISOTROPY": f"ANISO_{anisotropy}_TO_1",
            "DEPTH_COMPARE": int(compare is not None), "DEPTH_COMPARE_FUNC": _COMPARES[compare or "never"],
            "CUBEMAP_INTERFACE_FILTERING": "AUTO_CROSS_SEAM" if seamless else "USE_WRAP",
            **{f"S_R_G_B_BORDER_COLOR_{c}": code for c, code in zip("RGB", codes, strict=True)},
            "MIP_LOD_BIAS": fixed(lod_bias, -16.0), "MIN_LOD_CLAMP": fixed(lod_range[0], 0.0),
            "MAX_LOD_CLAMP": fixed(lod_range[1], 0.0),
        })  # fmt: skip
        # The border has the type of the texels: floats or integers, in the same bits.
        first = TSC["BORDER_COLOR_R"].lo // 32
        self._words[first : first + 4] = words
        self._uploaded: weakref.WeakSet[Device] = weakref.WeakSet()

    def _more(self) -> dict[str, Any]:
        return {"NORMALIZED_COORDS": int(self.normalized), "S_R_G_B_CONVERSION": int(self.srgb)}

    def _sampler(self) -> list[int]:
        return self._words

    def handle(self, device: Device) -> int:
        """The handle of the texture on a device: header in bits 19:0, sampler in bits 31:20."""
        if device not in self._uploaded:
            self.upload(device)
            self._uploaded.add(device)
        return self.place(device).handle


def _handle(number: int) -> int:
    """The handle of a header and a sampler of one number."""
    return HANDLE["SAMPLER"].encode(number, HANDLE["HEADER"].encode(number))


def _packed(structure: BitStructure, values: Mapping[str, Any]) -> list[int]:
    """Words of a structure, with members of enumerations by name."""
    codes = {}
    for name, value in values.items():
        if isinstance(value, str):
            value = structure[name].values.number(value)
        codes[name] = value
    return structure.pack(codes)


class Surface(Image):
    """Texels that kernels read and write in place; after a launch the array has the new texels.

    :param array, kind, format, numbers: as for `Image`. Cubes are arrays of faces here.
    """

    def __init__(
        self, array: Any, kind: str = "2d", *, format: str | None = None, numbers: str | None = None
    ) -> None:  # fmt: skip
        kind = {"cube": "2d_array", "cube_array": "2d_array"}.get(kind, kind)
        super().__init__(array, kind, format=format, numbers=numbers)

    def handle(self, device: Device) -> int:
        """The handle of the surface on a device, after copying its texels there."""
        self.upload(device)
        return self.place(device).handle

    def take_back(self, device: Device) -> None:
        """Copy the kernels' writes into the array."""
        if all(array.flags.writeable for array in self.arrays):
            self.download(device)


__all__ = ["DESCRIPTOR", "SLOTS", "Image", "Slots", "Surface", "Texture"]
