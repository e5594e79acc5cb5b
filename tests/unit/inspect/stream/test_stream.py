"""The table of all words: the words of `decode`, once and in order, whose windows and events are parts of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import recordings
from support.pica_scenes import Scene

import pocketgpu
from pocketgpu.builder import CaptureBuilder
from pocketgpu.errors import UsageError
from pocketgpu.inspect.decode import decode
from pocketgpu.inspect.decode.emit import ROWS
from pocketgpu.inspect.decode.rows import EFFECTS, ISSUED
from pocketgpu.inspect.decode.uniforms import Uniform, UniformsAt
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.references import RegisterWord
from pocketgpu.inspect.stream import CommandStream, Sift
from pocketgpu.inspect.stream import command_stream as opened_streams
from pocketgpu.inspect.stream.last_write import extent_of
from pocketgpu.inspect.stream.layout import SLICE

DATA = Path(pocketgpu.__file__).parent / "data"
SAMPLES = [DATA / "sample.ctf.xz", DATA / "sample_switch.mxcap.zip"]
RECORDED = [
    *(recordings.n3ds() / name for name in ("2d_shapes.gx.json.xz", "hwtest_texcopy.ctf.xz")),
    *(recordings.switch() / name for name in ("deko_basic_320x180.mxcap.zip", "ex09_compute_320x180.mxcap.zip")),
]
PATHS = SAMPLES + [path for path in RECORDED if path.is_file()]
STARTS = {"fill": "fill", "clear": "clear", "transfer": "transfer", "copy": "transfer", "launch": "launch"}
"""Kinds of events, and the effect of the last of their words."""
FRAMES = 3
"""Frames of a recording whose events are looked at."""


def name(path: Path) -> str:
    return path.name


@cache
def opened(path: Path) -> Inspection:
    return pocketgpu.debug(path)


@cache
def decoded_lines(path: Path) -> list[str]:
    return list(decode(pocketgpu.open(path)).json_lines(header=False))


def all_lines(stream: CommandStream) -> list[str]:
    return list(stream.lines(0, len(stream)))


@pytest.mark.skipif(len(PATHS) < len(SAMPLES) + len(RECORDED), reason=recordings.REASON)
def test_all_recordings_are_there() -> None:
    """So that the tests below are about them."""


@pytest.mark.parametrize("path", PATHS, ids=name)
def test_every_word_is_there_once_and_in_order(path: Path) -> None:
    stream = opened(path).stream
    own = stream.own((0, len(stream)))
    assert len(own) == stream.words == len(stream) - stream.issued
    assert (stream.rows["word"][own] == decode(pocketgpu.open(path)).stream.words).all()
    assert list(stream.lines_at(own)) == decoded_lines(path)
    assert (stream.rows["what"] == ISSUED).sum() == stream.issued
    assert opened(path).stream is stream


@pytest.mark.parametrize("path", PATHS, ids=name)
def test_a_window_is_a_part_of_the_whole(path: Path) -> None:
    stream = opened(path).stream
    whole, step = all_lines(stream), max(len(stream) // 23, 1)
    for first in (*range(0, len(stream), step), len(stream) - 1, len(stream)):
        assert list(stream.lines(first, 100)) == whole[first : first + 100]


@pytest.mark.parametrize("path", PATHS, ids=name)
def test_the_words_of_events_are_those_of_decode(path: Path) -> None:
    run, decoded = opened(path), decode(pocketgpu.open(path))
    kinds = set()
    for frame in range(min(run.frame_count, FRAMES)):
        for event in run.events(frame):
            extent = run.stream.range_of(event)
            if event.draw is not None:
                assert list(run.words_of(event)) == list(
                    decoded.json_lines(decoded.select([str(event.address)]), header=False)
                )
                assert extent is not None and run.stream.event_at(extent[1] - 1) == event.address
            elif event.kind in STARTS:
                assert extent is not None, event
                # What a macro starts is not in its last row, but in a row that it issues.
                effects = np.bitwise_or.reduce(run.stream.rows["effect"][extent[0] : extent[1]])
                assert effects & EFFECTS[STARTS[event.kind]] or (
                    event.kind == "copy" and effects & EFFECTS["copy"]
                )
                assert run.stream.event_at(extent[1] - 1) == event.address
                kinds.add(event.kind)
            elif event.kind in ("load", "show"):
                assert extent is None and not list(run.words_of(event))
                assert 0 <= run.stream.row_after(event) <= len(run.stream)
    assert kinds


@pytest.mark.parametrize("path", PATHS, ids=name)
def test_lists_and_submissions_have_the_words_that_they_say(path: Path) -> None:
    run = opened(path)
    for event in (one for one in run.events(0) if one.kind in ("list", "submission")):
        extent = run.stream.range_of(event)
        assert extent is not None
        rows = run.stream.rows[extent[0] : extent[1]]
        if event.words is not None:
            assert rows["word"].tolist() == event.words.values.tolist()
        else:
            assert set(rows["list"].tolist()) == {event.facts["submission"]}


@pytest.mark.parametrize("path", SAMPLES, ids=name)
def test_words_of_an_event_are_counted_without_what_macros_issue(path: Path) -> None:
    run = opened(path)
    stream = run.stream
    for event in run.draws(0):
        extent = stream.range_of(event)
        assert extent is not None
        for line, row in enumerate(stream.own(extent).tolist()):
            assert stream.row_of(line, extent) == row
            assert stream.line_of(row, extent) == line


def test_the_word_of_a_register_is_that_line_of_its_event() -> None:
    for path, register, draw in zip(SAMPLES, ("DEPTH_COLOR_MASK", "SET_DEPTH_FUNC"), ("f0/d3", "f0/d9"), strict=True):
        run = opened(path)
        word = run.word_of(register, draw)
        assert word is not None
        event = run.event(word.event)
        extent = run.stream.range_of(event)
        assert extent is not None
        row = run.stream.row_of(word.line, extent)
        assert int(run.stream.rows["address"][row]) == word.address


@pytest.mark.parametrize("path", SAMPLES, ids=name)
def test_events_that_are_no_draws_have_the_words_of_their_registers(path: Path) -> None:
    """A register after any event, a pass or the frame is what its word left there. What units clear again has no
    word."""
    run = opened(path)
    places = [one.address for one in run.events(0) if one.draw is None][-8:]
    for place in [*places, Address.parse("f0/p0"), Address.parse("f0")]:
        changes = [one for one in run.seek(place).changes() if not one.table]
        found = [(one, word) for one in changes if (word := run.word_of(one.register, place))]
        assert sum(one.new == word.value for one, word in found) >= len(found) - 1, place
        for one, word in found:
            lines = [json.loads(line) for line in run.stream.lines_at(np.array([row_of(run, word)]))]
            assert lines[0].get("register", {}).get("name") == one.register or "macro" in lines[0].get("effects", ())


def row_of(run: Inspection, word: RegisterWord) -> int:
    return run.stream.row_of(word.line, extent_of(run, word.event))


# -- looking for words ------------------------------------------------------------------------------------------------
def found(stream: CommandStream, sift: Sift) -> list[int]:
    sifted = stream.sifted(sift)
    while not sifted.done:
        sifted.go_on()
    return sifted.rows(0, len(stream)).tolist()


def value_of(line: dict[str, Any]) -> str:
    return str(line.get("register", {}).get("new", ""))


@pytest.mark.parametrize("path", SAMPLES, ids=name)
def test_texts_find_what_the_lines_say(path: Path) -> None:
    stream = opened(path).stream
    lines = [json.loads(line) for line in all_lines(stream)]
    names = [f"{one['register']['id']} {one['register']['name']}".lower() if "register" in one else "" for one in lines]
    fields = [" ".join(one.get("fields", {})).lower() for one in lines]
    middle = next(one for one in lines[len(lines) // 2 :] if "address" in one)
    address, word = middle["address"], middle["word"]

    def rows(test: Callable[[int, dict[str, Any]], bool]) -> list[int]:
        return [row for row, one in enumerate(lines) if test(row, one)]

    for text in ("vertex", "0c1", "format_"):
        wanted = {row for row in range(len(lines)) if text in names[row] or text in fields[row]}
        assert wanted <= set(found(stream, Sift(text)))
    assert found(stream, Sift(address)) == rows(
        lambda row, one: address in (one.get("address"), one["word"]) or value_of(one) == address
    )
    assert found(stream, Sift(word)) == rows(lambda row, one: word in (one["word"], value_of(one)))
    digits = address[-6:]
    number = rows(
        lambda row, one: any(digits in text[2:] for text in (one.get("address", ""), one["word"], value_of(one)))
    )
    assert set(number) <= set(found(stream, Sift(digits)))
    assert found(stream, Sift("draw")) and set(rows(lambda row, one: "draw" in one.get("effects", ()))) <= set(
        found(stream, Sift("draw"))
    )
    # All terms, in any order and letters.
    first, second = set(found(stream, Sift("vertex"))), set(found(stream, Sift("f0/d3")))
    assert set(found(stream, Sift("f0/D3  VERTEX"))) == first & second
    assert found(stream, Sift("f0/d3")) == rows(lambda row, one: one["at"] == "f0/d3")
    assert found(stream, Sift(changed=True)) == rows(lambda row, one: one.get("changed", False))
    assert found(stream, Sift(issued=False)) == rows(lambda row, one: one["what"] != "issued")
    assert found(stream, Sift(rows=(5, 9))) == [5, 6, 7, 8]
    assert found(stream, Sift("vertex", rows=(100, 900))) == sorted(row for row in first if 100 <= row < 900)
    assert found(stream, Sift("nothing_has_this_name")) == []


@pytest.mark.parametrize(
    ("path", "text", "register", "field", "values"),
    [
        (SAMPLES[0], "rgb0=0xf", None, "rgb0", ("15",)),
        (SAMPLES[0], "texenv0_source.rgb0=15", "TEXENV0_SOURCE", "rgb0", ("15",)),
        (SAMPLES[0], "rgb0=previous", None, "rgb0", ("15",)),
        (SAMPLES[1], "set_depth_func", "SET_DEPTH_FUNC", None, ()),
    ],
)
def test_fields_are_found_by_their_values(
    path: Path, text: str, register: str | None, field: str | None, values: tuple[str, ...]
) -> None:
    stream = opened(path).stream
    rows = found(stream, Sift(text))
    assert rows
    for line in map(json.loads, stream.lines_at(np.array(rows))):
        assert register is None or line["register"]["name"] == register
        if field is not None:
            assert line["fields"][field].split()[0] in values
    if field is not None:
        others = [json.loads(line) for line in all_lines(stream)]
        wanted = [
            row for row, one in enumerate(others)
            if one.get("fields", {}).get(field, "").split(" ")[0] in values
            and (register is None or one["register"]["name"] == register)
        ]  # fmt: skip
        assert rows == wanted


def test_hits_before_and_after_a_row() -> None:
    stream = opened(SAMPLES[0]).stream
    sifted = stream.sifted(Sift("texenv0_source"))
    rows = found(stream, Sift("texenv0_source"))
    before, middle, after = rows[5:8]
    assert (sifted.near(middle, False), sifted.near(middle, True)) == (before, after)
    assert sifted.near(rows[-1], True) is None and sifted.near(rows[0], False) is None
    assert [sifted.index(row) for row in rows] == list(range(len(rows)))
    assert stream.sifted(Sift("texenv0_source")) is sifted


def test_a_text_has_an_end() -> None:
    stream = opened(SAMPLES[0]).stream
    with pytest.raises(UsageError, match="more than 8 words"):
        stream.sifted(Sift("a b c d e f g h i"))
    with pytest.raises(UsageError, match="200 letters"):
        stream.sifted(Sift("x" * 201))
    # Odd ones are just texts.
    for text in ("=", "a=", "=5", ".=5", "0x", "f0/d5..d3", "f999999999/d999999999", "0x" + "f" * 16, "*[", "é"):
        try:
            assert isinstance(found(stream, Sift(text)), list)
        except UsageError as error:
            assert "ends before it begins" in str(error)


# -- long streams -----------------------------------------------------------------------------------------------------
LIST_WORDS, LISTS = 1 << 17, 8


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> Inspection:
    """A capture with 1,048,576 words of lists: uploads of uniforms, and a register that is written again and again."""
    pairs = LIST_WORDS // 2
    values = np.arange(pairs, dtype=np.uint32)
    words = np.stack([values, np.full(pairs, 0x000F00C0, np.uint32)], axis=1).reshape(-1)
    words[1::2][1::4] = 0x000F02C1  # data of float uniforms
    words[:2] = 0x80000000, 0x000F02C0  # their index: floats of 32 bits, from c0 on
    words[-2:] = 0x12345678, 0x000F0010  # the end of the list
    path = tmp_path_factory.mktemp("million") / "million.ctf.xz"
    capture = CaptureBuilder()
    address = capture.put(words)
    for _ in range(LISTS):
        capture.submit(words, address)
        capture.end_frame()
    capture.save(path)
    return pocketgpu.debug(path)


def test_a_million_words_open_in_bounded_steps(million: Inspection) -> None:
    steps = 1
    while not million.open_stream():
        steps += 1
    stream = million.stream
    assert stream.words >= 1_000_000
    # A step is a frame, a run of the kernel, or a slice of the layout.
    assert steps <= LISTS + 2 * (len(stream) // ROWS + 2 + LISTS) + len(stream) // SLICE + 2
    whole = decode(pocketgpu.open(million.capture.path))
    assert (stream.rows["word"] == whole.rows["word"]).all()
    own = whole.json_lines(whole.select(["f3"]), header=False)
    first, end = stream.frame_range(3)
    for line, wanted in zip(stream.lines(first, 1000), own, strict=False):
        assert line == wanted
    assert end - first > LIST_WORDS


def test_a_window_looks_at_its_rows_only(million: Inspection, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    real = UniformsAt.of

    def of(self: UniformsAt, place: int) -> Uniform | None:
        looked.append(place)
        return real(self, place)

    monkeypatch.setattr(UniformsAt, "of", of)
    last = len(million.stream) - 200
    assert len(list(million.stream.lines(last, 500))) == 200
    assert looked == list(range(last, last + 200))


def test_a_million_words_are_searched_in_slices(million: Inspection) -> None:
    stream = million.stream
    sifted = stream.sifted(Sift("texenv0_source 0x00000007"))
    slices = 0
    while not sifted.done:
        before = sifted.scanned
        sifted.go_on()
        slices += 1
        assert 0 < sifted.scanned - before <= SLICE
    assert slices == -(-len(stream) // SLICE)
    rows = stream.rows[sifted.rows(0, sifted.found)]
    assert sifted.found >= LISTS and set(rows["new"].tolist()) | set(rows["word"].tolist()) >= {7}
    # Nothing needs to be looked at for all rows.
    everything = stream.sifted(Sift())
    assert everything.done and everything.found == len(stream)
    assert everything.rows(len(stream) - 3, 10).tolist() == [len(stream) - 3, len(stream) - 2, len(stream) - 1]


def test_what_macros_issue_is_left_out_if_it_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened_streams, "MOST_ISSUED", -(1 << 22))
    stream = pocketgpu.debug(SAMPLES[1]).stream
    assert stream.issued == 0 and stream.words == opened(SAMPLES[1]).stream.words
    assert all_lines(stream) == decoded_lines(SAMPLES[1])


def test_a_capture_without_words_has_an_empty_table(tmp_path: Path) -> None:
    path = tmp_path / "empty.ctf.xz"
    capture = CaptureBuilder()
    capture.end_frame()
    capture.save(path)
    run = pocketgpu.debug(path)
    assert len(run.stream) == 0 and all_lines(run.stream) == []
    assert run.stream.frame_range(0) == (0, 0)
    assert found(run.stream, Sift("texenv")) == []


def test_an_error_of_opening_comes_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = Scene().save(tmp_path / "scene.ctf.xz")
    run = pocketgpu.debug(path)
    monkeypatch.setattr("pocketgpu.inspect.decode.stream.MOST_WORDS", 8)
    for _ in range(2):
        with pytest.raises(UsageError, match="command words"):
            _ = run.stream
    monkeypatch.undo()
    assert len(run.stream) > 8
