"""Loads, stores, gathers and scatters: narrow types, masks of every kind, places that repeat or lie outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pocketgpu.lanes import F32, I8, I16, I32, I64, U8, U16, Lang, Type, Value, kernel

IN_A, IN_B, OUT = 0x2000, 0xA000, 0x12000
LANES = [1, 4, 8, 16, 32]  # 1 stands for scalar code


def wrap(x: int) -> int:
    """As an i32."""
    return (x + (1 << 31)) % (1 << 32) - (1 << 31)


DTYPES: dict[str, Any] = {
    "u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16,
    "i32": np.int32, "i64": np.int64, "f32": np.float32,
}  # fmt: skip


@pytest.mark.parametrize("lanes", LANES)
def test_narrow_memory(both: Any, lanes: int) -> None:
    """Narrow loads extend by their sign, narrow stores keep the low bits and leave the neighbours alone."""
    types = [U8, I8, U16, I16]

    @kernel(lanes=max(lanes, 4))
    def narrow(k: Lang) -> None:
        for j, t in enumerate(types):
            k.store(I32, OUT + 0x100 * j, k.load(t, IN_A + t.bytes, lanes))
            k.store(t, OUT + 0x1000 + 0x100 * j + t.bytes, k.load(I32, IN_B, lanes))
            k.store(t, OUT + 0x2000 + 0x100 * j + t.bytes, k.splat(k.i32(0x1FF7F), lanes))

    wide = np.array([wrap(0x9E3779B9 * i + 0x7FFF) for i in range(lanes)], np.int32)
    both.fill(wide, IN_B)
    for arena in both.arenas.values():
        arena[OUT : OUT + 0x3000] = 0xEE
    both.run(narrow)
    for j, t in enumerate(types):
        dtype = DTYPES[t.name]
        assert both.read(np.int32, OUT + 0x100 * j, lanes).tolist() == both.read(dtype, IN_A + t.bytes, lanes).tolist()
        for at, source in ((OUT + 0x1000, wide), (OUT + 0x2000, np.full(lanes, 0x1FF7F, np.int32))):
            got = both.read(dtype, at + 0x100 * j, lanes + 2)
            guard = np.array([0xEE] * t.bytes, np.uint8).view(dtype)[0]
            assert got.tolist() == [guard, *source.astype(dtype).tolist(), guard]


@pytest.mark.parametrize("type", [U8, I8, U16, I16, I32, I64, F32], ids=str)
def test_masked_stores_and_gathers(both: Any, type: Type) -> None:
    """Masks of every kind: lanes, scalar, splat, all and nothing."""
    dtype, size = DTYPES[type.name], type.bytes
    step = 0x100

    @kernel(lanes=8, flag=I32)
    def masked(k: Lang, flag: Value) -> None:
        lane, on = k.iota(), flag == 1
        masks = [(lane & 1) == 1, on, k.splat(on), on & (lane > 5), lane < 0, lane >= 0]
        value = k.load(type, IN_A, 8)
        places = ((lane * 5) & 7) * size
        for j, mask in enumerate(masks):
            k.store(type, OUT + step * j, value, mask)
            k.store(type, OUT + 0x1000 + step * j, k.lane(value, 3), mask)
            k.scatter(type, places + (OUT + 0x2000 + step * j), value, mask)
            k.store(type, OUT + 0x3000 + step * j, k.gather(type, places + IN_A, mask))
        k.store(type, OUT + 0x3800, k.gather(type, k.to_i64(places) + IN_A))
        k.store(type, OUT + 0x3900, k.gather(type, k.splat(k.i32(IN_A + size))))
        k.scatter(type, k.splat(k.to_i64(flag * size) + (OUT + 0x3A00)), value)  # one place: the last lane stays
        k.scatter(type, (lane & 1) * size + (OUT + 0x3B00), value, lane < 5)
        k.store(type, OUT + 0x3C00, k.gather(type, lane * 0 - 64, lane < 0))  # switched-off lanes may point anywhere

    source = both.read(dtype, IN_A, 8).copy()
    for flag in (0, 1):
        before = both.read(np.uint8, OUT, 0x4000).copy()
        both.run(masked, flag)
        lane, on = np.arange(8), np.full(8, flag == 1)
        places = lane * 5 % 8
        for j, mask in enumerate((lane % 2 == 1, on, on, on & (lane > 5), lane < 0, lane >= 0)):
            old = [before[o + step * j : o + step * j + 8 * size].view(dtype) for o in (0, 0x1000, 0x2000)]
            scattered = old[2].copy()
            scattered[places[mask]] = source[mask]
            gathered = np.where(mask, source[places], dtype(0))
            one = mask & (lane == 0) if j == 1 else mask
            for at, expected in (
                (0, np.where(mask, source, old[0])),
                (0x1000, np.where(one, source[3], old[1])),
                (0x2000, scattered),
                (0x3000, gathered),
            ):
                got = both.read(np.uint8, OUT + at + step * j, 8 * size)
                assert got.tolist() == expected.astype(dtype).view(np.uint8).tolist(), (j, hex(at))

        def stored(at: int, count: int) -> list[int]:
            return both.read(np.uint8, OUT + at, count * size).tolist()

        assert stored(0x3800, 8) == source[places].view(np.uint8).tolist()
        assert stored(0x3900, 8) == source[[1] * 8].view(np.uint8).tolist()
        assert stored(0x3A00 + flag * size, 1) == source[7:].view(np.uint8).tolist()
        assert stored(0x3B00, 2) == source[[4, 3]].view(np.uint8).tolist()
        assert stored(0x3C00, 8) == [0] * (8 * size)


@pytest.mark.parametrize("lanes", [4, 8, 16, 32])
@pytest.mark.parametrize("count", [2, 4])
def test_gathered_words(both: Any, lanes: int, count: int) -> None:
    """Several words for each lane, from places that overlap, after a base that is known or not."""

    @kernel(lanes=lanes, base=I32)
    def gathered(k: Lang, base: Value) -> None:
        places = ((k.iota() * 7) & 15) * 4
        for n, word in enumerate(k.gather_words(places, count, base)):
            k.store(I32, OUT + 0x100 * n, word)
        for n, word in enumerate(k.gather_words(places + IN_A, count)):
            k.store(I32, OUT + 0x1000 + 0x100 * n, word)

    both.run(gathered, IN_A)
    words = both.read(np.int32, IN_A, 32)
    places = np.arange(lanes) * 7 & 15
    for n in range(count):
        for at in (OUT, OUT + 0x1000):
            assert both.read(np.int32, at + 0x100 * n, lanes).tolist() == words[places + n].tolist()


@pytest.mark.parametrize("lanes", [4, 8, 16, 32])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_words_gathered_from_places_in_memory(both: Any, lanes: int, count: int) -> None:
    """Several words for each lane, from places that were stored in the same run."""

    @kernel(lanes=lanes, base=I32)
    def gathered(k: Lang, base: Value) -> None:
        k.store(I32, OUT + 0x800, ((k.iota() * 7) & 15) * 4)
        for n, word in enumerate(k.gather_words_at(k.i32(OUT + 0x800), lanes, count, base)):
            k.store(I32, OUT + 0x100 * n, word)

    both.run(gathered, IN_A)
    words = both.read(np.int32, IN_A, 32)
    places = np.arange(lanes) * 7 & 15
    for n in range(count):
        assert both.read(np.int32, OUT + 0x100 * n, lanes).tolist() == words[places + n].tolist()
