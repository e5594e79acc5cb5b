"""Words of constant buffers that programs read and nobody wrote, to the byte.

Memory is 0 at first, so a word that is not 0 was written. For those that are 0 the recording runs a second time,
without drawing, on memory where these words begin with a mark: a word that still has the mark when its draw comes was
not written.

Source: deko3d, memory blocks have no contents at first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from pocketgpu.capture.driver import drive
from pocketgpu.in_steps import InSteps
from pocketgpu.inspect.model.event import Range
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.draw.plans import Plan
from pocketgpu.maxwell.graphics.programs.stage_program import StageProgram
from pocketgpu.maxwell.host.observer import Observer
from pocketgpu.maxwell.sass.program.steps import Step

if TYPE_CHECKING:
    from pocketgpu.capture.formats.mxcap import ChannelLog

WORD = 4
MARK = b"\x5a\xc3\x96\xe1"
"""What a word of fresh memory has in the second run."""
MOST = 1 << 14
"""Most words that are looked at, and most pairs of a program and a buffer."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A word that is 0 when a draw first reads it. frame, draw: number of the draw in its frame."""

    frame: int
    draw: int
    at: str
    text: str


@dataclass
class Suspects:
    """Words that may be unset, by arena offset; what draws write is left out."""

    words: dict[int, Suspect] = field(default_factory=dict)
    stores: bool = False
    """Whether programs of draws store to memory."""
    drawn: set[Range] = field(default_factory=set)
    """Arena ranges of targets."""
    _seen: set[tuple[int, int, int]] = field(default_factory=set)
    _programs: dict[int, tuple[StageProgram, dict[int, dict[int, Step]]]] = field(default_factory=dict)

    def read_by(self, program: StageProgram) -> dict[int, dict[int, Step]]:
        """By slot and byte: the first instruction that names a word. Reads at computed places are left out."""
        known = self._programs.get(id(program))
        if known is None:
            found: dict[int, dict[int, Step]] = {}
            for step in program.steps:
                for source in step.sources:
                    if source.kind == "const":
                        found.setdefault(source.n, {}).setdefault(source.offset & -WORD, step)
            known = self._programs[id(program)] = program, found
        return known[1]

    def note(self, machine: GM20B, draw: Draw, plan: Plan, names: tuple[str, ...], place: tuple[int, int, str]) -> None:
        """Note the words that are 0 for a draw. place: frame, number of the draw, address."""
        self.stores = self.stores or plan.stores or plan.streams
        groups = {shader.stage: shader.group for shader in draw.shaders}
        for stage, program in plan.programs.items():
            bindings = draw.constants[groups.get(stage, 0)]
            for slot, words in self.read_by(program).items():
                bound = bindings[slot] if slot < len(bindings) else None
                if bound is None or (id(program), slot, bound.address) in self._seen or len(self._seen) >= MOST:
                    continue
                self._seen.add((id(program), slot, bound.address))
                for at, step in words.items():
                    offset = machine.memory.offset_of(bound.address + at, WORD) if at + WORD <= bound.size else None
                    if offset is None or machine.memory.arena[offset : offset + WORD].any() or len(self.words) >= MOST:
                        continue
                    text = (
                        f"the {names[stage]} program reads c[{slot:#x}][{at:#x}] at instruction {step.index} "
                        f"({step.name or step.op}), and nothing wrote these bytes ({bound.address + at:#x})"
                    )
                    self.words.setdefault(offset, Suspect(*place, text))


class _Second(Observer):
    """Watches the second run: which marks are left when draws come."""

    wants_draws = True

    def __init__(self, words: Mapping[int, Suspect], draws: bool) -> None:
        self._draws = draws
        self._wanted: dict[tuple[int, int], list[tuple[int, Suspect]]] = {}
        for offset, one in words.items():
            self._wanted.setdefault((one.frame, one.draw), []).append((offset, one))
        self.frame = self.number = 0
        self.found: list[Suspect] = []

    def draw_recorded(self, draw: Draw) -> None:
        self.number += 1

    def draw(self, draw: Draw, run: Callable[[], None]) -> None:
        for offset, one in self._wanted.get((self.frame, self.number - 1), ()):
            if self.machine.memory.arena[offset : offset + WORD].tobytes() == MARK:
                self.found.append(one)
        if self._draws:
            run()


def unset_words(log: ChannelLog, suspects: Suspects, evaluator: str) -> InSteps[list[Suspect]]:
    """The suspects that nobody had written when their draw came, in the order of the run, found in steps."""
    words = {
        offset: one
        for offset, one in suspects.words.items()
        if not any(place.overlaps(Range(offset, WORD)) for place in suspects.drawn)
    }
    if not words:
        return []
    driver, watch = drive(log, evaluator=evaluator), _Second(words, suspects.stores)
    arena = driver.machine.memory.arena
    for offset in words:
        arena[offset : offset + WORD] = bytearray(MARK)
    driver.machine.observe(watch)
    for frame in range(max(one.frame for one in words.values()) + 1):
        watch.frame, watch.number = frame, 0
        for _ in driver.steps():
            yield
    return watch.found


__all__ = ["Suspect", "Suspects", "unset_words"]
