"""vi:m, vi:s, vi:u: the display and its layers. Source: libnx's services/vi.c."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Final

from pocketgpu.facts.switch.display import HEIGHT, RECORDS, WIDTH
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.parcel import parcel_of
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.services.binder import HosBinderDriver

if TYPE_CHECKING:
    from pocketgpu.guests.switch.display.display import Display, Layer
    from pocketgpu.guests.switch.kernel import SwitchKernel

_DISPLAY: Final = 1
"""The id of the only display."""
_NAMES: Final = ("Default", "Internal")
_NAME: Final = "64s"
LOWEST_Z, HIGHEST_Z = 0, 255
"""Of layers."""
_SCALING_MODES: Final = (2, 4)
"""By number of ConvertScalingMode: to the screen's size, or keeping the shape."""


class Vi(Interface):
    """The root of vi: it gives the display service. number of the command: 0 vi:u, 1 vi:s, 2 vi:m."""

    def __init__(self, kernel: SwitchKernel, display: Display, name: str) -> None:
        super().__init__(kernel)
        self._display, self.name = display, name

    @command(0)
    @command(1)
    @command(2)
    def display_service(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(ApplicationDisplay(self.kernel, self._display),))


class _WithDisplay(Interface):
    """A service about the display."""

    def __init__(self, kernel: SwitchKernel, display: Display) -> None:
        super().__init__(kernel)
        self.display = display

    def opened(self, layer: Layer | None, request: CmifRequest) -> bytes | None:
        """Store what a program needs to know of a layer; the length of that. None if there is no layer."""
        if layer is None:
            return None
        layer.open = True
        about = RECORDS.make("Layer")
        about["binder"] = layer.id
        parcel = parcel_of(bytes(about.data)) + bytes(4)
        request.output(parcel)
        return pack("<Q", len(parcel))

    def stray_layer(self, request: CmifRequest) -> CmifAnswer:
        """A layer that no applet manages, opened at once."""
        id = self.display.new_layer()
        length = self.opened(self.display.layers.get(id) if id is not None else None, request)
        if id is None or length is None:
            return CmifAnswer(result=Result.VI_OPERATION_FAILED)
        return CmifAnswer(pack("<Q", id) + length)

    def remove_layer(self, request: CmifRequest) -> CmifAnswer:
        gone = self.display.remove_layer(request.values("Q")[0])
        return CmifAnswer(result=Result.OK if gone else Result.VI_NOT_FOUND)

    def accept(self, request: CmifRequest) -> CmifAnswer:
        """Where a layer is and how it is scaled: the picture of the layer on top is shown as it is."""
        return CmifAnswer()


class ApplicationDisplay(_WithDisplay):
    """IApplicationDisplayService."""

    name = "IApplicationDisplayService"

    @command(100)
    def relay(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(HosBinderDriver(self.kernel, self.display),))

    @command(101)
    def system_display(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(SystemDisplay(self.kernel, self.display),))

    @command(102)
    def manager_display(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(ManagerDisplay(self.kernel, self.display),))

    @command(103)
    def indirect_relay(self, request: CmifRequest) -> CmifAnswer:
        indirect = HosBinderDriver(self.kernel, self.display)
        indirect.name = "IHOSBinderDriverIndirect"
        return CmifAnswer(objects=(indirect,))

    @command(1010)
    @command(1011)
    def open_display(self, request: CmifRequest) -> CmifAnswer:
        if request.command == 1011:
            name = _NAMES[0]
        else:
            name = request.values(_NAME)[0].split(b"\0")[0].decode("ascii", "backslashreplace")
        if name not in _NAMES:
            return CmifAnswer(result=Result.VI_NOT_FOUND)
        return CmifAnswer(pack("<Q", _DISPLAY))

    @command(1020)
    def close_display(self, request: CmifRequest) -> CmifAnswer:
        known = request.values("Q")[0] == _DISPLAY
        return CmifAnswer(result=Result.OK if known else Result.VI_NOT_FOUND)

    @command(1102)
    def resolution(self, request: CmifRequest) -> CmifAnswer:
        """The same in the dock, as on a console: programs go by the operation mode."""
        return CmifAnswer(pack("<qq", WIDTH, HEIGHT))

    @command(2020)
    def open_layer(self, request: CmifRequest) -> CmifAnswer:
        _name, id, _applet = request.values(f"{_NAME}QQ")
        length = self.opened(self.display.layers.get(id), request)
        return CmifAnswer(result=Result.VI_NOT_FOUND) if length is None else CmifAnswer(length)

    @command(2021)
    def close_layer(self, request: CmifRequest) -> CmifAnswer:
        layer = self.display.layers.get(request.values("Q")[0])
        if layer is None or not layer.open:
            return CmifAnswer(result=Result.VI_NOT_FOUND)
        layer.open = False
        return CmifAnswer()

    @command(2030)
    def create_stray_layer(self, request: CmifRequest) -> CmifAnswer:
        return self.stray_layer(request)

    @command(2031)
    def destroy_stray_layer(self, request: CmifRequest) -> CmifAnswer:
        return self.remove_layer(request)

    @command(2101)
    def set_scaling_mode(self, request: CmifRequest) -> CmifAnswer:
        return self.accept(request)

    @command(2102)
    def convert_scaling_mode(self, request: CmifRequest) -> CmifAnswer:
        mode = request.values("I")[0]
        if mode not in _SCALING_MODES:
            return CmifAnswer(result=Result.VI_OPERATION_FAILED)
        return CmifAnswer(pack("<Q", _SCALING_MODES.index(mode) + 1))

    @command(5202)
    def vsync_event(self, request: CmifRequest) -> CmifAnswer:
        if request.values("Q")[0] != _DISPLAY:
            return CmifAnswer(result=Result.VI_NOT_FOUND)
        return CmifAnswer(copies=(self.display.vsync,))


