"""`info` counts what a capture asks for, names features and doubts, and draws nothing."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.capture.formats.citrace_write import Load, RecordedEvent, Write, write_citrace
from pocketgpu.capture.formats.n3ds_trace import InitialState
from pocketgpu.cli import main
from pocketgpu.facts.choices import CHOICES
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.n3ds.inventory import doubts, features
from pocketgpu.inspect.n3ds.inventory.capture_info import CaptureInfo, examine
from pocketgpu.inspect.n3ds.inventory.draw_state import DrawState, DrawStates
from pocketgpu.pica.core.layout import KIND_ARRAYS, KIND_ELEMENTS, KIND_IMMEDIATE

LIST, VRAM = 0x20000000, 0x18000000


def word(name: str, **fields: Any) -> int:
    return (PICA if name in PICA else EXTERNAL)[name].encode(**fields)


class Commands:
    """A command list under construction: register writes of one word each."""

    def __init__(self) -> None:
        self.words: list[int] = []

    def write(self, name: str | int, value: int | None = None, **fields: Any) -> Commands:
        number = name if isinstance(name, int) else PICA[name].offset
        value = word(str(name), **fields) if value is None else value
        self.words += [value, number | 0xF0000]
        return self

    def finish(self) -> bytes:
        self.write("FINALIZE", 0x12345678)
        self.words += [0] * (-len(self.words) % 4)
        return struct.pack(f"<{len(self.words)}I", *self.words)


def plain(commands: Commands) -> Commands:
    """The state of an ordinary draw of one triangle."""
    commands.write("FRAMEBUFFER_DIM", width=240, height=399, flip=True)
    commands.write("COLORBUFFER_LOC", address=VRAM).write("DEPTHBUFFER_LOC", address=VRAM + 0x60000)
    commands.write("DEPTHBUFFER_FORMAT", format=3).write("COLORBUFFER_FORMAT", format=0, pixel_size=2)
    commands.write("DEPTH_COLOR_MASK", depth_test=True, depth_function=6, red=True, depth_write=True)
    commands.write("DEPTHBUFFER_WRITE", depth=True, stencil=True)
    commands.write("ATTRIBBUFFERS_FORMAT_LOW", type0=3, size0=2).write(
        "ATTRIBBUFFERS_FORMAT_HIGH", count=1, fixed_mask=2
    )
    commands.write("ATTRIBBUFFER0_CONFIG1", component1=0).write("ATTRIBBUFFER0_CONFIG2", stride=12, count=1)
    commands.write("LIGHTING_ENABLE1", disable=True).write("COLOR_OPERATION", blend_enable=True)
    commands.write("BLEND_FUNC", src_rgb=1, src_alpha=1).write("DEPTHMAP_ENABLE", enable=True)
    for stage in range(1, 6):
        commands.write(f"TEXENV{stage}_SOURCE", rgb0=15, alpha0=15)
    return commands.write("NUMVERTICES", count=3)


def run_list(data: bytes, address: int = LIST) -> list[RecordedEvent]:
    size, start, jump = (PICA[name].address for name in ("CMDBUF_SIZE0", "CMDBUF_ADDR0", "CMDBUF_JUMP0"))
    return [Load(address, data), Write(size, len(data) >> 3), Write(start, address >> 3), Write(jump, 1)]


def external(name: str, value: int | None = None, **fields: Any) -> Write:
    return Write(EXTERNAL[name].address, word(name, **fields) if value is None else value)


def start() -> InitialState:
    """The core's registers as system software leaves them, so that lists end where they should."""
    core = np.zeros(0x300, np.uint32)
    core[[0x20, 0x30, 0x31, 0x34]] = 0x12345678, 0xFFFFFFF0, 0xFFFFFFFF, 1
    return InitialState.of(pica=core)


def info_of(tmp_path: Path, *frames: list[RecordedEvent]) -> CaptureInfo:
    path = tmp_path / "scene.ctf"
    write_citrace(path, frames, start())
    return examine(pocketgpu.open(path))


def texts(info: CaptureInfo) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for feature in info.features:
        found.setdefault(feature.id, set()).add(feature.text)
    return found


