"""Events and moments of recordings of a Switch: what happened, and the machine as it stood then."""

from __future__ import annotations

import hashlib
import random
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from support.switch_inspect import SCENES, capture_of, look_into
from support.switch_scene import Scene

from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.inspect.inspection import debug
from pocketgpu.inspect.switch.inspection import SwitchInspection
from pocketgpu.inspect.switch.surfaces import shown_surface
from pocketgpu.maxwell.engines.threed.engine import ThreeD

SAMPLE = str(files("pocketgpu") / "data" / "sample_switch.mxcap.zip")


@pytest.fixture(scope="module", params=["sample", "depth_functions"])
def run(request: pytest.FixtureRequest) -> SwitchInspection:
    """The sample, which clears and copies, and a scene that draws."""
    found = debug(SAMPLE) if request.param == "sample" else look_into(request.param)
    assert isinstance(found, SwitchInspection)
    return found


@pytest.fixture(scope="module")
def drawn() -> SwitchInspection:
    return look_into("depth_functions")


def _digest(run: SwitchInspection) -> str:
    """All guest memory and all registers."""
    machine = run.player.machine
    found = hashlib.blake2b()
    for one in machine.memory.backings:
        found.update(machine.memory.arena[one.offset : one.offset + one.size])
    for channel in machine.channels.values():
        found.update(channel.files)
    return found.hexdigest()


def test_events_are_numbered_and_have_words(run: SwitchInspection) -> None:
    for frame in range(run.frame_count):
        events = run.events(frame)
        assert [event.number for event in events] == list(range(len(events)))
        assert [event.draw for event in run.draws(frame)] == list(range(len(run.draws(frame))))
        assert events[-1].kind == "show"
        for event in run.draws(frame):
            assert event.words is not None
            assert sum(span.size for span in event.words.spans) == 4 * len(event.words.values) > 0
            assert event.writes


def test_words_of_an_event_are_those_of_the_stream(drawn: SwitchInspection) -> None:
    draw = drawn.draws(0)[0]
    memory = drawn.seek(draw.address).machine.memory
    assert draw.words is not None
    read = b"".join(memory.read(span.address, span.size) for span in draw.words.spans)
    assert np.array_equal(np.frombuffer(read, "<u4"), draw.words.values)


def test_passes_hold_all_events_and_name_their_target(run: SwitchInspection) -> None:
    for frame in range(run.frame_count):
        passes = run.passes(frame)
        assert [event for one in passes for event in one.events] == list(run.events(frame))
        for one in passes:
            assert all(event.pass_ == one.number for event in one.events)
            assert bool(one.draws) == bool(one.target)


def test_pictures_of_moments_are_those_of_frames(run: SwitchInspection) -> None:
    for frame in run.capture.render():
        shown = run.seek(f"f{frame.index}").screens["screen"]
        assert np.array_equal(shown.array, frame.screens["screen"].array)


