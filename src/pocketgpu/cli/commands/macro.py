"""`pocketgpu macro`: assembles, disassembles and runs programs of the Switch GPU's macro engine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pocketgpu import whole_files
from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import ExitCode, Outcome
from pocketgpu.cli.parts.replay import open_capture, write_file
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.maxwell.host.macro_runner import MacroRun

_LIMIT = 1 << 20  # bytes of a file that is read
_SHOWN = 64  # sends printed for people


@click.group(no_args_is_help=True)
def macro() -> None:
    """Assemble, disassemble and run macros of the Switch's GPU.

    The text that 'dis' prints is what 'asm' reads.
    """


@macro.command()
@click.argument("source", type=click.Path(), metavar="SOURCE")
@click.option(
    "--out", "-o", metavar="FILE", help="Write the words into a file: binary if it is called .bin, else text."
)
@json_option
@debug_option
@click.pass_obj
def asm(outcome: Outcome, source: str, out: str | None) -> None:
    """Turn a macro's text into instruction words."""
    from pocketgpu.maxwell.mme.assembler import assemble

    words = assemble(_text(_read(source), source))
    outcome.extra["words"] = words
    lines = "".join(f"{word:08x}\n" for word in words)
    if out is not None:
        binary = b"".join(word.to_bytes(4, "little") for word in words)
        write_file(Path(out), binary if out.endswith(".bin") else lines.encode())
        outcome.extra["file"] = out
    outcome.show = lambda: terminal.say(lines.rstrip() if out is None else f"{counted(len(words), 'word')} in {out}")


@macro.command()
@click.argument("words", type=click.Path(), metavar="WORDS")
@click.option("--macro", "number", type=click.IntRange(0, 127), metavar="N", help="Of a recording: only this macro.")
@json_option
@debug_option
@click.pass_obj
def dis(outcome: Outcome, words: str, number: int | None) -> None:
    """Turn instruction words into text: of a file with hex words, of a .bin file, or all macros of a recording."""
    from pocketgpu.maxwell.mme.disassembler import text_of

    if words.endswith((".zip", ".pgc")):
        macros = _recorded(words)
        if number is not None and number not in macros:
            known = ", ".join(map(str, macros)) or "none"
            raise UsageError(f"the recording loads no macro {number}", location=words, hint=f"It has: {known}.")
        chosen = macros if number is None else {number: macros[number]}
    elif number is not None:
        raise UsageError("only recordings have numbered macros", location="--macro")
    else:
        chosen = {0: _words(words)}
    outcome.extra["macros"] = [{"number": n, "words": code, "text": text_of(code)} for n, code in chosen.items()]
    heading = words.endswith((".zip", ".pgc")) and number is None
    parts = [(f"; macro {n}\n" if heading else "") + text_of(code) for n, code in chosen.items()]
    outcome.show = lambda: terminal.say("\n".join(parts).rstrip("\n"))


@macro.command()
@click.argument("program", type=click.Path(), metavar="PROGRAM")
@click.argument("parameters", nargs=-1, metavar="[PARAMETER]...")
@click.option("--state", "states", multiple=True, metavar="WORD=VALUE", help="A state word that the macro can read.")
@click.option(
    "--steps", type=click.IntRange(1, 1 << 28), default=1 << 20, metavar="N", help="Stop after N instructions."
)
@json_option
@debug_option
@click.pass_obj
def run(outcome: Outcome, program: str, parameters: tuple[str, ...], states: tuple[str, ...], steps: int) -> None:
    """Run a macro (text, hex words or a .bin file) and list the methods that it sends.

    The first PARAMETER is in register 1 at the start, the macro fetches the others. Numbers are decimal or have 0x.
    The exit code is 1 if the macro does not end.
    """
    from pocketgpu.maxwell.host.macro_runner import run as run_macro

    state = dict(_state(text) for text in states)
    result = run_macro(_program(program), [_number(text) for text in parameters] or [0], state, steps)
    outcome.extra["run"] = {
        "ended": result.ended,
        "steps": result.steps,
        "sends": [{"method": method, "name": _name(method), "value": value} for method, value in result.sends],
        "sent": result.sent,
        "registers": result.registers,
        "carry": result.carry,
        "parameters_left": result.left,
        "odd": list(result.odd),
    }
    outcome.show = lambda: terminal.say(_report(result))
    if result.ended != "exit":
        raise click.exceptions.Exit(ExitCode.FINDINGS)


_ENDS = {
    "exit": "ended after {} instructions",
    "parameter": "waits for a parameter after {} instructions",
    "budget": "did not end within {} instructions",
}


def _report(result: MacroRun) -> str:
    lines = [f"{method:#05x}  {value:#010x}  {_name(method)}" for method, value in result.sends[:_SHOWN]]
    if result.sent > len(lines):
        lines.append(f"... {result.sent - len(lines)} more")
    lines.append(_ENDS[result.ended].format(result.steps))
    lines.append("  ".join(f"r{n} {value:#x}" for n, value in enumerate(result.registers) if n))
    if result.left:
        lines.append(f"parameters not taken: {result.left}")
    lines += [f"odd: {name.replace('_', ' ')}" for name in result.odd]
    return "\n".join(lines)


def _name(method: int) -> str:
    from pocketgpu.facts.maxwell import B197

    found = B197.get(method)
    return "" if found is None else found.label


# -- input ------------------------------------------------------------------------------------------------------------
def _read(path: str) -> bytes:
    return whole_files.read(path, _LIMIT, ", which no macro has")


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CaptureError(
            "the file is neither text nor a recording of a Switch", file=path, offset=error.start,
            hint="Macros are in recordings of a Switch (.mxcap.zip, .pgc), or in files of words; a 3DS has none.",
        ) from error  # fmt: skip


def _hex_words(text: str) -> list[int] | None:
    """The hex words of a text, None if it contains anything else."""
    parts = text.replace(",", " ").split()
    if not parts or not all(re.fullmatch(r"(0x)?[0-9a-fA-F]{8}", part) for part in parts):
        return None
    return [int(part, 16) for part in parts]


def _words(path: str) -> list[int]:
    data = _read(path)
    if path.endswith(".bin"):
        if len(data) % 4 or not data:
            raise CaptureError(f"{len(data)} bytes are no 32-bit words", file=path)
        return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
    words = _hex_words(_text(data, path))
    if words is None:
        raise CaptureError(
            "the file does not hold words of eight hex digits", file=path, hint="Call binary files .bin."
        )
    return words


def _program(path: str) -> list[int]:
    """The words of a file with words or a macro's text."""
    if path.endswith(".bin"):
        return _words(path)
    from pocketgpu.maxwell.mme.assembler import assemble

    text = _text(_read(path), path)
    words = _hex_words(text)
    return assemble(text) if words is None else words


def _number(text: str) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        value = -(1 << 33)
    if not -(1 << 31) <= value < 1 << 32:
        raise UsageError(f"{text!r} is not a number of 32 bits", hint="Write 12, -1 or 0x680.")
    return value


def _state(text: str) -> tuple[int, int]:
    from pocketgpu.facts.maxwell import B197

    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is no state word", location="--state", hint="Write 0x206=5, or a method's name.")
    method = B197.get(name)
    return (method.word if method is not None else _number(name)), _number(value)


def _recorded(path: str) -> dict[int, list[int]]:
    """The macros that a recording loads, by number."""
    from pocketgpu.inspect.switch.macros import macros_of

    return macros_of(open_capture(path))
