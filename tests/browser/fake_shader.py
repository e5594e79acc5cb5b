"""Made-up answers about a long trace: 100,000 steps through a program of 300 instructions, round and round.

Every step writes its own number into R1. A NaN appears at steps 500 and 90,000, which run instructions 200 and 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

STEPS, INSTRUCTIONS = 100_000, 300
NANS = (500, 90_000)
MARKUP = "<img src=x onerror=document.title='broken'>"
_MOST = 1000


def _programs(given: dict[str, str]) -> Any:
    at = given["at"]
    if "/px" in at and "/d" not in at:
        return {"programs": [{"program": f"pixel program {MARKUP}", "address": "f0/d2/px5,6", "parts": []}]}
    place = "/".join(at.split("/")[:2])
    runs = [
        {"program": f"vertex program {MARKUP}", "address": f"{place}/v{n}", "parts": []}
        for n in (3, 4, 5) if "/px" in at
    ]  # fmt: skip
    parts = {"vertex program": ("v", "vertex", [24]), "pixel program": ("px", "pixel", [40, 24])}
    return {"programs": [
        {"program": name, "address": place, "parts": [{"letter": letter, "name": what, "limits": limits}]}
        for name, (letter, what, limits) in parts.items()
    ] + runs}  # fmt: skip


def _run(at: str) -> str:
    head, _, last = at.rpartition("/")
    return head if last.startswith("s") else at


def _trace(given: dict[str, str]) -> Any:
    return {
        "address": _run(given["at"]), "program": "vertex program", "lane": f"vertex {MARKUP}", "title": "a trace",
        "steps": STEPS, "instructions": INSTRUCTIONS, "cut": "", "hung": False, "touched": ["R1", "r0.x", "r0.y"],
        "births": {"nan": len(NANS), "infinite": 0}, "first": {"nan": {"step": NANS[0], "text": "R1 became nan"}},
    }  # fmt: skip


def _window(given: dict[str, str]) -> tuple[int, int]:
    return int(given["first"]), min(int(given["count"]), _MOST)


def _code(given: dict[str, str]) -> Any:
    first, count = _window(given)
    rows = [
        [n, f"{8 * n:#06x}", f"INSTRUCTION {n} {MARKUP}", len(range(n, STEPS, INSTRUCTIONS)),
         next((step for step in NANS if step % INSTRUCTIONS == n), None), None,
         {"file": "a.glsl", "line": n + 1, "text": f"line {MARKUP}"} if n < 5 else None]
        for n in range(first, min(first + count, INSTRUCTIONS))
    ]  # fmt: skip
    return {"first": first, "instructions": INSTRUCTIONS, "columns": [], "rows": rows}


def _steps(given: dict[str, str]) -> Any:
    first, count = _window(given)
    rows = [
        [n, n % INSTRUCTIONS, f"{8 * (n % INSTRUCTIONS):#06x}", f"INSTRUCTION {n % INSTRUCTIONS}", f"R1 {n} {MARKUP}"]
        for n in range(first, min(first + count, STEPS))
    ]
    return {"first": first, "steps": STEPS, "columns": [], "rows": rows}


def _value(register: str, number: int) -> dict[str, Any]:
    return {"register": register, "kind": "i32", "word": f"{number:#010x}", "shown": str(number)}


def _step(given: dict[str, str]) -> Any:
    step = int(given["step"])
    written = step - 1 if step else None
    registers: list[Any] = [
        ["R1", "i32", f"{max(step - 1, 0):#010x}", str(max(step - 1, 0)), written],
        ["R2", "bits", "0x3f800000", "0x3f800000", None],
        ["r0.x", "f32", "0x3f800000", "1", 3 if step > 3 else None], ["r0.y", "f32", "0x40000000", "2", None],
    ]  # fmt: skip
    found = {"step": step, "columns": [], "registers": registers}
    if step == STEPS:
        return found
    number = step % INSTRUCTIONS
    return found | {
        "number": number, "address": f"{8 * number:#06x}", "text": f"INSTRUCTION {number}", "line": None, "flow": "",
        "skipped": False, "lanes": "0x0000000f", "notes": [],
        "births": [{"kind": "nan", "text": f"R1 became nan: step {step}"}] if step in NANS else [],
        "reads": [{**_value("R1", max(step - 1, 0)), "written": written}],
        "writes": [{"before": _value("R1", max(step - 1, 0)), "after": _value("R1", step)}],
        "accesses": [{"text": f"load 4 bytes of global memory at 0x10: {MARKUP}"}], "emitted": None,
    }  # fmt: skip


def _find(given: dict[str, str]) -> Any:
    start, forward = int(given["step"]), given["way"] == "next"
    if given["of"] == "visit":
        numbers = {int(part) for part in given["numbers"].split(",")}
        found = (n for n in range(STEPS) if n % INSTRUCTIONS in numbers)
    else:
        found = iter(NANS)
    near = [n for n in found if (n > start if forward else n < start)]
    return {"step": (near[0] if forward else near[-1]) if near else None}


def _flow(given: dict[str, str]) -> Any:
    del given
    block = {"hangs": False, "last_text": f"BRA {MARKUP}"}
    rows = [
        (0, 99, [(1, "jump", 300), (2, "next", 34)]), (100, 199, [(2, "next", 0)]), (200, 299, [(0, "jump", 333)]),
    ]  # fmt: skip
    blocks = [
        block | {"first": first, "last": last, "hits": 334 if number != 1 else 300,
                 "address": f"{8 * first:#06x}", "end": f"{8 * last:#06x}",
                 "edges": [{"to": to, "kind": kind, "when": "", "taken": taken} for to, kind, taken in edges]}
        for number, (first, last, edges) in enumerate(rows)
    ]  # fmt: skip
    return {"blocks": blocks, "total": 401, "most": 400}


ANSWERS: dict[str, Callable[[dict[str, str]], Any]] = {
    "programs": _programs, "trace": _trace, "trace_code": _code, "trace_steps": _steps, "trace_step": _step,
    "trace_find": _find, "trace_flow": _flow,
}  # fmt: skip
