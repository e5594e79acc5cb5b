"""`pocketgpu completion`: the shell completes commands, options, choices, registers, rules and addresses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import make_directory, write_file

if TYPE_CHECKING:
    from collections.abc import Callable

SHELLS = ("bash", "zsh", "fish")


def _data() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def _settings() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


_PLACES: dict[str, Callable[[], Path]] = {
    "bash": lambda: _data() / "bash-completion" / "completions" / "pocketgpu",
    "zsh": lambda: _data() / "zsh" / "site-functions" / "_pocketgpu",
    "fish": lambda: _settings() / "fish" / "completions" / "pocketgpu.fish",
}
_NEXT = {
    "bash": "New shells use it where the package bash-completion is installed. Without it, add this line to "
    "~/.bashrc:\n    . '{path}'",
    "zsh": "Add this line to ~/.zshrc, before compinit:\n    fpath+=('{folder}')",
    "fish": "New shells use it.",
}


def script_of(shell: str) -> str:
    """The text that makes a shell complete `pocketgpu`."""
    from click.shell_completion import get_completion_class

    from pocketgpu.cli.app import app
    from pocketgpu.cli.parts import bash

    made = bash.WholeWords if shell == "bash" else get_completion_class(shell)
    assert made is not None
    one = made(app, {}, "pocketgpu", "_POCKETGPU_COMPLETE")
    return one.source_template % one.source_vars()


@click.group(no_args_is_help=True)
def completion() -> None:
    """Let the shell complete commands, options and values with the Tab key.

    bash 4.4 or newer, zsh and fish.
    """


@completion.command()
@click.argument("shell", type=click.Choice(SHELLS))
@json_option
@debug_option
@click.pass_obj
def show(outcome: Outcome, shell: str) -> None:
    """Print the script for a shell; nothing is written."""
    text = script_of(shell)
    outcome.extra["completion"] = {"shell": shell, "script": text}
    outcome.show = lambda: terminal.say(text.rstrip("\n"))


@completion.command()
@click.argument("shell", type=click.Choice(SHELLS))
@json_option
@debug_option
@click.pass_obj
def install(outcome: Outcome, shell: str) -> None:
    """Write the script where the shell looks for it, and say where and what is left to do.

    Files of your settings, such as ~/.bashrc, are not changed.
    """
    path = _PLACES[shell]()
    make_directory(str(path.parent))
    write_file(path, script_of(shell).encode())
    outcome.extra["completion"] = {"shell": shell, "file": str(path)}
    rest = _NEXT[shell].format(path=path, folder=path.parent)
    outcome.show = lambda: terminal.say(f"written: {path}\n{rest}")
