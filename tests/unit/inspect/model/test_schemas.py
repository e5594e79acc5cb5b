"""What commands print with --json has the shape of its schema: one file for an id, the same for both consoles."""

from __future__ import annotations

import copy
import itertools
import json
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator as Validator
from referencing import Registry, Resource
from support import recordings

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model import schema, schema_ids

UNIT = Path(__file__).resolve().parents[2]
DATA = Path(pocketgpu.__file__).parent / "data"
PLACES = {
    "3ds": UNIT / "promises" / "data" / "scene_3ds.pgc",
    "switch": UNIT / "promises" / "data" / "scene_switch.pgc",
    "city3ds": DATA / "sample.ctf.xz",
    "city": DATA / "sample_switch.mxcap.zip",
    "bad": DATA / "__init__.py",
    "answers": UNIT / "probe" / "data",
}

# What comes after the name of a command, and the schema of what it prints.
LINES: dict[str, tuple[str, ...]] = {
    "bench": ("bench {3ds} --repeat 1", "bench {switch} --repeat 1"),
    "cache": ("cache info",),
    "capture-minimise": ("capture minimise {3ds} {out}/small.pgc --keep f0 --replays 3",),
    "capture-redact": ("capture redact {3ds} {out}/noise.pgc", "capture redact {switch} {out}/noise.pgc"),
    "capture-repair": ("capture repair {3ds} {out}/whole.pgc", "capture repair {bad} {out}/whole.pgc"),
    "capture-verify": ("capture verify {3ds}", "capture verify {switch}", "capture verify {city}"),
    "doubts": ("doubts {3ds} --choice list.end_match", "doubts {switch} {3ds} --choice texture.filter --frames 0"),
    "check": ("check {3ds}", "check {switch}", "check {city3ds}", "check {city}", "check --list"),
    "convert": ("convert {switch} {out}/again.pgc", "convert {3ds} {out}/again.pgc"),
    "diff": (
        "diff {3ds} {3ds}", "diff {switch} {switch}", "diff {3ds} --switch-b texture.filter=nearest",
        "diff {3ds} {city3ds}", "diff {switch} --switch-b report.release_size=one-word",
    ),
    "doctor": ("doctor",),
    "dump": (
        "dump {3ds} --at f0 --memory 0x18000000:16 --out {out}/bytes.bin",
        "dump {switch} --at f0 --memory 0x500000000:16 --out {out}/bytes.bin",
    ),
    "events": (
        "events {3ds}", "events {switch}", "events {3ds} f0/d1", "events {switch} f0/d1", "events {3ds} f0/e0",
        "events {switch} f0/e0", "events {city3ds} f1", "events {city} f0/e12", "events {3ds} f0/e999",
        "events {3ds} f0 --graph", "events {city} --graph", "events {3ds} --perfetto {out}/trace.json",
    ),
    "image": ("image {out}/raw.bin --format RGBA8 --size 8x8 --out {out}/raw.png",),
    "info": ("info {3ds}", "info {switch}", "info {city3ds}", "info {city}", "info {bad}"),
    "launch": ("launch {bad}",),
    "macro-asm": ("macro asm {out}/one.mme", "macro asm {out}/one.mme --out {out}/one.bin"),
    "macro-dis": ("macro dis {city}",),
    "macro-run": ("macro run {out}/one.mme 5",),
    "probe-make": ("probe make {out} --choice external.hardware_id", "probe make {out} --choice nonsense"),
    "probe-read": ("probe read {answers}", "probe read {out}/none"),
    "regs": (
        "regs", "regs PDC0_FORMAT 0x341", "regs b197", "regs b197 0x674 0x3c", "regs TIC", "regs TSC 0 0 0 0 0 0 0 0",
        "regs 0x1EF00C10 0x01001000", "regs VIEWPORT_WIDTH 0x7f800000", "regs nonsense",
    ),
    "render": (
        "render {3ds} --out {out}", "render {switch} --out {out}", "render {3ds} --expect {out}",
        "render {3ds} --frames 0 --out {out} --animate {out}/film.gif",
    ),
    "state": (
        "state {3ds} f0", "state {3ds} f0/d1", "state {3ds} f0/e0", "state {3ds} f0/d1 --against reset --shaders",
        "state {switch} f0", "state {switch} f0/d1", "state {switch} f0/e0", "state {switch} f0/e3",
        "state {switch} f0/d1 --against reset --shaders", "state {3ds} f1/d0 --mesh {out}/m.obj --target {out}/t.png",
        "state {city3ds} f0/d1", "state {city} f0/e12",
    ),
    "shader-asm": ("shader asm {out}/one.vsh --console 3ds", "shader asm {out}/one.vsh --out {out}/two.shbin"),
    "shader-dis": ("shader dis {out}/one.shbin", "shader dis {bad} {out}/one.shbin"),
    "shader-graph": ("shader graph {out}/one.shbin",),
    "shader-info": ("shader info {out}/one.shbin",),
    "shader-isa": ("shader isa", "shader isa FFMA", "shader isa NONE"),
    "shader-run": ("shader run {out}/one.shbin v0=1",),
    "shader-step": (
        "shader step {3ds} f0/d0/v1", "shader step {switch} f0/d0/v1", "shader step {switch} f0/d0/px8,9",
        "shader step {3ds} f0/d0/v1 --nan",
    ),
    "switches": ("switches",),
    "timing": ("timing", "timing --init power-on", "timing -r PDC0_VTOTAL=494", "timing {city3ds} --at f0"),
    "who": ("who {3ds} 0x18000000", "who {switch} 0x500000000", "who {city3ds} 0x18106800 --size 64 --before f1/e1",
            "who {3ds} 0x20004000 --reads"),
    "why": (
        "why {3ds} f0/px200,160", "why {3ds} f0/px1,1", "why {3ds} f0/bottom/px1,1", "why {3ds} f0/d1",
        "why {3ds} f0/d1/t0", "why {switch} f0/px16,20", "why {switch} f0/d1", "why {switch} f0/d1/px8,9",
        "why {city3ds} f1/px200,120", "why {city3ds} f0/d3", "why {city} f1/px100,50",
        "why {3ds} f0/px1,1 --html {out}/why.html",
    ),
}  # fmt: skip


