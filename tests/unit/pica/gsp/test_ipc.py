"""Service calls: registers, screens, clients, the right, and who hears of interrupts and VBlanks."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pytest

from pocketgpu.errors import UsageError
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.external_init import start_writes
from pocketgpu.facts.gsp import CLIENTS, GX_COMMANDS
from pocketgpu.pica.gsp import Gsp
from pocketgpu.pica.n3ds import N3DS

BAD_REGISTER, BAD_SIZE, MISALIGNED_SIZE, BAD_ADDRESS = 0xE0E02A01, 0xE0E02BEC, 0xE0E02BF2, 0xE0E02BF5
NO_PERMISSION, BUSY, BAD_VALUE, NO_ROOM = 0xD8202A06, 0xC8402BF0, 0xE0E02BED, 0xC8602BF3
FILL_VALUE = 0x400018  # PSC0_VALUE


def psc0_value(gpu: N3DS) -> int:
    return gpu.read_register(EXTERNAL["PSC0_VALUE"].address)


# -- registers


def test_offsets_count_from_0x1EB00000(gpu: N3DS, gsp: Gsp) -> None:
    assert gsp.write_hw_regs(FILL_VALUE, [0x12345678]) == 0
    assert psc0_value(gpu) == 0x12345678
    assert gsp.write_hw_regs(0x202204, struct.pack("<I", 0x010000FF)) == 0
    top = gpu.screens["top"].array
    assert (top == np.array([0xFF, 0, 0], np.uint8)).all()
    assert not gpu.screens["bottom"].array.any()


def test_consecutive_registers(gpu: N3DS, gsp: Gsp) -> None:
    assert gsp.write_hw_regs(0x400020, [0x100, 0x200, 0x300]) == 0
    names = ("PSC1_START", "PSC1_END", "PSC1_VALUE")
    assert [gpu.read_register(EXTERNAL[name].address) for name in names] == [0x100, 0x200, 0x300]
    assert gsp.read_hw_regs(0x400020, 12) == (0, struct.pack("<3I", 0x100, 0x200, 0x300))


def test_writes_start_units(gpu: N3DS, gsp: Gsp) -> None:
    gsp.register_interrupt_relay_queue()
    gsp.acquire_right(0)
    assert gsp.write_hw_regs(0x400010, [0x18000000 >> 3, 0x18000010 >> 3, 0xABABABAB, 0x201], client=0) == 0
    assert gpu.memory.read(0x18000000, 16) == b"\xab" * 16
    assert gsp.shared.interrupts(0).drain() == ["PSC0"]


def test_masks(gpu: N3DS, gsp: Gsp) -> None:
    gsp.write_hw_regs(FILL_VALUE, [0x11223344])
    assert gsp.write_hw_regs_with_mask(FILL_VALUE, [0xAABBCCDD], [0x00FF00F0]) == 0
    assert psc0_value(gpu) == 0x11BB33D4
    assert gsp.write_hw_regs_with_mask(FILL_VALUE, [1], bytes(8)) == MISALIGNED_SIZE
    # Word by word: the second register is masked by the second word.
    gsp.write_hw_regs(0x400470, [0, 0])
    assert gsp.write_hw_regs_with_mask(0x400468, [0xFFFFFFFF] * 2, [0xF0, 0x0F]) == 0
    assert gpu.read_register(EXTERNAL["PDC0_ADDRESS_A1"].address) & 0xFF == 0x0F


def test_repeats_go_to_one_register(gpu: N3DS, gsp: Gsp) -> None:
    table = [(255 - i) * 0x010101 for i in range(32)]
    gsp.write_hw_regs(0x400480, [0])
    assert gsp.write_hw_reg_repeat(0x400484, table) == 0
    gsp.write_hw_regs(0x400480, [3])
    assert gsp.read_hw_regs(0x400484, 4).data == struct.pack("<I", table[3])
    assert psc0_value(gpu) == 0


@pytest.mark.parametrize(
    ("offset", "size", "code"),
    [
        (FILL_VALUE, 0, 0), (0x777777, 0, 0),  # nothing is nothing, wherever
        (0x420000, 4, BAD_REGISTER), (FILL_VALUE + 2, 4, BAD_REGISTER), (-4, 4, BAD_REGISTER),
        (0x420000, 0x84, BAD_REGISTER), (1, 3, BAD_REGISTER), (0x41FFFC, 8, BAD_REGISTER),
        (FILL_VALUE, 0x84, BAD_SIZE), (FILL_VALUE, 0x82, BAD_SIZE), (FILL_VALUE, 6, MISALIGNED_SIZE),
        (FILL_VALUE, 1, MISALIGNED_SIZE), (0x400400, 0x80, 0), (0x41FFFC, 4, 0),
    ],
)  # fmt: skip
def test_documented_errors_in_the_documented_order(gpu: N3DS, gsp: Gsp, offset: int, size: int, code: int) -> None:
    before = psc0_value(gpu)
    assert gsp.write_hw_regs(offset, b"\xff" * size) == code
    assert gsp.write_hw_regs_with_mask(offset, b"\xff" * size, bytes(size)) == code
    result = gsp.read_hw_regs(offset, size)
    assert result.result == code and len(result.data) == (0 if code else size)
    if code:
        assert psc0_value(gpu) == before


def test_a_repeat_needs_room_for_one_word(gsp: Gsp) -> None:
    assert gsp.write_hw_reg_repeat(0x41FFFC, [0] * 32) == 0
    assert gsp.write_hw_reg_repeat(0x420000, [0]) == BAD_REGISTER
    assert gsp.write_hw_reg_repeat(FILL_VALUE, [0] * 33) == BAD_SIZE


def test_long_reads_can_be_cut(switched: Callable[..., N3DS]) -> None:
    reading = switched(gsp_read_size="clamp").gsp.read_hw_regs(0x400400, 0x100)
    assert reading.result == 0 and len(reading.data) == 0x80


def test_reading_after_start_up(gpu: N3DS, gsp: Gsp) -> None:
    for offset, value, mask in start_writes():
        assert gsp.write_hw_regs_with_mask(0x400000 + offset, [value], [mask]) == 0
    assert gsp.read_hw_regs(0x400474, 4) == (0, struct.pack("<I", 0x00010501))
    assert gsp.read_hw_regs(0x400468, 4).data == struct.pack("<I", 0x18300000)
    assert not list(gpu.events) and gpu.take_interrupts() == {}


def test_registers_need_the_right(gpu: N3DS, gsp: Gsp) -> None:
    assert gsp.write_hw_regs(FILL_VALUE, [1], client=0) == NO_PERMISSION  # nobody is registered
    for _ in range(2):
        gsp.register_interrupt_relay_queue()
    gsp.acquire_right(1)
    for call in (
        lambda client: gsp.write_hw_regs(FILL_VALUE, [1], client=client),
        lambda client: gsp.write_hw_regs_with_mask(FILL_VALUE, [1], [1], client=client),
        lambda client: gsp.write_hw_reg_repeat(FILL_VALUE, [1], client=client),
        lambda client: gsp.read_hw_regs(FILL_VALUE, 4, client=client).result,
        lambda client: gsp.set_buffer_swap(0, [0] * 7, client=client),
        lambda client: gsp.reset_gpu_core(client=client),
    ):
        assert [call(0), call(1), call(2)] == [NO_PERMISSION, 0, NO_PERMISSION]


# -- screens


def test_buffer_swap(gpu: N3DS, gsp: Gsp) -> None:
    read = lambda name: gpu.read_register(EXTERNAL[name].address)  # noqa: E731
    entry = [1, 0x1F000000, 0x1F046500, 720, 0x121, 1, 0]
    assert gsp.set_buffer_swap(0, entry) == 0
    assert (read("PDC0_ADDRESS_A1"), read("PDC0_ADDRESS_B1")) == (0x18000000, 0x18046500)
    assert (read("PDC0_STRIDE"), read("PDC0_FORMAT"), read("PDC0_SELECT") & 1) == (720, 0x80121, 1)
    assert gsp.set_buffer_swap(1, [0, 0x30000000, 0x1F000000, 720, 0x101, 0, 0]) == 0
    assert (read("PDC1_ADDRESS_A0"), read("PDC1_ADDRESS_B0")) == (0x20000000, 0)
    info = gsp.import_display_capture_info()
    assert info == (0, (0x1F000000, 0x1F046500, 0x80121, 720), (0x30000000, 0, 0x80101, 720))


def test_buffer_swap_refusals(gpu: N3DS, gsp: Gsp) -> None:
    before = gpu.read_register(EXTERNAL["PDC0_ADDRESS_A0"].address)
    assert gsp.set_buffer_swap(2, [0] * 7) == BAD_VALUE
    assert gsp.set_buffer_swap(-1, [0] * 7) == BAD_VALUE
    assert gsp.set_buffer_swap(0, [0, 0x00100000, 0, 720, 1, 0, 0]) == BAD_ADDRESS
    assert gsp.set_buffer_swap(0, [0, 0x1F000000, 5, 720, 1, 0, 0]) == BAD_ADDRESS
    for code in (5, 6, 7):
        assert gsp.set_buffer_swap(0, [0, 0x1F000000, 0x1F000000, 720, code, 0, 0]) == BAD_VALUE
    assert gpu.read_register(EXTERNAL["PDC0_ADDRESS_A0"].address) == before
    with pytest.raises(UsageError, match="7 words"):
        gsp.set_buffer_swap(0, [1, 2, 3])


def test_force_black(gpu: N3DS, gsp: Gsp) -> None:
    gpu.memory.write(0x18300000, b"\xff" * 240 * 400 * 3)
    assert gsp.set_buffer_swap(0, [0, 0x1F300000, 0x1F300000, 720, 0x41 | 0x300, 0, 0]) == 0
    assert gpu.screens["top"].array.all()
    assert gsp.set_lcd_force_black(True) == 0
    assert gpu.read_register(LCD["BOTTOM_FILL"].address) == 0x01000000
    assert not gpu.screens["top"].array.any()
    assert gsp.set_lcd_force_black(False) == 0
    assert gpu.screens["top"].array.all()


# -- caches


def test_cache_calls(gsp: Gsp) -> None:
    for call in (gsp.flush_data_cache, gsp.invalidate_data_cache, gsp.store_data_cache):
        assert call(0x1F000000, 0x600000) == call(0x14000001, 3) == call(0x30000000, 0) == 0
        assert call(0x00100000, 16) == call(0x1F000000, 0x600001) == call(0x18600000 - 0x20, -1) == BAD_ADDRESS


# -- clients and the right


def test_registration(gsp: Gsp) -> None:
    assert gsp.register_interrupt_relay_queue() == (0x2A07, 0)
    for number in range(1, CLIENTS):
        assert gsp.register_interrupt_relay_queue() == (0, number)
    assert gsp.register_interrupt_relay_queue() == (NO_ROOM, -1)
    assert gsp.unregister_interrupt_relay_queue(1) == 0
    assert gsp.unregister_interrupt_relay_queue(1) == NO_PERMISSION
    gsp.shared.commands(1).fail(5)
    gsp.shared.interrupts(1).push(4)
    assert gsp.register_interrupt_relay_queue(0) == (0, 1)  # the free place, everything in it zero
    assert gsp.shared.commands(1)["error"] == 0 and gsp.shared.interrupts(1)["count"] == 0
    for number in range(CLIENTS):
        gsp.unregister_interrupt_relay_queue(number)
    assert gsp.register_interrupt_relay_queue() == (0, 0)  # only the very first one starts the hardware


def test_the_right(gsp: Gsp) -> None:
    for _ in range(3):
        gsp.register_interrupt_relay_queue()
    assert gsp.acquire_right(7) == gsp.try_acquire_right(3) == NO_PERMISSION
    assert gsp.try_acquire_right(0) == 0
    assert gsp.acquire_right(0) == gsp.try_acquire_right(0) == 0x2BFD
    assert gsp.try_acquire_right(1) == BUSY
    assert gsp.acquire_right(2) is None and gsp.acquire_right(1) is None and gsp.acquire_right(2) is None
    assert gsp.release_right(1) == NO_PERMISSION
    assert gsp.release_right(0) == 0
    assert gsp.clients.holder == 2  # first come, first served
    assert gsp.unregister_interrupt_relay_queue(2) == 0
    assert gsp.clients.holder == 1
    assert gsp.release_right(1) == 0
    assert gsp.clients.holder is None
    # Who gives up waiting by leaving is not served.
    gsp.acquire_right(0)
    gsp.acquire_right(1)
    gsp.unregister_interrupt_relay_queue(1)
    gsp.release_right(0)
    assert gsp.clients.holder is None


def test_who_hears_of_what(gpu: N3DS, gsp: Gsp) -> None:
    for _ in range(3):
        gsp.register_interrupt_relay_queue()
    gsp.acquire_right(1)
    gpu.step_vblank()
    gpu.submit([0x12345678, 0x000F0010])
    gsp.gx([0, 0x1F000000, 0x1F000100, 8, 0, 0, 0, 0])
    heard = [gsp.shared.interrupts(client).drain() for client in range(4)]
    assert heard == [["PDC0", "PDC1"], ["PDC0", "PDC1", "P3D", "DMA"], ["PDC0", "PDC1"], []]
    assert all(gsp.clients.registered[client].signalled for client in range(3))
    assert gpu.take_interrupts() == {"PDC0": 1, "PDC1": 1, "P3D": 1}  # counted for the host all the same


def test_an_event_wakes_once(gpu: N3DS, gsp: Gsp) -> None:
    gsp.register_interrupt_relay_queue()
    client = gsp.clients.registered[0]
    assert not client.signalled
    for _ in range(0x20):
        gpu.step_vblank()
    client.signalled = False
    gsp.shared.interrupts(0)
    gpu.step_vblank()
    assert not client.signalled  # the queue was full: nobody is woken for what was not stored
    assert gsp.shared.interrupts(0)["missed_pdc0"] == 0x20 + 1 - 0x10


def test_lists_that_fire_without_end_fill_a_queue_and_no_more(gpu: N3DS, gsp: Gsp) -> None:
    gsp.register_interrupt_relay_queue()
    gsp.acquire_right(0)
    gsp._relay("P3D", 1 << 40)
    queue = gsp.shared.interrupts(0)
    assert (queue["count"], queue["missed_other"]) == (0x34, 1)


def test_the_unlimited_relay(switched: Callable[..., N3DS]) -> None:
    gpu = switched(gsp_relay_limit="unlimited")
    gpu.gsp.register_interrupt_relay_queue()
    queue = gpu.gsp.shared.interrupts(0)
    queue["flags"] = queue["missed_other"] = 1
    for _ in range(0x20):
        gpu.step_vblank()
    assert (queue["count"], queue["missed_pdc0"], queue["missed_other"]) == (0x40, 0, 0)


# -- VBlank


def shown(gpu: N3DS, screen: int) -> int:
    return gpu.read_register(EXTERNAL[f"PDC{screen}_ADDRESS_A0"].address)


ENTRY = [0, 0x1F000000, 0x1F000000, 720, 0x341, 0, 0]


def test_framebuffers_swap_at_vblank(gpu: N3DS, gsp: Gsp) -> None:
    gsp.register_interrupt_relay_queue()
    gsp.acquire_right(0)
    before = [shown(gpu, screen) for screen in (0, 1)]
    top, bottom = (gsp.shared.framebuffer(0, screen) for screen in (0, 1))
    top.present(ENTRY)
    assert [shown(gpu, screen) for screen in (0, 1)] == before and top["flag"] == 1
    gpu.step_vblank()
    assert [shown(gpu, 0), shown(gpu, 1)] == [0x18000000, before[1]]
    assert top["flag"] == 0
    bottom.present([0, 0x30000000, 0, 720, 0x301, 0, 0])
    gpu.step_vblank()
    assert shown(gpu, 1) == 0x20000000 and bottom["flag"] == 0
    assert gsp.shared.interrupts(0).drain() == ["PDC0", "PDC1"] * 2


def test_only_the_holder_of_the_right_swaps(gpu: N3DS, gsp: Gsp) -> None:
    for _ in range(2):
        gsp.register_interrupt_relay_queue()
    gsp.acquire_right(1)
    gsp.shared.framebuffer(0, 0).present([0, 0x1F100000, 0x1F100000, 720, 0x341, 0, 0])
    gsp.shared.framebuffer(1, 0).present(ENTRY)
    gpu.step_vblank()
    assert shown(gpu, 0) == 0x18000000
    assert (gsp.shared.framebuffer(0, 0)["flag"], gsp.shared.framebuffer(1, 0)["flag"]) == (1, 0)


def test_all_clients_may_swap(switched: Callable[..., N3DS]) -> None:
    gpu = switched(gsp_swap_clients="all")
    gpu.gsp.register_interrupt_relay_queue()
    gpu.gsp.shared.framebuffer(0, 0).present(ENTRY)
    gpu.step_vblank()
    assert shown(gpu, 0) == 0x18000000


def test_swap_after_a_transfer(switched: Callable[..., N3DS]) -> None:
    gpu = switched(gsp_swap_time="transfer")
    gpu.gsp.register_interrupt_relay_queue()
    gpu.gsp.acquire_right(0)
    gpu.gsp.shared.framebuffer(0, 0).present(ENTRY)
    gpu.step_vblank()
    assert shown(gpu, 0) != 0x18000000
    assert gpu.gsp.gx([3, 0x1F000000, 0x30000000, 0x80008, 0x80008, 0, 0, 0]) == 0
    assert shown(gpu, 0) == 0x18000000


def test_a_framebuffer_from_nowhere_is_told_of(gpu: N3DS, gsp: Gsp) -> None:
    gsp.register_interrupt_relay_queue()
    gsp.acquire_right(0)
    before = shown(gpu, 0)
    info = gsp.shared.framebuffer(0, 0)
    info.present([0, 0x00100000, 0, 720, 0x341, 0, 0])
    gpu.step_vblank()
    assert shown(gpu, 0) == before and info["flag"] == 0
    assert [event.id for event in gpu.events] == ["gsp.refused"]


# -- the rest


def test_video_memory_is_saved_for_those_who_agreed(gpu: N3DS, gsp: Gsp) -> None:
    gsp.register_interrupt_relay_queue(0)
    gsp.register_interrupt_relay_queue(1)
    gpu.memory.write(0x18123456, b"kept")
    assert gsp.save_vram_sys_area(client=0) == gsp.restore_vram_sys_area(client=0) == NO_PERMISSION
    assert gsp.restore_vram_sys_area(client=1) == 0 and gpu.memory.read(0x18123456, 4) == b"kept"
    assert gsp.save_vram_sys_area(client=1) == 0
    gpu.memory.write(0x18123456, b"lost")
    assert gsp.restore_vram_sys_area(client=1) == 0
    assert gpu.memory.read(0x18123456, 4) == b"kept"


def test_settings_without_effect(gsp: Gsp) -> None:
    assert gsp.set_axi_config_qos_mode(7) == gsp.set_perf_log_mode(1) == gsp.set_led_force_off(True) == 0
    assert (gsp.axi_mode, gsp.perf_log_mode, gsp.led_forced_off) == (7, 1, True)
    assert gsp.set_internal_priorities(0x3F, 0) == 0 and gsp.priorities == (0x3F, 0)
    assert gsp.set_internal_priorities(0x40, 0) == gsp.set_internal_priorities(0, -1) == 0xE0E02BFD
    assert gsp.priorities == (0x3F, 0)
    assert set(gsp.get_perf_log().nanoseconds) == {"PSC0", "PSC1", "PDC0", "PDC1", "PPF", "P3D", "DMA"}


def test_interrupts_of_the_table_are_those_that_come(gpu: N3DS, gsp: Gsp) -> None:
    gsp.register_interrupt_relay_queue()
    gsp.acquire_right(0)
    gpu.memory.write(0x20000000, struct.pack("<4I", *[0x12345678, 0x000F0010] * 2))
    commands = {
        0: (0x1F000000, 0x1F000100, 8), 1: (0x30000000, 16),
        2: (0x1F000000, 0, 0x1F000010, 0x1F000100, 0, 0x1F000110, 0x2010201),
        3: (0x1F000000, 0x30001000, 0x80008, 0x80008, 0), 4: (0x1F000000, 0x30001000, 64, 0, 0, 8), 5: (0x30000000, 8),
    }  # fmt: skip
    for id, words in commands.items():
        assert gsp.gx([id, *words, *[0] * (7 - len(words))]) == 0
        assert tuple(gsp.shared.interrupts(0).drain()) == GX_COMMANDS[id].interrupts
