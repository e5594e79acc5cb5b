"""The debugger, differences, meshes and stepping, used on two small recordings by the names that the pages promise."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fuzz import load
from support.small_scene import SmallScene

import pocketgpu
from pocketgpu.builder import assemble
from pocketgpu.inspect.address import Address
from pocketgpu.inspect.diff import Difference, Report, diff
from pocketgpu.inspect.doubts import Agreement, CaptureDoubts, DoubtMatrix, Parting, PhotoAgreement, Work, doubts
from pocketgpu.inspect.event import Event
from pocketgpu.inspect.inspection import Inspection, Moment, debug
from pocketgpu.inspect.meshes import Mesh, to_glb, to_obj
from pocketgpu.inspect.model import schema, schema_ids
from pocketgpu.inspect.n3ds.funnel import Funnel
from pocketgpu.inspect.n3ds.why import Why
from pocketgpu.inspect.rules.checker import check
from pocketgpu.inspect.stepping import (
    Birth,
    Registers,
    Step,
    Trace,
    pixel_of,
    trace_primitive,
    trace_thread,
    trace_vertex,
    vertex_of,
    watch_launches,
    watch_stage,
)
from pocketgpu.notebook import plots, rows, tables
from pocketgpu.pica.shader import Program
from pocketgpu.sweeps.sweep import Sweep

DATA = Path(__file__).resolve().parent / "data"


@pytest.fixture(scope="module")
def n3ds() -> Inspection:
    return pocketgpu.debug(DATA / "scene_3ds.pgc")


@pytest.fixture(scope="module")
def switch() -> Inspection:
    return pocketgpu.debug(DATA / "scene_switch.pgc")


# events and moments


def test_a_run_is_events(n3ds: Inspection) -> None:
    assert n3ds.frame_count == 2 and n3ds.capture.frame_count == 2
    events = n3ds.events(0)
    assert [event.kind for event in events[4:]] == ["fill", "load", "list", "draw", "draw", "transfer", "show"]
    draw = n3ds.draws(0)[1]
    assert draw is events[8] and isinstance(draw, Event)
    assert (draw.frame, draw.number, draw.draw, draw.pass_) == (0, 8, 1, 0)
    assert draw.title == "draw 1: 3 vertices, triangles" and draw.facts["vertices"] == 3
    assert str(draw.address) == "f0/d1" and str(draw.by_number) == "f0/e8"
    assert set(draw.to_json()) <= set(schema("pocketgpu.event/1")["properties"])
    assert "pocketgpu.event/1" in schema_ids()
    assert draw.words is not None and draw.words is draw.made_by
    assert draw.words.spans[0].size == 4 * len(draw.words.values)
    assert 0x18000000 in draw.writes[0]
    assert (0x20000500, 0x60) in [(one.address, one.size) for one in draw.reads]
    assert len(list(n3ds.all_events())) == len(events) + len(n3ds.events(1))
    (only,) = n3ds.passes(0)
    assert only.draws == n3ds.draws(0) and n3ds.pass_of("f0/p0") is only
    assert n3ds.event("f0/d1") is draw and str(n3ds.draw_before("f0/d1")) == "f0/d0"
    assert {"id", "name", "old", "new"} <= set(n3ds.written("f0/d1")[0])
    wrote = n3ds.who_wrote(0x18000000, 4, before="f0/d0")
    assert wrote is not None and wrote.kind == "fill" and n3ds.who_changed(0x18000000, 4, before="f0/d0") is wrote


def test_an_address_is_written_and_read() -> None:
    address = Address.parse("f1/d17/px8,9")
    assert (address.frame, address.draw, address.pixel) == (1, 17, (8, 9)) and address.place == Address(1, draw=17)
    assert (address.event, address.pass_, address.screen, address.step) == (None, None, None, None)
    assert str(address.at(pixel=None, vertex=5)) == "f1/d17/v5" and Address.parse("f1/d17/t3").primitive == 3
    thread = Address.parse("f1/e9/b0,1,0/t3,0,0")
    assert thread.block == (0, 1, 0) and thread.thread == (3, 0, 0) and thread.vertex is None


@pytest.mark.parametrize("console", ["n3ds", "switch"])
def test_what_a_draw_costs_reads_and_makes(console: str, request: pytest.FixtureRequest) -> None:
    """The questions of the page in the browser, asked in Python, the same on both consoles."""
    run = request.getfixturevalue(console)
    draw = run.draws(0)[1]
    assert "fragments" in str(run.costs(0))
    over = run.overdraw(draw.address, "pass")
    assert over.counts.ndim == 2 and 0 < over.fragments == int(over.counts.sum())
    assert 1 <= over.draws <= 2
    assert run.colour_flow(draw.address)[0].program == draw.address.at(vertex=0)
    for change in run.seek(draw.address).changes():
        word = run.word_of(change.register, draw.address)
        assert word is not None and (word.value, word.event) == (change.new, draw.address)
    place, first = draw.writes[0].address, run.events(0)[0].by_number
    written = run.next_write(place, 4, after=first)
    assert written is not None and written.kind in ("fill", "clear")
    assert run.who_reads(place, 4)[-1].kind == {"n3ds": "transfer", "switch": "show"}[console]


def test_a_moment_of_a_3ds(n3ds: Inspection) -> None:
    moment = n3ds.seek("f0/d0")
    assert str(moment.summary).startswith("culling: off\ndepth: ")
    assert isinstance(moment, Moment) and str(moment.address) == "f0/d0" and moment.event is n3ds.event("f0/d0")
    assert moment.registers()["TEXUNIT0_DIM"] == 16 << 16 | 16 and len(moment.read(0x18000000, 4)) == 4
    assert moment.target.array.shape == (240, 400, 4)
    assert moment.target.image.size == (400, 240) and moment.screens["top"].array.shape == (240, 400, 3)
    assert str(moment.pictures["target"].at(0, 0)) == "f0/d0/px239,399" and moment.pictures["top"].at(0, 0) is None
    change = {change.register: change for change in moment.changes("reset")}["TEXUNIT0_DIM"]
    assert change.new == moment.registers()["TEXUNIT0_DIM"]
    vertices = moment.vertices
    assert vertices.inputs.dtype.names == ("v0", "v1", "v2") and vertices.numbers.tolist() == [0, 1, 3, 3, 2, 0]
    assert vertices.outputs["position"][vertices.triangles[0]].shape == (3, 4) and vertices.emitted is None
    assert "v0: 3 x f32" in str(vertices.attributes[0])
    assert moment.textures[0].array.shape == (16, 16, 4) and moment.textures[0].image.size == (16, 16)
    program = moment.programs["vertex"]
    assert "dp4" in program.text and program.floats[0].tolist() == [0, 1, 0, 0]


def test_a_moment_of_a_switch(switch: Inspection) -> None:
    moment = switch.seek(switch.event("f1/d1").by_number)
    assert isinstance(moment, Moment) and moment.registers()["SET_CT_WRITE(0)"] == 0x0111
    assert moment.screens["screen"].image.size == (32, 32)
    assert {"vertex B", "pixel"} <= set(moment.programs) and moment.buffers[0].size == 256
    assert [texture.array().shape for texture in moment.textures.values()] == [(16, 16, 4)]
    assert moment.targets and moment.vertex_buffers and moment.index_buffer is None
    assert moment.vertices.inputs.dtype.names == ("a0", "a1") and moment.vertices.outputs.shape == (3,)
    assert len(moment.mesh().triangles) == 1
    changed = {one.register: one for one in moment.changes("f1/d0")}
    assert changed["SET_CT_WRITE(0)"].new == 0x0111
    wrote = switch.who_wrote(switch.log.presents[1].gpu_va)
    assert wrote is not None and wrote.draw == 1


# why


def test_why_a_pixel_of_a_3ds_has_its_colour(n3ds: Inspection) -> None:
    answer = n3ds.why("f0/px200,160")
    assert isinstance(answer, Why) and answer.proved and str(answer.address) == "f0/px200,160"
    assert answer.schema.startswith("pocketgpu.why/") and answer.color == (228, 255, 102) and answer.value
    assert str(answer.last.event.address) == "f0/d1" and answer.touches[-1].event.kind in ("draw", "transfer")
    (source,) = answer.touches[-1].sources
    assert source.touches and answer.last.writer.stage("blend").values["result"]
    assert answer.shown is not None and answer.place is not None and answer.place.size in (3, 4)
    assert "f0/d1/t0" in answer.because and answer.opening[0] == str(answer).splitlines()[0]
    assert answer.misses == [] and answer.missing == "" and answer.overlapping is None
    assert answer.last.to_json()["fragments"] and json.dumps(answer.to_json())
    assert str(answer).startswith("f0/px200,160 is #e4ff66: ")


def test_why_is_read_as_the_guide_reads_it(n3ds: Inspection) -> None:
    """The script of the guide `debugging`: sums of the last fragment, and the draw's own bytes, alpha first."""
    answer = n3ds.why("f0/px200,160")
    fragment = answer.last.writer
    assert fragment.stage("combiner 0").values["rgb"]["operation"] == "replace"
    assert fragment.stage("blend").values["rgb"]["equation"] == "add"
    (source,) = answer.touches[-1].sources
    moment = n3ds.seek(answer.last.event.address)
    assert moment.read(source.place.address, source.place.size) == b"\xff\x66\xff\xe4"


