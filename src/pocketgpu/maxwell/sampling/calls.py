"""Texture and surface instructions as calls of kernels: registers of coordinates and results, and options.

Coordinates are in consecutive registers starting at the first operand, everything else at the second one; the short
forms (TEXS, TLDS, TLD4S) have a different order for each target. Source: NVIDIA's disassembler for the fields, drivers'
code generators for the order of operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.records import Call, SurfaceCall, packed

RZ, ABSENT = 255, 256
"""The register that reads as zero, and a number for no register."""
SLOTS = 12
"""The most vectors that an instruction passes."""

LEVEL_OF_DETAIL = 63
"""The query of TMML, in addition to those of TXQ."""
SURFACE_OPS = ("SULD", "SUST", "SUATOM", "SURED")
_DIMS = ("1", "1a", "2", "2a", "3", "3a", "c", "ca")
_MASKS_1 = ("R", "G", "B", "A", "RG", "RA", "GA", "BA")
_MASKS_2 = ("RGB", "RGA", "RBA", "GBA", "RGBA")
# Targets of the short forms: dimensions, level of detail, and contents of the registers; "|" separates the two
# operands.
_TEXS: Mapping[int, tuple[str, int, bool, str]] = {
    0: ("1", r.ZERO, False, "x|"), 1: ("2", r.AUTO, False, "x|y"), 2: ("2", r.ZERO, False, "x|y"),
    3: ("2", r.LEVEL, False, "xy|l"), 4: ("2", r.AUTO, True, "xy|r"), 5: ("2", r.LEVEL, True, "xy|lr"),
    6: ("2", r.ZERO, True, "xy|r"), 7: ("2a", r.AUTO, False, "ax|y"), 8: ("2a", r.ZERO, False, "ax|y"),
    9: ("2a", r.ZERO, True, "ax|yr"), 10: ("3", r.AUTO, False, "xy|z"), 11: ("3", r.ZERO, False, "xy|z"),
    12: ("c", r.AUTO, False, "xy|z"), 13: ("c", r.LEVEL, False, "xy|zl"),
}  # fmt: skip
_TLDS: Mapping[int, tuple[str, int, str]] = {
    0: ("1", r.ZERO, "x|"), 1: ("1", r.LEVEL, "x|l"), 2: ("2", r.ZERO, "x|y"), 4: ("2", r.ZERO, "xy|o"),
    5: ("2", r.LEVEL, "xy|l"), 6: ("2", r.ZERO, "xy|s"), 7: ("3", r.ZERO, "xy|z"), 8: ("2a", r.ZERO, "a|xy"),
    12: ("2", r.LEVEL, "xy|lo"),
}  # fmt: skip
_LODS = (r.AUTO, r.ZERO, r.BIAS, r.LEVEL, r.AUTO, r.AUTO, r.BIAS, r.LEVEL)
_PLACES = {
    "h": r.V_HANDLE, "x": r.V_X, "y": r.V_Y, "z": r.V_Z, "a": r.V_LAYER, "l": r.V_LOD, "r": r.V_REFERENCE,
    "o": r.V_OFFSETS, "O": r.V_SAMPLE, "s": r.V_SAMPLE, "0": r.V_GRADIENTS, "1": r.V_GRADIENTS + 1,
    "2": r.V_GRADIENTS + 2, "3": r.V_GRADIENTS + 3,
}  # fmt: skip


class CallReader(Protocol):
    """The parts of an instruction that are read here (steps.py implements it)."""

    @property
    def form(self) -> str:
        """The name of the instruction's row in the table."""

    def raw(self, name: str) -> int:
        """A field of the word, 0 if there is none of the name."""

    def register(self, role: str) -> int:
        """The register of an operand, RZ if there is none."""

    def number(self, role: str) -> int | None:
        """The value of an immediate operand or of a name, None if there is none."""

    def has(self, text: str) -> bool:
        """Whether the form always has a piece of text, such as ".HI"."""


@dataclass(frozen=True)
class TextureCall:
    """A texture or surface instruction as the arguments of the kernel that does it.

    kernel: records.SAMPLE to records.SURFACE. what: the options, packed as `records.Call` (SURFACE: `SurfaceCall`).
    handle: the handle's word number in the constant bank of texture handles, -1: the handle is in a register.
    sources[n]: the register that is copied to scratch vector n, ABSENT: none. results[n]: the register for result n,
    RZ: none.
    """

    kernel: int
    what: int
    handle: int
    sources: tuple[int, ...]
    results: tuple[int, ...]

    @property
    def action(self) -> int:
        """The memory access: records.LOAD, STORE or ATOMIC."""
        return self.what >> SurfaceCall.ACTION[0] & 3 if self.kernel == r.SURFACE else r.LOAD


