"""A guest can't hurt the host: whatever it writes, the machine comes to an end, reports it,
and writes guest memory only.

Each hostile act is a function that loads memory and writes registers. It is tried on a machine in this process, where
the areas around the guest's memory are looked at, and all of them together as a capture from the command line.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

from pocketgpu.builder import Buffer, CaptureBuilder, CommandList
from pocketgpu.errors import PocketGPUError
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.pica.front import batch
from pocketgpu.pica.n3ds import N3DS

LIST, DATA, VRAM, FCRAM_END = 0x20000000, 0x20100000, 0x18000000, 0x28000000
COLOR, DEPTH = VRAM, VRAM + 0x300000
FINAL = (0x12345678, 0x000F0010)
MOV, DP4, END, NOP = 0x13, 0x02, 0x22 << 26, 0x21 << 26
PLAIN_DESCRIPTOR = 0xF | 0x1B << 5 | 0x1B << 14 | 0x1B << 23
# What no act may take, even on a busy machine. None comes close.
PATIENCE = 60.0


class Sink(Protocol):
    """Where hostile acts go: a machine, or a capture being made."""

    def load(self, address: int, data: bytes, /) -> Any: ...

    def write_word(self, address: int, word: int, /) -> Any: ...


class Guest:
    """A machine, and the areas that nobody may write."""

    def __init__(self, **options: Any) -> None:
        self.n3ds = N3DS(**options)
        self.memory = self.n3ds.memory

    def load(self, address: int, data: bytes) -> None:
        self.memory.write(address, data)

    def write_word(self, address: int, word: int) -> None:
        self.n3ds.write_registers(np.array([address & ~3], np.uint32), np.array([word], np.uint32))

    @property
    def ids(self) -> set[str]:
        return {event.id for event in self.n3ds.events}

    def check(self) -> None:
        """Nothing outside guest memory has changed, nor anything inside without its page being marked."""
        memory = self.memory
        first = memory.regions[0][1]
        assert not memory.arena[:first].any(), "something wrote below the guest's memory"
        assert not memory.arena[memory.guest_end : memory.work_offset].any(), (
            "something wrote past the guest's memory"
        )
        untouched = np.flatnonzero(memory.page_versions == 0)
        pages = memory.arena[: memory.guest_end].reshape(-1, 4096).view(np.uint64)
        for part in np.array_split(untouched, 64):
            assert not pages[part].any(), "something wrote without marking the page"
        assert len(self.n3ds.events) <= 1001


@pytest.fixture
def guest() -> Guest:
    return Guest()


def start(to: Sink, address: int, size: int, channel: int = 0) -> None:
    """Start the list at an address."""
    to.write_word(0x10401000, 0)
    to.write_word(0x104018E0 + 4 * channel, size >> 3)
    to.write_word(0x104018E8 + 4 * channel, address >> 3)
    to.write_word(0x104018F0 + 4 * channel, 1)


def words(*values: int) -> bytes:
    return np.array(values, np.uint64).astype("<u4").tobytes()


def run(to: Sink, data: bytes, address: int = LIST) -> None:
    """Load a list and start it."""
    to.load(address, data)
    start(to, address, len(data) & ~15)


def scene(width: int = 64, height: int = 64) -> CommandList:
    """A tidy state: position and colour, both of four floats, straight through."""
    cl = CommandList().plain_state().render_target(COLOR, width, height, depth=DEPTH)
    cl.upload_code([MOV << 26, MOV << 26 | 1 << 21 | 1 << 12, END]).upload_descriptors([PLAIN_DESCRIPTOR])
    cl.write("VSH_ENTRYPOINT").write_word("VSH_OUTMAP_MASK", 3).write_word("SH_OUTMAP_TOTAL", 2)
    cl.write_words("SH_OUTMAP_O0", [0x03020100, 0x0B0A0908])
    return cl.attributes(Buffer(DATA, [("f32", 4), ("f32", 4)]))


FULL = np.array([(-1, -1, -0.5, 1), (3, -1, -0.5, 1), (-1, 3, -0.5, 1)], np.float32)


def vertices(positions: np.ndarray, color: Sequence[float] = (1, 0.5, 0.25, 1)) -> bytes:
    tinted = np.broadcast_to(np.array(color, np.float32), (len(positions), 4))
    return np.concatenate([np.asarray(positions, np.float32), tinted], axis=1).tobytes()


def draw(to: Sink, cl: CommandList, positions: np.ndarray = FULL, count: int | None = None) -> None:
    to.load(DATA, vertices(positions))
    run(to, cl.draw_arrays(len(positions) if count is None else count).finalize().tobytes())


# -- lists ------------------------------------------------------------------------------------------------------------


def jump(address: int, size: int, channel: int = 0) -> bytes:
    """A list of 32 bytes that goes on at an address."""
    return words(
        size >> 3, 0x000F0238 + channel, address >> 3, 0x000F023A + channel, 0, 0x00000000, 1, 0x000F023C + channel
    )


def list_that_jumps_to_itself(to: Sink) -> None:
    run(to, jump(LIST, 32))


def two_lists_that_jump_to_each_other(to: Sink) -> None:
    to.load(LIST + 0x1000, jump(LIST, 32, 1))
    run(to, jump(LIST + 0x1000, 32))


def list_that_draws_and_jumps_to_itself(to: Sink) -> None:
    to.load(DATA, vertices(FULL))
    data = bytearray(scene(8, 8).draw_arrays(3).tobytes())
    data += words(0, 0) * (len(data) // 8 % 2)
    data += jump(LIST, len(data) + 32)
    run(to, bytes(data))


def jump_outside_memory(to: Sink) -> None:
    for address in (0, 0x10400000, 0x17FFFFF0, 0x18600000, FCRAM_END, 0xFFFFFFF0):
        run(to, jump(address, 64))


def jump_across_the_end_of_memory(to: Sink) -> None:
    run(to, jump(FCRAM_END - 16, 64))
    run(to, jump(LIST, 0xFFFFF8))


def list_outside_memory(to: Sink) -> None:
    for address, size in (
        (0, 64),
        (0x18600000 - 16, 32),
        (FCRAM_END - 16, 32),
        (0x7FFFFFF0, 16),
        (LIST, 0xFFFFF8),
        (0xFFFFFFF0, 64),
    ):
        start(to, address, size)
        start(to, address, size, 1)


def list_of_no_size(to: Sink) -> None:
    for size in (0, 8):
        start(to, LIST, size)


def entry_cut_off_by_the_end(to: Sink) -> None:
    run(to, words(0, 0x8FFF0200, 1, 2), FCRAM_END - 16)
    run(to, words(1, 0x80FF0081, 2, 3, 4, 5, 6, 7))
    run(to, words(1, 0x0FFF02C1) * 2)


def masks_and_ids_of_every_kind(to: Sink) -> None:
    run(to, words(*(v for n in range(0, 0x10000, 37) for v in (n * 0x10001, n | (n % 16) << 16)), *FINAL * 2))


# -- units ------------------------------------------------------------------------------------------------------------


def ppf(to: Sink, **registers: int) -> None:
    for name, value in {**registers, "CONTROL": 1}.items():
        to.write_word(EXTERNAL[f"PPF_{name}"].address, value)


def transfers_of_no_size(to: Sink) -> None:
    ppf(to, INPUT_ADDRESS=VRAM >> 3, OUTPUT_ADDRESS=VRAM + 0x100000 >> 3, INPUT_SIZE=0, OUTPUT_SIZE=0, FLAGS=0)
    for flags in (4, 0x22, 0x02000001):
        ppf(to, INPUT_SIZE=0, OUTPUT_SIZE=0x00080008, FLAGS=flags)
        ppf(to, INPUT_SIZE=0x00080008, OUTPUT_SIZE=0x00080000, FLAGS=flags)
    ppf(to, FLAGS=8, COPY_SIZE=0, COPY_INPUT=0, COPY_OUTPUT=0)
    ppf(to, FLAGS=8, COPY_SIZE=64, COPY_INPUT=0x10000, COPY_OUTPUT=0)


def transfers_of_absurd_size(to: Sink) -> None:
    to.load(FCRAM_END - 0x1000, b"\xff" * 0x1000)
    for flags in (0, 1, 2, 4, 5, 0x20, 0x22, 0x24, 0x26, 0x01000004, 0x02000007, 0x03014727):
        for size in (0xFFF8FFF8, 0x0008FFF8, 0xFFF80008, 0x00080008):
            for place in (VRAM, 0x18600000 - 256, FCRAM_END - 256, 0, 0xFFFFFFF0):
                ppf(
                    to,
                    INPUT_ADDRESS=FCRAM_END - 256 >> 3,
                    OUTPUT_ADDRESS=place >> 3,
                    INPUT_SIZE=8,
                    OUTPUT_SIZE=size,
                    FLAGS=flags,
                )


def copies_of_absurd_size(to: Sink) -> None:
    for size in (0xFFFFFFF0, 0x08000000, 0x00600000, 16):
        for line in (0, 0xFFFF0001, 0x0001FFFF, 0xFFFFFFFF, 0x00010000):
            for place in (VRAM, 0x18600000 - 16, FCRAM_END - 16, 0x1FF00000, 0):
                ppf(
                    to, INPUT_ADDRESS=place >> 3, OUTPUT_ADDRESS=VRAM >> 3, FLAGS=8, COPY_SIZE=size, COPY_INPUT=line,
                    COPY_OUTPUT=line,
                )  # fmt: skip


def fills_outside_memory(to: Sink) -> None:
    for first, last in (
        (0, 0xFFFFFFF0),
        (0x18600000 - 16, 0x18600010),
        (FCRAM_END - 16, FCRAM_END + 16),
        (0x17FFFFF0, 0x18000010),
    ):
        for unit in range(2):
            for width in range(4):
                base = 0x10400010 + 16 * unit
                for offset, value in ((0, first >> 3), (4, last >> 3), (8, 0xFFFFFFFF), (12, 1 | width << 8)):
                    to.write_word(base + offset, value)


def screens_of_absurd_shape(to: Sink) -> None:
    for unit in range(2):
        base = 0x10400400 + 0x100 * unit
        for offset, value in (
            (0x5C, 0xFFFFFFFF), (0x68, 0x185FFFF0), (0x6C, 0xFFFFFFFF), (0x94, 0), (0x98, 0x27FFFFFF), (0x70,
            0xFFFFFFFF),
            (0x90, 0x80000000), (0x78, 0xFFFFFFFF), (0x84, 0x12345678), (0x80, 0xFFFFFFFF),
        ):  # fmt: skip
            to.write_word(base + offset, value)


# -- draws ------------------------------------------------------------------------------------------------------------


def textures_of_absurd_shape(to: Sink) -> None:
    to.load(DATA, vertices(FULL))
    for i, (width, height) in enumerate(((0, 0), (2047, 2047), (1, 2047), (8, 1), (13, 5), (1024, 1024))):
        for address in (0, 0x185FFFC0, FCRAM_END - 64, 0x7FFFFFF8, VRAM):
            cl = scene(16, 16)
            cl.write_words(
                "TEXUNIT0_BORDER_COLOR", [0xFFFFFFFF, width << 16 | height, 0x7777 | i << 28, 0x0F0F1000, address >> 3]
            )
            cl.write_words("TEXUNIT0_ADDR2", [0x3FFFFF] * 5).write_word("TEXUNIT0_TYPE", i * 3 % 16)
            cl.write_word("TEXUNIT_CONFIG", 0x1007).write_word("TEXENV0_SOURCE", 0x00030003)
            run(to, cl.draw_arrays(3).finalize().tobytes())


def targets_of_absurd_shape(to: Sink) -> None:
    for size in (0, 7 | 1023 << 12, 0xFFFFFFFF, 8, 2047 | 1023 << 12, 0x01000000 | 2040):
        for color, depth in (
            (COLOR, DEPTH),
            (0, 0),
            (0x185FFFC0, DEPTH),
            (COLOR, FCRAM_END - 64),
            (0x7FFFFFC0, 0x7FFFFFC0),
        ):
            cl = scene().write_word("FRAMEBUFFER_DIM", size)
            cl.write_word("COLORBUFFER_LOC", color >> 3).write_word("DEPTHBUFFER_LOC", depth >> 3)
            cl.write_word("SCISSORTEST_MODE", 3).write_word("SCISSORTEST_POS", 0).write_word(
                "SCISSORTEST_DIM", 0x000F000F
            )
            draw(to, cl.depth("always"))


def vertices_that_are_no_numbers(to: Sink) -> None:
    random = np.random.default_rng(1)
    bits = random.integers(0, 1 << 32, (300, 4), np.uint64).astype(np.uint32)
    special = np.array(
        [0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF, 0xFF7FFFFF, 1, 0x80000000, 0x00800000], np.uint32
    )
    mask = random.random(bits.shape) < 0.5
    bits[mask] = random.choice(special, mask.sum())
    draw(to, scene(), bits.view(np.float32))


def more_vertices_than_there_are(to: Sink) -> None:
    to.load(DATA, vertices(FULL))
    run(to, scene(16, 16).draw_arrays(0xFFFFFFFF).finalize().tobytes())
    run(to, scene(16, 16).draw_arrays(300, first=0xFFFFFFF0).finalize().tobytes())
    run(to, scene(16, 16).draw_elements(0xFFFFFFFF, DATA).finalize().tobytes())


def vertices_outside_memory(to: Sink) -> None:
    for address in (FCRAM_END - 64, 0x185FFFF0, 0x17FFFFF0, 0x7FFFFFF0):
        cl = scene(16, 16).attributes(Buffer(address, [("f32", 4), ("f32", 4)]))
        run(to, cl.draw_arrays(300).finalize().tobytes())
        cl = scene(16, 16).write_word("ATTRIBBUFFERS_LOC", 0xFFFFFFFF).write_word("INDEXBUFFER_CONFIG", 0x8FFFFFFF)
        cl.write_word("NUMVERTICES", 300).write_word("DRAWELEMENTS", 1)
        run(to, cl.finalize().tobytes())


def viewports_without_bounds(to: Sink) -> None:
    for bits in (0x7F0000, 0xFF0000, 0x7F0001, 0x7EFFFF, 0xFEFFFF, 0, 1, 0x800000, 0x4F0000):
        for corner in (0x02000200, 0x01FF01FF, 0):
            cl = scene().write_word("VIEWPORT_WIDTH", bits).write_word("VIEWPORT_HEIGHT", bits ^ 0x800000)
            cl.write_word("VIEWPORT_XY", corner).write_word("DEPTHMAP_SCALE", bits).write_word("DEPTHMAP_OFFSET", bits)
            draw(to, cl.write_word("DEPTHMAP_ENABLE", bits & 1).depth("always"))


# -- programs ---------------------------------------------------------------------------------------------------------


def program(to: Sink, *code: int) -> None:
    """Draw with a vertex program; an END is not added."""
    cl = scene(16, 16).upload_code([*code, *[NOP] * (512 - len(code))]).write_word("VSH_BOOLUNIFORM", 0x7FFFFFFF)
    cl.write_words("VSH_INTUNIFORM_I0", [0x00FF00FF, 0x01FF01FF, 0xFFFFFFFF, 0x000000FF])
    draw(to, cl)


def flow(code: int, target: int, count: int = 0, extra: int = 0) -> int:
    return code << 26 | extra << 22 | target << 10 | count


CALL, CALLU, IFU, LOOP, JMPC, JMPU, BREAK, BREAKC = 0x24, 0x26, 0x27, 0x29, 0x2C, 0x2D, 0x20, 0x23


def program_that_jumps_to_itself(to: Sink) -> None:
    program(to, flow(JMPU, 0), END)
    program(to, flow(JMPC, 0, extra=0xC), flow(JMPC, 0), END)


def program_that_calls_itself(to: Sink) -> None:
    program(to, flow(CALL, 0, 5), END)
    program(to, MOV << 26, flow(CALL, 0, 2), flow(CALLU, 1, 1), flow(CALL, 4095, 255), END)


def program_of_nested_loops(to: Sink) -> None:
    """256 rounds in each of four levels, and more levels than there are."""
    program(to, *(flow(LOOP, 20) for _ in range(8)), *[MOV << 26] * 13, END)
    program(to, flow(LOOP, 0, extra=0), flow(LOOP, 1, extra=2), flow(LOOP, 0), END)


def programs_without_an_end(to: Sink) -> None:
    program(to)
    program(to, flow(BREAK, 0), flow(BREAKC, 0), END)
    program(to, flow(IFU, 4095, 255), flow(IFU, 0, 0), flow(JMPU, 511), END)
    draw(to, scene(16, 16).write_word("VSH_ENTRYPOINT", 0xFFFFFFFF))


def program_of_conditions_that_repeat(to: Sink) -> None:
    compare = 0x2E << 26 | 4 << 24 | 2 << 21
    program(
        to, compare, flow(JMPC, 0, extra=0x3), flow(JMPC, 1, extra=0x1), flow(IFU, 0, 3), flow(JMPC, 2, extra=0x2), END
    )


ACTS: dict[Callable[[Sink], None], set[str]] = {
    list_that_jumps_to_itself: {"list.endless"}, two_lists_that_jump_to_each_other: {"list.endless"},
    list_that_draws_and_jumps_to_itself: {"list.endless"}, jump_outside_memory: {"list.unmapped-jump"},
    jump_across_the_end_of_memory: {"list.unmapped-jump"}, list_outside_memory: {"list.unmapped"},
    list_of_no_size: {"list.no-finalize"}, entry_cut_off_by_the_end: {"list.no-finalize"},
    masks_and_ids_of_every_kind: set(),
    transfers_of_no_size: {"transfer.fault", "transfer.hang"}, transfers_of_absurd_size: {"transfer.fault"},
    copies_of_absurd_size: {"transfer.fault", "transfer.hang"}, fills_outside_memory: {"fill.unmapped"},
    screens_of_absurd_shape: set(), textures_of_absurd_shape: {"texture.unmapped"},
    targets_of_absurd_shape: {"draw.left-out"},
    vertices_that_are_no_numbers: set(), more_vertices_than_there_are: {"vertex.unmapped"},
    vertices_outside_memory: {"vertex.unmapped"}, viewports_without_bounds: set(),
    program_that_jumps_to_itself: {"shader.endless"},
    program_that_calls_itself: set(), program_of_nested_loops: set(), programs_without_an_end: set(),
    program_of_conditions_that_repeat: set(),
}  # fmt: skip


@pytest.mark.parametrize("act", ACTS, ids=lambda f: f.__name__)
def test_act_ends_is_reported_and_stays_inside(guest: Guest, act: Callable[[Sink], None]) -> None:
    started = time.monotonic()
    act(guest)
    assert time.monotonic() - started < PATIENCE
    for screen in guest.n3ds.screens.values():
        assert screen.array.dtype == np.uint8
    assert ACTS[act] <= guest.ids
    assert all(event.kind in ("warning", "fault", "hang") and event.message for event in guest.n3ds.events)
    guest.check()
    # The machine still works.
    guest.n3ds.events.clear()
    guest.load(COLOR, bytes(16 * 16 * 4))
    draw(guest, scene(16, 16))
    assert guest.memory.read(COLOR, 4) == b"\xff\x40\x80\xff"
    assert guest.ids == set()


def test_all_acts_from_the_command_line(tmp_path: Path, run_program: Callable[..., Any]) -> None:
    """One frame an act: exit code 0, JSON with the warnings, no traceback."""
    capture = CaptureBuilder()
    for act in ACTS:
        act(capture)
        capture.end_frame()
    capture.save(tmp_path / "hostile.ctf.xz")
    done: subprocess.CompletedProcess[str] = run_program(
        "render",
        "hostile.ctf.xz",
        "--out",
        "out",
        "--frames",
        f"{len(ACTS) - 1}-{len(ACTS) - 1}",
        "--json",
        timeout=300,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
    found = {warning["id"] for warning in json.loads(done.stdout)["warnings"]}
    assert found >= set().union(*ACTS.values())


# -- budgets ----------------------------------------------------------------------------------------------------------


def test_thousands_of_full_screen_triangles_end_at_the_budget(guest: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is lowered, so that the test is short: far fewer pixels than asked for, and an event."""
    monkeypatch.setattr(batch, "PIXEL_BUDGET", 1 << 22)
    draw(guest, scene(512, 512), np.tile(FULL, (6000, 1)))
    assert guest.ids == {"list.endless"}
    assert guest.n3ds.stats.fragments < 1 << 28
    guest.check()


