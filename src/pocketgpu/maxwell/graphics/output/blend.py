"""Blending and logic operations on the colours of one block.

A colour is four f32 vectors; unorm and snorm targets clamp the inputs. Products come before sums, each rounded to f32.
Source: class header for the numbers, OpenGL and Direct3D for their meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pocketgpu.lanes import Lang, Value
from pocketgpu.lanes.comparisons import logic
from pocketgpu.maxwell.formats.channels import Colour
from pocketgpu.maxwell.formats.words import Number, Words
from pocketgpu.maxwell.graphics.output.keys import KeyFields

LOGIC_OPERATIONS = (
    "clear", "and", "and reverse", "copy", "and inverted", "noop", "xor", "or", "nor", "equiv", "invert", "or reverse",
    "copy inverted", "or inverted", "nand", "set",
)  # fmt: skip
"""In the order of SET_LOGIC_OP_FUNC."""
OPERATIONS = ("add", "subtract", "reverse subtract", "min", "max")
FACTORS = (
    "zero", "one", "source color", "1 - source color", "source alpha", "1 - source alpha", "target alpha",
    "1 - target alpha", "target color", "1 - target color", "alpha saturate", "constant color", "1 - constant color",
    "constant alpha", "1 - constant alpha", "second color", "1 - second color", "second alpha", "1 - second alpha",
)  # fmt: skip
"""The numbers of operations and factors are indices of these lists."""
ALPHA = 3


class Blender:
    """Blending with the settings of one colour (COLOR, ColorKey); zero_wins: a product with 0 is 0."""

    def __init__(self, k: Lang, settings: KeyFields, constant: Colour, zero_wins: Number) -> None:
        self.k, self.settings, self.constant = k, settings, constant
        self.zero_wins = zero_wins != 0

    def blend(self, source: Colour, second: Colour, target: Colour) -> Colour:
        """The colour to store. second: the second colour of the program."""
        out: list[Value] = []
        for part, channels in (("COLOR", (0, 1, 2)), ("ALPHA", (ALPHA,))):
            products = [
                self._products(self.settings(f"{part}_{side}"), channels, colour, source, second, target)
                for side, colour in (("SOURCE", source), ("TARGET", target))
            ]
            pairs = [(source[i], target[i]) for i in channels]
            out += self._equation(self.settings(f"{part}_OPERATION"), list(zip(*products, strict=True)), pairs)
        return out

    def _times(self, a: Value, b: Value) -> Value:
        k, product = self.k, a * b
        if self.zero_wins is False:
            return product
        zero = (a == 0.0) | (b == 0.0)
        return k.select(zero if self.zero_wins is True else zero & self.zero_wins, 0.0, product)

    def _products(
        self, factor: Number, channels: Sequence[int], colour: Colour, source: Colour, second: Colour, target: Colour
    ) -> tuple[Value, ...]:
        """`colour` times a factor, for some channels."""
        k, constant = self.k, self.constant
        saturate = lambda i: k.splat(k.f32(1.0)) if i == ALPHA else k.min(source[ALPHA], 1.0 - target[ALPHA])
        plain: list[Callable[[int], Value]] = []
        for of in (source, target, constant, second):
            plain += [partial(lambda of, i: of[i], of), partial(lambda of, i: of[ALPHA], of)]
        source_color, source_alpha, target_color, target_alpha, *others = plain
        order = [source_color, source_alpha, target_alpha, target_color]
        cases: list[Callable[[], tuple[Value, ...]]] = [
            lambda: tuple(self._times(colour[i], k.splat(k.f32(0.0))) for i in channels),
            lambda: tuple(colour[i] for i in channels),
        ]

        def both(f: Callable[[int], Value]) -> list[Callable[[], tuple[Value, ...]]]:
            """A factor, and 1 minus the factor."""
            return [
                lambda: tuple(self._times(colour[i], f(i)) for i in channels),
                lambda: tuple(self._times(colour[i], 1.0 - f(i)) for i in channels),
            ]

        for f in order:
            cases += both(f)
        cases.append(lambda: tuple(self._times(colour[i], saturate(i)) for i in channels))
        for f in others:
            cases += both(f)
        result: tuple[Value, ...] = k.switch(factor, cases)
        return result

    def _equation(
        self, operation: Number, products: Sequence[tuple[Value, Value]], plain: Sequence[tuple[Value, Value]]
    ) -> tuple[Value, ...]:
        """Combine (source, target) pairs: products, or for minimum and maximum the values without factors."""
        k = self.k
        each: Callable[..., Callable[[], tuple[Value, ...]]] = lambda f, pairs: lambda: tuple(f(s, d) for s, d in pairs)
        result: tuple[Value, ...] = k.switch(
            operation,
            [
                each(lambda s, d: s + d, products),
                each(lambda s, d: s - d, products),
                each(lambda s, d: d - s, products),
                each(k.min, plain),
                each(k.max, plain),
            ],
        )
        return result


def combine(k: Lang, operation: Number, source: Words, target: Words) -> Words:
    """A logic operation on the words of samples."""
    return logic(k, LOGIC_OPERATIONS, operation, source, target)
