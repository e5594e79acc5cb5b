"""Macro instructions: worked encodings, delay slots, exits, carries; and a second interpreter, written by itself, that
random programs must agree with on both evaluators."""

from __future__ import annotations

import random

import pytest

from pocketgpu.errors import UsageError
from pocketgpu.maxwell.host.macro_runner import MacroRun, run
from pocketgpu.maxwell.mme.assembler import assemble
from pocketgpu.maxwell.mme.disassembler import disassemble

M32 = 0xFFFFFFFF
NOP, EXIT = 0x00000011, 0x00000091


class Plain:
    """The macro engine in plain Python."""

    def __init__(self, code: list[int], parameters: list[int], state: dict[int, int]) -> None:
        self.code, self.state = code, dict(state)
        self.registers = [0, parameters[0], 0, 0, 0, 0, 0, 0]
        self.queue = parameters[1:]
        self.carry = self.method = self.step = self.steps = 0
        self.sends: list[tuple[int, int]] = []

    def send(self, value: int) -> None:
        self.sends.append((self.method, value))
        self.state[self.method] = value
        if 0x8C0 <= self.method < 0x8E0:
            self.state[0xD00] = 1
        self.method = (self.method + self.step) & 0xFFF

    def set_method(self, value: int) -> None:
        self.method, self.step = value & 0xFFF, value >> 12 & 0x3F

    def alu(self, word: int, a: int, b: int) -> int | None:
        """The result, or None for what the engine does not have."""
        op = word & 7
        immediate = (word >> 14) - (1 << 18 if word >> 31 else 0)
        source, size, target = word >> 17 & 31, word >> 22 & 31, word >> 27
        mask = (1 << size) - 1
        if op == 0:
            function = word >> 17 & 31
            if function < 4:
                second = b if function < 2 else b ^ M32
                carried = [0, self.carry, 1, self.carry][function]
                total = a + second + carried
                self.carry = total >> 32
                return total & M32
            return {8: a ^ b, 9: a | b, 10: a & b, 11: a & (b ^ M32), 12: (a & b) ^ M32}.get(function)
        if op == 1:
            return (a + immediate) & M32
        if op == 2:
            return (a & ~(mask << target) | (b >> source & mask) << target) & M32
        if op == 3:
            return ((b >> (a & 31) & mask) << target) & M32
        if op == 4:
            return ((b >> source & mask) << (a & 31)) & M32
        if op == 5:
            return self.state.get((a + immediate) & 0xFFF, 0)
        return None

    def run(self, budget: int) -> str:
        pc, following, in_slot, ending = 0, 1, False, False
        while True:
            if self.steps == budget:
                return "budget"
            at = pc & 0x1FFF  # words of the instruction RAM
            word = self.code[at] if at < len(self.code) else 0
            op, result = word & 7, word >> 4 & 7
            a, b = self.registers[word >> 11 & 7], self.registers[word >> 14 & 7]
            fetches = op != 7 and result in (0, 3, 5, 6)
            if fetches and not self.queue:
                return "parameter"
            self.steps += 1
            exits = bool(word >> 7 & 1) and not in_slot
            last = ending
            in_slot = False
            if op == 7:
                immediate = (word >> 14) - (1 << 18 if word >> 31 else 0)
                if (a != 0) == bool(word >> 4 & 1):
                    exits = False
                    if word >> 5 & 1:
                        pc, following = pc + immediate, pc + immediate + 1
                    else:
                        pc, following, in_slot = following, pc + immediate, True
                else:
                    pc, following = following, following + 1
            else:
                pc, following = following, following + 1
                value = self.alu(word, a, b) or 0
                got = self.queue.pop(0) if fetches else 0
                rd = word >> 8 & 7
                self.registers[rd] = got if result in (0, 3, 5) else value
                self.registers[0] = 0
                if result in (2, 5, 6, 7):
                    self.set_method(value)
                if result in (3, 4):
                    self.send(value)
                elif result == 6:
                    self.send(got)
                elif result == 7:
                    self.send(value >> 12 & 0x3F)
            if last:
                return "exit"
            ending = exits


