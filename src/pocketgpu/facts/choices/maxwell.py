"""Switches of the Switch's GPU: channels, macros, and the engines that move data."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.choices.choice import Choice, named


def _channel() -> Iterator[Choice]:
    yield named(
        "channel.deadlock",
        "What follows when a channel waits for something that nobody is left to release.",
        _continue="it goes on as if the wait were over, so that the rest can be looked at",
        stop="the console stands still: what the channel still had to do is dropped",
    )
    yield named(
        "channel.unbound",
        "What methods do on a subchannel that no object was bound to.",
        convention="simulators: subchannels 0 to 4 have the classes that drivers put there",
        ignore="NVIDIA's headers: SET_OBJECT binds, nothing else does",
    )
    yield named(
        "channel.acquire_geq",
        "How a semaphore that must be greater or equal is compared.",
        circular="as syncpoints are: the signed difference of 32 bits",
        unsigned="the plain reading of the name",
    )
    yield named(
        "channel.syncpoint_index",
        "How many bits of SYNCPOINTB are the number of the syncpoint. Tegra X1 has 192 of them, which need 8.",
        _8_bits="header of class A26F, one simulator: bits 15:8",
        _12_bits="another simulator: bits 19:8",
    )
    yield named(
        "channel.illegal_header",
        "What a method header of a reserved form does.",
        skip="simulators: it is left out, the next word is a header",
        end_segment="the rest of the GPFIFO entry is left out, as the console's error handling would",
    )


def _memory() -> Iterator[Choice]:
    yield named(
        "memory.block_depth_base",
        "Whether the depth of a texture's blocks shrinks for the largest level, too, where the level needs less.",
        reduce="one simulator: as the height of blocks does",
        keep="another simulator: only from the second level on",
    )


def _macros() -> Iterator[Choice]:
    yield named(
        "mme.reads",
        "Which copy of a register a macro's read instruction sees.",
        state="simulators: what was written last, in any mode of the shadow RAM",
        shadow="notes of a recorder: the shadow copy, which pass-through leaves alone",
    )
    yield named(
        "mme.shadow_exempt",
        "Which methods pass by the shadow RAM, beside those that start something.",
        low_words="one simulator: all below word 0x80",
        none="the header's names speak of no exception",
    )
    yield named(
        "mme.wide_shift",
        "What a macro's shift by a register of 32 and more does.",
        modulo="simulators, as their host has it: the lower 5 bits count",
        zero="nothing is left",
    )
    yield named(
        "mme.instruction_ram",
        "Words of the macro engine's instruction RAM. What is loaded beyond the end is lost.",
        _8192="simulators have no end; far more than drivers load",
        _2048="one source of reverse engineering",
    )


def _engines() -> Iterator[Choice]:
    yield named(
        "inline.pitch_origin",
        "Whether SET_DST_ORIGIN counts when inline data goes to a pitch target.",
        ignore="simulators; drivers leave it at 0",
        add="as for a block-linear target",
    )
    yield named(
        "notify.write",
        "What NOTIFY writes. The class headers give an address and a type, and no more.",
        now="notifiers of the same vendor: 16 bytes with a time and a status of 0, at once",
        never="simulators: nothing",
    )
    yield named(
        "dma.layer",
        "Whether SET_SRC_LAYER and SET_DST_LAYER choose a slice of a block-linear surface.",
        slice="class header: they do",
        ignore="one simulator: the first slice is always meant",
    )
    yield named(
        "report.release_size",
        "How much a report semaphore's release writes.",
        structure="class header: one word or four, as STRUCTURE_SIZE says",
        one_word="one simulator: the payload alone, whatever the bit says",
    )
    yield named(
        "clear.raster_disabled",
        "What a clear does while SET_RASTER_ENABLE is 0.",
        clear="most simulators: it clears",
        nothing="one simulator: nothing, like a draw",
    )
    yield named(
        "twod.pitch_overrun",
        "What a blit reads beyond the end of a line of a pitch source.",
        next_line="one simulator, after a driver that needs it: the address goes on into the next line",
        clamp="as for a block-linear source: the last pixel again",
    )
    yield named(
        "twod.weights",
        "The precision of a bilinear blit's weights. Steps that drivers use give the same either way.",
        exact="nobody has measured it",
        _8_bits="as for textures of this chip: cut off after 8 bits",
    )
    yield named(
        "twod.and_operations",
        "What SRCCOPY_AND, ROP_AND and BLEND_AND do beyond SRCCOPY, ROP and a blend.",
        alpha="older classes of the vendor: pixels whose source alpha is 0 are left alone",
        plain="nobody uses them: no difference",
    )
    yield named(
        "draw.zero_frequency",
        "Which element an instanced stream of frequency 0 shows.",
        constant="one driver: that of the base instance, for all instances",
        per_vertex="one simulator: as if it were not instanced",
    )
    yield named(
        "draw.array_base_vertex",
        "Whether SET_GLOBAL_BASE_VERTEX_INDEX counts for draws without indices.",
        ignore="simulators: it does not",
        add="as for draws with indices",
    )
    yield named(
        "draw.quad_diagonal",
        "Which two corners of a quad the edge between its triangles joins.",
        first="notes on the chip: the first and the third, as in a fan",
        second="the second and the fourth, as in a strip; OpenGL leaves it open",
    )
    yield named(
        "tessellation.winding",
        "How u and v lie where triangles are clockwise that SET_TESSELLATION_PARAMETERS calls so.",
        v_down="a driver: v points down, so that OpenGL's counter-clockwise is the register's clockwise",
        v_up="the names, read with OpenGL's axes",
    )
    yield named(
        "geometry.skip_mask",
        "What a bit of SET_POST_VTG_SHADER_ATTRIBUTE_SKIP_MASK skips where a geometry program passes vertices on.",
        program="simulators: what the program gives; the vertex keeps its own",
        vertex="the other reading of the name: what the vertex has, even if the program gives nothing",
    )


def _textures() -> Iterator[Choice]:
    yield named(
        "texture.fraction",
        "How a place in a texture becomes one in 1/256 of a texel, which is what weights of filters have.",
        round="CUDA's programming guide: 8 bits of fraction, with which 1 is exact",
        truncate="as the 2D engine of the same vendor is taken to do",
    )
    yield named(
        "texture.gradient_order",
        "What the four words of TXD are.",
        interleaved="NVIDIA's compiler: along x and y of the first coordinate, then of the second",
        pairs="one simulator: both coordinates along x, then both along y",
    )
    yield named(
        "texture.fetch_outside",
        "What a fetch by texel numbers reads outside of the texture.",
        zero="graphics interfaces with robust access: zero in all components",
        clamp="the nearest texel",
    )
    yield named(
        "texture.anisotropy",
        "What limits the samples of an anisotropic filter.",
        sampler="drivers: the sampler, whatever the header has",
        least="class headers have a field in both: the smaller one",
    )


def _raster() -> Iterator[Choice]:
    yield named(
        "raster.lower_left",
        "What SET_WINDOW_ORIGIN with the origin at the lower left does to shapes, beside what programs read of it.",
        nothing="drivers: they turn the viewport themselves",
        mirror="one simulator: the viewport's y scale is negated",
    )
    yield named(
        "raster.window_clip_end",
        "Whether the last column and row of a window clip rectangle are those before XMAX and YMAX.",
        exclusive="as for scissors",
        inclusive="the plain reading of the name",
    )
    yield named(
        "raster.offset_step",
        "The step that SET_DEPTH_BIAS counts in.",
        format="OpenGL: the least step of the depth format, whatever SET_DEPTH_BIAS_CONTROL says",
        control="that register's name: so only if its bit is set, else the step of 24 bits",
    )
    yield named(
        "raster.window_offset",
        "What SET_WINDOW_OFFSET_X and SET_WINDOW_OFFSET_Y do. Drivers leave them at 0.",
        shapes="class header: names and signed numbers of pixels. Shapes move, rectangles that cut stay",
        ignore="simulators: nothing",
    )


def _output() -> Iterator[Choice]:
    yield named(
        "output.blend_index",
        "Which blend state and colour mask count for a colour that SET_CT_SELECT sends to a slot of another number.",
        target="the registers' names: those of the slot",
        output="one simulator: those of the program's output",
    )
    yield named(
        "output.alpha_equation",
        "Whether alpha is blended with an equation of its own while SET_BLEND_SEPARATE_FOR_ALPHA is 0.",
        flag="the register's name: it takes the one of the colours",
        always="simulators: it has its own all the time",
    )
    yield named(
        "output.depth_bounds",
        "Where the depth bounds test stands.",
        first="OpenGL's extension and Vulkan: before the stencil test; what it refuses changes nothing",
        depth="notes on the chip: behind the stencil test; what it refuses has failed the depth test",
    )


def choices() -> Iterator[Choice]:
    """All of them."""
    yield from _channel()
    yield from _memory()
    yield from _macros()
    yield from _engines()
    yield from _raster()
    yield from _output()
    yield from _textures()