def doubts_of(info: CaptureInfo, certain: bool = True) -> set[str]:
    return {doubt.choice for doubt in info.doubts if doubt.certain == certain}


def drawn(tmp_path: Path, **changes: Any) -> CaptureInfo:
    """A capture of one draw whose state differs by "REGISTER__field=value" from a plain one."""
    commands = plain(Commands())
    registers: dict[str, dict[str, Any]] = {}
    for path, value in changes.items():
        name, _, part = path.partition("__")
        registers.setdefault(name, {})[part] = value
    for name, fields in registers.items():
        commands.write(name, **fields)
    return info_of(tmp_path, run_list(commands.write("DRAWARRAYS", 1).finish()))


# counts and features


def test_a_plain_draw_depends_on_nothing_certain(tmp_path: Path) -> None:
    info = drawn(tmp_path)
    assert doubts_of(info) == set()
    found = texts(info)
    assert found["target"] == {"RGBA8 and D24S8, 240x400, colours at 0x18000000"}
    assert found["attributes"] == {"f32x3 fixed from 1 buffer"}
    assert found["combiners"] == {"1 stage"} and found["depth-test"] == {"greater"}
    assert found["vertices.arrays"] and found["primitives"] == {"triangles"}
    assert set(found) == {
        "target", "attributes", "combiners", "combiners.operation", "depth-test", "vertices.arrays", "primitives",
    }  # fmt: skip


