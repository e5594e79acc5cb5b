"""`pocketgpu launch`: a kernel of a cubin on this computer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.launch_images import array_file, read_image
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import write_file
from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

_NUMBERS = {
    "u8": "<u1", "s8": "<i1", "u16": "<u2", "s16": "<i2", "u32": "<u4", "s32": "<i4", "u64": "<u8", "s64": "<i8",
    "f16": "<f2", "f32": "<f4", "f64": "<f8",
}  # fmt: skip
_MOST = 1 << 30  # bytes of an array


def sizes_of(text: str, name: str) -> tuple[int, ...]:
    """ "4,4" or "4x4" as numbers."""
    try:
        sizes = tuple(int(part, 0) for part in text.replace("x", ",").split(","))
    except ValueError:
        sizes = ()
    if not 1 <= len(sizes) <= 3 or any(size < 1 for size in sizes):
        raise UsageError(f"{text!r} is no size", location=name, hint="One to three numbers, such as 4,4.")
    return sizes


class Argument:
    """One --arg: a number, bytes of a struct, or an array from a file or of zeros, perhaps written to a file after."""

    def __init__(self, text: str) -> None:
        kind, _, rest = text.partition(":")
        self.out: Path | None = None
        self.value: Any = self._read(kind, rest, text)

    def _read(self, kind: str, rest: str, text: str) -> Any:
        import numpy as np

        try:
            if kind in _NUMBERS:
                number = float(rest) if kind[0] == "f" else int(rest, 0)
                return (
                    np.array(number).astype(_NUMBERS[kind])[()]
                    if kind[0] == "f"
                    else np.array(number, _NUMBERS[kind])[()]
                )
            if kind == "bytes":
                return bytes.fromhex(rest)
            if kind in ("in", "inout", "zeros", "out"):
                return self._array(kind, rest)
            if kind in ("texture", "surface"):
                image, self.out = read_image(kind, rest)
                return image
        except (ValueError, OverflowError) as error:
            raise UsageError(f"{text!r}: {error}", location="--arg") from None
        known = "u32:5, f32:0.5, bytes:00ff, in:FILE, inout:FILE[>OUT], zeros:BYTES[>OUT], texture:FILE, surface:FILE"
        raise UsageError(f"{text!r} is no argument", location="--arg", hint=f"Arguments are {known}.")

    @property
    def data(self) -> bytes:
        """What it holds, as the bytes of a file."""
        return array_file(self.value) if hasattr(self.value, "arrays") else bytes(self.value.tobytes())

    def _array(self, kind: str, rest: str) -> np.ndarray[Any, Any]:
        import numpy as np

        source, _, target = rest.partition(">")
        if kind == "zeros":
            size = int(source, 0)
            if not 0 < size <= _MOST:
                raise ValueError(f"{size} bytes")
            array = np.zeros(size, np.uint8)
        else:
            try:
                array = np.frombuffer(Path(source).read_bytes(), np.uint8).copy()
            except OSError as error:
                raise ValueError(error.strerror or str(error)) from None
        array.flags.writeable = kind != "in"
        if target:
            self.out = Path(target)
        return array


@click.command()
@click.argument("cubin", type=click.Path(), metavar="CUBIN")
@click.option("--kernel", metavar="NAME", help="The kernel; needed if the file has several.")
@click.option("--grid", default="1", metavar="X[,Y[,Z]]", show_default=True, help="Blocks of the grid.")
@click.option("--block", default="32", metavar="X[,Y[,Z]]", show_default=True, help="Threads of a block.")
@click.option(
    "--arg",
    "args",
    multiple=True,
    metavar="KIND:VALUE",
    help="An argument: u32:5, f32:0.5 (u8 to s64, f16 to f64), bytes:HEX, in:FILE, inout:FILE, zeros:BYTES. "
    "texture:FILE[,OPTION=VALUE...], surface:FILE. With >OUT behind an array or a surface it is written to a file "
    "afterwards.",
)
@click.option(
    "--bind",
    "references",
    multiple=True,
    metavar="NAME=KIND:FILE",
    help="The texture or surface of a reference of the module: tref=texture:FILE[,OPTION=VALUE...].",
)
@click.option("--shared", type=click.IntRange(0), default=0, metavar="BYTES", help="Dynamic shared memory.")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="Threads of this computer.")
@click.option(
    "--evaluator",
    type=click.Choice(["llvm", "numpy"]),
    default="llvm",
    show_default=True,
    help="Machine code or the oracle.",
)
@json_option
@debug_option
@click.pass_obj
def launch(
    outcome: Outcome,
    cubin: str,
    kernel: str | None,
    grid: str,
    block: str,
    args: tuple[str, ...],
    references: tuple[str, ...],
    shared: int,
    threads: int,
    evaluator: str,
) -> None:
    """Run a kernel of a cubin for the Switch's GPU on this computer."""
    from pocketgpu.maxwell.compute.raw_module import RawModule

    module = RawModule(cubin, evaluator=evaluator, threads=threads)
    if kernel is None:
        if len(module.kernels) != 1:
            known = ", ".join(module.kernels) or "none"
            raise UsageError("which kernel?", location="--kernel", hint=f"The file has: {known}.")
        kernel = module.kernels[0]
    arguments = [Argument(text) for text in args]
    bound = []
    for text in references:
        name, _, image = text.partition("=")
        bound.append(Argument(image))
        module.bind(name, bound[-1].value)
    function = module.get_function(kernel)
    result = function(
        sizes_of(grid, "--grid"), sizes_of(block, "--block"), [a.value for a in arguments], shared_mem=shared
    )  # fmt: skip
    written = []
    for argument in [*arguments, *bound]:
        if argument.out is not None:
            write_file(argument.out, argument.data)
            written.append(str(argument.out))
    outcome.add_events(module.events)
    outcome.extra.update(
        kernel=kernel, warp_instructions=result.steps, seconds=round(result.seconds, 6), hung=result.hung, files=written
    )
    lines = [f"{kernel}: {result.steps} instructions of warps in {result.seconds * 1e3:.1f} ms"]
    lines += [f"{name} written" for name in written]
    outcome.show = lambda: terminal.say("\n".join(lines))
