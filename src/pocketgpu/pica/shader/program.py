"""A shader program as a graph of straight runs of instructions.

Where control can be is known before the program runs: the address stacks (call, if, loop) hold only addresses that
stand in the code. So a *node* is a program counter together with the stacks, and the graph of nodes is finite; only
conditions and loop counters are left to run time.

Source: 3dbrew GPU/Shader Instruction Set, "Control flow".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...facts.shader_isa import CALL_DEPTH, F0, IF_DEPTH, LOOP_DEPTH, OPCODES, Opcode

MAX_NODES = 1024
CODE_WORDS = 512
UNDEFINED = Opcode("UNDEFINED", F0)
DEPTHS = {"call": CALL_DEPTH, "if": IF_DEPTH, "loop": LOOP_DEPTH}


class TooComplex(Exception):
    """The graph has more nodes than the translator takes (only a program made to be so has)."""


@dataclass(frozen=True, slots=True)
class Frame:
    """An entry of the address stacks: when control reaches `end`, it goes to `target`.

    kind: "call", "if" or "loop"; a loop goes back to `target` while its counter (number `level`) lasts, and adds the
    step of integer uniform `integer` to aL each time.
    """

    kind: str
    end: int
    target: int
    integer: int = 0
    level: int = 0


Place = tuple[int, tuple[Frame, ...]]


@dataclass(slots=True)
class Exit:
    """How a node may end: `to` is reached when `when` holds (None: always, and last in the list).

    when: ("bool", index, wanted), ("cond", op, refx, refy), or ("again", level) for a loop that goes round once more.
    enter: the loop frame that this exit starts. rounds: loop frames stepped (aL and counter) before `when` is asked,
    whatever the answer. Exits are asked in order.
    """

    to: int
    when: tuple[object, ...] | None = None
    enter: Frame | None = None
    rounds: tuple[Frame, ...] = ()


@dataclass(slots=True)
class Node:
    """A straight run: addresses of its instructions, then its exits (none: the program ends)."""

    place: Place
    addresses: list[int] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)


def opcode(word: int) -> Opcode:
    """The opcode of an instruction word; UNDEFINED where the table has none."""
    return OPCODES.get(word >> 26, UNDEFINED)


class Program:
    """code: 512 words; descriptors: 128 words; entry: the first instruction's address."""

    def __init__(self, code: tuple[int, ...], descriptors: tuple[int, ...], entry: int) -> None:
        self.code, self.descriptors, self.entry = code, descriptors, entry
        self.nodes: list[Node] = []
        self._index: dict[Place, int] = {}
        self._build()
        reached = {a for node in self.nodes for a in node.addresses}
        flows = {exit.when[0] if exit.when else "" for node in self.nodes for exit in node.exits}
        self.diverges = "cond" in flows
        self.addresses = sorted(reached)

    def opcode_at(self, address: int) -> Opcode:
        return opcode(self.code[address])

    # -- the graph ----------------------------------------------------------------------------------------------
    def _node(self, place: Place) -> int:
        """The number of the node at a place, made if new; -1 is the end of the program."""
        if not 0 <= place[0] < len(self.code):
            return -1
        if place not in self._index:
            if len(self.nodes) >= MAX_NODES:
                raise TooComplex(f"more than {MAX_NODES} places of control")
            self._index[place] = len(self.nodes)
            self.nodes.append(Node(place))
        return self._index[place]

    def _build(self) -> None:
        self._node((self.entry, ()))
        for node in self.nodes:  # grows while we walk it
            self._fill(node)
        order = sorted(range(len(self.nodes)), key=lambda i: (self.nodes[i].place[0], i))
        # Smallest program counter first: nodes are numbered in that order. The entry need not be node 0.
        renumber = {old: new for new, old in enumerate(order)} | {-1: -1}
        self.nodes = [self.nodes[i] for i in order]
        for node in self.nodes:
            for exit in node.exits:
                exit.to = renumber[exit.to]
        self.start = renumber[0] if self.nodes else -1

    def _fill(self, node: Node) -> None:
        pc, stack = node.place
        if stack and stack[-1].kind == "bridge":
            self._exit(node, None, pc, stack[:-1])
            return
        while True:
            if pc >= len(self.code):
                return
            word = self.code[pc]
            op = opcode(word)
            if op.flow:
                self._flow(node, pc, stack, op, word)
                return
            node.addresses.append(pc)
            pc += 1
            if any(frame.end == pc for frame in stack[-1:]) or (pc, stack) in self._index:
                self._exit(node, None, pc, stack)
                return

    def _exit(
        self, node: Node, when: tuple[object, ...] | None, pc: int, stack: tuple[Frame, ...], enter: Frame | None = None
    ) -> None:
        """Add the exits for control that arrives at `pc`: ends of blocks on the stack redirect it."""
        rounds: tuple[Frame, ...] = ()
        while stack and stack[-1].end == pc:
            frame = stack[-1]
            if frame.kind == "loop":
                rounds = (*rounds, frame)
                again = ("again", frame.level)
                if when is not None:  # both conditions: go through a node of its own
                    node.exits.append(Exit(self._bridge(pc, stack), when, enter))
                    return
                node.exits.append(Exit(self._node((frame.target, stack)), again, enter, rounds))
                # Falling out of the loop: the round has been counted by the exit above.
                stack, rounds, enter = stack[:-1], (), None
                continue
            pc, stack = frame.target, stack[:-1]
        node.exits.append(Exit(self._node((pc, stack)), when, enter, rounds))

    def _bridge(self, pc: int, stack: tuple[Frame, ...]) -> int:
        """An empty node at the end of a loop, for control that arrives there by a conditional jump."""
        place = (pc, (*stack, Frame("bridge", -1, pc)))
        if place not in self._index:
            if len(self.nodes) >= MAX_NODES:
                raise TooComplex(f"more than {MAX_NODES} places of control")
            self._index[place] = len(self.nodes)
            node = Node(place)
            self.nodes.append(node)
        return self._index[place]

    @staticmethod
    def _push(stack: tuple[Frame, ...], frame: Frame) -> tuple[Frame, ...]:
        """Push with the depth limits of the hardware: the oldest entry of that kind falls out."""
        same = [f for f in stack if f.kind == frame.kind]
        if len(same) >= DEPTHS[frame.kind]:
            oldest = stack.index(same[0])
            stack = stack[:oldest] + stack[oldest + 1 :]
        return (*stack, frame)

    def _flow(self, node: Node, pc: int, stack: tuple[Frame, ...], op: Opcode, word: int) -> None:
        f = op.format
        get = lambda name: f.get(word, name)
        dst, num, after = get("dst"), get("num"), pc + 1
        condition: tuple[object, ...] = ("cond", get("cond"), get("refx"), get("refy"))
        if op.name == "END":
            return
        if op.name in ("BREAK", "BREAKC"):
            loops = [i for i, frame in enumerate(stack) if frame.kind == "loop"]
            if op.name == "BREAKC":
                target = (stack[loops[-1]].end, stack[: loops[-1]]) if loops else (after, stack)
                self._exit(node, condition, *target)
                self._exit(node, None, after, stack)
            elif loops:
                self._exit(node, None, stack[loops[-1]].end, stack[: loops[-1]])
            return  # BREAK outside a loop hangs the unit: the program ends here
        if op.name == "LOOP":
            level = min(sum(frame.kind == "loop" for frame in stack), LOOP_DEPTH - 1)
            frame = Frame("loop", dst + 1, after, get("int") & 3, level)
            self._exit(node, None, after, self._push(stack, frame), enter=frame)
            return
        if op.name in ("CALL", "CALLC", "CALLU"):
            inside = self._push(stack, Frame("call", dst + num, after))
            taken = None if op.name == "CALL" else condition if op.name == "CALLC" else ("bool", get("bool"), 1)
            self._exit(node, taken, dst, inside)
            if taken is not None:
                self._exit(node, None, after, stack)
            return
        if op.name in ("IFU", "IFC"):
            taken = condition if op.name == "IFC" else ("bool", get("bool"), 1)
            self._exit(node, taken, after, self._push(stack, Frame("if", dst, dst + num)))
            self._exit(node, None, dst, stack)
            if not (stack and stack[-1].end == dst + num):
                self._node((dst + num, stack))  # both ways meet here: the second must not run past it
            return
        # JMPC, JMPU: bit 0 of NUM inverts the boolean of JMPU
        taken = condition if op.name == "JMPC" else ("bool", get("bool"), 1 - (num & 1))
        self._exit(node, taken, dst, stack)
        self._exit(node, None, after, stack)

    def instructions(self) -> Iterator[tuple[int, int, Opcode]]:
        """(address, word, opcode) of all instructions that can be reached."""
        for address in self.addresses:
            yield address, self.code[address], opcode(self.code[address])
