"""Devices of nvdrv, request by request: memory, addresses, syncpoints, channels, and requests that are wrong."""

from __future__ import annotations

import random
import struct

import pytest
from support.nv_client import MEMORY, MEMORY_SIZE, NvClient

from pocketgpu.builder.maxwell import PushBuffer
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.pushbuffers import pack_entry
from pocketgpu.facts.switch.nvdrv import DEVICES, REQUESTS, MapFlag, NvError, SubmitFlag
from pocketgpu.guests.kernel.memory import Permission
from pocketgpu.guests.kernel.objects import Event
from pocketgpu.guests.switch.services.nvdrv.addresses import FIRST, MOST, Addresses
from pocketgpu.guests.switch.services.nvdrv.driver import FIRST_SYNCPOINT, MOST_OBJECTS

BAD = NvError.BAD_PARAMETER
WINDOW = 1 << 32


class Gpu(NvClient):
    """All devices opened, and a channel ready."""

    def __init__(self, **choices: str) -> None:
        super().__init__(choices)
        self.map = self.open("/dev/nvmap")
        self.space = self.open("/dev/nvhost-as-gpu")
        self.host = self.open("/dev/nvhost-ctrl")
        self.channel = self.open("/dev/nvhost-gpu")

    def begin(self, entries: int = 64) -> int:
        """Set the channel up; its syncpoint."""
        assert self.control(self.space, "BindChannel", channel=self.channel)[0] == 0
        error, one = self.control(self.channel, "AllocGpfifoEx2", entries=entries)
        assert error == 0
        return one["syncpoint"]

    def mapped(self, size: int, **fields: int) -> tuple[int, int]:
        """GPU address and arena offset of new memory."""
        handle = self.memory(self.map, size)
        error, one = self.control(self.space, "MapBufferEx", handle=handle, **fields)
        assert error == 0
        return one["offset"], self.driver.objects[handle].place or 0

    def submit(self, words: list[int], address: int, place: int, flags: int = 0, value: int = 0) -> int:
        """Store a pushbuffer as the program would, and submit it: the error."""
        data = struct.pack(f"<{len(words)}I", *words)
        self.kernel.machine.memory.arena[place : place + len(data)] = list(data)
        self.kernel.memory_differs()
        entry = struct.pack("<Q", pack_entry(address, len(words)))
        return self.control(self.channel, "KickoffPb", entry, entries=1, flags=flags, value=value)[0]


# -- memory ---------------------------------------------------------------------------------------------------------
def test_a_memory_object_is_the_programs_own_memory() -> None:
    gpu = Gpu()
    handle = gpu.control(gpu.map, "Create", size=0x1800)[1]["handle"]
    assert gpu.control(gpu.map, "Alloc", handle=handle, address=MEMORY, align=0x1000, kind=0xFE)[0] == 0
    area = gpu.kernel.space.find(MEMORY)
    assert area is not None and gpu.driver.objects[handle].place == area.physical
    assert gpu.control(gpu.map, "Param", handle=handle, which=1)[1]["value"] == 0x1800
    assert gpu.control(gpu.map, "Param", handle=handle, which=5)[1]["value"] == 0xFE
    assert gpu.control(gpu.map, "GetId", handle=handle)[1]["id"] == handle
    assert gpu.control(gpu.map, "FromId", id=handle)[1]["handle"] == handle
    assert gpu.control(gpu.map, "Free", handle=handle)[1]["flags"] == 1, "it has another reference"
    error, freed = gpu.control(gpu.map, "Free", handle=handle)
    assert (error, freed["address"], freed["size"], freed["flags"]) == (0, MEMORY, 0x1800, 0)
    assert gpu.control(gpu.map, "Free", handle=handle)[0] == BAD


