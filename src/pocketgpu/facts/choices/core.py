"""Choices of the 3D core: command lists, vertices, shaders, and all that makes a pixel."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.choices.choice import Choice, named


def _lists() -> Iterator[Choice]:
    yield named(
        "list.high_ids",
        "What writing register ids from 0x300 up does.",
        ignore="Azahar, Mikage",
        wrap="3Beans (id taken modulo 0x400)",
    )
    yield named(
        "list.private_ids",
        "What command lists do to ids 0x000-0x00F and 0x020-0x03F, which belong to the ARM11.",
        ignore="GBATEK",
        store="Azahar, 3Beans",
    )
    yield named(
        "list.fifo_mask",
        "Which bits of a word reach a data port when the byte mask is not full.",
        raw="Azahar",
        masked="3Beans",
    )
    yield named(
        "list.jump_value",
        "Which values written to CMDBUF_JUMP start the other list.",
        any="GBATEK, Azahar, 3Beans",
        non_zero="3dbrew, Panda3DS",
    )
    yield named(
        "list.end_match",
        "Which write to FINALIZE ends a list.",
        masked_bytes="GBATEK, 3Beans: an enabled byte equal to its byte in IRQ_CMP",
        any_byte="Azahar: any of the four bytes, enabled or not",
        convention="Mikage: 0x12345678 only",
        any_value="3dbrew: the value does not matter",
        end_of_list="Panda3DS: the register is ignored, the interrupt comes at the end of the list",
    )
    yield named(
        "draw.trigger_value",
        "Which values written to DRAWARRAYS and DRAWELEMENTS draw.",
        any="GBATEK, Azahar, 3Beans",
        non_zero="3dbrew, Panda3DS",
    )


def _vertices() -> Iterator[Choice]:
    yield named(
        "vertex.alignment",
        "How components of a vertex are aligned in a loader; no difference for aligned data.",
        element="Azahar: each to its element size, paddings to 4",
        padding="Panda3DS: only paddings, to 4; elements are read unaligned",
        address="3Beans: each address is rounded down to a multiple of its element size",
    )
    yield named(
        "vertex.repeated_attribute",
        "Which loader wins when two have the same attribute.",
        last="simulators; not measured",
        first="not measured",
    )
    yield named(
        "vertex.fixed_and_loaded",
        "Which value wins for an attribute that is in a loader and marked fixed.",
        loaded="3dbrew, 3Beans",
        fixed="Azahar, Panda3DS",
    )
    yield named(
        "vertex.fixed_index",
        "Whether FIXEDATTRIB_INDEX increments after an attribute.",
        advance="Azahar, Panda3DS",
        keep="3Beans",
    )
    yield named(
        "vertex.immediate_inputs",
        "Which input registers immediate vertices go to.",
        permuted="Azahar; 3dbrew's rule for attributes in general",
        in_order="Panda3DS, 3Beans",
    )
    yield named(
        "vertex.immediate_strip",
        "Whether every second triangle of an immediate strip is reversed, as in other strips.",
        turned="all others",
        kept="Panda3DS",
    )


def _shaders() -> Iterator[Choice]:
    yield named(
        "shader.precision",
        "Number format of shader arithmetic.",
        f32="simulators",
        f24="3dbrew for the format; truncation of the mantissa is the driver library's rounding",
    )
    yield named(
        "shader.reciprocal_zero",
        "The result of RCP and RSQ for negative zero.",
        positive="3dbrew: there is no negative zero, so +infinity; a test of Panda3DS",
        signed="Azahar: -infinity",
    )
    yield named(
        "shader.max_infinity",
        "The result of MAX with -infinity as second source.",
        smaller="Azahar: it is below all numbers, so the first source",
        result="3dbrew's list of results, a test of Panda3DS: -infinity",
    )
    yield named(
        "shader.litp_nan",
        "The result of LITP's maximum of 0 and NaN.",
        zero="by analogy with MAX(NaN, 0); not measured",
        keep="by analogy with MAX(0, NaN); not measured",
    )
    yield named(
        "shader.nested_loop_counter",
        "The value of aL after an inner loop.",
        restored="Azahar, a test of it: its value before",
        kept="no other source restores it",
    )
    yield named(
        "shader.loop_ends",
        "How many loops can end at one instruction.",
        all="Azahar's recompiler, a test of Azahar",
        one="3dbrew, Azahar's interpreter: one entry of the loop stack is checked; the outer loop misses its end",
    )
    yield named(
        "shader.stacks",
        "Whether calls, conditions and loops have separate stacks.",
        separate="3dbrew",
        single="Azahar, Panda3DS, Mikage",
    )
    yield named(
        "shader.end",
        "What ends a program besides END.",
        nothing="all others",
        entrypoint="3Beans: the upper half of ENTRYPOINT",
    )
    yield named(
        "geometry.bool15",
        "What a run of the geometry shader does to boolean 15.",
        set="Azahar",
        keep="others",
    )
    yield named(
        "geometry.winding",
        "How a triangle emitted with the winding bit is reversed.",
        swap_first="Azahar: the first two vertices are exchanged",
        reverse="3Beans: vertices in reverse order",
    )
    yield named(
        "geometry.output_banks",
        "Whether output registers change banks with each emitted vertex.",
        double="Azahar, after console tests",
        single="others",
    )
    yield named(
        "geometry.emit_buffers",
        "Number of vertex buffers for emission.",
        _4="3dbrew (two bits of SETEMIT)",
        _3="Azahar",
    )


def _raster() -> Iterator[Choice]:
    yield named(
        "clip.depth_range",
        "Which depths survive clipping.",
        half="3dbrew, Azahar, Mikage: -w to 0",
        full="3Beans: -w to w",
    )
    yield named(
        "viewport.offset_sign",
        "Sign of VIEWPORT_XY.",
        plus="Azahar, Panda3DS, Mikage",
        minus="3Beans",
    )
    yield named(
        "raster.cull_0_3",
        "What culling modes 0 and 3 do.",
        none="GBATEK, Azahar; 3dbrew for mode 0",
        back="an early version of the documentation",
    )
    yield named(
        "depth.bits",
        "Precision of a 24-bit depth; with 23 bits the lowest one is 0.",
        _24="Azahar SW",
        _23="Mikage",
    )


def _textures() -> Iterator[Choice]:
    yield named(
        "texture.filter",
        "A what-if: filtering of all textures.",
        as_programmed="as in the texture registers",
        nearest="what-if",
        linear="what-if",
    )
    yield named(
        "texture.levels",
        "Whether smaller levels of a texture are used.",
        as_programmed="3dbrew, Azahar GL",
        base="Azahar SW, Mikage: level 0 only",
    )
    yield named(
        "texture.expand",
        "How 5- and 6-bit channels become 8 bits.",
        replicate="Azahar, Panda3DS, Mikage",
        scale="3Beans: v * 255 / 31, truncated",
    )
    yield named(
        "texture.null_address",
        "The colour of an enabled unit without an address.",
        black="Azahar",
        read="no special case",
    )
    yield named(
        "texture.nearest",
        "Which texel a coordinate just below 0 belongs to.",
        floor="the usual rule",
        truncate="Azahar SW",
    )
    yield named(
        "texture.wrap_4_7",
        "What wrap codes 4 to 7 do.",
        own="Azahar, after console tests",
        as_0_3="3Beans: the low two bits count",
    )
    yield named(
        "texture.shadow_equal",
        "Result of a shadow lookup at exactly the stored depth.",
        lit="Azahar SW",
        dark="Azahar GL",
    )
    yield named(
        "texture.shadow_filter",
        "Filtering of shadow lookups.",
        nearest="Azahar SW",
        linear="Azahar GL: four comparisons",
    )
    yield named(
        "texture.shadow_bias",
        "What happens when the bias makes the depth negative.",
        clamp="Azahar GL",
        wrap="Azahar SW",
    )


def _lighting() -> Iterator[Choice]:
    yield named(
        "lighting.lut",
        "How lighting tables are read.",
        interpolate="Azahar",
        nearest="Panda3DS: entry 255 x",
    )
    yield named(
        "lighting.off_bits",
        "Tables that bits 20, 21 and 22 of LIGHTING_CONFIG1 disable.",
        rb_rg_rr="3dbrew, driver library, Panda3DS, 3Beans",
        rr_rg_rb="Azahar",
    )
    yield named(
        "lighting.fresnel",
        "Which lights contribute to the Fresnel alpha.",
        last="Azahar: the last one",
        sum="3Beans: all of them, added",
    )
    yield named(
        "lighting.color_bits",
        "Width of a channel of a light colour.",
        _10="Azahar: may exceed full brightness",
        _8="Panda3DS",
    )


def _combiners() -> Iterator[Choice]:
    yield named(
        "combiner.arithmetic",
        "Number type of the combiner stages.",
        integer="Azahar SW, 3Beans, Mikage: 8-bit integers",
        float="Azahar GL, Panda3DS: rounded to 8 bits after each stage",
    )
    yield named(
        "combiner.vertex_color",
        "How a vertex colour becomes 8 bits.",
        round="Azahar",
        truncate="Mikage",
    )
    yield named(
        "combiner.add_signed",
        "The amount that add-signed subtracts.",
        _128="Azahar SW",
        _127="Mikage",
    )
    yield named(
        "combiner.add_multiply",
        "Whether the sum is limited before the multiplication.",
        clamp="Azahar",
        unlimited="Mikage, 3Beans",
    )
    yield named(
        "combiner.scale_3",
        "What scale code 3 does.",
        x1="Azahar",
        x8="Panda3DS",
    )
    yield named(
        "combiner.first_previous",
        "The first stage's value of the source 'previous'.",
        vertex_color="3dbrew with a console test, Panda3DS",
        third_source="Azahar: for the first two operands, else 0",
        zero="3Beans",
        buffer_color="Mikage",
    )
    yield named(
        "combiner.first_buffer",
        "The first stage's value of the combiner buffer.",
        zero="3dbrew, Azahar, Panda3DS",
        buffer_color="Mikage, 3Beans",
    )
    yield named(
        "combiner.buffer_delay",
        "When a result stored in the combiner buffer can be read.",
        one_stage="Azahar, Mikage, Panda3DS: a stage later",
        none="3Beans: by the next stage",
    )
    yield named(
        "fog.arithmetic",
        "How fog is blended.",
        truncate="Azahar SW",
        float="Azahar GL: rounded to 8 bits",
    )
    yield named(
        "gas.hypothesis",
        "How gas is drawn, which is undocumented. Every use of gas is reported.",
        none="Azahar: transparent black",
        density="a guess: densities are added, and index the table of colours",
    )


def _tests() -> Iterator[Choice]:
    yield named(
        "test.order",
        "Which test comes first. If stencil and depth come first, a pixel that fails them changes the stencil whatever "
        "its alpha; everything else is only written for pixels that pass alpha too.",
        alpha_first="Azahar, Mikage",
        depth_first="3Beans: stencil and depth before alpha",
    )
    yield named(
        "test.stencil_operands",
        "Left side of the stencil comparison.",
        reference="Azahar",
        stored="3Beans",
    )
    yield named(
        "test.stencil_write",
        "Which bit of DEPTHBUFFER_WRITE enables stencil writes.",
        stencil="3dbrew",
        any="Azahar",
    )
    yield named(
        "test.untested_depth_write",
        "Whether depth is written while the depth test is disabled.",
        yes="3dbrew, Azahar",
        no="Mikage",
    )
    yield named(
        "blend.min_max",
        "What minimum and maximum compare.",
        with_factors="Azahar SW, 3Beans",
        plain="Azahar GL: the colours without factors",
    )
    yield named(
        "blend.factor_15",
        "What blend factor 15 is.",
        one="3Beans",
        source="Azahar: the source channel",
    )


def choices() -> Iterator[Choice]:
    """All choices of this file, group by group."""
    for group in (_lists, _vertices, _shaders, _raster, _textures, _lighting, _combiners, _tests):
        yield from group()