def both(code: list[int], parameters: list[int], state: dict[int, int] | None = None, budget: int = 500) -> MacroRun:
    """Run on both evaluators and in plain Python; all three must agree."""
    plain = Plain(code, parameters, state or {})
    ended = plain.run(budget)
    for evaluator in ("llvm", "numpy"):
        found = run(code, parameters, state, budget, evaluator)
        assert found.ended == ended
        assert found.sends == plain.sends
        assert found.registers == plain.registers
        assert (found.carry, found.steps, found.left) == (plain.carry, plain.steps, len(plain.queue))
        assert all(int(found.state[word]) == value for word, value in plain.state.items())
    return found


SET_UP = assemble("\n".join(f"parm r{n}" for n in range(2, 8)))
REGISTERS = [0x81234567, 7, 0xF0F0F0F0, 0x80000001, 0xFFFFFFFF, 0, 0xDEADBEEF]  # r1 to r7


def effect(word: int, state: dict[int, int] | None = None, extra: tuple[int, ...] = ()) -> MacroRun:
    """One instruction between the loading of registers and an exit."""
    return both([*SET_UP, word, EXIT, NOP], [*REGISTERS, *extra], state)


def changed(found: MacroRun) -> dict[int, int]:
    return {n: value for n, value in enumerate(found.registers) if n and value != REGISTERS[n - 1]}


R1, R2, R3, R4, R5, R6, R7 = REGISTERS
ARITHMETIC = [
    (0xFFFFD211, "mov r2, r2 - 1", {2: 6}),
    (0x00008B10, "mov r3, add(r1, r2)", {3: R1 + R2}),
    (0x00036410, "mov r4, addc(r4, r5)", {4: 0x80000000}),
    (0x00048B10, "mov r3, sub(r1, r2)", {3: R1 - R2}),
    (0x00148B10, "mov r3, and(r1, r2)", {3: R1 & R2}),
    (0x010C4212, "mov r2, extract(r1, 6, 4)", {2: R1 >> 6 & 15}),
    (0x20405B12, "mov r3, insert(r3, r1, 0, 1, 4)", {}),
]


@pytest.mark.parametrize(("word", "text", "change"), ARITHMETIC)
def test_worked_encodings_of_arithmetic(word: int, text: str, change: dict[int, int]) -> None:
    (line,) = disassemble([word])
    assert line.text == text and assemble(text) == [word]
    assert changed(effect(word)) == change


def test_worked_encodings_without_effect() -> None:
    assert [line.text for line in disassemble([NOP, EXIT])] == ["nop", "exit nop"]
    assert changed(effect(NOP)) == {} and not effect(NOP).sends
    assert both([EXIT, NOP, NOP], [1]).steps == 2


def test_worked_encodings_that_set_the_method() -> None:
    assert both([0x019D0021, 0x00000841, EXIT, NOP], [9]).sends == [(0x674, 9)]
    twice = both([0x05A00021, 0x00000841, 0x000008C1, NOP], [9])
    assert twice.sends == [(0x680, 9), (0x681, 9)]
    assert [line.text for line in disassemble([0x019D0021, 0x05A00021])] == ["maddr 0x674", "maddr 0x680:1"]
    assert [line.remark for line in disassemble([0x019D0021, 0x05A00021])] == ["CLEAR_SURFACE", "SET_CT_WRITE(0)"]


def test_worked_encodings_that_fetch() -> None:
    assert changed(effect(0x00000201, extra=(0x77,))) == {2: 0x77}
    found = both([0x00000A51, 0x00000841, EXIT, NOP], [0x1234, 0x77])
    assert found.sends == [(0x234, 0x1234)] and found.registers[2] == 0x77


def test_worked_encoding_of_a_read() -> None:
    found = effect(0x00819215, {0x206 + 7: 0xCAFE, 0x206: 1})
    assert changed(found) == {2: 0xCAFE}
    assert disassemble([0x00819215])[0].text == "mov r2, read(r2 + 0x206)"


