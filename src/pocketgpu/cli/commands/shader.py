"""`pocketgpu shader`: disassembles, assembles, explains and runs shaders of both consoles."""

from __future__ import annotations

import difflib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import ExitCode, Outcome
from pocketgpu.cli.parts.replay import write_file
from pocketgpu.cli.parts.shader_step import step
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.inspect.shaders.sources import pica_source, programs_of, read, text_of
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.shaders.files import ShaderModule, ShaderProgram

_SUFFIXES = (".cubin", ".dksh", ".shbin")
_KINDS = click.Choice(["cubin", "dksh", "sass", "maxwell", "shbin", "pica"])

_kind = click.option(
    "--kind", type=_KINDS, help="What the file is, if it does not say: bare words are maxwell or pica."
)
_descriptors = click.option("--descriptors", metavar="FILE", help="Operand descriptors that go with bare pica words.")
_kernel = click.option("--kernel", "-k", metavar="NAME", help="Only this program of a file.")


@click.group(no_args_is_help=True)
def shader() -> None:
    """Disassemble, assemble, explain and run shaders of both consoles.

    Reads .cubin, .dksh and .shbin files, text of kernels (.sass), and bare words of either console with --kind.
    """


@shader.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option("--control", is_flag=True, help="With everything that 'asm' needs to produce the same bytes.")
@click.option("--out", "-o", metavar="FOLDER", help="A text file for each program in this folder.")
@_kernel
@_kind
@_descriptors
@json_option
@debug_option
@click.pass_obj
def dis(
    outcome: Outcome,
    files: tuple[str, ...],
    control: bool,
    out: str | None,
    kernel: str | None,
    kind: str | None,
    descriptors: str | None,
) -> None:
    """Show machine code as text. For a folder: all .cubin, .dksh and .shbin files in it.

    Maxwell code is shown as NVIDIA's disassembler shows it. With --control each instruction begins with its scheduling
    field: barriers to wait for, read and write barrier to set, Y to yield, stall cycles. A file that cannot be read is
    reported, and the command continues with the others; the exit code is then 3.
    """
    texts: list[str] = []
    found: list[dict[str, Any]] = []
    for path, module in _modules(outcome, files, kind, descriptors):
        for program in programs_of(module, kernel, path):
            text = program.text(control)
            entry: dict[str, Any] = {"file": path, "kind": module.kind, "name": program.name, "text": text}
            if outcome.json and program.maxwell is not None:
                entry["instructions"] = program.instructions()
            found.append(entry)
            if out is not None:
                target = Path(out) / f"{_plain_name(_inside(path, files))}.{_plain_name(program.name)}.sass"
                _make_folder(out)
                write_file(target, (text + "\n").encode())
                entry["out"] = str(target)
            texts.append(text if len(files) == 1 and not os.path.isdir(files[0]) else f"// {path}\n{text}")
    outcome.extra["programs"] = found
    written = f"{counted(len(found), 'program')} in {out}"
    outcome.show = lambda: terminal.say("\n\n".join(texts) if out is None else written)
    _end(outcome)


@shader.command(short_help="Show programs, registers, memory, uniforms and opcodes.")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@_kernel
@_kind
@_descriptors
@json_option
@debug_option
@click.pass_obj
def info(
    outcome: Outcome, files: tuple[str, ...], kernel: str | None, kind: str | None, descriptors: str | None
) -> None:
    """Show properties of files with shaders: programs, registers, memory, parameters, opcodes."""
    lines: list[str] = []
    found = []
    for path, module in _modules(outcome, files, kind, descriptors):
        programs = []
        lines.append(f"{path}: {module.kind}" + (f", {module.facts['arch']}" if "arch" in module.facts else ""))
        for program in programs_of(module, kernel, path):
            facts = {**program.facts, "opcodes": _opcodes(program)}
            programs.append({"name": program.name, "console": program.console, **facts})
            lines.append(f"  {program.name}")
            lines += [f"    {name.replace('_', ' ')}:{_shown(value)}" for name, value in facts.items() if value]
        found.append({"file": path, "kind": module.kind, **module.facts, "programs": programs})
    outcome.extra["files"] = found
    outcome.show = lambda: terminal.say("\n".join(lines))
    _end(outcome)


