"""The 3DS GPU as an object: memory, registers, command lists, screens.

gpu = N3DS()
gpu.memory.write(0x20000000, data)
gpu.write_register(0x10400010, 0x18000000 >> 3)
gpu.submit([0x12345678, 0x000F0010])
gpu.screens["top"].image.save("top.png")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.events import EventLog
from pocketgpu.facts.choices import choose
from pocketgpu.facts.external import EXTERNAL, HOLES, LCD, SCREENS
from pocketgpu.facts.external_init import CORE_START, INITS, InitSet
from pocketgpu.facts.memory_map import IO_RANGES, VRAM
from pocketgpu.facts.timing import CPU_CLOCK
from pocketgpu.lanes import Engine
from pocketgpu.observer import Observed
from pocketgpu.pica.checkpoint import Checkpoint
from pocketgpu.pica.core.layout import BANKS
from pocketgpu.pica.core.observer import Observer
from pocketgpu.pica.core.registers import register_id
from pocketgpu.pica.core.stats import Stats
from pocketgpu.pica.core.tiers import TIERS
from pocketgpu.pica.core.work_area import WorkArea
from pocketgpu.pica.display.lcd import Backlight, backlight
from pocketgpu.pica.engines.fill import MemoryFill
from pocketgpu.pica.engines.transfer import Move, TransferEngine
from pocketgpu.pica.external.registers import ExternalRegisters
from pocketgpu.pica.external.writes import RepeatedWork
from pocketgpu.pica.front.batch import DrawRunner
from pocketgpu.pica.front.draws import Core3D
from pocketgpu.pica.front.targets import RenderTarget
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.pica.texture.cache import TextureCache
from pocketgpu.pictures import Screen
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.forced import ForcedWord
    from pocketgpu.pica.external.timed import TimedRegisters
    from pocketgpu.pica.front.packets import DrawPackets
    from pocketgpu.pica.gsp import Gsp
    from pocketgpu.pica.pdc import DisplayMode

MIB = 1 << 20
TIMINGS = ("instant", "emulated")
MODELS = ("old", "new")
FEW_STATES = 8
"""So many states of draws are compiled one by one sooner than the code that draws all of them."""
LINES = ("PSC0", "PSC1", "PDC0", "PDC1", "PPF", "P3D")
"""The machine's interrupts."""
_SHOWN = np.array(
    sorted(
        block.base + offset
        for block in (EXTERNAL, LCD)
        for name, offset in block.places
        if name.startswith(("PDC", "LCD"))
    ),
    np.uint32,
)
"""Registers that affect what screens show, by address."""
_REGISTERS = (
    (EXTERNAL.base, EXTERNAL.base + max(hole.end for hole in HOLES)),
    *((one.base, one.end) for one in IO_RANGES if one.contains(LCD.base)),
)
"""Where the registers of the GPU, those of its 3D core among them, and of the LCDs are: first address and end."""


