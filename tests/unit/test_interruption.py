"""Work that is given up in the middle: what comes later is as if that work had never begun."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.inspect.stepping import trace_thread
from pocketgpu.interruption import Interrupted, interruptible, look

DATA = Path(__file__).resolve().parents[2] / "src" / "pocketgpu" / "data"
ADDRESSES = {"sample.ctf.xz": "f0/d5/v3", "sample_switch.mxcap.zip": "f0/d5/v3"}


class _After:
    """Asks for the end after so many looks."""

    def __init__(self, looks: int) -> None:
        self.left = looks

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_only_who_is_asked_ends() -> None:
    look()
    with interruptible(lambda: False):
        look()
        with interruptible(lambda: True), pytest.raises(Interrupted):
            look()
        look()
    look()


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_replay_goes_on_after_that(name: str) -> None:
    run = pocketgpu.debug(DATA / name)
    counting = _After(1 << 30)
    with interruptible(counting):
        wanted = str(run.trace(ADDRESSES[name]))
    looks = (1 << 30) - counting.left
    assert looks > 20
    for after in (0, 1, 2, looks // 3, looks // 2, looks - 2):
        fresh = pocketgpu.debug(DATA / name)
        for one in (fresh, run):
            with interruptible(_After(after)), pytest.raises(Interrupted):
                one.trace(ADDRESSES[name])
                one.seek("f0/d1")
                one.trace(ADDRESSES[name])  # a second one looks less often
            assert str(one.trace(ADDRESSES[name])) == wanted


def test_a_submission_is_given_up_between_two_draws() -> None:
    """It may be a whole frame. What is replayed then goes on in the middle of it."""
    path = DATA / "sample_switch.mxcap.zip"
    run = pocketgpu.debug(path)
    counting = _After(1 << 30)
    with interruptible(counting):
        wanted = [str(event) for event in run.events(0)]
    looks = (1 << 30) - counting.left
    assert looks > len(run.draws(0))
    pictures = run.seek("f0").pictures
    fresh = pocketgpu.debug(path)
    for after in (looks // 2, 5, 0, 1):  # each time it gets as much further
        with interruptible(_After(after)), pytest.raises(Interrupted):
            fresh.events(0)
    assert [str(event) for event in fresh.events(0)] == wanted
    for name, picture in fresh.seek("f0").pictures.items():
        assert np.array_equal(picture.pixels, pictures[name].pixels)


def test_a_launch_goes_on_after_that() -> None:
    text = ".kernel k\n.registers 8\n.param data ptr\nMOV R2, c[0x0][0x140]\nMOV R3, c[0x0][0x144]\nS2R R0, SR_TID.X\n"
    function = pocketgpu.RawModule(code=text + "STG.E [R2], R0\nEXIT\n").get_function("k")
    for after in range(9):
        data = np.zeros(32, np.uint32)
        with interruptible(_After(after)), pytest.raises(Interrupted):
            trace_thread(function, (4,), (128,), (data,), at=((1,), (40,)))
            look()
            [look() for _ in range(20)]
        data = np.zeros(32, np.uint32)
        function((1,), (32,), (data,))
        assert data[0] == 31
