"""Tracks of events, and the file for Perfetto."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.cli.app import main
from pocketgpu.inspect.frames import timeline
from pocketgpu.inspect.frames.timeline import to_perfetto, tracks
from pocketgpu.inspect.model.event import KINDS, Event
from pocketgpu.inspect.n3ds import units as n3ds
from pocketgpu.inspect.switch import units as switch

DATA = Path(__file__).resolve().parents[4] / "src" / "pocketgpu" / "data"
UNITS = {
    "sample.ctf.xz": {"CPU", "PSC0", "PSC1", "PICA200", "PPF", "PDC"},
    "sample_switch.mxcap.zip": {"CPU", "channel", "3D B197", "inline-to-memory A140", "display"},
}


@pytest.mark.parametrize("sample", UNITS)
def test_every_event_is_on_the_track_of_its_unit(sample: str) -> None:
    run = pocketgpu.debug(DATA / sample)
    found = tracks(run, 0)
    assert set(found) == UNITS[sample]
    assert sorted(number for numbers in found.values() for number in numbers) == list(range(len(run.events(0))))
    assert all(numbers == sorted(numbers) for numbers in found.values())


def test_every_kind_of_event_has_a_unit() -> None:
    for kind in KINDS:
        event = Event(0, 0, kind, "")
        assert n3ds.unit_of(event) and switch.unit_of(event)
    assert n3ds.unit_of(Event(0, 0, "fill", "", facts={"unit": "PSC1"})) == "PSC1"
    assert n3ds.unit_of(Event(0, 0, "fill", "", facts={"unit": 4})) == "PSC"
    assert switch.unit_of(Event(0, 0, "upload", "", facts={"class": "b1c0"})) == "compute B1C0"
    assert switch.unit_of(Event(0, 0, "copy", "", facts={"unit": 4})) == "DMA copy B0B5"


@pytest.mark.parametrize("sample", UNITS)
def test_the_file_has_a_slice_for_each_event(
    sample: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.json"
    assert main(["events", str(DATA / sample), "f1", "--perfetto", str(path)]) == 0
    capsys.readouterr()
    found = json.loads(path.read_text())
    run = pocketgpu.debug(DATA / sample)
    assert found == json.loads(json.dumps(to_perfetto(run, [1])))
    named = {one["tid"]: one["args"]["name"] for one in found["traceEvents"] if one["name"] == "thread_name"}
    slices = [one for one in found["traceEvents"] if one["ph"] == "X"]
    events = run.events(1)
    units = [one for one in slices if named[one["tid"]] not in ("frames", "passes")]
    assert [(one["ts"], one["name"], one["cat"], named[one["tid"]], one["args"]["address"]) for one in units] == [
        (event.number, event.title, event.kind, run.unit(event), str(event.address)) for event in events
    ]
    whole = next(one for one in slices if named[one["tid"]] == "frames")
    assert (whole["ts"], whole["dur"], whole["args"]["address"]) == (0, len(events), "f1")
    both = to_perfetto(run, range(2))["traceEvents"]
    second = [one for one in both if one["ph"] == "X" and one["args"]["address"] == "f1"]
    assert [one["ts"] for one in second] == [len(run.events(0))]
    monkeypatch.setattr(timeline, "MOST_SLICES", len(events) + 10)
    assert sum(one["name"].startswith("frame ") for one in to_perfetto(run, [1, 1])["traceEvents"]) == 1
