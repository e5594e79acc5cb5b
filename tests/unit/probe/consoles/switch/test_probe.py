"""The probe of the Switch, run on our own machine under each value of the choices: it must answer what was set."""

from __future__ import annotations

import runpy
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from support import recordings

import pocketgpu
from pocketgpu import capture
from pocketgpu.capture.pgc import parse
from pocketgpu.cli import main
from pocketgpu.facts.choices import CHOICES, OF_CONSOLE
from pocketgpu.guests.switch.abi import layout
from pocketgpu.probe.consoles.known import probe_console
from pocketgpu.probe.judging import Verdict, answers_in, judge, read_file
from pocketgpu.probe.making import FOLDER, choices_with_scenes, write_folder
from pocketgpu.probe.scenes import NO_SCENE, SCENES

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

ROOT = Path(__file__).resolve().parents[5]
SOURCES = ROOT / "probe" / "switch"
PROGRAM = ROOT / "src" / "pocketgpu" / "data" / "probe" / "probe.nro"
CONSOLE = f"pocketgpu {pocketgpu.__version__}, emulating a Switch, system 17.0.0"
NAMES = choices_with_scenes("Switch")
ROUNDS = max(len(CHOICES[name].values) for name in NAMES)


def card_of(folder: Path, names: tuple[str, ...]) -> Path:
    """A memory card with the files for some choices."""
    written = list(write_folder(folder, probe_console("Switch"), names))
    assert [one for one in written if one.reason] == []
    return folder


def run(card: Path, switches: Mapping[str, str] | None = None, frames: int = 20_000) -> pocketgpu.App:
    app = pocketgpu.run(card / FOLDER / "probe.nro", sd=card, writable=True, switches=switches)
    app.frames(frames)
    return app


def judged(card: Path) -> dict[str, Verdict]:
    """Each by itself: no verdict depends on the others."""
    found = (judge(*read_file(path)) for path in answers_in([str(card / FOLDER)]))
    return {one.choice: one for one in found}


@pytest.mark.parametrize("turn", range(ROUNDS))
def test_each_choice_is_judged_as_it_was_set(tmp_path: Path, turn: int) -> None:
    """All in one run: the scenes are independent of other choices."""
    assert len(NAMES) >= 34
    card = card_of(tmp_path, NAMES)
    wanted = {name: CHOICES[name].values[min(turn, len(CHOICES[name].values) - 1)] for name in NAMES}
    with run(card, wanted) as app:
        assert app.end is not None and app.end.why == "exit", app.end
    found = judged(card)
    assert {name: one.agree for name, one in found.items()} == {name: (value,) for name, value in wanted.items()}
    assert all(one.tells for one in found.values())


def test_every_choice_can_be_asked_or_has_a_reason() -> None:
    assert set(OF_CONSOLE["Switch"]) == set(NAMES) | (set(NO_SCENE) & set(OF_CONSOLE["Switch"]))
    assert set(NAMES) <= set(SCENES)


CLEAR = "clear.raster_disabled"


@pytest.fixture
def card(tmp_path: Path) -> Path:
    return card_of(tmp_path, (CLEAR, "channel.deadlock"))


def answer(card: Path, name: str) -> Path:
    return card / FOLDER / f"{name}.answer.pgc"


def test_an_answer_shows_what_the_console_showed(card: Path) -> None:
    with run(card) as app:
        picture = app.screen.array
        assert app.console.text.count("begins") == 2 and picture.max() == 255, "it says on the screen what it does"
        kernel = app.console.kernel
        assert len(kernel.handles) == 2, "the loader's own: the next program finds all services free"
        assert kernel.uses.at(layout.HEAP)[0] == kernel.uses.at(layout.HEAP + (64 << 20))[0], "no memory is lent"
    for name, value in ((CLEAR, "clear"), ("channel.deadlock", "continue")):
        assert value == CHOICES[name].default
        shown = next(iter(capture.open(answer(card, name)).render())).screens["screen"].array
        ours = next(iter(capture.of_bytes(SCENES[name].made.data).render())).screens["screen"].array
        assert np.array_equal(shown, ours)
    about = parse(answer(card, CLEAR).read_bytes()).about
    assert about["probe.console"] == CONSOLE and about["probe.program"] == "pocketgpu probe 1"
    assert "probe.hung" not in about and "probe.errors" not in about
    hung = parse(answer(card, "channel.deadlock").read_bytes()).about
    assert hung["probe.end"] == "finished" and hung["probe.hung"].startswith("CHANNEL0 f0/e")
    assert hung["probe.errors"] == "CHANNEL0 8", "a time-out"
    assert (card / FOLDER / "running.txt").read_bytes() == b""
    assert "the probe: the end" in (card / FOLDER / "log.txt").read_text()


def test_the_whole_way_by_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = (CLEAR, "report.release_size")
    choices = [word for name in asked for word in ("--choice", name)]
    assert main(["probe", "make", str(tmp_path), "--console", "switch", *choices]) == 0
    folder = tmp_path / FOLDER
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.txt", f"{CLEAR}.pgc", "probe.nro", "report.release_size.pgc"
    ]  # fmt: skip
    words = ["run", str(folder / "probe.nro"), "--sd", str(tmp_path), "--sd-write", "--set", f"{CLEAR}=nothing"]
    assert main(words) == 0
    capsys.readouterr()
    assert main(["probe", "read", str(folder)]) == 0
    out = capsys.readouterr().out
    assert f"{CLEAR} = nothing\n" in out and "report.release_size = structure (the default)\n" in out
    assert out.startswith("from: pocketgpu") and "2 answers: 2 tell the value" in out