def test_frames_are_counted_one_by_one(tmp_path: Path) -> None:
    commands = plain(Commands()).write("DRAWARRAYS", 1).write("NUMVERTICES", count=300).write("DRAWARRAYS", 1)
    data = commands.finish()
    fill = [
        external("PSC0_START", address=VRAM), external("PSC0_END", address=VRAM + 4096),
        external("PSC0_CONTROL", start=True, width=2),
    ]  # fmt: skip
    copy = [
        external("PPF_INPUT_ADDRESS", address=VRAM), external("PPF_OUTPUT_ADDRESS", address=VRAM + 4096),
        external("PPF_FLAGS", texture_copy=True), external("PPF_COPY_SIZE", size=64),
        external("PPF_CONTROL", start=True),
    ]  # fmt: skip
    info = info_of(tmp_path, [*fill, *run_list(data), Load(VRAM, bytes(16))], [], [*copy, *run_list(data)])
    first, second, third = info.frames
    assert (first.index, first.lists, first.draws, first.vertices, first.fills) == (0, 1, 2, 303, 1)
    assert (first.loads, first.load_bytes, first.list_words) == (2, len(data) + 16, len(data) // 4)
    assert first.writes == len(fill) + 3
    assert vars(second) == {**dict.fromkeys(vars(second), 0), "index": 1}
    assert (third.texture_copies, third.draws, third.fills) == (1, 2, 0)
    totals = info.totals()
    assert totals["draws"] == 4 and totals["vertices"] == 606 and "index" not in totals
    assert info.states == 1
    assert {(use.count, use.first) for feature, use in info.features.items() if feature.id == "target"} == {
        (4, "f0/d0")
    }


@pytest.mark.parametrize(("address", "size", "lists"), [(LIST, 32, 1), (LIST, 0, 0), (0x1F000000, 32, 0)])
def test_lists_are_counted_where_there_are_words(tmp_path: Path, address: int, size: int, lists: int) -> None:
    """Not those of no bytes, and not those outside of memory."""
    events = run_list(Commands().write("TEXENV0_COLOR", 1).write("TEXENV0_COLOR", 2).finish())
    words = {
        PICA["CMDBUF_ADDR0"].address: word("CMDBUF_ADDR0", address=address),
        PICA["CMDBUF_SIZE0"].address: word("CMDBUF_SIZE0", size=size),
    }
    changed = [Write(one.address, words[one.address]) if getattr(one, "address", 0) in words else one for one in events]
    assert changed != events or lists
    frame = info_of(tmp_path, changed).frames[0]
    assert (frame.lists, frame.list_words) == (lists, lists * size // 4)


def test_many_draws_are_counted_by_state(tmp_path: Path) -> None:
    """More draws than one batch of packets holds, two states in turn."""
    commands = plain(Commands())
    for i in range(3000):
        commands.write("FACECULLING_CONFIG", mode=1 + i % 2).write("DRAWELEMENTS", 1)
    info = info_of(tmp_path, run_list(commands.finish()))
    assert info.states == 2 and info.frames[0].draws == 3000 and info.frames[0].vertices == 9000
    culling = {
        feature.text: (use.count, use.first) for feature, use in info.features.items() if feature.id == "culling"
    }
    assert culling == {"front (counter-clockwise)": (1500, "f0/d0"), "back (clockwise)": (1500, "f0/d1")}


def test_textures_and_their_use(tmp_path: Path) -> None:
    info = drawn(
        tmp_path, TEXUNIT_CONFIG__unit0_enable=True, TEXUNIT_CONFIG__unit1_enable=True, TEXENV0_SOURCE__rgb0=3,
        TEXUNIT0_TYPE__format=13, TEXUNIT0_DIM__width=64, TEXUNIT0_DIM__height=32, TEXUNIT0_LOD__max_level=3,
        TEXUNIT0_PARAM__mag_filter=1, TEXUNIT0_PARAM__mip_filter=1, TEXUNIT0_PARAM__wrap_s=2, TEXUNIT0_PARAM__type=1,
        TEXUNIT0_ADDR__address=VRAM,
    )  # fmt: skip
    found = texts(info)
    # Unit 1 is on, but nothing reads it.
    assert found["texture"] == {"unit 0: ETC1A4 64x32 cube, levels 0-3"} and found["texture.type"] == {"cube"}
    assert found["texture.mipmaps"] == {"linear between levels"} and found["texture.wrap"] == {"repeat, clamp to edge"}
    assert found["texture.filter"] == {"linear when enlarged, nearest when reduced"}
    assert doubts_of(info) == {"texture.levels"}


@pytest.mark.parametrize(
    ("changes", "feature", "text"),
    [
        ({"LIGHTING_ENABLE1__disable": False, "TEXENV0_SOURCE__rgb0": 1}, "lighting", "1 light, tables D0, RR, SP, DA"),
        (
            {"LIGHTING_ENABLE1__disable": False, "TEXENV0_SOURCE__rgb0": 2, "LIGHTING_CONFIG0__bump_mode": 1},
            "lighting.bump",
            "bump map on texture unit 0",
        ),
        (
            {"TEXUNIT_CONFIG__unit3_enable": True, "TEXENV0_SOURCE__rgb0": 6, "PROCTEX0__noise": True},
            "proctex",
            "noise",
        ),
        ({"TEXENV_UPDATE_BUFFER__fog_mode": 5}, "fog", "looked up by depth"),
        ({"TEXENV_UPDATE_BUFFER__fog_mode": 7}, "gas", "density is shaded"),
        ({"COLOR_OPERATION__fragment_mode": 3}, "shadow-map", "a shadow map is drawn"),
        ({"GEOSTAGE_CONFIG__mode": 2, "GSH_MISC0__mode": 1}, "geometry-shader", "variable mode"),
        ({"COLOR_OPERATION__blend_enable": False, "LOGIC_OP__op": 0}, "logic-operation", "clear"),
        ({"BLEND_FUNC__src_rgb": 6, "BLEND_FUNC__dst_rgb": 7}, "blending", "source alpha"),
        ({"FRAGOP_ALPHA_TEST__enable": True, "FRAGOP_ALPHA_TEST__function": 6}, "alpha-test", "greater"),
        ({"STENCIL_TEST__enable": True, "STENCIL_TEST__function": 2}, "stencil-test", "equal"),
        ({"SCISSORTEST_MODE__mode": 3}, "scissor", "keep inside"),
        ({"FRAGOP_CLIP__enable": True}, "clip-plane", "user clip plane"),
        ({"FRAMEBUFFER_BLOCK32__enable": True}, "target.block32", "32x32 blocks"),
        ({"DEPTHMAP_ENABLE__enable": False}, "w-buffer", "depth times w"),
        ({"TEXENV1_SOURCE__rgb0": 13}, "combiners.buffer", "combiner buffer"),
    ],
)  # fmt: skip
def test_features(tmp_path: Path, changes: dict[str, Any], feature: str, text: str) -> None:
    (found,) = texts(drawn(tmp_path, **changes)).get(feature, {""})
    assert text in found
    assert feature not in texts(drawn(tmp_path))


@pytest.mark.parametrize(
    ("changes", "choice"),
    [
        ({"VIEWPORT_XY__x": -5}, "viewport.offset_sign"),
        ({"FACECULLING_CONFIG__mode": 3}, "raster.cull_0_3"),
        ({"ATTRIBBUFFERS_FORMAT_HIGH__fixed_mask": 1}, "vertex.fixed_and_loaded"),
        ({"ATTRIBBUFFER1_CONFIG1__component1": 0, "ATTRIBBUFFER1_CONFIG2__count": 1}, "vertex.repeated_attribute"),
        (
            {"ATTRIBBUFFERS_FORMAT_LOW__type1": 3, "ATTRIBBUFFER0_CONFIG1__component1": 2,
             "ATTRIBBUFFER0_CONFIG1__component2": 1, "ATTRIBBUFFER0_CONFIG2__count": 2},
            "vertex.alignment",
        ),
        ({"TEXENV0_SOURCE__rgb0": 15}, "combiner.first_previous"),
        ({"TEXENV0_SOURCE__rgb0": 13}, "combiner.first_buffer"),
        ({"TEXENV2_SOURCE__rgb0": 13, "TEXENV_UPDATE_BUFFER__rgb1": True}, "combiner.buffer_delay"),
        ({"TEXENV0_COMBINER__rgb": 3}, "combiner.add_signed"),
        ({"TEXENV3_SCALE__rgb": 3}, "combiner.scale_3"),
        ({"FRAGOP_ALPHA_TEST__enable": True, "STENCIL_TEST__enable": True}, "test.order"),
        ({"STENCIL_TEST__enable": True, "STENCIL_TEST__function": 4}, "test.stencil_operands"),
        ({"STENCIL_TEST__enable": True, "DEPTHBUFFER_WRITE__depth": True}, "test.stencil_write"),
        ({"DEPTH_COLOR_MASK__depth_write": True}, "test.untested_depth_write"),
        ({"BLEND_FUNC__equation_rgb": 4, "BLEND_FUNC__src_rgb": 6}, "blend.min_max"),
        ({"BLEND_FUNC__src_alpha": 15}, "blend.factor_15"),
        ({"TEXUNIT_CONFIG__unit0_enable": True, "TEXENV0_SOURCE__rgb0": 3}, "texture.null_address"),
        (
            {"TEXUNIT_CONFIG__unit1_enable": True, "TEXENV0_SOURCE__rgb0": 4, "TEXUNIT1_TYPE__format": 3},
            "texture.expand",
        ),
        (
            {"TEXUNIT_CONFIG__unit2_enable": True, "TEXENV0_SOURCE__rgb0": 5, "TEXUNIT2_PARAM__wrap_t": 6},
            "texture.wrap_4_7",
        ),
        (
            {"TEXUNIT_CONFIG__unit0_enable": True, "TEXENV0_SOURCE__rgb0": 3, "TEXUNIT0_PARAM__type": 2},
            "texture.shadow_filter",
        ),
        (
            {"LIGHTING_ENABLE1__disable": False, "TEXENV0_SOURCE__rgb0": 1, "LIGHTING_CONFIG1__rr_off": True},
            "lighting.off_bits",
        ),
        (
            {"LIGHTING_ENABLE1__disable": False, "TEXENV0_SOURCE__rgb0": 1, "LIGHT3_DIFFUSE__g": 256},
            "lighting.color_bits",
        ),
        (
            {"LIGHTING_ENABLE1__disable": False, "TEXENV0_SOURCE__rgb0": 1, "LIGHTING_CONFIG0__fresnel": 1,
             "LIGHTING_NUM_LIGHTS__count": 1},
            "lighting.fresnel",
        ),
    ],
)  # fmt: skip
def test_doubts_of_draws(tmp_path: Path, changes: dict[str, Any], choice: str) -> None:
    assert choice in doubts_of(drawn(tmp_path, **changes))
    assert choice not in doubts_of(drawn(tmp_path))


def test_doubts_of_immediate_vertices_and_triggers(tmp_path: Path) -> None:
    commands = plain(Commands()).write("PRIMITIVE_CONFIG", mode=1).write("VSH_NUM_ATTR", count=1)
    commands.write("VSH_ATTRIBUTES_PERMUTATION_LOW", input0=1).write("FIXEDATTRIB_INDEX", index=15)
    for _ in range(3 * 2 * 3):
        commands.write("FIXEDATTRIB_DATA0", 0x3F000000)
    commands.write("DRAWELEMENTS", 0).write("IRQ_ACK0", 5).write(0x2FF, 1).write(0x345, 1)
    info = info_of(tmp_path, run_list(commands.finish()))
    assert doubts_of(info) == {
        "vertex.immediate_inputs", "vertex.immediate_strip", "draw.trigger_value", "list.private_ids",
    }  # fmt: skip
    assert texts(info)["vertices.immediate"] == {"2 attributes a vertex"}
    assert info.frames[0].vertices == 3 + 3
    ignored = next(use for doubt, use in info.doubts.items() if doubt.choice == "list.private_ids")
    assert (ignored.count, ignored.first) == (2, "f0")


def unit_words(unit: str, **fields: int) -> dict[str, int]:
    """The registers of a unit by name; fields as "REGISTER__field"."""
    words = {register.name: 0 for register in EXTERNAL if register.name.startswith(unit)}
    for path, value in fields.items():
        name, _, part = path.partition("__")
        words[name] = EXTERNAL[name][part].encode(value, words[name])
    return words


SIZES = {"PPF_INPUT_SIZE__width": 240, "PPF_OUTPUT_SIZE__width": 240, "PPF_OUTPUT_SIZE__height": 400}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({**SIZES, "PPF_FLAGS__output_format": 1}, set()),
        ({**SIZES, "PPF_FLAGS__output_format": 2}, {"transfer.contract"}),
        ({**SIZES, "PPF_FLAGS__input_format": 1}, {"transfer.odd_formats"}),
        ({**SIZES, "PPF_FLAGS__input_format": 2, "PPF_FLAGS__output_format": 3}, set()),
        (
            {**SIZES, "PPF_FLAGS__input_format": 1, "PPF_FLAGS__output_format": 4},
            {"transfer.odd_formats", "transfer.contract"},
        ),
        ({**SIZES, "PPF_INPUT_SIZE__width": 256}, {"transfer.uncropped_stride"}),
        ({**SIZES, "PPF_INPUT_SIZE__width": 256, "PPF_FLAGS__crop": 1}, set()),
        ({**SIZES, "PPF_INPUT_SIZE__width": 256, "PPF_FLAGS__crop": 1, "PPF_FLAGS__flip": 1}, {"transfer.flip_crop"}),
        ({**SIZES, "PPF_FLAGS__no_tiling": 1}, {"transfer.no_tiling"}),
        ({**SIZES, "PPF_FLAGS__no_tiling": 1, "PPF_FLAGS__linear_to_tiled": 1}, {"transfer.both_tiling_flags"}),
        ({**SIZES, "PPF_FLAGS__scale": 1, "PPF_FLAGS__linear_to_tiled": 1}, {"transfer.linear_scale"}),
        (
            {**SIZES, "PPF_FLAGS__scale": 2, "PPF_FLAGS__input_format": 4, "PPF_FLAGS__output_format": 4},
            {"transfer.average_bits"},
        ),
        ({**SIZES, "PPF_FLAGS__block32": 1}, {"transfer.block32"}),
        (
            {**SIZES, "PPF_OUTPUT_SIZE__height": 56, "PPF_FLAGS__input_format": 2, "PPF_FLAGS__output_format": 3},
            {"transfer.small"},
        ),
        ({}, {"transfer.zero_size"}),
        ({"PPF_FLAGS__texture_copy": 1, "PPF_COPY_INPUT__width": 64}, set()),
        (
            {"PPF_FLAGS__texture_copy": 1, "PPF_COPY_INPUT__width": 64, "PPF_COPY_INPUT__gap": 16},
            {"texture_copy.units"},
        ),
        ({"PPF_FLAGS__texture_copy": 1, "PPF_COPY_OUTPUT__gap": 16}, {"texture_copy.zero_width"}),
        ({"PPF_FLAGS__input_format": 7, "PPF_FLAGS__output_format": 6, **SIZES}, set()),
    ],
)  # fmt: skip
def test_doubts_of_transfers(fields: dict[str, int], expected: set[str]) -> None:
    words = unit_words("PPF", **fields)
    assert {doubt.choice for doubt in doubts.of_unit("PPF", words)} == expected
    assert len(list(features.of_unit("PPF", words))) == 1


