"""The layout of texts: it changes no word that the assemblers make, and doing it twice changes nothing more."""

from __future__ import annotations

import random

import pytest
from support.assembly_texts import ASSEMBLE, MME, PICA, SASS, mangled, meaning, random_text, written

from pocketgpu.editor.lsp.document import Document
from pocketgpu.editor.lsp.languages.model import Language

LANGUAGES = pytest.mark.parametrize("language", [*ASSEMBLE], ids=lambda one: one.name)


def formatted(text: str, language: Language) -> str:
    return "\n".join(Document(text, language).formatted())


def check(text: str, language: Language) -> None:
    before = meaning(language, text)
    assert before is not None
    after = formatted(text, language)
    assert meaning(language, after) == before, f"{text}\n---\n{after}"
    assert formatted(after, language) == after
    assert after.count("\n") == text.count("\n")
    assert "".join(after.split()) == "".join(text.split())  # only blanks differ


@LANGUAGES
def test_all_texts_of_the_tests_and_pages(language: Language) -> None:
    texts = written()[language.name]
    assert len(texts) >= {PICA: 40, SASS: 60, MME: 8}[language]
    for text in texts:
        check(text, language)


@LANGUAGES
def test_texts_of_random_words(language: Language) -> None:
    r = random.Random(6)
    for _ in range(60):
        check(random_text(language, r), language)


@LANGUAGES
def test_other_blanks_give_the_same_layout(language: Language) -> None:
    r = random.Random(7)
    different = 0
    for text in [*written()[language.name], *(random_text(language, r) for _ in range(30))]:
        other = mangled(text, language, r)
        if meaning(language, other) is not None:
            check(other, language)
            different += other != text
    assert different > 20


def test_the_layout_of_a_shader() -> None:
    text = [
        "main:nop ;x", "  ifc   cmp.x", " mul r0 ,r1,r2 ; y", " add  r0,r0,r1; longer", " else", "nop", " endif", ";;",
        "  ; inside", "end", ".proc a", "nop", ".endproc",
    ]  # fmt: skip
    assert formatted("\n".join(text), PICA).split("\n") == [
        "main: nop  ;x",
        "    ifc cmp.x",
        "        mul r0, r1, r2  ; y",
        "        add r0, r0, r1  ; longer",
        "    else",
        "        nop",
        "    endif",
        ";;",
        "    ; inside",
        "    end",
        ".proc a",
        "    nop",
        ".endproc",
    ]


def test_the_layout_of_a_kernel() -> None:
    text = [
        "  .kernel   k", " S2R R0,SR_TID.X;", "@!P0 EXIT", "{ MOV R1,R2 ;", " MOV R3,R4}", "L1:", "",
        "/*0008*/ [B------:R-:W-:-:S06] BRA `(L1) ;",
    ]  # fmt: skip
    assert formatted("\n".join(text), SASS).split("\n") == [
        ".kernel k",
        "        S2R R0, SR_TID.X ;",
        "   @!P0 EXIT",
        "      { MOV R1, R2 ;",
        "        MOV R3, R4 }",
        "L1:",
        "",
        "        /*0008*/ [B------:R-:W-:-:S06]         BRA `(L1) ;",
    ]


def test_the_layout_of_a_macro() -> None:
    text = "a:mov r1,add( r2,r3 )\n exit   send r1 # over"
    assert formatted(text, MME).split("\n") == ["a:  mov r1, add( r2, r3 )", "    exit send r1  # over"]


@LANGUAGES
def test_what_cannot_be_read_stays(language: Language) -> None:
    """Of any text only the blanks between words change."""
    r = random.Random(8)
    letters = "ab01 \t,;:@.[]{}()/*#\"'-+\u00e9\U0001f600\nR1 mov r0 .kernel"
    for _ in range(300):
        text = "".join(r.choice(letters) for _ in range(r.randint(0, 80)))
        after = formatted(text, language)
        assert "".join(after.split()) == "".join(text.split())
        assert after.count("\n") == text.count("\n")
