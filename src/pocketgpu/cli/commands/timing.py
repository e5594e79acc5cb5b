"""`pocketgpu timing`: what the display controllers' registers describe, as numbers and as a drawing of the scan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import FrameSpan, debug_option, json_option, parse_frame_address, parsed, set_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import frames_of, open_capture, write_file
from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    from pocketgpu.pica.pdc import DisplayMode

_SCREENS = ("top", "bottom")


@click.command()
@click.argument("capture", type=click.Path(), metavar="[CAPTURE]", required=False)
@click.option(
    "--registers",
    "-r",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a register or a field of one: PDC0_VTOTAL=494, VTOTAL=494 for both screens, PDC0_FORMAT.interlace=2.",
)
@click.option("--init", "sets", multiple=True, metavar="NAME", help="Begin with a set of values that programs write.")
@click.option(
    "--at", default="f0", show_default=True, metavar="fN", callback=parsed(parse_frame_address),
    help="The frame of the capture after which registers are read.",
)  # fmt: skip
@click.option("--screen", type=click.Choice(_SCREENS), help="Only this screen.")
@click.option("--svg", metavar="FILE", help="Draw the scan into a file.")
@set_option
@json_option
@debug_option
@click.pass_obj
def timing(
    outcome: Outcome,
    capture: str | None,
    registers: tuple[str, ...],
    sets: tuple[str, ...],
    at: int,
    screen: str | None,
    svg: str | None,
    choices: dict[str, str],
) -> None:
    """Show what the display registers describe: refresh, scan, interrupts, format.

    Without a CAPTURE the registers are as the system software leaves them. Settings that documents warn about are
    listed with the reason.
    """
    from pocketgpu.inspect.n3ds import display_timing

    words = _recorded(outcome, capture, at) if capture is not None else {}
    for name in sets:
        words |= _initial(name)
    for text in registers:
        _change(words, text)
    modes = display_timing.modes_of(words, choices)
    modes = {name: mode for name, mode in modes.items() if screen in (None, name)}
    outcome.extra["screens"] = {name: display_timing.to_dict(mode) for name, mode in modes.items()}
    if svg is not None:
        write_file(Path(svg), display_timing.svg(modes).encode(), "--svg")
        outcome.extra["svg"] = svg
    outcome.show = lambda: terminal.say(_report(modes, svg))


def _recorded(outcome: Outcome, path: str, at: int) -> dict[int, int]:
    """Register words, by physical address, of a capture after a frame. Lists run, nothing is drawn."""
    opened = open_capture(path)
    wanted = frames_of(opened, FrameSpan(at, at))
    outcome.add_events(opened.warnings)
    from pocketgpu.inspect.n3ds.register_replay import registers_after

    words, events = registers_after(opened, wanted[0])
    outcome.add_events(events)
    return words


def _initial(name: str) -> dict[int, int]:
    from pocketgpu.facts.external_init import INITS

    if name not in INITS:
        raise UsageError(
            f"there is no set of values {name!r}", location="--init", hint=f"There are: {', '.join(INITS)}."
        )
    return dict(INITS[name].values)


def _change(words: dict[int, int], text: str) -> None:
    """Apply one NAME=VALUE."""
    from pocketgpu.facts.external import EXTERNAL
    from pocketgpu.inspect.registers import describe

    name, equals, value = (part.strip() for part in text.partition("="))
    number = describe.parse_number(value.removeprefix("-"))
    where = f"--registers {text}"
    if not equals or number is None:
        raise UsageError(f"{text!r} is not of the form NAME=VALUE", location=where, hint="Write PDC0_VTOTAL=494.")
    if value.startswith("-"):
        number = -number
    known = describe.resolve(name)
    both = [describe.resolve(f"PDC{unit}_{name}") for unit in range(2)] if known is None else [known]
    for match in both:
        if match is None or match.register.name not in EXTERNAL or not match.register.name.startswith("PDC"):
            raise UsageError(
                f"{name!r} is no register of a display", location=where, hint="'pocketgpu regs PDC0' lists them."
            )
        register = match.register
        word = words.get(register.address, register.reset)
        if match.field is None:
            if not -(1 << 31) <= number < 1 << 32:
                raise UsageError(f"{value} does not fit a 32-bit register", location=where, hint="At most 0xffffffff.")
            words[register.address] = number & 0xFFFFFFFF
            continue
        try:
            words[register.address] = match.field.encode(number, word)
        except ValueError as error:
            raise UsageError(str(error), location=where, hint=f"The field has {match.field.width} bits.") from error


def _report(modes: dict[str, DisplayMode], svg: str | None) -> str:
    from pocketgpu.inspect.n3ds import display_timing

    parts: list[str] = []
    for name, mode in modes.items():
        parts += [f"{name} screen", terminal.format_table([("", False), ("", False)], display_timing.rows(mode))]
        parts += ["", *display_timing.drawing(mode), display_timing.legend(mode), ""]
        parts += [f"{problem.severity}: {problem.text}" for problem in mode.problems]
        parts.append("")
    if svg is not None:
        parts.append(f"drawing in {svg}")
    return "\n".join(parts).rstrip()
