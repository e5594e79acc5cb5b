"""Storages: what programs and library applets hand to each other.

Source: libnx's services/applet.c; switchbrew Applet Manager services.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.abi.sessions import hold, release

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel
    from pocketgpu.guests.switch.services.library_applets.creator import Budget


class Storage(Interface):
    """A storage. view: its bytes. writable: whether the program may change them."""

    name = "am.IStorage"

    def __init__(self, kernel: SwitchKernel, view: memoryview, *, writable: bool = True) -> None:
        super().__init__(kernel)
        self.view, self.writable = view, writable

    @command(0)
    def open(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(StorageAccessor(self.kernel, self),))

    @command(1)
    def open_transfer_storage(self, request: CmifRequest) -> CmifAnswer:
        """Only of what is memory of the program."""
        return CmifAnswer(result=Result.BAD_STORAGE)


class OwnStorage(Storage):
    """One with bytes of its own. The budget has them again when it is closed."""

    def __init__(self, kernel: SwitchKernel, data: bytes, budget: Budget) -> None:
        super().__init__(kernel, memoryview(bytearray(data)))
        self.budget = budget

    def closed(self) -> None:
        self.budget.used -= len(self.view)


class LentStorage(Storage):
    """One that is memory of the program, which it has lent: transfer memory."""

    def __init__(self, kernel: SwitchKernel, block: MemoryBlock, size: int, *, writable: bool) -> None:
        super().__init__(kernel, block.view[:size], writable=writable)
        self.block = block
        block.references += 1

    def closed(self) -> None:
        self.block.references -= 1
        if self.block.references == 0:
            self.block.closed()

    @command(1)
    def open_transfer_storage(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(TransferStorageAccessor(self.kernel, self),))


class _Accessor(Interface):
    """What both kinds of access to a storage do: they keep it open, and give its size."""

    def __init__(self, kernel: SwitchKernel, storage: Storage) -> None:
        super().__init__(kernel)
        self.storage = storage
        hold(storage)

    def closed(self) -> None:
        release(self.storage)

    @command(0)
    def get_size(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<q", len(self.storage.view)))


class StorageAccessor(_Accessor):
    """Reads and writes a storage."""

    name = "am.IStorageAccessor"

    def _range(self, request: CmifRequest, size: int) -> slice | None:
        """The bytes that the program means; None if the storage does not have them."""
        (offset,) = request.values("q")
        return slice(offset, offset + size) if 0 <= offset <= len(self.storage.view) - size else None

    @command(10)
    def write(self, request: CmifRequest) -> CmifAnswer:
        size = request.inputs[0].size if request.inputs else 0
        found = self._range(request, size)
        if found is None or not self.storage.writable:
            return CmifAnswer(result=Result.BAD_STORAGE)
        self.storage.view[found] = request.input()
        return CmifAnswer()

    @command(11)
    def read(self, request: CmifRequest) -> CmifAnswer:
        found = self._range(request, request.outputs[0].size if request.outputs else 0)
        if found is None:
            return CmifAnswer(result=Result.BAD_STORAGE)
        request.output(bytes(self.storage.view[found]))
        return CmifAnswer()


class TransferStorageAccessor(_Accessor):
    """Gives the memory itself."""

    name = "am.ITransferStorageAccessor"
    storage: LentStorage

    def __init__(self, kernel: SwitchKernel, storage: LentStorage) -> None:
        super().__init__(kernel, storage)

    @command(1)
    def get_handle(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<q", len(self.storage.view)), copies=(self.storage.block,))
