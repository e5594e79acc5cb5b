"""Choices of the Switch's GPU: channels, macros, and the engines that move data."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.choices.choice import Choice, named


def _channel() -> Iterator[Choice]:
    yield named(
        "channel.deadlock",
        "What happens when a channel waits for something that nothing can release any more.",
        _continue="it continues as if the wait were over, so that the rest can be inspected",
        stop="the console hangs: the rest of the channel's work is dropped",
    )
    yield named(
        "channel.unbound",
        "What methods do on a subchannel without a bound object.",
        convention="subchannels 0 to 4 have the classes that drivers put there",
        ignore="SET_OBJECT binds, nothing else does",
    )
    yield named(
        "channel.acquire_geq",
        "How a semaphore that must be greater or equal is compared.",
        circular="the signed difference of 32 bits",
        unsigned="",
    )
    yield named(
        "channel.syncpoint_index",
        "How many bits of SYNCPOINTB are the number of the syncpoint. Tegra X1 has 192 of them, which need 8.",
        _8_bits="bits 15:8",
        _12_bits="bits 19:8",
    )
    yield named(
        "channel.illegal_header",
        "What a method header of a reserved form does.",
        skip="it is skipped, the next word is a header",
        end_segment="the rest of the GPFIFO entry is skipped",
    )


def _memory() -> Iterator[Choice]:
    yield named(
        "memory.block_depth_base",
        "Whether the depth of a texture's blocks shrinks for the largest level too, if the level needs less.",
        reduce="as the height of blocks does",
        keep="only from the second level on",
    )


def _macros() -> Iterator[Choice]:
    yield named(
        "mme.reads",
        "Which copy of a register a macro's read instruction returns.",
        state="the last write, in any mode of the shadow RAM",
        shadow="the shadow copy, which pass-through does not change",
    )
    yield named(
        "mme.shadow_exempt",
        "Which methods bypass the shadow RAM, besides those that start something.",
        low_words="all below word 0x80",
        none="",
    )
    yield named(
        "mme.wide_shift",
        "What a macro's shift by a register of 32 and more does.",
        modulo="the lower 5 bits count",
        zero="nothing is left",
    )
    yield named(
        "mme.instruction_ram",
        "Words of the macro engine's instruction RAM. Words loaded after the end are dropped.",
        _8192="far more than drivers load",
        _2048="",
    )


def _engines() -> Iterator[Choice]:
    yield named(
        "inline.pitch_origin",
        "Whether SET_DST_ORIGIN applies when inline data goes to a pitch target.",
        ignore="",
        add="as for a block-linear target",
    )
    yield named(
        "notify.write",
        "What NOTIFY writes. The class headers only give an address and a type.",
        now="16 bytes with a time and a status of 0, at once",
        never="nothing",
    )
    yield named(
        "dma.layer",
        "Whether SET_SRC_LAYER and SET_DST_LAYER select a slice of a block-linear surface.",
        slice="they do",
        ignore="always the first slice",
    )
    yield named(
        "report.release_size",
        "How much a report semaphore's release writes.",
        structure="one word or four, as STRUCTURE_SIZE says",
        one_word="the payload alone, whatever the bit says",
    )
    yield named(
        "clear.raster_disabled",
        "What a clear does while SET_RASTER_ENABLE is 0.",
        clear="it clears",
        nothing="nothing, like a draw",
    )
    yield named(
        "twod.pitch_overrun",
        "What a blit reads after the end of a line of a pitch source.",
        next_line="the address continues into the next line",
        clamp="the last pixel again",
    )
    yield named(
        "twod.weights",
        "The precision of a bilinear blit's weights. Steps that drivers use give the same either way.",
        exact="",
        _8_bits="truncated to 8 bits",
    )
    yield named(
        "twod.and_operations",
        "What SRCCOPY_AND, ROP_AND and BLEND_AND do beyond SRCCOPY, ROP and a blend.",
        alpha="pixels whose source alpha is 0 are unchanged",
        plain="no difference",
    )
    yield named(
        "draw.zero_frequency",
        "Which element an instanced stream of frequency 0 reads.",
        constant="that of the base instance, for all instances",
        per_vertex="as if it were not instanced",
    )
    yield named(
        "draw.array_base_vertex",
        "Whether SET_GLOBAL_BASE_VERTEX_INDEX applies to draws without indices.",
        ignore="it does not",
        add="as for draws with indices",
    )
    yield named(
        "draw.quad_diagonal",
        "Which two corners of a quad are on the edge between its triangles.",
        first="the first and the third, as in a fan",
        second="the second and the fourth, as in a strip",
    )
    yield named(
        "tessellation.winding",
        "The direction of v in which SET_TESSELLATION_PARAMETERS's clockwise triangles are clockwise.",
        v_down="v points down, so that OpenGL's counter-clockwise is the register's clockwise",
        v_up="OpenGL's axes",
    )
    yield named(
        "geometry.skip_mask",
        "What a bit of SET_POST_VTG_SHADER_ATTRIBUTE_SKIP_MASK skips with a pass-through geometry program.",
        program="the program's output; the vertex keeps its own attribute",
        vertex="the vertex's attribute, even if the program has no output",
    )


def _textures() -> Iterator[Choice]:
    yield named(
        "texture.fraction",
        "How a texture coordinate is rounded to 1/256 of a texel, the precision of filter weights.",
        round="",
        truncate="",
    )
    yield named(
        "texture.gradient_order",
        "The order of the four words of TXD.",
        interleaved="along x and y of the first coordinate, then of the second",
        pairs="both coordinates along x, then both along y",
    )
    yield named(
        "texture.fetch_outside",
        "What a fetch by texel index reads outside of the texture.",
        zero="zero in all components",
        clamp="the nearest texel",
    )
    yield named(
        "texture.anisotropy",
        "What limits the samples of an anisotropic filter.",
        sampler="the sampler alone",
        least="the smaller of the sampler's and the texture header's",
    )


def _raster() -> Iterator[Choice]:
    yield named(
        "raster.lower_left",
        "What SET_WINDOW_ORIGIN with the origin at the lower left does to shapes, besides what programs read.",
        nothing="",
        mirror="the viewport's y scale is negated",
    )
    yield named(
        "raster.window_clip_end",
        "Whether the last column and row of a window clip rectangle are those before XMAX and YMAX.",
        exclusive="they are",
        inclusive="XMAX and YMAX themselves",
    )
    yield named(
        "raster.offset_step",
        "The unit of SET_DEPTH_BIAS.",
        format="the least step of the depth format, for any SET_DEPTH_BIAS_CONTROL",
        control="only if the bit of SET_DEPTH_BIAS_CONTROL is set, else the step of 24 bits",
    )
    yield named(
        "raster.window_offset",
        "What SET_WINDOW_OFFSET_X and SET_WINDOW_OFFSET_Y do. Drivers leave them at 0.",
        shapes="shapes move, clip rectangles do not",
        ignore="nothing",
    )


def _output() -> Iterator[Choice]:
    yield named(
        "output.blend_index",
        "Which blend state and colour mask apply to a colour that SET_CT_SELECT sends to a slot of another number.",
        target="those of the slot",
        output="those of the program's output",
    )
    yield named(
        "output.alpha_equation",
        "Whether alpha is blended with its own equation while SET_BLEND_SEPARATE_FOR_ALPHA is 0.",
        flag="it uses the colours' equation",
        always="always with its own",
    )
    yield named(
        "output.depth_bounds",
        "The position of the depth bounds test.",
        first="before the stencil test; a pixel that fails it changes nothing",
        depth="after the stencil test; a pixel that fails it counts as failing the depth test",
    )


def choices() -> Iterator[Choice]:
    """All choices of this file."""
    yield from _channel()
    yield from _memory()
    yield from _macros()
    yield from _engines()
    yield from _raster()
    yield from _output()
    yield from _textures()
