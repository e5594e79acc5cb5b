"""Runs shader text on every tier and evaluator, which must agree bit for bit, and gives back the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from pocketgpu.pica.shader import Outputs, Program
from pocketgpu.pica.shader.assembler import assemble

KINDS = [
    {"tier": "interpreter"},
    {"tier": "specialised"},
    {"tier": "interpreter", "evaluator": "numpy"},
    {"tier": "specialised", "evaluator": "numpy"},
]
Run = Callable[..., Outputs]


def vectors(*inputs: Any, n: int = 1) -> np.ndarray[Any, Any]:
    """(n, 16, 4) inputs with v0, v1, ... as given: a number, four of them, or n times four."""
    out = np.zeros((n, 16, 4), np.float32)
    for i, value in enumerate(inputs):
        out[:, i] = value
    return out


def same(a: Outputs, b: Outputs) -> bool:
    """Whether two runs agree in everything, bit for bit."""
    parts = lambda r: (  # noqa: E731
        np.asarray(r).view(np.uint32), r.conditions, r.address, r.hung, r.emit.count, r.emit.states, r.emit.winding,
        r.emit.prim_emit, r.emit.vertex_id, r.emit.vertices.view(np.uint32),
    )  # fmt: skip
    return all(x.shape == y.shape and (x == y).all() for x, y in zip(parts(a), parts(b), strict=True))


@pytest.fixture(scope="session")
def run() -> Run:
    """run(text, v0, v1, ..., n=vertices, numpy=whether also slowly, choices=..., **what Program.run takes)."""

    def go(
        text: str, *inputs: Any, n: int = 1, numpy: bool = True, choices: Mapping[str, str] | None = None, **more: Any
    ) -> Outputs:
        words = assemble(text)
        uniforms = {**words.constants, **more.pop("uniforms", {})}
        results = []
        for kind in KINDS if numpy else KINDS[:2]:
            program = Program(words.code, words.descriptors, words.entry, switches=choices, **kind)
            results.append(program.run(vectors(*inputs, n=n), uniforms, **more))
        for kind, result in zip(KINDS[1:], results[1:], strict=False):
            assert same(results[0], result), f"{kind} differs from the interpreter:\n{results[0]}\n{result}"
        return results[0]

    return go
