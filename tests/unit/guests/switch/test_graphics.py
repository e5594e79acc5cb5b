"""Programs that draw, with the processor or with the GPU; what they show, and their recordings."""

from __future__ import annotations

import runpy
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from support.nv_client import MEMORY, NvClient

import pocketgpu
from pocketgpu.builder.maxwell import PushBuffer
from pocketgpu.capture import Capture, pgc
from pocketgpu.capture.formats.pgc.contents import Contents, Map, Present, Store, Submit, Unmap
from pocketgpu.capture.formats.pgc.decoder import parse
from pocketgpu.capture.formats.pgc.encoder import encode
from pocketgpu.capture.formats.pgc.traces import PgcLog, trace_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.pushbuffers import pack_entry
from pocketgpu.guests.switch.recorder import SwitchRecorder
from pocketgpu.maxwell.display.present import Surface

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "switch"
FRAMEBUFFER = """
twice connected 22
no buffers 19
not taken 22
request 1
query 1
nothing 4
not ours 9
not aligned 4
size 4096
the same 1
unknown 1
no memory 19
freed 655360
blocked 2
freed 327680
blocked 1
done
"""
WINDOWS = """
one buffer, frames 4
not ours 22
detached 0
none left 19
not modelled 22
given back 0
reached 0
at once 5
timed out 5
after ms 30
released 0
after ms 20
a part 0
done
"""
SCENE = """
chip 1200b
class b197
time 1
slots 8
window 500000000
taken 4
counted 4
gone 4
closed 4
done
"""
HANG = """
soon ea01
released 0
silent ea01
notified 0
status ffff
code 8
fence 0
gone 4
closed 4
"""
ORANGE, BLUE = (0xFF, 0xC0, 0x20), (0x20, 0x40, 0xC0)


def ended(name: str, *arguments: str, frames: int = 60, **more: bool) -> pocketgpu.App:
    """A program that has run to its end."""
    app = pocketgpu.run(PROGRAMS / name, arguments=arguments, **more)
    app.frames(frames)
    assert app.end is not None and app.end.why == "exit", app.end
    return app


def text_of(app: pocketgpu.App) -> str:
    return "\n" + app.console.text


def test_pictures_that_the_processor_draws() -> None:
    with ended("framebuffer.nro") as app:
        assert text_of(app) == FRAMEBUFFER
        picture = app.screens["screen"].array
        assert picture.shape == (180, 320, 3) and not picture[:20, :20].any()
        assert picture[90, 319].tolist() == [255, 130, 165], "RGB565"
        assert [one.id for one in app.console.events] == ["guest.nvdrv", "guest.buffer"]
        numbers = [one.frame for one in app.console.vblanks if one.presents]
        assert numbers == sorted(set(numbers)) and numbers[-1] == app.present_count - 1, "as in a recording"
        assert len(numbers) < app.present_count, "two are shown at once before the first buffers go"


def test_windows_and_waits_that_are_rare() -> None:
    with ended("windows.nro") as app:
        assert text_of(app) == WINDOWS
        assert [one.message.partition(" of ")[0] for one in app.console.events] == ["code 5 DETACH_NEXT_BUFFER"]
        assert app.screen.array.shape == (35, 27, 3) and app.present_count == 7, "turned"


def test_pictures_that_the_gpu_draws() -> None:
    with ended("scene.nro") as app:
        assert text_of(app) == SCENE and not app.console.events
        picture = app.screens["screen"].array
        assert picture[5, 5].tolist() == [0xBF, 0x80, 0x40]
        inside = {tuple(one) for one in picture[60:158, 130:190].reshape(-1, 3).tolist()}
        assert {ORANGE, BLUE} <= inside


def test_text_that_the_gpu_draws() -> None:
    with ended("gputext.nro") as app:
        lines = app.console_text["screen"].splitlines()
        assert lines[:3] == ["Drawn by the GPU:", "", "  {Quartz} ~ 50 %"] and lines[-1] == "the end.".rjust(20)
        assert len(lines) == 11 and not app.console.events


def test_a_channel_that_waits_for_ever_does_not_stop_the_program() -> None:
    with ended("scene.nro", "hang", frames=600) as app:
        assert text_of(app).endswith(HANG)
        (event,) = app.console.events
        assert event.id == "channel.deadlock" and "to become 0x4d2" in event.message


