"""The random cases of tests/fuzz that go through the whole machine, one in a hundred of them, always the same ones."""

from __future__ import annotations

import pytest
from support import recordings, switch_index
from support.fuzz import load


def test_register_writes() -> None:
    counts = load("registers").run(1000, seed=1)
    assert counts["writes"] == 1000
    # The writes must go on reaching what they are about.
    assert counts["list.no-finalize"] + counts["list.unmapped"] >= 5 and counts["transfer.fault"] >= 5


def test_damaged_captures() -> None:
    counts = load("captures").run(1000, seed=1)
    assert counts["cases"] == 1000
    assert counts["CaptureError"] >= 300 and counts["replayed"] >= 200 and counts["frames"] >= 200


def test_damaged_channel_logs() -> None:
    counts = load("channel_logs").run(1000, seed=1)
    assert counts["cases"] == 1000
    assert counts["CaptureError"] >= 500 and counts["replayed"] >= 150 and counts["frames"] >= 250


def test_command_lists_with_draws() -> None:
    counts = load("lists").run(1000, seed=1)
    assert counts["cases"] == 1000 and counts["compared"] == 2
    assert counts["drew"] >= 200 and counts["fragments"] >= 10000


def test_decoded_words() -> None:
    counts = load("decode").run(1000, seed=1)
    assert counts["cases"] == 1000 and counts["compared"] == 2 and counts["listed"] == 50
    # The cases must go on reaching what they are about.
    for name in ("header", "immediate", "padding", "garbage", "not_reached", "command"):
        assert counts[name] >= 50, (name, counts[name])
    assert counts["draws"] >= 1000 and counts["issued"] >= 20


def test_work_for_the_switch() -> None:
    counts = load("pushbuffers").run(1000, seed=1)
    assert counts["cases"] == 1000 and counts["compared"] >= 2
    # The cases must go on reaching what they are about.
    for name, least in {
        "clears": 100,
        "copies": 150,
        "blits": 200,
        "uploads": 80,
        "macro_calls": 300,
        "launch_steps": 5000,
    }.items():
        assert counts[name] >= least, (name, counts[name])
    assert counts["mme.endless"] >= 50 and counts["memory.unmapped"] >= 100 and counts["channel.deadlock"] >= 5


def test_draws_of_the_switch() -> None:
    counts = load("draws_switch").run(500, seed=1)
    assert counts["cases"] == 500 and counts["drew"] >= 200
    assert counts["specialised"] >= 1 and counts["threads"] >= 3 and counts["numpy"] >= 1
    for name in ("registers", "programs", "vertices", "indices", "headers", "samplers", "constants"):
        assert counts[name] >= 40, (name, counts[name])
    assert counts["draw.fault"] >= 500 and counts["draw.program"] >= 30 and counts["memory.unmapped"] >= 10


def test_quick_draws_of_the_switch() -> None:
    counts = load("quick_draws").run(50, seed=1)
    assert counts["cases"] == 50 and counts["threads"] >= 5 and counts["python"] >= 15
    assert counts["quick"] * 4 > counts["draws"] > 2000 and counts["found"] >= 500 and counts["draw.fault"] >= 100


@pytest.mark.skipif(not switch_index.names(), reason=recordings.REASON)
def test_damaged_recordings_of_the_switch() -> None:
    counts = load("recordings").run(60, seed=1)
    assert counts["cases"] == 60 and counts["replayed"] >= 50
    assert counts["draws"] >= 80 and counts["frames"] >= 80


def test_questions_about_damaged_recordings() -> None:
    counts = load("debugging").run(12, seed=1)
    assert counts["cases"] == 12 and counts["answers"] >= 24 and counts["fragments"] >= 3


def test_damaged_recordings_are_compared() -> None:
    counts = load("differences").run(20, seed=1)
    assert counts["cases"] == 20 and counts["meshes"] >= 20 and counts["with pixel"] >= 5 and counts["with vertex"] >= 5


def test_maxwell_words_and_files_with_shaders() -> None:
    counts = load("sass").run(1000, seed=1)
    assert counts["cases"] == 1000
    assert counts["decoded"] >= 750 and counts["refused"] >= 80
    assert counts["same bits"] >= 0.98 * counts["decoded"]


def test_raster_of_the_switch() -> None:
    counts = load("raster").run(400, seed=1)
    assert counts["cases"] == 400 and counts["shared"] == 100 and counts["compared"] == 4
    assert counts["drew"] >= 150 and counts["shapes"] >= 600


def test_the_end_of_the_pixel_pipeline_of_the_switch() -> None:
    counts = load("output").run(400, seed=1)
    assert counts["cases"] == 400 and counts["compared"] >= 15 and counts["special"] == 2
    assert counts["stored"] >= 50 and 1 <= counts["refused"] <= 40
