"""GX commands: checked, translated to physical addresses, and turned into register writes.

All checks of a command come before its first effect, so that a refused command changes nothing. What is checked
follows the documentation (multiples of 8 for all but RequestDMA and FlushCacheRegions, ends above starts, addresses
that the GPU can reach); the simulators check less, see the switches gsp.alignment and gsp.untranslatable.

Source: 3dbrew GSP Shared Memory (GX commands), GPU/External Registers (what is written for them).
"""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.errors import GuestMemoryError
from pocketgpu.facts.gsp import (
    BAD_ADDRESS,
    BAD_COMBINATION,
    BAD_SIZE,
    BAD_VALUE,
    BUSY,
    GX_COMMANDS,
    GX_FAIL_IF_BUSY,
    MISALIGNED_ADDRESS,
    MISALIGNED_SIZE,
    GxCommand,
)
from pocketgpu.facts.pica import PICA
from pocketgpu.pica.gsp.machine import Machine, Refused, Translator, Write, address, write

_UNITS: dict[str, tuple[str, ...]] = {
    "ProcessCommandList": ("P3D",),
    "MemoryFill": ("PSC0", "PSC1"),
    "DisplayTransfer": ("PPF",),
    "TextureCopy": ("PPF",),
}
"""The units that a command of this name has to itself. Copies are always done at once."""


