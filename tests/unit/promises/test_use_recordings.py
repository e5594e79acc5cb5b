"""Recordings: opening, rendering, what is in them, their words, and `.pgc` files that version 0.1.0 wrote."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu import capture as capture_module
from pocketgpu.capture import pgc
from pocketgpu.capture.pgc.minimise import Keep, Minimised, minimise
from pocketgpu.capture.pgc.redact import redact
from pocketgpu.inspect import decode as decoding
from pocketgpu.inspect.capture_info import CaptureInfo, examine
from pocketgpu.inspect.decode import (
    Decoded,
    Listed,
    Stream,
    decode,
    decode_file,
    decode_words,
    parse_listing,
    stream_of,
)
from pocketgpu.inspect.describe import Bits, Explanation, Match, explain, resolve, search
from pocketgpu.inspect.maxwell_info import MaxwellInfo
from pocketgpu.inspect.maxwell_info import examine as examine_switch
from pocketgpu.sweeps.model.rows import Row
from pocketgpu.sweeps.sweep import Sweep

DATA = Path(__file__).resolve().parent / "data"
FILES = {"3DS": DATA / "scene_3ds.pgc", "Switch": DATA / "scene_switch.pgc"}
# SHA-256 of the bytes of the files and of the pictures (red, green, blue, row after row), as 0.1.0 had them.
HASHES = {
    "3DS": {
        "file": "2084d1976c4fe486a79509cb418b14a63d3efa3fc0bb53a49af07f3468e4d18d",
        "f0/top": "1878a4228037235fbec45d8c8cc3c547d39842d547479d262c4ad0f90e36bfe0",
        "f0/bottom": "2a589ae1f2fa2a6328223ff195a29c9244bec633dca49139f6f231e1d79c0eb2",
        "f1/top": "50c7f4a092f3a7b069c2a5d8ecb84293f56357ea51bc6ce605ff761a3d7caee3",
        "f1/bottom": "2a589ae1f2fa2a6328223ff195a29c9244bec633dca49139f6f231e1d79c0eb2",
    },
    "Switch": {
        "file": "fd2610d1eeaa28a8aaf88fa5d1865a394546d56723b81e00cc59bdb65d721d42",
        "f0/screen": "28dec470a6badda7ba5cb0f55463aa3a2d14cf5d9c864ac4e7895878e7562a65",
        "f1/screen": "28dec470a6badda7ba5cb0f55463aa3a2d14cf5d9c864ac4e7895878e7562a65",
    },
}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("console", FILES)
def test_files_of_version_0_1_0_are_read_verified_and_rendered(console: str) -> None:
    found = {"file": digest(FILES[console].read_bytes())}
    capture = pocketgpu.open(FILES[console])
    for frame in capture.render():
        found |= {f"f{frame.index}/{name}": digest(screen.array.tobytes()) for name, screen in frame.screens.items()}
    assert found == HASHES[console]
    checks = list(pgc.check(capture))
    assert len(checks) == 2 and all(isinstance(one, pgc.FrameCheck) and one.same for one in checks)
    assert checks[0].differing == [] and checks[0].found == checks[0].expected and checks[1].frame.index == 1


@pytest.mark.parametrize("console", FILES)
def test_two_threads_give_those_pictures(console: str) -> None:
    capture = pocketgpu.open(FILES[console])
    for frame in capture.render(frames=range(1), threads=2, evaluator="llvm"):
        pictures = {f"f0/{name}": digest(screen.array.tobytes()) for name, screen in frame.screens.items()}
        assert pictures.items() <= HASHES[console].items()


def test_a_capture_tells_of_itself_and_of_frames() -> None:
    capture = capture_module.open(FILES["3DS"])
    assert isinstance(capture, pocketgpu.Capture) and capture.console == "3DS" and capture.frame_count == 2
    assert Path(capture.path) == FILES["3DS"] and capture.warnings == []
    machine = capture.machine(threads=1)
    assert isinstance(machine, pocketgpu.N3DS)
    for frame in capture.render(machine=machine, pictures=False):
        assert isinstance(frame, pocketgpu.Frame) and frame.machine is machine
        assert (frame.draws, frame.triangles) == (2, 3) and frame.fragments == frame.counts["fragments"]
        assert frame.counts["draws"] == 2 and frame.milliseconds > 0 and "list" in frame.phases
        assert frame.warnings == [] and frame.top.array.shape == (240, 400, 3) and frame.bottom.width == 320
        assert frame.top_right is None or frame.top_right.width == 400
    frame.leave(pictures=True)
    assert set(frame.screens) == {"top", "bottom"}
    (other,) = capture.render(frames=range(1), switches={"texture.filter": "nearest"})
    assert digest(other.top.array.tobytes()) != HASHES["3DS"]["f0/top"]
    assert isinstance(pocketgpu.open(FILES["Switch"]).machine(), pocketgpu.GM20B)


def test_a_pgc_is_written_damaged_and_rescued(tmp_path: Path) -> None:
    capture = pocketgpu.open(FILES["3DS"])
    pgc.write(tmp_path / "again.pgc", capture, packing="stored")
    data = (tmp_path / "again.pgc").read_bytes()
    again = pocketgpu.open(tmp_path / "again.pgc")
    assert all(one.same for one in pgc.check(again))
    (tmp_path / "cut.pgc").write_bytes(data[: len(data) - 30])
    with pytest.raises(pocketgpu.CaptureError):
        pocketgpu.open(tmp_path / "cut.pgc")
    saved = pgc.rescue(data[: len(data) - 30])
    assert isinstance(saved, pgc.Rescue) and saved.damage and len(saved.contents.frames) < 3


def test_a_pgc_is_minimised_and_redacted(tmp_path: Path) -> None:
    capture = pocketgpu.open(FILES["3DS"])
    contents = pgc.write(tmp_path / "again.pgc", capture, packing="zstd")
    keep = Keep(0, 0, 1)
    assert (keep.first, keep.last, keep.draw) == (0, 0, 1) and str(keep) == "f0/d1"
    small = minimise(contents, keep, replays=2)
    assert isinstance(small, Minimised) and len(small.contents.frames) == 1 and small.replays <= 2
    assert 0 < small.bytes_after <= small.bytes_before
    hidden = redact(capture)
    assert (hidden.textures, hidden.replaced) == (1, 1024) and len(hidden.contents.frames) == 2


# what is in it


def test_what_is_in_a_recording_of_a_3ds() -> None:
    info = examine(pocketgpu.open(FILES["3DS"]))
    assert isinstance(info, CaptureInfo) and info.totals()["draws"] == 4 == sum(frame.draws for frame in info.frames)
    assert {(one.id, one.text) for one in info.features} >= {("texture", "unit 0: RGBA8 16x16 2D")}
    for doubt, use in info.doubts.items():
        assert doubt.certain in (True, False) and doubt.reason and doubt.choice == doubt.switch
        assert use.first.startswith("f")
    assert info.programs and info.states and info.events == [] and json.dumps(info.to_dict())


def test_what_is_in_a_recording_of_a_switch() -> None:
    info = examine_switch(pocketgpu.debug(FILES["Switch"]).log)
    assert isinstance(info, MaxwellInfo) and info.totals()["draws"] == 4 and len(info.frames) == 2
    assert {"b197", "b1c0"} <= {use.block.name for use in info.classes.values() if use.block}
    assert info.headers and info.unknown == {} and info.macros == {} and info.macros_loaded == info.macro_words == 0
    assert info.longest_macro == 0 and info.open_words == 0 and info.events == [] and info.tail is None
    assert info.features and isinstance(info.doubts, dict) and json.dumps(info.to_dict())


def test_registers_explain_themselves() -> None:
    match = resolve("0x1EF00C10")
    assert isinstance(match, Match) and match.register.name == "PPF_FLAGS" and (match.field, match.byte) == (None, 0)
    assert match.header is None and match.said == "" and match.remark() == ""
    explanation = explain(match.register, 0x01001000)
    assert isinstance(explanation, Explanation) and explanation.word == 0x01001000
    assert explanation.register is match.register and explanation.to_dict()["value"] == 0x01001000
    row = next(row for row in explanation.bits if row.field and row.name == "output_format")
    assert isinstance(row, Bits) and (row.span, row.hi, row.lo, row.raw) == ("14-12", 14, 12, 1)
    assert row.text == "1 (RGB8)" and row.note == "" and any("RGB8" in line for line in explanation.lines())
    assert "TEXUNIT0_BORDER_COLOR" in {register.name for register in search("border color")}


# every word


def test_words_of_a_recording_are_decoded() -> None:
    decoded = decode(FILES["3DS"])
    assert isinstance(decoded, Decoded) and decoded.console == "3DS" and decoded.kind == "capture" and decoded.left == 0
    assert Path(decoded.source) == FILES["3DS"] and decoded.rows.dtype == decoding.ROW
    draws = decoded.rows[(decoded.rows["effect"] & decoding.EFFECTS["draw"]) != 0]
    assert draws["frame"].tolist() == [0, 0, 1, 1] and "parameter" in decoding.WHAT and "pica" in decoding.BLOCKS
    listed = parse_listing("\n".join(decoded.lines()))
    assert all((one.words == words).all() for one, words in zip(listed, decoded.segments, strict=True))
    one = next(one for one in listed if one.kind == "list")
    assert isinstance(one, Listed) and one.name and one.place == "f0" and one.address == 0x20000560
    for call in (decoded.to_arrow, decoded.to_pandas):
        try:
            assert len(call()) == len(decoded.rows)
        except pocketgpu.UsageError as error:
            assert "pip install" in str(error.hint)  # not every installation has what they need
    chosen = list(decoded.json_lines(decoded.select(["f0/d0..d1"], ["TEXENV*"], changed=True)))
    assert len(chosen) > 1 and json.loads(chosen[0])["schema"] == "pocketgpu.decode"
    stream = stream_of(pocketgpu.open(FILES["3DS"]))
    assert isinstance(stream, Stream) and isinstance(decoded.stream, Stream) and stream.frame_count == 2
    assert stream.console == "3DS" and stream.table.dtype == decoding.SEGMENT
    assert (stream.segment_words(0) == decoded.segments[0]).all() and len(stream.words) >= len(stream.segment_words(0))


def test_words_of_a_dump_are_decoded(tmp_path: Path) -> None:
    words = np.array([0x000F000F, 0x000F00C0], "<u4")
    decoded = decode_words(words, kind="pica", base=0x20000000)
    assert "TEXENV0_SOURCE" in "\n".join(decoded.lines()) and "list" in decoding.KINDS
    (tmp_path / "dump.bin").write_bytes(words.tobytes())
    assert (decode_file(tmp_path / "dump.bin", "pica").rows["word"] == decoded.rows["word"]).all()


def test_a_widget_shows_an_address_and_answers_about_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("anywidget")
    from support.widgets import without_page

    from pocketgpu.notebook import Viewer

    without_page(monkeypatch, tmp_path)
    for path in FILES.values():
        viewer = Viewer(path, "f0", panels=("picture", "why"), height=300)
        viewer.address = "f1/d0"
        assert viewer.address == "f1/d0" and list(viewer.panels) == ["picture", "why"] and viewer.height == 300
        assert viewer.capture.path == str(path)
        assert viewer.answer().because == pocketgpu.debug(path).why("f1/d0").because
        viewer.close()


def test_a_sweep_gives_rows_and_a_table(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    pytest.importorskip("duckdb")
    sweep = pocketgpu.sweep([str(path) for path in FILES.values()], "check", workers=1, out=tmp_path / "out")
    rows = list(sweep)
    assert isinstance(sweep, Sweep) and all(isinstance(row, Row) for row in rows)
    assert {row.capture for row in rows} == {str(path) for path in FILES.values()}
    assert {row.state for row in rows} == {"done"} and {row.frames for row in sweep.rows} == {2}
    assert all(isinstance(finding["rule"], str) for row in rows for finding in row.findings)
    assert len(sweep.table()) == len(FILES)