def test_a_second_run_leaves_out_what_is_answered(card: Path) -> None:
    run(card).close()
    first = {path.name: path.read_bytes() for path in (card / FOLDER).glob("*.answer.pgc")}
    answer(card, CLEAR).unlink()
    with run(card) as app:
        assert "channel.deadlock: answered before" in app.console.text
        assert f"{CLEAR}: finished" in app.console.text
    assert {path.name: path.read_bytes() for path in (card / FOLDER).glob("*.answer.pgc")} == first
    sent = card / FOLDER / f"{CLEAR}.pgc"
    sent.write_bytes((card / FOLDER / "channel.deadlock.pgc").read_bytes())
    with run(card) as app:
        assert f"{CLEAR}: begins" in app.console.text, "another file of the same name"


def test_a_file_in_which_the_console_hung_is_left_out(card: Path) -> None:
    (card / FOLDER / "running.txt").write_text("channel.deadlock")
    with run(card) as app:
        assert "channel.deadlock: no answer" in app.console.text and f"{CLEAR}: finished" in app.console.text
    found = judged(card)
    assert found["channel.deadlock"].silent == "no answer" and found[CLEAR].agree == ("clear",)
    assert parse(answer(card, "channel.deadlock").read_bytes()).frames == []
    with run(card) as app:
        assert "channel.deadlock: answered before" in app.console.text, "nor is it tried again"


def test_a_card_that_cannot_be_written_or_has_no_folder(card: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    with pocketgpu.run(card / FOLDER / "probe.nro", sd=card) as app:
        app.frames(20_000)
        assert app.end is not None and app.end.why == "exit"
        assert "its answer cannot be written" in app.console.text
    with pocketgpu.run(PROGRAM, sd=tmp_path_factory.mktemp("empty")) as app:
        app.frames(100)
        assert "the card has no folder /pocketgpu-probe" in app.console.text


RECORDED = ("deko_basic_320x180", "ex03_cube_320x180", "gl_textured_cube_320x180")
"""Of programs with two drivers. They raise syncpoints, which have other numbers on the console."""


@pytest.mark.skipif(not recordings.switch().is_dir(), reason=recordings.REASON)
def test_recordings_of_programs(tmp_path: Path) -> None:
    """Their second frame is the same on the console as in a replay."""
    paths = [recordings.switch() / f"{name}.mxcap.zip" for name in RECORDED]
    written = list(write_folder(tmp_path, probe_console("Switch"), (), paths, frame=1))
    assert [(one.name, one.reason) for one in written] == [(name, "") for name in RECORDED]
    with run(tmp_path) as app:
        assert app.end is not None and app.end.why == "exit" and not len(app.console.machine.events)
    for path, name in zip(paths, RECORDED, strict=True):
        sent = parse((tmp_path / FOLDER / f"{name}.pgc").read_bytes())
        assert sent.about["probe.relocate"].count("m0") > 0 and len(sent.frames) == 2
        shown = next(iter(capture.open(answer(tmp_path, name)).render())).screens["screen"].array
        assert np.array_equal(shown, list(capture.open(path).render())[1].screens["screen"].array)
        assert judge(*read_file(answer(tmp_path, name))).silent == "it is a picture of a recording"


# -- the program ------------------------------------------------------------------------------------------------------
def test_the_numbers_are_those_of_the_tables() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "make_switch_probe_facts.py"), run_name="tool")
    assert "\n".join(tool["everything"]()) + "\n" == (SOURCES / "facts.h").read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("aarch64-linux-gnu-gcc") is None, reason="no aarch64-linux-gnu-gcc")
def test_the_program_is_made_of_its_sources(tmp_path: Path) -> None:
    """Built elsewhere it is the same, byte by byte, with the compiler that made it."""
    subprocess.run(["make", "-s", "-C", str(SOURCES), f"OUT={tmp_path}"], check=True)
    version = subprocess.run(
        ["aarch64-linux-gnu-gcc", "-dumpfullversion"], capture_output=True, text=True, check=True
    ).stdout
    if version.startswith("12.2."):
        assert (tmp_path / "probe.nro").read_bytes() == PROGRAM.read_bytes()


def test_both_makefiles_build_the_same_sources() -> None:
    """The one for devkitPro cannot be run here; at least it shares all lists with the other one."""
    for name in ("Makefile", "Makefile.devkitpro"):
        text = (SOURCES / name).read_text(encoding="utf-8")
        assert "include sources.mk" in text and "$(CC) $(FLAGS) -o $@ $(SOURCES) -lgcc" in text
    listed = (SOURCES / "sources.mk").read_text(encoding="utf-8")
    for path in (*SOURCES.glob("*.[chS]"), *(SOURCES.parent / "common").glob("*.[ch]")):
        assert path.name in listed, path.name
