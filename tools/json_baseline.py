"""Keeps the JSON of every command in a folder, and compares it with what the commands print later.

    python tools/json_baseline.py record FOLDER [CAPTURE ...]
    python tools/json_baseline.py compare FOLDER [CAPTURE ...]

`record` runs the commands on the two samples of the package and on the captures that are named, and writes a file for
each of them into FOLDER. `compare` runs the commands of these files again and prints the places of the JSON, and the
exit codes, that differ; without captures it takes all files of the folder whose captures it finds. It ends with 1
if anything differs. What depends on the time or on the computer is masked: milliseconds, versions, folders.

The addresses in a capture are chosen from its events when it is recorded, and kept in the file. A capture
takes some minutes. PYTHONPATH selects the version of the package that runs:
`PYTHONPATH=OTHER/src python tools/json_baseline.py record FOLDER`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import lzma
import os
import re
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "src"))

import pocketgpu  # noqa: E402
from pocketgpu.cli import main as pocketgpu_main  # noqa: E402

SUFFIX = ".json.xz"
GENERAL = "general"
SAMPLES = ("sample.ctf.xz", "sample_switch.mxcap.zip")
SHOWN = 12
"""How many differing places of a command are printed."""

MASKED = re.compile(r"(milli)?seconds|milliseconds_\w+|phases|\w+_per_second|version|python|platform|processor|folder")
"""Keys whose values depend on the time or the computer."""
MASKED_IN = {
    "doctor": {"text", "detail", "value", "message", "entries", "bytes"},
    "cache": {"folder", "files", "bytes", "entries", "other", "used", "path", "size"},
}

VERTEX = (
    ".out o0 position\n.out o1 color\nmain:\nmul r0, c0, v0\nifc cmp.x\nadd r0, r0, v1\nnop\nendif\nmov o0, r0\nend\n"
)
NAN = ".out o0 position\nmain:\nrsq r0, -v0.x\nmul o0, r0, v1\nend\n"
CODE = "S2R R0, SR_TID.X\nISETP.GT.AND P0, PT, R0, RZ, PT\n@P0 BRA `(out)\nFFMA R1, R2, R3, R1\nout:\nEXIT\n"
MACRO = "parm r2 maddr r1\nagain:\nmov r2, r2 - 1\nbnz r2, again\nmov r3, add(r1, 1)\nexit send r3\nnop\n"
FILES = {"vertex.v.pica": VERTEX, "nan.v.pica": NAN, "code.sass": CODE, "macro.mme": MACRO, "bad.ctf": "no capture"}

# Commands without a capture. {out} is a new folder for each run, with FILES.
WITHOUT_CAPTURE = """
    demo --out {out}/demo
    demo --console switch --out {out}/demo
    switches
    doctor
    cache info
    check --list
    timing
    timing -r PDC0_VTOTAL=494
    timing -r PDC0_VTOTAL=494 --screen top --set display.latch=vblank
    timing --init nngx --screen top --svg {out}/scan.svg
    timing --init top-wide
    timing --init top-stereo
    timing --init nothing
    regs
    regs TEXUNIT0_DIM
    regs GPUREG_TEXUNIT0_DIM 0x00400040
    regs TEXUNIT0_DIM.height 0x00400040
    regs 0x10400C10 0x01001000
    regs 0x1EF01208
    regs 0x082
    regs 0x000F0110
    regs border color
    regs --unknown
    regs COLORBUFFER_FORMAT 0x00020001
    regs LIGHTING_CONFIG0 0xFFFFFFFF
    regs PDC0_STATUS 0x12345678
    regs b197
    regs b197 CLEAR_SURFACE
    regs b197 0x674 0x3c
    regs b197 0x360
    regs b197 0x200406C0
    regs RenderTarget3Addr
    regs dma 0xc0 0x586
    regs b1c0 SEND_PCAS_A 0x1234
    regs 902d 0x200
    regs host SYNCPOINTB 0x101
    regs tic 0x2d8 0 0x600000 0 0x4ff 0 0 0
    regs tsc 1 2 3 4 5 6 7 8
    regs qmd
    regs sph
    regs gpfifo 0x1000 0x80000400
    regs nothing-of-this-name
    shader isa FFMA
    shader isa TEXS
    shader isa nothing
    shader asm {out}/vertex.v.pica --out {out}/vertex.shbin
    shader asm {out}/nan.v.pica --out {out}/nan.shbin
    shader asm {out}/code.sass --out {out}/code.bin
    shader info {out}/vertex.shbin
    shader dis {out}/vertex.shbin
    shader dis {out}/code.bin --kind maxwell
    shader dis {out}/code.bin --kind maxwell --control
    shader info {out}/code.bin --kind maxwell
    shader graph {out}/vertex.shbin
    shader graph {out}/code.bin --kind maxwell
    shader run {out}/vertex.shbin v0=1,2,3 v1=4,5,6,7 c0=0.5,0.25,2,1
    shader step {out}/vertex.shbin v0=1,2,3 c0=0.5,0.25,2,1
    shader step {out}/nan.shbin v0=1,2,3 --nan
    shader dis {out}/bad.ctf
    macro asm {out}/macro.mme --out {out}/macro.bin
    macro dis {out}/macro.bin
    macro run {out}/macro.mme 0x1680 3 0x1111
    macro run {out}/macro.mme 0x1680 3 --steps 4
    macro run {out}/macro.mme 0x1680 3 --state SET_CT_WRITE(0)=1
    info {out}/bad.ctf
    info {out}/missing.ctf
    info
    render
    nonsense
    image {out}/macro.bin --format RGBA8 --size 1x1 --layout linear --out {out}/image.png
    image {out}/macro.bin --format NONE --size 1x1 --out {out}/image.png
    decode {out}/macro.bin --as pica --base 0x20000000
    decode {out}/macro.bin --as pushbuffer --no-garbage
    decode {out}/macro.bin --as gx --strict
    decode {out}/macro.bin --as pica --base 0x20000001
