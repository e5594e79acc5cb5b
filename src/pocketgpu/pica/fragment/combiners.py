"""The six texture combiner stages, in exact integers on channels 0-255.

Source: 3dbrew GPU/Internal Registers ("Texture environment registers"); the truncation of /255 fits hardware tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pocketgpu.facts.pica_enums import TEXENV_ALPHA_OPERAND, TEXENV_COMBINER, TEXENV_RGB_OPERAND, TEXENV_SOURCE
from pocketgpu.lanes import Lang, Value
from pocketgpu.pica.core.colors import Color, constant_color, div255
from pocketgpu.pica.core.registers import LiveRegisters, Number, StaticRegisters

STAGES = 6
BUFFERED = 4
"""Stages whose result can go to the buffer; nothing reads it after the last ones."""
INVERTED = 1
"""The bit of an operand code that inverts: 255 minus the operand of the code without this bit."""
_RGB = {"RGB": None, "ALPHA": "a", "RED": "r", "GREEN": "g", "BLUE": "b"}
RGB_OPERANDS = {TEXENV_RGB_OPERAND.number(symbol): channel for symbol, channel in _RGB.items()}
"""The channel that a code selects for r, g and b; None: each channel its own."""
_ALPHA = {"ALPHA": "a", "RED": "r", "GREEN": "g", "BLUE": "b"}
ALPHA_OPERANDS = {TEXENV_ALPHA_OPERAND.number(symbol): channel for symbol, channel in _ALPHA.items()}
OPERANDS = 3
_THREE = TEXENV_COMBINER.numbers("INTERPOLATE", "MULTIPLY_THEN_ADD", "ADD_THEN_MULTIPLY")
USES = {op: 1 if op == TEXENV_COMBINER.REPLACE else 3 if op in _THREE else 2 for op in TEXENV_COMBINER}
"""How many operands each operation reads."""
DOT_PRODUCTS = TEXENV_COMBINER.numbers("DOT3_RGB", "DOT3_RGBA")


class Arithmetic:
    """The operations on operands of 0-255. `scaled` completes the results of `combine` and `dot3`."""

    def __init__(self, k: Lang, choices: Mapping[str, str]) -> None:
        self.k = k
        self.middle = 127 if choices.get("combiner.add_signed") == "127" else 128
        self.unlimited = choices.get("combiner.add_multiply") == "unlimited"
        self.widest = 3 if choices.get("combiner.scale_3") == "x8" else 2
        """The highest valid scale code: a shift by so many bits."""

    def combine(self, op: int, a: Value, b: Value, c: Value) -> Value:
        """One channel of every operation except the dot products."""
        k = self.k
        sum_times = lambda: div255(k.min(a + b, 255) * c)
        if self.unlimited:  # 255 * 255 already gives a quotient above 255
            sum_times = lambda: div255(k.min((a + b) * c, 255 * 255))
        table: dict[str, Callable[[], Value]] = {
            "REPLACE": lambda: a,
            "MODULATE": lambda: div255(a * b),
            "ADD": lambda: k.min(a + b, 255),
            "ADD_SIGNED": lambda: k.clamp(a + b - self.middle, 0, 255),
            "INTERPOLATE": lambda: div255(a * c + b * (255 - c)),
            "SUBTRACT": lambda: k.max(a - b, 0),
            "DOT3_RGB": lambda: a,
            "DOT3_RGBA": lambda: a,
            "MULTIPLY_THEN_ADD": lambda: k.min(div255(a * b) + c, 255),
            "ADD_THEN_MULTIPLY": sum_times,
        }
        return table[TEXENV_COMBINER.symbol(op)]() if op in TEXENV_COMBINER else a * 0

    def dot3(self, a: Color, b: Color) -> Value:
        """Sum over r, g, b of ((2a - 255)(2b - 255) + 128) / 256, each truncated toward zero."""
        k = self.k
        total: Value | None = None
        for ch in "rgb":
            product = (a[ch] * 2 - 255) * (b[ch] * 2 - 255) + 128
            part = (product + k.select(product < 0, 255, 0)) >> 8
            total = part if total is None else total + part
        assert total is not None
        return k.clamp(total, 0, 255)

    def scaled(self, value: Value, code: Number) -> Value:
        """A result multiplied by a scale code's factor, 0-255."""
        k = self.k
        if isinstance(code, int):
            return k.min(value << code, 255) if 0 < code <= self.widest else value
        return k.min(value << (code if self.widest == 3 else k.select(code == 3, 0, code)), 255)


class FloatArithmetic(Arithmetic):
    """The same on floats of 0..1, rounded to 8 bits at the end of a stage."""

    def _floats(self, *values: Value) -> list[Value]:
        return [self.k.to_f32(v) / 255.0 for v in values]

    def combine(self, op: int, a: Value, b: Value, c: Value) -> Value:
        k = self.k
        a, b, c = self._floats(a, b, c)
        total = a + b if self.unlimited else k.min(a + b, 1.0)
        table: dict[str, Callable[[], Value]] = {
            "REPLACE": lambda: a,
            "MODULATE": lambda: a * b,
            "ADD": lambda: a + b,
            "ADD_SIGNED": lambda: a + b - 0.5,
            "INTERPOLATE": lambda: a * c + b * (1.0 - c),
            "SUBTRACT": lambda: a - b,
            "DOT3_RGB": lambda: a,
            "DOT3_RGBA": lambda: a,
            "MULTIPLY_THEN_ADD": lambda: a * b + c,
            "ADD_THEN_MULTIPLY": lambda: total * c,
        }
        known = op in TEXENV_COMBINER
        return k.clamp(table[TEXENV_COMBINER.symbol(op)](), 0.0, 1.0) if known else a * 0.0

    def dot3(self, a: Color, b: Color) -> Value:
        products = [(x - 0.5) * (y - 0.5) for x, y in (self._floats(a[ch], b[ch]) for ch in "rgb")]
        return self.k.clamp((products[0] + products[1] + products[2]) * 4.0, 0.0, 1.0)

    def scaled(self, value: Value, code: Number) -> Value:
        k = self.k
        factors = [1.0, 2.0, 4.0, 8.0 if self.widest == 3 else 1.0]
        factor = k.switch(code, [lambda f=f: k.f32(f) for f in factors])  # type: ignore[misc]
        return k.to_i32(k.min(value * factor, 1.0) * 255.0 + 0.5, 0, 255)


