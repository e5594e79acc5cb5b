"""All supervisor calls that libnx knows: each does something, or is refused by its name."""

from __future__ import annotations

import pytest
from support.switch_talk import Talk

from pocketgpu.facts.switch.supervisor import CALLS
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.calls.register import MODELLED

OF_LIBNX = {
    *range(0x01, 0x38), 0x39, 0x3A, 0x3C, 0x3D, *range(0x40, 0x6E), 0x6F, *range(0x70, 0x80), 0x90, 0x91
}  # fmt: skip
ABSENT = {
    "SendSyncRequestLight", "SendAsyncRequestWithUserBuffer", "GetDebugFutureThreadInfo", "GetLastThreadInfo",
    "GetResourceLimitPeakValue", "CreateIoPool", "CreateIoRegion", "ReplyAndReceiveLight", "MapIoRegion",
    "UnmapIoRegion", "MapPhysicalMemoryUnsafe", "UnmapPhysicalMemoryUnsafe", "SetUnsafeLimit", "SleepSystem",
    "CreateInterruptEvent", "QueryPhysicalAddress", "QueryIoMapping", "CreateDeviceAddressSpace",
    "AttachDeviceAddressSpace",
    "DetachDeviceAddressSpace", "MapDeviceAddressSpaceByForce", "MapDeviceAddressSpaceAligned",
    "MapDeviceAddressSpace", "UnmapDeviceAddressSpace", "BreakDebugProcess", "TerminateDebugProcess",
    "ContinueDebugEvent", "SetDebugThreadContext", "WriteDebugProcessMemory", "SetHardwareBreakPoint", "CreateProcess",
    "StartProcess", "TerminateProcess", "GetProcessInfo", "CreateResourceLimit", "SetResourceLimitLimitValue",
    "CallSecureMonitor", "MapInsecurePhysicalMemory", "UnmapInsecurePhysicalMemory",
}  # fmt: skip
"""They need what homebrew is not permitted, or what no console for customers does."""
REFUSED = {
    "DebugActiveProcess": Result.INVALID_PROCESS_ID, "GetDebugEvent": Result.INVALID_HANDLE,
    "ReadDebugProcessMemory": Result.INVALID_HANDLE, "ReadWriteRegister": Result.INVALID_ADDRESS,
}  # fmt: skip


def test_calls_of_libnx_are_known() -> None:
    assert set(CALLS) == OF_LIBNX
    assert {one.name for number, one in CALLS.items() if number not in MODELLED.functions} == ABSENT


@pytest.mark.parametrize("name", [*sorted(ABSENT), *REFUSED])
def test_what_is_refused_is_an_event(name: str) -> None:
    talk = Talk()
    (number,) = (one.number for one in CALLS.values() if one.name == name)
    talk.thread.registers, talk.thread.answer = [0] * 8, {}
    talk.kernel.calls.get(number, lambda thread: talk.kernel.unknown_call(thread, number))(talk.thread)
    assert talk.thread.answer[0] == REFUSED.get(name, Result.NOT_IMPLEMENTED)
    (event,) = talk.kernel.events
    assert f"supervisor call {number:#04x} {name} is not modelled" in event.message


def test_light_sessions_are_an_event_too() -> None:
    talk = Talk()
    assert talk.called("CreateSession", light=1) == Result.NOT_IMPLEMENTED
    assert talk.called("CreatePort", light=1, most=1) == Result.NOT_IMPLEMENTED
    assert [one.message.partition(" is not")[0] for one in talk.kernel.events] == ["a light session"]


def test_another_process_cannot_be_paused() -> None:
    talk = Talk()
    assert talk.called("SetProcessActivity", process=0xFFFF8001, activity=1) == Result.BUSY
    assert talk.called("SetProcessActivity", process=0xFFFF8001, activity=2) == Result.INVALID_ENUM
    assert talk.called("SetProcessActivity", process=0xFFFF8000, activity=1) == Result.INVALID_HANDLE
    assert talk.called("GetInfo", type=26, subtype=0x36) == Result.OK and talk.thread.answer[1] == 1
    assert talk.called("GetInfo", type=26, subtype=0x35) == Result.INVALID_COMBINATION
