"""The recorder's copy of the replay's memory: what is told arrives, and nothing is stored over the replay's pixels.

A model in Python plays an emulator, whose GPU draws one thing, and the replay, whose GPU draws another.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from pocketgpu.capture import pgc
from pocketgpu.capture.formats.pgc.contents import Load, Store, bytes_of

from .conftest import BAD_CALL, N3DS, OK, SWITCH, Recorder, Surface

PAGE = 4096
BASE = 0x20000000
Open = Callable[..., Recorder]


def loads(recorder: Recorder) -> list[tuple[int, bytes]]:
    """What each LOAD or STORE of the closed recording stores, and where."""
    found = []
    for event in pgc.parse(bytes(recorder.data)).memory_events():
        place = event.address if isinstance(event, Load) else event.offset
        found.append((place, bytes_of(event.pieces)))
    return found


@pytest.mark.parametrize("console", [N3DS, SWITCH])
@pytest.mark.parametrize("seed", range(12))
def test_the_replay_has_what_the_program_wrote_and_keeps_what_its_gpu_drew(
    recorder: Open, console: int, seed: int
) -> None:
    random = Random(seed)
    size = 6 * PAGE
    recording = recorder(console)
    if console == SWITCH:
        recording.map(0x500000000, size, 7, 0)

    def tell(at: int, data: bytes | bytearray) -> int:
        if console == N3DS:
            return recording.memory(BASE + at, data, len(data))
        return recording.handle_memory(7, at, data, len(data))

    def drawn(at: int, data: bytes | bytearray) -> int:
        if console == N3DS:
            return recording.gpu_wrote(BASE + at, data, len(data))
        return recording.handle_gpu_wrote(7, at, data, len(data))

    def work() -> int:
        return recording.end_frame() if console == N3DS else recording.submit(0, None, 0)

    emulator = bytearray(size)
    # For each word, what the replay must hold: the emulator's (None), or its own pixels.
    own: list[bytes | None] = [None] * (size // 4)
    steps: list[tuple[str, int, bytes]] = []
    for _ in range(60):
        what = random.choice(("write", "write", "tell", "draw", "everything"))
        start = 4 * random.randrange(size // 4)
        end = min(size, start + 4 * random.choice((1, 2, 9, 500, 1024, 3000)))
        if what == "write":
            new = random.choice((bytes(end - start), b"\x11" * (end - start), random.randbytes(end - start)))
            for word in range(start // 4, end // 4):
                part = new[4 * word - start : 4 * word - start + 4]
                # A word that looks as before cannot be told from one that was not written.
                if emulator[4 * word : 4 * word + 4] != part:
                    own[word] = None
            emulator[start:end] = new
        elif what == "draw":
            # The emulator tells what the program changed there before, as it must before the GPU works.
            assert tell(0, emulator) == OK
            steps.append(("told", 0, bytes(emulator)))
            emulator[start:end] = random.randbytes(end - start)
            replayed = random.randbytes(end - start)
            for word in range(start // 4, end // 4):
                own[word] = replayed[4 * word - start : 4 * word - start + 4]
            steps.append(("draw", start, replayed))
            assert drawn(start, emulator[start:end]) == OK
            assert work() == OK
        else:
            low, high = (0, size) if what == "everything" else (start, end)
            assert tell(low, emulator[low:high]) == OK
            steps.append(("told", low, bytes(emulator[low:high])))
    assert tell(0, emulator) == OK
    assert work() == OK
    if console == SWITCH:
        assert recording.present(Surface(gpu_address=0x500000000, width=16, height=16, stride=64)) == OK
    assert recording.close() == OK

    replay = bytearray(size)
    draws = iter([step for step in steps if step[0] == "draw"])
    contents = pgc.parse(bytes(recording.data))
    if console == N3DS:
        for number, part in enumerate(contents.frames):
            for event in part.events:
                assert isinstance(event, Load)
                data = bytes_of(event.pieces)
                replay[event.address - BASE : event.address - BASE + len(data)] = data
            if number + 1 < len(contents.frames):
                _, at, pixels = next(draws)
                replay[at : at + len(pixels)] = pixels
    else:
        (part,) = contents.frames
        for event in part.events:
            if isinstance(event, Store):
                data = bytes_of(event.pieces)
                assert event.handle == 7 and event.gpu_va == 0x500000000 + event.offset
                replay[event.offset : event.offset + len(data)] = data
            elif type(event).__name__ == "Submit" and (step := next(draws, None)):
                replay[step[1] : step[1] + len(step[2])] = step[2]
    assert next(draws, None) is None
    for word, pixels in enumerate(own):
        expected = bytes(emulator[4 * word : 4 * word + 4]) if pixels is None else pixels
        assert replay[4 * word : 4 * word + 4] == expected, f"word {word}"


def test_what_stays_takes_no_room(recorder: Open) -> None:
    recording = recorder(N3DS)
    memory = bytearray(random_bytes(20 * PAGE))
    recording.memory(BASE, memory, len(memory))
    size = len(recording.data)
    for _ in range(50):
        recording.memory(BASE, memory, len(memory))
        recording.memory(BASE + 5, memory[5:777], 772)
    memory[3 * PAGE + 8] ^= 1
    recording.memory(BASE, memory, len(memory))
    recording.end_frame()
    recording.close()
    assert loads(recording)[1:] == [(BASE + 3 * PAGE + 8, bytes(memory[3 * PAGE + 8 : 3 * PAGE + 12]))]
    assert len(recording.data) < size + 20 * PAGE + 200


def random_bytes(count: int) -> bytes:
    return Random(1).randbytes(count)


def test_zeros_are_there_already(recorder: Open) -> None:
    recording = recorder(N3DS)
    recording.memory(0x18000000, bytes(6 << 20), 6 << 20)
    recording.end_frame()
    recording.close()
    assert loads(recording) == [] and len(recording.data) < 100


def test_equal_blocks_are_stored_once(recorder: Open) -> None:
    """Two buffers of the same 64 KiB pieces: the second costs only references."""
    recording = recorder(N3DS)
    content = random_bytes(1 << 18)
    for copy in range(4):
        recording.memory(BASE + (copy << 20), content, len(content))
    recording.end_frame()
    recording.close()
    assert loads(recording) == [(BASE + (copy << 20), content) for copy in range(4)]
    assert len(recording.data) < len(content) + 300


def test_long_runs_come_in_few_loads(recorder: Open) -> None:
    recording = recorder(N3DS)
    content = b"abc!" * (10 << 20)
    recording.memory(BASE, content, len(content))
    recording.end_frame()
    recording.close()
    found = loads(recording)
    assert len(found) == 3 and b"".join(data for _, data in found) == content
    assert [place for place, _ in found] == [BASE, BASE + len(found[0][1]), BASE + len(found[0][1]) + len(found[1][1])]
    assert len(recording.data) < 1 << 18  # all pieces are alike


def test_pages_that_the_program_fills_are_its_own_again(recorder: Open) -> None:
    """After a whole page is new, changes in it make one load again instead of one for each word."""
    recording = recorder(N3DS)
    recording.gpu_wrote(BASE, b"\x77" * PAGE, PAGE)
    recording.memory(BASE, b"\x88" * PAGE, PAGE)
    memory = bytearray(b"\x88" * PAGE)
    memory[100:104] = memory[200:204] = b"\x99" * 4
    recording.memory(BASE, memory, PAGE)
    recording.end_frame()
    recording.close()
    assert loads(recording) == [(BASE, b"\x88" * PAGE), (BASE + 100, bytes(memory[100:204]))]


@pytest.mark.parametrize("low", [0, 1, 2, 3, 5, 4090])
def test_where_the_gpu_drew_changes_are_words(recorder: Open, low: int) -> None:
    """Programs store words, so all bytes of a word that has changed are the program's; its neighbours may be pixels."""
    recording = recorder(N3DS)
    memory = bytearray(b"\x77" * (2 * PAGE))
    recording.gpu_wrote(BASE, memory, len(memory))
    for place in (0x1001, 0x1103, 0x1107, 0x11FC):
        memory[place] ^= 0xFF
    recording.memory(BASE + low, memory[low:], len(memory) - low)
    recording.end_frame()
    recording.close()
    changed = ((0x1000, 4), (0x1100, 8), (0x11FC, 4))
    assert loads(recording) == [(BASE + at, bytes(memory[at : at + size])) for at, size in changed]


def test_a_range_that_begins_or_ends_inside_of_a_word_is_kept_to(recorder: Open) -> None:
    recording = recorder(N3DS)
    recording.gpu_wrote(BASE, b"\x77" * 64, 64)
    recording.memory(BASE + 2, b"\x11" * 5, 5)
    recording.memory(BASE + PAGE + 2, b"\x22" * 5, 5)
    recording.end_frame()
    recording.close()
    assert loads(recording) == [(BASE + 2, b"\x11" * 5), (BASE + PAGE + 2, b"\x22" * 5)]


def test_all_addresses_are_told_to_the_last_byte(recorder: Open) -> None:
    recording = recorder(N3DS)
    assert recording.memory(0xFFFFF001, b"\x01" * 0xFFF, 0xFFF) == OK
    assert recording.end_frame() == OK
    recording.close()
    assert loads(recording) == [(0xFFFFF001, b"\x01" * 0xFFF)]
    for call in ("memory", "gpu_wrote"):
        over = recorder(N3DS)
        assert getattr(over, call)(0xFFFFF001, bytes(0x1000), 0x1000) == BAD_CALL
        over.close()