def test_why_a_draw_of_a_3ds_is_seen(n3ds: Inspection) -> None:
    answer = n3ds.why("f0/d1")
    assert isinstance(answer, Funnel) and answer.narrowest is None and "changed a colour" in answer.because
    assert json.dumps(answer.to_json()) and "f0/d1" in str(answer)
    assert "changed a colour" in n3ds.why("f0/d1/t0").because


def test_why_on_a_switch(switch: Inspection) -> None:
    answer = switch.why("f0/px16,20")
    assert answer.proved and len(answer.conclusion) == 3 and answer.to_json()["events"][-1]["after"] == answer.value
    assert type(switch.why("f0/d1")).__name__ == "Funnel"
    thread = switch.why("f0/e6/b1,0,0/t3,0,0")
    assert type(thread).__name__ == "ThreadWhy" and json.dumps(thread.to_json())


# differences and meshes


def test_two_runs_are_compared(n3ds: Inspection) -> None:
    other = debug(n3ds.capture, {"texture.filter": "nearest"})
    report = diff(n3ds, other, range(1), names=("usual", "nearest"))
    assert isinstance(report, Report) and not report.same and report.names == ("usual", "nearest")
    assert report.structure == [] and report.vertex is None and report.frames == 1 and report.events == 11
    pixel = report.pixel
    assert isinstance(pixel, Difference) and pixel.level == "pixel" and str(pixel.a) == str(pixel.b) == pixel.places
    assert pixel.detail["pixels"] > 1000 and "->" in pixel.text and report.first == pixel and pixel in report.all
    assert [picture.level for picture in report.pictures] == ["picture"] and report.notes == []
    assert len(list(report.lines())) >= 1 and json.dumps(report.to_json()) and json.dumps(pixel.to_json())
    assert diff(n3ds, n3ds, range(1)).same


