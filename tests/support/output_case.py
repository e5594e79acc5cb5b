"""One block of pixels at the end of the pipeline: run through the kernels, and through a slow model of its own.

The model goes from sample to sample with Python's numbers. It knows the registers by the class header's numbers and the
formats by the table of facts; where samples lie it asks `blocklinear`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from support.slow_formats import decode, encode, f32

from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import COLOR_TARGET, DEPTH, PixelLayout
from pocketgpu.facts.maxwell.headers import SPH
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.formats.srgb import srgb_tables
from pocketgpu.maxwell.graphics.output.state import OutputState
from pocketgpu.maxwell.graphics.output.targets import Target
from pocketgpu.maxwell.graphics.programs.headers import Header
from pocketgpu.maxwell.graphics.records import FRAGMENTS, LANE_X, LANE_Y
from pocketgpu.maxwell.memory.blocklinear import Layout

RECORD, TABLES, FRAGMENTS_AT, REGISTERS = 0x1000, 0x4000, 0x8000, 0xA000
TARGETS, TARGET_ROOM = 0x10000, 0x10000
SIZE = TARGETS + 9 * TARGET_ROOM
GRIDS = {0: (1, 1), 1: (2, 1), 2: (2, 2), 3: (4, 2), 6: (4, 4)}
CHOICES = {"output.blend_index": "target", "output.alpha_equation": "flag", "output.depth_bounds": "first"}


def sample_at(sample: int) -> tuple[int, int]:
    """Column and row of a sample in its pixel: the table of a driver, continued."""
    table = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (3, 0), (2, 1), (3, 1)]
    x, y = table[sample % 8]
    return x, y + 2 * (sample // 8)


@dataclass
class Case:
    """A block at pixel (x, y) with everything that its tests and writes read.

    registers: words by method name (floats become f32), "NAME:3" for an element. outputs: for each output of the
    program its components (a bit each). colours: (outputs, 4, 32) f32; depth: (samples, 32) f32; cover: ballots.
    """

    registers: dict[str, int | float]
    x: int = 0
    y: int = 0
    layer: int = 0
    front: bool = True
    outputs: Sequence[int] = (15,)
    kills: bool = False
    gives_mask: bool = False
    killed: int = 0
    masks: NDArray[np.int32] = field(default_factory=lambda: np.full(32, -1, np.int32))
    colours: NDArray[np.float32] = field(default_factory=lambda: np.zeros((8, 4, 32), np.float32))
    depth: NDArray[np.float32] = field(default_factory=lambda: np.zeros((16, 32), np.float32))
    cover: Sequence[int] = (0xFFFFFFFF,) * 16
    depth_range: tuple[float, float] = (0.0, 1.0)
    memory: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(9 * TARGET_ROOM, np.uint8))
    choices: Mapping[str, str] = field(default_factory=lambda: CHOICES)
    layered: bool = False

    def state(self) -> State:
        words = np.zeros(0x1000, np.uint32)
        for name, value in self.registers.items():
            method, _, index = name.partition(":")
            at = B197[method].word + int(index or 0) * B197[method].stride
            words[at] = np.float32(value).view(np.uint32) if isinstance(value, float) else value
        return State(B197, words)

    def header(self) -> Header:
        structure = SPH["PS"]
        word = structure["SPH_TYPE"].encode(2) | structure["SHADER_TYPE"].encode(5) | structure["MRT_ENABLE"].encode(1)
        for n, mask in enumerate(self.outputs):
            for c, name in enumerate(("RED", "GREEN", "BLUE", "ALPHA")):
                word |= structure[f"OMAP_{name}"](n).encode(mask >> c & 1)
        word |= structure["KILLS_PIXELS"].encode(int(self.kills))
        word |= structure["OMAP_SAMPLE_MASK"].encode(int(self.gives_mask))
        return Header(word)

    def output(self) -> OutputState:
        return OutputState.of(self.state(), self.header(), self.choices, self.layered)


@dataclass
class Result:
    """What became of a block: memory of the targets, ballots, how many samples passed."""

    memory: NDArray[np.uint8]
    cover: list[int]
    covered: int
    passed: int
    output: OutputState


def place_of(target: Target) -> int:
    """Where a target lies in `Case.memory`: the depth target last."""
    return TARGET_ROOM * (8 if target.slot is None else target.slot)


def run(case: Case, evaluator: str, general: bool = False) -> Result:
    """The case through the kernels, in the order that `OutputState` asks for."""
    return run_made(case, case.output(), evaluator, general)


def run_made(case: Case, out: OutputState, evaluator: str, general: bool = False) -> Result:
    """The same with the state that was made of its registers."""
    arena = np.zeros(SIZE, np.uint8)
    arena[TARGETS:] = case.memory
    table = np.frombuffer(srgb_tables(), np.uint8)
    arena[TABLES : TABLES + len(table)] = table
    zeta = TARGETS + place_of(out.zeta) if out.zeta else 0
    words = out.record(TABLES, zeta, [TARGETS + place_of(target) for target in out.colours])
    arena[RECORD : RECORD + words.nbytes] = words.view(np.uint8)
    put: Any = arena.view(np.int32)
    samples = out.test_key.samples

    def store(name: str, values: Any) -> None:
        at = (FRAGMENTS_AT + FRAGMENTS.offsets[name]) // 4
        raw = np.asarray(values).reshape(-1).astype(np.int64) if not isinstance(values, np.ndarray) else values
        raw = raw.reshape(-1).view(np.int32) if raw.dtype != np.int64 else raw.astype(np.uint32).view(np.int32)
        put[at : at + len(raw)] = raw

    store("X", [case.x])
    store("Y", [case.y])
    store("LAYER", [case.layer])
    store("FRONT", [int(case.front)])
    store("SAMPLES", [samples])
    store("COVER", list(case.cover[:samples]))
    store("COVERED", [int(np.bitwise_or.reduce(np.array(case.cover[:samples], np.uint32)))])
    store("KILLED", [case.killed])
    store("DEPTH", case.depth[:samples])
    store("SAMPLE_MASK", case.masks)
    store("OUTPUTS", [REGISTERS])
    store("MIN_Z", np.array(case.depth_range, np.float32))
    registers = [case.colours[n] for n, mask in enumerate(case.outputs) if mask]
    if registers:
        data = np.concatenate(registers).astype(np.float32).view(np.uint8).reshape(-1)
        arena[REGISTERS : REGISTERS + len(data)] = data
    engine = Engine(arena, evaluator)
    test, write = (engine.get(kernel, **static) for kernel, static in out.codes(general))
    if out.tests:
        test(RECORD, FRAGMENTS_AT)
    if out.writes:
        write(RECORD, FRAGMENTS_AT)

    def read(name: str, count: int = 1) -> list[int]:
        found = put[(FRAGMENTS_AT + FRAGMENTS.offsets[name]) // 4 :][:count]
        return [int(word) for word in found.view(np.uint32)]

    passed = read("PASSED", 2)
    return Result(
        arena[TARGETS:].copy(), read("COVER", samples), read("COVERED")[0], passed[0] | passed[1] << 32, out
    )  # fmt: skip


# The model


def clamp(value: float, low: float, high: float) -> float:
    """Between the bounds; NaN is the lower one, but nothing where there is none."""
    return low if value != value and low > -np.inf else min(max(value, low), high)


def compare(function: int, a: float, b: float) -> bool:
    """A comparison by OpenGL's or Direct3D's number."""
    number = function - 0x200 if function >= 0x200 else function - 1
    return (False, a < b, a == b, a <= b, a > b, a != b, a >= b, True)[number]


def stencil_operation(operation: int, stored: int, reference: int) -> int:
    """A stencil operation by either's number."""
    gl = {0x1E00: 1, 0: 2, 0x1E01: 3, 0x1E02: 4, 0x1E03: 5, 0x150A: 6, 0x8507: 7, 0x8508: 8}
    number = gl.get(operation, operation)
    return (
        stored, 0, reference, min(stored + 1, 255), max(stored - 1, 0), stored ^ 255, (stored + 1) & 255,
        (stored - 1) & 255,
    )[number - 1]  # fmt: skip


