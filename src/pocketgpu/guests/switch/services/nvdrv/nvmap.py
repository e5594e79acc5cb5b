"""/dev/nvmap: memory that the GPU and the display can be given, which is the program's own.

Source: libnx's nvidia/map.c.
"""

from __future__ import annotations

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.nvdrv import NvError, Param
from pocketgpu.guests.kernel.memory import PAGE
from pocketgpu.guests.switch.services.nvdrv.device import Device, request


class NvMap(Device):
    """The device. A handle is the object's id."""

    path = "/dev/nvmap"

    @request("Create")
    def create(self, one: Record) -> NvError:
        made = self.driver.new_object(one["size"])
        if made is None:
            return NvError.BAD_PARAMETER if not one["size"] else NvError.INSUFFICIENT_MEMORY
        one["handle"] = made.id
        return NvError.SUCCESS

    @request("FromId")
    def from_id(self, one: Record) -> NvError:
        found = self.driver.objects.get(one["id"])
        if found is None:
            return NvError.BAD_PARAMETER
        found.references += 1
        one["handle"] = found.id
        return NvError.SUCCESS

    @request("Alloc")
    def alloc(self, one: Record) -> NvError:
        found, address = self.driver.objects.get(one["handle"]), one["address"]
        if found is None or address % PAGE or one["align"] & (one["align"] - 1 if one["align"] else 0):
            return NvError.BAD_PARAMETER
        if found.place is not None:
            return NvError.ALREADY_ALLOCATED
        place = self.driver.place_of(address, found.room)
        if place is None:
            return NvError.INVALID_ADDRESS
        found.place, found.address, found.kind = place, address, one["kind"]
        found.align, found.heap, found.flags = max(one["align"], PAGE), one["heap"], one["flags"]
        return NvError.SUCCESS

    @request("Free")
    def free(self, one: Record) -> NvError:
        found = self.driver.objects.get(one["handle"])
        if found is None:
            return NvError.BAD_PARAMETER
        found.references -= 1
        if found.references == 0:
            del self.driver.objects[found.id]
            one["address"], one["size"], one["flags"] = found.address, found.size, 0
        else:
            one["address"], one["size"], one["flags"] = 0, 0, 1  # it is not gone
        return NvError.SUCCESS

    @request("Param")
    def param(self, one: Record) -> NvError:
        found = self.driver.objects.get(one["handle"])
        if found is None:
            return NvError.BAD_PARAMETER
        values = {Param.SIZE: found.size, Param.ALIGN: found.align, Param.HEAP: found.heap, Param.KIND: found.kind}
        which = one["which"]
        if which == Param.BASE:
            return NvError.NOT_IMPLEMENTED  # a physical address, which no program is told
        if which not in values:
            return NvError.BAD_PARAMETER
        one["value"] = values[Param(which)]
        return NvError.SUCCESS

    @request("GetId")
    def get_id(self, one: Record) -> NvError:
        found = self.driver.objects.get(one["handle"])
        if found is None:
            return NvError.BAD_PARAMETER
        one["id"] = found.id
        return NvError.SUCCESS
