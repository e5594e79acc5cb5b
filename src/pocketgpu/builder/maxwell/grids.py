"""Grids of threads, and the queue metadata (QMDs) that describes them to the compute class.

    grid = Grid(program=capture.put(code), blocks=(8,), threads=(32,), constants={0: (buffer, 0x100)})
    PushBuffer().bind("compute").launch(capture.allocate(256), grid)

Source: NVIDIA's public header of QMDs, through facts/maxwell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.dialect.registers import Value
from pocketgpu.facts.maxwell.headers import QMD
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

QMD_BYTES = 256
LOCAL_WINDOW, SHARED_WINDOW = 0x0100_0000, 0x0300_0000
"""Generic addresses of local and shared memory, as in a driver of the Switch."""
_REGION = 1 << 32
"""Program addresses have 32 bits, which count from the start of a program region."""
_QMD = QMD["01_07"]
_UNIT = _QMD["DEPENDENT_QMD_POINTER"].scale


@dataclass(frozen=True)
class Grid:
    """A grid of blocks of threads.

    program: GPU address of the code, which begins with a control word. blocks, threads: one to three sizes. constants:
    slot to (GPU address, bytes). registers, local: per thread (the latter in bytes); shared: bytes per block. releases:
    up to two (GPU address, payload) that are stored at the end. after: GPU address of the QMD that runs next. fields:
    other fields of the QMD by name.
    """

    program: int
    blocks: Sequence[int]
    threads: Sequence[int]
    constants: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    registers: int = 32
    shared: int = 0
    local: int = 0
    releases: Sequence[tuple[int, int]] = ()
    after: int | None = None
    fields: Mapping[str, Value] = field(default_factory=dict)

    def __repr__(self) -> str:
        blocks, threads = ("x".join(map(str, sizes)) for sizes in (self.blocks, self.threads))
        return line_of(
            self, f"program at {self.program:#x}, {counted(blocks, 'block')} of {counted(threads, 'thread')}"
        )

    @property
    def region(self) -> int:
        """The program region that the QMD's program counts from."""
        return self.program - self.program % _REGION

    def qmd(self) -> bytes:
        """The 256 bytes of queue metadata, of version 1.7.

        :raises UsageError: a size or address that does not fit.
        """
        values: dict[str, Value] = {
            "QMD_MAJOR_VERSION": 1, "QMD_VERSION": 7,
            "API_VISIBLE_CALL_LIMIT": _QMD["API_VISIBLE_CALL_LIMIT"].values.NO_CHECK,
            "SM_GLOBAL_CACHING_ENABLE": 1, "PROGRAM_OFFSET": self.program % _REGION, "REGISTER_COUNT": self.registers,
            "SHARED_MEMORY_SIZE": self.shared, "SHADER_LOCAL_MEMORY_LOW_SIZE": self.local,
            "SHADER_LOCAL_MEMORY_CRS_SIZE": 0x800,
        }  # fmt: skip
        sizes = zip(("WIDTH", "HEIGHT", "DEPTH"), _three(self.blocks), _three(self.threads), strict=True)
        for axis, (name, blocks, threads) in enumerate(sizes):
            values[f"CTA_RASTER_{name}"] = blocks
            values[f"CTA_THREAD_DIMENSION{axis}"] = threads
        for slot, (address, size) in self.constants.items():
            values[f"CONSTANT_BUFFER_VALID({slot})"] = 1
            values |= _address(f"CONSTANT_BUFFER_ADDR_{{}}({slot})", address)
            values[f"CONSTANT_BUFFER_SIZE({slot})"] = size
        for which, (address, payload) in enumerate(self.releases):
            words = f"RELEASE{which}_STRUCTURE_SIZE"
            values |= {f"SEMAPHORE_RELEASE_ENABLE{which}": 1, words: _QMD[words].values.ONE_WORD}
            values |= {f"RELEASE{which}_PAYLOAD": payload, **_address(f"RELEASE{which}_ADDRESS_{{}}", address)}
        if self.after is not None:
            values |= {"DEPENDENT_QMD_SCHEDULE_ENABLE": 1, "DEPENDENT_QMD_TYPE": _QMD["DEPENDENT_QMD_TYPE"].values.GRID}
            values["DEPENDENT_QMD_POINTER"] = shifted(self.after)
        try:
            packed = _QMD.pack({**values, **self.fields})
        except (KeyError, IndexError, ValueError) as problem:
            raise UsageError(f"the grid does not fit a QMD: {problem}") from None
        return b"".join(word.to_bytes(4, "little") for word in packed)


def _three(sizes: Sequence[int]) -> tuple[int, int, int]:
    if not 1 <= len(sizes) <= 3:
        raise UsageError(f"one to three sizes, not {len(sizes)}")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _address(name: str, address: int) -> dict[str, Value]:
    return {name.format("UPPER"): address >> 32, name.format("LOWER"): address % _REGION}


def shifted(address: int) -> int:
    """The address of a QMD in the form of methods and other QMDs.

    :raises UsageError: a QMD cannot be at this address.
    """
    if address % _UNIT or not 0 <= address < 1 << 40:
        raise UsageError(f"no QMD can be at {address:#x}", hint=f"Addresses are multiples of {_UNIT}.")
    return address // _UNIT


__all__ = ["LOCAL_WINDOW", "QMD_BYTES", "SHARED_WINDOW", "Grid", "shifted"]
