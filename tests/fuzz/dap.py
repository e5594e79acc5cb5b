"""The debug adapter with messages that no editor sends: one response each, in bounded time, and no traceback.

    python tests/fuzz/dap.py --cases 100000 --seed 1

A case is a message: bytes that are no JSON, JSON that is no request, requests in any order with arguments that are
missing, huge, or of other types, and good ones in between, so that sessions get far. The last part of the cases goes
through the framing as one damaged stream. Cases are made from the seed alone.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

from support.fuzz import command

from pocketgpu.editor.dap import Adapter
from pocketgpu.editor.dap.protocol.framing import BadFrame, Frames, framed
from pocketgpu.editor.dap.requests import REQUESTS

SLOWEST = 5.0
"""Seconds of a message: a launch is the slowest."""
PER_SESSION = 120
PROGRAM = """
main:
    mov r0, v0
    call twice
    rsq r1.x, -r0.x
    cmp c0, gt, lt, r1
    loop i0
        add r2, c1[aL], r2
        nop
    endloop
    mov o0, r0
    end
.proc twice
    add r0, r0, r0
.endproc
"""
KERNEL = """.kernel sums
.registers 12
.shared 64
.local 16
.param data ptr
S2R R0, SR_TID.X;
SHL R1, R0, 0x2;
STS [R1], R0;
IADD R2.CC, R1, c[0x0][0x140];
IADD.X R3, RZ, c[0x0][0x144];
LDG.E R4, [R2];
ISETP.LT.AND P0, PT, R0, 0x4, PT;
SSY joined;
@P0 BRA small;
IADD R4, R4, 0x10;
SYNC;
small:
IADD R4, R4, R0;
SYNC;
joined:
STG.E [R2], R4;
EXIT;
"""
_BEGIN = ("initialize", "launch", "configurationDone")
_ENDING = ("disconnect", "terminate", "launch", "restart", "continue", "stepOut")
_NAMES = (
    "threadId", "frameId", "variablesReference", "expression", "name", "value", "source", "breakpoints", "line",
    "filters", "filterOptions", "memoryReference", "instructionCount", "instructionOffset", "startFrame", "levels",
    "format", "context", "targetId", "text", "column", "granularity", "dataId", "arguments", "sourceReference", "count",
    "start", "filter", "offset", "capture", "program", "inputs", "uniforms", "most", "linesStartAt1", "endLine",
    "asAddress", "bytes", "data", "singleThread", "requestId", "progressId", "accessType", "supportsMemoryEvent",
)  # fmt: skip
_TEXTS = (
    "r0.xyz", "r0.x as f16x2", "v0 + (1, 2)", "((((", "1 +", "R4 as f64", "r0.x = 1 / 0", "\0", "é" * 40, "0x1c", "-1",
    "c[0x0][0x140]", "r0.x > 1 and not c0.y", "{r0} {", "a" * 5000, "1 << 63 << 63 << 63", "0x" + "f" * 40,
    "%2", ">= 3",
    "statement", "instruction", "f0/d0/v0", "nan", "store", "hover", "repl", "r0.x r0.y", "readWrite",
    "global[(R2, R3)]", "shared[R1] + 1", "local[0x4]", "shared[0xc]", "global:0x100000000",
    "shared:0x8", "constant:0x140", "local#3:0x0", "@global:0x100000000 4", "@shared:0x0 99999", "AAECAw==", "indexed",
    "named", "R4", "R0 == 3", "P0",
    "-" * 500 + "1", "+".join(["1"] * 400), "*".join(["99999999999999"] * 60),
)  # fmt: skip
_DATA = ("r0.x r0.y", "o0.x", "x", "R4", "@global:0x100000000 64", "@shared:0x8 4", "c0.x", "c[0x0][0x140]")
_SET = ("r0.x", "r0", "cmp.x", "c0", "i0.x", "b0", "R4", "P0", "shared[0x8]", "global[(R2, R3)] as f32",
        "c[0x0][0x140]")  # fmt: skip
_VALUES = ("1.5", "0x10", "true", "-3", "R4", "r0.y") * 6
_PLACES = ("global:0x100000000", "0x100000000", "shared:0x0", "local#2:0x4", "constant:0x140", "0x5",
           "global:0x7fffffffff")  # fmt: skip


def anything(r: random.Random, depth: int = 0) -> Any:
    """Any value of JSON."""
    kind = r.randrange(12 if depth < 3 else 9)
    if kind == 0:
        return None
    if kind == 1:
        return r.random() < 0.5
    if kind in (2, 3):
        return r.choice((0, 1, 2, 3, 4096, 4097, 8192, r.randrange(100)))
    if kind == 4:
        return r.choice((-1, 2**31, 2**53, 2**64, 10**400, -(10**30), 1e308, -0.5, 1.0))
    if kind in (5, 6, 7):
        return r.choice(_TEXTS)
    if kind == 8:
        return r.choice(_NAMES)
    if kind == 9:
        return [anything(r, depth + 1) for _ in range(r.randrange(4))]
    return {r.choice(_NAMES): anything(r, depth + 1) for _ in range(r.randrange(5))}


def good(r: random.Random, source: str, name: str) -> dict[str, Any]:
    """Arguments that a request could have."""
    return {
        "launch": {"program": source, "block": 8, "args": ["zeros:64"], "at": "b0/t2"} if source.endswith("sass")
        else {"source": source, "inputs": {"v0": [r.random(), 1]}, "uniforms": {"i0": [2, 1, 1]}},
        "setBreakpoints": {"source": {"path": source}, "breakpoints": [
            {"line": r.randrange(16), "condition": r.choice(_TEXTS), "logMessage": r.choice(("", "{r0} {v0.x}"))}]},
        "setInstructionBreakpoints": {"breakpoints": [{"instructionReference": hex(r.randrange(12))}]},
        "setDataBreakpoints": {"breakpoints": [
            {"dataId": r.choice(_DATA), "accessType": r.choice(("read", "write"))}]},
        "setExceptionBreakpoints": {"filters": [r.choice(("nan", "infinity", "unwritten", "store", "load"))]},
        "evaluate": {"expression": r.choice(_TEXTS), "frameId": r.choice((4096, 8192, 12288)),
                     "context": r.choice(("hover", "repl"))},
        "setExpression": {"expression": r.choice(_SET), "value": r.choice((*_TEXTS, *_VALUES))},
        "setVariable": {"variablesReference": r.randrange(20), "name": "r0", "value": "(1, 2, 3, nan)"},
        "variables": {"variablesReference": r.randrange(20), "start": r.randrange(3), "count": r.randrange(5)},
        "scopes": {"frameId": r.choice((4096, 12288))},
        "readMemory": {"memoryReference": r.choice(_PLACES), "offset": r.choice((0, 4, -3)), "count": r.randrange(80)},
        "writeMemory": {"memoryReference": r.choice(_PLACES), "offset": r.randrange(9),
                        "data": r.choice(("AAECAw==", "/w=="))},
        "cancel": {"requestId": r.randrange(PER_SESSION)},
        "disassemble": {"memoryReference": "0x3", "instructionCount": 5, "instructionOffset": r.randrange(-9, 9)},
        "source": {"sourceReference": 1}, "goto": {"threadId": 1, "targetId": r.randrange(30)},
        "gotoTargets": {"source": {"path": source}, "line": r.randrange(16)},
        "breakpointLocations": {"source": {"path": source}, "line": 1, "endLine": 20},
        "dataBreakpointInfo": {"name": r.choice((*_TEXTS, *_PLACES)), "asAddress": r.random() < 0.5,
                               "bytes": r.randrange(9)},
        "completions": {"text": "r0.", "column": r.randrange(5)},
        "restartFrame": {"frameId": r.choice((4096, 4097))},
    }.get(name, {"threadId": r.choice((1, 1, 3)), "singleThread": r.random() < 0.3})  # fmt: skip


def message(r: random.Random, source: str, seq: int) -> bytes:
    """One message."""
    kind = r.random()
    if seq <= len(_BEGIN) and r.random() < 0.95:
        name = _BEGIN[seq - 1]
        begin = {"seq": seq, "type": "request", "command": name, "arguments": good(r, source, name)}
        return json.dumps(begin).encode()
    if kind < 0.06:
        return r.choice((b"", b"{", b"[" * 3000, b'{"a":' * 3000, b"\xff\xfe", b"null", b"[]", b'"x"', b"1" * 5000,
                         b'{"seq": NaN}', bytes(r.randrange(256) for _ in range(40))))  # fmt: skip
    names = [*REQUESTS]
    name = r.choice(names) if r.random() < 0.97 else r.choice(("", "x", "attach"))
    if name in _ENDING and r.random() < 0.9:
        name = r.choice(("stepBack", "reverseContinue", "stepIn", "evaluate", "setVariable"))
    found: dict[str, Any] = {"seq": seq, "type": "request", "command": name, "arguments": good(r, source, name)}
    if kind < 0.4:
        arguments = found["arguments"]
        for _ in range(r.choice((1, 1, 2, 4))):
            arguments[r.choice([*arguments, *_NAMES])] = anything(r)
        for path in ("capture", "program"):  # an attempt to open a file named like a register is no use
            if name == "launch" and r.random() < 0.8:
                arguments.pop(path, None)
    elif kind < 0.45:
        found[r.choice((*found, "x"))] = anything(r)
    elif kind < 0.48:
        del found[r.choice([*found])]
    return json.dumps(found).encode()


class _Checked:
    """An adapter whose answers are looked at."""

    def __init__(self, counts: Counter[str]) -> None:
        self.counts, self.sent = counts, 0
        self.responses: list[dict[str, Any]] = []
        self.adapter = Adapter(self._take)

    def _take(self, data: bytes) -> None:
        found = json.loads(data)
        self.sent += 1
        assert found["seq"] == self.sent, "numbers of messages go up by one"
        if found["type"] == "response":
            self.responses.append(found)
        else:
            self.counts[found["event"]] += 1

    def ask(self, body: bytes | BadFrame) -> None:
        self.responses = []
        self.adapter.hear(body)
        started = time.perf_counter()
        self.adapter.take(body)
        took = time.perf_counter() - started
        assert took < SLOWEST, f"{took:.1f} s for {body!r}"
        assert len(self.responses) == 1, f"{len(self.responses)} responses to {body!r}"
        (found,) = self.responses
        if found["success"]:
            self.counts["good"] += 1
        else:
            self.counts["refused"] += 1
            error = found["body"]["error"]
            assert found["message"] and error["id"] != 3, f"{found['message']} for {body!r}"


def damaged(r: random.Random, bodies: list[bytes]) -> bytes:
    """A stream in which some frames are damaged."""
    found = bytearray()
    for body in bodies:
        frame = framed(body)
        kind = r.random()
        if kind < 0.1:
            frame = frame.replace(b"Content-Length:", r.choice((b"Content-Size:", b"", b"Content-Length: x")))
        elif kind < 0.2:
            frame = frame.replace(b": ", b": " + r.choice((b"9", b"99999999999", b"-", b"\r\n")), 1)
        elif kind < 0.25:
            frame = bytes(r.randrange(256) for _ in range(r.randrange(9000))) + frame
        found += frame
    return bytes(found)


def stream(r: random.Random, source: str, size: int, counts: Counter[str]) -> None:
    """Messages through the framing."""
    data = damaged(r, [message(r, source, n + 1) for n in range(size)])
    at = 0

    def read() -> bytes:
        nonlocal at
        part = data[at : at + r.choice((1, 7, 100, 5000))]
        at += len(part)
        return part

    checked = _Checked(counts)
    for body in Frames(read):
        checked.ask(body)
        counts["framed"] += isinstance(body, bytes)
        counts["skipped"] += isinstance(body, BadFrame)


def run(cases: int, seed: int, first: int = 0) -> Counter[str]:
    """Run `cases` messages, in sessions from number `first` on."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        sources = [Path(folder) / "program.v.pica", Path(folder) / "program.sass"]
        for path, text in zip(sources, (PROGRAM, KERNEL), strict=True):
            path.write_text(text)
        session = first
        while counts["cases"] < cases:
            r = random.Random(f"{seed}/{session}")
            size = min(PER_SESSION, cases - counts["cases"])
            source = str(sources[session % 2])
            if session % 8 >= 6:
                stream(r, source, size, counts)
            else:
                checked = _Checked(counts)
                for n in range(size):
                    checked.ask(message(r, source, n + 1))
            counts["cases"] += size
            session += 1
    return counts


if __name__ == "__main__":
    command(__doc__, run, "messages")
