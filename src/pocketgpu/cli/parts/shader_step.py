"""`pocketgpu shader step`: a shader of either console, instruction by instruction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import ExitCode, Outcome
from pocketgpu.errors import UsageError
from pocketgpu.inspect.shaders.traces import Run, trace_file
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.stepping import Trace

_ROWS = 100  # steps that are shown unless a part is asked for
_ADDRESS = re.compile(r"f\d+/")


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.argument("values", nargs=-1, metavar="[REGISTER=X,Y,Z,W]... | ADDRESS")
@click.option("--kernel", "-k", metavar="NAME", help="Which program of the file.")
@click.option("--from", "first", type=click.IntRange(0), metavar="STEP", help="The first step that is shown.")
@click.option("--to", "last", type=click.IntRange(0), metavar="STEP", help="The last step that is shown.")
@click.option("--nan", is_flag=True, help="Only where the first NaN appears; the exit code is 1 if there is one.")
@click.option("--most", type=click.IntRange(1), metavar="STEPS", help="The most steps to record.")
@click.option(
    "--text", "texts", multiple=True, metavar="FILE",
    help="What a .shbin or a 3DS capture's programs were assembled from; may be repeated.",
)
@click.option("--grid", metavar="X[,Y[,Z]]", help="Kernels of the Switch: blocks of the grid (1).")
@click.option("--block", metavar="X[,Y[,Z]]", help="Kernels of the Switch: threads of a block (32).")
@click.option("--at", metavar="bX,Y,Z/tX,Y,Z", help="Kernels of the Switch: the block and the thread (b0/t0).")
@click.option(
    "--arg", "args", multiple=True, metavar="KIND:VALUE", help="Kernels of the Switch: an argument, as for 'launch'."
)
@click.option("--shared", type=click.IntRange(0), metavar="BYTES", help="Kernels of the Switch: dynamic shared memory.")
@json_option
@debug_option
@click.pass_obj
def step(
    outcome: Outcome,
    /,
    file: str,
    values: tuple[str, ...],
    kernel: str | None,
    first: int | None,
    last: int | None,
    nan: bool,
    most: int | None,
    texts: tuple[str, ...],
    **launch: Any,
) -> None:
    """Step through a shader: what each instruction read, wrote and did.

    FILE is a .shbin or assembly text of the 3DS, run for one vertex or primitive: v0=1,0,0 sets an input, c8=..., b0=1
    and i0=3,0,1 uniforms, as for 'run'. Or it is a cubin, assembly text (.sass) or bare code of the Switch: the grid is
    launched as by 'launch', and one thread of it is followed. Or it is a capture, followed by the address of a vertex:
    scene.pgc f1/d17/v5. Captures of the 3DS also have primitives of geometry programs (f1/d17/t3), those of the Switch
    pixels of a draw's target (f1/d17/px8,9) and threads of a launch (f0/e9/b0,0,0/t3,0,0).

    Steps of a .shbin have the lines of its text if that lies beside it (vertex.v.pica) or is named by --text, and is
    the program word for word.
    """
    given = [name for name, value in launch.items() if value not in (None, ())]
    if len(values) == 1 and _ADDRESS.match(values[0]):
        if given or kernel is not None:
            raise UsageError("a capture has its own inputs", location="--" + [*given, "kernel"][0])
        trace = _in_capture(outcome, file, values[0], most, texts)
    else:
        told = {name: value for name, value in launch.items() if value is not None}
        trace, events = trace_file(Run(file, kernel, values, most=most, texts=texts, **told))
        outcome.add_events(events)
    begin = first or 0
    end = last if last is not None else None if first is not None or outcome.json else _ROWS - 1
    outcome.extra["trace"] = _only_nan(trace) if nan else trace.to_json(begin, end)
    outcome.show = lambda: terminal.say(_nan_text(trace) if nan else _table(trace, begin, end))
    if trace.hung or (nan and trace.first_nan is not None):
        raise click.exceptions.Exit(ExitCode.FINDINGS)


def _in_capture(outcome: Outcome, file: str, address: str, most: int | None, texts: tuple[str, ...]) -> Trace:
    from pocketgpu.cli.parts.replay import open_capture
    from pocketgpu.inspect.inspection import debug
    from pocketgpu.inspect.model.address import Address

    wanted = Address.parse(address)
    opened = open_capture(file, address)
    outcome.add_events(opened.warnings)
    run = debug(opened)
    if texts:
        run.use_texts(texts)
    return run.trace(wanted, most)


def _only_nan(trace: Trace) -> dict[str, Any]:
    whole = trace.to_json(0, -1)
    names = ("console", "program", "lane", "steps_in_all", "cut", "hung", "first_nan", "nans_from_outside")
    return {name: whole[name] for name in names}


def _nan_text(trace: Trace) -> str:
    outside = [str(birth) for birth in trace.nans if not birth.computed]
    first = trace.first_nan
    none = f"no NaN appears in {counted(len(trace), 'step')}"
    return "\n".join([none if first is None else str(first), *outside])


def _table(trace: Trace, first: int, last: int | None) -> str:
    part = trace.part(first, last)
    rows = [[str(one.index), f"{one.address:#06x}", one.text, one.read_text, one.happened] for one in part]
    columns = [("step", True), ("address", True), ("instruction", False), ("read", False), ("written", False)]
    if any(one.line is not None for one in part):  # the program was written as text
        columns.insert(2, ("line", True))
        for row, one in zip(rows, part, strict=True):
            row.insert(2, "" if one.line is None else str(one.line))
    if not part:
        return f"{trace.title}\nnone of them is in the range of --from and --to; they are 0 to {len(trace) - 1}"
    lines = [trace.title, terminal.format_table(columns, rows)]
    if trace.listing is not None and trace.listing.note:
        lines.append(trace.listing.note)
    left = len(trace) - part[-1].index - 1
    if left > 0:
        lines.append(f"... {left} more, with --from and --to")
    if trace.first_nan is not None:
        lines.append(f"first NaN: {trace.first_nan}")
    return "\n".join(lines)
