"""The answer to "why has this pixel its colour?" as data, and as text for a terminal.

A `Why` has touches, one for each event that touched the pixel, in order; that of a draw has fragments; a fragment has
tests, blending, inputs, texture samples and instructions with their values. The conclusion comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.model.wording import counted
from pocketgpu.inspect.switch.trace import Instruction, number_text

SCHEMA = "pocketgpu.why/1"


@dataclass
class Test:
    """A comparison that lets a fragment pass or not. text: with both operands; register: what asks for it."""

    __test__ = False  # no test case, whatever its name

    name: str
    text: str
    passed: bool
    register: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "text": self.text, "passed": self.passed, "register": self.register}

    def __str__(self) -> str:
        where = f" [{self.register}]" if self.register else ""
        return f"{self.name}: {self.text}: {'passes' if self.passed else 'FAILS'}{where}"


@dataclass
class Blend:
    """Blending of one sample. equation: in words; colours are (red, green, blue, alpha)."""

    equation: str
    source: tuple[float, ...]
    target: tuple[float, ...]
    result: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        return {key: list(v) if isinstance(v, tuple) else v for key, v in vars(self).items()}

    def __str__(self) -> str:
        under = f", target {_colour(self.target)}" if self.target else ""
        return f"{self.equation}: source {_colour(self.source)}{under} -> {_colour(self.result)}"


@dataclass
class TextureSample:
    """What an instruction on a texture got. handle: the word in the constant bank; texture: which one it names.

    coordinates: the registers that it read; result: those that it wrote. details: level of detail ("level"), the texels
    that were read ("x", "y", ..., "texel": words, or "texel.r" and so on), and their weights ("weight", or "part_x" and
    "part_y" in 256ths between a texel and the next), in the order in which they were read. written_by: the event that
    wrote the texels last, as far as events tell.
    """

    instruction: int
    text: str
    handle: int
    texture: str
    coordinates: dict[str, int]
    result: dict[str, int]
    details: dict[str, list[Any]] = field(default_factory=dict)
    written_by: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "instruction": self.instruction, "text": self.text, "handle": f"{self.handle:#010x}",
            "texture": self.texture, "coordinates": _hex(self.coordinates), "result": _hex(self.result),
            "details": self.details, "written_by": self.written_by,
        }  # fmt: skip

    def __str__(self) -> str:
        got = ", ".join(f"{name} = {number_text(v)}" for name, v in self.result.items())
        at = ", ".join(number_text(v) for v in self.coordinates.values())
        by = f" (written by {self.written_by})" if self.written_by else ""
        text = f"{self.text} at {at} of {self.texture}{by}: {got}"
        shown = {name: values[:8] for name, values in self.details.items() if not name.startswith("texel.")}
        parts = (f"{name} {', '.join(_short(v) for v in values)}" for name, values in shown.items())
        return text + (f"; {'; '.join(parts)}" if shown else "")


@dataclass
class Fragment:
    """A fragment that a primitive of a draw brought to the pixel.

    primitive: its number in the draw, as programs see it. samples: numbers of those that it covers, passed: of those
    that are left behind all tests. fate: "written", or the reason with numbers. outputs: the program's registers from
    R0 on. before, after: bytes of the samples in the target, as hexadecimal. proved: whether the values that NumPy
    computed end in the bytes that the machine's own code writes.
    """

    primitive: int
    front: bool
    samples: list[int]
    passed: list[int]
    fate: str
    written: bool
    tests: list[Test] = field(default_factory=list)
    blends: list[Blend] = field(default_factory=list)
    mask: str = ""
    inputs: dict[str, int] = field(default_factory=dict)
    textures: list[TextureSample] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    steps: int = 0
    outputs: list[int] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    proved: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "primitive": self.primitive, "front": self.front, "samples": self.samples, "passed": self.passed,
            "fate": self.fate, "written": self.written, "tests": [one.to_json() for one in self.tests],
            "blends": [one.to_json() for one in self.blends], "mask": self.mask, "inputs": _hex(self.inputs),
            "textures": [one.to_json() for one in self.textures],
            "instructions": [one.to_json() for one in self.instructions], "steps": self.steps,
            "outputs": [f"{word:#010x}" for word in self.outputs], "before": self.before, "after": self.after,
            "proved": self.proved,
        }  # fmt: skip

    def lines(self, instructions: bool) -> Iterator[str]:
        """Text without indentation."""
        side = "front" if self.front else "back"
        covered = f", samples {_list(self.samples)}" if len(self.samples) != 1 or self.samples != [0] else ""
        yield f"primitive {self.primitive} ({side}{covered}): {self.fate}"
        if self.inputs:
            yield "  inputs: " + ", ".join(f"{name} = {number_text(v)}" for name, v in self.inputs.items())
        for sample in self.textures:
            yield f"  {sample}"
        if instructions and self.instructions:
            yield f"  program, {self.steps} instructions:"
            yield from (f"    {one}" for one in self.instructions)
        if self.outputs:
            yield "  outputs: " + ", ".join(f"R{n} = {number_text(v)}" for n, v in enumerate(self.outputs))
        yield from (f"  {one}" for one in self.tests)
        yield from (f"  {one}" for one in self.blends)
        if self.mask:
            yield f"  {self.mask}"
        if self.before != self.after:
            yield f"  bytes {' '.join(self.before)} -> {' '.join(self.after)}"


@dataclass
class Step:
    """An event that touched the pixel. x, y: the pixel of its surface. text: what it did there. before, after: bytes of
    the samples as hexadecimal, and what they mean. source: why the pixels that it took are as they are."""

    event: Event
    surface: str
    x: int
    y: int
    text: str
    before: list[str]
    after: list[str]
    value_before: str = ""
    value_after: str = ""
    fragments: list[Fragment] = field(default_factory=list)
    source: list[Step] = field(default_factory=list)
    proved: bool = True

    @property
    def wrote(self) -> bool:
        """Whether the pixel's bytes changed, or could have."""
        return self.before != self.after or any(one.written for one in self.fragments) or not self.fragments

    def to_json(self) -> dict[str, Any]:
        return {
            "event": str(self.event.address), "number": str(self.event.by_number), "kind": self.event.kind,
            "title": self.event.title, "surface": self.surface, "x": self.x, "y": self.y, "text": self.text,
            "before": self.before, "after": self.after,
            "value_before": self.value_before, "value_after": self.value_after,
            "fragments": [one.to_json() for one in self.fragments],
            "source": [one.to_json() for one in self.source], "proved": self.proved,
        }  # fmt: skip

    def lines(self, instructions: bool) -> Iterator[str]:
        """Text without indentation."""
        for one in self.source:
            yield from (f"  | {line}" for line in one.lines(instructions))
        yield f"{self.text}  {self.event.address}"
        changes = self.before != self.after
        yield f"  {self.value_before} -> {self.value_after}" if changes else f"  stays {self.value_after}"
        for fragment in self.fragments:
            yield from (f"  {line}" for line in fragment.lines(instructions and fragment.written))


