"""Command lists, word by word, and the uploads that go through data ports.

`CommandList` knows how entries are laid out and how each port wants its words; what makes a draw is in drawing.py.

Source: 3dbrew GPU/Internal Registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import UsageError
from ..facts.pica import PICA
from ..facts.pica_enums import LIGHT_LUT, PROCTEX_TABLE
from ..facts.registers import encode_float
from ..pica.shader.assembler import Assembly
from .drawing import Drawing
from .values import FieldValue, encode_register, register_of

Words: TypeAlias = NDArray[np.uint32]

MOST_PARAMETERS = 256
"""Words that one entry can carry: its first one and up to 255 more."""
FINALIZE_VALUE = 0x12345678
UNITS = ("VSH", "GSH")


class CommandList(Drawing):
    """A command list in the making.

        cl = CommandList()
        cl.write("TEXUNIT0_DIM", width=64, height=64)
        cl.write("DEPTH_COLOR_MASK", depth_test=True, depth_function="greater", red=True)
        data = cl.finalize().tobytes()

    Methods return the list itself, so that calls can be chained. All raise UsageError for names that do not exist and
    values that do not fit.
    """

    def __init__(self) -> None:
        self._words: list[int] = []
        self._finalized = False

    # -- entries ----------------------------------------------------------------------------------------------------
    def write(self, register: str | int, word: int = 0, /, *, mask: int = 15, **fields: FieldValue) -> CommandList:
        """Write a register: `word` with the named fields set. mask: which of its bytes are written (bit 0: the low).

        Field values are as people write them: True, 0.5 for floats, addresses in bytes, counts as counts, names of
        enumerations as the tables spell them ("triangle strip").
        """
        target = register_of(PICA, register)
        return self.write_word(target.offset, encode_register(target, fields, word), mask=mask)

    def write_word(self, register: str | int, word: int, *, mask: int = 15) -> CommandList:
        """Write a whole register word."""
        return self.write_words(register, [word], mask=mask)

    def write_words(
        self, register: str | int, words: Iterable[int], *, consecutive: bool = True, mask: int = 15
    ) -> CommandList:
        """Write words to registers from `register` on, or (consecutive False) all to `register`, in order."""
        number = register_of(PICA, register).offset
        values = [int(word) & 0xFFFFFFFF for word in words]
        if not 0 <= mask <= 15:
            raise UsageError(f"mask has four bits, not {mask:#x}")
        if consecutive and number + len(values) > len(PICA):
            raise UsageError(f"{len(values)} words from {number:#05x} on go past the last register")
        self._must_be_open()
        for start in range(0, len(values), MOST_PARAMETERS):
            part = values[start : start + MOST_PARAMETERS]
            id = number + (start if consecutive else 0)
            header = id | mask << 16 | (len(part) - 1) << 20 | (1 << 31 if consecutive and len(part) > 1 else 0)
            self._words += [part[0], header, *part[1:]]
            if len(part) % 2 == 0:  # entries are whole pairs of words
                self._words.append(0)
        return self

    def fifo(self, register: str | int, words: Iterable[int]) -> CommandList:
        """Send words through a data port."""
        return self.write_words(register, words, consecutive=False)

    def _must_be_open(self) -> None:
        if self._finalized:
            raise UsageError("the command list is finished; nothing can be added")

    # -- shaders ----------------------------------------------------------------------------------------------------
    def upload_code(self, words: Iterable[int], start: int = 0, unit: str = "VSH") -> CommandList:
        """Program words into a shader unit ("VSH" or "GSH") from instruction `start` on."""
        self.write(f"{_unit(unit)}_CODETRANSFER_INDEX", index=start)
        self.fifo(f"{unit}_CODETRANSFER_DATA0", words)
        return self.write_word(f"{unit}_CODETRANSFER_END", 1)

    def upload_descriptors(self, words: Iterable[int], start: int = 0, unit: str = "VSH") -> CommandList:
        """Operand descriptors into a shader unit."""
        self.write(f"{_unit(unit)}_OPDESCS_INDEX", index=start)
        return self.fifo(f"{unit}_OPDESCS_DATA0", words)

    def uniforms(self, start: int, values: ArrayLike, *, f32: bool = True, unit: str = "VSH") -> CommandList:
        """Float uniforms c[start], c[start+1], ...: `values` of shape (n, 4) or (4,), x y z w.

        f32: send single-precision words; else three words of packed 24-bit floats each.
        """
        rows = np.asarray(values, np.float64).reshape(-1, 4)
        if not 0 <= start <= start + len(rows) <= 96:
            raise UsageError(f"uniforms {start}..{start + len(rows) - 1}: there are 96")
        self.write(f"{_unit(unit)}_FLOATUNIFORM_INDEX", index=start, f32=f32)
        if f32:
            words = np.ascontiguousarray(rows[:, ::-1], np.float32).view(np.uint32).ravel().tolist()
        else:
            words = [word for row in rows.tolist() for word in pack_f24(row)]
        return self.fifo(f"{unit}_FLOATUNIFORM_DATA0", words)

    def bool_uniforms(self, values: Mapping[int, bool] | Sequence[bool], unit: str = "VSH") -> CommandList:
        """All boolean uniforms at once: those that are true, by number."""
        pairs = values.items() if isinstance(values, Mapping) else enumerate(values)
        bits = 0
        for number, value in pairs:
            if not 0 <= number < 16:
                raise UsageError(f"boolean uniform {number}: there are 16")
            bits |= bool(value) << number
        return self.write(f"{_unit(unit)}_BOOLUNIFORM", bools=bits, upper=0x7FFF)

    def int_uniform(self, number: int, x: int, y: int = 0, z: int = 0, w: int = 0, unit: str = "VSH") -> CommandList:
        """Integer uniform: loops run x + 1 times with aL from y in steps of z."""
        if not 0 <= number < 4:
            raise UsageError(f"integer uniform {number}: there are 4")
        return self.write(f"{_unit(unit)}_INTUNIFORM_I{number}", x=x, y=y, z=z, w=w)

    def shader(self, program: Assembly) -> CommandList:
        """A vertex program: code, descriptors, constants, entry point and what its `.out` lines say."""
        self.upload_code(program.code).upload_descriptors(program.descriptors or (0,))
        for number, value in sorted(program.constants.items()):
            self.uniforms(number, value)
        self.write("VSH_ENTRYPOINT", entry=program.entry, end=0x7FFF)
        return self.outputs(program.outputs)

    def outputs(self, semantics: Mapping[int, Sequence[int]]) -> CommandList:
        """What the output registers of the vertex program mean: register to four numbers of SH_OUTMAP."""
        if not 1 <= len(semantics) <= 7:
            raise UsageError(f"{len(semantics)} output registers reach the rasteriser; 1 to 7 can")
        used = sorted(semantics)
        self.write("VSH_OUTMAP_MASK", mask=sum(1 << number for number in used))
        self.write("VSH_OUTMAP_TOTAL1", count=len(used)).write("VSH_OUTMAP_TOTAL2", count=len(used))
        self.write("PRIMITIVE_CONFIG", mask=1, outputs=len(used))
        self.write("SH_OUTMAP_TOTAL", count=len(used))
        words = [sum(code << 8 * i for i, code in enumerate(semantics[number])) for number in used]
        self.write_words("SH_OUTMAP_O0", words + [0x1F1F1F1F] * (7 - len(words)))
        codes = {code for number in used for code in semantics[number]}
        self.write("SH_OUTATTR_MODE", texture_coordinates=bool(codes & {0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x16, 0x17}))
        return self.write(
            "SH_OUTATTR_CLOCK",
            position_z=0x02 in codes,
            color=bool(codes & set(range(0x08, 0x0C))),
            texcoord0=bool(codes & {0x0C, 0x0D}),
            texcoord1=bool(codes & {0x0E, 0x0F}),
            texcoord2=bool(codes & {0x16, 0x17}),
            texcoord0_w=0x10 in codes,
            quaternion_view=bool(codes & {*range(0x04, 0x08), 0x12, 0x13, 0x14}),
        )

    # -- look-up tables ---------------------------------------------------------------------------------------------
    def fog_table(self, values: ArrayLike) -> CommandList:
        """The fog table: 129 factors in 0..1 (1: no fog) at depths 0/128 .. 128/128."""
        samples = _samples(values, 128, "fog table")
        entries = np.clip(np.round(samples * 2047), 0, 2047).astype(np.int64)
        self.write("FOG_LUT_INDEX", index=0)
        steps = np.diff(entries)
        return self.fifo("FOG_LUT_DATA0", _entries("FOG_LUT_DATA0", entries, steps))

    def lighting_table(self, table: str | int, values: ArrayLike) -> CommandList:
        """A lighting table ("D0", "FR", "SP0", ...): 257 values in 0..1, for inputs 0/256 .. 256/256; for tables with
        signed input give 257 for -1 .. 1 in the order of the hardware: 0 .. 127/128, -1 .. -1/128."""
        number = _number(LIGHT_LUT, table)
        samples = _samples(values, 256, "lighting table")
        entries = np.clip(np.round(samples * 4095), 0, 4095).astype(np.int64)
        steps = np.clip(np.round(np.diff(samples) * 2047), -2047, 2047).astype(np.int64)
        self.write("LIGHTING_LUT_INDEX", index=0, table=number)
        return self.fifo("LIGHTING_LUT_DATA0", _entries("LIGHTING_LUT_DATA0", entries, steps))

    def procedural_table(self, table: str | int, values: ArrayLike) -> CommandList:
        """A table of the procedural texture: "noise", "rgb map", "alpha map" take 129 values in 0..1; "color" takes
        colours (n, 4) in 0..255 and fills "color difference" too."""
        number = _number(PROCTEX_TABLE, table)
        if PROCTEX_TABLE[number] == "color":
            colors = np.asarray(values, np.int64).reshape(-1, 4)
            steps = np.diff(colors, axis=0, append=colors[-1:]) >> 1
            for name, rows in (("color", colors), ("color difference", steps)):
                self.write("PROCTEX_LUT", index=0, table=_number(PROCTEX_TABLE, name))
                self.fifo("PROCTEX_LUT_DATA0", ((rows & 255) << np.array([0, 8, 16, 24])).sum(axis=1).tolist())
            return self
        samples = _samples(values, 128, "procedural table")
        entries = np.clip(np.round(samples * 4095), 0, 4095).astype(np.int64)
        self.write("PROCTEX_LUT", index=0, table=number)
        steps = np.clip(np.diff(entries), -2048, 2047)
        return self.fifo("PROCTEX_LUT_DATA0", _entries("PROCTEX_LUT_DATA0", entries, steps))

    # -- the end ----------------------------------------------------------------------------------------------------
    def jump(self, address: int, size: int, channel: int = 0) -> CommandList:
        """Go on with another list of `size` bytes at physical `address` (both multiples of 16); ends this list."""
        if channel not in (0, 1):
            raise UsageError(f"channel is 0 or 1, not {channel}")
        if address % 16 or size % 16:
            raise UsageError("lists start at multiples of 16 bytes and have such sizes")
        self.write(f"CMDBUF_SIZE{channel}", size=size).write(f"CMDBUF_ADDR{channel}", address=address)
        if len(self._words) % 4 == 0:  # the jump shall be the last entry of a size that counts
            self.write_word("CMDBUF_SIZE1" if channel == 0 else "CMDBUF_SIZE0", 0, mask=0)
        self.write_word(f"CMDBUF_JUMP{channel}", 1)
        self._finalized = True
        return self

    def finalize(self) -> CommandList:
        """End the list with the request for its interrupt, padded to a multiple of 16 bytes. Doing so twice is fine."""
        if not self._finalized:
            self.write_word("FINALIZE", FINALIZE_VALUE)
            if len(self._words) % 4:
                self.write_word("FINALIZE", FINALIZE_VALUE)
            self._finalized = True
        return self

    @property
    def words(self) -> Words:
        """The words so far."""
        return np.array(self._words, np.uint32)

    def tobytes(self) -> bytes:
        """The bytes so far."""
        return self.words.astype("<u4").tobytes()

    def __len__(self) -> int:
        """Words so far."""
        return len(self._words)


def pack_f24(values: Sequence[float]) -> list[int]:
    """Four floats (x, y, z, w) as three words of 24-bit floats, w on top."""
    x, y, z, w = (encode_float(float(value), "f24") for value in values)
    return [w << 8 | z >> 16, (z & 0xFFFF) << 16 | y >> 8, (y & 0xFF) << 24 | x]


def _unit(unit: str) -> str:
    if unit not in UNITS:
        raise UsageError(f"{unit!r} is no shader unit", hint="Units are VSH and GSH.")
    return unit


def _number(names: Mapping[int, str], key: str | int) -> int:
    for number, name in names.items():
        if key in (number, name):
            return number
    raise UsageError(f"no table {key!r}", hint=f"Known are {', '.join(names.values())}.")


def _samples(values: ArrayLike, entries: int, what: str) -> NDArray[Any]:
    samples = np.asarray(values, np.float64).ravel()
    if len(samples) != entries + 1:
        raise UsageError(f"a {what} takes {entries + 1} values, not {len(samples)}")
    return samples


def _entries(register: str, values: NDArray[Any], differences: NDArray[Any]) -> list[int]:
    target = PICA[register]
    pairs = zip(values.tolist(), differences.tolist(), strict=False)
    return [target.encode(value=value, difference=difference) for value, difference in pairs]
