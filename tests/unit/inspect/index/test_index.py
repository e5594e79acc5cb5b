"""Indexes of recordings: the same answers with and without them, and nothing but a replay when they cannot be used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.inspect import inspection
from pocketgpu.inspect.index import events, notes, store
from pocketgpu.inspect.index.store import Index, index_of
from pocketgpu.inspect.n3ds import fragment_count
from pocketgpu.inspect.n3ds import inspection as n3ds
from pocketgpu.inspect.n3ds.inspection import N3dsInspection
from pocketgpu.inspect.switch.inspection import SwitchInspection
from pocketgpu.lanes import object_cache, recipes

DATA = Path(pocketgpu.__file__).parent / "data"
SAMPLES = DATA / "sample.ctf.xz", DATA / "sample_switch.mxcap.zip"
PROMISED = Path(__file__).resolve().parents[2] / "promises" / "data"
SMALL = PROMISED / "scene_3ds.pgc", PROMISED / "scene_switch.pgc"
"""Recordings of a few events, for what is the same with any recording."""
Ask = Callable[..., str]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the cache, without indexes: those of a test have an ending of their own. Kernels are there, as
    compiling them again would take most of the time."""
    folder = object_cache.folder()
    if folder is None:
        monkeypatch.setenv("POCKETGPU_CACHE", str(tmp_path / "cache"))
        folder = object_cache.folder()
        assert folder is not None
    kind = f"index{uuid.uuid4().hex}"
    monkeypatch.setattr(object_cache, "INDEX", kind)
    monkeypatch.setitem(object_cache.LIMITS, kind, object_cache.INDEX_LIMIT_BYTES)
    yield folder
    for path in indexes(folder):
        path.unlink()


@pytest.fixture
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache."""
    monkeypatch.setenv("POCKETGPU_CACHE", str(tmp_path / "cache"))
    yield tmp_path / "cache"


def without_indexes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (events, notes):
        monkeypatch.setattr(module, "index_of", lambda capture, choices: None)


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Ask on the command line; returns what is printed."""

    def asked(*words: str | Path) -> str:
        capsys.readouterr()
        assert main(list(map(str, words))) == 0
        return capsys.readouterr().out

    return asked


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the captures that inspections were made for."""
    found: list[str] = []
    usual = inspection.debug

    def noted(capture: Any, *more: Any) -> Any:
        found.append(str(capture))
        return usual(capture, *more)

    monkeypatch.setattr(inspection, "debug", noted)
    return found


def indexes(cache: Path) -> list[Path]:
    return sorted(cache.glob(f"*.{object_cache.INDEX}"))


# -- events -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_events_are_the_same_with_an_index_and_without(
    sample: Path, cache: Path, ask: Ask, replays: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = next(event for event in pocketgpu.debug(sample).events(0) if event.words is not None or event.facts)
    questions = [[], ["--json"], ["f0"], ["f1", "--draws"], ["f0/p0"], [str(first.by_number), "--json"]]
    replays.clear()
    with monkeypatch.context() as patch:
        without_indexes(patch)
        without = [ask("events", sample, *words) for words in questions]
    assert len(replays) == len(questions) and not indexes(cache)
    replays.clear()
    assert ask("events", sample, "--json") == without[1]
    assert len(replays) == 1 and len(indexes(cache)) == 1
    assert [ask("events", sample, *words) for words in questions] == without
    assert len(replays) <= 3, "only the words of an event need a replay"


def test_events_of_further_frames_are_added(cache: Path, ask: Ask, replays: list[str]) -> None:
    sample = SAMPLES[0]
    count = pocketgpu.open(sample).frame_count
    assert count > 1
    whole = json.loads(ask("events", sample, "--json"))["events"]
    object_cache.entries(cache, object_cache.INDEX)[0][0].unlink()
    replays.clear()
    ask("events", sample, "f0")
    ask("events", sample, "f0")
    assert len(replays) == 1
    ask("events", sample, f"f{count - 1}")
    assert len(replays) == 2
    assert json.loads(ask("events", sample, "--json"))["events"] == whole and len(replays) == 2


QUESTIONS = (
    ["state", "f1/d0"], ["state", "f1/d0", "--json"], ["state", "f0"], ["state", "f1/p0"],
    ["state", "f1/e2", "--against", "f0/d0"], ["why", "f1/d0"], ["why", "f1/d0/t0", "--json"], ["why", "f1"],
    ["why", "f1/top/px200,120", "--json"],
)  # fmt: skip


answers_without: list[str] = []
"""What is printed for QUESTIONS without an index."""


@pytest.mark.parametrize("listed", ["", "f0", "f1"])
def test_state_and_why_are_the_same_with_events_of_an_index(
    listed: str, cache: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was listed before: nothing, fewer frames than are asked about, or all of them."""
    sample = SAMPLES[0]
    if not answers_without:  # the same for all three
        with monkeypatch.context() as patch:
            without_indexes(patch)
            answers_without.extend(ask(command, sample, *words) for command, *words in QUESTIONS)
    if listed:
        ask("events", sample, listed)
    assert [ask(command, sample, *words) for command, *words in QUESTIONS] == answers_without


