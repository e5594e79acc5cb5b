"""What can be seen of a scene after it has run, on our own machine or on a console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu import capture
from pocketgpu.late_dataclass import dataclass
from pocketgpu.probe.model.scene import Made


@dataclass(frozen=True, eq=False)
class Observation:
    """What a scene left, by what was looked at.

    pictures: by screen, RGB of shape (height, width, 3), at the end of the last frame. memory: by (address, bytes).
    registers: by address. interrupts: how often the program was told that a unit has finished, by the
    unit's name; on a Switch the values of syncpoints. hung, errors: as in `ProgramView`.
    """

    pictures: Mapping[str, NDArray[np.uint8]]
    memory: Mapping[tuple[int, int], bytes]
    registers: Mapping[int, int]
    interrupts: Mapping[str, int]
    hung: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    def differences(self, other: Observation) -> tuple[str, ...]:
        """What is not the same in another observation of the same scene; what only one of them has is not compared."""
        parts = [
            f"picture {name}"
            for name in self.pictures
            if name in other.pictures and not np.array_equal(self.pictures[name], other.pictures[name])
        ]
        parts += [f"memory {at:#x}" for at, size in self.memory if _differ(self.memory, other.memory, (at, size))]
        parts += [f"register {at:#x}" for at in self.registers if _differ(self.registers, other.registers, at)]
        raised = dict.fromkeys((*self.interrupts, *other.interrupts))
        parts += [f"interrupt {name}" for name in raised if self.interrupts.get(name) != other.interrupts.get(name)]
        return tuple(parts)


def _differ(mine: Mapping[Any, Any], other: Mapping[Any, Any], key: Any) -> bool:
    return key in other and mine[key] != other[key]


def observe(made: Made, switches: Mapping[str, str], evaluator: str = "llvm") -> Observation:
    """Run a scene on our own machine, with some choices, and look where it says. It runs as on a console: a program
    submits the capture, and the system software may refuse what it asks for."""
    opened, watch = capture.of_bytes(made.data), made.watch
    machine: Any = opened.provider.make_machine(
        opened.trace, 1, switches, evaluator, timed=made.timed, new_model=made.new_model
    )
    driver = opened.driver(machine=machine)
    seen = driver.play_as_program(watch.registers)
    return Observation(
        pictures={name: screen.array[..., :3] for name, screen in seen.pictures.items() if watch.pictures},
        memory={(at, size): bytes(machine.memory.read(at, size)) for at, size in watch.memory},
        registers={at: watch.bits_of(at, word) for at, word in seen.registers.items()},
        interrupts=seen.interrupts if watch.interrupts else {},
        hung=seen.hung,
        errors=seen.errors,
    )


__all__ = ["Observation", "observe"]
