"""What a shell offers for arguments and options: names of choices, registers, rules, and addresses in a capture.

Each function is called by click while a line is completed: with the context of the line so far and the unfinished word.
Everything large is imported when it is needed, as options are made for `--help` too.
"""

from __future__ import annotations

from collections.abc import Iterable

import click

MOST_BYTES = 1 << 20
"""Captures up to this size are opened for the sake of a completion."""


def _beginning(names: Iterable[str], word: str) -> list[str]:
    return [name for name in names if name.lower().startswith(word.lower())]


def choices(ctx: click.Context, param: click.Parameter, word: str) -> list[str]:
    """NAME=VALUE of all choices."""
    from pocketgpu.facts.choices import CHOICES

    return _beginning((f"{one}={value}" for one, choice in CHOICES.items() for value in choice.values), word)


def choice_names(ctx: click.Context, param: click.Parameter, word: str) -> list[str]:
    """Names of all choices."""
    from pocketgpu.facts.choices import CHOICES

    return _beginning(CHOICES, word)


def rules(ctx: click.Context, param: click.Parameter, word: str) -> list[str]:
    """Rules of `check`, and their groups."""
    from pocketgpu.inspect.rules.registry import RULES

    names = [rule.id for rule in RULES]
    return _beginning([*dict.fromkeys(f"{name.partition('.')[0]}.*" for name in names), *names], word)


def registers(ctx: click.Context, param: click.Parameter, word: str) -> list[str]:
    """Classes, registers of the 3DS and methods of the Switch; after a class, its methods."""
    from pocketgpu.facts.lookup import BLOCKS
    from pocketgpu.facts.maxwell import CLASSES
    from pocketgpu.inspect.registers import methods

    given = ctx.params.get(param.name or "") or ()
    block = methods.class_named(given[0], engines=True) if given else None
    if block is not None:
        return _beginning((method.name for method in block), word)
    names = [one.name for one in CLASSES.values()] + [register.name for some in BLOCKS for register in some]
    if word:
        names += [method.name for one in CLASSES.values() for method in one]
    return _beginning(dict.fromkeys(names), word)


def addresses(ctx: click.Context, param: click.Parameter, word: str) -> list[str]:
    """Frames of the capture that the line names, and the draws of a frame that is written out: f1/."""
    from pathlib import Path

    from pocketgpu.errors import PocketGPUError

    path = Path(str(ctx.params.get("capture") or ""))
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return []
        import pocketgpu

        capture = pocketgpu.open(path)
        frame, slash, _ = word.partition("/")
        if not slash:
            return _beginning((f"f{number}" for number in range(capture.frame_count + capture.has_rest)), word)
        draws = pocketgpu.debug(capture).draws(int(frame.removeprefix("f")))
        return _beginning((str(draw.address) for draw in draws), word)
    except (PocketGPUError, OSError, ValueError):
        return []


__all__ = ["addresses", "choices", "registers", "rules"]
