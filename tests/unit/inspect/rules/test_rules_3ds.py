"""Each rule of the 3DS has a scene in which it finds something, and one in which it finds nothing.

All that is said of a scene is kept in `findings_3ds.json`: numbers, addresses and places. When a text should change,
write them again and read the difference:

    PYTHONPATH=tests python tests/unit/inspect/rules/test_rules_3ds.py
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.strict_scenes import HEIGHT, PROGRAM, WIDTH, Scene

from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble
from pocketgpu.builder.gx import flush_cache_regions, process_command_list, request_dma
from pocketgpu.builder.values import encode_register
from pocketgpu.capture.formats import gxlog
from pocketgpu.capture.replay import Capture
from pocketgpu.facts.gsp import VIRT_TO_PHYS
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.rules.checker import check
from pocketgpu.inspect.rules.registry import RULES, rule

Made = Callable[[], Capture]
KEPT = Path(__file__).with_name("findings_3ds.json")
NOWHERE, UNUSED = 0x1F000000, 0x27000000
"""Where no memory is, and memory that no scene writes."""
END = 0x18600000
"""The first address past the end of VRAM."""
LAYOUT: list[tuple[str, int] | int] = [("f32", 3), ("f32", 4), ("f32", 2)]
"""Of the scene's vertices."""


# -- ways to make scenes ----------------------------------------------------------------------------------------------
def edited(*calls: tuple[str, dict[str, Any]], **more: Any) -> Made:
    """The scene with some registers written before the draw."""

    def edit(scene: Scene, cl: CommandList) -> None:
        for name, fields in calls:
            cl.write(name, **fields)

    return lambda: Scene(edit=edit, **more).capture()


def register(name: str, **fields: Any) -> Made:
    return edited((name, fields))


def listed(edit: Callable[[Scene, CommandList], Any], **more: Any) -> Made:
    return lambda: Scene(edit=edit, **more).capture()


def then(work: Callable[[Scene, CaptureBuilder], Any]) -> Made:
    """The scene, and more work of the capture after it."""
    return lambda: Scene(after=work).capture()


def program(text: str, **more: Any) -> Made:
    return lambda: Scene(program=text, **more).capture()


def in_main(*lines: str) -> str:
    return PROGRAM.replace("    main:\n", "    main:\n" + "".join(f"        {line}\n" for line in lines))


def patched(text: str, patch: Callable[[list[int]], list[int]]) -> Made:
    """The scene with a program that the assembler refuses: the words of another one, changed."""
    made = assemble(text)
    return lambda: Scene(assembly=replace(made, code=tuple(patch(list(made.code))))).capture()


def start(capture: CaptureBuilder, data: bytes, address: int | None = None, size: int | None = None) -> None:
    """Run a list as it stands."""
    place = capture.put(data, align=16) if address is None else address
    words = {"CMDBUF_SIZE0": {"size": len(data) if size is None else size}, "CMDBUF_ADDR0": {"address": place}}
    for name, fields in words.items():
        capture.write_word(PICA[name].address, encode_register(PICA[name], dict(fields)))
    capture.write_word(PICA["CMDBUF_JUMP0"].address, 1)


def endless(scene: Scene, capture: CaptureBuilder) -> None:
    place = capture.allocate(256, align=16)
    words = CommandList().jump(place, 32).tobytes()
    capture.load(place, CommandList().jump(place, len(words)).tobytes())
    start(capture, words, place)


def jumping(scene: Scene, capture: CaptureBuilder) -> None:
    """A list that ends in another one."""
    last = CommandList().finalize().tobytes()
    start(capture, CommandList().jump(capture.put(last, align=16), len(last)).tobytes())


def at_the_end(capture: CaptureBuilder, data: bytes) -> None:
    """A list whose last byte is the last one of VRAM."""
    capture.load(END - len(data), data)
    start(capture, data, END - len(data))


