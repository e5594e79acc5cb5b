"""Behaviour that the sources leave open, and what-ifs: each is one named choice with a default.

Nothing of the kind is buried in the code. A switch stands where documents or simulators disagree, where only
one source speaks, or where a picture with a different setting is of interest (`texture.filter`). Values are
plain words; `sources` says for each who holds it. The short names of simulators: Azahar (SW: its software
renderer, GL: its shader generator), Panda3DS, Mikage, 3Beans; all but the last have ancestors in common.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Switch:
    """One choice. alternatives: the values besides `default`. sources: who holds each value."""

    name: str
    default: str
    alternatives: tuple[str, ...]
    doc: str
    sources: Mapping[str, str]

    @property
    def values(self) -> tuple[str, ...]:
        """All values, the default first."""
        return (self.default, *self.alternatives)


def _switch(name: str, doc: str, /, **sources: str) -> Switch:
    """A switch whose first value is the default; underscores in value names stand for hyphens."""
    by_value = {value.lstrip("_").replace("_", "-"): source for value, source in sources.items()}
    default, *others = by_value
    return Switch(name, default, tuple(others), doc, by_value)


def _lists() -> Iterator[Switch]:
    yield _switch(
        "list.high_ids",
        "What writing register ids from 0x300 up does.",
        ignore="Azahar, Mikage",
        wrap="3Beans (id taken modulo 0x400)",
    )
    yield _switch(
        "list.private_ids",
        "What command lists do to ids 0x000-0x00F and 0x020-0x03F, which belong to the ARM11.",
        ignore="GBATEK",
        store="Azahar, 3Beans",
    )
    yield _switch(
        "list.fifo_mask",
        "Which bits of a word reach a data port when the byte mask is not full.",
        raw="Azahar",
        masked="3Beans",
    )
    yield _switch(
        "list.jump_value",
        "Which values written to CMDBUF_JUMP start the other list.",
        any="GBATEK, Azahar, 3Beans",
        non_zero="3dbrew, Panda3DS",
    )
    yield _switch(
        "list.end_match",
        "Which write to FINALIZE ends a list.",
        masked_bytes="GBATEK, 3Beans: an enabled byte equal to its byte in IRQ_CMP",
        any_byte="Azahar: any of the four bytes, enabled or not",
        convention="Mikage: 0x12345678 only",
        any_value="3dbrew: the value does not matter",
        end_of_list="Panda3DS: the register is ignored, the interrupt comes at the end of the list",
    )
    yield _switch(
        "draw.trigger_value",
        "Which values written to DRAWARRAYS and DRAWELEMENTS draw.",
        any="GBATEK, Azahar, 3Beans",
        non_zero="3dbrew, Panda3DS",
    )


def _vertices() -> Iterator[Switch]:
    yield _switch(
        "vertex.alignment",
        "How components of a vertex are aligned inside a loader; alike for data laid out sanely.",
        element="Azahar: each to its element size, paddings to 4",
        padding="Panda3DS: only paddings, to 4; elements are read where they lie",
        address="3Beans: the address of each, cut to a multiple of its element size",
    )
    yield _switch(
        "vertex.repeated_attribute",
        "Which loader counts when two name the same attribute.",
        last="simulators; not measured",
        first="not measured",
    )
    yield _switch(
        "vertex.fixed_and_loaded",
        "Which wins for an attribute that a loader names and that is marked fixed.",
        loaded="3dbrew, 3Beans",
        fixed="Azahar, Panda3DS",
    )
    yield _switch(
        "vertex.fixed_index",
        "Whether FIXEDATTRIB_INDEX moves on after an attribute.",
        advance="Azahar, Panda3DS",
        keep="3Beans",
    )
    yield _switch(
        "vertex.immediate_inputs",
        "Which input registers immediate vertices go to.",
        permuted="Azahar; 3dbrew's rule for attributes in general",
        in_order="Panda3DS, 3Beans",
    )
    yield _switch(
        "vertex.immediate_strip",
        "Whether every second triangle of an immediate strip is turned round, as in other strips.",
        turned="all others",
        kept="Panda3DS",
    )


def _shaders() -> Iterator[Switch]:
    yield _switch(
        "shader.precision",
        "Number format of shader arithmetic.",
        f32="simulators",
        f24="3dbrew for the format; cutting off the mantissa is the driver library's rounding",
    )
    yield _switch(
        "shader.reciprocal_zero",
        "What RCP and RSQ make of negative zero.",
        positive="3dbrew: there is no negative zero, so +infinity; a test of Panda3DS",
        signed="Azahar: -infinity",
    )
    yield _switch(
        "shader.max_infinity",
        "What MAX makes of a second source that is -infinity.",
        smaller="Azahar: it is below all numbers, so the first source",
        result="3dbrew's list of results, a test of Panda3DS: -infinity",
    )
    yield _switch(
        "shader.litp_nan",
        "What LITP makes of NaN where it takes a maximum with 0.",
        zero="by analogy with MAX(NaN, 0); not measured",
        keep="by analogy with MAX(0, NaN); not measured",
    )
    yield _switch(
        "shader.nested_loop_counter",
        "What aL holds after an inner loop.",
        restored="Azahar, a test of it: what it held before",
        kept="no other source restores it",
    )
    yield _switch(
        "shader.loop_ends",
        "How many loops can end at one instruction.",
        all="Azahar's recompiler, a test of Azahar",
        one="3dbrew, Azahar's interpreter: one entry of the loop stack is checked; the outer loop misses its end",
    )
    yield _switch(
        "shader.stacks",
        "Whether calls, conditions and loops have a stack each.",
        separate="3dbrew",
        single="Azahar, Panda3DS, Mikage",
    )
    yield _switch(
        "shader.end",
        "What ends a program besides END.",
        nothing="all others",
        entrypoint="3Beans: the upper half of ENTRYPOINT",
    )
    yield _switch(
        "geometry.bool15",
        "What a run of the geometry shader does to boolean 15.",
        set="Azahar",
        keep="others",
    )
    yield _switch(
        "geometry.winding",
        "How a triangle emitted with the winding bit is turned round.",
        swap_first="Azahar: first two vertices change places",
        reverse="3Beans: vertices in reverse order",
    )
    yield _switch(
        "geometry.output_banks",
        "Whether output registers change banks with each emitted vertex.",
        double="Azahar, after console tests",
        single="others",
    )
    yield _switch(
        "geometry.emit_buffers",
        "How many vertices can be held for emission.",
        _4="3dbrew (two bits of SETEMIT)",
        _3="Azahar",
    )


def _raster() -> Iterator[Switch]:
    yield _switch(
        "clip.depth_range",
        "Which depths survive clipping.",
        half="3dbrew, Azahar, Mikage: -w to 0",
        full="3Beans: -w to w",
    )
    yield _switch(
        "viewport.offset_sign",
        "Sign of VIEWPORT_XY.",
        plus="Azahar, Panda3DS, Mikage",
        minus="3Beans",
    )
    yield _switch(
        "raster.cull_0_3",
        "What culling modes 0 and 3 do.",
        none="GBATEK, Azahar; 3dbrew for mode 0",
        back="an early version of the documentation",
    )
    yield _switch(
        "depth.bits",
        "Precision of a 24-bit depth; with 23 bits the lowest one is 0.",
        _24="Azahar SW",
        _23="Mikage",
    )


def _textures() -> Iterator[Switch]:
    yield _switch(
        "texture.filter",
        "A what-if: filtering of all textures.",
        as_programmed="what the texture registers say",
        nearest="what-if",
        linear="what-if",
    )
    yield _switch(
        "texture.levels",
        "Whether smaller levels of a texture are used.",
        as_programmed="3dbrew, Azahar GL",
        base="Azahar SW, Mikage: level 0 only",
    )
    yield _switch(
        "texture.expand",
        "How 5- and 6-bit channels become 8 bits.",
        replicate="Azahar, Panda3DS, Mikage",
        scale="3Beans: v * 255 / 31, cut off",
    )
    yield _switch(
        "texture.null_address",
        "What an enabled unit without an address gives.",
        black="Azahar",
        read="no special case",
    )
    yield _switch(
        "texture.nearest",
        "Which texel a coordinate just below 0 belongs to.",
        floor="the usual rule",
        truncate="Azahar SW",
    )
    yield _switch(
        "texture.wrap_4_7",
        "What wrap codes 4 to 7 do.",
        own="Azahar, after console tests",
        as_0_3="3Beans: the low two bits count",
    )
    yield _switch(
        "texture.shadow_equal",
        "Result of a shadow lookup at exactly the stored depth.",
        lit="Azahar SW",
        dark="Azahar GL",
    )
    yield _switch(
        "texture.shadow_filter",
        "Filtering of shadow lookups.",
        nearest="Azahar SW",
        linear="Azahar GL: four comparisons",
    )
    yield _switch(
        "texture.shadow_bias",
        "What happens when the bias takes the depth below 0.",
        clamp="Azahar GL",
        wrap="Azahar SW",
    )


def _lighting() -> Iterator[Switch]:
    yield _switch(
        "lighting.lut",
        "How lighting tables are read.",
        interpolate="Azahar",
        nearest="Panda3DS: entry 255 x",
    )
    yield _switch(
        "lighting.off_bits",
        "Tables that bits 20, 21 and 22 of LIGHTING_CONFIG1 switch off.",
        rb_rg_rr="3dbrew, driver library, Panda3DS, 3Beans",
        rr_rg_rb="Azahar",
    )
    yield _switch(
        "lighting.fresnel",
        "Which lights make the Fresnel alpha.",
        last="Azahar: the last one",
        sum="3Beans: all of them, added",
    )
    yield _switch(
        "lighting.color_bits",
        "Width of a channel of a light colour.",
        _10="Azahar: may exceed full brightness",
        _8="Panda3DS",
    )


def _combiners() -> Iterator[Switch]:
    yield _switch(
        "combiner.arithmetic",
        "Numbers that the combiner stages compute with.",
        integer="Azahar SW, 3Beans, Mikage: 8-bit integers",
        float="Azahar GL, Panda3DS: rounded to 8 bits after each stage",
    )
    yield _switch(
        "combiner.vertex_color",
        "How a vertex colour becomes 8 bits.",
        round="Azahar",
        truncate="Mikage",
    )
    yield _switch(
        "combiner.add_signed",
        "What add-signed takes away.",
        _128="Azahar SW",
        _127="Mikage",
    )
    yield _switch(
        "combiner.add_multiply",
        "Whether the sum is limited before the multiplication.",
        clamp="Azahar",
        unlimited="Mikage, 3Beans",
    )
    yield _switch(
        "combiner.scale_3",
        "What scale code 3 does.",
        x1="Azahar",
        x8="Panda3DS",
    )
    yield _switch(
        "combiner.first_previous",
        "What the first stage gets as result of the previous one.",
        vertex_color="3dbrew with a console test, Panda3DS",
        third_source="Azahar: for the first two operands, else 0",
        zero="3Beans",
        buffer_color="Mikage",
    )
    yield _switch(
        "combiner.first_buffer",
        "What the first stage gets from the combiner buffer.",
        zero="3dbrew, Azahar, Panda3DS",
        buffer_color="Mikage, 3Beans",
    )
    yield _switch(
        "combiner.buffer_delay",
        "When a result stored in the combiner buffer is seen.",
        one_stage="Azahar, Mikage, Panda3DS: a stage later",
        none="3Beans: by the next stage",
    )
    yield _switch(
        "fog.arithmetic",
        "How fog is blended.",
        truncate="Azahar SW",
        float="Azahar GL: rounded to 8 bits",
    )
    yield _switch(
        "gas.hypothesis",
        "How gas is drawn, which no document tells. Whatever uses gas is reported.",
        none="Azahar: transparent black",
        density="a guess: densities added up, looked up in the table of colours",
    )


def _tests() -> Iterator[Switch]:
    yield _switch(
        "test.order",
        "Which test comes first. Stencil and depth being first, a pixel that fails them changes the stencil whatever "
        "its alpha; all else is written for pixels that pass alpha too.",
        alpha_first="Azahar, Mikage",
        depth_first="3Beans: stencil and depth before alpha",
    )
    yield _switch(
        "test.stencil_operands",
        "Left side of the stencil comparison.",
        reference="Azahar",
        stored="3Beans",
    )
    yield _switch(
        "test.stencil_write",
        "Which bit of DEPTHBUFFER_WRITE lets the stencil be written.",
        stencil="3dbrew",
        any="Azahar",
    )
    yield _switch(
        "test.untested_depth_write",
        "Whether depth is written while the depth test is off.",
        yes="3dbrew, Azahar",
        no="Mikage",
    )
    yield _switch(
        "blend.min_max",
        "What minimum and maximum compare.",
        with_factors="Azahar SW, 3Beans",
        plain="Azahar GL: the colours alone",
    )
    yield _switch(
        "blend.factor_15",
        "What blend factor 15 is.",
        one="3Beans",
        source="Azahar: the source channel",
    )


def _fills() -> Iterator[Switch]:
    yield _switch(
        "fill.tail_24",
        "How a fill with a 24-bit pattern ends when the length is no multiple of 3.",
        stop="the end address is exclusive, as for other widths",
        whole_groups="Azahar: up to 2 bytes more",
        half_words="3Beans: whole half-words inside the range",
    )
    yield _switch(
        "fill.null_start",
        "What a fill at address 0 does.",
        finish="Azahar, after a console test: finished, but no interrupt",
        ignore="Mikage",
    )
    yield _switch(
        "external.status",
        "What the bits of STATUS say.",
        interrupt="GBATEK, a driver library: interrupt pending",
        busy="3dbrew: unit at work; here that is only one that never ends",
    )


def _transfers() -> Iterator[Switch]:
    yield _switch(
        "transfer.uncropped_stride",
        "Row length of the input when the crop flag is off.",
        output="GBATEK, 3Beans; fits what 3dbrew tells of such pictures",
        input="Azahar, Mikage, Panda3DS",
    )
    yield _switch(
        "transfer.no_tiling",
        "What the no-tiling flag makes of the layout.",
        tiled="3dbrew, Azahar: tiled to tiled",
        raw="3Beans: linear to linear",
    )
    yield _switch(
        "transfer.both_tiling_flags",
        "What linear-to-tiled and no-tiling together do.",
        linear="Azahar: linear to linear",
        hang="3dbrew: invalid",
    )
    yield _switch(
        "transfer.flip_crop",
        "What flipping a cropped picture does.",
        skew="Azahar, after a console test: the output starts later",
        plain="others",
    )
    yield _switch(
        "transfer.zero_size",
        "What a transfer without width or height does.",
        finish="Azahar",
        ignore="Mikage: no interrupt either",
    )
    yield _switch(
        "transfer.contract",
        "How the channels of pictures with 8 bits become fewer bits.",
        shift="Azahar, Mikage, Panda3DS",
        scale="3Beans: v * 31 / 255, cut off; alpha unless 0",
    )
    yield _switch(
        "transfer.odd_formats",
        "What pairs of formats do that the console does not convert.",
        convert="Azahar, Panda3DS",
        hang="GBATEK",
    )
    yield _switch(
        "transfer.average_bits",
        "Width in which pixels are averaged when scaling down 16-bit pictures.",
        _8="Azahar, Mikage",
        native="3Beans",
    )
    yield _switch(
        "transfer.linear_scale",
        "What scaling down a linear picture averages.",
        neighbours="the plain reading; not measured",
        as_tiled="3Beans: pixels that follow each other",
        refuse="Azahar",
    )
    yield _switch(
        "transfer.block32",
        "Order of pixels inside 32x32 blocks, in transfers and in render targets. Whatever uses them is reported.",
        morton="a guess from the 8x8 order; not measured",
        tiles="a guess: 8x8 tiles in rows; not measured",
    )
    yield Switch(
        "texture_copy.units",
        "16-byte",
        ("byte",),
        "Unit of line widths and gaps.",
        {"16-byte": "3dbrew, Azahar, Panda3DS, 3Beans", "byte": "an early version of the documentation"},
    )
    yield _switch(
        "texture_copy.zero_width",
        "What a gap with lines of width 0 does.",
        hang="Azahar, after a console test",
        no_gap="3Beans",
    )


def _display() -> Iterator[Switch]:
    yield _switch(
        "display.expand",
        "How 5- and 6-bit channels become 8 bits on the screen.",
        replicate="Azahar",
        scale="3Beans: v * 255 / 31, cut off",
    )
    yield _switch(
        "display.formats_5_7",
        "What the display formats 5 to 7 are.",
        rgba4="GBATEK, 3Beans",
        doubled="3dbrew: RGBA8 with every pixel twice",
    )


def _gsp() -> Iterator[Switch]:
    yield _switch(
        "gsp.alignment",
        "Whether GX commands with addresses or sizes that are no multiples of 8 are refused.",
        check="3dbrew",
        ignore="Azahar, Panda3DS",
    )
    yield _switch(
        "gsp.untranslatable",
        "What addresses do that lead to no memory of the GPU.",
        refuse="3dbrew: the request fails",
        zero="Azahar: they count as 0",
    )
    yield _switch(
        "gsp.double_fill",
        "Which interrupts a MemoryFill of two ranges raises.",
        both="Panda3DS, and the registers of both units",
        first="Azahar: PSC0 only",
    )
    yield _switch(
        "gsp.swap_time",
        "When framebuffer info in shared memory is taken over.",
        vblank="Azahar, Panda3DS: at the screen's VBlank",
        transfer="3dbrew in 2013: after GX commands 3 and 4",
    )
    yield _switch(
        "gsp.swap_clients",
        "Whose framebuffer info counts.",
        right="the program that holds the right; not measured",
        all="Azahar: every registered program's",
    )
    yield _switch(
        "gsp.relay_limit",
        "What happens to interrupts for which a queue has no room.",
        limited="3dbrew, Azahar: they are counted as missed",
        unlimited="Panda3DS: they are stored over others",
    )
    yield _switch(
        "gsp.read_size",
        "What ReadHWRegs does with more than 0x80 bytes.",
        refuse="3dbrew",
        clamp="Azahar: reads 0x80 bytes",
    )


def _all() -> Iterator[Switch]:
    for group in (_lists, _vertices, _shaders, _raster, _textures, _lighting, _combiners, _tests, _fills):
        yield from group()
    yield from _transfers()
    yield from _display()
    yield from _gsp()


SWITCHES: Final[Mapping[str, Switch]] = {switch.name: switch for switch in _all()}
"""Every switch by its name."""

DEFAULTS: Final[Mapping[str, str]] = {name: switch.default for name, switch in SWITCHES.items()}
"""The value of each switch that nobody sets."""


def check(name: str, value: str) -> None:
    """Raise ValueError, saying what there is instead, unless `value` can be chosen for the switch `name`."""
    switch = SWITCHES.get(name)
    if switch is None:
        close = difflib.get_close_matches(name, SWITCHES, n=1)
        raise ValueError(f"There is no switch {name!r}" + (f"; did you mean {close[0]!r}?" if close else "."))
    if value not in switch.values:
        raise ValueError(f"Switch {name!r} has no value {value!r}; its values are {', '.join(switch.values)}.")


def parse(text: str) -> tuple[str, str]:
    """("texture.filter", "linear") from "texture.filter=linear". ValueError if it is no such choice."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ValueError(f"{text!r} is not of the form NAME=VALUE.")
    check(name, value)
    return name, value


def departures(switches: Mapping[str, str], *names: str) -> tuple[tuple[str, str], ...]:
    """The choices that differ from the default, sorted by name: of `names`, which are switches or whole groups
    ("combiner"). Code is specialised for these, so that the usual code has one form."""
    wanted = [name for name in SWITCHES if name in names or name.partition(".")[0] in names]
    return tuple(sorted((name, switches[name]) for name in wanted if switches[name] != DEFAULTS[name]))


def choose(chosen: Mapping[str, str] | None = None) -> dict[str, str]:
    """A value for every switch: the chosen ones, the rest defaults. ValueError for an unknown name or value."""
    for name, value in (chosen or {}).items():
        check(name, value)
    return {**DEFAULTS, **(chosen or {})}
