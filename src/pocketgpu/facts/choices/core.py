"""Choices of the 3D core: command lists, vertices, shaders, and all that makes a pixel."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.choices.choice import Choice, named, what_if


def _lists() -> Iterator[Choice]:
    yield named(
        "list.high_ids",
        "What writing register ids from 0x300 up does.",
        ignore="",
        wrap="the id is taken modulo 0x400",
    )
    yield named(
        "list.private_ids",
        "What command lists do to ids 0x000-0x00F and 0x020-0x03F, which belong to the ARM11.",
        ignore="",
        store="",
    )
    yield named(
        "list.fifo_mask",
        "Which bits of a word reach a data port when the byte mask is not full.",
        raw="all of them",
        masked="those of the enabled bytes",
    )
    yield named(
        "list.jump_value",
        "Which values written to CMDBUF_JUMP start the other list.",
        any="",
        non_zero="",
    )
    yield named(
        "list.end_match",
        "Which write to FINALIZE ends a list.",
        masked_bytes="an enabled byte equal to its byte in IRQ_CMP",
        any_byte="any of the four bytes, enabled or not",
        convention="0x12345678 only",
        any_value="the value does not matter",
        end_of_list="the register is ignored, the interrupt comes at the end of the list",
    )
    yield named(
        "draw.trigger_value",
        "Which values written to DRAWARRAYS and DRAWELEMENTS draw.",
        any="",
        non_zero="",
    )


def _vertices() -> Iterator[Choice]:
    yield named(
        "vertex.alignment",
        "How components of a vertex are aligned in a loader; no difference for aligned data.",
        element="each to its element size, paddings to 4",
        padding="only paddings, to 4; elements are read unaligned",
        address="each address is rounded down to a multiple of its element size",
    )
    yield named(
        "vertex.repeated_attribute",
        "Which loader wins when two have the same attribute.",
        last="",
        first="",
    )
    yield named(
        "vertex.fixed_and_loaded",
        "Which value wins for an attribute that is in a loader and marked fixed.",
        loaded="",
        fixed="",
    )
    yield named(
        "vertex.fixed_index",
        "Whether FIXEDATTRIB_INDEX increments after an attribute.",
        advance="",
        keep="",
    )
    yield named(
        "vertex.immediate_inputs",
        "Which input registers immediate vertices go to.",
        permuted="those that the permutation of attributes names",
        in_order="",
    )
    yield named(
        "vertex.immediate_strip",
        "Whether every second triangle of an immediate strip is reversed, as in other strips.",
        turned="",
        kept="",
    )


def _shaders() -> Iterator[Choice]:
    yield named(
        "shader.precision",
        "Number format of shader arithmetic.",
        f32="32 bits, as processors have it",
        f24="24 bits; the mantissa is truncated after each operation",
    )
    yield named(
        "shader.reciprocal_zero",
        "The result of RCP and RSQ for negative zero.",
        positive="there is no negative zero, so +infinity",
        signed="-infinity",
    )
    yield named(
        "shader.max_infinity",
        "The result of MAX with -infinity as second source.",
        smaller="it is below all numbers, so the first source",
        result="-infinity",
    )
    yield named(
        "shader.litp_nan",
        "The result of LITP's maximum of 0 and NaN.",
        zero="",
        keep="",
    )
    yield named(
        "shader.nested_loop_counter",
        "The value of aL after an inner loop.",
        restored="its value before",
        kept="",
    )
    yield named(
        "shader.loop_ends",
        "How many loops can end at one instruction.",
        one="one entry of the loop stack is checked; the outer loop misses its end",
        all="",
    )
    yield named(
        "shader.stacks",
        "Whether calls, conditions and loops have separate stacks.",
        separate="",
        single="",
    )
    yield named(
        "shader.end",
        "What ends a program besides END.",
        nothing="",
        entrypoint="the upper half of ENTRYPOINT",
    )
    yield named(
        "geometry.bool15",
        "What a run of the geometry shader does to boolean 15.",
        set="",
        keep="",
    )
    yield named(
        "geometry.winding",
        "How a triangle emitted with the winding bit is reversed.",
        swap_first="the first two vertices are exchanged",
        reverse="vertices in reverse order",
    )
    yield named(
        "geometry.output_banks",
        "Whether output registers change banks with each emitted vertex.",
        double="",
        single="",
    )
    yield named(
        "geometry.emit_buffers",
        "Number of vertex buffers for emission.",
        _4="",
        _3="",
    )


def _raster() -> Iterator[Choice]:
    yield named(
        "clip.depth_range",
        "Which depths survive clipping.",
        half="-w to 0",
        full="-w to w",
    )
    yield named(
        "viewport.offset_sign",
        "Sign of VIEWPORT_XY.",
        plus="",
        minus="",
    )
    yield named(
        "raster.cull_0_3",
        "What culling modes 0 and 3 do.",
        none="",
        back="",
    )
    yield named(
        "depth.bits",
        "Precision of a 24-bit depth; with 23 bits the lowest one is 0.",
        _24="",
        _23="",
    )


def _textures() -> Iterator[Choice]:
    yield what_if(
        "texture.filter",
        "A what-if: filtering of all textures.",
        as_programmed="as in the texture registers",
        nearest="",
        linear="",
    )
    yield named(
        "texture.levels",
        "Whether smaller levels of a texture are used.",
        as_programmed="",
        base="level 0 only",
    )
    yield named(
        "texture.expand",
        "How 5- and 6-bit channels become 8 bits.",
        replicate="the high bits are repeated below",
        scale="v * 255 / 31, truncated",
    )
    yield named(
        "texture.null_address",
        "The colour of an enabled unit without an address.",
        black="",
        read="no special case",
    )
    yield named(
        "texture.nearest",
        "Which texel a coordinate just below 0 belongs to.",
        floor="the texel below",
        truncate="the texel toward zero",
    )
    yield named(
        "texture.wrap_4_7",
        "What wrap codes 4 to 7 do.",
        own="of their own: repeat on one side, edge or border on the other",
        as_0_3="the low two bits count",
    )
    yield named(
        "texture.shadow_equal",
        "Result of a shadow lookup at exactly the stored depth.",
        lit="",
        dark="",
    )
    yield named(
        "texture.shadow_filter",
        "Filtering of shadow lookups.",
        nearest="",
        linear="four comparisons",
    )
    yield named(
        "texture.shadow_bias",
        "What happens when the bias makes the depth negative.",
        clamp="it counts as 0",
        wrap="it becomes large",
    )


def _lighting() -> Iterator[Choice]:
    yield named(
        "lighting.lut",
        "How lighting tables are read.",
        interpolate="",
        nearest="entry 255 x",
    )
    yield named(
        "lighting.off_bits",
        "Tables that bits 20, 21 and 22 of LIGHTING_CONFIG1 disable.",
        rb_rg_rr="",
        rr_rg_rb="",
    )
    yield named(
        "lighting.fresnel",
        "Which lights contribute to the Fresnel alpha.",
        last="the last one",
        sum="all of them, added",
    )
    yield named(
        "lighting.color_bits",
        "Width of a channel of a light colour.",
        _10="may exceed full brightness",
        _8="",
    )


def _combiners() -> Iterator[Choice]:
    yield named(
        "combiner.arithmetic",
        "Number type of the combiner stages.",
        integer="8-bit integers",
        float="rounded to 8 bits after each stage",
    )
    yield named(
        "combiner.vertex_color",
        "How a vertex colour becomes 8 bits.",
        round="",
        truncate="",
    )
    yield named(
        "combiner.add_signed",
        "The amount that add-signed subtracts.",
        _128="",
        _127="",
    )
    yield named(
        "combiner.add_multiply",
        "Whether the sum is limited before the multiplication.",
        clamp="",
        unlimited="",
    )
    yield named(
        "combiner.scale_3",
        "What scale code 3 does.",
        x1="",
        x8="",
    )
    yield named(
        "combiner.first_previous",
        "The first stage's value of the source 'previous'.",
        vertex_color="",
        third_source="for the first two operands, else 0",
        zero="",
        buffer_color="",
    )
    yield named(
        "combiner.first_buffer",
        "The first stage's value of the combiner buffer.",
        zero="",
        buffer_color="",
    )
    yield named(
        "combiner.buffer_delay",
        "When a result stored in the combiner buffer can be read.",
        one_stage="a stage later",
        none="by the next stage",
    )
    yield named(
        "fog.arithmetic",
        "How the blend of a colour and the fog's colour becomes 8 bits.",
        truncate="fractions are dropped",
        float="rounded to 8 bits",
    )
    yield named(
        "gas.hypothesis",
        "How gas is drawn, which is undocumented. Every use of gas is reported.",
        none="transparent black",
        density="densities are added, and index the table of colours",
    )


def _tests() -> Iterator[Choice]:
    yield named(
        "test.order",
        "Which test comes first. If stencil and depth come first, a pixel that fails them changes the stencil whatever "
        "its alpha; everything else is only written for pixels that pass alpha too.",
        alpha_first="",
        depth_first="stencil and depth before alpha",
    )
    yield named(
        "test.stencil_operands",
        "Left side of the stencil comparison.",
        reference="",
        stored="",
    )
    yield named(
        "test.stencil_write",
        "Which bit of DEPTHBUFFER_WRITE enables stencil writes.",
        any="either of the two",
        stencil="its own",
    )
    yield named(
        "test.untested_depth_write",
        "Whether depth is written while the depth test is disabled.",
        yes="",
        no="",
    )
    yield named(
        "blend.min_max",
        "What minimum and maximum compare.",
        with_factors="",
        plain="the colours without factors",
    )
    yield named(
        "blend.factor_15",
        "What blend factor 15 is.",
        one="",
        source="the source channel",
    )


def choices() -> Iterator[Choice]:
    """All choices of this file, group by group."""
    for group in (_lists, _vertices, _shaders, _raster, _textures, _lighting, _combiners, _tests):
        yield from group()
