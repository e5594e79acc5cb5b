"""Programs in C, run on the processor. Their sources are in tests/guests/switch."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.guests.processors.unicorn_arm64 import UnicornArm64
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.start_block import Key
from pocketgpu.guests.switch.kernel import SwitchKernel
from pocketgpu.guests.switch.loader import read_program
from pocketgpu.maxwell.gm20b import GM20B

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "switch"
HELLO = """
hello
bss 0
data 3
one
two
three
sdmc:/switch/hello.nro
first
two words
heap 18000000
applet 4
version 110000
random 1234567890abcdef
aligned 1
rate 19200000
same 1
waited 1
"""
COMPUTED = """
loop 507076352
sort 2153329896
checksum 2895263276
matrices 74008
calls
counted back 0
"""


def started(name: str, *arguments: str) -> SwitchKernel:
    kernel = SwitchKernel(UnicornArm64(layout.CLOCK, layout.COUNTER), GM20B())
    kernel.load(read_program((PROGRAMS / name).read_bytes(), name), arguments)
    return kernel


@pytest.mark.parametrize("name", ["hello.nro", "hello.elf"])
def test_a_program_starts_and_ends(name: str) -> None:
    """It relocates itself, finds its arguments and the loader's entries, and waits for the counter."""
    kernel = started(name, "sdmc:/switch/hello.nro", "first", "two words")
    end = kernel.run()
    assert end is not None and end.well and end.text == "the program returned 0x7"
    assert kernel.text.decode() == HELLO.lstrip() and list(kernel.events) == []
    assert 100_000 < kernel.time.now - layout.START < 200_000, "the wait is 102000 ticks"


def test_what_is_computed() -> None:
    kernel = started("compute.nro")
    end = kernel.run()
    assert end is not None and end.why == "exit" and kernel.text.decode() == COMPUTED.lstrip()


def test_the_start_block() -> None:
    """The entries of the recorded conversations, in their order."""
    kernel = started("hello.nro", "sdmc:/switch/hello.nro")
    entries = []
    for at in range(layout.START_BLOCK, layout.START_BLOCK + 0x800, 24):
        entries.append(struct.unpack("<IIQQ", kernel.space.read(at, 24)))
        if entries[-1][0] == Key.END:
            break
    every, block = (1 << 64) - 1, layout.START_BLOCK
    thread, process = entries[0][2], entries[1][2]
    assert entries == [
        (1, 0, thread, 0), (10, 0, process, 0), (7, 0, 4, 1), (3, 1, 0x2100000000, 0x18000000),
        (5, 0, 0, block + 0x800), (2, 0, block + 0xA00, block + 0xC00), (6, 0, every, every), (17, 0, every, 0),
        (14, 0, 0x1234567890ABCDEF, 0xFEDCBA0987654321), (16, 0, 0x110000, 0),
        (0, 0, block + 0xE00, len(f"pocketgpu {pocketgpu.__version__}")),
    ]  # fmt: skip
    assert kernel.space.text(block + 0x800, 0x200) == "sdmc:/switch/hello.nro"
    (main,) = kernel.scheduler.threads
    assert kernel.handles.get(thread) is main and kernel.handles.get(process) is kernel.process
    assert 0 < thread < 1 << 30 and main.priority == 0x2C and main.tls == layout.TLS
    registers = kernel.processor.registers(main)
    assert registers is not None
    assert [registers[name] for name in ("x0", "x1", "x30", "sp", "pc")] == [
        block, every, layout.RETURN, layout.FIRST_SP, layout.CODE,
    ]  # fmt: skip


def test_memory_of_a_program() -> None:
    kernel = started("hello.nro")
    found = {area.base: (area.name, int(area.permission)) for area in kernel.space}
    assert found[layout.CODE] == ("text", 5) and found[layout.HEAP] == ("heap", 3)
    assert found[layout.STACKS] == ("stack", 3) and found[layout.TLS] == ("TLS", 3)
    assert sorted(name for name, _ in found.values()) == ["TLS", "data", "heap", "rodata", "stack", "text"]
    heap = kernel.space.find(layout.HEAP)
    assert heap is not None and heap.physical is not None, "the GPU sees it"


def test_arguments_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="take 601 bytes"):
        started("hello.nro", "x" * 600)


def test_two_runs_are_the_same() -> None:
    def fingerprint() -> tuple[object, ...]:
        kernel = started("compute.nro")
        kernel.run()
        return kernel.time.now, kernel.steps, bytes(kernel.text), kernel.space.read(layout.CODE, 0x1000)

    assert fingerprint() == fingerprint()


@pytest.mark.skipif(shutil.which("aarch64-linux-gnu-gcc") is None, reason="no aarch64-linux-gnu-gcc")
def test_the_binaries_are_made_of_the_sources(tmp_path: Path) -> None:
    """Built elsewhere they are the same, byte by byte, with the compiler that made them."""
    made = tmp_path / "switch"
    shutil.copytree(PROGRAMS, made, ignore=shutil.ignore_patterns("*.elf", "*.nro"))
    subprocess.run(["make", "-s", "-C", str(made)], check=True)
    compiler = ["aarch64-linux-gnu-gcc", "-dumpfullversion"]
    version = subprocess.run(compiler, capture_output=True, text=True, check=True).stdout
    for path in sorted([*PROGRAMS.glob("*.elf"), *PROGRAMS.glob("*.nro")]):
        built = made / path.name
        assert built.is_file()
        if version.startswith("12.2."):
            assert built.read_bytes() == path.read_bytes(), path.name
