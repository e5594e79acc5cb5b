"""The graph of a frame: its passes, copies and so on, and which of them use what others wrote.

    graph = frame_graph(run, 1)
    for edge in graph.edges:
        print(graph.nodes[edge.source], "->", graph.nodes[edge.target], edge.ranges)

A node is a group of draws and clears with the same target that nothing of another kind interrupts, or one other event.
What the processor writes is one node, at the start. An edge says that a node reads bytes which an earlier one wrote
last ("reads"), or writes over them ("covers").
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Protocol

from pocketgpu.displayed import Displayed
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Event, Pass, Range
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted


class Listed(Protocol):
    """The part of an inspection that a graph is made of."""

    def events(self, frame: int) -> Sequence[Event]:
        """See `Inspection`."""
        ...

    def passes(self, frame: int) -> Sequence[Pass]:
        """See `Inspection`."""
        ...

    def unit(self, event: Event) -> str:
        """See `Inspection`."""
        ...


READS, COVERS = "reads", "covers"
KINDS: Final[Mapping[str, str]] = {READS: "reads what another wrote", COVERS: "writes over what another wrote"}
"""Kinds of edges, for people."""
MOST_NODES: Final = 500
"""Nodes of a graph; further events of the frame are left out."""
MOST_RANGES: Final = 8
"""Ranges that an edge names."""
_DRAWN: Final = ("draw", "clear")
_WRITTEN_BY_CPU: Final = ("load", "registers", "flush")
_NOT_SHOWN: Final = ("list", "submission")
"""Events that only begin others, and have no node."""


@dataclass(repr=False)
class Node(Displayed):
    """A pass, or one event. events, draws: how many it has. unit: what does it. address: of the pass, or of its first
    event. last: of its last event, after which its pictures can be looked at."""

    kind: str
    title: str
    unit: str
    address: Address
    last: Address
    events: int = 0
    draws: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "title": self.title, "unit": self.unit, "address": str(self.address),
            "last": str(self.last), "events": self.events, "draws": self.draws,
        }  # fmt: skip

    def __str__(self) -> str:
        what = f": {counted(self.draws, 'draw')}" if self.draws else ""
        return f"{self.title}{what}  {self.address}"


@dataclass(repr=False)
class Edge(Displayed):
    """`target` reads, or covers, what `source` wrote: numbers of nodes. size: bytes; ranges: the first of them."""

    source: int
    target: int
    kind: str
    size: int = 0
    ranges: list[Range] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source, "target": self.target, "kind": self.kind, "size": self.size,
            "ranges": [one.to_json() for one in self.ranges],
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}: {self.kind} {self.size} bytes"


@dataclass(repr=False)
class FrameGraph(Displayed):
    """The graph of one frame. left_out: events for which it has no room."""

    frame: int
    nodes: list[Node]
    edges: list[Edge]
    left_out: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain data (pocketgpu.frame-graph/1)."""
        return {
            "schema": "pocketgpu.frame-graph/1", "frame": self.frame, "nodes": [one.to_json() for one in self.nodes],
            "edges": [one.to_json() for one in self.edges], "left_out": self.left_out,
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [f"f{self.frame}: {counted(len(self.nodes), 'node')}, {counted(len(self.edges), 'edge')}"]
        for number, node in enumerate(self.nodes):
            lines.append(f"  {node}")
            for edge in self.edges:
                if edge.target == number:
                    lines.append(f"    {edge.kind} {edge.size} bytes of {self.nodes[edge.source].address}")
        return "\n".join(lines)


class _Writers:
    """Which node wrote bytes last: stretches of memory that do not overlap, in order."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._nodes: list[int] = []

    def of(self, wanted: Range) -> Iterator[tuple[int, Range]]:
        """The nodes that wrote parts of a range, with these parts."""
        at = bisect_right(self._ends, wanted.address)
        while at < len(self._starts) and self._starts[at] < wanted.end:
            start, end = max(self._starts[at], wanted.address), min(self._ends[at], wanted.end)
            yield self._nodes[at], Range(start, end - start)
            at += 1

    def put(self, node: int, written: Range) -> None:
        """Note that a node wrote a range."""
        first = bisect_right(self._ends, written.address)
        last = bisect_left(self._starts, written.end)
        starts, ends, nodes = [written.address], [written.end], [node]
        if first < last:
            if self._starts[first] < written.address:
                starts.insert(0, self._starts[first])
                ends.insert(0, written.address)
                nodes.insert(0, self._nodes[first])
            if self._ends[last - 1] > written.end:
                starts.append(written.end)
                ends.append(self._ends[last - 1])
                nodes.append(self._nodes[last - 1])
        self._starts[first:last], self._ends[first:last], self._nodes[first:last] = starts, ends, nodes


class _Building:
    """A graph under construction: events are taken in order."""

    def __init__(self, run: Listed, frame: int) -> None:
        self._run, self._frame = run, frame
        self.nodes: list[Node] = []
        self._edges: dict[tuple[int, int, str], Edge] = {}
        self._writers = _Writers()
        self._processor: int | None = None
        self._open: tuple[int, int | None] | None = None
        """The node that draws go to, and the number of its pass."""
        self._seen: set[tuple[str, int, int]] = set()
        """What draws of the open node have read and written already. Most use the same memory, which is noted once."""

    def take(self, event: Event) -> bool:
        """Add an event. False: there is no room."""
        if event.kind in _NOT_SHOWN:
            return True
        number = self._node_of(event)
        if number is None:
            return False
        node = self.nodes[number]
        node.events += 1
        node.draws += event.draw is not None
        node.last = event.address
        for one in event.reads:
            self._use(number, one, READS)
        for one in event.writes:
            if event.kind in _DRAWN:
                self._use(number, one, COVERS)
        for one in event.writes:
            self._wrote(number, one)
        return True

    def _node_of(self, event: Event) -> int | None:
        if event.kind in _WRITTEN_BY_CPU:
            if self._processor is None:
                self._processor = self._new(event, "load", "the processor writes memory", event.by_number)
            return self._processor
        if event.kind in _DRAWN:
            if self._open is not None and self._open[1] == event.pass_:
                return self._open[0]
            target = "" if event.pass_ is None else self._run.passes(self._frame)[event.pass_].target
            address = event.address if event.pass_ is None else Address(self._frame, pass_=event.pass_)
            number = self._new(event, "pass", target or "no target", address)
            self._open = None if number is None else (number, event.pass_)
            return number
        self._open = None
        return self._new(event, event.kind, event.title, event.address)

    def _new(self, event: Event, kind: str, title: str, address: Address) -> int | None:
        if len(self.nodes) >= MOST_NODES:
            return None
        self._seen.clear()
        self.nodes.append(Node(kind, title, self._run.unit(event), address, event.address))
        return len(self.nodes) - 1

    def _use(self, number: int, wanted: Range, kind: str) -> None:
        key = (kind, wanted.address, wanted.size)
        own = number != self._processor  # what was seen is the current node's; the processor's events lie between
        if (own and key in self._seen) or wanted.size <= 0:
            return
        if own:
            self._seen.add(key)
        for writer, part in self._writers.of(wanted):
            # A pass that reads its target (depth, blending) also writes over it: one edge says both.
            if writer == number or (kind == COVERS and (writer, number, READS) in self._edges):
                continue
            edge = self._edges.setdefault((writer, number, kind), Edge(writer, number, kind))
            edge.size += part.size
            if len(edge.ranges) < MOST_RANGES:
                edge.ranges.append(part)

    def _wrote(self, number: int, written: Range) -> None:
        key = ("writes", written.address, written.size)
        own = number != self._processor
        if (own and key in self._seen) or written.size <= 0:
            return
        if own:
            self._seen.add(key)
        else:
            self._seen.clear()  # what the current node does with these bytes from now on counts again
        self._writers.put(number, written)

    @property
    def edges(self) -> list[Edge]:
        return list(self._edges.values())


def frame_graph(run: Listed, frame: int) -> FrameGraph:
    """The graph of a frame.

    :raises UsageError: there is no such frame.
    """
    building = _Building(run, frame)
    events = run.events(frame)
    for number, event in enumerate(events):
        if not building.take(event):
            return FrameGraph(frame, building.nodes, building.edges, len(events) - number)
    return FrameGraph(frame, building.nodes, building.edges)


__all__ = ["COVERS", "KINDS", "READS", "Edge", "FrameGraph", "Node", "frame_graph"]
