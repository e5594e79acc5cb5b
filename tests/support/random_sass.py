"""Random Maxwell programs, of two kinds.

*Wild* ones are random instructions with random targets. *Woven* ones are made of branches, loops, calls and barriers
as a compiler makes them, so that most run to an end. Registers R0 to R11 are for all; R14 to R19 hold what programs
need to stay sensible: counters of loops, and addresses of a thread's places in shared and global memory.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np

from pocketgpu.facts.maxwell.sass import FORMS, Form
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.isa.bundles import offset_of
from pocketgpu.maxwell.sass.isa.decoder import find_form
from pocketgpu.maxwell.sass.semantics import OPERATIONS

BUFFER, SIZE = 0x1_0000_0000, 1 << 16
WORDS = 64  # of constants in bank 0 from 0x140 on
REGISTERS = 12
_SKIPPED = {
    "TEX", "TEXS", "TLD", "TLDS", "TLD4", "TLD4S", "TXD", "TXQ", "TXA", "TMML", "SULD", "SUST", "SURED", "SUATOM",
    "IPA", "ALD", "AST", "AL2P", "ISBERD", "OUT", "PIXLD", "KIL", "CCTLT",
}  # fmt: skip
"""Instructions that need textures or the 3D engine."""


def _forms(*names: str) -> tuple[Form, ...]:
    return tuple(form for form in FORMS.values() if form.op in names)


_ALL = tuple(form for form in FORMS.values() if form.op not in _SKIPPED)
_FLOW = _forms("BRA", "SSY", "SYNC", "PBK", "BRK", "PCNT", "CONT", "CAL", "RET", "EXIT", "BRX")
_MEMORY = _forms("LDG", "STG", "LD", "ST", "LDL", "STL", "LDS", "STS", "LDC", "ATOM", "ATOMS", "RED")
_WARP = _forms("VOTE", "SHFL", "BAR", "B2R", "S2R")
_PLAIN = tuple(form for form in _ALL if form.op.replace("32I", "").rstrip("_") in OPERATIONS and form.op[:3] != "R2P")
_CALM = _forms("VOTE", "SHFL", "S2R")
_BASES = {"LDG": 18, "STG": 18, "LD": 18, "ST": 18, "ATOM": 18, "RED": 18, "LDS": 16, "STS": 16, "ATOMS": 16}
# R20 is where a thread's registers go, R8 and R18 an address in the buffer, R16 one in shared memory.
_HEAD = """
    S2R R20, SR_TID.X
    MOV R0, R20
    SHL R16, R20, 0x4
    SHL R20, R20, 0x6
    IADD R20.CC, R20, c[0x0][0x140]
    IADD.X R21, RZ, c[0x0][0x144]
    SHL R8, R0, 0x4
    IADD R8.CC, R8, c[0x0][0x148]
    IADD.X R9, RZ, c[0x0][0x14c]
    MOV R18, R8
    MOV R19, R9
    MOV R1, c[0x0][0x150]
    MOV R2, c[0x0][0x154]
    XMAD R3, R0, c[0x0][0x158], R1
    MOV R4, c[0x0][0x15c]
    LDG.E.64 R6, [R8]
    ISETP.LT.AND P0, PT, R0, 0x11, PT
    LOP.AND R5, R0, 0x3
    ISETP.EQ.AND P1, PT, R5, 0x1, PT
"""
_TAIL = """
    P2R R12, PR, RZ, 0x7f
    P2R R13, CC, RZ, 0xf
    STG.E.128 [R20], R0
    STG.E.128 [R20+0x10], R4
    STG.E.128 [R20+0x20], R8
    STG.E.128 [R20+0x30], R12
    EXIT
