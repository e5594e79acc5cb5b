"""Uniforms of decoded words have the names and values that the machine stores."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pocketgpu.builder import CaptureBuilder, CommandList, assemble
from pocketgpu.builder.uploads import pack_f24
from pocketgpu.cli import main
from pocketgpu.inspect.decode import decode_words
from pocketgpu.inspect.decode.uniforms import Uniform, uniforms_in, uniforms_of
from pocketgpu.pica.n3ds import N3DS

ROWS = np.array([[1, 2, 3, 4], [0.5, -0.25, 1e6, -1e-3], [-0.0, 0, np.inf, 7]])


def found(cl: CommandList) -> list[Uniform]:
    return list(uniforms_of(decode_words(cl.words).rows).values())


def bank(cl: CommandList, unit: str) -> np.ndarray:
    """The float uniforms that a machine has after a list, (96, 4) float32."""
    gpu = N3DS(evaluator="numpy")
    gpu.submit(cl.words)
    return gpu.bank(f"{unit}_uniforms").view(np.float32).reshape(96, 4)


@pytest.mark.parametrize("f32", [True, False])
@pytest.mark.parametrize(("unit", "name", "short"), [("VSH", "vertex", "vs"), ("GSH", "geometry", "gs")])
def test_float_uniforms_of_both_modes_and_units_are_those_of_the_machine(
    f32: bool, unit: str, name: str, short: str
) -> None:
    cl = CommandList().uniforms(93, ROWS, f32=f32, unit=unit).uniforms(4, ROWS[1], f32=f32, unit=unit)
    uniforms = found(cl)
    assert [(one.unit, one.name) for one in uniforms] == [(name, f"c{n}") for n in (93, 94, 95, 4)]
    held = bank(cl, short)
    for one in uniforms:
        assert np.array_equal(np.float32(one.values), held[int(one.name[1:])]), one
    assert np.allclose(uniforms[1].values, ROWS[1], rtol=2e-5)


def test_a_half_vector_is_dropped_by_the_index_and_places_above_95_are_left_out() -> None:
    cl = CommandList().write("VSH_FLOATUNIFORM_INDEX", index=2, f32=False)
    cl.fifo("VSH_FLOATUNIFORM_DATA3", pack_f24([9, 9, 9, 9])[:2])
    cl.write("VSH_FLOATUNIFORM_INDEX", index=95, f32=True)
    cl.fifo("VSH_FLOATUNIFORM_DATA7", [0x40000000, 0, 0x3F800000, 0x3F000000] * 2)
    (only,) = found(cl)
    assert only == Uniform("vertex", "c95", (0.5, 1.0, 0.0, 2.0))
    assert np.array_equal(bank(cl, "vs")[95], [0.5, 1, 0, 2]) and not bank(cl, "vs")[:95].any()


def test_words_before_the_index_is_known_are_left_out() -> None:
    assert found(CommandList().fifo("VSH_FLOATUNIFORM_DATA0", [0x3F800000] * 8)) == []


def test_a_mask_finds_the_same_uniforms_in_its_rows() -> None:
    cl = CommandList().uniforms(3, ROWS).uniforms(7, ROWS, unit="GSH").uniforms(20, ROWS, f32=False)
    rows = decode_words(cl.words).rows
    whole = uniforms_of(rows)
    assert len(whole) == 9
    for begin in range(0, len(rows), 3):
        mask = np.zeros(len(rows), np.bool_)
        mask[begin : begin + 5] = True
        found = uniforms_in(rows, mask)
        assert {place: one for place, one in found.items() if mask[place]} == {
            place: one for place, one in whole.items() if mask[place]
        }
    assert uniforms_in(rows, np.zeros(len(rows), np.bool_)) == {} and uniforms_in(rows, None) == whole


def test_integers_and_booleans() -> None:
    cl = CommandList().write("VSH_INTUNIFORM_I2", x=3, y=1, z=255, w=0).bool_uniforms([True, False, True], "GSH")
    one, two = found(cl)
    assert (str(one), str(two)) == ("vertex i2 = 3, 1, 255, 0", "geometry true: b0, b2")
    assert two.values == (True, False, True, *[False] * 13)
    assert Uniform("vertex", "b", (False,) * 16).text == "true: none"
    assert Uniform("vertex", "c0", (float("nan"), 1.0, 0.0, 0.0)).to_json()["value"] == ["nan", 1.0, 0.0, 0.0]


def test_listing_json_and_events_tell_them(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    capture = CaptureBuilder()
    target = capture.allocate(240 * 400 * 4, region="VRAM")
    program = assemble(".out o0 position \n mov o0, c4 \n end")
    cl = CommandList().plain_state().render_target(target, 240, 400).shader(program)
    cl.uniforms(4, ROWS[:2], f32=False).write("VSH_INTUNIFORM_I0", x=3, y=1).draw_arrays(3).end_drawing()
    capture.submit(cl).present("top", target).end_frame()
    path = str(tmp_path_factory.mktemp("uniforms") / "scene.ctf.xz")
    capture.save(path)

    def said(*words: str) -> str:
        assert main([*words]) == 0
        return capsys.readouterr().out

    text = said("decode", path)
    (line,) = (line for line in text.splitlines() if "c4 = " in line)
    assert "[upload]  c4 = 1, 2, 3, 4; c5 = 0.5, -0.25, 1e+06, -0.00" in line
    assert "i0 = 3, 1, 0, 0" in text
    lines = [json.loads(line) for line in said("decode", path, "--json", "--no-header").splitlines()]
    written = [line["uniform"] for line in lines if "uniform" in line]
    assert {"unit": "vertex", "register": "c4", "value": [1.0, 2.0, 3.0, 4.0]} in written
    filtered = said("decode", path, "--json", "--no-header", "--filter", "VSH_FLOATUNIFORM*")
    some = [json.loads(line).get("uniform") for line in filtered.splitlines()]
    assert [one["register"] for one in some if one] == ["c4", "c5"]
    assert "  uniform vertex c4 = 1, 2, 3, 4\n" in said("events", path, "f0/d0")
    event = json.loads(said("events", path, "f0/d0", "--json"))["event"]
    assert {"unit": "vertex", "register": "i0", "value": [3, 1, 0, 0]} in event["uniforms"]
