"""Textures, buffers, programs, vertices, meshes and state differences at a draw, against known inputs."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.pica_scenes import HEIGHT, PROGRAM, WIDTH, Scene, corners, texels

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.inspect.inspection import debug
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.meshes import Mesh, to_glb, to_obj
from pocketgpu.inspect.n3ds.inspection import N3dsInspection


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene(uniform=0.25)


@pytest.fixture(scope="module")
def path(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> str:
    return scene.save(tmp_path_factory.mktemp("scene") / "scene.ctf.xz")


@pytest.fixture
def run(path: str) -> Inspection:
    return pocketgpu.debug(path)


# -- vertices ---------------------------------------------------------------------------------------------------------
def test_vertices_of_an_indexed_draw(scene: Scene, run: Inspection) -> None:
    vertices = run.seek("f0/d0").vertices
    order = [0, 1, 2, 2, 3, 0]
    known = corners()
    assert vertices.numbers.tolist() == order
    assert vertices.inputs.dtype.names == ("v0", "v1", "v2")
    assert (vertices.inputs["v0"][:, :3] == known["position"][order]).all() and (vertices.inputs["v0"][:, 3] == 1).all()
    assert (vertices.inputs["v1"] == known["color"][order]).all()
    assert (vertices.inputs["v2"] == [[*known["texcoord"][n], 0, 1] for n in order]).all()
    # The uniform is added; colours are cut at 1.
    assert (vertices.outputs["position"][:, 3] == 1.25).all()
    assert (vertices.outputs["color"][:, 0] == np.minimum(order, 1)).all()
    assert (vertices.registers["o1"][:, 0] == order).all()
    assert vertices.triangles.tolist() == [[0, 1, 2], [3, 4, 5]] and vertices.primitives == "triangles"
    placed = {one.register: (one.format, one.address, one.stride) for one in vertices.attributes}
    assert placed == {
        "v0": ("3 x f32", scene.vertices, 20), "v1": ("4 x u8", scene.vertices + 12, 20),
        "v2": ("2 x s16", scene.vertices + 16, 20),
    }  # fmt: skip


def test_vertices_of_arrays_count_from_the_first(run: Inspection) -> None:
    vertices = run.seek("f0/d1").vertices
    assert vertices.numbers.tolist() == [1, 2, 3] and vertices.inputs["v1"][:, 0].tolist() == [1, 2, 3]
    # Addresses are those of vertex number 0 in any case.
    assert [one.address for one in vertices.attributes] == [
        one.address for one in run.seek("f0/d0").vertices.attributes
    ]


def test_looking_at_vertices_leaves_the_draw_as_it_is(run: Inspection) -> None:
    plain = run.seek("f0").read(0x18000000, WIDTH * HEIGHT * 4)
    moment = run.seek("f0/d0")
    assert len(moment.vertices) == 6
    assert run.seek("f0").read(0x18000000, WIDTH * HEIGHT * 4) == plain


def test_more_vertices_than_are_shaded_at_once(tmp_path: Path) -> None:
    many = np.tile(corners(), 100)
    many["position"][:, 2] = np.linspace(-1, 0, 400, dtype=np.float32)
    scene = Scene(vertices=many, between=lambda capture, cl: cl.draw_arrays(400, primitive="triangle strip"))
    vertices = pocketgpu.debug(scene.save(tmp_path / "a.ctf.xz")).seek("f0/d1").vertices
    assert vertices.numbers.tolist() == list(range(400))
    assert (vertices.inputs["v0"][:, 2] == many["position"][:, 2]).all()
    assert (vertices.outputs["position"][:, 2] == many["position"][:, 2]).all()
    assert vertices.triangles.shape == (398, 3) and vertices.triangles[:3].tolist() == [[0, 1, 2], [2, 1, 3], [2, 3, 4]]


def test_both_evaluators_give_the_same_vertices(path: str, run: Inspection, shared_dir: Path) -> None:
    for file in (path, str(shared_dir / "captures" / "3ds" / "geoshader.ctf.xz")):
        mine, others = (debug(file, evaluator=name).seek("f0/d0").vertices for name in ("llvm", "numpy"))
        for name in ("numbers", "inputs", "outputs", "registers", "triangles"):
            assert getattr(mine, name).tobytes() == getattr(others, name).tobytes()
        assert (mine.emitted is None) == (others.emitted is None)
        assert mine.emitted is None or others.emitted is None or mine.emitted.tobytes() == others.emitted.tobytes()


def test_a_frame_has_no_vertices(run: Inspection) -> None:
    with pytest.raises(UsageError, match="no vertices"):
        _ = run.seek("f0").vertices
    with pytest.raises(UsageError, match="no draw"):
        _ = run.seek("f0/e0").vertices


def test_a_geometry_program_emits(shared_dir: Path) -> None:
    for name, vertices, emitted in (("geoshader", 3, 9), ("loop_subdivision", 640, 336)):
        run = pocketgpu.debug(str(shared_dir / "captures" / "3ds" / f"{name}.ctf.xz"))
        moment = run.seek("f0/d0")
        found = moment.vertices
        assert len(found) == vertices and found.emitted is not None
        assert len(found.emitted) == emitted and len(found.triangles) * 3 == emitted
        assert np.isfinite(found.emitted["position"]).all() and len(moment.mesh().triangles) == emitted // 3
        # The picture is as without looking.
        again = pocketgpu.debug(str(shared_dir / "captures" / "3ds" / f"{name}.ctf.xz")).seek("f0/d0")
        assert (again.target.array == run.seek("f0/d0").target.array).all()


def test_going_back_also_brings_back_what_geometry_programs_find(path: str) -> None:
    run = N3dsInspection(pocketgpu.open(path))
    run.seek("f0")
    machine = run.player.machine
    layout, arena = machine.work.layout, machine.memory.arena
    for at in (layout.geometry_uniforms, layout.geometry_queue, layout.geometry_packet):
        arena[at : at + 64] = 7
    run.seek("f0/e1")
    for at in (layout.geometry_uniforms, layout.geometry_queue, layout.geometry_packet):
        assert not arena[at : at + 64].any()


def test_every_recording_has_vertices_that_make_its_triangles(shared_dir: Path) -> None:
    files = sorted((shared_dir / "captures" / "3ds").glob("*.ctf.xz"))
    looked = 0
    for file in files:
        run = pocketgpu.debug(str(file))
        for event in run.draws(0)[:4]:
            moment = run.seek(event.address)
            vertices = moment.vertices
            looked += 1
            assert vertices.triangles.size == 0 or vertices.triangles.max() < len(vertices.shaded)
            assert len(vertices.inputs) == len(vertices.numbers)
            if event.facts["kind"] == "elements" and vertices.emitted is None:
                assert (vertices.numbers == moment.index_buffer.array).all()
            assert moment.programs["vertex"].text.count("\n")
    assert looked >= len(files)


# -- textures, buffers, targets ---------------------------------------------------------------------------------------
def test_a_bound_texture(scene: Scene, run: Inspection) -> None:
    textures = run.seek("f0/d0").textures
    assert list(textures) == [0]
    texture = textures[0]
    assert (texture.array == texels()).all() and texture.image.size == (16, 16)
    assert (texture.format, texture.levels, texture.faces, texture.enabled) == ("RGBA8", 1, 1, True)
    assert texture.places[0].address == scene.texture and texture.places[0].size == 16 * 16 * 4
    assert list(texture.pictures()) == ["unit0"] and texture.to_json()["settings"]["wrap_s"]


def test_levels_and_faces(shared_dir: Path) -> None:
    folder = shared_dir / "captures" / "3ds"
    levels = pocketgpu.debug(str(folder / "mipmap_fog.ctf.xz")).seek("f0/d0").textures[0]
    assert [one.shape for one in levels.texels[0]] == [(512 >> n, 512 >> n, 4) for n in range(7)]
    # Each level is about the mean of the one before.
    means = [one[..., :3].mean() for one in levels.texels[0]]
    assert max(means) - min(means) < 3
    cube = pocketgpu.debug(str(folder / "cubemap.ctf.xz")).seek("f0/d0").textures[0]
    assert cube.faces == 6 and len({one[0].tobytes() for one in cube.texels}) == 6 and "cube" in cube.kind.lower()


def test_buffers(scene: Scene, run: Inspection) -> None:
    moment = run.seek("f0/d0")
    assert moment.index_buffer.array.tolist() == [0, 1, 2, 2, 3, 0] and moment.index_buffer.address == scene.indices
    (buffer,) = moment.vertex_buffers
    assert (buffer.address, buffer.stride) == (scene.vertices, 20)
    assert buffer.components == ("attribute 0: 3 x f32", "attribute 1: 4 x u8", "attribute 2: 2 x s16")


def test_depth_of_a_target(shared_dir: Path) -> None:
    moment = pocketgpu.debug(str(shared_dir / "captures" / "3ds" / "textured_cube.ctf.xz")).seek("f0/d0")
    depth = moment.target.depth
    assert depth is not None and depth.shape == moment.target.array.shape[:2]
    assert 0 < (depth["depth"] > 0).sum() < depth.size


def test_programs(run: Inspection) -> None:
    program = run.seek("f0/d0").programs["vertex"]
    lines = [line.strip() for line in program.text.splitlines()]
    assert lines[:5] == ["main:", "add o0, c0, v0", "mov o1, v1", "mov o2, v2", "end"]
    assert program.uniforms == {"c0": [0.0, 0.0, 0.0, 0.25]} and program.floats.shape == (96, 4)
    assert program.words[: len(PROGRAM.code)].tolist() == list(PROGRAM.code)
    assert "; c0 = 0, 0, 0, 0.25" in str(program)


def test_uniforms_that_are_no_numbers(tmp_path: Path) -> None:
    run = pocketgpu.debug(Scene(uniform=float("nan")).save(tmp_path / "a.ctf.xz"))
    program = run.seek("f0/d0").programs["vertex"]
    found = json.loads(json.dumps(program.to_json(), allow_nan=False))
    assert found["uniforms"] == {"c0": [0.0, 0.0, 0.0, "nan"]} and "; c0 = 0, 0, 0, nan" in str(program)


# -- differences of state ---------------------------------------------------------------------------------------------
def test_state_against_the_draw_before(run: Inspection) -> None:
    changes = {one.register: one for one in run.seek("f0/d1").changes()}
    assert changes["BLEND_COLOR"].fields == (("r", "0", "17"),) and changes["BLEND_COLOR"].table == ""
    assert {"NUMVERTICES", "VERTEX_OFFSET"} <= changes.keys() and "TEXENV1_COLOR" not in changes
    same = run.seek("f0/d1").changes("f0/d1")
    assert same == []


def test_state_against_reset(run: Inspection) -> None:
    moment = run.seek("f0/d0")
    changes = {one.register: one for one in moment.changes("reset")}
    assert "TEXENV1_COLOR" in changes and changes["vertex c0.w"].fields == (("value", "0", "0.25"),)
    assert moment.changes("previous") == moment.changes("reset")  # it is the first draw


def test_a_uniform_is_part_of_the_state(tmp_path: Path) -> None:
    scene = Scene(between=lambda capture, cl: cl.uniforms(0, [[0.0, 0.5, 0.0, 0.0]]))
    changes = pocketgpu.debug(scene.save(tmp_path / "a.ctf.xz")).seek("f0/d1").changes()
    (uniform,) = [one for one in changes if one.table]
    assert str(uniform) == "vertex c0.y 0x00000000 -> 0x3f000000 (value 0 -> 0.5)"


# -- who wrote --------------------------------------------------------------------------------------------------------
def test_who_changed_bytes(scene: Scene, run: Inspection) -> None:
    whole = WIDTH * HEIGHT * 4
    assert str(run.who_wrote(scene.target, whole).address) == "f0/d1"
    assert str(run.who_changed(scene.target, whole).address) in ("f0/d0", "f0/d1")
    # A corner that no draw covers was filled, although draws might have touched it.
    assert run.who_changed(scene.target, 4).kind == "fill"
    assert run.who_changed(scene.texture).kind == "load"
    assert run.who_changed(scene.target, whole, before="f0/d0").kind == "fill"
    assert run.who_changed(0x18500000) is None
    with pytest.raises(UsageError, match="no guest memory"):
        run.who_changed(0x10)


# -- meshes -----------------------------------------------------------------------------------------------------------
def parts_of(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The document and the bytes of a .glb, its structure checked."""
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON" and size % 4 == 0
    document = json.loads(data[20 : 20 + size])
    rest, kind = struct.unpack_from("<I4s", data, 20 + size)
    assert kind == b"BIN\0" and rest % 4 == 0 and 28 + size + rest == len(data)
    assert document["buffers"] == [{"byteLength": rest}] and document["asset"]["version"] == "2.0"
    return document, data[28 + size :]