@pytest.mark.parametrize(
    ("start", "end", "width", "expected"),
    [
        (VRAM, VRAM + 0x30, 1, set()), (VRAM, VRAM + 0x40, 1, {"fill.tail_24"}), (VRAM, VRAM + 0x40, 2, set()),
        (0, 0x30, 0, {"fill.null_start"}),
    ],
)  # fmt: skip
def test_doubts_of_fills(start: int, end: int, width: int, expected: set[str]) -> None:
    words = unit_words("PSC1", PSC1_START__address=start, PSC1_END__address=end, PSC1_CONTROL__width=width)
    assert {doubt.choice for doubt in doubts.of_unit("PSC1", words)} == expected


def test_displays(tmp_path: Path) -> None:
    show = [
        external("PDC0_CONTROL", enable=True), external("PDC0_ADDRESS_A0", address=VRAM),
        external("PDC0_FORMAT", color_format=2, interlace=2),
        external("PDC1_CONTROL", enable=True), external("PDC1_ADDRESS_A1", address=VRAM),
        external("PDC1_FORMAT", color_format=6), external("PDC1_SELECT", next=True),
    ]  # fmt: skip
    info = info_of(tmp_path, [], show)
    assert texts(info)["display"] == {"top: RGB565, stereo", "bottom: code 6"}
    assert doubts_of(info) == {"display.expand", "display.formats_5_7"}
    assert all(use.first == "f1" for use in info.doubts.values())


