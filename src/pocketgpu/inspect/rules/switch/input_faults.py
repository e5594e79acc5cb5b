"""Faults of what a draw reads: attributes that do not fit their streams, ends of buffers, targets that overlap inputs.

Each is (id of the rule, text), as in `draw_faults.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from pocketgpu.facts.maxwell.formats import PixelLayout
from pocketgpu.inspect.model.event import Range
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.engines.threed.vertices import MAX_VERTICES, Attribute, Stream, attributes
from pocketgpu.maxwell.graphics.draw.plans import Plan
from pocketgpu.maxwell.graphics.output.targets import Target
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory

Fault = tuple[str, str]
_GENERIC, _GENERIC_END, _VECTOR = 0x80, 0x280, 16
"""Addresses of the attributes in attribute space, and bytes of one."""
_BYTE = 8
_ATTRIBUTE = "attribute"
"""How the names of attributes begin."""


def input_faults(draw: Draw, plan: Plan) -> Iterator[Fault]:
    """Attributes that the vertex program reads and that their streams cannot give."""
    program = plan.programs[plan.first]
    read = {(a - _GENERIC) // _VECTOR for a in program.header.inputs if _GENERIC <= a < _GENERIC_END}
    for one in attributes(draw.state):
        if one.number in read and one.active and one.stream not in draw.streams:
            yield "switch.stream-off", (
                f"the vertex program reads attribute {one.number}, whose stream {one.stream} is off "
                f"({_register(one.stream, 'FORMAT')}.ENABLE): it is 0"
            )
    several = draw.count > 1
    for one, stream in _attributes_read(draw, read):
        assert one.format is not None
        yield from _misplaced(one, one.format, stream, several)
    yield from _beyond_limits(draw, read)


def _register(stream: int, part: str) -> str:
    """The name of a register of a vertex stream: "SET_VERTEX_STREAM_A_FORMAT(3)". Its part is FORMAT, LOCATION or
    LIMIT."""
    half = "AB"[stream >> 4]
    name = {"FORMAT": f"{half}_FORMAT", "LOCATION": f"{half}_LOCATION_A", "LIMIT": f"LIMIT_{half}_A"}[part]
    return f"SET_VERTEX_STREAM_{name}({stream & 15})"


def _attributes_read(draw: Draw, read: set[int]) -> Iterator[tuple[Attribute, Stream]]:
    for one in draw.attributes:
        if one.number in read and one.format is not None:
            yield one, draw.streams[one.stream]


def alignment(format: PixelLayout) -> int:
    """Bytes that a component has, or the whole format if components are not whole bytes."""
    widths = [component.width for component in format.components]
    return format.bytes if any(width % _BYTE for width in widths) else max(widths) // _BYTE


def _misplaced(one: Attribute, format: PixelLayout, stream: Stream, several: bool) -> Iterator[Fault]:
    """An attribute that reaches into the next vertex, or that begins within a component."""
    end = one.offset + format.bytes
    register = f"SET_VERTEX_ATTRIBUTE_{'AB'[one.number >> 4]}({one.number & 15})"
    if 0 < stream.stride < end and several:
        yield "switch.vertex-stride", (
            f"attribute {one.number} ends at byte {end} of a vertex ({register}), and the next vertex of stream "
            f"{stream.number} begins at byte {stream.stride} ({_register(stream.number, 'FORMAT')})"
        )
    size = alignment(format)
    for what, value, name in (
        ("begins at", stream.address + one.offset, f"{register}, {_register(stream.number, 'LOCATION')}"),
        ("has vertices of", stream.stride if several else 0, _register(stream.number, "FORMAT")),
    ):
        if value % size:
            told = f"{value:#x}" if what == "begins at" else f"{value} bytes"
            yield "switch.vertex-align", (
                f"attribute {one.number} {what} {told}, no multiple of the {size} bytes of a component ({name})"
            )
            return


def _beyond_limits(draw: Draw, read: set[int]) -> Iterator[Fault]:
    """Indices and vertices beyond the limits of their buffers."""
    state = draw.state
    if draw.index_bytes and draw.count:
        end = state.address("SET_INDEX_BUFFER_A") + draw.index_bytes * (draw.first + draw.count)
        limit = state.address("SET_INDEX_BUFFER_C")
        if end - 1 > limit:
            yield "switch.index-limit", (
                f"indices end at {end:#x}, and the buffer at {limit + 1:#x} (SET_INDEX_BUFFER_C)"
            )
            return
    if not 0 < draw.count <= MAX_VERTICES or not len(draw.vertex_numbers):
        return
    last = int(draw.vertex_numbers.max())
    for one, stream in _attributes_read(draw, read):
        if stream.instanced or one.format is None:
            continue
        end = stream.address + stream.stride * last + one.offset + one.format.bytes
        if end - 1 > stream.limit:
            yield "switch.vertex-limit", (
                f"attribute {one.number} of vertex {last} ends at {end:#x}, and stream {one.stream} at "
                f"{stream.limit + 1:#x} ({_register(stream.number, 'LIMIT')}): it is 0"
            )


# -- targets that overlap inputs --------------------------------------------------------------------------------------
def _inputs(draw: Draw, plan: Plan) -> Iterator[tuple[str, Range]]:
    """What a draw reads besides textures and constants, with its bytes."""
    if draw.index_bytes and draw.count:
        start = draw.state.address("SET_INDEX_BUFFER_A") + draw.first * draw.index_bytes
        yield "the indices", Range(start, draw.index_bytes * draw.count)
    for shader in draw.shaders:
        program = plan.programs.get(shader.stage)
        if program is not None:
            yield "a program", Range(shader.address, len(program.code.data))
    if not 0 < draw.count <= MAX_VERTICES or not len(draw.vertex_numbers):
        return
    first, last = int(draw.vertex_numbers.min()), int(draw.vertex_numbers.max())
    for one in draw.attributes:
        stream = draw.streams[one.stream]
        if stream.instanced or one.format is None:
            continue
        start = stream.address + stream.stride * first + one.offset
        end = min(stream.address + stream.stride * last + one.offset + one.format.bytes, stream.limit + 1)
        if end > start:
            yield f"{_ATTRIBUTE} {one.number} of stream {one.stream}", Range(start, end - start)


def _written(plan: Plan) -> list[Target]:
    """The targets that a draw can change."""
    key, zeta = plan.output.test_key, plan.output.zeta
    return [*plan.output.colours, *([zeta] if zeta is not None and (key.depth_write or key.stencil_test) else [])]


def overwritten_inputs(memory: GpuMemory, draw: Draw, plan: Plan) -> Iterator[Fault]:
    """Inputs whose bytes are those of a target that the same draw writes, also where two addresses show one byte."""
    if not plan.rasters:
        return
    targets = [(target, place) for target in _written(plan)
               if (place := memory.offset_of(target.address, target.size)) is not None]  # fmt: skip
    if not targets:
        return
    told: set[tuple[str, str]] = set()
    for what, where in _inputs(draw, plan):
        start = memory.offset_of(where.address, where.size)
        for target, place in targets:
            overlaps = start is not None and place < start + where.size and start < place + target.size
            if overlaps and (what, target.name) not in told:
                told.add((what, target.name))
                yield "switch.target-input", (
                    f"{what} at {where} {'overlap' if what.startswith('the ') else 'overlaps'} the {target.name} at "
                    f"{Range(target.address, target.size)}, which the draw writes"
                )


def shared_inputs(
    memory: GpuMemory, draw: Draw, plan: Plan, textures: Sequence[Range]
) -> Iterator[Fault]:  # fmt: skip
    """Bytes that a draw reads in two ways, such as indices and vertices. textures: the texels that it sampled."""
    kinds = [(what, where) for what, where in _inputs(draw, plan)] + [("a texture", where) for where in textures]
    found = [
        (what, where, offset)
        for what, where in kinds
        if (offset := memory.offset_of(where.address, where.size)) is not None
    ]
    told: set[tuple[str, str]] = set()
    for (what, where, offset), (other, range_, start) in combinations(found, 2):
        # Attributes are often interleaved.
        same = what == other or (what.startswith(_ATTRIBUTE) and other.startswith(_ATTRIBUTE))
        if not same and offset < start + range_.size and start < offset + where.size and (what, other) not in told:
            told.add((what, other))
            yield "switch.two-uses", f"{what} at {where} and {other} at {range_} have bytes in common"


__all__ = ["Fault", "alignment", "input_faults", "overwritten_inputs", "shared_inputs"]