def thread_of(place: Path) -> str:
    """A thread of the first launch of a recording."""
    run = pocketgpu.debug(pocketgpu.open(place))
    return f"{next(one for one in run.all_events() if one.kind == 'launch').address}/b0,0,0/t1,0,0"


@cache
def validator(id: str) -> Validator:
    """Of a reference to the schema: the parts of the schema of a Validator are listed again at each reference in it."""
    found = schema(id)
    registry = Registry().with_resource(found["$id"], Resource.from_contents(found)).crawl()
    return Validator({"$schema": found["$schema"], "$ref": found["$id"]}, registry=registry)


def wrong(id: str, document: Any) -> list[str]:
    """What is not as the schema says, at most a few."""
    return [f"{error.json_path}: {error.message[:200]}" for error in validator(id).iter_errors(document)][:5]


def inputs(folder: Path) -> None:
    """Files that some lines read."""
    (folder / "raw.bin").write_bytes(bytes(range(256)))
    (folder / "one.mme").write_text("parm r3\nexit send r3\nnop\n")
    (folder / "one.vsh").write_text(".out o0 position\nmain:\nmov o0, v0\nend\n")


def printed(line: str, out: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """What a command line prints with --json; its exit code does not matter here."""
    places = {name: str(path) for name, path in PLACES.items()}
    main([*shlex.split(line.format(out=out, **places)), "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("id", schema_ids())
def test_a_schema_is_one(id: str) -> None:
    found = schema(id)
    assert found["title"] == id and found["$id"] == "urn:" + id.replace(".", ":", 1) and found["description"]
    Validator.check_schema(found)


def test_an_unknown_schema_is_refused() -> None:
    for id in ("pocketgpu.why/1", "pocketgpu.nonsense/1", "pocketgpu.../why/2", "why/2", ""):
        with pytest.raises(UsageError):
            schema(id)


@pytest.mark.parametrize(("command", "line"), [(name, line) for name, lines in LINES.items() for line in lines])
def test_a_command_prints_what_its_schema_says(
    command: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs(tmp_path)
    if "one.shbin" in line:
        printed("shader asm {out}/one.vsh --out {out}/one.shbin", tmp_path, capsys)
    found = printed(line, tmp_path, capsys)
    assert wrong(f"pocketgpu.command.{command}/1", found) == []
    for answer in found.values():
        if isinstance(answer, dict) and "schema" in answer:
            assert wrong(answer["schema"], answer) == []


def test_each_command_with_a_schema_is_tried() -> None:
    assert {f"pocketgpu.command.{name}/1" for name in LINES} == {id for id in schema_ids() if ".command." in id}


@pytest.mark.parametrize("place", ["3ds", "switch", "city"])
def test_lines_of_decode(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["decode", str(PLACES[place]), "f0", "--json"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) > 100
    several = lines[:200] + lines[200 :: max(len(lines) // 200, 1)]
    assert [text for line in several for text in wrong("pocketgpu.decode/1", line)] == []


@pytest.mark.parametrize("place", ["3ds", "switch"])
def test_a_moment_as_plain_data(place: str) -> None:
    run = pocketgpu.debug(pocketgpu.open(PLACES[place]))
    for address in ("f0", "f0/d1", "f0/e0"):
        found = run.seek(address).to_json()
        assert wrong(found["schema"], found) == [] and bool(found["registers"]) == (address != "f0/e0")


def test_threads_of_a_launch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    thread = thread_of(PLACES["switch"])
    found = printed(f"why {{switch}} {thread}", tmp_path, capsys)
    assert found["why"]["schema"] == "pocketgpu.thread/1" and found["why"]["instructions"]
    assert wrong("pocketgpu.command.why/1", found) == []
    steps = printed(f"shader step {{switch}} {thread}", tmp_path, capsys)
    assert wrong("pocketgpu.command.shader-step/1", steps) == [] and steps["trace"]["steps"]


# Schemas are strict: what is missing, added or of another type is found.


def changes(document: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Places of objects in a document, with one of their keys each."""
    for key, value in document.items() if isinstance(document, dict) else enumerate(document[:1]):
        if isinstance(document, dict):
            yield path, key
        if isinstance(value, dict | list):
            yield from changes(value, (*path, key))


@pytest.mark.parametrize("line", ["why {3ds} f0/px200,160", "why {switch} f0/px16,20", "why {3ds} f0/d1"])
def test_another_shape_is_found(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = printed(line, tmp_path, capsys)["why"]
    free = {"values", "facts", "settings", "more"}
    places = [(path, key) for path, key in changes(answer) if not free & set(path)]
    assert len(places) > 20
    for (path, key), change in zip(places, itertools.cycle(("missing", "added", "type"))):
        other = copy.deepcopy(answer)
        at = other
        for part in path:
            at = at[part]
        if change == "missing":
            del at[key]
        elif change == "added":
            at["something"] = at[key]
        else:
            at[key] = 1.5
        assert not validator(answer["schema"]).is_valid(other), (path, key, change)


# Recordings of other programs.

FOUND = sorted([*recordings.n3ds().glob("*.ctf*"), *recordings.switch().glob("*320x180*.zip")])


@pytest.mark.skipif(not FOUND, reason=recordings.REASON)
@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_answers_of_recordings(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = pocketgpu.debug(pocketgpu.open(path))
    events = list(run.all_events())
    draws = [one for one in events if one.draw is not None]
    places = {str(one.address) for one in draws[:1] + draws[-1:]} | {f"f{events[-1].frame}/px100,100"}
    lines = [f"why {path} {place}" for place in sorted(places)] + [f"state {path} {one.address}" for one in draws[-1:]]
    lines += [f"why {path} {one.address}/b0,0,0/t0,0,0" for one in events if one.kind == "launch"][:1]
    for line in lines:
        name = line.split()[0]
        found = printed(line, tmp_path, capsys)
        assert "error" not in found or name == "why", line
        assert wrong(f"pocketgpu.command.{name}/1", found) == [], line
