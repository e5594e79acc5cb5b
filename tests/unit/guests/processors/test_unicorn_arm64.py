"""The processor of the Switch by itself: calls, budgets, the counter, what belongs to a thread. No kernel is there."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest

from pocketgpu.guests.kernel.memory import Area, Permission, host_memory
from pocketgpu.guests.kernel.processor import Stop, Wrong
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.processors.engine import Engine
from pocketgpu.guests.processors.unicorn_arm64 import UnicornArm64
from pocketgpu.guests.switch.abi import layout

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

CODE, DATA, TLS = 0x7100000000, 0x2100000000, 0x4000000000
NOP, ADD_X1_1, B_BACK_4 = 0xD503201F, 0x91000421, 0x17FFFFFF
MRS_X0_CNTPCT, MRS_X1_CNTVCT, MRS_X2_CNTPCT, MRS_X3_CNTFRQ = 0xD53BE020, 0xD53BE041, 0xD53BE022, 0xD53BE003
MRS_X4_TLS, MRS_XZR_CNTPCT, MRS_X29_CNTPCT = 0xD53BD064, 0xD53BE03F, 0xD53BE03D
B_NEXT = 0x14000001
MANY = 1 << 20


def svc(number: int) -> int:
    return 0xD4000001 | number << 5


class Bench:
    """A processor with a page of code and one of data."""

    def __init__(self, words: Sequence[int]) -> None:
        self.processor = UnicornArm64(layout.CLOCK, layout.COUNTER)
        self.code, self.data = host_memory(0x1000), host_memory(0x1000)
        self.put(0, words)
        read, write = Permission.READ, Permission.WRITE
        self.processor.mapped(Area(CODE, 0x1000, read | Permission.EXECUTE, "code", self.code))
        self.processor.mapped(Area(DATA, 0x1000, read | write, "data", self.data))
        self.threads = 0

    def put(self, at: int, words: Sequence[int]) -> None:
        struct.pack_into(f"<{len(words)}I", self.code, at, *words)

    def thread(self, at: int = 0, argument: int = 0) -> Thread:
        self.threads += 1
        thread = Thread(self.threads, 0x2C, TLS + 0x200 * self.threads)
        self.processor.start(thread, CODE + at, argument, DATA + 0x1000)
        return thread

    def run(self, thread: Thread, budget: int = MANY, now: int = 0) -> Stop:
        return self.processor.run(thread, budget, now)


def steps(tick: int) -> int:
    return tick * 19_200_000 // 1_020_000_000


def test_a_call_has_its_number_and_registers_of_64_bits() -> None:
    bench = Bench([svc(0x1234), svc(0x21)])
    thread = bench.thread(argument=0x123456789ABCDEF0)
    assert bench.run(thread) == Stop(1, 0x1234)
    assert thread.registers == [0x123456789ABCDEF0] + [0] * 7
    thread.answer = {0: 5, 1: 1 << 63, 20: 0x77, 30: 0xDEAD0000}
    assert bench.processor.registers(thread)["x20"] == 0x77, "before it goes on"
    assert bench.run(thread) == Stop(1, 0x21) and not thread.answer
    assert thread.registers[:2] == [5, 1 << 63]
    registers = bench.processor.registers(thread)
    assert (registers["x20"], registers["x30"], registers["pc"]) == (0x77, 0xDEAD0000, CODE + 8)
    assert registers["sp"] == DATA + 0x1000


def test_the_counter_is_the_kernels_time() -> None:
    code = [MRS_X0_CNTPCT, NOP, NOP, MRS_X1_CNTVCT, B_NEXT, MRS_X2_CNTPCT, MRS_X3_CNTFRQ, svc(1)]
    bench = Bench(code)
    for now in (0, 1_020_000_000, 7_777_777_777_777, 1 << 55):
        thread = bench.thread()
        assert bench.run(thread, now=now) == Stop(8, 1)
        assert thread.registers[:4] == [steps(now + 5), steps(now + 5), steps(now + 8), 19_200_000]


def test_counters_of_any_register_and_thread_local_storage() -> None:
    bench = Bench([MRS_XZR_CNTPCT, MRS_X29_CNTPCT, MRS_X4_TLS, svc(1)])
    thread = bench.thread()
    bench.run(thread, now=10**12)
    assert thread.registers[4] == thread.tls and bench.processor.registers(thread)["x29"] == steps(10**12 + 4)


def test_a_program_that_waits_for_the_counter_gets_on() -> None:
    compare, back = 0xEB06001F, 0x54FFFFC3  # cmp x0, x6; b.lo 2 before
    bench = Bench([MRS_X0_CNTPCT, compare, back, svc(1)])
    thread = bench.thread()
    thread.answer = {6: steps(10_000)}
    now, rounds = 0, 0
    while (stop := bench.run(thread, 1000, now)).call is None:
        now, rounds = now + stop.used, rounds + 1
    assert rounds == 9 and 10_000 - 60 <= now + stop.used <= 10_000 + 60


@pytest.mark.parametrize("budget", [1, 2, 7, 100, 1001])
def test_a_budget_ends_at_a_block(budget: int) -> None:
    """Blocks of two instructions; what was counted was executed."""
    bench = Bench([ADD_X1_1, B_BACK_4])
    thread = bench.thread()
    total = 0
    for _ in range(5):
        stop = bench.run(thread, budget)
        assert stop.call is None and stop.fault is None and budget <= stop.used <= budget + 1
        total += stop.used
    assert bench.processor.registers(thread)["x1"] == total // 2


def test_what_belongs_to_a_thread() -> None:
    """Conditions, d8 and FPCR are those of each thread, not of the one that ran before."""
    equal, to_d8, to_fpcr = 0xEB00001F, 0x9E670008, 0xD51B4400  # cmp x0, x0; fmov d8, x0; msr fpcr, x0
    is_equal, from_d8, from_fpcr = 0x9A9F17E1, 0x9E660102, 0xD53B4403  # cset x1, eq; fmov x2, d8; mrs x3, fpcr
    look = [is_equal, from_d8, from_fpcr, MRS_X4_TLS, svc(2)]
    bench = Bench([equal, to_d8, to_fpcr, svc(1), *look])
    one, other = bench.thread(argument=0x00C00000), bench.thread(at=16)
    assert bench.run(one).call == 1 and bench.run(other).call == 2 and bench.run(one).call == 2
    assert one.registers[1:5] == [1, 0x00C00000, 0x00C00000, one.tls]
    assert other.registers[1:5] == [0, 0, 0, other.tls] and one.tls != other.tls


def test_stores_are_watched() -> None:
    store, store_word = 0xF9000020, 0xB9000820  # str x0, [x1]; str w0, [x1, #8]
    bench = Bench([store, store_word, svc(1), store, svc(1)])
    thread = bench.thread()
    thread.answer = {1: DATA + 0x100}
    seen: list[tuple[int, int]] = []
    end = bench.processor.watch(
        DATA + 0x108, 8, lambda address: seen.append((address, bench.processor.registers(thread)["pc"]))
    )
    bench.run(thread)
    assert seen == [(DATA + 0x108, CODE + 4)]
    end()
    bench.run(thread)
    assert len(seen) == 1


def test_code_that_was_replaced_is_translated_again() -> None:
    bench = Bench([svc(1), svc(2)])
    thread = bench.thread()
    assert bench.run(thread).call == 1
    bench.processor.settle()
    kept = thread.context
    assert bench.run(thread).call == 2
    bench.put(0, [svc(1), svc(3)])
    thread.context = kept
    bench.processor.replaced()
    assert bench.run(thread).call == 3


def test_faults_name_what_where_and_the_instruction() -> None:
    load, pair, exclusive, jump = 0xF9400022, 0xA9400C22, 0xC85F7C22, 0xD61F0020  # ... x2, [x1]; br x1
    cases = {
        (load, 0x10): ("read of no memory", 0x10), (pair, 8): ("read of no memory", 8),
        (load, CODE - 8): ("read of no memory", CODE - 8), (exclusive, DATA + 1): ("misaligned access", DATA + 1),
        (0xF9000020, CODE): ("write that is not allowed", CODE), (0xF9000020, 0): ("write to no memory", 0),
        (7, 0): ("undefined instruction", CODE), (0xD4200060, 0): ("breakpoint", CODE),
        (0xD5381000, 0): ("undefined instruction", CODE), (0xD4000003, 0): ("undefined instruction", CODE),
        (0xD69F03E0, 0): ("undefined instruction", CODE), (0xD5181000, 0): ("undefined instruction", CODE),
    }  # fmt: skip
    for (word, value), (what, address) in cases.items():
        bench = Bench([word, svc(1)])
        thread = bench.thread()
        thread.answer = {1: value}
        fault = bench.run(thread).fault
        assert fault is not None and (fault.what, fault.address, fault.pc) == (what, address, CODE), hex(word)
        assert bench.processor.registers(thread).pc == CODE
    for target, what in ((0, "jump to no memory"), (DATA, "jump that is not allowed"), (CODE + 2, "misaligned jump"),
                         (0xFFFF_FFFF_FFFF_FFFC, "jump to no memory")):  # fmt: skip
        bench = Bench([jump])
        thread = bench.thread()
        thread.answer = {1: target}
        fault = bench.run(thread).fault
        assert fault is not None and (fault.what, fault.address, fault.pc) == (what, target, target)


def test_cache_instructions_and_hints_do_nothing() -> None:
    caches = [0xD50B7E21, 0xD50B7A21, 0xD50B7B21, 0xD50B7521, 0xD50B7421]  # dc civac, cvac, cvau; ic ivau; dc zva (x1)
    hints = [0xD503203F, 0xD503205F, 0xD503209F, 0xD5033F9F, 0xD5033FDF]  # yield, wfe, sev, dsb sy, isb
    who, block = 0xD53B0022, 0xD53B00E3  # mrs x2, ctr_el0; mrs x3, dczid_el0
    bench = Bench([*caches, *hints, who, block, svc(1)])
    bench.data[0x40:0xC0] = b"\xff" * 0x80
    thread = bench.thread()
    thread.answer = {1: DATA + 0x40}
    stop = bench.run(thread)
    assert stop.call == 1 and stop.used == 13
    assert thread.registers[2] == 0x8444C004 and thread.registers[3] == 4, "lines and blocks of 64 bytes"
    assert bytes(bench.data[0x40:0x81]) == bytes(64) + b"\xff"


def test_two_runs_stop_at_the_same_places() -> None:
    def places() -> list[tuple[int, int]]:
        bench = Bench([ADD_X1_1, NOP, MRS_X0_CNTPCT, B_NEXT, NOP, 0x17FFFFFB])
        thread, now, found = bench.thread(), 0, []
        for number in range(50):
            stop = bench.run(thread, 10 + number, now)
            now += stop.used
            found.append((now, bench.processor.registers(thread)["x0"]))
        return found

    assert places() == places()


# -- code that is written ---------------------------------------------------------------------------------------------
WRITTEN = 0x4200000000
MOV_W0_1, MOV_W0_2, RET = 0x52800020, 0x52800040, 0xD65F03C0
CALLS_TWICE = [
    0xD63F0020,  # blr x1
    0x2A0003F5,  # mov w21, w0
    0xB9000043,  # str w3, [x2]
    0xD50B7524,  # 1: ic ivau, x4
    0x91010084,  # add x4, x4, #64
    0xEB05009F,  # cmp x4, x5
    0x54FFFFA3,  # b.lo 1b
    0xD5033B9F,  # dsb ish
    0xD5033FDF,  # isb
    0xD63F0020,  # blr x1
    svc(1),
]
WRITES_AHEAD = [
    0xB9000043,  # 1: str w3, [x2]
    0xD50B7521,  # ic ivau, x1
    0xD5033B9F,  # dsb ish
    0xD5033FDF,  # isb
    MOV_W0_1,
    0x2A0603E3,  # mov w3, w6
    0xF10004E7,  # subs x7, x7, #1
    0x54FFFF21,  # b.ne 1b
    svc(2),
]


def written_elsewhere(words: Sequence[int]) -> Bench:
    """A bench whose page of code is shown a second time, to be written."""
    bench = Bench(words)
    read, write = Permission.READ, Permission.WRITE
    bench.processor.unmapped(CODE, 0x1000)
    bench.processor.mapped(Area(CODE, 0x1000, read | Permission.EXECUTE, "code", bench.code, physical=0x8000))
    bench.processor.mapped(Area(WRITTEN, 0x1000, read | write, "written", bench.code, physical=0x8000))
    return bench


@pytest.mark.parametrize("told", [CODE, WRITTEN])
def test_code_written_at_another_address_runs_once_the_program_says_so(
    told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For many lines the processor stops once, and instructions are counted as if it had not."""
    bench = written_elsewhere(CALLS_TWICE)
    bench.put(0x800, [MOV_W0_1, RET])
    thread = bench.thread()
    starts = 0
    start = Engine.start

    def counted(self: Engine, begin: int, end: int) -> str:
        nonlocal starts
        starts += 1
        return start(self, begin, end)

    monkeypatch.setattr(Engine, "start", counted)
    lines = 10_000
    thread.answer = {1: CODE + 0x800, 2: WRITTEN + 0x800, 3: MOV_W0_2, 4: told + 0x800, 5: told + 0x800 + 64 * lines}
    assert bench.run(thread) == Stop(9 + 4 * lines + 2, 1)
    assert bench.processor.registers(thread)["x21"] == 1 and thread.registers[0] == 2
    assert starts == 2


