"""The same launch gives its arrays, variables and textures the same addresses and handles, whatever ran before."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
from support.kernel_cases import NAMES, Case

import pocketgpu
from pocketgpu.inspect.shaders.traces import Run, trace_file

TEXT = """.kernel k
.registers 8
{parameters}MOV R0, c[0x0][0x140]
MOV R1, c[0x0][0x144]
MOV R2, c[0x0][0x148]
MOV R3, c[0x0][0x14c]
STG.E [R0], R0
STG.E [R2], R2
EXIT
"""


def module(count: int = 2) -> pocketgpu.RawModule:
    return pocketgpu.RawModule(code=TEXT.format(parameters="".join(f".param p{n} ptr\n" for n in range(count))))


def addresses(function: object, sizes: list[int]) -> list[int]:
    arrays = [np.zeros(size, np.uint32) for size in sizes]
    function((1,), (1,), tuple(arrays))  # type: ignore[operator]
    return [int(array[0]) for array in arrays[:2]]


def test_arrays_of_one_size_keep_their_order() -> None:
    function = module().get_function("k")
    first = addresses(function, [40, 40])
    assert first[0] != first[1]
    for _ in range(5):
        assert addresses(function, [40, 40]) == first


@pytest.mark.parametrize(
    "others", ([[40]], [[40, 40, 40], [4000]], [[1, 2], [2, 1], [1024, 1024, 1]], [[40, 50], [50, 40]])
)
def test_what_other_launches_leave_makes_no_difference(others: list[list[int]]) -> None:
    function = module().get_function("k")
    first = addresses(function, [40, 40])
    for sizes in others:
        text = TEXT.split("MOV", 1)[0].format(parameters="".join(f".param p{n} ptr\n" for n in range(len(sizes))))
        other = pocketgpu.RawModule(code=text + "EXIT\n").get_function("k")
        other((1,), (1,), tuple(np.zeros(size, np.uint32) for size in sizes))
        assert addresses(function, [40, 40]) == first


def test_a_launch_of_a_file_has_the_same_constants_each_time(tmp_path: Path) -> None:
    path = tmp_path / "k.sass"
    path.write_text(TEXT.format(parameters=".param a ptr\n.param b ptr\n.param c ptr\n"))
    run = Run(str(path), args=("zeros:160", "zeros:160", "zeros:160"), at="b0/t0")
    found = {tuple(trace_file(run)[0].end.word(f"R{n}") for n in range(4)) for _ in range(6)}
    assert len(found) == 1


def test_handles_of_textures_are_the_same_each_time() -> None:
    text = ".kernel k\n.registers 8\n.param data ptr\n.param one u64\nMOV R0, c[0x0][0x140]\nMOV R1, c[0x0][0x144]\n"
    function = pocketgpu.RawModule(code=text + "MOV R2, c[0x0][0x148]\nSTG.E [R0], R2\nEXIT\n").get_function("k")
    found = set()
    for _ in range(4):
        data = np.zeros(8, np.uint32)
        textures = [pocketgpu.Texture(np.zeros((4, 4), np.float32)) for _ in range(3)]
        for texture in textures:
            function((1,), (1,), (data, texture))
            found.add((textures.index(texture), int(data[0])))
        del texture, textures
    assert len(found) == 3


@pytest.mark.skipif("ctl_call" not in NAMES, reason="no recorded kernels")
def test_variables_are_freed() -> None:
    """Else each module would have its variables somewhere else."""

    def opened() -> tuple[pocketgpu.RawModule, list[int]]:
        found = pocketgpu.RawModule(Case("ctl_call").folder / "kernel.cubin")
        return found, [one.address for one in found.variables]

    one, first = opened()
    both, second = opened()
    assert first and first != second
    one.close()
    one.close()
    again, third = opened()
    assert third == first
    again.close()
    del both
    gc.collect()
    assert opened()[1] == first
