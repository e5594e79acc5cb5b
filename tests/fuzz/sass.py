"""Random Maxwell instruction words and damaged files with shaders: all decode or are refused, none crashes.

    python tests/fuzz/sass.py --cases 100000 --seed 1

A case is one word: half of them random, half of a random form of the table with random fields. What decodes is
written as text and assembled again, and the text of that must be the same. One case in a hundred is a file instead:
a cubin, a deko3d module, a .shbin or the text of a kernel with a few bytes changed or its end cut off.
"""

from __future__ import annotations

import random
import struct
import sys
from collections import Counter
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np

from pocketgpu.errors import PocketGPUError
from pocketgpu.facts.maxwell.sass import FORMS
from pocketgpu.inspect.shaders.files import open_shader
from pocketgpu.maxwell.compute.kernel_text import read_kernels
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.isa.decoder import REFUSED, SassError, decode, match
from pocketgpu.maxwell.sass.isa.encoder import encode
from pocketgpu.pica.shader.assembler import assemble as assemble_pica
from pocketgpu.pica.shader.shbin import shbin_of, write_shbin

_FORMS = tuple(FORMS.values())
ADDRESS = 0x1008
FILES = 100
"""One case in so many is a file."""
_CODE = "S2R R0, SR_TID.X\nSSY `(end)\n@P0 SYNC\nIADD R1, R0, 0x1\nSYNC\nend:\nSTG.E [R2], R1\nEXIT\nself: BRA `(self)"


def word_of(r: random.Random) -> int:
    """A random word, or one that has the fixed bits of a form."""
    word = r.getrandbits(64)
    if r.random() < 0.5:
        return word
    form = r.choice(_FORMS)
    return word & ~form.mask | form.value & form.mask


def cubin(text: str = _CODE) -> bytes:
    """A small cubin with one kernel, which has a parameter of eight bytes. text: its code."""
    code = assemble(text).code
    names = [b"", b".shstrtab", b".strtab", b".symtab", b".nv.info", b".nv.info.k", b".text.k", b".nv.constant0.k"]
    strings = b"\0".join(names) + b"\0"
    at = [strings.index(b"\0" + name + b"\0") + 1 if name else 0 for name in names]
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0x10, 6, 0, len(code))
    common = struct.pack("<BBHII", 4, 0x2F, 8, 1, 8) + struct.pack("<BBHII", 4, 0x12, 8, 1, 16)
    own = struct.pack("<BBHIHHI", 4, 0x17, 12, 0, 0, 0, 8 << 18) + struct.pack("<BBHIHH", 4, 0x0A, 8, 0, 0x140, 8)
    own += struct.pack("<BBH", 3, 0x19, 8) + struct.pack("<BBHIHHII", 4, 0x34, 16, 0x18, 0, 0, 1, 0x38)
    data = [b"", strings, b"\0k\0", symbols, common, own, code, bytes(0x148)]
    body, rows = b"", []
    kinds = (0, 3, 3, 2, 0x70000000, 0x70000000, 1, 1)
    for number, (name, kind, held) in enumerate(zip(at, kinds, data, strict=True)):
        info = 8 << 24 | 1 if number == 6 else 0
        rows.append((name, kind, 0, 0, 64 + len(body), len(held), 2 if kind == 2 else 0, info, 4, 0))
        body += held
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01\x33\x07" + bytes(7), 2, 190, 0x81, 0, 0, 64 + len(body), 0x350535,
        64, 56, 0, 64, len(rows), 1,
    )  # fmt: skip
    return header + body + b"".join(struct.pack("<IIQQQQIIQQ", *row) for row in rows)


def dksh() -> bytes:
    """A small deko3d module with a compute program."""
    code = assemble(_CODE).code
    section = code + bytes(-len(code) % 256)
    program = struct.pack("<6I3I5I4x4x", 5, 0, 8, 0, 0, 0, 32, 1, 1, 256, 16, 0, 0, 1)
    control = struct.pack("<4s5I", b"DKSH", 24, 256, len(section), 24, 1) + program
    return control + bytes(256 - len(control)) + section


def shbin() -> bytes:
    """A small vertex shader of the 3DS."""
    done = assemble_pica(".out o0 position\n.constf c8, 1.0, 0.5, 0.0, 2.0\nmain:\nmul o0, c8, v0\nend\n")
    return write_shbin(shbin_of([done]))