class GxProcessor:
    """Runs GX commands on a machine."""

    def __init__(self, machine: Machine, translate: Translator) -> None:
        self.machine, self.translate = machine, translate
        self.flushed: tuple[tuple[int, int], ...] = ()
        self._run: dict[int, Callable[[GxCommand, tuple[int, ...], bool], str | None]] = {
            0: self._dma,
            1: self._list,
            2: self._fill,
            3: self._display_transfer,
            4: self._texture_copy,
            5: self._flush,
        }

    def run(self, words: tuple[int, ...], recorded: bool = False) -> str | None:
        """Run a command of eight words; raises Refused.

        recorded: the command is known to have run (it comes from a log), so neither alignment nor a unit at work
        stand in its way. Returns the name of an interrupt that gsp itself causes, if there is one.
        """
        number = words[0] & 0xFF
        self.flushed = ()
        if number >= len(GX_COMMANDS):
            raise Refused(BAD_VALUE, f"there is no GX command {number}")
        command = GX_COMMANDS[number]
        if not recorded:
            self._check_busy(command, bool(words[0] & GX_FAIL_IF_BUSY))
        strict = not recorded and self.translate.switches["gsp.alignment"] == "check"
        return self._run[number](command, words, strict)

    # -- checks -----------------------------------------------------------------------------------------------------
    def _check_busy(self, command: GxCommand, any_unit: bool) -> None:
        """In instant time units are done at once; only one that hung (as on the console) stays busy."""
        for unit in ("PSC0", "PSC1", "PPF", "P3D") if any_unit else _UNITS.get(command.name, ()):
            if self.machine.at_work(unit):
                raise Refused(BUSY, f"{unit} is still at work, or hangs")

    @staticmethod
    def _check_alignment(command: GxCommand, words: tuple[int, ...]) -> None:
        for number, word in enumerate(command.words, 1):
            if word.kind in ("address", "end", "size") and words[number] & 7:
                result = MISALIGNED_SIZE if word.kind == "size" else MISALIGNED_ADDRESS
                raise Refused(result, f"{word.name} {words[number]:#010x} is no multiple of 8")

    # -- commands ---------------------------------------------------------------------------------------------------
    def _dma(self, command: GxCommand, words: tuple[int, ...], _strict: bool) -> str | None:
        size = words[3]
        source = self.translate(words[1], size, "source")
        target = self.translate(words[2], size, "target")
        memory = self.machine.memory
        try:
            if size:
                memory.write(target, memory.read(source, size))
        except GuestMemoryError as error:
            raise Refused(BAD_ADDRESS, f"there is no memory at physical {error.address:#010x}") from None
        if words[command.word("flush")]:
            self.flushed = ((words[1], size),)
        return "DMA"

    def _list(self, command: GxCommand, words: tuple[int, ...], strict: bool) -> str | None:
        if strict:
            self._check_alignment(command, words)
        start, size = words[1], words[2]
        phys = self.translate(start, size, "list")
        if words[command.word("flush")]:
            self.flushed = ((start, size),)
        if words[3] & 1:
            self._update_gas()
        size_field, address_field = PICA.field("CMDBUF_SIZE0.size"), PICA.field("CMDBUF_ADDR0.address")
        writes = [
            (address("IRQ_ACK0"), 0),
            (address("CMDBUF_SIZE0"), size >> 3 & size_field.mask),
            (address("CMDBUF_ADDR0"), phys >> 3 & address_field.mask),
            (address("CMDBUF_JUMP0"), 1),
        ]
        write(self.machine, writes)
        return None

    def _update_gas(self) -> None:
        """Take the density that gas rendering reached as the new scale: its reciprocal goes to GAS_ACCMAX."""
        reached = self.machine.read_register(address("GAS_ACCMAX_FEEDBACK")) & 0xFFFF
        if reached:
            write(self.machine, [(address("GAS_ACCMAX"), PICA.field("GAS_ACCMAX.value").encode(1.0 / reached))])

    def _fill(self, command: GxCommand, words: tuple[int, ...], strict: bool) -> str | None:
        control = words[command.word("control")]
        writes: list[Write] = []
        for unit in range(2):
            start, value, end = words[1 + 3 * unit : 4 + 3 * unit]
            if not start:
                continue
            if strict and (start | end) & 7:
                raise Refused(MISALIGNED_ADDRESS, f"range {unit}, {start:#010x}..{end:#010x}, is no multiple of 8")
            if end <= start:
                raise Refused(BAD_COMBINATION, f"range {unit} ends at {end:#010x}, not above {start:#010x}")
            phys = self.translate(start, end - start, f"range {unit}")
            writes += [
                (address(f"PSC{unit}_START"), phys >> 3),
                (address(f"PSC{unit}_END"), (phys + end - start) >> 3),
                (address(f"PSC{unit}_VALUE"), value),
                (address(f"PSC{unit}_CONTROL"), control >> 16 * unit & 0xFFFF),
            ]
        if writes:
            write(self.machine, writes)
        return None

    def _display_transfer(self, command: GxCommand, words: tuple[int, ...], strict: bool) -> str | None:
        if strict:
            self._check_alignment(command, words)
        writes = [
            (address("PPF_INPUT_ADDRESS"), self.translate(words[1], what="input") >> 3),
            (address("PPF_OUTPUT_ADDRESS"), self.translate(words[2], what="output") >> 3),
            # The command has the input first, the registers the output.
            (address("PPF_OUTPUT_SIZE"), words[4]),
            (address("PPF_INPUT_SIZE"), words[3]),
            (address("PPF_FLAGS"), words[5]),
            (address("PPF_UNKNOWN_C14"), 0),
            (address("PPF_CONTROL"), 1),
        ]
        write(self.machine, writes)
        return None

    def _texture_copy(self, command: GxCommand, words: tuple[int, ...], strict: bool) -> str | None:
        if strict:
            self._check_alignment(command, words)
        control = self.machine.read_register(address("PPF_CONTROL"))
        writes = [
            (address("PPF_INPUT_ADDRESS"), self.translate(words[1], what="input") >> 3),
            (address("PPF_OUTPUT_ADDRESS"), self.translate(words[2], what="output") >> 3),
            (address("PPF_COPY_SIZE"), words[3]),
            (address("PPF_COPY_INPUT"), words[4]),
            (address("PPF_COPY_OUTPUT"), words[5]),
            (address("PPF_FLAGS"), words[6]),
            (address("PPF_CONTROL"), control | 1),
        ]
        write(self.machine, writes)
        return None

    def _flush(self, _command: GxCommand, words: tuple[int, ...], _strict: bool) -> str | None:
        """Memory has no caches here; what is left are the rules for the sizes, and what would have been flushed."""
        ranges = list(zip(words[1:7:2], words[2:7:2], strict=True))
        sizes = [size for _, size in ranges]
        if not sizes[0]:
            raise Refused(BAD_SIZE, "the first range to flush is empty")
        # An empty range ends the list.
        self.flushed = tuple(ranges[: sizes.index(0) if 0 in sizes else None])
        return None
