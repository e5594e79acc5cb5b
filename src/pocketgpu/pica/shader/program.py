"""A shader program as a graph of straight runs of instructions, and the unit's rules of control flow.

All possible control states are known before the program runs, because the address stacks (call, if, loop) only hold
addresses that are in the code. So a *node* is a program counter together with the stacks, and the graph of nodes is
finite; only conditions and loop counters depend on run time. The interpreter follows the same rules with stacks as
data:

* Each instruction has a next address (`seen`), and each stack compares it with its top entry's end. It is the following
  address, except for CALL and for an IF that is not taken, which go elsewhere, and for BREAK, where it is the loop's
  end. The target of a jump counts only if no stack has an entry that ends at `seen`.
* The call stack pops entries while the address (after a pop, the address returned to) is their end; from the fourth
  return in a row on, the return address is ignored. The if stack pops one entry. The loop stack starts the next
  iteration, or pops the entry and, unless a choice says otherwise, checks the next one.
* A loop that continues wins over an if, an if over a call, a call over a jump.
* A push to a full stack drops its oldest entry. BREAK pops an entry of the loop stack and leaves the others unchanged;
  without an entry the unit hangs.
* With a single stack for all (a choice) only its top is compared, also with the targets of jumps.

Source: 3dbrew GPU/Shader Instruction Set, "Control Flow"; where it is unclear, a block may end where another one does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import lru_cache
from typing import NamedTuple

from pocketgpu.facts.shader_isa import CALL_DEPTH, F0, IF_DEPTH, INVERTS, LOOP_DEPTH, OPCODES, Opcode, opcode_number
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.shader.limits import INSTRUCTION_LIMIT
from pocketgpu.pica.shader.shader_choices import DEFAULT_RULES, Rules

# A larger program takes too long to compile; calls and stacks multiply code, so 512 words can become more.
MAX_NODES = 256
MAX_INSTRUCTIONS = 2048
CODE_WORDS = 512
UNDEFINED = Opcode("UNDEFINED", F0)
# The number of calls that may end at one instruction and all take effect.
RETURNS = 3
ENDED, HUNG = -1, -2


class TooComplex(Exception):
    """The graph is larger than the translator allows (only with programs made for that)."""


# Named tuples: graphs are built by looking places up, thousands of times for a program.
class AddressFrame(NamedTuple):
    """An entry of the address stacks: when control reaches `end`, it goes to `target`.

    kind: "call", "if" or "loop". A loop goes back to `target` until its counter ends (number `level`, unique among the
    loops on the stack), and adds the step of integer uniform `integer` to aL each time.
    """

    kind: str
    end: int
    target: int
    integer: int = 0
    level: int = 0


class Stacks(NamedTuple):
    """The contents of the address stacks, oldest first. With a single stack, all entries are in `calls`."""

    calls: tuple[AddressFrame, ...] = ()
    ifs: tuple[AddressFrame, ...] = ()
    loops: tuple[AddressFrame, ...] = ()

    def ends_at(self, pc: int) -> bool:
        """Whether the top entry of some stack ends at this address."""
        return any(stack and stack[-1].end == pc for stack in (self.calls, self.ifs, self.loops))

    def innermost_loop(self) -> AddressFrame | None:
        return next((f for f in reversed(self.calls + self.loops) if f.kind == "loop"), None)


class ControlPlace(NamedTuple):
    """A place of control. seen: `pc` is only checked against the stacks; control goes to `jump` if no entry ends
    there."""

    pc: int
    stacks: Stacks = Stacks()
    seen: bool = False
    jump: int | None = None


Action = tuple[str, AddressFrame]


@dataclass(slots=True)
class Exit:
    """An exit of a node: control goes to `to` (a node, ENDED or HUNG) if `when` holds (None: always, and last).

    when: ("bool", index, wanted), ("cond", op, refx, refy), or ("again", frame) for a loop's next iteration. before:
    actions before `when` is tested, in all remaining lanes; after: actions in the lanes that take this exit. Actions
    are "enter", "step" (aL and counter) and "restore" (aL) of a loop. Exits are tested in order.
    """

    to: int
    when: tuple[object, ...] | None = None
    before: tuple[Action, ...] = ()
    after: tuple[Action, ...] = ()


@dataclass(slots=True)
class Node:
    """A straight run: addresses of its instructions, then its exits (none: the program ends). `count`: the number of
    its instructions, including the one that ends it."""

    place: ControlPlace
    addresses: list[int] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    count: int = 0


def opcode(word: int) -> Opcode:
    """The opcode of an instruction word; UNDEFINED if the table has none."""
    return OPCODES.get(opcode_number(word), UNDEFINED)


class ProgramGraph:
    """code: the unit's program memory; descriptors: 128 words; entry: the first instruction's address.

    nodes, instructions: limits of the graph; by default as much as is worth compiling.

    :raises TooComplex: a limit is exceeded.
    """

    def __init__(
        self,
        code: tuple[int, ...],
        descriptors: tuple[int, ...],
        entry: int,
        rules: Rules = DEFAULT_RULES,
        *,
        nodes: int | None = None,
        instructions: int | None = None,
    ) -> None:
        self.code, self.descriptors, self.entry, self.rules = code, descriptors, entry, rules
        self._most_nodes = MAX_NODES if nodes is None else nodes
        self._most_instructions = MAX_INSTRUCTIONS if instructions is None else instructions
        self.single = rules.stacks == "single"
        self.nodes: list[Node] = []
        self._index: dict[ControlPlace, int] = {}
        self._build()
        self.addresses = sorted({a for node in self.nodes for a in node.addresses})
        self.diverges = any(e.when is not None and e.when[0] == "cond" for n in self.nodes for e in n.exits)
        self.names = {opcode(code[a]).name for a in self.addresses}

    def opcode_at(self, address: int) -> Opcode:
        return opcode(self.code[address])

    def instructions(self) -> Iterator[tuple[int, int, Opcode]]:
        """(address, word, opcode) of all reachable instructions except flow control."""
        for address in self.addresses:
            yield address, self.code[address], opcode(self.code[address])

    # -- the graph ----------------------------------------------------------------------------------------------
    def _node(self, place: ControlPlace) -> int:
        """The number of the node at a place, made if new."""
        if not place.seen and not 0 <= place.pc < len(self.code):
            return ENDED
        if place not in self._index:
            if len(self.nodes) >= self._most_nodes:
                raise TooComplex(f"more than {self._most_nodes} places of control")
            self._index[place] = len(self.nodes)
            self.nodes.append(Node(place))
        return self._index[place]

    def _build(self) -> None:
        first = self._node(ControlPlace(self.entry))
        total = 0
        for node in self.nodes:  # grows during the loop
            self._fill(node)
            total += node.count
            if total > self._most_instructions:
                raise TooComplex(f"more than {self._most_instructions} instructions on its paths")
        # Smallest program counter first, and places that are only checked before those that run.
        order = sorted(range(len(self.nodes)), key=lambda i: (self.nodes[i].place.pc, not self.nodes[i].place.seen, i))
        renumber = {old: new for new, old in enumerate(order)} | {ENDED: ENDED, HUNG: HUNG}
        self.nodes = [self.nodes[i] for i in order]
        for node in self.nodes:
            for exit in node.exits:
                exit.to = renumber[exit.to]
        self.start = renumber[first]

    def _fill(self, node: Node) -> None:
        pc, stacks = node.place.pc, node.place.stacks
        if node.place.seen:
            self._arrive(node, pc, stacks, node.place.jump)
            return
        while pc < len(self.code):
            word = self.code[pc]
            op = opcode(word)
            node.count += 1
            if op.flow:
                self._flow(node, pc, stacks, op, word)
                return
            node.addresses.append(pc)
            pc += 1
            if stacks.ends_at(pc) or ControlPlace(pc, stacks) in self._index:
                self._arrive(node, pc, stacks)
                return

    def _leave(
        self,
        node: Node,
        when: tuple[object, ...] | None,
        seen: int,
        stacks: Stacks,
        jump: int | None = None,
        after: tuple[Action, ...] = (),
    ) -> None:
        """Add an exit to an address; through a checking node if some stack's entry ends there."""
        if self._looked_at(seen, stacks, jump):
            node.exits.append(Exit(self._node(ControlPlace(seen, stacks, True, jump)), when, (), after))
        else:
            node.exits.append(Exit(self._node(ControlPlace(seen if jump is None else jump, stacks)), when, (), after))

    def _looked_at(self, seen: int, stacks: Stacks, jump: int | None) -> bool:
        return stacks.ends_at(jump if self.single and jump is not None else seen)

    # -- what the stacks do -------------------------------------------------------------------------------------
    def _arrive(self, node: Node, seen: int, stacks: Stacks, jump: int | None = None) -> None:
        """Add the exits of control that checks address `seen` and may jump to `jump`."""
        if self.single:
            self._arrive_single(node, seen if jump is None else jump, stacks)
            return
        calls, ifs, loops = stacks.calls, stacks.ifs, stacks.loops
        place, returns, popped = seen, 0, False
        while calls and calls[-1].end == place:
            returns += 1
            if returns <= RETURNS:
                place = calls[-1].target
            calls, popped = calls[:-1], True
        if ifs and ifs[-1].end == seen:
            place, ifs, popped = ifs[-1].target, ifs[:-1], True
        before: tuple[Action, ...] = ()
        while loops and loops[-1].end == seen:
            frame, popped = loops[-1], True
            again = self._node(ControlPlace(frame.target, Stacks(calls, ifs, loops)))
            node.exits.append(Exit(again, ("again", frame), (*before, ("step", frame))))
            loops = loops[:-1]
            before = self._restore(frame, loops)
            if self.rules.loop_ends == "one":
                break
        if jump is not None and not popped:
            place = jump
        node.exits.append(Exit(self._node(ControlPlace(place, Stacks(calls, ifs, loops))), None, before))

    def _arrive_single(self, node: Node, pc: int, stacks: Stacks) -> None:
        stack = stacks.calls
        before: tuple[Action, ...] = ()
        while stack and stack[-1].end == pc:
            frame, rest = stack[-1], stack[:-1]
            if frame.kind == "loop":
                again = self._node(ControlPlace(frame.target, Stacks(stack)))
                node.exits.append(Exit(again, ("again", frame), (*before, ("step", frame))))
                before = self._restore(frame, rest)
            else:
                pc = frame.target
            stack = rest
        node.exits.append(Exit(self._node(ControlPlace(pc, Stacks(stack))), None, before))

    def _restore(self, frame: AddressFrame, rest: tuple[AddressFrame, ...]) -> tuple[Action, ...]:
        """The effect of leaving a loop on aL, if there is an enclosing loop."""
        nested = any(f.kind == "loop" for f in rest)
        return (("restore", frame),) if nested and self.rules.nested_loop_counter == "restored" else ()

    def _push(self, stacks: Stacks, frame: AddressFrame) -> Stacks:
        if self.single:
            return Stacks((*stacks.calls, frame)[-(CALL_DEPTH + IF_DEPTH + LOOP_DEPTH) :])
        if frame.kind == "call":
            return stacks._replace(calls=(*stacks.calls, frame)[-CALL_DEPTH:])
        if frame.kind == "if":
            return stacks._replace(ifs=(*stacks.ifs, frame)[-IF_DEPTH:])
        return stacks._replace(loops=(*stacks.loops, frame)[-LOOP_DEPTH:])

    def _break(self, stacks: Stacks) -> tuple[int, Stacks, tuple[Action, ...]] | None:
        """(address seen, stacks, actions) of leaving the innermost loop; None if there is none."""
        frame = stacks.innermost_loop()
        if frame is None:
            return None
        if self.single:
            rest = Stacks(stacks.calls[: len(stacks.calls) - 1 - stacks.calls[::-1].index(frame)])
            return frame.end, rest, self._restore(frame, rest.calls)
        rest = stacks._replace(loops=stacks.loops[:-1])
        return frame.end, rest, self._restore(frame, rest.loops)

    def _flow(self, node: Node, pc: int, stacks: Stacks, op: Opcode, word: int) -> None:
        f = op.format
        dst, num, after = f.get(word, "dst"), f.get(word, "num"), pc + 1
        bool_wanted = 1 - (num & INVERTS) if op.name == "JMPU" else 1
        taken: tuple[object, ...] | None = None
        if op.name in ("BREAKC", "CALLC", "IFC", "JMPC"):
            taken = ("cond", f.get(word, "cond"), f.get(word, "refx"), f.get(word, "refy"))
        elif op.name in ("CALLU", "IFU", "JMPU"):
            taken = ("bool", f.get(word, "bool"), bool_wanted)
        if op.name == "END":
            return
        if op.name in ("BREAK", "BREAKC"):
            left = self._break(stacks)
            if left is None:
                node.exits.append(Exit(HUNG, taken))
            else:
                self._leave(node, taken, left[0], left[1], after=left[2])
        elif op.name == "LOOP":
            used = {frame.level for frame in stacks.calls + stacks.loops if frame.kind == "loop"}
            level = min(set(range(LOOP_DEPTH + CALL_DEPTH + IF_DEPTH + 1)) - used)
            frame = AddressFrame("loop", dst + 1, after, f.get(word, "int") & 3, level)
            self._leave(node, None, after, self._push(stacks, frame), after=(("enter", frame),))
        elif op.name in ("CALL", "CALLC", "CALLU"):
            self._leave(node, taken, dst, self._push(stacks, AddressFrame("call", dst + num, after)))
        elif op.name in ("IFU", "IFC"):
            self._leave(node, taken, after, self._push(stacks, AddressFrame("if", dst, dst + num)))
            self._leave(node, None, dst, stacks)
            if not stacks.ends_at(dst + num):
                self._node(ControlPlace(dst + num, stacks))  # both branches meet here: the second must not run past it
            return
        else:
            self._leave(node, taken, after, stacks, jump=dst)
        if taken is not None:
            self._leave(node, None, after, stacks)

    # -- its shape ----------------------------------------------------------------------------------------------
    @property
    def loop_levels(self) -> int:
        """The number of loop counters needed."""
        return 1 + max((action[1].level for n in self.nodes for e in n.exits for action in e.after), default=-1)

    def bounded(self) -> bool:
        """Whether no vertex can run more than INSTRUCTION_LIMIT instructions, whatever the data."""
        return self.order() is not None and sum(node.count for node in self.nodes) <= INSTRUCTION_LIMIT

    def order(self) -> list[int] | None:
        """The nodes with successors first, or None if there are cycles."""
        state = [0] * len(self.nodes)
        out: list[int] = []
        work = [(self.start, 0)] if self.start >= 0 else []
        while work:
            number, child = work.pop()
            exits = self.nodes[number].exits
            state[number] = 1
            if child == len(exits):
                state[number] = 2
                out.append(number)
                continue
            work.append((number, child + 1))
            to = exits[child].to
            if to >= 0 and state[to] == 1:
                return None
            if to >= 0 and state[to] == 0:
                work.append((to, 0))
        return out

    def meeting_points(self) -> dict[int, int] | None:
        """For each node the first node that all its paths lead through (ENDED if none); None if there are cycles."""
        order = self.order()
        if order is None:
            return None
        depth, meet = {ENDED: 0}, {ENDED: ENDED}
        for number in order:
            ways = [max(exit.to, ENDED) for exit in self.nodes[number].exits] or [ENDED]
            common = ways[0]
            for way in ways[1:]:
                while common != way:
                    if depth[common] >= depth[way]:
                        common = meet[common]
                    else:
                        way = meet[way]
            meet[number], depth[number] = common, depth[common] + 1
        return meet


@lru_cache(maxsize=256)
def program_of(code: bytes, descriptors: bytes, entry: int, rules: Rules = DEFAULT_RULES) -> ProgramGraph:
    """The graph of a program given as little-endian words. Raises TooComplex."""
    words = tuple(memoryview(code).cast("I"))
    return ProgramGraph(words, tuple(memoryview(descriptors).cast("I")), entry, rules)
