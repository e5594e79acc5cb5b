"""Shaders to run, from files: programs of the 3DS with values of registers, and which files are kernels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pocketgpu import whole_files
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.facts.pica import BOOLEAN_UNIFORMS, FLOAT_UNIFORMS, INTEGER_UNIFORMS, SHADER_REGISTERS
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.inspect.shaders.files import ShaderModule, ShaderProgram
    from pocketgpu.inspect.stepping.program_text import ProgramText

_SETTABLE = (
    f"v0-v{SHADER_REGISTERS - 1}, c0-c{FLOAT_UNIFORMS - 1}, b0-b{BOOLEAN_UNIFORMS - 1} and i0-i{INTEGER_UNIFORMS - 1}"
)

_COMPONENTS = 4
"""Numbers that a register has."""
_MOST_NAMES = 8
"""Names that a hint lists."""
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
    text: what is known of its source text: lines, labels, names."""

    code: tuple[int, ...]
    descriptors: tuple[int, ...]
    entry: int
    constants: dict[str, Any]
    outputs: set[int]
    text: ProgramText

    def inputs(self, given: tuple[str, ...]) -> tuple[Any, dict[int, Any], list[int], list[list[int]]]:
        """(inputs, uniforms, booleans, integers) as `Program.run` takes them: those of the file, and `given`.

        :raises UsageError: a text of `given` sets no register.
        """
        import numpy as np

        constants = self.constants
        inputs = np.tile(np.array([0, 0, 0, 1], np.float32), (1, SHADER_REGISTERS, 1))
        uniforms = {int(name[1:]): value for name, value in constants.items() if name[0] == "c"}
        bools = [int(bool(constants.get(f"b{n}", 0))) for n in range(BOOLEAN_UNIFORMS)]
        integers = [list(constants.get(f"i{n}", (0, 0, 0, 0))) for n in range(INTEGER_UNIFORMS)]
        for text in given:
            name, numbers = self._register(text)
            place = int(name[1:])
            if name[0] == "v" and place < SHADER_REGISTERS:
                inputs[0, place, : len(numbers)] = numbers
            elif name[0] == "c" and place < FLOAT_UNIFORMS:
                uniforms[place] = [*numbers, *(0.0, 0.0, 0.0, 1.0)[len(numbers) :]]
            elif name[0] == "b" and place < BOOLEAN_UNIFORMS:
                bools[place] = int(numbers[0] != 0)
            elif name[0] == "i" and place < INTEGER_UNIFORMS:
                integers[place] = [int(number) for number in (*numbers, 0, 0, 0, 0)][:4]
            else:
                raise UsageError(f"there is no register {name}", hint=f"{_SETTABLE} can be set.")
        return inputs, uniforms, bools, integers

    def _register(self, text: str) -> tuple[str, list[float]]:
        """Register and numbers of "v0=1,0,0" or "modelView[1]=0,1,0,0"."""
        name, equals, values = text.partition("=")
        if not equals:
            raise UsageError(f"{text!r} sets no register", hint="Write v0=1,0,0 or c8=0.5,0.5,0.5,1.")
        named = name.lower() if re.fullmatch(r"[A-Za-z]\d{1,9}", name) else self.text.register(name)
        if named is None:
            known = ", ".join(one.name for one in self.text.symbols[:_MOST_NAMES])
            hint = f"{_SETTABLE} can be set" + (f", and names of the text: {known}." if known else ".")
            raise UsageError(f"nothing is called {name!r} here", hint=hint)
        numbers = []
        for one in values.split(","):
            try:
                numbers.append(float(one))
            except ValueError:
                raise UsageError(f"{one!r} in {text!r} is not a number", hint="Such as 1, -0.5 or 1e3.") from None
        if len(numbers) > _COMPONENTS:
            raise UsageError(f"{text!r} has {len(numbers)} numbers; a register takes 1 to {_COMPONENTS}")
        return named, numbers


def pica_source(file: str, name: str | None, texts: Sequence[str] = ()) -> PicaSource:
    """The program of a .shbin or of assembly text. texts: what a .shbin was assembled from; without them, texts beside
    it are used, if they are there."""
    from pocketgpu.inspect.shaders.files import kind_of, open_shader
    from pocketgpu.inspect.shaders.shader_texts import ShaderTexts, beside, merged, text_of_assembly, text_of_executable
    from pocketgpu.pica.shader.assembler import assemble_all
    from pocketgpu.pica.shader.shbin import constants_of

    data = read(file)
    kind = kind_of(data)
    if kind == "shbin":
        programs = programs_of(open_shader(data, file), name, file)
        if not programs:
            raise CaptureError("the file has no shader", file=file)
        one = programs[0]
        assert one.executable is not None
        used = {int(output["register"][1:]) for output in one.facts["outputs"]}
        found = ShaderTexts(texts or beside(file)).of(one.words, one.descriptors, one.entry)
        text = merged(found, text_of_executable(one.executable))
        return PicaSource(one.words, one.descriptors, one.entry, one.facts["constants"], used, text)
    if kind is not None:
        raise UsageError(f"this is a {kind}", location=file, hint="'pocketgpu launch' runs kernels of the Switch.")
    source = text_of(data, file)
    (done,) = assemble_all([(file, source)])
    own = text_of_assembly(done, file, source)
    return PicaSource(done.code, done.descriptors, done.entry, constants_of(done), set(done.outputs), own)
