"""Shader program headers: inputs, outputs, and the resources that a program needs.

The maps of a header have a bit (for inputs of pixel programs mostly two) for each word of attribute space, so the
address of an attribute follows from the position of its field.
Source: NVIDIA's public description of the Kepler shader program header; the bit of the viewport mask is a driver's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell.headers import SPH, BitStructure, as_number
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.graphics.records import MAP_WORDS, MAX_TARGETS, PAGE_DUMP, PAGE_SLOTS, PAGE_ZERO
from pocketgpu.maxwell.sass.stages.stage import CONTROL, PIXEL, VERTEX, VIEWPORT_MASK
from pocketgpu.maxwell.sass.thread_memory.work import VECTOR

HEADER_SIZE = 0x50
"""Bytes of a header; code follows."""
VERSION = 3
PATCH_GENERIC = 0x20
"""Address of the first generic attribute of a patch."""
# Parts of a map: first bit, address of the first word, bits of a word.
_VTG_IN, _VTG_OUT = ((160, 0, 1),), ((400, 0, 1),)
_PS_IN = ((160, 0x000, 1), (192, 0x080, 2), (464, 0x2C0, 1), (480, 0x300, 2))
_VIEWPORT_MASK_BIT = 632
_PASS_THROUGH_BIT = 24
_TYPES = SPH["PS"]["SPH_TYPE"].values
_LEVELS = ("TESSELLATION_LOD", "TESSELLATION_INTERIOR")
"""Fields of words that belong to a patch, not to a vertex."""

_KINDS = SPH["PS"]["GENERIC_IMAP_X"].values
FLAT, PERSPECTIVE, LINEAR = _KINDS.CONSTANT, _KINDS.PERSPECTIVE, _KINDS.SCREEN_LINEAR
"""Interpolation of a pixel program's input."""


class _Word(NamedTuple):
    """A word of attribute space, and the bits of a map that tell about it."""

    address: int
    name: str
    lo: int
    width: int

    def raw(self, number: int) -> int:
        """What a header, as a number, has in these bits."""
        return number >> self.lo & (1 << self.width) - 1


