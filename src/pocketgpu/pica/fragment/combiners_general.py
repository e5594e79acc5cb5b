"""The combiner stages with settings read at run time: one piece of code for every state.

The operations are those of combiners.py, selected by `k.switch`. The stages are a loop, and all source colours are in
an array. This is slower than specialised code, but always available.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pocketgpu.facts.pica_enums import TEXENV_COMBINER, TEXENV_SOURCE
from pocketgpu.lanes import I32, Array, Lang, Value
from pocketgpu.pica.core.colors import Color
from pocketgpu.pica.core.registers import LiveRegisters, field, register_id
from pocketgpu.pica.fragment.combiners import (
    ALPHA_OPERANDS,
    BUFFERED,
    DOT_PRODUCTS,
    INVERTED,
    OPERANDS,
    RGB_OPERANDS,
    STAGES,
    arithmetic,
)

SOURCES = 16
CHANNELS = "rgba"
# Ids of the first register of each stage; the distances differ.
_STAGE_IDS = [register_id(f"TEXENV{stage}_SOURCE") for stage in range(STAGES)]
_WORDS = ("SOURCE", "OPERAND", "COMBINER", "COLOR", "SCALE")


class GeneralCombiners:
    """All stages of one draw. `word(id)` gives the normal form of a state register at run time."""

    def __init__(self, k: Lang, word: Callable[[int], Value], live: LiveRegisters, choices: Mapping[str, str]) -> None:
        self.k, self.choices = k, choices
        self.arithmetic = arithmetic(k, choices)
        self.table = k.array(STAGES * len(_WORDS), I32, lanes=1)
        for stage, first in enumerate(_STAGE_IDS):
            for i, name in enumerate(_WORDS):
                number = register_id(f"TEXENV{stage}_{name}")
                assert number == first + i
                self.table[stage * len(_WORDS) + i] = live.word(number) if name == "COLOR" else word(number)
        update = word(register_id("TEXENV_UPDATE_BUFFER"))
        low = field("TEXENV_UPDATE_BUFFER.rgb0").lo, field("TEXENV_UPDATE_BUFFER.alpha0").lo
        self.update_rgb, self.update_alpha = (update.bits(lo, BUFFERED) for lo in low)
        self.buffer_color = live.word("TEXENV_BUFFER_COLOR")

    def _register(self, stage: Value, name: str) -> Value:
        return self.table[stage * len(_WORDS) + _WORDS.index(name)]

    def run(self, sources: Array) -> Color:
        """`sources` holds the channels of source code c at 4c to 4c+3, except for the three sources made here."""
        k = self.k
        put = lambda code, i, value: sources.__setitem__(4 * code + i, value)
        at_once = self.choices.get("combiner.buffer_delay") == "none"
        pending = [k.var(k.splat(self.buffer_color.bits(8 * i, 8))) for i in range(4)]
        for i in range(4):
            first = self.choices.get("combiner.first_previous")
            if first is None:
                put(TEXENV_SOURCE.PREVIOUS, i, sources[4 * TEXENV_SOURCE.VERTEX_COLOR + i])
            else:
                put(TEXENV_SOURCE.PREVIOUS, i, pending[i].value if first == "buffer-color" else 0)
            filled = self.choices.get("combiner.first_buffer") == "buffer-color"
            put(TEXENV_SOURCE.BUFFER, i, pending[i].value if filled else 0)
        for stage in k.range(0, STAGES):
            constant = self._register(stage, "COLOR")
            for i in range(4):
                put(TEXENV_SOURCE.CONSTANT, i, k.splat(constant.bits(8 * i, 8)))
            result = self._stage(stage, sources)
            for i, value in enumerate(result):
                if not at_once:
                    put(TEXENV_SOURCE.BUFFER, i, pending[i].value)
                kept = (self.update_alpha if i == 3 else self.update_rgb).lsr(stage) & 1
                pending[i].value = k.select(kept == 1, value, pending[i].value)
                if at_once:
                    put(TEXENV_SOURCE.BUFFER, i, pending[i].value)
                put(TEXENV_SOURCE.PREVIOUS, i, value)
        return {ch: sources[4 * TEXENV_SOURCE.PREVIOUS + i] for i, ch in enumerate(CHANNELS)}

    def _operand(self, sources: Array, code: Value, operand: Value, i: int) -> Value:
        """Channel i of a source through an operand code."""
        k = self.k
        table = ALPHA_OPERANDS if i == 3 else RGB_OPERANDS
        channel = k.i32(i)
        for number, name in table.items():
            if name is not None:
                channel = k.select((operand & ~INVERTED) == number, CHANNELS.index(name), channel)
        inverted = k.select((operand & INVERTED) == INVERTED, 255, 0)
        return sources[(code << 2) + channel] ^ inverted

    def _stage(self, stage: Value, sources: Array) -> list[Value]:
        k = self.k
        source, operand = self._register(stage, "SOURCE"), self._register(stage, "OPERAND")
        operation, scale = self._register(stage, "COMBINER"), self._register(stage, "SCALE")
        bits = lambda word, name: word.bits(field(f"TEXENV0_{name}").lo, field(f"TEXENV0_{name}").width)
        values = []
        for part, channels in (("rgb", range(3)), ("alpha", range(3, 4))):
            codes = [(bits(source, f"SOURCE.{part}{n}"), bits(operand, f"OPERAND.{part}{n}")) for n in range(OPERANDS)]
            if self.choices.get("combiner.first_previous") == "third-source":
                borrowed = lambda n, code, third=codes[2][0]: (
                    k.select((stage == 0) & (code == TEXENV_SOURCE.PREVIOUS), third, code) if n < 2 else code
                )
                codes = [(borrowed(n, code), how) for n, (code, how) in enumerate(codes)]
            read = [[self._operand(sources, code, how, i) for code, how in codes] for i in channels]
            values.append(read)
        rgb, alpha = values
        rgb_op, alpha_op = bits(operation, "COMBINER.rgb"), bits(operation, "COMBINER.alpha")

        def plain(op: int, inputs: list[list[Value]]) -> Callable[[], tuple[Value, ...]]:
            return lambda: tuple(self.arithmetic.combine(op, *abc) for abc in inputs)

        def products() -> tuple[Value, ...]:
            first, second = ({ch: abc[n] for ch, abc in zip("rgb", rgb, strict=True)} for n in range(2))
            return (self.arithmetic.dot3(first, second),) * 3

        operations = range(max(TEXENV_COMBINER) + 2)  # the last one is for all unknown codes
        cases = [products if op in DOT_PRODUCTS else plain(op, rgb) for op in operations]
        red, green, blue = k.switch(rgb_op, cases)
        (a,) = k.switch(alpha_op, [plain(op, alpha) for op in operations])
        result = [red, green, blue, k.select(rgb_op == TEXENV_COMBINER.DOT3_RGBA, red, a)]
        out = []
        for i, value in enumerate(result):
            code = bits(scale, "SCALE.alpha" if i == 3 else "SCALE.rgb")
            out.append(self.arithmetic.scaled(value, code))
        return out
