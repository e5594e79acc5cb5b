"""Rules come to an end, and raise nothing, whatever a recording holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.strict_scenes import PROGRAM, Scene

from pocketgpu.builder import CaptureBuilder, CommandList, assemble
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.rules.checker import check

SEEDS = range(6)
_DRAWN = [r.offset for r in PICA if r.name not in ("FINALIZE", "DRAWARRAYS", "DRAWELEMENTS") and "CMDBUF" not in r.name]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_registers_around_a_draw(seed: int) -> None:
    random = np.random.default_rng(seed)

    def edit(scene: Scene, cl: CommandList) -> None:
        for id in random.choice(_DRAWN, 24).tolist():
            cl.write_word(id, int(random.integers(1 << 32)))
        cl.write("NUMVERTICES", count=int(random.integers(64)))

    check(Scene(edit=edit, late=lambda scene, cl: cl.write_word("DRAWELEMENTS", 1)).capture())


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(seed: int) -> None:
    random = np.random.default_rng(seed)
    made = assemble(PROGRAM)
    code = tuple(random.integers(1 << 32, size=48).tolist())
    entry = int(random.integers(0, 60))
    descriptors = tuple(random.integers(1 << 31, size=128).tolist())

    def edit(scene: Scene, cl: CommandList) -> None:
        cl.write("VSH_ENTRYPOINT", entry=entry).write("VSH_BOOLUNIFORM", bools=int(random.integers(1 << 16)))

    check(Scene(assembly=replace(made, code=code, descriptors=descriptors), edit=edit).capture())


def test_an_entry_behind_the_program_memory() -> None:
    scene = Scene(edit=lambda scene, cl: cl.write_word("VSH_ENTRYPOINT", 0x7FFF_FFFF))
    found = check(scene.capture()).findings
    assert any(one.rule.id == "shader.no-end" for one in found)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_words_for_the_units(seed: int) -> None:
    random = np.random.default_rng(seed)
    names = [r.name for r in EXTERNAL if r.name.startswith(("PSC", "PPF", "PDC")) and r.access != "r"]

    def after(scene: Scene, capture: CaptureBuilder) -> None:
        for name in random.choice(names, 64).tolist():
            capture.write_word(EXTERNAL[name].address, int(random.integers(1 << 32)))
        for control in ("PSC0_CONTROL", "PPF_CONTROL"):
            capture.write(control, start=True)

    check(Scene(after=after).capture())


@pytest.mark.parametrize("seed", SEEDS)
def test_random_lists(seed: int) -> None:
    random = np.random.default_rng(seed)
    words = random.integers(1 << 32, size=256).astype(np.uint32)
    words[1::2] = words[1::2] & 0x80F003FF | 0xF0000  # headers that name registers

    def after(scene: Scene, capture: CaptureBuilder) -> None:
        capture.submit(CommandList().plain_state())
        place = capture.put(words, align=16)
        capture.write_word(PICA["CMDBUF_SIZE0"].address, words.nbytes >> 3)
        capture.write_word(PICA["CMDBUF_ADDR0"].address, place >> 3)
        capture.write_word(PICA["CMDBUF_JUMP0"].address, 1)

    check(Scene(after=after, frames=2).capture())