@shader.command(short_help="Show the control flow of a program.")
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option(
    "--out", "-o", metavar="FILE", help="Write it into a file; .svg makes a picture, if graphviz is installed."
)
@_kernel
@_kind
@_descriptors
@json_option
@debug_option
@click.pass_obj
def graph(
    outcome: Outcome, file: str, out: str | None, kernel: str | None, kind: str | None, descriptors: str | None
) -> None:
    """Show the control flow of a program of either console, in the language of graphviz (dot)."""
    (path, module), *_ = _modules(outcome, (file,), kind, descriptors, strict=True)
    programs = list(programs_of(module, kernel, path))
    if len(programs) != 1:
        names = ", ".join(program.name for program in programs[:8])
        many = counted(len(programs), "program")
        raise UsageError(f"the file has {many}", location="--kernel", hint=f"They are: {names}.")
    text = programs[0].graph()
    outcome.extra["graph"] = {"file": path, "name": programs[0].name, "dot": text}
    if out is not None:
        write_file(Path(out), _svg(text) if out.endswith(".svg") else text.encode())
        outcome.extra["graph"]["out"] = out
    outcome.show = lambda: terminal.say(text.rstrip("\n") if out is None else f"control flow of {path} in {out}")


@shader.command(short_help="Assemble shaders, kernels and macros.")
@click.argument("source", nargs=-1, required=True, type=click.Path(), metavar="SOURCE...")
@click.option("--out", "-o", metavar="FILE", help="Where the code goes; .shbin writes such a file.")
@click.option(
    "--console", type=click.Choice(["switch", "3ds"]),
    help="Default: 3ds if --out is .shbin or the text is .pica, else switch.",
)
@click.option("--into", metavar="CUBIN", help="A cubin whose kernel gets the code, if it is as long; written to --out.")
@_kernel
@json_option
@debug_option
@click.pass_obj
def asm(
    outcome: Outcome, source: tuple[str, ...], out: str | None, console: str | None, into: str | None,
    kernel: str | None,
) -> None:  # fmt: skip
    """Assemble text to machine code: output of 'dis', or text that people write.

    Output of 'dis --control' gives exactly the original bytes. Texts of the 3DS are in picasso's language; several,
    such as a vertex and a geometry program, go into one .shbin, in their order.
    """
    is_pica = (out is not None and out.endswith(".shbin")) or source[0].endswith(".pica")
    chosen = console or ("3ds" if is_pica else "switch")
    texts = [(name, text_of(read(name), name)) for name in source]
    assemble, size = _ASSEMBLERS[chosen]
    data = assemble(outcome, texts, out, into, kernel)
    outcome.extra |= {"console": chosen, "bytes": len(data)}
    if out is None:
        words = [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]
        outcome.extra["words"] = [f"{word:#0{2 * size + 2}x}" for word in words]
        outcome.show = lambda: terminal.say("\n".join(f"{word:0{2 * size}x}" for word in words))
        return
    write_file(Path(out), data)
    outcome.extra["file"] = out
    outcome.show = lambda: terminal.say(f"{counted(len(data), 'byte')} in {out}")


@shader.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.argument("values", nargs=-1, metavar="[REGISTER=X,Y,Z,W]...")
@click.option("--kernel", "-k", metavar="NAME", help="Which program of the file.")
@json_option
@debug_option
@click.pass_obj
def run(outcome: Outcome, file: str, values: tuple[str, ...], kernel: str | None) -> None:
    """Run a shader of the 3DS once and show its outputs.

    FILE is a .shbin or assembly text. v0=1,0,0 sets an input (missing components are 0, 0, 0, 1), c8=0.5,0.5,0.5,1 a
    uniform, b0=1 and i0=3,0,1 those of booleans and loops. A name of the text may stand for the register:
    lightVec=0,0,-1 or projection[1]=0,1,0,0. Kernels of the Switch are run by 'pocketgpu launch'.
    """
    import numpy as np

    from pocketgpu.pica.shader import Program

    source = pica_source(file, kernel)
    outputs = source.outputs
    result = Program(source.code, source.descriptors, source.entry).run(*source.inputs(values))
    shown = sorted(outputs) or range(result.shape[1])
    rows = {f"o{n}": [float(number) for number in result[0, n]] for n in shown}
    hung = bool(np.any(result.hung))
    outcome.extra["run"] = {"outputs": {k: [_finite(x) for x in v] for k, v in rows.items()}, "hung": hung}
    written = [f"{name}  " + "  ".join(f"{number:.9g}" for number in row) for name, row in rows.items()]
    outcome.show = lambda: terminal.say("\n".join([*written, *(["the program did not end"] if hung else [])]))
    if hung:
        raise click.exceptions.Exit(ExitCode.FINDINGS)


