"""Requests about resources and memory: what `inspect` says, as data and pixels, for both consoles' samples."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient
from support.view_desk import ask, refused

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.inspection import Inspection

DATA = Path(pocketgpu.__file__).parent / "data"
DRAWS = {"sample.ctf.xz": "f0/d4", "sample_switch.mxcap.zip": "f0/d18"}
TEXTURED = {"sample.ctf.xz": "f0/d4", "sample_switch.mxcap.zip": "f1/d54"}


def test_textures_with_their_parts_and_pixels(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    name = Path(run.capture.path).name
    at = TEXTURED[name]
    moment = run.seek(at)
    found = ask(client, "resources", at=at)
    assert [one["name"] for one in found["textures"]] == [one.facts.name for one in moment.textures.values()]
    for one, texture in zip(found["textures"], list(moment.textures.values()), strict=True):
        assert one["format"] == texture.facts.format
        for part in one["parts"]:
            held = texture.part(part["name"])
            for order, wanted in (("texels", texture.pixels(held)), ("memory", texture.stored(held))):
                answer = ask(client, "texture", at=at, of=one["name"], part=part["name"], order=order)
                assert answer.headers["x-size"] == f"{part['width']}x{part['height']}"
                assert answer.content == np.ascontiguousarray(wanted).tobytes()


def test_a_texel_has_its_bytes_and_its_address_in_both_orders(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    name = Path(run.capture.path).name
    at = TEXTURED[name]
    texture = next(iter(run.seek(at).textures.values()))
    part = texture.parts[0]
    query = {"at": at, "of": texture.facts.name, "part": part.name}
    one = ask(client, "texel", **query, x=5, y=3)
    place = texture.place(part, 5, 3)
    assert (one["x"], one["y"], one["address"], one["size"]) == (5, 3, f"{place.address:#x}", place.size)
    assert one["data"] == run.seek(at).read(place.address, place.size).hex()
    assert one["color"] == texture.pixels(part)[3, 5].tolist()
    assert one["value"] == pytest.approx([n / 255 for n in one["color"]], abs=1 / 255)
    stored = ask(client, "texel", **query, x=5, y=3, order="memory")
    assert texture.stored(part)[3, 5].tolist() == stored["color"]
    assert stored["color"] == texture.pixels(part)[stored["y"], stored["x"]].tolist()
    assert "no texel" in refused(client, "texel", **query, x=part.width, y=0)["message"]
    assert "no part" in refused(client, "texture", **{**query, "part": "x"})["message"]
    assert "no texture" in refused(client, "texture", **{**query, "of": "x"})["message"]


def test_a_texel_of_a_float_format_has_its_number(shared_dir: Path) -> None:
    run = pocketgpu.debug(shared_dir / "captures/switch/mesa_texkinds_320x180.mxcap.zip")
    texture = next(one for one in run.seek("f0/d0").textures.values() if one.facts.format == "ZF32")
    part = texture.parts[0]
    place = texture.place(part, 4, 3)
    number = np.frombuffer(run.seek("f0/d0").read(place.address, place.size), "<f4")[0]
    assert texture.sampled(part, 4, 3)[0] == number and number not in (0, 1)
    with pytest.raises(UsageError, match="no texel"):
        texture.sampled(part, part.width, 0)


def test_memory_that_is_not_mapped_yet_has_its_first_write(shared_dir: Path) -> None:
    run = pocketgpu.debug(shared_dir / "captures/switch/ex07_mesh_lighting_320x180.mxcap.zip")
    blit = next(one for one in run.events(0) if one.kind == "transfer")
    start = blit.writes[0].address
    assert not run.seek("f0/e0").mapped(start, 4) and run.seek(blit.address).mapped(start, 4)
    found = run.contacts(start, 4, "f0/e0")
    assert found.written is None and found.next is not None and found.next.number <= blit.number


def test_memory_begins_where_something_is(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    for at in ("f0", *(str(one.address) for one in run.events(0)[-3:])):
        found = ask(client, "memory-formats", at=at)
        begun = int(found["start"], 16)
        assert run.seek(at).mapped(begun, 1)
        if found["writes"]:
            assert found["start"] == found["writes"][0]["address"]


def test_tables_of_buffers(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    name = Path(run.capture.path).name
    at = DRAWS[name]
    moment = run.seek(at)
    tables = {one["of"]: one for one in ask(client, "resources", at=at)["tables"]}
    for buffer in moment.vertex_buffers:
        listed = tables[f"vertices{buffer.number}"]
        found = ask(client, "table", at=at, of=listed["of"], first=1, count=2)
        assert found["total"] == listed["rows"] > 2
        assert found["places"] == [f"{buffer.address + n * buffer.stride:#x}" for n in (1, 2)]
        # What the program reads for these vertices is what the rows say.
        vertices = moment.vertices
        numbers = vertices.numbers.tolist()
        for element in buffer.elements:
            column = [one["group"] for one in found["columns"]].index(element.name)
            # The sample of the 3DS loads attribute 0 into v0, and so on.
            register = element.name.partition(":")[0].replace("attribute ", "v")
            assert register in (vertices.inputs.dtype.names or ())
            if {one.register: one.per for one in vertices.attributes}[register] != "vertex":
                continue
            for row in (0, 1):
                if row + 1 in numbers:
                    read = vertices.inputs[register][numbers.index(row + 1)][: len(element.columns)]
                    shown = found["rows"][row][column : column + len(element.columns)]
                    assert shown == pytest.approx(read.tolist())
    for constant in moment.constants:
        found = ask(client, "table", at=at, of=f"constants.{constant.group}.{constant.slot}", count=1)
        assert "".join(found["rows"][0][:4]) == "".join(f"{word:08x}" for word in constant.words[:4].tolist())
    for unit, program in moment.programs.items():
        if program.uniforms:
            found = ask(client, "table", at=at, of=f"uniforms.{unit}")
            assert dict(zip(found["names"], found["rows"], strict=True)).keys() == program.uniforms.keys()
    assert "no table" in refused(client, "table", at=at, of="vertices99")["message"]
    assert "pieces" in refused(client, "table", at=at, of="vertices0", count=1001)["message"]


def test_the_index_buffer(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    name = Path(run.capture.path).name
    draw = next((one for one in run.draws(0) if run.seek(one.address).index_buffer is not None), None)
    plain = next((one for one in run.draws(0) if run.seek(one.address).index_buffer is None), None)
    if draw is not None:
        indices = run.seek(draw.address).index_buffer
        found = ask(client, "table", at=str(draw.address), of="indices", first=2, count=3)
        assert [row[0] for row in found["rows"]] == indices.array[2:5].tolist()
    assert plain is not None
    assert "no table" in refused(client, "table", at=str(plain.address), of="indices")["message"]
    assert "indices" not in {one["of"] for one in ask(client, "resources", at=str(plain.address))["tables"]}
    assert draw is not None or name == "sample.ctf.xz"  # its draws have no indices


def test_memory_and_who_touches_it(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    name = Path(run.capture.path).name
    at = DRAWS[name]
    event = run.event(at)
    place = event.writes[0]
    found = ask(client, "memory", at=at, address=f"{place.address:x}", size=256)
    assert bytes.fromhex(found["data"]) == run.seek(at).read(place.address, 256)
    assert found["mapped"] == [{"address": f"{place.address:#x}", "size": 256}]
    hole = ask(client, "memory", at=at, address="0x10", size=16)
    assert (hole["data"], hole["mapped"]) == ("00" * 16, [])
    contacts = ask(client, "contacts", at=at, address=f"{place.address:#x}", size=4, changed=1)
    assert contacts == json.loads(json.dumps(run.contacts(place.address, 4, at, True, 2, 200).to_json()))
    known = ask(client, "memory-formats", at=at)
    assert known["writes"][0] == place.to_json()
    format, layout = known["first"]
    query = {"at": at, "address": f"{place.address:#x}", "format": format, "layout": layout, "width": 64, "height": 32}
    picture = ask(client, "memory-picture", **query)
    assert picture.content == run.seek(at).memory_picture(place.address, format, layout, 64, 32).tobytes()


def test_requests_about_memory_are_bounded(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    name = Path(run.capture.path).name
    at = DRAWS[name]
    assert "at once" in refused(client, "memory", at=at, address="0x18000000", size=(1 << 16) + 1)["message"]
    assert "at once" in refused(client, "memory", at=at, address="0x18000000", size=0)["message"]
    assert "40-bit" in refused(client, "memory", at=at, address="0xffffffffff", size=2)["message"]
    for wrong in ("", "0x", "18g", "-1", "0x" + "f" * 17):
        assert "no address" in refused(client, "memory", at=at, address=wrong, size=4)["message"]
    form, layout = ask(client, "memory-formats", at=at)["first"]
    query = {"at": at, "address": "0", "format": form, "layout": layout, "width": 4097, "height": 8}
    assert "4096" in refused(client, "memory-picture", **query)["message"]


def test_an_answer_links_to_textures_and_registers(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    name = Path(run.capture.path).name
    at = "f0/d4/px60,200" if name == "sample.ctf.xz" else "f0/d5"
    found = ask(client, "why", at=at)
    assert found["links"] == [one.to_json() for one in run.why(at).links()]
    link = next(one for one in found["links"] if "register" in one)
    word = ask(client, "register-word", at=link["at"], register=link["register"])["word"]
    assert word == run.word_of(link["register"], link["at"]).to_json()
    assert "no register" in refused(client, "register-word", at=link["at"], register="NONE_SUCH")["message"]


def test_events_without_resources_say_so(sides: tuple[TestClient, Inspection]) -> None:
    client, run = sides
    found = ask(client, "resources", at="f0/e0")
    assert found["missing"] == run.seek("f0/e0").missing
    if found["missing"]:
        assert (found["textures"], found["tables"]) == ([], [])
