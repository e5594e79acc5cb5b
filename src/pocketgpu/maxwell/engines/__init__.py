"""What the classes of a GM20B do when a method is written."""

from __future__ import annotations

from .base import Engine, EngineHost
from .compute import Compute
from .dma import DmaCopy
from .inline import InlineToMemory
from .threed import ThreeD
from .twod import TwoD

ENGINE_CLASSES: dict[int, type[Engine]] = {
    engine.class_id: engine for engine in (ThreeD, Compute, InlineToMemory, TwoD, DmaCopy)
}
"""The engine of each class id. A class without one keeps its registers and does nothing."""

__all__ = ["ENGINE_CLASSES", "Engine", "EngineHost"]
