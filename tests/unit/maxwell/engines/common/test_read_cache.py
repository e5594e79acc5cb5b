"""Results that are kept by the registers that were read for them."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.read_cache import ReadCache
from pocketgpu.maxwell.engines.common.state import State

Make = Callable[[State], object]


def state_of(**words: int) -> State:
    registers = np.zeros(0x1000, np.uint32)
    for name, word in words.items():
        registers[B197[name].word] = word
    return State(B197, registers)


def test_every_way_to_read_is_noted() -> None:
    state = state_of(SET_BLEND_CONST_RED=0x3F800000, SET_ZT_A=5, SET_ZT_B=6, SET_CT_SELECT=8)
    for read, names in (
        (lambda s: s.word("SET_CT_SELECT") == 8, ("SET_CT_SELECT",)),
        (lambda s: s.signed("SET_DEPTH_TEST") == 0, ("SET_DEPTH_TEST",)),
        (lambda s: s.field("SET_CT_SELECT", "TARGET_COUNT") == 8, ("SET_CT_SELECT",)),
        (lambda s: s.float("SET_BLEND_CONST_RED") == 1.0, ("SET_BLEND_CONST_RED",)),
        (lambda s: s.address("SET_ZT_A") == 5 << 32 | 6, ("SET_ZT_A", "SET_ZT_B")),
        (lambda s: s.at(B197["SET_ZT_B"].word) == 6, ("SET_ZT_B",)),
        (lambda s: s.values(np.array([B197["SET_ZT_A"].word])).tolist() == [5], ("SET_ZT_A",)),
        (lambda s: s.peek(np.array([B197["SET_ZT_A"].word])) == b"\5\0\0\0", ()),
    ):
        recording = state.recording()
        assert read(recording) and read(state)
        assert recording.places.tolist() == sorted(B197[name].word for name in names)
    recording = state.recording()
    assert recording.registers[B197["SET_ZT_A"].word] == 5 and recording.read.all()


def test_elements_of_arrays_are_words_of_their_own() -> None:
    recording = state_of().recording()
    recording.field("SET_BLEND", "ENABLE", 3)
    assert recording.places.tolist() == [B197["SET_BLEND"].word + 3]


def test_words_that_were_not_read_may_change() -> None:
    made = []

    def make(state: State) -> int:
        made.append(1)
        return state.word("SET_BLEND_COLOR_OP") if state.word("SET_BLEND") else -1

    cache: ReadCache[int] = ReadCache(10)
    for blend, operation, found, count in ((0, 1, -1, 1), (0, 2, -1, 1), (1, 2, 2, 2), (1, 3, 3, 3), (0, 3, -1, 3),
                                           (1, 2, 2, 3)):  # fmt: skip
        assert cache.get(state_of(SET_BLEND=blend, SET_BLEND_COLOR_OP=operation), make) == found
        assert len(made) == count == len(cache)


def test_inputs_count() -> None:
    cache: ReadCache[int] = ReadCache(10)
    for given in (1, 2, 1):
        assert cache.get(state_of(), lambda state, given=given: given + state.word("SET_BLEND"), given) == given
    assert len(cache) == 2


def test_there_is_an_end_to_what_is_kept() -> None:
    cache: ReadCache[int] = ReadCache(3)
    for n in range(3):
        cache.get(state_of(SET_BLEND=n), lambda state: state.word("SET_BLEND"))
    assert cache.full and len(cache) == 3
    assert cache.get(state_of(SET_BLEND=9), lambda state: state.word("SET_BLEND")) == 9
    assert len(cache) == 1 and not cache.full
    cache.clear()
    assert len(cache) == 0 and cache.find(state_of(SET_BLEND=9)) is None


def tree(r: random.Random, depth: int) -> Make:
    """A computation that reads some words, and goes on as they say; each leaf has a result of its own."""
    if depth == 0:
        leaf = r.random()
        return lambda state: leaf
    place, parts = r.randrange(12), [tree(r, depth - 1) for _ in range(2)]
    return lambda state: (parts[state.at(place) & 1](state), state.at(place) >> 1)


@pytest.mark.parametrize("seed", range(20))
def test_found_is_what_would_be_made(seed: int) -> None:
    """Any computation, on any registers, within others that keep results, too."""
    r = random.Random(seed)
    inner, outer = tree(r, 4), tree(r, 4)
    kept: tuple[ReadCache[object], ReadCache[object]] = ReadCache(1000), ReadCache(1000)

    def both(state: State) -> object:
        return outer(state), kept[1].get(state, inner)

    for _ in range(400):
        registers = np.array([r.randrange(4) if r.random() < 0.3 else 0 for _ in range(12)], np.uint32)
        state = State(B197, registers)
        assert kept[0].get(state, both) == (outer(state), inner(state))
    assert 1 < len(kept[0]) < 400
