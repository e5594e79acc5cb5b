"""Resources of a draw or launch besides vertices: textures, programs, constant buffers. Consoles have subclasses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import Displayed, picture_html, title_html
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.event import Range
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pictures import png_bytes
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from PIL.Image import Image


MOST_TEXELS = 1 << 24
"""Most texels of a part whose places are told: 4096 x 4096."""
Addresses = NDArray[np.int64]
Pixels = NDArray[np.uint8]


@dataclass(frozen=True, repr=False)
class TextureFacts(Displayed):
    """Properties of a texture, without its texels.

    name: for file names: "unit0" on a 3DS; on a Switch "pixel.c2.0x20", the texture whose handle the pixel program
    reads at byte 0x20 of constant bank 2. bound: where it is bound, as text. kind: "2D", "cube", ... width, height,
    depth: in texels. layers: 6 for a cube. levels: mipmap levels, the first one included. address: None where there is
    no memory. settings: wrapping and filters, by the console's register names. fault: why it cannot be read, or "".
    """

    name: str
    bound: str
    enabled: bool = True
    kind: str = ""
    format: str = ""
    width: int = 0
    height: int = 0
    depth: int = 1
    layers: int = 1
    levels: int = 1
    address: int | None = None
    settings: Mapping[str, Any] | None = None
    fault: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        address = None if self.address is None else f"{self.address:#x}"
        return {**vars(self), "address": address, "settings": dict(self.settings or {})}

    def __str__(self) -> str:
        if self.fault:
            return f"{self.bound}: {self.fault}"
        size = "x".join(str(n) for n in (self.width, self.height, self.depth) if n > 1) or "1"
        where = "no memory" if self.address is None else f"{self.address:#x}"
        more = [f"{counted(self.levels, 'level')}"] if self.levels > 1 else []
        more += [f"{counted(self.layers, 'layer')}"] if self.layers > 1 else []
        more += [] if self.enabled else ["off"]
        return ", ".join([f"{self.bound}: {self.kind} {size} {self.format} at {where}", *more])


@dataclass(frozen=True, repr=False)
class TexturePart(Displayed):
    """A picture of a texture. name: as `Texture.pictures` calls it. layer: a face of a cube or an element of an array;
    z: a slice of a 3D texture."""

    name: str
    width: int
    height: int
    level: int = 0
    layer: int = 0
    z: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return dict(vars(self))

    def check(self, x: int, y: int) -> None:
        """Refuse a texel that does not exist.

        :raises UsageError: there is no such texel.
        """
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise UsageError(
                f"{self.name} has no texel at {x},{y}", location=self.name,
                hint=f"It has {self.width} x {self.height} texels.",
            )  # fmt: skip

    def __str__(self) -> str:
        return f"{self.name}: {self.width}x{self.height}"


def order_of(addresses: Addresses) -> NDArray[np.int64]:
    """The numbers of texels (row by row) in the order of their addresses; those of a block stay in order of rows."""
    return np.argsort(addresses, axis=None, kind="stable")


def in_order(pixels: Pixels, addresses: Addresses) -> Pixels:
    """A picture with its texels in the order of memory, row by row, in as many columns as before."""
    return np.ascontiguousarray(pixels.reshape(-1, 4)[order_of(addresses)].reshape(pixels.shape))


class Texture(Displayed, ABC):
    """A bound texture."""

    @property
    @abstractmethod
    def facts(self) -> TextureFacts:
        """Its properties."""

    @property
    @abstractmethod
    def image(self) -> Image:
        """Its first level as a picture.

        :raises UsageError: it cannot be read.
        """

    @abstractmethod
    def pictures(self) -> dict[str, NDArray[np.uint8]]:
        """All levels of all layers by names such as "unit0.level1": RGBA (height, width, 4), uint8.

        :raises UsageError: it cannot be read, or there is no decoder for its format.
        """

    @property
    @abstractmethod
    def parts(self) -> tuple[TexturePart, ...]:
        """Its levels, layers and slices, in the order of `pictures`.

        :raises UsageError: it cannot be read.
        """

    @abstractmethod
    def pixels(self, part: TexturePart) -> NDArray[np.uint8]:
        """The picture of a part: RGBA (height, width, 4), uint8.

        :raises UsageError: it cannot be read, or there is no decoder for its format.
        """

    @abstractmethod
    def addresses(self, part: TexturePart) -> NDArray[np.int64]:
        """The address of each texel of the picture of a part: (height, width). Of a compressed format, of the block
        that has the texel; two texels of 4 bits share a byte.

        :raises UsageError: it cannot be read, it has no memory, or the part has more than `MOST_TEXELS`.
        """

    @property
    @abstractmethod
    def texel_bytes(self) -> int:
        """Bytes that hold a texel or, of a compressed format, a block of texels."""

    @property
    @abstractmethod
    def memory_size(self) -> int:
        """Bytes of memory that its levels and layers take, with what lies between them.

        :raises UsageError: it cannot be read.
        """

    def sampled(self, part: TexturePart, x: int, y: int) -> list[float]:
        """The four components of a texel as programs get them without filtering: numbers of the format, whole ones of
        a format of integers.

        :raises UsageError: as `pixels`, or there is no such texel.
        """
        part.check(x, y)
        return [component / 255 for component in self.pixels(part)[y, x].tolist()]

    def part(self, name: str) -> TexturePart:
        """The part of a name.

        :raises UsageError: there is none.
        """
        parts = {one.name: one for one in self.parts}
        if name not in parts:
            known = ", ".join(list(parts)[:8])
            raise UsageError(f"the texture has no part '{name}'", location=name, hint=f"There are: {known}.")
        return parts[name]

    def stored(self, part: TexturePart) -> NDArray[np.uint8]:
        """The texels of a part in the order of memory, row by row, in as many columns as the picture has.

        :raises UsageError: as `pixels` and `addresses`.
        """
        return in_order(self.pixels(part), self.addresses(part))

    def place(self, part: TexturePart, x: int, y: int) -> Range:
        """The bytes of a texel.

        :raises UsageError: there is no such texel, or as `addresses`.
        """
        part.check(x, y)
        return Range(int(self.addresses(part)[y, x]), self.texel_bytes)

    def to_json(self) -> dict[str, Any]:
        """Plain data, without texels."""
        return self.facts.to_json()

    def _repr_png_(self) -> bytes | None:
        try:
            return png_bytes(self.image)
        except UsageError:
            return None

    def _repr_html_(self) -> str:
        return title_html(str(self)) + picture_html(self._repr_png_())

    def __str__(self) -> str:
        return str(self.facts)


class Program(Displayed, ABC):
    """A bound shader program. unit: what it shades: "vertex", "geometry", "pixel"."""

    unit: str

    @property
    @abstractmethod
    def digest(self) -> str:
        """16 hexadecimal digits, equal for equal programs."""

    @property
    @abstractmethod
    def size(self) -> str:
        """How long it is, in words."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The program, disassembled."""

    @property
    @abstractmethod
    def begins(self) -> int:
        """Its entry point: the number of an instruction on a 3DS, an address on a Switch."""

    @property
    def uniforms(self) -> Mapping[str, list[Any]]:
        """Values by name, where they belong to the program; a Switch has constant buffers instead."""
        return {}

    def to_json(self, contents: bool = True) -> dict[str, Any]:
        """Plain data. contents: with its text and its uniforms."""
        found: dict[str, Any] = {
            "unit": self.unit, "digest": self.digest, "begins": f"{self.begins:#x}", "size": self.size,
        }  # fmt: skip
        if contents:
            found["text"] = self.text
            found["uniforms"] = {name: list(map(_plain, row)) for name, row in self.uniforms.items()}
        return found

    def __str__(self) -> str:
        """A line, then the program's text."""
        return f"{self.unit} program {self.digest}, {self.size}\n{self.text}"

    def __repr__(self) -> str:
        return f"<{self.unit} program {self.digest}, {self.size}>"