def accessor(document: dict[str, Any], data: bytes, number: int) -> np.ndarray:
    found = document["accessors"][number]
    view = document["bufferViews"][found["bufferView"]]
    assert view["byteOffset"] % 4 == 0 and view["byteOffset"] + view["byteLength"] <= len(data)
    kind = {5126: "<f4", 5125: "<u4"}[found["componentType"]]
    columns = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[found["type"]]
    values = np.frombuffer(data, kind, found["count"] * columns, view["byteOffset"]).reshape(-1, columns)
    if "min" in found:
        assert (values.min(axis=0) == found["min"]).all() and (values.max(axis=0) == found["max"]).all()
    return values


def test_a_mesh_as_gltf(run: Inspection) -> None:
    mesh = run.seek("f0/d0").mesh("input")
    document, data = parts_of(to_glb(mesh))
    primitive = document["meshes"][0]["primitives"][0]
    assert primitive["mode"] == 4 and document["nodes"][0]["mesh"] == 0 and document["scenes"][0]["nodes"] == [0]
    positions = accessor(document, data, primitive["attributes"]["POSITION"])
    assert (positions == corners()["position"]).all()
    indices = accessor(document, data, primitive["indices"]).ravel()
    assert indices.tolist() == [0, 1, 2, 2, 3, 0]
    texcoords = accessor(document, data, primitive["attributes"]["TEXCOORD_0"])
    assert (texcoords == [[0, 1], [1, 1], [1, 0], [0, 0]]).all()  # from the top
    assert accessor(document, data, primitive["attributes"]["COLOR_0"])[:, 0].tolist() == [0, 1, 1, 1]
    texture = document["textures"][document["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["index"]]
    view = document["bufferViews"][document["images"][texture["source"]]["bufferView"]]
    picture = Image.open(io.BytesIO(data[view["byteOffset"] :][: view["byteLength"]]))
    assert (np.asarray(picture.convert("RGBA")) == texels()).all()


@pytest.mark.parametrize("texture", [None, b"a picture"])
@pytest.mark.parametrize("texcoords", [(), (np.zeros((3, 2), np.float32),)])
def test_a_mesh_has_a_picture_only_with_places_in_it(
    texture: bytes | None, texcoords: tuple[np.ndarray, ...]
) -> None:
    corners_ = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    document, data = parts_of(to_glb(Mesh("one", corners_, np.array([[0, 1, 2]]), None, texcoords, texture)))
    both = bool(texture and texcoords)
    assert (("images" in document), ("textures" in document)) == (both, both)
    assert ("baseColorTexture" in document["materials"][0]["pbrMetallicRoughness"]) == both
    assert ("TEXCOORD_0" in document["meshes"][0]["primitives"][0]["attributes"]) == bool(texcoords)
    assert (b"a picture" in data) == both


def test_a_mesh_as_obj(run: Inspection) -> None:
    lines = to_obj(run.seek("f0/d0").mesh()).splitlines()
    rows = {
        letter: [line.split()[1:] for line in lines if line.startswith(f"{letter} ")] for letter in ("v", "vt", "f")
    }
    positions = np.array(rows["v"], float)
    assert np.allclose(positions[:, :3] * 1.25, corners()["position"]) and positions.shape == (4, 6)
    assert np.array(rows["vt"], float).tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert rows["f"] == [["1/1", "2/2", "3/3"], ["3/3", "4/4", "1/1"]]


def test_triangles_without_a_place_are_left_out(tmp_path: Path) -> None:
    vertices = corners()
    vertices["position"][3, 0] = np.nan
    moment = pocketgpu.debug(Scene(vertices=vertices).save(tmp_path / "a.ctf.xz")).seek("f0/d0")
    mesh = moment.mesh()
    assert mesh.left_out == 1 and mesh.triangles.tolist() == [[0, 1, 2]] and len(mesh.positions) == 3
    parts_of(to_glb(mesh))
    moment = pocketgpu.debug(Scene(uniform=-2.0).save(tmp_path / "b.ctf.xz")).seek("f0/d0")
    with pytest.raises(UsageError, match="no triangle"):
        moment.mesh()
    assert len(moment.mesh("clip").triangles) == 2
    for wrong in ("v7", "world"):
        with pytest.raises(UsageError):
            moment.mesh(wrong)


def test_a_mesh_needs_triangles() -> None:
    with pytest.raises(UsageError, match="no triangle"):
        Mesh("none", np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int64))


# -- commands ---------------------------------------------------------------------------------------------------------
def test_the_state_command(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    out.mkdir()
    names = {name: str(out / name) for name in ("mesh.glb", "mesh.obj", "target.png", "vertices.npz")}
    arguments = ["state", path, "f0/d0", "--textures", str(out), "--mesh", names["mesh.glb"], "--shaders", "--against"]
    assert main([*arguments, "reset", "--target", names["target.png"], "--vertices", names["vertices.npz"]]) == 0
    text = capsys.readouterr().out
    assert "texture unit 0: 2D 16x16 RGBA8" in text and "add o0, c0, v0" in text and text.startswith("draw 0")
    with Image.open(out / "unit0.png") as picture:
        assert (np.asarray(picture.convert("RGBA")) == texels()).all()
    parts_of(Path(names["mesh.glb"]).read_bytes())
    with np.load(names["vertices.npz"]) as arrays:
        assert arrays["numbers"].tolist() == [0, 1, 2, 2, 3, 0] and arrays["inputs"]["v0"].shape == (6, 4)
    with Image.open(names["target.png"]) as picture:
        assert picture.size == (WIDTH, HEIGHT)
    assert main(["state", path, "f0/d1", "--mesh", names["mesh.obj"], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["state"]
    assert found["address"] == "f0/d1" and found["files"] == [names["mesh.obj"]]
    assert "BLEND_COLOR" in [one["register"] for one in found["changes"]]
    assert found["vertices"]["count"] == 3 and found["textures"][0]["width"] == 16
    assert main(["state", path, "f0", "--json"]) == 0
    assert "vertices" not in json.loads(capsys.readouterr().out)["state"]


def test_the_state_command_refuses(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (["f9/d0"], ["f0/d99"], ["nothing"], ["f0/d0", "--mesh", "a.fbx"], ["f0/d0", "--against", "f0/d7"]):
        assert main(["state", path, *wrong]) == 2
        assert "error:" in capsys.readouterr().err


def test_the_who_command(scene: Scene, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["who", path, f"{scene.target:#x}"]) == 0
    text = capsys.readouterr().out.splitlines()
    assert text[0].endswith("f0/e" + text[0].rpartition("f0/e")[2]) and "fills" in text[0]
    assert "could have written there later" in text[1] and text[1].endswith("f0/d1")
    assert main(["who", path, f"{scene.target:#x}", "--before", "f0/d1", "--size", "8192", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["who"]
    assert found["changed"]["address"] == "f0/d0" and found["possible"]["address"] == "f0/d0"
    assert main(["who", path, "0x18500000"]) == 0 and "nothing" in capsys.readouterr().out
    for wrong in (["nowhere"], ["0x10"], ["0x18000000", "--before", "f0"]):
        assert main(["who", path, *wrong]) == 2
        assert "error:" in capsys.readouterr().err
