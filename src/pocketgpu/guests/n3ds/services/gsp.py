"""`gsp::Gpu` in front of the machine's graphics module, and `gsp::Lcd`.

Programs acquire the right before they register; the wish is kept until then. They flush any address; the machine has no
caches, so a flush is only told to who listens. Source: 3dbrew GSP Services; libctru's gspgpu.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.objects import Event
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, command

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

_BRIGHTEST = 5
_PERF_LOG_WORDS = 14


class GspGpu(Service):
    """The service. client: the program's number, once it has registered."""

    name = "gsp::Gpu"

    def __init__(self, kernel: N3DSKernel) -> None:
        super().__init__(kernel)
        self.gsp = kernel.machine.gsp
        self.client: int | None = None
        self.event: Event | None = None
        self.block = MemoryBlock("gsp's shared memory", memoryview(self.gsp.shared.data))
        self._wants_right = False

    def deliver(self) -> None:
        """Signal the program's event if its queue got interrupts."""
        if self.client is None or self.event is None:
            return
        client = self.gsp.clients.registered.get(self.client)
        if client is not None and client.signalled:
            client.signalled = False
            self.kernel.signal(self.event)

    # -- registers --------------------------------------------------------------------------------------------------
    @command(0x1)
    def write_hw_regs(self, request: Request) -> Answer:
        return Answer(self.gsp.write_hw_regs(request.words[1], request.static(3), client=self.client))

    @command(0x2)
    def write_hw_regs_with_mask(self, request: Request) -> Answer:
        data, mask = request.static(3), request.static(5)
        return Answer(self.gsp.write_hw_regs_with_mask(request.words[1], data, mask, client=self.client))

    @command(0x3)
    def write_hw_reg_repeat(self, request: Request) -> Answer:
        return Answer(self.gsp.write_hw_reg_repeat(request.words[1], request.static(3), client=self.client))

    @command(0x4)
    def read_hw_regs(self, request: Request) -> Answer:
        reading = self.gsp.read_hw_regs(request.words[1], request.words[2], client=self.client)
        return Answer(reading.result, statics={0: reading.data})

    @command(0x5)
    def set_buffer_swap(self, request: Request) -> Answer:
        return Answer(self.gsp.set_buffer_swap(request.words[1], request.words[2:9], client=self.client))

    # -- caches -----------------------------------------------------------------------------------------------------
    def _flushed(self, request: Request) -> Answer:
        self.kernel.flushed(request.words[1], request.words[2])
        return Answer()

    @command(0x8)
    def flush_data_cache(self, request: Request) -> Answer:
        return self._flushed(request)

    @command(0x9)
    def invalidate_data_cache(self, request: Request) -> Answer:
        return Answer()

    @command(0x1F)
    def store_data_cache(self, request: Request) -> Answer:
        return self._flushed(request)

    # -- commands, the right, the rest ------------------------------------------------------------------------------
    @command(0xB)
    def set_lcd_force_black(self, request: Request) -> Answer:
        return Answer(self.gsp.set_lcd_force_black(bool(request.words[1] & 0xFF)))

    @command(0xC)
    def trigger_cmd_req_queue(self, request: Request) -> Answer:
        result = self.gsp.trigger_cmd_req_queue(self.client)
        self.deliver()
        return Answer(result)

    @command(0x13)
    def register_interrupt_relay_queue(self, request: Request) -> Answer:
        event = request.object(3)
        registration = self.gsp.register_interrupt_relay_queue(request.words[1])
        if registration.client < 0 or not isinstance(event, Event):
            return Answer(registration.result, values=(0,), handles=(None,))
        self.client, self.event = registration.client, event
        event.references += 1
        if self._wants_right:
            self.gsp.acquire_right(self.client)
        return Answer(registration.result, values=(self.client,), handles=(self.block,))

    @command(0x14)
    def unregister_interrupt_relay_queue(self, request: Request) -> Answer:
        if self.client is None:
            return Answer()
        result = self.gsp.unregister_interrupt_relay_queue(self.client)
        self.client = self.event = None
        return Answer(result)

    @command(0x15)
    def try_acquire_right(self, request: Request) -> Answer:
        return self._acquire()

    @command(0x16)
    def acquire_right(self, request: Request) -> Answer:
        return self._acquire()

    def _acquire(self) -> Answer:
        self._wants_right = True
        return Answer() if self.client is None else Answer(self.gsp.acquire_right(self.client) or 0)

    @command(0x17)
    def release_right(self, request: Request) -> Answer:
        self._wants_right = False
        return Answer() if self.client is None else Answer(self.gsp.release_right(self.client))

    @command(0x18)
    def import_display_capture_info(self, request: Request) -> Answer:
        found = self.gsp.import_display_capture_info()
        return Answer(found.result, values=(*found.top, *found.bottom))

    @command(0x19)
    def save_vram_sys_area(self, request: Request) -> Answer:
        return Answer(self.gsp.save_vram_sys_area(client=self.client))

    @command(0x1A)
    def restore_vram_sys_area(self, request: Request) -> Answer:
        return Answer(self.gsp.restore_vram_sys_area(client=self.client))

    @command(0x1B)
    def reset_gpu_core(self, request: Request) -> Answer:
        return Answer(self.gsp.reset_gpu_core(client=self.client))

    @command(0x11)
    def set_perf_log_mode(self, request: Request) -> Answer:
        return Answer()

    @command(0x12)
    def get_perf_log(self, request: Request) -> Answer:
        """Times of the units, last and in all: they take none here."""
        return Answer(values=(0,) * _PERF_LOG_WORDS)

    @command(0x1C)
    def set_led_force_off(self, request: Request) -> Answer:
        return Answer(self.gsp.set_led_force_off(bool(request.words[1])))

    def taken(self, screens: Sequence[int] = (0, 1)) -> dict[int, tuple[int, ...]]:
        """The framebuffer entries that the next VBlank is going to show, by screen."""
        if self.client is None:
            return {}
        infos = {screen: self.gsp.shared.framebuffer(self.client, screen) for screen in screens}
        return {screen: info.entry(info["index"]) for screen, info in infos.items() if info["flag"] & 1}


class GspLcd(Service):
    """`gsp::Lcd`: backlights, which are accepted."""

    name = "gsp::Lcd"

    @command(0x10)
    def power_off_all_backlights(self, request: Request) -> Answer:
        return Answer()

    @command(0x15)
    def get_brightness(self, request: Request) -> Answer:
        return Answer(values=(_BRIGHTEST,))

    @command(0xA)
    def set_brightness_raw(self, request: Request) -> Answer:
        return Answer()

    @command(0xB)
    def set_brightness(self, request: Request) -> Answer:
        return Answer()

    @command(0xF)
    def power_on_all_backlights(self, request: Request) -> Answer:
        return Answer()

    @command(0x11)
    def power_on_backlight(self, request: Request) -> Answer:
        return Answer()

    @command(0x12)
    def power_off_backlight(self, request: Request) -> Answer:
        return Answer()

    @command(0x13)
    def set_led_force_off(self, request: Request) -> Answer:
        return Answer()

    @command(0x14)
    def get_vendor(self, request: Request) -> Answer:
        return Answer(values=(0,))
