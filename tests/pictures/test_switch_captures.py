"""Recordings of two Switch drivers: every word read, every count as the recordings' index has it, and what clears show.

The recordings are not in this repository; without them these tests are skipped.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support import recordings, switch_index
from support.switch_index import Entry

import pocketgpu
from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.cli import main
from pocketgpu.inspect.switch.inventory.capture_info import MaxwellInfo, examine

NAMES = switch_index.names()
pytestmark = pytest.mark.skipif(not NAMES, reason=recordings.REASON)

#: The index's words for what a machine counts.
COUNTED = {
    "draws": "draws",
    "clears": "clears",
    "dma_copies": "copies",
    "2d_blits": "blits",
    "compute_launches": "launches",
    "inline_uploads": "uploads",
    "macro_calls": "macro_calls",
    "constbuf_binds": "constbuf_binds",
    "report_semaphores": "semaphores",
    "syncpoint_increments": "syncpoint_increments",
}
COLUMNS = {
    "kick-offs": "submissions",
    "pb words": "words",
    "draws": "draws",
    "clears": "clears",
    "macro steps": "macro_steps",
    "compute": "launches",
    "DMA copies": "copies",
    "2D blits": "blits",
}


def log_of(name: str) -> ChannelLog:
    trace = pocketgpu.open(switch_index.folder() / f"{name}.mxcap.zip").trace
    assert isinstance(trace, ChannelLog)
    return trace


@pytest.fixture(scope="module")
def entries() -> dict[str, Entry]:
    return switch_index.read()


@pytest.fixture(scope="module", params=NAMES or ["none"])
def examined(request: pytest.FixtureRequest) -> tuple[str, MaxwellInfo]:
    return request.param, examine(log_of(request.param))


def test_every_word_is_read_and_every_method_known(examined: tuple[str, MaxwellInfo]) -> None:
    _, info = examined
    assert info.open_words == 0 and info.unknown == {}
    assert not info.events, [event.message for event in info.events]


def test_counts_are_those_of_the_index(examined: tuple[str, MaxwellInfo], entries: dict[str, Entry]) -> None:
    name, info = examined
    entry = switch_index.entry_of(name, entries)
    totals = info.totals()
    told = {key: count for key, count in entry.counts.items() if key in COUNTED}
    assert {key: totals[COUNTED[key]] for key in told} == told
    assert {"clears", "macro_calls"} <= told.keys() and entry.steps == totals["macro_steps"]
    # What a line does not name did not happen, unless the line was cut off.
    assert {key: totals[column] for key, column in COLUMNS.items()} == {key: entry.row[key] for key in COLUMNS}
    assert len(info.frames) == entry.row["frames"]
    assert info.macros == entry.calls and info.longest_macro == entry.longest
    assert info.macro_words == entry.counts["mme_instruction_words"]
    assert info.macros_loaded == entry.counts["mme_macros_loaded"]


def test_headers_and_methods_are_those_of_the_index(
    examined: tuple[str, MaxwellInfo], entries: dict[str, Entry]
) -> None:
    name, info = examined
    entry = switch_index.entry_of(name, entries)
    assert info.headers == entry.headers
    for subchannel, (class_name, methods, distinct) in entry.classes.items():
        if subchannel == "host":
            continue
        # The index counts SET_OBJECT, which is the host's, with the class that it binds.
        use = info.classes.get(class_name)
        assert (int(use.writes.sum()) if use else 0) + 1 == methods
        assert (int(np.count_nonzero(use.writes)) if use else 0) + 1 == distinct
    host = info.classes["b06f"].to_dict()
    assert host["writes"] == entry.classes["host"][1] + len(entry.classes) - 1


@pytest.mark.parametrize("name", NAMES or ["none"])
def test_frames_end_where_the_program_waited_for_them(name: str) -> None:
    """The fence of every present is reached when its frame is done, and nothing goes wrong on the way."""
    capture = pocketgpu.open(switch_index.folder() / f"{name}.mxcap.zip")
    frames = list(capture.render())
    assert len(frames) == capture.frame_count
    shape = tuple(int(side) for side in reversed(name.rpartition("_")[2].split("x")))
    for frame, present in zip(frames, log_of(name).presents, strict=True):
        assert present.fence is not None
        assert frame.warnings == []
        assert frame.screens["screen"].array.shape == (*shape, 3)


def test_clears_show_what_they_should() -> None:
    """A recording of clears alone equals its reference."""
    name = "ex01_simple_setup_320x180"
    if name not in NAMES:
        pytest.skip("that recording is not here")
    expected = np.asarray(Image.open(switch_index.folder() / "reference" / f"{name}.png").convert("RGB"), np.int16)
    frames = list(pocketgpu.open(switch_index.folder() / f"{name}.mxcap.zip").render())
    assert len(frames) == 2 and len(np.unique(expected.reshape(-1, 3), axis=0)) > 2
    for frame in frames:
        assert frame.warnings == []
        difference = np.abs(frame.screens["screen"].array.astype(np.int16) - expected)
        assert int(difference.max()) <= 1


#: Levels that a channel may be off, and the share of pixels that must keep to it, as the references' notes allow. Where
#: lines are smooth their coverage is anybody's choice.
LEVELS = {"ex03_cube": 2, "ex04_textured_cube": 3, "ex07_mesh_lighting": 2, "gl_textured_cube": 2, "mesa_texkinds": 2}
SMOOTH_LINES = ("ex05_tessellation", "ex09_compute")
SHARE = 0.98


@pytest.mark.parametrize("name", NAMES or ["none"])
def test_draws_make_the_pictures_that_opengl_makes(name: str) -> None:
    folder = switch_index.folder() / "reference"
    plain = name.rpartition("_")[0]
    allowed = 8 if plain in SMOOTH_LINES else LEVELS.get(plain, 1)
    seen = 0
    for frame in pocketgpu.open(switch_index.folder() / f"{name}.mxcap.zip").render(threads=2):
        references = [path for path in (folder / f"{name}_f{frame.index}.png", folder / f"{name}.png") if path.exists()]
        if not references:
            continue
        expected = np.asarray(Image.open(references[0]).convert("RGB"), np.int16)
        off = np.abs(frame.screens["screen"].array.astype(np.int16) - expected).max(axis=-1)
        assert np.mean(off <= allowed) >= SHARE, f"frame {frame.index}: {np.mean(off <= allowed):.2%}, {off.max()}"
        seen += 1
    assert seen


def test_render_writes_a_picture_for_each_present(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capture = str(switch_index.folder() / "ex01_simple_setup_320x180.mxcap.zip")
    assert main(["render", capture, "--out", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f0.screen.png", "f1.screen.png"]
    assert [frame["clears"] for frame in document["frames"]] == [4, 4]
    screen = document["frames"][0]["screens"]["screen"]
    assert (screen["width"], screen["height"]) == (320, 180)
