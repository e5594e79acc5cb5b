"""Readers of cubins, deko3d modules and 3DS shaders: what they find, and that damage ends in a typed error."""

from __future__ import annotations

import struct

import pytest
from support.fuzz import load

from pocketgpu.errors import CaptureError, PocketGPUError, UsageError
from pocketgpu.inspect.shaders.files import kind_of, open_shader
from pocketgpu.maxwell.sass.files.dksh import read_dksh
from pocketgpu.maxwell.sass.files.elf import attributes, read_cubin
from pocketgpu.maxwell.sass.program.graph import blocks_of
from pocketgpu.pica.shader.shbin import Executable, Shbin, read_shbin, write_shbin

fuzz = load("sass")


def test_a_cubin() -> None:
    cubin = read_cubin(fuzz.cubin(), "small.cubin")
    kernel = cubin.kernels["k"]
    assert cubin.arch == 53 and list(cubin.kernels) == ["k"]
    assert kernel.registers == 8 and kernel.local_size == 16 and kernel.shared_size == 0 and kernel.barriers == 0
    assert [(p.ordinal, p.offset, p.size) for p in kernel.parameters] == [(0, 0, 8)]
    assert (kernel.parameter_base, kernel.parameter_size) == (0x140, 8)
    assert kernel.indirect[0].address == 0x18 and kernel.indirect[0].targets == (0x38,)
    assert len(kernel.code) == 96 and cubin.constants("k") == {0: bytes(0x148)} and cubin.constants("other") == {}
    module = open_shader(fuzz.cubin(), "small.cubin")
    assert module.kind == "cubin" and module.facts["arch"] == "sm_53"
    text = module.programs[0].text(False)
    assert "SSY `(.L_x_0)" in text and '(*"BRANCH_TARGETS .L_x_0"*);' in text and text.splitlines()[1] == "k:"


def test_a_graph_follows_the_stack_of_branches() -> None:
    program = open_shader(fuzz.cubin()).programs[0]
    assert program.maxwell is not None
    blocks = blocks_of(program.maxwell)
    ends = {program.maxwell[block.last].op: block for block in blocks}
    # S2R SSY @P0-SYNC | IADD SYNC | STG EXIT | BRA
    first, second, third = blocks[:3]
    assert {(edge.to, edge.kind) for edge in first.edges} == {(2, "stack"), (1, "next")}
    assert [(edge.to, edge.kind) for edge in second.edges] == [(2, "stack")]
    assert third.edges == () and ends["BRA"].edges[0].kind == "jump"
    dot = program.graph()
    assert (
        dot.startswith('digraph "k" {') and "b0 -> b2 [color=darkgreen];" in dot and dot.count("label=") == len(blocks)
    )


def test_a_deko3d_module() -> None:
    (program,) = read_dksh(fuzz.dksh(), "small.dksh")
    assert program.stage == "compute" and program.block == (32, 1, 1) and program.shared_size == 256
    assert program.registers == 8 and program.barriers == 1 and program.local_size == 16 and len(program.code) == 96
    module = open_shader(fuzz.dksh())
    assert module.kind == "dksh" and module.programs[0].facts["block"] == [32, 1, 1]


def test_a_graphics_program_of_deko3d_has_a_header() -> None:
    code = fuzz.assemble("EXIT").code
    section = bytes(range(48)) + b"\x62" * 0x50 + code
    section += bytes(-len(section) % 256) + struct.pack("<4f", 1, 2, 3, 4)
    section += bytes(-len(section) % 256)
    program = struct.pack("<6I40x", 0, 0x80, 12, 256, 16, 0)
    data = struct.pack("<4s5I", b"DKSH", 24, 256, len(section), 24, 1) + program
    (found,) = read_dksh(data + bytes(256 - len(data)) + section)
    assert found.stage == "vertex" and found.header == b"\x62" * 0x50 and found.code == code
    assert struct.unpack("<4f", found.constants) == (1, 2, 3, 4)


def test_a_shader_of_the_3ds() -> None:
    shader = read_shbin(fuzz.shbin(), "small.shbin")
    (one,) = shader.executables
    assert one.type == "vertex" and one.entry == 0 and one.end == len(shader.code) == 2
    assert one.outputs == ((0, "position", 15),) and one.constants == {"c8": (1.0, 0.5, 0.0, 2.0)}
    module = open_shader(fuzz.shbin())
    assert module.kind == "shbin" and module.programs[0].text(True).endswith("main:\n    mul o0, c8, v0 @0\n    end")
    assert module.programs[0].text(False) == "main:\n    mul o0, c8, v0  ; position\n    end"
    with pytest.raises(UsageError, match="no Maxwell program"):
        module.programs[0].instructions()
    assert "mul o0, c8, v0" in module.programs[0].graph()


