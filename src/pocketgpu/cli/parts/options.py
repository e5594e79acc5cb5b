"""Options that commands share, and the parsers of their values.

A value that parses here is valid for the rest of the program; other values are refused, with the form they should have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from pocketgpu.cli.parts import complete
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.late_dataclass import dataclass

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

ADDRESS_SPACE = 1 << 40
"""End of the address space of a Switch's GPU. Addresses of a 3DS end earlier; its memory checks that."""


@dataclass(frozen=True)
class FrameSpan:
    """Frames first to last, both included, counted from 0; last None means to the end."""

    first: int
    last: int | None

    def __str__(self) -> str:
        if self.last == self.first:
            return str(self.first)
        return f"{self.first}-{'' if self.last is None else self.last}"


@dataclass(frozen=True)
class MemoryRange:
    """`size` bytes of guest memory from `address`: physical on a 3DS, the GPU's on a Switch."""

    address: int
    size: int


def parse_frame_span(text: str) -> FrameSpan:
    """`A-B`, `A-` or `A`; each number may have the `f` of a printed address (`f0-f2`). ValueError if not."""
    if found := re.fullmatch(r"-f?([0-9]{1,9})", text.strip()):
        rest = f"Write 0-{int(found[1])} for all up to that one; frames are counted from 0."
        raise ValueError(f"{text!r} can mean two things. {rest}")
    match = re.fullmatch(r"f?([0-9]{1,9})(-)?(?:f?([0-9]{1,9}))?", text.strip())
    first, dash, last = match.groups() if match else (None, None, None)
    if first is None or (dash is None and last is not None):
        raise ValueError(f"{text!r} is not a range of frames. Write 0-4 (both included, from 0), 3, or 3-.")
    low = int(first)
    high = int(last) if last is not None else (None if dash else low)
    if high is not None and high < low:
        raise ValueError(f"{text!r} ends before it begins. Write the lower frame first.")
    return FrameSpan(low, high)


def parse_frame_address(text: str) -> int:
    """`f3`: the moment after frame 3. ValueError for anything else."""
    word = text.strip()
    if re.fullmatch(r"f?[0-9]{1,9}", word):
        return int(word.removeprefix("f"))
    if re.match(r"f\d+/", word):
        raise ValueError(f"{text!r} is inside a frame. Memory can be read after whole frames: write f3.")
    raise ValueError(f"{text!r} is not the address of a frame. Write f3 for the moment after frame 3.")


def parse_memory_range(text: str) -> MemoryRange:
    """`0x2018AC00:4096`: address and number of bytes, each decimal or with 0x. ValueError if not."""
    number = "(0x[0-9a-f]{1,16}|[0-9]{1,19})"
    match = re.fullmatch(f"{number}:{number}", text.strip(), re.IGNORECASE)
    if match is None:
        raise ValueError(f"{text!r} is not a range of memory. Write ADDRESS:SIZE such as 0x18000000:4096 (bytes).")
    # Base 10 is spelled out because base 0 refuses leading zeros.
    address, size = (int(part, 16 if part[:2].lower() == "0x" else 10) for part in match.groups())
    if size == 0:
        raise ValueError(f"{text!r} holds no byte. Give a size of at least 1.")
    if address + size > ADDRESS_SPACE:
        raise ValueError(f"{text!r} reaches past the 40-bit address space.")
    return MemoryRange(address, size)


def parse_number(text: str) -> int:
    """`0x18000000` or decimal, not negative. ValueError if not."""
    word = text.strip()
    if not re.fullmatch("0x[0-9a-f]{1,16}|[0-9]{1,19}", word, re.IGNORECASE):
        raise ValueError(f"{text!r} is not a number. Write it decimal or with 0x.")
    return int(word, 16 if word[:2].lower() == "0x" else 10)


def parsed(parse: Callable[[str], T]) -> Callable[[click.Context, click.Parameter, str | None], T | None]:
    """A Click callback that parses the typed text, and turns a ValueError into a usage error."""

    def callback(ctx: click.Context, param: click.Parameter, text: str | None) -> T | None:
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx=ctx, param=param) from error

    return callback


def _parse_choices(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Check each NAME=VALUE against the registry of choices; the last one for a name counts."""
    chosen: dict[str, str] = {}
    if values:
        # Imported only here: the registry is not needed to print --help.
        from pocketgpu.facts.choices import parse

        for text in values:
            try:
                name, value = parse(text)
            except (ValueError, KeyError) as error:
                reason = str(error.args[0]) if error.args else text
                end = "" if reason.endswith((".", "?")) else "."
                raise click.BadParameter(
                    f"{reason}{end} 'pocketgpu switches' lists all of them.",
                    ctx=ctx,
                    param=param,
                ) from error
            chosen[name] = value
    return chosen


choices_of = _parse_choices
"""The callback of an option that takes NAME=VALUE several times."""


def _remember_json(ctx: click.Context, _param: click.Parameter, value: bool) -> bool:
    ctx.ensure_object(Outcome).json |= value
    return value


def _remember_debug(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    ctx.ensure_object(Outcome).debug |= value


def debug_option(command: F) -> F:
    return click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=_remember_debug,
        help="Show the traceback of an internal error (also POCKETGPU_DEBUG=1).",
    )(command)


def _json_option(help: str) -> Callable[[F], F]:
    return click.option("--json", "json_", is_flag=True, expose_value=False, callback=_remember_json, help=help)


json_option = _json_option("Write one JSON object to stdout and nothing else.")
json_lines_option = _json_option("Write JSON lines to stdout, an object each, and nothing else.")


def threads_option(command: F) -> F:
    return click.option(
        "--threads",
        type=click.IntRange(1, 256),
        default=1,
        show_default=True,
        metavar="N",
        help="Worker threads. The pictures are the same for any number.",
    )(command)


def set_option(command: F) -> F:
    return click.option(
        "--set",
        "choices",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_parse_choices,
        shell_complete=complete.choices,
        help="Choose a doubtful behaviour or a what-if; may be repeated. See 'pocketgpu switches'.",
    )(command)


def force_option(name: str = "--force", what: str = "Have") -> Callable[[F], F]:
    """The option of registers that hold a value of the caller's choice. what: begins its help."""
    return click.option(
        name,
        "forced",
        multiple=True,
        metavar="REGISTER[.FIELD]=VALUE@ADDRESS",
        help=f"{what} a register hold a value from an event on, whatever is written; may be repeated.",
    )


def standing(choices: Mapping[str, str], forced: Sequence[str]) -> dict[str, str]:
    """Choices with what is forced: what answers about a capture depend on."""
    return {**choices, "--force": " ".join(forced)} if forced else dict(choices)


def capture_argument(command: F) -> F:
    return click.argument("capture", type=click.Path(), metavar="CAPTURE")(command)


def expect_options(command: F) -> F:
    """--expect and its further options, for a command that renders."""
    for option in reversed(
        (
            click.option("--expect", metavar="DIR", help="Folder of goldens: fail where a picture is not its golden."),
            click.option(
                "--tolerance",
                type=click.IntRange(0, 255),
                metavar="N",
                help="With --expect: by how much of 255 a channel may be off.  [0]",
            ),
            click.option("--junit", metavar="FILE", help="With --expect: results as a JUnit file, for CI services."),
            click.option("--report", metavar="DIR", help="With --expect: folder for a page that shows what differs."),
        )
    ):
        command = option(command)
    return command