@shader.command(short_help="Show how each Maxwell instruction is written.")
@click.argument("op", required=False, metavar="[OPCODE]")
@json_option
@debug_option
@click.pass_obj
def isa(outcome: Outcome, op: str | None) -> None:
    """Show the table of Maxwell instructions: how each form is written and where its bits are."""
    from pocketgpu.maxwell.sass.isa import reference

    found = reference.forms(op.upper() if op else None)
    if not found:
        close = difflib.get_close_matches((op or "").upper(), sorted({form.op for form in reference.forms()}))
        hint = f"Did you mean {' or '.join(close)}?" if close else "'pocketgpu shader isa' lists all of them."
        raise UsageError(f"there is no instruction {op!r}", location="OPCODE", hint=hint)
    outcome.extra["forms"] = [
        {
            "form": form.name,
            "op": form.op,
            "value": f"{form.value & form.mask:#018x}",
            "mask": f"{form.mask:#018x}",
            "syntax": reference.syntax(form),
            "fields": [
                {"name": name, "bits": bits, "enum": enum or None} for name, bits, enum in reference.fields(form)
            ],
        }
        for form in found
    ]
    lines = [line for form in found for line in reference.lines(form)] if op else [reference.syntax(f) for f in found]
    outcome.show = lambda: terminal.say("\n".join(lines))


