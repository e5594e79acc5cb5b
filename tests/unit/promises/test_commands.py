"""The command line: every promised command, argument, option, exit code and key of JSON; and the pytest plugin."""

from __future__ import annotations

import inspect
import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from support.promised_commands import COMMANDS, EXIT_CODES, JSON_KEYS

import pocketgpu.capture
from pocketgpu.cli import main
from pocketgpu.cli.app import app
from pocketgpu.cli.parts.outcome import ExitCode

DATA = Path(__file__).resolve().parent / "data"
PLACES = {"3ds": str(DATA / "scene_3ds.pgc"), "switch": str(DATA / "scene_switch.pgc")}


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """All commands that do something, with their names."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


THERE = {"": app, **dict(commands(app))}


def test_the_commands_are_those_of_the_table() -> None:
    assert sorted(THERE) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_takes_what_the_table_says(name: str) -> None:
    parameters = THERE[name].params
    arguments = [one.opts[0].upper() for one in parameters if isinstance(one, click.Argument)]
    options = {name for one in parameters if isinstance(one, click.Option) for name in (*one.opts, *one.secondary_opts)}
    promised = COMMANDS[name].split()
    assert arguments == [one for one in promised if not one.startswith("-")]
    assert options == {one for one in promised if one.startswith("-")}, "an option is missing, or the table lacks one"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_help_that_names_its_options(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*name.split(), "--help"]) == 0
    out = capsys.readouterr().out
    assert all(option in out for option in COMMANDS[name].split() if option.startswith("--"))


@pytest.mark.parametrize("line", JSON_KEYS)
def test_json_has_its_keys(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*shlex.split(line.format(out=tmp_path, **PLACES)), "--json"]) == 0
    assert set(JSON_KEYS[line].split()) <= set(json.loads(capsys.readouterr().out))


# exit codes


def test_exit_codes_keep_their_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {code.name: int(code) for code in ExitCode} == EXIT_CODES
    recording = PLACES["3ds"]
    (tmp_path / "bad.ctf").write_bytes(b"nothing")
    assert main(["info", recording]) == EXIT_CODES["OK"]
    assert main(["diff", recording, recording, "--switch-b", "texture.filter=nearest"]) == EXIT_CODES["FINDINGS"]
    assert main(["info", recording, "--nonsense"]) == EXIT_CODES["USAGE"]
    nowhere = ["--memory", "0:4", "--out", str(tmp_path / "b")]
    assert main(["dump", recording, "--at", "f0", *nowhere]) == EXIT_CODES["USAGE"]
    assert main(["info", str(tmp_path / "bad.ctf")]) == EXIT_CODES["UNREADABLE"]
    assert main(["render", recording, "--frames", "7", "--out", str(tmp_path)]) == EXIT_CODES["NO_PICTURE"]

    def fails(error: BaseException) -> None:
        def raises(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(pocketgpu.capture, "open", raises)

    fails(RuntimeError("a bug"))
    assert main(["info", recording]) == EXIT_CODES["INTERNAL"]
    fails(KeyboardInterrupt())
    assert main(["info", recording]) == EXIT_CODES["INTERRUPTED"]


def test_a_failure_is_told_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.ctf").write_bytes(b"nothing")
    assert main(["render", str(tmp_path / "bad.ctf"), "--out", str(tmp_path), "--json"]) == 3
    error = json.loads(capsys.readouterr().out)["error"]
    assert set(error) == {"code", "message", "location", "hint"} and error["code"] == 3


# pytest


def test_the_plugin_has_its_fixtures_and_options(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.getoption("--update-goldens") is False
    assert pytestconfig.getoption("--pocketgpu-report") is None and pytestconfig.getini("pocketgpu_report")


def test_fixtures_of_the_plugin_render_and_compare(pocketgpu_render, assert_frame, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert list(inspect.signature(pocketgpu_render).parameters) == ["capture", "frame", "screen", "threads", "switches"]
    assert list(inspect.signature(assert_frame).parameters) == ["picture", "golden", "tolerance"]
    picture = pocketgpu_render("data/scene_3ds.pgc", frame=-1, screen="top")
    assert picture.array.shape == (240, 400, 3) and picture.image.size == (400, 240)
    assert list(picture.warnings) == []
    assert (picture.frame, picture.screen) == (1, "top") and Path(picture.capture).name == "scene_3ds.pgc"
    picture.image.save(tmp_path / "golden.png")
    assert_frame(picture, tmp_path / "golden.png")
    first, second = (pocketgpu_render("data/scene_switch.pgc", frame=frame) for frame in range(2))
    assert_frame(first, second, tolerance=1)
