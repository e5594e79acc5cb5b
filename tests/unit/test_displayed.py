"""Everything public shows itself: a short line at a prompt, and tables, texts and pictures for notebooks.

Objects are made from the shipped samples of both consoles, and from two small recordings for what the samples lack.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import widgets
from support.fuzz import load
from support.promised import NAMES

import pocketgpu
from pocketgpu.builder import Box, Buffer, Canvas, CaptureBuilder, CommandList, assemble
from pocketgpu.builder.maxwell import Grid, MaxwellCanvas, MaxwellCaptureBuilder, PushBuffer, Surface, shader
from pocketgpu.capture import pgc
from pocketgpu.capture.pgc.minimise import Keep, minimise
from pocketgpu.displayed import MOST_LINES, MOST_ROWS, Displayed, line_of, table_html
from pocketgpu.inspect.address import Address
from pocketgpu.inspect.decode import decode, decode_words, parse_listing
from pocketgpu.inspect.describe import explain, resolve
from pocketgpu.inspect.diff import diff
from pocketgpu.inspect.doubts import DoubtMatrix, PhotoAgreement, doubts
from pocketgpu.inspect.inspection import Inspection, examine
from pocketgpu.inspect.rules.checker import check
from pocketgpu.inspect.stepping import trace_primitive, trace_vertex
from pocketgpu.notebook import Viewer, plots, tables
from pocketgpu.pica.pdc import display_mode
from pocketgpu.pica.shader import Program
from pocketgpu.pica.shader.shbin import shbin_of
from pocketgpu.sweeps.model.rows import Row

SAMPLES = Path(pocketgpu.__file__).parent / "data"
PROGRAMS = Path(__file__).resolve().parents[1] / "guests" / "n3ds"
SCENES = Path(__file__).parent / "promises" / "data"
MOST = 200
# What notebooks show with more than a line of text.
TABLES = {
    "Birth", "Capture", "CaptureInfo", "Decoded", "Difference", "Event", "Explanation", "Frame", "Funnel",
    "MaxwellInfo",
    "Mesh", "Moment", "Outputs", "Registers", "Report", "Screen", "Sheet", "Step", "Surface", "Table", "Texture",
    "Trace", "Why",
    "CaptureDoubts",
}  # fmt: skip
TAGS = {"p", "table", "tr", "th", "td", "pre", "img", "b", "code", "ol", "li", "span", "div", "br"}
BAD = "<script>alert('&')</script>\x1b[31m\r\nsecond"


class Checker(HTMLParser):
    """Notes what is wrong with a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.rows = 0
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> is left open" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.rows += tag == "tr"
        if tag not in TAGS:
            self.wrong.append(f"<{tag}>")
        if any(name.startswith("on") for name, _ in attrs):
            self.wrong.append(f"<{tag}> has {attrs}")
        if tag not in ("img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes another")

    def handle_data(self, data: str) -> None:
        self.wrong += [f"a control character, {one!r}" for one in set(data) if ord(one) < 32 and one != "\n"]


def public_classes() -> dict[str, type]:
    """All classes among the promised names."""
    found = {}
    for module, names in NAMES.items():
        for name in names:
            one = getattr(importlib.import_module(module), name)
            if inspect.isclass(one):
                found[f"{module}.{name}"] = one
    return found


def of_capture(path: Path) -> Iterator[Any]:
    """What a recording gives."""
    capture = pocketgpu.open(path)
    frame = next(capture.render(range(1)))
    yield from (capture, frame, *frame.screens.values(), frame.machine, frame.machine.memory)
    decoded = decode(capture)
    yield from (decoded, decoded.stream, examine(capture), check(capture))
    shown = {name: screen.array for name, screen in frame.screens.items()}
    doubtful = doubts(capture, ["texture.filter"], range(1), expected=lambda number, screen: shown[screen])
    yield from (doubtful, doubtful.agreement, doubtful.work, DoubtMatrix([doubtful]), *doubtful.partings)
    yield PhotoAgreement({}, "they are of something else", 0.0, 2.5, (), (("texture.filter", "nearest"),))
    run = pocketgpu.debug(capture)
    yield from (run, run.events(0)[0], *run.passes(0), run.seek("f0"), run.why("f0"))


