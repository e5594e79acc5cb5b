"""The command line: words in, exit code, files, JSON and readable words out. The replay itself is faked here."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from PIL import Image

import pocketgpu
import pocketgpu.capture
from pocketgpu.capture.driver.n3ds import N3DSDriver
from pocketgpu.cli import main
from pocketgpu.cli.app import COMMANDS, app
from pocketgpu.cli.parts import options, terminal
from pocketgpu.errors import CaptureError, GuestMemoryError, NoPictureError, PocketGPUError, UsageError
from pocketgpu.events import Event
from pocketgpu.facts.memory_map import FCRAM, VRAM

DRAWS, TRIANGLES, FRAGMENTS = np.int64(2), np.int64(5), np.int64(4000)

Program = Callable[..., "subprocess.CompletedProcess[str]"]


@dataclass
class FakeScreen:
    name: str
    array: np.ndarray

    @property
    def image(self) -> Image.Image:
        return Image.fromarray(self.array)


class FakeMemory:
    regions = (VRAM, 0), (FCRAM, 6 << 20)

    def read(self, address: int, size: int) -> bytes:
        if not 0x18000000 <= address <= address + size <= 0x18600000:
            raise GuestMemoryError(address, size)
        return bytes((address + i) & 0xFF for i in range(size))


class FakeMachine:
    memory = FakeMemory()
    finished = 0

    def finish(self) -> None:
        self.finished += 1


@dataclass
class FakeFrame:
    index: int
    screens: dict[str, FakeScreen]
    milliseconds: float = 2.0
    warnings: list[Event] = field(default_factory=list)
    machine: FakeMachine = field(default_factory=FakeMachine)
    # NumPy numbers, as a machine may count them: JSON has no word for those.
    draws: Any = DRAWS
    triangles: Any = TRIANGLES
    fragments: Any = FRAGMENTS

    @property
    def counts(self) -> dict[str, Any]:
        return {"draws": self.draws, "triangles": self.triangles, "fragments": self.fragments}

    @property
    def phases(self) -> dict[str, float]:
        return {"loads": 0.1, "list": 0.2, "raster": 1.0}


def picture(seed: int, width: int, height: int = 240) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


@dataclass
class FakeCapture:
    path: str = "fake.ctf"
    console: str = "3DS"
    frame_count: int = 3
    warnings: list[Event] = field(default_factory=list)
    make: Callable[[int], FakeFrame] | None = None
    calls: list[tuple[range, int, dict[str, str]]] = field(default_factory=list)
    made: object = None
    provider = N3DSDriver

    def driver(self, threads: int, switches: Mapping[str, str]) -> FakeDriver:
        assert self.made is None, "one machine is enough"
        self.made = ("machine", threads, switches)
        return FakeDriver(self, threads, switches)

    def render(
        self,
        frames: range | None = None,
        threads: int = 1,
        switches: Mapping[str, str] | None = None,
        evaluator: str = "llvm",
        machine: object = None,
        pictures: bool = True,
    ) -> Iterator[FakeFrame]:
        assert frames is not None and evaluator == "llvm"
        assert machine is None
        self.calls.append((frames, threads, dict(switches or {})))
        for index in frames:
            yield self.make(index) if self.make else two_screens(index)


@dataclass
class FakeDriver:
    """What `bench` drives: each pass is a call of the capture."""

    capture: FakeCapture
    threads: int
    choices: Mapping[str, str]
    measure = N3DSDriver.measure

    def begin(self) -> None:
        """Switched off and on."""

    def frames(self, wanted: range, pictures: bool = True) -> Iterator[FakeFrame]:
        return self.capture.render(wanted, self.threads, self.choices)


def two_screens(index: int, **more: Any) -> FakeFrame:
    screens = {
        "top": FakeScreen("top", picture(index, 400)),
        "bottom": FakeScreen("bottom", picture(100 + index, 320)),
    }
    return FakeFrame(index, screens, **more)


@pytest.fixture
def capture(monkeypatch: pytest.MonkeyPatch) -> FakeCapture:
    fake = FakeCapture()
    monkeypatch.setattr(pocketgpu.capture, "open", lambda path: fake)
    return fake


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    def arrange(error: BaseException) -> None:
        def raiser(path: str) -> FakeCapture:
            raise error

        monkeypatch.setattr(pocketgpu.capture, "open", raiser)

    return arrange


# render


def test_render_writes_the_pixels_and_describes_them(capture: FakeCapture, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "deep" / "folder"
    assert main(["render", "x.ctf", "--out", str(out), "--json"]) == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert list(document) == ["frames", "warnings"] and document["warnings"] == [] and printed.err == ""
    assert [frame["index"] for frame in document["frames"]] == [0, 1, 2]
    for index, frame in enumerate(document["frames"]):
        assert set(frame) == {"index", "screens", "draws", "triangles", "fragments", "milliseconds"}
        assert (frame["draws"], frame["triangles"], frame["fragments"]) == (2, 5, 4000)
        assert frame["milliseconds"] == 2.0
        for name, seed, width in (("top", index, 400), ("bottom", 100 + index, 320)):
            screen = frame["screens"][name]
            expected = picture(seed, width)
            assert screen["file"] == str(out / f"f{index}.{name}.png")
            assert (screen["width"], screen["height"]) == (width, 240)
            assert screen["sha256"] == hashlib.sha256(expected.tobytes()).hexdigest()
            with Image.open(screen["file"]) as stored:
                assert stored.mode == "RGB" and np.array_equal(np.asarray(stored), expected)
    assert len(list(out.iterdir())) == 6


def test_render_writes_the_right_eye_where_there_is_one(capture: FakeCapture, tmp_path: Path) -> None:
    def stereo(index: int) -> FakeFrame:
        frame = two_screens(index)
        if index == 1:
            frame.screens["top-right"] = FakeScreen("top-right", picture(7, 400))
        return frame

    capture.make = stereo
    assert main(["render", "x.ctf", "--out", str(tmp_path), "--json"]) == 0
    assert [path.name for path in tmp_path.glob("*right*")] == ["f1.top-right.png"]


def test_the_digest_does_not_depend_on_how_the_array_lies_in_memory(
    capture: FakeCapture, tmp_path: Path, capsys: Any
) -> None:
    upright = picture(3, 400)
    turned = np.ascontiguousarray(upright.transpose(1, 0, 2)).transpose(1, 0, 2)
    assert not turned.flags["C_CONTIGUOUS"]
    capture.make = lambda index: FakeFrame(index, {"top": FakeScreen("top", turned)})
    assert main(["render", "x.ctf", "--out", str(tmp_path), "--frames", "0", "--json"]) == 0
    (frame,) = json.loads(capsys.readouterr().out)["frames"]
    assert frame["screens"]["top"]["sha256"] == hashlib.sha256(upright.tobytes()).hexdigest()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0-0", [0]), ("1", [1]), ("1-2", [1, 2]), ("f0-f1", [0, 1]), ("1-", [1, 2]), ("2-99", [2])],
)
def test_frames_are_chosen_with_both_ends(capture: FakeCapture, tmp_path: Path, text: str, expected: list[int]) -> None:
    assert main(["render", "x.ctf", f"--frames={text}", "--out", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.glob("*.top.png")) == [f"f{index}.top.png" for index in expected]


@pytest.mark.parametrize("text", ["2-1", "-", "f", "a-b", "0-1-2", "1 2", "", "0x1", "1.5", "-1", "-1-2", "9" * 30])
def test_a_wrong_range_of_frames_is_a_usage_error(capture: FakeCapture, tmp_path: Path, capsys: Any, text: str) -> None:
    assert main(["render", "x.ctf", f"--frames={text}", "--out", str(tmp_path)]) == 2
    assert "--frames" in capsys.readouterr().err
    assert capture.calls == []


def test_a_frame_past_the_end_is_no_picture(capture: FakeCapture, tmp_path: Path, capsys: Any) -> None:
    assert main(["render", "x.ctf", "--frames", "3-4", "--out", str(tmp_path / "new")]) == 4
    assert "3 frames, f0 to f2" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_no_screen_in_any_frame_is_no_picture(capture: FakeCapture, tmp_path: Path, capsys: Any) -> None:
    capture.make = lambda index: FakeFrame(index, {})
    assert main(["render", "x.ctf", "--out", str(tmp_path), "--json"]) == 4
    document = json.loads(capsys.readouterr().out)
    assert [frame["screens"] for frame in document["frames"]] == [{}, {}, {}]
    assert document["error"]["code"] == 4


def test_a_capture_without_frames_is_no_picture(capture: FakeCapture, tmp_path: Path) -> None:
    capture.frame_count = 0
    assert main(["render", "x.ctf", "--out", str(tmp_path)]) == 4


def test_threads_and_switches_reach_the_replay(capture: FakeCapture, tmp_path: Path) -> None:
    words = ["render", "x.ctf", "--out", str(tmp_path), "--threads", "3", "--set", "texture.filter=nearest"]
    assert main(words) == 0
    assert capture.calls == [(range(3), 3, {"texture.filter": "nearest"})]


@pytest.mark.parametrize("text", ["texture.filter=purple", "no.such.thing=1", "texture.filter", "=", ""])
def test_an_unknown_switch_is_a_usage_error_that_names_the_list(
    capture: FakeCapture, tmp_path: Path, capsys: Any, text: str
) -> None:
    assert main(["render", "x.ctf", "--out", str(tmp_path), "--set", text]) == 2
    assert "pocketgpu switches" in capsys.readouterr().err


def test_warnings_of_all_frames_are_merged_and_alone_exit_0(capture: FakeCapture, tmp_path: Path, capsys: Any) -> None:
    lighting = "lighting is not built yet"
    capture.warnings = [Event("warning", "capture.luts", "no look-up tables [recorder]")]
    capture.make = lambda index: two_screens(
        index, warnings=[Event("warning", "pica.lighting", lighting, f"f{index}/e9", 2)]
    )
    assert main(["render", "x.ctf", "--out", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == [
        {"id": "capture.luts", "message": "no look-up tables [recorder]", "at": "", "count": 1},
        {"id": "pica.lighting", "message": lighting, "at": "f0/e9", "count": 6},
    ]
    assert main(["render", "x.ctf", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "2 warnings" in text and "[recorder]" in text and "6x" in text and "f0/e9" in text


def test_the_summary_tells_what_a_reader_wants(capture: FakeCapture, tmp_path: Path, capsys: Any) -> None:
    assert main(["render", "x.ctf", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""  # not a terminal: no progress
    for expected in ("3 frames of x.ctf", "12,000", "f2.bottom.png", "2.000 ms per frame", f"6 pictures in {tmp_path}"):
        assert expected in printed.out
    assert "\x1b" not in printed.out
    assert printed.out.isascii()


def test_a_long_summary_is_cut(capture: FakeCapture, tmp_path: Path, capsys: Any) -> None:
    capture.frame_count = 40
    capture.make = lambda index: FakeFrame(index, {"top": FakeScreen("top", picture(0, 8, 8))})
    assert main(["render", "x.ctf", "--out", str(tmp_path)]) == 0
    assert f"{40 - terminal.MAX_ROWS} more" in capsys.readouterr().out
    assert len(list(tmp_path.glob("f*.png"))) == 40


# files that cannot be written


def test_a_folder_that_cannot_be_created_is_a_usage_error(capture: FakeCapture, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "file").write_text("in the way")
    assert main(["render", "x.ctf", "--out", str(tmp_path / "file" / "out")]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: cannot create the folder") and str(tmp_path) in printed.err
    assert printed.out == "" and capture.calls == []


def test_a_picture_that_cannot_be_written_is_a_usage_error(capture: FakeCapture, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "f1.top.png").mkdir()
    assert main(["render", "x.ctf", "--out", str(tmp_path), "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert [frame["index"] for frame in document["frames"]] == [0]
    assert document["error"]["location"] == str(tmp_path / "f1.top.png")
    assert not list(tmp_path.glob(".*"))


# dump


def test_dump_writes_the_bytes_after_the_frame(capture: FakeCapture, tmp_path: Path, capsys: Any) -> None:
    frames: list[FakeFrame] = []

    def remember(index: int) -> FakeFrame:
        frames.append(two_screens(index))
        return frames[-1]

    capture.make = remember
    out = tmp_path / "bytes.bin"
    words = ["dump", "x.ctf", "--at", "f2", "--memory", "0x18000010:0x20", "--out", str(out), "--json"]
    assert main(words) == 0
    expected = bytes(range(0x10, 0x30))
    assert out.read_bytes() == expected
    assert capture.calls == [(range(2, 3), 1, {})]
    assert frames[0].machine.finished == 1
    document = json.loads(capsys.readouterr().out)
    assert document["memory"] == {
        "at": "f2",
        "address": 0x18000010,
        "size": 32,
        "file": str(out),
        "sha256": hashlib.sha256(expected).hexdigest(),
    }


def test_dump_to_stdout_writes_only_the_bytes(capture: FakeCapture, capfdbinary: Any) -> None:
    assert main(["dump", "x.ctf", "--at", "f0", "--memory", "0x18000000:300", "--out", "-"]) == 0
    assert capfdbinary.readouterr().out == bytes(i & 0xFF for i in range(300))


def test_dump_outside_of_memory_names_the_regions(capture: FakeCapture, tmp_path: Path, capsys: Any) -> None:
    words = ["dump", "x.ctf", "--at", "f0", "--memory", "0x185FFFFF:2", "--out", str(tmp_path / "x")]
    assert main(words) == 2
    assert "VRAM 0x18000000 to 0x185fffff" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "text", ["0x18000000", "0x18000000:0", ":4", "1:0x", "-1:4", "1:-4", "0xFFFFFFFFFF:2", "1:2:3"]
)
def test_a_wrong_range_of_memory_is_a_usage_error(capture: FakeCapture, tmp_path: Path, text: str) -> None:
    assert main(["dump", "x.ctf", "--at", "f0", f"--memory={text}", "--out", str(tmp_path / "x")]) == 2
    assert capture.calls == []


def test_ranges_of_memory_in_both_notations() -> None:
    assert options.parse_memory_range("0x2018AC00:4096") == options.MemoryRange(0x2018AC00, 4096)
    assert options.parse_memory_range("402653184:0X10") == options.MemoryRange(0x18000000, 16)
    assert options.parse_memory_range("0x500000000:4") == options.MemoryRange(0x5_0000_0000, 4)
    assert options.parse_memory_range("0xFFFFFFFF:1") == options.MemoryRange(0xFFFFFFFF, 1)


@pytest.mark.parametrize(("text", "code"), [("f9", 4), ("f0/d1", 2), ("x", 2), ("-1", 2), ("2", 0)])
def test_the_place_of_a_dump(capture: FakeCapture, tmp_path: Path, text: str, code: int) -> None:
    words = ["dump", "x.ctf", f"--at={text}", "--memory", "0x18000000:1", "--out", str(tmp_path / "x")]
    assert main(words) == code


# bench


def test_bench_takes_median_and_best_of_the_counted_passes(capture: FakeCapture, capsys: Any) -> None:
    passes = [500.0, 3.0, 1.0, 2.0, 40.0]  # the first warms up and does not count

    def timed(index: int) -> FakeFrame:
        return two_screens(index, milliseconds=passes[len(capture.calls) - 1] + index)

    capture.make = timed
    assert main(["bench", "x.ctf", "--repeat", "4", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [call[0] for call in capture.calls] == [range(3)] * 5
    assert capture.made == ("machine", 1, {})
    assert (document["repeat"], document["threads"]) == (4, 1)
    frame = document["frames"][1]
    assert (frame["milliseconds"], frame["milliseconds_best"]) == (3.5, 2.0)
    assert frame["mpixel_per_second"] == pytest.approx(4000 / 3.5 / 1000, abs=1e-3)
    phases = frame["phases"]
    assert list(phases) == ["loads", "list", "vertex", "raster", "fill", "transfer", "other"]
    assert phases["raster"] == {"median": 1.0, "best": 1.0} and phases["fill"] == {"median": 0.0, "best": 0.0}
    assert phases["other"] == {"median": pytest.approx(2.2), "best": pytest.approx(0.7)}
    # All frames together: sums of a pass, then the median over passes.
    assert (document["all"]["milliseconds"], document["all"]["milliseconds_best"]) == (10.5, 6.0)
    assert document["all"]["fragments"] == 12000


def test_bench_for_people(capture: FakeCapture, capsys: Any) -> None:
    assert main(["bench", "x.ctf", "--repeat", "1"]) == 0
    text = capsys.readouterr().out
    for word in ("1 pass", "median ms", "best ms", "transfer", "Mpixel/s", "f2", "all"):
        assert word in text


# choices


def test_switches_are_listed_with_default_and_alternatives(capsys: Any) -> None:
    assert main(["switches", "--json"]) == 0
    listed = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)["switches"]}
    assert "nearest" in listed["texture.filter"]["alternatives"]
    assert main(["switches"]) == 0
    text = capsys.readouterr().out
    for name, entry in listed.items():
        assert f"{name} = {entry['default']} (default)" in text


# how things end


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("m", location="l", hint="h"), 2),
        (GuestMemoryError(0, 1, hint="h"), 2),
        (CaptureError("m", file="a.ctf", offset=16, hint="h"), 3),
        (FileNotFoundError(2, "No such file or directory"), 3),
        (PermissionError(13, "Permission denied"), 3),
        (NoPictureError("m", location="l", hint="h"), 4),
        (PocketGPUError("m", location="l", hint="h"), 5),
        (ZeroDivisionError("division by zero"), 5),
        (MemoryError(), 5),
        (RecursionError("too deep"), 5),
        (KeyboardInterrupt(), 130),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else str(value),
)
@pytest.mark.parametrize("json_", [False, True])
def test_every_failure_has_its_exit_code_and_no_traceback(
    broken: Callable[[BaseException], None], tmp_path: Path, capsys: Any, error: BaseException, code: int, json_: bool
) -> None:
    broken(error)
    words = ["render", "x.ctf", "--out", str(tmp_path), *(["--json"] if json_ else [])]
    assert main(words) == code
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err and printed.err
    if json_:
        document = json.loads(printed.out)
        assert document["frames"] == [] and document["warnings"] == [] and document["error"]["code"] == code
    else:
        assert printed.out == ""


def test_an_error_tells_what_where_and_what_to_do(
    broken: Callable[[BaseException], None], tmp_path: Path, capsys: Any
) -> None:
    broken(CaptureError("the stream is cut short", file="a.ctf", offset=0x64, hint="Record it again."))
    assert main(["render", "a.ctf", "--out", str(tmp_path)]) == 3
    assert capsys.readouterr().err.splitlines() == [
        "error: the stream is cut short",
        "   at: a.ctf, byte 0x64",
        "  try: Record it again.",
    ]


def test_a_bug_asks_for_a_report_and_shows_its_traceback_only_on_request(
    broken: Callable[[BaseException], None], tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("POCKETGPU_DEBUG", raising=False)
    broken(ZeroDivisionError("division by zero"))
    words = ["bench", "a.ctf"]
    assert main(words) == 5
    quiet = capsys.readouterr().err
    assert "report" in quiet and "ZeroDivisionError" in quiet and len(quiet.splitlines()) <= 3
    for debugging in ([*words, "--debug"], ["--debug", *words]):
        assert main(debugging) == 5
        assert "Traceback" in capsys.readouterr().err
    monkeypatch.setenv("POCKETGPU_DEBUG", "1")
    assert main(words) == 5
    assert "Traceback" in capsys.readouterr().err


def test_a_failure_halfway_keeps_what_was_finished(capture: FakeCapture, tmp_path: Path, capsys: Any) -> None:
    def breaks_later(index: int) -> FakeFrame:
        if index == 2:
            raise CaptureError("cut short", file="x.ctf", offset=9)
        return two_screens(index)

    capture.make = breaks_later
    assert main(["render", "x.ctf", "--out", str(tmp_path), "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert [frame["index"] for frame in document["frames"]] == [0, 1]
    assert document["error"] == {"code": 3, "message": "cut short", "location": "x.ctf, byte 0x9", "hint": None}


@pytest.mark.parametrize(
    "words",
    [
        ["rendr"],
        ["render"],
        ["render", "x.ctf"],
        ["render", "x.ctf", "--out", "o", "--threads", "0"],
        ["render", "x.ctf", "--out", "o", "--threads", "two"],
        ["render", "x.ctf", "--out", "o", "--wrong"],
        ["bench", "x.ctf", "--repeat", "0"],
        ["dump", "x.ctf", "--at", "f0"],
        ["--wrong"],
        [],
    ],
)
def test_wrong_words_are_usage_errors(words: list[str], capsys: Any) -> None:
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err
    if words:
        assert "--help" in printed.err


def test_wrong_words_with_json_still_give_one_object(capsys: Any) -> None:
    assert main(["render", "x.ctf", "--out", "o", "--threads", "0", "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["error"]["code"] == 2 and "--threads" in document["error"]["message"]


def test_progress_on_a_terminal_leaves_no_trace(
    capture: FakeCapture, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    moments = iter(range(1000))
    monkeypatch.setattr(terminal.time, "monotonic", lambda: float(next(moments)))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(["render", "x.ctf", "--out", str(tmp_path), "--json"]) == 0
    written = sys.stderr.getvalue()
    assert "frame 2 of 3" in written and "\n" not in written
    last = written.rsplit("\r", 2)
    assert last[-1] == "" and last[-2].strip() == ""  # wiped, cursor back at the start
    json.loads(capsys.readouterr().out)


def test_what_a_library_warns_of_is_one_line(
    capture: FakeCapture, tmp_path: Path, capsys: Any, recwarn: pytest.WarningsRecorder
) -> None:
    def warn(index: int) -> FakeFrame:
        warnings.warn("the cache is not used", stacklevel=2)
        return two_screens(index)

    capture.make = warn
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["render", "x.ctf", "--frames", "0", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().err == "note: the cache is not used\n"


# as a process


def test_module_version_and_help(run_program: Program) -> None:
    assert run_program("--version").stdout.split() == ["pocketgpu,", "version", pocketgpu.__version__]
    for command in ([], *([name] for name in COMMANDS)):
        shown = run_program(*command, "--help")
        assert (shown.returncode, shown.stderr) == (0, "") and "Usage: pocketgpu" in shown.stdout


def test_the_list_of_commands_says_what_each_says_of_itself(run_program: Program) -> None:
    listed = " ".join(run_program("--help").stdout.split())
    for name, text in COMMANDS.items():
        assert f" {name} {text}" in listed
        command = app.get_command(click.Context(app), name)
        assert command is not None and command.name == name
        assert command.get_short_help_str(200).rstrip(".") == text.rstrip(".")


def test_help_and_import_load_nothing_heavy(tmp_path: Path) -> None:
    """What keeps --help fast: the slow packages stay out until a command needs them."""
    code = (
        "import sys, pocketgpu, pocketgpu.cli\n"
        "pocketgpu.cli.main(['--help'])\n"
        "heavy = {'numpy', 'llvmlite', 'PIL', 'rich', 'zstandard', 'hashlib', 'statistics', 'pathlib'}\n"
        "print('LOADED', sorted(heavy & set(sys.modules)))"
    )
    source = Path(pocketgpu.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(source)}, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "LOADED []", done.stderr


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["rendr"], 2, "Did you mean 'render'?"),
        (["info", "FOLDER"], 3, "Give the file of a capture, not a folder."),
        (["info", "missing.ctf"], 3, "Check the path and its permissions."),
        (["diff", "SAMPLE"], 2, "there is nothing to compare with"),
        (["decode", "SAMPLE", "f9"], 2, "It has 6 frames, f0 to f5. Draws: up to f0/d15"),
        (["decode", "SAMPLE", "--filter", "NOPE"], 2, "Did you mean NOP?"),
        (["decode", "SAMPLE", "--filter", "TEXUNIT0_DIM.widht=64"], 2, "It has: height, width."),
        (["info", "SAMPLE#f1"], 3, "Write file and address as two words"),
        (["launch", "missing.cubin"], 3, "Check the path and its permissions."),
        (["regs", "TEXUNIT_CONFIG", "zz"], 2, "'zz' is no value"),
        (["who", "SAMPLE", "12"], 2, "VRAM is at 0x18000000"),
        (["events", "SAMPLE", "f0/px1,1"], 2, "names no frame, pass or event"),
        (["shader", "step", "SAMPLE", "f0"], 3, "'pocketgpu shader step CAPTURE f0/d0/v0'"),
        (["shader", "dis", "SAMPLE"], 3, "for a recording 'pocketgpu state CAPTURE f0/d0 --shaders'"),
        (["macro", "dis", "SAMPLE"], 3, "neither text nor a recording of a Switch"),
        (["render", "SAMPLE", "--set", "texture.filtr=nearest"], 2, "did you mean 'texture.filter'? 'pocketgpu"),
    ],
)
def test_what_is_wrong_comes_with_what_to_do(
    words: list[str], code: int, told: str, sample_path: Path, tmp_path: Path, capsys: Any
) -> None:
    places = {"SAMPLE": str(sample_path), "SAMPLE#f1": f"{sample_path}#f1", "FOLDER": str(tmp_path)}
    assert main([places.get(word, word) for word in words]) == code
    assert told in capsys.readouterr().err


def test_steps_beyond_the_last(sample_path: Path, capsys: Any) -> None:
    assert main(["shader", "step", str(sample_path), "f0/d3/v5", "--from", "100"]) == 0
    assert "they are 0 to 8" in capsys.readouterr().out


def test_a_missing_file_is_unreadable_input(run_program: Program) -> None:
    done = run_program("render", "nowhere.ctf", "--out", "out", "--json")
    assert done.returncode == 3 and json.loads(done.stdout)["error"]["code"] == 3
    assert "nowhere.ctf" in done.stderr and "Traceback" not in done.stderr


def test_garbage_is_unreadable_input(run_program: Program, tmp_path: Path) -> None:
    (tmp_path / "garbage.ctf").write_bytes(bytes(range(256)) * 8)
    (tmp_path / "empty.ctf").write_bytes(b"")
    for name in ("garbage.ctf", "empty.ctf", "."):
        done = run_program("bench", name)
        assert done.returncode == 3, done.stderr
        assert "Traceback" not in done.stderr and done.stdout == ""


def test_a_folder_for_pictures_with_an_odd_name(capture: FakeCapture, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "[red]päth 画"
    assert main(["render", "x.ctf", "--out", str(out), "--json"]) == 0
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert Path(json.loads(printed)["frames"][0]["screens"]["top"]["file"]).is_file()
    assert main(["render", "x.ctf", "--out", str(out)]) == 0
    assert "[red]" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close differently there")
def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    source = str(Path(pocketgpu.__file__).parents[1])
    for words in (["switches"], ["switches", "--json"], ["--help"]):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pocketgpu", *words],
                stdout=writer,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": source},
            )
        finally:
            os.close(writer)
        assert (done.returncode, done.stderr) == (141, ""), words


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_ctrl_c_ends_cleanly(tmp_path: Path) -> None:
    """A replay that never ends, in a process of its own, interrupted the way a terminal does it."""
    code = (
        "import signal, sys, time, pocketgpu.capture, pocketgpu.cli\n"
        # A suite that a shell started in the background has inherited "ignore" for this signal.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Endless:\n"
        "    path, console, frame_count, warnings = 'x', '3DS', 1, []\n"
        "    from pocketgpu.capture.driver.n3ds import N3DSDriver\n"
        "    measure = N3DSDriver.measure\n"
        "    def driver(self, **options):\n"
        "        return self\n"
        "    def frames(self, wanted, **options):\n"
        "        print('READY', file=sys.stderr, flush=True)\n"
        "        while True:\n"
        "            time.sleep(0.01)\n"
        "        yield\n"
        "pocketgpu.capture.open = lambda path: Endless()\n"
        "sys.exit(pocketgpu.cli.main(['bench', 'x']))"
    )
    source = str(Path(pocketgpu.__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    ) as process:
        assert process.stderr is not None and process.stdout is not None
        assert process.stderr.readline() == "READY\n"
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        try:
            status = process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()  # else leaving the block waits for it forever
            raise
        assert status == 130
        assert process.stderr.read() == "interrupted\n" and process.stdout.read() == ""


# the package itself


def test_public_names_resolve_lazily() -> None:
    assert pocketgpu.open is pocketgpu.capture.open
    assert pocketgpu.CaptureError is CaptureError
    assert set(pocketgpu.__all__) < set(dir(pocketgpu))
    for name in (*pocketgpu.__all__, "open"):
        assert getattr(pocketgpu, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pocketgpu.nothing
