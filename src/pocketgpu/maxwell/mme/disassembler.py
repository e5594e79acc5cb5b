"""The instruction words of a macro to text, of which the assembler makes the same words. `text.py` describes it."""

from __future__ import annotations

from collections.abc import Sequence

from pocketgpu.facts.maxwell import B197
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.mme import isa, text
from pocketgpu.maxwell.mme.assembler import encode
from pocketgpu.maxwell.mme.isa import FIELDS, METHOD_ADDRESS, METHOD_STEP, NOP, OPERATION_AT, REGISTER_FIELDS, RESULTS

_UNTOUCHED = FIELDS["exit"].mask


@dataclass(frozen=True)
class MacroLine:
    """One instruction: its word, its text, a label in front of it (or ""), and a remark (or "")."""

    word: int
    text: str
    label: str = ""
    remark: str = ""

    def __str__(self) -> str:
        label = f"{self.label}:\n" if self.label else ""
        return f"{label}    {self.text:<40}; {self.remark}".rstrip(" ;") if self.remark else f"{label}    {self.text}"


def disassemble(words: Sequence[int]) -> list[MacroLine]:
    """A line for each word; targets of branches inside the macro get labels."""
    words = [int(word) & 0xFFFFFFFF for word in words]
    targets = {}
    for at, word in enumerate(words):
        if FIELDS["op"].raw(word) == isa.BRANCH:
            target = at + _signed("immediate", word)
            if 0 <= target < len(words):
                targets[target] = ""
    labels = {target: f"L{number}" for number, target in enumerate(sorted(targets))}
    places = {label: target for target, label in labels.items()}
    lines = []
    for at, word in enumerate(words):
        shown = _statement(word, at, labels)
        try:
            same = encode(shown, at, places) == word
        except ValueError:
            same = False
        lines.append(MacroLine(word, shown if same else f".word {word:#010x}", labels.get(at, ""), _remark(word)))
    return lines


def text_of(words: Sequence[int]) -> str:
    """The whole macro as text."""
    return "".join(f"{line}\n" for line in disassemble(words))


def _signed(name: str, word: int) -> int:
    field = FIELDS[name]
    raw = field.raw(word)
    return raw - (1 << field.width) if field.type == "sint" and raw >> (field.width - 1) else raw


def _statement(word: int, at: int, labels: dict[int, str]) -> str:
    """The text of a word. It may not say everything; the caller checks that."""
    exits = "exit " if word & _UNTOUCHED else ""
    bare = word & ~_UNTOUCHED
    if bare == NOP:
        return exits + "nop"
    operation = OPERATION_AT.get(FIELDS["op"].raw(word))
    if operation is None:
        return ".word"
    if operation.code == isa.BRANCH:
        return exits + _branch(word, at, labels)
    result = RESULTS[FIELDS["result"].raw(word)]
    expression = _expression(operation, word, result.sets_method)
    register = f"r{FIELDS['rd'].raw(word)}"
    if result.code == 0 and expression == "0":
        return f"{exits}parm {register}"
    shown = result.form.format(rd=register, e=expression)
    return exits + (
        shown
        if text.omits_no_register(result)
        else shown.replace("r0, ", "", 1)
        if register == "r0" and ", {e}" in result.form
        else shown
    )


def _branch(word: int, at: int, labels: dict[int, str]) -> str:
    register, distance = FIELDS["ra"].raw(word), _signed("immediate", word)
    annul = " annul" if FIELDS["annul"].raw(word) else ""
    target = labels.get(at + distance, f".{distance:+d}" if distance else ".")
    if FIELDS["not_zero"].raw(word):
        return f"bnz{annul} r{register}, {target}"
    return f"bz{annul} r{register}, {target}" if register else f"bra{annul} {target}"


def _expression(operation: isa.Operation, word: int, is_method: bool) -> str:
    for form in operation.forms:
        shown = text.form_fields(form)
        if all(FIELDS[name].raw(word) == 0 for name in operation.fields if name not in shown):
            break
    else:
        return "?"
    values: dict[str, str] = {}
    for name in shown:
        raw = FIELDS[name].raw(word)
        if name in REGISTER_FIELDS:
            values[name] = f"r{raw}"
        elif name == "function":
            known = isa.FUNCTION_AT.get(raw)
            values[name] = known.name if known else "?"
        elif name == "immediate":
            values[name] = _immediate(word, form, is_method)
        else:
            values[name] = str(raw)
    return form.format(**values).replace("+ -", "- ")


def _immediate(word: int, form: str, is_method: bool) -> str:
    value = _signed("immediate", word)
    if is_method and form == "{immediate}":
        raw = FIELDS["immediate"].raw(word)
        step = METHOD_STEP.raw(raw)
        return f"{METHOD_ADDRESS.raw(raw):#x}" + (f":{step}" if step else "")
    return str(value) if -10 < value < 10 else f"{value:#x}"


def _remark(word: int) -> str:
    """The name of the method that an instruction names by number."""
    operation, ra = OPERATION_AT.get(FIELDS["op"].raw(word)), FIELDS["ra"].raw(word)
    if operation is None or ra or operation.name not in ("add_immediate", "read"):
        return ""
    if operation.name == "add_immediate" and not RESULTS[FIELDS["result"].raw(word)].sets_method:
        return ""
    method = B197.get(METHOD_ADDRESS.raw(FIELDS["immediate"].raw(word)))
    return "" if method is None else method.label