def test_a_mesh_becomes_a_file(n3ds: Inspection) -> None:
    mesh = n3ds.seek("f0/d0").mesh()
    assert isinstance(mesh, Mesh) and mesh.positions.shape == (4, 3) and mesh.triangles.shape == (2, 3)
    assert mesh.colors is not None and len(mesh.texcoords) == 1 and mesh.texture is not None and mesh.left_out == 0
    assert mesh.name and mesh.extras["address"] == "f0/d0"
    assert to_glb(mesh)[:4] == b"glTF" and to_obj(mesh).count("\nf ") == 2


# stepping


def test_a_vertex_has_the_lines_of_its_text(tmp_path: Path) -> None:
    run = debug(str(DATA / "scene_3ds.pgc"))
    text = tmp_path / "scene.v.pica"
    text.write_text("; a listing is a text too\n" + run.seek("f0/d0").programs["vertex"].text)
    run.use_texts([str(text)])
    assert [step.line for step in run.trace("f0/d0/v0").part(0, 1)] == [3, 4]


def looping() -> Program:
    words = assemble("""
        mov r2, v0
        loop i1
            add r2, c0[aL], r2
            nop
        endloop
        rsq r1.x, -r2.x
        mul o0, r1.x, r2
        end
    """)
    return Program(words.code, words.descriptors, words.entry)