def test_many_full_screen_draws_in_one_list_end_at_the_budget(guest: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "PIXEL_BUDGET", 1 << 22)
    guest.load(DATA, vertices(FULL))
    cl = scene(512, 512)
    for _ in range(3000):
        cl.write_word("RESTART_PRIMITIVE", 1).draw_arrays(3)
    run(guest, cl.finalize().tobytes())
    assert "list.endless" in guest.ids
    assert guest.n3ds.stats.draws < 3000


def test_programs_that_stay_just_below_the_step_limit_end_at_a_budget() -> None:
    """251 times 251 rounds for each of a million vertices would take half a minute, and much longer if interpreted.

    The budget is counted by the same function in both tiers of code (pica/shader/test_limits.py).
    """
    guest = Guest(tier="specialised")
    code = [flow(LOOP, 3), flow(LOOP, 2), MOV << 26, NOP, END]
    cl = scene(16, 16).upload_code(code).write_words("VSH_INTUNIFORM_I0", [250])
    draw(guest, cl, count=1 << 20)
    assert "shader.endless" in guest.ids


# -- random guests ----------------------------------------------------------------------------------------------------

# Addresses near every border, in units of bytes.
PLACES = [
    0,
    0x18000000,
    0x185FFFC0,
    0x18600000,
    0x1FF00000,
    0x1FFFFFC0,
    0x20000000,
    0x27FFFFC0,
    0x28000000,
    0x3FFFFFC0,
    0x7FFFFFF8,
]


