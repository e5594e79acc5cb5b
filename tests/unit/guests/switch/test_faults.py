"""Programs that fail, each in its own way: what the end of the run tells. Their source is faults.c."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from pocketgpu.guests.kernel.kernel import End
from pocketgpu.guests.kernel.report import Found
from pocketgpu.guests.processors.unicorn_arm64 import UnicornArm64
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.kernel import SwitchKernel
from pocketgpu.guests.switch.loader import read_program
from pocketgpu.maxwell.gm20b import GM20B

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "switch"


def started(*arguments: str, symbols: bool = True, name: str = "faults.nro") -> SwitchKernel:
    elf = (PROGRAMS / "faults.elf").read_bytes() if symbols and name.endswith(".nro") else None
    kernel = SwitchKernel(UnicornArm64(layout.CLOCK, layout.COUNTER), GM20B())
    kernel.load(read_program((PROGRAMS / name).read_bytes(), name, elf=elf), [f"sdmc:/switch/{name}", *arguments])
    return kernel


def ended(what: str, symbols: bool = True, name: str = "faults.nro") -> End:
    kernel = started(what, symbols=symbols, name=name)
    end = kernel.run(lambda: kernel.time.now > 2 * layout.START)
    assert end is not None and kernel.text.decode().startswith(f"{what}\n")
    return end


@cache
def line(mark: str) -> int:
    """The line of the source that is marked so."""
    lines = (PROGRAMS / "faults.c").read_text(encoding="utf-8").splitlines()
    (found,) = [number for number, text in enumerate(lines, 1) if f"/* LINE {mark} */" in text]
    return found


def trace(end: End) -> list[tuple[str, str]]:
    """Functions and places of the back trace, outermost last."""
    return [(step.place.function, step.place.source) for step in end.trace]


FAULTS = {
    "write": ("write to no memory at 0x00000004", "store", "write"),
    "constant": ("write that is not allowed at 0x71000", "store", "write"),
    "code": ("write that is not allowed at 0x71000", "store", "write"),
    "read": ("read of no memory at 0x5000000000", "load", "read"),
    "high": ("read of no memory at 0xffff000000000010", "load", "read"),
    "undefined": ("undefined instruction at 0x71000", "undefined", "undefined"),
    "breakpoint": ("breakpoint at 0x71000", "breakpoint", "breakpoint"),
    "misaligned": ("misaligned access at 0x71000", "exclusive", "misaligned"),
    "system": ("undefined instruction at 0x71000", "of_the_system", "system"),
    "monitor": ("undefined instruction at 0x71000", "monitor", "monitor"),
    "pair": ("read of no memory at 0x00000008", "pair", "pair"),
    "vector": ("write to no memory at 0x00000030", "vector", "vector"),
}
"""Of each argument: the text, the function, the mark of its line."""


@pytest.mark.parametrize(("what", "name"), [*((what, "faults.nro") for what in FAULTS), ("write", "faults.elf")])
def test_a_fault_is_told_with_its_function_and_line(what: str, name: str) -> None:
    end = ended(what, name=name)
    message, function, mark = FAULTS[what]
    assert end.why == "fault" and end.text.startswith(message) and end.exit_code == 1 and end.thread == 1
    assert trace(end)[0] == (function, f"faults.c:{line(mark)}")
    assert [one for one, _ in trace(end)[1:]] == ["main", "start"] and all(step.sure for step in end.trace)
    assert end.fault is not None and end.registers is not None
    assert end.fault.pc == end.registers.pc == end.registers["pc"] == end.trace[0].place.address


def test_the_text_of_a_fault() -> None:
    end = ended("write")
    registers = end.registers
    assert registers is not None and registers.bits == 64
    assert (registers["x0"], registers["x1"]) == (4, 5) and registers["sp"] % 16 == 0
    lines = str(end).splitlines()
    assert lines[0] == "The program ended: fault: write to no memory at 0x00000004, thread 1"
    assert lines[1] == f"It was in store (faults.c:{line('write')})."
    assert lines[2] == "It is a null pointer, or a member of what one points to."
    assert "  x0  0000000000000004  x1  0000000000000005\n" in str(end)
    assert "  nzcv 60000000  ZC" in lines and max(len(one) for one in lines) <= 80 and "?" not in str(end)


@pytest.mark.parametrize(("what", "address"), [("jump", 0x10), ("nowhere", 0xFFFF_FFFF_FFFF_FFFC)])
def test_a_wild_jump_is_told_with_the_function_that_jumped(what: str, address: int) -> None:
    end = ended(what)
    assert end.text == f"jump to no memory at {address:#010x}, thread 1"
    assert [one for one, _ in trace(end)[1:]] == ["jump", "main", "start"]
    assert trace(end)[1] == ("jump", f"faults.c:{line('jump')}")
    assert [step.found for step in end.trace] == [Found.RUNNING, Found.LINK, Found.TABLE, Found.TABLE]
    assert "A ? marks a guess" in str(end)


def test_jumps_into_data_and_between_instructions() -> None:
    data, odd = ended("data"), ended("odd")
    assert data.text.startswith("jump that is not allowed at 0x71000")
    assert odd.text.startswith("misaligned jump at 0x71000") and odd.fault is not None and odd.fault.pc % 4 == 2


def test_a_break_is_told_and_a_notification_is_not() -> None:
    end = ended("panic")
    assert end.why == "break" and [one for one, _ in trace(end)] == ["stop", "main", "start"]
    assert trace(end)[0][1].startswith("runtime.h:"), "the call is in a function of a header"
    kernel = started("notify")
    ending = kernel.run()
    assert ending is not None and ending.well and kernel.text.decode() == "notify\nwent on\nend\n"


def test_a_fault_of_another_thread() -> None:
    end = ended("thread")
    assert end.thread == 2 and [one for one, _ in trace(end)] == ["store", "second", "thread_begins"]
    other = end.threads[1]
    assert other.number == 1 and other.waits.startswith("Thread 2")
    assert [step.place.function for step in other.trace] == ["wait_for", "in_a_thread", "main", "start"]


def test_waiting_for_nothing() -> None:
    end = ended("forever")
    assert end.why == "waits forever"
    assert [one for one, _ in trace(end)] == ["wait_for", "forever", "main", "start"]
    assert trace(end)[1][1] == f"faults.c:{line('forever')}"


def test_repeated_lines_are_folded() -> None:
    end = ended("deeper")
    assert [one for one, _ in trace(end)] == ["store", *["deeper"] * 6, "main", "start"]
    assert str(end).count("deeper+") == 3 and "\n    6 the same until here\n" in str(end)


def test_a_stack_that_is_full() -> None:
    end = ended("overflow")
    assert "the stack is full" in end.details[0] and trace(end)[0][0] == "overflow" and len(end.trace) == 256
    assert len(str(end).splitlines()) < 40


def test_a_wrong_instruction_after_a_call() -> None:
    end = ended("after-call")
    assert end.details == ("The instruction there is 0x00000001.",) and end.trace[0].place.function == "main"


@pytest.mark.parametrize("what", ["cache", "wfe", "wfi"])
def test_what_is_no_fault(what: str) -> None:
    kernel = started(what)
    end = kernel.run()
    assert end is not None and end.well and kernel.text.decode() == f"{what}\nend\n"


def test_endless_loops_cost_time_only() -> None:
    kernel = started("loop")
    kernel.time.at(kernel.time.now + 10_000_000, lambda tick: None)
    assert kernel.run(lambda: kernel.time.now > layout.START + 30_000_000) is None


def test_the_end_of_main_is_its_result() -> None:
    for what, text in (
        ("leave", "the program returned 0x5"), ("chain", "sdmc:/switch/other.nro is to be started next"), ("wfe", ""),
    ):  # fmt: skip
        end = started(what).run()
        assert end is not None and end.why == "exit" and end.exit_code == 0 and end.text == text


def test_a_return_to_nowhere_is_a_fault() -> None:
    assert ended("return").text == "jump to no memory at 0x00000000, thread 1"


def test_vectors_stay_over_calls() -> None:
    kernel = started("vectors")
    kernel.run()
    assert "stayed 1\n" in kernel.text.decode()


def test_without_symbols_the_image_knows_its_frames() -> None:
    """The .nro alone: its .eh_frame, which MOD0 names, tells the same calls."""
    with_elf, alone = ended("deeper"), ended("deeper", symbols=False)
    assert [one.place.address for one in alone.trace] == [one.place.address for one in with_elf.trace]
    assert all(one.sure for one in alone.trace) and str(alone).count("(no function)") >= 4


def test_without_frames_callers_are_guessed() -> None:
    """The link register and frame records tell the same calls."""
    sure = ended("deeper")
    kernel = SwitchKernel(UnicornArm64(layout.CLOCK, layout.COUNTER), GM20B())
    program = read_program((PROGRAMS / "faults.nro").read_bytes(), "faults.nro")
    kernel.load(replace(program, frames=None), ["sdmc:/switch/faults.nro", "deeper"])
    guessed = kernel.run()
    assert guessed is not None
    assert [one.place.address for one in guessed.trace] == [one.place.address for one in sure.trace]
    assert [one.sure for one in guessed.trace] == [True] + [False] * 8
    assert [one.found for one in guessed.trace[1:]] == [Found.LINK] + [Found.FRAME_POINTER] * 7


def test_two_runs_end_alike() -> None:
    assert str(ended("thread")) == str(ended("thread")) and ended("overflow") == ended("overflow")


def test_looking_at_registers_changes_nothing() -> None:
    ends = []
    for looks in (False, True):
        kernel = started("thread")
        while kernel.step():
            for thread in kernel.scheduler.threads if looks else ():
                assert kernel.processor.registers(thread) is not None
        ends.append((str(kernel.end), kernel.time.now))
    assert ends[0] == ends[1]
