"""A machine that is switched off and on is like a new one, and what is prepared once serves as often as it can."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.capture.driver.n3ds import N3DSDriver
from pocketgpu.errors import NoPictureError
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.pica import PICA
from pocketgpu.lanes import Engine, background
from pocketgpu.pica.core import tiers
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pica.shader.interpreter import vertex_interpreter
from pocketgpu.pica.shader.shader_choices import DEFAULT_RULES
from pocketgpu.pica.texture.cache import TextureCache
from pocketgpu.pica.vertex.programs import VertexProgram


def outcome(machine: N3DS) -> tuple[str, ...]:
    """Digests of all guest memory and of all registers, and what else a run leaves."""
    memory = hashlib.sha256()
    for region, offset in machine.memory.regions:
        memory.update(machine.memory.arena[offset : offset + region.size].data)
    registers = [register for block in (EXTERNAL, PICA, LCD) for register in block]
    # To read an entry of a colour table moves on to the next one.
    words = [machine.read_register(r.address) for r in registers if not r.name.endswith("LUT_DATA")]
    targets = [target.address for target in machine.render_targets]
    return memory.hexdigest(), hashlib.sha256(np.array(words).tobytes()).hexdigest(), str(targets), str(machine.frame)


def test_a_machine_switched_on_again_is_like_a_new_one(sample_path: Path) -> None:
    capture = pocketgpu.open(sample_path)
    machine = capture.machine()
    blank = outcome(machine)
    first = [[screen.array.tobytes() for screen in frame.screens.values()] for frame in capture.render(range(2))]
    for _ in N3DSDriver(capture.trace, machine).frames(range(2)):
        pass
    used = outcome(machine)
    assert used != blank
    machine.reset()
    assert not machine.take_interrupts() and not machine.events.drain() and machine.stats.draws == 0
    assert outcome(machine) == blank
    again = []
    for frame in capture.render(range(2), machine=machine):
        again.append([screen.array.tobytes() for screen in frame.screens.values()])
    assert again == first
    assert outcome(machine) == used


def test_frames_may_go_without_their_pictures(sample_path: Path) -> None:
    capture = pocketgpu.open(sample_path)
    kept = list(capture.render(range(2)))
    seen, frames = [], []
    for frame in capture.render(range(2), pictures=False):
        if frame.index == 0:
            seen.append(frame.top.array.tobytes())
        frames.append(frame)
    assert seen == [kept[0].top.array.tobytes()] and frames[0].top.array.tobytes() == seen[0]
    with pytest.raises(NoPictureError, match="moved on"):
        _ = frames[1].screens


def test_geometry_shaders_run_after_a_reset(shared_dir: Path) -> None:
    capture = pocketgpu.open(shared_dir / "captures" / "3ds" / "geoshader.ctf.xz")
    machine = capture.machine()
    passes = [[frame.top.array.tobytes() for frame in capture.render(range(2), machine=machine)] for _ in range(3)]
    assert passes[0] == passes[1] == passes[2]


def test_textures_are_decoded_again_only_when_their_own_bytes_change(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []
    decode = TextureCache._decode
    monkeypatch.setattr(
        TextureCache, "_decode", lambda self, source, at: (decoded.append(source), decode(self, source, at))
    )
    texels = np.full((8, 8), 0x112233FF, np.uint32)

    def draw() -> list[int]:
        gpu.show()
        gpu.span(0, 1, 0, 1)
        gpu.run()
        return gpu.pixels()[0, 0].tolist()

    gpu.texture(0, texels)
    assert draw() == [0x11, 0x22, 0x33, 0xFF]
    place = 0x21000000
    gpu.memory.write(place + 256, b"\x77" * 64)  # on the same page, after the texture
    assert draw() == [0x11, 0x22, 0x33, 0xFF]
    assert len(decoded) == 1
    gpu.memory.write(place, np.full(64, 0x445566FF, np.uint32))
    assert draw() == [0x44, 0x55, 0x66, 0xFF]
    assert len(decoded) == 2


def test_no_draw_waits_for_a_vertex_program(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the interpreter at hand a new program runs on that at once, and on its own code once it is there."""
    runner = gpu.n3ds.runner
    interpreter = runner.engine.handle(vertex_interpreter, control=runner.layout.control, rules=DEFAULT_RULES)
    monkeypatch.setattr(Engine, "has", lambda self, kernel, **static: False)  # nothing on the disk
    monkeypatch.setattr(tiers, "ON_THE_SPOT", 0)
    monkeypatch.setattr(tiers, "MAX_SPECIALISED", 1 << 62)  # other tests in this process have made many
    used: list[int] = []
    handle = VertexProgram.handle

    def watched(self: VertexProgram, tier: str, exact: bool = False) -> int:
        used.append(handle(self, tier, exact))
        return used[-1]

    monkeypatch.setattr(VertexProgram, "handle", watched)
    through = [f"r{i}" for i in (3, 11, 6, 13, 2)]  # a program that no other test has
    gpu.program(
        [gpu.op(0x13, to, of) for of, to in zip(["v0", *through], [*through, "o0"], strict=True)]
        + [gpu.op(0x13, f"o{i}", f"v{i}") for i in range(1, 4)]
    )
    gpu.texture(0, np.full((8, 8), 0x112233FF, np.uint32))
    pictures = []
    for _ in range(2):
        gpu.show()
        gpu.span(0, 1, 0, 1)
        gpu.run()
        pictures.append(gpu.pixels().tobytes())
        background.wait()
    assert pictures[0] == pictures[1] and any(pictures[0])
    assert len(used) == 2
    assert used[0] == interpreter != used[1]