class N3DS(Observed[Observer]):
    """A Nintendo 3DS, reduced to its GPU.

    fcram: size of main memory in bytes, a whole number of pages (an old model has 128 MiB, a new one 256 MiB). threads:
    number of drawing threads; any number gives the same bytes. evaluator: "llvm" (machine code) or "numpy" (slow; the
    reference for the other). switches: named choices and their values (`pocketgpu switches` lists them); the others
    have their defaults. tier: "auto" uses specialised code if it is ready, and general code while it is compiled;
    "general" or "specialised" keeps to one of them, for tests and measurements (states that general code lacks always
    use specialised code). model: "old" or "new", visible in HARDWARE_ID; by default "new" with more than 128 MiB.

    timing: "instant" (the default): work is done when a call returns; `time` stays 0, and `step_vblank` ends a frame.
    "emulated": units are busy for a while, displays scan line by line, and time passes in `advance`, `run_until`,
    `step_vblank`, `finish`, and a little in every `read_register`. Both leave the same bytes in memory.

    memory: of another machine, which is not used any more; its size counts instead of `fcram`. See `under`.

    `events` lists errors of the guest and unsupported features. `observe` adds an observer, see `pica.core.observer`.

    :raises UsageError: an argument, a choice or a choice's value is not valid.
    """

    def __init__(
        self,
        fcram: int = 128 * MIB,
        threads: int = 1,
        evaluator: str = "llvm",
        switches: Mapping[str, str] | None = None,
        tier: str = "auto",
        timing: str = "instant",
        model: str | None = None,
        memory: GuestMemory | None = None,
    ) -> None:
        if threads < 1:
            raise UsageError(f"threads must be at least 1, not {threads}")
        try:
            self.choices = choose(switches)
        except ValueError as error:
            raise UsageError(str(error), hint="See: pocketgpu switches") from error
        if evaluator not in ("llvm", "numpy"):
            raise UsageError(f"evaluator must be 'llvm' or 'numpy', not {evaluator!r}")
        if tier not in TIERS:
            raise UsageError(f"tier must be one of {', '.join(TIERS)}, not {tier!r}")
        if timing not in TIMINGS:
            raise UsageError(f"timing must be 'instant' or 'emulated', not {timing!r}")
        if model not in (None, *MODELS):
            raise UsageError(f"model must be 'old' or 'new', not {model!r}")
        self.memory = memory or GuestMemory(fcram)
        self._how: dict[str, Any] = {"evaluator": evaluator, "threads": threads, "tier": tier, "timing": timing}
        # Render targets are there, and nearly every program clears some at once.
        self.memory.prefer_large_pages(self.memory.offset_of(VRAM.base, VRAM.size) or 0, VRAM.size)
        self.events = EventLog()
        self.stats = Stats()
        self._engine = Engine(self.memory.arena, evaluator)
        new = model == "new" or (model is None and fcram > 128 * MIB)
        self._core = Core3D(self.memory, self._engine, self.events, self.stats, threads, self.choices)
        self._core.runner.tier = tier
        # They have caches, which are kept when the machine is reset, like those of the core.
        self._fill = MemoryFill(self.memory, self._engine, self.choices)
        self._transfer = TransferEngine(self.memory, self._engine, self.choices)
        self._repeated = RepeatedWork(self.memory, self._core.layout)
        self._power_on(timing, new)

    def __repr__(self) -> str:
        return line_of(self, f"{self._switched_on[0]} time, frame {self.frame}, {counted(len(self.events), 'event')}")

    def _power_on(self, timing: str, new: bool) -> None:
        """The parts around the core, and the registers' values at power-on."""
        self._switched_on = (timing, new)
        units = (self._core, self._fill, self._transfer, self._repeated)
        parts = (self.memory, self._engine, *units, self.events, self.stats, self.choices)
        self._timed: TimedRegisters | None = None
        if timing == "emulated":
            from pocketgpu.pica.external.timed import TimedRegisters  # captures have no time, and do without

            self._timed = TimedRegisters(*parts)
        self._external = self._timed or ExternalRegisters(*parts)
        self._external.set_model(new)
        self._external.observers = self.observers
        if self._timed is not None:
            self._timed.on_vblank = self._vblank
        for name, value in CORE_START.items():
            self._core.registers[register_id(name)] = value
        self.frame = 0
        self._core.place = "f0"
        self._gsp: Gsp | None = None

    def under(self, switches: Mapping[str, str]) -> N3DS:
        """A machine with other choices that takes over this one's memory, and may `restore` its checkpoints. This one
        must not be used any more.

        Where this one met few states of draws, the new one keeps to specialised code: general code for other choices
        takes longer to compile.
        """
        how = dict(self._how)
        if how["tier"] == "auto" and self.runner.states <= FEW_STATES:
            how["tier"] = "specialised"
        return N3DS(**how, model=MODELS[self._switched_on[1]], switches=switches, memory=self.memory)

    def force(self, words: Sequence[ForcedWord]) -> None:
        """Have draws read other registers than commands write. To be called once, before there are observers."""
        if words:
            from pocketgpu.pica.front.forced import ForcedDraws

            self.observe(ForcedDraws(words))

    def reset(self) -> None:
        """Power cycle: the machine is as it was when it was made. It keeps its host memory, so that the next run need
        not wait for pages. Listeners of interrupts must be added again."""
        self.memory.reset(keep_pages=True)
        self.events.drain()
        self.stats.reset()
        self._core.reset()
        self._power_on(*self._switched_on)

    # -- registers --------------------------------------------------------------------------------------------------
    def write_register(self, physical: int, value: int) -> None:
        """Write a 32-bit register by physical address; in instant time, what it starts has finished on return. An
        address of the GPU or of the LCDs at which no register is gives an event in `events`.

        :raises UsageError: the address is of neither, for example the id of a register.
        """
        if not any(first <= physical < end for first, end in _REGISTERS):
            raise UsageError(
                f"no register is at {physical:#x}",
                location=f"{physical:#010x}",
                hint="Addresses are physical, such as EXTERNAL['PSC0_START'].address or PICA['TEXUNIT0_DIM'].address.",
            )
        self.write_registers(np.array([physical & ~3], np.uint32), np.array([value & 0xFFFFFFFF], np.uint32))

    def write_registers(self, addresses: np.ndarray, values: np.ndarray) -> None:
        """Many register writes in order, as a guest makes them: two uint32 arrays, addresses word-aligned and physical.
        Any address without a register is an event in `events`."""
        if self.observers:
            self._write_observed(np.asarray(addresses, np.uint32), np.asarray(values, np.uint32))
        else:
            self._external.write(addresses, values)

    def _write_observed(self, addresses: np.ndarray, values: np.ndarray) -> None:
        """Register writes; those of displays are reported separately, in their place between the others."""
        for one in self.observers:
            one.writes_start(addresses, values)
        # Not `isin`: its table would reach from the LCDs to the GPU, 2 MiB for each call.
        display = _SHOWN[_SHOWN.searchsorted(addresses) % len(_SHOWN)] == addresses
        if not display.any():
            self._external.write(addresses, values)
            return
        edges = np.flatnonzero(np.diff(display)) + 1
        for first, end in pairwise([0, *edges.tolist(), len(addresses)]):
            self._external.write(addresses[first:end], values[first:end])
            if display[first]:
                for one in self.observers:
                    one.display_written(addresses[first:end], values[first:end])

    def read_register(self, physical: int) -> int:
        """A 32-bit register by physical address; 0 for unused addresses. Emulated time advances a little."""
        return self._external.read(physical & ~3)

    def at_work(self, unit: str) -> bool:
        """Whether PSC0, PSC1, PPF or P3D is busy. In instant time only a unit that hangs is."""
        return self._external.at_work(unit)

    @property
    def work_ends_later(self) -> bool:
        """Whether a unit has work that ends at a later time, which only emulated time has."""
        return self._timed is not None and self._timed.work_ends_later

    def reset_units(self) -> None:
        """Fills, transfers and lists stop, also those that hang; they raise no interrupts."""
        self._external.reset_units()

    def submit(self, words: Sequence[int] | np.ndarray) -> bool:
        """Run command-list words without writing them to guest memory.

        Returns whether the list raised the P3D interrupt.
        """
        return self._external.submit(words) > 0

    def initialise(self, values: str | InitSet) -> None:
        """Write a set of initial register values: a name of `facts.external_init.INITS`, or a set.

        :raises UsageError: there is no set of that name.
        """
        found = values if isinstance(values, InitSet) else INITS.get(values)
        if found is None:
            raise UsageError(f"there is no set of values {values!r}", hint=f"There are: {', '.join(INITS)}.")
        addresses, words = zip(*found.writes, strict=True)
        self.write_registers(np.array(addresses, np.uint32), np.array(words, np.uint32))

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
            from pocketgpu.pica.gsp import Gsp

            self._gsp = Gsp(self)
        return self._gsp

    # -- inspection -------------------------------------------------------------------------------------------------
    def _observers_changed(self) -> None:
        self._core.observers = self._external.observers = self.observers
        for one in self.observers:
            one.machine = self

    @property
    def registers(self) -> np.ndarray:
        """The live words (0x300,) of the 3D core's registers, uint32, by number."""
        return self._core.registers

    def bank(self, name: str) -> np.ndarray:
        """The live words, uint32, of a memory that FIFO registers fill: "vs_code", "vs_uniforms", "lighting_lut" and so
        on (`layout.BANKS`)."""
        return self._core.bank(name)

    def peek(self, physical: int) -> int:
        """The word of a register of displays, LCDs, fills or transfers, without side effects of a read."""
        return self._external.peek(physical)

    def transfer_of(self, words: Mapping[str, int]) -> Move:
        """The work of the transfer engine for these words of its registers, by name; missing ones are 0."""
        return self._transfer.described(words)

    @property
    def textures(self) -> TextureCache:
        """Textures by register words, and their decoded texels."""
        return self._core.runner.textures

    @property
    def work(self) -> WorkArea:
        """The 3D core's part of the arena: packets, vertices and triangles of the current draws."""
        return WorkArea(self.memory.arena, self._core.layout)

    @property
    def runner(self) -> DrawRunner:
        """Prepares and runs recorded draws; for callers that run parts of a draw."""
        return self._core.runner

    def see_again(self, packets: DrawPackets, draw: int) -> None:
        """Restore the registers and banks that one of the current draws uses; when it runs, the walk of its list has
        gone further."""
        self._core.see_again(packets, draw)

    def checkpoint(self) -> Checkpoint:
        """The whole state, for `restore`. Instant time only, in which no unit works between calls."""
        return Checkpoint.take(self.memory, self._core, self._external, self.frame)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Restore a state of this machine. Listeners of interrupts stay; events are dropped.

        :raises UsageError: the state is from another machine.
        """
        self.frame = checkpoint.restore(self.memory, self._core, self._external)
        self.events.drain()
        self.stats.reset()

    # -- time ---------------------------------------------------------------------------------------------------------
    @property
    def timing(self) -> str:
        """ "instant" or "emulated"."""
        return TIMINGS[self._timed is not None]

    @property
    def time(self) -> int:
        """CPU cycles that have passed, 268,111,856 per second; always 0 in instant time."""
        return 0 if self._timed is None else self._timed.clock.now

    def _needs_time(self) -> TimedRegisters:
        if self._timed is None:
            raise UsageError("time stands still in this machine", hint="Make it with timing='emulated'.")
        return self._timed

    def advance(self, cycles: int) -> None:
        """Let CPU cycles pass: units finish, displays scan, interrupts fire.

        :raises UsageError: in instant time, for a negative number, or called from a listener of interrupts.
        """
        if cycles < 0:
            raise UsageError(f"time cannot go back by {-cycles} cycles")
        self._needs_time().advance(cycles)

    def run_until(self, interrupt: str, limit: int = CPU_CLOCK) -> bool:
        """Let time pass until an interrupt (PSC0, PSC1, PDC0, PDC1, PPF, P3D) fires, `limit` cycles at most.

        Returns whether it fired. Earlier interrupts do not count. Errors as for `advance`.
        """
        timed = self._needs_time()
        if interrupt not in LINES:
            raise UsageError(f"there is no interrupt {interrupt!r}", hint=f"There are: {', '.join(LINES)}.")
        if limit < 0:
            raise UsageError(f"time cannot go back by {-limit} cycles")
        return timed.run_until(interrupt, limit)

    def position(self, screen: str) -> tuple[int, int]:
        """(HCount, VCount) of the "top" or "bottom" screen's controller; no time passes.

        :raises UsageError: in instant time, or for another screen.
        """
        timed, unit = self._needs_time(), self._unit(screen)
        timed.settle()
        return timed.displays[unit].position(timed.clock.now)

    @staticmethod
    def _unit(screen: str) -> int:
        if screen not in SCREENS:
            raise UsageError(f"a screen is 'top' or 'bottom', not {screen!r}")
        return SCREENS.index(screen)

    def step_vblank(self) -> None:
        """A frame passes: both display controllers reach VBlank."""
        if self._timed is not None:
            self._timed.step_vblank()
            return
        if self._gsp is not None:
            self._gsp.before_vblank()
        self._next_frame()
        for unit in range(2):
            self._external.interrupt(f"PDC{unit}")

    def _vblank(self, unit: int) -> None:
        """Emulated time reached the VBlank of a controller; its interrupt is about to be raised, unless masked."""
        if unit == 0:
            self._next_frame()
        if self._gsp is not None and not self._external.display_masked(unit):
            self._gsp.before_vblank((unit,))

    def _next_frame(self) -> None:
        self.frame += 1
        self._core.place = f"f{self.frame}"
        for one in self.observers:
            one.vblank(self.frame - 1)

    # -- pictures -----------------------------------------------------------------------------------------------------
    @property
    def screens(self) -> dict[str, Screen]:
        """The current pictures: "top", "bottom", and "top-right" when the right eye has another picture.

        In instant time they show what the registers describe; in emulated time, what was scanned line by line so far.
        """
        return self._external.screens()

    def display_mode(self, screen: str) -> DisplayMode:
        """The timing in the current registers of the "top" or "bottom" screen's controller."""
        from pocketgpu.pica.pdc.mode import WORDS, display_mode  # a replay without time needs no timing

        prefix = f"PDC{self._unit(screen)}_"
        words = {name: self._external.peek(EXTERNAL[prefix + name].address) for name in WORDS}
        return display_mode(screen, words, self.choices)

    @property
    def backlights(self) -> dict[str, Backlight]:
        """The backlights of "top" and "bottom", from their registers."""
        return {name: backlight(name, self._external.peek) for name in SCREENS}

    @property
    def render_targets(self) -> list[RenderTarget]:
        """The colour buffers of all draws so far, in order of their first draw."""
        return self._core.runner.color_targets()

    def finish(self) -> None:
        """Wait until all work is done. In instant time work is done when a call returns, so this does nothing.

        In emulated time, time passes until all units are idle, except units that never end.
        """
        if self._timed is not None:
            self._timed.finish()

    # -- loading state ------------------------------------------------------------------------------------------------
    def load_memory(self, physical: int, data: bytes | memoryview) -> None:
        """Bytes to guest memory, as a capture's load; raises GuestMemoryError for unmapped addresses."""
        started = perf_counter()
        self.memory.write(physical, data)
        self.stats.seconds["loads"] += perf_counter() - started
        for one in self.observers:
            one.memory_loaded(physical, len(data))

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
        """The initial state of a capture: register words, and the memories that FIFO registers fill.

        Attributes (16, 4) and uniforms (96, 4) are 24-bit floats in the order x, y, z, w.
        """
        self._external.words[: len(external)] = external
        self._external.lcd[: len(lcd)] = lcd
        if self._switched_on[1]:  # the word of the machine, not that of the recorder's
            self._external.set_model(new=True)
        self._core.registers[:] = pica[: len(self._core.registers)]
        floats = {"fixed_attributes": default_attributes, "vs_uniforms": vs_uniforms, "gs_uniforms": gs_uniforms}
        words = {"vs_code": vs_code, "vs_opdescs": vs_opdescs, "gs_code": gs_code, "gs_opdescs": gs_opdescs}
        for bank in BANKS:
            if bank.name in floats:
                self._core.bank(bank.name)[:] = float24_bits(floats[bank.name]).ravel()
            elif bank.name in words:
                self._core.bank(bank.name)[:] = words[bank.name]
        self._core.touch_banks()
        if self._timed is not None:
            self._timed.restart()

    def load_tables(self, tables: Mapping[str, np.ndarray]) -> None:
        """Words of look-up tables in a capture's initial state: lighting_lut, fog_lut, proctex_lut, gas_lut; and, as
        vs_uniforms_f32 and gs_uniforms_f32, bits of uniforms that need more than 24."""
        for name, words in tables.items():
            self._core.bank(name.removesuffix("_f32"))[: len(words)] = words
        self._core.touch_banks()

    def save_state(self) -> dict[str, np.ndarray]:
        """Copies of the arguments of `load_initial` and `load_tables`, by name: the current registers and the memories
        of the shader units.

        Uniforms that fit 24 bits are zero in the wide arrays. Words of a vector that is only half uploaded are not
        included.
        """
        core = self._core
        found = {"external": self._external.words[:0x400], "lcd": self._external.lcd, "pica": core.registers}
        names = {"fixed_attributes": "default_attributes"}
        vectors = ("fixed_attributes", "vs_uniforms", "gs_uniforms")
        for bank in BANKS:
            if bank.name in vectors:
                held = core.bank(bank.name)
                words = float24_words(held)
                found[names.get(bank.name, bank.name)] = words.reshape(-1, 4)
                if bank.name.endswith("_uniforms"):
                    exact = np.array_equal(float24_bits(words), held)
                    found[f"{bank.name}_f32"] = np.zeros_like(held) if exact else held
            elif bank.name != "gs_uniform_marks":
                found[bank.name] = core.bank(bank.name)
        return {name: np.array(words, np.uint32) for name, words in found.items()}


def float24_words(bits: np.ndarray) -> np.ndarray:
    """24-bit floats (uint32 arrays) from f32 bits; the inverse of `float24_bits`."""
    exponent = bits >> 23 & 0xFF
    narrow = np.where(exponent == 0xFF, 0x7F, (exponent - 64) & 0x7F)
    words = bits >> 31 << 23 | narrow << 16 | bits >> 7 & 0xFFFF
    return np.where(exponent == 0, 0, words).astype(np.uint32)


def float24_bits(raw: np.ndarray) -> np.ndarray:
    """f32 bits of 24-bit floats (uint32 arrays); zero exponents become zero."""
    raw = raw.astype(np.uint32)
    sign, exponent, mantissa = raw >> 23 & 1, raw >> 16 & 0x7F, raw & 0xFFFF
    bits = np.where(exponent == 0x7F, 0xFF, exponent + 64) << 23 | mantissa << 7
    return np.where(exponent == 0, 0, bits | sign << 31).astype(np.uint32)


__all__ = ["N3DS"]


def __dir__() -> list[str]:
    return [*__all__]
