"""What the processor wrote in place, unannounced, is seen: every picture as in a run in which all memory is touched."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pocketgpu.arena import Arena
from pocketgpu.guests import run
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.n3ds.kernel import N3DSKernel

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "n3ds"
STEPS = (
    "first", "same", "texel", "texel again", "vertex", "index", "uniform", "list", "filled", "same bytes",
    "texel after fill", "copied", "bytes of before", "bytes of before at once", "rendered", "texel in video memory",
    "row",
)  # fmt: skip
EQUAL = {("first", "same"), ("filled", "same bytes"), ("bytes of before", "bytes of before at once")}


def pictures() -> dict[str, NDArray[np.uint8]]:
    """What is shown after each step of rewrites.c."""
    found: dict[str, NDArray[np.uint8]] = {}
    with run(PROGRAMS / "rewrites.elf") as app:
        while app.until(lambda: app.debug_text.count("\n") > len(found)):
            found[app.debug_text.splitlines()[-1]] = np.array(app.screens["top"].array)
        assert app.end is not None and app.end.well
        assert not list(app.console.machine.events)
    return found


def touch_everything(self: N3DSKernel) -> None:
    """The program may have written any page, so all are stamped."""
    for area in self.space:
        if area.physical is not None:
            offset = self.machine.memory.offset_of(area.physical, area.size)
            assert offset is not None
            self.machine.memory.touch(offset, area.size)


def test_every_rewrite_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = pictures()
    assert tuple(seen) == STEPS
    for before, after in pairwise(STEPS):
        assert (seen[before] == seen[after]).all() == ((before, after) in EQUAL), after
    monkeypatch.setattr(N3DSKernel, "memory_differs", touch_everything)
    touched = pictures()
    for step in STEPS:
        assert (seen[step] == touched[step]).all(), step


def test_without_looking_texels_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    seen = pictures()
    monkeypatch.setattr(Arena, "others_wrote", lambda self: None)
    monkeypatch.setattr(N3DSKernel, "memory_differs", lambda self: None)
    missed = pictures()
    assert [step for step in STEPS if (seen[step] != missed[step]).any()]


def test_only_pages_that_caches_depend_on_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 8 MiB that the program has, those of its texture."""
    compared: list[NDArray[np.int64]] = []
    look = Arena._look

    def noted(self: Arena, pages: NDArray[np.int64]) -> None:
        compared.append(pages)
        look(self, pages)

    monkeypatch.setattr(Arena, "_look", noted)
    pictures()
    assert len(np.unique(np.concatenate(compared))) == (64 * 64 + 128 * 128) * 4 // 4096


def test_a_thread_is_known_to_have_run() -> None:
    """Each piece of a thread is a new moment."""
    with run(PROGRAMS / "rewrites.elf") as app:
        kernel = app.console.kernel
        assert isinstance(kernel, N3DSKernel) and isinstance(kernel.scheduler.best(), Thread)
        before = kernel.machine.memory.epoch
        kernel.step()
        assert kernel.machine.memory.epoch != before
