"""The text of macro instructions: patterns made of the forms in the table, for assembler and disassembler.

    again:
        parm r3                 ; r3 = next parameter
        mov r2, r2 - 1
        bnz r2, again           ; the next instruction executes first
        exit send r3            ; and one more after this one
        nop

There is one instruction on a line; `;`, `#` and `//` begin a comment. A number is decimal or has 0x. `@NAME` is the
word of a method of the 3D class, `@NAME[3]` that of an element of an array; `0x680:1` is a method with the step to the
next. `.word` gives any 32 bits. A branch is `bra`, `bz` or `bnz`, and goes to a label or some words from itself: `.+2`.
With `annul` after the mnemonic, the instruction after a taken branch is skipped.
"""

from __future__ import annotations

import re
from functools import cache

from pocketgpu.maxwell.mme import isa
from pocketgpu.maxwell.mme.isa import FIELDS, OPERATIONS, REGISTER_FIELDS, RESULTS, Operation, Result

REGISTER = "r[0-7]"
_SIMPLE = r"(?:0x[0-9a-fA-F]+|\d+|@[A-Za-z_]\w*(?:\[\d+\])?)"
NUMBER = rf"-?\s*{_SIMPLE}(?:\s*:\s*{_SIMPLE})?"
FUNCTION_NAMES = "|".join(sorted(isa.FUNCTION, key=len, reverse=True))
BRANCHES = {"bra": 0, "bz": 0, "bnz": 1}
"""Mnemonic of a branch to its `not_zero`; `bra` tests register 0."""
DIRECTIVES = {".word": ("WORD", "any 32 bits in the place of an instruction")}
"""Directives: for each the words after it, and what it says."""
KEYWORDS = {
    "exit": "the macro ends after one more instruction",
    "nop": "nothing",
    "bra": "branch",
    "bz": "branch if the register is 0",
    "bnz": "branch if the register is not 0",
    "annul": "a branch that is taken skips the next instruction",
}
"""Words that are in no form of the table."""


def _pattern(form: str, fields: dict[str, str]) -> re.Pattern[str]:
    text = re.escape(form).replace(r"\ ", r"\s*").replace(r"\+", "+")
    text = text.replace(r"+\s*\{immediate\}", rf"(?P<immediate>[+-]\s*{_SIMPLE})")
    for name, pattern in fields.items():
        text = text.replace(rf"\{{{name}\}}", f"(?P<{name}>{pattern})")
    # A comma or a bracket may have space around it.
    text = re.sub(r"(\\\(|,)", r"\\s*\1\\s*", text).replace(r"\)", r"\s*\)")
    return re.compile(text)


@cache
def expression_patterns() -> list[tuple[Operation, str, re.Pattern[str]]]:
    """Every way to write an expression: (operation, form, what matches it as a whole)."""
    fields = {name: REGISTER if name in REGISTER_FIELDS else NUMBER for name in FIELDS}
    fields["function"] = FUNCTION_NAMES
    return [(operation, form, _pattern(form, fields)) for operation in OPERATIONS for form in operation.forms]


@cache
def statement_patterns() -> list[tuple[Result, re.Pattern[str]]]:
    """Every form of `RESULTS` with its pattern, longer ones first."""
    found = []
    for result in sorted(RESULTS, key=lambda r: len(r.form), reverse=True):
        words = re.escape(result.form).replace(r"\ ", r"\s+")
        register = r"\{rd\},\s+"
        optional = rf"(?:(?P<rd>{REGISTER})\s*,\s*)"
        words = words.replace(register, optional if omits_no_register(result) else optional + "?")
        words = words.replace(r"\{rd\}", f"(?P<rd>{REGISTER})").replace(r"\{e\}", "(?P<e>.+)")
        found.append((result, re.compile(words)))
    return found


def omits_no_register(result: Result) -> bool:
    """Whether register 0 must be written."""
    return result.form.startswith("mov ")


def form_fields(form: str) -> set[str]:
    """The fields that a form shows."""
    return set(re.findall(r"\{(\w+)\}", form))
