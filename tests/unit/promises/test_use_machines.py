"""The machines, the builders and the shader unit, used by the names that the pages promise."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import pocketgpu
from pocketgpu import surface
from pocketgpu.builder import Box, Buffer, Canvas, CaptureBuilder, CommandList, assemble, meshes, patterns, shapes
from pocketgpu.builder.canvas import clip
from pocketgpu.builder.matrices import (
    UPRIGHT,
    look_at,
    orthographic,
    perspective,
    rotation,
    scaling,
    translation,
)
from pocketgpu.builder.maxwell import Grid, MaxwellCanvas, MaxwellCaptureBuilder, PushBuffer, Surface, shader, size_of
from pocketgpu.events import Event
from pocketgpu.facts import timing
from pocketgpu.facts.choices import CHOICES, evidence
from pocketgpu.facts.choices.told import all_told, told
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.formats import ETC1, RGB8, RGB565, RGBA8
from pocketgpu.facts.maxwell import B197, TIC
from pocketgpu.facts.pica import PICA
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.memory import GpuMemory
from pocketgpu.maxwell.mme.assembler import assemble as assemble_macro
from pocketgpu.maxwell.sass.assembler import assemble as assemble_code
from pocketgpu.memory import GuestMemory
from pocketgpu.pica.display import Screen
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pica.pdc import Beat, DisplayMode, Problem, display_mode
from pocketgpu.pica.shader import Emission, Outputs, Program
from pocketgpu.pica.shader.assembler import assemble_all
from pocketgpu.pica.shader.shbin import Shbin, read_shbin, shbin_of, write_shbin
from pocketgpu.pictures import animate, beside

VRAM, FCRAM = 0x18000000, 0x20000000
GPU = 0x5_0000_0000


# choices


def test_what_is_known_of_a_choice_is_plain_data(tmp_path: Path) -> None:
    answers = tmp_path / "answers.tsv"
    answers.write_text(
        "choice\tvalue\tkind\twho\twhat\twhere\tdate\ntest.order\tdepth-first\tmeasured\tconsole\t\tNew 3DS, 11.17\t\n",
        encoding="utf-8",
    )
    order = CHOICES["test.order"]
    known, more = told(order), told(order, evidence.parse(answers))
    assert known in all_told() and len(more["evidence"]) == len(known["evidence"]) + 1
    assert (more["decided"], more["certainty"]) == ("depth-first", "departs")


# the 3DS


def put(gpu: N3DS, name: str, **fields: int | bool) -> None:
    register = EXTERNAL[name]
    gpu.write_register(register.address, register.encode(**fields))


def show_a_fill(gpu: N3DS, colour: int, start: int = VRAM) -> None:
    """What the guide `first-pictures` does: the lower screen in one colour."""
    put(gpu, "PSC0_START", address=start)
    put(gpu, "PSC0_END", address=start + 320 * 240 * 3)
    put(gpu, "PSC0_VALUE", value=colour)
    put(gpu, "PSC0_CONTROL", start=True, width=1)
    put(gpu, "PDC1_ADDRESS_A0", address=start)
    put(gpu, "PDC1_FORMAT", color_format=1)
    put(gpu, "PDC1_STRIDE", stride=240 * 3)
    put(gpu, "PDC1_CONTROL", enable=True)


def test_a_3ds_machine_fills_and_shows() -> None:
    gpu = pocketgpu.N3DS()
    show_a_fill(gpu, 0xFF8000)
    gpu.finish()
    picture = gpu.screens["bottom"]
    assert isinstance(picture, Screen) and (picture.name, picture.width, picture.height) == ("bottom", 320, 240)
    assert picture.array.shape == (240, 320, 3) and picture.array[0, 0].tolist() == [255, 128, 0]
    assert picture.image.size == (320, 240) and picture.image.getpixel((0, 0)) == (255, 128, 0)
    assert gpu.timing == "instant" and gpu.time == 0 and not gpu.at_work("PSC0")
    assert set(gpu.backlights) == {"top", "bottom"}
    assert gpu.take_interrupts() == {"PSC0": 1} and not gpu.take_interrupts()
    seen: list[tuple[str, int]] = []
    gpu.on_interrupt(lambda name, count: seen.append((name, count)))
    put(gpu, "PSC0_CONTROL", start=True, width=1)
    assert seen == [("PSC0", 1)]
    gpu.step_vblank()
    assert ("PDC0", 1) in seen
    gpu.reset_units()
    gpu.reset()
    assert gpu.read_register(EXTERNAL["PSC0_START"].address) == 0
    gpu.initialise("top-flat")
    assert gpu.read_register(EXTERNAL["PDC0_HTOTAL"].address) == 450


def test_state_goes_from_one_machine_to_another() -> None:
    gpu, other = N3DS(), N3DS()
    gpu.load_memory(VRAM, bytes(range(64)))
    address = np.array([EXTERNAL["PSC0_START"].address], np.uint32)
    gpu.write_registers(address, np.array([VRAM >> 3], np.uint32))
    state = gpu.save_state()
    tables = {name: state.pop(name) for name in list(state) if name.endswith(("_lut", "_f32"))}
    tables["fog_lut"][3] = 0x123456
    other.load_initial(**state)
    other.load_tables(tables)
    assert other.read_register(int(address[0])) == VRAM >> 3
    assert other.save_state()["fog_lut"][3] == 0x123456
    assert gpu.memory.read(VRAM, 64) == bytes(range(64))


def test_guest_memory_of_a_3ds() -> None:
    memory = N3DS().memory
    assert isinstance(memory, GuestMemory)
    memory.write(FCRAM, b"words")
    assert memory.read(FCRAM, 5) == b"words" and bytes(memory.view(FCRAM, 5)) == b"words"
    assert {"VRAM", "FCRAM"} <= {region.name for region, _ in memory.regions}
    first, second = memory.offset_of(FCRAM, 4), memory.offset_of(FCRAM + 4, 4)
    assert first is not None and second == first + 4 and memory.offset_of(0, 4) is None
    with pytest.raises(pocketgpu.GuestMemoryError) as caught:
        memory.read(0, 4)
    assert isinstance(caught.value, pocketgpu.PocketGPUError)


def test_errors_tell_what_where_and_what_to_do(tmp_path: Path) -> None:
    from pocketgpu.errors import CaptureError, NoPictureError, PocketGPUError, UsageError

    assert all(issubclass(kind, PocketGPUError) for kind in (CaptureError, NoPictureError, UsageError))
    (tmp_path / "no.ctf").write_bytes(b"no capture")
    with pytest.raises(pocketgpu.CaptureError) as caught:
        pocketgpu.open(tmp_path / "no.ctf")
    error = caught.value
    assert "no capture" in error.message and str(tmp_path) in str(error.location) and "CiTrace" in str(error.hint)
    with pytest.raises(pocketgpu.UsageError, match="threads"):
        N3DS(threads=0)
    with pytest.raises(pocketgpu.NoPictureError):
        raise NoPictureError("none")


def test_the_system_software_of_a_3ds_takes_gx_commands() -> None:
    gpu = N3DS()
    # A memory fill: start, value, end of the first unit; none of the second; control: 32 bits wide, begin.
    gpu.gsp.gx([2, 0x1F000000, 0x11223344, 0x1F000040, 0, 0, 0, 0x201])
    assert gpu.memory.read(VRAM, 64) == bytes.fromhex("44332211") * 16


def test_a_machine_with_a_clock() -> None:
    gpu = N3DS(timing="emulated")
    put(gpu, "PSC0_START", address=VRAM)
    put(gpu, "PSC0_END", address=VRAM + 0x100000)
    put(gpu, "PSC0_CONTROL", start=True, width=2)
    assert gpu.read_register(EXTERNAL["PSC0_CONTROL"].address) & 1 and gpu.at_work("PSC0")
    assert gpu.run_until("PSC0") and not gpu.at_work("PSC0")
    before = gpu.time
    gpu.advance(1000)
    assert gpu.time == before + 1000 and gpu.timing == "emulated"
    mode = gpu.display_mode("top")
    assert gpu.position("top") == mode.position(gpu.time)
    assert timing.CPU_CLOCK == 268111856


def test_what_display_registers_describe() -> None:
    mode = display_mode("top", {"VTOTAL": 494})
    assert isinstance(mode, DisplayMode) and round(mode.refresh, 4) == 50.0407
    assert mode.position(mode.line_cycles) == (0, 1)
    assert (mode.clocks, mode.lines, mode.divider) == (451, 495, 24)
    assert round(mode.line_rate, 2) == 24770.13 and round(mode.pixel_clock) == 11171327
    assert (mode.line_cycles, mode.frame_cycles) == (10824, 5357880)
    assert mode.horizontal[0].name == "sync" and sum(span.length for span in mode.vertical) == 495
    assert mode.at_clock(3) == "sync" and mode.at_line(3) == "picture"
    beat = mode.beat("v_irq")
    assert isinstance(beat, Beat) and beat.next(0) == 4351248 and beat.count(0, 10 * mode.frame_cycles) == 10
    assert mode.status(0) == mode.status(mode.frame_cycles) and mode.gsp_mode == 0
    problem = {problem.id: problem for problem in mode.problems}["h-irq"]
    assert isinstance(problem, Problem) and problem.severity == "note" and "HIRQ" in problem.text


# shaders, tables and pictures of a 3DS


def test_the_readme_s_program_runs() -> None:
    words = assemble("dp4 o0.x, c0, v0 \n mov o0.yzw, v0 \n end")
    program = Program(words.code, words.descriptors, words.entry)
    outputs = program.run(np.ones((10, 16, 4), np.float32), uniforms={0: (1, 2, 3, 4)})
    assert isinstance(outputs, Outputs) and outputs.shape == (10, 16, 4)
    assert outputs[:, 0].tolist() == [[10, 1, 1, 1]] * 10
    assert outputs.conditions.shape == (10, 2) and outputs.address.shape == (10, 3) and not outputs.hung.any()
    assert outputs.emit is None or isinstance(outputs.emit, Emission)
    for tier in ("interpreter", "specialised"):
        again = Program(words.code, words.descriptors, words.entry, tier=tier, evaluator="numpy")
        assert np.array_equal(again.run(np.ones((1, 16, 4), np.float32), uniforms={0: (1, 2, 3, 4)})[0], outputs[0])


def test_a_geometry_program_tells_what_it_emits() -> None:
    words = assemble("mov o0, v0 \n setemit 1, prim \n emit \n end")
    emit = Program(words.code, words.descriptors, words.entry).run(np.ones((2, 16, 4), np.float32)).emit
    assert isinstance(emit, Emission)
    assert emit.vertex_id.tolist() == [1, 1] and emit.prim_emit.all() and not emit.winding.any()
    assert emit.count.tolist() == [1, 1] and len(emit.vertices) and len(emit.states)


def test_registers_of_the_3ds_are_data() -> None:
    register = PICA["TEXUNIT0_PARAM"]
    word = register.encode(mag_filter=1, min_filter=1, wrap_s=2)
    assert register.decode(word)["wrap_s"] == 2 and register["wrap_s"].text(word) == "2 (repeat)"
    assert EXTERNAL["PPF_FLAGS"].address == 0x10400C10


def test_methods_of_the_switch_are_data() -> None:
    clear = B197["CLEAR_SURFACE"]
    assert clear.word == 0x674 and B197["ClearColor"].count == 4
    assert clear.encode(R_ENABLE=1, G_ENABLE=1, B_ENABLE=1, A_ENABLE=1) == 0x3C
    assert TIC["BL"]["WIDTH_MINUS_ONE"].raw([0, 0, 0, 0, 1279, 0, 0, 0]) == 1279


def test_textures_become_arrays_and_bytes_again() -> None:
    data = np.random.default_rng(7).integers(0, 256, 64 * 64 * 4, dtype=np.uint8).tobytes()
    pixels = surface.decode(data, RGBA8, 64, 64, "tiled")
    assert pixels.shape == (64, 64, 4) and surface.encode(pixels, RGBA8, "tiled") == data
    assert len(surface.encode(pixels, ETC1, "tiled")) == 64 * 64 // 2


# the builders


def triangle() -> CaptureBuilder:
    """The guide `triangle`."""
    program = assemble("""
        .out o0 position
        .out o1 color
        main:
            dp4 o0.x, c0, v0
            dp4 o0.y, c1, v0
            dp4 o0.z, c2, v0
            dp4 o0.w, c3, v0
            mov o1, v1
            end
    """)
    capture = CaptureBuilder()
    corners = [[-0.8, -0.8, -0.5, 1, 0, 0], [0.8, -0.8, -0.5, 0, 1, 0], [0.0, 0.8, -0.5, 0, 0, 1]]
    vertices = capture.put(np.array(corners, np.float32))
    target = capture.allocate(240 * 400 * 4, region="VRAM")
    cl = CommandList().plain_state().render_target(target, 240, 400)
    cl.shader(program).uniforms(0, UPRIGHT)
    cl.write("FRAGOP_ALPHA_TEST", enable=True, function="greater", reference=128)
    cl.combiner(0, rgb=("replace", "vertex color")).blend("source alpha", "1 - source alpha")
    cl.depth("always").scissor(0, 0, 240, 400)
    cl.attributes(Buffer(vertices, [("f32", 3), ("f32", 3)])).draw_arrays(3).end_drawing()
    assert len(cl.words) % 2 == 0
    return capture.clear(target, 240, 400, 0x203040FF).submit(cl).present("top", target).end_frame()


def test_a_triangle_is_built_saved_and_rendered(tmp_path: Path) -> None:
    for name in ("triangle.ctf.xz", "triangle.pgc"):
        triangle().save(tmp_path / name)
    (frame,), (same,) = (pocketgpu.open(tmp_path / name).render() for name in ("triangle.ctf.xz", "triangle.pgc"))
    assert np.array_equal(frame.top.array, same.top.array)
    assert [(target.width, target.height) for target in frame.machine.render_targets] == [(240, 400)]
    picture = frame.top.array
    assert picture[0, 0].tolist() == [0x20, 0x30, 0x40]
    assert picture[215, 45].argmax() == 0 and picture[215, 355].argmax() == 1 and picture[30, 200].argmax() == 2
    assert (UPRIGHT @ perspective(60, 400 / 240, 0.1, 100)).shape == (4, 4)


def test_a_recording_of_a_switch_is_built_saved_and_rendered(tmp_path: Path) -> None:
    capture = MaxwellCaptureBuilder("promises")
    target = Surface(capture.allocate(size_of(32, 16)), 32, 16)
    pb = PushBuffer().bind("3D").render_target(0, target).clear((0.1, 0.2, 0.4, 1.0))
    pb.scissor((4, 4, 8, 8)).clear((1.0, 0.8, 0.2, 1.0))
    capture.submit(pb).present(target)
    capture.save(tmp_path / "first.mxcap.zip")
    assert (tmp_path / "first.mxcap.zip").read_bytes() == capture.tobytes()
    (frame,) = pocketgpu.open(tmp_path / "first.mxcap.zip").render()
    picture = frame.screens["screen"].array
    assert picture.shape == (16, 32, 3)
    assert picture[5, 5].tolist() == [255, 204, 51] and picture[0, 0].tolist() == [26, 51, 102]
    assert frame.counts["clears"] == 2 and {type(record).__name__ for record in frame.machine.log} == {"Clear"}


def test_canvases_of_both_consoles_make_pictures(tmp_path: Path) -> None:
    """As the scenes of the gallery use them."""
    canvas = Canvas()
    canvas.fill(Box(40, 40, 200, 200), (255, 0, 0, 255))
    other = MaxwellCanvas().fill((40, 40, 60, 60), (255, 0, 0))
    assert clip(0, 0) == (1, 1) and clip(400, 240) == (-1, -1)
    first, second = canvas.image(), other.image()
    assert first.getpixel((100, 100)) == second.getpixel((50, 50)) == (255, 0, 0)
    canvas.texture(np.full((8, 8, 4), 255, np.uint8))
    canvas.quad(Box(40, 40, 200, 200).part(0, 2, 1, 2).inner(4))
    assert canvas.images()[-1].getpixel((100, 180)) == (255, 255, 255) and first.getpixel((100, 180)) == (255, 0, 0)
    box = Box(1, 2, 3, 5)
    assert (box.middle, box.turned) == ((3, 2), (3, 2, 1, 5)) and (box.left, box.top, box.right, box.bottom) == box
    other.square((80, 40, 60, 60), (255, 255, 0)).programs()
    other.shaded((160, 40, 60, 60), [(0, 0, 1, 1)] * 4, "MOV R0, RZ\nMOV R1, RZ\nMOV R2, RZ\nMOV R3, RZ\nEXIT")
    other.texture(pocketgpu.Texture(np.zeros((4, 4, 4), np.uint8))).draw("POINTS", [(0, 0, 0, 1, 0, 0, 0, 0)])
    assert other.images()[-1].getpixel((110, 70)) == (255, 255, 0) and other.surface(64, 64).size >= 4 * 64 * 64
    other.save(tmp_path / "other.mxcap.zip")
    canvas.save(tmp_path / "canvas.ctf")
    assert (tmp_path / "other.mxcap.zip").read_bytes() == other.tobytes()
    assert (tmp_path / "canvas.ctf").read_bytes() == canvas.tobytes()
    both = beside([first, second], ["3DS", "Switch"])
    animate([both, both.transpose(0)], tmp_path / "both.png", milliseconds=50)
    with Image.open(tmp_path / "both.png") as moving:
        assert moving.size == both.size and moving.n_frames == 2


def test_a_canvas_draws_vertices_into_targets_that_are_looked_at() -> None:
    """As the scenes of the gallery use it."""
    canvas = Canvas((0, 0, 0, 255), format="RGB565")
    canvas.show("vertex color")
    corners = [(*clip(x, y), -0.5, 1) for x, y in ((0, 0), (0, 240), (400, 240), (400, 0))]
    canvas.draw_vertices(corners, (1, 0, 0), (0, 0, 1), indices=[0, 1, 2])
    canvas.submit()
    small = canvas.capture.allocate(64 * 64 * RGBA8.bits // 8, region="VRAM")
    canvas.draw_to(small, 64, 64)
    canvas.paint((0, 0, 255, 255))
    canvas.draw_vertices(corners, (1, 0, 0), (0, 0, 1), primitive="triangle fan")
    canvas.submit()
    canvas.end_frame()
    (frame,) = canvas.frames()
    assert frame.top.array[200, 100].tolist() == [255, 0, 0] and not frame.top.array[100, 300].any()
    assert canvas.decoded(small, 64, 64).getpixel((63, 0)) == (0, 0, 255, 255)
    assert canvas.decoded(canvas.target, 240, 400, RGB565.name).getpixel((10, 30)) == (255, 0, 0, 255)
    assert canvas.format == "RGB565" and RGB8.bits == 24
    assert canvas.put_floats([1, 2]) % 4 == 0


def test_shapes_are_drawn_with_a_camera_and_lights() -> None:
    """As the scenes of the gallery use them."""
    canvas = Canvas((0, 0, 0, 255))
    canvas.camera((0, 0, 6), (0, 0, 0))
    canvas.list.depth("greater")
    canvas.lighting({"D0": np.linspace(0, 1, 257) ** 20}, inputs={"d0": "N.H"}, ambient=(0, 0, 0))
    canvas.light(0, (0, 0, 6), diffuse=(200, 0, 0), specular=(55, 55, 55))
    canvas.mesh(shapes.sphere(), translation(-1.4, 0, 0))
    canvas.clear()
    canvas.texture(patterns.checks(16, 2, [(250, 0, 0, 255), (0, 0, 250, 255)]), filter="nearest")
    move = translation(1.4, 0, 0) @ rotation((0, 0, 1), np.pi / 2) @ scaling(0.5, 0.5, 0.5)
    program = assemble(f"{meshes.OUTPUTS}{meshes.PLACE}{meshes.NORMAL}mov o2, v2\nend\n")
    canvas.mesh(shapes.tiled(shapes.plane(2, 2), 1, 1), move, program=program)
    picture = np.asarray(canvas.image())
    assert picture[120, 100].tolist() == [0, 0, 0], "cleared"
    colors = {tuple(color) for color in picture.reshape(-1, 3).tolist()}
    assert colors == {(0, 0, 0), (250, 0, 0), (0, 0, 250)}
    assert [len(one[1]) // 3 for one in (shapes.cube(), shapes.torus(1, 0.4, 8, 4))] == [12, 64]
    assert look_at((0, 0, 5), (0, 0, 0)) @ [0, 0, 0, 1] == pytest.approx([0, 0, -5, 1])
    assert orthographic(0, 400, 0, 240) @ [200, 120, 0, 1] == pytest.approx([0, 0, -1, 1])


def test_patterns_are_pictures_and_maps() -> None:
    stone = patterns.ramp(patterns.noise(32, 2), [(60, 56, 64, 255), (190, 184, 176, 255)])
    bumps = patterns.normals(patterns.bricks(32))
    sign = patterns.drawn("ab\nba", {"a": (9, 9, 9, 255), "b": (0, 0, 0, 0)})
    assert stone.shape == bumps.shape == (32, 32, 4) and sign[..., 0].tolist() == [[9, 0], [0, 9]]


def test_a_surface_of_a_switch_tells_where_its_pixels_lie() -> None:
    rows = Surface(GPU, 32, 16, pitch=128)
    assert (rows.address, rows.width, rows.height, rows.pitch, rows.format) == (GPU, 32, 16, 128, "A8B8G8R8")
    assert rows.size == 16 * 128 and rows.row == 128 and rows.pixel == 4
    assert Surface(GPU, 32, 16).block_height_log2 >= 0


def test_a_capture_of_a_switch_is_made_of_parts() -> None:
    capture = MaxwellCaptureBuilder("parts")
    first = capture.allocate(4096)
    capture.load(first, bytes(16))
    twin = capture.alias(first)
    capture.unmap(twin)
    point = capture.syncpoint()
    capture.submit(PushBuffer().bind("3D").raw(np.zeros(2, np.uint32)))
    assert capture.document()["format"] and json.dumps(capture.document()) and capture.files()
    assert capture.put(b"bytes") > first and point >= 0 and capture.log()


def test_every_word_of_a_pushbuffer_can_be_written() -> None:
    """Each method of the builder leaves words; what words do, tests of the builder tell."""
    surface_a, surface_b = Surface(GPU, 32, 16, pitch=128), Surface(GPU + 0x10000, 32, 16)
    pb = PushBuffer()
    assert pb.bind("3D") is pb and pb.subchannel == 0 and pb.block is B197
    assert pb.find("CLEAR_SURFACE").word == 0x674
    seen = [0]

    def grew() -> bool:
        seen.append(len(pb.words))
        return seen[-1] > seen[-2]

    assert grew()
    pb.method("SET_COLOR_TARGET_WIDTH", 0, 640, 360)
    assert grew()
    pb.address("SET_COLOR_TARGET_A", 1, GPU)
    assert grew()
    pb.plain_state().render_target(0, surface_a).depth_target(GPU + 0x20000, 32, 16)
    assert grew()
    pb.viewport(0, 0, 32, 16).scissor((0, 0, 32, 16)).clear_depth(1.0)
    assert grew()
    pb.shaders({"vertex": GPU, "pixel": GPU}).constants("vertex", 0, GPU, 256).texture_pools(GPU, GPU, 0)
    assert grew()
    pb.stream(0, GPU, 20, size=60).attribute(0, 0, 0, "R32_G32")
    assert grew()
    pb.draw("TRIANGLES", 3).draw_indexed("TRIANGLES", GPU, 3).draw_inline("TRIANGLES", [0, 1, 2])
    assert grew()
    pb.upload_macro(0, [0x91, 0x11], at=0).call_macro(0, 1)
    assert grew()
    pb.report(GPU)
    assert grew()
    pb.semaphore_release(GPU, 1).semaphore_acquire(GPU, 1).syncpoint_increment(1).syncpoint_wait(1, 0)
    assert grew()
    pb.bind("DMA copy").copy(GPU, GPU + 4096, 64).copy_rectangle(surface_a, surface_b).fill(GPU, 0, 64)
    assert grew()
    pb.bind("2D").blit(surface_a, surface_b, filter="POINT")
    assert grew()
    pb.bind("inline-to-memory").inline(GPU, b"1234").inline_rectangle(surface_b, 0, 0, np.zeros((16, 32, 4), np.uint8))
    assert grew()
    pb.bind("compute").launch(GPU, Grid(GPU, blocks=(1,), threads=(32,)))
    assert grew()
    pb.on("3D").write(0x674, 0x3C).packet("inc", 0x680, [1, 2]).raw([0])
    assert grew()
    assert pb.tobytes() == pb.words.tobytes()
    pb.end_segment()


def test_texts_become_a_compiled_shader_and_a_program_again() -> None:
    vertex = ".out it position\n.proc main\nmov it, v0\nend\n.end"
    geometry = ".gsh point c0\n.proc gmain\nemit\nend\n.end\n.entry gmain"
    made = assemble_all([("a.v.pica", vertex), ("a.g.pica", geometry)])
    shader = read_shbin(write_shbin(shbin_of(made)))
    assert isinstance(shader, Shbin) and [one.type for one in shader.executables] == ["vertex", "geometry"]
    again = shader.assembly(1)
    assert (again.code, again.descriptors, again.entry) == (made[1].code, made[1].descriptors, 2)
    assert len(CommandList().shader(shader.assembly()).words) > 20


def test_programs_macros_and_code_are_assembled() -> None:
    image = shader("vertex", "ALD.64 R0, a[0x80]\nAST.64 a[0x70], R0\nEXIT").image
    assert len(image) > 80 and assemble_code("EXIT").code[:8] != bytes(8)
    assert list(assemble_macro("exit\nnop")) == [0x91, 0x11]


# the machine of the Switch


def test_blits_are_in_the_log(tmp_path: Path) -> None:
    capture = MaxwellCaptureBuilder("a blit")
    source, target = (Surface(capture.allocate(size_of(32, 32)), 32, 32) for _ in range(2))
    capture.submit(PushBuffer().bind("2D").blit(source, target, filter="POINT")).present(target)
    capture.save(tmp_path / "blit.mxcap.zip")
    (frame,) = pocketgpu.open(tmp_path / "blit.mxcap.zip").render()
    (blit,) = frame.machine.log
    assert type(blit).__name__ == "Blit" and blit.source_format == "A8B8G8R8" and len(blit.rectangle) == 4


def test_draws_are_in_the_log() -> None:
    sample = resources.files("pocketgpu") / "data" / "sample_switch.mxcap.zip"
    (frame,) = pocketgpu.open(str(sample)).render(frames=range(1))
    draws = [record for record in frame.machine.log if type(record).__name__ == "Draw"]
    assert len(draws) == 55 and draws[0].count == 960 and draws[0].place and isinstance(draws[0].topology, int)


def test_textures_and_surfaces_are_made_of_arrays() -> None:
    picture = np.arange(64, dtype=np.float32).reshape(8, 8)
    assert isinstance(pocketgpu.Texture(picture), pocketgpu.Texture)
    surface_of = pocketgpu.Surface(picture)
    assert isinstance(surface_of, pocketgpu.Surface)
    stored = np.frombuffer(surface_of.tobytes(), np.float32)
    assert np.array_equal(np.sort(stored[stored != 0]), np.arange(1, 64))


def test_a_switch_machine_runs_what_it_is_given() -> None:
    gpu = pocketgpu.GM20B()
    assert isinstance(gpu, GM20B) and isinstance(gpu.memory, GpuMemory)
    gpu.map(GPU, 0x1000)
    words = PushBuffer().bind("3D").method("SET_Z_CLEAR_VALUE", 0.5).words
    gpu.memory.write(GPU, words.tobytes())
    assert gpu.submit([GPU | len(words) << 42]) == 0
    gpu.run()
    gpu.finish()
    assert gpu.registers(0xB197)[B197["SET_Z_CLEAR_VALUE"].word] == 0x3F000000
    assert gpu.channel(0) is gpu.channel() and isinstance(gpu.take_interrupts(), dict) and list(gpu.log) == []
    gpu.reset()
    assert gpu.registers(0xB197)[B197["SET_Z_CLEAR_VALUE"].word] == 0


def test_memory_of_a_switch_is_backed_mapped_and_kept() -> None:
    memory = GpuMemory()
    backing = memory.allocate(0x2000)
    mapping = memory.map(GPU, 0x1000, backing)
    memory.map(GPU + 0x4000, 0x1000, backing)
    assert memory.write(GPU, b"seen twice") and memory.read(GPU + 0x4000, 10) == b"seen twice"
    state = memory.snapshot()
    assert memory.try_write(GPU + 0xFFC, b"12345678") == 4
    assert memory.try_read(GPU + 0xFFC, 8) == (b"1234" + bytes(4), 4)
    assert [length for _, length in memory.spans(GPU + 0xFFC, 8)] == [4, 4]
    memory.restore(state)
    assert memory.read(GPU + 0xFFC, 4) == bytes(4)
    memory.unmap(mapping)
    memory.unmap(GPU + 0x4000)
    memory.release(backing)
    with pytest.raises(pocketgpu.GuestMemoryError):
        memory.read(GPU, 1)


def test_an_event_says_what_the_guest_did() -> None:
    event = next(iter(pocketgpu_events()))
    assert isinstance(event, Event) and isinstance(event, pocketgpu.Event)
    assert event.id and event.message and event.at and event.count == 1 and event.kind
    assert re.fullmatch(r"\d+\.\d+\.\d+", pocketgpu.__version__)
    assert pocketgpu.errors.UsageError is pocketgpu.UsageError


def pocketgpu_events() -> list[Event]:
    """Events of a 3DS whose transfer reads where no memory is."""
    gpu = N3DS()
    put(gpu, "PSC0_START", address=0x30000000)
    put(gpu, "PSC0_END", address=0x30000010)
    put(gpu, "PSC0_CONTROL", start=True)
    return gpu.events.drain()


def test_a_launch_says_what_its_threads_did_wrong() -> None:
    text = ".kernel k\n.param out ptr\nMOV R2, c[0x0][out]\nMOV R3, c[0x0][out+4]\n"
    text += "STG.E [R2], RZ\nSTG.E [R2+0x8], RZ\nEXIT"
    result = pocketgpu.RawModule(code=text).get_function("k")((2,), (1,), (np.zeros(1, np.uint32),))
    assert result.fault_count == len(result.faults) == 2
    last = result.faults[1]
    assert (last.line, last.block, last.thread, last.buffer_offset) == (6, (1, 0, 0), (0, 0, 0), 8)
    assert last.buffer is not None and last.buffer.name == "argument 0 (out)"
