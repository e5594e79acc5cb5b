"""The entry point: finds the command, runs it, and turns every outcome into an exit code and a message.

Click's own `main` is not used, because it chooses exit codes itself: here a closed pipe, Ctrl-C and a bug each have
their own, and after a failure `--json` still writes its one object.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import importlib
import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from pocketgpu import __version__
from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.examples import add_examples
from pocketgpu.cli.parts.options import debug_option
from pocketgpu.cli.parts.outcome import ExitCode, Outcome
from pocketgpu.errors import CaptureError, GuestMemoryError, NoPictureError, PocketGPUError, UsageError

_PROGRAM = "pocketgpu"
_PROGRAMS = "pocketgpu.guests"
"""The room that runs programs."""

# Each command is a function in the module of the same name, in `commands/` or in a folder there. Its help text is
# repeated here, so that the list of commands is printed without importing any of them.
COMMANDS = {
    "demo": "Render a sample that comes with the program.",
    "run": "Run a program without its console: pictures, text, and a capture.",
    "render": "Render a capture into PNG files.",
    "convert": "Write a capture as a .pgc.",
    "capture": "Verify, repair, minimise and redact captures.",
    "bench": "Measure replay time per frame and phase.",
    "info": "Show what is in a capture and which doubtful behaviour it depends on.",
    "view": "Look at a capture in the browser, or run a program there.",
    "events": "List what happens in a capture, event by event: frames, passes, draws, fills, copies.",
    "why": "Explain why a pixel has its colour, with all values; what happened to a draw; or what spoils a frame.",
    "decode": "List the command words of a recording or dump.",
    "check": "Find what works here and may not work on a console.",
    "doubts": "Show which doubtful choices decide what captures show.",
    "probe": "Ask a console how its GPU behaves where documents disagree.",
    "sweep": "Do one kind of work on any number of captures.",
    "diff": "Show where two captures differ, or one capture under two settings.",
    "state": "Show registers, textures, buffers, shaders and vertices at an event.",
    "who": "Show which event wrote an address last.",
    "dump": "Write guest memory after a frame to a file.",
    "image": "Turn texture or framebuffer bytes into a picture, or a picture into bytes.",
    "regs": "List, find and explain registers and their values.",
    "timing": "Show what the display registers describe: refresh, scan, interrupts, format.",
    "launch": "Run a kernel for the Switch's GPU on this computer.",
    "macro": "Assemble, disassemble and run macros of the Switch's GPU.",
    "dap": "Let an editor step through shaders: a debug adapter.",
    "shader": "Disassemble, assemble, explain and run shaders of both consoles.",
    "lsp": "Help an editor with shaders, kernels and macros: a language server.",
    "switches": "List what --set NAME=VALUE can choose, or what NAME or a group such as 'combiner' is about.",
    "doctor": "Check this installation and what it runs on.",
    "cache": "Show, fill or empty the folder of compiled code.",
    "completion": "Let the shell complete commands, options and values with the Tab key.",
}


_FOLDERS = {"dap": "editors.", "lsp": "editors."}
"""Folders of modules that are not with the others."""


class LazyGroup(click.Group):
    """A group that imports the module of a command when it is used, in the order of `COMMANDS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = f"pocketgpu.cli.commands.{_FOLDERS.get(cmd_name, '')}{cmd_name}"
        command = getattr(importlib.import_module(module), cmd_name)
        return add_examples(command, cmd_name) if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does; a mistyped name gets a suggestion."""
        name = args[0] if args else ""
        if name not in COMMANDS:
            import difflib

            if close := difflib.get_close_matches(name, COMMANDS, n=1):
                raise click.UsageError(f"No such command {name!r}. Did you mean {close[0]!r}?", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
    epilog="Exit codes: 0 ok, 1 differences or findings, 2 usage, 3 unreadable input, 4 no picture can be made, "
    "5 internal error.",
)
@click.version_option(__version__, prog_name=_PROGRAM)
@debug_option
def app() -> None:
    """Run and show what the GPU of a Nintendo 3DS or Switch does with recorded commands.

    Start with 'pocketgpu demo', which renders a sample that comes with the program.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with `arguments` (default: those of the process) and return the exit code."""
    if arguments is None:
        # NumPy's library of linear algebra would start a thread for each core when it is loaded. What is used of it
        # here needs none.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = list(sys.argv[1:] if arguments is None else arguments)
    if f"_{_PROGRAM.upper()}_COMPLETE" in os.environ:
        importlib.import_module("pocketgpu.cli.parts.bash")
        app.main(words, prog_name=_PROGRAM)  # a shell asks for completions; this ends the process
    _make_streams_lenient()
    with warnings.catch_warnings():
        # Warnings of libraries are shown to the user, without the line of source that Python adds.
        warnings.showwarning = terminal.print_note
        code = _run_and_print(words)
    return code


def run() -> int:
    """The command line as a process of its own, which ends with the exit code that this returns.

    It ends without taking apart all that was made, which would take as long as making a tenth of it.
    """
    codes: list[int] = []
    atexit.register(_leave, codes)  # what is registered first is called last
    codes.append(main())
    gc.freeze()  # Python would look for garbage once more while it ends, in all that is about to go
    return codes[0]


def _leave(codes: Sequence[int]) -> None:
    """End the process at once, when other threads are over and all others were called that asked for it.

    It goes on to a usual end if somebody watches (a debugger, coverage), or if a program may have files open.
    """
    if not codes or sys.gettrace() or sys.getprofile() or _PROGRAMS in sys.modules:
        return
    with contextlib.suppress(OSError, ValueError, AttributeError):  # a stream that is closed, or that is not there
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(codes[0])


def _run_and_print(words: list[str]) -> int:
    outcome = Outcome(json=_asks_for_json(words), debug=os.environ.get("POCKETGPU_DEBUG", "") not in ("", "0"))
    try:
        try:
            code = _run(words, outcome)
        except KeyboardInterrupt:
            terminal.clear_progress()
            print("interrupted", file=sys.stderr)
            code = ExitCode.INTERRUPTED
            outcome.error = _error(code, "interrupted")
        if outcome.json and (outcome.error is not None or outcome.show is not None):
            print(outcome.to_json())
        elif outcome.error is None and outcome.show is not None:
            outcome.show()
        sys.stdout.flush()
    except BrokenPipeError:
        return _close_pipe()
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EINVAL):
            return _output_failed(error)
        return _close_pipe()  # Windows says EINVAL where others say EPIPE
    return int(code)


def _run(words: list[str], outcome: Outcome) -> ExitCode:
    try:
        with app.make_context(_PROGRAM, words, obj=outcome) as context:
            app.invoke(context)
    except click.exceptions.Exit as stop:
        return ExitCode(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as stop:
        print(stop.format_message(), file=sys.stderr)
        return ExitCode.USAGE
    except click.ClickException as error:
        command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else _PROGRAM
        return _fail(outcome, ExitCode.USAGE, error.format_message(), hint=f"'{command} --help' shows the options.")
    except PocketGPUError as error:
        return _fail(outcome, _code_of(error), error.message, error.location, error.hint)
    except click.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:
        raise
    except OSError as error:
        # Commands turn what fails at a file into an error with its name. What is left is output that nothing takes.
        if error.errno in _NO_ROOM and error.filename is None:
            raise
        return _report_bug(outcome, error)
    except Exception as error:
        return _report_bug(outcome, error)
    return ExitCode.OK


def _code_of(error: PocketGPUError) -> ExitCode:
    match error:
        case UsageError() | GuestMemoryError():
            return ExitCode.USAGE
        case CaptureError():
            return ExitCode.UNREADABLE
        case NoPictureError():
            return ExitCode.NO_PICTURE
        case _:
            return ExitCode.INTERNAL


def _fail(
    outcome: Outcome, code: ExitCode, message: str, location: str | None = None, hint: str | None = None
) -> ExitCode:
    outcome.error = _error(code, message, location, hint)
    terminal.print_error(message, location, hint)
    return code


def _report_bug(outcome: Outcome, error: Exception) -> ExitCode:
    """Report an unexpected exception: one short message for the user, the traceback only on request."""
    what = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    if outcome.debug:
        import traceback

        terminal.clear_progress()
        traceback.print_exception(error)
    return _fail(
        outcome,
        ExitCode.INTERNAL,
        f"internal error in pocketgpu {__version__} ({what})",
        hint="This is a bug. Please report it with the capture, the command, and what the command prints with --debug.",
    )


def _error(code: ExitCode, message: str, location: str | None = None, hint: str | None = None) -> dict[str, Any]:
    return {"code": int(code), "message": message, "location": location, "hint": hint}


def _asks_for_json(words: Sequence[str]) -> bool:
    """Whether --json was typed, even if the rest of the line cannot be parsed."""
    return "--json" in words[: words.index("--")] if "--" in words else "--json" in words


def _make_streams_lenient() -> None:
    """Print characters that the terminal's encoding lacks escaped, as in file names, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _close_pipe() -> int:
    """The reader of stdout has closed it. Redirect stdout, or the interpreter would report an error at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(ExitCode.PIPE_CLOSED)


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of a stream whose disk is full or broken."""


def _output_failed(error: OSError) -> int:
    """Writing to stdout failed, for instance because it is a file on a full disk."""
    terminal.print_error(f"cannot write the output: {error.strerror or error}", "stdout", None)
    _close_pipe()
    return int(ExitCode.USAGE)