def _words(structure: BitStructure, kind: str, parts: Iterable[tuple[int, int, int]]) -> Iterator[_Word]:
    """The words of a map."""
    parts = sorted(parts, reverse=True)
    for field in structure:
        if kind in field.name and not any(level in field.name for level in _LEVELS):
            for name, lo in field.places():
                first, address, bits = next(part for part in parts if part[0] <= lo)
                yield _Word(address + 4 * ((lo - first) // bits), name, lo, field.width)


_VTG_INPUTS = tuple(_words(SPH["VTG"], "IMAP", _VTG_IN))
_VTG_OUTPUTS = tuple(_words(SPH["VTG"], "OMAP", _VTG_OUT))
_PS_INPUTS = tuple(_words(SPH["PS"], "IMAP", _PS_IN))


@dataclass(frozen=True)
class Header:
    """A decoded header of 0x50 bytes. `number`: all of it as a number."""

    number: int

    @staticmethod
    def of(data: bytes) -> Header:
        """Decode a header from its bytes."""
        return _header_of(as_number(data[:HEADER_SIZE]))

    def _get(self, name: str) -> int:
        return self.structure[name].raw(self.number)

    @cached_property
    def structure(self) -> BitStructure:
        """The layout of its fields."""
        return SPH["PS"] if SPH["PS"]["SPH_TYPE"].raw(self.number) == _TYPES.TYPE_02_PS else SPH["VTG"]

    @cached_property
    def stage(self) -> int:
        """The stage of the program: VERTEX to PIXEL, or an invalid number."""
        return self._get("SHADER_TYPE")

    @property
    def fits(self) -> bool:
        """Whether type and stage match."""
        pixel = self.structure is SPH["PS"]
        vtg = self._get("SPH_TYPE") == _TYPES.TYPE_01_VTG
        return self.stage == PIXEL if pixel else vtg and VERTEX <= self.stage < PIXEL

    @cached_property
    def kills(self) -> bool:
        """Whether KIL has an effect."""
        return bool(self._get("KILLS_PIXELS"))

    @cached_property
    def many_targets(self) -> bool:
        """Whether each output has its own target; otherwise the first goes to all targets."""
        return bool(self._get("MRT_ENABLE"))

    @cached_property
    def stores(self) -> bool:
        """Whether the program can change memory."""
        return bool(self._get("DOES_GLOBAL_STORE"))

    @cached_property
    def local_size(self) -> int:
        """Bytes of local memory of a thread."""
        return self._get("SHADER_LOCAL_MEMORY_LOW_SIZE") + self._get("SHADER_LOCAL_MEMORY_HIGH_SIZE")

    @cached_property
    def patch_words(self) -> int:
        """Words of a patch's generic attributes."""
        return self._get("PER_PATCH_ATTRIBUTE_COUNT")

    @cached_property
    def threads(self) -> int:
        """Threads for each patch (control) or primitive (geometry)."""
        return max(self._get("THREADS_PER_INPUT_PRIMITIVE"), 1)

    @cached_property
    def topology(self) -> int:
        """The output of a geometry program in OUTPUT_TOPOLOGY's numbers: points, line strips or triangle strips."""
        return self._get("OUTPUT_TOPOLOGY")

    @cached_property
    def most_vertices(self) -> int:
        """The most vertices that an invocation of a geometry program can emit."""
        return self._get("MAX_OUTPUT_VERTEX_COUNT")

    @cached_property
    def streams(self) -> int:
        """Mask of the streams that a geometry program writes."""
        return self._get("STREAM_OUT_MASK")

    @cached_property
    def pass_through(self) -> bool:
        """Whether a geometry program passes its vertices through (bit 24, by a driver's name for it)."""
        return bool(self.number >> _PASS_THROUGH_BIT & 1) and self.structure is SPH["VTG"]

    @cached_property
    def inputs(self) -> Mapping[int, int]:
        """Addresses of the input words; for pixels with their interpolation.

        FLAT to LINEAR; 1 where that does not matter.
        """
        table = _PS_INPUTS if self.structure is SPH["PS"] else _VTG_INPUTS
        return {one.address: raw for one in table if (raw := one.raw(self.number))}

    @cached_property
    def outputs(self) -> tuple[int, ...]:
        """Addresses of the output words, ascending; none for pixels."""
        if self.structure is SPH["PS"]:
            return ()
        found = [one.address for one in _VTG_OUTPUTS if one.raw(self.number)]
        return tuple(sorted({*found, *([VIEWPORT_MASK] if self.number >> _VIEWPORT_MASK_BIT & 1 else [])}))

    # -- pixels -----------------------------------------------------------------------------------------------------
    @cached_property
    def targets(self) -> tuple[int, ...]:
        """For each target a mask of the components that the program writes."""
        if self.structure is not SPH["PS"]:
            return ()
        names = ("OMAP_RED", "OMAP_GREEN", "OMAP_BLUE", "OMAP_ALPHA")
        get = lambda name, n: self.structure[name](n).raw(self.number)
        return tuple(sum(get(name, n) << c for c, name in enumerate(names)) for n in range(MAX_TARGETS))

    @cached_property
    def target_registers(self) -> tuple[int | None, ...]:
        """For each target the first of its four registers: targets follow each other, those without components have
        None."""
        count, found = 0, []
        for mask in self.targets:
            found.append(4 * count if mask else None)
            count += bool(mask)
        return tuple(found)

    @property
    def _behind_targets(self) -> int:
        return 4 * sum(map(bool, self.targets))

    @cached_property
    def mask_register(self) -> int | None:
        """Register of the sample mask, None if the program does not write one."""
        return self._behind_targets if self.structure is SPH["PS"] and self._get("OMAP_SAMPLE_MASK") else None

    @cached_property
    def depth_register(self) -> int | None:
        """Register of the depth, None if the program does not write it. The mask's register is reserved even if it is
        unused."""
        return self._behind_targets + 1 if self.structure is SPH["PS"] and self._get("OMAP_DEPTH") else None

    @cached_property
    def output_registers(self) -> tuple[int, ...]:
        """Registers that are outputs at the end of a pixel program."""
        colours = [n + c for n, mask in zip(self.target_registers, self.targets, strict=True) if n is not None
                   for c in range(4) if mask >> c & 1]  # fmt: skip
        return tuple(n for n in (*colours, self.mask_register, self.depth_register) if n is not None)


@lru_cache(maxsize=256)
def _header_of(number: int) -> Header:
    """A header, with what was decoded of it before: programs have the same ones, and so do machines."""
    return Header(number)


@dataclass(frozen=True, eq=False)
class PageLayout:
    """Layout of attributes in a page: MAP_WORDS byte offsets for writing and for reading; vectors of a page."""

    written: NDArray[np.int32]
    read: NDArray[np.int32]
    vectors: int


def layout_of(addresses: Iterable[int]) -> PageLayout:
    """A page with a slot for each of these words. Writes to other words are lost; reads of them give zero."""
    written = np.full(MAP_WORDS, PAGE_DUMP, np.int32)
    read = np.full(MAP_WORDS, PAGE_ZERO, np.int32)
    count = 0
    for count, address in enumerate(sorted(set(addresses)), 1):
        written[address >> 2] = read[address >> 2] = PAGE_SLOTS + (count - 1) * VECTOR
    return PageLayout(written, read, PAGE_SLOTS // VECTOR + count)


def patch_layout(header: Header) -> PageLayout:
    """The page of patches that a control program writes: levels, then its generic attributes."""
    assert header.stage == CONTROL
    return layout_of(range(0, min(PATCH_GENERIC + 4 * header.patch_words, 4 * MAP_WORDS), 4))


def packed(
    stage: int, inputs: Mapping[int, int], outputs: Iterable[int], fields: Mapping[str, int], pass_through: bool = False
) -> bytes:  # fmt: skip
    """The bytes of a header, the reverse of `Header`.

    inputs: input words, with their interpolation in a pixel program. outputs: output words. Addresses that are in no
    map are ignored. fields: other fields by their names in the table, `NAME(3)` for elements. pass_through: as in
    `Header`.

    :raises KeyError: there is no such field.
    :raises ValueError: a value does not fit into its field.
    """
    pixel = stage == PIXEL
    type = _TYPES.TYPE_02_PS if pixel else _TYPES.TYPE_01_VTG
    values = {"SPH_TYPE": type, "VERSION": VERSION, "SHADER_TYPE": stage, **fields}
    tables = (
        (_PS_INPUTS if pixel else _VTG_INPUTS, inputs),
        (() if pixel else _VTG_OUTPUTS, dict.fromkeys(outputs, 1)),
    )
    for table, wanted in tables:
        values |= {one.name: min(wanted[one.address], (1 << one.width) - 1) for one in table if one.address in wanted}
    image = b"".join(word.to_bytes(4, "little") for word in SPH["PS" if pixel else "VTG"].pack(values))
    # No table names these two.
    more = (VIEWPORT_MASK in tables[1][1]) << _VIEWPORT_MASK_BIT | pass_through << _PASS_THROUGH_BIT
    return (int.from_bytes(image, "little") | (0 if pixel else more)).to_bytes(HEADER_SIZE, "little")