def test_a_vertex_is_followed() -> None:
    inputs = np.zeros((16, 4), np.float32)
    inputs[0] = (4, 1, 0, 1)
    counts = [(0, 0, 0, 0), (2, 1, 1, 0), (0, 0, 0, 0), (0, 0, 0, 0)]
    trace = trace_vertex(looping(), inputs, {n: (n, 0, 0, 0) for n in range(8)}, int_uniforms=counts)
    assert isinstance(trace, Trace) and trace.console == "3ds"
    assert (trace.name, trace.lane) == ("vertex program", "one vertex")
    assert (trace.cut, trace.hung) == ("", False) and trace.hits[2] == 3 and len(trace) == len(trace.steps) == 11
    assert [step.index for step in trace.where("r2")] == [0, 2, 4, 6] and trace.writer("r2.x", 5) is trace[4]
    assert trace.kinds["r2.x"] == "f32" and trace.start["v0.x"] == 0x40800000
    before = trace.at(2)
    assert isinstance(before, Registers) and before.vector("r2") == (4, 1, 0, 1) and before.float("r2.x") == 4
    assert before.word("r2.x") == 0x40800000 and before.value("r2.x").number == 4 == before["r2.x"]
    assert math.isnan(trace.end["o0.x"]) and math.isnan(trace.result[0, 0, 0]) and json.dumps(trace.to_json())
    assert [step.index for step in trace.part(1, 3)] == [1, 2, 3] and trace.text(1, 3).count("\n") == 3
    birth = trace.first_nan
    assert isinstance(birth, Birth) and birth.value.name == "r1.x" and "rsq" in birth.step.text and birth.computed
    assert [(one.name, one.number) for one in birth.inputs] == [("r2.x", 10)] and json.dumps(birth.to_json())
    assert trace.nans[0] == birth and trace.first_infinite is None


def test_a_step_tells_what_an_instruction_did() -> None:
    inputs = np.zeros((16, 4), np.float32)
    trace = trace_vertex(looping(), inputs, most=4)
    loop, add = trace[1], trace[2]
    assert isinstance(add, Step) and (add.index, add.number, add.address, add.to) == (2, 2, 2, 3)
    assert "add" in add.text and "loop" in loop.text and "c0" in add.read_text and "r2" in add.happened
    assert {value.name for value in add.reads} >= {"r2.x", "c0.x"} and add.writes[0].names[0] == "r2.x"
    assert (add.flow, add.skipped, add.accesses, add.emitted, add.lanes, add.notes) == ("", False, (), None, None, ())
    assert trace.cut


def test_a_primitive_is_followed() -> None:
    words = assemble("mov o0, v0 \n setemit 0 \n emit \n mov o0, v2 \n setemit 1, prim \n emit \n end")
    trace = trace_primitive(Program(words.code, words.descriptors, words.entry), np.ones((2, 2, 4), np.float32))
    emitted = [step.emitted for step in trace if step.emitted is not None]
    assert [(one.slot, one.primitive) for one in emitted] == [(0, False), (1, True)]


