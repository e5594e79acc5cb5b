"""The relay of binders: programs reach the buffer queues of their layers through it. Source: libnx's
display/binder.c."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.parcel import ParcelReader, parcel_of
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.display.buffer_queue import BufferQueue

if TYPE_CHECKING:
    from pocketgpu.guests.switch.display.display import Display
    from pocketgpu.guests.switch.kernel import SwitchKernel

_LARGEST: Final = 1 << 16
"""Bytes of a parcel, more than any has."""


class HosBinderDriver(Interface):
    """IHOSBinderDriver, direct and indirect."""

    name = "IHOSBinderDriver"

    def __init__(self, kernel: SwitchKernel, display: Display) -> None:
        super().__init__(kernel)
        self._display = display

    def _queue(self, id: int) -> BufferQueue | None:
        layer = self._display.layers.get(id)
        return layer.queue if layer is not None else None

    @command(0)
    @command(3)
    def transact(self, request: CmifRequest) -> CmifAnswer:
        """TransactParcel, with plain buffers or with buffers of either kind."""
        id, code, _flags = request.values("iII")
        queue = self._queue(id)
        if queue is None or not request.inputs or request.inputs[0].size > _LARGEST:
            return CmifAnswer(result=Result.VI_NOT_FOUND)
        request.output(parcel_of(queue.transact(code, ParcelReader(request.input()), request.thread)))
        return CmifAnswer()

    @command(1)
    def adjust_refcount(self, request: CmifRequest) -> CmifAnswer:
        """Binders live as long as their layers."""
        return CmifAnswer()

    @command(2)
    def native_handle(self, request: CmifRequest) -> CmifAnswer:
        queue = self._queue(request.values("i")[0])
        if queue is None:
            return CmifAnswer(result=Result.VI_NOT_FOUND)
        return CmifAnswer(copies=(queue.event,))
