"""Choices outside of the 3D core: fills, transfers, displays, and the system software."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.choices.choice import Choice, named


def _external() -> Iterator[Choice]:
    yield named(
        "fill.tail_24",
        "How a fill with a 24-bit pattern ends when the length is not a multiple of 3.",
        stop="the end address is exclusive, as for other widths; 3Beans: whole half-words, as ranges have",
        whole_groups="Azahar: up to 2 bytes more",
    )
    yield named(
        "fill.null_start",
        "What a fill at address 0 does.",
        finish="Azahar, after a console test: finished, but no interrupt",
        ignore="Mikage",
    )
    yield named(
        "external.status",
        "The meaning of the bits of STATUS.",
        interrupt="GBATEK, a driver library: interrupt pending",
        busy="3dbrew: unit busy; in instant time only one that never ends",
        busy_exchanged="3dbrew in 2013: the same, with the two fill units exchanged",
    )
    yield named(
        "external.hardware_id",
        "Whether HARDWARE_ID differs between the models.",
        model="3dbrew: bit 2 is set on the new model",
        constant="GBATEK: always 0x00010002",
    )
    yield named(
        "external.core_reads",
        "What reading the 3D core's registers does while it runs a list. Matters only in emulated time.",
        stall="GBATEK: the processor waits until the list is done",
        at_once="3dbrew: the start bit reads 1 until then",
    )
    yield named(
        "vram.power_off",
        "The contents of half a bank of video memory after VRAM_POWER disabled it.",
        lose="GBATEK: lost; here it reads as zero",
        keep="3dbrew only says disabled",
    )


def _transfers() -> Iterator[Choice]:
    yield named(
        "transfer.uncropped_stride",
        "Row length of the input when the crop flag is off.",
        output="GBATEK, 3Beans; fits 3dbrew's description of such pictures",
        input="Azahar, Mikage, Panda3DS",
    )
    yield named(
        "transfer.no_tiling",
        "The layouts with the no-tiling flag.",
        tiled="3dbrew, Azahar: tiled to tiled",
        raw="3Beans: linear to linear",
    )
    yield named(
        "transfer.both_tiling_flags",
        "What linear-to-tiled and no-tiling together do.",
        linear="Azahar: linear to linear",
        hang="3dbrew: invalid",
    )
    yield named(
        "transfer.flip_crop",
        "What flipping a cropped picture does.",
        skew="Azahar, after a console test: the output starts later",
        plain="others",
    )
    yield named(
        "transfer.zero_size",
        "What a transfer without width or height does.",
        finish="Azahar",
        ignore="Mikage: no interrupt either",
    )


def _transferred_pixels() -> Iterator[Choice]:
    yield named(
        "transfer.contract",
        "How the channels of pictures with 8 bits become fewer bits.",
        shift="Azahar, Mikage, Panda3DS",
        scale="3Beans: v * 31 / 255, truncated; alpha is set unless 0",
    )
    yield named(
        "transfer.odd_formats",
        "What transfers between formats do that the console does not convert.",
        convert="Azahar, Panda3DS",
        hang="GBATEK",
    )
    yield named(
        "transfer.small",
        "What 16-bit pictures of fewer than 64x64 pixels do.",
        convert="all simulators",
        hang="3dbrew: RGB5A1 to RGBA4 of 32x32 raises no interrupt, of 128x128 does; libn3ds sends nothing below 64x64",
    )
    yield named(
        "transfer.average_bits",
        "Width in which pixels are averaged when scaling down 16-bit pictures.",
        _8="Azahar, Mikage",
        native="3Beans",
    )
    yield named(
        "transfer.linear_scale",
        "What scaling down a linear picture averages.",
        neighbours="the plain reading; not measured",
        as_tiled="3Beans: consecutive pixels",
        refuse="Azahar",
    )
    yield named(
        "transfer.block32",
        "Order of pixels in 32x32 blocks, in transfers and in render targets. Every use is reported.",
        morton="a guess from the 8x8 order; not measured",
        tiles="a guess: 8x8 tiles in rows; not measured",
    )


def _texture_copies() -> Iterator[Choice]:
    yield Choice(
        "texture_copy.units",
        "16-byte",
        ("byte",),
        "Unit of line widths and gaps.",
        {"16-byte": "3dbrew, Azahar, Panda3DS, 3Beans", "byte": "an early version of the documentation"},
    )
    yield named(
        "texture_copy.zero_width",
        "What a gap with lines of width 0 does.",
        hang="Azahar, after a console test",
        no_gap="3Beans",
    )


def _display() -> Iterator[Choice]:
    yield named(
        "display.expand",
        "How 5- and 6-bit channels become 8 bits on the screen.",
        replicate="Azahar",
        scale="3Beans: v * 255 / 31, truncated",
    )
    yield named(
        "display.formats_5_7",
        "What the display formats 5 to 7 are.",
        rgba4="GBATEK, 3Beans",
        doubled="3dbrew: RGBA8 with every pixel twice",
    )
    yield named(
        "display.latch",
        "When addresses, stride, format and select are latched. Matters only in emulated time.",
        position="GBATEK: at the position in LATCH, usually the start of a frame",
        vblank="3dbrew: at VBlank",
    )
    yield named(
        "display.select_read",
        "The value of the select bit when it is read.",
        stored="a driver library, system software: the written value",
        zero="3dbrew, about the value that programs write at their start",
    )
    yield named(
        "display.sync_bits",
        "The meaning of the bits of POLARITY. Matters only in emulated time.",
        polarity="GBATEK, a driver library: the level of the sync pulses, which no picture shows",
        disable="3dbrew: bit 0 stops the line sync, bit 8 the frame sync, no other bit exists",
    )
    yield named(
        "display.vstart",
        "The line from which VSTART cuts off the picture's top or moves it down. Matters only in emulated time.",
        window="the first line of VPICTURE, as lines are in HPICTURE; GBATEK: first line of the picture",
        wiki="3dbrew: VTOTAL minus VSYNC",
    )
    yield named(
        "display.interleave",
        "Which lines of two framebuffers alternate; 3dbrew describes both. Matters only in emulated time.",
        halves="every line of both, each has 400 lines",
        skip="every other line of both, each has 800 lines",
    )
    yield named(
        "display.dma_size_3",
        "What a display with DMA size 3 shows. Matters only in emulated time.",
        show="a driver library: the burst size is the longest; system software sets it",
        black="3dbrew: nothing, because main memory does not support it",
        always_black="3dbrew in 2013: nothing, wherever the framebuffer is",
    )
    yield Choice(
        "display.stride_unit",
        "16",
        ("8",),
        "STRIDE is a multiple of this number of bytes; lower bits stay 0.",
        {"16": "GBATEK", "8": "3dbrew"},
    )


def _gsp() -> Iterator[Choice]:
    yield named(
        "gsp.alignment",
        "Whether GX commands with addresses or sizes that are not multiples of 8 are refused.",
        check="3dbrew",
        ignore="Azahar, Panda3DS",
    )
    yield named(
        "gsp.untranslatable",
        "What addresses do that the GPU cannot reach.",
        refuse="3dbrew: the request fails",
        zero="Azahar: they count as 0",
    )
    yield named(
        "gsp.double_fill",
        "Which interrupts a MemoryFill of two ranges raises.",
        both="Panda3DS, and the registers of both units",
        first="Azahar: PSC0 only",
    )
    yield named(
        "gsp.swap_time",
        "When framebuffer info in shared memory is applied.",
        vblank="Azahar, Panda3DS: at the screen's VBlank",
        transfer="3dbrew in 2013: after GX commands 3 and 4",
    )
    yield named(
        "gsp.swap_clients",
        "Whose framebuffer info is used.",
        right="the program that holds the right; not measured",
        all="Azahar: every registered program's",
    )
    yield named(
        "gsp.relay_limit",
        "What happens to interrupts when a queue is full.",
        limited="3dbrew, Azahar: they are counted as missed",
        unlimited="Panda3DS: they overwrite others",
    )
    yield named(
        "gsp.read_size",
        "What ReadHWRegs does with more than 0x80 bytes.",
        refuse="3dbrew",
        clamp="Azahar: reads 0x80 bytes",
    )


def choices() -> Iterator[Choice]:
    """All choices of this file, group by group."""
    for group in (_external, _transfers, _transferred_pixels, _texture_copies, _display, _gsp):
        yield from group()