"""

# Commands with any capture.
WITH_ANY = """
    info {capture}
    check {capture}
    check {capture} --no-notes
    check {capture} --skip doubt --skip switch.doubt
    events {capture}
    events {capture} f99999
    why {capture} f0/d9999
    why {capture} f0/nonsense
    who {capture} 0x10
    render {capture} --out {out}/pictures --frames 99999
    render {capture} --out {out}/nearest --set nothing=1
    render {capture} --out {out}/all --frames 0-1 --layout both
    render {capture} --animate {out}/all.png --frames 0-1
    bench {capture} --repeat 1
    decode {capture} f9999
    diff {capture} {capture} --frame 0
    convert {capture} {out}/converted.pgc --packing zstd
    capture verify {out}/converted.pgc
    capture verify {capture}
    capture minimise {out}/converted.pgc {out}/small.pgc --keep f0 --replays 3
    capture redact {out}/converted.pgc {out}/hidden.pgc
    capture repair {out}/converted.pgc {out}/repaired.pgc
    info {out}/converted.pgc
"""
# Commands with a frame of it ({frame}, a number).
WITH_FRAME = """
    events {capture} f{frame}
    events {capture} f{frame} --draws
    events {capture} f{frame}/p0
    events {capture} f{frame}/e0
    state {capture} f{frame}
    state {capture} f{frame} --against reset
    diff {capture} --frame {frame} --evaluator-b llvm --switch-b texture.filter=nearest
    render {capture} --out {out}/pictures --frames {frame}
    render {capture} --out {out}/nearest --frames {frame} --set texture.filter=nearest
    render {capture} --expect {out}/nearest --frames {frame} --junit {out}/results.xml --report {out}/report
    decode {capture} f{frame} --changed
    decode {capture} f{frame}/d0
    decode {capture} f{frame}/d0..d2 --changed --words
"""
WITH_3DS = """
    timing {capture} --at f{frame}
    dump {capture} --at f{frame} --memory 0x18000000:0x100 --out {out}/bytes.bin
    dump {capture} --at f{frame} --memory 0x100:4 --out {out}/bytes.bin
    who {capture} 0x18000000 --size 4
    why {capture} f{frame}/px200,120
    why {capture} f{frame}/px10,230
    why {capture} f{frame}/px399,0
    why {capture} f{frame}/bottom/px160,120
    why {capture} f{frame}/px400,0
    decode {capture} f{frame} --filter TEXENV* --filter *.width
    decode {capture} --filter 0x040 --filter TEXUNIT0_DIM.width=64
    check {capture} --rule transfer.* --rule list.*
    diff {capture} --frame {frame} --switch-b shader.precision=f24
