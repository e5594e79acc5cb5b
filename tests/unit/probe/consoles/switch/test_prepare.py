"""Recordings of a Switch as files for the probe: words of syncpoints, addresses, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu import capture
from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, size_of
from pocketgpu.builder.maxwell.packets import header
from pocketgpu.capture.formats.pgc.contents import (
    Contents,
    FrameContents,
    Map,
    Present,
    StateRecord,
    Store,
    Submit,
    bytes_of,
)
from pocketgpu.capture.formats.pgc.traces import PgcLog
from pocketgpu.capture.pgc import parse
from pocketgpu.capture.pgc.convert import contents_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B06F, B197
from pocketgpu.facts.maxwell.pushbuffers import FORMS, HEADER, pack_entry
from pocketgpu.probe.consoles.known import probe_console
from pocketgpu.probe.consoles.switch.syncpoints import ENGINE, HOST, REACHED, THRESHOLD, SyncpointFinder, SyncpointWord
from pocketgpu.probe.making import sent_of_capture
from pocketgpu.probe.model.scene import Watch

VA, ALIAS, SIZE = 0x5_0000_0000, 0x5_0100_0000, 0x10000
PLACE = 0x100
"""Where the pushbuffer begins in memory 1."""
NUMBER, MOVED = B06F["SYNCPOINTB"].word, B06F["SYNCPOINTA"].word
RAISE = 1
WAIT = 0x10


def finder(
    *words: int, segments: tuple[int, ...] = (), channels: tuple[int, ...] = (), by_address: bool = False
) -> SyncpointFinder:
    """What is found in a pushbuffer, in one segment or in several with so many words each."""
    data = np.array(words, "<u4").tobytes()
    store = Store(None, 0, ALIAS + PLACE, (data,)) if by_address else Store(1, PLACE, 0, (data,))
    found = SyncpointFinder({1: SIZE})
    found.follow([Map(1, VA, SIZE, 1, 0), Map(2, ALIAS, SIZE, 1, 0), Store(1, 0, 0, (b"x" * 16,)), store])
    at = VA + PLACE
    for number, size in enumerate(segments or (len(words),)):
        entries = np.array([pack_entry(at, size)], np.uint64)
        found.follow([Submit(channels[number] if channels else 0, entries)])
        at += 4 * size
    return found


def words(*some: int, **more: object) -> list[tuple[int, str, int]]:
    """(word, kind, syncpoint) of each."""
    found = finder(*some, **more)  # type: ignore[arg-type]
    assert all(one.store == 1 for one in found.words), "the second store"
    return [(one.at // 4, one.kind, one.syncpoint) for one in found.words]


def inc(method: int, count: int, subchannel: int = 0) -> int:
    return header("inc", subchannel, method, count)


def test_methods_of_the_host() -> None:
    raised = [inc(MOVED, 2), 0, 9 << 8 | RAISE]
    assert words(*raised) == [(2, HOST, 9)]
    waits = [inc(MOVED, 1), 5, inc(NUMBER, 1), 9 << 8 | WAIT]
    assert words(*waits) == [(1, REACHED, 9), (3, HOST, 9)], "nothing raises it"
    assert words(*waits, *raised) == [(1, THRESHOLD, 9), (3, HOST, 9), (6, HOST, 9)]
    assert words(*waits, inc(NUMBER, 1), 8 << 8 | RAISE)[0] == (1, REACHED, 9), "nor does this"
    assert words(inc(NUMBER, 1), 0x109 << 8 | RAISE) == [(1, HOST, 9)], "higher bits are of a choice"
    bases = [inc(NUMBER, 1), 9 << 8 | 2, inc(NUMBER, 1), 9 << 8 | 3]
    assert words(*bases) == [], "bases have no number of a syncpoint"


def test_a_method_of_the_3d_class() -> None:
    method = B197["INCREMENT_SYNC_POINT"].word
    assert words(inc(method, 1), 7) == [(1, ENGINE, 7)], "subchannel 0 by convention"
    assert words(inc(method, 1, 3), 7) == [], "that is another class's"
    bound = [inc(B06F["SET_OBJECT"].word, 1, 3), B197.class_id, inc(method, 1, 3), 7]
    assert words(*bound) == [(3, ENGINE, 7)]


@pytest.mark.parametrize(
    ("some", "wanted"),
    [
        ([inc(MOVED - 2, 5), 1, 2, 3, 9 << 8 | RAISE, 5], [4]),
        ([header("non_inc", 0, NUMBER, 3), *[9 << 8 | RAISE] * 3], [1, 2, 3]),
        ([header("one_inc", 0, NUMBER, 3), 9 << 8 | RAISE, 1, 2], [1]),
        ([header("one_inc", 0, MOVED, 3), 1, *[9 << 8 | RAISE] * 2], [2, 3]),
        ([HEADER["COUNT_OLD"].encode(2, HEADER["ADDRESS_OLD"].encode(MOVED)), 1, 9 << 8 | RAISE], [2]),
        ([header("inc", 0, 0x40, 2), inc(NUMBER, 1), 9 << 8 | RAISE], []),
        ([HEADER["SEC_OP"].encode(FORMS.END_PB_SEGMENT), inc(NUMBER, 1), 9 << 8 | RAISE], []),
        ([HEADER["SEC_OP"].encode(FORMS.RESERVED6, HEADER["COUNT"].encode(2)), inc(NUMBER, 1), 9 << 8 | RAISE], [2]),
        ([header("immd", 0, MOVED, 1), inc(NUMBER, 1), 9 << 8 | RAISE], [2]),
        ([HEADER["TERT_OP"].encode(1), inc(NUMBER, 1), 9 << 8 | RAISE], [2]),
    ],
)
def test_forms_of_headers(some: list[int], wanted: list[int]) -> None:
    found = words(*some)
    assert [at for at, kind, _ in found if kind == HOST] == wanted
    assert {number for _, _, number in found} <= {9}


def test_packets_go_on_in_the_next_segment_of_their_channel() -> None:
    some = [inc(MOVED, 2), 0, 9 << 8 | RAISE]
    assert words(*some, segments=(1, 1, 1)) == [(2, HOST, 9)]
    assert words(*some, segments=(2, 1), channels=(0, 1)) == [], "another channel reads a header there"


def test_words_are_where_the_last_store_left_them() -> None:
    assert words(inc(NUMBER, 1), 9 << 8 | RAISE, by_address=True) == [(1, HOST, 9)]
    found = finder(inc(NUMBER, 1), 9 << 8 | RAISE)
    again = Store(1, PLACE + 4, 0, (np.array([8 << 8 | RAISE], "<u4").tobytes(),))
    found.follow([again, Submit(0, np.array([pack_entry(ALIAS + PLACE, 2)], np.uint64))])
    assert found.words == (SyncpointWord(1, 4, HOST, 9), SyncpointWord(2, 0, HOST, 8)) and found.syncpoints == (9, 8)


def test_numbers_that_cannot_be_replaced() -> None:
    with pytest.raises(UsageError, match="where no other number can be put"):
        finder(header("immd", 0, NUMBER, 9 << 8 | RAISE))
    never_stored = SyncpointFinder({1: SIZE})
    entries = np.array([pack_entry(VA, 2), pack_entry(VA + (1 << 30), 8)], np.uint64)
    never_stored.follow([Map(1, VA, SIZE, 1, 0), Submit(0, entries)])
    assert never_stored.words == (), "zeros name nothing, and nothing is read where nothing is mapped"


# -- whole files ------------------------------------------------------------------------------------------------------
def recording(step: int = 0x10000, *, syncpoint: int = 8) -> Contents:
    made = MaxwellCaptureBuilder(step=step)
    target = Surface(made.allocate(size_of(64, 16), kind="generic_16bx2"), 64, 16)
    pb = PushBuffer().bind("3D").plain_state().render_target(0, target).clear((0, 0.5, 0, 1))
    made.submit(pb.syncpoint_increment(syncpoint).syncpoint_wait(syncpoint, 1))
    made.present(target, fence=1)
    return contents_of(capture.of_bytes(made.tobytes()).trace)


USUAL = Watch()


def prepared(contents: Contents, watch: Watch = USUAL, most: int = 1 << 24) -> Contents:
    return parse(probe_console("Switch").prepare(contents, watch, most=most).encode())


def test_a_sent_file_says_where_things_are() -> None:
    whole = recording()
    log = PgcLog("", whole)
    sent = prepared(whole, Watch(memory=((VA + 0x10, 0x20), (VA + 0x20000, 4))))
    about = sent.about
    shown = log.presents[-1].size
    assert about["probe.memory"] == f"{VA:X} {shown:X}, {VA + 0x20000:X} 4", "one range for what overlaps"
    assert about["probe.space"] == f"{VA:X} {log.mappings[-1].gpu_va + log.mappings[-1].size - VA:X} 10000"
    assert about["probe.syncpoint"] == "8 0"
    assert prepared(whole, Watch(pictures=False)).about.get("probe.memory") is None
    present = sent.frames[-1].events[-1]
    assert isinstance(present, Present) and present.fence is None and sent.frames[-1].pictures is None


def test_positions_lead_to_the_words() -> None:
    data = probe_console("Switch").prepare(recording(syncpoint=77), Watch(), most=1 << 24).encode()
    about = parse(data).about
    stream = data[16 + 10 :]
    start = stream.index(bytes([0x24]), stream.index(b"probe.relocate") + len(about["probe.relocate"]))
    found: dict[str, list[int]] = {}
    for item in about["probe.relocate"].split(", "):
        letter = next(one for one in item if one in "nmwr")
        position, which = item.split(letter)
        assert which == "0"
        at = start + int(position, 16)
        found.setdefault(letter, []).append(int.from_bytes(stream[at : at + 4], "little"))
    assert found == {"n": [77 << 8 | RAISE, 77 << 8 | WAIT], "w": [1]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: replace(one, state=[StateRecord(64, np.zeros(8, np.uint32))]), "state of channels"),
        (lambda one: replace(one, frames=[], tail=one.frames[0].events), "shows no picture"),
        (lambda one: moved(one, 0x1000), "maps whole pages of 0x10000 bytes"),
        (lambda one: moved(one, 0x100_0000 - VA), "maps whole pages of 0x1000 bytes"),
        (lambda one: submitting(one, 0, 0x401), "a submission has 1025 entries"),
        (lambda one: submitting(one, *range(25)), "uses 25 channels"),
        (lambda one: naming(one, range(9)), "uses 9 syncpoints"),
        (lambda one: mapping(one, 1025, objects=1), r"has 1,02\d mappings at the same time"),
        (lambda one: mapping(one, 513, objects=513), r"has 51\d memory objects"),
        (lambda one: mapping(one, 65, objects=1, step=1 << 27), r"has 6\d ranges of addresses"),
    ],
)
def test_what_the_driver_does_not_allow(change: object, message: str) -> None:
    assert callable(change)
    with pytest.raises(UsageError, match=message):
        prepared(change(recording()), most=1 << 27)


def events_of(contents: Contents, events: list[object]) -> Contents:
    return replace(contents, frames=[FrameContents(tuple(events))])  # type: ignore[arg-type]


def moved(contents: Contents, by: int) -> Contents:
    """Its first mapping elsewhere."""
    first, *rest = contents.frames[0].events
    assert isinstance(first, Map)
    return events_of(contents, [replace(first, gpu_va=first.gpu_va + by), *rest])


def submitting(contents: Contents, *channels: int) -> Contents:
    """With more submissions; the last number above 255 is a count of entries."""
    *rest, shown = contents.frames[0].events
    count = channels[-1] if channels[-1] > 255 else 1
    new = [Submit(channel, np.zeros(count, np.uint64)) for channel in channels if channel < 256]
    return events_of(contents, [*rest, *new, shown])


def mapping(contents: Contents, count: int, objects: int, step: int = 0x10000) -> Contents:
    """With more mappings, of so many memory objects."""
    more = [Map(100 + n, 0x6_0000_0000 + step * n, 0x10000, 100 + n % objects, 0) for n in range(count)]
    return events_of(contents, [*more, *contents.frames[0].events])


def naming(contents: Contents, numbers: range) -> Contents:
    """With more syncpoints."""
    *rest, shown = contents.frames[0].events
    data = PushBuffer()
    for number in numbers:
        data.syncpoint_increment(number)
    entry = np.array([pack_entry(VA, len(data))], np.uint64)
    return events_of(contents, [*rest, Store(1, 0, VA, (data.tobytes(),)), Submit(0, entry), shown])


def test_it_is_too_large() -> None:
    with pytest.raises(UsageError, match="uses 1,114,112 bytes of memory; the probe has 65,536"):
        prepared(recording(), most=0x10000)
    with pytest.raises(UsageError, match="a capture of a 3DS"):
        prepared(Contents("3DS"))


def test_what_cannot_be_read_back() -> None:
    console = probe_console("Switch")
    assert console.unreadable(Watch()) == ""
    assert "registers" in console.unreadable(Watch(registers=(4,)))
    assert "interrupts" in console.unreadable(Watch(interrupts=True))
    assert "a person" in console.unreadable(Watch(by_eye=True))


def test_mappings_below_16_gib_have_small_pages() -> None:
    small = Map(9, 0x800_1000, 0x3000, 9, 0)
    sent = prepared(events_of(recording(), [small, *recording().frames[0].events]))
    assert sent.about["probe.space"].split(", ")[0] == "8001000 3000 1000"


def test_a_sent_file_replays_to_the_same() -> None:
    whole = recording()
    data = probe_console("Switch").prepare(whole, Watch(), most=1 << 24).encode()
    ours = next(iter(capture.of_bytes(data).render())).screens["screen"].array
    assert ours[0, 0].tolist() == [0, 128, 0]
    stored = [bytes_of(one.pieces) for one in parse(data).memory_events()]
    assert stored == [bytes_of(one.pieces) for one in whole.memory_events()]


def test_a_frame_of_a_recording_from_its_start(tmp_path: Path) -> None:
    made = MaxwellCaptureBuilder(step=0x10000)
    target = Surface(made.allocate(size_of(64, 16), kind="generic_16bx2"), 64, 16)
    for number in range(3):
        color = (number / 4, 0.5, 0, 1)
        made.submit(PushBuffer().bind("3D").plain_state().render_target(0, target).clear(color))
        made.present(target)
    path = tmp_path / "three.mxcap.zip"
    made.save(path)
    sent = parse(sent_of_capture(path, 1, probe_console("Switch")).encode())
    assert len(sent.frames) == 2 and not sent.state, "the frames before are run, too"
    with pytest.raises(UsageError, match="there is no frame 3: the capture has 3 frames"):
        sent_of_capture(path, 3, probe_console("Switch"))
    wanted = list(pocketgpu.open(path).render())[1].screens["screen"].array
    again = probe_console("Switch").prepare(sent, USUAL, most=1 << 24).encode()
    assert np.array_equal(list(capture.of_bytes(again).render())[1].screens["screen"].array, wanted)