def test_a_frame_that_was_listed_is_not_played_for_its_events(
    cache: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    usual = n3ds.drive
    monkeypatch.setattr(n3ds, "drive", lambda *given, **more: made.append(given) or usual(*given, **more))
    for machines in (2, 1):  # one for the events, and the one that draws
        made.clear()
        ask("state", SAMPLES[0], "f1/d0")
        assert len(made) == machines
    made.clear()
    ask("state", SAMPLES[0], "f2")
    ask("state", SAMPLES[0], "f1/d0")
    assert len(made) == 3, "a further frame was added"


def test_words_of_listed_events_come_from_a_replay(cache: Path) -> None:
    capture = pocketgpu.open(SAMPLES[0])
    known = pocketgpu.debug(capture)
    for _ in range(2):
        run = pocketgpu.debug(capture)
        with events.remembered(run, capture, {}):
            for mine, its in zip(run.events(1), known.events(1), strict=True):
                assert (mine.to_json(words=True), str(mine)) == (its.to_json(words=True), str(its))
            assert [list(map(str, one.events)) for one in run.passes(1)] == [
                list(map(str, one.events)) for one in known.passes(1)
            ]
            assert list(map(str, run.draws(1))) == list(map(str, known.draws(1)))


def test_errors_are_those_of_a_replay(cache: Path, ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    sample = SAMPLES[0]
    ask("events", sample, "--json")
    for place in ("f99", "f0/d99", "f0/e999", "f0/p99", "f0/px1,1"):
        told = []
        for _ in range(2):
            assert main(["events", str(sample), place]) == 2
            told.append(capsys.readouterr().err)
        assert told[0] == told[1] and place.split("/")[0] in told[0]


def test_nothing_is_kept_when_the_cache_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = pocketgpu.open(SAMPLES[0])
    assert index_of(capture, {}) is not None
    monkeypatch.setenv("POCKETGPU_CACHE", "off")
    assert index_of(capture, {}) is None


def test_captures_that_were_not_read_from_a_file_have_no_index(cache: Path) -> None:
    capture = pocketgpu.open(SAMPLES[0])
    assert capture.digest is not None and index_of(capture, {}) is not None
    capture.digest = None
    assert index_of(capture, {}) is None


# -- what an index depends on -----------------------------------------------------------------------------------------
def test_a_changed_file_has_another_index(cache: Path, tmp_path: Path, ask: Ask, replays: list[str]) -> None:
    """Size and times of the file stay as they are."""
    place = tmp_path / "one.mxcap.zip"
    place.write_bytes(SAMPLES[1].read_bytes())
    times = place.stat().st_atime_ns, place.stat().st_mtime_ns
    before = pocketgpu.open(place).digest
    ask("events", place)
    data = bytearray(place.read_bytes())
    at = data.index(b"PK\x01\x02") + 8  # a flag of the archive's directory that readers ignore
    data[at] ^= 0x02
    place.write_bytes(data)
    os.utime(place, ns=times)
    assert pocketgpu.open(place).digest != before
    ask("events", place)
    assert len(replays) == 2


def test_the_memory_file_of_a_log_counts(cache: Path, tmp_path: Path) -> None:
    from pocketgpu.capture import Capture
    from pocketgpu.capture.formats import gxlog

    document = {"version": 1, "virt_to_phys": [], "events": [
        {"type": "memory", "phys": 0x18000000, "offset": 0, "size": 4}, {"type": "frame"},
    ]}  # fmt: skip
    log = tmp_path / "one.gx.json"
    log.write_text(json.dumps(document))
    digests = set()
    for data in (b"abcd", b"abce"):
        gxlog.memory_path(log).write_bytes(data)
        capture = pocketgpu.open(log)
        assert isinstance(capture, Capture)
        digests.add(capture.digest)
    assert len(digests) == 2


def test_choices_and_source_count(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture = pocketgpu.open(SAMPLES[0])

    def kept(choices: dict[str, str]) -> Any:
        index = index_of(capture, choices)
        assert index is not None
        return index.read("a part")

    index = index_of(capture, {})
    assert index is not None
    index.write("a part", [1, {"two": None}])
    assert kept({}) == [1, {"two": None}] and kept({"transfer.block32": "x"}) is None
    monkeypatch.setattr(recipes, "source", lambda: b"other source")
    assert kept({}) is None
    monkeypatch.setattr(recipes, "source", lambda: None)
    assert index_of(capture, {}) is None


# -- damage -----------------------------------------------------------------------------------------------------------
@pytest.fixture
def index(cache: Path) -> Iterator[Index]:
    found = index_of(pocketgpu.open(SMALL[0]), {})
    assert found is not None
    yield found


def test_damaged_entries_are_replayed(cache: Path, ask: Ask, replays: list[str]) -> None:
    whole = ask("events", SMALL[1], "--json")
    (entry,) = indexes(cache)
    good = entry.read_bytes()
    for bad in (b"", good[:30], good[:-1], good[:-1] + bytes([good[-1] ^ 1]), b"x" * 100):
        entry.write_bytes(bad)
        replays.clear()
        assert ask("events", SMALL[1], "--json") == whole and len(replays) == 1
        assert entry.read_bytes() == good, "it is made again"


HOSTILE = (
    None, 0, "text", {}, [[]], [[[], []], 3], [[[["draw"]], []]],
    [[[["draw", "t", 0, 0, {}, [], [], 1]], [["t", [1]]]]],
    [[[["no kind", "t", 0, 0, {}, [], [], True]], []]], [[[["draw", 5, 0, 0, {}, [], [], True]], []]],
    [[[["draw", "t", -1, 0, {}, [], [], True]], []]], [[[["draw", "t", 0, 0, {}, [[1]], [], True]], []]],
    [[[["draw", "t", 0, 0, [], [], [], True]], []]], [[[["draw", "t", 0, 0, {}, [[1 << 70, 2]], [], True]], []]],
    [[[["draw", "t", True, 0, {}, [], [], True]], []]], [[[["draw", "t", 0, 0, {}, [], [], True]], [["t", [-1]]]]],
    [[[["draw", "t", 0, 0, {}, [], [], True]], [[7, [0]]]]],
)  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_values_of_another_shape_are_not_used(value: Any, index: Index, ask: Ask, replays: list[str]) -> None:
    index.write(events.PART, value)
    assert len(json.loads(ask("events", SMALL[0], "--json"))["events"]) > 3 and len(replays) == 1


def test_packed_data_that_cannot_be_read(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = zlib.compress(bytes(1 << 20))
    deep = zlib.compress(b"[" * 200_000)
    for packed in (b"", b"no zlib", zlib.compress(b"{"), zlib.compress(b"\xff"), deep):
        monkeypatch.setattr(object_cache, "read", lambda key, kind, packed=packed: packed)
        assert index.read("a part") is None
    monkeypatch.setattr(store, "MOST_PLAIN", 1 << 16)
    monkeypatch.setattr(object_cache, "read", lambda key, kind: bomb)
    assert index.read("a part") is None


def test_large_values_are_not_kept(index: Index, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_PACKED", 40)
    index.write("a part", list(range(100)))
    assert index.read("a part") is None and not indexes(cache)
    monkeypatch.setattr(events, "MOST_EVENTS", 3)
    run = events.listing(pocketgpu.open(SAMPLES[0]), {})
    assert len(run.events(0)) > 3
    run.keep()
    assert not indexes(cache)


def test_old_indexes_are_dropped(index: Index, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(object_cache.LIMITS, object_cache.INDEX, 250)
    kernels = len(object_cache.entries(cache))
    for number in range(6):
        index.write(f"part {number}", list(range(number, number + 30)))
        newest = max(indexes(cache), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, (number, number))
    assert sum(path.stat().st_size for path in indexes(cache)) <= 250
    assert index.read("part 5") is not None and index.read("part 0") is None
    assert len(object_cache.entries(cache)) >= kernels, "kernels have a limit of their own"


def test_several_processes_at_once(tmp_path: Path) -> None:
    folder = object_cache.folder()
    if folder is None:
        pytest.skip("the cache is off")
    place = tmp_path / "one.mxcap.zip"
    scene().save(place)  # a small one: the processes are there at once while they start
    place.write_bytes(place.read_bytes() + os.urandom(8))  # readers of archives ignore what comes after them
    words = [sys.executable, "-m", "pocketgpu", "events", str(place), "--json"]

    def asked(_: int) -> tuple[int, bytes]:
        done = subprocess.run(words, capture_output=True)
        return done.returncode, done.stdout

    before = set(indexes(folder))
    with ThreadPoolExecutor(3) as pool:
        found = set(pool.map(asked, range(3)))
    assert len(found) == 1 and found.pop()[0] == 0
    index = index_of(pocketgpu.open(place), {})
    assert index is not None and len(index.read(events.PART)) == pocketgpu.open(place).frame_count
    (path,) = (path for path in set(indexes(folder)) - before if path.name == f"{index._key(events.PART)}.index")
    path.unlink()


# -- notes ------------------------------------------------------------------------------------------------------------
def scene(draws: int = 9) -> Any:
    """A capture with draws side by side, some with words for constant buffers before them."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks"))
    from paths_switch import build

    return build(draws)


def test_why_is_the_same_with_notes(cache: Path, tmp_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "paths.mxcap.zip"
    scene().save(place)
    pixels = [f"f0/px{x},{y}" for x, y in ((640, 360), (5, 5), (400, 300), (1000, 200))]
    with monkeypatch.context() as patch:
        without_indexes(patch)
        without = [(ask("why", place, one), ask("why", place, one, "--json")) for one in pixels]
    assert any("touched by 1 clear, " in text for text, _ in without)
    assert [(ask("why", place, one), ask("why", place, one, "--json")) for one in pixels] == without
    capture = pocketgpu.open(place)
    kept = index_of(capture, {})
    assert kept is not None
    assert sum(len(row) == 5 for row in kept.read(notes.PART)) == 27, "a rectangle for each draw"


def test_draws_beside_a_pixel_are_not_watched_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from pocketgpu.inspect.switch import pixel_history

    place = tmp_path / "paths.mxcap.zip"
    scene().save(place)
    run = pocketgpu.debug(place)
    watched: list[Any] = []
    usual = pixel_history.FragmentWatch
    monkeypatch.setattr(pixel_history, "FragmentWatch", lambda *given: watched.append(given) or usual(*given))
    first = run.why("f0/px640,360")
    assert len(watched) == 27
    watched.clear()
    again = run.why("f0/px640,360")
    assert len(watched) < 12 and again.to_json() == first.to_json()


def test_draws_of_a_3ds_are_asked_once_whether_they_change_a_colour(
    cache: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels = [f"f1/d3/px{x},1" for x in (1, 2, 1)]  # the draw does not cover them
    with monkeypatch.context() as patch:
        without_indexes(patch)
        without = [ask("why", SAMPLES[0], one, "--json") for one in pixels]
    counted: list[Any] = []
    usual = fragment_count.FragmentCounter.add
    monkeypatch.setattr(fragment_count.FragmentCounter, "add", lambda *given: counted.append(given) or usual(*given))
    assert [ask("why", SAMPLES[0], one, "--json") for one in pixels] == without
    assert len(counted) == 1
    run = pocketgpu.debug(SAMPLES[0])
    assert [run.why(one).to_json() for one in pixels] == [json.loads(text)["why"] for text in without]
    assert len(counted) == 2


@pytest.mark.parametrize("value", [None, 3, [3], [[1, 2]], [[1, 2, "3"]], [[1, 2, True]], {"1": 2}])
def test_notes_of_a_3ds_of_another_shape_are_not_used(value: Any) -> None:
    run = pocketgpu.debug(SMALL[0])
    assert isinstance(run, N3dsInspection)
    run.use_notes(value)
    assert not run.changing


NOTES = None, 3, "text", [3], [[1, 2, 3]], [[1, 2, 3, 4, "5"]], {"1": 2}, [[1, 2, 3, 4, True]]


@pytest.mark.parametrize("value", NOTES)
def test_notes_of_another_shape_are_not_used(value: Any) -> None:
    run = pocketgpu.debug(SMALL[1])
    assert isinstance(run, SwitchInspection)
    run.use_notes(value)
    assert not run.recorder.reached


# -- the cache's commands ---------------------------------------------------------------------------------------------
def test_the_cache_shows_and_removes_indexes(no_cache: Path, ask: Ask) -> None:
    cache, index = no_cache, index_of(pocketgpu.open(SAMPLES[0]), {})
    assert index is not None
    index.write("a part", 3)
    state = json.loads(ask("cache", "info", "--json"))["cache"]
    assert state["indexes"] == 1 and state["index_bytes"] == sum(path.stat().st_size for path in indexes(cache))
    assert "indexes   1 of recordings" in ask("cache", "info")
    ask("cache", "clear")
    assert not indexes(cache)
    assert json.loads(ask("cache", "info", "--json"))["cache"]["indexes"] == 0