def test_programs_are_told_apart_and_scanned(tmp_path: Path) -> None:
    commands = plain(Commands())
    for i, instruction in enumerate((0x07 << 26, 0x24 << 26, 0x29 << 26, 0x29 << 26, 0x22 << 26)):
        commands.write("VSH_CODETRANSFER_INDEX", i).write("VSH_CODETRANSFER_DATA0", instruction)
    commands.write("DRAWARRAYS", 1).write("DRAWARRAYS", 1).write("VSH_ENTRYPOINT", entry=3).write("DRAWARRAYS", 1)
    info = info_of(tmp_path, run_list(commands.finish()))
    assert [(p.unit, p.words, p.entry, p.draws) for p in info.programs] == [("vertex", 5, 0, 2), ("vertex", 5, 3, 1)]
    assert {"shader.litp_nan", "shader.stacks", "shader.nested_loop_counter", "shader.precision"} <= doubts_of(
        info, False
    )


def test_every_doubt_is_a_switch_and_no_state_is_too_odd() -> None:
    """Random registers of every kind of draw: an answer, never an exception, and only names that exist."""
    source = np.random.default_rng(7)
    states = DrawStates()

    class Packets:
        place = "f0"

        def __init__(self, count: int) -> None:
            self.registers = source.integers(0, 1 << 32, (count, 0x300), dtype=np.uint32)
            self.registers[source.random((count, 0x300)) < 0.3] = 0
            self.kinds = source.choice([KIND_ARRAYS, KIND_ELEMENTS, KIND_IMMEDIATE], count)
            self.immediate = source.integers(0, 1000, count)

    for _ in range(3):
        states.add(Packets(100))  # type: ignore[arg-type]
    assert len(states) == 300
    names = set()
    for state in states:
        assert state.draws == 1
        names |= {doubt.choice for doubt in doubts.of_draw(state)}
        assert all(feature.id and feature.text for feature in features.of_draw(state))
    chance = random.Random(1)
    for _ in range(300):
        words = {register.name: chance.getrandbits(32) for register in EXTERNAL}
        for unit in ("PSC0", "PSC1", "PPF"):
            names |= {doubt.choice for doubt in doubts.of_unit(unit, words)}
            assert len(list(features.of_unit(unit, words))) == 1
        for unit_number in range(2):
            names |= {doubt.choice for doubt in doubts.of_display(words, unit_number)}
            list(features.of_display(words, unit_number))
        names |= {doubt.choice for doubt in doubts.of_program(chance.randbytes(256), geometry=True)}
    assert names <= set(CHOICES) and len(names) > 45