@pytest.mark.parametrize(
    "address", [MEMORY + 1, MEMORY + MEMORY_SIZE, MEMORY + MEMORY_SIZE - 0x1000, 0, (1 << 64) - 0x1000]
)
def test_memory_that_the_program_does_not_have(address: int) -> None:
    gpu = Gpu()
    handle = gpu.control(gpu.map, "Create", size=0x2000)[1]["handle"]
    assert gpu.control(gpu.map, "Alloc", handle=handle, address=address)[0] in (BAD, NvError.INVALID_ADDRESS)
    assert gpu.control(gpu.space, "MapBufferEx", handle=handle)[0] == BAD


def test_memory_in_pieces_must_be_one_range_that_can_be_written() -> None:
    gpu = Gpu()
    space = gpu.kernel.space
    space.protect(MEMORY + 0x1000, 0x1000, Permission.READ | Permission.WRITE | Permission.EXECUTE)
    assert gpu.driver.place_of(MEMORY, 0x3000) == gpu.driver.place_of(MEMORY, 0x1000), "cut, but still one range"
    space.protect(MEMORY + 0x1000, 0x1000, Permission.READ)
    assert gpu.driver.place_of(MEMORY, 0x3000) is None and gpu.driver.place_of(MEMORY, 0x1000) is not None
    space.unmap(MEMORY + 0x1000, 0x1000)
    assert gpu.driver.place_of(MEMORY, 0x3000) is None
    gpu.kernel.map_ram("elsewhere", MEMORY + 0x1000, 0x1000, Permission.READ | Permission.WRITE)
    whole = gpu.driver.place_of(MEMORY, 0x3000)
    first, second = gpu.driver.place_of(MEMORY, 0x1000), gpu.driver.place_of(MEMORY + 0x1000, 0x1000)
    assert (whole is None) == (second != (first or 0) + 0x1000)


def test_objects_are_limited() -> None:
    gpu = Gpu()
    for _ in range(MOST_OBJECTS):
        assert gpu.driver.new_object(1) is not None
    assert gpu.control(gpu.map, "Create", size=1)[0] == NvError.INSUFFICIENT_MEMORY
    assert gpu.control(gpu.map, "Create", size=0)[0] == BAD


# -- addresses ------------------------------------------------------------------------------------------------------
def test_addresses_are_those_of_recordings() -> None:
    gpu = Gpu()
    error, space = gpu.control(gpu.space, "AllocSpace", pages=0x10000, page_size=0x10000)
    assert (error, space["offset"]) == (0, FIRST)
    assert [gpu.mapped(size)[0] for size in (0x1000, 0xA0000, 0x1000)] == [0x600010000, 0x600030000, 0x6000E0000]


def test_ranges_of_addresses() -> None:
    some = Addresses()
    assert [some.take(size) for size in (1, 0x10000, 0x10001)] == [FIRST, FIRST + 0x20000, FIRST + 0x40000]
    assert some.take(1 << 32) == 0x6_0000_0000 and some.take(1 << 40) is None and some.take(1, 0x30000) is None
    assert some.take_at(0x10_0000_0000, 0x1000) and not some.take_at(0x10_0000_0000, 0x1000)
    assert not some.take_at(0, 0x1000) and not some.take_at((1 << 40) - 0x1000, 0x2000)
    some.release(FIRST)
    assert some.size_at(FIRST) is None and some.take(1) != FIRST, "addresses are used again only when all were used"
    while some.take(1 << 34) is not None:
        pass
    assert some.take(1) is not None, "holes are found"
    small = Addresses()
    assert all(small.take(1) is not None for _ in range(MOST)) and small.take(1) is None


