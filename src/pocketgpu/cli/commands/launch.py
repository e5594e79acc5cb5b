"""`pocketgpu launch`: runs a kernel of a cubin on this computer."""

from __future__ import annotations

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.launch_arguments import Argument, sizes_of
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import write_file
from pocketgpu.errors import UsageError
from pocketgpu.wording import counted


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
    "texture:FILE[,OPTION=VALUE...], surface:FILE. With >OUT after an array or a surface it is written to a file "
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
    lines = [f"{kernel}: {counted(result.steps, 'instruction')} of warps in {result.seconds * 1e3:.1f} ms"]
    lines += [f"{name} written" for name in written]
    outcome.show = lambda: terminal.say("\n".join(lines))
