"""How the process of a command ends: at once, and with all that a usual end does for others."""

from __future__ import annotations

import subprocess
import sys

import pytest

END = """
import atexit, os, sys, threading
from pocketgpu.cli import app


def main():
    atexit.register(print, "registered")
    {more}
    return before()


before, app.main, leave = app.main, main, os._exit
os._exit = lambda code: leave(code if os.write(1, b"at once\\n") else 1)
sys.argv = ["pocketgpu", *{words!r}]
sys.exit(app.run())
"""


def ended(more: str, *words: str) -> tuple[int, list[str]]:
    """Exit code of a process that runs a command, and the lines that it printed."""
    source = END.format(more=more, words=list(words))
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize(("words", "code"), [(("regs", "TEXUNIT0_DIM"), 0), (("regs", "no such register"), 2)])
def test_it_ends_at_once_with_the_code_and_what_was_registered(words: tuple[str, ...], code: int) -> None:
    found, lines = ended("", *words)
    assert found == code and lines[-2:] == ["registered", "at once"]


def test_it_waits_for_other_threads() -> None:
    found, lines = ended("threading.Timer(1, print, ['other']).start()", "regs", "TEXUNIT0_DIM")
    assert found == 0 and lines[-3:] == ["other", "registered", "at once"]


@pytest.mark.parametrize("more", ["sys.setprofile(lambda *_: None)", "import pocketgpu.guests"])
def test_it_ends_as_usual_if_something_may_be_left(more: str) -> None:
    found, lines = ended(more, "regs", "TEXUNIT0_DIM")
    assert found == 0 and lines[-1] == "registered"
