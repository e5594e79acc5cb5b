"""A desk of the viewer with one inspection on it."""

from __future__ import annotations

from contextlib import nullcontext

from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.machine_thread import MachineThread
from pocketgpu.view.questions.desk import MAIN, Desk, desk_of


def on_desk(run: Inspection) -> MachineThread[Desk]:
    """A machine's thread whose desk has one inspection."""
    return MachineThread[Desk](lambda: desk_of((MAIN, nullcontext(run))))