def test_a_field_that_states_do_not_keep_apart_cannot_be_asked_for() -> None:
    state = DrawState({}, KIND_ARRAYS, frozenset(), "f0")
    with pytest.raises(KeyError, match=r"TEXENV0_COLOR.r is not part of a draw state"):
        state("TEXENV0_COLOR.r")


# the command


def test_info_for_people_and_programs(tmp_path: Path, capsys: Any) -> None:
    commands = plain(Commands()).write("VIEWPORT_XY", x=3).write("DRAWARRAYS", 1)
    write_citrace(tmp_path / "scene.ctf.xz", [run_list(commands.finish()), [Load(0x10000000, b"1234")]], start())
    path = str(tmp_path / "scene.ctf.xz")
    assert main(["info", path]) == 0
    text = capsys.readouterr().out
    for expected in (
        "CiTrace recording, 2 frames",
        "viewport.offset_sign = plus",
        "f32x3 fixed from 1 buffer",
        "1 warning",
    ):
        assert expected in text
    assert text.isascii()
    assert main(["info", path, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["capture"] == {"path": path, "kind": "CiTrace recording", "frames": 2}
    assert [frame["draws"] for frame in document["frames"]] == [1, 0] and document["totals"]["draws"] == 1
    (doubt,) = [entry for entry in document["doubts"] if entry["certain"]]
    assert (doubt["switch"], doubt["default"], doubt["first"]) == ("viewport.offset_sign", "plus", "f0/d0")
    assert document["warnings"][0]["id"] == "capture.unmapped-load"


def test_info_of_what_is_no_capture(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "x.ctf").write_bytes(b"nothing of the kind")
    assert main(["info", str(tmp_path / "x.ctf"), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == 3
    write_citrace(tmp_path / "empty.ctf", [])
    assert main(["info", str(tmp_path / "empty.ctf")]) == 4


def test_no_draw_is_carried_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pocketgpu.pica.front.batch import DrawRunner

    def refuse(*_: Any) -> None:
        raise AssertionError("a draw ran")

    monkeypatch.setattr(DrawRunner, "run", refuse)
    assert drawn(tmp_path).frames[0].draws == 1


# recordings of real programs


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mipmap_fog", {"fog": "", "texture": "unit 0: ETC1A4 512x512 2D, levels 0-6"}),
        ("normal_mapping", {"lighting.bump": "bump map on texture unit 1", "combiners": "2 stages"}),
        ("cubemap", {"texture": "unit 0: ETC1 256x256 cube"}),
        ("proctex", {"proctex": "", "vertices.immediate": ""}),
        ("loop_subdivision", {"geometry-shader": "variable mode", "vertices.indexed": "u16 indices"}),
        ("fragment_light", {"lighting": "1 light", "display": "top: RGB8, stereo"}),
        ("ed_rgb565_d16", {"target": "RGB565 and D16, 240x400"}),
        ("hwtest_texcopy", {"texture-copy": "with gaps between lines"}),
    ],
)
def test_recordings_of_real_programs(shared_dir: Path, name: str, expected: dict[str, str]) -> None:
    info = examine(pocketgpu.open(shared_dir / "captures" / "3ds" / f"{name}.ctf.xz"))
    found = texts(info)
    for feature, text in expected.items():
        assert any(text in one for one in found[feature]), found


def test_both_recordings_of_a_run_tell_the_same(shared_dir: Path) -> None:
    for name in ("textured_cube", "geoshader"):
        log, trace = (
            examine(pocketgpu.open(shared_dir / "captures" / "3ds" / f"{name}.{ending}.xz"))
            for ending in ("gx.json", "ctf")
        )
        assert texts(log) == texts(trace)
        assert [doubt.choice for doubt in log.doubts] == [doubt.choice for doubt in trace.doubts]
        for key in ("draws", "vertices", "lists", "list_words", "fills", "transfers", "load_bytes"):
            assert log.totals()[key] == trace.totals()[key], key