def test_steps_of_recordings(n3ds: Inspection, switch: Inspection) -> None:
    vertex = n3ds.trace("f0/d0/v1")
    assert vertex.first_nan is None and vertex.end["o0.w"] == 1
    assert switch.trace("f0/d0/v1").steps and switch.trace("f0/d0/px16,20", most=4).cut
    thread = switch.trace("f0/e6/b1,0,0/t3,0,0")
    assert [access.words for access in thread[6].accesses] == [(0x23,)] and thread.end.word("R4") == 0x23


def test_a_thread_of_a_launch_is_followed(tmp_path: Path) -> None:
    (tmp_path / "k.cubin").write_bytes(load("sass").cubin())
    module = pocketgpu.RawModule(tmp_path / "k.cubin")
    function = module.get_function("k")
    trace = trace_thread(function, (1,), (32,), (np.uint64(0),), at=((0,), (5,)))
    assert trace.console == "switch" and trace[0].text.startswith("S2R") and trace.at(1).word("R0") == 5
    with watch_launches(module.device.launcher, ((0,), (5,))) as watch:
        function((1,), (32,), (np.uint64(0),))
    assert [step.text for step in watch.traces[0]] == [step.text for step in trace]


def test_vertices_and_pixels_of_a_machine_are_followed() -> None:
    scene = SmallScene()
    scene.gpu.drawing.tier = "general"  # on the interpreter, which can be watched
    corners = [[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]]
    scene.vertices(np.array([[*corner, 1, 0, 0, 1] for corner in corners]))
    scene.draw("TRIANGLES", 3)
    scene.run()
    scene.draw("TRIANGLES", 3)
    words, programs = scene.gpu.memory.arena.view(np.uint32), scene.gpu.drawing.programs
    with (
        watch_stage(programs, 1, vertex_of(words, 1)) as vertices,
        watch_stage(programs, 5, pixel_of(words, 16, 20)) as pixels,
    ):
        assert scene.run()[20, 16].tolist() == [255, 0, 0, 255]
    assert vertices.traces[0].at(1).float("R0") == 3 and pixels.traces[0][0].text.startswith("IPA.CONSTANT R0")


# the rules


def test_a_recording_is_checked() -> None:
    report = check(pocketgpu.open(DATA / "scene_3ds.pgc"))
    assert not report.failed
    finding = report.findings[0]
    assert finding.rule.severity in ("warning", "note") and finding.at.startswith("f0") and finding.message


# tables and plots


def test_tables_have_what_the_debugger_counts(switch: Inspection) -> None:
    table = tables.costs(switch, 0)
    assert isinstance(table, rows.Table) and table.kind is tables.DrawCost and table.title and table.left == ""
    draw = table.sorted("fragments")[0]
    assert isinstance(draw, tables.DrawCost) and draw.fragments == max(table.columns["fragments"])
    assert draw.address == f"f0/d{draw.draw}" and draw.title and draw.target == switch.passes(0)[draw.pass_ or 0].target
    (frame,) = tables.frames(switch, (0,))
    assert isinstance(frame, tables.FrameCost) and (frame.frame, frame.draws) == (0, len(table))
    assert (frame.vertices, frame.primitives) == tuple(sum(table.columns[one]) for one in ("vertices", "primitives"))
    assert frame.passes == len(switch.passes(0)) and draw.vertices >= draw.primitives > 0
    pixels = tables.overdraw(switch, "f0")[-1]
    assert isinstance(pixels, tables.OverdrawCount) and pixels.fragments > 0 and 0 < pixels.share <= 1 and pixels.pixels
    texture = tables.textures(switch)[0]
    assert isinstance(texture, tables.TextureUse) and texture.bytes and texture.draws and texture.first[:4] == "f0/d"
    assert min(texture.width, texture.height, texture.depth, texture.layers, texture.levels) >= 1
    assert texture.bound and texture.kind and texture.format and texture.memory.startswith("0x") and texture.fault == ""
    event = tables.events(switch)[0]
    assert isinstance(event, tables.EventRow) and event.address == "f0/e0" and event.unit and event.kind and event.title
    assert event.reads >= 0 and event.writes >= 0 and event.pass_ is not None
    stage = tables.funnel(switch, "f0/d1")[0]
    assert isinstance(stage, tables.StageCount) and stage.stage and stage.of and stage.came >= stage.passed > 0
    assert stage.stopped == 0 and stage.stopped_by == "" and stage.register == ""


