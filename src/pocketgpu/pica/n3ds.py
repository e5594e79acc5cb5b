"""The 3DS GPU as an object: memory, registers, command lists, screens.

gpu = N3DS()
gpu.memory.write(0x20000000, data)
gpu.write_register(0x10400010, 0x18000000 >> 3)
gpu.submit([0x12345678, 0x000F0010])
gpu.screens["top"].image.save("top.png")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from ..errors import UsageError
from ..events import EventLog
from ..facts.gsp import CORE_START
from ..facts.switches import choose
from ..lanes import Engine
from ..memory import GuestMemory
from .display import Screen, scan_out
from .draws import Core3D
from .external import ExternalRegisters
from .layout import BANKS
from .registers import register_id
from .stats import Stats
from .targets import RenderTarget
from .tiers import TIERS

if TYPE_CHECKING:
    from .gsp import Gsp

MIB = 1 << 20


class N3DS:
    """A Nintendo 3DS as far as its GPU goes.

    fcram: bytes of main memory (128 MiB, or 256 MiB for the new model). threads: how many draw; any number gives the
    same bytes. evaluator: "llvm" (machine code) or "numpy" (the oracle, slow). switches: chosen values of named
    switches (`pocketgpu switches` lists them); the others have their defaults. tier: "general" or "specialised" code
    only, for tests and measurements; by default whatever is at hand sooner.

    Work is done when a call returns. `events` tells what the guest did wrong or what is not drawn yet.

    :raises UsageError: an unknown switch, value or evaluator, or less than one thread.
    """

    def __init__(
        self,
        fcram: int = 128 * MIB,
        threads: int = 1,
        evaluator: str = "llvm",
        switches: Mapping[str, str] | None = None,
        tier: str = "auto",
    ) -> None:
        if threads < 1:
            raise UsageError(f"threads must be at least 1, not {threads}")
        try:
            self.switches = choose(switches)
        except ValueError as error:
            raise UsageError(str(error), hint="See: pocketgpu switches") from error
        if evaluator not in ("llvm", "numpy"):
            raise UsageError(f"evaluator must be 'llvm' or 'numpy', not {evaluator!r}")
        if tier not in TIERS:
            raise UsageError(f"tier must be one of {', '.join(TIERS)}, not {tier!r}")
        self.memory = GuestMemory(fcram)
        self.events = EventLog()
        self.stats = Stats()
        self._engine = Engine(self.memory.arena, evaluator)
        self._core = Core3D(self.memory, self._engine, self.events, self.stats, threads, self.switches)
        self._core.runner.tier = tier
        self._external = ExternalRegisters(
            self.memory, self._engine, self._core, self.events, self.stats, self.switches
        )
        for name, value in CORE_START.items():
            self._core.registers[register_id(name)] = value
        self.frame = 0
        self._core.place = "f0"
        self._gsp: Gsp | None = None

    # -- registers --------------------------------------------------------------------------------------------------
    def write_register(self, physical: int, value: int) -> None:
        """Write a 32-bit register by physical address; units that it starts have finished on return."""
        self.write_registers(np.array([physical & ~3], np.uint32), np.array([value & 0xFFFFFFFF], np.uint32))

    def write_registers(self, addresses: np.ndarray, values: np.ndarray) -> None:
        """Many register writes in order: two uint32 arrays, addresses word-aligned and physical."""
        self._external.write(addresses, values)

    def read_register(self, physical: int) -> int:
        """A 32-bit register by physical address; 0 where there is none."""
        return self._external.read(physical & ~3)

    def submit(self, words: Sequence[int] | np.ndarray) -> bool:
        """Run command-list words without putting them into guest memory.

        Returns whether the list raised the P3D interrupt.
        """
        fired = self._core.run_words(words)
        self._external.interrupt("P3D", fired)
        return fired > 0

    def take_interrupts(self) -> dict[str, int]:
        """How often each interrupt fired since the last call: PSC0, PSC1, PDC0, PDC1, PPF, P3D."""
        return self._external.take_interrupts()

    def on_interrupt(self, listener: Callable[[str, int], None]) -> None:
        """From now on, call `listener(name, count)` whenever interrupts fire; `take_interrupts` still counts them."""
        self._external.listeners.append(listener)

    @property
    def gsp(self) -> Gsp:
        """The system software's graphics module: GX commands, shared memory, service calls. Made on first use."""
        if self._gsp is None:
            from .gsp import Gsp

            self._gsp = Gsp(self)
        return self._gsp

    # -- time and pictures --------------------------------------------------------------------------------------------
    def step_vblank(self) -> None:
        """A frame passes: both display controllers reach VBlank."""
        if self._gsp is not None:
            self._gsp.before_vblank()
        self.frame += 1
        self._core.place = f"f{self.frame}"
        for unit in range(2):
            self._external.interrupt(f"PDC{unit}")

    @property
    def screens(self) -> dict[str, Screen]:
        """What the screens show now: "top", "bottom", and "top-right" when the right eye sees another picture."""
        return scan_out(
            self.memory, self.read_register, self._external.luts, self.events, self._core.place, self.switches
        )

    @property
    def render_targets(self) -> list[RenderTarget]:
        """The colour buffers that draws went to so far, in order of their first draw."""
        return self._core.runner.color_targets()

    def finish(self) -> None:
        """Wait until all work is done. Work is done when a call returns, so this only states the intent."""

    # -- loading state ------------------------------------------------------------------------------------------------
    def load_memory(self, physical: int, data: bytes | memoryview) -> None:
        """Bytes to guest memory, as a capture's load; raises GuestMemoryError where no memory is."""
        started = perf_counter()
        self.memory.write(physical, data)
        self.stats.seconds["loads"] += perf_counter() - started

    def load_initial(
        self,
        *,
        external: np.ndarray,
        lcd: np.ndarray,
        pica: np.ndarray,
        default_attributes: np.ndarray,
        vs_code: np.ndarray,
        vs_opdescs: np.ndarray,
        vs_uniforms: np.ndarray,
        gs_code: np.ndarray,
        gs_opdescs: np.ndarray,
        gs_uniforms: np.ndarray,
    ) -> None:
        """The state that a capture starts with: register words, and the memories behind the FIFO registers.

        Attributes (16, 4) and uniforms (96, 4) are 24-bit floats in the order x, y, z, w.
        """
        self._external.words[: len(external)] = external
        self._external.lcd[: len(lcd)] = lcd
        self._core.registers[:] = pica[: len(self._core.registers)]
        floats = {"fixed_attributes": default_attributes, "vs_uniforms": vs_uniforms, "gs_uniforms": gs_uniforms}
        words = {"vs_code": vs_code, "vs_opdescs": vs_opdescs, "gs_code": gs_code, "gs_opdescs": gs_opdescs}
        for bank in BANKS:
            if bank.name in floats:
                self._core.bank(bank.name)[:] = float24_bits(floats[bank.name]).ravel()
            elif bank.name in words:
                self._core.bank(bank.name)[:] = words[bank.name]
        self._core.touch_banks()


def float24_bits(raw: np.ndarray) -> np.ndarray:
    """f32 bits of 24-bit floats (uint32 arrays); zero exponents become zero."""
    raw = raw.astype(np.uint32)
    sign, exponent, mantissa = raw >> 23 & 1, raw >> 16 & 0x7F, raw & 0xFFFF
    bits = np.where(exponent == 0x7F, 0xFF, exponent + 64) << 23 | mantissa << 7
    return np.where(exponent == 0, 0, bits | sign << 31).astype(np.uint32)
