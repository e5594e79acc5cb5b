"""Examples of every command, which its --help shows last. Tests run all of them."""

from __future__ import annotations

from typing import Final

import click

EXAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "demo": ("demo", "demo --console switch --out frames"),
    "run": (
        "run app.3dsx --frames 60 --out pictures",
        "run app.3dsx --until 'the end' --text --press A@30-32",
        "run app.3dsx --frames 60 --record app.pgc",
    ),
    "render": (
        "render scene.ctf.xz --out pictures --frames 0-1",
        "render scene.ctf.xz --animate scene.gif --layout both",
        "render scene.ctf.xz --expect pictures --junit results.xml",
    ),
    "convert": ("convert scene.ctf.xz scene.pgc",),
    "capture verify": ("capture verify scene.pgc",),
    "capture repair": ("capture repair scene.pgc repaired.pgc",),
    "capture minimise": ("capture minimise scene.pgc frame.pgc --keep f3 --replays 40",),
    "capture redact": ("capture redact scene.pgc shared.pgc",),
    "bench": ("bench scene.ctf.xz --repeat 5",),
    "info": ("info scene.ctf.xz", "info scene.mxcap.zip --json"),
    "view": ("view scene.ctf.xz", "view scene.pgc f1/d3"),
    "sweep": (
        "sweep scene.ctf.xz scene.mxcap.zip --do render --out before --workers 2",
        "sweep '**/scene.*' --do render --out after --baseline before --frames 0-1",
    ),
    "events": ("events scene.ctf.xz f1", "events scene.ctf.xz f1/d3"),
    "why": ("why scene.ctf.xz f1/px200,120", "why scene.ctf.xz f1/d3", "why scene.ctf.xz f1/d3/t5"),
    "decode": (
        "decode scene.ctf.xz f1/d3..d5 --changed",
        "decode scene.ctf.xz f1 --filter 'TEXENV*'",
        "decode fcram.bin --as pica --base 0x20000000 --no-garbage",
    ),
    "doubts": (
        "doubts scene.ctf.xz --frames 0-2 --choice combiner.vertex_color",
        "doubts scene.mxcap.zip --choice texture.fraction --html a.html",
    ),
    "probe make": ("probe make card --choice test.stencil_write", "probe make card scene.pgc --frame 1"),
    "probe read": ("probe read card/pocketgpu-probe --evidence evidence.tsv",),
    "check": ("check scene.ctf.xz", "check scene.ctf.xz --rule 'transfer.*' --junit results.xml", "check --list"),
    "diff": ("diff scene.ctf.xz other.ctf.xz", "diff scene.ctf.xz --switch-b shader.precision=f24 --frame 0"),
    "state": ("state scene.ctf.xz f1/d3", "state scene.ctf.xz f1/d3 --shaders --mesh draw.glb --against f1/d1"),
    "who": ("who scene.ctf.xz 0x1802fc54 --size 4", "who scene.ctf.xz 0x1802fc54 --size 4 --before f0/e34"),
    "dump": ("dump scene.ctf.xz --at f0 --memory 0x18000000:384000 --out target.bin",),
    "image": (
        "image vram.bin --format RGBA8 --size 240x400 --upright --out target.png",
        "image target.png --format ETC1 --out target.bin",
    ),
    "regs": ("regs 0x10400C10 0x01001000", "regs border color", "regs b197 CLEAR_SURFACE"),
    "timing": ("timing -r PDC0_VTOTAL=494", "timing scene.ctf.xz --at f0 --screen top"),
    "dap": ("dap --log dap.log",),
    "launch": (
        "launch kernel.cubin --grid 4 --block 64 --arg 'inout:data.bin>out.bin'",
        "launch squares.sass --grid 2 --block 32 --arg 'zeros:160>out.bin' --arg u32:40",
        "launch squares.bin --header squares.txt --block 32 --arg zeros:160 --arg u32:32",
    ),
    "macro asm": ("macro asm fill.mme --out fill.bin",),
    "macro dis": ("macro dis scene.mxcap.zip --macro 0",),
    "macro run": ("macro run fill.mme 0x1680 3 0x1111",),
    "shader dis": ("shader dis vertex.shbin", "shader dis kernel.cubin --control"),
    "shader asm": ("shader asm kernel.sass --out kernel.bin",),
    "shader info": ("shader info kernel.cubin",),
    "shader graph": ("shader graph kernel.cubin --out flow.dot",),
    "shader isa": ("shader isa FFMA",),
    "shader run": ("shader run vertex.shbin v0=1,2,3 c8=1,1,1,1",),
    "shader step": ("shader step scene.ctf.xz f1/d3/v5", "shader step vertex.shbin v0=1,2,3",
        "shader step squares.sass --block 32 --arg zeros:160 --arg u32:32 --at b0/t3"),
    "lsp": ("lsp", "lsp --port 4711"),
    "switches": ("switches",),
    "doctor": ("doctor",),
    "cache info": ("cache info",),
    "cache clear": ("cache clear",),
    "cache make": ("cache make --seconds 1",),
    "completion show": ("completion show bash",),
    "completion install": ("completion install bash",),
}
"""Command -> lines, without the name of the program. scene.ctf.xz, scene.mxcap.zip and so on are the reader's files."""


def add_examples(command: click.Command, name: str) -> click.Command:
    """The command, whose help ends with its examples; so do those of its own commands."""
    if lines := EXAMPLES.get(name):
        command.epilog = "\n".join(["\b", "Examples:", *(f"  pocketgpu {line}" for line in lines)])
    if isinstance(command, click.Group):
        for inner, one in command.commands.items():
            add_examples(one, f"{name} {inner}")
    return command


__all__ = ["EXAMPLES", "add_examples"]