_FACTORS = {
    0x4000: 1, 0x4001: 2, 0x4300: 3, 0x4301: 4, 0x4302: 5, 0x4303: 6, 0x4304: 7, 0x4305: 8, 0x4306: 9, 0x4307: 10,
    0x4308: 11, 0xC001: 14, 0xC002: 15, 0xC900: 16, 0xC901: 17, 0xC902: 18, 0xC903: 19,
}  # fmt: skip


def factor(
    number: int, i: int, s: Sequence[float], d: Sequence[float], c: Sequence[float], s1: Sequence[float]
) -> float:
    """A blend factor of component i."""
    if number in (0xC003, 0xC004):
        return c[3] if number == 0xC003 else 1 - c[3]
    n = _FACTORS.get(number, number)
    saturate = 1.0 if i == 3 else min(s[3], 1 - d[3])
    plain = {
        1: 0.0, 2: 1.0, 3: s[i], 5: s[3], 7: d[3], 9: d[i], 11: saturate, 14: c[i], 16: s1[i], 18: s1[3],
    }  # fmt: skip
    return plain[n] if n in plain else 1 - plain[n - 1]


def equation(number: int, s: float, fs: float, d: float, fd: float) -> float:
    """A blend equation of one component."""
    gl = {0x8006: 1, 0x800A: 2, 0x800B: 3, 0x8007: 4, 0x8008: 5}
    n = gl.get(number, number)
    return (s * fs + d * fd, s * fs - d * fd, d * fd - s * fs, min(s, d), max(s, d))[n - 1]