@pytest.mark.parametrize(("file", "size"), [("scene_data.h", ()), ("large_data.h", ("1280", "720"))])
def test_the_data_of_the_scene_is_made_again(
    file: str, size: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The programs and headers in these files are what the assembler and the tables give."""
    monkeypatch.setattr(sys, "argv", ["make_scene.py", *size])
    runpy.run_path(str(PROGRAMS / "make_scene.py"), run_name="__main__")
    assert capsys.readouterr().out == (PROGRAMS / file).read_text()


def test_large_pictures_change_everywhere() -> None:
    app = pocketgpu.run(PROGRAMS / "large.nro", arguments=("3",))
    shown = []
    while app.end is None:
        before = app.present_count
        app.frames(1)
        if app.present_count > before:
            shown.append(app.screens["screen"].array.copy())
    assert text_of(app).endswith("done\n") and len(shown) == 3
    for one, other in pairwise(shown):
        assert one.shape == (720, 1280, 3)
        blurred = (one != other).any(axis=2)
        assert blurred.any(axis=1).all() and blurred.any(axis=0).all(), "in each row and column"


@pytest.mark.parametrize("name", ["framebuffer.nro", "scene.nro", "windows.nro"])
def test_a_replay_shows_what_the_run_showed(name: str) -> None:
    live: list[np.ndarray] = []
    with pocketgpu.run(PROGRAMS / name, record=True) as app:
        count = 0
        while app.frames(1):
            if app.present_count > count:
                count = app.present_count
                live.append(app.screens["screen"].array.copy())
        last = app.screens["screen"].array
        if not np.array_equal(last, live[-1]):  # the program ended before the VBlank of its last present
            live.append(last)
        contents = app.contents()
    data = encode(contents)
    assert encode(parse(data)) == data, "the file says the same"
    capture = Capture(name, trace_of(parse(data), name))
    assert capture.frame_count == len(contents.frames) > 3 and not capture.warnings
    assert all(one.same for one in pgc.check(capture))
    rest = iter([frame.screens["screen"].array.tobytes() for frame in capture.render()])
    assert len(live) >= 3 and all(one.tobytes() in rest for one in live), "in this order"
    assert next(rest, None) is None


def test_questions_about_a_part_of_a_surface() -> None:
    with ended("windows.nro", record=True) as app:
        run = pocketgpu.debug(app.capture())
        colour = "#" + app.screen.array[4, 3].tobytes().hex()
    assert run.why("f6/px3,4").to_json()["hex"] == colour
    assert run.events(6)[-1].title.endswith("is shown, from pixel 5,3 on")
    with pytest.raises(UsageError, match="no pixel 27,4"):
        run.why("f6/px27,4")


def test_what_a_recording_of_the_scene_holds() -> None:
    with ended("scene.nro", record=True) as app:
        contents = app.contents()
    first, *others = contents.frames
    maps = [one for one in first.events if isinstance(one, Map)]
    assert [(one.kind, bool(one.offset)) for one in maps] == [(0, False), (0xFE, False), (0xDB, True), (0, False)]
    assert maps[1].handle == maps[2].handle and maps[2].gpu_va == maps[1].gpu_va + maps[2].offset
    for number, frame in enumerate(others, 1):
        kinds = [type(one) for one in frame.events]
        assert kinds[-2:] == [Submit, Present] and set(kinds[:-2]) == {Store}
        shown = frame.events[-1]
        assert isinstance(shown, Present) and shown.handle == maps[1].handle
        assert shown.gpu_va == maps[1].gpu_va + shown.offset and shown.fence == (8, number + 1)
        stored = sum(len(piece) for one in frame.events if isinstance(one, Store) for piece in one.pieces)
        assert stored < 0x2000, "only what changed"


def test_every_run_is_the_same_and_goes_back() -> None:
    with ended("scene.nro", record=True) as first, ended("scene.nro", record=True) as second:
        assert encode(first.contents()) == encode(second.contents())
    with pocketgpu.run(PROGRAMS / "scene.nro") as app:
        seen = []
        for _ in range(3):
            app.frames(1)
            seen.append((app.screens["screen"].array.tobytes(), app.console.kernel.steps, app.present_count))
        for back in (2, 1):
            app.back(back)
            at = app.frame_count
            found = (app.screens["screen"].array.tobytes(), app.console.kernel.steps, app.present_count)
            assert found == seen[at - 1]
            app.frames(1)
            assert app.screens["screen"].array.tobytes() == seen[at][0]


def replayed(contents: Contents) -> bytes:
    """The last picture of a capture, which must be as it says."""
    capture = Capture("test", trace_of(parse(encode(contents)), "test"))
    assert all(one.same for one in pgc.check(capture))
    return [frame.screens["screen"].array.tobytes() for frame in capture.render()][-1]


def test_objects_that_share_memory_still_share_it() -> None:
    """Two objects overlap, one is freed and its memory used again; the GPU writes through both."""
    nv = NvClient()
    nv.kernel.steps = 1
    recorder = SwitchRecorder(nv.driver, nv.display)
    device, space = nv.open("/dev/nvmap"), nv.open("/dev/nvhost-as-gpu")
    channel = nv.open("/dev/nvhost-gpu")
    nv.control(space, "BindChannel", channel=channel)
    nv.control(channel, "AllocGpfifoEx2", entries=4)

    def object_at(offset: int, size: int) -> int:
        handle = nv.control(device, "Create", size=size)[1]["handle"]
        assert nv.control(device, "Alloc", handle=handle, address=MEMORY + offset)[0] == 0
        return handle

    def mapped(handle: int, **fields: int) -> int:
        return nv.control(space, "MapBufferEx", handle=handle, **fields)[1]["offset"]

    def write(address: int, data: bytes) -> None:
        """The GPU writes; its commands are at the end of memory."""
        nv.kernel.space.write(MEMORY + 0x8000, PushBuffer().inline(address, data).words.tobytes())
        nv.kernel.steps += 1
        nv.kernel.memory_differs()
        entry = pack_entry(commands, len(PushBuffer().inline(address, data).words)).to_bytes(8, "little")
        assert nv.control(channel, "KickoffPb", entry, entries=1)[0] == 0

    commands = mapped(object_at(0x8000, 0x1000))
    surface = Surface(16, 16, block_height=None, pitch=256)
    shown, other = object_at(0, 0x2000), object_at(0x1000, 0x3000)
    nv.connect()
    nv.set_buffer(0, shown, 0x1000, surface)
    write(mapped(other), bytes([50]) * 64)  # row 0
    part = mapped(other, buffer_offset=0x2000)
    nv.kernel.space.write(MEMORY + 0x1100, bytes([60]) * 64)  # row 1, by the processor
    nv.control(device, "Free", handle=other)
    again = object_at(0x1000, 0x1000)
    write(mapped(again) + 512, bytes([70]) * 64)  # row 2
    write(part, bytes(64))
    assert nv.show(nv.take()[1]) == 0
    nv.display.vblank(0)
    live = nv.display.screens["screen"].array
    assert live[:4, 0, 0].tolist() == [50, 60, 70, 0]
    contents = recorder.contents({})
    events = [one for frame in contents.frames for one in frame.events]
    handles = {one.handle for one in events if isinstance(one, Map)}
    assert len(handles) == 2 and any(one.offset for one in events if isinstance(one, Map))
    assert replayed(contents) == live.tobytes()


def test_memory_that_only_the_display_sees_has_a_size() -> None:
    with ended("framebuffer.nro", record=True) as app:
        contents = app.contents()
    first = contents.frames[0].events
    assert isinstance(first[0], Map) and first[1] == Unmap(first[0].id)
    log = trace_of(contents)
    assert isinstance(log, PgcLog) and set(log.handles.values()) == {first[0].size}


@pytest.mark.parametrize("by", ["the processor", "another channel"])
def test_a_channel_waits_across_presents(by: str) -> None:
    """A picture is shown while its channel waits; what comes after that lets it go on, in the replay, too."""
    nv = NvClient()
    nv.kernel.steps = 1
    recorder = SwitchRecorder(nv.driver, nv.display)
    device, space = nv.open("/dev/nvmap"), nv.open("/dev/nvhost-as-gpu")
    channels = [nv.open("/dev/nvhost-gpu") for _ in range(2)]
    for one in channels:
        nv.control(space, "BindChannel", channel=one)
        assert nv.control(one, "AllocGpfifoEx2", entries=4)[0] == 0
    surface = Surface(16, 16, block_height=None, pitch=256)
    handle = nv.memory(device, 0x4000)
    address = nv.control(space, "MapBufferEx", handle=handle)[1]["offset"]
    semaphore, commands = address + 0x2000, 0x3000
    nv.connect()
    for slot in range(2):
        nv.set_buffer(slot, handle, 0x1000 * slot, surface)

    def submit(channel: int, at: int, buffer: PushBuffer) -> None:
        nv.kernel.space.write(MEMORY + at, buffer.words.tobytes())
        nv.kernel.steps += 1
        nv.kernel.memory_differs()
        entry = pack_entry(address + at, len(buffer.words)).to_bytes(8, "little")
        assert nv.control(channel, "KickoffPb", entry, entries=1)[0] == 0

    wait = PushBuffer().semaphore_acquire(semaphore, 1)
    submit(channels[0], commands, wait.inline(address, bytes([80]) * 64).inline(address + 0x1000, bytes([80]) * 64))
    pictures = []
    for number in range(2):
        assert nv.show(nv.take()[1]) == 0
        nv.display.vblank(number)
        pictures.append(nv.display.screens["screen"].array.copy())
        if by == "the processor":
            nv.kernel.space.write(MEMORY + 0x2000, b"\1")
            submit(channels[0], commands + 0x800, PushBuffer().inline(address + 0x2800, bytes(64)))
        else:
            submit(channels[1], commands + 0x800, PushBuffer().semaphore_release(semaphore, 1))
    assert [one[0, 0, 0] for one in pictures] == [0, 80] and not nv.kernel.machine.events
    assert replayed(recorder.contents({})) == pictures[1].tobytes()
