"""GX commands: what they do to memory and registers, what is refused, and with which code."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from pocketgpu.errors import UsageError
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.gsp import GX_COMMANDS
from pocketgpu.facts.pica import PICA
from pocketgpu.pica.gsp import AddressMap, Gsp
from pocketgpu.pica.n3ds import N3DS

VRAM, HEAP, OLD_HEAP = 0x1F000000, 0x30000000, 0x14000000
HEAD = 0x01000100
MISALIGNED, BAD_SIZE, MISALIGNED_SIZE, BAD_ADDRESS = 0xE0E02BF1, 0xE0E02BEC, 0xE0E02BF2, 0xE0E02BF5
BAD_VALUE, BAD_COMBINATION, BUSY = 0xE0E02BED, 0xE0E02BEE, 0xC8402BF0


def gx(id: int, *words: int) -> list[int]:
    return [HEAD | id, *words, *[0] * (7 - len(words))]


def register(gpu: N3DS, name: str) -> int:
    return gpu.read_register((EXTERNAL[name] if name.startswith(("P", "ST")) else PICA[name]).address)


# -- addresses


def test_the_default_map() -> None:
    translate = AddressMap().translate
    assert translate(VRAM) == 0x18000000 and translate(VRAM + 0x5FFFFF) == 0x185FFFFF
    assert translate(VRAM + 0x600000) is None and translate(VRAM, 0x600001) is None
    assert translate(VRAM, 0x600000) == 0x18000000 and translate(VRAM + 0x600000, 0) == 0x18600000
    assert translate(HEAP + 0x0FFFFFFF) == 0x2FFFFFFF
    assert translate(OLD_HEAP) == 0x20000000 and translate(OLD_HEAP + 0x08000000) is None
    assert translate(0x1E800000) == 0x1F000000
    assert translate(0x18000000) == 0x24000000  # no physical address: the old heap reaches that far
    assert translate(0x20000000) is None and translate(0) is None and translate(-8, 16) is None


def test_the_map_can_be_replaced(gpu: N3DS, gsp: Gsp) -> None:
    gsp.virt_to_phys = [(0x1000, 0x20000000, 0x100), (0x1080, 0x18000000, 0x1000)]
    assert gsp.gx(gx(0, 0x10F0, 0x1200, 16)) == 0
    assert gsp.virt_to_phys.translate(0x10F0, 16) == 0x200000F0
    assert gsp.virt_to_phys.translate(0x10F0, 32) == 0x18000070  # the first range that holds all of it
    assert gsp.virt_to_phys.virtual(0x18000000) == 0x1080 and gsp.virt_to_phys.virtual(0x30000000) is None
    assert gsp.gx(gx(0, VRAM, 0x1200, 16)) == BAD_ADDRESS
    for broken in ([(0, 0, 0)], [(-4, 0, 8)], [(0, 0xFFFFFFFF, 2)], [(1 << 32, 0, 1)]):
        with pytest.raises(UsageError):
            gsp.virt_to_phys = broken
    assert gsp.virt_to_phys.translate(0x1000) == 0x20000000


# -- RequestDMA


def test_dma_copies_unaligned_bytes(gpu: N3DS, gsp: Gsp) -> None:
    gpu.memory.write(0x20000003, b"hello, video memory")
    gsp.register_interrupt_relay_queue()
    gsp.acquire_right(0)
    assert gsp.gx(gx(0, HEAP + 3, VRAM + 5, 19)) == 0
    assert gpu.memory.read(0x18000004, 21) == b"\0hello, video memory\0"
    assert gsp.shared.interrupts(0).drain() == ["DMA"]
    assert gpu.take_interrupts() == {}  # no unit of the GPU took part


def test_dma_of_overlapping_ranges_and_of_nothing(gpu: N3DS, gsp: Gsp) -> None:
    gpu.memory.write(0x18000000, b"abcdef")
    assert gsp.gx(gx(0, VRAM, VRAM + 2, 6)) == 0
    assert gpu.memory.read(0x18000000, 8) == b"ababcdef"
    assert gsp.gx(gx(0, VRAM, VRAM + 2, 0)) == 0


@pytest.mark.parametrize(
    ("source", "target", "size"),
    [
        (HEAP, 0x00100000, 16), (0x00100000, VRAM, 16), (VRAM + 0x5FFFF8, HEAP, 16), (VRAM, HEAP, 0xFFFFFFFF),
        (0, VRAM, 16), (0x1E800000, VRAM, 16), (HEAP + 0x0F000000, VRAM, 16),
    ],
)  # fmt: skip
def test_dma_outside_memory(gpu: N3DS, gsp: Gsp, source: int, target: int, size: int) -> None:
    assert gsp.gx(gx(0, source, target, size)) == BAD_ADDRESS


# -- ProcessCommandList


def put_list(gpu: N3DS, phys: int, *words: int) -> None:
    gpu.memory.write(phys, struct.pack(f"<{len(words)}I", *words))


FINALIZE = (0x12345678, 0x000F0010)


def test_a_list_runs_and_interrupts_when_it_asks_for_it(gpu: N3DS, gsp: Gsp) -> None:
    put_list(gpu, 0x20001000, 0xAABBCCDD, 0x000F00C3, *FINALIZE, 0x55555555, 0x000F00C3)
    assert gsp.gx(gx(1, HEAP + 0x1000, 32)) == 0
    assert gpu.take_interrupts() == {"P3D": 1}
    assert register(gpu, "TEXENV0_COLOR") == 0xAABBCCDD  # what comes after FINALIZE is left alone
    assert register(gpu, "CMDBUF_ADDR0") == 0x20001000 >> 3 and register(gpu, "CMDBUF_SIZE0") == 32 >> 3
    assert register(gpu, "CMDBUF_JUMP0") == 0


def test_a_list_without_finalize_raises_nothing(gpu: N3DS, gsp: Gsp) -> None:
    put_list(gpu, 0x20001000, 1, 0x000F00C3, 2, 0x000F00C3)
    assert gsp.gx(gx(1, HEAP + 0x1000, 16)) == 0
    assert gpu.take_interrupts() == {}
    assert [event.id for event in gpu.events] == ["list.no-finalize"]


def test_a_list_is_acknowledged_before_the_next(gpu: N3DS, gsp: Gsp) -> None:
    put_list(gpu, 0x20001000, *FINALIZE, *FINALIZE)
    p3d = EXTERNAL["STATUS"]["p3d"]
    for _ in range(2):
        assert gsp.gx(gx(1, HEAP + 0x1000, 16)) == 0
        assert gpu.take_interrupts() == {"P3D": 1}
        assert p3d.raw(register(gpu, "STATUS"))
    put_list(gpu, 0x20001000, 1, 0x000F00C3, 2, 0x000F00C3)
    gsp.gx(gx(1, HEAP + 0x1000, 16))
    assert not p3d.raw(register(gpu, "STATUS"))


def test_gas_results_become_the_next_scale(gpu: N3DS, gsp: Gsp) -> None:
    put_list(gpu, 0x20001000, *FINALIZE, *FINALIZE)
    gpu.write_register(PICA["GAS_ACCMAX"].address, 0x1234)
    gsp.gx(gx(1, HEAP + 0x1000, 16, 1))
    assert register(gpu, "GAS_ACCMAX") == 0x1234  # nothing was reached
    gpu.write_register(PICA["GAS_ACCMAX_FEEDBACK"].address, 4)
    gsp.gx(gx(1, HEAP + 0x1000, 16, 0))
    assert register(gpu, "GAS_ACCMAX") == 0x1234
    gsp.gx(gx(1, HEAP + 0x1000, 16, 1))
    assert register(gpu, "GAS_ACCMAX") == 0x3400  # 0.25 as f16


# -- MemoryFill


def test_fill_words_are_value_and_end(gpu: N3DS, gsp: Gsp) -> None:
    assert gsp.gx(gx(2, VRAM, 0x11223344, VRAM + 64, 0, 0, 0, 0x0201)) == 0
    assert gpu.memory.read(0x18000000, 68) == bytes.fromhex("44332211") * 16 + bytes(4)
    assert gpu.take_interrupts() == {"PSC0": 1}
    assert register(gpu, "PSC0_CONTROL") == 0x202


def test_fill_of_unit_1_alone(gpu: N3DS, gsp: Gsp) -> None:
    assert gsp.gx(gx(2, 0, 0xFFFFFFFF, 0, VRAM + 0x20, 0x7777, VRAM + 0x40, 0x00010101)) == 0
    assert gpu.memory.read(0x18000000, 0x48) == bytes(0x20) + b"\x77" * 0x20 + bytes(8)
    assert gpu.take_interrupts() == {"PSC1": 1}
    assert register(gpu, "PSC0_CONTROL") == 0 and register(gpu, "PSC0_VALUE") == 0


def test_fill_of_both(gpu: N3DS, gsp: Gsp) -> None:
    gsp.register_interrupt_relay_queue()
    gsp.acquire_right(0)
    assert gsp.gx(gx(2, VRAM, 1, VRAM + 16, VRAM + 16, 2, VRAM + 32, 0x02010201)) == 0
    assert gpu.memory.read(0x18000000, 32) == struct.pack("<8I", 1, 1, 1, 1, 2, 2, 2, 2)
    assert gsp.shared.interrupts(0).drain() == ["PSC0", "PSC1"]


def test_fill_of_both_with_one_interrupt(switched: Callable[..., N3DS]) -> None:
    gpu = switched(gsp_double_fill="first")
    gpu.gsp.register_interrupt_relay_queue()
    gpu.gsp.acquire_right(0)
    queue = gpu.gsp.shared.interrupts(0)
    assert gpu.gsp.gx(gx(2, VRAM, 1, VRAM + 16, VRAM + 16, 2, VRAM + 32, 0x02010201)) == 0
    assert queue.drain() == ["PSC0"]
    assert gpu.gsp.gx(gx(2, 0, 1, 0, VRAM + 16, 2, VRAM + 32, 0x02010201)) == 0
    assert queue.drain() == ["PSC1"]


def test_fill_of_nothing_and_without_the_start_bit(gpu: N3DS, gsp: Gsp) -> None:
    assert gsp.gx(gx(2, 0, 5, 6, 0, 7, 8, 0x02010201)) == 0
    assert gsp.gx(gx(2, VRAM, 5, VRAM + 16, 0, 0, 0, 0x0200)) == 0
    assert gpu.take_interrupts() == {} and gpu.memory.read(0x18000000, 16) == bytes(16)


def test_a_fill_may_end_where_memory_ends(gpu: N3DS, gsp: Gsp) -> None:
    end = VRAM + 0x600000
    assert gsp.gx(gx(2, end - 32, 0x0A0A0A0A, end, 0, 0, 0, 0x201)) == 0
    assert gpu.memory.read(0x185FFFE0, 32) == b"\x0a" * 32
    assert gsp.gx(gx(2, end - 32, 0, end + 8, 0, 0, 0, 0x201)) == BAD_ADDRESS


@pytest.mark.parametrize("end", [VRAM, VRAM + 0x100, 0, 8])
def test_a_fill_must_end_above_its_start(gpu: N3DS, gsp: Gsp, end: int) -> None:
    assert gsp.gx(gx(2, VRAM + 0x100, 1, end, 0, 0, 0, 0x201)) == BAD_COMBINATION
    # A good first range is not filled if the second one is refused.
    assert gsp.gx(gx(2, VRAM, 1, VRAM + 16, VRAM + 0x100, 1, end, 0x2010201)) == BAD_COMBINATION
    assert gpu.memory.read(0x18000000, 16) == bytes(16) and gpu.take_interrupts() == {}


# -- DisplayTransfer and TextureCopy


def test_transfer_dimensions_input_first(gpu: N3DS, gsp: Gsp) -> None:
    flags = 1 << 2  # crop, tiled to linear, RGBA8 both
    assert gsp.gx(gx(3, VRAM, HEAP, 128 << 16 | 256, 64 << 16 | 32, flags)) == 0
    assert register(gpu, "PPF_INPUT_SIZE") == 128 << 16 | 256
    assert register(gpu, "PPF_OUTPUT_SIZE") == 64 << 16 | 32
    assert register(gpu, "PPF_INPUT_ADDRESS") == 0x18000000 >> 3
    assert register(gpu, "PPF_OUTPUT_ADDRESS") == 0x20000000 >> 3
    assert gpu.take_interrupts() == {"PPF": 1}


def test_transfer_untiles(gpu: N3DS, gsp: Gsp) -> None:
    gpu.memory.write(0x18000000, struct.pack("<64I", *range(64)))
    assert gsp.gx(gx(3, VRAM, HEAP, 8 << 16 | 8, 8 << 16 | 8, 0)) == 0
    assert struct.unpack("<10I", gpu.memory.read(0x20000000, 40)) == (0, 1, 4, 5, 16, 17, 20, 21, 2, 3)


def test_texture_copy_counts_in_16_bytes(gpu: N3DS, gsp: Gsp) -> None:
    rows = b"".join(bytes([n]) * 16 for n in range(8))
    gpu.memory.write(0x18000000, rows)
    # One unit, a gap of one: every second row.
    assert gsp.gx(gx(4, VRAM, HEAP, 64, 1 << 16 | 1, 4, 0xC)) == 0
    assert gpu.memory.read(0x20000000, 80) == b"".join(bytes([n]) * 16 for n in (0, 2, 4, 6)) + bytes(16)
    assert gpu.take_interrupts() == {"PPF": 1}
    assert register(gpu, "PPF_COPY_SIZE") == 64


# -- FlushCacheRegions


def test_flush(gpu: N3DS, gsp: Gsp) -> None:
    assert gsp.gx(gx(5, HEAP, 1, 0, 0, 0, 0)) == 0
    assert gsp.gx(gx(5, HEAP + 3, 5, 0x00100000, 7, 1, 9)) == 0
    assert gsp.gx(gx(5, HEAP, 0, HEAP, 8, 0, 0)) == BAD_SIZE
    assert gpu.take_interrupts() == {}


# -- checks


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (gx(1, HEAP + 4, 16), MISALIGNED), (gx(1, HEAP, 12), MISALIGNED_SIZE), (gx(1, 0x00200000, 16), BAD_ADDRESS),
        (gx(2, VRAM + 4, 0, VRAM + 64, 0, 0, 0, 0x201), MISALIGNED),
        (gx(2, VRAM, 0, VRAM + 60, 0, 0, 0, 0x201), MISALIGNED),
        (gx(2, 0, 0, 0, VRAM + 1, 0, VRAM + 64, 0x2010000), MISALIGNED),
        (gx(3, VRAM + 4, HEAP, 0x80008, 0x80008, 0), MISALIGNED),
        (gx(3, VRAM, HEAP + 1, 0x80008, 0x80008, 0), MISALIGNED),
        (gx(3, 0x100, HEAP, 0x80008, 0x80008, 0), BAD_ADDRESS),
        (gx(3, VRAM, 0x70000000, 0x80008, 0x80008, 0), BAD_ADDRESS),
        (gx(4, VRAM + 2, HEAP, 64, 4, 4, 8), MISALIGNED), (gx(4, VRAM, HEAP, 60, 4, 4, 8), MISALIGNED_SIZE),
        (gx(4, VRAM, 0x100, 64, 4, 4, 8), BAD_ADDRESS),
        (gx(6), BAD_VALUE), (gx(0xFF), BAD_VALUE),
    ],
)  # fmt: skip
def test_refusals(gpu: N3DS, gsp: Gsp, words: list[int], code: int) -> None:
    before = [register(gpu, name) for name in ("PSC0_CONTROL", "PSC1_CONTROL", "PPF_CONTROL", "CMDBUF_SIZE0")]
    assert gsp.gx(words) == code
    queue = gsp.shared.commands(0)
    assert (queue["error"], queue["status"]) == (code, 0x80)
    assert gpu.take_interrupts() == {}
    assert before == [register(gpu, name) for name in ("PSC0_CONTROL", "PSC1_CONTROL", "PPF_CONTROL", "CMDBUF_SIZE0")]
    (event,) = gpu.events
    assert (event.kind, event.id, event.at) == ("fault", "gsp.refused", "f0") and f"{code:#010x}" in event.message


def test_alignment_can_be_ignored(switched: Callable[..., N3DS]) -> None:
    gpu = switched(gsp_alignment="ignore")
    assert gpu.gsp.gx(gx(2, VRAM + 4, 7, VRAM + 68, 0, 0, 0, 0x201)) == 0
    assert gpu.take_interrupts() == {"PSC0": 1}
    assert gpu.gsp.gx(gx(4, VRAM, HEAP, 1004, 4, 4, 8)) == 0


def test_a_recorded_command_is_not_held_up(gpu: N3DS, gsp: Gsp) -> None:
    assert gsp.gx(gx(4, VRAM, HEAP, 1004, 4, 4, 8), recorded=True, at="f1/e2") == 0
    assert gsp.gx(gx(4, 0x100, HEAP, 64, 4, 4, 8), recorded=True, at="f1/e3") == BAD_ADDRESS
    assert [event.at for event in gpu.events] == ["f1/e3"]


def test_untranslatable_addresses_can_be_zero(switched: Callable[..., N3DS]) -> None:
    gpu = switched(gsp_untranslatable="zero")
    assert gpu.gsp.gx(gx(3, 0x100, HEAP, 0x80008, 0x80008, 0)) == 0
    assert register(gpu, "PPF_INPUT_ADDRESS") == 0


def test_a_unit_that_hangs_is_busy(gpu: N3DS, gsp: Gsp) -> None:
    assert gsp.gx(gx(4, VRAM, HEAP, 0, 0, 0, 8)) == 0  # copies nothing, forever
    assert gpu.take_interrupts() == {} and register(gpu, "PPF_CONTROL") & 1
    copy, fill = gx(4, VRAM, HEAP, 64, 0, 0, 8), gx(2, VRAM, 1, VRAM + 16, 0, 0, 0, 0x201)
    assert gsp.gx(copy) == gsp.gx(gx(3, VRAM, HEAP, 0x80008, 0x80008, 0)) == BUSY
    assert gsp.gx(fill) == BUSY  # bit 24: no unit may be at work
    fill[0] &= ~(1 << 24)
    copy[0] &= ~(1 << 24)
    assert gsp.gx(fill) == 0 and gsp.gx(copy) == BUSY
    assert gsp.gx(copy, recorded=True) == 0 and not register(gpu, "PPF_CONTROL") & 1


def test_other_bits_of_word_0_mean_nothing(gpu: N3DS, gsp: Gsp) -> None:
    words = gx(2, VRAM, 1, VRAM + 16, 0, 0, 0, 0x201)
    words[0] = 0xFEFEFF02
    assert gsp.gx(words) == 0 and gpu.take_interrupts() == {"PSC0": 1}


def test_eight_words(gsp: Gsp) -> None:
    for words in ([], [HEAD] * 7, [HEAD] * 9):
        with pytest.raises(UsageError, match="8 words"):
            gsp.gx(words)
    with pytest.raises(UsageError, match="no client"):
        gsp.gx(gx(5, HEAP, 1), client=4)


def test_failures_go_to_the_clients_own_queue(gsp: Gsp) -> None:
    gsp.gx(gx(9), client=2)
    assert gsp.shared.commands(2)["error"] == BAD_VALUE and gsp.shared.commands(0)["error"] == 0
    gsp.register_interrupt_relay_queue()
    gsp.register_interrupt_relay_queue()
    gsp.acquire_right(1)
    gsp.gx(gx(9))
    assert gsp.shared.commands(1)["error"] == BAD_VALUE and gsp.shared.commands(0)["error"] == 0


# -- the queue


@pytest.fixture
def client(gsp: Gsp) -> int:
    number = gsp.register_interrupt_relay_queue().client
    assert gsp.acquire_right(number) == 0
    return number


def fill(unit_value: int, at: int, **bits: int) -> list[int]:
    words = gx(2, VRAM + at, unit_value, VRAM + at + 16, 0, 0, 0, 0x201)
    words[0] |= bits.get("more", 0)
    return words


def test_the_queue_runs_in_order(gpu: N3DS, gsp: Gsp, client: int) -> None:
    queue = gsp.shared.commands(client)
    for n in range(15):
        assert queue.submit(fill(n + 1, 16 * n))
    assert gsp.trigger_cmd_req_queue(client) == 0
    assert (queue["count"], queue["index"], queue["status"], queue["error"]) == (0, 0, 0, 0)
    assert [gpu.memory.read(0x18000000 + 16 * n, 1)[0] for n in range(16)] == [*range(1, 16), 0]
    assert gsp.shared.interrupts(client).drain() == ["PSC0"] * 15


def test_the_queue_wraps_at_fifteen(gpu: N3DS, gsp: Gsp, client: int) -> None:
    queue = gsp.shared.commands(client)
    for n in range(16):
        assert queue.submit(fill(n + 1, 16 * n))
        gsp.trigger_cmd_req_queue(client)
        assert queue["index"] == (n + 1) % 15
    assert queue["index"] == 1
    assert gpu.memory.read(0x180000F0, 1) == b"\x10"


def test_a_failure_stops_the_queue(gpu: N3DS, gsp: Gsp, client: int) -> None:
    queue = gsp.shared.commands(client)
    for words in (fill(1, 0), gx(7), fill(2, 16)):
        queue.submit(words)
    assert gsp.trigger_cmd_req_queue(client) == 0
    assert (queue["error"], queue["status"], queue["count"], queue["index"]) == (BAD_VALUE, 0x80, 1, 2)
    assert gpu.memory.read(0x18000010, 1) == b"\0"
    gsp.trigger_cmd_req_queue(client)
    assert queue["count"] == 1  # still stopped
    queue.resume()
    gsp.trigger_cmd_req_queue(client)
    assert (queue["count"], gpu.memory.read(0x18000010, 1)) == (0, b"\x02")


def test_stop_after_a_command(gpu: N3DS, gsp: Gsp, client: int) -> None:
    queue = gsp.shared.commands(client)
    queue.submit(fill(1, 0, more=1 << 16))
    queue.submit(fill(2, 16))
    gsp.trigger_cmd_req_queue(client)
    assert (queue["status"], queue["count"], gpu.memory.read(0x18000000, 1)) == (1, 1, b"\x01")
    queue["status"] = 0
    gsp.trigger_cmd_req_queue(client)
    assert (queue["count"], gpu.memory.read(0x18000010, 1)) == (0, b"\x02")


def test_a_client_can_ask_for_a_halt(gpu: N3DS, gsp: Gsp, client: int) -> None:
    queue = gsp.shared.commands(client)
    queue.submit(fill(1, 0))
    queue["control"] = 1
    gsp.trigger_cmd_req_queue(client)
    assert (queue["status"], queue["count"]) == (1, 1)
    assert gpu.memory.read(0x18000000, 1) == b"\0"


@pytest.mark.parametrize("index", [15, 16, 255])
def test_a_slot_that_is_not_there(gpu: N3DS, gsp: Gsp, client: int, index: int) -> None:
    queue = gsp.shared.commands(client)
    queue["index"], queue["count"] = index, 3
    gsp.trigger_cmd_req_queue(client)
    assert (queue["status"], queue["error"], queue["count"], queue["index"]) == (0x80, 0xE0E02BFD, 3, index)
    assert [event.id for event in gpu.events] == ["gsp.refused"]


def test_more_commands_than_slots_come_to_an_end(gpu: N3DS, gsp: Gsp, client: int) -> None:
    queue = gsp.shared.commands(client)
    for _ in range(15):
        queue.submit(gx(5, HEAP, 8))
    queue["count"] = 255
    gsp.trigger_cmd_req_queue(client)
    assert (queue["count"], queue["index"], queue["status"]) == (0, 255 % 15, 0)


def test_queues_of_clients_are_their_own(gpu: N3DS, gsp: Gsp, client: int) -> None:
    other = gsp.register_interrupt_relay_queue().client
    gsp.shared.commands(other).submit(fill(5, 0))
    gsp.trigger_cmd_req_queue(client)
    assert gsp.shared.commands(other)["count"] == 1
    assert gsp.trigger_cmd_req_queue(other) == 0  # without the right
    assert gpu.memory.read(0x18000000, 1) == b"\x05"
    assert gsp.shared.interrupts(client).drain() == ["PSC0"]  # but only its holder hears of it
    assert gsp.shared.interrupts(other).drain() == []
    assert gsp.trigger_cmd_req_queue(3) == 0xD8202A06
    gsp.shared.commands(client).submit(fill(6, 0))
    assert gsp.trigger_cmd_req_queue() == 0  # the holder's
    assert gpu.memory.read(0x18000000, 1) == b"\x06"


def test_the_table_names_what_the_model_does(gsp: Gsp) -> None:
    assert len(gsp._gx._run) == len(GX_COMMANDS)