def arithmetic(k: Lang, choices: Mapping[str, str]) -> Arithmetic:
    """The arithmetic of the stages under these choices."""
    return (FloatArithmetic if choices.get("combiner.arithmetic") == "float" else Arithmetic)(k, choices)


def first_previous(choices: Mapping[str, str], operand: int, code: int, third: int) -> int:
    """The source that the first stage reads for an operand with source `code`; `third`: source of the third operand."""
    borrowed = choices.get("combiner.first_previous") == "third-source" and operand < 2
    return third if borrowed and code == TEXENV_SOURCE.PREVIOUS else code


def sources_used(state: StaticRegisters, choices: Mapping[str, str]) -> set[int]:
    """The source codes that the combiners read."""
    used = set()
    for stage in range(STAGES):
        for part, op in (
            ("rgb", state(f"TEXENV{stage}_COMBINER.rgb")),
            ("alpha", state(f"TEXENV{stage}_COMBINER.alpha")),
        ):
            codes = [state(f"TEXENV{stage}_SOURCE.{part}{i}") for i in range(OPERANDS)]
            for i, code in enumerate(codes[: USES.get(op, 0)]):
                used.add(code if stage else first_previous(choices, i, code, codes[2]))
    return used


class Combiners:
    """All stages of one draw; constants are loaded before the fragment loops."""

    def __init__(self, k: Lang, state: StaticRegisters, live: LiveRegisters, choices: Mapping[str, str]) -> None:
        self.k, self.state, self.choices = k, state, choices
        self.arithmetic = arithmetic(k, choices)
        self.constants = [constant_color(k, live, f"TEXENV{stage}_COLOR") for stage in range(STAGES)]
        self.buffer = constant_color(k, live, "TEXENV_BUFFER_COLOR")

    def run(self, source: Callable[[int], Color]) -> Color:
        """`source(code)` gives primary, fragment and texture colours. Returns the last stage's result."""
        k, state = self.k, self.state
        zero = k.splat(0)
        previous = source(TEXENV_SOURCE.VERTEX_COLOR)
        first = self.choices.get("combiner.first_previous")
        if first is not None:
            previous = self.buffer if first == "buffer-color" else dict.fromkeys("rgba", zero)
        # Stage k reads the buffer as it was after stage k-2.
        buffer: Color = dict.fromkeys("rgba", zero)
        pending = self.buffer
        if self.choices.get("combiner.first_buffer") == "buffer-color":
            buffer = pending
        at_once = self.choices.get("combiner.buffer_delay") == "none"
        for stage in range(STAGES):
            colors: dict[int, Color] = {
                TEXENV_SOURCE.BUFFER: buffer,
                TEXENV_SOURCE.CONSTANT: self.constants[stage],
                TEXENV_SOURCE.PREVIOUS: previous,
            }

            def read(code: int, colors: dict[int, Color] = colors) -> Color:
                return colors[code] if code in colors else source(code)

            result = self._stage(stage, read)
            for ch in "rgba":
                k.probe(f"texenv{stage}.{ch}", result[ch])
            buffer = pending
            if stage < BUFFERED:
                rgb, alpha = state(f"TEXENV_UPDATE_BUFFER.rgb{stage}"), state(f"TEXENV_UPDATE_BUFFER.alpha{stage}")
                pending = {ch: result[ch] if (alpha if ch == "a" else rgb) else pending[ch] for ch in "rgba"}
            if at_once:
                buffer = pending
            previous = result
        return previous

    def _operand(self, code: int, color: Color, channel: str) -> Value:
        table = ALPHA_OPERANDS if channel == "a" else RGB_OPERANDS
        name = table.get(code & ~INVERTED)
        value = color[name or channel]
        return 255 - value if code & INVERTED else value

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
                    name = first_previous(self.choices, i, name, get(f"SOURCE.{part}2"))
                color = read(name)
                operands.append({ch: self._operand(code, color, ch) for ch in channels})
                for ch, value in operands[-1].items():
                    k.probe(f"texenv{stage}.{part}{i}.{ch}", value)
            if part == "rgb" and op in DOT_PRODUCTS:
                result |= dict.fromkeys(channels, self.arithmetic.dot3(operands[0], operands[1]))
            else:
                for ch in channels:
                    result[ch] = self.arithmetic.combine(op, *(o[ch] for o in operands))
        if rgb_op == TEXENV_COMBINER.DOT3_RGBA:
            result["a"] = result["r"]
        for channels, code in (("rgb", get("SCALE.rgb")), ("a", get("SCALE.alpha"))):
            for ch in channels:
                result[ch] = self.arithmetic.scaled(result[ch], code)
        return result


__all__ = ["Arithmetic", "Color", "Combiners", "arithmetic", "constant_color", "div255", "sources_used"]