def test_fixed_mappings_lie_in_allocated_addresses() -> None:
    gpu = Gpu()
    start = gpu.control(gpu.space, "AllocSpace", pages=0x10, page_size=0x10000)[1]["offset"]
    handle = gpu.memory(gpu.map, 0x20000)

    def fixed(offset: int) -> int:
        return gpu.control(gpu.space, "MapBufferEx", flags=MapFlag.FIXED, handle=handle, offset=offset)[0]

    assert fixed(start) == 0 and fixed(start) == BAD and fixed(start + 0x1F000) == BAD, "something is there"
    assert fixed(start + 0x20000) == 0 and fixed(start + 0xF0000) == BAD and fixed(0x9_0000_0000) == BAD
    assert fixed(start + 0x40001) == BAD
    assert len(gpu.kernel.machine.memory.mappings) == 2
    assert gpu.control(gpu.space, "FreeSpace", offset=start)[0] == 0 and not gpu.kernel.machine.memory.mappings
    assert gpu.control(gpu.space, "FreeSpace", offset=start)[0] == BAD


def test_a_part_of_a_mapping_gets_another_kind() -> None:
    gpu = Gpu()
    memory = gpu.kernel.machine.memory
    at, place = gpu.mapped(0x40000, kind=0xFE)
    modify = {"flags": MapFlag.MODIFY, "offset": at, "kind": 0xDB}
    assert gpu.control(gpu.space, "MapBufferEx", buffer_offset=0x10000, size=0x10000, **modify)[0] == 0
    kinds = [memory.mapping_at(at + n * 0x10000) for n in range(4)]
    assert [one.kind for one in kinds if one is not None] == [0xFE, 0xDB, 0xFE, 0xFE]
    assert memory.offset_of(at + 0x10000, 0x1000) == place + 0x10000, "the bytes are the same"
    assert gpu.control(gpu.space, "MapBufferEx", buffer_offset=0x10000, size=0x40000, **modify)[0] == BAD
    assert gpu.control(gpu.space, "MapBufferEx", **(modify | {"offset": at + 0x1000}))[0] == BAD
    assert gpu.control(gpu.space, "UnmapBuffer", offset=at)[0] == 0 and not memory.mappings


def test_a_part_of_an_object_is_mapped() -> None:
    gpu = Gpu()
    handle = gpu.memory(gpu.map, 0x8000)
    ranges = {(0x3000, 0x2000): 0, (0x3001, 0): BAD, (0x8000, 0): BAD, (0x7000, 0x2000): BAD, (0, 1 << 40): BAD}
    for (offset, size), wanted in ranges.items():
        error, one = gpu.control(gpu.space, "MapBufferEx", handle=handle, buffer_offset=offset, size=size)
        assert error == wanted, (offset, size)
        if not error:
            place = gpu.driver.objects[handle].place or 0
            assert gpu.kernel.machine.memory.offset_of(one["offset"], size) == place + offset


def test_a_closed_address_space_is_empty() -> None:
    gpu = Gpu()
    gpu.mapped(0x1000)
    gpu.control(gpu.space, "AllocSpace", pages=1, page_size=0x10000)
    gpu.asker.ask(gpu.service, 2, "<I", gpu.space)
    assert not gpu.kernel.machine.memory.mappings and gpu.driver.addresses.take_at(FIRST, 0x100_0000)


def test_a_program_that_is_gone_leaves_nothing_open() -> None:
    gpu = Gpu()
    gpu.begin()
    gpu.mapped(0x1000)
    gpu.service.closed()
    assert not (gpu.service.devices or gpu.driver.channels or gpu.driver.controls or gpu.driver.syncpoints)
    assert not gpu.kernel.machine.memory.mappings


