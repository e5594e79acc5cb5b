"""How a draw makes its colours, stage by stage, with the values that one pixel had: the same for both consoles.

    for stage in run.colour_flow("f1/d17/px8,9"):
        print(stage)            # combiner 0: rgb modulate(texture 0.rgb #d4c7ed, vertex color.rgb #595969) = #494561
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from pocketgpu.displayed import Displayed
from pocketgpu.inspect.model.address import Address
from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True, repr=False)
class FlowValue(Displayed):
    """A value at the pixel. text: for people; color: as "#rrggbb" where it is one, else ""."""

    text: str
    color: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "color": self.color}

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class FlowInput(Displayed):
    """What an operation reads. name: "texture 0". operand: which part of it, "1 - alpha"; "" for all of it. stage: the
    name of the stage that makes it; "" if none of the flow does. value: None if it is not known."""

    name: str
    operand: str = ""
    stage: str = ""
    value: FlowValue | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name, "operand": self.operand, "stage": self.stage,
            "value": None if self.value is None else self.value.to_json(),
        }  # fmt: skip

    def __str__(self) -> str:
        name = f"{self.name}.{self.operand}" if self.operand else self.name
        return name if self.value is None else f"{name} {self.value}"


@dataclass(frozen=True, repr=False)
class FlowPart(Displayed):
    """An operation of a stage. name: the channels that it makes, "rgb"; "" for all. scale: of its result, or ""."""

    name: str
    operation: str
    inputs: tuple[FlowInput, ...] = ()
    scale: str = ""
    output: FlowValue | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name, "operation": self.operation, "inputs": [one.to_json() for one in self.inputs],
            "scale": self.scale, "output": None if self.output is None else self.output.to_json(),
        }  # fmt: skip

    def __str__(self) -> str:
        text = f"{self.operation}({', '.join(map(str, self.inputs))})"
        scale = f" {self.scale}" if self.scale else ""
        return f"{self.name} {text}{scale}".strip() + ("" if self.output is None else f" = {self.output}")


@dataclass(frozen=True, repr=False)
class FlowStage(Displayed):
    """A stage. parts: its operations; a source of values has none. output: of the whole stage. notes: what else is to
    say, such as that the result is kept in a buffer. idle: it passes its input on. program: an address to step through
    if the stage is a program."""

    name: str
    parts: tuple[FlowPart, ...] = ()
    output: FlowValue | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)
    idle: bool = False
    program: Address | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name, "parts": [one.to_json() for one in self.parts],
            "output": None if self.output is None else self.output.to_json(), "notes": list(self.notes),
            "idle": self.idle, "program": None if self.program is None else str(self.program),
        }  # fmt: skip

    def __str__(self) -> str:
        said = "; ".join([*map(str, self.parts), *self.notes])
        output = "" if self.output is None or self.parts else f" = {self.output}"
        return f"{self.name}{output}" + (f": {said}" if said else "")


def eight_bits(values: Sequence[int]) -> FlowValue:
    """Channels from 0 to 255: red, green, blue and perhaps alpha, or one of them."""
    text = ", ".join(map(str, values))
    return FlowValue(text, hex_color(values) if len(values) > 2 else "")


def floats(values: Sequence[float]) -> FlowValue:
    """Channels as floats, 0 to 1 in a colour."""
    text = ", ".join(f"{value:.6g}" for value in values)
    scaled = [round(255 * min(max(value, 0.0), 1.0)) if value == value else 0 for value in values]
    return FlowValue(text, hex_color(scaled) if len(values) > 2 else "")


def hex_color(values: Sequence[int]) -> str:
    """ "#rrggbb" of red, green and blue, which are brought into their range."""
    return "#" + "".join(f"{min(max(int(value), 0), 255):02x}" for value in values[:3])


__all__ = ["FlowInput", "FlowPart", "FlowStage", "FlowValue", "eight_bits", "floats", "hex_color"]
