"""Kernels that are made ahead of time: the list has what captures ask for, and code of each level does the same."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.inspect import shipped
from pocketgpu.lanes import archive, code_image, machine_code, making, recipes
from pocketgpu.lanes.kernel import make_image
from pocketgpu.lanes.target import LEVELS, Target, host, making_for
from pocketgpu.pica.engines.transfer import copy_units

ROOT = Path(__file__).resolve().parents[3]
needs_level = pytest.mark.skipif(not host().level, reason="code is made ahead of time for Linux on x86-64 only")
BY_CAPTURE = {
    "draw_fragments", "vertex_program", "geometry_program",  # a state, a program
    "run_stage_warp", "run_warp", "test", "write", "fetch",
    "blit_rows", "remap_words", "remap_rows",  # two formats
}  # fmt: skip
"""Kernels that are made for what a capture holds, unless their static values say that they are for anything."""
ASK = """
import sys
from importlib import import_module
import pocketgpu
kernels = import_module("pocketgpu.lanes.kernel")
asked, made = [], kernels._made
def noted(kernel, static):
    asked.append((kernel.name, repr(sorted(static.items()))))
    return made(kernel, static)
kernels._made = noted
for number, frame in enumerate(pocketgpu.open(sys.argv[1]).render()):
    if number == 2:
        break
for name, static in asked:
    print(name, static, sep="\\t")
"""


def listed() -> set[tuple[str, str]]:
    return {
        (kernel.name, repr(sorted(static.items()))) for room in making.ROOMS for kernel, static in making.listed(room)
    }


@pytest.mark.parametrize("name", ["sample.ctf.xz", "sample_switch.mxcap.zip"])
def test_a_sample_asks_for_listed_kernels_and_for_what_its_states_need(name: str) -> None:
    capture = ROOT / "src" / "pocketgpu" / "data" / name
    done = subprocess.run([sys.executable, "-c", ASK, str(capture)], capture_output=True, text=True, check=True)
    asked = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(asked) > 8
    known = listed()
    assert [one[0] for one in asked if tuple(one) not in known and one[0] not in BY_CAPTURE] == []


@pytest.mark.parametrize("room", making.ROOMS)
def test_every_kernel_of_the_list_has_a_recipe_of_its_own(room: str) -> None:
    stamp = machine_code.stamp(compiler=False)
    found = [recipes.of(kernel, static, stamp) for kernel, static in making.listed(room)]
    assert None not in found and len(found) > 60
    assert len(set(found)) == len(found)
    assert {recipes.room(kernel) for kernel, _ in making.listed(room)} == {room}


def test_the_same_kernel_is_the_same_bytes_on_any_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target.of_level("x86-64-v3")
    monkeypatch.setenv("POCKETGPU_CACHE", str(tmp_path / "workers"))  # nothing is there that would be found at once
    some = making.images("pica", target, 2, seconds=0.5)
    assert 0 < len(some) < len(making.listed("pica"))
    monkeypatch.setenv("POCKETGPU_CACHE", str(tmp_path / "here"))
    with making_for(target):
        here = dict(make_image(*code) for code in making.listed("pica")[: len(some)])
    assert some == here
    assert making.images("pica", target, 2, seconds=0) == {}


@needs_level
@pytest.mark.parametrize("level", LEVELS)
def test_code_of_each_level_that_this_processor_has_copies_right(level: str) -> None:
    with making_for(Target.of_level(level)):
        _, image = make_image(copy_units, {})
    if [*LEVELS].index(level) > [*LEVELS].index(host().level):
        pytest.skip("this processor lacks the level")
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_int32] * 5)
    arena = np.zeros(8192, np.uint8)
    arena[1024:2048] = np.random.default_rng(5).integers(0, 256, 1024, np.uint8)
    run(code_image.load([image.code])[0])(arena.ctypes.data, 1024, 4096, 6, 2, 1, 3, 2)
    source = arena[1024:2048].reshape(-1, 16)
    target = arena[4096:5120].reshape(-1, 16)
    assert (target[[0, 1, 2, 5, 6, 7]] == source[[0, 1, 3, 4, 6, 7]]).all()
    assert not target[[3, 4]].any()


@needs_level
def test_cache_make_makes_the_first_ones_and_a_second_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POCKETGPU_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(archive, "SHIPPED", tmp_path)
    archive.forget()
    try:
        assert main(["cache", "make", "--seconds", "0.5", "--workers", "2", "--json"]) == 0
        made = json.loads(capsys.readouterr().out)["kernels"]
        assert 0 < made["made"] < made["listed"] == len(listed())
        assert made["target"] == host().name and made["places"]["pica"] == "cache"
        assert made["made"] + sum(map(len, made["missing"].values())) == made["listed"]
        assert main(["doctor", "--json"]) == 0
        told = capsys.readouterr().out
        check = next(one for one in json.loads(told)["checks"] if one["name"] == "kernels")
        assert (check["state"], check["made"]) == ("note", made["made"])
        assert main(["cache", "make", "--seconds", "0.5", "--workers", "2"]) == 0
        said = capsys.readouterr().out
        assert int(said.split()[0]) > made["made"] and f"for {host().name}, from the cache; made in" in said
    finally:
        archive.forget()


def test_without_a_cache_there_is_nothing_to_make(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCKETGPU_CACHE", "off")
    with pytest.raises(UsageError):
        shipped.make(1, 0, print)