def word(random: np.random.Generator) -> int:
    """A random word of a kind that registers hold: an address, a small number, a bit pattern."""
    kind = int(random.integers(0, 6))
    if kind == 0:
        return int(random.choice(PLACES)) + int(random.integers(0, 0x200)) >> 3
    if kind == 1:
        return int(random.integers(0, 0x20))
    if kind == 2:
        return int(random.integers(0, 64)) * 8 << 16 | int(random.integers(0, 64)) * 8
    if kind == 3:
        return 1 << int(random.integers(0, 32))
    if kind == 4:
        return int(random.choice([0, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x7F800000]))
    return int(random.integers(0, 1 << 32))


def test_random_external_writes(guest: Guest) -> None:
    """4000 writes, a fixed seed: units start again and again with whatever their registers hold."""
    random = np.random.default_rng(3)
    registers = [r.address for r in EXTERNAL]
    units = [r.address for r in EXTERNAL if r.name.startswith(("PSC", "PPF", "PDC"))]
    for i in range(4000):
        address = int(random.choice(units if i % 4 else registers))
        if i % 53 == 0:
            address = int(random.integers(0, 1 << 32))
        elif i % 17 == 0:
            address = 0x10401000 + 4 * int(random.integers(0, 0x400))
        guest.write_word(address, word(random))
        guest.n3ds.read_register(address)
    _ = guest.n3ds.screens
    guest.n3ds.step_vblank()
    guest.check()


