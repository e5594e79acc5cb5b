"""Launch configurations: what is stepped through, with which inputs.

    {"capture": "scene.pgc", "address": "f3/d17/v5"}
    {"program": "kernel.cubin", "grid": "4", "block": "64", "args": ["zeros:1024"], "at": "b1/t40"}
    {"source": "phong.v.pica", "inputs": {"v0": [1, 2, 3]}, "uniforms": {"c0": [1, 0, 0, 0], "b0": true}}

"text", or "texts", of a capture or a `.shbin`: what its programs were assembled from.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pocketgpu.editor.dap.debuggee.group import Group
from pocketgpu.editor.dap.debuggee.lane import Lane
from pocketgpu.editor.dap.protocol.messages import Arguments
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.inspect.inspection import Inspection
    from pocketgpu.inspect.model.address import Address
    from pocketgpu.inspect.shaders.traces import Run
    from pocketgpu.inspect.stepping.company import Company, Range
    from pocketgpu.inspect.stepping.forced_registers import Forced
    from pocketgpu.inspect.stepping.trace import Trace

Working = Callable[[str], AbstractContextManager[None]]
"""Makes the context of long work, which has a title."""
WAYS: Final = ("capture", "program", "source")
"""What a configuration names: one of these."""
COMMON: Final = ("stopOnEntry", "most", "cwd")
TEXTS: Final = ("text", "texts")
OF_CAPTURES: Final = ("address", "switches", *TEXTS)
OF_KERNELS: Final = ("kernel", "grid", "block", "args", "at", "shared", "header")
OF_SOURCES: Final = ("inputs", "uniforms", *TEXTS, *OF_KERNELS)
MOST_STEPS: Final = 1 << 20
_OF_EDITORS = re.compile(r"type|request|name|noDebug|preLaunchTask|postDebugTask|internalConsoleOptions|presentation|"
                         r"debugServer|serverReadyAction|__.*|\$__.*|dap-.*|console|host|hostName|port")  # fmt: skip
"""Attributes that editors use themselves."""
_SPECIAL = ("nan", "inf", "-inf")
_STANDARD_INPUT = re.compile(r"\w+:-(?:$|[,>])|-$")
"""Arguments that are read from the standard input, where the editor speaks."""


@dataclass(frozen=True)
class Configuration:
    """A launch configuration that was read. what: of WAYS; path: of its file."""

    what: str
    path: str
    values: Arguments
    most: int | None
    stop_on_entry: bool


def read_configuration(given: Arguments) -> Configuration:
    """Read a launch configuration.

    :raises UsageError: it names nothing to step through, or has attributes that mean nothing here.
    """
    found = [name for name in WAYS if name in given]
    if len(found) != 1:
        what = "nothing" if not found else " and ".join(found)
        hint = 'One of "capture", "program", "source".'
        raise UsageError(f"the configuration names {what} to step through", hint=hint)
    (what,) = found
    known = {*WAYS, *COMMON, *{"capture": OF_CAPTURES, "program": OF_KERNELS, "source": OF_SOURCES}[what]}
    for name, _ in given.items():
        if name not in known and not _OF_EDITORS.fullmatch(name):
            raise UsageError(
                f"this means nothing for a {what}", location=name[:60], hint=f"It takes {', '.join(sorted(known))}."
            )
    path = _path(given, given.text(what), what)
    most = given.number("most") if "most" in given else None
    if most is not None and not 1 <= most <= MOST_STEPS:
        raise UsageError(f"1 to {MOST_STEPS} steps can be kept", location="most")
    return Configuration(what, path, given, most, given.flag("stopOnEntry", True))


def _path(given: Arguments, text: str, name: str) -> str:
    """A path of a configuration, which begins in `cwd`.

    :raises UsageError: it is none.
    """
    path = os.path.expanduser(text)
    if not path or path == "-" or "\0" in path:
        raise UsageError("this is no path of a file", location=name)
    return os.path.join(os.path.expanduser(given.text("cwd")), path) if "cwd" in given else path


def _texts(given: Arguments) -> list[str]:
    """Paths of the texts that programs were assembled from."""
    named = [given.text("text")] if "text" in given else []
    return [_path(given, one, "texts") for one in (*named, *given.texts("texts"))]


class Debuggee:
    """What is stepped through: lanes that go on together. first: the number of the one that was asked for."""

    def __init__(self, lanes: list[Lane], first: int) -> None:
        self.lanes, self.first, self.group = lanes, first, Group(lanes, first)

    @property
    def main(self) -> Lane:
        return self.lanes[self.first]


def launched(one: Configuration, working: Working) -> Debuggee:
    """Open what a configuration names, and trace the lane that it asks for. working: around long work.

    :raises PocketGPUError: it cannot be opened or traced.
    """
    gc.unfreeze()  # what an earlier launch made
    with working(f"opening {os.path.basename(one.path)}"):
        made = _in_capture(one) if one.what == "capture" else _in_file(one)
    made.group.working = working
    _ = made.main.trace  # now: what is wrong with it is the answer to the launch
    return made


# -- captures ---------------------------------------------------------------------------------------------------------
def _in_capture(one: Configuration) -> Debuggee:
    from pocketgpu.inspect.inspection import debug
    from pocketgpu.inspect.model.address import Address

    wanted = Address.parse(one.values.text("address")).at(step=None)
    switches = {name: str(value) for name, value in one.values.part("switches").items()}
    run = debug(one.path, switches or None)
    texts = _texts(one.values)
    if texts:
        run.use_texts(texts)
    address, lanes, together = _lanes_of(run, wanted)
    most = run.most_traced if one.most is None else one.most
    first = lanes.index(address)
    makers = [partial(_in_warp, run, address, most, first, n) if together else partial(_by_itself, run, at, most)
              for n, at in enumerate(lanes)]  # fmt: skip
    return Debuggee([Lane(str(at), make) for at, make in zip(lanes, makers, strict=True)], first)


def _lanes_of(run: Inspection, wanted: Address) -> tuple[Address, list[Address], bool]:
    """The run that an address names, those beside it, and whether they are lanes of one warp. For a pixel of a picture,
    what the fragment ran that gave it its colour; where pixels have no programs, the vertices of that primitive.

    :raises UsageError: it names no run of a program.
    """
    if wanted.names_event or wanted.pixel is None:
        return wanted, run.lanes_at(wanted), True
    touch = run.answered(wanted).last
    runs = [] if touch is None else [one.address for one in touch.programs if not one.parts]
    if not runs:
        raise UsageError(
            "no program that can be stepped through gave this pixel its colour", location=str(wanted),
            hint="'pocketgpu why' says what did.",
        )  # fmt: skip
    pixel = next((one for one in runs if one.pixel is not None), None)
    if pixel is not None:
        return pixel, run.lanes_at(pixel), True
    return runs[0], runs, False


def _in_warp(
    run: Inspection, named: Address, most: int, first: int, number: int, overrides: Forced,
    others: Mapping[int, Forced], keep: Sequence[Range] | None,
) -> Trace:  # fmt: skip
    """The trace of a lane of the warp or quad that a lane is in, which is number `first` of them."""
    return run.trace(named, most, overrides, _company(first, number, others, keep))


def _by_itself(
    run: Inspection, address: Address, most: int, overrides: Forced, others: Mapping[int, Forced],
    keep: Sequence[Range] | None,
) -> Trace:  # fmt: skip
    del others  # they make no difference to it
    return run.trace(address, most, overrides, _company(0, 0, {}, keep))


def _company(first: int, number: int, others: Mapping[int, Forced], keep: Sequence[Range] | None) -> Company:
    from pocketgpu.inspect.stepping.company import Company

    return Company(number - first, {other - first: forced for other, forced in others.items()}, keep)


# -- files ------------------------------------------------------------------------------------------------------------
def _in_file(one: Configuration) -> Debuggee:
    from pocketgpu.inspect.shaders.sources import read, text_of
    from pocketgpu.inspect.shaders.traces import Run, beside

    given = one.values
    args = given.texts("args")
    header = given.text("header", "")
    if header == "-" or any(_STANDARD_INPUT.match(text) for text in args):
        raise UsageError("the standard input is where the editor speaks", location="args", hint="Name a file.")
    run = Run(
        one.path, given.text("kernel", "") or None, (*_values(given, "inputs"), *_values(given, "uniforms")),
        _size(given, "grid"), _size(given, "block"), given.text("at", ""), tuple(args), given.number("shared", 0),
        text_of(read(header), header) if header else None, one.most, tuple(_texts(given)),
    )  # fmt: skip
    if one.what == "program" and not run.is_kernel:
        raise UsageError("this file has no kernels", location=one.path, hint='A shader of the 3DS is a "source".')
    if run.is_kernel and run.values:
        raise UsageError("a kernel has arguments, no inputs", location="inputs", hint='"args": ["zeros:1024"]')
    runs = beside(run)
    first = 0
    if len(runs) > 1:
        first = next(n for n, other in enumerate(runs) if _same(other.at, run.at or "b0/t0"))
    names = [other.at if run.is_kernel else os.path.basename(one.path) for other in runs]
    named = runs[first]
    return Debuggee([Lane(name, partial(_in_launch, named, first, n)) for n, name in enumerate(names)], first)


def _in_launch(
    run: Run, first: int, number: int, overrides: Forced, others: Mapping[int, Forced],
    keep: Sequence[Range] | None,
) -> Trace:  # fmt: skip
    """The trace of a thread of the warp that a thread is in, which is number `first` of them."""
    from pocketgpu.inspect.shaders.traces import trace_file

    return trace_file(run, overrides, _company(first, number, others, keep))[0]


def _same(a: str, b: str) -> bool:
    from pocketgpu.inspect.shaders.traces import place_of

    places = [[(*part, 0, 0)[:3] for part in place_of(text)] for text in (a, b)]
    return places[0] == places[1]


def _size(given: Arguments, name: str) -> str:
    """A size as text: "4,4", 4, or [4, 4]."""
    found: Any = given.value(name)
    if isinstance(found, list):
        return ",".join(str(one) for one in found[:4])
    return "" if found is None else str(found)[:60]


def _values(given: Arguments, name: str) -> list[str]:
    """Values of registers, as the command line writes them.

    :raises UsageError: a value is neither a number nor a list of numbers.
    """
    found = []
    values: Mapping[str, Any] = dict(given.part(name).items())
    for register, value in values.items():
        numbers = value if isinstance(value, list) else [value]
        if not numbers or not all(isinstance(one, int | float) or one in _SPECIAL for one in numbers):
            raise UsageError("this is neither a number nor a list of numbers", location=f"{name}.{register[:20]}")
        found.append(f"{register}={','.join(str(float(one)) for one in numbers)}")
    return found


__all__ = ["Configuration", "Debuggee", "launched", "read_configuration"]
