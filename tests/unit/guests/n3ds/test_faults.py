"""Programs that fail, each in its own way: what the end of the run tells. Their source is faults.c."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pocketgpu.guests import App, run
from pocketgpu.guests.kernel.files import MemoryFiles
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.kernel.report import Found
from pocketgpu.guests.n3ds.console import N3DSConsole
from pocketgpu.guests.n3ds.loader import read_program
from pocketgpu.guests.processors.unicorn_arm import UnicornArm
from pocketgpu.pica.n3ds import N3DS

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "n3ds"


def ran(what: str, name: str = "faults.3dsx", frames: int = 10) -> App:
    app = run(PROGRAMS / name, arguments=[what])
    app.frames(frames)
    return app


def line(mark: str, name: str = "faults.c") -> int:
    """The line of the source that is marked so."""
    lines = (PROGRAMS / name).read_text(encoding="utf-8").splitlines()
    (found,) = [number for number, text in enumerate(lines, 1) if f"/* LINE {mark} */" in text]
    return found


def trace(app: App) -> list[tuple[str, str]]:
    """Functions and places of the back trace, outermost last."""
    assert app.end is not None
    return [(step.place.function, step.place.source) for step in app.end.trace]


FAULTS = {
    "write": ("write to no memory at 0x00000004", "store"),
    "read": ("read of no memory at 0x40000000", "load"),
    "undefined": ("undefined instruction at 0x", "undefined"),
    "misaligned": ("misaligned access at 0x", "exclusive"),
}


@pytest.mark.parametrize("name", ["faults.elf", "faults.3dsx"])
@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_told_with_its_function_and_line(what: str, name: str) -> None:
    app = ran(what, name)
    end = app.end
    message, function = FAULTS[what]
    assert end is not None and end.why == "fault" and end.text.startswith(message) and end.exit_code == 1
    assert app.debug_text == f"{what}\n" and end.thread == 1
    found = trace(app)
    assert found[0] == (function, f"faults.c:{line(what)}")
    assert [one for one, _ in found[1:]] == ["main", "start"] and all(step.sure for step in end.trace)
    assert end.fault is not None and end.registers is not None
    assert end.fault.pc == end.registers.pc == end.registers["pc"] == end.trace[0].place.address


def test_the_text_of_a_fault() -> None:
    text = str(ran("write").end)
    registers = ran("write").end.registers  # type: ignore[union-attr]
    assert registers is not None and (registers["r0"], registers["r1"]) == (4, 5)
    lines = text.splitlines()
    assert lines[0] == "The program ended: fault: write to no memory at 0x00000004, thread 1"
    assert lines[1] == f"It was in store (faults.c:{line('write')})."
    assert lines[2] == "It is a null pointer, or a member of what one points to."
    assert "  r0  00000004  r1  00000005" in text and "cpsr" in text
    assert max(len(one) for one in lines) <= 80
    assert "?" not in text


@pytest.mark.parametrize(
    ("what", "hint"),
    [
        ("jump", "A pointer to a function was null."), ("undefined", "The instruction there is 0xe7f000f7."),
        ("data", None), ("nowhere", None), ("read", None),
    ],
)  # fmt: skip
def test_what_an_address_is_likely_to_be(what: str, hint: str | None) -> None:
    end = ran(what).end
    assert end is not None and list(end.details) == ([hint] if hint else [])


def test_tables_for_unwinding_do_without_those_for_debuggers() -> None:
    """.ARM.exidx, which C++ programs have, gives the same calls as the DWARF sections of -g."""
    traces = []
    for debug in (True, False):
        program = read_program((PROGRAMS / "faults.elf").read_bytes(), "x.elf")
        console = N3DSConsole(UnicornArm(), N3DS(), MemoryFiles({}))
        console.kernel.load(program if debug else replace(program, debug=None), ["sdmc:/x", "deeper"])
        end = console.kernel.run()
        assert end is not None and end.why == "fault"
        assert [step.found for step in end.trace[1:]] == [Found.TABLE] * 8
        traces.append([step.place.address for step in end.trace])
    assert traces[0] == traces[1]


def test_rights_are_those_of_the_segments() -> None:
    constant, data = ran("constant"), ran("data")
    assert constant.end is not None and constant.end.text.startswith("write that is not allowed")
    assert data.end is not None and data.end.text.startswith("jump that is not allowed")


@pytest.mark.parametrize(("what", "address"), [("jump", 0x10), ("nowhere", 0xFFFFFFFE)])
def test_a_wild_jump_is_told_with_the_function_that_jumped(what: str, address: int) -> None:
    """0xfffffffe is where the processor would stop by itself."""
    app = ran(what)
    assert app.end is not None and app.end.text == f"jump to no memory at {address:#010x}, thread 1"
    assert trace(app)[1] == ("jump", f"faults.c:{line('jump')}")
    assert [one for one, _ in trace(app)[2:]] == ["main", "start"]
    assert [step.found for step in app.end.trace] == [Found.RUNNING, Found.LINK, Found.TABLE, Found.TABLE]
    assert [step.sure for step in app.end.trace] == [True, False, False, False], "what follows a guess is one too"
    assert "A ? marks a guess" in str(app.end)


@pytest.mark.parametrize(("what", "text"), [("panic", "panic"), ("assert", "assertion failed"), ("user", "user break")])
def test_a_break_is_told_with_its_reason(what: str, text: str) -> None:
    app = ran(what)
    assert app.end is not None and (app.end.why, app.end.text) == ("break", f"{text}, thread 1")
    assert [one for one, _ in trace(app)] == ["stop", "main", "start"] and app.end.exit_code == 1
    assert trace(app)[0][1].startswith("runtime.h:"), "the call is in a function of a header"


def test_a_break_for_debuggers_goes_on() -> None:
    app = ran("library")
    assert app.debug_text == "library\nwent on\nend\n" and app.end is not None and app.end.exit_code == 0


def test_errors_that_a_program_throws() -> None:
    end = ran("error").end
    assert end is not None and (end.why, end.text) == ("error", "an error, thread 1")
    assert end.details == (
        "Result 0xd8e007f7 (kernel: invalid handle; invalid argument, permanent).",
        "The program says it gave up at 0x00101234, process 7, title 0004000012345678.",
    )
    assert [step.place.function for step in end.trace] == ["throw_error", "main", "start"]
    failure, exception = ran("failure").end, ran("exception").end
    assert failure is not None and failure.details[-1] == "It says: hallo"
    assert exception is not None and exception.text == "an exception, thread 1"
    assert exception.details[2] == "Exception: data abort, fault status 0x805, address 0x00000044. Its registers:"
    assert exception.details[3].split() == ["r0", "00000100", "r1", "00000101", "r2", "00000102", "r3", "00000103"]
    assert exception.details[-1].split()[:2] == ["cpsr", "00000110"]
    assert max(len(one) for one in str(exception).splitlines()) <= 80


def test_a_program_that_waits_forever_ends() -> None:
    app = ran("forever")
    assert app.end is not None and app.end.why == "waits forever" and app.frame_count == 0
    assert app.end.threads[0].waits == "Event one_shot: off"
    assert trace(app)[0][0] == "wait_for" and "waits for Event one_shot: off" in str(app.end)


def test_a_fault_of_another_thread() -> None:
    end = ran("thread").end
    assert end is not None and end.thread == 2
    assert [step.place.function for step in end.trace] == ["store", "second"]
    assert [(one.number, one.trace[-1].place.function) for one in end.threads] == [(2, "second"), (1, "start")]
    assert end.threads[1].waits == "Thread 2: ready, priority 0x38"


def test_repeated_lines_are_folded() -> None:
    app = ran("deeper")
    assert app.end is not None
    assert [one for one, _ in trace(app)] == ["store", *["deeper"] * 6, "main", "start"]
    text = str(app.end)
    assert text.count("deeper+") == 3 and "\n    6 the same until here\n" in text


def test_a_stack_that_is_full() -> None:
    app = ran("overflow")
    assert app.end is not None and "the stack is full" in app.end.details[0]
    assert trace(app)[0][0] == "overflow"
    assert len(app.end.trace) > 40 and trace(app)[-1][0] == "start"
    assert len(str(app.end).splitlines()) < 30


def test_thumb_code() -> None:
    app = ran("thumb")
    assert app.end is not None and [one for one, _ in trace(app)] == ["thumb", "main", "start"]
    assert app.end.trace[0].place.name == "thumb+0x4"
    assert app.end.registers is not None and app.end.registers.flags_text.endswith("Thumb")


@pytest.mark.parametrize("what", ["loop", "thumb-loop"])
def test_endless_loops_cost_time_only(what: str) -> None:
    """A loop of one instruction of Thumb was no instruction, so that time stood still."""
    app = ran(what, frames=2)
    assert app.end is None and app.frame_count == 2


def test_hints_of_the_processor_are_no_faults() -> None:
    waiting = ran("wfi")
    assert waiting.text == "wfi\nend\n" and waiting.frame_count == 3
    assert ran("yield").text == "yield\nend\n"


@pytest.mark.parametrize(("what", "code"), [("after-call", 1), ("after-hint", 2)])
def test_a_wrong_instruction_after_a_call_or_a_hint(what: str, code: int) -> None:
    """Its own place is told, not that of the call; a hint that is not carried out does not hide it."""
    end = ran(what).end
    assert end is not None and end.why == "fault" and end.fault is not None
    assert end.details == (f"The instruction there is {0xE7F000F0 | code:#x}.",)
    assert end.trace[0].place.address == end.fault.pc == end.fault.address


def test_looking_at_registers_changes_nothing() -> None:
    """Threads of objects.elf take turns; all are looked at after each step."""
    texts = []
    for looks in (False, True):
        app = run(PROGRAMS / "objects.elf")
        kernel = app.console.kernel
        while kernel.step():
            for thread in kernel.scheduler.threads if looks else ():
                assert kernel.processor.registers(thread) is not None
        texts.append((app.debug_text, kernel.time.now))
    assert texts[0] == texts[1] and "done" in texts[0][0]


def test_what_services_know_may_be_signalled() -> None:
    kernel = run(PROGRAMS / "objects.elf").console.kernel
    known, own = Event(Reset.STICKY), Event(Reset.STICKY)
    kernel.handle_of(known)
    kernel.give(own)
    assert known.outside and not own.outside


def test_guesses_without_symbols_find_the_same_calls(tmp_path: Path) -> None:
    """The .3dsx alone: no table, no name, and still all callers."""
    (tmp_path / "faults.3dsx").write_bytes((PROGRAMS / "faults.3dsx").read_bytes())
    with run(tmp_path / "faults.3dsx", arguments=["deeper"]) as app:
        app.frames(2)
    sure = ran("deeper").end
    assert app.end is not None and sure is not None
    assert [one.place.address for one in app.end.trace] == [one.place.address for one in sure.trace]
    assert [one.sure for one in app.end.trace] == [True] + [False] * 8
    assert str(app.end).count("(no function)") >= 4


def test_another_elf_is_not_believed(tmp_path: Path) -> None:
    for suffix, name in ((".3dsx", "faults"), (".elf", "objects")):
        (tmp_path / f"x{suffix}").write_bytes((PROGRAMS / f"{name}{suffix}").read_bytes())
    with run(tmp_path / "x.3dsx", arguments=["write"]) as app:
        app.frames(2)
    (event,) = app.console.events
    message = "no symbols of x.elf: it is of another build, as its code differs"
    assert event.id == "guest.file" and event.message == message
    assert app.end is not None and app.end.trace[0].place.function == ""
    with run(tmp_path / "x.3dsx", arguments=["write"], symbols=PROGRAMS / "faults.elf") as app:
        app.frames(2)
    assert app.end is not None and app.end.trace[0].place.function == "store" and not list(app.console.events)


def test_two_runs_end_alike() -> None:
    assert str(ran("thread").end) == str(ran("thread").end) and ran("overflow").end == ran("overflow").end
