"""GX commands: checks, translation to physical addresses, and conversion to register writes.

All checks of a command come before its first effect, so a refused command changes nothing. The checks follow the
documentation (multiples of 8 for all but RequestDMA and FlushCacheRegions, ends above starts, addresses that the GPU
can reach); the simulators check less, see the choices gsp.alignment and gsp.untranslatable.

Source: 3dbrew GSP Shared Memory (GX commands), GPU/External Registers (the registers written for them).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from pocketgpu.errors import GuestMemoryError
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.gsp import (
    BAD_ADDRESS,
    BAD_COMBINATION,
    BAD_SIZE,
    BAD_VALUE,
    BUSY,
    DISPLAY_TRANSFER,
    FLUSH_REGIONS,
    GX_HEADER,
    MEMORY_FILL,
    MISALIGNED_ADDRESS,
    MISALIGNED_SIZE,
    PROCESS_LIST,
    REQUEST_DMA,
    TEXTURE_COPY,
    UPDATE_GAS,
    GxCommand,
    command_number,
    command_of,
    half_words,
)
from pocketgpu.facts.pica import PICA, START_LIST
from pocketgpu.pica.gsp.gsp_machine import GspMachine, Refused, Translator, Write, address, write

_UNITS: dict[str, tuple[str, ...]] = {
    "ProcessCommandList": ("P3D",),
    "MemoryFill": ("PSC0", "PSC1"),
    "DisplayTransfer": ("PPF",),
    "TextureCopy": ("PPF",),
}
"""The units that a command of this name uses exclusively. Copies always finish at once."""

_START = EXTERNAL.field("PPF_CONTROL.start").mask


def _in_units(path: str, value: int) -> int:
    """An address or size in bytes, in the unit of a register field; extra bits are dropped."""
    scale, lo, mask = _units_of(path)
    return value // scale << lo & mask


@cache
def _units_of(path: str) -> tuple[int, int, int]:
    """Bytes of a unit, lowest bit and mask of a register field."""
    field = (EXTERNAL if path.partition(".")[0] in EXTERNAL else PICA).field(path)
    return field.scale, field.lo, field.mask


class GxProcessor:
    """Runs GX commands on a machine."""

    def __init__(self, machine: GspMachine, translate: Translator) -> None:
        self.machine, self.translate = machine, translate
        self.flushed: tuple[tuple[int, int], ...] = ()
        self._run: dict[int, Callable[[GxCommand, tuple[int, ...], bool], str | None]] = {
            REQUEST_DMA.id: self._dma,
            PROCESS_LIST.id: self._list,
            MEMORY_FILL.id: self._fill,
            DISPLAY_TRANSFER.id: self._display_transfer,
            TEXTURE_COPY.id: self._texture_copy,
            FLUSH_REGIONS.id: self._flush,
        }

    def run(self, words: tuple[int, ...], recorded: bool = False) -> str | None:
        """Run a command of eight words; raises Refused.

        recorded: the command succeeded before (it comes from a log), so alignment and busy units are not checked.
        Returns the name of an interrupt that gsp itself raises, if any.
        """
        self.flushed = ()
        command = command_of(words)
        if command is None:
            raise Refused(BAD_VALUE, f"there is no GX command {command_number(words)}")
        if not recorded:
            self._check_busy(command, GX_HEADER["fail_if_busy"].decode(words[0]) is True)
        strict = not recorded and self.translate.choices["gsp.alignment"] == "check"
        return self._run[command.id](command, words, strict)

    # -- checks -----------------------------------------------------------------------------------------------------
    def _check_busy(self, command: GxCommand, any_unit: bool) -> None:
        """In instant time units finish at once; only a unit that hangs (as on the console) stays busy."""
        for unit in ("PSC0", "PSC1", "PPF", "P3D") if any_unit else _UNITS.get(command.name, ()):
            if self.machine.at_work(unit):
                raise Refused(BUSY, f"{unit} is busy, or hangs")

    @staticmethod
    def _check_alignment(command: GxCommand, words: tuple[int, ...]) -> None:
        for number, word in enumerate(command.words, 1):
            if word.kind in ("address", "end", "size") and words[number] & 7:
                result = MISALIGNED_SIZE if word.kind == "size" else MISALIGNED_ADDRESS
                raise Refused(result, f"{word.name} {words[number]:#010x} is no multiple of 8")

    # -- commands ---------------------------------------------------------------------------------------------------
    def _dma(self, command: GxCommand, words: tuple[int, ...], _strict: bool) -> str | None:
        first, second, size, flush = command.values(words, "source", "target", "size", "flush")
        source = self.translate(first, size, "source")
        target = self.translate(second, size, "target")
        memory = self.machine.memory
        try:
            if size:
                memory.write(target, memory.read(source, size))
        except GuestMemoryError as error:
            raise Refused(BAD_ADDRESS, f"there is no memory at physical {error.address:#010x}") from None
        if flush:
            self.flushed = ((first, size),)
        return "DMA"

    def _list(self, command: GxCommand, words: tuple[int, ...], strict: bool) -> str | None:
        if strict:
            self._check_alignment(command, words)
        start, size, update_gas, flush = command.values(words, "list", "size", "update_gas", "flush")
        phys = self.translate(start, size, "list")
        if flush:
            self.flushed = ((start, size),)
        if update_gas & UPDATE_GAS:
            self._update_gas()
        writes = [
            (address("IRQ_ACK0"), 0),
            (address("CMDBUF_SIZE0"), _in_units("CMDBUF_SIZE0.size", size)),
            (address("CMDBUF_ADDR0"), _in_units("CMDBUF_ADDR0.address", phys)),
            (address("CMDBUF_JUMP0"), START_LIST),
        ]
        write(self.machine, writes)
        return None

    def _update_gas(self) -> None:
        """Make the density that gas rendering reached the new scale: its reciprocal goes to GAS_ACCMAX."""
        reached = PICA.field("GAS_ACCMAX_FEEDBACK.value").raw(
            self.machine.read_register(address("GAS_ACCMAX_FEEDBACK"))
        )
        if reached:
            write(self.machine, [(address("GAS_ACCMAX"), PICA.field("GAS_ACCMAX.value").encode(1.0 / reached))])

    def _fill(self, command: GxCommand, words: tuple[int, ...], strict: bool) -> str | None:
        (control,) = command.values(words, "control")
        writes: list[Write] = []
        for unit in range(2):
            start, value, end = command.values(words, f"start{unit}", f"value{unit}", f"end{unit}")
            if not start:
                continue
            if strict and (start | end) & 7:
                raise Refused(MISALIGNED_ADDRESS, f"range {unit}, {start:#010x}..{end:#010x}, is no multiple of 8")
            if end <= start:
                raise Refused(BAD_COMBINATION, f"range {unit} ends at {end:#010x}, not above {start:#010x}")
            phys = self.translate(start, end - start, f"range {unit}")
            writes += [
                (address(f"PSC{unit}_START"), _in_units(f"PSC{unit}_START.address", phys)),
                (address(f"PSC{unit}_END"), _in_units(f"PSC{unit}_END.address", phys + end - start)),
                (address(f"PSC{unit}_VALUE"), value),
                (address(f"PSC{unit}_CONTROL"), half_words(control)[unit]),
            ]
        if writes:
            write(self.machine, writes)
        return None

    def _display_transfer(self, command: GxCommand, words: tuple[int, ...], strict: bool) -> str | None:
        if strict:
            self._check_alignment(command, words)
        input_size, output_size, flags = command.values(words, "input_size", "output_size", "flags")
        writes = [
            *self._addresses(command, words),
            # In the command the input comes first, in the registers the output.
            (address("PPF_OUTPUT_SIZE"), output_size),
            (address("PPF_INPUT_SIZE"), input_size),
            (address("PPF_FLAGS"), flags),
            (address("PPF_UNKNOWN_C14"), 0),
            (address("PPF_CONTROL"), _START),
        ]
        write(self.machine, writes)
        return None

    def _texture_copy(self, command: GxCommand, words: tuple[int, ...], strict: bool) -> str | None:
        if strict:
            self._check_alignment(command, words)
        control = self.machine.read_register(address("PPF_CONTROL"))
        size, input_line, output_line, flags = command.values(words, "size", "input_line", "output_line", "flags")
        writes = [
            *self._addresses(command, words),
            (address("PPF_COPY_SIZE"), size),
            (address("PPF_COPY_INPUT"), input_line),
            (address("PPF_COPY_OUTPUT"), output_line),
            (address("PPF_FLAGS"), flags),
            (address("PPF_CONTROL"), control | _START),
        ]
        write(self.machine, writes)
        return None

    def _addresses(self, command: GxCommand, words: tuple[int, ...]) -> list[Write]:
        """The writes of the transfer unit's input and output address."""
        source, target = command.values(words, "input", "output")
        return [
            (
                address("PPF_INPUT_ADDRESS"),
                _in_units("PPF_INPUT_ADDRESS.address", self.translate(source, what="input")),
            ),
            (
                address("PPF_OUTPUT_ADDRESS"),
                _in_units("PPF_OUTPUT_ADDRESS.address", self.translate(target, what="output")),
            ),
        ]

    def _flush(self, command: GxCommand, words: tuple[int, ...], _strict: bool) -> str | None:
        """Memory has no caches here; only the sizes are checked and the ranges recorded."""
        starts, lengths = (command.values(words, *(f"{part}{n}" for n in range(3))) for part in ("address", "size"))
        ranges = list(zip(starts, lengths, strict=True))
        sizes = [size for _, size in ranges]
        if not sizes[0]:
            raise Refused(BAD_SIZE, "the first range to flush is empty")
        # An empty range ends the list.
        self.flushed = tuple(ranges[: sizes.index(0) if 0 in sizes else None])
        return None