def test_a_sweep_is_a_table() -> None:
    sweep: Sweep = pocketgpu.sweep(DATA / "scene_3ds.pgc", "info")
    assert len(tables.captures(sweep)) == 0 and tables.captures(sweep).kind is tables.CaptureRow
    row = tables.CaptureRow("a.pgc", "done", "3DS", 2, 1.5, 3, 0, "")
    assert (row.capture, row.state, row.console, row.frames) == ("a.pgc", "done", "3DS", 2)
    assert (row.milliseconds, row.draws, row.findings, row.message) == (1.5, 3, 0, "")
    assert list(plots.times(sweep).data) == []


def test_plots_are_figures(switch: Inspection) -> None:
    for figure in (plots.costs(switch), plots.frames(switch, (0,)), plots.overdraw(switch), plots.timeline(switch),
                   plots.funnel(switch, "f0/d1")):  # fmt: skip
        assert figure.data and figure.layout.title.text
    sheet = plots.textures(switch)
    assert isinstance(sheet, plots.Sheet) and sheet.frame == 0 and sheet.left == "" and len(sheet.uses) > 0
    assert sheet.image.size[0] > 100


# doubts


def test_doubts_are_tried(n3ds: Inspection) -> None:
    golden = next(n3ds.capture.render(range(1), switches={"texture.filter": "nearest"})).screens["top"].array

    def wanted(frame: int, screen: str) -> Any:
        return golden if screen == "top" else None

    found = doubts(n3ds.capture, ["texture.filter"], range(1), threads=1, expected=wanted, switches={})
    assert isinstance(found, CaptureDoubts) and found.choices == ("texture.filter",)
    assert (found.path, found.console, found.frames, found.of) == (n3ds.capture.path, "3DS", 1, 2)
    assert found.tried == (("texture.filter", "nearest"), ("texture.filter", "linear")) and found.failed == {}
    assert isinstance(found.agreement, Agreement) and found.agreement.wrong == 0 and found.agreement.told
    assert found.agreement.pixels == 400 * 240 and found.agreement.usual >= 0
    assert isinstance(found.work, Work) and 0 < found.work.frames <= found.work.of
    assert found.work.draws <= found.work.draws_of and found.to_json()["replayed"] == found.work.to_json()
    matrix = DoubtMatrix([found])
    assert len(found.partings) == len(matrix.rows)
    for choice, value in matrix.rows:
        parting = found.parting(choice, value)
        assert isinstance(parting, Parting) and matrix.cell((choice, value), found) == parting.pixels
        assert (parting.choice, parting.value, parting.frames) == (choice, value, 1) and parting.wrong is not None
        assert parting.to_json()["first"] == str(parting.first)
    assert set(matrix.to_json()) == {"rows", "silent"} and found.to_json()["agreement"] == found.agreement.to_json()
    assert found.agreement.values == ({"texture.filter": "nearest"} if matrix.rows else {})
    assert set(matrix.silent()) <= {"texture.filter"}


def test_photos_are_looked_at(n3ds: Inspection) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (240, 400, 3), np.uint8)

    def on_top(frame: int, screen: str) -> Any:
        return noise if screen == "top" else None

    found = doubts(n3ds.capture, ["texture.filter"], range(1), expected=on_top).agreement
    assert isinstance(found, PhotoAgreement) and not found.told and found.values == {} and found.why
    assert found.copies_wrong and found.copies_wrong > 95_000
    assert found.errors == 0 and found.noise > 0 and found.refuted == () and isinstance(found.unclear, tuple)
    assert found.to_json()["why"] == found.why
