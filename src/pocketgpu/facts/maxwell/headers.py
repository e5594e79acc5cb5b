"""Structures that the Tegra X1's GPU reads from memory: texture and sampler headers, QMDs, shader headers, GPFIFO.

Their dialect is explained in `facts/dialect/structures.py`.

Sources: NVIDIA's public headers for class B197 and A140 (textures, samplers), B1C0 (QMD), A06F (GPFIFO); the shader
program header is the Kepler one of the same vendor, the only public description. Texture handles are as in drivers
(Mesa's and deko3d's agree).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pocketgpu.facts.dialect.structures import BitField as BitField
from pocketgpu.facts.dialect.structures import BitStructure as BitStructure
from pocketgpu.facts.dialect.structures import Data as Data
from pocketgpu.facts.dialect.structures import as_number as as_number
from pocketgpu.facts.maxwell.classes import TABLES


def _set(file: str, bits: int, titles: Mapping[str, str]) -> dict[str, BitStructure]:
    return {name: BitStructure(TABLES, file, name, bits, title) for name, title in titles.items()}


TIC: Final[Mapping[str, BitStructure]] = _set(
    "tic.tsv",
    256,
    {
        "1D": "texture header, buffer",
        "PITCHCK": "texture header, pitch with colour key",
        "PITCH": "texture header, pitch",
        "BL": "texture header, block-linear",
        "BLCK": "texture header, block-linear with colour key",
        "LEGACY_V1": "texture header before Maxwell",
        "LEGACY_V2": "texture header before Maxwell, second form",
        "LEGACY_V3": "texture header before Maxwell, third form",
    },
)
"""Texture headers by version. The legacy forms are used while SET_SELECT_MAXWELL_TEXTURE_HEADERS is 0."""

TIC_BY_VERSION: Final[Mapping[int, BitStructure]] = dict(
    enumerate(TIC[name] for name in ("1D", "PITCHCK", "PITCH", "BL", "BLCK"))
)
"""The header for each HEADER_VERSION, which all Maxwell headers have at the same place."""

HANDLE: Final = BitStructure(TABLES, "tic.tsv", "HANDLE", 32, "texture handle")
"""The number by which programs select a texture and a sampler."""

TSC: Final = BitStructure(TABLES, "tsc.tsv", "TSC", 256, "sampler")
"""The sampler."""

QMD: Final[Mapping[str, BitStructure]] = _set(
    "qmd.tsv", 2048, {"00_06": "compute launch, version 0.6", "01_07": "compute launch, version 1.7"}
)
"""Queue metadata, which describes one compute launch, by version. Drivers of the Switch write 1.7."""

SPH: Final[Mapping[str, BitStructure]] = _set(
    "sph.tsv", 640, {"VTG": "shader header, vertex to geometry", "PS": "shader header, pixel"}
)
"""Shader program headers, stored before the code of a graphics program."""

GPFIFO: Final[Mapping[str, BitStructure]] = {
    "ENTRY": BitStructure(TABLES, "gpfifo.tsv", "ENTRY", 64, "GPFIFO entry"),
    "HEADER": BitStructure(TABLES, "gpfifo.tsv", "HEADER", 32, "pushbuffer method header"),
    "USERD": BitStructure(TABLES, "gpfifo.tsv", "USERD", 1152, "user channel memory"),
}
"""The structures that feed a channel: entries of the ring, headers in a pushbuffer, the page of the ring's pointers."""

STRUCTURES: Final[tuple[BitStructure, ...]] = (
    *TIC.values(), HANDLE, TSC, *QMD.values(), *SPH.values(), *GPFIFO.values(),
)  # fmt: skip
"""All of them."""


def numbers_of(handle: int, joined: bool = False) -> tuple[int, int]:
    """Numbers of the texture header and of the sampler in a handle. joined: samplers use the header's number."""
    number = HANDLE["HEADER"].raw(handle)
    return number, number if joined else HANDLE["SAMPLER"].raw(handle)


def tic_of(data: Data) -> BitStructure | None:
    """The structure of a Maxwell texture header, by its version field; None for an unknown version."""
    return TIC_BY_VERSION.get(TIC["BL"]["HEADER_VERSION"].raw(data))