def test_random_lists(guest: Guest) -> None:
    """300 lists of random words, straight and through guest memory."""
    random = np.random.default_rng(4)
    for i in range(300):
        data = random.integers(0, 1 << 32, int(random.integers(1, 400)), np.uint64).astype(np.uint32)
        if i % 2:
            # headers that hit registers more often than not
            data[1::2] = data[1::2] & 0x80FF03FF | 0x000F0000
        if i % 3:
            guest.n3ds.submit(data)
        else:
            run(guest, data.tobytes(), FCRAM_END - (len(data) * 4 & ~15) - 16)
    guest.check()


def test_random_states_around_a_draw(guest: Guest) -> None:
    """A tidy draw with a dozen registers gone wrong; 60 times."""
    random = np.random.default_rng(5)
    guest.load(DATA, vertices(np.random.default_rng(0).uniform(-1.5, 1.5, (30, 4)) * [1, 1, -0.5, 0] + [0, 0, -0.4, 1]))
    reported: set[str] = set()
    for _ in range(60):
        cl = scene(32, 32)
        for _ in range(12):
            number = int(
                random.choice(
                    [
                        *range(0x40, 0x70),
                        *range(0x80, 0x130),
                        *range(0x1C0, 0x1DA),
                        *range(0x200, 0x260),
                        *range(0x2B0, 0x2E0),
                    ]
                )
            )
            if number in (0x23C, 0x23D, 0x228, 0x22E, 0x22F, 0x229):
                continue
            cl.write_word(number, word(random))
        cl.write_word("RESTART_PRIMITIVE", 1).write_word("NUMVERTICES", 30)
        cl.write_word("DRAWARRAYS", 1).write_word("DRAWELEMENTS", 1)
        try:
            run(guest, cl.finalize().tobytes())
        except PocketGPUError:  # the only exception that may come out
            reported.add("error")
        reported |= guest.ids
    guest.check()
    assert "error" not in reported  # a guest's doing is an event, not an exception


