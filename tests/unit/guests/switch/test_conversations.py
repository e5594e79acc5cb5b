"""The kernel and the services of the Switch, against what real programs were told: every call, in order."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support import recordings
from support.switch_conversations import SwitchPlay, folder, names

from pocketgpu.guests.kernel.kernel import Kernel
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.processors.recorded import Conversation
from pocketgpu.guests.switch.calls import locks, register
from pocketgpu.guests.switch.kernel import SwitchKernel

NAMES = names()
needed = pytest.mark.skipif(not NAMES, reason=recordings.REASON)


def played(name: str, most: int = 20, *, stand_in: bool = True) -> SwitchPlay:
    """A conversation to its end, or until it differs too much. stand_in: messages are answered from the recording."""
    play = SwitchPlay(folder() / f"{name}.jsonl.xz", stand_in=stand_in)
    play.play(most)
    return play


@needed
@pytest.mark.parametrize("stand_in", [True, False], ids=["kernel", "services"])
@pytest.mark.parametrize("name", NAMES)
def test_every_required_answer_is_the_recorded_one(name: str, stand_in: bool) -> None:
    play = played(name, stand_in=stand_in)
    assert [str(one) for one in play.differences] == []
    assert play.whole and play.compared == len(play.talk.lines)


@needed
@pytest.mark.parametrize("name", NAMES)
def test_a_consoles_own_rules_suit_real_programs(name: str) -> None:
    """What they lend, protect and unmap is accepted; only barrier unmaps a stack that it never had, by its own slip.
    With one thread it does not matter who runs next."""
    path = folder() / f"{name}.jsonl.xz"
    choices = {"guest.page_states": "kept"}
    if Conversation.read(path).head["threads"] == 1:
        choices |= {"guest.scheduling": "priority", "guest.wait_order": "arrival"}
    play = SwitchPlay(path, choices=choices)
    play.play()
    slip = ["s865: UnmapMemory x0: 'cc01', recorded '0'"] if name == "barrier" else []
    assert [str(one) for one in play.differences] == slip and play.whole


def _cancels_nothing(self: Kernel, thread: Thread) -> None:
    """Waits go on."""


def _hands_nothing_on(kernel: SwitchKernel, address: int) -> None:
    kernel.space.set_words(address, 0)


def _wakes_without_mutex(kernel: SwitchKernel, thread: Thread) -> None:
    kernel.resume(thread, 0)


@needed
@pytest.mark.parametrize(
    ("owner", "method", "broken", "name"),
    [
        (Kernel, "cancel", _cancels_nothing, "user_events"), (locks, "_hand_on", _hands_nothing_on, "nxthreads"),
        (locks, "_let_have_mutex", _wakes_without_mutex, "barrier"),
    ],
)  # fmt: skip
def test_a_broken_kernel_is_noticed(
    owner: object, method: str, broken: Callable[..., object], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, method, broken)
    play = played(name, most=1)
    assert play.differences or not play.whole


@needed
@pytest.mark.parametrize(
    ("call", "name"),
    [("CloseHandle", "hello-world"), ("GetInfo", "hello-world"), ("QueryMemory", "hello-world"),
     ("SetHeapSize", "hello-world.bare"), ("MapMemory", "nxthreads"), ("ResetSignal", "nxthreads"),
     ("WaitSynchronization", "hello-world"), ("CreateThread", "barrier")],
)  # fmt: skip
def test_a_call_that_answers_something_else_is_noticed(
    call: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = next(one for one, (known, _) in register.MODELLED.functions.items() if known.name == call)
    known, _ = register.MODELLED.functions[number]
    monkeypatch.setitem(register.MODELLED.functions, number, (known, lambda *arguments: 0xCAFE))
    assert played(name, most=1).differences
