"""Terminal output: errors and progress on stderr, tables on stdout.

Errors and progress use only the standard library, so they work when everything else fails. Text is ASCII, except for
file names.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

PIPED_WIDTH = 120
"""Columns of what is not printed to a terminal."""
# Tables are cut after this many rows; --json has all of them.
MAX_ROWS = 16

_progress_width = 0


def say(text: str = "") -> None:
    """Print a line to stdout, without ANSI codes unless stdout is a terminal."""
    import click

    click.echo(text)


def print_error(message: str, location: str | None, hint: str | None) -> None:
    """Print what went wrong, where, and what to do, one line each, to stderr."""
    clear_progress()
    label = "error:"
    if _is_terminal(sys.stderr) and not os.environ.get("NO_COLOR"):
        label = f"\x1b[1;31m{label}\x1b[0m"
    lines = [f"{label} {message}"]
    if location:
        lines.append(f"   at: {location}")
    if hint:
        lines.append(f"  try: {hint}")
    with contextlib.suppress(OSError):  # if stderr is closed, there is still the exit code
        print("\n".join(lines), file=sys.stderr, flush=True)


def print_note(message: Warning | str, *_where: Any, **_more: Any) -> None:
    """Print a Python warning as one line on stderr; replaces `warnings.showwarning`."""
    clear_progress()
    with contextlib.suppress(OSError):
        print(f"note: {message}", file=sys.stderr, flush=True)


class Progress:
    """One line on stderr that rewrites itself; silent unless stderr is a terminal."""

    def __init__(self) -> None:
        self._live = _is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"
        self._last = 0.0

    def show(self, text: str) -> None:
        """Replace the line by `text`, at most ten times a second."""
        global _progress_width
        now = time.monotonic()
        if not self._live or now - self._last < 0.1:
            return
        self._last = now
        # Spaces instead of an erase code: they work in every console.
        sys.stderr.write("\r" + text.ljust(_progress_width))
        sys.stderr.flush()
        _progress_width = len(text)


def clear_progress() -> None:
    """Erase the progress line, if there is one."""
    global _progress_width
    if _progress_width:
        width, _progress_width = _progress_width, 0
        with contextlib.suppress(OSError):
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()


def format_table(columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]], footer: Sequence[str] = ()) -> str:
    """An aligned table as text. `columns` are (title, is a number) pairs; numbers are flush right."""
    import click

    from pocketgpu.cli.parts.tables import lay_out

    live = _is_terminal(sys.stdout)
    bold = live and not os.environ.get("NO_COLOR")
    lines = lay_out(columns, rows, footer, _width() if live else PIPED_WIDTH)
    return "\n".join(click.style(line, bold=True) if strong and bold else line for line, strong in lines)


def _width() -> int:
    import shutil  # with all its archive formats it takes 2 ms to import

    return shutil.get_terminal_size().columns


def format_warnings(warnings: Sequence[dict[str, Any]]) -> str:
    """Warnings of a replay: one line for each, with its place, count, id and message."""
    if not warnings:
        return "no warnings"
    rows = [(str(w["at"]), f"{w['count']}x", str(w["id"]), str(w["message"])) for w in warnings[:MAX_ROWS]]
    title = "1 warning" if len(warnings) == 1 else f"{len(warnings)} warnings"
    table = format_table([("at", False), ("count", True), ("id", False), ("message", False)], rows)
    more = len(warnings) - len(rows)
    return f"{title}\n{table}" + (f"\n... {more} more, all of them with --json" if more > 0 else "")


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False
