"""The stages of a fragment with text and data: inputs, textures, its program, tests, blending, masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from pocketgpu.inspect.model.references import Reference, registers_in
from pocketgpu.inspect.model.stage import Loss, Stage
from pocketgpu.inspect.model.why import PROGRAM
from pocketgpu.inspect.switch.lane_trace import Instruction, number_text
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted


@dataclass
class TextureSample:
    """What a texture instruction did. handle: the word in the constant bank; texture: the texture that it names.

    coordinates: the registers that it read; result: those that it wrote. details: level of detail ("level"), the texels
    that were read ("x", "y", ..., "texel": words, or "texel.r" and so on), and their weights ("weight", or "part_x" and
    "part_y" in 256ths between a texel and the next), in the order in which they were read. written_by: the event that
    wrote the texels last, if events show it. reference: the first of these texels, if the texture has a name.
    """

    instruction: int
    text: str
    handle: int
    texture: str
    coordinates: dict[str, int]
    result: dict[str, int]
    details: dict[str, list[Any]] = field(default_factory=dict)
    written_by: str = ""
    reference: Reference | None = None

    def stage(self) -> Stage:
        """The sample as a stage."""
        values = {
            "instruction": self.instruction, "text": self.text, "handle": f"{self.handle:#010x}",
            "texture": self.texture, "coordinates": _hex(self.coordinates), "result": _hex(self.result),
            "details": self.details, "written_by": self.written_by,
        }  # fmt: skip
        about = [] if self.reference is None else [self.reference]
        return Stage("texture", text=[str(self)], values=values, references=about)

    def __str__(self) -> str:
        got = ", ".join(f"{name} = {number_text(v)}" for name, v in self.result.items())
        at = ", ".join(number_text(v) for v in self.coordinates.values())
        by = f" (written by {self.written_by})" if self.written_by else ""
        text = f"{self.text} at {at} of {self.texture}{by}: {got}"
        shown = {name: values[:8] for name, values in self.details.items() if not name.startswith("texel.")}
        parts = (f"{name} {', '.join(_short(v) for v in values)}" for name, values in shown.items())
        return text + (f"; {'; '.join(parts)}" if shown else "")


def inputs(values: Mapping[str, int]) -> Stage:
    """Attributes that the program read: name to the word of a float."""
    text = "inputs: " + ", ".join(f"{name} = {number_text(v)}" for name, v in values.items())
    return Stage("inputs", text=[text], values=_hex(values))


def program(instructions: Sequence[Instruction], steps: int, outputs: Sequence[int]) -> Stage:
    """The fragment's program. outputs: its registers from R0 on. steps: how many instructions ran, kept or not."""
    text = [f"program, {counted(steps, 'instruction')}:", *(f"  {one}" for one in instructions)] if instructions else []
    if outputs:
        text.append("outputs: " + ", ".join(f"R{n} = {number_text(v)}" for n, v in enumerate(outputs)))
    values = {
        "steps": steps, "instructions": [one.to_json() for one in instructions],
        "outputs": [f"{word:#010x}" for word in outputs],
    }  # fmt: skip
    return Stage(PROGRAM, text=text, values=values)


def test(name: str, text: str, passed: bool, register: str = "") -> Stage:
    """A test of a sample. text: the comparison with both operands; register: the register that turns it on."""
    where = f" [{register}]" if register else ""
    lost = [] if passed else [Loss(1, text, register)]
    line = f"{name}: {text}: {'passes' if passed else 'FAILS'}{where}"
    about = [Reference(0, one) for one in registers_in(register)]
    return Stage(name, 1, int(passed), lost, [line], {"text": text, "register": register}, references=about)


def blend(
    equation: str, source: tuple[float, ...], target: tuple[float, ...], result: tuple[float, ...],
    registers: Sequence[str] = (),
) -> Stage:  # fmt: skip
    """Blending of one sample. equation: as text. Colours are (red, green, blue, alpha); a target not read is empty.
    registers: those that say how."""
    under = f", target {_colour(target)}" if target else ""
    text = f"{equation}: source {_colour(source)}{under} -> {_colour(result)}"
    values = {"equation": equation, "source": list(source), "target": list(target), "result": list(result)}
    return Stage("blend", text=[text], values=values, references=[Reference(0, one) for one in registers])


def mask(text: str) -> Stage:
    """Channels that are not written."""
    about = [Reference(0, one) for one in registers_in(text)]
    return Stage("write mask", text=[text], values={"text": text}, references=about)


def _colour(values: tuple[float, ...]) -> str:
    return "(" + ", ".join(f"{v:.6g}" for v in values) + ")"


def _short(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _hex(values: Mapping[str, int]) -> dict[str, str]:
    return {name: f"{v:#010x}" for name, v in values.items()}


__all__ = ["TextureSample", "blend", "inputs", "mask", "program", "test"]