def _placed(first: int, second: int, a: str, b: str) -> tuple[int, ...]:
    """Registers by scratch vector; letters: the contents of the registers starting at `first` and at `second`."""
    sources = [ABSENT] * SLOTS
    for start, letters in ((first, a), (second, b)):
        for n, letter in enumerate(letters):
            if letter != "-":
                sources[_PLACES[letter]] = RZ if start == RZ else min(start + n, RZ)
    return tuple(sources)


def _shape(dims: str) -> dict[str, tuple[tuple[int, int], int]]:
    return {
        "dimensions": (Call.DIMENSIONS, {"1": 1, "2": 2, "3": 3, "c": 3}[dims[0]]),
        "cube": (Call.CUBE, int(dims[0] == "c")),
        "array": (Call.ARRAY, int(dims.endswith("a"))),
    }


def _letters(dims: str) -> str:
    """Coordinates in the order of registers: the layer first."""
    return ("a" if dims.endswith("a") else "") + {"1": "x", "2": "xy", "3": "xyz", "c": "xyz"}[dims[0]]


def _by_mask(first: int, mask: int) -> tuple[int, ...]:
    """Registers of the components of a mask, which are consecutive."""
    found, n = [], 0
    for component in range(4):
        wanted = mask >> component & 1
        found.append(first + n if wanted and first + n < RZ else RZ)
        n += wanted
    return tuple(found)


def _short_results(o: CallReader, names: str, halves: bool) -> tuple[tuple[int, ...], int]:
    """(registers, order of components for pairs of halves) of a short form."""
    first, second = o.register("d"), o.register("d2")
    components = ["RGBA".index(name) for name in names]
    order = sum(component << 2 * n for n, component in enumerate([*components, 0, 0, 0, 0][:4]))
    if halves:
        return (first, second if len(components) > 2 else RZ, RZ, RZ), order
    found = [RZ] * 4
    for n, component in enumerate(components):
        start = first if n < 2 else second
        found[component] = RZ if start == RZ else min(start + n % 2, RZ)
    return tuple(found), order


Bits = dict[str, tuple[tuple[int, int], int]]


def texture_call(op: str, o: CallReader) -> TextureCall | None:
    """The call of an instruction, None if it is not a texture or surface instruction."""
    if op in SURFACE_OPS:
        return _surface(op, o)
    make = _MAKERS.get(op)
    return None if make is None else make(o)


def _call(o: CallReader, kernel: int, sources: Sequence[int], results: tuple[int, ...], bits: Bits) -> TextureCall:
    handle = o.number("handle")
    return TextureCall(kernel, packed(**bits), -1 if handle is None else handle, tuple(sources), results)


def _bindless(o: CallReader) -> str:
    """The letter of a handle in a register, for the forms that have one."""
    return "h" if o.number("handle") is None else ""


def _both(o: CallReader) -> tuple[int, int]:
    """The first registers of the two operands."""
    return o.register("a"), o.register("b")


def _short(o: CallReader, halves: bool) -> tuple[tuple[int, ...], Bits]:
    """Results of TEXS and TLDS."""
    names = (_MASKS_1 if o.register("d2") == RZ else (*_MASKS_2, "RGBA", "RGBA", "RGBA"))[o.raw("mask") & 7]
    results, order = _short_results(o, names, halves)
    return results, {"order": (Call.ORDER, order), "halves": (Call.HALVES, int(halves))}


def _texs(o: CallReader) -> TextureCall:
    results, out = _short(o, not o.raw("f16"))
    dims, lod, compare, letters = _TEXS.get(o.raw("mode"), _TEXS[1])
    bits = {**_shape(dims), **out, "lod": (Call.LOD, lod), "compare": (Call.COMPARE, int(compare))}
    return _call(o, r.SAMPLE, _placed(*_both(o), *letters.split("|")), results, bits)