"""
WITH_SWITCH = """
    macro dis {capture}
    dump {capture} --at f{frame} --memory 0x500000000:64 --out {out}/bytes.bin
    why {capture} f{frame}/px160,90
    why {capture} f{frame}/px60,30
    why {capture} f{frame}/px0,0
    why {capture} f{frame}/px9999,0
    decode {capture} f{frame} --filter SET_SCISSOR*
    decode {capture} f{frame} --filter SET_COLOR_TARGET_A --macros
    check {capture} --rule switch.*
"""
# Commands with a draw ({draw}, such as f0/d3).
WITH_DRAW = """
    events {capture} {draw}
    why {capture} {draw}
    why {capture} {draw}/px8,9
    why {capture} {draw}/px100,60
    state {capture} {draw} --shaders --textures {out}/textures --mesh {out}/mesh.glb --vertices {out}/vertices.npz
    state {capture} {draw} --against reset --target {out}/target.png --mesh {out}/mesh.obj --space clip
    shader step {capture} {draw}/v1
    shader step {capture} {draw}/v0 --nan
    decode {capture} {draw} --changed
    capture minimise {out}/converted.pgc {out}/draw.pgc --keep {draw} --replays 2
    why {capture} {draw}/t0
    why {capture} {draw}/t99999
"""
# Commands with another event ({event}, such as f0/e12).
WITH_EVENT = """
    events {capture} {event}
    state {capture} {event}
"""
WITH_LAUNCH = """
    why {capture} {event}/b0,0,0/t1,0,0
    why {capture} {event}/b999,0,0/t0,0,0
    shader step {capture} {event}/b0,0,0/t1,0,0
    state {capture} {event} --shaders
