"""Looking into recordings of a Switch: events, moments, and answers about pixels and threads.

`player` replays and can stop behind any event, `checkpoints` bring it back, `recorder` says what happened. On these
stand `moments` (the state behind an event), `pixel_history` (who touched a pixel) and `why` (the answer).
"""

from pocketgpu.inspect.switch.inspection import SwitchInspection

__all__ = ["SwitchInspection"]
