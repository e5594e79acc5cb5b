"""The service calls of gsp::Gpu as methods: the words of a request are the method's arguments.

Like the service, every method returns a result code (facts.gsp.RESULTS explains them); a wrong call never raises an
exception. `client` is the caller: a client number, whose rights are checked, or None for the host, which may do
everything. Process handles and descriptors have no counterpart here.

Source: 3dbrew GSP Services and the pages of the calls.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pocketgpu.facts.external import USER_OFFSET
from pocketgpu.facts.gsp import (
    BAD_ADDRESS,
    BAD_INDEX,
    BAD_REGISTER,
    BAD_SIZE,
    ENTRY_WORDS,
    FORCE_BLACK,
    INTERRUPTS,
    MAY_SAVE,
    MISALIGNED_SIZE,
    NO_PERMISSION,
    PRIORITY_LIMIT,
    REGISTER_BYTES,
    REGISTER_LIMIT,
    REGISTERS_VIRT,
    Result,
)
from pocketgpu.facts.memory_map import VRAM
from pocketgpu.pica.gsp.framebuffers import show, shown
from pocketgpu.pica.gsp.gsp_machine import GspMachine, Refused, Translator, address, write
from pocketgpu.pica.gsp.interrupts import Clients
from pocketgpu.pica.gsp.shared_memory import SharedMemory, words_of

Data = bytes | bytearray | memoryview | Sequence[int]
"""Register data: bytes in memory order, or a list of words."""


class Registration(NamedTuple):
    """Reply of RegisterInterruptRelayQueue. client: the number for other calls, -1 if refused."""

    result: int
    client: int


class Reading(NamedTuple):
    """Reply of ReadHWRegs: little-endian words, empty if refused."""

    result: int
    data: bytes


class PerformanceLog(NamedTuple):
    """Reply of GetPerfLog: nanoseconds (last, sum) by interrupt name. Time does not pass here: all are 0."""

    result: int
    nanoseconds: dict[str, tuple[int, int]]


class DisplayCapture(NamedTuple):
    """Reply of ImportDisplayCaptureInfo: (left, right, format, stride) of each screen, addresses virtual."""

    result: int
    top: tuple[int, int, int, int]
    bottom: tuple[int, int, int, int]


def _bytes_of(data: Data) -> bytes:
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    return struct.pack(f"<{len(data)}I", *(int(word) & 0xFFFFFFFF for word in data))


class Calls:
    """The service calls; `pocketgpu.pica.gsp.Gsp` adds the command queue."""

    def __init__(self, machine: GspMachine) -> None:
        self.machine = machine
        self.shared = SharedMemory()
        self.translate = Translator(machine.choices)
        self.clients = Clients(self.shared, machine.choices)
        self.axi_mode = 0
        self.perf_log_mode = 0
        self.led_forced_off = False
        self.priorities = (0, 0)
        self._saved_vram: bytes | None = None

    def _answer(self, call: Callable[[], Result | None]) -> int:
        """Run a call; returns its result code, or that of its refusal."""
        try:
            result = call()
        except Refused as refusal:
            return refusal.result.value
        return result.value if result is not None else 0

    # -- registers --------------------------------------------------------------------------------------------------
    @staticmethod
    def _check_registers(offset: int, size: int, room: int) -> None:
        """The order of the checks is that of the service; an empty request passes before all of them."""
        if not 0 <= offset < REGISTER_LIMIT or offset & 3 or offset + room > REGISTER_LIMIT:
            raise Refused(BAD_REGISTER, f"register offset {offset:#x}")
        if size > REGISTER_BYTES:
            raise Refused(BAD_SIZE, f"{size} bytes")
        if size & 3:
            raise Refused(MISALIGNED_SIZE, f"{size} bytes")

    def _write(self, offset: int, data: bytes, mask: bytes | None, repeat: bool, client: int | None) -> None:
        self.clients.require_right(client)
        if not data:
            return
        self._check_registers(offset, len(data), 4 if repeat else min(len(data), REGISTER_BYTES))
        if mask is not None and len(mask) != len(data):
            raise Refused(MISALIGNED_SIZE, f"{len(data)} bytes of data but {len(mask)} of mask")
        first = REGISTERS_VIRT + offset - USER_OFFSET
        words = struct.unpack(f"<{len(data) // 4}I", data)
        places = [first + (0 if repeat else 4 * number) for number in range(len(words))]
        if mask is None:
            write(self.machine, zip(places, words, strict=True))
            return
        for place, word, bits in zip(places, words, struct.unpack(f"<{len(words)}I", mask), strict=True):
            write(self.machine, [(place, (self.machine.read_register(place) & ~bits) | (word & bits))])

    def write_hw_regs(self, offset: int, data: Data, *, client: int | None = None) -> int:
        """WriteHWRegs: words to consecutive registers.

        offset: from virtual 0x1EB00000; the GPU's registers begin at 0x400000 and the LCDs' at 0x202000.
        Errors: BAD_REGISTER (offset), BAD_SIZE (more than 0x80 bytes), MISALIGNED_SIZE, NO_PERMISSION.
        """
        return self._answer(lambda: self._write(offset, _bytes_of(data), None, False, client))

    def write_hw_regs_with_mask(self, offset: int, data: Data, mask: Data, *, client: int | None = None) -> int:
        """WriteHWRegsWithMask: as `write_hw_regs`, but only bits that are 1 in `mask` change. Same errors."""
        return self._answer(lambda: self._write(offset, _bytes_of(data), _bytes_of(mask), False, client))

    def write_hw_reg_repeat(self, offset: int, data: Data, *, client: int | None = None) -> int:
        """WriteHWRegRepeat: all words, one after the other, to the one register at `offset`. Same errors."""
        return self._answer(lambda: self._write(offset, _bytes_of(data), None, True, client))

    def read_hw_regs(self, offset: int, size: int, *, client: int | None = None) -> Reading:
        """ReadHWRegs: `size` bytes of consecutive registers. Errors as for `write_hw_regs`.

        The data is returned in a separate buffer (static buffer 0), not among the words of the reply.
        """
        size &= 0xFFFFFFFF
        if self.machine.choices["gsp.read_size"] == "clamp":
            size = min(size, REGISTER_BYTES)
        words: list[int] = []

        def call() -> None:
            self.clients.require_right(client)
            if size:
                self._check_registers(offset, size, min(size, REGISTER_BYTES))
                first = REGISTERS_VIRT + offset - USER_OFFSET
                words.extend(self.machine.read_register(first + at) for at in range(0, size, 4))

        result = self._answer(call)
        return Reading(result, struct.pack(f"<{len(words)}I", *words))

    # -- screens ----------------------------------------------------------------------------------------------------
    def set_buffer_swap(self, screen: int, entry: Sequence[int], *, client: int | None = None) -> int:
        """SetBufferSwap: make a screen (0 top, 1 bottom) show the framebuffer of the seven words of `entry`, at once.

        entry: facts.gsp.ENTRY_WORDS. The framebuffer info in shared memory is unchanged.
        Errors: BAD_VALUE (screen, or a format that programs cannot show), BAD_ADDRESS, NO_PERMISSION.
        """
        words = words_of(entry, len(ENTRY_WORDS), "a framebuffer entry")

        def call() -> None:
            self.clients.require_right(client)
            show(self.machine, screen, words, self.translate)

        return self._answer(call)

    def set_lcd_force_black(self, flag: bool) -> int:
        """SetLcdForceBlack: both screens black, or their pictures again. No right is needed."""
        value = FORCE_BLACK if flag else 0
        write(self.machine, [(address("TOP_FILL"), value), (address("BOTTOM_FILL"), value)])
        return 0

    def import_display_capture_info(self) -> DisplayCapture:
        """ImportDisplayCaptureInfo: the current framebuffers of both screens."""
        return DisplayCapture(0, *(shown(self.machine, screen, self.translate) for screen in (0, 1)))

    # -- caches -----------------------------------------------------------------------------------------------------
    def _cache(self, start: int, size: int) -> int:
        """Memory has no caches here; the only check is that the range is in the address table."""

        def call() -> None:
            if size < 0 or self.translate.map.translate(start, size) is None:
                raise Refused(BAD_ADDRESS, f"{size} bytes from {start:#x}")

        return self._answer(call)

    def flush_data_cache(self, start: int, size: int) -> int:
        """FlushDataCache of `size` bytes from a virtual address. Error: BAD_ADDRESS."""
        return self._cache(start, size)

    def invalidate_data_cache(self, start: int, size: int) -> int:
        """InvalidateDataCache; as `flush_data_cache`."""
        return self._cache(start, size)

    def store_data_cache(self, start: int, size: int) -> int:
        """StoreDataCache; as `flush_data_cache`."""
        return self._cache(start, size)

    # -- clients and the right --------------------------------------------------------------------------------------
    def register_interrupt_relay_queue(self, flags: int = 1) -> Registration:
        """RegisterInterruptRelayQueue: a new client with cleared queues in `shared`.

        The first one since power-on gets FIRST_REGISTRATION, a success that means that it must write START_WRITES.
        flags bit 0: its video memory may be saved. Error: NO_ROOM (four are registered).
        """
        number = -1

        def call() -> Result:
            nonlocal number
            result, client = self.clients.register(flags)
            number = client.index
            return result

        return Registration(self._answer(call), number)

    def unregister_interrupt_relay_queue(self, client: int) -> int:
        """UnregisterInterruptRelayQueue; also releases the right. Error: NO_PERMISSION (unknown client)."""
        return self._answer(lambda: self.clients.unregister(client))

    def acquire_right(self, client: int) -> int | None:
        """AcquireRight: 0, or ALREADY_HELD, or None while another client holds it.

        On a console the call does not return until then; here the client is queued, and `clients.holder` is its number
        when it gets the right. Error: NO_PERMISSION (unknown client).
        """
        try:
            result = self.clients.acquire(client, wait=True)
        except Refused as refusal:
            return refusal.result.value
        return None if result is None else result.value

    def try_acquire_right(self, client: int) -> int:
        """TryAcquireRight: as `acquire_right`, but BUSY instead of waiting."""
        return self._answer(lambda: self.clients.acquire(client, wait=False))

    def release_right(self, client: int) -> int:
        """ReleaseRight: gives it to the next queued client. Error: NO_PERMISSION (not the holder)."""
        return self._answer(lambda: self.clients.release(client))

    # -- the rest ---------------------------------------------------------------------------------------------------
    def _may_save(self, client: int | None) -> None:
        if client is not None and not self.clients.known(client).flags & MAY_SAVE:
            raise Refused(NO_PERMISSION, "the client registered without flag bit 0")

    def save_vram_sys_area(self, *, client: int | None = None) -> int:
        """SaveVramSysArea: keep the contents of video memory. Error: NO_PERMISSION (registered without flag bit 0)."""

        def call() -> None:
            self._may_save(client)
            self._saved_vram = self.machine.memory.read(VRAM.base, VRAM.size)

        return self._answer(call)

    def restore_vram_sys_area(self, *, client: int | None = None) -> int:
        """RestoreVramSysArea: restore the saved contents, if there are any. Error: as `save_vram_sys_area`."""

        def call() -> None:
            self._may_save(client)
            if self._saved_vram is not None:
                self.machine.memory.write(VRAM.base, self._saved_vram)

        return self._answer(call)

    def reset_gpu_core(self, *, client: int | None = None) -> int:
        """ResetGpuCore: busy units stop, and units that hang work again. Error: NO_PERMISSION."""

        def call() -> None:
            self.clients.require_right(client)
            self.machine.reset_units()

        return self._answer(call)

    def set_axi_config_qos_mode(self, mode: int) -> int:
        """SetAxiConfigQoSMode: stored in `axi_mode`, without effect."""
        self.axi_mode = mode & 0xFFFFFFFF
        return 0

    def set_perf_log_mode(self, flag: int) -> int:
        """SetPerfLogMode: stored in `perf_log_mode`, without effect."""
        self.perf_log_mode = flag & 0xFF
        return 0

    def get_perf_log(self) -> PerformanceLog:
        """GetPerfLog: all times are 0."""
        return PerformanceLog(0, dict.fromkeys(INTERRUPTS, (0, 0)))

    def set_led_force_off(self, flag: bool) -> int:
        """SetLedForceOff: stored in `led_forced_off`."""
        self.led_forced_off = bool(flag)
        return 0

    def set_internal_priorities(self, first: int, second: int) -> int:
        """SetInternalPriorities: stored in `priorities`. Error: BAD_INDEX (not below 0x40)."""

        def call() -> None:
            if not (0 <= first < PRIORITY_LIMIT and 0 <= second < PRIORITY_LIMIT):
                raise Refused(BAD_INDEX, f"priorities {first} and {second}")
            self.priorities = (first, second)

        return self._answer(call)
