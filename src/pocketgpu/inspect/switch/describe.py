"""Descriptions of events: records of engines as text, as facts for JSON, and as ranges of memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.formats.mxcap import ChunkRecord, Present
from pocketgpu.digests import blake2b
from pocketgpu.events import sized
from pocketgpu.facts.maxwell import B0B5, B197, TWOD
from pocketgpu.facts.maxwell.formats import TWOD as TWOD_FORMATS
from pocketgpu.inspect.model.event import Range, Words
from pocketgpu.inspect.switch.passes import TargetKey
from pocketgpu.inspect.switch.surfaces import Surface, shown_surface, surface_of, targets_of, targets_read
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.action_log import Blit, Clear, Copy, Report, Upload
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.compute.launch import Launch
from pocketgpu.maxwell.engines.copy.dma import DmaCopy, TransferPlan
from pocketgpu.maxwell.engines.inline.inline_unit import InlineUnit
from pocketgpu.maxwell.engines.threed.draws import STAGES, Draw, shaders_of
from pocketgpu.maxwell.engines.threed.vertices import streams as streams_of
from pocketgpu.maxwell.engines.twod.engine import BlitPlan, TwoD
from pocketgpu.maxwell.formats.samples import samples_of
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.output.targets import Target, colour_target, depth_target
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.layout import CLASS_FILES
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide
from pocketgpu.wording import counted

Ranges = tuple[Range, ...]
T = TypeVar("T")


@dataclass
class Description:
    """The description of an event. target: what it draws to or clears. surfaces: those that it writes. plan: of a blit
    or a copy."""

    kind: str
    title: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    writes: tuple[Range, ...] = ()
    reads: tuple[Range, ...] = ()
    words: Words | None = None
    target: TargetKey | None = None
    surfaces: tuple[Surface, ...] = ()
    plan: Any = None


def load(chunks: Sequence[ChunkRecord], number: int) -> Description:
    """Memory that the processor wrote before a submission."""
    size = sum(len(chunk.data) for chunk in chunks)
    ranges = tuple(Range(chunk.gpu_va, len(chunk.data)) for chunk in chunks)
    digest = blake2b(digest_size=16)
    for chunk in chunks:
        digest.update(chunk.gpu_va.to_bytes(8, "little") + len(chunk.data).to_bytes(8, "little"))
        digest.update(chunk.data)
    facts = {"submission": number, "runs": len(chunks), "bytes": size, "digest": digest.hexdigest()}
    return Description(
        "load", f"the processor writes {counted(size, 'byte')} in {counted(len(chunks), 'place')}", facts, ranges
    )


def submission(number: int, entries: int) -> Description:
    """A submission that begins."""
    return Description(
        "submission",
        f"submission {number}: {counted(entries, 'piece')} of pushbuffer",
        {"submission": number, "entries": entries},
    )


def show(present: Present, frame: int) -> Description:
    """A surface that is shown."""
    surface = shown_surface(present)
    width, height = present.width - present.left, present.height - present.top
    facts = {
        "address": f"{present.gpu_va:#x}", "width": width, "height": height, "format": present.format,
        "transform": present.transform,
    }  # fmt: skip
    unseen = present.handle is not None and not present.gpu_va
    where = "in memory that the GPU does not see" if unseen else f"at {present.gpu_va:#x}"
    part = f", from pixel {present.left},{present.top} on" if present.left or present.top else ""
    title = f"{sized(width, height)} {present.format} {where} is shown{part}"
    return Description("show", title, facts, reads=(Range(surface.address, present.size),))


def record(what: Any, channel: Channel) -> Description:
    """Describe what an engine has just done, from its record."""
    for kind, describe in _KINDS.items():
        if isinstance(what, kind):
            found: Description = describe(what, channel)
            return found
    return Description("report", type(what).__name__, {"place": getattr(what, "place", "")})


def stores(machine: GM20B) -> bool:
    """Whether programs of the last draw can write memory."""
    plan = machine.drawing.plan if machine.has_drawn else None
    return plan is not None and (plan.stores or plan.streams)


def _draw(draw: Draw, channel: Channel) -> Description:
    state = draw.state
    drawn, read = _drawn_to(state), _read_by(state)
    name = draw.topology_name.replace("_", " ").lower()
    title = f"{name}, {draw.count} {'indices' if draw.indexed else 'vertices'}"
    if draw.instance:
        title += f", instance {draw.instance}"
    facts: dict[str, Any] = {
        "place": draw.place, "method": draw.method, "topology": draw.topology_name, "first": draw.first,
        "count": draw.count, "index_bytes": draw.index_bytes, "instance": draw.instance,
        "base_vertex": draw.base_vertex, "base_instance": draw.base_instance,
        "programs": dict(read.programs), "targets": [dict(one) for one in drawn.facts],
    }  # fmt: skip
    reads = [*drawn.reads, *read.streams]
    if draw.index_bytes:
        start = state.address("SET_INDEX_BUFFER_A") + draw.first * draw.index_bytes
        reads.append(Range(start, draw.count * draw.index_bytes))
    for group in read.groups:
        if group < len(draw.constants):
            reads += [Range(one.address, one.size) for one in draw.constants[group] if one is not None and one.size]
    once = tuple(dict.fromkeys(reads))
    return Description("draw", title, facts, drawn.writes, once, target=drawn.key, surfaces=drawn.surfaces)


class _Last(Generic[T]):
    """Keeps what was made of the registers of the last draw: for most draws it is the same as for the one before."""

    def __init__(self, make: Callable[[State], T]) -> None:
        self._make = make
        self._last: tuple[NDArray[np.int64], bytes, T] | None = None  # registers that it depends on, their values

    def __call__(self, state: State) -> T:
        last = self._last
        if last is None or state.peek(last[0]) != last[1]:
            recording = state.recording()
            made = self._make(recording)
            last = self._last = recording.places, state.peek(recording.places), made
        return last[2]


@dataclass(frozen=True)
class _Drawn:
    """What draws write with some registers. reads: those of the targets that they read."""

    facts: tuple[dict[str, Any], ...]
    writes: Ranges
    reads: Ranges
    surfaces: tuple[Surface, ...]
    key: TargetKey


def _targets(state: State) -> _Drawn:
    targets = targets_of(state)
    facts = tuple(
        {
            "name": target.name, "address": f"{target.address:#x}", "format": target.format.name,
            "width": target.width, "height": target.height,
        }
        for target in targets
    )  # fmt: skip
    depth_changes = (
        state.field("SET_DEPTH_TEST", "ENABLE") and state.field("SET_DEPTH_WRITE", "ENABLE")
    ) or state.field("SET_STENCIL_TEST", "ENABLE")
    writes = tuple(Range(t.address, t.size) for t in targets if t.slot is not None or depth_changes)
    surfaces = tuple(surface_of(target, samples_of(state)) for target in targets)
    return _Drawn(facts, writes, targets_read(state), surfaces, _key_of(targets))


@dataclass(frozen=True)
class _Read:
    """What draws read with some registers. programs: addresses by stage; groups: of constant buffers."""

    programs: Mapping[str, str]
    groups: frozenset[int]
    streams: Ranges


def _inputs(state: State) -> _Read:
    shaders = shaders_of(state)
    streams = tuple(
        Range(stream.address, stream.limit + 1 - stream.address)
        for stream in streams_of(state).values() if stream.limit >= stream.address
    )  # fmt: skip
    return _Read(
        {STAGES[shader.stage]: f"{shader.address:#x}" for shader in shaders},
        frozenset(shader.group for shader in shaders), streams,
    )  # fmt: skip


_drawn_to, _read_by = _Last(_targets), _Last(_inputs)


def _key(state: State) -> TargetKey:
    return _key_of(targets_of(state))


def _key_of(targets: Sequence[Target]) -> TargetKey:
    texts = [f"{t.name} {sized(t.width, t.height)} {t.format.name} at {t.address:#x}" for t in targets]
    return TargetKey(", ".join(texts) or "no target", tuple(t.address for t in targets))


def _clear(clear: Clear, channel: Channel) -> Description:
    state, channels = state_3d(channel), clear.channels
    colour = "".join(c for c in channels if c in "rgba")
    parts = []
    if colour:
        parts.append(f"colour target {clear.slot}" + (f" ({colour})" if colour != "rgba" else ""))
    parts += [name for letter, name in (("z", "depth"), ("s", "stencil")) if letter in channels]
    left, top, right, bottom = clear.rectangle
    title = f"clear of {' and '.join(parts) or 'nothing'}, {sized(right - left, bottom - top)} pixels"
    facts = {
        "place": clear.place, "slot": clear.slot, "channels": channels, "rectangle": list(clear.rectangle),
        "layer": clear.layer, "format": clear.format, "address": f"{clear.address:#x}",
        "colour": [f"{word:#010x}" for word in clear.colour], "depth": clear.depth, "stencil": clear.stencil,
    }  # fmt: skip
    cleared = []
    if colour and clear.slot is not None:
        cleared.append(colour_target(state, clear.slot, False, []))
    if channels.strip("rgba"):
        cleared.append(depth_target(state, False, []))
    surfaces = tuple(surface_of(one, samples_of(state), clear.layer) for one in cleared if one is not None)
    writes = [Range(one.address, one.size) for one in surfaces]
    return Description("clear", title, facts, tuple(writes), target=_key(state), surfaces=surfaces)


def state_3d(channel: Channel) -> State:
    """The live registers of the 3D class."""
    return State(B197, channel.files[CLASS_FILES.index(B197.class_id)])


def dma_plan(channel: Channel) -> TransferPlan | None:
    """The plan of the copy engine's last transfer; None without one."""
    engine = channel.engines[CLASS_FILES.index(B0B5.class_id)]
    assert isinstance(engine, DmaCopy)
    return engine.plan


