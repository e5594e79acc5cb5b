"""`pocketgpu launch`: runs a kernel of the Switch on this computer."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import ExitCode, Outcome
from pocketgpu.cli.parts.replay import write_file
from pocketgpu.errors import UsageError
from pocketgpu.inspect.shaders.launch_arguments import Argument, sizes_of
from pocketgpu.inspect.shaders.sources import read, text_of
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.launch.launcher import Result


@click.command()
@click.argument("cubin", type=click.Path(), metavar="FILE")
@click.option("--kernel", metavar="NAME", help="The kernel; needed if the file has several.")
@click.option("--header", metavar="TEXT-FILE", help="Directives for bare code: .registers, .shared, .local, .param.")
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
    header: str | None,
    grid: str,
    block: str,
    args: tuple[str, ...],
    references: tuple[str, ...],
    shared: int,
    threads: int,
    evaluator: str,
) -> None:
    """Run a kernel for the Switch's GPU on this computer.

    FILE is a cubin of CUDA's compiler (sm_53), assembly text (.sass), whose directives say what a launch needs to know,
    or bare code as 'shader asm' writes it, with --header for these directives.

    Threads that access memory outside of the arguments' arrays, and warps that do not end, are findings: exit code 1.
    """
    from pocketgpu.maxwell.compute.raw_module import RawModule

    directives = text_of(read(header), header) if header is not None else None
    module = RawModule(cubin, header=directives, evaluator=evaluator, threads=threads)
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
        sizes_of(grid, "--grid"), sizes_of(block, "--block"), [a.value for a in arguments], shared_mem=shared,
        labels=[a.label for a in arguments],
    )  # fmt: skip
    written = []
    for argument in [*arguments, *bound]:
        if argument.out is not None:
            write_file(argument.out, argument.data)
            written.append(str(argument.out))
    outcome.add_events(module.events)
    outcome.extra.update(
        kernel=kernel, warp_instructions=result.steps, seconds=round(result.seconds, 6), hung=result.hung,
        files=written, fault_count=result.fault_count, faults=[fault.to_json() for fault in result.faults],
    )  # fmt: skip
    lines = [f"{kernel}: {counted(result.steps, 'instruction')} of warps in {result.seconds * 1e3:.1f} ms"]
    lines += [f"{name} written" for name in written]
    lines += _faults(result)
    if result.hung:
        lines += [f"hangs: {event.message}" for event in module.events if event.kind == "hang"]
    outcome.show = lambda: terminal.say("\n".join(lines))
    if result.fault_count or result.hung:
        raise click.exceptions.Exit(ExitCode.FINDINGS)


def _faults(result: Result) -> list[str]:
    """Lines about the faults of a launch: the first one of each instruction, and how many more there are of it."""
    if not result.fault_count:
        return []
    lines = [counted(result.fault_count, "fault")]
    kept = len(result.faults)
    for number in sorted({fault.number for fault in result.faults}):
        here = [fault for fault in result.faults if fault.number == number]
        first = here[0]
        lines += _wrapped(f"{first.kernel}+{first.offset:#06x}{first.source}: {first.instruction}", "  ")
        lines += _wrapped(f"{first.who}: {first.cause}", "    ")
        if len(here) > 1:
            least = "" if kept == result.fault_count else "at least "
            lines.append(f"    and {least}{len(here) - 1} more of this instruction")
    if kept < result.fault_count:
        lines.append(f"  these are the first {kept}; {result.fault_count - kept} more were counted")
    return lines


def _wrapped(text: str, indent: str) -> list[str]:
    """Lines of at most 79 characters; later ones are indented further. Longer words stay whole."""
    return textwrap.wrap(
        text, 79, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
