"""Rules about textures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pocketgpu.events import sized
from pocketgpu.facts.formats import FRAMEBUFFER_COLOR_FORMATS, TEXTURE_FORMATS
from pocketgpu.facts.pica_enums import TEXENV_SOURCE
from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.pica.engines.transfer import external_format
from pocketgpu.pica.fragment.combiners import STAGES

RULES = RuleSet("3DS")


_UNITS = 3


@RULES.rule(
    "texture.unit-off",
    "a combiner reads a texture unit that is off",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_TEXUNIT_CONFIG, GPUREG_TEXENV0_SOURCE",
    explanation="The unit does not sample the texture; what it returns instead is not known.",
    hint="Enable the unit, or remove the texture from the combiner.",
)
def texture_unit_off(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for unit in range(_UNITS + 1):
            if draw(f"TEXUNIT_CONFIG.unit{unit}_enable"):
                continue
            stages = [stage for stage in range(STAGES) if TEXENV_SOURCE.TEXTURE0 + unit in draw.sources(stage)]
            if stages:
                yield draw.found(
                    f"combiner stage {stages[0]} reads texture unit {unit}, which TEXUNIT_CONFIG.unit{unit}_enable "
                    "switches off"
                )


_LEAST, _MOST = 8, 1024


@RULES.rule(
    "texture.size",
    "a texture whose sides are not powers of two from 8 to 1024",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_TEXUNIT0_DIM, GPUREG_TEXUNIT0_LOD",
    explanation="The unit makes addresses from bits of coordinates, and the smallest level in memory has 8x8 texels.",
    hint="Pad the texture to the next power of two.",
)
def texture_size(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for unit in draw.texture_units:
            width, height = (draw(f"TEXUNIT{unit}_DIM.{name}") for name in ("width", "height"))
            if any(side & (side - 1) or not _LEAST <= side <= _MOST for side in (width, height)):
                yield draw.found(f"the texture of unit {unit} is {sized(width, height)} (TEXUNIT{unit}_DIM)")
            levels = draw(f"TEXUNIT{unit}_LOD.max_level")
            if levels and min(width, height) >> levels < _LEAST:
                size = sized(width, height)
                yield draw.found(f"the texture of unit {unit} is {size} and has {levels} smaller levels")


@RULES.rule(
    "texture.format",
    "a texture is read in another format than a transfer or draws wrote it in",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_TEXUNIT0_TYPE; GPU/External Registers, Transfer Engine flags",
    explanation="Texels of another size or order are read from the same bytes: the texture is noise or stripes.",
    hint="Compare TEXUNIT_TYPE with the output format of the transfer, or with the format of the render target.",
)
def texture_format(record: N3dsRecord) -> Iterator[Found]:
    made: dict[int, tuple[str, int]] = {}
    for one in record.transfers:
        if one.target is not None and one.get("PPF_FLAGS.linear_to_tiled"):
            format = external_format(one.get("PPF_FLAGS.output_format"))
            made[one.target.address] = format.name, format.bits
    for draw in record.draws:
        format_of_target = FRAMEBUFFER_COLOR_FORMATS.get(draw("COLORBUFFER_FORMAT.format"))
        if "color" in draw.writes and format_of_target is not None and not draw("COLOR_OPERATION.fragment_mode"):
            made.setdefault(draw.writes["color"].address, (format_of_target.name, format_of_target.bits))
    for draw in record.draws:
        for unit in draw.texture_units:
            address = draw.bytes(f"TEXUNIT{unit}_ADDR.address")
            texture = TEXTURE_FORMATS.get(draw(f"TEXUNIT{unit}_TYPE.format"))
            name, bits = made.get(address, ("", 0))
            # Formats of the same size are read on purpose at times, depth as colour for example.
            if name and texture is not None and texture.bits != bits:
                yield draw.found(
                    f"the texture of unit {unit} at {address:#010x} is read as {texture.name} (TEXUNIT{unit}_TYPE), "
                    f"and was written as {name}"
                )


@RULES.rule(
    "texture.unmapped",
    "a texture goes beyond memory or has no size",
    severity="error",
    confidence="documented",
    source="3dbrew Memory layout; GPU/Internal Registers, GPUREG_TEXUNIT0_ADDR1",
    explanation="It is black here. What a console reads there is not known.",
    hint="The register holds the physical address divided by 8.",
)
def texture_unmapped(record: N3dsRecord) -> Iterable[Found]:
    return record.findings_of("texture.unmapped")


_MARK = 2


@RULES.rule(
    "texture.etc1",
    "TEXUNIT_PARAM and the texture format disagree on ETC1",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_TEXUNIT0_PARAM",
    explanation="Drivers write 2 to bits 4 and 5 for ETC1 and 0 for all other formats. Simulators do not read them.",
    hint="Write 2 for ETC1 (not for ETC1A4) and 0 for other formats.",
)
def texture_etc1(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for unit in draw.texture_units:
            format = TEXTURE_FORMATS.get(draw(f"TEXUNIT{unit}_TYPE.format"))
            mark, wanted = draw(f"TEXUNIT{unit}_PARAM.etc1"), _MARK * (format is not None and format.name == "ETC1")
            if format is not None and mark != wanted:
                yield draw.found(f"TEXUNIT{unit}_PARAM.etc1 is {mark} for a texture of format {format.name}")
