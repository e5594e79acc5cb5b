"""Pictures as they were right before an event: of targets, in the layout that they have after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.inspection import Inspection


@pytest.fixture(params=["sample.ctf.xz", "sample_switch.mxcap.zip"], scope="module")
def run(request: pytest.FixtureRequest, sample_path: Path) -> Inspection:
    return pocketgpu.debug(str(sample_path.with_name(request.param)))


def target(run: Inspection, place: Any) -> Any:
    return run.seek(place).pictures.get("target")


def test_the_first_event_of_a_pass_has_its_target(run: Inspection) -> None:
    """The other surface that was bound before has another size; the bytes are those of memory at the time."""
    first = run.passes(0)[1].events[0]
    event = next(one for one in run.passes(0)[1].events if target(run, one.by_number).title != target(
        run, run.before(one.by_number)).title)  # fmt: skip
    assert first.number <= event.number
    before, after = run.picture_before(event.by_number, "target"), target(run, event.by_number)
    assert (before.title, before.width, before.height) == (after.title, after.width, after.height)
    old = target(run, run.before(event.by_number))
    assert old.title != after.title
    # The same memory, seen from a later moment that has the same target, differs only where the event wrote.
    address = int(after.title.rpartition(" at ")[2].split()[0].rstrip(","), 16)
    earlier = run.seek(run.before(event.by_number))
    raw = np.frombuffer(earlier.read(address, before.width * before.height * 4), np.uint8)
    assert np.bincount(raw, minlength=256).sum() == before.pixels.size
    if len(np.unique(raw.reshape(-1, 4), axis=0)) == 1:  # one colour
        assert len(np.unique(before.pixels.reshape(-1, 4), axis=0)) == 1
    for name in ("depth",):
        if name in run.seek(event.by_number).pictures:
            assert run.picture_before(event.by_number, name).pixels.shape[:2] == (
                run.seek(event.by_number).pictures[name].pixels.shape[:2]
            )


def test_a_target_that_stays_bound_is_the_picture_of_the_event_before(run: Inspection) -> None:
    for place in ("f0/d3", "f0/d12", "f0/p0"):
        now = target(run, place)
        earlier = run.before(place)
        same = target(run, earlier) if earlier is not None else None
        if same is not None and same.title == now.title:
            assert (run.picture_before(place, "target").pixels == same.pixels).all()
        if place != "f0/p0":
            assert same is not None
            assert (run.picture_before(f"{place}/px3,4", "target").pixels == same.pixels).all()


def test_screens_and_what_is_not_there(run: Inspection) -> None:
    screen = next(iter(run.seek("f0").screens))
    if run.frame_count > 1:
        assert (run.picture_before("f1", screen).pixels == run.seek("f0").pictures[screen].pixels).all()
    for place, name, said in (("f0/e0", "target", "nothing comes before"), ("f0/d3", "nothing", "there is no picture")):
        with pytest.raises(UsageError, match=said):
            run.picture_before(place, name)
