"""The display controllers with emulated time: the modes of their registers, and what they do as time passes.

`mode` is the pure model (registers in, numbers out), `limits` has the documents' warnings, `scan` maps lines and pixels
of the screen to the framebuffer, `controller` is the unit of the machine. Whole frames without time: `pica/display`.
"""

from pocketgpu.pica.pdc.mode import Beat, DisplayMode, Span, display_mode
from pocketgpu.pica.pdc.mode_warnings import problems
from pocketgpu.pica.pdc.problem import Problem

__all__ = ["Beat", "DisplayMode", "Problem", "Span", "display_mode", "problems"]


def __dir__() -> list[str]:
    return [*__all__]