"""


@cache
def words_of(text: str) -> tuple[int, ...]:
    """Instruction words of a text."""
    code = np.frombuffer(assemble(text).code, "<u8")
    return tuple(int(word) for i, word in enumerate(code) if i % 4)[: len(text.strip().splitlines())]


HEAD, TAIL = words_of(_HEAD), words_of(_TAIL)


def pack(words: list[int]) -> bytes:
    """Code of instruction words, with control words before each three."""
    padded = [*words, *[0x50B0000000070F00] * (-len(words) % 3)]
    bundles = np.full((len(padded) // 3, 4), 0x001F8000FC0007E0, "<u8")
    bundles[:, 1:] = np.array(padded, "<u8").reshape(-1, 3)
    return bundles.tobytes()


def instruction(
    r: random.Random, pool: tuple[Form, ...], put: Mapping[str, int], index: int = 0, total: int = 0
) -> int:
    """A random instruction of a pool, for place `index` of `total`; put: fields that are not random."""
    while True:
        form = r.choice(pool)
        word = form.value & form.mask
        for name, bits in form.fields.items():
            v = put[name] if name in put else _field(r, form, name, bits.width, index, total)
            word = word & ~bits.mask | bits.put(v)
        word = (word & ~form.mask | form.value & form.mask) & (1 << 64) - 1  # a field can be among the scheduling bits
        if find_form(word) is not None:
            return word


def _field(r: random.Random, form: Form, name: str, width: int, index: int, total: int) -> int:
    """A value for a field."""
    if name == "guard":
        return 7 if r.random() < 0.65 else r.choice((0, 1, 2, 8, 9, 10, 15))
    operand = next((o for o in form.operands if o.role == name), None)
    if operand is not None:
        if operand.kind in ("R", "V"):
            return _register(r)
        if operand.kind == "P":
            return r.choice((0, 1, 2, 3, 7, 7))
        if operand.kind == "T":
            target = r.randrange(len(HEAD), total) if r.random() < 0.5 else r.randrange(index, total)
            return (offset_of(target) - offset_of(index) - 8) & ((1 << width) - 1)
        if operand.kind in ("C", "CS"):
            return (0x140 // 4 + r.randrange(WORDS)) & ((1 << width) - 1)
        if operand.kind == "M":
            return r.randrange(0, 64) * r.choice((1, 4, 16)) & ((1 << width) - 1)
        if operand.kind == "X" and name == "cc":
            return 15 if r.random() < 0.85 else r.getrandbits(width)
    if name.endswith(".base"):
        return 8 if r.random() < 0.5 else r.choice((255, 255, _register(r)))
    if name.endswith((".neg", ".abs", ".inv", ".not")):
        return int(r.random() < 0.2)
    return r.getrandbits(width)


def _register(r: random.Random) -> int:
    return 255 if r.random() < 0.1 else r.randrange(REGISTERS)


def _memory(r: random.Random) -> int:
    """A load or a store where the thread has memory; an even register, so that most sizes are right."""
    form = r.choice(_MEMORY)
    scale = 4 if form.op == "ATOMS" else 1
    put = {"addr.base": _BASES.get(form.op, 255), "addr": 16 * r.randrange(0, 12) // scale, "e": 1}
    put["data" if form.op[:2] in ("ST", "RE") else "d"] = 4 * r.randrange(2)
    if form.op == "LDC":
        put = {"b.base": 255, "b": 0x140 + 8 * r.randrange(WORDS // 2)}
    return instruction(r, (form,), put)


# -- programs of both kinds ----------------------------------------------------------------------------------
def wild(r: random.Random) -> list[int]:
    """Random instructions with random targets."""
    count = r.choice((2, 5, 10, 20, 40))
    total = len(HEAD) + count + len(TAIL)
    body = []
    for i in range(count):
        pool = r.choices((_ALL, _FLOW, _MEMORY, _WARP), (70, 14, 10, 6))[0]
        body.append(instruction(r, pool, {}, len(HEAD) + i, total))
    return [*HEAD, *body, *TAIL]


Place = list[int]
"""Where a label is: its index, once that is known."""


class Woven:
    """A program under construction: words, and jumps to labels that come later."""

    def __init__(self, r: random.Random) -> None:
        self.r = r
        self.words: list[int] = []
        self.jumps: list[tuple[int, str, Place]] = []
        self.functions: list[tuple[Place, int]] = []
        self.counters = 0

    def flow(self, op: str, place: Place | None = None, guard: int = 7) -> None:
        """An instruction of flow, to a label if it has one."""
        form = FORMS[op]
        word = form.value & form.mask
        for name, v in (("guard", guard), ("cc", 15)):
            if name in form.fields:
                word |= form.fields[name].put(v)
        if place is not None:
            self.jumps.append((len(self.words), op, place))
        self.words.append(word)

    def text(self, line: str) -> None:
        self.words += words_of(line)

    def here(self, place: Place) -> None:
        place.append(len(self.words))

    def guard(self) -> int:
        return self.r.choice((0, 1, 2, 8, 9, 10))

    def block(self, depth: int, kinds: tuple[str, ...] = ()) -> None:
        """Some instructions; kinds: what can be left from here by a guarded instruction (BRK, CONT, RET)."""
        makers: list[Callable[[int], None]] = [self.branch, self.side, self.loop, self.continued, self.call]
        for _ in range(self.r.randrange(1, 5)):
            chance = self.r.random()
            if chance < 0.55:
                self.words.append(instruction(self.r, _PLAIN, {}))
            elif chance < 0.7:
                self.words.append(_memory(self.r))
            elif chance < 0.76:
                self.words.append(instruction(self.r, _CALM, {}))
            elif chance < 0.8 and kinds:
                self.flow(self.r.choice(kinds), guard=self.guard())
            elif chance < 0.81:
                self.flow("EXIT", guard=self.guard())
            elif depth:
                self.r.choice(makers)(depth - 1)

    def branch(self, depth: int) -> None:
        """Two sides that meet."""
        other, meet = Place(), Place()
        self.flow("SSY", meet)
        self.flow("BRA", other, self.guard())
        self.block(depth)
        self.flow("SYNC")
        self.here(other)
        self.block(depth)
        self.flow("SYNC")
        self.here(meet)

    def side(self, depth: int) -> None:
        """A way around, without a place to meet."""
        after = Place()
        self.flow("BRA", after, self.guard())
        self.block(depth)
        self.here(after)

    def loop(self, depth: int) -> None:
        """Some rounds, which lanes leave on their own."""
        n, top, out = self._counter(), Place(), Place()
        self.text(f"MOV32I R{n}, {self.r.randrange(1, 6):#x}")
        self.flow("PBK", out)
        self.here(top)
        self.block(depth, ("BRK",))
        self._again(n, top)
        self.flow("BRK")
        self.here(out)

    def continued(self, depth: int) -> None:
        """Some rounds, whose ends lanes may hurry to."""
        n, top, following = self._counter(), Place(), Place()
        self.text(f"MOV32I R{n}, {self.r.randrange(1, 5):#x}")
        self.here(top)
        self.flow("PCNT", following)
        self.block(depth, ("CONT",))
        self.flow("CONT")
        self.here(following)
        self._again(n, top)

    def _counter(self) -> int:
        self.counters += 1
        return 14 + self.counters % 2

    def _again(self, n: int, top: Place) -> None:
        self.text(f"IADD32I R{n}, R{n}, -0x1")
        self.text(f"ISETP.GT.AND P3, PT, R{n}, RZ, PT")
        self.flow("BRA", top, 3)

    def call(self, depth: int) -> None:
        if len(self.functions) < 4:
            self.functions.append((Place(), depth))
        self.flow("CAL", self.r.choice(self.functions[-2:])[0])

    def barrier(self, depth: int) -> None:
        self.text("BAR.SYNC 0x0")

    def program(self) -> list[int]:
        """All of it."""
        self.words += HEAD
        for _ in range(self.r.randrange(1, 4)):
            self.block(2)
            if self.r.random() < 0.3:
                self.barrier(0)
        self.words += TAIL
        done = 0
        while done < len(self.functions):
            place, depth = self.functions[done]
            done += 1
            self.here(place)
            self.block(min(depth, 1), ("RET",))
            self.flow("RET")
        for index, op, place in self.jumps:
            bits = FORMS[op].fields["target"]
            distance = offset_of(place[0]) - offset_of(index) - 8
            self.words[index] |= bits.put(distance & ((1 << bits.width) - 1))
        return self.words


class Program(NamedTuple):
    """A program with what it starts from."""

    code: bytes
    bank: bytes
    data: bytes
    threads: int
    woven: bool


def make(seed: int, number: int) -> Program:
    """Program `number` of a seed."""
    r = random.Random(f"{seed}/{number}")
    woven = bool(number % 2)
    words = Woven(r).program() if woven else wild(r)
    bank = bytearray(0x140 + 4 * WORDS)
    bank[0:8] = (0x0100_0000).to_bytes(4, "little") + (0x0200_0000).to_bytes(4, "little")
    bank[0x20:0x24] = (256).to_bytes(4, "little")
    bank[0x140:] = _numbers(r, WORDS)
    bank[0x140:0x150] = BUFFER.to_bytes(8, "little") + (BUFFER + SIZE // 2).to_bytes(8, "little")
    return Program(pack(words), bytes(bank), _numbers(r, 64) * (SIZE // 256), r.choice((1, 32, 32, 40, 64, 96)), woven)


_SPECIAL = (0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x3F800000, 0x7F800000, 0x7FC00001, 0x00000001, 0x80000001)


def _numbers(r: random.Random, count: int) -> bytes:
    """Words: random ones, and two in five that are awkward."""
    words = np.frombuffer(r.randbytes(4 * count), "<u4").copy()
    for i in range(count):
        if r.random() < 0.4:
            words[i] = r.choice(_SPECIAL)
    return words.tobytes()
