"""Completion in a real bash, zsh and fish, where they are installed; and the examples that --help shows."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from support.pages import expected_code, place_stand_ins, run

from pocketgpu.cli.app import COMMANDS, app
from pocketgpu.cli.parts.examples import EXAMPLES
from pocketgpu.view import serve as serving

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "src" / "pocketgpu" / "data" / "sample.ctf.xz"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with `pocketgpu` among its programs, where nothing of the user is changed."""
    program = tmp_path / "bin" / "pocketgpu"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pocketgpu "$@"\n')
    program.chmod(0o755)
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.chdir(tmp_path)
    shutil.copy(SAMPLE, tmp_path / "scene.ctf.xz")
    return tmp_path


def offered(script: Path, words: str) -> list[str]:
    """What bash offers after some words; the last one may be unfinished."""
    text = f'. "{script}"\nCOMP_LINE="{words}"\nCOMP_POINT={len(words)}\n'
    text += '_pocketgpu_completion pocketgpu\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash", "--norc", "-c", text], capture_output=True, text=True, timeout=60, check=True)
    return [line for line in done.stdout.splitlines() if line]


def test_bash_completes(home: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    code, out, _ = run("completion install bash")
    script = home / "XDG_DATA_HOME" / "bash-completion" / "completions" / "pocketgpu"
    assert code == 0 and str(script) in out and script.is_file()
    assert offered(script, "pocketgpu sh") == ["shader"]
    assert offered(script, "pocketgpu shader d") == ["dis"]
    assert "--changed" in offered(script, "pocketgpu decode x --ch")
    assert "texture.filter=nearest" in offered(script, "pocketgpu render x --set texture.fi")
    # bash has "texture.filter=" already, and asks for what follows.
    assert offered(script, "pocketgpu render x --set texture.filter=n") == ["nearest"]
    assert offered(script, "pocketgpu regs TEXUNIT0_DI") == ["TEXUNIT0_DIM"]
    assert "CLEAR_SURFACE" in offered(script, "pocketgpu regs b197 CLEAR_S")
    assert "scissor.empty" in offered(script, "pocketgpu check --rule scissor.")
    assert offered(script, "pocketgpu why scene.ctf.xz f") == [f"f{number}" for number in range(6)]
    assert "f1/d3" in offered(script, "pocketgpu why scene.ctf.xz f1/")
    assert offered(script, "pocketgpu why missing.pgc f") == []


def in_a_terminal(shell: list[str], lines: Sequence[str], keys: str, wanted: str, seconds: float = 60.0) -> str:
    """What a shell in a terminal of its own shows after some lines and then some keys, until `wanted` is there."""
    import pty

    terminal, theirs = pty.openpty()
    # The first terminal that the leader of a session opens is its own. Forking this process, which has mapped many
    # GiB by now, may fail; starting another does not.
    own = "import os, sys; os.open(os.ttyname(0), os.O_RDWR); os.execvp(sys.argv[1], sys.argv[1:])"
    child = subprocess.Popen(
        [sys.executable, "-c", own, *shell], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**os.environ, "TERM": "dumb"},
    )  # fmt: skip
    os.close(theirs)
    shown, end = "", time.monotonic() + seconds
    os.write(terminal, "".join(f"{line}\n" for line in [*lines, "echo re''ady"]).encode())
    sent = False
    try:
        while time.monotonic() < end and not (sent and wanted in shown):
            if select.select([terminal], [], [], 0.1)[0]:
                shown += os.read(terminal, 1 << 16).decode(errors="replace")
            if not sent and "ready" in shown.replace("re''ady", ""):
                sent, shown = True, ""
                os.write(terminal, keys.encode())
    finally:
        child.kill()
        os.close(terminal)
        child.wait()
    return shown


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("pocketgpu sh\t", "shader "), ("pocketgpu regs TEXUNIT0_DI\t", "TEXUNIT0_DIM "),
        ("pocketgpu why scene.ctf.xz f1/d3\t", "f1/d3 "), ("pocketgpu render x --set texture.fi\t", "texture.filter="),
    ],
)  # fmt: skip
def test_zsh_completes(typed: str, wanted: str, home: Path) -> None:
    assert run("completion install zsh")[0] == 0
    folder = home / "XDG_DATA_HOME" / "zsh" / "site-functions"
    lines = [f"fpath+=('{folder}')", "autoload -Uz compinit", f"compinit -u -d '{home}/dump'"]
    assert wanted in in_a_terminal(["zsh", "-f", "-i"], lines, typed, wanted)


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish")
def test_fish_completes(home: Path) -> None:
    assert run("completion install fish")[0] == 0

    def offers(words: str) -> list[str]:
        done = subprocess.run(
            ["fish", "-c", f"complete -C '{words}'"], capture_output=True, text=True, timeout=60, check=True
        )
        return [line.partition("\t")[0] for line in done.stdout.splitlines()]

    assert offers("pocketgpu sh") == ["shader"]
    assert "texture.filter=nearest" in offers("pocketgpu render x --set texture.fi")
    assert offers("pocketgpu regs TEXUNIT0_DI") == ["TEXUNIT0_DIM"]
    assert "f1/d3" in offers("pocketgpu why scene.ctf.xz f1/")
    assert "scissor.empty" in offers("pocketgpu check --rule scissor.")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_name_the_program(shell: str, home: Path) -> None:
    code, text, _ = run(f"completion show {shell}")
    assert code == 0 and "_POCKETGPU_COMPLETE" in text and f"{shell}_complete" in text
    before = {path for path in home.rglob("*") if path.is_file()}
    assert run(f"completion install {shell}")[0] == 0
    (made,) = {path for path in home.rglob("*") if path.is_file()} - before
    assert made.read_text().rstrip() == text.rstrip()


def test_every_command_has_examples() -> None:
    there = set()
    for name in COMMANDS:
        command = app.get_command(click.Context(app), name)
        there |= {f"{name} {inner}" for inner in command.commands} if isinstance(command, click.Group) else {name}
    assert there == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_help_run(name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name.startswith("cache"):
        monkeypatch.setenv("POCKETGPU_CACHE", str(home / "cache"))
        (home / "cache").mkdir(mode=0o700)
    if name == "lsp":  # it serves until somebody ends it
        language = pytest.importorskip("pocketgpu.editor.lsp.server", reason="pygls is not installed")
        server = SimpleNamespace(start_io=lambda: None, start_tcp=lambda *_: None)
        monkeypatch.setattr(language, "make_server", lambda: server)
    if name == "view":  # so does this
        monkeypatch.setattr(serving, "serve", lambda *_, **__: None)
        monkeypatch.setattr(serving, "check_installed", lambda: None)
    lines = EXAMPLES[name]
    place_stand_ins("\n".join(lines), home)
    helped = run(f"{name} --help")[1]
    for line in lines:
        code, out, err = run(line)
        assert code == expected_code(line), f"{line}: {err or out}"
        assert f"  pocketgpu {line}" in re.sub(r" \\\n *", " ", helped)
    assert max(map(len, helped.splitlines())) <= 80