def blit_plan(channel: Channel) -> BlitPlan | None:
    """The plan of the 2D engine's last blit; None without one."""
    engine = channel.engines[CLASS_FILES.index(TWOD.class_id)]
    assert isinstance(engine, TwoD)
    return engine.plan


def _reach(side: SurfaceSide, width: int, lines: int) -> tuple[Range, ...]:
    low, high = side.reach(width, lines)
    return (Range(max(low, 0), high - max(low, 0)),) if high > max(low, 0) else ()


def _copy(copy: Copy, channel: Channel) -> Description:
    size = copy.line_length * copy.lines * copy.unit
    fill = copy.kind == "fill"
    title = f"fill of {counted(size, 'byte')} at {copy.target:#x}" if fill else (
        f"copy of {counted(size, 'byte')}, {copy.source:#x} ({copy.source_layout}) to {copy.target:#x} "
        f"({copy.target_layout})"
    )  # fmt: skip
    facts = {
        "place": copy.place, "kind": copy.kind, "source": f"{copy.source:#x}", "target": f"{copy.target:#x}",
        "source_layout": copy.source_layout, "target_layout": copy.target_layout, "line_length": copy.line_length,
        "lines": copy.lines, "unit": copy.unit,
    }  # fmt: skip
    plan = dma_plan(channel)
    writes: Ranges = (Range(copy.target, copy.line_length * copy.unit),)
    reads: Ranges = (Range(copy.source, copy.line_length * copy.unit),)
    if plan is not None and plan.columns and plan.rows:
        writes = _reach(plan.sides[1], plan.columns * plan.target.element, plan.rows)
        reads = _reach(plan.sides[0], plan.columns * plan.source.element, plan.rows)
    return Description("fill" if fill else "copy", title, facts, writes, () if fill else reads, plan=plan)