TEXT = b"""// two kernels
.kernel scale
.registers 8
.shared 256
.local 16
.param data ptr
.param count u32
.param place 12 0x150
.constant 2 0x3f800000 7
        S2R R0, SR_TID.X ; SHL R1, R0, 0x2
again:  ISETP.GE.U32.AND P0, PT, R0, c[0x0][count], PT
    @P0 EXIT                  /* nothing to do */
        MOV R3, c[0x0][data+4]
        [B0-----:R-:W1:-:S02:U3] LDG.E R4, [R2]
        { FADD R4, R4, c[0x2][0x0] ; STG.E [R2], R4 }
        BRA `(again)
  .section .text.other,"ax",@progbits
  .sectioninfo @"SHI_REGISTERS=32"
        EXIT
"""


def try_text(r: random.Random, counts: Counter[str]) -> None:
    """A damaged text is assembled, with a line for each instruction, or refused with its place."""
    data = damaged(r, TEXT).replace(b"\0", b"\n").decode("utf-8", "replace").encode()
    try:
        found = read_kernels(data, "k.sass").kernels
    except PocketGPUError as error:
        counts[f"text: {type(error).__name__}"] += 1
        assert error.location and error.location.startswith("k.sass"), f"{error} of {data!r}"
        return
    for kernel in found.values():
        count = len(kernel.code) // 32 * 3
        assert count - 3 < len(kernel.lines) <= count and list(kernel.lines) == sorted(kernel.lines)
    counts["texts assembled"] += 1


def damaged(r: random.Random, data: bytes) -> bytes:
    """The file with some bytes changed, repeated or lost."""
    held = bytearray(data)
    for _ in range(r.choice((1, 1, 2, 4, 16))):
        kind, at = r.random(), r.randrange(max(len(held), 1))
        if kind < 0.7 and held:
            held[at] = r.choice((0, 0xFF, 0x7F, 0x80, r.randrange(256)))
        elif kind < 0.85:
            del held[at : at + r.choice((1, 4, 64, len(held)))]
        else:
            held[at:at] = held[at : at + r.choice((1, 8, 64))]
    return bytes(held)


def _try_word(word: int, counts: Counter[str]) -> None:
    try:
        instruction = decode(word, ADDRESS, 0x7E0)
    except SassError:
        counts["refused"] += 1
        return
    text = str(instruction)
    counts["decoded"] += 1
    _ = instruction.roles, instruction.modifiers, instruction.guard
    try:
        again = encode(text, ADDRESS)
    except SassError as error:
        raise AssertionError(f"{word:#018x}: {text!r} is not assembled: {error}") from error
    back = str(decode(again.word, ADDRESS, 0x7E0 ^ again.control))
    assert back == text, f"{word:#018x}: {text!r} became {back!r}"
    counts["same bits" if (again.word ^ word) & instruction.row.meaningful == 0 else "other bits"] += 1


def _try_file(r: random.Random, samples: list[bytes], counts: Counter[str]) -> None:
    if r.random() < 0.25:
        try_text(r, counts)
        return
    data = damaged(r, r.choice(samples))
    try:
        module = open_shader(data, "file")
        for program in module.programs:
            counts["lines"] += len(program.text(False).splitlines())
            if program.maxwell is not None:
                program.graph()
        counts["files read"] += 1
    except PocketGPUError as error:
        counts[type(error).__name__] += 1


def run(cases: int, seed: int = 1, first: int = 0) -> Counter[str]:
    """Counts of what happened.

    :raises AssertionError: names the word whose text is not assembled to the same instruction.
    """
    counts: Counter[str] = Counter()
    samples = [cubin(), dksh(), shbin()]
    words = []
    for number in range(first, first + cases):
        r = random.Random(f"{seed}/{number}")
        if number % FILES == FILES - 1:
            _try_file(r, samples, counts)
        else:
            words.append(word_of(r))
            _try_word(words[-1], counts)
        counts["cases"] += 1
    # All at once must say the same as one by one.
    together = match(np.array(words, np.uint64))
    assert int((together == REFUSED).sum()) == counts["refused"]
    return counts


if __name__ == "__main__":
    from support.fuzz import command

    command(__doc__, run, "words and files")