def logic(function: int, s: int, d: int, ones: int) -> int:
    """A logic operation, from its truth table."""
    truth = {
        0x1500: 0b0000, 0x1501: 0b1000, 0x1502: 0b0100, 0x1503: 0b1100, 0x1504: 0b0010, 0x1505: 0b1010, 0x1506: 0b0110,
        0x1507: 0b1110, 0x1508: 0b0001, 0x1509: 0b1001, 0x150A: 0b0101, 0x150B: 0b1101, 0x150C: 0b0011, 0x150D: 0b1011,
        0x150E: 0b0111, 0x150F: 0b1111,
    }[function]  # fmt: skip
    bits = [(truth >> 3 & 1, s & d), (truth >> 2 & 1, s & ~d), (truth >> 1 & 1, ~s & d), (truth & 1, ~s & ~d)]
    return sum(part & ones for wanted, part in bits if wanted)  # the parts have no bit in common


class Model:
    """The case, sample by sample. Colours come out as the nearest codes of double precision."""

    def __init__(self, case: Case) -> None:
        self.case, self.state = case, case.state()
        self.memory = case.memory.copy()
        self.grid = GRIDS[self.state.field("SET_ANTI_ALIAS", "SAMPLES")]
        self.samples = self.grid[0] * self.grid[1]
        self.cover = [0] * self.samples
        self.passed = 0

    def run(self) -> Model:
        for sample in range(self.samples):
            for lane in range(32):
                if self.case.cover[sample] >> lane & 1:
                    self._sample(sample, lane)
        return self

    def _on(self, name: str, part: str = "ENABLE", index: int = 0) -> bool:
        return bool(self.state.field(name, part, index))

    def _sample(self, sample: int, lane: int) -> None:
        case, state = self.case, self.state
        early = self._on("SET_API_MANDATED_EARLY_Z")
        if not early and not self._kept(sample, lane):
            return
        if not self._depth_stencil(sample, lane):
            return
        self.passed += 1
        if early and not self._kept(sample, lane):
            return
        self.cover[sample] |= 1 << lane
        masked = self._on("SET_SAMPLE_MASK", "COLOR_TARGET_ENABLE")
        if masked and not state.field("SET_COLOR_TARGET_SAMPLE_MASK") >> sample & 1:
            return
        if case.killed >> lane & 1:
            return  # of a program that hangs, if it is none that kills
        for out in range(state.field("SET_CT_SELECT", "TARGET_COUNT")):
            slot = state.field("SET_CT_SELECT", f"TARGET{out}")
            number = out if state.field("SET_CT_MRT_ENABLE") else 0
            if case.outputs[number : number + 1] and case.outputs[number]:
                self._colour(number, slot, sample, lane)

    def _output(self, number: int, lane: int) -> list[float]:
        mask = self.case.outputs[number] if number < len(self.case.outputs) else 0
        return [float(self.case.colours[number, i, lane]) if mask >> i & 1 else 0.0 for i in range(4)]

    def _kept(self, sample: int, lane: int) -> bool:
        case, state = self.case, self.state
        usage = "SET_PS_OUTPUT_SAMPLE_MASK_USAGE"
        multisampled = self._on("SET_ANTI_ALIAS_ENABLE", "V") or not self._on(usage, "QUALIFY_BY_ANTI_ALIAS_ENABLE")
        masked = case.gives_mask and self._on(usage) and multisampled
        if (case.kills and case.killed >> lane & 1) or (masked and not int(case.masks[lane]) >> sample & 1):
            return False
        alpha = self._output(0, lane)[3]
        tested, function = self._on("SET_ALPHA_TEST"), state.word("SET_ALPHA_FUNC")
        if tested and not compare(function, alpha, state.float("SET_ALPHA_REF")):
            return False
        if self._on("SET_ANTI_ALIAS_ALPHA_CONTROL", "ALPHA_TO_COVERAGE"):
            dithered = state.field("SET_ALPHA_TO_COVERAGE_DITHER_CONTROL", "DITHER_FOOTPRINT") == 1
            step = (1, 5, 7, 3)[LANE_X[lane] % 2 + LANE_Y[lane] % 2 * 2] / 8 if dithered else 0.5
            return sample < int(clamp(alpha * self.samples + step, 0, 16))
        return True

    def _place(self, layout: Layout | None, pitch: int, sample: int, lane: int, bytes: int) -> int:
        dx, dy = sample_at(sample)
        x = (self.case.x + LANE_X[lane]) * self.grid[0] + dx
        y = (self.case.y + LANE_Y[lane]) * self.grid[1] + dy
        return y * pitch + x * bytes if layout is None else layout.offset_of(x * bytes, y)

    def _inside(self, width: int, height: int, lane: int) -> bool:
        return (self.case.x + LANE_X[lane] + 1) * self.grid[0] <= width and (
            self.case.y + LANE_Y[lane] + 1
        ) * self.grid[1] <= height

    def _get(self, at: int, bytes: int) -> int:
        return int.from_bytes(self.memory[at : at + bytes].tobytes(), "little")

    def _set(self, at: int, bytes: int, value: int) -> None:
        self.memory[at : at + bytes] = np.frombuffer(value.to_bytes(bytes, "little"), np.uint8)

    def _depth_stencil(self, sample: int, lane: int) -> bool:
        state, case = self.state, self.case
        tested, bounded = self._on("SET_DEPTH_TEST"), self._on("SET_DEPTH_BOUNDS_TEST")
        stencilled = self._on("SET_STENCIL_TEST")
        if not state.field("SET_ZT_SELECT", "TARGET_COUNT") or not (tested or bounded or stencilled):
            return True
        format = DEPTH[state.field("SET_ZT_FORMAT")]
        z, s = format.component("Z"), format.component("S")
        tested, bounded, stencilled = tested and bool(z), bounded and bool(z), stencilled and bool(s)
        if not (tested or bounded or stencilled):
            return True
        width, height = state.field("SET_ZT_SIZE_A", "WIDTH"), state.field("SET_ZT_SIZE_B", "HEIGHT")
        if not self._inside(width, height, lane):
            return False
        layout = Layout(width * format.bytes, height, 1, state.field("SET_ZT_BLOCK_SIZE", "HEIGHT"))
        at = 8 * TARGET_ROOM + self._place(layout, 0, sample, lane, format.bytes)
        word = self._get(at, format.bytes)
        depth = clamp(float(case.depth[sample, lane]), *case.depth_range)
        incoming = stored = 0.0
        if z is not None:
            top = (1 << z.width) - 1
            bits = word >> z.lo & top
            incoming = depth if z.type == "float" else int(np.floor(min(max(depth, 0.0), 1.0) * top + 0.5))
            stored = f32(bits) if z.type == "float" else bits
            within = stored if z.type == "float" else bits / top
            if bounded:
                low, high = state.float("SET_DEPTH_BOUNDS_MIN"), state.float("SET_DEPTH_BOUNDS_MAX")
                if not low <= np.float32(within) <= high:
                    return False
        near = not tested or compare(state.word("SET_DEPTH_FUNC"), incoming, stored)
        passes = True
        if stencilled and s is not None:
            back = "BACK_" if self._on("SET_TWO_SIDED_STENCIL_TEST") and not case.front else ""
            reference, mask, write, function, *operations = (
                state.word(f"SET_{back}STENCIL_{name}")
                for name in ("FUNC_REF", "FUNC_MASK", "MASK", "FUNC", "OP_FAIL", "OP_ZFAIL", "OP_ZPASS")
            )
            old = word >> s.lo & 255
            passes = compare(function, reference & mask, old & mask)
            new = stencil_operation(operations[passes + (passes and near)], old, reference)
            word = word & ~(255 << s.lo) | ((new & write) | (old & ~write)) << s.lo
        if passes and near and tested and self._on("SET_DEPTH_WRITE") and z is not None:
            code = incoming
            if z.type == "float":
                code = int(np.float32(incoming).view(np.uint32))
            word = word & ~(((1 << z.width) - 1) << z.lo) | int(code) << z.lo
        self._set(at, format.bytes, word)
        return passes and near

    def _colour(self, number: int, slot: int, sample: int, lane: int) -> None:
        state = self.state
        format = COLOR_TARGET[state.field("SET_COLOR_TARGET_FORMAT", "V", slot)]
        width, height = (state.field(f"SET_COLOR_TARGET_{n}", "V", slot) for n in ("WIDTH", "HEIGHT"))
        layout = None
        if state.field("SET_COLOR_TARGET_MEMORY", "LAYOUT", slot):
            at = self._place(None, width, sample, lane, format.bytes)
            width //= format.bytes
        else:
            high, deep = (state.field("SET_COLOR_TARGET_MEMORY", f"BLOCK_{n}", slot) for n in ("HEIGHT", "DEPTH"))
            layout = Layout(width * format.bytes, height, 1, high, deep)
            at = self._place(layout, 0, sample, lane, format.bytes)
        if not self._inside(width, height, lane):
            return
        at += slot * TARGET_ROOM + self.case.layer * 4 * state.word("SET_COLOR_TARGET_ARRAY_PITCH", slot)
        old = self._get(at, format.bytes)
        self._set(at, format.bytes, self._blended(number, slot, lane, format, old))

    def _blended(self, number: int, slot: int, lane: int, format: PixelLayout, old: int) -> int:
        state = self.state
        colour = self._output(number, lane)
        if state.field("SET_PS_SATURATE", f"OUTPUT{number}"):
            low = -1.0 if state.field("SET_PS_SATURATE", f"CLAMP_RANGE{number}") else 0.0
            colour = [clamp(v, low, 1.0) for v in colour]
        if self._on("SET_ANTI_ALIAS_ALPHA_CONTROL", "ALPHA_TO_ONE"):
            colour[3] = 1.0
        raw = [int(np.float32(v).view(np.uint32)) for v in colour]
        types = {c.type for c in format.components if c.name in "RGBA"}
        srgb = self._on("SET_SRGB_WRITE")
        blend = self._on("SET_BLEND", index=slot) and not types & {"uint", "sint"} and not self._on("SET_LOGIC_OP")
        if blend:
            raw = [int(np.float32(v).view(np.uint32)) for v in self._mixed(colour, slot, lane, format, old, srgb)]
        if types & {"uint", "sint"}:
            registers = self.case.colours[number].view(np.uint32)[:, lane]
            raw = [int(v) if self.case.outputs[number] >> i & 1 else 0 for i, v in enumerate(registers)]
            raw[3] = 0x3F800000 if self._on("SET_ANTI_ALIAS_ALPHA_CONTROL", "ALPHA_TO_ONE") else raw[3]
        logical = self._on("SET_LOGIC_OP") and not types & {"float"} and not (srgb and "srgb" in types)
        new, written, rest = old, 0, 0
        single = self._on("SET_SINGLE_CT_WRITE_CONTROL")
        for c in format.components:
            mask = ((1 << c.width) - 1) << c.lo
            if c.name not in "RGBA":
                rest |= mask
                new = new & ~mask | (mask if c.type == "one" else 0)
                continue
            if self._on("SET_CT_WRITE", f"{c.name}_ENABLE", 0 if single else slot):
                code = encode(c, raw["RGBA".index(c.name)], srgb)
                if logical:
                    code = logic(state.word("SET_LOGIC_OP_FUNC"), code, old >> c.lo & mask >> c.lo, mask >> c.lo)
                new = new & ~mask | code << c.lo
                written |= mask
        if written | rest != (1 << 8 * format.bytes) - 1:
            new = new & ~rest | old & rest  # with a masked channel nothing else is touched
        elif logical and rest:
            source = sum(((1 << c.width) - 1) << c.lo for c in format.components if c.type == "one")
            new = new & ~rest | logic(state.word("SET_LOGIC_OP_FUNC"), source, old & rest, rest)
        return new

    def _mixed(
        self, colour: list[float], slot: int, lane: int, format: PixelLayout, old: int, srgb: bool
    ) -> list[float]:
        state = self.state
        types = {c.type for c in format.components if c.name in "RGBA"}
        low, high = (-np.inf, np.inf) if "float" in types else (-1.0, 1.0) if "snorm" in types else (0.0, 1.0)
        constant = [state.float(f"SET_BLEND_CONST_{n}") for n in ("RED", "GREEN", "BLUE", "ALPHA")]
        colour, second, constant = (
            [clamp(v, low, high) for v in values] for values in (colour, self._output(1, lane), constant)
        )
        target = [0.0, 0.0, 0.0, 1.0]
        for c in format.components:
            if c.name in "RGBA":
                target["RGBA".index(c.name)] = decode(c, old >> c.lo & ((1 << c.width) - 1), srgb)
        each = self._on("SET_BLEND_STATE_PER_TARGET")
        prefix, index = ("SET_BLEND_PER_TARGET_", slot) if each else ("SET_BLEND_", 0)
        out = []
        for i in range(4):
            part = "ALPHA" if i == 3 and self._on(f"{prefix}SEPARATE_FOR_ALPHA", index=index) else "COLOR"
            names = ("SOURCE_COEFF", "DEST_COEFF", "OP")
            source, dest, operation = (state.word(f"{prefix}{part}_{name}", index) for name in names)
            if source in (0xC, 0xD):
                source, dest = (5, 6) if source == 0xC else (6, 5)
            fs, fd = (factor(n, i, colour, target, constant, second) for n in (source, dest))
            out.append(equation(operation, colour[i], fs, target[i], fd))
        return out
