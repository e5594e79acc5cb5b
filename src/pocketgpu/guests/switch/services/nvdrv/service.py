"""nvdrv, nvdrv:a, nvdrv:s: programs open devices and make requests. Source: libnx's services/nv.c."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Final

from pocketgpu.facts.switch.nvdrv import REQUEST, NvError
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.services.nvdrv.address_space import AddressSpace
from pocketgpu.guests.switch.services.nvdrv.channel import GpuChannel
from pocketgpu.guests.switch.services.nvdrv.control import HostControl
from pocketgpu.guests.switch.services.nvdrv.device import Device, Later
from pocketgpu.guests.switch.services.nvdrv.driver import NvDriver
from pocketgpu.guests.switch.services.nvdrv.gpu_control import GpuControl
from pocketgpu.guests.switch.services.nvdrv.nvmap import NvMap

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.switch.kernel import SwitchKernel

_DEVICES: Final = {one.path: one for one in (NvMap, AddressSpace, GpuControl, GpuChannel, HostControl)}
_MOST_OPEN: Final = 256
_LONGEST_PATH: Final = 64
_LARGEST: Final = 1 << 20
"""Bytes of a buffer of a request, more than any needs."""


class NvDrv(Interface):
    """The service; one for all its names and sessions. driver: what the devices share. devices: those that are open."""

    name = "nvdrv"
    also = ("nvdrv:a", "nvdrv:s")

    def __init__(self, kernel: SwitchKernel) -> None:
        super().__init__(kernel)
        self.driver = NvDriver(kernel)
        self.devices: dict[int, Device] = {}
        self._opened = 0

    def closed(self) -> None:
        """A program that goes without closing its devices leaves none open."""
        for device in reversed(self.devices.values()):
            device.closed()
        self.devices.clear()

    def _error(self, error: NvError) -> CmifAnswer:
        return CmifAnswer(pack("<I", error))

    @command(0)
    def open(self, request: CmifRequest) -> CmifAnswer:
        size = min(request.inputs[0].size, _LONGEST_PATH) if request.inputs else 0
        path = self.kernel.space.read(request.inputs[0].address, size).split(b"\0")[0] if size else b""
        made = _DEVICES.get(path.decode("ascii", "backslashreplace"))
        if made is None:
            name = f"the device {path.decode('ascii', 'backslashreplace')!r}"
            self.kernel.not_modelled("guest.nvdrv", name, (), request.thread)
            return CmifAnswer(pack("<II", 0, NvError.FILE_NOT_FOUND))
        if len(self.devices) >= _MOST_OPEN:
            return CmifAnswer(pack("<II", 0, NvError.INSUFFICIENT_MEMORY))
        self._opened += 1
        self.devices[self._opened] = made(self.driver, self._opened)
        return CmifAnswer(pack("<II", self._opened, NvError.SUCCESS))

    @command(1)
    @command(11)
    @command(12)
    def ioctl(self, request: CmifRequest) -> CmifAnswer | None:
        """Ioctl, Ioctl2 (a second buffer goes in), Ioctl3 (a second one comes out, which no request fills)."""
        fd, word = request.values("II")
        device = self.devices.get(fd)
        if device is None:
            return self._error(NvError.BAD_PARAMETER)
        size, inputs = REQUEST["size"].raw(word), list(request.inputs)
        if any(one.size > _LARGEST for one in inputs):
            return self._error(NvError.INVALID_SIZE)
        data = b""
        if REQUEST["writes"].raw(word) and inputs:
            data = self.kernel.space.read(inputs[0].address, min(inputs[0].size, size))
        more = request.input(len(inputs) - 1) if request.command == 11 and len(inputs) > 0 else b""
        number = REQUEST["number"].raw(word) | REQUEST["type"].raw(word) << REQUEST["type"].lo
        error, data = device.control(number, data.ljust(size, b"\0"), more, request.thread)
        if REQUEST["reads"].raw(word) and request.outputs:
            request.output(data[:size])
        if isinstance(error, Later):
            self._wait(request, device, error)
            return None
        return self._error(error)

    def _wait(self, request: CmifRequest, device: Device, later: Later) -> None:
        """The caller waits for its answer."""

        def ended(thread: Thread, index: int | None) -> None:
            device.waited(later.event)
            request.answer(self._error(NvError.SUCCESS if index == 0 else NvError.TIMEOUT))

        self.kernel.wait(request.thread, [later.event], ended, nanoseconds=later.nanoseconds)

    @command(2)
    def close(self, request: CmifRequest) -> CmifAnswer:
        device = self.devices.pop(request.values("I")[0], None)
        if device is None:
            return self._error(NvError.BAD_PARAMETER)
        device.closed()
        return self._error(NvError.SUCCESS)

    @command(3)
    @command(8)
    def accept(self, request: CmifRequest) -> CmifAnswer:
        """Initialize, which brings memory for the driver's own use, and SetClientPID: nothing depends on them."""
        return self._error(NvError.SUCCESS)

    @command(4)
    def query_event(self, request: CmifRequest) -> CmifAnswer:
        fd, number = request.values("II")
        device = self.devices.get(fd)
        event = device.event(number) if device is not None else None
        if event is None:
            return self._error(NvError.BAD_PARAMETER)
        return CmifAnswer(pack("<I", NvError.SUCCESS), copies=(event,))
