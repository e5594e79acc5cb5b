"""Units that take their time: busy bits, interrupts at the end, aborted fills, waiting for lists, gsp."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pytest

from pocketgpu.errors import UsageError
from pocketgpu.facts import timing
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.pica import PICA
from pocketgpu.pica.n3ds import N3DS

VRAM, FCRAM = 0x18000000, 0x20000000
BUSY = 0xC8402BF0
FINISH = struct.pack("<4I", 0x12345678, 0x000F0010, 0, 0)
LIST = struct.pack("<2I", 7, 0x000F0100) * 99 + FINISH


class Console:
    def __init__(self, **choices: str) -> None:
        self.gpu = N3DS(timing="emulated", switches={name.replace("__", "."): v for name, v in choices.items()})

    def set(self, **values: int) -> None:
        for name, value in values.items():
            self.gpu.write_register((EXTERNAL if name in EXTERNAL else PICA)[name].address, value)

    def get(self, name: str) -> int:
        return self.gpu.read_register((EXTERNAL if name in EXTERNAL else PICA)[name].address)

    def fill(self, unit: int, start: int, size: int, value: int, width: int = 2) -> None:
        words = {"START": start >> 3, "END": start + size >> 3, "VALUE": value, "CONTROL": width << 8 | 1}
        self.set(**{f"PSC{unit}_{name}": word for name, word in words.items()})

    def copy(self, source: int, target: int, size: int) -> None:
        self.set(PPF_INPUT_ADDRESS=source >> 3, PPF_OUTPUT_ADDRESS=target >> 3, PPF_COPY_SIZE=size, PPF_FLAGS=8)
        self.set(PPF_CONTROL=1)

    def run_list(self, address: int, data: bytes = LIST) -> None:
        self.gpu.memory.write(address, data)
        self.set(CMDBUF_SIZE0=len(data) >> 3, CMDBUF_ADDR0=address >> 3, CMDBUF_JUMP0=1)

    def memory(self, address: int, size: int) -> bytes:
        return self.gpu.memory.read(address, size)


@pytest.fixture
def console() -> Console:
    return Console()


STARTS: dict[str, Callable[[Console], None]] = {
    "PSC0": lambda c: c.fill(0, FCRAM, 1 << 16, 1),
    "PSC1": lambda c: c.fill(1, FCRAM, 1 << 16, 1),
    "PPF": lambda c: c.copy(FCRAM, VRAM, 1 << 16),
    "P3D": lambda c: c.run_list(FCRAM),
}


@pytest.mark.parametrize("unit", STARTS)
def test_a_unit_is_busy_and_then_raises_its_interrupt(console: Console, unit: str) -> None:
    gpu = console.gpu
    STARTS[unit](console)
    assert gpu.at_work(unit)
    assert unit not in gpu.take_interrupts()
    start = gpu.time
    assert gpu.run_until(unit)
    assert gpu.time > start + timing.UNIT_LATENCY
    assert not gpu.at_work(unit)
    assert gpu.take_interrupts()[unit] == 1
    assert not gpu.run_until(unit, limit=10_000_000), "once only"


@pytest.mark.parametrize("reading", ["interrupt", "busy", "busy-exchanged"])
@pytest.mark.parametrize("unit", STARTS)
def test_the_status_register_before_and_after(unit: str, reading: str) -> None:
    console = Console(external__status=reading, external__core_reads="at-once")
    bits = {"PSC0": 26, "PSC1": 27, "PPF": 30, "P3D": 31}
    if reading == "busy-exchanged":
        bits |= {"PSC0": 27, "PSC1": 26}
    units = sum(1 << bit for bit in bits.values())
    STARTS[unit](console)
    assert console.get("STATUS") & units == (0 if reading == "interrupt" else 1 << bits[unit])
    console.gpu.run_until(unit)
    assert console.get("STATUS") & units == (1 << bits[unit] if reading == "interrupt" else 0)


def test_control_and_busy_registers(console: Console) -> None:
    console.fill(0, FCRAM, 1 << 16, 1)
    console.copy(FCRAM, VRAM, 1 << 20)
    assert console.get("PSC0_CONTROL") == 0x201
    assert console.get("PPF_CONTROL") == 1
    assert console.get("BUSY") == 1 << 19 | 1 << 20
    console.gpu.run_until("PSC0")
    assert console.get("PSC0_CONTROL") == 0x202
    assert console.get("BUSY") == 1 << 20
    console.gpu.run_until("PPF")
    assert console.get("PPF_CONTROL") == 0x100
    assert console.get("BUSY") == 0


def test_a_loop_that_polls_comes_to_its_end(console: Console) -> None:
    console.fill(0, FCRAM, 1 << 20, 0xAABBCCDD)
    start, reads = console.gpu.time, 0
    while console.get("PSC0_CONTROL") & 1:
        reads += 1
        assert reads < 100_000
    assert console.gpu.time - start == pytest.approx(timing.UNIT_LATENCY + (1 << 20) / 8, abs=100)
    assert console.memory(FCRAM, 1 << 20) == bytes.fromhex("ddccbbaa") * (1 << 18)


def test_memory_changes_when_the_unit_is_done(console: Console) -> None:
    console.gpu.memory.write(FCRAM, b"\x11" * 4096)
    console.copy(FCRAM, VRAM, 4096)
    assert not any(console.memory(VRAM, 4096))
    console.gpu.run_until("PPF")
    assert console.memory(VRAM, 4096) == b"\x11" * 4096


def test_memory_is_the_same_in_the_end_as_without_time() -> None:
    pictures = []
    for kind in ("instant", "emulated"):
        gpu = N3DS(timing=kind)
        gpu.memory.write(FCRAM, np.random.default_rng(1).bytes(1 << 18))
        writes = {
            "PSC0_START": VRAM >> 3, "PSC0_END": VRAM + 0x3000 >> 3, "PSC0_VALUE": 0x123456, "PSC0_CONTROL": 0x101,
            "PPF_INPUT_ADDRESS": FCRAM >> 3, "PPF_OUTPUT_ADDRESS": VRAM + 0x4000 >> 3, "PPF_FLAGS": 0x02001001,
            "PPF_OUTPUT_SIZE": 128 << 16 | 128, "PPF_INPUT_SIZE": 128 << 16 | 128, "PPF_CONTROL": 1,
        }  # fmt: skip
        for name, word in writes.items():
            gpu.write_register(EXTERNAL[name].address, word)
        gpu.finish()
        assert {"PSC0": 1, "PPF": 1}.items() <= gpu.take_interrupts().items()
        pictures.append(gpu.memory.read(VRAM, 0x20000))
    assert pictures[0] == pictures[1] and any(pictures[0])


@pytest.mark.parametrize("width, size", [(0, 2), (1, 3), (2, 4), (3, 3)])
def test_starting_again_aborts_a_fill(console: Console, width: int, size: int) -> None:
    gpu = console.gpu
    console.fill(0, FCRAM, 1 << 20, 0x44332211, width)
    gpu.advance(timing.UNIT_LATENCY + 8000)  # 64,000 bytes at 16 bytes in two cycles
    console.fill(0, VRAM, 4096, 0x55555555)
    pattern = bytes.fromhex("11223344")[:size]
    done = 64_000 // 48 * 48
    assert console.memory(FCRAM, 1 << 20) == (pattern * (1 << 19))[:done] + bytes((1 << 20) - done)
    gpu.run_until("PSC0")
    assert console.memory(VRAM, 4096) == b"\x55" * 4096
    assert gpu.take_interrupts()["PSC0"] == 1, "the aborted fill raises none"
    assert [event.id for event in gpu.events] == ["fill.aborted"]
    assert console.get("TRAFFIC_PSC0_WRITE") == done + 4096


def test_a_fill_goes_on_when_other_bits_are_written(console: Console) -> None:
    console.fill(0, FCRAM, 1 << 16, 5)
    console.set(PSC0_CONTROL=0x200, PSC0_START=VRAM >> 3)
    assert console.get("PSC0_CONTROL") & 1
    assert console.gpu.run_until("PSC0")
    assert console.memory(FCRAM, 4) == b"\x05\0\0\0"
    assert not any(console.memory(VRAM, 64))


def test_both_fills_run_at_once(console: Console) -> None:
    console.fill(0, FCRAM, 1 << 18, 1)
    console.fill(1, VRAM, 1 << 16, 2)
    order: list[str] = []
    console.gpu.on_interrupt(lambda name, count: order.append(name))
    console.gpu.finish()
    assert order == ["PSC1", "PSC0"]


def test_a_transfer_that_is_started_twice_runs_once(console: Console) -> None:
    console.copy(FCRAM, VRAM, 1 << 16)
    console.set(PPF_CONTROL=1)
    console.gpu.finish()
    assert console.gpu.take_interrupts()["PPF"] == 1
    assert [event.id for event in console.gpu.events] == ["transfer.busy"]


def test_a_transfer_does_what_was_asked_when_it_started(console: Console) -> None:
    console.gpu.memory.write(FCRAM, b"\x22" * 64)
    console.copy(FCRAM, VRAM, 64)
    console.set(PPF_CONTROL=0, PPF_OUTPUT_ADDRESS=VRAM + 0x1000 >> 3)
    assert console.get("PPF_CONTROL") == 1
    console.gpu.finish()
    assert console.memory(VRAM, 64) == b"\x22" * 64
    assert not any(console.memory(VRAM + 0x1000, 64))


def test_a_transfer_that_never_ends_stays_busy(console: Console) -> None:
    console.copy(FCRAM, VRAM, 0)
    assert not console.gpu.run_until("PPF", limit=10_000_000)
    assert console.gpu.at_work("PPF")
    assert console.get("PPF_CONTROL") & 1
    assert [event.kind for event in console.gpu.events] == ["hang"]
    console.gpu.finish()  # and nobody waits for it


def test_video_memory_is_faster(console: Console) -> None:
    times = []
    for source, target in ((FCRAM, FCRAM + 0x400000), (FCRAM, VRAM), (VRAM, VRAM + 0x100000)):
        start = console.gpu.time
        console.copy(source, target, 1 << 20)
        console.gpu.run_until("PPF")
        times.append(console.gpu.time - start)
    assert times[0] > 5 * times[1] > 5 * times[2]
    assert times[0] == pytest.approx(timing.CPU_CLOCK / 450, rel=0.01)


def test_resetting_stops_what_is_at_work_or_hangs(console: Console) -> None:
    console.copy(FCRAM, VRAM, 0)
    console.gpu.finish()
    for start in (STARTS["P3D"], STARTS["PSC0"], STARTS["PSC1"]):
        start(console)
    console.gpu.advance(timing.UNIT_LATENCY + 96 // 8)
    assert console.gpu.gsp.reset_gpu_core() == 0
    assert not any(console.gpu.at_work(unit) for unit in STARTS)
    assert console.memory(FCRAM, 112) == b"\x01\0\0\0" * 24 + LIST[96:112]
    console.gpu.take_interrupts()
    console.gpu.advance(10_000_000)
    assert not {"PSC0", "PSC1", "PPF", "P3D"} & set(console.gpu.take_interrupts())
    console.copy(FCRAM, VRAM, 64)
    assert console.gpu.run_until("PPF")


# -- lists ------------------------------------------------------------------------------------------------------------


def test_a_list_takes_time_by_its_words(console: Console) -> None:
    times = []
    for count in (1000, 2000):
        data = struct.pack("<2I", 7, 0x000F0100) * count + FINISH
        start = console.gpu.time
        console.run_list(FCRAM, data)
        assert console.gpu.run_until("P3D")
        times.append(console.gpu.time - start)
    assert times[1] - times[0] == pytest.approx(1000 * 22e-9 * timing.CPU_CLOCK, rel=0.01)


def test_reading_the_core_waits_for_the_list(console: Console) -> None:
    console.run_list(FCRAM)
    assert console.get("IRQ_CMP0") == 0x12345678 and console.gpu.at_work("P3D"), "this one does not wait"
    assert console.get("CMDBUF_JUMP0") == 0
    assert not console.gpu.at_work("P3D")
    assert console.gpu.take_interrupts()["P3D"] == 1


def test_reading_the_core_at_once() -> None:
    console = Console(external__core_reads="at-once")
    console.run_list(FCRAM)
    assert console.get("CMDBUF_JUMP0") == 1 and console.gpu.at_work("P3D")
    console.gpu.run_until("P3D")
    assert console.get("CMDBUF_JUMP0") == 0


def test_a_list_waits_for_the_one_before(console: Console) -> None:
    console.run_list(FCRAM)
    start = console.gpu.time
    console.run_list(FCRAM + 0x10000)
    assert console.gpu.time > start
    assert console.gpu.take_interrupts() == {"P3D": 1}
    console.gpu.finish()
    assert console.gpu.take_interrupts() == {"P3D": 1}


def test_words_given_in_have_run_when_the_call_returns(console: Console) -> None:
    start = console.gpu.time
    assert console.gpu.submit([7, 0x000F0100] * 50 + [0x12345678, 0x000F0010])
    assert console.gpu.time > start
    assert console.gpu.take_interrupts() == {"P3D": 1}
    assert not console.gpu.at_work("P3D")


# -- time -------------------------------------------------------------------------------------------------------------


def test_time_stands_still_by_default() -> None:
    gpu = N3DS()
    assert (gpu.timing, gpu.time) == ("instant", 0)
    for call in (lambda: gpu.advance(1), lambda: gpu.run_until("PSC0"), lambda: gpu.position("top")):
        with pytest.raises(UsageError, match="time stands still"):
            call()
    gpu.read_register(EXTERNAL["STATUS"].address)
    assert gpu.time == 0
    with pytest.raises(UsageError):
        N3DS(timing="real")


def test_time_goes_forward_only(console: Console) -> None:
    with pytest.raises(UsageError):
        console.gpu.advance(-1)
    console.gpu.advance(0)
    with pytest.raises(UsageError, match="no interrupt 'DMA'"):
        console.gpu.run_until("DMA")
    with pytest.raises(UsageError):
        console.gpu.run_until("PSC0", limit=-1)
    assert console.gpu.time == 0
    with pytest.raises(UsageError):
        console.gpu.position("left")
    console.gpu.on_interrupt(lambda name, count: console.gpu.advance(1))
    with pytest.raises(UsageError):
        console.gpu.step_vblank()


def test_a_listener_may_read_and_start_units(console: Console) -> None:
    told: list[tuple[str, int]] = []

    def listen(name: str, count: int) -> None:
        told.append((name, console.get("PSC0_CONTROL")))
        if name == "PSC0" and len(told) < 3:
            console.fill(0, FCRAM, 4096, len(told))

    console.gpu.on_interrupt(listen)
    console.fill(0, FCRAM, 4096, 9)
    console.gpu.finish()
    assert told == [("PSC0", 0x202)] * 3
    assert console.memory(FCRAM, 4) == b"\x02\0\0\0"


def test_frames_count_vblanks_of_the_top_screen(console: Console) -> None:
    for n in range(1, 4):
        console.gpu.step_vblank()
        assert console.gpu.frame == n
    assert console.gpu.take_interrupts() == {"PDC0": 3, "PDC1": 3}
    console.set(PDC0_CONTROL=0, PDC1_CONTROL=0)
    start = console.gpu.time
    console.gpu.step_vblank()
    assert console.gpu.time - start == timing.FRAME_CYCLES


def test_a_machine_switched_off_and_on_begins_at_0(console: Console) -> None:
    console.fill(0, FCRAM, 1 << 20, 1)
    console.gpu.step_vblank()
    console.gpu.reset()
    assert (console.gpu.timing, console.gpu.time, console.gpu.frame) == ("emulated", 0, 0)
    assert console.gpu.position("top") == (0, 0)
    assert not console.gpu.at_work("PSC0")
    console.gpu.step_vblank()
    assert console.gpu.take_interrupts() == {"PDC0": 1, "PDC1": 1}
    assert console.gpu.frame == 1


# -- gsp --------------------------------------------------------------------------------------------------------------


def test_gsp_hears_of_units_when_they_are_done(console: Console) -> None:
    gsp = console.gpu.gsp
    client = gsp.register_interrupt_relay_queue().client
    gsp.acquire_right(client)
    queue = gsp.shared.interrupts(client)
    fill = [2, 0x1F000000, 7, 0x1F010000, 0, 0, 0, 0x201]
    assert gsp.gx(fill) == 0
    assert queue["count"] == 0
    assert gsp.gx(fill) != 0, "the unit is busy"
    console.gpu.run_until("PSC0")
    assert queue.drain() == ["PSC0"]
    assert gsp.gx(fill) == 0


def test_gsp_refuses_what_a_list_at_work_keeps_busy(console: Console) -> None:
    """A second list always; other commands if their bit 24 asks for idle units."""
    gpu, gsp = console.gpu, console.gpu.gsp
    gsp.acquire_right(gsp.register_interrupt_relay_queue().client)
    command = [1, 0x30000000, len(LIST), 0, 0, 0, 0, 0]
    fill, copy = [2, 0x1F000000, 7, 0x1F010000, 0, 0, 0, 0x201], [4, 0x1F000000, 0x30100000, 64, 0, 0, 8, 0]
    dma = [0, 0x1F000000, 0x30200000, 64, 0, 0, 0, 0]
    console.run_list(FCRAM)
    assert gpu.at_work("P3D")
    assert gsp.gx(command) == BUSY
    for words in (command, fill, copy, dma):
        assert gsp.gx([words[0] | 1 << 24, *words[1:]]) == BUSY, words[0]
        assert not gpu.at_work("PSC0") and not gpu.at_work("PPF")
    assert gsp.gx(fill) == gsp.gx(copy) == gsp.gx(dma) == 0, "they use other units"
    gpu.run_until("P3D")
    gpu.run_until("PSC0")
    assert not any(gpu.at_work(unit) for unit in ("P3D", "PSC0", "PPF"))
    assert gsp.gx([command[0] | 1 << 24, *command[1:]]) == 0
    assert gpu.at_work("P3D")


def test_gsp_shows_framebuffers_at_the_vblank_of_their_screen(console: Console) -> None:
    gpu, gsp = console.gpu, console.gpu.gsp
    gpu.memory.write(VRAM, b"\x10" * 400 * 720)
    gpu.memory.write(VRAM + 0x100000, b"\x20" * 320 * 720)
    client = gsp.register_interrupt_relay_queue().client
    gsp.acquire_right(client)
    infos = [gsp.shared.framebuffer(client, screen) for screen in range(2)]
    infos[0].present([0, 0x1F000000, 0x1F000000, 720, 0x341, 0, 0])
    infos[1].present([0, 0x1F100000, 0, 720, 0x301, 0, 0])
    assert gpu.run_until("PDC0")
    assert [info["flag"] & 1 for info in infos] == [0, 1], "the bottom screen's VBlank comes two lines later"
    assert gpu.run_until("PDC1")
    assert infos[1]["flag"] & 1 == 0
    gpu.step_vblank()
    assert (gpu.screens["top"].array == 0x10).all()
    assert (gpu.screens["bottom"].array == 0x20).all()


def test_gsp_sets_the_timing_of_the_top_screens_mode(console: Console) -> None:
    gsp, mode = console.gpu.gsp, console.gpu.display_mode
    for form, number, lines in ((0x321, 2, 828), (0x301, 1, 828), (0x341, 0, 414), (0x361, 2, 828)):
        assert gsp.set_buffer_swap(0, [0, 0x1F000000, 0x1F000000, 720, form, 0, 0]) == 0
        assert (mode("top").gsp_mode, mode("top").lines) == (number, lines)
        assert mode("top").refresh == pytest.approx(59.8312, abs=1e-3)
