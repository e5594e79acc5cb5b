"""The display controllers in time: what their registers describe, and what they do as time passes.

`mode` is the pure model (registers in, numbers out), `limits` what the documents warn of, `scan` which line and pixel
shows what, `controller` the unit of the machine. The picture of a whole frame without time is `pica/display.py`.
"""

from pocketgpu.pica.pdc.limits import problems
from pocketgpu.pica.pdc.mode import Beat, DisplayMode, Span, display_mode
from pocketgpu.pica.pdc.problem import Problem

__all__ = ["Beat", "DisplayMode", "Problem", "Span", "display_mode", "problems"]
