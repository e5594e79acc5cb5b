"""Truths that are known while code is traced, or decided when it runs: a Python bool, or a mask or scalar of lanes.

Specialised code knows the modifiers of an instruction, so most of its truths are bools and generate no code. The
interpreter reads modifiers from the program, so its truths are values.
"""

from __future__ import annotations

from pocketgpu.lanes import Value

Flag = bool | Value


def both(a: Flag, b: Flag) -> Flag:
    """a and b."""
    if isinstance(a, bool):
        return b if a else False
    return (a if b else False) if isinstance(b, bool) else a & b


def opposite(a: Flag) -> Flag:
    """not a."""
    return not a if isinstance(a, bool) else ~a


def either(a: Flag, b: Flag) -> Flag:
    """a or b."""
    if isinstance(a, bool):
        return True if a else b
    return (True if b else a) if isinstance(b, bool) else a | b


def chosen(flag: Flag, a: Value, b: Value) -> Value:
    """a if the flag holds, else b, without the code of a branch."""
    if isinstance(flag, bool):
        return a if flag else b
    return a.k.select(flag, a, b)


def where_set(flag: Flag, value: Value) -> Value:
    """`value`, or 0 where the flag does not hold."""
    return chosen(flag, value, value.k.fit(value.k.const(0, value.type), value.type, value.lanes))
