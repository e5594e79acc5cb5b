"""Made-up answers about the stages of a draw: a texture, two combiners of which one does nothing, blending."""

from __future__ import annotations

from typing import Any

MARKUP = "<img src=x onerror=document.title='broken'>"


def _part(operation: str, inputs: list[tuple[str, str]], value: dict[str, str] | None) -> dict[str, Any]:
    return {
        "name": "rgb", "operation": operation, "scale": "x2", "output": value,
        "inputs": [{"name": name, "operand": "rgb", "stage": stage, "value": value} for name, stage in inputs],
    }  # fmt: skip


def _stage(name: str, parts: list[Any], value: Any, idle: bool = False, program: str | None = None) -> dict[str, Any]:
    notes = [f"note {MARKUP}"] if not parts else []
    return {"name": name, "parts": parts, "output": value, "notes": notes, "idle": idle, "program": program}


def flow(given: dict[str, str]) -> Any:
    """The answer to `flow`: with values for a pixel."""
    value = {"text": "1, 2, 3", "color": "#010203"} if "/px" in given["at"] else None
    return {"stages": [
        _stage("vertex program", [], None, program="f0/d1/v0"), _stage("texture 0", [], value),
        _stage("combiner 0", [_part(f"modulate {MARKUP}", [("texture 0",) * 2, ("constant", "")], value)], value),
        _stage("combiner 1", [_part("replace", [("previous stage", "combiner 0")], value)], value, idle=True),
        _stage("blending", [_part("add", [("source", "combiner 1")], value)], value),
    ]}  # fmt: skip
