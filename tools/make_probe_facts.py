"""Writes probe/3ds/facts.h: the numbers that the probe of the 3DS takes from our tables, so that none is typed twice.

    python tools/make_probe_facts.py

A test compares the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE / "src")]

from pocketgpu.facts.external import CORE_READ_HANGS, EXTERNAL, HOLES, LCD, USER_OFFSET  # noqa: E402
from pocketgpu.facts.formats import EXTERNAL_FORMATS  # noqa: E402
from pocketgpu.facts.gsp import (  # noqa: E402
    CALLS,
    FRAMEBUFFER_INFO,
    GX_COMMANDS,
    GX_QUEUE,
    GX_SLOT_SIZE,
    GX_SLOTS,
    INTERRUPT_QUEUE,
    INTERRUPTS,
    NEW_ENTRY,
    REGISTER_BYTES,
    REGISTERS_VIRT,
    RELAY_SIZE,
    VIRT_TO_PHYS,
)
from pocketgpu.facts.memory_map import FCRAM, FCRAM_NEW_SIZE, VRAM  # noqa: E402
from pocketgpu.facts.n3ds import TABLES  # noqa: E402
from pocketgpu.facts.pica import PICA, START_LIST  # noqa: E402
from pocketgpu.guests.kernel import emulator  # noqa: E402
from pocketgpu.probe.consoles.n3ds.prepare import MOST_FILE  # noqa: E402
from pocketgpu.probe.consoles.n3ds.registers import SHOWN, WRITTEN  # noqa: E402

OUTPUT = HERE / "probe" / "3ds" / "facts.h"
SUPERVISOR_CALLS = (
    "ControlMemory", "QueryMemory", "ExitProcess", "SleepThread", "CreateEvent", "ClearEvent", "MapMemoryBlock",
    "CloseHandle", "WaitSynchronization", "GetSystemTick", "ConnectToPort", "SendSyncRequest",
    "OutputDebugString", "ReleaseMutex", "GetSystemInfo",
)  # fmt: skip
MESSAGES = {
    "srv:": ("RegisterClient", "GetServiceHandleDirect"),
    "APT:S,APT:A,APT:U": (
        "GetLockHandle", "Initialize", "Enable", "NotifyToWait", "InquireNotification", "ReceiveParameter",
        "PrepareToCloseApplication", "CloseApplication", "CheckNew3DS_System", "Finalize",
    ),
    "fs:USER,fs:LDR": ("Initialize", "OpenFile", "DeleteFile", "OpenDirectory", "OpenArchive"),
    "file": ("Read", "Write", "GetSize", "SetSize", "Close"),
    "directory": ("Read", "Close"),
    "hid:USER,hid:SPVR": ("GetHandles",),
    "cfg:u,cfg:s,cfg:i": ("GetSystemModel", "SecureInfoGetRegion"),
}  # fmt: skip
"""Requests by service."""
GPU_CALLS = (
    "WriteHWRegs", "WriteHWRegsWithMask", "ReadHWRegs", "FlushDataCache", "InvalidateDataCache", "SetLcdForceBlack",
    "TriggerCmdReqQueue", "RegisterInterruptRelayQueue", "AcquireRight", "ReleaseRight", "ResetGpuCore",
    "UnregisterInterruptRelayQueue",
)  # fmt: skip
NAMED = (
    "PSC0_CONTROL", "PSC1_CONTROL", "PPF_CONTROL", "PDC0_ADDRESS_A0", "PDC0_FORMAT", "PDC0_SELECT", "PDC0_STRIDE",
    "PDC1_ADDRESS_A0", "VRAM_POWER", "HARDWARE_ID", "PDC0_LUT_INDEX", "PDC0_LUT_DATA",
)  # fmt: skip


def constant(name: str) -> str:
    """`WriteHWRegs` becomes WRITE_HW_REGS."""
    out = ""
    for n, letter in enumerate(name):
        follows = name[n + 1 : n + 2]
        begins = letter.isupper() and n and (name[n - 1].islower() or (follows.islower() and name[n - 1].isalpha()))
        out += ("_" if begins and not out.endswith("_") else "") + letter.upper()
    return out.replace(" ", "_")


def define(name: str, value: int, doc: str = "") -> str:
    """A line of C."""
    number = f"0x{value:X}u" if value > 9 else f"{value}u"
    return f"#define {name} {number}" + (f" /* {doc} */" if doc else "")


def messages() -> Iterator[str]:
    """Headers of requests: our tables have them by service and name."""
    rows = {(entry["service"], entry["call"]): entry["header"] for entry in TABLES.read("service_commands")}
    for service, names in MESSAGES.items():
        short = service.partition(",")[0].partition(":")[0].upper()
        for name in names:
            yield define(f"{short}_{constant(name)}", int(rows[service, name], 0))
    headers = {call.name: call.header for call in CALLS}
    for name in GPU_CALLS:
        yield define(f"GSP_{constant(name)}", headers[name])


def shared() -> Iterator[str]:
    """The memory shared with gsp."""
    for prefix, layout in (("IRQ", INTERRUPT_QUEUE), ("FB", FRAMEBUFFER_INFO), ("GX", GX_QUEUE)):
        yield define(f"{prefix}_BASE", layout.base)
        yield define(f"{prefix}_STRIDE", layout.stride)
        if layout.screen_stride:
            yield define(f"{prefix}_SCREEN_STRIDE", layout.screen_stride)
        for cell in layout.cells:
            yield define(f"{prefix}_{cell.name.upper()}", cell.offset)
    yield define("IRQ_RING", RELAY_SIZE)
    yield define("GX_RING", GX_SLOTS)
    yield define("GX_SLOT_BYTES", GX_SLOT_SIZE)
    yield define("FB_NEW", NEW_ENTRY)
    for number, name in enumerate(INTERRUPTS):
        yield define(f"INTERRUPT_{name}", number)
    yield define("INTERRUPTS", len(INTERRUPTS))
    yield "#define INTERRUPT_NAMES " + ", ".join(f'"{name}"' for name in INTERRUPTS)
    for command in GX_COMMANDS:
        yield define(f"COMMAND_{constant(command.name)}", command.id)
        for number, word in enumerate(command.words, 1):
            if word.kind != "unused":
                yield define(f"{constant(command.name)}_{word.name.upper()}", number)
    yield define("COMMANDS", len(GX_COMMANDS))


def runs(addresses: list[int]) -> Iterator[tuple[int, int]]:
    """First address and end of each run of adjacent registers."""
    ordered = sorted(addresses)
    for _, group in groupby(enumerate(ordered), lambda pair: pair[1] - 4 * pair[0]):
        found = [address for _, address in group]
        yield found[0], found[-1] + 4


def table(name: str, doc: str, ranges: Iterator[tuple[int, int]]) -> str:
    """A table of ranges."""
    rows = "\n".join(f"    {{0x{first:08X}, 0x{end:08X}}}," for first, end in ranges)
    return f"/* {doc} */\nstatic const u32 {name}[][2] = {{\n{rows}\n}};"


def registers() -> Iterator[str]:
    """Addresses of registers, and which of them are written and read."""
    for name in NAMED:
        yield define(name, EXTERNAL[name].address)
    for unit in ("PSC0", "PSC1", "PPF"):
        control = EXTERNAL[f"{unit}_CONTROL"]
        yield define(f"{unit}_START_BIT", control["start"].mask)
    for channel in range(2):
        yield define(f"LIST_START{channel}", PICA[f"CMDBUF_JUMP{channel}"].address)
    yield define("LIST_START_BIT", START_LIST)
    yield define("PDC0_FIRST", min(one.address for one in EXTERNAL if one.name.startswith("PDC0_")))
    yield define("PDC_STEP", EXTERNAL["PDC1_FORMAT"].address - EXTERNAL["PDC0_FORMAT"].address)
    yield define("SELECT_NEXT", EXTERNAL["PDC0_SELECT"]["next"].mask)
    yield define("COLOR_FORMAT", EXTERNAL["PDC0_FORMAT"]["color_format"].mask)
    for name in ("interlace", "scan_doubling"):
        yield define(f"FORMAT_{name.upper()}", EXTERNAL["PDC0_FORMAT"][name].mask)
    yield define("RGB565", next(n for n, one in EXTERNAL_FORMATS.items() if one.name == "RGB565"))
    yield define("TOP_FILL", LCD["TOP_FILL"].address)
    yield define("BOTTOM_FILL", LCD["BOTTOM_FILL"].address)
    yield define("FILL_ON", LCD["TOP_FILL"]["enable"].mask)
    core = {register.offset for register in PICA}
    yield table("WRITTEN", "Registers that a sent file may write: first address, end.", runs(sorted(WRITTEN)))
    yield table("SHOWN", "Of these the ones that say what a screen shows.", runs(sorted(SHOWN)))
    end = PICA.base + 4 * (max(core) + 1)
    kept = [
        address for address in range(EXTERNAL.base, end, 4)
        if not any(one.start <= address - EXTERNAL.base < one.end for one in HOLES)
        and address not in {PICA[number].address for number in CORE_READ_HANGS if number in core}
    ]  # fmt: skip
    yield table("READABLE", "Registers that can be read without hanging the bus.", runs(kept))


def everything() -> str:
    """The text of the header."""
    calls = {entry["call"]: int(entry["number"], 0) for entry in TABLES.read("supervisor_calls")}
    lines = ["/* Made by tools/make_probe_facts.py from src/pocketgpu/facts. Do not change it by hand. */"]
    lines += ["#pragma once", '#include "../common/base.h"', ""]
    lines += [define(f"SVC_{constant(name)}", calls[name]) for name in SUPERVISOR_CALLS]
    lines += messages()
    lines += shared()
    lines += [define("REGISTER_BYTES", REGISTER_BYTES), define("REGISTERS_FROM", REGISTERS_VIRT - USER_OFFSET)]
    by_start = {one.phys: one for one in reversed(VIRT_TO_PHYS)}
    lines += [
        define("VRAM_PHYSICAL", VRAM.base), define("VRAM_VIRTUAL", by_start[VRAM.base].virt),
        define("VRAM_BYTES", VRAM.size), define("FCRAM_PHYSICAL", FCRAM.base),
        define("FCRAM_BYTES", FCRAM_NEW_SIZE, "of the new model"),
        define("FCRAM_VIRTUAL", by_start[FCRAM.base].virt),
        define("MOST_FILE", MOST_FILE), define("EMULATOR_INFO", emulator.INFO_TYPE),
        define("EMULATOR_IS_OURS", emulator.MARK), define("EMULATOR_MARK", emulator.MARK),
        define("EMULATOR_VERSION", emulator.VERSION_OF),
        define("OLD_LINEAR", min(one.virt for one in VIRT_TO_PHYS if one.phys == FCRAM.base)),
    ]  # fmt: skip
    lines += registers()
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    OUTPUT.write_text(everything(), encoding="utf-8")
