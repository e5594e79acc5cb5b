"""Entries of a command list, and the commands around its end (GPU/Commands of 2013, "Command Header")."""

from __future__ import annotations

import numpy as np
import pytest

from .commands import END, FCRAM, WHITE, Gpu, command, core, decoded, drawn, pixel, wipe

CONSTANT, BORDER = 0xC3, 0x81
"""Registers that only store: a combiner constant, the border colour of texture unit 0."""
NO_OP = (0, 0x00000000 | CONSTANT)


def run_words(gpu: Gpu, *words: int) -> bool:
    """Run words as they are, padded to 16 bytes after their end; whether P3D came."""
    gpu.list = [*words, *[0] * (-len(words) % 4)]
    return gpu.run(finalize=False)


@pytest.mark.row("cmd.header.19-0")
@pytest.mark.parametrize("mask", range(16))
def test_command_id_is_a_register_and_a_byte_mask(gpu: Gpu, mask: int) -> None:
    """The page takes bits 19-0 as one id; they are a register (15-0) and the bytes of it that change (19-16)."""
    assert run_words(gpu, 0x11223344, 0x000F0000 | CONSTANT, 0xAABBCCDD, mask << 16 | CONSTANT, *END, *END)
    keep = sum(0xFF << 8 * byte for byte in range(4) if not mask >> byte & 1)
    assert core(gpu, CONSTANT) == 0x11223344 & keep | 0xAABBCCDD & ~keep


@pytest.mark.row("cmd.header.30-20")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 38, 254, 255])
def test_number_of_words_after_the_header(gpu: Gpu, count: int) -> None:
    """The first word of data stands before the header, the others after it, and an odd number is padded.

    The page gives the count bits 30-20; it has bits 27-20, and what stands in 30-28 changes nothing.
    """
    for unused in (0, 0x7 << 28):
        words = [1000, unused | count << 20 | 0xF << 16 | CONSTANT, *range(1001, 1001 + count)]
        words += [0xDEADBEEF] * (count % 2)
        assert run_words(gpu, *words, count, 0x000F0000 | BORDER, *END)
        assert core(gpu, CONSTANT) == 1000 + count
        assert core(gpu, BORDER) == count


@pytest.mark.row("cmd.header.31")
def test_top_bit_sends_the_words_to_following_registers(gpu: Gpu) -> None:
    """The page has a question mark: with bit 31 each word goes one register further, without it all to the same."""
    run_words(gpu, 0xA, 0x802F0000 | BORDER, 0xB, 0xC, *END)
    assert [core(gpu, BORDER + n) for n in range(3)] == [0xA, 0xB, 0xC]
    run_words(gpu, 1, 0x002F0000 | BORDER, 2, 3, *END)
    assert [core(gpu, BORDER + n) for n in range(3)] == [3, 0xB, 0xC]


@pytest.mark.row("cmd.id.0x000F0010")
def test_the_last_command_ends_the_list_with_an_interrupt(gpu: Gpu) -> None:
    assert run_words(gpu, 1, 0x000F0000 | CONSTANT, *END, 2, 0x000F0000 | CONSTANT)
    assert core(gpu, CONSTANT) == 1
    assert not gpu.ids
    # Without it the list runs out, and whoever waits for P3D waits forever.
    assert not run_words(gpu, 3, 0x000F0000 | CONSTANT, *NO_OP)
    assert core(gpu, CONSTANT) == 3
    assert gpu.ids == {"list.no-finalize"}


@pytest.mark.parametrize(
    ("header", "name", "field"),
    [
        pytest.param(0x000F0110, 0x110, "invalidate", marks=pytest.mark.row("cmd.id.0x000F0110")),
        pytest.param(0x000F0111, 0x111, "flush", marks=pytest.mark.row("cmd.id.0x000F0111")),
    ],
)
def test_cache_commands_lose_nothing_and_come_before_the_end(gpu: Gpu, header: int, name: int, field: str) -> None:
    """In the page's order, 111, 110, 010, and between two draws: the second adds to what the first one left."""
    assert decoded(name, 1)[field] == "yes" and decoded(name, 0)[field] == "no"
    wipe(gpu)
    gpu.set(COLOR_OPERATION=0x00E40100, BLEND_FUNC=0x11110000)  # added to what is there
    gpu.quad(color=(0.2, 0, 0, 0))
    command(gpu, header, 1)
    gpu.quad(color=(0.2, 0.4, 0, 1))
    command(gpu, 0x000F0111, 1)
    command(gpu, 0x000F0110, 1)
    assert gpu.run()
    assert pixel(gpu, 3, 3) == [102, 102, 0, 255]
    assert core(gpu, name) == 1
    # The same before a first draw, as the page says of objects.
    command(gpu, header, 1)
    gpu.quad(box=(-1, -1, 0, 1))
    assert drawn(gpu)[:, :8].all() and not gpu.covered()[:, 8:].any()
    assert not gpu.ids


def test_a_list_of_the_page_alone_draws(gpu: Gpu) -> None:
    """The last three commands in their order, from memory and through the registers of the external page."""
    gpu.quad()
    for header, value in ((0x000F0111, 1), (0x000F0110, 1), (0x000F0010, 0x12345678)):
        command(gpu, header, value)
    gpu.list += [*END] * (len(gpu.list) % 4 // 2)
    data = np.array(gpu.list, np.uint32)
    gpu.memory.write(FCRAM, data.tobytes())
    assert gpu.start(FCRAM, data.nbytes)
    assert pixel(gpu, 0, 0) == WHITE
