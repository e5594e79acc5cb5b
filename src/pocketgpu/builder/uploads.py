"""Uploads through data ports: programs, uniforms and look-up tables.

Source: 3dbrew GPU/Internal Registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pocketgpu.builder.entries import Entries
from pocketgpu.errors import UsageError
from pocketgpu.facts.dialect.registers import encode_float
from pocketgpu.facts.pica import OUTPUT_MAPS, PICA
from pocketgpu.facts.pica_enums import LIGHT_LUT, PROCTEX_TABLE, SEMANTIC
from pocketgpu.facts.vertices import CLOCKS, TEXTURE_COORDINATES
from pocketgpu.pica.shader.assembler import Assembly

UNITS = ("VSH", "GSH")


class Uploads(Entries):
    """Entries that fill the memories that FIFO registers write."""

    # -- shaders ----------------------------------------------------------------------------------------------------
    def upload_code(self, words: Iterable[int], start: int = 0, unit: str = "VSH") -> Self:
        """Program words into a shader unit ("VSH" or "GSH") from instruction `start` on."""
        self.write(f"{_unit(unit)}_CODETRANSFER_INDEX", index=start)
        self.fifo(f"{unit}_CODETRANSFER_DATA0", words)
        return self.write_word(f"{unit}_CODETRANSFER_END", 1)

    def upload_descriptors(self, words: Iterable[int], start: int = 0, unit: str = "VSH") -> Self:
        """Operand descriptors into a shader unit."""
        self.write(f"{_unit(unit)}_OPDESCS_INDEX", index=start)
        return self.fifo(f"{unit}_OPDESCS_DATA0", words)

    def uniforms(self, start: int, values: ArrayLike, *, f32: bool = True, unit: str = "VSH") -> Self:
        """Float uniforms c[start], c[start+1], ...: `values` of shape (n, 4) or (4,), x y z w.

        f32: send single-precision words; otherwise three words of packed 24-bit floats each.
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

    def bool_uniforms(self, values: Mapping[int, bool] | Sequence[bool], unit: str = "VSH") -> Self:
        """All boolean uniforms together: values by number; missing ones are false."""
        pairs = values.items() if isinstance(values, Mapping) else enumerate(values)
        bits = 0
        for number, value in pairs:
            if not 0 <= number < 16:
                raise UsageError(f"boolean uniform {number}: there are 16")
            bits |= bool(value) << number
        return self.write(f"{_unit(unit)}_BOOLUNIFORM", bools=bits, upper=0x7FFF)

    def int_uniform(self, number: int, x: int, y: int = 0, z: int = 0, w: int = 0, unit: str = "VSH") -> Self:
        """Integer uniform: loops run x + 1 times with aL from y in steps of z."""
        if not 0 <= number < 4:
            raise UsageError(f"integer uniform {number}: there are 4")
        return self.write(f"{_unit(unit)}_INTUNIFORM_I{number}", x=x, y=y, z=z, w=w)

    def shader(self, program: Assembly, entry: str | None = None) -> Self:
        """A vertex program: code, descriptors, constants, entry point and the outputs of its `.out` lines."""
        return self._upload(program, "VSH").entry(program, entry).outputs(program.outputs)

    def _upload(self, program: Assembly, unit: str) -> Self:
        self.upload_code(program.code, unit=unit).upload_descriptors(program.descriptors or (0,), unit=unit)
        for number, value in sorted(program.constants.items()):
            self.uniforms(number, value, unit=unit)
        for number, octets in sorted(program.integers.items()):
            self.int_uniform(number, *octets, unit=unit)
        return self.bool_uniforms(program.booleans, unit) if program.booleans else self

    def entry(self, program: Assembly, label: str | None = None, unit: str = "VSH") -> Self:
        """Start an uploaded program at another label (None: at its own entry)."""
        if label is not None and label not in program.labels:
            raise UsageError(f"the program has no label {label}", hint=f"It has: {', '.join(program.labels)}.")
        address = program.entry if label is None else program.labels[label]
        return self.write(f"{_unit(unit)}_ENTRYPOINT", entry=address, end=0x7FFF)

    def geometry_shader(
        self, program: Assembly, mode: str = "point", *, outputs: int, inputs: int = 0, vertices: int = 1,
        first_uniform: int = 0, main_vertices: int = 1, entry: str | None = None,
    ) -> Self:  # fmt: skip
        """A geometry program after the vertex program, which has this number of `outputs`. Draw with primitive
        "geometry".

        mode "point": outputs fill `inputs` input registers (0: those of one vertex). "fixed": outputs of `vertices`
        vertices go to uniforms from `first_uniform` on. "variable": the index list has the vertex count of each
        primitive before its indices, and c0 gets it; outputs go to c1 and on: all outputs of the first `main_vertices`,
        of the others only the first output. The rasteriser gets the outputs in the `.out` lines of the geometry
        program.
        """
        self.write("VSH_COM_MODE", separate=True)
        self.write("GEOSTAGE_CONFIG", mode="on", variable=mode == "variable")
        fixed = {"vertices": vertices, "attributes": outputs, "first_uniform": first_uniform, "unknown24": True}
        self.write("GSH_MISC0", mode=mode, **(fixed if mode == "fixed" else {}))
        self.write("GSH_MISC1", main_vertices=main_vertices)
        uniforms = mode != "point"
        self.write("GSH_INPUTBUFFER_CONFIG", count=inputs or outputs, use_uniforms=int(uniforms), unit_mode=8)
        self.write_words("GSH_ATTRIBUTES_PERMUTATION_LOW", [0x76543210, 0xFEDCBA98])
        self.write("GSH_OUTMAP_MASK", mask=sum(1 << number for number in _registers(program.outputs)))
        return self._upload(program, "GSH").entry(program, entry, "GSH")._meanings(program.outputs)

    def no_geometry_shader(self) -> Self:
        """Triangles are made of vertices again; set their semantics again with `shader` or `outputs`."""
        return self.write("GEOSTAGE_CONFIG").write("VSH_COM_MODE").write("GSH_MISC0")

    def outputs(self, semantics: Mapping[int, Sequence[int]]) -> Self:
        """The semantics of the vertex program's output registers: register to four numbers of SH_OUTMAP."""
        used = _registers(semantics)
        self.write("VSH_OUTMAP_MASK", mask=sum(1 << number for number in used))
        self.write("VSH_OUTMAP_TOTAL1", count=len(used)).write("VSH_OUTMAP_TOTAL2", count=len(used))
        self.write("PRIMITIVE_CONFIG", byte_mask=1, outputs=len(used))
        return self._meanings(semantics)

    def _meanings(self, semantics: Mapping[int, Sequence[int]]) -> Self:
        used = _registers(semantics)
        self.write("SH_OUTMAP_TOTAL", count=len(used))
        words = [sum(code << 8 * i for i, code in enumerate(semantics[number])) for number in used]
        unused = PICA["SH_OUTMAP_O0"].encode(**dict.fromkeys("xyzw", SEMANTIC.UNUSED))
        self.write_words("SH_OUTMAP_O0", words + [unused] * (OUTPUT_MAPS - len(words)))
        codes = {code for number in used for code in semantics[number]}
        self.write("SH_OUTATTR_MODE", texture_coordinates=bool(codes & TEXTURE_COORDINATES))
        return self.write_fields("SH_OUTATTR_CLOCK", {name: bool(codes & wanted) for name, wanted in CLOCKS.items()})

    # -- look-up tables ---------------------------------------------------------------------------------------------
    def fog_table(self, values: ArrayLike) -> Self:
        """The fog table: 129 factors in 0..1 (1: no fog) at depths 0/128 .. 128/128."""
        samples = _samples(values, 128, "fog table")
        entries = np.clip(np.round(samples * 2047), 0, 2047).astype(np.int64)
        self.write("FOG_LUT_INDEX", index=0)
        steps = np.diff(entries)
        return self.fifo("FOG_LUT_DATA0", _entries("FOG_LUT_DATA0", entries, steps))

    def lighting_table(self, table: str | int, values: ArrayLike) -> Self:
        """A lighting table ("D0", "FR", "SP0", ...): 257 values in 0..1, for inputs 0/256 .. 256/256. For tables with
        signed
        input: 257 values for -1 .. 1 in the hardware's order: 0 .. 127/128, -1 .. -1/128."""
        number = _number(LIGHT_LUT, table)
        samples = _samples(values, 256, "lighting table")
        entries = np.clip(np.round(samples * 4095), 0, 4095).astype(np.int64)
        steps = np.clip(np.round(np.diff(samples) * 2047), -2047, 2047).astype(np.int64)
        self.write("LIGHTING_LUT_INDEX", index=0, table=number)
        return self.fifo("LIGHTING_LUT_DATA0", _entries("LIGHTING_LUT_DATA0", entries, steps))

    def procedural_table(self, table: str | int, values: ArrayLike) -> Self:
        """A table of the procedural texture: "noise", "rgb map", "alpha map" take 129 values in 0..1; "color" takes
        colours (n, 4) in 0..255 and fills "color difference" too."""
        number = _number(PROCTEX_TABLE, table)
        if number == PROCTEX_TABLE.COLOR:
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


def pack_f24(values: Sequence[float]) -> list[int]:
    """Four floats (x, y, z, w) as three words of 24-bit floats, w in the highest bits."""
    x, y, z, w = (encode_float(float(value), "f24") for value in values)
    return [w << 8 | z >> 16, (z & 0xFFFF) << 16 | y >> 8, (y & 0xFF) << 24 | x]


def _unit(unit: str) -> str:
    if unit not in UNITS:
        raise UsageError(f"{unit!r} is no shader unit", hint="Units are VSH and GSH.")
    return unit


def _registers(semantics: Mapping[int, Sequence[int]]) -> list[int]:
    """The output registers with a semantic, in order."""
    if not 1 <= len(semantics) <= OUTPUT_MAPS:
        raise UsageError(f"{len(semantics)} output registers reach the rasteriser; 1 to 7 can")
    return sorted(semantics)


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
