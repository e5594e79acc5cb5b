"""Static analysis of a run's shader programs: ends, outputs, registers that they read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property

from pocketgpu.facts.shader_isa import F1C, TEMPORARIES, UNIFORMS, components, descriptor, selected
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.shader.program import ENDED, HUNG, Exit, Node, ProgramGraph, TooComplex, opcode

Component = tuple[int, int]
"""(output register, component), 0 for x."""
_MOST_NODES, _MOST_INSTRUCTIONS = 1 << 12, 1 << 16


@dataclass
class Program:
    """A program as draws run it. unit: "vertex" or "geometry". bools: the boolean uniforms, a bit each. nans: float
    uniforms that are NaN, by register and component. at: the first draw; draws: how many."""

    unit: str
    code: tuple[int, ...]
    descriptors: tuple[int, ...]
    entry: int
    bools: int
    at: str
    draws: int = 0
    nans: dict[tuple[int, int], tuple[str, int]] = field(default_factory=dict)

    @cached_property
    def graph(self) -> ProgramGraph | None:
        """Its control flow; None if there is too much of it."""
        try:
            return ProgramGraph(
                self.code, self.descriptors, self.entry, nodes=_MOST_NODES, instructions=_MOST_INSTRUCTIONS
            )
        except TooComplex:
            return None

    def exits(self, node: Node) -> Iterator[Exit]:
        """The exits of a node that are possible with these boolean uniforms."""
        for exit in node.exits:
            if exit.when is not None and exit.when[0] == "bool":
                _, number, wanted = exit.when
                assert isinstance(number, int)
                if self.bools >> number & 1 == wanted:
                    yield exit
                    return
                continue
            yield exit
            if exit.when is None:
                return

    @cached_property
    def reached(self) -> list[Node]:
        """The nodes that can be reached."""
        graph = self.graph
        if graph is None or graph.start < 0:
            return []
        seen, waiting = {graph.start}, [graph.start]
        while waiting:
            for exit in self.exits(graph.nodes[waiting.pop()]):
                if exit.to >= 0 and exit.to not in seen:
                    seen.add(exit.to)
                    waiting.append(exit.to)
        return [graph.nodes[n] for n in sorted(seen)]

    @cached_property
    def addresses(self) -> list[int]:
        """Addresses of the instructions that can be reached, without flow control."""
        return sorted({address for node in self.reached for address in node.addresses})

    @cached_property
    def runs_out(self) -> int | None:
        """The last address before control leaves the program without END, None if it never does.

        Words that are 0 are memory that was never written: control that reaches them has left the program.
        """
        if not self.entry < len(self.code):
            return self.entry
        for node in self.reached:
            empty = next((a for a in node.addresses if not self.code[a]), None)
            if empty is not None:
                return empty - 1
            if any(exit.to == ENDED for exit in self.exits(node)):
                return node.addresses[-1] if node.addresses else node.place.pc
        return None

    @property
    def hangs(self) -> bool:
        """Whether a BREAK outside of all loops can be reached."""
        return any(exit.to == HUNG for node in self.reached for exit in self.exits(node))

    def sources(self, address: int) -> Iterator[tuple[int, int]]:
        """What an instruction reads: (number of a source register, mask of its components with bit 0 for x)."""
        word = self.code[address]
        op = opcode(word)
        get = op.format.get
        desc = self.descriptors[get(word, "desc")] if op.sources else 0
        written = descriptor(desc, "mask")
        given = components(written) if op.name in _BY_COMPONENT else range(4)
        for number in range(1, op.sources + 1):
            chosen, mask = selected(descriptor(desc, f"sel{number}")), 0
            for lane in _LANES.get(op.name, {}).get(number, given):
                mask |= 1 << chosen[lane]
            yield get(word, f"src{number}"), mask

    def indexed(self, address: int) -> bool:
        """Whether an instruction adds an address register to the number of a uniform."""
        word = self.code[address]
        return bool(opcode(word).format.get(word, "idx"))

    @cached_property
    def uniforms(self) -> dict[int, int]:
        """Float uniforms that it reads, with a mask of components each."""
        used: dict[int, int] = defaultdict(int)
        for address in self.addresses:
            for register, mask in self.sources(address):
                if register >= UNIFORMS:
                    used[register - UNIFORMS] |= mask
        return dict(used)

    def reader_of(self, uniform: int) -> tuple[int, str]:
        """The address of the first instruction that reads a float uniform, and its text."""
        from pocketgpu.pica.shader.disassembler import instruction_text

        reads = UNIFORMS + uniform
        address = next(a for a in self.addresses if any(register == reads for register, _ in self.sources(a)))
        return address, instruction_text(self.code[address], self.descriptors)

    @cached_property
    def inputs(self) -> set[int]:
        """Input registers that it reads."""
        return {r for address in self.addresses for r, _ in self.sources(address) if r < TEMPORARIES}

    def written(self, address: int) -> list[Component]:
        """Output components that an instruction writes."""
        word = self.code[address]
        op = opcode(word)
        if not op.sources or op.format is F1C or op.name == "MOVA":
            return []
        number = op.format.get(word, "dst")
        if number >= TEMPORARIES:
            return []
        mask = descriptor(self.descriptors[op.format.get(word, "desc")], "mask")
        return [(number, i) for i in components(mask)]

    @cached_property
    def output_writes(self) -> tuple[dict[Component, int], set[Component]]:
        """Components that may be written twice, with the address of the second write; and components that are written
        on every path to END."""
        graph = self.graph
        if graph is None or graph.start < 0:
            return {}, set()
        may: dict[int, set[Component]] = defaultdict(set)
        must: dict[int, set[Component]] = {}
        twice: dict[Component, int] = {}
        ends: list[set[Component]] = []
        waiting = [graph.start]
        must[graph.start] = set()
        while waiting:
            n = waiting.pop()
            node = graph.nodes[n]
            some, all_ = set(may[n]), set(must[n])
            for address in node.addresses:
                if opcode(self.code[address]).name == "EMIT":
                    some = set()
                for component in self.written(address):
                    if component in some:
                        twice.setdefault(component, address)
                    some.add(component)
                    all_.add(component)
            exits = list(self.exits(node))
            if not exits:
                ends.append(all_)
            for exit in exits:
                if exit.to < 0:
                    continue
                known = must.get(exit.to)
                now = all_ if known is None else known & all_
                if known is None or now != known or not some <= may[exit.to]:
                    must[exit.to] = set(now)
                    may[exit.to] |= some
                    waiting.append(exit.to)
        return twice, set.intersection(*ends) if ends else set()


_BY_COMPONENT = frozenset({"ADD", "MUL", "SGE", "SGEI", "SLT", "SLTI", "FLR", "MAX", "MIN", "MOV", "MAD", "MADI"})
"""Instructions that compute each component of the result from the same component of their operands."""
_LANES: dict[str, dict[int, tuple[int, ...]]] = {
    "RCP": {1: (0,)}, "RSQ": {1: (0,)}, "EX2": {1: (0,)}, "LG2": {1: (0,)},
    "DP3": {1: (0, 1, 2), 2: (0, 1, 2)}, "DPH": {1: (0, 1, 2)}, "DPHI": {1: (0, 1, 2)}, "MOVA": {1: (0, 1)},
    "CMP": {1: (0, 1), 2: (0, 1)},
}  # fmt: skip
"""Components of a source that an instruction reads, if not all four (by source number)."""

__all__ = ["Component", "Program"]
