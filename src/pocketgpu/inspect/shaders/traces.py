"""Steps of shaders in files: a program of the 3DS with inputs, or a thread of a kernel of the Switch.

    trace_file(Run("vertex.shbin", values=("v0=1,2,3",)))
    trace_file(Run("kernel.cubin", grid="4", block="64", args=("zeros:1024",), at="b1/t40"))
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pocketgpu.errors import UsageError
from pocketgpu.inspect.shaders.launch_arguments import Argument, sizes_of
from pocketgpu.inspect.shaders.sources import is_kernel, pica_source, read
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.events import Event
    from pocketgpu.inspect.stepping import Trace
    from pocketgpu.inspect.stepping.company import Company
    from pocketgpu.inspect.stepping.forced_registers import Forced
    from pocketgpu.maxwell.compute.raw_module import RawModule

_PLACE = re.compile(r"b(\d{1,9}(?:,\d{1,9}){0,2})/t(\d{1,9}(?:,\d{1,9}){0,2})")
LAUNCH = ("grid", "block", "at", "args", "shared")
"""What is said of kernels only."""


@dataclass(frozen=True)
class Run:
    """A shader of a file, and what it is run with.

    values: registers as the command line sets them ("v0=1,0,0"). kernel: which program. most: steps that are kept.
    header: directives for bare code. texts: what a .shbin was assembled from. grid, block, at, args, shared: of
    kernels, as for `pocketgpu shader step`.
    """

    file: str
    kernel: str | None = None
    values: tuple[str, ...] = ()
    grid: str = ""
    block: str = ""
    at: str = ""
    args: tuple[str, ...] = ()
    shared: int = 0
    header: str | None = None
    most: int | None = None
    texts: tuple[str, ...] = ()

    @property
    def launches(self) -> list[str]:
        """Names of what is given that only kernels have."""
        return [name for name in LAUNCH if getattr(self, name)]

    @property
    def is_kernel(self) -> bool:
        """Whether it is a kernel; else it is a shader of the 3DS.

        :raises CaptureError: the file cannot be read.
        """
        return is_kernel(self.file, read(self.file), bool(self.launches) or self.header is not None)


def trace_file(
    run: Run, overrides: Forced | None = None, company: Company | None = None
) -> tuple[Trace, list[Event]]:  # fmt: skip
    """The steps, and events of the launch. overrides: words that registers are given right before steps. company: as
    for `trace_thread`.

    :raises UsageError: the values or arguments do not fit the program.
    :raises CaptureError: the file cannot be read.
    """
    options: dict[str, Any] = {} if run.most is None else {"most": run.most}
    if run.is_kernel:
        return _thread(run, {**options, "overrides": overrides} | ({"company": company} if company else {}))
    if run.launches:
        option = "--" + ("arg" if run.launches[0] == "args" else run.launches[0])
        raise UsageError("this is for kernels of the Switch", location=option, hint="v0=1,2,3 sets an input.")
    keep = company is not None and company.keep is not None
    return _vertex(run, {**options, "overrides": overrides, "keep": keep}), []


def beside(run: Run) -> list[Run]:
    """The runs that go together with one: of a kernel the threads of its warp, in order; else only itself.

    :raises UsageError: there is no such thread.
    """
    if not run.is_kernel:
        return [run]
    from pocketgpu.inspect.stepping.switch import warp_of

    block, thread = place_of(run.at or "b0/t0")
    texts = [",".join(map(str, one)) for one in (block, *warp_of(sizes_of(run.block or "32", "--block"), thread))]
    return [replace(run, at=f"b{texts[0]}/t{one}") for one in texts[1:]]


def _vertex(run: Run, options: dict[str, Any]) -> Trace:
    from pocketgpu.inspect.stepping import trace_vertex
    from pocketgpu.pica.shader import Program

    source = pica_source(run.file, run.kernel, run.texts)
    program = Program(source.code, source.descriptors, source.entry)
    return trace_vertex(
        program, *source.inputs(run.values), name=run.kernel or Path(run.file).name, source=source.text,
        **options,
    )  # fmt: skip


def _thread(run: Run, options: dict[str, Any]) -> tuple[Trace, list[Event]]:
    from pocketgpu.inspect.stepping import trace_thread
    from pocketgpu.maxwell.compute.raw_module import RawModule

    if run.values:
        raise UsageError(f"{run.values[0]!r} sets no argument of a kernel", hint="Use --arg, as for 'launch'.")
    if run.texts:
        raise UsageError("a kernel has its lines in the file itself", location="texts")
    module = RawModule(run.file, header=run.header)
    try:
        grid, block = sizes_of(run.grid or "1", "--grid"), sizes_of(run.block or "32", "--block")
        where, which = place_of(run.at or "b0/t0")
        arguments = [Argument(text).value for text in run.args]
        trace = trace_thread(
            module.get_function(kernel_of(module, run.kernel)), grid, block, arguments, at=(where, which),
            shared_mem=run.shared, **options,
        )  # fmt: skip
    finally:
        module.close()  # the next trace of the same launch finds its variables at the same addresses
    return trace, list(module.events)


def kernel_of(module: RawModule, wanted: str | None) -> str:
    """The kernel that is wanted; without one, the only one of the module.

    :raises UsageError: it has several.
    """
    if wanted is None and len(module.kernels) != 1:
        known = ", ".join(module.kernels) or "none"
        raise UsageError("which kernel?", location="--kernel", hint=f"The file has: {known}.")
    return module.kernels[0] if wanted is None else wanted


def place_of(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Block and thread of "b1,0,0/t5,0,0".

    :raises UsageError: it names no thread.
    """
    match = _PLACE.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} names no thread", location="--at", hint="Such as b1,0,0/t5,0,0 or b1/t5.")
    block, thread = (tuple(int(number) for number in part.split(",")) for part in match.groups())
    return block, thread


__all__ = ["Run", "beside", "kernel_of", "place_of", "trace_file"]
