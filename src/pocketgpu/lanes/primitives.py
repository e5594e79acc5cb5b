"""What an evaluator provides: an operation for each word of lane code, on values that are checked already.

`Lang` has the methods that kernels call, with their checks. The evaluators (`numpy_eval`, `llvm_eval`) are its
subclasses and implement these operations. Values have the types and lane counts that the operation needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pocketgpu.lanes.values import Array, Type, Value, Var
from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Jump:
    """The block that follows in a `Lang.graph`: targets[selector], the last one for every other selector.

    values: selectors of the targets but the last, if they are not 0, 1, 2, ...
    """

    selector: Value
    targets: tuple[int, ...]
    values: tuple[int, ...] | None = None


Next = int | Jump | tuple[Value, Any, Any] | tuple[Value, Any, Any, bool]
"""What a block of `Lang.graph` returns: the next block (-1: the end), a Jump, or (condition, Next, Next), which a bool
may follow: what the condition usually is."""


class Primitives(ABC):
    """Operations of an evaluator. Each is described at the word of `Lang` that ends in it."""

    hurried = in_memory = takes_turns = False

    # -- what only the compiler needs to know -----------------------------------------------------------------------
    def hurry(self, in_memory: bool = False) -> None:
        """Have the compiler use few passes: the code is made sooner and may run slower. For long kernels.

        in_memory: leave variables in memory, for kernels that need many of them in many blocks: there most would end up
        in memory, but the compiler takes long to see which. Only processors with registers for masks do so.
        """
        self.hurried, self.in_memory = True, in_memory

    def take_turns(self) -> None:
        """Have the compiler order instructions as for a processor that runs them in their order. So chains of which
        each step waits for the one before take turns. For code that computes several of them at once."""
        self.takes_turns = True

    # -- operations -------------------------------------------------------------------------------------------------
    @abstractmethod
    def _const(self, x: Any, type: Type, lanes: int) -> Value: ...

    @abstractmethod
    def _pattern(self, xs: list[Any], type: Type) -> Value: ...

    @abstractmethod
    def _splat(self, v: Value, lanes: int) -> Value: ...

    @abstractmethod
    def _binary(self, op: str, a: Value, b: Value) -> Value: ...

    @abstractmethod
    def _compare(self, op: str, a: Value, b: Value) -> Value: ...

    @abstractmethod
    def _unary(self, op: str, a: Value) -> Value: ...

    @abstractmethod
    def _select(self, m: Value, a: Value, b: Value) -> Value: ...

    @abstractmethod
    def _convert(self, how: str, a: Value, to: Type) -> Value: ...

    @abstractmethod
    def _fma(self, a: Value, b: Value, c: Value) -> Value: ...

    @abstractmethod
    def _to_half(self, a: Value) -> Value: ...

    @abstractmethod
    def _ballot(self, mask: Value) -> Value: ...

    @abstractmethod
    def _mask_of(self, ballot: Value) -> Value: ...

    @abstractmethod
    def _atomic(self, op: str, type: Type, off: Value, v: Value) -> Value: ...

    @abstractmethod
    def _graph(self, blocks: Sequence[Callable[[], Next]], start: int) -> None: ...

    @abstractmethod
    def _escape(self, c: Value, target: int, before: Callable[[], None]) -> None: ...

    @abstractmethod
    def _reduce(self, op: str, a: Value) -> Value: ...

    @abstractmethod
    def _lane(self, a: Value, i: int) -> Value: ...

    @abstractmethod
    def _shuffle(self, a: Value, b: Value, places: list[int]) -> Value: ...

    @abstractmethod
    def _load(self, type: Type, off: Value, lanes: int) -> Value: ...

    @abstractmethod
    def _store(self, type: Type, off: Value, v: Value) -> None: ...

    @abstractmethod
    def _prefetch(self, off: Value) -> None: ...

    @abstractmethod
    def _gather(self, type: Type, off: Value) -> Value: ...

    @abstractmethod
    def _scatter(self, type: Type, off: Value, v: Value, mask: Value | None) -> None: ...

    @abstractmethod
    def _var(self, type: Type, lanes: int) -> Var: ...

    @abstractmethod
    def _get(self, v: Var) -> Value: ...

    @abstractmethod
    def _set(self, v: Var, x: Value) -> None: ...

    @abstractmethod
    def _array(self, size: int, type: Type, lanes: int) -> Array: ...

    @abstractmethod
    def _array_get(self, a: Array, i: Value) -> Value: ...

    @abstractmethod
    def _array_set(self, a: Array, i: Value, x: Value) -> None: ...

    @abstractmethod
    def _when(self, c: Value, usual: bool | None) -> Iterator[None]: ...

    @abstractmethod
    def _range(self, lo: Value, hi: Value, step: int) -> Iterator[Value]: ...

    @abstractmethod
    def _loop(self, condition: Callable[[], Value]) -> Iterator[None]: ...

    @abstractmethod
    def _switch(self, selector: Value, cases: Sequence[Callable[[], Any]], usual: int | None) -> Any: ...

    @abstractmethod
    def _invoke(self, function: Value, args: Sequence[Value]) -> None: ...
