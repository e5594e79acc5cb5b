"""Kernels as text and as bare code: the same words, the same results, lines in what is told, and good errors."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import recordings
from support.fuzz import load
from support.kernel_cases import FOLDER, NAMES, Case

from pocketgpu import RawModule
from pocketgpu.errors import CaptureError, PocketGPUError, UsageError
from pocketgpu.inspect.shaders.files import open_shader
from pocketgpu.inspect.stepping import trace_thread
from pocketgpu.maxwell.compute.kernel_text import read_kernels
from pocketgpu.maxwell.sass.files.elf import read_cubin
from pocketgpu.maxwell.sass.isa.assembler import assemble, assemble_kernels
from pocketgpu.maxwell.sass.isa.decoder import SassError
from pocketgpu.maxwell.sass.isa.header import TYPES, Header, not_in_text, words_of

SCALE = """\
// doubles the first `count` numbers
.kernel scale
.registers 8
.param data ptr
.param count u32
        S2R R0, SR_TID.X
        ISETP.GE.U32.AND P0, PT, R0, c[0x0][count], PT
    @P0 EXIT
        SHL R1, R0, 0x2
        IADD R2.CC, R1, c[0x0][data]
        IADD.X R3, RZ, c[0x0][data+4]
        LDG.E R4, [R2]
        FADD R4, R4, R4
        STG.E [R2], R4
        EXIT
