"""Questions run one after the other on one thread; newer ones of a panel take the place of older ones."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from pocketgpu.errors import UsageError
from pocketgpu.interruption import look
from pocketgpu.view import machine_thread
from pocketgpu.view.machine_thread import Busy, MachineThread, Overtaken


def with_machine(test: Callable[[MachineThread[str]], Awaitable[None]], make: Any = lambda: nullcontext("run")) -> None:
    async def run() -> None:
        machine = MachineThread[str](make)
        try:
            await test(machine)
        finally:
            await asyncio.to_thread(machine.close)

    asyncio.run(run())


class Held:
    """A question that takes until it is let go."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, run: str) -> str:
        self.begun.set()
        assert self.go.wait(20)
        return run


async def begun(machine: MachineThread[str], panel: str) -> tuple[Held, asyncio.Task[str]]:
    held = Held()
    task = asyncio.create_task(machine.ask(panel, held))
    assert await asyncio.to_thread(held.begun.wait, 20)
    return held, task


def test_questions_run_in_order_on_one_thread() -> None:
    async def test(machine: MachineThread[str]) -> None:
        names = [threading.current_thread().name]
        answers = await asyncio.gather(
            *(machine.ask(f"panel {n}", lambda run, n=n: (names.append(threading.current_thread().name), n)[1])
              for n in range(5))
        )  # fmt: skip
        assert answers == [0, 1, 2, 3, 4]
        assert len(set(names[1:])) == 1 and names[1] != names[0]

    with_machine(test)


def test_a_newer_question_of_a_panel_overtakes_one_that_waits() -> None:
    async def test(machine: MachineThread[str]) -> None:
        held, first = await begun(machine, "why")
        older = asyncio.create_task(machine.ask("why", lambda run: "older"))
        other = asyncio.create_task(machine.ask("state", lambda run: "other"))
        await asyncio.sleep(0)
        newer = asyncio.create_task(machine.ask("why", lambda run: "newer"))
        with pytest.raises(Overtaken):
            await older
        held.go.set()
        assert (await first, await other, await newer) == ("run", "other", "newer")

    with_machine(test)


def test_questions_without_a_panel_are_not_overtaken() -> None:
    async def test(machine: MachineThread[str]) -> None:
        held, first = await begun(machine, "")
        tasks = [asyncio.create_task(machine.ask("", lambda run, n=n: n)) for n in range(3)]
        await asyncio.sleep(0)
        held.go.set()
        assert [await one for one in (first, *tasks)] == ["run", 0, 1, 2]

    with_machine(test)


def test_who_has_gone_is_not_answered() -> None:
    async def test(machine: MachineThread[str]) -> None:
        held, first = await begun(machine, "why")
        ran: list[int] = []
        gone = asyncio.create_task(machine.ask("state", lambda run: ran.append(1)))
        await asyncio.sleep(0)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        held.go.set()
        assert await first == "run" and await machine.ask("words", lambda run: "next") == "next"
        assert ran == []

    with_machine(test)


def test_too_many_questions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_thread, "MOST_WAITING", 2)

    async def test(machine: MachineThread[str]) -> None:
        held, first = await begun(machine, "a")
        waiting = [asyncio.create_task(machine.ask(panel, lambda run: run)) for panel in "bc"]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await machine.ask("d", lambda run: run)
        again = asyncio.create_task(machine.ask("b", lambda run: "again"))  # takes the place of its own
        with pytest.raises(Overtaken):
            await waiting[0]
        held.go.set()
        assert [await one for one in (first, waiting[1], again)] == ["run", "run", "again"]

    with_machine(test)


def test_errors_go_to_who_asked() -> None:
    def fail(run: str) -> None:
        raise UsageError("no such pixel")

    async def test(machine: MachineThread[str]) -> None:
        with pytest.raises(UsageError, match="no such pixel"):
            await machine.ask("why", fail)
        assert await machine.ask("why", lambda run: run) == "run"

    with_machine(test)


def test_a_capture_that_cannot_be_opened_fails_every_question() -> None:
    def make() -> Any:
        raise UsageError("it is damaged")

    async def test(machine: MachineThread[str]) -> None:
        for panel in ("why", "state"):
            with pytest.raises(UsageError, match="it is damaged"):
                await machine.ask(panel, lambda run: run)

    with_machine(test, make)


def test_the_context_is_left_on_its_thread() -> None:
    seen: list[str] = []

    @contextmanager
    def context() -> Iterator[str]:
        seen.append(threading.current_thread().name)
        yield "run"
        seen.append(threading.current_thread().name)

    async def test(machine: MachineThread[str]) -> None:
        assert await machine.ask("why", lambda run: run) == "run"

    with_machine(test, context)
    assert len(seen) == 2 and seen[0] == seen[1] != threading.current_thread().name


def test_listeners_hear_what_begins_and_ends() -> None:
    heard: list[str] = []

    async def test(machine: MachineThread[str]) -> None:
        machine.listeners.append(heard.append)
        await machine.ask("why", lambda run: run)
        await machine.ask("state", lambda run: run)

    with_machine(test)
    assert heard == ["why", "", "state", ""]


def test_slow_questions_come_after_quick_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_thread, "GRACE", 5.0)

    async def test(machine: MachineThread[str]) -> None:
        order: list[str] = []
        slow = asyncio.create_task(machine.ask("why", lambda run: order.append("why"), slow=True))
        await asyncio.sleep(0.05)  # it waits for what else the page asks
        for panel in ("pictures", "picture"):
            await machine.ask(panel, lambda run, panel=panel: order.append(panel))
        assert order == ["pictures", "picture"]
        monkeypatch.setattr(machine_thread, "GRACE", 0.0)
        await machine.ask("pixel", lambda run: order.append("pixel"))
        await slow
        assert order == ["pictures", "picture", "pixel", "why"]

    with_machine(test)


def test_a_question_that_arrives_too_late_does_not_overtake() -> None:
    async def test(machine: MachineThread[str]) -> None:
        held, first = await begun(machine, "other")
        newer = asyncio.create_task(machine.ask("why", lambda run: "newer", turn=2))
        await asyncio.sleep(0)
        with pytest.raises(Overtaken):
            await machine.ask("why", lambda run: "older", turn=1)
        held.go.set()
        assert (await first, await newer) == ("run", "newer")

    with_machine(test)


def test_work_between_questions_is_given_up_at_the_end() -> None:
    """Nobody waits for what it prepares: a replay in NumPy could keep the processor busy for minutes."""
    begun = threading.Event()

    def prepare(run: str) -> None:
        begun.set()
        while True:
            look()

    machine = MachineThread[str](lambda: nullcontext("run"), prepare)
    assert begun.wait(20)
    machine.end()
    machine._thread.join(20)
    assert not machine._thread.is_alive()
