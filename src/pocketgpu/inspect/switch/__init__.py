"""Inspection of Switch recordings: events, moments, and answers about pixels, draws and threads.

`recorder` turns a replay into events; `moments` has the state after an event; `touches` and `pixel_history` find who
wrote a pixel, `answers`, `funnel` and `threads` make the answers of `why`.
"""

from pocketgpu.inspect.switch.inspection import SwitchInspection

__all__ = ["SwitchInspection"]
