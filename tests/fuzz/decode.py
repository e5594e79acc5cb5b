"""Words that may be anything, decoded: every word comes back, in order, out of rows, listing and JSON, whatever it is.

    python tests/fuzz/decode.py --cases 100000 --seed 1

A case is a list, a pushbuffer or GX commands with words changed, cut or put between noise, or noise alone; it is
decoded as any kind, tolerantly or as the machine would. The NumPy evaluator decodes the first words of one in 500 as
well and must give the same rows. A case is made from the seed and its number alone (--first N --cases 1).
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np
from support.fuzz import command, one_case

from pocketgpu.builder import CommandList
from pocketgpu.facts.gsp import GX_COMMANDS
from pocketgpu.facts.maxwell import CLASSES, SUBCHANNELS
from pocketgpu.inspect.decode import WHAT, decode_words, maxwell_tracer, parse_listing
from pocketgpu.maxwell.mme.assembler import assemble

maxwell_tracer.DUMP_MACRO_BUDGET = 500  # the oracle takes its time for each instruction
SLOWEST = 10.0
COMPARED, LISTED = 500, 20
_SENDS = assemble("parm r2 maddr r1\n parm r3 send r2\n exit send r3\n nop")
_KINDS = ("pica", "pica", "pica", "pushbuffer", "pushbuffer", "pushbuffer", "gx")


def _list(r: random.Random) -> list[int]:
    """A command list: state as drivers set it, then entries of any registers."""
    words: list[int] = []
    if r.random() < 0.2:
        words += np.frombuffer(CommandList().plain_state().tobytes(), "<u4").tolist()
    for _ in range(r.randrange(1, 40)):
        extra = r.choice((0, 0, 0, 1, 2, 3, 8, 255))
        id = r.choice((r.randrange(0x300), r.randrange(0x300), 0x22E, 0x22F, 0x232, 0x233, 0x23C, 0x10, 0x2C1, 0x2CC))
        header = id | r.choice((15, 15, 15, r.randrange(16))) << 16 | extra << 20 | r.getrandbits(1) << 31
        values = [r.choice((0, 1, r.getrandbits(32), r.getrandbits(12))) for _ in range(extra + 1)]
        words += [values[0], header, *values[1:]] + [0] * (extra & 1)
    return words


def _pushbuffer(r: random.Random) -> list[int]:
    """Packets for methods of all classes, macros and ends of segments among them."""
    words: list[int] = []
    for subchannel, block in SUBCHANNELS.items():
        words += [1 << 29 | 1 << 16 | subchannel << 13, block.class_id]
    if r.random() < 0.5:
        # A macro of code that sends what it is given, or does anything.
        code = _SENDS if r.random() < 0.6 else [r.getrandbits(32) for _ in range(12)]
        words += [1 << 29 | 1 << 16 | 0x45, 0, 3 << 29 | len(code) << 16 | 0x46, *code, 1 << 29 | 2 << 16 | 0x47, 0, 0]
        first = 1 << r.choice((12, 13)) | r.choice((0x35E, 0x586, 0x674, r.randrange(0x1000)))
        words += [5 << 29 | 3 << 16 | 0xE00, first, r.getrandbits(8), r.getrandbits(32)]
    for _ in range(r.randrange(1, 40)):
        subchannel = r.choice((*SUBCHANNELS, *SUBCHANNELS, 5, 6, 7))
        block = SUBCHANNELS.get(subchannel) or CLASSES[0xB06F]
        word = r.choice((r.choice(r.choice(block.methods).words()), r.randrange(0x1000), 0xE00 + r.randrange(8), 0x46))
        form = r.choice((1, 1, 1, 3, 4, 4, 5, r.randrange(8)))
        count = r.choice((1, 1, 2, 4, 16, r.randrange(0x2000) if form == 4 else 30))
        words.append(form << 29 | count << 16 | subchannel << 13 | word)
        if form in (1, 3, 5):
            words += [r.choice((0, 1, r.getrandbits(32), r.getrandbits(8))) for _ in range(count)]
    return words


def _gx(r: random.Random) -> list[int]:
    return [
        word
        for _ in range(r.randrange(1, 6))
        for word in (r.randrange(len(GX_COMMANDS) + 2) | r.getrandbits(24) << 8, *(r.getrandbits(32) for _ in range(7)))
    ]


_MAKERS: dict[str, Callable[[random.Random], list[int]]] = {"pica": _list, "pushbuffer": _pushbuffer, "gx": _gx}


def make(seed: int, number: int) -> tuple[str, list[int], bool, bool, int]:
    """Kind, words, whether tolerant, whether with macros, and the address of the first."""
    r = random.Random(f"{seed}/{number}")
    kind = r.choice(_KINDS)
    made = r.choice((kind, kind, kind, r.choice(_KINDS)))
    words = _MAKERS[made](r) if r.random() < 0.9 else [r.getrandbits(32) for _ in range(r.randrange(200))]
    for _ in range(r.choice((0, 0, 1, 2, 5))):
        at = r.randrange(len(words) + 1)
        match r.randrange(4):
            case 0 if at < len(words):
                words[at] ^= 1 << r.randrange(32)
            case 1:
                del words[at : at + r.randrange(1, 4)]
            case 2:
                words[at:at] = [r.getrandbits(32) for _ in range(r.randrange(1, 12))]
            case _:
                words = words[:at]
    return (
        kind,
        words,
        r.random() < 0.6,
        r.random() < 0.6,
        r.choice((0, 0x20000000, 0x5_0000_0000, 4 * r.getrandbits(37))),
    )


def check(seed: int, number: int, counts: Counter[str]) -> None:
    """Decode a case and hold what comes out to what went in."""
    kind, words, tolerant, macros, base = make(seed, number)
    decoded = decode_words(words, kind, base, tolerant, macros)
    own = decoded.rows[decoded.rows["what"] != WHAT.index("issued")]
    assert own["word"].tolist() == words
    assert own["position"].tolist() == list(range(len(words)))
    draws = decoded.rows["draw"]
    inside = draws[: len(draws) - int((draws == -1).sum())]
    assert (draws[len(inside) :] == -1).all() and (np.diff(inside) >= 0).all()
    for what in np.unique(decoded.rows["what"]).tolist():
        counts[WHAT[what]] += 1
    counts["draws"] += int((decoded.rows["effect"] & 1).sum())
    if not tolerant:
        assert "garbage" not in {WHAT[n] for n in np.unique(own["what"])}
    if number % LISTED == 0:
        listed = parse_listing("\n".join(decoded.lines(single=bool(number % 3))))
        assert [word for one in listed for word in one.words.tolist()] == words
        found = [json.loads(line) for line in decoded.json_lines()][1:]
        assert [int(line["word"], 16) for line in found if line["what"] != "issued"] == words
        counts["listed"] += 1
    if number % COMPARED == 0:
        oracle = decode_words(words[:60], kind, base, tolerant, macros, evaluator="numpy").rows
        assert (oracle == decode_words(words[:60], kind, base, tolerant, macros).rows).all()
        counts["compared"] += 1


def run(cases: int, seed: int, first: int = 0, report: Callable[[Counter[str]], None] | None = None) -> Counter[str]:
    """Run `cases` cases from number `first` on; AssertionError names the one in which something goes wrong."""
    counts: Counter[str] = Counter()
    for number in range(first, first + cases):
        with one_case(seed, number, SLOWEST):
            check(seed, number, counts)
        counts["cases"] += 1
        if report is not None and number % 1000 == 999:
            report(counts)
    return counts


if __name__ == "__main__":
    command(__doc__, run, "words")