def test_a_read_shows_what_it_adds() -> None:
    for text, word in (
        ("read(0)", 0x215), ("read(0x206)", 0x818215), ("read(r3)", 0x1A15), ("read(r3 + 0x206)", 0x819A15),
    ):  # fmt: skip
        assert disassemble([word])[0].text == f"mov r2, {text}" and list(assemble(f"mov r2, {text}")) == [word]


def test_a_run_ends_after_as_many_steps_as_it_may_take() -> None:
    endless = assemble("L: bz r0, L\nnop")
    assert (run(endless).ended, run(endless).steps) == ("budget", 1 << 20)
    assert (run(endless, budget=99).ended, run(endless, budget=99).steps) == ("budget", 99)


def test_worked_encodings_of_branches() -> None:
    assert disassemble([0xFFFFD017])[0].text == "bnz r2, .-1"
    assert disassemble([0x0000E827])[0].text == "bz annul r5, .+3"
    assert disassemble([0x00008007])[0].text == "bra .+2"
    # parm; three rounds of decrement and branch, the decrement again in each taken branch's slot; exit and its slot
    down = both([0x00000201, 0xFFFFD211, 0xFFFFD017, 0xFFFFD211, EXIT, NOP], [0, 5])
    assert (down.registers[2], down.steps) == (M32, 1 + 3 * 3 + 2)


def test_the_worked_loop() -> None:
    """A register fill: three words, 12 steps; the exit bit counts on the last pass only."""
    code = [0x00000A51, 0x00000301, 0xFFFFD211, 0xFFFFD017, 0x000018C1, 0x00000011]
    found = both(code, [0x680 | 1 << 12, 3, 0x1111])
    assert found.sends == [(0x680, 0x1111), (0x681, 0x1111), (0x682, 0x1111)]
    assert (found.ended, found.steps) == ("exit", 12)


# -- results ----------------------------------------------------------------------------------------------------------
METHOD = "maddr 0x680:2"


@pytest.mark.parametrize(
    ("text", "registers", "sends"),
    [
        ("parm r2", {2: 0x99}, []),
        ("parm r2 drop add(r1, r3)", {2: 0x99}, []),
        ("mov r2, r3", {2: R3}, []),
        ("maddr r2, r2 + 0x300\nsend r1", {2: 0x307}, [(0x307, R1)]),
        ("parm r2 send r2", {2: 0x99}, [(0x680, 7)]),
        ("send r2, r4\nsend r1", {2: R4}, [(0x680, R4), (0x682, R1)]),
        ("parm r2 maddr r2\nsend r1", {2: 0x99}, [(7, R1)]),
        ("maddr r2, 0x301:3 send parm\nsend r1", {2: 0x3301}, [(0x301, 0x99), (0x304, R1)]),
        ("maddrsend r2, 0x301:3\nsend r1", {2: 0x3301}, [(0x301, 3), (0x304, R1)]),
        ("send r0, r7", {}, [(0x680, R7)]),
        ("parm r0", {}, []),
    ],
)
def test_what_is_done_with_results(text: str, registers: dict[int, int], sends: list[tuple[int, int]]) -> None:
    code = assemble(f"{METHOD}\n{text}\nexit nop\nnop")
    found = both([*SET_UP, *code], [*REGISTERS, 0x99])
    assert changed(found) == registers and found.sends == sends


def test_register_0_is_always_0() -> None:
    found = both(assemble("mov r0, r1\nmov r2, r0 + 5\nexit send r0, r1\nsend r0"), [9])
    assert found.registers[0] == 0 and found.registers[2] == 5
    assert [value for _, value in found.sends] == [9, 0]


def test_method_addresses_have_12_bits_and_steps_6() -> None:
    found = both(assemble("maddr 0xfff:63\nsend 1\nsend 2\nexit send 3\nnop"), [0])
    assert found.sends == [(0xFFF, 1), (0x03E, 2), (0x07D, 3)]


