"""The macro engine as a part of a kernel: it runs instructions until the macro ends, or must wait.

Between two instructions all state is in the channel's state words. So a macro can stop before any instruction: to wait
for a parameter, or after a method that Python has to act upon.

Source: as for `isa.py`. A branch in the delay slot of another branch does what a pair of program counters would do: the
instruction at the first target is the delay slot of the second branch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from pocketgpu.lanes import I32, Lang, Value, Var
from pocketgpu.maxwell.mme import isa
from pocketgpu.maxwell.mme.isa import (
    FUNCTION_AT,
    FUNCTION_CODES,
    METHOD_ADDRESS,
    METHOD_STEP,
    OPERATION_AT,
    OPERATION_CODES,
    get,
)
from pocketgpu.maxwell.mme.states import BUSY, IDLE, WAITING


class StateWords(Protocol):
    """Access to named state words from inside a kernel."""

    def get(self, name: str, index: int = 0) -> Value: ...

    def put(self, name: str, value: Value | int, index: int = 0) -> None: ...


_HELD = {
    "pc": "MME_PC", "next": "MME_NEXT", "in_slot": "MME_IN_SLOT", "last": "MME_LAST", "carry": "MME_CARRY",
    "method": "MME_METHOD", "step": "MME_INCREMENT", "full": "MME_FULL", "budget": "MME_BUDGET",
    "steps": "MME_RUN_STEPS",
}  # fmt: skip


class MacroEngine:
    """Runs the macro that `state` describes.

    code: arena offset of the instruction RAM, whose words repeat above `mask`. read(word): the class's state.
    send(word, value): sends a method. odd(what): reports something that hardware would not accept, by a name of
    `pushbuffer.ODD`. wide_shifts: shifts by 32 and more give 0, instead of being taken modulo 32.
    """

    def __init__(
        self,
        k: Lang,
        state: StateWords,
        code: Value,
        mask: int,
        read: Callable[[Value], Value],
        send: Callable[[Value, Value], None],
        odd: Callable[[str], None],
        wide_shifts: bool = False,
    ) -> None:
        self.k, self.state, self.code, self.mask = k, state, code, mask
        self.read, self.send, self.odd, self.wide_shifts = read, send, odd, wide_shifts

    def run(self, engine_state: Var, going: Callable[[], Value]) -> None:
        """Go on while `engine_state` is BUSY and `going()` holds; a step budget of 0 ends the macro."""
        k, state = self.k, self.state
        self.held = {name: k.var(state.get(place)) for name, place in _HELD.items()}
        self.registers = k.array(isa.REGISTERS, lanes=1)
        for i in range(isa.REGISTERS):
            self.registers[i] = state.get("MME_REGISTERS", i)
        parameter, dry = state.get("MME_PARAMETER"), state.get("MME_DRY") != 0
        budget = self.held["budget"]
        for _ in k.loop(lambda: (engine_state.value == BUSY) & going() & (budget.value > 0)):
            pc = self.held["pc"].value
            word = k.load(I32, k.to_i64((pc & self.mask) << 2) + self.code)
            fetches = self._is(word, lambda result: result.fetches)
            blocked = fetches & (self.held["full"].value == 0) & ~dry
            for _ in k.when(blocked):
                engine_state.value = WAITING
            for _ in k.when(~blocked):
                self._instruction(word, pc, fetches, parameter, dry, engine_state)
        for name, place in _HELD.items():
            state.put(place, self.held[name].value)
        for i in range(isa.REGISTERS):
            state.put("MME_REGISTERS", self.registers[i], i)

    def _is(self, word: Value, which: Callable[[isa.Result], bool]) -> Value:
        """Whether the instruction's `Result` has a property; false for branches."""
        mask = self.k.i32(isa.result_mask(which))
        return ((mask.lsr(get(word, "result")) & 1) != 0) & (get(word, "op") != isa.BRANCH)

    def _instruction(
        self, word: Value, pc: Value, fetches: Value, parameter: Value, dry: Value, engine_state: Var
    ) -> None:
        k, held = self.k, self.held
        held["budget"].value = held["budget"].value - 1
        held["steps"].value = held["steps"].value + 1
        for _ in k.when((pc | get(word, "zero")) != (pc & self.mask)):
            self.odd("instruction")
        a, b = self.registers[get(word, "ra")], self.registers[get(word, "rb")]
        in_slot, last = held["in_slot"].value != 0, held["last"].value != 0

        # Where to go on. A branch that is not taken is like any other instruction.
        branch = get(word, "op") == isa.BRANCH
        taken = branch & ((a != 0) == (get(word, "not_zero") != 0))
        annul = taken & (get(word, "annul") != 0)
        target, after = pc + get(word, "immediate"), held["next"].value
        for _ in k.when(branch & in_slot):
            self.odd("branch_in_slot")
        held["pc"].value = k.select(annul, target, after)
        held["next"].value = k.select(annul, target, k.select(taken, target - 1, after)) + 1
        held["in_slot"].value = k.select(taken & ~annul, 1, 0)
        # The exit bit counts unless a branch is taken here, or was taken just before.
        exits = (get(word, "exit") != 0) & ~in_slot & ~taken
        held["last"].value = k.select(exits, 1, 0)
        for _ in k.when(last):
            engine_state.value = IDLE

        for _ in k.when(~branch):
            result = self._compute(word, a, b)
            got = k.select(fetches & ~dry, parameter, 0)
            for _ in k.when(fetches):
                for _ in k.when(dry):
                    self.odd("missing_parameter")
                held["full"].value = k.i32(0)
            rd = get(word, "rd")
            kept = k.select(self._is(word, lambda r: r.parameter_to_rd), got, result)
            self.registers[rd] = k.select(rd == 0, 0, kept)
            step = result.bits(METHOD_STEP.lo, METHOD_STEP.width)
            for _ in k.when(self._is(word, lambda r: r.sets_method)):
                held["method"].value = result.bits(METHOD_ADDRESS.lo, METHOD_ADDRESS.width)
                held["step"].value = step
            for _ in k.when(self._is(word, lambda r: bool(r.sends))):
                sent = k.select(self._is(word, lambda r: r.sends == "parameter"), got, result)
                sent = k.select(self._is(word, lambda r: r.sends == "step"), step, sent)
                method = held["method"].value
                held["method"].value = (method + held["step"].value) & METHOD_ADDRESS.mask
                self.send(method, sent)

    def _compute(self, word: Value, a: Value, b: Value) -> Value:
        k = self.k

        def function(code: int) -> Value:
            known = FUNCTION_AT.get(code)
            if known is None:
                self.odd("instruction")
                return k.i32(0)
            result, carry = known.compute(k, a, b, self.held["carry"].value)
            self.held["carry"].value = carry
            return result

        def operation(code: int) -> Value:
            known = OPERATION_AT.get(code)
            if known is None or known.name == "branch":
                self.odd("instruction")
                return k.i32(0)
            if known.compute is not None:
                result = known.compute(k, word, a, b)
                return k.select(a.below(32), result, 0) if known.shifts and self.wide_shifts else result
            if known.name == "read":
                return self.read((a + get(word, "immediate")) & METHOD_ADDRESS.mask)
            return k.switch(get(word, "function"), [partial(function, code) for code in range(FUNCTION_CODES)])

        return k.switch(get(word, "op"), [partial(operation, code) for code in range(OPERATION_CODES)])


def start(state: StateWords, macro: Value, file: Value, address: Value, argument: Value) -> None:
    """Make `macro` ready to run from `address`, with its first argument in register 1; all else is zero."""
    for name in (
        "MME_IN_SLOT", "MME_LAST", "MME_CARRY", "MME_METHOD", "MME_INCREMENT", "MME_FULL", "MME_DRY", "MME_RUN_STEPS",
    ):  # fmt: skip
        state.put(name, 0)
    for i in range(isa.REGISTERS):
        state.put("MME_REGISTERS", argument if i == 1 else 0, i)
    state.put("MME_MACRO", macro)
    state.put("MME_FILE", file)
    state.put("MME_PC", address)
    state.put("MME_NEXT", address + 1)
