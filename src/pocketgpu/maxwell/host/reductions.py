"""Reductions of semaphores: how they combine a payload with a word of memory."""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.maxwell.host.waits import signed


def reduce_word(operation: str, old: int, payload: int, is_signed: bool) -> int:
    """The result of a reduction (MIN, MAX, XOR, AND, OR, ADD, INC, DEC) of a 32-bit word.

    INC counts up to the payload and starts again at 0; DEC counts down to 0 and starts again at the payload.
    Source: the fields' names in NVIDIA's class headers; the wrapping is that of CUDA's atomics.
    """
    key: Callable[[int], int] = signed if is_signed else int
    match operation:
        case "MIN":
            return min(old, payload, key=key)
        case "MAX":
            return max(old, payload, key=key)
        case "XOR":
            return old ^ payload
        case "AND":
            return old & payload
        case "OR":
            return old | payload
        case "ADD":
            return (old + payload) & 0xFFFFFFFF
        case "INC":
            return 0 if key(old) >= key(payload) else (old + 1) & 0xFFFFFFFF
        case "DEC":
            return payload if old == 0 or key(old) > key(payload) else (old - 1) & 0xFFFFFFFF
    raise ValueError(operation)