def _tlds(o: CallReader) -> TextureCall:
    results, out = _short(o, not o.raw("f16"))
    dims, lod, letters = _TLDS.get(o.raw("mode"), _TLDS[2])
    bits = {
        **_shape(dims), **out, "lod": (Call.LOD, lod), "offsets": (Call.OFFSETS, r.NIBBLES * int("o" in letters)),
        "samples": (Call.MULTISAMPLED, int("s" in letters)),
    }  # fmt: skip
    return _call(o, r.FETCH, _placed(*_both(o), *letters.split("|")), results, bits)


def _tld4s(o: CallReader) -> TextureCall:
    halves = bool(o.raw("f16"))
    results, order = _short_results(o, "RGBA", halves)
    offset, compare = o.raw("aoffi"), o.raw("dc")
    more = "o" * offset + "r" * compare
    bits = {
        **_shape("2"), "component": (Call.COMPONENT, o.raw("component")), "compare": (Call.COMPARE, compare),
        "offsets": (Call.OFFSETS, r.BYTES * offset), "order": (Call.ORDER, order), "halves": (Call.HALVES, int(halves)),
    }  # fmt: skip
    return _call(o, r.GATHER, _placed(*_both(o), *(("xy", more) if more else ("x", "y"))), results, bits)


def _results(o: CallReader) -> tuple[int, ...]:
    return _by_mask(o.register("d"), o.raw("mask"))


def _txq(o: CallReader) -> TextureCall:
    sources = _placed(o.register("a"), RZ, _bindless(o) + "l", "")
    return _call(o, r.QUERY, sources, _results(o), {"question": (Call.QUESTION, o.raw("query"))})


def _txa(o: CallReader) -> TextureCall:
    """Its purpose is not documented; it gives zeros here."""
    return _call(o, r.QUERY, [ABSENT] * SLOTS, _results(o), {"question": (Call.QUESTION, 0)})


def _tmml(o: CallReader) -> TextureCall:
    dims = _DIMS[o.raw("dim")]
    sources = _placed(*_both(o), _letters(dims), _bindless(o))
    bits = {**_shape(dims), "question": (Call.QUESTION, LEVEL_OF_DETAIL), "quads": (Call.QUADS, o.raw("ndv"))}
    return _call(o, r.QUERY, sources, _results(o), bits)


def _tex(o: CallReader) -> TextureCall:
    dims, lod = _DIMS[o.raw("dim")], _LODS[o.raw("lod")]
    offset, compare = o.raw("aoffi"), o.raw("dc")
    more = _bindless(o) + "l" * int(lod in (r.BIAS, r.LEVEL)) + "o" * offset + "r" * compare
    bits = {
        **_shape(dims), "lod": (Call.LOD, lod), "compare": (Call.COMPARE, compare), "quads": (Call.QUADS, o.raw("ndv")),
        "offsets": (Call.OFFSETS, r.NIBBLES * offset),
    }  # fmt: skip
    return _call(o, r.SAMPLE, _placed(*_both(o), _letters(dims), more), _results(o), bits)


def _tld(o: CallReader) -> TextureCall:
    dims, lod = _DIMS[o.raw("dim")], (r.LEVEL if o.raw("lod") else r.ZERO)
    offset, samples = o.raw("aoffi"), o.raw("ms")
    more = _bindless(o) + "l" * int(lod == r.LEVEL) + "o" * offset + "s" * samples
    bits = {
        **_shape(dims), "lod": (Call.LOD, lod), "offsets": (Call.OFFSETS, r.NIBBLES * offset),
        "samples": (Call.MULTISAMPLED, samples),
    }  # fmt: skip
    return _call(o, r.FETCH, _placed(*_both(o), _letters(dims), more), _results(o), bits)


def _tld4(o: CallReader) -> TextureCall:
    dims, mode, compare = _DIMS[o.raw("dim")], o.raw("offset"), o.raw("dc")
    more = _bindless(o) + ("", "o", "oO", "")[mode] + "r" * compare
    offsets = (r.NO_OFFSETS, r.BYTES, r.EACH, r.NO_OFFSETS)[mode]
    bits = {
        **_shape(dims), "component": (Call.COMPONENT, o.raw("component")), "compare": (Call.COMPARE, compare),
        "offsets": (Call.OFFSETS, offsets),
    }  # fmt: skip
    return _call(o, r.GATHER, _placed(*_both(o), _letters(dims), more), _results(o), bits)


