"""The whole gsp module: service calls, GX commands, interrupts and VBlank.

Commands finish before a call returns, interrupts included. On a console they finish later, so programs must not rely on
this; the order is kept (first index and count of the queue, then the command, then the interrupt).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pocketgpu.facts.gsp import (
    BAD_INDEX,
    DISPLAY_TRANSFER,
    GX_HEADER,
    GX_SLOTS,
    INTERRUPTS,
    MEMORY_FILL,
    PLEASE_HALT,
    REQUEST_DMA,
    TEXTURE_COPY,
    AddressRange,
    command_of,
)
from pocketgpu.pica.gsp.address_map import AddressMap
from pocketgpu.pica.gsp.framebuffers import show
from pocketgpu.pica.gsp.gsp_machine import GspMachine, Refused
from pocketgpu.pica.gsp.gx import GxProcessor
from pocketgpu.pica.gsp.ipc import Calls
from pocketgpu.pica.gsp.shared_memory import words_of

_SCREENS = ("top", "bottom")


class Gsp(Calls):
    """gsp on a machine; get it as `N3DS().gsp`.

    shared: the memory shared with clients. clients: the registered clients and the holder of the right.
    """

    def __init__(self, machine: GspMachine) -> None:
        super().__init__(machine)
        self._gx = GxProcessor(machine, self.translate)
        self._held_back: frozenset[str] = frozenset()
        machine.on_interrupt(self._relay)

    # -- addresses ----------------------------------------------------------------------------------------------------
    @property
    def virt_to_phys(self) -> AddressMap:
        """The table that translates all virtual addresses. Assign an AddressMap, or ranges (virt, phys, size).

        :raises UsageError: (on assignment) a range is empty or ends outside the 32-bit address space.
        """
        return self.translate.map

    @virt_to_phys.setter
    def virt_to_phys(self, ranges: AddressMap | Iterable[AddressRange | tuple[int, int, int]]) -> None:
        self.translate.map = ranges if isinstance(ranges, AddressMap) else AddressMap(ranges)

    # -- GX commands --------------------------------------------------------------------------------------------------
    @property
    def flushed(self) -> tuple[tuple[int, int], ...]:
        """The ranges that the last GX command flushed from the processor's cache: (virtual address, size) of each.

        Memory has no caches here, so a flush has no effect; the ranges show what a program flushed, or forgot to flush.
        """
        return self._gx.flushed

    def gx(self, words: Sequence[int], *, client: int | None = None, recorded: bool = False, at: str = "") -> int:
        """Run one GX command of eight words, as a program writes it into its queue; returns a result code.

        client: whose queue gets the error code of a failure (default: the holder of the right, else client 0); its halt
        bits and the queue's other contents have no effect. recorded: the command comes from a log of a run in which it
        succeeded, so alignment and hanging units are not checked. at: place for events ("f0/e3").

        Codes: BAD_VALUE (unknown command), MISALIGNED_ADDRESS, MISALIGNED_SIZE, BAD_COMBINATION (a fill that ends
        before it starts), BAD_ADDRESS, BAD_SIZE (FlushCacheRegions of nothing), BUSY. Each is also an event
        "gsp.refused". 3dbrew GSP Shared Memory has the rules, but no codes.

        :raises UsageError: not eight words, or an invalid client number.
        """
        command = words_of(words, 8, "a GX command")
        queue = self.shared.commands(self.clients.holder or 0 if client is None else client)
        code = self._run(command, recorded, at)
        if code:
            queue.fail(code)
        return code

    def _run(self, command: tuple[int, ...], recorded: bool = False, at: str = "") -> int:
        observers = self.machine.observers
        for one in observers:
            one.command_starts(command)
        code = self._run_command(command, recorded, at)
        copied = not code and command_of(command) is REQUEST_DMA
        for one in observers:
            if self.flushed:
                one.cache_flushed(self.flushed)
            if copied:
                one.memory_copied(command)
            one.command_ended(command, code)
        return code

    def _run_command(self, command: tuple[int, ...], recorded: bool, at: str) -> int:
        known = command_of(command)
        choices = self.machine.choices
        double = known is MEMORY_FILL and all(MEMORY_FILL.values(command, "start0", "start1"))
        if double and choices["gsp.double_fill"] == "first":
            self._held_back = frozenset({"PSC1"})
        try:
            own_interrupt = self._gx.run(command, recorded)
        except Refused as refusal:
            self._report("GX command" if known is None else known.name, refusal, at)
            return refusal.result.value
        finally:
            self._held_back = frozenset()
        if own_interrupt is not None:
            self.clients.deliver(own_interrupt)
        if known in (DISPLAY_TRANSFER, TEXTURE_COPY) and choices["gsp.swap_time"] == "transfer":
            self._swap()
        return 0

    def _report(self, what: str, refusal: Refused, at: str = "") -> None:
        message = f"{what} refused: {refusal.reason} ({refusal.result})"
        self.machine.events.report("fault", "gsp.refused", message, at or f"f{self.machine.frame}")

    def trigger_cmd_req_queue(self, client: int | None = None) -> int:
        """TriggerCmdReqQueue: run the waiting commands of a client's queue (default: the holder of the right).

        Stops at a command that fails (its code goes to the queue's `error`, and bit 7 of `status` is set), after a
        command whose header has "stop_after", and when the client requests a halt. The call itself still succeeds. No
        right is needed.
        Error: NO_PERMISSION (unknown client).
        """
        if client is None:
            client = self.clients.holder or 0
        else:
            try:
                self.clients.known(client)
            except Refused as refusal:
                return refusal.result.value
        queue = self.shared.commands(client)
        while queue["count"]:
            if queue["control"] & PLEASE_HALT:
                queue.halt()
            if queue.stopped:
                break
            index = queue["index"]
            if index >= GX_SLOTS:
                self._report("GX queue", Refused(BAD_INDEX, f"client {client} is at slot {index} of {GX_SLOTS}"))
                queue.fail(BAD_INDEX.value)
                break
            command = queue.slot(index)
            queue["index"] = (index + 1) % GX_SLOTS
            queue["count"] -= 1
            code = self._run(command)
            if code:
                queue.fail(code)
            if GX_HEADER["stop_after"].decode(command[0]):
                queue.halt()
        return 0

    # -- interrupts and VBlank ----------------------------------------------------------------------------------------
    def _relay(self, name: str, count: int) -> None:
        """The machine raised an interrupt `count` times."""
        if name in INTERRUPTS and name not in self._held_back:
            self.clients.deliver(name, count)

    def before_vblank(self, screens: Iterable[int] = (0, 1)) -> None:
        """Called before VBlank interrupts: show the new framebuffers in the clients' framebuffer infos."""
        if self.machine.choices["gsp.swap_time"] == "vblank":
            self._swap(screens)

    def _swap(self, screens: Iterable[int] = (0, 1)) -> None:
        everybody = self.machine.choices["gsp.swap_clients"] == "all"
        for client in sorted(self.clients.registered):
            if not everybody and client != self.clients.holder:
                continue
            for screen in screens:
                name = _SCREENS[screen]
                entry = self.shared.framebuffer(client, screen).take()
                if entry is None:
                    continue
                try:
                    show(self.machine, screen, entry, self.translate)
                except Refused as refusal:
                    self._report(f"framebuffer of the {name} screen", refusal)
