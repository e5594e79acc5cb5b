"""The state of a Switch channel as records: what is saved comes back, in another machine and another channel."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.capture.formats.pgc import channel_state
from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc.contents import StateRecord
from pocketgpu.maxwell.engines.common.constants import GROUPS, SLOTS, Binding
from pocketgpu.maxwell.engines.threed.engine import ThreeD
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.layout import CLASS_OF_FILE, FILES

NUMBERS = {item.name: item.number for item in F.STATE_SWITCH}
THREED = CLASS_OF_FILE.index(0xB197)


def bindings(channel: Channel) -> list[list[Binding | None]]:
    engine = channel.engines[THREED]
    assert isinstance(engine, ThreeD)
    return [list(slots) for slots in engine.constants.bindings]


def some_channel(seed: int) -> Channel:
    """A channel with random registers, macros, pointers and constant buffers."""
    r = np.random.default_rng(seed)
    channel = GM20B().channel(3)
    for file in range(FILES):
        channel.files[file] = r.integers(0, 1 << 32, channel.files[file].shape, np.uint64)
        channel.shadows[file] = r.integers(0, 1 << 32, channel.shadows[file].shape, np.uint64)
    for subchannel in range(8):
        channel.put("BINDINGS", int(r.integers(FILES)), subchannel)
    channel.put("SHADOW_MODE", int(r.integers(4)))
    channel.put("MME_POINTER", int(r.integers(1 << 31)))
    channel.put("MME_START_POINTER", int(r.integers(1 << 31)))
    channel.mme_code[5:60] = r.integers(1, 1 << 32, 55)
    channel.mme_starts[2:7] = r.integers(0, 60, 5)
    channel.mme_known[2:7] = 1
    engine = channel.engines[THREED]
    assert isinstance(engine, ThreeD)
    for group, slot in ((0, 0), (0, SLOTS - 1), (1, 3), (len(GROUPS) - 1, SLOTS - 1)):
        engine.constants.set(group, slot, Binding(int(r.integers(1 << 40)) & -256, int(r.integers(1, 0x10001))))
    return channel


@pytest.mark.parametrize("seed", range(2))
def test_a_state_comes_back(seed: int) -> None:
    old = some_channel(seed)
    records = list(channel_state.save(old, 9))
    assert {record.channel for record in records} == {9}
    new = GM20B().channel(1)
    for record in records:
        channel_state.restore(new, record)
    for name in ("files", "shadows", "mme_code", "mme_starts", "mme_known"):
        assert np.array_equal(getattr(old, name), getattr(new, name)), name
    for name in ("SHADOW_MODE", "MME_POINTER", "MME_START_POINTER"):
        assert new.get(name) == old.get(name), name
    assert [new.get("BINDINGS", n) for n in range(8)] == [old.get("BINDINGS", n) for n in range(8)]
    assert bindings(new) == bindings(old) and sum(slot is not None for group in bindings(new) for slot in group) == 4
    assert new.get("MME_TOP") == 60
    again = list(channel_state.save(new, 9))
    assert [(one.item, one.first, one.class_id, one.words.tolist()) for one in again] == [
        (one.item, one.first, one.class_id, one.words.tolist()) for one in records
    ]


def test_records_hold_what_is_used_and_no_more() -> None:
    channel = GM20B().channel()
    assert {record.item for record in channel_state.save(channel, 0)} >= {NUMBERS["bindings"], NUMBERS["registers"]}
    empty = {NUMBERS[name] for name in ("mme_code", "mme_starts", "constant_buffers")}
    assert not empty & {record.item for record in channel_state.save(channel, 0)}
    channel.mme_code[7:9] = (1, 2)
    found = [record for record in channel_state.save(channel, 0) if record.item == NUMBERS["mme_code"]]
    assert [(record.first, record.words.tolist()) for record in found] == [(7, [1, 2])]


def test_values_that_do_not_fit_are_cut() -> None:
    """A damaged recording cannot put a channel into a state that a machine never has."""
    channel = GM20B().channel()
    ones = np.full(8, 0xFFFFFFFF, np.uint32)
    for name in ("bindings", "shadow_mode", "mme_pointers", "constant_buffers"):
        channel_state.restore(channel, StateRecord(NUMBERS[name], ones[:4], 0, 0))
    found = [channel.get(name) for name in ("SHADOW_MODE", "MME_POINTER", "MME_START_POINTER")]
    assert found == [3, 0x7FFFFFFF, 0x7FFFFFFF]
    assert bindings(channel)[0][0] == Binding((1 << 40) - 1, 0x1FFFF)
    channel_state.restore(channel, StateRecord(NUMBERS["registers"], ones, 0, 0, class_id=0x1234))
    channel_state.restore(channel, StateRecord(255, ones, 0, 0))