"""


def lines(text: str, **words: object) -> list[str]:
    """The commands of a table; {capture} and {out} stay until they run."""
    places = {"capture": "{capture}", "out": "{out}", **words}
    return [line.strip().format(**places) for line in text.splitlines() if line.strip()]


def commands_for(path: Path) -> list[str]:
    """Commands about a capture: two frames out of its events, three draws of each, an event of each kind."""
    capture = pocketgpu.open(path)
    run = pocketgpu.debug(capture)
    found = lines(WITH_ANY)
    of_console = WITH_3DS if capture.console == "3DS" else WITH_SWITCH
    for frame in sorted({0, capture.frame_count // 2}):
        found += lines(WITH_FRAME, frame=frame) + lines(of_console, frame=frame)
        events = run.events(frame)
        draws = [event for event in events if event.kind == "draw"]
        for event in {draws[at].draw: draws[at] for at in (0, len(draws) // 2, -1) if draws}.values():
            found += lines(WITH_DRAW, draw=event.address)
            for range_ in event.writes[:1]:
                found += [f"who {{capture}} {range_.address:#x} --size 4 --before {event.address}"]
        for event in {event.kind: event for event in events if event.kind != "draw"}.values():
            found += lines(WITH_EVENT, event=event.address)
            if event.kind == "launch":
                found += lines(WITH_LAUNCH, event=event.address)
            if event.writes and event.kind in ("clear", "copy", "fill", "launch", "transfer"):
                found += [f"who {{capture}} {event.writes[0].address:#x} --size 16"]
    return list(dict.fromkeys(found))


def run_command(command: str, capture: Path | None, out: Path) -> dict[str, Any]:
    """Run one command in this process; returns its exit code and its masked output."""
    words = [word.format(capture=capture, out=out) for word in shlex.split(command)]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        code = pocketgpu_main([*words, "--json"])
    text = said.getvalue()
    places = {str(out): "OUT", str(Path(str(files("pocketgpu"))) / "data"): "DATA"}
    if capture is not None:
        places[str(capture.parent)] = "CAPTURES"
    for place, name in places.items():
        text = text.replace(place, name)
    text = re.sub(r"pocketgpu \d+\.\d+\.\d+\w*", "pocketgpu VERSION", text)
    group = words[0]
    return {"command": command, "code": code, "said": [masked(one, group) for one in documents(text)]}


def documents(text: str) -> list[Any]:
    """One JSON object, or JSON lines."""
    if not text.strip():
        return []
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def masked(value: Any, group: str) -> Any:
    """The same without what differs from run to run."""
    if isinstance(value, dict):
        hidden = MASKED_IN.get(group, set())
        return {
            key: "..." if MASKED.fullmatch(key) or key in hidden else masked(one, group) for key, one in value.items()
        }
    return [masked(one, group) for one in value] if isinstance(value, list) else value


def run_all(commands: list[str], capture: Path | None) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder).resolve()
        for name, text in FILES.items():
            (out / name).write_text(text)
        for command in commands:
            yield run_command(command, capture, out)


# Comparing


def differences(a: Any, b: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two values differ: path, the old value, the new one; "absent" where one side has none."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            yield from differences(a.get(key, "absent"), b.get(key, "absent"), f"{place}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for number, (one, other) in enumerate(zip(a, b, strict=True)):
            yield from differences(one, other, f"{place}[{number}]")
    elif a != b or type(a) is not type(b):
        yield place or ".", a, b


def shortened(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def compare(name: str, capture: Path | None, kept: list[dict[str, Any]]) -> int:
    """Run the commands of one file again and print what differs; returns how many commands do."""
    wrong = 0
    patterns: Counter[str] = Counter()
    for old, new in zip(kept, run_all([one["command"] for one in kept], capture), strict=True):
        group = old["command"].split()[0]
        found = list(differences(masked(old["said"], group), new["said"]))  # masked again: the rules may have grown
        if old["code"] != new["code"]:
            found.insert(0, ("exit code", old["code"], new["code"]))
        if found:
            wrong += 1
            print(f"{name}: pocketgpu {old['command']}")
            for place, a, b in found[:SHOWN]:
                print(f"    {place}: {shortened(a)} -> {shortened(b)}")
            if len(found) > SHOWN:
                print(f"    ... {len(found) - SHOWN} more places")
            patterns.update({re.sub(r"\[\d+\]", "[]", place) for place, _, _ in found})
    print(f"{name}: {len(kept) - wrong} of {len(kept)} commands say the same", flush=True)
    for place, count in patterns.most_common(SHOWN):
        print(f"    {place} in {count}")
    return wrong


# Files


def read(path: Path) -> dict[str, Any]:
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        kept: dict[str, Any] = json.load(stream)
    return kept


def record(folder: Path, name: str, capture: Path | None) -> None:
    commands = lines(WITHOUT_CAPTURE) if capture is None else commands_for(capture)
    said = list(run_all(commands, capture))
    with lzma.open(folder / f"{name}{SUFFIX}", "wt", encoding="utf-8") as stream:
        json.dump({"capture": str(capture or ""), "said": said}, stream, indent=1)
    codes = Counter(one["code"] for one in said)
    print(f"{name}: {len(said)} commands, exit codes {dict(sorted(codes.items()))}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["record", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("captures", nargs="*", type=Path)
    options = parser.parse_args()
    os.environ.pop("POCKETGPU_DEBUG", None)
    data = Path(str(files("pocketgpu"))) / "data"
    places: dict[str, Path | None] = {GENERAL: None, **{name: data / name for name in SAMPLES}}
    if options.what == "record":
        options.folder.mkdir(parents=True, exist_ok=True)
        for name, path in {**places, **{path.name: path.resolve() for path in options.captures}}.items():
            record(options.folder, name, path)
        return
    named = {path.name: path.resolve() for path in options.captures}
    wrong = 0
    for file in sorted(options.folder.glob(f"*{SUFFIX}")):
        name, kept = file.name.removesuffix(SUFFIX), read(file)
        path = named.get(name, places.get(name, Path(kept["capture"])))
        if (options.captures and name not in named) or (path is not None and not path.is_file()):
            print(f"{name}: left out")
            continue
        wrong += compare(name, path, kept["said"])
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
