"""The choices `shader.*` as one hashable set of rules that selects code.

Specialised code and the interpreter are compiled for each set of rules, so the set must be hashable and hold only what
affects code.
"""

from __future__ import annotations

from collections.abc import Mapping

from pocketgpu.facts.choices import choose
from pocketgpu.facts.shader_isa import OPCODE_AT, number_of
from pocketgpu.late_dataclass import dataclass

END_WORD = number_of("END") << OPCODE_AT


@dataclass(frozen=True, slots=True)
class Rules:
    """Each field is the choice of its name, without the group; facts/choices/ explains the values."""

    precision: str = "f32"
    reciprocal_zero: str = "positive"
    max_infinity: str = "smaller"
    litp_nan: str = "zero"
    nested_loop_counter: str = "restored"
    loop_ends: str = "one"
    stacks: str = "separate"
    output_banks: str = "double"
    end: str = "nothing"


DEFAULT_RULES = Rules()


def rules_of(choices: Mapping[str, str] | None = None) -> Rules:
    """The rules for these choices, the rest by default. ValueError for an unknown choice or value."""
    chosen = choose(choices)
    return Rules(
        precision=chosen["shader.precision"],
        reciprocal_zero=chosen["shader.reciprocal_zero"],
        max_infinity=chosen["shader.max_infinity"],
        litp_nan=chosen["shader.litp_nan"],
        nested_loop_counter=chosen["shader.nested_loop_counter"],
        loop_ends=chosen["shader.loop_ends"],
        stacks=chosen["shader.stacks"],
        output_banks=chosen["geometry.output_banks"],
        end=chosen["shader.end"],
    )


def with_end(code: bytes, end: int, rules: Rules) -> bytes:
    """Program memory under ENTRYPOINT's upper half `end`: if that register ends programs, END is at that address."""
    if rules.end == "nothing" or 4 * end >= len(code):
        return code
    return code[: 4 * end] + END_WORD.to_bytes(4, "little") + code[4 * end + 4 :]


def geometry_choices(choices: Mapping[str, str]) -> dict[str, int | bool]:
    """The settings of the stage under these choices, as `geometry_step` takes them."""
    return {
        "buffers": int(choices["geometry.emit_buffers"]),
        "reverse": choices["geometry.winding"] == "reverse",
        "set_bool15": choices["geometry.bool15"] == "set",
    }