def _blit(blit: Blit, channel: Channel) -> Description:
    width, height = blit.rectangle[2:]
    title = f"blit of {sized(width, height)} pixels, {blit.source:#x} ({blit.source_format}) to {blit.target:#x} "
    title += f"({blit.target_format}), {blit.filter}"
    facts = {
        "place": blit.place, "source": f"{blit.source:#x}", "target": f"{blit.target:#x}",
        "source_format": blit.source_format, "target_format": blit.target_format, "rectangle": list(blit.rectangle),
        "origin": list(blit.origin), "steps": list(blit.steps), "filter": blit.filter, "operation": blit.operation,
    }  # fmt: skip
    plan = blit_plan(channel)
    writes: Ranges = ()
    reads: Ranges = ()
    if plan is not None and plan.copy is not None:
        source, target, line = plan.copy
        writes, reads = _reach(target, line, plan.size[1]), _reach(source, line, plan.size[1])
    elif plan is not None and plan.target is not None and plan.source is not None and plan.columns is not None:
        ends = (plan.target, plan.writes), (plan.source, plan.reads)
        writes, reads = ((Range(plane.va + low, high - low),) for plane, (low, high) in ends)
    surfaces: tuple[Surface, ...] = ()
    if plan is not None and plan.target is not None:
        state = State(TWOD, channel.files[CLASS_FILES.index(TWOD.class_id)])
        size = state.word("SET_DST_WIDTH"), state.word("SET_DST_HEIGHT")
        surfaces = (Surface("target of the blit", plan.target, TWOD_FORMATS.named(blit.target_format), *size),)
    return Description("transfer", title, facts, writes, reads, surfaces=surfaces, plan=plan)


