"""How the words of each console are gathered and decoded, and what their rows have: one table, asked by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from pocketgpu.in_steps import InSteps
from pocketgpu.inspect.decode.rows import Rows
from pocketgpu.inspect.decode.stream import Stream
from pocketgpu.late_dataclass import dataclass

Choices = Mapping[str, str] | None


class Tracing(Protocol):
    """Decodes a stream, in steps. tolerant: what makes no sense is garbage, and decoding goes on after it."""

    def __call__(
        self, stream: Stream, tolerant: bool, macros: bool, choices: Choices, evaluator: str
    ) -> InSteps[Rows]: ...


@dataclass(frozen=True, slots=True)
class Console:
    """gathering: the words of a parsed capture, with choices of the machine that runs it. tracing: the rows of a
    stream. address_digits: hexadecimal digits of an address. has_subchannels: whether rows name a subchannel."""

    gathering: Callable[[Any, Choices], InSteps[Stream]]
    tracing: Tracing
    address_digits: int
    has_subchannels: bool


def _gathering_3ds(trace: Any, choices: Choices) -> InSteps[Stream]:
    from pocketgpu.inspect.decode import n3ds

    return n3ds.gathering(trace, choices)


def _tracing_3ds(
    stream: Stream, tolerant: bool, macros: bool, choices: Choices, evaluator: str
) -> InSteps[Rows]:
    from pocketgpu.inspect.decode.pica_tracer import PicaTracer

    return PicaTracer(stream, tolerant, choices, evaluator).tracing()


def _gathering_switch(trace: Any, choices: Choices) -> InSteps[Stream]:
    from pocketgpu.inspect.decode import switch

    return switch.gathering(trace, choices)


def _tracing_switch(
    stream: Stream, tolerant: bool, macros: bool, choices: Choices, evaluator: str
) -> InSteps[Rows]:
    from pocketgpu.inspect.decode.maxwell_tracer import MaxwellTracer

    return MaxwellTracer(stream, tolerant, macros, choices, evaluator).tracing()


# Imported late, each by itself: the kernels of both consoles would take their time.
CONSOLES: Final[Mapping[str, Console]] = {
    "3DS": Console(_gathering_3ds, _tracing_3ds, address_digits=8, has_subchannels=False),
    "Switch": Console(_gathering_switch, _tracing_switch, address_digits=10, has_subchannels=True),
}

__all__ = ["CONSOLES", "Console"]
