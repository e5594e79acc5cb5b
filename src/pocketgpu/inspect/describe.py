"""The public names of `pocketgpu.inspect.registers.describe`."""

from pocketgpu.inspect.registers.describe import Bits, Explanation, Match, explain, resolve, search

__all__ = ["Bits", "Explanation", "Match", "explain", "resolve", "search"]


def __dir__() -> list[str]:
    return [*__all__]
