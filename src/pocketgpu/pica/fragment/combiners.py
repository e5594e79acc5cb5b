"""The six texture combiner stages, in exact integers on channels 0-255.

Source: 3dbrew GPU/Internal Registers ("Texture environment registers"); truncation of /255 as hardware tests fit it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pocketgpu.lanes import Lang, Value
from pocketgpu.pica.core.registers import LiveRegisters, Number, StaticRegisters

Color = dict[str, Value]
STAGES = 6
PRIMARY, FRAGMENT_PRIMARY, FRAGMENT_SECONDARY = 0, 1, 2
TEXTURE0, BUFFER, CONSTANT, PREVIOUS = 3, 13, 14, 15
# RGB operand codes: which channel (None: each its own); odd codes take 255 minus it.
RGB_OPERANDS = {0: None, 2: "a", 4: "r", 8: "g", 12: "b"}
ALPHA_OPERANDS = {0: "a", 2: "r", 4: "g", 6: "b"}
OPERANDS = 3
USES = {0: 1, 1: 2, 2: 2, 3: 2, 4: 3, 5: 2, 6: 2, 7: 2, 8: 3, 9: 3}
"""How many operands each operation reads."""


def div255(x: Value) -> Value:
    """floor(x / 255) for 0 <= x <= 65025 + 255, exactly."""
    return (x + 1 + (x >> 8)) >> 8


class Arithmetic:
    """The operations on operands of 0-255. What `combine` and `dot3` give is for `scaled` to finish."""

    def __init__(self, k: Lang, switches: Mapping[str, str]) -> None:
        self.k = k
        self.middle = 127 if switches.get("combiner.add_signed") == "127" else 128
        self.unlimited = switches.get("combiner.add_multiply") == "unlimited"
        self.widest = 3 if switches.get("combiner.scale_3") == "x8" else 2
        """The highest scale code that means anything: a shift by so many bits."""

    def combine(self, op: int, a: Value, b: Value, c: Value) -> Value:
        """One channel of every operation but the dot products."""
        k = self.k
        sum_times = lambda: div255(k.min(a + b, 255) * c)
        if self.unlimited:  # from 255 * 255 on the quotient is above 255 anyway
            sum_times = lambda: div255(k.min((a + b) * c, 255 * 255))
        table: list[Callable[[], Value]] = [
            lambda: a,
            lambda: div255(a * b),
            lambda: k.min(a + b, 255),
            lambda: k.clamp(a + b - self.middle, 0, 255),
            lambda: div255(a * c + b * (255 - c)),
            lambda: k.max(a - b, 0),
            lambda: a,
            lambda: a,
            lambda: k.min(div255(a * b) + c, 255),
            sum_times,
        ]
        return table[op]() if op < len(table) else a * 0

    def dot3(self, a: Color, b: Color) -> Value:
        """Sum over r, g, b of ((2a - 255)(2b - 255) + 128) / 256, each cut toward zero."""
        k = self.k
        total: Value | None = None
        for ch in "rgb":
            product = (a[ch] * 2 - 255) * (b[ch] * 2 - 255) + 128
            part = (product + k.select(product < 0, 255, 0)) >> 8
            total = part if total is None else total + part
        assert total is not None
        return k.clamp(total, 0, 255)

    def scaled(self, value: Value, code: Number) -> Value:
        """A result multiplied as a scale code says, 0-255."""
        k = self.k
        if isinstance(code, int):
            return k.min(value << code, 255) if 0 < code <= self.widest else value
        return k.min(value << (code if self.widest == 3 else k.select(code == 3, 0, code)), 255)


class FloatArithmetic(Arithmetic):
    """The same on floats of 0..1, rounded to 8 bits when a stage is done."""

    def _floats(self, *values: Value) -> list[Value]:
        return [self.k.to_f32(v) / 255.0 for v in values]

    def combine(self, op: int, a: Value, b: Value, c: Value) -> Value:
        k = self.k
        a, b, c = self._floats(a, b, c)
        total = a + b if self.unlimited else k.min(a + b, 1.0)
        table: list[Callable[[], Value]] = [
            lambda: a,
            lambda: a * b,
            lambda: a + b,
            lambda: a + b - 0.5,
            lambda: a * c + b * (1.0 - c),
            lambda: a - b,
            lambda: a,
            lambda: a,
            lambda: a * b + c,
            lambda: total * c,
        ]
        return k.clamp(table[op](), 0.0, 1.0) if op < len(table) else a * 0.0

    def dot3(self, a: Color, b: Color) -> Value:
        products = [(x - 0.5) * (y - 0.5) for x, y in (self._floats(a[ch], b[ch]) for ch in "rgb")]
        return self.k.clamp((products[0] + products[1] + products[2]) * 4.0, 0.0, 1.0)

    def scaled(self, value: Value, code: Number) -> Value:
        k = self.k
        factors = [1.0, 2.0, 4.0, 8.0 if self.widest == 3 else 1.0]
        factor = k.switch(code, [lambda f=f: k.f32(f) for f in factors])  # type: ignore[misc]
        return k.to_i32(k.min(value * factor, 1.0) * 255.0 + 0.5, 0, 255)


def arithmetic(k: Lang, switches: Mapping[str, str]) -> Arithmetic:
    """The numbers that the stages compute with."""
    return (FloatArithmetic if switches.get("combiner.arithmetic") == "float" else Arithmetic)(k, switches)


def first_previous(switches: Mapping[str, str], operand: int, code: int, third: int) -> int:
    """The source that the first stage reads for an operand with source `code`; `third`: that of the third operand."""
    borrowed = switches.get("combiner.first_previous") == "third-source" and operand < 2
    return third if borrowed and code == PREVIOUS else code


def sources_used(state: StaticRegisters, switches: Mapping[str, str]) -> set[int]:
    """The source codes that the combiners read."""
    used = set()
    for stage in range(STAGES):
        for part, op in (
            ("rgb", state(f"TEXENV{stage}_COMBINER.rgb")),
            ("alpha", state(f"TEXENV{stage}_COMBINER.alpha")),
        ):
            codes = [state(f"TEXENV{stage}_SOURCE.{part}{i}") for i in range(OPERANDS)]
            for i, code in enumerate(codes[: USES.get(op, 0)]):
                used.add(code if stage else first_previous(switches, i, code, codes[2]))
    return used


def constant_color(k: Lang, live: LiveRegisters, register: str, channels: str = "rgba") -> Color:
    """A colour register with R in its low byte, as channels over the lanes."""
    return {ch: k.splat(live(f"{register}.{ch}")) for ch in channels}


class Combiners:
    """All stages of one draw; constants are loaded before the fragment loops."""

    def __init__(self, k: Lang, state: StaticRegisters, live: LiveRegisters, switches: Mapping[str, str]) -> None:
        self.k, self.state, self.switches = k, state, switches
        self.arithmetic = arithmetic(k, switches)
        self.constants = [constant_color(k, live, f"TEXENV{stage}_COLOR") for stage in range(STAGES)]
        self.buffer = constant_color(k, live, "TEXENV_BUFFER_COLOR")

    def run(self, source: Callable[[int], Color]) -> Color:
        """`source(code)` gives primary, fragment and texture colours. Returns the last stage's result."""
        k, state = self.k, self.state
        zero = k.splat(0)
        previous = source(PRIMARY)
        first = self.switches.get("combiner.first_previous")
        if first is not None:
            previous = self.buffer if first == "buffer-color" else dict.fromkeys("rgba", zero)
        # Stage k reads the buffer as stage k-2 left it.
        buffer: Color = dict.fromkeys("rgba", zero)
        pending = self.buffer
        if self.switches.get("combiner.first_buffer") == "buffer-color":
            buffer = pending
        at_once = self.switches.get("combiner.buffer_delay") == "none"
        for stage in range(STAGES):
            colors: dict[int, Color] = {BUFFER: buffer, CONSTANT: self.constants[stage], PREVIOUS: previous}

            def read(code: int, colors: dict[int, Color] = colors) -> Color:
                return colors[code] if code in colors else source(code)

            result = self._stage(stage, read)
            for ch in "rgba":
                k.probe(f"texenv{stage}.{ch}", result[ch])
            buffer = pending
            if stage < 4:
                rgb, alpha = state(f"TEXENV_UPDATE_BUFFER.rgb{stage}"), state(f"TEXENV_UPDATE_BUFFER.alpha{stage}")
                pending = {ch: result[ch] if (alpha if ch == "a" else rgb) else pending[ch] for ch in "rgba"}
            if at_once:
                buffer = pending
            previous = result
        return previous

    def _operand(self, code: int, color: Color, channel: str) -> Value:
        table = ALPHA_OPERANDS if channel == "a" else RGB_OPERANDS
        name = table.get(code & ~1)
        value = color[name or channel]
        return 255 - value if code & 1 else value

    def _stage(self, stage: int, read: Callable[[int], Color]) -> Color:
        k, state = self.k, self.state
        get = lambda field: state(f"TEXENV{stage}_{field}")
        rgb_op, alpha_op = get("COMBINER.rgb"), get("COMBINER.alpha")
        result: Color = {}
        for part, op, channels in (("rgb", rgb_op, "rgb"), ("alpha", alpha_op, "a")):
            count = USES.get(op, 0)
            operands = []
            for i in range(OPERANDS):
                if i >= count:
                    operands.append(dict.fromkeys(channels, k.splat(0)))
                    continue
                name, code = get(f"SOURCE.{part}{i}"), get(f"OPERAND.{part}{i}")
                if stage == 0:
                    name = first_previous(self.switches, i, name, get(f"SOURCE.{part}2"))
                color = read(name)
                operands.append({ch: self._operand(code, color, ch) for ch in channels})
                for ch, value in operands[-1].items():
                    k.probe(f"texenv{stage}.{part}{i}.{ch}", value)
            if part == "rgb" and op in (6, 7):
                result |= dict.fromkeys(channels, self.arithmetic.dot3(operands[0], operands[1]))
            else:
                for ch in channels:
                    result[ch] = self.arithmetic.combine(op, *(o[ch] for o in operands))
        if rgb_op == 7:
            result["a"] = result["r"]
        for channels, code in (("rgb", get("SCALE.rgb")), ("a", get("SCALE.alpha"))):
            for ch in channels:
                result[ch] = self.arithmetic.scaled(result[ch], code)
        return result


__all__ = ["Arithmetic", "Color", "Combiners", "arithmetic", "constant_color", "div255", "sources_used"]
