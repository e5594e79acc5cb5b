"""Elements of vertex buffers as numbers: which bytes of an element are what, and tables of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import Displayed
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.inspect.model.event import Event
    from pocketgpu.inspect.model.vertices import VertexBuffer

Raw = NDArray[np.uint8]
WORD = 4
MOST_WORDS = 16
"""Most words of an element whose parts are not known."""


@dataclass(frozen=True, repr=False)
class Element(Displayed):
    """A part of an element of a buffer. name: "v0" or "a0: R32_G32_B32 FLOAT". at, size: its bytes in the element.
    columns: names of its numbers. numbers: makes of bytes (n, size) numbers (n, columns)."""

    name: str
    at: int
    size: int
    columns: tuple[str, ...]
    numbers: Callable[[Raw], NDArray[Any]]

    def __str__(self) -> str:
        return f"{self.name} at byte {self.at}"


def plain(type: str, count: int) -> Callable[[Raw], NDArray[Any]]:
    """Numbers of a NumPy type, one after the other."""

    def numbers(raw: Raw) -> NDArray[Any]:
        return np.ascontiguousarray(raw).view(type).reshape(len(raw), count)

    return numbers


def words(stride: int) -> tuple[Element, ...]:
    """The words of an element whose parts are not known, up to `MOST_WORDS`."""
    count = min(stride // WORD, MOST_WORDS)
    if not count:
        return ()
    return (Element("words", 0, count * WORD, tuple(f"+{WORD * n}" for n in range(count)), plain("<u4", count)),)


def count_of(buffer: VertexBuffer, event: Event | None) -> int | None:
    """How many elements of a buffer a draw may read; None if nothing says it."""
    stride = max(buffer.stride, 1)
    size = buffer.size
    if size is None and event is not None:
        inside = [one for one in event.reads if buffer.address in one or buffer.address <= one.address]
        ends = [one.end for one in inside if (one.address - buffer.address) % stride == 0]
        size = min((end - buffer.address for end in ends), default=None) if ends else None
    if size is None:
        return None
    used = max((one.at + one.size for one in buffer.elements), default=stride)
    return 1 if not buffer.stride else max(0, (size - used) // stride + 1)


def table(elements: Sequence[Element], data: bytes, stride: int, count: int) -> list[list[Any]]:
    """Rows of numbers, a list for each element of a buffer. data: from the first byte on; what is missing is 0."""
    step = max(stride, 1)
    need = (count - 1) * step + max((one.at + one.size for one in elements), default=0) if count else 0
    raw = np.zeros(max(need, 0), np.uint8)
    given = np.frombuffer(data[:need], np.uint8)
    raw[: len(given)] = given
    columns = []
    for one in elements:
        places = np.arange(count, dtype=np.int64)[:, None] * step + one.at + np.arange(one.size)
        values = one.numbers(np.ascontiguousarray(raw[places]))
        columns += [values[:, n].tolist() for n in range(len(one.columns))]
    return [list(row) for row in zip(*columns, strict=True)]


__all__ = ["Element", "count_of", "plain", "table", "words"]
