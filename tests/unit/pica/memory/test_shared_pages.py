"""Pages that somebody writes without stamping them: the question for their version notices."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu import arena as arena_module
from pocketgpu.arena import PAGE_SIZE, Arena
from pocketgpu.pica.memory.guest import GuestMemory

PAGES = 40


def shared(first: int = 4, count: int = 32) -> Arena:
    arena = Arena(PAGES * PAGE_SIZE, PAGES * PAGE_SIZE, PAGE_SIZE)
    arena.share(first * PAGE_SIZE, count * PAGE_SIZE)
    return arena


def newest(arena: Arena, page: int, count: int = 1) -> int:
    return arena.newest(page * PAGE_SIZE, count * PAGE_SIZE)


def write(arena: Arena, page: int, value: int = 1, at: int = 0) -> None:
    arena.arena[page * PAGE_SIZE + at] = value


@pytest.mark.parametrize("at", [0, 1, PAGE_SIZE - 1])
@pytest.mark.parametrize("page", [4, 19, 20, 35])
def test_a_byte_changes_the_version_of_its_page_only(page: int, at: int) -> None:
    arena = shared()
    before = [newest(arena, n) for n in range(PAGES)]
    arena.others_wrote()
    write(arena, page, at=at)
    assert newest(arena, 4, 32) > max(before)
    assert [n for n in range(PAGES) if newest(arena, n) != before[n]] == [page]


def test_pages_are_compared_once_in_an_epoch() -> None:
    arena = shared()
    before = newest(arena, 5)
    write(arena, 5)
    assert newest(arena, 5) == before  # nobody has said that somebody wrote
    epoch = arena.epoch
    arena.others_wrote()
    assert arena.epoch != epoch
    assert newest(arena, 5) > before


def test_equal_bytes_keep_their_version_and_pages_of_others_are_not_compared() -> None:
    arena = shared()
    before = newest(arena, 5), newest(arena, 2)
    arena.others_wrote()
    write(arena, 5, 0)
    write(arena, 2)
    assert (newest(arena, 5), newest(arena, 2)) == before


def test_stamps_in_between_do_not_hide_a_write() -> None:
    """Bytes A are known; the GPU writes B, which somebody asks about in the same epoch; then A is written again."""
    arena = shared()
    newest(arena, 5)
    arena.store(5 * PAGE_SIZE, b"\1")
    with_b = newest(arena, 5)
    arena.others_wrote()
    write(arena, 5, 0)
    with_a = newest(arena, 5)
    assert with_a > with_b
    arena.others_wrote()
    write(arena, 5, 2)
    arena.touch(5 * PAGE_SIZE, 1)
    assert newest(arena, 5) > with_a


def test_looking_stamps_what_was_asked_for_before() -> None:
    """For kernels that read versions themselves."""
    arena = shared()
    asked, other = newest(arena, 5), int(arena.page_versions[6])
    arena.others_wrote()
    write(arena, 5)
    write(arena, 6)
    arena.look()
    assert arena.page_versions[5] > asked and arena.page_versions[6] == other
    stamped = int(arena.page_versions[5])
    arena.look()
    assert arena.page_versions[5] == stamped


def test_snapshots_have_what_others_wrote() -> None:
    arena = shared()
    empty = arena.snapshot()
    arena.others_wrote()
    write(arena, 5)
    one = arena.snapshot()
    arena.others_wrote()
    write(arena, 5, 2)
    write(arena, 7)
    two = arena.snapshot()
    assert one.bytes_beside(empty) == PAGE_SIZE + one.versions.nbytes
    assert two.bytes_beside(one) == 2 * PAGE_SIZE + one.versions.nbytes
    assert arena.snapshot().bytes_beside(two) == one.versions.nbytes
    write(arena, 5, 0)
    write(arena, 9)
    for kept, values in ((one, (1, 0, 0)), (two, (2, 1, 0)), (empty, (0, 0, 0))):
        before = newest(arena, 4, 32)
        arena.restore(kept)
        assert tuple(int(arena.arena[page * PAGE_SIZE]) for page in (5, 7, 9)) == values
        assert newest(arena, 4, 32) > before


def test_any_order_of_writes_and_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version never stays the same while bytes change, whatever happens between two questions; also when stamps are
    used up."""
    monkeypatch.setattr(arena_module, "_LAST_VERSION", 300)
    random = np.random.default_rng(3)
    arena = shared()
    known: dict[tuple[int, int], tuple[int, int, bytes]] = {}
    for _ in range(4000):
        page, value = int(random.integers(2, 12)), int(random.integers(0, 3))
        match int(random.integers(0, 6)):
            case 0:
                arena.others_wrote()
                write(arena, max(page, 4), value)
            case 1:
                arena.store(page * PAGE_SIZE, bytes([value]))
            case 2:
                arena.touch(page * PAGE_SIZE, 1)
            case 3:
                arena.look()
            case _:
                count = int(random.integers(1, 4))
                version = newest(arena, page, count)
                now = arena.arena[page * PAGE_SIZE :][: count * PAGE_SIZE].tobytes()
                era, before, held = known.get((page, count), (-1, 0, b""))
                if era == arena._era and before == version:
                    assert held == now, (page, count)
                known[page, count] = arena._era, version, now
    assert arena._era > 0


def test_a_reset_forgets_nothing_of_who_writes() -> None:
    memory = GuestMemory(1 << 20, 1 << 20)
    offset = memory.offset_of(0x20000000, PAGE_SIZE)
    assert offset is not None
    memory.share(offset, PAGE_SIZE)
    memory.arena[offset] = 1
    memory.reset()
    assert memory.arena[offset] == 0
    before = memory.newest(offset, 1)
    memory.others_wrote()
    memory.arena[offset] = 1
    assert memory.newest(offset, 1) > before


@pytest.mark.parametrize("source", [None, "/absent", "/dev/zero"], ids=["the host tells", "it does not", "it is wrong"])
def test_snapshots_have_all_pages_that_are_used(source: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if source is not None:
        monkeypatch.setattr(arena_module, "_PAGE_MAP", source)
    arena = shared()
    for page in (5, 6, 20):
        write(arena, page, 7)
    assert arena.arena[30 * PAGE_SIZE] == 0, "a page that was read is in use, too"
    arena.others_wrote()
    first = arena.snapshot()
    assert sorted(first.pages) == [5, 6, 20]
    write(arena, 6, 0)
    write(arena, 35, 9)
    arena.others_wrote()
    second = arena.snapshot()
    assert sorted(second.pages) == [5, 20, 35] and second.pages[5] is first.pages[5]
    arena.restore(first)
    assert [int(arena.arena[n * PAGE_SIZE]) for n in (5, 6, 20, 35)] == [7, 7, 7, 0]
