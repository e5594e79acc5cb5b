"""`pocketgpu regs`: the registers of the chip, listed, searched and explained down to the bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pocketgpu.cli import terminal
from pocketgpu.cli.options import debug_option, json_option
from pocketgpu.cli.outcome import Outcome
from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    from pocketgpu.inspect import describe


@click.command()
@click.argument("words", nargs=-1, metavar="[REGISTER [VALUE] | WORDS...]")
@click.option("--unknown", is_flag=True, help="Only the ids that no source describes.")
@json_option
@debug_option
@click.pass_obj
def regs(outcome: Outcome, words: tuple[str, ...], unknown: bool) -> None:
    """List, find and explain registers, and what a value in one means.

    REGISTER is any of its names (with or without GPUREG_), a field such as TEXUNIT0_DIM.height, an id (0x080), a
    physical address (0x10400C10), the address that programs use (0x1EF00C10), an offset (0xC10) or the header of a
    command list entry (0x000F0110). With a VALUE each bit of it is explained. Any other WORDS are searched for in
    names, fields and descriptions.
    """
    from pocketgpu.inspect import describe

    if not words:
        found = describe.registers(unknown)
        outcome.extra["registers"] = [describe.explain(register).to_dict() for register in found]
        outcome.show = lambda: terminal.say("\n".join(describe.line(register) for register in found))
        return
    explained = _explain(words)
    if explained is None:
        if len(words) == 1 and describe.parse_number(words[0]) is not None:
            raise UsageError(
                f"no register stands at {words[0]}",
                location="REGISTER",
                hint="Ids end at 0x2ff; addresses begin at 0x10400000 (GPU) and 0x10202000 (LCD).",
            )
        found = describe.search(" ".join(words), unknown)
        found = [register for register in found if register.known != unknown]
        if not found:
            raise UsageError(
                f"no register has {' '.join(words)!r} in its name or description",
                location="REGISTER",
                hint=_hint(words[0]),
            )
        outcome.extra["registers"] = [describe.explain(register).to_dict() for register in found]
        if len(found) > 1:
            outcome.show = lambda: terminal.say("\n".join(describe.line(register) for register in found))
            return
        explained = (describe.explain(found[0]), "")
    explanation, remark = explained
    outcome.extra["registers"] = [explanation.to_dict()]
    text = "\n".join([*explanation.lines(), *([remark] if remark else [])])
    outcome.show = lambda: terminal.say(text)


def _explain(words: tuple[str, ...]) -> tuple[describe.Explanation, str] | None:
    """The explanation that the words ask for by naming one register, or None if they name none."""
    from pocketgpu.inspect import describe

    name, value = words[0], words[1] if len(words) == 2 else None
    if len(words) == 1 and "=" in name:
        name, _, value = name.partition("=")
    if len(words) > 2:
        return None
    match = describe.resolve(name)
    number = None if value is None else describe.parse_number(value)
    if match is None:
        if number is None:
            return None
        raise UsageError(f"there is no register {name!r}", location="REGISTER", hint=_hint(name))
    if value is not None:
        if number is None:
            if len(words) == 2 and describe.parse_number(name) is None:
                return None  # two words to search for, the first of which happens to be a name
            raise UsageError(f"{value!r} is no value", location="VALUE", hint="Write a number such as 0x01001000.")
        if number >> 32:
            raise UsageError(f"{value} does not fit a 32-bit register", location="VALUE", hint="At most 0xffffffff.")
    remark = match.remark()
    return describe.explain(match.register, number, match.field), remark and f"\n{remark}"


def _hint(name: str) -> str:
    from pocketgpu.inspect import describe

    close = describe.similar(name)
    return f"Did you mean {' or '.join(close)}?" if close else "'pocketgpu regs' lists all of them."