# -- syncpoints and channels ----------------------------------------------------------------------------------------
def test_an_event_comes_when_a_syncpoint_is_reached() -> None:
    gpu = Gpu()
    assert gpu.control(gpu.host, "EventWaitAsync", id=9, threshold=0, timeout=-1)[0] == 0, "reached"
    assert gpu.control(gpu.host, "EventWaitAsync", id=9, threshold=2, timeout=-1)[0] == BAD, "no such event"
    assert gpu.control(gpu.host, "EventRegister", slot=0)[0] == 0
    event = gpu.event(gpu.host, 0x10000000)
    assert isinstance(event, Event)
    assert gpu.control(gpu.host, "EventWaitAsync", id=9, threshold=2, timeout=0)[0] == NvError.TIMEOUT
    assert gpu.control(gpu.host, "EventWaitAsync", id=9, threshold=2, timeout=-1)[0] == NvError.TIMEOUT
    assert gpu.control(gpu.host, "EventWaitAsync", id=9, threshold=2, timeout=-1)[0] == NvError.BUSY
    assert gpu.control(gpu.host, "EventUnregister", slot=0)[0] == NvError.BUSY
    gpu.control(gpu.host, "SyncptIncr", id=9)
    assert not event.on
    gpu.control(gpu.host, "SyncptIncr", id=9)
    assert event.on and gpu.control(gpu.host, "SyncptRead", id=9)[1]["value"] == 2
    event.on = False
    gpu.control(gpu.host, "EventWaitAsync", id=9, threshold=3, timeout=-1)
    assert gpu.control(gpu.host, "EventSignal", slot=0)[0] == 0, "the wait ends"
    gpu.control(gpu.host, "SyncptIncr", id=9)
    assert not event.on and gpu.control(gpu.host, "EventUnregister", slot=0)[0] == 0
    assert gpu.event(gpu.host, 0x10000000) is None
    for name in ("SyncptRead", "SyncptIncr", "SyncptWait", "EventWait", "EventWaitAsync"):
        assert gpu.control(gpu.host, name, id=192)[0] == BAD


def test_the_driver_picks_an_event() -> None:
    gpu = Gpu()
    error, one = gpu.control(gpu.host, "EventWait", id=9, threshold=1, timeout=-1)
    assert (error, one["value"]) == (NvError.TIMEOUT, 0x10090000)
    event = gpu.event(gpu.host, one["value"])
    assert isinstance(event, Event) and not event.on
    gpu.control(gpu.host, "SyncptIncr", id=9)
    assert event.on
    assert gpu.control(gpu.host, "EventWait", id=9, threshold=1, timeout=-1)[1]["value"] == 1
    assert gpu.control(gpu.host, "EventUnregisterBatch", slots=1)[0] == 0


def test_a_submission_runs_at_once_and_counts() -> None:
    gpu = Gpu()
    assert gpu.control(gpu.channel, "KickoffPb", bytes(8), entries=1)[0] == NvError.INVALID_STATE
    syncpoint = gpu.begin(entries=1)
    assert syncpoint == FIRST_SYNCPOINT
    assert gpu.control(gpu.channel, "AllocGpfifoEx2", entries=1)[0] == NvError.ALREADY_ALLOCATED
    address, place = gpu.mapped(0x1000)
    words = PushBuffer().syncpoint_increment(syncpoint).words.tolist()
    assert gpu.submit(words, address, place, SubmitFlag.INCREMENTS, 1) == 0
    assert gpu.kernel.machine.syncpoints[syncpoint] == 1
    assert gpu.submit(words, address, place, SubmitFlag.FENCE_WAIT, 0) == 0
    assert gpu.submit([0], address, place, SubmitFlag.FENCE_GET) == 0 and gpu.kernel.machine.syncpoints[syncpoint] == 3
    assert gpu.control(gpu.channel, "KickoffPb", bytes(16), entries=2)[0] == BAD, "more than its ring has"
    assert gpu.control(gpu.channel, "KickoffPb", bytes(4), entries=1)[0] == BAD, "fewer than it says"


