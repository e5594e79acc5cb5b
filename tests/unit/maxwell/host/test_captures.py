"""The channel on recordings of real drivers: what it counts is what the recordings' index says, to the last word."""

from __future__ import annotations

import json
import re
import zipfile
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest
from support import switch_index

from pocketgpu.maxwell.gm20b import GM20B

CONVENTION = {0: 0xB197, 1: 0xB1C0, 2: 0xA140, 3: 0x902D, 4: 0xB0B5}


def replay(path: Path, **choices: str) -> GM20B:
    """Run a recording to its end on a fresh machine."""
    gpu = GM20B(switches=choices)
    gpu.syncpoints.foreign_reached = True
    with zipfile.ZipFile(path) as archive:
        log = json.loads(archive.read("capture.json"))
        backings: dict[int, Any] = {}
        sizes: dict[int, int] = {}
        for mapping in log["mappings"]:
            size = -(-mapping["size"] // 4096) * 4096
            sizes[mapping["handle"]] = max(sizes.get(mapping["handle"], 0), size)
        live: dict[int, Any] = {}
        total = len(log["submissions"])
        for number, submission in enumerate(log["submissions"]):
            for i, mapping in enumerate(log["mappings"]):
                until = mapping["until_submission"] if mapping["until_submission"] >= 0 else total
                if number == until and i in live:
                    gpu.memory.unmap(live.pop(i))
                if number == mapping["from_submission"]:
                    handle = mapping["handle"]
                    if handle not in backings:
                        backings[handle] = gpu.memory.allocate(sizes[handle])
                    live[i] = gpu.map(mapping["gpu_va"], mapping["size"], backings[handle], 0, mapping["kind"])
            for update in submission["memory_updates"]:
                chunk = log["memory"][update]
                gpu.memory.write(chunk["gpu_va"], archive.read(chunk["file"]))
            gpu.submit([entry["raw"] for entry in submission["gpfifo"]], submission["channel"])
    gpu.finish()
    return gpu


def index_of(folder: Path) -> dict[str, dict[str, Any]]:
    """What INDEX.md says of each recording that it describes in detail."""
    found: dict[str, dict[str, Any]] = {}
    text = (folder / "INDEX.md").read_text(encoding="utf-8")
    for part in re.split(r"^### ", text.partition("## Per capture")[2], flags=re.MULTILINE)[1:]:
        name = part.split("\n", 1)[0].strip()
        entry: dict[str, Any] = {"methods": {}}
        for line in part.splitlines():
            key, _, rest = line.partition(": ")
            if key in ("headers", "counts"):
                # Long lines of the page are cut off.
                entry[key] = {word: int(number) for word, number in re.findall(r"(\w+) (\d+)(?=,|$)", rest)}
            elif key == "macros":
                steps, longest, calls = re.fullmatch(
                    r"(\d+) steps, longest run (\d+); calls per macro: ({.*})", rest
                ).groups()  # type: ignore[union-attr]
                entry |= {"steps": int(steps), "longest": int(longest), "calls": literal_eval(calls)}
            elif match := re.match(r"subchannel (\w+) class 0x(\w+): (\d+) methods, (\d+) distinct", line):
                entry["methods"][match[1]] = int(match[3])
        found[name] = entry
    return found


def recordings() -> list[str]:
    return switch_index.names()


@pytest.fixture(scope="module")
def folder(shared_dir: Path) -> Path:
    return shared_dir / "captures" / "switch"


@pytest.fixture(scope="module")
def index(folder: Path) -> dict[str, dict[str, Any]]:
    return index_of(folder)


@pytest.mark.parametrize("name", recordings() or ["none"])
def test_counts_are_those_of_the_index(name: str, folder: Path, index: dict[str, dict[str, Any]]) -> None:
    gpu = replay(folder / f"{name}.mxcap.zip")
    stats = gpu.stats
    assert stats.unknown_methods == 0
    assert not [event for event in gpu.events if event.id.startswith(("channel.", "mme.", "inline."))]
    # Other sizes of a program differ in nothing that is counted here.
    said = index[re.sub(r"_\d+x\d+$", "", name) + "_320x180"]
    names = {"nop_word_0": stats.nop_words}
    assert said["headers"] == {kind: names.get(kind, stats.headers.get(kind)) for kind in said["headers"]}
    assert stats.macro_steps == said["steps"]
    assert stats.longest_macro == said["longest"]
    assert stats.calls == said["calls"]
    counts = {
        "macro_calls": stats.macro_calls,
        "mme_instruction_words": stats.mme_instruction_words,
        "mme_macros_loaded": stats.mme_macros_loaded,
        "falcon_register_writes": stats.falcon_register_writes,
        "constbuf_words_inline": stats.constbuf_words_inline,
        "inline_uploads": stats.inline_launches,
        "host_syncpt_wait": stats.syncpoint_waits,
        "syncpoint_increments": stats.syncpoint_increments,
        "report_semaphores": stats.semaphores,
        "constbuf_binds": stats.constbuf_binds,
        "draws": stats.draws,
        "clears": stats.clears,
        "dma_copies": stats.copies,
        "compute_launches": stats.launches,
    }
    told = {key: said["counts"][key] for key in counts.keys() & said["counts"].keys()}
    assert {key: counts[key] for key in told} == told and len(told) > 2
    methods = {"host": stats.host_methods}
    methods |= {str(n): count for n, count in enumerate(stats.methods_by_subchannel) if count}
    assert methods == said["methods"]
