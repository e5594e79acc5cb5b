"""The disassembler: shader words to text, in the assembler's language.

It has two forms. The usual one shows operands: `mad r0.xyz, -c8.x, v1, r2`. `exact` is for tools that change a program
and assemble it again to the same words: operand descriptors are written out and named after each instruction, and words
with meaningless bits become `.word`. Undefined opcodes become `.word` in both forms.

Source: 3dbrew GPU/Shader Instruction Set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pocketgpu.errors import UsageError
from pocketgpu.facts.shader_isa import (
    COMPARE_NAMES,
    F1C,
    F2,
    F3,
    F4,
    INDEX_NAMES,
    INVERTS,
    OPCODES,
    Opcode,
    components,
    descriptor,
    opcode_number,
    selected,
    source_register,
    target_register,
)
from pocketgpu.pica.shader.assembler import COMPONENTS, DESCRIPTORS, assemble
from pocketgpu.pica.shader.names import IDENTIFIER, is_register

_INDICES = tuple(f"[{name}]" if name else "" for name in INDEX_NAMES)
_IDENTITY = 0x1B
Label = Callable[[int], str]


def disassemble(
    code: Sequence[int], descriptors: Sequence[int], *, entry: int | None = 0, exact: bool = False,
    labels: Mapping[int, str] | None = None,
) -> str:  # fmt: skip
    """Text of a program: one instruction per line, labels at the targets of flow instructions, `main` at `entry`.

    exact: text that assembles to the same words and descriptors; needs at most 128 descriptors. labels: names of
    addresses; those that cannot be labels of a text are left out.
    """
    if exact and len(descriptors) > DESCRIPTORS:
        raise UsageError(f"{len(descriptors)} operand descriptors; the unit has {DESCRIPTORS}")
    names = {target: f"l{target:03x}" for word in code for target in targets(word)}
    names |= _usable(labels or {}, {*names.values(), "main"}, len(code))
    if entry is not None:
        names[entry] = "main"
    places = range(len(code) + 1)
    lines = [f"    .desc {number}, {word:#x}" for number, word in enumerate(descriptors)] if exact else []
    for address, word in enumerate([*code, None]):
        if address in names:
            lines.append(f"{names[address]}:")
        if word is not None:
            text = _checked(word, descriptors, lambda t: names[t] if t in places else str(t), exact)
            if exact and not text.startswith(".") and (number := _descriptor_number(word)) is not None:
                text += f" @{number}"
            lines.append(f"    {text}")
    return "\n".join(lines) + "\n"


def _usable(labels: Mapping[int, str], taken: set[str], end: int) -> dict[int, str]:
    """Labels that a text can have: names, each once, at addresses of the program."""
    found: dict[int, str] = {}
    for address, name in labels.items():
        if 0 <= address <= end and re.fullmatch(IDENTIFIER, name) and name not in taken and not is_register(name):
            found[address] = name
            taken.add(name)
    return found


def targets(word: int) -> tuple[int, ...]:
    """The addresses in a flow instruction, in the order of its text."""
    op = OPCODES.get(opcode_number(word))
    if op is None or op.format not in (F2, F3) or op.name == "BREAKC":
        return ()
    start, count = op.format.get(word, "dst"), op.format.get(word, "num")
    if op.name == "LOOP":
        return (start + 1,)
    return (start,) if op.name in ("JMPC", "JMPU") else (start, start + count)


def instruction_text(word: int, descriptors: Sequence[int], label: Label = str) -> str:
    """Text of one instruction word; `label` names addresses. An invalid word gives `.word`."""
    return _checked(word, descriptors, label, exact=False)


def _checked(word: int, descriptors: Sequence[int], label: Label, exact: bool) -> str:
    """The text, if it can be assembled and (exact) assembles to the same word."""
    raw = f".word {word:#010x}"
    number = _descriptor_number(word)
    if OPCODES.get(opcode_number(word)) is None or (number is not None and number >= len(descriptors)):
        return raw
    plain = _text(word, descriptors, str)
    given = "" if number is None else f".desc {number}, {descriptors[number]:#x}\n"
    try:
        (again,) = assemble(f"{given}{plain}{'' if number is None else f' @{number}'}").code
    except UsageError:
        return raw
    return raw if exact and again != word else _text(word, descriptors, label)


def _descriptor_number(word: int) -> int | None:
    op = OPCODES.get(opcode_number(word))
    return op.format.get(word, "desc") if op is not None and op.sources else None


def _text(word: int, descriptors: Sequence[int], label: Label) -> str:
    op = OPCODES[opcode_number(word)]
    name, get = op.name.lower(), op.format.get
    if op.format in (F2, F3):
        operands = [text] if (text := condition_text(word)) else []
    elif op.format is F4:
        flags = " ".join(flag for flag, field in (("prim", "primitive"), ("inv", "winding")) if get(word, field))
        operands = [str(get(word, "vertex")), *([flags] if flags else [])]
    elif op.sources:
        operands = _operands(op, word, descriptors[get(word, "desc")])
    else:
        operands = []
    operands += [label(target) for target in targets(word)]
    return f"{name} {', '.join(operands)}".rstrip()


def _operands(op: Opcode, word: int, desc: int) -> list[str]:
    get = op.format.get
    sources = [_source(op, word, desc, number) for number in range(1, op.sources + 1)]
    if op.format is F1C:
        compare = [COMPARE_NAMES[get(word, field)].lower() for field in ("cmpx", "cmpy")]
        return [sources[0], *compare, sources[1]]
    number = get(word, "dst")
    register = "a0" if op.name == "MOVA" else "{}{}".format(*target_register(number))
    mask = "".join(COMPONENTS[i] for i in components(descriptor(desc, "mask")))
    if op.name == "MOVA":
        mask = mask.replace("z", "").replace("w", "")
    return [register + ("" if mask == COMPONENTS else f".{mask or 'none'}"), *sources]


def _source(op: Opcode, word: int, desc: int, number: int) -> str:
    name = "{}{}".format(*source_register(op.format.get(word, f"src{number}")))
    if op.format.wide == f"src{number}":
        name += _INDICES[op.format.get(word, "idx")]
    selector = descriptor(desc, f"sel{number}")
    letters = "".join(COMPONENTS[i] for i in selected(selector))
    while len(letters) > 1 and letters[-1] == letters[-2]:
        letters = letters[:-1]
    swizzle = "" if selector == _IDENTITY else f".{letters}"
    return "-" * descriptor(desc, f"neg{number}") + name + swizzle


def condition_text(word: int) -> str:
    """The condition of a flow instruction, or the integer register of a loop; "" if it has none."""
    op = OPCODES[opcode_number(word)]
    if op.format is F3:
        get = F3.get
        if op.name == "LOOP":
            return f"i{get(word, 'int')}"
        return "!" * (op.name == "JMPU" and get(word, "num") & INVERTS) + f"b{get(word, 'bool')}"
    if op.format is not F2 or op.name == "CALL":
        return ""
    get = F2.get
    x, y = ("!" * (1 - get(word, f"ref{axis}")) + f"cmp.{axis}" for axis in "xy")
    return (f"{x} || {y}", f"{x} && {y}", x, y)[get(word, "cond")]
