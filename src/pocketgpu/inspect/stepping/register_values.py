"""Values of registers: words with a type.

A value is one register of 32 bits, or a pair. Words are kept exactly: the payload of a NaN, the sign of a zero. A
register of the Switch has no type until an instruction uses it as one.
"""

from __future__ import annotations

import math
import struct
from typing import Any

from pocketgpu.late_dataclass import dataclass

FORMATS = {"f32": ("f", 1), "f64": ("d", 1), "f16x2": ("e", 2)}
"""Types that are floats: the letter for `struct`, and how many floats a value has."""
KINDS = (*FORMATS, "i32", "i64", "bits", "bool")
"""All types. bits: no instruction has given it a type, such as a word that was loaded."""


@dataclass(frozen=True, slots=True)
class Value:
    """The value of one register or of a pair.

    names: such as ("r0.x",) or ("R2", "R3"), the lower word first. bits: the words as one number. kind: of KINDS.
    """

    names: tuple[str, ...]
    bits: int
    kind: str = "bits"

    @property
    def name(self) -> str:
        return ":".join(self.names)

    @property
    def words(self) -> dict[str, int]:
        """The word of each register."""
        return {name: self.bits >> 32 * n & 0xFFFFFFFF for n, name in enumerate(self.names)}

    @property
    def floats(self) -> tuple[float, ...]:
        """Its floats; empty if its type is not a float."""
        if self.kind not in FORMATS:
            return ()
        letter, count = FORMATS[self.kind]
        size = 4 * len(self.names)
        found: tuple[float, ...] = struct.unpack(
            f"<{count}{letter}", (self.bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        )
        return found

    @property
    def is_nan(self) -> bool:
        return any(math.isnan(number) for number in self.floats)

    @property
    def is_infinite(self) -> bool:
        return any(math.isinf(number) for number in self.floats)

    @property
    def number(self) -> Any:
        """A float, a pair of floats, a signed integer, a bool; the word itself for "bits"."""
        if self.kind in FORMATS:
            return self.floats[0] if len(self.floats) == 1 else self.floats
        if self.kind == "bool":
            return bool(self.bits)
        if self.kind in ("i32", "i64"):
            top = 1 << (32 * len(self.names) - 1)
            return (self.bits ^ top) - top
        return self.bits

    @property
    def hex(self) -> str:
        """All its digits, "0x3f800000"."""
        return f"{self.bits:#0{2 + 8 * len(self.names)}x}"

    @property
    def shown(self) -> str:
        """The number, short, for people."""
        if self.kind in FORMATS:
            return "|".join(f"{number:.7g}" for number in self.floats)
        if self.kind == "bool":
            return "true" if self.bits else "false"
        return self.hex if self.kind == "bits" else str(self.number)

    def to_json(self) -> dict[str, Any]:
        """Plain data. Floats as numbers (null for those that JSON cannot hold) and as the digits of their words."""
        found: dict[str, Any] = {"register": self.name, "kind": self.kind, "hex": self.hex}
        if self.kind in FORMATS:
            numbers = [number if math.isfinite(number) else None for number in self.floats]
            found["float"] = numbers[0] if len(numbers) == 1 else numbers
        elif self.kind != "bits":
            found["value"] = self.number
        return found


def grouped(values: list[tuple[str, str]]) -> str:
    """Names and shown values in a line; components of one register together: "v0.xy 1 2"."""
    groups: list[tuple[str, str, list[str]]] = []
    for name, text in values:
        stem, _, component = name.partition(".")
        together = len(component) == 1  # components of a vector; other names also have dots
        if together and groups and groups[-1][0] == stem and groups[-1][1] and component not in groups[-1][1]:
            groups[-1] = (stem, groups[-1][1] + component, [*groups[-1][2], text])
        else:
            groups.append((stem, component, [text]))
    return ", ".join(f"{stem}{'.' * bool(part)}{part} {' '.join(texts)}" for stem, part, texts in groups)


__all__ = ["FORMATS", "KINDS", "Value", "grouped"]