def test_seeking_in_any_order_gives_the_same_machine(run: SwitchInspection) -> None:
    events = list(run.all_events())
    chosen = events[:: max(1, len(events) // 24)]
    first = {}
    for event in chosen:
        run.seek(event.by_number)
        first[event.by_number] = _digest(run)
    order = chosen * 2
    random.Random(5).shuffle(order)
    for event in order:
        run.seek(event.by_number)
        assert _digest(run) == first[event.by_number], event


def test_a_moment_goes_back_when_it_is_asked_later(drawn: SwitchInspection) -> None:
    draw = drawn.draws(0)[1]
    before = drawn.seek(f"f0/e{draw.number - 1}")
    picture = before.target
    after = drawn.seek(draw.address)
    assert before.target is not None and picture is not None and after.target is not None
    assert np.array_equal(before.target.rows, picture.rows)


def test_registers_of_a_moment_are_those_of_the_machine(drawn: SwitchInspection) -> None:
    for event in drawn.draws(drawn.frame_count - 1)[:3]:
        moment = drawn.seek(event.address)
        live = moment.machine.registers(0xB197)
        assert np.array_equal(moment.words(), live)
        names = moment.registers()
        assert names["SET_COLOR_TARGET_A(0)"] == int(live[0x200])
        changed = {one.register: (one.old, one.new) for one in moment.changes("reset")}
        assert changed and all(a != b for a, b in changed.values())
        assert str(event.address) in str(moment) and moment.to_json()["registers"]


def test_who_wrote_finds_the_last_writer(run: SwitchInspection) -> None:
    frame = run.frame_count - 1
    show = shown_surface(run.log.presents[frame])
    writer = run.who_wrote(show.place(0, 0))
    assert writer is not None and writer.kind in ("draw", "transfer", "copy", "clear")
    first = run.event("f0/e0")
    assert run.who_wrote(first.writes[0].address, before="f0/e1") is first
    assert run.who_wrote(0x12345) is None


def test_addresses_that_are_not_there(run: SwitchInspection) -> None:
    for place in ("f99", "f0/d999", "f0/e9999", "f0/p99"):
        with pytest.raises(UsageError):
            run.seek(place)
    with pytest.raises(UsageError):
        run.seek("f0").words(0x1234)


PARTS: dict[str, tuple[set[str], set[str]]] = {
    "Channel": (
        {"_pieces", "_inline_words", "reference", "waiting", "yielded", "submission", "_queue", "_fresh", "_place",
         "_version"},
        {"machine", "id", "index", "state", "_words", "_stop_words", "counters", "_constants", "macro_counts", "files",
         "shadows", "mme_code", "mme_starts", "mme_known", "_runs", "_staging", "host_registers", "_effects", "engines",
         "_stamped", "_drawing", "_bound", "_never_bound", "inline_words"},
    ),
    "DrawUnit": (
        {"_uncounted", "_inline", "_inline_method", "_skip", "_left"},
        {"_host", "_constants", "_counters", "_state", "_snapshots", "_words", "effects"},
    ),
    "ConstantBuffers": ({"_shown", "_all"}, {"_host", "_state", "_words"}),
    "Counters": ({"_values", "pointers"}, {"_state"}),
    "Syncpoints": ({"_values", "counted", "foreign_reached"}, set()),
    "SwitchDriver": (
        {"channels", "backings", "live", "frame"},
        {"trace", "machine", "frame_count", "_loads", "_loaded", "_starts", "_ends", "_hung", "_errors"},
    ),
}  # fmt: skip
"""Fields that a checkpoint brings back, and those that it need not: parts of other parts, views of memory, caches."""


def test_checkpoints_keep_every_field_that_changes(run: SwitchInspection) -> None:
    """Who gives a part a new field says above whether it is kept."""
    run.seek("f0")
    player = run.player
    machine, driver = player.machine, player.driver
    channel = next(iter(machine.channels.values()))
    threed = channel.engines[0]
    assert isinstance(threed, ThreeD)
    parts = (channel, threed.draws, threed.constants, threed.counters, machine.syncpoints, driver)
    _ = threed.constants.bindings  # made when somebody asks
    kept = driver.checkpoint()
    before = [{name: repr(vars(one)[name]) for name in PARTS[type(one).__name__][0]} for one in parts]
    for one in parts:
        changing, others = PARTS[type(one).__name__]
        assert set(vars(one)) == changing | others, type(one).__name__
        for name in changing:
            setattr(one, name, "overwritten")
    driver.restore(kept)
    for one, fields in zip(parts, before, strict=True):
        for name, value in fields.items():
            expected = {"_version": -1, "_place": ""}  # found again when they are asked for
            assert vars(one)[name] == expected[name] if name in expected else repr(vars(one)[name]) == value, name
    assert _digest(run)


@pytest.mark.parametrize("seed", range(6))
def test_damaged_recordings_are_looked_into_all_the_same(seed: int) -> None:
    """A recording, whatever its words are, raises only what this package raises on purpose."""
    choose = random.Random(seed)
    capture = capture_of(SCENES[choose.choice(["depth_functions", "several_targets", "texture_kinds"])].make())
    assert isinstance(capture.trace, ChannelLog)
    chunks = []
    for chunk in capture.trace.chunks:
        data = bytearray(chunk.data)
        for _ in range(choose.randrange(6)):
            data[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
        chunks.append(replace(chunk, data=bytes(data)))
    capture.trace.chunks = tuple(chunks)
    run = SwitchInspection(capture)
    events = list(run.all_events())
    places = [f"f0/px{choose.randrange(20)},{choose.randrange(20)}", *(str(e.address) for e in run.draws(0)[:2])]
    for place in places:
        with suppress(PocketGPUError):
            found = run.why(place)
            assert getattr(found, "proved", True), str(found)
    for event in events[-3:]:
        moment = run.seek(event.by_number)
        with suppress(PocketGPUError):
            assert str(moment) and moment.to_json() and len(moment.targets) == len(moment.surfaces())


# -- single events ----------------------------------------------------------------------------------------------------
PLACES = ("f0/d0", "f0/e0", "f1/d1", "f2/e5", "f1/d4", "f0/d3")


def test_an_event_needs_no_more_than_what_comes_before_it() -> None:
    whole = Scene(extra=3, frames=3).look()
    expected = {place: whole.event(place) for place in PLACES}
    listed = [one.to_json(words=True) for one in whole.all_events()]
    for place in PLACES:
        one = Scene(extra=3, frames=3).look()
        found = one.event(place)
        assert found.to_json(words=True) == expected[place].to_json(words=True)
        assert len(one.recorder.traces) == one.recorder.tick_of(found) < len(listed), "nothing later was played"
        assert one.draw_before(place) == whole.draw_before(place)
        assert one.seek(place).registers() == whole.seek(place).registers()
        assert [event.to_json(words=True) for event in one.all_events()] == listed
    one = Scene(extra=3, frames=3).look()
    for place in (*PLACES, *PLACES[::-1]):  # forwards, and after going back
        one.seek("f0/e1")
        assert one.event(place).to_json() == expected[place].to_json()


@pytest.mark.parametrize("place", ["f0/d5", "f2/d99", "f1/e99", "f3/d0", "f9/e0"])
def test_events_that_are_not_there_are_told_as_before(place: str) -> None:
    with pytest.raises(UsageError) as first:
        Scene(extra=3, frames=3).look().event(place)
    whole = Scene(extra=3, frames=3).look()
    list(whole.all_events())
    with pytest.raises(UsageError) as second:
        whole.event(place)
    assert str(first.value) == str(second.value) and first.value.hint == second.value.hint
