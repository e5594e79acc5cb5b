"""What the lines of a stage's text are about: texels of textures, and the registers that say what the stage does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pocketgpu.inspect.model.references import Reference
from pocketgpu.inspect.n3ds.history import DrawOnPixel
from pocketgpu.inspect.n3ds.resources.textures import UNITS, part_name
from pocketgpu.pica.texture.units import CUBE_TYPES

_REGISTERS: Final = {
    "fog": ("TEXENV_UPDATE_BUFFER", "FOG_COLOR"),
    "blend": ("COLOR_OPERATION", "BLEND_FUNC"),
    "write mask": ("DEPTH_COLOR_MASK", "COLORBUFFER_WRITE", "DEPTHBUFFER_WRITE"),
    "lighting": ("LIGHTING_CONFIG0", "LIGHTING_CONFIG1"),
}
_UNIT = ("PARAM", "ADDR", "DIM")
_COMBINER = ("SOURCE", "OPERAND", "COMBINER", "COLOR", "SCALE")


def _registers(name: str, values: dict[str, Any]) -> Sequence[str]:
    kind, _, number = name.partition(" ")
    if "register" in values:
        return (values["register"].partition(".")[0],)
    if kind == "combiner":
        return [f"TEXENV{number}_{part}" for part in _COMBINER]
    if kind == "texture" and int(number) < UNITS:
        return [f"TEXUNIT{number}_{part}" for part in (*_UNIT, "TYPE")]
    if name == "blend" and "logic_operation" in values:
        return ("COLOR_OPERATION", "LOGIC_OP")
    return _REGISTERS.get(name, ())


def references_of(draw: DrawOnPixel, name: str, values: dict[str, Any], text: Sequence[str]) -> Iterator[Reference]:
    """The references of a stage. values: as `explain` has them; text: its lines, of which there may be none."""
    if not text:
        return
    kind, _, number = name.partition(" ")
    if kind == "texture" and int(number) < UNITS:
        unit, width = int(number), values["size"][0]
        cube = unit == 0 and draw.state("TEXUNIT0_PARAM.type") in CUBE_TYPES
        for line, texel in enumerate(values.get("texels", ()), 1):
            across, down = texel["level_size"]
            level = max(0, (width // max(across, 1)).bit_length() - 1)
            part = part_name(unit, level, int(values.get("face", 0)) if cube else None)
            # Rows of the picture begin at the top, those of coordinates at the bottom.
            place = texel["x"], down - 1 - texel["y"]
            for at in (0, line) if line == 1 else (line,):
                if at < len(text) and 0 <= place[0] < across and 0 <= place[1] < down:
                    yield Reference(at, texture=part_name(unit), part=part, x=place[0], y=place[1])
    for register in _registers(name, values):
        yield Reference(0, register)


__all__ = ["references_of"]
