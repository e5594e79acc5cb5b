"""Vertices of draws, step by step: the trace ends with what the draw's own vertex side computes for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.capture.driver import Position
from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.n3ds.draw_watcher import DrawWatcher
from pocketgpu.inspect.n3ds.stepping import trace_draw
from pocketgpu.pica.core.layout import CHUNK
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.shader.interpreter import vertex_interpreter
from pocketgpu.pica.shader.shader_choices import rules_of
from pocketgpu.pica.vertex.fetch import shade_vertices


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest) -> Any:
    path = Path(__file__).resolve().parents[4] / "src" / "pocketgpu" / "data" / "sample.ctf.xz"
    if not path.is_file():
        pytest.skip("the sample is not built")
    return pocketgpu.debug(str(path))


class Comparing(DrawWatcher):
    """At each draw: some vertices as traces, and as the machine's compiled vertex side shades them."""

    def __init__(self, machine: Any) -> None:
        self.machine, self.compared, self.draws_seen = machine, 0, 0

    def look(self, packets: DrawPackets, numbers: range, go: Callable[[int, int], None]) -> None:
        work, runner = self.machine.work, self.machine.runner
        layout = work.layout
        handle = runner.engine.handle(
            vertex_interpreter, control=layout.control, rules=rules_of(dict(self.machine.choices))
        )
        shade = runner.engine.get(shade_vertices, **runner.static, choices=runner.fetch_choices)
        for place, number in enumerate(numbers):
            for vertex in (0, 4):
                trace = trace_draw(self.machine, packets, place, Address(0, draw=number, vertex=vertex), 4096)
                shade(work.packet(packets.start + place), vertex, 1, handle)
                rows = work.words(layout.shader_out, 64 * CHUNK, "<f4").reshape(16, 4, CHUNK)
                assert not trace.cut and np.array_equal(
                    trace.result[0].view(np.uint32), np.ascontiguousarray(rows[:, :, 0]).view(np.uint32)
                ), (number, vertex)
                self.compared += 1
        self.draws_seen += len(numbers)
        go(0, len(numbers))


def test_traces_of_a_frame_are_what_its_draws_shade(run: Any) -> None:
    comparing = Comparing(run.player.machine)
    run.player.go(Position(0))
    run.player.play_to(Position(1), comparing)
    assert comparing.draws_seen == len(run.draws(0)) and comparing.compared > 20


def test_looking_on_changes_nothing(run: Any) -> None:
    run.player.go(Position(1))
    plain = run.seek("f0").read(0x18000000, 0x600000)
    trace = run.trace("f0/d3/v5")
    assert trace[0].text.startswith("call") and trace.lane == "vertex 5"
    run.player.go(Position(0, run.event("f0/d3").number + 1))
    assert run.trace("f0/d3/v5").to_json() == trace.to_json()
    assert run.seek("f0").read(0x18000000, 0x600000) == plain


@pytest.mark.parametrize("name", ["geoshader", "loop_subdivision"])
def test_primitives_of_geometry_programs(name: str, shared_dir: Path) -> None:
    """A primitive's trace emits triangles, begins with outputs of vertices, and the draw leaves what it leaves."""
    captured = pocketgpu.debug(str(shared_dir / "captures" / "3ds" / f"{name}.ctf.xz"))
    staged = 0
    for draw in captured.draws(0):
        try:
            trace = captured.trace(f"{draw.address}/t0")
        except UsageError as error:
            assert "has no geometry program" in error.message
            continue
        staged += 1
        emitted = [step.emitted for step in trace if step.emitted is not None]
        assert emitted and any(one.primitive for one in emitted) and not trace.cut
        if name == "geoshader":  # the program's first inputs are the outputs of the first vertex
            outputs = captured.trace(f"{draw.address}/v0").result[0]
            assert np.array_equal(trace.at(0).vector("v0"), tuple(outputs[0]))
        machine = captured.player.machine
        after = captured.seek(draw.address).read(0x18000000, 0x600000)
        captured.trace(f"{draw.address}/t0")
        assert machine.memory.read(0x18000000, 0x600000) == after
        with pytest.raises(UsageError, match=r"ran for \d+ primitives?"):
            captured.trace(f"{draw.address}/t99999")
    assert staged


def test_what_is_no_vertex_is_refused(run: Any) -> None:
    with pytest.raises(UsageError, match="the draw has 1920 vertices"):
        run.trace("f0/d3/v1920")
    with pytest.raises(UsageError, match="names no vertex or primitive"):
        run.trace("f0/d3")
    assert len(run.trace("f0/d3/v5", most=3)) == 3


def test_the_command(sample_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not sample_path.is_file():
        pytest.skip("the sample is not built")
    assert main(["shader", "step", str(sample_path), "f0/d3/v5", "--to", "1"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("vertex program, vertex 5: 9 steps  f0/d3/v5\n") and "dp4 o0.x, c0, v0" in out
    assert main(["shader", "step", str(sample_path), "f0/d3/v5", "--grid", "2"]) == 2
    assert main(["shader", "step", str(sample_path), "f0/px3,4"]) == 2
