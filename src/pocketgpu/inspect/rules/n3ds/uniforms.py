"""Float uniforms that programs read and nobody wrote.

A second run of the capture draws nothing. Before it starts, each float uniform that is zero gets a mark, a NaN that no
upload can make. A mark that a draw's program would read was never overwritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.driver import drive
from pocketgpu.facts.pica_enums import GEOMETRY_MODE, GEOMETRY_STAGE
from pocketgpu.in_steps import InSteps
from pocketgpu.inspect.n3ds.programs import Program
from pocketgpu.inspect.n3ds.resources.targets import RegisterWords
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.observer import Run, Undrawn
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS

if TYPE_CHECKING:
    from pocketgpu.capture.formats.n3ds_trace import N3DSTrace

UNITS: Final = (("vertex", "vs", "VSH"), ("geometry", "gs", "GSH"))
"""Unit, the beginning of the names of its memories, and of its registers."""
_MARK: Final = 0x7FC5A5A5
_WIDTH: Final = 4


@dataclass
class UnsetUniform:
    """A float uniform that a program reads and nobody wrote. unit: "vertex" or "geometry". register: its number. axes:
    the components, such as "xyzw". line: the first instruction that reads it, as text, at `address`. at: the first such
    draw; draws: how many; last: the frame of the last one."""

    unit: str
    register: int
    axes: str
    address: int
    line: str
    at: str
    draws: int = 0
    last: int = 0


class _UniformWatch(Undrawn):
    """Looks at the programs and uniforms of draws, and draws none."""

    def __init__(self, machine: N3DS) -> None:
        self._machine = machine
        self.found: dict[tuple[str, int, str], UnsetUniform] = {}
        self._programs: dict[tuple[bytes, bytes, int, int], Program] = {}
        self._in_list: dict[tuple[int, int, int, int], Program] = {}
        """Programs by the versions of their memories, which are valid in one list only."""
        self._frame = self._draws = 0

    def draws(self, packets: DrawPackets, run: Run) -> None:
        self._in_list.clear()
        for unit, bank, prefix in UNITS:
            # A mark that is gone from the live memory does not come back.
            if bool((self._machine.bank(f"{bank}_uniforms") == _MARK).any()) or self._any(packets, bank):
                for place in range(len(packets)):
                    self._look(packets, place, unit, bank, prefix)
        self._draws += len(packets)

    def vblank(self, frame: int) -> None:
        self._frame, self._draws = frame + 1, 0

    def _any(self, packets: DrawPackets, bank: str) -> bool:
        """Whether the first of the draws still had marks: they go one by one, and none comes back."""
        return bool((self._uniforms(packets, bank, 0) == _MARK).any())

    @staticmethod
    def _uniforms(packets: DrawPackets, bank: str, place: int) -> NDArray[np.uint32]:
        return np.frombuffer(packets.seen(f"{bank}_uniforms", place), np.uint32).reshape(-1, _WIDTH)

    def _look(self, packets: DrawPackets, place: int, unit: str, bank: str, prefix: str) -> None:
        marked = self._uniforms(packets, bank, place) == _MARK
        if not marked.any():
            return
        get = StaticRegisters(RegisterWords(packets.registers[place]))
        # In the other modes vertices arrive in uniforms.
        runs = get("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON and get("GSH_MISC0.mode") == GEOMETRY_MODE.POINT
        if unit == "geometry" and not runs:
            return
        program = self._program(packets, place, unit, bank, get(f"{prefix}_ENTRYPOINT.entry"),
                                get(f"{prefix}_BOOLUNIFORM.bools"))  # fmt: skip
        for register, mask in sorted(program.uniforms.items()):
            axes = "".join(axis for n, axis in enumerate("xyzw") if mask >> n & 1 and marked[register, n])
            if axes:
                self._note(unit, program, register, axes, f"f{self._frame}/d{self._draws + place}")

    def _program(self, packets: DrawPackets, place: int, unit: str, bank: str, entry: int, bools: int) -> Program:
        code, table = (int(packets.versions(f"{bank}_{what}")[place]) for what in ("code", "opdescs"))
        known = self._in_list.get((code, table, entry, bools))
        if known is None:
            key = packets.seen(f"{bank}_code", place), packets.seen(f"{bank}_opdescs", place), entry, bools
            known = self._programs.get(key)
            if known is None:
                words, descriptors = (tuple(np.frombuffer(data, "<u4").tolist()) for data in key[:2])
                known = self._programs[key] = Program(unit, words, descriptors, entry, bools, "")
            self._in_list[code, table, entry, bools] = known
        return known

    def _note(self, unit: str, program: Program, register: int, axes: str, at: str) -> None:
        one = self.found.get((unit, register, axes))
        if one is None:
            address, line = program.reader_of(register)
            one = self.found[unit, register, axes] = UnsetUniform(unit, register, axes, address, line, at)
        one.draws += 1
        one.last = self._frame


def unset_uniforms(trace: N3DSTrace, frames: int) -> InSteps[list[UnsetUniform]]:
    """Uniforms that draws of the first frames of a capture read and nobody wrote, in order of draws, found in steps.
    One frame more than it has: also draws after the last."""
    driver = drive(trace)
    watch = _UniformWatch(driver.machine)
    for _, bank, _ in UNITS:
        words = driver.machine.bank(f"{bank}_uniforms")
        rows = words.reshape(-1, _WIDTH)
        rows[(rows == 0).all(axis=1)] = _MARK
    driver.machine.observe(watch)
    for _ in range(frames):
        for _ in driver.steps():
            yield
    return list(watch.found.values())


__all__ = ["UnsetUniform", "unset_uniforms"]
