"""State of Python objects, kept and put back: any class, any attribute, the same objects."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from pocketgpu.guests.kernel.memory import host_memory
from pocketgpu.guests.kernel.state import State, UnknownStateError


class Plain:
    outside_state = frozenset({"listener"})

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    @cached_property
    def computed(self) -> list[int]:
        return [1]

    def method(self) -> None:
        """Nothing."""


@dataclass(slots=True)
class Slotted:
    value: int = 0
    more: list[int] = field(default_factory=list)


class Child(Slotted):
    pass


class Names(dict[str, int]):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0


def test_containers_and_attributes_come_back_in_the_same_objects() -> None:
    inner, other = Plain(a=1), Plain(a=2)
    root = Plain(
        listed=[1, inner], named={"x": inner}, some={1, 2}, queue=deque([1, 2], maxlen=4), raw=bytearray(b"abc"),
        pair=(inner, [5]), slotted=Slotted(3, [4]), child=Child(7), names=Names(), numbers=np.arange(12)[::2],
    )  # fmt: skip
    before = {name: value for name, value in vars(root).items()}
    state = State([root])
    root.listed[:] = [2]
    root.named["y"] = other
    root.some.add(9)
    root.queue.append(3)
    root.raw += b"more"
    root.pair[1].append(6)
    root.slotted.value, root.slotted.more = 9, []
    root.child.value = 1
    root.names["n"], root.names.count = 1, 1
    root.numbers[:] = 0
    inner.a, inner.new = 5, 6
    root.added = 1
    assert root.computed == [1]
    del root.queue
    for _ in range(2):
        state.restore()
        assert vars(root) == before and all(vars(root)[name] is value for name, value in before.items())
        assert root.listed == [1, inner] and root.named == {"x": inner} and root.some == {1, 2}
        assert list(root.queue) == [1, 2] and root.queue.maxlen == 4 and root.raw == b"abc" and root.pair[1] == [5]
        assert root.slotted.value == 3 and root.slotted.more == [4] and root.child.value == 7
        assert root.names == {} and root.names.count == 0 and root.numbers.tolist() == [0, 2, 4, 6, 8, 10]
        assert vars(inner) == {"a": 1}


def test_circles_methods_functions_and_cells_are_followed() -> None:
    target, captured = Plain(a=1), [1]
    target.itself = target

    def function(default: list[int] = [3]) -> list[int]:  # noqa: B006
        return captured + default

    root = [target.method, partial(function, Plain(b=1)), MappingProxyType({"k": captured})]
    state = State([root])
    target.a = 2
    captured.append(2)
    function.__defaults__[0].append(4)  # type: ignore[index]
    state.restore()
    assert target.a == 1 and captured == [1] and function.__defaults__ == ([3],)


def test_what_is_outside_stays() -> None:
    machine = Plain(a=1)
    root = Plain(listener=Plain(a=1), machine=machine)
    state = State([root], outside=[machine])
    machine.a = root.listener.a = 2
    root.listener = Plain(a=3)
    state.restore()
    assert machine.a == 2 and root.listener.a == 3


def test_memory_is_named_for_somebody_else() -> None:
    memory = host_memory(8192)
    state = State([Plain(memory=memory, part=memory[4096:], fixed=memoryview(b"abc"))])
    assert sorted(len(view) for view in state.views.values()) == [4096, 8192]


@pytest.mark.parametrize("thing", [iter([1]), (n for n in range(2)), threading.Lock(), {1: 2}.items()])
def test_what_cannot_be_kept_is_an_error_with_its_place(thing: object) -> None:
    with pytest.raises(UnknownStateError, match=r"cannot be kept \(at Plain.inner.thing\)"):
        State([Plain(inner=Plain(thing=thing))])


def test_files_that_were_open_are_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    root = Plain(file=path.open("rb", buffering=0), closed=path.open("rb", buffering=0))
    root.closed.close()
    state = State([root])
    root.file.close()
    state.restore()
    assert root.file.read() == b"abc" and root.closed.closed
    root.file.close()
    state.restore()
    root.file.close()
    path.unlink()
    with pytest.raises(UnknownStateError, match="cannot be opened again"):
        state.restore()
