"""Texts of all languages of the assemblers: those in the tests and the pages, and some from random words."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from support import random_sass
from support.house import ROOT

from pocketgpu.editor.lsp.languages.factory import LANGUAGES
from pocketgpu.editor.lsp.languages.model import Language
from pocketgpu.errors import UsageError
from pocketgpu.maxwell.mme.assembler import assemble as assemble_macro
from pocketgpu.maxwell.mme.disassembler import text_of
from pocketgpu.maxwell.sass import decode_program
from pocketgpu.maxwell.sass.isa.assembler import assemble_kernels
from pocketgpu.maxwell.sass.isa.encoder import mnemonics
from pocketgpu.maxwell.sass.isa.listing import Labels, Part, listing
from pocketgpu.pica.shader.assembler import assemble as assemble_shader

PICA, SASS, MME = LANGUAGES
_MOST = 20_000
_SASS = re.compile(rf"\b(?:{'|'.join(sorted(mnemonics()))})\b")


def shader(text: str) -> Any:
    done = assemble_shader(text, words=4096)
    return done.code, done.descriptors, done.outputs, str(done.constants), done.labels


def kernels(text: str) -> Any:
    found = assemble_kernels(text)
    return [(one.header.name, one.header.text(), one.assembly.code, one.assembly.labels) for one in found]


ASSEMBLE: dict[Language, Callable[[str], Any]] = {PICA: shader, SASS: kernels, MME: assemble_macro}
"""What a text means: the words that its assembler makes, with all that goes with them."""


def meaning(language: Language, text: str) -> Any:
    """The same for a text of a language; None if it cannot be assembled or has nothing in it."""
    try:
        return ASSEMBLE[language](text) or None
    except UsageError:
        return None


@cache
def written() -> dict[str, list[str]]:
    """All texts of several lines in the tests and pages that a language takes, by its name."""
    found: dict[str, list[str]] = {one.name: [] for one in LANGUAGES}
    for text in dict.fromkeys([*_in_tests(), *_in_pages()]):
        if "\n" not in text or len(text) > _MOST:
            continue
        if (shown := meaning(PICA, text)) and shown[0]:
            found[PICA.name].append(text)
        if _SASS.search(text) and (shown := meaning(SASS, text)) and any(one[2] for one in shown):
            found[SASS.name].append(text)
        if meaning(MME, text):
            found[MME.name].append(text)
    return found


def _in_tests() -> Iterator[str]:
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def _in_pages() -> Iterator[str]:
    for path in sorted((ROOT / "docs").rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        yield from re.findall(r"```text\n(.*?)```", page, re.DOTALL)
        yield from re.findall(r'"""\n(.*?)"""', page, re.DOTALL)


def random_text(language: Language, r: random.Random) -> str:
    """A text of random instructions."""
    if language is MME:
        return text_of([r.getrandbits(32) for _ in range(r.randint(1, 30))])
    if language is SASS:
        program = random_sass.make(r.getrandbits(20), r.getrandbits(8))
        code = decode_program(program.code)
        parts = [Part("code", code)]
        return "\n".join(listing(parts, 0, Labels(parts), control=r.random() < 0.7)) + "\n"
    lines = []
    for _ in range(r.randint(1, 30)):
        lines.append(r.choice(_PICA_LINES).format(a=r.randrange(16), b=r.randrange(16), c=r.randrange(96)))
    return "\n".join([".alias there c4", "main:", *lines, "end", ".proc sub", "nop", ".endproc"]) + "\n"


_PICA_LINES = (
    "add o0.xy, r{a}, c{c}", "mov r{a}, v{b}.wzyx", "mad r{a}.x, -r{b}.y, r{a}, c{c}[a0.x]", "mova a0.xy, r{a}",
    "cmp c{c}, lt, ge, r{b}", "ifc cmp.x && !cmp.y\nnop\nelse\nmul r1, r1, r1\nendif", "call sub", "nop ; a remark",
    "for i1\nadd r{a}, c{c}[lcnt], r{b}\nnop\n.end", "mova a01, r{a}\nnop", "mov r{a}.rgb, there[a1+1].bgra",
    "ifu b3\nnop\nnop\n.else\nnop\nnop\n.end",
    "loop i1\nadd r{a}, there[aL+2], r{a}\nendloop", "jmpu !b{a}, main", "dp4 r{a}, there[1], v0",
    "setemit 1, prim inv", ".word 0x12345678", "here{a}{c}:", "// whole line", "", "rcp r{a}, r{b}.x",
)  # fmt: skip


def mangled(text: str, language: Language, r: random.Random) -> str:
    """The text with other blanks where none mean anything."""
    lines = []
    for line in text.split("\n"):
        tokens = language.tokens(line)
        if not tokens or any(one.kind.name == "COMMENT" for one in tokens[:-1]):
            lines.append(line)
            continue
        commas = r.choice([",", " ,  ", ", "])
        lines.append("\t" * r.randint(0, 2) + " " * r.randint(0, 5) + line.strip().replace(", ", commas))
    return "\n".join(lines)
