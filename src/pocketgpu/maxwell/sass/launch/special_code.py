"""Specialised code of a program: one kernel, or a kernel for each part of a long program."""

from __future__ import annotations

from typing import Any

from pocketgpu.lanes import Engine, Kernel, late
from pocketgpu.maxwell.sass.launch.kernel_handles import Words, handles_at
from pocketgpu.maxwell.sass.program.flow import Flow
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH, MOST_PARTS, NO_PART

run_in_parts = late("pocketgpu.maxwell.sass.warp.in_parts", "run_in_parts")


class SpecialCode:
    """A kernel that runs warps of a program, with its static values.

    Parts of a long program are made one by one, so that several processes can make them at once.
    """

    def __init__(self, kernel: Kernel, flow: Flow, static: dict[str, Any]) -> None:
        """kernel: `run_warp` or `run_stage_warp`."""
        self.kernel, self.cuts, self.static = kernel, flow.cuts, static
        assert len(self.cuts) <= MOST_PARTS

    def __repr__(self) -> str:
        return f"<code of {self.kernel.name} in {max(len(self.cuts), 1)} parts>"

    @property
    def pieces(self) -> list[tuple[Kernel, dict[str, Any]]]:
        """Kernels that are made for it, with their static values; the last one runs warps."""
        if not self.cuts:
            return [(self.kernel, self.static)]
        parts = [(self.kernel, self.static | {"part": number}) for number in range(len(self.cuts))]
        return [*parts, (run_in_parts, {})]

    def loaded(self, engine: Engine) -> bool:
        """Whether an engine can run it at once."""
        return all(engine.loaded(kernel, **static) for kernel, static in self.pieces)

    def has(self, engine: Engine) -> bool:
        """Whether it needs no compiling."""
        return all(engine.has(kernel, **static) for kernel, static in self.pieces)

    def later(self, engine: Engine) -> None:
        """Make it in the background."""
        for kernel, static in self.pieces:
            engine.later(kernel, **static)

    def handle(self, engine: Engine, words: Words) -> int:
        """The handle of what runs a warp. The launch record (words) gets the parts."""
        handles = [engine.handle(kernel, **static) for kernel, static in self.pieces]
        if self.cuts:
            at = LAUNCH.PART_FIRST // 4
            words[at : at + MOST_PARTS] = NO_PART
            words[at : at + len(self.cuts)] = self.cuts
            handles_at(words, LAUNCH.PART, len(self.cuts))[:] = handles[:-1]
        return handles[-1]


__all__ = ["SpecialCode"]