class SystemDisplay(_WithDisplay):
    """ISystemDisplayService."""

    name = "ISystemDisplayService"

    @command(1200)
    def lowest_z(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(pack("<q", LOWEST_Z))

    @command(1202)
    def highest_z(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(pack("<q", HIGHEST_Z))

    @command(1203)
    def logical_resolution(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(pack("<ii", WIDTH, HEIGHT))

    @command(1204)
    @command(2201)
    @command(2203)
    @command(2207)
    @command(2209)
    def place_layer(self, request: CmifRequest) -> CmifAnswer:
        """SetDisplayMagnification, SetLayerPosition, SetLayerSize, SetLayerVisibility, SetLayerAlpha."""
        return self.accept(request)

    @command(2204)
    def layer_z(self, request: CmifRequest) -> CmifAnswer:
        layer = self.display.layers.get(request.values("Q")[0])
        return CmifAnswer(result=Result.VI_NOT_FOUND) if layer is None else CmifAnswer(pack("<q", layer.z))

    @command(2205)
    def set_layer_z(self, request: CmifRequest) -> CmifAnswer:
        id, z = request.values("Qq")
        layer = self.display.layers.get(id)
        if layer is None:
            return CmifAnswer(result=Result.VI_NOT_FOUND)
        if not LOWEST_Z <= z <= HIGHEST_Z:
            return CmifAnswer(result=Result.VI_OPERATION_FAILED)
        layer.z = z
        return CmifAnswer()

    @command(2312)
    def create_stray_layer(self, request: CmifRequest) -> CmifAnswer:
        return self.stray_layer(request)


class ManagerDisplay(_WithDisplay):
    """IManagerDisplayService."""

    name = "IManagerDisplayService"

    @command(2010)
    def create_managed_layer(self, request: CmifRequest) -> CmifAnswer:
        id = self.display.new_layer()
        return CmifAnswer(result=Result.VI_OPERATION_FAILED) if id is None else CmifAnswer(pack("<Q", id))

    @command(2011)
    def destroy_managed_layer(self, request: CmifRequest) -> CmifAnswer:
        return self.remove_layer(request)

    @command(2012)
    def create_stray_layer(self, request: CmifRequest) -> CmifAnswer:
        return self.stray_layer(request)

    @command(1102)
    def resolution(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(pack("<qq", WIDTH, HEIGHT))

    @command(4201)
    @command(4203)
    @command(4205)
    @command(6000)
    @command(6001)
    @command(6002)
    @command(7000)
    def stack_layer(self, request: CmifRequest) -> CmifAnswer:
        """SetDisplayAlpha, SetDisplayLayerStack, SetDisplayPowerState, AddToLayerStack, RemoveFromLayerStack,
        SetLayerVisibility, SetContentVisibility."""
        return self.accept(request)