def _plain(value: Any) -> Any:
    """The value as JSON can hold it."""
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


@dataclass(frozen=True, repr=False)
class ConstantBuffer(Displayed):
    """A constant buffer that is bound to a group of programs. data: its bytes."""

    group: str
    slot: int
    address: int
    size: int
    data: bytes

    def to_json(self, contents: bool = True) -> dict[str, Any]:
        """Its place. contents: with its bytes as hexadecimal."""
        found: dict[str, Any] = {
            "group": self.group, "slot": self.slot, "address": f"{self.address:#x}", "size": self.size,
        }  # fmt: skip
        return {**found, "data": self.data.hex()} if contents else found

    @property
    def words(self) -> NDArray[np.uint32]:
        """Its whole words; `.view(np.float32)` gives numbers."""
        return np.frombuffer(self.data[: len(self.data) & ~3], "<u4").astype(np.uint32)

    def lines(self, most: int) -> Iterator[str]:
        """Its words as hexadecimal and as floats, four per line; at most `most` words."""
        words = self.words
        for at in range(0, min(len(words), most), 4):
            row = words[at : at + 4]
            numbers = ", ".join(f"{value:.7g}" for value in row.view(np.float32).tolist())
            yield f"c[{self.slot:#x}][{4 * at:#x}] " + " ".join(f"{word:08x}" for word in row.tolist()) + f"  {numbers}"
        if len(words) > most:
            yield f"{counted(len(words) - most, 'word')} more; --json has them all"

    def __str__(self) -> str:
        return f"{self.group} c[{self.slot:#x}]: {counted(self.size, 'byte')} at {self.address:#x}"


__all__ = ["ConstantBuffer", "Program", "Texture", "TextureFacts"]