@dataclass
class Why:
    """Why a pixel is as it is.

    address: what was asked. conclusion: at most three lines. touches: the events that touched it, in order. misses:
    draws that have its surface as a target and do not cover it. value: its bytes as hexadecimal, one string for each
    sample; place: where the first of them lies. color: what the screen shows, None for a pixel of a target. proved:
    whether every value ends in the machine's bytes: each fragment's, and from each step to the next.
    """

    address: Address
    conclusion: list[str]
    touches: list[Step]
    misses: int
    value: list[str]
    color: tuple[int, int, int] | None
    proved: bool
    place: Range

    @property
    def because(self) -> str:
        """The cause, in a line that ends with the address of what caused it."""
        return self.conclusion[0].partition(": ")[2]

    @property
    def last(self) -> Step | None:
        """The step that gave the pixel its colour: behind blits and copies, the last one that wrote it there."""
        step = deciding(self.touches)
        while step is not None and step.source:
            step = deciding(step.source)
        return step

    def all_touches(self) -> Iterator[Step]:
        """All touches, those of sources before what took from them."""

        def walk(steps: list[Step]) -> Iterator[Step]:
            for one in steps:
                yield from walk(one.source)
                yield one

        yield from walk(self.touches)

    @property
    def fragments(self) -> list[Fragment]:
        """All fragments, in order."""
        return [fragment for step in self.all_touches() for fragment in step.fragments]

    def text(self, instructions: bool = True) -> str:
        """The conclusion, then everything. instructions: with those of the fragments that were written."""
        lines = [*self.conclusion, ""]
        for step in self.touches:
            lines += step.lines(instructions)
        if self.misses:
            have, do = ("has", "does") if self.misses == 1 else ("have", "do")
            others = counted(self.misses, "other draw")
            lines.append(f"{others} {have} this surface as a target and {do} not cover the pixel.")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data; words and addresses as hexadecimal strings."""
        return {
            "schema": SCHEMA, "address": str(self.address), "because": self.because,
            "conclusion": self.conclusion, "value": self.value,
            "color": None if self.color is None else list(self.color), "proved": self.proved, "misses": self.misses,
            "events": [step.to_json() for step in self.touches],
        }  # fmt: skip

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        swatch = ""
        if self.color is not None:
            colour = "#{:02x}{:02x}{:02x}".format(*self.color)
            swatch = f'<span style="background:{colour};border:1px solid;padding:0 1em">&nbsp;</span> '
        return f"<div>{swatch}<pre>{escape(self.text())}</pre></div>"


def deciding(steps: list[Step]) -> Step | None:
    """The last step that changed anything or wrote a fragment."""
    for step in reversed(steps):
        if step.wrote:
            return step
    return steps[-1] if steps else None


def _colour(values: tuple[float, ...]) -> str:
    return "(" + ", ".join(f"{v:.6g}" for v in values) + ")"


def _short(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _hex(values: dict[str, int]) -> dict[str, str]:
    return {name: f"{v:#010x}" for name, v in values.items()}


def _list(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"
