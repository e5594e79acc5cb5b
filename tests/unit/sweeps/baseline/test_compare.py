"""Comparison of sweeps: pictures by pixel, findings, events, states, values, names of captures, text and JSON."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.sweeps import Made, event, finding, painted, sweep_of

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model import schema
from pocketgpu.sweeps.baseline import compare as compare_module
from pocketgpu.sweeps.baseline.compare import compare
from pocketgpu.sweeps.baseline.comparison import Comparison
from pocketgpu.sweeps.baseline.names import matched, relative
from pocketgpu.sweeps.results.store import Store

NAMES = st.lists(
    st.lists(st.sampled_from(["a", "b", "scene", "x.pgc", "é"]), min_size=1, max_size=4).map("/".join), unique=True
)
NOTES = st.lists(
    st.builds(
        finding, st.sampled_from(["one", "two"]), st.sampled_from(["m", "n"]), st.sampled_from(["f0", "f1", "f2"]),
        st.integers(1, 2),
    ), max_size=6,
)  # fmt: skip


def both(folder: Path, before: dict[str, Any], after: dict[str, Any], work: str = "render") -> Comparison:
    """The comparison of two sweeps with one capture each."""
    old = sweep_of(folder / "before", [{"capture": "c/scene.pgc"} | before], work)
    new = sweep_of(folder / "after", [{"capture": "c/scene.pgc"} | after], work)
    found = compare(new, old)
    Draft202012Validator(schema("pocketgpu.sweep-comparison/1")).validate(json.loads(json.dumps(found.to_json())))
    assert all(len(line) <= 80 for line in found.lines())
    return found


def kinds(found: Comparison) -> tuple[str, ...]:
    return found.matched[0].kinds


# -- pictures ---------------------------------------------------------------------------------------------------------
def test_equal_pictures_are_not_read(tmp_path: Path) -> None:
    rows = [{"capture": "one", "pictures": {"f0/top": painted(1)}}]
    old, new = sweep_of(tmp_path / "a", rows), sweep_of(tmp_path / "b", rows)
    for path in tmp_path.rglob("*.png"):
        path.write_bytes(b"broken")
    found = compare(new, old)
    assert not found.failed and found.changes == [] and found.counts == {}
    assert str(found) == f"1 capture compared with {old.folder}: no change"[:80] or "..." in str(found)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 23), st.integers(0, 39), st.integers(0, 2), st.integers(1, 255), st.integers(0, 9))
def test_pixels_are_counted(y: int, x: int, channel: int, by: int, more: int) -> None:
    before = painted(7)
    after = before.copy()
    after[y, x, channel] = (int(after[y, x, channel]) + by) % 256
    changed = {(y, x)}
    for index in range(more):
        after[index, index] ^= 1
        changed.add((index, index))
    off = np.abs(after.astype(int) - before.astype(int)).max(-1)
    with tempfile.TemporaryDirectory() as folder:
        found = both(Path(folder), {"pictures": {"f3/top": before}}, {"pictures": {"f3/top": after}})
    if not off.any():
        assert not found.failed
        return
    (picture,) = found.matched[0].pictures
    assert found.failed and kinds(found) == ("pictures",)
    assert (picture.differing, picture.largest, picture.pixels) == ((off > 0).sum(), off.max(), 960)
    ys, xs = np.nonzero(off)
    assert picture.box == (xs.min(), ys.min(), xs.max() + 1, ys.max() + 1)
    assert picture.address == "f3/top" and "f3/top" in str(found)


def test_sizes_and_missing_files_are_said(tmp_path: Path) -> None:
    found = both(
        tmp_path, {"pictures": {"f0/top": painted(1), "f1/top": painted(2)}},
        {"pictures": {"f0/top": painted(1, 32, 8), "f1/top": painted(3)}},
    )  # fmt: skip
    size, other = found.matched[0].pictures
    assert size.problem == "40x24 -> 32x8" and size.differing is None and other.differing
    for path in (tmp_path / "before").rglob("*.png"):
        path.unlink()
    found = compare(Store.read(tmp_path / "after"), Store.read(tmp_path / "before"))
    assert all("cannot read the picture" in one.problem for one in found.matched[0].pictures) and found.failed


def test_new_and_gone_pictures_count_if_both_are_done(tmp_path: Path) -> None:
    one, two = {"f0/top": painted(1)}, {"f0/top": painted(1), "f1/top": painted(2)}
    found = both(tmp_path / "1", {"pictures": one}, {"pictures": two})
    assert [(x.address, x.kind) for x in found.matched[0].pictures] == [("f1/top", "new")] and found.failed
    found = both(tmp_path / "2", {"pictures": two}, {"pictures": one})
    assert [(x.address, x.kind) for x in found.matched[0].pictures] == [("f1/top", "gone")]
    stopped = {"pictures": one, "state": "refused", "message": "cut short"}
    found = both(tmp_path / "3", {"pictures": two}, stopped)
    assert found.matched[0].pictures == () and kinds(found) == ("worse", "state") and found.failed
    found = both(tmp_path / "4", stopped, {"pictures": two})
    assert kinds(found) == ("state",) and not found.failed  # it is better now


def test_other_frames_were_asked_for(tmp_path: Path) -> None:
    old = sweep_of(tmp_path / "a", [{"capture": "x", "pictures": {"f0/top": painted(1), "f1/top": painted(2)}}])
    new = sweep_of(tmp_path / "b", [{"capture": "x", "pictures": {"f0/top": painted(1)}}], frames=(0, 0))
    found = compare(new, old)
    assert not found.failed and found.remarks == ("frames: null -> [0, 0]",)


@pytest.mark.parametrize("digest", ["../../x", "", "A" * 64, "0" * 63, None, 7])
def test_a_row_names_no_other_file(tmp_path: Path, digest: Any) -> None:
    (tmp_path / "x.png").write_bytes(b"secret")
    both(tmp_path, {"pictures": {"f0/top": painted(1)}}, {"pictures": {"f0/top": painted(2)}})
    place = tmp_path / "after" / "rows.jsonl"
    row = json.loads(place.read_text())
    row["pictures"][0]["sha256"] = digest
    place.write_text(json.dumps(row) + "\n")
    found = compare(Store.read(tmp_path / "after"), Store.read(tmp_path / "before"))
    assert found.matched[0].pictures[0].problem == "the row names no picture"


# -- findings, events, values -----------------------------------------------------------------------------------------
def test_findings_new_gone_and_moved(tmp_path: Path) -> None:
    before = [finding("a"), finding("b", count=2), finding("c", at="f0"), finding("c", at="f9")]
    after = [finding("b", count=3), finding("c", at="f9"), finding("c", at="f1"), finding("d")]
    found = both(tmp_path, {"findings": tuple(before)}, {"findings": tuple(after)}, "check")
    got = {(one.kind, one.name, one.note["at"]) for one in found.matched[0].findings}
    assert got == {("gone", "a", "f0/d1"), ("moved", "b", "f0/d1"), ("moved", "c", "f1"), ("new", "d", "f0/d1")}
    assert found.failed and "moved b f0/d1 2x -> f0/d1 3x" in str(found)


def test_events_and_values_do_not_fail(tmp_path: Path) -> None:
    before = {"events": (event("x"),), "counts": {"draws": 3}, "detail": {"kind": "a"}, "features": ("f", "g")}
    after = {"events": (event("y"),), "counts": {"draws": 4}, "detail": {"kind": "a"}, "features": ("g", "h")}
    found = both(tmp_path, before, after)
    assert not found.failed and kinds(found) == ("events", "values")
    assert found.matched[0].values == (("counts.draws", 3, 4), ("feature f", True, False), ("feature h", False, True))


@given(NOTES, NOTES)
def test_notes_add_up(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    """What is new, gone and moved leads from one list to the other, and nothing else does."""
    found = list(compare_module._notes(after, before, "rule"))
    text = [sorted(json.dumps(one) for one in notes) for notes in (before, after)]
    assert bool(found) == (text[0] != text[1])
    state = list(text[0])
    for one in found:
        if one.kind != "new":
            state.remove(json.dumps(one.before if one.kind == "moved" else one.note))
        if one.kind != "gone":
            state.append(json.dumps(one.note))
    assert sorted(state) == text[1]
    back = list(compare_module._notes(before, after, "rule"))
    assert len(back) == len(found)


def test_a_change_to_the_worse_fails(tmp_path: Path) -> None:
    found = both(tmp_path / "1", {}, {"detail": {"different": ["f0/top"]}}, "verify")
    assert found.failed and kinds(found) == ("worse", "values")
    crashed = {"state": "crashed", "message": "SIGSEGV"}
    assert both(tmp_path / "2", {}, crashed).failed
    again = both(tmp_path / "3", crashed, crashed | {"message": "SIGBUS"})
    assert not again.failed and kinds(again) == ("state",)


def test_another_work_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="of the work render, the sweep of check"):
        compare(sweep_of(tmp_path / "a", [], "check"), sweep_of(tmp_path / "b", []))


def test_versions_and_choices_are_remarked(tmp_path: Path) -> None:
    old = Made(tmp_path / "a", version="0.1").done()
    new = Made(tmp_path / "b", version="0.2", switches={"x": "y"}).done()
    assert compare(new, old).remarks == ("version 0.1 -> 0.2", 'switches: {} -> {"x": "y"}')


# -- names ------------------------------------------------------------------------------------------------------------
def test_captures_of_other_folders_belong_together() -> None:
    assert matched(["new/a/x", "new/b"], ["old/a/x", "old/c"]) == {"new/a/x": "old/a/x", "new/b": None}
    assert matched(["new/a/x", "b"], ["b", "old/a/x"]) == {"new/a/x": None, "b": "b"}
    assert matched(["/tmp/q/x.pgc"], ["y/x.pgc"]) == {"/tmp/q/x.pgc": "y/x.pgc"}
    assert matched([], ["a"]) == {} and matched(["a"], []) == {"a": None}


@given(NAMES)
def test_relative_names_stay_different(names: list[str]) -> None:
    found = relative(names)
    assert len(set(found)) == len(names)
    assert relative([f"root/{name}" for name in names]) == found


@given(NAMES, NAMES)
def test_no_capture_has_two_counterparts(names: list[str], before: list[str]) -> None:
    found = [other for other in matched(names, before).values() if other is not None]
    assert len(set(found)) == len(found) and set(found) <= set(before)
    assert matched(names, names) == {name: name for name in names}


def test_new_and_missing_captures_are_listed(tmp_path: Path) -> None:
    old = sweep_of(tmp_path / "a", [{"capture": "one"}, {"capture": "two"}])
    found = compare(sweep_of(tmp_path / "b", [{"capture": "two"}, {"capture": "three"}]), old)
    assert (found.new, found.missing, found.failed) == (("three",), ("one",), False)
    assert "new captures:\n  three\nmissing captures:\n  one" in str(found)


# -- text -------------------------------------------------------------------------------------------------------------
def test_the_text_is_bounded_and_plain(tmp_path: Path) -> None:
    name = "folder/" * 30 + "\x1b[31mred\n.pgc"
    rows = [{"capture": f"{name}{index}", "findings": (finding("r", "\x1b]0;x\x07 \n<b>"),)} for index in range(50)]
    old = sweep_of(tmp_path / "a", [{"capture": row["capture"]} for row in rows], "check")
    lines = list(compare(sweep_of(tmp_path / "b", rows, "check"), old).lines())
    assert len(lines) < 40 and all(len(line) <= 80 and line.isprintable() for line in lines)
    assert "  ... 38 more" in lines