def of_draws(run: Inspection, pixel: str) -> Iterator[Any]:
    """What a recording with draws gives."""
    moment = run.seek("f0/d1")
    yield from (moment, moment.target, moment.vertices, moment.mesh(), *moment.screens.values())
    yield from (*moment.textures.values(), *moment.programs.values(), *moment.constants, *moment.vertex_buffers)
    yield from moment.changes("reset")[:3]
    yield from (run.why("f0/d1"), run.why(pixel))
    shown = (tables.costs, tables.frames, tables.overdraw, tables.textures, tables.events)
    found = [show(run, *at) for show, at in zip(shown, ((), ((0,),), ("f0",), (), ()), strict=True)]
    yield from (one for table in (*found, tables.funnel(run, "f0/d1")) for one in (table, *table[:1]))
    yield plots.textures(run)


def of_builders() -> Iterator[Any]:
    yield from (CommandList(), CaptureBuilder(), Buffer(0x20000000, [("f32", 3), 4]), MaxwellCaptureBuilder())
    yield from (Canvas(), MaxwellCanvas(), Box(8, 16, 24, 32))
    yield from (PushBuffer(), Surface(0x500000000, 64, 32), Grid(0x500000100, (1, 2), (32,)))
    words = assemble("mov o0, v0 \n setemit 0 \n emit \n mov o0, v2 \n setemit 1, prim \n emit \n end")
    program = Program(words.code, words.descriptors, words.entry)
    outputs = program.run(np.ones((3, 16, 4), np.float32))
    yield from (words, program, outputs, outputs[0, 0], outputs.emit, shader("vertex", "EXIT"), shbin_of([words]))
    trace = trace_primitive(program, np.ones((2, 2, 4), np.float32))
    yield from (trace, trace[0], trace.end, trace.at(0), *(step.emitted for step in trace if step.emitted))
    words = assemble("rsq r1, -v0 \n mov o0, r1 \n end")
    yield trace_vertex(Program(words.code, words.descriptors), np.ones((16, 4), np.float32)).first_nan


def of_tools(folder: Path) -> Iterator[Any]:
    contents = pgc.rescue((SCENES / "scene_3ds.pgc").read_bytes())
    yield from (contents, *pgc.check(pocketgpu.open(SCENES / "scene_3ds.pgc")), Keep(0, 3), Keep(1, 1, 2))
    yield minimise(contents.contents, Keep(0, 0))
    words = decode_words(np.arange(64, dtype=np.uint32))
    yield from (words, *parse_listing("\n".join(words.lines())))
    match = resolve("TEXUNIT0_DIM")
    told = explain(match.register, 0x400040)
    yield from (match, told, *told.bits)
    mode = display_mode("top", {"VTOTAL": 494})
    yield from (mode, mode.beat("v_irq"), *mode.problems)
    (folder / "k.cubin").write_bytes(load("sass").cubin())
    module = pocketgpu.RawModule(folder / "k.cubin")
    texture = pocketgpu.Texture(np.zeros((4, 8, 4), np.uint8))
    yield from (module, module.get_function("k"), texture, pocketgpu.Surface(np.zeros((4, 8, 4), np.uint8)))
    n3ds = pocketgpu.debug(SCENES / "scene_3ds.pgc")
    other = pocketgpu.debug(n3ds.capture, {"texture.filter": "nearest"})
    report = diff(n3ds, other, range(1))
    yield from (report, report.first, Address.parse("f1/d17/px8,9"))
    for kind in (pocketgpu.UsageError, pocketgpu.CaptureError, pocketgpu.NoPictureError, pocketgpu.PocketGPUError):
        yield kind(BAD * 100, location=BAD, hint=BAD)
    yield pocketgpu.GuestMemoryError(0, 4)
    yield pocketgpu.ProgramFault(BAD * 100)
    app = pocketgpu.run(PROGRAMS / "console.elf")
    app.until_text("Hello")
    yield from (app, app.program, app.capture())
    yield pocketgpu.Event("warning", "list.bad", BAD * 100, at="f0")
    with pytest.MonkeyPatch.context() as patch:
        widgets.without_page(patch, folder)
        yield Viewer(SAMPLES / "sample.ctf.xz")
    yield from (pocketgpu.sweep(SCENES / "scene_3ds.pgc"), Row(BAD, "", "render", "refused", message=BAD * 100))
    yield tables.CaptureRow(BAD * 100, "refused", "", 0, None, None, 0, BAD)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    found = [*of_builders(), *of_tools(tmp_path_factory.mktemp("shown"))]
    for name in ("sample.ctf.xz", "sample_switch.mxcap.zip"):
        found += of_capture(SAMPLES / name)
    found += of_draws(pocketgpu.debug(SCENES / "scene_3ds.pgc"), "f0/px200,160")
    found += of_draws(pocketgpu.debug(SCENES / "scene_switch.pgc"), "f0/px16,20")
    return [one for one in found if one is not None]