# -- input ------------------------------------------------------------------------------------------------------------
def _files(paths: tuple[str, ...]) -> Iterator[str]:
    """The named files, and the files in named folders, in the order of their names."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        found = sorted(str(one) for one in Path(path).rglob("*") if one.suffix in _SUFFIXES and one.is_file())
        if not found:
            raise UsageError(f"no file in {path} is a {', '.join(_SUFFIXES)}", location="FILE")
        yield from found


def _modules(
    outcome: Outcome, paths: tuple[str, ...], kind: str | None, descriptors: str | None, *, strict: bool = False
) -> Iterator[tuple[str, ShaderModule]]:
    """Open every file. If there are several, damaged ones are reported and skipped, unless `strict`."""
    from pocketgpu.inspect.shaders.files import open_shader

    extra = read(descriptors) if descriptors is not None else None
    files = list(_files(paths))
    for path in files:
        try:
            yield path, open_shader(read(path), path, kind, extra)
        except PocketGPUError as error:
            if strict or len(files) == 1:
                raise
            terminal.print_error(error.message, error.location, error.hint)
            bad = {"file": path, "message": error.message, "location": error.location}
            outcome.extra.setdefault("unreadable", []).append(bad)


def _end(outcome: Outcome) -> None:
    if outcome.extra.get("unreadable"):
        raise click.exceptions.Exit(ExitCode.UNREADABLE)


def _inside(path: str, given: tuple[str, ...]) -> str:
    """The name of a file without its suffix, with the folders between it and the named folder."""
    for folder in given:
        if os.path.isdir(folder) and Path(path).is_relative_to(folder):
            return "_".join(Path(path).relative_to(folder).with_suffix("").parts)
    return Path(path).stem


def _make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot make the folder: {reason}", location=path) from error


def _plain_name(name: str) -> str:
    """The name as a valid file name on any system."""
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)[:120] or "program"


def _opcodes(program: ShaderProgram) -> dict[str, int]:
    if program.maxwell is None:
        return {}
    counts: dict[str, int] = {}
    for instruction in program.maxwell:
        counts[instruction.op] = counts.get(instruction.op, 0) + 1
    return dict(sorted(counts.items()))


def _shown(value: Any) -> str:
    """A fact as text after its name; a line for each of several things."""
    if isinstance(value, dict) and all(isinstance(one, int) for one in value.values()):
        return " " + " ".join(f"{name}:{count}" for name, count in value.items())
    if isinstance(value, dict) and all(isinstance(one, list) for one in value.values()):
        return "".join(f"\n      {name}: {', '.join(map(str, one))}" for name, one in value.items())
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return "".join(f"\n      {_row(one)}" for one in value)
    return f" {_plain(value)}"


def _row(facts: dict[str, Any]) -> str:
    """The first value, and the others by name."""
    (_, first), *others = facts.items()
    rest = ", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in others if value is not None)
    return f"{first}: {rest}" if rest else str(first)


def _plain(value: Any) -> str:
    return str(value) if isinstance(value, int | str) else json.dumps(value)


def _svg(text: str) -> bytes:
    program = shutil.which("dot")
    if program is None:
        raise UsageError("a picture of the graph needs graphviz", location="--out", hint="Install it, or write .dot.")
    done = subprocess.run([program, "-Tsvg"], input=text.encode(), capture_output=True, timeout=120, check=False)
    if done.returncode:
        raise UsageError(f"graphviz failed: {done.stderr.decode(errors='replace').strip()[:200]}", location="--out")
    return done.stdout


# -- assembling -------------------------------------------------------------------------------------------------------
Texts = Sequence[tuple[str, str]]
"""Names and contents of texts."""


def _assemble_maxwell(outcome: Outcome, texts: Texts, out: str | None, into: str | None, kernel: str | None) -> bytes:
    from pocketgpu.maxwell.sass.files.elf import read_cubin
    from pocketgpu.maxwell.sass.isa.assembler import assemble
    from pocketgpu.maxwell.sass.isa.decoder import SassError

    if len(texts) > 1:
        raise UsageError("kernels of the Switch are in one text", location="SOURCE")
    ((source, text),) = texts
    try:
        code = assemble(text).code
    except SassError as error:
        raise SassError(error.message, location=f"{source}, {error.location}", hint=error.hint) from None
    if into is None:
        return code
    data = read(into)
    cubin = read_cubin(data, into)
    name = kernel or (next(iter(cubin.kernels)) if len(cubin.kernels) == 1 else "")
    if name not in cubin.kernels:
        known = ", ".join(cubin.kernels) or "none"
        raise UsageError(f"{into} has no kernel {name!r}", location="--kernel", hint=f"It has: {known}.")
    old = cubin.kernels[name].code
    if len(old) != len(code):
        raise UsageError(
            f"the kernel has {counted(len(old), 'byte')} of code, the text gives {len(code)}", location="--into"
        )
    at = cubin.kernels[name].section.offset
    return data[:at] + code + data[at + len(old) :]


def _assemble_pica(outcome: Outcome, texts: Texts, out: str | None, into: str | None, kernel: str | None) -> bytes:
    from pocketgpu.pica.shader.assembler import assemble_all, problems_of
    from pocketgpu.pica.shader.shbin import shbin_of, write_shbin

    found = problems_of(texts)
    outcome.extra["problems"] = [
        {
            "file": one.file, "line": one.line, "column": one.column, "message": one.message, "hint": one.hint,
            "warning": one.warning,
        }
        for one in found
    ]  # fmt: skip
    for one in found:
        if one.warning:
            terminal.print_note(f"{one.location}: {one.message}" + (f". {one.hint}" if one.hint else ""))
    wrong = [one for one in found if not one.warning]
    if wrong and outcome.json:
        raise wrong[0]
    for one in wrong[:-1]:
        terminal.print_error(one.message, one.location, one.hint)
    if wrong:
        raise wrong[-1]  # printed after the others, in the order of lines
    made = assemble_all(texts)
    if out is None or not out.endswith(".shbin"):
        return b"".join(word.to_bytes(4, "little") for word in made[0].code)
    return write_shbin(shbin_of(made))


_ASSEMBLERS = {"3ds": (_assemble_pica, 4), "switch": (_assemble_maxwell, 8)}
"""What makes code of a text, and the bytes of a word of it, by --console."""


def _finite(number: float) -> float | str:
    return number if abs(number) < float("inf") else str(number)


shader.add_command(step)