def test_names_in_a_shader_of_the_3ds() -> None:
    table = struct.Struct("<4sHBBIIHHBBHIIIIIIIIII")
    symbols = b"projection\0again\0"
    uniforms, labels = struct.pack("<IHH", 0, 0x10, 0x13), struct.pack("<4I", 0, 1, 0, 11)
    size = table.size
    head = table.pack(b"DVLE", 0x1002, 1, 0, 1, 2, 0, 0, 0, 0, 0, size, 0, size, 1, size, 0, size + 16, 1, size + 24,
                      len(symbols))  # fmt: skip
    plain = write_shbin(Shbin((0x84000000, 0x88000000), (), ()))
    data = b"DVLB" + struct.pack("<II", 1, len(plain) + 4) + plain[8:] + head + labels + uniforms + symbols
    (one,) = read_shbin(data).executables
    assert one.type == "geometry" and one.entry == 1
    assert one.uniforms == (("projection", 0x10, 0x13),) and one.labels == {1: "again"}


def test_kinds_are_told_apart() -> None:
    assert [kind_of(data) for data in (fuzz.cubin(), fuzz.dksh(), fuzz.shbin(), b"", b"abcdefgh")] == [
        "cubin", "dksh", "shbin", None, None,
    ]  # fmt: skip
    with pytest.raises(CaptureError, match="the kind of code is not known"):
        open_shader(b"abcdefgh", "some.bin")
    code = fuzz.assemble("EXIT").code
    assert len(open_shader(code, kind="maxwell").programs[0].instructions()) == 3
    words = struct.pack("<2I", 0x4C201000, 0x88000000)
    assert open_shader(words, kind="pica").programs[0].text(False) == "main:\n    mov o1, v1\n    end"
    with pytest.raises(CaptureError, match="no 32-bit words"):
        open_shader(words + b"x", kind="pica")
    with pytest.raises(CaptureError, match="no Maxwell code"):
        open_shader(bytes(9), kind="maxwell")


@pytest.mark.parametrize("sample", ["cubin", "dksh", "shbin"])
def test_files_cut_anywhere_give_typed_errors(sample: str) -> None:
    data = getattr(fuzz, sample)()
    refused = 0
    for size in range(len(data)):
        try:
            for program in open_shader(data[:size], "cut", kind=sample).programs:
                program.text(True)
        except PocketGPUError as error:
            assert isinstance(error, CaptureError) and error.location
            refused += 1
    assert refused >= len(data) * 0.4


def test_cubins_of_other_gpus_are_refused() -> None:
    data = bytearray(fuzz.cubin())
    struct.pack_into("<I", data, 48, 0x46)
    with pytest.raises(CaptureError, match="sm_70"):
        read_cubin(bytes(data))
    struct.pack_into("<H", data, 18, 62)
    with pytest.raises(CaptureError, match="no code of NVIDIA GPUs"):
        read_cubin(bytes(data))


def test_code_that_is_none_is_named_with_its_place() -> None:
    data = fuzz.cubin()
    at = data.index(fuzz.assemble(fuzz._CODE).code) + 16
    with pytest.raises(CaptureError, match="k: 0x0000000000000000 is no instruction") as caught:
        open_shader(data[:at] + bytes(8) + data[at + 8 :], "bad.cubin")
    assert caught.value.location == "bad.cubin, code 0x0010"


def test_attributes_end_where_the_data_ends() -> None:
    data = struct.pack("<BBH", 3, 0x19, 8) + struct.pack("<BBHI", 4, 0x2F, 8, 1)
    assert list(attributes(data)) == [(0x19, b"\x08\0"), (0x2F, b"\x01\0\0\0")]
    assert list(attributes(b"\x04")) == []


def test_a_writer_refuses_what_a_file_cannot_hold() -> None:
    with pytest.raises(UsageError, match="no constant r0"):
        write_shbin(Shbin((), (), (Executable("vertex", 0, 0, (), {"r0": 1.0}),)))