"""


def scaled(module: RawModule, count: Any = 20) -> list[float]:
    data = np.arange(32, dtype=np.float32)
    result = module.get_function(module.kernels[0])((1,), (32,), (data, count))
    assert not result.fault_count and not result.hung
    return data.tolist()


WANTED = [2.0 * n if n < 20 else n for n in range(32)]


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_text_and_bare_code_run(evaluator: str, tmp_path: Path) -> None:
    module = RawModule(code=SCALE, evaluator=evaluator)
    assert module.kernels == ["scale"] and scaled(module) == WANTED
    (tmp_path / "k.sass").write_text(SCALE)
    assert scaled(RawModule(tmp_path / "k.sass", evaluator=evaluator), np.uint32(20)) == WANTED
    code = assemble(SCALE).code
    directives = ".kernel other\n.registers 8\n.param data ptr\n.param count u32\n"
    bare = RawModule(code=code, header=directives, evaluator=evaluator)
    assert bare.kernels == ["other"] and scaled(bare) == WANTED
    assert all(assemble(SCALE.replace("data+4", four)).code == code for four in ("data+04", "data+0x4"))
    loose = RawModule(code=code, evaluator=evaluator)
    assert loose.kernels == ["code"] and scaled(loose, np.uint32(20)) == WANTED
    with pytest.raises(UsageError, match="argument 1 of code: nothing says how many bytes int has") as caught:
        scaled(loose, 20)
    assert ".param" in str(caught.value.hint)


def test_the_header_says_what_a_launch_needs() -> None:
    text = (
        ".kernel a\n.shared 96\n.local 24\n.param x u8\n.param y f64\n.param s 12\n.param z u16\n.param w 4 0x180\n"
        ".constant 2 0x3f800000 7\n.constant 2 -0\n.constant 3 1\nMOV R9, c[0x2][0x4]\nEXIT\n"
        "  .section .text.b,\"ax\",@progbits\n .sectioninfo @\"SHI_REGISTERS=32\"\n.align 32\n.text.b:\nb:\nEXIT\n"
        ".section .nv.info.b\n.word 0x5\n"
    )  # fmt: skip
    cubin = read_kernels(text.encode())
    a, b = cubin.kernels["a"], cubin.kernels["b"]
    assert (a.registers, a.shared_size, a.local_size, b.registers, b.shared_size) == (10, 96, 24, 32, 0)
    assert [(p.name, p.type, p.offset, p.size) for p in a.parameters] == [
        ("x", "u8", 0, 1), ("y", "f64", 8, 8), ("s", "", 16, 12), ("z", "u16", 28, 2), ("w", "", 0x40, 4),
    ]  # fmt: skip
    assert (a.parameter_base, a.parameter_size, a.loose, b.loose) == (0x140, 0x44, False, True)
    assert cubin.constants("a") == {2: bytes.fromhex("0000803f0700000000000000"), 3: b"\1\0\0\0"}
    assert cubin.constants("b") == {} and a.lines == (12, 13) and b.lines == (19,)


@pytest.mark.parametrize("kind, good, bad", [
    ("f32", (1.5, 2, np.float32(1.5)), (np.int32(2), np.zeros(3))),
    ("s32", (-2, np.int32(5), np.uint32(5)), (1.5, np.float32(2), np.zeros(3), 1 << 32)),
    ("u8", (255, np.uint8(3)), (256, np.uint16(3), 0.5)),
    ("ptr", (np.zeros(3), None, 0x100000000), (0.5, np.float64(1))),
    ("f64", (0.25, np.float64(1)), (np.float32(1), np.uint64(1))),
])  # fmt: skip
def test_arguments_fit_the_types_of_parameters(kind: str, good: tuple[Any, ...], bad: tuple[Any, ...]) -> None:
    text = f".kernel k\n.param out ptr\n.param x {kind}\n"
    lines = [f"MOV R2, c[0x0][out]\nMOV R3, c[0x0][out+{4}]"]
    lines += ["LDC.U8 R4, c[0x0][0x148]"] if kind == "u8" else ["MOV R4, c[0x0][x]"]
    lines += ["MOV R5, c[0x0][x+4]\nSTG.E.64 [R2], R4"] if TYPES[kind] == 8 else ["STG.E [R2], R4"]
    function = RawModule(code=text + "\n".join(lines) + "\nEXIT").get_function("k")
    for value in good:
        out = np.zeros(8, np.uint8)
        function((1,), (1,), (out, value))
        if kind != "ptr":
            letter = {"f": "f", "s": "i", "u": "u"}[kind[0]]
            assert out.view(f"{letter}{TYPES[kind]}")[0] == value
    for value in bad:
        with pytest.raises(UsageError, match="argument 1 of k"):
            function((1,), (1,), (np.zeros(8, np.uint8), value))
    with pytest.raises(UsageError, match="kernel k takes 2 arguments, not 1") as caught:
        function((1,), (1,), (np.zeros(8, np.uint8),))
    assert caught.value.hint == f"They are out (ptr), x ({kind})."


def test_faults_and_steps_name_the_line() -> None:
    text = SCALE.replace("STG.E [R2]", "STG.E [R2+0x8]")
    function = RawModule(code=text).get_function("scale")
    data = np.zeros(8, np.float32)
    result = function((1,), (32,), (data, 8))
    assert [(one.line, one.thread[0]) for one in result.faults] == [(14, 6), (14, 7)]
    said = "store of 4 bytes at {:#x}, {} the end of argument 0 (data), which has 32 bytes"
    start = result.faults[0].buffer.address  # type: ignore[union-attr]
    assert result.faults[0].cause == said.format(start + 32, "just beyond")
    assert result.faults[1].cause == said.format(start + 36, "4 bytes beyond")
    trace = trace_thread(function, (1,), (32,), (data, 8), at=((0,), (3,)))
    assert [step.line for step in trace] == [*range(6, 16)]
    assert "line 14" in str(trace[8]) and trace[8].to_json()["line"] == 14


def test_the_array_of_an_earlier_launch_is_gone() -> None:
    """Its address, kept as a number, leads nowhere; the nearest argument is named."""
    module = RawModule(code=".kernel k\n.param to ptr\nMOV R2, c[0x0][to]\nMOV R3, c[0x0][to+4]\nSTG.E [R2], RZ\nEXIT")
    function = module.get_function("k")
    first = function((1,), (1,), (np.zeros(1, np.uint8),))
    assert first.fault_count == 1 and first.faults[0].buffer_offset == 0  # 4 bytes do not fit
    address = first.faults[0].address
    assert address is not None and not function((1,), (1,), (np.zeros(70_000, np.uint8),)).fault_count
    again = function((1,), (1,), (address,))
    assert again.fault_count == 1 and again.faults[0].address == address and again.faults[0].buffer is None
    assert again.faults[0].cause == f"nothing is mapped at {address:#x}"
    null = function((1,), (1,), (None,))
    assert null.faults[0].cause == "store of 4 bytes at 0x0, 0 bytes from the null pointer of argument 0 (to)"


def test_a_loop_without_end_names_its_lines() -> None:
    module = RawModule(code=".kernel k\nMOV R0, RZ\nagain:\nIADD R0, R0, 0x1\nBRA again\nEXIT")
    assert module.get_function("k")((1,), (1,), (), limit=1000).hung
    assert [event.message for event in module.events] == [
        "k: the loop from 0x0010 to 0x0018 (lines 4 to 5) does not end; block (0, 0, 0)"
    ]


BAD = {
    "no instruction": ("FROB R1", 2, 1, "is no instruction", "isa"),
    "operand": ("  @P0 FADD.FTZ R4, R5, Q6 ;", 2, 24, "no form of FADD", "isa FADD"),
    "modifier": ("FADD.LOUD R4, R5, R6", 2, 5, "no form of FADD", "isa FADD"),
    "second of a line": ("EXIT; MOV R1, R2, R3, R4", 2, 19, "no form of MOV", "isa MOV"),
    "label": ("  BRA `(nowhere)", 2, 9, "no label 'nowhere'", "nowhere:"),
    "two labels": ("a: EXIT\n b: a: EXIT", 3, 5, "two labels 'a'", "another name"),
    "directive": (" .regsters 5", 2, 2, "no directive '.regsters'", "Did you mean .registers?"),
    "far directive": (".q 5", 2, 1, "no directive '.q'", ".kernel, .registers"),
    "word for a number": (".registers many", 2, 12, "is not a number", "32"),
    "too many registers": (".registers 256", 2, 12, "out of range", "1 to 255"),
    "no value": (".shared", 2, 1, "needs 1 word", ".shared 2048"),
    "two values": (".shared 5, 6", 2, 12, "takes no '6'", ".shared 2048"),
    "twice": (".local 8\n.local 8", 3, 1, "two .local", "one of them"),
    "shared memory": (".shared 98305", 2, 9, "out of range", "98304"),
    "type": (".param x int", 2, 10, "no type 'int'", "u32"),
    "no type": (".param x", 2, 1, "needs 2 words", ".param data ptr"),
    "name": (".param R5 u32", 2, 8, "no name", "no register"),
    "same name": (".param x u32\n.param x u32", 3, 8, "two parameters 'x'", "own name"),
    "overlap": (".param x u64\n.param y u32 0x144", 3, 8, "lies on x", "0x140"),
    "low": (".param x u32 0x100", 2, 14, "out of range", "320"),
    "end": (".param x 4096\n.param y u8", 3, 8, "ends beyond", "4096"),
    "parameter": ("MOV R1, c[0x0][y]", 2, 16, "no parameter 'y'", ".param"),
    "offset": (".param x u32\nMOV R1, c[0x0][x+4]", 3, 16, "x has 4 bytes", "below"),
    "long offset": (f".param x u64\nMOV R1, c[0x0][x+{'9' * 5000}]", 3, 16, "x has 8 bytes", "below"),
    "zeros first": (".param x u64\nMOV R1, c[0x0][x+08]", 3, 16, "x has 8 bytes", "below"),
    "long number": (f".shared {'9' * 5000}", 2, 9, "out of range", "98304"),
    "bank": (".constant 0 5", 2, 11, "out of range", "1 to 17"),
    "word": (".constant 2 0x100000000", 2, 13, "out of range", "4294967295"),
    "kernel": (".kernel k\nEXIT", 2, 9, "two kernels 'k'", "line 1"),
    "kernel name": (".kernel 5", 2, 9, "no name of a kernel", "Letters"),
    "registers": (".registers 5\nMOV R5, RZ", 3, None, "kernel k uses R5, and .registers is 5", ".registers 6"),
    "word of code": (".word hello", 2, 1, "no word of 64 bits", ".word 0x"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_text_is_refused_with_file_line_and_column(name: str, tmp_path: Path) -> None:
    text, line, column, message, hint = BAD[name]
    path = tmp_path / "bad.sass"
    path.write_text(f".kernel k\n{text}\nEXIT\n")
    with pytest.raises(SassError, match=message.replace("(", r"\(")) as caught:
        RawModule(path)
    place = f"{path}, line {line}" + ("" if column is None else f", column {column}")
    assert caught.value.location == place
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize("data, message", [
    (b"", "there is no instruction"), (b"// nothing\n", "there is no instruction"),
    (b"\0" * 33, "33 bytes are no code"),
    (b"DKSH" + bytes(28), "a module of deko3d"), (b"\0" * 24 + b"\xff" * 8, "no instruction"),
    (b"EXIT\n.kernel k\nEXIT", "an instruction before the first kernel"), (b".kernel k\n", "no instruction"),
    (b"\x7fELF" + bytes(80), "no code of NVIDIA"), (b"caf\xe9 is not code!" * 2 + b"......", "are no code"),
])  # fmt: skip
def test_what_is_no_kernel_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(PocketGPUError, match=message) as caught:
        RawModule(code=data)
    assert isinstance(caught.value, CaptureError | UsageError)


def test_directives_are_for_bare_code() -> None:
    with pytest.raises(UsageError, match="only bare code takes directives"):
        RawModule(code=SCALE, header=".registers 8")
    code = assemble(SCALE).code
    for header in ("EXIT", ".kernel a\nEXIT", ".kernel a\n.kernel b"):
        with pytest.raises(UsageError, match="directives for bare code"):
            RawModule(code=code, header=header)
    with pytest.raises(UsageError, match="no type 'int'") as caught:
        RawModule(code=code, header=".registers 8\n.param a int")
    assert caught.value.location == "header, line 2, column 10"
    assert scaled(RawModule(code=code, header=".param a ptr\n.param b u32")) == WANTED
    with pytest.raises(UsageError, match=r"uses R4, and \.registers is 2"):
        RawModule(code=code, header=".kernel k\n.registers 2")


# -- every kernel of the recordings ------------------------------------------------------------------------------------
needs_kernels = pytest.mark.skipif(not NAMES, reason=recordings.REASON)


@needs_kernels
@pytest.mark.parametrize("name", NAMES)
def test_disassembled_text_assembles_to_the_same_words(name: str) -> None:
    data = (FOLDER / name / "kernel.cubin").read_bytes()
    for program in open_shader(data).programs:
        text = program.text(True)
        (kernel,) = assemble_kernels(text)
        assert kernel.assembly.code == program.code
        assert kernel.header.name == program.name
        again = read_kernels(text.encode()).kernels[program.name]
        known = read_cubin(data).kernels[program.name]
        assert [(p.offset, p.size) for p in again.parameters] == [(p.offset, p.size) for p in known.parameters]
        for what in ("registers", "shared_size", "local_size", "parameter_base", "code"):
            assert getattr(again, what) == getattr(known, what)


WHOLE = [name for name in NAMES if not not_in_text(read_cubin((FOLDER / name / "kernel.cubin").read_bytes()))]
"""Kernels that need nothing of their file besides code and directives."""


@needs_kernels
@pytest.mark.parametrize("name", WHOLE)
def test_disassembled_text_runs_as_its_cubin_does(name: str) -> None:
    case = Case(name)
    data = (FOLDER / name / "kernel.cubin").read_bytes()
    (program,) = [one for one in open_shader(data).programs if one.name == case.about["kernel"]]
    module = RawModule(code=program.text(True))
    about = case.about
    result = module.get_function(program.name)(
        about["grid"], about["block"], case.arguments(), shared_mem=about["smem_dynamic"]
    )
    assert not any(case.errors().values()) and not result.fault_count and not result.hung


# -- directives that are made at random --------------------------------------------------------------------------------
_names = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)
_parameters = st.lists(st.tuples(_names, st.sampled_from([*TYPES, "1", "12", "0x18"])), max_size=8,
                       unique_by=lambda one: one[0])  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(_parameters, st.integers(1, 255), st.integers(0, 98304), st.integers(0, 4096), st.sampled_from(" ,\t"))
def test_directives_say_the_same_after_writing(
    parameters: list[tuple[str, str]], registers: int, shared: int, local: int, between: str
) -> None:
    lines = [f".registers {registers}", f".shared {shared:#x}", f".local {local}"]
    lines += [f" .param {name}{between}{kind} // {n}" for n, (name, kind) in enumerate(parameters)]
    (kernel,) = assemble_kernels("\n".join([".kernel k", *lines, "EXIT"]))
    header = kernel.header
    assert (header.registers, header.shared, header.local) == (registers, shared, local)
    end = 0x140
    for one, (name, kind) in zip(header.parameters, parameters, strict=True):
        size = TYPES[kind] if kind in TYPES else int(kind, 0)
        assert (one.name, one.size) == (name, size) and end <= one.offset < end + 8
        assert one.offset % min(size & -size, 8) == 0
        end = one.offset + size
    again = Header("k")
    for n, line in enumerate(header.text(), 1):
        again.take(words_of(line, n))
    assert again.parameters == header.parameters and again.text() == header.text()


_TOKENS = [
    ".kernel", ".registers", ".shared", ".local", ".param", ".constant", ".section", ".word", ".text.k", "k", "x", "y",
    "ptr", "u32", "f64", "0", "1", "8", "255", "0x140", "0xffffffffffffffffff", "-1", ",", ";", "{", "}", "[", "]",
    "MOV R1, RZ", "EXIT", "BRA k", "c[0x0][x]", "MOV R2, c[0x0][x+4]", "k:", "/*", "*/", "//", "\n", "\n", "\n", "@P0",
    "[B------:R-:W-:-:S02]", "`(", ")", "\u00e9", "R1", ".sectioninfo", '@"SHI_REGISTERS=9"', "\t",
]  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from(_TOKENS), max_size=30))
def test_any_text_is_assembled_or_refused_with_its_place(tokens: list[str]) -> None:
    text = " ".join(tokens)
    rows = text.split("\n")
    try:
        kernels = assemble_kernels(text)
    except SassError as error:
        words = str(error.location).replace(",", "").split()
        assert words[0] == "line" and words[2] == "column"
        line, column = int(words[1]), int(words[3])
        assert 1 <= line <= len(rows) and 1 <= column <= len(rows[line - 1]) + 1
        assert error.message
        return
    for one in kernels:
        assert len(one.assembly.code) % 32 == 0
        assert all(1 <= line <= len(rows) for line in one.assembly.lines)


def test_damaged_texts_are_assembled_or_refused() -> None:
    fuzz, counts = load("sass"), Counter[str]()
    for number in range(1500):
        fuzz.try_text(random.Random(number), counts)
    assert counts.total() == 1500 and counts["texts assembled"] >= 80 and counts["text: SassError"] >= 1000
