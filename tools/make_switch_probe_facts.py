"""Writes probe/switch/facts.h: the numbers that the probe of the Switch takes from our tables, so none is typed twice.

    python tools/make_switch_probe_facts.py

A test compares the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE / "src")]

from pocketgpu.builder.values import encode_register  # noqa: E402
from pocketgpu.capture.formats.pgc import numbers as F  # noqa: E402
from pocketgpu.facts.maxwell import B06F, B197  # noqa: E402
from pocketgpu.facts.maxwell.pushbuffers import ENTRY, FORMS, HEADER  # noqa: E402
from pocketgpu.facts.switch import TABLES  # noqa: E402
from pocketgpu.facts.switch.nvdrv import REQUEST, REQUESTS, MapFlag, SubmitFlag  # noqa: E402
from pocketgpu.probe.consoles.switch import prepare  # noqa: E402
from pocketgpu.probe.files.sent import MOST_RANGES  # noqa: E402

OUTPUT = HERE / "probe" / "switch" / "facts.h"
USED = (
    "Create", "Alloc", "GetId", "Free", "InitializeEx", "AllocSpace", "MapBufferEx", "UnmapBuffer", "BindChannel",
    "SetNvmapFd", "AllocGpfifoEx2", "AllocObjCtx", "SetErrorNotifier", "SetPriority", "KickoffPb",
    "GetErrorNotification", "SyncptRead",
)  # fmt: skip
"""Requests to nvdrv."""
LIMITS = (
    "MOST_ENTRIES", "MOST_SYNCPOINTS", "MOST_CHANNELS", "MOST_MAPS", "MOST_HANDLES", "MOST_SPACES", "MOST_FILE",
    "BIG_PAGE", "SMALL_PAGE",
)  # fmt: skip
KEYWORDS = ("class",)
DIRECTIONS = {row["record"]: row["direction"] for row in TABLES.read("nvdrv") if row["device"]}
"""Whether a program writes a request's record (w), reads it (r), or both."""


def record(name: str) -> str:
    """A request's record as a structure, and its word."""
    one = next(request for request in REQUESTS.values() if request.name == name)
    at, lines = 0, []
    for field in sorted(one.layout.fields.values(), key=lambda field: field.offset):
        if at < field.offset:
            lines.append(f"u8 pad_{at:x}[{field.offset - at}];")
        count = f"[{field.count}]" if field.count > 1 else ""
        lines.append(f"{field.kind} {field.name}{'_' if field.name in KEYWORDS else ''}{count};")
        at = field.offset + int(field.kind[1:]) // 8 * field.count
    if at < one.layout.size:
        lines.append(f"u8 pad_{at:x}[{one.layout.size - at}];")
    word = one.number | one.layout.size << REQUEST["size"].lo
    word |= ("w" in DIRECTIONS[name]) << REQUEST["writes"].lo | ("r" in DIRECTIONS[name]) << REQUEST["reads"].lo
    check = f'_Static_assert(sizeof(struct {name}) == {one.layout.size}, "");'
    return f"struct {name} {{ {' '.join(lines)} }} __attribute__((packed));\n{check}\n#define NV_{name} 0x{word:08X}u"


def everything() -> Iterator[str]:
    """The lines of the header."""
    yield "/* Made by tools/make_switch_probe_facts.py from src/pocketgpu/facts. Do not change it by hand. */"
    yield "#pragma once"
    yield '#include "../common/base.h"'
    yield f"#define PICTURES_COVERED 0x{F.PICTURES_COVERED:X}u"
    yield from map(record, USED)
    for flag in (MapFlag.FIXED, SubmitFlag.INCREMENTS):
        yield f"#define NV_{flag.name} 0x{flag.value:X}u"
    yield f"#define CLASS_3D 0x{B197.class_id:X}u"
    yield f"#define METHODS 0x{HEADER['SEC_OP'].encode(FORMS.number('INC_METHOD')):08X}u"
    yield f"#define METHOD_COUNT_SHIFT {HEADER['COUNT'].lo}"
    for name in ("WFI", "MEM_OP_B", "SYNCPOINTA", "SYNCPOINTB"):
        yield f"#define HOST_{name} 0x{B06F[name].word:X}u"
    operation = B06F["MEM_OP_D"]["OPERATION"]  # the older method has them at the same place
    assert (operation.lo, operation.width) == (B06F["MEM_OP_B"]["OPERATION"].lo, B06F["MEM_OP_B"]["OPERATION"].width)
    for name in ("L2_SYSMEM_INVALIDATE", "L2_FLUSH_DIRTY"):
        yield f"#define {name} 0x{operation.encode(operation.values.number(name)):08X}u"
    increment = encode_register(B06F["SYNCPOINTB"], {"OPERATION": "INCR", "SYNCPT_INDEX": 0})
    yield f"#define HOST_INCREMENT 0x{int(increment):X}u"
    yield f"#define HOST_INDEX_SHIFT {B06F['SYNCPOINTB']['SYNCPT_INDEX'].lo}"
    yield f"#define ENTRY_LENGTH_SHIFT {ENTRY['LENGTH'].lo}"
    yield f"#define ENTRY_SUBROUTINE 0x{ENTRY['LEVEL'].encode(ENTRY['LEVEL'].values.number('SUBROUTINE')):X}ull"
    for name in LIMITS:
        yield f"#define {name} 0x{getattr(prepare, name):X}u"
    yield f"#define MOST_RANGES 0x{MOST_RANGES:X}u"
    for name, letter in prepare.LETTERS.items():
        yield f"#define WORD_{name} '{letter}'"


if __name__ == "__main__":
    OUTPUT.write_text("\n".join(everything()) + "\n", encoding="utf-8")
