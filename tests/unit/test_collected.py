"""Errors of texts: raised at once, collected, up to a number, until nobody waits; those of all three assemblers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pocketgpu.collected import Collected, Enough
from pocketgpu.errors import UsageError
from pocketgpu.maxwell.mme import assembler as mme
from pocketgpu.maxwell.sass.isa import assembler as sass
from pocketgpu.pica.shader import assembler as pica

ASSEMBLERS = pytest.mark.parametrize(
    ("assemble", "problems"),
    [(pica.assemble, pica.problems), (sass.assemble_kernels, sass.problems), (mme.assemble, mme.problems)],
    ids=["pica", "sass", "mme"],
)


def test_errors_of_one_kind_are_kept_up_to_a_number() -> None:
    errors = Collected(ValueError, most=2)
    for number in range(2):
        with errors:
            raise ValueError(number)
    with pytest.raises(ValueError, match="2"), errors:
        raise ValueError(2)
    with pytest.raises(KeyError), errors:
        raise KeyError
    assert [one.args[0] for one in errors.found] == [0, 1]
    with pytest.raises(ValueError), Collected(ValueError):
        raise ValueError


def test_it_ends_when_nobody_waits() -> None:
    errors = Collected(ValueError, most=2, stop=lambda: True)
    with pytest.raises(Enough), errors:
        raise AssertionError("the block is not entered")


@ASSEMBLERS
def test_all_errors_of_a_text(assemble: Callable[[str], Any], problems: Callable[..., list[Any]]) -> None:
    text = "nop\n".join(["foo\n"] * 5) if assemble is not sass.assemble_kernels else "NOP\n".join(["foo\n"] * 5)
    found = problems(text)
    assert [(one.line, one.column) for one in found] == [(line, 1) for line in (1, 3, 5, 7, 9)]
    assert len(problems(text, 3)) == 3
    asked: list[int] = []
    assert problems(text, 100, lambda: len(asked) > 4 or bool(asked.append(1))) != found
    with pytest.raises(UsageError) as caught:
        assemble(text)
    assert str(caught.value) == str(found[0]) and "line 1, column 1" in str(found[0])


@ASSEMBLERS
def test_a_text_that_is_assembled_has_none(assemble: Callable[[str], Any], problems: Callable[..., list[Any]]) -> None:
    text = "nop\n" if assemble is not sass.assemble_kernels else "NOP ;\n"
    assert assemble(text) and problems(text) == []


def test_what_is_wrong_with_a_whole_text() -> None:
    assert [one.message for one in mme.problems("nop\n" * 70_000)] == ["more than 65536 lines"]
    assert [one.message for one in pica.problems("nop\n" * 5000)] == ["the program has 5000 words; 4096 fit"]
    assert [(one.line, one.message) for one in pica.problems("nop\nloop i0\nifu b0\nnop")] == [
        (2, "loop has no end"), (3, "ifu has no end"),
    ]  # fmt: skip


def test_code_that_a_console_may_not_run_is_a_warning() -> None:
    (one,) = pica.problems("nop\nadd r0, v0, v1\n")
    assert one.warning and (one.line, one.column) == (2, 13)
    assert pica.assemble("nop\nadd r0, v0, v1\n").warnings == ("line 2: " + one.message,)
