"""The six texture combiner stages, in exact integers on channels 0-255.

Source: 3dbrew GPU/Internal Registers ("Texture environment registers"); truncation of /255 as hardware tests fit it.
"""

from __future__ import annotations

from collections.abc import Callable

from ..lanes import Lang, Value
from .registers import LiveRegisters, StaticRegisters

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


def combine(k: Lang, op: int, a: Value, b: Value, c: Value) -> Value:
    """One channel of every operation but the dot products."""
    table: list[Callable[[], Value]] = [
        lambda: a,
        lambda: div255(a * b),
        lambda: k.min(a + b, 255),
        lambda: k.clamp(a + b - 128, 0, 255),
        lambda: div255(a * c + b * (255 - c)),
        lambda: k.max(a - b, 0),
        lambda: a,
        lambda: a,
        lambda: k.min(div255(a * b) + c, 255),
        lambda: div255(k.min(a + b, 255) * c),
    ]
    return table[op]() if op < len(table) else a * 0


def dot3(k: Lang, a: Color, b: Color) -> Value:
    """Sum over r, g, b of ((2a - 255)(2b - 255) + 128) / 256, each cut toward zero."""
    total: Value | None = None
    for ch in "rgb":
        product = (a[ch] * 2 - 255) * (b[ch] * 2 - 255) + 128
        part = (product + k.select(product < 0, 255, 0)) >> 8
        total = part if total is None else total + part
    assert total is not None
    return k.clamp(total, 0, 255)


def is_passthrough(state: StaticRegisters, stage: int) -> bool:
    """Whether a stage hands on the previous result unchanged."""
    get = lambda field: state(f"TEXENV{stage}_{field}")
    return stage > 0 and all(
        (
            get("COMBINER.rgb") == 0, get("COMBINER.alpha") == 0, get("SOURCE.rgb0") == PREVIOUS,
            get("SOURCE.alpha0") == PREVIOUS, get("OPERAND.rgb0") == 0, get("OPERAND.alpha0") == 0,
            get("SCALE.rgb") in (0, 3), get("SCALE.alpha") in (0, 3),
        )
    )  # fmt: skip


def sources_used(state: StaticRegisters) -> set[int]:
    """The source codes that the combiners read."""
    used = set()
    for stage in range(STAGES):
        for part, op in (
            ("rgb", state(f"TEXENV{stage}_COMBINER.rgb")),
            ("alpha", state(f"TEXENV{stage}_COMBINER.alpha")),
        ):
            used |= {state(f"TEXENV{stage}_SOURCE.{part}{i}") for i in range(USES.get(op, 0))}
    return used


def constant_color(k: Lang, live: LiveRegisters, register: str, channels: str = "rgba") -> Color:
    """A colour register with R in its low byte, as channels over the lanes."""
    return {ch: k.splat(live(f"{register}.{ch}")) for ch in channels}


class Combiners:
    """All stages of one draw; constants are loaded before the fragment loops."""

    def __init__(self, k: Lang, state: StaticRegisters, live: LiveRegisters) -> None:
        self.k, self.state = k, state
        self.constants = [constant_color(k, live, f"TEXENV{stage}_COLOR") for stage in range(STAGES)]
        self.buffer = constant_color(k, live, "TEXENV_BUFFER_COLOR")

    def run(self, source: Callable[[int], Color]) -> Color:
        """`source(code)` gives primary, fragment and texture colours. Returns the last stage's result."""
        k, state = self.k, self.state
        zero = k.splat(0)
        previous = source(PRIMARY)
        # Stage k reads the buffer as stage k-2 left it.
        buffer: Color = dict.fromkeys("rgba", zero)
        pending = self.buffer
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
                color, code = read(get(f"SOURCE.{part}{i}")), get(f"OPERAND.{part}{i}")
                operands.append({ch: self._operand(code, color, ch) for ch in channels})
            if part == "rgb" and op in (6, 7):
                result |= dict.fromkeys(channels, dot3(k, operands[0], operands[1]))
            else:
                for ch in channels:
                    result[ch] = combine(k, op, *(o[ch] for o in operands))
        if rgb_op == 7:
            result["a"] = result["r"]
        for channels, code in (("rgb", get("SCALE.rgb")), ("a", get("SCALE.alpha"))):
            if code in (1, 2):
                for ch in channels:
                    result[ch] = k.min(result[ch] << code, 255)
        return result


__all__ = ["Color", "Combiners", "constant_color", "div255", "is_passthrough", "sources_used"]
