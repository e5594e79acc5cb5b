"""What the page of a program says can be done, for each way in which it stands still, ends or is slow."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pocketgpu.guests.kernel.kernel import WAITS_FOREVER, End
from pocketgpu.view.live.advice import advice
from pocketgpu.view.live.shown import Shown, changed_rows

RATE = 60.0


def program(end: End | None = None, presents: int = 1) -> Any:
    return SimpleNamespace(end=end, present_count=presents, console=SimpleNamespace(frame_seconds=1 / RATE))


@pytest.mark.parametrize(("why", "words", "goes_back"), [
    ("exit", "as it meant to", False), ("close", "as it was asked to", False),
    (WAITS_FOREVER, "threads wait for each other", True), ("fault", "back trace", True),
    ("break", "failed check", True), ("error", "error of the system", True),
    ("unknown call", "What it told", True), ("something new", "", True),
])  # fmt: skip
def test_each_end_has_its_own(why: str, words: str, goes_back: bool) -> None:
    said = advice(program(End(why)), True, 0, 0.0)
    assert words in said and ("Back shows the frames before it" in said) is goes_back and "Restart" in said


def test_a_run_that_ends_without_an_end_of_the_program_is_the_gpus() -> None:
    said = advice(program(), True, 500, 0.0)
    assert said.startswith("The GPU cannot do what it was told") and "Back" in said and "frames:" not in said


def test_nothing_is_said_while_all_is_well() -> None:
    assert advice(program(), False, 0, RATE) == ""
    assert advice(program(), False, 179, RATE) == ""
    assert advice(program(), False, 179, 0.0) == "", "one that stands has no pace"


@pytest.mark.parametrize(("presents", "words"), [(0, "It has shown nothing yet for 180 frames"), (
    3, "It has shown nothing new for 180 frames"
)])  # fmt: skip
def test_waits_are_told_after_three_seconds(presents: int, words: str) -> None:
    said = advice(program(presents=presents), False, 180, RATE)
    assert said.startswith(words) and "may wait for a key" in said and "what it told" in said


def test_a_slow_one_is_told_in_per_cent_also_while_it_waits() -> None:
    assert advice(program(), False, 0, RATE / 4) == "It runs at 25 % of the console's pace: no frame is left out."
    assert advice(program(), False, 0, RATE / 2) == "", "half of it is not told"
    said = advice(program(), False, 300, RATE / 4)
    assert "nothing new for 300 frames" in said and said.endswith("no frame is left out.")


def test_rows_of_pictures_of_any_width_are_compared() -> None:
    for width in (1, 7, 8, 320):
        before = np.zeros((9, width, 3), np.uint8)
        now = before.copy()
        assert changed_rows(now, before) == (0, 0)
        now[3, -1, 2] = now[6, 0, 0] = 1
        assert changed_rows(now, before) == (3, 7)
        assert changed_rows(now, before[:8]) == changed_rows(now, None) == (0, 9)


def test_a_moment_is_sent_whole_when_the_program_stands() -> None:
    picture = {"top": np.arange(4 * 4 * 3, dtype=np.uint8).reshape(4, 4, 3)}
    assert Shown(1, {}, picture, False).sent(4)["top"] is picture["top"]
    assert Shown(1, {}, picture, True).sent(4)["top"].shape == (1, 1, 3)