def _txd(o: CallReader) -> TextureCall:
    """The layer and the offsets share a word after the coordinates."""
    dims, offset = _DIMS[o.raw("dim")], o.raw("aoffi")
    plain = _letters(dims).removeprefix("a")
    first = _bindless(o) + plain + ("a" if dims.endswith("a") or offset else "")
    sources = list(_placed(*_both(o), first, "0123"[: 2 * min(len(plain), 2)]))
    if offset:
        sources[r.V_OFFSETS] = sources[r.V_LAYER]
    bits = {**_shape(dims), "lod": (Call.LOD, r.GRADIENTS), "offsets": (Call.OFFSETS, r.UPPER_NIBBLES * offset)}
    return _call(o, r.SAMPLE, sources, _results(o), bits)


_MAKERS: Mapping[str, Callable[[CallReader], TextureCall]] = {
    "TEX": _tex, "TEXS": _texs, "TLD": _tld, "TLDS": _tlds, "TLD4": _tld4, "TLD4S": _tld4s, "TXD": _txd, "TXQ": _txq,
    "TMML": _tmml, "TXA": _txa,
}  # fmt: skip


# Surfaces: words of an access by its size code, and coordinates by dimension.
_WORDS = (1, 1, 1, 1, 1, 2, 4, 1)
_COORDINATES = (1, 1, 2, 2, 3, 3, 1, 1)
# Types of atomic operations on surfaces by ATOM's numbers; SD32 and SD64 compare and swap.
_ATOMIC_TYPES = (0, 1, 2, 3, 4, 5, 0, 2)
_SWAPS_WIDE = (0, 0, 1, 0, 0, 1, 0, 1)


def _run(first: int, count: int) -> Sequence[int]:
    return [RZ if first == RZ else min(first + n, RZ) for n in range(count)]


def _surface(op: str, o: CallReader) -> TextureCall:
    handle = o.number("handle")
    dim = o.raw("dim")
    sources = [ABSENT] * SLOTS
    if handle is None:
        sources[r.V_HANDLE] = o.register("handle")
    count = _COORDINATES[dim]
    sources[r.V_X : r.V_X + count] = _run(o.register("base"), count)
    data, dest, results = o.register("data"), o.register("d"), [RZ] * 4
    raw = o.has(".D")
    size = o.raw("size") if raw else 4
    bits = {
        "dimension": (SurfaceCall.DIMENSION, dim), "clamp": (SurfaceCall.CLAMP, o.raw("clamp")),
        "formatted": (SurfaceCall.FORMATTED, int(not raw)), "bytes": (SurfaceCall.BYTES, o.raw("ba")),
        "size": (SurfaceCall.SIZE, size),
    }  # fmt: skip
    mask = o.raw("mask") if not raw else 0
    words = _WORDS[size] if raw else mask.bit_count()
    if op == "SULD":
        bits["action"] = (SurfaceCall.ACTION, r.LOAD)
        if raw:
            results[:words] = _run(dest, words)
        else:
            results = list(_by_mask(dest, mask))
            bits["mask"] = (SurfaceCall.MASK, mask)
    elif op == "SUST":
        bits["action"] = (SurfaceCall.ACTION, r.STORE)
        bits["mask"] = (SurfaceCall.MASK, mask)
        stored = _run(data, words) if raw else _by_mask(data, mask)
        sources[r.V_DATA : r.V_DATA + len(stored)] = stored
    else:
        swap = o.form.startswith("SUATOM.CAS")
        kind = o.raw("type") if raw else 0
        wide = kind in (2, 5, 7)
        bits["action"] = (SurfaceCall.ACTION, r.ATOMIC)
        bits["operation"] = (SurfaceCall.OPERATION, 0 if swap else min(o.raw("op"), 8))
        bits["type"] = (SurfaceCall.TYPE, _SWAPS_WIDE[kind] * 2 if swap else _ATOMIC_TYPES[kind])
        bits["swap"] = (SurfaceCall.SWAP, int(swap))
        bits["silent"] = (SurfaceCall.SILENT, int(op == "SURED" or (dest == RZ and not swap)))
        step = 2 if wide else 1
        for n in range(2 if swap else 1):
            sources[r.V_DATA + 2 * n : r.V_DATA + 2 * n + step] = _run(data if data == RZ else data + n * step, step)
        if op == "SUATOM":
            results[:step] = _run(dest, step)
    return TextureCall(r.SURFACE, packed(**bits), -1 if handle is None else handle, tuple(sources), tuple(results))
