"""The colours of a draw of the 3DS: sources, the six combiner stages with their buffer, fog, blending."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pocketgpu.facts.pica import PICA
from pocketgpu.facts.pica_enums import FOG_MODE, TEXENV_SCALE, TEXENV_SOURCE
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.colour_flow import FlowInput, FlowPart, FlowStage, FlowValue, eight_bits, floats
from pocketgpu.inspect.model.why import Fragment
from pocketgpu.pica.core.registers import field
from pocketgpu.pica.fragment.combiners import BUFFERED, STAGES, USES

if TYPE_CHECKING:
    from pocketgpu.inspect.n3ds.moments import N3dsMoment

_CHANNELS = "rgba"
_TEXTURES = {TEXENV_SOURCE.number(f"TEXTURE{unit}"): unit for unit in range(4)}
_LIGHTING = {TEXENV_SOURCE.FRAGMENT_PRIMARY: "primary", TEXENV_SOURCE.FRAGMENT_SECONDARY: "secondary"}
_OWN = TEXENV_SOURCE.numbers("PREVIOUS", "BUFFER", "CONSTANT")
"""Sources that are made by the stages themselves."""


class _CombinerFlow:
    """The stages of one draw. values: of the fragment's stages, by name; empty where no pixel is selected."""

    def __init__(self, moment: N3dsMoment, fragment: Fragment | None) -> None:
        self.moment, self.words = moment, moment.registers()
        self.values: dict[str, dict[str, Any]] = {one.name: one.values for one in fragment.stages} if fragment else {}
        self.sources: set[int] = set()
        """Sources that a stage reads."""

    def raw(self, name: str) -> int:
        part = field(name)
        return part.field.raw(self.words[part.register.name])

    def text(self, name: str) -> str:
        """A field's value, as the register table names it."""
        enum, raw = field(name).field.enum, self.raw(name)
        return enum.get(raw, f"code {raw}") if enum is not None else str(raw)

    def stages(self) -> list[FlowStage]:
        combiners = [self._combiner(stage) for stage in range(STAGES)]
        return [*self._made_sources(), *combiners, *self._fog(), self._blend()]

    def _channels(self, register: str) -> list[int]:
        found = PICA[register]
        return [found[ch].raw(self.words[register]) for ch in _CHANNELS]

    def _combiner(self, stage: int) -> FlowStage:
        name = f"combiner {stage}"
        values = self.values.get(name, {})
        parts = tuple(self._part(stage, part, values.get(part, {})) for part in ("rgb", "alpha"))
        buffered = stage < BUFFERED
        kept = [one for one in ("rgb", "alpha") if buffered and self.raw(f"TEXENV_UPDATE_BUFFER.{one}{stage}")]
        notes = (f"its {' and '.join(kept)} {'goes' if len(kept) == 1 else 'go'} to the buffer",) if kept else ()
        result = values.get("result")
        return FlowStage(name, parts, None if result is None else eight_bits(result), notes, self._idle(stage, parts))

    def _idle(self, stage: int, parts: tuple[FlowPart, ...]) -> bool:
        replace, previous = "replace", TEXENV_SOURCE.get(TEXENV_SOURCE.PREVIOUS)
        return all(
            part.operation == replace and not part.scale and part.inputs[0].name == previous
            and part.inputs[0].operand == part.name for part in parts
        )  # fmt: skip

    def _part(self, stage: int, part: str, values: dict[str, Any]) -> FlowPart:
        operation = self.raw(f"TEXENV{stage}_COMBINER.{part}")
        read = values.get("operands", [])
        inputs = tuple(
            self._input(stage, part, n, read[n]["value"] if n < len(read) else None)
            for n in range(USES.get(operation, 0))
        )  # fmt: skip
        scaled = self.raw(f"TEXENV{stage}_SCALE.{part}") != TEXENV_SCALE.X1
        result = values.get("result")
        return FlowPart(
            part, self.text(f"TEXENV{stage}_COMBINER.{part}"), inputs,
            self.text(f"TEXENV{stage}_SCALE.{part}") if scaled else "", self._value(result),
        )  # fmt: skip

    @staticmethod
    def _value(value: Any) -> FlowValue | None:
        return None if value is None else eight_bits(value if isinstance(value, list) else [value])

    def _input(self, stage: int, part: str, n: int, value: Any) -> FlowInput:
        source = self.raw(f"TEXENV{stage}_SOURCE.{part}{n}")
        name, operand = self.text(f"TEXENV{stage}_SOURCE.{part}{n}"), self.text(f"TEXENV{stage}_OPERAND.{part}{n}")
        found, made_by = self._value(value), ""
        if source == TEXENV_SOURCE.CONSTANT:
            name = f"{name} {', '.join(map(str, self._channels(f'TEXENV{stage}_COLOR')))}"
        elif source == TEXENV_SOURCE.PREVIOUS and stage:
            made_by = f"combiner {stage - 1}"
        elif source == TEXENV_SOURCE.BUFFER:
            made_by = self._buffered_by(stage, part)
            if stage and not made_by:
                name = f"{name} {', '.join(map(str, self._channels('TEXENV_BUFFER_COLOR')))}"
        elif source not in _OWN:
            made_by = name
            self.sources.add(source)
        return FlowInput(name, operand, made_by, found)

    def _buffered_by(self, stage: int, part: str) -> str:
        """The stage whose result the buffer has for a stage: it takes a result after the next stage has read."""
        delay = 1 if self.moment.inspection.choices.get("combiner.buffer_delay") == "none" else 2
        for before in range(min(stage - delay, BUFFERED - 1), -1, -1):
            if self.raw(f"TEXENV_UPDATE_BUFFER.{part}{before}"):
                return f"combiner {before}"
        return ""

    def _made_sources(self) -> list[FlowStage]:
        """The sources that stages read, in the order of their numbers."""
        return [
            FlowStage(TEXENV_SOURCE.get(source, f"code {source}"), (), self._made(source), self._about(source))
            for source in sorted(self.sources)
        ]  # fmt: skip

    def _about(self, source: int) -> tuple[str, ...]:
        texture = self.moment.textures.get(_TEXTURES[source]) if source in _TEXTURES else None
        return () if texture is None else (str(texture),)

    def _made(self, source: int) -> FlowValue | None:
        """The colour of a source at the pixel."""
        if source in _TEXTURES:
            return self._value(self.values.get(f"texture {_TEXTURES[source]}", {}).get("color"))
        if source in _LIGHTING:
            return self._value(self.values.get("lighting", {}).get(_LIGHTING[source]))
        given = [self.values.get("inputs", {}).get(f"color.{ch}") for ch in _CHANNELS]
        return floats([one for one in given if one is not None]) if None not in given else None

    def _fog(self) -> list[FlowStage]:
        if self.raw("TEXENV_UPDATE_BUFFER.fog_mode") != FOG_MODE.FOG:
            return []
        values = self.values.get("fog", {})
        color = PICA["FOG_COLOR"]
        fog = eight_bits([color[ch].raw(self.words["FOG_COLOR"]) for ch in "rgb"])
        last = FlowInput(f"combiner {STAGES - 1}", "rgb", f"combiner {STAGES - 1}")
        keep = values.get("keep")
        notes = () if keep is None else (f"keeps {keep} of the colour at depth {values.get('depth')}",)
        part = FlowPart("rgb", "fog", (last, FlowInput("fog color", value=fog)), "", self._value(values.get("result")))
        return [FlowStage("fog", (part,), self._value(values.get("result")), notes)]

    def _blend(self) -> FlowStage:
        values = self.values.get("blend", {})
        made_by = "fog" if self.raw("TEXENV_UPDATE_BUFFER.fog_mode") == FOG_MODE.FOG else f"combiner {STAGES - 1}"
        source, target, result = (self._value(values.get(key)) for key in ("source", "target", "result"))
        inputs = (FlowInput("source", "", made_by, source), FlowInput("target", "", "", target))
        summary = self.moment.summary.parts["blending"]
        return FlowStage("blending", (FlowPart("", summary, inputs, "", result),), result)


def colour_flow(moment: N3dsMoment, place: Address, fragment: Fragment | None) -> list[FlowStage]:
    """See `Inspection.colour_flow`."""
    programs = tuple(f"{one.unit} {one.digest}, {one.size}" for one in moment.programs.values())
    program = FlowStage("vertex program", notes=programs, program=place.place.at(vertex=0))
    return [program, *_CombinerFlow(moment, fragment).stages()]


__all__ = ["colour_flow"]
