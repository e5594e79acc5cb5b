"""The kernel and the services of the 3DS, against what real programs were told: every call, in order, tick by tick."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support import recordings
from support.conversations import Play, folder

from pocketgpu.guests.kernel.kernel import Kernel
from pocketgpu.guests.kernel.objects import Mutex
from pocketgpu.guests.kernel.threads import Wait
from pocketgpu.guests.n3ds.calls import register
from pocketgpu.guests.n3ds.kernel import N3DSKernel

NAMES = sorted(path.name.removesuffix(".jsonl.xz") for path in folder().glob("*.jsonl.xz"))
needed = pytest.mark.skipif(not NAMES, reason=recordings.REASON)


def played(name: str, most: int = 20) -> Play:
    """A conversation to its end, or until it differs too much."""
    play = Play(folder() / f"{name}.jsonl.xz")
    play.play(most)
    return play


@needed
@pytest.mark.parametrize("name", NAMES)
def test_every_required_answer_is_the_recorded_one(name: str) -> None:
    play = played(name)
    assert [str(one) for one in play.differences] == []
    # The last line is the end of the recording.
    assert play.compared == len(play.talk.lines) - 1


def _no_wake(self: N3DSKernel, address: int, count: int) -> None:
    """An arbiter that wakes nobody."""


def _never_free(self: Mutex) -> bool:
    return False


def _late_sleep(self: Kernel, thread: object, nanoseconds: int, *more: object, **named: object) -> Wait:
    return SLEEP(self, thread, 2 * nanoseconds, *more, **named)  # type: ignore[arg-type]


SLEEP = Kernel.sleep


@needed
@pytest.mark.parametrize(
    ("owner", "method", "broken", "name"),
    [
        (N3DSKernel, "wake_address", _no_wake, "simple_tri"), (Mutex, "release", _never_free, "simple_tri"),
        (Kernel, "sleep", _late_sleep, "hwtest_event_timer_type.long"),
    ],
)  # fmt: skip
def test_a_broken_kernel_is_noticed(
    owner: type, method: str, broken: Callable[..., object], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, method, broken)
    assert played(name, most=1).differences


@needed
@pytest.mark.parametrize("call", ["CloseHandle", "GetResourceLimitLimitValues", "WaitSynchronizationN", "ClearEvent"])
def test_a_call_that_answers_something_else_is_noticed(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    number = next(one for one, (known, _) in register.MODELLED.functions.items() if known.name == call)
    known, _ = register.MODELLED.functions[number]
    monkeypatch.setitem(register.MODELLED.functions, number, (known, lambda *arguments: 0xD8E007F7))
    assert played("simple_tri", most=1).differences