# -- carry ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("a", [0, 1, 0x7FFFFFFF, 0x80000000, M32])
@pytest.mark.parametrize("b", [0, 1, 0x7FFFFFFF, 0x80000000, M32])
def test_64_bit_sums_and_differences(a: int, b: int) -> None:
    """Low halves first, high halves with what they carry."""
    code = assemble(
        """
        parm r2
        mov r3, add(r1, r2)
        mov r4, addc(r1, r2)
        mov r5, sub(r1, r2)
        exit mov r6, subb(r1, r2)
        mov r7, addc(r0, r0)
        """
    )
    found = both(code, [a, b])
    wide_a, wide_b = a << 32 | a, b << 32 | b
    total, rest = wide_a + wide_b, wide_a - wide_b
    assert found.registers[3] | found.registers[4] << 32 == total & (1 << 64) - 1
    assert found.registers[5] | found.registers[6] << 32 == rest & (1 << 64) - 1
    assert found.registers[7] == (0 if wide_a < wide_b else 1)  # carry means no borrow


def test_only_sums_and_differences_touch_the_carry() -> None:
    code = "mov r2, r0 - 1\nmov r3, add(r2, r2)\n{}\nexit mov r4, addc(r0, r0)\nnop"
    for text in ("mov r5, r2 + 1", "mov r5, xor(r2, r2)", "mov r5, extract(r2, 3, 5)", "mov r5, read(0x206)"):
        assert both(assemble(code.format(text)), [0]).registers[4] == 1


# -- flow -------------------------------------------------------------------------------------------------------------
def test_the_delay_slot_of_a_taken_branch_executes() -> None:
    found = both(assemble("bra L\nsend 1\nsend 2\nL: exit send 3\nsend 4"), [0])
    assert [value for _, value in found.sends] == [1, 3, 4]


def test_the_delay_slot_of_a_branch_not_taken_is_the_next_instruction() -> None:
    found = both(assemble("bz r1, L\nsend 1\nsend 2\nL: exit send 3\nsend 4"), [5])
    assert [value for _, value in found.sends] == [1, 2, 3, 4]


def test_annulled_branches_skip_the_next_instruction_only_when_taken() -> None:
    source = "bnz annul r1, L\nsend 1\nL: exit send 3\nsend 4"
    assert [value for _, value in both(assemble(source), [1]).sends] == [3, 4]
    assert [value for _, value in both(assemble(source), [0]).sends] == [1, 3, 4]


def test_exit_on_a_branch_counts_only_when_it_is_not_taken() -> None:
    source = "exit bnz r1, L\nsend 1\nsend 2\nL: send 3\nexit send 4\nsend 5"
    assert [value for _, value in both(assemble(source), [1]).sends] == [1, 3, 4, 5]
    assert [value for _, value in both(assemble(source), [0]).sends] == [1]


def test_exit_on_an_annulling_branch_that_is_not_taken_still_has_its_slot() -> None:
    found = both(assemble("exit bnz annul r1, L\nsend 1\nsend 2\nL: nop"), [0])
    assert [value for _, value in found.sends] == [1] and found.steps == 2


def test_exit_in_the_slot_of_a_taken_branch_is_ignored() -> None:
    found = both(assemble("bra L\nexit send 1\nsend 2\nL: send 3\nexit send 4\nsend 5"), [0])
    assert [value for _, value in found.sends] == [1, 3, 4, 5]


def test_exit_in_the_slot_of_an_exit_changes_nothing() -> None:
    assert both(assemble("exit send 1\nexit send 2\nsend 3"), [0]).sends == [(0, 1), (0, 2)]


def test_a_branch_in_the_slot_of_an_exit_comes_too_late() -> None:
    assert both(assemble("L: exit send 1\nbra L\nsend 3"), [0]).sends == [(0, 1)]


def test_branches_in_slots_of_branches_are_told() -> None:
    found = both(assemble("bra A\nbra B\nsend 1\nA: send 2\nsend 3\nB: exit send 4\nnop"), [0])
    assert found.odd == ("branch_in_slot",)
    assert [value for _, value in found.sends] == [2, 4]  # the instruction at A is the second branch's slot


