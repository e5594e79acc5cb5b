"""Instructions whose threads see each other: SHFL and VOTE."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pocketgpu.facts.maxwell.sass import Form

from .one import Change, One, Thread

Warp = Callable[[Sequence[One], Sequence[bool]], None]


def _shuffle(ones: Sequence[One], active: Sequence[bool]) -> None:
    for lane, one in enumerate(ones):
        b, c, mode = one.plain("b") & 31, one.plain("c"), one.raw("mode")
        clamp, segment = c & 31, c >> 8 & 31
        least = lane & segment
        most = least | clamp & ~segment
        source = (least | b & ~segment, lane - b, lane + b, lane ^ b)[mode]
        inside = source >= most if mode == 1 else source <= most
        source = source if inside else lane
        # A lane that is not at work has nothing to give.
        one.give(ones[source & 31].plain("a") if active[source & 31] else 0)
        one.give_predicate("p", inside)


def _vote(ones: Sequence[One], active: Sequence[bool]) -> None:
    votes = [one.predicate("s") for one in ones]
    ballot = sum(1 << lane for lane, vote in enumerate(votes) if vote and active[lane])
    everyone = sum(1 << lane for lane, works in enumerate(active) if works)
    result = (ballot == everyone, ballot != 0, ballot in (0, everyone))[ones[0].raw("mode")]
    for one in ones:
        one.give(ballot)
        one.give_predicate("p", result)


WARP: dict[str, Warp] = {"SHFL": _shuffle, "VOTE": _vote}


def execute_warp(form: Form, word: int, threads: Sequence[Thread], active: Sequence[bool]) -> list[Change]:
    """What an instruction changes in each of 32 threads, if `active` ones are at work."""
    ones = [One(form, word, thread, lambda bank, offset: 0) for thread in threads]
    WARP[form.op](ones, active)
    return [one.change for one in ones]
