"""The graph of a frame against a slow count of who wrote each byte last, and what it says of the samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import pocketgpu
from pocketgpu.cli.app import main
from pocketgpu.inspect.frames import frame_graph as graphs
from pocketgpu.inspect.frames.frame_graph import COVERS, READS, frame_graph
from pocketgpu.inspect.model.event import Event, Pass, Range

DATA = Path(__file__).resolve().parents[4] / "src" / "pocketgpu" / "data"


class Made:
    """Made-up events."""

    def __init__(self, events: list[Event]) -> None:
        self._events = events
        last = max((one.pass_ or 0 for one in events), default=0)
        self._passes = [Pass(0, n, f"target {n}", [one for one in events if one.pass_ == n]) for n in range(last + 1)]

    def events(self, frame: int) -> list[Event]:
        return self._events

    def passes(self, frame: int) -> list[Pass]:
        return self._passes

    def unit(self, event: Event) -> str:
        return event.kind


ranges = st.builds(Range, st.integers(0, 40), st.integers(0, 20))
some = st.lists(ranges, max_size=3).map(tuple)
steps = st.lists(
    st.tuples(st.sampled_from(["draw", "draw", "clear", "copy", "load", "list"]), st.integers(0, 2), some, some),
    max_size=12,
)


def made(rows: list[tuple[str, int, tuple[Range, ...], tuple[Range, ...]]]) -> Made:
    draws = 0
    events = []
    for number, (kind, pass_, reads, writes) in enumerate(rows):
        draw = None
        if kind == "draw":
            draw, draws = draws, draws + 1
        events.append(Event(0, number, kind, f"{kind} {number}", draw, pass_, {}, writes, reads))
    return Made(events)


@example([("draw", 0, (), (Range(0, 1),)), ("draw", 0, (Range(0, 1),), ()), ("load", 0, (Range(0, 1),), ())])
@given(steps)
def test_edges_are_those_of_a_count_byte_by_byte(rows: list[Any]) -> None:
    found = frame_graph(made(rows), 0)
    writer: dict[int, int] = {}
    nodes: list[str] = []
    wanted: dict[tuple[int, int, str], set[int]] = {}
    open_pass, processor = None, None
    for kind, pass_, reads, writes in rows:
        if kind == "list":
            continue
        if kind == "load":
            processor = len(nodes) if processor is None else processor
            node = processor
            if node == len(nodes):
                nodes.append("load")
        elif kind in ("draw", "clear") and open_pass is not None and open_pass[1] == pass_:
            node = open_pass[0]
        else:
            node = len(nodes)
            nodes.append("pass" if kind in ("draw", "clear") else kind)
            open_pass = (node, pass_) if kind in ("draw", "clear") else None
        for one in reads:
            for byte in range(one.address, one.end):
                if writer.get(byte, node) != node:
                    wanted.setdefault((writer[byte], node, READS), set()).add(byte)
        if kind in ("draw", "clear"):
            for one in writes:
                for byte in range(one.address, one.end):
                    if writer.get(byte, node) != node and (writer[byte], node, READS) not in wanted:
                        wanted.setdefault((writer[byte], node, COVERS), set()).add(byte)
        for one in writes:
            for byte in range(one.address, one.end):
                writer[byte] = node
    assert [one.kind for one in found.nodes] == nodes
    assert {(one.source, one.target, one.kind) for one in found.edges} == set(wanted)
    for edge in found.edges:
        bytes_ = {byte for one in edge.ranges for byte in range(one.address, one.end)}
        assert bytes_ <= wanted[edge.source, edge.target, edge.kind]
        assert sum(one.size for one in edge.ranges) == edge.size or len(edge.ranges) == graphs.MOST_RANGES


def test_long_frames_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "MOST_NODES", 5)
    found = frame_graph(made([("copy", 0, (), ())] * 9), 0)
    assert len(found.nodes) == 5 and found.left_out == 4


@pytest.mark.parametrize("sample", ["sample.ctf.xz", "sample_switch.mxcap.zip"])
def test_what_is_shown_comes_from_the_passes(sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    run = pocketgpu.debug(DATA / sample)
    found = frame_graph(run, 1)
    assert sum(one.draws for one in found.nodes) == len(run.draws(1))
    assert all(edge.source < edge.target or found.nodes[edge.source].kind == "load" for edge in found.edges)
    passes = [number for number, one in enumerate(found.nodes) if one.kind == "pass"]
    read = {edge.source for edge in found.edges if edge.kind == READS}
    assert len(passes) >= 2 and read.issuperset(passes)  # every pass is read by a transfer, a draw or the display
    for node in found.nodes:
        assert run.event(node.last).frame == 1
        run.seek(node.address)
    assert main(["events", str(DATA / sample), "f1", "--graph"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == str(found)


def test_a_draw_of_the_switch_reads_its_textures() -> None:
    """Textures are found by the handles that its programs name; the water of the sample shows the first pass."""
    run = pocketgpu.debug(DATA / "sample_switch.mxcap.zip")
    textured = 0
    for draw in run.draws(0):
        for texture in run.seek(draw.address).textures.values():
            facts = texture.facts
            textured += 1
            assert any(facts.address in one for one in draw.reads), (draw, texture)
    assert textured > 10
    found = frame_graph(run, 0)
    first, second = [n for n, one in enumerate(found.nodes) if one.kind == "pass"][:2]
    edge = next(one for one in found.edges if (one.source, one.target, one.kind) == (first, second, READS))
    assert edge.size >= 400 * 225 * 4
