"""Tessellation and geometry programs, step by step: a trace ends with what the machine's own kernels left in pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.switch_inspect import SCENES, look_into

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import LATE, Address
from pocketgpu.inspect.stepping import Trace
from pocketgpu.inspect.switch.inspection import SwitchInspection
from pocketgpu.inspect.switch.primitives.later import LATE_PROGRAMS, late_programs
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.graphics.records import PAGE_DUMP, PRIMITIVE_ID, PRIMITIVES, VERTICES
from pocketgpu.maxwell.graphics.stages.geometry import GEOMETRY
from pocketgpu.maxwell.graphics.stages.late_stages import CONTROL, EVALUATION
from pocketgpu.maxwell.graphics.stages.late_stages import GEOMETRY as GEOMETRY_STAGE
from pocketgpu.maxwell.graphics.stages.tessellation import TESSELLATION
from pocketgpu.maxwell.host.observer import Observer
from pocketgpu.maxwell.sass.thread_memory.work import LANES, LAUNCH

STORE = re.compile(r"(?:@!?P\d\s+)?AST(?:\.(32|64|96|128))? a\[(?:R\d+(?:\.reuse)?\+)?0x([0-9a-f]+)\], R(\d+)")
Words = dict[int, int]
"""Words of attribute space that a run wrote, by their addresses."""


class Pages(Observer):
    """Keeps what the stages of a draw wrote for its first list of primitives: words by the late part of addresses."""

    wants_shapes = True

    def __init__(self) -> None:
        self.found: dict[tuple[int, str, int], list[Words]] = {}
        self._seen = False

    def shapes_ready(self, plan: Any) -> None:
        if self._seen:
            return
        self._seen = True
        stages, late = set(plan.programs), self.machine.drawing.late
        for stage in late_programs(stages):
            {CONTROL: self._threads, EVALUATION: self._points, GEOMETRY_STAGE: self._runs}[stage](late)

    def _words(self, at: int, count: int = 1) -> np.ndarray:
        return self.machine.memory.arena[at : at + 4 * count].view(np.int32)

    def _of(self, record: int, layout: Any) -> Any:
        return lambda name, n=0: int(self._words(record + layout.offsets[name] + 4 * n)[0])

    def _page(self, stage: int, page: int, lane: int) -> Words:
        launch = self.machine.drawing.programs.stages[stage].record
        table = self._words(int(self._words(launch + LAUNCH.OUT_MAP)[0]), 256)
        return {
            4 * n: int(self._words(page + at + 4 * lane)[0]) & 0xFFFFFFFF
            for n, at in enumerate(table.tolist()) if at > PAGE_DUMP
        }  # fmt: skip

    def _column(self, record: int) -> np.ndarray:
        columns, stride, count = (
            int(self._words(record + at)[0]) for at in (PRIMITIVES.COLUMNS, PRIMITIVES.STRIDE, PRIMITIVES.COUNT)
        )
        return self._words(columns + PRIMITIVE_ID * stride, count)

    def _threads(self, late: Any) -> None:
        get = self._of(late.tessellation.room.record, TESSELLATION)
        ids = self._column(get("PRIMITIVES_IN"))[get("FIRST") :][: get("COUNT")]
        for patch, primitive in enumerate(ids.tolist()):
            warp, own = divmod(patch, get("PER_WARP"))
            for thread in range(get("THREADS")):
                page, lane = get("CONTROL_PAGES") + warp * get("CONTROL_SIZE"), own * get("THREADS") + thread
                self.found[primitive, "tc", thread] = [self._page(CONTROL, page, lane)]

    def _points(self, late: Any) -> None:
        record = late.tessellation.room.record
        get = self._of(record, TESSELLATION)
        pages, size, count = (
            int(self._words(record + TESSELLATION.VERTICES + at)[0])
            for at in (VERTICES.PAGES, VERTICES.PAGE_SIZE, VERTICES.COUNT)
        )
        ids, counts = self._column(get("PRIMITIVES_IN")), {}
        for point, patch in enumerate(self._words(get("POINT_PATCH"), count).tolist()):
            number = counts[patch] = counts.get(patch, -1) + 1
            page = pages + point // LANES * size
            self.found[int(ids[get("FIRST") + patch]), "te", number] = [self._page(EVALUATION, page, point % LANES)]

    def _runs(self, late: Any) -> None:
        record = late.geometry.room.record
        get = self._of(record, GEOMETRY)
        pages, size = (
            int(self._words(record + GEOMETRY.VERTICES + at)[0]) for at in (VERTICES.PAGES, VERTICES.PAGE_SIZE)
        )
        counts: dict[int, int] = {}
        assert get("FIRST") == 0
        if get("PASS"):  # such programs emit nothing: vertices pass through
            return
        for row, primitive in enumerate(self._column(get("PRIMITIVES_IN")).tolist()):
            for invocation in range(get("INVOCATIONS")):
                number = counts[primitive] = counts.get(primitive, -1) + 1
                group, lane = divmod(row * get("INVOCATIONS") + invocation, LANES)
                at = get("EMITTED") + group * get("EMITTED_STRIDE") + 4 * lane
                emitted = min(int(self._words(at)[0]), get("MOST"))
                self.found[primitive, "gs", number] = [
                    self._page(GEOMETRY_STAGE, pages + (group * get("MOST") + vertex) * size, lane)
                    for vertex in range(emitted)
                ]  # fmt: skip


def wrote(trace: Trace, emits: bool) -> list[Words]:
    """What a run wrote: at its end, or at each vertex that it emits."""
    now: Words = {}
    found = []
    for step in trace:
        if step.skipped:
            continue
        store = STORE.match(step.text)
        if store is not None:
            registers = trace.at(step.index)
            for n in range(int(store[1] or 32) // 32):
                now[int(store[2], 16) + 4 * n] = registers.word(f"R{int(store[3]) + n}")
        assert store is not None or "AST" not in step.text or "AST.P " in step.text, step.text
        if emits and "OUT" in step.text and "EMIT" in step.text:
            found.append(dict(now))
    return found if emits else [now]


def compare(run: SwitchInspection, event: Any, most: int) -> set[str]:
    """Compare some runs of each program of a draw; the letters of those that were compared."""
    tick = run.tick_of(event.address)
    pages, compared = Pages(), set()
    run.player.go(run.player.at(tick - 1))
    run.player.play_to(run.player.at(tick), pages)
    names = sorted(pages.found)
    for letter in LATE:
        mine = [one for one in names if one[1] == letter]
        for primitive, _, number in [*mine[:most], *mine[-most:]]:
            address = event.address.at(primitive=primitive, late=(letter, number))
            trace = run.trace(address)
            assert not trace.cut and trace.address == str(address) and Address.parse(str(address)) == address
            ended = wrote(trace, letter == "gs")
            kept = pages.found[primitive, letter, number]
            assert len(ended) >= len(kept), address
            for told, left in zip(ended, kept, strict=False):
                for at in told.keys() & left.keys():
                    assert left[at] == told[at], (address, hex(at))
                    compared.add(letter)
            assert set(trace.visits.counts.tolist()) > {0} or len(trace) == trace.visits.counts.sum()
    return compared


def scenes() -> list[str]:
    """The scenes of the zoo about these programs."""
    return [name for name in SCENES if name == "all_stages" or "geometry" in name or "tessellation" in name]


@pytest.mark.parametrize("name", scenes())
def test_traces_end_with_what_the_kernels_left(name: str) -> None:
    run = look_into(name)
    compared: set[str] = set()
    for event in run.draws(0)[:12]:
        what = run.recorder.traces[run.tick_of(event.address) - 1].what
        assert isinstance(what, Draw)
        if not late_programs({one.stage for one in what.shaders}):
            continue
        compared |= compare(run, event, 2)
    assert compared


def test_points_of_a_patch_are_the_vertices_that_are_drawn(shared_dir: Path) -> None:
    """In a recording, with the programs as they are offered; looking on changes nothing."""
    run = pocketgpu.debug(str(shared_dir / "captures" / "switch" / "ex05_tessellation_320x180.mxcap.zip"))
    (event,) = run.draws(0)
    assert compare(run, event, 3) == {"tc", "te"}
    emitted = run.seek(event.address).vertices.emitted
    for number in range(0, len(emitted), 5):
        (ended,) = wrote(run.trace(f"{event.address}/t0/te{number}"), emits=False)
        place = np.array([ended[0x70 + 4 * n] for n in range(4)], np.uint32).view(np.float32)
        assert place.tolist() == emitted["position"][number].tolist()
    offered = {str(one) for one in run.programs_at(event.address)}
    assert {f"{name} program: {event.address}/tn/{letter}n" for name, letter in (
        ("tessellation control", "tc"), ("tessellation evaluation", "te"),
    )} < offered  # fmt: skip
    primitive = run.primitive(f"{event.address}/t0")
    assert primitive is not None
    runs = [str(one.address) for one in primitive.runs]
    assert runs == [f"{event.address}/{one}" for one in ("t0/te0", "t0/tc0", "v0", "v1", "v2")]
    # The primitive alone is a run of the last of these programs.
    assert run.trace(f"{event.address}/t0").lane == "primitive 0, point 0"
    plain = [one.array.tobytes() for one in run.seek("f0").screens.values()]
    assert len(run.trace(f"{event.address}/t0/tc1", most=3)) == 3
    assert [one.array.tobytes() for one in run.seek("f0").screens.values()] == plain
    for place, said in (
        ("t0/gs0", "no geometry program"), ("t0/te999", "no such run"), ("t9/tc0", "no such run"),
        ("t0/tc3", "no such run"), ("v0/t0/te0", "names no vertex, primitive or pixel"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=said):
            run.trace(f"{event.address}/{place}")


def test_addresses_of_later_programs() -> None:
    address = Address.parse("f1/d2/t3/gs4/s5")
    assert (address.primitive, address.late, address.step) == (3, ("gs", 4), 5) and str(address) == "f1/d2/t3/gs4/s5"
    assert [letter for letter, _ in LATE_PROGRAMS.values()] == [*LATE]
    with pytest.raises(UsageError, match="but no primitive"):
        Address.parse("f1/d2/gs4")
    with pytest.raises(UsageError, match="two parts"):
        Address.parse("f1/d2/t1/gs4/te1")
