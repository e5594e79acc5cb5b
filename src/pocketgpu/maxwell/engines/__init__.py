"""What the classes of a GM20B do when a method is written."""

from __future__ import annotations

from .base import Engine, EngineHost

ENGINE_CLASSES: dict[int, type[Engine]] = {}
"""The engine of each class id. A class without one keeps its registers and does nothing."""

__all__ = ["ENGINE_CLASSES", "Engine", "EngineHost"]