def test_a_waiting_channel_takes_no_more_than_its_ring_has_and_times_out() -> None:
    gpu = Gpu()
    syncpoint = gpu.begin(entries=2)
    gpu.control(gpu.channel, "SetErrorNotifier", on=1)
    gpu.control(gpu.channel, "SetTimeout", milliseconds=5)
    event = gpu.event(gpu.channel, 3)
    address, place = gpu.mapped(0x1000)
    words = PushBuffer().syncpoint_wait(100, 1).syncpoint_increment(syncpoint).words.tolist()
    assert gpu.submit(words, address, place, SubmitFlag.INCREMENTS, 1) == 0
    assert gpu.submit(words, address, place) == 0 and gpu.submit(words, address, place) == NvError.BUSY
    assert isinstance(event, Event) and not event.on
    time = gpu.kernel.time
    due = time.next
    assert due is not None and due - time.now == time.ticks(5_000_000)
    time.skip()
    one = time.take_due()
    assert one is not None
    one.action(one.tick)
    assert event.on and {one.id for one in gpu.kernel.machine.events} == {"channel.deadlock"}
    notice = gpu.control(gpu.channel, "GetErrorNotification")[1]
    assert (notice["status"], notice["code"]) == (0xFFFF, 8)
    assert gpu.driver.reached(syncpoint, 1), "who waits for its fences goes on"


def test_faults_are_told_to_the_program() -> None:
    gpu = Gpu()
    gpu.begin()
    gpu.control(gpu.channel, "SetErrorNotifier", on=1)
    event = gpu.event(gpu.channel, 3)
    address, place = gpu.mapped(0x1000)
    assert gpu.control(gpu.channel, "GetErrorNotification")[1]["status"] == 0
    assert gpu.submit(PushBuffer().semaphore_acquire(0x7000, 1).words.tolist(), address, place) == 0
    assert isinstance(event, Event) and event.on
    assert gpu.control(gpu.channel, "GetErrorInfo")[1]["type"] == 1, "a page fault"
    assert gpu.control(gpu.channel, "GetErrorNotification")[1]["code"] == 31


def test_channels_are_limited_and_used_again() -> None:
    gpu = Gpu()
    for _ in range(40):
        channel = gpu.open("/dev/nvhost-gpu")
        assert gpu.control(channel, "AllocGpfifoEx2", entries=1)[0] == 0
        gpu.asker.ask(gpu.service, 2, "<I", channel)
    assert not len(gpu.kernel.events), "nothing is wrong with that"
    kept = [gpu.open("/dev/nvhost-gpu") for _ in range(33)]
    errors = [gpu.control(channel, "AllocGpfifoEx2", entries=1)[0] for channel in kept]
    assert errors == [0] * 32 + [NvError.INSUFFICIENT_MEMORY]


def test_a_channel_that_is_used_again_has_the_registers_of_power_on() -> None:
    """A recording cannot say that, so it gets a warning."""
    gpu = Gpu()
    machine, at = gpu.kernel.machine, B197["SET_DEPTH_FUNC"].word
    words = PushBuffer().bind("3D").method("SET_DEPTH_FUNC", "OGL_NEVER").words.tolist()
    values, work = [], [0]
    for _ in range(40):
        gpu.channel = gpu.open("/dev/nvhost-gpu")
        gpu.begin()
        address, place = gpu.mapped(0x1000)
        number = next(one.number for one in gpu.driver.channels if one.number is not None)
        before = int(machine.registers(B197.class_id, number)[at])
        assert gpu.submit(words, address, place) == 0
        values.append((number, before, int(machine.registers(B197.class_id, number)[at])))
        work.append(machine.timestamp())
        gpu.asker.ask(gpu.service, 2, "<I", gpu.channel)
    assert [number for number, _, _ in values] == [*range(32), *range(8)]
    assert len({(before, after) for _, before, after in values}) == 1 and values[0][1] != values[0][2]
    assert work == sorted(work) and len(set(work)) == len(work), "counts go on"
    assert not len(gpu.kernel.events)
    gpu.driver.followers.append(Following())
    gpu.channel = gpu.open("/dev/nvhost-gpu")
    gpu.begin()
    assert [one.id for one in gpu.kernel.events] == ["guest.channel-again"]


class Following:
    """A recorder that does nothing."""

    def submitting(self, channel: int, entries: object) -> None:
        pass

    def resuming(self) -> None:
        pass

    def worked(self) -> None:
        pass


