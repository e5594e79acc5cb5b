"""Real kernels and thousands of words, against what NVIDIA's own disassembler says of them."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest
from support import recordings

from pocketgpu.inspect.shaders.files import open_shader
from pocketgpu.maxwell.sass import SassError, decode
from pocketgpu.maxwell.sass.files.elf import read_cubin
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.isa.encoder import encode

_INSTRUCTION = re.compile(r" +/\*[0-9a-f]{4,}\*/")
_LABEL = re.compile(r"[.$\w]+:$")
_COMMENT = re.compile(r'\s*\(\*".*"\*\)\s*(?=[;}])')


@pytest.fixture(scope="module")
def kernels(shared_dir: Path) -> list[Path]:
    found = sorted((shared_dir / "kernels").glob("*/kernel.cubin"))
    if not found:
        pytest.skip(recordings.REASON)
    return found


def lines_of(text: str, kernels: set[str]) -> list[str]:
    """Instruction and label lines, without the comments that name targets of indirect branches."""
    found = []
    for line in text.splitlines():
        label = _LABEL.match(line) and not line.startswith(".text.") and line.rstrip(":") not in kernels
        if _INSTRUCTION.match(line) or label:
            found.append(_COMMENT.sub(" " if line.endswith(";") else "         ", line))
    return found


def test_listings_of_all_kernels(kernels: list[Path]) -> None:
    compared = 0
    for path in kernels:
        module = open_shader(path.read_bytes(), path.parent.name)
        names = {program.name for program in module.programs}
        ours = lines_of("\n".join(program.text(False) for program in module.programs), names)
        theirs = lines_of(path.with_suffix(".sass").read_text(), names)
        assert ours == theirs, path
        compared += len(ours)
    assert compared > 300 * len(kernels)


def test_all_kernels_are_assembled_from_their_text(kernels: list[Path]) -> None:
    for path in kernels:
        data = path.read_bytes()
        for program in open_shader(data, path.parent.name).programs:
            assert assemble(program.text(True)).code == program.code, path
            for line in program.text(True).splitlines():
                assert " ^0x" not in line, line


def test_what_cubins_say_of_their_kernels(kernels: list[Path]) -> None:
    import json

    for path in kernels:
        case = json.loads(path.with_name("case.json").read_text())
        kernel = read_cubin(path.read_bytes()).kernels[case["kernel"]]
        base = case["param_base"]
        assert (kernel.shared_size, kernel.registers, kernel.barriers, kernel.local_size) == (
            case["smem_static"], case["registers"], case["barriers"], case["local_bytes"],
        )  # fmt: skip
        assert (kernel.parameter_base, kernel.parameter_size, len(kernel.code)) == (
            base, case["param_size"], case["code_size"],
        )  # fmt: skip
        assert [(p.offset + base, p.size) for p in kernel.parameters] == [
            (p["offset"], p["size"]) for p in case["params"]
        ]


def words_in(path: Path) -> list[tuple[int, str]]:
    text = lzma.decompress(path.read_bytes()).decode()
    rows = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    return [(int(word, 16), said.rstrip(";").strip()) for word, said in rows]


def same(ours: str, theirs: str, word: int) -> bool:
    """Whether texts agree; branches count from where the word stood, which the file does not say."""
    if ours == theirs:
        return True
    ours_head, _, ours_target = ours.rpartition(" ")
    theirs_head, _, theirs_target = theirs.rpartition(" ")
    if ours_head != theirs_head or not re.fullmatch(r"-?0x[0-9a-f]+", theirs_target) or word >> 52 != 0xE2B:
        return False
    return (int(theirs_target, 16) - int(ours_target, 16)) % 8 == 0


@pytest.mark.parametrize("name", ["graphics.tsv.xz", "real_words.tsv.xz"])
def test_words_and_their_text(shared_dir: Path, name: str) -> None:
    path = shared_dir / "kernels" / "decode" / name
    if not path.exists():
        pytest.skip(f"there is no {path}")
    refused = decoded = 0
    for word, theirs in words_in(path):
        if theirs == "!invalid":
            with pytest.raises(SassError):
                decode(word, 0x8)
            refused += 1
            continue
        done = encode(theirs, 0x8)
        assert str(decode(done.word, 0x8, done.control)).strip() == theirs
        # The phase of textures stands in the control word, which the file leaves out.
        assert same(str(decode(word, 0x8, done.control)).strip(), theirs, word), f"{word:016x}"
        if name.startswith("real"):
            assert done.word == word, theirs
        decoded += 1
    assert decoded > 1000 and (refused > 150 or name.startswith("real"))


def test_every_modifier_of_every_opcode(shared_dir: Path) -> None:
    path = shared_dir / "reference" / "maxwell" / "sass-examples.tsv"
    if not path.exists():
        pytest.skip(f"there is no {path}")
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    for op, _, varied, word, theirs in rows:
        ours = str(decode(int(word, 16), 0x8)).strip()
        if not re.search(r" -?0x[0-9a-f]+$", theirs) or op not in ("BRA", "CAL", "PBK", "PCNT", "PRET", "SSY"):
            assert ours == theirs.partition("   [")[0].strip(), (op, varied)
    assert len(rows) > 2000
