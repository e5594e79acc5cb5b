"""Shaders to run, from files: programs of the 3DS with values of registers, and which files are kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pocketgpu import whole_files
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.inspect.shaders.files import ShaderModule, ShaderProgram

_LIMIT = 64 << 20  # bytes of a file that is read


def read(path: str) -> bytes:
    return whole_files.read(path, _LIMIT)


def text_of(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CaptureError(
            "the file is neither text nor code of a kind known here", file=path, offset=error.start,
            hint="Of a recording, 'pocketgpu shader step CAPTURE f0/d0/v0' steps through a vertex, and "
            "'pocketgpu state CAPTURE f0/d0 --shaders' shows programs.",
        ) from error  # fmt: skip


def is_kernel(path: str, data: bytes, launched: bool) -> bool:
    """Whether a file has kernels of the Switch: a cubin, text of its assembler, or bare code that is to be launched.

    Bare code and a text without directives do not say it; of these, the first is one if `launched`, and the second if
    its name ends with .sass.
    """
    from pocketgpu.inspect.shaders.files import kind_of

    kind = kind_of(data)
    if kind is not None:
        return kind in ("cubin", "sass")
    return launched if b"\0" in data else path.endswith(".sass")


def programs_of(module: ShaderModule, name: str | None, path: str) -> list[ShaderProgram]:
    found = [program for program in module.programs if name is None or program.name == name]
    if not found and name is not None:
        known = ", ".join(program.name for program in module.programs[:8]) or "none"
        raise UsageError(f"{path} has no program {name!r}", location="--kernel", hint=f"It has: {known}.")
    return found


@dataclass(frozen=True)
class PicaSource:
    """A program of the 3DS. constants: of the file, by register ("c8"). outputs: registers that it declares as such.
    lines: the line of its text of each word; empty if there is no text."""

    code: tuple[int, ...]
    descriptors: tuple[int, ...]
    entry: int
    constants: dict[str, Any]
    outputs: set[int]
    lines: tuple[int, ...] = ()

    def inputs(self, given: tuple[str, ...]) -> tuple[Any, dict[int, Any], list[int], list[list[int]]]:
        """(inputs, uniforms, booleans, integers) as `Program.run` takes them: those of the file, and `given`.

        :raises UsageError: a text of `given` sets no register.
        """
        import numpy as np

        constants = self.constants
        inputs = np.tile(np.array([0, 0, 0, 1], np.float32), (1, 16, 1))
        uniforms = {int(name[1:]): value for name, value in constants.items() if name[0] == "c"}
        bools = [int(bool(constants.get(f"b{n}", 0))) for n in range(16)]
        integers = [list(constants.get(f"i{n}", (0, 0, 0, 0))) for n in range(4)]
        for text in given:
            name, numbers = _register(text)
            place = int(name[1:])
            if name[0] == "v" and place < 16:
                inputs[0, place, : len(numbers)] = numbers
            elif name[0] == "c" and place < 96:
                uniforms[place] = [*numbers, *(0.0, 0.0, 0.0, 1.0)[len(numbers) :]]
            elif name[0] == "b" and place < 16:
                bools[place] = int(numbers[0] != 0)
            elif name[0] == "i" and place < 4:
                integers[place] = [int(number) for number in (*numbers, 0, 0, 0, 0)][:4]
            else:
                raise UsageError(f"there is no register {name}", hint="v0-v15, c0-c95, b0-b15 and i0-i3 can be set.")
        return inputs, uniforms, bools, integers


def pica_source(file: str, name: str | None) -> PicaSource:
    """The program of a .shbin or of assembly text."""
    from pocketgpu.inspect.shaders.files import kind_of, open_shader
    from pocketgpu.pica.shader.assembler import assemble

    data = read(file)
    kind = kind_of(data)
    if kind == "shbin":
        programs = programs_of(open_shader(data, file), name, file)
        if not programs:
            raise CaptureError("the file has no shader", file=file)
        one = programs[0]
        used = {int(output["register"][1:]) for output in one.facts["outputs"]}
        return PicaSource(one.words, one.descriptors, one.entry, one.facts["constants"], used)
    if kind is not None:
        raise UsageError(f"this is a {kind}", location=file, hint="'pocketgpu launch' runs kernels of the Switch.")
    done = assemble(text_of(data, file), words=4096)
    constants = {f"c{n}": v for n, v in done.constants.items()}
    return PicaSource(done.code, done.descriptors, done.entry, constants, set(done.outputs), done.lines)


def _register(text: str) -> tuple[str, list[float]]:
    name, equals, values = text.partition("=")
    try:
        numbers = [float(number) for number in values.split(",")]
    except ValueError:
        numbers = []
    if not equals or not name[1:].isdigit() or not 1 <= len(numbers) <= 4:
        raise UsageError(f"{text!r} sets no register", hint="Write v0=1,0,0 or c8=0.5,0.5,0.5,1.")
    return name.lower(), numbers
