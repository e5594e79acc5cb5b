"""Recordings of real programs, done once more through nvdrv and the buffer queue as their programs would do it."""

from __future__ import annotations

import pytest
from support import recordings
from support.nv_client import NvClient

import pocketgpu
from pocketgpu.capture import Capture, pgc
from pocketgpu.capture.formats.mxcap import ChannelLog, Present
from pocketgpu.capture.formats.pgc.traces import trace_of
from pocketgpu.facts.maxwell.page_kinds import kind_number
from pocketgpu.facts.switch.nvdrv import MapFlag
from pocketgpu.guests.kernel.memory import Permission
from pocketgpu.guests.switch.recorder import SwitchRecorder
from pocketgpu.maxwell.display.present import Surface

FOLDER = recordings.folder() / "captures" / "switch"
NAMES = sorted(path.name.partition(".")[0] for path in FOLDER.glob("*.mxcap.zip"))
BASE = 0x31_0000_0000
COUNTS = ("words", "methods", "macro_steps", "draws", "clears", "copies", "launches")


class Played(NvClient):
    """A program that does what a log says."""

    def __init__(self, log: ChannelLog) -> None:
        super().__init__()
        self.log = log
        self.devices = {name: self.open(f"/dev/{name}") for name in ("nvmap", "nvhost-as-gpu", "nvhost-gpu")}
        self.kernel.machine.syncpoints.foreign_reached = True  # the log's fences of the display
        self.control(self.devices["nvhost-as-gpu"], "BindChannel", channel=self.devices["nvhost-gpu"])
        syncpoint = self.control(self.devices["nvhost-gpu"], "AllocGpfifoEx2", entries=0x800)[1]["syncpoint"]
        self.kernel.machine.syncpoints[syncpoint] = log.syncpoints.get(syncpoint, 0)
        self.places: dict[int, tuple[int, int]] = {}  # address and nvmap handle, by handle of the log
        self.connect()
        self.slots: dict[tuple[int, int], int] = {}
        self.pictures: list[bytes] = []

    def memory_of(self, handle: int) -> tuple[int, int]:
        if handle not in self.places:
            size, address = self.log.handles[handle], BASE + sum(self.log.handles[one] for one in self.places)
            self.kernel.map_ram(f"memory {handle}", address, size, Permission.READ | Permission.WRITE)
            made = self.control(self.devices["nvmap"], "Create", size=size)[1]["handle"]
            assert self.control(self.devices["nvmap"], "Alloc", handle=made, address=address)[0] == 0
            self.places[handle] = address, made
        return self.places[handle]

    def play(self) -> None:
        space = self.devices["nvhost-as-gpu"]
        shown = iter(self.log.presents)
        present = next(shown, None)
        for number, submission in enumerate(self.log.submissions):
            for one in self.log.mappings:
                if one.end == number and one.start < number:
                    assert self.control(space, "UnmapBuffer", offset=one.gpu_va)[0] == 0
                if one.start == number < one.end:
                    _, handle = self.memory_of(one.handle)
                    fields = {"flags": MapFlag.FIXED, "offset": one.gpu_va}
                    self.control(space, "AllocSpace", pages=one.size >> 12, page_size=0x1000, **fields)
                    kind = kind_number(one.kind)
                    assert self.control(space, "MapBufferEx", handle=handle, kind=kind, **fields)[0] == 0
            for update in submission.updates:
                chunk = self.log.chunks[update]
                assert chunk.handle is not None
                self.kernel.space.write(self.memory_of(chunk.handle)[0] + chunk.offset, chunk.data)
            self.kernel.steps += 1
            self.kernel.memory_differs()
            entries = submission.entries.astype("<u8").tobytes()
            count = len(submission.entries)
            assert self.control(self.devices["nvhost-gpu"], "KickoffPb", entries, entries=count)[0] == 0
            while present is not None and present.after == number:
                self.present(present)
                present = next(shown, None)

    def present(self, present: Present) -> None:
        assert present.handle is not None
        place = present.handle, present.offset
        if place not in self.slots:
            self.slots[place] = len(self.slots)
            height = present.block_height_log2 if present.block_linear else None
            surface = Surface(present.width, present.height, present.format, height, present.stride)
            self.set_buffer(self.slots[place], self.memory_of(present.handle)[1], present.offset, surface)
        slot = self.slots[place]
        while self.take()[1] not in (slot, -1):
            pass
        assert self.show(slot, transform=present.transform, fence=present.fence) == 0
        self.display.vblank(0)
        self.pictures.append(self.display.screens["screen"].array.tobytes())


@pytest.mark.skipif(not NAMES, reason=recordings.REASON)
@pytest.mark.parametrize("name", NAMES)
def test_pictures_and_counts_are_those_of_the_recording(name: str) -> None:
    capture = pocketgpu.open(FOLDER / f"{name}.mxcap.zip")
    assert isinstance(capture.trace, ChannelLog)
    wanted = list(capture.render())
    played = Played(capture.trace)
    recorder = SwitchRecorder(played.driver, played.display)
    played.play()
    assert played.pictures == [frame.screens["screen"].array.tobytes() for frame in wanted]
    again = Capture(name, trace_of(recorder.contents({}), name))
    assert all(one.same for one in pgc.check(again))
    for before, after in zip(wanted, again.render(), strict=True):
        assert before.counts["words"]
        assert [before.counts[one] for one in COUNTS] == [after.counts[one] for one in COUNTS]
