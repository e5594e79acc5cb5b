"""Shader stepping: the instructions of one vertex, primitive or thread, forward and back.

    trace = trace_vertex(Program(code, descriptors), inputs, uniforms)
    for step in trace: print(step)
    trace.at(5)["r0.x"], trace.hits, trace.first_nan, trace.where("r0")

`n3ds.py` and `switch.py` make traces by watching the code that always runs programs. `trace.py` has the trace, the same
for both consoles.
"""

from __future__ import annotations

from pocketgpu.inspect.stepping.births import Birth
from pocketgpu.inspect.stepping.machines import pixel_of, vertex_of, watch_launches, watch_stage
from pocketgpu.inspect.stepping.n3ds import trace_primitive, trace_vertex
from pocketgpu.inspect.stepping.register_values import Value
from pocketgpu.inspect.stepping.step import Access, Change, Emitted, Step
from pocketgpu.inspect.stepping.switch import listing_of, trace_thread
from pocketgpu.inspect.stepping.trace import Registers, Trace
from pocketgpu.inspect.stepping.warps import LaneWatch

__all__ = [
    "Access",
    "Birth",
    "Change",
    "Emitted",
    "LaneWatch",
    "Registers",
    "Step",
    "Trace",
    "Value",
    "listing_of",
    "pixel_of",
    "trace_primitive",
    "trace_thread",
    "trace_vertex",
    "vertex_of",
    "watch_launches",
    "watch_stage",
]


def __dir__() -> list[str]:
    return [*__all__]
