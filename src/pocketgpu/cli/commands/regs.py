"""`pocketgpu regs`: lists, finds and explains the registers of both consoles' GPUs, bit by bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.errors import UsageError
from pocketgpu.wording import agreed, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pocketgpu.facts.dialect.registers import Register
    from pocketgpu.facts.maxwell import BitStructure, MethodBlock
    from pocketgpu.inspect.registers import describe


@click.command()
@click.argument("words", nargs=-1, metavar="[[CLASS] REGISTER [VALUE] | WORDS...]", shell_complete=complete.registers)
@click.option("--unknown", is_flag=True, help="Only the ids that no source describes.")
@json_option
@debug_option
@click.pass_obj
def regs(outcome: Outcome, words: tuple[str, ...], unknown: bool) -> None:
    """List, find and explain registers and their values.

    3DS: REGISTER is any of its names (with or without GPUREG_), a field such as TEXUNIT0_DIM.height, an id (0x080), a
    physical address (0x10400C10), the address that programs use (0x1EF00C10), an offset (0xC10) or the header of a
    command list entry (0x000F0110).

    Switch: CLASS is b197 (3d), b1c0 (compute), a140 (inline), 902d (2d), b0b5 (dma) or b06f (host), and REGISTER a
    method of it: NVIDIA's name or Switchbrew's, a word offset (0x674), a byte offset above 0xfff, or a pushbuffer
    header. A name needs no CLASS. tic, tsc, qmd, sph and gpfifo are structures in memory; their words may follow.

    With a VALUE each bit of it is explained. Any other WORDS are searched for in names, fields and descriptions.
    """
    from pocketgpu.inspect.registers import methods

    if not words:
        _list_all(outcome, unknown)
        return
    first, rest = words[0], words[1:]
    block = methods.class_named(first, engines=bool(rest) and _names_method(first, rest[0]))
    structures = methods.structures_named(first)
    if block is not None:
        _one_class(outcome, block, rest)
    elif structures:
        _structures(outcome, first, structures, rest)
    else:
        _anything(outcome, words, unknown)


def _list_all(outcome: Outcome, unknown: bool) -> None:
    from pocketgpu.facts.maxwell import CLASSES
    from pocketgpu.inspect.registers import describe, methods

    found = describe.registers(unknown)
    outcome.extra["registers"] = [describe.explain(register).to_dict() for register in found]
    lines = [describe.line(register) for register in found]
    if not unknown:
        outcome.extra["classes"] = [
            {"class": block.name, "class_name": block.title, "engine": block.engine, "methods": len(block)}
            for block in CLASSES.values()
        ]
        lines += ["", "The Switch's GPU has classes of methods; 'pocketgpu regs b197' lists one:"]
        lines += [methods.class_line(block) for block in CLASSES.values()]
    outcome.show = lambda: terminal.say("\n".join(lines))


def _names_method(engine: str, word: str) -> bool:
    """Whether a word such as "dma" means a class: the next word names a method of it."""
    from pocketgpu.inspect.registers import methods

    block = methods.class_named(engine, engines=True)
    return block is not None and methods.resolve(block, word.partition("=")[0]) is not None


def _one_class(outcome: Outcome, block: MethodBlock, words: Sequence[str]) -> None:
    """Handle the words after a class: none, a method and perhaps a value, or a search in the class."""
    from pocketgpu.inspect.registers import describe, methods

    if not words:
        _found(outcome, list(block))
        return
    name, value = _name_and_value(words)
    match = methods.resolve(block, name) if len(words) <= 2 else None
    if match is not None and (value is None or describe.parse_number(value) is not None):
        _explained(outcome, [match], None if value is None else _number(value))
        return
    number = describe.parse_number(name)
    if number is not None:
        raise UsageError(
            f"class {block.name} has no method at {name}",
            location="REGISTER",
            hint=methods.elsewhere(block, number)
            or f"Words end at 0xfff, byte offsets at 0x3ffc; 'pocketgpu regs {block.name}' lists all methods.",
        )
    found = methods.search(" ".join(words), (block,))
    if not found:
        close = methods.similar(name, block)
        raise UsageError(
            f"no method of class {block.name} has {' '.join(words)!r} in its name or description",
            location="REGISTER",
            hint=f"Did you mean {' or '.join(close)}?" if close else f"'pocketgpu regs {block.name}' lists all.",
        )
    _found(outcome, found)


def _structures(outcome: Outcome, name: str, found: Sequence[BitStructure], words: Sequence[str]) -> None:
    """Show a structure in memory: its fields, or the meaning of words."""
    from pocketgpu.inspect.registers import methods

    values: list[int] | None = None
    if words:
        values = methods.parse_words(words)
        if values is None:
            raise UsageError(f"{' '.join(words)!r} are no words", location="VALUE", hint="Write 0x01234567 ...")
        chosen = methods.choose(found, values)
        if chosen is None:
            sizes = sorted({one.words for one in found})
            raise UsageError(
                f"{agreed('{this|these}', len(values))} {counted(len(values), 'word')} "
                f"{agreed('{is|are}', len(values))} no {name}",
                location="VALUE",
                hint=f"It has {' or '.join(str(size) for size in sizes)} words; {name}.NAME says which version.",
            )
        found = [chosen]
    outcome.extra["structures"] = [methods.structure_data(one, values) for one in found]
    text = "\n\n".join("\n".join(methods.structure_lines(one, values)) for one in found)
    outcome.show = lambda: terminal.say(text)


def _anything(outcome: Outcome, words: Sequence[str], unknown: bool) -> None:
    """Handle words without a class: a register of the 3DS, a method of the Switch by name, or a search in both."""
    from pocketgpu.inspect.registers import describe, methods

    matches, number = _resolve(words)
    if matches:
        _explained(outcome, matches, number)
        return
    if len(words) == 1 and describe.parse_number(words[0]) is not None:
        raise UsageError(
            f"there is no register at {words[0]}",
            location="REGISTER",
            hint="Ids end at 0x2ff; addresses begin at 0x10400000 (GPU) and 0x10202000 (LCD). "
            "Methods of the Switch need their class: pocketgpu regs b197 0x674.",
        )
    text = " ".join(words)
    found: list[Register] = [one for one in describe.search(text, unknown) if one.known != unknown]
    if not unknown:
        found += methods.search(text)
    if not found:
        raise UsageError(
            f"no register has {text!r} in its name or description",
            location="REGISTER",
            hint=_hint(words[0]),
        )
    _found(outcome, found)


def _resolve(words: Sequence[str]) -> tuple[list[describe.Match], int | None]:
    """The registers that the words name, and the value; none if they name none."""
    from pocketgpu.inspect.registers import describe, methods

    if len(words) > 2:
        return [], None
    name, value = _name_and_value(words)
    found = describe.resolve(name)
    matches = [found] if found is not None else methods.everywhere(name)
    number = None if value is None else describe.parse_number(value)
    if not matches:
        if number is None:
            return [], None
        raise UsageError(f"there is no register {name!r}", location="REGISTER", hint=_hint(name))
    if value is None:
        return matches, None
    searched = number is None and len(words) == 2 and describe.parse_number(name) is None
    if searched and (describe.search(" ".join(words)) or methods.search(" ".join(words))):
        return [], None  # two words to search for; the first is also a name
    return matches, _number(value)


def _name_and_value(words: Sequence[str]) -> tuple[str, str | None]:
    if len(words) == 1 and "=" in words[0]:
        name, _, value = words[0].partition("=")
        return name, value
    return words[0], words[1] if len(words) == 2 else None


def _number(value: str) -> int:
    from pocketgpu.inspect.registers import describe

    number = describe.parse_number(value)
    if number is None:
        raise UsageError(f"{value!r} is no value", location="VALUE", hint="Write a number such as 0x01001000.")
    if number >> 32:
        raise UsageError(f"{value} does not fit a 32-bit register", location="VALUE", hint="At most 0xffffffff.")
    return number


def _explained(outcome: Outcome, matches: Sequence[describe.Match], number: int | None) -> None:
    from pocketgpu.inspect.registers import describe

    explanations = [(describe.explain(one.register, number, one.field), one.remark()) for one in matches]
    outcome.extra["registers"] = [explanation.to_dict() for explanation, _ in explanations]
    text = "\n\n".join(
        "\n".join([*explanation.lines(), *(["", remark] if remark else [])]) for explanation, remark in explanations
    )
    outcome.show = lambda: terminal.say(text)


def _found(outcome: Outcome, found: Sequence[Register]) -> None:
    """Show the results of a search, a line for each; a single result is explained."""
    from pocketgpu.facts.maxwell import Method
    from pocketgpu.inspect.registers import describe, methods

    if len(found) == 1:
        _explained(outcome, [describe.Match(found[0])], None)
        return
    outcome.extra["registers"] = [describe.explain(register).to_dict() for register in found]
    lines = [methods.line(one) if isinstance(one, Method) else describe.line(one) for one in found]
    outcome.show = lambda: terminal.say("\n".join(lines))


def _hint(name: str) -> str:
    from pocketgpu.inspect.registers import describe, methods

    close = describe.similar(name) or methods.similar(name)
    return f"Did you mean {' or '.join(close)}?" if close else "'pocketgpu regs' lists all of them."
