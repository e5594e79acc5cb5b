"""The LCDs' registers: fill colours that cover the picture, and backlights.

Source: 3dbrew LCD Registers, GPU/External Registers.
"""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.late_dataclass import dataclass

ReadRegister = Callable[[int], int]


def fill_colour(name: str, read: ReadRegister) -> tuple[int, int, int] | None:
    """The colour that an LCD ("top", "bottom") shows instead of the picture; None when it shows the picture."""
    register = LCD[f"{name.upper()}_FILL"]
    word = read(register.address)
    if not register["enable"].raw(word):
        return None
    return register["r"].raw(word), register["g"].raw(word), register["b"].raw(word)


@dataclass(frozen=True, slots=True)
class Backlight:
    """The backlight of one screen as its registers set it; it changes no pixel.

    duty, period: lengths of the pulses that drive it. enabled: pulses are on. may_turn_off: BACKLIGHT does not keep it
    on (0x20000000 does). Source: 3dbrew LCD Registers, GPU/External Registers.
    """

    duty: int
    period: int
    enabled: bool
    may_turn_off: bool

    @property
    def level(self) -> float:
        """Fraction of the time in which it is lit, 0 to 1."""
        return min(1.0, self.duty / self.period) if self.enabled and self.period else 0.0


def backlight(name: str, read: ReadRegister) -> Backlight:
    """The backlight of "top" or "bottom"."""
    duty, pwm = LCD[f"{name.upper()}_BACKLIGHT"], LCD[f"{name.upper()}_BACKLIGHT_PWM"]
    pulses = read(pwm.address)
    return Backlight(
        duty["duty"].raw(read(duty.address)),
        pwm["period"].raw(pulses),
        bool(pwm["enable"].raw(pulses)),
        read(EXTERNAL["BACKLIGHT"].address) == 0,
    )