def test_branches_reach_backwards_and_to_themselves() -> None:
    assert both(assemble("bra .\nnop"), [0], budget=100).ended == "budget"
    assert both(assemble("bra L\nnop\nM: exit send 2\nnop\nL: bra M\nnop"), [0]).sends == [(0, 2)]


def test_budgets_end_a_loop_exactly() -> None:
    for budget in (1, 2, 7, 100):
        found = both(assemble("L: bra L\nmov r2, r2 + 1"), [0], budget=budget)
        assert (found.ended, found.steps) == ("budget", budget)
        assert found.registers[2] == budget // 2


@pytest.mark.parametrize("word", [0x00000216, 0x000A0210, 0x03E00210, 0x00000219, 0x0000021E])
def test_what_the_engine_does_not_have_is_told(word: int) -> None:
    """Operation 6, functions 5 and 31, and words with bit 3 set."""
    found = both([word, EXIT, NOP], [5])
    assert found.odd == ("instruction",)
    assert found.registers[2] == 0


def test_parameters_that_are_missing_or_too_many() -> None:
    code = assemble("parm r2\nexit parm r3\nnop")
    assert (found := both(code, [1, 2])).ended == "parameter" and found.registers[2] == 2 and found.steps == 1
    assert both(code, [1, 2, 3]).ended == "exit"
    assert both(code, [1, 2, 3, 4, 5]).left == 2


def test_sends_change_what_reads_see() -> None:
    found = both(assemble("maddr 0x700\nsend 5\nmov r2, read(0x700)\nexit mov r3, read(r1)\nnop"), [0x701], {0x701: 8})
    assert found.registers[2:4] == [5, 8]


def test_firmware_acknowledges_calls() -> None:
    """The wait for a masked register write, as drivers have it."""
    source = "maddr 0xd00:1\nsend 0\nmaddr 0x8c4\nsend r1\nL: mov r2, read(0xd00)\nbz r2, L\nexit nop\nnop"
    found = both(assemble(source), [0x418800])
    assert found.ended == "exit" and found.sends == [(0xD00, 0), (0x8C4, 0x418800)]


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(UsageError):
        run([NOP] * 0x2001)
    with pytest.raises(UsageError):
        run([NOP], state={0x1000: 1})


def random_program(rng: random.Random) -> list[int]:
    """Words of which most are instructions, with branches that mostly stay inside."""
    size = rng.randrange(4, 40)
    code = []
    for at in range(size):
        word = rng.getrandbits(32) & ~8
        kind = rng.random()
        if kind < 0.2:
            word = word & 0x3FFF & ~7 | 7 | (rng.randrange(-at, size - at) & 0x3FFFF) << 14
        elif kind < 0.5:
            word = word & ~7 & ~(0x1F << 17) | rng.choice((0, 1, 2, 3, 8, 9, 10, 11, 12)) << 17
        if rng.random() < 0.8:
            word &= ~0x80
        code.append(word)
    return code


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_are_the_same_on_both_evaluators(seed: int) -> None:
    rng = random.Random(seed)
    code = random_program(rng)
    parameters = [rng.getrandbits(rng.choice((4, 32))) for _ in range(rng.randrange(1, 40))]
    state = {rng.randrange(0x1000): rng.getrandbits(32) for _ in range(50)}
    both(code, parameters, state, budget=rng.choice((10, 60)))


def test_many_random_programs_agree_with_the_plain_interpreter() -> None:
    ends = set()
    for seed in range(3000):
        rng = random.Random(seed)
        code = random_program(rng)
        parameters = [rng.getrandbits(rng.choice((4, 32))) for _ in range(rng.randrange(1, 60))]
        state = {rng.randrange(0x1000): rng.getrandbits(32) for _ in range(20)}
        plain = Plain(code, parameters, state)
        ended = plain.run(400)
        found = run(code, parameters, state, 400)
        assert (found.ended, found.sends, found.registers, found.carry, found.steps) == (
            ended, plain.sends, plain.registers, plain.carry, plain.steps,
        ), seed  # fmt: skip
        ends.add(ended)
    assert ends == {"exit", "parameter", "budget"}