def triggered(scene: Scene, cl: CommandList, **fields: Any) -> None:
    """A draw without what goes around it."""
    cl.write("PRIMITIVE_CONFIG", byte_mask=2, mode="triangles").write_word("RESTART_PRIMITIVE", 1)
    cl.write("NUMVERTICES", count=3).write("VERTEX_OFFSET", first=0).write("INDEXBUFFER_CONFIG", type="u16")
    cl.write("GEOSTAGE_CONFIG2", arrays=fields.get("arrays", True))
    cl.write("START_DRAW_FUNC0", configuration=fields.get("configuration", False))
    cl.write_word("DRAWARRAYS", 1)


def tiled(format: str) -> Made:
    """The scene with a texture that a transfer tiles as RGBA8, and that the draw reads in a format."""

    def before(scene: Scene, capture: CaptureBuilder) -> None:
        linear = capture.put(np.full((64, 64, 4), 200, np.uint8))
        scene.texels = capture.allocate(64 * 64 * 4)
        capture.transfer(linear, scene.texels, 64, 64, output_format="RGBA8", linear_to_tiled=True)

    return lambda: Scene(before=before, edit=lambda s, cl: cl.texture(0, s.texels, 64, 64, format=format)).capture()


def indexed(change: Callable[[CommandList], Any] = lambda cl: None) -> Made:
    def before(scene: Scene, capture: CaptureBuilder) -> None:
        scene.indices = capture.put(np.array([0, 1, 2], np.uint16))

    def draw(scene: Scene, cl: CommandList) -> None:
        change(cl)
        cl.draw_elements(3, scene.indices)

    return lambda: Scene(before=before, draw=draw).capture()


GEOMETRY = """
    .out o0 position
    .out o1 color
    .out o2.xy texcoord0
    main:
        setemit 0
        mov o0, v0
        mov o1, v1
        mov o2.xy, v2
        emit
        setemit 1
        mov o0, v3
        mov o1, v4
        mov o2.xy, v5
        emit
        setemit 2, prim
        mov o0, v6
        mov o1, v7
        mov o2.xy, v8
        emit
        end
"""


def geometry(edit: Callable[[CommandList], Any] = lambda cl: None, late: bool = False) -> Made:
    """The triangle through a geometry program. late: another draw without one comes after it."""

    def before_draw(scene: Scene, cl: CommandList) -> None:
        cl.geometry_shader(assemble(GEOMETRY), outputs=3, inputs=9)
        edit(cl)

    def second(scene: Scene, cl: CommandList) -> None:
        cl.no_geometry_shader()
        if late:
            cl.shader(assemble(PROGRAM)).draw_arrays(3)

    return lambda: Scene(edit=before_draw, draw=lambda s, cl: cl.draw_arrays(3, primitive="geometry"),
                         late=second).capture()  # fmt: skip


LIST, OTHER = 0x20000100, 0x20001000


def log(*commands: tuple[int, ...]) -> Made:
    """A log of GX commands; there is a list of nothing but its end, which the processor has written."""

    def made() -> Capture:
        data = CommandList().finalize().tobytes()
        events: list[Any] = [{"type": "memory", "phys": LIST, "offset": 0, "size": len(data)}]
        events += [{"type": "gx", "words": list(words)} for words in commands] + [{"type": "frame"}]
        ranges = [{"virt": r.virt, "phys": r.phys, "size": r.size} for r in VIRT_TO_PHYS]
        document = {"version": 1, "virt_to_phys": ranges, "events": events}
        return Capture("log", gxlog.parse(json.dumps(document).encode(), data))

    return made


RUN = process_command_list(LIST, 16, flush=False)
CLEAN = edited()
FLUSHED = log(flush_cache_regions((LIST, 16)), RUN)


@dataclass
class Case:
    """A rule, a scene in which it finds something (with words of what it says), one in which it does not."""

    rule: str
    broken: Made
    says: str
    sound: Made = CLEAN


