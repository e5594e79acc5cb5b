"""The documents' warnings about a display mode, each with its reason.

A warning has a visible effect: a missing picture, a lost sync, an interrupt that never comes. A note is a documented
limit that the console's own settings exceed, or a setting that programs cannot make.

Source: 3dbrew GPU/External Registers (LCD source framebuffer setup, framebuffer format).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from pocketgpu.facts.pica_enums import DMA_SIZE, TRANSFER_FORMAT
from pocketgpu.pica.pdc.problem import Problem
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.pica.pdc.mode import DisplayMode

BACK_PORCH = 16
"""Minimum clocks of the back porch."""
FRONT_PORCH = 68
"""Minimum clocks of the front porch."""
STRIDE_UNIT = 8


def problems(mode: DisplayMode) -> tuple[Problem, ...]:
    """All problems of a mode, in the order of the registers."""
    return tuple(
        problem for rule in (_reached, _chain, _porches, _interrupts, _vertical, _picture) for problem in rule(mode)
    )


def _warning(id: str, text: str) -> Problem:
    return Problem(id, "warning", text)


def _note(id: str, text: str) -> Problem:
    return Problem(id, "note", text)


def _reached(mode: DisplayMode) -> Iterator[Problem]:
    for names, limit, total in (
        (("hstart", "hbr", "hfp", "hsync", "hbp", "hbl", "vclock"), mode.htotal, "HTOTAL"),
        (("vborder", "vblank", "vsync", "vbp", "vtop"), mode.vtotal, "VTOTAL"),
    ):
        for name in names:
            value = getattr(mode, name)
            if value > limit:
                effect = "VCount stands still" if name == "vclock" else "what it starts never comes"
                yield _warning("past-total", f"{name.upper()} {value} is past {total} {limit}: {effect}")


def _chain(mode: DisplayMode) -> Iterator[Problem]:
    """HSYNC < HBP <= picture start <= HSTART <= picture end <= HBR <= HFP <= HSYNC, modulo HTOTAL."""
    if mode.hbp <= mode.hsync:
        text = f"HBP {mode.hbp} is not above HSYNC {mode.hsync}: there is no line sync, the screen stays on its line"
        yield _warning("no-hsync", text)
    elif not mode.hsync_runs and mode.hsync < mode.clocks:
        yield _warning("no-hsync", "POLARITY bit 0 stops the line sync")
    if mode.vsync == mode.vbp:
        yield _warning("no-vsync", f"VBP and VSYNC are both {mode.vsync}: there is no frame sync")
    elif not mode.vsync_runs and mode.vsync < mode.lines:
        yield _warning("no-vsync", "POLARITY bit 8 stops the frame sync")
    low, high = mode.h_picture
    chain = [
        *(("HBP", mode.hbp), ("HPICTURE start", low), ("HSTART", mode.hstart), ("HPICTURE end", high)),
        *(("HBR", mode.hbr), ("HFP", mode.hfp)),
    ]
    if max(mode.hsync, *(value for _, value in chain)) > mode.htotal:
        return  # reported by _reached
    since = [(name, (value - mode.hsync) % mode.clocks) for name, value in chain]
    for (first, before), (second, after) in pairwise(since):
        if before > (after or mode.clocks):
            yield _warning("h-order", f"{first} has to come before {second}")
    if mode.glitched:
        text = f"HBL {mode.hbl} is above the start of HPICTURE {low}: no pixels are sent"
        yield _warning("no-pixels", text)


def _porches(mode: DisplayMode) -> Iterator[Problem]:
    least = BACK_PORCH + FRONT_PORCH + 1
    if mode.blanking < least:
        text = f"{mode.blanking} clocks of a line have no pixels; {least} are needed for sync and porches"
        yield _warning("blanking", text)
    porches = (("back", mode.back_porch, BACK_PORCH), ("front", mode.front_porch, FRONT_PORCH))
    for name, clocks, limit in porches:
        if clocks < limit:
            text = f"{name} porch of {clocks} clocks; the wiki requires {limit}, but system software sets fewer"
            yield _note(f"{name}-porch", text)


def _interrupts(mode: DisplayMode) -> Iterator[Problem]:
    for letter, (low, high), total, masked in (
        ("H", mode.h_irq, mode.htotal, mode.h_irq_off),
        ("V", mode.v_irq, mode.vtotal, mode.v_irq_off),
    ):
        if low >= total:
            continue  # the usual way to disable it
        if low >= high:
            reason = f"{letter}IRQ starts at {low} and ends at {high}"
        elif high >= total:
            reason = f"{letter}IRQ ends at {high}, not below {letter}TOTAL {total}"
        else:
            continue
        yield Problem(f"{letter.lower()}-irq", "note" if masked else "warning", f"{reason}: the interrupt never comes")


def _vertical(mode: DisplayMode) -> Iterator[Problem]:
    low, high = mode.v_picture
    if mode.vertical_sync_skipped:
        text = f"VSTART {mode.vstart} is above HTOTAL {mode.htotal}: the picture runs on past its end"
        yield _warning("v-start", f"{text}, {counted(mode.skipped_lines, 'line')} of memory skipped")
    elif mode.cut_lines:
        cut = "line" if mode.cut_lines == 1 else f"{mode.cut_lines} lines"
        yield _warning("v-start", f"VSTART {mode.vstart} cuts off the first {cut} of the picture")
    elif mode.pushed_lines:
        pushed = counted(mode.pushed_lines, "line")
        text = f"VSTART {mode.vstart} pushes the picture down by {pushed} of the border's colour"
        yield _warning("v-start", text)
    if mode.vblank <= low:
        yield _warning("v-blank", f"VBLANK {mode.vblank} has to be above the picture's first line {low}")
    elif mode.vblank < high:
        yield _warning("v-blank", f"VBLANK {mode.vblank} comes before the picture's end {high}: two lines are repeated")
    if mode.screen == "top":
        if mode.vsync <= low:
            yield _warning("v-sync", f"VSYNC {mode.vsync} has to be above the picture's first line {low}")
        elif mode.vsync < high:
            text = f"VSYNC {mode.vsync} comes before the picture's end {high}: the lines after it are not renewed"
            yield _warning("v-sync", text)
    if mode.vbp + 1 >= high:
        yield _warning("v-back-porch", f"VBP {mode.vbp} leaves less than a line of the picture: the screen loses sync")
    elif mode.vbp > max(mode.vtop, low):
        text = f"VBP {mode.vbp} moves the screen up by {counted(mode.vbp - max(mode.vtop, low), 'line')}"
        yield _warning("v-back-porch", text)


def _picture(mode: DisplayMode) -> Iterator[Problem]:
    sent = sum(span.length for span in mode.vertical if span.name in ("border", "picture", "end border"))
    if sent * 2 <= mode.panel_lines:
        text = f"FORMAT is for {mode.panel_lines} lines, the timing sends {sent}: the others are not renewed"
        yield _warning("line-count", text)
    if mode.stride % STRIDE_UNIT:
        yield _note("stride", f"STRIDE {mode.stride} is no multiple of {STRIDE_UNIT}")
    if mode.color_format not in TRANSFER_FORMAT:
        yield _note("format", f"programs cannot set format {mode.color_format}; system software keeps it from them")
    if mode.dma_size == DMA_SIZE.CODE_3:
        yield _note("dma-size", "DMA size 3: main memory does not support it (the wiki), the screen is black")
    if mode.interlace and mode.scan_doubling:
        yield _note("line-mode", "two framebuffers and doubled lines at once cannot be set by programs")
    if mode.enabled and not mode.output:
        yield _note("output", "CONTROL switches the output off: the screen is black")
