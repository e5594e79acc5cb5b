"""Host methods: semaphores, syncpoints, fences, interrupts; channels that wait for each other, and deadlocks."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from support.channels import DATA, Sender, immd, inc

from pocketgpu.maxwell.gm20b import GM20B

A = 0x280
ACQUIRE, RELEASE, GEQ, AND, REDUCTION = 1, 2, 4, 8, 16
SHORT = 1 << 24
HIGH, LOW = DATA >> 32, DATA & 0xFFFFFFFF
MIN, MAX, XOR, BAND, OR, ADD, INC, DEC = range(8)


def semaphore(payload: int, operation: int, offset: int = 0) -> list[int]:
    return inc(0x4, HIGH, LOW + offset, payload, operation)


def syncpoint(index: int, threshold: int = 0, increment: bool = False) -> list[int]:
    return inc(0x1C, threshold, index << 8 | int(increment))


@pytest.fixture
def sender() -> Sender:
    return Sender()


# -- semaphores -------------------------------------------------------------------------------------------------------
def test_a_short_release_leaves_its_neighbours_alone(sender: Sender) -> None:
    sender.gpu.memory.write(DATA, np.full(8, 0xAAAAAAAA, np.uint32))
    sender.send(semaphore(0x1234, RELEASE | SHORT, 4))
    assert [sender.data(4 * n) for n in range(4)] == [0xAAAAAAAA, 0x1234, 0xAAAAAAAA, 0xAAAAAAAA]


def test_a_long_release_has_a_time_stamp(sender: Sender) -> None:
    sender.gpu.memory.write(DATA, np.full(8, 0xAAAAAAAA, np.uint32))
    sender.send(semaphore(0x1234, RELEASE), semaphore(0x5678, RELEASE, 16))
    words = np.frombuffer(sender.gpu.memory.read(DATA, 32), np.uint32)
    assert [words[0], words[1], words[4], words[5]] == [0x1234, 0, 0x5678, 0]
    first, second = np.frombuffer(sender.gpu.memory.read(DATA, 32), np.uint64)[[1, 3]]
    assert 0 < first < second < 1000  # the work done makes time pass


def test_time_is_the_same_in_every_run() -> None:
    stamps = []
    for _ in range(2):
        sender = Sender().send(inc(A, 1, 2, 3), semaphore(1, RELEASE))
        stamps.append(sender.gpu.memory.read(DATA + 8, 8))
    assert stamps[0] == stamps[1] != bytes(8)


def test_bits_1_and_0_of_the_address_are_none(sender: Sender) -> None:
    sender.send(inc(0x4, HIGH, LOW | 3, 7, RELEASE | SHORT))
    assert sender.data() == 7


CASES = {
    (MIN, 0): [(5, 3, 3), (0xFFFFFFFF, 3, 0xFFFFFFFF), (0x80000000, 0x7FFFFFFF, 0x80000000)],
    (MIN, 1): [(5, 3, 3), (0xFFFFFFFF, 3, 3)],
    (MAX, 0): [(5, 3, 5), (0xFFFFFFFF, 3, 3)],
    (MAX, 1): [(5, 3, 5), (0xFFFFFFFF, 3, 0xFFFFFFFF)],
    (XOR, 1): [(0b1100, 0b1010, 0b0110)],
    (BAND, 1): [(0b1100, 0b1010, 0b1000)],
    (OR, 1): [(0b1100, 0b1010, 0b1110)],
    (ADD, 1): [(5, 3, 8), (0xFFFFFFFF, 2, 1)],
    (INC, 1): [(5, 9, 6), (9, 9, 0), (10, 9, 0)],
    (DEC, 1): [(5, 9, 4), (0, 9, 9), (10, 9, 9)],
}


@pytest.mark.parametrize(("operation", "unsigned"), list(CASES))
def test_reductions(sender: Sender, operation: int, unsigned: int) -> None:
    for old, payload, new in CASES[operation, unsigned]:
        sender.gpu.memory.write(DATA, np.array([old, 0x55], np.uint32))
        sender.send(semaphore(payload, REDUCTION | operation << 27 | unsigned << 31))
        assert (sender.data(), sender.data(4)) == (new, 0x55)


def test_undefined_reductions_and_operations_are_told(sender: Sender) -> None:
    sender.gpu.memory.write(DATA, np.array([9], np.uint32))
    sender.send(semaphore(1, REDUCTION | 9 << 27), semaphore(1, 0), semaphore(1, ACQUIRE | RELEASE))
    assert sender.data() == 9
    assert [event.id for event in sender.gpu.events] == ["channel.semaphore"] * 3


def test_semaphores_without_memory_are_faults(sender: Sender) -> None:
    sender.send(inc(0x4, 0x9, 0, 7, RELEASE), inc(0x7, ACQUIRE), inc(A, 1))
    assert [event.kind for event in sender.gpu.events] == ["fault"]
    assert sender.ids == ["channel.semaphore_unmapped"] and sender.word(A) == 1


WAITS = [
    (ACQUIRE, 5, [(4, False), (5, True), (6, False)]),
    (GEQ, 5, [(4, False), (5, True), (6, True), (0xFFFFFFFF, False)]),
    (GEQ, 0xFFFFFFFE, [(0xFFFFFFFD, False), (0xFFFFFFFF, True), (3, True)]),
    (AND, 0b110, [(0b001, False), (0b010, True), (0b111, True)]),
]


@pytest.mark.parametrize(("operation", "payload", "steps"), WAITS)
def test_acquires(operation: int, payload: int, steps: list[tuple[int, bool]]) -> None:
    for value, over in steps:
        sender = Sender()
        sender.gpu.memory.write(DATA, np.array([value], np.uint32))
        sender.send(semaphore(payload, operation), inc(A, 1))
        assert (sender.word(A) == 1) == over
        assert sender.gpu.channel().idle == over


def test_greater_or_equal_can_be_unsigned() -> None:
    for choice, over in (("circular", False), ("unsigned", True)):
        sender = Sender(channel__acquire_geq=choice)
        sender.gpu.memory.write(DATA, np.array([0xFFFFFFFF], np.uint32))
        sender.send(semaphore(5, GEQ), inc(A, 1))
        assert (sender.word(A) == 1) == over


def test_a_wait_ends_when_the_processor_writes_memory(sender: Sender) -> None:
    sender.send(semaphore(5, ACQUIRE), inc(A, 1))
    sender.send(inc(A + 1, 2))  # waits after it
    assert sender.words(A, 2) == [0, 0]
    sender.gpu.memory.write(DATA, np.array([5], np.uint32))
    sender.gpu.run()
    assert sender.words(A, 2) == [1, 2] and not sender.ids


def test_a_wait_ends_when_another_channel_releases(sender: Sender) -> None:
    sender.send(semaphore(5, ACQUIRE), inc(A, 1), semaphore(6, RELEASE | SHORT), channel=1)
    sender.send(inc(A, 2), semaphore(5, RELEASE | SHORT), semaphore(6, ACQUIRE), inc(A + 1, 3), channel=2)
    assert (sender.word(A, channel=1), sender.word(A + 1, channel=2)) == (1, 3)
    sender.gpu.finish()
    assert not sender.ids


def test_order_between_channels_follows_semaphores(sender: Sender) -> None:
    """A ping-pong of 50 rounds through one word."""
    one, two = [], []
    for turn in range(50):
        one += [*semaphore(2 * turn, ACQUIRE), *semaphore(2 * turn + 1, RELEASE | SHORT)]
        two += [*semaphore(2 * turn + 1, ACQUIRE), *semaphore(2 * turn + 2, RELEASE | SHORT)]
    sender.send(one, channel=0).send(two, channel=1)
    sender.gpu.finish()
    assert sender.data() == 100 and not sender.ids


# -- syncpoints -------------------------------------------------------------------------------------------------------
def test_syncpoints_count_and_wrap(sender: Sender) -> None:
    gpu = sender.gpu
    gpu.syncpoints[9] = 0xFFFFFFFF
    sender.send(syncpoint(9, increment=True), syncpoint(9, increment=True), syncpoint(9, 0xFFFFFFFE), inc(A, 1))
    assert gpu.syncpoints[9] == 1 and sender.word(A) == 1
    assert gpu.stats.syncpoint_increments == 2 and gpu.stats.syncpoint_waits == 1


def test_a_syncpoint_wait_ends_when_another_channel_has_counted(sender: Sender) -> None:
    sender.send(syncpoint(3, 2), inc(A, 1), channel=0)
    sender.send(syncpoint(3, increment=True), channel=1)
    assert sender.word(A) == 0
    sender.send(syncpoint(3, increment=True), channel=1)
    assert sender.word(A) == 1


def test_a_syncpoint_wait_ends_when_the_processor_counts(sender: Sender) -> None:
    sender.send(syncpoint(3, 1), inc(A, 1))
    sender.gpu.syncpoints.increment(3)
    sender.gpu.run()
    assert sender.word(A) == 1


def test_foreign_syncpoints_are_reached_when_asked_for(sender: Sender) -> None:
    sender.gpu.syncpoints.foreign_reached = True
    sender.send(syncpoint(26, 257), inc(A, 1))
    assert sender.word(A) == 1
    sender.send(syncpoint(7, increment=True), syncpoint(7, 2), inc(A, 2))
    assert sender.word(A) == 1  # that one is the channel's own


@pytest.mark.parametrize(("choice", "index"), [("8-bits", 0x12), ("12-bits", 0x312)])
def test_how_many_bits_name_a_syncpoint(choice: str, index: int) -> None:
    sender = Sender(channel__syncpoint_index=choice).send(inc(0x1C, 0, 0x312 << 8 | 1))
    assert sender.gpu.syncpoints.counted == {index}


def test_bases_are_kept_and_do_nothing(sender: Sender) -> None:
    sender.send(inc(0x1C, 5, 2), inc(0x1C, 5, 3), inc(A, 1))
    assert sender.word(A) == 1 and not sender.ids and not sender.gpu.syncpoints.counted


# -- the rest ---------------------------------------------------------------------------------------------------------
def test_interrupts_are_counted_by_name(sender: Sender) -> None:
    sender.send(inc(0x8, 123), inc(0x8, 0))
    assert sender.gpu.take_interrupts() == {"non-stall": 2}
    assert sender.gpu.take_interrupts() == {}


def test_the_reference_is_published(sender: Sender) -> None:
    sender.send(inc(0x14, 0xDEADBEEF))
    assert sender.gpu.channel().reference == 0xDEADBEEF


def test_illegal_says_where(sender: Sender) -> None:
    sender.segments(inc(A, 1), [*inc(A, 2), *immd(1, 0)])
    assert [(event.id, event.at) for event in sender.gpu.events] == [("channel.illegal_method", "s0/e1+2")]


def test_cache_methods_and_waits_for_idle_do_nothing(sender: Sender) -> None:
    for word in (0x2, 0x9, 0xA, 0xB, 0xC, 0xD, 0x1E, 0x1F):
        sender.send(inc(word, 0xFFFFFFFF))
    assert not sender.ids
    assert sender.gpu.stats.host_methods == 8


def test_yield_lets_others_go_first(sender: Sender) -> None:
    """The second channel comes second, but runs before what follows the yield."""
    release, keep = semaphore(1, RELEASE | SHORT), semaphore(2, RELEASE | SHORT)
    gpu = sender.gpu
    for operation, last in ((0, 2), (1, 1)):
        gpu.memory.write(DATA, bytes(4))
        first, second = sender.put([*inc(0x20, operation), *release]), sender.put(keep)
        gpu.channel(0).submit(0, np.array([first], np.uint64))
        gpu.channel(1).submit(1, np.array([second], np.uint64))
        gpu.run()
        assert sender.data() == last


# -- deadlocks --------------------------------------------------------------------------------------------------------
def test_a_deadlock_names_both_sides(sender: Sender) -> None:
    sender.send(semaphore(1, ACQUIRE), semaphore(2, RELEASE | SHORT, 16), inc(A, 1), channel=4)
    sender.send(semaphore(2, ACQUIRE, 16), semaphore(1, RELEASE | SHORT), inc(A, 2), channel=5)
    assert not sender.ids  # the processor might still write
    sender.gpu.finish()
    (event,) = sender.gpu.events
    assert (event.kind, event.id, event.at) == ("hang", "channel.deadlock", "s0/e0+4")
    assert f"channel 4 waits at s0/e0+4 for the semaphore at {DATA:#x} to become 0x1 (it is 0x0)" in event.message
    assert f"channel 5 waits at s1/e0+4 for the semaphore at {DATA + 16:#x} to become 0x2" in event.message
    # By default it goes on: the first is let go, and releases the second.
    assert (sender.word(A, channel=4), sender.word(A, channel=5)) == (1, 2)


def test_a_wait_that_nobody_is_left_to_release(sender: Sender) -> None:
    sender.send(inc(A, 1), channel=1)
    sender.send(syncpoint(5, 10), inc(A, 2), syncpoint(6, 1), inc(A + 1, 3), channel=0)
    sender.gpu.finish()
    events = list(sender.gpu.events)
    assert [event.id for event in events] == ["channel.deadlock"] * 2
    assert "syncpoint 5 to reach 10 (it is 0); the other 1 have nothing left to do" in events[0].message
    assert sender.words(A, 2) == [2, 3]


def test_a_deadlock_can_stop_the_channels() -> None:
    sender = Sender(channel__deadlock="stop")
    sender.send(semaphore(1, ACQUIRE), inc(A, 1)).send(inc(A, 2))
    sender.gpu.finish()
    assert sender.word(A) == 0 and sender.ids == ["channel.deadlock"]
    sender.send(inc(A, 3))  # a program that starts again
    assert sender.word(A) == 3


def test_finish_without_waits_tells_nothing() -> None:
    gpu = GM20B()
    gpu.finish()
    assert not list(gpu.events)


def test_waits_of_both_evaluators_are_the_same() -> None:
    for evaluator, (value, over) in product(("llvm", "numpy"), ((4, False), (5, True))):
        sender = Sender(evaluator)
        sender.gpu.memory.write(DATA, np.array([value], np.uint32))
        sender.send(inc(A, 9), semaphore(5, ACQUIRE), inc(A, 1))
        assert sender.word(A) == (1 if over else 9)