CASES = [
    Case("list.no-finalize", then(lambda s, c: start(c, CommandList().write("LOGIC_OP").write("LOGIC_OP").tobytes())),
         "without FINALIZE",
         then(lambda s, c: start(c, CommandList().write("LOGIC_OP").write("LOGIC_OP").finalize().tobytes()))),
    Case("list.endless", then(endless), "does not come to an end",
         then(jumping)),
    Case("list.unmapped", then(lambda s, c: start(c, bytes(16), NOWHERE)), "leaves memory",
         then(lambda s, c: at_the_end(c, CommandList().finalize().tobytes()))),
    Case("list.size", then(lambda s, c: start(c, CommandList().finalize().tobytes(), size=24)), "24 bytes runs as 16",
         then(lambda s, c: start(c, CommandList().finalize().tobytes(), size=16))),
    Case("list.unknown-register", listed(lambda s, cl: cl.write_word(0x008, 1)), "have no register",
         listed(lambda s, cl: cl.write_word(0x040, 0))),
    Case("shader.no-end", program(PROGRAM.replace("        end\n", "")), "has no END"),
    Case("shader.endless", program(in_main("jmpu !b1, main")), "does not come to an end",
         program(in_main("jmpu b1, main"))),
    Case("shader.break", patched(PROGRAM, lambda code: [0x20 << 26, *code]), "BREAK outside",
         program(in_main("loop i0", "breakc cmp.x", "nop", "endloop"))),
    Case("shader.output-twice", program(in_main("mov o1, v1")), "writes o1.x again",
         program(PROGRAM.replace("mov o1, v1", "mov o1.xy, v1\n        mov o1.zw, v1"))),
    Case("shader.output-missing", program(PROGRAM.replace("mov o2.xy, v2", "nop")), "o2.x, o2.y",
         program(PROGRAM.replace("mov o2.xy, v2", "mov o2.x, v2\n        mov o2.y, v2"))),
    Case("shader.two-inputs", patched(in_main("add r0, v0, r1"), lambda code: [code[0] & ~(0x1F << 7) | 1 << 7,
                                                                             *code[1:]]), "v0 and v1",
         program(in_main("add r0, v0, v0"))),
    Case("shader.mova-pair", program(in_main("mova a0.x, v1", "mova a0.y, v1")), "right after",
         program(in_main("mova a0.x, v1", "nop", "mova a0.y, v1"))),
    Case("uniform.unset", program(PROGRAM.replace("dp4 o0.x, c0, v0", "dp4 o0.x, c40, v0")),
         "uniform c40 at instruction 0x000", program(PROGRAM.replace("dp4 o0.x, c0, v0", "dp4 o0.x, c3, v0"))),
    Case("uniform.nan", lambda: Scene(matrix=np.full((4, 4), np.nan)).capture(), "uniform c0.x",
         listed(lambda s, cl: cl.uniforms(4, [[np.nan] * 4]))),
    Case("vertex.stride", register("ATTRIBBUFFER0_CONFIG2", stride=28, count=3), "stride is 28",
         register("ATTRIBBUFFER0_CONFIG2", stride=36, count=3)),
    Case("vertex.stride-far", lambda: Scene(fresh=True, edit=lambda s, cl: cl.write(
        "ATTRIBBUFFER0_CONFIG2", stride=255, count=3)).capture(), "stride is 255",
         lambda: Scene(fresh=True).capture()),
    Case("vertex.alignment", register("ATTRIBBUFFER0_CONFIG2", stride=38, count=3), "stride is 38",
         register("ATTRIBBUFFER0_CONFIG2", stride=40, count=3)),
    Case("vertex.unmapped", register("ATTRIBBUFFER0_OFFSET", offset=0x0FFFFF00), "outside memory",
         lambda: Scene(before=lambda s, c: c.load(END - 108, bytes(108)), edit=lambda s, cl: cl.attributes(
            Buffer(END - 108, LAYOUT))).capture()),
    Case("vertex.attributes", register("VSH_NUM_ATTR", count=2), "VSH_NUM_ATTR.count says 2",
         register("VSH_NUM_ATTR", count=3)),
    Case("vertex.unloaded", register("ATTRIBBUFFER0_CONFIG2", stride=36, count=2), "attributes 2 are neither",
         listed(lambda s, cl: cl.attributes(Buffer(s.vertices, [*LAYOUT[:2], 8]), fixed=[(0, 0, 0, 1)]))),
    Case("vertex.input-unfed", program(PROGRAM.replace("mov o1, v1", "mov o1, v5")), "reads v5",
         program(PROGRAM.replace("mov o1, v1", "mov o1, v2"))),
    Case("memory.never-written", listed(lambda s, cl: cl.texture(0, UNUSED, 16, 16)), "never written"),
    Case("memory.two-uses", register("ATTRIBBUFFER0_CONFIG2", stride=64, count=3), "overlaps texture", indexed()),
    Case("transfer.never-written", then(lambda s, c: c.transfer(UNUSED, s.target, 64, 64)), "0x27000000",
         then(lambda s, c: c.transfer(s.target, s.depth, 64, 64))),
    Case("target.not-cleared", register("DEPTHBUFFER_LOC", address=0x18400000), "depth buffer at 0x18400000",
         lambda: Scene(before=lambda s, c: c.clear(0x18400000, WIDTH, HEIGHT, 0, format="D24S8"),
                       edit=lambda s, cl: cl.write("DEPTHBUFFER_LOC", address=0x18400000)).capture()),
    Case("cache.stale", log(flush_cache_regions((OTHER, 16)), RUN), "not flushed since", FLUSHED),
    Case("target.unmapped", register("COLORBUFFER_LOC", address=NOWHERE), "leaves memory",
         register("COLORBUFFER_LOC", address=END - 4 * WIDTH * HEIGHT)),
    Case("target.alignment", register("COLORBUFFER_LOC", address=0x18000008), "no multiple of 64",
         register("COLORBUFFER_LOC", address=0x18000040)),
    Case("target.overlap", listed(lambda s, cl: cl.write("DEPTHBUFFER_LOC", address=s.target)), "overlap",
         listed(lambda s, cl: cl.write("DEPTHBUFFER_LOC", address=s.target + 4 * WIDTH * HEIGHT))),
    Case("target.inputs", listed(lambda s, cl: cl.texture(0, s.target, 16, 16)), "overlaps the colour buffer",
         listed(lambda s, cl: cl.texture(0, s.depth + 4 * WIDTH * HEIGHT, 16, 16))),
    Case("target.sizes", register("RENDERBUF_DIM", width=256, height=400, flip=True), "RENDERBUF_DIM is 256x400",
         register("RENDERBUF_DIM", width=240, height=400, flip=True)),
    Case("target.pixel-size", register("COLORBUFFER_FORMAT", format="RGBA8"), "16 bits for RGBA8",
         register("COLORBUFFER_FORMAT", format="RGBA8", pixel_size="32 bits")),
    Case("target.unused", lambda: Scene(draw_to=0x18300000).capture(), "nothing reads them",
         lambda: Scene(draw_to=0x18300000, after=lambda s, c: c.transfer(0x18300000, s.depth, WIDTH, 8)).capture()),
    Case("target.read-off", edited(("DEPTHBUFFER_READ", {"stencil": True})), "DEPTHBUFFER_READ.depth is 0",
         listed(lambda s, cl: cl.depth("always").write("DEPTHBUFFER_READ", stencil=True))),
    Case("target.write-off", register("COLORBUFFER_WRITE", mask=0), "COLORBUFFER_WRITE is 0",
         listed(lambda s, cl: cl.depth("greater", colors="").write("COLORBUFFER_WRITE", mask=0))),
    Case("stencil.format", edited(("DEPTHBUFFER_FORMAT", {"format": "D24"}), ("STENCIL_TEST", {
        "enable": True, "function": "always"})), "DEPTHBUFFER_FORMAT is D24",
        edited(("STENCIL_TEST", {"enable": True, "function": "always"}))),
    Case("texture.unit-off", register("TEXUNIT_CONFIG", constant_one=True), "unit0_enable",
         register("TEXUNIT_CONFIG", constant_one=True, unit0_enable=True)),
    Case("texture.size", register("TEXUNIT0_DIM", width=16, height=24), "16x24",
         register("TEXUNIT0_DIM", width=16, height=32)),
    Case("texture.format", tiled("RGBA4"), "is read as RGBA4", tiled("RGBA8")),
    Case("texture.unmapped", register("TEXUNIT0_ADDR", address=NOWHERE), "leaves memory",
         register("TEXUNIT0_ADDR", address=END - 16 * 16 * 4)),
    Case("texture.etc1", register("TEXUNIT0_PARAM", etc1=2), "etc1 is 2 for a texture of format RGBA8",
         listed(lambda s, cl: cl.texture(0, s.texels, 16, 16, "ETC1"))),
    Case("viewport.outside", listed(lambda s, cl: cl.viewport(300, 0, WIDTH, HEIGHT)), "lies outside",
         listed(lambda s, cl: cl.viewport(8, 0, WIDTH - 8, HEIGHT))),
    Case("viewport.inverse", register("VIEWPORT_INVW", value=0.5), "VIEWPORT_INVW is 0.5",
         register("VIEWPORT_INVW", value=2 / WIDTH)),
    Case("scissor.empty", listed(lambda s, cl: cl.scissor(20, 20, 10, 30)), "nothing",
         listed(lambda s, cl: cl.scissor(20, 20, 20, 20))),
    Case("outputs.count", register("VSH_OUTMAP_TOTAL1", count=2), "VSH_OUTMAP_TOTAL1 says 2", geometry()),
    Case("outputs.position", listed(lambda s, cl: cl.write_word("SH_OUTMAP_O0", 0x031F0100)), "gives position.z",
         listed(lambda s, cl: cl.write_word("SH_OUTMAP_O0", 0x03020100))),
    Case("outputs.clock", register("SH_OUTATTR_CLOCK", position_z=True, color=True), "off for texcoord0",
         register("SH_OUTATTR_CLOCK", position_z=True, color=True, texcoord0=True)),
    Case("draw.start-func", lambda: Scene(draw=lambda s, cl: triggered(s, cl, configuration=True)).capture(),
         "START_DRAW_FUNC0 is 1", lambda: Scene(draw=triggered).capture()),
    Case("draw.array-mode", lambda: Scene(draw=lambda s, cl: triggered(s, cl, arrays=False)).capture(),
         "GEOSTAGE_CONFIG2.arrays = 0", indexed()),
    Case("draw.never-passes", listed(lambda s, cl: cl.depth("never")), "the depth test never passes",
         listed(lambda s, cl: cl.depth(None))),
    Case("draw.culled", register("FACECULLING_CONFIG", mode="front (counter-clockwise)"), "FACECULLING_CONFIG",
         register("FACECULLING_CONFIG", mode="back (clockwise)")),
    Case("draw.nothing", lambda: Scene(z=0.5).capture(), "lies beyond the far plane: z is 0.5, w is 1",
         lambda: Scene(z=-0.0).capture()),
    Case("draw.no-fragment", register("FRAGOP_ALPHA_TEST", enable=True, function="greater", reference=255),
         "fail the alpha test", register("FRAGOP_ALPHA_TEST", enable=True, function="greater", reference=254)),
    Case("draw.no-effect", listed(lambda s, cl: cl.depth("greater", write=False).blend("zero", "one")),
         "leave the colour that was there: blending is add of zero and one",
         listed(lambda s, cl: cl.depth("greater", write=False).blend("one", "one"))),
    Case("geometry.switch", geometry(late=True), "follow draws with one", geometry()),
    Case("geometry.separate", geometry(lambda cl: cl.write("VSH_COM_MODE")), "VSH_COM_MODE = 0", geometry()),
    Case("geometry.unit-mode", geometry(lambda cl: cl.write("GSH_INPUTBUFFER_CONFIG", count=9, unit_mode=0xA0)),
         "unit_mode is 0xa0", geometry()),
    Case("geometry.inputs", geometry(lambda cl: cl.write("GSH_INPUTBUFFER_CONFIG", count=8, unit_mode=8)),
         "takes 8 inputs", geometry()),
    Case("early-depth.pair", register("EARLYDEPTH_TEST1", enable=True), "EARLYDEPTH_TEST1 is 1",
         edited(("EARLYDEPTH_TEST1", {"enable": True}), ("EARLYDEPTH_TEST2", {"enable": True}))),
    Case("lighting.off", listed(lambda s, cl: cl.combiner(0, ("replace", "fragment primary color"))), "which is off",
         listed(lambda s, cl: cl.write("LIGHTING_ENABLE0", enable=True).write("LIGHTING_ENABLE1").combiner(
             0, ("replace", "fragment primary color")))),
    Case("fill.empty", then(lambda s, c: c.fill(s.target + 64, s.target, 0)), "which is nothing",
         then(lambda s, c: c.fill(s.target, s.target + 16, 0))),
    Case("fill.unmapped", then(lambda s, c: c.fill(NOWHERE, NOWHERE + 64, 0)), "0x1f000000",
         then(lambda s, c: c.fill(END - 64, END, 0))),
    Case("fill.alignment", then(lambda s, c: c.fill(s.target + 8, s.target + 64, 0)), "PSC0_START",
         then(lambda s, c: c.fill(s.target + 16, s.target + 64, 0))),
    Case("fill.remainder", then(lambda s, c: c.fill(s.target, s.target + 64, 0, width=24)), "64 bytes",
         then(lambda s, c: c.fill(s.target, s.target + 48, 0, width=24))),
    Case("transfer.size", then(lambda s, c: c.transfer(s.target, s.depth, 64, 0)), "64x0",
         then(lambda s, c: c.transfer(s.target, s.depth, 64, 8))),
    Case("transfer.formats", then(lambda s, c: c.transfer(
        s.target, s.depth, 64, 64, input_format="RGB565", output_format="RGB8")), "from RGB565 to RGB8",
         then(lambda s, c: c.transfer(
            s.target, s.depth, 64, 64, input_format="RGBA8", output_format="RGB8"))),
    Case("transfer.small", then(lambda s, c: c.transfer(
        s.target, s.depth, 32, 32, input_format="RGB565", output_format="RGB565")), "32x32 pixels of 16 bits",
        then(lambda s, c: c.transfer(s.target, s.depth, 64, 64, input_format="RGB565", output_format="RGB565"))),
    Case("transfer.flags", then(lambda s, c: c.transfer(s.target, s.depth, 64, 64, scale=3)), "scale code 3",
         then(lambda s, c: c.transfer(s.target, s.depth, 64, 64, scale=2))),
    Case("transfer.crop", then(lambda s, c: c.transfer(s.target, s.depth, 240, 64, output_width=64)), "PPF_FLAGS.crop",
         then(lambda s, c: c.transfer(s.target, s.depth, 240, 64, output_width=64, crop=True))),
    Case("transfer.skew", then(lambda s, c: c.transfer(s.target, s.depth, 240, 64, output_width=64, crop=True,
                                                       flip=True)), "flip and crop",
         then(lambda s, c: c.transfer(s.target, s.depth, 240, 64, output_width=64, crop=True))),
    Case("transfer.unmapped", then(lambda s, c: c.transfer(NOWHERE, s.depth, 64, 64)), "leaves memory",
         then(lambda s, c: c.copy(s.target, END - 64, 64))),
    Case("transfer.hang", then(lambda s, c: c.copy(s.target, s.depth, 0)), "no bytes",
         then(lambda s, c: c.copy(s.target, s.depth, 64))),
    Case("transfer.overlap", then(lambda s, c: c.copy(s.target, s.target + 16, 64)), "which overlap",
         then(lambda s, c: c.copy(s.target, s.target + 64, 64))),
    Case("transfer.alignment", then(lambda s, c: c.copy(s.target, s.depth, 100)), "PPF_COPY_SIZE = 0x00000064",
         then(lambda s, c: c.copy(s.target, s.depth, 112))),
    Case("transfer.mismatch", then(lambda s, c: c.transfer(
        s.target, s.depth, 240, 400, input_format="RGB565", output_format="RGB565")), "for RGB565",
         then(lambda s, c: c.transfer(s.target, s.depth, 240, 400))),
    Case("display.never-written", then(lambda s, c: c.show("bottom", UNUSED)), "bottom screen",
         then(lambda s, c: c.show("bottom", s.depth))),
    Case("display.format", then(lambda s, c: c.present("top", s.target).write(
        "PDC0_FORMAT", color_format="RGB565", scan_doubling=True)), "as RGB565",
         then(lambda s, c: c.present("top", s.target).write(
            "PDC0_FORMAT", color_format="RGB8", scan_doubling=True))),
    Case("display.stride", then(lambda s, c: c.write("PDC0_STRIDE", stride=512)), "steps 512 bytes",
         then(lambda s, c: c.write("PDC0_STRIDE", stride=1440))),
    Case("display.unmapped", then(lambda s, c: c.show("bottom", NOWHERE)), "outside memory",
         then(lambda s, c: c.show("bottom", END - 240 * 320 * 3))),
    Case("gx.refused", log((*request_dma(LIST, OTHER, 16)[:2], 0x1000, 16, 0, 0, 0, 0)), "RequestDMA refused", FLUSHED),
    Case("register.hang", then(lambda s, c: c.write_word(0x10400600, 0)), "the bus hangs",
         then(lambda s, c: c.write("PDC1_STRIDE", stride=720))),
    Case("memory.vram-off", then(lambda s, c: c.write("VRAM_POWER", b_high_off=True)), "bank b high",
         then(lambda s, c: c.write("VRAM_POWER", b_high_off=False))),
    Case("doubt", register("FACECULLING_CONFIG", mode=3), "raster.cull_0_3",
         register("FACECULLING_CONFIG", mode=0)),
]  # fmt: skip