def test_code_that_is_written_just_ahead() -> None:
    bench = written_elsewhere(WRITES_AHEAD)
    thread = bench.thread()
    thread.answer = {1: CODE + 16, 2: WRITTEN + 16, 3: MOV_W0_1, 6: MOV_W0_2, 7: 3}
    assert bench.run(thread) == Stop(25, 2) and thread.registers[0] == 2


def test_a_misaligned_stack_pointer_is_a_fault_at_a_call_and_at_the_end_of_a_budget() -> None:
    bench = Bench([NOP, B_BACK_4, svc(3)])
    for at, budget in ((8, MANY), (0, 100)):
        thread = bench.thread(at)
        thread.answer = {31: DATA + 0xFF8}
        fault = bench.run(thread, budget).fault
        assert fault is not None and (fault.what, fault.address) == (Wrong.MISALIGNED_STACK, DATA + 0xFF8)


def test_vector_registers() -> None:
    bench = Bench([0x4F00E620, 0x4F03E6FF, svc(1)])  # movi v0.16b, #0x11; movi v31.16b, #0x77
    first, second = bench.thread(), bench.thread(8)
    bench.run(first)
    bench.run(second)
    found = bench.processor.vectors(first)
    assert found.values[0] == int("11" * 16, 16) and found.values[31] == int("77" * 16, 16)
    assert not any(found.values[1:31]) and bench.processor.vectors(second).values == (0,) * 32
