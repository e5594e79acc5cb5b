"""The door of the shader unit: what it takes, what it gives back, what it refuses, and that nobody notices the tier."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pocketgpu.errors import UsageError
from pocketgpu.lanes import Engine
from pocketgpu.pica.core.layout import BANK_INDEX, CHUNK, CONTROL, PACKET, PACKET_REGISTERS, PACKET_SIZE
from pocketgpu.pica.core.registers import register_id
from pocketgpu.pica.shader import Outputs, Program
from pocketgpu.pica.shader.assembler import assemble
from pocketgpu.pica.shader.interpreter import vertex_interpreter
from pocketgpu.pica.shader.translate import vertex_program

Run = Callable[..., Outputs]
END = 0x22 << 26
PLAIN = "mul r0, v0, v1 \n add o0, r0, v0 \n dp4 o3, v0, v1 \n rsq o15.z, v1.y \n end"
PARTING = """
    cmp v0, lt, gt, v1
    ifc cmp.x
        mul o0, v0, v1
        nop
    else
        mov o0, v1
        mova a0.xy, v0
        nop
    endif
    loop i1
        add r0, v0, r0
        cmp v1, lt, lt, r0
        breakc cmp.y
        nop
    endloop
    mov o7, r0
    end
"""


def program(text: str, **options: Any) -> Program:
    words = assemble(text)
    return Program(words.code, words.descriptors, words.entry, **options)


def random_inputs(n: int, seed: int = 1) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).uniform(-2, 2, (n, 16, 4)).astype(np.float32)


def test_shape_and_registers() -> None:
    inputs = random_inputs(5)
    result = program(PLAIN).run(inputs)
    assert isinstance(result, np.ndarray) and result.shape == (5, 16, 4) and result.dtype == np.float32
    assert (result[:, 0] == inputs[:, 0] * inputs[:, 1] + inputs[:, 0]).all()
    untouched = [k for k in range(16) if k not in (0, 3, 15)]
    assert not result[:, untouched].any() and not result[:, 15, [0, 1, 3]].any()
    assert result.conditions.shape == (5, 2) and result.address.shape == (5, 3) and result.hung.shape == (5,)
    assert not result.hung.any()


def test_no_vertices_and_no_program() -> None:
    assert program(PLAIN).run(np.zeros((0, 16, 4))).shape == (0, 16, 4)
    assert not Program([], []).run(random_inputs(2)).any()
    assert not Program([END], [], entry_point=4000).run(random_inputs(2)).any()


@pytest.mark.parametrize("n", [1, 7, 8, 127, 128, 129, 4096, 4097, 9000])
def test_any_number_of_vertices(n: int) -> None:
    inputs = random_inputs(n)
    ints = [(0, 0, 0, 0), (5, 1, 2, 0), (0, 0, 0, 0), (0, 0, 0, 0)]
    runs = [program(PARTING, tier=tier).run(inputs, int_uniforms=ints) for tier in ("interpreter", "specialised")]
    assert (runs[0].view(np.uint32) == runs[1].view(np.uint32)).all()
    assert (runs[0].address == runs[1].address).all() and (runs[0].conditions == runs[1].conditions).all()
    larger = inputs[:, 0, 0] > inputs[:, 1, 0]
    less = inputs[:, 0] * inputs[:, 1]
    swapped = np.where((inputs[:, 0, 0] < inputs[:, 1, 0])[:, None], less, inputs[:, 1])
    assert larger.any() or n == 1
    assert (runs[0][:, 0] == swapped).all()


def test_starts_from_conditions_and_address(run: Run) -> None:
    text = "mov o0, c0[a0.x] \n mov o1, c0[a0.y] \n mov o2, c0[aL]"
    text += "\n ifc cmp.x && !cmp.y \n mov o3, c1 \n nop \n endif \n end"
    uniforms = {i: (i, i, i, i) for i in range(96)}
    result = run(text, uniforms=uniforms, conditions=(1, 0), address=(3, 94, 7))
    assert result[0, :4, 0].tolist() == [3, 94, 7, 1]
    assert result.conditions.tolist() == [[True, False]] and result.address.tolist() == [[3, 94, 7]]
    assert run(text, uniforms=uniforms, conditions=(1, 1), address=(0, 0, 0))[0, 3, 0] == 0


def test_every_nan_is_the_same(run: Run) -> None:
    odd = np.array([0xFFC00001, 0x7F800001, 0xFF812345], np.uint32).view(np.float32)
    vectors = np.zeros((3, 4), np.float32)
    vectors[:, 0] = odd
    result = run("mov o0, v0 \n mul o1, -v0, v0 \n end", vectors, n=3)
    assert (result[:, :2, 0].view(np.uint32) == 0x7FC00000).all()


def test_emission(run: Run) -> None:
    text = """
        mov o0, v0
        setemit 0
        emit                    ; the other bank is up: o0 is 0 there
        mov o1, v0
        setemit 2, prim inv
        emit
        emit
        end
    """
    vectors = np.arange(8, dtype=np.float32).reshape(2, 4) + 1
    double = run(text, vectors, n=2)
    assert double.emit.count.tolist() == [3, 3] and double.emit.states.tolist() == [[0, 11, 11]] * 2
    assert double.emit.vertices.shape == (2, 3, 16, 4)
    first, second, third = double.emit.vertices.transpose(1, 0, 2, 3)
    assert (first[:, 0] == vectors).all() and not first[:, 1:].any()
    assert (second[:, 1] == vectors).all() and not second[:, 0].any()
    assert (third == first).all() and (double[:, 1] == vectors).all() and not double[:, 0].any()
    assert double.emit.winding.tolist() == [1, 1] and double.emit["prim_emit"].tolist() == [1, 1]
    assert double.emit["vertex_id"].tolist() == [2, 2]
    single = run(text, vectors, n=2, choices={"geometry.output_banks": "single"})
    assert (single.emit.vertices[:, 1, :2] == vectors[:, None]).all() and (single[:, :2] == vectors[:, None]).all()
    with pytest.raises(KeyError):
        double.emit["nothing"]


def test_products_of_zero_and_infinity_are_found_before_they_are_emitted(run: Run) -> None:
    result = run("mul o0, v0, v1 \n emit \n mov o0, v1 \n end", np.inf, 0.0)
    assert not result.emit.vertices.any()


def test_only_the_first_emitted_vertices_are_kept(run: Run) -> None:
    text = "loop i1 \n add r0, v0, r0 \n mov o0, r0 \n emit \n nop \n endloop \n end"
    ints = [(0, 0, 0, 0), (29, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0)]
    result = run(text, np.arange(1000)[:, None], n=1000, int_uniforms=ints, numpy=False)
    assert (result.emit.count == 30).all() and result.emit.vertices.shape == (1000, 16, 16, 4)
    assert (result.emit.vertices[:, :, 0, 0] == np.arange(1000)[:, None] * np.arange(1, 17)).all()
    few = run("cmp v0, lt, lt, v1 \n ifc cmp.x \n emit \n nop \n endif \n end", [(0,) * 4, (9,) * 4], (5, 5, 5, 5), n=2)
    assert few.emit.count.tolist() == [1, 0] and few.emit.vertices.shape == (2, 1, 16, 4)


def test_the_tier_changes_without_a_trace() -> None:
    door = program(PARTING)
    inputs = random_inputs(3000)
    results = [door.run(inputs).tobytes() for _ in range(4)]
    assert len(set(results)) == 1


def test_code_of_a_geometry_unit() -> None:
    jump = assemble("jmpu !b0, 4000 \n end").code
    code = [*jump, *[0x21 << 26] * 4100][:4096]
    code[4000:4002] = [0x13 << 26, END]  # MOV o0, v0
    for tier in ("interpreter", "specialised"):
        result = Program(code, [0x1B << 5 | 15], tier=tier).run(random_inputs(2))
        assert (result[:, 0] == random_inputs(2)[:, 0]).all()
    # A vertex unit has 512 words: the same jump leaves its memory.
    assert not Program(jump, [0x1B << 5 | 15]).run(random_inputs(2)).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0] * 4097, []), "room for 4096"),
        (([0], [0] * 129), "room for 128"),
        (([1 << 32], []), "32-bit words"),
        ((["x"], []), "32-bit words"),
        (([0.5], []), "32-bit words"),
        (([0], [], -1), "entry point"),
        (([0], [], 1 << 16), "entry point"),
    ],
)
def test_what_is_no_program_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Program(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"evaluator": "gpu"}, "no evaluator"),
        ({"tier": "fast"}, "no tier"),
        ({"switches": {"shader.precision": "f16"}}, "no value 'f16'"),
        ({"switches": {"shader.speed": "fast"}}, "no choice"),
    ],
)
def test_unknown_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Program([END], [], **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": np.zeros((2, 15, 4))}, "shape"),
        ({"inputs": np.zeros((16, 4))}, "shape"),
        ({"inputs": "x"}, "numbers"),
        ({"uniforms": {96: (0, 0, 0, 0)}}, "uniform 96"),
        ({"uniforms": {-1: (0, 0, 0, 0)}}, "uniform -1"),
        ({"uniforms": {0: (0, 0, 0)}}, "uniform 0"),
        ({"uniforms": {0: (0, 0, 0, "x")}}, "uniform 0"),
        ({"bool_uniforms": [1] * 15}, "bool_uniforms"),
        ({"int_uniforms": [[0] * 4] * 3}, "int_uniforms"),
        ({"int_uniforms": [[0.5] * 4] * 4}, "int_uniforms"),
        ({"conditions": (1,)}, "conditions"),
        ({"address": (0, 0)}, "address"),
        ({"address": (0, 0, 1 << 31)}, "32 bits"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Program([END], []).run(**{"inputs": np.zeros((1, 16, 4)), **arguments})


def test_threads_do_not_disturb_each_other() -> None:
    doors = [program(f"mul o0, v0, c0 \n add o0, v0, c{i} \n end") for i in range(4)]
    inputs = random_inputs(200)
    wrong: list[int] = []

    def work(i: int) -> None:
        for _ in range(20):
            result = doors[i].run(inputs, {j: (j + 1.0,) * 4 for j in range(4)})
            if not (result[:, 0] == inputs[:, 0] + np.float32(i + 1)).all():
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_draws_can_run_either_kernel(evaluator: str) -> None:
    """Both kernels that a draw calls, on equal memory: the same output rows, the same flags."""
    words = assemble(PARTING)
    code, descriptors = np.zeros(512, np.uint32), np.zeros(128, np.uint32)
    code[: len(words.code)], descriptors[: len(words.descriptors)] = words.code, words.descriptors
    control, uniforms, packet, banks = 4096, 8192, 16384, 16384 + PACKET_SIZE
    inputs = banks + 4096
    outputs = inputs + 4 * 64 * CHUNK
    results = []
    for which in ("plain", "exact", "interpreter"):
        arena = np.zeros(outputs + 4 * 64 * CHUNK, np.uint8)
        rows = np.random.default_rng(3).uniform(-2, 2, (64, CHUNK)).astype(np.float32)
        arena[inputs:outputs].view(np.float32)[:] = rows.ravel()
        registers = arena[packet + PACKET_REGISTERS :][: 4 * 0x300].view(np.uint32)
        registers[register_id("VSH_INTUNIFORM_I0") + 1] = 5 | 1 << 8 | 2 << 16
        registers[register_id("VSH_ENTRYPOINT")] = 0x7FFF0000 | words.entry
        for name, at, content in (("vs_code", banks, code), ("vs_opdescs", banks + 2048, descriptors)):
            arena[at : at + content.nbytes] = content.view(np.uint8)
            arena[packet + PACKET.VERSIONS + 4 * BANK_INDEX[name] :][:4].view(np.int32)[0] = at
        engine = Engine(arena, evaluator)
        if which == "interpreter":
            shade = engine.get(vertex_interpreter, control=control)
        else:
            shade = engine.get(
                vertex_program, code=code.tobytes(), descriptors=descriptors.tobytes(), entry=words.entry,
                exact=which == "exact", control=control,
            )  # fmt: skip
        shade(inputs, outputs, uniforms, packet, 100)
        assert not arena[control + CONTROL.HANG] and not arena[control + CONTROL.NAN_PRODUCTS]
        results.append(arena[outputs:].view(np.uint32).reshape(64, CHUNK)[:, :100].copy())
    assert results[0].any()
    assert (results[0] == results[1]).all() and (results[0] == results[2]).all()