def test_random_programs(guest: Guest) -> None:
    """40 programs of random instructions, half of them full of jumps, calls, loops and conditions."""
    random = np.random.default_rng(6)
    opcodes = [*range(0x10), 0x12, 0x13, 0x18, 0x19, 0x1A, 0x1B, *range(0x20, 0x40)]
    control = [0x20, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2C, 0x2D]
    for i in range(40):
        size = int(random.integers(3, 40))
        code = []
        for _ in range(size):
            op = int(random.choice(control if i % 2 and random.random() < 0.5 else opcodes))
            bits = int(random.integers(0, 1 << 26))
            if 0x20 <= op < 0x2E:  # targets inside the program
                bits = bits & ~0x3FFCFF | int(random.integers(0, size)) << 10 | int(random.integers(0, 6))
            code.append(op << 26 | bits)
        cl = scene(16, 16).upload_code([*code, END]).write_word("VSH_BOOLUNIFORM", int(random.integers(0, 1 << 16)))
        cl.upload_descriptors(random.integers(0, 1 << 31, 128).tolist())
        cl.write_words("VSH_INTUNIFORM_I0", random.integers(0, 1 << 32, 4, np.uint64).tolist())
        cl.uniforms(0, random.uniform(-300, 300, (96, 4)))
        started = time.monotonic()
        draw(guest, cl)
        assert time.monotonic() - started < PATIENCE, i
    assert guest.ids <= {"shader.break", "shader.endless", "vertex.unmapped"}
    guest.check()


def test_memory_that_is_not_there_cannot_be_loaded() -> None:
    guest = Guest()
    for address, size in ((0, 4), (0x18600000 - 2, 4), (FCRAM_END, 1), (0xFFFFFFFC, 4), (0x1FEFFFFF, 2)):
        with pytest.raises(PocketGPUError):
            guest.n3ds.load_memory(address, bytes(size))
    guest.check()


def test_too_long_a_list_is_a_usage_error() -> None:
    with pytest.raises(PocketGPUError):
        Guest().n3ds.submit(np.zeros((4 << 20) // 4 + 2, np.uint32))
