"""Handlers of exceptions: what they are told, and how a program goes on. The program is exceptions.c."""

from __future__ import annotations

from pathlib import Path

import pytest

from pocketgpu.guests.kernel.kernel import End
from pocketgpu.guests.kernel.processor import Fault
from pocketgpu.guests.kernel.report import Registers
from pocketgpu.guests.processors.unicorn_arm64 import UnicornArm64
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.exceptions import FRAME_SIZE, ExceptionFrame, exception_of
from pocketgpu.guests.switch.kernel import SwitchKernel
from pocketgpu.guests.switch.loader import read_program
from pocketgpu.maxwell.gm20b import GM20B

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "switch"
NRO, ELF = ((PROGRAMS / f"exceptions.{suffix}").read_bytes() for suffix in ("nro", "elf"))


def ran(*arguments: str, choice: str = "handler") -> tuple[SwitchKernel, End, dict[str, str]]:
    """A run: its kernel, its end, and the lines of its text."""
    kernel = SwitchKernel(UnicornArm64(layout.CLOCK, layout.COUNTER), GM20B(switches={"guest.exceptions": choice}))
    kernel.load(read_program(NRO, "exceptions.nro", elf=ELF), ["sdmc:/switch/exceptions.nro", *arguments])
    end = kernel.run(lambda: kernel.time.now > 2 * layout.START)
    assert end is not None
    return kernel, end, dict(line.rsplit(" ", 1) for line in kernel.text.decode().splitlines())


def test_a_handler_goes_on_behind_the_instruction() -> None:
    """It changed x1, the conditions and the program counter in the frame."""
    _, end, text = ran("skip")
    assert end.well and text == {"equal": "1", "loaded": "1234", "calls": "1"}


@pytest.mark.parametrize(
    ("what", "kind", "syndrome", "address"),
    [
        ("load", "101", "92000007", "8"), ("store", "101", "92000047", "60"), ("undefined", "104", "2000000", "0"),
        ("jump", "100", "82000007", "60"), ("odd", "102", "8a000000", None), ("stack", "103", "9a000000", "0"),
        ("return", "301", "56000000", "0"),
    ],
)  # fmt: skip
def test_a_handler_is_told_what_was_wrong(what: str, kind: str, syndrome: str, address: str | None) -> None:
    _, end, text = ran("report", what)
    assert end.well and end.text == "the program returned 0x9"
    assert (text["kind"], text["syndrome"]) == (kind, syndrome)
    assert int(text["address"], 16) % 4 == 2 if address is None else text["address"] == address
    assert text["passed"] == "5678" and (text["x20 stayed"] == "20" or what == "return")
    assert what != "load" or text["x1"] == "11"


def test_a_break_after_an_exception_tells_both() -> None:
    _, end, _ = ran("break")
    assert end.why == "break" and end.trace[0].place.function == "goes_on_here"
    (detail,) = end.details
    assert detail.startswith("Before that its handler of exceptions was told: read of no memory at 0x00000008, in wron")


@pytest.mark.parametrize("choice", ["handler", "end"])
def test_without_a_handler_the_fault_ends_the_run(choice: str) -> None:
    """The report is that of the fault, not of the call that says that nobody handles it."""
    kernel, end, _ = ran("unhandled", choice=choice)
    assert end.why == "fault" and end.text == "read of no memory at 0x00000008, thread 1"
    assert [one.place.function for one in end.trace] == ["wrong_load", "main", "start"]
    registers = end.registers
    assert registers is not None and (registers["x1"], registers["x2"], registers["x20"]) == (0x11, 8, 0x20)
    assert registers.pc == end.fault.pc if end.fault is not None else False
    assert end.details == ("It is a null pointer, or a member of what one points to.",)
    assert kernel.scheduler.threads[0].executed < 10_000


def test_programs_of_the_runtime_have_no_handler() -> None:
    kernel = SwitchKernel(UnicornArm64(layout.CLOCK, layout.COUNTER), GM20B())
    data = (PROGRAMS / "faults.nro").read_bytes()
    kernel.load(read_program(data, "faults.nro"), ["x", "write"])
    end = kernel.run()
    assert end is not None and end.text == "write to no memory at 0x00000004, thread 1" and len(end.details) == 1


def test_a_fault_of_the_handler_ends_the_run() -> None:
    _, end, _ = ran("again")
    assert end.text == "read of no memory at 0x00000044, thread 1"
    assert end.trace[0].place.function == "exception_begins"
    assert end.details[1].endswith("read of no memory at 0x00000008, in wrong_load+0x20 (exceptions.c:46).")


def test_breakpoints_are_not_for_programs() -> None:
    _, end, text = ran("skip", "breakpoint")
    assert end.text.startswith("breakpoint at 0x71000") and text == {}


@pytest.mark.parametrize("choice", ["handler", "end"])
def test_a_return_without_an_exception_is_no_call(choice: str) -> None:
    _, end, _ = ran("unhandled", "return", choice=choice)
    assert end.text.startswith("supervisor call that does not exist at 0x71000") and end.thread == 1


def test_a_misaligned_stack_pointer_is_noticed_at_a_call() -> None:
    _, end, _ = ran("unhandled", "stack")
    assert end.text.startswith("misaligned stack pointer at 0x30000f") and end.trace[0].place.function == "main"
    assert end.fault is not None and end.fault.address % 16 == 8


def test_frames() -> None:
    frame = ExceptionFrame(tuple(range(1, 10)), 30, 31, 32, 0x60000000, 0x92000007, 0x123456789)
    assert len(frame.packed()) == FRAME_SIZE == 0x78 and ExceptionFrame.unpacked(frame.packed()) == frame
    assert frame.registers == {n: n + 1 for n in range(9)} | {30: 30, 31: 31, 32: 32, 33: 0x60000000}
    wild = ExceptionFrame.unpacked(b"\xff" * FRAME_SIZE)
    assert wild.flags == 0xF0000000, "nothing else of the state is a program's to choose"
    registers = Registers(tuple(range(33)), (), 32, 0, "", "", 64)
    assert exception_of(Fault("breakpoint", 0, 0), registers) is None


def test_two_runs_are_the_same() -> None:
    first, second = ran("report"), ran("report")
    assert first[0].time.now == second[0].time.now and first[2] == second[2]