def _upload(upload: Upload, channel: Channel) -> Description:
    size = upload.line_length * upload.lines
    title = f"{counted(size, 'byte')} of the pushbuffer to {upload.target:#x}"
    facts = {
        "place": upload.place, "class": f"{upload.class_id:04x}", "target": f"{upload.target:#x}",
        "layout": upload.layout, "line_length": upload.line_length, "lines": upload.lines,
    }  # fmt: skip
    writes: Ranges = (Range(upload.target, size),)
    engine = channel.engines.get(CLASS_FILES.index(upload.class_id)) if upload.class_id in CLASS_FILES else None
    unit = getattr(engine, "inline", None)
    if isinstance(unit, InlineUnit) and upload.lines:
        side = unit.side(upload.layout == "pitch")
        writes = _reach(side, upload.line_length, upload.lines)
    return Description("upload", title, facts, writes)


def _launch(launch: Launch, channel: Channel) -> Description:
    grid, block = ("x".join(map(str, sizes)) for sizes in (launch.grid, launch.block))
    title = f"{counted(grid, 'block')} of {counted(block, 'thread')}, program {launch.program:#x}"
    facts: dict[str, Any] = {
        "place": launch.place, "grid": list(launch.grid), "block": list(launch.block),
        "program": f"{launch.program:#x}", "qmd": f"{launch.address:#x}", "shared_bytes": launch.shared_bytes,
        "constants": {
            str(bank): {"address": f"{one.address:#x}", "size": one.size}
            for bank, one in enumerate(launch.constants) if one is not None
        },
    }  # fmt: skip
    if launch.result is not None:
        facts["steps"] = launch.result.steps
    reads = tuple(Range(one.address, one.size) for one in launch.constants if one is not None and one.size)
    return Description("launch", title, facts, (), (Range(launch.address, 4 * len(launch.qmd)), *reads))


def _report(report: Report, channel: Channel) -> Description:
    what = f" {report.report}" if report.report else ""
    title = f"{report.operation}{what}: {report.value:#x} to {report.address:#x}"
    facts = {
        "place": report.place, "operation": report.operation, "address": f"{report.address:#x}",
        "report": report.report, "value": f"{report.value:#x}",
    }  # fmt: skip
    written = report.operation not in ("acquire", "trap")
    return Description("report", title, facts, (Range(report.address, 16),) if written else ())


_KINDS: dict[type, Any] = {
    Draw: _draw, Clear: _clear, Copy: _copy, Blit: _blit, Upload: _upload, Launch: _launch, Report: _report,
}  # fmt: skip
"""The describing function of each kind of record."""
