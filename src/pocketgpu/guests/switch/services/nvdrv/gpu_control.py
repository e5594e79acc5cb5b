"""/dev/nvhost-ctrl-gpu: what a program may know of the GPU. Source: libnx's nvidia/ioctl/nvhost-ctrl-gpu.c."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.nvdrv import RECORDS, NvError
from pocketgpu.guests.kernel.timeline import NANOSECONDS
from pocketgpu.guests.switch.services.nvdrv.device import Device, request

if TYPE_CHECKING:
    from pocketgpu.guests.switch.services.nvdrv.driver import NvDriver

_COLORS: Final = 15
"""Entries of each table of clear values."""
_COLOR, _DEPTH = 1, 2
_FIRST_ENTRY: Final = 1


class GpuControl(Device):
    """The device."""

    path = "/dev/nvhost-ctrl-gpu"

    def __init__(self, driver: NvDriver, fd: int) -> None:
        super().__init__(driver, fd)
        self._clear_values: dict[int, list[bytes]] = {_COLOR: [], _DEPTH: []}
        """As programs set them: a whole ZbcSetTable record each."""

    @request("ZCullGetCtxSize", "ZCullGetInfo", "GetActiveSlotMask")
    def constant(self, one: Record) -> NvError:
        """The table has the answer."""
        one.data[: one.layout.size] = one.layout.start
        return NvError.SUCCESS

    @request("GetCharacteristics")
    def characteristics(self, one: Record) -> NvError:
        known = RECORDS.make("Characteristics")
        one["length"] = len(known.data)
        one.set_part("characteristics", known.data)
        return NvError.SUCCESS

    @request("GetTpcMasks")
    def tpc_masks(self, one: Record) -> NvError:
        one["mask"] = (1 << RECORDS.make("Characteristics")["tpcs_in_gpc"]) - 1
        return NvError.SUCCESS

    @request("GetGpuTime")
    def time(self, one: Record) -> NvError:
        time = self.driver.kernel.time
        one["nanoseconds"] = time.now * NANOSECONDS // time.hertz
        return NvError.SUCCESS

    # -- values of fast clears --------------------------------------------------------------------------------------
    @request("ZbcSetTable")
    def set_clear_value(self, one: Record) -> NvError:
        table = self._clear_values.get(one["type"])
        if table is None:
            return NvError.BAD_PARAMETER
        kept = bytes(one.data[: one.layout.size])
        if kept not in table:
            if len(table) >= _COLORS:
                return NvError.INSUFFICIENT_MEMORY
            table.append(kept)
        return NvError.SUCCESS

    @request("ZbcQueryTable")
    def clear_value(self, one: Record) -> NvError:
        """The size of a table, or an entry of it."""
        if one["type"] == 0:
            one["size"] = _COLORS
            return NvError.SUCCESS
        table, index = self._clear_values.get(one["type"]), one["size"]
        if table is None or not _FIRST_ENTRY <= index <= _COLORS:
            return NvError.BAD_PARAMETER
        known = RECORDS.make("ZbcSetTable", table[index - 1] if index <= len(table) else b"")
        for number in range(len(known.numbers("color"))):
            one.set_number("color", number, known.numbers("color")[number])
            one.set_number("color_l2", number, known.numbers("color_l2")[number])
        one["depth"], one["format"] = known["depth"], known["format"]
        one["references"] = int(index <= len(table))
        return NvError.SUCCESS