def test_there_is_an_object_of_every_public_class(shown: list[Any]) -> None:
    types = {base for one in shown for base in type(one).__mro__}
    assert [name for name, one in public_classes().items() if one not in types] == []


def test_every_object_has_a_short_line(shown: list[Any]) -> None:
    for one in shown:
        line = repr(one)
        assert line.isprintable() and len(line) <= MOST, f"{type(one)}: {line}"
        assert " object at 0x" not in line, line
        assert type(one).__name__ in line or line.startswith("<"), line
        assert str(one).strip(), type(one)


def test_the_long_text_is_what_print_shows(shown: list[Any]) -> None:
    for name in ("Trace", "Explanation", "Report", "Registers"):
        one = next(one for one in shown if type(one).__name__ == name and "\n" in str(one))
        assert len(str(one)) > len(repr(one))


def test_notebooks_show_tables_and_pictures(shown: list[Any]) -> None:
    seen = set()
    for one in shown:
        picture = one._repr_png_() if hasattr(one, "_repr_png_") else None
        assert picture is None or picture.startswith(b"\x89PNG"), type(one)
        if not hasattr(one, "_repr_html_"):
            continue
        html = one._repr_html_()
        checked = Checker(html)
        assert checked.wrong == [], f"{type(one)}: {html[:500]}"
        assert checked.rows <= MOST_ROWS + 6, type(one)
        assert picture is None or "<img " in html, f"{type(one)}: notebooks prefer HTML, which has no picture"
        seen |= {base.__name__ for base in type(one).__mro__}
    assert TABLES - seen == set()


def test_text_of_a_guest_is_escaped() -> None:
    class Named(Displayed):
        def __str__(self) -> str:
            return BAD

    decoded = decode_words(np.arange(8, dtype=np.uint32))
    decoded.source = BAD
    capture = pocketgpu.open(SAMPLES / "sample.ctf.xz")
    capture.path = BAD
    event = pocketgpu.debug(capture).events(0)[0]
    event.title = BAD
    event.facts = {BAD: BAD}
    for one in (Named(), decoded, capture, event):
        html = one._repr_html_()
        assert "&lt;script&gt;" in html and Checker(html).wrong == [], html
        assert repr(one).isprintable() and len(repr(one)) <= MOST
    assert Checker("<p><script>x</script>").wrong == ["<script>", "<p> is left open"]
    assert Checker("<b></p>").wrong and Checker("<img onload=x>").wrong


def test_long_texts_and_tables_are_cut() -> None:
    class Long(Displayed):
        def __str__(self) -> str:
            return "\n".join(f"line {n}" for n in range(MOST_LINES + 7))

    html = Long()._repr_html_()
    assert f"line {MOST_LINES - 1}\n" in html and f"line {MOST_LINES}\n" not in html
    assert f"7 of {MOST_LINES + 7} lines" in html
    table = table_html(("a", "b"), ((n, "x") for n in range(1000)), 1000)
    assert Checker(table).rows == MOST_ROWS + 1 and f"{1000 - MOST_ROWS} of 1000 rows" in table
    assert line_of(Long(), "") == "<Long>"


def test_dir_holds_public_names_only() -> None:
    modules = {name: importlib.import_module(name) for name in NAMES if name != "pocketgpu.pytest_plugin"}
    for name, module in modules.items():
        children = {one.removeprefix(f"{name}.") for one in NAMES if one.startswith(f"{name}.")}
        allowed = {*getattr(module, "__all__", ()), *NAMES[name], *(one.partition(".")[0] for one in children)}
        assert set(dir(module)) - allowed == set(), name
        assert set(NAMES[name]) - set(dir(module)) == set(), name
        assert [one for one in dir(module) if not hasattr(module, one)] == [], name
    assert "importlib" not in dir(pocketgpu) and "debug" in dir(pocketgpu)
    assert {f"pocketgpu.inspect.{name}" for name in dir(pocketgpu.inspect)} <= set(NAMES)
