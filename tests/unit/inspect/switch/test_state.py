"""What `state`, `who` and `shader step` say about recordings of the Switch; both consoles use the same names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.pica_scenes import Scene as PicaScene
from support.switch_scene import SIZE, Scene

from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.inspect.inspection import debug
from pocketgpu.inspect.model.meshes import to_glb
from pocketgpu.inspect.switch.inspection import SwitchInspection

INDEXED = Scene(indices=(2, 1, 0, 0, 1, 2), frames=2)


@pytest.fixture(scope="module")
def run() -> SwitchInspection:
    return INDEXED.look()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return INDEXED.save(tmp_path_factory.mktemp("state") / "scene.mxcap.zip")


def event_of(run: SwitchInspection, kind: str) -> str:
    return str(next(one for one in run.events(0) if one.kind == kind).by_number)


# -- resources --------------------------------------------------------------------------------------------------------
def test_vertices_in_the_order_of_the_draw(run: SwitchInspection) -> None:
    moment = run.seek("f0/d1")
    vertices = moment.vertices
    assert vertices.numbers.tolist() == [2, 1, 0, 0, 1, 2] and len(vertices) == 6
    assert np.array_equal(vertices.outputs["position"], vertices.inputs["a0"])  # the program hands them on
    assert np.array_equal(vertices.outputs["generic0"][:, :2], vertices.inputs["a1"][:, :2])
    assert vertices.triangles.shape == (2, 3) and vertices.emitted is None
    corners = vertices.numbers[vertices.triangles]
    assert sorted(map(sorted, corners.tolist())) == [[0, 1, 2], [0, 1, 2]]
    indices = moment.index_buffer
    assert indices is not None and indices.type == "u16" and indices.array.tolist() == [2, 1, 0, 0, 1, 2]
    (stream,) = moment.vertex_buffers
    assert stream.stride == 24 and stream.size == 72 and stream.components[0].startswith("a0 R32_G32_B32_A32")
    assert run.seek("f0/d0").index_buffer is None
    assert run.seek("f0/d1").target is not None


def test_meshes(run: SwitchInspection) -> None:
    mesh = run.seek("f0/d1").mesh()
    assert len(mesh.positions) == 3 and len(mesh.triangles) == 2 and mesh.colors is None
    assert np.allclose(np.sort(mesh.positions[:, 0]), [-0.8, 0, 0.8])
    assert np.array_equal(run.seek("f0/d0").mesh("a0").positions, run.seek("f0/d0").mesh("clip").positions)
    assert to_glb(mesh)[:4] == b"glTF"
    with pytest.raises(UsageError, match="no input a9"):
        run.seek("f0/d0").mesh("a9")


def test_changes(run: SwitchInspection) -> None:
    moment = run.seek("f0/d1")
    names = [one.register for one in moment.changes()]
    assert "SET_INDEX_BUFFER_B" in names
    assert len(moment.changes("reset")) > len(names) > 0 and moment.changes("f0/d1") == []
    first = run.seek("f0/d0")
    assert first.changes() == first.changes("reset")
    launch = run.seek(event_of(run, "launch"))
    assert launch.programs["compute"].text.count("STG") == 1 and launch.buffers[0].size == 256
    assert launch.textures == {}


# -- the command ------------------------------------------------------------------------------------------------------
def test_state_of_a_draw(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: str(tmp_path / name) for name in ("textures", "draw.obj", "draw.npz", "target.png")}
    assert main([
        "state", path, "f1/d1", "--textures", files["textures"], "--mesh", files["draw.obj"], "--vertices",
        files["draw.npz"], "--target", files["target.png"], "--shaders",
    ]) == 0  # fmt: skip
    out = capsys.readouterr().out
    assert out.splitlines()[0].endswith("f1/d1")
    for text in ("texture pixel texture 0", "indices: 6 x u16", "6 vertices, 2 triangles", "TEX", "c[0x0][0x0] 0000"):
        assert text in out
    assert (tmp_path / "textures" / "pixel.c0.0x0.png").exists() and Path(files["target.png"]).exists()
    arrays = np.load(files["draw.npz"])
    assert arrays["outputs"]["position"].shape == (6, 4) and arrays["ids"].tolist() == [2, 1, 0, 0, 1, 2]
    assert Path(files["draw.obj"]).read_text().count("\nf ") == 2
    assert main(["state", path, "f1/d1", "--json", "--against", "reset"]) == 0
    told = json.loads(capsys.readouterr().out)["state"]
    assert (
        told["vertices"]["count"] == 6 and told["programs"][1]["unit"] == "pixel" and "text" not in told["programs"][0]
    )
    assert told["textures"][0]["format"] and told["constants"][0]["size"] == 256 and told["changes"]


def test_state_of_other_events(
    path: str, run: SwitchInspection, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sentence = "only draws and launches have textures, programs, constants and vertices"
    for place in ("f0/e0", "f0", event_of(run, "clear")):
        assert main(["state", path, place]) == 0
        assert sentence in capsys.readouterr().out
    assert main(["state", path, "f0/e0", "--shaders"]) == 2
    assert sentence in capsys.readouterr().err
    assert main(["state", path, event_of(run, "launch"), "--shaders"]) == 0
    assert "STG.E" in capsys.readouterr().out
    assert main(["state", path, event_of(run, "launch"), "--mesh", str(tmp_path / "m.obj")]) == 2
    assert "no draw" in capsys.readouterr().err


def test_who(path: str, run: SwitchInspection, capsys: pytest.CaptureFixture[str]) -> None:
    target = run.seek("f0/d1").surfaces()[0]
    corner, middle = (f"{target.place(*place):#x}" for place in ((0, 0), (SIZE // 2, SIZE // 2)))
    assert main(["who", path, middle, "--size", "4", "--before", "f1/e0"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].endswith("f0/d0")  # the second draw puts the same there
    assert "changed nothing" in out
    assert main(["who", path, corner, "--size", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["who"]["changed"]["kind"] == "clear"
    assert run.who_changed(0x1) is None
    output = run.seek(event_of(run, "launch")).buffers[0].words
    found = run.who_changed(int(output[0]) | int(output[1]) << 32, 4, "f1/e0")
    assert found is None  # thread 0 writes a 0 where a 0 was
    found = run.who_changed((int(output[0]) | int(output[1]) << 32) + 4, 4, "f1/e0")
    assert found is not None and found.kind == "launch"


# -- steps ------------------------------------------------------------------------------------------------------------
def test_steps_of_vertices_fragments_and_threads(run: SwitchInspection) -> None:
    before = run.seek("f1").screens["screen"].array.copy()
    vertex = run.trace("f1/d1/v0")
    assert len(vertex) == 5 and vertex.title.endswith("5 steps  f1/d1/v0") and vertex.name == "vertex B program"
    position = run.seek("f1/d1").vertices.inputs["a0"][0]
    assert [vertex.end.float(f"R{n}") for n in range(4)] == position.tolist()
    pixel = run.trace("f1/d1/px16,20")
    assert [one.text.split()[0] for one in pixel][-2:] == ["TEX", "EXIT"] and pixel.address == "f1/d1/px16,20"
    thread = run.trace(event_of(run, "launch") + "/b1,0,0/t3,0,0", most=100)
    assert thread.end.word("R4") == 35 and "store 4 bytes" in str(thread[6].accesses[0])
    assert run.why("f1/d1/px16,20").proved
    assert np.array_equal(run.seek("f1").screens["screen"].array, before)
    assert np.array_equal(next(run.capture.render(range(1, 2))).screens["screen"].array, before)
    # Who asks twice hears the same.
    assert [str(one) for one in run.trace("f1/d1/v0")] == [str(one) for one in vertex]


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("f0/d1/v6", "the draw has 6 vertices"), ("f0/d1/px0,0", "no fragment of the draw"),
        ("f0/d1/t1", "no later program"), ("f0/d1", "no vertex, primitive or pixel"), ("f0", "no draw or launch"),
        ("f0/e0/v1", "runs no program"), ("launch", "no thread"), ("launch/b9,0,0/t0,0,0", "no block 9,0,0"),
    ],
)  # fmt: skip
def test_steps_that_there_are_not(run: SwitchInspection, place: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        run.trace(place.replace("launch", event_of(run, "launch")))
    assert caught.value.location


def test_the_step_command(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shader", "step", path, "f1/d0/v2"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "vertex B program, vertex 2: 5 steps  f1/d0/v2" and "ALD.128" in out


# -- names ------------------------------------------------------------------------------------------------------------
def test_both_consoles_use_the_same_names(run: SwitchInspection, tmp_path: Path) -> None:
    other = debug(PicaScene().save(tmp_path / "scene.ctf.xz"))
    moments = run.seek("f0/d0"), other.seek("f0/d0")
    for name in (
        "address", "event", "registers", "read", "target", "screens", "textures", "programs", "vertices",
        "vertex_buffers", "index_buffer", "mesh", "changes",
    ):  # fmt: skip
        for moment in moments:
            getattr(moment, name)
    for moment in moments:
        assert str(moment).endswith("  f0/d0") and repr(moment) == f"<Moment {moment}>"
        assert "data:image/png" in moment._repr_html_()
        png = moment._repr_png_()
        assert png is not None and png[1:4] == b"PNG"
        vertices = moment.vertices
        for name in ("numbers", "inputs", "outputs", "emitted", "triangles", "attributes", "primitives", "shaded"):
            getattr(vertices, name)
        for program in moment.programs.values():
            assert {"unit", "digest", "text"} <= program.to_json().keys()
    assert str(run.seek("f0")).endswith("  f0") and str(other.seek("f0")).endswith("  f0")
    pixels = run.why("f0/d0/px16,20"), other.why("f0/d0/px16,23")
    draws = run.why("f0/d0"), other.why("f0/d0")
    for answer in (*pixels, *draws):
        told = answer.to_json()
        assert told["because"] == answer.because and told["schema"].startswith("pocketgpu.")
        assert "<pre>" in answer._repr_html_() and answer.text() == str(answer)
        assert answer.conclusion == str(answer).splitlines()[: len(answer.conclusion)]
        assert "  f0/d0" in answer.conclusion[0]
    for answer in pixels:
        assert answer.proved and answer.fragments and answer.touches and answer.last.event.draw == 0
        assert answer.last.wrote and answer.place.size
        _ = answer.color
    for answer in draws:
        assert answer.stages[0].came == answer.stages[0].passed