@cache
def findings(made: Made) -> dict[str, list[str]]:
    """What all rules say of a scene, by rule."""
    found: dict[str, list[str]] = {}
    for one in check(made()).findings:
        found.setdefault(one.rule.id, []).append(str(one))
    return found


@cache
def kept() -> dict[str, dict[str, list[str]]]:
    """Rule -> all that is said of its scene."""
    found: dict[str, dict[str, list[str]]] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_a_rule_finds_what_it_is_about_and_nothing_elsewhere(case: Case) -> None:
    broken = findings(case.broken)
    assert case.says in "\n".join(broken.get(case.rule, [])), broken
    assert case.rule not in findings(case.sound)
    assert rule(case.rule).console == "3DS"
    assert broken == kept()[case.rule]


def test_fills_of_nothing_and_of_a_byte_less() -> None:
    """An end at the start, before it and after it: only the last one is a fill."""
    for step, accused in ((-16, True), (0, True), (16, False)):
        found = findings(then(lambda s, c, step=step: c.fill(s.target + 64, s.target + 64 + step, 0)))
        assert ("fill.empty" in found) == accused, step


def test_copies_of_the_gsp_read_and_write() -> None:
    """A list that was copied is written and needs no flush; bytes that nothing wrote are told."""
    flushed, run = flush_cache_regions((LIST, 16)), process_command_list(OTHER, 16, flush=False)
    assert set(findings(log(flushed, request_dma(LIST, OTHER, 16), run))) == {"display.never-written"}
    (unknown,) = findings(log(flushed, request_dma(LIST + 16, OTHER, 64)))["transfer.never-written"]
    assert unknown == "f0/e2: RequestDMA: nothing was ever written at 0x20000110  [transfer.never-written]"


def test_every_rule_has_a_case() -> None:
    assert [case.rule for case in CASES] == [one.id for one in RULES if one.console == "3DS"]
    assert len(CASES) >= 25 and kept().keys() == {case.rule for case in CASES}


def test_nothing_is_said_of_sound_scenes() -> None:
    for made in (CLEAN, indexed(), geometry()):
        assert not findings(made), findings(made)
    assert set(findings(FLUSHED)) == {"display.never-written"}


if __name__ == "__main__":
    KEPT.write_text(json.dumps({case.rule: findings(case.broken) for case in CASES}, indent=1) + "\n", encoding="utf-8")
