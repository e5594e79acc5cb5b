"""Alignment of the events of two runs: they are matched by what they do, not by their numbers.

Keys come in levels, the strictest first. Events with an equal strictest key are anchors; events between two anchors are
matched by the next key. So an inserted draw shifts nothing, and a changed draw is matched with its counterpart.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from hashlib import blake2b

from pocketgpu.inspect.model.event import Event

Keys = Sequence[Sequence[Hashable]]
"""For each event its keys, one for each level."""
Pair = tuple[int | None, int | None]
STATE_LEVELS = 4
"""How many levels are keys of a draw's state."""
_PLACE = re.compile(r"0x[0-9a-f]+", re.IGNORECASE)


def keys_of(event: Event, state: Sequence[Hashable] = ()) -> tuple[Hashable, ...]:
    """The keys of an event, the strictest first.

    For most events: all facts with the command words; kind and written memory; kind. For a draw: all facts with the
    command words; the state that it reads, if that is known (`state`, the strictest key first, the program last);
    facts and the kind of target; the kind of target; kind.
    """
    words = event.words
    digest = b"" if words is None else blake2b(words.values.tobytes(), digest_size=16).digest()
    whole = (event.kind, repr(sorted(event.facts.items(), key=str)), event.writes, digest, tuple(state))
    levels: list[Hashable] = [(None, one) for one in state] or [whole] * STATE_LEVELS
    if event.kind != "draw":
        return (whole, *levels, (event.kind, event.writes), event.kind, event.kind)
    # Addresses differ between runs with another memory layout; sizes and formats do not.
    target = _PLACE.sub("", str(event.facts.get("target")))
    shape = tuple((name, repr(value)) for name, value in sorted(event.facts.items()) if name != "target")
    return (
        whole,
        *((one, target, shape) for one in levels),
        (event.kind, target, shape),
        (event.kind, target),
        event.kind,
    )


def align(a: Keys, b: Keys) -> list[Pair]:
    """Indices in both, in order: (i, j) for matched events, (i, None) and (None, j) for the others."""
    return list(_level(a, b, range(len(a)), range(len(b)), 0))


def _level(a: Keys, b: Keys, mine: range, others: range, level: int) -> Iterator[Pair]:
    if not mine or not others or level == (len(a[0]) if a else 0):
        yield from ((i, None) for i in mine)
        yield from ((None, j) for j in others)
        return

    def same(i: int, j: int) -> bool:
        return a[i][level] == b[j][level]

    # Most runs agree at both ends; only the matching of those must be fast.
    shorter = min(len(mine), len(others))
    head = next((n for n in range(shorter) if not same(mine[n], others[n])), shorter)
    rest = shorter - head
    tail = next((n for n in range(rest) if not same(mine[-1 - n], others[-1 - n])), rest)
    yield from zip(mine[:head], others[:head], strict=True)
    inner, outer = mine[head : len(mine) - tail], others[head : len(others) - tail]
    if inner and outer:
        matcher = SequenceMatcher(None, [a[i][level] for i in inner], [b[j][level] for j in outer], autojunk=False)
        x = y = 0
        for block in matcher.get_matching_blocks():
            yield from _level(a, b, inner[x : block.a], outer[y : block.b], level + 1)
            x, y = block.a + block.size, block.b + block.size
            yield from zip(inner[block.a : x], outer[block.b : y], strict=True)
    else:
        yield from _level(a, b, inner, outer, level + 1)
    yield from zip(mine[len(mine) - tail :], others[len(others) - tail :], strict=True)
