"""The engines of a GM20B: what each class does when a method is written."""

from __future__ import annotations

from pocketgpu.maxwell.engines.common.base import Engine, EngineHost
from pocketgpu.maxwell.engines.compute.launch import Compute
from pocketgpu.maxwell.engines.copy.dma import DmaCopy
from pocketgpu.maxwell.engines.inline.inline_unit import InlineToMemory
from pocketgpu.maxwell.engines.threed.engine import ThreeD
from pocketgpu.maxwell.engines.twod.engine import TwoD

ENGINE_CLASSES: dict[int, type[Engine]] = {
    engine.class_id: engine for engine in (ThreeD, Compute, InlineToMemory, TwoD, DmaCopy)
}
"""The engine of each class id. A class without one stores its registers and has no effects."""

__all__ = ["ENGINE_CLASSES", "Engine", "EngineHost"]
