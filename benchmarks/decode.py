"""Decoding of command words on one thread: to structured arrays and to JSON lines, through the public functions.

The words are those that the shipped samples submit, repeated: lists of a 3DS as drivers write them, pushbuffers of a
Switch with inline data and macros left out. All calls after the first are measured. A call reuses only machine code
and tables of the calls before.
"""

from __future__ import annotations

import argparse

import numpy as np
from common import ROOT, Report, clock, run, turns

from pocketgpu.capture import open as open_capture
from pocketgpu.inspect.decode import KINDS, decode, decode_words

WORDS, TEXT_WORDS = 1 << 20, 1 << 16
PROMISED_ROWS, PROMISED_TEXT = 20.0, 1.0
DATA = ROOT / "src" / "pocketgpu" / "data"


def command_words(sample: str, kind: str) -> np.ndarray:
    """All words of one kind that a sample submits."""
    decoded = decode(DATA / sample)
    wanted = decoded.stream.table["kind"] == KINDS.index(kind)
    found = [words for words, own in zip(decoded.segments, wanted, strict=True) if own]
    # A segment of inline data alone says nothing about methods.
    return np.concatenate([words for words in found if len(words) < 4000])


def measure(report: Report, arguments: argparse.Namespace) -> None:
    sources = {
        "command lists of a 3DS": ("pica", command_words("sample.ctf.xz", "list")),
        "pushbuffers of a Switch": ("pushbuffer", command_words("sample_switch.mxcap.zip", "pushbuffer")),
    }
    for what, (kind, unit) in sources.items():
        words, some = np.resize(unit, WORDS), np.resize(unit, TEXT_WORDS)
        decoded = decode_words(some, kind, base=0x20000000)
        benches = (
            ("to arrays", words.nbytes, PROMISED_ROWS, lambda: decode_words(words, kind, tolerant=False)),  # noqa: B023
            ("to arrays, as a dump", words.nbytes, PROMISED_ROWS, lambda: decode_words(words, kind)),  # noqa: B023
            ("to JSON lines", some.nbytes, PROMISED_TEXT, lambda: sum(map(len, decoded.json_lines()))),  # noqa: B023
            ("to the listing", some.nbytes, None, lambda: sum(map(len, decoded.lines()))),  # noqa: B023
        )
        found = turns(arguments.repeat, *(lambda one=one: clock(one[3]) for one in benches))  # type: ignore[misc]
        for (how, size, target, _), series in zip(benches, found, strict=True):
            mega = size / 1e6
            report.add(f"{what} {how}", mega / series.median, "MB/s", best=mega / series.best, target=target)
    capture = open_capture(DATA / "sample.ctf.xz")
    size = decode(capture).stream.words.nbytes / 1e6
    (series,) = turns(arguments.repeat, lambda: clock(lambda: decode(capture)))
    report.add("the sample of a 3DS again, whose rows are kept", size / series.median, "MB/s", best=size / series.best)


if __name__ == "__main__":
    run("decode", measure, repeat=10)
