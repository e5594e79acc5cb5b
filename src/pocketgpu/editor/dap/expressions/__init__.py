"""Expressions over registers, for conditions, watches and log points: own small language, no Python.

    expression = parse("r0.xyz * 2 > c8.x and R4 as f16x2 != (0, 0)")
    expression.value(registers)             # numbers, booleans, tuples of them

Registers with swizzles (`r0.xyz`), constants (`c8`, `c[0x0][0x140]`), numbers, vectors `(1, 2)`, `as` with f32, f64,
f16x2, i32, u32, bits, bool; + - * / % & | ^ ~ << >>, comparisons, `and or not` (also `&& || !`), and functions: abs,
dot, isinf, isnan, length, max, min, sqrt.
"""

from __future__ import annotations

from pocketgpu.editor.dap.expressions.nodes import Expression, Registers
from pocketgpu.editor.dap.expressions.parser import parse, parse_log
from pocketgpu.editor.dap.expressions.values import encoded, shown

__all__ = ["Expression", "Registers", "encoded", "parse", "parse_log", "shown"]