# -- what the GPU is ------------------------------------------------------------------------------------------------
def test_values_of_fast_clears() -> None:
    nv = NvClient()
    device = nv.open("/dev/nvhost-ctrl-gpu")
    assert nv.control(device, "ZbcQueryTable")[1]["size"] == 15
    assert nv.control(device, "ZbcSetTable", type=1, format=4, color=7)[0] == 0
    error, found = nv.control(device, "ZbcQueryTable", type=1, size=1)
    assert (error, found["format"], found["color"], found["references"]) == (0, 4, 7, 1)
    assert nv.control(device, "ZbcSetTable", type=3)[0] == BAD
    assert nv.control(device, "ZbcQueryTable", type=1, size=16)[0] == BAD
    for depth in range(20):
        nv.control(device, "ZbcSetTable", type=2, depth=depth)
    assert nv.control(device, "ZbcSetTable", type=2, depth=99)[0] == NvError.INSUFFICIENT_MEMORY


# -- what is wrong --------------------------------------------------------------------------------------------------
def test_what_is_not_there() -> None:
    nv = NvClient()
    _, error = struct.unpack("<II", nv.asker.ask(nv.service, 0, inputs=[b"/dev/nvhost-vic"]).data)
    assert error == NvError.FILE_NOT_FOUND
    assert nv.raw(77, 0x0101, bytes(8))[0] == BAD
    device = nv.open("/dev/nvmap")
    assert nv.raw(device, 0x0177, bytes(8))[0] == NvError.NOT_IMPLEMENTED
    assert nv.raw(device, 0x0104, bytes(8))[0] == NvError.INVALID_SIZE
    assert nv.asker.ask(nv.service, 2, "<I", 77).data != bytes(4)
    told = [one.message for one in nv.kernel.events]
    assert len(told) == 2 and "nvhost-vic" in told[0] and "0x0177" in told[1]


def test_every_request_survives_any_numbers() -> None:
    """No request of a program raises anything, whatever its record holds."""
    chance = random.Random(5)
    gpu = Gpu()
    gpu.begin()
    gpu.mapped(0x4000)
    devices = {path: gpu.open(path) for path in DEVICES}
    numbers = [0, 1, 2, 3, 5, 8, 0x100, 0x1000, 0x10000, FIRST, MEMORY, 0xFFFFFFFF, (1 << 40) - 0x1000, (1 << 64) - 1]
    for _ in range(4000):
        one = chance.choice(list(REQUESTS.values()))
        size = one.layout.size + chance.choice((0, 0, 0, 8, 64))
        data = b"".join(chance.choice(numbers).to_bytes(8, "little")[: chance.choice((4, 8))] for _ in range(size // 4))
        device = chance.choice((devices[one.device], gpu.channel, gpu.space))
        error, _ = gpu.raw(device, one.number, data[:size], bytes(chance.choice((0, 8, 64))), chance.choice((1, 2, 3)))
        assert error in tuple(map(int, NvError)), one


@pytest.mark.parametrize(("clock", "takes"), [("counted", True), ("presents", False)])
def test_work_takes_time(clock: str, takes: bool) -> None:
    """A program that only submits gets to the next VBlank, too."""
    gpu = Gpu(**{"guest.clock": clock})
    gpu.begin()
    address, place = gpu.mapped(0x10000)
    before = gpu.kernel.time.now
    assert gpu.submit(PushBuffer().semaphore_release(address + 0x8000, 1).words.tolist() * 100, address, place) == 0
    first = gpu.kernel.time.now - before
    assert gpu.submit(PushBuffer().semaphore_release(address + 0x8000, 1).words.tolist() * 200, address, place) == 0
    second = gpu.kernel.time.now - before - first
    assert (0 < first < second < gpu.kernel.time.hertz // 60) == takes and (first == second == 0) == (not takes)
