"""Operations that GPUs select by number at the end of the pipeline: comparisons, stencil and logic operations.

Every GPU numbers them differently, so the caller passes a list of their names in its order. The selector is a Python
int in specialised code and a scalar in general code, as for `Lang.switch`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pocketgpu.lanes.language import Lang
from pocketgpu.lanes.values import Value

Choice = int | Value

_COMPARISONS: dict[str, Callable[[Value, Value], Value]] = {
    # Not constants, because the result needs the operands' lanes. NaN works too.
    "never": lambda a, b: (a < b) & (b < a),
    "always": lambda a, b: (a < b) | ~(a < b),
    "equal": lambda a, b: a == b,
    "notequal": lambda a, b: a != b,
    "less": lambda a, b: a < b,
    "lequal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "gequal": lambda a, b: a >= b,
}
STENCIL_OPERATIONS = ("keep", "zero", "replace", "increment", "decrement", "invert", "increment wrap", "decrement wrap")
_LOGIC: dict[str, Callable[[Value, Value], Value]] = {
    "clear": lambda s, d: s & 0,
    "and": lambda s, d: s & d,
    "and reverse": lambda s, d: s & ~d,
    "copy": lambda s, d: s,
    "and inverted": lambda s, d: ~s & d,
    "noop": lambda s, d: d,
    "xor": lambda s, d: s ^ d,
    "or": lambda s, d: s | d,
    "nor": lambda s, d: ~(s | d),
    "equiv": lambda s, d: ~(s ^ d),
    "invert": lambda s, d: ~d,
    "or reverse": lambda s, d: s | ~d,
    "copy inverted": lambda s, d: ~s,
    "or inverted": lambda s, d: ~s | d,
    "nand": lambda s, d: ~(s & d),
    "set": lambda s, d: s | -1,
}


def compare(k: Lang, names: Sequence[str], function: Choice, a: Value, b: Value) -> Value:
    """The mask of `a` compared with `b`: the incoming value is on the left. names: see _COMPARISONS."""
    result: Value = k.switch(function, [partial(_COMPARISONS[name], a, b) for name in names])
    return result


def update_stencil(k: Lang, operation: Choice, stored: Value, reference: Value) -> Value:
    """One of STENCIL_OPERATIONS on 8-bit values."""
    table: list[Callable[[], Value]] = [
        lambda: stored,
        lambda: stored & 0,
        lambda: (stored & 0) | reference,
        lambda: k.min(stored + 1, 255),
        lambda: k.max(stored - 1, 0),
        lambda: stored ^ 0xFF,
        lambda: (stored + 1) & 0xFF,
        lambda: (stored - 1) & 0xFF,
    ]
    result: Value = k.switch(operation, table)
    return result


def logic(
    k: Lang, names: Sequence[str], operation: Choice, source: Sequence[Value], target: Sequence[Value]
) -> tuple[Value, ...]:
    """A logic operation on the words of a pixel. Bits outside of the pixel may be set in the result."""

    def run(name: str) -> tuple[Value, ...]:
        return tuple(_LOGIC[name](s, d) for s, d in zip(source, target, strict=True))

    result: tuple[Value, ...] = k.switch(operation, [partial(run, name) for name in names])
    return result
