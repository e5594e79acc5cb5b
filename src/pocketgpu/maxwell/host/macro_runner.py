"""Running one macro without a machine: the methods it sends, for given parameters and a given state of the class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.lanes import I32, Engine, Lang, Value, kernel
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.host.layout import CHANNEL, CHANNEL_LAYOUT, FILE_WORDS, MME_WORDS
from pocketgpu.maxwell.host.pushbuffer import FALCONS, SCRATCH, ChannelState
from pocketgpu.maxwell.host.stops import ODD
from pocketgpu.maxwell.mme.interpreter import MacroEngine
from pocketgpu.maxwell.mme.states import BUSY, IDLE, WAITING

BASE = 4096  # the first page of an arena stays zero
LOG = BASE + CHANNEL_LAYOUT.staging
MAX_SENDS = 1 << 16
"""Methods kept of one run; later ones are counted and act on the state."""
BUDGET = 1 << 20


@kernel(1)
def run_macro(k: Lang) -> None:
    """Continue the macro that the state words describe; sends are logged as pairs (method, value)."""
    state = ChannelState(k, k.i64(BASE))
    engine, sent = k.var(state.get("MME_STATE")), k.var(state.get("RUN"))

    def place(word: Value | int) -> Value:
        at = word << 2 if isinstance(word, Value) else k.i32(4 * word)
        return k.to_i64(at) + (BASE + CHANNEL_LAYOUT.registers)

    def send(word: Value, value: Value) -> None:
        for _ in k.when(sent.value < MAX_SENDS):
            at = k.to_i64(sent.value << 3) + LOG
            k.store(I32, at, word)
            k.store(I32, at + 4, value)
        sent.value = sent.value + 1
        k.store(I32, place(word), value)
        for _ in k.when((word - FALCONS.start).below(len(FALCONS))):
            k.store(I32, place(SCRATCH), 1)

    def odd(what: str) -> None:
        state.put("ODD", state.get("ODD") | ODD[what])

    code = k.i64(BASE + CHANNEL_LAYOUT.mme_code)
    machine = MacroEngine(k, state, code, MME_WORDS - 1, lambda word: k.load(I32, place(word)), send, odd)
    machine.run(engine, lambda: engine.value == BUSY)
    state.put("RUN", sent.value)
    state.put("MME_STATE", engine.value)


@dataclass(frozen=True)
class MacroRun:
    """What a macro did. ended: "exit", "parameter" (it waits for one more), or "budget" (it took all its steps).

    sends: (method word, value) in order, the first `MAX_SENDS` of `sent`. left: parameters that it did not take. odd:
    what hardware would not accept, by name in `pushbuffer.ODD`. state: the words of the class afterwards.
    """

    ended: str
    sends: list[tuple[int, int]]
    sent: int
    registers: list[int]
    carry: int
    steps: int
    left: int
    odd: tuple[str, ...]
    state: np.ndarray


def run(
    words: Sequence[int],
    parameters: Iterable[int] = (0,),
    state: Mapping[int, int] | None = None,
    budget: int = BUDGET,
    evaluator: str = "llvm",
) -> MacroRun:
    """Run a macro from its first word and return what it did.

    parameters: the first is in register 1 at the start; the macro fetches the others. state: register words of the
    class (number: value) at the start, others are 0; the macro changes a copy, which the result has.

    :raises UsageError: `words` has more words than instruction RAM, or `state` has a number that does not exist.
    """
    if len(words) > MME_WORDS:
        raise UsageError(f"{len(words)} words are more than the {MME_WORDS} that a macro can have")
    unknown = [word for word in state or {} if not 0 <= word < FILE_WORDS]
    if unknown:
        raise UsageError(f"there is no state word {unknown[0]:#x}", hint=f"They go from 0 to {FILE_WORDS - 1:#x}.")
    arena = np.zeros(LOG + 8 * MAX_SENDS, np.uint8)
    engine = Engine(arena, evaluator)
    go = engine.get(run_macro)
    fields = arena[BASE + CHANNEL_LAYOUT.state :][: CHANNEL.size].view(np.int32)
    file = arena[BASE + CHANNEL_LAYOUT.registers :][: 4 * FILE_WORDS].view(np.uint32)
    for word, value in (state or {}).items():
        file[word] = value & 0xFFFFFFFF
    code = arena[BASE + CHANNEL_LAYOUT.mme_code :][: 4 * MME_WORDS].view(np.uint32)
    code[: len(words)] = words
    first, *rest = [value & 0xFFFFFFFF for value in parameters] or [0]
    at = lambda name: getattr(CHANNEL, name) // 4
    registers = fields[at("MME_REGISTERS") :][:8].view(np.uint32)
    registers[1] = first
    fields[at("MME_NEXT")] = 1
    fields[at("MME_BUDGET")] = budget
    fields[at("MME_STATE")] = BUSY
    taken = 0
    while True:
        go()
        if fields[at("MME_STATE")] != WAITING or taken == len(rest):
            break
        fields[at("MME_PARAMETER")] = np.uint32(rest[taken]).view(np.int32)
        fields[at("MME_FULL")] = 1
        fields[at("MME_STATE")] = BUSY
        taken += 1
    sent = int(fields[at("RUN")])
    log = arena[LOG:].view(np.uint32).reshape(-1, 2)[: min(sent, MAX_SENDS)]
    ended = {IDLE: "exit", WAITING: "parameter", BUSY: "budget"}[int(fields[at("MME_STATE")])]
    odd = int(fields[at("ODD")])
    return MacroRun(
        ended,
        [(int(method), int(value)) for method, value in log],
        sent,
        [int(value) for value in registers],
        int(fields[at("MME_CARRY")]),
        int(fields[at("MME_RUN_STEPS")]),
        len(rest) - taken,
        tuple(name for name, bit in ODD.items() if odd & bit),
        file.copy(),
    )
